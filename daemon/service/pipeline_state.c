/* How the pipeline is, for readiness, the status line and the log. */
#include "service/pipeline_private.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/log.h"

/* A thread that has not gone round for this long beyond its longest lawful wait is stuck. */
#define STUCK_US (30 * TIDE_US_PER_S)

typedef struct Totals {
  guint32 assigned, halted, paused;
  guint64 in_flight;
  gint64 oldest_us;
  guint32 n_finished;
  gboolean had_assignment;
  gboolean fatal;
  gboolean denied;
  gboolean stuck;
} Totals;

static Totals
total(TidePipeline *pipeline, gint64 now_us)
{
  Totals totals = {.had_assignment = TRUE};
  for (guint i = 0; i < pipeline->consumers->len; i++) {
    TideConsumerState state = tide_consumer_state_racy(g_ptr_array_index(pipeline->consumers, i));
    totals.assigned += state.assigned;
    totals.halted += state.halted;
    totals.paused += state.paused;
    totals.in_flight += state.in_flight;
    totals.n_finished += state.finished ? 1 : 0;
    totals.had_assignment &= state.had_assignment;
    totals.fatal |= state.fatal;
    totals.denied |= state.denied;
    totals.stuck |= now_us - state.last_round_us > STUCK_US;
    if (state.oldest_us > 0 && (totals.oldest_us == 0 || state.oldest_us < totals.oldest_us))
      totals.oldest_us = state.oldest_us;
  }
  gint64 longest_us = STUCK_US + pipeline->options.config->hbase.call_timeout_ms * TIDE_US_PER_MS;
  for (guint i = 0; i < pipeline->writers->len; i++)
    totals.stuck |= now_us - tide_writer_last_round_us_racy(g_ptr_array_index(pipeline->writers, i)) > longest_us;
  return totals;
}

static char *
halt_text(TidePipeline *pipeline)
{
  for (guint i = 0; i < pipeline->consumers->len; i++) {
    char *text = tide_consumer_halt_text(g_ptr_array_index(pipeline->consumers, i));
    if (text != NULL)
      return text;
  }
  return g_strdup("a partition is halted");
}

static char *
trouble_text(const TideLaneTrouble *trouble, gint64 now_us)
{
  return g_strdup_printf("table '%s', region from '%s', first row key '%s': %" G_GUINT64_FORMAT
                         " rows wait for %" G_GINT64_FORMAT " s, %u calls failed, the last with: %s",
                         trouble->table->name, trouble->region_start, trouble->first_row_key, trouble->waiting_rows,
                         (now_us - trouble->since_us) / TIDE_US_PER_S, trouble->failures, trouble->error_text);
}

static char *
kafka_trouble(TidePipeline *pipeline)
{
  char *text = NULL;
  for (guint i = 0; i < pipeline->consumers->len && text == NULL; i++)
    text = tide_consumer_trouble_text(g_ptr_array_index(pipeline->consumers, i));
  return text;
}

/* A group in which nobody died has given out its partitions by then: brokers let a new one wait for 3 s. */
#define GROUP_WAIT_US (4 * TIDE_US_PER_S)

/* A client that found no broker looks again at the latest after so long (reconnect.backoff.max.ms). */
#define RECONNECT_US (10 * TIDE_US_PER_S)

/* From when on the group can be expected to give out partitions. */
static gint64
group_begins_us(const TidePipeline *pipeline, const TideKafkaAnswers *answers)
{
  gboolean were_silent = answers->since_us - pipeline->joined_us > GROUP_WAIT_US;
  return were_silent ? answers->since_us + RECONNECT_US : pipeline->joined_us;
}

static char *
brokers_text(TidePipeline *pipeline)
{
  g_autofree char *trouble = kafka_trouble(pipeline);
  return g_strdup_printf("no broker of '%s' answers%s%s; they are asked until one does, and no offset moves meanwhile",
                         pipeline->options.config->kafka.brokers, trouble != NULL ? ": " : "",
                         trouble != NULL ? trouble : "");
}

/* Why the group gives out no partitions, as far as that can be told from here. */
static char *
group_text(TidePipeline *pipeline, gint64 now_us)
{
  const TideKafkaConfig *config = &pipeline->options.config->kafka;
  TideKafkaAnswers answers = tide_kafka_watch_answers(pipeline->watch);
  gint64 waited_us = now_us - group_begins_us(pipeline, &answers);
  gint64 left_us = config->session_timeout_ms * TIDE_US_PER_MS - waited_us;
  if (waited_us < GROUP_WAIT_US)
    return g_strdup("no assignment yet");
  if (answers.since_us == 0)
    return brokers_text(pipeline);
  if (left_us < 0)
    return g_strdup_printf("the group '%s' has given out no partitions for %" G_GINT64_FORMAT
                           " s: a member that does not join again is waited for as long as its kafka.max_poll_interval",
                           config->group, waited_us / TIDE_US_PER_S);
  g_autoptr(GDateTime) now = g_date_time_new_now_utc();
  g_autoptr(GDateTime) until = g_date_time_add(now, left_us);
  g_autofree char *time = g_date_time_format(until, "%H:%M:%S");
  return g_strdup_printf("the group '%s' keeps partitions for a member that ended without leaving, a daemon that was "
                         "killed: its kafka.session_timeout is over by %s UTC at the latest",
                         config->group, time);
}

