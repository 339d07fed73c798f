#include "service/pipeline_health.h"

#include "util/clock.h"
#include "util/error.h"
#include "util/log.h"
#include "util/units.h"

#include <time.h>

/* A thread that exceeds its longest normal wait by this time is stuck. */
#define STUCK_US (30 * TIDE_US_PER_S)

/* Maximum number of regions in the metrics, and their minimum time there. */
#define MAX_REGIONS 10
#define REGIONS_INTERVAL_US (10 * TIDE_US_PER_S)

typedef struct Totals {
  guint32 assigned, unlocated, halted, paused, paused_for[TIDE_N_PAUSE_REASONS];
  guint64 in_flight;
  gint64 oldest_us;
  guint32 n_finished;
  guint32 n_refused;       /* consumers that the group rejected; the others read everything */
  gboolean had_assignment; /* every other consumer had one */
  gboolean fatal;
  gboolean denied;
  gboolean stuck;
  gboolean reads_on; /* of a run to the end */
} Totals;

void
tide_pipeline_health_init(TidePipelineHealth *health, const TidePipelineParts *parts)
{
  *health = (TidePipelineHealth){.parts = parts};
  TideMetrics *metrics = parts->options.metrics;
  health->budget_limit =
      tide_metrics_gauge(metrics, "tidemark_memory_budget_bytes", "Memory budget for everything in flight", NULL);
  health->budget_used = tide_metrics_gauge(metrics, "tidemark_memory_used_bytes", "Memory budget in use", NULL);
  health->waiting_rows =
      tide_metrics_gauge(metrics, "tidemark_table_waiting_rows", "Sealed rows waiting for a writer", NULL);
  health->in_flight_rows = tide_metrics_gauge(metrics, "tidemark_table_in_flight_rows", "Rows in running calls", NULL);
  health->troubled_lanes =
      tide_metrics_gauge(metrics, "tidemark_regions_failing", "Regions whose calls keep failing", NULL);
  health->narrowed_lanes =
      tide_metrics_gauge(metrics, "tidemark_regions_throttled",
                         "Regions with a reduced limit of rows in flight since a call failed", NULL);
  health->probes = tide_metrics_gauge(metrics, "tidemark_region_probes",
                                      "Running calls that probe whether a failing region has recovered", NULL);
  health->suspended_tables = tide_metrics_gauge(
      metrics, "tidemark_tables_suspended", "Tables that are suspended until an operator repairs them in HBase", NULL);
  health->oldest = tide_metrics_gauge_milli(metrics, "tidemark_oldest_in_flight_seconds",
                                            "Age of the oldest row that HBase has not acknowledged", NULL);
  health->halted = tide_metrics_gauge(metrics, "tidemark_kafka_halted_partitions",
                                      "Partitions that are halted until an operator acts", NULL);
  health->unlocated = tide_metrics_gauge(
      metrics, "tidemark_kafka_partitions_without_position",
      "Assigned partitions that are not read because the brokers have not reported their position yet", NULL);
  health->operator_pause = tide_metrics_gauge(
      metrics, "tidemark_operator_pause_seconds",
      "Age of the oldest pause that an operator began with 'tidemark pause'; 0: nothing is paused", NULL);
  const char *jumps = "tidemark_clock_jumps_total", *help = "Times the wall clock was set by half a second or more";
  health->clock_set[0] = tide_metrics_counter(metrics, jumps, help, "direction=\"back\"");
  health->clock_set[1] = tide_metrics_counter(metrics, jumps, help, "direction=\"forward\"");
  for (guint bit = 0; bit < TIDE_N_PAUSE_REASONS; bit++) {
    g_autofree char *label = tide_metrics_label("reason", tide_pause_names[bit]);
    health->paused_for[bit] =
        tide_metrics_gauge(metrics, "tidemark_kafka_paused_partitions",
                           "Partitions paused for this reason; a partition may have several", label);
  }
}

