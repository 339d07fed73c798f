/* Latest values through an index: a table with the latest time of each device. */
#include "commands/read/row_view.h"

#include "commands/cli/output.h"
#include "model/scratch.h"
#include "model/table/dated_table.h"
#include "util/error.h"
#include "util/units.h"

#define MAX_REPORTED 10 /* rows that are reported one by one; all are counted */

struct TideIndexRead {
  TideIndexReadOptions options;
  TideKeyReader index_keys;    /* owned */
  TideCellReader *index_cells; /* owned: finds a cell's declaration */
  TideField *fields;           /* owned: the fields of the data table's key */
  guint32 *known;              /* owned */
  TideReading reading;

  TideBuffer key;   /* owned; reused */
  TideScratch keys; /* owned: memory that wanted points to */
  GArray *wanted;   /* owned (element-type TideBytes): keys of the rows to read */
  guint next;       /* index in wanted: earlier ones were read or are missing */
  guint batch_rows; /* wanted at a time */
  gsize n_bytes;    /* bytes of the batch's rows */
  gboolean stopped; /* the output is closed: rows not shown are not missing */
  guint64 n_missing;
  guint64 n_unreadable;
};

/* ---- requirements of an index ---- */

static gboolean
check_tables(const TideIndexRead *read, GError **error)
{
  const TideConfig *config = read->options.config;
  const TideTable *index = read->options.index;
  const TideTable *data = read->options.data;
  gboolean declares_time = FALSE;
  for (guint i = 0; i < index->rules->len; i++) {
    const TideColumnRule *rule = &g_array_index(index->rules, TideColumnRule, i);
    for (gsize k = 0; k < rule->n_items; k++)
      declares_time |= rule->items[k].value != NULL;
  }
  if (tide_table_is_template(data))
    return tide_fail(error, TIDE_ERROR_USAGE,
                     "the index '%s' points to '%s', which is a template for many tables: use '--raw' to show the "
                     "index, or 'scan' to read one of them",
                     index->name, data->name);
  if (tide_row_key_has_time(data->key) && !declares_time)
    return tide_fail(error, TIDE_ERROR_USAGE,
                     "the index '%s' declares no cell with the time, so rows of '%s' cannot be found through it",
                     index->name, data->name);
  g_autoptr(GArray) needed = g_array_new(FALSE, FALSE, sizeof(TideNameId));
  tide_row_key_fields(data->key, needed);
  for (guint i = 0; i < needed->len; i++) {
    TideNameId id = g_array_index(needed, TideNameId, i);
    g_autofree char *field = tide_text_printable(tide_field_names_text(config->names, id));
    if (!tide_name_ids_contain(read->index_keys.ids, id))
      return tide_fail(error, TIDE_ERROR_USAGE,
                       "the index '%s' does not point to rows of '%s': their key has the field '%s', which the index's "
                       "key lacks; use '--raw' to show the index itself",
                       index->name, data->name, field);
  }
  return TRUE;
}

TideIndexRead *
tide_index_read_new(const TideIndexReadOptions *options, GError **error)
{
  g_autoptr(TideIndexRead) read = g_new0(TideIndexRead, 1);
  const TideFieldNames *names = options->config->names;
  guint32 n_known = tide_field_names_count(names);
  read->options = *options;
  tide_key_reader_init(&read->index_keys, options->index, names);
  read->index_cells = tide_cell_reader_new(options->index, names);
  const GArray *ids = read->index_keys.ids;
  read->fields = g_new0(TideField, MAX(ids->len, 1));
  read->known = g_new0(guint32, MAX(n_known, 1));
  for (guint i = 0; i < ids->len; i++)
    read->known[g_array_index(ids, TideNameId, i)] = i + 1;
  read->reading = (TideReading){.fields = read->fields, .n_fields = ids->len, .known = read->known, .n_known = n_known};
  read->wanted = g_array_new(FALSE, FALSE, sizeof(TideBytes));
  read->batch_rows = TIDE_INDEX_FIRST_BATCH_ROWS;
  if (!check_tables(read, error))
    return NULL;
  return g_steal_pointer(&read);
}

void
tide_index_read_free(TideIndexRead *read)
{
  if (read == NULL)
    return;
  tide_key_reader_clear(&read->index_keys);
  tide_cell_reader_free(read->index_cells);
  g_free(read->fields);
  g_free(read->known);
  tide_buffer_clear_memory(&read->key);
  tide_scratch_clear_memory(&read->keys);
  g_array_unref(read->wanted);
  g_free(read);
}

/* ---- a row of the index ---- */

static void
report_unreadable(TideIndexRead *read, TideBytes key, const char *why)
{
  if (read->n_unreadable++ >= MAX_REPORTED)
    return;
  g_autofree char *shown = tide_bytes_printable(key);
  tide_say("tidemark latest: row '%s' of index '%s' points to no row: %s", shown, read->options.index->name, why);
}

