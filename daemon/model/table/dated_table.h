/* Tables whose name contains a date: SENSOR_{yyyyMMdd}. The declaration is a template; HBase has no table with its
 * name. Each name that a reading produces belongs to an instance, a copy of the template with that name. */
#pragma once

#include "model/table/table.h"

G_BEGIN_DECLS

static inline gboolean
tide_table_is_template(const TideTable *table)
{
  return table->dated_name != NULL;
}

#define TIDE_DATED_NAME_OPEN '{' /* around the pattern, in a template's name */
#define TIDE_DATED_NAME_CLOSE '}'

/* TRUE: @name has the form of the names of @declared: SENSOR_20170726, not SENSOR_2017. The date need not exist,
 * because only HBase knows the existing tables. FALSE also if @declared is not a template. */
gboolean tide_dated_table_matches(const TideTable *declared, const char *name);

/* TRUE: @name is a name that `tidemark rollup` gives to the copy of a day of @declared: its name, _ and eight digits.
 */
gboolean tide_dated_table_is_copy(const TideTable *declared, const char *name);

/**
 * tide_dated_table_new: create the instance of @declared with the name @name.
 * @index: its index in the tables (tables/dated_tables.h); commands, which write nothing, pass that of @declared
 * Ownership: (transfer full), free with tide_dated_table_free(); everything but the name is borrowed from @declared.
 */
TideTable *tide_dated_table_new(const TideTable *declared, TideBytes name, guint32 index);
void tide_dated_table_free(TideTable *instance); /* NULL ok */

G_END_DECLS
