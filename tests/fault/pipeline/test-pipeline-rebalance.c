/* Several daemons of one group that join and leave while messages arrive: their messages are at worst written again,
 * never omitted, with either assignment protocol. */
#include "fault/pipeline/pipeline_fixture.h"
#include "util/clock.h"
#include "util/error.h"

#define WIDE_TOPIC "wide"
#define WIDE_PARTITIONS 6
#define BASE_MS G_GINT64_CONSTANT(1763700000000)

/* Readings that may be produced before they are rows: a partition of the mock keeps its newest 5 MiB, a few thousand.
 */
#define MAX_AHEAD 3000u

/* The mock lets each rebalance take a second less than the session, and ends the session of a member that has not
 * joined anew by then. So there must be room for a busy machine: between what may hold a revoke up and the drain's
 * limit, and between that and the session's. */
#define LONG_SESSION ", session_timeout: 10s"
#define OPTIONS "limits: { drain_timeout: 6s }\nbatch: { latest_window: 8s }\n"

typedef struct Group {
  PipelineFixture *fixture;
  const char *kafka; /* options of each member */
  guint n_produced;
} Group;

static void
set_up(PipelineFixture *fixture, gconstpointer data)
{
  pipeline_fixture_set_up(fixture, NULL);
  mock_kafka_create_topic(fixture->kafka, WIDE_TOPIC, WIDE_PARTITIONS);
}

/* The latest rows wait in memory for longer than a revoke may take: who gives a partition away must not wait for the
 * end of that window, or hands messages back unfinished. */
static RunningPipeline *
join(Group *group)
{
  return running_pipeline_start_with(
      group->fixture,
      &(RunningPipelineOptions){.gateways = 1, .topics = WIDE_TOPIC, .kafka = group->kafka, .options = OPTIONS});
}

/* Reading number n is of host n % 10, at second n: a row of its own. */
static void
produce(Group *group, guint n)
{
  for (guint i = 0; i < n; i++, group->n_produced++) {
    g_autofree char *payload =
        g_strdup_printf("{\"host\":\"host%u\",\"ts\":%" G_GINT64_FORMAT ",\"v\":\"%u\"}", group->n_produced % 10,
                        BASE_MS + group->n_produced * G_GINT64_CONSTANT(1000), group->n_produced);
    mock_kafka_produce_text(group->fixture->kafka, WIDE_TOPIC, (gint32)(group->n_produced % WIDE_PARTITIONS), payload);
  }
  pipeline_fixture_flush(group->fixture);
}

typedef struct Flow {
  Group *group;
  RunningPipeline *member;
  const char *metric;
  const char *label;
  guint64 least;
} Flow;

static gboolean
has_counted(const Flow *flow)
{
  return tide_metrics_sum(flow->member->metrics, flow->metric, flow->label) >= flow->least;
}

static gboolean
may_go_on(const TidePipelineState *state, gpointer data)
{
  const Flow *flow = data;
  return has_counted(flow) ||
         flow->group->n_produced < fake_hbase_row_count(flow->group->fixture->hbase, "METRIC") + MAX_AHEAD;
}

/* Goes on producing until @member has counted @least of @metric. */
static void
produce_until(Group *group, RunningPipeline *member, const char *metric, const char *label, guint64 least)
{
  Flow flow = {group, member, metric, label, least};
  gint64 deadline_us = pipeline_fixture_deadline_us();
  while (!has_counted(&flow)) {
    g_assert_cmpint(tide_now_us(), <, deadline_us);
    produce(group, 2);
    running_pipeline_wait(member, may_go_on, &flow);
  }
}

static void
wait_all_committed(Group *group)
{
  for (guint i = 0; i < WIDE_PARTITIONS; i++) {
    gint64 n = (group->n_produced + WIDE_PARTITIONS - 1 - i) / WIDE_PARTITIONS;
    g_assert_true(mock_kafka_wait_committed(group->fixture->kafka, FIXTURE_GROUP, WIDE_TOPIC, (gint32)i, n,
                                            pipeline_fixture_deadline_us()));
  }
}

