#include "consumer/consumer_dead_letters.h"

#include "consumer/rewind.h"
#include "dead_letters/dead_letter_job.h"
#include "rows/solo_keys.h"
#include "util/clock.h"
#include "util/units.h"

/* The dead letter of a rejected reading contains its whole message. If those of one message would exceed this size, a
 * single dead letter covers all of them. */
#define READING_DEAD_LETTERS_BYTES (4u * 1024 * 1024)

#define REFUSED_LOG_US (10 * TIDE_US_PER_S)

/* ---- life ---- */

void
tide_consumer_dead_letters_init(TideConsumerDeadLetters *letters, const TideConsumerDeadLettersContext *context)
{
  *letters = (TideConsumerDeadLetters){.context = *context};
  tide_dead_letter_completions_init(&letters->box, context->wake, context->wake_data);
}

void
tide_consumer_dead_letters_clear(TideConsumerDeadLetters *letters)
{
  tide_dead_letter_completions_clear(&letters->box);
}

/* Returns the partition that still owns the message of @ref; NULL: it was taken away or rewound. */
static TidePartition *
owner_of(const TideConsumerDeadLetters *letters, TideSourceRef ref)
{
  return tide_assignments_find_owner(letters->context.assignments, ref);
}

/* @job: (transfer full), of a partition that the consumer owns */
static void
submit(TideConsumerDeadLetters *letters, TideDeadLetterJob *job)
{
  TidePartition *partition = owner_of(letters, job->source);
  job->owned = &partition->assignment.letters;
  job->is_further |= tide_rewind_has_letter(&partition->rewind, job->dead_letter.offset);
  partition->rewind.n_letters_in_flight++;
  tide_dead_letter_queue_submit(letters->context.dead_letters, job);
}

/* ---- rejected during mapping ---- */

static GArray *
collect_headers(const TideMessage *message)
{
  GArray *headers = g_array_new(FALSE, FALSE, sizeof(TideDeadLetterHeader));
  TideDeadLetterHeader header;
  while (message->header_at != NULL && message->header_at(message, headers->len, &header))
    g_array_append_val(headers, header);
  return headers;
}

/* The name of the source that reads the partition's topic. */
static TideBytes
source_of(const TidePartition *partition)
{
  return partition->source != NULL ? tide_bytes_of_string(partition->source) : TIDE_BYTES_EMPTY;
}

static void
submit_rejected(TideConsumerDeadLetters *letters, TideSourceRef ref, const TideMessage *message,
                const TideReject *reject, const char *text, gint32 reading_index, guint32 n_acks, gboolean is_further)
{
  g_autoptr(GArray) headers = collect_headers(message);
  TideDeadLetter dead_letter = {.topic = message->topic,
                                .partition = message->partition,
                                .offset = message->offset,
                                .timestamp_ms = message->timestamp_ms,
                                .key = message->key,
                                .has_key = message->has_key,
                                .value = message->value,
                                .has_value = message->has_value,
                                .headers = (const TideDeadLetterHeader *)(gconstpointer)headers->data,
                                .n_headers = headers->len,
                                .source = source_of(owner_of(letters, ref)),
                                .reason = tide_bytes_of_string(tide_reject_reason_name(reject->reason)),
                                .text = tide_bytes_of_string(text),
                                .reading_index = reading_index};
  TideDeadLetterJob *job = tide_dead_letter_job_new(&dead_letter, ref, n_acks, &letters->box);
  job->is_further = is_further;
  submit(letters, job);
}

void
tide_consumer_dead_letters_take_message(TideConsumerDeadLetters *letters, TidePartition *partition,
                                        const TideMessage *message, const TideReject *reject)
{
  TideSourceRef ref = tide_partition_begin_rejected(partition, letters->context.budget, message, reject->reason);
  g_autofree char *text = tide_reject_describe(reject);
  submit_rejected(letters, ref, message, reject, text, -1, 1, FALSE);
}

