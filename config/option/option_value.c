#include "config/option/option_value.h"

#include "util/calendar.h"
#include "util/error.h"

#include <string.h>

typedef struct Unit {
  const char *name;
  guint64 factor;
} Unit;

/* The largest unit first: output uses the first one that divides the value. */
static const Unit duration_units[] = {
    {"d", 86400000}, {"h", 3600000}, {"m", 60000}, {"s", 1000}, {"ms", 1},
};
static const Unit size_units[] = {
    {"GiB", 1024u * 1024 * 1024},
    {"MiB", 1024u * 1024},
    {"KiB", 1024},
    {"", 1},
};

/* Reads the leading digits of @text; @ret_rest points after them. FALSE if there are none or they overflow. */
static gboolean
read_digits(const char *text, guint64 *ret_number, const char **ret_rest)
{
  guint64 number = 0;
  const char *at = text;

  for (; g_ascii_isdigit(*at); at++) {
    if (__builtin_mul_overflow(number, 10u, &number) || __builtin_add_overflow(number, (guint64)(*at - '0'), &number))
      return FALSE;
  }
  *ret_number = number;
  *ret_rest = at;
  return at != text;
}

/* Multiplies the number by the unit that follows it; FALSE if the unit is not one of @units, or the result
 * overflows. */
static gboolean
read_with_unit(const char *text, const Unit *units, gsize n_units, guint64 *ret_value)
{
  guint64 number = 0;
  const char *unit = NULL;

  if (!read_digits(text, &number, &unit))
    return FALSE;
  while (*unit == ' ')
    unit++;
  for (gsize i = 0; i < n_units; i++) {
    if (strcmp(unit, units[i].name) == 0)
      return !__builtin_mul_overflow(number, units[i].factor, ret_value);
  }
  return FALSE;
}

static char *
format_with_unit(guint64 value, const Unit *units, gsize n_units)
{
  for (gsize i = 0; i < n_units; i++) {
    if (value != 0 && value % units[i].factor == 0)
      return g_strdup_printf("%" G_GUINT64_FORMAT "%s", value / units[i].factor, units[i].name);
  }
  return NULL;
}

/* Longer durations are seldom written in seconds. */
#define LONG_MS (365 * G_GINT64_CONSTANT(86400000))

/* Names the two units that a number without a unit probably means, the likelier one first. Candidates are the largest
 * unit that fits into the default more than once, and the next smaller one. The smaller one is likelier if the number
 * reaches the default in it. */
static gboolean
fail_without_unit(const char *text, guint64 number, gint64 default_ms, gint64 max_ms, GError **error)
{
  gsize larger = default_ms == 0 && max_ms > LONG_MS ? 0 : G_N_ELEMENTS(duration_units) - 2;

  while (larger > 0 && (guint64)default_ms > duration_units[larger - 1].factor)
    larger--;
  const Unit *units = &duration_units[larger];
  gboolean is_smaller =
      default_ms != 0 && ((guint64)default_ms < units[0].factor || number >= (guint64)default_ms / units[1].factor);
  return tide_fail(error, TIDE_ERROR_CONFIG, "must have a unit (ms, s, m, h, d): '%s%s' or '%s%s'", text,
                   units[is_smaller ? 1 : 0].name, text, units[is_smaller ? 0 : 1].name);
}

gboolean
tide_duration_parse(const char *text, gint64 default_ms, gint64 max_ms, gint64 *ret_ms, GError **error)
{
  guint64 value = 0;
  guint64 number = 0;
  const char *rest = NULL;

  if (read_digits(text, &number, &rest) && *rest == '\0')
    return fail_without_unit(text, number, default_ms, max_ms, error);
  if (!read_with_unit(text, duration_units, G_N_ELEMENTS(duration_units), &value) || value > G_MAXINT64)
    return tide_fail(error, TIDE_ERROR_CONFIG, "must be a duration such as '500ms', '10s', '5m', '1h' or '30d'");
  *ret_ms = (gint64)value;
  return TRUE;
}

