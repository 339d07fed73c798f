/* The whole of `tidemark run --until-end`: it exits with 0 once any members of the group have committed everything that
 * the topics contained at its start; otherwise it reports what is missing, with the matching exit code.
 *
 * TIDE_ROUNDS says how many rounds of kills there are. */
#include "fault/pipeline/pipeline_fixture.h"
#include "fault/program/daemon_process.h"
#include "kafka/kafka_library.h"
#include "util/clock.h"
#include "util/error.h"

#include <glib/gstdio.h>
#include <signal.h>

#define N_PARTITIONS 6
#define N_MESSAGES 600
#define BASE_MS G_GINT64_CONSTANT(1763700000000)

/* Rounds that run at the same time, each with a topic and a group of its own: nearly all of their time they wait. */
#define SIDE_BY_SIDE 5

/* Kills fall within this time from a daemon's start: before, in and after its first join, which takes the mock 3 s. */
#define KILLED_WITHIN_MS 5000

static char *
host_of(const char *topic, guint i)
{
  return g_strdup_printf("%s-%u", topic, i % 7);
}

static void
produce(PipelineFixture *fixture, const char *topic)
{
  mock_kafka_create_topic(fixture->kafka, topic, N_PARTITIONS);
  for (guint i = 0; i < N_MESSAGES; i++) {
    g_autofree char *host = host_of(topic, i);
    g_autofree char *payload = g_strdup_printf("{\"host\":\"%s\",\"ts\":%" G_GINT64_FORMAT ",\"v\":\"%u\"}", host,
                                               BASE_MS + i * G_GINT64_CONSTANT(1000), i);
    mock_kafka_produce_text(fixture->kafka, topic, (gint32)(i % N_PARTITIONS), payload);
  }
  pipeline_fixture_flush(fixture);
}

/* Partitions of which not all is committed, at the moment. */
static guint
count_uncommitted(PipelineFixture *fixture, const char *group, const char *topic)
{
  guint n = 0;
  for (gint32 i = 0; i < N_PARTITIONS; i++)
    n += mock_kafka_committed(fixture->kafka, group, topic, i, pipeline_fixture_deadline_us()) <
                 N_MESSAGES / N_PARTITIONS
             ? 1
             : 0;
  return n;
}

static void
assert_all_written(PipelineFixture *fixture, const char *topic)
{
  for (guint i = 0; i < N_MESSAGES; i++) {
    g_autofree char *host = host_of(topic, i);
    g_autofree char *row = g_strdup_printf("%s#%" G_GINT64_FORMAT, host, BASE_MS + i * G_GINT64_CONSTANT(1000));
    g_autoptr(GBytes) stored = fake_hbase_value(fixture->hbase, "METRIC", row, "M", "v", NULL);
    if (stored == NULL)
      g_error("message %u of '%s' is not in the table", i, topic);
  }
}

/* ---- members that are killed ---- */

typedef struct Round {
  PipelineFixture *fixture;
  char *topic;         /* owned: also the group's name */
  DaemonProcess other; /* in every second round, a member that lives on */
  DaemonProcess killed;
  DaemonProcess run;
  gint64 kill_us;
} Round;

static DaemonProcess
start(const Round *round, TideScriptedGateway *gateway, const char *kafka, const char *words)
{
  g_autofree char *list = g_strdup_printf("\"%s\"", scripted_gateway_endpoint(gateway));
  return daemon_process_start(
      round->fixture,
      &(DaemonProcessOptions){
          .gateway_list = list, .topics = round->topic, .group = round->topic, .kafka = kafka, .words = words});
}

static void
end_round(Round *round)
{
  int code = daemon_process_wait_end(&round->run, FIXTURE_TIMEOUT_US);
  g_autofree char *log = daemon_process_log(&round->run);
  guint n_uncommitted = count_uncommitted(round->fixture, round->topic, round->topic);
  if (code != 0 || n_uncommitted > 0)
    g_error("%s: ended with %d, %u of %u partitions are not committed to their ends; it said:\n%s", round->topic, code,
            n_uncommitted, N_PARTITIONS, log);
  assert_all_written(round->fixture, round->topic);
  daemon_process_clear(&round->other);
  daemon_process_clear(&round->killed);
  daemon_process_clear(&round->run);
  g_free(round->topic);
}

