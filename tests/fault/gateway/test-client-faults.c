/* Each fault of a gateway becomes the error that the client's header promises, a connection in an unknown state is
 * closed, and the next call works. */
#include "fault/gateway/client_fixture.h"
#include "fault/gateway/raw_client.h"
#include "thrift/client/socket_stream.h"
#include "unit/test_case.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>

typedef struct TideErrorCase {
  const char *name;
  TideScriptedFault fault;
  TideErrorCode code;
  gboolean stays_open;
} TideErrorCase;

static const TideErrorCase error_cases[] = {
    {"closed on accept", {.kind = TIDE_FAULT_CLOSE_ON_ACCEPT}, TIDE_ERROR_CONNECTION_LOST, FALSE},
    {"reset on accept", {.kind = TIDE_FAULT_CLOSE_ON_ACCEPT, .reset = TRUE}, TIDE_ERROR_CONNECTION_LOST, FALSE},
    {"closed mid request", {.kind = TIDE_FAULT_CLOSE_MID_REQUEST, .cut_bytes = 5}, TIDE_ERROR_CONNECTION_LOST, FALSE},
    {"closed before the reply", {.kind = TIDE_FAULT_CLOSE_BEFORE_REPLY}, TIDE_ERROR_CONNECTION_LOST, FALSE},
    {"reset before the reply",
     {.kind = TIDE_FAULT_CLOSE_BEFORE_REPLY, .reset = TRUE},
     TIDE_ERROR_CONNECTION_LOST,
     FALSE},
    {"closed mid reply", {.kind = TIDE_FAULT_CLOSE_MID_REPLY, .cut_bytes = 7}, TIDE_ERROR_CONNECTION_LOST, FALSE},
    {"silence", {.kind = TIDE_FAULT_SILENCE}, TIDE_ERROR_TIMEOUT, FALSE},
    {"half a reply, then silence", {.kind = TIDE_FAULT_SILENCE, .cut_bytes = 7}, TIDE_ERROR_TIMEOUT, FALSE},
    {"one byte at a time", {.drip_bytes = 1, .drip_interval_ms = SHORT_MS / 4}, TIDE_ERROR_TIMEOUT, FALSE},
    {"garbage",
     {.kind = TIDE_FAULT_GARBAGE, .garbage = TIDE_BYTES_LITERAL("\x7f\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff")},
     TIDE_ERROR_PROTOCOL,
     FALSE},
    {"another name", {.kind = TIDE_FAULT_WRONG_NAME}, TIDE_ERROR_PROTOCOL, FALSE},
    {"another sequence id", {.kind = TIDE_FAULT_WRONG_SEQUENCE_ID}, TIDE_ERROR_PROTOCOL, FALSE},
    {"an I/O error", {.kind = TIDE_FAULT_IO_ERROR}, TIDE_ERROR_GATEWAY, TRUE},
    {"an I/O error of an old gateway",
     {.kind = TIDE_FAULT_IO_ERROR, .can_retry = TIDE_CAN_RETRY_ABSENT},
     TIDE_ERROR_GATEWAY,
     TRUE},
    {"an internal error", {.kind = TIDE_FAULT_APPLICATION_ERROR}, TIDE_ERROR_APPLICATION, TRUE},
    {"an unknown method",
     {.kind = TIDE_FAULT_APPLICATION_ERROR, .application_type = TIDE_APPLICATION_UNKNOWN_METHOD},
     TIDE_ERROR_WRONG_SERVICE,
     TRUE},
};

static void
assert_fault_becomes_error(const TideErrorCase *c, TideWireMode mode)
{
  g_auto(ClientScene) at = scene_in_mode(mode);
  scripted_gateway_add_fault(at.gateway, &c->fault);
  gint64 deadline_us = c->code == TIDE_ERROR_TIMEOUT ? in_ms(SHORT_MS) : timeout();
  g_assert_false(put_one(&at, "r", "v", deadline_us));
  g_test_message("%s: %s", c->name, at.error->message);
  /* On a busy machine a reset comes before the connection is looked at for the first time. */
  if (c->fault.kind != TIDE_FAULT_CLOSE_ON_ACCEPT || !g_error_matches(at.error, TIDE_ERROR, TIDE_ERROR_CONNECT))
    g_assert_error(at.error, TIDE_ERROR, (int)c->code);
  g_assert_cmpint(tide_hbase_client_is_open(at.client), ==, c->stays_open);
  scripted_gateway_clear_faults(at.gateway);
  assert_put_one(&at, "s", "v");
}

