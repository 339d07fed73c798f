#include "dead_letters/dead_letter_json.h"

#include "config/option/option_value.h"
#include "decode/decoder.h"
#include "decode/json_text.h"
#include "util/error.h"
#include "util/json_writer.h"

/* ---- writing ---- */

static void
append_headers(TideBuffer *out, const TideDeadLetter *dead_letter)
{
  tide_json_open(out, "headers", '[');
  for (guint32 i = 0; i < dead_letter->n_headers; i++) {
    const TideDeadLetterHeader *header = &dead_letter->headers[i];
    tide_json_open(out, NULL, '{');
    if (tide_json_utf8_fault(header->name) < 0)
      tide_json_string(out, "name", header->name);
    else
      tide_json_base64(out, "name_base64", TRUE, header->name);
    tide_json_base64(out, "value", header->has_value, header->value);
    tide_json_close(out, "}");
  }
  tide_json_close(out, "]");
}

static void
append_reason(TideBuffer *out, const TideDeadLetter *dead_letter)
{
  tide_json_string(out, "reason", dead_letter->reason);
  tide_json_string(out, "text", dead_letter->text);
  if (dead_letter->source.len > 0)
    tide_json_string(out, "source", dead_letter->source);
  if (dead_letter->table.len > 0)
    tide_json_string(out, "table", dead_letter->table);
  if (dead_letter->row_key.len > 0)
    tide_json_hex(out, "row_key", dead_letter->row_key);
  if (dead_letter->reading_index >= 0)
    tide_json_number(out, "reading", dead_letter->reading_index);
  tide_json_number(out, "attempts", dead_letter->attempts);
  tide_json_string(out, "version", dead_letter->version);
}

void
tide_dead_letter_json_append(TideBuffer *out, const TideDeadLetter *dead_letter, gint64 kept_at_ms)
{
  tide_buffer_append_byte(out, '{'); /* without a comma after earlier content */
  if (kept_at_ms >= 0) {
    g_autofree char *kept_at = tide_epoch_format(kept_at_ms);
    tide_json_text(out, "kept_at", kept_at);
  }
  tide_json_string(out, "topic", dead_letter->topic);
  tide_json_number(out, "partition", dead_letter->partition);
  tide_json_number(out, "offset", dead_letter->offset);
  if (dead_letter->timestamp_ms >= 0)
    tide_json_number(out, "timestamp_ms", dead_letter->timestamp_ms);
  append_reason(out, dead_letter);
  if (dead_letter->original_is_gone)
    tide_json_text(out, "original", "gone");
  tide_json_base64(out, "key", dead_letter->has_key, dead_letter->key);
  tide_json_base64(out, "value", dead_letter->has_value, dead_letter->value);
  if (dead_letter->n_headers > 0)
    append_headers(out, dead_letter);
  tide_json_close(out, "}\n");
}

/* ---- reading ---- */

/* A line contains a value of at most 64 MiB (readings.max_message_size) in base64, plus key and headers. */
#define MAX_LINE_BYTES (256u * 1024 * 1024)

/* Brokers limit the record, not its headers; tidemark writes no dead letter with more. */
#define MAX_HEADERS 1000000u

/* The members of a line, followed by those of a header. */
typedef enum Member {
  MEMBER_KEPT_AT,
  MEMBER_TOPIC,
  MEMBER_PARTITION,
  MEMBER_OFFSET,
  MEMBER_TIMESTAMP,
  MEMBER_REASON,
  MEMBER_TEXT,
  MEMBER_SOURCE,
  MEMBER_TABLE,
  MEMBER_ROW_KEY,
  MEMBER_READING,
  MEMBER_ATTEMPTS,
  MEMBER_VERSION,
  MEMBER_ORIGINAL,
  MEMBER_KEY,
  MEMBER_VALUE,
  MEMBER_HEADERS,
  MEMBER_NAME,
  MEMBER_NAME_BASE64,
  N_MEMBERS,
} Member;

static const char *const member_names[N_MEMBERS] = {
    "kept_at", "topic", "partition", "offset",  "timestamp_ms", "reason",  "text",
    "source",  "table", "row_key",   "reading", "attempts",     "version", "original",
    "key",     "value", "headers",   "name",    "name_base64",
};

struct TideDeadLetterParser {
  TideDecodeOptions options;
  TideFieldNames *names;    /* owned: member_names, in the same order */
  TideDecoder *line;        /* owned */
  TideDecoder *header_list; /* owned: separate, so that the line's fields stay valid while it decodes */
  TideBuffer bytes;         /* decoded from hex or base64 */
  TideBuffer headers;       /* of TideDeadLetterHeader */
};

