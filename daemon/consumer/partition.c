#include "consumer/partition.h"

#include "dead_letters/dead_letter_job.h"
#include "util/clock.h"

/* Unanswered commits to remember, enough for at least a minute. */
#define MAX_ASKED 2048u

#define BIT(reason) __builtin_ctz(reason)

const char *const tide_pause_names[] = {
    [BIT(TIDE_PAUSE_MEMORY)] = "memory",
    [BIT(TIDE_PAUSE_SPAN)] = "span",
    [BIT(TIDE_PAUSE_HALTED)] = "halted",
    [BIT(TIDE_PAUSE_TABLE)] = "table",
    [BIT(TIDE_PAUSE_DEAD_LETTERS)] = "dead_letters",
    [BIT(TIDE_PAUSE_SCHEMA)] = "schema",
    [BIT(TIDE_PAUSE_COMMIT)] = "commit",
    [BIT(TIDE_PAUSE_OPERATOR)] = "operator",
};
G_STATIC_ASSERT(BIT(TIDE_PAUSE_OPERATOR) == TIDE_N_PAUSE_REASONS - 1);

/* Fine buckets up to the answer time of a loaded gateway, coarse ones for backlogs. */
static const double latency_bounds_s[] = {0.001, 0.002, 0.003, 0.005, 0.0075, 0.01, 0.015, 0.02, 0.025,
                                          0.035, 0.05,  0.075, 0.1,   0.15,   0.25, 0.5,   1,    2.5,
                                          5,     10,    30,    60,    300,    1800, 3600};

void
tide_write_latency_init(TideWriteLatency *latency, TideMetrics *metrics)
{
  latency->histogram =
      tide_metrics_histogram(metrics, "tidemark_write_latency_seconds",
                             "Time from a message's record time to the acknowledgement of its last row", NULL,
                             latency_bounds_s, G_N_ELEMENTS(latency_bounds_s));
}

typedef struct CounterName {
  gsize offset; /* in TidePartitionCounters */
  const char *name;
  const char *help;
} CounterName;

#define COUNTER(member, name, help)                                                                                    \
  {                                                                                                                    \
    offsetof(TidePartitionCounters, member), name, help                                                                \
  }

static const CounterName counter_names[] = {
    COUNTER(messages_received, "tidemark_messages_received_total", "Messages received from Kafka"),
    COUNTER(messages_written, "tidemark_messages_written_total", "Messages whose rows were all acknowledged by HBase"),
    COUNTER(messages_unmatched, "tidemark_messages_unmatched_total",
            "Messages without a row because no table uses their readings: the conditions are not met"),
    COUNTER(messages_expired, "tidemark_messages_expired_total",
            "Messages without a row because all their data is older than the tables' time to live"),
    COUNTER(messages_handed_back, "tidemark_messages_handed_back_total",
            "Unfinished messages of a partition that was revoked or rewound, which are read again; and messages read "
            "again that were already counted"),
    COUNTER(readings_received, "tidemark_readings_received_total", "Readings decoded from messages"),
    COUNTER(readings_written, "tidemark_readings_written_total", "Readings of messages that were written"),
    COUNTER(readings_dead_lettered, "tidemark_readings_dead_lettered_total", "Readings that were kept as dead letters"),
    COUNTER(readings_unmatched, "tidemark_readings_unmatched_total",
            "Readings that no table uses: conditions are not met, or on_missing skips them"),
    COUNTER(readings_expired, "tidemark_readings_expired_total",
            "Readings not written because all their rows are older than their time to live"),
    COUNTER(readings_skipped, "tidemark_readings_skipped_total",
            "Bad readings that were skipped (on_bad_reading: reading, on_bad_message: skip)"),
    COUNTER(readings_handed_back, "tidemark_readings_handed_back_total",
            "Readings of messages that were handed back, because their partition was revoked or rewound"),
};

/* The counter @name with the partition's labels and @reason; created on first use. */
static TideCounter *
counter_by_reason(const TidePartition *partition, const char *name, const char *help, const char *reason)
{
  g_autofree char *labels = g_strdup_printf("%s,reason=\"%s\"", partition->counters.labels, reason);
  return tide_metrics_counter(partition->counters.metrics, name, help, labels);
}

