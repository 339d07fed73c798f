/* Whether a run to the end is finished: the group must have committed each partition of the topics up to where it ended
 * when the run began, whichever member reads it. Later partitions and topics do not belong to the run.
 *
 * A partition that this process does not read is waited for while the group's offsets move: another member has it, or
 * no broker has reported yet where it is read on. If none moves for longer than a killed member counts as a member
 * (kafka.session_timeout and a margin), the goal is missed.
 *
 * Threads: any, unless noted otherwise. The thread "tide-goal" asks all questions, and waits two seconds for each. */
#pragma once

#include "config/config.h"
#include "kafka/kafka_watch.h"

G_BEGIN_DECLS

typedef enum TideGoalState {
  TIDE_GOAL_UNKNOWN,    /* the brokers have not reported yet where the partitions end */
  TIDE_GOAL_UNKNOWABLE, /* they have not for too long */
  TIDE_GOAL_AHEAD,
  TIDE_GOAL_REACHED, /* all is committed */
  TIDE_GOAL_HALTED,  /* all is, but for partitions that are halted in this process */
  TIDE_GOAL_MISSED,  /* partitions that this process does not read made no progress for too long */
} TideGoalState;

/* ---- the rule, which is pure; threads: one at a time ---- */

typedef enum TideGoalOwner {
  TIDE_GOAL_OF_OTHERS,
  TIDE_GOAL_UNLOCATED, /* ours, but no broker has reported where it is read on */
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
  GArray *parts;      /* owned (element-type TideGoalPart): those that hold messages */
  gint64 progress_us; /* when one that is not at its end moved last, or was read by us; or no answer came */
  gint64 moved_us;    /* when one moved last */
  gint64 patience_us; /* without progress */
} TideGoalRule;

void tide_goal_rule_init(TideGoalRule *rule, gint64 patience_us, gint64 now_us);
void tide_goal_rule_clear(TideGoalRule *rule);
void tide_goal_rule_add(TideGoalRule *rule, const char *topic, gint32 partition, gint64 end);

/* Updates the part at index @i. */
void tide_goal_rule_note(TideGoalRule *rule, guint i, gint64 committed, TideGoalOwner owner, gint64 now_us);

/* @ret_text: (transfer full): which partitions are waited for and how far they are; NULL while they move. Returns: one
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

/* @ret_text: (transfer full) (nullable): what is waited for, or was in vain. NULL @goal: REACHED */
TideGoalState tide_kafka_goal_state(TideKafkaGoal *goal, char **ret_text);

G_END_DECLS
