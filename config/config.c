#include "config/config.h"

#include "model/table/dated_table.h"

#include <string.h>

static const TideTable *
find_by_name(const GPtrArray *tables, const char *name)
{
  for (guint i = 0; i < tables->len; i++) {
    const TideTable *table = g_ptr_array_index(tables, i);
    if (strcmp(tide_table_short_name(table->name), tide_table_short_name(name)) == 0)
      return table;
  }
  return NULL;
}

/* The table that creates the dated table @name. With @is_copy, the data table of which @name is a rolled-up day. */
static const TideTable *
find_template(const TideConfig *config, const char *name, gboolean is_copy)
{
  const char *short_name = tide_table_short_name(name);
  /* "default:SENSOR_20170726" belongs to SENSOR_{yyyyMMdd}, and "SENSOR_20170726" to default:SENSOR_{yyyyMMdd}. */
  g_autofree char *with_namespace = g_strconcat("default:", short_name, NULL);
  for (guint i = 0; i < config->tables->len; i++) {
    const TideTable *table = g_ptr_array_index(config->tables, i);
    if (is_copy ? table->latest == TIDE_LATEST_NONE && tide_dated_table_is_copy(table, short_name)
                : tide_dated_table_matches(table, short_name) || tide_dated_table_matches(table, with_namespace))
      return table;
  }
  return NULL;
}

const TideTable *
tide_config_find_table(const TideConfig *config, const char *name)
{
  const TideTable *table = find_by_name(config->tables, name);
  return table != NULL ? table : find_template(config, name, FALSE);
}

const TideTable *
tide_table_of_name(const TideConfig *config, const char *name)
{
  const TideTable *table = find_by_name(config->tables, name);
  if (table == NULL)
    table = find_by_name(config->instances, name);
  if (table != NULL)
    return table;
  const TideTable *declared = find_template(config, name, FALSE);
  if (declared == NULL)
    declared = find_template(config, name, TRUE);
  if (declared == NULL)
    return NULL;
  TideTable *instance =
      tide_dated_table_new(declared, tide_bytes_of_string(tide_table_short_name(name)), declared->index);
  g_ptr_array_add(config->instances, instance);
  return instance;
}

const TideKafkaProperty *
tide_config_find_property(const TideKafkaConfig *kafka, const char *name)
{
  for (guint i = 0; i < kafka->properties->len; i++) {
    const TideKafkaProperty *property = &g_array_index(kafka->properties, TideKafkaProperty, i);
    if (strcmp(property->name, name) == 0)
      return property;
  }
  return NULL;
}
