/* The lanes: queues of sealed batches, one per region, between consumers and writers.
 *
 * A lane is one region of one table. A writer takes a call: the batches of one due lane, plus small batches of other
 * due lanes of the same table until the call is full; a batch of mutations is sent alone. Each lane has limits for
 * calls and rows in flight. Failed batches return to the front of their lane and are sent again, with the same bytes,
 * until they succeed. These rules keep failures local:
 *
 * - A lane whose call failed waits (doubling, with jitter), then one batch probes it. Nothing else of the lane is sent
 *   until a call succeeds. The number of probes of all lanes is limited, so that dead regions do not occupy all
 *   writers.
 * - A batch with nothing but suspects (bisect.h) waits on its own, and other batches of its lane pass it.
 * - A table gets fewer rows per call than max_rows after larger calls were refused for their size or got no answer. The
 *   number is halved if a call was refused for its size and its halves were accepted, or if a second call of a lane got
 *   no answer while much smaller ones are accepted. It doubles once an hour.
 * - A call waits for the rates that the operator allows, and while the operator has its table paused.
 * - In a process that yields, as `tidemark load` can, calls also wait for those of other processes (yield.h).
 * - A table that accepts no rows (missing, disabled, access denied: TIDE_OUTCOME_SUSPEND) is suspended as a whole. One
 *   call of the lane that failed probes it, and the table resumes when HBase accepts that call.
 *
 * Threads: any; one lock protects everything. It is taken a few times per call, never per row. */
#pragma once

#include "gateway/failure_class.h"
#include "write/batch.h"
#include "write/suspects.h"

G_BEGIN_DECLS

/* Most batches in one call: the vector of one sendmsg() (IOV_MAX is 1024). */
#define TIDE_CALL_MAX_BATCHES 256

typedef struct TideLanes TideLanes;

typedef struct TideLanesOptions {
  guint32 n_tables;                 /* number of slots: all table indexes are below */
  guint32 max_rows;                 /* in a call */
  guint32 max_bytes;                /* encoded, in a call */
  guint32 max_in_flight_per_region; /* calls */
  guint32 max_probes;               /* calls in flight for failing lanes and tables; 0 is 1 */
  gint64 retry_min_us;
  gint64 retry_max_us;
  guint32 rows_per_second; /* of all tables; 0: not limited. A table's own is read from its declaration */
  guint32 yield_gateways;  /* this process yields: gateways have indexes below this; 0: it does not */
  guint32 n_writers;       /* if it yields: those that take calls */
} TideLanesOptions;

TideLanes *tide_lanes_new(const TideLanesOptions *options);
void tide_lanes_free(TideLanes *lanes); /* after all writers and consumers have ended; NULL ok */

/* Applies to calls taken from now on. */
void tide_lanes_set_call_limits(TideLanes *lanes, guint32 max_rows, guint32 max_bytes);

/* Applies to calls taken from now on. 0: no limit */
void tide_lanes_set_rows_per_second(TideLanes *lanes, guint32 rows_per_second);

/* Pauses or resumes @table and its dated tables, or every table if NULL. Calls in flight end as usual; rows wait in
 * their lanes. @table: as declared */
void tide_lanes_set_paused(TideLanes *lanes, const TideTable *table, gboolean is_paused);

/* Creates a lane for [@start_key, @end_key) of @table. Returns a reference. */
TideLane *tide_lanes_make_lane(TideLanes *lanes, const TideTable *table, TideBytes start_key, TideBytes end_key);

/* The evidence about refused rows. (transfer none) */
TideSuspects *tide_lanes_suspects(TideLanes *lanes);

/* Submits @first and all batches linked after it; each has its lane set. */
void tide_lanes_submit(TideLanes *lanes, TideBatch *first);

typedef struct TideCall {
  const TideTable *table;
  TideBatch *batches[TIDE_CALL_MAX_BATCHES]; /* owned until tide_lanes_finish() */
  guint32 n_batches;
  guint32 n_rows;
  gsize n_bytes;
  guint32 max_rows;     /* allowed in one request */
  gboolean is_answered; /* set by bisect.h: the table accepted or refused at least one row of it */
  /* Set by bisect.h: how the call's size affected its result, in rows per request. */
  guint32 taken_rows;     /* the largest number accepted */
  guint32 silent_rows;    /* the number without an answer, if several; 0: none */
  guint32 oversized_rows; /* the smallest number refused for its size, unless a single row was; 0: none */
  /* tide_lanes_finish() */
  guint32 rows_before; /* the table's limit before the call ended ... */
  guint32 rows_after;  /* ... and after */
  /* Private to the lanes. */
  gboolean is_probe; /* of a failing lane or table */
  gboolean is_probe_of_table;
  guint32 gateway;
  gint64 taken_us;
} TideCall;

typedef enum TideTake { TIDE_TAKE_CALL, TIDE_TAKE_NOTHING, TIDE_TAKE_STOPPED } TideTake;

/* Waits until @deadline_us (monotonic) for a call. Any writer may serve any due lane. @gateway: the index of the one
 * that the call will go through */
TideTake tide_lanes_take(TideLanes *lanes, guint32 gateway, gint64 deadline_us, TideCall *ret_call);

