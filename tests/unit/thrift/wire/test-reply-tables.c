/* What is built of replies about tables has bounds of its own: a gateway that sends tiny elements by the million does
 * not make the daemon allocate many times what it sent. */
#include "unit/reply_builder.h"
#include "unit/test_case.h"
#include "util/error.h"

#define SEQUENCE_ID 7

typedef enum Element { REGIONS, TABLES, FAMILIES, ATTRIBUTES } Element;

static TideReply
reply_of(const char *method, TideBytes message)
{
  return (TideReply){.protocol = TIDE_WIRE_COMPACT, .sequence_id = SEQUENCE_ID, .message = message, .method = method};
}

static HbaseTHRegionLocation *
new_region(void)
{
  HbaseTHRegionLocation *location = g_object_new(HBASE_TYPE_T_H_REGION_LOCATION, NULL);
  g_free(location->serverName->hostName);
  location->serverName->hostName = g_strdup("");
  g_clear_pointer(&location->regionInfo->tableName, g_byte_array_unref);
  location->regionInfo->tableName = oracle_byte_array(TIDE_BYTES_LITERAL("T"));
  return location;
}

static HbaseTTableName *
new_table_name(void)
{
  HbaseTTableName *name = g_object_new(HBASE_TYPE_T_TABLE_NAME, NULL);
  name->qualifier = oracle_byte_array(TIDE_BYTES_LITERAL("T"));
  return name;
}

static void
write_many(ThriftProtocol *to, gpointer object, guint n)
{
  require_written(thrift_protocol_write_list_begin(to, T_STRUCT, n, NULL));
  for (guint i = 0; i < n; i++)
    require_written(thrift_struct_write(THRIFT_STRUCT(object), to, NULL));
  g_object_unref(object);
}

/* A reply with @n regions or table names. */
static TideReply
list_reply(Element element, guint n)
{
  const char *method = element == REGIONS ? "getAllRegionLocations" : "getTableNamesByPattern";
  Oracle *oracle = oracle_get(TIDE_WIRE_COMPACT);
  ThriftProtocol *to = reply_begin(oracle, method, T_REPLY, SEQUENCE_ID);
  reply_field(to, T_LIST, 0);
  write_many(to, element == REGIONS ? (gpointer)new_region() : (gpointer)new_table_name(), n);
  return reply_of(method, reply_end(oracle));
}

/* A description with @n families of this name, or attributes. */
static TideReply
description_reply(Element element, guint n, TideBytes family_name)
{
  Oracle *oracle = oracle_get(TIDE_WIRE_COMPACT);
  ThriftProtocol *to = reply_begin(oracle, "getTableDescriptor", T_REPLY, SEQUENCE_ID);
  reply_field(to, T_STRUCT, 0);
  require_written(thrift_protocol_write_struct_begin(to, "", NULL));
  reply_field(to, T_STRUCT, 1);
  reply_write_object(to, new_table_name());
  if (element == FAMILIES) {
    HbaseTColumnFamilyDescriptor *family = g_object_new(HBASE_TYPE_T_COLUMN_FAMILY_DESCRIPTOR, NULL);
    family->name = oracle_byte_array(family_name);
    reply_field(to, T_LIST, 2);
    write_many(to, family, n);
  } else {
    reply_field(to, T_MAP, 3);
    require_written(thrift_protocol_write_map_begin(to, T_STRING, T_STRING, n, NULL));
    for (guint i = 0; i < 2 * n; i++)
      require_written(thrift_protocol_write_string(to, "", NULL));
  }
  require_written(thrift_protocol_write_field_stop(to, NULL));
  require_written(thrift_protocol_write_struct_end(to, NULL));
  return reply_of("getTableDescriptor", reply_end(oracle));
}

/* NULL when it was read. (transfer full) */
static GError *
read_elements(Element element, guint n)
{
  GError *error = NULL;
  if (element == REGIONS || element == TABLES) {
    TideReply reply = list_reply(element, n);
    g_autoptr(GPtrArray) read =
        element == REGIONS ? tide_reply_read_regions(&reply, &error) : tide_reply_read_table_names(&reply, &error);
    g_assert_true(read == NULL || read->len == n);
    return error;
  }
  TideReply reply = description_reply(element, n, TIDE_BYTES_LITERAL("M"));
  g_autoptr(TideTableDescription) description G_GNUC_UNUSED = tide_reply_read_description(&reply, &error);
  return error;
}

