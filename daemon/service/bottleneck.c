#include "service/bottleneck.h"

#include "util/clock.h"
#include "util/units.h"

#include <string.h>

/* A region with fewer consecutive failures may just have moved: what else is stopped or slow is reported first. */
#define MIN_FAILURES 3

/* Share of a core above which a thread does little else. */
#define BUSY_CPU 0.8

/* Share of the budget above which it counts as spent. */
#define FULL_MEMORY 0.9

/* Share of a consumer's time below which reading is hardly slower. */
#define LONG_HELD 0.2

/* Duration above which a call is reported by name, as calls take milliseconds. */
#define LONG_CALL_SECONDS 2.0

/* Ratio to the average of the other regions above which a region is hot: with an even key, the busiest of a few regions
 * receives less than twice as much. */
#define HOT_FACTOR 2.0
/* Below this, shares reflect single rows. */
#define HOT_MIN_ROWS_PER_SECOND 1.0

const char *
tide_limit_name(TideLimit limit)
{
  static const char *const names[] = {
      [TIDE_LIMIT_KAFKA] = "kafka",      [TIDE_LIMIT_CPU] = "cpu",       [TIDE_LIMIT_GATEWAY] = "gateway",
      [TIDE_LIMIT_REGION] = "region",    [TIDE_LIMIT_MEMORY] = "memory", [TIDE_LIMIT_DEAD_LETTERS] = "dead_letters",
      [TIDE_LIMIT_HALTED] = "halted",    [TIDE_LIMIT_PAUSED] = "paused", [TIDE_LIMIT_RATE] = "rate",
      [TIDE_LIMIT_REGISTRY] = "registry"};
  G_STATIC_ASSERT(G_N_ELEMENTS(names) == TIDE_N_LIMITS);
  return names[limit];
}

static G_GNUC_PRINTF(3, 4) gboolean found(TideBottleneckVerdict *verdict, TideLimit limit, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  *verdict = (TideBottleneckVerdict){.limit = limit, .why = g_strdup_vprintf(format, arguments)};
  va_end(arguments);
  return TRUE;
}

/* ---- what is stopped, and why ---- */

/* Commands that several sentences end with. */
#define CHECK_HBASE "'tidemark check' tries gateways and tables"
#define SHOW_OFFSETS "'tidemark offsets show' lists them"

static gboolean
judge_paused(const TideBottleneckFacts *facts, TideBottleneckVerdict *verdict)
{
  return facts->operator.paused != NULL &&
      found(verdict, TIDE_LIMIT_PAUSED, "%s; 'tidemark resume' ends it", facts->operator.paused);
}

static gboolean
judge_dead_letters(const TideBottleneckFacts *facts, TideBottleneckVerdict *verdict)
{
  if (facts->dead_letters_stalled != NULL)
    return found(verdict, TIDE_LIMIT_DEAD_LETTERS, "all partitions pause: %s", facts->dead_letters_stalled);
  if (facts->halted_partitions > 0 && facts->halted_partitions >= facts->partitions)
    return found(verdict, TIDE_LIMIT_HALTED, "all partitions are halted until an operator acts: %s; " SHOW_OFFSETS,
                 facts->reason != NULL ? facts->reason : "see partitions");
  return FALSE;
}

static gboolean
judge_start(const TideBottleneckFacts *facts, TideBottleneckVerdict *verdict)
{
  static const char not_usable[] = "no gateway is usable: "; /* start of the reason, removed because it would be
                                                              * repeated */
  const char *reason = facts->reason != NULL ? facts->reason : "the reason is not known yet";
  if (facts->gateways_up == 0) {
    /* Once it has started, the reason can be another one, such as a missing topic. */
    if (g_str_has_prefix(reason, not_usable))
      reason += strlen(not_usable);
    else if (facts->is_running)
      reason = facts->gateway_trouble != NULL ? facts->gateway_trouble : "the reason is not known yet";
    return found(verdict, TIDE_LIMIT_GATEWAY, "no gateway is up: %s; " CHECK_HBASE, reason);
  }
  if (!facts->is_running)
    return found(verdict, TIDE_LIMIT_REGION, "waiting for the tables: %s; " CHECK_HBASE, reason);
  if (!facts->brokers_answer)
    return found(verdict, TIDE_LIMIT_KAFKA, "no broker answers: %s; 'tidemark check' tries each broker",
                 facts->kafka_trouble != NULL ? facts->kafka_trouble
                 : facts->reason != NULL      ? reason
                                              : "librdkafka has given no reason yet");
  if (facts->partitions > 0)
    return FALSE;
  const char *why = facts->reason != NULL ? facts->reason : facts->kafka_trouble;
  if (why != NULL)
    return found(verdict, TIDE_LIMIT_KAFKA, "no partition is assigned to this daemon: %s", why);
  return found(verdict, TIDE_LIMIT_KAFKA,
               "no partition is assigned to this daemon; 'kafka-consumer-groups.sh --describe --members --group %s' "
               "lists the members of the group and their partitions",
               facts->group);
}

