#include "consumer/dead_letter_desk.h"
#include "dead_letters/dead_letter_job.h"
#include "util/clock.h"

/* The dead letter of a rejected reading holds its whole message. Where those of one message would take more than this,
 * one dead letter stands for all of them. */
#define READING_DEAD_LETTERS_BYTES (4u * 1024 * 1024)

#define REFUSED_LOG_US (10 * TIDE_US_PER_S)

/* Of messages of refused rows so many are read again, or were and are not written yet: enough that it is done for many
 * at once, since they lie all over what was read and each pass over that takes some tenths of a second. What they hold
 * is bounded by the queue of dead letters. */
#define MAX_UNDER_WAY 8000u

/* ---- life ---- */

void
tide_dead_letter_desk_init(TideDeadLetterDesk *desk, const TideDeadLetterDeskContext *context)
{
  *desk = (TideDeadLetterDesk){.context = *context};
  tide_dead_letter_completions_init(&desk->box, context->wake, context->wake_data);
  tide_refused_part_queue_init(&desk->refused_parts, context->budget);
}

void
tide_dead_letter_desk_clear(TideDeadLetterDesk *desk)
{
  tide_dead_letter_completions_clear(&desk->box);
  tide_refused_part_queue_clear(&desk->refused_parts);
}

/* NULL: the message of @ref is in our hands no more. */
static TidePartition *
owner_of(const TideDeadLetterDesk *desk, TideSourceRef ref)
{
  return tide_assignments_find_owner(desk->context.assignments, ref);
}

/* Transfers @job, of a partition in the consumer's hands. */
static void
submit(TideDeadLetterDesk *desk, TideDeadLetterJob *job)
{
  TidePartition *partition = owner_of(desk, job->source);
  job->owned = &partition->assignment.letters;
  job->is_further |= tide_rewind_has_letter(&partition->rewind, job->dead_letter.offset);
  partition->rewind.n_letters_in_flight += job->wants_original ? 0 : 1;
  tide_dead_letter_queue_submit(desk->context.dead_letters, job);
}

/* ---- rejected when they were mapped ---- */

static GArray *
collect_headers(const TideMessage *message)
{
  GArray *headers = g_array_new(FALSE, FALSE, sizeof(TideDeadLetterHeader));
  TideDeadLetterHeader header;
  while (message->header_at != NULL && message->header_at(message, headers->len, &header))
    g_array_append_val(headers, header);
  return headers;
}

/* Of the partition's topic. */
static TideBytes
source_of(const TidePartition *partition)
{
  return partition->source != NULL ? tide_bytes_of_string(partition->source) : TIDE_BYTES_EMPTY;
}

static void
submit_rejected(TideDeadLetterDesk *desk, TideSourceRef ref, const TideMessage *message, const TideReject *reject,
                const char *text, gint32 reading_index, guint32 n_acks, gboolean is_further)
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
                                .source = source_of(owner_of(desk, ref)),
                                .reason = tide_bytes_of_string(tide_reject_reason_name(reject->reason)),
                                .text = tide_bytes_of_string(text),
                                .reading_index = reading_index};
  TideDeadLetterJob *job = tide_dead_letter_job_new(&dead_letter, ref, n_acks, &desk->box);
  job->is_further = is_further;
  submit(desk, job);
}

void
tide_dead_letter_desk_take_message(TideDeadLetterDesk *desk, TidePartition *partition, const TideMessage *message,
                                   const TideReject *reject)
{
  TideSourceRef ref = tide_partition_begin_rejected(partition, desk->context.budget, message, reject->reason);
  g_autofree char *text = tide_reject_describe(reject);
  submit_rejected(desk, ref, message, reject, text, -1, 1, FALSE);
}