/* Sets a gauge for each region in @loads whose value is above 0. */
static void
show_regions(TideMetrics *metrics, const char *name, const char *help, const GArray *loads, gboolean failing)
{
  GArray *shown = g_array_new(FALSE, FALSE, sizeof(TideShown));
  for (guint i = 0; i < loads->len; i++) {
    const TideLoad *load = &g_array_index(loads, TideLoad, i);
    gint64 value = failing ? load->failing_seconds : (gint64)load->rows_per_second;
    if (value <= 0)
      continue;
    g_autofree char *table = tide_metrics_label("table", load->table->name);
    g_autofree char *region = tide_metrics_label("region", load->region_start);
    TideShown one = {g_strdup_printf("%s,%s", region, table), value};
    g_array_append_val(shown, one);
  }
  tide_metrics_show(metrics, name, help, shown);
}

/* Publishes few of possibly thousands: the hottest, and those that fail. */
static void
watch_regions(TidePipelineHealth *health, gint64 now_us)
{
  if (now_us - health->regions_shown_us < REGIONS_INTERVAL_US)
    return;
  health->regions_shown_us = now_us;
  TideMetrics *metrics = health->parts->options.metrics;
  g_autoptr(GArray) loads = tide_lanes_regions(health->parts->lanes, MAX_REGIONS, now_us);
  show_regions(metrics, "tidemark_region_rows_per_second",
               "Recent rows per second of a region, for at most ten regions with the most rows", loads, FALSE);
  show_regions(metrics, "tidemark_region_failing_seconds",
               "Time since all calls to a region started failing, for at most ten regions", loads, TRUE);
}

static Totals
total(TidePipelineHealth *health, gint64 now_us)
{
  Totals totals = {.in_flight = tide_pipeline_parts_in_flight(health->parts), .had_assignment = TRUE};
  for (guint i = 0; i < health->parts->consumers->len; i++) {
    TideConsumerState state = tide_consumer_state_racy(g_ptr_array_index(health->parts->consumers, i));
    totals.assigned += state.assigned;
    totals.unlocated += state.unlocated;
    totals.halted += state.halted;
    totals.paused += state.paused;
    for (guint bit = 0; bit < TIDE_N_PAUSE_REASONS; bit++)
      totals.paused_for[bit] += state.paused_for[bit];
    totals.n_finished += state.finished || state.refused ? 1 : 0; /* a rejected consumer has nothing to do */
    totals.n_refused += state.refused ? 1 : 0;
    totals.had_assignment &= state.had_assignment || state.refused;
    totals.reads_on |= state.reads_on;
    totals.fatal |= state.fatal;
    totals.denied |= state.denied;
    totals.stuck |= now_us - state.last_round_us > STUCK_US;
    if (state.oldest_us > 0 && (totals.oldest_us == 0 || state.oldest_us < totals.oldest_us))
      totals.oldest_us = state.oldest_us;
  }
  totals.had_assignment &= totals.n_refused < health->parts->consumers->len;
  gint64 longest_us = STUCK_US + health->parts->options.config->hbase.call_timeout_ms * TIDE_US_PER_MS;
  for (guint i = 0; i < health->parts->writers->len; i++)
    totals.stuck |= now_us - tide_writer_last_round_us_racy(g_ptr_array_index(health->parts->writers, i)) > longest_us;
  return totals;
}

static char *
trouble_text(const TideLaneFailure *trouble, gint64 now_us)
{
  g_autofree char *region = *trouble->region_start != '\0' ? g_strdup_printf("region from '%s'", trouble->region_start)
                                                           : g_strdup("its first region");
  g_autofree char *rows = tide_count_of(trouble->waiting_rows, "row waits", "rows wait");
  g_autofree char *calls = tide_count_of(trouble->failures, "call", NULL);
  return g_strdup_printf("table '%s', %s, first row key '%s': %s for %" G_GINT64_FORMAT
                         " s, %s failed, the last with: %s",
                         trouble->table->name, region, trouble->first_row_key, rows,
                         (now_us - trouble->since_us) / TIDE_US_PER_S, calls, trouble->error_text);
}

static char *
kafka_trouble(TidePipelineHealth *health)
{
  char *text = NULL;
  for (guint i = 0; i < health->parts->consumers->len && text == NULL; i++)
    text = tide_consumer_trouble_text(g_ptr_array_index(health->parts->consumers, i));
  return text;
}

/* A healthy group has assigned partitions by now (initial rebalance delay: 3 s). */
#define GROUP_WAIT_US (4 * TIDE_US_PER_S)

/* Maximum time before a client that found no broker tries again (reconnect.backoff.max.ms). */
#define RECONNECT_US (10 * TIDE_US_PER_S)

