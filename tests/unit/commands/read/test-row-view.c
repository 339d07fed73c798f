/* What the mapper makes of readings is shown as what was in the readings: keys, encodings, packed cells, made values.
 */
#include "commands/read/row_view.h"

#include "model/table/table_mapper.h"
#include "unit/config-texts.h"
#include "unit/test_case.h"

#include <stdio.h>

#define TIME_MS G_GINT64_CONSTANT(1426535612045) /* 2015-03-16T19:53:32.045Z */

static const char yaml[] = KAFKA HBASE READINGS
    "tables:\n"
    "  BINARY:\n"
    "    key: [ { hash: md5, of: [ { field: id, as: int32 } ], bytes: 4, as: raw }, { field: id, as: int32 },\n"
    "      { time: epoch_ms, reversed: true, binary: true } ]\n"
    "    columns:\n"
    "      - { family: M, from: [count], encode: int64, case: upper, prefix: \"N/\" }\n"
    "      - { family: M, from: [load, temp], encode: float64 }\n"
    "      - { family: M, from: { value: { time: epoch_ms, binary: true }, as: at } }\n"
    "      - { family: M, from: [name] }\n"
    "  PADDED:\n"
    "    key: [ { field: id, width: 6, pad: \"0\" }, \"#\", { time: yyyyMMdd } ]\n"
    "    columns: { family: M, from: [load], encode: float64, qualifier: [ { time: HHmm, cut: 15m } ] }\n"
    "  JSON:\n"
    "    key: [ { field: id } ]\n"
    "    latest: packed\n"
    "    columns: { family: M, from: \"*\" }\n"
    "  MSGPACK:\n"
    "    key: [ { field: id } ]\n"
    "    latest: packed\n"
    "    columns: { family: M, from: \"*\", pack: msgpack }\n";

static const struct {
  const char *name;
  const char *text;
  TideValueKind kind;
} values[] = {
    {"id", "42", TIDE_VALUE_NUMBER},      {"count", "-7", TIDE_VALUE_NUMBER},      {"load", "0.1", TIDE_VALUE_NUMBER},
    {"temp", "1e+22", TIDE_VALUE_NUMBER}, {"name", "a, \"b\"", TIDE_VALUE_STRING},
};

/* The row that the values make in @table, as the daemon would write it. */
static void
map_values(const TideConfig *config, const TideTable *table, TideTableMapper *mapper, TideRowList *list)
{
  TideField fields[G_N_ELEMENTS(values)];
  g_autofree guint32 *known = g_new0(guint32, tide_field_names_count(config->names));
  for (guint i = 0; i < G_N_ELEMENTS(values); i++) {
    TideNameId id = tide_field_names_find(config->names, tide_bytes_of_string(values[i].name));
    g_assert_cmpuint(id, !=, TIDE_NAME_NONE);
    fields[i] = (TideField){.name_id = id,
                            .kind = values[i].kind,
                            .name = tide_bytes_of_string(values[i].name),
                            .text = tide_bytes_of_string(values[i].text)};
    known[id] = i + 1;
  }
  TideReading reading = {.fields = fields,
                         .n_fields = G_N_ELEMENTS(values),
                         .known = known,
                         .n_known = tide_field_names_count(config->names),
                         .event_time_ns = TIME_MS * TIDE_NS_PER_MS};
  TideMapRequest request = {.reading = &reading, .cell_time_ms = TIME_MS};
  TideReject reject = {0};
  if (tide_table_mapper_map(mapper, &request, list, &reject) != TIDE_MAP_ROW) {
    g_autofree char *why = tide_reject_describe(&reject);
    g_error("'%s': %s", table->name, why);
  }
  tide_row_list_resolve(list);
}

