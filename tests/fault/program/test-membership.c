/* The program when Kafka rejects it: it reports which user lacks which right, and exits with a code of its own. */
#include "fault/pipeline/pipeline_fixture.h"
#include "fault/program/daemon_process.h"
#include "fault/program/status_client.h"
#include "util/clock.h"
#include "util/error.h"

#define END_US (30 * TIDE_US_PER_S)

/* Another daemon came with the same name: the broker says so with the next heartbeat. The mock knows no static members,
 * so that answer is put into its mouth. */
PIPELINE_TEST("/membership/C11-fenced-instance-ends-the-program")
{
  g_auto(DaemonProcess) daemon =
      daemon_process_start(fixture, &(DaemonProcessOptions){.gateways = 1, .kafka = ", instance: \"%H\""});
  pipeline_produce_mixture(fixture, 10);
  pipeline_fixture_wait_all_committed(fixture);
  mock_kafka_push_errors(fixture->kafka, TIDE_KAFKA_HEARTBEAT, RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID, 1);
  g_assert_cmpint(daemon_process_wait_end(&daemon, END_US), ==, TIDE_EXIT_TEMPFAIL);
  daemon_process_assert_said(&daemon, "another member took the name in kafka.instance");
}

PIPELINE_TEST("/membership/C12-denied-topic-fails-the-start")
{
  if (!mock_kafka_can_deny_topics()) {
    g_test_skip(MOCK_KAFKA_DENIED_TOPIC_CRASHES);
    return;
  }
  mock_kafka_set_topic_error(fixture->kafka, FIXTURE_TOPIC, RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED);
  g_auto(DaemonProcess) daemon = daemon_process_start(
      fixture,
      &(DaemonProcessOptions){.gateways = 1, .yaml = "service: { http: \"off\", log_format: text, startup: fail }\n"});
  g_assert_cmpint(daemon_process_wait_end(&daemon, END_US), ==, TIDE_EXIT_PERMISSION);
  daemon_process_assert_said(
      &daemon,
      "may not read topic 'metrics': grant Read, for example with kafka-acls --add --allow-principal User:NAME "
      "--operation Read --topic metrics (");
}

PIPELINE_TEST("/membership/C12-denied-group-fails-the-start")
{
  mock_kafka_push_errors(fixture->kafka, TIDE_KAFKA_FIND_COORDINATOR, RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED, 50);
  g_auto(DaemonProcess) daemon = daemon_process_start(
      fixture,
      &(DaemonProcessOptions){.gateways = 1, .yaml = "service: { http: \"off\", log_format: text, startup: fail }\n"});
  g_assert_cmpint(daemon_process_wait_end(&daemon, END_US), ==, TIDE_EXIT_PERMISSION);
  daemon_process_assert_said(&daemon, "may not be in group 'tidemark': grant Read, for example with kafka-acls");
}

