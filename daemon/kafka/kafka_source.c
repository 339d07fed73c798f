#include "kafka/kafka_source.h"

#include "config/config_source.h"
#include "kafka/group_offsets.h"
#include "kafka/kafka_client.h"
#include "kafka/kafka_conf.h"
#include "kafka/kafka_error.h"
#include "kafka/kafka_start.h"
#include "kafka/kafka_wakeup.h"
#include "util/backoff.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/log.h"

/* Partitions found without a lookup by name: direct-mapped, a power of two. */
#define CACHE_SIZE 256u

typedef struct CacheEntry {
  const rd_kafka_topic_t *topic;
  gint32 partition;
  guint32 slot;
} CacheEntry;

/* The brokers are asked again about unlocated partitions: soon at first, and less often if that fails. The thread waits
 * for the answers, so each question is short. */
#define LOCATE_MIN_US (TIDE_US_PER_S / 2)
#define LOCATE_MAX_US (10 * TIDE_US_PER_S)
#define LOCATE_QUESTION_MS 1000

typedef struct SourcePartition {
  char *topic; /* owned */
  gint32 partition;
  gboolean is_unlocated; /* ours, and to be located before it is read ... */
  gint64 wanted_offset;  /* ... at the offset that was not found; -1: at the result of located() */
  gboolean is_ours;
  gboolean is_halted;  /* not to be fetched, although librdkafka may still have it */
  gint64 begin_offset; /* the offset of its last assignment or move */
  char *denial;        /* owned: reported, and its topic was not read since; NULL: it may be read */
} SourcePartition;

typedef struct TideKafkaSource {
  TideInput input;
  TideKafkaSourceOptions options;
  TideInputHandlers handlers;
  rd_kafka_t *kafka;
  rd_kafka_queue_t *queue; /* of the consumer: for wake */
  TideKafkaRefill refill;
  TideKafkaRouse rouse;
  GPtrArray *partitions; /* owned (element-type SourcePartition), by slot; NULL where unknown */
  CacheEntry cache[CACHE_SIZE];
  guint n_denied;    /* slots with a denial */
  guint n_unlocated; /* slots */
  guint32 n_looks;   /* in a row that left some unlocated */
  gint64 locate_us;  /* when the next look is due */
  gboolean is_closed;
} TideKafkaSource;

static TideKafkaSource *
source_of(TideInput *input)
{
  return (TideKafkaSource *)input;
}

static void
source_partition_free(gpointer data)
{
  SourcePartition *its = data;
  if (its == NULL)
    return;
  g_free(its->topic);
  g_free(its->denial);
  g_free(its);
}

/* ---- slots ---- */

static guint32
find_slot_by_name(const TideKafkaSource *source, const char *topic, gint32 partition)
{
  for (guint i = 0; i < source->partitions->len; i++) {
    const SourcePartition *its = g_ptr_array_index(source->partitions, i);
    if (its != NULL && its->partition == partition && strcmp(its->topic, topic) == 0)
      return i;
  }
  return TIDE_INPUT_NO_SLOT;
}

static guint32
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
remember_slot(TideKafkaSource *source, guint32 slot, const char *topic, gint32 partition)
{
  if (slot >= source->partitions->len)
    g_ptr_array_set_size(source->partitions, (gint)slot + 1);
  SourcePartition **its = (SourcePartition **)&g_ptr_array_index(source->partitions, slot);
  if (*its != NULL)
    return;
  *its = g_new0(SourcePartition, 1);
  (*its)->topic = g_strdup(topic);
  (*its)->partition = partition;
}

static SourcePartition *
partition_of(const TideKafkaSource *source, guint32 slot)
{
  return g_ptr_array_index(source->partitions, slot);
}

/* ---- where partitions start ---- */

static gboolean
is_cooperative(const TideKafkaSource *source)
{
  return g_strcmp0(rd_kafka_rebalance_protocol(source->kafka), "COOPERATIVE") == 0;
}

