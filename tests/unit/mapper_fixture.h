/* A table built by a test, its mapper, a reading, and memory for the mapped rows. */
#pragma once

#include "model/table/table_mapper.h"

#include "key_schemes.h"

#define EVENT_NS G_GINT64_CONSTANT(1426535612045999999)
#define EVENT_MS G_GINT64_CONSTANT(1426535612045)

typedef struct MapperFixture {
  ReadingFixture reading;
  TideTable *table;        /* owned */
  TideTableMapper *mapper; /* owned */
  TideNameId time_field;
  gint64 now_epoch_ms;
  TideRowList list;
  TideReject reject;
} MapperFixture;

static inline void
mapper_fixture_init(MapperFixture *fixture, const TideKeyPartSpec *specs, gsize n_specs)
{
  memset(fixture, 0, sizeof *fixture);
  key_scheme_fixture_init(&fixture->reading);
  fixture->time_field = reading_fixture_id(&fixture->reading, "ts");
  fixture->reading.reading.event_time_ns = EVENT_NS;
  fixture->table = g_new0(TideTable, 1);
  fixture->table->index = 5;
  fixture->table->name = g_strdup("METRIC");
  fixture->table->key = compile_key(specs, n_specs);
  fixture->table->rules = g_array_new(FALSE, TRUE, sizeof(TideColumnRule));
  fixture->table->index_of = TIDE_TABLE_NONE;
  tide_row_list_init(&fixture->list);
}