/* With startup: fail: time beyond kafka.max_poll_interval for a group to assign its partitions. */
#define START_MARGIN_US (15 * TIDE_US_PER_S)

/* A run to the end is over when it has waited this long only for stuck rows: messages read last are sealed by then. */
#define STUCK_ROWS_US (5 * TIDE_US_PER_S)

/* Shorter pauses are not logged. */
#define PAUSE_SETTLES_US (5 * TIDE_US_PER_S)

/* The time from which the group can be expected to assign partitions. */
static gint64
assignment_expected_us(const TidePipelineHealth *health, const TideKafkaSeen *seen)
{
  gboolean were_silent = seen->answers_since_us - health->parts->joined_us > GROUP_WAIT_US;
  return were_silent ? seen->answers_since_us + RECONNECT_US : health->parts->joined_us;
}

static char *
brokers_text(TidePipelineHealth *health)
{
  g_autofree char *trouble = kafka_trouble(health);
  return g_strdup_printf("no broker of '%s' answers%s%s; retrying, and no offset is committed meanwhile",
                         health->parts->options.config->kafka.brokers, trouble != NULL ? ": " : "",
                         trouble != NULL ? trouble : "");
}

/* Explains why the group assigns no partitions: the error that Kafka reports, the broker that does not answer, or else
 * that the group waits for unknown members. */
static char *
group_text(TidePipelineHealth *health, const TideKafkaSeen *seen, gint64 now_us)
{
  const TideKafkaConfig *config = &health->parts->options.config->kafka;
  gint64 waited_us = now_us - assignment_expected_us(health, seen);
  gint64 left_us = config->session_timeout_ms * TIDE_US_PER_MS - waited_us;
  char *trouble = kafka_trouble(health);
  if (trouble != NULL)
    return trouble;
  if (waited_us < GROUP_WAIT_US || (seen->answers_since_us != 0 && !seen->has_group))
    return g_strdup("no assignment yet");
  if (seen->answers_since_us == 0)
    return brokers_text(health);
  if (seen->group_problem != NULL)
    return g_strdup_printf(
        "the coordinator of the group '%s' does not answer: %s; retrying; 'kafka-topics.sh --describe "
        "--topic __consumer_offsets' shows whether its partitions have leaders",
        config->group, seen->group_problem);
  g_autoptr(GDateTime) now = g_date_time_new_now_utc();
  g_autoptr(GDateTime) until = g_date_time_add(now, MAX(left_us, 0));
  g_autofree char *killed =
      left_us > 0
          ? g_date_time_format(until, "a killed one until its kafka.session_timeout is over, by %H:%M:%S UTC, and for ")
          : g_strdup("");
  return g_strdup_printf(
      "the group '%s' has assigned no partitions for %" G_GINT64_FORMAT
      " s: it waits until all its members have joined: for %sa live one until its kafka.max_poll_interval is over; "
      "'kafka-consumer-groups.sh --describe --members --group %s' lists them",
      config->group, waited_us / TIDE_US_PER_S, killed, config->group);
}

static gboolean
are_finished(const TidePipelineHealth *health, const Totals *totals)
{
  return health->parts->options.until_end && totals->n_finished == health->parts->consumers->len;
}

/* The exit code if the program must end by itself; 0: it continues. */
static int
fatal_exit(const TidePipelineHealth *health, const Totals *totals, const TideKafkaSeen *seen, TideGoalState goal,
           gint64 now_us)
{
  int stuck_exit = atomic_load_explicit(&health->stuck.exit_code, memory_order_acquire);
  if (totals->fatal || goal == TIDE_GOAL_MISSED)
    return TIDE_EXIT_TEMPFAIL;
  if (stuck_exit != 0)
    return stuck_exit;
  if (are_finished(health, totals) && tide_dead_letter_queue_has_too_many_racy(health->parts->dead_letters))
    return TIDE_EXIT_DATA;
  if (health->parts->options.until_end && tide_gateways_are_refused(health->parts->gateways))
    return TIDE_EXIT_CONFIG;
  if (!tide_pipeline_parts_fail_early(health->parts) || health->parts->watch == NULL)
    return 0;
  if (totals->denied && (!totals->had_assignment || health->parts->goal != NULL))
    return TIDE_EXIT_PERMISSION;
  gboolean was_ready = atomic_load_explicit(&health->was_ready, memory_order_relaxed);
  /* Longer than any rebalance: a group that has assigned no partitions by then is broken. */
  gint64 limit_us = health->parts->options.config->kafka.max_poll_interval_ms * TIDE_US_PER_MS + START_MARGIN_US;
  gboolean is_late = !totals->had_assignment && now_us - health->parts->joined_us >= limit_us;
  return (seen->missing_topics != NULL && !was_ready) || is_late || goal == TIDE_GOAL_UNKNOWABLE ? TIDE_EXIT_UNAVAILABLE
                                                                                                 : 0;
}

