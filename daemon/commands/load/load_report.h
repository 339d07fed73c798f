/* What is said of a load: while it waits at its start, how far it is, and at its end. */
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
  const char *dead_letters;  /* where they are kept */
  const char *config_option; /* " -c FILE", as for a shell; "": the default one */
  gint64 elapsed_us;
  gboolean again;       /* the load was to begin anew */
  gboolean was_begun;   /* a load before this one has begun with some of its files */
  gboolean was_stopped; /* by a signal */
  gboolean left_work;   /* not all that was read is written */
  gboolean failed;      /* it could not go on; why is told elsewhere */
} TideLoadResult;

/* To standard output the numbers, to standard error what is wrong with a file. Returns: the exit code. */
int tide_load_report(const TideLoadResult *result);

/* To standard error, for each file that was not read to its end, why. Returns: how many. */
guint tide_load_report_problems(const TideFileLoad *load);

/* How many messages there were until now. Threads: any. */
typedef struct TideLoadCounts {
  guint64 n_received; /* but those that were handed back */
  guint64 n_done;     /* of them: HBase or the dead letters have them, or nothing is to be done */
} TideLoadCounts;

TideLoadCounts tide_load_report_counts(TideMetrics *metrics);

/* The shares of @progress by the bytes of all files: of what was read, the part that is done by @counts. */
void tide_load_report_progress(TideProgress *progress, const TideFileLoadProgress *at, const TideLoadCounts *counts);

/* A wait that is longer is told of. */
#define TIDE_LOAD_PATIENCE_US (3 * TIDE_US_PER_S)

typedef struct TideLoadWait {
  gint64 start_us; /* monotonic: when the pipeline was started */
  gboolean is_told;
} TideLoadWait;

/* Looks at a pipeline that does not run yet; says once on standard error what it waits for. The pipeline ends that wait
 * (service/pipeline.h). */
void tide_load_wait_look(TideLoadWait *wait, const TidePipelineState *state, gint64 now_us);

/* ---- dry_run.c ---- */

/* A load that writes nothing: reads all files of @load and prints to standard output what readings become, counted by
 * table and by reason, with the first example of each reason.
 * @stop: set by a signal
 * Returns: the exit code: DATA where anything would be rejected, or a file could not be read to its end. */
int tide_load_dry_run(TideFileLoad *load, const TideConfig *config, const volatile int *stop);

/* A line of what was counted: "         1,204 rows written to METRIC", with @detail behind the noun. */
void tide_load_print_count(guint64 count, const char *one, const char *more, const char *detail);

/* ---- scanned.c: files of what scan printed, which make rows of one table and its indexes alone ---- */

typedef struct TideLoadScanned {
  const char *table;   /* whose rows they are; of a dated table one of its names, or the pattern; NULL: they are none */
  gboolean as_csv;     /* else as JSON */
  gboolean keeps_keys; /* as they were printed, instead of made anew of the fields in them */
} TideLoadScanned;

/* The table of @config that @scanned names. Errors: USAGE: there is none, or its rows cannot be loaded. */
TideTable *tide_load_scanned_table(TideConfig *config, const TideLoadScanned *scanned, GError **error);

/**
 * tide_load_scanned_adapt: what @scanned changes.
 * @source: of @config, from which @table takes
 * Errors: USAGE: what is printed does not say all that the rows, or those of an index, were made of.
 */
gboolean tide_load_scanned_adapt(TideConfig *config, TideConfigSource *source, TideTable *table,
                                 const TideLoadScanned *scanned, GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
