/* Holds the scripted gateway to the bytes of the protocols, and to what a real one does with bytes that are none. */
#include "fault/gateway/raw_client.h"

static TideRawClient *
plain_client(TideScriptedGateway *gateway)
{
  return raw_client_connect(scripted_gateway_port(gateway), FALSE, FALSE);
}

typedef struct TideGolden {
  gboolean framed;
  gboolean compact;
  const char *request;
  const char *reply;
} TideGolden;

/* Worked out by hand from the two protocols' specifications; the replies to get are what HBase 2.6.1 sent. */
static const TideGolden goldens[] = {
    {FALSE, FALSE, "80010001 00000013 'getThriftServerType' 00000007 00",
     "80010002 00000013 'getThriftServerType' 00000007 08 0000 00000002 00"},
    {FALSE, TRUE, "82 21 07 13 'getThriftServerType' 00", "82 41 07 13 'getThriftServerType' 05 00 04 00"},
    {TRUE, FALSE, "00000020 80010001 00000013 'getThriftServerType' 00000007 00",
     "00000027 80010002 00000013 'getThriftServerType' 00000007 08 0000 00000002 00"},
    {TRUE, TRUE, "00000018 82 21 07 13 'getThriftServerType' 00",
     "0000001b 82 41 07 13 'getThriftServerType' 05 00 04 00"},
    {FALSE, FALSE,
     "80010001 0000000b 'putMultiple' 00000001 0b 0001 00000001 'T' 0f 0002 0c 00000001 "
     "0b 0001 00000001 'r' 0f 0002 0c 00000001 0b 0001 00000001 'M' 0b 0002 00000001 'q' 0b 0003 00000001 'v' "
     "0a 0004 00000000000003e8 00 00 00",
     "80010002 0000000b 'putMultiple' 00000001 00"},
    {FALSE, TRUE,
     "82 21 01 0b 'putMultiple' 18 01 'T' 19 1c 18 01 'r' 19 1c 18 01 'M' 18 01 'q' 18 01 'v' 16 d00f 00 00 00",
     "82 41 01 0b 'putMultiple' 00"},
    /* A sequence id above 127, a negative timestamp, and a put with the attribute _ttl of 2^32 ms. */
    {FALSE, TRUE,
     "82 21 ac02 0b 'putMultiple' 18 01 'T' 19 1c 18 01 'r' 19 1c 18 01 'M' 18 01 'q' 18 01 'v' 16 01 00 "
     "3b 01 88 04 '_ttl' 08 0000000100000000 00 00",
     "82 41 ac02 0b 'putMultiple' 00"},
    {FALSE, FALSE, "80010001 00000004 'nope' 00000009 08 0001 00000005 00",
     "80010003 00000004 'nope' 00000009 0b 0001 0000001b 'Invalid method name: ' 276e6f706527 08 0002 00000001 00"},
    {FALSE, FALSE, "80010001 00000003 'get' 00000007 0b 0001 00000001 'T' 0c 0002 0b 0001 00000002 'zz' 00 00",
     "80010002 00000003 'get' 00000007 0c 0000 0f 0002 0c 00000000 02 0003 00 02 0004 00 00 00"},
    {TRUE, TRUE, "00000011 82 21 00 03 'get' 18 01 'T' 1c 18 02 'zz' 00 00",
     "0000000f 82 41 00 03 'get' 0c 00 29 0c 12 12 00 00"},
    /* The form without a version that Java's server takes, too. */
    {FALSE, FALSE, "00000013 'getThriftServerType' 01 00000007 00",
     "80010002 00000013 'getThriftServerType' 00000007 08 0000 00000002 00"},
};

