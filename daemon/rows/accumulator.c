#include "rows/accumulator.h"

#include "model/table/dated_table.h"
#include "rows/latest_window.h"
#include "rows/solo_keys.h"
#include "util/clock.h"

/* Most batches of one lane in flight, not counting solo rows: enough to occupy every writer, few enough for a cheap
 * search for a shared key. Beyond it, open rows coalesce. */
#define MAX_IN_FLIGHT 32u

/* Rows of all lanes and tables are sealed in common rounds. A quiet stream's rows leave at once, but at most this
 * often, because a call costs as much as several hundred rows. */
#define ROUND_PAUSE_US (5 * TIDE_US_PER_MS)

#define HOUSEKEEPING_US TIDE_US_PER_S

/* Time per waiting solo row until they are checked again; several times what a check takes. */
#define CHECK_WAITING_US 10

/* Each sealing copies rows that wait for a suspect of their key. While there are any, this is the minimum interval. */
#define SUSPECT_PAUSE_US (100 * TIDE_US_PER_MS)

/* From this many open tables on, dated ones are closed early, because each is looked up repeatedly. */
#define MANY_TABLES 768u

/* Open rows may use this share of the budget, encoded; in memory they take three times as much. The rest is for
 * batches. With a small budget, or many lanes, batches are therefore small, and a call takes several. */
#define OPEN_SHARE 12u
#define LEAST_BATCH_BYTES (64u * 1024)

/* Counters of a declared table; a template counts all its instances. */
typedef struct TableCounters {
  TideCounter *rows_mapped;
  TideCounter *cells_coalesced;
  TideCounter *cells_conflicting;
  TideCounter *cells_overwritten;
} TableCounters;

/* Time from sealing to completion, over several batches. */
typedef struct WriteTimes {
  gint64 sum_us;
  gint64 n_batches;
} WriteTimes;

struct TideAccumulator {
  TideAccumulatorContext context; /* read-only */
  TideTableAccumulatorContext table_context;
  TideTableAccumulator **slots; /* owned array, by table index; NULL: a template, or a dated table without rows */
  GPtrArray *tables;            /* owned (element-type TideTableAccumulator): the non-NULL slots */
  TableCounters *counters;      /* owned array, by the declared table's index */
  GPtrArray *active;            /* (element-type TideLaneBuffer) borrowed: lanes with open rows */
  TideLatestWindow latest_window;
  WriteTimes writes;        /* since the last adaptation */
  gint64 last_tick_seal_us; /* when a tick last sealed lanes */
  guint32 batch_bytes;      /* size of a full lane */
  guint64 generation;       /* of the current region maps */
  gsize n_in_flight;        /* batches in flight, of all lanes */
  TideBatch *sealed;        /* owned, within one call of the accumulator: sealed and not submitted */
  TideBatch **sealed_end;   /* link for the next one */
  TideBatchPool pool;
  gint64 housekeeping_us;
  GArray *findings;        /* (element-type TideFinding) of the last batch judged */
  TideOverwrite overwrite; /* its key: owned */
  GArray *dependents_of;   /* (element-type TideDependents) for each row of the message being appended */
  GPtrArray *lanes_of;     /* (element-type TideLaneBuffer) borrowed: likewise */
  TideDependentRowReader dependent_reader;
};

/* ---- sealing ---- */

static void
send_batches(TideAccumulator *accumulator, TideLaneBuffer *open, TideBatch *first, gint64 now_us)
{
  if (first == NULL)
    return;
  *accumulator->sealed_end = first;
  for (TideBatch *batch = first; batch != NULL; batch = batch->next) {
    batch->completions = accumulator->context.completions;
    batch->sealer.lane_buffer = open;
    batch->times.sealed_us = now_us;
    batch->lane = tide_lane_ref(open->lane);
    tide_lane_buffer_add_in_flight(open, batch);
    accumulator->n_in_flight++;
    accumulator->sealed_end = &batch->next;
  }
}

/* Submits everything sealed together: the writer that it wakes finds small batches of all lanes for one call. */
static void
submit_sealed(TideAccumulator *accumulator)
{
  if (accumulator->sealed == NULL)
    return;
  TideBatch *first = g_steal_pointer(&accumulator->sealed);
  accumulator->sealed_end = &accumulator->sealed;
  tide_lanes_submit(accumulator->context.lanes, first);
}

static TideSealRequest
seal_request(TideAccumulator *accumulator)
{
  const TideBatchConfig *limits = &accumulator->context.config->batch;
  return (TideSealRequest){
      .max_rows = limits->max_rows, .max_bytes = accumulator->batch_bytes, .pool = &accumulator->pool};
}

