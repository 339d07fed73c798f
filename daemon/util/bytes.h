/* A borrowed run of bytes, and a growable owned one: the types of all functions that process bytes. No NUL is implied
 * anywhere: keys and values may contain any byte. */
#pragma once

#include <glib.h>
#include <string.h>

G_BEGIN_DECLS

/* Borrowed bytes. data may be NULL only when len is 0. */
typedef struct TideBytes {
  const guint8 *data;
  gsize len;
} TideBytes;

#define TIDE_BYTES_EMPTY ((TideBytes){NULL, 0})
#define TIDE_BYTES_LITERAL(s) ((TideBytes){(const guint8 *)("" s), sizeof(s) - 1})

static inline TideBytes
tide_bytes(const void *data, gsize len)
{
  return (TideBytes){(const guint8 *)data, len};
}

static inline TideBytes
tide_bytes_of_string(const char *text)
{
  return (TideBytes){(const guint8 *)text, text != NULL ? strlen(text) : 0};
}

/* The bytes from @at, which is at most the length, to the end. */
static inline TideBytes
tide_bytes_from(TideBytes bytes, gsize at)
{
  return at == 0 ? bytes : tide_bytes(bytes.data + at, bytes.len - at);
}

/* ---- short runs ----
 *
 * Names, keys and values mostly have a few bytes, and a reading has dozens of them: a call of the C library takes
 * longer than the work. Up to TIDE_SHORT_BYTES they are compared and copied here, in whole words that may overlap. */

#define TIDE_SHORT_BYTES 32u

static inline guint64
tide_load_u64(const guint8 *at)
{
  guint64 word;
  memcpy(&word, at, sizeof word);
  return word;
}

static inline guint32
tide_load_u32(const guint8 *at)
{
  guint32 word;
  memcpy(&word, at, sizeof word);
  return word;
}

/* memcmp() == 0, of any length including 0. */
static inline gboolean
tide_memory_equal(const guint8 *a, const guint8 *b, gsize len)
{
  if (len > TIDE_SHORT_BYTES)
    return memcmp(a, b, len) == 0;
  if (len >= sizeof(guint64)) {
    for (gsize i = 0; i < len - sizeof(guint64); i += sizeof(guint64))
      if (tide_load_u64(a + i) != tide_load_u64(b + i))
        return FALSE;
    /* Not returned as a value, for which the loop over a reading's fields has no register. */
    if (tide_load_u64(a + len - sizeof(guint64)) != tide_load_u64(b + len - sizeof(guint64)))
      return FALSE;
    return TRUE;
  }
  if (len >= sizeof(guint32))
    return tide_load_u32(a) == tide_load_u32(b) &&
           tide_load_u32(a + len - sizeof(guint32)) == tide_load_u32(b + len - sizeof(guint32));
  for (gsize i = 0; i < len; i++)
    if (a[i] != b[i])
      return FALSE;
  return TRUE;
}

/* memcpy(), of any length including 0. */
static inline void
tide_memory_copy(guint8 *to, const guint8 *from, gsize len)
{
  if (len > TIDE_SHORT_BYTES)
    memcpy(to, from, len);
  else if (len >= 16) {
    guint8 tail[16]; /* read before anything is written, so that both are plain moves */
    memcpy(tail, from + len - 16, 16);
    memcpy(to, from, 16);
    memcpy(to + len - 16, tail, 16);
  } else if (len >= sizeof(guint64)) {
    guint64 tail = tide_load_u64(from + len - sizeof tail);
    memcpy(to, from, sizeof(guint64));
    memcpy(to + len - sizeof tail, &tail, sizeof tail);
  } else if (len >= sizeof(guint32)) {
    guint32 tail = tide_load_u32(from + len - sizeof tail);
    memcpy(to, from, sizeof(guint32));
    memcpy(to + len - sizeof tail, &tail, sizeof tail);
  } else
    for (gsize i = 0; i < len; i++)
      to[i] = from[i];
}

static inline gboolean
tide_bytes_equal(TideBytes a, TideBytes b)
{
  return a.len == b.len && tide_memory_equal(a.data, b.data, a.len);
}

static inline gboolean
tide_bytes_begin_with(TideBytes bytes, TideBytes prefix)
{
  return bytes.len >= prefix.len && tide_memory_equal(bytes.data, prefix.data, prefix.len);
}

/* @text without the UTF-8 byte order mark that Windows editors add. */
static inline TideBytes
tide_bytes_behind_mark(TideBytes text)
{
  const TideBytes mark = TIDE_BYTES_LITERAL("\xEF\xBB\xBF");
  return tide_bytes_begin_with(text, mark) ? tide_bytes_from(text, mark.len) : text;
}

/* HBase's order: unsigned bytes; a prefix sorts before the longer key. */
int tide_bytes_compare(TideBytes a, TideBytes b);

/**
 * tide_bytes_printable: @bytes as HBase's shell prints them: ASCII unchanged, everything else (and backslash) as \xHH.
 * Safe for logs and terminals. Ownership: (transfer full), g_free.
 */
char *tide_bytes_printable(TideBytes bytes);

/* Lower-case hex. Ownership: (transfer full), g_free. */
char *tide_bytes_hex(TideBytes bytes);

/* Growable owned bytes for reuse: resetting keeps the memory. A zero-initialised buffer is empty and valid. */
typedef struct TideBuffer {
  guint8 *data; /* owned */
  gsize len;
  gsize capacity;
} TideBuffer;

void tide_buffer_clear_memory(TideBuffer *buffer);           /* frees; leaves it empty and valid */
void tide_buffer_grow(TideBuffer *buffer, gsize more_bytes); /* slow path of reserve; doubles */

static inline void
tide_buffer_reset(TideBuffer *buffer)
{
  buffer->len = 0;
}

/* Makes room for @more_bytes past the end; the pointer is valid until the next growth. */
static inline guint8 *
tide_buffer_reserve(TideBuffer *buffer, gsize more_bytes)
{
  if (G_UNLIKELY(buffer->capacity - buffer->len < more_bytes))
    tide_buffer_grow(buffer, more_bytes);
  return buffer->data + buffer->len;
}

static inline void
tide_buffer_append(TideBuffer *buffer, const void *data, gsize len)
{
  if (len == 0)
    return;
  memcpy(tide_buffer_reserve(buffer, len), data, len);
  buffer->len += len;
}

static inline void
tide_buffer_append_bytes(TideBuffer *buffer, TideBytes bytes)
{
  tide_buffer_append(buffer, bytes.data, bytes.len);
}

/* Replaces the content by @bytes, which must not be the buffer's own. */
static inline void
tide_buffer_set(TideBuffer *buffer, TideBytes bytes)
{
  tide_buffer_reset(buffer);
  tide_buffer_append_bytes(buffer, bytes);
}

static inline void
tide_buffer_append_byte(TideBuffer *buffer, guint8 byte)
{
  *tide_buffer_reserve(buffer, 1) = byte;
  buffer->len++;
}

static inline TideBytes
tide_buffer_bytes(const TideBuffer *buffer)
{
  return (TideBytes){buffer->data, buffer->len};
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(TideBuffer, tide_buffer_clear_memory)

/* Appends the digits of tide_bytes_hex() to @out. */
void tide_bytes_append_hex(TideBytes bytes, TideBuffer *out);

/* The inverse of tide_bytes_hex(), also for upper case: appends the bytes of the @len digits at @digits. FALSE, with
 * @out unchanged, if they are not pairs of hex digits; no digits are no bytes. */
gboolean tide_bytes_from_hex(const char *digits, gsize len, TideBuffer *out) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
