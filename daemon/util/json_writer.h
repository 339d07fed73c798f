/* Writes JSON (RFC 8259) directly into a buffer. The text itself is the only state: a value gets a preceding comma
 * unless the byte before opens an object or an array, ends a line, or does not exist.
 *
 * @name: of an object's member: written unchanged, so it must need no escapes. NULL: an item of an array, or a whole
 * text.
 * Threads: any. Allocates: only by growing @out. */
#pragma once

#include "util/bytes.h"

G_BEGIN_DECLS

/* Starts a value: writes the comma if needed, and the name. */
void tide_json_name(TideBuffer *out, const char *name);

void tide_json_bool(TideBuffer *out, const char *name, gboolean value);
void tide_json_number(TideBuffer *out, const char *name, gint64 value);
void tide_json_decimal(TideBuffer *out, const char *name, double value, int n_decimals);
void tide_json_significant(TideBuffer *out, const char *name, double value); /* ten significant digits: small numbers do
                                                                              * not become 0 */
void tide_json_string(TideBuffer *out, const char *name, TideBytes value);
void tide_json_hex(TideBuffer *out, const char *name, TideBytes value);
void tide_json_base64(TideBuffer *out, const char *name, gboolean has_value, TideBytes value); /* without a value,
                                                                                                * null */

/**
 * tide_json_string_append: append @text as a JSON string including its quotes, without a comma. Escapes only quotes,
 * backslashes and control characters, including those up to U+009F. A byte that is not valid UTF-8, which JSON cannot
 * contain, becomes U+FFFD.
 */
void tide_json_string_append(TideBuffer *out, TideBytes text);

/* FALSE for characters that control a terminal, are invisible, or end a line: controls, format characters, line and
 * paragraph separators. */
gboolean tide_text_shows(gunichar c);

/* Escapes characters that tide_text_shows() rejects in all strings of the valid @json: for printed output. Data cells
 * keep the original. */
void tide_json_escape_hidden(TideBuffer *json);

/* TRUE if @text consists of printable ASCII without characters to escape, as most texts do. */
static inline gboolean
tide_json_is_plain(TideBytes text)
{
  const guint64 ones = G_GUINT64_CONSTANT(0x0101010101010101), tops = ones << 7;
  guint64 found = 0;
  gsize i = 0;
  for (; text.len - i >= sizeof found; i += sizeof found) {
    /* Eight bytes at a time: sets the top bit of each byte that is not plain, and perhaps of bytes after it. */
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

/* @brackets: all closing brackets at once. */
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

/* The characters that are escaped by a letter, such as \n: each level includes those before it. */
typedef enum TideJsonLetters {
  TIDE_JSON_QUOTES = 2, /* and the backslash */
  TIDE_JSON_LINES = 4,  /* and the tab */
  TIDE_JSON_ALL_LETTERS = 7,
} TideJsonLetters;

#define TIDE_JSON_ESCAPE_BYTES 13 /* two halves of a pair, and printf's NUL */

/* The escape of @c, not terminated: a letter, or one or two UTF-16 code units as numbers. Returns: its length. */
gsize tide_json_escape(gunichar c, TideJsonLetters letters, char form[TIDE_JSON_ESCAPE_BYTES]);

G_END_DECLS