/* Counter of messages skipped for @reason. */
static TideCounter *
skipped_counter(TidePartition *partition, guint reason)
{
  TideCounter **skipped = &partition->counters.messages_skipped[reason];
  if (*skipped == NULL)
    *skipped = counter_by_reason(partition, "tidemark_messages_skipped_total",
                                 "Messages that were skipped: those that cannot be used (on_bad_message: skip), and "
                                 "those without a value (tombstone: ignore)",
                                 tide_reject_reason_name((TideRejectReason)reason));
  return *skipped;
}

static TideCounter *
dead_lettered_counter(TidePartition *partition, guint reason)
{
  TideCounter **dead_lettered = &partition->counters.messages_dead_lettered[reason];
  if (*dead_lettered == NULL)
    *dead_lettered = counter_by_reason(partition, "tidemark_messages_dead_lettered_total",
                                       "Messages that were kept as dead letters, entirely or in part",
                                       tide_dead_letter_reason_name(reason));
  return *dead_lettered;
}

/* Sets the partition's name and creates its series. */
static void
take_name(TidePartition *self, const char *topic, gint32 partition, const char *source)
{
  self->topic = g_strdup(topic);
  self->partition = partition;
  self->source = source;
  TidePartitionCounters *counters = &self->counters;
  TideMetrics *metrics = counters->metrics;
  const char *labels = counters->labels = tide_kafka_watch_labels(topic, partition, source);
  for (gsize i = 0; i < G_N_ELEMENTS(counter_names); i++) {
    const CounterName *counter = &counter_names[i];
    *(TideCounter **)G_STRUCT_MEMBER_P(counters, counter->offset) =
        tide_metrics_counter(metrics, counter->name, counter->help, labels);
  }
  counters->in_flight = tide_metrics_gauge(metrics, "tidemark_messages_in_flight",
                                           "Messages that HBase has not acknowledged yet", labels);
  counters->readings_in_flight =
      tide_metrics_gauge(metrics, "tidemark_readings_in_flight", "Readings of messages in flight", labels);
  counters->stored_gauge =
      tide_metrics_gauge_unknown(metrics, "tidemark_kafka_stored_offset",
                                 "Offset stored for the next commit; all messages before it are finished", labels);
  counters->paused_gauge =
      tide_metrics_gauge(metrics, "tidemark_kafka_paused", "1 while the partition is not fetched", labels);
  counters->held_gauge =
      tide_metrics_gauge(metrics, "tidemark_kafka_commit_deferred",
                         "1 while the committed offset is held back until the partition is read again", labels);
  /* Creates one series of each at 0, so that sums over the reasons always have a value. The others are created on first
   * use. */
  (void)skipped_counter(self, TIDE_REJECT_TOMBSTONE);
  (void)dead_lettered_counter(self, TIDE_DEAD_LETTER_REFUSED);
}

char *
tide_partition_name_message(const TidePartition *partition, gint64 offset)
{
  if (partition->watch.watch == NULL) /* the input is files */
    return g_strdup_printf("'%s:%" G_GINT64_FORMAT "'", partition->topic, offset);
  return g_strdup_printf("message %" G_GINT64_FORMAT " of '%s' partition %d", offset, partition->topic,
                         partition->partition);
}

void
tide_assignments_init(TideAssignments *assignments)
{
  *assignments = (TideAssignments){.partitions = g_hash_table_new(NULL, NULL)};
}

void
tide_assignments_clear(TideAssignments *assignments)
{
  g_hash_table_unref(assignments->partitions);
}

static void
own(TidePartition *partition, guint32 number)
{
  atomic_store_explicit(&partition->assignment.number, number, memory_order_relaxed);
  atomic_store_explicit(&partition->assignment.letters, number, memory_order_relaxed);
}

/* Takes a new number, which distinguishes messages read from now on from earlier ones. */
static void
take_number(TidePartition *partition)
{
  TideAssignments *assignments = partition->assignment.all;
  guint32 *number = &partition->assignment.given[partition->assignment.n_given++ % TIDE_ASSIGNMENTS_KEPT];
  g_hash_table_remove(assignments->partitions, GUINT_TO_POINTER(*number));
  *number = ++assignments->last;
  g_hash_table_insert(assignments->partitions, GUINT_TO_POINTER(*number), partition);
  own(partition, *number);
}

