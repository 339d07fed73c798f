/* `tidemark offsets` with librdkafka's mock cluster. That one cannot say who is in a group, so what is committed in the
 * end is tests/integration/test_offsets.py's. */
#include "fault/program/program_scene.h"

#define TOPIC "metrics"
#define OTHER "metrics-other"
#define T G_GINT64_CONSTANT(1426535612000) /* 2015-03-16T19:53:32.000Z */

static void
set_up(ProgramScene *fixture, gconstpointer unused)
{
  program_scene_begin_kafka(fixture, TOPIC, 2);
  mock_kafka_create_topic(fixture->kafka, OTHER, 1);
  for (gint32 partition = 0; partition < 2; partition++)
    for (guint i = 0; i < 10; i++)
      mock_kafka_produce(fixture->kafka, &(TideMockMessage){.topic = TOPIC,
                                                            .partition = partition,
                                                            .payload = TIDE_BYTES_LITERAL("{}"),
                                                            .timestamp_ms = T + i * 1000});
  mock_kafka_produce_text(fixture->kafka, OTHER, 0, "{}");
  fixture->config_path =
      write_config("kafka: { brokers: \"%s\", group: g, topics: [\"^metrics\"], session_timeout: 6s }\n"
                   "hbase: { gateways: [\"127.0.0.1:1\"] }\n"
                   "readings: { time: { field: ts, format: epoch_ms } }\n"
                   "limits: { drain_timeout: 5s }\n"
                   "tables:\n"
                   "  METRIC: { key: [ { field: host } ], columns: { family: M, from: \"*\" } }\n",
                   mock_kafka_brokers(fixture->kafka));
}

static void
commit(ProgramScene *fixture, gint32 partition, gint64 offset, const char *note)
{
  mock_kafka_commit_note(fixture->kafka, "g", TOPIC, partition, offset, note);
}

PROGRAM_TEST("/offsets-command/shows-each-partition")
{
  commit(fixture, 0, 4, "tidemark 1 closed span=1000000");
  program_scene_run(fixture, "offsets show --format csv", 0);
  g_assert_cmpstr(fixture->done.output, ==,
                  "TOPIC,PARTITION,COMMITTED,BEGINNING,END,LAG,MESSAGES,WRITTEN BY,HALTED\n"
                  "metrics,0,4,0,10,6,6,\"tidemark, closed\",\n"
                  "metrics,1,,0,10,,,,\n"
                  "metrics-other,0,,0,1,,,,\n");
  program_scene_run(fixture, "offsets show metrics:0 --format json", 0);
  g_assert_cmpstr(fixture->done.output, ==,
                  "{\"topic\":\"metrics\",\"partition\":0,\"committed\":4,\"beginning\":0,\"end\":10,\"lag\":6,"
                  "\"messages\":6,\"written_by\":\"tidemark, closed\",\"note\":\"tidemark 1 closed span=1000000\"}\n");
}

PROGRAM_TEST("/offsets-command/shows-who-committed-and-the-halt")
{
  commit(fixture, 0, 10, "consumer-1 was here");
  commit(fixture, 1, 2, "tidemark 1 running span=1000 start=-72");
  program_scene_prints(fixture, "offsets show metrics", 0, "not tidemark");
  assert_prints(fixture->done.output, "tidemark, running  at offset 7: the messages to be read next were deleted");
  assert_prints(fixture->done.output, "tidemark offsets move --to past-halt -c ");
  commit(fixture, 0, 10, "");
  program_scene_prints(fixture, "offsets show metrics:0", 0, "no note");
  assert_silent(fixture->done.output, "past-halt");
}

static void
assert_planned(ProgramScene *fixture, const char *words, const char *lines)
{
  g_autofree char *line = g_strconcat("offsets move --dry-run --format csv ", words, NULL);
  program_scene_run(fixture, line, 0);
  g_assert_true(g_str_has_prefix(fixture->done.output, "TOPIC,PARTITION,OLD,NEW,RESULT,RESTORE\n"));
  g_assert_cmpstr(strchr(fixture->done.output, '\n') + 1, ==, lines);
}

PROGRAM_TEST("/offsets-command/dry-run-plans")
{
  commit(fixture, 0, 4, "tidemark 1 closed span=1000000");
  commit(fixture, 1, 2, "tidemark 1 running span=1000 start=-72");
  assert_planned(fixture, "--to end",
                 "metrics,0,4,10,would move,\nmetrics,1,2,10,would move,\n"
                 "metrics-other,0,,1,would move,\n");
  assert_planned(fixture, "--to beginning metrics:1", "metrics,1,2,0,would move,\n");
  assert_planned(fixture, "--to 4 metrics", "metrics,0,4,,unchanged,\nmetrics,1,2,4,would move,\n");
  assert_planned(fixture, "--to past-halt metrics", "metrics,0,4,,not halted,\nmetrics,1,2,2,would move,\n");
  assert_planned(fixture, "--to now metrics:0", "metrics,0,4,10,would move,\n");
  g_assert_cmpint(mock_kafka_committed(fixture->kafka, "g", TOPIC, 0, tide_now_us() + TIMEOUT_US), ==, 4);
}

