/* Parses answers of a schema registry: Confluent's JSON. */
#pragma once

#include "util/bytes.h"

G_BEGIN_DECLS

/* The text of the schema in @reply, to GET /schemas/ids/ID. (transfer full) (nullable): NULL: there is none.
 * @ret_is_avro: FALSE: the schema is of another type */
char *tide_registry_reply_schema(TideBytes reply, gboolean *ret_is_avro);

/* A schema whose types another one uses. */
typedef struct TideRegistryReference {
  char *name; /* owned, both: the type's name */
  char *subject;
  gint64 version;
} TideRegistryReference;

/* The references of the schema in @reply, in order. (transfer full) (element-type TideRegistryReference) */
GArray *tide_registry_reply_references(TideBytes reply);

/* Its error_code, which distinguishes a missing schema from a wrong address; 0: none. */
gint64 tide_registry_reply_error_code(TideBytes reply);

G_END_DECLS
