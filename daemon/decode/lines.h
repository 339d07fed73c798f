/* What the formats of lines share: the text of a message, where its lines are found, their readings and faults.
 *
 * The text is a copy in which the parsers may unescape, with line breaks behind it, so that no loop needs to ask for the
 * end, and words can be compared. The message stays as it came: in it is looked for where a broken line ends. */
#pragma once

#include "decode/shaper.h"

G_BEGIN_DECLS

#define TIDE_LINES_PADDING_BYTES 8

typedef struct TideLines TideLines;

/* A format's own. Functions that return FALSE have filled in the reject of @lines. */
typedef struct TideLineCalls {
  /* Passes over lines that are no readings, to the next that is one, or the end. */
  void (*skip)(TideLines *lines);
  /* Adds the fields of the line that comes next, and goes on to its end. */
  gboolean (*take)(TideLines *lines);
  /* Where the line from @start of the message on ends, whatever is wrong with it: at the first line break that stands in
   * no text in quotes. Beyond the message, where such a text does not end: then nobody knows. */
  gsize (*find_end)(const TideLines *lines, gsize start);
  gboolean names_are_shared; /* what is wrong with a name is the message's: all its lines have it */
} TideLineCalls;

struct TideLines {
  const TideLineCalls *calls;
  const TideDecodeOptions *options; /* borrowed */
  TideReadingBuilder *builder;      /* borrowed */
  TideScratch *scratch;             /* borrowed: the text lies there */
  gpointer parser;                  /* borrowed: the format's own */
  TideReject *reject;               /* borrowed: the caller's */
  TideBytes message;                /* borrowed */
  guint8 *begin, *at, *end;         /* of the text; at the end is the first of the line breaks */
  gboolean is_utf8;
  gboolean is_of_all; /* the fault, and so not of one line alone */
};

/* @message as its lines, in front of the first one, behind a byte order mark. */
void tide_lines_init(TideLines *lines, const TideLineCalls *calls, TideShaper *shaper, gpointer parser,
                     TideBytes message, TideReject *reject);

/* The readings of all lines that come next. FALSE: the message is rejected. */
gboolean tide_lines_run(TideLines *lines) G_GNUC_WARN_UNUSED_RESULT;

/* Whether the line from @line on is UTF-8. */
gboolean tide_lines_check_utf8(TideLines *lines, const guint8 *line) G_GNUC_WARN_UNUSED_RESULT;

/* Returns FALSE. */
gboolean tide_lines_fault(TideLines *lines, TideRejectReason reason, const guint8 *place, TideBytes field,
                          const char *detail);

/* @place: where the fault is, if it cannot be added */
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
