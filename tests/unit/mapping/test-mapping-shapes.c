/* Readings of one shape, what they are told apart by, and what becomes of their fields. */
#include "mapping/field_use.h"
#include "thrift/wire/put_encoder.h"
#include "unit/mapping_fixture.h"
#include "unit/test_case.h"

/* ---- mapping shapes ----
 *
 * Readings of shapes that were seen before: whatever came before, a message becomes the same rows, and rows that say
 * that their cells are of known columns have these, encoded as they would be one by one. */

#define METRIC "  METRIC: { key: [{ field: host }, \"#\", { time: epoch_ms }], columns: { family: M, from: \"*\" } }\n"
#define CURRENT "  CURRENT: { latest: merge, key: [{ field: host }], columns: { family: M, from: \"*\" } }\n"
#define OTHER_FAMILY "  OTHER: { latest: merge, key: [{ field: host }], columns: { family: N, from: \"*\" } }\n"
#define WHERE_B                                                                                                        \
  "  WHERE_B: { when: { field: b, present: true }, key: [{ field: host }], columns: { family: M, from: \"*\" } }\n"

static const char *const configurations[] = {
    METRIC CURRENT,
    WHERE_B METRIC CURRENT OTHER_FAMILY,
    "  A: { key: [{ field: host }], columns: { family: M, from: [a, b] } }\n"
    "  B: { key: [{ field: host }], columns: { family: M, from: [b, a] } }\n"
    "  C: { key: [{ field: host }], columns: [{ family: M, from: [a] }, { family: N, from: [a, b] }] }\n",
    "  REPLACE: { latest: replace, key: [{ field: host }], columns: { family: M, from: \"*\" } }\n" METRIC,
    "  RECORD: { cell_time: record, key: [{ field: host }, \"#\", { time: epoch_ms }], columns: { family: M, from: "
    "\"*\" } }\n" METRIC,
    "  KEYED: { key: [{ field: host }], columns: { family: M, from: [\"$key\", a] } }\n" METRIC,
    "  ENCODED: { key: [{ field: host }], columns: { family: M, from: [a], encode: float64 } }\n" METRIC,
    "  PACKED: { key: [{ field: host }], columns: { family: M, from: \"*\", pack: json } }\n" METRIC,
    "  NULLS: { key: [{ field: host }], columns: { family: M, from: \"*\", nulls: empty } }\n" METRIC,
    "  EXPIRES: { key: [{ field: host }], families: { M: { ttl: 10s }, N: {} },"
    " columns: [{ family: M, from: [a] }, { family: N, from: [b] }] }\n" METRIC,
    "  UPPER: { key: [{ field: host }], columns: { family: M, from: \"*\", case: upper } }\n" METRIC,
    "  ONE: { key: [{ field: host }], columns: { family: M, from: a } }\n"
    "  SAME: { key: [{ field: host }, \"#\"], columns: { family: M, from: a } }\n",
    /* the same columns of other fields */
    "  OF_A: { key: [{ field: host }], columns: { family: M, from: [{ field: a, as: x }, c] } }\n"
    "  OF_B: { key: [{ field: host }], columns: { family: M, from: [{ field: b, as: x }, c] } }\n",
};

typedef struct Twins {
  TideConfig *config; /* owned */
  TideWireProtocol protocol;
  TideMapping *old;       /* owned */
  GHashTable *columns_of; /* owned: columns_id -> their prefixes */
  guint64 n_known;        /* rows of known columns */
  guint64 n_shared;       /* of these, rows that have the cells of the one before */
} Twins;

static void
twins_init(Twins *twins, const char *tables, TideWireProtocol protocol)
{
  g_autofree char *text = g_strconcat(
      KAFKA "readings: { time: { field: ts, format: epoch_ms }, on_bad_reading: reading }\n" HBASE "tables:\n", tables,
      NULL);
  *twins = (Twins){.protocol = protocol,
                   .columns_of = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_bytes_unref)};
  twins->config = load_text(text);
  twins->config->hbase.max_cell_bytes = 100;
  twins->old = tide_mapping_new(twins->config, protocol);
  tide_mapping_set_now(twins->old, RECORD_TIME_MS);
}

static void
twins_clear(Twins *twins)
{
  tide_mapping_free(twins->old);
  tide_config_free(twins->config);
  g_hash_table_unref(twins->columns_of);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Twins, twins_clear)

