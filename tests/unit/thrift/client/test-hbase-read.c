/* Reading: from a gateway that lies, with rows that were not asked for and scans that do not move on, and page by page.
 */
#include "thrift/client/hbase_client.h"

#include "thrift/client/client_call.h"
#include "unit/answering_gateway.h"
#include "unit/assert_bytes.h"
#include "unit/loopback_server.h"
#include "unit/reply_builder.h"
#include "unit/test_case.h"
#include "util/clock.h"
#include "util/error.h"

#define GENEROUS_MS 10000
#define MAX_CALLS 50 /* a client that asks more often than that follows for ever */

/* What each page of a scan holds, one after the other, the last again and again; a row "-" is a result without one. */
typedef struct Lies {
  const char *const *pages; /* rows, parted by blanks */
  guint n_pages;
  guint n_calls;
  TideFraming framing;
  gsize cut_bytes; /* that pages lack at their end */
  LoopbackServer *server;
  TideHBaseClient *client;
} Lies;

static TideBytes
reply_with_rows(Oracle *oracle, const char *method, gint32 sequence_id, const char *rows)
{
  g_auto(GStrv) names = g_strsplit(rows, " ", -1);
  ThriftProtocol *to = reply_begin(oracle, method, T_REPLY, sequence_id);
  reply_field(to, T_LIST, 0);
  require_written(thrift_protocol_write_list_begin(to, T_STRUCT, g_strv_length(names), NULL));
  for (guint i = 0; names[i] != NULL; i++) {
    HbaseTResult *result = result_new(strcmp(names[i], "-") == 0 ? NULL : names[i]);
    result_add_cell(result, "q", "v", 7);
    reply_write_object(to, result);
  }
  return reply_end(oracle);
}

static TideBytes
reply_with_scanner(Oracle *oracle, const char *method, gint32 sequence_id)
{
  ThriftProtocol *to = reply_begin(oracle, method, T_REPLY, sequence_id);
  if (g_str_equal(method, "openScanner")) {
    reply_field(to, T_I32, 0);
    require_written(thrift_protocol_write_i32(to, 42, NULL));
  }
  return reply_end(oracle);
}

static TideBytes
reply_with_row(Oracle *oracle, const char *method, gint32 sequence_id, const char *row)
{
  ThriftProtocol *to = reply_begin(oracle, method, T_REPLY, sequence_id);
  reply_field(to, T_STRUCT, 0);
  HbaseTResult *result = result_new(row);
  result_add_cell(result, "q", "v", 7);
  reply_write_object(to, result);
  return reply_end(oracle);
}

static void
serve_lies(LoopbackServer *server, int fd, guint connection)
{
  Lies *lies = server->data;
  TideWireMessage head;
  g_auto(TideBuffer) call = {0};
  Oracle *oracle = oracle_get(TIDE_WIRE_BINARY);
  while (lies->n_calls < MAX_CALLS && loopback_read_call(server, fd, lies->framing, TIDE_WIRE_BINARY, &call, &head)) {
    g_autofree char *method = g_strndup((const char *)head.name.data, head.name.len);
    TideBytes reply;
    if (g_str_equal(method, "openScanner") || g_str_equal(method, "closeScanner"))
      reply = reply_with_scanner(oracle, method, head.sequence_id);
    else if (g_str_equal(method, "get"))
      reply = reply_with_row(oracle, method, head.sequence_id, lies->pages[0]);
    else
      reply = reply_with_rows(oracle, method, head.sequence_id, lies->pages[MIN(lies->n_calls, lies->n_pages - 1)]);
    if (g_str_equal(method, "getScannerRows"))
      reply.len -= MIN(lies->cut_bytes, reply.len - 1);
    if (!g_str_equal(method, "openScanner"))
      lies->n_calls++;
    loopback_send_message(fd, lies->framing, reply);
  }
}

