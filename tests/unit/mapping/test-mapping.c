/* Messages to rows, by source, and what is rejected. */
#include "config/config_source.h"
#include "thrift/wire/put_encoder.h"
#include "unit/allocation_counter.h"
#include "unit/mapping_fixture.h"
#include "unit/test_case.h"

/* ---- mapping ----
 *
 * Messages into rows of all tables: keys, cells, their order, and that one bad reading leaves nothing of a message. */

#define METRIC_TABLES                                                                                                  \
  KAFKA READINGS HBASE                                                                                                 \
      "tables:\n"                                                                                                      \
      "  METRIC: { key: [{ field: host }, \"#\", { time: epoch_ms }], columns: { family: M, from: \"*\" } }\n"         \
      "  CURRENT_METRIC: { latest: merge, key: [{ field: host }], columns: { family: M, from: \"*\" } }\n"

TEST("/mapping/a-reading-makes-a-row-in-each-table")
{
  g_auto(MappingFixture) fixture = mapping_fixture_of(METRIC_TABLES);
  assert_outcome(&fixture,
                 "{\"host\":\"server1.bbb.com\",\"ts\":1426535612045,\"CPU/CPU1_USR\":0.02,\"n\":{\"rx\":\"600,55\"}}",
                 "METRIC server1.bbb.com#1426535612045 M:CPU/CPU1_USR=0.02@1426535612045 M:n/rx=600,55@1426535612045\n"
                 "CURRENT_METRIC server1.bbb.com M:CPU/CPU1_USR=0.02@1426535612045 M:n/rx=600,55@1426535612045\n");
  assert_outcome(&fixture, "[]", "");
}

TEST("/mapping/rows-stand-in-the-order-of-readings-then-tables")
{
  g_auto(MappingFixture) fixture = mapping_fixture_of(METRIC_TABLES);
  assert_outcome(
      &fixture,
      "[{\"host\":\"b\",\"ts\":1426535612002,\"v\":1},{\"host\":\"a\",\"ts\":1426535612001,\"w\":null,\"v\":2}]",
      "METRIC b#1426535612002 M:v=1@1426535612002\n"
      "CURRENT_METRIC b M:v=1@1426535612002\n"
      "METRIC a#1426535612001 M:v=2@1426535612001\n"
      "CURRENT_METRIC a M:v=2@1426535612001\n");
  const TideReading *readings = tide_mapping_readings(fixture.mapping);
  g_assert_cmpint(readings[0].event_time_ns, ==, G_GINT64_CONSTANT(1426535612002000000));
  g_assert_cmpint(readings[1].event_time_ns, ==, G_GINT64_CONSTANT(1426535612001000000));
}

TEST("/mapping/the-record-can-be-key-and-time")
{
  g_auto(MappingFixture) fixture =
      mapping_fixture_of(KAFKA "readings: { time: record }\n" HBASE
                               "tables: { \"ns:BY_KEY\": { key: [{ field: $key }, \"#\", { field: $offset }],"
                               " columns: { family: M, from: \"*\" } } }\n");
  g_autofree char *row = mapping_fixture_outcome(&fixture, "k1", "{\"v\":1}");
  g_assert_cmpstr(row, ==, "ns:BY_KEY k1#42 M:v=1@1426535620000\n");
  g_autofree char *forged = mapping_fixture_outcome(&fixture, "k1", "{\"v\":1,\"$key\":\"forged\"}");
  g_assert_cmpstr(forged, ==, "duplicate_field $key");
}

