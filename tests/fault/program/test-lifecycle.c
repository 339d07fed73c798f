/* The whole program's life cycle: kills, stops and their exit codes, signals, exhausted descriptors, unread logs, and
 * two daemons with one state directory. */
#define _GNU_SOURCE
#include "fault/kafka/raw_batch.h"
#include "fault/pipeline/pipeline_fixture.h"
#include "fault/program/daemon_process.h"
#include "fault/program/run_program.h"
#include "util/clock.h"

#include <fcntl.h>
#include <glib/gstdio.h>

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXIT_DATA 65
#define EXIT_TEMPFAIL 75

/* Below the session timeout, as it has to be. */
#define LONG_DRAIN "limits: { drain_timeout: 5s }\n"
#define SHORT_DRAIN "limits: { drain_timeout: 1s }\n"

/* Far below the drain, far above what a busy machine needs. */
#define AT_ONCE_US (30 * TIDE_US_PER_S)

/* Leaving the group is given five seconds beyond the drain. */
#define BOUNDED_US (30 * TIDE_US_PER_S)

#define N_STEPS 60

#define TOKEN_LINE "ops:930bbdc51b6aed5c2a5678fd6e28dee7a05e8a4b643cfc0b4427c3efb86c0d94\n"

static TideScriptedFault
stuck(void)
{
  return (TideScriptedFault){.kind = TIDE_FAULT_IO_ERROR, .call = TIDE_CALL_PUT_MULTIPLE};
}

static void
assert_committed(PipelineFixture *fixture, gint64 wanted)
{
  for (gint32 i = 0; i < FIXTURE_PARTITIONS; i++)
    g_assert_cmpint(pipeline_fixture_committed(fixture, i), <=, wanted);
}

/* ---- kills ---- */

static gboolean
has_rows(PipelineFixture *fixture, guint64 n)
{
  return fake_hbase_row_count(fixture->hbase, "METRIC") >= n;
}

PIPELINE_TEST("/lifecycle/kill/E1-kill-at-any-time-loses-nothing")
{
  TideScriptedFault slow = {.call = TIDE_CALL_PUT_MULTIPLE, .delay_reply_ms = 20};
  scripted_gateway_add_fault(fixture->gateways[0], &slow);
  DaemonProcessOptions options = {.gateways = 1, .yaml = "batch: { max_rows: 5 }\n"};
  pipeline_produce_mixture(fixture, N_STEPS);
  guint64 wanted = N_STEPS * 8;
  for (guint kill = 1; kill <= 2; kill++) {
    g_auto(DaemonProcess) killed = daemon_process_start(fixture, &options);
    gint64 deadline_us = pipeline_fixture_deadline_us();
    while (!has_rows(fixture, wanted * kill / 3))
      pipeline_fixture_wait_a_little(deadline_us, "rows of a daemon that is to be killed");
    daemon_process_signal(&killed, SIGKILL);
    g_assert_cmpint(daemon_process_wait_end(&killed, AT_ONCE_US), ==, 128 + SIGKILL);
  }
  g_auto(DaemonProcess) last = daemon_process_start(fixture, &options);
  pipeline_fixture_wait_all_committed(fixture);
  daemon_process_stop(&last);
  pipeline_assert_tables(fixture, N_STEPS);
}

/* Suspended for longer than the session: its partitions are given away, and when it goes on it must not commit. */
PIPELINE_TEST("/lifecycle/suspend/C16-E20-suspended-beyond-the-session")
{
  DaemonProcessOptions options = {.gateways = 1};
  g_auto(DaemonProcess) first = daemon_process_start(fixture, &options);
  daemon_process_wait_log(&first, "ready:");
  pipeline_produce_mixture(fixture, N_STEPS / 2);
  pipeline_fixture_wait_all_committed(fixture);
  daemon_process_signal(&first, SIGSTOP);
  g_auto(DaemonProcess) second = daemon_process_start(fixture, &options);
  pipeline_produce_mixture_from(fixture, N_STEPS / 2, N_STEPS / 2);
  pipeline_fixture_wait_all_committed(fixture); /* by the second: the first's session has ended */
  daemon_process_signal(&first, SIGCONT);
  daemon_process_wait_log(&first, "lost");
  int exit_code = daemon_process_stop_for_code(&first); /* a commit may have been due, which was refused */
  g_assert_true(exit_code == 0 || exit_code == EXIT_TEMPFAIL);
  daemon_process_stop(&second);
  pipeline_assert_tables(fixture, N_STEPS);
}