void
tide_dead_letter_desk_take_readings(TideDeadLetterDesk *desk, TideSourceRef ref, const TideMessage *message,
                                    const TideMapped *mapped)
{
  const TideReject *rejects = mapped->rejects;
  const TidePartition *partition = owner_of(desk, ref);
  if (mapped->n_rejects * (message->value.len + sizeof(TideDeadLetterJob)) > READING_DEAD_LETTERS_BYTES) {
    g_autofree char *first = tide_reject_describe(&rejects[0]);
    g_autofree char *text = g_strdup_printf("%u of %u readings cannot be used, the first of them: %s",
                                            mapped->n_rejects, mapped->n_readings, first);
    guint32 n_acks = tide_partition_count_rejects(partition, message->offset, mapped);
    submit_rejected(desk, ref, message, &rejects[0], text, -1, n_acks, FALSE);
    return;
  }
  gboolean is_further = FALSE;
  for (guint32 i = 0; i < mapped->n_rejects; i++) {
    if (tide_rewind_find_letter(&partition->rewind, message->offset, (gint32)rejects[i].reading_index) != NULL)
      continue;
    g_autofree char *text = tide_reject_describe(&rejects[i]);
    submit_rejected(desk, ref, message, &rejects[i], text, (gint32)rejects[i].reading_index, 1, is_further);
    is_further = TRUE;
  }
}

/* ---- what was refused ---- */

/* A source of a refused row, or a row that follows it. */
typedef struct Refused {
  const TideBatchPoison *poison; /* borrowed */
  TideSourceRef ref;
  guint32 reading_index;
} Refused;

static gboolean
is_same_message(TideSourceRef a, TideSourceRef b)
{
  return a.assignment == b.assignment && a.sequence == b.sequence;
}

static int
compare_numbers(guint32 a, guint32 b)
{
  return a < b ? -1 : a > b;
}

/* By row, in that by message, in that by reading. */
static int
compare_refused(gconstpointer a, gconstpointer b)
{
  const Refused *one = a, *other = b;
  int order = compare_numbers(one->poison->row, other->poison->row);
  order = order != 0 ? order : compare_numbers(one->ref.assignment, other->ref.assignment);
  order = order != 0 ? order : compare_numbers(one->ref.sequence, other->ref.sequence);
  return order != 0 ? order : compare_numbers(one->reading_index, other->reading_index);
}

/* Acknowledges the sources of rows that were written. The others, and what follows their rows and so is not sent:
 * (element-type Refused), sorted. */
static GArray *
part_sources(TideDeadLetterDesk *desk, const TideBatch *batch)
{
  GArray *refused = g_array_new(FALSE, FALSE, sizeof(Refused));
  gsize n_sources;
  const TideBatchSource *sources = tide_batch_sources(batch, &n_sources);
  for (gsize i = 0; i < n_sources; i++) {
    Refused part = {tide_batch_find_poison(batch, sources[i].row), sources[i].ref, sources[i].reading_index};
    TidePartition *partition = owner_of(desk, part.ref);
    if (part.poison != NULL)
      g_array_append_val(refused, part);
    else if (partition != NULL)
      tide_partition_ack(partition, part.ref, 1);
  }
  gsize offset = 0;
  TideBytes record;
  while ((record = tide_dependent_rows_next_record(&batch->dependents, &offset)).len > 0) {
    Refused part = {tide_batch_find_poison(batch, tide_dependent_row_parent(record)), tide_dependent_row_source(record),
                    tide_dependent_row_reading_index(record)};
    if (part.poison != NULL)
      g_array_append_val(refused, part);
  }
  g_array_sort(refused, compare_refused);
  return refused;
}

static TideRefusedRow *
make_row(const TideDeadLetterDesk *desk, const TideBatch *batch, const TideBatchPoison *poison, gboolean is_shared)
{
  const TideTable *table = batch->lane->table;
  TideRefusedRow row = {.budget = desk->context.budget,
                        .table_index = table->index,
                        .attempts = poison->attempts,
                        .is_shared = is_shared,
                        .table = tide_bytes_of_string(table->name),
                        .key = tide_batch_row_key(batch, poison->row),
                        .text = tide_bytes_of_string(poison->text),
                        .wire = tide_batch_row_wire(batch, poison->row)};
  return tide_refused_row_new(&row);
}

/* Adds the parts of one row, which are [@first, @end), to @parts. */
static void
add_parts(TideDeadLetterDesk *desk, const TideBatch *batch, const Refused *first, const Refused *end, GArray *parts)
{
  gboolean is_shared = !is_same_message(first->ref, end[-1].ref);
  g_autoptr(TideRefusedRow) row = make_row(desk, batch, first->poison, is_shared);
  gint32 n_parts = 0;
  for (const Refused *at = first, *next; at < end; at = next, n_parts++) {
    for (next = at + 1; next < end && is_same_message(next->ref, at->ref) && next->reading_index == at->reading_index;)
      next++;
    TideRefusedPart part = {tide_refused_row_ref(row), at->ref, at->reading_index, (guint32)(next - at)};
    g_array_append_val(parts, part);
  }
  if (is_shared)
    tide_accumulator_defer_key(desk->context.accumulator, row->table_index, row->key, n_parts);
}

