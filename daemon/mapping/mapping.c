#include "mapping/mapping.h"

#include "config/config_source.h"
#include "decode/decoder.h"
#include "mapping/record_key.h"
#include "mapping/scanned_rows.h"
#include "model/table/table_mapper.h"
#include "model/time/time_spec.h"
#include "thrift/wire/put_encoder.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

/* A table, and its settings for readings of one source. */
typedef struct MappedTable {
  const TideTable *table;     /* borrowed */
  TideTableMapper *mapper;    /* owned */
  guint event_time;           /* index in times */
  guint cell_time;            /* index in times */
  guint record_key;           /* index in record_key; with tombstone: delete */
  const TideTable *data;      /* borrowed: the table whose index this is; NULL */
  const TideCondition *unmet; /* borrowed: the condition that made this table ignore the last tombstone; NULL */
} MappedTable;

/* A source, and the tables that take from it. Sources share nothing, because one table may exclude another's time
 * field. */
typedef struct MappedSource {
  const TideConfigSource *source; /* borrowed */
  TideTimeSpec record_time;       /* for cells with cell_time: record, and for tombstones */
  MappedTable *tables;            /* owned; each index comes after its table */
  guint n_tables;
  gboolean has_deletes;      /* a table has tombstone: delete */
  TideDecoder *decoder;      /* owned */
  TideScannedRows *scanned;  /* owned; NULL: messages are not printed rows, and the decoder reads them */
  TideRecordKey *record_key; /* owned */
  TideReadingTimes times;
  GArray *time_fields;  /* owned (element-type TideNameId): fields that times are read from */
  gboolean has_history; /* at least one table is not a latest one */
} MappedSource;

struct TideMapping {
  /* set before start, then read-only */
  const TideConfig *config; /* borrowed */
  MappedSource *sources;    /* owned; in the configuration's order */
  guint n_sources;
  guint n_tables; /* in the configuration */

  /* Reused for each message. */
  TideFieldNames *names; /* owned: this thread's copy */
  GHashTable *source_of; /* owned (element-type TideBytes MappedSource): by topic */
  TideRowList list;
  guint32 *row_of_table; /* owned; by table: 1 + index of the reading's row, 0: none */
  gint64 clock_ms;       /* 0: unknown */
  guint32 call_bytes;    /* batch.max_bytes, as set in the mappers */

  MappedSource *at; /* of the last message */
  struct {          /* State of the last message. */
    TideRecordTime record;
    gint64 now_ms; /* for the expiry of cells; 0: nothing expires */
    guint32 identity;
    TideReading *readings; /* the decoder's, or deleted's */
    guint32 n_readings;
    guint32 n_unmatched;
    guint32 n_ambiguous;
    guint32 n_cut_times;
    guint32 n_expired;
    TideExpired *expired; /* owned; by table */
    gboolean some_expired;
    GArray *deleted; /* owned (element-type TideReading): for a tombstone, one per row */
    GArray *rejects; /* owned (element-type TideReject): of rejected readings */
  } message;
  struct {                /* the current reading, which may still be rejected */
    guint32 identity;     /* without its times */
    TideExpired *expired; /* owned; by table */
    gboolean some_expired;
  } reading;
};

/* ---- identities ---- */

/* Identifies the reading of a row, apart from its values. Rows with the same identity are one reading, sent again or
 * corrected. If readings of different identities write the same cell, they overwrite each other, because no part of the
 * key and no column distinguishes them.
 *
 * The identity consists of what names a reading: the record's topic and key, the event time to the nanosecond, and its
 * texts. For line protocol these are measurement and tags; for all other formats each text field, except texts of times
 * and, in a row of one cell, the cell's own text. Numbers, booleans and lists are values.
 *
 * The parts are added. Identities are compared within one mapping only; two readings have the same one by chance once
 * in 2^32. */

/* Seeds, distinct from the numbers of names. The names of fields without a number, which are rare, do not count. */
#define TOPIC_SEED (G_GUINT64_CONSTANT(1) << 32)
#define KEY_SEED (G_GUINT64_CONSTANT(2) << 32)
#define TIME_FACTOR G_GUINT64_CONSTANT(0x9E3779B97F4A7C15)

static inline guint32
hash_text(TideBytes text, guint64 seed)
{
  return (guint32)XXH3_64bits_withSeed(text.len > 0 ? text.data : (const guint8 *)"", text.len, seed);
}

