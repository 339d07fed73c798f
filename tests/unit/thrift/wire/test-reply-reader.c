/* Replies: what is read of good ones, and that every bad one is refused. */
#include "thrift/wire/reply_reader.h"

#include "unit/allocation_counter.h"
#include "unit/assert_bytes.h"
#include "unit/reply_builder.h"
#include "unit/test_case.h"
#include "util/error.h"

#define SEQUENCE_ID 77

static TideReply
reply_of(TideWireProtocol protocol, const char *method, TideBytes message)
{
  return (TideReply){.protocol = protocol, .sequence_id = SEQUENCE_ID, .message = message, .method = method};
}

/* ---- rows ---- */

typedef struct Collected {
  GString *text; /* one "row: qualifier=value@time ..." a line */
  guint stop_after;
  guint rows;
} Collected;

static gboolean
collect_row(const TideResultRow *row, gpointer data)
{
  Collected *collected = data;
  g_string_append_len(collected->text, (const char *)row->row.data, (gssize)row->row.len);
  g_string_append_c(collected->text, ':');
  for (gsize i = 0; i < row->n_cells; i++) {
    const TideResultCell *cell = &row->cells[i];
    assert_bytes_equal(cell->family, TIDE_BYTES_LITERAL("M"));
    g_string_append_printf(collected->text, " %.*s=%.*s@%" G_GINT64_FORMAT, (int)cell->qualifier.len,
                           cell->qualifier.data, (int)cell->value.len, cell->value.data, cell->timestamp_ms);
  }
  g_string_append_c(collected->text, '\n');
  collected->rows++;
  return collected->rows != collected->stop_after;
}

/* Three rows of 2, 0 and 1 cells. */
static TideBytes
three_rows(TideWireProtocol protocol)
{
  Oracle *oracle = oracle_get(protocol);
  ThriftProtocol *to = reply_begin(oracle, "getScannerRows", T_REPLY, SEQUENCE_ID);
  reply_field(to, T_LIST, 0);
  require_written(thrift_protocol_write_list_begin(to, T_STRUCT, 3, NULL));
  HbaseTResult *first = result_new("a");
  result_add_cell(first, "x", "1", 1426535612045);
  result_add_cell(first, "y", "", G_MININT64);
  first->stale = TRUE;
  first->__isset_stale = TRUE;
  reply_write_object(to, first);
  reply_write_object(to, result_new("b"));
  HbaseTResult *third = result_new("c");
  result_add_cell(third, "", "3", -1);
  reply_write_object(to, third);
  return reply_end(oracle);
}

TEST("/reply/rows-are-read-in-both-protocols")
{
  for (guint protocol = 0; protocol < 2; protocol++) {
    TideReply reply = reply_of((TideWireProtocol)protocol, "getScannerRows", three_rows((TideWireProtocol)protocol));
    g_autoptr(GArray) cells = g_array_new(FALSE, FALSE, sizeof(TideResultCell));
    g_autoptr(GString) text = g_string_new(NULL);
    Collected collected = {.text = text};
    TideRowSink sink = {.cells = cells, .func = collect_row, .data = &collected};
    guint32 results = 0;
    g_autoptr(GError) error = NULL;
    g_assert_true(tide_reply_read_rows(&reply, &sink, &results, &error));
    g_assert_no_error(error);
    g_assert_cmpuint(results, ==, 3);
    g_assert_cmpuint(sink.rows, ==, 3);
    g_assert_cmpstr(text->str, ==, "a: x=1@1426535612045 y=@-9223372036854775808\nb:\nc: =3@-1\n");
  }
}

