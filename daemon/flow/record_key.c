#include "flow/record_key.h"

/* How a table's rows are named. */
typedef struct KeyForm {
  TideNameId only_field;  /* whose text the record's key is; TIDE_NAME_NONE: the key's fields are several */
  gboolean is_record_key; /* the field is "$key" */
  TideField field;        /* scratch: a reading of that field alone */
  guint32 *known;         /* owned */
} KeyForm;

struct TideRecordKey {
  TideDecoder *decoder;        /* borrowed */
  const TideFieldNames *names; /* borrowed */
  guint32 n_known;
  GArray *forms; /* owned (element-type KeyForm), by place */

  /* of the message */
  const TideMessage *message;
  gboolean is_decoded;
  TideReading decoded;
};

static void
clear_form(gpointer form)
{
  g_free(((KeyForm *)form)->known);
}

TideRecordKey *
tide_record_key_new(TideDecoder *decoder, const TideFieldNames *names, guint32 n_known)
{
  TideRecordKey *record_key = g_new0(TideRecordKey, 1);
  record_key->decoder = decoder;
  record_key->names = names;
  record_key->n_known = n_known;
  record_key->forms = g_array_new(FALSE, TRUE, sizeof(KeyForm));
  g_array_set_clear_func(record_key->forms, clear_form);
  return record_key;
}

void
tide_record_key_free(TideRecordKey *record_key)
{
  if (record_key == NULL)
    return;
  g_array_unref(record_key->forms);
  g_free(record_key);
}

static TideNameId
only_field_of(const TideTable *table)
{
  g_autoptr(GArray) ids = g_array_new(FALSE, FALSE, sizeof(TideNameId));
  tide_row_key_fields(table->key, ids);
  return ids->len == 1 ? g_array_index(ids, TideNameId, 0) : TIDE_NAME_NONE;
}

guint
tide_record_key_add_table(TideRecordKey *record_key, const TideTable *table)
{
  KeyForm form = {.only_field = only_field_of(table)};
  TideBytes name = tide_field_names_text(record_key->names, form.only_field);
  form.is_record_key = tide_bytes_equal(name, TIDE_BYTES_LITERAL("$key"));
  if (tide_field_name_is_of_record(name) && !form.is_record_key)
    form.only_field = TIDE_NAME_NONE; /* the record has it: its key says nothing of it */
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
                  "the key of a message without value must be a JSON object of the fields in the table's key",
                  ret_reject);
  if (!tide_decoder_decode(record_key->decoder, &key_as_value, &readings, &n_readings, ret_reject))
    return FALSE;
  if (n_readings != 1)
    return reject(TIDE_REJECT_PARSE, "the key of a message without value must be one JSON object", ret_reject);
  record_key->decoded = readings[0];
  record_key->is_decoded = TRUE;
  return TRUE;
}

gboolean
tide_record_key_read(TideRecordKey *record_key, guint place, TideReading *ret_reading, TideReject *ret_reject)
{
  KeyForm *form = &g_array_index(record_key->forms, KeyForm, place);
  TideBytes key = record_key->message->key;
  if (key.len == 0)
    return reject(TIDE_REJECT_MISSING_FIELD, "a message without value and without key names no row to delete",
                  ret_reject);
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
