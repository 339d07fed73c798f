/* Several tables of one message: conditions, times of their own, indexes, packed cells, what expires, and tombstones.
 * The tables are declared as an operator declares them. */
#include "unit/allocation_counter.h"
#include "unit/mapping_fixture.h"
#include "unit/test_case.h"

/* @tables: what stands below `tables:`; the time is `ts` in milliseconds unless a table says otherwise. */
static MappingFixture
tables_fixture_of(const char *tables)
{
  g_autofree char *text = g_strconcat(KAFKA READINGS HBASE "tables:\n", tables, NULL);
  return mapping_fixture_of(text);
}

static void
assert_deletes(MappingFixture *fixture, const char *key, const char *expected)
{
  g_autofree char *outcome = mapping_fixture_outcome(fixture, key, NULL);
  g_assert_cmpstr(outcome, ==, expected);
}

/* ---- which tables take a reading, and at which time ---- */

#define QUOTES_AND_TRADES                                                                                              \
  "  QUOTE:\n"                                                                                                         \
  "    when: { field: BID, present: true }\n"                                                                          \
  "    time: { field: QUOTETIME, format: epoch_ms }\n"                                                                 \
  "    key: [{ field: EXCHANGE, width: 6, pad: \" \", align: left }, \"#\", { time: epoch_ms }]\n"                     \
  "    columns: { family: MD, from: [BID, ASK] }\n"                                                                    \
  "  TRADE:\n"                                                                                                         \
  "    when: { field: LASTSALE, present: true }\n"                                                                     \
  "    time: { field: TRADETIME, format: epoch_ms }\n"                                                                 \
  "    key: [{ field: EXCHANGE, width: 6, pad: \" \", align: left }, \"#\", { time: epoch_ms }]\n"                     \
  "    columns: { family: MD, from: \"*\" }\n"

TEST("/mapping-tables/each-table-has-its-condition-and-its-time")
{
  g_auto(MappingFixture) fixture = tables_fixture_of(QUOTES_AND_TRADES);
  assert_outcome(&fixture,
                 "{\"EXCHANGE\":\"NASDAQ\",\"BID\":1.5,\"ASK\":1.6,\"QUOTETIME\":1426535612156,\"LASTSALE\":1.55,"
                 "\"TRADETIME\":1426535612100}",
                 "QUOTE NASDAQ#1426535612156 MD:BID=1.5@1426535612156 MD:ASK=1.6@1426535612156\n"
                 "TRADE NASDAQ#1426535612100 MD:BID=1.5@1426535612100 MD:ASK=1.6@1426535612100 "
                 "MD:QUOTETIME=1426535612156@1426535612100 MD:LASTSALE=1.55@1426535612100\n");
  g_assert_cmpint(fixture.mapped.rows[0].event_time_ns, ==, G_GINT64_CONSTANT(1426535612156000000));
  g_assert_cmpint(fixture.mapped.rows[1].event_time_ns, ==, G_GINT64_CONSTANT(1426535612100000000));
  /* A quote alone needs no trade's time, and no `ts`. */
  assert_outcome(&fixture, "{\"EXCHANGE\":\"N\",\"BID\":1.5,\"QUOTETIME\":1426535612156,\"LASTSALE\":null}",
                 "QUOTE N     #1426535612156 MD:BID=1.5@1426535612156\n");
  assert_outcome(&fixture, "{\"EXCHANGE\":\"N\",\"BID\":1.5}", "missing_field QUOTETIME");
}

TEST("/mapping-tables/readings-that-no-table-takes-are-counted")
{
  g_auto(MappingFixture) fixture = tables_fixture_of(QUOTES_AND_TRADES);
  assert_outcome(&fixture,
                 "[{\"EXCHANGE\":\"N\"},{\"EXCHANGE\":\"N\",\"BID\":1,\"QUOTETIME\":1426535612156},{\"x\":1},{}]",
                 "QUOTE N     #1426535612156 MD:BID=1@1426535612156\n");
  g_assert_cmpuint(fixture.mapped.n_readings, ==, 4);
  g_assert_cmpuint(fixture.mapped.n_unmatched_readings, ==, 3);
  g_assert_cmpuint(fixture.mapped.n_expired_readings, ==, 0);
  g_assert_cmpuint(fixture.mapped.rows[0].reading_index, ==, 1);
}

/* A delete of Debezium, passed over, is a reading of no table: it counts, whatever the tables would take. */
TEST("/mapping-tables/what-is-missing-and-skipped-is-counted")
{
  g_auto(MappingFixture) fixture =
      mapping_fixture_of(KAFKA "readings: { root: payload/after, on_missing: skip, time: record }\n" HBASE
                               "tables: { T: { key: [{ field: $topic }], columns: { family: M, from: [v] } } }\n");
  assert_outcome(&fixture, "{\"payload\":{\"before\":{\"v\":1},\"after\":null,\"op\":\"d\"}}", "");
  g_assert_cmpuint(fixture.mapped.n_readings, ==, 1);
  g_assert_cmpuint(fixture.mapped.n_unmatched_readings, ==, 1);
}

