#include "model/table/cell_value.h"

#include "util/json_writer.h"

#include <math.h>

/* Longer ones are no sensor's: a double has at most 17 digits that count, and 308 before the point. */
#define NUMBER_MAX_BYTES 400u

static void
append_big_endian(TideBuffer *out, guint64 bits)
{
  guint64 value = GUINT64_TO_BE(bits);
  tide_buffer_append(out, &value, sizeof value);
}

static gboolean
read_int64(TideBytes text, gint64 *ret_value)
{
  gboolean is_negative = text.len > 0 && text.data[0] == '-';
  gint64 value = 0; /* negative while it grows: there is one more of those */
  gsize first = is_negative ? 1 : 0;
  if (text.len == first)
    return FALSE;
  for (gsize i = first; i < text.len; i++) {
    if (!g_ascii_isdigit(text.data[i]) || __builtin_mul_overflow(value, 10, &value) ||
        __builtin_sub_overflow(value, text.data[i] - '0', &value))
      return FALSE;
  }
  if (!is_negative && value == G_MININT64)
    return FALSE;
  *ret_value = is_negative ? value : -value;
  return TRUE;
}

/* Only what a decimal number is made of, so that strtod() sees neither hex nor names of infinities. */
static gboolean
looks_like_number(TideBytes text)
{
  gsize first = text.len > 0 && text.data[0] == '-' ? 1 : 0;
  if (text.len == first || text.len > NUMBER_MAX_BYTES || !g_ascii_isdigit(text.data[first]))
    return FALSE;
  for (gsize i = first; i < text.len; i++)
    if (!g_ascii_isdigit(text.data[i]) && memchr(".eE+-", text.data[i], 5) == NULL)
      return FALSE;
  return TRUE;
}

static gboolean
read_float64(TideBytes text, double *ret_value)
{
  char terminated[NUMBER_MAX_BYTES + 1];
  char *end;
  if (!looks_like_number(text))
    return FALSE;
  memcpy(terminated, text.data, text.len);
  terminated[text.len] = '\0';
  *ret_value = g_ascii_strtod(terminated, &end);
  return *end == '\0' && isfinite(*ret_value);
}

static gboolean
append_int64(TideBytes text, TideBuffer *out, const char **ret_detail)
{
  gint64 value;
  *ret_detail = "not an integer of 64 bits";
  if (!read_int64(text, &value))
    return FALSE;
  append_big_endian(out, (guint64)value);
  return TRUE;
}

static gboolean
append_float64(TideBytes text, TideBuffer *out, const char **ret_detail)
{
  double value;
  guint64 bits;
  *ret_detail = "not a finite number";
  if (!read_float64(text, &value))
    return FALSE;
  memcpy(&bits, &value, sizeof bits);
  append_big_endian(out, bits);
  return TRUE;
}

static void
append_json(const TideField *field, TideBuffer *out)
{
  if (field->kind == TIDE_VALUE_STRING)
    tide_json_string_append(out, field->text);
  else
    tide_buffer_append_bytes(out, field->text);
}

gboolean
tide_cell_value_append(TideEncoding encoding, const TideField *field, TideBuffer *out, const char **ret_detail)
{
  switch (encoding) {
  case TIDE_ENCODE_TEXT:
    tide_buffer_append_bytes(out, field->text);
    return TRUE;
  case TIDE_ENCODE_INT64:
    return append_int64(field->text, out, ret_detail);
  case TIDE_ENCODE_FLOAT64:
    return append_float64(field->text, out, ret_detail);
  case TIDE_ENCODE_JSON:
    append_json(field, out);
    return TRUE;
  }
  g_assert_not_reached();
}