/* The same row as a reply holds it, through the view. (transfer full) */
static char *
show(const TideConfig *config, const TideTable *table, const TideRow *row, gboolean as_stored)
{
  g_autofree TideResultCell *cells = g_new0(TideResultCell, row->n_cells);
  for (guint i = 0; i < row->n_cells; i++)
    cells[i] = (TideResultCell){.family = row->cells[i].column->family,
                                .qualifier = row->cells[i].column->qualifier,
                                .value = row->cells[i].value,
                                .timestamp_ms = row->cells[i].timestamp_ms};
  TideResultRow result = {.row = row->key, .cells = cells, .n_cells = row->n_cells};
  char *text = NULL;
  size_t len = 0;
  FILE *stream = open_memstream(&text, &len);
  TideRowViewOptions options = {
      .command = "scan", .table = table, .as_stored = as_stored, .printing.format = TIDE_OUTPUT_TABLE};
  g_autoptr(TideRowView) view = tide_row_view_new(stream, config->names, &options);
  g_assert_true(tide_row_view_add_result(view, &result));
  tide_row_view_finish(view);
  g_assert_cmpuint(tide_row_view_n_rows(view), ==, 1);
  fclose(stream);
  char *copy = g_strdup(text);
  free(text);
  return copy;
}

TEST("/row-view/what-was-written-is-shown")
{
  static const struct {
    const char *table;
    gboolean as_stored;
    const char *text;
  } cases[] = {
      {"BINARY", FALSE,
       "id  TIME                      COLUMN     VALUE\n"
       "42  2015-03-16T19:53:32.045Z  M:N/COUNT  -7\n"
       "42  2015-03-16T19:53:32.045Z  M:load     0.1\n"
       "42  2015-03-16T19:53:32.045Z  M:temp     1e+22\n"
       "42  2015-03-16T19:53:32.045Z  M:name     a, \"b\"\n"
       "42  2015-03-16T19:53:32.045Z  M:at       2015-03-16T19:53:32.045Z\n"},
      {"PADDED", FALSE,
       "id  TIME                      COLUMN  VALUE\n"
       "42  2015-03-16T19:53:32.045Z  M:1945  0.1\n"},
      {"PADDED", TRUE,
       "ROW              TIME                      COLUMN  VALUE\n"
       "000042#20150316  2015-03-16T19:53:32.045Z  M:1945  ?\\xB9\\x99\\x99\\x99\\x99\\x99\\x9A\n"},
      {"JSON", FALSE,
       "id  TIME                      COLUMN   VALUE\n"
       "42  2015-03-16T19:53:32.045Z  M:count  -7\n"
       "42  2015-03-16T19:53:32.045Z  M:load   0.1\n"
       "42  2015-03-16T19:53:32.045Z  M:temp   1e+22\n"
       "42  2015-03-16T19:53:32.045Z  M:name   a, \"b\"\n"},
      {"MSGPACK", FALSE,
       "id  TIME                      COLUMN   VALUE\n"
       "42  2015-03-16T19:53:32.045Z  M:count  -7\n"
       "42  2015-03-16T19:53:32.045Z  M:load   0.1\n"
       "42  2015-03-16T19:53:32.045Z  M:temp   1e+22\n"
       "42  2015-03-16T19:53:32.045Z  M:name   a, \"b\"\n"},
      {"JSON", TRUE,
       "ROW  TIME                      COLUMN  VALUE\n"
       "42   2015-03-16T19:53:32.045Z  M:r     {\"count\":-7,\"load\":0.1,\"temp\":1e+22,\"name\":\"a, "
       "\\x5C\"b\\x5C\"\"}\n"},
  };
  g_autoptr(TideConfig) config = load_text(yaml);
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    const TideTable *table = tide_config_find_table(config, cases[i].table);
    g_autoptr(TideTableMapper) mapper =
        tide_table_mapper_new(table, config->names, TIDE_NAME_NONE, TIDE_WIRE_BINARY,
                              (TideMapperLimits){.max_cell_bytes = 1 << 20, .max_row_bytes = 1 << 20});
    TideRowList list;
    tide_row_list_init(&list);
    map_values(config, table, mapper, &list);
    g_autofree char *text = show(config, table, tide_row_list_row(&list, 0), cases[i].as_stored);
    g_assert_cmpstr(text, ==, cases[i].text);
    tide_row_list_clear(&list);
  }
}
