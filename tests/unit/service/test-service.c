/* What the daemon concludes from figures, and what it tells systemd. */
#include "service/bottleneck.h"
#include "service/clock_watch.h"
#include "service/notify.h"
#include "service/summary.h"
#include "unit/test_case.h"
#include "util/clock.h"
#include "util/log.h"

#include <glib/gstdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* ---- bottleneck ---- */

/* What limits the daemon, and whether it is a good moment for a restart: each rule, and which goes before which. */

/* A daemon that writes all that comes, as fast as it comes. */
static TideBottleneckFacts
well(void)
{
  return (TideBottleneckFacts){.is_running = TRUE,
                               .group = "g",
                               .drain_seconds = 30,
                               .brokers_answer = TRUE,
                               .partitions = 4,
                               .gateways = 2,
                               .gateways_up = 2,
                               .writers = 3,
                               .longest_call_seconds = -1};
}

static void
assert_limit(const TideBottleneckFacts *facts, TideLimit limit, const char *part)
{
  TideBottleneckVerdict verdict = tide_bottleneck_judge(facts);
  if (strstr(verdict.why, part) == NULL || verdict.limit != limit)
    g_error("'%s', and not %s: '%s'", verdict.why, tide_limit_name(limit), part);
  g_free(verdict.why);
}

static void
bottleneck_assert_says(const TideBottleneckFacts *facts, const char *whole)
{
  TideBottleneckVerdict verdict = tide_bottleneck_judge(facts);
  g_assert_cmpstr(verdict.why, ==, whole);
  g_free(verdict.why);
}

TEST("/bottleneck/kafka")
{
  TideBottleneckFacts facts = well();
  assert_limit(&facts, TIDE_LIMIT_KAFKA, "nothing to read");
  facts.unread_messages = 17;
  assert_limit(&facts, TIDE_LIMIT_KAFKA, "17 messages are to be read");
  facts.halted_messages = 16;
  assert_limit(&facts, TIDE_LIMIT_KAFKA, "17 messages are to be read");
  facts.halted_messages = 17;
  assert_limit(&facts, TIDE_LIMIT_HALTED, "halted partitions hold back 17 messages until an operator acts: see");
  facts.halted_messages = 0;
  facts.unread_messages = -1;
  assert_limit(&facts, TIDE_LIMIT_KAFKA, "have not yet reported");
  facts.partitions = 0;
  assert_limit(&facts, TIDE_LIMIT_KAFKA, "no partition is assigned to this daemon; 'kafka-consumer-groups.sh");
  facts.kafka_trouble = "refused";
  assert_limit(&facts, TIDE_LIMIT_KAFKA, "no partition is assigned to this daemon: refused");
  facts.kafka_trouble = NULL;
  facts.brokers_answer = FALSE;
  facts.reason = "connection refused";
  assert_limit(&facts, TIDE_LIMIT_KAFKA, "no broker answers: connection refused");
  facts.reason = NULL;
  assert_limit(&facts, TIDE_LIMIT_KAFKA, "no broker answers: librdkafka has given no reason yet");
  facts.kafka_trouble = "no route";
  assert_limit(&facts, TIDE_LIMIT_KAFKA, "no broker answers: no route");
}

/* What keeps messages from being read is named by its kind, since none of them is ended by a restart. */
TEST("/bottleneck/K10-what-brokers-withhold")
{
  TideBottleneckFacts facts = well();
  facts.unread_messages = 510;
  facts.throttle_ms = 3100;
  bottleneck_assert_says(&facts,
                         "brokers delay the consumers, last by 3100 ms, and 510 messages wait: a quota for this "
                         "user or client, shown by 'kafka-configs.sh --describe'");
  facts.undecided.messages = 509; /* another can be read */
  assert_limit(&facts, TIDE_LIMIT_KAFKA, "brokers delay");
  facts.undecided.messages = 510;
  facts.undecided.topic = "metrics";
  facts.undecided.partition = 3;
  facts.undecided.offset = 253;
  bottleneck_assert_says(
      &facts, "510 messages cannot be read until a transaction ends, which is open at offset 253 of 'metrics' "
              "partition 3; if its producer is gone, end it with 'kafka-transactions.sh find-hanging' and 'abort'");
}