/* Returns why a running pipeline is not ready; NULL when it is. */
static char *
why_not_ready(TidePipelineHealth *health, const Totals *totals, const TideKafkaSeen *seen, gint64 now_us)
{
  if (atomic_load_explicit(&health->stuck.exit_code, memory_order_acquire) != 0)
    return g_strdup(health->stuck.text);
  if (totals->halted > 0) {
    char *text = NULL;
    for (guint i = 0; i < health->parts->consumers->len && text == NULL; i++)
      text = tide_consumer_halt_text(g_ptr_array_index(health->parts->consumers, i));
    return text != NULL ? text : g_strdup("a partition is halted");
  }
  gboolean has_no_topic = seen->missing_topics != NULL && !seen->has_topics;
  if (!has_no_topic && health->parts->watch != NULL && (!totals->had_assignment || totals->denied)) {
    g_autofree char *group = group_text(health, seen, now_us);
    return g_strdup_printf("waiting for Kafka: %s", group);
  }
  if (!seen->knows_topics)
    return g_strdup("waiting for Kafka: no broker has reported yet whether the topics exist");
  if (seen->missing_topics != NULL)
    return g_strdup(seen->missing_topics);
  if (totals->unlocated > 0) {
    g_autofree char *trouble = kafka_trouble(health);
    g_autofree char *partitions = tide_count_of(totals->unlocated, "partition", NULL);
    return g_strdup_printf("waiting for Kafka: the position of %s is unknown: %s", partitions,
                           trouble != NULL ? trouble : "asking the brokers");
  }
  if (seen->strangers != NULL)
    return g_strdup_printf("members of the group are not tidemark: %s", seen->strangers);
  char *dead_letters_text = tide_dead_letter_queue_stall_text(health->parts->dead_letters);
  if (dead_letters_text != NULL)
    return dead_letters_text;
  if (tide_gateways_n_up(health->parts->gateways) == 0) {
    g_autofree char *last_error = tide_gateways_last_error(health->parts->gateways);
    return g_strdup_printf("no gateway is usable: %s", last_error != NULL ? last_error : "probing");
  }
  g_autoptr(GPtrArray) troubles = tide_lanes_failing(health->parts->lanes, now_us - TIDE_TROUBLE_US);
  return troubles->len > 0 ? trouble_text(g_ptr_array_index(troubles, 0), now_us) : NULL;
}

/* TRUE if it is time to repeat the log line of @logged_us, which is then updated. */
static gboolean
may_log(gint64 *logged_us, gint64 now_us)
{
  if (tide_pipeline_was_just_logged(*logged_us, now_us))
    return FALSE;
  *logged_us = now_us;
  return TRUE;
}

/* Part of the status line. Read but uncommitted messages count as lag, so it explains why the lag is not 0 when all is
 * read. */
static char *
lag_text(const TideKafkaLag *lag)
{
  if (!lag->is_known)
    return g_strdup("lag unknown");
  const char *all_read = lag->messages > 0 && lag->unread == 0 ? " (all read, not committed yet)" : "";
  g_autofree char *messages = tide_count_of((guint64)MAX(lag->messages, 0), "message", NULL);
  return lag->seconds < 0 ? g_strdup_printf("lag %s%s", messages, all_read)
                          : g_strdup_printf("lag %s, %" G_GINT64_FORMAT " s%s", messages, lag->seconds, all_read);
}

