#include "rows/heals.h"

#include "util/bytes.h"

/* What a heal takes besides its bytes: its places in the tables and in the order of time. */
#define OVERHEAD_BYTES 256u
#define CELL_OVERHEAD_BYTES 64u

typedef struct HealCell {
  guint64 identity;
  guint64 column_hash;
  gint64 timestamp_ms;
  guint32 prefix_offset; /* in bytes */
  guint32 prefix_len;
  guint32 value_len; /* behind the prefix */
  gboolean is_over;
  TideHeal *heal;
} HealCell;

struct TideHeal {
  guint64 key_hash;
  gint64 until_us;
  TideBuffer bytes; /* the key, then each cell's prefix and value */
  guint32 key_len;
  guint32 n_left;  /* cells that are not over */
  GArray *cells;   /* owned (element-type HealCell) */
  GArray *sources; /* owned (element-type TideSourceRef) */
  TideBuffer row;  /* columns and cells for tide_heal_row() */
  gint64 charged_bytes;
  GSequenceIter *iter; /* in by_time; NULL: it is blocked, or not kept */
  TideHeal *next;      /* of the same key */
  TideHeal *previous;
};

struct TideHeals {
  TideBudget *share;              /* borrowed */
  const TideHealHandler *handler; /* borrowed */
  GHashTable *by_identity;        /* identity to HealCell: those that are not over */
  GHashTable *by_key;             /* key hash to the first TideHeal of the key; owns them all */
  GSequence *by_time;             /* of TideHeal */
  guint n_blocked;
};

TideHeals *
tide_heals_new(TideBudget *share, const TideHealHandler *handler)
{
  TideHeals *heals = g_new0(TideHeals, 1);
  heals->share = share;
  heals->handler = handler;
  heals->by_identity = g_hash_table_new(g_int64_hash, g_int64_equal);
  heals->by_key = g_hash_table_new(g_int64_hash, g_int64_equal);
  heals->by_time = g_sequence_new(NULL);
  return heals;
}

gboolean
tide_heals_is_empty(const TideHeals *heals)
{
  return g_hash_table_size(heals->by_key) == 0;
}

/* ---- one heal ---- */

TideHeal *
tide_heal_new(TideBytes key)
{
  TideHeal *heal = g_new0(TideHeal, 1);
  heal->key_hash = tide_key_hash(key);
  heal->key_len = (guint32)key.len;
  heal->cells = g_array_new(FALSE, FALSE, sizeof(HealCell));
  heal->sources = g_array_new(FALSE, FALSE, sizeof(TideSourceRef));
  tide_buffer_append_bytes(&heal->bytes, key);
  return heal;
}

void
tide_heal_free(TideHeal *heal)
{
  tide_buffer_clear_memory(&heal->bytes);
  tide_buffer_clear_memory(&heal->row);
  g_array_unref(heal->cells);
  g_array_unref(heal->sources);
  g_free(heal);
}

void
tide_heal_add_cell(TideHeal *heal, const TideBatchCell *cell, gint64 until_us)
{
  HealCell added = {.identity = tide_cell_identity(heal->key_hash, cell->column_hash, cell->timestamp_ms),
                    .column_hash = cell->column_hash,
                    .timestamp_ms = cell->timestamp_ms,
                    .prefix_offset = (guint32)heal->bytes.len,
                    .prefix_len = (guint32)cell->prefix.len,
                    .value_len = (guint32)cell->value.len,
                    .heal = heal};
  tide_buffer_append_bytes(&heal->bytes, cell->prefix);
  tide_buffer_append_bytes(&heal->bytes, cell->value);
  g_array_append_val(heal->cells, added);
  heal->n_left++;
  heal->until_us = MAX(heal->until_us, until_us);
}

void
tide_heal_add_source(TideHeal *heal, TideSourceRef source)
{
  g_array_append_val(heal->sources, source);
}

TideBytes
tide_heal_key(const TideHeal *heal)
{
  return tide_bytes(heal->bytes.data, heal->key_len);
}

gint64
tide_heal_until_us(const TideHeal *heal)
{
  return heal->until_us;
}

guint64
tide_heal_key_hash(const TideHeal *heal)
{
  return heal->key_hash;
}

const TideSourceRef *
tide_heal_sources(const TideHeal *heal, guint *ret_n)
{
  *ret_n = heal->sources->len;
  return (const TideSourceRef *)(gconstpointer)heal->sources->data;
}

