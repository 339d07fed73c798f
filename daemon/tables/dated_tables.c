#include "tables/dated_tables.h"

#include "model/table/dated_table.h"
#include "util/lock.h"
#include "util/log.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <stdatomic.h>

#define SHORT_SLOTS (TIDE_DATED_TABLES_MAX / 4 * 3)

/* A slot that an instance has. */
typedef struct Slot {
  TideTable *instance; /* owned */
  guint32 n_users;
  GList unused; /* in TideDatedTables.unused while it has none */
} Slot;

struct TideDatedTables {
  guint32 first_index; /* read-only: of the instances */
  /* under lock */
  TideMutex lock;
  Slot slots[TIDE_DATED_TABLES_MAX];
  guint32 n_slots;
  GQueue unused;       /* of slots: the first has been unused for longest */
  GHashTable *by_name; /* TideTable to itself, by template and name; borrowed */
  GPtrArray *retired;  /* owned (element-type TideTable): those whose slots went to others */
  gboolean is_warned;
  /* any thread */
  _Atomic guint32 n_used; /* written under lock */
};

static guint
hash_instance(gconstpointer key)
{
  const TideTable *table = key;
  return g_str_hash(table->name) ^ g_direct_hash(table->declared);
}

static gboolean
is_same_instance(gconstpointer a, gconstpointer b)
{
  const TideTable *first = a, *second = b;
  return first->declared == second->declared && strcmp(first->name, second->name) == 0;
}

guint32
tide_dated_tables_slots(const TideConfig *config, guint32 *ret_n_dated)
{
  *ret_n_dated = 0;
  for (guint i = 0; i < config->tables->len; i++)
    if (tide_table_is_template(g_ptr_array_index(config->tables, i)))
      *ret_n_dated = TIDE_DATED_TABLES_MAX;
  return config->tables->len + *ret_n_dated;
}

TideDatedTables *
tide_dated_tables_new(const TideConfig *config)
{
  TideDatedTables *dated = g_new0(TideDatedTables, 1);
  tide_mutex_init(&dated->lock);
  dated->first_index = config->tables->len;
  dated->retired = g_ptr_array_new_with_free_func((GDestroyNotify)tide_dated_table_free);
  dated->by_name = g_hash_table_new(hash_instance, is_same_instance);
  return dated;
}

void
tide_dated_tables_free(TideDatedTables *dated)
{
  if (dated == NULL)
    return;
  g_hash_table_unref(dated->by_name);
  for (guint32 i = 0; i < dated->n_slots; i++)
    tide_dated_table_free(dated->slots[i].instance);
  g_ptr_array_unref(dated->retired);
  tide_mutex_clear(&dated->lock);
  g_free(dated);
}

static Slot *
slot_of(TideDatedTables *dated, const TideTable *instance)
{
  return &dated->slots[instance->index - dated->first_index];
}

static void
use_locked(TideDatedTables *dated, Slot *slot)
{
  if (slot->n_users++ > 0)
    return;
  g_queue_unlink(&dated->unused, &slot->unused);
  guint32 n_used = atomic_load_explicit(&dated->n_used, memory_order_relaxed) + 1;
  atomic_store_explicit(&dated->n_used, n_used, memory_order_relaxed);
  if (n_used < SHORT_SLOTS || dated->is_warned)
    return;
  dated->is_warned = TRUE;
  tide_log(
      TIDE_LOG_WARNING, "dated-tables-full",
      "%u dated tables are in use, of %u that a process writes to at a time; '%s' is one more: look whether readings "
      "have absurd times (readings.time.max_past refuses these)",
      n_used, TIDE_DATED_TABLES_MAX, slot->instance->name);
}

