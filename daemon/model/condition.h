/* A requirement on a reading, for a table to accept it or a default to apply: one field's presence, value or pattern.
 * All conditions of a list must hold. */
#pragma once

#include "model/reading.h"

G_BEGIN_DECLS

typedef enum TideConditionKind {
  TIDE_CONDITION_PRESENT, /* the field is present and not null */
  TIDE_CONDITION_ABSENT,  /* it is absent or null */
  TIDE_CONDITION_EQUALS,  /* its text is one of the values, byte for byte: 1 is not 1.0 */
  TIDE_CONDITION_MATCHES, /* its text matches one of the values, as patterns: glob.h */
} TideConditionKind;

/* Set before start, then read-only. */
typedef struct TideCondition {
  TideConditionKind kind;
  TideNameId field;  /* interned by the configuration */
  TideBytes *values; /* owned, and each element; for EQUALS and MATCHES */
  gsize n_values;
  gboolean negated; /* holds if the rest does not; an absent field equals nothing, so "not equals" holds */
} TideCondition;

/* Threads: any. Allocates: nothing. */
gboolean tide_condition_holds(const TideCondition *condition, const TideReading *reading);
gboolean tide_conditions_hold(const TideCondition *conditions, gsize n_conditions, const TideReading *reading);

/* "field 'type' is 'quote' or 'trade'", for descriptions and messages. (transfer full) */
char *tide_condition_describe(const TideCondition *condition, const TideFieldNames *names);

void tide_condition_clear(TideCondition *condition);

G_END_DECLS
