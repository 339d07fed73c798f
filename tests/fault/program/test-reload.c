/* Reload: on SIGHUP a running daemon applies its changed file, or keeps everything unchanged. */
#define _GNU_SOURCE
#include "config/option/option_table.h"
#include "fault/pipeline/pipeline_fixture.h"
#include "fault/program/status_client.h"
#include "util/budget.h"
#include "util/clock.h"

#include <glib/gstdio.h>
#include <signal.h>
#include <sys/stat.h>

#define SERVICE "service: { http: \"127.0.0.1:0\", log_format: text }\n"
#define LONG_SESSION ", session_timeout: 2m" /* which a window of a minute must be below */
#define END_US (30 * TIDE_US_PER_S)
#define N_STEPS 60
#define EXIT_TEMPFAIL 75

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

static char *
ask_metrics(const DaemonProcess *daemon)
{
  return http_client_ask(http_client_connect(status_client_port(daemon), "127.0.0.1"), "GET /metrics HTTP/1.1\r\n\r\n");
}

static void
assert_metric(const DaemonProcess *daemon, const char *part)
{
  g_autofree char *metrics = ask_metrics(daemon);
  assert_prints(metrics, part);
}

static void
assert_no_metric(const DaemonProcess *daemon, const char *part)
{
  g_autofree char *metrics = ask_metrics(daemon);
  assert_silent(metrics, part);
}

/* ---- all or nothing ---- */

PIPELINE_TEST("/reload/whole/E4-takes-over-or-leaves-all")
{
  g_auto(DaemonProcess) daemon = daemon_process_start(
      fixture, &(DaemonProcessOptions){.gateways = 1,
                                       .yaml = "service: { http: \"127.0.0.1:0\", log_format: text, log_level: info, "
                                               "startup: wait }\n"});
  daemon_process_wait_log(&daemon, "ready:");
  g_free(WAIT_STATUS(&daemon, "\"reload\":{\"result\":\"none\",\"at\":null,\"applied\":null,"));
  replace_in_config(&daemon, "log_level: info, startup: wait", "log_level: warning, startup: fail");
  daemon_process_signal(&daemon, SIGHUP);
  g_free(WAIT_STATUS(&daemon, "\"result\":\"applied\",\"at\":\"",
                     "\"applied\":\"service.log_level\",\"needs_restart\":\"service.startup\",\"error\":null}",
                     "log_level: warning\\n", "startup: wait\\n"));
  assert_metric(&daemon, "\ntidemark_config_last_reload_successful 1\n");
  replace_in_config(&daemon, "log_level: warning", "log_levle: notice");
  daemon_process_signal(&daemon, SIGHUP);
  daemon_process_wait_log(&daemon, "reload failed, the previous configuration stays in force: ");
  g_free(WAIT_STATUS(&daemon, "\"result\":\"failed\",", "\"needs_restart\":\"service.startup\",", "log_levle",
                     "log_level: warning\\n"));
  assert_metric(&daemon, "\ntidemark_config_last_reload_successful 0\n");
  g_assert_cmpint(g_unlink(daemon.config_path), ==, 0);
  daemon_process_signal(&daemon, SIGHUP);
  daemon_process_wait_log(&daemon, "No such file");
  g_autofree char *log = daemon_process_log(&daemon);
  g_assert_null(strstr(log, "reloaded: ")); /* a notice: not logged at that level */
  daemon_process_stop(&daemon);
}

