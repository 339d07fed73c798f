#include "dead_letters/kafka_letter.h"

#include "util/error.h"

/* ---- from the original ---- */

static rd_kafka_headers_t *
headers_of(const TideMessage *message)
{
  rd_kafka_headers_t *headers = NULL;
  if (rd_kafka_message_headers(message->headers, &headers) != RD_KAFKA_RESP_ERR_NO_ERROR)
    return NULL;
  return headers;
}

/* FALSE behind the last. */
static gboolean
header_at(const rd_kafka_headers_t *headers, gsize place, TideLetterHeader *ret_header)
{
  const char *name = NULL;
  const void *value = NULL;
  size_t size = 0;
  if (headers == NULL || rd_kafka_header_get_all(headers, place, &name, &value, &size) != RD_KAFKA_RESP_ERR_NO_ERROR)
    return FALSE;
  *ret_header = (TideLetterHeader){
      .name = tide_bytes_of_string(name), .value = tide_bytes(value, size), .has_value = value != NULL};
  return TRUE;
}

/* The first @n headers of @message. */
static void
set_record(TideLetter *letter, const TideMessage *message, TideBuffer *memory, gsize n)
{
  const rd_kafka_headers_t *headers = headers_of(message);
  TideLetterHeader header;
  tide_buffer_reset(memory);
  for (gsize i = 0; i < n && header_at(headers, i, &header); i++)
    tide_buffer_append(memory, &header, sizeof header);
  letter->headers = (const TideLetterHeader *)(const void *)memory->data;
  letter->n_headers = (guint32)(memory->len / sizeof header);
  letter->key = message->key;
  letter->has_key = message->key.data != NULL;
  letter->value = message->value;
  letter->has_value = message->has_value;
}

void
tide_kafka_letter_set_original(TideLetter *letter, const TideMessage *message, TideBuffer *headers)
{
  set_record(letter, message, headers, G_MAXSIZE);
  letter->topic = message->topic;
  letter->partition = message->partition;
  letter->offset = message->offset;
  letter->timestamp_ms = message->timestamp_ms;
}

/* ---- to headers ---- */

static void
add(rd_kafka_headers_t *headers, const char *name, TideBytes value)
{
  /* It fails for a list that is read-only: this one is new. A value without bytes is not one that is null. */
  (void)rd_kafka_header_add(headers, name, -1, value.len > 0 ? (const void *)value.data : "", (gssize)value.len);
}

static void
add_number(rd_kafka_headers_t *headers, const char *name, gint64 value)
{
  char text[24];
  g_snprintf(text, sizeof text, "%" G_GINT64_FORMAT, value);
  add(headers, name, tide_bytes_of_string(text));
}

static void
add_original_headers(rd_kafka_headers_t *headers, const TideLetter *letter)
{
  for (guint32 i = 0; i < letter->n_headers; i++) {
    const TideLetterHeader *header = &letter->headers[i];
    const void *value = header->value.len > 0 ? (const void *)header->value.data : "";
    (void)rd_kafka_header_add(headers, header->name.len > 0 ? (const char *)header->name.data : "",
                              (gssize)header->name.len, header->has_value ? value : NULL, (gssize)header->value.len);
  }
}

rd_kafka_headers_t *
tide_kafka_letter_headers(const TideLetter *letter)
{
  rd_kafka_headers_t *headers = rd_kafka_headers_new(letter->n_headers + 12);
  add_original_headers(headers, letter);
  add(headers, TIDE_LETTER_HEADER_REASON, letter->reason); /* the first of ours: a reader knows where they begin */
  add(headers, TIDE_LETTER_HEADER_TEXT, letter->text);
  add(headers, TIDE_LETTER_HEADER_TOPIC, letter->topic);
  add_number(headers, TIDE_LETTER_HEADER_PARTITION, letter->partition);
  add_number(headers, TIDE_LETTER_HEADER_OFFSET, letter->offset);
  if (letter->timestamp_ms >= 0)
    add_number(headers, TIDE_LETTER_HEADER_TIMESTAMP, letter->timestamp_ms);
  if (letter->table.len > 0)
    add(headers, TIDE_LETTER_HEADER_TABLE, letter->table);
  if (letter->row_key.len > 0) {
    g_autofree char *hex = tide_bytes_hex(letter->row_key);
    add(headers, TIDE_LETTER_HEADER_ROW_KEY, tide_bytes_of_string(hex));
  }
  if (letter->reading_index >= 0)
    add_number(headers, TIDE_LETTER_HEADER_READING, letter->reading_index);
  add_number(headers, TIDE_LETTER_HEADER_ATTEMPTS, letter->attempts);
  add(headers, TIDE_LETTER_HEADER_VERSION, letter->version);
  if (letter->original_is_gone)
    add(headers, TIDE_LETTER_HEADER_ORIGINAL, TIDE_BYTES_LITERAL("gone"));
  return headers;
}

