/* Rows that HBase refuses: those that can never be written are found and kept as dead letters, and all others are
 * written; a table that takes no rows is waited for; a busy region is not stormed. */
#include "fault/gateway/raw_client.h"
#include "fault/pipeline/pipeline_fixture.h"
#include "unit/loopback_server.h"
#include "util/clock.h"
#include "util/error.h"

#include <glib/gstdio.h>
#include <microhttpd.h>

/* As region servers say it, with the trace that they bring. */
#define TOO_LARGE                                                                                                      \
  "Failed 1 action: org.apache.hadoop.hbase.DoNotRetryIOException: Cell with size 10485999 exceeds limit of 10485760 " \
  "bytes\n\tat org.apache.hadoop.hbase.regionserver.RSRpcServices.checkCellSizeLimit(RSRpcServices.java:938)\n"        \
  ": 1 time, servers with issues: rs1.example.com,16020,1718040000000"
#define TOO_BUSY                                                                                                       \
  "Failed 1 action: org.apache.hadoop.hbase.RegionTooBusyException: Over memstore limit=512.0M, regionName=ab, "       \
  "server=rs1: 1 time, servers with issues: rs1.example.com,16020,1718040000000"
#define DENIED                                                                                                         \
  "Failed 1 action: org.apache.hadoop.hbase.security.AccessDeniedException: Insufficient permissions (user=tidemark, " \
  "scope=default:METRIC, family=M:v, params=[table=METRIC,family=M:v],action=WRITE): 1 time, servers with issues: "    \
  "rs1,16020,1"

/* ---- rows that can never be written ---- */

typedef struct DeadLetters {
  char *folder; /* owned */
  char *options;
} DeadLetters;

/* Dead letters go to a file of the test's own. */
static DeadLetters
dead_letters_in_file(const char *more_options)
{
  DeadLetters dead_letters = {.folder = g_dir_make_tmp("tidemark-letters-XXXXXX", NULL)};
  g_assert_nonnull(dead_letters.folder);
  dead_letters.options =
      g_strdup_printf("dead_letters: { file: \"%s/letters.jsonl\" }\n%s", dead_letters.folder, more_options);
  return dead_letters;
}

/* The dead letters' lines. */
static char *
take_dead_letters(DeadLetters *dead_letters)
{
  g_autofree char *path = g_build_filename(dead_letters->folder, "letters.jsonl", NULL);
  char *text = NULL;
  g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
  g_autoptr(GDir) folder = g_dir_open(dead_letters->folder, 0, NULL);
  for (const char *name = g_dir_read_name(folder); name != NULL; name = g_dir_read_name(folder)) {
    g_autofree char *file = g_build_filename(dead_letters->folder, name, NULL);
    g_unlink(file);
  }
  g_rmdir(dead_letters->folder);
  g_free(dead_letters->folder);
  g_free(dead_letters->options);
  return text;
}

static guint
count_lines(const char *text)
{
  guint n = 0;
  for (; *text != '\0'; text++)
    n += *text == '\n' ? 1 : 0;
  return n;
}

static void
refuse_rows_of(PipelineFixture *fixture, const char *host, const char *message)
{
  TideScriptedFault refusing = {.kind = TIDE_FAULT_IO_ERROR,
                                .call = TIDE_CALL_PUT_MULTIPLE,
                                .table = "METRIC",
                                .row_prefix = tide_bytes_of_string(host),
                                .message = message};
  scripted_gateway_add_fault(fixture->gateways[0], &refusing);
}