PIPELINE_TEST("/reload/whole/command-tells-of-it")
{
  g_auto(DaemonProcess) daemon = daemon_process_start_ready(fixture, SERVICE);
  g_autofree char *words = g_strdup_printf("status --url http://127.0.0.1:%u", status_client_port(&daemon));
  g_auto(ProgramDone) before = run_program(daemon.config_path, words);
  assert_silent(before.output, "\nReload");
  replace_in_config(&daemon, "log_format: text", "log_format: text, log_level: debug, startup: fail");
  daemon_process_signal(&daemon, SIGHUP);
  daemon_process_wait_log(&daemon, "needs a restart: service.startup");
  g_auto(ProgramDone) taken = run_program(daemon.config_path, words);
  assert_prints(taken.output, "\nReload        at 2");
  assert_prints(taken.output, ": applied service.log_level\n"
                              "              changed, but needs a restart: service.startup\n");
  replace_in_config(&daemon, "startup: fail", "startup: never");
  daemon_process_signal(&daemon, SIGHUP);
  daemon_process_wait_log(&daemon, "reload failed, the previous configuration stays in force: ");
  g_auto(ProgramDone) failed = run_program(daemon.config_path, words);
  assert_prints(failed.output, "\nReload        failed at 2");
  daemon_process_stop(&daemon);
}

/* A list that is meant for another way of speaking would not work by this one. */
PIPELINE_TEST("/reload/whole/gateways-wait-for-what-they-need")
{
  g_auto(DaemonProcess) daemon = daemon_process_start_ready(fixture, SERVICE);
  replace_in_config(&daemon, "hbase: { gateways: [",
                    "hbase: { transport: framed-compact, gateways: [\"127.0.0.1:1\", ");
  daemon_process_signal(&daemon, SIGHUP);
  g_free(WAIT_STATUS(&daemon, "\"applied\":null,\"needs_restart\":\"hbase.gateways, hbase.transport\","));
  pipeline_produce_mixture(fixture, N_STEPS);
  pipeline_fixture_wait_all_committed(fixture);
  daemon_process_stop(&daemon);
}

/* Those by HTTP are known by their address and wait; what others speak is found out, and the advice is to restart. */
PIPELINE_TEST("/reload/whole/gateways-of-another-protocol")
{
  g_autoptr(TideScriptedGateway) compact =
      scripted_gateway_new(&(TideGatewayOptions){.hbase = fixture->hbase, .compact = TRUE});
  const char *old = scripted_gateway_endpoint(fixture->gateways[0]), *new = scripted_gateway_endpoint(compact);
  g_auto(DaemonProcess) daemon = daemon_process_start_ready(fixture, SERVICE);
  replace_in_config(&daemon, old, "http://127.0.0.1:1/");
  daemon_process_signal(&daemon, SIGHUP);
  g_free(WAIT_STATUS(&daemon, "\"applied\":null,\"needs_restart\":\"hbase.gateways\","));
  replace_in_config(&daemon, "http://127.0.0.1:1/", new);
  daemon_process_signal(&daemon, SIGHUP);
  g_free(WAIT_STATUS(&daemon, "\"applied\":\"hbase.gateways\",\"needs_restart\":null,",
                     "speaks the compact protocol while binary is in use: configure all gateways alike, and restart to "
                     "change the protocol of all"));
  replace_in_config(&daemon, new, old);
  daemon_process_signal(&daemon, SIGHUP);
  pipeline_produce_mixture(fixture, N_STEPS);
  pipeline_fixture_wait_all_committed(fixture);
  daemon_process_stop(&daemon);
}

/* The old messages would not fit into the new memory, and the group gives partitions away before the new drain ends. */
PIPELINE_TEST("/reload/whole/what-only-holds-together-waits")
{
  g_auto(DaemonProcess) daemon = daemon_process_start(
      fixture, &(DaemonProcessOptions){.gateways = 1,
                                       .yaml = SERVICE "limits: { drain_timeout: 3s, memory: 256MiB }\nreadings: { "
                                                       "max_message_size: 64MiB, time: { field: ts, format: epoch_ms } "
                                                       "}\n"});
  daemon_process_wait_log(&daemon, "ready:");
  replace_in_config(&daemon, "session_timeout: 6s", "session_timeout: 5m");
  replace_in_config(&daemon, "drain_timeout: 3s, memory: 256MiB", "drain_timeout: 4m, memory: 16MiB");
  replace_in_config(&daemon, "max_message_size: 64MiB, ", "");
  replace_in_config(&daemon, "log_format: text", "log_format: text, log_level: debug");
  daemon_process_signal(&daemon, SIGHUP);
  g_free(WAIT_STATUS(&daemon, "\"applied\":\"service.log_level\",",
                     "\"needs_restart\":\"kafka.session_timeout, readings.max_message_size, limits.memory, "
                     "limits.drain_timeout\",",
                     "memory: 256MiB\\n", "drain_timeout: 3s\\n"));
  daemon_process_stop(&daemon);
}

