/* Holds the scripted gateway's faults to what they promise: what a client sees, and what reaches the tables. */
#include "fault/gateway/raw_client.h"
#include "util/clock.h"

#define TIMEOUT_US (RAW_TIMEOUT_MS * TIDE_US_PER_MS)
#define SHORT_MS 100 /* how long a test waits for something that must not come */

static gint64
timeout(void)
{
  return tide_now_us() + TIMEOUT_US;
}

static TideScriptedGateway *
gateway_with_table(void)
{
  TideScriptedGateway *gateway = scripted_gateway_new(NULL);
  scripted_gateway_create_table(gateway, "T", "M", (const char *const[]){"m", NULL});
  scripted_gateway_create_table(gateway, "OTHER", "M", NULL);
  return gateway;
}

static TideRawClient *
client_of(TideScriptedGateway *gateway)
{
  return raw_client_connect(scripted_gateway_port(gateway), FALSE, FALSE);
}

static TideRawScene
scene(void)
{
  return raw_scene_of(gateway_with_table(), &raw_modes[0]);
}

static void
send_rows(TideRawClient *client, const char *table, const char *rows)
{
  TideRawCell cells[16];
  g_auto(GStrv) names = g_strsplit(rows, " ", G_N_ELEMENTS(cells));
  guint n = g_strv_length(names);
  for (guint i = 0; i < n; i++)
    cells[i] = (TideRawCell){names[i], "q", "v", 1};
  raw_client_send_puts(client, table, cells, n);
}

/* The outcome of one call that puts @rows. */
static TideRawOutcome
put_rows(TideRawScene *at, const char *table, const char *rows)
{
  send_rows(at->client, table, rows);
  raw_client_reply(at->client, &at->reply);
  return at->reply.outcome;
}

static guint
add_fault(TideRawScene *at, TideScriptedFault fault)
{
  return scripted_gateway_add_fault(at->gateway, &fault);
}

/* The table's rows as one text: "a b c". */
static char *
rows_text(TideScriptedGateway *gateway, const char *table)
{
  g_autofree char *dump = scripted_gateway_dump(gateway, table);
  g_auto(GStrv) lines = g_strsplit(dump, "\n", -1);
  GString *text = g_string_new(NULL);
  for (guint i = 0; lines[i] != NULL && *lines[i] != '\0'; i++)
    g_string_append_printf(text, "%s%.*s", i > 0 ? " " : "", (int)strcspn(lines[i], "\t"), lines[i]);
  return g_string_free(text, FALSE);
}

static void
assert_rows(TideScriptedGateway *gateway, const char *wanted)
{
  g_autofree char *rows = rows_text(gateway, "T");
  g_assert_cmpstr(rows, ==, wanted);
}

typedef struct TideFaultCase {
  const char *name;
  TideScriptedFault fault;
  TideRawOutcome outcome;
  TideRawOutcome or_outcome; /* where the kernel decides; RAW_OK: none */
  const char *rows;          /* what is in the table after a put of "a b c" */
} TideFaultCase;

