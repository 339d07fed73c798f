/* Columns: which fields go to which, and where they are kept. */
#include "model/table/column_set.h"
#include "thrift/wire/put_encoder.h"
#include "unit/allocation_counter.h"
#include "unit/mapper_fixture.h"
#include "unit/reading_fixture.h"
#include "unit/test_case.h"

/* ---- field columns ----
 *
 * Which columns fields go to: names that are changed, patterns, qualifiers that a reading makes, values that are made.
 */

#define NAME()                                                                                                         \
  {                                                                                                                    \
    .kind = TIDE_KEY_NAME                                                                                              \
  }
#define PRINTED(text)                                                                                                  \
  {                                                                                                                    \
    .kind = TIDE_KEY_TIME, .moment.pattern = (text)                                                                    \
  }
#define SLOT(text, n)                                                                                                  \
  {                                                                                                                    \
    .kind = TIDE_KEY_TIME, .moment.pattern = (text), .moment.cut_to = { TIDE_CUT_MINUTES, (n) }                        \
  }

#define JULY_26_MS G_GINT64_CONSTANT(1501027200000) /* 2017-07-26T00:00:00Z */
#define MINUTE_MS G_GINT64_CONSTANT(60000)

static void
set_time_ms(MapperFixture *fixture, gint64 ms)
{
  fixture->reading.reading.event_time_ns = ms * TIDE_NS_PER_MS;
}

