/* Which lane each row of a message gets: that of its table and of the region that holds its key, whatever came before
 * it, as regions come and go. */
#include "rows/accumulator.h"
#include "rows/table_accumulator.h"
#include "thrift/wire/put_encoder.h"
#include "unit/fake_lanes.h"
#include "unit/load_text.h"
#include "util/clock.h"

static const char config_text[] = "kafka: { brokers: \"b\", group: g, topics: [t], threads: 1 }\n"
                                  "readings: { format: json, time: { field: ts, format: epoch_ms } }\n"
                                  "hbase: { gateways: [\"g\"] }\n"
                                  "tables:\n"
                                  "  A: { key: [ { field: host } ], columns: { family: M, from: \"*\" } }\n"
                                  "  B: { key: [ { field: host } ], columns: { family: M, from: \"*\" } }\n"
                                  "  C: { key: [ { field: host } ], columns: { family: M, from: \"*\" } }\n"
                                  "  \"D_{yyyyMMdd}\": { key: [ { field: host } ], "
                                  "columns: { family: M, from: \"*\" } }\n";

#define N_TABLES 4
#define DATED 3 /* behind those that take rows as they are */
#define MANY_TABLES 768u
#define MAX_ROWS 60
#define MAX_REGIONS 30
#define MAX_KEY_BYTES 12

typedef struct Fixture {
  TideConfig *config;
  TideMetrics *metrics;
  TideBudget budget, doubt_budget, *table_budgets;
  TideRegions regions;
  TideLanes lanes;
  TideDatedTables *dated;
  TideCompletionQueue completions;
  TideAccumulator *accumulator;
  TideBuffer prefix;
  TideColumn column;
  gint64 now_us;
} Fixture;

/* Regions that begin with @starts, the first of which is empty; those that stay as they are keep their lanes. */
static void
set_regions(Fixture *fixture, const TideBytes *starts, guint32 n)
{
  TideRegionMap *old = fixture->regions.map;
  TideRegionMap *map = tide_region_map_new(n, 0, ++fixture->regions.generation);
  for (guint32 i = 0; i < n; i++) {
    TideBytes end = i + 1 < n ? starts[i + 1] : TIDE_BYTES_EMPTY;
    TideLane *kept = old != NULL ? old->lanes[tide_region_map_find(old, starts[i])] : NULL;
    if (kept != NULL && tide_bytes_equal(kept->start_key, starts[i]) && tide_bytes_equal(kept->end_key, end))
      map->lanes[i] = tide_lane_ref(kept);
    else
      map->lanes[i] = make_lane(starts[i], end);
  }
  tide_region_map_prepare(map);
  fixture->regions.map = map;
  tide_region_map_unref(old);
}

static void
set_up(Fixture *fixture, gconstpointer data)
{
  const TideBytes all = TIDE_BYTES_EMPTY;
  fixture->config = load_text(config_text);
  fixture->metrics = tide_metrics_new();
  tide_budget_init(&fixture->budget, 64u * 1024 * 1024);
  tide_budget_init_doubt_share(&fixture->doubt_budget, &fixture->budget);
  fixture->table_budgets = g_new0(TideBudget, tide_dated_tables_slots(fixture->config));
  for (guint i = 0; i < N_TABLES; i++)
    tide_budget_init_table_share(&fixture->table_budgets[i], &fixture->budget);
  fixture->lanes = (TideLanes){g_ptr_array_new()};
  TideDatedTablesContext dated = {.config = fixture->config,
                                  .budget = &fixture->budget,
                                  .table_budgets = fixture->table_budgets,
                                  .metrics = fixture->metrics};
  fixture->dated = tide_dated_tables_new(&dated);
  tide_completion_queue_init(&fixture->completions, NULL, NULL);
  set_regions(fixture, &all, 1);
  tide_column_prefix_append(TIDE_WIRE_BINARY, &fixture->prefix, TIDE_BYTES_LITERAL("M"), TIDE_BYTES_LITERAL("v"));
  TideBytes prefix = tide_buffer_bytes(&fixture->prefix);
  fixture->column = (TideColumn){.prefix = prefix, .hash = tide_key_hash(prefix)};
  TideAccumulatorContext context = {.config = fixture->config,
                                    .protocol = TIDE_WIRE_BINARY,
                                    .budget = &fixture->budget,
                                    .table_budgets = fixture->table_budgets,
                                    .doubt_budget = &fixture->doubt_budget,
                                    .lanes = &fixture->lanes,
                                    .regions = &fixture->regions,
                                    .dated = fixture->dated,
                                    .completions = &fixture->completions,
                                    .metrics = fixture->metrics};
  fixture->accumulator = tide_accumulator_new(&context);
  fixture->now_us = 100 * TIDE_US_PER_S;
}

