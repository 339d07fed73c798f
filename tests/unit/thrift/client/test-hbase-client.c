/* The client against a scripted gateway: what it makes of the answers to its puts, and when it hangs up. */
#include "unit/answering_gateway.h"
#include "unit/test_case.h"

#define SHORT_MS 100

TEST("/client/put-works-in-all-modes")
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
TEST("/client/only-an-answer-leaves-the-connection-open")
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
      {answer_other_sequence_id, TIDE_ERROR_PROTOCOL, FALSE, GENEROUS_MS, "answered by the reply to call"},
      {answer_other_method, TIDE_ERROR_PROTOCOL, FALSE, GENEROUS_MS, "answered by a reply to 'put'"},
      {answer_nothing, TIDE_ERROR_TIMEOUT, FALSE, SHORT_MS, "did not answer within 1"},
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
TEST("/client/connection-cut-while-idle-is-replaced")
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

TEST("/client/call-after-its-deadline-is-not-sent")
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

TEST("/client/closed-port-means-nothing-was-sent")
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

TEST("/client/cancel-ends-this-call-and-later-ones")
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

int
main(int argc, char **argv)
{
  tide_hbase_client_init_types();
  g_test_init(&argc, &argv, NULL);
  test_cases_add();
  return g_test_run();
}
