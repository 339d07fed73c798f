/* What a consumer makes dead letters of: messages and readings that cannot be mapped, and messages of which HBase
 * refuses a row. flow/dead_letters.h keeps them; each is acknowledged here when it is kept. */
#include "flow/consumer_private.h"
#include "flow/letter_job.h"
#include "util/clock.h"
#include "util/log.h"

/* The letter of a rejected reading holds its whole message. Where those of one message would take more than this, one
 * letter stands for all of them. */
#define READING_LETTERS_BYTES (4u * 1024 * 1024)

#define REFUSED_LOG_US (10 * TIDE_US_PER_S)

/* Of messages of refused rows so many are made jobs of at a time: enough that reading them again and judging them is
 * done for many at once, and a few megabytes at the most. */
#define MAX_JOBS_OF_REFUSED 2000u

/* Letters begin and stop to hold this often at the most: a pause throws away what was prefetched. */
#define HOLD_INTERVAL_US TIDE_US_PER_S

static void
submit(TideConsumer *consumer, TideLetterJob *job)
{
  job->owned = &tide_consumer_partition(consumer, job->source.slot)->owned;
  tide_dead_letters_submit(consumer->context.letters, job);
}

/* ---- rejected when they were mapped ---- */

static GArray *
collect_headers(const TideMessage *message)
{
  GArray *headers = g_array_new(FALSE, FALSE, sizeof(TideLetterHeader));
  TideLetterHeader header;
  while (message->header_at != NULL && message->header_at(message, headers->len, &header))
    g_array_append_val(headers, header);
  return headers;
}

static void
submit_rejected(TideConsumer *consumer, TideSourceRef ref, const TideMessage *message, const TideReject *reject,
                const char *text, gint32 reading_index, guint32 n_acks)
{
  g_autoptr(GArray) headers = collect_headers(message);
  TideLetter letter = {.topic = message->topic,
                       .partition = message->partition,
                       .offset = message->offset,
                       .timestamp_ms = message->timestamp_ms,
                       .key = message->key,
                       .has_key = message->has_key,
                       .value = message->value,
                       .has_value = message->has_value,
                       .headers = (const TideLetterHeader *)(gconstpointer)headers->data,
                       .n_headers = headers->len,
                       .reason = tide_bytes_of_string(tide_reject_reason_name(reject->reason)),
                       .text = tide_bytes_of_string(text),
                       .reading_index = reading_index};
  submit(consumer, tide_letter_job_new(&letter, ref, n_acks, &consumer->letter_box));
}

void
tide_consumer_dead_letter_message(TideConsumer *consumer, TidePartition *partition, const TideMessage *message,
                                  const TideReject *reject)
{
  TideSourceRef ref =
      tide_partition_begin_rejected(partition, consumer->context.budget, message->offset, reject->reason);
  g_autofree char *text = tide_reject_describe(reject);
  submit_rejected(consumer, ref, message, reject, text, -1, 1);
}

void
tide_consumer_dead_letter_readings(TideConsumer *consumer, TideSourceRef ref, const TideMessage *message,
                                   const TideMapped *mapped)
{
  const TideReject *rejects = mapped->rejects;
  if (mapped->n_rejects * (message->value.len + sizeof(TideLetterJob)) > READING_LETTERS_BYTES) {
    g_autofree char *first = tide_reject_describe(&rejects[0]);
    g_autofree char *text = g_strdup_printf("%u of %u readings cannot be used, the first of them: %s",
                                            mapped->n_rejects, mapped->n_readings, first);
    submit_rejected(consumer, ref, message, &rejects[0], text, -1, mapped->n_rejects);
    return;
  }
  for (guint32 i = 0; i < mapped->n_rejects; i++) {
    g_autofree char *text = tide_reject_describe(&rejects[i]);
    submit_rejected(consumer, ref, message, &rejects[i], text, (gint32)rejects[i].reading_index, 1);
  }
}

/* ---- refused by HBase ---- */

/* One message's part in one refused row: a source of it, or a row that follows it. */
typedef struct Refused {
  const TideBatchPoison *poison; /* borrowed */
  TideSourceRef ref;
} Refused;

