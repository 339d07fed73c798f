/* Scans, page by page, against a scripted gateway: which scanner a page comes from, what is asked ahead, and when a
 * scanner is closed. */
#include "thrift/client/client_call.h"
#include "unit/answering_gateway.h"
#include "unit/assert_bytes.h"

static TideBytes
answer_scan(Gateway *gateway, Oracle *oracle, const char *method, gint32 sequence_id)
{
  if (g_str_equal(method, "closeScanner"))
    return answer_void(gateway, oracle, method, sequence_id);
  ThriftProtocol *to = reply_begin(oracle, method, T_REPLY, sequence_id);
  if (g_str_equal(method, "openScanner")) {
    reply_field(to, T_I32, 0);
    require_written(thrift_protocol_write_i32(to, 42, NULL));
    return reply_end(oracle);
  }
  guint page_rows = gateway->page_rows > 0 ? gateway->page_rows : 2;
  guint32 rows = gateway->pages > 0 ? page_rows : 0;
  reply_field(to, T_LIST, 0);
  require_written(thrift_protocol_write_list_begin(to, T_STRUCT, rows, NULL));
  for (guint32 i = 0; i < rows; i++) {
    g_autofree char *row = g_strdup_printf("r%u", (99 - gateway->pages) * 2 + i);
    HbaseTResult *result = result_new(row);
    result_add_cell(result, "q", "v", 7);
    reply_write_object(to, result);
  }
  gateway->pages -= gateway->pages > 0 ? 1 : 0;
  return reply_end(oracle);
}

static gboolean
count_row(const TideResultRow *row, gpointer data)
{
  guint *left = data;
  g_assert_cmpuint(row->n_cells, ==, 1);
  assert_bytes_equal(row->cells[0].value, TIDE_BYTES_LITERAL("v"));
  return --*left > 0;
}

static void
test_scan(void)
{
  struct {
    guint pages;
    gint64 limit_rows;
    guint stop_after;
    guint64 rows;
    const char *methods;
  } cases[] = {
      {0, 0, 100, 0, "openScanner getScannerRows closeScanner "},
      {2, 0, 100, 4, "openScanner getScannerRows getScannerRows getScannerRows closeScanner "},
      {2, 0, 1, 1, "openScanner getScannerRows closeScanner "},
      {2, 3, 100, 3, "openScanner getScannerRows getScannerRows closeScanner "},
      {9, 2, 100, 2, "openScanner getScannerRows closeScanner "},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    for (gsize m = 0; m < G_N_ELEMENTS(modes); m++) {
      Gateway gateway;
      gateway_start(&gateway, (Gateway){.mode = modes[m], .answer = answer_scan, .pages = cases[i].pages});
      TideScanRequest request = {.limit_rows = cases[i].limit_rows, .caching_rows = 2};
      guint left = cases[i].stop_after;
      guint64 rows = 99;
      g_autoptr(GError) error = NULL;
      g_assert_true(tide_hbase_client_scan(gateway.client, TIDE_BYTES_LITERAL("T"), &request, GENEROUS_MS, count_row,
                                           &left, &rows, &error));
      g_assert_no_error(error);
      g_assert_cmpuint(rows, ==, cases[i].rows);
      gateway_stop(&gateway, cases[i].methods);
    }
  }
}

/* The scanner is lost half way, as after 60 s without a call. */
static TideBytes
answer_scan_refused(Gateway *gateway, Oracle *oracle, const char *method, gint32 sequence_id)
{
  if (!g_str_equal(method, "getScannerRows") || gateway->pages > 0)
    return answer_scan(gateway, oracle, method, sequence_id);
  ThriftProtocol *to = reply_begin(oracle, method, T_REPLY, sequence_id);
  reply_write_exception(to, 2, "Invalid scanner Id", -1);
  return reply_end(oracle);
}

static void
test_scan_errors_close_the_scanner(void)
{
  Gateway gateway;
  gateway_start(&gateway, (Gateway){.mode = modes[1], .answer = answer_scan_refused, .pages = 1});
  TideScanRequest request = {.caching_rows = 2};
  guint left = 100;
  guint64 rows = 99;
  g_autoptr(GError) error = NULL;
  g_assert_false(tide_hbase_client_scan(gateway.client, TIDE_BYTES_LITERAL("T"), &request, GENEROUS_MS, count_row,
                                        &left, &rows, &error));
  g_assert_error(error, TIDE_ERROR, TIDE_ERROR_GATEWAY);
  g_assert_nonnull(strstr(error->message, "Invalid scanner Id"));
  g_assert_cmpuint(rows, ==, 99); /* untouched */
  g_assert_cmpuint(left, ==, 98);
  gateway_stop(&gateway, "openScanner getScannerRows getScannerRows closeScanner ");
}