/* 1,000 rows of which HBase refuses @n_bad: the others are written, and the dead letters are those messages. */
static void
check_bad_rows(PipelineFixture *fixture, guint n_bad, const char *message, guint64 max_bisections)
{
  for (guint i = 0; i < 1000; i++) {
    g_autofree char *bad_host = g_strdup_printf("bad%u", i);
    gboolean is_bad = i % (1000 / n_bad) == 333 % (1000 / n_bad);
    pipeline_fixture_produce(fixture, 0, is_bad ? bad_host : "host1", PIPELINE_BASE_MS + i, "v");
  }
  pipeline_fixture_flush(fixture);
  refuse_rows_of(fixture, "bad", message);
  DeadLetters dead_letters = dead_letters_in_file("batch: { max_rows: 10000 }\n");
  RunningPipeline *running = running_pipeline_start(fixture, 1, dead_letters.options);
  pipeline_fixture_wait_all_committed(fixture);
  g_assert_cmpuint(fake_hbase_row_count(fixture->hbase, "METRIC"), ==, 1000 - n_bad);
  g_assert_cmpuint(running_pipeline_sum(running, "tidemark_messages_dead_lettered_total"), ==, n_bad);
  g_assert_cmpuint(running_pipeline_sum(running, "tidemark_messages_written_total"), ==, 1000 - n_bad);
  g_assert_cmpuint(tide_metrics_sum(running->metrics, "tidemark_rows_written_total", "table=\"METRIC\""), ==,
                   1000 - n_bad);
  g_assert_cmpuint(running_pipeline_sum(running, "tidemark_hbase_poison_rows_total"), ==, n_bad);
  g_assert_cmpuint(running_pipeline_sum(running, "tidemark_hbase_bisections_total"), <=, max_bisections);
  /* What was refused is not counted as written, however often it was tried. */
  TideGatewayStats stats;
  scripted_gateway_stats(fixture->gateways[0], &stats);
  g_assert_cmpuint(stats.rows_received, >, stats.rows_written);
  g_assert_cmpuint(running_pipeline_sum(running, "tidemark_hbase_rows_written_total"), ==, stats.rows_written);
  running_pipeline_end(running);
  g_autofree char *text = take_dead_letters(&dead_letters);
  g_assert_cmpuint(count_lines(text), ==, n_bad);
}

PIPELINE_TEST("/pipeline-failures/poison/B2-B4-one-bad-row-of-a-thousand")
{
  check_bad_rows(fixture, 1, TOO_LARGE, 20);
}

PIPELINE_TEST("/pipeline-failures/poison/B4-several-bad-rows")
{
  check_bad_rows(fixture, 5, TOO_LARGE, 5 * 20);
}

/* A text that does not say whose fault it is: the row is refused while its neighbours are taken, round after round;
 * each but the last costs a neighbour's call and its own, and rounds that come too soon do not count. */
PIPELINE_TEST("/pipeline-failures/poison/B4-F16-bad-row-of-an-unknown-exception")
{
  check_bad_rows(fixture, 1,
                 "Failed 1 action: org.apache.hadoop.hbase.DoNotRetryIOException: a coprocessor's rule: 1 time, "
                 "servers with issues: rs1,16020,1",
                 20 + 3 * 12 * 2 + 6);
}

/* ---- frames that are too large ---- */

/* Each reading's value twice, so that a message of a size that Kafka takes makes a row that no frame of 1 MiB holds. */
/* The largest call that is taken. */
#define OVERSIZED_BYTES 1300000u

#define LARGE_ROWS_OPTIONS                                                                                             \
  "readings: { max_message_size: 900KiB, time: { field: ts, format: epoch_ms } }\n"                                    \
  "batch: { max_bytes: 1984KiB, max_age: 500ms }\n"                                                                    \
  "tables:\n"                                                                                                          \
  "  LARGE:\n"                                                                                                         \
  "    key: [ { field: host }, \"#\", { time: epoch_ms } ]\n"                                                          \
  "    columns: [ { family: M, from: v }, { family: N, from: v } ]\n"

/* What is too large together is sent in parts, and the one row that is too large by itself is a dead letter, which
 * @says so. Large calls go to @list, or to the first gateway. */
