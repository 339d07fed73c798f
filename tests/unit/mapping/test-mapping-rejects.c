/* Messages of several readings of which some are bad: with on_bad_reading: reading they are left out, each with its
 * reason, and the others make their rows. The tables are declared as an operator declares them. */
#include "mapping/mapping.h"
#include "unit/allocation_counter.h"
#include "unit/config-texts.h"

#define RECORD_TIME_MS G_GINT64_CONSTANT(1426535620000)

#define POLICY                                                                                                         \
  "readings: { on_bad_reading: reading, arrays: reject, max_fields: 6, time: { field: ts, format: epoch_ms } }\n"
#define TWO_TABLES                                                                                                     \
  "tables:\n"                                                                                                          \
  "  T: { key: [{ field: host }, \"#\", { time: epoch_ms }], columns: { family: M, from: \"*\" } }\n"                  \
  "  L: { latest: merge, key: [{ field: host }], columns: [{ family: M, from: v, encode: int64 }] }\n"

typedef struct RejectsFixture {
  TideConfig *config;   /* owned */
  TideMapping *mapping; /* owned */
  TideMapped mapped;    /* of the last message */
} RejectsFixture;

static void
rejects_fixture_init(RejectsFixture *fixture, const char *text)
{
  fixture->config = load_text(text);
  fixture->mapping = tide_mapping_new(fixture->config, TIDE_WIRE_BINARY);
}

static void
rejects_fixture_clear(RejectsFixture *fixture)
{
  tide_mapping_free(fixture->mapping);
  tide_config_free(fixture->config);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(RejectsFixture, rejects_fixture_clear)

static char *
reject_text(const TideReject *reject)
{
  g_autofree char *field = tide_bytes_printable(reject->field);
  return g_strdup_printf("%s %s@%" G_GINT64_FORMAT, tide_reject_reason_name(reject->reason), field,
                         reject->byte_position);
}

/* "T a#1426535612045" for each row and "2: REASON field@byte" for each reading that is left out, or "REASON field@byte"
 * of a rejected message, joined by "; ". The message is gone by then. (transfer full) */
static char *
outcome_of(RejectsFixture *fixture, const char *value)
{
  g_autofree char *copy = g_strdup(value);
  TideMessage message = {.topic = TIDE_BYTES_LITERAL("metrics"),
                         .timestamp_ms = RECORD_TIME_MS,
                         .value = tide_bytes_of_string(copy),
                         .has_value = TRUE};
  TideReject reject;
  gboolean good = tide_mapping_apply(fixture->mapping, &message, &fixture->mapped, &reject);
  memset(copy, '#', strlen(copy));
  if (!good)
    return reject_text(&reject);
  g_autoptr(GString) text = g_string_new(NULL);
  for (guint32 i = 0; i < fixture->mapped.n_rows; i++) {
    const TideRow *row = &fixture->mapped.rows[i];
    const TideTable *table = g_ptr_array_index(fixture->config->tables, row->table_index);
    g_autofree char *key = tide_bytes_printable(row->key);
    g_string_append_printf(text, "%s%s %s", text->len > 0 ? "; " : "", table->name, key);
  }
  for (guint32 i = 0; i < fixture->mapped.n_rejects; i++) {
    g_autofree char *why = reject_text(&fixture->mapped.rejects[i]);
    g_string_append_printf(text, "%s%u: %s", text->len > 0 ? "; " : "", fixture->mapped.rejects[i].reading_index, why);
  }
  return g_strdup(text->str);
}

static void
assert_outcome(RejectsFixture *fixture, const char *value, const char *expected)
{
  g_autofree char *outcome = outcome_of(fixture, value);
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
  g_auto(RejectsFixture) fixture;
  rejects_fixture_init(&fixture, KAFKA POLICY HBASE TWO_TABLES);
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *list = g_strdup_printf("[" GOOD("a") ",%s," GOOD("c") "]", cases[i].bad);
    g_autofree char *lines = g_strdup_printf("%s\n" GOOD("c"), cases[i].bad);
    g_autofree char *both = g_strdup_printf(ROWS("a") "; " ROWS("c") "; 1: %s", cases[i].why);
    g_test_message("%s", cases[i].bad);
    assert_outcome(&fixture, list, both);
    g_assert_cmpuint(fixture.mapped.n_readings, ==, 3);
    /* In front of all others, too; places differ there. */
    g_autofree char *outcome = outcome_of(&fixture, lines);
    g_assert_true(g_str_has_prefix(outcome, ROWS("c") "; 0: "));
    /* A message's only reading is the message. */
    g_autofree char *alone = outcome_of(&fixture, cases[i].bad);
    g_assert_null(strstr(alone, "0: "));
    g_assert_cmpint(strncmp(alone, cases[i].why, (gsize)(strchr(cases[i].why, '@') - cases[i].why)), ==, 0);
  }
}

