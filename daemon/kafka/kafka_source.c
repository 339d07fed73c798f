#include "kafka/kafka_source.h"

#include "config/config_source.h"
#include "kafka/kafka_commit.h"
#include "kafka/kafka_conf.h"
#include "kafka/kafka_fault.h"
#include "kafka/kafka_message.h"
#include "kafka/kafka_refill.h"
#include "kafka/kafka_right.h"
#include "kafka/kafka_start.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/log.h"

#define NO_SLOT G_MAXUINT16

/* Partitions found without a look by name: direct-mapped, a power of two. */
#define CACHE_SIZE 256u

typedef struct CacheEntry {
  const rd_kafka_topic_t *topic;
  gint32 partition;
  guint16 slot;
} CacheEntry;

typedef struct SlotName {
  char *topic; /* owned */
  gint32 partition;
  gint64 begin_offset; /* where it was last assigned or moved to; below 0: librdkafka was to ask */
  gboolean denied;     /* reported, and nothing was read since */
} SlotName;

typedef struct TideKafkaSource {
  TideInput input;
  TideKafkaSourceOptions options;
  TideInputHandlers handlers;
  rd_kafka_t *kafka;
  rd_kafka_queue_t *queue; /* of the consumer: for wake */
  TideKafkaRefill refill;
  GPtrArray *names; /* owned (element-type SlotName), by slot; NULL where unknown */
  CacheEntry cache[CACHE_SIZE];
  guint n_denied; /* slots */
  gboolean is_closed;
} TideKafkaSource;

/* A partition that was moved begins there. */
static void move_slot(TideInput *input, guint16 slot, gint64 offset);

static TideKafkaSource *
source_of(TideInput *input)
{
  return (TideKafkaSource *)input;
}

static void
slot_name_free(gpointer data)
{
  SlotName *name = data;
  if (name == NULL)
    return;
  g_free(name->topic);
  g_free(name);
}

/* ---- slots ---- */

static guint16
find_slot_by_name(const TideKafkaSource *source, const char *topic, gint32 partition)
{
  for (guint i = 0; i < source->names->len; i++) {
    const SlotName *name = g_ptr_array_index(source->names, i);
    if (name != NULL && name->partition == partition && strcmp(name->topic, topic) == 0)
      return (guint16)i;
  }
  return NO_SLOT;
}

static guint16
find_slot(TideKafkaSource *source, const rd_kafka_message_t *raw)
{
  gsize index = ((gsize)raw->rkt >> 6 ^ (gsize)raw->partition) & (CACHE_SIZE - 1);
  CacheEntry *entry = &source->cache[index];
  if (entry->topic != raw->rkt || entry->partition != raw->partition)
    *entry = (CacheEntry){raw->rkt, raw->partition,
                          find_slot_by_name(source, rd_kafka_topic_name(raw->rkt), raw->partition)};
  return entry->slot;
}

static void
remember_slot(TideKafkaSource *source, guint16 slot, const char *topic, gint32 partition)
{
  if (slot == NO_SLOT)
    return;
  if (slot >= source->names->len)
    g_ptr_array_set_size(source->names, slot + 1);
  SlotName **name = (SlotName **)&g_ptr_array_index(source->names, slot);
  if (*name != NULL && (*name)->partition == partition && strcmp((*name)->topic, topic) == 0)
    return;
  if (*name != NULL) /* another had it before */
    source->n_denied -= (*name)->denied ? 1 : 0;
  slot_name_free(*name);
  *name = g_new0(SlotName, 1);
  (*name)->topic = g_strdup(topic);
  (*name)->partition = partition;
}

static SlotName *
name_of(const TideKafkaSource *source, guint16 slot)
{
  return g_ptr_array_index(source->names, slot);
}

/* ---- rebalance ---- */

static gboolean
is_cooperative(const TideKafkaSource *source)
{
  return g_strcmp0(rd_kafka_rebalance_protocol(source->kafka), "COOPERATIVE") == 0;
}

static void
log_rebalance_problem(const char *what, rd_kafka_error_t *problem)
{
  if (problem == NULL)
    return;
  tide_log(TIDE_LOG_ERROR, "assignment-failed", "cannot %s partitions: %s; restart the daemon to join the group anew",
           what, rd_kafka_error_string(problem));
  rd_kafka_error_destroy(problem);
}

