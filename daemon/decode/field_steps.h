/* What readings.fields makes of a reading's fields, step by step, once its members are known and before anything else
 * looks at them: texts that hold JSON are opened, lists of names and values become fields, texts are split, decimals
 * and SenML's base fields are resolved. Also which texts are null (readings.null_values).
 *
 * A field that a step is made of is gone afterwards, but for the record's own ("$key"). A step whose field a reading
 * lacks, or has as null, does nothing. JSON texts are read by the decoder of JSON; nothing else here parses.
 *
 * A fault is the reading's own. With RESOLVE it is the message's: what a reading says holds for those behind it.
 *
 * Threads: the owner's only. */
#pragma once

#include "decode/decode_options.h"
#include "decode/reading_builder.h"
#include "model/message.h"

G_BEGIN_DECLS

typedef enum TideFieldVerb {
  TIDE_FIELD_OPEN,    /* a text that holds a JSON object becomes the fields in it */
  TIDE_FIELD_PIVOT,   /* a list of objects with a name and a value, or two lists, become fields of these names */
  TIDE_FIELD_SPLIT,   /* a text becomes its parts */
  TIDE_FIELD_DECIMAL, /* an unscaled integer in base64 becomes a number */
  TIDE_FIELD_RESOLVE, /* SenML (RFC 8428) */
} TideFieldVerb;

/* One step; what it points to is owned. */
typedef struct TideFieldStep {
  TideFieldVerb verb;
  char *field;   /* what it is made of; NULL with RESOLVE */
  char *into;    /* OPEN, PIVOT: as the configuration has it; NULL: not at all */
  char *prefix;  /* of the names that are made: of into, or the field's own name, with the separator; or "" */
  char *name;    /* PIVOT: the member of an item that names a field ... */
  char **values; /* ... and those of which the first that is there and not null is its value */
  char *names;   /* PIVOT: a field whose list has the names of the values in @field's list; NULL: name and values */
  char **parts;  /* SPLIT: names of the parts; TIDE_NO_NAME leaves one out */
  char *by;      /* SPLIT: what stands between parts; NULL: at */
  char **at;     /* SPLIT: as the configuration has it ... */
  guint32 *cuts; /* ... and as numbers, ascending: one less than parts */
  guint32 scale; /* DECIMAL */
  int dialect;   /* RESOLVE: one is known */
} TideFieldStep;

void tide_field_step_clear(TideFieldStep *step);

typedef struct TideFieldSteps TideFieldSteps;

/* NULL: the options ask for nothing that is done here. For the rest see tide_reading_builder_new(). */
TideFieldSteps *tide_field_steps_new(const TideDecodeOptions *options, TideFieldNames *names, guint32 n_known,
                                     TideScratch *scratch);
void tide_field_steps_free(TideFieldSteps *steps); /* NULL ok */

/* Whether a step is made of the record's field @name, "$key". */
gboolean tide_field_steps_read(const TideDecodeOptions *options, const char *name);

/**
 * tide_field_steps_run: makes readings of @readings, in their order.
 * @message: borrowed for the call
 * @n_record_fields: so many of each reading's fields, the last, are the record's own
 * @rejects: (element-type TideReject): of those of @readings that are bad, which stay so
 * Returns: FALSE with @ret_reject filled: the message is rejected. Allocates: to grow, and from the scratch: at most 8
 *     times the largest message for the fields, texts and names that are made of one message.
 */
gboolean tide_field_steps_run(TideFieldSteps *steps, const TideMessage *message, guint32 n_record_fields,
                              const TideReading *readings, guint32 n_readings, const TideReject *rejects,
                              guint32 n_rejects, TideReject *ret_reject) G_GNUC_WARN_UNUSED_RESULT;

/* Where the readings are: tide_reading_builder_finish(). Borrowed. */
TideReadingBuilder *tide_field_steps_builder(const TideFieldSteps *steps);

G_END_DECLS
