/* Readings whose time cannot be, or lies in the future: what is told apart, what a latest table does not get, and that
 * one unit taken for another is never let through. */
#include "mapping/mapping.h"
#include "unit/config-texts.h"

#define RECORD_TIME_MS G_GINT64_CONSTANT(1426535620000)

typedef struct FutureFixture {
  TideConfig *config;   /* owned */
  TideMapping *mapping; /* owned */
  gint64 record_time_ms;
  gboolean is_append_time;
  TideMapped mapped; /* of the last message */
} FutureFixture;

static void
future_fixture_init(FutureFixture *fixture, const char *text)
{
  fixture->record_time_ms = RECORD_TIME_MS;
  fixture->is_append_time = FALSE;
  fixture->config = load_text(text);
  fixture->mapping = tide_mapping_new(fixture->config, TIDE_WIRE_BINARY);
}

static void
future_fixture_clear(FutureFixture *fixture)
{
  tide_mapping_free(fixture->mapping);
  tide_config_free(fixture->config);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(FutureFixture, future_fixture_clear)

/* The tables that get a row, or "REASON field" of a rejected message. (transfer full) */
static char *
outcome_of(FutureFixture *fixture, const char *value)
{
  TideMessage message = {.topic = TIDE_BYTES_LITERAL("metrics"),
                         .timestamp_ms = fixture->record_time_ms,
                         .is_append_time = fixture->is_append_time,
                         .value = tide_bytes_of_string(value),
                         .has_value = TRUE};
  TideReject reject;
  if (!tide_mapping_apply(fixture->mapping, &message, &fixture->mapped, &reject)) {
    g_autofree char *field = tide_bytes_printable(reject.field);
    return g_strdup_printf("%s %s", tide_reject_reason_name(reject.reason), field);
  }
  g_autoptr(GString) text = g_string_new(NULL);
  for (guint32 i = 0; i < fixture->mapped.n_rows; i++) {
    const TideTable *table = g_ptr_array_index(fixture->config->tables, fixture->mapped.rows[i].table_index);
    g_string_append_printf(text, "%s%s", i > 0 ? " " : "", table->name);
  }
  return g_strdup(text->str);
}

static void
assert_outcome_at(FutureFixture *fixture, gint64 time_ms, const char *expected)
{
  g_autofree char *value = g_strdup_printf("{\"host\":\"a\",\"ts\":%" G_GINT64_FORMAT ",\"v\":1}", time_ms);
  g_autofree char *outcome = outcome_of(fixture, value);
  g_assert_cmpstr(outcome, ==, expected);
}

#define HISTORY                                                                                                        \
  "readings: { time: { field: ts, format: epoch_ms, max_future: 10m, on_future: history }, on_bad_reading: reading "   \
  "}\n"
#define HISTORY_KEY "key: [{ field: host }, \"#\", { time: epoch_ms }], columns: { family: M, from: \"*\" }"
#define LATEST_KEY "latest: merge, key: [{ field: host }], columns: { family: M, from: \"*\" }"
#define ALL_TABLES                                                                                                     \
  "tables:\n"                                                                                                          \
  "  L: { " LATEST_KEY " }\n"                                                                                          \
  "  T: { " HISTORY_KEY " }\n"                                                                                         \
  "  I: { latest: merge, index_of: T, key: [{ field: host }],"                                                         \
  " columns: { family: M, from: [{ value: { time: epoch_ms }, as: ts }] } }\n"

#define MINUTE_MS G_GINT64_CONSTANT(60000)
#define YEAR_MS (365 * 24 * 60 * MINUTE_MS)

static void
test_history_gets_what_latest_tables_do_not(void)
{
  g_auto(FutureFixture) fixture;
  future_fixture_init(&fixture, KAFKA HISTORY HBASE ALL_TABLES);
  assert_outcome_at(&fixture, RECORD_TIME_MS + 10 * MINUTE_MS, "L T I");
  g_assert_null(fixture.mapped.expired);
  assert_outcome_at(&fixture, RECORD_TIME_MS + 10 * MINUTE_MS + 1, "T");
  g_assert_cmpuint(fixture.mapped.expired[0].n_future_rows, ==, 1);
  g_assert_cmpuint(fixture.mapped.expired[1].n_future_rows, ==, 0);
  g_assert_cmpuint(fixture.mapped.expired[2].n_future_rows, ==, 1);
  g_assert_cmpuint(fixture.mapped.n_expired_readings + fixture.mapped.n_unmatched_readings, ==, 0);
  assert_outcome_at(&fixture, RECORD_TIME_MS + 10 * YEAR_MS, "T");
  assert_outcome_at(&fixture, RECORD_TIME_MS + 10 * YEAR_MS + 1, "time_implausible ts");
  /* The clock of this machine has no say where it is later: an old record's future stays the future, and a record
   * without time has none.
   */
  tide_mapping_set_now(fixture.mapping, RECORD_TIME_MS + YEAR_MS);
  assert_outcome_at(&fixture, RECORD_TIME_MS + 11 * MINUTE_MS, "T");
  fixture.record_time_ms = -1;
  assert_outcome_at(&fixture, RECORD_TIME_MS + 11 * MINUTE_MS, "L T I");
}

static void
test_what_no_table_keeps_is_rejected(void)
{
  g_auto(FutureFixture) fixture;
  future_fixture_init(&fixture, KAFKA HISTORY HBASE "tables:\n  L: { " LATEST_KEY " }\n");
  assert_outcome_at(&fixture, RECORD_TIME_MS + 11 * MINUTE_MS, "time_future ts");
  g_autofree char *outcome = outcome_of(&fixture, "[{\"host\":\"a\",\"ts\":1426539220000,\"v\":1},"
                                                  "{\"host\":\"a\",\"ts\":1426535620000,\"v\":1}]");
  g_assert_cmpstr(outcome, ==, "L");
  g_assert_cmpuint(fixture.mapped.n_rejects, ==, 1);
  g_assert_cmpint(fixture.mapped.rejects[0].reason, ==, TIDE_REJECT_TIME_FUTURE);
  g_assert_null(fixture.mapped.expired);
}

/* Each table's rows are judged by the table's own time, its bound and its policy. */
static void
test_each_table_judges_its_own_time(void)
{
  g_auto(FutureFixture) fixture;
  future_fixture_init(&fixture, KAFKA HISTORY HBASE
                      "tables:\n"
                      "  A: { " LATEST_KEY ", time: { field: ta, format: epoch_ms } }\n"
                      "  B: { " LATEST_KEY ", time: { field: tb, format: epoch_ms, max_future: 2h } }\n"
                      "  C: { " LATEST_KEY ", cell_time: { field: tb, format: epoch_ms } }\n"
                      "  T: { " HISTORY_KEY " }\n");
  g_autofree char *far = outcome_of(&fixture, "{\"host\":\"a\",\"ts\":1426535620000,\"ta\":1426539220000,"
                                              "\"tb\":1426539220000,\"v\":1}");
  g_assert_cmpstr(far, ==, "B T");
  g_autofree char *near = outcome_of(&fixture, "{\"host\":\"a\",\"ts\":1426535620000,\"ta\":1426535620000,"
                                               "\"tb\":1426535620000,\"v\":1}");
  g_assert_cmpstr(near, ==, "A B C T");
}

/* A sender whose clock is a day ahead: its records are, too, so that by them nothing is of the future. */
static void
test_a_sender_ahead_pins_nothing(void)
{
  static const char *const policies[] = {"reject", "history"};
  for (guint policy = 0; policy < G_N_ELEMENTS(policies); policy++) {
    g_autofree char *text =
        g_strdup_printf(KAFKA HBASE "readings: { time: { field: ts, format: epoch_ms, on_future: %s } }\n" ALL_TABLES,
                        policies[policy]);
    g_auto(FutureFixture) fixture;
    future_fixture_init(&fixture, text);
    gint64 clock_ms = RECORD_TIME_MS - 24 * 60 * MINUTE_MS;
    tide_mapping_set_now(fixture.mapping, clock_ms);
    assert_outcome_at(&fixture, RECORD_TIME_MS, "time_future ts");
    assert_outcome_at(&fixture, clock_ms + 10 * MINUTE_MS + 1, "time_future ts");
    assert_outcome_at(&fixture, clock_ms + 10 * MINUTE_MS, "L T I"); /* only its record is wrong */
    /* When it is read again and the time has come, it is of the future no more. */
    tide_mapping_set_now(fixture.mapping, RECORD_TIME_MS);
    assert_outcome_at(&fixture, RECORD_TIME_MS, "L T I");
    /* Of a record whose time the broker gave the clock is not asked; nor where the record has none. */
    tide_mapping_set_now(fixture.mapping, clock_ms);
    fixture.is_append_time = TRUE;
    assert_outcome_at(&fixture, RECORD_TIME_MS, "L T I");
    fixture.is_append_time = FALSE;
    fixture.record_time_ms = -1;
    assert_outcome_at(&fixture, RECORD_TIME_MS, "L T I");
  }
}

/* The record's own time as event time, as cell time, and as that of a deletion: a clock that is ahead would pin it,
 * too. */
static void
test_a_record_ahead_pins_nothing(void)
{
  g_auto(FutureFixture) fixture;
  future_fixture_init(&fixture, KAFKA "readings: { time: record }\n" HBASE "tables:\n"
                                      "  L: { tombstone: delete, " LATEST_KEY " }\n");
  static const char value[] = "{\"host\":\"a\",\"v\":1}";
  tide_mapping_set_now(fixture.mapping, RECORD_TIME_MS - 10 * MINUTE_MS);
  g_autofree char *near = outcome_of(&fixture, value);
  g_assert_cmpstr(near, ==, "L");
  tide_mapping_set_now(fixture.mapping, RECORD_TIME_MS - 10 * MINUTE_MS - 1);
  g_autofree char *far = outcome_of(&fixture, value);
  g_assert_cmpstr(far, ==, "time_future ");
  TideMessage tombstone = {.topic = TIDE_BYTES_LITERAL("metrics"),
                           .timestamp_ms = RECORD_TIME_MS,
                           .key = TIDE_BYTES_LITERAL("a"),
                           .has_key = TRUE};
  TideReject reject;
  g_assert_false(tide_mapping_apply(fixture.mapping, &tombstone, &fixture.mapped, &reject));
  g_assert_cmpint(reject.reason, ==, TIDE_REJECT_TIME_FUTURE);
  tide_mapping_set_now(fixture.mapping, RECORD_TIME_MS);
  g_assert_true(tide_mapping_apply(fixture.mapping, &tombstone, &fixture.mapped, &reject));
  g_assert_cmpuint(fixture.mapped.n_rows, ==, 1);
}

/* Whatever both clocks say, what is written of a reading that is taken is the same. */
static void
test_clocks_decide_no_bytes(void)
{
  g_auto(FutureFixture) fixture;
  future_fixture_init(&fixture, KAFKA HBASE READINGS ALL_TABLES);
  for (int i = 0; i < 2000; i++) {
    gint64 time_ms = RECORD_TIME_MS + g_test_rand_int_range(-3600000, 3600000);
    g_autofree char *value = g_strdup_printf("{\"host\":\"a\",\"ts\":%" G_GINT64_FORMAT ",\"v\":1}", time_ms);
    fixture.record_time_ms = RECORD_TIME_MS + g_test_rand_int_range(-3600000, 3600000);
    gint64 clock_ms = RECORD_TIME_MS + g_test_rand_int_range(-3600000, 3600000);
    tide_mapping_set_now(fixture.mapping, 0);
    g_autofree char *plain = outcome_of(&fixture, value);
    tide_mapping_set_now(fixture.mapping, clock_ms);
    g_autofree char *clocked = outcome_of(&fixture, value);
    gboolean is_future = time_ms > MIN(fixture.record_time_ms, clock_ms) + 10 * MINUTE_MS;
    g_assert_cmpstr(clocked, ==, is_future ? "time_future ts" : "L T I");
    g_assert_cmpstr(plain, ==, time_ms > fixture.record_time_ms + 10 * MINUTE_MS ? "time_future ts" : "L T I");
    for (guint32 row = 0; !is_future && row < fixture.mapped.n_rows; row++)
      g_assert_cmpint(fixture.mapped.rows[row].cells[0].timestamp_ms, ==, time_ms);
  }
}

/* A moment in every unit, read as if it were each of the others. */
static void
test_no_unit_passes_for_another(void)
{
  static const char *const formats[] = {"epoch_s", "epoch_ms", "epoch_us", "epoch_ns"};
  static const char *const times[] = {"1426535612", "1426535612045", "1426535612045000", "1426535612045000000"};
  static const char *const policies[] = {"reject", "history"};
  for (guint policy = 0; policy < G_N_ELEMENTS(policies); policy++)
    for (guint format = 0; format < G_N_ELEMENTS(formats); format++) {
      g_autofree char *text =
          g_strdup_printf(KAFKA HBASE "readings: { time: { field: ts, format: %s, on_future: %s } }\n" ALL_TABLES,
                          formats[format], policies[policy]);
      g_auto(FutureFixture) fixture;
      future_fixture_init(&fixture, text);
      for (guint unit = 0; unit < G_N_ELEMENTS(times); unit++) {
        g_autofree char *value = g_strdup_printf("{\"host\":\"a\",\"ts\":%s,\"v\":1}", times[unit]);
        g_autofree char *outcome = outcome_of(&fixture, value);
        g_assert_cmpstr(outcome, ==, unit == format ? "L T I" : "time_implausible ts");
        /* Nor where the record has no time to judge by. */
        fixture.record_time_ms = -1;
        g_autofree char *timeless = outcome_of(&fixture, value);
        g_assert_cmpstr(timeless, ==, outcome);
        fixture.record_time_ms = RECORD_TIME_MS;
      }
    }
}

int
main(int argc, char *argv[])
{
  g_test_init(&argc, &argv, NULL);
#define ADD(name, function) g_test_add_func("/mapping-future/" name, function)
  ADD("A18-history-gets-what-latest-tables-do-not", test_history_gets_what_latest_tables_do_not);
  ADD("A18-what-no-table-keeps-is-rejected", test_what_no_table_keeps_is_rejected);
  ADD("A18-each-table-judges-its-own-time", test_each_table_judges_its_own_time);
  ADD("A17-no-unit-passes-for-another", test_no_unit_passes_for_another);
  ADD("F10/A18-a-sender-ahead-pins-nothing", test_a_sender_ahead_pins_nothing);
  ADD("F10/A18-a-record-ahead-pins-nothing", test_a_record_ahead_pins_nothing);
  ADD("F10/A18-clocks-decide-no-bytes", test_clocks_decide_no_bytes);
#undef ADD
  return g_test_run();
}
