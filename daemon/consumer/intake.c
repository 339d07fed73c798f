#include "consumer/intake.h"
#include "consumer/rewind.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/units.h"

#define BAD_MESSAGE_LOG_US (10 * TIDE_US_PER_S)
#define OVERWRITE_LOG_US (60 * TIDE_US_PER_S)

/* The use of fields is logged once, after this many readings. */
#define LOGGED_READINGS 10000u

/* ---- life ---- */

static void
register_expired(TideIntake *intake)
{
  const GPtrArray *tables = intake->context.config->tables;
  TideMetrics *metrics = intake->context.metrics;
  intake->expired = g_new0(TideExpiredCounters, tables->len);
  for (guint i = 0; i < tables->len; i++) {
    g_autofree char *label = tide_metrics_label("table", ((const TideTable *)g_ptr_array_index(tables, i))->name);
    intake->expired[i].rows =
        tide_metrics_counter(metrics, "tidemark_rows_expired_total",
                             "Rows not written because their cells are older than their time to live", label);
    intake->expired[i].cells =
        tide_metrics_counter(metrics, "tidemark_cells_expired_total",
                             "Cells omitted from written rows because they are older than their time to live", label);
    intake->expired[i].future_rows =
        tide_metrics_counter(metrics, "tidemark_rows_future_total",
                             "Rows kept out of a latest table because they are later than the record time by more than "
                             "max_future (on_future: history)",
                             label);
  }
}

void
tide_intake_init(TideIntake *intake, const TideIntakeContext *context)
{
  *intake = (TideIntake){.context = *context};
  intake->readings_time_cut = tide_metrics_counter(context->metrics, "tidemark_readings_time_truncated_total",
                                                   "Readings whose time was truncated to nanoseconds", NULL);
  intake->readings_ambiguous =
      tide_metrics_counter(context->metrics, "tidemark_readings_ambiguous_total",
                           "Readings whose local time occurs twice and was resolved by 'ambiguous'", NULL);
  register_expired(intake);
  intake->mapping = tide_mapping_new(context->config, context->protocol);
}

void
tide_intake_clear(TideIntake *intake)
{
  tide_field_use_clear(&intake->field_use);
  tide_mapping_free(intake->mapping);
  g_free(intake->expired);
}

/* ---- a message ---- */

static void
log_bad_message(TideIntake *intake, const TidePartition *partition, const TideMessage *message,
                const TideReject *reject, const char *next)
{
  guint64 suppressed;
  if (!tide_log_limit_pass(&intake->bad_message_limit, tide_now_us(), BAD_MESSAGE_LOG_US, &suppressed))
    return;
  g_autofree char *why = tide_reject_describe(reject);
  g_autofree char *which = tide_partition_name_message(partition, message->offset);
  TideLogNumber number = tide_log_number(partition->partition);
  TideLogNumber offset = tide_log_number(message->offset);
  tide_log_fields(TIDE_LOG_ERROR, "message-unusable",
                  TIDE_LOG_FIELDS({"TOPIC", partition->topic}, {"PARTITION", number.text},
                                  {"SOURCE", partition->source}, {"OFFSET", offset.text},
                                  {"REASON", tide_reject_reason_name(reject->reason)}),
                  "cannot use %s: %s; %s%s", which, why, next, tide_log_suppressed(suppressed, "messages").text);
}

void
tide_intake_report_unlogged(TideIntake *intake)
{
  guint64 n = tide_log_limit_end(&intake->bad_message_limit);
  if (n == 0)
    return;
  g_autofree char *messages = tide_count_of(n, "more message", NULL);
  tide_log(TIDE_LOG_ERROR, "more-unusable", "cannot use %s (not logged)", messages);
}

/* The policy for a message, or a reading, that cannot be used. */
static TideOnBadMessage
policy_for_bad(const TideIntake *intake, const TideMessage *message)
{
  TideOnBadMessage policy = tide_mapping_source(intake->mapping, message->topic)->readings->on_bad_message;
  if (policy == TIDE_BAD_MESSAGE_DEAD_LETTER && !tide_dead_letter_queue_exist(intake->context.dead_letters))
    return TIDE_BAD_MESSAGE_STOP;
  return policy;
}

