#include "decode/avro_schema.h"

#include "decode/avro_container.h"
#include "unit/test_case.h"

#include <unistd.h>

static const TideAvroSchema *
schema_of(const char *text, GError **error)
{
  g_autofree char *json = g_strdelimit(g_strdup(text), "'", '"');
  return tide_avro_schema_new(tide_bytes_of_string(json), error);
}

TEST("/avro-schema/names-and-namespaces")
{
  static const char *const good[] = {
      "{'type':'record','name':'a.b.R','fields':[{'name':'x','type':{'type':'fixed','name':'F','size':1}},"
      "{'name':'y','type':'a.b.F'},{'name':'z','type':'F'}]}",
      "{'type':'record','name':'R','namespace':'a','fields':[{'name':'x','type':{'type':'enum','name':'E',"
      "'namespace':'c','symbols':['A']}},{'name':'y','type':'c.E'},{'name':'z','type':['null','a.R']}]}",
      "{'type':{'type':'record','name':'R','fields':[{'name':'x','type':{'type':'int'}}]}}",
      "[{'type':'error','name':'R','aliases':['Q'],'doc':'d','fields':[{'name':'x','type':'long','default':1}]}]",
  };
  for (gsize i = 0; i < G_N_ELEMENTS(good); i++) {
    g_autoptr(GError) error = NULL;
    const TideAvroSchema *schema = schema_of(good[i], &error);
    g_assert_no_error(error);
    tide_avro_schema_free(schema);
  }
}

TEST("/avro-schema/nodes-of-a-record")
{
  g_autoptr(GError) error = NULL;
  const TideAvroSchema *schema =
      schema_of("{'type':'record','name':'R','fields':[{'name':'x','type':'int'},{'name':'y','type':{'type':'record',"
                "'name':'S','fields':[{'name':'z','type':'R'}]}}]}",
                &error);
  g_assert_no_error(error);
  const TideAvroNode *top = &schema->nodes[schema->top];
  g_assert_cmpint(top->kind, ==, TIDE_AVRO_RECORD);
  g_assert_cmpuint(top->size, ==, 2);
  g_assert_cmpuint(schema->members[top->first].node, ==, TIDE_AVRO_INT);
  const TideAvroNode *inner = &schema->nodes[schema->members[top->first + 1].node];
  g_assert_cmpuint(inner->size, ==, 1);
  g_assert_cmpuint(schema->members[inner->first].node, ==, schema->top);
  tide_avro_schema_free(schema);
}

TEST("/avro-schema/faults")
{
  static const struct {
    const char *text;
    const char *fault;
  } cases[] = {
      {"", "not JSON"},
      {"{'type':'record'", "not JSON"},
      {"'int'", "not records"},
      {"{'type':'array','items':'string'}", "not records"},
      {"5", "neither a name"},
      {"{}", "has no 'type'"},
      {"[]", "no types"},
      {"[['null']]", "another union"},
      {"'foo'", "'foo' is neither an Avro type"},
      {"{'type':'record','fields':[]}", "no 'name'"},
      {"{'type':'record','name':'R'}", "no 'fields' list"},
      {"{'type':'record','name':'R','fields':[5]}", "no 'name'"},
      {"{'type':'record','name':'R','fields':[{'name':'x'}]}", "of the field 'x', there is no 'type'"},
      {"{'type':'record','name':'R','fields':[{'name':'x','type':{'type':'record','name':'R','fields':[]}}]}",
       "'R' is declared twice"},
      {"{'type':'record','name':'R','fields':[{'name':'x','type':{'type':'record','name':'S','fields':"
       "[{'name':'y','type':'foo'}]}}]}",
       "of the field 'x/y', the type 'foo'"},
      {"{'type':'record','name':'a.R','fields':[{'name':'x','type':{'type':'fixed','name':'b.F','size':1}},"
       "{'name':'y','type':'F'}]}",
       "'F' is neither"},
      {"{'type':'fixed','name':'F','size':-1}", "no 'size'"},
      {"{'type':'enum','name':'F'}", "no 'symbols' list"},
      {"{'type':'enum','name':'F','symbols':[1]}", "is not a text"},
      {"{'type':'map'}", "the map has no 'values'"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GError) error = NULL;
    g_assert_null(schema_of(cases[i].text, &error));
    if (error == NULL || strstr(error->message, cases[i].fault) == NULL)
      g_error("'%s' gave '%s', expected '%s'", cases[i].text, error != NULL ? error->message : "nothing",
              cases[i].fault);
  }
}

/* What is nested without end is refused before it is followed. */
TEST("/avro-schema/depth-and-size")
{
  g_autoptr(GString) deep = g_string_new(NULL);
  for (guint i = 0; i < 100000; i++)
    g_string_append(deep, "{'type':");
  g_autoptr(GError) error = NULL;
  g_assert_null(schema_of(deep->str, &error));
  g_assert_nonnull(error);
  g_autofree char *large = g_strnfill(TIDE_AVRO_SCHEMA_MAX_BYTES + 1, ' ');
  g_clear_error(&error);
  g_assert_null(schema_of(large, &error));
  g_assert_nonnull(strstr(error->message, "larger than"));
}

/* A namespace of a few hundred kilobytes would be in front of each of as many references. */
TEST("/avro-schema/long-names")
{
  for (gsize len = 1022; len <= 1023; len++) {
    g_autofree char *space = g_strnfill(len, 'a');
    g_autofree char *text =
        g_strdup_printf("{'type':'record','name':'R','namespace':'%s','fields':[{'name':'x','type':'R'}]}", space);
    g_autoptr(GError) error = NULL;
    const TideAvroSchema *schema = schema_of(text, &error);
    g_assert_cmpint(schema != NULL, ==, len == 1022);
    g_assert_true(schema != NULL || strstr(error->message, "the name of a type is longer than 1024 bytes") != NULL);
    tide_avro_schema_free(schema);
  }
}

TEST("/avro-schema/container")
{
  static const char text[] = "{\"type\":\"record\",\"name\":\"R\",\"fields\":[{\"name\":\"x\",\"type\":\"int\"}]}";
  static const guint8 sync[TIDE_AVRO_SYNC_BYTES] = {1};
  g_autoptr(GError) error = NULL;
  g_auto(TideBuffer) head = {0};
  tide_avro_head_append(&head, tide_bytes_of_string(text), tide_bytes(sync, sizeof sync));
  const TideAvroSchema *schema = tide_avro_schema_of_file(tide_buffer_bytes(&head), &error);
  g_assert_no_error(error);
  g_assert_nonnull(schema);
  tide_avro_schema_free(schema);
  g_assert_null(tide_avro_schema_of_file(tide_bytes(head.data, head.len - 1), &error));
  g_assert_nonnull(strstr(error->message, "its head is too long or truncated"));
}