static void
log_assignment_failure(const char *what, const char *why)
{
  tide_log(TIDE_LOG_ERROR, "assignment-failed", "cannot %s partitions: %s; restart the daemon to rejoin the group",
           what, why);
}

static void
log_rebalance_problem(const char *what, rd_kafka_error_t *problem)
{
  if (problem == NULL)
    return;
  log_assignment_failure(what, rd_kafka_error_string(problem));
  rd_kafka_error_destroy(problem);
}

static void
assign(TideKafkaSource *source, const rd_kafka_topic_partition_list_t *partitions)
{
  rd_kafka_resp_err_t problem = rd_kafka_assign(source->kafka, partitions);
  if (problem != RD_KAFKA_RESP_ERR_NO_ERROR)
    log_assignment_failure("take", rd_kafka_err2str(problem));
}

static SourcePartition *
partition_at(TideKafkaSource *source, const rd_kafka_topic_partition_t *at)
{
  guint32 slot = find_slot_by_name(source, at->topic, at->partition);
  return slot != TIDE_INPUT_NO_SLOT ? partition_of(source, slot) : NULL;
}

/* Makes librdkafka fetch the partitions of @list from their offsets, whether it has them or not. Its other partitions
 * continue after the last message passed on. Not for use inside a rebalance. */
static void
assign_more(TideKafkaSource *source, const rd_kafka_topic_partition_list_t *list)
{
  g_autoptr(rd_kafka_topic_partition_list_t) all = NULL;
  rd_kafka_resp_err_t problem = rd_kafka_assignment(source->kafka, &all);
  if (problem == RD_KAFKA_RESP_ERR_NO_ERROR && !is_cooperative(source))
    problem = rd_kafka_position(source->kafka, all);
  if (problem != RD_KAFKA_RESP_ERR_NO_ERROR) {
    log_assignment_failure("take", rd_kafka_err2str(problem));
    return;
  }
  if (is_cooperative(source)) {
    g_autoptr(rd_kafka_topic_partition_list_t) known = rd_kafka_topic_partition_list_new(list->cnt);
    for (int i = 0; i < list->cnt; i++)
      if (rd_kafka_topic_partition_list_find(all, list->elems[i].topic, list->elems[i].partition) != NULL)
        rd_kafka_topic_partition_list_add(known, list->elems[i].topic, list->elems[i].partition)->offset =
            RD_KAFKA_OFFSET_INVALID;
    /* Otherwise the unassignment commits it. That commit waits while the group rebalances, is then refused for its
     * older generation, and so costs the whole assignment. */
    (void)rd_kafka_offsets_store(source->kafka, known);
    log_rebalance_problem("move", rd_kafka_incremental_unassign(source->kafka, known));
    log_rebalance_problem("take", rd_kafka_incremental_assign(source->kafka, list));
  } else {
    /* librdkafka has ended a fetch that failed with "out of range", and refuses a seek. For eager members it accepts
     * only a whole assignment. */
    for (int i = all->cnt; i-- > 0;) {
      rd_kafka_topic_partition_t *at = &all->elems[i];
      SourcePartition *its = partition_at(source, at);
      if (its == NULL || its->is_halted)
        rd_kafka_topic_partition_list_del_by_idx(all, i);
      else if (at->offset < 0)
        at->offset = its->begin_offset; /* none of its messages was passed on */
      else
        its->begin_offset = at->offset;
    }
    for (int i = 0; i < list->cnt; i++) {
      const rd_kafka_topic_partition_t *to = &list->elems[i];
      rd_kafka_topic_partition_t *at = rd_kafka_topic_partition_list_find(all, to->topic, to->partition);
      if (at == NULL)
        at = rd_kafka_topic_partition_list_add(all, to->topic, to->partition);
      at->offset = to->offset;
      partition_at(source, to)->begin_offset = to->offset;
    }
    assign(source, all);
  }
}

/* For a partition that is located, or no longer ours. */
static void
set_located(TideKafkaSource *source, SourcePartition *its)
{
  source->n_unlocated -= its->is_unlocated ? 1 : 0;
  its->is_unlocated = FALSE;
}

