#include "util/error.h"

#include <stdatomic.h>
#include <string.h>

/* As G_DEFINE_QUARK, with an atomic: several threads may be the first, and each finds the same. */
GQuark
tide_error_quark(void)
{
  static _Atomic GQuark known;
  GQuark quark = atomic_load_explicit(&known, memory_order_relaxed);
  if (quark == 0) {
    quark = g_quark_from_static_string("tide-error-quark");
    atomic_store_explicit(&known, quark, memory_order_relaxed);
  }
  return quark;
}

gboolean
tide_fail(GError **error, TideErrorCode code, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  g_propagate_error(error, g_error_new_valist(TIDE_ERROR, (gint)code, format, args));
  va_end(args);
  return FALSE;
}

gboolean
tide_error_outcome_unknown(const GError *error)
{
  return g_error_matches(error, TIDE_ERROR, TIDE_ERROR_TIMEOUT) ||
         g_error_matches(error, TIDE_ERROR, TIDE_ERROR_CONNECTION_LOST) ||
         g_error_matches(error, TIDE_ERROR, TIDE_ERROR_SERVER_FAILED) ||
         g_error_matches(error, TIDE_ERROR, TIDE_ERROR_PROTOCOL) ||
         g_error_matches(error, TIDE_ERROR, TIDE_ERROR_CANCELLED);
}

gboolean
tide_error_is_cancelled(const GError *error)
{
  return g_error_matches(error, TIDE_ERROR, TIDE_ERROR_CANCELLED);
}

char *
tide_shell_word(const char *text)
{
  static const char plain[] = G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS "/.:@_-";
  return text[0] != '\0' && text[strspn(text, plain)] == '\0' ? g_strdup(text) : g_shell_quote(text);
}

int
tide_error_exit_code(const GError *error)
{
  if (error == NULL || error->domain != TIDE_ERROR)
    return TIDE_EXIT_INTERNAL;
  switch ((TideErrorCode)error->code) {
  case TIDE_ERROR_USAGE:
    return TIDE_EXIT_USAGE;
  case TIDE_ERROR_CONFIG:
  case TIDE_ERROR_WRONG_SERVICE:
    return TIDE_EXIT_CONFIG;
  case TIDE_ERROR_DATA:
  case TIDE_ERROR_TOO_BIG:
    return TIDE_EXIT_DATA;
  case TIDE_ERROR_IO:
    return TIDE_EXIT_IO;
  case TIDE_ERROR_CONNECT:
  case TIDE_ERROR_TIMEOUT:
  case TIDE_ERROR_CONNECTION_LOST:
  case TIDE_ERROR_SERVER_FAILED:
  case TIDE_ERROR_PROTOCOL:
  case TIDE_ERROR_GATEWAY:
  case TIDE_ERROR_APPLICATION:
  case TIDE_ERROR_NOT_FOUND:
  case TIDE_ERROR_KAFKA:
  case TIDE_ERROR_UNAVAILABLE:
    return TIDE_EXIT_UNAVAILABLE;
  case TIDE_ERROR_CANCELLED:
  case TIDE_ERROR_IN_USE:
    return TIDE_EXIT_TEMPFAIL;
  }
  return TIDE_EXIT_INTERNAL;
}
