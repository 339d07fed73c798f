#include "rows/table_accumulator.h"

#include "util/clock.h"

/* Time until a lane without rows returns its memory. */
#define IDLE_MEMORY_US (5 * TIDE_US_PER_S)

/* The same while memory is short: longer than lanes wait for rows on a busy stream, shorter than consumers hold. */
#define SHORT_IDLE_MEMORY_US (20 * TIDE_US_PER_MS)

/* Number of different end times stored within one settle time. */
#define SETTLE_STEPS 128

/* Time until a dated table without rows is closed: late readings arrive within an hour, if at all. */
#define IDLE_TABLE_US (3600 * TIDE_US_PER_S)

/* The same while many are open. */
#define SHORT_IDLE_TABLE_US TIDE_US_PER_S

static TideLaneBuffer *
lane_new(TideTableAccumulator *table, TideLane *lane)
{
  TideLaneBuffer *open = g_new0(TideLaneBuffer, 1);
  open->lane = tide_lane_ref(lane);
  open->table = table->table;
  open->buffer = open->solo = &table->spares.none;
  return open;
}

static TideMergeRule
merge_rule(const TideTableAccumulator *table)
{
  return table->table->latest == TIDE_LATEST_NONE ? TIDE_MERGE_ALL : TIDE_MERGE_NEWEST;
}

TideRowBuffer *
tide_table_accumulator_open_buffer(TideTableAccumulator *table, TideLaneBuffer *lane)
{
  tide_spare_buffers_lend(&table->spares, &lane->buffer, merge_rule(table));
  return lane->buffer;
}

TideRowBuffer *
tide_table_accumulator_open_solo(TideTableAccumulator *table, TideLaneBuffer *lane)
{
  tide_spare_buffers_lend(&table->spares, &lane->solo, TIDE_MERGE_NONE);
  return lane->solo;
}

void
tide_table_accumulator_close_buffers(TideTableAccumulator *table, TideLaneBuffer *lane)
{
  if (tide_spare_buffers_is_small(lane->buffer))
    tide_spare_buffers_take_back(&table->spares, &lane->buffer);
  tide_spare_buffers_take_back(&table->spares, &lane->solo);
}

void
tide_table_accumulator_activate(TideTableAccumulator *table, TideLaneBuffer *lane)
{
  if (lane->is_active)
    return;
  lane->is_active = TRUE;
  g_ptr_array_add(table->context->active, lane);
}

static void
lane_free(TideTableAccumulator *table, TideLaneBuffer *open)
{
  if (open == NULL)
    return;
  tide_spare_buffers_take_back(&table->spares, &open->buffer);
  tide_spare_buffers_take_back(&table->spares, &open->solo);
  g_clear_pointer(&open->predecessors, g_ptr_array_unref);
  tide_lane_unref(open->lane);
  g_free(open);
}

void
tide_lane_buffer_add_in_flight(TideLaneBuffer *lane, TideBatch *batch)
{
  batch->sealer.lane_next = lane->in_flight;
  batch->sealer.lane_link = &lane->in_flight;
  if (batch->sealer.lane_next != NULL)
    batch->sealer.lane_next->sealer.lane_link = &batch->sealer.lane_next;
  lane->in_flight = batch;
  lane->n_in_flight++;
}

void
tide_lane_buffer_remove_in_flight(TideLaneBuffer *lane, TideBatch *batch)
{
  *batch->sealer.lane_link = batch->sealer.lane_next;
  if (batch->sealer.lane_next != NULL)
    batch->sealer.lane_next->sealer.lane_link = batch->sealer.lane_link;
  lane->n_in_flight--;
}

gboolean
tide_lane_buffer_has_merged_in_flight(const TideLaneBuffer *lane)
{
  for (const TideBatch *batch = lane->in_flight; batch != NULL; batch = batch->sealer.lane_next)
    if (tide_batch_blocks_its_lane(batch))
      return TRUE;
  return FALSE;
}

/* @batches: NULL: none found yet, as in nearly every sealing. Returns @batches with those of @lane added. */
static GPtrArray *
add_suspect_batches(const TideLaneBuffer *lane, GPtrArray *batches)
{
  for (TideBatch *batch = lane->in_flight; batch != NULL; batch = batch->sealer.lane_next) {
    if (batch->is_solo || tide_batch_blocks_its_lane(batch))
      continue;
    batches = batches != NULL ? batches : g_ptr_array_new();
    g_ptr_array_add(batches, batch);
  }
  return batches;
}

GPtrArray *
tide_lane_buffer_find_suspect_batches(const TideLaneBuffer *lane)
{
  GPtrArray *batches = add_suspect_batches(lane, NULL);
  for (guint i = 0; lane->predecessors != NULL && i < lane->predecessors->len; i++)
    batches = add_suspect_batches(g_ptr_array_index(lane->predecessors, i), batches);
  return batches;
}