static void
assert_same_bytes(TideBytes a, TideBytes b)
{
  g_assert_true(tide_bytes_equal(a, b));
}

static void
assert_same_row(const TideRow *a, const TideRow *b)
{
  g_assert_cmpuint(a->table_index, ==, b->table_index);
  g_assert_cmpuint(a->reading_index, ==, b->reading_index);
  g_assert_cmpuint(a->n_expired_cells, ==, b->n_expired_cells);
  g_assert_cmpint(a->ttl_ms, ==, b->ttl_ms);
  g_assert_cmpint(a->event_time_ns, ==, b->event_time_ns);
  g_assert_cmpint(a->delete_to_ms, ==, b->delete_to_ms);
  g_assert_cmpuint(a->follows, ==, b->follows);
  assert_same_bytes(a->key, b->key);
  g_assert_cmpuint(a->n_cells, ==, b->n_cells);
  for (guint32 i = 0; i < a->n_cells; i++) {
    assert_same_bytes(a->cells[i].column->family, b->cells[i].column->family);
    assert_same_bytes(a->cells[i].column->qualifier, b->cells[i].column->qualifier);
    assert_same_bytes(a->cells[i].column->prefix, b->cells[i].column->prefix);
    g_assert_cmpuint(a->cells[i].column->hash, ==, b->cells[i].column->hash);
    assert_same_bytes(a->cells[i].value, b->cells[i].value);
    g_assert_cmpint(a->cells[i].timestamp_ms, ==, b->cells[i].timestamp_ms);
  }
}

/* @row says that its columns are known. */
static void
assert_columns_hold(Twins *twins, const TideRow *row)
{
  g_auto(TideBuffer) encoded = {0}, prefixes = {0};
  g_assert_cmpuint(row->n_cells, >, 1);
  for (guint32 i = 0; i < row->n_cells; i++) {
    const TideCell *cell = &row->cells[i];
    g_assert_cmpint(cell->timestamp_ms, ==, row->cells[0].timestamp_ms);
    for (guint32 k = 0; k < i; k++)
      g_assert_false(tide_bytes_equal(row->cells[k].column->prefix, cell->column->prefix));
    tide_timeless_cell_append(twins->protocol, &encoded, cell->column->prefix, cell->value);
    tide_buffer_append_bytes(&prefixes, cell->column->prefix);
  }
  assert_same_bytes(row->encoded, tide_buffer_bytes(&encoded));
  g_autoptr(GBytes) columns = g_bytes_new(prefixes.data, prefixes.len);
  GBytes *before = g_hash_table_lookup(twins->columns_of, GSIZE_TO_POINTER(row->columns_id));
  if (before != NULL)
    g_assert_true(g_bytes_equal(before, columns));
  else
    g_hash_table_insert(twins->columns_of, GSIZE_TO_POINTER(row->columns_id), g_bytes_ref(columns));
  twins->n_known++;
}

static void
assert_same_rejects(const TideReject *a, const TideReject *b)
{
  g_assert_cmpint(a->reason, ==, b->reason);
  g_assert_cmpuint(a->reading_index, ==, b->reading_index);
  g_assert_cmpint(a->byte_position, ==, b->byte_position);
  g_assert_cmpstr(a->detail, ==, b->detail);
  assert_same_bytes(a->field, b->field);
}

static void
assert_same_rows(Twins *twins, const TideMapped *old, const TideMapped *fresh)
{
  g_assert_cmpuint(old->n_rows, ==, fresh->n_rows);
  g_assert_cmpuint(old->n_readings, ==, fresh->n_readings);
  g_assert_cmpuint(old->n_unmatched_readings, ==, fresh->n_unmatched_readings);
  g_assert_cmpuint(old->n_expired_readings, ==, fresh->n_expired_readings);
  g_assert_cmpuint(old->n_rejects, ==, fresh->n_rejects);
  for (guint32 i = 0; i < old->n_rejects; i++)
    assert_same_rejects(&old->rejects[i], &fresh->rejects[i]);
  for (guint32 i = 0; i < old->n_rows; i++) {
    assert_same_row(&old->rows[i], &fresh->rows[i]);
    if (old->rows[i].columns_id != 0)
      assert_columns_hold(twins, &old->rows[i]);
    if (i > 0 && old->rows[i].n_cells > 0 && old->rows[i].cells == old->rows[i - 1].cells)
      twins->n_shared++;
  }
}

