#include "registry/registry_reply.h"

#include <simdjson.h>

/* Its own and an error's are flat: what is deeper is none. */
static constexpr gsize MAX_DEPTH = 16;

static gboolean
parse(TideBytes reply, simdjson::dom::parser *parser, simdjson::dom::object *ret_reply)
{
  return reply.len > 0 && parser->allocate(reply.len, MAX_DEPTH) == simdjson::SUCCESS &&
         parser->parse(reinterpret_cast<const char *>(reply.data), reply.len).get(*ret_reply) == simdjson::SUCCESS;
}

char *
tide_registry_reply_schema(TideBytes reply, gboolean *ret_is_avro)
{
  simdjson::dom::parser parser;
  simdjson::dom::object members;
  std::string_view schema, kind;
  if (!parse(reply, &parser, &members) || members.at_key("schema").get(schema) != simdjson::SUCCESS)
    return NULL;
  *ret_is_avro = members.at_key("schemaType").get(kind) != simdjson::SUCCESS || kind == "AVRO";
  return g_strndup(schema.data(), schema.size());
}

gint64
tide_registry_reply_error_code(TideBytes reply)
{
  simdjson::dom::parser parser;
  simdjson::dom::object members;
  gint64 code;
  return parse(reply, &parser, &members) && members.at_key("error_code").get(code) == simdjson::SUCCESS ? code : 0;
}
