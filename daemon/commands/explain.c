/* `tidemark explain`: what becomes of a message: its rows, byte by byte, or why it is rejected. Writes nothing. */
#include "commands/command_line.h"
#include "commands/commands.h"
#include "commands/explained_message.h"
#include "commands/kafka_reader.h"
#include "commands/load_config.h"
#include "commands/message_lines.h"
#include "commands/output.h"
#include "commands/time_argument.h"
#include "util/clock.h"

#include <unistd.h>

static const char *const explain_formats[] = {"text", "json", NULL};
enum { EXPLAIN_TEXT, EXPLAIN_JSON };

/* A topic that gives nothing for so long has nothing. */
#define TOPIC_TIMEOUT_MS 15000

typedef struct ExplainOptions {
  const char *config_path;
  gboolean offline;
  int format;
  gboolean from_topic;
  guint64 count; /* messages of the topic */
  gboolean tombstone;
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

/* @value: NULL is a tombstone. */
static TideMessage
make_message(const Explain *explain, const TideBytes *value)
{
  const ExplainOptions *options = explain->options;
  const char *topic = options->topic != NULL ? options->topic : explain->config->kafka.topics[0];
  return (TideMessage){
      .topic = tide_bytes_of_string(topic),
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
  if (isatty(STDIN_FILENO))
    fprintf(stderr, "reading messages, one a line; end with Ctrl-D\n");
  return tide_message_lines_read(stdin, "standard input", explain_line, explain, error);
}

static gboolean
explain_record(const TideMessage *message, gpointer data)
{
  Explain *explain = data;
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
  if (request.topic == NULL ||
      !tide_kafka_read(&explain->config->kafka, &request, explain_record, explain, &result, error))
    return FALSE;
  if (explain->error != NULL) {
    g_propagate_error(error, g_steal_pointer(&explain->error));
    return FALSE;
  }
  if (result.n_messages == 0)
    fprintf(stderr, "tidemark explain: topic '%s' has no messages\n", request.topic);
  return TRUE;
}

static gboolean
explain_all(Explain *explain, GError **error)
{
  if (explain->options->from_topic)
    return explain_topic(explain, error);
  return explain->options->tombstone ? explain_given(explain, NULL, error) : explain_input(explain, error);
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
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_USAGE, "'--header' takes NAME=VALUE, got '%s'",
                (const char *)headers->pdata[i]);
    return FALSE;
  }
  gboolean given = options->key != NULL || options->timestamp != NULL || headers->len > 0 || options->tombstone;
  if (options->from_topic && given)
    g_set_error_literal(error, TIDE_ERROR, TIDE_ERROR_USAGE,
                        "'--from-topic' takes messages as they are: leave '--key', '--timestamp', '--header' and "
                        "'--tombstone' out");
  else if (options->tombstone && options->key == NULL)
    g_set_error_literal(error, TIDE_ERROR, TIDE_ERROR_USAGE,
                        "'--tombstone' needs '--key': what a message without value deletes is named by its key");
  else
    return TRUE;
  return FALSE;
}

static gboolean
read_timestamp(Explain *explain, GError **error)
{
  gint64 now_ns = tide_wall_clock_epoch_ms() * TIDE_NS_PER_MS;
  gint64 timestamp_ns = now_ns;
  if (explain->options->timestamp != NULL &&
      !tide_time_argument_parse(explain->options->timestamp, now_ns, &timestamp_ns, error)) {
    g_prefix_error(error, "'--timestamp' ");
    return FALSE;
  }
  explain->timestamp_ms = tide_ns_to_ms(timestamp_ns);
  return TRUE;
}

static int
finish(const Explain *explain)
{
  tide_explainer_finish(explain->explainer);
  TideExplainerCounts counts = tide_explainer_counts(explain->explainer);
  if (explain->options->format == EXPLAIN_TEXT && isatty(STDERR_FILENO))
    fprintf(stderr, "%" G_GUINT64_FORMAT " message%s: %" G_GUINT64_FORMAT " row%s, %" G_GUINT64_FORMAT " rejected\n",
            counts.n_messages, counts.n_messages == 1 ? "" : "s", counts.n_rows, counts.n_rows == 1 ? "" : "s",
            counts.n_rejected);
  int output_exit = tide_output_close();
  if (output_exit != TIDE_EXIT_OK)
    return output_exit;
  return counts.n_rejected > 0 ? TIDE_EXIT_DATA : TIDE_EXIT_OK;
}