/* A23, A24, A28: unknown fields become columns, bytes stay as they are, the same message makes the same rows. */
TEST("/mapping/the-same-message-makes-the-same-rows")
{
  static const char value[] =
      "{\"new\\u00e9\":\"e\\u0301\",\"host\":\"\\u00e9\",\"ts\":\"1426535612045\",\"deep\":{\"er\":[1,2]}}";
  static const char rows[] = "METRIC \\xC3\\xA9#1426535612045 M:new\\xC3\\xA9=e\\xCC\\x81@1426535612045 "
                             "M:deep/er=[1,2]@1426535612045\n"
                             "CURRENT_METRIC \\xC3\\xA9 M:new\\xC3\\xA9=e\\xCC\\x81@1426535612045 "
                             "M:deep/er=[1,2]@1426535612045\n";
  g_auto(MappingFixture) fixture = mapping_fixture_of(METRIC_TABLES);
  for (guint round = 0; round < 3; round++) {
    assert_outcome(&fixture, value, rows);
    assert_outcome(&fixture, "{\"host\":\"x\",\"ts\":1426535612045,\"other\":true,\"new\":1}",
                   "METRIC x#1426535612045 M:other=true@1426535612045 M:new=1@1426535612045\n"
                   "CURRENT_METRIC x M:other=true@1426535612045 M:new=1@1426535612045\n");
  }
  g_auto(MappingFixture) another = mapping_fixture_of(METRIC_TABLES);
  assert_outcome(&another, value, rows);
}

/* The encoded call may be as long as batch.max_bytes, and what surrounds the row belongs to it. */
TEST("/mapping/what-surrounds-a-row-counts")
{
  g_autofree char *letters = g_strnfill(5000, 'x');
  g_autofree char *value = g_strdup_printf("{\"host\":\"a\",\"ts\":1426535612045,\"v\":\"%s\"}", letters);
  guint32 smallest = 0;
  for (guint32 max_bytes = 5000; smallest == 0 && max_bytes < 6000; max_bytes++) {
    g_auto(MappingFixture) fixture = mapping_fixture_of(METRIC_TABLES);
    fixture.config->batch.max_bytes = max_bytes;
    if (!mapping_fixture_apply(&fixture, NULL, value))
      continue;
    const TideRow *row = &fixture.mapped.rows[0];
    gsize call_bytes = tide_put_multiple_overhead_max(strlen("METRIC")) + tide_put_overhead_max(row->key) +
                       tide_cell_size_max(row->cells[0].column->prefix, row->cells[0].value.len);
    g_assert_cmpuint(call_bytes, <=, max_bytes);
    smallest = max_bytes;
  }
  g_assert_cmpuint(smallest, >, 0);
}

