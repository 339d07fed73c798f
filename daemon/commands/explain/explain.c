/* `tidemark explain`: shows the rows of a message, byte by byte, or why it is rejected. Writes nothing. */
#include "commands/cli/commands.h"
#include "commands/cli/load_config.h"
#include "commands/cli/message_lines.h"
#include "commands/cli/output.h"
#include "commands/cli/progress.h"
#include "commands/cli/time_argument.h"
#include "commands/explain/explained_message.h"
#include "config/config_source.h"
#include "kafka/kafka_topic_reader.h"
#include "util/clock.h"
#include "util/units.h"

#include <unistd.h>

static const char *const explain_formats[] = {"text", "json", NULL};
enum { EXPLAIN_TEXT, EXPLAIN_JSON };

/* A topic without a message in this time counts as empty. */
#define TOPIC_TIMEOUT_MS 15000

typedef struct ExplainOptions {
  gboolean offline;
  int format;
  gboolean from_topic;
  guint64 count; /* maximum number of messages of the topic */
  gboolean tombstone;
  gboolean whole;
  const char *key;
  const char *topic;
  const char *timestamp;
  guint64 partition;
  GPtrArray *headers; /* (element-type utf8): NAME=VALUE */
} ExplainOptions;

typedef struct Explain {
  const TideConfig *config; /* borrowed */
  const ExplainOptions *options;
  TideExplainer *explainer; /* borrowed */
  gint64 timestamp_ms;
  guint64 line;
  GError *error; /* owned: of a callback */
} Explain;

/* The last of the headers given as --header with that name, as in Kafka. */
static gboolean
find_given_header(const TideMessage *message, const char *name, TideBytes *ret_value)
{
  const GPtrArray *headers = message->headers;
  gsize name_len = strlen(name);
  for (guint i = headers->len; i > 0; i--) {
    const char *header = headers->pdata[i - 1];
    if (strncmp(header, name, name_len) == 0 && header[name_len] == '=') {
      *ret_value = tide_bytes_of_string(header + name_len + 1);
      return TRUE;
    }
  }
  return FALSE;
}

/* The given topic of the messages, or the first one. */
static const char *
topic_of(const Explain *explain)
{
  return explain->options->topic != NULL ? explain->options->topic : explain->config->kafka.topics[0];
}

/* @value: NULL is a tombstone. */
static TideMessage
make_message(const Explain *explain, const TideBytes *value)
{
  const ExplainOptions *options = explain->options;
  return (TideMessage){
      .topic = tide_bytes_of_string(topic_of(explain)),
      .partition = (gint32)options->partition,
      .offset = (gint64)explain->line - 1,
      .timestamp_ms = explain->timestamp_ms,
      .key = tide_bytes_of_string(options->key),
      .value = value != NULL ? *value : TIDE_BYTES_EMPTY,
      .has_value = value != NULL,
      .find_header = find_given_header,
      .headers = options->headers,
  };
}

/* ---- where messages come from --------------------------------------------------------------------------------------
 */

static gboolean
explain_given(Explain *explain, const TideBytes *value, GError **error)
{
  explain->line++;
  TideMessage message = make_message(explain, value);
  return tide_explainer_add(explain->explainer, &message, explain->line, error);
}

static gboolean
explain_line(TideBytes line, gpointer data, GError **error)
{
  return !ferror(stdout) && explain_given(data, &line, error);
}

static gboolean
explain_input(Explain *explain, GError **error)
{
  const char *topic = topic_of(explain);
  const TideDecodeOptions *decode =
      &tide_config_source_of_topic(explain->config, tide_bytes_of_string(topic))->readings->decode;
  gboolean is_whole = explain->options->whole || tide_message_is_whole(decode);
  gboolean was_read = tide_message_path_read(NULL, is_whole, explain_line, explain, error);
  if (was_read && explain->line == 0)
    tide_say("tidemark explain: standard input has no message");
  return was_read;
}

static gboolean
explain_record(const TideMessage *message, gpointer data)
{
  Explain *explain = data;
  tide_progress_step_end();
  return tide_explainer_add(explain->explainer, message, 0, &explain->error) && !ferror(stdout);
}

static gboolean
explain_topic(Explain *explain, GError **error)
{
  TideKafkaReadRequest request = {
      .topic = tide_kafka_reader_topic(&explain->config->kafka, explain->options->topic, error),
      .max_messages = explain->options->count,
      .newest = TRUE,
      .timeout_ms = TOPIC_TIMEOUT_MS,
  };
  TideKafkaReadResult result;
  if (request.topic == NULL)
    return FALSE;
  tide_progress_step("reading topic '%s'", request.topic);
  gboolean was_read = tide_kafka_read(&explain->config->kafka, &request, explain_record, explain, &result, error);
  tide_progress_step_end();
  if (!was_read)
    return FALSE;
  if (explain->error != NULL) {
    g_propagate_error(error, g_steal_pointer(&explain->error));
    return FALSE;
  }
  if (result.n_messages == 0)
    tide_say("tidemark explain: topic '%s' has no messages", request.topic);
  return TRUE;
}

/* ---- command -------------------------------------------------------------------------------------------------------
 */

