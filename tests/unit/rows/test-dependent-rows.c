/* Rows kept beside others: what is read back is what was kept, from memory of its own. */
#include "rows/dependent_rows.h"

#include "unit/assert_bytes.h"

#define MAX_CELLS 20

typedef struct Made {
  TideRow row;
  TideSourceRef source;
  guint32 parent;
  TideColumn columns[MAX_CELLS];
  TideCell cells[MAX_CELLS];
} Made;

static guint8 noise[4096];

static TideBytes
random_bytes(GRand *random, int max_len)
{
  gsize len = (gsize)g_rand_int_range(random, 0, max_len + 1);
  return tide_bytes(noise + g_rand_int_range(random, 0, (int)(sizeof noise - len)), len);
}

static void
make(Made *made, GRand *random)
{
  made->parent = g_rand_int(random);
  made->source = (TideSourceRef){g_rand_int(random), g_rand_int(random)};
  made->row = (TideRow){.table_index = 3,
                        .key = random_bytes(random, 40),
                        .cells = made->cells,
                        .n_cells = (guint32)g_rand_int_range(random, 0, MAX_CELLS + 1),
                        .ttl_ms = g_rand_int_range(random, 0, 3),
                        .delete_to_ms = g_rand_int_range(random, 0, 3),
                        .table_name = random_bytes(random, 10),
                        .columns_id = 7,
                        .encoded = TIDE_BYTES_LITERAL("gone with the message"),
                        .follows = 1};
  for (guint32 i = 0; i < made->row.n_cells; i++) {
    made->columns[i] = (TideColumn){.prefix = random_bytes(random, 30), .hash = g_rand_int(random)};
    made->cells[i] = (TideCell){&made->columns[i], random_bytes(random, 300), g_rand_int(random)};
  }
}

static void
assert_same(const TideDependentRow *dependent, const Made *made)
{
  g_assert_cmpuint(dependent->parent, ==, made->parent);
  g_assert_true(memcmp(&dependent->source, &made->source, sizeof made->source) == 0);
  const TideRow *row = &dependent->row;
  g_assert_cmpuint(row->table_index, ==, 3);
  g_assert_cmpuint(row->follows, ==, 0); /* it goes on its own when it is read */
  g_assert_cmpuint(row->columns_id, ==, 0);
  assert_bytes_equal(row->key, made->row.key);
  assert_bytes_equal(row->table_name, made->row.table_name);
  g_assert_cmpint(row->ttl_ms, ==, made->row.ttl_ms);
  g_assert_cmpint(row->delete_to_ms, ==, made->row.delete_to_ms);
  g_assert_cmpuint(row->n_cells, ==, made->row.n_cells);
  for (guint32 i = 0; i < row->n_cells; i++) {
    assert_bytes_equal(row->cells[i].column->prefix, made->columns[i].prefix);
    g_assert_cmpuint(row->cells[i].column->hash, ==, made->columns[i].hash);
    assert_bytes_equal(row->cells[i].value, made->cells[i].value);
    g_assert_cmpint(row->cells[i].timestamp_ms, ==, made->cells[i].timestamp_ms);
  }
}

static void
test_what_is_kept_is_read_back(void)
{
  g_autoptr(GRand) random = g_rand_new_with_seed(1);
  g_auto(TideBuffer) dependents = {0};
  g_auto(TideBuffer) moved = {0};
  g_autofree Made *made = g_new0(Made, 200);
  TideDependentRowReader reader = {0};
  for (gsize i = 0; i < sizeof noise; i++)
    noise[i] = (guint8)g_rand_int(random);
  for (guint i = 0; i < 200; i++) {
    make(&made[i], random);
    tide_dependent_rows_append(&dependents, made[i].parent, &made[i].row, made[i].source);
  }
  TideBytes record;
  gsize offset = 0, n = 0;
  for (; (record = tide_dependent_rows_next_record(&dependents, &offset)).len > 0; n++) {
    g_assert_cmpuint(tide_dependent_row_parent(record), ==, made[n].parent);
    TideDependentRow dependent = tide_dependent_row_read(&reader, record);
    assert_same(&dependent, &made[n]);
    made[n].parent = (guint32)n;
    tide_dependent_rows_append_record(&moved, record, (guint32)n);
  }
  g_assert_cmpuint(n, ==, 200);
  for (offset = n = 0; (record = tide_dependent_rows_next_record(&moved, &offset)).len > 0; n++) {
    TideDependentRow dependent = tide_dependent_row_read(&reader, record);
    assert_same(&dependent, &made[n]);
  }
  g_assert_cmpuint(n, ==, 200);
  tide_dependent_row_reader_clear(&reader);
}

static void
test_an_empty_buffer_has_none(void)
{
  TideBuffer dependents = {0};
  gsize offset = 0;
  g_assert_cmpuint(tide_dependent_rows_next_record(&dependents, &offset).len, ==, 0);
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/dependent-rows/what-is-kept-is-read-back", test_what_is_kept_is_read_back);
  g_test_add_func("/dependent-rows/an-empty-buffer-has-none", test_an_empty_buffer_has_none);
  return g_test_run();
}
