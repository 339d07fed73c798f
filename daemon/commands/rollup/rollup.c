/* `tidemark rollup`: the nightly batch: copies one day of a table keyed by sensor into a table of its own. */
#include "commands/rollup/rollup.h"
#include "commands/cli/commands.h"
#include "commands/cli/load_config.h"
#include "commands/cli/output.h"
#include "commands/cli/stop_signal.h"
#include "commands/cli/time_argument.h"
#include "commands/read/gateway_session.h"
#include "commands/read/key_arguments.h"
#include "model/table/dated_table.h"
#include "tables/declared_table.h"
#include "util/clock.h"
#include "util/state_directory.h"
#include "util/units.h"

#include <errno.h>

/* Each thread holds a page of the source and a call of the gateway. */
#define DEFAULT_THREADS 4
#define MAX_THREADS 64

#define DEFAULT_STALL_TIMEOUT_MS (5 * 60 * 1000) /* longer than a gateway or a region needs to recover */

typedef struct RollupOptions {
  const char *day;
  const char *target;
  const char *state_directory;
  gboolean refresh;
  gboolean open_day;
  guint64 threads;
  guint64 rate_rows_per_s;
  gint64 stall_timeout_ms;
} RollupOptions;

typedef struct Rollup {
  const TideConfig *config; /* borrowed */
  const RollupOptions *options;
  const TideTable *source; /* borrowed */
  TideRollupDay day;
  char *target;             /* owned: the table's name */
  char *cluster;            /* owned: the cluster of both tables; NULL: unknown */
  char *marks_path;         /* owned; NULL: marks cannot be kept */
  GPtrArray *regions;       /* owned (element-type TideRegion): of the source */
  TideRollupMarks *marks;   /* owned; NULL before: nothing is known to be copied */
  gboolean was_copied;      /* according to the marks, an earlier run has copied this source into the target */
  const volatile int *stop; /* set by a signal */
} Rollup;

static void
rollup_clear(Rollup *rollup)
{
  g_free(rollup->target);
  g_free(rollup->cluster);
  g_free(rollup->marks_path);
  g_clear_pointer(&rollup->regions, g_ptr_array_unref);
  tide_rollup_marks_free(rollup->marks);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Rollup, rollup_clear)

/* ---- arguments --------------------------------------------------------------------------------------------- */

static gboolean
check_source(const TideTable *source, GError **error)
{
  const char *why = NULL;
  if (source->latest != TIDE_LATEST_NONE)
    why = "it is a latest table, which has no days";
  else if (tide_table_is_template(source))
    why = "it already has a table for each date";
  else if (source->cell_time != TIDE_CELL_TIME_EVENT)
    why = "its cells have another time than the event time, which determines the day";
  if (why == NULL)
    return TRUE;
  return tide_fail(error, TIDE_ERROR_USAGE, "'%s' cannot be rolled up: %s", source->name, why);
}

/* Returns the named table, or the only one stored by day. A day of other tables can be copied, too, but only if they
 * are named, as this is rarely intended. */
static const TideTable *
choose_source(const TideConfig *config, const GPtrArray *arguments, GError **error)
{
  if (arguments->len > 0) {
    const TideTable *named = tide_table_argument_find(config, arguments->pdata[0], error);
    return named != NULL && check_source(named, error) ? named : NULL;
  }
  const TideTable *only = NULL;
  guint n_fit = 0;
  for (guint i = 0; i < config->tables->len; i++) {
    const TideTable *table = config->tables->pdata[i];
    if (!check_source(table, NULL) || !tide_row_key_is_by_day(table->key))
      continue;
    only = table;
    n_fit++;
  }
  if (n_fit == 1)
    return only;
  g_set_error(error, TIDE_ERROR, TIDE_ERROR_USAGE, "%s: name the table to roll up",
              n_fit == 0 ? "no declared table is stored by day" : "several declared tables are stored by day");
  return NULL;
}

static gboolean
choose_day(Rollup *rollup, gint64 now_ms, GError **error)
{
  GTimeZone *zone = tide_row_key_zone(rollup->source->key);
  if (!tide_rollup_day_parse(rollup->options->day, zone, now_ms, &rollup->day, error)) {
    g_prefix_error(error, "'--day' ");
    return FALSE;
  }
  if (rollup->day.to_ms <= now_ms || rollup->options->open_day)
    return TRUE;
  g_autofree char *end = tide_time_text(rollup->day.to_ms);
  return tide_fail(
      error, TIDE_ERROR_USAGE,
      "the day %s is not over before %s: readings would be missing; wait, or use --allow-open-day and later --refresh",
      rollup->day.name, end);
}