static void
tear_down(Fixture *fixture, gconstpointer data)
{
  tide_accumulator_free(fixture->accumulator);
  g_assert_cmpint(atomic_load(&fixture->budget.used_bytes), ==, 0);
  tide_region_map_unref(fixture->regions.map);
  g_ptr_array_unref(fixture->lanes.waiting);
  tide_completion_queue_clear(&fixture->completions);
  tide_buffer_clear_memory(&fixture->prefix);
  tide_dated_tables_free(fixture->dated);
  g_free(fixture->table_budgets);
  tide_metrics_free(fixture->metrics);
  tide_config_free(fixture->config);
}

/* A row of @table; @follows: see TideRow. */
typedef struct RowCase {
  guint32 table;
  TideBytes key;
  guint32 follows;
} RowCase;

static void
append_message(Fixture *fixture, const RowCase *cases, guint32 n)
{
  const TideCell cell = {.column = &fixture->column, .value = TIDE_BYTES_LITERAL("1"), .timestamp_ms = 1000};
  TideRow rows[MAX_ROWS];
  for (guint32 i = 0; i < n; i++)
    rows[i] = (TideRow){
        .table_index = cases[i].table, .key = cases[i].key, .cells = &cell, .n_cells = 1, .follows = cases[i].follows};
  tide_accumulator_append_message(fixture->accumulator, rows, n, (TideSourceRef){0}, fixture->now_us);
}

