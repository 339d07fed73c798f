/* The tables that dated names have made in this process: SENSOR_20170726, SENSOR_20170727, ... Each is an instance of
 * its declared template (model/table/dated_table.h) with a slot of its own behind the declared tables, so that whatever
 * is kept by table index has room for it.
 *
 * A slot has users: each consumer from when it meets the name until it has had no rows for it for a while, and the
 * regions until they have let it go. One without users goes to the next new name when no other is left; the one that
 * has been without them for longest first. The instance itself lives until the process ends, some hundred bytes: what
 * is left behind may still name it.
 *
 * Threads: any; one lock. It is not taken for a row: each consumer has a memory of its own for the names it met last.
 */
#pragma once

#include "config/config.h"

G_BEGIN_DECLS

/* Tables that have users at a time. Two years and nine months of days, and few enough that readings with absurd times,
 * which would each make a table in HBase, are noticed before they have made too many. */
#define TIDE_DATED_TABLES_MAX 1024u

typedef struct TideDatedTables TideDatedTables;

TideDatedTables *tide_dated_tables_new(const TideConfig *config); /* borrowed */
void tide_dated_tables_free(TideDatedTables *dated);              /* after all that points to an instance; NULL ok */

/* Slots for tables: those declared, and behind them @ret_n_dated for instances, 0 when no table is dated. */
guint32 tide_dated_tables_slots(const TideConfig *config, guint32 *ret_n_dated);

/* The instance of @declared called @name, made when it was not there, with one user more. NULL: all slots have users.
 */
const TideTable *tide_dated_tables_take(TideDatedTables *dated, const TideTable *declared, TideBytes name);

/* One user more, of an instance that has users; one less. */
void tide_dated_tables_use(TideDatedTables *dated, const TideTable *instance);
void tide_dated_tables_give_back(TideDatedTables *dated, const TideTable *instance);

/* Whether few slots are left, so that what is not in use should be given back soon. Without the lock. */
gboolean tide_dated_tables_are_short_racy(const TideDatedTables *dated);

/* The instance with that @index, which has users. */
const TideTable *tide_dated_tables_at(TideDatedTables *dated, guint32 index);

/* Names met at one time, of all templates: the days that late readings belong to. */
#define TIDE_DATED_CACHE_SLOTS 64u

/* What one thread met last, and of which slots it is a user. Zero-initialised is empty. */
typedef struct TideDatedCache {
  const TideTable *slots[TIDE_DATED_CACHE_SLOTS]; /* borrowed; slots it is a user of */
  gboolean taken[TIDE_DATED_TABLES_MAX];
} TideDatedCache;

/* The instance of @declared called @name, of whose slot @cache is a user from here on; NULL: all slots have users.
 * Without the lock for a name that @cache holds. Threads: the cache's owner. Allocates: nothing but for a new instance.
 */
const TideTable *tide_dated_cache_get(TideDatedCache *cache, TideDatedTables *dated, const TideTable *declared,
                                      TideBytes name);

/* Gives @instance back. */
void tide_dated_cache_forget(TideDatedCache *cache, TideDatedTables *dated, const TideTable *instance);

G_END_DECLS