static void
seal(TideAccumulator *accumulator, TideLaneBuffer *open, gint64 now_us)
{
  TideSealRequest request = seal_request(accumulator);
  g_autoptr(GPtrArray) suspect_batches = tide_lane_buffer_find_suspect_batches(open);
  request.suspect_batches = suspect_batches;
  open->last_seal_us = now_us;
  send_batches(accumulator, open, tide_row_buffer_seal(open->buffer, &request), now_us);
  open->waits_for_suspects = suspect_batches != NULL && !tide_row_buffer_is_empty(open->buffer);
}

static void
seal_solo(TideAccumulator *accumulator, TideLaneBuffer *open, gint64 now_us)
{
  TideSealRequest request = seal_request(accumulator);
  request.merged = open->buffer;
  request.in_flight = open->in_flight;
  TideBatch *batches = tide_row_buffer_seal(open->solo, &request);
  for (TideBatch *batch = batches; batch != NULL; batch = batch->next)
    batch->is_solo = TRUE;
  open->solo_freed = FALSE;
  open->solo_remaining = open->solo->n_rows;
  open->solo_sealed_us = now_us;
  send_batches(accumulator, open, batches, now_us);
}

/* Rows of solo keys are not merged while any is in flight. */
static gboolean
shares_key_in_flight(const TideLaneBuffer *open)
{
  for (const TideBatch *batch = open->in_flight; batch != NULL; batch = batch->sealer.lane_next) {
    if (tide_batch_blocks_its_lane(batch) && tide_row_buffer_shares_keys(open->buffer, batch))
      return TRUE;
  }
  return FALSE;
}

static gboolean
has_suspects_in_flight(const TideLaneBuffer *open)
{
  for (const TideBatch *batch = open->in_flight; batch != NULL; batch = batch->sealer.lane_next)
    if (tide_batch_has_suspects_only(batch))
      return TRUE;
  return FALSE;
}

/* Whether @open has as many batches in flight as allowed, of solo rows or of all others. The two do not wait for each
 * other, since suspects may be retried for minutes and solo batches may be many. */
static gboolean
at_batch_limit(const TideLaneBuffer *open, gboolean of_solo)
{
  if (open->n_in_flight < MAX_IN_FLIGHT)
    return FALSE;
  guint n = 0;
  for (const TideBatch *batch = open->in_flight; batch != NULL; batch = batch->sealer.lane_next)
    n += batch->is_solo == of_solo && !tide_batch_has_suspects_only(batch) ? 1 : 0;
  return n >= MAX_IN_FLIGHT;
}

static gboolean
is_full(const TideAccumulator *accumulator, const TideLaneBuffer *open)
{
  const TideBatchConfig *limits = &accumulator->context.config->batch;
  return open->buffer->n_rows >= limits->max_rows || open->buffer->encoded_bytes >= accumulator->batch_bytes;
}

static void
adapt_batch_bytes(TideAccumulator *accumulator)
{
  const TideConfig *config = accumulator->context.config;
  guint64 open_bytes = tide_budget_limit_racy(accumulator->context.budget) / OPEN_SHARE / config->kafka.threads;
  guint64 lane_bytes = open_bytes / MAX(accumulator->active->len, 1);
  accumulator->batch_bytes = (guint32)MIN(MAX(lane_bytes, LEAST_BATCH_BYTES), config->batch.max_bytes);
}

/* The start of the next round for latest rows, whose window may be set shorter. */
static gint64
next_latest_round_us(const TideAccumulator *accumulator)
{
  return accumulator->last_tick_seal_us + MIN(ROUND_PAUSE_US, accumulator->latest_window.min_us);
}

/* When the open rows of @open should leave, unless something prevents it. */
static gint64
due_us(const TideAccumulator *accumulator, const TideLaneBuffer *open, TidePressure pressure)
{
  const TideBatchConfig *limits = &accumulator->context.config->batch;
  if (pressure == TIDE_PRESSURE_FLUSH)
    return 0;
  if (open->table->latest != TIDE_LATEST_NONE)
    return open->last_seal_us + accumulator->latest_window.us;
  if (is_full(accumulator, open))
    return 0;
  gint64 aged_us = open->buffer->oldest_us + limits->max_age_ms * TIDE_US_PER_MS;
  gboolean is_idle = pressure == TIDE_PRESSURE_IDLE && !tide_lane_buffer_has_merged_in_flight(open);
  return is_idle ? MIN(aged_us, accumulator->last_tick_seal_us + ROUND_PAUSE_US) : aged_us;
}

/* Whether the open rows may leave now without breaking the order. A completing batch, or one with only suspects left,
 * removes the obstacle. */