PIPELINE_TEST("/membership/C4-U7-missing-topic-fails-the-start")
{
  mock_kafka_set_topic_error(fixture->kafka, FIXTURE_TOPIC, RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
  g_auto(DaemonProcess) daemon = daemon_process_start(
      fixture,
      &(DaemonProcessOptions){.gateways = 1, .yaml = "service: { http: \"off\", log_format: text, startup: fail }\n"});
  g_assert_cmpint(daemon_process_wait_end(&daemon, END_US), ==, TIDE_EXIT_UNAVAILABLE);
  daemon_process_assert_said(&daemon, "the topic 'metrics' does not exist: create it");
  daemon_process_assert_silent(&daemon, "other topics"); /* there are none */
}

/* Not by each consumer besides, when it knows. */
PIPELINE_TEST("/membership/C4-U7-missing-topic-is-told-once")
{
  mock_kafka_set_topic_error(fixture->kafka, FIXTURE_TOPIC, RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
  g_auto(DaemonProcess) daemon = daemon_process_start(
      fixture,
      &(DaemonProcessOptions){.gateways = 1, .yaml = "service: { http: \"127.0.0.1:0\", log_format: text }\n"});
  daemon_process_wait_log(&daemon, "the topic 'metrics' does not exist: create it");
  const char *known_to_a_consumer[] = {"\"error\":\"Subscribed topic not available", NULL};
  g_autofree char *status = status_client_wait(&daemon, known_to_a_consumer);
  assert_prints(status,
                "\"why\":\"no partition is assigned to this daemon: the topic 'metrics' does not exist: create it");
  daemon_process_assert_silent(&daemon, "kafka: Subscribed topic not available");
  daemon_process_assert_silent(&daemon, " crit ");
  daemon_process_stop(&daemon);
}

#define BLAME "a killed one"

/* A group that nobody was in before: no member was killed. */
PIPELINE_TEST("/membership/K12-coordinator-that-does-not-answer-is-named")
{
  mock_kafka_push_errors(fixture->kafka, TIDE_KAFKA_FIND_COORDINATOR, RD_KAFKA_RESP_ERR_COORDINATOR_NOT_AVAILABLE,
                         100000);
  g_auto(DaemonProcess) daemon = daemon_process_start(fixture, &(DaemonProcessOptions){.gateways = 1});
  daemon_process_wait_log(&daemon, "waiting for partitions: ");
  daemon_process_stop(&daemon);
  daemon_process_assert_said(&daemon,
                             "waiting for partitions: the coordinator of the group 'tidemark' does not answer: ");
  daemon_process_assert_silent(&daemon, BLAME);
}

/* More consumers than the brokers' group.max.size: the one that is taken reads everything, and that is all there is. */
PIPELINE_TEST("/membership/K12-full-group-is-named")
{
  static const char full[] = "the group 'tidemark' accepts no more members (";
  mock_kafka_push_errors(fixture->kafka, TIDE_KAFKA_JOIN_GROUP, RD_KAFKA_RESP_ERR_NO_ERROR, 1);
  mock_kafka_push_errors(fixture->kafka, TIDE_KAFKA_JOIN_GROUP, RD_KAFKA_RESP_ERR_GROUP_MAX_SIZE_REACHED, 100000);
  g_auto(DaemonProcess) daemon =
      daemon_process_start(fixture, &(DaemonProcessOptions){.gateways = 1, .kafka = ", threads: 2"});
  daemon_process_wait_log(&daemon, full);
  daemon_process_wait_log(&daemon, "ready: 2 partitions");
  pipeline_produce_mixture(fixture, 10);
  pipeline_fixture_wait_all_committed(fixture);
  g_auto(DaemonProcess) other = daemon_process_start(fixture, &(DaemonProcessOptions){.gateways = 1});
  daemon_process_wait_log(&other, "waiting for partitions: the group 'tidemark' accepts no more members (");
  daemon_process_stop(&other);
  daemon_process_assert_silent(&other, " ready: ");
  daemon_process_assert_silent(&other, BLAME);
  daemon_process_stop(&daemon);
}

/* What it says where it blamed a member that does not exist. */
PIPELINE_TEST("/membership/C13-U8-brokers-that-nobody-can-use-are-named")
{
  g_auto(DaemonProcess) daemon = daemon_process_start(
      fixture, &(DaemonProcessOptions){.gateways = 1, .kafka = ", librdkafka: { security.protocol: ssl }"});
  g_autofree char *named = g_strdup_printf("no broker of '%s' answers: ", mock_kafka_brokers(fixture->kafka));
  daemon_process_wait_log(&daemon, named);
  daemon_process_assert_said(&daemon, "; retrying, and no offset is committed meanwhile");
  daemon_process_stop(&daemon);
  daemon_process_assert_silent(&daemon, BLAME);
}

PIPELINE_TEST("/membership/C1-return-of-the-brokers-is-told")
{
  mock_kafka_set_broker_up(fixture->kafka, -1, FALSE);
  g_auto(DaemonProcess) daemon = daemon_process_start(fixture, &(DaemonProcessOptions){.gateways = 1});
  daemon_process_wait_log(&daemon, "no broker of '");
  mock_kafka_set_broker_up(fixture->kafka, -1, TRUE);
  daemon_process_wait_log(&daemon, "brokers answer again after ");
  pipeline_produce_mixture(fixture, 10);
  pipeline_fixture_wait_all_committed(fixture);
  daemon_process_stop(&daemon);
}

PIPELINE_TEST("/membership/C4-pattern-without-topics-is-named")
{
  g_auto(DaemonProcess) daemon =
      daemon_process_start(fixture, &(DaemonProcessOptions){.gateways = 1, .topics = "\"^nothing-.*\""});
  daemon_process_wait_log(&daemon, "no topic matches the pattern '^nothing-.*' of kafka.topics");
  daemon_process_stop(&daemon);
  g_auto(DaemonProcess) other = daemon_process_start(
      fixture, &(DaemonProcessOptions){.gateways = 1,
                                       .topics = "\"^nothing-.*\"",
                                       .yaml = "service: { http: \"off\", log_format: text, startup: fail }\n"});
  g_assert_cmpint(daemon_process_wait_end(&other, END_US), ==, TIDE_EXIT_UNAVAILABLE);
}

/* A pattern that one topic matches, and one beside it that none does. */
PIPELINE_TEST("/membership/C4-patterns-need-not-all-match")
{
  g_auto(DaemonProcess) daemon = daemon_process_start(
      fixture, &(DaemonProcessOptions){.gateways = 1,
                                       .topics = "\"^" FIXTURE_TOPIC "$\", \"^nothing-.*\"",
                                       .yaml = "service: { http: \"off\", log_format: text, startup: fail }\n"});
  daemon_process_wait_log(&daemon, "ready: ");
  pipeline_produce_mixture(fixture, 10);
  pipeline_fixture_wait_all_committed(fixture);
  daemon_process_stop(&daemon);
  daemon_process_assert_silent(&daemon, "no topic matches");
}
