/* Pages over one key range, forwards and backwards, against a table held in memory. */
#include "commands/read/range_reader.h"
#include "unit/assert_bytes.h"
#include "unit/test_case.h"
#include "util/error.h"

#include <stdio.h>

/* A table of rows in the order of keys, each with one cell. */
typedef struct FakeTable {
  GPtrArray *keys; /* (element-type GBytes), sorted */
  guint n_calls;
  gint64 most_rows_asked; /* in one call */
  guint fail_from;        /* calls from this number, counted from 1, ... */
  guint n_failures;       /* ... and so many of them fail, half way through their rows */
  TideErrorCode fault;
} FakeTable;

static TideBytes
key_at(const FakeTable *table, guint i)
{
  gsize len = 0;
  const void *data = g_bytes_get_data(table->keys->pdata[i], &len);
  return tide_bytes(data, len);
}

/* As HBase scans: start inclusive, stop exclusive, reversed from the end; limited. */
static gboolean
is_in_request(const TideScanRequest *request, TideBytes key)
{
  int from_start = tide_bytes_compare(key, request->start_row);
  int to_stop = tide_bytes_compare(key, request->stop_row);
  if (request->reversed)
    return (request->start_row.len == 0 || from_start <= 0) && (request->stop_row.len == 0 || to_stop > 0);
  return from_start >= 0 && (request->stop_row.len == 0 || to_stop < 0);
}

static gboolean
scan_fake(const TideScanRequest *request, TideRowFunc func, gpointer func_data, gpointer data, GError **error)
{
  FakeTable *table = data;
  guint call = ++table->n_calls;
  table->most_rows_asked = MAX(table->most_rows_asked, request->limit_rows);
  gboolean fails = table->fail_from > 0 && call >= table->fail_from && call < table->fail_from + table->n_failures;
  gint64 left = fails ? request->limit_rows / 2 : request->limit_rows;
  for (guint i = 0; i < table->keys->len && left > 0; i++) {
    TideBytes key = key_at(table, request->reversed ? table->keys->len - 1 - i : i);
    if (!is_in_request(request, key))
      continue;
    /* The bytes are the reply's: gone after the callback. */
    g_autofree guint8 *copy = g_memdup2(key.data, key.len);
    TideResultCell cell = {
        .family = TIDE_BYTES_LITERAL("M"), .qualifier = TIDE_BYTES_LITERAL("Q"), .value = tide_bytes(copy, key.len)};
    TideResultRow row = {.row = tide_bytes(copy, key.len), .cells = &cell, .n_cells = 1};
    g_assert_true(func(&row, func_data));
    memset(copy, 0xee, key.len);
    left--;
  }
  if (fails)
    g_set_error(error, TIDE_ERROR, (int)table->fault, "as told");
  return !fails;
}

static int
compare_keys(gconstpointer a, gconstpointer b)
{
  return g_bytes_compare(*(GBytes *const *)a, *(GBytes *const *)b);
}

static void
fake_table_add(FakeTable *table, TideBytes key)
{
  g_ptr_array_add(table->keys, g_bytes_new(key.data, key.len));
}

static void
fake_table_clear(FakeTable *table)
{
  g_ptr_array_unref(table->keys);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(FakeTable, fake_table_clear)

/* With so many rows, whose keys are numbers. */
static FakeTable
table_of(int n)
{
  FakeTable table = {.keys = g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref)};
  for (int i = 0; i < n; i++) {
    char key[8];
    int len = g_snprintf(key, sizeof key, "%04d", i);
    fake_table_add(&table, tide_bytes(key, (gsize)len));
  }
  return table;
}

static TideKeyRange
range_of(TideBytes start, TideBytes stop)
{
  TideKeyRange range = {0};
  tide_buffer_append_bytes(&range.start, start);
  tide_buffer_append_bytes(&range.stop, stop);
  return range;
}

