/* What a consumer publishes of its state: its thread stores it now and then, any thread reads it, and each value may be
 * a moment old. Flags are stored at once. */
#pragma once

#include "consumer/partition.h"
#include "util/lock.h"

G_BEGIN_DECLS

typedef struct TideConsumerState {
  gint64 last_round_us; /* when the thread last went round its loop, or waited in a rebalance by rule */
  guint32 assigned;     /* partitions */
  guint32 unlocated;    /* partitions whose position is not known yet: nothing of them is read */
  guint32 halted;       /* partitions that are halted until an operator acts */
  guint32 paused;       /* partitions */
  guint32 paused_for[TIDE_N_PAUSE_REASONS]; /* of them, those with that reason, and perhaps others */
  gint64 oldest_us;                         /* open rows; 0: none */
  guint32 cpu_permille;                     /* of one core, that the thread took in the last second or so */
  guint32 held_permille;                    /* of that second, that it read nothing because memory was spent */
  gboolean had_assignment;                  /* ever */
  gboolean finished;  /* with until_end: of what is assigned now, all is read and acknowledged, but for what waits for
                       * an operator: halted partitions, dead letters that may not be kept */
  gboolean reads_on;  /* with until_end: a partition is not read to its end, and nothing keeps it from being read */
  gboolean left_work; /* after the end: messages were unfinished when the time was up or their partition went */
  guint64 left_held;  /* after the end: messages that are written, and not committed: rewind.h */
  gboolean fatal;     /* the client is fenced: the program must end */
  gboolean denied;    /* Kafka does not let this user read, or be in the group */
  gboolean refused;   /* the group has as many members as the brokers allow: it is none of them */
} TideConsumerState;

/* The last time that a consumer's state was shown. */
typedef struct TideConsumerShown {
  gint64 at_us;
  gint64 cpu_us;  /* how much CPU it had taken then */
  gint64 held_us; /* since then, that it held for memory */
} TideConsumerShown;

/* With until_end; members as in TideConsumerState. */
typedef struct TideConsumerEnd {
  _Atomic gboolean finished;
  _Atomic gboolean reads_on;
} TideConsumerEnd;

/* Members as in TideConsumerState. */
typedef struct TideConsumerStatus {
  /* any thread */
  _Atomic gint64 last_round_us;
  _Atomic guint32 assigned;
  _Atomic guint32 unlocated;
  _Atomic guint32 halted;
  _Atomic guint32 paused;
  _Atomic guint32 paused_for[TIDE_N_PAUSE_REASONS];
  _Atomic gint64 oldest_us;
  _Atomic guint32 cpu_permille;
  _Atomic guint32 held_permille;
  _Atomic gboolean had_assignment;
  TideConsumerEnd end;
  _Atomic gboolean left_work;
  _Atomic guint64 left_held;
  _Atomic gboolean fatal;
  _Atomic gboolean denied;
  _Atomic gboolean refused;

  /* under lock */
  TideMutex lock;
  char *halt_text;    /* owned: NULL: no partition is halted */
  char *trouble_text; /* owned: what Kafka says is wrong, until the next assignment; NULL: nothing */

  /* the consumer's thread */
  TideConsumerShown shown;
} TideConsumerStatus;

void tide_consumer_status_init(TideConsumerStatus *status, gint64 now_us);
void tide_consumer_status_clear(TideConsumerStatus *status);

/* ---- the consumer's thread; @partitions: (element-type TidePartition), of which those count that are assigned ---- */

/* How many pause, and the oldest open row; sets the partitions' gauges, too. */
void tide_consumer_status_show(TideConsumerStatus *status, const GPtrArray *partitions, gint64 oldest_us);
/* It read nothing for @held_us because memory was spent: shown with the rest. */
void tide_consumer_status_note_held(TideConsumerStatus *status, gint64 held_us);
void tide_consumer_status_publish_assigned(TideConsumerStatus *status, const GPtrArray *partitions);
void tide_consumer_status_publish_halted(TideConsumerStatus *status, const GPtrArray *partitions);
void tide_consumer_status_publish_trouble(TideConsumerStatus *status, const char *text); /* NULL: it is over */

/* ---- any thread ---- */

TideConsumerState tide_consumer_status_read_racy(const TideConsumerStatus *status);
/* Why partitions are halted, one sentence each; NULL when none is. (transfer full) */
char *tide_consumer_status_halt_text(TideConsumerStatus *status);
/* What Kafka said last that is wrong, if nothing was assigned since; NULL: nothing. (transfer full) */
char *tide_consumer_status_trouble_text(TideConsumerStatus *status);

G_END_DECLS