static gboolean
is_refused(gconstpointer kafka)
{
  TideKafkaLibrary library = tide_kafka_library();
  if (strstr(kafka, "cooperative") == NULL || tide_kafka_library_can(&library, TIDE_KAFKA_SOUND_COOPERATIVE))
    return FALSE;
  g_test_skip("the program refuses to be cooperative with this librdkafka");
  return TRUE;
}

static const char eager[] = ", assignment: eager", cooperative[] = ", assignment: cooperative";

static void
test_members_that_are_killed(PipelineFixture *fixture, gconstpointer kafka)
{
  if (is_refused(kafka))
    return;
  const char *wanted = g_getenv("TIDE_ROUNDS");
  guint n_rounds = wanted != NULL ? (guint)g_ascii_strtoull(wanted, NULL, 10) : SIDE_BY_SIDE;
  for (guint begun = 0; begun < n_rounds; begun += SIDE_BY_SIDE) {
    Round rounds[SIDE_BY_SIDE] = {0};
    guint n = MIN(SIDE_BY_SIDE, n_rounds - begun);
    for (guint i = 0; i < n; i++) {
      Round *round = &rounds[i];
      round->fixture = fixture;
      round->topic = g_strdup_printf("round%u", begun + i);
      produce(fixture, round->topic);
      if (i % 2 == 1)
        round->other = start(round, fixture->gateways[1], kafka, NULL);
      round->killed = start(round, fixture->gateways[0], kafka, NULL);
      round->kill_us = tide_now_us() + g_test_rand_int_range(0, KILLED_WITHIN_MS) * TIDE_US_PER_MS;
    }
    for (guint n_killed = 0; n_killed < n; pipeline_fixture_wait_a_little(G_MAXINT64, "the moments of the kills"))
      for (guint i = 0; i < n; i++) {
        Round *round = &rounds[i];
        if (round->run.pid > 0 || tide_now_us() < round->kill_us)
          continue;
        daemon_process_signal(&round->killed, SIGKILL);
        (void)daemon_process_wait_end(&round->killed, FIXTURE_TIMEOUT_US);
        round->run = start(round, fixture->gateways[0], kafka, "--until-end");
        n_killed++;
      }
    for (guint i = 0; i < n; i++)
      end_round(&rounds[i]);
  }
}

PIPELINE_TEST_OF(eager, "/until-end/kills-eager/C21-members-that-are-killed")
{
  test_members_that_are_killed(fixture, data);
}

PIPELINE_TEST_OF(cooperative, "/until-end/kills-cooperative/C21-members-that-are-killed")
{
  test_members_that_are_killed(fixture, data);
}

/* ---- a member that lives ---- */

/* It has some of the partitions, and cannot write them: what it has is not written by the end of the run. */
static DaemonProcess
start_other(PipelineFixture *fixture, gconstpointer kafka, guint *ret_fault)
{
  TideScriptedFault failing = {.kind = TIDE_FAULT_IO_ERROR, .call = TIDE_CALL_PUT_MULTIPLE};
  *ret_fault = scripted_gateway_add_fault(fixture->gateways[1], &failing);
  g_autofree char *list = g_strdup_printf("\"%s\"", scripted_gateway_endpoint(fixture->gateways[1]));
  DaemonProcess other =
      daemon_process_start(fixture, &(DaemonProcessOptions){.gateway_list = list, .topics = "wide", .kafka = kafka});
  g_assert_true(scripted_gateway_wait_fault_hits(fixture->gateways[1], *ret_fault, 1, pipeline_fixture_deadline_us()));
  return other;
}

static void
test_member_that_is_slow(PipelineFixture *fixture, gconstpointer kafka)
{
  if (is_refused(kafka))
    return;
  guint fault;
  produce(fixture, "wide");
  g_auto(DaemonProcess) other G_GNUC_UNUSED = start_other(fixture, kafka, &fault);
  g_auto(DaemonProcess) run = daemon_process_start(
      fixture, &(DaemonProcessOptions){.gateways = 1, .topics = "wide", .kafka = kafka, .words = "--until-end"});
  daemon_process_wait_log(&run, "waiting for the end of the topics: ");
  scripted_gateway_clear_fault(fixture->gateways[1], fault);
  g_assert_cmpint(daemon_process_wait_end(&run, FIXTURE_TIMEOUT_US), ==, 0);
  g_assert_cmpuint(count_uncommitted(fixture, FIXTURE_GROUP, "wide"), ==, 0);
  assert_all_written(fixture, "wide");
}