TideDeadLetterParser *
tide_dead_letter_parser_new(void)
{
  TideDeadLetterParser *parser = g_new0(TideDeadLetterParser, 1);
  parser->options = (TideDecodeOptions){.format = TIDE_FORMAT_JSON,
                                        .separator = g_strdup("/"),
                                        .booleans = TIDE_BOOLEAN_TEXT,
                                        .arrays = TIDE_ARRAY_JSON,
                                        .objects = TIDE_OBJECT_RAW,
                                        .max_message_bytes = MAX_LINE_BYTES,
                                        .max_depth = 64,
                                        .max_fields = 1024,
                                        .max_readings = MAX_HEADERS};
  parser->names = tide_field_names_new();
  for (guint i = 0; i < N_MEMBERS; i++)
    (void)tide_field_names_intern(parser->names, tide_bytes_of_string(member_names[i]));
  parser->line = tide_decoder_new(&parser->options, parser->names, N_MEMBERS);
  parser->header_list = tide_decoder_new(&parser->options, parser->names, N_MEMBERS);
  return parser;
}

void
tide_dead_letter_parser_free(TideDeadLetterParser *parser)
{
  if (parser == NULL)
    return;
  tide_decoder_free(parser->line);
  tide_decoder_free(parser->header_list);
  tide_field_names_free(parser->names);
  tide_buffer_clear_memory(&parser->bytes);
  tide_buffer_clear_memory(&parser->headers);
  g_free(parser->options.separator);
  g_free(parser);
}

/* Returns NULL if it is absent or null. */
static const TideField *
member(const TideReading *reading, Member which)
{
  const TideField *field = tide_reading_field(reading, which);
  return field != NULL && field->kind != TIDE_VALUE_NULL ? field : NULL;
}

static TideBytes
text_member(const TideReading *reading, Member which)
{
  const TideField *field = member(reading, which);
  return field != NULL && field->kind == TIDE_VALUE_STRING ? field->text : TIDE_BYTES_EMPTY;
}

static gboolean
bad_member(Member which, const char *what, GError **error)
{
  g_set_error(error, TIDE_ERROR, TIDE_ERROR_DATA, "'%s' of the dead letter %s", member_names[which], what);
  return FALSE;
}

/* @ret_value: unchanged if the member is absent */
static gboolean
number_member(const TideReading *reading, Member which, gint64 min, gint64 max, gint64 *ret_value, GError **error)
{
  const TideField *field = member(reading, which);
  if (field == NULL)
    return TRUE;
  char text[24];
  gboolean fits = field->kind == TIDE_VALUE_NUMBER && field->text.len < sizeof text;
  if (fits) {
    memcpy(text, field->text.data, field->text.len);
    text[field->text.len] = '\0';
    fits = g_ascii_string_to_signed(text, 10, min, max, ret_value, NULL);
  }
  return fits || bad_member(which, "is not a number in its range", error);
}

/* Decodes base64 to the end of parser->bytes, whose room is sufficient: decoded bytes are never more than their
 * text. */
static gboolean
base64_member(TideDeadLetterParser *parser, const TideReading *reading, Member which, gboolean *ret_has, TideBytes *ret,
              GError **error)
{
  const TideField *field = member(reading, which);
  *ret_has = field != NULL;
  *ret = TIDE_BYTES_EMPTY;
  if (field == NULL)
    return TRUE;
  if (field->kind != TIDE_VALUE_STRING || field->text.len % 4 != 0)
    return bad_member(which, "is not base64", error);
  guint8 *to = parser->bytes.data + parser->bytes.len;
  gint state = 0;
  guint save = 0;
  gsize n = field->text.len > 0
                ? g_base64_decode_step((const char *)field->text.data, field->text.len, to, &state, &save)
                : 0;
  /* GLib skips characters outside base64; then fewer bytes result than the length implies. */
  if (n + 2 < field->text.len / 4 * 3)
    return bad_member(which, "is not base64", error);
  parser->bytes.len += n;
  *ret = tide_bytes(to, n);
  return TRUE;
}

static gboolean
parse_header(TideDeadLetterParser *parser, const TideReading *reading, GError **error)
{
  TideDeadLetterHeader header = {.name = text_member(reading, MEMBER_NAME)};
  gboolean has_name = FALSE;
  if (member(reading, MEMBER_NAME_BASE64) != NULL &&
      !base64_member(parser, reading, MEMBER_NAME_BASE64, &has_name, &header.name, error))
    return FALSE;
  if (!base64_member(parser, reading, MEMBER_VALUE, &header.has_value, &header.value, error))
    return FALSE;
  tide_buffer_append(&parser->headers, &header, sizeof header);
  return TRUE;
}

