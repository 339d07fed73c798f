/* Reads the replies that describe tables: their regions and their settings. */
#include "thrift/wire/reply_reader.h"

/* HConstants.FOREVER of HBase */
#define TIME_TO_LIVE_FOREVER_S G_MAXINT32

/* The parsed reply needs more memory than its bytes: some hundred for a region of forty. These limits are far above any
 * HBase, and keep the daemon's allocation close to the size of the reply. */
#define REGIONS_MAX 100000
#define FAMILIES_MAX 1000
#define ATTRIBUTES_MAX 10000
#define TABLES_MAX 100000
#define NAME_MAX_BYTES 1024u

static TideBytes
copy_bytes(TideBytes bytes)
{
  return tide_bytes(g_memdup2(bytes.data, bytes.len), bytes.len);
}

#define FIELD(id_, type_, struct_, member_)                                                                            \
  {                                                                                                                    \
    id_, TIDE_WIRE_##type_, G_STRUCT_OFFSET(struct_, member_)                                                          \
  }

typedef struct Server {
  TideBytes host;
  gint32 port;
} Server;

/* TServerName. Ownership: (transfer full). */
static char *
read_server(TideWireReader *reader)
{
  static const TideReplyField fields[] = {FIELD(1, STRING, Server, host), FIELD(2, I32, Server, port)};
  Server server = {0};
  tide_reply_read_fields(reader, fields, G_N_ELEMENTS(fields), &server);
  g_autofree char *printable = tide_bytes_printable(tide_bytes(server.host.data, MIN(server.host.len, 253)));
  return g_strdup_printf("%s:%d", printable, server.port);
}

/* THRegionInfo */
typedef struct RegionInfo {
  TideBytes start_key, end_key;
  gboolean is_offline, is_split; /* the offline parent of a split */
  gint32 replica_id;
} RegionInfo;

static const TideReplyField region_fields[] = {
    FIELD(3, STRING, RegionInfo, start_key), FIELD(4, STRING, RegionInfo, end_key),
    FIELD(5, BOOL, RegionInfo, is_offline),  FIELD(6, BOOL, RegionInfo, is_split),
    FIELD(7, I32, RegionInfo, replica_id),
};

/* THRegionLocation: 1 server, 2 region */
static void
read_region(TideWireReader *reader, GPtrArray *regions)
{
  g_autofree char *server = NULL;
  RegionInfo info = {0};
  gboolean has_info = FALSE;
  TideWireField field = {0};
  while (tide_wire_read_field(reader, &field)) {
    if (field.id == 1 && field.type == TIDE_WIRE_STRUCT) {
      server = read_server(reader);
    } else if (field.id == 2 && field.type == TIDE_WIRE_STRUCT) {
      tide_reply_read_fields(reader, region_fields, G_N_ELEMENTS(region_fields), &info);
      has_info = TRUE;
    } else {
      tide_wire_skip(reader, field.type);
    }
  }
  if (!has_info || server == NULL) /* also limits the cost of an element: it needs bytes of its own */
    tide_wire_reader_fail(reader, "a region without its keys or its server");
  if (regions->len == REGIONS_MAX)
    tide_wire_reader_fail(reader, "a table of more than 100000 regions");
  if (reader->status != TIDE_WIRE_OK || info.is_offline || info.is_split || info.replica_id != 0)
    return;
  TideRegion *region = g_new0(TideRegion, 1);
  region->start_key = copy_bytes(info.start_key);
  region->end_key = copy_bytes(info.end_key);
  region->server = g_steal_pointer(&server);
  g_ptr_array_add(regions, region);
}

static gboolean
read_regions_success(TideWireReader *reader, const TideWireField *field, gpointer data)
{
  guint32 count;
  if (!tide_wire_field_is(reader, field, TIDE_WIRE_LIST))
    return FALSE;
  if (!tide_wire_read_list_of(reader, TIDE_WIRE_STRUCT, &count))
    return FALSE;
  for (guint32 i = 0; i < count && reader->status == TIDE_WIRE_OK; i++)
    read_region(reader, data);
  return TRUE;
}

static int
compare_start_keys(gconstpointer a, gconstpointer b)
{
  const TideRegion *const *left = a, *const *right = b;
  return tide_bytes_compare((*left)->start_key, (*right)->start_key);
}

GPtrArray *
tide_reply_read_regions(const TideReply *reply, GError **error)
{
  g_autoptr(GPtrArray) regions = g_ptr_array_new_with_free_func((GDestroyNotify)tide_region_free);
  if (!tide_reply_read_result(reply, read_regions_success, regions, error))
    return NULL;
  g_ptr_array_sort(regions, compare_start_keys);
  return g_steal_pointer(&regions);
}

/* HBase allows no longer names. */
static void
check_name(TideWireReader *reader, TideBytes name)
{
  if (name.len > NAME_MAX_BYTES)
    tide_wire_reader_fail(reader, "a name of more than 1024 bytes");
}

typedef struct TableName {
  TideBytes space, name;
} TableName;

/* TTableName. Ownership: (transfer full). */
static char *
read_table_name(TideWireReader *reader)
{
  static const TideReplyField fields[] = {FIELD(1, STRING, TableName, space), FIELD(2, STRING, TableName, name)};
  TableName table = {0};
  tide_reply_read_fields(reader, fields, G_N_ELEMENTS(fields), &table);
  check_name(reader, table.space);
  check_name(reader, table.name);
  if (reader->status != TIDE_WIRE_OK)
    return g_strdup("");
  g_autofree char *printable_name = tide_bytes_printable(table.name);
  if (table.space.len == 0 || tide_bytes_equal(table.space, TIDE_BYTES_LITERAL("default")))
    return g_steal_pointer(&printable_name);
  g_autofree char *printable_space = tide_bytes_printable(table.space);
  return g_strdup_printf("%s:%s", printable_space, printable_name);
}

