/* The source of a consumer's messages. An input assigns partitions, delivers their messages in the order of offsets,
 * and stores commits. Its consumer interprets the messages.
 *
 * Threads: the consumer's only; tide_input_wake() and tide_input_rouse() from any. Handlers are called inside poll and
 * close. */
#pragma once

#include "model/message.h"

G_BEGIN_DECLS

/* Replaces a partition's slot. */
#define TIDE_INPUT_NO_SLOT G_MAXUINT32

/* A message that was delivered, until it is released. */
typedef struct TideInputRecord {
  TideMessage message;
  guint32 slot; /* of its partition, as assigned() gave it */
  gpointer raw; /* owned by the record */
} TideInputRecord;

typedef enum TideInputTrouble {
  TIDE_INPUT_TROUBLE_DAMAGED,   /* bytes with a wrong checksum: librdkafka continues after them */
  TIDE_INPUT_TROUBLE_DENIED,    /* this user may not read the topic, or be in the group; librdkafka retries */
  TIDE_INPUT_TROUBLE_FULL,      /* the group accepts no more members; librdkafka retries */
  TIDE_INPUT_TROUBLE_MISSING,   /* a topic or partition does not exist, or no longer; librdkafka checks again */
  TIDE_INPUT_TROUBLE_POLL,      /* the thread did not poll for max_poll_interval: the group gave its partitions away */
  TIDE_INPUT_TROUBLE_PARTITION, /* librdkafka reported an error for the partition, and retries */
  TIDE_INPUT_TROUBLE_CLIENT,    /* the same for the whole client, for example if brokers are down or refuse it */
  TIDE_INPUT_TROUBLE_FATAL,     /* the client cannot continue: fenced by another with the same group.instance.id, or its
                                 * threads cannot be roused */
} TideInputTrouble;

typedef struct TideInputReport {
  TideInputTrouble kind;
  guint32 slot;     /* NO_SLOT if it concerns no partition of ours */
  const char *text; /* librdkafka's text, or its explanation; never a secret */
  gint64 offset;    /* with DAMAGED: where the damage begins */
} TideInputReport;

/* The state of an assigned partition before it is read. All offsets are of one moment. */
typedef struct TideInputLog {
  gint64 wanted_offset;     /* the next offset, which was not found; -1: the partition was just assigned */
  gint64 committed_offset;  /* -1: nothing is committed */
  TideBytes note;           /* the metadata of that commit; any consumer may have written it */
  gint64 begin_offset;      /* the log contains [begin, end) */
  gint64 end_offset;        /* -1: unknown, as of a file */
  gint64 start_offset;      /* if nothing is committed: where a new group begins (kafka.start) */
  gboolean group_has_begun; /* if nothing is committed: the group has committed offsets of other partitions */
  const char *cluster_id;   /* of the brokers; NULL: unknown */
} TideInputLog;

/* Results of located() other than offsets. */
#define TIDE_INPUT_HALTED (-1)    /* nothing of the partition is read before it is assigned again */
#define TIDE_INPUT_ASK_AGAIN (-2) /* the brokers are asked again soon */

typedef struct TideInputHandlers {
  gpointer data;
  /* A question to the brokers ended, with or without an answer. An assignment asks several. */
  void (*progress)(gpointer data);
  /* A partition is ours from now on. Nothing of it is read before it is located. Returns its slot. */
  guint32 (*assigned)(const char *topic, gint32 partition, gpointer data);
  /* The state of an assigned partition, or of one whose offset was not found. Returns the offset to read next, or one
   * of the above. */
  gint64 (*located)(guint32 slot, const TideInputLog *log, gpointer data);
  /* After each attempt: the number of assigned partitions not located yet, and the reason (NULL: the next attempt is
   * soon). */
  void (*unlocated)(guint n_slots, const char *why, gpointer data);
  /* These were located, and will be fetched when this returns: the moment to commit for them. */
  void (*taking)(const guint32 *slots, gsize n_slots, gpointer data);
  /* They are fetched: the moment to pause them, if necessary. */
  void (*taken)(const guint32 *slots, gsize n_slots, gpointer data);
  void (*assignment_done)(gpointer data);
  /* These partitions are about to be revoked: finish what can be finished, store, and return soon. @lost: they are
   * already revoked, and nothing may be stored. */
  void (*revoking)(const guint32 *slots, gsize n_slots, gboolean lost, gpointer data);
  void (*revoked)(const guint32 *slots, gsize n_slots, gpointer data);
  /* All messages up to @offset have been delivered. */
  void (*reached_end)(guint32 slot, gint64 offset, gpointer data);
  /* A partition for which DENIED was reported may be read again. What is still denied is reported once more after it.
   */
  void (*recovered)(guint32 slot, gpointer data);
  void (*trouble)(const TideInputReport *report, gpointer data);
  /* The result of any commit of @offset. */
  void (*committed)(guint32 slot, gint64 offset, gboolean good, gpointer data);
  /* Part of a commit in the background failed: once for all partitions, after committed(). */
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

  /* The wall clock was set back: wakes threads that wait by it. NULL: none do. Threads: any. */
  void (*rouse)(TideInput *input);

  /* Pausing may discard prefetched messages, which are fetched again on resume: at most once a second. */
  void (*pause)(TideInput *input, guint32 slot);
  void (*resume)(TideInput *input, guint32 slot);

  /* Commits @offset in the background, without a note, at the next commit interval without a rebalance. FALSE: the
   * partition is no longer ours. */
  gboolean (*store)(TideInput *input, guint32 slot, gint64 offset);

  /* Commits in the background, at once. During a cooperative rebalance librdkafka may mistake the broker's refusal for
   * the loss of the assignment: use it only if a note has changed. */
  void (*commit_later)(TideInput *input, const TideInputCommit *commits, gsize n_commits);

  /* Waits for the answer until @deadline_us. FALSE: part of it failed.
   * @ret_problem: (out) (transfer full): why; after a timeout it may still succeed */
  gboolean (*commit)(TideInput *input, const TideInputCommit *commits, gsize n_commits, gint64 deadline_us,
                     char **ret_problem);

  /* Continues these partitions at other offsets, all at once: each call may cost a whole new assignment. Other
   * partitions keep their positions. Stored but uncommitted offsets of these may be forgotten. */
  void (*move)(TideInput *input, const TideInputMove *moves, gsize n_moves);

  /* Makes the partition be located again before more of it is delivered: its log may have been replaced.
   * @wanted_offset: to be read next */
  void (*locate)(TideInput *input, guint32 slot, gint64 wanted_offset);

  /* Returns all partitions; may block while brokers are unavailable, so call it only where others limit the stop. */
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