static void
halt_at_bad_message(TideIntake *intake, TidePartition *partition, const TideMessage *message, const TideReject *reject)
{
  const TideConfigSource *source = tide_mapping_source(intake->mapping, message->topic);
  gboolean is_chosen = source->readings->on_bad_message == TIDE_BAD_MESSAGE_STOP;
  const char *remedy = is_chosen ? "correct the configuration or change on_bad_message, then start again"
                                 : TIDE_NO_PLACE_FOR_DEAD_LETTERS;
  g_autofree char *why = tide_reject_describe(reject);
  partition->halt.record_ms = message->timestamp_ms;
  tide_pauses_halt_at_message(intake->context.pauses, partition, message->offset,
                              g_strdup_printf("topic '%s' partition %d is halted at offset %" G_GINT64_FORMAT
                                              ": %s; %s",
                                              partition->topic, partition->partition, message->offset, why, remedy));
}

static void
handle_bad_message(TideIntake *intake, TidePartition *partition, const TideMessage *message, const TideReject *reject)
{
  if (reject->reason == TIDE_REJECT_TOMBSTONE) {
    /* A message without readings or a value is valid, but no table deletes rows by it. */
    tide_partition_skip(partition, intake->context.budget, message, reject->reason);
    return;
  }
  switch (policy_for_bad(intake, message)) {
  case TIDE_BAD_MESSAGE_SKIP:
    log_bad_message(intake, partition, message, reject, "skipping it (on_bad_message: skip)");
    tide_partition_skip(partition, intake->context.budget, message, reject->reason);
    break;
  case TIDE_BAD_MESSAGE_DEAD_LETTER: {
    const TideKeptLetter *letter = tide_rewind_find_letter(&partition->rewind, message->offset, TIDE_LETTER_OF_ALL);
    if (letter != NULL) {
      tide_partition_begin_kept(partition, intake->context.budget, message, reject->reason, letter);
      break;
    }
    log_bad_message(intake, partition, message, reject, "it becomes a dead letter");
    tide_consumer_dead_letters_take_message(intake->context.letters, partition, message, reject);
    break;
  }
  case TIDE_BAD_MESSAGE_STOP:
    halt_at_bad_message(intake, partition, message, reject);
    break;
  }
}

/* Handles the rejected readings of @ref's message. */
static void
handle_bad_readings(TideIntake *intake, const TidePartition *partition, const TideMessage *message,
                    const TideMapped *mapped, TideSourceRef ref, TideOnBadMessage policy)
{
  gboolean skip = policy == TIDE_BAD_MESSAGE_SKIP;
  log_bad_message(intake, partition, message, &mapped->rejects[0],
                  skip ? "skipping the reading and writing the message's other readings"
                       : "the reading becomes a dead letter, the message's other readings are written");
  if (!skip)
    tide_consumer_dead_letters_take_readings(intake->context.letters, ref, message, mapped);
}

/* Assigns the slots of dated tables to rows. Returns NULL, or the row whose table did not get a slot. */
static const TideRow *
place_rows(TideIntake *intake, const TideMapped *mapped, gint64 now_us)
{
  for (guint32 i = 0; i < mapped->n_rows; i++) {
    TideRow *row = &mapped->rows[i];
    if (row->table_name.len == 0)
      continue;
    const TideTable *declared = g_ptr_array_index(intake->context.config->tables, row->table_index);
    const TideTable *table =
        tide_dated_cache_get(&intake->dated_names, intake->context.dated, declared, row->table_name, now_us);
    if (G_UNLIKELY(table == NULL))
      return row;
    row->table_index = table->index;
  }
  return NULL;
}

/* Halts at a good message whose row needs one dated table too many; on_bad_message does not apply. */
static void
halt_at_row_without_slot(TideIntake *intake, TidePartition *partition, const TideMessage *message, const TideRow *row)
{
  g_autofree char *table = tide_bytes_printable(row->table_name);
  char *why =
      g_strdup_printf("topic '%s' partition %d is halted at offset %" G_GINT64_FORMAT
                      ": table '%s' exceeds the %u dated tables that one process can hold; check for readings with "
                      "implausible times (readings.time.max_past rejects them), then restart, which resets the count",
                      partition->topic, partition->partition, message->offset, table, TIDE_DATED_TABLES_MAX);
  partition->halt.record_ms = message->timestamp_ms;
  tide_pauses_halt_at_message(intake->context.pauses, partition, message->offset, why);
}

/* @by_table: expired rows and cells */
static void
count_expired(const TideIntake *intake, const TideExpired *by_table)
{
  for (guint i = 0; i < intake->context.config->tables->len; i++) {
    tide_counter_add(intake->expired[i].rows, by_table[i].n_rows);
    tide_counter_add(intake->expired[i].cells, by_table[i].n_cells);
    tide_counter_add(intake->expired[i].future_rows, by_table[i].n_future_rows);
  }
}

