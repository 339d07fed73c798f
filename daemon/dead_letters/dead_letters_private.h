/* Inside of the keeping of letters: shared by dead_letters.c, its life, and dead_letters_work.c, its thread; nobody
 * else includes this. */
#pragma once

#include "dead_letters/kafka_letters.h"
#include "dead_letters/kafka_originals.h"
#include "dead_letters/letter_file.h"
#include "dead_letters/letter_ratio.h"
#include "dead_letters/letter_reasons.h"

G_BEGIN_DECLS

/* Jobs that wait for one thing, and how its failures are dealt with. */
typedef struct TideLetterStage {
  TideLetterJobs jobs;
  guint32 n_failures; /* in a row */
  gint64 next_us;     /* not before this */
  gint64 logged_us;
} TideLetterStage;

struct TideDeadLetters {
  /* set before start, then read-only */
  TideDeadLettersContext context;
  char *path; /* owned: of the file; NULL: none */
  TideThread *thread;
  TideCounter *bytes;
  TideCounter *retries;
  TideCounter *torn_bytes;
  TideCounter *given_up;
  TideCounter *gone;
  TideGauge *waiting;
  TideGauge *holding_gauge;

  /* the letters' thread only (but before start and after stop) */
  TideWireProtocol protocol;
  TideLetterFile *file;
  TideKafkaLetters *topic; /* owned; NULL: a file is used */
  TideKafkaOriginals *originals;
  TideLetterStage to_read;
  TideLetterStage to_keep;
  TideLetterStage to_send_again; /* those that the topic did not take */
  TideLetterRatio ratio;
  TideLetterJobs held_back;   /* those beyond max_ratio: until the end */
  TideLetterReasons *reasons; /* owned */
  gboolean too_many;          /* above max_ratio: until a restart nothing more passes */
  TideBuffer lines;

  /* any thread */
  _Atomic guint64 received;
  _Atomic guint64 written;
  _Atomic gboolean stopping;
  _Atomic gboolean holding;
  _Atomic gint64 lent_bytes; /* of originals that consumers have and did not release */

  /* under lock */
  TideMutex lock;
  TideCond work;
  TideLetterJobs incoming;
  char *held_text; /* owned: NULL: not holding */
};

/* The thread's owner function; @data: a TideDeadLetters. */
void tide_dead_letters_run(gpointer data);

/* What the budget is charged for @job. */
gint64 tide_dead_letters_memory_bytes(const TideLetterJob *job);

/* Frees @jobs, which no one waits for any more. */
void tide_dead_letters_drop(TideDeadLetters *letters, TideLetterJobs *jobs);

G_END_DECLS
