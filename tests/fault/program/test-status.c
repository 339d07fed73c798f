/* The status of a running daemon: /status, and the command that shows it. */
#include "fault/program/daemon_process.h"
#include "fault/program/run_program.h"
#include "fault/program/status_client.h"
#include "unit/test_case.h"
#include "unit/tls_world.h"
#include "util/clock.h"

#include <glib/gstdio.h>
#include <signal.h>

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

PIPELINE_TEST("/status/dead-letters-are-counted-and-shown")
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
  assert_prints(document, "\"kept\":5,\"first_at\":\"20");
  assert_prints(document, "\"reason\":\"parse\",\"kept\":5,");
  assert_prints(document, "\"offset\":2,");
  assert_silent(document, "\"offset\":1,"); /* the last eight */
  assert_prints(document, file);
  daemon_process_stop(&daemon);
  remove_directory(directory);
}

/* ---- what limits ---- */

/* Each call takes most of its time, and there are more rows than all writers can have under way. */
PIPELINE_TEST("/status/a-gateway-limits")
{
  guint fault = scripted_gateway_add_fault(fixture->gateways[0],
                                           &(TideScriptedFault){.call = TIDE_CALL_PUT_MULTIPLE, .delay_reply_ms = 600});
  produce(fixture, 2000);
  g_auto(DaemonProcess) daemon = start_daemon(fixture, "batch: { max_rows: 10 }\n");
  g_autofree char *why = g_strdup_printf(" s at '%s', the slowest", scripted_gateway_endpoint(fixture->gateways[0]));
  g_autofree char *document G_GNUC_UNUSED = WAIT_STATUS(
      &daemon, "\"limit\":\"gateway\",\"why\":\"all 3 writers wait for the gateways, and ", why, "\"clean\":true,");
  scripted_gateway_clear_fault(fixture->gateways[0], fault);
  pipeline_fixture_wait_all_committed(fixture);
  daemon_process_stop(&daemon);
}

/* A row in a call is of a message in flight: of the same moment, not of when a consumer last said how it is. */
PIPELINE_TEST("/status/rows-and-messages-in-flight-are-of-one-moment")
{
  static const char row_in_call[] = "\"in_flight_rows\":1,";
  g_auto(DaemonProcess) daemon = start_daemon(fixture, "");
  g_autofree char *idle G_GNUC_UNUSED = WAIT_STATUS(&daemon, "\"ready\":true,", "\"assigned_partitions\":2,");
  for (guint i = 0; i < 3; i++) {
    guint fault = scripted_gateway_add_fault(
        fixture->gateways[0],
        &(TideScriptedFault){.kind = TIDE_FAULT_SILENCE, .call = TIDE_CALL_PUT_MULTIPLE, .table = "METRIC"});
    pipeline_fixture_produce(fixture, 0, "host1", 1785069296000 + i, "1");
    pipeline_fixture_flush(fixture);
    g_autofree char *document = WAIT_STATUS(&daemon, row_in_call);
    assert_prints(document, "\"in_flight_messages\":1,\"messages_per_second\":");
    g_autofree char *next = status_client_ask(&daemon); /* the line is of just before the rows */
    assert_prints(next, "in flight 1 message, ");
    scripted_gateway_clear_fault(fixture->gateways[0], fault);
    g_autofree char *done G_GNUC_UNUSED = WAIT_STATUS(&daemon, "\"in_flight_messages\":0,\"messages_per_second\":");
  }
  daemon_process_stop(&daemon);
}

/* Large rows wait for small ones of the same readings, which take one call; two writers are free. Each call takes most
 * of its time: reading waits for it, or partitions pause where that lasts. */