/* For a partition whose topic is read again, or that is no longer ours. */
static void
set_allowed(TideKafkaSource *source, SourcePartition *its)
{
  source->n_denied -= its->denial != NULL ? 1 : 0;
  g_clear_pointer(&its->denial, g_free);
}

static void
set_unlocated(TideKafkaSource *source, guint32 slot, gint64 wanted_offset)
{
  SourcePartition *its = partition_of(source, slot);
  source->n_unlocated += its->is_unlocated ? 0 : 1;
  its->is_unlocated = TRUE;
  its->wanted_offset = wanted_offset;
}

/* "topic 'm' partition 3: Broker: Not coordinator". (transfer full) */
static char *
describe_unlocated(const TideKafkaSource *source, const rd_kafka_topic_partition_t *at)
{
  const TideKafkaConfig *config = &source->options.config->kafka;
  if (at->err == RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED)
    return tide_kafka_acl_hint(config, TIDE_KAFKA_ACL_GROUP, config->group);
  if (at->err == RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED)
    return tide_kafka_acl_hint(config, TIDE_KAFKA_ACL_READ, at->topic);
  return g_strdup_printf("topic '%s' partition %d: %s", at->topic, at->partition, rd_kafka_err2str(at->err));
}

/* Asks for the offsets of @partitions, and removes those that are not to be read, because they are halted or not
 * located yet. Sets the offsets of the others. Inside a rebalance and outside. */
static void
locate(TideKafkaSource *source, rd_kafka_topic_partition_list_t *partitions, int question_ms)
{
  const TideInputHandlers *handlers = &source->handlers;
  TideKafkaStarts starts = {source->kafka, &source->options.config->kafka, question_ms, handlers->progress,
                            handlers->data};
  g_autofree TideInputLog *logs = tide_kafka_find_starts(&starts, partitions);
  g_autofree char *cluster_id = rd_kafka_clusterid(source->kafka, 0); /* known from an earlier answer, or not at all */
  g_autofree char *why = NULL;
  for (int i = partitions->cnt; i-- > 0;) {
    rd_kafka_topic_partition_t *at = &partitions->elems[i];
    guint32 slot = find_slot_by_name(source, at->topic, at->partition);
    SourcePartition *its = partition_of(source, slot);
    gint64 offset = TIDE_INPUT_ASK_AGAIN;
    if (at->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
      logs[i].wanted_offset = its->wanted_offset;
      logs[i].cluster_id = cluster_id;
      offset = handlers->located(slot, &logs[i], handlers->data);
    } else if (why == NULL)
      why = describe_unlocated(source, at);
    if (offset != TIDE_INPUT_ASK_AGAIN)
      set_located(source, its);
    its->is_halted = offset == TIDE_INPUT_HALTED;
    if (offset < 0) {
      rd_kafka_topic_partition_list_del_by_idx(partitions, i);
      continue;
    }
    if (offset != at->offset) { /* metadata committed with another offset does not apply */
      rd_kafka_topic_partition_list_del_by_idx(partitions, i);
      rd_kafka_topic_partition_list_add(partitions, its->topic, its->partition)->offset = offset;
    }
    its->begin_offset = offset;
  }
  source->n_looks = source->n_unlocated > 0 ? source->n_looks + 1 : 0;
  source->locate_us = tide_now_us() + tide_backoff_us(MAX(source->n_looks, 1), LOCATE_MIN_US, LOCATE_MAX_US);
  handlers->unlocated(source->n_unlocated, why, handlers->data);
}