TEST("/mapping-tables/cells-can-have-the-time-of-the-record-or-of-a-field")
{
  g_auto(MappingFixture) fixture =
      tables_fixture_of("  OF_RECORD: { key: [{ field: host }, \"#\", { time: epoch_ms }], cell_time: record,"
                        " columns: { family: M, from: [v] } }\n"
                        "  OF_FIELD: { key: [{ field: host }, \"#\", { time: epoch_ms }],"
                        " cell_time: { field: seen, format: epoch_s }, columns: { family: M, from: [v] } }\n");
  const char *value = "{\"host\":\"a\",\"ts\":1426535612045,\"seen\":1426535613,\"v\":1}";
  assert_outcome(&fixture, value,
                 "OF_RECORD a#1426535612045 M:v=1@1426535620000\n"
                 "OF_FIELD a#1426535612045 M:v=1@1426535613000\n");
  fixture.record_time_ms = -1;
  assert_outcome(&fixture, value, "missing_field $timestamp");
  fixture.record_time_ms = G_GINT64_CONSTANT(8000000000000); /* it would stand above all others for ever */
  assert_outcome(&fixture, value, "time_implausible ");
  fixture.record_time_ms = RECORD_TIME_MS;
  assert_outcome(&fixture, "{\"host\":\"a\",\"ts\":1426535612045,\"v\":1}", "missing_field seen");
}

/* ---- latest tables and indexes ---- */

TEST("/mapping-tables/replaced-rows-delete-what-was-before")
{
  g_auto(MappingFixture) fixture =
      tables_fixture_of("  NOW: { latest: replace, key: [{ field: host }], columns: { family: M, from: \"*\" } }\n");
  assert_outcome(&fixture, "{\"host\":\"a\",\"ts\":1426535612045,\"v\":1}",
                 "NOW a deletes-to-1426535612044 M:v=1@1426535612045\n");
}

TEST("/mapping-tables/packed-rows-are-one-cell")
{
  g_auto(MappingFixture) fixture =
      tables_fixture_of("  NOW: { latest: packed, key: [{ field: host }], columns: { family: M, from: \"*\" } }\n");
  assert_outcome(&fixture, "{\"host\":\"a\",\"ts\":1426535612045,\"v\":600.550,\"s\":\"x\\\"y\",\"n\":null,\"b\":true}",
                 "NOW a M:r={\"v\":600.550,\"s\":\"x\\x5C\"y\",\"b\":true}@1426535612045\n");
}

/* The index comes first in the file and last in the message, and waits for the row that it points to. */
TEST("/mapping-tables/index-rows-follow-their-data-rows")
{
  g_auto(MappingFixture) fixture = tables_fixture_of(
      "  SEEN: { latest: merge, index_of: DATA, key: [{ field: host }],\n"
      "          columns: { family: i, from: [{ value: { time: epoch_ms }, as: ts }] } }\n"
      "  DATA: { key: [{ field: host }, \"#\", { time: epoch_ms }], when: { field: v, present: true },\n"
      "          columns: { family: M, from: [v] } }\n"
      "  OTHER: { latest: merge, key: [{ field: host }], columns: { family: M, from: [w] , nulls: empty } }\n");
  assert_outcome(&fixture,
                 "[{\"host\":\"a\",\"ts\":1426535612045,\"v\":1,\"w\":2},{\"host\":\"b\",\"ts\":1426535612046,\"w\":3},"
                 "{\"host\":\"c\",\"ts\":1426535612047,\"v\":4,\"w\":null}]",
                 "DATA a#1426535612045 M:v=1@1426535612045\n"
                 "OTHER a M:w=2@1426535612045\n"
                 "SEEN a after-row-0 i:ts=1426535612045@1426535612045\n"
                 "OTHER b M:w=3@1426535612046\n"
                 "DATA c#1426535612047 M:v=4@1426535612047\n"
                 "OTHER c M:w=@1426535612047\n"
                 "SEEN c after-row-4 i:ts=1426535612047@1426535612047\n");
}

/* A prefix is taken away from the names that have it; one that is nothing else keeps it. */
TEST("/mapping-tables/names-lose-their-prefix")
{
  g_auto(MappingFixture) fixture =
      tables_fixture_of("  T: { key: [{ field: host }, \"#\", { time: epoch_ms }], columns: { family: M, "
                        "from: [\"metrics/*\", \"m*\"], strip_prefix: \"metrics/\", prefix: p, case: upper } }\n");
  assert_outcome(&fixture,
                 "{\"host\":\"a\",\"ts\":1426535612045,\"metrics/usage\":1,\"mem\":2,\"metrics/\":3,\"METRICS/x\":4}",
                 "T a#1426535612045 M:pUSAGE=1@1426535612045 M:pMEM=2@1426535612045 M:pMETRICS/=3@1426535612045\n");
}