static void
check_oversized(PipelineFixture *fixture, const char *list, const char *says)
{
  const char *const splits[] = {"host5", NULL};
  scripted_gateway_create_table(fixture->gateways[0], "LARGE", "M,N", splits);
  g_autofree char *fitting = g_strnfill(250000, 'f'), *too_large = g_strnfill(700000, 'x'); /* each twice in a row */
  for (guint i = 0; i < 6; i++)
    pipeline_fixture_produce(fixture, 0, "host1", PIPELINE_BASE_MS + i, i == 3 ? too_large : fitting);
  for (guint i = 0; i < 20; i++)
    pipeline_fixture_produce(fixture, 1, "host7", PIPELINE_BASE_MS + i, "small");
  pipeline_fixture_flush(fixture);
  DeadLetters dead_letters = dead_letters_in_file(LARGE_ROWS_OPTIONS);
  RunningPipeline *running = running_pipeline_start_with(
      fixture, &(RunningPipelineOptions){.gateways = 1, .gateway_list = list, .options = dead_letters.options});
  running_pipeline_wait_ready(running);
  gint64 deadline_us = pipeline_fixture_deadline_us();
  /* Others must be written while the large row is refused, or nothing would tell that the gateway works; and in its
   * region too, or it takes TIDE_LONE_LIMIT rounds, a minute of them. */
  for (guint i = 20; running_pipeline_sum(running, "tidemark_hbase_poison_rows_total") == 0; i++) {
    pipeline_fixture_produce(fixture, 0, "host1", PIPELINE_BASE_MS + i, "small");
    pipeline_fixture_produce(fixture, 1, "host7", PIPELINE_BASE_MS + i, "small");
    pipeline_fixture_flush(fixture);
    pipeline_fixture_wait_a_little(deadline_us, "the oversized row is found");
  }
  pipeline_fixture_wait_all_committed(fixture);
  g_assert_cmpuint(fake_hbase_row_count(fixture->hbase, "LARGE"), ==,
                   (guint64)fixture->produced[0] - 1 + (guint64)fixture->produced[1]);
  running_pipeline_end(running);
  g_autofree char *text = take_dead_letters(&dead_letters);
  g_assert_cmpuint(count_lines(text), ==, 1);
  g_assert_nonnull(strstr(text, says));
}

/* A framed gateway closes on a frame above its limit, without a word. */
PIPELINE_TEST("/pipeline-failures/frames/B5-D14-oversized-calls-are-split-and-the-oversized-row-is-a-dead-letter")
{
  TideGatewayOptions framed = {.hbase = fixture->hbase, .framed = TRUE, .frame_limit_bytes = OVERSIZED_BYTES};
  scripted_gateway_free(fixture->gateways[0]);
  fixture->gateways[0] = scripted_gateway_new(&framed);
  check_oversized(fixture, NULL, "exceeds what the gateway accepts");
}

/* A limit below the smallest of any gateway's, as a proxy may have that resets what is above: calls are sent in parts,
 * and no row is taken for one that is too large. */
PIPELINE_TEST("/pipeline-failures/frames/D14-calls-that-are-reset-for-their-size-are-split")
{
  const guint n_rows = 40;
  TideGatewayOptions limited = {.hbase = fixture->hbase, .framed = TRUE, .frame_limit_bytes = 100000};
  scripted_gateway_free(fixture->gateways[0]);
  fixture->gateways[0] = scripted_gateway_new(&limited);
  scripted_gateway_create_table(fixture->gateways[0], "LARGE", "M,N", NULL);
  g_autofree char *fitting = g_strnfill(10000, 'f'); /* twice in a row */
  for (guint i = 0; i < n_rows; i++)
    pipeline_fixture_produce(fixture, 0, "host1", PIPELINE_BASE_MS + i, fitting);
  RunningPipeline *running =
      running_pipeline_start_with(fixture, &(RunningPipelineOptions){.gateways = 1, .options = LARGE_ROWS_OPTIONS});
  pipeline_fixture_wait_all_committed(fixture);
  g_assert_cmpuint(fake_hbase_row_count(fixture->hbase, "LARGE"), ==, n_rows);
  g_assert_cmpuint(running_pipeline_sum(running, "tidemark_hbase_poison_rows_total"), ==, 0);
  running_pipeline_end(running);
}

