/* Checks the newest messages of each topic against the tables: whether readings would overwrite each other. */
#include "commands/check/list.h"
#include "commands/cli/overwritten_cells.h"
#include "kafka/kafka_topic_reader.h"
#include "mapping/mapping.h"
#include "util/units.h"

/* Per topic: enough for some rounds of all its devices, and read within seconds. */
#define NEWEST_MESSAGES 1000u
#define TOPIC_TIMEOUT_MS 10000

typedef struct Tried {
  TideMapping *mapping;              /* owned */
  TideOverwrittenCells *overwritten; /* owned */
  guint64 n_messages;
  guint64 n_rejected;
} Tried;

static gboolean
try_message(const TideMessage *message, gpointer data)
{
  Tried *tried = data;
  TideMapped mapped;
  TideReject reject = {0};
  tried->n_messages++;
  if (tide_mapping_apply(tried->mapping, message, &mapped, &reject))
    tide_overwritten_cells_add(tried->overwritten, mapped.rows, mapped.n_rows);
  else
    tried->n_rejected++;
  return TRUE;
}

/* The result of each topic has its own line; losses have the lines of their tables. */
static void
try_topic(const TideConfig *config, const char *topic, Tried *tried, TideCheckList *list)
{
  TideKafkaReadRequest request = {
      .topic = topic, .max_messages = NEWEST_MESSAGES, .newest = TRUE, .timeout_ms = TOPIC_TIMEOUT_MS};
  TideKafkaReadResult result;
  g_autoptr(GError) error = NULL;
  guint64 messages_before = tried->n_messages, rejected_before = tried->n_rejected;
  if (topic[0] == '^') {
    tide_check_list_add(list, "messages", topic, TIDE_CHECK_NOTE,
                        "messages of a pattern are not tried: see 'tidemark explain --from-topic --topic NAME'");
    return;
  }
  if (!tide_kafka_read(&config->kafka, &request, try_message, tried, &result, &error)) {
    tide_check_list_add(list, "messages", topic, TIDE_CHECK_PROBLEM, error->message);
    return;
  }
  g_autofree char *messages = tide_count_of(tried->n_messages - messages_before, "message was", "messages were");
  guint64 n_rejected = tried->n_rejected - rejected_before;
  g_autofree char *rejected = tide_count_text(n_rejected);
  g_autofree char *detail = g_strdup_printf("the newest %s tried, %s would be rejected%s", messages, rejected,
                                            n_rejected > 0 ? ": 'tidemark explain --from-topic' shows why" : "");
  tide_check_list_add(list, "messages", topic, n_rejected > 0 ? TIDE_CHECK_NOTE : TIDE_CHECK_OK, detail);
}

void
tide_check_messages(const TideConfig *config, TideCheckList *list)
{
  Tried tried = {.mapping = tide_mapping_new(config, TIDE_WIRE_BINARY), /* nothing is sent */
                 .overwritten = tide_overwritten_cells_new(config->tables->len)};
  for (char *const *topic = config->kafka.topics; *topic != NULL; topic++)
    try_topic(config, *topic, &tried, list);
  for (guint i = 0; i < config->tables->len && tried.n_messages > 0; i++) {
    const TideTable *table = g_ptr_array_index(config->tables, i);
    const TideOverwritten *overwritten = tide_overwritten_cells_of(tried.overwritten, i);
    if (table->latest != TIDE_LATEST_NONE)
      continue;
    g_autofree char *cells = tide_count_of(overwritten->n_cells, "cell", NULL);
    g_autofree char *lost = tide_count_text(overwritten->n_lost);
    g_autofree char *detail =
        overwritten->n_lost == 0
            ? g_strdup_printf("none of the %s in these messages overwrites that of another reading", cells)
            : g_strdup_printf("%s of %s of these messages %s overwritten by another reading, first in row '%s' %s: put "
                              "a field that distinguishes the readings into the key or the column's name",
                              lost, cells, overwritten->n_lost == 1 ? "is" : "are", overwritten->row,
                              overwritten->column);
    tide_check_list_add(list, "readings", table->name, overwritten->n_lost == 0 ? TIDE_CHECK_OK : TIDE_CHECK_PROBLEM,
                        detail);
  }
  tide_overwritten_cells_free(tried.overwritten);
  tide_mapping_free(tried.mapping);
}
