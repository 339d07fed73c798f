/* The dated tables used by this process: SENSOR_20170726, SENSOR_20170727 and so on. Each is an instance of its
 * declared template (model/table/dated_table.h) and has its own slot after those of the declared tables, so that
 * anything stored by table index has room for it.
 *
 * A slot never changes its name, so no user needs to release it. State of more than a few hundred bytes is kept per
 * open table, not per slot. A process that needs more names than slots halts partitions. It warns while an eighth of
 * the slots is left; a restart resets them.
 *
 * Threads: any; one lock, which is not taken per row: each consumer caches its recent names. */
#pragma once

#include "config/config.h"
#include "util/budget.h"
#include "util/metrics.h"

G_BEGIN_DECLS

/* Most names in a process: 44 years of days, 22 months of hours. Their state takes a few megabytes, and readings with
 * implausible times, each of which creates a table in HBase, are noticed earlier. */
#define TIDE_DATED_TABLES_MAX 16384u

typedef struct TideDatedTables TideDatedTables;

typedef struct TideDatedTablesContext {
  const TideConfig *config;  /* borrowed, all */
  TideBudget *budget;        /* the budgets of tables are shares of it */
  TideBudget *table_budgets; /* by slot: initialised here for an instance */
  TideMetrics *metrics;
} TideDatedTablesContext;

TideDatedTables *tide_dated_tables_new(const TideDatedTablesContext *context);
void tide_dated_tables_free(TideDatedTables *dated); /* after all pointers to instances; NULL ok */

/* Number of table slots: the declared tables, followed by instances if any table is dated. Memory per slot is zeroed
 * and untouched until the slot is used, which most never are. */
guint32 tide_dated_tables_slots(const TideConfig *config);

/* The instance of @declared with @name, created if needed; NULL: all slots are used. */
const TideTable *tide_dated_tables_take(TideDatedTables *dated, const TideTable *declared, TideBytes name,
                                        gint64 now_us);

/* The instance with that @index. */
const TideTable *tide_dated_tables_at(TideDatedTables *dated, guint32 index);

/* One past the last slot in use. */
guint32 tide_dated_tables_end(TideDatedTables *dated);

/* Names in use at a time, of all templates: the days of late readings. */
#define TIDE_DATED_CACHE_SLOTS 64u

/* Recent names of one thread. Zero-initialised: empty. */
typedef struct TideDatedCache {
  const TideTable *slots[TIDE_DATED_CACHE_SLOTS]; /* borrowed */
} TideDatedCache;

/* Like tide_dated_tables_take(), without the lock if @cache has the name. Threads: the cache's owner. Allocates: only
 * for a new instance. */
const TideTable *tide_dated_cache_get(TideDatedCache *cache, TideDatedTables *dated, const TideTable *declared,
                                      TideBytes name, gint64 now_us);

G_END_DECLS