/* ---- stops ---- */

PIPELINE_TEST("/lifecycle/stop/E2-E14-when-idle")
{
  g_auto(DaemonProcess) process = daemon_process_start_ready(fixture, NULL);
  daemon_process_stop(&process);
  daemon_process_wait_log(&process, "stopped: nothing was read [");
}

/* The last line's numbers of messages: what became of them adds up to what was read. Returns: how many were read. */
static guint64
assert_ends_add_up(const char *log)
{
  const char *stopped = strstr(log, "stopped: "), *read = stopped != NULL ? strstr(stopped, " read, ") : NULL;
  if (read == NULL)
    g_error("the last line has no numbers: %s", stopped != NULL ? stopped : log);
  const char *first = read;
  while (first > stopped && g_ascii_isdigit(first[-1]))
    first--;
  guint64 n_read = g_ascii_strtoull(first, NULL, 10), n = 0;
  for (const char *at = read + strlen(" read"); g_str_has_prefix(at, ", "); at += 2 + strcspn(at + 2, ",;\n"))
    n += g_ascii_strtoull(at + 2, NULL, 10);
  if (n != n_read)
    g_error("the numbers do not add up: %s", stopped);
  return n_read;
}

/* What was taken is written and committed before the end; the rest waits for the next start. */
PIPELINE_TEST("/lifecycle/stop/E2-when-busy")
{
  TideScriptedFault slow = {.call = TIDE_CALL_PUT_MULTIPLE, .delay_reply_ms = 50};
  scripted_gateway_add_fault(fixture->gateways[0], &slow);
  DaemonProcessOptions options = {.gateways = 1, .yaml = "batch: { max_rows: 5 }\n" LONG_DRAIN};
  g_auto(DaemonProcess) process = daemon_process_start(fixture, &options);
  pipeline_produce_mixture(fixture, N_STEPS);
  pipeline_fixture_wait_puts(fixture, 3);
  daemon_process_stop(&process);
  daemon_process_wait_log(&process, "stopped: all messages read are acknowledged and committed");
  guint64 rows = fake_hbase_row_count(fixture->hbase, "METRIC");
  g_auto(DaemonProcess) next = daemon_process_start_ready(fixture, NULL);
  pipeline_fixture_wait_all_committed(fixture);
  daemon_process_stop(&next);
  g_assert_cmpuint(rows, >, 0);
  pipeline_assert_tables(fixture, N_STEPS);
}

PIPELINE_TEST("/lifecycle/stop/E2-while-hbase-is-stuck")
{
  TideScriptedFault failing = stuck();
  guint id = scripted_gateway_add_fault(fixture->gateways[0], &failing);
  g_auto(DaemonProcess) process =
      daemon_process_start(fixture, &(DaemonProcessOptions){.gateways = 1, .yaml = SHORT_DRAIN});
  pipeline_produce_mixture(fixture, N_STEPS);
  pipeline_fixture_wait_hits(fixture, id, 2);
  g_assert_cmpint(daemon_process_stop_for_code(&process), ==, EXIT_TEMPFAIL);
  daemon_process_wait_log(&process, "messages unfinished and not committed");
  daemon_process_wait_log(&process, " messages are left for the next start, which reads them again; ");
  g_autofree char *log = daemon_process_log(&process);
  (void)assert_ends_add_up(log);
  g_assert_null(strstr(log, "all messages read"));
  assert_committed(fixture, 0);
}

/* A stop waits for no cell in doubt (F3) and is a clean one: the messages are read again all the same, and are not
 * "acknowledged and committed". */