/* What a partition pauses for is told if it holds back all that is unread, and not as an idle Kafka. */
TEST("/bottleneck/what-pauses")
{
  TideBottleneckFacts facts = well();
  facts.unread_messages = 5;
  facts.paused.schema_messages = facts.paused.commit_messages = facts.paused.span_messages = 4;
  assert_limit(&facts, TIDE_LIMIT_KAFKA, "5 messages are to be read, and consumers and writers wait for them");
  facts.paused.span_messages = 5;
  assert_limit(&facts, TIDE_LIMIT_MEMORY, "5 messages cannot be read, because as many as kafka.max_span_messages");
  facts.paused.commit_messages = 5;
  assert_limit(&facts, TIDE_LIMIT_KAFKA, "until the group confirms a first commit");
  facts.paused.schema_messages = 5;
  assert_limit(&facts, TIDE_LIMIT_REGISTRY,
               "5 messages cannot be read without a schema: the registry has not answered");
  facts.paused.schema_trouble = "refused";
  assert_limit(&facts, TIDE_LIMIT_REGISTRY, "5 messages cannot be read without a schema: refused");
}

/* A daemon that is not ready is never said to have nothing to read. */
TEST("/bottleneck/not-ready")
{
  TideBottleneckFacts facts = well();
  facts.reason = "waiting for Kafka: the user of this connection may not read topic 't'";
  assert_limit(&facts, TIDE_LIMIT_KAFKA, "not ready: waiting for Kafka: the user of this connection may not");
  facts.unread_messages = 5;
  assert_limit(&facts, TIDE_LIMIT_KAFKA, "not ready: waiting for Kafka: the user of this connection may not");
  facts.halted_partitions = 1; /* of several: the reason is about that one */
  assert_limit(&facts, TIDE_LIMIT_KAFKA, "5 messages are to be read");
  facts.reason = NULL;
  facts.unread_messages = 0;
  facts.in_flight_messages = 3;
  bottleneck_assert_says(&facts, "nothing to read: all messages in Kafka have been read; 3 of them in flight");
}

TEST("/bottleneck/cpu")
{
  TideBottleneckFacts facts = well();
  facts.unread_messages = 1000;
  facts.consumer_cpu = 0.79;
  assert_limit(&facts, TIDE_LIMIT_KAFKA, "1,000 messages");
  facts.consumer_cpu = 0.97;
  assert_limit(&facts, TIDE_LIMIT_CPU, "97 % of a core");
}

TEST("/bottleneck/memory")
{
  TideBottleneckFacts facts = well();
  facts.consumer_cpu = 0.97;
  facts.memory_share = 0.89;
  assert_limit(&facts, TIDE_LIMIT_CPU, "97 %");
  facts.memory_share = 0.95;
  assert_limit(&facts, TIDE_LIMIT_MEMORY, "95 % of the in-flight memory");
  facts.memory_share = 0.5;
  facts.memory_held = 0.19;
  assert_limit(&facts, TIDE_LIMIT_CPU, "97 %");
  facts.memory_held = 0.2;
  assert_limit(&facts, TIDE_LIMIT_MEMORY, "20 % of the time, while writers are free");
  facts.memory_paused_partitions = 3;
  assert_limit(&facts, TIDE_LIMIT_MEMORY, "3 partitions pause");
}