PIPELINE_TEST("/status/memory-limits")
{
#ifdef __SANITIZE_THREAD__
  g_test_skip("the thread sanitizer makes the consumer slower than the gateway: memory limits for too short a moment");
  return;
#endif
  g_autofree char *value = g_strnfill(100000, 'x');
  guint fault = scripted_gateway_add_fault(
      fixture->gateways[0],
      &(TideScriptedFault){.call = TIDE_CALL_PUT_MULTIPLE, .table = "METRIC", .delay_reply_ms = 800});
  for (guint i = 0; i < 300; i++) {
    g_autofree char *host = g_strdup_printf("host1%u", i);
    pipeline_fixture_produce(fixture, (gint32)(i % 2), host, 1785069296000 + i, value);
  }
  pipeline_fixture_flush(fixture);
  g_auto(DaemonProcess) daemon = start_daemon(
      fixture,
      "limits: { memory: 16MiB, drain_timeout: 3s }\nbatch: { max_age: 30s }\n"
      "tables:\n  METRIC: { key: [ { field: host }, \"#\", { time: epoch_ms } ],\n"
      "            columns: { family: M, from: [ts] } }\n"
      "  CURRENT_METRIC: { latest: merge, index_of: METRIC, key: [ { field: host } ],\n"
      "            columns: { family: M, from: [v, { value: { time: epoch_ms, binary: true }, as: ts }] } }\n");
  g_autofree char *document G_GNUC_UNUSED =
      WAIT_STATUS(&daemon, "\"limit\":\"memory\",\"why\":\"", ", while writers are free: raise limits.memory");
  scripted_gateway_clear_fault(fixture->gateways[0], fault);
  pipeline_fixture_wait_all_committed(fixture);
  daemon_process_stop(&daemon);
}

/* ---- the command ---- */

#define TOKEN_LINE "ops:930bbdc51b6aed5c2a5678fd6e28dee7a05e8a4b643cfc0b4427c3efb86c0d94\n"

static ProgramDone
run_status(const DaemonProcess *daemon, const char *words)
{
  g_autofree char *line = g_strdup_printf("status --url http://127.0.0.1:%u%s", status_client_port(daemon), words);
  return run_program(daemon->config_path, line);
}

/* Once the cause is corrected a restart is what helps, as the reason says, once. */
PIPELINE_TEST("/status/too-many-dead-letters")
{
  g_autofree char *directory = g_dir_make_tmp("tidemark-status-XXXXXX", NULL);
  g_autofree char *more = g_strdup_printf("dead_letters: { file: %s/dead.jsonl, max_ratio: 0.1 }\n", directory);
  for (guint i = 0; i < 400; i++)
    pipeline_fixture_produce_raw(fixture, 0, "{");
  pipeline_fixture_flush(fixture);
  g_auto(DaemonProcess) daemon = start_daemon(fixture, more);
  g_free(WAIT_STATUS(&daemon, "\"clean\":true,\"why\":\"once the cause is fixed: "));
  g_auto(ProgramDone) shown = run_status(&daemon, "");
  g_assert_cmpint(shown.exit_code, ==, 1);
  const char *sentence = strstr(shown.output, "max_ratio (0.1)");
  g_assert_nonnull(sentence);
  g_assert_null(strstr(sentence + 1, "max_ratio (0.1)"));
  g_assert_cmpint(daemon_process_stop_for_code(&daemon), ==, 75);
  remove_directory(directory);
}

static void
assert_fits_the_screen(const char *text)
{
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++)
    g_assert_cmpint(g_utf8_strlen(lines[i], -1), <=, 100);
  assert_silent(text, "\033");
}