static void
assign(TideKafkaSource *source, const rd_kafka_topic_partition_list_t *partitions)
{
  rd_kafka_resp_err_t problem = rd_kafka_assign(source->kafka, partitions);
  if (problem != RD_KAFKA_RESP_ERR_NO_ERROR)
    tide_log(TIDE_LOG_ERROR, "assignment-failed",
             "cannot take partitions: %s; restart the daemon to join the group anew", rd_kafka_err2str(problem));
}

static void
report_progress(gpointer data)
{
  TideKafkaSource *source = data;
  source->handlers.progress(source->handlers.data);
}

/* Fills in where @partitions begin. (transfer full) */
static TideKafkaStart *
find_starts(TideKafkaSource *source, rd_kafka_topic_partition_list_t *partitions)
{
  TideKafkaStarts starts = {source->kafka, &source->options.config->kafka, report_progress, source};
  return tide_kafka_find_starts(&starts, partitions);
}

static guint16
report_assigned(TideKafkaSource *source, const rd_kafka_topic_partition_t *at, const TideKafkaStart *start)
{
  TideInputAssignment assignment = {.topic = at->topic,
                                    .partition = at->partition,
                                    .start_offset = start->start_offset,
                                    .end_offset = start->end_offset,
                                    .is_new = start->is_answered && !start->is_committed};
  if (start->is_committed)
    assignment.note = tide_bytes(at->metadata, at->metadata_size);
  return source->handlers.assigned(&assignment, source->handlers.data);
}

static void
take(TideKafkaSource *source, rd_kafka_topic_partition_list_t *partitions)
{
  memset(source->cache, 0, sizeof source->cache);
  g_autofree TideKafkaStart *starts = find_starts(source, partitions);
  g_autofree guint16 *slots = g_new(guint16, (gsize)MAX(partitions->cnt, 1));
  gsize n_slots = 0;
  for (int i = 0; i < partitions->cnt; i++) {
    guint16 slot = report_assigned(source, &partitions->elems[i], &starts[i]);
    remember_slot(source, slot, partitions->elems[i].topic, partitions->elems[i].partition);
    if (slot == NO_SLOT)
      continue;
    name_of(source, slot)->begin_offset = partitions->elems[i].offset;
    slots[n_slots++] = slot;
  }
  source->handlers.taking(slots, n_slots, source->handlers.data);
  if (is_cooperative(source))
    log_rebalance_problem("take", rd_kafka_incremental_assign(source->kafka, partitions));
  else
    assign(source, partitions);
  source->handlers.assignment_done(source->handlers.data);
}

static void
give_up(TideKafkaSource *source, rd_kafka_topic_partition_list_t *partitions)
{
  gboolean lost = rd_kafka_assignment_lost(source->kafka);
  g_autofree guint16 *slots = g_new(guint16, (gsize)MAX(partitions->cnt, 1));
  gsize n_slots = 0;
  for (int i = 0; i < partitions->cnt; i++) {
    guint16 slot = find_slot_by_name(source, partitions->elems[i].topic, partitions->elems[i].partition);
    if (slot != NO_SLOT)
      slots[n_slots++] = slot;
  }
  source->handlers.revoking(slots, n_slots, lost, source->handlers.data);
  if (is_cooperative(source))
    log_rebalance_problem("give up", rd_kafka_incremental_unassign(source->kafka, partitions));
  else
    rd_kafka_assign(source->kafka, NULL);
  source->handlers.revoked(slots, n_slots, source->handlers.data);
}

static void
on_rebalance(rd_kafka_t *kafka, rd_kafka_resp_err_t event, rd_kafka_topic_partition_list_t *partitions, void *opaque)
{
  TideKafkaSource *source = opaque;
  if (event == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS)
    take(source, partitions);
  else
    give_up(source, partitions);
}

/* ---- troubles ---- */