/* Why the program must end by itself, as an exit code; 0: it need not. */
static int
fatal_exit(const TidePipeline *pipeline, const Totals *totals)
{
  if (totals->fatal)
    return TIDE_EXIT_TEMPFAIL;
  if (pipeline->options.config->service.startup == TIDE_STARTUP_WAIT)
    return 0;
  if (totals->denied && !totals->had_assignment)
    return TIDE_EXIT_PERMISSION;
  g_autofree char *missing = NULL;
  (void)tide_kafka_watch_topics(pipeline->watch, &missing);
  gboolean was_ready = atomic_load_explicit(&pipeline->was_ready, memory_order_relaxed);
  return missing != NULL && !was_ready ? TIDE_EXIT_UNAVAILABLE : 0;
}

/* What keeps a running pipeline from being ready; NULL when nothing does. */
static char *
why_not_ready(TidePipeline *pipeline, const Totals *totals, gint64 now_us)
{
  if (!totals->had_assignment || totals->denied) {
    g_autofree char *trouble = kafka_trouble(pipeline);
    g_autofree char *group = group_text(pipeline, now_us);
    return g_strdup_printf("waiting for Kafka: %s", trouble != NULL ? trouble : group);
  }
  char *missing = NULL;
  if (!tide_kafka_watch_topics(pipeline->watch, &missing))
    return g_strdup("waiting for Kafka: no broker has said yet whether the topics exist");
  if (missing != NULL)
    return missing;
  if (totals->halted > 0)
    return halt_text(pipeline);
  char *dead_letters_text = tide_dead_letter_queue_stall_text(pipeline->dead_letters);
  if (dead_letters_text != NULL)
    return dead_letters_text;
  if (tide_gateways_n_up(pipeline->gateways) == 0) {
    g_autofree char *last_error = tide_gateways_last_error(pipeline->gateways);
    return g_strdup_printf("no gateway is usable: %s", last_error != NULL ? last_error : "probing");
  }
  g_autoptr(GPtrArray) troubles = tide_lanes_in_trouble(pipeline->lanes, now_us - TIDE_TROUBLE_US);
  return troubles->len > 0 ? trouble_text(g_ptr_array_index(troubles, 0), now_us) : NULL;
}

/* As part of the status line. */
static char *
lag_text(const TideKafkaLag *lag)
{
  if (!lag->is_known)
    return g_strdup("lag unknown");
  return lag->seconds < 0 ? g_strdup_printf("lag %" G_GINT64_FORMAT " messages", lag->messages)
                          : g_strdup_printf("lag %" G_GINT64_FORMAT " messages, %" G_GINT64_FORMAT " s", lag->messages,
                                            lag->seconds);
}

static void
fill_running_state(TidePipeline *pipeline, TidePipelineState *state)
{
  gint64 now_us = tide_now_us();
  Totals totals = total(pipeline, now_us);
  state->healthy = !totals.stuck;
  state->fatal_exit = fatal_exit(pipeline, &totals);
  state->any_halted = totals.halted > 0;
  state->finished = totals.n_finished == pipeline->consumers->len;
  state->reason = totals.stuck ? g_strdup("a thread has not gone round its loop for too long")
                               : why_not_ready(pipeline, &totals, now_us);
  state->ready = state->reason == NULL;
  if (state->ready)
    atomic_store_explicit(&pipeline->was_ready, TRUE, memory_order_relaxed);
  g_autofree char *detail = state->ready ? NULL : g_strdup_printf("; %s", state->reason);
  TideKafkaLag lag = tide_kafka_watch_lag(pipeline->watch);
  state->unread = lag.is_known ? lag.unread : -1;
  g_autofree char *lag_part = lag_text(&lag);
  state->status =
      g_strdup_printf("%u partitions, %s, in flight %" G_GUINT64_FORMAT " messages, gateways %u/%u up, paused %u%s",
                      totals.assigned, lag_part, totals.in_flight, tide_gateways_n_up(pipeline->gateways),
                      tide_gateways_n(pipeline->gateways), totals.paused, detail != NULL ? detail : "");
}

TidePipelineState
tide_pipeline_state(TidePipeline *pipeline)
{
  TidePipelineState state = {.healthy = TRUE, .unread = -1};
  state.stage = atomic_load_explicit(&pipeline->stage, memory_order_acquire);
  if (state.stage == TIDE_STAGE_RUNNING) {
    fill_running_state(pipeline, &state);
    return state;
  }
  tide_mutex_lock(&pipeline->lock);
  state.reason = g_strdup(pipeline->waiting_for != NULL ? pipeline->waiting_for : "starting");
  tide_mutex_unlock(&pipeline->lock);
  state.status = g_strdup_printf("starting: %s", state.reason);
  return state;
}