TidePartition *
tide_partition_new(const char *topic, gint32 partition, const char *source, guint32 slot, TideAssignments *assignments,
                   TideMetrics *metrics, TideWriteLatency *latency)
{
  TidePartition *self = g_new0(TidePartition, 1);
  self->slot = slot;
  self->assignment.all = assignments;
  own(self, TIDE_NOT_OWNED);
  self->counters.metrics = metrics;
  self->counters.latency = latency;
  self->commit.stored_offset = self->end.wanted_offset = -1;
  self->commit.asked = g_array_new(FALSE, FALSE, sizeof(TideAskedCommit));
  tide_rewind_init(&self->rewind);
  tide_offsets_init(&self->offsets);
  take_name(self, topic, partition, source);
  return self;
}

void
tide_partition_rename(TidePartition *partition, const char *topic, gint32 number, const char *source)
{
  g_assert(!partition->assigned);
  g_free(partition->topic);
  g_free(partition->counters.labels);
  memset(partition->counters.messages_dead_lettered, 0, sizeof partition->counters.messages_dead_lettered);
  memset(partition->counters.messages_skipped, 0, sizeof partition->counters.messages_skipped);
  take_name(partition, topic, number, source);
}

/* The kept dead letter of a rejected reading of the message at @offset; NULL: none. */
static const TideKeptLetter *
letter_of(const TidePartition *partition, gint64 offset, const TideMapped *mapped, guint32 reject)
{
  return tide_rewind_find_letter(&partition->rewind, offset, (gint32)mapped->rejects[reject].reading_index);
}

guint32
tide_partition_count_rejects(const TidePartition *partition, gint64 offset, const TideMapped *mapped)
{
  guint32 n = 0;
  for (guint32 i = 0; i < mapped->n_rejects; i++)
    n += letter_of(partition, offset, mapped, i) == NULL ? 1 : 0;
  return n;
}

/* Updates gauge and budget after the messages in flight have changed. */
static void
follow_in_flight(TidePartition *partition, TideBudget *budget)
{
  tide_gauge_set(partition->counters.in_flight, partition->offsets.unfinished);
  tide_gauge_set(partition->counters.readings_in_flight, (gint64)partition->offsets.unfinished_readings);
  gint64 held_bytes = (gint64)(tide_offsets_memory_bytes(&partition->offsets) +
                               tide_message_dead_letters_memory_bytes(&partition->dead_letters) +
                               tide_rewind_memory_bytes(&partition->rewind));
  if (held_bytes == partition->charged_bytes)
    return;
  tide_budget_charge(budget, held_bytes - partition->charged_bytes);
  partition->charged_bytes = held_bytes;
}

static void
forget_unfinished(TidePartition *partition, TideBudget *budget)
{
  tide_offsets_clear(&partition->offsets);
  tide_message_dead_letters_clear(&partition->dead_letters);
  follow_in_flight(partition, budget);
}

static void
hand_back(TidePartition *partition, TideBudget *budget)
{
  tide_counter_add(partition->counters.messages_handed_back, partition->offsets.unfinished);
  tide_counter_add(partition->counters.readings_handed_back, partition->offsets.unfinished_readings);
  forget_unfinished(partition, budget);
}

void
tide_partition_trim(TidePartition *partition, TideBudget *budget)
{
  tide_offsets_trim(&partition->offsets);
  tide_rewind_forget_letters(&partition->rewind, partition->commit.offset);
  follow_in_flight(partition, budget);
}

void
tide_partition_free(TidePartition *partition, TideBudget *budget)
{
  if (partition == NULL)
    return;
  tide_kafka_watch_remove(partition->watch.watch, partition->watch.partition);
  g_array_set_size(partition->rewind.kept_letters, 0);
  g_array_set_size(partition->rewind.ended, 0);
  forget_unfinished(partition, budget);
  tide_rewind_clear(&partition->rewind);
  g_array_unref(partition->commit.asked);
  g_free(partition->halt.text);
  g_free(partition->counters.labels);
  g_free(partition->topic);
  g_free(partition);
}

static void
end_halt(TidePartition *partition)
{
  g_clear_pointer(&partition->halt.text, g_free);
  partition->halt = (TidePartitionHalt){.record_ms = -1};
}