gboolean
tide_lane_buffer_waits_for_predecessor(const TideLaneBuffer *lane, gboolean of_solo)
{
  for (guint i = 0; lane->predecessors != NULL && i < lane->predecessors->len; i++) {
    const TideLaneBuffer *predecessor = g_ptr_array_index(lane->predecessors, i);
    if (of_solo ? tide_lane_buffer_has_rows(predecessor) || predecessor->n_in_flight > 0
                : !tide_row_buffer_is_empty(predecessor->buffer) || tide_lane_buffer_has_merged_in_flight(predecessor))
      return TRUE;
  }
  return FALSE;
}

TideLaneBuffer *
tide_table_accumulator_find_lane(TideTableAccumulator *table, TideBytes key)
{
  guint32 index = tide_region_map_find(table->map, key);
  if (table->lanes[index] == NULL)
    table->lanes[index] = lane_new(table, table->map->lanes[index]);
  return table->lanes[index];
}

static gboolean
ranges_overlap(const TideLane *a, const TideLane *b)
{
  TideBytes a_end = a->end_key, b_end = b->end_key;
  return (b_end.len == 0 || tide_bytes_compare(a->start_key, b_end) < 0) &&
         (a_end.len == 0 || tide_bytes_compare(b->start_key, a_end) < 0);
}

static void
add_predecessors(const TideTableAccumulator *table, TideLaneBuffer *open)
{
  for (guint i = 0; i < table->retired->len; i++) {
    TideLaneBuffer *retired = g_ptr_array_index(table->retired, i);
    if (!ranges_overlap(open->lane, retired->lane))
      continue;
    if (open->predecessors == NULL)
      open->predecessors = g_ptr_array_new();
    g_ptr_array_add(open->predecessors, retired);
  }
}

static void
adopt_map(TideTableAccumulator *table, TideRegionMap *map)
{
  TideLaneBuffer **before = table->lanes;
  guint32 n_before = table->map->n_lanes;
  table->lanes = g_new0(TideLaneBuffer *, map->n_lanes);
  for (guint32 i = 0; i < n_before; i++) {
    TideLaneBuffer *open = before[i];
    if (open == NULL)
      continue;
    guint32 slot = tide_region_map_find(map, open->lane->start_key);
    if (map->lanes[slot] == open->lane)
      table->lanes[slot] = open;
    else
      g_ptr_array_add(table->retired, open);
  }
  /* A new lane must wait for an overlapping old one with rows, so it is created now. */
  for (guint32 i = 0; i < map->n_lanes && table->retired->len > 0; i++) {
    if (table->lanes[i] != NULL)
      continue;
    table->lanes[i] = lane_new(table, map->lanes[i]);
    add_predecessors(table, table->lanes[i]);
  }
  g_free(before);
  tide_region_map_unref(table->map);
  table->map = map;
}

void
tide_table_accumulator_refresh_map(TideTableAccumulator *table)
{
  TideRegionMap *map = tide_regions_get(table->context->regions, table->table);
  if (map == table->map)
    tide_region_map_unref(map);
  else
    adopt_map(table, map);
}

static void
forget_predecessor(const TideTableAccumulator *table, TideLaneBuffer *gone)
{
  for (guint32 i = 0; i < table->map->n_lanes; i++)
    if (table->lanes[i] != NULL && table->lanes[i]->predecessors != NULL)
      g_ptr_array_remove_fast(table->lanes[i]->predecessors, gone);
  for (guint i = 0; i < table->retired->len; i++) {
    TideLaneBuffer *retired = g_ptr_array_index(table->retired, i);
    if (retired->predecessors != NULL)
      g_ptr_array_remove_fast(retired->predecessors, gone);
  }
}

static void
drop_empty_retired(TideTableAccumulator *table)
{
  for (guint i = table->retired->len; i-- > 0;) {
    TideLaneBuffer *retired = g_ptr_array_index(table->retired, i);
    if (tide_lane_buffer_has_rows(retired) || retired->n_in_flight > 0)
      continue;
    forget_predecessor(table, retired);
    if (retired->is_active)
      g_ptr_array_remove_fast(table->context->active, retired);
    g_ptr_array_remove_index_fast(table->retired, i);
    lane_free(table, retired);
  }
}

static gint64
lane_sealed_us(const TideLaneBuffer *lane)
{
  gint64 oldest_us = G_MAXINT64;
  for (const TideBatch *batch = lane != NULL ? lane->in_flight : NULL; batch != NULL; batch = batch->sealer.lane_next)
    oldest_us = MIN(oldest_us, batch->times.sealed_us);
  return oldest_us;
}

