#include "rows/table_given_up.h"

typedef struct GivingUp {
  TideTableAccumulator *table;
  TideUnmergedRows *unmerged; /* of open rows; else NULL */
  gint64 now_us;
} GivingUp;

static gboolean
is_gone(TideSourceRef source, gpointer data)
{
  const TideHealHandler *handler = ((const GivingUp *)data)->table->context->heal_handler;
  return handler->is_taken_away(source, handler->data);
}

/* A row of @source's message is given up. */
static void
forget_source(TideSourceRef source, gpointer data)
{
  const GivingUp *giving_up = data;
  const TideHealHandler *handler = giving_up->table->context->heal_handler;
  if (handler->is_owned(source, handler->data))
    handler->forgotten(source, giving_up->now_us, handler->data);
}

static void
let_key_go(guint64 key_hash, gboolean is_apart, gpointer data)
{
  const GivingUp *giving_up = data;
  tide_unmerged_rows_let_go(giving_up->unmerged, giving_up->table, key_hash, is_apart);
}

static void
drop_open_rows(GivingUp *giving_up, TideLaneBuffer *open)
{
  TideDropRequest request = {.is_gone = is_gone, .on_source = forget_source, .data = giving_up};
  guint32 n_merged = tide_row_buffer_drop(open->buffer, &request);
  request.on_row = let_key_go;
  guint32 n_unmerged = tide_row_buffer_drop(open->unmerged, &request);
  open->left_rows = MIN(open->left_rows, open->buffer->n_rows);
  open->left_bytes = MIN(open->left_bytes, open->buffer->encoded_bytes);
  open->shares_key = open->unmerged_wait = FALSE;
  tide_counter_add(giving_up->table->context->rows_given_up, n_merged + n_unmerged);
}

static void
mark_batch(GivingUp *giving_up, TideBatch *batch)
{
  gsize n_sources;
  const TideBatchSource *sources = tide_batch_sources(batch, &n_sources);
  for (gsize i = 0; i < n_sources; i++)
    if (is_gone(sources[i].ref, giving_up))
      tide_batch_give_up(batch, sources[i].row);
}

static void
give_up_lane(GivingUp *giving_up, TideLaneBuffer *open)
{
  if (open == NULL)
    return;
  for (TideBatch *batch = open->on_the_way; batch != NULL; batch = batch->lane_next)
    mark_batch(giving_up, batch);
  drop_open_rows(giving_up, open);
}

void
tide_table_given_up_take(TideTableAccumulator *table, TideUnmergedRows *unmerged, gint64 now_us)
{
  GivingUp giving_up = {table, unmerged, now_us};
  for (guint32 i = 0; i < table->map->n_lanes; i++)
    give_up_lane(&giving_up, table->lanes[i]);
  for (guint i = 0; i < table->retired->len; i++)
    give_up_lane(&giving_up, g_ptr_array_index(table->retired, i));
  tide_heals_give_up(table->heals, now_us);
}

static void
leave_out_sources(GivingUp *giving_up, TideBatch *batch)
{
  gsize n_sources, n_left = 0;
  tide_batch_sources(batch, &n_sources);
  TideBatchSource *sources = (TideBatchSource *)(void *)batch->sources.data;
  for (gsize i = 0; i < n_sources; i++)
    if (tide_batch_is_given_up(batch, sources[i].row))
      forget_source(sources[i].ref, giving_up);
    else
      sources[n_left++] = sources[i];
  batch->sources.len = n_left * sizeof *sources;
}

static void
leave_out_dependents(GivingUp *giving_up, TideBatch *batch)
{
  TideBuffer left = {0};
  gsize offset = 0;
  TideBytes record;
  while ((record = tide_dependent_rows_next_record(&batch->dependents, &offset)).len > 0) {
    guint32 parent = tide_dependent_row_parent(record);
    if (tide_batch_is_given_up(batch, parent))
      forget_source(tide_dependent_row_source(record), giving_up);
    else
      tide_dependent_rows_append_record(&left, record, parent);
  }
  tide_buffer_clear_memory(&batch->dependents);
  batch->dependents = left;
}

void
tide_table_given_up_leave_out(TideTableAccumulator *table, TideBatch *batch, gint64 now_us)
{
  guint32 n_given_up = tide_batch_count_given_up(batch);
  if (G_LIKELY(n_given_up == 0))
    return;
  GivingUp giving_up = {table, NULL, now_us};
  leave_out_sources(&giving_up, batch);
  leave_out_dependents(&giving_up, batch);
  for (guint32 i = 0; i < batch->n_rows; i++)
    if (tide_batch_is_given_up(batch, i))
      tide_batch_pardon(batch, i);
  tide_counter_add(table->context->rows_given_up, n_given_up);
}
