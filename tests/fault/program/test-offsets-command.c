/* `tidemark offsets`, run as a user runs it, beside librdkafka's mock cluster. That one cannot say who is in a group,
 * so what is committed in the end is tests/integration/test_offsets.py's. */
#include "fault/program/program_scene.h"

#define TOPIC "metrics"
#define OTHER "metrics-other"
#define T G_GINT64_CONSTANT(1426535612000) /* 2015-03-16T19:53:32.000Z */

static void
set_up(ProgramScene *scene, gconstpointer unused)
{
  program_scene_begin_kafka(scene, TOPIC, 2);
  mock_kafka_create_topic(scene->kafka, OTHER, 1);
  for (gint32 partition = 0; partition < 2; partition++)
    for (guint i = 0; i < 10; i++)
      mock_kafka_produce(scene->kafka, &(TideMockMessage){.topic = TOPIC,
                                                          .partition = partition,
                                                          .payload = TIDE_BYTES_LITERAL("{}"),
                                                          .timestamp_ms = T + i * 1000});
  mock_kafka_produce_text(scene->kafka, OTHER, 0, "{}");
  scene->config_path =
      write_config("kafka: { brokers: \"%s\", group: g, topics: [\"^metrics\"], session_timeout: 6s }\n"
                   "hbase: { gateways: [\"127.0.0.1:1\"] }\n"
                   "readings: { time: { field: ts, format: epoch_ms } }\n"
                   "limits: { drain_timeout: 5s }\n"
                   "tables:\n"
                   "  METRIC: { key: [ { field: host } ], columns: { family: M, from: \"*\" } }\n",
                   mock_kafka_brokers(scene->kafka));
}

static void
commit(ProgramScene *scene, gint32 partition, gint64 offset, const char *note)
{
  mock_kafka_commit_note(scene->kafka, "g", TOPIC, partition, offset, note);
}

static void
test_shows_each_partition(ProgramScene *scene, gconstpointer unused)
{
  commit(scene, 0, 4, "tidemark 1 closed span=1000000");
  program_scene_run(scene, "offsets show --format csv", 0);
  g_assert_cmpstr(scene->done.output, ==,
                  "TOPIC,PARTITION,COMMITTED,BEGINNING,END,LAG,MESSAGES,WRITTEN BY,HALTED\n"
                  "metrics,0,4,0,10,6,6,\"tidemark, closed\",\n"
                  "metrics,1,,0,10,,,,\n"
                  "metrics-other,0,,0,1,,,,\n");
  program_scene_run(scene, "offsets show metrics:0 --format json", 0);
  g_assert_cmpstr(scene->done.output, ==,
                  "{\"topic\":\"metrics\",\"partition\":0,\"committed\":4,\"beginning\":0,\"end\":10,\"lag\":6,"
                  "\"messages\":6,\"written_by\":\"tidemark, closed\",\"note\":\"tidemark 1 closed span=1000000\"}\n");
}

static void
test_shows_who_committed_and_the_halt(ProgramScene *scene, gconstpointer unused)
{
  commit(scene, 0, 10, "consumer-1 was here");
  commit(scene, 1, 2, "tidemark 1 running span=1000 start=-72");
  program_scene_prints(scene, "offsets show metrics", 0, "not tidemark");
  assert_prints(scene->done.output, "tidemark, running  at offset 7: the messages to be read next were deleted");
  assert_prints(scene->done.output, "tidemark offsets move --to past-halt -c ");
  commit(scene, 0, 10, "");
  program_scene_prints(scene, "offsets show metrics:0", 0, "no note");
  assert_silent(scene->done.output, "past-halt");
}

static void
assert_planned(ProgramScene *scene, const char *words, const char *lines)
{
  g_autofree char *line = g_strconcat("offsets move --dry-run --format csv ", words, NULL);
  program_scene_run(scene, line, 0);
  g_assert_true(g_str_has_prefix(scene->done.output, "TOPIC,PARTITION,OLD,NEW,RESULT,RESTORE\n"));
  g_assert_cmpstr(strchr(scene->done.output, '\n') + 1, ==, lines);
}

static void
test_dry_run_plans(ProgramScene *scene, gconstpointer unused)
{
  commit(scene, 0, 4, "tidemark 1 closed span=1000000");
  commit(scene, 1, 2, "tidemark 1 running span=1000 start=-72");
  assert_planned(scene, "--to end",
                 "metrics,0,4,10,would move,\nmetrics,1,2,10,would move,\n"
                 "metrics-other,0,,1,would move,\n");
  assert_planned(scene, "--to beginning metrics:1", "metrics,1,2,0,would move,\n");
  assert_planned(scene, "--to 4 metrics", "metrics,0,4,,unchanged,\nmetrics,1,2,4,would move,\n");
  assert_planned(scene, "--to past-halt metrics", "metrics,0,4,,not halted,\nmetrics,1,2,2,would move,\n");
  assert_planned(scene, "--to now metrics:0", "metrics,0,4,10,would move,\n");
  g_assert_cmpint(mock_kafka_committed(scene->kafka, "g", TOPIC, 0, tide_now_us() + TIMEOUT_US), ==, 4);
}

static void
assert_refused(ProgramScene *scene, const char *words, int exit_code, const char *text)
{
  program_scene_run(scene, words, exit_code);
  assert_prints(scene->done.errors, text);
  g_assert_cmpstr(scene->done.output, ==, "");
}