TEST("/mapping/a-row-must-fit-a-call")
{
  g_auto(MappingFixture) fixture = mapping_fixture_of(METRIC_TABLES);
  fixture.config->batch.max_bytes = 4096;
  fixture.config->hbase.max_cell_bytes = 3000;
  tide_mapping_free(fixture.mapping);
  fixture.mapping = tide_mapping_new(fixture.config, TIDE_WIRE_BINARY);
  static const struct {
    guint n_cells, value_len;
    const char *outcome;
  } cases[] = {
      {1, 2900, NULL},
      {1, 3001, "cell_too_large v0"},
      {3, 1000, NULL},
      {4, 1000, "too_large METRIC"},
      {30, 100, "too_large METRIC"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *letters = g_strnfill(cases[i].value_len, 'x');
    GString *value = g_string_new("{\"host\":\"a\",\"ts\":1426535612045");
    for (guint cell = 0; cell < cases[i].n_cells; cell++)
      g_string_append_printf(value, ",\"v%u\":\"%s\"", cell, letters);
    g_string_append_c(value, '}');
    g_autofree char *outcome = mapping_fixture_outcome(&fixture, NULL, value->str);
    if (cases[i].outcome == NULL)
      g_assert_true(g_str_has_prefix(outcome, "METRIC a#1426535612045 M:v0=xxx"));
    else
      g_assert_cmpstr(outcome, ==, cases[i].outcome);
    g_string_free(value, TRUE);
  }
}

/* Keys and cells of early rows must be right after the arrays behind them have grown. */
TEST("/mapping/a-message-of-many-readings-keeps-its-rows")
{
  enum { N = 5000 };
  g_autoptr(GString) value = g_string_new(NULL);
  for (guint i = 0; i < N; i++)
    g_string_append_printf(value, "{\"host\":\"server%u\",\"ts\":1426535612045,\"m%u\":%u}\n", i, i % 50, i);
  g_auto(MappingFixture) fixture = mapping_fixture_of(METRIC_TABLES);
  g_free(mapping_fixture_outcome(&fixture, NULL, value->str)); /* the message is gone */
  g_assert_cmpuint(fixture.mapped.n_readings, ==, N);
  g_assert_cmpuint(fixture.mapped.n_rows, ==, 2 * N);
  for (guint i = 0; i < N; i++) {
    const TideRow *rows = &fixture.mapped.rows[2 * i];
    g_autoptr(GString) text = g_string_new(NULL);
    append_row(text, fixture.config, &rows[0]);
    append_row(text, fixture.config, &rows[1]);
    g_autofree char *expected = g_strdup_printf("METRIC server%u#1426535612045 M:m%u=%u@1426535612045\n"
                                                "CURRENT_METRIC server%u M:m%u=%u@1426535612045\n",
                                                i, i % 50, i, i, i % 50, i);
    g_assert_cmpstr(text->str, ==, expected);
    g_assert_cmpuint(rows[0].reading_index, ==, i);
  }
}

/* A sender that invents names fills the tables of names and columns once; from then on it costs no memory. */
TEST("/mapping/invented-names-cost-no-memory")
{
  char value[128];
  g_auto(MappingFixture) fixture = mapping_fixture_of(METRIC_TABLES);
  for (guint message = 0; message < 70; message++) {
    GString *text = g_string_new("{\"host\":\"a\",\"ts\":1426535612045");
    for (guint i = 0; i < 1000; i++)
      g_string_append_printf(text, ",\"invented-%u-%u\":1", message, i);
    g_string_append_c(text, '}');
    g_assert_true(mapping_fixture_apply(&fixture, NULL, text->str));
    g_string_free(text, TRUE);
  }
  g_assert_cmpuint(tide_field_names_count(tide_mapping_names(fixture.mapping)), ==, TIDE_FIELD_NAMES_MAX);

  guint64 before = 0;
  for (guint i = 0; i < 1000; i++) {
    if (i == 2)
      before = allocation_count; /* the first two find out how much memory such messages take */
    g_snprintf(value, sizeof value, "{\"host\":\"a\",\"ts\":1426535612045,\"new-%03u\":1,\"newer-%03u\":2}", i, i);
    g_assert_true(mapping_fixture_apply(&fixture, NULL, value));
    g_assert_cmpuint(fixture.mapped.rows[0].n_cells, ==, 2);
  }
  g_assert_cmpuint(allocation_count - before, ==, 0);
  if (!ALLOCATION_COUNTER_WORKS)
    g_test_skip("the sanitizer brings its own allocator");
}

/* ---- mapping sources ----
 *
 * Sources: which rules a message is read by, and which tables take its readings. */

#define SOURCES                                                                                                        \
  "kafka: { brokers: b, group: g }\n"                                                                                  \
  "sources:\n"                                                                                                         \
  "  boards: { topics: [metrics], readings: { time: { field: ts, format: epoch_ms } } }\n"                             \
  "  lines: { topics: [\"^tele\"], readings: { format: influx, on_bad_message: skip, on_bad_reading: reading },"       \
  " when: { field: host, not_equals: test } }\n"                                                                       \
  "  late: { topics: [\"^telegraf\", rest], readings: { time: { field: at, format: epoch_s } } }\n" HBASE "tables:\n"  \
  "  ALL: { key: [{ field: host }], latest: merge, columns: { family: M, from: \"*\" }, tombstone: delete }\n"         \
  "  LINES: { sources: lines, key: [{ field: host }, \"#\", { time: epoch_ms }], columns: { family: M, from: v } }\n"  \
  "  SOME: { sources: [boards, late], key: [{ field: host }, \"#\", { time: epoch_ms }], columns: { family: M, from: " \
  "v } }\n"                                                                                                            \
  "  SEEN: { latest: merge, index_of: SOME, sources: [boards, late], key: [{ field: host }],"                          \
  " columns: { family: i, from: [{ value: { time: epoch_ms }, as: ts }] } }\n"

/* @value: NULL: a tombstone of the key "a". "TABLE key column=value" of each row, and how many readings no table takes;
 * or the reason. */
static void
assert_outcome_of(MappingFixture *fixture, const char *topic, const char *value, const char *expected)
{
  const TideMapped *mapped = &fixture->mapped;
  g_autoptr(GString) text = g_string_new(NULL);
  fixture->topic = topic;
  gboolean is_mapped = mapping_fixture_apply(fixture, "a", value);
  if (!is_mapped)
    g_string_append(text, tide_reject_reason_name(fixture->reject.reason));
  for (guint32 i = 0; is_mapped && i < mapped->n_rows; i++) {
    const TideTable *table = g_ptr_array_index(fixture->config->tables, mapped->rows[i].table_index);
    g_autofree char *key = tide_bytes_printable(mapped->rows[i].key);
    g_string_append_printf(text, "%s %s", table->name, key);
    for (guint32 c = 0; c < mapped->rows[i].n_cells; c++) {
      g_autofree char *qualifier = tide_bytes_printable(mapped->rows[i].cells[c].column->qualifier);
      g_autofree char *cell = tide_bytes_printable(mapped->rows[i].cells[c].value);
      g_string_append_printf(text, " %s=%s", qualifier, cell);
    }
    g_string_append(text, "; ");
  }
  if (is_mapped)
    g_string_append_printf(text, "unmatched %u, left out %u", mapped->n_unmatched_readings, mapped->n_rejects);
  g_assert_cmpstr(text->str, ==, expected);
}

/* Another source's time is a field like others, and "*" leaves out the own one. */
TEST("/mapping-sources/each-topic-is-read-by-its-source")
{
  g_auto(MappingFixture) fixture = mapping_fixture_of(SOURCES);
  for (int round = 0; round < 2; round++) {
    assert_outcome_of(
        &fixture, "metrics", "{\"host\":\"a\",\"ts\":1426535612045,\"time\":1,\"at\":2,\"v\":3}",
        "ALL a time=1 at=2 v=3; SOME a#1426535612045 v=3; SEEN a ts=1426535612045; unmatched 0, left out 0");
    assert_outcome_of(&fixture, "telegraf", "cpu,host=a ts=1,v=3 1426535612045000000",
                      "ALL a measurement=cpu ts=1 v=3; LINES a#1426535612045 v=3; unmatched 0, left out 0");
    assert_outcome_of(&fixture, "rest", "{\"host\":\"a\",\"at\":1426535612,\"ts\":1,\"v\":3}",
                      "ALL a ts=1 v=3; SOME a#1426535612000 v=3; SEEN a ts=1426535612000; unmatched 0, left out 0");
    assert_outcome_of(&fixture, "metrics", "cpu,host=a v=3 1426535612045000000", "parse");
  }
}

TEST("/mapping-sources/conditions-and-policy")
{
  g_auto(MappingFixture) fixture = mapping_fixture_of(SOURCES);
  assert_outcome_of(&fixture, "telegraf", "cpu,host=test v=3 1426535612045000000", "unmatched 1, left out 0");
  assert_outcome_of(&fixture, "telegraf", "cpu,host=a v=3 1\ncpu,host=b v=4 1426535612045000000",
                    "ALL b measurement=cpu v=4; LINES b#1426535612045 v=4; unmatched 0, left out 1");
  assert_outcome_of(&fixture, "metrics",
                    "[{\"host\":\"a\",\"ts\":1,\"v\":3},{\"host\":\"b\",\"ts\":1426535612045,\"v\":4}]",
                    "time_implausible");
  assert_outcome_of(&fixture, "metrics", "{\"host\":\"test\",\"ts\":1426535612045,\"v\":3}",
                    "ALL test v=3; SOME test#1426535612045 v=3; SEEN test ts=1426535612045; unmatched 0, left out 0");
  const TideConfigSource *lines = tide_mapping_source(fixture.mapping, TIDE_BYTES_LITERAL("telex"));
  g_assert_cmpstr(lines->name, ==, "lines");
  g_assert_cmpint(lines->readings->on_bad_message, ==, TIDE_BAD_MESSAGE_SKIP);
}

TEST("/mapping-sources/tombstone")
{
  g_auto(MappingFixture) fixture = mapping_fixture_of(SOURCES);
  assert_outcome_of(&fixture, "metrics", NULL, "ALL a; unmatched 0, left out 0");
  assert_outcome_of(&fixture, "telegraf", NULL, "ALL a; unmatched 0, left out 0");
}

/* Read by the rules of another source, it could become rows that nobody meant. */
TEST("/mapping-sources/topic-of-no-source")
{
  g_auto(MappingFixture) fixture = mapping_fixture_of(SOURCES);
  assert_outcome_of(&fixture, "other", "{\"host\":\"a\",\"ts\":1426535612045,\"v\":3}", "parse");
  assert_outcome_of(&fixture, "", "{\"host\":\"a\",\"ts\":1426535612045,\"v\":3}", "parse");
  g_assert_cmpstr(tide_mapping_source(fixture.mapping, TIDE_BYTES_LITERAL("other"))->name, ==, "boards");
}

TEST("/mapping-sources/allocate-nothing")
{
  g_auto(MappingFixture) fixture = mapping_fixture_of(SOURCES);
  guint64 before = 0;
  for (int round = 0; round < 100; round++) {
    if (round == 2)
      before = allocation_count;
    fixture.topic = "metrics";
    g_assert_true(mapping_fixture_apply(&fixture, "a", "{\"host\":\"a\",\"ts\":1426535612045,\"v\":3}"));
    fixture.topic = "telegraf";
    g_assert_true(mapping_fixture_apply(&fixture, "a", "cpu,host=a v=3 1426535612045000000"));
  }
  g_assert_cmpuint(allocation_count - before, ==, 0);
  if (!ALLOCATION_COUNTER_WORKS)
    g_test_skip("the sanitizer brings its own allocator");
}

/* ---- mapping rejects ----
 *
 * Messages of several readings of which some are bad: with on_bad_reading: reading they are left out, each with its
 * reason, and the others make their rows. The tables are declared as an operator declares them. */

#define POLICY                                                                                                         \
  "readings: { on_bad_reading: reading, arrays: reject, max_fields: 6, time: { field: ts, format: epoch_ms } }\n"
#define TWO_TABLES                                                                                                     \
  "tables:\n"                                                                                                          \
  "  T: { key: [{ field: host }, \"#\", { time: epoch_ms }], columns: { family: M, from: \"*\" } }\n"                  \
  "  L: { latest: merge, key: [{ field: host }], columns: [{ family: M, from: v, encode: int64 }] }\n"

static char *
placed_reject_text(const TideReject *reject)
{
  g_autofree char *text = reject_text(reject);
  return g_strdup_printf("%s@%" G_GINT64_FORMAT, text, reject->byte_position);
}

/* "T a#1426535612045" for each row and "2: REASON field@byte" for each reading that is left out, or "REASON field@byte"
 * of a rejected message, joined by "; ". The message is gone by then. (transfer full) */
static char *
outcome_of_readings(MappingFixture *fixture, const char *value)
{
  g_autofree char *copy = g_strdup(value);
  gboolean good = mapping_fixture_apply(fixture, NULL, copy);
  memset(copy, '#', strlen(copy));
  if (!good)
    return placed_reject_text(&fixture->reject);
  g_autoptr(GString) text = g_string_new(NULL);
  for (guint32 i = 0; i < fixture->mapped.n_rows; i++) {
    const TideRow *row = &fixture->mapped.rows[i];
    const TideTable *table = g_ptr_array_index(fixture->config->tables, row->table_index);
    g_autofree char *key = tide_bytes_printable(row->key);
    g_string_append_printf(text, "%s%s %s", text->len > 0 ? "; " : "", table->name, key);
  }
  for (guint32 i = 0; i < fixture->mapped.n_rejects; i++) {
    g_autofree char *why = placed_reject_text(&fixture->mapped.rejects[i]);
    g_string_append_printf(text, "%s%u: %s", text->len > 0 ? "; " : "", fixture->mapped.rejects[i].reading_index, why);
  }
  return g_strdup(text->str);
}

static void
assert_readings(MappingFixture *fixture, const char *value, const char *expected)
{
  g_autofree char *outcome = outcome_of_readings(fixture, value);
  g_assert_cmpstr(outcome, ==, expected);
}

#define GOOD(host) "{\"host\":\"" host "\",\"ts\":1426535612045,\"v\":1}"
#define ROWS(host) "T " host "#1426535612045; L " host

TEST("/mapping-rejects/a-bad-reading-is-left-out-alone")
{
  static const struct {
    const char *bad, *why;
  } cases[] = {
      {"{\"ts\":1426535612045,\"v\":1}", "missing_field host@-1"},
      {"{\"host\":\"b\",\"v\":1}", "missing_field ts@-1"},
      {"{\"host\":\"b\",\"ts\":1426535612,\"v\":1}", "time_implausible ts@-1"},
      {"{\"host\":\"\",\"ts\":1426535612045,\"v\":1}", "bad_key host@-1"},
      {"{\"host\":\"b\",\"ts\":1426535612045}", "no_cells T@-1"},
      {"{\"host\":\"b\",\"ts\":1426535612045,\"\":1}", "bad_column @-1"},
      /* The row of T was made already, and goes with it. */
      {"{\"host\":\"b\",\"ts\":1426535612045,\"v\":\"x\"}", "number v@-1"},
      {"{\"host\":\"b\",\"ts\":1426535612045,\"w\":1}", "no_cells L@-1"},
      {"{}", "missing_field ts@-1"},
      /* What the decoder finds. */
      {"{\"host\":\"b\",\"ts\":1,\"ts\":2,\"v\":1}", "duplicate_field ts@63"},
      {"{\"host\":\"b\",\"ts\":1426535612045,\"o\":{\"p\":{\"v\":1,\"v\":2}}}", "duplicate_field o/p/v@90"},
      {"{\"host\":\"b\",\"v\":[1,{\"x\":[]},2],\"v\":1,\"ts\":1}", "type v@55"},
      {"{\"a\":1,\"b\":2,\"c\":3,\"d\":4,\"e\":5,\"f\":6,\"g\":{\"h\":[{},[]],\"a\":1},\"a\":2}",
       "too_many_fields g@80"},
      {"{\"n\":1000000000000000000000000000000000000000000000000000000000000000000000,\"n\":1}", "number n@44"},
  };
  g_auto(MappingFixture) fixture = mapping_fixture_of(KAFKA POLICY HBASE TWO_TABLES);
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *list = g_strdup_printf("[" GOOD("a") ",%s," GOOD("c") "]", cases[i].bad);
    g_autofree char *lines = g_strdup_printf("%s\n" GOOD("c"), cases[i].bad);
    g_autofree char *both = g_strdup_printf(ROWS("a") "; " ROWS("c") "; 1: %s", cases[i].why);
    g_test_message("%s", cases[i].bad);
    assert_readings(&fixture, list, both);
    g_assert_cmpuint(fixture.mapped.n_readings, ==, 3);
    /* In front of all others, too; places differ there. */
    g_autofree char *outcome = outcome_of_readings(&fixture, lines);
    g_assert_true(g_str_has_prefix(outcome, ROWS("c") "; 0: "));
    /* A message's only reading is the message. */
    g_autofree char *alone = outcome_of_readings(&fixture, cases[i].bad);
    g_assert_null(strstr(alone, "0: "));
    g_assert_cmpint(strncmp(alone, cases[i].why, (gsize)(strchr(cases[i].why, '@') - cases[i].why)), ==, 0);
  }
}

