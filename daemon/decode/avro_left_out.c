/* In place of avro_schema.cc and avro_walk.c, in a build with -Davro=disabled: it has no schema, so nothing is read. */
#include "decode/avro_walk.h"

#include "util/error.h"

gboolean
tide_avro_is_built_in(void)
{
  return FALSE;
}

const TideAvroSchema *
tide_avro_schema_new(TideBytes text, GError **error)
{
  g_set_error_literal(error, TIDE_ERROR, TIDE_ERROR_CONFIG, "this build has no Avro");
  return NULL;
}

const TideAvroSchema *
tide_avro_schema_read(const char *path, GError **error)
{
  return tide_avro_schema_new(TIDE_BYTES_EMPTY, error);
}

void
tide_avro_schema_free(const TideAvroSchema *schema)
{
}

gboolean
tide_avro_walk_run(const TideDecodeOptions *options, const TideAvroSchema *schema, TideBytes message, gsize start,
                   TideScratch *scratch, TideReadingBuilder *builder, TideReject *ret_reject)
{
  g_assert_not_reached();
}