PIPELINE_TEST_OF(eager, "/until-end/others/C21-member-that-is-slow-eager")
{
  test_member_that_is_slow(fixture, data);
}

PIPELINE_TEST_OF(cooperative, "/until-end/others/C21-member-that-is-slow-cooperative")
{
  test_member_that_is_slow(fixture, data);
}

static void
test_member_that_does_not_move(PipelineFixture *fixture, gconstpointer kafka)
{
  if (is_refused(kafka))
    return;
  guint fault;
  produce(fixture, "wide");
  g_auto(DaemonProcess) other = start_other(fixture, kafka, &fault);
  DaemonProcessOptions options = {.gateways = 1, .topics = "wide", .kafka = kafka, .words = "--until-end"};
  g_auto(DaemonProcess) run = daemon_process_start(fixture, &options);
  g_assert_cmpint(daemon_process_wait_end(&run, FIXTURE_TIMEOUT_US), ==, TIDE_EXIT_TEMPFAIL);
  guint n_left = count_uncommitted(fixture, FIXTURE_GROUP, "wide");
  g_assert_cmpuint(n_left, >, 0);
  g_assert_cmpuint(n_left, <, N_PARTITIONS);
  g_autofree char *named =
      g_strdup_printf("cannot continue: %u of 6 partitions with messages are not assigned to this run", n_left);
  daemon_process_assert_said(&run, named);
  daemon_process_assert_said(&run, " at 0 of 100");
  daemon_process_assert_said(&run, "waiting for the end of the topics: ");
  daemon_process_signal(&other, SIGKILL);
  (void)daemon_process_wait_end(&other, FIXTURE_TIMEOUT_US);
  g_auto(DaemonProcess) again = daemon_process_start(fixture, &options);
  g_assert_cmpint(daemon_process_wait_end(&again, FIXTURE_TIMEOUT_US), ==, 0);
  g_assert_cmpuint(count_uncommitted(fixture, FIXTURE_GROUP, "wide"), ==, 0);
}

PIPELINE_TEST_OF(eager, "/until-end/others/C21-member-that-does-not-move-eager")
{
  test_member_that_does_not_move(fixture, data);
}

PIPELINE_TEST_OF(cooperative, "/until-end/others/C21-member-that-does-not-move-cooperative")
{
  test_member_that_does_not_move(fixture, data);
}

/* C1: the brokers say where the topics end, and to no later question anything. */
PIPELINE_TEST_OF(eager, "/until-end/others/C21-partitions-that-are-never-located")
{
  produce(fixture, "wide");
  mock_kafka_push_errors(fixture->kafka, TIDE_KAFKA_LIST_OFFSETS, RD_KAFKA_RESP_ERR_NO_ERROR, 2); /* begins and ends */
  mock_kafka_push_errors(fixture->kafka, TIDE_KAFKA_LIST_OFFSETS, RD_KAFKA_RESP_ERR_UNKNOWN, 1000);
  DaemonProcessOptions options = {.gateways = 1, .topics = "wide", .kafka = data, .words = "--until-end"};
  g_auto(DaemonProcess) run = daemon_process_start(fixture, &options);
  g_assert_cmpint(daemon_process_wait_end(&run, FIXTURE_TIMEOUT_US), ==, TIDE_EXIT_TEMPFAIL);
  daemon_process_assert_said(&run,
                             "cannot continue: 6 of 6 partitions with messages are assigned to this run, and for ");
  daemon_process_assert_said(&run, "'wide' 0 at 0 of 100, ");
  mock_kafka_clear_errors(fixture->kafka, TIDE_KAFKA_LIST_OFFSETS);
  g_auto(DaemonProcess) again = daemon_process_start(fixture, &options);
  g_assert_cmpint(daemon_process_wait_end(&again, FIXTURE_TIMEOUT_US), ==, 0);
  assert_all_written(fixture, "wide");
}

/* What the topics held at its start, not what comes while it reads: a run beside producers ends, although something is
 * on its way at any moment. */
