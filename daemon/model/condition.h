/* What a reading must be like for a table to take it, or for a default to apply: one field's presence, value or pattern.
 * Conditions in a list hold all together. */
#pragma once

#include "model/reading.h"

G_BEGIN_DECLS

typedef enum TideConditionKind {
  TIDE_CONDITION_PRESENT, /* the field is there and not null */
  TIDE_CONDITION_ABSENT,  /* it is not there, or null */
  TIDE_CONDITION_EQUALS,  /* its text is one of the values, byte for byte: 1 is not 1.0 */
  TIDE_CONDITION_MATCHES, /* its text matches one of the values, as patterns: glob.h */
} TideConditionKind;

/* Set before start, then read-only. */
typedef struct TideCondition {
  TideConditionKind kind;
  TideNameId field; /* one that the configuration interned */
  TideBytes *values; /* owned, each too; of EQUALS and MATCHES */
  gsize n_values;
  gboolean negated; /* holds when the rest does not; so a field that is absent equals nothing, and "not equals" holds */
} TideCondition;

/* Threads: any. Allocates: nothing. */
gboolean tide_condition_holds(const TideCondition *condition, const TideReading *reading);
gboolean tide_conditions_hold(const TideCondition *conditions, gsize n_conditions, const TideReading *reading);

/* "field 'type' is 'quote' or 'trade'", for descriptions and messages. (transfer full) */
char *tide_condition_describe(const TideCondition *condition, const TideFieldNames *names);

void tide_condition_clear(TideCondition *condition);

G_END_DECLS
