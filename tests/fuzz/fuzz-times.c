/* A pattern and a text out of any bytes. Whatever compiles must keep its word: what it prints it reads again, as the
 * same time, and what it reads names no more than it does. Every form, and every number, takes any text. */
#include "model/time/time_forms.h"

#include <string.h>

#define MAX_PATTERN_BYTES 64
#define NS_PER_S G_GINT64_CONSTANT(1000000000)

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size);

/* @ns as the pattern shows it in UTC leads back to it, as far as the pattern is fine enough. */
static void
check_printed(const TideTimePattern *pattern, gint64 ns)
{
  g_auto(TideBuffer) out = {0};
  TideTimeElements elements;
  const char *detail = NULL;
  tide_time_pattern_print(pattern, NULL, ns, &out);
  g_assert_cmpuint(out.len, <=, pattern->longest_bytes);
  g_assert_true(tide_time_pattern_read(pattern, tide_buffer_bytes(&out), &elements, &detail));
  gint64 read_ns = tide_time_elements_local_s(&elements) * NS_PER_S + elements.values[TIDE_LEVEL_FRACTION];
  if (!(elements.named & TIDE_NAMES_DATE))
    ns %= 86400 * NS_PER_S;
  g_assert_cmpint(read_ns, ==, ns - ns % tide_time_pattern_resolution_ns(pattern));
}

int
LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
  const guint8 *end = memchr(data, '\0', size);
  gsize pattern_len = end != NULL ? (gsize)(end - data) : size;
  if (pattern_len > MAX_PATTERN_BYTES || pattern_len == size)
    return 0;
  g_autofree char *text = g_strndup((const char *)data, pattern_len);
  TideBytes rest = tide_bytes(end + 1, size - pattern_len - 1);
  g_autoptr(TideTimePattern) pattern = tide_time_pattern_compile(text, TIDE_PATTERN_TEXT, NULL);
  TideTimeElements elements;
  const char *detail = NULL;
  gint64 ns = 0;
  gboolean flag;
  if (pattern != NULL) {
    guint32 seconds = 0;
    memcpy(&seconds, rest.data, MIN(rest.len, sizeof seconds));
    check_printed(pattern, (946684800 + (gint64)(seconds & G_MAXINT32)) * NS_PER_S + seconds % 1000000000);
    if (tide_time_pattern_read(pattern, rest, &elements, &detail))
      g_assert_true((elements.named & ~pattern->named) == 0 && (pattern->always_named & ~elements.named) == 0);
    else
      g_assert_nonnull(detail);
  }
  for (TideTimeFormat format = 0; format < TIDE_TIME_N_FORMATS; format++)
    if (tide_time_format_is_count(format) &&
        tide_time_text_read_count(rest, format, &ns, &flag, &detail) == TIDE_TIME_FAULT_NONE && ns >= 0) {
      g_auto(TideBuffer) out = {0};
      tide_time_text_print_count(format, ns, FALSE, &out);
    }
  for (guint i = 0; tide_time_form_at(i) != NULL; i++)
    (void)!tide_time_form_read(i, rest, &ns, &flag);
  g_free(tide_time_forms_remedy(rest, 0));
  return 0;
}
