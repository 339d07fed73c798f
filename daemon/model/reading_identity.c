#include "model/reading_identity.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

/* Seeds beside the numbers of names. Fields without a number, which are rare, count without their names. */
#define TOPIC_SEED (G_GUINT64_CONSTANT(1) << 32)
#define KEY_SEED (G_GUINT64_CONSTANT(2) << 32)

static inline guint32
hash_text(TideBytes text, guint64 seed)
{
  return (guint32)XXH3_64bits_withSeed(text.len > 0 ? text.data : (const guint8 *)"", text.len, seed);
}

guint32
tide_message_identity(const TideMessage *message)
{
  guint32 topic = hash_text(message->topic, TOPIC_SEED);
  return message->key.len > 0 ? topic + hash_text(message->key, KEY_SEED) : topic;
}

/* How many of the first fields may name @reading. */
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
  /* What a record offers, such as its offset, is another for each copy of a reading. */
  return field->name_id >= reading->n_known ||
         (!tide_name_ids_contain(times, field->name_id) && !tide_field_name_is_of_record(field->name));
}

guint32
tide_reading_identity(const TideReading *reading, const GArray *times)
{
  guint32 identity = 0, n_fields = n_naming_fields(reading);
  for (guint32 i = 0; i < n_fields; i++)
    if (names_its_reading(reading, &reading->fields[i], times))
      identity += hash_text(reading->fields[i].text, reading->fields[i].name_id);
  return identity;
}

guint32
tide_value_identity(const TideReading *reading, const GArray *times, TideBytes value)
{
  guint32 n_fields = n_naming_fields(reading);
  for (guint32 i = 0; i < n_fields; i++) {
    const TideField *field = &reading->fields[i];
    if (field->text.data == value.data && field->text.len == value.len && names_its_reading(reading, field, times))
      return hash_text(field->text, field->name_id);
  }
  return 0;
}