static TideRangeReader *
reader_over(FakeTable *table, TideBytes start, TideBytes stop, gboolean reversed, guint32 page_rows)
{
  TideKeyRange range = range_of(start, stop);
  TideRangeReaderOptions options = {
      .scan = scan_fake, .scan_data = table, .reversed = reversed, .page_rows = page_rows};
  TideRangeReader *reader = tide_range_reader_new(&range, &options);
  tide_key_range_clear(&range);
  return reader;
}

/* Reads all and checks that it is exactly what @table has in [@start, @stop), in the order asked for. */
static void
assert_reads(FakeTable *table, TideBytes start, TideBytes stop, gboolean reversed, guint32 page_rows)
{
  g_autoptr(TideRangeReader) reader = reader_over(table, start, stop, reversed, page_rows);
  g_autoptr(GError) error = NULL;
  for (guint i = 0; i < table->keys->len; i++) {
    TideBytes key = key_at(table, reversed ? table->keys->len - 1 - i : i);
    if (tide_bytes_compare(key, start) < 0 || (stop.len > 0 && tide_bytes_compare(key, stop) >= 0))
      continue;
    const TideResultRow *row = NULL;
    g_assert_true(tide_range_reader_peek(reader, &row, &error));
    g_assert_nonnull(row);
    assert_bytes_equal(tide_bytes(row->row.data, row->row.len), tide_bytes(key.data, key.len));
    g_assert_cmpuint(row->n_cells, ==, 1);
    assert_bytes_equal(tide_bytes(row->cells[0].value.data, row->cells[0].value.len), tide_bytes(key.data, key.len));
    tide_range_reader_pass(reader);
  }
  const TideResultRow *row = NULL;
  g_assert_true(tide_range_reader_peek(reader, &row, &error));
  g_assert_null(row);
}

/* A page that failed half way is asked for again, from its beginning: who goes on after an error misses and repeats no
 * row. */
TEST("/range-reader/going-on-after-an-error-loses-and-repeats-no-row")
{
  for (int reversed = 0; reversed < 2; reversed++) {
    g_auto(FakeTable) table = table_of(30);
    table.fail_from = 2;
    table.n_failures = 5;
    table.fault = TIDE_ERROR_CONNECTION_LOST;
    g_autoptr(TideRangeReader) reader = reader_over(&table, TIDE_BYTES_EMPTY, TIDE_BYTES_EMPTY, reversed, 10);
    for (int i = 0, n_errors = 0; i < 30;) {
      const TideResultRow *row = NULL;
      g_autoptr(GError) error = NULL;
      if (!tide_range_reader_peek(reader, &row, &error)) {
        g_assert_error(error, TIDE_ERROR, TIDE_ERROR_CONNECTION_LOST);
        g_assert_cmpint(++n_errors, <=, 3);
        continue;
      }
      g_assert_nonnull(row);
      assert_bytes_equal(row->row, key_at(&table, (guint)(reversed ? 29 - i : i)));
      tide_range_reader_pass(reader);
      i++;
    }
  }
}

/* Keys of few different bytes, among them the ends 0x00 and 0xff, so that bounds meet keys and prefixes often. */
static gsize
random_key(guint8 *key)
{
  static const guint8 bytes[] = {0x00, 0x01, 'a', 'b', 0xfe, 0xff};
  gsize len = (gsize)g_test_rand_int_range(1, 5);
  for (gsize i = 0; i < len; i++)
    key[i] = bytes[g_test_rand_int_range(0, G_N_ELEMENTS(bytes))];
  return len;
}