TEST("/field-columns/names-are-changed")
{
  static const struct {
    TideTextCase name_case;
    gboolean strip_spaces;
    const char *prefix, *expected;
  } cases[] = {
      {TIDE_CASE_AS_IS, FALSE, NULL, "M:Cpu 1 Usr=1 M:renamed As=2"},
      {TIDE_CASE_UPPER, FALSE, NULL, "M:CPU 1 USR=1 M:renamed As=2"},
      {TIDE_CASE_LOWER, TRUE, NULL, "M:cpu1usr=1 M:renamed As=2"},
      {TIDE_CASE_UPPER, TRUE, "cpu /", "M:cpu /CPU1USR=1 M:renamed As=2"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_auto(MapperFixture) fixture;
    use_host_and_time(&fixture);
    TideColumnRule *rule = add_rule(&fixture, "M");
    rule->name_case = cases[i].name_case;
    rule->strip_spaces = cases[i].strip_spaces;
    rule->prefix = g_strdup(cases[i].prefix);
    add_item(rule, field_item(&fixture, "Cpu 1 Usr", NULL, -1));
    add_item(rule, field_item(&fixture, "other", "renamed As", -1));
    start_mapper(&fixture, (TideMapperLimits){0});
    reading_fixture_set_all(&fixture.reading, "host", "h", "Cpu 1 Usr", "1", "other", "2", NULL);
    assert_maps_to(&fixture, cases[i].expected);
  }
}

MAPPER_TEST("/field-columns/names-that-change-into-one-are-rejected")
{
  add_remaining_rule(fixture, "M")->name_case = TIDE_CASE_UPPER;
  start_mapper(fixture, (TideMapperLimits){0});
  reading_fixture_set_all(&fixture->reading, "host", "h", "load", "1", NULL);
  assert_maps_to(fixture, "M:LOAD=1");
  reading_fixture_set(&fixture->reading, "Load", "2");
  assert_rejects(fixture, TIDE_REJECT_DUPLICATE_FIELD, "Load");
  reading_fixture_set_null(&fixture->reading, "Load");
  assert_maps_to(fixture, "M:LOAD=1");
}

/* Also where a name has no number, so that its column lives for the message only. */
MAPPER_TEST("/field-columns/names-without-a-number-change-into-one-too")
{
  add_remaining_rule(fixture, "M")->name_case = TIDE_CASE_UPPER;
  start_mapper(fixture, (TideMapperLimits){0});
  reading_fixture_set_all(&fixture->reading, "host", "h", "load", "1", "Load", "2", NULL);
  fixture->reading.fields[2].name_id = TIDE_NAME_NONE;
  assert_rejects(fixture, TIDE_REJECT_DUPLICATE_FIELD, "Load");
  fixture->reading.fields[1].name_id = TIDE_NAME_NONE;
  assert_rejects(fixture, TIDE_REJECT_DUPLICATE_FIELD, "Load");
}

MAPPER_TEST("/field-columns/name-of-nothing-but-spaces-is-rejected")
{
  add_remaining_rule(fixture, "M")->strip_spaces = TRUE;
  start_mapper(fixture, (TideMapperLimits){0});
  reading_fixture_set_all(&fixture->reading, "host", "h", "  ", "1", NULL);
  assert_rejects(fixture, TIDE_REJECT_BAD_COLUMN, "  ");
}

MAPPER_TEST("/field-columns/patterns-take-what-nobody-names")
{
  add_remaining_rule(fixture, "M");
  add_item(add_rule(fixture, "C"), pattern_item("CPU/*"));
  TideColumnRule *second = add_rule(fixture, "D");
  add_item(second, pattern_item("*/CPU1_?SR"));
  add_item(second, pattern_item("DISK/*"));
  add_named_rule(fixture, "N", "CPU/LOAD", NULL);
  start_mapper(fixture, (TideMapperLimits){0});
  reading_fixture_set(&fixture->reading, "host", "h");
  reading_fixture_set(&fixture->reading, "CPU/CPU1_USR", "1"); /* matches two: the first in the file takes it */
  reading_fixture_set_all(&fixture->reading, "GPU/CPU1_USR", "2", "CPU/LOAD", "3", "DISK/SDA", "4", "MEM/FREE", "5",
                          NULL);
  assert_maps_to(fixture, "C:CPU/CPU1_USR=1 D:GPU/CPU1_USR=2 N:CPU/LOAD=3 D:DISK/SDA=4 M:MEM/FREE=5");
}

TEST("/field-columns/patterns-take-key-fields-only-when-asked")
{
  for (int with_key_fields = 0; with_key_fields < 2; with_key_fields++) {
    g_auto(MapperFixture) fixture;
    use_host_and_time(&fixture);
    TideColumnRule *rule = add_rule(&fixture, "M");
    rule->with_key_fields = with_key_fields;
    add_item(rule, pattern_item("?*"));
    start_mapper(&fixture, (TideMapperLimits){0});
    reading_fixture_set_all(&fixture.reading, "host", "h", "ts", "1426535612045", "$offset", "7", "v", "1", NULL);
    assert_maps_to(&fixture, with_key_fields ? "M:host=h M:ts=1426535612045 M:v=1" : "M:v=1");
  }
}

/* ---- qualifiers that a reading makes ---- */

/* The wide row of a day: a column for each quarter of an hour. */
static void
use_slots(MapperFixture *fixture)
{
  static const TideKeyPartSpec key[] = {PADDED_LEFT(METER, 10, '0'), LITERAL("#"), PRINTED("yyyyMMdd")};
  static const TideKeyPartSpec slot[] = {SLOT("HHmm", 15)};
  mapper_fixture_init(fixture, key, G_N_ELEMENTS(key));
  TideColumnRule *rule = add_rule(fixture, "METER");
  add_item(rule, field_item(fixture, "kwh", NULL, -1));
  rule->qualifier = compile_text(slot, G_N_ELEMENTS(slot));
  start_mapper(fixture, (TideMapperLimits){0});
  reading_fixture_set(&fixture->reading, "meter", "987654");
}

TEST("/field-columns/qualifier-is-the-slot-of-the-time")
{
  static const struct {
    gint64 ms;
    const char *expected;
  } cases[] = {
      {0, "METER:0000=1.5"},
      {16 * MINUTE_MS + 3000, "METER:0015=1.5"},
      {15 * MINUTE_MS - 1, "METER:0000=1.5"},
      {24 * 60 * MINUTE_MS - 1, "METER:2345=1.5"},
  };
  g_auto(MapperFixture) fixture;
  use_slots(&fixture);
  reading_fixture_set(&fixture.reading, "kwh", "1.5");
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    set_time_ms(&fixture, JULY_26_MS + cases[i].ms);
    assert_maps_to(&fixture, cases[i].expected);
    assert_same_bytes(row_at(&fixture, 0)->key, TIDE_BYTES_LITERAL("0000987654#20170726"));
  }
}

