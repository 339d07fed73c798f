/* Reports of a load: while it waits at its start, during its progress, and at its end. */
#pragma once

#include "commands/cli/progress.h"
#include "config/config.h"
#include "files/file_load.h"
#include "service/pipeline_health.h"
#include "util/metrics.h"

G_BEGIN_DECLS

#define TIDE_LOAD_FOUND_NOTHING "no reading was found: see whether these are the right files, and whole"

typedef struct TideLoadResult {
  const TideFileLoad *load; /* borrowed, all; over */
  TideMetrics *metrics;     /* of the pipeline */
  const TideConfig *config;
  const char *dead_letters;  /* the path of their file */
  const char *config_option; /* " -c FILE", quoted for a shell; "": the default configuration */
  gint64 elapsed_us;
  double waiting_share;  /* of the writers' time: it was left to other programs that write to HBase */
  gboolean again;        /* the load was to start again */
  gboolean was_begun;    /* an earlier load has begun some of its files */
  gboolean was_stopped;  /* by a signal */
  gboolean work_remains; /* some messages read are not written */
  gboolean failed;       /* it could not continue; the caller reports why */
} TideLoadResult;

/* Prints numbers on standard output, and problems of files on standard error. Returns: the exit code. */
int tide_load_report(const TideLoadResult *result);

/* Prints on standard error why files were not read to their end. Returns: how many. */
guint tide_load_report_problems(const TideFileLoad *load);

/* The number of messages so far. Threads: any. */
typedef struct TideLoadCounts {
  guint64 n_received; /* except those handed back */
  guint64 n_done;     /* of these: stored by HBase or as dead letters, or nothing needs to be done */
} TideLoadCounts;

TideLoadCounts tide_load_report_counts(TideMetrics *metrics);

/* Sets the shares of @progress by the bytes of all files: of the bytes read, the part that is done according to
 * @counts. */
void tide_load_report_progress(TideProgress *progress, const TideFileLoadProgress *at, const TideLoadCounts *counts);

/* Sets what @progress says of the writers' time that is left to other programs. */
void tide_load_report_waiting(TideProgress *progress, double waiting_share);

/* Longer waits are reported. */
#define TIDE_LOAD_PATIENCE_US (3 * TIDE_US_PER_S)

typedef struct TideLoadWait {
  gint64 start_us; /* monotonic: when the pipeline was started */
  gboolean is_told;
} TideLoadWait;

/* Checks a pipeline that does not run yet; reports once on standard error what it waits for. The pipeline ends that
 * wait (service/pipeline.h). */
void tide_load_wait_look(TideLoadWait *wait, const TidePipelineState *state, gint64 now_us);

/* ---- dry_run.c ---- */

/* A load that writes nothing: reads all files of @load and prints on standard output the results of readings, counted
 * by table and by reason, with the first example of each reason. @stop: set by a signal. Returns: the exit code: DATA
 * if anything would be rejected, or a file could not be read to its end. */
int tide_load_dry_run(TideFileLoad *load, const TideConfig *config, const volatile int *stop);

/* Prints a line with a count: "         1,204 rows written to METRIC", with @detail after the noun. */
void tide_load_print_count(guint64 count, const char *one, const char *more, const char *detail);

/* ---- scanned.c: files printed by scan, which make rows of one table and its indexes only ---- */

typedef struct TideLoadScanned {
  const char *table;   /* the table of the rows; for a dated one, one of its names, or the pattern; NULL: they are not
                        * printed rows */
  gboolean as_csv;     /* otherwise as JSON */
  gboolean keeps_keys; /* use the printed keys instead of building them from their fields */
} TideLoadScanned;

/* Finds the table of @config that @scanned names. Errors: USAGE: there is none, or its rows cannot be loaded. */
TideTable *tide_load_scanned_table(TideConfig *config, const TideLoadScanned *scanned, GError **error);

/**
 * tide_load_scanned_adapt: change @config for @scanned.
 * @source: a source of @table in @config
 * Errors: USAGE: the printed rows lack parts from which the rows, or those of an index, were made.
 */
gboolean tide_load_scanned_adapt(TideConfig *config, TideConfigSource *source, TideTable *table,
                                 const TideLoadScanned *scanned, GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
