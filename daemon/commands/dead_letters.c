/* `tidemark dead-letters`: lists and shows the messages that could not be written, and sends them again. */
#include "flow/dead_letters.h"
#include "commands/command_line.h"
#include "commands/commands.h"
#include "commands/letter_replay.h"
#include "commands/letter_source.h"
#include "commands/listing.h"
#include "commands/load_config.h"
#include "commands/stop_signal.h"
#include "commands/time_argument.h"
#include "config/nearest_name.h"
#include "flow/letter_file.h"
#include "flow/letter_json.h"
#include "flow/message_letters.h"
#include "util/clock.h"

#include <string.h>

typedef struct LettersOptions {
  const char *config_path;
  const char *file;
  const char *from;
  const char *to;
  const char *to_topic;
  gboolean all;
  gboolean dry_run;
  guint64 rate_per_s; /* 0: no bound */
  guint64 limit;      /* 0: no bound */
  int format;         /* TideOutputFormat */
  TideLetterFilter filter;
} LettersOptions;

typedef struct Letters {
  const TideCommandLine *line;
  const TideConfig *config;
  const LettersOptions *options;
  TideListing *listing;     /* owned; list, but for JSON */
  TideLetterReplay *replay; /* owned; replay */
  guint64 n_done;
} Letters;

static const char *const verbs[] = {"list", "show", "replay", NULL};

/* ---- list and show ---- */

static char *
kept_text(gint64 kept_at_ms)
{
  return kept_at_ms >= 0 ? tide_time_text(kept_at_ms) : g_strdup("-");
}

static void
print_json(const TideLetter *letter, gint64 kept_at_ms)
{
  g_auto(TideBuffer) text = {0};
  tide_letter_json_append(&text, letter, kept_at_ms);
  fwrite(text.data, 1, text.len, stdout);
}

/* FALSE, without an error, when the limit is reached or nobody reads on. */
static gboolean
list_letter(const TideLetter *letter, gint64 kept_at_ms, gpointer data, GError **error)
{
  Letters *letters = data;
  gboolean goes_on = TRUE;
  if (letters->listing == NULL)
    print_json(letter, kept_at_ms);
  else {
    g_autofree char *kept = kept_text(kept_at_ms);
    g_autofree char *reason = tide_text_printable(letter->reason);
    g_autofree char *topic = tide_text_printable(letter->topic);
    g_autofree char *place = g_strdup_printf("%s/%d/%" G_GINT64_FORMAT, topic, letter->partition, letter->offset);
    g_autofree char *table = tide_text_printable(letter->table);
    g_autofree char *row_key = tide_text_printable(letter->row_key);
    g_autofree char *text = tide_text_printable(letter->text);
    const char *const values[] = {kept, reason, place, table, row_key, text};
    goes_on = tide_listing_add(letters->listing, values);
  }
  letters->n_done++;
  return goes_on && (letters->options->limit == 0 || letters->n_done < letters->options->limit);
}

static void
show_line(const char *name, TideBytes value)
{
  g_autofree char *text = tide_text_printable(value);
  printf("%-10s %s\n", name, text);
}

static void
show_original(const TideLetter *letter)
{
  if (letter->has_key)
    show_line("key", letter->key);
  for (guint32 i = 0; i < letter->n_headers; i++) {
    g_autofree char *name = tide_text_printable(letter->headers[i].name);
    g_autofree char *value = tide_text_printable(letter->headers[i].value);
    printf("%-10s %s = %s\n", "header", name, letter->headers[i].has_value ? value : "(null)");
  }
  if (letter->has_value)
    show_line(letter->original_is_gone ? "row" : "value", letter->value);
  else
    printf("%-10s (null)\n", "value");
}

