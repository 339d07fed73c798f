/* `tidemark verify`: compares the tables with the topics. Reads both; joins no group, commits nothing, writes nothing.
 *
 * The window is what the topics still hold, limited by --from and --to to a span of record times, and by the group's
 * committed offsets, so that it works while the daemon runs: committed messages were acknowledged before.
 *
 * Expected cells are what the daemon's own mapping makes of each message in the window (messages.c); found cells are
 * what a scan shows: of a table of readings those from the window's oldest cell time on; of a latest table all. judge.c
 * compares them. Nothing is expected of rejected messages (they are counted, by reason) or of dead letters, some of
 * whose rows may exist; nor of cells older than their table's retention, because a missing cell cannot be distinguished
 * from an expired one. If some found cells are unexplained, the messages around the window are read too, including
 * those that arrived meanwhile. If the topics no longer hold everything they ever did (their first offset is not 0, an
 * offset has no message, or not all topics were read), such cells are unexplained and not differences.
 *
 * Limits: manually deleted rows (`latest --forget`) are missing; rows of other writers are unexpected; cells that a
 * compaction makes visible again after deletes (`purge_deletes_after`) are unexpected.
 *
 * Memory: the cells are compared as hashes, in passes (verify/cells.h). */
#include "commands/cli/commands.h"
#include "commands/cli/load_config.h"
#include "commands/cli/output.h"
#include "commands/cli/stop_signal.h"
#include "commands/cli/time_argument.h"
#include "commands/verify/verification.h"
#include "files/file_load.h"
#include "kafka/commit_note.h"
#include "util/clock.h"
#include "util/state_directory.h"

#define DEFAULT_MEMORY_MIB 256
#define MAX_MEMORY_MIB (1024 * 1024)
#define DEFAULT_SAMPLES 5
#define MAX_SAMPLES 1000

/* Dead letters may use a sixteenth of the memory for cells, in addition to it. */
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

/* ---- the window ----------------------------------------------------------------------------------------------------
 */

static void
add_gap(TideVerification *verify, TideVerifyGap gap)
{
  if (gap.from < gap.to)
    g_array_append_val(verify->gaps, gap);
}

/* Finds the offsets that the group has skipped or not reached, from its committed offsets. A log's start that moves
 * while the tables are compared is not counted: the group may have read on meanwhile. @ends: of the window in each
 * part, before it was limited to the group */
