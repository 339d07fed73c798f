/* A message that a consumer has read: its rows go to the open lanes, or it is passed over, becomes a dead letter, or
 * holds its partition. */
#include "flow/consumer_private.h"
#include "util/clock.h"
#include "util/log.h"

#define BAD_MESSAGE_LOG_US (10 * TIDE_US_PER_S)

/* Of so many readings it is said what becomes of their fields. */
#define TOLD_READINGS 10000u

/* How long a message waits for a place for its dated table: less than any watchdog does for a round. */
#define PLACES_WAIT_US (10 * TIDE_US_PER_S)
#define PLACES_LOOK_US (20 * TIDE_US_PER_MS)

static void
log_bad_message(TideConsumer *consumer, const TideKafkaRecord *record, const TideReject *reject, const char *next)
{
  guint64 suppressed;
  if (!tide_log_limit_pass(&consumer->bad_message_limit, tide_now_us(), BAD_MESSAGE_LOG_US, &suppressed))
    return;
  g_autofree char *why = tide_reject_describe(reject);
  g_autofree char *partition = g_strdup_printf("%d", record->message.partition);
  g_autofree char *offset = g_strdup_printf("%" G_GINT64_FORMAT, record->message.offset);
  g_autofree char *topic = g_strndup((const char *)record->message.topic.data, record->message.topic.len);
  const TideLogField fields[] = {{"TOPIC", topic},
                                 {"PARTITION", partition},
                                 {"OFFSET", offset},
                                 {"REASON", tide_reject_reason_name(reject->reason)}};
  tide_log_fields(TIDE_LOG_ERROR, fields, G_N_ELEMENTS(fields),
                  "cannot use message %s of '%s' partition %s: %s; %s (%" G_GUINT64_FORMAT " such events not logged)",
                  offset, topic, partition, why, next, suppressed);
}

/* What is done with a message, or a reading, that cannot be used. */
static TideOnBadMessage
policy_for_bad(const TideConsumer *consumer)
{
  TideOnBadMessage policy = consumer->context.config->readings.on_bad_message;
  if (policy == TIDE_BAD_MESSAGE_DEAD_LETTER && !tide_dead_letters_exist(consumer->context.letters))
    return TIDE_BAD_MESSAGE_STOP;
  return policy;
}

static void
hold_at_bad_message(TideConsumer *consumer, TidePartition *partition, const TideKafkaRecord *record,
                    const TideReject *reject)
{
  gboolean is_chosen = consumer->context.config->readings.on_bad_message == TIDE_BAD_MESSAGE_STOP;
  const char *remedy =
      is_chosen ? "mend the configuration, or set another on_bad_message, and restart" : TIDE_NO_PLACE_FOR_LETTERS;
  g_autofree char *why = tide_reject_describe(reject);
  partition->held_ms = record->message.timestamp_ms;
  tide_pauses_hold_at_message(
      &consumer->pauses, partition,
      g_strdup_printf("topic '%s' partition %d stands still at offset %" G_GINT64_FORMAT ": %s; %s", partition->topic,
                      partition->partition, record->message.offset, why, remedy));
}

static void
handle_bad_message(TideConsumer *consumer, TidePartition *partition, const TideKafkaRecord *record,
                   const TideReject *reject)
{
  if (reject->reason == TIDE_REJECT_TOMBSTONE) {
    /* Nothing is wrong with it: it has no readings, and no table asks which row it deletes. */
    tide_partition_skip(partition, consumer->context.budget, record->message.offset, reject->reason);
    return;
  }
  switch (policy_for_bad(consumer)) {
  case TIDE_BAD_MESSAGE_SKIP:
    log_bad_message(consumer, record, reject, "passing over it, as on_bad_message says");
    tide_partition_skip(partition, consumer->context.budget, record->message.offset, reject->reason);
    break;
  case TIDE_BAD_MESSAGE_DEAD_LETTER:
    log_bad_message(consumer, record, reject, "it becomes a dead letter");
    tide_letter_desk_take_message(&consumer->desk, partition, &record->message, reject);
    break;
  case TIDE_BAD_MESSAGE_STOP:
    hold_at_bad_message(consumer, partition, record, reject);
    break;
  }
}

/* The readings that were left out of @ref's message. */
static void
handle_bad_readings(TideConsumer *consumer, const TideKafkaRecord *record, const TideMapped *mapped, TideSourceRef ref,
                    TideOnBadMessage policy)
{
  gboolean skip = policy == TIDE_BAD_MESSAGE_SKIP;
  log_bad_message(consumer, record, &mapped->rejects[0],
                  skip ? "the reading is passed over, the message's others are written"
                       : "the reading becomes a dead letter, the message's others are written");
  if (!skip)
    tide_letter_desk_take_readings(&consumer->desk, ref, &record->message, mapped);
}