static void
test_replies_are_byte_for_byte_those_of_the_protocol(void)
{
  for (guint i = 0; i < G_N_ELEMENTS(goldens); i++) {
    const TideGolden *golden = &goldens[i];
    g_auto(TideBuffer) request = {0};
    g_auto(TideBuffer) reply = {0};
    raw_append_pattern(&request, golden->request);
    raw_append_pattern(&reply, golden->reply);
    g_autoptr(TideScriptedGateway) gateway = raw_gateway_new(&(TideRawMode){"", golden->framed, golden->compact});
    g_autoptr(TideRawClient) client = raw_client_connect(scripted_gateway_port(gateway), FALSE, FALSE);
    raw_client_send(client, tide_buffer_bytes(&request));
    g_autoptr(GBytes) received = raw_client_receive(client, reply.len);
    g_autofree char *seen = tide_bytes_hex(tide_bytes(g_bytes_get_data(received, NULL), g_bytes_get_size(received)));
    g_autofree char *wanted = tide_bytes_hex(tide_buffer_bytes(&reply));
    g_assert_cmpstr(seen, ==, wanted);
  }
}

static void
test_a_request_may_arrive_byte_by_byte(void)
{
  g_auto(TideBuffer) request = {0};
  raw_append_pattern(&request, goldens[4].request);
  g_autoptr(TideScriptedGateway) gateway = raw_gateway_new(&raw_modes[0]);
  g_autoptr(TideRawClient) client = plain_client(gateway);
  for (gsize i = 0; i < request.len; i++)
    raw_client_send(client, tide_bytes(request.data + i, 1));
  TideRawReply reply;
  raw_client_reply(client, &reply);
  g_assert_cmpint(reply.outcome, ==, RAW_OK);
  g_autofree char *dump = scripted_gateway_dump(gateway, "T");
  g_assert_cmpstr(dump, ==, "r\tM:q\t1000\tv\n");
}

static void
test_a_missing_argument_is_a_protocol_error(void)
{
  g_autoptr(TideScriptedGateway) gateway = raw_gateway_new(&raw_modes[0]);
  g_autoptr(TideRawClient) client = plain_client(gateway);
  TideRawReply reply;
  raw_client_call_begin(client, "putMultiple");
  raw_client_call_end(client);
  raw_client_reply(client, &reply);
  g_assert_cmpint(reply.outcome, ==, RAW_APPLICATION);
  g_assert_cmpint(reply.type, ==, TIDE_APPLICATION_PROTOCOL_ERROR);
}

/* What a client of the wrong mode meets: closed, or waiting for ever. */
static void
test_a_wrong_mode_is_refused_as_the_real_gateway_does(void)
{
  for (guint server = 0; server < RAW_N_MODES; server++) {
    for (guint peer = 0; peer < RAW_N_MODES; peer++) {
      if (peer == server)
        continue;
      g_autoptr(TideScriptedGateway) gateway = raw_gateway_new(&raw_modes[server]);
      g_autoptr(TideRawClient) client =
          raw_client_connect(scripted_gateway_port(gateway), raw_modes[peer].framed, raw_modes[peer].compact);
      raw_client_set_timeout_ms(client, 200);
      TideRawReply reply;
      raw_client_call_begin(client, "getThriftServerType");
      raw_client_call_end(client);
      raw_client_reply(client, &reply);
      /* The frame's length is read as that of an unversioned method name: the server waits for its rest. */
      gboolean waits = !raw_modes[server].framed && !raw_modes[server].compact && raw_modes[peer].framed;
      g_test_message("%s at a gateway of %s: %d", raw_modes[peer].name, raw_modes[server].name, reply.outcome);
      if (waits)
        g_assert_cmpint(reply.outcome, ==, RAW_TIMEOUT);
      else
        g_assert_true(reply.outcome == RAW_CLOSED || reply.outcome == RAW_RESET);
    }
  }
}

