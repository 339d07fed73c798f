/* Resolves SenML records (RFC 8428): the base fields of a record are added to each later record. */
#pragma once

#include "model/reading.h"
#include "model/scratch.h"

G_BEGIN_DECLS

typedef enum TideSenmlBase {
  TIDE_SENML_BN,
  TIDE_SENML_BT,
  TIDE_SENML_BU,
  TIDE_SENML_BV,
  TIDE_SENML_BS,
  TIDE_SENML_BVER, /* not part of readings */
  TIDE_SENML_N_BASES,
} TideSenmlBase;

/* The current base fields; zero-initialised: none. What they point to is valid as long as the message. */
typedef struct TideSenml {
  TideField bases[TIDE_SENML_N_BASES]; /* without a name: absent */
} TideSenml;

#define TIDE_SENML_MAX_MADE 5u

/**
 * tide_senml_resolve: resolve the record with @fields by the current base fields.
 * @record_ms: the base of relative times; -1: unknown
 * @scratch: contains the results
 * @ret_made: those of n, t, u, v and s that the record has; t always, in seconds since 1970
 * @ret_fault, @ret_detail: the unusable field and the cause: a string literal
 */
gboolean tide_senml_resolve(TideSenml *senml, const TideField *fields, guint32 n_fields, gint64 record_ms,
                            TideScratch *scratch, TideField ret_made[TIDE_SENML_MAX_MADE], guint *ret_n_made,
                            const TideField **ret_fault, const char **ret_detail) G_GNUC_WARN_UNUSED_RESULT;

/* Whether the results replace the field called @name. */
gboolean tide_senml_replaces(TideBytes name);

G_END_DECLS
