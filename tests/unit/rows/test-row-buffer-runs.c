/* Rows whose cells come encoded, in one piece, beside the same rows that are taken cell by cell: the same must come
 * out, byte for byte, and be counted. */
#include "unit/row_buffer_fixture.h"

#define N_COLUMNS 6u
#define N_KEYS 5

/* Lists of columns: two with the same columns in another order, two that share some, two that share none. */
static const guint8 lists[][N_COLUMNS] = {{0, 1, 2}, {2, 1, 0}, {0, 1}, {1, 3}, {4, 5}, {0, 1, 2, 3, 4, 5}};
static const guint8 list_lengths[G_N_ELEMENTS(lists)] = {3, 3, 2, 2, 2, 6};

typedef struct Twins {
  TideWireProtocol protocol;
  TideRowBuffer whole; /* is given runs */
  TideRowBuffer apart; /* is given cells */
  Column columns[N_COLUMNS];
  guint32 sequence;
  guint64 n_runs; /* that stood in whole as they came */
} Twins;

static GPtrArray *
one_family(void)
{
  static char name[] = "M";
  static TideFamilySettings family = {.name = name};
  GPtrArray *families = g_ptr_array_new();
  g_ptr_array_add(families, &family);
  return families;
}

static void
twins_init(Twins *twins, TideWireProtocol protocol, TideMergeRule rule, const GPtrArray *families)
{
  *twins = (Twins){.protocol = protocol};
  tide_row_buffer_init(&twins->whole, &budget, protocol, rule, families);
  tide_row_buffer_init(&twins->apart, &budget, protocol, rule, families);
  for (guint i = 0; i < N_COLUMNS; i++)
    make_column(&twins->columns[i], protocol, i);
}

static void
twins_clear(Twins *twins)
{
  tide_row_buffer_clear(&twins->whole);
  tide_row_buffer_clear(&twins->apart);
  for (guint i = 0; i < N_COLUMNS; i++)
    tide_buffer_clear_memory(&twins->columns[i].prefix);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Twins, twins_clear)

static void
twins_append(Twins *twins, const char *key, guint list, const char *const *values, gint64 timestamp_ms,
             gint64 delete_to_ms)
{
  g_auto(TideBuffer) encoded = {0};
  TideCell cells[N_COLUMNS];
  for (guint i = 0; i < list_lengths[list]; i++) {
    const TideColumn *column = &twins->columns[lists[list][i]].column;
    cells[i] = (TideCell){column, tide_bytes_of_string(values[i]), timestamp_ms};
    tide_timeless_cell_append(twins->protocol, &encoded, column->prefix, cells[i].value);
  }
  TideRow row = {
      .key = tide_bytes_of_string(key), .cells = cells, .n_cells = list_lengths[list], .delete_to_ms = delete_to_ms};
  TideSourceRef source = {1, twins->sequence++};
  TideCellsMerged merged_apart, merged_whole;
  guint32 at_apart = tide_row_buffer_append(&twins->apart, &row, source, 1000, &merged_apart);
  row.columns_id = list + 1;
  row.encoded = tide_buffer_bytes(&encoded);
  guint32 at_whole = tide_row_buffer_append(&twins->whole, &row, source, 1000, &merged_whole);
  g_assert_cmpuint(at_whole, ==, at_apart);
  g_assert_cmpuint(merged_whole.n_merged, ==, merged_apart.n_merged);
  g_assert_cmpuint(merged_whole.n_conflicting, ==, merged_apart.n_conflicting);
  g_assert_cmpuint(twins->whole.n_rows, ==, twins->apart.n_rows);
  g_assert_cmpuint(twins->whole.encoded_bytes, ==, twins->apart.encoded_bytes);
  twins->n_runs += twins->whole.n_cells < twins->apart.n_cells ? 1 : 0;
}