void
tide_consumer_dead_letters_take_readings(TideConsumerDeadLetters *letters, TideSourceRef ref,
                                         const TideMessage *message, const TideMapped *mapped)
{
  const TideReject *rejects = mapped->rejects;
  const TidePartition *partition = owner_of(letters, ref);
  if (mapped->n_rejects * (message->value.len + sizeof(TideDeadLetterJob)) > READING_DEAD_LETTERS_BYTES) {
    g_autofree char *first = tide_reject_describe(&rejects[0]);
    g_autofree char *text = g_strdup_printf("%u of %u readings cannot be used; the first: %s", mapped->n_rejects,
                                            mapped->n_readings, first);
    guint32 n_acks = tide_partition_count_rejects(partition, message->offset, mapped);
    submit_rejected(letters, ref, message, &rejects[0], text, -1, n_acks, FALSE);
    return;
  }
  gboolean is_further = FALSE;
  for (guint32 i = 0; i < mapped->n_rejects; i++) {
    if (tide_rewind_find_letter(&partition->rewind, message->offset, (gint32)rejects[i].reading_index) != NULL)
      continue;
    g_autofree char *text = tide_reject_describe(&rejects[i]);
    submit_rejected(letters, ref, message, &rejects[i], text, (gint32)rejects[i].reading_index, 1, is_further);
    is_further = TRUE;
  }
}

/* ---- refused by HBase ---- */

/* A message whose acknowledgement a refused row blocks: one of its own, or one that follows it in time. */
typedef struct Refused {
  const TideBatchPoison *poison; /* borrowed */
  TideSourceRef ref;
} Refused;

static int
compare_numbers(guint32 a, guint32 b)
{
  return a < b ? -1 : a > b;
}

/* Sorts by row, then by message. */
static int
compare_refused(gconstpointer a, gconstpointer b)
{
  const Refused *one = a, *other = b;
  int order = compare_numbers(one->poison->row, other->poison->row);
  order = order != 0 ? order : compare_numbers(one->ref.assignment, other->ref.assignment);
  return order != 0 ? order : compare_numbers(one->ref.sequence, other->ref.sequence);
}

/* Acknowledges the sources of written rows. Returns the other sources, including those of rows withheld because they
 * follow a refused one: (element-type Refused), sorted. */
static GArray *
split_sources(TideConsumerDeadLetters *letters, const TideBatch *batch)
{
  GArray *refused = g_array_new(FALSE, FALSE, sizeof(Refused));
  gsize n_sources;
  const TideBatchSource *sources = tide_batch_sources(batch, &n_sources);
  for (gsize i = 0; i < n_sources; i++) {
    Refused part = {tide_batch_find_poison(batch, sources[i].row), sources[i].ref};
    TidePartition *partition = owner_of(letters, part.ref);
    if (part.poison != NULL)
      g_array_append_val(refused, part);
    else if (partition != NULL)
      tide_partition_ack(partition, part.ref, 1);
  }
  gsize offset = 0;
  TideBytes record;
  while ((record = tide_dependent_rows_next_record(&batch->dependents, &offset)).len > 0) {
    Refused part = {tide_batch_find_poison(batch, tide_dependent_row_parent(record)),
                    tide_dependent_row_source(record)};
    if (part.poison != NULL)
      g_array_append_val(refused, part);
  }
  g_array_sort(refused, compare_refused);
  return refused;
}

static TideDeadLetter
dead_letter_of(const TidePartition *partition, const TideBatch *batch, const Refused *refused)
{
  return (TideDeadLetter){.topic = tide_bytes_of_string(partition->topic),
                          .partition = partition->partition,
                          .offset = tide_offsets_offset_of(&partition->offsets, refused->ref.sequence),
                          .timestamp_ms = -1,
                          .source = source_of(partition),
                          .reason = TIDE_BYTES_LITERAL(TIDE_DEAD_LETTER_REASON_REFUSED),
                          .text = tide_bytes_of_string(refused->poison->text),
                          .table = tide_bytes_of_string(batch->lane->table->name),
                          .row_key = tide_batch_row_key(batch, refused->poison->row),
                          .reading_index = -1,
                          .attempts = refused->poison->attempts};
}

