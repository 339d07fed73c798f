/* `tidemark explain`: what becomes of a message: its rows, byte by byte, or why it is rejected. Writes nothing. */
#include "commands/command_line.h"
#include "commands/commands.h"
#include "commands/explained_row.h"
#include "commands/gateway_session.h"
#include "commands/load_config.h"
#include "commands/output.h"
#include "commands/time_argument.h"
#include "flow/mapping.h"
#include "util/clock.h"

#include <errno.h>
#include <unistd.h>

static const char *const explain_formats[] = {"text", "json", NULL};
enum { EXPLAIN_TEXT, EXPLAIN_JSON };

typedef struct ExplainOptions {
  const char *config_path;
  gboolean offline;
  int format;
  const char *key;
  const char *topic;
  const char *timestamp;
  guint64 partition;
  GPtrArray *headers; /* (element-type utf8): NAME=VALUE */
} ExplainOptions;

typedef struct Explain {
  const TideConfig *config; /* borrowed */
  const ExplainOptions *options;
  TideMapping *mapping; /* owned */
  GPtrArray *regions;   /* owned (element-type GPtrArray of TideRegion): one for each table; NULL offline */
  TideWireProtocol protocol;
  gint64 timestamp_ms;
  guint64 line;
  guint64 n_rows;
  guint64 n_rejected;
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

static TideMessage
make_message(const Explain *explain, TideBytes value)
{
  const ExplainOptions *options = explain->options;
  const char *topic = options->topic != NULL ? options->topic : explain->config->kafka.topics[0];
  return (TideMessage){
      .topic = tide_bytes_of_string(topic),
      .partition = (gint32)options->partition,
      .offset = (gint64)explain->line - 1,
      .timestamp_ms = explain->timestamp_ms,
      .key = tide_bytes_of_string(options->key),
      .value = value,
      .has_value = TRUE,
      .find_header = find_given_header,
      .headers = options->headers,
  };
}

static void
print_rejected(Explain *explain, const TideReject *reject)
{
  explain->n_rejected++;
  g_autofree char *sentence = tide_reject_describe(reject);
  const char *reason = tide_reject_reason_name(reject->reason);
  if (explain->options->format == EXPLAIN_TEXT) {
    printf("line %" G_GUINT64_FORMAT ": rejected as %s: %s\n", explain->line, reason, sentence);
    return;
  }
  g_autoptr(GString) text = g_string_new(NULL);
  g_string_append_printf(text, "{\"line\":%" G_GUINT64_FORMAT ",\"rejected\":\"%s\",\"reading\":%u", explain->line,
                         reason, reject->reading_index);
  if (reject->byte_position >= 0)
    g_string_append_printf(text, ",\"byte\":%" G_GINT64_FORMAT, reject->byte_position);
  g_string_append(text, ",\"text\":");
  tide_json_append_string(text, tide_bytes_of_string(sentence));
  g_string_append(text, "}\n");
  fputs(text->str, stdout);
}

static void
print_row(Explain *explain, const TideReading *readings, const TideRow *row)
{
  TideReading reading = readings[row->reading_index];
  reading.event_time_ns = row->event_time_ns; /* each table can have a time of its own */
  TideExplainedRow explained = {
      .config = explain->config,
      .names = tide_mapping_names(explain->mapping),
      .reading = &reading,
      .row = row,
      .protocol = explain->protocol,
  };
  if (explain->regions != NULL)
    explained.region = tide_region_of_key(explain->regions->pdata[row->table_index], row->key);
  g_autofree char *text = explain->options->format == EXPLAIN_JSON ? tide_explained_row_json(&explained, explain->line)
                                                                   : tide_explained_row_text(&explained);
  fputs(text, stdout);
}

static void
print_mapped(Explain *explain, const TideMapped *mapped)
{
  const TideReading *readings = tide_mapping_readings(explain->mapping);
  guint32 shown_reading = G_MAXUINT32;
  explain->n_rows += mapped->n_rows;
  if (mapped->n_rows == 0 && explain->options->format == EXPLAIN_TEXT)
    printf("line %" G_GUINT64_FORMAT ": %s: nothing is written\n", explain->line,
           mapped->n_readings > 0 ? "no table takes its readings" : "no readings in it");
  for (guint32 i = 0; i < mapped->n_rows; i++) {
    const TideRow *row = &mapped->rows[i];
    if (explain->options->format == EXPLAIN_TEXT && row->reading_index != shown_reading) {
      gint64 time_ms = tide_ns_to_ms(row->event_time_ns);
      g_autofree char *time = tide_time_text(time_ms);
      printf("line %" G_GUINT64_FORMAT ", reading %u of %u: %u fields, event time %" G_GINT64_FORMAT " = %s\n",
             explain->line, row->reading_index + 1, mapped->n_readings, readings[row->reading_index].n_fields, time_ms,
             time);
      shown_reading = row->reading_index;
    }
    print_row(explain, readings, row);
  }
}

/* FALSE when the output takes no more. */
static gboolean
explain_line(Explain *explain, TideBytes value)
{
  explain->line++;
  TideMessage message = make_message(explain, value);
  TideMapped mapped;
  TideReject reject;
  if (tide_mapping_apply(explain->mapping, &message, &mapped, &reject))
    print_mapped(explain, &mapped);
  else
    print_rejected(explain, &reject);
  return !ferror(stdout);
}

static gboolean
explain_input(Explain *explain, GError **error)
{
  if (isatty(STDIN_FILENO))
    fprintf(stderr, "reading messages, one a line; end with Ctrl-D\n");
  char *line = NULL;
  size_t capacity = 0;
  ssize_t len;
  errno = 0;
  while ((len = getline(&line, &capacity, stdin)) >= 0) {
    gsize without_end = (gsize)len - (line[len - 1] == '\n' ? 1 : 0);
    if (!explain_line(explain, tide_bytes(line, without_end)))
      break;
    errno = 0;
  }
  int cause = errno;
  free(line);
  if (!ferror(stdin))
    return TRUE;
  g_set_error(error, TIDE_ERROR, TIDE_ERROR_IO, "cannot read standard input: %s", g_strerror(cause));
  return FALSE;
}

/* The regions of every table, from a gateway. A table that does not exist has none. */
static gboolean
read_regions(Explain *explain, GError **error)
{
  g_autoptr(TideGatewaySession) session = tide_gateway_session_open(explain->config, TIDE_GATEWAY_ANY, error);
  if (session == NULL) {
    g_prefix_error(error, "cannot show regions (--offline leaves them out): ");
    return FALSE;
  }
  explain->protocol = tide_gateway_session_mode(session).protocol;
  explain->regions = g_ptr_array_new_with_free_func((GDestroyNotify)g_ptr_array_unref);
  for (guint i = 0; i < explain->config->tables->len; i++) {
    const TideTable *table = explain->config->tables->pdata[i];
    GPtrArray *regions =
        tide_hbase_client_regions(tide_gateway_session_client(session), tide_bytes_of_string(table->name),
                                  tide_gateway_session_deadline_us(session), error);
    if (regions == NULL) {
      g_prefix_error(error, "cannot read the regions of '%s': ", table->name);
      return FALSE;
    }
    if (regions->len == 0)
      fprintf(stderr, "tidemark explain: '%s' does not exist yet: no region is shown for it\n", table->name);
    g_ptr_array_add(explain->regions, regions);
  }
  return TRUE;
}

static gboolean
check_headers(const GPtrArray *headers, GError **error)
{
  for (guint i = 0; i < headers->len; i++) {
    if (strchr(headers->pdata[i], '=') != NULL)
      continue;
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_USAGE, "'--header' takes NAME=VALUE, got '%s'",
                (const char *)headers->pdata[i]);
    return FALSE;
  }
  return TRUE;
}