TEST("/bottleneck/a-region")
{
  TideBottleneckFacts facts = well();
  facts.memory_share = 0.95;
  facts.busy_writers = 2;
  facts.waiting_rows = facts.full.waiting_rows = 500;
  facts.full.region = "the region of 'T' from 'k'";
  facts.full.table = "T";
  assert_limit(&facts, TIDE_LIMIT_REGION, "500 rows wait for the region of 'T' from 'k'");
  assert_limit(&facts, TIDE_LIMIT_REGION, "use the HBase shell: split 'T'");
  facts.failing.region = "the region of 'U' from ''";
  facts.failing.error = "it moved";
  facts.failing.seconds = 12;
  facts.failing.calls = 2; /* it may just have moved */
  assert_limit(&facts, TIDE_LIMIT_REGION, "500 rows wait for the region of 'T' from 'k'");
  facts.full.region = NULL; /* nothing else is known: it comes before the memory that its rows take */
  assert_limit(&facts, TIDE_LIMIT_REGION, "calls to the region of 'U' from '' have failed for 12 s: it moved");
  facts.full.region = "the region of 'T' from 'k'";
  facts.slow_gateway = "gw1:9090";
  assert_limit(&facts, TIDE_LIMIT_GATEWAY, "'gw1:9090' takes several times as long");
  facts.failing.calls = 3;
  assert_limit(&facts, TIDE_LIMIT_REGION, "calls to the region of 'U' from '' have failed for 12 s: it moved");
  facts.stopped_table = "V";
  facts.stopped_reason = "it is disabled";
  assert_limit(&facts, TIDE_LIMIT_REGION, "nothing is written to table 'V': it is disabled");
  facts = well();
  facts.is_running = FALSE;
  facts.reason = "table 'T' is missing";
  assert_limit(&facts, TIDE_LIMIT_REGION, "waiting for the tables: table 'T' is missing");
}

TEST("/bottleneck/a-gateway")
{
  TideBottleneckFacts facts = well();
  facts.memory_share = 0.95;
  facts.memory_paused_partitions = 4;
  facts.waiting_rows = facts.full.waiting_rows = 500;
  facts.full.region = "the region of 'T' from 'k'";
  facts.busy_writers = 3;
  assert_limit(&facts, TIDE_LIMIT_GATEWAY, "all 3 writers wait for the gateways, and 500 rows wait for them");
  facts.slowest_gateway = "gw2:9090";
  facts.slowest_call_seconds = 0.25;
  assert_limit(&facts, TIDE_LIMIT_GATEWAY, "a call takes 0.250 s at 'gw2:9090', the slowest");
  facts.slow_gateway = "gw1:9090";
  assert_limit(&facts, TIDE_LIMIT_GATEWAY, "'gw1:9090' takes several times as long");
  facts.longest_call_seconds = 3;
  facts.longest_call_gateway = "gw3:9090";
  assert_limit(&facts, TIDE_LIMIT_GATEWAY, "'gw3:9090' has not answered a call for 3.0 s");
  /* K16: throttling is the same silence. */
  assert_limit(&facts, TIDE_LIMIT_GATEWAY, "list_quotas");
  facts.called_region = "the region of 'T' from 'k'";
  assert_limit(&facts, TIDE_LIMIT_GATEWAY, "3.0 s; all rows in calls are for the region of 'T' from 'k', while others");
  facts.gateways_up = 0;
  facts.reason = "no gateway is usable: refused";
  assert_limit(&facts, TIDE_LIMIT_GATEWAY, "no gateway is up: refused;");
  facts.reason = "the topic 'metrics' does not exist"; /* which is another matter */
  assert_limit(&facts, TIDE_LIMIT_GATEWAY, "no gateway is up: the reason is not known yet;");
  facts.gateway_trouble = "'gw1:9090' is silent";
  assert_limit(&facts, TIDE_LIMIT_GATEWAY, "no gateway is up: 'gw1:9090' is silent;");
  facts.is_running = FALSE;
  facts.reason = "refused";
  assert_limit(&facts, TIDE_LIMIT_GATEWAY, "no gateway is up: refused;");
}

