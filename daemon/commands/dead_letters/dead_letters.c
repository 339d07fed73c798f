/* `tidemark dead-letters`: lists, shows and replays the messages that could not be written. */
#include "commands/cli/commands.h"
#include "commands/cli/listing.h"
#include "commands/cli/load_config.h"
#include "commands/cli/output.h"
#include "commands/cli/stop_signal.h"
#include "commands/cli/time_argument.h"
#include "commands/dead_letters/dead_letter_source.h"
#include "config/option/nearest_name.h"
#include "dead_letters/dead_letter_file.h"
#include "dead_letters/dead_letter_json.h"
#include "dead_letters/dead_letter_queue.h"
#include "dead_letters/message_dead_letters.h"
#include "files/file_load.h"
#include "util/clock.h"
#include "util/state_directory.h"
#include "util/units.h"

#include <string.h>

typedef struct DeadLettersOptions {
  const char *file;
  const char *from;
  const char *to;
  const char *to_topic;
  gboolean all;
  gboolean dry_run;
  guint64 rate_per_s; /* 0: unlimited */
  guint64 limit;      /* 0: unlimited */
  int format;         /* TideOutputFormat */
  TideDeadLetterFilter filter;
} DeadLettersOptions;

typedef struct DeadLetters {
  const TideConfig *config;
  const DeadLettersOptions *options;
  TideListing *listing;         /* owned; for list, except in JSON */
  TideDeadLetterReplay *replay; /* owned; for replay */
  guint64 n_done;
} DeadLetters;

/* ---- list and show ---- */

static char *
kept_text(gint64 kept_at_ms)
{
  return kept_at_ms >= 0 ? tide_time_text(kept_at_ms) : g_strdup("-");
}

static void
print_json(const TideDeadLetter *dead_letter, gint64 kept_at_ms)
{
  g_auto(TideBuffer) text = {0};
  tide_dead_letter_json_append(&text, dead_letter, kept_at_ms);
  tide_json_escape_hidden(&text);
  fwrite(text.data, 1, text.len, stdout);
}

/* FALSE, without an error, when the limit is reached or the output is closed. */
static gboolean
list_dead_letter(const TideDeadLetter *dead_letter, gint64 kept_at_ms, gpointer data, GError **error)
{
  DeadLetters *dead_letters = data;
  gboolean goes_on = TRUE;
  if (dead_letters->listing == NULL)
    print_json(dead_letter, kept_at_ms);
  else {
    g_autofree char *kept = kept_text(kept_at_ms);
    g_autofree char *reason = tide_text_printable(dead_letter->reason);
    g_autofree char *topic = tide_text_printable(dead_letter->topic);
    g_autofree char *location =
        g_strdup_printf("%s/%d/%" G_GINT64_FORMAT, topic, dead_letter->partition, dead_letter->offset);
    g_autofree char *table = tide_text_printable(dead_letter->table);
    g_autofree char *row_key = tide_text_printable(dead_letter->row_key);
    g_autofree char *text = tide_text_printable(dead_letter->text);
    const char *const values[] = {kept, reason, location, table, row_key, text};
    goes_on = tide_listing_add(dead_letters->listing, values);
  }
  dead_letters->n_done++;
  return goes_on && (dead_letters->options->limit == 0 || dead_letters->n_done < dead_letters->options->limit);
}

static void
show_line(const char *name, TideBytes value)
{
  g_autofree char *text = tide_text_printable(value);
  printf("%-10s %s\n", name, text);
}

static void
show_original(const TideDeadLetter *dead_letter)
{
  if (dead_letter->has_key)
    show_line("key", dead_letter->key);
  for (guint32 i = 0; i < dead_letter->n_headers; i++) {
    g_autofree char *name = tide_text_printable(dead_letter->headers[i].name);
    g_autofree char *value = tide_text_printable(dead_letter->headers[i].value);
    printf("%-10s %s = %s\n", "header", name, dead_letter->headers[i].has_value ? value : "(null)");
  }
  if (dead_letter->has_value)
    show_line(dead_letter->original_is_gone ? "row" : "value", dead_letter->value);
  else
    printf("%-10s (null)\n", "value");
}