static gboolean
prepare(Explain *explain, GError **error)
{
  gint64 now_ns = tide_wall_clock_epoch_ms() * TIDE_NS_PER_MS;
  gint64 timestamp_ns = now_ns;
  if (explain->options->timestamp != NULL &&
      !tide_time_argument_parse(explain->options->timestamp, now_ns, &timestamp_ns, error)) {
    g_prefix_error(error, "'--timestamp' ");
    return FALSE;
  }
  explain->timestamp_ms = tide_ns_to_ms(timestamp_ns);
  explain->protocol =
      explain->config->hbase.protocol >= 0 ? (TideWireProtocol)explain->config->hbase.protocol : TIDE_WIRE_BINARY;
  if (!explain->options->offline && !read_regions(explain, error))
    return FALSE;
  explain->mapping = tide_mapping_new(explain->config, explain->protocol);
  return TRUE;
}

static int
finish(const Explain *explain)
{
  if (explain->options->format == EXPLAIN_TEXT && isatty(STDERR_FILENO))
    fprintf(stderr, "%" G_GUINT64_FORMAT " messages: %" G_GUINT64_FORMAT " rows, %" G_GUINT64_FORMAT " rejected\n",
            explain->line, explain->n_rows, explain->n_rejected);
  int output_exit = tide_output_close();
  if (output_exit != TIDE_EXIT_OK)
    return output_exit;
  return explain->n_rejected > 0 ? TIDE_EXIT_DATA : TIDE_EXIT_OK;
}

static int
explain_messages(const TideCommandLine *line, const TideConfig *config, const ExplainOptions *options)
{
  Explain explain = {.config = config, .options = options};
  g_autoptr(GError) error = NULL;
  gboolean ok = prepare(&explain, &error) && explain_input(&explain, &error);
  tide_mapping_free(explain.mapping);
  g_clear_pointer(&explain.regions, g_ptr_array_unref);
  return ok ? finish(&explain) : tide_command_fail(line, error);
}

int
tide_command_explain(int argc, char **argv)
{
  g_autoptr(GPtrArray) headers = g_ptr_array_new();
  ExplainOptions options = {.config_path = TIDE_DEFAULT_CONFIG_PATH, .headers = headers};
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
      {.name = "key",
       .kind = TIDE_OPTION_TEXT,
       .target = &options.key,
       .value_name = "TEXT",
       .sentence = "the messages' Kafka key (none)"},
      {.name = "topic",
       .kind = TIDE_OPTION_TEXT,
       .target = &options.topic,
       .value_name = "NAME",
       .sentence = "the topic they stand for (the first that is configured)"},
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
      .details = "Messages come from standard input, one a line. Exit code 65 when any was rejected.\n"
                 "\n"
                 "Examples:\n"
                 "  echo '{\"host\":\"server1\",\"ts\":1426535612045,\"cpu\":0.02}' | tidemark explain --offline -c "
                 "tidemark.yaml\n"
                 "  kcat -C -b broker -t metrics -c 10 | tidemark explain -f json",
      .options = table,
      .n_options = G_N_ELEMENTS(table),
  };
  g_autoptr(GPtrArray) arguments = g_ptr_array_new();
  int exit_code = TIDE_EXIT_OK;
  if (!tide_command_line_begin(&line, argc, argv, arguments, &exit_code))
    return exit_code;
  g_autoptr(GError) error = NULL;
  if (!check_headers(headers, &error))
    return tide_command_fail(&line, error);
  g_autoptr(TideConfig) config = tide_command_load_config(&line, options.config_path);
  if (config == NULL)
    return TIDE_EXIT_CONFIG;
  return explain_messages(&line, config, &options);
}