/* A row that a proxy resets each time, though gateways would take it, keeps no other row of its region or batch
 * waiting, and is no dead letter. Its message is not committed, by a stop in the middle neither, and it is written once
 * the proxy takes it. */
PIPELINE_TEST("/pipeline-failures/frames/D14-row-that-is-reset-for-its-size-keeps-nobody-waiting")
{
  const guint n_before = 10, n_rows = 60;
  TideScriptedFault reset = {.kind = TIDE_FAULT_CLOSE_BEFORE_REPLY,
                             .reset = TRUE,
                             .apply = TIDE_APPLY_NONE,
                             .call = TIDE_CALL_PUT_MULTIPLE,
                             .row_prefix = TIDE_BYTES_LITERAL("host2")};
  scripted_gateway_create_table(fixture->gateways[0], "LARGE", "M,N", NULL);
  guint fault = scripted_gateway_add_fault(fixture->gateways[0], &reset);
  g_autofree char *large = g_strnfill(50000, 'f'); /* twice in a row */
  for (guint i = 0; i < n_rows; i++)
    pipeline_fixture_produce(fixture, 0, i == n_before ? "host2" : "host1", PIPELINE_BASE_MS + i,
                             i == n_before ? large : "small");
  pipeline_fixture_flush(fixture);
  const RunningPipelineOptions options = {.gateways = 1, .options = LARGE_ROWS_OPTIONS};
  RunningPipeline *running = running_pipeline_start_with(fixture, &options);
  pipeline_fixture_wait_rows(fixture, "LARGE", n_rows - 1);
  pipeline_fixture_wait_hits(fixture, fault, 10);
  g_assert_cmpint(running_pipeline_stop(running, 500), ==, TIDE_EXIT_TEMPFAIL);
  g_assert_cmpint(pipeline_fixture_committed(fixture, 0), <=, n_before);

  running = running_pipeline_start_with(fixture, &options);
  guint64 n_hits = scripted_gateway_fault_hits(fixture->gateways[0], fault);
  pipeline_fixture_wait_hits(fixture, fault, n_hits + 5);
  scripted_gateway_clear_faults(fixture->gateways[0]);
  pipeline_fixture_wait_all_committed(fixture);
  g_assert_cmpuint(fake_hbase_row_count(fixture->hbase, "LARGE"), ==, n_rows);
  g_assert_cmpuint(running_pipeline_sum(running, "tidemark_hbase_poison_rows_total"), ==, 0);
  running_pipeline_end(running);
}

/* ---- calls that get no answer ---- */

/* K7: with hbase.rpc.rows.size.threshold.reject, a gateway says nothing to calls of more rows while it tries them again
 * for its twenty minutes. They are sent in parts until all is written, the log says so, and later calls are smaller
 * from the start. */
PIPELINE_TEST("/pipeline-failures/frames/D3-K7-calls-of-too-many-rows-are-split")
{
  const guint n_rows = 2000;
  TideScriptedFault silence = {
      .kind = TIDE_FAULT_SILENCE, .apply = TIDE_APPLY_NONE, .call = TIDE_CALL_PUT_MULTIPLE, .min_rows = 51};
  guint fault = scripted_gateway_add_fault(fixture->gateways[0], &silence);
  for (guint i = 0; i < n_rows; i++)
    pipeline_fixture_produce(fixture, (gint32)(i % FIXTURE_PARTITIONS), "host1", PIPELINE_BASE_MS + i, "v");
  pipeline_fixture_flush(fixture);
  LogCapture *capture = log_capture_start();
  RunningPipeline *running = running_pipeline_start_with(
      fixture, &(RunningPipelineOptions){.gateways = 1, .options = "batch: { max_rows: 100 }\n"});
  pipeline_fixture_wait_all_committed(fixture);
  g_assert_cmpuint(fake_hbase_row_count(fixture->hbase, "METRIC"), ==, n_rows);
  g_assert_cmpuint(running_pipeline_sum(running, "tidemark_hbase_poison_rows_total"), ==, 0);
  /* Not two for each of twenty batches. */
  g_assert_cmpuint(scripted_gateway_fault_hits(fixture->gateways[0], fault), <, 2 * n_rows / 100);
  running_pipeline_end(running);
  g_autofree char *log = log_capture_end(capture);
  g_assert_nonnull(strstr(log, "calls to table 'METRIC' are limited to 50 rows instead of 100"));
}

