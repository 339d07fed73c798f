/* The client against a scripted gateway: what it sends, what it makes of the answers, and when it hangs up. */
#include "thrift/client/hbase_client.h"

#include "thrift/wire/put_encoder.h"
#include "unit/assert_bytes.h"
#include "unit/loopback_server.h"
#include "unit/reply_builder.h"
#include "util/clock.h"
#include "util/error.h"

#include <malloc.h>

#define GENEROUS_MS 10000
#define SHORT_MS 100

typedef struct Gateway Gateway;

/* Builds the reply to a call, in the server's thread. Empty bytes: none is sent. */
typedef TideBytes (*AnswerFunc)(Gateway *gateway, Oracle *oracle, const char *method, gint32 sequence_id);

struct Gateway {
  TideWireMode mode;
  AnswerFunc answer;
  guint hang_up_after; /* calls on one connection; 0: never */
  /* the server's thread; read after gateway_stop() */
  GString *methods; /* the calls' names, each followed by a blank */
  guint pages;      /* of a scan, left to give */
  guint page_rows;  /* whatever was asked for; 0: two */
  gboolean table_exists;
  LoopbackServer *server;
  _Atomic(TideHBaseClient *) client; /* set when the thread runs already */
};

static const TideWireMode modes[] = {
    {TIDE_FRAMING_UNFRAMED, TIDE_WIRE_BINARY},
    {TIDE_FRAMING_UNFRAMED, TIDE_WIRE_COMPACT},
    {TIDE_FRAMING_FRAMED, TIDE_WIRE_BINARY},
    {TIDE_FRAMING_FRAMED, TIDE_WIRE_COMPACT},
};

static void
serve_gateway(LoopbackServer *server, int fd, guint connection)
{
  Gateway *gateway = server->data;
  TideWireMessage head;
  g_auto(TideBuffer) call = {0};
  for (guint calls = 1; loopback_read_call(server, fd, gateway->mode.framing, gateway->mode.protocol, &call, &head);
       calls++) {
    g_autofree char *method = g_strndup((const char *)head.name.data, head.name.len);
    g_string_append_printf(gateway->methods, "%s ", method);
    TideBytes reply = gateway->answer(gateway, oracle_get(gateway->mode.protocol), method, head.sequence_id);
    if (reply.len > 0)
      loopback_send_message(fd, gateway->mode.framing, reply);
    if (calls == gateway->hang_up_after)
      return;
  }
}

/* @as: what it is to be from its thread's start on; the sanitizer for threads sees no order in what goes over sockets.
 */
static void
gateway_start(Gateway *gateway, Gateway as)
{
  as.methods = g_string_new(NULL);
  *gateway = as;
  gateway->server = loopback_start(serve_gateway, gateway);
  gateway->client = tide_hbase_client_new(gateway->server->endpoint, as.mode);
}

/* Frees all; what was called must have been @methods. */
static void
gateway_stop(Gateway *gateway, const char *methods)
{
  loopback_stop(gateway->server); /* first: its thread may use the client */
  tide_hbase_client_free(gateway->client);
  g_assert_cmpstr(gateway->methods->str, ==, methods);
  g_string_free(gateway->methods, TRUE);
}

static gint64
in_ms(gint64 ms)
{
  return tide_now_us() + ms * TIDE_US_PER_MS;
}

static gboolean
put_one_row(TideHBaseClient *client, TideWireProtocol protocol, gint64 timeout_ms, GError **error)
{
  g_auto(TideBuffer) prefix = {0};
  g_auto(TideBuffer) put = {0};
  tide_column_prefix_append(protocol, &prefix, TIDE_BYTES_LITERAL("M"), TIDE_BYTES_LITERAL("q"));
  tide_put_head_append(protocol, &put, TIDE_BYTES_LITERAL("row"), 1);
  tide_cell_append(protocol, &put, tide_buffer_bytes(&prefix), TIDE_BYTES_LITERAL("v"), 1);
  tide_put_tail_append(protocol, &put, TIDE_PUT_NO_TIME, 0);
  TideBytes part = tide_buffer_bytes(&put);
  return tide_hbase_client_put_multiple(client, TIDE_BYTES_LITERAL("METRIC"), &part, 1, 1, in_ms(timeout_ms), error);
}