/* Each reading by itself: counts could hide one that is missing behind one that was written twice. */
static void
assert_all_written(Group *group)
{
  for (guint i = 0; i < group->n_produced; i++) {
    g_autofree char *row = g_strdup_printf("host%u#%" G_GINT64_FORMAT, i % 10, BASE_MS + i * G_GINT64_CONSTANT(1000));
    g_autofree char *value = g_strdup_printf("%u", i);
    g_autoptr(GBytes) wanted = g_bytes_new(value, strlen(value));
    g_autoptr(GBytes) stored = fake_hbase_value(group->fixture->hbase, "METRIC", row, "M", "v", NULL);
    if (stored == NULL || !g_bytes_equal(stored, wanted))
      g_error("reading %u is not in the table", i);
  }
  g_assert_cmpuint(fake_hbase_row_count(group->fixture->hbase, "METRIC"), ==, group->n_produced);
}

static guint64
lost_assignments(RunningPipeline *member)
{
  return tide_metrics_sum(member->metrics, "tidemark_kafka_rebalances_total", "type=\"lost\"");
}

/* Where the group refused the last commit of the owner before, what comes next is in doubt, and read again. */
static void
assert_nothing_was_lost_in_rebalances(RunningPipeline *member)
{
  g_assert_cmpuint(lost_assignments(member), ==, 0);
  if (running_pipeline_sum(member, "tidemark_kafka_rewinds_total") == 0)
    g_assert_cmpuint(running_pipeline_sum(member, "tidemark_messages_handed_back_total"), ==, 0);
}

/* A commit of a cooperative member that meets a rebalance may cost its assignment, once in hundreds of turns on a busy
 * machine. Only then is anything read again. */
static void
assert_little_was_lost_in_rebalances(RunningPipeline *member, gboolean is_cooperative)
{
  if (is_cooperative && lost_assignments(member) > 0)
    g_assert_cmpuint(lost_assignments(member), ==, 1);
  else
    assert_nothing_was_lost_in_rebalances(member);
}

static void
test_daemons_join_and_leave_while_messages_flow(PipelineFixture *fixture, gconstpointer kafka)
{
  /* Calls take a while, so that something is on its way whenever partitions move. */
  TideScriptedFault slow = {.call = TIDE_CALL_PUT_MULTIPLE, .delay_reply_ms = 20};
  scripted_gateway_add_fault(fixture->gateways[0], &slow);
  Group group = {.fixture = fixture, .kafka = kafka};
  RunningPipeline *first = join(&group);
  produce_until(&group, first, "tidemark_messages_received_total", NULL, 50);
  RunningPipeline *second = join(&group);
  RunningPipeline *third = join(&group);
  produce_until(&group, second, "tidemark_messages_received_total", NULL, 50);
  produce_until(&group, third, "tidemark_messages_received_total", NULL, 50);
  /* Where partitions move once more at that moment, its last commit may be refused: it says so, and others read again.
   */
  int code = running_pipeline_stop(second, 10000);
  g_assert_true(code == TIDE_EXIT_OK || code == TIDE_EXIT_TEMPFAIL);
  guint64 before = tide_metrics_sum(first->metrics, "tidemark_kafka_rebalances_total", "type=\"assigned\"");
  produce_until(&group, first, "tidemark_kafka_rebalances_total", "type=\"assigned\"", before + 1);
  wait_all_committed(&group);
  gboolean is_cooperative = strstr(kafka, "cooperative") != NULL;
  assert_little_was_lost_in_rebalances(first, is_cooperative);
  assert_little_was_lost_in_rebalances(third, is_cooperative);
  running_pipeline_end(third);
  running_pipeline_end(first);
  assert_all_written(&group);
}

/* The session ended behind our back: what completes later is of an earlier epoch, and moves nothing. */
static void
test_lost_assignment_is_read_again(PipelineFixture *fixture, gconstpointer kafka)
{
  Group group = {.fixture = fixture, .kafka = kafka};
  guint id = pipeline_fixture_fail_puts(fixture, NULL, NULL);
  produce(&group, 60);
  RunningPipeline *running = join(&group);
  pipeline_fixture_wait_hits(fixture, id, 1);
  mock_kafka_push_errors(fixture->kafka, TIDE_KAFKA_HEARTBEAT, RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID, 1);
  running_pipeline_wait_metric(running, "tidemark_messages_handed_back_total", 1);
  g_assert_cmpuint(tide_metrics_sum(running->metrics, "tidemark_kafka_rebalances_total", "type=\"lost\""), ==, 1);
  for (gint32 i = 0; i < WIDE_PARTITIONS; i++)
    g_assert_cmpint(mock_kafka_committed(fixture->kafka, FIXTURE_GROUP, WIDE_TOPIC, i, pipeline_fixture_deadline_us()),
                    <=, 0);
  scripted_gateway_clear_fault(fixture->gateways[0], id);
  wait_all_committed(&group);
  running_pipeline_end(running);
  assert_all_written(&group);
}

