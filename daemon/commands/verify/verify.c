/* `tidemark verify`: whether the tables hold what the topics say. Reads both; joins no group, commits nothing, writes
 * nothing.
 *
 * The window is what the topics still hold, by --from and --to cut to a span of the records' own times, and up to what
 * the group has committed, so that it can be verified while the daemon runs: what is committed was acknowledged before.
 *
 * Expected is what the daemon's own mapping makes of each message of the window:
 *   - Of each cell (row, column, time) the value of the highest offset of the partition that wrote it; where several
 *     partitions wrote different values, any of theirs, which is told as a conflict and is no difference. So is the
 *     last of several values that the readings of one message wrote.
 *   - In a history table, no two readings in one cell: readings that differ in what names them
 * (mapping/mapping.c) and give one cell different values are told as overwritten. A reading that is sent again
 * with another value is corrected, which is no difference.
 *   - Of each column the newest times, as many as its family shows in HBase; in a latest table, also an index or a
 * packed one, the newest alone. Older times need not be there, and are neither missing nor unexpected.
 *   - In a table with latest: replace, or where tombstones delete, nothing up to the time at which its row was deleted
 * last; a cell of such a time that is there is unexpected.
 *   - Nothing of messages that are rejected (they are counted, by reason) or of dead letters, some of whose rows may be
 * there; and nothing that is older, by now, than its table keeps it. A missing cell is not told from one that HBase
 * dropped for its age. Found is what a scan shows: of a table of readings the cells from the window's oldest cell time
 * on; of a latest table all. A cell that is not expected is unexpected when its time is within the window's cell times
 * (or newer, in a latest table) and no message makes it: for that, where there are such cells, the messages before and
 * behind the window are read too, up to those that came meanwhile. A cell at an expected one's time with another value
 * is wrong unless such a message has that value. When the topics do not hold any more all that they ever did (their
 * first offset is not 0, an offset holds no message, or not all topics were read), such cells are unexplained and no
 * difference.
 *
 * What it cannot know: rows deleted by hand (`latest --forget`) are missing; rows of other writers are unexpected; what
 * a compaction makes visible again, where rows are deleted (`purge_deletes_after`), is unexpected.
 *
 * Memory: the cells are compared as hashes, in passes (verify/cells.h). */
#include "commands/cli/choose_source.h"
#include "commands/cli/commands.h"
#include "commands/cli/load_config.h"
#include "commands/cli/output.h"
#include "commands/cli/stop_signal.h"
#include "commands/cli/time_argument.h"
#include "commands/verify/files.h"
#include "commands/verify/job.h"
#include "commands/verify/report.h"
#include "files/file_load.h"
#include "kafka/commit_note.h"
#include "util/clock.h"
#include "util/state_directory.h"

#define DEFAULT_MEMORY_MIB 256
#define MAX_MEMORY_MIB (1024 * 1024)
#define DEFAULT_SAMPLES 5
#define MAX_SAMPLES 1000

/* A sixteenth of the memory that is given for cells, beside it. */
#define DEAD_LETTERS_PER_MIB ((1u << 20) / 16 / sizeof(TideVerifyDeadLetter))

static const char *const verify_formats[] = {"text", "json", NULL};
enum { VERIFY_TEXT, VERIFY_JSON };

typedef struct VerifyOptions {
  const char *from;
  const char *to;
  GPtrArray *topics; /* (element-type utf8) */
  gboolean files;
  const char *source;
  const char *state_directory;
  GPtrArray *tables; /* (element-type utf8) */
  const char *group;
  gboolean to_end;
  gboolean allow_unexpected;
  gboolean allow_overwritten;
  const char *dead_letters_file;
  int format;
  guint64 samples;
  guint64 memory_mib;
  guint64 rate_rows_per_s;
} VerifyOptions;

