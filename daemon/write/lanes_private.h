/* Internals of the lanes, shared by lanes.c, lanes_end.c and lanes_state.c only. */
#pragma once

#include "util/pace.h"
#include "util/rate.h"
#include "write/lanes.h"
#include "write/yield.h"

G_BEGIN_DECLS

/* State of a lane; each one except the first is membership in a list. */
typedef enum LaneState {
  LANE_IDLE,    /* no batch waits */
  LANE_READY,   /* in its table's ready: a writer may take from it */
  LANE_PROBE,   /* in its table's probes: its last call failed, and a retry is due */
  LANE_FULL,    /* calls or rows in flight are at the limit: finish() readies it */
  LANE_DELAYED, /* in delayed: the lane, or every waiting batch, may not be sent yet */
} LaneState;

/* A lane with its waiting batches; freed with the lane. */
typedef struct LaneQueue {
  TideLane lane;    /* first: every TideLane made by the lanes is a LaneQueue */
  TideLanes *lanes; /* borrowed, read-only */
  /* under TideLanes.lock */
  LaneState state;
  GList link;       /* in its table's ready or probes, or in delayed */
  GList busy_link;  /* in busy, while batches wait or are in flight */
  TideBatch *first; /* those with a not_before_us are last, sorted by it */
  TideBatch *last;
  guint32 n_in_flight; /* calls */
  guint32 in_flight_rows;
  guint32 window_rows; /* see tide_lane_window_rows() */
  guint32 failures;    /* failed calls in a row */
  gint64 failing_since_us;
  gint64 not_before_us;
  char *error_text;          /* owned: the last failure */
  gint64 last_ok_us;         /* last acknowledged call; 0: never */
  gint64 n_refused;          /* suspects since then */
  TideRate written;          /* rows */
  gboolean is_hot;           /* in the lanes' hot */
  guint32 silent_rows;       /* size of an unanswered call since which none of more than half was accepted; 0: none */
  gboolean is_less_accepted; /* a call of at most half that size was accepted since */
} LaneQueue;

static inline LaneQueue *
tide_lane_queue_of(const TideBatch *batch)
{
  return (LaneQueue *)batch->lane;
}

/* Why no rows of a table are sent, and since when. */
typedef struct TideTableStop {
  gboolean is_on;
  char *reason; /* owned; NULL: not reported yet */
  gint64 since_us;
  guint32 n_reports;
} TideTableStop;

/* Reporting a stop again keeps its original start time. @reason: copied */
void tide_table_stop_report(TideTableStop *stop, const char *reason, gint64 now_us);
void tide_table_stop_end(TideTableStop *stop);

/* The lanes' state of one table. */
typedef struct TableSlot {
  const TideTable *table;  /* borrowed; NULL: no rows since it was opened */
  guint32 place;           /* index in used, if it has had rows */
  TideRate written;        /* its rows */
  GQueue ready;            /* lanes to take calls from, in turn */
  GQueue probes;           /* failing lanes with a retry due, in turn */
  TideTableStop blocked;   /* by tide_lanes_block() */
  TideTableStop suspended; /* by the end of a call: HBase accepts no rows of this table */
  guint32 rows_per_call;   /* learned limit; 0: max_rows */
  gint64 learned_us;       /* when that limit last changed */
  gint64 n_refused;        /* suspects since a row was accepted */
  TidePace pace;           /* of a declared table, which its dated tables share */
  gboolean is_paused;      /* likewise: by the operator */
  TideYieldKind *kinds;    /* owned array, by gateway: its calls, if this process yields */
  /* while suspended */
  gint64 probe_at_us;        /* when one call probes it */
  gboolean is_probed;        /* the probe is in flight */
  LaneQueue *suspended_lane; /* borrowed: the lane whose call failed; it stays alive because the failed batches wait in
                                it for a probe. NULL: a probe had nothing to send */
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
  } call; /* its limits; options has the initial ones */
  struct {
    TidePace pace;      /* of all tables together */
    gboolean is_paused; /* all tables are */
  } operator;           /* set by the operator */
  TableSlot *tables;    /* owned array of options.n_tables */
  GPtrArray *used;      /* owned (element-type TableSlot): tables with rows since they were opened */
  guint32 next_table;   /* index in used */
  GQueue delayed;
  GQueue busy;
  gboolean stopped;
  gboolean is_final;   /* no more rows will come */
  guint32 n_suspended; /* suspended tables */
  struct {
    guint32 calls;
    guint32 probes; /* of these */
    guint64 rows;
  } in_flight;
  guint64 waiting_rows;
  gint64 last_ok_us;
  TideYield yield;   /* if this process yields */
  struct {           /* to other processes */
    gint64 begin_us; /* first call; 0: none yet */
    guint64 n_calls;
    guint64 n_rows;    /* of these */
    guint32 n_waiting; /* writers that wait now, and would have a whole call */
    guint64 waited_us; /* these, all together */
    TideRate recent_us;
  } yielding;
  LaneQueue *hot[TIDE_LANES_HOT]; /* owned references: the lanes with most rows, as far as known; NULL: none */
};

/* The window of a lane limits its rows in flight, so that a failing region gets fewer than a healthy one. It starts at
 * its widest: the lane's maximum number of calls, all full. Each failed or unanswered call halves it, down to one row;
 * one batch of any size is always allowed. Each acknowledged call widens it by an eighth of a call. A recovering lane
 * thus starts small, and a lane with occasional failures stays below the size that causes them. */
static inline guint32
tide_lane_widest_window_rows_locked(const TideLanes *lanes)
{
  return lanes->call.max_rows * lanes->options.max_in_flight_per_region;
}

/* The widest window has no number, so that it follows changes of a call's rows. */
#define TIDE_LANE_WIDEST_WINDOW G_MAXUINT32

static inline guint32
tide_lane_window_rows_locked(const LaneQueue *queue)
{
  return MIN(queue->window_rows, tide_lane_widest_window_rows_locked(queue->lanes));
}

/* The limit of rows per call for @slot's table. */
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
  tide_pace_set(&declared->pace, atomic_load_explicit(&table->rows_per_second, memory_order_relaxed), now_us);
  return tide_pace_wait_us(&declared->pace, now_us);
}

/* The lane to begin a call with, unless the call waits for other processes; NULL: none. */
LaneQueue *tide_lanes_next_locked(const TideLanes *lanes, gint64 now_us);

/* Moves @queue to the list of its current state. */
void tide_lane_queue_update_state_locked(LaneQueue *queue, gint64 now_us);
/* Counts @n_rows acknowledged rows of @queue. */
void tide_lane_queue_count_written_locked(LaneQueue *queue, guint32 n_rows, gint64 now_us);
void tide_lane_queue_push_front_locked(LaneQueue *queue, TideBatch *batch);
/* Inserts @batch after those that may be sent before it. */
void tide_lane_queue_push_back_locked(LaneQueue *queue, TideBatch *batch, gint64 now_us);

G_END_DECLS