#define UNITS_READING(rest) "{\"host\":\"a\",\"ts\":1426535612045," rest "}"

TEST("/mapping-tables/names-and-units-are-changed")
{
  g_auto(MappingFixture) fixture = tables_fixture_of(
      "  T: { key: [{ field: host }, \"#\", { time: epoch_ms }], columns: ["
      "{ family: M, from: [{ field: t, as: temp, scale: 0.1, offset: -273.15 }, { pattern: \"*_mV\", as: \"V/*\","
      " scale: 0.001 }, { pattern: \"n_*\", as: \"*\", scale: 1000, encode: int64 }], case: upper },"
      " { family: P, from: [{ field: t, offset: 1 }, { field: u, scale: 2 }], pack: json } ] }\n");
  assert_outcome(&fixture, UNITS_READING("\"t\":2981.5,\"cell1_mV\":\"3312\",\"u\":\"1e1\""),
                 "T a#1426535612045 M:temp=25@1426535612045 M:V/cell1=3.312@1426535612045"
                 " P:r={\"t\":2982.5,\"u\":20}@1426535612045\n");
  assert_outcome(&fixture, UNITS_READING("\"t\":null,\"n_x\":0.002"),
                 "T a#1426535612045 M:x=\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x02@1426535612045\n");
  assert_outcome(&fixture, UNITS_READING("\"n_x\":0.0002"), "number n_x");
  assert_outcome(&fixture, UNITS_READING("\"t\":\"warm\""), "number t");
  assert_outcome(&fixture, UNITS_READING("\"u\":\"warm\""), "number u");
  assert_outcome(&fixture, UNITS_READING("\"t\":true"), "number t");
  assert_outcome(&fixture, UNITS_READING("\"t\":-1e63"), "number t");
}

/* None of two values is lost in silence: the reading is rejected by name. */
TEST("/mapping-tables/names-that-become-one-are-rejected")
{
  g_auto(MappingFixture) fixture =
      tables_fixture_of("  T: { key: [{ field: host }, \"#\", { time: epoch_ms }], columns: [{ family: M, "
                        "from: [{ pattern: \"t*\", as: temp }, { pattern: \"a_*\", as: \"*\" }, b] },"
                        " { family: P, from: [{ pattern: \"x_*\", as: \"*\" }, y], pack: msgpack }] }\n");
  assert_outcome(&fixture, UNITS_READING("\"t1\":1"), "T a#1426535612045 M:temp=1@1426535612045\n");
  assert_outcome(&fixture, UNITS_READING("\"t2\":2"), "T a#1426535612045 M:temp=2@1426535612045\n");
  assert_outcome(&fixture, UNITS_READING("\"t1\":1,\"t2\":2"), "duplicate_field t2");
  assert_outcome(&fixture, UNITS_READING("\"a_b\":1,\"b\":2"), "duplicate_field b");
  assert_outcome(&fixture, UNITS_READING("\"b\":2,\"a_b\":1"), "duplicate_field a_b");
  assert_outcome(&fixture, UNITS_READING("\"x_y\":1,\"y\":2"), "duplicate_field y");
  assert_outcome(&fixture, UNITS_READING("\"a_\":1"), "bad_column a_");
}

/* ---- what has expired ---- */

#define DAY_MS G_GINT64_CONSTANT(86400000)

/* What time it is, by the record and by this host's clock. */
static void
set_present(MappingFixture *fixture, gint64 time_ms)
{
  fixture->record_time_ms = time_ms;
  tide_mapping_set_now(fixture->mapping, time_ms);
}

