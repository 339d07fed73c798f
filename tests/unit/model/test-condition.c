#include "model/condition.h"

#include "unit/allocation_counter.h"
#include "unit/reading_fixture.h"

/* A condition made by hand; its values are borrowed literals. */
static TideCondition
condition_of(ReadingFixture *fixture, TideConditionKind kind, const char *field, TideBytes *values, gsize n_values)
{
  return (TideCondition){
      .kind = kind, .field = reading_fixture_id(fixture, field), .values = values, .n_values = n_values};
}

/* What holds must not hold negated, and the other way round. */
static void
assert_holds(TideCondition condition, const ReadingFixture *fixture, gboolean expected)
{
  g_assert_cmpint(tide_condition_holds(&condition, &fixture->reading), ==, expected);
  condition.negated = TRUE;
  g_assert_cmpint(tide_condition_holds(&condition, &fixture->reading), ==, !expected);
}

static void
test_presence(void)
{
  g_auto(ReadingFixture) fixture;
  reading_fixture_init(&fixture);
  reading_fixture_set(&fixture, "empty", "");
  reading_fixture_set_null(&fixture, "null");
  static const struct {
    const char *field;
    gboolean is_present;
  } cases[] = {{"empty", TRUE}, {"null", FALSE}, {"missing", FALSE}};
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    assert_holds(condition_of(&fixture, TIDE_CONDITION_PRESENT, cases[i].field, NULL, 0), &fixture,
                 cases[i].is_present);
    assert_holds(condition_of(&fixture, TIDE_CONDITION_ABSENT, cases[i].field, NULL, 0), &fixture,
                 !cases[i].is_present);
  }
}

static void
test_equals_is_byte_for_byte(void)
{
  g_auto(ReadingFixture) fixture;
  reading_fixture_init(&fixture);
  reading_fixture_set(&fixture, "type", "quote");
  reading_fixture_set_bytes(&fixture, "n", TIDE_VALUE_NUMBER, TIDE_BYTES_LITERAL("1.0"));
  reading_fixture_set_null(&fixture, "null");
  TideBytes words[] = {TIDE_BYTES_LITERAL("trade"), TIDE_BYTES_LITERAL("quote")};
  TideBytes other_case[] = {TIDE_BYTES_LITERAL("Quote"), TIDE_BYTES_LITERAL("quote ")};
  TideBytes one[] = {TIDE_BYTES_LITERAL("1")}, exact[] = {TIDE_BYTES_LITERAL("1.0")}, empty[] = {TIDE_BYTES_EMPTY};
  assert_holds(condition_of(&fixture, TIDE_CONDITION_EQUALS, "type", words, 2), &fixture, TRUE);
  assert_holds(condition_of(&fixture, TIDE_CONDITION_EQUALS, "type", words, 1), &fixture, FALSE);
  assert_holds(condition_of(&fixture, TIDE_CONDITION_EQUALS, "type", other_case, 2), &fixture, FALSE);
  assert_holds(condition_of(&fixture, TIDE_CONDITION_EQUALS, "n", one, 1), &fixture, FALSE);
  assert_holds(condition_of(&fixture, TIDE_CONDITION_EQUALS, "n", exact, 1), &fixture, TRUE);
  assert_holds(condition_of(&fixture, TIDE_CONDITION_EQUALS, "null", empty, 1), &fixture, FALSE);
  assert_holds(condition_of(&fixture, TIDE_CONDITION_EQUALS, "missing", empty, 1), &fixture, FALSE);
}

static void
test_matches_is_by_pattern(void)
{
  g_auto(ReadingFixture) fixture;
  reading_fixture_init(&fixture);
  reading_fixture_set(&fixture, "host", "db-17");
  TideBytes patterns[] = {TIDE_BYTES_LITERAL("web-*"), TIDE_BYTES_LITERAL("db-??")};
  TideBytes any[] = {TIDE_BYTES_LITERAL("*")};
  assert_holds(condition_of(&fixture, TIDE_CONDITION_MATCHES, "host", patterns, 2), &fixture, TRUE);
  assert_holds(condition_of(&fixture, TIDE_CONDITION_MATCHES, "host", patterns, 1), &fixture, FALSE);
  assert_holds(condition_of(&fixture, TIDE_CONDITION_MATCHES, "host", any, 1), &fixture, TRUE);
  assert_holds(condition_of(&fixture, TIDE_CONDITION_MATCHES, "missing", any, 1), &fixture, FALSE);
}