static const TideFaultCase cases[] = {
    {"none", {.kind = TIDE_FAULT_NONE}, RAW_OK, RAW_OK, "a b c"},
    {"none, nothing applied", {.apply = TIDE_APPLY_NONE}, RAW_OK, RAW_OK, ""},
    {"mid request", {.kind = TIDE_FAULT_CLOSE_MID_REQUEST, .cut_bytes = 10}, RAW_CLOSED, RAW_RESET, ""},
    {"before the reply", {.kind = TIDE_FAULT_CLOSE_BEFORE_REPLY}, RAW_CLOSED, RAW_OK, "a b c"},
    {"before the reply, by reset", {.kind = TIDE_FAULT_CLOSE_BEFORE_REPLY, .reset = TRUE}, RAW_RESET, RAW_OK, "a b c"},
    {"before the reply, nothing applied",
     {.kind = TIDE_FAULT_CLOSE_BEFORE_REPLY, .apply = TIDE_APPLY_NONE},
     RAW_CLOSED,
     RAW_OK,
     ""},
    {"mid reply", {.kind = TIDE_FAULT_CLOSE_MID_REPLY, .cut_bytes = 9}, RAW_CLOSED, RAW_OK, "a b c"},
    {"mid reply, by reset",
     {.kind = TIDE_FAULT_CLOSE_MID_REPLY, .cut_bytes = 9, .reset = TRUE},
     RAW_RESET,
     RAW_OK,
     "a b c"},
    {"silence", {.kind = TIDE_FAULT_SILENCE}, RAW_TIMEOUT, RAW_OK, "a b c"},
    {"cut and silence", {.kind = TIDE_FAULT_SILENCE, .cut_bytes = 12}, RAW_TIMEOUT, RAW_OK, "a b c"},
    {"garbage",
     {.kind = TIDE_FAULT_GARBAGE, .garbage = TIDE_BYTES_LITERAL("\x80\x02xyz")},
     RAW_BROKEN,
     RAW_OK,
     "a b c"},
    {"an I/O error", {.kind = TIDE_FAULT_IO_ERROR}, RAW_IO_ERROR, RAW_OK, ""},
    {"an I/O error after all", {.kind = TIDE_FAULT_IO_ERROR, .apply = TIDE_APPLY_ALL}, RAW_IO_ERROR, RAW_OK, "a b c"},
    {"an I/O error after some",
     {.kind = TIDE_FAULT_IO_ERROR, .apply = TIDE_APPLY_FIRST, .apply_rows = 2},
     RAW_IO_ERROR,
     RAW_OK,
     "a b"},
    {"an I/O error of one row",
     {.kind = TIDE_FAULT_IO_ERROR, .apply = TIDE_APPLY_OTHERS, .row_prefix = TIDE_BYTES_LITERAL("b")},
     RAW_IO_ERROR,
     RAW_OK,
     "a c"},
    {"an application error", {.kind = TIDE_FAULT_APPLICATION_ERROR}, RAW_APPLICATION, RAW_OK, ""},
    {"some, then closed",
     {.kind = TIDE_FAULT_CLOSE_BEFORE_REPLY, .apply = TIDE_APPLY_FIRST, .apply_rows = 1},
     RAW_CLOSED,
     RAW_OK,
     "a"},
};

static void
test_each_fault_is_seen_as_it_says_and_applies_what_it_says(void)
{
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    const TideFaultCase *c = &cases[i];
    g_auto(TideRawScene) at = scene();
    g_test_message("%s", c->name);
    guint id = scripted_gateway_add_fault(at.gateway, &c->fault);
    if (c->outcome == RAW_TIMEOUT)
      raw_client_set_timeout_ms(at.client, SHORT_MS);
    (void)put_rows(&at, "T", "a b c");
    g_assert_true(at.reply.outcome == c->outcome || (c->or_outcome != RAW_OK && at.reply.outcome == c->or_outcome));
    assert_rows(at.gateway, c->rows);
    g_assert_cmpuint(scripted_gateway_fault_hits(at.gateway, id), ==, 1);
    scripted_gateway_clear_faults(at.gateway);
    g_autoptr(TideRawClient) next = client_of(at.gateway);
    g_assert_cmpint(raw_client_put(next, "T", "z", "v", 1), ==, RAW_OK);
  }
}

/* The client is closed without a byte, and leaves. */
static void
assert_closed_at_once(TideRawClient *client)
{
  g_autoptr(GBytes) nothing = raw_client_receive(client, 1);
  g_assert_cmpuint(g_bytes_get_size(nothing), ==, 0);
  raw_client_free(client);
}

static void
test_a_connection_can_be_closed_before_anything_is_read(void)
{
  g_autoptr(TideScriptedGateway) gateway = gateway_with_table();
  scripted_gateway_add_fault(gateway, &(TideScriptedFault){.kind = TIDE_FAULT_CLOSE_ON_ACCEPT, .max_hits = 1});
  assert_closed_at_once(client_of(gateway));
  g_autoptr(TideRawClient) second = client_of(gateway);
  g_assert_cmpint(raw_client_put(second, "T", "r", "v", 1), ==, RAW_OK);
}

