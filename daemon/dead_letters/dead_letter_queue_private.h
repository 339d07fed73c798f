/* Private fields of the dead letter queue, shared by dead_letter_queue.c (start and stop) and dead_letter_queue_work.c
 * (its thread) only. */
#pragma once

#include "dead_letters/dead_letter_file.h"
#include "dead_letters/dead_letter_ratio.h"
#include "dead_letters/dead_letter_reasons.h"
#include "dead_letters/kafka_dead_letters.h"
#include "dead_letters/kafka_originals.h"

G_BEGIN_DECLS

/* Jobs that wait for the same step, and how its failures are handled. */
typedef struct TideDeadLetterStage {
  TideDeadLetterJobs jobs;
  guint32 n_failures; /* failures in a row */
  gint64 next_us;     /* not retried earlier */
  gint64 logged_us;
} TideDeadLetterStage;

/* The steps that jobs wait for. */
typedef enum TideDeadLetterStageKind {
  TIDE_STAGE_READ,       /* reading the original */
  TIDE_STAGE_KEEP,       /* writing */
  TIDE_STAGE_SEND_AGAIN, /* sending again after a failure of the topic */
  TIDE_STAGE_TOO_LARGE,  /* sending after the topic refused their size, while it accepts others */
  TIDE_DEAD_LETTER_N_STAGES,
} TideDeadLetterStageKind;

/* Jobs held because too many messages become dead letters. */
typedef struct TideDeadLetterExcess {
  TideDeadLetterRatio ratio;
  TideDeadLetterJobs jobs;       /* above max_ratio: until it is raised, or until the end */
  TideDeadLetterRatioPart total; /* with too_many: the window at that moment */
  TideDeadLetterRatioPart since; /* with too_many: received and written since then */
  gboolean has_more;             /* with too_many: not yet included in the stall's text */
} TideDeadLetterExcess;

typedef struct TideDeadLetterMetrics {
  TideCounter *bytes;
  TideCounter *retries;
  TideCounter *torn_bytes;
  TideCounter *cancelled;
  TideCounter *gone;
  TideGauge *waiting;
  TideGauge *stalled_gauge;
} TideDeadLetterMetrics;

struct TideDeadLetterQueue {
  /* set before start, then read-only */
  TideDeadLetterQueueContext context;
  char *path; /* owned: the file; NULL: none */
  TideThread *thread;
  TideDeadLetterMetrics metrics;

  /* For the dead-letter thread only, except before start and after stop. */
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
    _Atomic gboolean too_many; /* above max_ratio: none pass until it is raised */
  } shared;

  struct {
    TideMutex lock;
    /* under lock */
    TideCond work;
    TideDeadLetterJobs incoming;
    gboolean is_at_rest; /* all jobs outside incoming wait for max_ratio to be raised */
    char *stall_text;    /* owned: NULL: not stalled */
  } locked;
};

void tide_dead_letter_queue_run(gpointer data);

/* Memory that the budget is charged for @job. */
gint64 tide_dead_letter_queue_memory_bytes(const TideDeadLetterJob *job);

/* Frees @jobs, which are no longer needed. */
void tide_dead_letter_queue_drop(TideDeadLetterQueue *dead_letters, TideDeadLetterJobs *jobs);

G_END_DECLS
