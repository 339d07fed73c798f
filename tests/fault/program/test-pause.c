/* `tidemark pause` and `resume` on a running daemon: nothing is lost, and nothing is sent that must wait. */
#define _GNU_SOURCE
#include "fault/pipeline/pipeline_fixture.h"
#include "fault/program/status_client.h"

#include <glib/gstdio.h>

#define SERVICE "service: { http: \"127.0.0.1:0\", log_format: text }\n"
#define N_STEPS 60

/* `tidemark WORDS… --state-directory DIRECTORY`, the words parted by single spaces; `pause` with the daemon's
 * configuration. */
static char *
run_pause_for_code(const DaemonProcess *daemon, const char *directory, const char *words, int code)
{
  g_autofree char *config =
      g_str_has_prefix(words, "pause") ? g_strdup_printf(" --config %s", daemon->config_path) : g_strdup("");
  g_autofree char *line =
      g_strdup_printf("%s %s --state-directory %s%s", g_getenv("TIDEMARK"), words, directory, config);
  char *output = NULL;
  int status = 0;
  g_assert_true(g_spawn_command_line_sync(line, &output, NULL, &status, NULL));
  g_assert_cmpint(WEXITSTATUS(status), ==, code);
  if (code != 0)
    assert_help_names_exit(words, code);
  return output;
}

static char *
run_pause(const DaemonProcess *daemon, const char *directory, const char *words)
{
  return run_pause_for_code(daemon, directory, words, 0);
}

/* (transfer full) */
static char *
new_directory(void)
{
  char *directory = g_dir_make_tmp("tidemark-pause-XXXXXX", NULL);
  g_assert_nonnull(directory);
  return directory;
}

static DaemonProcess
start(PipelineFixture *fixture, const char *directory, const char *yaml)
{
  DaemonProcess daemon =
      daemon_process_start(fixture, &(DaemonProcessOptions){.gateways = 1, .yaml = yaml, .state_directory = directory});
  daemon_process_wait_log(&daemon, "page and metrics at ");
  return daemon;
}

static void
remove_directory(const char *directory)
{
  g_autofree char *line = g_strdup_printf("rm -r %s", directory);
  g_assert_true(g_spawn_command_line_sync(line, NULL, NULL, NULL, NULL));
}

/* A pause survives a restart; the partitions stay assigned, and nothing is committed or written meanwhile. */
PIPELINE_TEST("/pause/everything-across-a-restart")
{
  g_autofree char *directory = new_directory();
  g_auto(DaemonProcess) first = start(fixture, directory, SERVICE);
  pipeline_produce_mixture_from(fixture, 0, N_STEPS / 2);
  pipeline_fixture_wait_all_committed(fixture);
  g_autofree char *said = run_pause(&first, directory, "pause --reason upgrade --until +2h");
  assert_prints(said, "everything has been paused since ");
  assert_prints(said, " (upgrade)\n");
  assert_prints(said, "within two seconds");
  daemon_process_wait_log(&first, "[operator-paused]");
  g_free(WAIT_STATUS(&first, "\"limit\":\"paused\",\"why\":\"everything has been paused since ",
                     "\"scope\":\"everything\",\"name\":null,\"reason\":\"upgrade\","));
  daemon_process_stop(&first);
  g_auto(DaemonProcess) second = start(fixture, directory, SERVICE);
  guint64 rows = fake_hbase_row_count(fixture->hbase, "METRIC");
  pipeline_produce_mixture_from(fixture, N_STEPS / 2, N_STEPS - N_STEPS / 2);
  g_autofree char *paused = WAIT_STATUS(&second, "\"limit\":\"paused\"", "\"pauses\":[\"operator\"]");
  assert_silent(paused, "\"pauses\":[],\"halted\"");
  assert_silent(paused, "\"assigned_partitions\":0,");
  g_assert_cmpuint(fake_hbase_row_count(fixture->hbase, "METRIC"), ==, rows);
  g_autofree char *resumed = run_pause(&second, directory, "resume");
  assert_prints(resumed, "everything is resumed; it was paused at ");
  pipeline_fixture_wait_all_committed(fixture);
  daemon_process_assert_said(&second, "all pauses by the operator have ended");
  daemon_process_stop(&second);
  pipeline_assert_tables(fixture, N_STEPS);
  remove_directory(directory);
}

/* The rows of a paused table wait, those of others are written; what waits is not committed. */
PIPELINE_TEST("/pause/a-table")
{
  g_autofree char *directory = new_directory();
  g_auto(DaemonProcess) daemon = start(fixture, directory, SERVICE);
  daemon_process_wait_log(&daemon, "ready:");
  g_free(run_pause(&daemon, directory, "pause --table METRIC"));
  daemon_process_wait_log(&daemon, "table 'METRIC' has been paused since ");
  gint64 before = pipeline_fixture_committed(fixture, 0);
  pipeline_produce_mixture(fixture, N_STEPS);
  pipeline_fixture_wait_rows(fixture, "CURRENT_METRIC", 1);
  g_free(WAIT_STATUS(&daemon, "\"limit\":\"paused\",\"why\":\"table 'METRIC' has been paused since "));
  g_assert_cmpuint(fake_hbase_row_count(fixture->hbase, "METRIC"), ==, 0);
  g_assert_cmpint(pipeline_fixture_committed(fixture, 0), ==, before);
  g_autofree char *other = run_pause(&daemon, directory, "resume --table METRICS");
  assert_prints(other, "table 'METRICS' is not paused; table 'METRIC' has been paused since ");
  g_free(run_pause(&daemon, directory, "resume --table METRIC"));
  pipeline_fixture_wait_all_committed(fixture);
  daemon_process_stop(&daemon);
  pipeline_assert_tables(fixture, N_STEPS);
  remove_directory(directory);
}