/* Makes librdkafka fetch @partitions. */
static void
take_located(TideKafkaSource *source, const rd_kafka_topic_partition_list_t *partitions, gboolean in_rebalance)
{
  g_autofree guint32 *slots = g_new(guint32, (gsize)MAX(partitions->cnt, 1));
  gsize n_slots = (gsize)partitions->cnt;
  for (int i = 0; i < partitions->cnt; i++)
    slots[i] = find_slot_by_name(source, partitions->elems[i].topic, partitions->elems[i].partition);
  source->handlers.taking(slots, n_slots, source->handlers.data);
  if (!in_rebalance)
    assign_more(source, partitions);
  else if (is_cooperative(source))
    log_rebalance_problem("take", rd_kafka_incremental_assign(source->kafka, partitions));
  else
    assign(source, partitions);
  source->handlers.taken(slots, n_slots, source->handlers.data);
}

/* Asks again about all unlocated partitions. */
static void
locate_the_rest(TideKafkaSource *source)
{
  g_autoptr(rd_kafka_topic_partition_list_t) partitions = rd_kafka_topic_partition_list_new((int)source->n_unlocated);
  for (guint i = 0; i < source->partitions->len; i++) {
    const SourcePartition *its = g_ptr_array_index(source->partitions, i);
    if (its != NULL && its->is_unlocated)
      rd_kafka_topic_partition_list_add(partitions, its->topic, its->partition);
  }
  locate(source, partitions, LOCATE_QUESTION_MS);
  if (partitions->cnt > 0)
    take_located(source, partitions, FALSE);
}

/* ---- rebalance ---- */

static void
take(TideKafkaSource *source, rd_kafka_topic_partition_list_t *partitions)
{
  memset(source->cache, 0, sizeof source->cache);
  for (int i = partitions->cnt; i-- > 0;) {
    const rd_kafka_topic_partition_t *at = &partitions->elems[i];
    guint32 slot = source->handlers.assigned(at->topic, at->partition, source->handlers.data);
    remember_slot(source, slot, at->topic, at->partition);
    partition_of(source, slot)->is_ours = TRUE;
    set_unlocated(source, slot, -1);
  }
  locate(source, partitions, TIDE_KAFKA_QUESTION_MS);
  take_located(source, partitions, TRUE);
  source->handlers.assignment_done(source->handlers.data);
}