TideRow
tide_heal_row(TideHeal *heal)
{
  gsize columns_bytes = heal->n_left * sizeof(TideColumn);
  heal->row.len = 0;
  guint8 *memory = tide_buffer_reserve(&heal->row, columns_bytes + heal->n_left * sizeof(TideCell));
  TideColumn *columns = (TideColumn *)(void *)memory;
  TideCell *cells = (TideCell *)(void *)(memory + columns_bytes);
  guint32 n = 0;
  for (guint i = 0; i < heal->cells->len; i++) {
    const HealCell *cell = &g_array_index(heal->cells, HealCell, i);
    if (cell->is_over)
      continue;
    const guint8 *prefix = heal->bytes.data + cell->prefix_offset;
    columns[n] = (TideColumn){.prefix = tide_bytes(prefix, cell->prefix_len), .hash = cell->column_hash};
    cells[n] = (TideCell){&columns[n], tide_bytes(prefix + cell->prefix_len, cell->value_len), cell->timestamp_ms};
    n++;
  }
  return (TideRow){.key = tide_heal_key(heal), .cells = cells, .n_cells = n};
}

static gint64
memory_bytes(const TideHeal *heal)
{
  return (gint64)(sizeof *heal + OVERHEAD_BYTES + heal->bytes.capacity +
                  heal->cells->len * (sizeof(HealCell) + CELL_OVERHEAD_BYTES) +
                  heal->sources->len * sizeof(TideSourceRef));
}

/* ---- keeping ---- */

static int
compare_time(gconstpointer a, gconstpointer b, gpointer data)
{
  const TideHeal *one = a, *other = b;
  return one->until_us < other->until_us ? -1 : one->until_us > other->until_us;
}

static void
link_key(TideHeals *heals, TideHeal *heal)
{
  TideHeal *first = g_hash_table_lookup(heals->by_key, &heal->key_hash);
  heal->next = first;
  if (first != NULL)
    first->previous = heal;
  g_hash_table_replace(heals->by_key, &heal->key_hash, heal);
}

static void
unlink_key(TideHeals *heals, TideHeal *heal)
{
  if (heal->next != NULL)
    heal->next->previous = heal->previous;
  if (heal->previous != NULL)
    heal->previous->next = heal->next;
  else if (heal->next != NULL)
    g_hash_table_replace(heals->by_key, &heal->next->key_hash, heal->next);
  else
    g_hash_table_remove(heals->by_key, &heal->key_hash);
}

static void
report_sources(const TideHeals *heals, const TideHeal *heal, TideHealChange change)
{
  for (guint i = 0; i < heal->sources->len; i++) {
    TideSourceRef source = g_array_index(heal->sources, TideSourceRef, i);
    if (heals->handler->is_owned(source, heals->handler->data))
      heals->handler->changed(source, change, heals->handler->data);
  }
}

/* Takes @heal out and tells its sources. */
static void
end_heal(TideHeals *heals, TideHeal *heal, TideHealChange change)
{
  for (guint i = 0; i < heal->cells->len; i++) {
    const HealCell *cell = &g_array_index(heal->cells, HealCell, i);
    if (!cell->is_over)
      g_hash_table_remove(heals->by_identity, &cell->identity);
  }
  unlink_key(heals, heal);
  if (heal->iter != NULL)
    g_sequence_remove(heal->iter);
  else
    heals->n_blocked--;
  tide_budget_charge(heals->share, -heal->charged_bytes);
  report_sources(heals, heal, change);
  tide_heal_free(heal);
}

void
tide_heals_sent(TideHeals *heals, TideHeal *heal)
{
  end_heal(heals, heal, TIDE_HEAL_SENT);
}

/* ---- before their time ---- */

static void
end_cell(TideHeals *heals, HealCell *cell)
{
  g_hash_table_remove(heals->by_identity, &cell->identity);
  cell->is_over = TRUE;
  if (--cell->heal->n_left == 0)
    end_heal(heals, cell->heal, TIDE_HEAL_VOID);
}

void
tide_heals_overwritten(TideHeals *heals, guint64 identity)
{
  HealCell *cell = g_hash_table_lookup(heals->by_identity, &identity);
  if (cell != NULL)
    end_cell(heals, cell);
}

gboolean
tide_heals_keep(TideHeals *heals, TideHeal *heal)
{
  gint64 bytes = memory_bytes(heal);
  if (!tide_budget_try_charge(heals->share, (guint64)bytes))
    return FALSE;
  heal->charged_bytes = bytes;
  for (guint i = 0; i < heal->cells->len; i++) {
    HealCell *cell = &g_array_index(heal->cells, HealCell, i);
    tide_heals_overwritten(heals, cell->identity); /* by the same value, out of the same batch */
    g_hash_table_insert(heals->by_identity, &cell->identity, cell);
  }
  link_key(heals, heal);
  heal->iter = g_sequence_insert_sorted(heals->by_time, heal, compare_time, NULL);
  report_sources(heals, heal, TIDE_HEAL_KEPT);
  return TRUE;
}

static void
outdate_cells(TideHeals *heals, TideHeal *heal, guint64 column_hash, gint64 timestamp_ms)
{
  for (guint i = heal->cells->len; i-- > 0;) {
    HealCell *cell = &g_array_index(heal->cells, HealCell, i);
    if (cell->is_over || cell->timestamp_ms >= timestamp_ms || (column_hash != 0 && cell->column_hash != column_hash))
      continue;
    gboolean is_last = heal->n_left == 1;
    end_cell(heals, cell);
    if (is_last)
      return; /* the heal is gone */
  }
}

