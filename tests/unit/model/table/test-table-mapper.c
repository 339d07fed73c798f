/* Rows of one table: keys, what fields become, limits, and when there is no row. Which column a field goes to is in
 * test-field-columns.c, encodings are in test-cell-value.c. */
#include "thrift/wire/mutation_encoder.h"
#include "thrift/wire/put_encoder.h"
#include "unit/allocation_counter.h"
#include "unit/mapper_fixture.h"
#include "unit/test_case.h"

MAPPER_TEST("/table-mapper/reading-becomes-a-row")
{
  add_remaining_rule(fixture, "METRIC");
  fixture->table->ttl_ms = 86400000;
  start_mapper(fixture, (TideMapperLimits){0});
  reading_fixture_set_all(&fixture->reading, "host", "server1.bbb.com", "ts", "1426535612045", "CPU/CPU1_USR", "0.02",
                          "MEM/FREE", "600,55", NULL);
  fixture->reading.reading.index = 9;
  assert_maps_to(fixture, "METRIC:CPU/CPU1_USR=0.02 METRIC:MEM/FREE=600,55");
  assert_same_bytes(row_at(fixture, 0)->key, TIDE_BYTES_LITERAL("server1.bbb.com#1426535612045"));
  g_assert_cmpuint(row_at(fixture, 0)->table_index, ==, 5);
  g_assert_cmpuint(row_at(fixture, 0)->reading_index, ==, 9);
  g_assert_cmpint(row_at(fixture, 0)->ttl_ms, ==, 86400000);
  g_assert_cmpint(row_at(fixture, 0)->event_time_ns, ==, EVENT_NS);
  g_assert_cmpint(row_at(fixture, 0)->delete_to_ms, ==, 0);
  for (guint i = 0; i < n_cells(fixture); i++)
    g_assert_cmpint(cell_at(fixture, i)->timestamp_ms, ==, EVENT_MS);
}

/* Two rows of one message, one behind the other. */
MAPPER_TEST("/table-mapper/rows-are-appended")
{
  add_remaining_rule(fixture, "M");
  start_mapper(fixture, (TideMapperLimits){0});
  reading_fixture_set_all(&fixture->reading, "host", "a", "v", "1", NULL);
  g_assert_cmpint(map(fixture), ==, TIDE_MAP_ROW);
  reading_fixture_set(&fixture->reading, "host", "b");
  g_assert_cmpint(map_more(fixture), ==, TIDE_MAP_ROW);
  reading_fixture_set(&fixture->reading, "host", "");
  g_assert_cmpint(map_more(fixture), ==, TIDE_MAP_REJECTED);
  tide_row_list_resolve(&fixture->list);
  g_assert_cmpuint(tide_row_list_n_rows(&fixture->list), ==, 2);
  g_assert_cmpuint(n_cells(fixture), ==, 2);
  assert_same_bytes(row_at(fixture, 0)->key, TIDE_BYTES_LITERAL("a#1426535612045"));
  assert_same_bytes(row_at(fixture, 1)->key, TIDE_BYTES_LITERAL("b#1426535612045"));
  g_assert_true(row_at(fixture, 1)->cells == cell_at(fixture, 1));
}

MAPPER_TEST("/table-mapper/column-holds-its-wire-bytes")
{
  g_auto(TideBuffer) expected = {0};
  add_remaining_rule(fixture, "METRIC");
  start_mapper(fixture, (TideMapperLimits){0});
  reading_fixture_set_all(&fixture->reading, "host", "h", "CPU/CPU1_USR", "0.02", NULL);
  g_assert_cmpint(map(fixture), ==, TIDE_MAP_ROW);
  tide_column_prefix_append(TIDE_WIRE_COMPACT, &expected, TIDE_BYTES_LITERAL("METRIC"),
                            TIDE_BYTES_LITERAL("CPU/CPU1_USR"));
  const TideColumn *first = cell_at(fixture, 0)->column;
  assert_same_bytes(first->prefix, tide_buffer_bytes(&expected));
  g_assert_cmpint(map(fixture), ==, TIDE_MAP_ROW);
  g_assert_true(cell_at(fixture, 0)->column == first); /* made once */
}

