/* `tidemark load`: loads readings from files through the daemon's own pipeline. */
#include "commands/cli/commands.h"
#include "commands/cli/load_config.h"
#include "commands/cli/output.h"
#include "commands/cli/progress.h"
#include "commands/cli/stop_signal.h"
#include "commands/cli/time_argument.h"
#include "commands/load/load_report.h"
#include "config/config_source.h"
#include "files/file_input.h"
#include "service/pipeline.h"
#include "tables/fingerprint_store.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/log.h"
#include "util/state_directory.h"
#include "util/units.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

/* Interval of checks on the pipeline. */
#define LOOK_US (TIDE_US_PER_S / 20)

/* Maximum work that a kill repeats. */
#define COMMIT_INTERVAL_MS 1000

typedef struct LoadOptions {
  const char *from;
  const char *to;
  const char *source;
  const char *state_directory;
  const char *dead_letters;
  const char *scanned;
  int format; /* index in row_formats */
  gboolean keep_keys;
  guint64 rate_per_s;
  gboolean yields;
  gboolean dry_run;
  gboolean again;
} LoadOptions;

typedef struct Load {
  TideConfig *config; /* borrowed */
  const LoadOptions *options;
  const TideConfigSource *source; /* the only remaining source of the configuration */
  TideFileLoad *files;            /* owned */
  TideMetrics *metrics;           /* owned */
  TidePipeline *pipeline;         /* owned */
  TideProgress progress;
  const volatile int *stop;
  gint64 watched_us;
  TideLoadWait wait;
  gint64 quiet_us; /* since when everything is read and no row is in flight; 0: not yet */
  gboolean quiet_is_told;
} Load;

/* ---- arguments ---- */

static gboolean
fail_usage(GError **error, const char *text)
{
  return tide_fail(error, TIDE_ERROR_USAGE, "%s", text);
}

/* In the order of the choices of --format. */
static const char *const row_formats[] = {"json", "csv", NULL};
#define ROWS_AS_CSV 1

/* The source of the files' readings; for printed rows, a source of their table. */
static TideConfigSource *
find_source(Load *load, GError **error)
{
  const LoadOptions *options = load->options;
  TideLoadScanned scanned = {
      .table = options->scanned, .as_csv = options->format == ROWS_AS_CSV, .keeps_keys = options->keep_keys};
  if (scanned.table == NULL) {
    if (!options->keep_keys && options->format != ROWS_AS_CSV)
      return tide_command_choose_source(load->config, options->source, error);
    fail_usage(
        error,
        "'--keep-keys' and '--format' are for rows printed by 'tidemark scan': name their table with '--scanned'");
    return NULL;
  }
  TideTable *table = tide_load_scanned_table(load->config, &scanned, error);
  if (table == NULL)
    return NULL;
  const char *name = options->source != NULL ? options->source : tide_config_first_source(load->config, table)->name;
  TideConfigSource *source = tide_command_choose_source(load->config, name, error);
  if (source == NULL || !tide_load_scanned_adapt(load->config, source, table, &scanned, error))
    return NULL;
  return source;
}

static gboolean
choose_source(Load *load, GError **error)
{
  TideConfigSource *source = find_source(load, error);
  if (source == NULL)
    return FALSE;
  load->source = source;
  gint64 now_ns = tide_wall_clock_epoch_ms() * TIDE_NS_PER_MS;
  source->to_ns = load->options->from != NULL || load->options->to != NULL ? G_MAXINT64 : 0;
  source->from_ns = G_MININT64;
  if (!tide_time_option_parse("from", load->options->from, now_ns, &source->from_ns, error) ||
      !tide_time_option_parse("to", load->options->to, now_ns, &source->to_ns, error))
    return FALSE;
  return source->to_ns == 0 || source->from_ns < source->to_ns || fail_usage(error, "'--from' must be before '--to'");
}

/* Records of a file have no times of their own, and the time of the load is not an event time. */
static gboolean
check_times(const Load *load, GError **error)
{
  const GPtrArray *tables = load->config->tables;
  for (guint i = 0; i < tables->len; i++) {
    const TideTable *table = g_ptr_array_index(tables, i);
    if (!tide_config_takes_from(table, load->source))
      continue;
    if (tide_config_time_of(table, load->source)->format != TIDE_TIME_RECORD &&
        table->cell_time != TIDE_CELL_TIME_RECORD)
      continue;
    return tide_fail(error, TIDE_ERROR_USAGE,
                     "table '%s' uses the Kafka record time ('format: record'), which files do not have: use a "
                     "configuration for the load that names the field with the time",
                     table->name);
  }
  return TRUE;
}

