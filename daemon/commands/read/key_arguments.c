#include "commands/read/key_arguments.h"

#include "commands/cli/output.h"
#include "config/config_source.h"
#include "config/option/nearest_name.h"
#include "model/table/dated_table.h"
#include "util/error.h"

#define HEX_PREFIX "hex:"

static GArray *
key_field_ids(const TideTable *table)
{
  GArray *ids = g_array_new(FALSE, FALSE, sizeof(TideNameId));
  tide_row_key_fields(table->key, ids);
  return ids;
}

/* Copies of the names of @ids: the configuration owns them and does not terminate them by NUL. */
static char **
key_field_names(const TideConfig *config, const GArray *ids)
{
  char **names = g_new0(char *, ids->len + 1);
  for (guint i = 0; i < ids->len; i++) {
    TideBytes name = tide_field_names_text(config->names, g_array_index(ids, TideNameId, i));
    names[i] = g_strndup((const char *)name.data, name.len);
  }
  return names;
}

/* The key field before the '=' in @text, or TIDE_NAME_NONE. */
static TideNameId
find_key_field(const TideConfig *config, const GArray *ids, const char *text)
{
  const char *equals = strchr(text, '=');
  if (equals == NULL)
    return TIDE_NAME_NONE;
  TideNameId id = tide_field_names_find(config->names, tide_bytes(text, (gsize)(equals - text)));
  return tide_name_ids_contain(ids, id) ? id : TIDE_NAME_NONE;
}

gboolean
tide_key_argument_names_field(const TideConfig *config, const TideTable *table, const char *text)
{
  g_autoptr(GArray) ids = key_field_ids(table);
  return find_key_field(config, ids, text) != TIDE_NAME_NONE;
}

GStrv
tide_key_argument_fields(const TideConfig *config, const TideTable *table)
{
  g_autoptr(GArray) ids = key_field_ids(table);
  return key_field_names(config, ids);
}

static void
set_unknown_field(const TideConfig *config, const TideTable *table, const GArray *ids, const char *text, GError **error)
{
  g_auto(GStrv) names = key_field_names(config, ids);
  g_autofree char *known = g_strjoinv(", ", names);
  const char *equals = strchr(text, '=');
  if (equals == NULL) {
    tide_fail(error, TIDE_ERROR_USAGE, "'%s' is not FIELD=VALUE: the key of '%s' consists of: %s", text, table->name,
              known);
    return;
  }
  g_autofree char *given = g_strndup(text, (gsize)(equals - text));
  const char *nearest = tide_nearest_name(given, (const char *const *)names);
  TideNameId time_field = tide_config_time_of(table, tide_config_first_source(config, table))->field;
  if (time_field != TIDE_NAME_NONE &&
      tide_bytes_equal(tide_field_names_text(config->names, time_field), tide_bytes_of_string(given)))
    tide_fail(error, TIDE_ERROR_USAGE, "the key of '%s' has no field '%s': give its time as a range", table->name,
              given);
  else if (nearest != NULL)
    tide_fail(error, TIDE_ERROR_USAGE, "the key of '%s' has no field '%s': did you mean '%s'?", table->name, given,
              nearest);
  else if (ids->len == 0)
    tide_fail(error, TIDE_ERROR_USAGE, "the key of '%s' has no fields", table->name);
  else
    tide_fail(error, TIDE_ERROR_USAGE, "the key of '%s' has no field '%s': it consists of: %s", table->name, given,
              known);
}

TideKeyArguments *
tide_key_arguments_parse(const TideConfig *config, const TideTable *table, const char *const *texts, gsize n_texts,
                         GError **error)
{
  g_autoptr(GArray) ids = key_field_ids(table);
  guint32 n_known = tide_field_names_count(config->names);
  g_autoptr(TideKeyArguments) arguments = g_new0(TideKeyArguments, 1);
  arguments->fields = g_new0(TideField, MAX(n_texts, 1));
  arguments->values = g_new0(TideBuffer, MAX(n_texts, 1));
  arguments->known = g_new0(guint32, MAX(n_known, 1));
  arguments->reading = (TideReading){.fields = arguments->fields, .known = arguments->known, .n_known = n_known};

  for (gsize i = 0; i < n_texts; i++) {
    TideNameId id = find_key_field(config, ids, texts[i]);
    if (id == TIDE_NAME_NONE) {
      set_unknown_field(config, table, ids, texts[i], error);
      return NULL;
    }
    const char *value = strchr(texts[i], '=') + 1;
    if (arguments->known[id] != 0) {
      tide_fail(error, TIDE_ERROR_USAGE, "the field of '%s' is given twice", texts[i]);
      return NULL;
    }
    tide_text_unescape(value, &arguments->values[i]);
    arguments->fields[i] = (TideField){
        .name_id = id,
        .kind = TIDE_VALUE_STRING,
        .name = tide_field_names_text(config->names, id),
        .text = tide_buffer_bytes(&arguments->values[i]),
    };
    arguments->reading.n_fields = (guint32)i + 1;
    arguments->known[id] = (guint32)i + 1;
  }
  return g_steal_pointer(&arguments);
}