static gboolean
may_seal(TideLaneBuffer *open, gint64 now_us)
{
  if ((open->waits_for_suspects && now_us < open->last_seal_us + SUSPECT_PAUSE_US) ||
      tide_lane_buffer_waits_for_predecessor(open, FALSE))
    return FALSE;
  if (open->table->latest != TIDE_LATEST_NONE)
    return !tide_lane_buffer_has_merged_in_flight(open);
  if ((open->shares_key && !has_suspects_in_flight(open)) || at_batch_limit(open, FALSE))
    return FALSE;
  open->shares_key = shares_key_in_flight(open);
  return !open->shares_key;
}

/* When the solo rows of @open may leave; G_MAXINT64: not before a batch completes or another row arrives. Each sealing
 * copies the rows that must wait, so the pause grows with their number. */
static gint64
solo_due_us(const TideLaneBuffer *open)
{
  if ((open->solo->n_rows <= open->solo_remaining && !open->solo_freed) || at_batch_limit(open, TRUE) ||
      tide_lane_buffer_waits_for_predecessor(open, TRUE))
    return G_MAXINT64;
  return open->solo_sealed_us + open->solo_remaining * CHECK_WAITING_US;
}

/* Seals @open when it is due. Returns when it will be due; G_MAXINT64: not before a batch completes. */
static gint64
seal_if_due(TideAccumulator *accumulator, TideLaneBuffer *open, TidePressure pressure, gint64 now_us)
{
  gint64 solo_us = tide_row_buffer_is_empty(open->solo) ? G_MAXINT64 : solo_due_us(open);
  if (G_UNLIKELY(solo_us <= now_us)) {
    seal_solo(accumulator, open, now_us);
    solo_us = G_MAXINT64;
  }
  if (tide_row_buffer_is_empty(open->buffer))
    return solo_us;
  gint64 due = due_us(accumulator, open, pressure);
  if (due > now_us)
    return MIN(due, solo_us);
  if (may_seal(open, now_us))
    seal(accumulator, open, now_us);
  return solo_us;
}

static void
take_new_maps(TideAccumulator *accumulator)
{
  guint64 generation = tide_regions_generation_racy(accumulator->context.regions);
  if (generation == accumulator->generation)
    return;
  accumulator->generation = generation;
  for (guint i = 0; i < accumulator->tables->len; i++)
    tide_table_accumulator_refresh_map(g_ptr_array_index(accumulator->tables, i));
}

/* ---- tables ---- */

static TideTableAccumulator *
add_table(TideAccumulator *accumulator, const TideTable *table, gint64 now_us)
{
  const TableCounters *counters =
      &accumulator->counters[table->declared != NULL ? table->declared->index : table->index];
  TideTableAccumulator *open = tide_table_accumulator_new(&accumulator->table_context, table, now_us);
  open->rows_mapped = counters->rows_mapped;
  open->cells_coalesced = counters->cells_coalesced;
  open->cells_conflicting = counters->cells_conflicting;
  open->cells_overwritten = counters->cells_overwritten;
  accumulator->slots[table->index] = open;
  g_ptr_array_add(accumulator->tables, open);
  return open;
}

/* The table at that index. An instance of a dated table is opened with its first row. */
static TideTableAccumulator *
find_table(TideAccumulator *accumulator, guint32 index, gint64 now_us)
{
  TideTableAccumulator *open = accumulator->slots[index];
  if (G_LIKELY(open != NULL))
    return open;
  const TideTable *table = tide_dated_tables_at(accumulator->context.dated, index);
  tide_regions_open(accumulator->context.regions, table);
  return add_table(accumulator, table, now_us);
}

static void
close_table(TideAccumulator *accumulator, TideTableAccumulator *open)
{
  const TideTable *table = open->table;
  accumulator->slots[table->index] = NULL;
  g_ptr_array_remove_fast(accumulator->tables, open); /* frees it */
  tide_regions_close(accumulator->context.regions, table);
}

static void
run_maintenance(TideAccumulator *accumulator, gint64 now_us)
{
  gboolean are_many = accumulator->tables->len >= MANY_TABLES;
  for (guint i = accumulator->tables->len; i-- > 0;) {
    TideTableAccumulator *table = g_ptr_array_index(accumulator->tables, i);
    tide_table_accumulator_run_maintenance(table, now_us);
    tide_rows_in_doubt_expire(table, now_us);
    if (tide_table_accumulator_is_idle(table, are_many, now_us))
      close_table(accumulator, table);
  }
  accumulator->housekeeping_us = now_us + HOUSEKEEPING_US;
}

/* ---- for the consumer ---- */