/* What a member keeps shared batches with what it gives up, and is read again, while the group still rebalances: it
 * remains its own. */
static void
test_kept_partitions_are_rewound_and_not_lost(PipelineFixture *fixture, gconstpointer kafka)
{
  Group group = {.fixture = fixture, .kafka = kafka};
  RunningPipelineOptions options = {.gateways = 1,
                                    .topics = WIDE_TOPIC,
                                    .kafka = kafka,
                                    .options = "batch: { max_rows: 20 }\nlimits: { drain_timeout: 1s }\n"};
  TideScriptedFault slow = {.call = TIDE_CALL_PUT_MULTIPLE, .delay_reply_ms = 400};
  guint id = scripted_gateway_add_fault(fixture->gateways[0], &slow);
  produce(&group, 6000); /* more than goes out while the members meet */
  RunningPipeline *first = running_pipeline_start_with(fixture, &options);
  running_pipeline_wait_metric(first, "tidemark_messages_received_total", 3000);
  RunningPipeline *second = running_pipeline_start_with(fixture, &options);
  running_pipeline_wait_metric(second, "tidemark_messages_received_total", 1);
  scripted_gateway_clear_fault(fixture->gateways[0], id);
  wait_all_committed(&group);
  g_assert_cmpuint(tide_metrics_sum(first->metrics, "tidemark_kafka_rewinds_total", "reason=\"cancelled\""), >, 0);
  g_assert_cmpuint(lost_assignments(first), ==, 0);
  running_pipeline_end(second);
  running_pipeline_end(first);
  assert_all_written(&group);
}

/* While HBase takes nothing, the consumer polls: the group has no reason to take its partitions. */
static void
test_stuck_hbase_costs_no_membership(PipelineFixture *fixture, gconstpointer kafka)
{
  Group group = {.fixture = fixture, .kafka = ", max_poll_interval: 10s, session_timeout: 10s"};
  guint id = pipeline_fixture_fail_puts(fixture, NULL, NULL);
  produce(&group, 60);
  RunningPipeline *running = join(&group);
  pipeline_fixture_wait_hits(fixture, id, 1);
  gint64 until_us = tide_now_us() + 11 * TIDE_US_PER_S;
  running_pipeline_wait_until(running, until_us);
  scripted_gateway_clear_fault(fixture->gateways[0], id);
  wait_all_committed(&group);
  g_assert_cmpuint(running_pipeline_sum(running, "tidemark_kafka_rebalances_total"), ==, 1);
  assert_nothing_was_lost_in_rebalances(running);
  running_pipeline_end(running);
}

#define ADD(path, kafka, func)                                                                                         \
  g_test_add("/pipeline-rebalance/" path, PipelineFixture, kafka, set_up, func, pipeline_fixture_tear_down)

int
main(int argc, char **argv)
{
  const char *eager = ", assignment: eager" LONG_SESSION, *cooperative = ", assignment: cooperative" LONG_SESSION;
  pipeline_fixture_init(&argc, &argv);
  ADD("eager/C7-daemons-join-and-leave-while-messages-flow", eager, test_daemons_join_and_leave_while_messages_flow);
  ADD("cooperative/C7-daemons-join-and-leave-while-messages-flow", cooperative,
      test_daemons_join_and_leave_while_messages_flow);
  ADD("lost/C8-eager-assignment-is-read-again", eager, test_lost_assignment_is_read_again);
  ADD("lost/C8-cooperative-assignment-is-read-again", cooperative, test_lost_assignment_is_read_again);
  ADD("kept/C8-rewound-at-a-rebalance-and-not-lost", cooperative, test_kept_partitions_are_rewound_and_not_lost);
  ADD("stuck/C9-stuck-hbase-costs-no-membership", NULL, test_stuck_hbase_costs_no_membership);
  return g_test_run();
}
