/* Sources: which rules a message is read by, and which tables take its readings. */
#include "config/config_source.h"
#include "mapping/mapping.h"
#include "unit/allocation_counter.h"
#include "unit/config-texts.h"

#define CONFIG                                                                                                         \
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

typedef struct SourcesFixture {
  TideConfig *config;   /* owned */
  TideMapping *mapping; /* owned */
} SourcesFixture;

static void
sources_fixture_init(SourcesFixture *fixture)
{
  fixture->config = load_good(CONFIG);
  fixture->mapping = tide_mapping_new(fixture->config, TIDE_WIRE_BINARY);
}

static void
sources_fixture_clear(SourcesFixture *fixture)
{
  tide_mapping_free(fixture->mapping);
  tide_config_free(fixture->config);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(SourcesFixture, sources_fixture_clear)

/* @value: NULL: a tombstone of the key "a". */
static gboolean
apply(SourcesFixture *fixture, const char *topic, const char *value, TideMapped *mapped, TideReject *reject)
{
  TideMessage message = {.topic = tide_bytes_of_string(topic),
                         .timestamp_ms = G_GINT64_CONSTANT(1426535620000),
                         .key = TIDE_BYTES_LITERAL("a"),
                         .value = tide_bytes_of_string(value),
                         .has_value = value != NULL};
  return tide_mapping_apply(fixture->mapping, &message, mapped, reject);
}

/* "TABLE key column=value" of each row, and how many readings no table takes; or the reason. */
static void
assert_outcome(SourcesFixture *fixture, const char *topic, const char *value, const char *expected)
{
  TideMapped mapped;
  TideReject reject = {0};
  g_autoptr(GString) text = g_string_new(NULL);
  gboolean is_mapped = apply(fixture, topic, value, &mapped, &reject);
  if (!is_mapped)
    g_string_append(text, tide_reject_reason_name(reject.reason));
  for (guint32 i = 0; is_mapped && i < mapped.n_rows; i++) {
    const TideTable *table = g_ptr_array_index(fixture->config->tables, mapped.rows[i].table_index);
    g_autofree char *key = tide_bytes_printable(mapped.rows[i].key);
    g_string_append_printf(text, "%s %s", table->name, key);
    for (guint32 c = 0; c < mapped.rows[i].n_cells; c++) {
      g_autofree char *qualifier = tide_bytes_printable(mapped.rows[i].cells[c].column->qualifier);
      g_autofree char *cell = tide_bytes_printable(mapped.rows[i].cells[c].value);
      g_string_append_printf(text, " %s=%s", qualifier, cell);
    }
    g_string_append(text, "; ");
  }
  if (is_mapped)
    g_string_append_printf(text, "unmatched %u, left out %u", mapped.n_unmatched_readings, mapped.n_rejects);
  g_assert_cmpstr(text->str, ==, expected);
}

/* Another source's time is a field like others, and "*" leaves out the own one. */
static void
test_each_topic_is_read_by_its_source(void)
{
  g_auto(SourcesFixture) fixture;
  sources_fixture_init(&fixture);
  for (int round = 0; round < 2; round++) {
    assert_outcome(&fixture, "metrics", "{\"host\":\"a\",\"ts\":1426535612045,\"time\":1,\"at\":2,\"v\":3}",
                   "ALL a time=1 at=2 v=3; SOME a#1426535612045 v=3; SEEN a ts=1426535612045; unmatched 0, left out 0");
    assert_outcome(&fixture, "telegraf", "cpu,host=a ts=1,v=3 1426535612045000000",
                   "ALL a measurement=cpu ts=1 v=3; LINES a#1426535612045 v=3; unmatched 0, left out 0");
    assert_outcome(&fixture, "rest", "{\"host\":\"a\",\"at\":1426535612,\"ts\":1,\"v\":3}",
                   "ALL a ts=1 v=3; SOME a#1426535612000 v=3; SEEN a ts=1426535612000; unmatched 0, left out 0");
    assert_outcome(&fixture, "metrics", "cpu,host=a v=3 1426535612045000000", "parse");
  }
}

static void
test_source_has_its_conditions_and_its_policy(void)
{
  g_auto(SourcesFixture) fixture;
  sources_fixture_init(&fixture);
  assert_outcome(&fixture, "telegraf", "cpu,host=test v=3 1426535612045000000", "unmatched 1, left out 0");
  assert_outcome(&fixture, "telegraf", "cpu,host=a v=3 1\ncpu,host=b v=4 1426535612045000000",
                 "ALL b measurement=cpu v=4; LINES b#1426535612045 v=4; unmatched 0, left out 1");
  assert_outcome(&fixture, "metrics",
                 "[{\"host\":\"a\",\"ts\":1,\"v\":3},{\"host\":\"b\",\"ts\":1426535612045,\"v\":4}]",
                 "time_implausible");
  assert_outcome(&fixture, "metrics", "{\"host\":\"test\",\"ts\":1426535612045,\"v\":3}",
                 "ALL test v=3; SOME test#1426535612045 v=3; SEEN test ts=1426535612045; unmatched 0, left out 0");
  const TideConfigSource *lines = tide_mapping_source(fixture.mapping, TIDE_BYTES_LITERAL("telex"));
  g_assert_cmpstr(lines->name, ==, "lines");
  g_assert_cmpint(lines->readings->on_bad_message, ==, TIDE_BAD_MESSAGE_SKIP);
}

static void
test_tombstone_is_of_a_source(void)
{
  g_auto(SourcesFixture) fixture;
  sources_fixture_init(&fixture);
  assert_outcome(&fixture, "metrics", NULL, "ALL a; unmatched 0, left out 0");
  assert_outcome(&fixture, "telegraf", NULL, "ALL a; unmatched 0, left out 0");
}

/* Read by the rules of another source, it could become rows that nobody meant. */
static void
test_topic_of_no_source_is_rejected(void)
{
  g_auto(SourcesFixture) fixture;
  sources_fixture_init(&fixture);
  assert_outcome(&fixture, "other", "{\"host\":\"a\",\"ts\":1426535612045,\"v\":3}", "parse");
  assert_outcome(&fixture, "", "{\"host\":\"a\",\"ts\":1426535612045,\"v\":3}", "parse");
  g_assert_cmpstr(tide_mapping_source(fixture.mapping, TIDE_BYTES_LITERAL("other"))->name, ==, "boards");
}

static void
test_topics_in_turn_allocate_nothing(void)
{
  g_auto(SourcesFixture) fixture;
  sources_fixture_init(&fixture);
  guint64 before = 0;
  for (int round = 0; round < 100; round++) {
    TideMapped mapped;
    TideReject reject;
    if (round == 2)
      before = allocation_count;
    g_assert_true(apply(&fixture, "metrics", "{\"host\":\"a\",\"ts\":1426535612045,\"v\":3}", &mapped, &reject));
    g_assert_true(apply(&fixture, "telegraf", "cpu,host=a v=3 1426535612045000000", &mapped, &reject));
  }
  g_assert_cmpuint(allocation_count - before, ==, 0);
  if (!ALLOCATION_COUNTER_WORKS)
    g_test_skip("the sanitizer brings its own allocator");
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/mapping-sources/each-topic-is-read-by-its-source", test_each_topic_is_read_by_its_source);
  g_test_add_func("/mapping-sources/conditions-and-policy", test_source_has_its_conditions_and_its_policy);
  g_test_add_func("/mapping-sources/tombstone", test_tombstone_is_of_a_source);
  g_test_add_func("/mapping-sources/topic-of-no-source", test_topic_of_no_source_is_rejected);
  g_test_add_func("/mapping-sources/allocate-nothing", test_topics_in_turn_allocate_nothing);
  return g_test_run();
}