static void
check(Twins *twins, const char *value, const char *key)
{
  TideMapping *fresh = tide_mapping_new(twins->config, twins->protocol);
  tide_mapping_set_now(fresh, RECORD_TIME_MS);
  TideMessage message = {.topic = TIDE_BYTES_LITERAL("t"),
                         .timestamp_ms = RECORD_TIME_MS,
                         .key = tide_bytes_of_string(key),
                         .has_key = key != NULL,
                         .value = tide_bytes_of_string(value),
                         .has_value = TRUE};
  TideMapped of_old = {0}, of_fresh = {0};
  TideReject reject_old = {0}, reject_fresh = {0};
  gboolean good = tide_mapping_apply(twins->old, &message, &of_old, &reject_old);
  g_assert_cmpint(tide_mapping_apply(fresh, &message, &of_fresh, &reject_fresh), ==, good);
  if (good)
    assert_same_rows(twins, &of_old, &of_fresh);
  else
    assert_same_rejects(&reject_old, &reject_fresh);
  tide_mapping_free(fresh);
}

#define READING(values) "{\"host\":\"h\",\"ts\":1426535612045," values "}"

TEST("/mapping-shapes/tables-with-the-same-columns-share-their-cells")
{
  g_auto(Twins) twins;
  twins_init(&twins, METRIC CURRENT OTHER_FAMILY, TIDE_WIRE_BINARY);
  for (guint i = 0; i < 10; i++)
    check(&twins, READING("\"a\":1,\"b\":2"), "k");
  /* The first is read by names, the second finds the columns. */
  g_assert_cmpuint(twins.n_known, ==, 8 * 3);
  g_assert_cmpuint(twins.n_shared, ==, 8);
}

/* One that takes none of the first readings has the same columns all the same. */
TEST("/mapping-shapes/table-that-comes-later-shares-too")
{
  g_auto(Twins) twins;
  twins_init(
      &twins,
      "  A: { when: { field: a, equals: 1 }, key: [{ field: host }], columns: { family: M, from: \"*\" } }\n" CURRENT,
      TIDE_WIRE_BINARY);
  for (guint i = 0; i < 5; i++)
    check(&twins, READING("\"a\":2,\"b\":2"), "k");
  g_assert_cmpuint(twins.n_known, ==, 3);
  for (guint i = 0; i < 5; i++)
    check(&twins, READING("\"a\":1,\"b\":2"), "k");
  g_assert_cmpuint(twins.n_shared, ==, 4);
}

/* Two fields that fall on one column are found, also where the first reading had both expired. */
TEST("/mapping-shapes/two-fields-of-one-column-are-found")
{
  g_auto(Twins) twins;
  twins_init(&twins,
             "  E: { key: [{ field: host }], families: { M: { ttl: 1s }, N: {} }, columns:"
             " [{ family: M, from: [\"a*\", \"A*\"], case: upper }, { family: N, from: \"*\" }] }\n",
             TIDE_WIRE_BINARY);
  for (guint i = 0; i < 4; i++)
    check(&twins, READING("\"a\":1,\"A\":2,\"c\":3"), "k"); /* seconds before the record's time */
  for (guint i = 0; i < 4; i++)
    check(&twins, "{\"host\":\"h\",\"ts\":1426535619999,\"a\":1,\"A\":2,\"c\":3}", "k");
  g_assert_cmpuint(twins.n_known, ==, 0);
}

/* Also where only the key of the table that comes later makes them so: the second has a longer one, and the same cells.
 */
static void
check_cells_too_large(const char *tables)
{
  g_auto(Twins) twins;
  twins_init(&twins, tables, TIDE_WIRE_BINARY);
  for (guint i = 0; i < 70; i++) {
    g_autofree char *value = g_strnfill(i, '7');
    g_autofree char *text = g_strdup_printf(READING("\"a\":1,\"b\":\"%s\""), value);
    check(&twins, text, "k");
  }
  g_assert_cmpuint(twins.n_known, >, 20);
}

TEST("/mapping-shapes/cells-too-large-are-found")
{
  check_cells_too_large(METRIC CURRENT);
  check_cells_too_large(CURRENT METRIC);
}