static void
test_several_are_told_apart(void)
{
  g_auto(RejectsFixture) fixture;
  rejects_fixture_init(&fixture, KAFKA POLICY HBASE TWO_TABLES);
  assert_outcome(
      &fixture, "\xEF\xBB\xBF[{\"x\":1,\"x\":2},{}," GOOD("a") ",{\"ts\":[]},{\"host\":\"b\",\"ts\":0}]",
      ROWS("a") "; 0: duplicate_field x@15; 1: missing_field ts@-1; 3: type ts@65; 4: time_implausible ts@-1");
  assert_outcome(&fixture, "[{},{}]", "0: missing_field ts@-1; 1: missing_field ts@-1");
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
  g_auto(RejectsFixture) fixture;
  rejects_fixture_init(&fixture, KAFKA POLICY HBASE TWO_TABLES);
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++)
    assert_outcome(&fixture, cases[i].value, cases[i].outcome);
}

static void
test_without_the_policy_the_message_is_bad(void)
{
  g_auto(RejectsFixture) fixture;
  rejects_fixture_init(&fixture, KAFKA READINGS HBASE TWO_TABLES);
  assert_outcome(&fixture, "[" GOOD("a") ",{\"x\":1,\"x\":2}]", "duplicate_field x@50");
  assert_outcome(&fixture, "[" GOOD("a") ",{\"host\":\"b\"}]", "missing_field ts@-1");
}

/* What has expired of a reading that is left out is not counted: it has one end, not two. */
static void
test_a_reading_left_out_has_not_expired(void)
{
  g_auto(RejectsFixture) fixture;
  rejects_fixture_init(
      &fixture, KAFKA POLICY HBASE
      "tables:\n"
      "  T:\n"
      "    ttl: 5s\n"
      "    key: [{ field: host }, \"#\", { time: epoch_ms }]\n"
      "    columns: { family: M, from: \"*\" }\n"
      "  L: { latest: merge, key: [{ field: host }], columns: [{ family: M, from: v, encode: int64 }] }\n");
  tide_mapping_set_now(fixture.mapping, RECORD_TIME_MS);
  assert_outcome(&fixture, "[" GOOD("a") ",{\"host\":\"b\",\"ts\":1426535612045,\"v\":\"x\"}]", "L a; 1: number v@-1");
  g_assert_cmpuint(fixture.mapped.expired[0].n_rows, ==, 1);
  g_assert_cmpuint(fixture.mapped.n_expired_readings, ==, 0);
}

static void
test_rejecting_allocates_nothing(void)
{
  static const char value[] = "[" GOOD("a") ",{\"o\":{\"p\":1,\"p\":2}},{\"host\":\"b\"}," GOOD("c") "]";
  TideMessage message = {.timestamp_ms = RECORD_TIME_MS, .value = tide_bytes_of_string(value), .has_value = TRUE};
  TideReject reject;
  g_auto(RejectsFixture) fixture;
  rejects_fixture_init(&fixture, KAFKA POLICY HBASE TWO_TABLES);
  g_assert_true(tide_mapping_apply(fixture.mapping, &message, &fixture.mapped, &reject));
  guint64 before = allocation_count;
  for (guint i = 0; i < 1000; i++)
    g_assert_true(tide_mapping_apply(fixture.mapping, &message, &fixture.mapped, &reject));
  g_assert_cmpuint(allocation_count - before, ==, 0);
  g_assert_cmpuint(fixture.mapped.n_rejects, ==, 2);
  if (!ALLOCATION_COUNTER_WORKS)
    g_test_skip("the sanitizer brings its own allocator");
}

int
main(int argc, char *argv[])
{
  g_test_init(&argc, &argv, NULL);
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