void
tide_pipeline_state_clear(TidePipelineState *state)
{
  g_free(state->reason);
  g_free(state->status);
  *state = (TidePipelineState){0};
}

static void
log_troubles(TidePipeline *pipeline, gint64 now_us)
{
  if (now_us - pipeline->trouble_logged_us < TIDE_TROUBLE_US)
    return;
  g_autoptr(GPtrArray) troubles = tide_lanes_in_trouble(pipeline->lanes, now_us - TIDE_TROUBLE_US);
  if (troubles->len == 0)
    return;
  pipeline->trouble_logged_us = now_us;
  for (guint i = 0; i < troubles->len; i++) {
    const TideLaneTrouble *trouble = g_ptr_array_index(troubles, i);
    g_autofree char *text = trouble_text(trouble, now_us);
    const TideLogField fields[] = {{"TABLE", trouble->table->name}, {"ROW", trouble->first_row_key}};
    tide_log_fields(trouble->is_suspended ? TIDE_LOG_CRIT : TIDE_LOG_ERROR, fields, G_N_ELEMENTS(fields),
                    "%s; it is sent again until it is written, offsets stay where they are", text);
  }
}

/* Whether what was logged at @logged_us (0: never) need not be told again yet. */
static gboolean
was_just_logged(gint64 logged_us, gint64 now_us)
{
  return logged_us > 0 && now_us - logged_us < TIDE_TROUBLE_US;
}

static void
log_group(TidePipeline *pipeline, const Totals *totals, gint64 now_us)
{
  TideKafkaAnswers answers = tide_kafka_watch_answers(pipeline->watch);
  if (totals->had_assignment || totals->denied || answers.since_us == 0 || !answers.has_topics)
    return; /* there is no group that anybody could wait for, or another line says why */
  if (now_us - group_begins_us(pipeline, &answers) < GROUP_WAIT_US ||
      was_just_logged(pipeline->group_logged_us, now_us))
    return;
  pipeline->group_logged_us = now_us;
  g_autofree char *text = group_text(pipeline, now_us);
  tide_log(TIDE_LOG_NOTICE, "waiting for partitions: %s", text);
}

static void
log_brokers(TidePipeline *pipeline, gint64 now_us)
{
  if (tide_kafka_watch_answers(pipeline->watch).since_us > 0) {
    if (pipeline->brokers_logged_us > 0)
      tide_log(TIDE_LOG_NOTICE, "the brokers answer after %" G_GINT64_FORMAT " s",
               (now_us - pipeline->brokers_silent_us) / TIDE_US_PER_S);
    pipeline->brokers_silent_us = pipeline->brokers_logged_us = 0;
    return;
  }
  if (pipeline->brokers_silent_us == 0)
    pipeline->brokers_silent_us = now_us;
  if (now_us - pipeline->brokers_silent_us < GROUP_WAIT_US || was_just_logged(pipeline->brokers_logged_us, now_us))
    return;
  pipeline->brokers_logged_us = now_us;
  g_autofree char *text = brokers_text(pipeline);
  tide_log(TIDE_LOG_WARNING, "%s", text);
}

static void
log_missing_topics(TidePipeline *pipeline, gint64 now_us)
{
  g_autofree char *missing = NULL;
  (void)tide_kafka_watch_topics(pipeline->watch, &missing);
  if (missing == NULL || was_just_logged(pipeline->missing_logged_us, now_us))
    return;
  pipeline->missing_logged_us = now_us;
  tide_log(TIDE_LOG_ERROR, "%s", missing);
}

void
tide_pipeline_watch(TidePipeline *pipeline, gint64 now_us)
{
  tide_gauge_set(pipeline->budget_used, (gint64)tide_budget_used_racy(&pipeline->budget));
  TideLanesState lanes = tide_lanes_state(pipeline->lanes);
  tide_gauge_set(pipeline->waiting_rows, (gint64)lanes.waiting_rows);
  tide_gauge_set(pipeline->in_flight_rows, (gint64)lanes.in_flight_rows);
  tide_gauge_set(pipeline->troubled_lanes, lanes.troubled_lanes);
  tide_gauge_set(pipeline->narrowed_lanes, lanes.narrowed_lanes);
  tide_gauge_set(pipeline->probes, lanes.in_flight_probes);
  tide_gauge_set(pipeline->suspended_tables, lanes.suspended_tables);
  if (atomic_load_explicit(&pipeline->stage, memory_order_acquire) != TIDE_STAGE_RUNNING)
    return;
  Totals totals = total(pipeline, now_us);
  gint64 oldest_us = lanes.oldest_us > 0 && (totals.oldest_us == 0 || lanes.oldest_us < totals.oldest_us)
                         ? lanes.oldest_us
                         : totals.oldest_us;
  tide_gauge_set(pipeline->oldest, oldest_us > 0 ? (now_us - oldest_us) / TIDE_US_PER_MS : 0);
  tide_gauge_set(pipeline->halted, totals.halted);
  log_troubles(pipeline, now_us);
  log_brokers(pipeline, now_us);
  log_group(pipeline, &totals, now_us);
  log_missing_topics(pipeline, now_us);
}