void
tide_pipeline_health_fill_running(TidePipelineHealth *health, TidePipelineState *state)
{
  gint64 now_us = tide_now_us();
  Totals totals = total(health, now_us);
  state->healthy = !totals.stuck;
  g_autofree char *goal_text = NULL;
  TideGoalState goal = tide_kafka_goal_state(health->parts->goal, &goal_text);
  g_auto(TideKafkaSeen) seen = tide_kafka_watch_seen(health->parts->watch);
  state->fatal_exit = fatal_exit(health, &totals, &seen, goal, now_us);
  state->any_halted = totals.halted > 0 || goal == TIDE_GOAL_HALTED;
  state->finished = health->parts->goal != NULL ? goal == TIDE_GOAL_REACHED || goal == TIDE_GOAL_HALTED
                                                : are_finished(health, &totals);
  state->reason = totals.stuck ? g_strdup("a thread has not completed a round of its loop for too long")
                  : goal == TIDE_GOAL_MISSED || goal == TIDE_GOAL_UNKNOWABLE
                      ? g_steal_pointer(&goal_text)
                      : why_not_ready(health, &totals, &seen, now_us);
  if (state->reason == NULL)
    state->reason = g_steal_pointer(&goal_text);
  state->ready = state->reason == NULL;
  if (state->ready)
    atomic_store_explicit(&health->was_ready, TRUE, memory_order_relaxed);
  g_autofree char *detail = state->ready ? NULL : g_strdup_printf("; %s", state->reason);
  TideKafkaLag lag = tide_kafka_watch_lag(health->parts->watch);
  state->unread = lag.is_known ? lag.unread : -1;
  g_autofree char *lag_part = lag_text(&lag);
  g_autofree char *partitions = tide_count_of(totals.assigned, "partition", NULL);
  g_autofree char *in_flight = tide_count_of(totals.in_flight, "message", NULL);
  state->status =
      g_strdup_printf("%s, %s, in flight %s, gateways %u/%u up, paused %u%s", partitions, lag_part, in_flight,
                      tide_gateways_n_up(health->parts->gateways), tide_gateways_n(health->parts->gateways),
                      totals.paused, detail != NULL ? detail : "");
}

void
tide_pipeline_state_clear(TidePipelineState *state)
{
  g_free(state->reason);
  g_free(state->status);
  *state = (TidePipelineState){0};
}

/* For the log line at the end of an outage: its duration and the lag. (transfer full) */
static char *
after_text(const TidePipelineHealth *health, gint64 since_us, gint64 now_us)
{
  TideKafkaLag lag = tide_kafka_watch_lag(health->parts->watch);
  g_autofree char *lag_part = lag_text(&lag);
  return g_strdup_printf("after %" G_GINT64_FORMAT " s, %s", (now_us - since_us) / TIDE_US_PER_S, lag_part);
}

/* Short pauses, as in a backlog, are not reported. */
static void
log_pauses(TidePipelineHealth *health, const Totals *totals, gint64 now_us)
{
  if (totals->paused <= totals->halted) {
    g_autofree char *after = health->pausing_is_said ? after_text(health, health->pausing_us, now_us) : NULL;
    if (after != NULL)
      tide_log(TIDE_LOG_NOTICE, "partitions-go-on", "partitions continue, %s", after);
    health->pausing_us = 0;
    health->pausing_is_said = FALSE;
    return;
  }
  if (health->pausing_us == 0)
    health->pausing_us = now_us;
  if (health->pausing_is_said || now_us - health->pausing_us < PAUSE_SETTLES_US)
    return;
  health->pausing_is_said = TRUE;
  g_autofree char *stalled = tide_dead_letter_queue_stall_text(health->parts->dead_letters);
  const char *why = stalled != NULL ? stalled
                    : tide_budget_has_room_racy(&health->parts->budget)
                        ? "more of what they have read waits to be written than allowed (kafka.max_span_messages, the "
                          "tables' shares of limits.memory)"
                        : "rows waiting to be written fill limits.memory";
  tide_log(TIDE_LOG_NOTICE, "partitions-pause", "%u of %u partitions pause: %s", totals->paused - totals->halted,
           totals->assigned, why);
}

