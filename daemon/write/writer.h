/* A writer: one thread with one connection to one gateway. It takes calls from the lanes, sends them, and says how they
 * ended. A call of which the outcome is unknown is never given up: it goes back to its lanes and is sent again. */
#pragma once

#include "gateway/gateways.h"
#include "write/lanes.h"
#include "write/regions.h"

G_BEGIN_DECLS

typedef struct TideWriter TideWriter;

typedef struct TideWriterContext {
  const TideHBaseConfig *config; /* borrowed, all */
  TideLanes *lanes;
  TideGateways *gateways;
  TideRegions *regions;
  TideMetrics *metrics;
} TideWriterContext;

TideWriter *tide_writer_start(const TideWriterContext *context, guint32 index);

/* Ends the running call with an unknown outcome, so that a stop is bounded. Threads: any. */
void tide_writer_cancel(TideWriter *writer);

/* After tide_lanes_stop(): waits for the thread's end until @deadline_us; FALSE when it is still in a call. */
gboolean tide_writer_join_until(TideWriter *writer, gint64 deadline_us);
void tide_writer_free(TideWriter *writer); /* joins first */

/* Monotonic time at which the thread last went round its loop; it does so at least every call_timeout. */
gint64 tide_writer_last_round_us_racy(const TideWriter *writer);

typedef struct TideWriterView {
  const char *gateway; /* borrowed from the configuration: of the call that runs, or the last one; NULL: none yet */
  gint64 call_us;      /* how long the call has run; -1: none runs */
} TideWriterView;

TideWriterView tide_writer_view_racy(const TideWriter *writer, gint64 now_us);

G_END_DECLS