/* @is_to_blame: @dead_letter's message is. Otherwise it is only one of the row's, and is not named. */
static void
log_refused(TideConsumerDeadLetters *letters, const TidePartition *partition, const TideDeadLetter *dead_letter,
            gboolean is_to_blame)
{
  guint64 suppressed;
  if (!tide_log_limit_pass(&letters->refused_limit, tide_now_us(), REFUSED_LOG_US, &suppressed))
    return;
  g_autofree char *row = tide_bytes_printable(dead_letter->row_key);
  g_autofree char *table = g_strndup((const char *)dead_letter->table.data, dead_letter->table.len);
  g_autofree char *message = tide_partition_name_message(partition, dead_letter->offset);
  TideLogNumber number = tide_log_number(dead_letter->partition);
  TideLogNumber offset = tide_log_number(dead_letter->offset);
  tide_log_fields(TIDE_LOG_ERROR, "row-refused",
                  TIDE_LOG_FIELDS({"TOPIC", partition->topic}, {"PARTITION", is_to_blame ? number.text : NULL},
                                  {"SOURCE", partition->source}, {"OFFSET", is_to_blame ? offset.text : NULL},
                                  {"TABLE", table}, {"REASON", TIDE_DEAD_LETTER_REASON_REFUSED}),
                  "HBase refuses row '%s' of table '%s': %.*s; %s%s%s", row, table, (int)dead_letter->text.len,
                  (const char *)dead_letter->text.data, is_to_blame ? message : "several messages share the row",
                  is_to_blame ? " becomes a dead letter" : ": they are read again, and each is written separately",
                  tide_log_suppressed(suppressed, "rows").text);
}

void
tide_consumer_dead_letters_report_unlogged(TideConsumerDeadLetters *letters)
{
  guint64 n = tide_log_limit_end(&letters->refused_limit);
  if (n == 0)
    return;
  g_autofree char *rows = tide_count_of(n, "more row", NULL);
  tide_log(TIDE_LOG_ERROR, "more-refused", "HBase refused %s (not logged)", rows);
}

/* Whether bad messages of the partition's topic halt it. */
static gboolean
stops(const TideConsumerDeadLetters *letters, const TidePartition *partition)
{
  const TideConfigSource *source =
      tide_mapping_source(letters->context.mapping, tide_bytes_of_string(partition->topic));
  return source->readings->on_bad_message == TIDE_BAD_MESSAGE_STOP;
}

static void
halt_at_refused(TideConsumerDeadLetters *letters, TidePartition *partition, const TideDeadLetter *dead_letter)
{
  const char *why = stops(letters, partition) ? "on_bad_message is 'stop'" : TIDE_NO_PLACE_FOR_DEAD_LETTERS;
  if (partition->halt.text != NULL)
    return;
  g_autofree char *row = tide_bytes_printable(dead_letter->row_key);
  tide_pauses_halt_at_message(letters->context.pauses, partition, dead_letter->offset,
                              g_strdup_printf("topic '%s' partition %d is halted at offset %" G_GINT64_FORMAT
                                              ": HBase refuses row '%s' of table '%.*s': %.*s; %s",
                                              partition->topic, partition->partition, dead_letter->offset, row,
                                              (int)dead_letter->table.len, (const char *)dead_letter->table.data,
                                              (int)dead_letter->text.len, (const char *)dead_letter->text.data, why));
}

/* Blames the message of @refused, which lacks @n_acks for the row and for rows withheld after it. */
static void
blame(TideConsumerDeadLetters *letters, TidePartition *partition, const TideBatch *batch, const Refused *refused,
      guint32 n_acks)
{
  TideDeadLetter dead_letter = dead_letter_of(partition, batch, refused);
  if (stops(letters, partition) || !tide_dead_letter_queue_exist(letters->context.dead_letters)) {
    halt_at_refused(letters, partition, &dead_letter);
    partition->rewind.refused_acks += n_acks;
    return;
  }
  gboolean is_further = tide_message_dead_letters_has_any(&partition->dead_letters, refused->ref.sequence);
  if (!tide_partition_add_refused(partition, letters->context.budget, refused->ref, n_acks))
    return;
  log_refused(letters, partition, &dead_letter, TRUE);
  TideDeadLetterJob *job = tide_dead_letter_job_new(&dead_letter, refused->ref, n_acks, &letters->box);
  job->must_read = TRUE;
  job->is_further = is_further;
  tide_buffer_append_bytes(&job->row, tide_batch_row_wire(batch, refused->poison->row));
  submit(letters, job);
}

