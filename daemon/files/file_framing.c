#include "files/file_framing.h"

#include "decode/avro_container.h"
#include "decode/formats.h"
#include "decode/msgpack_value.h"
#include "util/error.h"

#include <string.h>

/* A longer varint exceeds 32 bits. */
#define VARINT_MAX_BYTES 5u

TideFileFraming
tide_file_framing_of(const TideDecodeOptions *options)
{
  return (TideFileFraming){.format = options->format,
                           .delimiter = options->csv.delimiter != NULL ? options->csv.delimiter[0] : ',',
                           .quotes = options->csv.quotes,
                           .trims = options->csv.trim,
                           .comment = tide_bytes_of_string(options->csv.comment),
                           .max_bytes = options->max_message_bytes};
}

gboolean
tide_file_framing_is_of_lines(const TideFileFraming *framing)
{
  return tide_formats[framing->format].end == TIDE_ENDS_WITH_LINE;
}

/* ---- CSV ---- */

/* Returns the position after the closing quote of a value whose opening quote is before @at; 0: @text ends before. */
static gsize
end_of_quoted(TideBytes text, gsize at)
{
  for (;;) {
    const guint8 *quote = at < text.len ? memchr(text.data + at, '"', text.len - at) : NULL;
    if (quote == NULL)
      return 0;
    at = (gsize)(quote - text.data) + 1;
    if (at == text.len || text.data[at] != '"')
      return at;
    at++;
  }
}

static inline gboolean
is_trimmed(const TideFileFraming *framing, guint8 byte)
{
  return framing->trims && (byte == ' ' || byte == '\t') && byte != (guint8)framing->delimiter;
}

/* TRUE if the value ends whose closing quote is before @at: csv_lines.c skips blanks there as well. */
static gboolean
ends_value(const TideFileFraming *framing, TideBytes text, gsize at)
{
  while (at < text.len && is_trimmed(framing, text.data[at]))
    at++;
  return at == text.len || text.data[at] == '\n' || text.data[at] == '\r' ||
         text.data[at] == (guint8)framing->delimiter;
}

static gboolean
is_csv_comment(const TideFileFraming *framing, TideBytes line)
{
  return framing->format == TIDE_FORMAT_CSV && framing->comment.len > 0 &&
         tide_bytes_begin_with(tide_bytes_behind_mark(line), framing->comment);
}

/* Returns the line break that ends the record; NULL: @text ends before. @ret_n_lines: its number of lines. */
static const guint8 *
find_csv_end(const TideFileFraming *framing, TideBytes text, gboolean is_last, guint32 *ret_n_lines)
{
  const guint8 *first_break = memchr(text.data, '\n', text.len);
  gboolean is_start = TRUE; /* of a value */
  *ret_n_lines = 1;
  if (is_csv_comment(framing, text))
    return first_break;
  for (gsize at = text.len - tide_bytes_behind_mark(text).len; at < text.len; at++) {
    guint8 byte = text.data[at];
    if (byte == '\n')
      return text.data + at;
    if (byte == '"' && is_start) {
      gsize end = end_of_quoted(text, at + 1);
      gboolean may_go_on = end == 0 && !is_last && text.len <= framing->max_bytes;
      if (may_go_on)
        return NULL;
      if (end == 0 || !ends_value(framing, text, end)) {
        *ret_n_lines = 1;
        return first_break;
      }
      for (gsize i = at; i < end; i++)
        *ret_n_lines += text.data[i] == '\n' ? 1 : 0;
      at = end - 1;
      is_start = FALSE;
      continue;
    }
    is_start = byte == (guint8)framing->delimiter || (is_start && is_trimmed(framing, byte));
  }
  return NULL;
}

/* ---- line protocol ---- */

/* Returns the position after the closing quote of a text whose opening quote is before @at; 0: @text ends before. */
static gsize
end_of_influx_text(TideBytes text, gsize at)
{
  while (at < text.len && text.data[at] != '"')
    at += text.data[at] == '\\' ? 2 : 1;
  return at < text.len ? at + 1 : 0;
}

static gboolean
is_at(TideBytes text, gsize at, const char *any_of)
{
  return at < text.len && text.data[at] != '\0' && strchr(any_of, text.data[at]) != NULL;
}

static gsize
skip_spaces(TideBytes text)
{
  gsize at = 0;
  while (at < text.len && text.data[at] == ' ')
    at++;
  return at;
}