TEST("/mapping-tables/rows-older-than-their-time-to-live-are-not-made")
{
  static const char value[] =
      "[{\"host\":\"a\",\"ts\":1426535612045,\"v\":1},{\"host\":\"b\",\"ts\":1426535612046,\"v\":2}]";
  g_auto(MappingFixture) fixture = tables_fixture_of(
      "  DATA: { key: [{ field: host }, \"#\", { time: epoch_ms }], ttl: 1d,"
      " columns: { family: M, from: [v] } }\n"
      "  LONG: { key: [{ field: host }, \"#\", { time: epoch_ms }], columns: { family: M, from: [v] },"
      " families: { M: { ttl: 2d } } }\n");
  /* Nothing is old before somebody says what time it is. */
  assert_outcome(&fixture, value,
                 "DATA a#1426535612045 M:v=1@1426535612045\nLONG a#1426535612045 M:v=1@1426535612045\n"
                 "DATA b#1426535612046 M:v=2@1426535612046\nLONG b#1426535612046 M:v=2@1426535612046\n");
  g_assert_null(fixture.mapped.expired);
  /* a has lived for exactly a day, b for one millisecond less. */
  set_present(&fixture, G_GINT64_CONSTANT(1426535612045) + DAY_MS);
  assert_outcome(&fixture, value,
                 "LONG a#1426535612045 M:v=1@1426535612045\n"
                 "DATA b#1426535612046 M:v=2@1426535612046\nLONG b#1426535612046 M:v=2@1426535612046\n");
  g_assert_cmpuint(fixture.mapped.expired[0].n_rows, ==, 1);
  g_assert_cmpuint(fixture.mapped.expired[1].n_rows, ==, 0);
  g_assert_cmpuint(fixture.mapped.n_expired_readings, ==, 0);
  /* A family's time to live counts as the table's. */
  set_present(&fixture, G_GINT64_CONSTANT(1426535612045) + 2 * DAY_MS);
  assert_outcome(&fixture, value, "LONG b#1426535612046 M:v=2@1426535612046\n");
  g_assert_cmpuint(fixture.mapped.expired[0].n_rows, ==, 2);
  g_assert_cmpuint(fixture.mapped.expired[1].n_rows, ==, 1);
  g_assert_cmpuint(fixture.mapped.n_expired_readings, ==, 1);
  g_assert_cmpuint(fixture.mapped.n_unmatched_readings, ==, 0);
  /* The counts are of one message. */
  set_present(&fixture, G_GINT64_CONSTANT(1426535612045));
  assert_outcome(&fixture, "{\"host\":\"a\",\"ts\":1426535612045,\"v\":1}",
                 "DATA a#1426535612045 M:v=1@1426535612045\nLONG a#1426535612045 M:v=1@1426535612045\n");
  g_assert_null(fixture.mapped.expired);
}

/* Good readings are lost for good by a clock that goes wrong, so it takes both: this host's and the record's. */
TEST("/mapping-tables/F9/A19-no-clock-alone-makes-readings-old")
{
  static const char value[] = "{\"host\":\"a\",\"ts\":1426535612045,\"v\":1}";
  static const char written[] = "DATA a#1426535612045 M:v=1@1426535612045\n";
  const gint64 event_ms = 1426535612045, ahead_ms = event_ms + 400 * DAY_MS;
  static const struct {
    int clock_days; /* ahead of the event; -1: the clock is not asked */
    int record_days;
    gboolean is_append_time;
    gboolean is_expired;
  } cases[] = {
      {400, 0, FALSE, FALSE}, /* this host's clock jumps ahead */
      {0, 400, FALSE, FALSE}, /* the sender's does */
      {400, 400, FALSE, TRUE}, {1, 400, FALSE, TRUE},
      {400, 1, FALSE, TRUE},   {0, 400, TRUE, TRUE}, /* the broker says it */
      {400, 0, TRUE, FALSE},   {-1, 400, FALSE, FALSE},
  };
  g_auto(MappingFixture) fixture =
      tables_fixture_of("  DATA: { key: [{ field: host }, \"#\", { time: epoch_ms }], ttl: 1d,"
                        " columns: { family: M, from: [v] } }\n");
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_test_message("case %" G_GSIZE_FORMAT, i);
    tide_mapping_set_now(fixture.mapping, cases[i].clock_days < 0 ? 0 : event_ms + cases[i].clock_days * DAY_MS);
    fixture.record_time_ms = event_ms + cases[i].record_days * DAY_MS;
    fixture.is_append_time = cases[i].is_append_time;
    assert_outcome(&fixture, value, cases[i].is_expired ? "" : written);
    g_assert_cmpuint(fixture.mapped.n_expired_readings, ==, cases[i].is_expired ? 1 : 0);
  }
  /* A record without a time leaves the clock alone. */
  tide_mapping_set_now(fixture.mapping, ahead_ms);
  fixture.is_append_time = FALSE;
  fixture.record_time_ms = -1;
  assert_outcome(&fixture, value, written);
}