MAPPER_TEST("/table-mapper/rest-is-what-no-other-rule-names")
{
  add_remaining_rule(fixture, "M");
  add_named_rule(fixture, "P", "phase", NULL);
  add_named_rule(fixture, "P", "volts", "U");
  add_named_rule(fixture, "Q", "volts", NULL);
  start_mapper(fixture, (TideMapperLimits){0});
  reading_fixture_set_all(&fixture->reading, "host", "h", "phase", "3", "volts", "230", "other", "x", NULL);
  assert_maps_to(fixture, "P:phase=3 P:U=230 Q:volts=230 M:other=x");
}

TEST("/table-mapper/key-fields-are-repeated-only-when-asked")
{
  static const TideKeyPartSpec specs[] = {PADDED_LEFT(METER, 10, '0')};
  for (int with_key_fields = 0; with_key_fields < 2; with_key_fields++) {
    g_auto(MapperFixture) fixture;
    mapper_fixture_init(&fixture, specs, G_N_ELEMENTS(specs));
    add_remaining_rule(&fixture, "M")->with_key_fields = with_key_fields;
    start_mapper(&fixture, (TideMapperLimits){0});
    reading_fixture_set_all(&fixture.reading, "meter", "987654", "ts", "1426535612045", "v", "1", NULL);
    assert_maps_to(&fixture, with_key_fields ? "M:meter=987654 M:ts=1426535612045 M:v=1" : "M:v=1");
  }
}

/* A named field is written whatever it is used for elsewhere. */
MAPPER_TEST("/table-mapper/named-key-field-is-written")
{
  add_named_rule(fixture, "M", "host", "HOSTNAME");
  add_named_rule(fixture, "M", "ts", NULL);
  start_mapper(fixture, (TideMapperLimits){0});
  reading_fixture_set_all(&fixture->reading, "host", "h", "ts", "1426535612045", "v", "not named", NULL);
  assert_maps_to(fixture, "M:HOSTNAME=h M:ts=1426535612045");
}

/* It cannot be read back from the key. */
TEST("/table-mapper/field-that-is-only-hashed-is-written")
{
  static const TideKeyPartSpec of_user[] = {FIELD(USER)};
  static const TideKeyPartSpec specs[] = {SALT(4, XXH3, of_user), FIELD(HOST)};
  g_auto(MapperFixture) fixture;
  mapper_fixture_init(&fixture, specs, G_N_ELEMENTS(specs));
  add_remaining_rule(&fixture, "M");
  start_mapper(&fixture, (TideMapperLimits){0});
  reading_fixture_set_all(&fixture.reading, "host", "h", "user", "u", NULL);
  assert_maps_to(&fixture, "M:user=u");
}

MAPPER_TEST("/table-mapper/fields-of-the-record-are-written-only-when-named")
{
  add_remaining_rule(fixture, "M");
  add_named_rule(fixture, "R", "$offset", "offset");
  start_mapper(fixture, (TideMapperLimits){0});
  reading_fixture_set_all(&fixture->reading, "host", "h", "$offset", "17", "$key", "k", "$header.id", "i", NULL);
  reading_fixture_set(&fixture->reading, "$price", "9"); /* the sender's own */
  assert_maps_to(fixture, "R:offset=17 M:$price=9");
}

TEST("/table-mapper/nulls-follow-the-rule")
{
  static const struct {
    TideNullPolicy nulls;
    const char *expected; /* NULL: rejected */
  } cases[] = {
      {TIDE_NULL_SKIP, "M:v=1"},
      {TIDE_NULL_EMPTY, "M:gone= M:v=1"},
      {TIDE_NULL_REJECT, NULL},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_auto(MapperFixture) fixture;
    use_host_and_time(&fixture);
    add_remaining_rule(&fixture, "M")->nulls = cases[i].nulls;
    start_mapper(&fixture, (TideMapperLimits){0});
    reading_fixture_set(&fixture.reading, "host", "h");
    reading_fixture_set_null(&fixture.reading, "gone");
    reading_fixture_set(&fixture.reading, "v", "1");
    if (cases[i].expected != NULL)
      assert_maps_to(&fixture, cases[i].expected);
    else
      assert_rejects(&fixture, TIDE_REJECT_TYPE, "gone");
  }
}

MAPPER_TEST("/table-mapper/B10-row-without-cells-is-rejected")
{
  add_remaining_rule(fixture, "M");
  start_mapper(fixture, (TideMapperLimits){0});
  reading_fixture_set_all(&fixture->reading, "host", "h", "ts", "1426535612045", NULL);
  assert_rejects(fixture, TIDE_REJECT_NO_CELLS, "METRIC");
  reading_fixture_set_null(&fixture->reading, "v");
  assert_rejects(fixture, TIDE_REJECT_NO_CELLS, "METRIC");
}