PIPELINE_TEST_OF(eager, "/until-end/end/C21-end-is-that-of-the-start")
{
  TideScriptedFault slow = {.call = TIDE_CALL_PUT_MULTIPLE, .delay_reply_ms = 100};
  scripted_gateway_add_fault(fixture->gateways[0], &slow);
  produce(fixture, "wide");
  RunningPipeline *running = running_pipeline_start_with(
      fixture, &(RunningPipelineOptions){.gateways = 1, .topics = "wide", .kafka = data, .until_end = TRUE});
  gint64 deadline_us = pipeline_fixture_deadline_us();
  gboolean is_finished = FALSE;
  while (!is_finished) {
    for (gint32 i = 0; i < N_PARTITIONS; i++)
      mock_kafka_produce_text(fixture->kafka, "wide", i, "{\"host\":\"late\",\"ts\":1763700000000,\"v\":\"1\"}");
    pipeline_fixture_flush(fixture);
    pipeline_fixture_wait_a_little(deadline_us, "the end of the run");
    TidePipelineState state = tide_pipeline_state(running->pipeline);
    is_finished = state.finished;
    tide_pipeline_state_clear(&state);
  }
  g_assert_cmpuint(count_uncommitted(fixture, FIXTURE_GROUP, "wide"), ==, 0);
  running_pipeline_end(running);
}

/* Nothing to read: nothing to wait for, neither of an empty topic nor of one that is committed whole. */
PIPELINE_TEST_OF(eager, "/until-end/end/C21-nothing-is-left")
{
  mock_kafka_create_topic(fixture->kafka, "empty", N_PARTITIONS);
  DaemonProcessOptions options = {
      .gateways = 1, .topics = "empty, \"^wi.*\", \"^nothing-.*\"", .kafka = data, .words = "--until-end"};
  g_auto(DaemonProcess) empty = daemon_process_start(fixture, &options);
  g_assert_cmpint(daemon_process_wait_end(&empty, FIXTURE_TIMEOUT_US), ==, 0);
  produce(fixture, "wide");
  g_auto(DaemonProcess) run = daemon_process_start(fixture, &options);
  g_assert_cmpint(daemon_process_wait_end(&run, FIXTURE_TIMEOUT_US), ==, 0);
  g_assert_cmpuint(count_uncommitted(fixture, FIXTURE_GROUP, "wide"), ==, 0);
  g_auto(DaemonProcess) again = daemon_process_start(fixture, &options);
  g_assert_cmpint(daemon_process_wait_end(&again, FIXTURE_TIMEOUT_US), ==, 0);
  daemon_process_assert_said(&again, "stopped: nothing was read");
}

/* ---- what an operator must bring about is not waited for ---- */

