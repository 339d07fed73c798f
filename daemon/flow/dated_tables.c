#include "flow/dated_tables.h"

#include "model/dated_table.h"
#include "util/lock.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

struct TideDatedTables {
  guint32 first_index; /* read-only: of the instances */
  /* under lock */
  TideMutex lock;
  GPtrArray *instances; /* owned (element-type TideTable), in the order of their indexes */
  GHashTable *by_name;  /* TideTable to itself, by template and name; borrowed */
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

static void
free_instance(gpointer instance)
{
  tide_dated_table_free(instance);
}

guint32
tide_dated_tables_places(const TideConfig *config, guint32 *ret_n_dated)
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
  dated->instances = g_ptr_array_new_with_free_func(free_instance);
  dated->by_name = g_hash_table_new(hash_instance, is_same_instance);
  return dated;
}

void
tide_dated_tables_free(TideDatedTables *dated)
{
  if (dated == NULL)
    return;
  g_hash_table_unref(dated->by_name);
  g_ptr_array_unref(dated->instances);
  tide_mutex_clear(&dated->lock);
  g_free(dated);
}

static const TideTable *
get_locked(TideDatedTables *dated, const TideTable *declared, TideBytes name)
{
  TideTable *wanted = tide_dated_table_new(declared, name, dated->first_index + dated->instances->len);
  const TideTable *found = g_hash_table_lookup(dated->by_name, wanted);
  if (found != NULL || dated->instances->len >= TIDE_DATED_TABLES_MAX) {
    tide_dated_table_free(wanted);
    return found;
  }
  g_ptr_array_add(dated->instances, wanted);
  g_hash_table_add(dated->by_name, wanted);
  return wanted;
}

const TideTable *
tide_dated_tables_get(TideDatedTables *dated, const TideTable *declared, TideBytes name)
{
  tide_mutex_lock(&dated->lock);
  const TideTable *table = get_locked(dated, declared, name);
  tide_mutex_unlock(&dated->lock);
  return table;
}

const TideTable *
tide_dated_tables_at(TideDatedTables *dated, guint32 index)
{
  tide_mutex_lock(&dated->lock);
  const TideTable *table = g_ptr_array_index(dated->instances, index - dated->first_index);
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
  const TideTable *found = tide_dated_tables_get(dated, declared, name);
  if (found != NULL)
    cache->slots[slot] = found;
  return found;
}
