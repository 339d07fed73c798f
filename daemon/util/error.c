#include "util/error.h"

#include <stdatomic.h>
#include <string.h>

/* Properties of each error, in the order of TideErrorCode. */
static const struct {
  TideExit exit;            /* of a command that ends with it */
  gboolean outcome_unknown; /* of the failed call */
} codes[] = {
    [TIDE_ERROR_USAGE] = {TIDE_EXIT_USAGE, FALSE},
    [TIDE_ERROR_CONFIG] = {TIDE_EXIT_CONFIG, FALSE},
    [TIDE_ERROR_DATA] = {TIDE_EXIT_DATA, FALSE},
    [TIDE_ERROR_IO] = {TIDE_EXIT_IO, FALSE},
    [TIDE_ERROR_CONNECT] = {TIDE_EXIT_UNAVAILABLE, FALSE},
    [TIDE_ERROR_TIMEOUT] = {TIDE_EXIT_UNAVAILABLE, TRUE},
    [TIDE_ERROR_CONNECTION_LOST] = {TIDE_EXIT_UNAVAILABLE, TRUE},
    [TIDE_ERROR_SERVER_FAILED] = {TIDE_EXIT_UNAVAILABLE, TRUE},
    [TIDE_ERROR_PROTOCOL] = {TIDE_EXIT_UNAVAILABLE, TRUE},
    [TIDE_ERROR_WRONG_SERVICE] = {TIDE_EXIT_CONFIG, FALSE},
    [TIDE_ERROR_GATEWAY] = {TIDE_EXIT_UNAVAILABLE, FALSE},
    [TIDE_ERROR_APPLICATION] = {TIDE_EXIT_UNAVAILABLE, FALSE},
    [TIDE_ERROR_NOT_FOUND] = {TIDE_EXIT_UNAVAILABLE, FALSE},
    [TIDE_ERROR_KAFKA] = {TIDE_EXIT_UNAVAILABLE, FALSE},
    [TIDE_ERROR_CANCELLED] = {TIDE_EXIT_TEMPFAIL, TRUE},
    [TIDE_ERROR_TOO_BIG] = {TIDE_EXIT_DATA, FALSE},
    [TIDE_ERROR_UNAVAILABLE] = {TIDE_EXIT_UNAVAILABLE, FALSE},
    [TIDE_ERROR_IN_USE] = {TIDE_EXIT_TEMPFAIL, FALSE},
};
G_STATIC_ASSERT(G_N_ELEMENTS(codes) == TIDE_ERROR_N_CODES);

/* As G_DEFINE_QUARK, but atomic: several threads may call it first, and all find the same quark. */
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
  return error != NULL && error->domain == TIDE_ERROR && codes[error->code].outcome_unknown;
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
  return error != NULL && error->domain == TIDE_ERROR ? (int)codes[error->code].exit : TIDE_EXIT_INTERNAL;
}
