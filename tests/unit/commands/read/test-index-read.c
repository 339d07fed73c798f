/* Rows behind an index: their keys, the batches they are asked for in, and those that are not there. */
#include "commands/read/row_view.h"

#include "unit/assert_bytes.h"
#include "unit/config-texts.h"
#include "unit/test_case.h"
#include "util/error.h"

#include <stdio.h>

#define TIME_MS G_GINT64_CONSTANT(1426535612045)

static const char yaml[] =
    KAFKA HBASE READINGS "tables:\n"
                         "  DATA:\n"
                         "    key: [ { field: device, width: 6, pad: \"0\" }, \"#\", { time: epoch_ms } ]\n"
                         "    columns: { family: M, from: \"*\" }\n"
                         "  OTHER:\n"
                         "    key: [ { field: device }, \"#\", { field: line }, \"#\", { time: epoch_ms } ]\n"
                         "    columns: { family: M, from: \"*\" }\n"
                         "  INDEX:\n"
                         "    latest: merge\n"
                         "    index_of: DATA\n"
                         "    key: [ { field: device } ]\n"
                         "    columns: { family: cf, from: { value: { time: epoch_ms, binary: true }, as: ts } }\n"
                         "  PLAIN:\n"
                         "    latest: merge\n"
                         "    key: [ { field: device } ]\n"
                         "    columns: { family: cf, from: \"*\" }\n";

/* A data table that has every row but those whose device ends in 7. */
typedef struct Data {
  guint n_calls;
  guint n_asked;
  gsize most_rows;
  guint n_failures; /* calls that are still to fail */
  int fault;        /* TideErrorCode */
  gsize cell_bytes; /* of each row's value */
} Data;

static gboolean
get_rows(const TideGetRequest *request, TideRowFunc func, gpointer func_data, gpointer user_data, GError **error)
{
  Data *data = user_data;
  data->n_calls++;
  if (data->n_failures > 0) {
    data->n_failures--;
    g_set_error(error, TIDE_ERROR, data->fault, "as told");
    return FALSE;
  }
  data->most_rows = MAX(data->most_rows, request->n_rows);
  g_autofree guint8 *value = g_malloc(MAX(data->cell_bytes, 1));
  memset(value, 'x', data->cell_bytes);
  for (gsize i = 0; i < request->n_rows; i++) {
    TideBytes key = request->rows[i];
    g_autofree char *expected = g_strdup_printf("%06u#%" G_GINT64_FORMAT, data->n_asked, TIME_MS + data->n_asked);
    assert_bytes_equal(key, tide_bytes_of_string(expected));
    if (data->n_asked++ % 10 == 7)
      continue;
    TideResultCell cell = {.family = TIDE_BYTES_LITERAL("M"),
                           .qualifier = TIDE_BYTES_LITERAL("q"),
                           .value = tide_bytes(value, data->cell_bytes),
                           .timestamp_ms = TIME_MS};
    TideResultRow row = {.row = key, .cells = &cell, .n_cells = 1};
    g_assert_true(func(&row, func_data));
  }
  return TRUE;
}

typedef struct Fixture {
  TideConfig *config;
  TideRowView *view;
  char *shown;
  size_t shown_len;
  FILE *stream;
  Data data;
} Fixture;

static void
set_up(Fixture *fixture, gconstpointer data)
{
  *fixture = (Fixture){.config = load_text(yaml)};
  fixture->stream = open_memstream(&fixture->shown, &fixture->shown_len);
  TideRowViewOptions viewing = {.command = "latest",
                                .table = tide_config_find_table(fixture->config, "DATA"),
                                .printing.format = TIDE_OUTPUT_CSV};
  fixture->view = tide_row_view_new(fixture->stream, fixture->config->names, &viewing);
}

static void
tear_down(Fixture *fixture, gconstpointer data)
{
  tide_row_view_free(fixture->view);
  fclose(fixture->stream);
  free(fixture->shown);
  tide_config_free(fixture->config);
}

#define FIXTURE_TEST(path) TEST_WITH(Fixture, set_up, tear_down, path)

static TideIndexRead *
read_new(Fixture *fixture, const char *index, const char *data, GError **error)
{
  TideIndexReadOptions options = {.config = fixture->config,
                                  .index = tide_config_find_table(fixture->config, index),
                                  .data = tide_config_find_table(fixture->config, data),
                                  .get = get_rows,
                                  .get_data = &fixture->data,
                                  .view = fixture->view};
  return tide_index_read_new(&options, error);
}

static gboolean
add_value(TideIndexRead *read, const char *device, TideBytes value, GError **error)
{
  TideResultCell cell = {
      .family = TIDE_BYTES_LITERAL("cf"), .qualifier = TIDE_BYTES_LITERAL("ts"), .value = value, .timestamp_ms = 1};
  TideResultRow row = {.row = tide_bytes_of_string(device), .cells = &cell, .n_cells = 1};
  return tide_index_read_add(read, &row, error);
}

