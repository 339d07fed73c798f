#include "kafka/kafka_goal.h"

#include "kafka/kafka_client.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/lock.h"

#define ROUND_US TIDE_US_PER_S
#define QUESTION_MS 2000

/* Beyond kafka.session_timeout: time for the remaining members to notice, rejoin and resume reading. */
#define MARGIN_US (15 * TIDE_US_PER_S)

/* Shorter waits for other members occur in every rebalance and are not reported. */
#define REBALANCE_US (5 * TIDE_US_PER_S)
/* Offsets of ours that do not move are reported after this time: a commit normally takes seconds. */
#define OURS_US (30 * TIDE_US_PER_S)

/* Maximum number of partitions that the text names. */
#define MAX_NAMED 10

struct TideKafkaGoal {
  /* set before start, then read-only */
  const TideKafkaConfig *config; /* borrowed */
  TideKafkaWatch *watch;         /* borrowed */
  TideKafkaClient *client;
  TideThread *thread;
  /* its thread only */
  TideGoalRule rule;
  gboolean is_set; /* the ends are known */
  /* under lock */
  TideMutex lock;
  TideCond stop_asked;
  gboolean is_stopping;
  TideGoalState state;
  char *text; /* owned; NULL: nothing is waited for */
};

/* ---- the rule ---- */

static void
clear_part(gpointer data)
{
  TideGoalPart *part = data;
  g_free(part->topic);
}

void
tide_goal_rule_init(TideGoalRule *rule, gint64 patience_us, gint64 now_us)
{
  *rule = (TideGoalRule){.parts = g_array_new(FALSE, TRUE, sizeof(TideGoalPart)),
                         .patience_us = patience_us,
                         .progress_us = now_us,
                         .moved_us = now_us};
  g_array_set_clear_func(rule->parts, clear_part);
}

void
tide_goal_rule_clear(TideGoalRule *rule)
{
  g_array_unref(rule->parts);
}

void
tide_goal_rule_add(TideGoalRule *rule, const char *topic, gint32 partition, gint64 end)
{
  TideGoalPart part = {.topic = g_strdup(topic), .partition = partition, .end = end, .committed = -1};
  g_array_append_val(rule->parts, part);
}

/* A halted partition waits for an operator, not for the group. */
static gboolean
is_left(const TideGoalPart *part)
{
  return part->committed < part->end && part->owner != TIDE_GOAL_OURS_HALTED;
}

void
tide_goal_rule_note(TideGoalRule *rule, guint i, gint64 committed, TideGoalOwner owner, gint64 now_us)
{
  TideGoalPart *part = &g_array_index(rule->parts, TideGoalPart, i);
  gboolean has_moved = committed != part->committed;
  part->committed = committed;
  part->owner = owner;
  if (has_moved)
    rule->moved_us = now_us;
  if (has_moved || (owner == TIDE_GOAL_OURS && is_left(part)))
    rule->progress_us = now_us;
}

/* The names of @owner's parts that are not at their end. (transfer full) */
static char *
name_left(const TideGoalRule *rule, TideGoalOwner owner, guint n_left)
{
  GString *names = g_string_new(NULL);
  guint n_named = 0;
  for (guint i = 0; i < rule->parts->len && n_named < MAX_NAMED; i++) {
    const TideGoalPart *part = &g_array_index(rule->parts, TideGoalPart, i);
    if (part->owner == owner && is_left(part))
      g_string_append_printf(names, "%s'%s' %d at %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT, n_named++ > 0 ? ", " : "",
                             part->topic, part->partition, MAX(part->committed, 0), part->end);
  }
  if (n_left > n_named)
    g_string_append_printf(names, " and %u more", n_left - n_named);
  return g_string_free(names, FALSE);
}

