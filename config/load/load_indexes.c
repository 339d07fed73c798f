/* index_of: tables that contain the time of the newest row of another table. Checked when all tables are known: the
 * data row's key must follow from the index row. */
#include "config/config_source.h"
#include "config/load/load_table.h"
#include "config/option/nearest_name.h"

#include <string.h>

static void G_GNUC_PRINTF(2, 3) add_error(const TideTableLoad *it, const char *format, ...)
{
  va_list args;

  va_start(args, format);
  g_autofree char *text = g_strdup_vprintf(format, args);
  va_end(args);
  tide_load_error(it->load, tide_yaml_get(it->node, "index_of"), "'%s.index_of': %s", it->path, text);
}

static void
add_unknown_table(const TideTableLoad *it)
{
  const GPtrArray *tables = it->load->config->tables;
  g_autofree const char **names = g_new0(const char *, tables->len + 1);
  g_autofree char *shown = tide_problem_quote(it->draft.index_of);

  for (guint i = 0; i < tables->len; i++)
    names[i] = ((const TideTable *)g_ptr_array_index(tables, i))->name;
  const char *nearest = tide_nearest_name(it->draft.index_of, names);
  if (nearest != NULL)
    add_error(it, "there is no table '%s'; did you mean '%s'?", shown, nearest);
  else
    add_error(it, "there is no table '%s': name a table of this file", shown);
}

/* The data table's key must follow from the index's key and the time in its cell. */
static void
check_key(const TideTableLoad *it, const TideTable *data)
{
  g_autoptr(GArray) needed = g_array_new(FALSE, FALSE, sizeof(TideNameId));
  g_autoptr(GArray) known = g_array_new(FALSE, FALSE, sizeof(TideNameId));

  tide_row_key_fields(data->key, needed);
  tide_row_key_stored_fields(it->table->key, known);
  for (guint i = 0; i < needed->len; i++) {
    TideNameId id = g_array_index(needed, TideNameId, i);
    if (tide_name_ids_contain(known, id))
      continue;
    TideBytes name = tide_field_names_text(it->load->config->names, id);
    g_autofree char *copy = g_strndup((const char *)name.data, name.len);
    g_autofree char *shown = tide_problem_quote(copy);
    add_error(it,
              "the key of '%s' contains '%s', but the key of this index does not: add it, or the row cannot be found "
              "through the index",
              data->name, shown);
  }
  if (!tide_row_key_has_time(data->key))
    add_error(it, "'%s' has no time in its key, so an index is useless: read the table by its fields", data->name);
}

/* Checked for the readings of each source of the index. */
static gboolean
has_time_of(const TideTableLoad *it, const TideTable *data)
{
  const GPtrArray *sources = it->load->config->sources;
  gboolean has = TRUE;

  for (guint i = 0; i < sources->len; i++) {
    const TideConfigSource *source = g_ptr_array_index(sources, i);
    gboolean is_read = tide_config_takes_from(it->table, source) && tide_config_takes_from(data, source);
    has &= !is_read ||
           tide_time_spec_reads_alike(tide_config_time_of(it->table, source), tide_config_time_of(data, source));
  }
  return has;
}

static void
load_index(TideTableLoad *it)
{
  const TideTable *data = tide_config_find_table(it->load->config, it->draft.index_of);

  if (data == NULL) {
    add_unknown_table(it);
    return;
  }
  it->table->index_of = data->index;
  if (data == it->table) {
    add_error(it, "a table cannot be its own index: name the table with the data");
    return;
  }
  if (it->table->latest == TIDE_LATEST_NONE)
    add_error(it, "an index contains the newest time of each key and must be a latest table: add 'latest: merge'");
  if (data->latest != TIDE_LATEST_NONE)
    add_error(it, "'%s' is itself a latest table and needs no index: its rows are found by their fields", data->name);
  if (!it->has_time_value)
    add_error(it, "no cell of this table contains the time of the newest row: add { value: { time: epoch_ms, binary: "
                  "true }, as: ts } to its 'from'");
  if (!has_time_of(it, data))
    add_error(it, "this table and '%s' must have the same 'time', or the index would contain the time of another row",
              data->name);
  if (it->table->key != NULL && data->key != NULL && data->latest == TIDE_LATEST_NONE)
    check_key(it, data);
}

void
tide_load_indexes(GPtrArray *tables)
{
  for (guint i = 0; i < tables->len; i++) {
    TideTableLoad *it = g_ptr_array_index(tables, i);
    if (it->draft.index_of != NULL)
      load_index(it);
  }
}