/* ---- marks ---------------------------------------------------------------------------------------------------------
 */

/* Loads the marks of an earlier run to continue from, if the copy exists; none after --refresh. Marks of another
 * cluster do not apply to a table here. */
static gboolean
load_marks(Rollup *rollup, GError **error)
{
  if (rollup->marks_path == NULL)
    return TRUE;
  g_autoptr(GError) fault = NULL;
  g_autoptr(TideRollupMarks) marks = tide_rollup_marks_load(rollup->marks_path, &fault);
  if (fault != NULL) {
    g_propagate_error(error, g_steal_pointer(&fault));
    return FALSE;
  }
  if (marks == NULL)
    return TRUE;
  if (marks->cluster != NULL && rollup->cluster != NULL && strcmp(marks->cluster, rollup->cluster) != 0) {
    printf("%s: the marks in '%s' are for a copy in another cluster: copying from the beginning\n", rollup->target,
           rollup->marks_path);
    return TRUE;
  }
  rollup->was_copied = strcmp(marks->source, rollup->source->name) == 0;
  if (rollup->options->refresh)
    return TRUE;
  if (!rollup->was_copied || strcmp(marks->target, rollup->target) != 0 || marks->from_ms != rollup->day.from_ms ||
      marks->to_ms != rollup->day.to_ms)
    return tide_fail(error, TIDE_ERROR_USAGE,
                     "'%s' was rolled up from '%s' for another day or zone (the marks are in '%s'): use another --to, "
                     "or --refresh to copy this day into it too",
                     rollup->target, marks->source, rollup->marks_path);
  rollup->marks = g_steal_pointer(&marks);
  return TRUE;
}

/* ---- tables --------------------------------------------------------------------------------------------------------
 */

/* Everything is to do: one range for each region; fewer and narrower ones if the key begins with the time. (transfer
 * full) */
static TideRollupMarks *
plan_marks(const Rollup *rollup, GError **error)
{
  TideReading nothing = {0};
  g_autoptr(GArray) ranges = tide_row_key_plan(rollup->source->key, &nothing, rollup->day.from_ms * TIDE_NS_PER_MS,
                                               rollup->day.to_ms * TIDE_NS_PER_MS, error);
  if (ranges == NULL)
    return NULL;
  TideRollupMarks *marks =
      tide_rollup_marks_new(rollup->source->name, rollup->target, rollup->day.from_ms, rollup->day.to_ms);
  marks->cluster = g_strdup(rollup->cluster);
  for (guint i = 0; i < ranges->len; i++)
    for (guint k = 0; k < rollup->regions->len; k++) {
      const TideKeyRange *range = &g_array_index(ranges, TideKeyRange, i);
      const TideRegion *region = rollup->regions->pdata[k];
      TideBytes start = tide_buffer_bytes(&range->start), stop = tide_buffer_bytes(&range->stop);
      if (tide_bytes_compare(start, region->start_key) < 0)
        start = region->start_key;
      if (stop.len == 0 || (region->end_key.len > 0 && tide_bytes_compare(region->end_key, stop) < 0))
        stop = region->end_key;
      if (stop.len == 0 || tide_bytes_compare(start, stop) < 0)
        tide_rollup_marks_add(marks, start, stop);
    }
  return marks;
}

/* Created like the source, split at its regions. */
static gboolean
create_target(const Rollup *rollup, TideGatewaySession *session, GError **error)
{
  g_autoptr(GArray) splits = g_array_new(FALSE, FALSE, sizeof(TideBytes));
  for (guint i = 1; i < rollup->regions->len; i++)
    g_array_append_val(splits, ((const TideRegion *)rollup->regions->pdata[i])->start_key);
  TideTable target = *rollup->source;
  target.name = rollup->target;
  target.splits = splits;
  TideTableRequest request = {.table = &target,
                              .names = rollup->config->names,
                              .plain_if_framed = TRUE,
                              .deadline_us = tide_gateway_session_admin_deadline_us(session)};
  TideTableCreation creation;
  if (!tide_declared_table_create(tide_gateway_session_client(session), &request, &creation, error))
    return FALSE;
  if (creation != TIDE_TABLE_CREATED_PLAIN)
    return TRUE;
  /* The new table has no attributes: its key must be stored elsewhere for the next check. */
  g_auto(TideFingerprintStore) store = {0};
  TideFingerprintLocation location;
  g_autofree char *fingerprint = tide_fingerprint_text(&target, rollup->config->names);
  tide_fingerprint_store_init(&store, rollup->config);
  if (!tide_fingerprint_store_write(&store, tide_gateway_session_client(session), rollup->target, fingerprint,
                                    &location, error))
    return FALSE;
  tide_say("tidemark rollup: creating '%s' with one region: a framed gateway cannot create it with split points",
           rollup->target);
  return TRUE;
}

