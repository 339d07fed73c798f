/* Where a consumer's messages come from, as the consumer sees it. An input assigns partitions, hands out their messages
 * in the order of their offsets, and keeps what is committed; what a message means is its consumer's business.
 *
 * Threads: the consumer's only; tide_input_wake() and tide_input_rouse() from any. Handlers are called inside of poll
 * and close. */
#pragma once

#include "model/message.h"

G_BEGIN_DECLS

/* In the place of a partition's slot. */
#define TIDE_INPUT_NO_SLOT G_MAXUINT32

/* A message in hand, until released. */
typedef struct TideInputRecord {
  TideMessage message;
  guint32 slot; /* of its partition, as assigned() gave it */
  gpointer raw; /* owned by the record */
} TideInputRecord;

typedef enum TideInputTrouble {
  TIDE_INPUT_TROUBLE_DAMAGED,   /* bytes that no checksum agrees with: librdkafka goes on behind them */
  TIDE_INPUT_TROUBLE_DENIED,    /* this user may not read the topic, or be in the group; it is tried again */
  TIDE_INPUT_TROUBLE_FULL,      /* the group takes no more members; it is tried again */
  TIDE_INPUT_TROUBLE_MISSING,   /* a topic or partition is not there, or no more; it is looked for again */
  TIDE_INPUT_TROUBLE_POLL,      /* the thread did not poll for max_poll_interval: the group gave its partitions away */
  TIDE_INPUT_TROUBLE_PARTITION, /* librdkafka reported an error for the partition; it goes on trying */
  TIDE_INPUT_TROUBLE_CLIENT,    /* the same for the client as a whole, e.g. brokers that are down, or that refuse us */
  TIDE_INPUT_TROUBLE_FATAL,     /* the client cannot go on: fenced by another with the same group.instance.id, or its
                                 * threads cannot be roused */
} TideInputTrouble;

typedef struct TideInputReport {
  TideInputTrouble kind;
  guint32 slot;     /* NO_SLOT when it concerns no partition of ours */
  const char *text; /* what librdkafka says, or what it means; never a secret */
  gint64 offset;    /* with DAMAGED: where the damage begins */
} TideInputReport;

/* What is known of an assigned partition before any of it is read. All offsets are borrowed facts of one moment. */
typedef struct TideInputLog {
  gint64 wanted_offset;     /* that was being read and was not found; -1: the partition was just assigned */
  gint64 committed_offset;  /* -1: nothing is committed */
  TideBytes note;           /* what was committed beside that offset; may be anybody's */
  gint64 begin_offset;      /* what the log holds: [begin, end) */
  gint64 end_offset;        /* -1: unknown, as of a file */
  gint64 start_offset;      /* if nothing is committed: where a group begins that is new (kafka.start) */
  gboolean group_has_begun; /* if nothing is committed: the group has committed offsets of other partitions */
  const char *cluster_id;   /* of the brokers; NULL: unknown */
} TideInputLog;

/* What located() returns in place of an offset. */
#define TIDE_INPUT_HALTED (-1)    /* nothing of the partition is read before it is assigned again */
#define TIDE_INPUT_ASK_AGAIN (-2) /* its log is looked at once more, soon */

typedef struct TideInputHandlers {
  gpointer data;
  /* A question to the brokers is answered, or was given up: several are asked where partitions are assigned. */
  void (*progress)(gpointer data);
  /* A partition is ours from now on. Nothing of it is read before it is located. Returns its slot. */
  guint32 (*assigned)(const char *topic, gint32 partition, gpointer data);
  /* Where an assigned partition, or one whose offset was not found, stands. Returns the offset to read next, or one of
   * the above. */
  gint64 (*located)(guint32 slot, const TideInputLog *log, gpointer data);
  /* After each look: how many assigned partitions are not located yet, and why not (NULL: they are looked at again
   * soon). */
  void (*unlocated)(guint n_slots, const char *why, gpointer data);
  /* These were located, and will be fetched when this returns: the moment to commit for them. */
  void (*taking)(const guint32 *slots, gsize n_slots, gpointer data);
  /* They are fetched: the moment to pause them, if they must. */
  void (*taken)(const guint32 *slots, gsize n_slots, gpointer data);
  void (*assignment_done)(gpointer data);
  /* These partitions are about to be taken away: finish what can be finished, store, and return soon. @lost: they are
   * already gone, nothing may be stored. */
  void (*revoking)(const guint32 *slots, gsize n_slots, gboolean lost, gpointer data);
  void (*revoked)(const guint32 *slots, gsize n_slots, gpointer data);
  /* All messages up to @offset have been handed out. */
  void (*reached_end)(guint32 slot, gint64 offset, gpointer data);
  /* A partition for which DENIED was reported is read again. */
  void (*recovered)(guint32 slot, gpointer data);
  void (*trouble)(const TideInputReport *report, gpointer data);
  /* How a commit of @offset ended, whoever asked for it. */
  void (*committed)(guint32 slot, gint64 offset, gboolean good, gpointer data);
  /* Some of a commit in the background failed: once for all partitions, after committed(). */
  void (*commit_failed)(const char *text, gpointer data);
} TideInputHandlers;

