/* What commands print on standard output: aligned tables for people, CSV and JSON for programs.
 *
 * Row keys, names and values come from outside and may hold any byte. A table and CSV show them with everything that is
 * not printable text (and the backslash, so that it stays unambiguous) as \xHH; JSON keeps valid UTF-8 as it is and
 * adds the bytes in hex where they are no text. So no sequence from a sensor ever reaches a terminal. */
#pragma once

#include "util/json_writer.h"

#include <stdio.h>

G_BEGIN_DECLS

typedef enum TideOutputFormat {
  TIDE_OUTPUT_TABLE,
  TIDE_OUTPUT_CSV,
  TIDE_OUTPUT_JSON,
} TideOutputFormat;

/* The names in the order of the enum, for TIDE_OPTION_CHOICE. */
extern const char *const tide_output_format_names[];

/* @bytes for people: printable UTF-8 as it is, all else and backslash as \xHH. (transfer full) */
char *tide_text_printable(TideBytes bytes);

/* FAMILY:QUALIFIER for people, likewise. (transfer full) */
char *tide_column_text(TideBytes family, TideBytes qualifier);

/* The same, appended to @out without a NUL. */
void tide_text_append_printable(TideBytes bytes, TideBuffer *out);
void tide_column_append_text(TideBytes family, TideBytes qualifier, TideBuffer *out);

/* Undoes \xHH; other backslashes stay as they are. (transfer none): appended to @out. */
void tide_text_unescape(const char *text, TideBuffer *out);

/* RFC 4180: quoted when the field holds a comma, quote or line break, or begins or ends with a space. */
void tide_csv_append(TideBuffer *out, const char *field);
void tide_csv_quote(TideBuffer *out, gsize begin); /* the same of what stands in @out from @begin on */

/* A JSON string, quotes included. Bytes that are not UTF-8 are written as tide_text_printable() does. */
void tide_json_shown_append(TideBuffer *out, TideBytes bytes);

/* `"name":"…"`, and after it `,"name_hex":"…"`: always, or when @bytes is not UTF-8 text. An item has no hex. */
void tide_json_shown_and_hex(TideBuffer *out, const char *name, TideBytes bytes);
void tide_json_shown(TideBuffer *out, const char *name, TideBytes bytes);

static inline void
tide_json_shown_text(TideBuffer *out, const char *name, const char *text)
{
  tide_json_shown(out, name, tide_bytes_of_string(text));
}

/* Ends the object and its line, prints it, and begins anew. */
void tide_json_print_line(TideBuffer *out, FILE *stream);

/* Columns that @text takes on a terminal. */
gsize tide_text_width(const char *text);

/* What a line for people has at the most: many a terminal is wider, and none is narrower that matters. */
#define TIDE_SCREEN_COLUMNS 100

/* @text with its words filled into lines of TIDE_SCREEN_COLUMNS; each but the first begins with @indent blanks. The
 * first goes on with what stands in @out's last line. Ends without a newline. */
void tide_text_fill(GString *out, const char *text, gsize indent);

/* Says a line on standard error, which ends behind it. What is in its texts from outside, a file's name, a server's
 * answer, neither ends the line nor speaks to the terminal: all goes through tide_log_escape(). */
void tide_say(const char *format, ...) G_GNUC_PRINTF(1, 2);

/* A question likewise, behind which the answer is written. */
void tide_ask(const char *format, ...) G_GNUC_PRINTF(1, 2);

/* Whether to use terminal sequences on @stream: it is a terminal, and neither NO_COLOR nor TERM=dumb says otherwise. */
gboolean tide_colour_wanted(FILE *stream);

/* The sequence that colours @word where it is a verdict ("ok", "PROBLEM", "better not"): green, yellow or red; empty
 * for any other word. */
const char *tide_colour_of(const char *word);
#define TIDE_COLOUR_END "\033[0m"

/* NUL is a character, too. */
gboolean tide_text_is_utf8(TideBytes bytes);

/* Flushes standard output. Returns: TIDE_EXIT_OK, also when a reader such as `head` has what it wanted and went away;
 * else TIDE_EXIT_IO after saying why. */
int tide_output_close(void);

G_END_DECLS
