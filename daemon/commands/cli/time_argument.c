#include "commands/cli/time_argument.h"

#include "config/option/option_value.h"
#include "model/reading.h"
#include "util/calendar.h"

#include <errno.h>
#include <string.h>

/* The errors of the configuration's parsers do not contain the value, and are configuration errors. */
static gboolean
fail_argument(const char *text, GError *cause, GError **error)
{
  tide_fail(error, TIDE_ERROR_USAGE, "%s, got '%s'", cause->message, text);
  g_error_free(cause);
  return FALSE;
}

gboolean
tide_duration_argument_parse(const char *text, gint64 max_ms, gint64 *ret_ms, GError **error)
{
  GError *cause = NULL;
  return tide_duration_parse(text, 0, max_ms, ret_ms, &cause) || fail_argument(text, cause, error);
}

static gboolean
parse_relative(const char *text, gint64 now_ns, gint64 *ret_ns, GError **error)
{
  gint64 duration_ms = 0;
  if (!tide_duration_argument_parse(text + 1, 0, &duration_ms, error))
    return FALSE;
  gint64 duration_ns = 0, moment_ns = 0;
  gboolean too_far = __builtin_mul_overflow(duration_ms, TIDE_NS_PER_MS, &duration_ns);
  if (text[0] == '-')
    duration_ns = -duration_ns;
  too_far = too_far || __builtin_add_overflow(now_ns, duration_ns, &moment_ns);
  if (too_far)
    return tide_fail(error, TIDE_ERROR_USAGE, "is too far from now, got '%s'", text);
  *ret_ns = moment_ns;
  return TRUE;
}

static gboolean
parse_calendar(const char *text, gint64 *ret_ns, GError **error)
{
  g_autoptr(GError) cause = NULL;
  gint64 epoch_ms = 0;
  if (!tide_epoch_parse(text, &epoch_ms, &cause) || __builtin_mul_overflow(epoch_ms, TIDE_NS_PER_MS, ret_ns))
    return tide_fail(error, TIDE_ERROR_USAGE,
                     "must be now, -15m, epoch milliseconds, 2026-11-21 or 2026-11-21T04:45:00Z, got '%s'", text);
  return TRUE;
}

gboolean
tide_time_argument_parse(const char *text, gint64 now_ns, gint64 *ret_ns, GError **error)
{
  if (strcmp(text, "now") == 0) {
    *ret_ns = now_ns;
    return TRUE;
  }
  if (text[0] == '-' || text[0] == '+')
    return parse_relative(text, now_ns, ret_ns, error);

  gsize n_digits = strspn(text, "0123456789");
  if (n_digits == 0 || text[n_digits] != '\0')
    return parse_calendar(text, ret_ns, error);

  errno = 0;
  gint64 epoch_ms = g_ascii_strtoll(text, NULL, 10);
  if (errno != 0 || __builtin_mul_overflow(epoch_ms, TIDE_NS_PER_MS, ret_ns))
    return tide_fail(error, TIDE_ERROR_USAGE, "is too large for epoch milliseconds, got '%s'", text);
  return TRUE;
}

gboolean
tide_time_option_parse(const char *option, const char *text, gint64 now_ns, gint64 *ret_ns, GError **error)
{
  if (text == NULL || tide_time_argument_parse(text, now_ns, ret_ns, error))
    return TRUE;
  g_prefix_error(error, "'--%s' ", option);
  return FALSE;
}

gboolean
tide_time_option_parse_ms(const char *option, const char *text, gint64 now_ms, gint64 *ret_ms, GError **error)
{
  gint64 ns = 0;
  if (!tide_time_option_parse(option, text, now_ms * TIDE_NS_PER_MS, &ns, error))
    return FALSE;
  if (text != NULL)
    *ret_ms = tide_ns_to_ms(ns) + (ns % TIDE_NS_PER_MS > 0 ? 1 : 0);
  return TRUE;
}

char *
tide_time_text(gint64 epoch_ms)
{
  char text[TIDE_ISO_TIME_BYTES];
  return g_strdup(tide_iso_time_print(epoch_ms, text));
}