void
tide_partition_assign(TidePartition *partition)
{
  take_number(partition);
  partition->assigned = TRUE;
  partition->pauses.reasons = 0;
  partition->pauses.crowded_table = 0;
  partition->pauses.table_held_us = 0;
  partition->pauses.is_paused = FALSE;
  partition->commit.stored_offset = partition->end.wanted_offset = -1;
  partition->end.seen_offset = -1;
  end_halt(partition);
  partition->location = (TidePartitionLocation){0};
  partition->commit.offset = -1; /* other consumers may have committed since */
  partition->commit.is_unannounced = FALSE;
  partition->awaited.is_awaited = FALSE;
  partition->end.is_reached = FALSE;
  tide_rewind_clear(&partition->rewind);
  tide_rewind_init(&partition->rewind);
  tide_kafka_watch_remove(partition->watch.watch, partition->watch.partition);
  partition->watch.partition =
      tide_kafka_watch_add(partition->watch.watch, partition->topic, partition->partition, partition->source);
}

void
tide_partition_release(TidePartition *partition, TideBudget *budget)
{
  partition->assigned = FALSE;
  own(partition, TIDE_NOT_OWNED);
  partition->location.is_located = FALSE;
  tide_rewind_clear(&partition->rewind);
  tide_rewind_init(&partition->rewind);
  partition->awaited.is_awaited = FALSE;
  hand_back(partition, budget);
  tide_kafka_watch_remove(partition->watch.watch, g_steal_pointer(&partition->watch.partition));
  tide_gauge_clear(partition->counters.stored_gauge);
  tide_gauge_set(partition->counters.paused_gauge, 0);
  tide_gauge_set(partition->counters.held_gauge, 0);
}

static void
note_received(TidePartition *partition, gint64 offset)
{
  partition->fresh.received += tide_rewind_is_reread(&partition->rewind, offset) ? 0 : 1;
  tide_counter_inc(partition->counters.messages_received);
}

/* Counts the end of the message at @offset with @counter, unless it was counted before a rewind. */
static void
count_end(TidePartition *partition, gint64 offset, TideCounter *counter)
{
  gboolean was_counted = tide_rewind_has_ended(&partition->rewind, offset);
  tide_counter_inc(G_UNLIKELY(was_counted) ? partition->counters.messages_handed_back : counter);
}

static void
note_written(TidePartition *partition, gint64 offset)
{
  partition->fresh.written += tide_rewind_has_ended(&partition->rewind, offset) ? 0 : 1;
  count_end(partition, offset, partition->counters.messages_written);
}

/* Finishes a message without rows and without new dead letters. @n_counted: rejected readings whose dead letters are
 * kept and were counted */
static void
count_without_rows(TidePartition *partition, gint64 offset, const TideMapped *mapped, guint32 n_counted)
{
  if (n_counted > 0)
    tide_counter_inc(partition->counters.messages_handed_back);
  else if (mapped->n_expired_readings > 0)
    count_end(partition, offset, partition->counters.messages_expired);
  else if (mapped->n_unmatched_readings > 0)
    count_end(partition, offset, partition->counters.messages_unmatched);
  else if (mapped->n_rejects > 0)
    count_end(partition, offset, skipped_counter(partition, mapped->rejects[0].reason));
  else
    note_written(partition, offset); /* no readings: counts as written */
}

static void
count_dead_lettered(TidePartition *partition, const TideDeadLetterEnd *end, const TideTrackedMessage *message)
{
  guint32 n_dead = end->whole ? message->n_readings : end->n_readings;
  if (end->was_counted) {
    tide_counter_inc(partition->counters.messages_handed_back);
    tide_counter_add(partition->counters.readings_handed_back, message->n_readings);
    return;
  }
  tide_counter_inc(dead_lettered_counter(partition, end->reason));
  tide_counter_add(partition->counters.readings_dead_lettered, n_dead);
  tide_counter_add(partition->counters.readings_written, message->n_readings - n_dead);
  tide_rewind_count_letters(&partition->rewind, message->offset);
}

/* Counts the end of message @sequence by its dead letter. Returns FALSE if it has none. */
static gboolean
end_dead_lettered(TidePartition *partition, guint32 sequence, const TideTrackedMessage *message)
{
  TideDeadLetterEnd end;
  if (G_LIKELY(!tide_message_dead_letters_end(&partition->dead_letters, sequence, &end)))
    return FALSE;
  count_dead_lettered(partition, &end, message);
  return TRUE;
}