/* Checks that the existing table @description can hold a copy: it has the families and the key of the source, and no
 * rows except those copied by a rollup. */
static gboolean
check_target(const Rollup *rollup, TideGatewaySession *session, const TideTableDescription *description, GError **error)
{
  TideTable target = *rollup->source;
  target.name = rollup->target;
  for (guint i = 0; i < target.families->len; i++) {
    const char *family = ((const TideFamilySettings *)g_ptr_array_index(target.families, i))->name;
    if (tide_family_settings_find(description->families, tide_bytes_of_string(family)) == NULL)
      return tide_fail(
          error, TIDE_ERROR_USAGE,
          "'%s' exists without the family '%s', so it is not a copy of '%s': name another table with '--to'",
          target.name, family, rollup->source->name);
  }
  g_auto(TideFingerprintStore) store = {0};
  g_auto(TideFingerprintFinding) finding = {0};
  gboolean is_empty = TRUE;
  TideHBaseClient *client = tide_gateway_session_client(session);
  tide_fingerprint_store_init(&store, rollup->config);
  if (!tide_fingerprint_store_compare(&store, client, &target, description, &finding, error))
    return FALSE;
  if (finding.verdict == TIDE_FINGERPRINT_CHANGED)
    return tide_fail(
        error, TIDE_ERROR_USAGE,
        "'%s' exists with rows of another key [%s], so it is not a copy of '%s': name another table with '--to'",
        target.name, finding.stored.text, rollup->source->name);
  if (finding.verdict == TIDE_FINGERPRINT_NOT_STORED && !rollup->was_copied &&
      !tide_fingerprint_store_is_empty(&store, client, target.name, &is_empty, error))
    return FALSE;
  return is_empty || tide_fail(error, TIDE_ERROR_USAGE,
                               "'%s' exists with rows that are not known to be a copy of '%s': name another table with "
                               "'--to', or drop it",
                               target.name, rollup->source->name);
}

/* Checks whether the target exists; marks of a copy that no longer exists are discarded. */
static gboolean
find_target(Rollup *rollup, TideGatewaySession *session, GError **error)
{
  g_autoptr(GError) fault = NULL;
  g_autoptr(TideTableDescription) description = tide_hbase_client_describe(
      tide_gateway_session_client(session), rollup->target, tide_gateway_session_deadline_us(session), &fault);
  if (description != NULL)
    return check_target(rollup, session, description, error);
  if (!g_error_matches(fault, TIDE_ERROR, TIDE_ERROR_NOT_FOUND)) {
    g_propagate_prefixed_error(error, g_steal_pointer(&fault), "cannot describe table '%s': ", rollup->target);
    return FALSE;
  }
  if (rollup->marks != NULL)
    printf("%s: an earlier run has copied into it, but it does not exist here: copying from the beginning\n",
           rollup->target);
  g_clear_pointer(&rollup->marks, tide_rollup_marks_free);
  return TRUE;
}

static gboolean
prepare_tables(Rollup *rollup, GError **error)
{
  g_autoptr(TideGatewaySession) session =
      tide_gateway_session_open(rollup->config, TIDE_GATEWAY_PREFER_UNFRAMED, error);
  if (session == NULL)
    return FALSE;
  rollup->cluster = g_strdup(tide_gateway_session_cluster(session));
  if (!load_marks(rollup, error))
    return FALSE;
  TideHBaseClient *client = tide_gateway_session_client(session);
  TideBytes name = tide_bytes_of_string(rollup->source->name);
  rollup->regions = tide_hbase_client_regions(client, name, tide_gateway_session_deadline_us(session), error);
  if (rollup->regions == NULL)
    return FALSE;
  if (rollup->regions->len == 0)
    return tide_fail(error, TIDE_ERROR_NOT_FOUND, "table '%s' does not exist in HBase", rollup->source->name);
  return tide_hbase_client_check_whole(client, name, rollup->regions, error) && find_target(rollup, session, error) &&
         create_target(rollup, session, error);
}

/* ---- work ----------------------------------------------------------------------------------------------------------
 */