TEST("/reply-tables/H3/counts-have-bounds")
{
  static const struct {
    Element element;
    guint most;
    const char *problem;
  } cases[] = {
      {REGIONS, 100000, "a table of more than 100000 regions"},
      {TABLES, 100000, "more than 100000 tables"},
      {FAMILIES, 1000, "a table of more than 1000 column families"},
      {ATTRIBUTES, 10000, "a table of more than 10000 attributes"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GError) none = read_elements(cases[i].element, cases[i].most);
    g_assert_no_error(none);
    g_autoptr(GError) error = read_elements(cases[i].element, cases[i].most + 1);
    g_assert_error(error, TIDE_ERROR, TIDE_ERROR_PROTOCOL);
    g_assert_nonnull(strstr(error->message, cases[i].problem));
  }
}

TEST("/reply-tables/H3/names-have-bounds")
{
  g_autofree char *name = g_strnfill(1025, '\x01');
  g_autoptr(GError) error = NULL;
  TideReply reply = description_reply(FAMILIES, 1, tide_bytes(name, 1024));
  g_autoptr(TideTableDescription) description G_GNUC_UNUSED = tide_reply_read_description(&reply, &error);
  g_assert_no_error(error);
  reply = description_reply(FAMILIES, 1, tide_bytes(name, 1025));
  g_assert_null(tide_reply_read_description(&reply, &error));
  g_assert_error(error, TIDE_ERROR, TIDE_ERROR_PROTOCOL);
  g_assert_nonnull(strstr(error->message, "a name of more than 1024 bytes"));
}

/* What shows it escapes it: a family named by letters beyond ASCII is the one that is declared. */
TEST("/reply-tables/H6/family-names-are-kept-as-they-are")
{
  g_autoptr(GError) error = NULL;
  TideReply reply = description_reply(FAMILIES, 1, TIDE_BYTES_LITERAL("Température\\"));
  g_autoptr(TideTableDescription) description = tide_reply_read_description(&reply, &error);
  g_assert_no_error(error);
  const TideFamilySettings *family = description->families->pdata[0];
  g_assert_cmpstr(family->name, ==, "Température\\");
  reply = description_reply(FAMILIES, 1, TIDE_BYTES_LITERAL("a\0b"));
  g_assert_null(tide_reply_read_description(&reply, &error));
  g_assert_error(error, TIDE_ERROR, TIDE_ERROR_PROTOCOL);
}

/* A reply with one region, of which one thing is set. */
static guint
count_regions_with(gsize offset, gsize isset_offset, gint32 value)
{
  Oracle *oracle = oracle_get(TIDE_WIRE_COMPACT);
  ThriftProtocol *to = reply_begin(oracle, "getAllRegionLocations", T_REPLY, SEQUENCE_ID);
  HbaseTHRegionLocation *location = new_region();
  guint8 *info = (guint8 *)location->regionInfo;
  *(gint32 *)(void *)(info + offset) = value;
  *(gboolean *)(void *)(info + isset_offset) = TRUE;
  reply_field(to, T_LIST, 0);
  write_many(to, location, 1);
  TideReply reply = reply_of("getAllRegionLocations", reply_end(oracle));
  g_autoptr(GError) error = NULL;
  g_autoptr(GPtrArray) regions = tide_reply_read_regions(&reply, &error);
  g_assert_no_error(error);
  return regions->len;
}

/* Each of the three alone says that a region serves no rows. */
#define COUNT_WITH(field, value)                                                                                       \
  count_regions_with(offsetof(HbaseTHRegionInfo, field), offsetof(HbaseTHRegionInfo, __isset_##field), value)

TEST("/reply-tables/regions-that-serve-no-rows")
{
  g_assert_cmpuint(COUNT_WITH(offline, FALSE), ==, 1);
  g_assert_cmpuint(COUNT_WITH(split, FALSE), ==, 1);
  g_assert_cmpuint(COUNT_WITH(replicaId, 0), ==, 1);
  g_assert_cmpuint(COUNT_WITH(offline, TRUE), ==, 0);
  g_assert_cmpuint(COUNT_WITH(split, TRUE), ==, 0);
  g_assert_cmpuint(COUNT_WITH(replicaId, 1), ==, 0);
}
