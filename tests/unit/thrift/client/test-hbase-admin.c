/* What is asked of a scripted gateway about tables, and how they are made. */
#include "unit/answering_gateway.h"
#include "unit/test_case.h"

#include <malloc.h>

static TideBytes
answer_admin(Gateway *gateway, Oracle *oracle, const char *method, gint32 sequence_id)
{
  g_assert_cmpint(sequence_id, ==, 0); /* what the generated code sends */
  ThriftProtocol *to = reply_begin(oracle, method, T_REPLY, sequence_id);
  if (g_str_equal(method, "tableExists") || g_str_equal(method, "isTableEnabled")) {
    reply_field(to, T_BOOL, 0);
    require_written(thrift_protocol_write_bool(to, gateway->table_exists, NULL));
  } else if (g_str_equal(method, "listNamespaces")) {
    reply_field(to, T_LIST, 0);
    require_written(thrift_protocol_write_list_begin(to, T_STRING, 1, NULL));
    require_written(thrift_protocol_write_string(to, "default", NULL));
  } else if (g_str_equal(method, "getTableDescriptor")) {
    HbaseTTableDescriptor *descriptor = g_object_new(HBASE_TYPE_T_TABLE_DESCRIPTOR, NULL);
    descriptor->tableName->qualifier = oracle_byte_array(TIDE_BYTES_LITERAL("T"));
    reply_field(to, T_STRUCT, 0);
    reply_write_object(to, descriptor);
  } else if (g_str_equal(method, "getThriftServerType")) {
    reply_field(to, T_I32, 0);
    require_written(thrift_protocol_write_i32(to, 2, NULL));
  }
  return reply_end(oracle);
}

static TideTableDescription *
table_with_attributes(guint n_attributes)
{
  TideTableDescription *description = tide_table_description_new("plant:METRIC");
  g_ptr_array_add(description->families, tide_family_settings_new("M"));
  for (guint i = 0; i < n_attributes; i++) {
    char name[8];
    g_snprintf(name, sizeof name, "a%u", i);
    tide_table_description_add_attribute(description, tide_bytes_of_string(name), TIDE_BYTES_LITERAL("v"));
  }
  return description;
}

TEST("/admin/control-calls-work-in-all-modes")
{
  for (gsize m = 0; m < G_N_ELEMENTS(modes); m++) {
    Gateway gateway;
    gateway_start(&gateway, (Gateway){.mode = modes[m], .answer = answer_admin, .table_exists = TRUE});
    gint64 deadline_us = in_ms(GENEROUS_MS);
    gboolean exists = FALSE;
    g_autoptr(GError) error = NULL;
    g_assert_true(tide_hbase_client_table_exists(gateway.client, "T", deadline_us, &exists, &error));
    g_assert_true(exists);
    g_autoptr(TideTableDescription) description = tide_hbase_client_describe(gateway.client, "T", deadline_us, &error);
    g_assert_no_error(error);
    g_assert_cmpstr(description->name, ==, "T");
    g_assert_true(tide_hbase_client_create_namespace(gateway.client, "default", deadline_us, &error));
    g_assert_true(tide_hbase_client_create_namespace(gateway.client, "plant", deadline_us, &error));
    g_autoptr(TideTableDescription) table = table_with_attributes(0);
    g_assert_true(tide_hbase_client_create_table(gateway.client, table, NULL, deadline_us, &error));
    g_assert_true(tide_hbase_client_ping(gateway.client, deadline_us, &error));
    g_assert_no_error(error);
    gateway_stop(&gateway, "tableExists tableExists getTableDescriptor listNamespaces listNamespaces createNamespace "
                           "createTable getThriftServerType ");
  }
}

TEST("/admin/missing-table-is-not-found")
{
  Gateway gateway;
  gateway_start(&gateway, (Gateway){.mode = modes[0], .answer = answer_admin});
  g_autoptr(GError) error = NULL;
  g_assert_null(tide_hbase_client_describe(gateway.client, "T", in_ms(GENEROUS_MS), &error));
  g_assert_error(error, TIDE_ERROR, TIDE_ERROR_NOT_FOUND);
  gateway_stop(&gateway, "tableExists ");
}

/* The createTable call as the gateway reads it: every attribute is in it, once. */
typedef struct SeenTable {
  guint attributes;
  guint splits;
} SeenTable;

static void
count_in_call(SeenTable *seen, TideBytes call)
{
  TideWireReader reader;
  TideWireMessage head;
  tide_wire_reader_init(&reader, TIDE_WIRE_BINARY, call);
  g_assert_true(tide_wire_read_message(&reader, &head));
  TideWireField argument = {0};
  while (tide_wire_read_field(&reader, &argument)) {
    TideWireContainer container;
    if (argument.id == 2) {
      g_assert_true(tide_wire_read_list(&reader, &container));
      seen->splits = container.count;
      for (guint i = 0; i < container.count; i++)
        (void)tide_wire_read_string(&reader);
      continue;
    }
    TideWireField field = {0};
    while (tide_wire_read_field(&reader, &field)) {
      if (field.id != 3) {
        tide_wire_skip(&reader, field.type);
        continue;
      }
      g_assert_true(tide_wire_read_map(&reader, &container));
      g_autoptr(GHashTable) names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
      for (guint i = 0; i < container.count; i++) {
        TideBytes name = tide_wire_read_string(&reader);
        (void)tide_wire_read_string(&reader);
        g_hash_table_add(names, g_strndup((const char *)name.data, name.len));
      }
      seen->attributes = g_hash_table_size(names);
    }
  }
  g_assert_cmpint(reader.status, ==, TIDE_WIRE_OK);
}