/* The facts that a mark depends on: the tables, their keys, and the selected readings. (transfer full) */
static char *
job_text(const Load *load)
{
  GString *text = g_string_new(NULL);
  g_string_append_printf(text, "%s %" G_GINT64_FORMAT " %" G_GINT64_FORMAT "\n",
                         load->source->name != NULL ? load->source->name : "", load->source->from_ns,
                         load->source->to_ns);
  if (load->options->scanned != NULL)
    g_string_append_printf(text, "rows as %s%s\n", row_formats[load->options->format],
                           load->options->keep_keys ? " with their keys" : "");
  for (guint i = 0; i < load->config->tables->len; i++) {
    const TideTable *table = g_ptr_array_index(load->config->tables, i);
    if (!tide_config_takes_from(table, load->source))
      continue;
    g_autofree char *key = tide_fingerprint_text(table, load->config->names);
    g_string_append_printf(text, "%s %s\n", table->name, key);
  }
  return g_string_free(text, FALSE);
}

static gboolean
add_files(Load *load, const GPtrArray *paths, const char *marks_directory, GError **error)
{
  g_autofree char *job = job_text(load);
  /* Files loaded through one of several gateways count as loaded through all; other gateways may belong to another
   * HBase. */
  const GPtrArray *endpoints = load->config->hbase.gateways;
  g_auto(GStrv) gateways = g_new0(char *, endpoints->len + 1);
  for (guint i = 0; i < endpoints->len; i++)
    gateways[i] = g_strdup(((const TideEndpoint *)g_ptr_array_index(endpoints, i))->text);
  TideFileLoadOptions options = {.source = load->source,
                                 .marks_directory = marks_directory,
                                 .job = job,
                                 .destination = gateways,
                                 .again = load->options->again,
                                 .is_dry = load->options->dry_run,
                                 .rate_per_s = load->options->rate_per_s};
  load->files = tide_file_load_new(&options);
  for (guint i = 0; i < paths->len; i++)
    if (!tide_file_load_add(load->files, g_ptr_array_index(paths, i), error))
      return FALSE;
  return TRUE;
}

/* Dead letters of a load have their own file: a running daemon locks its own. */
static void
adapt_config(Load *load, const char *directory, guint n_files)
{
  TideConfig *config = load->config;
  g_clear_pointer(&config->dead_letters.topic, g_free);
  g_free(config->dead_letters.file);
  config->dead_letters.file = load->options->dead_letters != NULL
                                  ? g_canonicalize_filename(load->options->dead_letters, NULL)
                                  : g_build_filename(directory, TIDE_LOAD_DEAD_LETTERS, NULL);
  config->kafka.threads = MIN(config->kafka.threads, n_files);
}

/* A file to be loaded must not be written. */
static gboolean
check_dead_letters(const Load *load, GError **error)
{
  struct stat state;
  const char *place = load->config->dead_letters.file;
  const GPtrArray *files = tide_file_load_files(load->files);
  if (stat(place, &state) != 0)
    return TRUE;
  for (guint i = 0; i < files->len; i++) {
    const TideLoadedFile *file = g_ptr_array_index(files, i);
    if (file->device == state.st_dev && file->inode == state.st_ino)
      return tide_fail(
          error, TIDE_ERROR_USAGE,
          "dead letters would be written to '%s', which is also an input file: name another file with '--dead-letters'",
          file->path);
  }
  return TRUE;
}

/* ---- the pipeline ---- */

static TideInput *
open_input(guint32 index, const TideInputHandlers *handlers, gpointer data, GError **error)
{
  const Load *load = data;
  const TideConfig *config = load->config;
  TideFileInputOptions options = {.load = load->files,
                                  .commit_interval_ms = MIN(config->kafka.commit_interval_ms, COMMIT_INTERVAL_MS),
                                  .window_bytes =
                                      tide_budget_prefetch_bytes(config->limits.memory_bytes) / config->kafka.threads};
  return tide_file_input_new(&options, handlers);
}

