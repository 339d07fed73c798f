/* The set of cells: what is kept of a column, and that passes in little memory come to the same as one in much. */
#include "commands/verify/cells.h"

#include "unit/test_case.h"

#include <string.h>

#define KIB 1024u
#define PLENTY (4096u * KIB)
#define LITTLE (16u * KIB) /* some 250 entries */

/* Stirs a small number into a hash (splitmix64). */
static guint64
stir(guint64 number)
{
  number += G_GUINT64_CONSTANT(0x9E3779B97F4A7C15);
  number = (number ^ (number >> 30)) * G_GUINT64_CONSTANT(0xBF58476D1CE4E5B9);
  number = (number ^ (number >> 27)) * G_GUINT64_CONSTANT(0x94D049BB133111EB);
  return number ^ (number >> 31);
}

static TideVerifyRow
row_of(guint row)
{
  return (TideVerifyRow){.high = stir(row), .low = stir(row + 1000000)};
}

static TideVerifyEntry
cell_of(guint row, guint column, gint64 time_ms, guint64 value, guint partition, gint64 offset)
{
  return (TideVerifyEntry){.row = row_of(row),
                           .column = column,
                           .time_ms = time_ms,
                           .value = value,
                           .source = tide_verify_source(partition, offset)};
}

static void
expect(TideVerifyCells *cells, guint versions, TideVerifyEntry cell)
{
  tide_verify_cells_expect(cells, &cell, versions);
}