static void
lies_start(Lies *lies)
{
  lies->server = loopback_start(serve_lies, lies);
  lies->client = tide_hbase_client_new(lies->server->endpoint, (TideWireMode){lies->framing, TIDE_WIRE_BINARY});
}

static void
lies_stop(Lies *lies)
{
  tide_hbase_client_free(lies->client);
  loopback_stop(lies->server);
}

static gboolean
count_row(const TideResultRow *row, gpointer n_rows)
{
  ++*(guint *)n_rows;
  return TRUE;
}

static void
assert_protocol_error(const Lies *lies, const GError *error, const char *part)
{
  g_assert_error(error, TIDE_ERROR, TIDE_ERROR_PROTOCOL);
  g_test_message("%s", error->message);
  g_assert_nonnull(strstr(error->message, tide_hbase_client_name(lies->client)));
  g_assert_nonnull(strstr(error->message, part));
  g_assert_false(tide_hbase_client_is_open(lies->client));
}

TEST("/hbase-read/H2/a-scan-that-does-not-move-on-is-an-error")
{
  static const struct {
    const char *pages[3];
    guint n_pages;
    gboolean reversed;
    const char *problem;
    guint n_rows; /* that were good */
  } cases[] = {
      {{"-"}, 1, FALSE, "without a row", 0},
      {{"b c", "-"}, 2, FALSE, "without a row", 2},
      {{"b c"}, 1, FALSE, "does not follow the previous one", 2},
      {{"c b"}, 1, FALSE, "does not follow the previous one", 1},
      {{"b b"}, 1, FALSE, "does not follow the previous one", 1},
      {{"b", "a"}, 2, FALSE, "before the scan's range", 1},
      {{"b", "x"}, 2, FALSE, "after the scan's range", 1},
      {{"c b"}, 1, TRUE, "does not follow the previous one", 2},
      {{"b c"}, 1, TRUE, "does not follow the previous one", 1},
      {{"z"}, 1, TRUE, "before the scan's range", 0},
      {{"aa"}, 1, TRUE, "after the scan's range", 0},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    Lies lies = {.pages = cases[i].pages, .n_pages = cases[i].n_pages};
    lies_start(&lies);
    TideScanRequest request = {.start_row = TIDE_BYTES_LITERAL("aa"),
                               .stop_row = TIDE_BYTES_LITERAL("x"),
                               .caching_rows = 2,
                               .reversed = cases[i].reversed};
    if (cases[i].reversed) {
      request.start_row = TIDE_BYTES_LITERAL("x");
      request.stop_row = TIDE_BYTES_LITERAL("aa");
    }
    guint n_rows = 0;
    g_autoptr(GError) error = NULL;
    g_assert_false(tide_hbase_client_scan(lies.client, TIDE_BYTES_LITERAL("T"), &request, GENEROUS_MS, count_row,
                                          &n_rows, NULL, &error));
    assert_protocol_error(&lies, error, cases[i].problem);
    g_assert_cmpuint(n_rows, ==, cases[i].n_rows);
    lies_stop(&lies);
  }
}

/* A frame that ends too early, behind a good one: whichever byte is its last. */
TEST("/hbase-read/D13-a-cut-page-is-an-error")
{
  static const char *const page[] = {"b c"};
  for (gsize cut_bytes = 1; cut_bytes < 150; cut_bytes++) {
    Lies lies = {.pages = page, .n_pages = 1, .framing = TIDE_FRAMING_FRAMED, .cut_bytes = cut_bytes};
    lies_start(&lies);
    TideScanRequest request = {.caching_rows = 2};
    guint n_rows = 0;
    g_autoptr(GError) error = NULL;
    g_assert_false(tide_hbase_client_scan(lies.client, TIDE_BYTES_LITERAL("T"), &request, GENEROUS_MS, count_row,
                                          &n_rows, NULL, &error));
    assert_protocol_error(&lies, error, "exceeds the end");
    lies_stop(&lies);
  }
}