static void
give_up(TideKafkaSource *source, rd_kafka_topic_partition_list_t *partitions)
{
  gboolean lost = rd_kafka_assignment_lost(source->kafka);
  g_autofree guint32 *slots = g_new(guint32, (gsize)MAX(partitions->cnt, 1));
  gsize n_slots = 0;
  for (int i = 0; i < partitions->cnt; i++) {
    guint32 slot = find_slot_by_name(source, partitions->elems[i].topic, partitions->elems[i].partition);
    if (slot != TIDE_INPUT_NO_SLOT)
      slots[n_slots++] = slot;
  }
  source->handlers.revoking(slots, n_slots, lost, source->handlers.data);
  /* Halted and unlocated partitions were never assigned to librdkafka, which refuses to unassign them. */
  g_autoptr(rd_kafka_topic_partition_list_t) assigned = NULL;
  (void)rd_kafka_assignment(source->kafka, &assigned);
  for (int i = partitions->cnt; i-- > 0;) {
    const rd_kafka_topic_partition_t *at = &partitions->elems[i];
    SourcePartition *its = partition_at(source, at);
    if (its != NULL) {
      its->is_ours = FALSE;
      set_located(source, its);
      set_allowed(source, its);
    }
    if (assigned != NULL && rd_kafka_topic_partition_list_find(assigned, at->topic, at->partition) == NULL)
      rd_kafka_topic_partition_list_del_by_idx(partitions, i);
  }
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
kind_of(rd_kafka_resp_err_t code, guint32 slot)
{
  switch ((int)code) {
  case RD_KAFKA_RESP_ERR__FATAL:
    return TIDE_INPUT_TROUBLE_FATAL;
  case RD_KAFKA_RESP_ERR__MAX_POLL_EXCEEDED:
    return TIDE_INPUT_TROUBLE_POLL;
  case RD_KAFKA_RESP_ERR__BAD_MSG:
  case RD_KAFKA_RESP_ERR__BAD_COMPRESSION:
  case RD_KAFKA_RESP_ERR__NOT_IMPLEMENTED: /* a format unknown to this librdkafka, which skips it, too */
    return slot != TIDE_INPUT_NO_SLOT ? TIDE_INPUT_TROUBLE_DAMAGED : TIDE_INPUT_TROUBLE_CLIENT;
  case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
  case RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED:
  case RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED:
    return TIDE_INPUT_TROUBLE_DENIED;
  case RD_KAFKA_RESP_ERR_GROUP_MAX_SIZE_REACHED:
    return TIDE_INPUT_TROUBLE_FULL;
  case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
  case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
  case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
    return TIDE_INPUT_TROUBLE_MISSING;
  default:
    return slot != TIDE_INPUT_NO_SLOT ? TIDE_INPUT_TROUBLE_PARTITION : TIDE_INPUT_TROUBLE_CLIENT;
  }
}

static void
report(TideKafkaSource *source, TideInputTrouble kind, guint32 slot, const char *text)
{
  TideInputReport what = {.kind = kind, .slot = slot, .text = text};
  source->handlers.trouble(&what, source->handlers.data);
}

/* Names the user and the missing right: librdkafka reports at most one of them. */
static void
report_denied(TideKafkaSource *source, const rd_kafka_message_t *raw, guint32 slot, const char *text)
{
  const TideKafkaConfig *config = &source->options.config->kafka;
  gboolean is_group = raw->err == RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED;
  const char *topic = raw->rkt != NULL ? rd_kafka_topic_name(raw->rkt) : config->topics[0];
  g_autofree char *missing = tide_kafka_acl_hint(config, is_group ? TIDE_KAFKA_ACL_GROUP : TIDE_KAFKA_ACL_READ,
                                                 is_group ? config->group : topic);
  g_autofree char *whole = g_strdup_printf("%s (%s)", missing, text);
  if (slot != TIDE_INPUT_NO_SLOT) {
    SourcePartition *its = partition_of(source, slot);
    set_allowed(source, its);
    its->denial = g_strdup(whole);
    source->n_denied++;
  }
  report(source, TIDE_INPUT_TROUBLE_DENIED, slot, whole);
}

static void
on_throttle(rd_kafka_t *kafka, const char *broker_name, gint32 broker_id, int throttle_ms, void *opaque)
{
  TideKafkaSource *source = opaque;
  tide_kafka_watch_throttled(source->options.watch, throttle_ms);
}

static void
report_fatal(TideKafkaSource *source)
{
  char text[512] = "";
  rd_kafka_resp_err_t fatal = rd_kafka_fatal_error(source->kafka, text, sizeof text);
  const char *hint = fatal == RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID
                         ? "; another member took the name in kafka.instance: this daemon itself, after its session "
                           "had ended, or another with the same name: give each daemon its own"
                         : "";
  g_autofree char *whole = g_strdup_printf("%s: %s%s", rd_kafka_err2name(fatal), text, hint);
  report(source, TIDE_INPUT_TROUBLE_FATAL, TIDE_INPUT_NO_SLOT, whole);
}

static void
on_error(rd_kafka_t *kafka, int code, const char *reason, void *opaque)
{
  TideKafkaSource *source = opaque;
  if (code == RD_KAFKA_RESP_ERR__FATAL) {
    report_fatal(source);
    return;
  }
  g_autofree char *explained = tide_kafka_error_explain(kafka, reason);
  report(source, TIDE_INPUT_TROUBLE_CLIENT, TIDE_INPUT_NO_SLOT, explained);
}

/* ---- commits ---- */

/* Reports the result of each partition's commit. Returns: the first problem; NULL: none. (transfer full) */
static char *
report_committed(TideKafkaSource *source, rd_kafka_resp_err_t whole, const rd_kafka_topic_partition_list_t *offsets)
{
  for (int i = 0; offsets != NULL && i < offsets->cnt; i++) {
    const rd_kafka_topic_partition_t *at = &offsets->elems[i];
    gboolean good = tide_kafka_commit_result(whole, at) == RD_KAFKA_RESP_ERR_NO_ERROR;
    guint32 slot = find_slot_by_name(source, at->topic, at->partition);
    if (slot != TIDE_INPUT_NO_SLOT && at->offset >= 0)
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
list_of(const TideKafkaSource *source, guint32 slot, gint64 offset)
{
  const SourcePartition *its = partition_of(source, slot);
  rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
  rd_kafka_topic_partition_list_add(list, its->topic, its->partition)->offset = offset;
  return list;
}

static rd_kafka_topic_partition_list_t *
list_of_commits(const TideKafkaSource *source, const TideInputCommit *commits, gsize n_commits)
{
  rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new((int)n_commits);
  for (gsize i = 0; i < n_commits; i++) {
    const SourcePartition *its = partition_of(source, commits[i].slot);
    tide_kafka_commit_add(list, its->topic, its->partition, commits[i].offset, commits[i].note);
  }
  return list;
}

static gboolean
store_offset(TideInput *input, guint32 slot, gint64 offset)
{
  TideKafkaSource *source = source_of(input);
  /* One partition per call, for the return code: librdkafka does not set the element's own error field (measured). */
  g_autoptr(rd_kafka_topic_partition_list_t) list = list_of(source, slot, offset);
  return rd_kafka_offsets_store(source->kafka, list) == RD_KAFKA_RESP_ERR_NO_ERROR;
}

/* Without a note, librdkafka commits a stored offset at the next interval, and when it unassigns the partition. That
 * would follow a commit in flight with an older, lower offset. So a commit clears the stored offset; if it fails, more
 * is stored or committed soon. Measured with 2.0.2. */
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
  g_autoptr(rd_kafka_topic_partition_list_t) list = list_of_commits(source, commits, n_commits);
  rd_kafka_resp_err_t problem = rd_kafka_commit(source->kafka, list, 1);
  if (problem != RD_KAFKA_RESP_ERR_NO_ERROR)
    on_commit(source->kafka, problem, list, source);
}

/* The result of a commit that the caller waits for. */
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

/* rd_kafka_commit() would wait as long as librdkafka retries. A separate queue delivers the answer only here. */
static gboolean
commit_and_wait(TideInput *input, const TideInputCommit *commits, gsize n_commits, gint64 deadline_us,
                char **ret_problem)
{
  TideKafkaSource *source = source_of(input);
  if (n_commits == 0)
    return TRUE;
  CommitAnswer answer = {.source = source};
  forget_stored(source, commits, n_commits);
  g_autoptr(rd_kafka_topic_partition_list_t) list = list_of_commits(source, commits, n_commits);
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
  *ret_problem = answer.problem;
  return answer.problem == NULL;
}

/* ---- polling ---- */

/* Handles what poll returned instead of a message. */
static void
handle_event(TideKafkaSource *source, const rd_kafka_message_t *raw)
{
  guint32 slot = raw->rkt != NULL ? find_slot(source, raw) : TIDE_INPUT_NO_SLOT;
  const char *text = rd_kafka_message_errstr(raw);
  if (raw->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
    if (slot != TIDE_INPUT_NO_SLOT)
      source->handlers.reached_end(slot, raw->offset, source->handlers.data);
    return;
  }
  if (text == NULL)
    text = rd_kafka_err2str(raw->err);
  if (raw->err == RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET || raw->err == RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE ||
      raw->err == RD_KAFKA_RESP_ERR__NO_OFFSET) { /* the requested offset is not in the log */
    if (slot != TIDE_INPUT_NO_SLOT && partition_of(source, slot)->is_ours)
      set_unlocated(source, slot, raw->offset >= 0 ? raw->offset : partition_of(source, slot)->begin_offset);
    return;
  }
  TideInputReport what = {.kind = kind_of(raw->err, slot), .slot = slot, .text = text, .offset = raw->offset};
  if (what.kind == TIDE_INPUT_TROUBLE_FATAL)
    report_fatal(source);
  else if (what.kind == TIDE_INPUT_TROUBLE_DENIED)
    report_denied(source, raw, slot, text);
  else if (what.kind == TIDE_INPUT_TROUBLE_FULL) {
    g_autofree char *whole = g_strdup_printf("the group '%s' accepts no more members (%s): stop a daemon of it or "
                                             "lower kafka.threads, or raise the brokers' group.max.size",
                                             source->options.config->kafka.group, text);
    report(source, TIDE_INPUT_TROUBLE_FULL, TIDE_INPUT_NO_SLOT, whole);
  } else
    source->handlers.trouble(&what, source->handlers.data);
}

static void
rouse_client(TideKafkaSource *source)
{
  const TideKafkaConfig *config = &source->options.config->kafka;
  if (tide_kafka_rouse(&source->rouse, tide_now_us()))
    return;
  g_autofree char *text = g_strdup_printf(
      "since the wall clock was set back, the coordinator of group '%s' has not answered this client for "
      "kafka.session_timeout (%" G_GINT64_FORMAT " s), while brokers answer another client",
      config->group, config->session_timeout_ms / 1000);
  report(source, TIDE_INPUT_TROUBLE_FATAL, TIDE_INPUT_NO_SLOT, text);
}

/* A message of @slot shows that its topic may be read: reports its partitions as readable again, and then what is still
 * denied of other topics, because the first report ends that of all. */
static void
recover(TideKafkaSource *source, guint32 slot)
{
  const SourcePartition *read = partition_of(source, slot);
  if (read->denial == NULL)
    return;
  guint32 denied_slot = TIDE_INPUT_NO_SLOT;
  for (guint32 i = 0; i < source->partitions->len; i++) {
    SourcePartition *its = partition_of(source, i);
    if (its == NULL || its->denial == NULL)
      continue;
    if (strcmp(its->topic, read->topic) != 0) {
      denied_slot = i;
      continue;
    }
    set_allowed(source, its);
    source->handlers.recovered(i, source->handlers.data);
  }
  if (denied_slot != TIDE_INPUT_NO_SLOT)
    report(source, TIDE_INPUT_TROUBLE_DENIED, denied_slot, partition_of(source, denied_slot)->denial);
}

static gboolean
poll_source(TideInput *input, int timeout_ms, TideInputRecord *ret_record)
{
  TideKafkaSource *source = source_of(input);
  if (G_UNLIKELY(source->n_unlocated > 0) && tide_now_us() >= source->locate_us)
    locate_the_rest(source);
  if (G_UNLIKELY(tide_kafka_rouse_is_under_way(&source->rouse)))
    rouse_client(source);
  rd_kafka_message_t *raw =
      rd_kafka_consumer_poll(source->kafka, tide_kafka_refill_wait_ms(&source->refill, timeout_ms));
  if (raw == NULL)
    return FALSE;
  guint32 slot;
  if (raw->err == RD_KAFKA_RESP_ERR_NO_ERROR && (slot = find_slot(source, raw)) != TIDE_INPUT_NO_SLOT) {
    if (G_UNLIKELY(source->n_denied > 0))
      recover(source, slot);
    *ret_record = (TideInputRecord){.message = tide_kafka_message(raw), .slot = slot, .raw = raw};
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

static void
rouse(TideInput *input)
{
  TideKafkaSource *source = source_of(input);
  tide_kafka_rouse_want(&source->rouse);
  wake(input);
}

/* ---- one partition ---- */

static void
pause_slot(TideInput *input, guint32 slot)
{
  TideKafkaSource *source = source_of(input);
  g_autoptr(rd_kafka_topic_partition_list_t) list = list_of(source, slot, RD_KAFKA_OFFSET_INVALID);
  rd_kafka_pause_partitions(source->kafka, list);
}

static void
resume_slot(TideInput *input, guint32 slot)
{
  TideKafkaSource *source = source_of(input);
  g_autoptr(rd_kafka_topic_partition_list_t) list = list_of(source, slot, RD_KAFKA_OFFSET_INVALID);
  rd_kafka_resume_partitions(source->kafka, list);
}

static void
move_slots(TideInput *input, const TideInputMove *moves, gsize n_moves)
{
  TideKafkaSource *source = source_of(input);
  g_autoptr(rd_kafka_topic_partition_list_t) list = rd_kafka_topic_partition_list_new((int)n_moves);
  for (gsize i = 0; i < n_moves; i++) {
    SourcePartition *its = partition_of(source, moves[i].slot);
    if (its->is_unlocated) /* otherwise it would continue at the offset that was not found, and skip all before */
      its->wanted_offset = moves[i].offset;
    else
      rd_kafka_topic_partition_list_add(list, its->topic, its->partition)->offset = moves[i].offset;
  }
  if (list->cnt > 0)
    assign_more(source, list);
}

static void
locate_slot(TideInput *input, guint32 slot, gint64 wanted_offset)
{
  TideKafkaSource *source = source_of(input);
  set_unlocated(source, slot, wanted_offset);
  source->locate_us = tide_now_us();
}

/* ---- life ---- */

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
  /* Destroying closes again, which was seen to hang while the broker was unavailable. */
  if (source->kafka != NULL)
    rd_kafka_destroy_flags(source->kafka, source->is_closed ? RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE : 0);
  g_ptr_array_unref(source->partitions);
  g_free(source);
}

static const TideInputFuncs funcs = {.poll = poll_source,
                                     .release = release_record,
                                     .wake = wake,
                                     .rouse = rouse,
                                     .pause = pause_slot,
                                     .resume = resume_slot,
                                     .store = store_offset,
                                     .commit_later = commit_later,
                                     .commit = commit_and_wait,
                                     .move = move_slots,
                                     .locate = locate_slot,
                                     .close = close_source,
                                     .free = free_source};

TideInput *
tide_kafka_source_new(const TideKafkaSourceOptions *options, const TideInputHandlers *handlers, GError **error)
{
  rd_kafka_conf_t *conf = tide_kafka_conf_new_consumer(options->config, options->index, error);
  if (conf == NULL)
    return NULL;
  TideKafkaSource *source = g_new0(TideKafkaSource, 1);
  source->input.funcs = &funcs;
  source->options = *options;
  source->handlers = *handlers;
  source->partitions = g_ptr_array_new_with_free_func(source_partition_free);
  rd_kafka_conf_set_opaque(conf, source);
  rd_kafka_conf_set_rebalance_cb(conf, on_rebalance);
  rd_kafka_conf_set_error_cb(conf, on_error);
  rd_kafka_conf_set_offset_commit_cb(conf, on_commit);
  rd_kafka_conf_set_throttle_cb(conf, on_throttle);

  source->kafka = tide_kafka_conf_connect(RD_KAFKA_CONSUMER, conf, error);
  if (source->kafka == NULL) {
    free_source(&source->input);
    return NULL;
  }
  rd_kafka_poll_set_consumer(source->kafka);
  source->queue = rd_kafka_queue_get_consumer(source->kafka);
  tide_kafka_refill_init(&source->refill, source->kafka, source->queue, NULL);
  source->rouse = (TideKafkaRouse){.config = &options->config->kafka, .refill = &source->refill};

  g_autoptr(rd_kafka_topic_partition_list_t) topics = rd_kafka_topic_partition_list_new(4);
  for (char **topic = options->config->kafka.topics; *topic != NULL; topic++)
    rd_kafka_topic_partition_list_add(topics, *topic, RD_KAFKA_PARTITION_UA);
  rd_kafka_resp_err_t problem = rd_kafka_subscribe(source->kafka, topics);
  if (problem == RD_KAFKA_RESP_ERR_NO_ERROR)
    return &source->input;
  g_set_error(error, TIDE_ERROR, TIDE_ERROR_KAFKA, "cannot subscribe to the topics: %s", rd_kafka_err2str(problem));
  free_source(&source->input);
  return NULL;
}
