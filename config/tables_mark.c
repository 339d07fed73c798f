#include "config/tables_mark.h"

/* The first 8 hexadecimal digits of a digest. */
#define MARK_DIGITS 8

/* (transfer full) */
static char *
describe_item(const char *family, const TideColumnItem *item, const TideFieldNames *names)
{
  TideBytes field = item->field != TIDE_NAME_NONE ? tide_field_names_text(names, item->field) : TIDE_BYTES_EMPTY;
  g_autofree char *value = item->value != NULL ? tide_row_key_describe(item->value, names) : NULL;
  return g_strdup_printf("%s|%.*s|%s|%s|%s", family, (int)field.len, (const char *)field.data,
                         item->pattern != NULL ? item->pattern : "", value != NULL ? value : "",
                         item->qualifier != NULL ? item->qualifier : "");
}

static int
compare_texts(gconstpointer a, gconstpointer b)
{
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* (transfer full) */
static char *
describe_table(const TideTable *table, const TideFieldNames *names)
{
  g_autoptr(GPtrArray) columns = g_ptr_array_new_with_free_func(g_free);
  for (guint i = 0; i < table->rules->len; i++) {
    const TideColumnRule *rule = &g_array_index(table->rules, TideColumnRule, i);
    if (rule->all_remaining)
      g_ptr_array_add(columns, g_strdup_printf("%s|*", rule->family));
    for (gsize k = 0; k < rule->n_items; k++)
      g_ptr_array_add(columns, describe_item(rule->family, &rule->items[k], names));
  }
  g_ptr_array_sort(columns, compare_texts); /* the order of options does not matter, nor that of tables below */
  g_autofree char *key = tide_row_key_describe(table->key, names);
  GString *text = g_string_new(NULL);
  g_string_append_printf(text, "%s\n%s\n%d", tide_table_short_name(table->name), key, (int)table->latest);
  for (guint i = 0; i < columns->len; i++)
    g_string_append_printf(text, "\n%s", (const char *)g_ptr_array_index(columns, i));
  return g_string_free(text, FALSE);
}

guint32
tide_config_tables_mark(const TideConfig *config)
{
  g_autoptr(GPtrArray) texts = g_ptr_array_new_with_free_func(g_free);
  g_autoptr(GChecksum) checksum = g_checksum_new(G_CHECKSUM_SHA256);
  for (guint i = 0; i < config->tables->len; i++)
    g_ptr_array_add(texts, describe_table(g_ptr_array_index(config->tables, i), config->names));
  g_ptr_array_sort(texts, compare_texts);
  for (guint i = 0; i < texts->len; i++) {
    const char *text = g_ptr_array_index(texts, i);
    g_checksum_update(checksum, (const guchar *)text, (gssize)strlen(text) + 1);
  }
  g_autofree char *digits = g_strndup(g_checksum_get_string(checksum), MARK_DIGITS);
  return MAX((guint32)g_ascii_strtoull(digits, NULL, 16), 1);
}
