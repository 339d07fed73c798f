/* A partition as its consumer sees it: unfinished messages, reasons to pause, and accounting. It keeps its slot for the
 * life of the consumer. Each assignment and each rewind gives it a new number that never recurs, so that late
 * acknowledgements are recognised.
 *
 * The accounting balances at every step:
 * Messages: received = written + dead-lettered + unmatched + expired + skipped + handed back + in flight.
 * Readings: received = written + dead-lettered + unmatched + expired + skipped + handed back + in flight; a message
 * that cannot be mapped has none.
 *
 * Threads: the owning consumer's only; the metrics read counters and gauges. */
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
  TIDE_PAUSE_MEMORY = 1 << 0,       /* the budget is spent: every partition pauses */
  TIDE_PAUSE_SPAN = 1 << 1,         /* too many messages from the oldest unfinished to the newest */
  TIDE_PAUSE_HALTED = 1 << 2,       /* on_bad_message is 'stop', or dead letters cannot be written */
  TIDE_PAUSE_TABLE = 1 << 3,        /* one of its tables has more than its share of the budget */
  TIDE_PAUSE_DEAD_LETTERS = 1 << 4, /* dead letters cannot be kept, or were too many: every partition pauses */
  TIDE_PAUSE_SCHEMA = 1 << 5,       /* the schema of its next message is awaited */
  TIDE_PAUSE_COMMIT = 1 << 6,       /* its takeover is not committed yet */
  TIDE_PAUSE_OPERATOR = 1 << 7,     /* its topic, or everything, is paused by the operator */
} TidePauseReason;
#define TIDE_N_PAUSE_REASONS 8u
#define TIDE_PAUSES_FOR_MEMORY (TIDE_PAUSE_MEMORY | TIDE_PAUSE_TABLE)

/* By bit position of the reason: "memory", "dead_letters". */
extern const char *const tide_pause_names[TIDE_N_PAUSE_REASONS];

typedef struct TideAskedCommit {
  gint64 offset;
  guint32 sequence;   /* of the first message after it, or of an earlier one */
  gint64 finished_ms; /* record time of the first message that it adds to earlier commits; -1: unknown */
  gboolean is_noted;  /* with a current note */
  gboolean is_far;    /* the note does not limit what was read after the offset */
  gboolean is_closed;
} TideAskedCommit;

/* The commits of a partition. */
typedef struct TidePartitionCommit {
  gint64 start_offset;    /* where the assignment began; -1: unknown */
  gint64 start_ms;        /* wall clock time at which the group began there; 0: it did not */
  gint64 offset;          /* last committed as far as is known; -1: nothing is */
  gint64 stored_offset;   /* last requested; -1: none, or it was refused */
  gboolean is_closed;     /* the last note was closed */
  gboolean needs_opening; /* the note must change before more rows are sent */
  gboolean
      is_unannounced; /* the takeover's commit was refused, so the next owner would not know of this one: not read */
  gboolean is_far;    /* as in TideAskedCommit, and no note that limits it was requested since */
  guint32 sequence;   /* of the first message after offset, or of an earlier one */
  GArray *asked;      /* owned (element-type TideAskedCommit): unanswered, ordered by offset */
} TidePartitionCommit;

/* Messages that an earlier owner may have sent and that may land again: the first span_messages below the end. */
typedef struct TideRepeated {
  gint64 until_us; /* 0: none */
  gint64 end_offset;
  guint64 span_messages;      /* counted from where the assignment began */
  guint64 remaining_messages; /* still to be read */
} TideRepeated;

/* Writes that may still land over newer ones: of abandoned calls, or of earlier owners. */
typedef struct TidePartitionUncertain {
  TideDoubt doubt;     /* cells sent by this consumer */
  TideDoubt inherited; /* cells sent by earlier owners */
  TideRepeated repeated;
} TidePartitionUncertain;

/* The watch that is informed of its position. */
typedef struct TidePartitionWatch {
  TideKafkaWatch *watch;           /* borrowed; NULL: none */
  TideWatchedPartition *partition; /* borrowed, while assigned */
} TidePartitionWatch;