/* The part of the identity that @message gives to each of its readings. */
static guint32
identity_of_message(const TideMessage *message)
{
  guint32 topic = hash_text(message->topic, TOPIC_SEED);
  return message->key.len > 0 ? topic + hash_text(message->key, KEY_SEED) : topic;
}

/* The number of leading fields that may name @reading. */
static inline guint32
n_naming_fields(const TideReading *reading)
{
  return reading->n_name_fields > 0 ? reading->n_name_fields : reading->n_fields;
}

static inline gboolean
names_its_reading(const TideReading *reading, const TideField *field, const GArray *times)
{
  if (field->kind != TIDE_VALUE_STRING)
    return FALSE;
  /* Fields of the record, such as its offset, differ between copies of a reading. */
  return field->name_id >= reading->n_known ||
         (!tide_name_ids_contain(times, field->name_id) && !tide_field_name_is_of_record(field->name));
}

/* The part of the identity from @reading's texts. @times: (element-type TideNameId): fields that its times are read
 * from */
static guint32
identity_of_texts(const TideReading *reading, const GArray *times)
{
  guint32 identity = 0;
  const TideField *end = reading->fields + n_naming_fields(reading);
  for (const TideField *field = reading->fields; field < end; field++)
    if (names_its_reading(reading, field, times))
      identity += hash_text(field->text, field->name_id);
  return identity;
}

/* The part of the identity from the field whose text is @value, by address; 0: none. */
static guint32
identity_of_value(const TideReading *reading, const GArray *times, TideBytes value)
{
  const TideField *end = reading->fields + n_naming_fields(reading);
  for (const TideField *field = reading->fields; field < end; field++)
    if (field->text.data == value.data && field->text.len == value.len && names_its_reading(reading, field, times))
      return hash_text(field->text, field->name_id);
  return 0;
}

/* ---- sources ---- */

static guint
hash_of_topic(gconstpointer topic)
{
  return hash_text(*(const TideBytes *)topic, 0);
}

static gboolean
is_same_topic(gconstpointer a, gconstpointer b)
{
  return tide_bytes_equal(*(const TideBytes *)a, *(const TideBytes *)b);
}

/* Returns NULL if none of several sources reads it. Allocates: for a new topic. */
static MappedSource *
find_source(TideMapping *mapping, TideBytes topic)
{
  if (mapping->n_sources == 1)
    return mapping->sources;
  MappedSource *found = g_hash_table_lookup(mapping->source_of, &topic);
  if (G_LIKELY(found != NULL))
    return found;
  const TideConfigSource *source = tide_config_source_of_topic(mapping->config, topic);
  if (source == NULL)
    return NULL;
  TideBytes *kept = g_malloc(sizeof *kept + topic.len);
  *kept = tide_bytes(memcpy(kept + 1, topic.data, topic.len), topic.len);
  found = &mapping->sources[source->index];
  g_hash_table_insert(mapping->source_of, kept, found);
  return found;
}

const TideConfigSource *
tide_mapping_source(TideMapping *mapping, TideBytes topic)
{
  const MappedSource *source = find_source(mapping, topic);
  return source != NULL ? source->source : mapping->sources[0].source;
}

/* ---- life ---- */

/* The largest row of @table that fits into a call on its own. */
static guint32
max_row_bytes(const TideTable *table, guint32 call_bytes)
{
  /* A dated table's name is no longer than its pattern. */
  gsize overhead_bytes = tide_put_multiple_overhead_max(strlen(table->name));
  return call_bytes - (guint32)MIN(overhead_bytes, call_bytes);
}

/* A reload may have changed the limit. */
static void
update_call_bytes(TideMapping *mapping)
{
  guint32 call_bytes = mapping->config->batch.max_bytes;
  if (G_LIKELY(call_bytes == mapping->call_bytes))
    return;
  mapping->call_bytes = call_bytes;
  for (guint i = 0; i < mapping->n_sources; i++)
    for (guint k = 0; k < mapping->sources[i].n_tables; k++) {
      const MappedTable *mapped = &mapping->sources[i].tables[k];
      tide_table_mapper_set_max_row_bytes(mapped->mapper, max_row_bytes(mapped->table, call_bytes));
    }
}