static void
test_refuses_what_cannot_be(ProgramScene *scene, gconstpointer unused)
{
  commit(scene, 0, 4, "tidemark 1 closed span=1000000 start=-75");
  assert_refused(scene, "offsets move", 64, "where to?");
  assert_refused(scene, "offsets move --to somewhere", 64, "'--to'");
  assert_refused(scene, "offsets show --to end", 64, "'tidemark offsets move'");
  assert_refused(scene, "offsets move --to 11 metrics:1", 64,
                 "'--to 11' is not in the log of topic 'metrics' partition 1: it must be from 0 to 10");
  assert_refused(scene, "offsets show metrics:x", 64, "'metrics:x' is no partition");
  assert_refused(scene, "offsets show letters", 64, "topic 'letters' is not among 'kafka.topics'");
  assert_refused(scene, "offsets show metrics:2", 69, "topic 'metrics' has no partition 2");
  /* Halted at message 7, and what comes before it is not written yet. */
  assert_refused(scene, "offsets move --to past-halt", 65, "the messages from 4 on are not written yet");
}

static char *
committed_note(ProgramScene *scene, gint32 partition)
{
  return mock_kafka_committed_note(scene->kafka, "g", TOPIC, partition, tide_now_us() + TIMEOUT_US);
}

static void
assert_committed(ProgramScene *scene, gint32 partition, gint64 offset, const char *note)
{
  g_autofree char *beside = committed_note(scene, partition);
  g_assert_cmpint(mock_kafka_committed(scene->kafka, "g", TOPIC, partition, tide_now_us() + TIMEOUT_US), ==, offset);
  g_assert_cmpstr(beside, ==, note);
}

static void
test_moves_and_restores(ProgramScene *scene, gconstpointer unused)
{
  commit(scene, 0, 4, "tidemark 1 closed span=1000000 start=-41");
  commit(scene, 1, 2, "tidemark 1 running span=1000 start=-72");
  program_scene_run(scene, "offsets move --to past-halt", 0);
  assert_committed(scene, 0, 4, "tidemark 1 closed span=1000000");
  assert_committed(scene, 1, 2, "tidemark 1 running span=1005"); /* it had come to 7 */
  program_scene_run(scene, "offsets move --to beginning metrics", 0);
  assert_committed(scene, 0, 0, "tidemark 1 closed span=1000000");
  assert_committed(scene, 1, 0, "tidemark 1 running span=1007");
  g_autofree char *restore = g_strdup_printf("\nTo put the old offsets back:\n"
                                             "  tidemark offsets move --to 4 metrics:0 -c %s\n"
                                             "  tidemark offsets move --to 2 metrics:1 -c %s\n",
                                             scene->config_path, scene->config_path);
  g_assert_true(g_str_has_suffix(scene->done.output, restore));
  program_scene_run(scene, "offsets move --to 4 metrics:0", 0);
  assert_committed(scene, 0, 4, "tidemark 1 closed span=1000000");
  program_scene_prints(scene, "offsets move --to end metrics-other", 0,
                       "(topic 'metrics-other' partition 0: nothing was committed before)");
}

/* The mock cluster does not say who is in a group; it refuses the commit of an outsider, as brokers do. */
static void
test_refuses_while_a_consumer_is_in_the_group(ProgramScene *scene, gconstpointer unused)
{
  char reason[256];
  commit(scene, 0, 4, "tidemark 1 closed span=1000000");
  rd_kafka_conf_t *conf = rd_kafka_conf_new();
  rd_kafka_conf_set(conf, "bootstrap.servers", mock_kafka_brokers(scene->kafka), reason, sizeof reason);
  rd_kafka_conf_set(conf, "group.id", "g", reason, sizeof reason);
  rd_kafka_conf_set(conf, "enable.auto.commit", "false", reason, sizeof reason);
  rd_kafka_t *member = rd_kafka_new(RD_KAFKA_CONSUMER, conf, reason, sizeof reason);
  rd_kafka_topic_partition_list_t *topics = rd_kafka_topic_partition_list_new(1), *assigned = NULL;
  rd_kafka_topic_partition_list_add(topics, TOPIC, RD_KAFKA_PARTITION_UA);
  g_assert_cmpint(rd_kafka_subscribe(member, topics), ==, RD_KAFKA_RESP_ERR_NO_ERROR);
  for (int n_assigned = 0; n_assigned == 0;) {
    rd_kafka_message_t *message = rd_kafka_consumer_poll(member, 100);
    if (message != NULL)
      rd_kafka_message_destroy(message);
    g_assert_cmpint(rd_kafka_assignment(member, &assigned), ==, RD_KAFKA_RESP_ERR_NO_ERROR);
    n_assigned = assigned->cnt;
    rd_kafka_topic_partition_list_destroy(assigned);
  }
  assert_refused(scene, "offsets move --to end metrics:0", 75, "nothing was moved: group 'g' still has members");
  assert_prints(scene->done.errors, "for them to leave");
  assert_committed(scene, 0, 4, "tidemark 1 closed span=1000000");
  rd_kafka_topic_partition_list_destroy(topics);
  rd_kafka_consumer_close(member);
  rd_kafka_destroy(member);
}

static void
add(const char *path, void (*test)(ProgramScene *, gconstpointer))
{
  g_test_add(path, ProgramScene, NULL, set_up, test, program_scene_end);
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  add("/offsets-command/shows-each-partition", test_shows_each_partition);
  add("/offsets-command/shows-who-committed-and-the-halt", test_shows_who_committed_and_the_halt);
  add("/offsets-command/dry-run-plans", test_dry_run_plans);
  add("/offsets-command/refuses-what-cannot-be", test_refuses_what_cannot_be);
  add("/offsets-command/moves-and-restores", test_moves_and_restores);
  add("/offsets-command/refuses-while-a-consumer-is-in-the-group", test_refuses_while_a_consumer_is_in_the_group);
  return g_test_run();
}