TEST("/mapping-tables/families-expire-each-in-its-time")
{
  g_auto(MappingFixture) fixture =
      tables_fixture_of("  DATA: { key: [{ field: host }, \"#\", { time: epoch_ms }], columns: ["
                        "{ family: S, from: [v] }, { family: L, from: [w] }, { family: P, from: [x], pack: json } ],"
                        " families: { S: { ttl: 1d }, L: { ttl: 2d }, P: { ttl: 1d } } }\n");
  static const char whole[] = "{\"host\":\"a\",\"ts\":1426535612045,\"v\":1,\"w\":2,\"x\":3}";
  set_present(&fixture, G_GINT64_CONSTANT(1426535612045) + DAY_MS - 1);
  assert_outcome(&fixture, whole,
                 "DATA a#1426535612045 S:v=1@1426535612045 L:w=2@1426535612045 P:r={\"x\":3}@1426535612045\n");
  set_present(&fixture, G_GINT64_CONSTANT(1426535612045) + DAY_MS);
  assert_outcome(&fixture, whole, "DATA a#1426535612045 L:w=2@1426535612045\n");
  g_assert_cmpuint(fixture.mapped.rows[0].n_expired_cells, ==, 2);
  g_assert_cmpuint(fixture.mapped.expired[0].n_cells, ==, 2);
  g_assert_cmpuint(fixture.mapped.expired[0].n_rows, ==, 0);
  g_assert_cmpint(fixture.mapped.expired[0].ttl_ms, ==, DAY_MS);
  g_assert_cmpuint(fixture.mapped.n_expired_readings, ==, 0);
  /* All that this reading would have is old: the row is expired, not at fault. */
  assert_outcome(&fixture, "{\"host\":\"a\",\"ts\":1426535612045,\"v\":1}", "");
  g_assert_cmpuint(fixture.mapped.expired[0].n_rows, ==, 1);
  g_assert_cmpuint(fixture.mapped.expired[0].n_cells, ==, 0); /* they count as the row */
  g_assert_cmpint(fixture.mapped.expired[0].ttl_ms, ==, DAY_MS);
  g_assert_cmpuint(fixture.mapped.n_expired_readings, ==, 1);
  assert_outcome(&fixture, "{\"host\":\"a\",\"ts\":1426535612045}", "no_cells DATA");
  set_present(&fixture, G_GINT64_CONSTANT(1426535612045) + 2 * DAY_MS);
  assert_outcome(&fixture, whole, "");
  g_assert_cmpint(fixture.mapped.expired[0].ttl_ms, ==, 2 * DAY_MS);
}

TEST("/mapping-tables/family-without-a-ttl-is-kept-for-ever")
{
  g_auto(MappingFixture) fixture =
      tables_fixture_of("  DATA: { key: [{ field: host }, \"#\", { time: epoch_ms }], columns: ["
                        "{ family: S, from: [v] }, { family: L, from: [w] } ], families: { S: { ttl: 1d } } }\n");
  set_present(&fixture, G_GINT64_CONSTANT(1426535612045) + 1000 * DAY_MS);
  assert_outcome(&fixture, "{\"host\":\"a\",\"ts\":1426535612045,\"v\":1,\"w\":2}",
                 "DATA a#1426535612045 L:w=2@1426535612045\n");
}

/* The first default whose condition holds. */
TEST("/mapping-tables/defaults-ask-their-conditions")
{
  g_auto(MappingFixture) fixture =
      tables_fixture_of("  DATA: { key: [{ field: site, default: [{ when: { field: host, matches: \"db-*\" }, "
                        "value: cellar }, { when: { field: host, matches: \"a*\" }, value: attic }, none] }, \"#\", "
                        "{ time: epoch_ms }], columns: [{ family: M, from: [v] }] }\n");
  assert_outcome(&fixture, "{\"host\":\"db-1\",\"ts\":1426535612045,\"v\":1}",
                 "DATA cellar#1426535612045 M:v=1@1426535612045\n");
  assert_outcome(&fixture, "{\"host\":\"a\",\"ts\":1426535612045,\"v\":1}",
                 "DATA attic#1426535612045 M:v=1@1426535612045\n");
  assert_outcome(&fixture, "{\"host\":\"x\",\"ts\":1426535612045,\"v\":1}",
                 "DATA none#1426535612045 M:v=1@1426535612045\n");
}

/* In a packed cell, too: of a field and a made value of one name neither is lost. */
TEST("/mapping-tables/computed-member-and-field-of-one-name")
{
  g_auto(MappingFixture) fixture =
      tables_fixture_of("  DATA: { key: [{ field: host }, \"#\", { time: epoch_ms }], columns: ["
                        "{ family: M, from: [\"s*\", { value: \"1.2\", as: schema }], pack: json }] }\n");
  assert_outcome(&fixture, "{\"host\":\"a\",\"ts\":1426535612045,\"s1\":1}",
                 "DATA a#1426535612045 M:r={\"s1\":1,\"schema\":\"1.2\"}@1426535612045\n");
  assert_outcome(&fixture, "{\"host\":\"a\",\"ts\":1426535612045,\"schema\":1}", "duplicate_field schema");
}

/* ---- messages without value ---- */

#define INVENTORY                                                                                                      \
  "  NOW: { latest: merge, tombstone: delete, key: [{ field: host }], columns: { family: M, from: \"*\" } }\n"
#define BY_RACK                                                                                                        \
  "  BY_RACK: { latest: merge, tombstone: delete, key: [{ field: rack }, \"#\", { field: host }],"                     \
  " columns: { family: M, from: \"*\" } }\n"
#define DATA "  DATA: { key: [{ field: host }, \"#\", { time: epoch_ms }], columns: { family: M, from: \"*\" } }\n"