static void
test_too_long_a_frame_closes_the_connection(void)
{
  g_autoptr(TideScriptedGateway) gateway =
      scripted_gateway_new(&(TideGatewayOptions){.framed = TRUE, .frame_limit_bytes = 1000});
  scripted_gateway_create_table(gateway, "T", "M", NULL);
  g_autoptr(TideRawClient) client = raw_client_connect(scripted_gateway_port(gateway), TRUE, FALSE);
  g_autofree char *fits = g_strnfill(800, 'v');
  g_autofree char *too_long = g_strnfill(1000, 'v');
  g_assert_cmpint(raw_client_put(client, "T", "r", fits, 1), ==, RAW_OK);
  TideRawOutcome outcome = raw_client_put(client, "T", "r", too_long, 2);
  g_assert_true(outcome == RAW_CLOSED || outcome == RAW_RESET);
  TideGatewayStats stats;
  scripted_gateway_stats(gateway, &stats);
  g_assert_cmpuint(stats.broken_requests, ==, 1);
  g_assert_cmpstr(scripted_gateway_last_broken(gateway), ==, "negative or too large a frame");
}

static void
test_hostile_bytes_only_cost_the_connection(void)
{
  /* Broken arguments are answered, as the real gateway does; what is no message at all is not. */
  static const char *const requests[] = {
      "ffffffff ffffffff",
      "80010001 7fffffff 'x'",
      "80010001 ffffffff",
      "80010001 00000003 'get' 00000001 0b 0001 ffffffff",
      "80010001 00000003 'get' 00000001 0f 0063 0f 7fffffff",
      "80010001 00000003 'get' 00000001 0f 0063 0c ffffffff",
      "80010001 00000003 'get' 00000001 63 0001 00",
      "80010001 00000003 'get' 00000001 0f 0001 0f 00000001 0f 00000001 0f 00000001 0f 00000001 0f 00000001 0f "
      "00000001 0f 00000001 0f 00000001 0f 00000001 0f 00000001 0f 00000001 0f 00000001 0f 00000001 0f 00000001 0f "
      "00000001 0f 00000001 0f 00000001 0f 00000001 0f 00000001 0f 00000001",
      "'GET / HTTP/1.1' 0d0a 0d0a",
  };
  for (guint i = 0; i < G_N_ELEMENTS(requests); i++) {
    g_autoptr(TideScriptedGateway) gateway = raw_gateway_new(&raw_modes[0]);
    g_autoptr(TideRawClient) client = plain_client(gateway);
    g_auto(TideBuffer) request = {0};
    raw_append_pattern(&request, requests[i]);
    raw_client_send(client, tide_buffer_bytes(&request));
    TideRawReply reply;
    raw_client_reply(client, &reply);
    gboolean has_head = g_str_has_prefix(requests[i], "80010001 00000003 'get'");
    if (has_head)
      g_assert_cmpint(reply.type, ==, TIDE_APPLICATION_PROTOCOL_ERROR);
    else
      g_assert_true(reply.outcome == RAW_CLOSED || reply.outcome == RAW_RESET);
    g_autoptr(TideRawClient) next = plain_client(gateway);
    g_assert_cmpint(raw_client_put(next, "T", "r", "v", 1), ==, RAW_OK);
  }
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
#define ADD(path, function) g_test_add_func("/scripted-wire/" path, function)
  ADD("replies-are-byte-for-byte-those-of-the-protocol", test_replies_are_byte_for_byte_those_of_the_protocol);
  ADD("a-request-may-arrive-byte-by-byte", test_a_request_may_arrive_byte_by_byte);
  ADD("a-missing-argument-is-a-protocol-error", test_a_missing_argument_is_a_protocol_error);
  ADD("a-wrong-mode-is-refused-as-the-real-gateway-does", test_a_wrong_mode_is_refused_as_the_real_gateway_does);
  ADD("too-long-a-frame-closes-the-connection", test_too_long_a_frame_closes_the_connection);
  ADD("hostile-bytes-only-cost-the-connection", test_hostile_bytes_only_cost_the_connection);
#undef ADD
  return g_test_run();
}
