/* Heals one by one: what ends them before their time, what they hold until then, and when they are due. */
#include "rows/heals.h"
#include "unit/row_buffer_fixture.h"

static TideBudget share;
static GString *reported; /* what the handler heard */

static gboolean
is_owned(TideSourceRef ref, gpointer data)
{
  return ref.epoch == 1;
}

static void
on_changed(TideSourceRef ref, TideHealChange change, gpointer data)
{
  g_string_append_printf(reported, "%s%u ",
                         change == TIDE_HEAL_KEPT   ? "+"
                         : change == TIDE_HEAL_SENT ? ">"
                                                    : "-",
                         ref.sequence);
}

static const TideHealHandler handler = {.is_owned = is_owned, .changed = on_changed};

static TideHeals *
make_heals(guint64 limit_bytes)
{
  tide_budget_init(&share, limit_bytes);
  share.whole = &budget;
  reported = g_string_new(NULL);
  return tide_heals_new(&share, &handler);
}

static void
free_heals(TideHeals *heals)
{
  tide_heals_free(heals);
  g_string_free(reported, TRUE);
  g_assert_cmpuint(tide_budget_used_racy(&budget), ==, 0);
}

static void
assert_reported(const char *expected)
{
  g_assert_cmpstr(reported->str, ==, expected);
  g_string_truncate(reported, 0);
}

static TideBatchCell
cell_of(char column, gint64 timestamp_ms)
{
  return (TideBatchCell){tide_bytes(&"ab"[column - 'a'], 1), (guint64)column, timestamp_ms,
                         TIDE_BYTES_LITERAL("value")};
}

static guint64
key_hash(const char *key)
{
  return tide_key_hash(tide_bytes_of_string(key));
}

/* Of columns a and b, as @columns says, at @timestamp_ms. */
static void
keep(TideHeals *heals, const char *key, const char *columns, gint64 timestamp_ms, gint64 until_us, guint32 sequence)
{
  TideHeal *heal = tide_heal_new(tide_bytes_of_string(key));
  for (; *columns != '\0'; columns++) {
    TideBatchCell cell = cell_of(*columns, timestamp_ms);
    tide_heal_add_cell(heal, &cell, until_us);
  }
  tide_heal_add_source(heal, (TideSourceRef){0, 1, sequence});
  g_assert_true(tide_heals_keep(heals, heal));
}

static void
overwrite(TideHeals *heals, const char *key, char column, gint64 timestamp_ms)
{
  tide_heals_overwritten(heals, tide_cell_identity(key_hash(key), (guint64)column, timestamp_ms));
}

static void
test_heal_ends_with_its_last_cell(void)
{
  TideHeals *heals = make_heals(1 << 20);
  keep(heals, "k", "ab", 10, 1000, 1);
  assert_reported("+1 ");
  overwrite(heals, "k", 'a', 10);
  overwrite(heals, "k", 'a', 10);
  overwrite(heals, "k", 'b', 11);
  overwrite(heals, "x", 'b', 10);
  assert_reported("");
  TideHeal *due = tide_heals_due(heals, 1000);
  g_assert_nonnull(due);
  TideRow row = tide_heal_row(due);
  g_assert_cmpuint(row.n_cells, ==, 1);
  g_assert_cmpuint(row.cells[0].column->hash, ==, 'b');
  g_assert_true(tide_bytes_equal(row.cells[0].value, TIDE_BYTES_LITERAL("value")));
  overwrite(heals, "k", 'b', 10);
  assert_reported("-1 ");
  g_assert_true(tide_heals_is_empty(heals));
  g_assert_cmpuint(tide_budget_used_racy(&share), ==, 0);
  free_heals(heals);
}

/* F3: a newer time of the column, and no other. */
static void
test_F3_newer_time_ends_an_older_cell(void)
{
  TideHeals *heals = make_heals(1 << 20);
  keep(heals, "k", "a", 10, 1000, 1);
  keep(heals, "k", "b", 10, 1000, 2);
  keep(heals, "k", "a", 12, 1000, 3);
  assert_reported("+1 +2 +3 ");
  tide_heals_outdated(heals, key_hash("k"), 'a', 10);
  tide_heals_outdated(heals, key_hash("x"), 'a', 99);
  assert_reported("");
  tide_heals_outdated(heals, key_hash("k"), 'a', 12);
  assert_reported("-1 ");
  tide_heals_outdated(heals, key_hash("k"), 0, 12);
  assert_reported("-2 ");
  tide_heals_outdated(heals, key_hash("k"), 0, 13);
  assert_reported("-3 ");
  free_heals(heals);
}