/* @count_only: counts the day's cells in the target */
static gboolean
run_job(const Rollup *rollup, TideRollupMarks *marks, gboolean count_only, GError **error)
{
  TideRollupOptions options = {
      .config = rollup->config,
      .cluster = rollup->cluster,
      .marks = marks,
      .marks_path = count_only ? NULL : rollup->marks_path,
      .count_only = count_only,
      .threads = (guint32)rollup->options->threads,
      .rate_rows_per_s = count_only ? 0 : rollup->options->rate_rows_per_s,
      .ttl_ms = rollup->source->ttl_ms, /* reads do not return it, but HBase counts it from the cells' time */
      .stall_timeout_us = rollup->options->stall_timeout_ms * TIDE_US_PER_MS,
      .stop = rollup->stop,
  };
  return tide_rollup_job_run(&options, error);
}

/* Counts the day's cells in the target. @ret_is_same: they are as many as the marks claim */
static gboolean
count_copy(const Rollup *rollup, TideRollupCounts *ret_counts, gboolean *ret_is_same, GError **error)
{
  g_autoptr(TideRollupMarks) counting = plan_marks(rollup, error);
  if (counting == NULL || !run_job(rollup, counting, TRUE, error))
    return FALSE;
  TideRollupCounts copied = tide_rollup_marks_count(rollup->marks), counted = tide_rollup_marks_count(counting);
  *ret_counts = counted;
  *ret_is_same = counted.rows == copied.rows && counted.cells == copied.cells;
  return TRUE;
}

/* "2,500 rows, 10,000 cells" (transfer full) */
static char *
counts_text(TideRollupCounts counts)
{
  g_autofree char *rows = tide_count_of(counts.rows, "row", NULL), *cells = tide_count_of(counts.cells, "cell", NULL);
  return g_strdup_printf("%s, %s", rows, cells);
}

/* Decides where the copy begins. The marks may be of a copy in another cluster, or of a table that was dropped and
 * created again: if the target does not hold as much as they claim, everything is copied again. @ret_is_done: TRUE if
 * nothing is left to do */
static gboolean
find_begin(Rollup *rollup, gboolean *ret_is_done, GError **error)
{
  TideRollupCounts counted;
  *ret_is_done = FALSE;
  if (rollup->marks != NULL && rollup->marks->done) {
    if (!count_copy(rollup, &counted, ret_is_done, error))
      return FALSE;
    g_autofree char *found = tide_count_of(counted.rows, "row", NULL);
    g_autofree char *expected = tide_count_text(tide_rollup_marks_count(rollup->marks).rows);
    if (*ret_is_done) {
      printf("%s: the day %s is already copied; use --refresh to copy later readings\n", rollup->target,
             rollup->day.name);
      return TRUE;
    }
    printf("%s: it holds %s of the day, not the %s copied by an earlier run: copying from the beginning\n",
           rollup->target, found, expected);
    g_clear_pointer(&rollup->marks, tide_rollup_marks_free);
  } else if (rollup->marks != NULL)
    printf("%s: continuing an interrupted run\n", rollup->target);
  fflush(stdout);
  if (rollup->marks == NULL)
    rollup->marks = plan_marks(rollup, error);
  return rollup->marks != NULL;
}

static gboolean
roll_up(TideCommandCall *call, Rollup *rollup, GError **error)
{
  gint64 start_us = tide_now_us();
  gboolean is_done = FALSE;
  if (!prepare_tables(rollup, error) || !find_begin(rollup, &is_done, error))
    return FALSE;
  if (is_done)
    return TRUE;
  if (!run_job(rollup, rollup->marks, FALSE, error))
    return FALSE;
  g_autofree char *copied = counts_text(tide_rollup_marks_count(rollup->marks));
  g_autofree char *elapsed = tide_age_text((tide_now_us() - start_us) / TIDE_US_PER_MS);
  printf("%s: %s of the day %s of '%s' copied in %s\n", rollup->target, copied, rollup->day.name, rollup->source->name,
         elapsed);
  fflush(stdout);

  TideRollupCounts counted;
  if (!count_copy(rollup, &counted, &rollup->marks->done, error))
    return FALSE;
  g_autofree char *held = counts_text(counted);
  if (rollup->marks->done)
    printf("verified: HBase holds %s of that day in '%s'\n", held, rollup->target);
  else
    printf("DIFFERENT: HBase holds %s of that day in '%s', but %s were copied: there were late readings or other "
           "writers; run it again with --refresh\n",
           held, rollup->target, copied);
  if (!tide_rollup_marks_save(rollup->marks, rollup->marks_path, error))
    return FALSE;
  call->failure_code = rollup->marks->done ? TIDE_EXIT_OK : TIDE_EXIT_FINDINGS;
  return TRUE;
}

/* ---- command -------------------------------------------------------------------------------------------------------
 */