PIPELINE_TEST("/status/what-is-well-is-shown")
{
  produce(fixture, 100);
  g_auto(DaemonProcess) daemon = start_daemon(fixture, "");
  g_autofree char *document =
      WAIT_STATUS(&daemon, "\"ready\":true,\"healthy\":true,\"reason\":null,", "\"lag_messages\":0,\"lag_seconds\":0,",
                  "\"topic\":\"metrics\",\"partition\":0,\"stored_offset\":50,\"committed_offset\":50,\"end_offset\":"
                  "50,\"lag_messages\":0,",
                  "\"topic\":\"metrics\",\"partition\":1,\"stored_offset\":50,\"committed_offset\":50,\"end_offset\":"
                  "50,\"lag_messages\":0,",
                  "\"in_flight_messages\":0,\"pauses\":[],\"halted\":null,\"commit_deferred\":null,\"source\":null}",
                  "\"bottleneck\":{\"limit\":\"kafka\",\"why\":\"nothing to read: ",
                  "\"restart\":{\"clean\":true,\"why\":\"nothing is in flight\"}");
  assert_prints(document, "\"stage\":\"running\"");
  assert_prints(document, "\"assigned_partitions\":2,\"halted_partitions\":0,");
  assert_prints(document, "{\"name\":\"METRIC\",\"rows_per_second\":");
  assert_prints(document, "{\"table\":\"METRIC\",\"start_key\":\"host5\",\"rows_per_second\":");
  g_autofree char *gateway = g_strdup_printf("{\"name\":\"%s\",\"state\":\"up\",\"slow\":false,",
                                             scripted_gateway_endpoint(fixture->gateways[0]));
  assert_prints(document, gateway);
  assert_prints(document, "\"writers\":[{\"index\":0,");
  assert_prints(document, "\"configuration\":\"kafka:\\n");
  g_auto(ProgramDone) table = run_status(&daemon, "");
  g_assert_cmpint(table.exit_code, ==, 0);
  assert_prints(table.output, ": ready\nLimited by    kafka: nothing to read: all messages in Kafka have been read\n"
                              "Restart now   yes: nothing is in flight\n");
  assert_prints(table.output, "lag 0 messages (0 ms), in flight 0\n");
  assert_prints(table.output, "\nTOPIC    PARTITION  STORED  END  LAG   AGE  IN FLIGHT  PAUSED FOR\n"
                              "metrics          0      50   50    0  0 ms          0  -\n");
  assert_prints(table.output, "\nREGION OF ");
  assert_fits_the_screen(table.output);
  g_auto(ProgramDone) json = run_status(&daemon, "/status -f json");
  g_assert_cmpint(json.exit_code, ==, 0);
  g_assert_true(g_str_has_prefix(json.output, "{\"version\":"));
  g_assert_true(g_str_has_suffix(json.output, "}\n"));
  daemon_process_stop(&daemon);
}

/* Only a load yields: while a call of a table has no answer, a daemon sends another to the same gateway. */
PIPELINE_TEST("/status/a-daemon-does-not-yield")
{
  g_auto(DaemonProcess) daemon = start_daemon(fixture, "");
  g_free(WAIT_STATUS(&daemon, "\"ready\":true"));
  TideScriptedFault fault = {.kind = TIDE_FAULT_SILENCE, .call = TIDE_CALL_PUT_MULTIPLE, .table = "METRIC"};
  guint id = scripted_gateway_add_fault(fixture->gateways[0], &fault);
  static const char *const hosts[] = {"host0", "host9"}; /* in different regions */
  for (guint i = 0; i < G_N_ELEMENTS(hosts); i++) {
    pipeline_fixture_produce(fixture, (gint32)i, hosts[i], 1785069296000, "1");
    pipeline_fixture_flush(fixture);
    g_assert_true(scripted_gateway_wait_fault_hits(fixture->gateways[0], id, i + 1, pipeline_fixture_deadline_us()));
  }
  g_free(WAIT_STATUS(&daemon, "\"waiting_rows\":0,\"in_flight_rows\":2,"));
  scripted_gateway_clear_fault(fixture->gateways[0], id);
  pipeline_fixture_wait_all_committed(fixture);
  daemon_process_stop(&daemon);
}

