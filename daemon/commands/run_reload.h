/* Reload: what SIGHUP does to a running daemon. The whole file is checked first; when anything in it is wrong, all
 * stays as it was. Of a right one, the options that the table of options flags are taken over, and the others that
 * changed are named: they need a restart.
 *
 * Threads: the main thread only, unless said otherwise. */
#pragma once

#include "commands/cli/command.h"
#include "service/pipeline.h"
#include "util/lock.h"

G_BEGIN_DECLS

typedef struct TideReload {
  const TideCommandCall *call; /* borrowed: its configuration is the one in force */
  TidePipeline *pipeline;      /* borrowed */
  gboolean has_lasting_name;   /* kafka.instance is the daemon's own, not the file's */
  gboolean failed;             /* the last one did */
  TideGauge *successful;
  TideGauge *success_time;

  /* under lock */
  TideMutex lock;
  TideStatusReload last;
} TideReload;

/* Those of a configuration that is taken, which has no errors, a line of the log each: standard error might be a pipe
 * that nobody reads, or wanted as JSON. */
void tide_log_config_warnings(const char *path, const GPtrArray *problems);

/* Of the configuration that was just loaded. @pipeline: that runs by it. */
void tide_reload_init(TideReload *reload, const TideCommandCall *call, TidePipeline *pipeline, TideMetrics *metrics,
                      gboolean has_lasting_name);
void tide_reload_clear(TideReload *reload);

/* Blocks: as long as the file's disk. Tells the log how it ended. */
void tide_reload_run(TideReload *reload);

/* A copy of how the last one ended. Threads: any. */
TideStatusReload tide_reload_view(TideReload *reload);

G_END_DECLS
