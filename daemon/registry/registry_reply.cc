#include "registry/registry_reply.h"

#include <simdjson.h>

/* The deepest valid reply is a list of references. */
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

static void
clear_reference(gpointer data)
{
  TideRegistryReference *reference = static_cast<TideRegistryReference *>(data);
  g_free(reference->name);
  g_free(reference->subject);
}

GArray *
tide_registry_reply_references(TideBytes reply)
{
  GArray *references = g_array_new(FALSE, FALSE, sizeof(TideRegistryReference));
  g_array_set_clear_func(references, clear_reference);
  simdjson::dom::parser parser;
  simdjson::dom::object members;
  simdjson::dom::array listed;
  if (!parse(reply, &parser, &members) || members.at_key("references").get(listed) != simdjson::SUCCESS)
    return references;
  for (simdjson::dom::element one : listed) {
    std::string_view name, subject;
    TideRegistryReference reference = {};
    if (one.at_key("name").get(name) != simdjson::SUCCESS || one.at_key("subject").get(subject) != simdjson::SUCCESS ||
        one.at_key("version").get(reference.version) != simdjson::SUCCESS)
      continue; /* the schema then lacks a type, which is reported */
    reference.name = g_strndup(name.data(), name.size());
    reference.subject = g_strndup(subject.data(), subject.size());
    g_array_append_val(references, reference);
  }
  return references;
}

gint64
tide_registry_reply_error_code(TideBytes reply)
{
  simdjson::dom::parser parser;
  simdjson::dom::object members;
  gint64 code;
  return parse(reply, &parser, &members) && members.at_key("error_code").get(code) == simdjson::SUCCESS ? code : 0;
}