/* Rewinds the messages of [@first, @end), which share a refused row: it is unknown which of them HBase refuses. */
static void
read_again(TideConsumerDeadLetters *letters, const TideBatch *batch, const Refused *first, const Refused *end)
{
  gint64 now_us = tide_now_us();
  const char *table = batch->lane->table->name;
  gboolean is_logged = FALSE;
  for (const Refused *part = first; part < end; part++) {
    TidePartition *partition = owner_of(letters, part->ref);
    if (partition == NULL)
      continue;
    partition->rewind.refused_acks++;
    tide_rewind_ask(partition, TIDE_REWIND_REFUSED, now_us);
    if (is_logged)
      continue;
    TideDeadLetter dead_letter = dead_letter_of(partition, batch, part);
    log_refused(letters, partition, &dead_letter, FALSE);
    is_logged = TRUE;
  }
  if (tide_accumulator_stop_merging(letters->context.accumulator, batch, first->poison->row, now_us))
    tide_log_fields(TIDE_LOG_WARNING, "table-not-merged", TIDE_LOG_FIELDS({"TABLE", table}),
                    "HBase refuses rows of more than %u keys of table '%s'; for ten minutes tidemark merges none of "
                    "its rows, so that each refused row belongs to one message; writing takes more calls meanwhile",
                    TIDE_SOLO_KEYS_MAX, table);
}

void
tide_consumer_dead_letters_take_refused(TideConsumerDeadLetters *letters, const TideBatch *batch)
{
  g_autoptr(GArray) refused = split_sources(letters, batch);
  const Refused *first = (const Refused *)(gconstpointer)refused->data, *end = first + refused->len;
  for (const Refused *at = first, *next; at < end; at = next) {
    TidePartition *partition = owner_of(letters, at->ref);
    for (next = at + 1; next < end && next->poison == at->poison;)
      next++;
    if (at->ref.assignment != next[-1].ref.assignment || at->ref.sequence != next[-1].ref.sequence)
      read_again(letters, batch, at, next);
    else if (partition != NULL)
      blame(letters, partition, batch, at, (guint32)(next - at));
  }
}

/* ---- completions ---- */

static void
complete_job(TideConsumerDeadLetters *letters, TideDeadLetterJob *job)
{
  TidePartition *partition = owner_of(letters, job->source);
  if (partition != NULL) {
    partition->rewind.n_letters_in_flight--;
    if (job->is_kept)
      tide_partition_dead_letter_kept(partition, letters->context.budget, job);
    else /* cancelled by a rewind, which reads the message again */
      (void)tide_rewind_add_letter(&partition->rewind, job->dead_letter.offset, TIDE_LETTER_CANCELLED,
                                   partition->commit.offset);
  }
  tide_dead_letter_job_free(job);
}

gboolean
tide_consumer_dead_letters_take_completed(TideConsumerDeadLetters *letters)
{
  TideDeadLetterJob *job = tide_dead_letter_completions_take(&letters->box);
  if (job == NULL)
    return FALSE;
  for (TideDeadLetterJob *next; job != NULL; job = next) {
    next = job->next;
    complete_job(letters, job);
  }
  return TRUE;
}

/* ---- counts for the ratio ---- */

void
tide_consumer_dead_letters_note_messages(TideConsumerDeadLetters *letters)
{
  const GPtrArray *partitions = letters->context.partitions;
  TideFreshMessages all = {0}, *reported = &letters->reported;
  for (guint i = 0; i < partitions->len; i++) {
    all.received += tide_partition_at(partitions, i)->fresh.received;
    all.written += tide_partition_at(partitions, i)->fresh.written;
  }
  if (all.received != reported->received || all.written != reported->written)
    tide_dead_letter_queue_note_messages(letters->context.dead_letters, all.received - reported->received,
                                         all.written - reported->written);
  *reported = all;
}
