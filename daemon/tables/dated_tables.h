/* The tables that dated names have made in this process: SENSOR_20170726, SENSOR_20170727, ... Each is an instance of
 * its declared template (model/table/dated_table.h) with a slot of its own behind the declared tables, so that whatever
 * is kept by table index has room for it.
 *
 * A slot is never given to another name, so whoever knows one need not say when he has forgotten it. What costs more
 * than some hundred bytes is kept while a consumer has the table open, not by slot. A process that meets more names
 * than there are slots halts at them, and says so while an eighth is left: a restart begins anew.
 *
 * Threads: any; one lock. It is not taken for a row: each consumer has a memory of its own for the names it met last.
 */
#pragma once

#include "config/config.h"
#include "util/budget.h"
#include "util/metrics.h"

G_BEGIN_DECLS

/* Names that a process tells apart: 44 years of days, 22 months of hours. What is kept for each of so many is no
 * more than some megabytes, and readings with absurd times, which each make a table in HBase, are noticed before that.
 */
#define TIDE_DATED_TABLES_MAX 16384u

typedef struct TideDatedTables TideDatedTables;

typedef struct TideDatedTablesContext {
  const TideConfig *config;  /* borrowed, all */
  TideBudget *budget;        /* of which those of tables are shares */
  TideBudget *table_budgets; /* by slot: an instance's is begun here */
  TideMetrics *metrics;
} TideDatedTablesContext;

TideDatedTables *tide_dated_tables_new(const TideDatedTablesContext *context);
void tide_dated_tables_free(TideDatedTables *dated); /* after all that points to an instance; NULL ok */

/* Slots for tables: those declared, and those behind them for instances, when a table is dated. Memory by slot is
 * zeroed, and not touched before the slot is taken: of most there is none. */
guint32 tide_dated_tables_slots(const TideConfig *config);

/* The instance of @declared called @name, made when it was not there; NULL: all slots are taken. */
const TideTable *tide_dated_tables_take(TideDatedTables *dated, const TideTable *declared, TideBytes name,
                                        gint64 now_us);

/* The instance with that @index. */
const TideTable *tide_dated_tables_at(TideDatedTables *dated, guint32 index);

/* No slot from here on is taken. */
guint32 tide_dated_tables_end(TideDatedTables *dated);

/* Names met at one time, of all templates: the days that late readings belong to. */
#define TIDE_DATED_CACHE_SLOTS 64u

/* What one thread met last. Zero-initialised is empty. */
typedef struct TideDatedCache {
  const TideTable *slots[TIDE_DATED_CACHE_SLOTS]; /* borrowed */
} TideDatedCache;

/* As tide_dated_tables_take(), without the lock for a name that @cache holds. Threads: the cache's owner. Allocates:
 * nothing but for a new instance. */
const TideTable *tide_dated_cache_get(TideDatedCache *cache, TideDatedTables *dated, const TideTable *declared,
                                      TideBytes name, gint64 now_us);

G_END_DECLS