typedef struct Verify {
  TideConfig *config; /* borrowed */
  const VerifyOptions *options;
  const GPtrArray *paths; /* borrowed (element-type utf8): with --files */
  const volatile int *stop;
  gint64 from_ms;
  gint64 to_ms;
  TideTopicReader *topics; /* owned; NULL with --files */
  TideVerifyFiles files;
  TideVerifyInput input;
  GArray *parts;                       /* owned */
  GArray *gaps;                        /* owned (element-type TideVerifyGap) */
  TideGatewaySession *session;         /* owned */
  TideVerifyTables *tables;            /* owned */
  TideVerifyDeadLetters *dead_letters; /* owned */
  char *not_whole;                     /* owned: why; NULL: the topics hold all that they ever did */
} Verify;

static void
clear_verify(Verify *verify)
{
  tide_topic_reader_free(verify->topics);
  g_clear_pointer(&verify->parts, g_array_unref);
  g_clear_pointer(&verify->gaps, g_array_unref);
  tide_verify_tables_free(verify->tables);
  tide_verify_dead_letters_free(verify->dead_letters);
  tide_gateway_session_free(verify->session);
  g_free(verify->not_whole);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Verify, clear_verify)

/* ---- the window ----------------------------------------------------------------------------------------------------
 */

static gboolean
parse_times(Verify *verify, GError **error)
{
  const TideKafkaConfig *kafka = &verify->config->kafka;
  verify->from_ms = kafka->start == TIDE_START_TIME ? kafka->start_epoch_ms : 0; /* where the group began */
  verify->to_ms = G_MAXINT64;
  gint64 now_ms = tide_wall_clock_epoch_ms();
  if (!tide_time_option_parse_ms("from", verify->options->from, now_ms, &verify->from_ms, error) ||
      !tide_time_option_parse_ms("to", verify->options->to, now_ms, &verify->to_ms, error))
    return FALSE;
  if (verify->from_ms < verify->to_ms)
    return TRUE;
  g_set_error_literal(error, TIDE_ERROR, TIDE_ERROR_USAGE, "'--from' must be before '--to'");
  return FALSE;
}

static const char *
group_of(const Verify *verify)
{
  if (verify->options->to_end || verify->options->files)
    return NULL;
  return verify->options->group != NULL ? verify->options->group : verify->config->kafka.group;
}

static void
add_gap(Verify *verify, TideVerifyGap gap)
{
  if (gap.from < gap.to)
    g_array_append_val(verify->gaps, gap);
}

/* What the group has left out, or stands before, by what it has committed now. A log's beginning that moves while the
 * tables are compared is not counted: the group may have read on meanwhile. @ends: of the window in each part, before
 * it was limited to the group */
static void
find_gaps(Verify *verify, const gint64 *ends)
{
  for (guint i = 0; i < verify->parts->len; i++) {
    const TideTopicPart *part = &g_array_index(verify->parts, TideTopicPart, i);
    TideCommitNote note = {0};
    gboolean is_ours = part->note != NULL && tide_commit_note_parse(tide_bytes_of_string(part->note), &note);
    if (part->committed < 0)
      add_gap(verify, (TideVerifyGap){TIDE_VERIFY_GAP_NOT_BEGUN, i, part->begin, ends[i], NULL});
    else
      add_gap(verify, (TideVerifyGap){TIDE_VERIFY_GAP_LOST, i, part->committed, part->first, NULL});
    if (is_ours && note.halt.cause != TIDE_HALT_NONE)
      add_gap(verify, (TideVerifyGap){TIDE_VERIFY_GAP_HALTED, i, note.halt.offset, note.halt.offset + 1,
                                      tide_halt_kinds[note.halt.cause].text});
  }
}

static gboolean
limit_to_group(Verify *verify, GError **error)
{
  guint n_committed = 0;
  const char *group = group_of(verify);
  if (group == NULL)
    return TRUE;
  g_autofree gint64 *ends = g_new0(gint64, MAX(verify->parts->len, 1));
  for (guint i = 0; i < verify->parts->len; i++)
    ends[i] = g_array_index(verify->parts, TideTopicPart, i).end;
  if (!tide_topic_reader_limit_to_group(verify->topics, group, verify->parts, &n_committed, error))
    return FALSE;
  find_gaps(verify, ends);
  if (n_committed > 0)
    return TRUE;
  g_set_error(error, TIDE_ERROR, TIDE_ERROR_DATA,
              "group '%s' has committed nothing yet: there is nothing to verify ('--group' names another, '--to-end' "
              "takes all that the topic holds)",
              group);
  return FALSE;
}