static gboolean
show_letter(const TideLetter *letter, gint64 kept_at_ms, gpointer data, GError **error)
{
  Letters *letters = data;
  if (letters->options->format == TIDE_OUTPUT_JSON)
    print_json(letter, kept_at_ms);
  else {
    g_autofree char *kept = kept_text(kept_at_ms);
    g_autofree char *topic = tide_text_printable(letter->topic);
    printf("%s%-10s %s/%d/%" G_GINT64_FORMAT "\n", letters->n_done > 0 ? "\n" : "", "message", topic, letter->partition,
           letter->offset);
    printf("%-10s %s\n", "kept at", kept);
    show_line("reason", letter->reason);
    show_line("text", letter->text);
    if (letter->reading_index >= 0)
      printf("%-10s %d\n", "reading", letter->reading_index);
    if (letter->table.len > 0)
      show_line("table", letter->table);
    if (letter->row_key.len > 0)
      show_line("row key", letter->row_key);
    printf("%-10s %u\n", "attempts", letter->attempts);
    show_line("version", letter->version);
    if (letter->original_is_gone)
      printf("%-10s gone: it was no more in its topic when it was to be kept; what it was to write is kept\n",
             "original");
    show_original(letter);
  }
  letters->n_done++;
  return TRUE;
}

static gboolean
replay_letter(const TideLetter *letter, gint64 kept_at_ms, gpointer data, GError **error)
{
  Letters *letters = data;
  if (!tide_letter_replay_send(letters->replay, letter, error))
    return FALSE;
  letters->n_done++;
  return letters->options->limit == 0 || letters->n_done < letters->options->limit;
}

/* ---- the three ---- */

/* Where nothing is named, systemd's daemon has another file than a user without its environment looks into. */
static gboolean
is_of_this_environment(const TideDeadLettersConfig *config)
{
  return config->topic == NULL && config->file == NULL && g_getenv("STATE_DIRECTORY") == NULL;
}

static gboolean
read_letters(Letters *letters, TideLetterFunc func, GError **error)
{
  const TideDeadLettersConfig *config = &letters->config->dead_letters;
  g_autofree char *kept_in = tide_dead_letters_file_path(letters->config);
  TideLetterPlace place = {.topic = letters->options->file == NULL ? config->topic : NULL,
                           .file = letters->options->file != NULL ? letters->options->file : kept_in};
  if (place.topic == NULL && place.file == NULL) {
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_USAGE,
                "the configuration names neither 'dead_letters.topic' nor 'dead_letters.file', so that no letter is "
                "kept: name a file with '--file'");
    return FALSE;
  }
  TideLetterCounts counts;
  g_autoptr(GPtrArray) files = place.file != NULL ? tide_letter_file_list(place.file, error) : NULL;
  if (place.file != NULL && files == NULL)
    return FALSE;
  if (files != NULL && files->len == 0 && letters->options->file == NULL) {
    fprintf(stderr, "tidemark dead-letters: no letter was ever kept in '%s'%s\n", place.file,
            is_of_this_environment(config) ? "; of a daemon that systemd runs, name the file with '--file' "
                                             "(/var/lib/tidemark/dead-letters.jsonl)"
                                           : "");
    return TRUE;
  }
  if (!tide_letter_source_read(letters->config, &place, &letters->options->filter, func, letters, &counts, error))
    return FALSE;
  if (counts.n_unreadable > 0)
    fprintf(stderr, "tidemark dead-letters: %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " in '%s' are no letters\n",
            counts.n_unreadable, counts.n_read, place.topic != NULL ? place.topic : place.file);
  return TRUE;
}

static int
list(Letters *letters, GError **error)
{
  static const TideListingColumn columns[] = {{"KEPT AT", FALSE, FALSE}, {"REASON", FALSE, FALSE},
                                              {"MESSAGE", FALSE, FALSE}, {"TABLE", FALSE, FALSE},
                                              {"ROW KEY", FALSE, FALSE}, {"TEXT", FALSE, FALSE}};
  TideOutputFormat format = (TideOutputFormat)letters->options->format;
  if (format != TIDE_OUTPUT_JSON)
    letters->listing = tide_listing_new(stdout, format, tide_colour_wanted(stdout), columns, G_N_ELEMENTS(columns));
  if (!read_letters(letters, list_letter, error))
    return TIDE_EXIT_INTERNAL;
  if (letters->listing != NULL)
    (void)tide_listing_finish(letters->listing); /* tide_output_close() says what went wrong */
  return tide_output_close();
}