/* HBase counts 20 bytes, row key, family, qualifier and value. */
MAPPER_TEST("/table-mapper/B2-cell-is-at-most-what-hbase-takes")
{
  add_remaining_rule(fixture, "MM");
  start_mapper(fixture, (TideMapperLimits){.max_cell_bytes = 20 + 15 + 2 + 3 + 100});
  g_autofree char *largest = g_strnfill(100, 'x');
  g_autofree char *too_large = g_strnfill(101, 'x');
  reading_fixture_set_all(&fixture->reading, "host", "h", "val", largest, NULL);
  g_assert_cmpint(map(fixture), ==, TIDE_MAP_ROW);
  reading_fixture_set(&fixture->reading, "val", too_large);
  assert_rejects(fixture, TIDE_REJECT_CELL_TOO_LARGE, "val");
}

/* What the mapper lets pass must fit when it is encoded, and what does not fit at all must not pass. */
TEST("/table-mapper/B5-row-fits-a-call")
{
  enum { MAX_ROW_BYTES = 1000 };
  gsize longest_bytes = 0; /* as it is counted */
  for (gsize len = 1; len < 2 * MAX_ROW_BYTES; len++) {
    g_auto(MapperFixture) fixture;
    g_auto(TideBuffer) put = {0};
    use_host_and_time(&fixture);
    add_remaining_rule(&fixture, "M");
    start_mapper(&fixture, (TideMapperLimits){.max_row_bytes = MAX_ROW_BYTES});
    g_autofree char *value = g_strnfill(len, 'x');
    reading_fixture_set_all(&fixture.reading, "host", "h", "v", value, NULL);
    if (map(&fixture) != TIDE_MAP_ROW) {
      g_assert_cmpint(fixture.reject.reason, ==, TIDE_REJECT_TOO_LARGE);
      g_assert_cmpuint(len, >, MAX_ROW_BYTES - 200);
      continue;
    }
    const TideCell *cell = cell_at(&fixture, 0);
    tide_put_head_append(TIDE_WIRE_COMPACT, &put, row_at(&fixture, 0)->key, 1);
    tide_cell_append(TIDE_WIRE_COMPACT, &put, cell->column->prefix, cell->value, cell->timestamp_ms);
    tide_put_tail_append(TIDE_WIRE_COMPACT, &put, TIDE_PUT_NO_TIME, 1);
    g_assert_cmpuint(put.len, <=, MAX_ROW_BYTES);
    longest_bytes =
        tide_put_overhead_max(row_at(&fixture, 0)->key) + tide_cell_size_max(cell->column->prefix, cell->value.len);
  }
  g_assert_cmpuint(longest_bytes, ==, MAX_ROW_BYTES);
}

/* A row that replaces takes more than a put: what passes must fit a call of mutateRow. */
TEST("/table-mapper/replacing-row-fits-a-call")
{
  enum { MAX_CALL_BYTES = 2000, HOST_BYTES = 150 };
  g_autofree char *host = g_strnfill(HOST_BYTES, 'h'); /* stands in the call three times */
  gsize overhead_bytes = tide_put_multiple_overhead_max(strlen("METRIC"));
  gsize longest = 0;
  for (gsize len = 400; len < MAX_CALL_BYTES; len++) {
    g_auto(MapperFixture) fixture;
    g_auto(TideBuffer) call = {0};
    use_host_and_time(&fixture);
    add_remaining_rule(&fixture, "M");
    fixture.table->latest = TIDE_LATEST_REPLACE;
    fixture.table->families = g_ptr_array_new();
    g_ptr_array_add(fixture.table->families, tide_family_settings_new("M"));
    g_ptr_array_add(fixture.table->families, tide_family_settings_new("OTHER"));
    start_mapper(&fixture, (TideMapperLimits){.max_row_bytes = MAX_CALL_BYTES - (guint32)overhead_bytes});
    g_autofree char *value = g_strnfill(len, 'x');
    reading_fixture_set_all(&fixture.reading, "host", host, "v", value, NULL);
    if (map(&fixture) != TIDE_MAP_ROW)
      break;
    const TideBytes families[] = {TIDE_BYTES_LITERAL("M"), TIDE_BYTES_LITERAL("OTHER")};
    const TideRow *row = row_at(&fixture, 0);
    const TideCell *cell = cell_at(&fixture, 0);
    g_assert_cmpint(row->delete_to_ms, ==, EVENT_MS - 1);
    tide_mutate_row_head_append(TIDE_WIRE_BINARY, &call, 1, TIDE_BYTES_LITERAL("METRIC"), row->key, 2);
    tide_mutation_delete_append(TIDE_WIRE_BINARY, &call, row->key, families, 2, row->delete_to_ms);
    tide_mutation_put_head_append(TIDE_WIRE_BINARY, &call, row->key, 1);
    tide_cell_append(TIDE_WIRE_BINARY, &call, cell->column->prefix, cell->value, cell->timestamp_ms);
    tide_mutation_put_tail_append(TIDE_WIRE_BINARY, &call, 86400000);
    tide_mutate_row_tail_append(TIDE_WIRE_BINARY, &call);
    g_assert_cmpuint(call.len, <=, MAX_CALL_BYTES);
    longest = len;
  }
  g_assert_cmpuint(longest, >, 400);
}