TEST("/reply/rows-end-at-the-limit-and-when-told-to")
{
  g_autoptr(GArray) cells = g_array_new(FALSE, FALSE, sizeof(TideResultCell));
  g_autoptr(GString) text = g_string_new(NULL);
  TideReply reply = reply_of(TIDE_WIRE_COMPACT, "getScannerRows", three_rows(TIDE_WIRE_COMPACT));
  guint32 results = 0;

  Collected stopping = {.text = text, .stop_after = 1};
  TideRowSink sink = {.cells = cells, .func = collect_row, .data = &stopping};
  g_assert_true(tide_reply_read_rows(&reply, &sink, &results, NULL));
  g_assert_true(sink.stopped);
  g_assert_cmpuint(sink.rows, ==, 1);
  g_assert_cmpuint(results, ==, 3);

  Collected limited = {.text = text};
  sink = (TideRowSink){.cells = cells, .func = collect_row, .data = &limited, .limit_rows = 2};
  g_assert_true(tide_reply_read_rows(&reply, &sink, &results, NULL));
  g_assert_true(sink.stopped);
  g_assert_cmpuint(limited.rows, ==, 2);
}

/* The generated reader keeps 70 of as many. */
TEST("/reply/row-of-1000-columns-keeps-them-all")
{
  for (guint protocol = 0; protocol < 2; protocol++) {
    Oracle *oracle = oracle_get((TideWireProtocol)protocol);
    ThriftProtocol *to = reply_begin(oracle, "get", T_REPLY, SEQUENCE_ID);
    reply_field(to, T_STRUCT, 0);
    HbaseTResult *result = result_new("wide");
    for (guint i = 0; i < 1000; i++) {
      char qualifier[16];
      g_snprintf(qualifier, sizeof qualifier, "q%u", i);
      result_add_cell(result, qualifier, "v", i);
    }
    reply_write_object(to, result);
    TideReply reply = reply_of((TideWireProtocol)protocol, "get", reply_end(oracle));
    g_autoptr(GArray) cells = g_array_new(FALSE, FALSE, sizeof(TideResultCell));
    TideRowSink sink = {.cells = cells};
    g_assert_true(tide_reply_read_row(&reply, &sink, NULL));
    g_assert_cmpuint(sink.rows, ==, 1);
    g_assert_cmpuint(cells->len, ==, 1000);
    assert_bytes_equal(g_array_index(cells, TideResultCell, 999).qualifier, TIDE_BYTES_LITERAL("q999"));
  }
}

TEST("/reply/row-that-does-not-exist-is-none")
{
  Oracle *oracle = oracle_get(TIDE_WIRE_BINARY);
  ThriftProtocol *to = reply_begin(oracle, "get", T_REPLY, SEQUENCE_ID);
  reply_field(to, T_STRUCT, 0);
  reply_write_object(to, result_new(NULL));
  TideReply reply = reply_of(TIDE_WIRE_BINARY, "get", reply_end(oracle));
  g_autoptr(GArray) cells = g_array_new(FALSE, FALSE, sizeof(TideResultCell));
  TideRowSink sink = {.cells = cells};
  g_assert_true(tide_reply_read_row(&reply, &sink, NULL));
  g_assert_cmpuint(sink.rows, ==, 0);
}

/* ---- regions ---- */

static HbaseTHRegionLocation *
region_location(const char *start_key, const char *end_key, gboolean offline, gboolean split, gint32 replica)
{
  HbaseTHRegionLocation *location = g_object_new(HBASE_TYPE_T_H_REGION_LOCATION, NULL);
  location->serverName->hostName = g_strdup("rs1.example");
  location->serverName->port = 16020;
  location->serverName->__isset_port = TRUE;
  HbaseTHRegionInfo *info = location->regionInfo;
  info->regionId = 1;
  info->tableName = oracle_byte_array(TIDE_BYTES_LITERAL("METRIC"));
  info->startKey = oracle_byte_array(tide_bytes_of_string(start_key));
  info->__isset_startKey = TRUE;
  info->endKey = oracle_byte_array(tide_bytes_of_string(end_key));
  info->__isset_endKey = TRUE;
  info->offline = offline;
  info->__isset_offline = TRUE;
  info->split = split;
  info->__isset_split = TRUE;
  info->replicaId = replica;
  info->__isset_replicaId = TRUE;
  return location;
}

