#include "dead_letters/kafka_dead_letter.h"

#include "kafka/kafka_producer.h"
#include "util/error.h"

/* ---- from the original ---- */

/* The first @n headers of @message. */
static void
set_record(TideDeadLetter *dead_letter, const TideMessage *message, TideBuffer *memory, gsize n)
{
  TideDeadLetterHeader header;
  tide_buffer_reset(memory);
  for (gsize i = 0; i < n && message->header_at(message, i, &header); i++)
    tide_buffer_append(memory, &header, sizeof header);
  dead_letter->headers = (const TideDeadLetterHeader *)(const void *)memory->data;
  dead_letter->n_headers = (guint32)(memory->len / sizeof header);
  dead_letter->key = message->key;
  dead_letter->has_key = message->key.data != NULL;
  dead_letter->value = message->value;
  dead_letter->has_value = message->has_value;
}

void
tide_kafka_dead_letter_set_original(TideDeadLetter *dead_letter, const TideMessage *message, TideBuffer *headers)
{
  set_record(dead_letter, message, headers, G_MAXSIZE);
  dead_letter->topic = message->topic;
  dead_letter->partition = message->partition;
  dead_letter->offset = message->offset;
  dead_letter->timestamp_ms = message->timestamp_ms;
}

/* ---- to headers ---- */

static void
add(rd_kafka_headers_t *headers, const char *name, TideBytes value)
{
  /* It fails only for a read-only list, which a new one is not. An empty value differs from null. */
  (void)rd_kafka_header_add(headers, name, -1, value.len > 0 ? (const void *)value.data : "", (gssize)value.len);
}

static void
add_number(rd_kafka_headers_t *headers, const char *name, gint64 value)
{
  char text[24];
  g_snprintf(text, sizeof text, "%" G_GINT64_FORMAT, value);
  add(headers, name, tide_bytes_of_string(text));
}

rd_kafka_headers_t *
tide_kafka_dead_letter_headers(const TideDeadLetter *dead_letter)
{
  rd_kafka_headers_t *headers = tide_kafka_headers_new(dead_letter->headers, dead_letter->n_headers, 13);
  add(headers, TIDE_DEAD_LETTER_HEADER_REASON,
      dead_letter->reason); /* the first one added: it marks where they begin */
  add(headers, TIDE_DEAD_LETTER_HEADER_TEXT, dead_letter->text);
  add(headers, TIDE_DEAD_LETTER_HEADER_TOPIC, dead_letter->topic);
  add_number(headers, TIDE_DEAD_LETTER_HEADER_PARTITION, dead_letter->partition);
  add_number(headers, TIDE_DEAD_LETTER_HEADER_OFFSET, dead_letter->offset);
  if (dead_letter->timestamp_ms >= 0)
    add_number(headers, TIDE_DEAD_LETTER_HEADER_TIMESTAMP, dead_letter->timestamp_ms);
  if (dead_letter->source.len > 0)
    add(headers, TIDE_DEAD_LETTER_HEADER_SOURCE, dead_letter->source);
  if (dead_letter->table.len > 0)
    add(headers, TIDE_DEAD_LETTER_HEADER_TABLE, dead_letter->table);
  if (dead_letter->row_key.len > 0) {
    g_autofree char *hex = tide_bytes_hex(dead_letter->row_key);
    add(headers, TIDE_DEAD_LETTER_HEADER_ROW_KEY, tide_bytes_of_string(hex));
  }
  if (dead_letter->reading_index >= 0)
    add_number(headers, TIDE_DEAD_LETTER_HEADER_READING, dead_letter->reading_index);
  add_number(headers, TIDE_DEAD_LETTER_HEADER_ATTEMPTS, dead_letter->attempts);
  add(headers, TIDE_DEAD_LETTER_HEADER_VERSION, dead_letter->version);
  if (dead_letter->original_is_gone)
    add(headers, TIDE_DEAD_LETTER_HEADER_ORIGINAL, TIDE_BYTES_LITERAL("gone"));
  return headers;
}

/* ---- reading ---- */

void
tide_kafka_dead_letter_memory_clear(TideKafkaDeadLetterMemory *memory)
{
  tide_buffer_clear_memory(&memory->headers);
  tide_buffer_clear_memory(&memory->row_key);
}

/* Finds the first header that tidemark added. Returns FALSE if there is none. */
static gboolean
find_own(const TideMessage *message, gsize *ret_first)
{
  TideDeadLetterHeader header;
  gboolean found = FALSE;
  for (gsize i = 0; message->header_at(message, i, &header); i++)
    if (tide_bytes_equal(header.name, TIDE_BYTES_LITERAL(TIDE_DEAD_LETTER_HEADER_REASON))) {
      *ret_first = i;
      found = TRUE;
    }
  return found;
}