#define N_DEVICES 1500u /* some batches; each tenth's row is missing */

/* The index's row of device @i. */
static gboolean
add_device(TideIndexRead *read, guint i, GError **error)
{
  g_autofree char *device = g_strdup_printf("%u", i);
  guint64 time_be = GUINT64_TO_BE((guint64)(TIME_MS + i));
  return add_value(read, device, tide_bytes(&time_be, sizeof time_be), error);
}

FIXTURE_TEST("/index-read/an-inventory-takes-some-dozen-calls-and-tells-what-is-missing")
{
  g_autoptr(GError) error = NULL;
  g_autoptr(TideIndexRead) read = read_new(fixture, "INDEX", "DATA", &error);
  g_assert_no_error(error);
  for (guint i = 0; i < N_DEVICES; i++)
    g_assert_true(add_device(read, i, &error));
  g_assert_true(tide_index_read_flush(read, &error));
  tide_row_view_finish(fixture->view);
  fflush(fixture->stream);
  g_assert_cmpuint(fixture->data.n_asked, ==, N_DEVICES);
  g_assert_cmpuint(fixture->data.most_rows, ==, TIDE_INDEX_BATCH_ROWS);
  g_assert_cmpuint(fixture->data.n_calls, <=, N_DEVICES / TIDE_INDEX_BATCH_ROWS + 2);
  g_assert_cmpuint(tide_row_view_n_rows(fixture->view), ==, N_DEVICES - N_DEVICES / 10);
  g_assert_cmpuint(tide_index_read_finish(read), ==, N_DEVICES / 10);
  g_assert_true(g_str_has_prefix(fixture->shown, "row,device,timestamp_ms,time,column,value\n"
                                                 "000000#1426535612045,0,1426535612045,"));
}

FIXTURE_TEST("/index-read/large-rows-come-by-fewer")
{
  fixture->data.cell_bytes = 1 << 20;
  g_autoptr(TideIndexRead) read = read_new(fixture, "INDEX", "DATA", NULL);
  for (guint i = 0; i < 40; i++)
    g_assert_true(add_device(read, i, NULL));
  g_assert_true(tide_index_read_flush(read, NULL));
  /* Sixteen of a megabyte are what one call may bring. */
  g_assert_cmpuint(fixture->data.most_rows, <=, 18);
  g_assert_cmpuint(fixture->data.n_asked, ==, 40);
}

TEST("/index-read/a-lost-connection-loses-no-row")
{
  static const struct {
    int fault;
    guint n_failures;
    gboolean ok;
  } cases[] = {
      {TIDE_ERROR_CONNECTION_LOST, 1, TRUE}, {TIDE_ERROR_CONNECTION_LOST, 2, FALSE}, {TIDE_ERROR_GATEWAY, 1, FALSE}};
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    Fixture fixture;
    set_up(&fixture, NULL);
    fixture.data.fault = cases[i].fault;
    fixture.data.n_failures = cases[i].n_failures;
    g_autoptr(GError) error = NULL;
    g_autoptr(TideIndexRead) read = read_new(&fixture, "INDEX", "DATA", NULL);
    g_assert_true(add_device(read, 0, NULL));
    g_assert_true(tide_index_read_flush(read, &error) == cases[i].ok);
    g_assert_cmpuint(tide_row_view_n_rows(fixture.view), ==, cases[i].ok ? 1 : 0);
    tear_down(&fixture, NULL);
  }
}

FIXTURE_TEST("/index-read/a-row-that-names-none-is-counted")
{
  g_autoptr(TideIndexRead) read = read_new(fixture, "INDEX", "DATA", NULL);
  g_assert_true(add_value(read, "0", TIDE_BYTES_LITERAL("short"), NULL));
  g_assert_true(add_value(read, "longer than six", TIDE_BYTES_LITERAL("\0\0\0\0\0\0\0\1"), NULL));
  g_assert_true(tide_index_read_flush(read, NULL));
  g_assert_cmpuint(fixture->data.n_calls, ==, 0);
  g_assert_cmpuint(tide_index_read_finish(read), ==, 2);
}

FIXTURE_TEST("/index-read/an-index-that-cannot-lead-is-refused")
{
  static const struct {
    const char *index;
    const char *data;
    const char *message;
  } cases[] = {
      {"INDEX", "OTHER", "their key has the field 'line'"},
      {"PLAIN", "DATA", "declares no cell with the time"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GError) error = NULL;
    g_assert_null(read_new(fixture, cases[i].index, cases[i].data, &error));
    g_assert_error(error, TIDE_ERROR, TIDE_ERROR_USAGE);
    g_assert_nonnull(strstr(error->message, cases[i].message));
  }
}