/* A slot for a new name, without users; NULL: there is none. */
static Slot *
empty_slot_locked(TideDatedTables *dated)
{
  if (dated->n_slots < TIDE_DATED_TABLES_MAX) {
    Slot *fresh = &dated->slots[dated->n_slots++];
    fresh->unused.data = fresh;
    g_queue_push_tail_link(&dated->unused, &fresh->unused);
    return fresh;
  }
  GList *longest = g_queue_peek_head_link(&dated->unused);
  if (longest == NULL)
    return NULL;
  Slot *slot = longest->data;
  g_hash_table_remove(dated->by_name, slot->instance);
  g_ptr_array_add(dated->retired, g_steal_pointer(&slot->instance));
  return slot;
}

const TideTable *
tide_dated_tables_take(TideDatedTables *dated, const TideTable *declared, TideBytes name)
{
  g_autofree char *text = g_strndup((const char *)name.data, name.len);
  const TideTable wanted = {.name = text, .declared = declared};
  tide_mutex_lock(&dated->lock);
  const TideTable *known = g_hash_table_lookup(dated->by_name, &wanted);
  Slot *slot = known != NULL ? slot_of(dated, known) : empty_slot_locked(dated);
  if (slot != NULL && known == NULL) {
    slot->instance = tide_dated_table_new(declared, name, dated->first_index + (guint32)(slot - dated->slots));
    g_hash_table_add(dated->by_name, slot->instance);
  }
  if (slot != NULL)
    use_locked(dated, slot);
  const TideTable *table = slot != NULL ? slot->instance : NULL;
  tide_mutex_unlock(&dated->lock);
  return table;
}

void
tide_dated_tables_use(TideDatedTables *dated, const TideTable *instance)
{
  tide_mutex_lock(&dated->lock);
  use_locked(dated, slot_of(dated, instance));
  tide_mutex_unlock(&dated->lock);
}

void
tide_dated_tables_give_back(TideDatedTables *dated, const TideTable *instance)
{
  tide_mutex_lock(&dated->lock);
  Slot *slot = slot_of(dated, instance);
  if (--slot->n_users == 0) {
    g_queue_push_tail_link(&dated->unused, &slot->unused);
    guint32 n_used = atomic_load_explicit(&dated->n_used, memory_order_relaxed) - 1;
    atomic_store_explicit(&dated->n_used, n_used, memory_order_relaxed);
    dated->is_warned = dated->is_warned && n_used >= SHORT_SLOTS / 2;
  }
  tide_mutex_unlock(&dated->lock);
}

gboolean
tide_dated_tables_are_short_racy(const TideDatedTables *dated)
{
  return atomic_load_explicit(&dated->n_used, memory_order_relaxed) >= SHORT_SLOTS;
}

const TideTable *
tide_dated_tables_at(TideDatedTables *dated, guint32 index)
{
  tide_mutex_lock(&dated->lock);
  const TideTable *table = dated->slots[index - dated->first_index].instance;
  tide_mutex_unlock(&dated->lock);
  return table;
}

const TideTable *
tide_dated_cache_get(TideDatedCache *cache, TideDatedTables *dated, const TideTable *declared, TideBytes name)
{
  guint32 slot = (guint32)(XXH3_64bits(name.data, name.len) + declared->index) % TIDE_DATED_CACHE_SLOTS;
  const TideTable *known = cache->slots[slot];
  if (G_LIKELY(known != NULL && known->declared == declared &&
               tide_bytes_equal(tide_bytes_of_string(known->name), name)))
    return known;
  const TideTable *found = tide_dated_tables_take(dated, declared, name);
  if (found == NULL)
    return NULL;
  gboolean *taken = &cache->taken[found->index - dated->first_index];
  if (*taken) /* already: once is enough */
    tide_dated_tables_give_back(dated, found);
  *taken = TRUE;
  cache->slots[slot] = found;
  return found;
}

void
tide_dated_cache_forget(TideDatedCache *cache, TideDatedTables *dated, const TideTable *instance)
{
  for (guint32 i = 0; i < TIDE_DATED_CACHE_SLOTS; i++)
    if (cache->slots[i] == instance)
      cache->slots[i] = NULL;
  gboolean *taken = &cache->taken[instance->index - dated->first_index];
  if (*taken)
    tide_dated_tables_give_back(dated, instance);
  *taken = FALSE;
}
