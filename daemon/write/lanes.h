/* The lanes: queues of sealed batches, one for each region, between consumers and writers.
 *
 * A lane is one region of one table. A writer takes a call: the batches of one lane that is due, and with them small
 * batches of other due lanes of the same table until the call is full; a batch of mutations goes alone. A lane has at
 * most so many calls and rows in flight. What failed goes back to the front of its lane and is sent again, the same
 * bytes, for ever; how that is done is so that trouble stays where it is:
 *
 * - A lane whose call failed waits (doubling, with jitter), and is then probed: one batch, alone, and nothing else of
 *   the lane beside it, until a call succeeds. Probes of all lanes together are capped, so that dead regions do not
 * take all writers.
 * - A batch that has only suspects left (bisect.h) waits by itself, and other batches of its lane pass it.
 * - A table has a number of rows for each call below max_rows once larger calls were refused for their size or got no
 *   answer. It is halved when a call was refused for its size and its halves were accepted, and when a second call of
 *   a lane got no answer although much smaller ones of it are accepted. It doubles once an hour.
 * - A call of a table, or of any, waits for the rate that the operator allows, and while the operator has it paused.
 * - A table that takes no rows (it is missing, disabled, closed to us: TIDE_OUTCOME_SUSPEND) is suspended as a whole,
 * with its reason. It is probed with one call of the lane whose call failed so, and goes on when HBase takes that.
 *
 * Threads: any; everything is under one lock, which is taken a few times for each call, never for a row. */
#pragma once

#include "gateway/failure_class.h"
#include "write/batch.h"
#include "write/suspects.h"

G_BEGIN_DECLS

/* Batches joined into one call at the most: the vector of one sendmsg() (IOV_MAX is 1024). */
#define TIDE_CALL_MAX_BATCHES 256

typedef struct TideLanes TideLanes;

typedef struct TideLanesOptions {
  guint32 n_tables;                 /* slots: tables' indexes are below */
  guint32 max_rows;                 /* in a call */
  guint32 max_bytes;                /* encoded, in a call */
  guint32 max_in_flight_per_region; /* calls */
  guint32 max_probes;               /* calls in flight of what is in trouble; 0 is 1 */
  gint64 retry_min_us;
  gint64 retry_max_us;
  guint32 rows_per_second; /* of all tables; 0: not limited. A table's own is read from its declaration */
} TideLanesOptions;

TideLanes *tide_lanes_new(const TideLanesOptions *options);
void tide_lanes_free(TideLanes *lanes); /* after all writers and consumers have ended; NULL ok */

/* Of calls that are taken from now on. */
void tide_lanes_set_call_limits(TideLanes *lanes, guint32 max_rows, guint32 max_bytes);

/* Of calls that are taken from now on. 0: not limited */
void tide_lanes_set_rows_per_second(TideLanes *lanes, guint32 rows_per_second);

/* Pauses or resumes @table and its dated tables, NULL: every table. Calls in flight end as they would; rows wait in
 * their lanes meanwhile. @table: as declared */
void tide_lanes_set_paused(TideLanes *lanes, const TideTable *table, gboolean is_paused);

/* A lane for [@start_key, @end_key) of @table. Ownership: a reference. */
TideLane *tide_lanes_make_lane(TideLanes *lanes, const TideTable *table, TideBytes start_key, TideBytes end_key);

/* What is known of rows that were refused. Borrowed. */
TideSuspects *tide_lanes_suspects(TideLanes *lanes);

/* Hands over @first and all batches linked behind it; each one's lane is set. */
void tide_lanes_submit(TideLanes *lanes, TideBatch *first);

/* What one call carries. */
typedef struct TideCall {
  const TideTable *table;
  TideBatch *batches[TIDE_CALL_MAX_BATCHES]; /* owned until tide_lanes_finish() */
  guint32 n_batches;
  guint32 n_rows;
  gsize n_bytes;
  guint32 max_rows;     /* that may be sent at a time */
  gboolean is_answered; /* bisect.h: the table took or refused something of it, be it a single row */
  /* bisect.h: what its size had to do with how it ended; rows that were sent at a time */
  guint32 taken_rows;     /* the most that were accepted */
  guint32 silent_rows;    /* of several: without an answer; 0: it did not come to that */
  guint32 oversized_rows; /* the fewest that were refused for their size, and no row alone was; 0: none were */
  /* tide_lanes_finish() */
  guint32 rows_before; /* what its table had for max_rows ... */
  guint32 rows_after;  /* ... and has from now on */
  /* the lanes' only */
  gboolean is_probe; /* of what is in trouble */
  gboolean is_probe_of_table;
} TideCall;

typedef enum TideTake { TIDE_TAKE_CALL, TIDE_TAKE_NOTHING, TIDE_TAKE_STOPPED } TideTake;

/* Waits until @deadline_us (monotonic) for a call; writers that wait for others' slow lanes do not exist: any due lane
 * serves any writer. */
TideTake tide_lanes_take(TideLanes *lanes, gint64 deadline_us, TideCall *ret_call);