static gboolean
read_topics(gpointer topics, const GArray *parts, const GArray *spans, TideTopicFunc func, gpointer func_data,
            GError **error)
{
  return tide_topic_reader_read(topics, parts, spans, func, func_data, error);
}

static gboolean
refresh_topics(gpointer topics, GArray *parts, GError **error)
{
  return tide_topic_reader_refresh(topics, parts, error);
}

static gboolean
check_parts(const Verify *verify, GError **error)
{
  if (verify->parts->len <= TIDE_VERIFY_MAX_PARTITIONS)
    return TRUE;
  g_set_error(error, TIDE_ERROR, TIDE_ERROR_TOO_BIG, "%u %s are too many at a time%s", verify->parts->len,
              verify->options->files ? "files" : "partitions", verify->options->files ? "" : ": choose with '--topic'");
  return FALSE;
}

/* All that is in the files; their dead letters are where `load` keeps them. */
static gboolean
take_files(Verify *verify, GError **error)
{
  const VerifyOptions *options = verify->options;
  TideConfig *config = verify->config;
  if (verify->paths->len == 0 || options->from != NULL || options->to != NULL || options->group != NULL ||
      options->to_end || options->topics->len > 0) {
    g_set_error_literal(
        error, TIDE_ERROR, TIDE_ERROR_USAGE,
        verify->paths->len == 0
            ? "'--files' needs the files"
            : "'--from', '--to', '--group', '--to-end' and '--topic' are said of topics, not of '--files'");
    return FALSE;
  }
  verify->files =
      (TideVerifyFiles){.source = tide_command_choose_source(config, options->source, error), .stop = verify->stop};
  if (verify->files.source == NULL || !tide_verify_files_check(verify->paths, error))
    return FALSE;
  g_autofree char *directory = tide_state_directory_of_user(options->state_directory);
  g_clear_pointer(&config->dead_letters.topic, g_free);
  g_free(config->dead_letters.file);
  config->dead_letters.file = g_build_filename(directory != NULL ? directory : ".", TIDE_LOAD_DEAD_LETTERS, NULL);
  verify->input = tide_verify_files_input(&verify->files);
  verify->parts = tide_verify_files_parts(verify->paths);
  return check_parts(verify, error);
}

static gboolean
find_window(Verify *verify, GError **error)
{
  const VerifyOptions *options = verify->options;
  const char *const *topics = (const char *const *)verify->config->kafka.topics;
  if (options->topics->len > 0) {
    g_ptr_array_add(options->topics, NULL);
    topics = (const char *const *)options->topics->pdata;
  }
  TideTopicReaderOptions reading = {.stop = verify->stop};
  verify->topics = tide_topic_reader_new(&verify->config->kafka, &reading, error);
  if (verify->topics == NULL)
    return FALSE;
  verify->parts = tide_topic_reader_find(verify->topics, topics, error);
  if (verify->parts == NULL)
    return FALSE;
  verify->input = (TideVerifyInput){.read = read_topics, .refresh = refresh_topics, .data = verify->topics};
  return check_parts(verify, error) &&
         tide_topic_reader_limit_to_times(verify->topics, verify->from_ms, verify->to_ms, verify->parts, error) &&
         limit_to_group(verify, error);
}