PIPELINE_TEST("/lifecycle/stop/C8-with-messages-handed-back")
{
  TideScriptedFault abandoned = {
      .call = TIDE_CALL_PUT_MULTIPLE, .delay_apply_ms = 2500, .lands_after_kill = TRUE, .max_hits = 1};
  guint id = scripted_gateway_add_fault(fixture->gateways[0], &abandoned);
  mock_kafka_create_topic(fixture->kafka, "letters", 1);
  DaemonProcessOptions options = {.gateways = 1,
                                  .hbase = ", uncertain_timeout: 1h",
                                  .yaml = "dead_letters: { topic: letters }\n"
                                          "tables:\n  CURRENT_METRIC: { latest: merge, key: [ { field: host } ], "
                                          "columns: { family: M, from: \"*\" } }\n"};
  g_auto(DaemonProcess) process = daemon_process_start(fixture, &options);
  for (guint i = 0; i < 3; i++)
    pipeline_fixture_produce_raw(fixture, 0, "nonsense");
  pipeline_fixture_produce(fixture, 0, "host1", PIPELINE_BASE_MS, "first");
  pipeline_fixture_flush(fixture);
  pipeline_fixture_wait_hits(fixture, id, 1);
  pipeline_fixture_produce(fixture, 0, "host1", PIPELINE_BASE_MS, "second");
  pipeline_fixture_flush(fixture);
  pipeline_fixture_wait_value(fixture, "CURRENT_METRIC", "host1", "v", "second");
  pipeline_fixture_wait_committed(fixture, 0, 4); /* but the second, over which the first may land */
  daemon_process_stop(&process);
  g_autofree char *log = daemon_process_log(&process);
  g_assert_nonnull(strstr(log, "with 1 message written but not committed; the next start writes it again"));
  g_assert_nonnull(strstr(log, "1 message is left for the next start, which reads it again (already written: 1; "));
  g_assert_null(strstr(log, "all messages read"));
  g_assert_nonnull(strstr(log, ", 3 dead letters in topic 'letters' ["));
  g_assert_cmpuint(assert_ends_add_up(log), ==, 5);
}

/* What the daemon did not even read is told, too. */
PIPELINE_TEST("/lifecycle/stop-2/E2-with-messages-unread")
{
  TideScriptedFault failing = stuck();
  (void)scripted_gateway_add_fault(fixture->gateways[0], &failing);
  g_auto(DaemonProcess) process =
      daemon_process_start(fixture, &(DaemonProcessOptions){.gateways = 1, .yaml = SHORT_DRAIN});
  pipeline_produce_mixture(fixture, 1000); /* four thousand a partition: more than kafka.max_span_messages */
  pipeline_fixture_flush(fixture);
  daemon_process_wait_log(&process, "ready:");
  for (gint64 deadline_us = pipeline_fixture_deadline_us();;) {
    daemon_process_signal(&process, SIGUSR1);
    pipeline_fixture_wait_a_little(deadline_us, "both partitions are paused");
    g_autofree char *log = daemon_process_log(&process);
    if (strstr(log, "paused 2") != NULL)
      break;
  }
  g_assert_cmpint(daemon_process_stop_for_code(&process), ==, EXIT_TEMPFAIL);
  daemon_process_wait_log(&process, " messages are left for the next start, which reads them again; ");
  daemon_process_wait_log(&process, " more were unread");
}

PIPELINE_TEST("/lifecycle/stop-2/E2-while-all-gateways-are-gone")
{
  g_auto(DaemonProcess) process = daemon_process_start_ready(fixture, SHORT_DRAIN);
  scripted_gateway_kill(fixture->gateways[0]);
  pipeline_produce_mixture(fixture, N_STEPS);
  daemon_process_wait_log(&process, "gateway unavailable");
  int exit_code = daemon_process_stop_for_code(&process);
  g_assert_true(exit_code == EXIT_TEMPFAIL || exit_code == 0); /* 0: stopped before it had taken a message */
  assert_committed(fixture, 0);
}

PIPELINE_TEST("/lifecycle/stop-2/E2-while-kafka-is-gone")
{
  g_auto(DaemonProcess) process = daemon_process_start_ready(fixture, SHORT_DRAIN);
  mock_kafka_set_broker_up(fixture->kafka, -1, FALSE);
  daemon_process_wait_log(&process, "kafka client:");
  int exit_code = daemon_process_stop_for_code(&process);
  g_assert_true(exit_code == EXIT_TEMPFAIL || exit_code == 0); /* nothing was left: only leaving the group may fail */
}