static gboolean
show_dead_letter(const TideDeadLetter *dead_letter, gint64 kept_at_ms, gpointer data, GError **error)
{
  DeadLetters *dead_letters = data;
  if (dead_letters->options->format == TIDE_OUTPUT_JSON)
    print_json(dead_letter, kept_at_ms);
  else {
    g_autofree char *kept = kept_text(kept_at_ms);
    g_autofree char *topic = tide_text_printable(dead_letter->topic);
    printf("%s%-10s %s/%d/%" G_GINT64_FORMAT "\n", dead_letters->n_done > 0 ? "\n" : "", "message", topic,
           dead_letter->partition, dead_letter->offset);
    printf("%-10s %s\n", "kept at", kept);
    show_line("reason", dead_letter->reason);
    show_line("text", dead_letter->text);
    if (dead_letter->reading_index >= 0)
      printf("%-10s %d\n", "reading", dead_letter->reading_index);
    if (dead_letter->source.len > 0)
      show_line("source", dead_letter->source);
    if (dead_letter->table.len > 0)
      show_line("table", dead_letter->table);
    if (dead_letter->row_key.len > 0)
      show_line("row key", dead_letter->row_key);
    printf("%-10s %u\n", "attempts", dead_letter->attempts);
    show_line("version", dead_letter->version);
    if (dead_letter->original_is_gone)
      printf(
          "%-10s gone: it was no longer in its topic when the dead letter was stored; the row to be written is kept\n",
          "original");
    show_original(dead_letter);
  }
  dead_letters->n_done++;
  return TRUE;
}

static gboolean
replay_dead_letter(const TideDeadLetter *dead_letter, gint64 kept_at_ms, gpointer data, GError **error)
{
  DeadLetters *dead_letters = data;
  if (!tide_dead_letter_replay_send(dead_letters->replay, dead_letter, error))
    return FALSE;
  dead_letters->n_done++;
  return dead_letters->options->limit == 0 || dead_letters->n_done < dead_letters->options->limit;
}

/* ---- the three commands ---- */

static gboolean
read_dead_letters(DeadLetters *dead_letters, TideDeadLetterFunc func, GError **error)
{
  const TideDeadLettersConfig *config = &dead_letters->config->dead_letters;
  g_autofree char *kept_in = tide_dead_letter_queue_file_path(dead_letters->config);
  TideDeadLetterLocation location = {.topic = dead_letters->options->file == NULL ? config->topic : NULL,
                                     .file =
                                         dead_letters->options->file != NULL ? dead_letters->options->file : kept_in};
  if (location.topic == NULL && location.file == NULL)
    return tide_fail(error, TIDE_ERROR_USAGE,
                     "the configuration sets neither 'dead_letters.topic' nor 'dead_letters.file', so no dead letters "
                     "are stored: name a file with '--file'");
  TideDeadLetterCounts counts;
  g_autoptr(GPtrArray) files = location.file != NULL ? tide_dead_letter_file_list(location.file, error) : NULL;
  if (location.file != NULL && files == NULL)
    return FALSE;
  if (files != NULL && files->len == 0 && dead_letters->options->file == NULL) {
    g_autofree char *missing = tide_dead_letter_source_missing_text(location.file);
    g_autofree char *directory = tide_state_directory_place(NULL);
    /* Without a configured place, a daemon run by systemd uses another file than a user without its environment. */
    gboolean is_of_environment = config->topic == NULL && config->file == NULL && g_getenv("STATE_DIRECTORY") == NULL;
    tide_say("tidemark dead-letters: %s; 'tidemark load' stores its dead letters in another file, which it names at "
             "its end ('%s/" TIDE_LOAD_DEAD_LETTERS "' by default): name that%s",
             missing, directory,
             is_of_environment
                 ? "; for a daemon run by systemd, name its file with '--file' (/var/lib/tidemark/dead-letters.jsonl)"
                 : "");
    return TRUE;
  }
  if (!tide_dead_letter_source_read(dead_letters->config, &location, &dead_letters->options->filter, func, dead_letters,
                                    &counts, error))
    return FALSE;
  const char *place = location.topic != NULL ? location.topic : location.file;
  guint64 n_readable = counts.n_read - counts.n_unreadable;
  g_autofree char *readable = tide_count_of(n_readable, "dead letter", NULL),
                  *unreadable = tide_count_text(counts.n_unreadable);
  g_autofree char *all = tide_count_text(counts.n_read);
  /* Explains an empty list. */
  gboolean is_told = counts.n_taken == 0 && dead_letters->replay == NULL && !dead_letters->options->filter.one;
  if (is_told && n_readable == 0)
    tide_say("tidemark dead-letters: there are no dead letters in '%s'", place);
  else if (is_told)
    tide_say("tidemark dead-letters: none of %s in '%s' matches", readable, place);
  if (counts.n_unreadable > 0)
    tide_say("tidemark dead-letters: %s of %s in '%s' %s", unreadable, all, place,
             counts.n_unreadable == 1 ? "is not a dead letter" : "are not dead letters");
  return TRUE;
}

