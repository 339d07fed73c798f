/* The synthetic readings: the same by every machine, and as late, repeated and shuffled as asked for. */
#include "commands/simulate/simulation.h"

#include "unit/test_case.h"

static const TideSimulationParameters plain = {.readings = 4,
                                               .machines = 2,
                                               .metrics = 3,
                                               .seed = 1,
                                               .start_epoch_ms = G_GINT64_CONSTANT(1426535612045),
                                               .step_ms = 1000};

/* All messages, one a line. (transfer full) */
static char *
print_all(const TideSimulationParameters *parameters)
{
  g_autoptr(TideSimulation) simulation = tide_simulation_new(parameters);
  TideBuffer text = {0};
  TideSimulatedMessage message;
  while (tide_simulation_next(simulation, &message)) {
    tide_simulation_append_payload(simulation, &message, &text);
    tide_buffer_append_byte(&text, '\n');
  }
  tide_buffer_append_byte(&text, '\0');
  return (char *)text.data;
}

/* Computed by the rule in simulation.h with another program: what is recorded here must never change. */
TEST("/simulation/readings-are-those-of-the-rule")
{
  g_autofree char *text = print_all(&plain);
  g_assert_cmpstr(text, ==,
                  "{\"host\":\"server0001.bbb.com\",\"ts\":1426535612045,\"CPU/CPU1_USR\":99.18,\"CPU/"
                  "CPU1_SYS\":59.82,\"CPU/CPU1_IDLE\":55.82}\n"
                  "{\"host\":\"server0002.bbb.com\",\"ts\":1426535612045,\"CPU/CPU1_USR\":75.42,\"CPU/"
                  "CPU1_SYS\":10.20,\"CPU/CPU1_IDLE\":13.17}\n"
                  "{\"host\":\"server0001.bbb.com\",\"ts\":1426535613045,\"CPU/CPU1_USR\":66.04,\"CPU/"
                  "CPU1_SYS\":24.40,\"CPU/CPU1_IDLE\":47.82}\n"
                  "{\"host\":\"server0002.bbb.com\",\"ts\":1426535613045,\"CPU/CPU1_USR\":41.16,\"CPU/"
                  "CPU1_SYS\":36.79,\"CPU/CPU1_IDLE\":99.96}\n");
}

/* How often each reading came, and how often behind one of a later number of its machine. */
typedef struct Tally {
  guint *times; /* by reading */
  guint64 n_kinds[3];
  guint64 n_behind;
} Tally;

static void
count_messages(const TideSimulationParameters *parameters, Tally *tally)
{
  g_autoptr(TideSimulation) simulation = tide_simulation_new(parameters);
  g_autofree guint64 *newest = g_new0(guint64, parameters->machines);
  *tally = (Tally){.times = g_new0(guint, parameters->readings)};
  TideSimulatedMessage message;
  while (tide_simulation_next(simulation, &message)) {
    tally->n_kinds[message.kind]++;
    if (message.kind == TIDE_SIMULATED_POISON)
      continue;
    tally->times[message.reading]++;
    guint64 machine = message.reading % parameters->machines;
    if (message.kind == TIDE_SIMULATED_READING && message.reading < newest[machine])
      tally->n_behind++;
    newest[machine] = MAX(newest[machine], message.reading);
  }
}

TEST("/simulation/late-repeated-and-poison-come-in-their-shares")
{
  TideSimulationParameters parameters = plain;
  parameters.readings = 100000;
  parameters.machines = 100;
  parameters.late = 200;
  parameters.repeat = 100;
  parameters.poison = 50;
  Tally tally;
  count_messages(&parameters, &tally);
  g_assert_cmpuint(tally.n_kinds[TIDE_SIMULATED_READING], ==, parameters.readings);
  /* Five standard deviations about 1000, 500 and 2000 of 100000; the seed is fixed anyway. */
  g_assert_cmpuint(tally.n_kinds[TIDE_SIMULATED_REPEAT], >, 840);
  g_assert_cmpuint(tally.n_kinds[TIDE_SIMULATED_REPEAT], <, 1160);
  g_assert_cmpuint(tally.n_kinds[TIDE_SIMULATED_POISON], >, 385);
  g_assert_cmpuint(tally.n_kinds[TIDE_SIMULATED_POISON], <, 615);
  g_assert_cmpuint(tally.n_behind, >, 1700);
  g_assert_cmpuint(tally.n_behind, <, 2300);
  guint64 n_twice = 0;
  for (guint64 i = 0; i < parameters.readings; i++) {
    g_assert_cmpuint(tally.times[i], >=, 1);
    g_assert_cmpuint(tally.times[i], <=, 2);
    n_twice += tally.times[i] - 1;
  }
  g_assert_cmpuint(n_twice, ==, tally.n_kinds[TIDE_SIMULATED_REPEAT]);
  g_free(tally.times);
}

TEST("/simulation/shuffling-is-a-permutation-and-repeats-by-seed")
{
  TideSimulationParameters parameters = plain;
  parameters.readings = 1003;
  parameters.shuffle_window = 100;
  Tally tally;
  count_messages(&parameters, &tally);
  g_assert_cmpuint(tally.n_behind, >, 500);
  for (guint64 i = 0; i < parameters.readings; i++)
    g_assert_cmpuint(tally.times[i], ==, 1);
  g_free(tally.times);

  g_autofree char *once = print_all(&parameters);
  g_autofree char *again = print_all(&parameters);
  g_assert_cmpstr(once, ==, again);
  parameters.seed = 2;
  g_autofree char *other = print_all(&parameters);
  g_assert_cmpstr(once, !=, other);
}

TEST("/simulation/shuffling-stays-within-its-window")
{
  TideSimulationParameters parameters = plain;
  parameters.readings = 1000;
  parameters.shuffle_window = 10;
  g_autoptr(TideSimulation) simulation = tide_simulation_new(&parameters);
  TideSimulatedMessage message;
  for (guint64 i = 0; tide_simulation_next(simulation, &message); i++)
    g_assert_cmpuint(message.reading / 10, ==, i / 10);
}

TEST("/simulation/none-is-none")
{
  TideSimulationParameters parameters = plain;
  parameters.readings = 0;
  g_autofree char *text = print_all(&parameters);
  g_assert_cmpstr(text, ==, "");
}