PIPELINE_TEST("/lifecycle/stop-3/E2-during-the-start")
{
  scripted_gateway_kill(fixture->gateways[0]);
  g_auto(DaemonProcess) process =
      daemon_process_start(fixture, &(DaemonProcessOptions){.gateways = 1, .yaml = LONG_DRAIN});
  daemon_process_wait_log(&process, "gateway unavailable");
  daemon_process_stop(&process);
  daemon_process_wait_log(&process, "stopped: nothing was read");
}

/* Until the process has used a second of processor time more: it is idle but for a thread that spins. */
static void
wait_busy(pid_t pid)
{
  clockid_t clock;
  struct timespec start, now;
  g_assert_cmpint(clock_getcpuclockid(pid, &clock), ==, 0);
  g_assert_cmpint(clock_gettime(clock, &start), ==, 0);
  gint64 deadline_us = pipeline_fixture_deadline_us();
  do {
    pipeline_fixture_wait_a_little(deadline_us, "a thread spins");
    g_assert_cmpint(clock_gettime(clock, &now), ==, 0);
  } while (now.tv_sec <= start.tv_sec + 1);
}

/* A gzip stream without its end: the client's thread that unpacks it never comes back (librdkafka 2.0.2 and 2.16.0). */
PIPELINE_TEST("/lifecycle/stop-3/A25-E2-while-kafkas-client-spins")
{
  /* The threads of Kafka's client that have ended, and are never joined, are what is to be seen here. */
  const char *before = g_getenv("TSAN_OPTIONS");
  g_autofree char *sanitizer = g_strconcat(before != NULL ? before : "", " report_thread_leaks=0", NULL);
  g_assert_true(g_setenv("TSAN_OPTIONS", sanitizer, TRUE));
  static const guint8 cut_short[] = {0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 0x4B, 0x4C, 0x4A};
  g_autoptr(GBytes) records = g_bytes_new_static(cut_short, sizeof cut_short);
  g_auto(DaemonProcess) process = daemon_process_start_ready(fixture, NULL);
  pipeline_produce_mixture(fixture, 3);
  pipeline_fixture_wait_all_committed(fixture);
  TideRawBatch batch = {.n_offsets = 1, .codec = TIDE_RAW_GZIP, .records = records};
  raw_batch_produce(mock_kafka_brokers(fixture->kafka), FIXTURE_TOPIC, 0, &batch);
  wait_busy(process.pid);
  daemon_process_stop(&process);
  daemon_process_wait_log(&process, "exiting anyway");
}

PIPELINE_TEST("/lifecycle/signals/E3-second-signal-ends-at-once")
{
  TideScriptedFault failing = stuck();
  guint id = scripted_gateway_add_fault(fixture->gateways[0], &failing);
  g_auto(DaemonProcess) process =
      daemon_process_start(fixture, &(DaemonProcessOptions){.gateways = 1, .yaml = LONG_DRAIN});
  pipeline_produce_mixture(fixture, N_STEPS);
  pipeline_fixture_wait_hits(fixture, id, 1);
  daemon_process_signal(&process, SIGTERM);
  daemon_process_wait_log(&process, "stopping:");
  g_assert_cmpint(daemon_process_stop_for_code(&process), ==, EXIT_TEMPFAIL);
  g_autofree char *log = daemon_process_log(&process);
  g_assert_null(strstr(log, "messages unfinished")); /* it did not wait for the drain's end */
  g_assert_nonnull(strstr(log, "exiting at once"));
  assert_committed(fixture, 0);
}

PIPELINE_TEST("/lifecycle/signals/E4-storm-of-hangups")
{
  g_auto(DaemonProcess) process = daemon_process_start_ready(fixture, NULL);
  pipeline_produce_mixture(fixture, N_STEPS / 2);
  for (guint i = 0; i < 300; i++)
    daemon_process_signal(&process, SIGHUP);
  pipeline_produce_mixture_from(fixture, N_STEPS / 2, N_STEPS / 2);
  pipeline_fixture_wait_all_committed(fixture);
  daemon_process_wait_log(&process, "reloaded: no changes");
  g_autofree char *log = daemon_process_log(&process);
  g_assert_null(strstr(log, "needs a restart"));
  daemon_process_stop(&process);
  pipeline_assert_tables(fixture, N_STEPS);
}

