#include "util/units.h"

#include <string.h>

char *
tide_age_text(gint64 age_ms)
{
  static const struct {
    gint64 ms;
    const char *name;
  } units[] = {{24 * 3600 * 1000, "d"}, {3600 * 1000, "h"}, {60 * 1000, "min"}, {1000, "s"}};

  if (age_ms < 0) {
    g_autofree char *ahead = tide_age_text(age_ms == G_MININT64 ? G_MAXINT64 : -age_ms);
    return g_strdup_printf("in %s", ahead);
  }
  if (age_ms < 1000)
    return g_strdup_printf("%d ms", (int)age_ms);
  if (age_ms < 60 * 1000)
    return g_strdup_printf("%d.%d s", (int)(age_ms / 1000), (int)(age_ms % 1000 / 100));
  gsize i = 0;
  while (age_ms < units[i].ms)
    i++;
  return g_strdup_printf("%" G_GINT64_FORMAT " %s %" G_GINT64_FORMAT " %s", age_ms / units[i].ms, units[i].name,
                         age_ms % units[i].ms / units[i + 1].ms, units[i + 1].name);
}

char *
tide_count_text(guint64 count)
{
  g_autofree char *digits = g_strdup_printf("%" G_GUINT64_FORMAT, count);
  gsize n_digits = strlen(digits);
  GString *text = g_string_sized_new(n_digits + n_digits / 3 + 1);
  for (gsize i = 0; i < n_digits; i++) {
    if (i > 0 && (n_digits - i) % 3 == 0)
      g_string_append_c(text, ',');
    g_string_append_c(text, digits[i]);
  }
  return g_string_free(text, FALSE);
}

char *
tide_count_of(guint64 count, const char *one, const char *more)
{
  g_autofree char *number = tide_count_text(count);
  if (count != 1 && more != NULL)
    return g_strdup_printf("%s %s", number, more);
  return g_strdup_printf("%s %s%s", number, one, count == 1 ? "" : "s");
}

double
tide_size_in_unit(double bytes, const char **ret_unit)
{
  static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  guint unit = 0;
  for (; bytes >= 1024 && unit + 1 < G_N_ELEMENTS(units); unit++)
    bytes /= 1024;
  *ret_unit = units[unit];
  return bytes;
}

char *
tide_size_text(double bytes)
{
  const char *unit;
  double size = tide_size_in_unit(bytes, &unit);
  return g_strdup_printf(bytes < 1024 || size >= 100 ? "%.0f %s" : "%.1f %s", size, unit);
}