static gboolean
judge_failing_region(const TideBottleneckFacts *facts, TideBottleneckVerdict *verdict)
{
  return facts->failing.region != NULL && found(verdict, TIDE_LIMIT_REGION,
                                                "calls to %s have failed for %" G_GINT64_FORMAT " s: %s; " CHECK_HBASE
                                                ", and 'hbase hbck' lists regions that are not open",
                                                facts->failing.region, facts->failing.seconds, facts->failing.error);
}

static gboolean
judge_failures(const TideBottleneckFacts *facts, TideBottleneckVerdict *verdict)
{
  if (facts->stopped_table != NULL)
    return found(verdict, TIDE_LIMIT_REGION, "nothing is written to table '%s': %s", facts->stopped_table,
                 facts->stopped_reason);
  return facts->failing.calls >= MIN_FAILURES && judge_failing_region(facts, verdict);
}

/* ---- what is slow ---- */

/* From here, a gateway that hangs looks the same as a hanging region server, a disabled table or a quota of HBase
 * behind it: the text names the commands that tell them apart, and no cause. */
static gboolean
judge_long_call(const TideBottleneckFacts *facts, TideBottleneckVerdict *verdict)
{
  if (facts->longest_call_seconds < LONG_CALL_SECONDS)
    return FALSE;
  g_autofree char *region =
      facts->called_region != NULL
          ? g_strdup_printf("; all rows in calls are for %s, while others are written", facts->called_region)
          : g_strdup("");
  return found(verdict, TIDE_LIMIT_GATEWAY,
               "gateway '%s' has not answered a call for %.1f s%s; " CHECK_HBASE
               ", and list_quotas in the HBase shell shows whether a quota makes it wait",
               facts->longest_call_gateway, facts->longest_call_seconds, region);
}

#define MORE_WRITERS "; if the gateways have free threads, raise hbase.writers and restart"

static gboolean
judge_gateways(const TideBottleneckFacts *facts, TideBottleneckVerdict *verdict)
{
  if (judge_long_call(facts, verdict))
    return TRUE;
  /* The other gateways take the rows that a slow one does not. */
  gboolean keeps_up = facts->unread_messages == 0 && (facts->waiting_rows == 0 || facts->busy_writers < facts->writers);
  if (facts->slow_gateway != NULL)
    return found(verdict, TIDE_LIMIT_GATEWAY, "gateway '%s' takes several times as long per row as the fastest%s",
                 facts->slow_gateway,
                 keeps_up ? "; the daemon keeps up nevertheless: all messages in Kafka have been read"
                          : "; until it is repaired, remove it from hbase.gateways and reload");
  if (facts->writers == 0 || facts->busy_writers < facts->writers || facts->waiting_rows == 0)
    return FALSE;
  g_autofree char *slowest = facts->slowest_gateway != NULL
                                 ? g_strdup_printf("; a call takes %.3f s at '%s', the slowest",
                                                   facts->slowest_call_seconds, facts->slowest_gateway)
                                 : g_strdup("");
  g_autofree char *rows = tide_count_of((guint64)facts->waiting_rows, "row waits", "rows wait");
  if (facts->writers == 1)
    return found(verdict, TIDE_LIMIT_GATEWAY, "the only writer waits for the gateways, and %s for it%s" MORE_WRITERS,
                 rows, slowest);
  return found(verdict, TIDE_LIMIT_GATEWAY,
               "all %" G_GINT64_FORMAT " writers wait for the gateways, and %s for them%s" MORE_WRITERS, facts->writers,
               rows, slowest);
}

