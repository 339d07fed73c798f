/* Messages to rows, by source, and what is rejected. */
#include "config/config_source.h"
#include "thrift/wire/put_encoder.h"
#include "unit/allocation_counter.h"
#include "unit/mapping_fixture.h"

/* ---- mapping ----
 *
 * Messages into rows of all tables: keys, cells, their order, and that one bad reading leaves nothing of a message. */

/* A configuration made by hand: METRIC by host and time, CURRENT_METRIC by host, and a third
 * table keyed by what the record offers. */
typedef struct HandMadeFixture {
  TideConfig config;
  TideConfigSource source;
  TideMapping *mapping; /* owned; NULL until the first message */
  TideNameId host, ts, record_key;
} HandMadeFixture;

static TideTable *
add_table(HandMadeFixture *fixture, const char *name, const TideKeyPartSpec *parts, gsize n_parts)
{
  gsize bad_part;
  g_autoptr(GError) error = NULL;
  TideTable *table = g_new0(TideTable, 1);
  table->index = fixture->config.tables->len;
  table->index_of = TIDE_TABLE_NONE;
  table->name = g_strdup(name);
  table->key = tide_row_key_compile(parts, n_parts, &bad_part, &error);
  g_assert_no_error(error);
  table->rules = g_array_new(FALSE, TRUE, sizeof(TideColumnRule));
  TideColumnRule rule = {.family = g_strdup("M"), .all_remaining = TRUE};
  g_array_append_val(table->rules, rule);
  g_ptr_array_add(fixture->config.tables, table);
  return table;
}

static void
free_table(gpointer table)
{
  tide_table_free(table);
}

static void
fixture_init(HandMadeFixture *fixture)
{
  static char separator[] = "/";
  *fixture = (HandMadeFixture){0};
  TideConfig *config = &fixture->config;
  config->names = tide_field_names_new();
  fixture->host = tide_field_names_intern(config->names, TIDE_BYTES_LITERAL("host"));
  fixture->ts = tide_field_names_intern(config->names, TIDE_BYTES_LITERAL("ts"));
  config->tables = g_ptr_array_new_with_free_func(free_table);
  fixture->source.readings = &config->readings;
  config->sources = g_ptr_array_new();
  g_ptr_array_add(config->sources, &fixture->source);
  config->hbase.max_cell_bytes = 10 * 1024 * 1024;
  config->batch.max_bytes = 1024 * 1024;
  config->readings.decode = (TideDecodeOptions){.separator = separator,
                                                .max_message_bytes = 4 * 1024 * 1024,
                                                .max_depth = 32,
                                                .max_fields = 1024,
                                                .max_readings = 100000};
  config->readings.time = (TideTimeSpec){.field = fixture->ts,
                                         .format = TIDE_TIME_EPOCH_MS,
                                         .date_field = TIDE_NAME_NONE,
                                         .earliest_epoch_ms = G_GINT64_CONSTANT(946684800000), /* 2000 */
                                         .max_future_ms = 300000};

  const TideKeyPartSpec key[] = {
      {.kind = TIDE_KEY_FIELD, .value.field = fixture->host},
      {.kind = TIDE_KEY_LITERAL, .literal = TIDE_BYTES_LITERAL("#")},
      {.kind = TIDE_KEY_TIME, .moment.unit = TIDE_KEY_TIME_MS},
  };
  add_table(fixture, "METRIC", key, 3);
  add_table(fixture, "CURRENT_METRIC", key, 1)->latest = TIDE_LATEST_MERGE;
}

