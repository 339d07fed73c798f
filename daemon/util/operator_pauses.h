/* The pauses of an operator, of everything, topics or tables, kept in the file `paused` of the state directory, which
 * `tidemark pause` writes and the daemon watches. It survives a restart.
 *
 * Threads: those of a watch say so; the rest any. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef enum TidePauseScope {
  TIDE_SCOPE_EVERYTHING,
  TIDE_SCOPE_TOPIC,
  TIDE_SCOPE_TABLE,
  TIDE_N_SCOPES,
} TidePauseScope;

typedef struct TideOperatorPause {
  TidePauseScope scope;
  char *name;      /* owned: of the topic or table; empty for everything */
  char *reason;    /* owned: as the operator gave it; empty: none */
  gint64 since_ms; /* wall clock */
  gint64 until_ms; /* wall clock; 0: until `tidemark resume` */
} TideOperatorPause;

/* @name, @reason: copied */
TideOperatorPause *tide_operator_pause_new(TidePauseScope scope, const char *name, const char *reason, gint64 since_ms,
                                           gint64 until_ms);
void tide_operator_pause_free(TideOperatorPause *pause);

/* TRUE if @pause is of that topic or table, or of everything. */
gboolean tide_operator_pause_is_of(const TideOperatorPause *pause, TidePauseScope scope, const char *name);

/* "table 'METRIC' is paused since 2026-11-30T01:50:00.000Z until ...: reason". (transfer full) */
char *tide_operator_pause_describe(const TideOperatorPause *pause);

/**
 * tide_operator_pauses_read: read the pauses stored in @directory.
 * Returns: (transfer full) (element-type TideOperatorPause): empty if there is no file. NULL: it cannot be read or
 * was not written by tidemark. Errors: IO, DATA.
 */
GPtrArray *tide_operator_pauses_read(const char *directory, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Replaces the file; without pauses there is none. The daemon's own user may read it. Errors: IO. */
gboolean tide_operator_pauses_write(const char *directory, const GPtrArray *pauses,
                                    GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Removes those whose end has come; FALSE: there are none. */
gboolean tide_operator_pauses_drop_over(GPtrArray *pauses, gint64 now_ms);

/* The pauses that hold now, as the threads of a daemon see them. */
typedef struct TidePauseWatch TidePauseWatch;

/* @directory: copied; NULL: nothing is ever paused */
TidePauseWatch *tide_pause_watch_new(const char *directory);
void tide_pause_watch_free(TidePauseWatch *watch); /* NULL ok */

/* Threads: one. Reads the file if it has changed, and drops pauses whose end has come: TRUE when what is paused differs
 * from before. A file that cannot be read changes nothing while the daemon runs; at its start it pauses everything. */
gboolean tide_pause_watch_update(TidePauseWatch *watch, gint64 now_ms);

/* Threads, of this and those below: any. Differs after each change; 0: the file was not read yet, or @watch is NULL. */
guint tide_pause_watch_generation(const TidePauseWatch *watch);

/* @watch: NULL: nothing is paused */
gboolean tide_pause_watch_has(TidePauseWatch *watch, TidePauseScope scope, const char *name);

/* Those that hold now. (transfer full) (element-type TideOperatorPause) */
GPtrArray *tide_pause_watch_list(TidePauseWatch *watch);

/* "everything", "topic", "table": as status and metrics name them */
extern const char *const tide_pause_scope_names[TIDE_N_SCOPES];

G_END_DECLS
