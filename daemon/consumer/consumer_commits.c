#include "consumer/consumer_commits.h"

#include "config/tables_mark.h"
#include "consumer/handover.h"
#include "consumer/rewind.h"
#include "util/clock.h"

#define COMMIT_LOG_US (30 * TIDE_US_PER_S)

/* Minimum time between two calls that store marks. A call costs 1 to 2 us per partition, and commits are at least 100
 * ms apart. */
#define STORE_INTERVAL_US (50 * TIDE_US_PER_MS)

/* Commits with a note are rare in a cooperative group: one that meets a rebalance may cost the assignment
 * (tide_input_commit_later()). Members of an eager group have no partitions then. */
#define COOPERATIVE_NOTE_INTERVAL_US (10 * TIDE_US_PER_S)

/* The oldest brokers keep offsets for a day. */
#define RENEW_INTERVAL_US (3600 * TIDE_US_PER_S)

/* Limit for one request during a rebalance. */
#define QUESTION_US (4 * TIDE_US_PER_S)

void
tide_consumer_commits_init(TideConsumerCommits *commits, const TideConsumerCommitsContext *context)
{
  *commits = (TideConsumerCommits){.context = *context, .tables_mark = tide_config_tables_mark(context->config)};
  commits->failures = tide_metrics_counter(context->metrics, "tidemark_kafka_commit_failures_total",
                                           "Commits that the broker refused", NULL);
}

static TideHandoverContext
handover_context(const TideConsumerCommits *commits)
{
  const TideConfig *config = commits->context.config;
  return (TideHandoverContext){.now_us = tide_now_us(),
                               .now_epoch_ms = tide_wall_clock_epoch_ms(),
                               .settle_us = config->hbase.settle_ms * TIDE_US_PER_MS,
                               .span_messages = (guint64)config->kafka.max_span_messages,
                               .tables_mark = commits->tables_mark};
}

/* ---- commits ---- */

/* Commits to be sent together. */
typedef struct CommitList {
  GArray *commits; /* (element-type TideInputCommit) */
  GPtrArray *notes;
} CommitList;

static CommitList
commit_list_new(void)
{
  return (CommitList){g_array_new(FALSE, FALSE, sizeof(TideInputCommit)), g_ptr_array_new_with_free_func(g_free)};
}

static void
commit_list_free(CommitList *list)
{
  g_array_unref(list->commits);
  g_ptr_array_unref(list->notes);
}

static void
add_commit(CommitList *list, const TideConsumerCommits *commits, TidePartition *partition, gboolean closing)
{
  TideHandoverContext context = handover_context(commits);
  TideCommitNote note = tide_handover_note(partition, closing, &context);
  char *text = tide_commit_note_format(&note);
  TideInputCommit commit = {.slot = partition->slot, .offset = tide_partition_position(partition), .note = text};
  g_ptr_array_add(list->notes, text);
  g_array_append_val(list->commits, commit);
  tide_partition_commit_asked(partition, commit.offset, TRUE, note.is_closed);
}

static gboolean
send_and_wait(TideConsumerCommits *commits, const CommitList *list, gint64 deadline_us)
{
  g_autofree char *problem = NULL;
  const TideInputCommit *first = (const TideInputCommit *)(gconstpointer)list->commits->data;
  if (tide_input_commit(commits->context.input, first, list->commits->len, deadline_us, &problem))
    return TRUE;
  tide_consumer_commits_failed(commits, problem);
  return FALSE;
}

static gboolean
must_open(const TidePartition *partition)
{
  return partition->commit.needs_opening && tide_partition_position(partition) >= 0;
}

static gint64
note_interval_us(const TideConsumerCommits *commits)
{
  const TideKafkaConfig *config = &commits->context.config->kafka;
  gint64 interval_us = config->commit_interval_ms * TIDE_US_PER_MS;
  return config->assignment == TIDE_ASSIGNMENT_COOPERATIVE ? MAX(interval_us, COOPERATIVE_NOTE_INTERVAL_US)
                                                           : interval_us;
}

static void
store_mark(TideConsumerCommits *commits, TidePartition *partition)
{
  gint64 position = tide_partition_position(partition);
  if (tide_input_store(commits->context.input, partition->slot, position))
    tide_partition_commit_asked(partition, position, FALSE, FALSE);
  else
    commits->marks_moved = TRUE; /* refused: retried, even if the mark does not move again */
}

