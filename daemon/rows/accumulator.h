/* A consumer's side of the lanes: the open rows of each lane, the rules for sealing them, and the batches in flight.
 *
 * When rows leave:
 *   - a data lane: when it contains a full call, when its oldest row reaches the maximum age, or when only solo rows of
 * it are in flight and no more messages are available. On a quiet stream that is at once, otherwise some milliseconds
 * after the last sealing, so that a quiet stream has no delay and a busy one large calls, whatever the number of lanes;
 *   - a latest lane: when only solo rows of it are in flight and the coalescing window since its last sealing has
 * passed (latest_window.h). At most two versions of a latest row exist, one in flight and one open. The slower HBase
 * is, the more is coalesced;
 *   - all lanes and tables in common rounds, some milliseconds apart, so that one call takes the rows of many lanes.
 * Only full calls and flushes happen in between.
 *
 * What preserves order where it matters (the same row, column and time with another value):
 *   - a row is not sealed while a batch with its key is in flight; the row buffer continues to take rows;
 *   - after a call with an uncertain outcome, a row that gives one of its cells another value is contested. Its
 * messages are read again after the settle time (docs/internals.md: equal times);
 *   - when regions change, a new lane waits for overlapping old lanes;
 *   - rows of solo keys, each of one message (solo_keys.h), follow the merged row of their key, and wait for one of
 * their key and time in flight; those that give a cell different values are sent one after another;
 *   - a dependent row (an index cell) is stored with the row that it follows, and moves to its own lane when that row's
 * batch has completed;
 *   - when a partition is revoked, its unsent rows are cancelled.
 *
 * An instance of a dated table is open from its first row until it had none for an hour, or for a second while many are
 * open.
 *
 * Threads: the owning consumer's only. */
#pragma once

#include "rows/row_buffer.h"
#include "rows/rows_in_doubt.h"
#include "tables/dated_tables.h"
#include "write/regions.h"

G_BEGIN_DECLS

typedef struct TideAccumulator TideAccumulator;

typedef struct TideAccumulatorContext {
  const TideConfig *config; /* borrowed, all */
  TideWireProtocol protocol;
  TideBudget *budget;
  TideBudget *table_budgets; /* shares of budget, by table slot */
  TideBudget *doubt_budget;  /* share of budget for uncertain and contested cells */
  TideLanes *lanes;
  TideRegions *regions;
  TideDatedTables *dated;
  TideCompletionQueue *completions; /* receives this consumer's completed batches */
  TideMetrics *metrics;
} TideAccumulatorContext;

TideAccumulator *tide_accumulator_new(const TideAccumulatorContext *context);
void tide_accumulator_free(TideAccumulator *accumulator);

/* Adds the rows of one message, @source, to their tables' lanes; dependent rows are stored with the rows they follow.
 * Seals lanes that are full. Each row's table_index is the slot of an existing table. Returns 1 + the slot of a table
 * that now exceeds its share of the budget; 0: none. */
guint32 tide_accumulator_append_message(TideAccumulator *accumulator, const TideRow *rows, guint32 n_rows,
                                        TideSourceRef source, gint64 now_us);

/* A row of a history table that gave cells of another reading another value. */
typedef struct TideOverwrite {
  const TideTable *table; /* borrowed */
  TideBuffer key;         /* borrowed */
  gint64 time_ms;         /* of the cells */
  TideSourceRef overwriting;
  gboolean knows_overwritten; /* whether overwritten, the unfinished message of the other reading, is set */
  TideSourceRef overwritten;
} TideOverwrite;

/* The last overwrite by the last appended message, valid until the next one; NULL: none. */
const TideOverwrite *tide_accumulator_overwrite(const TideAccumulator *accumulator);

/* HBase refused @row of @batch, which several messages made. For ten minutes rows of its key are not merged. When their
 * partitions are read again, each row then belongs to one message, and the next refusal identifies it. Returns TRUE if
 * the table has too many such keys and none of its rows is merged from now on. */
gboolean tide_accumulator_stop_merging(TideAccumulator *accumulator, const TideBatch *batch, guint32 row,
                                       gint64 now_us);

typedef enum TidePressure {
  TIDE_PRESSURE_NONE,  /* more messages are available */
  TIDE_PRESSURE_IDLE,  /* no message is available right now */
  TIDE_PRESSURE_FLUSH, /* memory is spent, a partition is revoked, or the program stops: seal everything possible */
} TidePressure;

/* Seals what is due, takes new region maps, returns memory of idle lanes. @late_us: age of the newest message read, by
 * its record time; G_MAXINT64: none. Returns when to call again at the latest. */
gint64 tide_accumulator_tick(TideAccumulator *accumulator, TidePressure pressure, gint64 late_us, gint64 now_us);

/* Evaluates the completion of @batch, before its sources are marked.
 * @inherited: (nullable): by row: writes of earlier owners of its partitions that are uncertain */
TideJudgement tide_accumulator_judge(TideAccumulator *accumulator, const TideBatch *batch, const TideDoubt *inherited,
                                     gint64 now_us);

/* Prefetches what judging and completing @batch needs. */
void tide_accumulator_prefetch(const TideBatch *batch);

/* Completes an acknowledged @batch whose sources are marked: removes it from its lane, appends rows that depended on
 * its rows (except on poison), and keeps it for reuse. */
void tide_accumulator_complete(TideAccumulator *accumulator, TideBatch *batch, gint64 now_us);

/* Announces rows that an earlier owner may have sent and that may land again until @until_us; they are appended next.
 * Returns FALSE if there is no room to remember them. */
gboolean tide_accumulator_repeat(TideAccumulator *accumulator, const TideRow *rows, guint32 n_rows, gint64 until_us,
                                 gint64 now_us) G_GNUC_WARN_UNUSED_RESULT;

/* Cancels rows of revoked partitions. An open row or a batch with such a row is not sent, unless its call is in flight,
 * because the new owner writes newer values. A cancelled batch blocks its keys until it completes, and is never
 * acknowledged.
 * @kept: set of assignments, as in TideSourceRef, of partitions that were not revoked
 * @cancelled: set that receives the assignments with cancelled rows */
void tide_accumulator_cancel(TideAccumulator *accumulator, GHashTable *kept, GHashTable *cancelled);

/* Whether an open row, or one in flight, is of an assignment outside the set. */
gboolean tide_accumulator_has_others(const TideAccumulator *accumulator, GHashTable *assignments);

/* Whether no row is open or in flight. */
gboolean tide_accumulator_is_empty(const TideAccumulator *accumulator);

/* When the oldest open row was mapped; 0: no row is open. */
gint64 tide_accumulator_oldest_us(const TideAccumulator *accumulator);

G_END_DECLS