static gboolean
decode(TideDecoder *decoder, TideBytes text, TideReading **ret_readings, guint32 *ret_n, GError **error)
{
  TideMessage message = {.timestamp_ms = -1, .value = text, .has_value = TRUE};
  TideReject reject = {0};
  if (tide_decoder_decode(decoder, &message, ret_readings, ret_n, &reject))
    return TRUE;
  g_autofree char *why = tide_reject_describe(&reject);
  g_set_error(error, TIDE_ERROR, TIDE_ERROR_DATA, "the line is not a dead letter: %s", why);
  return FALSE;
}

static gboolean
parse_headers(TideDeadLetterParser *parser, const TideReading *line, TideDeadLetter *dead_letter, GError **error)
{
  const TideField *field = member(line, MEMBER_HEADERS);
  if (field == NULL)
    return TRUE;
  if (field->kind != TIDE_VALUE_JSON || field->text.data[0] != '[')
    return bad_member(MEMBER_HEADERS, "is not a list", error);
  TideReading *readings;
  guint32 n;
  if (!decode(parser->header_list, field->text, &readings, &n, error))
    return FALSE;
  for (guint32 i = 0; i < n; i++)
    if (!parse_header(parser, &readings[i], error))
      return FALSE;
  dead_letter->headers = (const TideDeadLetterHeader *)(const void *)parser->headers.data;
  dead_letter->n_headers = n;
  return TRUE;
}

static gboolean
parse_numbers(const TideReading *line, TideDeadLetter *dead_letter, GError **error)
{
  gint64 partition = -1, reading = -1, attempts = 0;
  dead_letter->offset = dead_letter->timestamp_ms = -1;
  if (!number_member(line, MEMBER_PARTITION, 0, G_MAXINT32, &partition, error) ||
      !number_member(line, MEMBER_OFFSET, 0, G_MAXINT64, &dead_letter->offset, error) ||
      !number_member(line, MEMBER_TIMESTAMP, 0, G_MAXINT64, &dead_letter->timestamp_ms, error) ||
      !number_member(line, MEMBER_READING, 0, G_MAXINT32, &reading, error) ||
      !number_member(line, MEMBER_ATTEMPTS, 0, G_MAXUINT32, &attempts, error))
    return FALSE;
  if (dead_letter->topic.len == 0 || partition < 0 || dead_letter->offset < 0) {
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_DATA,
                "the line is not a dead letter: topic, partition or offset is missing");
    return FALSE;
  }
  dead_letter->partition = (gint32)partition;
  dead_letter->reading_index = (gint32)reading;
  dead_letter->attempts = (guint32)attempts;
  return TRUE;
}

static gboolean
parse_row_key(TideDeadLetterParser *parser, const TideReading *line, TideDeadLetter *dead_letter, GError **error)
{
  TideBytes hex = text_member(line, MEMBER_ROW_KEY);
  gsize at = parser->bytes.len;
  if (!tide_bytes_from_hex((const char *)hex.data, hex.len, &parser->bytes))
    return bad_member(MEMBER_ROW_KEY, "is not hex", error);
  dead_letter->row_key = tide_bytes_from(tide_buffer_bytes(&parser->bytes), at);
  return TRUE;
}

gboolean
tide_dead_letter_parser_parse(TideDeadLetterParser *parser, TideBytes line, TideDeadLetter *ret_dead_letter,
                              TideBytes *ret_kept_at, GError **error)
{
  TideReading *readings;
  guint32 n;
  if (!decode(parser->line, line, &readings, &n, error))
    return FALSE;
  if (n != 1) {
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_DATA,
                "the line is not a dead letter: it has %u JSON objects instead of one", n);
    return FALSE;
  }
  const TideReading *read = &readings[0];
  tide_buffer_reset(&parser->headers);
  tide_buffer_reset(&parser->bytes);
  tide_buffer_reserve(&parser->bytes, line.len + 1); /* room for all decoded data, which then does not move */
  TideDeadLetter dead_letter = {.topic = text_member(read, MEMBER_TOPIC),
                                .reason = text_member(read, MEMBER_REASON),
                                .text = text_member(read, MEMBER_TEXT),
                                .source = text_member(read, MEMBER_SOURCE),
                                .table = text_member(read, MEMBER_TABLE),
                                .version = text_member(read, MEMBER_VERSION),
                                .original_is_gone = member(read, MEMBER_ORIGINAL) != NULL};
  if (!parse_numbers(read, &dead_letter, error) || !parse_row_key(parser, read, &dead_letter, error) ||
      !base64_member(parser, read, MEMBER_KEY, &dead_letter.has_key, &dead_letter.key, error) ||
      !base64_member(parser, read, MEMBER_VALUE, &dead_letter.has_value, &dead_letter.value, error) ||
      !parse_headers(parser, read, &dead_letter, error))
    return FALSE;
  if (ret_kept_at != NULL)
    *ret_kept_at = text_member(read, MEMBER_KEPT_AT);
  *ret_dead_letter = dead_letter;
  return TRUE;
}