/* They would end the process without a drain, and without an exit code. */
PIPELINE_TEST("/lifecycle/signals/E4-user-signals-tell-the-state")
{
  g_auto(DaemonProcess) process = daemon_process_start_ready(fixture, NULL);
  daemon_process_signal(&process, SIGUSR1);
  daemon_process_wait_log(&process, "state: 2 partitions");
  daemon_process_signal(&process, SIGUSR2);
  pipeline_produce_mixture(fixture, N_STEPS);
  pipeline_fixture_wait_all_committed(fixture);
  daemon_process_stop(&process);
  pipeline_assert_tables(fixture, N_STEPS);
}

/* ---- the machine ---- */

static guint
count_descriptors(pid_t pid)
{
  g_autofree char *path = g_strdup_printf("/proc/%d/fd", (int)pid);
  g_autoptr(GDir) directory = g_dir_open(path, 0, NULL);
  g_assert_nonnull(directory);
  guint n = 0;
  while (g_dir_read_name(directory) != NULL)
    n++;
  return n;
}

static void
limit_descriptors(pid_t pid, rlim_t n)
{
  struct rlimit limit;
  g_assert_cmpint(prlimit(pid, RLIMIT_NOFILE, NULL, &limit), ==, 0);
  limit.rlim_cur = n;
  g_assert_cmpint(prlimit(pid, RLIMIT_NOFILE, &limit, NULL), ==, 0);
}

PIPELINE_TEST("/lifecycle/machine/E6-out-of-descriptors-waits-for-some")
{
  g_auto(DaemonProcess) process = daemon_process_start_ready(fixture, NULL);
  limit_descriptors(process.pid, 3); /* what is open stays open; nothing new can be */
  scripted_gateway_reset_connections(fixture->gateways[0]);
  pipeline_produce_mixture(fixture, N_STEPS);
  daemon_process_wait_log(&process, "raise LimitNOFILE");
  limit_descriptors(process.pid, count_descriptors(process.pid) + 256);
  pipeline_fixture_wait_all_committed(fixture);
  daemon_process_stop(&process);
  pipeline_assert_tables(fixture, N_STEPS);
}

/* A pipe that is full and never read: what cannot be logged is dropped and counted, nothing waits for it, nor at the
 * start for the configuration's warning that passwords can be read on their way. */
PIPELINE_TEST("/lifecycle/machine/E10-log-that-nobody-reads")
{
  g_autoptr(GError) error = NULL;
  g_autofree char *users = NULL;
  int ends[2], users_fd = g_file_open_tmp("tidemark-users-XXXXXX", &users, &error);
  g_assert_no_error(error);
  close(users_fd);
  g_assert_true(g_file_set_contents_full(users, TOKEN_LINE, -1, G_FILE_SET_CONTENTS_NONE, 0600, NULL));
  g_autofree char *yaml = g_strdup_printf(
      "service: { http: \"0.0.0.0:0\", http_users: { file: %s }, log_format: text, log_level: debug }\n", users);
  g_assert_cmpint(pipe2(ends, O_CLOEXEC), ==, 0);
  g_assert_cmpint(fcntl(ends[1], F_SETFL, O_NONBLOCK), ==, 0);
  static const char filler[4096];
  while (write(ends[1], filler, sizeof filler) > 0)
    continue;
  g_assert_cmpint(fcntl(ends[1], F_SETFL, 0), ==, 0);
  g_auto(DaemonProcess) process =
      daemon_process_start(fixture, &(DaemonProcessOptions){.gateways = 1, .yaml = yaml, .stderr_fd = ends[1]});
  pipeline_produce_mixture(fixture, N_STEPS);
  pipeline_fixture_wait_all_committed(fixture);
  daemon_process_stop(&process);
  close(ends[0]);
  close(ends[1]);
  g_assert_cmpint(g_unlink(users), ==, 0);
  pipeline_assert_tables(fixture, N_STEPS);
}

PIPELINE_TEST("/lifecycle/machine/E10-log-whose-reader-has-gone")
{
  int ends[2];
  g_assert_cmpint(pipe2(ends, O_CLOEXEC), ==, 0);
  close(ends[0]);
  g_auto(DaemonProcess) process =
      daemon_process_start(fixture, &(DaemonProcessOptions){.gateways = 1, .stderr_fd = ends[1]});
  pipeline_produce_mixture(fixture, N_STEPS);
  pipeline_fixture_wait_all_committed(fixture);
  daemon_process_stop(&process);
  close(ends[1]);
  pipeline_assert_tables(fixture, N_STEPS);
}