/* How a call ended: the one place that acts on it. A batch whose rows are all acknowledged or poison completes; others
 * go back. @outcome: for those that have waiting rows left, or have failed; OK: there are none. @error_text: what the
 * gateway or transport said; copied; NULL when OK. @now_us: monotonic. */
void tide_lanes_finish(TideLanes *lanes, TideCall *call, TideOutcome outcome, const char *error_text, gint64 now_us);

/* Nothing of @table is handed out any more; its batches wait in their lanes. @reason: why; copied. Said again, with the
 * same or another reason, the trouble lasts since the first. */
void tide_lanes_block(TideLanes *lanes, const TideTable *table, const char *reason, gint64 now_us);
void tide_lanes_unblock(TideLanes *lanes, const TideTable *table);

/* Nobody has @table open any more, and nothing of it waits or is on its way: it is told of no longer. */
void tide_lanes_close(TideLanes *lanes, const TideTable *table);

/* When other rows showed last that the region of @lane works; 0: they never did, or later ones show that it does not.
 * @lane: of these lanes */
gint64 tide_lanes_worked_us(TideLanes *lanes, const TideLane *lane);

/* Whether what the lanes have is all that comes: @is_final. Then what a region accepted before a row was refused counts
 * against the row, too, for nothing else will show whether it is to blame. */
void tide_lanes_set_final(TideLanes *lanes, gboolean is_final);

/* No more calls are handed out and waiting writers return; batches stay. */
void tide_lanes_stop(TideLanes *lanes);
gboolean tide_lanes_is_stopped(TideLanes *lanes);

/* A lane whose calls keep failing or in which a row is refused, or a table that is blocked or suspended. */
typedef struct TideLaneTrouble {
  const TideTable *table;
  char *region_start;  /* owned, printable */
  char *first_row_key; /* owned, printable */
  char *error_text;    /* owned */
  gint64 since_us;
  guint32 failures;
  guint64 waiting_rows;
  gboolean is_suspended; /* the table is suspended until an operator repairs it */
} TideLaneTrouble;

/* Lanes in trouble since before @before_us, and tables that are suspended; of a table that is suspended all lanes as
 * one. (transfer full) (element-type TideLaneTrouble) */
GPtrArray *tide_lanes_in_trouble(TideLanes *lanes, gint64 before_us);

typedef enum TideStuck {
  TIDE_STUCK_NOT,     /* something else waits, or nothing at all */
  TIDE_STUCK_BUSY,    /* calls run: ask again */
  TIDE_STUCK_REFUSED, /* nothing is left but rows that are refused, and nothing that would show why */
  TIDE_STUCK_SILENT,  /* the same of rows that get no answer, while others do */
} TideStuck;

/* Whether only suspects wait that will stay so unless other rows of their lanes come: each was tried
 * TIDE_SUSPECT_ROUNDS times, the last of them in view of tide_lanes_set_final(). @ret_text: (transfer full): which row
 * of which table, why, and what to do; NULL if not. */
TideStuck tide_lanes_stuck(TideLanes *lanes, char **ret_text);

typedef struct TideLanesState {
  guint64 waiting_rows;
  guint64 in_flight_rows;
  guint32 in_flight_calls;
  guint32 troubled_lanes;
  guint32 narrowed_lanes; /* whose window is not at its widest */
  guint32 in_flight_probes;
  guint32 suspended_tables;
  gboolean is_paced; /* rows wait for the rate of all tables */
  gint64 oldest_us;  /* of all waiting and in flight; 0: none */
} TideLanesState;

TideLanesState tide_lanes_state(TideLanes *lanes);

/* What one lane carries, or one table with all of its lanes. */
typedef struct TideLoad {
  const TideTable *table;
  char *region_start;     /* owned, printable; NULL: of a table */
  double rows_per_second; /* acknowledged, over the last seconds */
  double share;           /* of those of all tables */
  gint64 waiting_rows;
  gint64 in_flight_rows;
  gboolean is_full;       /* rows wait, and no more of it may be in flight */
  gint64 failures;        /* calls in a row; of a table that is stopped, how often that was reported, and of a lane of
                           * it -1 */
  gint64 failing_seconds; /* since the first of them; -1: none failed */
  gint64 troubled_lanes;
  gint64 rows_per_call; /* of a table: at most so many are sent in one call */
  gboolean is_paced;    /* of a table: its rows wait for its own rate */
  char *error_text;     /* owned: what the last of them said; NULL: none failed */
} TideLoad;

void tide_load_clear(TideLoad *load);

/* How many regions tide_lanes_regions() tells of, without those that are in trouble. */
#define TIDE_LANES_HOT 16

/* Each table that has had rows since it was opened. (transfer full) (element-type TideLoad) */
GArray *tide_lanes_tables(TideLanes *lanes, gint64 now_us);
/* Those lanes that carry most, and all that wait or are in trouble, up to @max; those with most rows first.
 * (transfer full) (element-type TideLoad) */
GArray *tide_lanes_regions(TideLanes *lanes, guint max, gint64 now_us);

G_END_DECLS