/* @parts will not be appended again. */
static void
let_go(TideDeadLetterDesk *desk, const GArray *parts)
{
  for (guint i = 0; i < parts->len; i++) {
    const TideRefusedRow *row = g_array_index(parts, TideRefusedPart, i).row;
    if (row->is_shared)
      tide_accumulator_defer_key(desk->context.accumulator, row->table_index, row->key, -1);
  }
}

/* ---- a message's parts ---- */

static TideDeadLetter
dead_letter_of(const TidePartition *partition, const TideRefusedPart *part)
{
  return (TideDeadLetter){.topic = tide_bytes_of_string(partition->topic),
                          .partition = partition->partition,
                          .offset = tide_offsets_offset_of(&partition->offsets, part->ref.sequence),
                          .timestamp_ms = -1,
                          .source = source_of(partition),
                          .reason = TIDE_BYTES_LITERAL(TIDE_DEAD_LETTER_REASON_REFUSED),
                          .text = part->row->text,
                          .table = part->row->table,
                          .row_key = part->row->key,
                          .reading_index = -1,
                          .attempts = part->row->attempts};
}

static void
log_refused(TideDeadLetterDesk *desk, const TidePartition *partition, const TideDeadLetter *dead_letter,
            const char *next)
{
  guint64 suppressed;
  if (!tide_log_limit_pass(&desk->refused_limit, tide_now_us(), REFUSED_LOG_US, &suppressed))
    return;
  g_autofree char *row = tide_bytes_printable(dead_letter->row_key);
  g_autofree char *table = g_strndup((const char *)dead_letter->table.data, dead_letter->table.len);
  g_autofree char *which = tide_partition_name_message(partition, dead_letter->offset);
  TideLogNumber number = tide_log_number(dead_letter->partition);
  TideLogNumber offset = tide_log_number(dead_letter->offset);
  tide_log_fields(
      TIDE_LOG_ERROR, "row-refused",
      TIDE_LOG_FIELDS({"TOPIC", partition->topic}, {"PARTITION", number.text}, {"SOURCE", partition->source},
                      {"OFFSET", offset.text}, {"TABLE", table}, {"REASON", TIDE_DEAD_LETTER_REASON_REFUSED}),
      "HBase refuses row '%s' of table '%s', of %s: %.*s; %s%s", row, table, which, (int)dead_letter->text.len,
      (const char *)dead_letter->text.data, next, tide_log_suppressed(suppressed, "rows").text);
}

void
tide_dead_letter_desk_tell_unlogged(TideDeadLetterDesk *desk)
{
  guint64 n = tide_log_limit_end(&desk->refused_limit);
  if (n > 0)
    tide_log(TIDE_LOG_ERROR, "more-refused", "HBase refuses %" G_GUINT64_FORMAT " more row%s, not logged", n,
             n == 1 ? "" : "s");
}

/* Bad messages of the partition's topic halt it. */
static gboolean
stops(const TideDeadLetterDesk *desk, const TidePartition *partition)
{
  const TideConfigSource *source = tide_mapping_source(desk->context.mapping, tide_bytes_of_string(partition->topic));
  return source->readings->on_bad_message == TIDE_BAD_MESSAGE_STOP;
}

static void
halt_at_refused(TideDeadLetterDesk *desk, TidePartition *partition, const TideDeadLetter *dead_letter)
{
  const char *why = stops(desk, partition) ? "on_bad_message: stop" : TIDE_NO_PLACE_FOR_DEAD_LETTERS;
  if (partition->halt.text != NULL)
    return;
  g_autofree char *row = tide_bytes_printable(dead_letter->row_key);
  tide_pauses_halt_at_message(desk->context.pauses, partition, dead_letter->offset,
                              g_strdup_printf("topic '%s' partition %d is halted at offset %" G_GINT64_FORMAT
                                              ": HBase refuses its row '%s' of table '%.*s': %.*s; %s",
                                              partition->topic, partition->partition, dead_letter->offset, row,
                                              (int)dead_letter->table.len, (const char *)dead_letter->table.data,
                                              (int)dead_letter->text.len, (const char *)dead_letter->text.data, why));
}

