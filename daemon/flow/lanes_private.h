/* Inside of the lanes: used by lanes.c and lanes_state.c; nobody else includes this. */
#pragma once

#include "flow/lanes.h"

G_BEGIN_DECLS

/* Where a lane stands; each state but the first is membership of one list. */
typedef enum LaneState {
  LANE_IDLE,    /* nothing waits */
  LANE_READY,   /* in its table's ready: a writer may take from it */
  LANE_FULL,    /* its calls in flight are at the cap: finish() makes it ready */
  LANE_DELAYED, /* in delayed: waits for not_before_us */
} LaneState;

struct TideLane {
  _Atomic guint32 references; /* C11, not GLib's: the thread sanitizer must see it */
  /* set at creation, then read-only */
  TideLanes *lanes; /* borrowed */
  const TideTable *table;
  TideBytes start_key; /* owned */
  TideBytes end_key;   /* owned */
  /* under TideLanes.lock */
  LaneState state;
  GList link;      /* in its table's ready or in delayed */
  GList busy_link; /* in busy, while batches wait or are in flight */
  TideBatch *first;
  TideBatch *last;
  guint32 n_in_flight;
  guint32 failures; /* in a row */
  gint64 failing_since_us;
  gint64 not_before_us;
  char *error_text; /* owned: of the last failure */
};

/* A table's place. */
typedef struct TablePlace {
  GQueue ready;     /* lanes a call can be taken from, in turn */
  gboolean blocked; /* none is taken all the same */
  char *reason;     /* owned: why; NULL: nobody has said yet */
  gint64 blocked_since_us;
  guint32 n_said;
} TablePlace;

struct TideLanes {
  TideLanesOptions options; /* read-only */
  TideMutex lock;
  TideCond work;
  /* under lock */
  TablePlace *tables; /* owned array of options.n_tables */
  guint32 n_used;     /* places below this have had rows */
  guint32 next_table;
  GQueue delayed;
  GQueue busy;
  gboolean stopped;
  guint32 n_in_flight_calls;
  guint64 in_flight_rows;
  guint64 waiting_rows;
};

G_END_DECLS