/* Two readings of a slot make the same column, in one message and in two; so the newer's cell replaces the older's. */
TEST("/field-columns/column-of-a-slot-is-made-once")
{
  g_auto(MapperFixture) fixture;
  use_slots(&fixture);
  reading_fixture_set(&fixture.reading, "kwh", "1");
  set_time_ms(&fixture, JULY_26_MS);
  g_assert_cmpint(map(&fixture), ==, TIDE_MAP_ROW);
  const TideColumn *first = cell_at(&fixture, 0)->column;
  set_time_ms(&fixture, JULY_26_MS + 14 * MINUTE_MS);
  g_assert_cmpint(map_more(&fixture), ==, TIDE_MAP_ROW);
  g_assert_true(cell_at(&fixture, 1)->column == first);
  g_assert_cmpint(map(&fixture), ==, TIDE_MAP_ROW);
  g_assert_true(cell_at(&fixture, 0)->column == first);
}

MAPPER_TEST("/field-columns/qualifier-holds-the-name")
{
  static const TideKeyPartSpec with_day[] = {NAME(), LITERAL("@"), PRINTED("d")};
  static const TideKeyPartSpec constant[] = {LITERAL("cpu."), NAME()};
  TideColumnRule *of_day = add_rule(fixture, "D");
  add_item(of_day, field_item(fixture, "temp", NULL, -1));
  add_item(of_day, field_item(fixture, "hum", "H", -1));
  of_day->name_case = TIDE_CASE_UPPER;
  of_day->qualifier = compile_text(with_day, G_N_ELEMENTS(with_day));
  add_remaining_rule(fixture, "M")->qualifier = compile_text(constant, G_N_ELEMENTS(constant));
  start_mapper(fixture, (TideMapperLimits){0});
  reading_fixture_set_all(&fixture->reading, "host", "h", "temp", "60.4", "hum", "40", "usr", "0.1", NULL);
  set_time_ms(fixture, JULY_26_MS);
  assert_maps_to(fixture, "D:TEMP@26=60.4 D:H@26=40 M:cpu.usr=0.1");
  set_time_ms(fixture, JULY_26_MS + 6 * 24 * 60 * MINUTE_MS);
  assert_maps_to(fixture, "D:TEMP@1=60.4 D:H@1=40 M:cpu.usr=0.1");
}

MAPPER_TEST("/field-columns/qualifier-is-the-value-of-a-field")
{
  static const TideKeyPartSpec of_lane[] = {FIELD(LANE)};
  TideColumnRule *rule = add_rule(fixture, "S");
  add_item(rule, field_item(fixture, "speed", NULL, -1));
  add_item(rule, field_item(fixture, "count", NULL, -1));
  rule->qualifier = compile_text(of_lane, G_N_ELEMENTS(of_lane));
  start_mapper(fixture, (TideMapperLimits){0});
  reading_fixture_set_all(&fixture->reading, "host", "h", "speed", "120", NULL);
  assert_rejects(fixture, TIDE_REJECT_MISSING_FIELD, "lane");
  reading_fixture_set_null(&fixture->reading, "lane");
  assert_rejects(fixture, TIDE_REJECT_MISSING_FIELD, "lane");
  reading_fixture_set(&fixture->reading, "lane", "left");
  assert_maps_to(fixture, "S:left=120");
  reading_fixture_set(&fixture->reading, "count", "3");
  assert_rejects(fixture, TIDE_REJECT_DUPLICATE_FIELD, "count");
  reading_fixture_set_null(&fixture->reading, "count");
  reading_fixture_set_null(&fixture->reading, "speed"); /* no cell, so no qualifier is asked for */
  reading_fixture_set_null(&fixture->reading, "lane");
  assert_rejects(fixture, TIDE_REJECT_NO_CELLS, "METRIC");
}