/* A row to which the gateway says nothing, or at which it crashes, keeps none of its batch waiting. */
static const TideFaultKind ways_to_be_silent[] = {TIDE_FAULT_SILENCE, TIDE_FAULT_CLOSE_BEFORE_REPLY};

PIPELINE_TEST("/pipeline-failures/frames/D3-D5-row-without-an-answer-keeps-nobody-waiting")
{
  const guint n_rows = 100;
  for (guint i = 0; i < G_N_ELEMENTS(ways_to_be_silent); i++) {
    g_autofree char *host = g_strdup_printf("host%u", 2 + i),
                    *bad = g_strdup_printf("host%u#%" G_GINT64_FORMAT, 2 + i, PIPELINE_BASE_MS + 30);
    TideScriptedFault silence = {.kind = ways_to_be_silent[i],
                                 .apply = TIDE_APPLY_NONE,
                                 .call = TIDE_CALL_PUT_MULTIPLE,
                                 .row_prefix = tide_bytes_of_string(bad)};
    scripted_gateway_add_fault(fixture->gateways[0], &silence);
    for (guint k = 0; k < n_rows; k++)
      pipeline_fixture_produce(fixture, 0, host, PIPELINE_BASE_MS + k, "v");
  }
  pipeline_fixture_flush(fixture);
  RunningPipeline *running = running_pipeline_start_with(fixture, &(RunningPipelineOptions){.gateways = 1});
  pipeline_fixture_wait_rows(fixture, "METRIC", G_N_ELEMENTS(ways_to_be_silent) * (n_rows - 1));
  scripted_gateway_clear_faults(fixture->gateways[0]);
  pipeline_fixture_wait_all_committed(fixture);
  g_assert_cmpuint(fake_hbase_row_count(fixture->hbase, "METRIC"), ==, G_N_ELEMENTS(ways_to_be_silent) * n_rows);
  g_assert_cmpuint(running_pipeline_sum(running, "tidemark_hbase_poison_rows_total"), ==, 0);
  running_pipeline_end(running);
}

/* ---- a run to the end ---- */

/* A row that is refused for a reason that nobody can tell, and without any other of its region that would show that the
 * region works, is no dead letter, and ends the run with a sentence. */
PIPELINE_TEST("/pipeline-failures/hold/D10-F16-row-that-waits-for-want-of-another-ends-a-run-to-the-end")
{
  refuse_rows_of(fixture, "host1",
                 "Failed 1 action: org.apache.hadoop.hbase.DoNotRetryIOException: a coprocessor's rule: 1 time, "
                 "servers with issues: rs1,16020,1");
  pipeline_fixture_produce(fixture, 0, "host1", PIPELINE_BASE_MS, "v");
  for (guint i = 0; i < 20; i++)
    pipeline_fixture_produce(fixture, 1, "host7", PIPELINE_BASE_MS + i, "v"); /* another region */
  pipeline_fixture_flush(fixture);
  DeadLetters dead_letters = dead_letters_in_file("");
  RunningPipeline *running = running_pipeline_start_with(
      fixture, &(RunningPipelineOptions){.gateways = 1, .options = dead_letters.options, .until_end = TRUE});
  running_pipeline_wait_fatal(running);
  running_pipeline_assert_reason(running,
                                 "row 'host1#1763700000000' of table 'METRIC' cannot be written: a row is refused "
                                 "when sent alone, but its region has accepted no other row since");
  TidePipelineState state = tide_pipeline_state(running->pipeline);
  g_assert_cmpint(state.fatal_exit, ==, TIDE_EXIT_DATA);
  tide_pipeline_state_clear(&state);
  g_assert_cmpuint(fake_hbase_row_count(fixture->hbase, "METRIC"), ==, 20);
  g_assert_cmpint(running_pipeline_stop(running, 100), ==, TIDE_EXIT_TEMPFAIL);
  g_assert_cmpint(pipeline_fixture_committed(fixture, 0), <=, 0);
  g_autofree char *text = take_dead_letters(&dead_letters);
  g_assert_cmpstr(text, ==, "");
}