static void
test_heals_are_due_in_their_order(void)
{
  TideHeals *heals = make_heals(1 << 20);
  g_assert_cmpint(tide_heals_next_us(heals), ==, G_MAXINT64);
  keep(heals, "later", "a", 10, 2000, 2);
  keep(heals, "first", "a", 10, 1000, 1);
  g_assert_cmpint(tide_heals_next_us(heals), ==, 1000);
  g_assert_null(tide_heals_due(heals, 999));
  TideHeal *due = tide_heals_due(heals, 1000);
  tide_heals_block(heals, due);
  g_assert_null(tide_heals_due(heals, 1999));
  tide_heals_unblock_key(heals, key_hash("later"));
  g_assert_null(tide_heals_due(heals, 1999));
  tide_heals_unblock_key(heals, key_hash("first"));
  g_assert_true(tide_heals_due(heals, 1999) == due);
  tide_heals_block(heals, due);
  tide_heals_unblock_all(heals);
  tide_heals_sent(heals, tide_heals_due(heals, 1999));
  assert_reported("+2 +1 >1 ");
  g_assert_cmpint(tide_heals_next_us(heals), ==, 2000);
  free_heals(heals);
}

static void
test_disowned_heals_are_dropped(void)
{
  TideHeals *heals = make_heals(1 << 20);
  keep(heals, "mine", "a", 10, 1000, 1);
  TideHeal *other = tide_heal_new(TIDE_BYTES_LITERAL("other"));
  TideBatchCell cell = cell_of('a', 10);
  tide_heal_add_cell(other, &cell, 1000);
  tide_heal_add_source(other, (TideSourceRef){0, 7, 9});
  g_assert_true(tide_heals_keep(heals, other));
  tide_heals_drop_disowned(heals);
  assert_reported("+1 ");
  TideHeal *left = tide_heals_due(heals, 1000);
  g_assert_true(tide_bytes_equal(tide_heal_key(left), TIDE_BYTES_LITERAL("mine")));
  tide_heals_sent(heals, left);
  g_assert_true(tide_heals_is_empty(heals));
  free_heals(heals);
}

/* F14: no heal is kept beyond the share. */
static void
test_F14_heals_are_charged_and_bounded(void)
{
  TideHeals *heals = make_heals(4096);
  guint32 n = 0;
  for (gboolean has_room = TRUE; has_room; n++) {
    g_autofree char *key = g_strdup_printf("k%u", n);
    TideHeal *heal = tide_heal_new(tide_bytes_of_string(key));
    TideBatchCell cell = cell_of('a', 10);
    tide_heal_add_cell(heal, &cell, 1000);
    tide_heal_add_source(heal, (TideSourceRef){0, 1, n});
    has_room = tide_heals_keep(heals, heal);
    if (!has_room)
      tide_heal_free(heal);
  }
  g_assert_cmpuint(n, >, 2);
  g_assert_cmpuint(tide_budget_used_racy(&share), <=, 4096);
  g_assert_cmpuint(tide_budget_used_racy(&share), >, (n - 1) * 64);
  g_assert_cmpuint(tide_budget_used_racy(&budget), ==, tide_budget_used_racy(&share));
  free_heals(heals);
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  tide_budget_init(&budget, G_MAXINT64);
  g_test_add_func("/heal-ends/heal-ends-with-its-last-cell", test_heal_ends_with_its_last_cell);
  g_test_add_func("/heal-ends/F3-newer-time-ends-an-older-cell", test_F3_newer_time_ends_an_older_cell);
  g_test_add_func("/heal-ends/heals-are-due-in-their-order", test_heals_are_due_in_their_order);
  g_test_add_func("/heal-ends/disowned-heals-are-dropped", test_disowned_heals_are_dropped);
  g_test_add_func("/heal-ends/F14-heals-are-charged-and-bounded", test_F14_heals_are_charged_and_bounded);
  return g_test_run();
}