static void
log_troubles(TidePipelineHealth *health, gint64 now_us)
{
  g_autoptr(GPtrArray) troubles = tide_lanes_failing(health->parts->lanes, now_us - TIDE_TROUBLE_US);
  if (troubles->len == 0) {
    g_autofree char *after = health->delayed_us > 0 ? after_text(health, health->delayed_us, now_us) : NULL;
    if (after != NULL)
      tide_log(TIDE_LOG_NOTICE, "rows-go-on", "delayed rows are written, %s", after);
    health->delayed_us = 0;
    return;
  }
  if (!may_log(&health->trouble_logged_us, now_us))
    return;
  if (health->delayed_us == 0)
    health->delayed_us = ((const TideLaneFailure *)g_ptr_array_index(troubles, 0))->since_us;
  for (guint i = 0; i < troubles->len; i++) {
    const TideLaneFailure *trouble = g_ptr_array_index(troubles, i);
    g_autofree char *text = trouble_text(trouble, now_us);
    const TideLogField fields[] = {{"TABLE", trouble->table->name}, {"ROW", trouble->first_row_key}};
    tide_log_fields(trouble->is_suspended ? TIDE_LOG_CRIT : TIDE_LOG_ERROR, "rows-delayed", fields,
                    G_N_ELEMENTS(fields), "%s; retrying until it is written; offsets are not committed meanwhile",
                    text);
  }
}

static gint64
since(gboolean is_so, gint64 since_us, gint64 now_us)
{
  return !is_so ? 0 : since_us > 0 ? since_us : now_us;
}

/* Detects that a run to the end would wait for ever, because no more rows arrive that could show the cause. */
static void
watch_stuck_rows(TidePipelineHealth *health, const Totals *totals, gint64 now_us)
{
  if (!health->parts->options.until_end || atomic_load_explicit(&health->stuck.exit_code, memory_order_relaxed) != 0)
    return;
  health->stuck.read_us = since(!totals->reads_on, health->stuck.read_us, now_us);
  gboolean is_final = health->stuck.read_us > 0 && now_us - health->stuck.read_us >= STUCK_ROWS_US;
  tide_lanes_set_final(health->parts->lanes, is_final);
  g_autofree char *text = NULL;
  TideStuck stuck = tide_lanes_stuck(health->parts->lanes, &text);
  if (stuck == TIDE_STUCK_BUSY)
    return;
  health->stuck.since_us = since(stuck != TIDE_STUCK_NOT && is_final, health->stuck.since_us, now_us);
  if (health->stuck.since_us == 0 || now_us - health->stuck.since_us < STUCK_ROWS_US)
    return;
  health->stuck.text = g_intern_string(text);
  int code = stuck == TIDE_STUCK_REFUSED ? TIDE_EXIT_DATA : TIDE_EXIT_UNAVAILABLE;
  atomic_store_explicit(&health->stuck.exit_code, code, memory_order_release);
}

static void
log_group(TidePipelineHealth *health, const Totals *totals, const TideKafkaSeen *seen, gint64 now_us)
{
  if (totals->had_assignment || totals->denied || seen->answers_since_us == 0 || !seen->has_topics || !seen->has_group)
    return; /* there is no group to wait for, or another line gives the reason */
  if (now_us - assignment_expected_us(health, seen) < GROUP_WAIT_US || !may_log(&health->group_logged_us, now_us))
    return;
  g_autofree char *text = group_text(health, seen, now_us);
  tide_log(TIDE_LOG_NOTICE, "partitions-awaited", "waiting for partitions: %s", text);
}

/* Logs what a run to the end waits for, if no other line does. */
static void
log_goal(TidePipelineHealth *health, const TideKafkaSeen *seen, gint64 now_us)
{
  g_autofree char *text = NULL;
  (void)tide_kafka_goal_state(health->parts->goal, &text);
  if (text != NULL && seen->answers_since_us > 0 && may_log(&health->goal_logged_us, now_us))
    tide_log(TIDE_LOG_NOTICE, "end-awaited", "waiting for the end of the topics: %s", text);
}

static void
log_brokers(TidePipelineHealth *health, const TideKafkaSeen *seen, gint64 now_us)
{
  if (seen->answers_since_us > 0) {
    g_autofree char *after =
        health->brokers_logged_us > 0 ? after_text(health, health->brokers_silent_us, now_us) : NULL;
    if (after != NULL)
      tide_log(TIDE_LOG_NOTICE, "brokers-answer", "brokers answer again %s", after);
    health->brokers_silent_us = health->brokers_logged_us = 0;
    return;
  }
  if (health->brokers_silent_us == 0)
    health->brokers_silent_us = now_us;
  if (now_us - health->brokers_silent_us < GROUP_WAIT_US || !may_log(&health->brokers_logged_us, now_us))
    return;
  g_autofree char *text = brokers_text(health);
  tide_log(TIDE_LOG_WARNING, "brokers-silent", "%s", text);
}