/* As find_csv_end(). Quoted texts are field values, which follow the first space. */
static const guint8 *
find_influx_end(const TideFileFraming *framing, TideBytes text, gboolean is_last, guint32 *ret_n_lines)
{
  const guint8 *first_break = memchr(text.data, '\n', text.len);
  gsize at = skip_spaces(text);
  gboolean in_fields = FALSE;
  *ret_n_lines = 1;
  if (is_at(text, at, "#") ||
      memchr(text.data, '"', first_break != NULL ? (gsize)(first_break - text.data) : text.len) == NULL)
    return first_break;
  for (; at < text.len; at++) {
    guint8 byte = text.data[at];
    if (byte == '\n')
      return text.data + at;
    in_fields |= byte == ' ';
    at += byte == '\\' && is_at(text, at + 1, ", =") ? 1 : 0;
    if (byte != '=' || !in_fields || !is_at(text, at + 1, "\""))
      continue;
    gsize end = end_of_influx_text(text, at + 2);
    if (end == 0 && !is_last && text.len <= framing->max_bytes)
      return NULL;
    if (end == 0 || (end < text.len && !is_at(text, end, ", \r\n"))) {
      *ret_n_lines = 1;
      return first_break;
    }
    for (; at + 1 < end; at++)
      *ret_n_lines += text.data[at] == '\n' ? 1 : 0;
  }
  return NULL;
}

/* ---- lines of any format ---- */

/* Returns the line break that ends the record, and its number of lines; NULL: @text ends before. */
static const guint8 *
find_end(const TideFileFraming *framing, TideBytes text, gboolean is_last, guint32 *ret_n_lines)
{
  if (framing->format == TIDE_FORMAT_INFLUX)
    return find_influx_end(framing, text, is_last, ret_n_lines);
  if (framing->format == TIDE_FORMAT_CSV && framing->quotes)
    return find_csv_end(framing, text, is_last, ret_n_lines);
  *ret_n_lines = 1;
  return memchr(text.data, '\n', text.len);
}

/* TRUE if @line is empty; in CSV, spaces are content. */
static gboolean
is_blank(const TideFileFraming *framing, TideBytes line)
{
  const TideFormat *format = &tide_formats[framing->format];
  gsize at = format->spaces_are_blank ? skip_spaces(line) : 0;
  return at == line.len || (at + 1 == line.len && line.data[at] == '\r') ||
         (format->comment != 0 && line.data[at] == format->comment) || is_csv_comment(framing, line);
}

static TideFrameResult
next_line(const TideFileFraming *framing, TideBytes text, gboolean is_last, TideFrame *frame)
{
  guint32 n_lines;
  const guint8 *at = find_end(framing, text, is_last, &n_lines);
  gsize len = at != NULL ? (gsize)(at - text.data) : text.len;
  if (at == NULL && !is_last && len <= framing->max_bytes)
    return TIDE_FRAME_MORE;
  *frame = (TideFrame){.len = len, .end = at != NULL ? len + 1 : len, .n_lines = n_lines, .is_unended = at == NULL};
  if (len > framing->max_bytes) {
    frame->len = framing->max_bytes + 1;
    frame->is_cut = at == NULL && !is_last;
  } else
    frame->is_blank = is_blank(framing, tide_bytes(text.data, len));
  return TIDE_FRAME_FOUND;
}

/* The first value of @line, as written. */
static TideBytes
first_value(const TideFileFraming *framing, TideBytes line)
{
  gsize end = line.len > 0 && line.data[0] == '"' ? end_of_quoted(line, 1) : 0;
  const guint8 *delimiter = end == 0 && line.len > 0 ? memchr(line.data, framing->delimiter, line.len) : NULL;
  if (delimiter != NULL)
    end = (gsize)(delimiter - line.data);
  return tide_bytes(line.data, end > 0 ? end : line.len);
}

/* Finds a line and the following ones with the same first value. */
static TideFrameResult
next_lines(const TideFileFraming *framing, TideBytes text, gboolean is_last, TideFrame *frame)
{
  TideFrameResult result = next_line(framing, text, is_last, frame);
  if (result != TIDE_FRAME_FOUND || frame->is_blank || frame->len > framing->max_bytes)
    return result;
  TideBytes row = first_value(framing, tide_bytes(text.data, frame->len));
  while (!frame->is_unended) {
    TideFrame next;
    TideBytes rest = tide_bytes_from(text, frame->end);
    result = rest.len > 0 ? next_line(framing, rest, is_last, &next) : TIDE_FRAME_MORE;
    if (result == TIDE_FRAME_MORE)
      return is_last || text.len > framing->max_bytes ? TIDE_FRAME_FOUND : TIDE_FRAME_MORE;
    gsize len = frame->end + next.len;
    if (len > framing->max_bytes || !tide_bytes_equal(row, first_value(framing, tide_bytes(rest.data, next.len))))
      break;
    *frame = (TideFrame){.len = len,
                         .end = frame->end + next.end,
                         .n_lines = frame->n_lines + next.n_lines,
                         .is_unended = next.is_unended};
  }
  return TIDE_FRAME_FOUND;
}