/* Whether anything waits for the slow one. */
TEST("/bottleneck/a-slow-gateway-may-be-no-harm")
{
  static const char alone[] =
      "gateway 'gw1:9090' takes several times as long per row as the fastest; until it is repaired";
  static const char keeps_up[] = "fastest; the daemon keeps up nevertheless: all messages in Kafka have been read";
  TideBottleneckFacts facts = well();
  facts.slow_gateway = "gw1:9090";
  assert_limit(&facts, TIDE_LIMIT_GATEWAY, keeps_up);
  facts.waiting_rows = 500; /* and a writer is free */
  assert_limit(&facts, TIDE_LIMIT_GATEWAY, keeps_up);
  facts.busy_writers = facts.writers;
  assert_limit(&facts, TIDE_LIMIT_GATEWAY, alone);
  facts.waiting_rows = 0;
  assert_limit(&facts, TIDE_LIMIT_GATEWAY, keeps_up);
  facts.unread_messages = 1;
  assert_limit(&facts, TIDE_LIMIT_GATEWAY, alone);
  facts.unread_messages = -1; /* nobody knows */
  assert_limit(&facts, TIDE_LIMIT_GATEWAY, alone);
}

/* Writers that are busy while nothing waits do what they are for. */
TEST("/bottleneck/busy-writers-are-well")
{
  TideBottleneckFacts facts = well();
  facts.busy_writers = 3;
  assert_limit(&facts, TIDE_LIMIT_KAFKA, "nothing to read");
}

TEST("/bottleneck/paused-and-rates")
{
  TideBottleneckFacts facts = well();
  facts.waiting_rows = 9;
  facts.operator.paced_table = "METRIC";
  facts.operator.paced_rows = 7;
  assert_limit(&facts, TIDE_LIMIT_RATE, "7 rows wait, as 'tables.METRIC.rows_per_second' allows no more");
  facts.operator.is_paced = TRUE;
  assert_limit(&facts, TIDE_LIMIT_RATE, "'limits.rows_per_second'");
  facts.operator.paused = "everything has been paused since noon (upgrade)";
  assert_limit(&facts, TIDE_LIMIT_PAUSED, "(upgrade); 'tidemark resume' ends it");
}

TEST("/bottleneck/dead-letters")
{
  TideBottleneckFacts facts = well();
  facts.gateways_up = 0;
  facts.stopped_table = "V";
  facts.stopped_reason = "x";
  facts.dead_letters_stalled = "the disk is full";
  assert_limit(&facts, TIDE_LIMIT_DEAD_LETTERS, "all partitions pause: the disk is full");
}

/* Whatever halts them: lost offsets and damaged messages, too. */
TEST("/bottleneck/K16-halted-is-no-matter-of-dead-letters")
{
  TideBottleneckFacts facts = well();
  facts.gateways_up = 0;
  facts.halted_partitions = 3;
  assert_limit(&facts, TIDE_LIMIT_GATEWAY, "no gateway");
  facts.halted_partitions = 4;
  facts.reason = "topic 'metrics' partition 0: the next offset is 1000, but the partition ends at 0";
  bottleneck_assert_says(
      &facts, "all partitions are halted until an operator acts: topic 'metrics' partition 0: the next offset is 1000, "
              "but the partition ends at 0; 'tidemark offsets show' lists them");
  facts.reason = NULL;
  assert_limit(&facts, TIDE_LIMIT_HALTED, "all partitions are halted until an operator acts: see partitions");
}

static void
assert_restart(const TideBottleneckFacts *facts, gboolean is_good, const char *part)
{
  TideBottleneckVerdict verdict = tide_restart_judge(facts);
  if (strstr(verdict.why, part) == NULL || verdict.is_good != is_good)
    g_error("'%s', and not: '%s'", verdict.why, part);
  g_free(verdict.why);
}

