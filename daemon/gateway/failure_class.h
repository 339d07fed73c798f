/* Classifies the result of a call to a gateway and its consequence for the rows. The gateway names no row, sets
 * `canRetry` for nearly everything (even for a missing table), and old gateways have no such field. Therefore errors
 * are distinguished by their texts, as HBase 2.4, 2.5 and 2.6 write them. Only this file knows these texts.
 *
 * Threads: any; pure functions. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef enum TideOutcome {
  TIDE_OUTCOME_OK,       /* HBase has acknowledged every row: the batches complete */
  TIDE_OUTCOME_NOT_SENT, /* no connection: caused by the gateway, so the lanes do not wait */
  TIDE_OUTCOME_RETRY,    /* answered with a temporary error: the call has ended, rows may be written */
  TIDE_OUTCOME_UNKNOWN, /* no answer, or the gateway got none from a region server: rows may be written, now or later */
  TIDE_OUTCOME_SUSPEND, /* the table accepts no rows until an operator repairs it; no row is the cause */
  TIDE_OUTCOME_POISON,  /* a row of the call cannot be written */
  TIDE_OUTCOME_COUNT,
} TideOutcome;

/* The properties of an outcome. */
typedef struct TideOutcomeKind {
  const char *name;          /* "not_sent": the label of metrics */
  guint rank;                /* a call with several failures has the outcome of highest rank */
  gboolean is_lane_failure;  /* its lane sends less, and later */
  gboolean is_often_passing; /* often the rows are written a moment later: not reported until it persists */
} TideOutcomeKind;

extern const TideOutcomeKind tide_outcomes[TIDE_OUTCOME_COUNT];

/* Placeholder for the table's name in a remedy. */
#define TIDE_REMEDY_TABLE "{table}"

typedef struct TideFailure {
  TideOutcome outcome;
  gboolean is_certain; /* of POISON: the text names a fault of the row; otherwise the gateway may be broken, and the row
                          is only a suspect */
  gboolean is_for_size; /* of POISON that is not certain: the whole call was too large, but parts of it may not be */
  const char *remedy;   /* of SUSPEND, and some of RETRY and UNKNOWN: the operator's remedy, with TIDE_REMEDY_TABLE for
                           the table; static, NULL for others */
} TideFailure;

/**
 * tide_failure_of: the class of a call's error; NULL is OK.
 *
 * A putMultiple with several failures ("Failed 3 actions: A: 2 times, B: 1 time") has the class of its worst member:
 * UNKNOWN before SUSPEND before RETRY before POISON. An unknown error is UNKNOWN, unless the gateway calls it
 * permanent: remembering a call needlessly costs memory, but a forgotten one may overwrite a newer value. No row is
 * blamed while a failure persists that no row caused: a retry finds the poison after the rest has recovered. The class
 * is certain only if all members are.
 */
TideFailure tide_failure_of(const GError *error);

G_END_DECLS
