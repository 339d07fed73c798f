/* The replies that describe tables: where their regions are, and how they were made. */
#include "thrift/wire/reply_reader.h"

/* HConstants.FOREVER of HBase */
#define TIME_TO_LIVE_FOREVER_S G_MAXINT32

/* What is built of a reply takes more than the reply's bytes: some hundred for a region of forty. These are far beyond
 * any HBase, and keep what a gateway can make the daemon allocate near to what it sent. */
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

/* TServerName: 1 host, 2 port. Ownership: (transfer full). */
static char *
read_server(TideWireReader *reader)
{
  TideBytes host = TIDE_BYTES_EMPTY;
  gint32 port = 0;
  TideWireField field = {0};
  while (tide_wire_read_field(reader, &field)) {
    if (field.id == 1 && field.type == TIDE_WIRE_STRING)
      host = tide_wire_read_string(reader);
    else if (field.id == 2 && field.type == TIDE_WIRE_I32)
      port = tide_wire_read_i32(reader);
    else
      tide_wire_skip(reader, field.type);
  }
  g_autofree char *printable = tide_bytes_printable(tide_bytes(host.data, MIN(host.len, 253)));
  return g_strdup_printf("%s:%d", printable, port);
}

typedef struct RegionInfo {
  TideBytes start_key;
  TideBytes end_key;
  gboolean serves_rows; /* no replica, no offline parent of a split */
} RegionInfo;

/* THRegionInfo */
static RegionInfo
read_region_info(TideWireReader *reader)
{
  RegionInfo info = {.serves_rows = TRUE};
  TideWireField field = {0};
  while (tide_wire_read_field(reader, &field)) {
    if (field.id == 3 && field.type == TIDE_WIRE_STRING)
      info.start_key = tide_wire_read_string(reader);
    else if (field.id == 4 && field.type == TIDE_WIRE_STRING)
      info.end_key = tide_wire_read_string(reader);
    else if ((field.id == 5 || field.id == 6) && field.type == TIDE_WIRE_BOOL)
      info.serves_rows &= !tide_wire_read_bool(reader);
    else if (field.id == 7 && field.type == TIDE_WIRE_I32)
      info.serves_rows &= tide_wire_read_i32(reader) == 0;
    else
      tide_wire_skip(reader, field.type);
  }
  return info;
}

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
      info = read_region_info(reader);
      has_info = TRUE;
    } else {
      tide_wire_skip(reader, field.type);
    }
  }
  if (!has_info || server == NULL) /* also bounds what an element can cost: it has bytes of its own */
    tide_wire_reader_fail(reader, "a region without its keys or its server");
  if (regions->len == REGIONS_MAX)
    tide_wire_reader_fail(reader, "a table of more than 100000 regions");
  if (reader->status != TIDE_WIRE_OK || !info.serves_rows)
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

/* HBase takes no longer names. Empty when it failed. */
static TideBytes
read_name(TideWireReader *reader)
{
  TideBytes name = tide_wire_read_string(reader);
  if (name.len <= NAME_MAX_BYTES)
    return name;
  tide_wire_reader_fail(reader, "a name of more than 1024 bytes");
  return TIDE_BYTES_EMPTY;
}

/* TTableName: 1 namespace, 2 name. Ownership: (transfer full). */
static char *
read_table_name(TideWireReader *reader)
{
  TideBytes space = TIDE_BYTES_EMPTY, name = TIDE_BYTES_EMPTY;
  TideWireField field = {0};
  while (tide_wire_read_field(reader, &field)) {
    if (field.id == 1 && field.type == TIDE_WIRE_STRING)
      space = read_name(reader);
    else if (field.id == 2 && field.type == TIDE_WIRE_STRING)
      name = read_name(reader);
    else
      tide_wire_skip(reader, field.type);
  }
  g_autofree char *printable_name = tide_bytes_printable(name);
  if (space.len == 0 || tide_bytes_equal(space, TIDE_BYTES_LITERAL("default")))
    return g_steal_pointer(&printable_name);
  g_autofree char *printable_space = tide_bytes_printable(space);
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
    if (name[0] == '\0') /* also bounds what an element can cost: it has bytes of its own */
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

/* Where an i32 of a family goes; NULL for a field that is not kept. */
static gint32 *
family_number(TideFamilySettings *family, gint16 id)
{
  switch (id) {
  case 4:
    return &family->block_size_bytes;
  case 5:
    return &family->bloom_filter;
  case 6:
    return &family->compression;
  case 8:
    return &family->data_block_encoding;
  case 10:
    return &family->max_versions;
  case 13:
    return &family->time_to_live_s;
  default:
    return NULL;
  }
}

/* As it is: it is escaped where it is shown. NULL when it failed. Ownership: (transfer full). */
static char *
read_family_name(TideWireReader *reader)
{
  TideBytes name = read_name(reader);
  if (name.len > 0 && memchr(name.data, 0, name.len) == NULL)
    return g_strndup((const char *)name.data, name.len);
  tide_wire_reader_fail(reader, "a column family without a name");
  return NULL;
}

/* TColumnFamilyDescriptor */
static void
read_family(TideWireReader *reader, GPtrArray *families)
{
  g_autoptr(TideFamilySettings) family = tide_family_settings_new(NULL);
  TideWireField field = {0};
  while (tide_wire_read_field(reader, &field)) {
    gint32 *number = family_number(family, field.id);
    if (field.id == 1 && field.type == TIDE_WIRE_STRING)
      family->name = read_family_name(reader);
    else if (number != NULL && field.type == TIDE_WIRE_I32)
      *number = tide_wire_read_i32(reader);
    else if (field.id == 20 && field.type == TIDE_WIRE_BOOL)
      family->in_memory = tide_wire_read_bool(reader) ? 1 : 0;
    else
      tide_wire_skip(reader, field.type);
  }
  if (family->name == NULL)
    tide_wire_reader_fail(reader, "a column family without a name");
  if (families->len == FAMILIES_MAX)
    tide_wire_reader_fail(reader, "a table of more than 1000 column families");
  if (reader->status != TIDE_WIRE_OK)
    return;
  if (family->time_to_live_s == TIME_TO_LIVE_FOREVER_S)
    family->time_to_live_s = 0;
  g_ptr_array_add(families, g_steal_pointer(&family));
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
    tide_wire_reader_fail(reader, "a map of the wrong types");
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
