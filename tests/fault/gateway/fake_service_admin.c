/* Executes the calls about regions, tables and namespaces. */
#include "fault/gateway/fake_service_private.h"

#define SERVER_PORT 16020 /* hbase.regionserver.port */
#define N_SERVERS 3

static void
write_region_location(TideFakeWriter *writer, const char *table, const TideFakeRegion *region)
{
  g_autofree char *host = g_strdup_printf("rs%" G_GINT64_FORMAT ".example", region->region_id % N_SERVERS);
  fake_writer_struct_begin(writer);
  fake_writer_struct_field(writer, 1);
  fake_writer_struct_begin(writer);
  fake_writer_string_field(writer, 1, host);
  fake_writer_i32_field(writer, 2, SERVER_PORT);
  fake_writer_i64_field(writer, 3, 1);
  fake_writer_struct_end(writer);
  fake_writer_struct_field(writer, 2);
  fake_writer_struct_begin(writer);
  fake_writer_i64_field(writer, 1, 0); /* the gateway never fills it in */
  fake_writer_string_field(writer, 2, table);
  fake_writer_binary_field(writer, 3, region->start_key);
  fake_writer_binary_field(writer, 4, region->end_key);
  fake_writer_bool_field(writer, 5, region->offline);
  fake_writer_bool_field(writer, 6, region->split);
  fake_writer_i32_field(writer, 7, region->replica_id);
  fake_writer_struct_end(writer);
  fake_writer_struct_end(writer);
}

static void
answer_region_locations(TideAnswer *answer)
{
  TideFakeWriter *writer = answer->writer;
  g_autoptr(GPtrArray) regions = fake_hbase_regions(answer->service->hbase, answer->request->table);
  fake_reply_begin(answer);
  fake_writer_list_field(writer, 0, TIDE_FAKE_STRUCT, regions->len);
  for (guint i = 0; i < regions->len; i++)
    write_region_location(writer, answer->request->table, regions->pdata[i]);
  fake_reply_end(answer);
}

static void
write_table_name(TideFakeWriter *writer, const char *name)
{
  const char *colon = strchr(name, ':');
  fake_writer_struct_begin(writer);
  fake_writer_binary_field(writer, 1,
                           colon != NULL ? tide_bytes(name, (gsize)(colon - name)) : TIDE_BYTES_LITERAL("default"));
  fake_writer_string_field(writer, 2, colon != NULL ? colon + 1 : name);
  fake_writer_struct_end(writer);
}

static void
write_text_pair(TideFakeWriter *writer, const char *name, const char *value)
{
  fake_writer_binary(writer, tide_bytes_of_string(name));
  fake_writer_binary(writer, tide_bytes_of_string(value));
}

static void
write_number_pair(TideFakeWriter *writer, const char *name, gint32 value)
{
  g_autofree char *text = g_strdup_printf("%d", value);
  write_text_pair(writer, name, text);
}

static const char *
name_of(const char *const *names, gsize n_names, gint32 value)
{
  return value >= 0 && (gsize)value < n_names && names[value] != NULL ? names[value] : "NONE";
}

