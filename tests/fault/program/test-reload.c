/* Reload: SIGHUP has a running daemon take over what its file says now, or leaves all as it was. */
#define _GNU_SOURCE
#include "fault/pipeline/pipeline_mixture.h"
#include "fault/program/status_client.h"
#include "util/clock.h"

#include <glib/gstdio.h>
#include <signal.h>
#include <sys/stat.h>

#define SERVICE "service: { http: \"127.0.0.1:0\", log_format: text }\n"
#define END_US (30 * TIDE_US_PER_S)
#define N_STEPS 60
#define EXIT_TEMPFAIL 75

static void
stop(DaemonProcess *daemon)
{
  daemon_process_signal(daemon, SIGTERM);
  g_assert_cmpint(daemon_process_wait_end(daemon, END_US), ==, 0);
}

static void
replace_in_config(const DaemonProcess *daemon, const char *old, const char *new)
{
  g_autofree char *text = NULL;
  g_assert_true(g_file_get_contents(daemon->config_path, &text, NULL, NULL));
  g_auto(GStrv) parts = g_strsplit(text, old, 2);
  g_assert_nonnull(parts[1]);
  g_autofree char *changed = g_strjoinv(new, parts);
  g_assert_true(g_file_set_contents(daemon->config_path, changed, -1, NULL));
}

/* A series of /metrics with its value. */
static void
assert_metric(const DaemonProcess *daemon, const char *line)
{
  g_autofree char *reply =
      http_client_ask(http_client_connect(status_client_port(daemon), "127.0.0.1"), "GET /metrics HTTP/1.1\r\n\r\n");
  assert_prints(reply, line);
}

/* ---- all or nothing ---- */

static void
test_takes_over_or_leaves_all(PipelineFixture *fixture, gconstpointer data)
{
  g_auto(DaemonProcess) daemon = daemon_process_start(
      fixture, &(DaemonProcessOptions){.gateways = 1,
                                       .yaml = "service: { http: \"127.0.0.1:0\", log_format: text, log_level: info, "
                                               "startup: wait }\n"});
  daemon_process_wait_log(&daemon, "ready:");
  g_free(WAIT_STATUS(&daemon, "\"reload\":{\"result\":\"none\",\"at\":null,\"taken_over\":null,"));
  replace_in_config(&daemon, "log_level: info, startup: wait", "log_level: warning, startup: fail");
  daemon_process_signal(&daemon, SIGHUP);
  g_free(WAIT_STATUS(&daemon, "\"result\":\"taken_over\",\"at\":\"",
                     "\"taken_over\":\"service.log_level\",\"needs_restart\":\"service.startup\",\"error\":null}",
                     "log_level: warning\\n", "startup: wait\\n"));
  assert_metric(&daemon, "\ntidemark_config_last_reload_successful 1\n");
  replace_in_config(&daemon, "log_level: warning", "log_levle: notice");
  daemon_process_signal(&daemon, SIGHUP);
  daemon_process_wait_log(&daemon, "reload failed, all stays as it was: ");
  g_free(WAIT_STATUS(&daemon, "\"result\":\"failed\",", "\"needs_restart\":\"service.startup\",", "log_levle",
                     "log_level: warning\\n"));
  assert_metric(&daemon, "\ntidemark_config_last_reload_successful 0\n");
  g_assert_cmpint(g_unlink(daemon.config_path), ==, 0);
  daemon_process_signal(&daemon, SIGHUP);
  daemon_process_wait_log(&daemon, "No such file");
  g_autofree char *log = daemon_process_log(&daemon);
  g_assert_null(strstr(log, "reloaded: ")); /* a notice: not logged at that level */
  stop(&daemon);
}

static void
test_command_tells_of_it(PipelineFixture *fixture, gconstpointer data)
{
  g_auto(DaemonProcess) daemon = daemon_process_start(fixture, &(DaemonProcessOptions){.gateways = 1, .yaml = SERVICE});
  daemon_process_wait_log(&daemon, "ready:");
  g_autofree char *words = g_strdup_printf("status --url http://127.0.0.1:%u", status_client_port(&daemon));
  g_auto(ProgramDone) before = run_program(daemon.config_path, words);
  assert_silent(before.output, "\nReload");
  replace_in_config(&daemon, "log_format: text", "log_format: text, log_level: debug, startup: fail");
  daemon_process_signal(&daemon, SIGHUP);
  daemon_process_wait_log(&daemon, "needs a restart: service.startup");
  g_auto(ProgramDone) taken = run_program(daemon.config_path, words);
  assert_prints(taken.output, "\nReload        at 2");
  assert_prints(taken.output, ": service.log_level taken over\n"
                              "              changed, but needs a restart: service.startup\n");
  replace_in_config(&daemon, "startup: fail", "startup: never");
  daemon_process_signal(&daemon, SIGHUP);
  daemon_process_wait_log(&daemon, "reload failed, all stays as it was: ");
  g_auto(ProgramDone) failed = run_program(daemon.config_path, words);
  assert_prints(failed.output, "\nReload        failed at 2");
  stop(&daemon);
}