TEST("/range-reader/every-row-once-both-ways-for-any-page-size")
{
  for (int round = 0; round < 3000; round++) {
    g_auto(FakeTable) table = table_of(0);
    int n_rows = g_test_rand_int_range(0, 40);
    for (int i = 0; i < n_rows; i++) {
      guint8 key[4];
      gsize len = random_key(key);
      fake_table_add(&table, tide_bytes(key, len));
    }
    g_ptr_array_sort(table.keys, compare_keys);
    for (guint i = table.keys->len; i-- > 1;) {
      if (g_bytes_equal(table.keys->pdata[i], table.keys->pdata[i - 1]))
        g_ptr_array_remove_index(table.keys, i);
    }
    guint8 start[4], stop[4];
    gsize start_len = g_test_rand_bit() ? random_key(start) : 0;
    gsize stop_len = g_test_rand_bit() ? random_key(stop) : 0;
    guint32 page_rows = (guint32)g_test_rand_int_range(1, 8);
    assert_reads(&table, tide_bytes(start, start_len), tide_bytes(stop, stop_len), FALSE, page_rows);
    assert_reads(&table, tide_bytes(start, start_len), tide_bytes(stop, stop_len), TRUE, page_rows);
  }
}

TEST("/range-reader/a-reversed-stop-lies-before-the-start")
{
  static const struct {
    TideBytes start;
    TideBytes before;
  } cases[] = {
      {{NULL, 0}, {NULL, 0}},
      {{(const guint8 *)"a\0", 2}, {(const guint8 *)"a", 1}},
      {{(const guint8 *)"b", 1}, {(const guint8 *)"a\xff\xff\xff\xff\xff\xff\xff\xff\xff", 10}},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_auto(TideBuffer) out = {0};
    tide_row_key_append_before(cases[i].start, &out);
    assert_bytes_equal(tide_bytes(out.data, out.len), tide_bytes(cases[i].before.data, cases[i].before.len));
  }
}

TEST("/range-reader/a-prefix-ends-before-its-successor")
{
  static const struct {
    TideBytes prefix;
    TideBytes stop;
  } cases[] = {
      {{(const guint8 *)"server1", 7}, {(const guint8 *)"server2", 7}},
      {{(const guint8 *)"a\xff\xff", 3}, {(const guint8 *)"b", 1}},
      {{(const guint8 *)"\xff\xff", 2}, {NULL, 0}},
      {{NULL, 0}, {NULL, 0}},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    TideKeyRange range = {0};
    tide_key_range_set_prefix(&range, cases[i].prefix);
    assert_bytes_equal(tide_buffer_bytes(&range.start), cases[i].prefix);
    assert_bytes_equal(tide_buffer_bytes(&range.stop), cases[i].stop);
    tide_key_range_clear(&range);
  }
}

TEST("/range-reader/a-lost-connection-loses-and-repeats-no-row")
{
  static const TideErrorCode faults[] = {TIDE_ERROR_CONNECTION_LOST, TIDE_ERROR_PROTOCOL};
  for (guint i = 0; i < 2 * G_N_ELEMENTS(faults); i++) {
    g_auto(FakeTable) table = table_of(30);
    table.fail_from = 2;
    table.n_failures = 1;
    table.fault = faults[i / 2];
    assert_reads(&table, TIDE_BYTES_EMPTY, TIDE_BYTES_EMPTY, i % 2, 10);
  }
}

/* The page of which no reply could be read is asked for in few rows: it may have been too long for one. */
TEST("/range-reader/asks-for-few-rows-where-no-reply-could-be-read")
{
  g_auto(FakeTable) table = table_of(300);
  table.fail_from = 1;
  table.n_failures = 1;
  table.fault = TIDE_ERROR_PROTOCOL;
  g_autoptr(TideRangeReader) reader = reader_over(&table, TIDE_BYTES_EMPTY, TIDE_BYTES_EMPTY, FALSE, 200);
  for (guint n_rows = 0; n_rows < 300; n_rows++) {
    const TideResultRow *row = NULL;
    g_assert_true(tide_range_reader_peek(reader, &row, NULL));
    g_assert_nonnull(row);
    tide_range_reader_pass(reader);
    g_assert_cmpuint(table.n_calls, ==, n_rows < 16 ? 2 : n_rows < 216 ? 3 : 4);
  }
  g_assert_cmpint(table.most_rows_asked, ==, 200);
}

