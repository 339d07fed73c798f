#include "commands/simulate/simulation.h"

/* The purposes of draws; the numbers are part of the rule in the header. */
typedef enum Draw {
  DRAW_VALUE = 1,
  DRAW_LATE = 2,
  DRAW_DELAY = 3,
  DRAW_REPEAT = 4,
  DRAW_AGAIN = 5,
  DRAW_POISON = 6,
  DRAW_KIND = 7,
  DRAW_SHUFFLE = 8,
} Draw;

#define MAX_DELAY_ROUNDS 10
#define MAX_AGAIN_ROUNDS 5

static const char *const metric_names[] = {
    "CPU/CPU1_USR", "CPU/CPU1_SYS", "CPU/CPU1_IDLE", "MEM/USED",    "MEM/FREE",
    "DISK/SDA_RD",  "DISK/SDA_WR",  "NET/ETH0_RX",   "NET/ETH0_TX", "LOAD/AVG1",
};

/* Messages that are not readings, each invalid in another way. */
#define POISON(text)                                                                                                   \
  {                                                                                                                    \
    (const guint8 *)(text), sizeof(text) - 1                                                                           \
  }
static const TideBytes poisons[] = {
    POISON("not json"),
    POISON("{\"host\":\"server0001.bbb.com\",\"ts\":"),
    POISON("{\"ts\":1426535612045,\"CPU/CPU1_USR\":0.02}"),
    POISON("{\"host\":\"server0001.bbb.com\",\"CPU/CPU1_USR\":0.02}"),
    POISON("{\"host\":\"server0001.bbb.com\",\"ts\":\"yesterday\",\"CPU/CPU1_USR\":0.02}"),
    POISON("{\"host\":\"\xff\xfe\",\"ts\":1426535612045,\"CPU/CPU1_USR\":0.02}"),
};

typedef struct Planned {
  guint64 position;
  TideSimulatedMessage message;
} Planned;

struct TideSimulation {
  TideSimulationParameters parameters;
  guint64 next_reading; /* the first reading that is not planned yet */
  GSequence *planned;   /* owned (element-type Planned): in the order of sending */
  GArray *window;       /* owned (element-type TideSimulatedMessage): permuted, being returned */
  guint64 window_number;
  guint window_index;
};

static guint64
draw(const TideSimulation *simulation, Draw what, guint64 a, guint64 b)
{
  return tide_simulation_mix(
      tide_simulation_mix(tide_simulation_mix(tide_simulation_mix(simulation->parameters.seed) + (guint64)what) + a) +
      b);
}

static gboolean
chance(const TideSimulation *simulation, Draw what, guint64 reading, guint64 share)
{
  return draw(simulation, what, reading, 0) % TIDE_SIMULATION_ALL < share;
}

TideSimulation *
tide_simulation_new(const TideSimulationParameters *parameters)
{
  TideSimulation *simulation = g_new0(TideSimulation, 1);
  simulation->parameters = *parameters;
  simulation->planned = g_sequence_new(g_free);
  simulation->window = g_array_new(FALSE, FALSE, sizeof(TideSimulatedMessage));
  return simulation;
}

void
tide_simulation_free(TideSimulation *simulation)
{
  if (simulation == NULL)
    return;
  g_sequence_free(simulation->planned);
  g_array_unref(simulation->window);
  g_free(simulation);
}

/* ---- order ---------------------------------------------------------------------------------------------------------
 */

static int
compare_planned(gconstpointer a, gconstpointer b, gpointer data)
{
  const Planned *left = a, *right = b;
  if (left->position != right->position)
    return left->position < right->position ? -1 : 1;
  if (left->message.reading != right->message.reading)
    return left->message.reading < right->message.reading ? -1 : 1;
  return (left->message.kind > right->message.kind) - (left->message.kind < right->message.kind);
}

static void
plan(TideSimulation *simulation, guint64 position, guint64 reading, TideSimulatedKind kind)
{
  Planned planned = {.position = position, .message = {.kind = kind, .reading = reading}};
  g_sequence_insert_sorted(simulation->planned, g_memdup2(&planned, sizeof planned), compare_planned, NULL);
}

static void
plan_reading(TideSimulation *simulation, guint64 reading)
{
  const TideSimulationParameters *parameters = &simulation->parameters;
  guint64 position = reading;
  if (chance(simulation, DRAW_LATE, reading, parameters->late))
    position += parameters->machines * (1 + draw(simulation, DRAW_DELAY, reading, 0) % MAX_DELAY_ROUNDS);
  plan(simulation, position, reading, TIDE_SIMULATED_READING);
  if (chance(simulation, DRAW_REPEAT, reading, parameters->repeat)) {
    guint64 after = 1 + draw(simulation, DRAW_AGAIN, reading, 0) % (MAX_AGAIN_ROUNDS * parameters->machines);
    plan(simulation, position + after, reading, TIDE_SIMULATED_REPEAT);
  }
  if (chance(simulation, DRAW_POISON, reading, parameters->poison))
    plan(simulation, position, reading, TIDE_SIMULATED_POISON);
}

