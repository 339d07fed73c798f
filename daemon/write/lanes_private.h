/* Inside of the lanes: used by lanes.c, lanes_end.c and lanes_state.c; nobody else includes this. */
#pragma once

#include "util/pace.h"
#include "util/rate.h"
#include "write/lanes.h"

G_BEGIN_DECLS

/* Where a lane stands; each state but the first is membership of one list. */
typedef enum LaneState {
  LANE_IDLE,    /* nothing waits */
  LANE_READY,   /* in its table's ready: a writer may take from it */
  LANE_PROBE,   /* in its table's probes: its last call failed, and it may be tried again */
  LANE_FULL,    /* its calls or rows in flight are at the cap: finish() makes it ready */
  LANE_DELAYED, /* in delayed: it, or all that waits in it, is not to be sent before some time */
} LaneState;

/* A lane with what waits in it; freed as the lane. */
typedef struct LaneQueue {
  TideLane lane;    /* first: a TideLane that the lanes made is one of these */
  TideLanes *lanes; /* borrowed, read-only */
  /* under TideLanes.lock */
  LaneState state;
  GList link;       /* in its table's ready or probes, or in delayed */
  GList busy_link;  /* in busy, while batches wait or are in flight */
  TideBatch *first; /* those that wait for their not_before_us are the last, by that */
  TideBatch *last;
  guint32 n_in_flight; /* calls */
  guint32 in_flight_rows;
  guint32 window_rows; /* see tide_lane_window_rows() */
  guint32 failures;    /* in a row */
  gint64 failing_since_us;
  gint64 not_before_us;
  char *error_text;          /* owned: of the last failure */
  gint64 last_ok_us;         /* when a call was last acknowledged; 0: never */
  gint64 n_refused;          /* suspects since */
  TideRate written;          /* rows */
  gboolean is_hot;           /* one of the lanes' hot */
  guint32 silent_rows;       /* a call of so many had no answer, and none of more than half was accepted since; 0 */
  gboolean is_less_accepted; /* one of half as many, or fewer, was accepted since */
} LaneQueue;

static inline LaneQueue *
tide_lane_queue_of(const TideBatch *batch)
{
  return (LaneQueue *)batch->lane;
}

/* Why nothing of a table is sent, and since when. */
typedef struct TideTableStop {
  gboolean is_on;
  char *reason; /* owned; NULL: nobody has said yet */
  gint64 since_us;
  guint32 n_reports;
} TideTableStop;

/* Reporting a stop again keeps its original start time. @reason: copied */
void tide_table_stop_report(TideTableStop *stop, const char *reason, gint64 now_us);
void tide_table_stop_end(TideTableStop *stop);

/* A table's slot. */
typedef struct TableSlot {
  const TideTable *table;  /* borrowed; NULL: it has had no rows since it was opened */
  guint32 place;           /* in used, if it has */
  TideRate written;        /* rows of it */
  GQueue ready;            /* lanes a call can be taken from, in turn */
  GQueue probes;           /* lanes in trouble whose wait is over, in turn */
  TideTableStop blocked;   /* by tide_lanes_block() */
  TideTableStop suspended; /* by a call's end: HBase takes no rows of this table */
  guint32 rows_per_call;   /* learned; 0: as many as max_rows says */
  gint64 learned_us;       /* when that number changed last */
  gint64 n_refused;        /* suspects since a row was accepted */
  TidePace pace;           /* of a declared table, which its dated tables share */
  gboolean is_paused;      /* likewise: by the operator */
  /* while suspended */
  gint64 probe_at_us;        /* when one call is tried */
  gboolean is_probed;        /* it is on its way */
  LaneQueue *suspended_lane; /* borrowed: whose call failed so. It cannot go: what failed waits in it until a probe
                              * takes it. NULL: a probe had nothing left to send */
} TableSlot;

