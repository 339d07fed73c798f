/* The state that a consumer publishes: its thread stores it from time to time, any thread reads it, and values may be
 * slightly old. Flags are stored at once. */
#pragma once

#include "consumer/partition.h"
#include "util/lock.h"

G_BEGIN_DECLS

typedef struct TideConsumerState {
  gint64 last_round_us;                     /* the thread's last round, or last step of a rebalance */
  guint32 assigned;                         /* partitions */
  guint32 unlocated;                        /* partitions that are not read because their position is not known yet */
  guint32 halted;                           /* partitions that are halted until an operator acts */
  guint32 paused;                           /* partitions */
  guint32 paused_for[TIDE_N_PAUSE_REASONS]; /* partitions paused for each reason, alone or with others */
  gint64 oldest_us;                         /* open rows; 0: none */
  guint32 cpu_permille;                     /* of one core, used by the thread in about the last second */
  guint32 held_permille;                    /* of that second, spent without reading because memory was spent */
  gboolean had_assignment;                  /* ever */
  gboolean finished; /* with until_end: all assigned partitions are read and acknowledged, except for halted ones and
                        for dead letters above the limit */
  gboolean reads_on; /* with until_end: a partition is not read to its end and may be read */
  gboolean work_remains;  /* after the end: messages were unfinished at the deadline or when their partition went */
  guint64 remaining_held; /* after the end: messages written and not committed: rewind.h */
  gboolean fatal;         /* the client is fenced: the program must end */
  gboolean denied;        /* Kafka denies this user access to the topic or the group */
  gboolean refused;       /* the group is full: the brokers allow no more members */
} TideConsumerState;

/* When a consumer's state was last shown, and the totals of that time. */
typedef struct TideConsumerShown {
  gint64 at_us;
  gint64 cpu_us;  /* CPU time used until then */
  gint64 held_us; /* time held for memory since then */
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
  _Atomic gboolean work_remains;
  _Atomic guint64 remaining_held;
  _Atomic gboolean fatal;
  _Atomic gboolean denied;
  _Atomic gboolean refused;

  /* under lock */
  TideMutex lock;
  char *halt_text;    /* owned: NULL: no partition is halted */
  char *trouble_text; /* owned: Kafka's last problem, until the next assignment; NULL: none */

  /* the consumer's thread */
  TideConsumerShown shown;
} TideConsumerStatus;

void tide_consumer_status_init(TideConsumerStatus *status, gint64 now_us);
void tide_consumer_status_clear(TideConsumerStatus *status);

/* ---- the consumer's thread; @partitions: (element-type TidePartition), only assigned ones count ---- */

/* Publishes the paused partitions and the oldest open row, and sets the partitions' gauges. */
void tide_consumer_status_show(TideConsumerStatus *status, const GPtrArray *partitions, gint64 oldest_us);
/* Adds time without reading because memory was spent. */
void tide_consumer_status_note_held(TideConsumerStatus *status, gint64 held_us);
void tide_consumer_status_publish_assigned(TideConsumerStatus *status, const GPtrArray *partitions);
void tide_consumer_status_publish_halted(TideConsumerStatus *status, const GPtrArray *partitions);
void tide_consumer_status_publish_trouble(TideConsumerStatus *status, const char *text); /* NULL: it is over */

/* ---- any thread ---- */

TideConsumerState tide_consumer_status_read_racy(const TideConsumerStatus *status);
/* One sentence for each halted partition; NULL: none is halted. (transfer full) */
char *tide_consumer_status_halt_text(TideConsumerStatus *status);
/* The last problem that Kafka reported since the last assignment; NULL: none. (transfer full) */
char *tide_consumer_status_trouble_text(TideConsumerStatus *status);

G_END_DECLS