static TideSourceRef
ref_of(const TidePartition *partition, guint32 sequence)
{
  return (TideSourceRef){atomic_load_explicit(&partition->assignment.number, memory_order_relaxed), sequence};
}

/* The rejected readings of a reread message whose dead letters are kept and whose message was counted for them. */
static guint32
count_counted(const TidePartition *partition, gint64 offset, const TideMapped *mapped)
{
  guint32 n = 0;
  for (guint32 i = 0; i < mapped->n_rejects; i++) {
    const TideKeptLetter *letter = letter_of(partition, offset, mapped, i);
    n += letter != NULL && letter->is_counted ? 1 : 0;
  }
  return n;
}

/* Dead letters that were kept but not counted, because their message was in flight at the rewind, count with its
 * end. */
static void
note_rejects(TidePartition *partition, guint32 sequence, gint64 offset, const TideMapped *mapped)
{
  for (guint32 i = 0; i < mapped->n_rejects; i++) {
    const TideKeptLetter *letter = letter_of(partition, offset, mapped, i);
    if (letter == NULL || !letter->is_counted)
      tide_message_dead_letters_add_rejected(&partition->dead_letters, sequence, mapped->rejects[i].reason, 1);
  }
}

TideSourceRef
tide_partition_begin(TidePartition *partition, TideBudget *budget, gint64 offset, const TideMapped *mapped,
                     gboolean skip_rejects)
{
  guint32 n_skipped = skip_rejects ? mapped->n_rejects : 0;
  guint32 n_counted = skip_rejects ? 0 : count_counted(partition, offset, mapped);
  guint32 n_ended = mapped->n_unmatched_readings + mapped->n_expired_readings + n_skipped + n_counted;
  note_received(partition, offset);
  tide_counter_add(partition->counters.readings_received, mapped->n_readings);
  if (G_UNLIKELY(n_ended > 0)) {
    tide_counter_add(partition->counters.readings_unmatched, mapped->n_unmatched_readings);
    tide_counter_add(partition->counters.readings_expired, mapped->n_expired_readings);
    tide_counter_add(partition->counters.readings_skipped, n_skipped);
    tide_counter_add(partition->counters.readings_handed_back, n_counted);
  }
  const TideTrackedMessage message = {
      .offset = offset,
      .remaining_rows = mapped->n_rows + (skip_rejects ? 0 : tide_partition_count_rejects(partition, offset, mapped)),
      .n_readings = mapped->n_readings - n_ended,
      .timestamp_ms = mapped->timestamp_ms};
  guint32 sequence = tide_offsets_begin(&partition->offsets, &message);
  if (!skip_rejects)
    note_rejects(partition, sequence, offset, mapped);
  const TideKeptLetter *refused = tide_rewind_find_letter(&partition->rewind, offset, TIDE_LETTER_OF_REFUSED);
  if (G_UNLIKELY(refused != NULL))
    tide_message_dead_letters_add_kept(&partition->dead_letters, sequence, refused->is_counted);
  if (message.remaining_rows == 0 && !end_dead_lettered(partition, sequence, &message))
    count_without_rows(partition, offset, mapped, n_counted);
  follow_in_flight(partition, budget);
  return ref_of(partition, sequence);
}

TideSourceRef
tide_partition_begin_rejected(TidePartition *partition, TideBudget *budget, const TideMessage *message,
                              TideRejectReason reason)
{
  note_received(partition, message->offset);
  const TideTrackedMessage tracked = {
      .offset = message->offset, .remaining_rows = 1, .timestamp_ms = message->timestamp_ms};
  guint32 sequence = tide_offsets_begin(&partition->offsets, &tracked);
  tide_message_dead_letters_add_rejected(&partition->dead_letters, sequence, reason, 0);
  follow_in_flight(partition, budget);
  return ref_of(partition, sequence);
}

void
tide_partition_begin_kept(TidePartition *partition, TideBudget *budget, const TideMessage *message,
                          TideRejectReason reason, const TideKeptLetter *letter)
{
  TideDeadLetterEnd end = {.reason =
                               letter->reading_index == TIDE_LETTER_OF_REFUSED ? TIDE_DEAD_LETTER_REFUSED : reason,
                           .was_counted = letter->is_counted};
  const TideTrackedMessage tracked = {.offset = message->offset, .timestamp_ms = message->timestamp_ms};
  note_received(partition, message->offset);
  tide_offsets_begin(&partition->offsets, &tracked);
  count_dead_lettered(partition, &end, &tracked);
  follow_in_flight(partition, budget);
}