/* ---- puts ---- */

static TideBytes
answer_void(Gateway *gateway, Oracle *oracle, const char *method, gint32 sequence_id)
{
  reply_begin(oracle, method, T_REPLY, sequence_id);
  return reply_end(oracle);
}

static void
test_put(void)
{
  for (gsize i = 0; i < G_N_ELEMENTS(modes); i++) {
    Gateway gateway;
    gateway_start(&gateway, (Gateway){.mode = modes[i], .answer = answer_void});
    for (guint call = 0; call < 3; call++) { /* the sequence ids differ: the server answers with the call's */
      g_autoptr(GError) error = NULL;
      g_assert_true(put_one_row(gateway.client, modes[i].protocol, GENEROUS_MS, &error));
      g_assert_no_error(error);
    }
    g_assert_cmpuint(loopback_connections(gateway.server), ==, 1);
    gateway_stop(&gateway, "putMultiple putMultiple putMultiple ");
  }
}

static TideBytes
answer_io_error(Gateway *gateway, Oracle *oracle, const char *method, gint32 sequence_id)
{
  ThriftProtocol *to = reply_begin(oracle, method, T_REPLY, sequence_id);
  reply_write_exception(to, 1, "Failed 1 action: NotServingRegionException", 1);
  return reply_end(oracle);
}

static TideBytes
answer_internal_error(Gateway *gateway, Oracle *oracle, const char *method, gint32 sequence_id)
{
  return reply_application_exception(oracle, method, sequence_id, "Internal error processing putMultiple", 6);
}

static TideBytes
answer_unknown_method(Gateway *gateway, Oracle *oracle, const char *method, gint32 sequence_id)
{
  return reply_application_exception(oracle, method, sequence_id, "Invalid method name", 1);
}

static TideBytes
answer_other_sequence_id(Gateway *gateway, Oracle *oracle, const char *method, gint32 sequence_id)
{
  return answer_void(gateway, oracle, method, sequence_id - 1);
}

static TideBytes
answer_other_method(Gateway *gateway, Oracle *oracle, const char *method, gint32 sequence_id)
{
  return answer_void(gateway, oracle, "put", sequence_id);
}

static TideBytes
answer_nothing(Gateway *gateway, Oracle *oracle, const char *method, gint32 sequence_id)
{
  return TIDE_BYTES_EMPTY;
}

