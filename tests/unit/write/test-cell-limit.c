/* Which rows are kept apart because of what HBase has said of others. */
#include "write/cell_limit.h"

#include "thrift/wire/put_encoder.h"
#include "util/clock.h"

#define LIMIT 1000u
#define OVERHEAD 24u
#define HOUR_US (3600 * TIDE_US_PER_S)
#define SAYS_LIMIT                                                                                                     \
  "DoNotRetryIOException: Cell[k/M:v/1/Put/vlen=2000/seqid=0] with size 2030 exceeds limit of 1000 bytes"

/* Rows of these sizes; the first is refused. @text: NULL: it is not */
static TideBatch *
make_batch(const guint32 *sizes, guint32 n_rows, const char *text)
{
  TideBatch *batch = tide_batch_new();
  for (guint32 i = 0; i < n_rows; i++) {
    TideBatchRow row = {.start_bytes = (guint32)batch->wire.len};
    tide_buffer_append(&batch->rows, &row, sizeof row);
    tide_buffer_reserve(&batch->wire, sizes[i]);
    batch->wire.len += sizes[i];
  }
  batch->n_rows = n_rows;
  if (text != NULL)
    tide_batch_add_poison(batch, 0, 1, text);
  return batch;
}

static void
learn(TideCellLimit *limit, TideBatch *batch, gint64 now_us)
{
  tide_cell_limit_learn(limit, batch, now_us);
  tide_batch_free(batch);
}

/* Whether a row is kept apart that has a cell of @cell_bytes, beside a small one. */
static gboolean
is_apart(TideCellLimit *limit, gsize cell_bytes, gint64 now_us)
{
  static const char value[5000];
  TideColumn column = {.family = TIDE_BYTES_LITERAL("M"), .qualifier = TIDE_BYTES_LITERAL("v")};
  TideCell cells[] = {{.column = &column, .value = {(const guint8 *)value, 1}},
                      {.column = &column, .value = {(const guint8 *)value, cell_bytes - OVERHEAD - 2 - 3}}};
  TideRow row = {.key = TIDE_BYTES_LITERAL("key"), .cells = cells, .n_cells = G_N_ELEMENTS(cells)};
  return tide_cell_limit_is_exceeded(limit, &row, now_us);
}

static void
test_limit_is_told_by_a_refusal(void)
{
  TideCellLimit limit = {0};
  static const guint32 sizes[] = {2100, 80};
  learn(&limit, make_batch(sizes, 2, NULL), 1);
  learn(&limit, make_batch(sizes, 2, "Timestamp for KV out of range k/M:v/1/Put"), 1);
  g_assert_false(is_apart(&limit, LIMIT + 1, 2));
  learn(&limit, make_batch(sizes, 2, SAYS_LIMIT), 1);
  g_assert_false(is_apart(&limit, LIMIT, 2));
  g_assert_true(is_apart(&limit, LIMIT + 1, 2));
}

/* It is nothing that the refused row could have exceeded: said of another row, or quoted in a name. */
static void
test_limit_above_the_refused_row_is_none(void)
{
  TideCellLimit limit = {0};
  static const guint32 sizes[] = {1000, 2100};
  learn(&limit, make_batch(sizes, 2, SAYS_LIMIT), 1);
  g_assert_false(is_apart(&limit, LIMIT + 1, 2));
}

static void
test_limit_is_believed_for_an_hour(void)
{
  TideCellLimit limit = {0};
  static const guint32 sizes[] = {2100};
  learn(&limit, make_batch(sizes, 1, SAYS_LIMIT), 1);
  learn(&limit, make_batch(sizes, 1, SAYS_LIMIT), HOUR_US);
  g_assert_true(is_apart(&limit, 2000, 2 * HOUR_US - 1));
  g_assert_cmpuint(atomic_load(&limit.known), !=, 0);
  g_assert_false(is_apart(&limit, 2000, 2 * HOUR_US));
  g_assert_cmpuint(atomic_load(&limit.known), ==, 0); /* what is looked at for each row costs nothing any more */
  learn(&limit, make_batch(sizes, 1, SAYS_LIMIT), 2 * HOUR_US);
  g_assert_true(is_apart(&limit, 2000, 2 * HOUR_US));
}

/* The operator has raised it, or the table has another: what is taken shows that, until something is refused again. */
static void
test_row_that_is_taken_ends_it_for_its_size(void)
{
  TideCellLimit limit = {0};
  static const guint32 sizes[] = {2100, 1500, 1800};
  learn(&limit, make_batch(sizes, 1, SAYS_LIMIT), 1);
  TideBatch *batch = make_batch(sizes, 3, NULL);
  learn(&limit, batch, 1);
  g_assert_true(is_apart(&limit, LIMIT + 1, 2)); /* it was not sent apart */
  batch = make_batch(sizes, 3, NULL);
  batch->is_apart = TRUE;
  tide_batch_cancel(batch); /* nobody knows whether it was sent */
  learn(&limit, batch, 1);
  g_assert_true(is_apart(&limit, LIMIT + 1, 2));
  batch = make_batch(sizes, 2, SAYS_LIMIT);
  batch->is_apart = TRUE;
  learn(&limit, batch, 1);
  g_assert_false(is_apart(&limit, 1500 + OVERHEAD, 2));
  g_assert_true(is_apart(&limit, 1501 + OVERHEAD, 2));
  batch = make_batch(&sizes[1], 1, NULL);
  batch->is_apart = TRUE;
  learn(&limit, batch, 1);
  static const guint32 smaller[] = {1100}; /* sealed when less was taken */
  batch = make_batch(smaller, 1, NULL);
  batch->is_apart = TRUE;
  learn(&limit, batch, 1);
  g_assert_false(is_apart(&limit, 1500 + OVERHEAD, 2));
  learn(&limit, make_batch(sizes, 1, SAYS_LIMIT), 2);
  g_assert_true(is_apart(&limit, 1500, 2));
}

