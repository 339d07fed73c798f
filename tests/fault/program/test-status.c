/* What a running daemon says of itself: /status. */
#include "fault/program/daemon_process.h"
#include "fault/program/run_program.h"
#include "unit/http_client.h"
#include "util/clock.h"

#include <glib/gstdio.h>
#include <signal.h>

#define END_US (30 * TIDE_US_PER_S)

static guint16
port_of(const DaemonProcess *daemon)
{
  static const char before[] = "metrics at port ";
  daemon_process_wait_log(daemon, before);
  g_autofree char *log = daemon_process_log(daemon);
  return (guint16)g_ascii_strtoull(strstr(log, before) + strlen(before), NULL, 10);
}

/* The document, without the answer's head. (transfer full) */
static char *
ask_status(const DaemonProcess *daemon)
{
  g_autofree char *reply =
      http_client_ask(http_client_connect(port_of(daemon), "127.0.0.1"), "GET /status HTTP/1.1\r\n\r\n");
  g_assert_true(g_str_has_prefix(reply, "HTTP/1.1 200 "));
  assert_prints(reply, "Content-Type: application/json\r\n");
  return g_strdup(strstr(reply, "\r\n\r\n") + 4);
}

/* Asks until the document has each of @parts. (transfer full): the document */
static char *
wait_status(const DaemonProcess *daemon, const char *const *parts)
{
  gint64 deadline_us = pipeline_fixture_deadline_us();
  for (;;) {
    g_autofree char *document = ask_status(daemon);
    guint n = 0;
    while (parts[n] != NULL && strstr(document, parts[n]) != NULL)
      n++;
    if (parts[n] == NULL)
      return g_steal_pointer(&document);
    g_autofree char *what = g_strdup_printf("'%s' in %s", parts[n], document);
    pipeline_fixture_wait_a_little(deadline_us, what);
  }
}

#define WAIT_STATUS(daemon, ...) wait_status(daemon, (const char *const[]){__VA_ARGS__, NULL})

static DaemonProcess
start_daemon(PipelineFixture *fixture, const char *more)
{
  g_autofree char *yaml = g_strdup_printf("service: { http: \"127.0.0.1:0\", log_format: text }\n%s", more);
  return daemon_process_start(fixture, &(DaemonProcessOptions){.gateways = 1, .yaml = yaml});
}

static void
produce(PipelineFixture *fixture, guint n)
{
  for (guint i = 0; i < n; i++) {
    g_autofree char *host = g_strdup_printf("host%u", i % 10);
    pipeline_fixture_produce(fixture, (gint32)(i % 2), host, 1785069296000 + i, "1");
  }
  pipeline_fixture_flush(fixture);
}

static void
stop(DaemonProcess *daemon)
{
  daemon_process_signal(daemon, SIGTERM);
  g_assert_cmpint(daemon_process_wait_end(daemon, END_US), ==, 0);
}

static void
remove_directory(const char *path)
{
  GDir *directory = g_dir_open(path, 0, NULL);
  for (const char *name; (name = g_dir_read_name(directory)) != NULL;) {
    g_autofree char *file = g_build_filename(path, name, NULL);
    g_assert_cmpint(g_remove(file), ==, 0);
  }
  g_dir_close(directory);
  g_assert_cmpint(g_rmdir(path), ==, 0);
}

static void
test_all_is_well(PipelineFixture *fixture, gconstpointer data)
{
  produce(fixture, 100);
  g_auto(DaemonProcess) daemon = start_daemon(fixture, "");
  g_autofree char *document =
      WAIT_STATUS(&daemon, "\"ready\":true,\"healthy\":true,\"reason\":null,", "\"lag_messages\":0,\"lag_seconds\":0,",
                  "\"topic\":\"metrics\",\"partition\":1,\"mark\":50,\"committed\":50,\"end\":50,\"lag_messages\":0,",
                  "\"in_flight_messages\":0,\"pauses\":[],\"halted\":null}");
  assert_prints(document, "\"stage\":\"running\"");
  assert_prints(document, "\"assigned_partitions\":2,\"halted_partitions\":0,");
  assert_prints(document, "{\"name\":\"METRIC\",\"rows_per_second\":");
  assert_prints(document, "{\"table\":\"METRIC\",\"start_key\":\"host5\",\"rows_per_second\":");
  g_autofree char *gateway = g_strdup_printf("{\"name\":\"%s\",\"state\":\"up\",\"slow\":false,",
                                             scripted_gateway_endpoint(fixture->gateways[0]));
  assert_prints(document, gateway);
  assert_prints(document, "\"writers\":[{\"index\":0,");
  assert_prints(document, "\"configuration\":\"kafka:\\n");
  stop(&daemon);
}

static void
test_dead_letters_are_counted_and_shown(PipelineFixture *fixture, gconstpointer data)
{
  g_autofree char *directory = g_dir_make_tmp("tidemark-status-XXXXXX", NULL);
  g_autofree char *file = g_build_filename(directory, "dead.jsonl", NULL);
  g_autofree char *more = g_strdup_printf("dead_letters: { file: %s }\n", file);
  for (guint i = 0; i < 10; i++)
    pipeline_fixture_produce_raw(fixture, 0, i % 2 == 0 ? "{" : "{\"host\":\"a\"}");
  pipeline_fixture_flush(fixture);
  g_auto(DaemonProcess) daemon = start_daemon(fixture, more);
  g_autofree char *document =
      WAIT_STATUS(&daemon, "\"kept\":10,", "\"topic\":\"metrics\",\"partition\":0,\"offset\":9,");
  assert_prints(document, "\"kept\":5,\"text\":\"");
  assert_prints(document, "\"reason\":\"parse\",\"kept\":5,");
  assert_prints(document, "\"offset\":2,");
  assert_silent(document, "\"offset\":1,"); /* the last eight */
  assert_prints(document, file);
  stop(&daemon);
  remove_directory(directory);
}

/* Nobody knows anything yet, and nothing waits for it. */
static void
test_before_there_is_a_gateway(PipelineFixture *fixture, gconstpointer data)
{
  scripted_gateway_kill(fixture->gateways[0]);
  g_auto(DaemonProcess) daemon = start_daemon(fixture, "");
  g_autofree char *document = WAIT_STATUS(&daemon, "\"stage\":\"waiting_for_gateway\",\"ready\":false,",
                                          "\"reason\":\"no gateway is usable: ", "\"state\":\"down\",",
                                          "\"partitions\":[],\"tables\":[{\"name\":\"METRIC\",");
  assert_prints(document, "\"lag_messages\":null,");
  stop(&daemon);
}

#define ADD(path, func)                                                                                                \
  g_test_add("/status/" path, PipelineFixture, NULL, pipeline_fixture_set_up, func, pipeline_fixture_tear_down)

int
main(int argc, char **argv)
{
  pipeline_fixture_init(&argc, &argv);
  ADD("all-is-well", test_all_is_well);
  ADD("dead-letters-are-counted-and-shown", test_dead_letters_are_counted_and_shown);
  ADD("before-there-is-a-gateway", test_before_there_is_a_gateway);
  return g_test_run();
}
