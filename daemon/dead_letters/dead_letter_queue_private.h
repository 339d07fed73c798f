/* The dead letter queue's own fields, shared by dead_letter_queue.c, which starts and stops it, and
 * dead_letter_queue_work.c, its thread. Nobody else includes this. */
#pragma once

#include "dead_letters/dead_letter_file.h"
#include "dead_letters/dead_letter_ratio.h"
#include "dead_letters/dead_letter_reasons.h"
#include "dead_letters/kafka_dead_letters.h"
#include "dead_letters/kafka_originals.h"

G_BEGIN_DECLS

/* Jobs that wait for one thing, and how its failures are dealt with. */
typedef struct TideDeadLetterStage {
  TideDeadLetterJobs jobs;
  guint32 n_failures; /* in a row */
  gint64 next_us;     /* not before this */
  gint64 logged_us;
} TideDeadLetterStage;

struct TideDeadLetterQueue {
  /* set before start, then read-only */
  TideDeadLetterQueueContext context;
  char *path; /* owned: of the file; NULL: none */
  TideThread *thread;
  TideCounter *bytes;
  TideCounter *retries;
  TideCounter *torn_bytes;
  TideCounter *given_up;
  TideCounter *gone;
  TideGauge *waiting;
  TideGauge *stalled_gauge;

  /* the dead-letter thread only (but before start and after stop) */
  TideWireProtocol protocol;
  TideDeadLetterFile *file;
  TideKafkaDeadLetters *topic; /* owned; NULL: a file is used */
  TideKafkaOriginals *originals;
  TideDeadLetterStage to_read;
  TideDeadLetterStage to_keep;
  TideDeadLetterStage to_send_again; /* those that the topic did not take */
  TideDeadLetterStage too_large;     /* those that it does not take for their own size, while it takes others */
  TideDeadLetterRatio ratio;
  TideDeadLetterJobs beyond_max_ratio; /* those beyond max_ratio: until it is raised, or the end */
  TideDeadLetterReasons *reasons;      /* owned */
  TideDeadLetterRatioPart excess;      /* with too_many: the window, when they became so */
  TideDeadLetterRatioPart since;       /* with too_many: what came and was written since */
  gboolean has_more;                   /* with too_many: the stall's text does not tell of it yet */
  TideBuffer lines;

  /* any thread */
  _Atomic guint64 received;
  _Atomic guint64 written;
  _Atomic gboolean stopping;
  _Atomic gboolean must_reconnect; /* to the topic */
  _Atomic gboolean is_stalled;
  _Atomic gboolean too_many; /* above max_ratio: until that is raised nothing more passes */

  /* under lock */
  TideMutex lock;
  TideCond work;
  TideDeadLetterJobs incoming;
  gboolean is_at_rest; /* what is not incoming waits for max_ratio to be raised */
  char *stall_text;    /* owned: NULL: not holding */
};

/* The thread's owner function; @data: a TideDeadLetterQueue. */
void tide_dead_letter_queue_run(gpointer data);

/* What the budget is charged for @job. */
gint64 tide_dead_letter_queue_memory_bytes(const TideDeadLetterJob *job);

/* Frees @jobs, which no one waits for any more. */
void tide_dead_letter_queue_drop(TideDeadLetterQueue *dead_letters, TideDeadLetterJobs *jobs);

G_END_DECLS
