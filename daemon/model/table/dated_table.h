/* Tables whose name holds a date: SENSOR_{yyyyMMdd}. What is declared is a template: no table in HBase has its name.
 * Each name that a reading makes is a table of its own, an instance: a copy of the template with that name. */
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

/* TRUE when @name has the form of those that @declared makes: SENSOR_20170726, not SENSOR_2017. Whether there is such a
 * day is not asked: HBase knows which tables there are. FALSE when @declared is no template. */
gboolean tide_dated_table_matches(const TideTable *declared, const char *name);

/* TRUE when @name is what `tidemark rollup` calls the copy of a day of @declared: its name, _ and eight digits. */
gboolean tide_dated_table_is_copy(const TideTable *declared, const char *name);

/**
 * tide_dated_table_new: the instance of @declared that is called @name.
 * @index: its place among the tables: see tables/dated_tables.h; a command, which writes nothing, gives @declared's own
 * Ownership: (transfer full), free with tide_dated_table_free(); everything but the name is borrowed from @declared.
 */
TideTable *tide_dated_table_new(const TideTable *declared, TideBytes name, guint32 index);
void tide_dated_table_free(TideTable *instance); /* NULL ok */

G_END_DECLS