static int
show(Letters *letters, GError **error)
{
  if (!read_letters(letters, show_letter, error))
    return TIDE_EXIT_INTERNAL;
  if (letters->n_done == 0) {
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_NOT_FOUND, "there is no letter of message %s/%d/%" G_GINT64_FORMAT,
                letters->options->filter.topic, letters->options->filter.partition, letters->options->filter.offset);
    return TIDE_EXIT_FINDINGS;
  }
  return tide_output_close();
}

static int
replay(Letters *letters, GError **error)
{
  const LettersOptions *options = letters->options;
  TideLetterReplayOptions replaying = {.topic = options->to_topic,
                                       .rate_per_s = options->rate_per_s,
                                       .dry_run = options->dry_run,
                                       .stop = tide_stop_signal_install()};
  letters->replay = tide_letter_replay_new(&letters->config->kafka, &replaying, error);
  if (letters->replay == NULL)
    return TIDE_EXIT_INTERNAL;
  gboolean read = read_letters(letters, replay_letter, error);
  /* What was handed over is waited for even after a fault, so that the count is true. */
  gboolean finished = tide_letter_replay_finish(letters->replay, read ? error : NULL);
  TideLetterReplayCounts counts = tide_letter_replay_counts(letters->replay);
  printf("%" G_GUINT64_FORMAT " message%s %s\n", counts.n_sent, counts.n_sent == 1 ? "" : "s",
         options->dry_run ? "would be sent again" : "sent again");
  if (counts.n_repeated > 0)
    printf("%" G_GUINT64_FORMAT " more letters are of these messages\n", counts.n_repeated);
  if (counts.n_gone > 0)
    printf("%" G_GUINT64_FORMAT " letters have no original any more: 'tidemark dead-letters show' has their rows\n",
           counts.n_gone);
  if (!read || !finished)
    return TIDE_EXIT_INTERNAL;
  int exit_code = tide_output_close();
  return exit_code == TIDE_EXIT_OK && counts.n_gone > 0 ? TIDE_EXIT_FINDINGS : exit_code;
}

/* ---- the command line ---- */

static gboolean
parse_moment(const char *option, const char *text, gint64 *ret_ms, GError **error)
{
  gint64 ns;
  if (text == NULL)
    return TRUE;
  if (!tide_time_argument_parse(text, tide_wall_clock_epoch_ms() * 1000000, &ns, error)) {
    g_prefix_error(error, "'--%s' ", option);
    return FALSE;
  }
  *ret_ms = ns / 1000000;
  return TRUE;
}

/* "metrics/3/1234". */
static gboolean
parse_message(const char *text, LettersOptions *options, char **ret_topic, GError **error)
{
  const char *offset = strrchr(text, '/');
  const char *partition = offset != NULL ? g_strrstr_len(text, offset - text, "/") : NULL;
  guint64 number = 0, place = 0;
  g_autofree char *partition_text =
      partition != NULL ? g_strndup(partition + 1, (gsize)(offset - partition - 1)) : NULL;
  if (partition == NULL || partition == text ||
      !g_ascii_string_to_unsigned(partition_text, 10, 0, G_MAXINT32, &number, NULL) ||
      !g_ascii_string_to_unsigned(offset + 1, 10, 0, G_MAXINT64, &place, NULL)) {
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_USAGE, "'%s' is no message: write TOPIC/PARTITION/OFFSET, as list does",
                text);
    return FALSE;
  }
  *ret_topic = g_strndup(text, (gsize)(partition - text));
  options->filter.topic = *ret_topic;
  options->filter.one = TRUE;
  options->filter.partition = (gint32)number;
  options->filter.offset = (gint64)place;
  return TRUE;
}