/* Logs once, for the first readings, which fields no table uses and which configured fields are missing. */
static void
log_fields(TideIntake *intake)
{
  const TideFieldUse *use = &intake->field_use;
  g_autofree char *unused = tide_field_use_names(use, intake->mapping, TIDE_FIELDS_LEFT);
  /* With several sources, one may not have sent anything yet; a narrowed configuration also lacks fields. */
  const TideConfig *config = intake->context.config;
  gboolean is_complete = config->sources->len == 1 && !config->is_narrowed;
  g_autofree char *absent = is_complete ? tide_field_use_names(use, intake->mapping, TIDE_FIELDS_ABSENT) : NULL;
  g_autofree char *readings = tide_count_of(use->n_readings, "reading", NULL);
  if (unused != NULL)
    tide_log(TIDE_LOG_INFO, "fields-unused", "no table uses these fields of the first %s: %s", readings, unused);
  if (absent != NULL)
    tide_log(TIDE_LOG_WARNING, "fields-absent",
             "the first %s have none of these configured fields: %s; check their spelling", readings, absent);
  intake->fields_logged = TRUE;
  tide_field_use_clear(&intake->field_use);
}

/* Remembers rows that an earlier owner may have sent and that may land again. Returns FALSE if there is no room. */
static gboolean
remember_repeated(TideIntake *intake, TidePartition *partition, const TideMapped *mapped, gint64 now_us)
{
  TideDoubt doubt = {partition->uncertain.repeated.until_us, G_MININT64};
  for (guint32 i = 0; i < mapped->n_rows; i++)
    for (guint32 c = 0; c < mapped->rows[i].n_cells; c++)
      doubt.time_ms = MAX(doubt.time_ms, mapped->rows[i].cells[c].timestamp_ms);
  tide_doubt_add(&partition->uncertain.doubt, doubt, now_us);
  return tide_accumulator_repeat(intake->context.accumulator, mapped->rows, mapped->n_rows, doubt.until_us, now_us);
}

static TideSourceRef
begin_mapped(TideIntake *intake, TidePartition *partition, const TideMessage *message, const TideMapped *mapped,
             TideOnBadMessage policy, gint64 now_us)
{
  gint64 offset = message->offset;
  /* If there is no room, this message and all later ones are held and read again. */
  gboolean has_room = TRUE;
  if (G_UNLIKELY(tide_partition_repeats(partition, offset, now_us)) && !tide_rewind_covers(&partition->rewind, offset))
    has_room = remember_repeated(intake, partition, mapped, now_us);
  TideSourceRef ref =
      tide_partition_begin(partition, intake->context.budget, offset, mapped, policy == TIDE_BAD_MESSAGE_SKIP);
  if (G_UNLIKELY(!has_room))
    tide_rewind_hold_all(partition, ref.sequence, partition->uncertain.repeated.until_us);
  return ref;
}

static void
log_overwrite(TideIntake *intake, const TidePartition *partition, const TideMessage *message,
              const TideOverwrite *overwrite)
{
  guint64 suppressed;
  if (!tide_log_limit_pass(&intake->overwrite_limit, tide_now_us(), OVERWRITE_LOG_US, &suppressed))
    return;
  g_autofree char *row = tide_bytes_printable(tide_buffer_bytes(&overwrite->key));
  g_autofree char *which = tide_partition_name_message(partition, message->offset);
  TideSourceRef its = overwrite->overwritten;
  const TidePartition *its_partition =
      overwrite->knows_overwritten ? tide_assignments_find_owner(partition->assignment.all, its) : NULL;
  g_autofree char *other =
      its_partition != NULL
          ? tide_partition_name_message(its_partition, tide_offsets_offset_of(&its_partition->offsets, its.sequence))
          : NULL;
  TideLogNumber number = tide_log_number(partition->partition);
  TideLogNumber offset = tide_log_number(message->offset);
  tide_log_fields(TIDE_LOG_WARNING, "reading-overwritten",
                  TIDE_LOG_FIELDS({"TABLE", overwrite->table->name}, {"ROW", row}, {"TOPIC", partition->topic},
                                  {"PARTITION", number.text}, {"SOURCE", partition->source}, {"OFFSET", offset.text}),
                  "table '%s' row '%s': %s overwrites another reading, of %s; neither the row key nor a column name "
                  "distinguishes them, so the later one remains; 'tidemark check --from-topic' shows how many readings "
                  "are lost, 'tidemark explain --from-topic' which fields differ%s",
                  overwrite->table->name, row, which, other != NULL ? other : "an earlier message",
                  tide_log_suppressed(suppressed, "messages").text);
}