/* ---- a proxy that takes HTTP requests up to a size, and hands them to a gateway ---- */

static void
answer_http(struct MHD_Connection *connection, guint status, TideBytes body)
{
  struct MHD_Response *response = MHD_create_response_from_buffer(body.len, (void *)body.data, MHD_RESPMEM_MUST_COPY);
  (void)MHD_queue_response(connection, status, response);
  MHD_destroy_response(response);
}

/* What the gateway behind answers to @call. */
static void
ask_gateway(guint16 port, TideBytes call, TideBuffer *reply)
{
  g_autoptr(TideRawClient) client = raw_client_connect(port, FALSE, FALSE);
  TideMessageScanner scanner;
  tide_message_scanner_init(&scanner, TIDE_WIRE_BINARY, 1u << 20);
  raw_client_send(client, call);
  do {
    g_autoptr(GBytes) byte = raw_client_receive(client, 1);
    if (g_bytes_get_size(byte) == 0)
      return;
    tide_buffer_append(reply, g_bytes_get_data(byte, NULL), 1);
  } while (tide_message_scanner_feed(&scanner, tide_buffer_bytes(reply)) == TIDE_WIRE_SHORT);
}

static enum MHD_Result
proxy_request(void *data, struct MHD_Connection *connection, const char *url, const char *method, const char *version,
              const char *bytes, size_t *n_bytes, void **state)
{
  const guint16 *port = data;
  TideBuffer *call = *state;
  const char *length = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Content-Length");
  gboolean is_too_large = g_ascii_strtoull(length, NULL, 10) > OVERSIZED_BYTES;
  if (call == NULL) {
    *state = g_new0(TideBuffer, 1);
  } else if (*n_bytes > 0) {
    /* What is too large is read to its end, as proxies do: else the reset could overtake the answer. */
    if (!is_too_large)
      tide_buffer_append(call, bytes, *n_bytes);
    *n_bytes = 0;
  } else if (is_too_large) {
    answer_http(connection, MHD_HTTP_CONTENT_TOO_LARGE, TIDE_BYTES_LITERAL("<html>too large</html>"));
  } else {
    g_auto(TideBuffer) reply = {0};
    ask_gateway(*port, tide_buffer_bytes(call), &reply);
    answer_http(connection, MHD_HTTP_OK, tide_buffer_bytes(&reply));
  }
  return MHD_YES;
}

static void
forget_request(void *data, struct MHD_Connection *connection, void **state, enum MHD_RequestTerminationCode code)
{
  TideBuffer *call = *state;
  if (call != NULL)
    tide_buffer_clear_memory(call);
  g_free(call);
}

/* Its page names no row, and the gateway is as well as before: the prober sees nothing, and none is connected to anew
 * because it broke. */
PIPELINE_TEST("/pipeline-failures/frames/calls-above-a-proxys-limit-are-split")
{
  int fd = -1;
  guint16 port = scripted_gateway_port(fixture->gateways[0]);
  g_autoptr(TideEndpoint) endpoint = loopback_listen("127.0.0.1", 16, &fd);
  struct MHD_Daemon *proxy = MHD_start_daemon(
      MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL | MHD_USE_THREAD_PER_CONNECTION, 0, NULL, NULL, proxy_request,
      &port, MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_NOTIFY_COMPLETED, forget_request, NULL, MHD_OPTION_END);
  g_assert_nonnull(proxy);
  g_autofree char *list = g_strdup_printf("\"http://%s/\"", endpoint->text);
  LogCapture *capture = log_capture_start();
  check_oversized(fixture, list, "raise its limit (nginx: 'client_max_body_size')");
  g_autofree char *log = log_capture_end(capture);
  g_assert_null(strstr(log, "gateway unavailable"));
  MHD_stop_daemon(proxy);
}

