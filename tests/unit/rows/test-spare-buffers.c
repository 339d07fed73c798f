/* Buffers that lanes have in turn: who gets which, what is kept of them and for how long, and that all is given back.
 */
#include "rows/spare_buffers.h"
#include "unit/row_buffer_fixture.h"
#include "util/clock.h"

#define IDLE_US (5 * TIDE_US_PER_S)

typedef struct Fixture {
  TideSpareBuffers spares;
  Column column;
} Fixture;

static void
set_up(Fixture *fixture, gconstpointer data)
{
  tide_budget_init(&budget, 1u << 30);
  tide_spare_buffers_init(&fixture->spares, &budget, TIDE_WIRE_BINARY, NULL);
  make_column(&fixture->column, TIDE_WIRE_BINARY, 1);
}

static void
tear_down(Fixture *fixture, gconstpointer data)
{
  tide_spare_buffers_clear(&fixture->spares);
  tide_buffer_clear_memory(&fixture->column.prefix);
  g_assert_cmpuint(tide_budget_used_racy(&budget), ==, 0);
}

static TideRowBuffer *
lend(Fixture *fixture, TideMergeRule rule)
{
  TideRowBuffer *lent = &fixture->spares.none;
  tide_spare_buffers_lend(&fixture->spares, &lent, rule);
  g_assert_true(lent != &fixture->spares.none);
  g_assert_true(tide_row_buffer_is_empty(lent));
  g_assert_cmpint(lent->rule, ==, rule);
  return lent;
}

/* Rows of one key each. */
static void
fill(Fixture *fixture, TideRowBuffer *buffer, guint32 n_rows)
{
  for (guint32 i = 0; i < n_rows; i++) {
    g_autofree char *key = g_strdup_printf("key-%u", i);
    append(buffer, key, &fixture->column, "value", i, i);
  }
}

/* What is sealed is thrown away. */
static void
empty(TideRowBuffer *buffer)
{
  TideSealRequest all = request(G_MAXUINT32, G_MAXUINT32);
  for (TideBatch *batch = tide_row_buffer_seal(buffer, &all), *next; batch != NULL; batch = next) {
    next = batch->next;
    tide_budget_charge(&budget, -batch->charged_bytes);
    tide_batch_free(batch);
  }
}

static void
take_back(Fixture *fixture, TideRowBuffer *buffer)
{
  tide_spare_buffers_take_back(&fixture->spares, &buffer);
  g_assert_true(buffer == &fixture->spares.none);
}

/* A lane that has a buffer keeps it; one that has none gets the one that was used last, with its memory. */
static void
test_last_given_back_is_lent_first(Fixture *fixture, gconstpointer data)
{
  TideRowBuffer *a = lend(fixture, TIDE_MERGE_ALL), *b = lend(fixture, TIDE_MERGE_ALL), *kept = a;
  g_assert_true(a != b);
  fill(fixture, a, 3);
  fill(fixture, b, 3);
  tide_spare_buffers_lend(&fixture->spares, &kept, TIDE_MERGE_ALL);
  g_assert_true(kept == a);
  empty(a);
  empty(b);
  gint64 charged_bytes = b->charged_bytes;
  take_back(fixture, a);
  take_back(fixture, b);
  g_assert_true(lend(fixture, TIDE_MERGE_NONE) == b);
  g_assert_cmpint(b->charged_bytes, ==, charged_bytes);
  g_assert_true(lend(fixture, TIDE_MERGE_NEWEST) == a);
  take_back(fixture, a);
  take_back(fixture, b);
}

/* Whatever merged in it before, rows meet by the rule of the lane that has it now. */
static void
test_rule_is_that_of_the_borrower(Fixture *fixture, gconstpointer data)
{
  const struct {
    TideMergeRule rule;
    guint32 n_rows, n_cells;
  } borrowers[] = {{TIDE_MERGE_NONE, 2, 2}, {TIDE_MERGE_ALL, 1, 2}, {TIDE_MERGE_NONE, 2, 2}, {TIDE_MERGE_NEWEST, 1, 1}};
  for (gsize i = 0; i < G_N_ELEMENTS(borrowers); i++) {
    TideRowBuffer *buffer = lend(fixture, borrowers[i].rule);
    append(buffer, "key", &fixture->column, "old", 1, 1);
    append(buffer, "key", &fixture->column, "new", 2, 2);
    g_assert_cmpuint(buffer->n_rows, ==, borrowers[i].n_rows);
    g_assert_cmpuint(buffer->n_cells, ==, borrowers[i].n_cells);
    empty(buffer);
    take_back(fixture, buffer);
    g_assert_cmpuint(fixture->spares.n, ==, 1);
  }
}

static void
test_large_and_full_ones_are_not_lent_again(Fixture *fixture, gconstpointer data)
{
  TideRowBuffer *large = lend(fixture, TIDE_MERGE_ALL), *full = lend(fixture, TIDE_MERGE_ALL);
  fill(fixture, full, 1);
  fill(fixture, large, 1000);
  empty(large);
  g_assert_false(tide_spare_buffers_is_small(large));
  g_assert_true(tide_spare_buffers_is_small(full));
  take_back(fixture, large);
  take_back(fixture, full);
  g_assert_cmpuint(fixture->spares.n, ==, 0);
  g_assert_cmpuint(tide_budget_used_racy(&budget), ==, 0);
}

/* Of three that were needed at once two were not any more, all the time: these go, and the last when it is idle, too.
 */
static void
test_those_that_nobody_needed_are_freed(Fixture *fixture, gconstpointer data)
{
  TideRowBuffer *lent[3];
  gint64 now_us = 100 * TIDE_US_PER_S;
  for (guint i = 0; i < 3; i++) {
    lent[i] = lend(fixture, TIDE_MERGE_ALL);
    fill(fixture, lent[i], 1);
    empty(lent[i]);
  }
  for (guint i = 0; i < 3; i++)
    take_back(fixture, lent[i]);
  tide_spare_buffers_run_maintenance(&fixture->spares, IDLE_US, now_us);
  g_assert_cmpuint(fixture->spares.n, ==, 3);
  take_back(fixture, lend(fixture, TIDE_MERGE_ALL));
  tide_spare_buffers_run_maintenance(&fixture->spares, IDLE_US, now_us += IDLE_US - 1);
  g_assert_cmpuint(fixture->spares.n, ==, 3);
  tide_spare_buffers_run_maintenance(&fixture->spares, IDLE_US, now_us += 1);
  g_assert_cmpuint(fixture->spares.n, ==, 1);
  tide_spare_buffers_run_maintenance(&fixture->spares, IDLE_US, now_us += IDLE_US);
  g_assert_cmpuint(fixture->spares.n, ==, 0);
  g_assert_cmpuint(tide_budget_used_racy(&budget), ==, 0);
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
#define ADD(name, function) g_test_add("/spare-buffers/" name, Fixture, NULL, set_up, function, tear_down)
  ADD("last-given-back-is-lent-first", test_last_given_back_is_lent_first);
  ADD("rule-is-that-of-the-borrower", test_rule_is_that_of_the_borrower);
  ADD("large-and-full-ones-are-not-lent-again", test_large_and_full_ones_are_not_lent_again);
  ADD("those-that-nobody-needed-are-freed", test_those_that_nobody_needed_are_freed);
  return g_test_run();
}