TEST("/client-faults/D3-D4-D5-D13-each-fault-becomes-its-error-and-the-next-call-works")
{
  for (guint i = 0; i < G_N_ELEMENTS(error_cases); i++)
    assert_fault_becomes_error(&error_cases[i], modes[i % G_N_ELEMENTS(modes)]);
}

/* The message header of a reply to the first call, in the binary protocol. */
#define REPLY_HEAD "\x80\x01\x00\x02\x00\x00\x00\x0bputMultiple\x00\x00\x00\x01"

/* 16,384 structs in one another, an exception that nobody declared, and a frame that says it is longer than any reply
 * may be. */
TEST("/client-faults/D13-deep-and-endless-replies-are-refused")
{
  g_auto(TideBuffer) deep = {0};
  tide_buffer_append_bytes(&deep, TIDE_BYTES_LITERAL(REPLY_HEAD));
  for (guint i = 0; i < 16384; i++)
    tide_buffer_append_bytes(&deep, TIDE_BYTES_LITERAL("\x0c\x00\x01"));
  const struct {
    TideWireMode mode;
    TideBytes reply;
  } cases[] = {{modes[0], tide_buffer_bytes(&deep)},
               {modes[0], TIDE_BYTES_LITERAL(REPLY_HEAD "\x0c\x00\x03\x00\x00")},
               {modes[2], TIDE_BYTES_LITERAL("\x7f\xff\xff\xff\x00")},
               {modes[2], TIDE_BYTES_LITERAL("\xff\xff\xff\xff\x00")},
               {modes[2], TIDE_BYTES_LITERAL("\x00\x00\x00\x00")},
               {modes[1], TIDE_BYTES_LITERAL("\x82\x41\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01")}};
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    TideScriptedFault fault = {.kind = TIDE_FAULT_GARBAGE, .garbage = cases[i].reply};
    g_auto(ClientScene) at = scene_in_mode(cases[i].mode);
    scripted_gateway_add_fault(at.gateway, &fault);
    g_assert_false(put_one(&at, "r", "v", timeout()));
    g_test_message("%s", at.error->message);
    g_assert_error(at.error, TIDE_ERROR, TIDE_ERROR_PROTOCOL);
  }
}

/* A request larger than the kernel's buffers, to a gateway that goes away while it is sent: an error, and no
 * signal. */
TEST("/client-faults/D8-write-to-a-closed-gateway-is-an-error")
{
  g_autofree char *large = g_strnfill(16u << 20, 'v');
  g_auto(ClientScene) at = scene_in_mode(modes[0]);
  struct sigaction before;
  struct sigaction deadly = {.sa_handler = SIG_DFL};
  g_assert_cmpint(sigaction(SIGPIPE, &deadly, &before), ==, 0);
  for (guint i = 0; i < 4; i++) {
    TideScriptedFault fault = {.kind = TIDE_FAULT_CLOSE_MID_REQUEST, .cut_bytes = 5, .reset = i % 2 == 1};
    scripted_gateway_add_fault(at.gateway, &fault);
    g_assert_false(put_one(&at, "r", large, timeout()));
    g_assert_error(at.error, TIDE_ERROR, TIDE_ERROR_CONNECTION_LOST);
    g_assert_false(tide_hbase_client_is_open(at.client));
    g_clear_error(&at.error);
    scripted_gateway_clear_faults(at.gateway);
  }
  g_assert_cmpint(sigaction(SIGPIPE, &before, NULL), ==, 0);
}

static int
tcp_option(GSocket *socket, int option)
{
  int value = 0;
  g_assert_true(g_socket_get_option(socket, IPPROTO_TCP, option, &value, NULL));
  return value;
}