static void
describe_others(const TideGoalRule *rule, guint n_left, const char *group, gint64 waited_us, GString *text)
{
  g_autofree char *names = name_left(rule, TIDE_GOAL_OF_OTHERS, n_left);
  g_string_append_printf(
      text,
      "%u of %u partitions with messages are not assigned to this run, and their committed offsets have not moved for "
      "%" G_GINT64_FORMAT " s: %s; another member of the group '%s' has them, or a rebalance has not ended "
      "('kafka-consumer-groups --describe --members --group %s' shows the members); %s",
      n_left, rule->parts->len, waited_us / TIDE_US_PER_S, names, group, group,
      waited_us < rule->patience_us ? "a killed member counts until its kafka.session_timeout is over"
                                    : "run again once they are gone");
}

static void
describe_unlocated(const TideGoalRule *rule, guint n_left, gint64 waited_us, GString *text)
{
  g_autofree char *names = name_left(rule, TIDE_GOAL_UNLOCATED, n_left);
  g_string_append_printf(
      text,
      "%s%u of %u partitions with messages are assigned to this run, and for %" G_GINT64_FORMAT
      " s the brokers have not reported their start offsets: %s; 'kafka-topics --describe --unavailable-partitions' "
      "shows those without a leader, and the log shows the brokers' answers; %s",
      text->len > 0 ? "; " : "", n_left, rule->parts->len, waited_us / TIDE_US_PER_S, names,
      waited_us < rule->patience_us ? "retrying" : "run again once the brokers answer");
}

TideGoalState
tide_goal_rule_judge(const TideGoalRule *rule, const char *group, gint64 now_us, char **ret_text)
{
  gint64 waited_us = now_us - rule->progress_us;
  guint n_left[TIDE_GOAL_OURS_HALTED + 1] = {0}, n_halted = 0;
  *ret_text = NULL;
  for (guint i = 0; i < rule->parts->len; i++) {
    const TideGoalPart *part = &g_array_index(rule->parts, TideGoalPart, i);
    n_left[part->owner] += is_left(part) ? 1 : 0;
    n_halted += !is_left(part) && part->committed < part->end ? 1 : 0;
  }
  if (n_left[TIDE_GOAL_OF_OTHERS] + n_left[TIDE_GOAL_UNLOCATED] + n_left[TIDE_GOAL_OURS] == 0)
    return n_halted > 0 ? TIDE_GOAL_HALTED : TIDE_GOAL_REACHED;
  if (n_left[TIDE_GOAL_OURS] > 0) {
    /* Messages that were read and not committed wait for HBase, or for hbase.uncertain_timeout after an unanswered
     * call. Either wait may last, and ends automatically. */
    gint64 still_us = now_us - rule->moved_us;
    g_autofree char *names = name_left(rule, TIDE_GOAL_OURS, n_left[TIDE_GOAL_OURS]);
    if (still_us >= OURS_US)
      *ret_text =
          g_strdup_printf("%u of %u partitions with messages are read by this run, but their committed offsets have "
                          "not moved for %" G_GINT64_FORMAT " s: %s",
                          n_left[TIDE_GOAL_OURS], rule->parts->len, still_us / TIDE_US_PER_S, names);
    return TIDE_GOAL_AHEAD;
  }
  if (waited_us < REBALANCE_US)
    return TIDE_GOAL_AHEAD;
  GString *text = g_string_new(NULL);
  if (n_left[TIDE_GOAL_OF_OTHERS] > 0)
    describe_others(rule, n_left[TIDE_GOAL_OF_OTHERS], group, waited_us, text);
  if (n_left[TIDE_GOAL_UNLOCATED] > 0)
    describe_unlocated(rule, n_left[TIDE_GOAL_UNLOCATED], waited_us, text);
  *ret_text = g_string_free(text, FALSE);
  return waited_us < rule->patience_us ? TIDE_GOAL_AHEAD : TIDE_GOAL_MISSED;
}

/* ---- the questions ---- */