static gboolean
check_verb(const GPtrArray *arguments, GError **error)
{
  if (arguments->len == 0) {
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_USAGE, "say what to do: list, show or replay");
    return FALSE;
  }
  const char *verb = arguments->pdata[0];
  if (!g_strv_contains(verbs, verb)) {
    const char *nearest = tide_nearest_name(verb, verbs);
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_USAGE, "cannot '%s' dead letters: %s%s%s", verb,
                nearest != NULL ? "did you mean '" : "say list, show or replay", nearest != NULL ? nearest : "",
                nearest != NULL ? "'?" : "");
    return FALSE;
  }
  if (strcmp(verb, "show") == 0 && arguments->len < 2) {
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_USAGE, "which message? TOPIC/PARTITION/OFFSET, as list shows it");
    return FALSE;
  }
  if (strcmp(verb, "list") == 0 && arguments->len > 1) {
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_USAGE, "'list' takes no message: narrow it with the options");
    return FALSE;
  }
  return TRUE;
}

/* One that no letter can have would quietly find none. */
static gboolean
check_reason(const char *reason, GError **error)
{
  const char *names[TIDE_LETTER_N_REASONS] = {NULL}; /* from the first on: 0 is none */
  for (guint i = 1; i < TIDE_LETTER_N_REASONS; i++)
    names[i - 1] = tide_letter_reason_name(i);
  if (reason == NULL || g_strv_contains(names, reason))
    return TRUE;
  const char *nearest = tide_nearest_name(reason, names);
  g_autofree char *known = g_strjoinv(", ", (char **)names);
  g_set_error(error, TIDE_ERROR, TIDE_ERROR_USAGE, "no letter is kept for the reason '%s': %s%s%s", reason,
              nearest != NULL ? "did you mean '" : "it is one of ", nearest != NULL ? nearest : known,
              nearest != NULL ? "'?" : "");
  return FALSE;
}

/* Sending everything again has to be meant. */
static gboolean
check_replay(const LettersOptions *options, GError **error)
{
  const TideLetterFilter *filter = &options->filter;
  gboolean narrowed = filter->one || filter->reason != NULL || filter->table != NULL || filter->topic != NULL ||
                      filter->from_ms != 0 || filter->to_ms != 0 || options->limit != 0;
  if (narrowed || options->all)
    return TRUE;
  g_set_error(error, TIDE_ERROR, TIDE_ERROR_USAGE,
              "which letters? narrow it ('--reason', '--table', '--topic', '--from', '--to'), or say '--all'");
  return FALSE;
}

static int
run_verb(const TideCommandLine *line, const LettersOptions *options, const char *verb)
{
  g_autoptr(GError) error = NULL;
  if (!check_reason(options->filter.reason, &error) || (strcmp(verb, "replay") == 0 && !check_replay(options, &error)))
    return tide_command_fail(line, error);
  g_autoptr(TideConfig) config = tide_command_load_config(line, options->config_path);
  if (config == NULL)
    return TIDE_EXIT_CONFIG;
  Letters letters = {.line = line, .config = config, .options = options};
  int exit_code = strcmp(verb, "list") == 0   ? list(&letters, &error)
                  : strcmp(verb, "show") == 0 ? show(&letters, &error)
                                              : replay(&letters, &error);
  tide_listing_free(letters.listing);
  tide_letter_replay_free(letters.replay);
  if (error == NULL)
    return exit_code;
  int failed = tide_command_fail(line, error);
  return exit_code == TIDE_EXIT_FINDINGS ? exit_code : failed;
}