/* Why the partition is not fetched. */
typedef struct TidePartitionPauses {
  guint reasons;         /* TidePauseReason */
  guint32 crowded_table; /* 1 + slot of the table it waits for; 0: none */
  gint64 table_held_us;  /* since when the consumer holds for that table; 0: it does not, or the partition pauses */
  gboolean is_paused;    /* last request to librdkafka ... */
  gint64 changed_us;     /* ... and its time; 0: none in this assignment */
} TidePartitionPauses;

/* A halt, and the message that causes it, if any. */
typedef struct TidePartitionHalt {
  char *text;          /* owned: why it is halted; NULL: it is not */
  gint64 record_ms;    /* record time of the message that halts it; -1: none */
  TideHaltNote note;   /* committed with the halt */
  gint64 begin_offset; /* of a halt because of offsets: the log's beginning, committed in place of a mark */
  gboolean is_damaged; /* the note has the offset of the damage; the first message after it is not known yet */
} TidePartitionHalt;

/* Its position, before the first message is read. */
typedef struct TidePartitionLocation {
  gboolean is_located;   /* otherwise nothing is read or committed */
  gboolean was_replaced; /* the watch saw a sign that its log was replaced */
  gint64 beyond_end_us;  /* since when its offset has been beyond the log's end; 0: it is not */
} TidePartitionLocation;

/* A message that cannot be read until its schema arrives. Later messages are skipped and read again. */
typedef struct TideAwaitedSchema {
  gboolean is_awaited;
  guint32 id;
  gint64 offset; /* of the message */
  gint64 since_us;
  TideSchemaSource *schemas; /* borrowed: where the schema was requested */
} TideAwaitedSchema;

/* The partition's end. */
typedef struct TidePartitionEnd {
  gint64 wanted_offset; /* with --until-end: its end when it was assigned; -1: not requested */
  gboolean is_reached;
  gint64 seen_offset; /* its last known end, with markers; -1: unknown */
} TidePartitionEnd;

/* Latency of messages: from record time to the acknowledgement of their last row. It answers "how old is what I see?",
 * and the benchmark measures it.
 *
 * A record's time comes from the producer's or broker's clock, in milliseconds, so the clocks of two hosts are
 * compared. A negative latency counts as 0. Messages of a backlog have a long latency. */
typedef struct TideWriteLatency {
  TideHistogram *histogram; /* the registry's */
  gint64 now_epoch_ms;      /* read once for all acknowledgements of a round */
} TideWriteLatency;

void tide_write_latency_init(TideWriteLatency *latency, TideMetrics *metrics);