static const TideTimeSpec *
cell_time_of(const MappedSource *source, const TideTable *table, const TideTimeSpec *event_time)
{
  switch (table->cell_time) {
  case TIDE_CELL_TIME_EVENT:
    return event_time;
  case TIDE_CELL_TIME_RECORD:
    return &source->record_time;
  case TIDE_CELL_TIME_FIELD:
    return table->cell_time_spec;
  }
  g_assert_not_reached();
}

static void
note_time_fields(MappedSource *source, const TideTimeSpec *spec)
{
  const TideNameId fields[] = {spec->field, spec->date_field, spec->plus_field};
  for (guint i = 0; i < G_N_ELEMENTS(fields); i++)
    if (fields[i] != TIDE_NAME_NONE && !tide_name_ids_contain(source->time_fields, fields[i]))
      g_array_append_val(source->time_fields, fields[i]);
}

static void
add_table(TideMapping *mapping, MappedSource *source, const TideTable *table, TideWireProtocol protocol)
{
  const TideTimeSpec *event_time = tide_config_time_of(table, source->source);
  TideMapperLimits limits = {.max_cell_bytes = mapping->config->hbase.max_cell_bytes,
                             .max_row_bytes = max_row_bytes(table, mapping->call_bytes)};
  MappedTable *added = &source->tables[source->n_tables++];
  *added = (MappedTable){
      .table = table,
      .mapper = tide_table_mapper_new(table, mapping->names, event_time->field, protocol, limits),
      .event_time = tide_reading_times_add(&source->times, event_time),
      .cell_time = tide_reading_times_add(&source->times, cell_time_of(source, table, event_time)),
      .data = table->index_of != TIDE_TABLE_NONE ? g_ptr_array_index(mapping->config->tables, table->index_of) : NULL,
  };
  source->has_history |= table->latest == TIDE_LATEST_NONE;
  note_time_fields(source, event_time);
  note_time_fields(source, cell_time_of(source, table, event_time));
  if (table->tombstone != TIDE_TOMBSTONE_DELETE)
    return;
  source->has_deletes = TRUE;
  added->record_key = tide_record_key_add_table(source->record_key, table);
}

static void
init_source(TideMapping *mapping, MappedSource *source, const TideConfigSource *declared, TideWireProtocol protocol)
{
  const TideTimeSpec *time = &declared->readings->time;
  guint32 n_known = tide_field_names_count(mapping->config->names);
  source->source = declared;
  source->record_time = (TideTimeSpec){.field = TIDE_NAME_NONE,
                                       .format = TIDE_TIME_RECORD,
                                       .date_field = TIDE_NAME_NONE,
                                       .plus_field = TIDE_NAME_NONE,
                                       .earliest_epoch_ms = time->earliest_epoch_ms,
                                       .max_future_ms = time->max_future_ms};
  source->decoder = tide_decoder_new(&declared->readings->decode, mapping->names, n_known);
  source->scanned = tide_scanned_rows_new(&declared->readings->decode, mapping->names, n_known);
  source->record_key = tide_record_key_new(&declared->readings->decode, mapping->names, n_known);
  source->time_fields = g_array_new(FALSE, FALSE, sizeof(TideNameId));
  const GPtrArray *tables = mapping->config->tables;
  source->tables = g_new0(MappedTable, tables->len);
  for (int is_index = 0; is_index <= 1; is_index++) /* each index after its table */
    for (guint i = 0; i < tables->len; i++) {
      const TideTable *table = g_ptr_array_index(tables, i);
      if (is_index == (table->index_of != TIDE_TABLE_NONE) && tide_config_takes_from(table, declared))
        add_table(mapping, source, table, protocol);
    }
}

TideMapping *
tide_mapping_new(const TideConfig *config, TideWireProtocol protocol)
{
  TideMapping *mapping = g_new0(TideMapping, 1);
  mapping->config = config;
  mapping->call_bytes = config->batch.max_bytes;
  mapping->names = tide_field_names_copy(config->names);
  mapping->n_tables = config->tables->len;
  mapping->n_sources = config->sources->len;
  mapping->sources = g_new0(MappedSource, mapping->n_sources);
  for (guint i = 0; i < mapping->n_sources; i++)
    init_source(mapping, &mapping->sources[i], g_ptr_array_index(config->sources, i), protocol);
  mapping->source_of = g_hash_table_new_full(hash_of_topic, is_same_topic, g_free, NULL);
  mapping->at = &mapping->sources[0];
  tide_row_list_init(&mapping->list);
  mapping->row_of_table = g_new0(guint32, config->tables->len);
  mapping->message.expired = g_new0(TideExpired, config->tables->len);
  mapping->reading.expired = g_new0(TideExpired, config->tables->len);
  mapping->message.rejects = g_array_new(FALSE, FALSE, sizeof(TideReject));
  mapping->message.deleted = g_array_new(FALSE, FALSE, sizeof(TideReading));
  return mapping;
}

