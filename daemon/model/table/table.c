#include "model/table/table.h"

static void
clear_rule(gpointer data)
{
  TideColumnRule *rule = data;
  for (gsize i = 0; i < rule->n_items; i++) {
    g_free(rule->items[i].pattern);
    g_free(rule->items[i].qualifier);
    g_free(rule->items[i].units);
    tide_row_key_free(rule->items[i].value);
  }
  g_free(rule->items);
  g_free(rule->strip_prefix);
  g_free(rule->prefix);
  tide_row_key_free(rule->qualifier);
  g_free(rule->family);
}

static void
free_time(TideTimeSpec *time)
{
  if (time != NULL)
    tide_time_spec_clear(time);
  g_free(time);
}

void
tide_table_free(TideTable *table)
{
  if (table == NULL)
    return;
  if (table->rules != NULL) {
    g_array_set_clear_func(table->rules, clear_rule);
    g_array_unref(table->rules);
  }
  if (table->families != NULL) {
    g_ptr_array_set_free_func(table->families, (GDestroyNotify)tide_family_settings_free);
    g_ptr_array_unref(table->families);
  }
  if (table->conditions != NULL) {
    g_array_set_clear_func(table->conditions, (GDestroyNotify)tide_condition_clear);
    g_array_unref(table->conditions);
  }
  free_time(table->time);
  free_time(table->cell_time_spec);
  tide_row_key_free(table->dated_name);
  tide_splits_free(table->splits);
  tide_row_key_free(table->key);
  g_free(table->name);
  g_free(table);
}

const char *
tide_table_short_name(const char *name)
{
  return g_str_has_prefix(name, "default:") ? name + strlen("default:") : name;
}

gint64
tide_table_ttl_ms(const TideTable *table, TideBytes family)
{
  const TideFamilySettings *settings = tide_family_settings_find(table->families, family);
  gint64 of_family_ms = settings != NULL ? (gint64)settings->time_to_live_s * 1000 : 0;
  return table->ttl_ms > 0 && of_family_ms > 0 ? MIN(table->ttl_ms, of_family_ms) : MAX(table->ttl_ms, of_family_ms);
}

GArray *
tide_table_key_fields(const TideTable *table, TideNameId time_field)
{
  GArray *ids = g_array_new(FALSE, FALSE, sizeof(TideNameId));
  tide_row_key_stored_fields(table->key, ids);
  if (time_field != TIDE_NAME_NONE && !tide_name_ids_contain(ids, time_field))
    g_array_append_val(ids, time_field);
  return ids;
}

void
tide_column_rule_append_name(const TideColumnRule *rule, TideBytes name, TideBuffer *out)
{
  TideBytes stripped = tide_bytes_of_string(rule->strip_prefix);
  if (stripped.len > 0 && name.len > stripped.len && tide_bytes_begin_with(name, stripped))
    name = tide_bytes_from(name, stripped.len);
  tide_buffer_append_bytes(out, tide_bytes_of_string(rule->prefix));
  TideKeySpelling spelling = {.text_case = rule->name_case, .strip_spaces = rule->strip_spaces};
  tide_key_spelling_append(&spelling, name, out);
}