static void
assert_same_batches(TideBatch *whole, TideBatch *apart)
{
  for (; whole != NULL && apart != NULL; whole = whole->next, apart = apart->next) {
    g_assert_cmpint(whole->is_mutations, ==, apart->is_mutations);
    g_assert_cmpuint(whole->n_rows, ==, apart->n_rows);
    g_assert_true(tide_bytes_equal(tide_buffer_bytes(&whole->wire), tide_buffer_bytes(&apart->wire)));
    g_assert_true(tide_bytes_equal(tide_buffer_bytes(&whole->sources), tide_buffer_bytes(&apart->sources)));
  }
  g_assert_true(whole == NULL && apart == NULL);
}

static void
free_batches(TideBatch *first)
{
  for (TideBatch *next; first != NULL; first = next) {
    next = first->next;
    tide_budget_charge(&budget, -first->charged_bytes);
    tide_batch_free(first);
  }
}

static void
twins_seal(Twins *twins, TideSealRequest seal)
{
  TideBatch *whole = tide_row_buffer_seal(&twins->whole, &seal);
  TideBatch *apart = tide_row_buffer_seal(&twins->apart, &seal);
  assert_same_batches(whole, apart);
  free_batches(whole);
  free_batches(apart);
  g_assert_cmpuint(twins->whole.n_rows, ==, twins->apart.n_rows);
}

/* ---- one thing at a time ---- */

static const char *const ones[] = {"1", "1", "1", "1", "1", "1"};
static const char *const others[] = {"1", "other", "1", "1", "1", "1"};
static const char *const longer[] = {
    "a value that is longer by far than what was there before it came, and no room for it", "1", "1", "1", "1", "1"};

static void
test_newer_replaces_older_whole(void)
{
  g_auto(Twins) twins;
  twins_init(&twins, TIDE_WIRE_BINARY, TIDE_MERGE_NEWEST, NULL);
  twins_append(&twins, "x", 0, ones, 10, 0);
  twins_append(&twins, "x", 0, others, 11, 0);
  twins_append(&twins, "x", 0, longer, 12, 0);
  twins_append(&twins, "x", 0, ones, 12, 0); /* equal times: the later, and it is counted */
  g_assert_cmpuint(twins.n_runs, ==, 3);
  twins_append(&twins, "y", 0, ones, 12, 0);
  twins_append(&twins, "y", 0, ones, 12, 0);   /* a repeat */
  twins_append(&twins, "y", 0, longer, 11, 0); /* older */
  twins_append(&twins, "y", 1, longer, 12, 0); /* the same columns in another order, partly conflicting */
  twins_append(&twins, "z", 2, ones, 12, 0);
  twins_append(&twins, "z", 3, others, 13, 0);
  twins_append(&twins, "z", 4, others, 13, 0);
  twins_append(&twins, "z", 5, longer, 14, 0);
  twins_seal(&twins, request(1000, 1 << 20));
}

static void
test_runs_of_other_times_stand_beside_each_other(void)
{
  g_auto(Twins) twins;
  twins_init(&twins, TIDE_WIRE_COMPACT, TIDE_MERGE_ALL, NULL);
  for (gint64 time = 10; time < 15; time++)
    twins_append(&twins, "x", (guint)time % G_N_ELEMENTS(lists), ones, time, 0);
  g_assert_cmpuint(twins.n_runs, ==, 5);
  g_assert_cmpuint(twins.whole.n_cells, ==, 5);
  twins_append(&twins, "x", 5, others, 12, 0); /* meets one of them */
  twins_seal(&twins, request(1000, 1 << 20));
}

/* ---- random rows ---- */

static void
append_random_row(Twins *twins, gboolean deletes)
{
  char key[8], values[N_COLUMNS][400];
  const char *given[N_COLUMNS];
  g_snprintf(key, sizeof key, "k%d", g_test_rand_int_range(0, N_KEYS));
  for (guint i = 0; i < N_COLUMNS; i++) {
    gsize len = (gsize)g_test_rand_int_range(0, g_test_rand_int_range(0, 20) == 0 ? 300 : 4);
    memset(values[i], 'a' + g_test_rand_int_range(0, 2), len);
    values[i][len] = '\0';
    given[i] = values[i];
  }
  gint64 timestamp_ms = (deletes ? 100 : -6) + g_test_rand_int_range(0, 12); /* a put has no time below 0 */
  /* mostly one list, as of one producer */
  guint list = g_test_rand_int_range(0, 4) > 0 ? 0 : (guint)g_test_rand_int_range(0, G_N_ELEMENTS(lists));
  gint64 delete_to_ms = deletes && g_test_rand_int_range(0, 3) == 0 ? 98 + g_test_rand_int_range(0, 14) : 0;
  twins_append(twins, key, list, given, timestamp_ms, delete_to_ms);
}

