/* What a consumer commits: for each partition its mark, and a note that tells the next owner what may still be in doubt
 * (commit_note.h; docs/internals.md: equal times). */
#include "flow/consumer_private.h"
#include "flow/handover.h"
#include "util/clock.h"
#include "util/log.h"

#define COMMIT_LOG_US (30 * TIDE_US_PER_S)

/* Marks are stored for the next commit no more often than this: storing costs a microsecond or two for each partition,
 * and commits are at least 100 ms apart. */
#define STORE_INTERVAL_US (50 * TIDE_US_PER_MS)

/* Commits with a note in a group of cooperative members: one that meets a rebalance may cost the assignment
 * (tide_kafka_source_commit_later()), so they are rare. Of eager members none has partitions then. */
#define COOPERATIVE_NOTE_INTERVAL_US (10 * TIDE_US_PER_S)

static TideHandoverContext
handover_context(const TideConsumer *consumer)
{
  const TideConfig *config = consumer->context.config;
  return (TideHandoverContext){.now_us = tide_now_us(),
                               .now_epoch_ms = tide_wall_clock_epoch_ms(),
                               .settle_us = config->hbase.settle_ms * TIDE_US_PER_MS,
                               .span_messages = (guint64)config->kafka.max_span_messages};
}

/* ---- commits ---- */

/* A list of commits in the making. */
typedef struct Commits {
  GArray *list; /* (element-type TideKafkaCommit) */
  GPtrArray *notes;
} Commits;

static Commits
commits_new(void)
{
  return (Commits){g_array_new(FALSE, FALSE, sizeof(TideKafkaCommit)), g_ptr_array_new_with_free_func(g_free)};
}

static void
commits_free(Commits *commits)
{
  g_array_unref(commits->list);
  g_ptr_array_unref(commits->notes);
}

static void
add_commit(Commits *commits, const TideConsumer *consumer, TidePartition *partition, gboolean closing)
{
  TideHandoverContext context = handover_context(consumer);
  TideCommitNote note = tide_handover_note(partition, closing, &context);
  char *text = tide_commit_note_format(&note);
  TideKafkaCommit commit = {.slot = partition->slot, .offset = tide_partition_position(partition), .note = text};
  g_ptr_array_add(commits->notes, text);
  g_array_append_val(commits->list, commit);
  tide_partition_commit_asked(partition, commit.offset, TRUE, note.is_closed);
}

static gboolean
send_and_wait(TideConsumer *consumer, const Commits *commits, gint64 deadline_us)
{
  g_autofree char *problem = NULL;
  const TideKafkaCommit *list = (const TideKafkaCommit *)(gconstpointer)commits->list->data;
  if (tide_kafka_source_commit(consumer->source, list, commits->list->len, deadline_us, &problem))
    return TRUE;
  tide_consumer_commit_failed(consumer, problem);
  return FALSE;
}

static gboolean
must_open(const TidePartition *partition)
{
  return partition->commit.needs_opening && tide_partition_position(partition) >= 0;
}

static gint64
note_interval_us(const TideConsumer *consumer)
{
  const TideKafkaConfig *config = &consumer->context.config->kafka;
  gint64 interval_us = config->commit_interval_ms * TIDE_US_PER_MS;
  return config->assignment == TIDE_ASSIGNMENT_COOPERATIVE ? MAX(interval_us, COOPERATIVE_NOTE_INTERVAL_US)
                                                           : interval_us;
}

static void
store_mark(TideConsumer *consumer, TidePartition *partition)
{
  if (tide_kafka_source_store(consumer->source, partition->slot, partition->offsets.mark))
    tide_partition_commit_asked(partition, partition->offsets.mark, FALSE, FALSE);
}

void
tide_consumer_store_marks(TideConsumer *consumer)
{
  gint64 now_us = tide_now_us();
  gboolean notes_are_due = now_us >= consumer->noted_us + note_interval_us(consumer);
  Commits commits = commits_new();
  consumer->marks_moved = FALSE;
  consumer->stored_us = now_us;
  for (guint i = 0; i < consumer->partitions->len; i++) {
    TidePartition *partition = tide_consumer_partition(consumer, (guint16)i);
    gint64 mark = partition->offsets.mark;
    if (!partition->assigned || (!must_open(partition) && (mark < 0 || mark == partition->stored_offset)))
      continue;
    if (!must_open(partition) && !tide_handover_needs_note(partition, now_us))
      store_mark(consumer, partition);
    else if (notes_are_due)
      add_commit(&commits, consumer, partition, FALSE);
    else
      consumer->marks_moved = TRUE; /* looked at again */
  }
  if (commits.list->len > 0) {
    consumer->noted_us = now_us;
    tide_kafka_source_commit_later(consumer->source, (const TideKafkaCommit *)(gconstpointer)commits.list->data,
                                   commits.list->len);
  }
  commits_free(&commits);
}

