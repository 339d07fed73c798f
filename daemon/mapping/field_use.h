/* Records the use of the readings' fields: which ones a column, key or condition uses, which ones no table uses, which
 * ones were always null, and which configured ones are missing, for example misspelt.
 *
 * Threads: one at a time. */
#pragma once

#include "mapping/mapping.h"

G_BEGIN_DECLS

/* Zero-initialised: empty. */
typedef struct TideFieldUse {
  GByteArray *marks; /* owned; by name */
  guint32 n_known;   /* names used by the configuration */
  guint64 n_readings;
} TideFieldUse;

typedef enum TideFieldsKind {
  TIDE_FIELDS_TAKEN,
  TIDE_FIELDS_LEFT,   /* no table uses them */
  TIDE_FIELDS_NULL,   /* always */
  TIDE_FIELDS_ABSENT, /* configured, but in no reading */
  TIDE_FIELDS_N_KINDS,
} TideFieldsKind;

void tide_field_use_clear(TideFieldUse *use);

/* Notes the @n_readings readings of the last message that @mapping mapped. */
void tide_field_use_note(TideFieldUse *use, TideMapping *mapping, guint32 n_readings);

/* Suggests a name for the missing field @name: "did you mean 'measured_at'?". @n_known: number of @names that the
 * configuration uses; the others come from readings. NULL: none is similar. (transfer full) */
char *tide_field_meant(const TideFieldNames *names, guint32 n_known, TideBytes name);

/* The names of @kind, in order of appearance, printable and joined by commas: the first few, and the number of others.
 * Missing fields have suggestions. NULL: none. (transfer full) */
char *tide_field_use_names(const TideFieldUse *use, const TideMapping *mapping, TideFieldsKind kind);

G_END_DECLS