TEST("/mapping-tables/tombstone-deletes-the-row-that-its-key-names")
{
  g_auto(MappingFixture) fixture = tables_fixture_of(DATA INVENTORY);
  assert_deletes(&fixture, "server1.bbb.com", "NOW server1.bbb.com deletes-to-1426535620000\n");
  g_assert_cmpuint(fixture.mapped.n_readings, ==, 0);
  g_assert_cmpuint(fixture.mapped.rows[0].n_cells, ==, 0);
  g_assert_cmpint(fixture.mapped.rows[0].event_time_ns, ==, RECORD_TIME_MS * TIDE_NS_PER_MS);
  assert_deletes(&fixture, "{\"host\":\"a\",\"more\":1}", "NOW a deletes-to-1426535620000\n");
  /* It goes on as if nothing had been. */
  assert_outcome(&fixture, "{\"host\":\"a\",\"ts\":1426535612045,\"v\":1}",
                 "DATA a#1426535612045 M:v=1@1426535612045\nNOW a M:v=1@1426535612045\n");
}

TEST("/mapping-tables/key-of-several-fields-is-read-from-json")
{
  g_auto(MappingFixture) fixture = tables_fixture_of(BY_RACK INVENTORY);
  assert_deletes(&fixture, "{\"rack\":\"r12\",\"host\":\"a\"}",
                 "BY_RACK r12#a deletes-to-1426535620000\nNOW a deletes-to-1426535620000\n");
  const TideReading *readings = tide_mapping_readings(fixture.mapping);
  g_assert_cmpuint(fixture.mapped.rows[1].reading_index, ==, 1);
  g_assert_cmpint(readings[1].event_time_ns, ==, RECORD_TIME_MS * TIDE_NS_PER_MS);
}

/* Fields made of the key name the row of a tombstone as they do that of a value: Debezium's keys, MQTT's topics. */
TEST("/mapping-tables/tombstone-has-the-fields-that-are-made-of-its-key")
{
  static const char head[] = KAFKA HBASE "readings: { time: record, fields: ";
  static const struct {
    const char *fields, *tables, *key, *outcome;
  } cases[] = {
      {"[{ open: $key, into: \"\" }]", "NOW: { key: [{ field: host }]", "{\"host\":\"a\"}",
       "NOW a deletes-to-1426535620000\n"},
      {"[{ open: $key }]", "NOW: { key: [{ field: key/payload/id }]", "{\"schema\":{},\"payload\":{\"id\":7}}",
       "NOW 7 deletes-to-1426535620000\n"},
      {"[{ open: $key }]", "NOW: { key: [{ field: $topic }, \"#\", { field: key/id }]", "{\"id\":7}",
       "NOW metrics#7 deletes-to-1426535620000\n"},
      {"[{ open: $key }]", "NOW: { key: [{ field: key/id }]", "7", "type $key"},
      {"[{ open: $key }]", "NOW: { key: [{ field: id }]", "7", "type $key"},
      {"[{ open: $key }]", "NOW: { key: [{ field: id }]", "{\"id\":7}", "missing_field id"},
      {"[{ open: $key }]", "NOW: { key: [{ field: $key }]", "7", "NOW 7 deletes-to-1426535620000\n"},
      {"[{ split: $key, by: \"/\", into: [_, host, kind] }]", "NOW: { key: [{ field: host }]", "tele/p7/SENSOR",
       "NOW p7 deletes-to-1426535620000\n"},
      {"[{ split: $key, by: \"/\", into: [_, host, kind] }]", "NOW: { key: [{ field: host }]", "tele/p7",
       "missing_field kind"},
      {"[{ split: $topic, by: t, into: [a, b] }]", "NOW: { key: [{ field: b }, \"#\", { field: id }]", "{\"id\":1}",
       "NOW rics#1 deletes-to-1426535620000\n"},
      {"[{ decimal: id, scale: 1 }]", "NOW: { key: [{ field: id }]", "{\"id\":\"Dw==\"}",
       "NOW 1.5 deletes-to-1426535620000\n"},
      {"[{ open: v }]", "NOW: { key: [{ field: host }]", "a", "NOW a deletes-to-1426535620000\n"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *text = g_strconcat(head, cases[i].fields, " }\ntables: { ", cases[i].tables,
                                        ", latest: merge, tombstone: delete, ", COLUMNS " } }\n", NULL);
    g_auto(MappingFixture) fixture = mapping_fixture_of(text);
    assert_deletes(&fixture, cases[i].key, cases[i].outcome);
  }
}

/* Each table's reading stays as it is while those of others are read. */
TEST("/mapping-tables/tombstone-with-steps-deletes-from-several-tables")
{
  g_auto(MappingFixture) fixture =
      mapping_fixture_of(KAFKA HBASE "readings: { time: record, fields: [{ open: $key, into: \"\" }] }\n"
                                     "tables:\n" INVENTORY BY_RACK);
  assert_deletes(&fixture, "{\"rack\":\"r12\",\"host\":\"a\"}",
                 "NOW a deletes-to-1426535620000\nBY_RACK r12#a deletes-to-1426535620000\n");
  const TideReading *readings = tide_mapping_readings(fixture.mapping);
  g_assert_cmpuint(readings[0].n_fields, ==, readings[1].n_fields);
  g_assert_true(readings[0].fields != readings[1].fields);
}

TEST("/mapping-tables/tombstone-that-names-no-row-is-rejected")
{
  static const struct {
    const char *key, *outcome;
  } cases[] = {
      {NULL, "missing_field $key"},
      {"a", "parse $key"},
      {"{\"rack\":\"r12\"}", "missing_field host"},
      {"{\"rack\":\"r#12\",\"host\":\"a\"}", "bad_key rack"},
      {"{\"rack\":\"r12\",\"host\":null}", "missing_field host"},
      {"{\"rack\":\"r12\",", "parse "},
      {"{\"rack\":\"r12\",\"host\":\"a\"}{}", "parse $key"},
  };
  g_auto(MappingFixture) fixture = tables_fixture_of(INVENTORY BY_RACK);
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++)
    assert_deletes(&fixture, cases[i].key, cases[i].outcome);
  fixture.record_time_ms = -1;
  assert_deletes(&fixture, "{\"rack\":\"r12\",\"host\":\"a\"}", "missing_field $timestamp");
}