TEST("/bottleneck/restart")
{
  TideBottleneckFacts facts = well();
  facts.gateways_up = 0;
  assert_restart(&facts, TRUE, "nothing is in flight");
  facts.held_partitions = 1;
  assert_restart(&facts, FALSE, "1 partition has a deferred offset: messages after it would be read and written again");
  facts.held_partitions = 0;
  facts.in_flight_messages = 1;
  assert_restart(&facts, FALSE, "1 message is in flight, and the stop may not write it within 30 s");
  facts.in_flight_messages = 9;
  assert_restart(&facts, FALSE, "9 messages are in flight, and the stop may not write them within 30 s");
  facts.gateways_up = 1;
  assert_restart(&facts, TRUE, "the stop writes and commits them");
  facts.slow_gateway = "gw1:9090"; /* slower, and yet in time */
  facts.memory_share = 1;
  assert_restart(&facts, TRUE, "the stop writes and commits them");
  facts.longest_call_seconds = 4;
  facts.longest_call_gateway = "gw1:9090";
  assert_restart(&facts, FALSE, "has not answered a call for 4.0 s");
  facts.dead_letters_stalled = "the disk is full";
  assert_restart(&facts, FALSE, "the disk is full");
  facts.has_too_many_dead_letters = TRUE; /* a stop does not wait for them, but for the others */
  facts.dead_letters_stalled = "correct the configuration and restart";
  assert_restart(&facts, FALSE, "has not answered a call for 4.0 s");
  facts.longest_call_seconds = 0;
  assert_restart(&facts, TRUE, "once the cause is fixed: 9 messages are in flight");
}

/* Whether the rows that wait are written within limits.drain_timeout: at the rate of writers that do what they can. */
TEST("/bottleneck/restart-takes-time")
{
  TideBottleneckFacts facts = well();
  facts.in_flight_messages = 4000;
  facts.waiting_rows = 2900;
  facts.in_flight_rows = 120;
  facts.busy_writers = 3;
  facts.rows_per_second = 100;
  assert_restart(&facts, FALSE, "without loss; 3,020 rows take 30 s at the present 100.0 rows/s");
  facts.in_flight_rows = 100;
  assert_restart(&facts, TRUE, "the stop writes and commits them");
  facts.rows_per_second = 25;
  assert_restart(&facts, FALSE, "3,000 rows take 120 s");
  facts.busy_writers = 2; /* so that 25 is what came, not what HBase takes */
  assert_restart(&facts, TRUE, "the stop writes and commits them");
  facts.busy_writers = 3;
  facts.rows_per_second = 0; /* nothing is known */
  assert_restart(&facts, TRUE, "the stop writes and commits them");
  facts.operator.is_paced = TRUE; /* one call in minutes: none of late */
  assert_restart(&facts, FALSE, "2,900 rows wait, as 'limits.rows_per_second' allows no more");
  facts.rows_per_second = 100;
  assert_restart(&facts, TRUE, "the stop writes and commits them");
  facts.operator.is_paced = FALSE;
  facts.operator.paced_table = "METRIC";
  facts.operator.paced_rows = 301;
  facts.operator.paced_per_second = 10;
  assert_restart(&facts, FALSE, "301 rows wait, as 'tables.METRIC.rows_per_second' allows no more");
  facts.operator.paced_rows = 300;
  assert_restart(&facts, TRUE, "the stop writes and commits them");
}

static void
assert_hot(const TideHotRegionFacts *facts, gboolean is_hot, const char *part)
{
  TideBottleneckVerdict verdict = tide_hot_region_judge(facts);
  if (strstr(verdict.why, part) == NULL || verdict.is_good != is_hot)
    g_error("'%s', and not: '%s'", verdict.why, part);
  g_free(verdict.why);
}

