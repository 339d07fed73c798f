#include "model/table/column_set.h"

#include "thrift/wire/put_encoder.h"

#include "unit/allocation_counter.h"
#include "unit/reading_fixture.h"

static const TideBytes family = {(const guint8 *)"M", 1};

static void
test_a_column_is_made_once(void)
{
  g_auto(TideBuffer) prefix = {0};
  TideColumnSet *set = tide_column_set_new(TIDE_WIRE_COMPACT);
  TideSetColumn *first = tide_column_set_find(set, family, TIDE_BYTES_LITERAL("0015"));
  TideSetColumn *other = tide_column_set_find(set, TIDE_BYTES_LITERAL("N"), TIDE_BYTES_LITERAL("0015"));
  g_assert_true(first != other);
  g_assert_true(tide_column_set_find(set, family, TIDE_BYTES_LITERAL("0030")) != first);
  g_assert_true(tide_column_set_find(set, family, TIDE_BYTES_LITERAL("0015")) == first);
  tide_column_set_begin_message(set);
  g_assert_true(tide_column_set_find(set, family, TIDE_BYTES_LITERAL("0015")) == first);
  tide_column_prefix_append(TIDE_WIRE_COMPACT, &prefix, family, TIDE_BYTES_LITERAL("0015"));
  assert_same_bytes(first->column.prefix, tide_buffer_bytes(&prefix));
  assert_same_bytes(first->column.qualifier, TIDE_BYTES_LITERAL("0015"));
  assert_same_bytes(first->column.family, family);
  g_assert_cmpint(first->life, ==, TIDE_COLUMN_KEPT);
  tide_column_set_free(set);
}

/* Fills @set until it keeps no more; returns how many it keeps. */
static guint
fill(TideColumnSet *set, gsize qualifier_bytes)
{
  g_autofree char *qualifier = g_strnfill(qualifier_bytes, 'x');
  guint n = 0;
  for (; tide_column_set_life(set) == TIDE_COLUMN_KEPT; n++) {
    memcpy(qualifier, &n, sizeof n);
    tide_column_set_find(set, family, tide_bytes(qualifier, qualifier_bytes));
  }
  return n;
}

static void
test_columns_are_kept_up_to_a_number(void)
{
  TideColumnSet *set = tide_column_set_new(TIDE_WIRE_BINARY);
  g_assert_cmpuint(fill(set, 4), ==, TIDE_COLUMN_SET_MAX_COLUMNS);
  tide_column_set_free(set);
}

static void
test_columns_are_kept_up_to_a_size(void)
{
  enum { QUALIFIER_BYTES = 100000 };
  TideColumnSet *set = tide_column_set_new(TIDE_WIRE_BINARY);
  guint n = fill(set, QUALIFIER_BYTES);
  g_assert_cmpuint(n * QUALIFIER_BYTES, <=, TIDE_COLUMN_SET_MAX_BYTES);
  g_assert_cmpuint(n, >, 10);
  tide_column_set_free(set);
}

/* A full set knows what it keeps, makes all else for the message, and each of these once. */
static void
test_a_full_set_makes_columns_for_a_message(void)
{
  TideColumnSet *set = tide_column_set_new(TIDE_WIRE_BINARY);
  TideSetColumn *kept = tide_column_set_find(set, family, TIDE_BYTES_LITERAL("kept"));
  fill(set, 4);
  char qualifier[64];
  guint64 before = 0;
  for (guint message = 0; message < 300; message++) {
    if (message == 3)
      before = allocation_count;
    /* One message with very many columns, then small ones. */
    guint n = message == 0 ? 5000 : 3;
    tide_column_set_begin_message(set);
    g_assert_true(tide_column_set_find(set, family, TIDE_BYTES_LITERAL("kept")) == kept);
    for (guint i = 0; i < n; i++) {
      gsize len = (gsize)g_snprintf(qualifier, sizeof qualifier, "of-%u-%u", message, i);
      TideSetColumn *made = tide_column_set_find(set, family, tide_bytes(qualifier, len));
      g_assert_cmpint(made->life, ==, TIDE_COLUMN_OF_MESSAGE);
      g_assert_cmpuint(made->row, ==, 0);
      made->row = 1;
      g_assert_true(tide_column_set_find(set, family, tide_bytes(qualifier, len)) == made);
      g_assert_true(tide_bytes_equal(made->column.qualifier, tide_bytes(qualifier, len)));
    }
  }
  if (ALLOCATION_COUNTER_WORKS)
    g_assert_cmpuint(allocation_count - before, ==, 0);
  tide_column_set_free(set);
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/column-set/a-column-is-made-once", test_a_column_is_made_once);
  g_test_add_func("/column-set/columns-are-kept-up-to-a-number", test_columns_are_kept_up_to_a_number);
  g_test_add_func("/column-set/columns-are-kept-up-to-a-size", test_columns_are_kept_up_to_a_size);
  g_test_add_func("/column-set/a-full-set-makes-columns-for-a-message", test_a_full_set_makes_columns_for_a_message);
  return g_test_run();
}
