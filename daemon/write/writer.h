/* A writer: one thread with one connection to one gateway. It takes calls from the lanes, sends them and reports their
 * results. A call with an uncertain outcome is never dropped: its batches return to their lanes and are sent again. */
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

/* Ends the running call with an uncertain outcome, so that a stop takes bounded time. Threads: any. */
void tide_writer_cancel(TideWriter *writer);

/* Waits after tide_lanes_stop() for the thread's end, until @deadline_us. Returns FALSE if it is still in a call. */
gboolean tide_writer_join_until(TideWriter *writer, gint64 deadline_us);
void tide_writer_free(TideWriter *writer); /* joins first */

/* Monotonic time of the thread's last loop iteration; at least one per call_timeout. */
gint64 tide_writer_last_round_us_racy(const TideWriter *writer);

typedef struct TideWriterView {
  const char *gateway; /* borrowed from the configuration: gateway of the running or last call; NULL: none yet */
  gint64 call_us;      /* how long the call has run; -1: none runs */
} TideWriterView;

TideWriterView tide_writer_view_racy(const TideWriter *writer, gint64 now_us);

G_END_DECLS