void
tide_consumer_commits_store_marks(TideConsumerCommits *commits)
{
  const GPtrArray *partitions = commits->context.partitions;
  gint64 now_us = tide_now_us();
  gboolean notes_are_due = now_us >= commits->noted_us + note_interval_us(commits);
  CommitList list = commit_list_new();
  commits->marks_moved = FALSE;
  commits->stored_us = now_us;
  for (guint i = 0; i < partitions->len; i++) {
    TidePartition *partition = tide_partition_at(partitions, i);
    gboolean has_moved = !tide_partition_is_halted_by_offset(partition) && tide_partition_has_moved(partition);
    if (!partition->assigned || !partition->location.is_located || (!must_open(partition) && !has_moved))
      continue;
    if (!must_open(partition) && !tide_handover_needs_note(partition, now_us))
      store_mark(commits, partition);
    else if (notes_are_due)
      add_commit(&list, commits, partition, FALSE);
    else
      commits->marks_moved = TRUE; /* checked again */
  }
  if (list.commits->len > 0) {
    commits->noted_us = now_us;
    tide_input_commit_later(commits->context.input, (const TideInputCommit *)(gconstpointer)list.commits->data,
                            list.commits->len);
  }
  commit_list_free(&list);
}

void
tide_consumer_commits_renew(TideConsumerCommits *commits, gint64 now_us)
{
  const GPtrArray *partitions = commits->context.partitions;
  if (commits->renewed_us == 0)
    commits->renewed_us = now_us;
  if (now_us - commits->renewed_us < RENEW_INTERVAL_US)
    return;
  commits->renewed_us = now_us;
  commits->marks_moved = TRUE;
  for (guint i = 0; i < partitions->len; i++)
    tide_partition_at(partitions, i)->commit.needs_opening = TRUE;
}

gint64
tide_consumer_commits_due_us(const TideConsumerCommits *commits)
{
  return commits->marks_moved ? commits->stored_us + STORE_INTERVAL_US : G_MAXINT64;
}

/* Whether @partition's final commit for its next owner is done. */
static gboolean
is_handed_over(const TidePartition *partition)
{
  return partition->commit.is_closed && !partition->commit.needs_opening &&
         partition->commit.offset == tide_partition_position(partition);
}

gboolean
tide_consumer_commits_close(TideConsumerCommits *commits, const guint32 *slots, gsize n_slots, gint64 deadline_us)
{
  CommitList list = commit_list_new();
  for (gsize i = 0; i < n_slots; i++) {
    TidePartition *partition = tide_partition_at(commits->context.partitions, slots[i]);
    if (partition->assigned && tide_partition_position(partition) >= 0 && !is_handed_over(partition))
      add_commit(&list, commits, partition, !tide_rewind_find_stale_rows(partition, commits->context.accumulator));
  }
  gboolean good = send_and_wait(commits, &list, deadline_us);
  commit_list_free(&list);
  return good;
}

gboolean
tide_consumer_commits_are_done(const TideConsumerCommits *commits, const guint32 *slots, gsize n_slots)
{
  for (gsize i = 0; i < n_slots; i++) {
    const TidePartition *partition = tide_partition_at(commits->context.partitions, slots[i]);
    if (partition->assigned && partition->offsets.mark >= 0 &&
        partition->commit.offset != tide_partition_position(partition))
      return FALSE;
  }
  return TRUE;
}

void
tide_consumer_commits_open(TideConsumerCommits *commits, const guint32 *slots, gsize n_slots)
{
  CommitList list = commit_list_new();
  for (gsize i = 0; i < n_slots; i++) {
    TidePartition *partition = tide_partition_at(commits->context.partitions, slots[i]);
    if (must_open(partition))
      add_commit(&list, commits, partition, FALSE);
  }
  if (!send_and_wait(commits, &list, tide_now_us() + QUESTION_US))
    commits->noted_us = tide_now_us(); /* the group may be rebalancing: retried when the next note is due */
  commit_list_free(&list);
}

/* ---- answers ---- */

void
tide_consumer_commits_answered(TideConsumerCommits *commits, TidePartition *partition, gint64 offset, gboolean good)
{
  tide_partition_commit_answered(partition, offset, good);
  if (!good)
    commits->marks_moved = TRUE;
}

void
tide_consumer_commits_failed(TideConsumerCommits *commits, const char *text)
{
  guint64 suppressed;
  tide_counter_inc(commits->failures);
  if (tide_log_limit_pass(&commits->failure_limit, tide_now_us(), COMMIT_LOG_US, &suppressed))
    tide_log_fields(TIDE_LOG_WARNING, "commit-failed", TIDE_LOG_FIELDS({"REASON", text}),
                    "cannot commit offsets: %s; retrying with the next commit; if the partitions move first, their "
                    "next owner repeats some writes: nothing is lost%s",
                    text, tide_log_suppressed(suppressed, "failures").text);
}

/* ---- the previous owner's note ---- */

void
tide_consumer_commits_take_over(TideConsumerCommits *commits, TidePartition *partition, const TideInputLog *log,
                                const TideCommitNote *note, gint64 start_offset)
{
  TideHandoverContext context = handover_context(commits);
  TideHandoverFrom from = {.committed_offset = log->committed_offset,
                           .start_offset = start_offset,
                           .end_offset = log->end_offset,
                           .note = note};
  tide_handover_take(partition, &from, &context);
}