static gboolean
check_options(const ExplainOptions *options, GError **error)
{
  const GPtrArray *headers = options->headers;
  for (guint i = 0; i < headers->len; i++) {
    if (strchr(headers->pdata[i], '=') != NULL)
      continue;
    return tide_fail(error, TIDE_ERROR_USAGE, "'--header' expects NAME=VALUE, got '%s'",
                     (const char *)headers->pdata[i]);
  }
  gboolean given = options->key != NULL || options->timestamp != NULL || headers->len > 0 || options->tombstone;
  if (options->whole && (options->from_topic || options->tombstone))
    tide_fail(error, TIDE_ERROR_USAGE, "'--whole' applies to standard input: omit '--from-topic' and '--tombstone'");
  else if (options->from_topic && given)
    tide_fail(error, TIDE_ERROR_USAGE,
              "'--from-topic' uses messages unchanged: omit '--key', '--timestamp', '--header' and "
              "'--tombstone'");
  else if (options->tombstone && options->key == NULL)
    tide_fail(error, TIDE_ERROR_USAGE,
              "'--tombstone' needs '--key', which names the rows that a message without a value deletes");
  else
    return TRUE;
  return FALSE;
}

static gboolean
explain_messages(TideCommandCall *call, GError **error)
{
  const ExplainOptions *options = call->options;
  if (!check_options(options, error) || !tide_command_load_config(call))
    return FALSE;
  if ((options->topic != NULL || !options->from_topic) && !tide_config_check_topic(call->config, options->topic, error))
    return FALSE;
  gint64 now_ns = tide_wall_clock_epoch_ms() * TIDE_NS_PER_MS, timestamp_ns = now_ns;
  if (!tide_time_option_parse("timestamp", options->timestamp, now_ns, &timestamp_ns, error))
    return FALSE;
  Explain explain = {.config = call->config, .options = options, .timestamp_ms = tide_ns_to_ms(timestamp_ns)};
  g_autoptr(TideGatewaySession) session = NULL;
  if (!options->offline) {
    session = tide_gateway_session_open(call->config, TIDE_GATEWAY_ANY, error);
    if (session == NULL) {
      g_prefix_error(error, "cannot show regions (--offline omits them): ");
      return FALSE;
    }
  }
  TideExplainerOptions explainer_options = {
      .config = call->config,
      .problems = call->problems,
      .session = session,
      .json = options->format == EXPLAIN_JSON,
      .by_line = !options->from_topic && !options->whole && !options->tombstone,
      .record_time_is_now = !options->from_topic && options->timestamp == NULL,
  };
  g_autoptr(TideExplainer) explainer = tide_explainer_new(&explainer_options);
  explain.explainer = explainer;
  if (!(options->from_topic  ? explain_topic(&explain, error)
        : options->tombstone ? explain_given(&explain, NULL, error)
                             : explain_input(&explain, error)))
    return FALSE;
  tide_explainer_finish(explainer);
  TideExplainerCounts counts = tide_explainer_counts(explainer);
  g_autofree char *messages = tide_count_of(counts.n_messages, "message", NULL),
                  *rows = tide_count_of(counts.n_rows, "row", NULL), *rejected = tide_count_text(counts.n_rejected);
  if (options->format == EXPLAIN_TEXT && isatty(STDERR_FILENO))
    tide_say("%s: %s, %s rejected", messages, rows, rejected);
  call->exit_code = counts.n_rejected > 0 ? TIDE_EXIT_DATA : TIDE_EXIT_OK;
  return TRUE;
}

static const TideOption explain_options[] = {
    TIDE_CONFIG_OPTION,
    {"offline", NULL, TIDE_FLAG(ExplainOptions, offline), "do not connect to a gateway; regions are not shown"},
    {"format", "FORMAT", TIDE_CHOICE(ExplainOptions, format), "output format: text, or json, one object per row (text)",
     .letter = 'f', .choices = explain_formats},
    {"from-topic", NULL, TIDE_FLAG(ExplainOptions, from_topic),
     "use the newest messages of the topic; joins no group and commits nothing"},
    {"count", "N", TIDE_COUNT(ExplainOptions, count), "maximum number of messages, spread over the partitions (10)",
     .min = 1, .max = 1000000},
    {"whole", NULL, TIDE_FLAG(ExplainOptions, whole), "standard input is a single message, byte for byte"},
    {"tombstone", NULL, TIDE_FLAG(ExplainOptions, tombstone), "explain a message with --key and without a value"},
    {"key", "TEXT", TIDE_TEXT(ExplainOptions, key), "Kafka key of the messages (none)"},
    {"topic", "NAME", TIDE_TEXT(ExplainOptions, topic), "topic to read, or topic of the messages (the configured one)"},
    {"partition", "N", TIDE_COUNT(ExplainOptions, partition), "partition of the messages (0)", .max = G_MAXINT32},
    {"timestamp", "TIME", TIDE_TEXT(ExplainOptions, timestamp),
     "record time of the messages, as in 'tidemark scan' (now)"},
    {"header", "NAME=VALUE", TIDE_LIST(ExplainOptions, headers), "Kafka header of the messages; repeatable"},
};

const TideCommand tide_command_explain = {
    .name = "explain",
    .summary = "Shows the rows that messages become, key part by key part, or why they are rejected. Writes nothing.",
    .exits = {{TIDE_EXIT_DATA, "a message, or one of its readings, was rejected"},
              {TIDE_EXIT_UNAVAILABLE},
              {TIDE_EXIT_TEMPFAIL},
              {TIDE_EXIT_CONFIG}},
    .details = "Messages are read from standard input, one per line. All of it is one message with --whole, csv.header "
               "or a binary format. With --from-topic, they are read from Kafka.\n"
               "\n"
               "Examples:\n"
               "  echo '{\"host\":\"server1\",\"ts\":1426535612045,\"cpu\":0.02}' | tidemark explain --offline -c "
               "tidemark.yaml\n"
               "  tidemark explain --from-topic --count 20\n"
               "  tidemark explain --offline --tombstone --key server1",
    .reads_input = TRUE,
    TIDE_COMMAND_OPTIONS(explain_options, ExplainOptions),
    .defaults = &(const ExplainOptions){.count = 10},
    .run = explain_messages,
};