/* ---- binary formats ---- */

static TideFrameResult
next_msgpack(const TideFileFraming *framing, TideBytes text, TideFrame *frame, GError **error)
{
  gsize len = 0;
  if (!tide_msgpack_length(text, &len, error))
    return TIDE_FRAME_BROKEN;
  if (len > framing->max_bytes || (len == 0 && text.len > framing->max_bytes)) {
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_DATA, "a value has more than the %u bytes allowed by 'max_message_bytes'",
                framing->max_bytes);
    return TIDE_FRAME_BROKEN;
  }
  *frame = (TideFrame){.len = len, .end = len, .n_lines = 1};
  return len > 0 ? TIDE_FRAME_FOUND : TIDE_FRAME_MORE;
}

static TideFrameResult
next_delimited(const TideFileFraming *framing, TideBytes text, TideFrame *frame, GError **error)
{
  guint64 len = 0;
  for (guint i = 0; i < VARINT_MAX_BYTES; i++) {
    if (i == text.len)
      return TIDE_FRAME_MORE;
    len |= (guint64)(text.data[i] & 0x7F) << (7 * i);
    if ((text.data[i] & 0x80) != 0)
      continue;
    if (len > framing->max_bytes)
      break;
    *frame = (TideFrame){.start = i + 1, .len = (gsize)len, .end = i + 1 + (gsize)len, .n_lines = 1};
    return text.len >= frame->end ? TIDE_FRAME_FOUND : TIDE_FRAME_MORE;
  }
  g_set_error(error, TIDE_ERROR, TIDE_ERROR_DATA,
              "the length before a message exceeds the %u bytes allowed by 'max_message_bytes'; each message needs its "
              "length as a varint before it",
              framing->max_bytes);
  return TIDE_FRAME_BROKEN;
}

/* Finds the header, or a block. */
static TideFrameResult
next_avro(const TideFileFraming *framing, TideBytes text, TideFrame *frame, GError **error)
{
  TideAvroHead head;
  TideAvroBlock block;
  const char *detail = "not a valid block";
  gboolean is_head = text.data[0] == 'O'; /* a block starts with its number of objects, 1 */
  TideAvroResult result = is_head ? tide_avro_head_read(text, &head, &detail) : tide_avro_block_read(text, &block);
  if (result == TIDE_AVRO_BAD) {
    g_set_error_literal(error, TIDE_ERROR, TIDE_ERROR_DATA, detail);
    return TIDE_FRAME_BROKEN;
  }
  gsize len = 0;
  if (result == TIDE_AVRO_WHOLE)
    len = is_head ? head.len : block.start + (gsize)block.n_bytes + TIDE_AVRO_SYNC_BYTES;
  if (result == TIDE_AVRO_CUT || len > text.len)
    return TIDE_FRAME_MORE;
  /* A record that is too large is rejected, whatever its content. */
  *frame = (TideFrame){
      .len = is_head ? len : MIN(len, (gsize)framing->max_bytes + 1), .end = len, .n_lines = is_head ? 0 : 1};
  return TIDE_FRAME_FOUND;
}

TideFrameResult
tide_file_framing_next(const TideFileFraming *framing, TideBytes text, gboolean is_last, TideFrame *ret_frame,
                       GError **error)
{
  if (text.len == 0)
    return TIDE_FRAME_MORE;
  switch (tide_formats[framing->format].end) {
  case TIDE_ENDS_WITH_LINE:
    return (framing->is_grouped ? next_lines : next_line)(framing, text, is_last, ret_frame);
  case TIDE_ENDS_BY_ITSELF:
    return next_msgpack(framing, text, ret_frame, error);
  case TIDE_ENDS_BY_LENGTH:
    return next_delimited(framing, text, ret_frame, error);
  case TIDE_ENDS_IN_CONTAINER:
    return next_avro(framing, text, ret_frame, error);
  }
  g_assert_not_reached();
}