static void
test_errors_carry_their_text_and_can_retry(void)
{
  static const int wanted[] = {[TIDE_CAN_RETRY_YES] = 1, [TIDE_CAN_RETRY_NO] = 0, [TIDE_CAN_RETRY_ABSENT] = -1};
  g_auto(TideRawScene) at = scene();
  for (guint i = 0; i < G_N_ELEMENTS(wanted); i++) {
    add_fault(&at, (TideScriptedFault){.kind = TIDE_FAULT_IO_ERROR,
                                       .max_hits = 1,
                                       .message = "region moved",
                                       .can_retry = (TideFaultCanRetry)i});
    g_assert_cmpint(put_rows(&at, "T", "a"), ==, RAW_IO_ERROR);
    g_assert_cmpstr(at.reply.message, ==, "region moved");
    g_assert_cmpint(at.reply.can_retry, ==, wanted[i]);
  }
  add_fault(&at, (TideScriptedFault){.kind = TIDE_FAULT_APPLICATION_ERROR,
                                     .application_type = TIDE_APPLICATION_UNKNOWN_METHOD});
  (void)put_rows(&at, "T", "a");
  g_assert_cmpint(at.reply.type, ==, TIDE_APPLICATION_UNKNOWN_METHOD);
  g_assert_cmpstr(at.reply.message, ==, "Internal error processing putMultiple");
}

static void
test_names_and_sequence_ids_can_be_wrong(void)
{
  g_auto(TideRawScene) at = scene();
  (void)put_rows(&at, "T", "a");
  g_assert_cmpstr(at.reply.name, ==, "putMultiple");
  g_assert_cmpint(at.reply.sequence_id, ==, 1);
  guint id = add_fault(&at, (TideScriptedFault){.kind = TIDE_FAULT_WRONG_NAME});
  (void)put_rows(&at, "T", "a");
  g_assert_cmpstr(at.reply.name, ==, "somethingElse");
  scripted_gateway_clear_fault(at.gateway, id);
  add_fault(&at, (TideScriptedFault){.kind = TIDE_FAULT_WRONG_SEQUENCE_ID});
  (void)put_rows(&at, "T", "a");
  g_assert_cmpint(at.reply.sequence_id, ==, 4);
}

static void
test_replies_can_be_late_and_drip(void)
{
  g_auto(TideRawScene) at = scene();
  gint64 start_us = tide_now_us();
  guint id = add_fault(&at, (TideScriptedFault){.delay_reply_ms = 50});
  g_assert_cmpint(raw_client_put(at.client, "T", "a", "v", 1), ==, RAW_OK);
  g_assert_cmpint(tide_now_us() - start_us, >=, 50 * TIDE_US_PER_MS);
  scripted_gateway_clear_fault(at.gateway, id);
  start_us = tide_now_us();
  add_fault(&at, (TideScriptedFault){.drip_bytes = 4, .drip_interval_ms = 10});
  g_assert_cmpint(raw_client_put(at.client, "T", "a", "v", 1), ==, RAW_OK);
  /* 4 + 4 + 11 + 4 + 1 bytes: the sixth piece comes after five waits. */
  g_assert_cmpint(tide_now_us() - start_us, >=, 50 * TIDE_US_PER_MS);
}

static void
test_faults_hit_only_the_calls_they_name(void)
{
  static const struct {
    TideScriptedFault fault;
    gboolean hits_row_b_of_t;
  } selections[] = {
      {{.call = TIDE_CALL_PUT_MULTIPLE}, TRUE},
      {{.call = TIDE_CALL_GET}, FALSE},
      {{.table = "T"}, TRUE},
      {{.table = "OTHER"}, FALSE},
      {{.row_prefix = TIDE_BYTES_LITERAL("b")}, TRUE},
      {{.row_prefix = TIDE_BYTES_LITERAL("bb")}, FALSE},
      {{.connection = 1}, TRUE},
      {{.connection = 2}, FALSE},
      {{.call = TIDE_CALL_PUT_MULTIPLE, .table = "T", .row_prefix = TIDE_BYTES_LITERAL("b"), .connection = 1}, TRUE},
      {{.call = TIDE_CALL_PUT_MULTIPLE, .table = "OTHER", .row_prefix = TIDE_BYTES_LITERAL("b"), .connection = 1},
       FALSE},
  };
  for (guint i = 0; i < G_N_ELEMENTS(selections); i++) {
    g_auto(TideRawScene) at = scene();
    TideScriptedFault fault = selections[i].fault;
    fault.kind = TIDE_FAULT_IO_ERROR;
    scripted_gateway_add_fault(at.gateway, &fault);
    g_assert_cmpint(put_rows(&at, "T", "a b"), ==, selections[i].hits_row_b_of_t ? RAW_IO_ERROR : RAW_OK);
  }
}

static gboolean
is_long(TideBytes row, gpointer data)
{
  return row.len > GPOINTER_TO_SIZE(data);
}