/* What stands against the claim that a cell without message came from nowhere. */
static void
look_whether_whole(Verify *verify)
{
  if (verify->options->allow_unexpected)
    verify->not_whole = g_strdup("'--allow-unexpected' was given");
  else if (verify->options->files)
    verify->not_whole = g_strdup("they may be of other files, or of topics");
  else if (verify->options->topics->len > 0)
    verify->not_whole = g_strdup("with '--topic', other topics may have written them");
  for (guint i = 0; verify->not_whole == NULL && i < verify->parts->len; i++) {
    const TideTopicPart *part = &g_array_index(verify->parts, TideTopicPart, i);
    if (part->first > 0)
      verify->not_whole = g_strdup_printf("topic '%s' partition %d begins at offset %" G_GINT64_FORMAT
                                          ", and what was before may have made them",
                                          part->topic, part->partition, part->first);
  }
}

/* ---- command -------------------------------------------------------------------------------------------------------
 */

/* Returns: whether there are neither differences nor gaps. */
static gboolean
print_report(Verify *verify, const TideVerifyResult *result, gint64 elapsed_us)
{
  if (verify->not_whole == NULL && result->has_gaps)
    verify->not_whole = g_strdup("some offsets hold no message: the topic is compacted, or written in transactions");
  TideVerifyReport report = {
      .tables = verify->tables,
      .counts = &result->counts,
      .parts = verify->parts,
      .are_files = verify->options->files,
      .gaps = verify->gaps,
      .samples = tide_verify_samples_all(result->samples),
      .group = group_of(verify),
      .allow_overwritten = verify->options->allow_overwritten,
      .not_whole = verify->not_whole,
      .n_passes = result->n_passes,
      .elapsed_us = elapsed_us,
  };
  if (verify->options->format == VERIFY_JSON)
    tide_verify_report_print_json(&report, stdout);
  else
    tide_verify_report_print_text(&report, stdout);
  return tide_verify_report_differences(&report) == 0 && verify->gaps->len == 0;
}

static gboolean
prepare(Verify *verify, GError **error)
{
  if (!parse_times(verify, error) || !(verify->options->files ? take_files : find_window)(verify, error))
    return FALSE;
  look_whether_whole(verify);
  verify->dead_letters = tide_verify_dead_letters_read(
      verify->config, verify->options->dead_letters_file, verify->parts,
      (guint)MIN(verify->options->memory_mib * DEAD_LETTERS_PER_MIB, G_MAXUINT32 / 64), error);
  if (verify->dead_letters == NULL)
    return FALSE;
  verify->session = tide_gateway_session_open(verify->config, TIDE_GATEWAY_ANY, error);
  if (verify->session == NULL)
    return FALSE;
  verify->tables = tide_verify_tables_new(verify->config, verify->session, verify->options->tables, error);
  return verify->tables != NULL;
}

/* Where a new group begins is known only when it is told by a time. */
static void
warn_of_start(const Verify *verify)
{
  if (!verify->options->files && verify->config->kafka.start == TIDE_START_LATEST && verify->options->from == NULL)
    tide_say("tidemark verify: the group began at the topic's end ('kafka.start: latest'): what came before was "
             "never written, and is missing unless '--from' leaves it out");
}

static gboolean
verify_tables(TideCommandCall *call, GError **error)
{
  const VerifyOptions *options = call->options;
  if (!options->files && call->arguments->len > 0) {
    g_set_error_literal(error, TIDE_ERROR, TIDE_ERROR_USAGE, "files are named with '--files'");
    return FALSE;
  }
  if (!tide_command_load_config(call))
    return FALSE;
  g_auto(Verify) verify = {.config = call->config,
                           .options = options,
                           .gaps = g_array_new(FALSE, FALSE, sizeof(TideVerifyGap)),
                           .paths = call->arguments,
                           .stop = tide_stop_signal_install()};
  gint64 start_us = tide_now_us();
  if (!prepare(&verify, error))
    return FALSE;
  warn_of_start(&verify);
  TideVerifyContext context = {.config = call->config,
                               .input = &verify.input,
                               .parts = verify.parts,
                               .tables = verify.tables,
                               .dead_letters = verify.dead_letters,
                               .stop = verify.stop};
  TideVerifyOptions work = {.memory_bytes = (gsize)options->memory_mib << 20,
                            .rate_rows_per_s = options->rate_rows_per_s,
                            .max_samples = (guint)options->samples,
                            .is_whole = verify.not_whole == NULL};
  g_auto(TideVerifyResult) result = {0};
  if (!tide_verify_run(&context, &work, &result, error))
    return FALSE;
  if (!print_report(&verify, &result, tide_now_us() - start_us))
    call->exit_code = TIDE_EXIT_FINDINGS;
  return TRUE;
}