/* Takes over @parts (nullable): what is to be sent again once the message is read. */
static TideDeadLetterJob *
make_job(TideDeadLetterDesk *desk, const TidePartition *partition, const TideRefusedPart *part, guint32 n_acks,
         GArray *parts)
{
  TideDeadLetter dead_letter = dead_letter_of(partition, part);
  log_refused(desk, partition, &dead_letter,
              parts != NULL ? "the messages that it was made of are sent without each other"
                            : "its message becomes a dead letter");
  TideDeadLetterJob *job = tide_dead_letter_job_new(&dead_letter, part->ref, n_acks, &desk->box);
  job->must_read = TRUE;
  job->wants_original = parts != NULL;
  job->parts = parts;
  job->row = tide_refused_row_ref(part->row);
  return job;
}

static void
submit_refused(TideDeadLetterDesk *desk, TideDeadLetterJob *job)
{
  desk->jobs_of_refused++;
  submit(desk, job);
}

/* @part is refused for its message's sake. */
static void
dead_letter(TideDeadLetterDesk *desk, TidePartition *partition, const TideRefusedPart *part, guint32 n_acks)
{
  gboolean is_further = tide_message_dead_letters_has_any(&partition->dead_letters, part->ref.sequence);
  if (!tide_partition_add_refused(partition, desk->context.budget, part->ref, n_acks))
    return;
  TideDeadLetterJob *job = make_job(desk, partition, part, n_acks, NULL);
  job->is_further = is_further;
  submit_refused(desk, job);
}

static guint32
sum_acks(const GArray *parts)
{
  guint32 n_acks = 0;
  for (guint i = 0; i < parts->len; i++)
    n_acks += g_array_index(parts, TideRefusedPart, i).n_acks;
  return n_acks;
}

/* The part for which the message itself is to blame; NULL: there is none. */
static const TideRefusedPart *
find_own(const GArray *parts)
{
  for (guint i = 0; i < parts->len; i++)
    if (!g_array_index(parts, TideRefusedPart, i).row->is_shared)
      return &g_array_index(parts, TideRefusedPart, i);
  return NULL;
}

/* @parts of one message of ours. Returns: whether they are taken over, to be sent again. */
static gboolean
dead_letter_or_read_again(TideDeadLetterDesk *desk, TidePartition *partition, GArray *parts)
{
  const TideRefusedPart *own = find_own(parts);
  const TideRefusedPart *part = own != NULL ? own : &g_array_index(parts, TideRefusedPart, 0);
  if (stops(desk, partition) || !tide_dead_letter_queue_exist(desk->context.dead_letters)) {
    TideDeadLetter dead_letter = dead_letter_of(partition, part);
    halt_at_refused(desk, partition, &dead_letter);
    partition->halt.acks += sum_acks(parts);
    return FALSE;
  }
  guint32 n_acks = sum_acks(parts);
  if (own == NULL && !tide_message_dead_letters_is_refused(&partition->dead_letters, part->ref.sequence)) {
    submit_refused(desk, make_job(desk, partition, part, n_acks, parts));
    return TRUE;
  }
  dead_letter(desk, partition, part, n_acks);
  return FALSE;
}

void
tide_dead_letter_desk_take_waiting(TideDeadLetterDesk *desk)
{
  while (desk->jobs_of_refused + tide_accumulator_count_unmerged(desk->context.accumulator) < MAX_UNDER_WAY) {
    GArray *parts = tide_refused_part_queue_take_message(&desk->refused_parts);
    if (parts == NULL)
      return;
    TideSourceRef ref = g_array_index(parts, TideRefusedPart, 0).ref;
    TidePartition *partition = owner_of(desk, ref);
    if (partition != NULL && dead_letter_or_read_again(desk, partition, parts))
      continue;
    let_go(desk, parts);
    g_array_unref(parts);
  }
}

