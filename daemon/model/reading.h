/* A reading: a flat list of named values and an event time. Nested objects are flattened with the declared separator;
 * numbers keep the text they came with. All memory is the decoder's scratch, valid until its next message. */
#pragma once

#include "model/field_names.h"

G_BEGIN_DECLS

typedef enum TideValueKind {
  TIDE_VALUE_STRING, /* text: unescaped UTF-8 */
  TIDE_VALUE_NUMBER, /* text: as received, for example 600.550 or 1e3 */
  TIDE_VALUE_BOOL,   /* text: as declared by readings.booleans */
  TIDE_VALUE_NULL,   /* text: empty */
  TIDE_VALUE_JSON,   /* text: the raw JSON of an array or object */
} TideValueKind;

typedef struct TideField {
  TideNameId name_id; /* TIDE_NAME_NONE if the name table is full: then compare by name */
  TideValueKind kind;
  TideBytes name;
  TideBytes text;
} TideField;

/* The names of a reading in their order, if the decoder has seen the same before: results for that order can be reused.
 */
typedef struct TideShape {
  guint32 slot;   /* below TIDE_MAX_SHAPES: another shape reuses it if there are too many */
  guint64 serial; /* unique for each shape of a decoder; 0: the reading's names were looked up one by one */
} TideShape;

#define TIDE_MAX_SHAPES 8u

typedef struct TideReading {
  const TideField *fields;
  guint32 n_fields;
  const guint32 *known;  /* by name id, for ids below n_known: 1 + the index in fields, 0: absent */
  guint32 n_known;       /* the names that the configuration uses */
  guint32 index;         /* in its message, from 0 */
  TideShape shape;       /* a reading with a shape has no null field */
  guint32 n_name_fields; /* this many fields at the start name it, the rest are values: the measurement and the tags of
                            line protocol; 0: the format does not define it */
  gboolean is_skipped;   /* it replaces a missing reading, by readings.on_missing: no table accepts it */
  gint64 event_time_ns;  /* since 1970-01-01T00:00:00Z; filled in by the mapping, before keys are built */
  /* For a row that was printed (mapping/scanned_rows.h); otherwise empty and 0. */
  TideBytes printed_row;   /* its key, if that is to be kept; empty: it is built from the fields */
  guint32 n_printed_cells; /* all cells that were printed */
  guint32 n_cell_fields;   /* the first of its fields are theirs */
} TideReading;

/* NULL: absent. The configuration must have interned @name_id. */
static inline const TideField *
tide_reading_field(const TideReading *reading, TideNameId name_id)
{
  guint32 number = name_id < reading->n_known ? reading->known[name_id] : 0;
  return number > 0 ? &reading->fields[number - 1] : NULL;
}

#define TIDE_NS_PER_MS G_GINT64_CONSTANT(1000000)

/* Rounded towards the past, also before 1970: one rule for keys, cells and reads. */
static inline gint64
tide_ns_to_ms(gint64 ns)
{
  gint64 ms = ns / TIDE_NS_PER_MS;
  return ns % TIDE_NS_PER_MS < 0 ? ms - 1 : ms;
}

G_END_DECLS