static gboolean
judge_rate(const TideBottleneckFacts *facts, TideBottleneckVerdict *verdict)
{
  if (!facts->operator.is_paced && facts->operator.paced_table == NULL)
    return FALSE;
  g_autofree char *option = facts->operator.is_paced
                                ? g_strdup("limits.rows_per_second")
                                : g_strdup_printf("tables.%s.rows_per_second", facts->operator.paced_table);
  gint64 n_rows = facts->operator.is_paced ? facts->waiting_rows : facts->operator.paced_rows;
  g_autofree char *rows = tide_count_of((guint64)n_rows, "row waits", "rows wait");
  return found(verdict, TIDE_LIMIT_RATE, "%s, as '%s' allows no more: raise it and reload", rows, option);
}

static gboolean
judge_regions(const TideBottleneckFacts *facts, TideBottleneckVerdict *verdict)
{
  if (facts->full.region == NULL)
    return FALSE;
  g_autofree char *rows = tide_count_of((guint64)facts->full.waiting_rows, "row waits", "rows wait");
  return found(verdict, TIDE_LIMIT_REGION,
               "%s for %s, which has reached its limit of concurrent calls (hbase.max_in_flight_per_region), while "
               "writers are free; to divide it, use the HBase shell: split '%s'",
               rows, facts->full.region, facts->full.table);
}

static gboolean
judge_memory(const TideBottleneckFacts *facts, TideBottleneckVerdict *verdict)
{
  if (facts->memory_paused_partitions == 0 && facts->memory_held >= LONG_HELD)
    return found(verdict, TIDE_LIMIT_MEMORY,
                 "%.0f %% of the in-flight memory is in use and a consumer waits for it %.0f %% of the time, while "
                 "writers are free: raise limits.memory and reload",
                 facts->memory_share * 100, facts->memory_held * 100);
  if (facts->memory_paused_partitions == 0 && facts->memory_share < FULL_MEMORY)
    return FALSE;
  g_autofree char *pause =
      tide_count_of((guint64)facts->memory_paused_partitions, "partition pauses", "partitions pause");
  return found(
      verdict, TIDE_LIMIT_MEMORY,
      "%.0f %% of the in-flight memory is in use and %s for it, while writers are free: raise limits.memory and reload",
      facts->memory_share * 100, pause);
}

static gboolean
judge_cpu(const TideBottleneckFacts *facts, TideBottleneckVerdict *verdict)
{
  if (facts->consumer_cpu < BUSY_CPU)
    return FALSE;
  return found(verdict, TIDE_LIMIT_CPU,
               "a consumer thread uses %.0f %% of a core: raise kafka.threads if there are more cores and partitions, "
               "or run another daemon of the group",
               facts->consumer_cpu * 100);
}

/* ---- what is not read ---- */

/* What keeps all unread messages from being read. */
static gboolean
judge_withheld(const TideBottleneckFacts *facts, TideBottleneckVerdict *verdict)
{
  if (facts->unread_messages <= 0)
    return FALSE;
  g_autofree char *messages = tide_count_of((guint64)facts->unread_messages, "message", NULL);
  if (facts->halted_messages >= facts->unread_messages)
    return found(verdict, TIDE_LIMIT_HALTED, "halted partitions hold back %s until an operator acts: %s; " SHOW_OFFSETS,
                 messages, facts->reason != NULL ? facts->reason : "see partitions");
  if (facts->undecided.messages >= facts->unread_messages)
    return found(verdict, TIDE_LIMIT_KAFKA,
                 "%s cannot be read until a transaction ends, which is open at offset %" G_GINT64_FORMAT
                 " of '%s' partition %" G_GINT64_FORMAT
                 "; if its producer is gone, end it with 'kafka-transactions.sh find-hanging' and 'abort'",
                 messages, facts->undecided.offset, facts->undecided.topic, facts->undecided.partition);
  if (facts->paused.schema_messages >= facts->unread_messages)
    return found(verdict, TIDE_LIMIT_REGISTRY, "%s cannot be read without a schema: %s", messages,
                 facts->paused.schema_trouble != NULL ? facts->paused.schema_trouble
                                                      : "the registry has not answered yet");
  if (facts->paused.commit_messages >= facts->unread_messages)
    return found(verdict, TIDE_LIMIT_KAFKA,
                 "%s cannot be read until the group confirms a first commit of this daemon; "
                 "'kafka-consumer-groups.sh --describe --state --group %s' shows its coordinator",
                 messages, facts->group);
  if (facts->paused.span_messages >= facts->unread_messages)
    return found(verdict, TIDE_LIMIT_MEMORY,
                 "%s cannot be read, because as many as kafka.max_span_messages follow one that is not finished; "
                 "'tidemark status' shows below what it waits for",
                 messages);
  return facts->throttle_ms > 0 &&
         found(verdict, TIDE_LIMIT_KAFKA,
               "brokers delay the consumers, last by %d ms, and %s wait: a quota for this user or client, shown by "
               "'kafka-configs.sh --describe'",
               facts->throttle_ms, messages);
}