static void
check_random_rows(TideWireProtocol protocol, TideMergeRule rule, gboolean deletes)
{
  g_autoptr(GPtrArray) families = one_family();
  guint64 n_runs = 0;
  for (guint round = 0; round < 200; round++) {
    g_auto(Twins) twins;
    twins_init(&twins, protocol, rule, families);
    for (guint i = 0; i < 60; i++) {
      append_random_row(&twins, deletes);
      if (g_test_rand_int_range(0, 20) != 0)
        continue;
      twins_seal(&twins, request((guint32)g_test_rand_int_range(1, 6), 4000));
    }
    twins_seal(&twins, request(1000, 1 << 20));
    n_runs += twins.n_runs;
  }
  g_assert_cmpuint(n_runs, >, 1000);
}

static void
test_random_rows_come_out_the_same(void)
{
  static const TideMergeRule rules[] = {TIDE_MERGE_ALL, TIDE_MERGE_NEWEST};
  for (gsize i = 0; i < G_N_ELEMENTS(rules); i++) {
    check_random_rows(TIDE_WIRE_BINARY, rules[i], FALSE);
    check_random_rows(TIDE_WIRE_COMPACT, rules[i], FALSE);
    check_random_rows(TIDE_WIRE_BINARY, rules[i], TRUE);
  }
}

/* Replaced runs are squeezed out, and what is left stays what it was. */
static void
test_runs_that_grow_are_squeezed_out(void)
{
  g_auto(Twins) twins;
  twins_init(&twins, TIDE_WIRE_BINARY, TIDE_MERGE_NEWEST, NULL);
  gsize largest = 0;
  for (guint i = 0; i < 500; i++) {
    g_autofree char *value = g_strnfill(80 * i + 1, 'v');
    const char *const values[] = {value, value, value};
    twins_append(&twins, i % 7 == 0 ? "x" : "y", 0, values, i, 0);
    largest = MAX(largest, twins.whole.bytes.len);
  }
  g_assert_cmpuint(largest, <, 1024 * 1024); /* all that ever stood there were twice as much */
  twins_seal(&twins, request(1000, 1 << 20));
}

static void
test_solo_rows_have_no_runs(void)
{
  g_auto(Twins) twins;
  twins_init(&twins, TIDE_WIRE_BINARY, TIDE_MERGE_NONE, NULL);
  twins_append(&twins, "x", 0, ones, 10, 0);
  twins_append(&twins, "x", 0, others, 10, 0);
  twins_append(&twins, "x", 2, ones, 11, 0);
  g_assert_cmpuint(twins.n_runs, ==, 0);
  twins_seal(&twins, request(1000, 1 << 20));
  twins_seal(&twins, request(1000, 1 << 20));
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  tide_budget_init(&budget, 1 << 30);
  g_test_add_func("/row-buffer-runs/newer-replaces-older-whole", test_newer_replaces_older_whole);
  g_test_add_func("/row-buffer-runs/runs-of-other-times-stand-beside-each-other",
                  test_runs_of_other_times_stand_beside_each_other);
  g_test_add_func("/row-buffer-runs/random-rows-come-out-the-same", test_random_rows_come_out_the_same);
  g_test_add_func("/row-buffer-runs/runs-that-grow-are-squeezed-out", test_runs_that_grow_are_squeezed_out);
  g_test_add_func("/row-buffer-runs/solo-rows-have-no-runs", test_solo_rows_have_no_runs);
  return g_test_run();
}