/* ---- back ---- */

void
tide_kafka_letter_memory_clear(TideKafkaLetterMemory *memory)
{
  tide_buffer_clear_memory(&memory->headers);
  tide_buffer_clear_memory(&memory->row_key);
}

/* Where our own headers begin; FALSE when there are none. */
static gboolean
find_own(const rd_kafka_headers_t *headers, gsize *ret_first)
{
  TideLetterHeader header;
  gboolean found = FALSE;
  for (gsize i = 0; header_at(headers, i, &header); i++)
    if (tide_bytes_equal(header.name, TIDE_BYTES_LITERAL(TIDE_LETTER_HEADER_REASON))) {
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

/* FALSE when the value is none that the header can have. Headers of later versions are passed over. */
static gboolean
take_own(const TideLetterHeader *header, TideLetter *letter, TideBuffer *row_key)
{
  const struct {
    const char *name;
    TideBytes *text;
  } texts[] = {
      {TIDE_LETTER_HEADER_REASON, &letter->reason},   {TIDE_LETTER_HEADER_TEXT, &letter->text},
      {TIDE_LETTER_HEADER_TOPIC, &letter->topic},     {TIDE_LETTER_HEADER_TABLE, &letter->table},
      {TIDE_LETTER_HEADER_VERSION, &letter->version},
  };
  const char *name = (const char *)header->name.data;
  for (gsize i = 0; i < G_N_ELEMENTS(texts); i++)
    if (strcmp(name, texts[i].name) == 0)
      *texts[i].text = header->value;
  gint64 number = 0;
  if (strcmp(name, TIDE_LETTER_HEADER_OFFSET) == 0)
    return number_of(header->value, 0, G_MAXINT64, &letter->offset);
  if (strcmp(name, TIDE_LETTER_HEADER_TIMESTAMP) == 0)
    return number_of(header->value, 0, G_MAXINT64, &letter->timestamp_ms);
  if (strcmp(name, TIDE_LETTER_HEADER_PARTITION) == 0) {
    gboolean good = number_of(header->value, 0, G_MAXINT32, &number);
    letter->partition = (gint32)number;
    return good;
  }
  if (strcmp(name, TIDE_LETTER_HEADER_READING) == 0) {
    gboolean good = number_of(header->value, 0, G_MAXINT32, &number);
    letter->reading_index = (gint32)number;
    return good;
  }
  if (strcmp(name, TIDE_LETTER_HEADER_ATTEMPTS) == 0) {
    gboolean good = number_of(header->value, 0, G_MAXUINT32, &number);
    letter->attempts = (guint32)number;
    return good;
  }
  if (strcmp(name, TIDE_LETTER_HEADER_ORIGINAL) == 0)
    letter->original_is_gone = TRUE;
  if (strcmp(name, TIDE_LETTER_HEADER_ROW_KEY) != 0)
    return TRUE;
  gboolean good = tide_bytes_from_hex((const char *)header->value.data, header->value.len, row_key);
  letter->row_key = tide_buffer_bytes(row_key);
  return good;
}

gboolean
tide_kafka_letter_read(const TideMessage *message, TideKafkaLetterMemory *memory, TideLetter *ret_letter,
                       GError **error)
{
  const rd_kafka_headers_t *headers = headers_of(message);
  gsize first = 0;
  if (!find_own(headers, &first)) {
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_DATA,
                "record %" G_GINT64_FORMAT " of partition %d is no dead letter: it has no header '%s'", message->offset,
                message->partition, TIDE_LETTER_HEADER_REASON);
    return FALSE;
  }
  TideLetter letter = {.partition = -1, .offset = -1, .timestamp_ms = -1, .reading_index = -1};
  TideLetterHeader header;
  tide_buffer_reset(&memory->row_key);
  for (gsize i = first; header_at(headers, i, &header); i++)
    if (!take_own(&header, &letter, &memory->row_key)) {
      g_autofree char *value = tide_bytes_printable(tide_bytes(header.value.data, MIN(header.value.len, 64)));
      g_set_error(error, TIDE_ERROR, TIDE_ERROR_DATA,
                  "record %" G_GINT64_FORMAT " of partition %d has a header '%s' that cannot be read: '%s'",
                  message->offset, message->partition, (const char *)header.name.data, value);
      return FALSE;
    }
  if (letter.topic.len == 0 || letter.partition < 0 || letter.offset < 0) {
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_DATA,
                "record %" G_GINT64_FORMAT " of partition %d names no topic, partition and offset of its original",
                message->offset, message->partition);
    return FALSE;
  }
  set_record(&letter, message, &memory->headers, first);
  *ret_letter = letter;
  return TRUE;
}