static gboolean
find_original(TideBytes path, gint64 offset, TideBuffer *out, gpointer data)
{
  return tide_file_load_copy(((const Load *)data)->files, path, offset, out);
}

static void
show_progress(Load *load, gint64 now_us)
{
  if (!load->progress.enabled)
    return;
  TideFileLoadProgress at = tide_file_load_progress(load->files);
  TideLoadCounts counts = tide_load_report_counts(load->metrics);
  tide_load_report_progress(&load->progress, &at, &counts);
  tide_load_report_waiting(&load->progress, tide_pipeline_waiting_share(load->pipeline).recent);
  tide_progress_update(&load->progress, counts.n_done, now_us);
}

/* Explains why the load has not ended: a value whose call may have been sent by an earlier run, or twice, is written
 * again once no such call can take effect any more. */
static void
report_settling(Load *load, gint64 now_us)
{
  gboolean is_quiet = tide_file_load_is_read(load->files) &&
                      tide_metrics_sum(load->metrics, "tidemark_table_waiting_rows", NULL) == 0 &&
                      tide_metrics_sum(load->metrics, "tidemark_table_in_flight_rows", NULL) == 0;
  if (!is_quiet)
    load->quiet_us = 0;
  else if (load->quiet_us == 0)
    load->quiet_us = now_us;
  if (load->quiet_is_told || !is_quiet || now_us - load->quiet_us < TIDE_LOAD_PATIENCE_US)
    return;
  load->quiet_is_told = TRUE;
  g_autofree char *settle = tide_age_text(load->config->hbase.settle_ms);
  tide_say("tidemark load: everything is written; waiting up to %s (hbase.uncertain_timeout) to write some "
           "values again, while calls of an earlier run, or interrupted ones, could still change them; it can be "
           "stopped: the same command does this later",
           settle);
}

/* TRUE if it continues; FALSE with an error if it cannot. */
static gboolean
check_pipeline(Load *load, gint64 now_us, GError **error)
{
  TidePipelineState state = tide_pipeline_state(load->pipeline);
  gboolean goes_on = *load->stop == 0;
  if (now_us - load->watched_us >= TIDE_US_PER_S) {
    load->watched_us = now_us;
    tide_pipeline_watch(load->pipeline, now_us);
    report_settling(load, now_us);
  }
  if (state.stage == TIDE_STAGE_RUNNING)
    show_progress(load, now_us);
  if (state.stage == TIDE_STAGE_FAILED) {
    const GError *failure = tide_pipeline_failure(load->pipeline);
    if (g_error_matches(failure, TIDE_ERROR, TIDE_ERROR_IN_USE))
      g_set_error(error, TIDE_ERROR, TIDE_ERROR_IN_USE,
                  "another load uses the dead letter file '%s': wait for its end, or, for other files, name another "
                  "one with '--dead-letters'",
                  load->config->dead_letters.file);
    else
      g_propagate_error(error, g_error_copy(failure));
    goes_on = FALSE;
  } else if (tide_pipeline_has_too_many_dead_letters(load->pipeline))
    goes_on = tide_fail(error, TIDE_ERROR_DATA, "%s", state.reason != NULL ? state.reason : "too many dead letters");
  else if (state.stage == TIDE_STAGE_RUNNING && state.fatal_exit != 0)
    goes_on = tide_fail(error, state.fatal_exit == TIDE_EXIT_DATA ? TIDE_ERROR_DATA : TIDE_ERROR_UNAVAILABLE, "%s",
                        state.reason != NULL ? state.reason : state.status);
  else if (state.finished && state.any_halted) /* as the log has reported */
    goes_on = tide_fail(
        error, TIDE_ERROR_DATA,
        "a file is halted at a message, as reported above; once that is solved, the same command continues there");
  else if (state.stage != TIDE_STAGE_RUNNING)
    tide_load_wait_look(&load->wait, &state, now_us);
  else
    goes_on &= !state.finished;
  tide_pipeline_state_clear(&state);
  return goes_on;
}

