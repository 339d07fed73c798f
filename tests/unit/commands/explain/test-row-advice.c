/* What is said of a row's size and growth: for each shape of key and qualifier, with the figures. */
#include "commands/explain/explained_message.h"

#include "unit/test_case.h"

#define NS_PER_S (1000 * TIDE_NS_PER_MS)
#define MORNING_NS (G_GINT64_CONSTANT(1501028163) * NS_PER_S) /* 2017-07-26T00:16:03Z */

typedef struct Shape {
  TideTable table;
  GTimeZone *zone;
  TideField fields[1];
  guint32 known[1];
  TideReading reading;
  TideBuffer key;
  TideColumn column;
  TideCell cell;
  TideRow row;
} Shape;

#define METER                                                                                                          \
  {                                                                                                                    \
    .kind = TIDE_KEY_FIELD, .value.field = 0, .width_bytes = 10, .value.pad_byte = '0', .value.pad_left = TRUE         \
  }
#define HASH                                                                                                           \
  {                                                                                                                    \
    .kind = TIDE_KEY_LITERAL, .literal = TIDE_BYTES_LITERAL("#")                                                       \
  }
#define TIME(pattern_text)                                                                                             \
  {                                                                                                                    \
    .kind = TIDE_KEY_TIME, .moment.pattern = pattern_text                                                              \
  }
#define SLOT(pattern_text, n_minutes)                                                                                  \
  {                                                                                                                    \
    .kind = TIDE_KEY_TIME, .moment.pattern = pattern_text, .moment.cut_to = { TIDE_CUT_MINUTES, n_minutes }            \
  }

/* One reading of meter 987654, in a table with that key, whose one cell has that qualifier. */
static void
shape_init(Shape *shape, const TideKeyPartSpec *key, gsize n_key, const TideKeyPartSpec *qualifier, gsize n_qualifier)
{
  g_autoptr(GError) error = NULL;
  gsize bad_part;
  *shape = (Shape){.known = {1}};
  shape->fields[0] = (TideField){.kind = TIDE_VALUE_STRING, .text = TIDE_BYTES_LITERAL("987654")};
  shape->reading = (TideReading){
      .fields = shape->fields, .n_fields = 1, .known = shape->known, .n_known = 1, .event_time_ns = MORNING_NS};
  shape->table.key = tide_row_key_compile(key, n_key, &bad_part, &error);
  g_assert_no_error(error);
  TideColumnRule rule = {.family = g_strdup("M")};
  if (n_qualifier > 0)
    rule.qualifier = tide_key_text_compile(qualifier, n_qualifier, FALSE, &bad_part, &error);
  g_assert_no_error(error);
  shape->table.rules = g_array_new(FALSE, FALSE, sizeof(TideColumnRule));
  g_array_append_val(shape->table.rules, rule);
  TideReject reject;
  g_assert_true(tide_row_key_append(shape->table.key, &shape->reading, &shape->key, &reject));
  shape->column = (TideColumn){.family = TIDE_BYTES_LITERAL("M"), .qualifier = TIDE_BYTES_LITERAL("0015")};
  shape->cell = (TideCell){.column = &shape->column, .value = TIDE_BYTES_LITERAL("600.550")};
  shape->row = (TideRow){
      .key = tide_buffer_bytes(&shape->key), .cells = &shape->cell, .n_cells = 1, .event_time_ns = MORNING_NS};
}

static void
shape_clear(Shape *shape)
{
  TideColumnRule *rule = &g_array_index(shape->table.rules, TideColumnRule, 0);
  g_free(rule->family);
  tide_row_key_free(rule->qualifier);
  g_array_unref(shape->table.rules);
  tide_row_key_free(shape->table.key);
  tide_buffer_clear_memory(&shape->key);
}

TEST("/row-advice/a-cell-is-counted-as-hbase-stores-it")
{
  Shape shape;
  shape_init(&shape, (TideKeyPartSpec[]){METER, HASH, TIME("yyyyMMdd")}, 3, NULL, 0);
  /* 0000987654#20170726, M, 0015, 600.550 */
  g_assert_cmpuint(tide_stored_cell_bytes(&shape.row, &shape.cell), ==, 20 + 19 + 1 + 4 + 7);
  TideRowShape found = tide_row_shape(&shape.table, &shape.reading, &shape.row);
  g_assert_cmpint(found.growth, ==, TIDE_ROW_ONE_READING);
  g_assert_cmpuint(found.stored_bytes, ==, 51);
  g_assert_cmpuint(found.value_bytes, ==, 7);
  shape_clear(&shape);
}

typedef struct GrowthCase {
  const char *name;
  TideKeyPartSpec key[3];
  gsize n_key;
  TideKeyPartSpec qualifier[1];
  TideRowGrowth growth;
  guint64 n_slots;
} GrowthCase;