static void
register_metrics(TideAccumulator *accumulator)
{
  const GPtrArray *tables = accumulator->context.config->tables;
  TideMetrics *metrics = accumulator->context.metrics;
  accumulator->counters = g_new0(TableCounters, tables->len);
  for (guint i = 0; i < tables->len; i++) {
    const TideTable *table = g_ptr_array_index(tables, i);
    g_autofree char *label = tide_metrics_label("table", table->name);
    accumulator->counters[i] = (TableCounters){
        .rows_mapped =
            tide_metrics_counter(metrics, "tidemark_rows_mapped_total", "Rows that readings produced", label),
        .cells_coalesced =
            tide_metrics_counter(metrics, "tidemark_cells_coalesced_total",
                                 "Cells merged in memory with another cell of the same row and column", label),
        .cells_conflicting = tide_metrics_counter(
            metrics, "tidemark_cells_conflicting_total",
            "Cells whose value differs from an earlier cell of the same row, column and time", label),
        .cells_overwritten = tide_metrics_counter(metrics, "tidemark_cells_overwritten_total",
                                                  "Cells of a history table overwritten in memory by another reading: "
                                                  "neither the key nor a column distinguishes the readings",
                                                  label)};
  }
  accumulator->table_context.doubt_overflow = tide_metrics_counter(
      metrics, "tidemark_uncertain_overflow_total",
      "Times the memory for values that an unanswered call may overwrite was full; the partitions are then read again",
      NULL);
  accumulator->table_context.rows_cancelled = tide_metrics_counter(
      metrics, "tidemark_rows_cancelled_total",
      "Rows cancelled because their partition, or another partition in their batch, was revoked", NULL);
}

static void
free_table(gpointer table)
{
  tide_rows_in_doubt_clear(table);
  tide_table_accumulator_free(table);
}

TideAccumulator *
tide_accumulator_new(const TideAccumulatorContext *context)
{
  const GPtrArray *declared = context->config->tables;
  TideAccumulator *accumulator = g_new0(TideAccumulator, 1);
  accumulator->context = *context;
  tide_batch_pool_init(&accumulator->pool, context->budget, context->config->kafka.threads);
  accumulator->sealed_end = &accumulator->sealed;
  accumulator->active = g_ptr_array_new();
  accumulator->lanes_of = g_ptr_array_new();
  accumulator->dependents_of = g_array_new(FALSE, FALSE, sizeof(TideDependents));
  accumulator->generation = tide_regions_generation_racy(context->regions);
  accumulator->table_context =
      (TideTableAccumulatorContext){.regions = context->regions,
                                    .budgets = context->table_budgets,
                                    .protocol = context->protocol,
                                    .active = accumulator->active,
                                    .doubt = context->doubt_budget,
                                    .settle_us = context->config->hbase.settle_ms * TIDE_US_PER_MS};
  accumulator->findings = g_array_new(FALSE, FALSE, sizeof(TideFinding));
  tide_latest_window_init(&accumulator->latest_window, context->config->batch.latest_window_ms * TIDE_US_PER_MS,
                          context->config->batch.latest_window_max_ms * TIDE_US_PER_MS);
  adapt_batch_bytes(accumulator);
  register_metrics(accumulator);
  accumulator->slots = g_new0(TideTableAccumulator *, tide_dated_tables_slots(context->config));
  accumulator->tables = g_ptr_array_new_with_free_func(free_table);
  for (guint i = 0; i < declared->len; i++)
    if (!tide_table_is_template(g_ptr_array_index(declared, i)))
      add_table(accumulator, g_ptr_array_index(declared, i), 0);
  return accumulator;
}

void
tide_accumulator_free(TideAccumulator *accumulator)
{
  if (accumulator == NULL)
    return;
  g_ptr_array_unref(accumulator->tables);
  g_free(accumulator->slots);
  g_free(accumulator->counters);
  tide_batch_pool_clear(&accumulator->pool);
  g_ptr_array_unref(accumulator->active);
  g_ptr_array_unref(accumulator->lanes_of);
  g_array_unref(accumulator->dependents_of);
  g_array_unref(accumulator->findings);
  tide_dependent_row_reader_clear(&accumulator->dependent_reader);
  tide_buffer_clear_memory(&accumulator->overwrite.key);
  g_free(accumulator);
}

/* Records the last row that overwrote another reading's cells. */
static void
note_overwrite(TideAccumulator *accumulator, const TideTableAccumulator *table, const TideRow *row,
               TideSourceRef source, const TideCellsMerged *merged)
{
  TideOverwrite *noted = &accumulator->overwrite;
  noted->table = table->table;
  noted->time_ms = merged->overwritten_ms;
  noted->overwriting = source;
  noted->knows_overwritten = merged->knows_overwritten;
  noted->overwritten = merged->overwritten;
  tide_buffer_reset(&noted->key);
  tide_buffer_append_bytes(&noted->key, row->key);
}