static void
log_strangers(TidePipelineHealth *health, const char *strangers, gint64 now_us)
{
  const char *group = health->parts->options.config->kafka.group;
  if (strangers == NULL && health->strangers_logged_us > 0) {
    tide_log(TIDE_LOG_NOTICE, "group-is-ours", "all members of the group '%s' are tidemark again", group);
    health->strangers_logged_us = 0;
  }
  if (strangers == NULL || !may_log(&health->strangers_logged_us, now_us))
    return;
  tide_log(TIDE_LOG_CRIT, "group-stranger",
           "the group '%s' has members other than tidemark: %s; messages of the partitions assigned to them are not "
           "written; stop them, or give them their own group",
           group, strangers);
}

/* This is normal while members are restarted one by one with another table, and, until the first commit after an
 * assignment, because of the previous commit. */
static void
log_other_tables(TidePipelineHealth *health, const Totals *totals, const TideKafkaSeen *seen, gint64 now_us)
{
  if (!totals->had_assignment)
    health->other_tables_logged_us = now_us;
  if (seen->other_tables == 0 || now_us - seen->other_tables_since_us < TIDE_GROUP_LOOK_US ||
      !may_log(&health->other_tables_logged_us, now_us))
    return;
  g_autofree char *partitions = tide_count_of(seen->other_tables, "partition", NULL);
  tide_log(TIDE_LOG_WARNING, "group-other-tables",
           "the last commit of %s of group '%s' is from a tidemark whose configuration has other tables, keys or "
           "columns; rows of tables that it lacks are not written; run all instances with the same tables; 'tidemark "
           "check' shows each host's mark",
           partitions, health->parts->options.config->kafka.group);
}

/* The program's own timers are monotonic; the Kafka client's are not. A consumer that starts later has no wait from
 * before the change. */
static void
watch_clock(TidePipelineHealth *health, gboolean is_running)
{
  gint64 jump_us = tide_clock_watch_look(&health->clock);
  double seconds = (double)ABS(jump_us) / TIDE_US_PER_S;
  if (jump_us > 0) {
    tide_counter_inc(health->clock_set[1]);
    tide_log(TIDE_LOG_NOTICE, "clock-forward",
             "the wall clock was set forward by %.1f s; waits are not prolonged, and reading continues", seconds);
  } else if (jump_us < 0) {
    tide_counter_inc(health->clock_set[0]);
    health->must_rouse = TRUE;
    tide_log(TIDE_LOG_WARNING, "clock-back",
             "the wall clock was set back by %.1f s; waking the Kafka client, whose waits depend on it; if brokers "
             "answer but the group's coordinator does not for kafka.session_timeout, the program exits with 75",
             seconds);
  }
  if (!is_running || !health->must_rouse)
    return;
  health->must_rouse = FALSE;
  for (guint i = 0; i < health->parts->consumers->len; i++)
    tide_consumer_rouse(g_ptr_array_index(health->parts->consumers, i));
  tide_dead_letter_queue_rouse(health->parts->dead_letters);
}