char *
tide_duration_format(gint64 duration_ms)
{
  char *text = format_with_unit((guint64)duration_ms, duration_units, G_N_ELEMENTS(duration_units));

  return text != NULL ? text : g_strdup("0s");
}

/* The size with the unit that "32MB", "200k" or "1mib" probably means. (transfer full); NULL: it is not a size */
static char *
nearest_size(const char *text)
{
  guint64 number = 0;
  const char *unit = NULL;

  if (!read_digits(text, &number, &unit))
    return NULL;
  while (*unit == ' ')
    unit++;
  for (gsize i = 0; i + 1 < G_N_ELEMENTS(size_units); i++) { /* the last has no letter */
    const char *name = size_units[i].name;
    const char letter[] = {name[0], '\0'}, decimal[] = {name[0], 'B', '\0'};
    gboolean is_other_case = strcmp(unit, name) != 0 && g_ascii_strcasecmp(unit, name) == 0;
    if (is_other_case || g_ascii_strcasecmp(unit, letter) == 0 || g_ascii_strcasecmp(unit, decimal) == 0)
      return g_strdup_printf("%" G_GUINT64_FORMAT "%s", number, name);
  }
  return NULL;
}

gboolean
tide_size_parse(const char *text, guint64 *ret_bytes, GError **error)
{
  if (read_with_unit(text, size_units, G_N_ELEMENTS(size_units), ret_bytes))
    return TRUE;
  g_autofree char *meant = nearest_size(text);
  if (meant != NULL)
    return tide_fail(error, TIDE_ERROR_CONFIG, "must have one of the units KiB, MiB and GiB: '%s'", meant);
  return tide_fail(error, TIDE_ERROR_CONFIG, "must be a size such as '64KiB', '1MiB', '2GiB', or a number of bytes");
}

char *
tide_size_format(guint64 size_bytes)
{
  char *text = format_with_unit(size_bytes, size_units, G_N_ELEMENTS(size_units));

  return text != NULL ? text : g_strdup("0");
}

gboolean
tide_number_parse(const char *text, guint64 *ret_number, GError **error)
{
  const char *rest = NULL;

  if (read_digits(text, ret_number, &rest) && *rest == '\0')
    return TRUE;
  return tide_fail(error, TIDE_ERROR_CONFIG, "must be a whole number");
}

static GDateTime *
read_date_time(const char *text)
{
  /* The shortest full time is "2026-01-01T00:00:00Z". GLib would also accept forms without hyphens, week dates and
   * times without a zone, whose meaning depends on the machine. */
  if (strlen(text) < 10 || text[4] != '-' || text[7] != '-' || !g_ascii_isdigit(text[9]))
    return NULL;
  if (text[10] != '\0')
    return strlen(text) >= 20 ? g_date_time_new_from_iso8601(text, NULL) : NULL;
  g_autofree char *start_of_day = g_strconcat(text, "T00:00:00Z", NULL);
  return g_date_time_new_from_iso8601(start_of_day, NULL);
}

gboolean
tide_epoch_parse(const char *text, gint64 *ret_epoch_ms, GError **error)
{
  g_autoptr(GDateTime) time = read_date_time(text);

  if (time == NULL)
    return tide_fail(error, TIDE_ERROR_CONFIG,
                     "must be a date, or a time with a zone, such as '2026-01-01' or '2026-01-01T00:00:00Z'");
  *ret_epoch_ms = g_date_time_to_unix(time) * 1000 + g_date_time_get_microsecond(time) / 1000;
  return TRUE;
}

char *
tide_epoch_format(gint64 epoch_ms)
{
  char text[TIDE_ISO_TIME_BYTES];
  tide_iso_time_print(epoch_ms, text);
  if (g_str_has_suffix(text, "T00:00:00.000Z"))
    return g_strndup(text, strlen("2026-11-21"));
  if (g_str_has_suffix(text, ".000Z"))
    return g_strdup_printf("%.*sZ", (int)strlen("2026-11-21T04:45:00"), text);
  return g_strdup(text);
}