static inline void
mapper_fixture_clear(MapperFixture *fixture)
{
  tide_table_mapper_free(fixture->mapper);
  tide_table_free(fixture->table);
  tide_row_list_clear(&fixture->list);
  reading_fixture_clear(&fixture->reading);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(MapperFixture, mapper_fixture_clear)

static inline void
use_host_and_time(MapperFixture *fixture)
{
  static const TideKeyPartSpec specs[] = {FIELD(HOST), LITERAL("#"), TIME(MS)};
  mapper_fixture_init(fixture, specs, G_N_ELEMENTS(specs));
}

static inline void
mapper_set_up(MapperFixture *fixture, gconstpointer data)
{
  use_host_and_time(fixture);
}

static inline void
mapper_tear_down(MapperFixture *fixture, gconstpointer data)
{
  mapper_fixture_clear(fixture);
}

/* A test on a mapper whose table has the key host, time. */
#define MAPPER_TEST(path) TEST_WITH(MapperFixture, mapper_set_up, mapper_tear_down, path)

/* from: "*" */
static inline TideColumnRule *
add_remaining_rule(MapperFixture *fixture, const char *family)
{
  TideColumnRule rule = {.family = g_strdup(family), .all_remaining = TRUE};
  g_array_append_val(fixture->table->rules, rule);
  return &g_array_index(fixture->table->rules, TideColumnRule, fixture->table->rules->len - 1);
}

/* from: [field], or with @qualifier { field, as } */
static inline TideColumnRule *
add_named_rule(MapperFixture *fixture, const char *family, const char *field, const char *qualifier)
{
  TideColumnRule rule = {.family = g_strdup(family), .n_items = 1};
  rule.items = g_new0(TideColumnItem, 1);
  rule.items[0] = (TideColumnItem){
      .field = reading_fixture_id(&fixture->reading, field), .qualifier = g_strdup(qualifier), .encoding = -1};
  g_array_append_val(fixture->table->rules, rule);
  return &g_array_index(fixture->table->rules, TideColumnRule, fixture->table->rules->len - 1);
}

static inline TideKeyText *
compile_text(const TideKeyPartSpec *specs, gsize n_specs)
{
  g_autoptr(GError) error = NULL;
  gsize bad_part = 0;
  TideKeyText *text = tide_key_text_compile(specs, n_specs, TRUE, &bad_part, &error);
  g_assert_no_error(error);
  return text;
}

/* from: [...], with items added by add_item(). */
static inline TideColumnRule *
add_rule(MapperFixture *fixture, const char *family)
{
  TideColumnRule rule = {.family = g_strdup(family)};
  g_array_append_val(fixture->table->rules, rule);
  return &g_array_index(fixture->table->rules, TideColumnRule, fixture->table->rules->len - 1);
}

static inline TideColumnItem *
add_item(TideColumnRule *rule, TideColumnItem item)
{
  rule->items = g_renew(TideColumnItem, rule->items, rule->n_items + 1);
  rule->items[rule->n_items] = item;
  return &rule->items[rule->n_items++];
}

static inline TideColumnItem
field_item(MapperFixture *fixture, const char *field, const char *qualifier, int encoding)
{
  return (TideColumnItem){
      .field = reading_fixture_id(&fixture->reading, field), .qualifier = g_strdup(qualifier), .encoding = encoding};
}

static inline TideColumnItem
pattern_item(const char *pattern)
{
  return (TideColumnItem){.field = TIDE_NAME_NONE, .pattern = g_strdup(pattern), .encoding = -1};
}

static inline TideColumnItem
value_item(const TideKeyPartSpec *specs, gsize n_specs, const char *qualifier)
{
  return (TideColumnItem){
      .field = TIDE_NAME_NONE, .value = compile_text(specs, n_specs), .qualifier = g_strdup(qualifier), .encoding = -1};
}

/* Limits of 0 mean "large". */
static inline void
start_mapper(MapperFixture *fixture, TideMapperLimits limits)
{
  if (limits.max_cell_bytes == 0)
    limits.max_cell_bytes = 10 * 1024 * 1024;
  if (limits.max_row_bytes == 0)
    limits.max_row_bytes = 10 * 1024 * 1024;
  fixture->mapper =
      tide_table_mapper_new(fixture->table, fixture->reading.names, fixture->time_field, TIDE_WIRE_COMPACT, limits);
}

/* Appends the row of the current reading. */
static inline TideMapOutcome
map_more(MapperFixture *fixture)
{
  TideMapRequest request = {.reading = &fixture->reading.reading,
                            .cell_time_ms = tide_ns_to_ms(fixture->reading.reading.event_time_ns),
                            .now_epoch_ms = fixture->now_epoch_ms};
  fixture->reject = (TideReject){0};
  return tide_table_mapper_map(fixture->mapper, &request, &fixture->list, &fixture->reject);
}

/* Maps a message with one reading. */
static inline TideMapOutcome
map(MapperFixture *fixture)
{
  tide_row_list_reset(&fixture->list);
  tide_table_mapper_begin_message(fixture->mapper);
  TideMapOutcome outcome = map_more(fixture);
  tide_row_list_resolve(&fixture->list);
  return outcome;
}

static inline guint
n_cells(const MapperFixture *fixture)
{
  return tide_row_list_n_cells(&fixture->list);
}

static const TideCell *
cell_at(const MapperFixture *fixture, guint index)
{
  return (const TideCell *)(gconstpointer)fixture->list.cells.data + index;
}

static const TideRow *
row_at(const MapperFixture *fixture, guint index)
{
  return tide_row_list_row(&fixture->list, index);
}

/* "family:qualifier=value" for each cell in order, joined by spaces. */
static inline char *
cells_text(const MapperFixture *fixture)
{
  GString *text = g_string_new(NULL);
  for (guint i = 0; i < n_cells(fixture); i++) {
    const TideCell *cell = cell_at(fixture, i);
    g_autofree char *family = tide_bytes_printable(cell->column->family);
    g_autofree char *qualifier = tide_bytes_printable(cell->column->qualifier);
    g_autofree char *value = tide_bytes_printable(cell->value);
    g_string_append_printf(text, "%s%s:%s=%s", i > 0 ? " " : "", family, qualifier, value);
  }
  return g_string_free(text, FALSE);
}

static inline void
assert_maps_to(MapperFixture *fixture, const char *expected)
{
  g_assert_cmpint(map(fixture), ==, TIDE_MAP_ROW);
  g_autofree char *text = cells_text(fixture);
  g_assert_cmpstr(text, ==, expected);
  g_assert_cmpuint(row_at(fixture, 0)->n_cells, ==, n_cells(fixture));
}

static inline void
assert_rejects(MapperFixture *fixture, TideRejectReason reason, const char *field)
{
  g_assert_cmpint(map(fixture), ==, TIDE_MAP_REJECTED);
  g_assert_cmpstr(tide_reject_reason_name(fixture->reject.reason), ==, tide_reject_reason_name(reason));
  assert_same_bytes(fixture->reject.field, tide_bytes_of_string(field));
  g_assert_cmpuint(fixture->list.bytes.len, ==, 0);
  g_assert_cmpuint(n_cells(fixture), ==, 0);
  g_assert_cmpuint(fixture->list.computed->len, ==, 0);
  g_assert_cmpuint(tide_row_list_n_rows(&fixture->list), ==, 0);
}