/* The target must be neither a table that the daemon writes nor one of HBase's own. */
static gboolean
check_target_name(const Rollup *rollup, GError **error)
{
  g_autoptr(GError) reason = NULL;
  g_autofree char *quoted = tide_bytes_printable(tide_bytes_of_string(rollup->target));
  const TideTable *known = tide_table_of_name(rollup->config, rollup->target);
  if (known != NULL && (known->declared == NULL || tide_table_is_template(known->declared)))
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_USAGE,
                "'%s' is written by the daemon, but a day needs its own table: name another table with '--to'", quoted);
  else if (!tide_config_check_table_name(rollup->target, &reason))
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_USAGE, "'%s' %s: a day needs its own table; name another with '--to'",
                quoted, reason->message);
  else
    return TRUE;
  return FALSE;
}

static gboolean
begin_rollup(TideCommandCall *call, GError **error)
{
  const RollupOptions *options = call->options;
  if (!tide_command_load_config(call))
    return FALSE;
  g_auto(Rollup) rollup = {
      .config = call->config, .options = options, .source = choose_source(call->config, call->arguments, error)};
  if (rollup.source == NULL || !choose_day(&rollup, tide_wall_clock_epoch_ms(), error))
    return FALSE;
  rollup.target = options->target != NULL ? g_strdup(options->target)
                                          : g_strconcat(rollup.source->name, "_", rollup.day.name, NULL);
  if (!check_target_name(&rollup, error))
    return FALSE;
  g_autofree char *directory = tide_state_directory_of_user(options->state_directory);
  g_autofree char *marks_name = g_strdup_printf("rollup-%s", rollup.target);
  g_strdelimit(marks_name, ":", '-'); /* of a namespace */
  if (directory != NULL)
    rollup.marks_path = g_build_filename(directory, marks_name, NULL);
  else
    tide_say("tidemark rollup: cannot create a directory for marks (%s): a killed rollup starts again",
             g_strerror(errno));
  rollup.stop = tide_stop_signal_install();
  return roll_up(call, &rollup, error);
}

static const TideOption rollup_options[] = {
    TIDE_CONFIG_OPTION,
    {"day", "DAY", TIDE_TEXT(RollupOptions, day),
     "day to copy, such as 2017-07-26, in the key's time zone (yesterday)"},
    {"to", "TABLE", TIDE_TEXT(RollupOptions, target),
     "table to copy into; created if it does not exist (the table's name, _ and the day)"},
    {"refresh", NULL, TIDE_FLAG(RollupOptions, refresh), "copy a day again, to include readings that arrived later"},
    {"allow-open-day", NULL, TIDE_FLAG(RollupOptions, open_day), "copy a day that is not over yet"},
    {"threads", "N", TIDE_COUNT(RollupOptions, threads),
     "number of regions copied in parallel, one connection each (4)", .min = 1, .max = MAX_THREADS},
    {"rate", "N", TIDE_COUNT(RollupOptions, rate_rows_per_s),
     "maximum number of rows per second, to leave capacity for other work (no limit)", .min = 1},
    {"patience", "TIME", TIDE_DURATION(RollupOptions, stall_timeout_ms),
     "give up when a region has made no progress for this long (5m)"},
    {"state", "DIRECTORY", TIDE_TEXT(RollupOptions, state_directory),
     "directory for the progress ($STATE_DIRECTORY, else ~/.local/state/tidemark)"},
};

const TideCommand tide_command_rollup = {
    .name = "rollup",
    .arguments = "[TABLE]",
    .summary = "Copies one day of a table that is keyed by device into a separate table, as a nightly batch.",
    .exits = {{TIDE_EXIT_FINDINGS, "the number of rows or cells of the day in the table differs from what was copied"},
              {TIDE_EXIT_DATA, "the marks of an earlier run cannot be used"},
              {TIDE_EXIT_UNAVAILABLE},
              {TIDE_EXIT_TEMPFAIL, "stopped: the same command continues"},
              {TIDE_EXIT_CONFIG}},
    .details = "HBase selects the day by the times of the cells, region by region. The copies keep these times, so "
               "that a second\n"
               "run changes nothing. After a kill, the same command continues. At the end, rollup counts the rows and\n"
               "cells of the copy.\n"
               "\n"
               "Examples:\n"
               "  tidemark rollup SENSOR\n"
               "  tidemark rollup SENSOR --day 2017-07-26 --rate 20000\n"
               "  tidemark rollup SENSOR --day 2017-07-26 --refresh",
    .max_arguments = 1,
    TIDE_COMMAND_OPTIONS(rollup_options, RollupOptions),
    .defaults = &(const RollupOptions){.threads = DEFAULT_THREADS, .stall_timeout_ms = DEFAULT_STALL_TIMEOUT_MS},
    .run = begin_rollup,
};