static TideRowBuffer *
add_solo_row(TideTableAccumulator *table, TideLaneBuffer *open, const TideRow *row, TideSourceRef source,
             gint64 mapped_us, guint32 *ret_row_index)
{
  TideRowBuffer *buffer = tide_table_accumulator_open_solo(table, open);
  *ret_row_index = tide_row_buffer_append(buffer, row, source, mapped_us, NULL);
  tide_solo_keys_enter(&table->solo_keys, tide_key_hash(row->key));
  return buffer;
}

/* Adds @row to @open, the lane of its region in @table. Returns its buffer, and its index as @ret_row_index. */
static TideRowBuffer *
add_row(TideAccumulator *accumulator, TideTableAccumulator *table, TideLaneBuffer *open, const TideRow *row,
        TideSourceRef source, gint64 mapped_us, guint32 *ret_row_index)
{
  tide_counter_inc(table->rows_mapped);
  open->last_row_us = mapped_us;
  tide_table_accumulator_activate(table, open);
  if (G_UNLIKELY(tide_solo_keys_contain(&table->solo_keys, row->key)))
    return add_solo_row(table, open, row, source, mapped_us, ret_row_index);
  TideCellsMerged merged;
  TideRowBuffer *buffer = tide_table_accumulator_open_buffer(table, open);
  *ret_row_index = tide_row_buffer_append(buffer, row, source, mapped_us, &merged);
  if (merged.n_merged > 0)
    tide_counter_add(table->cells_coalesced, merged.n_merged);
  if (merged.n_conflicting > 0)
    tide_counter_add(table->cells_conflicting, merged.n_conflicting);
  if (G_UNLIKELY(merged.n_overwriting > 0)) {
    tide_counter_add(table->cells_overwritten, merged.n_overwriting);
    note_overwrite(accumulator, table, row, source, &merged);
  }
  return buffer;
}

static void
seal_if_full(TideAccumulator *accumulator, TideLaneBuffer *open, gint64 now_us)
{
  if (open->table->latest == TIDE_LATEST_NONE && is_full(accumulator, open) && !open->shares_key &&
      may_seal(open, now_us))
    seal(accumulator, open, now_us);
}

/* Finds and prefetches the lanes of all rows that have one; lanes are scattered in memory. */
static TideLaneBuffer *const *
find_lanes(TideAccumulator *accumulator, const TideRow *rows, guint32 n_rows, gint64 now_us)
{
  g_ptr_array_set_size(accumulator->lanes_of, (gint)n_rows);
  TideLaneBuffer **lanes = (TideLaneBuffer **)(void *)accumulator->lanes_of->pdata;
  for (guint32 i = 0; i < n_rows; i++) {
    if (rows[i].follows != 0)
      continue;
    lanes[i] = tide_table_accumulator_find_lane(find_table(accumulator, rows[i].table_index, now_us), rows[i].key);
    tide_prefetch(lanes[i], sizeof *lanes[i]);
  }
  return lanes;
}

const TideOverwrite *
tide_accumulator_overwrite(const TideAccumulator *accumulator)
{
  return G_LIKELY(accumulator->overwrite.table == NULL) ? NULL : &accumulator->overwrite;
}

guint32
tide_accumulator_append_message(TideAccumulator *accumulator, const TideRow *rows, guint32 n_rows, TideSourceRef source,
                                gint64 now_us)
{
  gboolean any_dependent = tide_dependents_link(accumulator->dependents_of, rows, n_rows);
  const TideDependents *dependents = (const TideDependents *)(const void *)accumulator->dependents_of->data;
  TideLaneBuffer *const *lanes = find_lanes(accumulator, rows, n_rows, now_us);
  guint32 crowded = 0;
  accumulator->overwrite.table =
      NULL; /* rows released from dependents are only counted: their messages may have ended */
  for (guint32 i = 0; i < n_rows; i++) {
    if (rows[i].follows != 0)
      continue;
    TideLaneBuffer *open = lanes[i];
    TideTableAccumulator *table = find_table(accumulator, rows[i].table_index, now_us);
    guint32 row_index;
    TideRowBuffer *buffer = add_row(accumulator, table, open, &rows[i], source, now_us, &row_index);
    for (guint32 f = any_dependent ? dependents[i].first : 0; f != 0; f = dependents[f - 1].next)
      tide_row_buffer_add_dependent(buffer, row_index, &rows[f - 1], source);
    seal_if_full(accumulator, open, now_us);
    if (G_UNLIKELY(tide_budget_is_spent_racy(table->budget)))
      crowded = table->table->index + 1;
  }
  submit_sealed(accumulator);
  return crowded;
}