static void
test_a_fault_can_ask_for_rows_by_a_function(void)
{
  g_auto(TideRawScene) at = scene();
  add_fault(&at, (TideScriptedFault){.kind = TIDE_FAULT_IO_ERROR,
                                     .row_matches = is_long,
                                     .row_matches_data = GSIZE_TO_POINTER(3),
                                     .apply = TIDE_APPLY_OTHERS});
  g_assert_cmpint(put_rows(&at, "T", "a long b"), ==, RAW_IO_ERROR);
  assert_rows(at.gateway, "a b");
  g_assert_cmpint(put_rows(&at, "T", "c"), ==, RAW_OK);
}

/* What ten puts of one row come to, a letter each: '.' is fine, 'x' an I/O error, 'A' an application error. */
static void
test_faults_act_in_their_order_and_as_counted(void)
{
  static const struct {
    TideScriptedFault faults[2];
    guint n_faults;
    const char *outcomes;
    guint64 hits; /* of the first */
  } counted[] = {
      {{{.kind = TIDE_FAULT_IO_ERROR, .skip_calls = 2, .every = 3, .max_hits = 2}}, 1, "..x..x....", 2},
      {{{.kind = TIDE_FAULT_IO_ERROR, .max_hits = 1}, {.kind = TIDE_FAULT_APPLICATION_ERROR, .max_hits = 1}},
       2,
       "xA........",
       1},
  };
  for (guint i = 0; i < G_N_ELEMENTS(counted); i++) {
    g_auto(TideRawScene) at = scene();
    g_autoptr(GString) seen = g_string_new(NULL);
    guint id = add_fault(&at, counted[i].faults[0]);
    if (counted[i].n_faults > 1)
      (void)add_fault(&at, counted[i].faults[1]);
    for (guint call = 0; call < 10; call++) {
      TideRawOutcome outcome = put_rows(&at, "T", "a");
      g_string_append_c(seen, outcome == RAW_OK ? '.' : outcome == RAW_IO_ERROR ? 'x' : 'A');
    }
    g_assert_cmpstr(seen->str, ==, counted[i].outcomes);
    g_assert_cmpuint(scripted_gateway_fault_hits(at.gateway, id), ==, counted[i].hits);
  }
}

/* As measured at the real one: the old call's value lands after a newer write, and wins at an equal time. */
static void
test_an_abandoned_call_lands_later_and_wins(void)
{
  g_autoptr(TideScriptedGateway) gateway = gateway_with_table();
  guint id = scripted_gateway_add_fault(gateway, &(TideScriptedFault){.delay_apply_ms = 300, .max_hits = 1});
  TideRawClient *old = client_of(gateway);
  raw_client_send_puts(old, "T", &(TideRawCell){"r", "q", "old", 7}, 1);
  g_assert_true(scripted_gateway_wait_fault_hits(gateway, id, 1, timeout()));
  raw_client_free(old);
  g_autoptr(TideRawClient) client = client_of(gateway);
  g_assert_cmpint(raw_client_put(client, "T", "r", "new", 7), ==, RAW_OK);
  g_autofree char *before = scripted_gateway_dump(gateway, "T");
  g_assert_cmpstr(before, ==, "r\tM:q\t7\tnew\n");
  g_assert_true(fake_hbase_wait_value(scripted_gateway_hbase(gateway), "T", "r", "M", "q", "old", timeout()));
}

static void
test_a_kill_resets_drops_what_waits_and_keeps_the_tables(void)
{
  g_autoptr(TideScriptedGateway) gateway = gateway_with_table();
  guint16 port = scripted_gateway_port(gateway);
  g_autoptr(TideRawClient) client = client_of(gateway);
  TideRawReply reply;
  g_assert_cmpint(raw_client_put(client, "T", "a", "v", 1), ==, RAW_OK);
  guint id = scripted_gateway_add_fault(gateway, &(TideScriptedFault){.delay_apply_ms = RAW_TIMEOUT_MS});
  send_rows(client, "T", "b");
  g_assert_true(scripted_gateway_wait_fault_hits(gateway, id, 1, timeout()));
  scripted_gateway_kill(gateway);
  raw_client_reply(client, &reply);
  g_assert_cmpint(reply.outcome, ==, RAW_RESET);
  g_assert_false(raw_client_is_accepted(port));

  scripted_gateway_clear_faults(gateway);
  scripted_gateway_start(gateway);
  g_assert_cmpuint(scripted_gateway_port(gateway), ==, port);
  g_autoptr(TideRawClient) next = client_of(gateway);
  g_assert_cmpint(raw_client_put(next, "T", "c", "v", 1), ==, RAW_OK);
  assert_rows(gateway, "a c");
}