TEST("/mapping-tables/tombstone-is-nobodys-where-all-tables-ignore-it")
{
  g_auto(MappingFixture) fixture = tables_fixture_of(DATA);
  assert_deletes(&fixture, "server1.bbb.com", "tombstone ");
}

#define WHEN_NOW(when) "  NOW: { when: " when ", latest: merge, tombstone: delete, " HOST_KEY_AND_COLUMNS " }\n"
#define HOST_KEY_AND_COLUMNS "key: [{ field: host }], columns: { family: M, from: \"*\" }"

TEST("/mapping-tables/N1/A2-tombstone-deletes-where-what-is-known-of-it-fits")
{
#define DELETED "NOW a deletes-to-1426535620000\n"
  static const struct {
    const char *tables, *key, *outcome;
  } cases[] = {
      /* the record's own fields are known */
      {WHEN_NOW("{ field: $topic, equals: metrics }"), "a", DELETED},
      {WHEN_NOW("{ field: $topic, equals: [other, more] }"), "a", "tombstone "},
      {WHEN_NOW("{ field: $topic, not_equals: metrics }"), "a", "tombstone "},
      {WHEN_NOW("{ field: $topic, matches: \"met*\" }"), "a", DELETED},
      {WHEN_NOW("{ field: $topic, not_matches: \"met*\" }"), "a", "tombstone "},
      {WHEN_NOW("{ field: $partition, equals: \"0\" }"), "a", DELETED},
      {WHEN_NOW("{ field: $partition, equals: \"1\" }"), "a", "tombstone "},
      {WHEN_NOW("{ field: $key, matches: \"a*\" }"), "b", "tombstone "},
      {WHEN_NOW("{ field: $header.kind, present: true }"), "a", "tombstone "},
      {WHEN_NOW("{ field: $header.kind, present: false }"), "a", DELETED},
      {WHEN_NOW("{ field: $header.kind, not_equals: x }"), "a", DELETED},
      /* so is what its key says */
      {WHEN_NOW("{ field: host, equals: a }"), "a", DELETED},
      {WHEN_NOW("{ field: host, not_equals: a }"), "a", "tombstone "},
      {WHEN_NOW("{ field: host, not_equals: a }"), "{\"host\":\"a\"}", "tombstone "},
      {WHEN_NOW("{ field: rack, equals: r1 }"), "{\"host\":\"a\",\"rack\":\"r1\"}", DELETED},
      {WHEN_NOW("{ field: rack, equals: r1 }"), "{\"host\":\"a\",\"rack\":\"r2\"}", "tombstone "},
      {WHEN_NOW("{ field: rack, present: true }"), "{\"host\":\"a\",\"rack\":null}", "tombstone "},
      /* and nothing of the value, whatever is asked */
      {WHEN_NOW("{ field: kind, equals: x }"), "a", DELETED},
      {WHEN_NOW("{ field: kind, not_equals: x }"), "a", DELETED},
      {WHEN_NOW("{ field: kind, matches: x }"), "{\"host\":\"a\"}", DELETED},
      {WHEN_NOW("{ field: kind, not_matches: x }"), "a", DELETED},
      {WHEN_NOW("{ field: kind, present: true }"), "a", DELETED},
      {WHEN_NOW("{ field: kind, present: false }"), "a", DELETED},
      /* all together */
      {WHEN_NOW("[{ field: kind, present: true }, { field: $topic, equals: other }]"), "a", "tombstone "},
      {WHEN_NOW("[{ field: $topic, equals: metrics }, { field: host, equals: b }]"), "a", "tombstone "},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_auto(MappingFixture) fixture = tables_fixture_of(cases[i].tables);
    g_test_message("%s %s", cases[i].tables, cases[i].key);
    assert_deletes(&fixture, cases[i].key, cases[i].outcome);
  }
#undef DELETED
}