static int
compare_lines(gconstpointer a, gconstpointer b)
{
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* "A b..d: key key; " for the batches on their way, in the order of tables and regions. */
static char *
lanes_text(const Fixture *fixture)
{
  g_autoptr(GPtrArray) lines = g_ptr_array_new_with_free_func(g_free);
  for (guint i = 0; i < fixture->lanes.waiting->len; i++) {
    const TideBatch *batch = g_ptr_array_index(fixture->lanes.waiting, i);
    g_autofree char *start = tide_bytes_printable(batch->lane->start_key);
    g_autofree char *end = tide_bytes_printable(batch->lane->end_key);
    GString *line = g_string_new(((const TideLaneBuffer *)batch->sealer.lane_buffer)->table->name);
    g_string_append_printf(line, " %s..%s:", start, end);
    for (guint32 row = 0; row < batch->n_rows; row++) {
      g_autofree char *key = tide_bytes_printable(tide_batch_row_key(batch, row));
      g_string_append_printf(line, " %s", key);
    }
    g_ptr_array_add(lines, g_string_free(line, FALSE));
  }
  g_ptr_array_sort(lines, compare_lines);
  g_ptr_array_add(lines, NULL);
  return g_strjoinv("; ", (char **)lines->pdata);
}

/* Seals all that is open. */
static void
flush(Fixture *fixture)
{
  tide_accumulator_tick(fixture->accumulator, TIDE_PRESSURE_FLUSH, 0, fixture->now_us);
}

static void
complete_all(Fixture *fixture)
{
  while (fixture->lanes.waiting->len > 0) {
    TideBatch *batch = g_ptr_array_steal_index(fixture->lanes.waiting, 0);
    (void)tide_accumulator_judge(fixture->accumulator, batch, NULL, fixture->now_us);
    tide_accumulator_complete(fixture->accumulator, batch, fixture->now_us);
  }
}

#define ASSERT_LANES(fixture, expected)                                                                                \
  do {                                                                                                                 \
    flush(fixture);                                                                                                    \
    g_autofree char *lanes_ = lanes_text(fixture);                                                                     \
    g_assert_cmpstr(lanes_, ==, expected);                                                                             \
    complete_all(fixture);                                                                                             \
  } while (0)

#define KEY TIDE_BYTES_LITERAL

/* Tables in turns, keys at the borders, the empty one, bytes beyond ASCII, and rows between them that follow another.
 */
static void
test_each_row_gets_the_lane_of_its_key(Fixture *fixture, gconstpointer data)
{
  const TideBytes starts[] = {TIDE_BYTES_EMPTY, KEY("b"), KEY("\x7f"), KEY("\x80"), KEY("\xff\0")};
  const RowCase rows[] = {{0, KEY("\xff\0"), 0},   {1, KEY("a"), 0},    {2, KEY("follows"), 1},
                          {0, KEY("b"), 0},        {1, KEY("\x80"), 0}, {0, TIDE_BYTES_EMPTY, 0},
                          {1, KEY("\x7f\xff"), 0}, {0, KEY("\xff"), 0}};
  set_regions(fixture, starts, G_N_ELEMENTS(starts));
  flush(fixture); /* takes the map */
  append_message(fixture, rows, G_N_ELEMENTS(rows));
  ASSERT_LANES(fixture, "A ..b: ; A \\x80..\\xFF\\x00: \\xFF; A \\xFF\\x00..: \\xFF\\x00; A b..\\x7F: b; "
                        "B ..b: a; B \\x7F..\\x80: \\x7F\\xFF; B \\x80..\\xFF\\x00: \\x80");
  ASSERT_LANES(fixture, "C b..\\x7F: follows");
}

/* Rows of @n days that are written, and two seconds without any. */
static void
write_days(Fixture *fixture, guint n)
{
  for (guint i = 0; i < n; i++) {
    g_autofree char *name = g_strdup_printf("D_%u", i);
    const TideTable *table = tide_dated_tables_take(fixture->dated, g_ptr_array_index(fixture->config->tables, DATED),
                                                    tide_bytes_of_string(name), fixture->now_us);
    const RowCase row = {table->index, KEY("a"), 0};
    append_message(fixture, &row, 1);
  }
  g_assert_cmpuint(fixture->regions.n_open, ==, n);
  flush(fixture);
  complete_all(fixture);
  fixture->now_us += 2 * TIDE_US_PER_S;
  flush(fixture);
}

/* A day's table is kept for an hour after its last row, many at a time not, as each is looked up again and again. */
static void
test_dated_tables_are_given_up_when_idle(Fixture *fixture, gconstpointer data)
{
  write_days(fixture, 10);
  g_assert_cmpuint(fixture->regions.n_open, ==, 10);
  fixture->now_us += 3600 * TIDE_US_PER_S;
  flush(fixture);
  g_assert_cmpuint(fixture->regions.n_open, ==, 0);
  write_days(fixture, MANY_TABLES);
  g_assert_cmpuint(fixture->regions.n_open, ==, 0);
}

/* A split, and a merge, between two messages. */
static void
test_rows_follow_their_regions(Fixture *fixture, gconstpointer data)
{
  const TideBytes two[] = {TIDE_BYTES_EMPTY, KEY("m")}, three[] = {TIDE_BYTES_EMPTY, KEY("m"), KEY("t")};
  const RowCase rows[] = {{0, KEY("a"), 0}, {0, KEY("p"), 0}, {0, KEY("z"), 0}};
  set_regions(fixture, two, 2);
  flush(fixture);
  append_message(fixture, rows, 3);
  ASSERT_LANES(fixture, "A ..m: a; A m..: p z");
  set_regions(fixture, three, 3);
  append_message(fixture, rows, 3); /* into the map that was: the new one is taken behind it */
  ASSERT_LANES(fixture, "A ..m: a; A m..: p z");
  append_message(fixture, rows, 3);
  ASSERT_LANES(fixture, "A ..m: a; A m..t: p; A t..: z");
  set_regions(fixture, two, 1);
  flush(fixture);
  append_message(fixture, rows, 3);
  ASSERT_LANES(fixture, "A ..: a p z");
}

/* Few different bytes, so that borders are met. */
static TideBytes
draw_key(guint8 *bytes)
{
  static const guint8 drawn[] = {0x00, 'a', 0x7f, 0x80, 0xff};
  gsize len = (gsize)g_test_rand_int_range(0, MAX_KEY_BYTES + 1);
  for (gsize i = 0; i < len; i++)
    bytes[i] = drawn[g_test_rand_int_range(0, G_N_ELEMENTS(drawn))];
  return tide_bytes(bytes, len);
}

static int
compare_keys(gconstpointer a, gconstpointer b)
{
  return tide_bytes_compare(*(const TideBytes *)a, *(const TideBytes *)b);
}

static void
draw_regions(Fixture *fixture)
{
  guint8 bytes[MAX_REGIONS][MAX_KEY_BYTES];
  TideBytes starts[MAX_REGIONS] = {TIDE_BYTES_EMPTY};
  guint32 n = 1, n_drawn = (guint32)g_test_rand_int_range(1, MAX_REGIONS + 1);
  for (guint32 i = 1; i < n_drawn; i++)
    starts[i] = draw_key(bytes[i]);
  qsort(starts, n_drawn, sizeof *starts, compare_keys);
  for (guint32 i = 1; i < n_drawn; i++)
    if (compare_keys(&starts[i], &starts[n - 1]) > 0)
      starts[n++] = starts[i];
  set_regions(fixture, starts, n);
}

/* Each row is in a lane that holds its key, of its table, and none is missing. */
static void
assert_in_their_lanes(const Fixture *fixture, const RowCase *cases, guint32 n)
{
  gboolean is_met[MAX_ROWS] = {FALSE};
  for (guint i = 0; i < fixture->lanes.waiting->len; i++) {
    const TideBatch *batch = g_ptr_array_index(fixture->lanes.waiting, i);
    guint32 table = ((const TideLaneBuffer *)batch->sealer.lane_buffer)->table->index;
    for (guint32 row = 0; row < batch->n_rows; row++) {
      TideBytes key = tide_batch_row_key(batch, row);
      g_assert_cmpint(tide_bytes_compare(batch->lane->start_key, key), <=, 0);
      g_assert_true(batch->lane->end_key.len == 0 || tide_bytes_compare(key, batch->lane->end_key) < 0);
      for (guint32 c = 0; c < n; c++)
        is_met[c] |= cases[c].table == table && tide_bytes_equal(cases[c].key, key);
    }
  }
  for (guint32 c = 0; c < n; c++)
    g_assert_true(is_met[c]);
}

static void
test_random_rows_and_regions(Fixture *fixture, gconstpointer data)
{
  for (guint round = 0; round < 300; round++) {
    guint8 bytes[MAX_ROWS][MAX_KEY_BYTES];
    RowCase rows[MAX_ROWS];
    guint32 n = (guint32)g_test_rand_int_range(1, MAX_ROWS + 1);
    for (guint32 i = 0; i < n; i++)
      rows[i] = (RowCase){(guint32)g_test_rand_int_range(0, DATED), draw_key(bytes[i]), 0};
    if (g_test_rand_int_range(0, 2) == 0)
      draw_regions(fixture);
    flush(fixture);
    append_message(fixture, rows, n);
    flush(fixture);
    assert_in_their_lanes(fixture, rows, n);
    complete_all(fixture);
  }
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
#define ADD(name, function) g_test_add("/row-lanes/" name, Fixture, NULL, set_up, function, tear_down)
  ADD("each-row-gets-the-lane-of-its-key", test_each_row_gets_the_lane_of_its_key);
  ADD("rows-follow-their-regions", test_rows_follow_their_regions);
  ADD("dated-tables-are-given-up-when-idle", test_dated_tables_are_given_up_when_idle);
  ADD("random-rows-and-regions", test_random_rows_and_regions);
#undef ADD
  return g_test_run();
}