PIPELINE_TEST_OF(eager, "/until-end/missing/C4-missing-topic-ends-it")
{
  mock_kafka_set_topic_error(fixture->kafka, FIXTURE_TOPIC, RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
  mock_kafka_create_topic(fixture->kafka, "wide", N_PARTITIONS);
  g_auto(DaemonProcess) run = daemon_process_start(
      fixture, &(DaemonProcessOptions){.gateways = 1, .topics = "wide, " FIXTURE_TOPIC, .words = "--until-end"});
  g_assert_cmpint(daemon_process_wait_end(&run, FIXTURE_TIMEOUT_US), ==, TIDE_EXIT_UNAVAILABLE);
  daemon_process_assert_said(&run, "the topic 'metrics' does not exist: create it");
}

PIPELINE_TEST_OF(eager, "/until-end/missing/D27-missing-table-ends-it")
{
  static const char absent[] = "tables:\n  ABSENT: { key: [ { field: host }, \"#\", { time: epoch_ms } ], columns: { "
                               "family: M, from: \"*\" } }\n";
  g_auto(DaemonProcess) run =
      daemon_process_start(fixture, &(DaemonProcessOptions){.gateways = 1, .yaml = absent, .words = "--until-end"});
  g_assert_cmpint(daemon_process_wait_end(&run, FIXTURE_TIMEOUT_US), ==, TIDE_EXIT_UNAVAILABLE);
  daemon_process_assert_said(&run,
                             "cannot start: table 'ABSENT' does not exist: create it with: tidemark tables create");
}

#define FAILS "service: { http: \"off\", log_format: text, startup: fail }\n"

static guint
add_unknown_call(PipelineFixture *fixture, TideGatewayCall call, const char *message)
{
  TideScriptedFault unknown = {.kind = TIDE_FAULT_APPLICATION_ERROR,
                               .call = call,
                               .application_type = TIDE_APPLICATION_UNKNOWN_METHOD,
                               .message = message};
  return scripted_gateway_add_fault(fixture->gateways[0], &unknown);
}

/* It cannot be asked for tables in any way: no wait helps. */
PIPELINE_TEST_OF(eager, "/until-end/missing/D27-gateway-that-is-too-old")
{
  add_unknown_call(fixture, TIDE_CALL_TABLE_EXISTS, "Invalid method name: 'tableExists'");
  add_unknown_call(fixture, TIDE_CALL_GET_ALL_REGION_LOCATIONS, "Invalid method name: 'getAllRegionLocations'");
  static const DaemonProcessOptions ways[] = {
      {.gateways = 1}, {.gateways = 1, .yaml = FAILS}, {.gateways = 1, .words = "--until-end"}};
  for (guint i = 0; i < G_N_ELEMENTS(ways); i++) {
    g_auto(DaemonProcess) daemon = daemon_process_start(fixture, &ways[i]);
    g_assert_cmpint(daemon_process_wait_end(&daemon, FIXTURE_TIMEOUT_US), ==, TIDE_EXIT_CONFIG);
    daemon_process_assert_said(&daemon, "cannot start: cannot check the tables: ");
    daemon_process_assert_said(&daemon, "the gateway does not know the call 'getAllRegionLocations': Invalid method "
                                        "name: 'getAllRegionLocations'; a gateway of HBase 1.4 or later is needed");
  }
}

/* As of HBase 1.4 to 2.1: a table is known by its regions, and the daemon writes without a look at the rest. */
PIPELINE_TEST_OF(eager, "/until-end/missing/D27-gateway-that-knows-of-no-tables")
{
  scripted_gateway_set_personality(fixture->gateways[0], TIDE_PERSONALITY_OLDEST_THRIFT2);
  pipeline_fixture_produce(fixture, 0, "host0", BASE_MS, "v");
  pipeline_fixture_flush(fixture);
  g_auto(DaemonProcess) daemon =
      daemon_process_start(fixture, &(DaemonProcessOptions){.gateways = 1, .words = "--until-end"});
  g_assert_cmpint(daemon_process_wait_end(&daemon, FIXTURE_TIMEOUT_US), ==, TIDE_EXIT_OK);
  daemon_process_assert_said(&daemon, "cannot check the families, durability and key attribute of table");
  daemon_process_assert_said(&daemon, "cannot describe tables: this needs a gateway of HBase 2.2 or later");
  pipeline_fixture_wait_rows(fixture, "METRIC", 1);
}

#define OTHER_CLUSTER "7be3f4c1-0d2e-4b6a-8f15-93a0c2d4e6b8"

/* Gateways of another cluster than this host remembers do not become ours by waiting: neither before the start, nor
 * where a name leads elsewhere in the middle. */
PIPELINE_TEST_OF(eager, "/until-end/missing/D28-K6-gateways-of-another-cluster")
{
  g_autofree char *directory = g_dir_make_tmp("tidemark-cluster-XXXXXX", NULL);
  g_autofree char *path = g_build_filename(directory, "cluster", NULL);
  g_assert_true(g_file_set_contents(path, OTHER_CLUSTER "\n", -1, NULL));
  const DaemonProcessOptions ways[] = {{.gateways = 1, .words = "--until-end", .state_directory = directory},
                                       {.gateways = 1, .yaml = FAILS, .state_directory = directory}};
  for (guint i = 0; i < G_N_ELEMENTS(ways); i++) {
    g_auto(DaemonProcess) daemon = daemon_process_start(fixture, &ways[i]);
    g_assert_cmpint(daemon_process_wait_end(&daemon, FIXTURE_TIMEOUT_US), ==, TIDE_EXIT_CONFIG);
    daemon_process_assert_said(&daemon, "cannot start: no gateway is usable: gateway '");
    daemon_process_assert_said(&daemon, "but rows are written to cluster " OTHER_CLUSTER);
  }
  fake_hbase_set_cluster(fixture->hbase, OTHER_CLUSTER);
  TideScriptedFault silent = {.kind = TIDE_FAULT_SILENCE, .call = TIDE_CALL_PUT_MULTIPLE};
  guint id = scripted_gateway_add_fault(fixture->gateways[0], &silent);
  pipeline_fixture_produce(fixture, 0, "host0", BASE_MS, "v");
  pipeline_fixture_flush(fixture);
  g_auto(DaemonProcess) moved = daemon_process_start(fixture, &ways[0]);
  pipeline_fixture_wait_hits(fixture, id, 1);
  fake_hbase_set_cluster(fixture->hbase, FAKE_CLUSTER);
  scripted_gateway_reset_connections(fixture->gateways[0]);
  g_assert_cmpint(daemon_process_wait_end(&moved, FIXTURE_TIMEOUT_US), ==, TIDE_EXIT_CONFIG);
  daemon_process_assert_said(&moved, "cannot continue: no gateway is usable: gateway '");
  g_autoptr(GDir) files = g_dir_open(directory, 0, NULL);
  for (const char *name; (name = g_dir_read_name(files)) != NULL;) {
    g_autofree char *file = g_build_filename(directory, name, NULL);
    g_assert_cmpint(g_remove(file), ==, 0);
  }
  g_assert_cmpint(g_rmdir(directory), ==, 0);
}

/* A minute, as long as a restart of HBase's Thrift servers takes: those that wait do it side by side. */
PIPELINE_TEST_OF(eager, "/until-end/missing/D27-hbase-that-does-not-come")
{
  g_autoptr(TideScriptedGateway) thrift1 =
      scripted_gateway_new(&(TideGatewayOptions){.personality = TIDE_PERSONALITY_THRIFT1});
  g_autofree char *old = g_strdup_printf("\"%s\"", scripted_gateway_endpoint(thrift1));
  TideScriptedFault failing = {.kind = TIDE_FAULT_IO_ERROR, .call = TIDE_CALL_TABLE_EXISTS, .message = "no master"};
  scripted_gateway_add_fault(fixture->gateways[0], &failing);
  static const char no_gateway[] = "cannot start: no gateway is usable: ",
                    limit[] = "waited 60 s for it: check that HBase";
  const struct {
    DaemonProcessOptions options;
    const char *said;
  } ways[] = {
      {{.gateways = 1, .words = "--until-end"}, NULL}, /* stopped before the end of the topics */
      {{.gateway_list = "\"127.0.0.1:1\"", .words = "--until-end"}, no_gateway},
      {{.gateway_list = "\"127.0.0.1:1\"", .yaml = FAILS}, no_gateway},
      {{.gateway_list = old, .words = "--until-end"}, "is a thrift1 gateway"},
      {{.gateway_list = old, .yaml = FAILS}, "is a thrift1 gateway"},
      {{.gateways = 1, .words = "--until-end"}, "cannot start: cannot check the tables: "},
      {{.gateways = 1, .yaml = FAILS}, "cannot start: cannot check the tables: "},
      {{.gateways = 1}, NULL},
  };
  DaemonProcess daemons[G_N_ELEMENTS(ways)];
  for (guint i = 0; i < G_N_ELEMENTS(ways); i++)
    daemons[i] = daemon_process_start(fixture, &ways[i].options);
  for (guint i = 0; i < G_N_ELEMENTS(ways); i++) {
    if (ways[i].said != NULL) {
      g_assert_cmpint(daemon_process_wait_end(&daemons[i], FIXTURE_TIMEOUT_US), ==, TIDE_EXIT_UNAVAILABLE);
      daemon_process_assert_said(&daemons[i], ways[i].said);
      daemon_process_assert_said(&daemons[i], limit);
    } else { /* it waits on, and says so */
      daemon_process_wait_log(&daemons[i], "cannot check the tables: ");
      daemon_process_wait_log(&daemons[i], "no master");
      daemon_process_wait_log(&daemons[i], "; retrying");
      daemon_process_signal(&daemons[i], SIGTERM);
      g_assert_cmpint(daemon_process_wait_end(&daemons[i], FIXTURE_TIMEOUT_US), ==,
                      ways[i].options.words != NULL ? TIDE_EXIT_TEMPFAIL : 0);
    }
    daemon_process_clear(&daemons[i]);
  }
}

/* Brokers that never say where the topics end. */
PIPELINE_TEST_OF(eager, "/until-end/missing/C1-brokers-that-do-not-come")
{
  mock_kafka_set_broker_up(fixture->kafka, -1, FALSE);
  g_auto(DaemonProcess) run =
      daemon_process_start(fixture, &(DaemonProcessOptions){.gateways = 1, .words = "--until-end"});
  g_assert_cmpint(daemon_process_wait_end(&run, FIXTURE_TIMEOUT_US), ==, TIDE_EXIT_UNAVAILABLE);
  daemon_process_assert_said(&run, "cannot continue: the ends of the topics are unknown: no answer from '");
  daemon_process_assert_said(&run, "no broker of '");
}