/* A secret that cannot be had is a mistake of the file. */
static void
test_unreadable_secret(PipelineFixture *fixture, gconstpointer data)
{
  g_autofree char *path = write_config("%s", "secret");
  g_assert_cmpint(chmod(path, 0600), ==, 0);
  g_autofree char *kafka = g_strdup_printf(", librdkafka: { ssl.key.password: { file: \"%s\" } }", path);
  g_auto(DaemonProcess) daemon =
      daemon_process_start(fixture, &(DaemonProcessOptions){.gateways = 1, .yaml = SERVICE, .kafka = kafka});
  daemon_process_wait_log(&daemon, "ready:");
  replace_in_config(&daemon, "log_format: text", "log_format: text, log_level: crit");
  g_assert_cmpint(chmod(path, 0644), ==, 0); /* not kept as a secret, so that it is refused */
  daemon_process_signal(&daemon, SIGHUP);
  daemon_process_wait_log(&daemon, "reload failed, all stays as it was: ");
  g_free(WAIT_STATUS(&daemon, "\"result\":\"failed\",", "log_level: info\\n"));
  g_assert_cmpint(g_unlink(path), ==, 0);
  daemon_process_signal(&daemon, SIGHUP);
  daemon_process_wait_log(&daemon, "No such file");
  pipeline_produce_mixture(fixture, N_STEPS);
  pipeline_fixture_wait_all_committed(fixture);
  stop(&daemon);
  pipeline_assert_tables(fixture, N_STEPS);
}

/* It waits for a gateway: what is taken over then holds when it has one. */
static void
test_while_it_starts(PipelineFixture *fixture, gconstpointer data)
{
  scripted_gateway_kill(fixture->gateways[0]);
  g_auto(DaemonProcess) daemon = daemon_process_start(fixture, &(DaemonProcessOptions){.gateways = 1, .yaml = SERVICE});
  g_free(WAIT_STATUS(&daemon, "\"stage\":\"waiting_for_gateway\""));
  replace_in_config(&daemon, "log_format: text", "log_format: text, log_level: debug");
  daemon_process_signal(&daemon, SIGHUP);
  daemon_process_wait_log(&daemon, "reloaded: service.log_level");
  scripted_gateway_start(fixture->gateways[0]);
  pipeline_produce_mixture(fixture, N_STEPS);
  pipeline_fixture_wait_all_committed(fixture);
  stop(&daemon);
  pipeline_assert_tables(fixture, N_STEPS);
}

/* No call succeeds, so that the drain lasts: nothing is reloaded any more, and the stop ends as it would have. */
static void
test_while_it_drains(PipelineFixture *fixture, gconstpointer data)
{
  TideScriptedFault stuck = {.kind = TIDE_FAULT_IO_ERROR, .call = TIDE_CALL_PUT_MULTIPLE};
  scripted_gateway_add_fault(fixture->gateways[0], &stuck);
  g_auto(DaemonProcess) daemon = daemon_process_start(
      fixture, &(DaemonProcessOptions){.gateways = 1, .yaml = SERVICE "limits: { drain_timeout: 5s }\n"});
  daemon_process_wait_log(&daemon, "ready:");
  pipeline_produce_mixture(fixture, N_STEPS);
  g_assert_true(
      scripted_gateway_wait_calls(fixture->gateways[0], TIDE_CALL_PUT_MULTIPLE, 1, pipeline_fixture_deadline_us()));
  replace_in_config(&daemon, "log_format: text", "log_format: text, log_level: debug");
  daemon_process_signal(&daemon, SIGTERM);
  daemon_process_wait_log(&daemon, "stopping: ");
  daemon_process_signal(&daemon, SIGHUP);
  daemon_process_wait_log(&daemon, "SIGHUP does nothing any more");
  scripted_gateway_clear_faults(fixture->gateways[0]);
  int exit_code = daemon_process_wait_end(&daemon, END_US);
  g_assert_true(exit_code == 0 || exit_code == EXIT_TEMPFAIL);
  g_autofree char *log = daemon_process_log(&daemon);
  g_assert_null(strstr(log, "reloaded: "));
}

#define ADD(path, func)                                                                                                \
  g_test_add("/reload/" path, PipelineFixture, NULL, pipeline_fixture_set_up, func, pipeline_fixture_tear_down)

int
main(int argc, char **argv)
{
  pipeline_fixture_init(&argc, &argv);
  ADD("E4-takes-over-or-leaves-all", test_takes_over_or_leaves_all);
  ADD("command-tells-of-it", test_command_tells_of_it);
  ADD("unreadable-secret", test_unreadable_secret);
  ADD("E4-while-it-starts", test_while_it_starts);
  ADD("E4-while-it-drains", test_while_it_drains);
  return g_test_run();
}