void
tide_partition_skip(TidePartition *partition, TideBudget *budget, const TideMessage *message, TideRejectReason reason)
{
  note_received(partition, message->offset);
  count_end(partition, message->offset, skipped_counter(partition, reason));
  tide_offsets_begin(&partition->offsets,
                     &(TideTrackedMessage){.offset = message->offset, .timestamp_ms = message->timestamp_ms});
  follow_in_flight(partition, budget);
}

void
tide_partition_ack(TidePartition *partition, TideSourceRef ref, guint32 n_acks)
{
  const TideTrackedMessage *message = tide_offsets_ack(&partition->offsets, ref.sequence, n_acks);
  if (message == NULL)
    return;
  if (G_LIKELY(!end_dead_lettered(partition, ref.sequence, message))) {
    const TideWriteLatency *latency = partition->counters.latency;
    gboolean was_counted = tide_rewind_has_ended(&partition->rewind, message->offset);
    note_written(partition, message->offset);
    tide_counter_add(was_counted ? partition->counters.readings_handed_back : partition->counters.readings_written,
                     message->n_readings);
    if (message->timestamp_ms >= 0 && !was_counted) /* the record has a time */
      tide_histogram_observe(latency->histogram,
                             (double)MAX(latency->now_epoch_ms - message->timestamp_ms, 0) / 1000.0);
  }
  tide_gauge_set(partition->counters.in_flight, partition->offsets.unfinished);
  tide_gauge_set(partition->counters.readings_in_flight, (gint64)partition->offsets.unfinished_readings);
}

gboolean
tide_partition_add_refused(TidePartition *partition, TideBudget *budget, TideSourceRef ref, guint32 n_acks)
{
  guint32 n_settled;
  gboolean must_submit =
      tide_message_dead_letters_add_refused(&partition->dead_letters, ref.sequence, n_acks, &n_settled);
  if (n_settled > 0)
    tide_partition_ack(partition, ref, n_settled);
  follow_in_flight(partition, budget);
  return must_submit;
}

void
tide_partition_dead_letter_kept(TidePartition *partition, TideBudget *budget, const TideDeadLetterJob *job)
{
  (void)tide_rewind_add_letter(&partition->rewind, tide_offsets_offset_of(&partition->offsets, job->source.sequence),
                               tide_dead_letter_job_is_refused(job) ? TIDE_LETTER_OF_REFUSED
                                                                    : job->dead_letter.reading_index,
                               partition->commit.offset);
  tide_partition_ack(partition, job->source, tide_message_dead_letters_kept(&partition->dead_letters, job));
  follow_in_flight(partition, budget);
}

/* Record time of the oldest message that is finished but not committed; -1: no such message, or no time. */
static gint64
finished_ms_of(const TidePartition *partition)
{
  const GArray *asked = partition->commit.asked;
  const TideHeldMessage *held = tide_rewind_first_held(&partition->rewind);
  if (held != NULL && held->timestamp_ms >= 0 && partition->offsets.mark > held->offset)
    return held->timestamp_ms;
  for (guint i = 0; i < asked->len; i++)
    if (g_array_index(asked, TideAskedCommit, i).finished_ms >= 0)
      return g_array_index(asked, TideAskedCommit, i).finished_ms;
  return partition->offsets.finished_ms;
}

static TideConsumerPosition
position_of(const TidePartition *partition)
{
  const TideTrackedMessage *newest = tide_offsets_newest(&partition->offsets);
  const TideTrackedMessage *oldest = tide_offsets_oldest(&partition->offsets);
  /* Messages read after a halt, or to be read again, do not count as read. */
  gboolean counts_end = partition->halt.text == NULL && !tide_rewind_is_pending(&partition->rewind);
  return (TideConsumerPosition){
      .committed_offset =
          partition->location.is_located && partition->halt.text == NULL ? partition->commit.offset : -1,
      .next_offset = MAX(newest != NULL ? newest->offset + 1 : -1, counts_end ? partition->end.seen_offset : -1),
      .mark = partition->offsets.mark,
      .finished_ms = finished_ms_of(partition),
      .oldest_ms = oldest != NULL ? oldest->timestamp_ms : partition->halt.record_ms,
      .newest_ms = newest != NULL ? newest->timestamp_ms : -1,
  };
}