/* Fills the reading from which the data table's key is built. */
static gboolean
read_index_row(TideIndexRead *read, const TideResultRow *row)
{
  const TideBytes *values = tide_key_reader_read(&read->index_keys, row).fields;
  if (values == NULL) {
    report_unreadable(read, row->row, "its key does not match the declared scheme");
    return FALSE;
  }
  gboolean has_time = !tide_row_key_has_time(read->options.data->key); /* a key without time needs none */
  for (gsize i = 0; i < row->n_cells; i++) {
    const TideResultCell *cell = &row->cells[i];
    TideDeclaredColumn column = tide_cell_reader_find(read->index_cells, cell->family, cell->qualifier);
    if (column.item == NULL || column.item->value == NULL ||
        !tide_key_text_read_time(column.item->value, cell->value, &read->reading.event_time_ns))
      continue;
    has_time = TRUE;
    break;
  }
  if (!has_time) {
    report_unreadable(read, row->row, "no cell contains a time as declared");
    return FALSE;
  }
  for (guint i = 0; i < read->index_keys.ids->len; i++) {
    TideNameId id = g_array_index(read->index_keys.ids, TideNameId, i);
    read->fields[i] = (TideField){
        .name_id = id,
        .kind = values[i].data != NULL ? TIDE_VALUE_STRING : TIDE_VALUE_NULL,
        .name = tide_field_names_text(read->options.config->names, id),
        .text = values[i],
    };
  }
  return TRUE;
}

gboolean
tide_index_read_add(TideIndexRead *read, const TideResultRow *row, GError **error)
{
  TideReject reject = {0};
  if (!read_index_row(read, row))
    return TRUE;
  tide_buffer_reset(&read->key);
  if (!tide_row_key_append(read->options.data->key, &read->reading, &read->key, &reject)) {
    g_autofree char *why = tide_reject_describe(&reject);
    report_unreadable(read, row->row, why);
    return TRUE;
  }
  TideBytes wanted = tide_scratch_copy(&read->keys, tide_buffer_bytes(&read->key));
  g_array_append_val(read->wanted, wanted);
  return read->wanted->len < read->batch_rows || tide_index_read_flush(read, error);
}

/* ---- rows of the data table ---- */

static TideBytes
wanted_key(const TideIndexRead *read, guint i)
{
  return g_array_index(read->wanted, TideBytes, i);
}

/* A row without any of the chosen columns looks like a missing one. */
static const char *
missing_what(const TideIndexRead *read)
{
  const TideColumnChoice *columns = read->options.columns;
  return columns != NULL && tide_column_choice_count(columns) > 0 ? " with such a column" : "";
}

static void
report_missing(TideIndexRead *read, TideBytes key)
{
  if (read->n_missing++ >= MAX_REPORTED)
    return;
  g_autofree char *shown = tide_bytes_printable(key);
  tide_say("tidemark latest: index '%s' points to row '%s', which is missing in '%s'%s", read->options.index->name,
           shown, read->options.data->name, missing_what(read));
}

/* Rows arrive in the requested order: those in between do not exist. */
static gboolean
show_row(const TideResultRow *row, gpointer data)
{
  TideIndexRead *read = data;
  while (read->next < read->wanted->len && !tide_bytes_equal(wanted_key(read, read->next), row->row))
    report_missing(read, wanted_key(read, read->next++));
  read->next++;
  for (gsize i = 0; i < row->n_cells; i++)
    read->n_bytes += row->row.len + row->cells[i].qualifier.len + row->cells[i].value.len + sizeof *row->cells;
  read->stopped = !tide_row_view_add_result(read->options.view, row);
  return !read->stopped;
}

gboolean
tide_index_read_flush(TideIndexRead *read, GError **error)
{
  if (read->wanted->len == 0 || read->stopped)
    return TRUE;
  TideGetRequest request = {.rows = (const TideBytes *)(gpointer)read->wanted->data, .n_rows = read->wanted->len};
  if (read->options.columns != NULL)
    request.columns = tide_column_choice_asked(read->options.columns, &request.n_columns);
  read->next = 0;
  read->n_bytes = 0;
  /* A lost connection is detected before any row is shown: a reply is read completely. */
  g_autoptr(GError) first_error = NULL;
  if (!read->options.get(&request, show_row, read, read->options.get_data, &first_error)) {
    if (!tide_gateway_error_is_lost(first_error)) {
      g_propagate_error(error, g_steal_pointer(&first_error));
      return FALSE;
    }
    if (!read->options.get(&request, show_row, read, read->options.get_data, error))
      return FALSE;
  }
  while (!read->stopped && read->next < read->wanted->len)
    report_missing(read, wanted_key(read, read->next++));
  /* As many rows as fit, based on the size of these. */
  gsize row_bytes = MAX(read->n_bytes / read->wanted->len, 1);
  read->batch_rows = (guint)CLAMP(TIDE_INDEX_BATCH_BYTES / row_bytes, 1, TIDE_INDEX_BATCH_ROWS);
  g_array_set_size(read->wanted, 0);
  tide_scratch_reset(&read->keys);
  return TRUE;
}

guint64
tide_index_read_finish(const TideIndexRead *read)
{
  const char *index = read->options.index->name;
  if (read->n_missing > MAX_REPORTED) {
    g_autofree char *rows = tide_count_of(read->n_missing, "row", NULL);
    tide_say("tidemark latest: %s of index '%s' point to rows missing in '%s'%s", rows, index, read->options.data->name,
             missing_what(read));
  }
  if (read->n_unreadable > MAX_REPORTED) {
    g_autofree char *rows = tide_count_of(read->n_unreadable, "row", NULL);
    tide_say("tidemark latest: %s of index '%s' cannot be followed", rows, index);
  }
  return read->n_missing + read->n_unreadable;
}