static void
test_a_write_can_land_after_its_gateway_was_killed(void)
{
  g_auto(TideRawScene) at = scene();
  guint id = add_fault(&at, (TideScriptedFault){.delay_apply_ms = 200, .lands_after_kill = TRUE, .max_hits = 1});
  send_rows(at.client, "T", "a");
  g_assert_true(scripted_gateway_wait_fault_hits(at.gateway, id, 1, timeout()));
  scripted_gateway_kill(at.gateway);
  assert_rows(at.gateway, "");
  g_assert_true(scripted_gateway_wait_rows(at.gateway, "T", 1, timeout()));
}

static void
test_a_kill_forgets_scanners(void)
{
  g_auto(TideRawScene) at = scene();
  gint32 scanner = raw_client_open_scanner(at.client, "T", &(TideRawScan){0});
  scripted_gateway_kill(at.gateway);
  scripted_gateway_start(at.gateway);
  g_autoptr(TideRawClient) next = client_of(at.gateway);
  raw_client_scanner_rows(next, scanner, 1, &at.reply);
  g_assert_cmpint(at.reply.outcome, ==, RAW_ARGUMENT);
}

static void
test_refusing_keeps_the_open_connections(void)
{
  g_auto(TideRawScene) at = scene();
  g_assert_cmpint(raw_client_put(at.client, "T", "a", "v", 1), ==, RAW_OK);
  scripted_gateway_refuse(at.gateway);
  g_assert_false(raw_client_is_accepted(scripted_gateway_port(at.gateway)));
  g_assert_cmpint(raw_client_put(at.client, "T", "b", "v", 1), ==, RAW_OK);
  scripted_gateway_start(at.gateway);
  g_assert_true(raw_client_is_accepted(scripted_gateway_port(at.gateway)));
  scripted_gateway_reset_connections(at.gateway);
  raw_client_reply(at.client, &at.reply);
  g_assert_cmpint(at.reply.outcome, ==, RAW_RESET);
}

typedef struct TidePersonalityCase {
  TidePersonality personality;
  TideRawOutcome server_type;
  gint64 number;
  TideRawOutcome exists; /* tableExists */
  int can_retry;         /* of a put to a table that is not there; -1: an old gateway does not send it */
} TidePersonalityCase;

static void
test_each_personality_answers_in_its_way(void)
{
  static const TidePersonalityCase personalities[] = {
      {TIDE_PERSONALITY_THRIFT2, RAW_OK, 2, RAW_OK, 1},
      {TIDE_PERSONALITY_OLD_THRIFT2, RAW_APPLICATION, 0, RAW_OK, -1},
      {TIDE_PERSONALITY_THRIFT1, RAW_OK, 1, RAW_APPLICATION, -1},
      {TIDE_PERSONALITY_OLD_THRIFT1, RAW_APPLICATION, 0, RAW_APPLICATION, -1},
  };
  for (guint i = 0; i < G_N_ELEMENTS(personalities); i++) {
    const TidePersonalityCase *c = &personalities[i];
    TideScriptedGateway *gateway = gateway_with_table();
    scripted_gateway_set_personality(gateway, c->personality);
    g_auto(TideRawScene) at = raw_scene_of(gateway, &raw_modes[0]);
    raw_client_call_begin(at.client, "getThriftServerType");
    raw_client_call_end(at.client);
    raw_client_reply(at.client, &at.reply);
    g_assert_cmpint(at.reply.outcome, ==, c->server_type);
    g_assert_cmpint(at.reply.number, ==, c->number);
    if (at.reply.outcome == RAW_APPLICATION)
      g_assert_cmpint(at.reply.type, ==, TIDE_APPLICATION_UNKNOWN_METHOD);
    g_assert_cmpint(raw_client_ask_table(at.client, "tableExists", "T", TRUE, &at.reply), ==, c->exists);
    g_assert_cmpint(put_rows(&at, "nosuch", "a"), ==, c->exists == RAW_OK ? RAW_IO_ERROR : RAW_APPLICATION);
    g_assert_cmpint(at.reply.can_retry, ==, c->can_retry);
  }
}