/* A column that a reading makes and one that is always the same meet as any two do. */
MAPPER_TEST("/field-columns/computed-and-constant-columns-meet")
{
  static const TideKeyPartSpec of_lane[] = {FIELD(LANE)};
  add_named_rule(fixture, "S", "total", NULL);
  TideColumnRule *rule = add_rule(fixture, "S");
  add_item(rule, field_item(fixture, "speed", NULL, -1));
  rule->qualifier = compile_text(of_lane, G_N_ELEMENTS(of_lane));
  start_mapper(fixture, (TideMapperLimits){0});
  reading_fixture_set_all(&fixture->reading, "host", "h", "speed", "120", "total", "9", "lane", "1", NULL);
  assert_maps_to(fixture, "S:1=120 S:total=9");
  reading_fixture_set(&fixture->reading, "lane", "total");
  assert_rejects(fixture, TIDE_REJECT_DUPLICATE_FIELD, "total");
}

/* More columns than are kept: they are written all the same, and cost no memory. */
MAPPER_TEST("/field-columns/columns-that-readings-invent-cost-no-memory")
{
  static const TideKeyPartSpec of_lane[] = {FIELD(LANE)};
  char lane[16];
  TideColumnRule *rule = add_rule(fixture, "S");
  add_item(rule, field_item(fixture, "speed", NULL, -1));
  rule->qualifier = compile_text(of_lane, G_N_ELEMENTS(of_lane));
  start_mapper(fixture, (TideMapperLimits){0});
  reading_fixture_set_all(&fixture->reading, "host", "h", "speed", "120", NULL);
  guint64 before = 0;
  for (guint i = 0; i < 80000; i++) {
    if (i == 70000)
      before = allocation_count;
    g_snprintf(lane, sizeof lane, "lane%u", i);
    reading_fixture_set(&fixture->reading, "lane", lane);
    g_assert_cmpint(map(fixture), ==, TIDE_MAP_ROW);
    assert_same_bytes(cell_at(fixture, 0)->column->qualifier, tide_bytes_of_string(lane));
  }
  /* assert_same_bytes() and reading_fixture_set() account for two each. */
  if (ALLOCATION_COUNTER_WORKS)
    g_assert_cmpuint(allocation_count - before, <=, 10000 * 4);
}

/* ---- values that are made ---- */

TEST("/field-columns/values-are-computed")
{
  static const TideKeyPartSpec constant[] = {LITERAL("v2")};
  static const TideKeyPartSpec meter[] = {PADDED_LEFT(METER, 10, '0')};
  static const TideKeyPartSpec seconds[] = {TIME(S)};
  static const TideKeyPartSpec binary[] = {TIME_BINARY(MS)};
  static const TideKeyPartSpec key[] = {FIELD(METER)};
  g_auto(MapperFixture) fixture;
  mapper_fixture_init(&fixture, key, G_N_ELEMENTS(key));
  TideColumnRule *rule = add_rule(&fixture, "M");
  rule->name_case = TIDE_CASE_UPPER; /* does not change declared names */
  add_item(rule, value_item(constant, 1, "schema"));
  add_item(rule, value_item(meter, 1, "id"));
  add_item(rule, field_item(&fixture, "kwh", NULL, -1));
  add_item(rule, value_item(seconds, 1, "s"));
  add_item(rule, value_item(binary, 1, "ts"));
  start_mapper(&fixture, (TideMapperLimits){0});
  set_time_ms(&fixture, JULY_26_MS);
  reading_fixture_set_all(&fixture.reading, "meter", "987654", "kwh", "1.5", NULL);
  assert_maps_to(&fixture, "M:KWH=1.5 M:schema=v2 M:id=0000987654 M:s=1501027200 "
                           "M:ts=\\x00\\x00\\x01]|1l\\x00");
  reading_fixture_set_null(&fixture.reading, "kwh"); /* what is made needs no field beside it */
  assert_maps_to(&fixture, "M:schema=v2 M:id=0000987654 M:s=1501027200 M:ts=\\x00\\x00\\x01]|1l\\x00");
}