/* A secret that cannot be had is a mistake of the file. */
PIPELINE_TEST("/reload/whole/unreadable-secret")
{
  g_autofree char *path = write_config("%s", "secret");
  g_assert_cmpint(chmod(path, 0600), ==, 0);
  g_autofree char *kafka = g_strdup_printf(", librdkafka: { sasl.password: { file: \"%s\" } }", path);
  g_auto(DaemonProcess) daemon =
      daemon_process_start(fixture, &(DaemonProcessOptions){.gateways = 1, .yaml = SERVICE, .kafka = kafka});
  daemon_process_wait_log(&daemon, "ready:");
  replace_in_config(&daemon, "log_format: text", "log_format: text, log_level: crit");
  g_assert_cmpint(chmod(path, 0644), ==, 0); /* not kept as a secret, so that it is refused */
  daemon_process_signal(&daemon, SIGHUP);
  daemon_process_wait_log(&daemon, "reload failed, the previous configuration stays in force: ");
  g_free(WAIT_STATUS(&daemon, "\"result\":\"failed\",", "log_level: info\\n"));
  g_assert_cmpint(g_unlink(path), ==, 0);
  daemon_process_signal(&daemon, SIGHUP);
  daemon_process_wait_log(&daemon, "No such file");
  pipeline_produce_mixture(fixture, N_STEPS);
  pipeline_fixture_wait_all_committed(fixture);
  daemon_process_stop(&daemon);
  pipeline_assert_tables(fixture, N_STEPS);
}

/* librdkafka reads secrets and certificates when its clients are made: what is another one by now is named. */
PIPELINE_TEST("/reload/whole/renewed-secrets-are-named")
{
  g_autofree char *secret = write_config("%s", "secret"), *authorities = write_config("%s", "none");
  g_assert_cmpint(chmod(secret, 0600), ==, 0);
  g_autofree char *kafka = g_strdup_printf(
      ", librdkafka: { security.protocol: plaintext, ssl.key.password: { file: \"%s\" }, ssl.crl.location: \"%s\" }",
      secret, authorities);
  g_auto(DaemonProcess) daemon =
      daemon_process_start(fixture, &(DaemonProcessOptions){.gateways = 1, .yaml = SERVICE, .kafka = kafka});
  daemon_process_wait_log(&daemon, "ready:");
  daemon_process_signal(&daemon, SIGHUP);
  daemon_process_wait_log(&daemon, "reloaded: no changes");
  g_assert_true(g_file_set_contents_full(secret, "another", -1, G_FILE_SET_CONTENTS_NONE, 0600, NULL));
  g_assert_true(g_file_set_contents(authorities, "renewed", -1, NULL));
  daemon_process_signal(&daemon, SIGHUP);
  g_free(WAIT_STATUS(&daemon, "\"needs_restart\":\"kafka.librdkafka.ssl.key.password, "
                              "kafka.librdkafka.ssl.crl.location (its file)\","));
  g_autofree char *log = daemon_process_log(&daemon);
  assert_silent(log, "another");
  daemon_process_stop(&daemon);
  g_assert_cmpint(g_unlink(secret), ==, 0);
  g_assert_cmpint(g_unlink(authorities), ==, 0);
}