/* By row, and within a row by message, in the order of their partition. */
static int
compare_refused(gconstpointer a, gconstpointer b)
{
  const Refused *one = a, *other = b;
  if (one->poison->row != other->poison->row)
    return one->poison->row < other->poison->row ? -1 : 1;
  if (one->ref.slot != other->ref.slot)
    return one->ref.slot < other->ref.slot ? -1 : 1;
  if (one->ref.epoch != other->ref.epoch)
    return one->ref.epoch < other->ref.epoch ? -1 : 1;
  if (one->ref.sequence != other->ref.sequence)
    return (gint32)(one->ref.sequence - other->ref.sequence) < 0 ? -1 : 1; /* sequences wrap */
  return 0;
}

static gboolean
is_same_message(TideSourceRef a, TideSourceRef b)
{
  return a.slot == b.slot && a.epoch == b.epoch && a.sequence == b.sequence;
}

/* Acknowledges the sources of rows that were written. The others, and what follows their rows: it is not sent, or the
 * letters send it with the row of an innocent. */
static GArray *
part_sources(TideConsumer *consumer, const TideBatch *batch)
{
  GArray *refused = g_array_new(FALSE, FALSE, sizeof(Refused));
  gsize n_sources;
  const TideBatchSource *sources = tide_batch_sources(batch, &n_sources);
  for (gsize i = 0; i < n_sources; i++) {
    Refused part = {.poison = tide_batch_find_poison(batch, sources[i].row), .ref = sources[i].ref};
    if (part.poison != NULL)
      g_array_append_val(refused, part);
    else
      tide_consumer_ack_source(consumer, sources[i].ref);
  }
  gsize offset = 0;
  TideBytes record;
  while ((record = tide_followers_next_record(&batch->followers, &offset)).len > 0) {
    Refused part = {.poison = tide_batch_find_poison(batch, tide_follower_leader(record)),
                    .ref = tide_follower_source(record)};
    if (part.poison != NULL)
      g_array_append_val(refused, part);
  }
  g_array_sort(refused, compare_refused);
  return refused;
}

static void
submit_refused(TideConsumer *consumer, TideLetterJob *job)
{
  consumer->jobs_of_refused++;
  submit(consumer, job);
}

static TideLetter
refused_letter(const TidePartition *partition, const TideRefusedMessage *message)
{
  const TideRefusal *refusal = message->refusal;
  return (TideLetter){.topic = tide_bytes_of_string(partition->topic),
                      .partition = partition->partition,
                      .offset = tide_offsets_offset_of(&partition->offsets, message->ref.sequence),
                      .timestamp_ms = -1,
                      .reason = TIDE_BYTES_LITERAL(TIDE_LETTER_REASON_REFUSED),
                      .text = tide_bytes_of_string(refusal->text),
                      .table = tide_bytes_of_string(refusal->table),
                      .row_key = refusal->row_key,
                      .reading_index = -1,
                      .attempts = refusal->attempts};
}

static void
log_refused(TideConsumer *consumer, const TideLetter *letter, const char *next)
{
  guint64 suppressed;
  if (!tide_log_limit_pass(&consumer->refused_limit, tide_now_us(), REFUSED_LOG_US, &suppressed))
    return;
  g_autofree char *row = tide_bytes_printable(letter->row_key);
  tide_log(TIDE_LOG_ERROR,
           "HBase refuses row '%s' of table '%.*s', of message %" G_GINT64_FORMAT
           " of '%.*s' partition %d: %.*s; %s (%" G_GUINT64_FORMAT " such rows not logged)",
           row, (int)letter->table.len, (const char *)letter->table.data, letter->offset, (int)letter->topic.len,
           (const char *)letter->topic.data, letter->partition, (int)letter->text.len, (const char *)letter->text.data,
           next, suppressed);
}

static void
hold_at_refused(TideConsumer *consumer, TidePartition *partition, const TideLetter *letter)
{
  gboolean is_chosen = consumer->context.config->readings.on_bad_message == TIDE_BAD_MESSAGE_STOP;
  const char *why = is_chosen ? "on_bad_message: stop" : TIDE_NO_PLACE_FOR_LETTERS;
  log_refused(consumer, letter, is_chosen ? "its partition stands still, as on_bad_message says" : why);
  if (partition->held_text != NULL)
    return;
  tide_counter_inc(consumer->messages_held);
  g_autofree char *row = tide_bytes_printable(letter->row_key);
  tide_consumer_hold(consumer, partition,
                     g_strdup_printf("topic '%s' partition %d stands still at offset %" G_GINT64_FORMAT
                                     ": HBase refuses its row '%s' of table '%.*s': %.*s; %s",
                                     partition->topic, partition->partition, letter->offset, row,
                                     (int)letter->table.len, (const char *)letter->table.data, (int)letter->text.len,
                                     (const char *)letter->text.data, why));
}

