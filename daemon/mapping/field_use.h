/* What becomes of the fields of readings: which are taken, by a column, a key or a condition, which no table takes, which were
 * null, and which the configuration asks for in vain, as one does that is misspelt.
 *
 * Threads: one at a time. */
#pragma once

#include "mapping/mapping.h"

G_BEGIN_DECLS

/* Zero-initialised is empty. */
typedef struct TideFieldUse {
  GByteArray *marks; /* owned; by name */
  guint32 n_known;   /* names that the configuration uses */
  guint64 n_readings;
} TideFieldUse;

typedef enum TideFieldsKind {
  TIDE_FIELDS_TAKEN,
  TIDE_FIELDS_LEFT, /* no table takes them */
  TIDE_FIELDS_NULL, /* always */
  TIDE_FIELDS_ABSENT, /* asked for, and in no reading */
  TIDE_FIELDS_N_KINDS,
} TideFieldsKind;

void tide_field_use_clear(TideFieldUse *use);

/* Notes the readings of the message that @mapping mapped last, @n_readings of them. */
void tide_field_use_note(TideFieldUse *use, TideMapping *mapping, guint32 n_readings);

/* Of @name, which the configuration asks for in vain: "did you mean 'measured_at'?". @n_known: how many of @names the
 * configuration uses; the others were met in readings. NULL: none of these is near. (transfer full) */
char *tide_field_meant(const TideFieldNames *names, guint32 n_known, TideBytes name);

/* The names of @kind, in the order in which they were met, printable and joined by commas; of many the first, and how many
 * more there are; of those asked for in vain what may be meant. NULL: there are none. (transfer full) */
char *tide_field_use_names(const TideFieldUse *use, const TideMapping *mapping, TideFieldsKind kind);

G_END_DECLS