/* ---- tables that take no rows ---- */

typedef struct SuspendCase {
  const char *name;
  const char *remedy; /* a part of what the operator is told at once; NULL: HBase does not say what is wrong */
} SuspendCase;

static const SuspendCase suspend_cases[] = {
    {"B11-D11-missing-table-is-waited-for", "tidemark tables create"},
    {"B11-D11-disabled-table-is-waited-for", NULL},
    {"B11-D11-table-without-its-family-is-waited-for",
     "add the column family in the HBase shell with: alter 'METRIC', 'FAMILY'"},
    {"B11-D11-forbidden-table-is-waited-for", "user 'tidemark' lacks the right WRITE on table 'METRIC'; grant it in "
                                              "the HBase shell: grant \"tidemark\", \"RW\", \"METRIC\""},
};

static void
break_table(PipelineFixture *fixture, const SuspendCase *at)
{
  g_auto(TideFakeError) error = {0};
  if (at == &suspend_cases[1]) {
    g_assert_true(fake_hbase_set_enabled(fixture->hbase, "METRIC", FALSE, &error));
  } else if (at == &suspend_cases[3]) {
    refuse_rows_of(fixture, "", DENIED);
  } else {
    pipeline_fixture_drop_table(fixture, "METRIC");
    if (at == &suspend_cases[2])
      scripted_gateway_create_table(fixture->gateways[0], "METRIC", "X", NULL);
  }
}

static void
repair_table(PipelineFixture *fixture, const SuspendCase *at)
{
  g_auto(TideFakeError) error = {0};
  if (at == &suspend_cases[1]) {
    g_assert_true(fake_hbase_set_enabled(fixture->hbase, "METRIC", TRUE, &error));
  } else if (at == &suspend_cases[3]) {
    scripted_gateway_clear_faults(fixture->gateways[0]);
  } else {
    if (at == &suspend_cases[2])
      pipeline_fixture_drop_table(fixture, "METRIC");
    scripted_gateway_create_table(fixture->gateways[0], "METRIC", "M", NULL);
  }
}

static gboolean
names_table_and_remedy(const TidePipelineState *state, gpointer data)
{
  const SuspendCase *at = ((gpointer *)data)[0];
  if (at->remedy == NULL)
    return tide_metrics_sum(((gpointer *)data)[1], "tidemark_regions_failing", NULL) > 0;
  return !state->ready && state->reason != NULL && strstr(state->reason, "table 'METRIC'") != NULL &&
         strstr(state->reason, at->remedy) != NULL;
}

/* Of five more calls four are probes, with at least 10, 20 and 40 ms between them. */
static void
assert_no_storm(PipelineFixture *fixture, const SuspendCase *at)
{
  TideGatewayStats stats;
  scripted_gateway_stats(fixture->gateways[0], &stats);
  gint64 start_us = tide_now_us();
  pipeline_fixture_wait_puts(fixture, stats.calls_by_method[TIDE_CALL_PUT_MULTIPLE] + 5);
  if (at->remedy != NULL) /* else each lane is tried on its own */
    g_assert_cmpint(tide_now_us() - start_us, >=, 70 * TIDE_US_PER_MS);
}

/* It is told at once, no row is taken for poison however long it lasts, other tables go on, and all is written when the
 * operator has repaired it. */