typedef struct TideInputCommit {
  guint32 slot;
  gint64 offset;    /* one past the last finished message */
  const char *note; /* borrowed: committed as the offset's metadata */
} TideInputCommit;

typedef struct TideInputMove {
  guint32 slot;
  gint64 offset; /* of the message to be read next */
} TideInputMove;

typedef struct TideInput TideInput;

typedef struct TideInputFuncs {
  /* TRUE with a message, which must be released before the next poll. */
  gboolean (*poll)(TideInput *input, int timeout_ms, TideInputRecord *ret_record);
  void (*release)(TideInput *input, TideInputRecord *record);

  /* Makes a waiting poll return. Threads: any. */
  void (*wake)(TideInput *input);

  /* The wall clock was set back: wakes what waits by it. NULL: nothing does. Threads: any. */
  void (*rouse)(TideInput *input);

  /* Pausing may throw prefetched messages away, which are fetched again on resume: at most once a second. */
  void (*pause)(TideInput *input, guint32 slot);
  void (*resume)(TideInput *input, guint32 slot);

  /* @offset is committed in the background, without a note, at the next commit interval at which no rebalance is under
   * way. FALSE when the partition is no longer ours. */
  gboolean (*store)(TideInput *input, guint32 slot, gint64 offset);

  /* In the background, at once. In the middle of a cooperative rebalance librdkafka may take the broker's refusal for
   * the loss of the assignment: only as often as there is something to note. */
  void (*commit_later)(TideInput *input, const TideInputCommit *commits, gsize n_commits);

  /* Waits for the answer until @deadline_us. FALSE when some of it failed.
   * @ret_problem: (out) (transfer full): why; it may still come to pass when the answer did not come in time */
  gboolean (*commit)(TideInput *input, const TideInputCommit *commits, gsize n_commits, gint64 deadline_us,
                     char **ret_problem);

  /* Goes on reading these partitions elsewhere, all at once: each call may cost a whole new assignment. Other
   * partitions go on where they are. What was stored of these and is not committed yet may be forgotten. */
  void (*move)(TideInput *input, const TideInputMove *moves, gsize n_moves);

  /* Has the partition located once more before anything else of it is handed out: its log may have been replaced.
   * @wanted_offset: what is to be read next */
  void (*locate)(TideInput *input, guint32 slot, gint64 wanted_offset);

  /* Gives all partitions back; may block while brokers are gone, so callers run it where a stop is bounded by others.
   */
  void (*close)(TideInput *input);
  void (*free)(TideInput *input);
} TideInputFuncs;

/* The beginning of each input's own struct. */
struct TideInput {
  const TideInputFuncs *funcs;
};

static inline gboolean
tide_input_poll(TideInput *input, int timeout_ms, TideInputRecord *ret_record)
{
  return input->funcs->poll(input, timeout_ms, ret_record);
}

static inline void
tide_input_release(TideInput *input, TideInputRecord *record)
{
  input->funcs->release(input, record);
}

static inline void
tide_input_wake(TideInput *input)
{
  input->funcs->wake(input);
}

static inline void
tide_input_rouse(TideInput *input)
{
  if (input->funcs->rouse != NULL)
    input->funcs->rouse(input);
}

static inline void
tide_input_pause(TideInput *input, guint32 slot)
{
  input->funcs->pause(input, slot);
}

static inline void
tide_input_resume(TideInput *input, guint32 slot)
{
  input->funcs->resume(input, slot);
}

static inline gboolean
tide_input_store(TideInput *input, guint32 slot, gint64 offset)
{
  return input->funcs->store(input, slot, offset);
}

static inline void
tide_input_commit_later(TideInput *input, const TideInputCommit *commits, gsize n_commits)
{
  input->funcs->commit_later(input, commits, n_commits);
}

static inline gboolean G_GNUC_WARN_UNUSED_RESULT
tide_input_commit(TideInput *input, const TideInputCommit *commits, gsize n_commits, gint64 deadline_us,
                  char **ret_problem)
{
  return input->funcs->commit(input, commits, n_commits, deadline_us, ret_problem);
}

static inline void
tide_input_move(TideInput *input, const TideInputMove *moves, gsize n_moves)
{
  input->funcs->move(input, moves, n_moves);
}

static inline void
tide_input_locate(TideInput *input, guint32 slot, gint64 wanted_offset)
{
  input->funcs->locate(input, slot, wanted_offset);
}

static inline void
tide_input_close(TideInput *input)
{
  input->funcs->close(input);
}

static inline void
tide_input_free(TideInput *input) /* NULL ok */
{
  if (input != NULL)
    input->funcs->free(input);
}

G_END_DECLS