/* Gives the rows of dated tables the places of theirs. NULL; else the row for whose table there is none. */
static const TideRow *
place_rows(TideConsumer *consumer, const TideMapped *mapped)
{
  for (guint32 i = 0; i < mapped->n_rows; i++) {
    TideRow *row = &mapped->rows[i];
    if (row->table_name.len == 0)
      continue;
    const TideTable *declared = g_ptr_array_index(consumer->context.config->tables, row->table_index);
    const TideTable *table =
        tide_dated_cache_get(&consumer->dated_names, consumer->context.dated, declared, row->table_name);
    if (G_UNLIKELY(table == NULL)) {
      tide_open_lanes_give_places_back(consumer->open_lanes); /* those of the rows before */
      return row;
    }
    row->table_index = table->index;
  }
  return NULL;
}

/* Lets others give places back: all that this consumer holds is sent, and tables without rows are given up. What comes
 * home may need the mapping: a message in hand is to be mapped again. */
static void
wait_for_places(TideConsumer *consumer)
{
  tide_open_lanes_tick(consumer->open_lanes, TIDE_PRESSURE_FLUSH, 0, tide_now_us());
  tide_consumer_take_home(consumer, tide_now_us() + PLACES_LOOK_US);
}

/* Too many dated tables: the message is good, so it is not passed over whatever on_bad_message says. */
static void
hold_at_unplaced_row(TideConsumer *consumer, TidePartition *partition, const TideKafkaRecord *record,
                     const TideRow *row)
{
  g_autofree char *table = tide_bytes_printable(row->table_name);
  char *why =
      g_strdup_printf("topic '%s' partition %d stands still at offset %" G_GINT64_FORMAT
                      ": its table '%s' would be one more than the %u dated tables that a process writes to at a time: "
                      "look whether readings have absurd times (readings.time.max_past refuses these), and restart",
                      partition->topic, partition->partition, record->message.offset, table, TIDE_DATED_TABLES_MAX);
  partition->held_ms = record->message.timestamp_ms;
  tide_pauses_hold_at_message(&consumer->pauses, partition, why);
}

/* @by_table: what has expired */
static void
count_expired(const TideConsumer *consumer, const TideExpired *by_table)
{
  for (guint i = 0; i < consumer->context.config->tables->len; i++) {
    tide_counter_add(consumer->expired[i].rows, by_table[i].n_rows);
    tide_counter_add(consumer->expired[i].cells, by_table[i].n_cells);
    tide_counter_add(consumer->expired[i].future_rows, by_table[i].n_future_rows);
  }
}

/* Says once, of the first readings, which of their fields go nowhere, and which are asked for in vain. */
static void
tell_fields(TideConsumer *consumer)
{
  const TideFieldUse *use = &consumer->field_use;
  g_autofree char *left = tide_field_use_names(use, consumer->mapping, TIDE_FIELDS_LEFT);
  g_autofree char *absent = tide_field_use_names(use, consumer->mapping, TIDE_FIELDS_ABSENT);
  if (left != NULL)
    tide_log(TIDE_LOG_INFO, "of the first %" G_GUINT64_FORMAT " readings, no table takes the fields: %s",
             use->n_readings, left);
  if (absent != NULL)
    tide_log(TIDE_LOG_WARNING,
             "none of the first %" G_GUINT64_FORMAT " readings has the fields that the configuration asks for: %s; are "
             "they spelt as the readings have them?",
             use->n_readings, absent);
  consumer->fields_told = TRUE;
  tide_field_use_clear(&consumer->field_use);
}

static void
note_fields(TideConsumer *consumer, const TideMapped *mapped)
{
  tide_field_use_note(&consumer->field_use, consumer->mapping, mapped->n_readings);
  if (consumer->field_use.n_readings >= TOLD_READINGS)
    tell_fields(consumer);
}

/* An owner before us may have sent these rows, and they may land once more. FALSE: there is no room to remember that.
 */
static gboolean
remember_repeated(TideConsumer *consumer, TidePartition *partition, const TideMapped *mapped, gint64 now_us)
{
  TideDoubt doubt = {partition->repeated.until_us, G_MININT64};
  for (guint32 i = 0; i < mapped->n_rows; i++)
    for (guint32 c = 0; c < mapped->rows[i].n_cells; c++)
      doubt.time_ms = MAX(doubt.time_ms, mapped->rows[i].cells[c].timestamp_ms);
  tide_doubt_add(&partition->doubt, doubt, now_us);
  return tide_open_lanes_repeat(consumer->open_lanes, mapped->rows, mapped->n_rows, doubt.until_us, now_us);
}

