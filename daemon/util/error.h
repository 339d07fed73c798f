/* The project's only error domain, and functions to classify errors.
 *
 * Rules: a function that can fail returns gboolean or a pointer, has `GError **error` as its last parameter, and is
 * warn-unused. Texts are lower case, without a full stop, with values in single quotes, and name what happened to which
 * object; the caller that logs adds the consequence. Library code does not log: the thread's main function logs
 * once. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef enum TideErrorCode {
  TIDE_ERROR_USAGE,           /* the command line is wrong: exit 64 */
  TIDE_ERROR_CONFIG,          /* the configuration is wrong: exit 78 */
  TIDE_ERROR_DATA,            /* a message, key or value cannot be used */
  TIDE_ERROR_IO,              /* a local file or socket operation failed */
  TIDE_ERROR_CONNECT,         /* no connection was made: nothing was sent */
  TIDE_ERROR_TIMEOUT,         /* a deadline passed after something was sent: outcome unknown */
  TIDE_ERROR_CONNECTION_LOST, /* the peer closed or reset: outcome unknown */
  TIDE_ERROR_SERVER_FAILED,   /* the peer, or a proxy before it, answered that it failed: outcome unknown */
  TIDE_ERROR_PROTOCOL,        /* the peer's bytes violate the protocol: outcome unknown */
  TIDE_ERROR_WRONG_SERVICE,   /* the peer answers, but is another service or protocol */
  TIDE_ERROR_GATEWAY,         /* the gateway answered with TIOError or TIllegalArgument: the call has ended */
  TIDE_ERROR_APPLICATION,     /* the gateway answered with a TApplicationException: the call has ended */
  TIDE_ERROR_NOT_FOUND,       /* the requested table, family or row does not exist */
  TIDE_ERROR_KAFKA,           /* librdkafka reported an error */
  TIDE_ERROR_CANCELLED,       /* the program is stopping */
  TIDE_ERROR_TOO_BIG,         /* a size limit would be exceeded */
  TIDE_ERROR_UNAVAILABLE,     /* a prerequisite of the start is missing: exit 69 */
  TIDE_ERROR_IN_USE,          /* in use by another process: exit 75 */
  TIDE_ERROR_N_CODES,
} TideErrorCode;

#define TIDE_ERROR (tide_error_quark())
GQuark tide_error_quark(void);

/* Sets @error with @code. Returns FALSE, for the caller to return. */
gboolean tide_fail(GError **error, TideErrorCode code, const char *format, ...) G_GNUC_PRINTF(3, 4);

/* TRUE if the call may or may not have been carried out, now or later. */
gboolean tide_error_outcome_unknown(const GError *error);
gboolean tide_error_is_cancelled(const GError *error);

/* @text as a word of a suggested shell command, quoted only if necessary. (transfer full) */
char *tide_shell_word(const char *text);

/* The process's exit code for @error, as documented in tidemark(8). */
int tide_error_exit_code(const GError *error);

/* Exit codes, with the names of sysexits.h that systemd also knows. */
typedef enum TideExit {
  TIDE_EXIT_OK = 0,
  TIDE_EXIT_FINDINGS = 1, /* a comparison or check found differences */
  TIDE_EXIT_USAGE = 64,
  TIDE_EXIT_DATA = 65,
  TIDE_EXIT_UNAVAILABLE = 69,
  TIDE_EXIT_INTERNAL = 70,
  TIDE_EXIT_IO = 74,
  TIDE_EXIT_TEMPFAIL = 75, /* fenced, or the drain deadline passed with work left */
  TIDE_EXIT_PERMISSION = 77,
  TIDE_EXIT_CONFIG = 78,
} TideExit;

G_END_DECLS
