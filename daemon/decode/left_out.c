/* Replaces formats that the build disables (-Davro=disabled, -Dprotobuf=disabled). Their schemas cannot be loaded, so
 * no message of these formats is ever read. */
#include "decode/avro_schema.h"
#include "decode/protobuf_schema.h"
#include "util/error.h"

#ifdef TIDE_WITHOUT_AVRO

const TideAvroSchema *
tide_avro_schema_new_with(TideBytes text, const GPtrArray *known, GError **error)
{
  g_set_error_literal(error, TIDE_ERROR, TIDE_ERROR_CONFIG, "this build has no Avro");
  return NULL;
}

const TideAvroSchema *
tide_avro_schema_new(TideBytes text, GError **error)
{
  return tide_avro_schema_new_with(text, NULL, error);
}

void
tide_avro_schema_free(const TideAvroSchema *schema)
{
}

#endif

#ifdef TIDE_WITHOUT_PROTOBUF

TideProtobufSchema *
tide_protobuf_schema_new(TideBytes set, const char *message, TideSchemaFraming framing, GError **error)
{
  g_set_error_literal(error, TIDE_ERROR, TIDE_ERROR_DATA, "this build of tidemark reads no protobuf");
  return NULL;
}

void
tide_protobuf_schema_free(TideProtobufSchema *schema)
{
  g_assert(schema == NULL);
}

#endif