static gboolean
read_table_names_success(TideWireReader *reader, const TideWireField *field, gpointer data)
{
  guint32 count;
  if (!tide_wire_field_is(reader, field, TIDE_WIRE_LIST) || !tide_wire_read_list_of(reader, TIDE_WIRE_STRUCT, &count))
    return FALSE;
  for (guint32 i = 0; i < count && reader->status == TIDE_WIRE_OK; i++) {
    g_autofree char *name = read_table_name(reader);
    if (((const GPtrArray *)data)->len == TABLES_MAX)
      tide_wire_reader_fail(reader, "more than 100000 tables");
    if (name[0] == '\0') /* also limits the cost of an element: it needs bytes of its own */
      tide_wire_reader_fail(reader, "a table without a name");
    if (reader->status == TIDE_WIRE_OK)
      g_ptr_array_add(data, g_steal_pointer(&name));
  }
  return TRUE;
}

GPtrArray *
tide_reply_read_table_names(const TideReply *reply, GError **error)
{
  g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
  if (!tide_reply_read_result(reply, read_table_names_success, names, error))
    return NULL;
  return g_steal_pointer(&names);
}

typedef struct Family {
  TideBytes name; /* unescaped: escaped when displayed */
  TideFamilySettings settings;
} Family;

/* TColumnFamilyDescriptor */
static void
read_family(TideWireReader *reader, GPtrArray *families)
{
  static const TideReplyField fields[] = {
      FIELD(1, STRING, Family, name),
      FIELD(4, I32, Family, settings.block_size_bytes),
      FIELD(5, I32, Family, settings.bloom_filter),
      FIELD(6, I32, Family, settings.compression),
      FIELD(8, I32, Family, settings.data_block_encoding),
      FIELD(10, I32, Family, settings.max_versions),
      FIELD(13, I32, Family, settings.time_to_live_s),
      FIELD(20, BOOL, Family, settings.in_memory),
  };
  g_autoptr(TideFamilySettings) settings = tide_family_settings_new(NULL);
  Family family = {.settings = *settings};
  tide_reply_read_fields(reader, fields, G_N_ELEMENTS(fields), &family);
  check_name(reader, family.name);
  if (family.name.len == 0 || memchr(family.name.data, 0, family.name.len) != NULL)
    tide_wire_reader_fail(reader, "a column family without a name");
  if (families->len == FAMILIES_MAX)
    tide_wire_reader_fail(reader, "a table of more than 1000 column families");
  if (reader->status != TIDE_WIRE_OK)
    return;
  *settings = family.settings;
  settings->name = g_strndup((const char *)family.name.data, family.name.len);
  if (settings->time_to_live_s == TIME_TO_LIVE_FOREVER_S)
    settings->time_to_live_s = 0;
  g_ptr_array_add(families, g_steal_pointer(&settings));
}

static void
read_families(TideWireReader *reader, GPtrArray *families)
{
  guint32 count;
  if (!tide_wire_read_list_of(reader, TIDE_WIRE_STRUCT, &count))
    return;
  for (guint32 i = 0; i < count && reader->status == TIDE_WIRE_OK; i++)
    read_family(reader, families);
}

static void
read_attributes(TideWireReader *reader, TideTableDescription *description)
{
  TideWireContainer map;
  if (!tide_wire_read_map(reader, &map))
    return;
  if (map.count > 0 && (map.key_type != TIDE_WIRE_STRING || map.element_type != TIDE_WIRE_STRING))
    tide_wire_reader_fail(reader, "a map of the wrong type");
  for (guint32 i = 0; i < map.count && reader->status == TIDE_WIRE_OK; i++) {
    TideBytes name = tide_wire_read_string(reader);
    TideBytes value = tide_wire_read_string(reader);
    if (description->attributes->len == ATTRIBUTES_MAX)
      tide_wire_reader_fail(reader, "a table of more than 10000 attributes");
    if (reader->status == TIDE_WIRE_OK)
      tide_table_description_add_attribute(description, name, value);
  }
}

static gboolean
read_description_success(TideWireReader *reader, const TideWireField *result, gpointer data)
{
  TideTableDescription *description = data;
  if (!tide_wire_field_is(reader, result, TIDE_WIRE_STRUCT))
    return FALSE;
  TideWireField field = {0};
  while (tide_wire_read_field(reader, &field)) {
    if (field.id == 1 && field.type == TIDE_WIRE_STRUCT)
      description->name = read_table_name(reader);
    else if (field.id == 2 && field.type == TIDE_WIRE_LIST)
      read_families(reader, description->families);
    else if (field.id == 3 && field.type == TIDE_WIRE_MAP)
      read_attributes(reader, description);
    else if (field.id == 4 && field.type == TIDE_WIRE_I32)
      description->durability = tide_wire_read_i32(reader);
    else
      tide_wire_skip(reader, field.type);
  }
  return description->name != NULL;
}

TideTableDescription *
tide_reply_read_description(const TideReply *reply, GError **error)
{
  g_autoptr(TideTableDescription) description = tide_table_description_new(NULL);
  if (!tide_reply_read_result(reply, read_description_success, description, error))
    return NULL;
  return g_steal_pointer(&description);
}