/* Sequence of the first message at or after tide_partition_position(), or of an earlier one. */
static guint32
position_sequence(const TidePartition *partition)
{
  const TideHeldMessage *held = tide_rewind_first_held(&partition->rewind);
  return held != NULL && (gint32)(held->sequence - partition->offsets.head) < 0 ? held->sequence
                                                                                : partition->offsets.head;
}

/* Ranges of messages from @position on that had ended before they are read again. @ret_end_offset: end of what was
 * read. (transfer full) (element-type TideEndedRange) */
static GArray *
ended_messages(const TidePartition *partition, gint64 position, gint64 *ret_end_offset)
{
  const TideOffsets *offsets = &partition->offsets;
  GArray *ended = g_array_new(FALSE, FALSE, sizeof(TideEndedRange));
  TideEndedRange range = {position, MAX(offsets->mark, position)};
  *ret_end_offset = range.end_offset;
  for (guint32 sequence = offsets->head; sequence != offsets->tail; sequence++) {
    const TideTrackedMessage *message = tide_offsets_find(offsets, sequence);
    *ret_end_offset = message->offset + 1;
    if (message->remaining_rows == 0 || tide_rewind_has_ended(&partition->rewind, message->offset)) {
      range.end_offset = message->offset + 1;
      continue;
    }
    if (range.end_offset > range.first_offset)
      g_array_append_val(ended, range);
    range = (TideEndedRange){message->offset + 1, message->offset + 1};
  }
  if (range.end_offset > range.first_offset)
    g_array_append_val(ended, range);
  return ended;
}

void
tide_partition_rewind(TidePartition *partition, TideBudget *budget, gint64 now_us, gint64 settle_us)
{
  gint64 position = tide_partition_position(partition), finished_ms = finished_ms_of(partition);
  guint32 sequence = position_sequence(partition); /* becomes the sequence of the next message */
  if (position != partition->commit.start_offset)
    partition->commit.start_ms = 0;
  TideRewind *rewind = &partition->rewind;
  const TideTrackedMessage *newest = tide_offsets_newest(&partition->offsets);
  if (newest != NULL)
    rewind->read_to_offset = MAX(rewind->read_to_offset, newest->offset + 1);
  rewind->stale_to_offset = rewind->read_to_offset;
  rewind->acked_to_offset = MAX(rewind->acked_to_offset, partition->offsets.mark);
  gint64 end_offset;
  GArray *ended = ended_messages(partition, position, &end_offset);
  tide_rewind_set_ended(rewind, ended, end_offset);
  partition->uncertain.repeated.remaining_messages =
      G_MAXUINT64; /* some were counted and come again: bounded by the end */
  partition->end.seen_offset = -1;
  end_halt(partition);
  take_number(partition);
  hand_back(partition, budget);
  partition->offsets.finished_ms = finished_ms; /* finished but not committed yet */
  partition->commit.start_offset = position;
  guint32 shift = partition->offsets.head - sequence;
  partition->commit.sequence += shift;
  for (guint i = 0; i < partition->commit.asked->len; i++)
    g_array_index(partition->commit.asked, TideAskedCommit, i).sequence += shift;
  tide_rewind_restart(rewind, position, shift, now_us, settle_us);
  tide_partition_open(partition);
}

void
tide_partition_open(TidePartition *partition)
{
  partition->commit.needs_opening = TRUE;
  for (guint i = 0; i < partition->commit.asked->len; i++)
    g_array_index(partition->commit.asked, TideAskedCommit, i).is_noted = FALSE;
}

void
tide_partition_halt_by_offset(TidePartition *partition, const TideHaltNote *note, gint64 begin_offset)
{
  partition->halt.note = *note;
  partition->halt.begin_offset = begin_offset;
  partition->commit.needs_opening = TRUE;
  g_array_set_size(partition->commit.asked, 0); /* answers to these do not apply to later commits */
}

void
tide_partition_reach_end(TidePartition *partition, gint64 end_offset)
{
  gboolean is_all_taken = partition->halt.text == NULL && !partition->rewind.is_due;
  if (is_all_taken && partition->location.is_located && end_offset > tide_partition_position(partition))
    tide_offsets_reach_end(&partition->offsets, end_offset);
}