int
tide_command_dead_letters(int argc, char **argv)
{
  LettersOptions options = {.config_path = TIDE_DEFAULT_CONFIG_PATH};
  const TideOption table[] = {
      tide_config_option(&options.config_path),
      {.name = "file",
       .kind = TIDE_OPTION_TEXT,
       .target = &options.file,
       .value_name = "FILE",
       .sentence = "letters of this file and those rotated from it, not of the configured place"},
      {.name = "reason",
       .kind = TIDE_OPTION_TEXT,
       .target = &options.filter.reason,
       .value_name = "REASON",
       .sentence = "only those kept for this reason, as list names it"},
      {.name = "table",
       .kind = TIDE_OPTION_TEXT,
       .target = &options.filter.table,
       .value_name = "TABLE",
       .sentence = "only those whose row for this table was refused"},
      {.name = "topic",
       .kind = TIDE_OPTION_TEXT,
       .target = &options.filter.topic,
       .value_name = "TOPIC",
       .sentence = "only messages of this topic"},
      {.name = "from",
       .kind = TIDE_OPTION_TEXT,
       .target = &options.from,
       .value_name = "TIME",
       .sentence = "only those kept then or later"},
      {.name = "to",
       .kind = TIDE_OPTION_TEXT,
       .target = &options.to,
       .value_name = "TIME",
       .sentence = "only those kept before"},
      {.name = "limit",
       .kind = TIDE_OPTION_COUNT,
       .target = &options.limit,
       .value_name = "N",
       .sentence = "the first N at the most",
       .min = 1},
      {.name = "all", .kind = TIDE_OPTION_FLAG, .target = &options.all, .sentence = "replay: every letter there is"},
      {.name = "to-topic",
       .kind = TIDE_OPTION_TEXT,
       .target = &options.to_topic,
       .value_name = "TOPIC",
       .sentence = "replay: send them there, when the original topic has other readers; the daemon must read it, too"},
      {.name = "rate",
       .kind = TIDE_OPTION_COUNT,
       .target = &options.rate_per_s,
       .value_name = "N",
       .sentence = "replay: at most N messages a second",
       .min = 1},
      {.name = "dry-run",
       .kind = TIDE_OPTION_FLAG,
       .target = &options.dry_run,
       .sentence = "replay: send nothing, tell how many it would be"},
      {.name = "format",
       .letter = 'f',
       .kind = TIDE_OPTION_CHOICE,
       .target = &options.format,
       .value_name = "FORMAT",
       .sentence = "list, show: table, csv or json (table)",
       .choices = tide_output_format_names},
  };
  const TideCommandLine line = {
      .command = "dead-letters",
      .arguments = "list|show|replay [TOPIC/PARTITION/OFFSET]",
      .summary = "Lists the messages that could not be written, shows one, or sends them again.",
      .details =
          "list    a line for each letter, with the reason.\n"
          "show    all that is known of one message, and the message itself.\n"
          "replay  sends the originals to their topic and partition again, with their time, when what was wrong\n"
          "        is mended: the daemon takes them as it takes any message. The letters stay. Exit code 1: some\n"
          "        have no original any more.\n"
          "\n"
          "TIME is now, -15m, +1h, epoch milliseconds, 2026-11-21 or 2026-11-21T04:45:00Z.\n"
          "\n"
          "Examples:\n"
          "  tidemark dead-letters list --from -1d\n"
          "  tidemark dead-letters show metrics/3/1234\n"
          "  tidemark dead-letters replay --reason missing_field --dry-run",
      .max_arguments = 2,
      .options = table,
      .n_options = G_N_ELEMENTS(table),
  };
  g_autoptr(GPtrArray) arguments = g_ptr_array_new();
  int exit_code = TIDE_EXIT_OK;
  if (!tide_command_line_begin(&line, argc, argv, arguments, &exit_code))
    return exit_code;
  g_autoptr(GError) error = NULL;
  g_autofree char *topic = NULL;
  if (!check_verb(arguments, &error) || !parse_moment("from", options.from, &options.filter.from_ms, &error) ||
      !parse_moment("to", options.to, &options.filter.to_ms, &error) ||
      (arguments->len > 1 && !parse_message(arguments->pdata[1], &options, &topic, &error)))
    return tide_command_fail(&line, error);
  return run_verb(&line, &options, arguments->pdata[0]);
}