gint64
tide_consumer_store_due_us(const TideConsumer *consumer)
{
  return consumer->marks_moved ? consumer->stored_us + STORE_INTERVAL_US : G_MAXINT64;
}

/* Whether @partition is committed as it is to be left to its next owner. */
static gboolean
is_left_well(const TidePartition *partition)
{
  return partition->commit.is_closed && partition->commit.offset == tide_partition_position(partition);
}

gboolean
tide_consumer_commit_closing(TideConsumer *consumer, const guint16 *slots, gsize n_slots, gint64 deadline_us)
{
  Commits commits = commits_new();
  gboolean is_empty = tide_open_lanes_is_empty(consumer->open_lanes);
  for (gsize i = 0; i < n_slots; i++) {
    TidePartition *partition = tide_consumer_partition(consumer, slots[i]);
    if (partition->assigned && tide_partition_position(partition) >= 0 && !is_left_well(partition))
      add_commit(&commits, consumer, partition, is_empty || !partition->was_unheld);
  }
  gboolean good = send_and_wait(consumer, &commits, deadline_us);
  commits_free(&commits);
  return good;
}

gboolean
tide_consumer_is_committed(const TideConsumer *consumer, const guint16 *slots, gsize n_slots)
{
  for (gsize i = 0; i < n_slots; i++) {
    const TidePartition *partition = tide_consumer_partition(consumer, slots[i]);
    if (partition->assigned && partition->offsets.mark >= 0 && partition->commit.offset != partition->offsets.mark)
      return FALSE;
  }
  return TRUE;
}

/* Before anything of @slots is sent: where the last note says that nothing is, or nothing was ever committed, the next
 * owner would not know, were we killed before our first commit. */
static void
commit_opening(TideConsumer *consumer, const guint16 *slots, gsize n_slots)
{
  Commits commits = commits_new();
  for (gsize i = 0; i < n_slots; i++) {
    TidePartition *partition = tide_consumer_partition(consumer, slots[i]);
    if (must_open(partition))
      add_commit(&commits, consumer, partition, FALSE);
  }
  (void)send_and_wait(consumer, &commits, tide_now_us() + TIDE_CONSUMER_QUESTION_US);
  commits_free(&commits);
}

void
tide_consumer_on_taking(const guint16 *slots, gsize n_slots, gpointer data)
{
  TideConsumer *consumer = data;
  commit_opening(consumer, slots, n_slots);
  atomic_store_explicit(&consumer->status.last_round_us, tide_now_us(), memory_order_relaxed);
}

/* ---- answers ---- */

void
tide_consumer_on_committed(guint16 slot, gint64 offset, gboolean good, gpointer data)
{
  TideConsumer *consumer = data;
  TidePartition *partition = tide_consumer_partition(consumer, slot);
  if (!partition->assigned)
    return;
  tide_partition_commit_answered(partition, offset, good);
  if (!good)
    consumer->marks_moved = TRUE;
  tide_pauses_heed_span(&consumer->pauses, partition);
}

void
tide_consumer_commit_failed(TideConsumer *consumer, const char *text)
{
  guint64 suppressed;
  tide_counter_inc(consumer->commit_failures);
  if (tide_log_limit_pass(&consumer->commit_limit, tide_now_us(), COMMIT_LOG_US, &suppressed))
    tide_log(TIDE_LOG_WARNING,
             "cannot commit offsets: %s; they are committed later, or the next owner of the partitions repeats some "
             "writes: nothing is lost (%" G_GUINT64_FORMAT " such failures not logged)",
             text, suppressed);
}

/* ---- what others left ---- */

void
tide_consumer_take_over(TideConsumer *consumer, TidePartition *partition, const TideKafkaAssignment *assignment)
{
  TideHandoverContext context = handover_context(consumer);
  TideHandoverFrom from = {.is_new = assignment->is_new,
                           .start_offset = assignment->start_offset,
                           .end_offset = assignment->end_offset,
                           .note = assignment->note};
  tide_handover_take(partition, &from, &context);
  tide_open_lanes_inherit(consumer->open_lanes, partition->inherited.until_us);
}