/* @parts stand by rows. A message with several such rows counts for each. Less is merged then, and refused. */
static void
shorten_read_ahead(TideDeadLetterDesk *desk, const GArray *parts)
{
  const GPtrArray *partitions = desk->context.partitions;
  g_autofree guint32 *n_messages = g_new0(guint32, partitions->len);
  for (guint i = 0; i < parts->len; i++) {
    const TideRefusedPart *part = &g_array_index(parts, TideRefusedPart, i);
    const TidePartition *partition = owner_of(desk, part->ref);
    gboolean is_counted = i > 0 && part[-1].row == part->row && is_same_message(part[-1].ref, part->ref);
    if (part->row->is_shared && !is_counted && partition != NULL)
      n_messages[partition->slot]++;
  }
  gint64 now_us = tide_now_us();
  for (guint i = 0; i < partitions->len; i++)
    if (n_messages[i] > 0)
      tide_pauses_shorten_read_ahead(desk->context.pauses, tide_partition_at(partitions, i), n_messages[i], now_us);
}

void
tide_dead_letter_desk_take_refused(TideDeadLetterDesk *desk, const TideBatch *batch)
{
  g_autoptr(GArray) refused = part_sources(desk, batch);
  const Refused *first = (const Refused *)(gconstpointer)refused->data, *end = first + refused->len;
  GArray *parts = tide_refused_parts_new();
  for (const Refused *at = first, *next; at < end; at = next) {
    for (next = at + 1; next < end && next->poison == at->poison;)
      next++;
    add_parts(desk, batch, at, next, parts);
  }
  shorten_read_ahead(desk, parts);
  tide_refused_part_queue_add(&desk->refused_parts, parts);
}

/* ---- sent again ---- */

static gboolean
find_header(const TideMessage *message, const char *name, TideBytes *ret_value)
{
  const TideDeadLetter *dead_letter = message->headers;
  for (guint32 i = dead_letter->n_headers; i-- > 0;) {
    const TideDeadLetterHeader *header = &dead_letter->headers[i];
    if (!tide_bytes_equal(header->name, tide_bytes_of_string(name)))
      continue;
    *ret_value = header->value;
    return header->has_value;
  }
  return FALSE;
}

static TideMessage
message_of(const TideDeadLetter *dead_letter)
{
  return (TideMessage){.topic = dead_letter->topic,
                       .partition = dead_letter->partition,
                       .offset = dead_letter->offset,
                       .timestamp_ms = dead_letter->timestamp_ms,
                       .key = dead_letter->key,
                       .has_key = dead_letter->has_key,
                       .value = dead_letter->value,
                       .has_value = dead_letter->has_value,
                       .find_header = find_header,
                       .headers = dead_letter};
}

/* Whether @row is for @part's table. An instance of a dated table is told by its name: it has its place while its key
 * is held, and other tables of the message need none. */
static gboolean
is_of_table(const TideRow *row, const TideRefusedPart *part)
{
  return row->table_name.len > 0 ? tide_bytes_equal(row->table_name, part->row->table)
                                 : row->table_index == part->row->table_index;
}

/* The place of @part's row among those of its message, at or behind @from; n_rows: there is none. */
static guint32
find_row(const TideMapped *mapped, const TideRefusedPart *part, guint32 from)
{
  for (guint32 i = from; i < mapped->n_rows; i++)
    if (mapped->rows[i].reading_index == part->reading_index && is_of_table(&mapped->rows[i], part) &&
        tide_bytes_equal(mapped->rows[i].key, part->row->key))
      return i;
  return mapped->n_rows;
}

/* Where each of @parts stands in @mapped; both are in the order of readings. NULL: one is not there. */
static guint32 *
find_rows(const TideMapped *mapped, const GArray *parts)
{
  guint32 *row_indexes = g_new(guint32, parts->len);
  for (guint i = 0; i < parts->len; i++) {
    const TideRefusedPart *part = &g_array_index(parts, TideRefusedPart, i);
    gboolean is_behind = i > 0 && part->reading_index > part[-1].reading_index;
    row_indexes[i] = find_row(mapped, part, is_behind ? row_indexes[i - 1] : 0);
    if (row_indexes[i] < mapped->n_rows)
      continue;
    g_free(row_indexes);
    return NULL;
  }
  return row_indexes;
}

/* Appends what @job's message has in refused rows, each by itself. FALSE: nothing was appended: the message is gone, or
 * makes no such rows any more. */
