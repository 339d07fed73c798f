/* Changes a reading's fields by the steps of readings.fields, after its members are known and before any other use.
 * Steps open texts of JSON, make fields from lists of names and values, split texts, decode decimals and resolve
 * SenML's base fields. This file also applies readings.null_values.
 *
 * A step removes its source field, unless it is the record's own ("$key"). If the field is absent or null, the step
 * does nothing. JSON texts are read by the JSON decoder; there is no other parser here.
 *
 * A fault is the reading's own. With RESOLVE it is the message's, because later readings depend on earlier ones.
 *
 * Threads: the owner's only. */
#pragma once

#include "decode/decode_options.h"
#include "decode/reading_builder.h"
#include "model/message.h"

G_BEGIN_DECLS

typedef enum TideFieldVerb {
  TIDE_FIELD_OPEN,    /* a text with a JSON object becomes the object's fields */
  TIDE_FIELD_PIVOT,   /* a list of objects with a name and a value, or two lists, becomes fields with these names */
  TIDE_FIELD_SPLIT,   /* a text becomes its parts */
  TIDE_FIELD_DECIMAL, /* an unscaled integer in base64 becomes a number */
  TIDE_FIELD_RESOLVE, /* SenML (RFC 8428) */
} TideFieldVerb;

/* One step, which owns what it points to. */
typedef struct TideFieldStep {
  TideFieldVerb verb;
  char *field;   /* its source; NULL with RESOLVE */
  char *into;    /* OPEN, PIVOT: as configured; NULL: not configured */
  char *prefix;  /* of the new names: from into or the field's own name, with the separator; or "" */
  char *name;    /* PIVOT: the member of an item that names a field ... */
  char **values; /* ... and those for its value: the first that is present and not null is used */
  char *names;   /* PIVOT: a field with the list of names for the values in @field; NULL: name and values */
  char **parts;  /* SPLIT: names of the parts; TIDE_NO_NAME omits one */
  char *by;      /* SPLIT: the delimiter of the parts; NULL: at */
  char **at;     /* SPLIT: as configured ... */
  guint32 *cuts; /* ... and as numbers, ascending, one fewer than parts */
  guint32 scale; /* DECIMAL */
  int dialect;   /* RESOLVE: only one exists */
} TideFieldStep;

void tide_field_step_clear(TideFieldStep *step);

typedef struct TideFieldSteps TideFieldSteps;

/* Returns NULL if the options need none of this. The other parameters: see tide_reading_builder_new(). */
TideFieldSteps *tide_field_steps_new(const TideDecodeOptions *options, TideFieldNames *names, guint32 n_known,
                                     TideScratch *scratch);
void tide_field_steps_free(TideFieldSteps *steps); /* NULL ok */

/* Whether a step uses the record's field @name, "$key". */
gboolean tide_field_steps_read(const TideDecodeOptions *options, const char *name);

/**
 * tide_field_steps_run: replace @readings by the readings after all steps, in their order.
 * @message: borrowed for the call
 * @n_record_fields: the number of fields of the record, which are last in each reading
 * @rejects: (element-type TideReject): of bad readings among @readings, which remain bad
 * Returns: FALSE with @ret_reject filled: the message is rejected. Allocates: to grow, and from the scratch: at most 8
 * times the largest message for the fields, texts and names made from one message.
 */
gboolean tide_field_steps_run(TideFieldSteps *steps, const TideMessage *message, guint32 n_record_fields,
                              const TideReading *readings, guint32 n_readings, const TideReject *rejects,
                              guint32 n_rejects, TideReject *ret_reject) G_GNUC_WARN_UNUSED_RESULT;

/* The builder with the readings: tide_reading_builder_finish(). Borrowed. */
TideReadingBuilder *tide_field_steps_builder(const TideFieldSteps *steps);

G_END_DECLS