static void
assert_stranger(TidePersonality personality, TideBytes start)
{
  g_autoptr(TideScriptedGateway) gateway = scripted_gateway_new(&(TideGatewayOptions){.personality = personality});
  g_autoptr(TideRawClient) client = client_of(gateway);
  raw_client_call_begin(client, "getThriftServerType");
  raw_client_call_end(client);
  g_autoptr(GBytes) answer = raw_client_receive(client, 4096); /* to its end: it closes */
  g_assert_cmpuint(g_bytes_get_size(answer), >=, start.len);
  g_assert_true(tide_bytes_equal(tide_bytes(g_bytes_get_data(answer, NULL), start.len), start));
}

static void
test_web_and_tls_ports_answer_as_such(void)
{
  assert_stranger(TIDE_PERSONALITY_HTTP, TIDE_BYTES_LITERAL("HTTP/1.1 400 "));
  assert_stranger(TIDE_PERSONALITY_TLS, TIDE_BYTES_LITERAL("\x15\x03\x03\x00\x02\x02"));
}

static void
test_idle_connections_are_closed(void)
{
  g_autoptr(TideScriptedGateway) gateway = scripted_gateway_new(&(TideGatewayOptions){.idle_close_ms = 50});
  assert_closed_at_once(client_of(gateway));
  g_assert_true(scripted_gateway_wait_open_connections(gateway, 0, timeout()));
}

static void
test_a_full_gateway_closes_the_next_connection(void)
{
  g_autoptr(TideScriptedGateway) gateway = scripted_gateway_new(&(TideGatewayOptions){.max_connections = 1});
  g_autoptr(TideRawClient) first = client_of(gateway);
  (void)first; /* only open */
  g_assert_true(scripted_gateway_wait_open_connections(gateway, 1, timeout()));
  assert_closed_at_once(client_of(gateway));
  TideGatewayStats stats;
  scripted_gateway_stats(gateway, &stats);
  g_assert_cmpuint(stats.refused_connections, ==, 1);
}

static gboolean
two_are_in_flight(const TideGatewayStats *stats, gpointer data)
{
  return stats->calls_in_flight == 2;
}

static void
test_calls_in_flight_are_counted_by_region_and_row(void)
{
  g_autoptr(TideScriptedGateway) gateway = gateway_with_table();
  TideFakeHBase *hbase = scripted_gateway_hbase(gateway);
  scripted_gateway_add_fault(gateway, &(TideScriptedFault){.delay_reply_ms = RAW_TIMEOUT_MS, .max_hits = 2});
  g_autoptr(TideRawClient) one = client_of(gateway);
  g_autoptr(TideRawClient) other = client_of(gateway);
  send_rows(one, "T", "a b x");
  send_rows(other, "T", "c d");
  g_assert_true(scripted_gateway_wait(gateway, two_are_in_flight, NULL, timeout()));
  /* Both have rows below "m"; no row is in both. */
  g_assert_cmpuint(fake_hbase_max_flights_of_a_region(hbase, "T"), ==, 2);
  g_assert_cmpuint(fake_hbase_max_flights_of_a_row(hbase, "T"), ==, 1);
  g_autoptr(TideRawClient) third = client_of(gateway);
  g_assert_cmpint(raw_client_put(third, "T", "a", "v", 2), ==, RAW_OK);
  g_assert_cmpuint(fake_hbase_max_flights_of_a_row(hbase, "T"), ==, 2);
  g_assert_cmpuint(fake_hbase_max_flights_of_a_region(hbase, "T"), ==, 3);
  TideGatewayStats stats;
  scripted_gateway_stats(gateway, &stats);
  g_assert_cmpuint(stats.max_calls_in_flight, ==, 3);
  g_assert_cmpuint(stats.max_open_connections, ==, 3);
}

static void
test_waiting_ends_at_its_deadline(void)
{
  g_autoptr(TideScriptedGateway) gateway = gateway_with_table();
  gint64 start_us = tide_now_us();
  g_assert_false(scripted_gateway_wait_rows(gateway, "T", 1, start_us + 50 * TIDE_US_PER_MS));
  g_assert_false(scripted_gateway_wait_calls(gateway, TIDE_CALL_ANY, 1, start_us + 100 * TIDE_US_PER_MS));
  g_assert_cmpint(tide_now_us() - start_us, >=, 100 * TIDE_US_PER_MS);
}

