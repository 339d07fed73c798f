/* A partition as its consumer sees it: what is unfinished, why it is paused, and its accounting. It keeps its place for
 * the life of the consumer; each assignment and each rewind gives it a number that never recurs, so that
 * acknowledgements from before are recognised.
 *
 * The accounting, which balances at every step.
 *   Messages: received = written + dead-lettered + unmatched + expired + skipped + handed back + in flight.
 *   Readings: received = written + dead-lettered + unmatched + expired + skipped + handed back + in flight; a message
 * that could not be mapped has none.
 *
 * Threads: the owning consumer's only; counters and gauges are read by the metrics. */
#pragma once

#include "consumer/offsets.h"
#include "consumer/rewind_plan.h"
#include "dead_letters/message_dead_letters.h"
#include "kafka/commit_note.h"
#include "kafka/kafka_watch.h"
#include "mapping/mapping.h"
#include "model/reject.h"
#include "rows/doubt.h"
#include "util/metrics.h"
#include "write/batch.h"

G_BEGIN_DECLS

typedef enum TidePauseReason {
  TIDE_PAUSE_MEMORY = 1 << 0, /* the budget is spent: every partition pauses */
  TIDE_PAUSE_SPAN = 1 << 1,   /* too many messages from the oldest unfinished to the newest */
  TIDE_PAUSE_HALTED = 1 << 2, /* a message cannot be used, and the operator chose to stop there or gave no place for
                               * dead letters */
  TIDE_PAUSE_TABLE = 1 << 3,  /* a table that it feeds holds more than its share of the budget */
  TIDE_PAUSE_DEAD_LETTERS = 1 << 4, /* dead letters cannot be kept, or were too many: every partition pauses */
  TIDE_PAUSE_SCHEMA = 1 << 5,       /* the schema of its next message is awaited */
  TIDE_PAUSE_COMMIT = 1 << 6,       /* that it is ours is not committed yet */
  TIDE_PAUSE_OPERATOR = 1 << 7,     /* its topic, or everything, is paused by the operator */
} TidePauseReason;
#define TIDE_N_PAUSE_REASONS 8u
#define TIDE_PAUSES_FOR_MEMORY (TIDE_PAUSE_MEMORY | TIDE_PAUSE_TABLE)

/* By the place of a reason's bit: "memory", "dead_letters". */
extern const char *const tide_pause_names[TIDE_N_PAUSE_REASONS];

typedef struct TideAskedCommit {
  gint64 offset;
  guint32 sequence;   /* of the first message behind it, or before that */
  gint64 finished_ms; /* record time of the first message that it adds to what was asked before; -1: unknown */
  gboolean is_noted;  /* with all that is to be said by now */
  gboolean is_far;    /* the note does not bound what was read behind the offset */
  gboolean is_closed;
} TideAskedCommit;

/* What is committed of a partition. */
typedef struct TidePartitionCommit {
  gint64 start_offset;    /* where the assignment began; -1: unknown */
  gint64 start_ms;        /* wall clock: the group began there; 0: it did not */
  gint64 offset;          /* committed last, as far as is known; -1: nothing is */
  gint64 stored_offset;   /* that was to be committed last; -1: none, or it was refused */
  gboolean is_closed;     /* the note of that */
  gboolean needs_opening; /* before anything (more) of it is sent: the note must be another */
  gboolean is_untold;     /* the one at the take-over was refused, and the next owner would not know of us: not read */
  gboolean is_far;        /* as of TideAskedCommit, and no note that bounds it was asked for since */
  guint32 sequence;       /* of the first message behind offset, or before that */
  GArray *asked;          /* owned (element-type TideAskedCommit): not answered yet, in the order of offsets */
} TidePartitionCommit;

/* Messages that an owner before us may have sent, and that may land once more: the first so many, below the end. */
typedef struct TideRepeated {
  gint64 until_us; /* 0: none may */
  gint64 end_offset;
  guint64 span_messages; /* as many from where we began, in all ... */
  guint64 left_messages; /* ... and from where we read on */
} TideRepeated;

/* What may still land over what is written: of calls that were abandoned, or of owners before us. */
typedef struct TidePartitionUncertain {
  TideDoubt doubt;     /* cells that this consumer has sent */
  TideDoubt inherited; /* cells that owners before us have sent */
  TideRepeated repeated;
} TidePartitionUncertain;

/* Who is told where it stands. */
typedef struct TidePartitionWatch {
  TideKafkaWatch *watch;           /* borrowed; NULL: nobody watches */
  TideWatchedPartition *partition; /* borrowed, while assigned */
} TidePartitionWatch;