/* The next message before shuffling. The place of a reading is never less than its number, so all places before the
 * first unplanned reading are final. */
static gboolean
next_in_order(TideSimulation *simulation, TideSimulatedMessage *ret_message)
{
  GSequenceIter *first = g_sequence_get_begin_iter(simulation->planned);
  while (simulation->next_reading < simulation->parameters.readings &&
         (g_sequence_iter_is_end(first) ||
          ((const Planned *)g_sequence_get(first))->position >= simulation->next_reading)) {
    plan_reading(simulation, simulation->next_reading++);
    first = g_sequence_get_begin_iter(simulation->planned);
  }
  if (g_sequence_iter_is_end(first))
    return FALSE;
  *ret_message = ((const Planned *)g_sequence_get(first))->message;
  g_sequence_remove(first);
  return TRUE;
}

static void
fill_window(TideSimulation *simulation)
{
  GArray *window = simulation->window;
  TideSimulatedMessage message;
  g_array_set_size(window, 0);
  while (window->len < simulation->parameters.shuffle_window && next_in_order(simulation, &message))
    g_array_append_val(window, message);
  TideSimulatedMessage *messages = (TideSimulatedMessage *)window->data;
  for (guint j = window->len; j-- > 1;) {
    guint64 other = draw(simulation, DRAW_SHUFFLE, simulation->window_number, j) % (j + 1);
    TideSimulatedMessage swapped = messages[j];
    messages[j] = messages[other];
    messages[other] = swapped;
  }
  simulation->window_number++;
  simulation->window_index = 0;
}

gboolean
tide_simulation_next(TideSimulation *simulation, TideSimulatedMessage *ret_message)
{
  if (simulation->parameters.shuffle_window <= 1)
    return next_in_order(simulation, ret_message);
  if (simulation->window_index == simulation->window->len)
    fill_window(simulation);
  if (simulation->window->len == 0)
    return FALSE;
  *ret_message = g_array_index(simulation->window, TideSimulatedMessage, simulation->window_index);
  simulation->window_index++;
  return TRUE;
}

/* ---- content -------------------------------------------------------------------------------------------------------
 */

static void append_format(TideBuffer *out, const char *format, ...) G_GNUC_PRINTF(2, 3);

static void
append_format(TideBuffer *out, const char *format, ...)
{
  char text[64]; /* the longest piece: a name with a 20-digit number */
  va_list arguments;
  va_start(arguments, format);
  int len = g_vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  tide_buffer_append(out, text, (gsize)len);
}

void
tide_simulation_append_key(const TideSimulation *simulation, const TideSimulatedMessage *message, TideBuffer *out)
{
  guint64 machine = message->reading % simulation->parameters.machines;
  append_format(out, "server%04" G_GINT64_MODIFIER "u.bbb.com", machine + 1);
}

static void
append_metric(const TideSimulation *simulation, guint64 reading, guint64 metric, TideBuffer *out)
{
  guint64 value = draw(simulation, DRAW_VALUE, reading, metric) % 10000;
  if (metric < G_N_ELEMENTS(metric_names))
    append_format(out, ",\"%s\":", metric_names[metric]);
  else
    append_format(out, ",\"METRIC/M%" G_GUINT64_FORMAT "\":", metric);
  append_format(out, "%u.%02u", (guint)(value / 100), (guint)(value % 100));
}

void
tide_simulation_append_payload(const TideSimulation *simulation, const TideSimulatedMessage *message, TideBuffer *out)
{
  const TideSimulationParameters *parameters = &simulation->parameters;
  guint64 reading = message->reading;
  if (message->kind == TIDE_SIMULATED_POISON) {
    guint64 kind = draw(simulation, DRAW_KIND, reading, 0) % G_N_ELEMENTS(poisons);
    tide_buffer_append_bytes(out, poisons[kind]);
    return;
  }
  gint64 round = (gint64)(reading / parameters->machines);
  append_format(out, "{\"host\":\"");
  tide_simulation_append_key(simulation, message, out);
  append_format(out, "\",\"ts\":%" G_GINT64_FORMAT, parameters->start_epoch_ms + round * parameters->step_ms);
  for (guint64 metric = 0; metric < parameters->metrics; metric++)
    append_metric(simulation, reading, metric, out);
  tide_buffer_append_byte(out, '}');
}