void
tide_partition_commit_asked(TidePartition *partition, gint64 offset, gboolean noted, gboolean closed)
{
  GArray *asked = partition->commit.asked;
  TideAskedCommit last = {.offset = offset,
                          .sequence = position_sequence(partition),
                          .finished_ms = partition->offsets.finished_ms,
                          .is_noted = noted,
                          .is_far = noted && tide_partition_has_read_far(partition),
                          .is_closed = closed};
  if (partition->commit.is_far && !last.is_far) { /* this commit may take effect from now on */
    partition->commit.is_far = FALSE;
    partition->commit.sequence = last.sequence;
  }
  partition->commit.stored_offset = offset;
  partition->offsets.finished_ms = -1;
  if (asked->len >= MAX_ASKED) /* no answers for a long time: the committed offset seems older than it is */
    g_array_remove_range(asked, 1, MAX_ASKED / 2);
  g_array_append_val(asked, last);
}

/* Drops the refused commit at @index: the next one takes over what it covered. */
static void
drop_asked(TidePartition *partition, guint index)
{
  GArray *asked = partition->commit.asked;
  gint64 finished_ms = g_array_index(asked, TideAskedCommit, index).finished_ms;
  g_array_remove_index(asked, index);
  gint64 *next_ms =
      index < asked->len ? &g_array_index(asked, TideAskedCommit, index).finished_ms : &partition->offsets.finished_ms;
  if (finished_ms >= 0)
    *next_ms = finished_ms;
}

void
tide_partition_commit_answered(TidePartition *partition, gint64 offset, gboolean good)
{
  GArray *asked = partition->commit.asked;
  guint n = 0;
  for (guint i = 0; i < asked->len && n == 0; i++)
    n = g_array_index(asked, TideAskedCommit, i).offset == offset ? i + 1 : 0;
  if (!good) {
    if (offset == partition->commit.stored_offset)
      partition->commit.stored_offset = -1; /* commit again */
    if (n > 0)
      drop_asked(partition, n - 1);
    return;
  }
  partition->commit.offset = offset;
  if (n == 0) { /* librdkafka has repeated a refused commit */
    /* If more is finished by now, the age that is shown ends with the next commit. */
    if (offset >= tide_partition_position(partition))
      partition->offsets.finished_ms = -1;
    return;
  }
  const TideAskedCommit *answered = &g_array_index(asked, TideAskedCommit, n - 1);
  const TideAskedCommit *last = &g_array_index(asked, TideAskedCommit, asked->len - 1);
  if (answered->is_noted)
    partition->commit.needs_opening = partition->commit.is_unannounced = FALSE;
  partition->commit.is_closed = answered->is_closed;
  partition->commit.is_far = answered->is_far && last->is_far;
  partition->commit.sequence = answered->sequence;
  g_array_remove_range(asked, 0, n);
}

gboolean
tide_partition_repeats(TidePartition *partition, gint64 offset, gint64 now_us)
{
  TideRepeated *repeated = &partition->uncertain.repeated;
  if (now_us >= repeated->until_us || repeated->remaining_messages == 0 || offset >= repeated->end_offset)
    return FALSE;
  repeated->remaining_messages--;
  return TRUE;
}

void
tide_partition_show(TidePartition *partition)
{
  TideConsumerPosition position = position_of(partition);
  g_autofree char *held =
      tide_partition_is_halted_by_offset(partition)
          ? NULL
          : tide_rewind_describe(&partition->rewind, tide_partition_position(partition), tide_now_us());
  TideConsumerNote note = {.in_flight = partition->offsets.unfinished,
                           .pauses = partition->pauses.reasons,
                           .is_located = partition->location.is_located,
                           .halt_text = partition->halt.text,
                           .held_text = held};
  partition->location.was_replaced |=
      tide_kafka_watch_note(partition->watch.watch, partition->watch.partition, &position, &note);
  tide_gauge_set(partition->counters.paused_gauge, partition->pauses.is_paused ? 1 : 0);
  tide_gauge_set(partition->counters.held_gauge, held != NULL ? 1 : 0);
  if (partition->commit.stored_offset >= 0)
    tide_gauge_set(partition->counters.stored_gauge, partition->commit.stored_offset);
}