static void
remove_directory(const char *path)
{
  g_autoptr(GDir) directory = g_dir_open(path, 0, NULL);
  g_assert_nonnull(directory);
  for (const char *name; (name = g_dir_read_name(directory)) != NULL;) {
    g_autofree char *file = g_build_filename(path, name, NULL);
    g_assert_cmpint(g_unlink(file), ==, 0);
  }
  g_assert_cmpint(g_rmdir(path), ==, 0);
}

PIPELINE_TEST("/lifecycle/machine-2/E15-two-of-one-state-directory")
{
  g_autofree char *directory = g_dir_make_tmp("tidemark-state-XXXXXX", NULL);
  g_assert_nonnull(directory);
  DaemonProcessOptions options = {.gateways = 1, .state_directory = directory};
  g_auto(DaemonProcess) first = daemon_process_start(fixture, &options);
  daemon_process_wait_log(&first, "ready:");
  daemon_process_wait_log(&first, ", also after a restart (kafka.instance)");
  g_auto(DaemonProcess) second = daemon_process_start(fixture, &options);
  g_autofree char *named = g_strdup_printf("process %d", (int)first.pid);
  g_assert_cmpint(daemon_process_wait_end(&second, BOUNDED_US), ==, EXIT_TEMPFAIL);
  daemon_process_wait_log(&second, named);
  daemon_process_signal(&first, SIGKILL);
  g_assert_cmpint(daemon_process_wait_end(&first, AT_ONCE_US), ==, 128 + SIGKILL);
  /* What a kill leaves behind is no obstacle. */
  g_auto(DaemonProcess) third = daemon_process_start(fixture, &options);
  daemon_process_wait_log(&third, "gateway ");
  daemon_process_stop(&third);
  DaemonProcessOptions nameless = options;
  nameless.kafka = ", instance: none";
  g_auto(DaemonProcess) fourth = daemon_process_start(fixture, &nameless);
  daemon_process_wait_log(&fourth, "gateway ");
  daemon_process_stop(&fourth);
  g_autofree char *log = daemon_process_log(&fourth);
  g_assert_null(strstr(log, "kafka.instance"));
  remove_directory(directory);
}

/* Of all threads but the one that waits for signals. */
static void
assert_signals_are_blocked(pid_t pid)
{
  const guint64 storm = (G_GUINT64_CONSTANT(1) << (SIGALRM - 1)) | (G_GUINT64_CONSTANT(1) << (SIGPROF - 1));
  g_autofree char *path = g_strdup_printf("/proc/%d/task", (int)pid);
  g_autoptr(GDir) directory = g_dir_open(path, 0, NULL);
  g_assert_nonnull(directory);
  const char *task;
  guint n_blocked = 0, n_open = 0;
  while ((task = g_dir_read_name(directory)) != NULL) {
    g_autofree char *file = g_build_filename(path, task, "status", NULL);
    g_autofree char *status = NULL;
    if (!g_file_get_contents(file, &status, NULL, NULL))
      continue; /* it has ended */
    const char *blocked = strstr(status, "SigBlk:");
    if ((g_ascii_strtoull(blocked + strlen("SigBlk:"), NULL, 16) & storm) == storm)
      n_blocked++;
    else
      n_open++;
  }
  g_assert_cmpuint(n_blocked, >, 3);
  g_assert_cmpuint(n_open, <=, 1);
}

/* A thousand times stopped and continued while messages flow, which wakes whatever call waits. */
PIPELINE_TEST("/lifecycle/machine-2/E16-storm-of-interrupts")
{
  g_auto(DaemonProcess) process = daemon_process_start_ready(fixture, NULL);
  assert_signals_are_blocked(process.pid);
  for (guint step = 0; step < N_STEPS; step++) {
    pipeline_produce_mixture_from(fixture, step, 1);
    for (guint i = 0; i < 1000 / N_STEPS + 1; i++) {
      siginfo_t changed;
      daemon_process_signal(&process, SIGSTOP);
      g_assert_cmpint(waitid(P_PID, (id_t)process.pid, &changed, WSTOPPED), ==, 0);
      daemon_process_signal(&process, SIGCONT);
      g_assert_cmpint(waitid(P_PID, (id_t)process.pid, &changed, WCONTINUED), ==, 0);
    }
  }
  pipeline_fixture_wait_all_committed(fixture);
  daemon_process_stop(&process);
  pipeline_assert_tables(fixture, N_STEPS);
}