static gboolean
list(DeadLetters *dead_letters, GError **error)
{
  static const TideListingColumn columns[] = {{"KEPT AT", FALSE, FALSE}, {"REASON", FALSE, FALSE},
                                              {"MESSAGE", FALSE, FALSE}, {"TABLE", FALSE, FALSE},
                                              {"ROW KEY", FALSE, FALSE}, {"TEXT", FALSE, FALSE}};
  TideOutputFormat format = (TideOutputFormat)dead_letters->options->format;
  if (format != TIDE_OUTPUT_JSON)
    dead_letters->listing =
        tide_listing_new(stdout, format, tide_colour_wanted(stdout), columns, G_N_ELEMENTS(columns));
  if (!read_dead_letters(dead_letters, list_dead_letter, error))
    return FALSE;
  if (dead_letters->listing != NULL)
    (void)tide_listing_finish(dead_letters->listing); /* tide_output_close() reports errors */
  return TRUE;
}

static gboolean
replay(DeadLetters *dead_letters, int *ret_exit_code, GError **error)
{
  const DeadLettersOptions *options = dead_letters->options;
  TideDeadLetterReplayOptions replaying = {.topic = options->to_topic,
                                           .rate_per_s = options->rate_per_s,
                                           .dry_run = options->dry_run,
                                           .stop = tide_stop_signal_install()};
  dead_letters->replay = tide_dead_letter_replay_new(&dead_letters->config->kafka, &replaying, error);
  if (dead_letters->replay == NULL)
    return FALSE;
  gboolean read = read_dead_letters(dead_letters, replay_dead_letter, error);
  /* Waits for sent messages even after a failure, so that the count is correct. */
  gboolean finished = tide_dead_letter_replay_finish(dead_letters->replay, read ? error : NULL);
  TideDeadLetterReplayCounts counts = tide_dead_letter_replay_counts(dead_letters->replay);
  g_autofree char *sent = tide_count_of(counts.n_sent, "message", NULL),
                  *repeated = tide_count_of(counts.n_repeated, "more dead letter is", "more dead letters are"),
                  *gone = tide_count_of(counts.n_gone, "dead letter has", "dead letters have");
  printf("%s %s\n", sent, options->dry_run ? "would be sent again" : "sent again");
  if (counts.n_repeated > 0)
    printf("%s of these messages\n", repeated);
  if (counts.n_gone > 0)
    printf("%s no original any more: 'tidemark dead-letters show' shows the rows\n", gone);
  *ret_exit_code = counts.n_gone > 0 ? TIDE_EXIT_FINDINGS : TIDE_EXIT_OK;
  return read && finished;
}

/* ---- the command line ---- */