static void
dead_letter_refused(TideConsumer *consumer, const TideRefusedMessage *message)
{
  const TideRefusal *refusal = message->refusal;
  TidePartition *partition = tide_consumer_partition(consumer, message->ref.slot);
  if (!tide_partition_owns(partition, message->ref))
    return;
  TideLetter letter = refused_letter(partition, message);
  if (consumer->context.config->readings.on_bad_message == TIDE_BAD_MESSAGE_STOP ||
      !tide_dead_letters_exist(consumer->context.letters)) {
    hold_at_refused(consumer, partition, &letter);
    return;
  }
  log_refused(consumer, &letter,
              refusal->is_shared ? "the messages that it was made of are tried without each other"
                                 : "its message becomes a dead letter");
  TideLetterJob *job = tide_letter_job_new(&letter, message->ref, message->n_parts, &consumer->letter_box);
  job->must_read = TRUE;
  job->must_try = refusal->is_shared;
  job->row = tide_refused_row_ref(refusal->row);
  job = tide_partition_add_refused(partition, consumer->context.budget, job);
  if (job != NULL)
    submit_refused(consumer, job);
}

/* Those that wait, as far as there is room for jobs. */
static void
dead_letter_waiting(TideConsumer *consumer)
{
  TideRefusedMessage message;
  while (consumer->jobs_of_refused < MAX_JOBS_OF_REFUSED && tide_refusals_take(&consumer->refusals, &message)) {
    dead_letter_refused(consumer, &message);
    tide_refusal_unref(message.refusal);
  }
}

void
tide_consumer_take_refused(TideConsumer *consumer, TideBatch *batch, gint64 now_us)
{
  g_autoptr(GArray) refused = part_sources(consumer, batch);
  const Refused *parts = (const Refused *)(gconstpointer)refused->data;
  for (guint i = 0, row_end; i < refused->len; i = row_end) {
    for (row_end = i + 1; row_end < refused->len && parts[row_end].poison == parts[i].poison;)
      row_end++;
    gboolean is_shared = !is_same_message(parts[i].ref, parts[row_end - 1].ref);
    /* Each message's own row is tried outside of the lanes. */
    if (is_shared)
      tide_batch_mark_in_doubt(batch, now_us);
    g_autoptr(TideRefusedRow) row =
        tide_refused_row_new(consumer->context.budget, tide_batch_row_wire(batch, parts[i].poison->row));
    g_autoptr(TideRefusal) refusal = tide_refusal_new(batch, parts[i].poison, is_shared, row);
    for (guint at = i, end; at < row_end; at = end) {
      for (end = at + 1; end < row_end && is_same_message(parts[end].ref, parts[at].ref);)
        end++;
      tide_refusals_add(&consumer->refusals, refusal, parts[at].ref, end - at);
    }
  }
  dead_letter_waiting(consumer);
}

/* ---- home ---- */

gboolean
tide_consumer_take_letters_home(TideConsumer *consumer)
{
  TideLetterJob *job = tide_letter_box_take(&consumer->letter_box);
  if (job == NULL)
    return FALSE;
  for (TideLetterJob *following; job != NULL; job = following) {
    following = job->next;
    consumer->jobs_of_refused -= tide_letter_job_is_refused(job) ? 1 : 0;
    TidePartition *partition = tide_consumer_partition(consumer, job->source.slot);
    if (tide_partition_owns(partition, job->source)) {
      TideLetterJob *next = tide_partition_letter_came_home(partition, consumer->context.budget, job);
      if (next != NULL)
        submit_refused(consumer, next);
    }
    tide_letter_job_free(job);
  }
  dead_letter_waiting(consumer);
  return TRUE;
}

/* ---- while no letter is kept ---- */

void
tide_consumer_heed_letters(TideConsumer *consumer, gint64 now_us)
{
  gboolean should = tide_dead_letters_is_holding_racy(consumer->context.letters);
  if (should == consumer->letters_paused || (!should && now_us - consumer->letters_changed_us < HOLD_INTERVAL_US))
    return;
  consumer->letters_paused = should;
  consumer->letters_changed_us = now_us;
  for (guint i = 0; i < consumer->partitions->len; i++)
    tide_consumer_set_pause(consumer, tide_consumer_partition(consumer, (guint16)i), TIDE_PAUSE_LETTERS, should);
}