/* The settings once more, as HBase's own text. */
static void
write_family_attributes(TideFakeWriter *writer, const TideFakeFamily *family)
{
  static const char *const blooms[] = {"NONE", "ROW", "ROWCOL", "ROWPREFIX_FIXED_LENGTH"};
  static const char *const encodings[] = {"NONE", NULL, "PREFIX", "DIFF", "FAST_DIFF", NULL, NULL, "ROW_INDEX_V1"};
  static const char *const compressions[] = {"LZO", "GZ", "NONE", "SNAPPY", "LZ4", "BZIP2", "ZSTD"};
  fake_writer_map_field(writer, 2, TIDE_FAKE_BINARY, TIDE_FAKE_BINARY, 12);
  write_text_pair(writer, "INDEX_BLOCK_ENCODING", "NONE");
  write_number_pair(writer, "VERSIONS", family->max_versions);
  write_text_pair(writer, "KEEP_DELETED_CELLS", "FALSE");
  write_text_pair(writer, "BLOOMFILTER", name_of(blooms, G_N_ELEMENTS(blooms), family->bloom_filter));
  write_number_pair(writer, "BLOCKSIZE", family->block_size_bytes);
  write_text_pair(writer, "BLOCKCACHE", family->block_cache ? "true" : "false");
  write_text_pair(writer, "DATA_BLOCK_ENCODING",
                  name_of(encodings, G_N_ELEMENTS(encodings), family->data_block_encoding));
  write_number_pair(writer, "MIN_VERSIONS", family->min_versions);
  write_number_pair(writer, "TTL", family->time_to_live_s);
  write_text_pair(writer, "REPLICATION_SCOPE", "0");
  write_text_pair(writer, "IN_MEMORY", family->in_memory ? "true" : "false");
  write_text_pair(writer, "COMPRESSION", name_of(compressions, G_N_ELEMENTS(compressions), family->compression));
}

/* TColumnFamilyDescriptor; what the fake has no setting for is HBase's default. */
static void
write_family(TideFakeWriter *writer, const TideFakeFamily *family)
{
  fake_writer_struct_begin(writer);
  fake_writer_string_field(writer, 1, family->name);
  write_family_attributes(writer, family);
  fake_writer_i32_field(writer, 4, family->block_size_bytes);
  fake_writer_i32_field(writer, 5, family->bloom_filter);
  fake_writer_i32_field(writer, 6, family->compression);
  fake_writer_i16_field(writer, 7, 0); /* dfsReplication */
  fake_writer_i32_field(writer, 8, family->data_block_encoding);
  fake_writer_i32_field(writer, 9, 0); /* keepDeletedCells */
  fake_writer_i32_field(writer, 10, family->max_versions);
  fake_writer_i32_field(writer, 11, family->min_versions);
  fake_writer_i32_field(writer, 12, 0); /* scope */
  fake_writer_i32_field(writer, 13, family->time_to_live_s);
  fake_writer_bool_field(writer, 14, family->block_cache);
  fake_writer_bool_field(writer, 15, FALSE); /* cacheBloomsOnWrite */
  fake_writer_bool_field(writer, 16, FALSE); /* cacheDataOnWrite */
  fake_writer_bool_field(writer, 17, FALSE); /* cacheIndexesOnWrite */
  fake_writer_bool_field(writer, 18, TRUE);  /* compressTags */
  fake_writer_bool_field(writer, 19, FALSE); /* evictBlocksOnClose */
  fake_writer_bool_field(writer, 20, family->in_memory);
  fake_writer_struct_end(writer);
}

static void
answer_descriptor(TideAnswer *answer)
{
  g_auto(TideFakeError) error = {0};
  TideFakeWriter *writer = answer->writer;
  g_autoptr(TideFakeTableSpec) spec = fake_hbase_describe(answer->service->hbase, answer->request->table, &error);
  if (spec == NULL) {
    fake_reply_error(answer, &error);
    return;
  }
  fake_reply_begin(answer);
  fake_writer_struct_field(writer, 0);
  fake_writer_struct_begin(writer);
  fake_writer_struct_field(writer, 1);
  write_table_name(writer, spec->name);
  fake_writer_list_field(writer, 2, TIDE_FAKE_STRUCT, spec->families->len);
  for (guint i = 0; i < spec->families->len; i++)
    write_family(writer, spec->families->pdata[i]);
  fake_writer_map_field(writer, 3, TIDE_FAKE_BINARY, TIDE_FAKE_BINARY, spec->attributes->len + 2);
  for (guint i = 0; i < spec->attributes->len; i++) {
    const TideFakeAttribute *attribute = &g_array_index(spec->attributes, TideFakeAttribute, i);
    fake_writer_binary(writer, attribute->name);
    fake_writer_binary(writer, attribute->value);
  }
  write_text_pair(writer, "IS_META", "false");
  write_text_pair(writer, "hbase.store.file-tracker.impl", "DEFAULT");
  fake_writer_i32_field(writer, 4, spec->durability);
  fake_writer_struct_end(writer);
  fake_reply_end(answer);
}