/* It waits for a gateway: what is taken over then holds when it has one. */
PIPELINE_TEST("/reload/whole/E4-while-it-starts")
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
  daemon_process_stop(&daemon);
  pipeline_assert_tables(fixture, N_STEPS);
}

/* No call succeeds, so that the drain lasts: nothing is reloaded any more, and the stop ends as it would have. */
PIPELINE_TEST("/reload/whole/E4-while-it-drains")
{
  pipeline_fixture_fail_puts(fixture, NULL, NULL);
  g_auto(DaemonProcess) daemon = daemon_process_start(
      fixture, &(DaemonProcessOptions){.gateways = 1, .yaml = SERVICE "limits: { drain_timeout: 5s }\n"});
  daemon_process_wait_log(&daemon, "ready:");
  pipeline_produce_mixture(fixture, N_STEPS);
  pipeline_fixture_wait_puts(fixture, 1);
  replace_in_config(&daemon, "log_format: text", "log_format: text, log_level: debug");
  daemon_process_signal(&daemon, SIGTERM);
  daemon_process_wait_log(&daemon, "stopping: ");
  daemon_process_signal(&daemon, SIGHUP);
  daemon_process_wait_log(&daemon, "SIGHUP ignored: stopping");
  scripted_gateway_clear_faults(fixture->gateways[0]);
  int exit_code = daemon_process_wait_end(&daemon, END_US);
  g_assert_true(exit_code == 0 || exit_code == EXIT_TEMPFAIL);
  g_autofree char *log = daemon_process_log(&daemon);
  g_assert_null(strstr(log, "reloaded: "));
}

/* ---- each option ---- */

/* How an option is changed, and seen to be. */
typedef struct OptionCase {
  const char *path;
  const char *yaml;     /* of the start, at the top level; SERVICE is there, too */
  const char *old;      /* in yaml ... NULL: before() has changed the file */
  const char *new;      /* ... and what stands there at the reload */
  const char *in_force; /* in the configuration that /status prints then */
  void (*before)(PipelineFixture *fixture, const DaemonProcess *daemon);
  void (*after)(PipelineFixture *fixture, const DaemonProcess *daemon);
} OptionCase;

/* A row that waits for this long waits for the reload. */
#define MINUTE_US (60 * TIDE_US_PER_S)

/* What is read, and not refused by its shape. */
#define LONG_BYTES 8000

static void
fail_all_puts(PipelineFixture *fixture)
{
  pipeline_fixture_fail_puts(fixture, NULL, NULL);
}

static void
produce_long(PipelineFixture *fixture, guint n)
{
  g_autofree char *filler = g_strnfill(LONG_BYTES, 'x');
  for (guint i = 0; i < n; i++) {
    g_autofree char *host = g_strdup_printf("host%u", i);
    pipeline_fixture_produce(fixture, (gint32)(i % FIXTURE_PARTITIONS), host, PIPELINE_BASE_MS + i, filler);
  }
  pipeline_fixture_flush(fixture);
}

/* Messages of @bytes bytes that are no readings. */
static void
produce_bad(PipelineFixture *fixture, guint n, gsize bytes)
{
  g_autofree char *payload = g_strnfill(bytes, 'x');
  for (guint i = 0; i < n; i++)
    pipeline_fixture_produce_raw(fixture, 0, payload);
  pipeline_fixture_flush(fixture);
}

/* Beside the configuration. @end: of a rotated file. (transfer full) */
static char *
dead_letters_path(const DaemonProcess *daemon, const char *end)
{
  g_autofree char *stem = g_strndup(daemon->config_path, strlen(daemon->config_path) - strlen(".yaml"));
  return g_strconcat(stem, ".dead-letters.jsonl", end, NULL);
}

/* The line that tells of the reload is a notice: it is not logged at the new level. */
static void
level_is_in_force(PipelineFixture *fixture, const DaemonProcess *daemon)
{
  g_autofree char *log = daemon_process_log(daemon);
  assert_silent(log, "reloaded: ");
}