TideKafkaGoal *
tide_kafka_goal_new(const TideKafkaConfig *config, TideKafkaWatch *watch)
{
  TideKafkaGoal *goal = g_new0(TideKafkaGoal, 1);
  goal->config = config;
  goal->watch = watch;
  tide_goal_rule_init(&goal->rule, config->session_timeout_ms * TIDE_US_PER_MS + MARGIN_US, tide_now_us());
  tide_mutex_init(&goal->lock);
  tide_cond_init(&goal->stop_asked);
  return goal;
}

/* Asks for the offsets of @list at @which (RD_KAFKA_OFFSET_BEGINNING or _END). For a consumer of committed messages,
 * the end is the last stable offset. */
static gboolean
ask_offsets(TideKafkaGoal *goal, rd_kafka_topic_partition_list_t *list, gint64 which, GError **error)
{
  rd_kafka_resp_err_t problem =
      tide_kafka_ask_offsets(tide_kafka_client_handle(goal->client), list, which, QUESTION_MS);
  if (problem != RD_KAFKA_RESP_ERR_NO_ERROR) {
    tide_kafka_client_set_error(goal->client, problem, error);
    return FALSE;
  }
  for (int i = 0; i < list->cnt; i++)
    if (list->elems[i].err != RD_KAFKA_RESP_ERR_NO_ERROR)
      return tide_fail(error, TIDE_ERROR_KAFKA, "the brokers do not report the end of topic '%s' partition %d: %s",
                       list->elems[i].topic, list->elems[i].partition, rd_kafka_err2str(list->elems[i].err));
  return TRUE;
}

/* The ends of all partitions that hold messages. */
static gboolean
set_goal(TideKafkaGoal *goal, GError **error)
{
  g_autoptr(rd_kafka_topic_partition_list_t) begins =
      tide_kafka_client_list(goal->client, goal->config, goal->config->topics, FALSE, QUESTION_MS, error);
  if (begins == NULL)
    return FALSE;
  g_autoptr(rd_kafka_topic_partition_list_t) ends = rd_kafka_topic_partition_list_copy(begins);
  goal->is_set = ask_offsets(goal, begins, RD_KAFKA_OFFSET_BEGINNING, error) &&
                 ask_offsets(goal, ends, RD_KAFKA_OFFSET_END, error);
  for (int i = 0; goal->is_set && i < ends->cnt; i++)
    if (begins->elems[i].offset < ends->elems[i].offset)
      tide_goal_rule_add(&goal->rule, ends->elems[i].topic, ends->elems[i].partition, ends->elems[i].offset);
  return goal->is_set;
}

/* @views: of the partitions that are assigned to this process */
static TideGoalOwner
owner_of(const GArray *views, const rd_kafka_topic_partition_t *at)
{
  for (guint i = 0; i < views->len; i++) {
    const TidePartitionView *view = &g_array_index(views, TidePartitionView, i);
    if (view->partition != at->partition || strcmp(view->topic, at->topic) != 0)
      continue;
    if (view->halt_text != NULL)
      return TIDE_GOAL_OURS_HALTED;
    return view->is_located ? TIDE_GOAL_OURS : TIDE_GOAL_UNLOCATED;
  }
  return TIDE_GOAL_OF_OTHERS;
}

