/* The text of a message of lines, as its parsers read it: a copy in which they may unescape, with line breaks behind
 * it, so that no loop needs to ask for the end, and words can be compared. The message stays as it came: in it is
 * looked for where a broken line ends. */
#pragma once

#include "decode/utf8.h"
#include "model/scratch.h"

G_BEGIN_DECLS

#define TIDE_LINE_TEXT_PADDING_BYTES 8

/* As of JSON's numbers: a longer one is no measurement. */
#define TIDE_LINE_NUMBER_MAX_BYTES 64

typedef struct TideLineText {
  TideBytes message; /* borrowed */
  guint8 *begin;
  guint8 *first; /* behind a byte order mark */
  guint8 *end;   /* there is the first of the line breaks */
  gboolean is_utf8;
} TideLineText;

/* @scratch: where the copy lies. */
static inline TideLineText
tide_line_text_copy(TideBytes message, TideScratch *scratch)
{
  guint8 *begin = tide_scratch_take(scratch, message.len + TIDE_LINE_TEXT_PADDING_BYTES);
  memcpy(begin, message.data, message.len);
  memset(begin + message.len, '\n', TIDE_LINE_TEXT_PADDING_BYTES);
  return (TideLineText){.message = message,
                        .begin = begin,
                        .first = begin + (message.len - tide_bytes_behind_mark(message).len),
                        .end = begin + message.len,
                        .is_utf8 = tide_utf8_is_valid(message.data, message.len)};
}

G_END_DECLS
