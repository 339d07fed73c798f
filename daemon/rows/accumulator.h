/* A consumer's side of the lanes: its open rows for each lane, when they are sealed, and what is still on its way.
 *
 * When rows leave:
 *   - a data lane: when it holds a call's worth, when its oldest row reaches the maximum age, or when nothing of it but
 *     solo rows is in flight and no more messages are there to be read: at once on a quiet stream, else some
 *     milliseconds after lanes were last sealed (so the one has no delay, and a busy one big calls, however many its
 *     lanes);
 *   - a latest lane: when nothing of it is in flight, but for solo rows, and the coalescing window since its last
 *     sealing has passed (latest_window.h). So there are at most two versions of a latest row, one in flight
 *     and one open, and the slower HBase is, the more is coalesced;
 *   - those of all lanes and tables in rounds, some milliseconds apart: a call is begun for the rows of many lanes, not
 *     for each lane as its time comes. Only full calls go between, and all that is flushed.
 *
 * What keeps order where order counts (the same row, column and time with another value):
 *   - a row is not sealed while a batch with its key is in flight; the row buffer goes on taking rows meanwhile;
 *   - after a call of unknown outcome, a row that writes another value over one of its cells is contested, and its
 *     messages are read again when the settle time has passed (docs/internals.md: equal times);
 *   - when regions change, a new lane waits for old lanes that overlap it;
 *   - rows of solo keys, each of one message (solo_keys.h), follow the merged row of their key, and wait for one of
 *     their key and time that is in flight; those that give one cell different values are sent one after the other;
 *   - a row that follows another (an index cell) is kept with it, and goes to its own lane when that row's batch has
 *     completed;
 *   - when a partition is taken away, its rows that were not sent yet are cancelled.
 *
 * An instance of a dated table takes part from its first row until it had none for an hour, or for a second while
 * many are open.
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
  TideBudget *doubt_budget;  /* share of budget for cells in doubt and contested ones */
  TideLanes *lanes;
  TideRegions *regions;
  TideDatedTables *dated;
  TideCompletionQueue *completions; /* where this consumer's batches go when completed */
  TideMetrics *metrics;
} TideAccumulatorContext;

TideAccumulator *tide_accumulator_new(const TideAccumulatorContext *context);
void tide_accumulator_free(TideAccumulator *accumulator);

/* Adds the rows of one message, of @source, to their tables' lanes; those that follow another are kept with it. Seals
 * the lanes which that filled. The rows' table_index is the slot of a table that exists. Returns: 1 + the place of a
 * table that now holds more than its share of the budget; 0: none does. */
guint32 tide_accumulator_append_message(TideAccumulator *accumulator, const TideRow *rows, guint32 n_rows,
                                        TideSourceRef source, gint64 now_us);

/* A row that gave cells of another reading another value, in a history table. */
typedef struct TideOverwrite {
  const TideTable *table; /* borrowed */
  TideBuffer key;         /* borrowed */
  gint64 time_ms;         /* of the cells */
  TideSourceRef overwriting;
  gboolean knows_overwritten; /* if so, the message of the other reading, unfinished, is */
  TideSourceRef overwritten;
} TideOverwrite;

/* The last overwrite of the message that was appended last, until the next one; NULL: it overwrote nothing. */
const TideOverwrite *tide_accumulator_overwrite(const TideAccumulator *accumulator);

/* HBase refused row @row of @batch, which several messages made. For ten minutes rows of its key do not merge, so that
 * when their partitions are read again each of these rows is of one message, and the next that is refused names it.
 * Returns: TRUE: the table has too many such keys, and none of its rows merges from now on. */
gboolean tide_accumulator_stop_merging(TideAccumulator *accumulator, const TideBatch *batch, guint32 row,
                                       gint64 now_us);

typedef enum TidePressure {
  TIDE_PRESSURE_NONE,  /* messages keep coming */
  TIDE_PRESSURE_IDLE,  /* nothing more to read right now */
  TIDE_PRESSURE_FLUSH, /* memory is spent, a partition is revoked, or the program stops: seal all that may be */
} TidePressure;

/* Seals what is due, takes new region maps, drops idle lanes' memory. @late_us: how old the newest message read is, by
 * its record's time; G_MAXINT64: it has none. Returns when to come again at the latest. */
gint64 tide_accumulator_tick(TideAccumulator *accumulator, TidePressure pressure, gint64 late_us, gint64 now_us);

/* Before @batch's sources are marked: what its completion means for them.
 * @inherited: (nullable): by row: what owners before us left in doubt of its partitions */
TideJudgement tide_accumulator_judge(TideAccumulator *accumulator, const TideBatch *batch, const TideDoubt *inherited,
                                     gint64 now_us);

/* @batch is to be judged and completed next: asks for what that takes. */
void tide_accumulator_prefetch(const TideBatch *batch);

/* @batch was acknowledged and its sources are marked: takes it out of its lane, appends what followed its rows (but
 * for those that are poison), and keeps it for the next use. */
void tide_accumulator_complete(TideAccumulator *accumulator, TideBatch *batch, gint64 now_us);

/* The rows of a message are about to be appended that an owner before us may have sent: they may land once more until
 * @until_us. FALSE: there is no room to remember that. */
gboolean tide_accumulator_repeat(TideAccumulator *accumulator, const TideRow *rows, guint32 n_rows, gint64 until_us,
                                 gint64 now_us) G_GNUC_WARN_UNUSED_RESULT;

/* Partitions were taken away. What holds a row of theirs, open or in a batch, is not sent any more, but for calls that
 * are under way; whoever has them now writes newer values. A batch that is cancelled blocks its keys until it
 * completes, and is not acknowledged, whatever became of it.
 * @kept: set of the assignments, as in TideSourceRef, whose partitions were not taken away
 * @cancelled: set: gets the assignments that had rows there */
void tide_accumulator_cancel(TideAccumulator *accumulator, GHashTable *kept, GHashTable *cancelled);

/* Whether a row that is open or on its way is of another assignment than these. */
gboolean tide_accumulator_has_others(const TideAccumulator *accumulator, GHashTable *assignments);

/* Rows that are not acknowledged: open, or on their way. */
gboolean tide_accumulator_is_empty(const TideAccumulator *accumulator);

/* When the oldest open row was mapped; 0: there is none. */
gint64 tide_accumulator_oldest_us(const TideAccumulator *accumulator);

G_END_DECLS