MAPPER_TEST("/field-columns/computed-value-of-an-absent-field-is-rejected")
{
  static const TideKeyPartSpec user[] = {FIELD(USER)};
  add_item(add_rule(fixture, "M"), value_item(user, 1, "who"));
  start_mapper(fixture, (TideMapperLimits){0});
  reading_fixture_set(&fixture->reading, "host", "h");
  assert_rejects(fixture, TIDE_REJECT_MISSING_FIELD, "user");
}

/* Made values lie in memory that moves while later rows are made. */
MAPPER_TEST("/field-columns/computed-values-of-many-rows-stay")
{
  static const TideKeyPartSpec host[] = {FIELD(HOST)};
  enum { N = 5000 };
  char name[16];
  TideColumnRule *rule = add_rule(fixture, "M");
  add_item(rule, value_item(host, 1, "who"));
  add_item(rule, field_item(fixture, "v", NULL, TIDE_ENCODE_INT64));
  start_mapper(fixture, (TideMapperLimits){0});
  for (guint i = 0; i < N; i++) {
    g_snprintf(name, sizeof name, "h%u", i);
    reading_fixture_set_all(&fixture->reading, "host", name, "v", name + 1, NULL);
    g_assert_cmpint(map_more(fixture), ==, TIDE_MAP_ROW);
  }
  tide_row_list_resolve(&fixture->list);
  for (guint i = 0; i < N; i++) {
    guint64 value = GUINT64_TO_BE((guint64)i);
    g_snprintf(name, sizeof name, "h%u", i);
    assert_same_bytes(row_at(fixture, i)->cells[0].value, tide_bytes(&value, sizeof value));
    assert_same_bytes(row_at(fixture, i)->cells[1].value, tide_bytes_of_string(name));
  }
}

TEST("/field-columns/steady-state-allocates-nothing")
{
  if (!ALLOCATION_COUNTER_WORKS) {
    g_test_skip("the sanitizer has an allocator of its own");
    return;
  }
  static const TideKeyPartSpec seconds[] = {TIME(S)};
  g_auto(MapperFixture) fixture;
  use_slots(&fixture);
  TideColumnRule *rule = add_rule(&fixture, "V");
  add_item(rule, value_item(seconds, 1, "s"));
  add_item(rule, field_item(&fixture, "amps", NULL, TIDE_ENCODE_FLOAT64));
  add_item(rule, field_item(&fixture, "state", NULL, TIDE_ENCODE_JSON));
  tide_table_mapper_free(fixture.mapper);
  start_mapper(&fixture, (TideMapperLimits){0});
  reading_fixture_set_all(&fixture.reading, "kwh", "1.5", "amps", "15.25", "state", "on\n", NULL);
  guint64 before = 0;
  for (gint64 i = 0; i < 4 * 96; i++) {
    if (i == 96)
      before = allocation_count; /* each slot of the day was met */
    set_time_ms(&fixture, JULY_26_MS + i * 15 * MINUTE_MS);
    g_assert_cmpint(map(&fixture), ==, TIDE_MAP_ROW);
  }
  g_assert_cmpuint(allocation_count - before, ==, 0);
}

/* ---- column set ---- */

static const TideBytes family = {(const guint8 *)"M", 1};