/* Why it is not fetched. */
typedef struct TidePartitionPauses {
  guint reasons;         /* TidePauseReason */
  guint32 crowded_table; /* that it waits for: 1 + the table's slot; 0: none */
  gint64 table_held_us;  /* since when the consumer holds for that; 0: it does not, and it pauses */
  gboolean is_paused;    /* what librdkafka was told ... */
  gint64 changed_us;     /* ... and when; 0: not in this assignment */
} TidePartitionPauses;

/* A message that holds it, or whatever does. */
typedef struct TidePartitionHalt {
  char *text;        /* owned: why it is halted; NULL: it is not */
  gint64 record_ms;  /* the record time of the message that holds it; -1: it has none, or no message does */
  TideHaltNote note; /* what is committed of the halt */
  gint64
      begin_offset; /* if the halt is because of offsets: the log's beginning, which is committed in place of a mark */
  gboolean is_damaged; /* the note's offset is that of the damage; the first message behind it is not known yet */
} TidePartitionHalt;

/* Where it stands, before anything of it is read. */
typedef struct TidePartitionLocation {
  gboolean is_located;   /* else nothing of it is read, and nothing committed */
  gboolean was_replaced; /* the watch saw a sign that its log is another one */
  gint64 beyond_end_us;  /* since when its offset has been beyond the log's end; 0: it is not */
} TidePartitionLocation;

/* A message that cannot be read before its schema is there. What comes behind it is not looked at, and read again. */
typedef struct TideAwaitedSchema {
  gboolean is_awaited;
  guint32 id;
  gint64 offset; /* of the message */
  gint64 since_us;
  TideSchemaSource *schemas; /* borrowed: who is asked */
} TideAwaitedSchema;

/* Where it ends. */
typedef struct TidePartitionEnd {
  gint64 wanted_offset; /* with --until-end: where the partition ended when it was assigned; -1: not asked */
  gboolean is_reached;
  gint64 seen_offset; /* where it ended last, with all that is no message; -1: not seen */
} TidePartitionEnd;

/* How long messages take: from their own time in Kafka to the acknowledgement of the last of their rows. What an
 * operator is asked for ("how old is what I see?"), and what the benchmark measures.
 *
 * A record's time is the producer's clock or the broker's, in milliseconds, so two machines' clocks are compared: what
 * seems to be acknowledged before it was produced counts as 0. Messages that are read late (a backlog) took long. */
typedef struct TideWriteLatency {
  TideHistogram *histogram; /* the registry's */
  gint64 now_epoch_ms;      /* when what is marked now completed: read once for all of it */
} TideWriteLatency;

void tide_write_latency_init(TideWriteLatency *latency, TideMetrics *metrics);

/* Its accounting, as the metrics show it. */
typedef struct TidePartitionCounters {
  TideMetrics *metrics;      /* borrowed: for those that come with their first event */
  TideWriteLatency *latency; /* borrowed: the consumer's */
  TideCounter *messages_received;
  TideCounter *messages_written;
  TideCounter *messages_dead_lettered[TIDE_DEAD_LETTER_N_REASONS]; /* NULL until the first */
  TideCounter *messages_unmatched;
  TideCounter *messages_expired;
  TideCounter *messages_skipped[TIDE_REJECT_N_REASONS]; /* NULL until the first */
  TideCounter *messages_handed_back;
  TideCounter *readings_received;
  TideCounter *readings_written;
  TideCounter *readings_dead_lettered;
  TideCounter *readings_unmatched;
  TideCounter *readings_expired;
  TideCounter *readings_skipped;
  TideCounter *readings_handed_back;
  TideGauge *in_flight;
  TideGauge *readings_in_flight;
  TideGauge *stored_gauge;
  TideGauge *paused_gauge;
  TideGauge *held_gauge;
  char *labels; /* owned */
} TidePartitionCounters;

/* Messages as they are received and written for the first time, whatever is read again after a rewind: by these the
 * share of dead letters is judged. The counters may be shared by the consumers of a process. */
typedef struct TideFreshMessages {
  guint64 received;
  guint64 written;
} TideFreshMessages;

/* Earlier numbers by which a partition is still found, for what may be on its way since then. */
#define TIDE_ASSIGNMENTS_KEPT 16u

/* Which partitions the assignments of one consumer are, or were, of. */
typedef struct TideAssignments {
  GHashTable *partitions;    /* owned: number -> TidePartition, borrowed */
  guint32 last;              /* number */
  gint64 inherited_until_us; /* what owners before us left in doubt of any partition counts until then */
} TideAssignments;

typedef struct TidePartitionAssignment {
  TideAssignments *all;        /* borrowed: the consumer's */
  TideOwnedAssignment number;  /* NOT_OWNED: it is not assigned */
  TideOwnedAssignment letters; /* the same, but NOT_OWNED, too, once a rewind is due: dead letters are given up */
  guint32 given[TIDE_ASSIGNMENTS_KEPT];
  guint n_given; /* numbers so far, of which the newest are kept */
} TidePartitionAssignment;