/* After reloads, each of which makes calls smaller. */
TEST("/mapping-shapes/rows-too-large-for-a-call-are-found")
{
  g_auto(Twins) twins;
  twins_init(&twins, METRIC CURRENT, TIDE_WIRE_BINARY);
  for (guint32 bytes = 500; bytes > 200; bytes -= 10) {
    twins.config->batch.max_bytes = bytes;
    check(&twins, READING("\"a\":1,\"b\":22,\"c\":333"), "k");
  }
  g_assert_cmpuint(twins.n_known, >, 20); /* and too large by now */
  g_assert_cmpuint(twins.n_known, <, 55);
}

TEST("/mapping-shapes/random-messages-become-the-same-rows")
{
  static const char *const values[] = {
      "1",        "22.5",
      "\"text\"", "true",
      "null",     "\"\"",
      "12345678", "-1",
      "1e5",      "\"a long value, with which a cell may be too large for all tables but a few of them\""};
  guint64 n_known = 0, n_shared = 0;
  for (guint round = 0; round < 2 * G_N_ELEMENTS(configurations); round++) {
    g_auto(Twins) twins;
    twins_init(&twins, configurations[round / 2], round % 2 == 0 ? TIDE_WIRE_BINARY : TIDE_WIRE_COMPACT);
    for (guint i = 0; i < 150; i++) {
      g_autoptr(GString) text = g_string_new("[");
      guint n_readings = (guint)g_test_rand_int_range(1, 4);
      for (guint r = 0; r < n_readings; r++) {
        g_string_append_printf(text, "%s{\"host\":\"h\",\"ts\":%u000", r > 0 ? "," : "",
                               1426535600 + (guint)g_test_rand_int_range(0, 20));
        const char *name = g_test_rand_int_range(0, 10) == 0 ? "A" : "a";
        for (const char *const *at = (const char *const[]){name, "b", "c", NULL}; *at != NULL; at++)
          if (g_test_rand_int_range(0, 12) != 0)
            g_string_append_printf(text, ",\"%s\":%s", *at,
                                   values[g_test_rand_int_range(0, g_test_rand_int_range(0, 4) == 0 ? 10 : 3)]);
        g_string_append_c(text, '}');
      }
      g_string_append_c(text, ']');
      check(&twins, text->str, g_test_rand_int_range(0, 8) == 0 ? NULL : "k");
    }
    n_known += twins.n_known;
    n_shared += twins.n_shared;
  }
  g_assert_cmpuint(n_known, >, 3000);
  g_assert_cmpuint(n_shared, >, 500);
}

/* ---- reading identity ----
 *
 * Which reading a row is of, as the mapping says it: what names a reading and what are its values. */

#define CONFIG(readings)                                                                                               \
  "kafka: { brokers: b, group: g, topics: [metrics] }\n"                                                               \
  "hbase: { gateways: [\"127.0.0.1:1\"] }\n"                                                                           \
  "readings: { " readings " }\n"                                                                                       \
  "tables:\n"                                                                                                          \
  "  ALL: { key: [{ field: host }, \"#\", { time: epoch_ms }], columns: { family: M, from: \"*\" } }\n"                \
  "  ONE: { key: [{ field: host }, \"#\", { time: epoch_ms }], columns: { family: M, from: [v] } }\n"                  \
  "  NEW: { latest: merge, key: [{ field: host }], columns: { family: M, from: \"*\" } }\n"
#define JSON "time: { field: ts, format: rfc3339 }"
#define INFLUX "format: influx"

/* Two messages, and which of the tables ALL and ONE take them for one reading. */
typedef struct Case {
  const char *first;
  const char *second;
  const char *same; /* letters of the tables: "AO" */
} Case;