/* The other table's key would have to be JSON. */
TEST("/mapping-tables/N1-tombstone-need-not-name-a-row-where-it-is-kept-out")
{
  g_auto(MappingFixture) fixture = tables_fixture_of(
      INVENTORY "  BY_RACK: { when: { field: $topic, equals: racks }, latest: merge, tombstone: delete,"
                " key: [{ field: rack }, \"#\", { field: host }], columns: { family: M, from: \"*\" } }\n");
  assert_deletes(&fixture, "a", "NOW a deletes-to-1426535620000\n");
  g_assert_null(tide_mapping_unmet(fixture.mapping, 0));
  g_assert_nonnull(tide_mapping_unmet(fixture.mapping, 1));
}

/* As of a reading that a table's conditions keep out. */
TEST("/mapping-tables/tombstone-needs-no-time-where-it-is-kept-out")
{
  g_auto(MappingFixture) fixture = tables_fixture_of(WHEN_NOW("{ field: $topic, equals: other }"));
  fixture.record_time_ms = -1;
  assert_deletes(&fixture, "a", "tombstone ");
  fixture.record_time_ms = RECORD_TIME_MS;
  tide_mapping_set_now(fixture.mapping, RECORD_TIME_MS - 24 * 3600 * 1000);
  assert_deletes(&fixture, "a", "tombstone ");
}

TEST("/mapping-tables/N1-index-keeps-to-its-data-table-at-tombstones")
{
  g_auto(MappingFixture) fixture =
      tables_fixture_of("  DATA: { when: { field: $topic, equals: other }, key: [{ field: host }, \"#\", { time: "
                        "epoch_ms }], columns: { family: M, from: \"*\" } }\n"
                        "  SEEN: { latest: merge, index_of: DATA, tombstone: delete, key: [{ field: host }],"
                        " columns: { family: i, from: [{ value: { time: epoch_ms, binary: true }, as: ts }] } }\n");
  assert_deletes(&fixture, "a", "tombstone ");
}

/* ---- memory ---- */

TEST("/mapping-tables/steady-state-allocates-nothing")
{
  g_auto(MappingFixture) fixture = tables_fixture_of(
      "  QUOTE: { when: [{ field: kind, equals: [q, quote] }, { field: host, matches: \"h*\" }], ttl: 1d,"
      " key: [{ field: host }, \"#\", { time: epoch_ms }], columns: [ { family: M, from: \"*\", pack: json },"
      " { family: N, from: [{ field: v, encode: int64, as: n }, { value: { field: host, width: 8, pad: \" "
      "\", align: left },"
      " as: h }] } ] }\n"
      "  TRADE: { when: { field: kind, equals: trade }, time: { field: at, format: epoch_ms },"
      " key: [{ field: host }, \"#\", { time: epoch_ms }], columns: { family: M, from: \"*\" } }\n"
      "  PACKED: { latest: packed, tombstone: delete, key: [{ field: host }],"
      " columns: { family: M, from: \"*\", pack: msgpack } }\n"
      "  SEEN: { latest: merge, index_of: QUOTE, key: [{ field: host }],"
      " columns: { family: i, from: [{ value: { time: epoch_ms, binary: true }, as: ts }] } }\n");
  static const char *const values[] = {
      "{\"host\":\"h1\",\"ts\":1426535612045,\"kind\":\"q\",\"v\":7,\"f\":600.550,\"s\":\"x\",\"n\":null,\"a\":[1]}",
      "{\"host\":\"h1\",\"ts\":1426535612045,\"at\":1426535612000,\"kind\":\"trade\",\"v\":7}",
      "{\"host\":\"h1\",\"ts\":1426535612045,\"v\":7}",
      NULL,
  };
  guint64 before = 0;
  for (guint round = 0; round < 1200; round++) {
    if (round == 100)
      before = allocation_count;
    set_present(&fixture, G_GINT64_CONSTANT(1426535612045) + (round % 2) * 2 * DAY_MS);
    for (gsize i = 0; i < G_N_ELEMENTS(values); i++) {
      TideReject reject;
      TideMessage message = {.timestamp_ms = RECORD_TIME_MS,
                             .key = TIDE_BYTES_LITERAL("h1"),
                             .value = tide_bytes_of_string(values[i]),
                             .has_value = values[i] != NULL};
      g_assert_true(tide_mapping_apply(fixture.mapping, &message, &fixture.mapped, &reject));
      g_assert_cmpuint(fixture.mapped.n_rows, >=, 1);
    }
  }
  g_assert_cmpuint(allocation_count - before, ==, 0);
  if (!ALLOCATION_COUNTER_WORKS)
    g_test_skip("the sanitizer brings its own allocator");
}