static void
fixture_clear(HandMadeFixture *fixture)
{
  tide_mapping_free(fixture->mapping);
  g_ptr_array_unref(fixture->config.tables);
  g_ptr_array_unref(fixture->config.sources);
  tide_field_names_free(fixture->config.names);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(HandMadeFixture, fixture_clear)

/* A message whose value lies in memory of its own, which is gone when the rows are looked at. */
static gboolean
apply(HandMadeFixture *fixture, const char *value, TideMapped *ret_mapped, TideReject *ret_reject)
{
  if (fixture->mapping == NULL)
    fixture->mapping = tide_mapping_new(&fixture->config, TIDE_WIRE_BINARY);
  g_autofree char *copy = g_strdup(value);
  TideMessage message = {.topic = TIDE_BYTES_LITERAL("metrics"),
                         .partition = 3,
                         .offset = 42,
                         .timestamp_ms = RECORD_TIME_MS,
                         .key = TIDE_BYTES_LITERAL("k1"),
                         .value = tide_bytes_of_string(copy),
                         .has_value = TRUE};
  gboolean good = tide_mapping_apply(fixture->mapping, &message, ret_mapped, ret_reject);
  memset(copy, '#', strlen(copy));
  return good;
}

/* "TABLE key M:column=value@time ..." for each row, or "REASON field" of a rejected message. (transfer full) */
static char *
outcome_of(HandMadeFixture *fixture, const char *value)
{
  TideMapped mapped;
  TideReject reject;
  if (!apply(fixture, value, &mapped, &reject))
    return reject_text(&reject);
  GString *text = g_string_new(NULL);
  for (guint32 i = 0; i < mapped.n_rows; i++)
    append_row(text, &fixture->config, &mapped.rows[i]);
  return g_string_free(text, FALSE);
}

static void
assert_outcome(HandMadeFixture *fixture, const char *value, const char *expected)
{
  g_autofree char *outcome = outcome_of(fixture, value);
  g_assert_cmpstr(outcome, ==, expected);
}

static void
test_a_reading_makes_a_row_in_each_table(void)
{
  g_auto(HandMadeFixture) fixture;
  fixture_init(&fixture);
  assert_outcome(&fixture,
                 "{\"host\":\"server1.bbb.com\",\"ts\":1426535612045,\"CPU/CPU1_USR\":0.02,\"n\":{\"rx\":\"600,55\"}}",
                 "METRIC server1.bbb.com#1426535612045 M:CPU/CPU1_USR=0.02@1426535612045 M:n/rx=600,55@1426535612045\n"
                 "CURRENT_METRIC server1.bbb.com M:CPU/CPU1_USR=0.02@1426535612045 M:n/rx=600,55@1426535612045\n");
  assert_outcome(&fixture, "[]", "");
}

static void
test_rows_stand_in_the_order_of_readings_then_tables(void)
{
  g_auto(HandMadeFixture) fixture;
  fixture_init(&fixture);
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

static void
test_the_record_can_be_key_and_time(void)
{
  g_auto(HandMadeFixture) fixture;
  fixture_init(&fixture);
  fixture.record_key = tide_field_names_intern(fixture.config.names, TIDE_BYTES_LITERAL("$key"));
  TideNameId offset = tide_field_names_intern(fixture.config.names, TIDE_BYTES_LITERAL("$offset"));
  fixture.config.readings.time =
      (TideTimeSpec){.field = TIDE_NAME_NONE, .format = TIDE_TIME_RECORD, .date_field = TIDE_NAME_NONE};
  g_ptr_array_set_size(fixture.config.tables, 0);
  const TideKeyPartSpec key[] = {
      {.kind = TIDE_KEY_FIELD, .value.field = fixture.record_key},
      {.kind = TIDE_KEY_LITERAL, .literal = TIDE_BYTES_LITERAL("#")},
      {.kind = TIDE_KEY_FIELD, .value.field = offset},
  };
  add_table(&fixture, "ns:BY_KEY", key, 3);
  assert_outcome(&fixture, "{\"v\":1}", "ns:BY_KEY k1#42 M:v=1@1426535620000\n");
  assert_outcome(&fixture, "{\"v\":1,\"$key\":\"forged\"}", "duplicate_field $key");
}

/* The ids are those of the catalogue of faults. */
static void
test_bad_readings_are_rejected_by_reason_and_field(void)
{
  static const struct {
    const char *value, *outcome;
  } cases[] = {
      {"{\"ts\":1426535612045,\"v\":1}", "missing_field host"},                    /* A12 */
      {"{\"host\":null,\"ts\":1426535612045,\"v\":1}", "missing_field host"},      /* A12 */
      {"{\"host\":\"a\",\"v\":1}", "missing_field ts"},                            /* A16 */
      {"{\"host\":\"a\",\"ts\":null,\"v\":1}", "missing_field ts"},                /* A16 */
      {"{\"host\":\"a\",\"ts\":\"soon\",\"v\":1}", "time_invalid ts"},             /* A13 */
      {"{\"host\":\"a\",\"ts\":true,\"v\":1}", "time_invalid ts"},                 /* A13 */
      {"{\"host\":\"a\",\"ts\":{\"x\":1},\"v\":1}", "missing_field ts"},           /* A13 */
      {"{\"host\":[1],\"ts\":1426535612045,\"v\":1}", "bad_key host"},             /* A13 */
      {"{\"host\":\"a\",\"ts\":0,\"v\":1}", "time_implausible ts"},                /* A16 */
      {"{\"host\":\"a\",\"ts\":1426535612,\"v\":1}", "time_implausible ts"},       /* A17 */
      {"{\"host\":\"a\",\"ts\":1426535612045000,\"v\":1}", "time_implausible ts"}, /* A17 */
      {"{\"host\":\"a\",\"ts\":1426535921000,\"v\":1}", "time_future ts"},         /* A18 */
      {"{\"host\":\"\",\"ts\":1426535612045,\"v\":1}", "bad_key host"},            /* A21 */
      {"{\"host\":\"a#b\",\"ts\":1426535612045,\"v\":1}", "bad_key host"},         /* A22 */
      {"{\"host\":\"a\",\"ts\":1426535612045}", "no_cells METRIC"},
      {"{\"host\":\"a\",\"ts\":1426535612045,\"v\":null}", "no_cells METRIC"},
      {"{\"host\":\"a\",\"ts\":1426535612045,\"\":1}", "bad_column "},
      {"{\"host\":\"a\",\"ts\":1426535612045,\"ts\":1426535612045,\"v\":1}", "duplicate_field ts"}, /* A11 */
      {"{\"host\":\"a\",\"ts\":1426535612045,\"v\":NaN}", "parse v"},                               /* A14 */
      {"{}", "missing_field ts"},
      {" ", "empty "}, /* A1 */
  };
  g_auto(HandMadeFixture) fixture;
  fixture_init(&fixture);
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    assert_outcome(&fixture, cases[i].value, cases[i].outcome);
    /* It goes on as if nothing had been. */
    assert_outcome(&fixture, "{\"host\":\"a\",\"ts\":1426535612045,\"v\":1}",
                   "METRIC a#1426535612045 M:v=1@1426535612045\nCURRENT_METRIC a M:v=1@1426535612045\n");
  }
}

/* A16, A20 */
static void
test_extreme_times_are_rejected(void)
{
  static const char *const times[] = {
      "-1",   "9223372036854775807", "-9223372036854775808", "9223372036854775808", "1e999", "1426535612045.5",
      "\"\"", "01426535612045x"};
  g_auto(HandMadeFixture) fixture;
  fixture_init(&fixture);
  for (gsize i = 0; i < G_N_ELEMENTS(times); i++) {
    gboolean is_number = times[i][0] != '0';
    g_autofree char *value = g_strdup_printf("{\"host\":\"a\",\"ts\":%s,\"v\":1}", times[i]);
    TideMapped mapped;
    TideReject reject;
    g_assert_false(apply(&fixture, value, &mapped, &reject));
    if (is_number)
      g_assert_true(reject.reason == TIDE_REJECT_TIME_INVALID || reject.reason == TIDE_REJECT_TIME_IMPLAUSIBLE);
    else
      g_assert_cmpint(reject.reason, ==, TIDE_REJECT_PARSE);
  }
}

static void
test_one_bad_reading_rejects_the_message(void)
{
  g_auto(HandMadeFixture) fixture;
  fixture_init(&fixture);
  TideMapped mapped;
  TideReject reject;
  g_assert_false(apply(&fixture,
                       "[{\"host\":\"a\",\"ts\":1426535612045,\"v\":1},{\"host\":\"b\",\"ts\":1426535612045,\"v\":1},"
                       "{\"host\":\"\",\"ts\":1426535612045,\"v\":1}]",
                       &mapped, &reject));
  g_assert_cmpint(reject.reason, ==, TIDE_REJECT_BAD_KEY);
  g_assert_cmpuint(reject.reading_index, ==, 2);
  g_autofree char *sentence = tide_reject_describe(&reject);
  g_assert_nonnull(strstr(sentence, "'host'"));
}

/* A23, A24, A28: unknown fields become columns, bytes stay as they are, the same message makes the same rows. */
static void
test_the_same_message_makes_the_same_rows(void)
{
  static const char value[] =
      "{\"new\\u00e9\":\"e\\u0301\",\"host\":\"\\u00e9\",\"ts\":\"1426535612045\",\"deep\":{\"er\":[1,2]}}";
  static const char rows[] = "METRIC \\xC3\\xA9#1426535612045 M:new\\xC3\\xA9=e\\xCC\\x81@1426535612045 "
                             "M:deep/er=[1,2]@1426535612045\n"
                             "CURRENT_METRIC \\xC3\\xA9 M:new\\xC3\\xA9=e\\xCC\\x81@1426535612045 "
                             "M:deep/er=[1,2]@1426535612045\n";
  g_auto(HandMadeFixture) fixture;
  fixture_init(&fixture);
  for (guint round = 0; round < 3; round++) {
    assert_outcome(&fixture, value, rows);
    assert_outcome(&fixture, "{\"host\":\"x\",\"ts\":1426535612045,\"other\":true,\"new\":1}",
                   "METRIC x#1426535612045 M:other=true@1426535612045 M:new=1@1426535612045\n"
                   "CURRENT_METRIC x M:other=true@1426535612045 M:new=1@1426535612045\n");
  }
  g_auto(HandMadeFixture) another;
  fixture_init(&another);
  assert_outcome(&another, value, rows);
}

/* The encoded call may be as long as batch.max_bytes, and what surrounds the row belongs to it. */
static void
test_what_surrounds_a_row_counts(void)
{
  g_autofree char *letters = g_strnfill(5000, 'x');
  g_autofree char *value = g_strdup_printf("{\"host\":\"a\",\"ts\":1426535612045,\"v\":\"%s\"}", letters);
  guint32 smallest = 0;
  for (guint32 max_bytes = 5000; smallest == 0 && max_bytes < 6000; max_bytes++) {
    g_auto(HandMadeFixture) fixture;
    fixture_init(&fixture);
    fixture.config.batch.max_bytes = max_bytes;
    TideMapped mapped;
    TideReject reject;
    if (!apply(&fixture, value, &mapped, &reject))
      continue;
    const TideRow *row = &mapped.rows[0];
    gsize call_bytes = tide_put_multiple_overhead_max(strlen("METRIC")) + tide_put_overhead_max(row->key) +
                       tide_cell_size_max(row->cells[0].column->prefix, row->cells[0].value.len);
    g_assert_cmpuint(call_bytes, <=, max_bytes);
    smallest = max_bytes;
  }
  g_assert_cmpuint(smallest, >, 0);
}

static void
test_a_row_must_fit_a_call(void)
{
  g_auto(HandMadeFixture) fixture;
  fixture_init(&fixture);
  fixture.config.batch.max_bytes = 4096;
  fixture.config.hbase.max_cell_bytes = 3000;
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
    g_autofree char *outcome = outcome_of(&fixture, value->str);
    if (cases[i].outcome == NULL)
      g_assert_true(g_str_has_prefix(outcome, "METRIC a#1426535612045 M:v0=xxx"));
    else
      g_assert_cmpstr(outcome, ==, cases[i].outcome);
    g_string_free(value, TRUE);
  }
}