/* The daemon is not ready for the topic's sake; that a gateway went away later has a cause of its own. */
PIPELINE_TEST("/status/a-missing-topic-is-no-cause-of-a-gateway-that-is-down")
{
  mock_kafka_set_topic_error(fixture->kafka, "absent", RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
  g_auto(DaemonProcess) daemon = daemon_process_start(
      fixture, &(DaemonProcessOptions){.gateways = 1,
                                       .yaml = "service: { http: \"127.0.0.1:0\", log_format: text }\n",
                                       .topics = "metrics, absent"});
  g_free(WAIT_STATUS(&daemon, "\"stage\":\"running\"", "\"reason\":\"the topic 'absent' does not exist: "));
  scripted_gateway_kill(fixture->gateways[0]);
  g_autofree char *document = WAIT_STATUS(&daemon, "\"why\":\"no gateway is up: ", "\"state\":\"down\",");
  const char *why = strstr(document, "\"why\":\"no gateway is up: ");
  g_assert_true(g_strstr_len(why, strchr(why, '}') - why, scripted_gateway_endpoint(fixture->gateways[0])) != NULL);
  g_assert_null(g_strstr_len(why, strchr(why, '}') - why, "absent"));
  daemon_process_stop(&daemon);
}

/* Nobody knows anything yet, and nothing waits for it. */
PIPELINE_TEST("/status/trouble-is-told")
{
  scripted_gateway_kill(fixture->gateways[0]);
  g_auto(DaemonProcess) daemon = start_daemon(fixture, "");
  g_autofree char *document = WAIT_STATUS(&daemon, "\"stage\":\"waiting_for_gateway\",\"ready\":false,",
                                          "\"reason\":\"no gateway is usable: ", "\"state\":\"down\",", "\"error\":\"",
                                          "\"partitions\":[],\"tables\":[{\"name\":\"METRIC\",");
  assert_prints(document, "\"lag_messages\":null,");
  g_auto(ProgramDone) table = run_status(&daemon, "");
  g_assert_cmpint(table.exit_code, ==, 1);
  assert_prints(table.output, ": not ready\nReason        no gateway is usable: ");
  assert_prints(document, "\"bottleneck\":{\"limit\":\"gateway\",\"why\":\"no gateway is up: ");
  g_assert_null(strstr(document, "no gateway is up: no gateway")); /* the reason with its own begin */
  assert_prints(table.output, "\nTrouble       127.0.0.1:");
  assert_fits_the_screen(table.output);
  g_autofree char *words = g_strdup_printf("status --url http://127.0.0.1:%u", status_client_port(&daemon));
  daemon_process_stop(&daemon);
  g_auto(ProgramDone) gone = run_program(daemon.config_path, words);
  g_assert_cmpint(gone.exit_code, ==, 69);
  assert_prints(gone.errors, "no daemon answers at 'http://127.0.0.1:");
  assert_prints(gone.errors, "check that it runs (systemctl status tidemark)");
}

static char *
save(const char *name, const char *text)
{
  char *path = g_build_filename(world.directory, name, NULL);
  g_assert_true(g_file_set_contents_full(path, text, -1, G_FILE_SET_CONTENTS_NONE, 0640, NULL));
  return path;
}

/* It finds the daemon of its configuration, behind TLS at a Unix socket, and says who asks. */
PIPELINE_TEST("/status/command-finds-the-daemon")
{
  g_autofree char *certificate = test_identity_save(&world.server, FALSE, world.directory, "status.pem");
  g_autofree char *key = test_identity_save(&world.server, TRUE, world.directory, "status.key");
  g_autofree char *users = save("status.users", TOKEN_LINE), *token = save("status.token", "secret-token\n");
  g_autofree char *wrong = save("wrong.token", "secret-canary\n");
  g_autofree char *yaml =
      g_strdup_printf("service: { http: \"unix:%s/status.socket\", log_format: text, http_users: { file: %s },\n"
                      "  http_tls: { certificate: %s, key: { file: %s } } }\n",
                      world.directory, users, certificate, key);
  g_auto(DaemonProcess) daemon = daemon_process_start_ready(fixture, yaml);
  g_autofree char *words = g_strdup_printf("status --token-file %s", token);
  g_auto(ProgramDone) right = run_program(daemon.config_path, words);
  g_assert_cmpint(right.exit_code, ==, 0);
  assert_prints(right.output, ": ready\n");
  g_autofree char *wrong_words = g_strdup_printf("status --token-file %s", wrong);
  g_auto(ProgramDone) refused = run_program(daemon.config_path, wrong_words);
  g_assert_cmpint(refused.exit_code, ==, 65);
  assert_prints(refused.errors, "answers with 401: use --user");
  assert_silent(refused.errors, "secret-");
  /* Another one's certificate is not trusted. */
  g_autofree char *other_words = g_strdup_printf("%s --ca-file %s", words, world.other_authority_file);
  g_auto(ProgramDone) stranger = run_program(daemon.config_path, other_words);
  g_assert_cmpint(stranger.exit_code, ==, 69);
  assert_prints(stranger.errors, "certificate");
  daemon_process_stop(&daemon);
  const char *const files[] = {certificate, key, users, token, wrong};
  for (gsize i = 0; i < G_N_ELEMENTS(files); i++)
    g_assert_cmpint(g_remove(files[i]), ==, 0);
}

/* Looks again until it is told to end. */
PIPELINE_TEST("/status/command-looks-on")
{
  g_auto(DaemonProcess) daemon = start_daemon(fixture, "");
  g_autofree char *url = g_strdup_printf("http://127.0.0.1:%u", status_client_port(&daemon));
  g_autoptr(GError) error = NULL;
  g_autoptr(GSubprocess) looker = g_subprocess_new(G_SUBPROCESS_FLAGS_STDOUT_PIPE, &error, g_getenv("TIDEMARK"),
                                                   "status", "--url", url, "-f", "json", "--watch", "0.1", NULL);
  g_assert_no_error(error);
  g_autoptr(GDataInputStream) lines = g_data_input_stream_new(g_subprocess_get_stdout_pipe(looker));
  for (guint i = 0; i < 3; i++) {
    g_autofree char *line = g_data_input_stream_read_line(lines, NULL, NULL, &error);
    g_assert_no_error(error);
    g_assert_true(g_str_has_prefix(line, "{\"version\":"));
  }
  g_subprocess_send_signal(looker, SIGTERM);
  g_assert_true(g_subprocess_wait(looker, NULL, &error));
  g_assert_true(g_subprocess_get_if_exited(looker));
  daemon_process_stop(&daemon);
}

PIPELINE_TEST("/status/command-line-is-checked")
{
  static const struct {
    const char *words, *said;
    int exit_code;
  } cases[] = {
      {"status 5", "'5': --watch accepts the seconds", 64},
      {"status --watch x", "invalid interval 'x'", 64},
      {"status --watch 0", "invalid interval '0'", 64},
      {"status --url localhost:1", "'localhost:1' is not an address: it must begin with http:// or https://", 64},
      {"status --url http://127.0.0.1:1 --user me", "credentials need --user with --password-file, or --token-file",
       64},
      {"status", "service.http is '127.0.0.1:0', a port chosen at the start: set the daemon's address", 78},
  };
  g_auto(DaemonProcess) daemon = start_daemon(fixture, "");
  daemon_process_wait_log(&daemon, "ready:"); /* a stop before it knows of signals would kill it */
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_auto(ProgramDone) done = run_program(daemon.config_path, cases[i].words);
    assert_prints(done.errors, cases[i].said);
    g_assert_cmpint(done.exit_code, ==, cases[i].exit_code);
  }
  daemon_process_stop(&daemon);
}

int
main(int argc, char **argv)
{
  pipeline_fixture_init(&argc, &argv);
  world_make();
  test_cases_add();
  int result = g_test_run();
  world_end();
  return result;
}
