/* Reload: the reaction of a running daemon to SIGHUP. The whole file is checked first; if anything in it is wrong, the
 * previous configuration stays in force. Otherwise the options flagged as reloadable are applied, and other changed
 * options are reported: they need a restart.
 *
 * Threads: the main thread only, unless stated otherwise. */
#pragma once

#include "commands/cli/command.h"
#include "service/pipeline.h"
#include "util/lock.h"

G_BEGIN_DECLS

typedef struct TideReload {
  const TideCommandCall *call; /* borrowed: its configuration is in force */
  TidePipeline *pipeline;      /* borrowed */
  gboolean is_static_member;   /* kafka.instance was set by the daemon, not by the file */
  gboolean failed;             /* the last one did */
  TideGauge *successful;
  TideGauge *success_time;

  /* under lock */
  TideMutex lock;
  TideStatusReload last;
} TideReload;

/* Logs the warnings of an accepted configuration, one line each: standard error may be an unread pipe, or use JSON. */
void tide_log_config_warnings(const char *path, const GPtrArray *problems);

/* For the configuration just loaded. @pipeline: runs with it. */
void tide_reload_init(TideReload *reload, const TideCommandCall *call, TidePipeline *pipeline, TideMetrics *metrics,
                      gboolean is_static_member);
void tide_reload_clear(TideReload *reload);

/* Blocks: for the file's disk. Logs the result. */
void tide_reload_run(TideReload *reload);

/* A copy of the last result. Threads: any. */
TideStatusReload tide_reload_view(TideReload *reload);

G_END_DECLS
