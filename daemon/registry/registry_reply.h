/* What a schema registry answers: Confluent's JSON. */
#pragma once

#include "util/bytes.h"

G_BEGIN_DECLS

/* The text of the schema in @reply, to GET /schemas/ids/ID. (transfer full) (nullable): NULL: it holds none.
 * @ret_is_avro: FALSE: the schema is of another language */
char *tide_registry_reply_schema(TideBytes reply, gboolean *ret_is_avro);

/* Its error_code, by which it tells that a schema does not exist from an address that does not; 0: it has none. */
gint64 tide_registry_reply_error_code(TideBytes reply);

G_END_DECLS