TEST("/range-reader/other-errors-are-not-tried-again")
{
  static const struct {
    TideErrorCode fault;
    guint n_failures;
  } cases[] = {{TIDE_ERROR_CONNECTION_LOST, 2}, {TIDE_ERROR_TIMEOUT, 1}, {TIDE_ERROR_GATEWAY, 1}};
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_auto(FakeTable) table = table_of(30);
    table.fail_from = 1;
    table.n_failures = cases[i].n_failures;
    table.fault = cases[i].fault;
    g_autoptr(TideRangeReader) reader = reader_over(&table, TIDE_BYTES_EMPTY, TIDE_BYTES_EMPTY, FALSE, 10);
    const TideResultRow *row = NULL;
    g_autoptr(GError) error = NULL;
    g_assert_false(tide_range_reader_peek(reader, &row, &error));
    g_assert_error(error, TIDE_ERROR, (int)cases[i].fault);
    g_assert_cmpuint(table.n_calls, ==, cases[i].n_failures);
  }
}

/* Whoever reads takes seven rows, in pages of ten or of three: the pages never ask for more than are left to take; one
 * more where a reversed request goes on at a row it has shown. */
TEST("/range-reader/no-page-asks-for-more-than-is-still-wanted")
{
  static const guint32 page_sizes[] = {10, 3};
  for (gsize i = 0; i < G_N_ELEMENTS(page_sizes); i++) {
    for (int reversed = 0; reversed < 2; reversed++) {
      g_auto(FakeTable) table = table_of(30);
      guint64 rows_wanted = 7;
      TideKeyRange range = {0};
      TideRangeReaderOptions options = {.scan = scan_fake,
                                        .scan_data = &table,
                                        .reversed = reversed,
                                        .page_rows = page_sizes[i],
                                        .rows_wanted = &rows_wanted};
      g_autoptr(TideRangeReader) reader = tide_range_reader_new(&range, &options);
      for (; rows_wanted > 0; rows_wanted--) {
        const TideResultRow *row = NULL;
        table.most_rows_asked = 0;
        g_assert_true(tide_range_reader_peek(reader, &row, NULL));
        g_assert_nonnull(row);
        gint64 more = reversed && rows_wanted < 7 ? 1 : 0;
        g_assert_cmpint(table.most_rows_asked, <=, (gint64)rows_wanted + more);
        tide_range_reader_pass(reader);
      }
      g_assert_cmpuint(table.n_calls, ==, page_sizes[i] == 10 ? 1 : 3);
    }
  }
}

/* Rows of 4 bytes of key and value, a family and a qualifier: few of them fit a page of 1,000 bytes. */
TEST("/range-reader/pages-of-large-rows-are-of-fewer")
{
  g_auto(FakeTable) table = table_of(300);
  TideKeyRange range = {0};
  TideRangeReaderOptions options = {.scan = scan_fake, .scan_data = &table, .page_rows = 200, .page_bytes = 1000};
  g_autoptr(TideRangeReader) reader = tide_range_reader_new(&range, &options);
  guint n_rows = 0;
  for (;; n_rows++) {
    const TideResultRow *row = NULL;
    g_assert_true(tide_range_reader_peek(reader, &row, NULL));
    /* The first page is asked for before the rows' size is known. */
    g_assert_cmpuint(tide_range_reader_buffered_bytes(reader), <=, n_rows < 16 ? 2000 : 1000);
    if (row == NULL)
      break;
    tide_range_reader_pass(reader);
  }
  g_assert_cmpuint(n_rows, ==, 300);
  g_assert_cmpint(table.most_rows_asked, ==, 16);
}