/* As /status shows it. (transfer full) */
static char *
budget_of(guint64 memory_mib)
{
  guint64 memory_bytes = memory_mib << 20;
  return g_strdup_printf("\"budget_bytes\":%" G_GUINT64_FORMAT ",",
                         memory_bytes - tide_budget_prefetch_bytes(memory_bytes));
}

static void
fill_memory(PipelineFixture *fixture, const DaemonProcess *daemon)
{
  fail_all_puts(fixture);
  produce_long(fixture, 1200);
  g_autofree char *budget = budget_of(64);
  g_free(WAIT_STATUS(daemon, "\"in_flight_messages\":1200,", budget));
}

/* What is in use is more than the budget now. */
static void
memory_is_spent(PipelineFixture *fixture, const DaemonProcess *daemon)
{
  g_autofree char *small = budget_of(16), *large = budget_of(128);
  g_free(WAIT_STATUS(daemon, small, "\"pauses\":[\"memory\""));
  replace_in_config(daemon, "memory: 16MiB", "memory: 128MiB");
  daemon_process_signal(daemon, SIGHUP);
  g_free(WAIT_STATUS(daemon, large, "\"paused_partitions\":0,"));
  scripted_gateway_clear_faults(fixture->gateways[0]);
  pipeline_fixture_wait_all_committed(fixture);
}

static void
drain_is_told(PipelineFixture *fixture, const DaemonProcess *daemon)
{
  daemon_process_signal(daemon, SIGTERM);
  daemon_process_wait_log(daemon, "for up to 2.5 s");
}

/* Slow calls have batches wait for one another, which would be joined into one call. */
static void
calls_have_one_row(PipelineFixture *fixture, const DaemonProcess *daemon)
{
  TideGatewayStats before, now;
  TideScriptedFault slow = {.call = TIDE_CALL_PUT_MULTIPLE, .delay_reply_ms = 20};
  scripted_gateway_add_fault(fixture->gateways[0], &slow);
  scripted_gateway_stats(fixture->gateways[0], &before);
  pipeline_produce_mixture(fixture, N_STEPS);
  pipeline_fixture_wait_all_committed(fixture);
  scripted_gateway_stats(fixture->gateways[0], &now);
  guint64 rows = now.rows_received - before.rows_received;
  g_assert_cmpuint(rows, >, N_STEPS);
  g_assert_cmpuint(rows, ==,
                   now.calls_by_method[TIDE_CALL_PUT_MULTIPLE] - before.calls_by_method[TIDE_CALL_PUT_MULTIPLE]);
}

static void
long_row_is_refused(PipelineFixture *fixture, const DaemonProcess *daemon)
{
  produce_long(fixture, 1);
  g_free(WAIT_STATUS(daemon, "\"kept\":1,", "\"reason\":\"too_large\""));
  g_assert_cmpuint(fake_hbase_row_count(fixture->hbase, "METRIC"), ==, 0);
}

static void
long_row_is_written(PipelineFixture *fixture, const DaemonProcess *daemon)
{
  produce_long(fixture, 1);
  pipeline_fixture_wait_all_committed(fixture);
  g_assert_cmpuint(fake_hbase_row_count(fixture->hbase, "METRIC"), ==, 1);
}

static gint64 produced_us;

/* The second row waits for more, since the first is on its way. */
static void
row_waits_behind_another(PipelineFixture *fixture, const DaemonProcess *daemon)
{
  fail_all_puts(fixture);
  pipeline_fixture_produce(fixture, 0, "host1", PIPELINE_BASE_MS, "1");
  pipeline_fixture_flush(fixture);
  g_free(WAIT_STATUS(daemon, "\"name\":\"METRIC\",", "\"in_flight_messages\":1,"));
  pipeline_fixture_wait_puts(fixture, 2);
  pipeline_fixture_produce(fixture, 0, "host1", PIPELINE_BASE_MS + 1, "2");
  pipeline_fixture_flush(fixture);
  produced_us = tide_now_us();
  g_free(WAIT_STATUS(daemon, "\"in_flight_messages\":2,"));
}

