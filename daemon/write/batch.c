#include "write/batch.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

TideBatch *
tide_batch_new(void)
{
  return g_new0(TideBatch, 1);
}

static void
free_texts(TideBatch *batch)
{
  gsize n;
  g_free(batch->delivery.text);
  const TideBatchPoison *poison = tide_batch_poison(batch, &n);
  for (gsize i = 0; i < n; i++)
    g_free(poison[i].text);
}

void
tide_batch_free(TideBatch *batch)
{
  if (batch == NULL)
    return;
  tide_lane_unref(batch->lane);
  tide_buffer_clear_memory(&batch->wire);
  tide_buffer_clear_memory(&batch->rows);
  tide_buffer_clear_memory(&batch->sources);
  tide_buffer_clear_memory(&batch->key_set);
  tide_buffer_clear_memory(&batch->dependents);
  free_texts(batch);
  tide_buffer_clear_memory(&batch->delivery.poison);
  tide_buffer_clear_memory(&batch->delivery.states);
  g_free(batch);
}

void
tide_batch_reset(TideBatch *batch)
{
  tide_lane_unref(batch->lane);
  free_texts(batch);
  TideBatch empty = {.wire = batch->wire,
                     .rows = batch->rows,
                     .sources = batch->sources,
                     .key_set = batch->key_set,
                     .dependents = batch->dependents,
                     .delivery = {.poison = batch->delivery.poison, .states = batch->delivery.states}};
  empty.wire.len = empty.rows.len = empty.sources.len = empty.key_set.len = empty.dependents.len = 0;
  empty.delivery.poison.len = empty.delivery.states.len = 0;
  *batch = empty;
}

void
tide_batch_set_row_state(TideBatch *batch, guint32 row, TideRowState state)
{
  TideBuffer *states = &batch->delivery.states;
  if (states->len == 0) {
    memset(tide_buffer_reserve(states, batch->n_rows), TIDE_ROW_WAITING, batch->n_rows);
    states->len = batch->n_rows;
  }
  states->data[row] = (guint8)state;
}

guint32
tide_batch_find_state(const TideBatch *batch, TideRowState state, guint32 first, guint32 end)
{
  if (batch->delivery.states.len == 0)
    return state == TIDE_ROW_WAITING ? first : end;
  while (first < end && batch->delivery.states.data[first] != state)
    first++;
  return first;
}

void
tide_batch_add_poison(TideBatch *batch, guint32 row, guint32 attempts, const char *text)
{
  TideBatchPoison added = {.row = row, .attempts = attempts, .text = g_strdup(text)};
  TideBuffer *list = &batch->delivery.poison;
  tide_buffer_append(list, &added, sizeof added);
  /* Rows mostly arrive in order. */
  TideBatchPoison *poison = (TideBatchPoison *)(void *)list->data;
  for (gsize i = list->len / sizeof added - 1; i > 0 && poison[i - 1].row > row; i--) {
    poison[i] = poison[i - 1];
    poison[i - 1] = added;
  }
}

static int
compare_row(const void *row, const void *poison)
{
  guint32 wanted = *(const guint32 *)row, at = ((const TideBatchPoison *)poison)->row;
  return wanted < at ? -1 : wanted > at;
}

const TideBatchPoison *
tide_batch_find_poison(const TideBatch *batch, guint32 row)
{
  gsize n_poison;
  const TideBatchPoison *poison = tide_batch_poison(batch, &n_poison);
  return n_poison > 0 ? bsearch(&row, poison, n_poison, sizeof *poison, compare_row) : NULL;
}

TideBytes
tide_batch_row_key(const TideBatch *batch, guint32 row)
{
  const TideBatchRow *at = &tide_batch_rows(batch)[row];
  return tide_bytes(batch->wire.data + at->key_offset, at->key_len);
}

TideBytes
tide_batch_row_wire(const TideBatch *batch, guint32 row)
{
  const TideBatchRow *rows = tide_batch_rows(batch);
  gsize end = row + 1 < batch->n_rows ? rows[row + 1].start_bytes : batch->wire.len;
  return tide_bytes(batch->wire.data + rows[row].start_bytes, end - rows[row].start_bytes);
}

guint64
tide_key_hash(TideBytes key)
{
  guint64 hash = XXH3_64bits(key.data, key.len);
  return hash != 0 ? hash : 1;
}

void
tide_batch_make_key_set(TideBatch *batch)
{
  gsize n_hashes = batch->key_set.len / sizeof(guint64);
  gsize capacity = 8;
  while (capacity < n_hashes * 2)
    capacity *= 2;
  /* The list of hashes is first; the table is built after it, then moved over it. */
  tide_buffer_reserve(&batch->key_set, capacity * sizeof(guint64));
  guint64 *hashes = (guint64 *)(void *)batch->key_set.data;
  guint64 *slots = hashes + n_hashes;
  memset(slots, 0, capacity * sizeof *slots);
  for (gsize i = 0; i < n_hashes; i++) {
    gsize slot = hashes[i] & (capacity - 1);
    while (slots[slot] != 0 && slots[slot] != hashes[i])
      slot = (slot + 1) & (capacity - 1);
    slots[slot] = hashes[i];
  }
  memmove(hashes, slots, capacity * sizeof *slots);
  batch->key_set.len = capacity * sizeof *slots;
}

gboolean
tide_batch_may_hold_key(const TideBatch *batch, guint64 key_hash)
{
  const guint64 *slots = (const guint64 *)(const void *)batch->key_set.data;
  gsize capacity = batch->key_set.len / sizeof *slots;
  if (capacity == 0)
    return FALSE;
  for (gsize slot = key_hash & (capacity - 1); slots[slot] != 0; slot = (slot + 1) & (capacity - 1))
    if (slots[slot] == key_hash)
      return TRUE;
  return FALSE;
}

void
tide_completion_queue_init(TideCompletionQueue *completions, void (*wake)(gpointer data), gpointer wake_data)
{
  *completions = (TideCompletionQueue){.wake = wake, .wake_data = wake_data};
  tide_mutex_init(&completions->lock);
  tide_cond_init(&completions->arrived);
}

void
tide_completion_queue_clear(TideCompletionQueue *completions)
{
  for (TideBatch *batch = completions->first, *next; batch != NULL; batch = next) {
    next = batch->next;
    tide_batch_free(batch);
  }
  tide_cond_clear(&completions->arrived);
  tide_mutex_clear(&completions->lock);
}

void
tide_completion_queue_push(TideCompletionQueue *completions, TideBatch *first)
{
  TideBatch *last = first;
  while (last->next != NULL)
    last = last->next;
  tide_mutex_lock(&completions->lock);
  gboolean was_empty = completions->first == NULL;
  {
    if (was_empty)
      completions->first = first;
    else
      completions->last->next = first;
    completions->last = last;
    tide_cond_signal(&completions->arrived);
  }
  tide_mutex_unlock(&completions->lock);
  /* The consumer that takes the earlier entries takes this one too, so only the first entry wakes it. */
  if (was_empty && completions->wake != NULL)
    completions->wake(completions->wake_data);
}

TideBatch *
tide_completion_queue_take(TideCompletionQueue *completions, gint64 deadline_us)
{
  TideBatch *arrived;
  tide_mutex_lock(&completions->lock);
  {
    while (completions->first == NULL && deadline_us > 0)
      if (!tide_cond_wait_until(&completions->arrived, &completions->lock, deadline_us))
        break;
    arrived = completions->first;
    completions->first = completions->last = NULL;
  }
  tide_mutex_unlock(&completions->lock);
  return arrived;
}