void
tide_mapping_free(TideMapping *mapping)
{
  if (mapping == NULL)
    return;
  for (MappedSource *source = mapping->sources; source < mapping->sources + mapping->n_sources; source++) {
    for (guint i = 0; i < source->n_tables; i++)
      tide_table_mapper_free(source->tables[i].mapper);
    g_free(source->tables);
    tide_record_key_free(source->record_key);
    tide_decoder_free(source->decoder);
    tide_scanned_rows_free(source->scanned);
    tide_reading_times_clear(&source->times);
    g_array_unref(source->time_fields);
  }
  g_free(mapping->sources);
  g_hash_table_unref(mapping->source_of);
  tide_field_names_free(mapping->names);
  tide_row_list_clear(&mapping->list);
  g_free(mapping->row_of_table);
  g_free(mapping->message.expired);
  g_free(mapping->reading.expired);
  g_array_unref(mapping->message.rejects);
  g_array_unref(mapping->message.deleted);
  g_free(mapping);
}

void
tide_mapping_set_now(TideMapping *mapping, gint64 now_epoch_ms)
{
  mapping->clock_ms = now_epoch_ms;
}

static void
begin_message(TideMapping *mapping, const TideMessage *message)
{
  mapping->message.record =
      (TideRecordTime){.record_ms = message->timestamp_ms, .clock_ms = message->is_append_time ? 0 : mapping->clock_ms};
  /* Uses the record's time, or the host clock if that is earlier, so that neither a sender's clock nor this host's
   * alone makes readings expire. */
  const TideRecordTime *record = &mapping->message.record;
  gboolean is_known = mapping->clock_ms != 0 && record->record_ms >= 0;
  mapping->message.now_ms = !is_known               ? 0
                            : record->clock_ms == 0 ? record->record_ms
                                                    : MIN(record->record_ms, record->clock_ms);
  mapping->message.identity = mapping->at->has_history ? identity_of_message(message) : 0;
  mapping->message.readings = NULL;
  mapping->message.n_readings = mapping->message.n_unmatched = mapping->message.n_expired = 0;
  mapping->message.n_ambiguous = 0;
  mapping->message.n_cut_times = 0;
  tide_row_list_reset(&mapping->list);
  for (guint i = 0; i < mapping->at->n_tables; i++) {
    tide_table_mapper_begin_message(mapping->at->tables[i].mapper);
    mapping->at->tables[i].unmet = NULL;
  }
  if (mapping->message.some_expired)
    memset(mapping->message.expired, 0, mapping->n_tables * sizeof *mapping->message.expired);
  mapping->message.some_expired = FALSE;
  g_array_set_size(mapping->message.rejects, 0);
}

/* ---- readings ---- */

static gboolean
hold(const GArray *conditions, const TideReading *reading)
{
  return conditions == NULL ||
         tide_conditions_hold((const TideCondition *)(gconstpointer)conditions->data, conditions->len, reading);
}

static void
count_expired(TideMapping *mapping, const MappedTable *mapped, guint32 n_rows, guint32 n_cells)
{
  TideExpired *expired = &mapping->reading.expired[mapped->table->index];
  mapping->reading.some_expired = TRUE;
  expired->n_rows += n_rows;
  expired->n_cells += n_cells;
  expired->ttl_ms = MAX(expired->ttl_ms, tide_table_mapper_expired_ttl_ms(mapped->mapper));
}

/* Adds the expired rows and cells of the current reading to the message's, or discards them. */
static void
merge_expired(TideMapping *mapping, gboolean is_kept)
{
  if (G_LIKELY(!mapping->reading.some_expired))
    return;
  for (guint i = 0; is_kept && i < mapping->n_tables; i++) {
    TideExpired *expired = &mapping->message.expired[i];
    const TideExpired *added = &mapping->reading.expired[i];
    expired->n_rows += added->n_rows;
    expired->n_cells += added->n_cells;
    expired->n_future_rows += added->n_future_rows;
    expired->ttl_ms = MAX(expired->ttl_ms, added->ttl_ms);
  }
  mapping->message.some_expired |= is_kept;
  memset(mapping->reading.expired, 0, mapping->n_tables * sizeof *mapping->reading.expired);
  mapping->reading.some_expired = FALSE;
}