static void
row_is_sealed(PipelineFixture *fixture, const DaemonProcess *daemon)
{
  gint64 deadline_us = pipeline_fixture_deadline_us();
  for (gboolean is_sealed = FALSE; !is_sealed;) {
    g_autofree char *document = status_client_ask(daemon);
    const char *table = strstr(document, "{\"name\":\"METRIC\",");
    g_assert_nonnull(table);
    const char *waiting = strstr(table, "\"waiting_rows\":2,"), *end = strchr(table, '}');
    is_sealed = waiting != NULL && waiting < end;
    if (!is_sealed)
      pipeline_fixture_wait_a_little(deadline_us, "a sealed row");
  }
  g_assert_cmpint(tide_now_us() - produced_us, <, MINUTE_US);
  scripted_gateway_clear_faults(fixture->gateways[0]);
  pipeline_fixture_wait_all_committed(fixture);
}

/* The first value is sent at once, the second waits for newer ones. */
static void
latest_row_waits(PipelineFixture *fixture, const DaemonProcess *daemon)
{
  pipeline_fixture_produce(fixture, 0, "host1", PIPELINE_BASE_MS, "1");
  pipeline_fixture_wait_all_committed(fixture);
  pipeline_fixture_produce(fixture, 0, "host1", PIPELINE_BASE_MS + 1, "2");
  pipeline_fixture_flush(fixture);
  produced_us = tide_now_us();
  g_free(WAIT_STATUS(daemon, "\"in_flight_messages\":1,"));
}

static void
latest_row_is_written(PipelineFixture *fixture, const DaemonProcess *daemon)
{
  pipeline_fixture_wait_all_committed(fixture);
  g_assert_cmpint(tide_now_us() - produced_us, <, MINUTE_US);
}

static void
rate_limits(PipelineFixture *fixture, const DaemonProcess *daemon)
{
  pipeline_produce_mixture(fixture, N_STEPS);
  g_free(WAIT_STATUS(daemon, "\"limit\":\"rate\",\"why\":\"", "as 'limits.rows_per_second' allows no more"));
}

static void
rate_is_lifted(PipelineFixture *fixture, const DaemonProcess *daemon)
{
  pipeline_fixture_wait_all_committed(fixture);
  pipeline_assert_tables(fixture, N_STEPS);
}

static void
large_dead_letters(PipelineFixture *fixture, const DaemonProcess *daemon)
{
  produce_bad(fixture, 2, 60000);
  g_free(WAIT_STATUS(daemon, "\"kept\":2,"));
}

static void
file_is_rotated(PipelineFixture *fixture, const DaemonProcess *daemon)
{
  produce_bad(fixture, 1, 100);
  g_free(WAIT_STATUS(daemon, "\"kept\":3,"));
  g_autofree char *rotated = dead_letters_path(daemon, ".1");
  g_assert_cmpint(g_unlink(rotated), ==, 0);
}

static void
dead_letters_are_full(PipelineFixture *fixture, const DaemonProcess *daemon)
{
  produce_bad(fixture, 1, 60000);
  g_free(WAIT_STATUS(daemon, "(dead_letters.max_size)"));
}

static void
dead_letters_are_kept(PipelineFixture *fixture, const DaemonProcess *daemon)
{
  g_free(WAIT_STATUS(daemon, "\"blocked\":null,"));
  pipeline_fixture_wait_all_committed(fixture);
}

static void
too_many_dead_letters(PipelineFixture *fixture, const DaemonProcess *daemon)
{
  produce_bad(fixture, 500, 10);
  g_free(WAIT_STATUS(daemon, "above dead_letters.max_ratio (0.1)"));
}