/* "metrics/3/1234". */
static gboolean
parse_message(const char *text, DeadLettersOptions *options, char **ret_topic, GError **error)
{
  const char *offset = strrchr(text, '/');
  const char *partition = offset != NULL ? g_strrstr_len(text, offset - text, "/") : NULL;
  guint64 number = 0, location = 0;
  g_autofree char *partition_text =
      partition != NULL ? g_strndup(partition + 1, (gsize)(offset - partition - 1)) : NULL;
  if (partition == NULL || partition == text ||
      !g_ascii_string_to_unsigned(partition_text, 10, 0, G_MAXINT32, &number, NULL) ||
      !g_ascii_string_to_unsigned(offset + 1, 10, 0, G_MAXINT64, &location, NULL))
    return tide_fail(error, TIDE_ERROR_USAGE,
                     "'%s' is not a message: write TOPIC/PARTITION/OFFSET, as in the output of list", text);
  *ret_topic = g_strndup(text, (gsize)(partition - text));
  options->filter.topic = *ret_topic;
  options->filter.one = TRUE;
  options->filter.partition = (gint32)number;
  options->filter.offset = (gint64)location;
  return TRUE;
}

/* An impossible reason would silently match nothing. */
static gboolean
check_reason(const char *reason, GError **error)
{
  const char *names[TIDE_DEAD_LETTER_N_REASONS] = {NULL}; /* from the first reason on: 0 is none */
  for (guint i = 1; i < TIDE_DEAD_LETTER_N_REASONS; i++)
    names[i - 1] = tide_dead_letter_reason_name(i);
  if (reason == NULL || g_strv_contains(names, reason))
    return TRUE;
  const char *nearest = tide_nearest_name(reason, names);
  g_autofree char *known = g_strjoinv(", ", (char **)names);
  return tide_fail(error, TIDE_ERROR_USAGE, "no dead letter has the reason '%s': %s%s%s", reason,
                   nearest != NULL ? "did you mean '" : "it is one of ", nearest != NULL ? nearest : known,
                   nearest != NULL ? "'?" : "");
}

/* @ret_topic: owned; that of the filter */
static gboolean
read_options(const TideCommandCall *call, char **ret_topic, GError **error)
{
  static const char *const verbs[] = {"list", "show", "replay", NULL};
  DeadLettersOptions *options = call->options;
  TideDeadLetterFilter *filter = &options->filter;
  const GPtrArray *arguments = call->arguments;
  gint64 now_ms = tide_wall_clock_epoch_ms();
  if (!tide_command_check_verb(call, verbs, "dead letters", error))
    return FALSE;
  const char *verb = arguments->pdata[0];
  if (strcmp(verb, "show") == 0 && arguments->len < 2)
    return tide_fail(error, TIDE_ERROR_USAGE,
                     "the message is missing: TOPIC/PARTITION/OFFSET, as in the output of list");
  if (strcmp(verb, "list") == 0 && arguments->len > 1)
    return tide_fail(error, TIDE_ERROR_USAGE, "'list' accepts no message: select dead letters with the options");
  if (!tide_time_option_parse_ms("from", options->from, now_ms, &filter->from_ms, error) ||
      !tide_time_option_parse_ms("to", options->to, now_ms, &filter->to_ms, error) ||
      (arguments->len > 1 && !parse_message(arguments->pdata[1], options, ret_topic, error)) ||
      !check_reason(filter->reason, error))
    return FALSE;
  /* Replaying everything must be requested explicitly. */
  gboolean narrowed = filter->one || filter->reason != NULL || filter->table != NULL || filter->topic != NULL ||
                      filter->source != NULL || filter->from_ms != 0 || filter->to_ms != 0 || options->limit != 0;
  return strcmp(verb, "replay") != 0 || narrowed || options->all ||
         tide_fail(error, TIDE_ERROR_USAGE,
                   "no dead letters are selected: use '--reason', '--table', '--topic', '--source', '--from', '--to' "
                   "or '--all'");
}