MAPPER_TEST("/table-mapper/B3-empty-name-is-rejected")
{
  add_remaining_rule(fixture, "M");
  start_mapper(fixture, (TideMapperLimits){0});
  reading_fixture_set_all(&fixture->reading, "host", "h", "", "1", NULL);
  assert_rejects(fixture, TIDE_REJECT_BAD_COLUMN, "");
  assert_rejects(fixture, TIDE_REJECT_BAD_COLUMN, ""); /* also when it was met before */
}

MAPPER_TEST("/table-mapper/two-fields-never-share-a-column")
{
  add_remaining_rule(fixture, "M");
  add_named_rule(fixture, "M", "volts", "U");
  add_named_rule(fixture, "M", "tension", "U");
  start_mapper(fixture, (TideMapperLimits){0});
  reading_fixture_set_all(&fixture->reading, "host", "h", "volts", "230", NULL);
  assert_maps_to(fixture, "M:U=230");
  reading_fixture_set(&fixture->reading, "U", "231");
  assert_rejects(fixture, TIDE_REJECT_DUPLICATE_FIELD, "U");
  reading_fixture_reset(&fixture->reading);
  reading_fixture_set_all(&fixture->reading, "host", "h", "U", "231", NULL);
  assert_maps_to(fixture, "M:U=231");
  reading_fixture_set(&fixture->reading, "tension", "232");
  assert_rejects(fixture, TIDE_REJECT_DUPLICATE_FIELD, "tension");
  reading_fixture_set_null(&fixture->reading, "tension"); /* it makes no cell */
  assert_maps_to(fixture, "M:U=231");
}

MAPPER_TEST("/table-mapper/rules-that-say-the-same-write-once")
{
  add_remaining_rule(fixture, "M");
  add_remaining_rule(fixture, "M");
  add_remaining_rule(fixture, "N");
  start_mapper(fixture, (TideMapperLimits){0});
  reading_fixture_set_all(&fixture->reading, "host", "h", "v", "1", NULL);
  assert_maps_to(fixture, "M:v=1 N:v=1");
}

/* When the table of names is full, fields come without a number: the same cells, made anew in each message. */
MAPPER_TEST("/table-mapper/fields-without-a-number-are-written")
{
  enum { N_FIELDS = 3000 };
  g_autofree TideField *fields = g_new0(TideField, N_FIELDS + 1);
  g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
  add_remaining_rule(fixture, "M");
  start_mapper(fixture, (TideMapperLimits){0});
  reading_fixture_set(&fixture->reading, "host", "h");
  fields[0] = fixture->reading.fields[0];
  for (guint i = 1; i <= N_FIELDS; i++) {
    char *name = g_strdup_printf("invented-%u", i);
    g_ptr_array_add(names, name);
    fields[i] = (TideField){.name_id = TIDE_NAME_NONE,
                            .kind = TIDE_VALUE_STRING,
                            .name = tide_bytes_of_string(name),
                            .text = tide_bytes_of_string(name)};
  }
  fixture->reading.reading.fields = fields;
  fixture->reading.reading.n_fields = N_FIELDS + 1;
  for (int message = 0; message < 3; message++) {
    g_assert_cmpint(map(fixture), ==, TIDE_MAP_ROW);
    g_assert_cmpuint(n_cells(fixture), ==, N_FIELDS);
    for (guint i = 0; i < N_FIELDS; i++) {
      const TideCell *cell = cell_at(fixture, i);
      assert_same_bytes(cell->column->qualifier, cell->value);
    }
  }
}