/* Handles a mapped message whose rows all have slots. */
static void
take_mapped(TideIntake *intake, TidePartition *partition, const TideMessage *message, const TideMapped *mapped,
            TideOnBadMessage policy, gint64 now_us)
{
  if (G_UNLIKELY(!intake->fields_logged)) {
    tide_field_use_note(&intake->field_use, intake->mapping, mapped->n_readings);
    if (intake->field_use.n_readings >= LOGGED_READINGS)
      log_fields(intake);
  }
  if (G_UNLIKELY(mapped->expired != NULL))
    count_expired(intake, mapped->expired);
  if (G_UNLIKELY(mapped->n_cut_times > 0))
    tide_counter_add(intake->readings_time_cut, mapped->n_cut_times);
  if (G_UNLIKELY(mapped->n_ambiguous_readings > 0))
    tide_counter_add(intake->readings_ambiguous, mapped->n_ambiguous_readings);
  if (mapped->n_rows > 0 && mapped->n_readings > 0)
    intake->event_ms = mapped->rows[0].event_time_ns / (TIDE_US_PER_MS * 1000);
  TideSourceRef ref = begin_mapped(intake, partition, message, mapped, policy, now_us);
  if (G_UNLIKELY(mapped->n_rejects > 0) &&
      (policy == TIDE_BAD_MESSAGE_SKIP || tide_partition_count_rejects(partition, message->offset, mapped) > 0))
    handle_bad_readings(intake, partition, message, mapped, ref, policy);
  guint32 crowded =
      tide_accumulator_append_message(intake->context.accumulator, mapped->rows, mapped->n_rows, ref, now_us);
  const TideOverwrite *overwrite = tide_accumulator_overwrite(intake->context.accumulator);
  if (G_UNLIKELY(overwrite != NULL))
    log_overwrite(intake, partition, message, overwrite);
  if (G_UNLIKELY(crowded != 0))
    tide_pauses_wait_for_crowded_table(intake->context.pauses, partition, crowded, now_us);
  tide_pauses_check_in_flight_window(intake->context.pauses, partition);
}

/* Waits for the message's schema: messages from here on are read again when it arrives. */
static void
await_schema(TideIntake *intake, TidePartition *partition, const TideMessage *message, guint32 id)
{
  const TideConfigSource *source = tide_mapping_source(intake->mapping, message->topic);
  partition->awaited = (TideAwaitedSchema){TRUE, id, message->offset, tide_now_us(), source->readings->decode.schemas};
  tide_pauses_set(intake->context.pauses, partition, TIDE_PAUSE_SCHEMA, TRUE);
}

static void
map_message(TideIntake *intake, TidePartition *partition, const TideMessage *message, gint64 now_us)
{
  TideMapped mapped;
  TideReject reject = {0};
  if (!tide_mapping_apply(intake->mapping, message, &mapped, &reject)) {
    if (G_UNLIKELY(reject.reason == TIDE_REJECT_NONE))
      await_schema(intake, partition, message, reject.awaited_schema);
    else
      handle_bad_message(intake, partition, message, &reject);
    return;
  }
  TideOnBadMessage policy = policy_for_bad(intake, message);
  if (G_UNLIKELY(mapped.n_rejects > 0 && policy == TIDE_BAD_MESSAGE_STOP)) {
    halt_at_bad_message(intake, partition, message, &mapped.rejects[0]);
    return;
  }
  const TideRow *without_slot = place_rows(intake, &mapped, now_us);
  if (G_UNLIKELY(without_slot != NULL))
    halt_at_row_without_slot(intake, partition, message, without_slot);
  else
    take_mapped(intake, partition, message, &mapped, policy, now_us);
}

gboolean
tide_intake_take(TideIntake *intake, TidePartition *partition, const TideMessage *message, gint64 now_us)
{
  intake->newest_ms = message->timestamp_ms;
  intake->event_ms = G_MININT64;
  if (G_UNLIKELY(partition->halt.is_damaged)) { /* the first message after the damage */
    partition->halt.note.offset = message->offset - 1;
    partition->halt.is_damaged = FALSE;
    partition->commit.needs_opening = TRUE;
  }
  if (!partition->assigned || partition->halt.text != NULL || partition->awaited.is_awaited ||
      !partition->location.is_located || partition->rewind.is_due)
    /* The message after the awaited one is fetched again when the schema is there. */
    return partition->commit.needs_opening;
  map_message(intake, partition, message, now_us);
  /* A message without rows is finished now, since no batch will complete for it. */
  return tide_partition_has_moved(partition) || partition->commit.needs_opening;
}

gint64
tide_intake_late_us(const TideIntake *intake, gint64 now_epoch_ms)
{
  if (intake->newest_ms < 0)
    return G_MAXINT64;
  return MAX(now_epoch_ms - intake->newest_ms, 0) * TIDE_US_PER_MS;
}