TEST("/mapping-rejects/several-are-told-apart")
{
  g_auto(MappingFixture) fixture = mapping_fixture_of(KAFKA POLICY HBASE TWO_TABLES);
  assert_readings(
      &fixture, "\xEF\xBB\xBF[{\"x\":1,\"x\":2},{}," GOOD("a") ",{\"ts\":[]},{\"host\":\"b\",\"ts\":0}]",
      ROWS("a") "; 0: duplicate_field x@15; 1: missing_field ts@-1; 3: type ts@65; 4: time_implausible ts@-1");
  assert_readings(&fixture, "[{},{}]", "0: missing_field ts@-1; 1: missing_field ts@-1");
  g_assert_cmpuint(fixture.mapped.n_rows, ==, 0);
}

/* Where a reading ends is not known in what is no JSON; and what takes too much memory is not gone on with. */
TEST("/mapping-rejects/a-broken-message-is-bad-as-a-whole")
{
  static const struct {
    const char *value, *outcome;
  } cases[] = {
      {"[" GOOD("a") ",{\"host\":}]", "parse host@47"},  {"[" GOOD("a") ",{\"x\":1,\"x\":2},{]", "parse @54"},
      {"[{\"x\":1,\"x\":2},{\"v\":nul}]", "parse v@20"}, {"[{\"x\":1,\"x\":\"\\ud800\"}]", "utf8 @13"},
      {"[" GOOD("a") ",{\"x\":1,\"x\":2}", "parse @52"},
  };
  g_auto(MappingFixture) fixture = mapping_fixture_of(KAFKA POLICY HBASE TWO_TABLES);
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++)
    assert_readings(&fixture, cases[i].value, cases[i].outcome);
}