typedef struct Page {
  guint64 rows;
  TideBuffer *next_start; /* behind the row that came last */
} Page;

static gboolean
take_row(const TideResultRow *row, gpointer data)
{
  Page *page = data;
  g_assert_cmpuint(row->n_cells, ==, 1);
  page->rows++;
  tide_buffer_reset(page->next_start);
  tide_buffer_append_bytes(page->next_start, row->row);
  tide_buffer_append_byte(page->next_start, 0);
  return TRUE;
}

/* Reads @n_pages, every page from where the one before ended, the first from @start; the rows that came. */
static guint64
read_pages(Gateway *gateway, guint n_pages, TideScanRequest *request, TideBuffer *start)
{
  guint64 sum = 0;
  for (guint page = 0; page < n_pages; page++) {
    g_auto(TideBuffer) next_start = {0};
    Page taken = {.next_start = &next_start};
    guint64 rows = 0;
    g_autoptr(GError) error = NULL;
    request->start_row = tide_buffer_bytes(start);
    g_assert_true(tide_hbase_client_scan(gateway->client, TIDE_BYTES_LITERAL("T"), request, GENEROUS_MS, take_row,
                                         &taken, &rows, &error));
    g_assert_no_error(error);
    g_assert_cmpuint(taken.rows, ==, rows);
    sum += rows;
    if (rows > 0) {
      tide_buffer_reset(start);
      tide_buffer_append_bytes(start, tide_buffer_bytes(&next_start));
    }
  }
  return sum;
}

/* Whoever comes back once gets all further pages from one scanner, which is closed at the end. */
static void
test_pages_come_from_one_scanner(void)
{
  for (gsize m = 0; m < G_N_ELEMENTS(modes); m++) {
    Gateway gateway;
    gateway_start(&gateway, (Gateway){.mode = modes[m], .answer = answer_scan, .pages = 9});
    TideScanRequest request = {.limit_rows = 2, .caching_rows = 2};
    g_auto(TideBuffer) start = {0};
    g_assert_cmpuint(read_pages(&gateway, 10, &request, &start), ==, 18);
    gateway_stop(&gateway, "openScanner getScannerRows closeScanner openScanner getScannerRows getScannerRows "
                           "getScannerRows getScannerRows getScannerRows getScannerRows getScannerRows "
                           "getScannerRows getScannerRows closeScanner ");
  }
}

/* Asked for a page of two rows in advance, and then for one row: the other is read again, not left out. */
static void
test_a_smaller_page_leaves_nothing_out(void)
{
  Gateway gateway;
  gateway_start(&gateway, (Gateway){.mode = modes[3], .answer = answer_scan, .pages = 9});
  TideScanRequest request = {.limit_rows = 2, .caching_rows = 2};
  g_auto(TideBuffer) start = {0};
  read_pages(&gateway, 3, &request, &start);
  request.limit_rows = 1;
  g_assert_cmpuint(read_pages(&gateway, 1, &request, &start), ==, 1);
  assert_bytes_equal(tide_buffer_bytes(&start), TIDE_BYTES_LITERAL("r186\0")); /* the first of the fourth page */
  g_assert_cmpuint(read_pages(&gateway, 1, &request, &start), ==, 1);
  tide_hbase_client_free(g_steal_pointer(&gateway.client));
  gateway_stop(&gateway, "openScanner getScannerRows closeScanner openScanner getScannerRows getScannerRows "
                         "getScannerRows closeScanner openScanner getScannerRows getScannerRows closeScanner ");
}

/* A page that comes with fewer rows than were asked for in advance: the rest is asked for, until nothing comes. */
static void
test_a_short_page_is_not_the_end(void)
{
  Gateway gateway;
  gateway_start(&gateway, (Gateway){.mode = modes[2], .answer = answer_scan, .pages = 7, .page_rows = 1});
  TideScanRequest request = {.limit_rows = 2, .caching_rows = 2};
  g_auto(TideBuffer) start = {0};
  g_assert_cmpuint(read_pages(&gateway, 4, &request, &start), ==, 7);
  gateway_stop(&gateway, "openScanner getScannerRows getScannerRows closeScanner openScanner getScannerRows "
                         "getScannerRows getScannerRows getScannerRows getScannerRows getScannerRows closeScanner ");
}

