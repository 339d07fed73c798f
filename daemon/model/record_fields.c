#include "model/record_fields.h"

/* A gint64 with its sign. */
#define INTEGER_MAX_BYTES 20

typedef enum RecordPart {
  PART_KEY,
  PART_TOPIC,
  PART_PARTITION,
  PART_OFFSET,
  PART_TIMESTAMP,
  PART_HEADER,
} RecordPart;

static const char *const part_names[PART_HEADER] = {"$key", "$topic", "$partition", "$offset", "$timestamp"};

typedef struct RecordField {
  TideNameId name_id;
  TideBytes name; /* owned */
  RecordPart part;
  const char *header; /* with PART_HEADER: in name, which ends with a NUL */
} RecordField;

struct TideRecordFields {
  GArray *wanted;    /* owned (element-type RecordField) */
  TideField *fields; /* owned: as many as wanted */
};

TideRecordFields *
tide_record_fields_new(const TideFieldNames *names, guint32 n_known)
{
  TideRecordFields *record_fields = g_new0(TideRecordFields, 1);
  record_fields->wanted = g_array_new(FALSE, FALSE, sizeof(RecordField));
  for (TideNameId id = 0; id < n_known; id++) {
    TideBytes name = tide_field_names_text(names, id);
    if (!tide_field_name_is_of_record(name) || tide_bytes_equal(name, TIDE_BYTES_LITERAL(TIDE_FIELD_TAGS)))
      continue;
    char *owned = g_strndup((const char *)name.data, name.len);
    RecordField wanted = {.name_id = id, .name = tide_bytes(owned, name.len), .part = PART_KEY};
    while (wanted.part < PART_HEADER && !tide_bytes_equal(wanted.name, tide_bytes_of_string(part_names[wanted.part])))
      wanted.part++;
    if (wanted.part == PART_HEADER)
      wanted.header = owned + strlen("$header.");
    g_array_append_val(record_fields->wanted, wanted);
  }
  record_fields->fields = g_new0(TideField, record_fields->wanted->len);
  return record_fields;
}

void
tide_record_fields_free(TideRecordFields *record_fields)
{
  if (record_fields == NULL)
    return;
  for (guint i = 0; i < record_fields->wanted->len; i++)
    g_free((gpointer)g_array_index(record_fields->wanted, RecordField, i).name.data);
  g_array_unref(record_fields->wanted);
  g_free(record_fields->fields);
  g_free(record_fields);
}

static gboolean
read_text(TideBytes text, TideScratch *scratch, TideField *ret_field)
{
  ret_field->kind = TIDE_VALUE_STRING;
  ret_field->text = tide_scratch_copy(scratch, text);
  return TRUE;
}

static gboolean
read_integer(gint64 value, TideScratch *scratch, TideField *ret_field)
{
  ret_field->kind = TIDE_VALUE_NUMBER;
  char *text = tide_scratch_take(scratch, INTEGER_MAX_BYTES + 1);
  int len = g_snprintf(text, INTEGER_MAX_BYTES + 1, "%" G_GINT64_FORMAT, value);
  ret_field->text = tide_bytes(text, (gsize)len);
  return TRUE;
}

/* FALSE: @message has no such part. */
static gboolean
read_field(const RecordField *wanted, const TideMessage *message, TideScratch *scratch, TideField *ret_field)
{
  TideBytes value;
  switch (wanted->part) {
  case PART_KEY:
    return message->key.len > 0 && read_text(message->key, scratch, ret_field);
  case PART_TOPIC:
    return read_text(message->topic, scratch, ret_field);
  case PART_PARTITION:
    return read_integer(message->partition, scratch, ret_field);
  case PART_OFFSET:
    return read_integer(message->offset, scratch, ret_field);
  case PART_TIMESTAMP:
    return message->timestamp_ms >= 0 && read_integer(message->timestamp_ms, scratch, ret_field);
  case PART_HEADER:
    return message->find_header != NULL && message->find_header(message, wanted->header, &value) &&
           read_text(value, scratch, ret_field);
  }
  return FALSE;
}

const TideField *
tide_record_fields_read(TideRecordFields *record_fields, const TideMessage *message, TideScratch *scratch,
                        guint32 *ret_n_fields, guint32 *ret_n_absent)
{
  guint32 n_wanted = record_fields->wanted->len, n_fields = 0, n_absent = 0;
  for (guint i = 0; i < n_wanted; i++) {
    const RecordField *wanted = &g_array_index(record_fields->wanted, RecordField, i);
    TideField field = {.name_id = wanted->name_id, .name = wanted->name};
    if (read_field(wanted, message, scratch, &field))
      record_fields->fields[n_fields++] = field;
    else
      record_fields->fields[n_wanted - ++n_absent] = field;
  }
  *ret_n_fields = n_fields;
  if (ret_n_absent != NULL)
    *ret_n_absent = n_absent;
  return record_fields->fields;
}