TEST("/mapping-rejects/without-the-policy-the-message-is-bad")
{
  g_auto(MappingFixture) fixture = mapping_fixture_of(KAFKA READINGS HBASE TWO_TABLES);
  assert_readings(&fixture, "[" GOOD("a") ",{\"x\":1,\"x\":2}]", "duplicate_field x@50");
  assert_readings(&fixture, "[" GOOD("a") ",{\"host\":\"b\"}]", "missing_field ts@-1");
  g_assert_cmpuint(fixture.reject.reading_index, ==, 1);
}

/* What has expired of a reading that is left out is not counted: it has one end, not two. */
TEST("/mapping-rejects/a-reading-left-out-has-not-expired")
{
  g_auto(MappingFixture) fixture = mapping_fixture_of(
      KAFKA POLICY HBASE
      "tables:\n"
      "  T:\n"
      "    ttl: 5s\n"
      "    key: [{ field: host }, \"#\", { time: epoch_ms }]\n"
      "    columns: { family: M, from: \"*\" }\n"
      "  L: { latest: merge, key: [{ field: host }], columns: [{ family: M, from: v, encode: int64 }] }\n");
  tide_mapping_set_now(fixture.mapping, RECORD_TIME_MS);
  assert_readings(&fixture, "[" GOOD("a") ",{\"host\":\"b\",\"ts\":1426535612045,\"v\":\"x\"}]", "L a; 1: number v@-1");
  g_assert_cmpuint(fixture.mapped.expired[0].n_rows, ==, 1);
  g_assert_cmpuint(fixture.mapped.n_expired_readings, ==, 0);
}

TEST("/mapping-rejects/rejecting-allocates-nothing")
{
  static const char value[] = "[" GOOD("a") ",{\"o\":{\"p\":1,\"p\":2}},{\"host\":\"b\"}," GOOD("c") "]";
  g_auto(MappingFixture) fixture = mapping_fixture_of(KAFKA POLICY HBASE TWO_TABLES);
  g_assert_true(mapping_fixture_apply(&fixture, NULL, value));
  guint64 before = allocation_count;
  for (guint i = 0; i < 1000; i++)
    g_assert_true(mapping_fixture_apply(&fixture, NULL, value));
  g_assert_cmpuint(allocation_count - before, ==, 0);
  g_assert_cmpuint(fixture.mapped.n_rejects, ==, 2);
  if (!ALLOCATION_COUNTER_WORKS)
    g_test_skip("the sanitizer brings its own allocator");
}