void
tide_heals_outdated(TideHeals *heals, guint64 key_hash, guint64 column_hash, gint64 timestamp_ms)
{
  for (TideHeal *heal = g_hash_table_lookup(heals->by_key, &key_hash), *next; heal != NULL; heal = next) {
    next = heal->next;
    outdate_cells(heals, heal, column_hash, timestamp_ms);
  }
}

static gboolean
any_source_is(const TideHeals *heals, const TideHeal *heal, gboolean (*is)(TideSourceRef source, gpointer data))
{
  for (guint i = 0; i < heal->sources->len; i++)
    if (is(g_array_index(heal->sources, TideSourceRef, i), heals->handler->data))
      return TRUE;
  return FALSE;
}

/* All of them, as a list: none may be met by an iterator while others go. (element-type TideHeal) (transfer container)
 */
static GPtrArray *
list_all(const TideHeals *heals)
{
  GPtrArray *all = g_ptr_array_new();
  GHashTableIter iter;
  gpointer first;
  g_hash_table_iter_init(&iter, heals->by_key);
  while (g_hash_table_iter_next(&iter, NULL, &first))
    for (TideHeal *heal = first; heal != NULL; heal = heal->next)
      g_ptr_array_add(all, heal);
  return all;
}

void
tide_heals_drop_disowned(TideHeals *heals)
{
  g_autoptr(GPtrArray) all = list_all(heals);
  for (guint i = 0; i < all->len; i++)
    if (!any_source_is(heals, g_ptr_array_index(all, i), heals->handler->is_owned))
      end_heal(heals, g_ptr_array_index(all, i), TIDE_HEAL_VOID); /* nobody hears it */
}

static void
give_up(TideHeals *heals, TideHeal *heal, gint64 now_us)
{
  const TideHealHandler *handler = heals->handler;
  g_autoptr(GArray) sources = g_array_ref(heal->sources);
  end_heal(heals, heal, TIDE_HEAL_SENT);
  for (guint i = 0; i < sources->len; i++) {
    TideSourceRef source = g_array_index(sources, TideSourceRef, i);
    if (handler->is_owned(source, handler->data))
      handler->forgotten(source, now_us, handler->data);
  }
}

void
tide_heals_give_up(TideHeals *heals, gint64 now_us)
{
  g_autoptr(GPtrArray) all = list_all(heals);
  for (guint i = 0; i < all->len; i++)
    if (any_source_is(heals, g_ptr_array_index(all, i), heals->handler->is_taken_away))
      give_up(heals, g_ptr_array_index(all, i), now_us);
}

void
tide_heals_free(TideHeals *heals)
{
  if (heals == NULL)
    return;
  g_autoptr(GPtrArray) all = list_all(heals);
  for (guint i = 0; i < all->len; i++) {
    TideHeal *heal = g_ptr_array_index(all, i);
    tide_budget_charge(heals->share, -heal->charged_bytes);
    tide_heal_free(heal);
  }
  g_hash_table_unref(heals->by_identity);
  g_hash_table_unref(heals->by_key);
  g_sequence_free(heals->by_time);
  g_free(heals);
}

/* ---- in their time ---- */

gint64
tide_heals_next_us(const TideHeals *heals)
{
  GSequenceIter *first = g_sequence_get_begin_iter(heals->by_time);
  return g_sequence_iter_is_end(first) ? G_MAXINT64 : ((const TideHeal *)g_sequence_get(first))->until_us;
}

TideHeal *
tide_heals_due(TideHeals *heals, gint64 now_us)
{
  return tide_heals_next_us(heals) <= now_us ? g_sequence_get(g_sequence_get_begin_iter(heals->by_time)) : NULL;
}

void
tide_heals_block(TideHeals *heals, TideHeal *heal)
{
  g_sequence_remove(heal->iter);
  heal->iter = NULL;
  heals->n_blocked++;
}

static void
unblock(TideHeals *heals, TideHeal *heal)
{
  if (heal->iter != NULL)
    return;
  heal->iter = g_sequence_insert_sorted(heals->by_time, heal, compare_time, NULL);
  heals->n_blocked--;
}

void
tide_heals_unblock_key(TideHeals *heals, guint64 key_hash)
{
  if (heals->n_blocked == 0)
    return;
  for (TideHeal *heal = g_hash_table_lookup(heals->by_key, &key_hash); heal != NULL; heal = heal->next)
    unblock(heals, heal);
}

void
tide_heals_unblock_all(TideHeals *heals)
{
  if (heals->n_blocked == 0)
    return;
  g_autoptr(GPtrArray) all = list_all(heals);
  for (guint i = 0; i < all->len; i++)
    unblock(heals, g_ptr_array_index(all, i));
}
