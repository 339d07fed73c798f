#include "mapping/record_key.h"

#include "decode/field_steps.h"
#include "model/record_fields.h"
#include "model/scratch.h"

/* How a table's rows are named by records. */
typedef struct KeyForm {
  TideNameId only_field;  /* the field whose text is the record's key; TIDE_NAME_NONE: the key has several fields */
  gboolean is_record_key; /* the field is "$key" */
  TideField field;        /* scratch: a reading with only that field */
  guint32 *known;         /* owned */
  GArray *key_fields;     /* owned (element-type TideNameId): of the table's key */
} KeyForm;

struct TideRecordKey {
  TideDecodeOptions options; /* for keys that are objects: JSON, regardless of the values' format */
  TideDecoder *decoder;      /* owned; NULL: no such key yet */
  TideFieldNames *names;     /* borrowed */
  guint32 n_known;
  GArray *forms;                   /* owned (element-type KeyForm), by index */
  TideRecordFields *record_fields; /* owned */
  TideFieldSteps *steps;           /* owned; NULL: there are none */
  gboolean steps_read_key;
  guint32 *record_known; /* owned */

  /* State of the message. */
  const TideMessage *message;
  TideScratch scratch;
  TideReading record; /* the record's own fields */
  gboolean is_decoded;
  TideReading decoded;
};

static void
clear_form(gpointer form)
{
  g_free(((KeyForm *)form)->known);
  g_array_unref(((KeyForm *)form)->key_fields);
}

TideRecordKey *
tide_record_key_new(const TideDecodeOptions *options, TideFieldNames *names, guint32 n_known)
{
  TideRecordKey *record_key = g_new0(TideRecordKey, 1);
  record_key->options = tide_decode_options_of_json(options);
  record_key->names = names;
  record_key->n_known = n_known;
  record_key->forms = g_array_new(FALSE, TRUE, sizeof(KeyForm));
  g_array_set_clear_func(record_key->forms, clear_form);
  record_key->record_fields = tide_record_fields_new(names, n_known);
  record_key->record_known = g_new0(guint32, n_known);
  record_key->steps = tide_field_steps_new(options, names, n_known, &record_key->scratch);
  record_key->steps_read_key = tide_field_steps_read(options, "$key");
  return record_key;
}

void
tide_record_key_free(TideRecordKey *record_key)
{
  if (record_key == NULL)
    return;
  g_array_unref(record_key->forms);
  tide_record_fields_free(record_key->record_fields);
  tide_field_steps_free(record_key->steps);
  g_free(record_key->record_known);
  tide_decoder_free(record_key->decoder);
  tide_scratch_clear_memory(&record_key->scratch);
  g_free(record_key);
}

guint
tide_record_key_add_table(TideRecordKey *record_key, const TideTable *table)
{
  KeyForm form = {.only_field = TIDE_NAME_NONE, .key_fields = g_array_new(FALSE, FALSE, sizeof(TideNameId))};
  tide_row_key_fields(table->key, form.key_fields);
  if (form.key_fields->len == 1)
    form.only_field = g_array_index(form.key_fields, TideNameId, 0);
  TideBytes name = tide_field_names_text(record_key->names, form.only_field);
  form.is_record_key = tide_bytes_equal(name, TIDE_BYTES_LITERAL("$key"));
  if (tide_field_name_is_of_record(name) && !form.is_record_key)
    form.only_field = TIDE_NAME_NONE; /* the record has the field, so its key does not */
  form.known = g_new0(guint32, record_key->n_known);
  if (form.only_field != TIDE_NAME_NONE)
    form.known[form.only_field] = 1;
  form.field = (TideField){.name_id = form.only_field, .kind = TIDE_VALUE_STRING, .name = name};
  g_array_append_val(record_key->forms, form);
  return record_key->forms->len - 1;
}

void
tide_record_key_begin(TideRecordKey *record_key, const TideMessage *message)
{
  record_key->message = message;
  record_key->is_decoded = FALSE;
  TideReading *record = &record_key->record;
  tide_scratch_reset(&record_key->scratch);
  *record = (TideReading){.known = record_key->record_known, .n_known = record_key->n_known};
  record->fields =
      tide_record_fields_read(record_key->record_fields, message, &record_key->scratch, &record->n_fields, NULL);
  memset(record_key->record_known, 0, record_key->n_known * sizeof *record_key->record_known);
  for (guint32 i = 0; i < record->n_fields; i++)
    record_key->record_known[record->fields[i].name_id] = i + 1;
}

static gboolean
reject(TideRejectReason reason, const char *detail, TideReject *ret_reject)
{
  *ret_reject =
      (TideReject){.reason = reason, .field = TIDE_BYTES_LITERAL("$key"), .byte_position = -1, .detail = detail};
  return FALSE;
}

