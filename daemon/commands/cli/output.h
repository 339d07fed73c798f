/* Prints the output of commands on standard output: aligned tables for people, CSV and JSON for programs.
 *
 * Row keys, names and values come from outside and may contain any byte. Tables and CSV show everything except
 * printable text (and the backslash, to be unambiguous) as \xHH; JSON keeps valid UTF-8 and adds the bytes in hex if
 * they are not text. So no sequence from a device ever reaches a terminal. */
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

/* @bytes for people: printable UTF-8 unchanged, everything else and backslash as \xHH. (transfer full) */
char *tide_text_printable(TideBytes bytes);

/* FAMILY:QUALIFIER for people, likewise. (transfer full) */
char *tide_column_text(TideBytes family, TideBytes qualifier);

/* The same, appended to @out without a NUL. */
void tide_text_append_printable(TideBytes bytes, TideBuffer *out);
void tide_column_append_text(TideBytes family, TideBytes qualifier, TideBuffer *out);

/* Decodes \xHH; other backslashes are kept. (transfer none): appended to @out. */
void tide_text_unescape(const char *text, TideBuffer *out);

/* RFC 4180: quoted if the field contains a comma, quote or line break, or begins or ends with a space. */
void tide_csv_append(TideBuffer *out, const char *field);
void tide_csv_quote(TideBuffer *out, gsize begin); /* the same for the text in @out from @begin on */

/* A JSON string, quotes included. Bytes that are not UTF-8 are written as by tide_text_printable(). */
void tide_json_shown_append(TideBuffer *out, TideBytes bytes);

/* `"name":"…"`, and after it `,"name_hex":"…"`: always, or when @bytes is not UTF-8 text. An item has no hex. */
void tide_json_shown_and_hex(TideBuffer *out, const char *name, TideBytes bytes);
void tide_json_shown(TideBuffer *out, const char *name, TideBytes bytes);

static inline void
tide_json_shown_text(TideBuffer *out, const char *name, const char *text)
{
  tide_json_shown(out, name, tide_bytes_of_string(text));
}

/* Ends the object and its line, prints it, and resets @out. */
void tide_json_print_line(TideBuffer *out, FILE *stream);

/* Columns of @text on a terminal. */
gsize tide_text_width(const char *text);

/* Maximum length of a line for people: most terminals are at least this wide. */
#define TIDE_SCREEN_COLUMNS 100

/* Appends @text wrapped to lines of TIDE_SCREEN_COLUMNS; each except the first begins with @indent blanks. The first
 * continues the last line of @out. Ends without a newline. */
void tide_text_fill(GString *out, const char *text, gsize indent);

/* Prints a line on standard error, with a newline. Texts from outside, such as file names or a server's answer, can
 * neither end the line nor control the terminal: everything passes through tide_log_escape(). */
void tide_say(const char *format, ...) G_GNUC_PRINTF(1, 2);

/* Prints a question likewise; the answer is typed after it. */
void tide_ask(const char *format, ...) G_GNUC_PRINTF(1, 2);

/* TRUE if terminal sequences may be used on @stream: it is a terminal, and neither NO_COLOR nor TERM=dumb forbids
 * them. */
gboolean tide_colour_wanted(FILE *stream);

/* The sequence that colours the verdict @word ("ok", "PROBLEM", "better not"): green, yellow or red; empty for any
 * other word. */
const char *tide_colour_of(const char *word);
#define TIDE_COLOUR_END "\033[0m"

/* NUL counts as a valid character. */
gboolean tide_text_is_utf8(TideBytes bytes);

/* Flushes standard output. Returns: TIDE_EXIT_OK, also if the reader, such as `head`, has closed the pipe; otherwise
 * TIDE_EXIT_IO after reporting the reason. */
int tide_output_close(void);

G_END_DECLS