static void
judge_kafka(const TideBottleneckFacts *facts, TideBottleneckVerdict *verdict)
{
  g_autofree char *in_flight =
      facts->in_flight_messages == 0
          ? g_strdup("")
          : g_strdup_printf("; %" G_GINT64_FORMAT " of them in flight", facts->in_flight_messages);
  g_autofree char *to_read =
      tide_count_of((guint64)MAX(facts->unread_messages, 0), "message is to be read", "messages are to be read");
  if (judge_withheld(facts, verdict))
    return;
  /* Whatever else keeps it from being ready: a right on a topic, a topic that is missing, a stranger in the group. */
  if (facts->reason != NULL && facts->halted_partitions == 0)
    (void)found(verdict, TIDE_LIMIT_KAFKA, "not ready: %s", facts->reason);
  else if (facts->unread_messages == 0)
    (void)found(verdict, TIDE_LIMIT_KAFKA, "nothing to read: all messages in Kafka have been read%s", in_flight);
  else if (facts->unread_messages < 0)
    (void)found(verdict, TIDE_LIMIT_KAFKA, "the brokers have not yet reported how much there is to read");
  else
    (void)found(verdict, TIDE_LIMIT_KAFKA, "%s, and consumers and writers wait for %s", to_read,
                facts->unread_messages == 1 ? "it" : "them");
}

/* Order: what is stopped before what is slow, and a slow HBase before the memory and the consumers that wait for it. */
TideBottleneckVerdict
tide_bottleneck_judge(const TideBottleneckFacts *facts)
{
  static gboolean (*const rules[])(const TideBottleneckFacts *, TideBottleneckVerdict *) = {
      judge_dead_letters, judge_start,   judge_paused,         judge_failures, judge_rate,
      judge_gateways,     judge_regions, judge_failing_region, judge_memory,   judge_cpu};
  TideBottleneckVerdict verdict = {0};
  for (gsize i = 0; i < G_N_ELEMENTS(rules); i++)
    if (rules[i](facts, &verdict))
      return verdict;
  judge_kafka(facts, &verdict);
  return verdict;
}

/* ---- a restart ---- */

/* Returns what would keep the stop from writing everything in flight. (transfer full); NULL: nothing */
static char *
why_not_drained(const TideBottleneckFacts *facts)
{
  TideBottleneckVerdict verdict;
  gint64 rows = facts->waiting_rows + facts->in_flight_rows;
  if (judge_dead_letters(facts, &verdict) || judge_start(facts, &verdict) || judge_paused(facts, &verdict) ||
      judge_failures(facts, &verdict) || judge_long_call(facts, &verdict))
    return verdict.why;
  gboolean are_all_paced = facts->operator.is_paced;
  if ((are_all_paced || facts->operator.paced_table != NULL) &&
      (double)(are_all_paced ? rows : facts->operator.paced_rows) >
          (are_all_paced ? facts->rows_per_second : facts->operator.paced_per_second) * (double)facts->drain_seconds) {
    (void)judge_rate(facts, &verdict);
    return verdict.why;
  }
  /* While all writers are busy, the recent rate is HBase's maximum. */
  if (facts->writers == 0 || facts->busy_writers < facts->writers || facts->rows_per_second <= 0 ||
      (double)rows <= facts->rows_per_second * (double)facts->drain_seconds)
    return NULL;
  g_autofree char *take = tide_count_of((guint64)rows, "row takes", "rows take");
  return g_strdup_printf("%s %.0f s at the present %.1f rows/s", take, (double)rows / facts->rows_per_second,
                         facts->rows_per_second);
}