static gboolean
decode(TideRecordKey *record_key, TideReject *ret_reject)
{
  TideMessage key_as_value = *record_key->message;
  TideReading *readings;
  guint32 n_readings;
  key_as_value.value = record_key->message->key;
  key_as_value.has_value = TRUE;
  if (record_key->message->key.data[0] != '{')
    return reject(TIDE_REJECT_PARSE,
                  "the key of a message without value must be a JSON object with the fields of the table's key",
                  ret_reject);
  if (record_key->decoder == NULL)
    record_key->decoder = tide_decoder_new(&record_key->options, record_key->names, record_key->n_known);
  if (!tide_decoder_decode(record_key->decoder, &key_as_value, &readings, &n_readings, ret_reject))
    return FALSE;
  if (n_readings != 1)
    return reject(TIDE_REJECT_PARSE, "the key of a message without value must be one JSON object", ret_reject);
  record_key->decoded = readings[0];
  record_key->is_decoded = TRUE;
  return TRUE;
}

/* Completes @reading with the record's own fields that it lacks, and applies all steps. */
static gboolean
take_steps(TideRecordKey *record_key, TideReading *reading, TideReject *ret_reject)
{
  const TideReading *record = &record_key->record;
  g_autoptr(GArray) fields = g_array_new(FALSE, FALSE, sizeof(TideField));
  g_array_append_vals(fields, reading->fields, reading->n_fields);
  for (guint32 i = 0; i < record->n_fields; i++)
    if (tide_reading_field(reading, record->fields[i].name_id) == NULL)
      g_array_append_val(fields, record->fields[i]);
  TideReading whole = {.fields = (const TideField *)(gconstpointer)fields->data, .n_fields = fields->len};
  guint32 n_readings;
  *ret_reject = (TideReject){.byte_position = -1};
  if (!tide_field_steps_run(record_key->steps, record_key->message, record->n_fields, &whole, 1, NULL, 0, ret_reject))
    return FALSE;
  TideReadingBuilder *builder = tide_field_steps_builder(record_key->steps);
  *reading = *tide_reading_builder_finish(builder, &n_readings);
  guint32 n_rejects;
  const TideReject *rejects = tide_reading_builder_rejects(builder, &n_rejects);
  if (n_rejects > 0) {
    *ret_reject = rejects[0];
    return FALSE;
  }
  /* Copied, because the next table's reading reuses the fields' memory. */
  gsize n_bytes = reading->n_fields * sizeof *reading->fields;
  reading->fields =
      n_bytes > 0 ? memcpy(tide_scratch_take(&record_key->scratch, n_bytes), reading->fields, n_bytes) : NULL;
  return TRUE;
}

/* Reads the record's key without steps. */
static gboolean
read_key(TideRecordKey *record_key, KeyForm *form, TideReading *ret_reading, TideReject *ret_reject)
{
  TideBytes key = record_key->message->key;
  if (form->only_field != TIDE_NAME_NONE && (form->is_record_key || key.data[0] != '{')) {
    form->field.text = key;
    *ret_reading =
        (TideReading){.fields = &form->field, .n_fields = 1, .known = form->known, .n_known = record_key->n_known};
    return TRUE;
  }
  if (!record_key->is_decoded && !decode(record_key, ret_reject))
    return FALSE;
  *ret_reading = record_key->decoded;
  return TRUE;
}

gboolean
tide_record_key_read(TideRecordKey *record_key, guint index, TideReading *ret_reading, TideReject *ret_reject)
{
  KeyForm *form = &g_array_index(record_key->forms, KeyForm, index);
  if (record_key->message->key.len == 0)
    return reject(TIDE_REJECT_MISSING_FIELD, "a message without value and without key names no row to delete",
                  ret_reject);
  if (record_key->steps == NULL || form->is_record_key)
    return read_key(record_key, form, ret_reading, ret_reject);
  *ret_reading = (TideReading){.n_known = 0};
  return (record_key->steps_read_key || read_key(record_key, form, ret_reading, ret_reject)) &&
         take_steps(record_key, ret_reading, ret_reject);
}

const TideCondition *
tide_record_key_unmet(const TideRecordKey *record_key, guint index, const GArray *conditions,
                      const TideReading *reading)
{
  const KeyForm *form = &g_array_index(record_key->forms, KeyForm, index);
  for (guint i = 0; conditions != NULL && i < conditions->len; i++) {
    const TideCondition *condition = &g_array_index(conditions, TideCondition, i);
    /* The record's own fields can be evaluated before its key is read, other fields after. Fields in neither the
     * table's nor the record's key are unknown. */
    const TideReading *judge = reading;
    gboolean is_known = FALSE;
    if (tide_field_name_is_of_record(tide_field_names_text(record_key->names, condition->field))) {
      judge = &record_key->record;
      is_known = reading == NULL;
    } else if (reading != NULL) {
      is_known = tide_name_ids_contain(form->key_fields, condition->field) ||
                 tide_reading_field(reading, condition->field) != NULL;
    }
    if (is_known && !tide_condition_holds(condition, judge))
      return condition;
  }
  return NULL;
}
