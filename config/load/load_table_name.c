/* Names of tables: plain, or with a date in them, SENSOR_{yyyyMMdd}. */
#include "config/load/load_table.h"
#include "model/time/time_pattern.h"
#include "util/error.h"

#include <string.h>

#define TABLE_NAME_MAX_BYTES 255                                    /* the name becomes the name of a folder */
#define SAMPLE_TIME_NS (G_GINT64_CONSTANT(1767225600) * 1000000000) /* 2026-01-01, to try how a name will look */

static gboolean
is_name(const char *name, gsize len, const char *extra)
{
  for (gsize i = 0; i < len; i++) {
    if (!g_ascii_isalnum(name[i]) && strchr(extra, name[i]) == NULL)
      return FALSE;
  }
  return len > 0;
}

gboolean
tide_config_check_table_name(const char *name, GError **error)
{
  const char *colon = strchr(name, ':');
  const char *table = colon != NULL ? colon + 1 : name;
  gsize namespace_len = colon != NULL ? (gsize)(colon - name) : 0;

  if (strlen(name) > TABLE_NAME_MAX_BYTES || (colon != NULL && !is_name(name, namespace_len, "_")) ||
      !is_name(table, strlen(table), "_.-") || table[0] == '.' || table[0] == '-')
    return tide_fail(error, TIDE_ERROR_CONFIG,
                     "is not a valid HBase table name: use letters, digits, _ . and -, optionally after 'namespace:'");
  if (namespace_len == 5 && strncmp(name, "hbase", 5) == 0)
    return tide_fail(error, TIDE_ERROR_CONFIG, "is in the namespace of HBase's own tables");
  return TRUE;
}

/* The components of a name with a date; all NULL for a name without { }. */
typedef struct DatedName {
  char *before;  /* owned */
  char *pattern; /* owned */
  char *behind;  /* owned */
} DatedName;

static void
clear_dated_name(DatedName *name)
{
  g_free(name->before);
  g_free(name->pattern);
  g_free(name->behind);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(DatedName, clear_dated_name)

/* FALSE with the reason if the text between the braces is not a date, or the resulting name is invalid. */
static gboolean
check_date(const DatedName *name, GError **error)
{
  g_autoptr(GError) reason = NULL;
  g_autoptr(TideTimePattern) print = tide_time_pattern_compile(name->pattern, TIDE_PATTERN_KEY, &reason);
  g_auto(TideBuffer) date = {0};

  if (print == NULL || print->width_bytes == 0 || !tide_time_names_from_year(print->named))
    return tide_fail(error, TIDE_ERROR_CONFIG, "has no valid date between { and } (%s): write yyyyMMdd, yyyyMM or yyyy",
                     reason != NULL ? reason->message : "it must contain a year and have a fixed width");
  tide_time_pattern_print(print, NULL, SAMPLE_TIME_NS, &date);
  g_autofree char *full =
      g_strdup_printf("%s%.*s%s", name->before, (int)date.len, (const char *)date.data, name->behind);
  return tide_config_check_table_name(full, error);
}

void
tide_load_table_name(TideTableLoad *it)
{
  const char *text = it->table->name;
  g_autofree char *shown = tide_problem_quote(text);
  g_autoptr(GError) error = NULL;
  g_auto(DatedName) name = {0};
  const char *open = strchr(text, '{'), *close = open != NULL ? strchr(open, '}') : NULL;
  gboolean is_dated = close != NULL;
  if (is_dated) {
    name.before = g_strndup(text, (gsize)(open - text));
    name.pattern = g_strndup(open + 1, (gsize)(close - open - 1));
    name.behind = g_strdup(close + 1);
  }
  gboolean is_good = is_dated ? check_date(&name, &error) : tide_config_check_table_name(text, &error);

  if (!is_good)
    tide_load_error(it->load, it->key_node, "'%s' %s", shown, error->message);
  if (!is_dated)
    tide_load_refuse_option(it->load, it->path, it->node, "name_zone",
                            "on a name without a date, such as SENSOR_{yyyyMMdd}");
  if (is_dated && it->table->latest != TIDE_LATEST_NONE)
    tide_load_error(it->load, it->key_node,
                    "'%s' is a latest table with a date in its name, which would spread the newest values over several "
                    "tables: remove the date",
                    shown);
  if (!is_dated || !is_good)
    return;
  const TideKeyPartSpec specs[] = {
      {.kind = TIDE_KEY_LITERAL, .literal = tide_bytes_of_string(name.before)},
      {.kind = TIDE_KEY_TIME, .moment.pattern = name.pattern, .moment.zone = it->draft.name_zone},
      {.kind = TIDE_KEY_LITERAL, .literal = tide_bytes_of_string(name.behind)},
  };
  gsize n_before = *name.before != '\0' ? 1 : 0, n_behind = *name.behind != '\0' ? 1 : 0;
  TidePartList parts = {.specs = specs + 1 - n_before, .n = n_before + 1 + n_behind, .node = it->key_node};
  it->table->dated_name = tide_load_key_text(it->load, it->path, &parts, FALSE);
}
