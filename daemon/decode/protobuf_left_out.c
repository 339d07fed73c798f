/* A build without libprotobuf: no schema can be had, so that no message is ever read. */
#include "decode/protobuf_walk.h"

#include "util/error.h"

gboolean
tide_protobuf_is_built_in(void)
{
  return FALSE;
}

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

TideProtobufWalk *
tide_protobuf_walk_new(const TideDecodeOptions *options)
{
  return NULL;
}

void
tide_protobuf_walk_free(TideProtobufWalk *walk)
{
  g_assert(walk == NULL);
}

gboolean
tide_protobuf_walk_run(TideProtobufWalk *walk, TideBytes message, TideScratch *scratch, TideReadingBuilder *builder,
                       TideReject *ret_reject)
{
  g_assert_not_reached();
}