struct TideLanes {
  TideLanesOptions options; /* read-only */
  TideSuspects suspects;    /* any thread */
  TideMutex lock;
  TideCond work;
  /* under lock */
  struct {
    guint32 max_rows;
    guint32 max_bytes;
  } call; /* its limits; the options have those of the start */
  struct {
    TidePace pace;      /* of all tables together */
    gboolean is_paused; /* all tables are */
  } operator;           /* what the operator wants */
  TableSlot *tables;    /* owned array of options.n_tables */
  GPtrArray *used;      /* owned (element-type TableSlot): those that have had rows since they were opened */
  guint32 next_table;   /* of them */
  GQueue delayed;
  GQueue busy;
  gboolean stopped;
  gboolean is_final;   /* what waits is all there is */
  guint32 n_suspended; /* tables */
  guint32 n_in_flight_calls;
  guint32 n_probes; /* of them */
  guint64 in_flight_rows;
  guint64 waiting_rows;
  gint64 last_ok_us;
  LaneQueue *hot[TIDE_LANES_HOT]; /* owned references: those with most rows, as far as is known; NULL: none */
};

/* The window of a lane is how many of its rows may be in flight, for a region in trouble must not be given as much as
 * one that is well. It is at its widest to begin with: all calls that a region may have, full. Each call that fails or
 * gets no answer halves it, down to one row; a lane may always have one batch in flight, however large. Each call that
 * is acknowledged widens it by an eighth of a call. So a lane that has just come back begins small, and one in which a
 * call fails now and then stays below what makes it fail. */
static inline guint32
tide_lane_widest_window_rows_locked(const TideLanes *lanes)
{
  return lanes->call.max_rows * lanes->options.max_in_flight_per_region;
}

/* At its widest it has no number of its own: it stays so when a call's rows change. */
#define TIDE_LANE_WIDEST_WINDOW G_MAXUINT32

static inline guint32
tide_lane_window_rows_locked(const LaneQueue *queue)
{
  return MIN(queue->window_rows, tide_lane_widest_window_rows_locked(queue->lanes));
}

/* How many rows a call of @slot's table has at most. */
static inline guint32
tide_lanes_rows_per_call_locked(const TideLanes *lanes, const TableSlot *slot)
{
  return slot->rows_per_call > 0 ? MIN(slot->rows_per_call, lanes->call.max_rows) : lanes->call.max_rows;
}

/* The slot whose pace and pause hold for @table: that of its declaration. */
static inline TableSlot *
tide_lanes_declared_slot_locked(const TideLanes *lanes, const TideTable *table)
{
  return &lanes->tables[table->declared != NULL ? table->declared->index : table->index];
}

/* How long a call of @slot's table waits for its own rate; 0: it need not. */
static inline gint64
tide_lanes_pace_wait_us_locked(const TideLanes *lanes, const TableSlot *slot, gint64 now_us)
{
  TableSlot *declared = tide_lanes_declared_slot_locked(lanes, slot->table);
  const TideTable *table = slot->table->declared != NULL ? slot->table->declared : slot->table;
  declared->pace.per_s = atomic_load_explicit(&table->rows_per_second, memory_order_relaxed);
  return declared->pace.per_s > 0 ? tide_pace_wait_us(&declared->pace, now_us) : 0;
}

/* The lane that a call can be begun with; NULL: there is none. */
LaneQueue *tide_lanes_next_locked(const TideLanes *lanes, gint64 now_us);

/* Puts @queue into the list where it belongs now. */
void tide_lane_queue_settle_locked(LaneQueue *queue, gint64 now_us);
/* @n_rows of @queue were acknowledged. */
void tide_lane_queue_count_written_locked(LaneQueue *queue, guint32 n_rows, gint64 now_us);
void tide_lane_queue_push_front_locked(LaneQueue *queue, TideBatch *batch);
/* Behind all that may be sent before it. */
void tide_lane_queue_push_back_locked(LaneQueue *queue, TideBatch *batch, gint64 now_us);

G_END_DECLS