TEST("/bottleneck/hot-region")
{
  TideHotRegionFacts facts = {0};
  assert_hot(&facts, FALSE, "no rows are written now");
  facts = (TideHotRegionFacts){"the region of 'T' from 'k'", 0.4, 0.5, 0.8, 5};
  assert_hot(&facts, FALSE, "no region receives a row a second");
  facts = (TideHotRegionFacts){"the region of 'T' from 'k'", 60, 0.3, 200, 5};
  assert_hot(&facts, FALSE, "receives 60 rows/s, 30 % of all; each of the 4 others of its table 35 rows/s on average");
  facts.rows_per_second = 66; /* the others have 33.5 each */
  assert_hot(&facts, FALSE, "66 rows/s");
  facts.rows_per_second = 67;
  assert_hot(&facts, TRUE, "67 rows/s");
  facts.rows_per_second = 200;
  assert_hot(&facts, TRUE, "others of its table 0 rows/s on average; see docs/row-keys.md");
  facts.others_fail = TRUE;
  assert_hot(&facts, FALSE, "200 rows/s, 30 % of all; calls to other regions of its table fail");
  facts.table_regions = 1;
  assert_hot(&facts, FALSE, "its table has no other");
  facts.table_regions = 0;
  assert_hot(&facts, FALSE, "no known regions");
}

/* ---- clock watch ---- */

#define S TIDE_US_PER_S
#define NOON (1763700000 * S)

static gint64
look(TideClockWatch *watch, gint64 wall_us, gint64 boot_us)
{
  return tide_clock_watch_compare(watch, wall_us, boot_us);
}

TEST("/clock-watch/E9-jumps-are-noticed-once")
{
  TideClockWatch watch = {0};
  g_assert_cmpint(look(&watch, NOON, 100 * S), ==, 0);
  g_assert_cmpint(look(&watch, NOON + S, 101 * S), ==, 0);
  g_assert_cmpint(look(&watch, NOON + 2 * S - 3600 * S, 102 * S), ==, -3600 * S);
  g_assert_cmpint(look(&watch, NOON + 3 * S - 3600 * S, 103 * S), ==, 0); /* once */
  g_assert_cmpint(look(&watch, NOON + 4 * S, 104 * S), ==, 3600 * S);
  g_assert_cmpint(look(&watch, NOON + 4 * S, 105 * S), ==, -S); /* a leap second */
}

TEST("/clock-watch/E9-slewing-and-suspension-are-no-jumps")
{
  TideClockWatch watch = {0};
  g_assert_cmpint(look(&watch, 0, 5 * S), ==, 0);         /* whatever it shows at first */
  g_assert_cmpint(look(&watch, 600 * S, 605 * S), ==, 0); /* suspended in between, or this thread stood still */
  for (gint64 i = 1; i <= 100; i++)
    g_assert_cmpint(look(&watch, 600 * S + i * (S + S / 10), 605 * S + i * S), ==, 0); /* slewed */
}

TEST("/clock-watch/real-clocks")
{
  TideClockWatch watch = {0};
  g_assert_cmpint(tide_clock_watch_look(&watch), ==, 0);
  g_assert_true(watch.has_looked);
}

/* ---- summary ---- */

/* The line of each minute: that there is one at the most, what it says, and none while nothing happens. */

#define MINUTE_US (TIDE_SUMMARY_S * TIDE_US_PER_S)
#define START_US (7 * TIDE_US_PER_S)

/* What was logged meanwhile; "" when nothing was. (transfer full) */
static char *
log_of(TideSummary *summary, const TideSummaryFacts *facts, gint64 now_us)
{
  int ends[2];
  g_assert_cmpint(pipe(ends), ==, 0);
  int saved = dup(STDERR_FILENO);
  g_assert_cmpint(dup2(ends[1], STDERR_FILENO), >=, 0);
  tide_summary_log(summary, facts, now_us);
  g_assert_cmpint(dup2(saved, STDERR_FILENO), >=, 0);
  close(saved);
  close(ends[1]);
  char line[1024] = "";
  g_assert_cmpint(read(ends[0], line, sizeof line - 1), >=, 0);
  close(ends[0]);
  return g_strdup(line);
}

static void
assert_silent(TideSummary *summary, const TideSummaryFacts *facts, gint64 now_us)
{
  g_autofree char *line = log_of(summary, facts, now_us);
  g_assert_cmpstr(line, ==, "");
}