typedef struct TidePartition {
  char *topic; /* owned */
  gint32 partition;
  const char *source; /* borrowed, of the configuration: the name of its topic's source; NULL: it has none */
  guint32 slot;
  gboolean assigned;
  TidePartitionAssignment assignment;
  TideOffsets offsets;
  TideMessageDeadLetters dead_letters;
  gint64 charged_bytes; /* what the budget holds for offsets and dead letters */
  TidePartitionPauses pauses;
  TidePartitionLocation location;
  TidePartitionHalt halt;
  TideAwaitedSchema awaited;
  TidePartitionCommit commit;
  TidePartitionUncertain uncertain;
  TideRewind rewind;
  TidePartitionEnd end;
  TideFreshMessages fresh;
  TidePartitionWatch watch;
  TidePartitionCounters counters;
} TidePartition;

/* "message 7 of 'metrics' partition 3", of a file "'a.jsonl:7'", as a log line names it. (transfer full) */
char *tide_partition_name_message(const TidePartition *partition, gint64 offset);

void tide_assignments_init(TideAssignments *assignments);
void tide_assignments_clear(TideAssignments *assignments);

/* The partition that @ref is, or was, of; NULL: that is long ago. */
static inline TidePartition *
tide_assignments_find(const TideAssignments *assignments, TideSourceRef ref)
{
  return g_hash_table_lookup(assignments->partitions, GUINT_TO_POINTER(ref.assignment));
}

/* @source: (nullable), @assignments, @metrics, @latency: kept by reference; the last is set to the time before
 * acknowledgements are told. */
TidePartition *tide_partition_new(const char *topic, gint32 partition, const char *source, guint32 slot,
                                  TideAssignments *assignments, TideMetrics *metrics, TideWriteLatency *latency);
/* From now on it is another partition, in the place of one that is not assigned: acknowledgements of that are
 * recognised by their assignment. The series of the old one stay. */
void tide_partition_rename(TidePartition *partition, const char *topic, gint32 number, const char *source);
/* Gives memory back that followed messages which are finished. */
void tide_partition_trim(TidePartition *partition, TideBudget *budget);
void tide_partition_free(TidePartition *partition, TideBudget *budget);

/* A new assignment: nothing is unfinished. */
void tide_partition_assign(TidePartition *partition);
/* It is no longer ours: what was unfinished is handed back, and later acknowledgements of it are dropped. */
void tide_partition_release(TidePartition *partition, TideBudget *budget);

static inline gboolean
tide_partition_is_halted_by_offset(const TidePartition *partition)
{
  return tide_halt_kinds[partition->halt.note.cause].is_of_offset;
}

/* The offset to commit; -1: none is known. Of a partition that is halted because of its offset, the log's beginning:
 * whoever does not know the note beside it repeats, and skips nothing. */
static inline gint64
tide_partition_position(const TidePartition *partition)
{
  if (!partition->location.is_located)
    return -1;
  if (tide_partition_is_halted_by_offset(partition))
    return partition->halt.begin_offset;
  gint64 start_offset = partition->commit.start_offset;
  gint64 offset = partition->offsets.mark >= 0 ? partition->offsets.mark : start_offset;
  if (G_LIKELY(!tide_rewind_is_pending(&partition->rewind)))
    return offset;
  const TideHeldMessage *held = tide_rewind_first_held(&partition->rewind);
  return held == NULL ? offset : MIN(offset, held->offset >= 0 ? held->offset : start_offset);
}

/* Whether there is more to commit than was asked for. */
static inline gboolean
tide_partition_has_moved(const TidePartition *partition)
{
  return partition->offsets.mark >= 0 && tide_partition_position(partition) != partition->commit.stored_offset;
}

/* Whether rows of messages that are read again may be on their way, though none of these waits for them: of later
 * messages than were read again so far. A row of a message that was is behind them, for they block its key. */
static inline gboolean
tide_partition_has_stale_rows(const TidePartition *partition)
{
  return MAX(partition->offsets.mark, partition->commit.start_offset) < partition->rewind.stale_to_offset;
}

/* Whether more messages than the span may have been sent behind what is committed: its note must say so. */
static inline gboolean
tide_partition_has_read_far(const TidePartition *partition)
{
  return tide_rewind_is_pending(&partition->rewind) || tide_partition_has_stale_rows(partition);
}

/* Messages from what is committed to the newest that was fetched: what the span bound limits. While the committed note
 * says that they are many, the offset that is held stops nothing, and only those count that are unfinished. */
static inline guint32
tide_partition_span(const TidePartition *partition)
{
  return partition->offsets.tail - (partition->commit.is_far ? partition->offsets.head : partition->commit.sequence);
}