static const Case json[] = {
    {"{\"host\":\"h\",\"ts\":\"2026-01-01T00:00:00Z\",\"v\":1}",
     "{\"host\":\"h\",\"ts\":\"2026-01-01T00:00:00Z\",\"v\":2}", "AO"},
    /* the same time in another form, and one that differs below a millisecond */
    {"{\"host\":\"h\",\"ts\":\"2026-01-01T00:00:00Z\",\"v\":1}",
     "{\"host\":\"h\",\"ts\":\"2026-01-01T01:00:00.000+01:00\",\"v\":1}", "AO"},
    {"{\"host\":\"h\",\"ts\":\"2026-01-01T00:00:00.0001Z\",\"v\":1}",
     "{\"host\":\"h\",\"ts\":\"2026-01-01T00:00:00.0002Z\",\"v\":1}", ""},
    {"{\"host\":\"h\",\"ts\":\"2026-01-01T00:00:00Z\",\"v\":1,\"k\":\"a\"}",
     "{\"host\":\"h\",\"ts\":\"2026-01-01T00:00:00Z\",\"v\":1,\"k\":\"b\"}", ""},
    /* in another order; exchanged */
    {"{\"host\":\"h\",\"ts\":\"2026-01-01T00:00:00Z\",\"a\":\"x\",\"b\":\"y\",\"v\":1}",
     "{\"b\":\"y\",\"a\":\"x\",\"host\":\"h\",\"v\":1,\"ts\":\"2026-01-01T00:00:00Z\"}", "AO"},
    {"{\"host\":\"h\",\"ts\":\"2026-01-01T00:00:00Z\",\"a\":\"x\",\"b\":\"y\",\"v\":1}",
     "{\"host\":\"h\",\"ts\":\"2026-01-01T00:00:00Z\",\"a\":\"y\",\"b\":\"x\",\"v\":1}", ""},
    /* a text that is the row's only cell is a value */
    {"{\"host\":\"h\",\"ts\":\"2026-01-01T00:00:00Z\",\"v\":\"1\"}",
     "{\"host\":\"h\",\"ts\":\"2026-01-01T00:00:00Z\",\"v\":\"2\"}", "AO"},
    {"{\"host\":\"h\",\"ts\":\"2026-01-01T00:00:00Z\",\"v\":\"1\",\"n\":1}",
     "{\"host\":\"h\",\"ts\":\"2026-01-01T00:00:00Z\",\"v\":\"2\",\"n\":1}", "O"},
};

static const Case influx[] = {
    {"m,host=h v=1,s=\"a\" 1500000001", "m,host=h v=2,s=\"b\" 1500000001", "AO"}, /* texts that are fields are values */
    {"m,host=h,c=0 v=1 1500000001", "m,c=0,host=h v=1 1500000001", "AO"},
    {"m,host=h,c=0 v=1 1500000001", "m,host=h,c=1 v=1 1500000001", ""},
    {"m,host=h v=1 1500000001", "n,host=h v=1 1500000001", ""},
    {"m,host=h v=1 1500000001", "m,host=h v=1 1500000002", ""},
};

static void
identities(MappingFixture *fixture, const char *topic, const char *key, const char *value, guint32 by_table[3])
{
  fixture->topic = topic;
  if (!mapping_fixture_apply(fixture, key, value))
    g_error("%s: %s", value, tide_reject_reason_name(fixture->reject.reason));
  g_assert_cmpuint(fixture->mapped.n_rows, ==, 3);
  for (guint i = 0; i < 3; i++)
    by_table[fixture->mapped.rows[i].table_index] = fixture->mapped.rows[i].identity;
}

static void
check_identities(const char *text, const Case *cases, gsize n_cases)
{
  g_auto(MappingFixture) fixture = mapping_fixture_of(text);
  fixture.record_time_ms = -1;
  for (gsize i = 0; i < n_cases; i++) {
    guint32 first[3], second[3];
    identities(&fixture, "metrics", "", cases[i].first, first);
    identities(&fixture, "metrics", "", cases[i].second, second);
    g_test_message("%s | %s", cases[i].first, cases[i].second);
    g_assert_cmpint(first[0] == second[0], ==, strchr(cases[i].same, 'A') != NULL);
    g_assert_cmpint(first[1] == second[1], ==, strchr(cases[i].same, 'O') != NULL);
    g_assert_cmpuint(first[0], !=, 0);
    g_assert_cmpuint(first[2], ==, 0); /* of a latest table none is asked */
    identities(&fixture, "metrics", "another key", cases[i].first, second);
    g_assert_cmpuint(first[0], !=, second[0]);
    identities(&fixture, "another topic", "", cases[i].first, second);
    g_assert_cmpuint(first[0], !=, second[0]);
  }
}

TEST("/reading-identity/A1-json")
{
  check_identities(CONFIG(JSON), json, G_N_ELEMENTS(json));
}

TEST("/reading-identity/A1-line-protocol")
{
  check_identities(CONFIG(INFLUX ", time: epoch_s"), influx, G_N_ELEMENTS(influx));
}

/* ---- field use ----
 *
 * What becomes of fields, and of those that are asked for. */

typedef struct UseFixture {
  MappingFixture of;
  TideFieldUse use;
} UseFixture;

