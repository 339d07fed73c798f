/* Common code of the line formats: the text of a message, the search for its lines, their readings and faults.
 *
 * The text is a copy in which the parsers may unescape. Line breaks follow it, so that loops need no check for the end
 * and words can be compared. The original message is unchanged; the end of a bad line is searched for there. */
#pragma once

#include "decode/shaper.h"

G_BEGIN_DECLS

#define TIDE_LINES_PADDING_BYTES 8

typedef struct TideLines TideLines;

/* A format's own functions. Those that return FALSE have filled in the reject of @lines. */
typedef struct TideLineCalls {
  /* Skips lines that are not readings, up to the next reading or the end. */
  void (*skip)(TideLines *lines);
  /* Adds the fields of the next line and moves to its end. */
  gboolean (*take)(TideLines *lines);
  /* The end of the line that starts at @start of the message, even if the line is bad: the first line break outside
   * quotes. Beyond the message if a quoted text does not end, because then the end is unknown. */
  gsize (*find_end)(const TideLines *lines, gsize start);
  gboolean names_are_shared; /* a bad name is a fault of the message, because all lines share it */
} TideLineCalls;

struct TideLines {
  const TideLineCalls *calls;
  const TideDecodeOptions *options; /* borrowed */
  TideReadingBuilder *builder;      /* borrowed */
  TideScratch *scratch;             /* borrowed: contains the text */
  gpointer parser;                  /* borrowed: the format's state */
  TideReject *reject;               /* borrowed: the caller's */
  TideBytes message;                /* borrowed */
  guint8 *begin, *at, *end;         /* of the text; the first of the line breaks is at the end */
  gboolean is_utf8;
  gboolean is_of_all; /* the fault concerns all lines */
};

/* Starts @message as lines, before the first line and after a byte order mark. */
void tide_lines_init(TideLines *lines, const TideLineCalls *calls, TideShaper *shaper, gpointer parser,
                     TideBytes message, TideReject *reject);

/* Reads all remaining lines. FALSE: the message is rejected. */
gboolean tide_lines_run(TideLines *lines) G_GNUC_WARN_UNUSED_RESULT;

/* Whether the line that starts at @line is UTF-8. */
gboolean tide_lines_check_utf8(TideLines *lines, const guint8 *line) G_GNUC_WARN_UNUSED_RESULT;

/* Returns FALSE. */
gboolean tide_lines_fault(TideLines *lines, TideRejectReason reason, const guint8 *place, TideBytes field,
                          const char *detail);

/* @place: the position to report if the field cannot be added */
static inline gboolean
tide_lines_add(TideLines *lines, const guint8 *place, TideBytes name, TideValueKind kind, TideBytes text)
{
  if (G_LIKELY(tide_reading_builder_add(lines->builder, name, kind, text, lines->reject)))
    return TRUE;
  lines->is_of_all = lines->calls->names_are_shared;
  lines->reject->byte_position = place - lines->begin;
  return FALSE;
}

static inline gboolean
tide_lines_is_line_end(const guint8 *at)
{
  return *at == '\n' || (*at == '\r' && at[1] == '\n');
}

G_END_DECLS
