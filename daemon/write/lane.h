/* A lane: one region of one table, referenced by rows, batches and region maps. Lanes (lanes.h) create each lane
 * together with its queue.
 *
 * Threads: any. */
#pragma once

#include <stdatomic.h>

#include "model/table/table.h"
#include "util/bytes.h"

G_BEGIN_DECLS

typedef struct TideLane TideLane;

struct TideLane {
  _Atomic guint32 references; /* C11 rather than GLib: the thread sanitizer must see it */
  /* set at creation, then read-only */
  const TideTable *table;       /* borrowed */
  TideBytes start_key;          /* owned */
  TideBytes end_key;            /* owned; empty: to the end */
  void (*free)(TideLane *lane); /* frees the containing memory */
};

/* Starts with one reference. Copies the keys. */
void tide_lane_init(TideLane *lane, const TideTable *table, TideBytes start_key, TideBytes end_key,
                    void (*free)(TideLane *lane));
TideLane *tide_lane_ref(TideLane *lane);
void tide_lane_unref(TideLane *lane); /* NULL ok */

G_END_DECLS
