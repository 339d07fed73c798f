/* SenML's records (RFC 8428), resolved: what a record says of those behind it is added to each. */
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
  TIDE_SENML_BVER, /* says nothing of a reading */
  TIDE_SENML_N_BASES,
} TideSenmlBase;

/* The base fields that are in force; zero-initialised: none are. What they point to lives as long as the message. */
typedef struct TideSenml {
  TideField bases[TIDE_SENML_N_BASES]; /* without a name: not there */
} TideSenml;

#define TIDE_SENML_MAX_MADE 5u

/**
 * tide_senml_resolve: what the record with @fields is, with the base fields in force.
 * @record_ms: what times that are relative are relative to; -1: not known
 * @scratch: what is made lives in
 * @ret_made: n, t, u, v and s, as far as the record has them; t always, and in seconds since 1970
 * @ret_fault, @ret_detail: of what cannot be used, and why: a string literal
 */
gboolean tide_senml_resolve(TideSenml *senml, const TideField *fields, guint32 n_fields, gint64 record_ms,
                            TideScratch *scratch, TideField ret_made[TIDE_SENML_MAX_MADE], guint *ret_n_made,
                            const TideField **ret_fault, const char **ret_detail) G_GNUC_WARN_UNUSED_RESULT;

/* Whether what is made stands in the place of the field called @name. */
gboolean tide_senml_replaces(TideBytes name);

G_END_DECLS