static const TideOption verify_options[] = {
    TIDE_CONFIG_OPTION,
    {"from", "TIME", TIDE_TEXT(VerifyOptions, from),
     "messages from this time on, by the records' own time (the first that there is, or kafka.start)"},
    {"to", "TIME", TIDE_TEXT(VerifyOptions, to), "messages before this time (the last that is committed)"},
    {"topic", "NAME", TIDE_LIST(VerifyOptions, topics), "only this topic; again for more (those that are configured)"},
    {"files", NULL, TIDE_FLAG(VerifyOptions, files),
     "with the files that are named, as 'tidemark load' reads them, instead"},
    {"source", "NAME", TIDE_TEXT(VerifyOptions, source), "with --files: which of the sources they are of (the only)"},
    {"state-directory", "DIRECTORY", TIDE_TEXT(VerifyOptions, state_directory),
     "with --files: where 'tidemark load' has its dead letters ($STATE_DIRECTORY, else ~/.local/state/tidemark)"},
    {"table", "NAME", TIDE_LIST(VerifyOptions, tables), "only this table; again for more (all that are declared)"},
    {"group", "NAME", TIDE_TEXT(VerifyOptions, group),
     "up to what this group has committed (the one that is configured)"},
    {"to-end", NULL, TIDE_FLAG(VerifyOptions, to_end), "up to the topic's end, whatever is committed"},
    {"allow-unexpected", NULL, TIDE_FLAG(VerifyOptions, allow_unexpected),
     "cells that no message explains are no difference: others write to the tables too"},
    {"allow-overwritten", NULL, TIDE_FLAG(VerifyOptions, allow_overwritten),
     "readings that share a cell with another are no difference: they are meant to"},
    {"letters", "FILE", TIDE_TEXT(VerifyOptions, dead_letters_file),
     "dead letters of this file and those rotated from it (of the configured topic or file)"},
    {"format", "FORMAT", TIDE_CHOICE(VerifyOptions, format), "text, or json, one object a line (text)", .letter = 'f',
     .choices = verify_formats},
    {"sample", "N", TIDE_COUNT(VerifyOptions, samples), "how many differences of each kind are shown (5)",
     .max = MAX_SAMPLES},
    {"memory", "SIZE", TIDE_MEBIBYTES(VerifyOptions, memory_mib),
     "for the cells that are compared; what does not fit costs another pass (256MiB)", .min = 1, .max = MAX_MEMORY_MIB},
    {"rate", "N", TIDE_COUNT(VerifyOptions, rate_rows_per_s),
     "read at most N rows a second, so that other work has room (unlimited)", .min = 1},
};

const TideCommand tide_command_verify = {
    .name = "verify",
    .summary = "Compares the tables with the messages that they were made from. Writes nothing.",
    .details =
        "Up to the offsets that the group has committed, so it may be run while the daemon does. Exit code 1 "
        "when anything\nis missing, wrong, stale, unexpected or overwritten, or a partition is halted or has messages "
        "that were never written.\n"
        "\n"
        "Examples:\n"
        "  tidemark verify\n"
        "  tidemark verify --from -1h --table CURRENT_METRIC\n"
        "  tidemark verify --format json --sample 100\n"
        "  tidemark verify --files archive/2025-*.jsonl.gz",
    .arguments = "[FILE…]",
    .max_arguments = G_MAXUINT,
    .options = verify_options,
    .n_options = G_N_ELEMENTS(verify_options),
    .options_size = sizeof(VerifyOptions),
    .defaults = &(const VerifyOptions){.samples = DEFAULT_SAMPLES, .memory_mib = DEFAULT_MEMORY_MIB},
    .run = verify_tables,
};