/* What finds out that a peer is gone without a word, idle or with a request on its way: within about a minute. */
TEST("/client-faults/D7-connections-are-watched-by-the-kernel")
{
  g_autoptr(TideScriptedGateway) gateway = gateway_in_mode(modes[0]);
  g_autoptr(GError) error = NULL;
  g_autoptr(TideEndpoint) endpoint = tide_endpoint_parse(scripted_gateway_endpoint(gateway), &error);
  TideCallLimits limits = {.peer = endpoint->text, .started_us = tide_now_us(), .deadline_us = timeout()};
  g_autoptr(GSocket) socket = tide_socket_connect(endpoint, &limits, &error);
  g_assert_no_error(error);
  g_assert_true(g_socket_get_keepalive(socket));
  g_assert_cmpint(tcp_option(socket, TCP_KEEPIDLE), ==, 30);
  g_assert_cmpint(tcp_option(socket, TCP_KEEPINTVL), ==, 10);
  g_assert_cmpint(tcp_option(socket, TCP_KEEPCNT), ==, 3);
  g_assert_cmpint(tcp_option(socket, TCP_USER_TIMEOUT), ==, 60000);
}

/* Both ends of a call have one deadline for all of it: a byte now and then does not keep it going. */
TEST("/client-faults/D4-a-byte-a-second-meets-the-deadline")
{
  g_auto(ClientScene) at = scene_in_mode(modes[0]);
  TideScriptedFault drip = {.drip_bytes = 1, .drip_interval_ms = 1000};
  scripted_gateway_add_fault(at.gateway, &drip);
  gint64 start_us = tide_now_us();
  g_assert_false(put_one(&at, "r", "v", in_ms(1500)));
  g_assert_error(at.error, TIDE_ERROR, TIDE_ERROR_TIMEOUT);
  g_assert_cmpint(tide_now_us() - start_us, >=, 1500 * TIDE_US_PER_MS);
  g_assert_cmpint(tide_now_us() - start_us, <, 4000 * TIDE_US_PER_MS);
  g_assert_false(tide_hbase_client_is_open(at.client));
}

TEST("/client-faults/D1-a-refusing-gateway-is-no-connection")
{
  g_auto(ClientScene) at = scene_in_mode(modes[0]);
  scripted_gateway_refuse(at.gateway);
  g_assert_false(put_one(&at, "r", "v", timeout()));
  g_assert_error(at.error, TIDE_ERROR, TIDE_ERROR_CONNECT);
  g_assert_false(tide_error_outcome_unknown(at.error));
  scripted_gateway_start(at.gateway);
  assert_put_one(&at, "r", "v");
}

/* ---- what tests ask of the gateways ---- */

/* After a put of rows "a", "b" and "c" through each fault, the table holds exactly the rows that the fault lets pass.
 */
TEST("/client-faults/rig/faults-apply-what-they-say")
{
  static const struct {
    TideScriptedFault fault;
    const char *rows;
  } cases[] = {
      {{.kind = TIDE_FAULT_CLOSE_MID_REQUEST, .cut_bytes = 10}, ""},
      {{.kind = TIDE_FAULT_CLOSE_BEFORE_REPLY}, "abc"},
      {{.kind = TIDE_FAULT_CLOSE_BEFORE_REPLY, .apply = TIDE_APPLY_NONE}, ""},
      {{.kind = TIDE_FAULT_IO_ERROR}, ""},
      {{.kind = TIDE_FAULT_IO_ERROR, .apply = TIDE_APPLY_ALL}, "abc"},
      {{.kind = TIDE_FAULT_IO_ERROR, .apply = TIDE_APPLY_FIRST, .apply_rows = 2}, "ab"},
      {{.kind = TIDE_FAULT_IO_ERROR, .apply = TIDE_APPLY_OTHERS, .row_prefix = TIDE_BYTES_LITERAL("b")}, "ac"},
      {{.kind = TIDE_FAULT_APPLICATION_ERROR}, ""},
      {{.kind = TIDE_FAULT_IO_ERROR, .table = "OTHER"}, "abc"},
      {{.kind = TIDE_FAULT_IO_ERROR, .row_prefix = TIDE_BYTES_LITERAL("bb")}, "abc"},
      {{.kind = TIDE_FAULT_IO_ERROR, .skip_calls = 1}, "abc"},
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_auto(ClientScene) at = scene_in_mode(modes[0]);
    g_auto(TideBuffer) puts = {0};
    for (const char *row = "abc"; *row != '\0'; row++) {
      tide_put_head_append(TIDE_WIRE_BINARY, &puts, tide_bytes(row, 1), 1);
      append_cell(TIDE_WIRE_BINARY, &puts, TIDE_BYTES_LITERAL("M"), TIDE_BYTES_LITERAL("q"), TIDE_BYTES_LITERAL("v"),
                  1);
      tide_put_tail_append(TIDE_WIRE_BINARY, &puts, TIDE_PUT_NO_TIME, 0);
    }
    TideBytes part = tide_buffer_bytes(&puts);
    scripted_gateway_add_fault(at.gateway, &cases[i].fault);
    gboolean done = tide_hbase_client_put_multiple(at.client, TABLE, &part, 1, 3, timeout(), &at.error);
    g_test_message("case %u: %s", i, done ? "done" : at.error->message);
    g_autofree char *dump = scripted_gateway_dump(at.gateway, "T");
    g_auto(GStrv) rows = g_strsplit(dump, "\tM:q\t1\tv\n", -1);
    g_autofree char *found = g_strjoinv("", rows);
    g_assert_cmpstr(found, ==, cases[i].rows);
  }
}

