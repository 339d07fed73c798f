/* Why a message or reading cannot be used. A value, not a GError: rejecting must not allocate, and each reason is a
 * metric label, a header of the dead letter and a line in docs. */
#pragma once

#include "model/field_names.h"

G_BEGIN_DECLS

typedef enum TideRejectReason {
  TIDE_REJECT_NONE,
  TIDE_REJECT_EMPTY,     /* the value has no bytes */
  TIDE_REJECT_TOMBSTONE, /* the value is NULL */
  TIDE_REJECT_TOO_LARGE, /* above readings.max_message_bytes */
  TIDE_REJECT_PARSE,     /* not the declared format */
  TIDE_REJECT_UTF8,
  TIDE_REJECT_DEPTH,
  TIDE_REJECT_TOO_MANY_FIELDS,
  TIDE_REJECT_DUPLICATE_FIELD,
  TIDE_REJECT_TYPE,             /* a value of a kind that is declared as reject */
  TIDE_REJECT_NUMBER,           /* a number that cannot be stored exactly in the declared encoding */
  TIDE_REJECT_MISSING_FIELD,    /* a key or time field is absent or null */
  TIDE_REJECT_BAD_KEY,          /* a key part that is empty, too long, or holds the separator */
  TIDE_REJECT_BAD_COLUMN,       /* a field whose name cannot be a column: its name is empty */
  TIDE_REJECT_TIME_INVALID,     /* not in the declared time format */
  TIDE_REJECT_TIME_AMBIGUOUS,   /* a local time that occurs twice, and nothing tells which is meant */
  TIDE_REJECT_TIME_IMPLAUSIBLE, /* outside of the plausibility window: seconds taken for milliseconds, ... */
  TIDE_REJECT_TIME_FUTURE,      /* beyond the bound past the record's own time */
  TIDE_REJECT_ROW_TOO_LONG,     /* row key above 32,767 bytes, HBase's limit */
  TIDE_REJECT_NO_CELLS,         /* a row without cells would be refused by HBase */
  TIDE_REJECT_CELL_TOO_LARGE,   /* above hbase.max_cell_bytes */
  TIDE_REJECT_N_REASONS,
} TideRejectReason;

/* An option of the time that says what is plausible. */
typedef enum TideRejectBound {
  TIDE_REJECT_BOUND_NONE,
  TIDE_REJECT_BOUND_EARLIEST,
  TIDE_REJECT_BOUND_MAX_PAST,
  TIDE_REJECT_BOUND_MAX_FUTURE,
} TideRejectBound;

typedef struct TideReject {
  TideRejectReason reason;
  TideBytes field;         /* borrowed: the field or table concerned; may be empty */
  TideBytes value;         /* borrowed: what did not fit, of which a part is shown; may be empty */
  guint32 awaited_schema;  /* with NONE: the message cannot be read before the schema of this number is there */
  guint32 field_place;     /* 1 + the field's name id, where the code that rejects knows no names; 0: none */
  gint64 byte_position;    /* in the message, or -1 */
  guint32 reading_index;   /* in the message, from 0 */
  const char *detail;      /* borrowed, as field is, or a literal: "not a number", ...; or NULL */
  const char *remedy;      /* string literal: what can be done, where the reason alone does not tell it; or NULL */
  TideRejectBound bound;   /* of the time, as it is declared, that was crossed */
  gint64 bound_ms;         /* its value: since 1970 of EARLIEST, else a duration */
  gboolean by_record_time; /* with another time of the record the reading might be taken */
} TideReject;

/* The stable name: metric label `reason`, dead-letter header, documents. */
const char *tide_reject_reason_name(TideRejectReason reason);

/* Fills in @reject but for its field, which stays. Returns FALSE, for its caller to return; here, for the compiler to
 * see that. */
static inline gboolean
tide_reject_set(TideReject *reject, TideRejectReason reason, gint64 byte_position, const char *detail)
{
  reject->reason = reason;
  reject->byte_position = byte_position;
  reject->detail = detail;
  return FALSE;
}

/* Fills in @reject's field from its field_place. For the layer that has the names: the mapper, the mapping. */
void tide_reject_resolve_field(TideReject *reject, const TideFieldNames *names);

/* A sentence for people, control bytes escaped. Ownership: (transfer full). */
char *tide_reject_describe(const TideReject *reject);

G_END_DECLS
