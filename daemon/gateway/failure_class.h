/* How a call to a gateway ended, and what that means for its rows. The gateway names no row, says `canRetry` for nearly
 * everything (also for a missing table), and old ones have no such field: so errors are told apart by their texts, as
 * HBase 2.4, 2.5 and 2.6 write them. This is the only place that knows those texts.
 *
 * Threads: any; pure functions. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef enum TideOutcome {
  TIDE_OUTCOME_OK,       /* HBase has acknowledged every row: the batches complete */
  TIDE_OUTCOME_NOT_SENT, /* no connection: nobody's fault but the gateway's, the lanes do not wait */
  TIDE_OUTCOME_RETRY,    /* answered with an error that passes: the call has ended, rows may be written */
  TIDE_OUTCOME_UNKNOWN,  /* no answer, or the gateway had none of a region server: rows may be written, now or later */
  TIDE_OUTCOME_SUSPEND,  /* the table takes no rows until an operator repairs it; no row is to blame */
  TIDE_OUTCOME_POISON,   /* some row of the call can never be written */
  TIDE_OUTCOME_COUNT,
} TideOutcome;

/* The properties of an outcome. */
typedef struct TideOutcomeKind {
  const char *name;          /* "not_sent": the label of metrics */
  guint rank;                /* a call that failed in several ways is what the highest of them is */
  gboolean is_lane_failure;  /* its lane sends less, and later */
  gboolean is_often_passing; /* the same is often written a moment later: no news before it lasts */
} TideOutcomeKind;

extern const TideOutcomeKind tide_outcomes[TIDE_OUTCOME_COUNT];

/* Stands in a remedy where the name of the table belongs. */
#define TIDE_REMEDY_TABLE "{table}"

typedef struct TideFailure {
  TideOutcome outcome;
  gboolean is_certain;  /* of POISON: the text says what is wrong with a row. Else it may be the gateway that is broken,
                         * and the row is only suspected */
  gboolean is_for_size; /* of POISON that is not certain: the whole call was too large, and part of it may not be */
  const char *remedy; /* of SUSPEND, and some of RETRY and UNKNOWN: what the operator can do, TIDE_REMEDY_TABLE for the
                       * table; static, NULL for others */
} TideFailure;

/**
 * tide_failure_of: the class of a call's error; NULL is OK.
 *
 * A putMultiple that failed in several ways ("Failed 3 actions: A: 2 times, B: 1 time") has the class of its worst
 * member: UNKNOWN before SUSPEND before RETRY before POISON. An unfamiliar error is UNKNOWN, unless the gateway calls
 * it permanent: to remember a call needlessly costs memory, but a forgotten one may overwrite a newer value. While a
 * failure lasts that is no row's fault, no row is blamed: the retry shows the poison once the rest has recovered. The
 * class is certain only if all members are.
 */
TideFailure tide_failure_of(const GError *error);

G_END_DECLS