static void
serve_create_table(LoopbackServer *server, int fd, guint connection)
{
  TideWireMessage head;
  g_auto(TideBuffer) call = {0};
  if (!loopback_read_call(server, fd, TIDE_FRAMING_UNFRAMED, TIDE_WIRE_BINARY, &call, &head))
    return;
  count_in_call(server->data, tide_buffer_bytes(&call));
  Oracle *oracle = oracle_get(TIDE_WIRE_BINARY);
  reply_begin(oracle, "createTable", T_REPLY, 0);
  loopback_send_message(fd, TIDE_FRAMING_UNFRAMED, reply_end(oracle));
  loopback_wait_closed(server, fd);
}

TEST("/admin/create-table-sends-every-attribute-and-split")
{
  SeenTable seen = {0};
  LoopbackServer *server = loopback_start(serve_create_table, &seen);
  TideHBaseClient *client = tide_hbase_client_new(server->endpoint, modes[0]);
  g_autoptr(TideTableDescription) table = table_with_attributes(50);
  g_autoptr(GArray) splits = g_array_new(FALSE, FALSE, sizeof(TideBytes));
  TideBytes keys[] = {TIDE_BYTES_LITERAL("a"), TIDE_BYTES_LITERAL("b\0\xff")};
  g_array_append_vals(splits, keys, 2);
  g_autoptr(GError) error = NULL;
  g_assert_true(tide_hbase_client_create_table(client, table, splits, in_ms(GENEROUS_MS), &error));
  g_assert_no_error(error);
  tide_hbase_client_free(client);
  loopback_stop(server);
  g_assert_cmpuint(seen.attributes, ==, 50);
  g_assert_cmpuint(seen.splits, ==, 2);
}

/* A framed gateway would store its frame buffer for them. */
TEST("/admin/splits-and-attributes-on-a-framed-gateway-are-refused")
{
  Gateway gateway;
  gateway_start(&gateway, (Gateway){.mode = modes[2], .answer = answer_admin});
  g_autoptr(TideTableDescription) plain = tide_table_description_new("T");
  g_ptr_array_add(plain->families, tide_family_settings_new("M"));
  g_autoptr(TideTableDescription) with_attribute = table_with_attributes(1);
  g_autoptr(GArray) splits = g_array_new(FALSE, FALSE, sizeof(TideBytes));
  TideBytes key = TIDE_BYTES_LITERAL("m");
  g_array_append_val(splits, key);
  g_autoptr(GError) error = NULL;
  g_assert_false(tide_hbase_client_create_table(gateway.client, plain, splits, in_ms(GENEROUS_MS), &error));
  g_assert_error(error, TIDE_ERROR, TIDE_ERROR_UNAVAILABLE);
  g_assert_nonnull(strstr(error->message, "create \"T\", {NAME => \"M\"}, SPLITS => ['m']"));
  g_clear_error(&error);
  g_assert_false(tide_hbase_client_create_table(gateway.client, with_attribute, NULL, in_ms(GENEROUS_MS), &error));
  g_assert_error(error, TIDE_ERROR, TIDE_ERROR_UNAVAILABLE);
  g_assert_nonnull(strstr(error->message, "METADATA => {\"a0\" => \"v\"}"));
  gateway_stop(&gateway, ""); /* nothing was sent */
}

/* An older gateway has no getThriftServerType; it answers all the same. */
TEST("/admin/ping-takes-an-older-gateway")
{
  Gateway gateway;
  gateway_start(&gateway, (Gateway){.mode = modes[0], .answer = answer_unknown_method});
  g_autoptr(GError) error = NULL;
  g_assert_true(tide_hbase_client_ping(gateway.client, in_ms(GENEROUS_MS), &error));
  g_assert_no_error(error);
  g_assert_true(tide_hbase_client_is_open(gateway.client));
  gateway_stop(&gateway, "getThriftServerType ");
}

/* As generated they lose some 70 bytes each: see tide_hbase_client_init_types(). */
TEST("/admin/generated-structs-do-not-leak")
{
  enum { N_OBJECTS = 20000 };
  for (guint round = 0; round < 2; round++) {
    size_t before = mallinfo2().uordblks;
    for (guint i = 0; i < N_OBJECTS; i++)
      g_object_unref(g_object_new(HBASE_TYPE_T_TABLE_DESCRIPTOR, NULL));
    size_t after = mallinfo2().uordblks;
    if (round == 1) /* the first fills caches */
      g_assert_cmpuint(after, <, before + N_OBJECTS);
  }
}

int
main(int argc, char **argv)
{
  tide_hbase_client_init_types();
  g_test_init(&argc, &argv, NULL);
  test_cases_add();
  return g_test_run();
}