TEST("/row-advice/growth-is-found-by-key-and-qualifier")
{
  static const GrowthCase cases[] = {
      {"a day row with quarters", {METER, HASH, TIME("yyyyMMdd")}, 3, {SLOT("HHmm", 15)}, TIDE_ROW_SLOTS, 96},
      {"a month row with days", {METER, HASH, TIME("yyyyMM")}, 3, {TIME("d")}, TIDE_ROW_SLOTS, 31},
      {"a day row with seconds", {METER, HASH, TIME("yyyyMMdd")}, 3, {TIME("HHmmss")}, TIDE_ROW_SLOTS, 86400},
      {"a row of the clock for ever", {METER}, 1, {SLOT("HHmm", 60)}, TIDE_ROW_SLOTS, 24},
      {"a row of all days", {METER}, 1, {TIME("yyyyMMdd")}, TIDE_ROW_WITHOUT_END, 1},
      {"a row of all milliseconds",
       {METER},
       1,
       {{.kind = TIDE_KEY_TIME, .moment.unit = TIDE_KEY_TIME_MS}},
       TIDE_ROW_WITHOUT_END,
       1},
      {"a column for each value", {METER, HASH, TIME("yyyyMMdd")}, 3, {METER}, TIDE_ROW_BY_VALUE, 1},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    Shape shape;
    shape_init(&shape, cases[i].key, cases[i].n_key, cases[i].qualifier, 1);
    TideRowShape found = tide_row_shape(&shape.table, &shape.reading, &shape.row);
    g_test_message("%s", cases[i].name);
    g_assert_cmpint(found.growth, ==, cases[i].growth);
    g_assert_cmpuint(found.n_slots, ==, cases[i].n_slots);
    shape_clear(&shape);
  }
}

static void
assert_advice(const TideRow *row, const TideRowShape *shape, const char *const *beginnings)
{
  g_autoptr(GPtrArray) advice = tide_row_advice(row, shape);
  for (guint i = 0; i < advice->len && beginnings[i] != NULL; i++) {
    g_test_message("%s", (const char *)advice->pdata[i]);
    g_assert_true(g_str_has_prefix(advice->pdata[i], beginnings[i]));
  }
  g_assert_cmpuint(advice->len, ==, g_strv_length((char **)beginnings));
}

TEST("/row-advice/large-cells-and-rows-are-named")
{
  TideColumn column = {.family = TIDE_BYTES_LITERAL("M"), .qualifier = TIDE_BYTES_LITERAL("image")};
  g_autofree char *large = g_malloc0(TIDE_ROW_ADVICE_CELL_BYTES);
  TideCell cell = {.column = &column, .value = tide_bytes(large, TIDE_ROW_ADVICE_CELL_BYTES)};
  TideRow row = {.key = TIDE_BYTES_LITERAL("k"), .cells = &cell, .n_cells = 1};
  TideRowShape shape = {.n_slots = 1, .stored_bytes = tide_stored_cell_bytes(&row, &cell)};
  assert_advice(&row, &shape, (const char *const[]){"the cell M:image has 10,000,027 bytes", NULL});
  cell.value.len -= 27;
  shape.stored_bytes = tide_stored_cell_bytes(&row, &cell);
  assert_advice(&row, &shape, (const char *const[]){NULL});
  shape = (TideRowShape){.growth = TIDE_ROW_SLOTS, .n_slots = 10, .stored_bytes = 10000001};
  assert_advice(&row, &shape,
                (const char *const[]){"this row can grow to 100,000,010 bytes (10 times the cells", NULL});
}

TEST("/row-advice/long-names-are-named")
{
  TideColumn columns[] = {
      {.family = TIDE_BYTES_LITERAL("METRIC"), .qualifier = TIDE_BYTES_LITERAL("CPU/CPU1_USR")},
      {.family = TIDE_BYTES_LITERAL("measurements_of_machines"),
       .qualifier = TIDE_BYTES_LITERAL("the_load_of_all_processors_in_five_minutes")},
      {.family = TIDE_BYTES_LITERAL("M"),
       .qualifier = TIDE_BYTES_LITERAL("the_average_load_of_all_processors_over_the_last_five_minutes_of_uptime")},
  };
  TideCell cells[] = {{.column = &columns[0], .value = TIDE_BYTES_LITERAL("0.02")},
                      {.column = &columns[1], .value = TIDE_BYTES_LITERAL("0.02")},
                      {.column = &columns[2], .value = TIDE_BYTES_LITERAL("0.02")}};
  TideRow row = {.key = TIDE_BYTES_LITERAL("k"), .cells = cells, .n_cells = 1};
  TideRowShape shape = {.n_slots = 1};
  assert_advice(&row, &shape, (const char *const[]){NULL});
  row.n_cells = 2;
  assert_advice(&row, &shape,
                (const char *const[]){
                    "the name measurements_of_machines:the_load_of_all_processors_in_five_minutes has 66 bytes", NULL});
  row.n_cells = 3;
  assert_advice(&row, &shape, (const char *const[]){"the name M:the_average_load", NULL});
}