static void
test_conditions_hold_all_together(void)
{
  g_auto(ReadingFixture) fixture;
  reading_fixture_init(&fixture);
  reading_fixture_set(&fixture, "type", "quote");
  TideBytes quote[] = {TIDE_BYTES_LITERAL("quote")};
  TideCondition conditions[] = {
      condition_of(&fixture, TIDE_CONDITION_EQUALS, "type", quote, 1),
      condition_of(&fixture, TIDE_CONDITION_PRESENT, "BID", NULL, 0),
  };
  g_assert_true(tide_conditions_hold(NULL, 0, &fixture.reading));
  g_assert_true(tide_conditions_hold(conditions, 1, &fixture.reading));
  g_assert_false(tide_conditions_hold(conditions, 2, &fixture.reading));
  reading_fixture_set(&fixture, "BID", "17.5");
  guint64 n_before = allocation_count;
  g_assert_true(tide_conditions_hold(conditions, 2, &fixture.reading));
  g_assert_cmpuint(allocation_count, ==, n_before);
}

static void
assert_described(ReadingFixture *fixture, TideCondition condition, const char *expected, const char *expected_negated)
{
  g_autofree char *plain = tide_condition_describe(&condition, fixture->names);
  condition.negated = TRUE;
  g_autofree char *negated = tide_condition_describe(&condition, fixture->names);
  g_assert_cmpstr(plain, ==, expected);
  g_assert_cmpstr(negated, ==, expected_negated);
}

static void
test_description_is_a_sentence(void)
{
  g_auto(ReadingFixture) fixture;
  reading_fixture_init(&fixture);
  TideBytes words[] = {TIDE_BYTES_LITERAL("quote"), TIDE_BYTES_LITERAL("tra\nde")};
  assert_described(&fixture, condition_of(&fixture, TIDE_CONDITION_EQUALS, "type", words, 2),
                   "field 'type' is 'quote' or 'tra\\x0Ade'", "field 'type' is neither 'quote' nor 'tra\\x0Ade'");
  assert_described(&fixture, condition_of(&fixture, TIDE_CONDITION_EQUALS, "type", words, 1), "field 'type' is 'quote'",
                   "field 'type' is not 'quote'");
  assert_described(&fixture, condition_of(&fixture, TIDE_CONDITION_MATCHES, "type", words, 1),
                   "field 'type' matches 'quote'", "field 'type' does not match 'quote'");
  assert_described(&fixture, condition_of(&fixture, TIDE_CONDITION_PRESENT, "BID", NULL, 0), "field 'BID' is present",
                   "field 'BID' is absent or null");
  assert_described(&fixture, condition_of(&fixture, TIDE_CONDITION_ABSENT, "BID", NULL, 0),
                   "field 'BID' is absent or null", "field 'BID' is present");
}

static void
test_clear_frees_the_values(void)
{
  TideCondition condition = {.kind = TIDE_CONDITION_EQUALS, .values = g_new0(TideBytes, 2), .n_values = 2};
  for (gsize i = 0; i < condition.n_values; i++)
    condition.values[i] = tide_bytes(g_memdup2("quote", 5), 5);
  tide_condition_clear(&condition);
  g_assert_null(condition.values);
  g_assert_cmpuint(condition.n_values, ==, 0);
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/condition/presence", test_presence);
  g_test_add_func("/condition/equals-is-byte-for-byte", test_equals_is_byte_for_byte);
  g_test_add_func("/condition/matches-is-by-pattern", test_matches_is_by_pattern);
  g_test_add_func("/condition/all-together", test_conditions_hold_all_together);
  g_test_add_func("/condition/description", test_description_is_a_sentence);
  g_test_add_func("/condition/clear", test_clear_frees_the_values);
  return g_test_run();
}