/* Whether acknowledgements are owed that can come. */
static inline gboolean
tide_partition_is_unfinished(const TidePartition *partition)
{
  return partition->offsets.awaited_acks > partition->rewind.refused_acks;
}

/* Whether it helps to wait for what is on its way: where rows are not sent any more, or dead letters are given up, some
 * of it never ends. */
static inline gboolean
tide_partition_has_work(const TidePartition *partition)
{
  const TideRewind *rewind = &partition->rewind;
  return rewind->cancelled_us > 0 || rewind->is_due ? rewind->n_letters_in_flight > 0
                                                    : tide_partition_is_unfinished(partition);
}

static inline gboolean
tide_partition_owns(const TidePartition *partition, TideSourceRef ref)
{
  return atomic_load_explicit(&partition->assignment.number, memory_order_relaxed) == ref.assignment;
}

/* The partition in whose hands @ref's message is; NULL: that assignment is over. */
static inline TidePartition *
tide_assignments_find_owner(const TideAssignments *assignments, TideSourceRef ref)
{
  TidePartition *partition = tide_assignments_find(assignments, ref);
  return partition != NULL && tide_partition_owns(partition, ref) ? partition : NULL;
}

/* The one in place @slot of a consumer's. */
static inline TidePartition *
tide_partition_at(const GPtrArray *partitions, guint slot)
{
  return g_ptr_array_index(partitions, slot);
}

/* A message was fetched and mapped. Returns the source of its rows, and of its rejected readings' dead letters unless
 * @skip_rejects or they are kept: it ends with an acknowledgement for each. */
TideSourceRef tide_partition_begin(TidePartition *partition, TideBudget *budget, gint64 offset,
                                   const TideMapped *mapped, gboolean skip_rejects);
/* A message was fetched that cannot be mapped: one acknowledgement, that of its dead letter, ends it. */
TideSourceRef tide_partition_begin_rejected(TidePartition *partition, TideBudget *budget, const TideMessage *message,
                                            TideRejectReason reason);
/* A message that cannot be mapped is read again, and @letter of it is kept already: it ends at once. */
void tide_partition_begin_kept(TidePartition *partition, TideBudget *budget, const TideMessage *message,
                               TideRejectReason reason, const TideKeptLetter *letter);
/* A message is passed over: it cannot be used and the operator chose to go on, or it has no value and no table asks
 * what to delete. */
void tide_partition_skip(TidePartition *partition, TideBudget *budget, const TideMessage *message,
                         TideRejectReason reason);
/* @n_acks of @ref's message came in: of rows that were acknowledged, and of dead letters that are kept. */
void tide_partition_ack(TidePartition *partition, TideSourceRef ref, guint32 n_acks);
/* HBase refused rows of @ref's message, in flight, and of no other, for which @n_acks are owed. Returns: TRUE when the
 * message's dead letter is to be submitted now. */
gboolean tide_partition_add_refused(TidePartition *partition, TideBudget *budget, TideSourceRef ref,
                                    guint32 n_acks) G_GNUC_WARN_UNUSED_RESULT;
/* The dead letter of @job, of a message in flight, is kept. */
void tide_partition_dead_letter_kept(TidePartition *partition, TideBudget *budget, const TideDeadLetterJob *job);

/* What of @mapped cannot be used and is not kept yet. */
guint32 tide_partition_count_rejects(const TidePartition *partition, gint64 offset, const TideMapped *mapped);
/* What is committed from now on must have another note than before. */
void tide_partition_open(TidePartition *partition);
/* It is rewound, for tide_rewind_prepare(): all that is unfinished is handed back, a message that halts it is to be met
 * again, and the next message is that of tide_partition_position(). */
void tide_partition_rewind(TidePartition *partition, TideBudget *budget, gint64 now_us, gint64 settle_us);

/* It is halted because of its offset, as @note says: from now on @begin_offset, where its log begins now, is what is
 * committed of it. */
void tide_partition_halt_by_offset(TidePartition *partition, const TideHaltNote *note, gint64 begin_offset);

/* All that the log held up to @end_offset was handed out; what is behind the last message are the marks of
 * transactions. Where nothing is unfinished, they are finished, too. */
void tide_partition_reach_end(TidePartition *partition, gint64 end_offset);

/* @offset is being committed: that of tide_partition_position(). */
void tide_partition_commit_asked(TidePartition *partition, gint64 offset, gboolean noted, gboolean closed);
/* How the first that was asked of @offset ended. If well, all that was asked before it is over, too. */
void tide_partition_commit_answered(TidePartition *partition, gint64 offset, gboolean good);

/* A message of @offset was fetched. TRUE when an owner before us may have sent it, so that it may land once more. */
gboolean tide_partition_repeats(TidePartition *partition, gint64 offset, gint64 now_us);

void tide_partition_show(TidePartition *partition); /* sets the gauges, and tells the watch where it stands */

G_END_DECLS