/* Asks for the group's offsets, and notes which partitions are ours. */
static gboolean
ask_group(TideKafkaGoal *goal, GError **error)
{
  TideGoalRule *rule = &goal->rule;
  g_autoptr(rd_kafka_topic_partition_list_t) list = rd_kafka_topic_partition_list_new((int)rule->parts->len);
  for (guint i = 0; i < rule->parts->len; i++) {
    const TideGoalPart *part = &g_array_index(rule->parts, TideGoalPart, i);
    rd_kafka_topic_partition_list_add(list, part->topic, part->partition);
  }
  rd_kafka_resp_err_t problem = RD_KAFKA_RESP_ERR_NO_ERROR;
  if (list->cnt > 0)
    problem =
        tide_kafka_first_error(rd_kafka_committed(tide_kafka_client_handle(goal->client), list, QUESTION_MS), list);
  if (problem != RD_KAFKA_RESP_ERR_NO_ERROR) {
    rule->progress_us = tide_now_us(); /* progress is unknown without an answer */
    return tide_fail(error, TIDE_ERROR_KAFKA,
                     "the brokers do not report the committed offsets of group '%s': %s; retrying", goal->config->group,
                     rd_kafka_err2str(problem));
  }
  gint64 now_us = tide_now_us();
  g_autoptr(GArray) views = tide_kafka_watch_view(goal->watch);
  for (int i = 0; i < list->cnt; i++)
    tide_goal_rule_note(rule, (guint)i, MAX(list->elems[i].offset, -1), owner_of(views, &list->elems[i]), now_us);
  return TRUE;
}

static void
look(TideKafkaGoal *goal)
{
  g_autoptr(GError) error = NULL;
  TideGoalState state = TIDE_GOAL_AHEAD;
  char *text = NULL;
  if (!goal->is_set && !set_goal(goal, &error)) {
    gboolean is_late = tide_now_us() - goal->rule.progress_us >= goal->rule.patience_us;
    state = is_late ? TIDE_GOAL_UNKNOWABLE : TIDE_GOAL_UNKNOWN;
    text = g_strdup_printf("the ends of the topics are unknown: %s", error->message);
  } else if (ask_group(goal, &error))
    state = tide_goal_rule_judge(&goal->rule, goal->config->group, tide_now_us(), &text);
  else
    text = g_strdup(error->message);
  tide_mutex_lock(&goal->lock);
  g_free(goal->text);
  goal->text = text;
  goal->state = state;
  tide_mutex_unlock(&goal->lock);
}

/* The owner function of "tide-goal". */
static void
run_goal(gpointer data)
{
  TideKafkaGoal *goal = data;
  for (gboolean goes_on = TRUE; goes_on;) {
    look(goal);
    gint64 next_round_us = tide_now_us() + ROUND_US;
    tide_mutex_lock(&goal->lock);
    while (!goal->is_stopping && tide_now_us() < next_round_us)
      tide_cond_wait_until(&goal->stop_asked, &goal->lock, next_round_us);
    goes_on = !goal->is_stopping;
    tide_mutex_unlock(&goal->lock);
  }
}

gboolean
tide_kafka_goal_start(TideKafkaGoal *goal, GError **error)
{
  goal->client = tide_kafka_client_new(goal->config, goal->config->group, NULL, error);
  if (goal->client == NULL)
    return FALSE;
  goal->rule.progress_us = tide_now_us();
  goal->thread = tide_thread_start("tide-goal", run_goal, goal);
  return TRUE;
}

void
tide_kafka_goal_stop(TideKafkaGoal *goal)
{
  if (goal == NULL)
    return;
  tide_mutex_lock(&goal->lock);
  goal->is_stopping = TRUE;
  tide_cond_signal(&goal->stop_asked);
  tide_mutex_unlock(&goal->lock);
}

void
tide_kafka_goal_free(TideKafkaGoal *goal)
{
  if (goal == NULL)
    return;
  tide_kafka_goal_stop(goal);
  tide_thread_join(goal->thread);
  tide_kafka_client_free(goal->client);
  tide_goal_rule_clear(&goal->rule);
  tide_cond_clear(&goal->stop_asked);
  tide_mutex_clear(&goal->lock);
  g_free(goal->text);
  g_free(goal);
}

TideGoalState
tide_kafka_goal_state(TideKafkaGoal *goal, char **ret_text)
{
  *ret_text = NULL;
  if (goal == NULL)
    return TIDE_GOAL_REACHED;
  tide_mutex_lock(&goal->lock);
  TideGoalState state = goal->state;
  *ret_text = g_strdup(goal->text);
  tide_mutex_unlock(&goal->lock);
  return state;
}