static gboolean
append_again(TideDeadLetterDesk *desk, TidePartition *partition, const TideDeadLetterJob *job)
{
  if (job->dead_letter.original_is_gone)
    return FALSE;
  TideMessage message = message_of(&job->dead_letter);
  TideMapped mapped;
  TideReject reject = {0};
  /* What has expired meanwhile was good when it was read, and HBase knows its own time to live. */
  tide_mapping_set_now(desk->context.mapping, 0);
  gboolean is_mapped = tide_mapping_apply(desk->context.mapping, &message, &mapped, &reject);
  tide_mapping_set_now(desk->context.mapping,
                       tide_wall_clock_epoch_ms()); /* for messages that are read in this round */
  if (!is_mapped)
    return FALSE;
  g_autofree guint32 *row_indexes = find_rows(&mapped, job->parts);
  if (row_indexes == NULL)
    return FALSE;
  guint32 n_rows = 0;
  for (guint i = 0; i < job->parts->len; i++) {
    mapped.rows[row_indexes[i]].table_index = g_array_index(job->parts, TideRefusedPart, i).row->table_index;
    n_rows += tide_accumulator_append_unmerged(desk->context.accumulator, mapped.rows, mapped.n_rows, row_indexes[i],
                                               job->source, tide_now_us());
  }
  tide_partition_append_again(partition, job->source, job->n_acks, n_rows);
  return TRUE;
}

/* Whoever made no such row any more, or is gone, cannot be told from the rejected ones: its dead letter says what is
 * known. */
static gboolean
dead_letter_after_all(TideDeadLetterDesk *desk, TidePartition *partition, TideDeadLetterJob *job)
{
  job->is_further = tide_message_dead_letters_has_any(&partition->dead_letters, job->source.sequence);
  if (!tide_partition_add_refused(partition, desk->context.budget, job->source, job->n_acks))
    return FALSE;
  job->wants_original = FALSE;
  g_clear_pointer(&job->parts, g_array_unref);
  submit_refused(desk, job);
  return TRUE;
}

static void
take_original(TideDeadLetterDesk *desk, TideDeadLetterJob *job)
{
  TidePartition *partition = owner_of(desk, job->source);
  gboolean owns = partition != NULL && job->result == TIDE_DEAD_LETTER_READ; /* else it is read again, after a rewind */
  gboolean is_dead = owns && tide_message_dead_letters_is_refused(&partition->dead_letters, job->source.sequence);
  gboolean appended = owns && !is_dead && append_again(desk, partition, job);
  if (job->result == TIDE_DEAD_LETTER_READ)
    tide_dead_letter_queue_release_original(desk->context.dead_letters, job);
  if (!appended)
    let_go(desk, job->parts);
  if (appended || !owns || !dead_letter_after_all(desk, partition, job))
    tide_dead_letter_job_free(job);
}

/* ---- completions ---- */

static void
complete_job(TideDeadLetterDesk *desk, TideDeadLetterJob *job)
{
  desk->jobs_of_refused -= tide_dead_letter_job_is_refused(job) ? 1 : 0;
  if (job->wants_original) {
    take_original(desk, job);
    return;
  }
  TidePartition *partition = owner_of(desk, job->source);
  if (partition != NULL) {
    partition->rewind.n_letters_in_flight--;
    if (job->result == TIDE_DEAD_LETTER_KEPT)
      tide_partition_dead_letter_kept(partition, desk->context.budget, job);
    else /* for a rewind, after which it comes again */
      (void)tide_rewind_add_letter(&partition->rewind, job->dead_letter.offset, TIDE_LETTER_GIVEN_UP,
                                   partition->commit.offset);
  }
  tide_dead_letter_job_free(job);
}

gboolean
tide_dead_letter_desk_take_completed(TideDeadLetterDesk *desk)
{
  TideDeadLetterJob *job = tide_dead_letter_completions_take(&desk->box);
  if (job == NULL)
    return FALSE;
  for (TideDeadLetterJob *next; job != NULL; job = next) {
    next = job->next;
    complete_job(desk, job);
  }
  return TRUE;
}

/* ---- how many ---- */

void
tide_dead_letter_desk_note_messages(TideDeadLetterDesk *desk)
{
  const GPtrArray *partitions = desk->context.partitions;
  TideFreshMessages all = {0}, *reported = &desk->reported;
  for (guint i = 0; i < partitions->len; i++) {
    all.received += tide_partition_at(partitions, i)->fresh.received;
    all.written += tide_partition_at(partitions, i)->fresh.written;
  }
  if (all.received != reported->received || all.written != reported->written)
    tide_dead_letter_queue_note_messages(desk->context.dead_letters, all.received - reported->received,
                                         all.written - reported->written);
  *reported = all;
}
