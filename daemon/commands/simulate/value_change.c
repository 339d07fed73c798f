#include "commands/simulate/value_change.h"

#include "model/time/time_text.h"

#define NS_PER_S G_GINT64_CONSTANT(1000000000)

#include <math.h>

void
tide_value_change_clear(TideValueChange *change)
{
  tide_buffer_clear_memory(&change->path);
  tide_buffer_clear_memory(&change->text);
}

#ifdef TIDE_WITHOUT_PROTOBUF
gboolean
tide_protobuf_change(TideValueChange *change, const TideDecodeOptions *options, TideBytes message, TideBuffer *out)
{
  return FALSE;
}
#endif

gboolean
tide_value_change_message(TideValueChange *change, const TideDecodeOptions *options, TideBytes message, TideBuffer *out)
{
#define CHANGE_OF(word, value, name) [value] = tide_##name##_change,
  static gboolean (*const changes[TIDE_N_FORMATS])(TideValueChange *, const TideDecodeOptions *, TideBytes,
                                                   TideBuffer *) = {TIDE_FORMATS_OF_BYTES(CHANGE_OF)};
  tide_buffer_reset(&change->path);
  /* In a text format, values are found by their bytes. */
  return changes[options->format] != NULL && changes[options->format](change, options, message, out);
}

/* ---- names ---- */

gsize
tide_value_change_enter(TideValueChange *change, TideBytes name)
{
  gsize outer = change->path.len;
  if (outer > 0)
    tide_buffer_append(&change->path, change->separator, strlen(change->separator));
  tide_buffer_append_bytes(&change->path, name);
  return outer;
}

gsize
tide_value_change_enter_element(TideValueChange *change, guint64 index)
{
  char text[24];
  gsize len = (gsize)g_snprintf(text, sizeof text, "%" G_GUINT64_FORMAT, index);
  return tide_value_change_enter(change, tide_bytes(text, len));
}

void
tide_value_change_leave(TideValueChange *change, gsize outer)
{
  change->path.len = outer;
}

/* ---- values ---- */

/* The new text, which ends with a NUL; NULL: the old one is kept. */
static const char *
ask(TideValueChange *change, TideValueKind kind, TideBytes text)
{
  tide_buffer_reset(&change->text);
  if (!change->ask(tide_buffer_bytes(&change->path), kind, text, &change->text, change->data))
    return NULL;
  tide_buffer_append_byte(&change->text, '\0');
  return (const char *)change->text.data;
}

gboolean
tide_value_change_text(TideValueChange *change, TideBytes *text)
{
  if (ask(change, TIDE_VALUE_STRING, *text) == NULL)
    return FALSE;
  *text = tide_bytes(change->text.data, change->text.len - 1);
  return TRUE;
}

gboolean
tide_value_change_integer(TideValueChange *change, gint64 *value, guint32 scale, gint64 min, gint64 max)
{
  char old[64];
  gint64 unit = 1, made;
  for (guint32 i = 0; i < scale; i++)
    unit *= 10;
  if (scale > 0 && *value < 0)
    return FALSE;
  gsize len = scale == 0 ? (gsize)g_snprintf(old, sizeof old, "%" G_GINT64_FORMAT, *value)
                         : (gsize)g_snprintf(old, sizeof old, "%" G_GINT64_FORMAT ".%0*" G_GINT64_FORMAT, *value / unit,
                                             (int)scale, *value % unit);
  const char *text = ask(change, TIDE_VALUE_NUMBER, tide_bytes(old, len));
  if (text == NULL)
    return FALSE;
  const char *point = strchr(text, '.');
  g_autoptr(GString) digits = g_string_new_len(text, point != NULL ? point - text : (gssize)strlen(text));
  for (guint32 i = 0; i < scale; i++) {
    point = point != NULL && point[1] != '\0' ? point + 1 : NULL;
    g_string_append_c(digits, point != NULL ? *point : '0');
  }
  if (!g_ascii_string_to_signed(digits->str, 10, min, max, &made, NULL))
    return FALSE;
  *value = made;
  return TRUE;
}

gboolean
tide_value_change_local_time(TideValueChange *change, gint64 *value, guint32 scale)
{
  TideTimeElements shown;
  const char *detail, *text = ask(change, TIDE_VALUE_STRING, TIDE_BYTES_EMPTY);
  gint64 unit_ns = NS_PER_S;
  if (text == NULL || !tide_time_text_read_rfc3339(tide_bytes_of_string(text), &shown, &detail))
    return FALSE;
  for (guint32 i = 0; i < scale; i++)
    unit_ns /= 10;
  *value = tide_time_elements_local_s(&shown) * (NS_PER_S / unit_ns) + shown.values[TIDE_LEVEL_FRACTION] / unit_ns;
  return TRUE;
}

gboolean
tide_value_change_double(TideValueChange *change, double *value)
{
  char old[G_ASCII_DTOSTR_BUF_SIZE];
  /* As many digits as a measurement has: a number with all digits would not change. */
  const char *text = isfinite(*value) ? g_ascii_formatd(old, sizeof old, "%.10g", *value) : NULL;
  text = text != NULL ? ask(change, TIDE_VALUE_NUMBER, tide_bytes_of_string(text)) : NULL;
  if (text == NULL)
    return FALSE;
  *value = g_ascii_strtod(text, NULL);
  return TRUE;
}
