/* Reads a key back: finds its parts, reads each field and the time, and compares the parts that these would produce. */
#define _GNU_SOURCE /* memmem */
#include "model/key/key_part.h"

/* The length of the field of variable width at the beginning of @rest; 0: there is none. */
static gsize
variable_bytes(const TideRowKey *key, gsize part_index, TideBytes rest)
{
  TideBytes delimiter = tide_key_part_delimiter(&key->parts[part_index]);
  if (delimiter.len == 0) {
    gsize behind = 0; /* later parts have a fixed width: key_check.c */
    for (gsize i = part_index + 1; i < key->n_parts; i++)
      behind += key->parts[i].fixed_bytes;
    return rest.len > behind ? rest.len - behind : 0;
  }
  const guint8 *found = rest.len > 0 ? memmem(rest.data, rest.len, delimiter.data, delimiter.len) : NULL;
  return found != NULL ? (gsize)(found - rest.data) : 0;
}

gboolean
tide_row_key_locate(const TideRowKey *key, TideBytes row, gsize *ret_ends)
{
  gsize at = 0;
  for (gsize i = 0; i < key->n_parts; i++) {
    const TideKeyPart *part = &key->parts[i];
    TideBytes rest = tide_bytes_from(row, at);
    gsize n_bytes = part->fixed_bytes > 0 ? part->fixed_bytes : variable_bytes(key, i, rest);
    if (n_bytes == 0 || n_bytes > rest.len)
      return FALSE;
    if (part->kind == TIDE_KEY_LITERAL && memcmp(rest.data, part->literal.data, n_bytes) != 0)
      return FALSE;
    at += n_bytes;
    ret_ends[i] = at;
  }
  return at == row.len;
}

typedef struct Reader {
  const TideRowKey *key;
  TideBytes row;
  gsize ends[TIDE_ROW_KEY_MAX_PARTS];
  TideKeyMoments moments;
  gboolean is_unresolved[TIDE_ROW_KEY_MAX_PARTS]; /* a time is not known well enough to build the part again */
  gboolean has_unresolved;
  TideDecodedKey *decoded;
} Reader;

static TideBytes
bytes_of_part(const Reader *reader, gsize part_index)
{
  gsize start = part_index > 0 ? reader->ends[part_index - 1] : 0;
  return tide_bytes(reader->row.data + start, reader->ends[part_index] - start);
}

static gboolean
read_fields(Reader *reader)
{
  TideDecodedKey *decoded = reader->decoded;
  TideBuffer *texts = &decoded->texts;
  for (gsize i = 0; i < reader->key->n_parts; i++) {
    const TideKeyPart *part = &reader->key->parts[i];
    gsize start = texts->len;
    if (part->kind != TIDE_KEY_FIELD || !part->value.is_source)
      continue;
    if (!tide_key_field_read(part, bytes_of_part(reader, i), texts))
      return FALSE;
    decoded->fields[decoded->n_fields++] = (TideDecodedField){part->value.field, tide_bytes(NULL, texts->len - start)};
  }
  gsize at = 0; /* from here on, the texts do not move */
  for (gsize i = 0; i < decoded->n_fields; i++) {
    decoded->fields[i].text.data = texts->data + at;
    at += decoded->fields[i].text.len;
  }
  return TRUE;
}

/* Each part narrows the moments. A part that needs another one first, as an hour needs the date, is tried again. */
static gboolean
read_times(Reader *reader)
{
  gboolean is_done[TIDE_ROW_KEY_MAX_PARTS] = {FALSE};
  TideKeyMoments before;
  reader->moments = (TideKeyMoments){0, G_MAXINT64};
  do {
    before = reader->moments;
    for (gsize i = 0; i < reader->key->n_parts; i++) {
      const TideKeyPart *part = &reader->key->parts[i];
      if (part->kind != TIDE_KEY_TIME || is_done[i])
        continue;
      TideKeyNarrowing narrowing = tide_key_time_narrow(part, bytes_of_part(reader, i), &reader->moments);
      if (narrowing == TIDE_KEY_IMPOSSIBLE)
        return FALSE;
      is_done[i] = narrowing == TIDE_KEY_NARROWED;
    }
  } while (before.first_ns != reader->moments.first_ns || before.last_ns != reader->moments.last_ns);
  for (gsize i = 0; i < reader->key->n_parts; i++) {
    reader->is_unresolved[i] = reader->key->parts[i].kind == TIDE_KEY_TIME && !is_done[i];
    reader->has_unresolved |= reader->is_unresolved[i];
  }
  return TRUE;
}

/* The text read for @field; NULL: the key does not contain it. */
static const TideBytes *
read_text(const Reader *reader, TideNameId field)
{
  for (gsize i = 0; i < reader->decoded->n_fields; i++)
    if (reader->decoded->fields[i].field == field)
      return &reader->decoded->fields[i].text;
  return NULL;
}

static gboolean append_again(const Reader *reader, const TideKeyPart *part, TideBuffer *out);