static TideInputTrouble
kind_of(rd_kafka_resp_err_t code, guint16 slot)
{
  switch ((int)code) {
  case RD_KAFKA_RESP_ERR__FATAL:
    return TIDE_INPUT_TROUBLE_FATAL;
  case RD_KAFKA_RESP_ERR__MAX_POLL_EXCEEDED:
    return TIDE_INPUT_TROUBLE_POLL;
  case RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET:
  case RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE:
  case RD_KAFKA_RESP_ERR__NO_OFFSET:
    return TIDE_INPUT_TROUBLE_OUT_OF_RANGE;
  case RD_KAFKA_RESP_ERR__BAD_MSG:
  case RD_KAFKA_RESP_ERR__BAD_COMPRESSION:
  case RD_KAFKA_RESP_ERR__NOT_IMPLEMENTED: /* a format that this librdkafka does not know: it skips it all the same */
    return slot != NO_SLOT ? TIDE_INPUT_TROUBLE_DAMAGED : TIDE_INPUT_TROUBLE_CLIENT;
  case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
  case RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED:
  case RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED:
    return TIDE_INPUT_TROUBLE_DENIED;
  case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
  case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
  case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
    return TIDE_INPUT_TROUBLE_MISSING;
  default:
    return slot != NO_SLOT ? TIDE_INPUT_TROUBLE_PARTITION : TIDE_INPUT_TROUBLE_CLIENT;
  }
}

static void
report(TideKafkaSource *source, TideInputTrouble kind, guint16 slot, const char *text)
{
  TideInputReport what = {.kind = kind, .slot = slot, .text = text};
  source->handlers.trouble(&what, source->handlers.data);
}

/* Names who is denied what: librdkafka says the one half of it, or none. */
static void
report_denied(TideKafkaSource *source, const rd_kafka_message_t *raw, guint16 slot, const char *text)
{
  const TideKafkaConfig *config = &source->options.config->kafka;
  gboolean is_group = raw->err == RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED;
  const char *topic = raw->rkt != NULL ? rd_kafka_topic_name(raw->rkt) : config->topics[0];
  g_autofree char *missing = tide_kafka_right_missing(config, is_group ? TIDE_KAFKA_RIGHT_GROUP : TIDE_KAFKA_RIGHT_READ,
                                                      is_group ? config->group : topic);
  g_autofree char *whole = g_strdup_printf("%s (%s)", missing, text);
  if (slot != NO_SLOT) {
    SlotName *name = name_of(source, slot);
    source->n_denied += name->denied ? 0 : 1;
    name->denied = TRUE;
  }
  report(source, TIDE_INPUT_TROUBLE_DENIED, slot, whole);
}

static void
recover(TideKafkaSource *source, guint16 slot)
{
  SlotName *name = name_of(source, slot);
  if (!name->denied)
    return;
  name->denied = FALSE;
  source->n_denied--;
  source->handlers.recovered(slot, source->handlers.data);
}