/* Whether the times read are too far in the future for @mapped's table. */
static gboolean
is_too_early(const TideMapping *mapping, const MappedTable *mapped)
{
  return mapped->table->latest != TIDE_LATEST_NONE &&
         (tide_reading_times_is_future(&mapping->at->times, mapped->event_time) ||
          tide_reading_times_is_future(&mapping->at->times, mapped->cell_time));
}

/* Adds the row of @reading in @mapped's table, after the rows that it must follow. */
static TideMapOutcome
map_into(TideMapping *mapping, const MappedTable *mapped, const TideReading *reading, gint64 cell_time_ns,
         TideReject *ret_reject)
{
  TideMapRequest request = {
      .reading = reading, .cell_time_ms = tide_ns_to_ms(cell_time_ns), .now_epoch_ms = mapping->message.now_ms};
  TideMapOutcome outcome = tide_table_mapper_map(mapped->mapper, &request, &mapping->list, ret_reject);
  if (outcome != TIDE_MAP_ROW)
    return outcome;
  guint n_rows = tide_row_list_n_rows(&mapping->list);
  TideRow *row = tide_row_list_row(&mapping->list, n_rows - 1);
  mapping->row_of_table[mapped->table->index] = n_rows;
  if (mapped->table->index_of != TIDE_TABLE_NONE)
    row->follows = mapping->row_of_table[mapped->table->index_of];
  if (mapped->table->latest == TIDE_LATEST_NONE)
    row->identity = mapping->reading.identity + (guint32)(((guint64)reading->event_time_ns * TIME_FACTOR) >> 32);
  if (G_UNLIKELY(row->n_expired_cells > 0))
    count_expired(mapping, mapped, 0, row->n_expired_cells);
  return TIDE_MAP_ROW;
}

/* Ends a reading without rows. @kept_out_of: the table for which it is too far in the future, or NULL */
static gboolean
end_without_rows(TideMapping *mapping, gboolean some_expired, const MappedTable *kept_out_of, TideReject *ret_reject)
{
  if (some_expired) {
    mapping->message.n_expired++;
    return TRUE;
  }
  if (kept_out_of == NULL) {
    mapping->message.n_unmatched++;
    return TRUE;
  }
  /* No table stores it, so it is rejected rather than skipped silently. */
  gboolean is_event = tide_reading_times_is_future(&mapping->at->times, kept_out_of->event_time);
  tide_reading_times_reject_future(&mapping->at->times, is_event ? kept_out_of->event_time : kept_out_of->cell_time,
                                   ret_reject);
  return FALSE;
}

static gboolean
map_reading(TideMapping *mapping, TideReading *reading, TideReject *ret_reject)
{
  guint rows_before = tide_row_list_n_rows(&mapping->list);
  gboolean some_expired = FALSE;
  const MappedTable *kept_out_of = NULL;
  memset(mapping->row_of_table, 0, mapping->n_tables * sizeof *mapping->row_of_table);
  const TideConfigSource *source = mapping->at->source;
  gboolean is_of_source = !reading->is_skipped && hold(source->conditions, reading);
  for (guint i = 0; is_of_source && i < mapping->at->n_tables; i++) {
    const MappedTable *mapped = &mapping->at->tables[i];
    const TideTable *table = mapped->table;
    gint64 cell_time_ns;
    if (table->index_of != TIDE_TABLE_NONE && mapping->row_of_table[table->index_of] == 0)
      continue; /* an index takes only what its table has taken */
    if (!hold(table->conditions, reading))
      continue;
    if (!tide_reading_times_get(&mapping->at->times, mapped->event_time, &reading->event_time_ns, ret_reject) ||
        !tide_reading_times_get(&mapping->at->times, mapped->cell_time, &cell_time_ns, ret_reject))
      return FALSE;
    if (G_UNLIKELY(source->to_ns != 0 &&
                   (reading->event_time_ns < source->from_ns || reading->event_time_ns >= source->to_ns)))
      continue; /* only tables with other times are wanted */
    if (G_UNLIKELY(is_too_early(mapping, mapped))) {
      mapping->reading.expired[table->index].n_future_rows++;
      mapping->reading.some_expired = TRUE;
      kept_out_of = mapped;
      continue;
    }
    switch (map_into(mapping, mapped, reading, cell_time_ns, ret_reject)) {
    case TIDE_MAP_ROW:
      break;
    case TIDE_MAP_EXPIRED:
      count_expired(mapping, mapped, 1, 0);
      some_expired = TRUE;
      break;
    case TIDE_MAP_REJECTED:
      return FALSE;
    }
  }
  return tide_row_list_n_rows(&mapping->list) > rows_before ||
         end_without_rows(mapping, some_expired, kept_out_of, ret_reject);
}