/* When the oldest batch in flight was sealed; G_MAXINT64: none. */
static gint64
oldest_sealed_us(const TideTableAccumulator *table)
{
  gint64 oldest_us = G_MAXINT64;
  for (guint32 i = 0; i < table->map->n_lanes; i++)
    oldest_us = MIN(oldest_us, lane_sealed_us(table->lanes[i]));
  for (guint i = 0; i < table->retired->len; i++)
    oldest_us = MIN(oldest_us, lane_sealed_us(g_ptr_array_index(table->retired, i)));
  return oldest_us;
}

static void
drop_idle_memory(TideTableAccumulator *table, gint64 idle_us, gint64 now_us)
{
  for (guint32 i = 0; i < table->map->n_lanes; i++) {
    TideLaneBuffer *open = table->lanes[i];
    if (open == NULL)
      continue;
    table->last_row_us = MAX(table->last_row_us, open->last_row_us);
    if (tide_lane_buffer_has_rows(open) || now_us - open->last_row_us < idle_us)
      continue;
    tide_spare_buffers_take_back(&table->spares, &open->buffer);
  }
}

void
tide_table_accumulator_run_maintenance(TideTableAccumulator *table, gint64 now_us)
{
  drop_empty_retired(table);
  drop_idle_memory(table, IDLE_MEMORY_US, now_us);
  tide_spare_buffers_run_maintenance(&table->spares, IDLE_MEMORY_US, now_us);
  tide_solo_keys_expire(&table->solo_keys, now_us);
  if (!tide_cells_in_doubt_is_empty(table->in_doubt))
    tide_cells_in_doubt_expire(table->in_doubt, MIN(now_us, oldest_sealed_us(table)));
}

void
tide_table_accumulator_give_memory_back(TideTableAccumulator *table, gint64 now_us)
{
  drop_idle_memory(table, SHORT_IDLE_MEMORY_US, now_us);
  tide_spare_buffers_run_maintenance(&table->spares, SHORT_IDLE_MEMORY_US, now_us);
}

gboolean
tide_table_accumulator_is_idle(const TideTableAccumulator *table, gboolean are_many, gint64 now_us)
{
  gint64 idle_us = are_many ? SHORT_IDLE_TABLE_US : IDLE_TABLE_US;
  if (table->table->declared == NULL || now_us - table->last_row_us < idle_us || table->retired->len > 0 ||
      !tide_cells_in_doubt_is_empty(table->in_doubt) || g_hash_table_size(table->contested) > 0 ||
      table->solo_keys.until_us != NULL)
    return FALSE;
  for (guint32 i = 0; i < table->map->n_lanes; i++)
    if (table->lanes[i] != NULL && (tide_lane_buffer_has_rows(table->lanes[i]) || table->lanes[i]->n_in_flight > 0))
      return FALSE;
  return TRUE;
}

TideTableAccumulator *
tide_table_accumulator_new(const TideTableAccumulatorContext *context, const TideTable *table, gint64 now_us)
{
  TideTableAccumulator *open = g_new0(TideTableAccumulator, 1);
  open->context = context;
  open->table = table;
  open->budget = &context->budgets[table->index];
  open->map = tide_regions_get(context->regions, table);
  open->lanes = g_new0(TideLaneBuffer *, open->map->n_lanes);
  tide_spare_buffers_init(&open->spares, open->budget, context->protocol, table->families);
  open->retired = g_ptr_array_new();
  open->in_doubt = tide_cells_in_doubt_new(context->doubt, context->settle_us / SETTLE_STEPS);
  open->contested = g_hash_table_new(NULL, NULL);
  open->contested_rows = g_sequence_new(NULL);
  open->last_row_us = now_us;
  return open;
}

static void
free_lane(TideTableAccumulator *table, TideLaneBuffer *lane)
{
  if (lane != NULL && lane->is_active)
    g_ptr_array_remove_fast(table->context->active, lane);
  lane_free(table, lane);
}

void
tide_table_accumulator_free(TideTableAccumulator *table)
{
  if (table == NULL)
    return;
  for (guint32 i = 0; i < table->map->n_lanes; i++)
    free_lane(table, table->lanes[i]);
  for (guint i = 0; i < table->retired->len; i++)
    free_lane(table, g_ptr_array_index(table->retired, i));
  g_free(table->lanes);
  g_ptr_array_unref(table->retired);
  tide_spare_buffers_clear(&table->spares);
  tide_region_map_unref(table->map);
  tide_cells_in_doubt_free(table->in_doubt);
  g_hash_table_unref(table->contested);
  g_sequence_free(table->contested_rows);
  tide_solo_keys_clear(&table->solo_keys);
  g_free(table);
}