static void
find_gaps(TideVerification *verify, const gint64 *ends)
{
  for (guint i = 0; i < verify->input.parts->len; i++) {
    const TideTopicPart *part = &g_array_index(verify->input.parts, TideTopicPart, i);
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
limit_to_group(TideVerification *verify, GError **error)
{
  guint n_committed = 0;
  const char *group = verify->group;
  g_autofree gint64 *ends = g_new0(gint64, MAX(verify->input.parts->len, 1));
  for (guint i = 0; i < verify->input.parts->len; i++)
    ends[i] = g_array_index(verify->input.parts, TideTopicPart, i).end;
  if (!tide_topic_reader_limit_to_group(verify->input.topics, group, verify->input.parts, &n_committed, error))
    return FALSE;
  find_gaps(verify, ends);
  if (n_committed > 0)
    return TRUE;
  return tide_fail(error, TIDE_ERROR_DATA,
                   "nothing to verify: group '%s' has committed no offset; name another group with '--group', or "
                   "verify to the end of the topics with '--to-end'",
                   group);
}

static gboolean
check_parts(const TideVerification *verify, GError **error)
{
  guint n_parts = verify->input.parts->len;
  gboolean are_files = verify->input.topics == NULL;
  return n_parts <= TIDE_VERIFY_MAX_PARTITIONS ||
         tide_fail(error, TIDE_ERROR_TOO_BIG, "%u %s are too many at once%s", n_parts,
                   are_files ? "files" : "partitions", are_files ? "" : ": choose with '--topic'");
}

/* The window is everything in the files; their dead letters are those of `load`. */
static gboolean
take_files(TideVerification *verify, TideConfig *config, const VerifyOptions *options, const GPtrArray *paths,
           GError **error)
{
  if (paths->len == 0 || options->from != NULL || options->to != NULL || options->group != NULL || options->to_end ||
      options->topics->len > 0) {
    g_set_error_literal(
        error, TIDE_ERROR, TIDE_ERROR_USAGE,
        paths->len == 0 ? "'--files' needs file names"
                        : "'--from', '--to', '--group', '--to-end' and '--topic' apply to topics, not to '--files'");
    return FALSE;
  }
  verify->input.source = tide_command_choose_source(config, options->source, error);
  if (verify->input.source == NULL)
    return FALSE;
  verify->input.parts = tide_topic_parts_new();
  for (guint i = 0; i < paths->len; i++) {
    const char *path = g_ptr_array_index(paths, i);
    gboolean is_lasting = g_file_test(path, G_FILE_TEST_IS_REGULAR) || g_file_test(path, G_FILE_TEST_IS_DIR) ||
                          !g_file_test(path, G_FILE_TEST_EXISTS);
    /* There may be several passes, and each reads the files again. A missing file is reported when it is read. */
    if (strcmp(path, "-") == 0 || !is_lasting)
      return tide_fail(error, TIDE_ERROR_USAGE,
                       "'%s' cannot be read twice, but '--memory' may require several passes: save its output to a "
                       "file, and verify that",
                       path);
    TideTopicPart part = {.topic = g_canonicalize_filename(path, NULL),
                          .first = 1,
                          .last = TIDE_TOPIC_END,
                          .begin = 1,
                          .end = TIDE_TOPIC_END};
    g_array_append_val(verify->input.parts, part);
  }
  g_autofree char *directory = tide_state_directory_of_user(options->state_directory);
  g_clear_pointer(&config->dead_letters.topic, g_free);
  g_free(config->dead_letters.file);
  config->dead_letters.file = g_build_filename(directory != NULL ? directory : ".", TIDE_LOAD_DEAD_LETTERS, NULL);
  return check_parts(verify, error);
}

static gboolean
find_window(TideVerification *verify, const VerifyOptions *options, GError **error)
{
  const TideKafkaConfig *kafka = &verify->config->kafka;
  const char *const *topics = (const char *const *)kafka->topics;
  gint64 from_ms = kafka->start == TIDE_START_TIME ? kafka->start_epoch_ms : 0; /* where the group began */
  gint64 to_ms = G_MAXINT64, now_ms = tide_wall_clock_epoch_ms();
  if (!tide_time_option_parse_ms("from", options->from, now_ms, &from_ms, error) ||
      !tide_time_option_parse_ms("to", options->to, now_ms, &to_ms, error))
    return FALSE;
  if (from_ms >= to_ms)
    return tide_fail(error, TIDE_ERROR_USAGE, "'--from' must be before '--to'");
  if (options->topics->len > 0) {
    g_ptr_array_add(options->topics, NULL);
    topics = (const char *const *)options->topics->pdata;
  }
  TideTopicReaderOptions reading = {.stop = verify->input.stop};
  verify->input.topics = tide_topic_reader_new(kafka, &reading, error);
  if (verify->input.topics == NULL)
    return FALSE;
  verify->input.parts = tide_topic_reader_find(verify->input.topics, topics, error);
  if (!options->to_end)
    verify->group = options->group != NULL ? options->group : kafka->group;
  return verify->input.parts != NULL && check_parts(verify, error) &&
         tide_topic_reader_limit_to_times(verify->input.topics, from_ms, to_ms, verify->input.parts, error) &&
         (verify->group == NULL || limit_to_group(verify, error));
}

/* Determines why a cell without a message may not be unexpected. */
static void
check_completeness(TideVerification *verify, const VerifyOptions *options)
{
  if (options->allow_unexpected)
    verify->not_whole = g_strdup("'--allow-unexpected' was given");
  else if (options->files)
    verify->not_whole = g_strdup("they may come from other files, or from topics");
  else if (options->topics->len > 0)
    verify->not_whole = g_strdup("with '--topic', other topics may have written them");
  for (guint i = 0; verify->not_whole == NULL && i < verify->input.parts->len; i++) {
    const TideTopicPart *part = &g_array_index(verify->input.parts, TideTopicPart, i);
    if (part->first > 0)
      verify->not_whole = g_strdup_printf("topic '%s' partition %d begins at offset %" G_GINT64_FORMAT
                                          ", and earlier messages may have made them",
                                          part->topic, part->partition, part->first);
  }
}

/* ---- command -------------------------------------------------------------------------------------------------------
 */

/* @ret_is_right: TRUE if there are neither differences nor gaps. */
static gboolean
verify_window(TideVerification *verify, TideConfig *config, const VerifyOptions *options, const GPtrArray *paths,
              gboolean *ret_is_right, GError **error)
{
  gint64 start_us = tide_now_us();
  guint64 max_dead_letters = MIN(options->memory_mib * DEAD_LETTERS_PER_MIB, G_MAXUINT32 / 64);
  if (!(options->files ? take_files(verify, config, options, paths, error) : find_window(verify, options, error)))
    return FALSE;
  check_completeness(verify, options);
  if (!tide_verify_dead_letters_read(verify, options->dead_letters_file, (guint)max_dead_letters, error))
    return FALSE;
  g_autoptr(TideGatewaySession) session = tide_gateway_session_open(config, TIDE_GATEWAY_ANY, error);
  if (session != NULL)
    verify->tables = tide_verify_tables_new(config, session, options->tables, error);
  if (verify->tables == NULL)
    return FALSE;
  /* A new group's start is known only if it is a time. */
  if (!options->files && config->kafka.start == TIDE_START_LATEST && options->from == NULL)
    tide_say("tidemark verify: the group began at the topic's end ('kafka.start: latest'): earlier messages were never "
             "written, and their cells are missing unless '--from' excludes them");
  if (!tide_verify_run(verify, error))
    return FALSE;
  verify->elapsed_us = tide_now_us() - start_us;
  if (verify->not_whole == NULL && verify->has_gaps)
    verify->not_whole = g_strdup("some offsets have no message: the topic is compacted, or written in transactions");
  if (options->format == VERIFY_JSON)
    tide_verify_report_print_json(verify, stdout);
  else
    tide_verify_report_print_text(verify, stdout);
  *ret_is_right = tide_verify_report_differences(verify) == 0 && verify->gaps->len == 0;
  return TRUE;
}

static gboolean
verify_tables(TideCommandCall *call, GError **error)
{
  const VerifyOptions *options = call->options;
  if (!options->files && call->arguments->len > 0)
    return tide_fail(error, TIDE_ERROR_USAGE, "file names need '--files'");
  if (!tide_command_load_config(call))
    return FALSE;
  TideVerification verify = {.config = call->config,
                             .input = {.stop = tide_stop_signal_install()},
                             .gaps = g_array_new(FALSE, FALSE, sizeof(TideVerifyGap)),
                             .allow_overwritten = options->allow_overwritten,
                             .memory_bytes = (gsize)options->memory_mib << 20,
                             .rate_rows_per_s = options->rate_rows_per_s,
                             .max_samples = (guint)options->samples};
  gboolean is_right = FALSE;
  gboolean ok = verify_window(&verify, call->config, options, call->arguments, &is_right, error);
  if (ok && !is_right)
    call->exit_code = TIDE_EXIT_FINDINGS;
  tide_topic_reader_free(verify.input.topics);
  g_clear_pointer(&verify.input.parts, g_array_unref);
  g_clear_pointer(&verify.gaps, g_array_unref);
  tide_verify_tables_free(verify.tables);
  g_clear_pointer(&verify.dead_letters, g_array_unref);
  tide_verify_cells_free(verify.cells);
  tide_mapping_free(verify.mapping);
  g_clear_pointer(&verify.samples, g_array_unref);
  g_free(verify.not_whole);
  return ok;
}

static const TideOption verify_options[] = {
    TIDE_CONFIG_OPTION,
    {"from", "TIME", TIDE_TEXT(VerifyOptions, from),
     "earliest record time of messages, inclusive (the first message, or kafka.start)"},
    {"to", "TIME", TIDE_TEXT(VerifyOptions, to),
     "latest record time of messages, exclusive (the last committed message)"},
    {"topic", "NAME", TIDE_LIST(VerifyOptions, topics), "only this topic; repeatable (the configured ones)"},
    {"files", NULL, TIDE_FLAG(VerifyOptions, files),
     "compare with the given files, as 'tidemark load' reads them, instead of topics"},
    {"source", "NAME", TIDE_TEXT(VerifyOptions, source),
     "with --files: source that the files belong to (the only one)"},
    {"state-directory", "DIRECTORY", TIDE_TEXT(VerifyOptions, state_directory),
     "with --files: directory with the dead letters of 'tidemark load' ($STATE_DIRECTORY, else "
     "~/.local/state/tidemark)"},
    {"table", "NAME", TIDE_LIST(VerifyOptions, tables), "only this table; repeatable (all declared ones)"},
    {"group", "NAME", TIDE_TEXT(VerifyOptions, group),
     "compare up to the committed offsets of this group (the configured one)"},
    {"to-end", NULL, TIDE_FLAG(VerifyOptions, to_end),
     "compare up to the end of the topic, regardless of committed offsets"},
    {"allow-unexpected", NULL, TIDE_FLAG(VerifyOptions, allow_unexpected),
     "accept cells that no message explains, because other programs also write to the tables"},
    {"allow-overwritten", NULL, TIDE_FLAG(VerifyOptions, allow_overwritten),
     "accept readings that overwrite each other, because that is intended"},
    {"letters", "FILE", TIDE_TEXT(VerifyOptions, dead_letters_file),
     "read dead letters from this file and its rotated predecessors (the configured topic or file)"},
    {"format", "FORMAT", TIDE_CHOICE(VerifyOptions, format), "output format: text, or json, one object per line (text)",
     .letter = 'f', .choices = verify_formats},
    {"sample", "N", TIDE_COUNT(VerifyOptions, samples), "maximum number of differences of each kind to show (5)",
     .max = MAX_SAMPLES},
    {"memory", "SIZE", TIDE_MEBIBYTES(VerifyOptions, memory_mib),
     "memory for the compared cells; the rest needs another pass (256MiB)", .min = 1, .max = MAX_MEMORY_MIB},
    {"rate", "N", TIDE_COUNT(VerifyOptions, rate_rows_per_s),
     "maximum number of rows to read per second, to leave capacity for other work (no limit)", .min = 1},
};

const TideCommand tide_command_verify = {
    .name = "verify",
    .summary = "Compares the tables with the messages they were made from. Writes nothing.",
    .exits = {{TIDE_EXIT_OK, "everything is correct"},
              {TIDE_EXIT_FINDINGS, "a cell is missing, wrong, stale, unexpected or overwritten, or a partition is "
                                   "halted or has messages that were never written"},
              {TIDE_EXIT_DATA,
               "nothing is committed, a file cannot be read to its end, or a row does not fit into memory"},
              {TIDE_EXIT_UNAVAILABLE},
              {TIDE_EXIT_TEMPFAIL},
              {TIDE_EXIT_CONFIG}},
    .details =
        "The comparison ends at the committed offsets of the group, so that you can run it while the daemon runs.\n"
        "\n"
        "Examples:\n"
        "  tidemark verify\n"
        "  tidemark verify --from -1h --table CURRENT_METRIC\n"
        "  tidemark verify --format json --sample 100\n"
        "  tidemark verify --files archive/2025-*.jsonl.gz",
    .arguments = "[FILE…]",
    .max_arguments = G_MAXUINT,
    TIDE_COMMAND_OPTIONS(verify_options, VerifyOptions),
    .defaults = &(const VerifyOptions){.samples = DEFAULT_SAMPLES, .memory_mib = DEFAULT_MEMORY_MIB},
    .run = verify_tables,
};