static void
answer_create_table(TideAnswer *answer)
{
  g_auto(TideFakeError) error = {0};
  TideFakeService *service = answer->service;
  const TideFakeRequest *request = answer->request;
  /* Measured: a framed gateway reads its whole frame as each split key, and then finds them equal. */
  if (service->framed && request->splits->len > 0) {
    fake_service_write_application_error(answer->writer, request, TIDE_APPLICATION_INTERNAL_ERROR,
                                         "Internal error processing createTable");
    return;
  }
  TideFakeTableSpec *spec = fake_table_spec_copy(request->spec);
  fake_reply_done(answer,
                  fake_hbase_create_table(service->hbase, spec, (const TideBytes *)(void *)request->splits->data,
                                          request->splits->len, &error),
                  &error);
}

static void
answer_is_enabled(TideAnswer *answer)
{
  g_auto(TideFakeError) error = {0};
  gboolean enabled = FALSE;
  if (fake_hbase_is_enabled(answer->service->hbase, answer->request->table, &enabled, &error))
    fake_reply_bool(answer, enabled);
  else
    fake_reply_error(answer, &error);
}

static void
answer_list_namespaces(TideAnswer *answer)
{
  g_auto(GStrv) names = fake_hbase_namespaces(answer->service->hbase);
  fake_reply_begin(answer);
  fake_writer_list_field(answer->writer, 0, TIDE_FAKE_BINARY, g_strv_length(names));
  for (guint i = 0; names[i] != NULL; i++)
    fake_writer_binary(answer->writer, tide_bytes_of_string(names[i]));
  fake_reply_end(answer);
}

static void
answer_table_names(TideAnswer *answer)
{
  g_auto(GStrv) names = fake_hbase_tables(answer->service->hbase);
  fake_reply_begin(answer);
  fake_writer_list_field(answer->writer, 0, TIDE_FAKE_STRUCT, g_strv_length(names));
  for (guint i = 0; names[i] != NULL; i++)
    write_table_name(answer->writer, names[i]);
  fake_reply_end(answer);
}

static void
answer_cluster_id(TideAnswer *answer)
{
  g_autofree char *cluster = fake_hbase_cluster(answer->service->hbase);
  fake_reply_begin(answer);
  fake_writer_string_field(answer->writer, 0, cluster);
  fake_reply_end(answer);
}

void
fake_service_answer_admin(TideAnswer *answer)
{
  g_auto(TideFakeError) error = {0};
  TideFakeHBase *hbase = answer->service->hbase;
  const TideFakeRequest *request = answer->request;
  switch (request->call) {
  case TIDE_CALL_GET_CLUSTER_ID:
    answer_cluster_id(answer);
    break;
  case TIDE_CALL_GET_ALL_REGION_LOCATIONS:
    answer_region_locations(answer);
    break;
  case TIDE_CALL_TABLE_EXISTS:
    fake_reply_bool(answer, fake_hbase_table_exists(hbase, request->table));
    break;
  case TIDE_CALL_GET_TABLE_DESCRIPTOR:
    answer_descriptor(answer);
    break;
  case TIDE_CALL_IS_TABLE_ENABLED:
    answer_is_enabled(answer);
    break;
  case TIDE_CALL_CREATE_TABLE:
    answer_create_table(answer);
    break;
  case TIDE_CALL_CREATE_NAMESPACE:
    fake_reply_done(answer, fake_hbase_create_namespace(hbase, request->name_space, &error), &error);
    break;
  case TIDE_CALL_LIST_NAMESPACES:
    answer_list_namespaces(answer);
    break;
  case TIDE_CALL_GET_TABLE_NAMES_BY_PATTERN:
    answer_table_names(answer);
    break;
  default: /* fake_service.c has the others */
    g_assert_not_reached();
  }
}