gboolean
tide_accumulator_stop_merging(TideAccumulator *accumulator, const TideBatch *batch, guint32 row, gint64 now_us)
{
  const TideLaneBuffer *open = batch->sealer.lane_buffer;
  return tide_solo_keys_add(&accumulator->slots[open->table->index]->solo_keys,
                            tide_key_hash(tide_batch_row_key(batch, row)), now_us);
}

/* Appends rows that depended on rows of @batch, except on refused ones: an index must not point to those. */
static void
release_dependents(TideAccumulator *accumulator, const TideBatch *batch, gint64 now_us)
{
  gsize offset = 0;
  TideBytes record;
  while ((record = tide_dependent_rows_next_record(&batch->dependents, &offset)).len > 0) {
    if (tide_batch_find_poison(batch, tide_dependent_row_parent(record)) != NULL)
      continue;
    TideDependentRow dependent = tide_dependent_row_read(&accumulator->dependent_reader, record);
    TideTableAccumulator *table = find_table(accumulator, dependent.row.table_index, now_us);
    TideLaneBuffer *open = tide_table_accumulator_find_lane(table, dependent.row.key);
    guint32 row_index;
    (void)add_row(accumulator, table, open, &dependent.row, dependent.source, batch->times.oldest_us, &row_index);
    seal_if_full(accumulator, open, now_us);
  }
  submit_sealed(accumulator);
}

/* Failed batches and solo rows show nothing about the writers' speed. */
static void
note_write(WriteTimes *writes, const TideBatch *batch, gint64 now_us)
{
  if (batch->delivery.attempts > 1 || batch->is_solo)
    return;
  writes->sum_us += now_us - batch->times.sealed_us;
  writes->n_batches++;
}

static gint64
take_write_us(TideAccumulator *accumulator)
{
  WriteTimes writes = accumulator->writes;
  accumulator->writes = (WriteTimes){0};
  if (writes.n_batches > 0)
    return writes.sum_us / writes.n_batches;
  return accumulator->n_in_flight == 0 ? 0 : -1;
}

static void
adapt_latest_window(TideAccumulator *accumulator, TidePressure pressure, gint64 late_us, gint64 now_us)
{
  const TideBatchConfig *limits = &accumulator->context.config->batch;
  TideLoadSigns signs = {
      .more = pressure == TIDE_PRESSURE_NONE, .late_us = late_us, .write_us = take_write_us(accumulator)};
  tide_latest_window_set_bounds(&accumulator->latest_window, limits->latest_window_ms * TIDE_US_PER_MS,
                                limits->latest_window_max_ms * TIDE_US_PER_MS);
  tide_latest_window_adapt(&accumulator->latest_window, &signs, now_us);
}

/* Whether the budget is too short for held consumers to resume. */
static gboolean
is_short(const TideBudget *budget)
{
  return !tide_budget_is_below_racy(budget, TIDE_BUDGET_GO_ON_PERCENT);
}

/* Returns memory of lanes without rows: it is charged, and could stop reading until the lanes count as idle. */
static void
give_memory_back(TideAccumulator *accumulator, gint64 now_us)
{
  for (guint i = 0; i < accumulator->tables->len; i++) {
    TideTableAccumulator *table = g_ptr_array_index(accumulator->tables, i);
    if (is_short(accumulator->context.budget) || is_short(table->budget))
      tide_table_accumulator_give_memory_back(table, now_us);
  }
}

/* Prefetches what sealing the lanes after active[@at] needs, following their pointers step by step. */
static void
prefetch_lanes(const GPtrArray *active, guint at)
{
  if (at >= 6)
    tide_prefetch(g_ptr_array_index(active, at - 6), sizeof(TideLaneBuffer));
  if (at >= 4) {
    const TideLaneBuffer *open = g_ptr_array_index(active, at - 4);
    tide_prefetch(open->buffer, sizeof *open->buffer);
    tide_prefetch(open->lane, sizeof *open->lane);
  }
  if (at >= 2)
    tide_row_buffer_prefetch(((const TideLaneBuffer *)g_ptr_array_index(active, at - 2))->buffer);
}

