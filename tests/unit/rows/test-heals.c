/* Rows to be written once more: what they take of their share, and what ends them. */
#include "rows/heals.h"

static TideBudget share;
static gboolean owns_sources;
static guint n_changes[3]; /* by TideHealChange */

static gboolean
is_owned(TideSourceRef source, gpointer data)
{
  return owns_sources;
}

static void
note_change(TideSourceRef source, TideHealChange change, gpointer data)
{
  n_changes[change]++;
}

static const TideHealHandler handler = {.is_owned = is_owned, .changed = note_change};

static TideHeals *
heals_new(void)
{
  tide_budget_init(&share, 1 << 20);
  owns_sources = TRUE;
  memset(n_changes, 0, sizeof n_changes);
  return tide_heals_new(&share, &handler);
}

/* A heal of two columns, in doubt until @until_us and a moment longer. */
static TideHeal *
keep(TideHeals *heals, const char *key, gint64 until_us)
{
  TideHeal *heal = tide_heal_new(tide_bytes_of_string(key));
  for (guint i = 0; i < 2; i++) {
    TideBatchCell cell = {.prefix = tide_bytes_of_string(i == 0 ? "a" : "b"),
                          .value = TIDE_BYTES_LITERAL("value"),
                          .timestamp_ms = 10,
                          .column_hash = i + 1};
    tide_heal_add_cell(heal, &cell, until_us + 1 - i);
  }
  tide_heal_add_source(heal, (TideSourceRef){0, 1, 2});
  g_assert_true(tide_heals_keep(heals, heal));
  return heal;
}

static void
test_share_is_given_back(void)
{
  TideHeals *heals = heals_new();
  keep(heals, "sent", 10);
  keep(heals, "overwritten", 20);
  TideHeal *outdated = keep(heals, "outdated", 30);
  keep(heals, "disowned", 40);
  g_assert_cmpuint(tide_budget_used_racy(&share), >, 0);
  tide_heals_sent(heals, tide_heals_due(heals, 11));
  guint64 key_hash = tide_key_hash(TIDE_BYTES_LITERAL("overwritten"));
  for (guint64 column = 1; column <= 2; column++)
    tide_heals_overwritten(heals, tide_cell_identity(key_hash, column, 10));
  tide_heals_outdated(heals, tide_heal_key_hash(outdated), 0, 11);
  g_assert_cmpuint(n_changes[TIDE_HEAL_SENT], ==, 1);
  g_assert_cmpuint(n_changes[TIDE_HEAL_VOID], ==, 2);
  owns_sources = FALSE;
  tide_heals_drop_disowned(heals);
  g_assert_true(tide_heals_is_empty(heals));
  g_assert_cmpuint(tide_budget_used_racy(&share), ==, 0);
  g_assert_cmpuint(n_changes[TIDE_HEAL_VOID], ==, 2);
  tide_heals_free(heals);
}

/* It is due when the last of its cells is, and is sent without those that are over. */
static void
test_what_is_sent(void)
{
  TideHeals *heals = heals_new();
  TideHeal *heal = keep(heals, "x", 10);
  g_assert_cmpint(tide_heals_next_us(heals), ==, 11);
  g_assert_null(tide_heals_due(heals, 10));
  tide_heals_overwritten(heals, tide_cell_identity(tide_heal_key_hash(heal), 1, 10));
  g_assert_true(tide_heals_due(heals, 11) == heal);
  TideRow row = tide_heal_row(heal);
  g_assert_cmpuint(row.n_cells, ==, 1);
  g_assert_true(tide_bytes_equal(row.cells[0].column->prefix, TIDE_BYTES_LITERAL("b")));
  tide_heals_free(heals);
}

/* Equal times of a column, and newer ones of another, leave it. */
static void
test_what_outdates(void)
{
  TideHeals *heals = heals_new();
  guint64 key_hash = tide_heal_key_hash(keep(heals, "x", 10));
  tide_heals_outdated(heals, key_hash, 1, 10);
  tide_heals_outdated(heals, key_hash, 3, 11);
  g_assert_cmpuint(tide_heal_row(tide_heals_due(heals, 11)).n_cells, ==, 2);
  tide_heals_outdated(heals, key_hash, 1, 11);
  g_assert_cmpuint(tide_heal_row(tide_heals_due(heals, 11)).n_cells, ==, 1);
  tide_heals_free(heals);
}

static void
test_blocked_heal_comes_again(void)
{
  TideHeals *heals = heals_new();
  TideHeal *heal = keep(heals, "x", 10);
  for (guint by_key = 0; by_key < 2; by_key++) {
    tide_heals_block(heals, heal);
    g_assert_null(tide_heals_due(heals, 100));
    if (by_key > 0)
      tide_heals_unblock_key(heals, tide_heal_key_hash(heal));
    else
      tide_heals_unblock_all(heals);
    g_assert_true(tide_heals_due(heals, 100) == heal);
  }
  tide_heals_free(heals);
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/heals/share-is-given-back", test_share_is_given_back);
  g_test_add_func("/heals/what-is-sent", test_what_is_sent);
  g_test_add_func("/heals/what-outdates", test_what_outdates);
  g_test_add_func("/heals/blocked-heal-comes-again", test_blocked_heal_comes_again);
  return g_test_run();
}