static TideBytes
answer_scan_and_put(Gateway *gateway, Oracle *oracle, const char *method, gint32 sequence_id)
{
  return (g_str_equal(method, "putMultiple") ? answer_void : answer_scan)(gateway, oracle, method, sequence_id);
}

/* As `rollup` does: a page that was asked for in advance would be read in vain, and the put would wait for it. */
static void
test_pages_between_puts_are_not_asked_ahead(void)
{
  Gateway gateway;
  gateway_start(&gateway, (Gateway){.mode = modes[0], .answer = answer_scan_and_put, .pages = 9});
  TideScanRequest request = {.limit_rows = 2, .caching_rows = 2};
  g_auto(TideBuffer) start = {0};
  for (guint page = 0; page < 4; page++) {
    g_autoptr(GError) error = NULL;
    g_assert_cmpuint(read_pages(&gateway, 1, &request, &start), ==, 2);
    g_assert_true(put_one_row(gateway.client, TIDE_WIRE_BINARY, GENEROUS_MS, &error));
    g_assert_no_error(error);
  }
  gateway_stop(&gateway, "openScanner getScannerRows closeScanner putMultiple openScanner getScannerRows putMultiple "
                         "getScannerRows putMultiple getScannerRows putMultiple ");
}

/* Another start, another question: another scanner. One that is left open is closed with the client. */
static void
test_another_page_has_its_own_scanner(void)
{
  Gateway gateway;
  gateway_start(&gateway, (Gateway){.mode = modes[0], .answer = answer_scan, .pages = 9});
  TideScanRequest request = {.limit_rows = 2, .caching_rows = 2};
  g_auto(TideBuffer) start = {0};
  read_pages(&gateway, 3, &request, &start);
  request.min_time_ms = 1;
  request.max_time_ms = 2;
  read_pages(&gateway, 1, &request, &start);
  tide_hbase_client_free(g_steal_pointer(&gateway.client));
  gateway_stop(&gateway, "openScanner getScannerRows closeScanner openScanner getScannerRows getScannerRows "
                         "getScannerRows openScanner getScannerRows closeScanner closeScanner ");
}

/* So many are kept. One more, and that which was used longest ago is closed, not left to the gateway. */
static void
test_a_scanner_that_makes_room_is_closed(void)
{
  Gateway gateway;
  gateway_start(&gateway, (Gateway){.mode = modes[0], .answer = answer_scan, .pages = 20});
  TideScanRequest request = {.limit_rows = 2, .caching_rows = 2};
  g_auto(TideBuffer) start = {0};
  g_autoptr(GString) methods =
      g_string_new("openScanner getScannerRows closeScanner openScanner getScannerRows getScannerRows ");
  read_pages(&gateway, 2, &request, &start);
  request.max_time_ms = 1000;
  for (guint i = 0; i < TIDE_MAX_KEPT_SCANNERS; i++) {
    request.min_time_ms = i + 1;
    read_pages(&gateway, 1, &request, &start);
    g_string_append(methods, "openScanner getScannerRows closeScanner ");
  }
  g_string_append(methods, "closeScanner ");
  gateway_stop(&gateway, methods->str);
}

/* The gateway has dropped the scanner meanwhile, or the connection: the page is read with a new one. */
static TideBytes
answer_scan_expired(Gateway *gateway, Oracle *oracle, const char *method, gint32 sequence_id)
{
  if (!g_str_equal(method, "getScannerRows") || gateway->pages != 6 || gateway->table_exists)
    return answer_scan(gateway, oracle, method, sequence_id);
  gateway->table_exists = TRUE; /* said once */
  ThriftProtocol *to = reply_begin(oracle, method, T_REPLY, sequence_id);
  reply_write_exception(to, 2, "Invalid scanner Id", -1);
  return reply_end(oracle);
}