gint64
tide_accumulator_tick(TideAccumulator *accumulator, TidePressure pressure, gint64 late_us, gint64 now_us)
{
  take_new_maps(accumulator);
  if (now_us >= accumulator->housekeeping_us)
    run_maintenance(accumulator, now_us);
  adapt_latest_window(accumulator, pressure, late_us, now_us);
  adapt_batch_bytes(accumulator);
  gsize in_flight_before = accumulator->n_in_flight;
  gint64 next_us = accumulator->housekeeping_us;
  if (accumulator->active->len > 0)
    next_us = MIN(next_us, tide_latest_window_next_us(&accumulator->latest_window));
  if (pressure != TIDE_PRESSURE_FLUSH && accumulator->active->len > 0 && now_us < next_latest_round_us(accumulator))
    return MIN(next_us, next_latest_round_us(accumulator));
  for (guint i = accumulator->active->len; i-- > 0;) {
    TideLaneBuffer *open = g_ptr_array_index(accumulator->active, i);
    prefetch_lanes(accumulator->active, i);
    next_us = MIN(next_us, seal_if_due(accumulator, open, pressure, now_us));
    if (tide_lane_buffer_has_rows(open))
      continue;
    open->is_active = FALSE;
    tide_table_accumulator_close_buffers(accumulator->slots[open->table->index], open);
    g_ptr_array_remove_index_fast(accumulator->active, i);
  }
  if (accumulator->n_in_flight > in_flight_before)
    accumulator->last_tick_seal_us = now_us;
  submit_sealed(accumulator);
  give_memory_back(accumulator, now_us);
  return next_us;
}

TideJudgement
tide_accumulator_judge(TideAccumulator *accumulator, const TideBatch *batch, const TideDoubt *inherited, gint64 now_us)
{
  const TideLaneBuffer *open = batch->sealer.lane_buffer;
  g_array_set_size(accumulator->findings, 0);
  TideDoubt doubt =
      tide_rows_in_doubt_judge(accumulator->slots[open->table->index], batch, inherited, now_us, accumulator->findings);
  return (TideJudgement){doubt, (const TideFinding *)(gconstpointer)accumulator->findings->data,
                         accumulator->findings->len};
}

void
tide_accumulator_prefetch(const TideBatch *batch)
{
  tide_prefetch(batch->sealer.lane_buffer, sizeof(TideLaneBuffer));
  tide_prefetch(batch->sources.data, 1);
  tide_prefetch(batch->lane, sizeof *batch->lane);
}

void
tide_accumulator_complete(TideAccumulator *accumulator, TideBatch *batch, gint64 now_us)
{
  TideLaneBuffer *open = batch->sealer.lane_buffer;
  TideTableAccumulator *table = accumulator->slots[open->table->index];
  tide_lane_buffer_remove_in_flight(open, batch);
  accumulator->n_in_flight--;
  note_write(&accumulator->writes, batch, now_us);
  open->shares_key = FALSE;
  open->solo_freed = TRUE;
  for (guint32 i = 0; G_UNLIKELY(batch->is_solo) && i < batch->n_rows; i++)
    tide_solo_keys_leave(&table->solo_keys, tide_key_hash(tide_batch_row_key(batch, i)),
                         tide_batch_find_poison(batch, i) != NULL, now_us);
  if (G_UNLIKELY(tide_batch_is_cancelled(batch)))
    tide_counter_add(accumulator->table_context.rows_cancelled, batch->n_rows);
  else
    release_dependents(accumulator, batch, now_us);
  tide_budget_charge(table->budget, -batch->charged_bytes);
  tide_batch_pool_give(&accumulator->pool, batch);
}

gboolean
tide_accumulator_repeat(TideAccumulator *accumulator, const TideRow *rows, guint32 n_rows, gint64 until_us,
                        gint64 now_us)
{
  for (guint32 i = 0; i < n_rows; i++)
    if (!tide_rows_in_doubt_remember(find_table(accumulator, rows[i].table_index, now_us), &rows[i], until_us)) {
      tide_counter_inc(accumulator->table_context.doubt_overflow);
      return FALSE;
    }
  return TRUE;
}

/* ---- revoked partitions ---- */

static gboolean
has_others(const TideBatchSource *sources, gsize n_sources, GHashTable *assignments)
{
  for (gsize i = 0; i < n_sources; i++)
    if (!g_hash_table_contains(assignments, GUINT_TO_POINTER(sources[i].ref.assignment)))
      return TRUE;
  return FALSE;
}

/* Whether some of @sources are not @kept; adds their assignments to @cancelled. */
static gboolean
is_any_lost(const TideBatchSource *sources, gsize n_sources, GHashTable *kept, GHashTable *cancelled)
{
  if (!has_others(sources, n_sources, kept))
    return FALSE;
  for (gsize i = 0; i < n_sources; i++)
    g_hash_table_add(cancelled, GUINT_TO_POINTER(sources[i].ref.assignment));
  return TRUE;
}