/* Maps all rows of @reading, or none. */
static gboolean
map_reading_whole(TideMapping *mapping, TideReading *reading, TideReject *ret_reject)
{
  TideRowList *list = &mapping->list;
  guint n_rows = tide_row_list_n_rows(list);
  TideRowListMark mark = tide_row_list_mark(list);
  tide_reading_times_begin(&mapping->at->times, reading, mapping->message.record);
  if (mapping->at->has_history)
    mapping->reading.identity = mapping->message.identity + identity_of_texts(reading, mapping->at->time_fields);
  gboolean good = map_reading(mapping, reading, ret_reject);
  merge_expired(mapping, good);
  mapping->message.n_ambiguous += good && mapping->at->times.some_ambiguous ? 1 : 0;
  mapping->message.n_cut_times += good && mapping->at->times.some_cut ? 1 : 0;
  if (!good)
    tide_row_list_return_rows(list, n_rows, mark);
  return good;
}

static gboolean
map_readings(TideMapping *mapping, TideReject *ret_reject)
{
  guint32 n_rejected, at_rejected = 0;
  const TideReject *rejected = tide_decoder_rejects(mapping->at->decoder, &n_rejected);
  for (guint32 i = 0; i < mapping->message.n_readings; i++) {
    if (at_rejected < n_rejected && rejected[at_rejected].reading_index == i) {
      g_array_append_val(mapping->message.rejects, rejected[at_rejected]);
      at_rejected++;
      continue;
    }
    if (map_reading_whole(mapping, &mapping->message.readings[i], ret_reject))
      continue;
    if (mapping->at->source->readings->decode.on_bad_reading == TIDE_BAD_READING_MESSAGE ||
        mapping->message.n_readings == 1)
      return FALSE;
    tide_reject_resolve_field(ret_reject, mapping->names);
    g_array_append_val(mapping->message.rejects, *ret_reject);
  }
  return TRUE;
}

/* ---- tombstones ---- */

/* The first condition that excludes the message from @mapped's table; an index has rows for what its table takes.
 * @reading: NULL: its key was not read yet */
static const TideCondition *
unmet_by_tombstone(const TideMapping *mapping, const MappedTable *mapped, const TideReading *reading)
{
  const TideRecordKey *record_key = mapping->at->record_key;
  const TideCondition *unmet =
      tide_record_key_unmet(record_key, mapped->record_key, mapping->at->source->conditions, reading);
  if (unmet == NULL)
    unmet = tide_record_key_unmet(record_key, mapped->record_key, mapped->table->conditions, reading);
  if (unmet == NULL && mapped->data != NULL)
    unmet = tide_record_key_unmet(record_key, mapped->record_key, mapped->data->conditions, reading);
  return unmet;
}

/* A table that does not take the record does not evaluate its key and time, which may be invalid there. */
static gboolean
delete_from(TideMapping *mapping, MappedTable *mapped, TideReject *ret_reject)
{
  static const TideReading no_reading;
  TideReading reading;
  TideEventTime record_time;
  mapped->unmet = unmet_by_tombstone(mapping, mapped, NULL);
  if (mapped->unmet != NULL)
    return TRUE;
  if (!tide_record_key_read(mapping->at->record_key, mapped->record_key, &reading, ret_reject))
    return FALSE;
  mapped->unmet = unmet_by_tombstone(mapping, mapped, &reading);
  if (mapped->unmet != NULL)
    return TRUE;
  if (!tide_time_spec_read(&mapping->at->record_time, &no_reading, &mapping->message.record, &record_time, ret_reject))
    return FALSE;
  reading.index = mapping->message.deleted->len;
  reading.event_time_ns = record_time.ns;
  g_array_append_val(mapping->message.deleted, reading);
  return tide_table_mapper_delete(mapped->mapper, &reading, &mapping->list, ret_reject);
}

