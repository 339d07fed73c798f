/* Writes JSON (RFC 8259) straight into a buffer. There is no state beside the text itself: a comma is put in front of a
 * value unless the byte before opens an object or an array, or ends a line, or there is none.
 *
 * @name: of an object's member: written as it is, so it needs no escapes. NULL: an item of an array, or a whole text.
 * Threads: any. Allocates: only by growing @out. */
#pragma once

#include "util/bytes.h"

G_BEGIN_DECLS

/* What every value begins with: the comma that is due, and the name. */
void tide_json_name(TideBuffer *out, const char *name);

void tide_json_bool(TideBuffer *out, const char *name, gboolean value);
void tide_json_number(TideBuffer *out, const char *name, gint64 value);
void tide_json_decimal(TideBuffer *out, const char *name, double value, int n_decimals);
void tide_json_significant(TideBuffer *out, const char *name, double value); /* ten digits: what is little is not 0 */
void tide_json_string(TideBuffer *out, const char *name, TideBytes value);
void tide_json_hex(TideBuffer *out, const char *name, TideBytes value);
void tide_json_base64(TideBuffer *out, const char *name, gboolean has_value, TideBytes value); /* else null */

/**
 * tide_json_string_append: append @text as a JSON string, its quotes included, without a comma.
 * Only what must be escaped is: quotes, backslashes and control characters, those up to U+009F with them. A byte that
 * belongs to no UTF-8 character, for which JSON has no place, is written as U+FFFD.
 */
void tide_json_string_append(TideBuffer *out, TideBytes text);

/* FALSE for what a terminal obeys, a reader does not see, or ends a line: controls, format characters, separators of lines
 * and paragraphs. */
gboolean tide_text_shows(gunichar c);

/* Escapes in all strings of @json, which is right, what tide_text_shows() does not show, too: for what is printed. A data
 * cell keeps it as it came. */
void tide_json_escape_hidden(TideBuffer *json);

/* Whether @text is letters, digits and signs of ASCII alone, none of which has to be escaped: as most texts are. */
static inline gboolean
tide_json_is_plain(TideBytes text)
{
  const guint64 ones = G_GUINT64_CONSTANT(0x0101010101010101), tops = ones << 7;
  guint64 found = 0;
  gsize i = 0;
  for (; text.len - i >= sizeof found; i += sizeof found) {
    /* Eight bytes at a time: the top bit of each that is not plain, and perhaps of others behind one that is not. */
    guint64 word = tide_load_u64(text.data + i);
    guint64 quote = word ^ ones * '"', backslash = word ^ ones * '\\';
    found |= word | (word + ones) | (word - ones * 0x20) | (quote - ones) | (backslash - ones);
  }
  found &= tops;
  for (; i < text.len; i++) {
    guint8 c = text.data[i];
    found |= c < 0x20 || c >= 0x7F || c == '"' || c == '\\' ? 1 : 0;
  }
  return found == 0;
}

static inline void
tide_json_open(TideBuffer *out, const char *name, char bracket)
{
  tide_json_name(out, name);
  tide_buffer_append_byte(out, (guint8)bracket);
}

/* @brackets: those that end it, all at once. */
static inline void
tide_json_close(TideBuffer *out, const char *brackets)
{
  tide_buffer_append_bytes(out, tide_bytes_of_string(brackets));
}

static inline void
tide_json_text(TideBuffer *out, const char *name, const char *value)
{
  tide_json_string(out, name, tide_bytes_of_string(value));
}

/* Which characters are escaped by a letter, as \n: each of these and those before it. */
typedef enum TideJsonLetters {
  TIDE_JSON_QUOTES = 2, /* and the backslash */
  TIDE_JSON_LINES = 4,  /* and the tab */
  TIDE_JSON_ALL_LETTERS = 7,
} TideJsonLetters;

#define TIDE_JSON_ESCAPE_BYTES 13 /* two halves of a pair, and the NUL that printf puts after them */

/* The escape of @c, which is not terminated: by a letter or, as UTF-16 has it, by one or two numbers. Returns: its
 * length. */
gsize tide_json_escape(gunichar c, TideJsonLetters letters, char form[TIDE_JSON_ESCAPE_BYTES]);

G_END_DECLS