/* Cancels open rows of lost partitions. Returns FALSE if @buffer has none. */
static gboolean
cancel_open_rows(TideAccumulator *accumulator, TideRowBuffer *buffer, GHashTable *kept, GHashTable *cancelled)
{
  gsize n_sources;
  const TideBatchSource *sources = tide_row_buffer_sources(buffer, &n_sources);
  if (!is_any_lost(sources, n_sources, kept, cancelled))
    return FALSE;
  tide_counter_add(accumulator->table_context.rows_cancelled, buffer->n_rows);
  return TRUE;
}

static void
cancel_lane(TideAccumulator *accumulator, TideTableAccumulator *table, TideLaneBuffer *open, GHashTable *kept,
            GHashTable *cancelled)
{
  if (open == NULL)
    return;
  for (TideBatch *batch = open->in_flight; batch != NULL; batch = batch->sealer.lane_next) {
    gsize n_sources;
    const TideBatchSource *sources = tide_batch_sources(batch, &n_sources);
    if (!tide_batch_is_cancelled(batch) && is_any_lost(sources, n_sources, kept, cancelled))
      tide_batch_cancel(batch);
  }
  if (cancel_open_rows(accumulator, open->buffer, kept, cancelled))
    tide_row_buffer_clear(open->buffer);
  if (cancel_open_rows(accumulator, open->solo, kept, cancelled)) {
    for (guint32 i = 0; i < open->solo->n_rows; i++)
      tide_solo_keys_leave(&table->solo_keys, tide_row_buffer_row_key_hash(open->solo, i), FALSE, 0);
    tide_row_buffer_clear(open->solo);
  }
  open->shares_key = FALSE;
  open->solo_freed = TRUE;
}

void
tide_accumulator_cancel(TideAccumulator *accumulator, GHashTable *kept, GHashTable *cancelled)
{
  for (guint t = 0; t < accumulator->tables->len; t++) {
    TideTableAccumulator *table = g_ptr_array_index(accumulator->tables, t);
    for (guint32 i = 0; i < table->map->n_lanes; i++)
      cancel_lane(accumulator, table, table->lanes[i], kept, cancelled);
    for (guint i = 0; i < table->retired->len; i++)
      cancel_lane(accumulator, table, g_ptr_array_index(table->retired, i), kept, cancelled);
  }
}

static gboolean
lane_has_others(const TideLaneBuffer *open, GHashTable *assignments)
{
  if (open == NULL)
    return FALSE;
  const TideRowBuffer *sets[] = {open->buffer, open->solo};
  gsize n_sources;
  const TideBatchSource *sources;
  gboolean any = FALSE;
  for (guint s = 0; !any && s < G_N_ELEMENTS(sets); s++) {
    sources = tide_row_buffer_sources(sets[s], &n_sources);
    any = has_others(sources, n_sources, assignments);
  }
  for (const TideBatch *batch = open->in_flight; !any && batch != NULL; batch = batch->sealer.lane_next) {
    sources = tide_batch_sources(batch, &n_sources);
    any = has_others(sources, n_sources, assignments);
  }
  return any;
}

gboolean
tide_accumulator_has_others(const TideAccumulator *accumulator, GHashTable *assignments)
{
  gboolean any = FALSE;
  for (guint t = 0; t < accumulator->tables->len; t++) {
    const TideTableAccumulator *table = g_ptr_array_index(accumulator->tables, t);
    for (guint32 i = 0; !any && i < table->map->n_lanes; i++)
      any = lane_has_others(table->lanes[i], assignments);
    for (guint i = 0; !any && i < table->retired->len; i++)
      any = lane_has_others(g_ptr_array_index(table->retired, i), assignments);
  }
  return any;
}

gboolean
tide_accumulator_is_empty(const TideAccumulator *accumulator)
{
  return accumulator->n_in_flight == 0 && accumulator->active->len == 0;
}

gint64
tide_accumulator_oldest_us(const TideAccumulator *accumulator)
{
  gint64 oldest_us = 0;
  for (guint i = 0; i < accumulator->active->len; i++) {
    const TideLaneBuffer *open = g_ptr_array_index(accumulator->active, i);
    const TideRowBuffer *sets[] = {open->buffer, open->solo};
    for (guint s = 0; s < G_N_ELEMENTS(sets); s++)
      if (sets[s]->oldest_us > 0 && (oldest_us == 0 || sets[s]->oldest_us < oldest_us))
        oldest_us = sets[s]->oldest_us;
  }
  return oldest_us;
}