/* The offset that was asked for is not there. On which side of what is there it lies makes all the difference. */
static void
report_out_of_range(TideKafkaSource *source, guint16 slot, gint64 offset, const char *text)
{
  const SlotName *name = name_of(source, slot);
  gint64 low = -1, high = -1;
  rd_kafka_resp_err_t problem = rd_kafka_query_watermark_offsets(source->kafka, name->topic, name->partition, &low,
                                                                 &high, TIDE_KAFKA_QUESTION_MS);
  if (problem == RD_KAFKA_RESP_ERR_NO_ERROR && offset >= 0 && offset < low) {
    g_autofree char *lost = g_strdup_printf(
        "messages %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT " were deleted before they were read", offset, low - 1);
    TideInputReport what = {TIDE_INPUT_TROUBLE_LOST, slot, lost, offset, low};
    source->handlers.trouble(&what, source->handlers.data);
    return;
  }
  g_autofree char *behind =
      g_strdup_printf("offset %" G_GINT64_FORMAT " is to be read next, but the partition ends at %" G_GINT64_FORMAT
                      ": the topic was made anew, or lost its newest messages",
                      offset, high);
  report(source, TIDE_INPUT_TROUBLE_OUT_OF_RANGE, slot,
         problem == RD_KAFKA_RESP_ERR_NO_ERROR && offset > high ? behind : text);
}

/* librdkafka asked for the committed offset itself, because the broker had not answered us, and there is none. */
static void
start_after_all(TideKafkaSource *source, guint16 slot)
{
  const SlotName *name = name_of(source, slot);
  rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
  rd_kafka_topic_partition_list_add(list, name->topic, name->partition);
  g_autofree TideKafkaStart *start = find_starts(source, list);
  (void)report_assigned(source, &list->elems[0], start);
  source->handlers.taking(&slot, 1, source->handlers.data);
  move_slot(&source->input, slot, list->elems[0].offset);
  rd_kafka_topic_partition_list_destroy(list);
}

static void
on_error(rd_kafka_t *kafka, int code, const char *reason, void *opaque)
{
  TideKafkaSource *source = opaque;
  if (code == RD_KAFKA_RESP_ERR__FATAL) {
    char text[512];
    rd_kafka_resp_err_t fatal = rd_kafka_fatal_error(kafka, text, sizeof text);
    g_autofree char *whole = g_strdup_printf("%s: %s", rd_kafka_err2name(fatal), text);
    report(source, TIDE_INPUT_TROUBLE_FATAL, NO_SLOT, whole);
    return;
  }
  g_autofree char *explained = tide_kafka_fault_explain(kafka, reason);
  report(source, TIDE_INPUT_TROUBLE_CLIENT, NO_SLOT, explained);
}

/* ---- commits ---- */

/* Tells how the commit of each partition ended. Returns: what went wrong; NULL: nothing did. (transfer full) */
static char *
report_committed(TideKafkaSource *source, rd_kafka_resp_err_t whole, const rd_kafka_topic_partition_list_t *offsets)
{
  for (int i = 0; offsets != NULL && i < offsets->cnt; i++) {
    const rd_kafka_topic_partition_t *at = &offsets->elems[i];
    gboolean good = tide_kafka_commit_result(whole, at) == RD_KAFKA_RESP_ERR_NO_ERROR;
    guint16 slot = find_slot_by_name(source, at->topic, at->partition);
    if (slot != NO_SLOT && at->offset >= 0)
      source->handlers.committed(slot, at->offset, good, source->handlers.data);
  }
  return tide_kafka_commit_problem(whole, offsets);
}

static void
on_commit(rd_kafka_t *kafka, rd_kafka_resp_err_t result, rd_kafka_topic_partition_list_t *offsets, void *opaque)
{
  TideKafkaSource *source = opaque;
  if (result == RD_KAFKA_RESP_ERR__NO_OFFSET)
    return; /* nothing new was stored */
  g_autofree char *problem = report_committed(source, result, offsets);
  if (problem != NULL)
    source->handlers.commit_failed(problem, source->handlers.data);
}

static rd_kafka_topic_partition_list_t *
list_of(const TideKafkaSource *source, guint16 slot, gint64 offset)
{
  const SlotName *name = name_of(source, slot);
  rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
  rd_kafka_topic_partition_list_add(list, name->topic, name->partition)->offset = offset;
  return list;
}

static rd_kafka_topic_partition_list_t *
list_of_commits(const TideKafkaSource *source, const TideInputCommit *commits, gsize n_commits)
{
  rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new((int)n_commits);
  for (gsize i = 0; i < n_commits; i++) {
    const SlotName *name = name_of(source, commits[i].slot);
    tide_kafka_commit_add(list, name->topic, name->partition, commits[i].offset, commits[i].note);
  }
  return list;
}

static gboolean
store_offset(TideInput *input, guint16 slot, gint64 offset)
{
  TideKafkaSource *source = source_of(input);
  /* One partition a call, judged by the return code: measured, the element's own error field is not set. */
  rd_kafka_topic_partition_list_t *list = list_of(source, slot, offset);
  rd_kafka_resp_err_t problem = rd_kafka_offsets_store(source->kafka, list);
  rd_kafka_topic_partition_list_destroy(list);
  return problem == RD_KAFKA_RESP_ERR_NO_ERROR;
}

/* What is stored is committed at the next interval, and when librdkafka gives the partition up, without a note: a
 * commit that is under way would be followed by what was stored before it, which is less. So nothing is stored any more
 * when a commit is sent; of one that fails more is stored or committed soon. Measured with 2.0.2. */
static void
forget_stored(TideKafkaSource *source, const TideInputCommit *commits, gsize n_commits)
{
  for (gsize i = 0; i < n_commits; i++)
    (void)store_offset(&source->input, commits[i].slot, RD_KAFKA_OFFSET_INVALID);
}

static void
commit_later(TideInput *input, const TideInputCommit *commits, gsize n_commits)
{
  TideKafkaSource *source = source_of(input);
  forget_stored(source, commits, n_commits);
  rd_kafka_topic_partition_list_t *list = list_of_commits(source, commits, n_commits);
  rd_kafka_resp_err_t problem = rd_kafka_commit(source->kafka, list, 1);
  if (problem != RD_KAFKA_RESP_ERR_NO_ERROR)
    on_commit(source->kafka, problem, list, source);
  rd_kafka_topic_partition_list_destroy(list);
}

/* A commit that is waited for. */
typedef struct CommitAnswer {
  TideKafkaSource *source; /* borrowed */
  gboolean is_there;
  char *problem; /* owned */
} CommitAnswer;

static void
on_commit_answer(rd_kafka_t *kafka, rd_kafka_resp_err_t result, rd_kafka_topic_partition_list_t *offsets, void *opaque)
{
  CommitAnswer *answer = opaque;
  answer->is_there = TRUE;
  answer->problem = report_committed(answer->source, result, offsets);
}

/* rd_kafka_commit() would wait as long as librdkafka tries. With a queue of its own the answer is only taken here. */
static gboolean
commit_and_wait(TideInput *input, const TideInputCommit *commits, gsize n_commits, gint64 deadline_us,
                char **ret_problem)
{
  TideKafkaSource *source = source_of(input);
  if (n_commits == 0)
    return TRUE;
  CommitAnswer answer = {.source = source};
  forget_stored(source, commits, n_commits);
  rd_kafka_topic_partition_list_t *list = list_of_commits(source, commits, n_commits);
  rd_kafka_queue_t *queue = rd_kafka_queue_new(source->kafka);
  rd_kafka_resp_err_t problem = rd_kafka_commit_queue(source->kafka, list, queue, on_commit_answer, &answer);
  if (problem != RD_KAFKA_RESP_ERR_NO_ERROR)
    on_commit_answer(source->kafka, problem, list, &answer);
  gint64 left_us;
  while (!answer.is_there && (left_us = deadline_us - tide_now_us()) > 0)
    rd_kafka_queue_poll_callback(queue, (int)MIN(left_us / TIDE_US_PER_MS + 1, 1000));
  if (!answer.is_there)
    on_commit_answer(source->kafka, RD_KAFKA_RESP_ERR__TIMED_OUT, list, &answer);
  rd_kafka_queue_destroy(queue);
  rd_kafka_topic_partition_list_destroy(list);
  *ret_problem = answer.problem;
  return answer.problem == NULL;
}

/* ---- polling ---- */

static void
fill_record(rd_kafka_message_t *raw, guint16 slot, TideInputRecord *record)
{
  *record = (TideInputRecord){.message = tide_kafka_message(raw), .slot = slot, .raw = raw};
}

/* What poll returned instead of a message. */
static void
handle_event(TideKafkaSource *source, const rd_kafka_message_t *raw)
{
  guint16 slot = raw->rkt != NULL ? find_slot(source, raw) : NO_SLOT;
  const char *text = rd_kafka_message_errstr(raw);
  if (raw->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
    if (slot != NO_SLOT)
      source->handlers.reached_end(slot, raw->offset, source->handlers.data);
    return;
  }
  if (text == NULL)
    text = rd_kafka_err2str(raw->err);
  TideInputTrouble kind = kind_of(raw->err, slot);
  if (kind == TIDE_INPUT_TROUBLE_DENIED)
    report_denied(source, raw, slot, text);
  else if (kind != TIDE_INPUT_TROUBLE_OUT_OF_RANGE || slot == NO_SLOT)
    report(source, kind, slot, text);
  else if (raw->offset == RD_KAFKA_OFFSET_INVALID)
    start_after_all(source, slot);
  else
    report_out_of_range(source, slot, raw->offset, text);
}

static gboolean
poll_source(TideInput *input, int timeout_ms, TideInputRecord *ret_record)
{
  TideKafkaSource *source = source_of(input);
  rd_kafka_message_t *raw =
      rd_kafka_consumer_poll(source->kafka, tide_kafka_refill_wait_ms(&source->refill, timeout_ms));
  if (raw == NULL)
    return FALSE;
  guint16 slot;
  if (raw->err == RD_KAFKA_RESP_ERR_NO_ERROR && (slot = find_slot(source, raw)) != NO_SLOT) {
    if (G_UNLIKELY(source->n_denied > 0))
      recover(source, slot);
    fill_record(raw, slot, ret_record);
    tide_kafka_refill_taken(&source->refill, raw->len + raw->key_len);
    return TRUE;
  }
  if (raw->err != RD_KAFKA_RESP_ERR_NO_ERROR)
    handle_event(source, raw);
  rd_kafka_message_destroy(raw);
  return FALSE;
}

static void
release_record(TideInput *input, TideInputRecord *record)
{
  rd_kafka_message_destroy(record->raw);
  record->raw = NULL;
}

static void
wake(TideInput *input)
{
  TideKafkaSource *source = source_of(input);
  rd_kafka_queue_yield(source->queue);
}

/* ---- one partition ---- */

static void
pause_slot(TideInput *input, guint16 slot)
{
  TideKafkaSource *source = source_of(input);
  rd_kafka_topic_partition_list_t *list = list_of(source, slot, RD_KAFKA_OFFSET_INVALID);
  rd_kafka_pause_partitions(source->kafka, list);
  rd_kafka_topic_partition_list_destroy(list);
}

static void
resume_slot(TideInput *input, guint16 slot)
{
  TideKafkaSource *source = source_of(input);
  rd_kafka_topic_partition_list_t *list = list_of(source, slot, RD_KAFKA_OFFSET_INVALID);
  rd_kafka_resume_partitions(source->kafka, list);
  rd_kafka_topic_partition_list_destroy(list);
}

/* Where @at, of which nothing was handed out since it was assigned, was to begin. */
static gint64
find_beginning(TideKafkaSource *source, const rd_kafka_topic_partition_t *at)
{
  guint16 slot = find_slot_by_name(source, at->topic, at->partition);
  if (slot != NO_SLOT && name_of(source, slot)->begin_offset >= 0)
    return name_of(source, slot)->begin_offset;
  rd_kafka_topic_partition_list_t *one = rd_kafka_topic_partition_list_new(1);
  rd_kafka_topic_partition_list_add(one, at->topic, at->partition);
  g_free(find_starts(source, one));
  gint64 offset = one->elems[0].offset;
  rd_kafka_topic_partition_list_destroy(one);
  return offset;
}

/* A fetch that failed with "out of range" has ended for librdkafka, so that a seek is refused: the partition is
 * assigned once more. Where the protocol is eager, that means all of them; each goes on behind the last message that
 * was handed out. */
static void
assign_all_again(TideKafkaSource *source, guint16 slot, gint64 offset)
{
  const SlotName *name = name_of(source, slot);
  rd_kafka_topic_partition_list_t *all = NULL;
  rd_kafka_resp_err_t problem = rd_kafka_assignment(source->kafka, &all);
  if (problem == RD_KAFKA_RESP_ERR_NO_ERROR)
    problem = rd_kafka_position(source->kafka, all);
  for (int i = 0; problem == RD_KAFKA_RESP_ERR_NO_ERROR && i < all->cnt; i++) {
    rd_kafka_topic_partition_t *at = &all->elems[i];
    if (at->partition == name->partition && strcmp(at->topic, name->topic) == 0)
      at->offset = offset;
    else if (at->offset < 0)
      at->offset = find_beginning(source, at);
    guint16 assigned = find_slot_by_name(source, at->topic, at->partition);
    if (assigned != NO_SLOT)
      name_of(source, assigned)->begin_offset = at->offset;
  }
  if (problem == RD_KAFKA_RESP_ERR_NO_ERROR)
    assign(source, all);
  else
    tide_log_fields(TIDE_LOG_ERROR, "seek-failed",
                    TIDE_LOG_FIELDS({"TOPIC", name->topic}, {"PARTITION", tide_log_number(name->partition).text},
                                    {"SOURCE", tide_config_source_name(source->options.config, name->topic)},
                                    {"OFFSET", tide_log_number(offset).text}),
                    "cannot move topic '%s' partition %d to offset %" G_GINT64_FORMAT
                    ": %s; it is not read before the next rebalance: restart the daemon to make one",
                    name->topic, name->partition, offset, rd_kafka_err2str(problem));
  if (all != NULL)
    rd_kafka_topic_partition_list_destroy(all);
}

static void
move_slot(TideInput *input, guint16 slot, gint64 offset)
{
  TideKafkaSource *source = source_of(input);
  if (!is_cooperative(source)) {
    assign_all_again(source, slot, offset);
    return;
  }
  rd_kafka_topic_partition_list_t *list = list_of(source, slot, offset);
  log_rebalance_problem("move", rd_kafka_incremental_unassign(source->kafka, list));
  log_rebalance_problem("move", rd_kafka_incremental_assign(source->kafka, list));
  rd_kafka_topic_partition_list_destroy(list);
}

/* ---- life ---- */

static gboolean
subscribe(TideKafkaSource *source, GError **error)
{
  rd_kafka_topic_partition_list_t *topics = rd_kafka_topic_partition_list_new(4);
  for (char **topic = source->options.config->kafka.topics; *topic != NULL; topic++)
    rd_kafka_topic_partition_list_add(topics, *topic, RD_KAFKA_PARTITION_UA);
  rd_kafka_resp_err_t problem = rd_kafka_subscribe(source->kafka, topics);
  rd_kafka_topic_partition_list_destroy(topics);
  if (problem == RD_KAFKA_RESP_ERR_NO_ERROR)
    return TRUE;
  g_set_error(error, TIDE_ERROR, TIDE_ERROR_KAFKA, "cannot subscribe to the topics: %s", rd_kafka_err2str(problem));
  return FALSE;
}

static void
close_source(TideInput *input)
{
  TideKafkaSource *source = source_of(input);
  rd_kafka_consumer_close(source->kafka);
  source->is_closed = TRUE;
}

static void
free_source(TideInput *input)
{
  TideKafkaSource *source = source_of(input);
  if (source->queue != NULL)
    rd_kafka_queue_destroy(source->queue);
  /* Destroying closes once more, and that has been seen never to return while the broker was away. */
  if (source->kafka != NULL)
    rd_kafka_destroy_flags(source->kafka, source->is_closed ? RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE : 0);
  g_ptr_array_unref(source->names);
  g_free(source);
}

static const TideInputFuncs funcs = {.poll = poll_source,
                                     .release = release_record,
                                     .wake = wake,
                                     .pause = pause_slot,
                                     .resume = resume_slot,
                                     .store = store_offset,
                                     .commit_later = commit_later,
                                     .commit = commit_and_wait,
                                     .move = move_slot,
                                     .close = close_source,
                                     .free = free_source};

TideInput *
tide_kafka_source_new(const TideKafkaSourceOptions *options, const TideInputHandlers *handlers, GError **error)
{
  TideKafkaConsumerConf fixed = tide_kafka_conf_consumer(options->config, options->index);
  rd_kafka_conf_t *conf = tide_kafka_conf_new_consumer(&options->config->kafka, &fixed, error);
  if (conf == NULL)
    return NULL;
  TideKafkaSource *source = g_new0(TideKafkaSource, 1);
  source->input.funcs = &funcs;
  source->options = *options;
  source->handlers = *handlers;
  source->names = g_ptr_array_new_with_free_func(slot_name_free);
  rd_kafka_conf_set_opaque(conf, source);
  rd_kafka_conf_set_rebalance_cb(conf, on_rebalance);
  rd_kafka_conf_set_error_cb(conf, on_error);
  rd_kafka_conf_set_offset_commit_cb(conf, on_commit);

  source->kafka = tide_kafka_conf_connect(RD_KAFKA_CONSUMER, conf, error);
  if (source->kafka == NULL) {
    free_source(&source->input);
    return NULL;
  }
  rd_kafka_poll_set_consumer(source->kafka);
  source->queue = rd_kafka_queue_get_consumer(source->kafka);
  tide_kafka_refill_init(&source->refill, source->kafka, source->queue, NULL);
  if (!subscribe(source, error)) {
    free_source(&source->input);
    return NULL;
  }
  return &source->input;
}