TEST("/reply/regions-are-sorted-without-replicas-and-parents")
{
  for (guint protocol = 0; protocol < 2; protocol++) {
    Oracle *oracle = oracle_get((TideWireProtocol)protocol);
    ThriftProtocol *to = reply_begin(oracle, "getAllRegionLocations", T_REPLY, SEQUENCE_ID);
    reply_field(to, T_LIST, 0);
    require_written(thrift_protocol_write_list_begin(to, T_STRUCT, 6, NULL));
    reply_write_object(to, region_location("m", "", FALSE, FALSE, 0));
    reply_write_object(to, region_location("f", "m", FALSE, FALSE, 0));
    reply_write_object(to, region_location("", "f", FALSE, FALSE, 0));
    reply_write_object(to, region_location("", "f", FALSE, FALSE, 1)); /* a replica */
    reply_write_object(to, region_location("", "m", TRUE, FALSE, 0));  /* an offline parent */
    reply_write_object(to, region_location("", "m", FALSE, TRUE, 0));  /* a split one */
    TideReply reply = reply_of((TideWireProtocol)protocol, "getAllRegionLocations", reply_end(oracle));
    g_autoptr(GError) error = NULL;
    g_autoptr(GPtrArray) regions = tide_reply_read_regions(&reply, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(regions->len, ==, 3);
    static const char *const starts[] = {"", "f", "m"}, *const ends[] = {"f", "m", ""};
    for (guint i = 0; i < 3; i++) {
      const TideRegion *region = g_ptr_array_index(regions, i);
      assert_bytes_equal(region->start_key, tide_bytes_of_string(starts[i]));
      assert_bytes_equal(region->end_key, tide_bytes_of_string(ends[i]));
      g_assert_cmpstr(region->server, ==, "rs1.example:16020");
    }
  }
}

TEST("/reply/missing-table-has-no-regions")
{
  Oracle *oracle = oracle_get(TIDE_WIRE_COMPACT);
  ThriftProtocol *to = reply_begin(oracle, "getAllRegionLocations", T_REPLY, SEQUENCE_ID);
  reply_field(to, T_LIST, 0);
  require_written(thrift_protocol_write_list_begin(to, T_STRUCT, 0, NULL));
  TideReply reply = reply_of(TIDE_WIRE_COMPACT, "getAllRegionLocations", reply_end(oracle));
  g_autoptr(GPtrArray) regions = tide_reply_read_regions(&reply, NULL);
  g_assert_nonnull(regions);
  g_assert_cmpuint(regions->len, ==, 0);
}

/* ---- table names ---- */

static GObject *
table_name(const char *table_namespace, const char *name)
{
  HbaseTTableName *object = g_object_new(HBASE_TYPE_T_TABLE_NAME, NULL);
  object->ns = oracle_byte_array(tide_bytes_of_string(table_namespace));
  object->__isset_ns = TRUE;
  object->qualifier = oracle_byte_array(tide_bytes_of_string(name));
  return G_OBJECT(object);
}

TEST("/reply/table-names-have-their-namespace")
{
  for (guint protocol = 0; protocol < 2; protocol++) {
    Oracle *oracle = oracle_get((TideWireProtocol)protocol);
    ThriftProtocol *to = reply_begin(oracle, "getTableNamesByPattern", T_REPLY, SEQUENCE_ID);
    reply_field(to, T_LIST, 0);
    require_written(thrift_protocol_write_list_begin(to, T_STRUCT, 2, NULL));
    reply_write_object(to, table_name("default", "SENSOR_20170726"));
    reply_write_object(to, table_name("plant", "METRIC"));
    TideReply reply = reply_of((TideWireProtocol)protocol, "getTableNamesByPattern", reply_end(oracle));
    g_autoptr(GError) error = NULL;
    g_autoptr(GPtrArray) names = tide_reply_read_table_names(&reply, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(names->len, ==, 2);
    g_assert_cmpstr(names->pdata[0], ==, "SENSOR_20170726");
    g_assert_cmpstr(names->pdata[1], ==, "plant:METRIC");
  }
}

/* ---- table descriptors ---- */

TEST("/reply/table-descriptor-keeps-all-attributes")
{
  for (guint protocol = 0; protocol < 2; protocol++) {
    Oracle *oracle = oracle_get((TideWireProtocol)protocol);
    HbaseTTableDescriptor *descriptor = g_object_new(HBASE_TYPE_T_TABLE_DESCRIPTOR, NULL);
    descriptor->tableName->ns = oracle_byte_array(TIDE_BYTES_LITERAL("plant"));
    descriptor->tableName->__isset_ns = TRUE;
    descriptor->tableName->qualifier = oracle_byte_array(TIDE_BYTES_LITERAL("METRIC"));
    HbaseTColumnFamilyDescriptor *family = g_object_new(HBASE_TYPE_T_COLUMN_FAMILY_DESCRIPTOR, NULL);
    family->name = oracle_byte_array(TIDE_BYTES_LITERAL("M"));
    family->compressionType = HBASE_T_COMPRESSION_ALGORITHM_GZ;
    family->__isset_compressionType = TRUE;
    family->timeToLive = 86400;
    family->__isset_timeToLive = TRUE;
    family->inMemory = FALSE;
    family->__isset_inMemory = TRUE;
    g_ptr_array_add(descriptor->columns, family);
    family = g_object_new(HBASE_TYPE_T_COLUMN_FAMILY_DESCRIPTOR, NULL);
    family->name = oracle_byte_array(TIDE_BYTES_LITERAL("N"));
    family->timeToLive = G_MAXINT32; /* HBase's "for ever" */
    family->__isset_timeToLive = TRUE;
    g_ptr_array_add(descriptor->columns, family);
    descriptor->__isset_columns = TRUE;
    g_hash_table_unref(descriptor->attributes);
    descriptor->attributes = g_hash_table_new_full(g_direct_hash, g_direct_equal, (GDestroyNotify)g_byte_array_unref,
                                                   (GDestroyNotify)g_byte_array_unref);
    for (guint8 i = 0; i < 200; i++)
      g_hash_table_insert(descriptor->attributes, oracle_byte_array(tide_bytes(&i, 1)),
                          oracle_byte_array(TIDE_BYTES_LITERAL("v")));
    descriptor->__isset_attributes = TRUE;
    descriptor->durability = HBASE_T_DURABILITY_ASYNC_WAL;
    descriptor->__isset_durability = TRUE;

    ThriftProtocol *to = reply_begin(oracle, "getTableDescriptor", T_REPLY, SEQUENCE_ID);
    reply_field(to, T_STRUCT, 0);
    reply_write_object(to, descriptor);
    TideReply reply = reply_of((TideWireProtocol)protocol, "getTableDescriptor", reply_end(oracle));
    g_autoptr(GError) error = NULL;
    g_autoptr(TideTableDescription) description = tide_reply_read_description(&reply, &error);
    g_assert_no_error(error);
    g_assert_cmpstr(description->name, ==, "plant:METRIC");
    g_assert_cmpuint(description->families->len, ==, 2);
    const TideFamilySettings *first = g_ptr_array_index(description->families, 0);
    g_assert_cmpstr(first->name, ==, "M");
    g_assert_cmpint(first->compression, ==, TIDE_COMPRESSION_GZ);
    g_assert_cmpint(first->time_to_live_s, ==, 86400);
    g_assert_cmpint(first->in_memory, ==, 0);
    g_assert_cmpint(first->bloom_filter, ==, -1);
    const TideFamilySettings *second = g_ptr_array_index(description->families, 1);
    g_assert_cmpint(second->time_to_live_s, ==, 0);
    g_assert_cmpint(description->durability, ==, TIDE_DURABILITY_ASYNC_WAL);
    g_assert_cmpuint(description->attributes->len, ==, 200); /* none lost */
  }
}

/* ---- plain results ---- */

TEST("/reply/plain-results-are-read")
{
  for (guint protocol = 0; protocol < 2; protocol++) {
    Oracle *oracle = oracle_get((TideWireProtocol)protocol);
    reply_begin(oracle, "putMultiple", T_REPLY, SEQUENCE_ID);
    TideReply reply = reply_of((TideWireProtocol)protocol, "putMultiple", reply_end(oracle));
    g_assert_true(tide_reply_read_void(&reply, NULL));

    ThriftProtocol *to = reply_begin(oracle, "tableExists", T_REPLY, SEQUENCE_ID);
    reply_field(to, T_BOOL, 0);
    require_written(thrift_protocol_write_bool(to, TRUE, NULL));
    reply = reply_of((TideWireProtocol)protocol, "tableExists", reply_end(oracle));
    gboolean exists = FALSE;
    g_assert_true(tide_reply_read_bool(&reply, &exists, NULL));
    g_assert_true(exists);

    to = reply_begin(oracle, "openScanner", T_REPLY, SEQUENCE_ID);
    reply_field(to, T_I32, 0);
    require_written(thrift_protocol_write_i32(to, -5, NULL));
    reply = reply_of((TideWireProtocol)protocol, "openScanner", reply_end(oracle));
    gint32 number = 0;
    g_assert_true(tide_reply_read_i32(&reply, &number, NULL));
    g_assert_cmpint(number, ==, -5);

    to = reply_begin(oracle, "listNamespaces", T_REPLY, SEQUENCE_ID);
    reply_field(to, T_LIST, 0);
    require_written(thrift_protocol_write_list_begin(to, T_STRING, 2, NULL));
    require_written(thrift_protocol_write_string(to, "default", NULL));
    require_written(thrift_protocol_write_string(to, "plant", NULL));
    reply = reply_of((TideWireProtocol)protocol, "listNamespaces", reply_end(oracle));
    gboolean contains = FALSE;
    g_assert_true(tide_reply_read_names(&reply, "plant", &contains, NULL));
    g_assert_true(contains);
    g_assert_true(tide_reply_read_names(&reply, "default", &contains, NULL));
    g_assert_true(contains);
    g_assert_true(tide_reply_read_names(&reply, "plan", &contains, NULL));
    g_assert_false(contains);
  }
}

/* A writer reads one for each call. */
TEST("/reply/acknowledgements-allocate-nothing")
{
  if (!ALLOCATION_COUNTER_WORKS) {
    g_test_skip("the sanitizer's allocator is not counted");
    return;
  }
  Oracle *oracle = oracle_get(TIDE_WIRE_BINARY);
  reply_begin(oracle, "putMultiple", T_REPLY, SEQUENCE_ID);
  TideReply reply = reply_of(TIDE_WIRE_BINARY, "putMultiple", reply_end(oracle));
  guint64 before = allocation_count;
  g_assert_true(tide_reply_read_void(&reply, NULL));
  g_assert_cmpuint(allocation_count - before, ==, 0);
}

/* ---- exceptions ---- */

TEST("/reply/declared-exception-is-a-gateway-error")
{
  struct {
    gint16 id;
    const char *message;
    int can_retry;
    const char *expected;
  } cases[] = {
      {1, "Failed 1 action: nosuch: 1 time, servers with issues: null", 1,
       "the gateway refused 'putMultiple': Failed 1 action: nosuch: 1 time, servers with issues: null"},
      {1, "old gateway", -1, "the gateway refused 'putMultiple': old gateway"},
      {1, "no", 0, "the gateway refused 'putMultiple' permanently: no"},
      {1, NULL, -1, "the gateway refused 'putMultiple': it gave no reason"},
      {1, "", 1, "the gateway refused 'putMultiple': it gave no reason"},
      {2, "bad argument", -1, "the gateway refused 'putMultiple': bad argument"},
      {1, "H9: \xc2\x9b\x33m C1", 1, "the gateway refused 'putMultiple': H9:   3m C1"},
      {1, "two\nlines\x1b[31m\n", 1, "the gateway refused 'putMultiple': two lines [31m"},
      {1, "TableNotFoundException: T\n\tat Foo.java:1\n\tat Bar.java:2\n", 1,
       "the gateway refused 'putMultiple': TableNotFoundException: T"},
      {1, "Failed 2 actions: A: x\n\tat Foo.java:1\n\t... 3 more\n: 1 time, B: 1 time, ", 1,
       "the gateway refused 'putMultiple': Failed 2 actions: A: x : 1 time, B: 1 time,"},
      {1, "\n\tat Foo.java:1", 1, "the gateway refused 'putMultiple': it gave no reason"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    for (guint protocol = 0; protocol < 2; protocol++) {
      Oracle *oracle = oracle_get((TideWireProtocol)protocol);
      ThriftProtocol *to = reply_begin(oracle, "putMultiple", T_REPLY, SEQUENCE_ID);
      reply_write_exception(to, cases[i].id, cases[i].message, cases[i].can_retry);
      TideReply reply = reply_of((TideWireProtocol)protocol, "putMultiple", reply_end(oracle));
      g_autoptr(GError) error = NULL;
      g_assert_false(tide_reply_read_void(&reply, &error));
      g_assert_error(error, TIDE_ERROR, TIDE_ERROR_GATEWAY);
      g_assert_cmpstr(error->message, ==, cases[i].expected);
      g_assert_false(tide_error_outcome_unknown(error));
    }
  }
}

TEST("/reply/long-exception-text-is-cut")
{
  Oracle *oracle = oracle_get(TIDE_WIRE_BINARY);
  ThriftProtocol *to = reply_begin(oracle, "putMultiple", T_REPLY, SEQUENCE_ID);
  g_autofree char *trace = g_strnfill(100000, 'x');
  reply_write_exception(to, 1, trace, 1);
  TideReply reply = reply_of(TIDE_WIRE_BINARY, "putMultiple", reply_end(oracle));
  g_autoptr(GError) error = NULL;
  g_assert_false(tide_reply_read_void(&reply, &error));
  g_assert_cmpuint(strlen(error->message), <, 2100);
}

TEST("/reply/application-exception-tells-unknown-method")
{
  for (guint protocol = 0; protocol < 2; protocol++) {
    Oracle *oracle = oracle_get((TideWireProtocol)protocol);
    TideBytes internal =
        reply_application_exception(oracle, "putMultiple", SEQUENCE_ID, "Internal error processing putMultiple", 6);
    TideReply reply = reply_of((TideWireProtocol)protocol, "putMultiple", internal);
    g_autoptr(GError) error = NULL;
    g_assert_false(tide_reply_read_void(&reply, &error));
    g_assert_error(error, TIDE_ERROR, TIDE_ERROR_APPLICATION);
    g_assert_cmpstr(error->message, ==,
                    "the gateway failed in 'putMultiple': Internal error processing putMultiple (exception type 6)");
    g_clear_error(&error);

    TideBytes unknown =
        reply_application_exception(oracle, "putMultiple", SEQUENCE_ID, "Invalid method name: 'putMultiple'", 1);
    reply = reply_of((TideWireProtocol)protocol, "putMultiple", unknown);
    g_assert_false(tide_reply_read_void(&reply, &error));
    g_assert_error(error, TIDE_ERROR, TIDE_ERROR_WRONG_SERVICE);
    g_assert_cmpstr(error->message, ==,
                    "the gateway does not know the call 'putMultiple': Invalid method name: 'putMultiple'");
  }
}

/* ---- refused ---- */

static void
check_protocol_error(const TideReply *reply, const char *part)
{
  g_autoptr(GError) error = NULL;
  g_assert_false(tide_reply_read_void(reply, &error));
  g_assert_error(error, TIDE_ERROR, TIDE_ERROR_PROTOCOL);
  g_assert_true(tide_error_outcome_unknown(error));
  if (strstr(error->message, part) == NULL)
    g_error("expected '%s' in '%s'", part, error->message);
}

/* An exception of a later version of the interface is none that we know, and no acknowledgement. */
TEST("/reply-reader/unknown-exception")
{
  for (guint protocol = 0; protocol < 2; protocol++) {
    Oracle *oracle = oracle_get((TideWireProtocol)protocol);
    ThriftProtocol *to = reply_begin(oracle, "putMultiple", T_REPLY, SEQUENCE_ID);
    reply_write_exception(to, 3, "of a new kind", 1);
    TideReply reply = reply_of((TideWireProtocol)protocol, "putMultiple", reply_end(oracle));
    check_protocol_error(&reply, "an unknown result field");
  }
}

TEST("/reply/other-name-sequence-id-or-type-is-refused")
{
  struct {
    const char *name;
    ThriftMessageType type;
    gint32 sequence_id;
    const char *part;
  } cases[] = {
      {"put", T_REPLY, SEQUENCE_ID, "'putMultiple' was answered by a reply to 'put'"},
      {"putMultiplf", T_REPLY, SEQUENCE_ID, "answered by a reply to 'putMultiplf'"},     /* as long */
      {"putMultipleTs", T_REPLY, SEQUENCE_ID, "answered by a reply to 'putMultipleTs'"}, /* begins alike */
      {"", T_REPLY, SEQUENCE_ID, "answered by a reply to ''"},
      {"p\x01\x02", T_REPLY, SEQUENCE_ID, "'p\\x01\\x02'"},
      {"putMultiple", T_REPLY, SEQUENCE_ID - 1, "call 77 of 'putMultiple' was answered by the reply to call 76"},
      {"putMultiple", T_EXCEPTION, 0, "answered by the reply to call 0"},
      {"putMultiple", T_CALL, SEQUENCE_ID, "answered by a message of type 1"},
      {"putMultiple", T_ONEWAY, SEQUENCE_ID, "answered by a message of type 4"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    for (guint protocol = 0; protocol < 2; protocol++) {
      Oracle *oracle = oracle_get((TideWireProtocol)protocol);
      reply_begin(oracle, cases[i].name, cases[i].type, cases[i].sequence_id);
      TideReply reply = reply_of((TideWireProtocol)protocol, "putMultiple", reply_end(oracle));
      check_protocol_error(&reply, cases[i].part);
    }
  }
}

#define HEAD_BINARY(name_len, name) "\x80\x01\0\x02\0\0\0" name_len name "\0\0\0\x4d"

/* A binary reply to "get", by hand. */
static void
check_get_refused(const char *result, gsize len, const char *part)
{
  g_autoptr(GByteArray) message = g_byte_array_new();
  g_byte_array_append(message, (const guint8 *)HEAD_BINARY("\x03", "get"), 15);
  g_byte_array_append(message, (const guint8 *)result, (guint)len);
  TideReply reply = reply_of(TIDE_WIRE_BINARY, "get", tide_bytes(message->data, message->len));
  g_autoptr(GArray) cells = g_array_new(FALSE, FALSE, sizeof(TideResultCell));
  TideRowSink sink = {.cells = cells};
  g_autoptr(GError) error = NULL;
  g_assert_false(tide_reply_read_row(&reply, &sink, &error));
  g_assert_error(error, TIDE_ERROR, TIDE_ERROR_PROTOCOL);
  if (strstr(error->message, part) == NULL)
    g_error("expected '%s' in '%s'", part, error->message);
}

#define GET_REFUSED(result, part) check_get_refused(result, sizeof(result) - 1, part)
#define ROW_OF_ONE_CELL "\x0c\0\0\x0b\0\x01\0\0\0\x01r\x0f\0\x02\x0c\0\0\0\x01"
#define FAMILY "\x0b\0\x01\0\0\0\x01M"
#define QUALIFIER "\x0b\0\x02\0\0\0\x01q"
#define VALUE "\x0b\0\x03\0\0\0\x01v"
#define TIME "\x0a\0\x04\0\0\0\0\0\0\0\x01"

TEST("/reply/hostile-rows-are-refused")
{
  GET_REFUSED("\0", "no result");
  GET_REFUSED("\x08\0\0\0\0\0\x05\0", "no result"); /* an i32 where a struct must be */
  GET_REFUSED("\x0c\0\0\x0b\0\x01\xff\xff\xff\xff\0\0", "a negative length");
  GET_REFUSED("\x0c\0\0\x0b\0\x01\x7f\xff\xff\xff\0\0", "a length exceeds the end");
  GET_REFUSED("\x0c\0\0\x0f\0\x02\x0c\xff\xff\xff\xff\0\0", "a negative count");
  GET_REFUSED("\x0c\0\0\x0f\0\x02\x0c\0\x10\0\0\0\0", "a count exceeds the end");
  GET_REFUSED("\x0c\0\0\x0f\0\x02\x08\0\0\0\x01\0\0\0\x01\0\0", "a list of the wrong type");
  GET_REFUSED("\x0c\0\0\x0b\0\x01\0\0\0\x01"
              "a\x0b\0\x01\0\0\0\x01"
              "b\0\0",
              "a repeated field");
  GET_REFUSED(ROW_OF_ONE_CELL FAMILY QUALIFIER VALUE TIME FAMILY "\0\0\0", "a repeated field");
  GET_REFUSED(ROW_OF_ONE_CELL "\0\0\0", "a cell without");
  GET_REFUSED(ROW_OF_ONE_CELL QUALIFIER VALUE TIME "\0\0\0", "a cell without");
  GET_REFUSED(ROW_OF_ONE_CELL FAMILY VALUE TIME "\0\0\0", "a cell without");
  GET_REFUSED(ROW_OF_ONE_CELL FAMILY QUALIFIER TIME "\0\0\0", "a cell without");
  GET_REFUSED(ROW_OF_ONE_CELL FAMILY QUALIFIER VALUE "\0\0\0", "a cell without");
  GET_REFUSED(ROW_OF_ONE_CELL FAMILY QUALIFIER VALUE "\x08\0\x04\0\0\0\x01\0\0\0", "a cell without");
  GET_REFUSED(ROW_OF_ONE_CELL FAMILY QUALIFIER VALUE TIME "\0\0\0x", "bytes after the end");
  GET_REFUSED(ROW_OF_ONE_CELL FAMILY QUALIFIER VALUE TIME "\0\0", "the end");
  GET_REFUSED(ROW_OF_ONE_CELL FAMILY QUALIFIER VALUE TIME "\x0c\0\x09\x0c\0\x01\x0c\0\x01\x0c", "the end");
}

TEST("/reply/row-of-too-many-cells-is-refused")
{
  guint count = (1u << 20) + 1;
  g_autoptr(GByteArray) result = g_byte_array_new();
  guint8 head[] = {0x0c, 0, 0, 0x0f, 0, 2, 0x0c, 0, (guint8)(count >> 16), (guint8)(count >> 8), (guint8)count};
  g_byte_array_append(result, head, sizeof head);
  g_byte_array_set_size(result, result->len + count + 2);
  memset(result->data + sizeof head, 0, count + 2);
  check_get_refused((const char *)result->data, result->len, "a row of more than 1048576 cells");
}

TEST("/reply/every-truncation-is-refused")
{
  for (guint protocol = 0; protocol < 2; protocol++) {
    TideBytes message = three_rows((TideWireProtocol)protocol);
    for (gsize len = 0; len < message.len; len++) {
      g_autofree guint8 *exact = g_memdup2(message.data, len); /* so that ASan sees a read past its end */
      TideReply reply = reply_of((TideWireProtocol)protocol, "getScannerRows", tide_bytes(exact, len));
      g_autoptr(GArray) cells = g_array_new(FALSE, FALSE, sizeof(TideResultCell));
      TideRowSink sink = {.cells = cells};
      guint32 results;
      g_autoptr(GError) error = NULL;
      g_assert_false(tide_reply_read_rows(&reply, &sink, &results, &error));
      g_assert_error(error, TIDE_ERROR, TIDE_ERROR_PROTOCOL);
    }
  }
}
