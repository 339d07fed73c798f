/* Which reading a row is of, as the mapping says it: what names a reading and what are its values. */
#include "mapping/mapping.h"
#include "unit/load_text.h"

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
identities(TideMapping *mapping, const char *topic, const char *key, const char *value, guint32 by_table[3])
{
  g_autofree char *copy = g_strdup(value);
  TideMessage message = {.topic = tide_bytes_of_string(topic),
                         .timestamp_ms = -1,
                         .key = tide_bytes_of_string(key),
                         .value = tide_bytes_of_string(copy),
                         .has_value = TRUE};
  TideMapped mapped;
  TideReject reject = {0};
  if (!tide_mapping_apply(mapping, &message, &mapped, &reject))
    g_error("%s: %s", value, tide_reject_reason_name(reject.reason));
  g_assert_cmpuint(mapped.n_rows, ==, 3);
  for (guint i = 0; i < 3; i++)
    by_table[mapped.rows[i].table_index] = mapped.rows[i].identity;
}

static void
check(const char *text, const Case *cases, gsize n_cases)
{
  TideConfig *config = load_text(text);
  g_autoptr(TideMapping) mapping = tide_mapping_new(config, TIDE_WIRE_BINARY);
  for (gsize i = 0; i < n_cases; i++) {
    guint32 first[3], second[3];
    identities(mapping, "metrics", "", cases[i].first, first);
    identities(mapping, "metrics", "", cases[i].second, second);
    g_test_message("%s | %s", cases[i].first, cases[i].second);
    g_assert_cmpint(first[0] == second[0], ==, strchr(cases[i].same, 'A') != NULL);
    g_assert_cmpint(first[1] == second[1], ==, strchr(cases[i].same, 'O') != NULL);
    g_assert_cmpuint(first[0], !=, 0);
    g_assert_cmpuint(first[2], ==, 0); /* of a latest table none is asked */
    identities(mapping, "metrics", "another key", cases[i].first, second);
    g_assert_cmpuint(first[0], !=, second[0]);
    identities(mapping, "another topic", "", cases[i].first, second);
    g_assert_cmpuint(first[0], !=, second[0]);
  }
  g_clear_pointer(&mapping, tide_mapping_free);
  tide_config_free(config);
}

static void
test_A1_json(void)
{
  check(CONFIG(JSON), json, G_N_ELEMENTS(json));
}

static void
test_A1_line_protocol(void)
{
  check(CONFIG(INFLUX ", time: epoch_s"), influx, G_N_ELEMENTS(influx));
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/reading-identity/A1-json", test_A1_json);
  g_test_add_func("/reading-identity/A1-line-protocol", test_A1_line_protocol);
  return g_test_run();
}