/* Keys and cells of early rows must be right after the arrays behind them have grown. */
static void
test_a_message_of_many_readings_keeps_its_rows(void)
{
  enum { N = 20000 };
  GString *value = g_string_new(NULL);
  for (guint i = 0; i < N; i++)
    g_string_append_printf(value, "{\"host\":\"server%u\",\"ts\":%" G_GINT64_FORMAT ",\"m%u\":%u}\n", i,
                           RECORD_TIME_MS - i, i % 50, i);
  g_auto(HandMadeFixture) fixture;
  fixture_init(&fixture);
  TideMapped mapped;
  TideReject reject;
  g_assert_true(apply(&fixture, value->str, &mapped, &reject));
  g_string_free(value, TRUE);
  g_assert_cmpuint(mapped.n_readings, ==, N);
  g_assert_cmpuint(mapped.n_rows, ==, 2 * N);
  for (guint i = 0; i < N; i++) {
    g_autofree char *rows =
        g_strdup_printf("METRIC server%u#%" G_GINT64_FORMAT " M:m%u=%u@%" G_GINT64_FORMAT
                        "\nCURRENT_METRIC server%u M:m%u=%u@%" G_GINT64_FORMAT "\n",
                        i, RECORD_TIME_MS - i, i % 50, i, RECORD_TIME_MS - i, i, i % 50, i, RECORD_TIME_MS - i);
    GString *text = g_string_new(NULL);
    append_row(text, &fixture.config, &mapped.rows[2 * i]);
    append_row(text, &fixture.config, &mapped.rows[2 * i + 1]);
    g_assert_cmpuint(mapped.rows[2 * i].reading_index, ==, i);
    g_assert_cmpstr(text->str, ==, rows);
    g_string_free(text, TRUE);
  }
}

