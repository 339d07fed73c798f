#include "model/table.h"

static void
clear_rule(gpointer data)
{
  TideColumnRule *rule = data;
  for (gsize i = 0; rule->qualifiers != NULL && i < rule->n_fields; i++)
    g_free(rule->qualifiers[i]);
  g_free(rule->qualifiers);
  g_free(rule->fields);
  g_free(rule->family);
}

static void
free_family(gpointer family)
{
  tide_family_settings_free(family);
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
    g_ptr_array_set_free_func(table->families, free_family);
    g_ptr_array_unref(table->families);
  }
  tide_splits_free(table->splits);
  tide_row_key_free(table->key);
  g_free(table->name);
  g_free(table);
}

GArray *
tide_table_key_fields(const TideTable *table, TideNameId time_field)
{
  GArray *ids = g_array_new(FALSE, FALSE, sizeof(TideNameId));
  tide_row_key_stored_fields(table->key, ids);
  gboolean is_in_key = FALSE;
  for (guint i = 0; i < ids->len; i++)
    is_in_key |= g_array_index(ids, TideNameId, i) == time_field;
  if (time_field != TIDE_NAME_NONE && !is_in_key)
    g_array_append_val(ids, time_field);
  return ids;
}
