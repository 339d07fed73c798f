/* What a schema registry answers: Confluent's JSON. */
#pragma once

#include "util/bytes.h"

G_BEGIN_DECLS

/* The text of the schema in @reply, to GET /schemas/ids/ID. (transfer full) (nullable): NULL: it holds none.
 * @ret_is_avro: FALSE: the schema is of another language */
char *tide_registry_reply_schema(TideBytes reply, gboolean *ret_is_avro);

/* A schema that another one uses the types of. */
typedef struct TideRegistryReference {
  char *name; /* owned, both: of the type */
  char *subject;
  gint64 version;
} TideRegistryReference;

/* Those of the schema in @reply, in their order. (transfer full) (element-type TideRegistryReference) */
GArray *tide_registry_reply_references(TideBytes reply);

/* Its error_code, by which it tells that a schema does not exist from an address that does not; 0: it has none. */
gint64 tide_registry_reply_error_code(TideBytes reply);

G_END_DECLS