/* Rows that come one by one, and too slowly for all of them together. */
static void
drip_rows(LoopbackServer *server, int fd, guint connection)
{
  TideWireMessage head;
  g_auto(TideBuffer) call = {0};
  Oracle *oracle = oracle_get(TIDE_WIRE_BINARY);
  for (guint i = 0; loopback_read_call(server, fd, TIDE_FRAMING_UNFRAMED, TIDE_WIRE_BINARY, &call, &head); i++) {
    g_autofree char *method = g_strndup((const char *)head.name.data, head.name.len);
    g_autofree char *row = g_strdup_printf("r%08u", i);
    if (i > 0)
      (void)loopback_wait_readable(server, fd, 20); /* never: the client waits, too */
    loopback_send_message(fd, TIDE_FRAMING_UNFRAMED,
                          i == 0 ? reply_with_scanner(oracle, method, head.sequence_id)
                                 : reply_with_rows(oracle, method, head.sequence_id, row));
  }
}

TEST("/hbase-read/H2/a-page-has-an-end")
{
  Lies lies = {0};
  lies.server = loopback_start(drip_rows, NULL);
  lies.client = tide_hbase_client_new(lies.server->endpoint, (TideWireMode){TIDE_FRAMING_UNFRAMED, TIDE_WIRE_BINARY});
  TideScanRequest request = {.caching_rows = 100000, .limit_rows = 100000};
  guint n_rows = 0;
  g_autoptr(GError) error = NULL;
  g_assert_false(
      tide_hbase_client_scan(lies.client, TIDE_BYTES_LITERAL("T"), &request, 500, count_row, &n_rows, NULL, &error));
  g_assert_error(error, TIDE_ERROR, TIDE_ERROR_TIMEOUT);
  lies_stop(&lies);
}

TEST("/hbase-read/H6/get-takes-no-other-row")
{
  static const char *const other[] = {"s"};
  Lies lies = {.pages = other, .n_pages = 1};
  lies_start(&lies);
  guint n_rows = 0;
  g_autoptr(GError) error = NULL;
  g_assert_false(tide_hbase_client_get(lies.client, TIDE_BYTES_LITERAL("T"), TIDE_BYTES_LITERAL("r"),
                                       tide_now_us() + GENEROUS_MS * TIDE_US_PER_MS, count_row, &n_rows, NULL, &error));
  assert_protocol_error(&lies, error, "an unrequested row");
  g_assert_cmpuint(n_rows, ==, 0);
  lies_stop(&lies);
}

TEST("/hbase-read/H6/gets-take-no-other-rows")
{
  static const TideBytes rows[] = {{(const guint8 *)"a", 1}, {(const guint8 *)"b", 1}, {(const guint8 *)"c", 1}};
  static const struct {
    const char *page;
    gboolean ok;
    guint n_rows;
  } cases[] = {{"a b c", TRUE, 3},  {"a - c", TRUE, 2},  {"b - -", TRUE, 1},
               {"a x c", FALSE, 1}, {"b a c", FALSE, 1}, {"a b c c", FALSE, 3}};
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    Lies lies = {.pages = &cases[i].page, .n_pages = 1};
    lies_start(&lies);
    TideGetRequest request = {.rows = rows, .n_rows = G_N_ELEMENTS(rows)};
    guint n_rows = 0;
    g_autoptr(GError) error = NULL;
    gboolean ok =
        tide_hbase_client_get_multiple(lies.client, TIDE_BYTES_LITERAL("T"), &request,
                                       tide_now_us() + GENEROUS_MS * TIDE_US_PER_MS, count_row, &n_rows, &error);
    g_assert_cmpint(ok, ==, cases[i].ok);
    g_assert_cmpuint(n_rows, ==, cases[i].n_rows);
    if (!ok)
      assert_protocol_error(&lies, error, "an unrequested row");
    lies_stop(&lies);
  }
}

