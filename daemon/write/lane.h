/* A lane: one region of one table, as rows, batches and maps of regions name it. What waits in it is the lanes'
 * (lanes.h), which make each with its queue.
 *
 * Threads: any. */
#pragma once

#include <stdatomic.h>

#include "model/table/table.h"
#include "util/bytes.h"

G_BEGIN_DECLS

typedef struct TideLane TideLane;

struct TideLane {
  _Atomic guint32 references; /* C11, not GLib's: the thread sanitizer must see it */
  /* set at creation, then read-only */
  const TideTable *table;       /* borrowed */
  TideBytes start_key;          /* owned */
  TideBytes end_key;            /* owned; empty: to the end */
  void (*free)(TideLane *lane); /* the memory that it is in */
};

/* With one reference. The keys are copied. */
void tide_lane_init(TideLane *lane, const TideTable *table, TideBytes start_key, TideBytes end_key,
                    void (*free)(TideLane *lane));
TideLane *tide_lane_ref(TideLane *lane);
void tide_lane_unref(TideLane *lane); /* NULL ok */

G_END_DECLS
