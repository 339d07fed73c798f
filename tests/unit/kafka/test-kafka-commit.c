/* What a commit's answer says, of every partition. */
#include "kafka/group_offsets.h"
#include "util/bytes.h"

static rd_kafka_topic_partition_list_t *
make_list(void)
{
  rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(2);
  tide_kafka_commit_add(list, "metrics", 0, 7, "one");
  tide_kafka_commit_add(list, "metrics", 1, 8, "another");
  return list;
}

static void
test_note_stands_beside_the_offset(void)
{
  rd_kafka_topic_partition_list_t *list = make_list();
  g_assert_cmpint(list->elems[1].offset, ==, 8);
  g_assert_true(tide_bytes_equal(tide_bytes(list->elems[1].metadata, list->elems[1].metadata_size),
                                 TIDE_BYTES_LITERAL("another")));
  rd_kafka_topic_partition_list_destroy(list);
}

/* M14: an error of the second partition alone is seen. */
static void
test_M14_error_of_any_partition_is_seen(void)
{
  rd_kafka_topic_partition_list_t *list = make_list();
  g_assert_null(tide_kafka_commit_problem(RD_KAFKA_RESP_ERR_NO_ERROR, list));
  list->elems[1].err = RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED;
  g_autofree char *problem = tide_kafka_commit_problem(RD_KAFKA_RESP_ERR_NO_ERROR, list);
  g_assert_cmpstr(problem, ==, "'metrics' partition 1: Broker: Topic authorization failed");
  g_assert_cmpint(tide_kafka_commit_result(RD_KAFKA_RESP_ERR_NO_ERROR, &list->elems[0]), ==,
                  RD_KAFKA_RESP_ERR_NO_ERROR);
  g_assert_cmpint(tide_kafka_commit_result(RD_KAFKA_RESP_ERR_NO_ERROR, &list->elems[1]), ==,
                  RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED);
  rd_kafka_topic_partition_list_destroy(list);
}

static void
test_whole_that_failed_failed_for_each(void)
{
  rd_kafka_topic_partition_list_t *list = make_list();
  g_autofree char *problem = tide_kafka_commit_problem(RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS, list);
  g_assert_cmpstr(problem, ==, "Broker: Group rebalance in progress");
  g_assert_cmpint(tide_kafka_commit_result(RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS, &list->elems[1]), ==,
                  RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS);
  g_autofree char *bare = tide_kafka_commit_problem(RD_KAFKA_RESP_ERR__TIMED_OUT, NULL);
  g_assert_cmpstr(bare, ==, "Local: Timed out");
  rd_kafka_topic_partition_list_destroy(list);
}

/* librdkafka makes the last partition's error that of the whole: the first one is not to blame. */
static void
test_error_is_that_of_its_partition(void)
{
  rd_kafka_topic_partition_list_t *list = make_list();
  list->elems[1].err = RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED;
  g_autofree char *problem = tide_kafka_commit_problem(RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, list);
  g_assert_cmpstr(problem, ==, "'metrics' partition 1: Broker: Topic authorization failed");
  rd_kafka_topic_partition_list_destroy(list);
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/kafka-commit/note-stands-beside-the-offset", test_note_stands_beside_the_offset);
  g_test_add_func("/kafka-commit/M14-error-of-any-partition-is-seen", test_M14_error_of_any_partition_is_seen);
  g_test_add_func("/kafka-commit/whole-that-failed-failed-for-each", test_whole_that_failed_failed_for_each);
  g_test_add_func("/kafka-commit/C2-error-is-that-of-its-partition", test_error_is_that_of_its_partition);
  return g_test_run();
}