/* Ends a call; all consequences are decided here. A batch completes when each of its rows is acknowledged or poison;
 * the others return to their lanes. @outcome: for batches that have waiting rows or have failed; OK: there are none.
 * @error_text: the gateway's or transport's error; copied; NULL if OK. @now_us: monotonic */
void tide_lanes_finish(TideLanes *lanes, TideCall *call, TideOutcome outcome, const char *error_text, gint64 now_us);

/* Stops sending rows of @table; its batches wait in their lanes. @reason: copied. Repeated calls keep the time of the
 * first one. */
void tide_lanes_block(TideLanes *lanes, const TideTable *table, const char *reason, gint64 now_us);
void tide_lanes_unblock(TideLanes *lanes, const TideTable *table);

/* Stops reporting @table: no consumer has it open, and none of its rows is waiting or in flight. */
void tide_lanes_close(TideLanes *lanes, const TideTable *table);

/* When other rows last showed that the region of @lane works; 0: never, or later rows showed the opposite. @lane: of
 * these lanes */
gint64 tide_lanes_worked_us(TideLanes *lanes, const TideLane *lane);

/* @is_final: no more rows will come. Then rows that a region accepted before a refusal count against the refused row
 * too, since no later evidence can come. */
void tide_lanes_set_final(TideLanes *lanes, gboolean is_final);

/* Stops giving out calls and makes waiting writers return; batches remain. */
void tide_lanes_stop(TideLanes *lanes);
gboolean tide_lanes_is_stopped(TideLanes *lanes);

/* A lane whose calls keep failing or that has a refused row, or a blocked or suspended table. */
typedef struct TideLaneFailure {
  const TideTable *table;
  char *region_start;  /* owned, printable */
  char *first_row_key; /* owned, printable */
  char *error_text;    /* owned */
  gint64 since_us;
  guint32 failures;
  guint64 waiting_rows;
  gboolean is_suspended; /* the table is suspended until an operator repairs it */
} TideLaneFailure;

/* Lanes failing since before @before_us, and suspended tables, each with all its lanes as one entry. (transfer full)
 * (element-type TideLaneFailure) */
GPtrArray *tide_lanes_failing(TideLanes *lanes, gint64 before_us);

typedef enum TideStuck {
  TIDE_STUCK_NOT,     /* other rows are waiting, or none */
  TIDE_STUCK_BUSY,    /* calls are in flight: ask again */
  TIDE_STUCK_REFUSED, /* only refused rows are left, and no evidence of the cause will come */
  TIDE_STUCK_SILENT,  /* likewise for rows without an answer, while other rows get one */
} TideStuck;

/* Whether only suspects are left, which stay so unless other rows of their lanes come: each was tried
 * TIDE_SUSPECT_ROUNDS times, the last time under tide_lanes_set_final(). @ret_text: (transfer full): row, table, cause
 * and remedy; NULL if not stuck */
TideStuck tide_lanes_stuck(TideLanes *lanes, char **ret_text);

typedef struct TideLanesState {
  guint64 waiting_rows;
  guint64 in_flight_rows;
  guint32 in_flight_calls;
  guint32 troubled_lanes;
  guint32 narrowed_lanes; /* lanes whose window is not at its widest */
  guint32 in_flight_probes;
  guint32 suspended_tables;
  gboolean is_paced; /* rows wait for the rate of all tables */
  gint64 oldest_us;  /* when the oldest row that waits or is in flight was mapped; 0: there is none */
} TideLanesState;

TideLanesState tide_lanes_state(TideLanes *lanes);

/* The part of the writers' time in which a call was ready and waited, since this process yields. 0: never */
typedef struct TideWaitingShare {
  double recent;  /* over the last seconds */
  double overall; /* since the first call */
} TideWaitingShare;

TideWaitingShare tide_lanes_waiting_share(TideLanes *lanes, gint64 now_us);

/* Load of one lane, or of a table with all its lanes. */
typedef struct TideLoad {
  const TideTable *table;
  char *region_start;     /* owned, printable; NULL: a table */
  double rows_per_second; /* acknowledged, over the last seconds */
  double share;           /* of all tables' rows */
  gint64 waiting_rows;
  gint64 in_flight_rows;
  gboolean is_full;       /* rows wait, and no more may be in flight */
  gint64 failures;        /* failed calls in a row; for a stopped table, reports of it; for a lane of one, -1 */
  gint64 failing_seconds; /* since the first failure; -1: none */
  gint64 troubled_lanes;
  gint64 rows_per_call; /* for a table: its limit per call */
  gboolean is_paced;    /* for a table: its rows wait for its own rate */
  char *error_text;     /* owned: the last failure; NULL: none */
} TideLoad;

void tide_load_clear(TideLoad *load);

/* Regions that tide_lanes_regions() reports, apart from failing ones. */
#define TIDE_LANES_HOT 16

/* Tables that have had rows since they were opened. (transfer full) (element-type TideLoad) */
GArray *tide_lanes_tables(TideLanes *lanes, gint64 now_us);
/* The busiest lanes and all lanes that wait or fail, at most @max, sorted by rows. (transfer full) (element-type
 * TideLoad) */
GArray *tide_lanes_regions(TideLanes *lanes, guint max, gint64 now_us);

G_END_DECLS