static void
window_is_told(PipelineFixture *fixture, const DaemonProcess *daemon)
{
  too_many_dead_letters(fixture, daemon);
  g_free(WAIT_STATUS(daemon, " messages in the last 7200 s would become dead letters"));
}

static const char *
endpoint(const PipelineFixture *fixture, guint i)
{
  return scripted_gateway_endpoint(fixture->gateways[i]);
}

/* The calls to the first gateway hang, and the list has the second one alone then. */
static void
gateway_hangs(PipelineFixture *fixture, const DaemonProcess *daemon)
{
  TideScriptedFault hang = {.kind = TIDE_FAULT_SILENCE, .call = TIDE_CALL_PUT_MULTIPLE};
  scripted_gateway_add_fault(fixture->gateways[0], &hang);
  pipeline_produce_mixture(fixture, N_STEPS / 2);
  pipeline_fixture_wait_puts(fixture, 1);
  replace_in_config(daemon, endpoint(fixture, 0), endpoint(fixture, 1));
}

/* And back, when the second one is gone, and there again: writers without rows move, too. */
static void
writers_have_moved(PipelineFixture *fixture, const DaemonProcess *daemon)
{
  gint64 deadline_us = pipeline_fixture_deadline_us();
  g_autofree char *second = g_strdup_printf("\"gateways\":[{\"name\":\"%s\",\"state\":\"up\"", endpoint(fixture, 1));
  g_free(WAIT_STATUS(daemon, second, "}],\"writers\""));
  pipeline_fixture_wait_all_committed(fixture);
  g_assert_true(scripted_gateway_wait_open_connections(fixture->gateways[0], 0, deadline_us));
  assert_metric(daemon, "\ntidemark_gateway_up");
  g_autofree char *of_first = g_strdup_printf("tidemark_gateway_up{gateway=\"%s\"}", endpoint(fixture, 0));
  assert_no_metric(daemon, of_first);
  scripted_gateway_clear_faults(fixture->gateways[0]);
  scripted_gateway_kill(fixture->gateways[1]);
  pipeline_produce_mixture_from(fixture, N_STEPS / 2, N_STEPS / 2);
  replace_in_config(daemon, endpoint(fixture, 1), endpoint(fixture, 0));
  daemon_process_signal(daemon, SIGHUP);
  pipeline_fixture_wait_all_committed(fixture);
  pipeline_assert_tables(fixture, N_STEPS);
  scripted_gateway_start(fixture->gateways[1]);
  replace_in_config(daemon, endpoint(fixture, 0), endpoint(fixture, 1));
  daemon_process_signal(daemon, SIGHUP);
  g_assert_true(scripted_gateway_wait_open_connections(fixture->gateways[0], 0, pipeline_fixture_deadline_us()));
}

