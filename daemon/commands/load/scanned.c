/* A load of rows printed by `tidemark scan`: changes the configuration so that files contain rows of one table, and
 * make rows of only that table and its indexes. */
#include "commands/load/load_report.h"
#include "commands/read/key_arguments.h"
#include "config/config_source.h"
#include "mapping/scanned_rows.h"
#include "util/error.h"

static TideTable *
table_at(const TideConfig *config, guint index)
{
  return g_ptr_array_index(config->tables, index);
}

TideTable *
tide_load_scanned_table(TideConfig *config, const TideLoadScanned *scanned, GError **error)
{
  const TideTable *named = tide_table_argument_find(config, scanned->table, error);
  for (guint i = 0; named != NULL && i < config->tables->len; i++) {
    TideTable *table = table_at(config, i);
    if (table != named && table != named->declared)
      continue;
    if (table->index_of == TIDE_TABLE_NONE)
      return table;
    const char *data = table_at(config, table->index_of)->name;
    tide_fail(error, TIDE_ERROR_USAGE, "'%s' is the index of '%s': load the rows of '%s', which also writes the index",
              table->name, data, data);
    return NULL;
  }
  return NULL;
}

/* ---- missing information ---- */

static const TideColumnRule *
rule_at(const TideTable *table, guint index)
{
  return &g_array_index(table->rules, TideColumnRule, index);
}

/* TRUE if columns or their values depend on the time, or on other parts that differ between readings. */
static gboolean
makes_columns(const TideTable *table)
{
  gboolean makes = table->dated_name != NULL;
  for (guint i = 0; i < table->rules->len; i++) {
    const TideColumnRule *rule = rule_at(table, i);
    makes |= rule->qualifier != NULL && !tide_key_text_is_constant(rule->qualifier);
    for (gsize k = 0; k < rule->n_items; k++)
      makes |= rule->items[k].value != NULL && !tide_key_text_is_constant(rule->items[k].value);
  }
  return makes;
}

static gboolean
check_table(const TideTable *table, GError **error)
{
  if (table->cell_time == TIDE_CELL_TIME_EVENT || !makes_columns(table))
    return TRUE;
  return tide_fail(error, TIDE_ERROR_USAGE,
                   "the rows of '%s' lack the event time from which its columns are made, because cells have another "
                   "time ('cell_time'): load its readings from their source",
                   table->name);
}

static gboolean
check_index(const TideTable *index, const TideTable *table, GError **error)
{
  gboolean has_other_time = index->cell_time != TIDE_CELL_TIME_EVENT && index->cell_time != table->cell_time;
  gboolean changes_units = FALSE;
  for (guint i = 0; i < index->rules->len; i++)
    for (gsize k = 0; k < rule_at(index, i)->n_items; k++)
      changes_units |= rule_at(index, i)->items[k].units != NULL;
  if (index->conditions == NULL && !changes_units && !has_other_time && check_table(index, NULL))
    return TRUE;
  return tide_fail(error, TIDE_ERROR_USAGE,
                   "the rows of '%s' lack parts from which its index '%s' is made ('when', 'scale', 'offset' or "
                   "'cell_time'): load its readings from their source",
                   table->name, index->name);
}

/* ---- changes ---- */

static TideTimeSpec
time_spec(const TideConfig *config, const char *field, TideTimeFormat format, const TideTimeSpec *old)
{
  return (TideTimeSpec){.field = tide_field_names_intern(config->names, tide_bytes_of_string(field)),
                        .format = format,
                        .date_field = TIDE_NAME_NONE,
                        .plus_field = TIDE_NAME_NONE,
                        .earliest_epoch_ms = old->earliest_epoch_ms,
                        .max_future_ms = old->max_future_ms,
                        .on_future = old->on_future};
}

static void
replace_time(TideTimeSpec **time, TideTimeSpec spec)
{
  if (*time != NULL)
    tide_time_spec_clear(*time);
  g_free(*time);
  *time = g_memdup2(&spec, sizeof spec);
}

/* Times and values are used as printed: the values already have their units. */
static void
adapt_table(const TideConfig *config, const TideConfigSource *source, TideTable *table)
{
  const TideTimeSpec old = *tide_config_time_of(table, source);
  replace_time(&table->time, time_spec(config, TIDE_SCANNED_EVENT_TIME, TIDE_TIME_RFC3339, &old));
  if (table->cell_time != TIDE_CELL_TIME_EVENT) {
    table->cell_time = TIDE_CELL_TIME_FIELD;
    replace_time(&table->cell_time_spec, time_spec(config, TIDE_SCANNED_CELL_TIME, TIDE_TIME_EPOCH_MS, &old));
  }
  for (guint i = 0; i < table->rules->len; i++)
    for (gsize k = 0; k < rule_at(table, i)->n_items; k++)
      g_clear_pointer(&rule_at(table, i)->items[k].units, g_free);
}

/* A written row has met them already. */
static void
drop_conditions(GArray **conditions)
{
  for (guint i = 0; *conditions != NULL && i < (*conditions)->len; i++)
    tide_condition_clear(&g_array_index(*conditions, TideCondition, i));
  g_clear_pointer(conditions, g_array_unref);
}

static void
adapt_decoding(TideDecodeOptions *decode, const TideLoadScanned *scanned, const TideTable *table)
{
  decode->format = scanned->as_csv ? TIDE_FORMAT_CSV : TIDE_FORMAT_JSON;
  decode->scanned = (TideScannedOptions){.is_scanned = TRUE,
                                         .keeps_keys = scanned->keeps_keys,
                                         .has_cell_times = table->cell_time != TIDE_CELL_TIME_EVENT,
                                         .key = table->key};
  g_clear_pointer(&decode->csv.columns, g_strfreev);
  g_clear_pointer(&decode->csv.delimiter, g_free);
  g_clear_pointer(&decode->csv.null_values, g_strfreev);
  g_clear_pointer(&decode->csv.comment, g_free);
  decode->csv = (TideCsvOptions){.header = TRUE, .quotes = TRUE}; /* the options are for messages, not for printed
                                                                   * rows */
  decode->on_bad_reading = TIDE_BAD_READING_MESSAGE;              /* a row is loaded as a whole */
  decode->max_message_bytes = TIDE_SCANNED_MAX_BYTES;
  decode->max_readings = TIDE_SCANNED_MAX_CELLS;
  decode->max_fields = TIDE_SCANNED_MAX_CELLS;
}

gboolean
tide_load_scanned_adapt(TideConfig *config, TideConfigSource *source, TideTable *table, const TideLoadScanned *scanned,
                        GError **error)
{
  TideReadingsConfig *readings = source->readings == &source->own ? &source->own : &config->readings;
  if (!check_table(table, error))
    return FALSE;
  for (guint i = 0; i < config->tables->len; i++) {
    TideTable *other = table_at(config, i);
    if (other == table)
      continue;
    if (other->index_of != table->index || !tide_config_takes_from(other, source)) {
      other->sources = ~(G_GUINT64_CONSTANT(1) << source->index);
      continue;
    }
    if (!check_index(other, table, error))
      return FALSE;
    adapt_table(config, source, other);
  }
  config->is_narrowed = TRUE;
  adapt_table(config, source, table);
  drop_conditions(&table->conditions);
  drop_conditions(&source->conditions);
  adapt_decoding(&readings->decode, scanned, table);
  return TRUE;
}