/* Nor is anything learned of it where nothing is known, or for longer than what was said is believed. */
static void
test_row_that_is_taken_tells_no_limit(void)
{
  TideCellLimit limit = {0};
  static const guint32 sizes[] = {2100};
  TideBatch *batch = make_batch(sizes, 1, NULL);
  batch->is_apart = TRUE;
  tide_cell_limit_learn(&limit, batch, 1);
  g_assert_false(is_apart(&limit, 3000, 2));
  learn(&limit, make_batch(sizes, 1, SAYS_LIMIT), 1);
  learn(&limit, batch, HOUR_US / 2);
  g_assert_true(is_apart(&limit, 3000, HOUR_US - 1));
  g_assert_false(is_apart(&limit, 3000, HOUR_US));
}

static gpointer
learn_and_ask(gpointer data)
{
  static const guint32 sizes[] = {2100, 1500};
  for (gint64 i = 0; i < 1000; i++) {
    TideBatch *taken = make_batch(sizes, 2, NULL);
    taken->is_apart = TRUE;
    learn(data, make_batch(sizes, 1, SAYS_LIMIT), i * TIDE_US_PER_S);
    learn(data, taken, i);
    (void)is_apart(data, 2000, i % 2 == 0 ? i : 2 * HOUR_US);
  }
  return NULL;
}

/* Consumers share it without a lock. Whatever they meet of each other, it is a size that was said or taken, and ends.
 */
static void
test_limit_is_shared_by_threads(void)
{
  TideCellLimit limit = {0};
  GThread *threads[4];
  for (guint i = 0; i < G_N_ELEMENTS(threads); i++)
    threads[i] = g_thread_new("learner", learn_and_ask, &limit);
  for (guint i = 0; i < G_N_ELEMENTS(threads); i++)
    g_thread_join(threads[i]);
  guint64 bytes = atomic_load(&limit.known) >> 32;
  g_assert_true(bytes == 0 || bytes == LIMIT || bytes == 2100 + OVERHEAD || bytes == 1500 + OVERHEAD);
  g_assert_false(is_apart(&limit, 4000, 2 * HOUR_US));
  g_assert_cmpuint(atomic_load(&limit.known), ==, 0);
}

/* Where all have one size, each would be sent alone for ever otherwise. */
static void
test_row_that_is_taken_is_of_its_own_size(gconstpointer data)
{
  TideWireProtocol protocol = (TideWireProtocol)GPOINTER_TO_UINT(data);
  static const char value[2000];
  TideCellLimit limit = {0};
  static const guint32 sizes[] = {2100};
  learn(&limit, make_batch(sizes, 1, SAYS_LIMIT), 1);
  g_auto(TideBuffer) prefix = {0};
  TideBatch *batch = tide_batch_new();
  TideBatchRow at = {0};
  TideColumn column = {.family = TIDE_BYTES_LITERAL("M"), .qualifier = TIDE_BYTES_LITERAL("v")};
  TideCell cell = {.column = &column, .value = {(const guint8 *)value, sizeof value}, .timestamp_ms = 1};
  TideRow row = {.key = TIDE_BYTES_LITERAL("key"), .cells = &cell, .n_cells = 1};
  tide_column_prefix_append(protocol, &prefix, column.family, column.qualifier);
  tide_put_head_append(protocol, &batch->wire, row.key, 1);
  tide_cell_append(protocol, &batch->wire, tide_buffer_bytes(&prefix), cell.value, cell.timestamp_ms);
  tide_put_tail_append(protocol, &batch->wire, TIDE_PUT_NO_TIME, 0);
  tide_buffer_append(&batch->rows, &at, sizeof at);
  batch->n_rows = 1;
  batch->is_apart = TRUE;
  g_assert_true(tide_cell_limit_is_exceeded(&limit, &row, 1));
  learn(&limit, batch, 1);
  g_assert_false(tide_cell_limit_is_exceeded(&limit, &row, 1));
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/cell-limit/is-told-by-a-refusal", test_limit_is_told_by_a_refusal);
  g_test_add_func("/cell-limit/above-the-refused-row-is-none", test_limit_above_the_refused_row_is_none);
  g_test_add_func("/cell-limit/is-believed-for-an-hour", test_limit_is_believed_for_an_hour);
  g_test_add_func("/cell-limit/row-that-is-taken-ends-it-for-its-size", test_row_that_is_taken_ends_it_for_its_size);
  g_test_add_func("/cell-limit/row-that-is-taken-tells-no-limit", test_row_that_is_taken_tells_no_limit);
  g_test_add_func("/cell-limit/is-shared-by-threads", test_limit_is_shared_by_threads);
  g_test_add_data_func("/cell-limit/row-that-is-taken-is-of-its-own-size/binary", GUINT_TO_POINTER(TIDE_WIRE_BINARY),
                       test_row_that_is_taken_is_of_its_own_size);
  g_test_add_data_func("/cell-limit/row-that-is-taken-is-of-its-own-size/compact", GUINT_TO_POINTER(TIDE_WIRE_COMPACT),
                       test_row_that_is_taken_is_of_its_own_size);
  return g_test_run();
}