/* Reported at once, because the stop may take long. */
static void
report_stop(Load *load)
{
  tide_progress_end(&load->progress);
  TideLoadCounts counts = tide_load_report_counts(load->metrics);
  guint64 n_waiting = counts.n_received - MIN(counts.n_done, counts.n_received);
  g_autofree char *messages = tide_count_of(n_waiting, "message that was read is", "messages that were read are");
  g_autofree char *limit = tide_age_text(load->config->limits.drain_timeout_ms);
  if (n_waiting > 0)
    tide_say("tidemark load: stopping: %s still being written, for up to %s (limits.drain_timeout); a second Ctrl-C "
             "exits at once",
             messages, limit);
  else
    tide_say("tidemark load: stopping; a second Ctrl-C exits at once");
}

/* FALSE if it could not continue. */
static gboolean
run_pipeline(Load *load, int *ret_stop_code, GError **error)
{
  TidePipelineOptions options = {.config = load->config,
                                 .metrics = load->metrics,
                                 .until_end = TRUE,
                                 .yields = load->options->yields,
                                 .open_input = open_input,
                                 .find_original = find_original,
                                 .input_data = load};
  g_autoptr(GError) problem = NULL;
  load->pipeline = tide_pipeline_new(&options);
  load->wait.start_us = tide_now_us();
  tide_pipeline_start(load->pipeline);
  while (check_pipeline(load, tide_now_us(), &problem))
    g_usleep(LOOK_US);
  if (problem == NULL && *load->stop != 0)
    report_stop(load);
  tide_file_load_stop(load->files);
  /* After a failure, waiting would not write the rest. */
  gint64 drain_ms = problem == NULL ? load->config->limits.drain_timeout_ms : 0;
  *ret_stop_code = tide_pipeline_stop(load->pipeline, tide_now_us() + drain_ms * TIDE_US_PER_MS, NULL);
  tide_progress_end(&load->progress);
  if (*ret_stop_code == TIDE_PIPELINE_STUCK)
    _exit(TIDE_EXIT_TEMPFAIL);
  if (problem == NULL)
    return TRUE;
  g_propagate_error(error, g_steal_pointer(&problem));
  return FALSE;
}

static gboolean
was_begun(const Load *load)
{
  const GPtrArray *files = tide_file_load_files(load->files);
  gboolean is_any = FALSE;
  for (guint i = 0; i < files->len; i++)
    is_any |= ((const TideLoadedFile *)g_ptr_array_index(files, i))->mark.was_kept;
  return is_any;
}

static gboolean
load_into_tables(Load *load, TideCommandCall *call, GError **error)
{
  tide_log_init(load->config->service.log_format, TIDE_LOG_WARNING);
  load->metrics = tide_metrics_new();
  gint64 start_us = tide_now_us();
  tide_progress_begin(&load->progress, "messages", 0, start_us);
  int stop_code = TIDE_EXIT_OK;
  gboolean is_begun = was_begun(load);
  gboolean good = run_pipeline(load, &stop_code, error);
  g_autofree char *config_option = tide_config_option(call->config_path);
  TideLoadResult result = {.load = load->files,
                           .metrics = load->metrics,
                           .config = load->config,
                           .dead_letters = load->config->dead_letters.file,
                           .config_option = config_option,
                           .elapsed_us = tide_now_us() - start_us,
                           .waiting_share = tide_pipeline_waiting_share(load->pipeline).overall,
                           .again = load->options->again,
                           .was_begun = is_begun,
                           .was_stopped = good && *load->stop != 0,
                           .work_remains = good && stop_code != TIDE_EXIT_OK,
                           .failed = !good};
  call->exit_code = tide_load_report(&result);
  return good;
}

/* ---- command ---- */

static gboolean
run_load(Load *load, TideCommandCall *call, GError **error)
{
  if (!choose_source(load, error) || !check_times(load, error))
    return FALSE;
  const char *chosen = load->options->state_directory;
  g_autofree char *directory =
      load->options->dry_run ? tide_state_directory_place(chosen) : tide_state_directory_of_user(chosen);
  if (directory == NULL)
    return tide_fail(error, TIDE_ERROR_IO,
                     "cannot create a directory for marks and dead letters (%s): name one with '--state-directory'",
                     g_strerror(errno));
  if (!load->options->dry_run)
    adapt_config(load, directory, call->arguments->len);
  if (!add_files(load, call->arguments, directory, error))
    return FALSE;
  if (!load->options->dry_run && !check_dead_letters(load, error))
    return FALSE;
  load->stop = tide_stop_signal_install();
  if (!load->options->dry_run)
    return load_into_tables(load, call, error);
  call->exit_code = tide_load_dry_run(load->files, load->config, load->stop);
  return TRUE;
}