static void
test_a_scanner_that_is_gone_is_opened_anew(void)
{
  for (gsize m = 0; m < G_N_ELEMENTS(modes); m++) {
    Gateway gateway;
    gateway_start(&gateway, (Gateway){.mode = modes[m], .answer = answer_scan_expired, .pages = 9});
    TideScanRequest request = {.limit_rows = 2, .caching_rows = 2};
    g_auto(TideBuffer) start = {0};
    g_assert_cmpuint(read_pages(&gateway, 5, &request, &start), ==, 10);
    tide_hbase_client_free(g_steal_pointer(&gateway.client));
    gateway_stop(&gateway, "openScanner getScannerRows closeScanner openScanner getScannerRows getScannerRows "
                           "getScannerRows closeScanner openScanner getScannerRows getScannerRows getScannerRows "
                           "closeScanner ");
  }
}

/* A scanner's number means nothing on another connection: another gateway may have given it to somebody else. */
static void
test_a_scanner_does_not_outlive_its_connection(void)
{
  for (gsize m = 0; m < G_N_ELEMENTS(modes); m++) {
    Gateway gateway;
    gateway_start(&gateway, (Gateway){.mode = modes[m], .answer = answer_scan, .pages = 9, .hang_up_after = 6});
    TideScanRequest request = {.limit_rows = 2, .caching_rows = 2};
    g_auto(TideBuffer) start = {0};
    g_assert_cmpuint(read_pages(&gateway, 5, &request, &start), ==, 10);
    tide_hbase_client_free(g_steal_pointer(&gateway.client));
    gateway_stop(&gateway, "openScanner getScannerRows closeScanner openScanner getScannerRows getScannerRows "
                           "openScanner getScannerRows getScannerRows getScannerRows closeScanner ");
  }
}

static TideBytes
answer_get(Gateway *gateway, Oracle *oracle, const char *method, gint32 sequence_id)
{
  ThriftProtocol *to = reply_begin(oracle, method, T_REPLY, sequence_id);
  reply_field(to, T_STRUCT, 0);
  HbaseTResult *result = result_new(gateway->pages > 0 ? "r" : NULL);
  if (gateway->pages > 0)
    result_add_cell(result, "q", "v", 7);
  gateway->pages = 0;
  reply_write_object(to, result);
  return reply_end(oracle);
}

static void
test_get(void)
{
  Gateway gateway;
  gateway_start(&gateway, (Gateway){.mode = modes[3], .answer = answer_get, .pages = 1});
  guint left = 100;
  gboolean found = FALSE;
  g_assert_true(tide_hbase_client_get(gateway.client, TIDE_BYTES_LITERAL("T"), TIDE_BYTES_LITERAL("r"),
                                      in_ms(GENEROUS_MS), count_row, &left, &found, NULL));
  g_assert_true(found);
  g_assert_cmpuint(left, ==, 99);
  g_assert_true(tide_hbase_client_get(gateway.client, TIDE_BYTES_LITERAL("T"), TIDE_BYTES_LITERAL("r"),
                                      in_ms(GENEROUS_MS), count_row, &left, &found, NULL));
  g_assert_false(found);
  g_assert_cmpuint(left, ==, 99);
  gateway_stop(&gateway, "get get ");
}

int
main(int argc, char **argv)
{
  tide_hbase_client_init_types();
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/kept-scanners/scan-pages-limits-and-closes", test_scan);
  g_test_add_func("/kept-scanners/scan-closes-its-scanner-after-an-error", test_scan_errors_close_the_scanner);
  g_test_add_func("/kept-scanners/pages-come-from-one-scanner", test_pages_come_from_one_scanner);
  g_test_add_func("/kept-scanners/a-smaller-page-leaves-nothing-out", test_a_smaller_page_leaves_nothing_out);
  g_test_add_func("/kept-scanners/a-short-page-is-not-the-end", test_a_short_page_is_not_the_end);
  g_test_add_func("/kept-scanners/pages-between-puts-are-not-asked-ahead", test_pages_between_puts_are_not_asked_ahead);
  g_test_add_func("/kept-scanners/another-page-has-its-own-scanner", test_another_page_has_its_own_scanner);
  g_test_add_func("/kept-scanners/a-scanner-that-makes-room-is-closed", test_a_scanner_that_makes_room_is_closed);
  g_test_add_func("/kept-scanners/a-scanner-that-is-gone-is-opened-anew", test_a_scanner_that_is_gone_is_opened_anew);
  g_test_add_func("/kept-scanners/a-scanner-does-not-outlive-its-connection",
                  test_a_scanner_does_not_outlive_its_connection);
  g_test_add_func("/kept-scanners/get-tells-whether-the-row-exists", test_get);
  return g_test_run();
}