static gboolean
run_dead_letters(TideCommandCall *call, GError **error)
{
  g_autofree char *topic = NULL;
  if (!read_options(call, &topic, error) || !tide_command_load_config(call))
    return FALSE;
  const char *verb = call->arguments->pdata[0];
  const DeadLettersOptions *options = call->options;
  DeadLetters dead_letters = {.config = call->config, .options = options};
  gboolean is_show = strcmp(verb, "show") == 0;
  gboolean ok = strcmp(verb, "list") == 0 ? list(&dead_letters, error)
                : is_show                 ? read_dead_letters(&dead_letters, show_dead_letter, error)
                                          : replay(&dead_letters, &call->exit_code, error);
  if (ok && is_show && dead_letters.n_done == 0) {
    call->failure_code = TIDE_EXIT_FINDINGS;
    ok = tide_fail(error, TIDE_ERROR_NOT_FOUND, "there is no dead letter of message %s/%d/%" G_GINT64_FORMAT,
                   options->filter.topic, options->filter.partition, options->filter.offset);
  }
  tide_listing_free(dead_letters.listing);
  tide_dead_letter_replay_free(dead_letters.replay);
  return ok;
}

static const TideOption dead_letters_options[] = {
    TIDE_CONFIG_OPTION,
    {"file", "FILE", TIDE_TEXT(DeadLettersOptions, file),
     "read this file and its rotated predecessors, instead of the configured file or topic"},
    {"reason", "REASON", TIDE_TEXT(DeadLettersOptions, filter.reason),
     "only dead letters with this reason, as shown by list"},
    {"table", "TABLE", TIDE_TEXT(DeadLettersOptions, filter.table),
     "only dead letters with a refused row for this table"},
    {"topic", "TOPIC", TIDE_TEXT(DeadLettersOptions, filter.topic), "only messages of this topic"},
    {"source", "NAME", TIDE_TEXT(DeadLettersOptions, filter.source),
     "only messages of this source (for a configuration with 'sources')"},
    {"from", "TIME", TIDE_TEXT(DeadLettersOptions, from), "only dead letters kept at or after this time"},
    {"to", "TIME", TIDE_TEXT(DeadLettersOptions, to), "only dead letters kept before this time"},
    {"limit", "N", TIDE_COUNT(DeadLettersOptions, limit), "maximum number of dead letters, oldest first (no limit)",
     .min = 1},
    {"all", NULL, TIDE_FLAG(DeadLettersOptions, all), "replay: all dead letters"},
    {"to-topic", "TOPIC", TIDE_TEXT(DeadLettersOptions, to_topic),
     "replay: send to this topic instead, if the original topic has other consumers; the daemon must also read it"},
    {"rate", "N", TIDE_COUNT(DeadLettersOptions, rate_per_s),
     "replay: maximum number of messages per second (no limit)", .min = 1},
    {"dry-run", NULL, TIDE_FLAG(DeadLettersOptions, dry_run), "replay: send nothing, and count the messages"},
    {"format", "FORMAT", TIDE_CHOICE(DeadLettersOptions, format),
     "list, show: output format table, csv or json (table)", .letter = 'f', .choices = tide_output_format_names},
};

const TideCommand tide_command_dead_letters = {
    .name = "dead-letters",
    .arguments = "list|show|replay [TOPIC/PARTITION/OFFSET]",
    .summary = "Lists the messages that could not be written, shows one, or sends them again.",
    .exits = {{TIDE_EXIT_FINDINGS, "show: the message has no dead letter; replay: some originals no longer exist"},
              {TIDE_EXIT_UNAVAILABLE},
              {TIDE_EXIT_TEMPFAIL},
              {TIDE_EXIT_CONFIG}},
    .details = "list    shows a line per dead letter, with the reason.\n"
               "show    shows everything that is known about one message, and the message itself.\n"
               "replay  sends the originals to their topic and partition again, with their time, after you have fixed\n"
               "        the cause. The daemon processes them like other messages. The dead letters are kept.\n"
               "\n"
               "TIME is now, -15m, +1h, epoch milliseconds, 2026-11-21 or 2026-11-21T04:45:00Z.\n"
               "\n"
               "Examples:\n"
               "  tidemark dead-letters list --from -1d\n"
               "  tidemark dead-letters show metrics/3/1234\n"
               "  tidemark dead-letters replay --reason missing_field --dry-run",
    .max_arguments = 2,
    TIDE_COMMAND_OPTIONS(dead_letters_options, DeadLettersOptions),
    .run = run_dead_letters,
};
