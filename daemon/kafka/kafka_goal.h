/* Decides whether a run to the end has finished: the group must have committed each partition up to the end that it had
 * when the run began, whichever member reads it. Partitions and topics created later do not belong to the run.
 *
 * A partition that this process does not read is waited for while the group's offsets move: another member reads it, or
 * no broker has reported its start offset yet. If no offset moves for longer than a killed member stays in the group
 * (kafka.session_timeout and a margin), the goal is missed.
 *
 * Threads: any, unless noted otherwise. The thread "tide-goal" asks all questions, and waits two seconds for each. */
#pragma once

#include "config/config.h"
#include "kafka/kafka_watch.h"

G_BEGIN_DECLS

typedef enum TideGoalState {
  TIDE_GOAL_UNKNOWN,    /* the brokers have not reported the partitions' ends yet */
  TIDE_GOAL_UNKNOWABLE, /* they have not reported them for too long */
  TIDE_GOAL_AHEAD,
  TIDE_GOAL_REACHED, /* every partition is committed */
  TIDE_GOAL_HALTED,  /* every partition is, except those halted in this process */
  TIDE_GOAL_MISSED,  /* partitions that this process does not read made no progress for too long */
} TideGoalState;

/* ---- the rule: pure functions; threads: one at a time ---- */

typedef enum TideGoalOwner {
  TIDE_GOAL_OF_OTHERS,
  TIDE_GOAL_UNLOCATED, /* ours, but no broker has reported its start offset */
  TIDE_GOAL_OURS,
  TIDE_GOAL_OURS_HALTED, /* until an operator acts */
} TideGoalOwner;

typedef struct TideGoalPart {
  char *topic; /* owned */
  gint32 partition;
  gint64 end;
  gint64 committed; /* by the group; -1: nothing, or not known yet */
  TideGoalOwner owner;
} TideGoalPart;

typedef struct TideGoalRule {
  GArray *parts;      /* owned (element-type TideGoalPart): the partitions with messages */
  gint64 progress_us; /* the last time an offset moved, an unfinished partition was ours, or an answer failed */
  gint64 moved_us;    /* the last time a committed offset moved */
  gint64 patience_us; /* the longest time without progress */
} TideGoalRule;

void tide_goal_rule_init(TideGoalRule *rule, gint64 patience_us, gint64 now_us);
void tide_goal_rule_clear(TideGoalRule *rule);
void tide_goal_rule_add(TideGoalRule *rule, const char *topic, gint32 partition, gint64 end);

/* Updates the part at index @i. */
void tide_goal_rule_note(TideGoalRule *rule, guint i, gint64 committed, TideGoalOwner owner, gint64 now_us);

/* @ret_text: (transfer full): the partitions waited for and their offsets; NULL while they move. Returns: one
 * of the last four */
TideGoalState tide_goal_rule_judge(const TideGoalRule *rule, const char *group, gint64 now_us, char **ret_text);

/* ---- the questions ---- */

typedef struct TideKafkaGoal TideKafkaGoal;

/* @config, @watch: borrowed; the watch knows the partitions of this process. */
TideKafkaGoal *tide_kafka_goal_new(const TideKafkaConfig *config, TideKafkaWatch *watch);
/* Connects and starts the thread; does not wait for brokers. Errors: CONFIG. */
gboolean tide_kafka_goal_start(TideKafkaGoal *goal, GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* Asks the thread to end, which it does after its current question. NULL ok */
void tide_kafka_goal_stop(TideKafkaGoal *goal);
void tide_kafka_goal_free(TideKafkaGoal *goal); /* joins first; NULL ok */

/* @ret_text: (transfer full) (nullable): the partitions waited for, or missed. NULL @goal: REACHED */
TideGoalState tide_kafka_goal_state(TideKafkaGoal *goal, char **ret_text);

G_END_DECLS