static TideSourceRef
begin_mapped(TideConsumer *consumer, TidePartition *partition, const TideKafkaRecord *record, const TideMapped *mapped,
             TideOnBadMessage policy, gint64 now_us)
{
  gint64 offset = record->message.offset;
  if (!tide_partition_is_read_again(partition) && G_UNLIKELY(tide_partition_repeats(partition, offset, now_us)) &&
      !remember_repeated(consumer, partition, mapped, now_us))
    tide_partition_let_go(partition, partition->repeated.until_us);
  if (G_UNLIKELY(tide_partition_is_read_again(partition)))
    return tide_partition_pass(partition, mapped->n_readings);
  return tide_partition_begin(partition, consumer->context.budget, offset, mapped, policy == TIDE_BAD_MESSAGE_SKIP);
}

/* What was mapped of a message whose rows all have their places. */
static void
take_mapped(TideConsumer *consumer, TidePartition *partition, const TideKafkaRecord *record, const TideMapped *mapped,
            TideOnBadMessage policy, gint64 now_us)
{
  if (G_UNLIKELY(!consumer->fields_told))
    note_fields(consumer, mapped);
  if (G_UNLIKELY(mapped->expired != NULL))
    count_expired(consumer, mapped->expired);
  if (G_UNLIKELY(mapped->n_ambiguous_readings > 0))
    tide_counter_add(consumer->readings_ambiguous, mapped->n_ambiguous_readings);
  TideSourceRef ref = begin_mapped(consumer, partition, record, mapped, policy, now_us);
  if (G_UNLIKELY(mapped->n_rejects > 0 && !tide_partition_is_read_again(partition)))
    handle_bad_readings(consumer, record, mapped, ref, policy);
  guint32 crowded = tide_open_lanes_append_message(consumer->open_lanes, mapped->rows, mapped->n_rows, ref, now_us);
  if (G_UNLIKELY(crowded != 0))
    tide_pauses_heed_crowded_table(&consumer->pauses, partition, crowded);
  tide_pauses_heed_span(&consumer->pauses, partition);
}

/* NULL: it is handled. Else the row for whose table there is no place, and nothing was done. */
static const TideRow *
try_message(TideConsumer *consumer, TidePartition *partition, const TideKafkaRecord *record, gint64 now_us)
{
  TideMapped mapped;
  TideReject reject = {0};
  if (!tide_mapping_apply(consumer->mapping, &record->message, &mapped, &reject)) {
    if (G_UNLIKELY(tide_partition_is_read_again(partition)))
      (void)tide_partition_pass(partition, 0); /* its letter is made when it comes again */
    else
      handle_bad_message(consumer, partition, record, &reject);
    return NULL;
  }
  TideOnBadMessage policy = policy_for_bad(consumer);
  if (G_UNLIKELY(mapped.n_rejects > 0 && policy == TIDE_BAD_MESSAGE_STOP && !tide_partition_is_read_again(partition))) {
    hold_at_bad_message(consumer, partition, record, &mapped.rejects[0]);
    return NULL;
  }
  const TideRow *unplaced = place_rows(consumer, &mapped);
  if (G_LIKELY(unplaced == NULL))
    take_mapped(consumer, partition, record, &mapped, policy, now_us);
  return unplaced;
}

void
tide_consumer_handle_message(TideConsumer *consumer, const TideKafkaRecord *record, gint64 now_us)
{
  TidePartition *partition = tide_consumer_partition(consumer, record->slot);
  if (!partition->assigned || partition->held_text != NULL)
    return; /* behind the message that holds the partition: fetched again once that is solved */
  if (G_UNLIKELY(partition->commit.start_offset < 0))
    partition->commit.start_offset = record->message.offset; /* the broker had not said where it begins */
  const TideRow *unplaced = try_message(consumer, partition, record, now_us);
  gint64 until_us = now_us + PLACES_WAIT_US;
  while (G_UNLIKELY(unplaced != NULL && tide_now_us() < until_us) &&
         !atomic_load_explicit(&consumer->stopping, memory_order_acquire)) {
    wait_for_places(consumer);
    unplaced = try_message(consumer, partition, record, tide_now_us());
  }
  if (G_UNLIKELY(unplaced != NULL))
    hold_at_unplaced_row(consumer, partition, record, unplaced);
  /* One that makes no rows is finished here and now: no batch will come home to say so. */
  consumer->marks_moved |= partition->offsets.mark != partition->stored_offset;
}