/* Small rows come two thousand at a time, rows of two times 6,000 bytes five hundred: they would else be 24 MB. */
TEST("/range-reader/long-pages-of-small-rows")
{
  static const struct {
    gsize key_bytes;
    gint64 most_rows;
  } cases[] = {{4, 2000}, {6000, 500}};
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_auto(FakeTable) table = table_of(0);
    for (int n = 0; n < 2100; n++) {
      g_autofree char *key = g_strdup_printf("%0*d", (int)cases[i].key_bytes, n);
      fake_table_add(&table, tide_bytes_of_string(key));
    }
    TideKeyRange range = {0};
    TideRangeReaderOptions options = {
        .scan = scan_fake, .scan_data = &table, .page_rows = 2000, .page_bytes = 64u << 20};
    g_autoptr(TideRangeReader) reader = tide_range_reader_new(&range, &options);
    const TideResultRow *row = NULL;
    for (; tide_range_reader_peek(reader, &row, NULL) && row != NULL; tide_range_reader_pass(reader))
      ;
    g_assert_cmpint(table.most_rows_asked, ==, cases[i].most_rows);
  }
}

/* A table of 100 rows, of which scans with a filter fail as told. */
typedef struct Filtered {
  FakeTable table;
  int fault; /* TideErrorCode; -1: none */
  guint n_filtered;
  guint n_plain;
  gint64 most_rows;
} Filtered;

static gboolean
scan_filtered(const TideScanRequest *request, TideRowFunc func, gpointer func_data, gpointer data, GError **error)
{
  Filtered *filtered = data;
  filtered->most_rows = MAX(filtered->most_rows, request->limit_rows);
  filtered->n_plain += request->filter.len == 0 ? 1 : 0;
  filtered->n_filtered += request->filter.len > 0 ? 1 : 0;
  if (request->filter.len == 0 || filtered->fault < 0)
    return scan_fake(request, func, func_data, &filtered->table, error);
  g_set_error(error, TIDE_ERROR, filtered->fault, "as told");
  return FALSE;
}

static guint
read_filtered(Filtered *filtered, gboolean *ret_ok)
{
  guint64 rows_wanted = 1;
  TideKeyRange range = {0};
  TideRangeReaderOptions options = {.scan = scan_filtered,
                                    .scan_data = filtered,
                                    .page_rows = 50,
                                    .is_sifted = TRUE,
                                    .filter = TIDE_BYTES_LITERAL("f"),
                                    .rows_wanted = &rows_wanted};
  g_autoptr(TideRangeReader) reader = tide_range_reader_new(&range, &options);
  const TideResultRow *row = NULL;
  guint n_rows = 0;
  for (; (*ret_ok = tide_range_reader_peek(reader, &row, NULL)) && row != NULL; n_rows++)
    tide_range_reader_pass(reader);
  return n_rows;
}

TEST("/range-reader/U1/a-filter-that-fails-is-given-up")
{
  static const struct {
    int fault;
    gboolean ok;
    guint n_filtered;
    guint n_plain;
  } cases[] = {
      {-1, TRUE, 4, 0}, /* pages of 16, 32, 50 and 2 rows */
      {TIDE_ERROR_TIMEOUT, TRUE, 1, 4},
      {TIDE_ERROR_GATEWAY, TRUE, 1, 4},
      {TIDE_ERROR_CONNECTION_LOST, FALSE, 2, 0}, /* says nothing against the filter */
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    Filtered filtered = {.table = table_of(100), .fault = cases[i].fault};
    gboolean ok = FALSE;
    guint n_rows = read_filtered(&filtered, &ok);
    g_assert_cmpint(ok, ==, cases[i].ok);
    g_assert_cmpuint(n_rows, ==, cases[i].ok ? 100 : 0);
    g_assert_cmpuint(filtered.n_filtered, ==, cases[i].n_filtered);
    g_assert_cmpuint(filtered.n_plain, ==, cases[i].n_plain);
    g_assert_cmpint(filtered.most_rows, <=, 50);
    fake_table_clear(&filtered.table);
  }
}