/* Which errors leave the connection as it is, and which end it. */
static void
test_errors_and_the_connection(void)
{
  struct {
    AnswerFunc answer;
    TideErrorCode code;
    gboolean stays_open;
    gint64 timeout_ms;
    const char *part;
  } cases[] = {
      {answer_io_error, TIDE_ERROR_GATEWAY, TRUE, GENEROUS_MS, "Failed 1 action: NotServingRegionException"},
      {answer_internal_error, TIDE_ERROR_APPLICATION, TRUE, GENEROUS_MS, "Internal error processing putMultiple"},
      {answer_unknown_method, TIDE_ERROR_WRONG_SERVICE, TRUE, GENEROUS_MS, "does not know the call 'putMultiple'"},
      {answer_other_sequence_id, TIDE_ERROR_PROTOCOL, FALSE, GENEROUS_MS, "answered with the reply to call"},
      {answer_other_method, TIDE_ERROR_PROTOCOL, FALSE, GENEROUS_MS, "answered with a reply to 'put'"},
      {answer_nothing, TIDE_ERROR_TIMEOUT, FALSE, SHORT_MS, "gave no answer within 1"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    for (gsize m = 0; m < G_N_ELEMENTS(modes); m++) {
      Gateway gateway;
      gateway_start(&gateway, (Gateway){.mode = modes[m], .answer = cases[i].answer});
      for (guint call = 0; call < 2; call++) {
        g_autoptr(GError) error = NULL;
        g_assert_false(put_one_row(gateway.client, modes[m].protocol, cases[i].timeout_ms, &error));
        g_assert_error(error, TIDE_ERROR, (gint)cases[i].code);
        if (strstr(error->message, cases[i].part) == NULL)
          g_error("expected '%s' in '%s'", cases[i].part, error->message);
        g_assert_nonnull(strstr(error->message, tide_hbase_client_name(gateway.client)));
        g_assert_cmpint(tide_hbase_client_is_open(gateway.client), ==, cases[i].stays_open);
        g_assert_cmpint(tide_error_outcome_unknown(error), ==, !cases[i].stays_open);
      }
      g_assert_cmpuint(loopback_connections(gateway.server), ==, cases[i].stays_open ? 1 : 2);
      gateway_stop(&gateway, "putMultiple putMultiple ");
    }
  }
}

/* The gateway cuts a connection between two calls: the next one goes over a new one, and is no error. */
static void
test_idle_cut(void)
{
  Gateway gateway;
  gateway_start(&gateway, (Gateway){.mode = modes[0], .answer = answer_void, .hang_up_after = 1});
  for (guint call = 0; call < 3; call++) {
    g_autoptr(GError) error = NULL;
    g_assert_true(put_one_row(gateway.client, TIDE_WIRE_BINARY, GENEROUS_MS, &error));
    g_assert_no_error(error);
    loopback_await_hang_up(gateway.server);
  }
  g_assert_cmpuint(loopback_connections(gateway.server), ==, 3);
  gateway_stop(&gateway, "putMultiple putMultiple putMultiple ");
}

static void
test_late_call(void)
{
  Gateway gateway;
  gateway_start(&gateway, (Gateway){.mode = modes[0], .answer = answer_void});
  g_assert_true(put_one_row(gateway.client, TIDE_WIRE_BINARY, GENEROUS_MS, NULL));
  g_autoptr(GError) error = NULL;
  g_assert_false(put_one_row(gateway.client, TIDE_WIRE_BINARY, -1, &error));
  g_assert_error(error, TIDE_ERROR, TIDE_ERROR_CONNECT);
  g_assert_true(tide_hbase_client_is_open(gateway.client));
  gateway_stop(&gateway, "putMultiple ");
}

static void
test_nobody_listens(void)
{
  int fd = -1;
  g_autoptr(TideEndpoint) endpoint = loopback_listen("127.0.0.1", 1, &fd);
  close(fd);
  g_autoptr(TideHBaseClient) client = tide_hbase_client_new(endpoint, modes[0]);
  g_autoptr(GError) error = NULL;
  g_assert_false(put_one_row(client, TIDE_WIRE_BINARY, GENEROUS_MS, &error));
  g_assert_error(error, TIDE_ERROR, TIDE_ERROR_CONNECT);
  g_assert_false(tide_hbase_client_is_open(client));
}

static TideBytes
answer_cancel(Gateway *gateway, Oracle *oracle, const char *method, gint32 sequence_id)
{
  tide_hbase_client_cancel(gateway->client); /* from the server's thread */
  return TIDE_BYTES_EMPTY;
}

static void
test_cancel(void)
{
  Gateway gateway;
  gateway_start(&gateway, (Gateway){.mode = modes[0], .answer = answer_cancel});
  for (guint call = 0; call < 2; call++) {
    g_autoptr(GError) error = NULL;
    g_assert_false(put_one_row(gateway.client, TIDE_WIRE_BINARY, GENEROUS_MS, &error));
    g_assert_error(error, TIDE_ERROR, TIDE_ERROR_CANCELLED);
    g_assert_false(tide_hbase_client_is_open(gateway.client));
  }
  gateway_stop(&gateway, "putMultiple ");
}

/* ---- reading ---- */

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

/* ---- tables ---- */

static TideBytes
answer_admin(Gateway *gateway, Oracle *oracle, const char *method, gint32 sequence_id)
{
  g_assert_cmpint(sequence_id, ==, 0); /* what the generated code sends */
  ThriftProtocol *to = reply_begin(oracle, method, T_REPLY, sequence_id);
  if (g_str_equal(method, "tableExists") || g_str_equal(method, "isTableEnabled")) {
    reply_field(to, T_BOOL, 0);
    require_written(thrift_protocol_write_bool(to, gateway->table_exists, NULL));
  } else if (g_str_equal(method, "listNamespaces")) {
    reply_field(to, T_LIST, 0);
    require_written(thrift_protocol_write_list_begin(to, T_STRING, 1, NULL));
    require_written(thrift_protocol_write_string(to, "default", NULL));
  } else if (g_str_equal(method, "getTableDescriptor")) {
    HbaseTTableDescriptor *descriptor = g_object_new(HBASE_TYPE_T_TABLE_DESCRIPTOR, NULL);
    descriptor->tableName->qualifier = oracle_byte_array(TIDE_BYTES_LITERAL("T"));
    reply_field(to, T_STRUCT, 0);
    reply_write_object(to, descriptor);
  } else if (g_str_equal(method, "getThriftServerType")) {
    reply_field(to, T_I32, 0);
    require_written(thrift_protocol_write_i32(to, 2, NULL));
  }
  return reply_end(oracle);
}

static TideTableDescription *
table_with_attributes(guint n_attributes)
{
  TideTableDescription *description = tide_table_description_new("plant:METRIC");
  g_ptr_array_add(description->families, tide_family_settings_new("M"));
  for (guint i = 0; i < n_attributes; i++) {
    char name[8];
    g_snprintf(name, sizeof name, "a%u", i);
    tide_table_description_add_attribute(description, tide_bytes_of_string(name), TIDE_BYTES_LITERAL("v"));
  }
  return description;
}

static void
test_admin_calls(void)
{
  for (gsize m = 0; m < G_N_ELEMENTS(modes); m++) {
    Gateway gateway;
    gateway_start(&gateway, (Gateway){.mode = modes[m], .answer = answer_admin, .table_exists = TRUE});
    gint64 deadline_us = in_ms(GENEROUS_MS);
    gboolean exists = FALSE;
    g_autoptr(GError) error = NULL;
    g_assert_true(tide_hbase_client_table_exists(gateway.client, "T", deadline_us, &exists, &error));
    g_assert_true(exists);
    g_autoptr(TideTableDescription) description = tide_hbase_client_describe(gateway.client, "T", deadline_us, &error);
    g_assert_no_error(error);
    g_assert_cmpstr(description->name, ==, "T");
    g_assert_true(tide_hbase_client_create_namespace(gateway.client, "default", deadline_us, &error));
    g_assert_true(tide_hbase_client_create_namespace(gateway.client, "plant", deadline_us, &error));
    g_autoptr(TideTableDescription) table = table_with_attributes(0);
    g_assert_true(tide_hbase_client_create_table(gateway.client, table, NULL, deadline_us, &error));
    g_assert_true(tide_hbase_client_ping(gateway.client, deadline_us, &error));
    g_assert_no_error(error);
    gateway_stop(&gateway, "tableExists tableExists getTableDescriptor listNamespaces listNamespaces createNamespace "
                           "createTable getThriftServerType ");
  }
}

static void
test_missing_table(void)
{
  Gateway gateway;
  gateway_start(&gateway, (Gateway){.mode = modes[0], .answer = answer_admin});
  g_autoptr(GError) error = NULL;
  g_assert_null(tide_hbase_client_describe(gateway.client, "T", in_ms(GENEROUS_MS), &error));
  g_assert_error(error, TIDE_ERROR, TIDE_ERROR_NOT_FOUND);
  gateway_stop(&gateway, "tableExists ");
}

/* The createTable call as the gateway reads it: every attribute is in it, once. */
typedef struct SeenTable {
  guint attributes;
  guint splits;
} SeenTable;

static void
count_in_call(SeenTable *seen, TideBytes call)
{
  TideWireReader reader;
  TideWireMessage head;
  tide_wire_reader_init(&reader, TIDE_WIRE_BINARY, call);
  g_assert_true(tide_wire_read_message(&reader, &head));
  TideWireField argument = {0};
  while (tide_wire_read_field(&reader, &argument)) {
    TideWireContainer container;
    if (argument.id == 2) {
      g_assert_true(tide_wire_read_list(&reader, &container));
      seen->splits = container.count;
      for (guint i = 0; i < container.count; i++)
        (void)tide_wire_read_string(&reader);
      continue;
    }
    TideWireField field = {0};
    while (tide_wire_read_field(&reader, &field)) {
      if (field.id != 3) {
        tide_wire_skip(&reader, field.type);
        continue;
      }
      g_assert_true(tide_wire_read_map(&reader, &container));
      g_autoptr(GHashTable) names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
      for (guint i = 0; i < container.count; i++) {
        TideBytes name = tide_wire_read_string(&reader);
        (void)tide_wire_read_string(&reader);
        g_hash_table_add(names, g_strndup((const char *)name.data, name.len));
      }
      seen->attributes = g_hash_table_size(names);
    }
  }
  g_assert_cmpint(reader.status, ==, TIDE_WIRE_OK);
}

static void
serve_create_table(LoopbackServer *server, int fd, guint connection)
{
  TideWireMessage head;
  g_auto(TideBuffer) call = {0};
  if (!loopback_read_call(server, fd, TIDE_FRAMING_UNFRAMED, TIDE_WIRE_BINARY, &call, &head))
    return;
  count_in_call(server->data, tide_buffer_bytes(&call));
  Oracle *oracle = oracle_get(TIDE_WIRE_BINARY);
  reply_begin(oracle, "createTable", T_REPLY, 0);
  loopback_send_message(fd, TIDE_FRAMING_UNFRAMED, reply_end(oracle));
  loopback_wait_closed(server, fd);
}

static void
test_create_table_sends_all(void)
{
  SeenTable seen = {0};
  LoopbackServer *server = loopback_start(serve_create_table, &seen);
  TideHBaseClient *client = tide_hbase_client_new(server->endpoint, modes[0]);
  g_autoptr(TideTableDescription) table = table_with_attributes(50);
  g_autoptr(GArray) splits = g_array_new(FALSE, FALSE, sizeof(TideBytes));
  TideBytes keys[] = {TIDE_BYTES_LITERAL("a"), TIDE_BYTES_LITERAL("b\0\xff")};
  g_array_append_vals(splits, keys, 2);
  g_autoptr(GError) error = NULL;
  g_assert_true(tide_hbase_client_create_table(client, table, splits, in_ms(GENEROUS_MS), &error));
  g_assert_no_error(error);
  tide_hbase_client_free(client);
  loopback_stop(server);
  g_assert_cmpuint(seen.attributes, ==, 50);
  g_assert_cmpuint(seen.splits, ==, 2);
}

/* A framed gateway would store its frame buffer for them. */
static void
test_framed_create(void)
{
  Gateway gateway;
  gateway_start(&gateway, (Gateway){.mode = modes[2], .answer = answer_admin});
  g_autoptr(TideTableDescription) plain = tide_table_description_new("T");
  g_ptr_array_add(plain->families, tide_family_settings_new("M"));
  g_autoptr(TideTableDescription) with_attribute = table_with_attributes(1);
  g_autoptr(GArray) splits = g_array_new(FALSE, FALSE, sizeof(TideBytes));
  TideBytes key = TIDE_BYTES_LITERAL("m");
  g_array_append_val(splits, key);
  g_autoptr(GError) error = NULL;
  g_assert_false(tide_hbase_client_create_table(gateway.client, plain, splits, in_ms(GENEROUS_MS), &error));
  g_assert_error(error, TIDE_ERROR, TIDE_ERROR_UNAVAILABLE);
  g_assert_nonnull(strstr(error->message, "create \"T\", {NAME => \"M\"}, SPLITS => ['m']"));
  g_clear_error(&error);
  g_assert_false(tide_hbase_client_create_table(gateway.client, with_attribute, NULL, in_ms(GENEROUS_MS), &error));
  g_assert_error(error, TIDE_ERROR, TIDE_ERROR_UNAVAILABLE);
  g_assert_nonnull(strstr(error->message, "METADATA => {\"a0\" => \"v\"}"));
  gateway_stop(&gateway, ""); /* nothing was sent */
}

/* An older gateway has no getThriftServerType; it answers all the same. */
static void
test_ping_old_gateway(void)
{
  Gateway gateway;
  gateway_start(&gateway, (Gateway){.mode = modes[0], .answer = answer_unknown_method});
  g_autoptr(GError) error = NULL;
  g_assert_true(tide_hbase_client_ping(gateway.client, in_ms(GENEROUS_MS), &error));
  g_assert_no_error(error);
  g_assert_true(tide_hbase_client_is_open(gateway.client));
  gateway_stop(&gateway, "getThriftServerType ");
}

/* As generated they lose some 70 bytes each: see generated_types.h. */
static void
test_no_leak(void)
{
  enum { N_OBJECTS = 20000 };
  for (guint round = 0; round < 2; round++) {
    size_t before = mallinfo2().uordblks;
    for (guint i = 0; i < N_OBJECTS; i++)
      g_object_unref(g_object_new(HBASE_TYPE_T_TABLE_DESCRIPTOR, NULL));
    size_t after = mallinfo2().uordblks;
    if (round == 1) /* the first fills caches */
      g_assert_cmpuint(after, <, before + N_OBJECTS);
  }
}

int
main(int argc, char **argv)
{
  tide_hbase_client_init_types();
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/client/put-works-in-all-modes", test_put);
  g_test_add_func("/client/only-an-answer-leaves-the-connection-open", test_errors_and_the_connection);
  g_test_add_func("/client/connection-cut-while-idle-is-replaced", test_idle_cut);
  g_test_add_func("/client/call-after-its-deadline-is-not-sent", test_late_call);
  g_test_add_func("/client/closed-port-means-nothing-was-sent", test_nobody_listens);
  g_test_add_func("/client/cancel-ends-this-call-and-later-ones", test_cancel);
  g_test_add_func("/client/scan-pages-limits-and-closes", test_scan);
  g_test_add_func("/client/scan-closes-its-scanner-after-an-error", test_scan_errors_close_the_scanner);
  g_test_add_func("/client/pages-come-from-one-scanner", test_pages_come_from_one_scanner);
  g_test_add_func("/client/a-smaller-page-leaves-nothing-out", test_a_smaller_page_leaves_nothing_out);
  g_test_add_func("/client/a-short-page-is-not-the-end", test_a_short_page_is_not_the_end);
  g_test_add_func("/client/pages-between-puts-are-not-asked-ahead", test_pages_between_puts_are_not_asked_ahead);
  g_test_add_func("/client/another-page-has-its-own-scanner", test_another_page_has_its_own_scanner);
  g_test_add_func("/client/a-scanner-that-is-gone-is-opened-anew", test_a_scanner_that_is_gone_is_opened_anew);
  g_test_add_func("/client/a-scanner-does-not-outlive-its-connection", test_a_scanner_does_not_outlive_its_connection);
  g_test_add_func("/client/get-tells-whether-the-row-exists", test_get);
  g_test_add_func("/client/control-calls-work-in-all-modes", test_admin_calls);
  g_test_add_func("/client/missing-table-is-not-found", test_missing_table);
  g_test_add_func("/client/create-table-sends-every-attribute-and-split", test_create_table_sends_all);
  g_test_add_func("/client/splits-and-attributes-on-a-framed-gateway-are-refused", test_framed_create);
  g_test_add_func("/client/ping-takes-an-older-gateway", test_ping_old_gateway);
  g_test_add_func("/client/generated-structs-do-not-leak", test_no_leak);
  return g_test_run();
}
