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

/* What jobs wait for. */
typedef enum TideDeadLetterStageKind {
  TIDE_STAGE_READ,       /* their original */
  TIDE_STAGE_KEEP,       /* to be kept */
  TIDE_STAGE_SEND_AGAIN, /* the topic did not take them */
  TIDE_STAGE_TOO_LARGE,  /* it does not take them for their own size, while it takes others */
  TIDE_DEAD_LETTER_N_STAGES,
} TideDeadLetterStageKind;

/* What is held because too many messages become dead letters. */
typedef struct TideDeadLetterExcess {
  TideDeadLetterRatio ratio;
  TideDeadLetterJobs jobs;       /* those beyond max_ratio: until it is raised, or the end */
  TideDeadLetterRatioPart total; /* with too_many: the window, when they became so */
  TideDeadLetterRatioPart since; /* with too_many: what came and was written since */
  gboolean has_more;             /* with too_many: the stall's text does not tell of it yet */
} TideDeadLetterExcess;

typedef struct TideDeadLetterMetrics {
  TideCounter *bytes;
  TideCounter *retries;
  TideCounter *torn_bytes;
  TideCounter *given_up;
  TideCounter *gone;
  TideGauge *waiting;
  TideGauge *stalled_gauge;
} TideDeadLetterMetrics;

struct TideDeadLetterQueue {
  /* set before start, then read-only */
  TideDeadLetterQueueContext context;
  char *path; /* owned: of the file; NULL: none */
  TideThread *thread;
  TideDeadLetterMetrics metrics;

  /* the dead-letter thread only (but before start and after stop) */
  TideWireProtocol protocol;
  TideDeadLetterFile *file;
  TideKafkaDeadLetters *topic; /* owned; NULL: a file is used */
  TideKafkaOriginals *originals;
  TideDeadLetterStage stages[TIDE_DEAD_LETTER_N_STAGES];
  TideDeadLetterExcess excess;
  TideDeadLetterReasons *reasons; /* owned */
  TideBuffer lines;

  /* any thread */
  struct {
    _Atomic guint64 received;
    _Atomic guint64 written;
    _Atomic gboolean stopping;
    _Atomic gboolean must_reconnect; /* to the topic */
    _Atomic gboolean is_stalled;
    _Atomic gboolean too_many; /* above max_ratio: until that is raised nothing more passes */
  } shared;

  struct {
    TideMutex lock;
    /* under lock */
    TideCond work;
    TideDeadLetterJobs incoming;
    gboolean is_at_rest; /* what is not incoming waits for max_ratio to be raised */
    char *stall_text;    /* owned: NULL: not holding */
  } locked;
};

/* The thread's owner function; @data: a TideDeadLetterQueue. */
void tide_dead_letter_queue_run(gpointer data);

/* What the budget is charged for @job. */
gint64 tide_dead_letter_queue_memory_bytes(const TideDeadLetterJob *job);

/* Frees @jobs, which no one waits for any more. */
void tide_dead_letter_queue_drop(TideDeadLetterQueue *dead_letters, TideDeadLetterJobs *jobs);

G_END_DECLS
