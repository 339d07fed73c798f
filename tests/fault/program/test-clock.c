/* The program while its wall clock is changed, with a build whose clock the test sets (shifted_clock.c). */
#include "fault/pipeline/pipeline_fixture.h"
#include "fault/program/daemon_process.h"
#include "util/clock.h"
#include "util/error.h"

#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#define END_US (60 * TIDE_US_PER_S)
#define HOUR_NS (3600 * G_GINT64_CONSTANT(1000000000))
#define STEPS 10u

typedef struct ClockFixture {
  PipelineFixture pipeline; /* two brokers: the first leads all partitions, the second coordinates the group */
  char *path;               /* owned */
  _Atomic gint64 *ahead_ns; /* mapped from there */
} ClockFixture;

static void
set_up(ClockFixture *fixture, gconstpointer data)
{
  pipeline_fixture_set_up_brokers(&fixture->pipeline, 2);
  for (gint32 i = 0; i < FIXTURE_PARTITIONS; i++)
    mock_kafka_set_leader(fixture->pipeline.kafka, FIXTURE_TOPIC, i, 1);
  mock_kafka_set_coordinator(fixture->pipeline.kafka, FIXTURE_GROUP, 2);
  g_autoptr(GError) error = NULL;
  int fd = g_file_open_tmp("tidemark-clock-XXXXXX", &fixture->path, &error);
  g_assert_no_error(error);
  g_assert_cmpint(ftruncate(fd, sizeof *fixture->ahead_ns), ==, 0);
  fixture->ahead_ns = mmap(NULL, sizeof *fixture->ahead_ns, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  g_assert_true(fixture->ahead_ns != MAP_FAILED);
  close(fd);
  g_setenv("TIDE_CLOCK_FILE", fixture->path, TRUE);
}

static void
tear_down(ClockFixture *fixture, gconstpointer data)
{
  munmap((void *)fixture->ahead_ns, sizeof *fixture->ahead_ns);
  unlink(fixture->path);
  g_free(fixture->path);
  pipeline_fixture_tear_down(&fixture->pipeline, data);
}

#define FIXTURE_TEST(path) TEST_WITH(ClockFixture, set_up, tear_down, path)

/* A daemon that has committed @first steps of the mixture; the main thread of its client is idle then. */
static DaemonProcess
start_with(ClockFixture *fixture, guint first)
{
  DaemonProcess daemon = daemon_process_start(&fixture->pipeline, &(DaemonProcessOptions){.gateways = 1});
  pipeline_produce_mixture(&fixture->pipeline, first);
  pipeline_fixture_wait_all_committed(&fixture->pipeline);
  daemon_process_wait_log(&daemon, "ready: ");
  return daemon;
}

/* Without being woken, the client commits nothing and sends no heartbeat for an hour. */
FIXTURE_TEST("/clock/set/E9-K5-set-back-costs-no-commit-and-no-heartbeat")
{
  PipelineFixture *pipeline = &fixture->pipeline;
  g_auto(DaemonProcess) daemon = start_with(fixture, STEPS);
  atomic_store(fixture->ahead_ns, -HOUR_NS);
  daemon_process_wait_log(&daemon, "the wall clock was set back by 3600.0 s");
  pipeline_produce_mixture_from(pipeline, STEPS, STEPS);
  pipeline_fixture_wait_all_committed(pipeline);
  pipeline_assert_tables(pipeline, 2 * STEPS);
  mock_kafka_push_errors(pipeline->kafka, TIDE_KAFKA_HEARTBEAT, RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID, 1);
  g_assert_cmpint(daemon_process_wait_end(&daemon, END_US), ==, TIDE_EXIT_TEMPFAIL);
  g_autofree char *log = daemon_process_log(&daemon);
  g_assert_nonnull(strstr(log, "another member took the name in kafka.instance")); /* a heartbeat's answer */
  g_assert_null(strstr(log, "has not answered this client"));
}

/* Dead letters are just being sent to their topic for the first time: without new producers they are for an hour. */
FIXTURE_TEST("/clock/set/E9-K5-set-back-costs-no-dead-letter")
{
  TideMockKafka *kafka = fixture->pipeline.kafka;
  mock_kafka_create_topic(kafka, "letters", 1);
  g_auto(DaemonProcess) daemon = daemon_process_start(
      &fixture->pipeline,
      &(DaemonProcessOptions){.gateways = 1, .yaml = "dead_letters: { topic: letters, max_ratio: 1 }\n"});
  daemon_process_wait_log(&daemon, "assigned: ");
  for (guint i = 0; i < STEPS; i++)
    mock_kafka_produce_text(kafka, FIXTURE_TOPIC, 0, "no JSON");
  pipeline_fixture_flush(&fixture->pipeline);
  daemon_process_wait_log(&daemon, "it becomes a dead letter");
  atomic_store(fixture->ahead_ns, -HOUR_NS);
  g_assert_true(mock_kafka_wait_committed(kafka, FIXTURE_GROUP, FIXTURE_TOPIC, 0, STEPS, tide_now_us() + END_US));
  daemon_process_stop(&daemon);
}

FIXTURE_TEST("/clock/set/E9-set-forward-changes-nothing")
{
  PipelineFixture *pipeline = &fixture->pipeline;
  g_auto(DaemonProcess) daemon = start_with(fixture, STEPS);
  atomic_store(fixture->ahead_ns, HOUR_NS);
  daemon_process_wait_log(&daemon, "the wall clock was set forward by 3600.0 s");
  pipeline_produce_mixture_from(pipeline, STEPS, STEPS);
  pipeline_fixture_wait_all_committed(pipeline);
  pipeline_assert_tables(pipeline, 2 * STEPS);
  daemon_process_stop(&daemon);
}

/* One broker answers, and the coordinator does not: no wake-up helps. The next start goes on. */
FIXTURE_TEST("/clock/brokers/E9-K5-silent-coordinator-ends-the-program")
{
  PipelineFixture *pipeline = &fixture->pipeline;
  g_auto(DaemonProcess) daemon = start_with(fixture, STEPS);
  mock_kafka_set_broker_up(pipeline->kafka, 2, FALSE);
  daemon_process_wait_log(&daemon, " without a commit"); /* the session has ended */
  atomic_store(fixture->ahead_ns, -HOUR_NS);
  g_assert_cmpint(daemon_process_wait_end(&daemon, END_US), ==, TIDE_EXIT_TEMPFAIL);
  g_autofree char *log = daemon_process_log(&daemon);
  g_assert_nonnull(strstr(log, "the coordinator of group 'tidemark' has not answered this client"));
  g_assert_null(strstr(log, "another daemon runs")); /* which is the cause of another end */
  mock_kafka_set_broker_up(pipeline->kafka, 2, TRUE);
  pipeline_produce_mixture_from(pipeline, STEPS, STEPS);
  g_auto(DaemonProcess) next = daemon_process_start(pipeline, &(DaemonProcessOptions){.gateways = 1});
  pipeline_fixture_wait_all_committed(pipeline);
  pipeline_assert_tables(pipeline, 2 * STEPS);
  daemon_process_stop(&next);
}

/* It was answered after the clock was set back, so that an outage later is one like any other. */
FIXTURE_TEST("/clock/brokers/E9-K5-outage-later-does-not-end-the-program")
{
  PipelineFixture *pipeline = &fixture->pipeline;
  g_auto(DaemonProcess) daemon = start_with(fixture, STEPS);
  atomic_store(fixture->ahead_ns, -HOUR_NS);
  daemon_process_wait_log(&daemon, "the wall clock was set back by 3600.0 s");
  pipeline_produce_mixture_from(pipeline, STEPS, STEPS);
  pipeline_fixture_wait_all_committed(pipeline);
  mock_kafka_set_broker_up(pipeline->kafka, -1, FALSE);
  daemon_process_wait_log(&daemon, " without a commit");
  daemon_process_wait_log(&daemon, "no broker of '");
  mock_kafka_set_broker_up(pipeline->kafka, -1, TRUE);
  pipeline_produce_mixture_from(pipeline, 2 * STEPS, STEPS);
  pipeline_fixture_wait_all_committed(pipeline);
  pipeline_assert_tables(pipeline, 3 * STEPS);
  daemon_process_stop(&daemon);
}