static void
assert_refused(ProgramScene *fixture, const char *words, int exit_code, const char *text)
{
  program_scene_run(fixture, words, exit_code);
  assert_prints(fixture->done.errors, text);
  g_assert_cmpstr(fixture->done.output, ==, "");
}

PROGRAM_TEST("/offsets-command/refuses-what-cannot-be")
{
  commit(fixture, 0, 4, "tidemark 1 closed span=1000000 start=-75");
  assert_refused(fixture, "offsets move", 64, "the target is missing");
  assert_refused(fixture, "offsets move --to somewhere", 64, "'--to'");
  assert_refused(fixture, "offsets show --to end", 64, "'tidemark offsets move'");
  assert_refused(fixture, "offsets move --to 11 metrics:1", 64,
                 "'--to 11' is not in the log of topic 'metrics' partition 1: it must be from 0 to 10");
  assert_refused(fixture, "offsets show metrics:x", 64, "'metrics:x' is not a partition");
  assert_refused(fixture, "offsets show letters", 64, "topic 'letters' is not among 'kafka.topics'");
  assert_refused(fixture, "offsets show metrics:2", 69, "topic 'metrics' has no partition 2");
  /* Halted at message 7, and what comes before it is not written yet. */
  assert_refused(fixture, "offsets move --to past-halt", 65, "the messages from 4 on are not written yet");
}

static char *
committed_note(ProgramScene *fixture, gint32 partition)
{
  return mock_kafka_committed_note(fixture->kafka, "g", TOPIC, partition, tide_now_us() + TIMEOUT_US);
}

static void
assert_committed(ProgramScene *fixture, gint32 partition, gint64 offset, const char *note)
{
  g_autofree char *beside = committed_note(fixture, partition);
  g_assert_cmpint(mock_kafka_committed(fixture->kafka, "g", TOPIC, partition, tide_now_us() + TIMEOUT_US), ==, offset);
  g_assert_cmpstr(beside, ==, note);
}

PROGRAM_TEST("/offsets-command/moves-and-restores")
{
  commit(fixture, 0, 4, "tidemark 1 closed span=1000000 start=-41");
  commit(fixture, 1, 2, "tidemark 1 running span=1000 start=-72");
  program_scene_run(fixture, "offsets move --to past-halt", 0);
  assert_committed(fixture, 0, 4, "tidemark 1 closed span=1000000");
  assert_committed(fixture, 1, 2, "tidemark 1 running span=1005"); /* it had come to 7 */
  program_scene_run(fixture, "offsets move --to beginning metrics", 0);
  assert_committed(fixture, 0, 0, "tidemark 1 closed span=1000000");
  assert_committed(fixture, 1, 0, "tidemark 1 running span=1007");
  g_autofree char *restore = g_strdup_printf("\nTo restore the old offsets:\n"
                                             "  tidemark offsets move --to 4 metrics:0 -c %s\n"
                                             "  tidemark offsets move --to 2 metrics:1 -c %s\n",
                                             fixture->config_path, fixture->config_path);
  g_assert_true(g_str_has_suffix(fixture->done.output, restore));
  program_scene_run(fixture, "offsets move --to 4 metrics:0", 0);
  assert_committed(fixture, 0, 4, "tidemark 1 closed span=1000000");
  program_scene_prints(fixture, "offsets move --to end metrics-other", 0,
                       "(topic 'metrics-other' partition 0: nothing was committed before)");
}

/* The mock cluster does not say who is in a group; it refuses the commit of an outsider, as brokers do. */
PROGRAM_TEST("/offsets-command/refuses-while-a-consumer-is-in-the-group")
{
  char reason[256];
  commit(fixture, 0, 4, "tidemark 1 closed span=1000000");
  rd_kafka_conf_t *conf = rd_kafka_conf_new();
  rd_kafka_conf_set(conf, "bootstrap.servers", mock_kafka_brokers(fixture->kafka), reason, sizeof reason);
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
  assert_refused(fixture, "offsets move --to end metrics:0", 75, "nothing was moved: group 'g' still has members");
  assert_prints(fixture->done.errors, "for them to leave");
  assert_committed(fixture, 0, 4, "tidemark 1 closed span=1000000");
  rd_kafka_topic_partition_list_destroy(topics);
  rd_kafka_consumer_close(member);
  rd_kafka_destroy(member);
}
