#include "tables/dated_tables.h"

#include "model/table/dated_table.h"
#include "util/clock.h"
#include "util/lock.h"
#include "util/log.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

/* Warns once this many slots are left, and daily after that. They last a week for up to 292 new names a day, as with
 * twelve hourly tables. A measured rate would warn during a backlog. */
#define WARNED_SLOTS (TIDE_DATED_TABLES_MAX / 8)
#define DAY_US (24 * 3600 * TIDE_US_PER_S)

struct TideDatedTables {
  /* read-only */
  TideDatedTablesContext context;
  guint32 first_index; /* of the first instance */
  TideGauge *met;
  /* under lock */
  TideMutex lock;
  TideTable *slots[TIDE_DATED_TABLES_MAX]; /* owned */
  guint32 n_slots;
  GHashTable *by_name; /* TideTable to itself, by template and name; borrowed */
  gint64 warned_us;    /* 0: never */
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
tide_dated_tables_slots(const TideConfig *config)
{
  guint32 n_dated = 0;
  for (guint i = 0; i < config->tables->len; i++)
    if (tide_table_is_template(g_ptr_array_index(config->tables, i)))
      n_dated = TIDE_DATED_TABLES_MAX;
  return config->tables->len + n_dated;
}

TideDatedTables *
tide_dated_tables_new(const TideDatedTablesContext *context)
{
  TideDatedTables *dated = g_new0(TideDatedTables, 1);
  dated->context = *context;
  dated->first_index = context->config->tables->len;
  dated->met = tide_metrics_gauge(context->metrics, "tidemark_dated_tables",
                                  "Dated tables used since the start, of at most 16,384 per process", NULL);
  dated->by_name = g_hash_table_new(hash_instance, is_same_instance);
  tide_mutex_init(&dated->lock);
  return dated;
}

void
tide_dated_tables_free(TideDatedTables *dated)
{
  if (dated == NULL)
    return;
  g_hash_table_unref(dated->by_name);
  for (guint32 i = 0; i < dated->n_slots; i++)
    tide_dated_table_free(dated->slots[i]);
  tide_mutex_clear(&dated->lock);
  g_free(dated);
}

static void
warn_if_few_are_left_locked(TideDatedTables *dated, gint64 now_us)
{
  if (TIDE_DATED_TABLES_MAX - dated->n_slots > WARNED_SLOTS ||
      (dated->warned_us > 0 && now_us - dated->warned_us < DAY_US))
    return;
  dated->warned_us = now_us;
  const char *newest = dated->slots[dated->n_slots - 1]->name;
  tide_log_fields(TIDE_LOG_WARNING, "dated-tables-full", TIDE_LOG_FIELDS({"TABLE", newest}),
                  "used %u dated tables since the start, the newest '%s', of at most %u; partitions halt beyond that; "
                  "restart tidemark before then, which resets the count, and check for readings with implausible times "
                  "(readings.time.max_past rejects them)",
                  dated->n_slots, newest, TIDE_DATED_TABLES_MAX);
}

static const TideTable *
add_locked(TideDatedTables *dated, const TideTable *declared, TideBytes name, gint64 now_us)
{
  guint32 index = dated->first_index + dated->n_slots;
  TideTable *instance = tide_dated_table_new(declared, name, index);
  dated->slots[dated->n_slots++] = instance;
  tide_budget_init_table_share(&dated->context.table_budgets[index], dated->context.budget);
  g_hash_table_add(dated->by_name, instance);
  tide_gauge_set(dated->met, dated->n_slots);
  warn_if_few_are_left_locked(dated, now_us);
  return instance;
}

const TideTable *
tide_dated_tables_take(TideDatedTables *dated, const TideTable *declared, TideBytes name, gint64 now_us)
{
  g_autofree char *text = g_strndup((const char *)name.data, name.len);
  const TideTable wanted = {.name = text, .declared = declared};
  tide_mutex_lock(&dated->lock);
  const TideTable *table = g_hash_table_lookup(dated->by_name, &wanted);
  if (table == NULL && dated->n_slots < TIDE_DATED_TABLES_MAX)
    table = add_locked(dated, declared, name, now_us);
  tide_mutex_unlock(&dated->lock);
  return table;
}

const TideTable *
tide_dated_tables_at(TideDatedTables *dated, guint32 index)
{
  tide_mutex_lock(&dated->lock);
  const TideTable *table = dated->slots[index - dated->first_index];
  tide_mutex_unlock(&dated->lock);
  return table;
}

guint32
tide_dated_tables_end(TideDatedTables *dated)
{
  tide_mutex_lock(&dated->lock);
  guint32 end = dated->first_index + dated->n_slots;
  tide_mutex_unlock(&dated->lock);
  return end;
}

const TideTable *
tide_dated_cache_get(TideDatedCache *cache, TideDatedTables *dated, const TideTable *declared, TideBytes name,
                     gint64 now_us)
{
  guint32 slot = (guint32)(XXH3_64bits(name.data, name.len) + declared->index) % TIDE_DATED_CACHE_SLOTS;
  const TideTable *known = cache->slots[slot];
  if (G_LIKELY(known != NULL && known->declared == declared &&
               tide_bytes_equal(tide_bytes_of_string(known->name), name)))
    return known;
  const TideTable *found = tide_dated_tables_take(dated, declared, name, now_us);
  if (found != NULL)
    cache->slots[slot] = found;
  return found;
}