/* The file `paused` outlasts configurations: a table of an earlier one delays nothing, and status and log say so. The
 * gauge of pauses would otherwise silence the alert on a daemon without progress. */
PIPELINE_TEST("/pause/a-table-that-the-configuration-lacks")
{
  g_autofree char *directory = new_directory(), *path = g_build_filename(directory, "paused", NULL);
  g_assert_true(g_file_set_contents(path, "[table GONE]\nreason=\nsince_ms=1764468000000\n", -1, NULL));
  g_auto(DaemonProcess) daemon = start(fixture, directory, SERVICE);
  pipeline_produce_mixture(fixture, N_STEPS);
  pipeline_fixture_wait_all_committed(fixture);
  g_autofree char *status = WAIT_STATUS(
      &daemon, "\"no_effect\":\"the pause has no effect, because the configuration has no such table; end it "
               "with 'tidemark resume --table GONE'\"");
  assert_silent(status, "\"limit\":\"paused\"");
  g_autofree char *metrics =
      http_client_ask(http_client_connect(status_client_port(&daemon), "127.0.0.1"), "GET /metrics HTTP/1.1\r\n\r\n");
  assert_prints(metrics, "\ntidemark_operator_pause_seconds 0\n");
  daemon_process_assert_said(&daemon, ", without effect, because the configuration has no such table; ");
  g_autofree char *resumed = run_pause(&daemon, directory, "resume --table GONE");
  assert_prints(resumed, "table 'GONE' is resumed; it was paused at ");
  g_free(WAIT_STATUS(&daemon, "\"pauses\":[],\"kafka\""));
  daemon_process_stop(&daemon);
  pipeline_assert_tables(fixture, N_STEPS);
  remove_directory(directory);
}

/* Of a paused topic nothing is read. A pattern matches names that Kafka does not have, and the file could not hold. */
PIPELINE_TEST("/pause/a-topic-of-a-pattern")
{
  g_autofree char *directory = new_directory(), *path = g_build_filename(directory, "paused", NULL);
  g_auto(DaemonProcess) daemon = daemon_process_start(
      fixture,
      &(DaemonProcessOptions){.gateways = 1, .yaml = SERVICE, .topics = "\"^met.*\"", .state_directory = directory});
  daemon_process_wait_log(&daemon, "ready:");
  g_free(run_pause_for_code(&daemon, directory, "pause --topic metrics]", 64));
  g_assert_false(g_file_test(path, G_FILE_TEST_EXISTS));
  g_free(run_pause(&daemon, directory, "pause --topic metrics"));
  g_free(WAIT_STATUS(&daemon, "\"pauses\":[\"operator\"]", "\"scope\":\"topic\",\"name\":\"metrics\""));
  pipeline_produce_mixture(fixture, N_STEPS);
  g_autofree char *unread =
      g_strdup_printf("\"unread_messages\":%" G_GINT64_FORMAT ",", fixture->produced[0] + fixture->produced[1]);
  g_free(WAIT_STATUS(&daemon, unread, "\"in_flight_messages\":0"));
  g_assert_cmpuint(fake_hbase_row_count(fixture->hbase, "METRIC"), ==, 0);
  g_free(run_pause(&daemon, directory, "resume --topic metrics"));
  pipeline_fixture_wait_all_committed(fixture);
  daemon_process_stop(&daemon);
  pipeline_assert_tables(fixture, N_STEPS);
  remove_directory(directory);
}

/* A file that nobody can read is no permission to write; a pause with an end ends by itself. */
PIPELINE_TEST("/pause/unreadable-file-and-end")
{
  g_autofree char *directory = new_directory(), *path = g_build_filename(directory, "paused", NULL);
  g_assert_true(g_file_set_contents(path, "[every", -1, NULL));
  g_auto(DaemonProcess) daemon = start(fixture, directory, SERVICE);
  pipeline_produce_mixture(fixture, N_STEPS);
  daemon_process_wait_log(&daemon, "[pauses-unreadable]");
  g_free(WAIT_STATUS(&daemon, "\"pauses\":[\"operator\"]"));
  g_assert_cmpuint(fake_hbase_row_count(fixture->hbase, "METRIC"), ==, 0);
  g_free(run_pause_for_code(&daemon, directory, "pause --table METRIC", 65));
  g_free(run_pause_for_code(&daemon, directory, "resume --table METRIC", 65));
  g_autofree char *resumed = run_pause(&daemon, directory, "resume");
  assert_prints(resumed, "nothing is paused\n");
  g_free(run_pause(&daemon, directory, "pause --until +5s"));
  pipeline_fixture_wait_all_committed(fixture);
  /* All may have been committed before the pause took effect. */
  gint64 deadline_us = pipeline_fixture_deadline_us();
  g_autofree char *ended = run_pause(&daemon, directory, "resume --table METRIC");
  while (strstr(ended, "table 'METRIC' is not paused\n") == NULL) {
    pipeline_fixture_wait_a_little(deadline_us, "the end of the pause");
    g_free(ended);
    ended = run_pause(&daemon, directory, "resume --table METRIC");
  }
  g_assert_false(
      g_file_test(path, G_FILE_TEST_EXISTS)); /* a pause that is over is in no file: another one begins anew */
  daemon_process_stop(&daemon);
  pipeline_assert_tables(fixture, N_STEPS);
  remove_directory(directory);
}