static void
summary_assert_says(TideSummary *summary, const TideSummaryFacts *facts, gint64 now_us, const char *text)
{
  g_autofree char *line = log_of(summary, facts, now_us);
  g_test_message("%s", line);
  g_assert_nonnull(strstr(line, text));
}

TEST("/summary/once-a-minute")
{
  TideSummary summary = {0};
  TideSummaryFacts facts = {.n_messages = 1000, .n_rows = 500, .partitions = 3, .lag = "lag 7 messages, 2 s"};
  assert_silent(&summary, &facts, START_US); /* a minute begins */
  facts.n_messages += 600;
  facts.n_rows += 30;
  assert_silent(&summary, &facts, START_US + MINUTE_US - 1);
  summary_assert_says(
      &summary, &facts, START_US + MINUTE_US,
      "in the last 60 s 10.0 messages/s read, 0.5 rows/s written; lag 7 messages, 2 s, in flight 0 messages, "
      "0 of 3 partitions paused, 0 regions in trouble");
  facts.n_messages += 60;
  assert_silent(&summary, &facts, START_US + MINUTE_US + 1);
  summary_assert_says(&summary, &facts, START_US + 2 * MINUTE_US, " 1.0 messages/s read, 0.0 rows/s");
}

TEST("/summary/silent-while-nothing-happens")
{
  TideSummary summary = {0};
  TideSummaryFacts facts = {.n_messages = 5, .lag = "lag 0 messages, 0 s"};
  gint64 now_us = START_US;
  assert_silent(&summary, &facts, now_us);
  assert_silent(&summary, &facts, now_us += MINUTE_US);
  facts.troubled_lanes = 2;
  summary_assert_says(&summary, &facts, now_us += MINUTE_US, "2 regions in trouble");
  facts.troubled_lanes = 0;
  facts.paused_partitions = 1;
  summary_assert_says(&summary, &facts, now_us += MINUTE_US, "1 of 0 partitions paused");
  facts.paused_partitions = 0;
  facts.in_flight_messages = 4;
  summary_assert_says(&summary, &facts, now_us += MINUTE_US, "in flight 4 messages");
  facts.in_flight_messages = 0;
  assert_silent(&summary, &facts, now_us += MINUTE_US);
  facts.n_messages += 60; /* the rate is of this minute, however long nothing came */
  summary_assert_says(&summary, &facts, now_us += MINUTE_US, " 1.0 messages/s read");
}

/* ---- notify ---- */

/* systemd's end. */
typedef struct Manager {
  int fd;
  char *directory; /* owned; NULL for an abstract socket */
  char *path;      /* owned */
} Manager;