static gboolean
number_of(TideBytes value, gint64 min, gint64 max, gint64 *ret)
{
  char text[24];
  if (value.len >= sizeof text)
    return FALSE;
  if (value.len > 0)
    memcpy(text, value.data, value.len);
  text[value.len] = '\0';
  return g_ascii_string_to_signed(text, 10, min, max, ret, NULL);
}

/* Returns FALSE if the value is invalid for the header. Headers of later versions are ignored. */
static gboolean
take_own(const TideDeadLetterHeader *header, TideDeadLetter *dead_letter, TideBuffer *row_key)
{
  const struct {
    const char *name;
    TideBytes *text;
  } texts[] = {
      {TIDE_DEAD_LETTER_HEADER_REASON, &dead_letter->reason},   {TIDE_DEAD_LETTER_HEADER_TEXT, &dead_letter->text},
      {TIDE_DEAD_LETTER_HEADER_TOPIC, &dead_letter->topic},     {TIDE_DEAD_LETTER_HEADER_TABLE, &dead_letter->table},
      {TIDE_DEAD_LETTER_HEADER_VERSION, &dead_letter->version}, {TIDE_DEAD_LETTER_HEADER_SOURCE, &dead_letter->source},
  };
  const char *name = (const char *)header->name.data;
  for (gsize i = 0; i < G_N_ELEMENTS(texts); i++)
    if (strcmp(name, texts[i].name) == 0)
      *texts[i].text = header->value;
  gint64 number = 0;
  if (strcmp(name, TIDE_DEAD_LETTER_HEADER_OFFSET) == 0)
    return number_of(header->value, 0, G_MAXINT64, &dead_letter->offset);
  if (strcmp(name, TIDE_DEAD_LETTER_HEADER_TIMESTAMP) == 0)
    return number_of(header->value, 0, G_MAXINT64, &dead_letter->timestamp_ms);
  if (strcmp(name, TIDE_DEAD_LETTER_HEADER_PARTITION) == 0) {
    gboolean good = number_of(header->value, 0, G_MAXINT32, &number);
    dead_letter->partition = (gint32)number;
    return good;
  }
  if (strcmp(name, TIDE_DEAD_LETTER_HEADER_READING) == 0) {
    gboolean good = number_of(header->value, 0, G_MAXINT32, &number);
    dead_letter->reading_index = (gint32)number;
    return good;
  }
  if (strcmp(name, TIDE_DEAD_LETTER_HEADER_ATTEMPTS) == 0) {
    gboolean good = number_of(header->value, 0, G_MAXUINT32, &number);
    dead_letter->attempts = (guint32)number;
    return good;
  }
  if (strcmp(name, TIDE_DEAD_LETTER_HEADER_ORIGINAL) == 0)
    dead_letter->original_is_gone = TRUE;
  if (strcmp(name, TIDE_DEAD_LETTER_HEADER_ROW_KEY) != 0)
    return TRUE;
  gboolean good = tide_bytes_from_hex((const char *)header->value.data, header->value.len, row_key);
  dead_letter->row_key = tide_buffer_bytes(row_key);
  return good;
}

gboolean
tide_kafka_dead_letter_read(const TideMessage *message, TideKafkaDeadLetterMemory *memory,
                            TideDeadLetter *ret_dead_letter, GError **error)
{
  gsize first = 0;
  if (!find_own(message, &first)) {
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_DATA,
                "record %" G_GINT64_FORMAT " of partition %d is not a dead letter: header '%s' is missing",
                message->offset, message->partition, TIDE_DEAD_LETTER_HEADER_REASON);
    return FALSE;
  }
  TideDeadLetter dead_letter = {.partition = -1, .offset = -1, .timestamp_ms = -1, .reading_index = -1};
  TideDeadLetterHeader header;
  tide_buffer_reset(&memory->row_key);
  for (gsize i = first; message->header_at(message, i, &header); i++)
    if (!take_own(&header, &dead_letter, &memory->row_key)) {
      g_autofree char *value = tide_bytes_printable(tide_bytes(header.value.data, MIN(header.value.len, 64)));
      g_set_error(error, TIDE_ERROR, TIDE_ERROR_DATA,
                  "record %" G_GINT64_FORMAT " of partition %d has a header '%s' that cannot be read: '%s'",
                  message->offset, message->partition, (const char *)header.name.data, value);
      return FALSE;
    }
  if (dead_letter.topic.len == 0 || dead_letter.partition < 0 || dead_letter.offset < 0) {
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_DATA,
                "record %" G_GINT64_FORMAT " of partition %d does not name topic, partition and offset of its original",
                message->offset, message->partition);
    return FALSE;
  }
  set_record(&dead_letter, message, &memory->headers, first);
  *ret_dead_letter = dead_letter;
  return TRUE;
}