void
tide_key_arguments_free(TideKeyArguments *arguments)
{
  if (arguments == NULL)
    return;
  for (guint32 i = 0; i < arguments->reading.n_fields; i++)
    tide_buffer_clear_memory(&arguments->values[i]);
  g_free(arguments->values);
  g_free(arguments->fields);
  g_free(arguments->known);
  g_free(arguments);
}

char *
tide_key_arguments_missing(const TideKeyArguments *arguments, const TideConfig *config, const TideTable *table)
{
  g_autoptr(GArray) ids = key_field_ids(table);
  g_autoptr(GArray) missing = g_array_new(FALSE, FALSE, sizeof(TideNameId));
  for (guint i = 0; i < ids->len; i++) {
    TideNameId id = g_array_index(ids, TideNameId, i);
    if (tide_reading_field(&arguments->reading, id) == NULL)
      g_array_append_val(missing, id);
  }
  if (missing->len == 0)
    return NULL;
  g_auto(GStrv) names = key_field_names(config, missing);
  return g_strjoinv(", ", names);
}

gboolean
tide_key_arguments_append_key(const TideKeyArguments *arguments, const TideConfig *config, const TideTable *table,
                              gint64 time_ns, TideBuffer *out, GError **error)
{
  TideReading reading = arguments->reading;
  TideReject reject = {0};
  reading.event_time_ns = time_ns;
  if (tide_row_key_append(table->key, &reading, out, &reject))
    return TRUE;
  g_autofree char *missing = tide_key_arguments_missing(arguments, config, table);
  g_autofree char *key = tide_row_key_describe(table->key, config->names);
  tide_reject_resolve_field(&reject, config->names);
  g_autofree char *why = tide_reject_describe(&reject);
  if (reject.reason == TIDE_REJECT_MISSING_FIELD && missing != NULL)
    tide_fail(error, TIDE_ERROR_USAGE, "%s is missing: the key of '%s' is %s", missing, table->name, key);
  else
    tide_fail(error, TIDE_ERROR_USAGE, "no row of '%s' can have these fields: %s; its key is %s", table->name, why,
              key);
  return FALSE;
}

gboolean
tide_key_hex_parse(const char *hex, TideBuffer *out, GError **error)
{
  if (hex[0] != '\0' && tide_bytes_from_hex(hex, strlen(hex), out))
    return TRUE;
  return tide_fail(error, TIDE_ERROR_USAGE, "'%s' is not a hexadecimal row key: use two digits per byte (00ff)", hex);
}

gboolean
tide_key_bytes_parse(const char *text, TideBuffer *out, GError **error)
{
  if (g_str_has_prefix(text, HEX_PREFIX))
    return tide_key_hex_parse(text + strlen(HEX_PREFIX), out, error);
  tide_text_unescape(text, out);
  return TRUE;
}

const TideTable *
tide_table_argument_find(const TideConfig *config, const char *name, GError **error)
{
  const TideTable *table = tide_table_of_name(config, name);
  if (table != NULL)
    return table;
  g_autoptr(GPtrArray) names = g_ptr_array_new();
  for (guint i = 0; i < config->tables->len; i++)
    g_ptr_array_add(names, ((const TideTable *)config->tables->pdata[i])->name);
  g_ptr_array_add(names, NULL);
  const char *nearest = tide_nearest_name(name, (const char *const *)names->pdata);
  if (nearest != NULL) {
    tide_fail(error, TIDE_ERROR_USAGE, "no table '%s' in '%s': did you mean '%s'?", name, config->path, nearest);
    return NULL;
  }
  g_autofree char *known = g_strjoinv(", ", (char **)names->pdata);
  tide_fail(error, TIDE_ERROR_USAGE, "no table '%s' in '%s': it declares %s", name, config->path, known);
  return NULL;
}

const TideTable *
tide_table_argument_read(const TideConfig *config, const char *name, GError **error)
{
  const TideTable *table = tide_table_argument_find(config, name, error);
  if (table == NULL || !tide_table_is_template(table))
    return table;
  tide_fail(error, TIDE_ERROR_USAGE,
            "'%s' is a template for many tables: name one of them, with a date in place of the braces", table->name);
  return NULL;
}