/* Measures the message rate and the CPU use. */
static void
measure(TidePipelineHealth *health, gint64 now_us)
{
  struct timespec cpu = {0};
  (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
  gint64 cpu_us = (gint64)cpu.tv_sec * TIDE_US_PER_S + cpu.tv_nsec / 1000;
  guint64 n_received = tide_metrics_sum(health->parts->options.metrics, "tidemark_messages_received_total", NULL);
  (void)tide_rate_add(&health->received, n_received - health->n_received, now_us);
  atomic_store_explicit(&health->received_milli, (gint64)(tide_rate_a_second(health->received, now_us) * 1000),
                        memory_order_relaxed);
  if (health->looked_us > 0 && now_us > health->looked_us)
    atomic_store_explicit(&health->cpu_milli, (cpu_us - health->cpu_us) * 1000 / (now_us - health->looked_us),
                          memory_order_relaxed);
  health->n_received = n_received;
  health->cpu_us = cpu_us;
  health->looked_us = now_us;
}

static void
log_summary(TidePipelineHealth *health, const Totals *totals, const TideLanesState *lanes, gint64 now_us)
{
  TideMetrics *metrics = health->parts->options.metrics;
  TideKafkaLag lag = tide_kafka_watch_lag(health->parts->watch);
  g_autofree char *lag_part = lag_text(&lag);
  TideSummaryFacts facts = {.n_messages = tide_metrics_sum(metrics, "tidemark_messages_received_total", NULL),
                            .n_rows = tide_metrics_sum(metrics, "tidemark_hbase_rows_written_total", NULL),
                            .in_flight_messages = totals->in_flight,
                            .partitions = totals->assigned,
                            .paused_partitions = totals->paused,
                            .troubled_lanes = lanes->troubled_lanes,
                            .lag = lag_part};
  tide_summary_log(&health->summary, &facts, now_us);
}

/* At least 1 while something is paused, even if the wall clock was set back. A pause without effect does not count: it
 * would silence the alert on a daemon that makes no progress. */
static gint64
oldest_pause_seconds(const TidePipelineParts *parts)
{
  g_autoptr(GPtrArray) pauses = tide_pause_watch_list(parts->pause_watch);
  gint64 seconds = 0, now_ms = tide_wall_clock_epoch_ms();
  for (guint i = 0; i < pauses->len; i++) {
    const TideOperatorPause *pause = pauses->pdata[i];
    if (tide_pipeline_parts_pause_has_effect(parts, pause))
      seconds = MAX(seconds, MAX((now_ms - pause->since_ms) / 1000, 1));
  }
  return seconds;
}

void
tide_pipeline_health_watch(TidePipelineHealth *health, gboolean is_running, gint64 now_us)
{
  tide_gauge_set(health->budget_limit, (gint64)tide_budget_limit_racy(&health->parts->budget));
  tide_gauge_set(health->budget_used, (gint64)tide_budget_used_racy(&health->parts->budget));
  TideLanesState lanes = tide_lanes_state(health->parts->lanes);
  tide_gauge_set(health->waiting_rows, (gint64)lanes.waiting_rows);
  tide_gauge_set(health->in_flight_rows, (gint64)lanes.in_flight_rows);
  tide_gauge_set(health->troubled_lanes, lanes.troubled_lanes);
  tide_gauge_set(health->narrowed_lanes, lanes.narrowed_lanes);
  tide_gauge_set(health->probes, lanes.in_flight_probes);
  tide_gauge_set(health->suspended_tables, lanes.suspended_tables);
  watch_regions(health, now_us);
  tide_gauge_set(health->operator_pause, oldest_pause_seconds(health->parts));
  watch_clock(health, is_running);
  if (!is_running)
    return;
  measure(health, now_us);
  Totals totals = total(health, now_us);
  gint64 oldest_us = lanes.oldest_us > 0 && (totals.oldest_us == 0 || lanes.oldest_us < totals.oldest_us)
                         ? lanes.oldest_us
                         : totals.oldest_us;
  tide_gauge_set(health->oldest, oldest_us > 0 ? (now_us - oldest_us) / TIDE_US_PER_MS : 0);
  tide_gauge_set(health->halted, totals.halted);
  tide_gauge_set(health->unlocated, totals.unlocated);
  for (guint bit = 0; bit < TIDE_N_PAUSE_REASONS; bit++)
    tide_gauge_set(health->paused_for[bit], totals.paused_for[bit]);
  watch_stuck_rows(health, &totals, now_us);
  log_troubles(health, now_us);
  log_pauses(health, &totals, now_us);
  if (health->parts->watch != NULL) {
    g_auto(TideKafkaSeen) seen = tide_kafka_watch_seen(health->parts->watch);
    log_brokers(health, &seen, now_us);
    log_group(health, &totals, &seen, now_us);
    if (seen.missing_topics != NULL && may_log(&health->missing_logged_us, now_us))
      tide_log(TIDE_LOG_ERROR, "topics-missing", "%s", seen.missing_topics);
    log_strangers(health, seen.strangers, now_us);
    log_other_tables(health, &totals, &seen, now_us);
    log_goal(health, &seen, now_us);
  }
  log_summary(health, &totals, &lanes, now_us);
}