TideBottleneckVerdict
tide_restart_judge(const TideBottleneckFacts *facts)
{
  if (facts->held_partitions > 0) {
    g_autofree char *held = tide_count_of((guint64)facts->held_partitions, "partition has a deferred offset",
                                          "partitions have deferred offsets");
    return (TideBottleneckVerdict){
        .why = g_strdup_printf("%s: messages after it would be read and written again, without loss; see "
                               "'commit_deferred' of each partition for how long",
                               held)};
  }
  if (facts->in_flight_messages == 0)
    return (TideBottleneckVerdict){.is_good = TRUE, .why = g_strdup("nothing is in flight")};
  gboolean is_one = facts->in_flight_messages == 1;
  g_autofree char *in_flight =
      tide_count_of((guint64)facts->in_flight_messages, "message is in flight", "messages are in flight");
  TideBottleneckFacts waited_for = *facts;
  if (facts->has_too_many_dead_letters)
    waited_for.dead_letters_stalled = NULL;
  g_autofree char *obstacle = why_not_drained(&waited_for);
  if (obstacle == NULL && facts->has_too_many_dead_letters)
    return (TideBottleneckVerdict){
        .is_good = TRUE,
        .why = g_strdup_printf(
            "once the cause is fixed: %s; the stop writes and commits what can be written, and the rest is read again",
            in_flight)};
  if (obstacle == NULL)
    return (TideBottleneckVerdict){
        .is_good = TRUE,
        .why = g_strdup_printf("%s, and the stop writes and commits %s", in_flight, is_one ? "it" : "them")};
  return (TideBottleneckVerdict){
      .why =
          g_strdup_printf("%s, and the stop may not write %s within %" G_GINT64_FORMAT
                          " s (limits.drain_timeout): %s would be read and written again, without loss; %s",
                          in_flight, is_one ? "it" : "them", facts->drain_seconds, is_one ? "it" : "they", obstacle)};
}

/* ---- which region is hot ---- */

TideBottleneckVerdict
tide_hot_region_judge(const TideHotRegionFacts *facts)
{
  if (facts->region == NULL || facts->rows_per_second <= 0)
    return (TideBottleneckVerdict){.why = g_strdup("no rows are written now")};
  if (facts->rows_per_second < HOT_MIN_ROWS_PER_SECOND)
    return (TideBottleneckVerdict){.why = g_strdup("no region receives a row a second")};
  g_autofree char *most = g_strdup_printf("%s receives %.0f rows/s, %.0f %% of all", facts->region,
                                          facts->rows_per_second, facts->share * 100);
  if (facts->table_regions < 2)
    return (TideBottleneckVerdict){.why = g_strdup_printf("%s, and its table has %s", most,
                                                          facts->table_regions == 1 ? "no other" : "no known regions")};
  if (facts->others_fail)
    return (TideBottleneckVerdict){
        .why = g_strdup_printf("%s; calls to other regions of its table fail, so they receive less", most)};
  double others = (facts->table_rows_per_second - facts->rows_per_second) / (double)(facts->table_regions - 1);
  gboolean is_hot = facts->rows_per_second >= HOT_FACTOR * others;
  gboolean is_alone = facts->table_regions == 2;
  g_autofree char *which = is_alone
                               ? g_strdup("the other one")
                               : g_strdup_printf("each of the %" G_GINT64_FORMAT " others", facts->table_regions - 1);
  return (TideBottleneckVerdict){.is_good = is_hot,
                                 .why =
                                     g_strdup_printf("%s; %s of its table %.0f rows/s%s%s", most, which, MAX(others, 0),
                                                     is_alone ? "" : " on average",
                                                     is_hot ? "; see docs/row-keys.md for keys that spread rows" : "")};
}
