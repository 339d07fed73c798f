/* The tables that dated names have made in this process: SENSOR_20170726, SENSOR_20170727, ... Each is an instance of its
 * declared template (model/dated_table.h) with a place of its own behind the declared tables, so that whatever is kept by
 * table index has room for it. An instance lives until the process ends: lanes, batches and messages point to it.
 *
 * Threads: any; one lock. It is not taken for a row: each consumer has a memory of its own for the names it met last. */
#pragma once

#include "config/config.h"

G_BEGIN_DECLS

/* Two years and nine months of days: a replay of all that most topics hold, and few enough that readings with absurd times,
 * which would each make a table in HBase, are noticed before they have made too many. */
#define TIDE_DATED_TABLES_MAX 1024u

typedef struct TideDatedTables TideDatedTables;

TideDatedTables *tide_dated_tables_new(const TideConfig *config); /* borrowed */
void tide_dated_tables_free(TideDatedTables *dated);              /* after all that points to an instance; NULL ok */

/* Places for tables: those declared, and behind them @ret_n_dated for instances, 0 when no table is dated. */
guint32 tide_dated_tables_places(const TideConfig *config, guint32 *ret_n_dated);

/* The instance of @declared called @name, made when it was not there. NULL: all places are taken. */
const TideTable *tide_dated_tables_get(TideDatedTables *dated, const TideTable *declared, TideBytes name);

/* The instance with that @index, which tide_dated_tables_get() has given. */
const TideTable *tide_dated_tables_at(TideDatedTables *dated, guint32 index);

/* Names met at one time, of all templates: the days that late readings belong to. */
#define TIDE_DATED_CACHE_SLOTS 64u

/* What one thread met last. Zero-initialised is empty. */
typedef struct TideDatedCache {
  const TideTable *slots[TIDE_DATED_CACHE_SLOTS]; /* borrowed */
} TideDatedCache;

/* As tide_dated_tables_get(), without the lock for a name that @cache holds. Threads: the cache's owner. Allocates: nothing
 * but for a new instance. */
const TideTable *tide_dated_cache_get(TideDatedCache *cache, TideDatedTables *dated, const TideTable *declared,
                                      TideBytes name);

G_END_DECLS