static gboolean
two_are_in_flight(const TideGatewayStats *stats, gpointer data)
{
  return stats->calls_in_flight == 2;
}

/* By region and row; no row of the first two is in both. */
TEST("/client-faults/rig/calls-in-flight-are-counted")
{
  g_auto(ClientScene) at = scene_in_mode(modes[0]);
  TideFakeHBase *hbase = scripted_gateway_hbase(at.gateway);
  guint16 port = scripted_gateway_port(at.gateway);
  scripted_gateway_add_fault(at.gateway, &(TideScriptedFault){.delay_reply_ms = TIMEOUT_MS, .max_hits = 2});
  g_autoptr(TideRawClient) one = raw_client_connect(port, FALSE, FALSE), other = raw_client_connect(port, FALSE, FALSE);
  raw_client_send_puts(one, "T", &(TideRawCell){"r", "q", "v", 1}, 1);
  raw_client_send_puts(other, "T", &(TideRawCell){"s", "q", "v", 1}, 1);
  g_assert_true(scripted_gateway_wait(at.gateway, two_are_in_flight, NULL, timeout()));
  g_assert_cmpuint(fake_hbase_max_flights_of_a_region(hbase, "T"), ==, 2);
  g_assert_cmpuint(fake_hbase_max_flights_of_a_row(hbase, "T"), ==, 1);
  assert_put_one(&at, "r", "v");
  g_assert_cmpuint(fake_hbase_max_flights_of_a_row(hbase, "T"), ==, 2);
  g_assert_cmpuint(fake_hbase_max_flights_of_a_region(hbase, "T"), ==, 3);
}

TEST("/client-faults/rig/faults-can-be-told-in-words")
{
  g_auto(GStrv) words =
      g_strsplit("io-error call=putMultiple row-prefix=\\x00a max-hits=3 apply=others message=busy", " ", -1);
  TideScriptedFault fault;
  g_assert_null(tide_scripted_fault_parse(words, &fault));
  g_assert_cmpint(fault.kind, ==, TIDE_FAULT_IO_ERROR);
  g_assert_cmpint(fault.call, ==, TIDE_CALL_PUT_MULTIPLE);
  g_assert_true(tide_bytes_equal(fault.row_prefix, tide_bytes("\0a", 2)));
  g_assert_cmpuint(fault.max_hits, ==, 3);
  g_assert_cmpint(fault.apply, ==, TIDE_APPLY_OTHERS);
  g_assert_cmpstr(fault.message, ==, "busy");
  static const char *const wrong[] = {
      "explode",       "io-error call=nope", "io-error colour=red", "io-error max-hits=-1", "io-error apply=half",
      "io-error alone"};
  for (guint i = 0; i < G_N_ELEMENTS(wrong); i++) {
    g_auto(GStrv) wrong_words = g_strsplit(wrong[i], " ", -1);
    g_autofree char *problem = tide_scripted_fault_parse(wrong_words, &fault);
    g_test_message("%s: %s", wrong[i], problem);
    g_assert_nonnull(problem);
  }
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  tide_hbase_client_init_types();
  test_cases_add();
  return g_test_run();
}