static void
test_the_steady_state_allocates_nothing(void)
{
  g_auto(HandMadeFixture) fixture;
  fixture_init(&fixture);
  static const char value[] = "{\"host\":\"server1\",\"ts\":1426535612045,\"m\":{\"cpu\":0.5,\"mem\":7},\"on\":true}";
  TideMessage message = {.timestamp_ms = RECORD_TIME_MS, .value = tide_bytes_of_string(value), .has_value = TRUE};
  TideMapped mapped;
  TideReject reject;
  for (guint i = 0; i < 100; i++)
    g_assert_true(apply(&fixture, value, &mapped, &reject));
  guint64 before = allocation_count;
  for (guint i = 0; i < 1000; i++)
    g_assert_true(tide_mapping_apply(fixture.mapping, &message, &mapped, &reject));
  g_assert_cmpuint(allocation_count - before, ==, 0);
  if (!ALLOCATION_COUNTER_WORKS)
    g_test_skip("the sanitizer brings its own allocator");
}

/* A sender that invents names fills the tables of names and columns once; from then on it costs no memory. */
static void
test_invented_names_cost_no_memory(void)
{
  char value[128];
  g_auto(HandMadeFixture) fixture;
  fixture_init(&fixture);
  TideMapped mapped;
  TideReject reject;
  for (guint message = 0; message < 70; message++) {
    GString *text = g_string_new("{\"host\":\"a\",\"ts\":1426535612045");
    for (guint i = 0; i < 1000; i++)
      g_string_append_printf(text, ",\"invented-%u-%u\":1", message, i);
    g_string_append_c(text, '}');
    g_assert_true(apply(&fixture, text->str, &mapped, &reject));
    g_string_free(text, TRUE);
  }
  g_assert_cmpuint(tide_field_names_count(tide_mapping_names(fixture.mapping)), ==, TIDE_FIELD_NAMES_MAX);

  guint64 before = 0;
  for (guint i = 0; i < 1000; i++) {
    if (i == 2)
      before = allocation_count; /* the first two find out how much memory such messages take */
    g_snprintf(value, sizeof value, "{\"host\":\"a\",\"ts\":1426535612045,\"new-%03u\":1,\"newer-%03u\":2}", i, i);
    TideMessage message = {.timestamp_ms = RECORD_TIME_MS, .value = tide_bytes_of_string(value), .has_value = TRUE};
    g_assert_true(tide_mapping_apply(fixture.mapping, &message, &mapped, &reject));
    g_assert_cmpuint(mapped.rows[0].n_cells, ==, 2);
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
static void
test_each_topic_is_read_by_its_source(void)
{
  g_auto(MappingFixture) fixture;
  mapping_fixture_init(&fixture, SOURCES);
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

static void
test_source_has_its_conditions_and_its_policy(void)
{
  g_auto(MappingFixture) fixture;
  mapping_fixture_init(&fixture, SOURCES);
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

static void
test_tombstone_is_of_a_source(void)
{
  g_auto(MappingFixture) fixture;
  mapping_fixture_init(&fixture, SOURCES);
  assert_outcome_of(&fixture, "metrics", NULL, "ALL a; unmatched 0, left out 0");
  assert_outcome_of(&fixture, "telegraf", NULL, "ALL a; unmatched 0, left out 0");
}

/* Read by the rules of another source, it could become rows that nobody meant. */
static void
test_topic_of_no_source_is_rejected(void)
{
  g_auto(MappingFixture) fixture;
  mapping_fixture_init(&fixture, SOURCES);
  assert_outcome_of(&fixture, "other", "{\"host\":\"a\",\"ts\":1426535612045,\"v\":3}", "parse");
  assert_outcome_of(&fixture, "", "{\"host\":\"a\",\"ts\":1426535612045,\"v\":3}", "parse");
  g_assert_cmpstr(tide_mapping_source(fixture.mapping, TIDE_BYTES_LITERAL("other"))->name, ==, "boards");
}

static void
test_topics_in_turn_allocate_nothing(void)
{
  g_auto(MappingFixture) fixture;
  mapping_fixture_init(&fixture, SOURCES);
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

static void
test_a_bad_reading_is_left_out_alone(void)
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
  g_auto(MappingFixture) fixture;
  mapping_fixture_init(&fixture, KAFKA POLICY HBASE TWO_TABLES);
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

static void
test_several_are_told_apart(void)
{
  g_auto(MappingFixture) fixture;
  mapping_fixture_init(&fixture, KAFKA POLICY HBASE TWO_TABLES);
  assert_readings(
      &fixture, "\xEF\xBB\xBF[{\"x\":1,\"x\":2},{}," GOOD("a") ",{\"ts\":[]},{\"host\":\"b\",\"ts\":0}]",
      ROWS("a") "; 0: duplicate_field x@15; 1: missing_field ts@-1; 3: type ts@65; 4: time_implausible ts@-1");
  assert_readings(&fixture, "[{},{}]", "0: missing_field ts@-1; 1: missing_field ts@-1");
  g_assert_cmpuint(fixture.mapped.n_rows, ==, 0);
}

/* Where a reading ends is not known in what is no JSON; and what takes too much memory is not gone on with. */
static void
test_a_broken_message_is_bad_as_a_whole(void)
{
  static const struct {
    const char *value, *outcome;
  } cases[] = {
      {"[" GOOD("a") ",{\"host\":}]", "parse host@47"},  {"[" GOOD("a") ",{\"x\":1,\"x\":2},{]", "parse @54"},
      {"[{\"x\":1,\"x\":2},{\"v\":nul}]", "parse v@20"}, {"[{\"x\":1,\"x\":\"\\ud800\"}]", "utf8 @13"},
      {"[" GOOD("a") ",{\"x\":1,\"x\":2}", "parse @52"},
  };
  g_auto(MappingFixture) fixture;
  mapping_fixture_init(&fixture, KAFKA POLICY HBASE TWO_TABLES);
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++)
    assert_readings(&fixture, cases[i].value, cases[i].outcome);
}

static void
test_without_the_policy_the_message_is_bad(void)
{
  g_auto(MappingFixture) fixture;
  mapping_fixture_init(&fixture, KAFKA READINGS HBASE TWO_TABLES);
  assert_readings(&fixture, "[" GOOD("a") ",{\"x\":1,\"x\":2}]", "duplicate_field x@50");
  assert_readings(&fixture, "[" GOOD("a") ",{\"host\":\"b\"}]", "missing_field ts@-1");
}

/* What has expired of a reading that is left out is not counted: it has one end, not two. */
static void
test_a_reading_left_out_has_not_expired(void)
{
  g_auto(MappingFixture) fixture;
  mapping_fixture_init(
      &fixture, KAFKA POLICY HBASE
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

static void
test_rejecting_allocates_nothing(void)
{
  static const char value[] = "[" GOOD("a") ",{\"o\":{\"p\":1,\"p\":2}},{\"host\":\"b\"}," GOOD("c") "]";
  g_auto(MappingFixture) fixture;
  mapping_fixture_init(&fixture, KAFKA POLICY HBASE TWO_TABLES);
  g_assert_true(mapping_fixture_apply(&fixture, NULL, value));
  guint64 before = allocation_count;
  for (guint i = 0; i < 1000; i++)
    g_assert_true(mapping_fixture_apply(&fixture, NULL, value));
  g_assert_cmpuint(allocation_count - before, ==, 0);
  g_assert_cmpuint(fixture.mapped.n_rejects, ==, 2);
  if (!ALLOCATION_COUNTER_WORKS)
    g_test_skip("the sanitizer brings its own allocator");
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
#define ADD(name, function) g_test_add_func("/mapping/" name, function)
  ADD("a-reading-makes-a-row-in-each-table", test_a_reading_makes_a_row_in_each_table);
  ADD("rows-stand-in-the-order-of-readings-then-tables", test_rows_stand_in_the_order_of_readings_then_tables);
  ADD("the-record-can-be-key-and-time", test_the_record_can_be_key_and_time);
  ADD("bad-readings-are-rejected-by-reason-and-field", test_bad_readings_are_rejected_by_reason_and_field);
  ADD("extreme-times-are-rejected", test_extreme_times_are_rejected);
  ADD("one-bad-reading-rejects-the-message", test_one_bad_reading_rejects_the_message);
  ADD("the-same-message-makes-the-same-rows", test_the_same_message_makes_the_same_rows);
  ADD("what-surrounds-a-row-counts", test_what_surrounds_a_row_counts);
  ADD("a-row-must-fit-a-call", test_a_row_must_fit_a_call);
  ADD("a-message-of-many-readings-keeps-its-rows", test_a_message_of_many_readings_keeps_its_rows);
  ADD("the-steady-state-allocates-nothing", test_the_steady_state_allocates_nothing);
  ADD("invented-names-cost-no-memory", test_invented_names_cost_no_memory);
#undef ADD
  g_test_add_func("/mapping-sources/each-topic-is-read-by-its-source", test_each_topic_is_read_by_its_source);
  g_test_add_func("/mapping-sources/conditions-and-policy", test_source_has_its_conditions_and_its_policy);
  g_test_add_func("/mapping-sources/tombstone", test_tombstone_is_of_a_source);
  g_test_add_func("/mapping-sources/topic-of-no-source", test_topic_of_no_source_is_rejected);
  g_test_add_func("/mapping-sources/allocate-nothing", test_topics_in_turn_allocate_nothing);
#define ADD(name, function) g_test_add_func("/mapping-rejects/" name, function)
  ADD("a-bad-reading-is-left-out-alone", test_a_bad_reading_is_left_out_alone);
  ADD("several-are-told-apart", test_several_are_told_apart);
  ADD("a-broken-message-is-bad-as-a-whole", test_a_broken_message_is_bad_as_a_whole);
  ADD("without-the-policy-the-message-is-bad", test_without_the_policy_the_message_is_bad);
  ADD("a-reading-left-out-has-not-expired", test_a_reading_left_out_has_not_expired);
  ADD("rejecting-allocates-nothing", test_rejecting_allocates_nothing);
#undef ADD
  return g_test_run();
}
