#include "decode/lines.h"

#include "decode/json_text.h"

void
tide_lines_init(TideLines *lines, const TideLineCalls *calls, TideShaper *shaper, gpointer parser, TideBytes message,
                TideReject *reject)
{
  guint8 *begin = tide_scratch_take(shaper->scratch, message.len + TIDE_LINES_PADDING_BYTES);
  memcpy(begin, message.data, message.len);
  memset(begin + message.len, '\n', TIDE_LINES_PADDING_BYTES);
  *lines = (TideLines){.calls = calls,
                       .options = shaper->options,
                       .builder = shaper->builder,
                       .scratch = shaper->scratch,
                       .parser = parser,
                       .reject = reject,
                       .message = message,
                       .begin = begin,
                       .at = begin + (message.len - tide_bytes_behind_mark(message).len),
                       .end = begin + message.len,
                       .is_utf8 = tide_utf8_is_valid(message.data, message.len)};
}

gboolean
tide_lines_fault(TideLines *lines, TideRejectReason reason, const guint8 *place, TideBytes field, const char *detail)
{
  lines->reject->field = field;
  return tide_reject_set(lines->reject, reason, place - lines->begin, detail);
}

gboolean
tide_lines_check_utf8(TideLines *lines, const guint8 *line)
{
  if (G_LIKELY(lines->is_utf8))
    return TRUE;
  gsize start = (gsize)(line - lines->begin);
  gsize end = MIN(lines->calls->find_end(lines, start), lines->message.len);
  gssize place = tide_json_utf8_fault(tide_bytes(lines->message.data + start, end - start));
  return place < 0 || tide_lines_fault(lines, TIDE_REJECT_UTF8, line + place, TIDE_BYTES_EMPTY, NULL);
}

/* After a fault in the line that begins at @line: rejects the line and continues after it. FALSE: the message is
 * rejected. */
static gboolean
spoil_line(TideLines *lines, const guint8 *line)
{
  if (lines->is_of_all || lines->options->on_bad_reading != TIDE_BAD_READING_ALONE)
    return FALSE;
  gsize end = lines->calls->find_end(lines, (gsize)(line - lines->begin));
  if (end > lines->message.len)
    return FALSE;
  tide_reading_builder_spoil(lines->builder, lines->reject);
  lines->at = lines->begin + end;
  return tide_reading_builder_end_reading(lines->builder, lines->reject);
}

static gboolean
take_reading(TideLines *lines)
{
  const guint8 *line = lines->at;
  if (!tide_reading_builder_begin_reading(lines->builder, lines->reject)) {
    lines->reject->byte_position = line - lines->begin;
    return FALSE;
  }
  gboolean good = tide_lines_check_utf8(lines, line) && lines->calls->take(lines);
  if (good && tide_reading_builder_end_reading(lines->builder, lines->reject))
    return TRUE;
  if (good) {
    lines->reject->byte_position = line - lines->begin;
    lines->is_of_all = lines->calls->names_are_shared;
  }
  return spoil_line(lines, line);
}

gboolean
tide_lines_run(TideLines *lines)
{
  while (lines->at < lines->end) {
    if (!take_reading(lines))
      return FALSE;
    lines->calls->skip(lines);
  }
  return TRUE;
}