static void
use_fixture_init(UseFixture *fixture, const char *tables)
{
  g_autofree char *text = g_strconcat(KAFKA READINGS HBASE, tables, NULL);
  fixture->use = (TideFieldUse){0};
  fixture->of = mapping_fixture_of(text);
}

static void
use_fixture_clear(UseFixture *fixture)
{
  tide_field_use_clear(&fixture->use);
  mapping_fixture_clear(&fixture->of);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(UseFixture, use_fixture_clear)

static void
note(UseFixture *fixture, const char *value)
{
  g_assert_true(mapping_fixture_apply(&fixture->of, NULL, value));
  tide_field_use_note(&fixture->use, fixture->of.mapping, fixture->of.mapped.n_readings);
}

static void
assert_names(const UseFixture *fixture, TideFieldsKind kind, const char *expected)
{
  g_autofree char *names = tide_field_use_names(&fixture->use, fixture->of.mapping, kind);
  g_assert_cmpstr(names, ==, expected);
}

TEST("/field-use/each-field-is-told")
{
  g_auto(UseFixture) fixture;
  use_fixture_init(&fixture,
                   "tables:\n"
                   "  T:\n"
                   "    key: [{ field: host }, \"#\", { time: epoch_ms }]\n"
                   "    columns: [{ family: M, from: [temp, rpmm, note] }, { family: C, from: [\"cpu/*\"] }]\n"
                   "  L: { latest: merge, key: [{ field: host }], columns: { family: M, from: [temp] } }\n");
  assert_names(&fixture, TIDE_FIELDS_ABSENT, NULL);
  note(&fixture, "[{\"host\":\"a\",\"ts\":1426535612045,\"temp\":1,\"rpm\":2,\"cpu\":{\"usr\":3},\"note\":null},"
                 "{\"host\":\"a\",\"ts\":1426535612046,\"temp\":1,\"fan\":2,\"rpm\":null}]");
  g_assert_cmpuint(fixture.use.n_readings, ==, 2);
  assert_names(&fixture, TIDE_FIELDS_TAKEN, "ts, host, temp, cpu/usr");
  assert_names(&fixture, TIDE_FIELDS_LEFT, "rpm, fan");
  assert_names(&fixture, TIDE_FIELDS_NULL, "note");
  assert_names(&fixture, TIDE_FIELDS_ABSENT, "rpmm (did you mean 'rpm'?)");
  note(&fixture, "{\"host\":\"a\",\"ts\":1426535612047,\"temp\":1,\"rpmm\":1,\"note\":\"x\"}");
  assert_names(&fixture, TIDE_FIELDS_NULL, NULL);
  assert_names(&fixture, TIDE_FIELDS_ABSENT, NULL);
}

/* Only names that were met can be meant, and none that the configuration uses itself. */
TEST("/field-use/meant")
{
  g_auto(UseFixture) fixture;
  use_fixture_init(
      &fixture, "tables: { T: { key: [{ field: host }], columns: { family: M, from: [temp1, temp2, hosts, x] } } }\n");
  note(&fixture, "{\"host\":\"a\",\"ts\":1426535612045,\"temp1\":1}");
  assert_names(&fixture, TIDE_FIELDS_ABSENT, "temp2, hosts, x");
  note(&fixture, "{\"host\":\"a\",\"ts\":1426535612045,\"temp1\":1,\"tepm2\":2}");
  assert_names(&fixture, TIDE_FIELDS_ABSENT, "temp2 (did you mean 'tepm2'?), hosts, x");
}

TEST("/field-use/of-many-the-first-are-named")
{
  g_auto(UseFixture) fixture;
  use_fixture_init(&fixture, "tables: { T: { key: [{ time: epoch_ms }], columns: { family: M, from: [v] } } }\n");
  g_autoptr(GString) value = g_string_new("{\"ts\":1426535612045,\"v\":1");
  for (int i = 0; i < 25; i++)
    g_string_append_printf(value, ",\"x%d\":1", i);
  g_string_append_c(value, '}');
  note(&fixture, value->str);
  g_autofree char *names = tide_field_use_names(&fixture.use, fixture.of.mapping, TIDE_FIELDS_LEFT);
  g_assert_true(g_str_has_prefix(names, "x0, x1, "));
  g_assert_true(g_str_has_suffix(names, ", x19 and 5 more"));
}