static void
test_faults_can_be_told_in_words(void)
{
  g_auto(GStrv) words = g_strsplit("io-error call=putMultiple table=T row-prefix=\\x00a max-hits=3 apply=others "
                                   "can-retry=absent message=busy lands-after-kill=yes delay-apply-ms=7 cut-bytes=2",
                                   " ", -1);
  TideScriptedFault fault;
  g_assert_null(tide_scripted_fault_parse(words, &fault));
  g_assert_cmpint(fault.kind, ==, TIDE_FAULT_IO_ERROR);
  g_assert_cmpint(fault.call, ==, TIDE_CALL_PUT_MULTIPLE);
  g_assert_cmpstr(fault.table, ==, "T");
  g_assert_true(tide_bytes_equal(fault.row_prefix, tide_bytes("\0a", 2)));
  g_assert_cmpuint(fault.max_hits, ==, 3);
  g_assert_cmpint(fault.apply, ==, TIDE_APPLY_OTHERS);
  g_assert_cmpint(fault.can_retry, ==, TIDE_CAN_RETRY_ABSENT);
  g_assert_cmpstr(fault.message, ==, "busy");
  g_assert_true(fault.lands_after_kill);
  g_assert_cmpint(fault.delay_apply_ms, ==, 7);
  g_assert_cmpuint(fault.cut_bytes, ==, 2);

  static const char *const wrong[] = {"",
                                      "explode",
                                      "io-error call=nope",
                                      "io-error colour=red",
                                      "io-error max-hits=-1",
                                      "io-error apply=half",
                                      "io-error alone"};
  for (guint i = 0; i < G_N_ELEMENTS(wrong); i++) {
    g_auto(GStrv) wrong_words = g_strsplit(wrong[i], " ", -1);
    g_autofree char *problem = tide_scripted_fault_parse(wrong_words, &fault);
    g_assert_nonnull(problem);
  }
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
#define ADD(path, function) g_test_add_func("/scripted-faults/" path, function)
  ADD("each-is-seen-as-it-says-and-applies-what-it-says", test_each_fault_is_seen_as_it_says_and_applies_what_it_says);
  ADD("a-connection-can-be-closed-before-anything-is-read", test_a_connection_can_be_closed_before_anything_is_read);
  ADD("errors-carry-their-text-and-can-retry", test_errors_carry_their_text_and_can_retry);
  ADD("names-and-sequence-ids-can-be-wrong", test_names_and_sequence_ids_can_be_wrong);
  ADD("replies-can-be-late-and-drip", test_replies_can_be_late_and_drip);
  ADD("they-hit-only-the-calls-they-name", test_faults_hit_only_the_calls_they_name);
  ADD("they-can-ask-for-rows-by-a-function", test_a_fault_can_ask_for_rows_by_a_function);
  ADD("they-act-in-their-order-and-as-counted", test_faults_act_in_their_order_and_as_counted);
  ADD("an-abandoned-call-lands-later-and-wins", test_an_abandoned_call_lands_later_and_wins);
  ADD("a-kill-resets-drops-what-waits-and-keeps-the-tables", test_a_kill_resets_drops_what_waits_and_keeps_the_tables);
  ADD("a-write-can-land-after-its-gateway-was-killed", test_a_write_can_land_after_its_gateway_was_killed);
  ADD("a-kill-forgets-scanners", test_a_kill_forgets_scanners);
  ADD("refusing-keeps-the-open-connections", test_refusing_keeps_the_open_connections);
  ADD("each-personality-answers-in-its-way", test_each_personality_answers_in_its_way);
  ADD("web-and-tls-ports-answer-as-such", test_web_and_tls_ports_answer_as_such);
  ADD("idle-connections-are-closed", test_idle_connections_are_closed);
  ADD("a-full-gateway-closes-the-next-connection", test_a_full_gateway_closes_the_next_connection);
  ADD("calls-in-flight-are-counted-by-region-and-row", test_calls_in_flight_are_counted_by_region_and_row);
  ADD("waiting-ends-at-its-deadline", test_waiting_ends_at_its_deadline);
  ADD("they-can-be-told-in-words", test_faults_can_be_told_in_words);
#undef ADD
  return g_test_run();
}