static gboolean
load_files(TideCommandCall *call, GError **error)
{
  if (call->arguments->len == 0)
    return fail_usage(error, "name the files to load, or '-' for standard input");
  if (!tide_command_load_config(call))
    return FALSE;
  Load load = {.config = call->config, .options = call->options};
  gboolean good = run_load(&load, call, error);
  tide_pipeline_free(load.pipeline);
  tide_file_load_free(load.files);
  tide_metrics_free(load.metrics);
  return good;
}

static const TideOption load_options[] = {
    TIDE_CONFIG_OPTION,
    {"source", "NAME", TIDE_TEXT(LoadOptions, source),
     "source of the configuration that the files belong to (the only one)"},
    {"from", "TIME", TIDE_TEXT(LoadOptions, from), "earliest event time, inclusive, as in 'tidemark scan' (no limit)"},
    {"to", "TIME", TIDE_TEXT(LoadOptions, to), "latest event time, exclusive (no limit)"},
    {"scanned", "TABLE", TIDE_TEXT(LoadOptions, scanned),
     "the files contain rows of this table, as printed by 'tidemark scan': load them into the table and its indexes"},
    {"format", "FORMAT", TIDE_CHOICE(LoadOptions, format), "format of such rows: json or csv (json)", .letter = 'f',
     .choices = row_formats},
    {"keep-keys", NULL, TIDE_FLAG(LoadOptions, keep_keys),
     "keep the printed keys of such rows, instead of building them from the fields"},
    {"rate", "N", TIDE_COUNT(LoadOptions, rate_per_s), "maximum number of messages per second (no limit)", .min = 1,
     .max = 100000000},
    {"yield", NULL, TIDE_FLAG(LoadOptions, yields),
     "yield to a daemon or other programs that write to HBase at the same time"},
    {"dry-run", NULL, TIDE_FLAG(LoadOptions, dry_run), "write nothing; count rows by table, and rejections by reason"},
    {"again", NULL, TIDE_FLAG(LoadOptions, again), "load files from the beginning, regardless of their marks"},
    {"dead-letters", "FILE", TIDE_TEXT(LoadOptions, dead_letters),
     "file for dead letters (load-dead-letters.jsonl in the state directory)"},
    {"state-directory", "DIRECTORY", TIDE_TEXT(LoadOptions, state_directory),
     "directory for marks ($STATE_DIRECTORY, else ~/.local/state/tidemark)"},
};

const TideCommand tide_command_load = {
    .name = "load",
    .arguments = "FILE…",
    .summary = "Loads readings from files, without Kafka, as the daemon would write them.",
    .exits = {{TIDE_EXIT_OK, "everything was written, or kept as dead letters"},
              {TIDE_EXIT_DATA,
               "a file could not be read to its end, too much was rejected, HBase refuses a remaining row without "
               "naming a cause, or nothing was written because everything was rejected or there were no readings"},
              {TIDE_EXIT_UNAVAILABLE, "no gateway answered within the first minute, or a remaining row gets no answer"},
              {TIDE_EXIT_TEMPFAIL, "stopped: the same command continues"},
              {TIDE_EXIT_CONFIG}},
    .details =
        "Files contain messages like those of the source: JSON or line protocol, one per line; CSV; consecutive "
        "MessagePack\n"
        "values; protobuf messages, each after its length; Avro container files. They may be compressed with gzip\n"
        "or zstd. '-' is standard input. A mark stores the progress of each file, up to what HBase has acknowledged.\n"
        "After a stop or a kill, the same command continues, and skips files that are complete. A daemon may run at\n"
        "the same time: latest tables stay correct; with '--yield', the load slows down while it slows HBase down.\n"
        "\n"
        "Examples:\n"
        "  tidemark load --dry-run archive/2025-*.jsonl.gz\n"
        "  tidemark load archive/2025-*.jsonl.gz\n"
        "  zcat old.jsonl.gz | tidemark load --from 2025-01-01 --to 2026-01-01 -",
    .max_arguments = G_MAXUINT,
    TIDE_COMMAND_OPTIONS(load_options, LoadOptions),
    .run = load_files,
};