PIPELINE_TEST_EACH("/pipeline-failures/hold/", suspend_cases)
{
  const SuspendCase *at = data;
  DeadLetters dead_letters = dead_letters_in_file("");
  RunningPipeline *running = running_pipeline_start(fixture, 1, dead_letters.options);
  running_pipeline_wait_ready(running);
  break_table(fixture, at);
  for (guint i = 0; i < 50; i++)
    pipeline_fixture_produce(fixture, (gint32)(i % FIXTURE_PARTITIONS), i % 2 > 0 ? "host1" : "host7",
                             PIPELINE_BASE_MS + i, "waits");
  pipeline_fixture_flush(fixture);
  gpointer seen[] = {(gpointer)at, running->metrics};
  running_pipeline_wait(running, names_table_and_remedy, seen);
  pipeline_fixture_wait_rows(fixture, "CURRENT_METRIC", 2);
  assert_no_storm(fixture, at);
  repair_table(fixture, at);
  pipeline_fixture_wait_all_committed(fixture);
  g_assert_cmpuint(fake_hbase_row_count(fixture->hbase, "METRIC"), ==, 50);
  g_assert_cmpuint(running_pipeline_sum(running, "tidemark_messages_dead_lettered_total"), ==, 0);
  running_pipeline_wait_ready(running);
  running_pipeline_end(running);
  g_autofree char *text = take_dead_letters(&dead_letters);
  g_assert_cmpstr(text, ==, "");
}

/* ---- a busy region ---- */

/* Between the first refusal and the row's writing lie four pauses of 10, 20, 40 and 80 ms at the least. */
PIPELINE_TEST("/pipeline-failures/frames/D9-busy-region-is-not-stormed")
{
  TideScriptedFault busy = {.kind = TIDE_FAULT_IO_ERROR,
                            .call = TIDE_CALL_PUT_MULTIPLE,
                            .table = "METRIC",
                            .max_hits = 4,
                            .message = TOO_BUSY};
  guint id = scripted_gateway_add_fault(fixture->gateways[0], &busy);
  fake_hbase_log_writes(fixture->hbase, 10);
  RunningPipeline *running = running_pipeline_start(fixture, 1, NULL);
  running_pipeline_wait_ready(running);
  pipeline_fixture_produce(fixture, 0, "host1", PIPELINE_BASE_MS, "v");
  pipeline_fixture_flush(fixture);
  gint64 not_yet_us = tide_now_us();
  for (gint64 now_us = not_yet_us; scripted_gateway_fault_hits(fixture->gateways[0], id) == 0; now_us = tide_now_us())
    not_yet_us = now_us;
  pipeline_fixture_wait_all_committed(fixture);
  g_autoptr(GPtrArray) writes = fake_hbase_writes(fixture->hbase);
  gint64 written_us = 0;
  for (guint i = 0; i < writes->len; i++) {
    const TideFakeWrite *write = g_ptr_array_index(writes, i);
    if (strcmp(write->table, "METRIC") == 0)
      written_us = write->applied_us;
  }
  g_assert_cmpint(written_us - not_yet_us, >=, 150 * TIDE_US_PER_MS);
  running_pipeline_end(running);
}

/* ---- what an acknowledgement is worth ---- */

PIPELINE_TEST("/pipeline-failures/hold/durability-below-sync-is-said")
{
  fake_hbase_set_durability(fixture->hbase, "METRIC", 2);         /* ASYNC_WAL */
  fake_hbase_set_durability(fixture->hbase, "CURRENT_METRIC", 4); /* FSYNC_WAL */
  LogCapture *capture = log_capture_start();
  RunningPipeline *running = running_pipeline_start(fixture, 1, NULL);
  pipeline_produce_mixture(fixture, 3);
  pipeline_fixture_wait_all_committed(fixture);
  g_autofree char *lines = log_capture_end(capture);
  const char *said = strstr(lines, "crit tide-start: table 'METRIC': DATA CAN BE LOST: durability is ASYNC_WAL");
  g_assert_nonnull(said);
  g_assert_nonnull(strstr(said, "alter \"METRIC\", DURABILITY => 'SYNC_WAL'"));
  g_assert_null(strstr(strstr(said, "CAN BE LOST"), "DATA CAN BE LOST")); /* once, and not of the other table */
  running_pipeline_end(running);
  pipeline_assert_tables(fixture, 3);
}