static gboolean
append_digest(const Reader *reader, const TideKeyPart *part, TideBuffer *out)
{
  gsize start = out->len;
  if (part->digest.by_number) {
    const TideKeyPart *input = &part->digest.of[0];
    const TideBytes *text = input->kind == TIDE_KEY_FIELD ? read_text(reader, input->value.field) : NULL;
    guint32 salt;
    if (input->kind == TIDE_KEY_TIME)
      salt = (guint32)(tide_key_time_number(input, reader->moments.first_ns) % part->digest.modulo);
    else if (text == NULL || !tide_key_text_modulo(*text, part->digest.modulo, &salt))
      return FALSE;
    tide_key_part_append_salt(part, salt, out);
    return TRUE;
  }
  for (gsize i = 0; i < part->digest.n_of; i++) {
    if (i > 0)
      tide_buffer_append_byte(out, 0);
    if (!append_again(reader, &part->digest.of[i], out))
      return FALSE;
  }
  tide_key_part_digest(part, start, out);
  return TRUE;
}

/* Appends what @part writes for the decoded fields and time. */
static gboolean
append_again(const Reader *reader, const TideKeyPart *part, TideBuffer *out)
{
  const TideBytes *text;
  switch (part->kind) {
  case TIDE_KEY_LITERAL:
    tide_buffer_append_bytes(out, part->literal);
    return TRUE;
  case TIDE_KEY_FIELD:
    text = read_text(reader, part->value.field);
    return text != NULL && tide_key_field_append(part, *text, out) == NULL;
  case TIDE_KEY_TIME:
    tide_key_time_append(part, reader->moments.first_ns, out);
    return TRUE;
  case TIDE_KEY_HASH:
  case TIDE_KEY_SALT:
    return append_digest(reader, part, out);
  case TIDE_KEY_NAME:
    break;
  }
  return FALSE;
}

/* Whether the decoded fields and time suffice to build the part at @part_index again. */
static gboolean
is_repeatable(const Reader *reader, gsize part_index)
{
  const TideKeyPart *part = &reader->key->parts[part_index];
  switch (part->kind) {
  case TIDE_KEY_LITERAL:
  case TIDE_KEY_NAME:
    return FALSE; /* already compared */
  case TIDE_KEY_FIELD:
    return TRUE;
  case TIDE_KEY_TIME:
    return !reader->is_unresolved[part_index];
  case TIDE_KEY_HASH:
  case TIDE_KEY_SALT:
    return part->digest.is_repeatable && !(reader->has_unresolved && tide_key_part_is_of_time(part));
  }
  return FALSE;
}

/* A key is valid only if the decoded fields and time produce it again: its padding, case and salt are right, and two
 * parts of one field or time agree. */
static gboolean
is_made_again(const Reader *reader)
{
  TideBuffer *again = &reader->decoded->scratch;
  for (gsize i = 0; i < reader->key->n_parts; i++) {
    if (!is_repeatable(reader, i))
      continue;
    tide_buffer_reset(again);
    if (!append_again(reader, &reader->key->parts[i], again) ||
        !tide_bytes_equal(tide_buffer_bytes(again), bytes_of_part(reader, i)))
      return FALSE;
  }
  return TRUE;
}

gboolean
tide_row_key_decode(const TideRowKey *key, TideBytes row, TideDecodedKey *ret_decoded)
{
  Reader reader = {.key = key, .row = row, .decoded = ret_decoded};
  ret_decoded->n_fields = 0;
  ret_decoded->has_time = FALSE;
  tide_buffer_reset(&ret_decoded->texts);
  if (row.len == 0 || row.len > TIDE_ROW_KEY_MAX_BYTES || !tide_row_key_locate(key, row, reader.ends) ||
      !read_fields(&reader) || !read_times(&reader) || !is_made_again(&reader))
    return FALSE;
  /* A time of day without a date narrows the moments, but does not determine the time. */
  gint64 last_ns = reader.moments.last_ns;
  ret_decoded->has_time = reader.moments.first_ns > 0 || last_ns < G_MAXINT64;
  ret_decoded->from_ns = reader.moments.first_ns;
  ret_decoded->to_ns = last_ns == G_MAXINT64 ? last_ns : last_ns + 1;
  return TRUE;
}

void
tide_decoded_key_clear(TideDecodedKey *decoded)
{
  tide_buffer_clear_memory(&decoded->texts);
  tide_buffer_clear_memory(&decoded->scratch);
  decoded->n_fields = 0;
  decoded->has_time = FALSE;
}

gboolean
tide_key_text_read_time(const TideKeyText *text, TideBytes value, gint64 *ret_ns)
{
  TideKeyMoments moments = {0, G_MAXINT64};
  const TideKeyPart *part = &text->parts[0];
  if (text->n_parts != 1 || part->kind != TIDE_KEY_TIME || value.len == 0 || value.len != part->fixed_bytes ||
      tide_key_time_narrow(part, value, &moments) != TIDE_KEY_NARROWED)
    return FALSE;
  *ret_ns = moments.first_ns;
  return TRUE;
}
