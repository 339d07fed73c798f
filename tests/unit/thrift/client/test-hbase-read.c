/* Reading from a gateway that lies: rows that were not asked for, and scans that do not move on. */
#include "thrift/client/hbase_client.h"

#include "unit/loopback_server.h"
#include "unit/reply_builder.h"
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

static void
test_h2_scans_that_do_not_move_on(void)
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
      {{"b c"}, 1, FALSE, "not behind the one before it", 2},
      {{"c b"}, 1, FALSE, "not behind the one before it", 1},
      {{"b b"}, 1, FALSE, "not behind the one before it", 1},
      {{"b", "a"}, 2, FALSE, "in front of the scan's range", 1},
      {{"b", "x"}, 2, FALSE, "behind the scan's range", 1},
      {{"c b"}, 1, TRUE, "not behind the one before it", 2},
      {{"b c"}, 1, TRUE, "not behind the one before it", 1},
      {{"z"}, 1, TRUE, "in front of the scan's range", 0},
      {{"aa"}, 1, TRUE, "behind the scan's range", 0},
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
static void
test_d13_cut_page(void)
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
    assert_protocol_error(&lies, error, "goes past the end");
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

static void
test_h2_a_page_has_an_end(void)
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

static void
test_h6_get_takes_no_other_row(void)
{
  static const char *const other[] = {"s"};
  Lies lies = {.pages = other, .n_pages = 1};
  lies_start(&lies);
  guint n_rows = 0;
  g_autoptr(GError) error = NULL;
  g_assert_false(tide_hbase_client_get(lies.client, TIDE_BYTES_LITERAL("T"), TIDE_BYTES_LITERAL("r"),
                                       tide_now_us() + GENEROUS_MS * TIDE_US_PER_MS, count_row, &n_rows, NULL, &error));
  assert_protocol_error(&lies, error, "a row that was not asked for");
  g_assert_cmpuint(n_rows, ==, 0);
  lies_stop(&lies);
}

static void
test_h6_gets_take_no_other_rows(void)
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
      assert_protocol_error(&lies, error, "a row that was not asked for");
    lies_stop(&lies);
  }
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  tide_hbase_client_init_types();
  g_test_add_func("/hbase-read/H2/a-scan-that-does-not-move-on-is-an-error", test_h2_scans_that_do_not_move_on);
  g_test_add_func("/hbase-read/D13-a-cut-page-is-an-error", test_d13_cut_page);
  g_test_add_func("/hbase-read/H2/a-page-has-an-end", test_h2_a_page_has_an_end);
  g_test_add_func("/hbase-read/H6/get-takes-no-other-row", test_h6_get_takes_no_other_row);
  g_test_add_func("/hbase-read/H6/gets-take-no-other-rows", test_h6_gets_take_no_other_rows);
  return g_test_run();
}