/* ---- scans, page by page: which scanner a page comes from, what is asked ahead, and when a scanner is closed ---- */

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
page_count_row(const TideResultRow *row, gpointer data)
{
  guint *left = data;
  g_assert_cmpuint(row->n_cells, ==, 1);
  assert_bytes_equal(row->cells[0].value, TIDE_BYTES_LITERAL("v"));
  return --*left > 0;
}

TEST("/kept-scanners/scan-pages-limits-and-closes")
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
      g_assert_true(tide_hbase_client_scan(gateway.client, TIDE_BYTES_LITERAL("T"), &request, GENEROUS_MS,
                                           page_count_row, &left, &rows, &error));
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

TEST("/kept-scanners/scan-closes-its-scanner-after-an-error")
{
  Gateway gateway;
  gateway_start(&gateway, (Gateway){.mode = modes[1], .answer = answer_scan_refused, .pages = 1});
  TideScanRequest request = {.caching_rows = 2};
  guint left = 100;
  guint64 rows = 99;
  g_autoptr(GError) error = NULL;
  g_assert_false(tide_hbase_client_scan(gateway.client, TIDE_BYTES_LITERAL("T"), &request, GENEROUS_MS, page_count_row,
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

/* From its second page on, a reader gets all pages from one scanner, which is closed at the end. One more page is
 * requested before the empty last one is read. */
TEST("/kept-scanners/pages-come-from-one-scanner")
{
  for (gsize m = 0; m < G_N_ELEMENTS(modes); m++) {
    Gateway gateway;
    gateway_start(&gateway, (Gateway){.mode = modes[m], .answer = answer_scan, .pages = 9});
    TideScanRequest request = {.limit_rows = 2, .caching_rows = 2};
    g_auto(TideBuffer) start = {0};
    g_assert_cmpuint(read_pages(&gateway, 10, &request, &start), ==, 18);
    gateway_stop(&gateway, "openScanner getScannerRows closeScanner openScanner getScannerRows getScannerRows "
                           "getScannerRows getScannerRows getScannerRows getScannerRows getScannerRows "
                           "getScannerRows getScannerRows getScannerRows closeScanner ");
  }
}

/* Asked for a page of two rows in advance, and then for one row: the other is read again, not left out. */
TEST("/kept-scanners/a-smaller-page-leaves-nothing-out")
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
  tide_hbase_client_free(atomic_exchange(&gateway.client, NULL));
  gateway_stop(&gateway, "openScanner getScannerRows closeScanner openScanner getScannerRows getScannerRows "
                         "getScannerRows closeScanner openScanner getScannerRows getScannerRows closeScanner ");
}

/* A page that comes with fewer rows than were asked for in advance: the rest is asked for, until nothing comes. */
TEST("/kept-scanners/a-short-page-is-not-the-end")
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
TEST("/kept-scanners/pages-between-puts-are-not-asked-ahead")
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

/* Two rows were asked for in advance, and then four are wanted: only the other two are asked for. */
TEST("/kept-scanners/a-longer-page-asks-for-no-row-too-many")
{
  Gateway gateway;
  gateway_start(&gateway, (Gateway){.mode = modes[0], .answer = answer_scan_and_put, .pages = 9});
  TideScanRequest request = {.limit_rows = 2, .caching_rows = 10};
  g_auto(TideBuffer) start = {0};
  g_autoptr(GError) error = NULL;
  g_assert_cmpuint(read_pages(&gateway, 3, &request, &start), ==, 6);
  request.limit_rows = 4;
  g_assert_cmpuint(read_pages(&gateway, 1, &request, &start), ==, 4);
  g_assert_true(
      put_one_row(gateway.client, TIDE_WIRE_BINARY, GENEROUS_MS, &error)); /* all calls before were answered */
  g_assert_no_error(error);
  gateway_stop(&gateway, "openScanner getScannerRows closeScanner openScanner getScannerRows getScannerRows "
                         "getScannerRows getScannerRows getScannerRows putMultiple ");
  g_assert_cmpuint(gateway.asked_rows, ==, 4 * 2 + 2 + 4); /* the last four in advance */
}

/* Another start, another question: another scanner. One that is left open is closed with the client. */
TEST("/kept-scanners/another-page-has-its-own-scanner")
{
  Gateway gateway;
  gateway_start(&gateway, (Gateway){.mode = modes[0], .answer = answer_scan, .pages = 9});
  TideScanRequest request = {.limit_rows = 2, .caching_rows = 2};
  g_auto(TideBuffer) start = {0};
  read_pages(&gateway, 3, &request, &start);
  request.min_time_ms = 1;
  request.max_time_ms = 2;
  read_pages(&gateway, 1, &request, &start);
  tide_hbase_client_free(atomic_exchange(&gateway.client, NULL));
  gateway_stop(&gateway, "openScanner getScannerRows closeScanner openScanner getScannerRows getScannerRows "
                         "getScannerRows openScanner getScannerRows closeScanner closeScanner ");
}

/* So many are kept. One more, and that which was used longest ago is closed, not left to the gateway. */
TEST("/kept-scanners/a-scanner-that-makes-room-is-closed")
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

TEST("/kept-scanners/a-scanner-that-is-gone-is-opened-anew")
{
  for (gsize m = 0; m < G_N_ELEMENTS(modes); m++) {
    Gateway gateway;
    gateway_start(&gateway, (Gateway){.mode = modes[m], .answer = answer_scan_expired, .pages = 9});
    TideScanRequest request = {.limit_rows = 2, .caching_rows = 2};
    g_auto(TideBuffer) start = {0};
    g_assert_cmpuint(read_pages(&gateway, 5, &request, &start), ==, 10);
    tide_hbase_client_free(atomic_exchange(&gateway.client, NULL));
    gateway_stop(&gateway, "openScanner getScannerRows closeScanner openScanner getScannerRows getScannerRows "
                           "getScannerRows getScannerRows closeScanner openScanner getScannerRows getScannerRows "
                           "getScannerRows closeScanner ");
  }
}

/* A scanner's number means nothing on another connection: another gateway may have given it to somebody else. */
TEST("/kept-scanners/a-scanner-does-not-outlive-its-connection")
{
  for (gsize m = 0; m < G_N_ELEMENTS(modes); m++) {
    Gateway gateway;
    gateway_start(&gateway, (Gateway){.mode = modes[m], .answer = answer_scan, .pages = 9, .hang_up_after = 6});
    TideScanRequest request = {.limit_rows = 2, .caching_rows = 2};
    g_auto(TideBuffer) start = {0};
    g_assert_cmpuint(read_pages(&gateway, 5, &request, &start), ==, 10);
    tide_hbase_client_free(atomic_exchange(&gateway.client, NULL));
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

TEST("/kept-scanners/get-tells-whether-the-row-exists")
{
  Gateway gateway;
  gateway_start(&gateway, (Gateway){.mode = modes[3], .answer = answer_get, .pages = 1});
  guint left = 100;
  gboolean found = FALSE;
  g_assert_true(tide_hbase_client_get(gateway.client, TIDE_BYTES_LITERAL("T"), TIDE_BYTES_LITERAL("r"),
                                      in_ms(GENEROUS_MS), page_count_row, &left, &found, NULL));
  g_assert_true(found);
  g_assert_cmpuint(left, ==, 99);
  g_assert_true(tide_hbase_client_get(gateway.client, TIDE_BYTES_LITERAL("T"), TIDE_BYTES_LITERAL("r"),
                                      in_ms(GENEROUS_MS), page_count_row, &left, &found, NULL));
  g_assert_false(found);
  g_assert_cmpuint(left, ==, 99);
  gateway_stop(&gateway, "get get ");
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  test_cases_add();
  tide_hbase_client_init_types();
  return g_test_run();
}