/* A reading of one field, which is called by @number. */
static void
map_name(MapperFixture *fixture, guint number)
{
  char name[16];
  g_snprintf(name, sizeof name, "v%u", number);
  TideNameId id = tide_field_names_intern(fixture->reading.names, tide_bytes_of_string(name));
  fixture->reading.fields[1] = (TideField){.name_id = id,
                                           .kind = TIDE_VALUE_NUMBER,
                                           .name = tide_field_names_text(fixture->reading.names, id),
                                           .text = TIDE_BYTES_LITERAL("1")};
  fixture->reading.reading.n_fields = 2;
  g_assert_cmpint(map(fixture), ==, TIDE_MAP_ROW);
  g_assert_cmpuint(n_cells(fixture), ==, 2);
  for (guint i = 0; i < 2; i++)
    assert_same_bytes(cell_at(fixture, i)->column->qualifier, tide_bytes_of_string(name));
}

/* More columns than are kept: 40,000 names in two families. */
MAPPER_TEST("/table-mapper/columns-beyond-the-limit-are-written")
{
  enum { N_NAMES = 40000 };
  add_remaining_rule(fixture, "M");
  add_remaining_rule(fixture, "N");
  start_mapper(fixture, (TideMapperLimits){0});
  reading_fixture_set(&fixture->reading, "host", "h");
  for (guint i = 0; i < N_NAMES; i++)
    map_name(fixture, i);
  /* What is not kept is not known of a shape: the next message has it in its place. */
  for (guint i = 0; i < 4; i++) {
    fixture->reading.reading.shape = (TideShape){.serial = 1 + i % 2, .slot = i % 2};
    map_name(fixture, N_NAMES - 1 - i % 2);
  }
}

MAPPER_TEST("/table-mapper/mapping-allocates-nothing")
{
  if (!ALLOCATION_COUNTER_WORKS) {
    g_test_skip("the sanitizer has an allocator of its own");
    return;
  }
  add_remaining_rule(fixture, "M");
  start_mapper(fixture, (TideMapperLimits){0});
  reading_fixture_set(&fixture->reading, "host", "h");
  for (int i = 0; i < 10; i++) {
    g_autofree char *name = g_strdup_printf("metric-%d", i);
    reading_fixture_set(&fixture->reading, name, "0.02");
  }
  fixture->reading.fields[3].name_id = TIDE_NAME_NONE; /* also where a column is made anew */
  g_assert_cmpint(map(fixture), ==, TIDE_MAP_ROW);
  guint64 before = allocation_count;
  for (int i = 0; i < 1000; i++)
    g_assert_cmpint(map(fixture), ==, TIDE_MAP_ROW);
  g_assert_cmpuint(allocation_count - before, ==, 0);
}

/* Cells of a known shape that are encoded in one go, and then turn out to be too many bytes to be surely right, leave
 * nothing of that behind: they are added one by one. */
MAPPER_TEST("/table-mapper/what-was-encoded-in-vain-is-taken-back")
{
  add_remaining_rule(fixture, "M");
  reading_fixture_set_all(&fixture->reading, "host", "h", "ts", "1426535612045", "a", "1", "b", "2", NULL);
  fixture->reading.reading.shape = (TideShape){.serial = 1};
  start_mapper(fixture, (TideMapperLimits){.max_cell_bytes = 200});
  assert_maps_to(fixture, "M:a=1 M:b=2");
  g_assert_cmpuint(fixture->list.encoded.len, ==, 0); /* the shape was learned */
  assert_maps_to(fixture, "M:a=1 M:b=2");
  g_assert_cmpuint(fixture->list.encoded.len, >, 0);
  g_autofree char *text = g_strnfill(100, '7');
  reading_fixture_set_all(&fixture->reading, "a", text, "b", text, NULL);
  g_autofree char *expected = g_strdup_printf("M:a=%s M:b=%s", text, text);
  assert_maps_to(fixture, expected);
  g_assert_cmpuint(fixture->list.encoded.len, ==, 0);
  g_assert_cmpuint(row_at(fixture, 0)->columns_id, ==, 0);
}