/* ---- dead letters ---- */

/* Neither a place nor a state directory is named: a bad message stops nothing, and the command finds its dead letter.
 */
PIPELINE_TEST("/lifecycle/dead-letters/U4-they-have-a-place-by-default")
{
  pipeline_fixture_produce_raw(fixture, 0, "no reading");
  g_auto(DaemonProcess) process = daemon_process_start(fixture, &(DaemonProcessOptions){.gateways = 1});
  pipeline_fixture_wait_all_committed(fixture);
  daemon_process_stop(&process);
  g_autofree char *stem = g_strndup(process.config_path, strlen(process.config_path) - strlen(".yaml"));
  g_autofree char *path = g_strconcat(stem, ".dead-letters.jsonl", NULL);
  g_assert_true(g_file_test(path, G_FILE_TEST_IS_REGULAR));
  g_auto(ProgramDone) done = run_program(process.config_path, "dead-letters list");
  g_assert_cmpint(done.exit_code, ==, 0);
  assert_prints(done.output, "metrics/0/0");
}

/* The last line tells of them, and of those that were not logged one by one. */
PIPELINE_TEST("/lifecycle/dead-letters/they-are-counted-at-the-end")
{
  mock_kafka_create_topic(fixture->kafka, "letters", 1);
  for (guint i = 0; i < 9; i++)
    pipeline_fixture_produce_raw(fixture, 0, "nonsense");
  pipeline_fixture_flush(fixture);
  g_auto(DaemonProcess) process = daemon_process_start(
      fixture,
      &(DaemonProcessOptions){.gateways = 1, .yaml = "dead_letters: { topic: letters }\n", .words = "--until-end"});
  g_assert_cmpint(daemon_process_wait_end(&process, FIXTURE_TIMEOUT_US), ==, 0);
  g_autofree char *log = daemon_process_log(&process);
  g_assert_nonnull(strstr(log, "cannot use 8 more messages (not logged) ["));
  g_assert_nonnull(strstr(log, "committed; 9 read, 0 written, 9 dead letters in topic 'letters' ["));
}

/* The run says why, and what to do. */
PIPELINE_TEST("/lifecycle/dead-letters/C8-too-many-end-a-run-to-the-end")
{
  mock_kafka_create_topic(fixture->kafka, "letters", 1);
  for (guint i = 0; i < 400; i++)
    pipeline_fixture_produce_raw(fixture, (gint32)(i % 2), "nonsense");
  pipeline_fixture_flush(fixture);
  g_auto(DaemonProcess) process = daemon_process_start(
      fixture, &(DaemonProcessOptions){.gateways = 1,
                                       .yaml = "dead_letters: { topic: letters, max_ratio: 0.1 }\n",
                                       .words = "--until-end"});
  g_assert_cmpint(daemon_process_wait_end(&process, FIXTURE_TIMEOUT_US), ==, EXIT_DATA);
  g_autofree char *log = daemon_process_log(&process);
  g_assert_nonnull(strstr(log, "cannot continue: "));
  g_assert_nonnull(strstr(log, "no more are written: correct the configuration and restart"));
  g_assert_nonnull(strstr(log, " messages are left for the next start, which reads them again; "));
  g_assert_cmpuint(assert_ends_add_up(log), >=, 100);
}

/* One that was never written to: said, and no failure. */
PIPELINE_TEST("/lifecycle/dead-letters/U4-no-dead-letter-was-ever-kept")
{
  g_auto(DaemonProcess) process = daemon_process_start(fixture, &(DaemonProcessOptions){.gateways = 1});
  daemon_process_signal(&process, SIGKILL);
  (void)daemon_process_wait_end(&process, AT_ONCE_US);
  g_auto(ProgramDone) done = run_program(process.config_path, "dead-letters list");
  g_assert_cmpint(done.exit_code, ==, 0);
}