/* Its accounting, as metrics. */
typedef struct TidePartitionCounters {
  TideMetrics *metrics;      /* borrowed: for series created on first use */
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

/* Messages received and written for the first time, without those read again after a rewind. The dead-letter ratio is
 * based on them. The consumers of a process may share these counters. */
typedef struct TideFreshMessages {
  guint64 received;
  guint64 written;
} TideFreshMessages;

/* Earlier numbers under which a partition can still be found, for rows in flight since then. */
#define TIDE_ASSIGNMENTS_KEPT 16u

/* Finds a partition by the number of a current or earlier assignment. */
typedef struct TideAssignments {
  GHashTable *partitions;    /* owned: number -> TidePartition, borrowed */
  guint32 last;              /* the last number given */
  gint64 inherited_until_us; /* until then, writes of earlier owners of any partition are uncertain */
} TideAssignments;

typedef struct TidePartitionAssignment {
  TideAssignments *all;        /* borrowed: the consumer's */
  TideOwnedAssignment number;  /* NOT_OWNED: not assigned */
  TideOwnedAssignment letters; /* likewise, but NOT_OWNED as soon as a rewind is due: dead letters are cancelled */
  guint32 given[TIDE_ASSIGNMENTS_KEPT];
  guint n_given; /* numbers given so far; the newest are kept */
} TidePartitionAssignment;

typedef struct TidePartition {
  char *topic; /* owned */
  gint32 partition;
  const char *source; /* borrowed from the configuration: the name of its topic's source; NULL: it has none */
  guint32 slot;
  gboolean assigned;
  TidePartitionAssignment assignment;
  TideOffsets offsets;
  TideMessageDeadLetters dead_letters;
  gint64 charged_bytes; /* charged to the budget for offsets and dead letters */
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

/* "message 7 of 'metrics' partition 3", or "'a.jsonl:7'" for a file, as log lines name it. (transfer full) */
char *tide_partition_name_message(const TidePartition *partition, gint64 offset);

void tide_assignments_init(TideAssignments *assignments);
void tide_assignments_clear(TideAssignments *assignments);

/* The partition that has, or had, the assignment of @ref; NULL: too long ago. */
static inline TidePartition *
tide_assignments_find(const TideAssignments *assignments, TideSourceRef ref)
{
  return g_hash_table_lookup(assignments->partitions, GUINT_TO_POINTER(ref.assignment));
}

/* @source: (nullable); @assignments, @metrics and @latency are borrowed. The caller sets the latency's time before it
 * acknowledges. */
TidePartition *tide_partition_new(const char *topic, gint32 partition, const char *source, guint32 slot,
                                  TideAssignments *assignments, TideMetrics *metrics, TideWriteLatency *latency);
/* Reuses the object of an unassigned partition for another one. Late acknowledgements are recognised by their
 * assignment; the old series remain. */
void tide_partition_rename(TidePartition *partition, const char *topic, gint32 number, const char *source);
/* Returns memory of finished messages. */
void tide_partition_trim(TidePartition *partition, TideBudget *budget);
void tide_partition_free(TidePartition *partition, TideBudget *budget);

/* Begins a new assignment without unfinished messages. */
void tide_partition_assign(TidePartition *partition);
/* Ends the assignment. Unfinished messages are handed back; later acknowledgements are ignored. */
void tide_partition_release(TidePartition *partition, TideBudget *budget);

static inline gboolean
tide_partition_is_halted_by_offset(const TidePartition *partition)
{
  return tide_halt_kinds[partition->halt.note.cause].is_of_offset;
}

/* The offset to commit; -1: unknown. For a partition halted because of its offset, the log's beginning: a reader that
 * does not know the note reads messages again and skips none. */
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

/* Whether there is more to commit than was requested. */
static inline gboolean
tide_partition_has_moved(const TidePartition *partition)
{
  return partition->offsets.mark >= 0 && tide_partition_position(partition) != partition->commit.stored_offset;
}

/* Whether rows of messages to be read again may be in flight without any reread message waiting for them. They belong
 * to messages after the last one reread; earlier ones block the keys of reread rows. */
static inline gboolean
tide_partition_has_stale_rows(const TidePartition *partition)
{
  return MAX(partition->offsets.mark, partition->commit.start_offset) < partition->rewind.stale_to_offset;
}

/* Whether more messages than the span may have been sent after the committed offset, which its note must state. */
static inline gboolean
tide_partition_has_read_far(const TidePartition *partition)
{
  return tide_rewind_is_pending(&partition->rewind) || tide_partition_has_stale_rows(partition);
}

/* Messages from the committed offset to the newest fetched, which kafka.max_span_messages limits. If the committed note
 * says that they are many, only unfinished ones count, so that a held offset does not stop reading. */
static inline guint32
tide_partition_span(const TidePartition *partition)
{
  return partition->offsets.tail - (partition->commit.is_far ? partition->offsets.head : partition->commit.sequence);
}

/* Whether acknowledgements are missing that can still arrive. */
static inline gboolean
tide_partition_is_unfinished(const TidePartition *partition)
{
  return partition->offsets.awaited_acks > partition->rewind.refused_acks;
}

/* Whether waiting helps. Some messages never end: those with cancelled rows or cancelled dead letters. */
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

/* The partition that owns @ref's message; NULL: that assignment is over. */
static inline TidePartition *
tide_assignments_find_owner(const TideAssignments *assignments, TideSourceRef ref)
{
  TidePartition *partition = tide_assignments_find(assignments, ref);
  return partition != NULL && tide_partition_owns(partition, ref) ? partition : NULL;
}

/* The partition in @slot. */
static inline TidePartition *
tide_partition_at(const GPtrArray *partitions, guint slot)
{
  return g_ptr_array_index(partitions, slot);
}

/* Begins a mapped message. Returns the source of its rows and of its rejected readings' dead letters. The message ends
 * after one acknowledgement for each. @skip_rejects: its rejects make no dead letters; nor do those already kept */
TideSourceRef tide_partition_begin(TidePartition *partition, TideBudget *budget, gint64 offset,
                                   const TideMapped *mapped, gboolean skip_rejects);
/* Begins a message that cannot be mapped. It ends with one acknowledgement, that of its dead letter. */
TideSourceRef tide_partition_begin_rejected(TidePartition *partition, TideBudget *budget, const TideMessage *message,
                                            TideRejectReason reason);
/* Begins a reread message that cannot be mapped and whose dead letter @letter is kept. It ends at once. */
void tide_partition_begin_kept(TidePartition *partition, TideBudget *budget, const TideMessage *message,
                               TideRejectReason reason, const TideKeptLetter *letter);
/* Skips a message that cannot be used, or a tombstone by which no table deletes rows. */
void tide_partition_skip(TidePartition *partition, TideBudget *budget, const TideMessage *message,
                         TideRejectReason reason);
/* Adds @n_acks acknowledgements to @ref's message: acknowledged rows and kept dead letters. */
void tide_partition_ack(TidePartition *partition, TideSourceRef ref, guint32 n_acks);
/* HBase refused rows that only @ref's message made, with @n_acks missing acknowledgements. Returns TRUE if the
 * message's dead letter must be submitted now. */
gboolean tide_partition_add_refused(TidePartition *partition, TideBudget *budget, TideSourceRef ref,
                                    guint32 n_acks) G_GNUC_WARN_UNUSED_RESULT;
/* The dead letter of @job, whose message is in flight, is kept. */
void tide_partition_dead_letter_kept(TidePartition *partition, TideBudget *budget, const TideDeadLetterJob *job);

/* The rejected readings of @mapped whose dead letters are not kept yet. */
guint32 tide_partition_count_rejects(const TidePartition *partition, gint64 offset, const TideMapped *mapped);
/* Requires a new note with the next commit. */
void tide_partition_open(TidePartition *partition);
/* Rewinds it after tide_rewind_prepare(). Unfinished messages are handed back, a message that halts it is read again,
 * and the next message is that of tide_partition_position(). */
void tide_partition_rewind(TidePartition *partition, TideBudget *budget, gint64 now_us, gint64 settle_us);

/* Halts the partition because of its offset, for the cause in @note. From now on its commits are @begin_offset, the
 * beginning of its log. */
void tide_partition_halt_by_offset(TidePartition *partition, const TideHaltNote *note, gint64 begin_offset);

/* Everything in the log up to @end_offset was handed out; only transaction markers follow the last message. If no
 * message is unfinished, the markers are finished too. */
void tide_partition_reach_end(TidePartition *partition, gint64 end_offset);

/* A commit of @offset, that of tide_partition_position(), was requested. */
void tide_partition_commit_asked(TidePartition *partition, gint64 offset, gboolean noted, gboolean closed);
/* Outcome of the first request with @offset. A success also ends all earlier requests. */
void tide_partition_commit_answered(TidePartition *partition, gint64 offset, gboolean good);

/* Whether an earlier owner may have sent the fetched message at @offset, so that it may land again. */
gboolean tide_partition_repeats(TidePartition *partition, gint64 offset, gint64 now_us);

void tide_partition_show(TidePartition *partition); /* sets the gauges and informs the watch */

G_END_DECLS