static int
compare_texts(gconstpointer a, gconstpointer b)
{
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The entries of a column in one line: kind, time, value and flags, in no order but that of the times. */
static char *
show_column(const TideVerifyCells *cells, guint row, guint column_of)
{
  g_autoptr(GPtrArray) parts = g_ptr_array_new_with_free_func(g_free);
  TideVerifyColumn column = tide_verify_cells_column(cells, row_of(row), column_of);
  for (const TideVerifyEntry *entry; (entry = tide_verify_column_next(&column)) != NULL;)
    g_ptr_array_add(parts, g_strdup_printf("%c%" G_GINT64_FORMAT "=%" G_GUINT64_FORMAT "%s%s ", " EPFDL"[entry->kind],
                                           entry -> time_ms, entry -> value, entry -> is_matched ? "!" : "",
                                           entry->is_explained ? "?" : ""));
  g_ptr_array_sort(parts, compare_texts);
  g_autoptr(GString) text = g_string_new(NULL);
  for (guint i = 0; i < parts->len; i++)
    g_string_append(text, parts->pdata[i]);
  return g_string_free(g_steal_pointer(&text), FALSE);
}

static void
assert_column(const TideVerifyCells *cells, guint row, guint column, const char *expected)
{
  g_autofree char *shown = show_column(cells, row, column);
  g_assert_cmpstr(shown, ==, expected);
}

TEST("/verify-cells/newest-times-are-kept")
{
  g_autoptr(TideVerifyCells) cells = tide_verify_cells_new(PLENTY);
  static const gint64 times[] = {5, 3, 9, 1, 7};
  for (guint i = 0; i < G_N_ELEMENTS(times); i++) {
    expect(cells, 1, cell_of(1, 1, times[i], i, 0, i));
    expect(cells, 3, cell_of(1, 2, times[i], i, 0, i));
    expect(cells, 1000, cell_of(2, 1, times[i], i, 0, i));
  }
  assert_column(cells, 1, 1, "E9=2 ");
  assert_column(cells, 1, 2, "E5=0 E7=4 E9=2 ");
  assert_column(cells, 2, 1, "E1=3 E3=1 E5=0 E7=4 E9=2 ");
  assert_column(cells, 2, 2, "");
}

TEST("/verify-cells/each-partition-has-its-last-value")
{
  g_autoptr(TideVerifyCells) cells = tide_verify_cells_new(PLENTY);
  expect(cells, 1, cell_of(1, 1, 5, 10, 0, 0));
  expect(cells, 1, cell_of(1, 1, 5, 20, 1, 0));
  expect(cells, 1, cell_of(1, 1, 5, 11, 0, 1));
  assert_column(cells, 1, 1, "E5=11 E5=20 ");
  expect(cells, 1, cell_of(1, 1, 6, 30, 1, 1)); /* newer than both */
  assert_column(cells, 1, 1, "E6=30 ");
}

TEST("/verify-cells/what-is-found")
{
  g_autoptr(TideVerifyCells) cells = tide_verify_cells_new(PLENTY);
  expect(cells, 1, cell_of(1, 1, 5, 10, 0, 0));
  expect(cells, 1, cell_of(1, 2, 5, 10, 0, 0));
  TideVerifyEntry possible = cell_of(1, 3, 5, 10, 0, 1);
  tide_verify_cells_allow(cells, &possible);
  tide_verify_cells_allow(cells, &possible);
  const TideVerifyEntry found[] = {cell_of(1, 1, 5, 10, 0, 0), cell_of(1, 2, 5, 99, 0, 0), cell_of(1, 3, 5, 10, 0, 0),
                                   cell_of(1, 4, 5, 10, 0, 0)};
  for (guint i = 0; i < G_N_ELEMENTS(found); i++)
    tide_verify_cells_find(cells, &found[i]);
  tide_verify_cells_explain(cells, &found[1]);
  TideVerifyEntry other = cell_of(1, 4, 5, 11, 0, 0);
  tide_verify_cells_explain(cells, &other);
  assert_column(cells, 1, 1, "E5=10! ");
  assert_column(cells, 1, 2, "E5=10 F5=99? ");
  assert_column(cells, 1, 3, "P5=10! ");
  assert_column(cells, 1, 4, "F5=10 ");
  /* Of a time for which nothing is said, what stands beside an expected cell is of use, and nothing else. */
  TideVerifyEntry outside = cell_of(1, 5, 7, 1, 0, 0);
  outside.is_outside = 1;
  tide_verify_cells_find(cells, &outside);
  assert_column(cells, 1, 5, "");
  outside.column = 1;
  tide_verify_cells_find(cells, &outside);
  assert_column(cells, 1, 1, "E5=10! F7=1 ");
}

TEST("/verify-cells/deleted-rows")
{
  g_autoptr(TideVerifyCells) cells = tide_verify_cells_new(PLENTY);
  tide_verify_cells_delete(cells, row_of(1), 5, TRUE);
  tide_verify_cells_delete(cells, row_of(1), 3, TRUE);
  assert_column(cells, 1, 0, "D5=5 ");
  tide_verify_cells_delete(cells, row_of(1), 9, FALSE);
  assert_column(cells, 1, 0, "D5=9 ");
  tide_verify_cells_delete(cells, row_of(2), 9, FALSE);
  assert_column(cells, 2, 0, "D-1=9 ");
}

/* ---- passes --------------------------------------------------------------------------------------------------------
 */

#define N_ROWS 300u
#define N_COLUMNS 7u
#define N_STEPS 20000u
#define VERSIONS 3u

/* The same story each time it is told. */
static void
tell(TideVerifyCells *cells, guint32 seed)
{
  g_autoptr(GRand) random = g_rand_new_with_seed(seed);
  for (guint i = 0; i < N_STEPS; i++) {
    guint row = (guint)g_rand_int_range(random, 0, N_ROWS), column = 1 + (guint)g_rand_int_range(random, 0, N_COLUMNS);
    TideVerifyEntry cell = cell_of(row, column, g_rand_int_range(random, 0, 20),
                                   (guint64)g_rand_int_range(random, 0, 2), (guint)g_rand_int_range(random, 0, 2), i);
    if (i < N_STEPS / 2)
      expect(cells, VERSIONS, cell);
    else
      tide_verify_cells_find(cells, &cell);
    if (i % 97 == 0)
      tide_verify_cells_delete(cells, cell.row, cell.time_ms, TRUE);
  }
}

static char *
show_row(const TideVerifyCells *cells, guint row)
{
  g_autoptr(GString) text = g_string_new(NULL);
  for (guint column = 0; column <= N_COLUMNS; column++) {
    g_autofree char *shown = show_column(cells, row, column);
    g_string_append_printf(text, "%u: %s\n", column, shown);
  }
  return g_string_free(g_steal_pointer(&text), FALSE);
}

static gsize
count_entries(const TideVerifyCells *cells)
{
  gsize position = 0, n = 0;
  while (tide_verify_cells_next(cells, &position) != NULL)
    n++;
  return n;
}

TEST("/verify-cells/passes-come-to-the-same")
{
  for (guint32 seed = 1; seed <= 5; seed++) {
    g_autoptr(TideVerifyCells) plenty = tide_verify_cells_new(PLENTY);
    g_autoptr(TideVerifyCells) little = tide_verify_cells_new(LITTLE);
    tell(plenty, seed);
    g_assert_cmpuint(tide_verify_cells_last(plenty), ==, G_MAXUINT64);
    guint n_passes = 0, n_rows = 0;
    gsize n_entries = 0;
    guint64 first = 0;
    for (gboolean goes_on = TRUE; goes_on; n_passes++) {
      tide_verify_cells_begin(little, first, G_MAXUINT64);
      tell(little, seed);
      guint64 last = tide_verify_cells_last(little);
      for (guint row = 0; row < N_ROWS; row++) {
        if (row_of(row).high < first || row_of(row).high > last)
          continue;
        g_autofree char *here = show_row(little, row);
        g_autofree char *there = show_row(plenty, row);
        g_assert_cmpstr(here, ==, there);
        n_rows++;
      }
      n_entries += count_entries(little);
      goes_on = last != G_MAXUINT64;
      first = last + 1;
    }
    g_assert_false(tide_verify_cells_is_overrun(little));
    g_assert_cmpuint(n_rows, ==, N_ROWS);
    g_assert_cmpuint(n_entries, ==, count_entries(plenty));
    g_assert_cmpuint(n_passes, >, 10);
  }
}

TEST("/verify-cells/a-row-that-is-too-large")
{
  g_autoptr(TideVerifyCells) cells = tide_verify_cells_new(LITTLE);
  for (guint column = 1; column <= 1000; column++)
    expect(cells, 1, cell_of(1, column, 1, 1, 0, 0));
  /* Dropped as soon as it shares its range with none: it is of a later pass ... */
  while (!tide_verify_cells_is_overrun(cells) && tide_verify_cells_last(cells) != G_MAXUINT64) {
    tide_verify_cells_begin(cells, tide_verify_cells_last(cells) + 1, G_MAXUINT64);
    for (guint column = 1; column <= 1000; column++)
      expect(cells, 1, cell_of(1, column, 1, 1, 0, 0));
  }
  g_assert_true(tide_verify_cells_is_overrun(cells)); /* ... until there is no later one */
}
