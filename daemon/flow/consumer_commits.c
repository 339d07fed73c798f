/* What a consumer commits: for each partition its mark, and a note that tells the next owner what may still be in doubt
 * (commit_note.h; docs/internals.md: equal times). */
#include "flow/commit_note.h"
#include "flow/consumer_private.h"
#include "util/clock.h"
#include "util/log.h"

#define COMMIT_LOG_US (30 * TIDE_US_PER_S)

/* Marks are stored for the next commit no more often than this: storing costs a microsecond or two for each partition,
 * and commits are at least 100 ms apart. */
#define STORE_INTERVAL_US (50 * TIDE_US_PER_MS)

/* Commits with a note in a group of cooperative members: one that meets a rebalance may cost the assignment
 * (tide_kafka_source_commit_later()), so they are rare. Of eager members none has partitions then. */
#define COOPERATIVE_NOTE_INTERVAL_US (10 * TIDE_US_PER_S)

/* ---- notes ---- */

static gint64
settle_us(const TideConsumer *consumer)
{
  return consumer->context.config->hbase.settle_ms * TIDE_US_PER_MS;
}

/* @partition is given up, or nothing of it is sent before the next commit has said so. */
static gboolean
is_closed(const TidePartition *partition, gboolean closing, gint64 now_us)
{
  return closing && !tide_partition_has_work(partition) && partition->repeated.until_us <= now_us;
}

/* Cells of offsets below the mark are in doubt: each commit must say so. */
static gboolean
needs_note(const TidePartition *partition, gint64 now_us)
{
  return partition->doubt.until_us > now_us || partition->inherited.until_us > now_us;
}

/* (transfer full) */
static char *
note_of(const TideConsumer *consumer, const TidePartition *partition, gint64 offset, gboolean closing, gint64 now_us)
{
  TideCommitNote note = {.is_closed = is_closed(partition, closing, now_us),
                         .span_messages = (guint64)consumer->context.config->kafka.max_span_messages};
  TideDoubt doubt = partition->doubt;
  if (partition->inherited.until_us > now_us)
    tide_doubt_add(&doubt, partition->inherited, now_us);
  if (doubt.until_us > now_us) {
    note.until_ms = tide_wall_clock_epoch_ms() + (doubt.until_us - now_us) / TIDE_US_PER_MS + 1;
    note.time_ms = doubt.time_ms;
  }
  if (offset == partition->commit.start_offset)
    note.start_ms = partition->commit.start_ms;
  return tide_commit_note_format(&note);
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
  gint64 now_us = tide_now_us();
  TideKafkaCommit commit = {.slot = partition->slot, .offset = tide_partition_position(partition)};
  char *note = note_of(consumer, partition, commit.offset, closing, now_us);
  g_ptr_array_add(commits->notes, note);
  commit.note = note;
  g_array_append_val(commits->list, commit);
  tide_partition_commit_asked(partition, commit.offset, is_closed(partition, closing, now_us));
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
    tide_partition_commit_asked(partition, partition->offsets.mark, FALSE);
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
    if (!must_open(partition) && !needs_note(partition, now_us))
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
  for (gsize i = 0; i < n_slots; i++) {
    TidePartition *partition = tide_consumer_partition(consumer, slots[i]);
    if (partition->assigned && tide_partition_position(partition) >= 0 && !is_left_well(partition))
      add_commit(&commits, consumer, partition, TRUE);
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
  atomic_store_explicit(&consumer->last_round_us, tide_now_us(), memory_order_relaxed);
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
  tide_consumer_heed_span(consumer, partition);
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

/* Without a note of ours, or with one of an owner that did not close, what that owner sent of later offsets may still
 * land. */
static TideRepeated
repeated_of(const TideConsumer *consumer, const TideKafkaAssignment *assignment, const TideCommitNote *note,
            gint64 now_us)
{
  if (assignment->is_new || (note != NULL && note->is_closed))
    return (TideRepeated){0};
  return (TideRepeated){.until_us = now_us + settle_us(consumer),
                        .end_offset = assignment->end_offset >= 0 ? assignment->end_offset : G_MAXINT64,
                        .left_messages = note != NULL ? note->span_messages
                                                      : (guint64)consumer->context.config->kafka.max_span_messages};
}

void
tide_consumer_take_over(TideConsumer *consumer, TidePartition *partition, const TideKafkaAssignment *assignment)
{
  gint64 now_us = tide_now_us();
  TideCommitNote note;
  gboolean is_ours = tide_commit_note_parse(assignment->note, &note);
  partition->repeated = repeated_of(consumer, assignment, is_ours ? &note : NULL, now_us);
  gint64 left_us =
      is_ours
          ? CLAMP(note.until_ms - tide_wall_clock_epoch_ms(), 0, settle_us(consumer) / TIDE_US_PER_MS) * TIDE_US_PER_MS
          : 0;
  partition->inherited = left_us > 0 ? (TideDoubt){now_us + left_us, note.time_ms} : (TideDoubt){0};
  tide_open_lanes_inherit(consumer->open_lanes, partition->inherited.until_us);
  g_array_set_size(partition->commit.asked, 0);
  partition->commit = (TidePartitionCommit){.asked = partition->commit.asked,
                                            .start_offset = assignment->start_offset,
                                            .offset = assignment->is_new ? -1 : assignment->start_offset,
                                            .is_closed = is_ours && note.is_closed,
                                            .needs_opening = assignment->is_new || (is_ours && note.is_closed),
                                            .start_ms = is_ours ? note.start_ms : 0};
  if (assignment->is_new)
    partition->commit.start_ms = tide_wall_clock_epoch_ms();
}