static gboolean
map_tombstone(TideMapping *mapping, const TideMessage *message, TideReject *ret_reject)
{
  g_array_set_size(mapping->message.deleted, 0);
  tide_record_key_begin(mapping->at->record_key, message);
  for (guint i = 0; i < mapping->at->n_tables; i++) {
    MappedTable *mapped = &mapping->at->tables[i];
    if (mapped->table->tombstone == TIDE_TOMBSTONE_DELETE && !delete_from(mapping, mapped, ret_reject)) {
      ret_reject->reading_index = 0; /* it has no readings to distinguish */
      return FALSE;
    }
  }
  mapping->message.readings = (TideReading *)(gpointer)mapping->message.deleted->data;
  if (mapping->message.deleted->len > 0)
    return TRUE;
  *ret_reject = (TideReject){.reason = TIDE_REJECT_TOMBSTONE, .byte_position = -1};
  return FALSE;
}

/* ---- messages ---- */

/* The text in a row's only cell is a value, so the identity does not include it. */
static void
finish_identities(TideMapping *mapping)
{
  guint n_rows = tide_row_list_n_rows(&mapping->list);
  for (guint i = 0; i < n_rows; i++) {
    TideRow *row = tide_row_list_row(&mapping->list, i);
    if (row->identity == 0)
      continue;
    if (row->n_cells == 1)
      row->identity -= identity_of_value(&mapping->message.readings[row->reading_index], mapping->at->time_fields,
                                         row->cells[0].value);
    row->identity = MAX(row->identity, 1); /* 0 means none */
  }
}

gboolean
tide_mapping_apply(TideMapping *mapping, const TideMessage *message, TideMapped *ret_mapped, TideReject *ret_reject)
{
  MappedSource *source = find_source(mapping, message->topic);
  if (G_UNLIKELY(source == NULL)) {
    *ret_reject = (TideReject){.reason = TIDE_REJECT_PARSE, .byte_position = -1, .detail = "no source reads its topic"};
    return FALSE;
  }
  mapping->at = source;
  begin_message(mapping, message);
  update_call_bytes(mapping);
  gboolean good;
  if (!message->has_value && source->has_deletes)
    good = map_tombstone(mapping, message, ret_reject);
  else if (G_UNLIKELY(source->scanned != NULL))
    good = tide_scanned_rows_decode(source->scanned, message->value, &mapping->message.readings,
                                    &mapping->message.n_readings, ret_reject) &&
           map_readings(mapping, ret_reject);
  else
    good = tide_decoder_decode(source->decoder, message, &mapping->message.readings, &mapping->message.n_readings,
                               ret_reject) &&
           map_readings(mapping, ret_reject);
  if (!good) {
    tide_reject_resolve_field(ret_reject, mapping->names);
    return FALSE;
  }
  tide_row_list_resolve(&mapping->list);
  if (mapping->at->has_history)
    finish_identities(mapping);
  *ret_mapped = (TideMapped){
      .rows = (TideRow *)(gpointer)mapping->list.rows.data,
      .n_rows = tide_row_list_n_rows(&mapping->list),
      .n_readings = mapping->message.n_readings,
      .n_unmatched_readings = mapping->message.n_unmatched,
      .n_ambiguous_readings = mapping->message.n_ambiguous,
      .n_cut_times = mapping->message.n_cut_times,
      .n_expired_readings = mapping->message.n_expired,
      .expired = mapping->message.some_expired ? mapping->message.expired : NULL,
      .rejects = (const TideReject *)(gconstpointer)mapping->message.rejects->data,
      .n_rejects = mapping->message.rejects->len,
      .timestamp_ms = message->timestamp_ms,
  };
  return TRUE;
}

const TideReading *
tide_mapping_readings(const TideMapping *mapping)
{
  return mapping->message.readings;
}

const TideCondition *
tide_mapping_unmet(const TideMapping *mapping, guint32 table_index)
{
  for (guint i = 0; i < mapping->at->n_tables; i++)
    if (mapping->at->tables[i].table->index == table_index)
      return mapping->at->tables[i].unmet;
  return NULL;
}

const TideFieldNames *
tide_mapping_names(const TideMapping *mapping)
{
  return mapping->names;
}

gboolean
tide_mapping_takes(TideMapping *mapping, const TideField *field)
{
  for (guint i = 0; i < mapping->at->n_tables; i++)
    if (tide_table_mapper_takes(mapping->at->tables[i].mapper, field))
      return TRUE;
  return FALSE;
}