static Manager
manager_start(gboolean is_abstract)
{
  Manager manager = {.fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
  g_assert_cmpint(manager.fd, >=, 0);
  if (is_abstract) {
    manager.path = g_strdup_printf("@tidemark-test-notify-%d", (int)getpid());
  } else {
    manager.directory = g_dir_make_tmp("tide-notify-XXXXXX", NULL);
    manager.path = g_build_filename(manager.directory, "socket", NULL);
  }
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  gsize path_len = strlen(manager.path);
  g_assert_cmpuint(path_len, <, sizeof address.sun_path);
  memcpy(address.sun_path, manager.path, path_len);
  if (is_abstract)
    address.sun_path[0] = '\0';
  socklen_t address_bytes = (socklen_t)(G_STRUCT_OFFSET(struct sockaddr_un, sun_path) + path_len);
  g_assert_cmpint(bind(manager.fd, (const struct sockaddr *)&address, address_bytes), ==, 0);
  g_setenv("NOTIFY_SOCKET", manager.path, TRUE);
  return manager;
}

static void
manager_stop(Manager *manager)
{
  g_unsetenv("NOTIFY_SOCKET");
  close(manager->fd);
  if (manager->directory != NULL) {
    g_unlink(manager->path);
    g_rmdir(manager->directory);
  }
  g_free(manager->directory);
  g_free(manager->path);
}

/* The next message, or NULL: sending is synchronous, so what was sent is there. */
static char *
manager_received(const Manager *manager)
{
  char message[4096];
  gssize n = recv(manager->fd, message, sizeof message, MSG_DONTWAIT);
  return n < 0 ? NULL : g_strndup(message, (gsize)n);
}

static void
assert_received(const Manager *manager, const char *expected)
{
  g_autofree char *message = manager_received(manager);
  g_assert_cmpstr(message, ==, expected);
}

static void
test_each_state_is_one_message(gconstpointer is_abstract)
{
  Manager manager = manager_start(GPOINTER_TO_INT(is_abstract));
  tide_notify_ready();
  assert_received(&manager, "READY=1");
  tide_notify_status("assigned %d parts, lag %s", 6, "1.2k");
  assert_received(&manager, "STATUS=assigned 6 parts, lag 1.2k");
  tide_notify_watchdog();
  assert_received(&manager, "WATCHDOG=1");
  tide_notify_extend_timeout(G_GINT64_CONSTANT(30000000));
  assert_received(&manager, "EXTEND_TIMEOUT_USEC=30000000");
  tide_notify_stopping();
  assert_received(&manager, "STOPPING=1");
  assert_received(&manager, NULL);
  manager_stop(&manager);
}

TEST("/notify/status/cannot-say-something-else")
{
  Manager manager = manager_start(FALSE);
  tide_notify_status("gateway said '%s'", "x\nREADY=1\nMAINPID=1");
  assert_received(&manager, "STATUS=gateway said 'x\\x0AREADY=1\\x0AMAINPID=1'");

  g_autofree char *long_text = g_strnfill(100000, 'x');
  tide_notify_status("%s", long_text);
  g_autofree char *message = manager_received(&manager);
  g_assert_nonnull(message);
  g_assert_cmpuint(strlen(message), <, 512);
  g_assert_true(g_str_has_suffix(message, "xxx..."));
  manager_stop(&manager);
}

TEST("/notify/none/nothing-happens-without-systemd")
{
  g_unsetenv("NOTIFY_SOCKET");
  tide_notify_ready();
  tide_notify_status("nobody %s", "reads this");
  tide_notify_watchdog();
  tide_notify_extend_timeout(1);
  tide_notify_stopping();

  g_setenv("NOTIFY_SOCKET", "/nonexistent/socket", TRUE);
  tide_notify_ready();
  g_unsetenv("NOTIFY_SOCKET");
}

TEST("/notify/watchdog/interval-is-ours-alone")
{
  g_autofree char *our_pid = g_strdup_printf("%d", (int)getpid());
  const struct {
    const char *interval, *pid;
    gint64 interval_us;
  } cases[] = {
      {NULL, NULL, 0},
      {"30000000", NULL, 30000000},
      {"30000000", our_pid, 30000000},
      {"30000000", "1", 0},
      {"0", NULL, 0},
      {"soon", NULL, 0},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_unsetenv("WATCHDOG_USEC");
    g_unsetenv("WATCHDOG_PID");
    if (cases[i].interval != NULL)
      g_setenv("WATCHDOG_USEC", cases[i].interval, TRUE);
    if (cases[i].pid != NULL)
      g_setenv("WATCHDOG_PID", cases[i].pid, TRUE);
    g_assert_cmpint(tide_notify_watchdog_interval_us(), ==, cases[i].interval_us);
  }
  g_unsetenv("WATCHDOG_USEC");
  g_unsetenv("WATCHDOG_PID");
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  test_cases_add();
  g_test_add_data_func("/notify/state/is-one-message", GINT_TO_POINTER(FALSE), test_each_state_is_one_message);
  g_test_add_data_func("/notify/state/abstract-socket", GINT_TO_POINTER(TRUE), test_each_state_is_one_message);
  return g_test_run();
}