static int
explain_messages(const TideCommandLine *line, const TideConfig *config, const GPtrArray *problems,
                 const ExplainOptions *options)
{
  Explain explain = {.config = config, .options = options};
  g_autoptr(GError) error = NULL;
  if (!read_timestamp(&explain, &error))
    return tide_command_fail(line, error);
  g_autoptr(TideGatewaySession) session = NULL;
  if (!options->offline) {
    session = tide_gateway_session_open(config, TIDE_GATEWAY_ANY, &error);
    if (session == NULL) {
      g_prefix_error(&error, "cannot show regions (--offline leaves them out): ");
      return tide_command_fail(line, error);
    }
  }
  TideExplainerOptions explainer_options = {
      .config = config,
      .problems = problems,
      .session = session,
      .json = options->format == EXPLAIN_JSON,
      .record_time_is_now = !options->from_topic && options->timestamp == NULL,
  };
  g_autoptr(TideExplainer) explainer = tide_explainer_new(&explainer_options);
  explain.explainer = explainer;
  return explain_all(&explain, &error) ? finish(&explain) : tide_command_fail(line, error);
}

int
tide_command_explain(int argc, char **argv)
{
  g_autoptr(GPtrArray) headers = g_ptr_array_new();
  ExplainOptions options = {.config_path = TIDE_DEFAULT_CONFIG_PATH, .count = 10, .headers = headers};
  const TideOption table[] = {
      tide_config_option(&options.config_path),
      {.name = "offline",
       .kind = TIDE_OPTION_FLAG,
       .target = &options.offline,
       .sentence = "ask no gateway: regions are not shown"},
      {.name = "format",
       .letter = 'f',
       .kind = TIDE_OPTION_CHOICE,
       .target = &options.format,
       .value_name = "FORMAT",
       .sentence = "text, or json, one object a row (text)",
       .choices = explain_formats},
      {.name = "from-topic",
       .kind = TIDE_OPTION_FLAG,
       .target = &options.from_topic,
       .sentence = "take the newest messages of the topic; joins no group and commits nothing"},
      {.name = "count",
       .kind = TIDE_OPTION_COUNT,
       .target = &options.count,
       .value_name = "N",
       .sentence = "how many of the topic at the most, each partition its share (10)",
       .min = 1,
       .max = 1000000},
      {.name = "tombstone",
       .kind = TIDE_OPTION_FLAG,
       .target = &options.tombstone,
       .sentence = "explain a message with --key and without value"},
      {.name = "key",
       .kind = TIDE_OPTION_TEXT,
       .target = &options.key,
       .value_name = "TEXT",
       .sentence = "the messages' Kafka key (none)"},
      {.name = "topic",
       .kind = TIDE_OPTION_TEXT,
       .target = &options.topic,
       .value_name = "NAME",
       .sentence = "the topic to read, or that they stand for (the one that is configured)"},
      {.name = "partition",
       .kind = TIDE_OPTION_COUNT,
       .target = &options.partition,
       .value_name = "N",
       .sentence = "their partition (0)",
       .max = G_MAXINT32},
      {.name = "timestamp",
       .kind = TIDE_OPTION_TEXT,
       .target = &options.timestamp,
       .value_name = "TIME",
       .sentence = "their records' own time, as in 'tidemark scan' (now)"},
      {.name = "header",
       .kind = TIDE_OPTION_LIST,
       .target = headers,
       .value_name = "NAME=VALUE",
       .sentence = "a Kafka header; again for more"},
  };
  const TideCommandLine line = {
      .command = "explain",
      .summary = "Shows the rows that messages become, key part by key part, or why they are rejected. Writes nothing.",
      .details =
          "Messages come from standard input, one a line, or with --from-topic from Kafka. Exit code 65 when any was "
          "rejected.\n"
          "\n"
          "Examples:\n"
          "  echo '{\"host\":\"server1\",\"ts\":1426535612045,\"cpu\":0.02}' | tidemark explain --offline -c "
          "tidemark.yaml\n"
          "  tidemark explain --from-topic --count 20\n"
          "  tidemark explain --offline --tombstone --key server1",
      .options = table,
      .n_options = G_N_ELEMENTS(table),
  };
  g_autoptr(GPtrArray) arguments = g_ptr_array_new();
  int exit_code = TIDE_EXIT_OK;
  if (!tide_command_line_begin(&line, argc, argv, arguments, &exit_code))
    return exit_code;
  g_autoptr(GError) error = NULL;
  if (!check_options(&options, &error))
    return tide_command_fail(&line, error);
  g_autoptr(GPtrArray) problems = NULL;
  g_autoptr(TideConfig) config = tide_command_load_config_and_problems(&line, options.config_path, &problems);
  if (config == NULL)
    return TIDE_EXIT_CONFIG;
  return explain_messages(&line, config, problems, &options);
}