/* An option that gets the flag fails /reload/option/all-have-a-case until it stands here. */
static const OptionCase option_cases[] = {
    {"service.log_level", "", "log_format: text", "log_format: text, log_level: warning", "log_level: warning\\n", NULL,
     level_is_in_force},
    {"hbase.gateways", "", NULL, NULL, "gateways: [", gateway_hangs, writers_have_moved},
    {"limits.memory", "limits: { drain_timeout: 3s, memory: 64MiB }\n", "memory: 64MiB", "memory: 16MiB",
     "memory: 16MiB\\n", fill_memory, memory_is_spent},
    {"limits.drain_timeout", "limits: { drain_timeout: 3s }\n", "drain_timeout: 3s", "drain_timeout: 2500ms",
     "drain_timeout: 2500ms\\n", NULL, drain_is_told},
    {"limits.rows_per_second", "limits: { drain_timeout: 3s, rows_per_second: 1 }\nbatch: { max_rows: 4 }\n",
     "rows_per_second: 1", "rows_per_second: 0", "rows_per_second: 0\\n", rate_limits, rate_is_lifted},
    {"batch.max_rows", "batch: { max_rows: 1000 }\n", "max_rows: 1000", "max_rows: 1", "max_rows: 1\\n", NULL,
     calls_have_one_row},
    {"batch.max_bytes", "batch: { max_bytes: 4KiB }\ndead_letters: { max_ratio: 1 }\n", "max_bytes: 4KiB",
     "max_bytes: 64KiB", "max_bytes: 64KiB\\n", long_row_is_refused, long_row_is_written},
    {"batch.max_age", "batch: { max_age: 1m }\n", "max_age: 1m", "max_age: 1ms", "max_age: 1ms\\n",
     row_waits_behind_another, row_is_sealed},
    {"batch.latest_window", "batch: { latest_window: 1m }\n", "latest_window: 1m", "latest_window: 0s",
     "latest_window: 0s\\n", latest_row_waits, latest_row_is_written},
    {"batch.latest_window_max", "batch: { latest_window_max: 1s }\n", "latest_window_max: 1s", "latest_window_max: 2s",
     "latest_window_max: 2s\\n", NULL, NULL}, /* seen in test-latest-window */
    {"dead_letters.max_file_size", "dead_letters: { max_file_size: 1MiB, max_ratio: 1 }\n", "max_file_size: 1MiB",
     "max_file_size: 64KiB", "max_file_size: 64KiB\\n", large_dead_letters, file_is_rotated},
    {"dead_letters.max_size", "dead_letters: { max_size: 64KiB, max_file_size: 64KiB, max_ratio: 1 }\n",
     "max_size: 64KiB", "max_size: 1MiB", "max_size: 1MiB\\n", dead_letters_are_full, dead_letters_are_kept},
    {"dead_letters.max_ratio", "dead_letters: { max_ratio: 0.1 }\n", "max_ratio: 0.1", "max_ratio: 1",
     "max_ratio: 1\\n", too_many_dead_letters, dead_letters_are_kept},
    {"dead_letters.window", "dead_letters: { window: 60s }\n", "window: 60s", "window: 2h", "window: 2h\\n", NULL,
     window_is_told},
};

PIPELINE_TEST_EACH("/reload/option/", option_cases)
{
  const OptionCase *this = data;
  g_autofree char *yaml = g_strconcat(SERVICE, this->yaml, NULL);
  g_auto(DaemonProcess) daemon =
      daemon_process_start(fixture, &(DaemonProcessOptions){.gateways = 1, .yaml = yaml, .kafka = LONG_SESSION});
  daemon_process_wait_log(&daemon, "ready:");
  if (this->before != NULL)
    this->before(fixture, &daemon);
  if (this->old != NULL)
    replace_in_config(&daemon, this->old, this->new);
  daemon_process_signal(&daemon, SIGHUP);
  g_autofree char *taken = g_strdup_printf("\"applied\":\"%s\",\"needs_restart\":null,", this->path);
  g_free(WAIT_STATUS(&daemon, taken, this->in_force));
  if (this->after != NULL)
    this->after(fixture, &daemon);
}

/* @path: of @group, as in the file */
static void
assert_cases(const TideConfigGroup *group, const char *path)
{
  for (gsize i = 0; i < group->n_options; i++) {
    const TideConfigOption *option = &group->options[i];
    g_autofree char *name = g_strconcat(path, *path != '\0' ? "." : "", option->name, NULL);
    if (option->type == TIDE_CONFIG_SECTION)
      assert_cases(option->section, name);
    if ((option->flags & TIDE_CONFIG_RELOADS) == 0)
      continue;
    gboolean has_case = FALSE;
    for (gsize c = 0; c < G_N_ELEMENTS(option_cases); c++)
      has_case |= strcmp(option_cases[c].path, name) == 0;
    if (!has_case)
      g_error("'%s' is said to reload, and no test sees a daemon take it over", name);
  }
}

TEST("/reload/option/all-have-a-case")
{
  assert_cases(&tide_config_top, "");
}