TEST("/column-set/a-column-is-made-once")
{
  g_auto(TideBuffer) prefix = {0};
  TideColumnSet *set = tide_column_set_new(TIDE_WIRE_COMPACT);
  TideSetColumn *first = tide_column_set_find(set, family, TIDE_BYTES_LITERAL("0015"));
  TideSetColumn *other = tide_column_set_find(set, TIDE_BYTES_LITERAL("N"), TIDE_BYTES_LITERAL("0015"));
  g_assert_true(first != other);
  g_assert_true(tide_column_set_find(set, family, TIDE_BYTES_LITERAL("0030")) != first);
  g_assert_true(tide_column_set_find(set, family, TIDE_BYTES_LITERAL("0015")) == first);
  tide_column_set_begin_message(set);
  g_assert_true(tide_column_set_find(set, family, TIDE_BYTES_LITERAL("0015")) == first);
  tide_column_prefix_append(TIDE_WIRE_COMPACT, &prefix, family, TIDE_BYTES_LITERAL("0015"));
  assert_same_bytes(first->column.prefix, tide_buffer_bytes(&prefix));
  assert_same_bytes(first->column.qualifier, TIDE_BYTES_LITERAL("0015"));
  assert_same_bytes(first->column.family, family);
  g_assert_cmpint(first->life, ==, TIDE_COLUMN_KEPT);
  tide_column_set_free(set);
}

/* Fills @set until it keeps no more; returns how many it keeps. */
static guint
fill(TideColumnSet *set, gsize qualifier_bytes)
{
  g_autofree char *qualifier = g_strnfill(qualifier_bytes, 'x');
  guint n = 0;
  for (; tide_column_set_life(set) == TIDE_COLUMN_KEPT; n++) {
    memcpy(qualifier, &n, sizeof n);
    tide_column_set_find(set, family, tide_bytes(qualifier, qualifier_bytes));
  }
  return n;
}

TEST("/column-set/columns-are-kept-up-to-a-number")
{
  TideColumnSet *set = tide_column_set_new(TIDE_WIRE_BINARY);
  g_assert_cmpuint(fill(set, 4), ==, TIDE_COLUMN_SET_MAX_COLUMNS);
  tide_column_set_free(set);
}

TEST("/column-set/columns-are-kept-up-to-a-size")
{
  enum { QUALIFIER_BYTES = 100000 };
  TideColumnSet *set = tide_column_set_new(TIDE_WIRE_BINARY);
  guint n = fill(set, QUALIFIER_BYTES);
  g_assert_cmpuint(n * QUALIFIER_BYTES, <=, TIDE_COLUMN_SET_MAX_BYTES);
  g_assert_cmpuint(n, >, 10);
  tide_column_set_free(set);
}

/* A full set knows what it keeps, makes all else for the message, and each of these once. */
TEST("/column-set/a-full-set-makes-columns-for-a-message")
{
  TideColumnSet *set = tide_column_set_new(TIDE_WIRE_BINARY);
  TideSetColumn *kept = tide_column_set_find(set, family, TIDE_BYTES_LITERAL("kept"));
  fill(set, 4);
  char qualifier[64];
  guint64 before = 0;
  for (guint message = 0; message < 300; message++) {
    if (message == 3)
      before = allocation_count;
    /* One message with very many columns, then small ones. */
    guint n = message == 0 ? 5000 : 3;
    tide_column_set_begin_message(set);
    g_assert_true(tide_column_set_find(set, family, TIDE_BYTES_LITERAL("kept")) == kept);
    for (guint i = 0; i < n; i++) {
      gsize len = (gsize)g_snprintf(qualifier, sizeof qualifier, "of-%u-%u", message, i);
      TideSetColumn *made = tide_column_set_find(set, family, tide_bytes(qualifier, len));
      g_assert_cmpint(made->life, ==, TIDE_COLUMN_OF_MESSAGE);
      g_assert_cmpuint(made->row, ==, 0);
      made->row = 1;
      g_assert_true(tide_column_set_find(set, family, tide_bytes(qualifier, len)) == made);
      g_assert_true(tide_bytes_equal(made->column.qualifier, tide_bytes(qualifier, len)));
    }
  }
  if (ALLOCATION_COUNTER_WORKS)
    g_assert_cmpuint(allocation_count - before, ==, 0);
  tide_column_set_free(set);
}
