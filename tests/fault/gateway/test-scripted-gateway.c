/* Holds the scripted gateway to what a real one does with rows, scans, tables and regions. Its bytes are tested in
 * test-scripted-wire.c, its faults in test-scripted-faults.c. */
#include "fault/gateway/raw_client.h"
#include "util/clock.h"

static void
test_what_is_put_is_read_back_in_every_mode(void)
{
  for (guint i = 0; i < RAW_N_MODES; i++) {
    g_auto(TideRawScene) at = raw_scene(&raw_modes[i]);
    g_assert_cmpint(raw_client_put(at.client, "T", "row1", "600,55", 1426535612045), ==, RAW_OK);
    raw_client_get(at.client, "T", "row1", &at.reply);
    g_assert_cmpint(at.reply.outcome, ==, RAW_OK);
    g_assert_cmpstr(at.reply.rows->str, ==, "row1 M:q@1426535612045=600,55\n");
    raw_client_get(at.client, "T", "row", &at.reply);
    g_assert_cmpint(at.reply.outcome, ==, RAW_OK);
    g_assert_cmpuint(at.reply.n_rows, ==, 0);
    raw_client_ask_table(at.client, "tableExists", "T", TRUE, &at.reply);
    g_assert_cmpint(at.reply.number, ==, 1);
    raw_client_ask_table(at.client, "tableExists", "nosuch", TRUE, &at.reply);
    g_assert_cmpint(at.reply.number, ==, 0);
  }
}

static void
test_the_greatest_timestamp_is_read_whatever_the_order(void)
{
  static const gint64 orders[][3] = {{1, 2, 3}, {1, 3, 2}, {2, 1, 3}, {2, 3, 1}, {3, 1, 2}, {3, 2, 1}};
  for (guint i = 0; i < G_N_ELEMENTS(orders); i++) {
    g_auto(TideRawScene) at = raw_scene(&raw_modes[0]);
    for (guint k = 0; k < 3; k++) {
      g_autofree char *value = g_strdup_printf("v%d", (int)orders[i][k]);
      g_assert_cmpint(raw_client_put(at.client, "T", "r", value, orders[i][k]), ==, RAW_OK);
    }
    raw_assert_dump(at.gateway, "r\tM:q\t3\tv3\n");
    g_autofree char *all = fake_hbase_dump(scripted_gateway_hbase(at.gateway), "T", TRUE);
    g_assert_cmpstr(all, ==, "r\tM:q\t3\tv3\nr\tM:q\t2\tv2\nr\tM:q\t1\tv1\n");
  }
}

static void
test_the_later_write_of_one_timestamp_wins(void)
{
  g_auto(TideRawScene) at = raw_scene(&raw_modes[0]);
  g_assert_cmpint(raw_client_put(at.client, "T", "r", "first", 5), ==, RAW_OK);
  g_assert_cmpint(raw_client_put(at.client, "T", "r", "second", 5), ==, RAW_OK);
  gint64 timestamp_ms = 0;
  g_autoptr(GBytes) value = scripted_gateway_value(at.gateway, "T", "r", "M", "q", &timestamp_ms);
  g_assert_cmpint(timestamp_ms, ==, 5);
  g_assert_cmpuint(g_bytes_get_size(value), ==, strlen("second"));
  g_assert_cmpuint(fake_hbase_cell_count(scripted_gateway_hbase(at.gateway), "T"), ==, 1);
  g_assert_null(scripted_gateway_value(at.gateway, "T", "r", "M", "other", NULL));
}

/* One put of one cell, with what the test wants to be wrong about it. */
static void
send_put(TideRawClient *client, const char *table, TideBytes row, const char *family, gboolean has_cell)
{
  TideFakeWriter *writer = raw_client_call_begin(client, "putMultiple");
  fake_writer_string_field(writer, 1, table);
  fake_writer_list_field(writer, 2, TIDE_FAKE_STRUCT, 1);
  fake_writer_struct_begin(writer);
  fake_writer_binary_field(writer, 1, row);
  fake_writer_list_field(writer, 2, TIDE_FAKE_STRUCT, has_cell ? 1 : 0);
  if (has_cell) {
    fake_writer_struct_begin(writer);
    fake_writer_string_field(writer, 1, family);
    fake_writer_string_field(writer, 2, "q");
    fake_writer_string_field(writer, 3, "v");
    fake_writer_struct_end(writer);
  }
  fake_writer_struct_end(writer);
  raw_client_call_end(client);
}

static void
test_impossible_rows_fail_and_leave_the_connection_usable(void)
{
  g_auto(TideRawScene) at = raw_scene(&raw_modes[0]);
  g_autofree char *long_row = g_strnfill(40000, 'x');
  const struct {
    TideBytes row;
    gboolean has_cell;
  } cases[] = {
      {TIDE_BYTES_LITERAL(""), TRUE}, {tide_bytes_of_string(long_row), TRUE}, {TIDE_BYTES_LITERAL("r"), FALSE}};
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    send_put(at.client, "T", cases[i].row, "M", cases[i].has_cell);
    raw_client_reply(at.client, &at.reply);
    g_assert_cmpint(at.reply.outcome, ==, RAW_APPLICATION);
    g_assert_cmpint(at.reply.type, ==, TIDE_APPLICATION_INTERNAL_ERROR);
    g_assert_cmpstr(at.reply.message, ==, "Internal error processing putMultiple");
  }
  g_assert_cmpuint(scripted_gateway_row_count(at.gateway, "T"), ==, 0);
  g_assert_cmpint(raw_client_put(at.client, "T", "r", "v", 1), ==, RAW_OK);
}

static void
test_a_missing_table_and_a_missing_family_say_can_retry(void)
{
  g_auto(TideRawScene) at = raw_scene(&raw_modes[0]);
  send_put(at.client, "nosuch", TIDE_BYTES_LITERAL("r"), "M", TRUE);
  raw_client_reply(at.client, &at.reply);
  g_assert_cmpint(at.reply.outcome, ==, RAW_IO_ERROR);
  g_assert_cmpint(at.reply.can_retry, ==, 1);
  g_assert_cmpstr(at.reply.message, ==, "Failed 1 action: nosuch: 1 time, servers with issues: null");
  send_put(at.client, "T", TIDE_BYTES_LITERAL("r"), "X", TRUE);
  raw_client_reply(at.client, &at.reply);
  g_assert_cmpint(at.reply.outcome, ==, RAW_IO_ERROR);
  g_assert_cmpint(at.reply.can_retry, ==, 1);
  g_assert_nonnull(strstr(at.reply.message, "NoSuchColumnFamilyException"));
}

static void
test_a_cell_without_a_timestamp_gets_the_servers(void)
{
  g_auto(TideRawScene) at = raw_scene(&raw_modes[0]);
  gint64 before_ms = tide_wall_clock_epoch_ms(), timestamp_ms = 0;
  send_put(at.client, "T", TIDE_BYTES_LITERAL("r"), "M", TRUE);
  raw_client_reply(at.client, &at.reply);
  g_assert_cmpint(at.reply.outcome, ==, RAW_OK);
  g_autoptr(GBytes) value = scripted_gateway_value(at.gateway, "T", "r", "M", "q", &timestamp_ms);
  g_assert_nonnull(value);
  g_assert_cmpint(timestamp_ms, >=, before_ms);
}

static void
test_a_cell_past_its_ttl_is_not_read(void)
{
  g_auto(TideBuffer) request = {0};
  /* Time 1000 ms after the epoch, to live 1 ms. */
  raw_append_pattern(&request, "80010001 0000000b 'putMultiple' 00000001 0b 0001 00000001 'T' 0f 0002 0c 00000001 "
                               "0b 0001 00000001 'r' 0f 0002 0c 00000001 0b 0001 00000001 'M' 0b 0002 00000001 'q' "
                               "0b 0003 00000001 'v' 0a 0004 00000000000003e8 00 "
                               "0d 0005 0b 0b 00000001 00000004 '_ttl' 00000008 0000000000000001 00 00");
  g_auto(TideRawScene) at = raw_scene(&raw_modes[0]);
  raw_client_send(at.client, tide_buffer_bytes(&request));
  raw_client_reply(at.client, &at.reply);
  g_assert_cmpint(at.reply.outcome, ==, RAW_OK);
  raw_assert_dump(at.gateway, "");
}

static void
put_dead_letters(TideRawClient *client)
{
  for (char letter = 'a'; letter <= 'j'; letter++) {
    char row[] = {letter, '\0'};
    g_assert_cmpint(raw_client_put(client, "T", row, row, 100 + letter), ==, RAW_OK);
  }
}

/* The rows of a whole scan, by @step, as one text: "abc". */
static char *
scan_dead_letters(TideRawClient *client, const TideRawScan *scan, gint32 step)
{
  GString *dead_letters = g_string_new(NULL);
  gint32 scanner = raw_client_open_scanner(client, "T", scan);
  TideRawReply reply;
  do {
    raw_client_scanner_rows(client, scanner, step, &reply);
    g_assert_cmpint(reply.outcome, ==, RAW_OK);
    g_auto(GStrv) lines = g_strsplit(reply.rows->str, "\n", -1);
    for (guint i = 0; lines[i] != NULL && *lines[i] != '\0'; i++)
      g_string_append_c(dead_letters, lines[i][0]);
  } while (reply.n_rows > 0);
  raw_client_close_scanner(client, scanner, &reply);
  g_assert_cmpint(reply.outcome, ==, RAW_OK);
  return g_string_free(dead_letters, FALSE);
}

static void
test_scans_are_in_order_and_within_their_bounds(void)
{
  static const struct {
    TideRawScan scan;
    const char *dead_letters;
  } cases[] = {
      {{0}, "abcdefghij"},
      {{.reversed = TRUE}, "jihgfedcba"},
      {{.start_row = "c", .stop_row = "f"}, "cde"},
      {{.start_row = "bb", .stop_row = "d"}, "c"},
      {{.start_row = "f", .stop_row = "c", .reversed = TRUE}, "fed"},
      {{.start_row = "fx", .reversed = TRUE}, "fedcba"},
      {{.start_row = "zz", .reversed = TRUE, .limit_rows = 2}, "ji"},
      {{.start_row = "x"}, ""},
      {{.limit_rows = 4}, "abcd"},
      {{.min_time_ms = 100 + 'd', .max_time_ms = 100 + 'f'}, "de"},
      {{.qualifier = "q", .limit_rows = 1}, "a"},
      {{.qualifier = "other"}, ""},
  };
  g_auto(TideRawScene) at = raw_scene(&raw_modes[0]);
  put_dead_letters(at.client);
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    for (gint32 step = 1; step <= 11; step += 5) {
      g_autofree char *dead_letters = scan_dead_letters(at.client, &cases[i].scan, step);
      g_assert_cmpstr(dead_letters, ==, cases[i].dead_letters);
    }
  }
  g_assert_cmpuint(fake_service_open_scanners(scripted_gateway_service(at.gateway)), ==, 0);
}

static void
test_an_unknown_scanner_is_an_illegal_argument(void)
{
  g_auto(TideRawScene) at = raw_scene(&raw_modes[0]);
  raw_client_scanner_rows(at.client, 4711, 10, &at.reply);
  g_assert_cmpint(at.reply.outcome, ==, RAW_ARGUMENT);
  g_assert_cmpstr(at.reply.message, ==, "Invalid scanner Id");
  raw_client_close_scanner(at.client, 4711, &at.reply);
  g_assert_cmpint(at.reply.outcome, ==, RAW_OK);
}

static void
test_a_missing_table_or_family_shows_with_the_first_rows_of_a_scan(void)
{
  g_auto(TideRawScene) at = raw_scene(&raw_modes[0]);
  gint32 scanner = raw_client_open_scanner(at.client, "nosuch", &(TideRawScan){0});
  raw_client_scanner_rows(at.client, scanner, 1, &at.reply);
  g_assert_cmpint(at.reply.outcome, ==, RAW_IO_ERROR);
  g_assert_cmpstr(at.reply.message, ==, "nosuch");
  g_assert_cmpint(at.reply.can_retry, ==, 0);
  scripted_gateway_create_table(at.gateway, "NO_M", "X", NULL);
  scanner = raw_client_open_scanner(at.client, "NO_M", &(TideRawScan){.qualifier = "q"});
  raw_client_scanner_rows(at.client, scanner, 1, &at.reply);
  g_assert_cmpint(at.reply.outcome, ==, RAW_IO_ERROR);
  g_assert_true(
      g_str_has_prefix(at.reply.message, "org.apache.hadoop.hbase.regionserver.NoSuchColumnFamilyException: "));
}

/* The table's regions as "[,g)[g,p)", with ! for offline and ' for a replica. */
static char *
regions_text(TideScriptedGateway *gateway, const char *table)
{
  GString *text = g_string_new(NULL);
  g_autoptr(GPtrArray) regions = fake_hbase_regions(scripted_gateway_hbase(gateway), table);
  for (guint i = 0; i < regions->len; i++) {
    const TideFakeRegion *region = regions->pdata[i];
    g_string_append_printf(text, "[%.*s,%.*s)%s%s", (int)region->start_key.len, region->start_key.data,
                           (int)region->end_key.len, region->end_key.data, region->offline ? "!" : "",
                           region->replica_id > 0 ? "'" : "");
  }
  return g_string_free(text, FALSE);
}

static void
test_regions_follow_splits_parents_and_replicas(void)
{
  g_autoptr(TideScriptedGateway) gateway = raw_gateway_new(&raw_modes[0]);
  TideFakeHBase *hbase = scripted_gateway_hbase(gateway);
  g_autofree char *created = regions_text(gateway, "T");
  g_assert_cmpstr(created, ==, "[,g)[g,p)[p,)");
  fake_hbase_split_region(hbase, "T", TIDE_BYTES_LITERAL("k"), TRUE);
  g_autofree char *split = regions_text(gateway, "T");
  g_assert_cmpstr(split, ==, "[g,p)![,g)[g,k)[k,p)[p,)");
  fake_hbase_set_replicas(hbase, "T", 2);
  g_autofree char *replicated = regions_text(gateway, "T");
  g_assert_cmpstr(replicated, ==, "[g,p)![,g)[,g)'[g,k)[g,k)'[k,p)[k,p)'[p,)[p,)'");
  g_autofree char *missing = regions_text(gateway, "nosuch");
  g_assert_cmpstr(missing, ==, "");
}

static void
send_create(TideRawClient *client, const char *table, const char *const *splits, guint n_splits)
{
  TideFakeWriter *writer = raw_client_call_begin(client, "createTable");
  fake_writer_struct_field(writer, 1);
  fake_writer_struct_begin(writer);
  fake_writer_struct_field(writer, 1);
  fake_writer_struct_begin(writer);
  fake_writer_string_field(writer, 1, "default");
  fake_writer_string_field(writer, 2, table);
  fake_writer_struct_end(writer);
  fake_writer_list_field(writer, 2, TIDE_FAKE_STRUCT, 1);
  fake_writer_struct_begin(writer);
  fake_writer_string_field(writer, 1, "M");
  fake_writer_i32_field(writer, 10, 3);
  fake_writer_struct_end(writer);
  fake_writer_map_field(writer, 3, TIDE_FAKE_BINARY, TIDE_FAKE_BINARY, 1);
  fake_writer_binary(writer, TIDE_BYTES_LITERAL("scheme"));
  fake_writer_binary(writer, TIDE_BYTES_LITERAL("v1"));
  fake_writer_struct_end(writer);
  fake_writer_list_field(writer, 2, TIDE_FAKE_BINARY, n_splits);
  for (guint i = 0; i < n_splits; i++)
    fake_writer_binary(writer, tide_bytes_of_string(splits[i]));
  raw_client_call_end(client);
}

static void
test_a_table_is_created_with_its_splits_but_not_through_a_framed_gateway(void)
{
  static const char *const splits[] = {"m", "c"};
  for (guint i = 0; i < RAW_N_MODES; i++) {
    g_auto(TideRawScene) at = raw_scene(&raw_modes[i]);
    send_create(at.client, "NEW", splits, 2);
    raw_client_reply(at.client, &at.reply);
    g_autofree char *regions = regions_text(at.gateway, "NEW");
    g_assert_cmpint(at.reply.outcome, ==, raw_modes[i].framed ? RAW_APPLICATION : RAW_OK);
    g_assert_cmpstr(regions, ==, raw_modes[i].framed ? "" : "[,c)[c,m)[m,)");
    send_create(at.client, "WHOLE", NULL, 0);
    raw_client_reply(at.client, &at.reply);
    g_assert_cmpint(at.reply.outcome, ==, RAW_OK);
  }
}

/* As measured: the frame's bytes stand where name and value should be. */
static void
test_a_framed_gateway_spoils_table_attributes(void)
{
  for (guint i = 0; i < RAW_N_MODES; i++) {
    g_auto(TideRawScene) at = raw_scene(&raw_modes[i]);
    g_auto(TideFakeError) error = {0};
    send_create(at.client, "NEW", NULL, 0);
    raw_client_reply(at.client, &at.reply);
    g_assert_cmpint(at.reply.outcome, ==, RAW_OK);
    g_autoptr(TideFakeTableSpec) spec = fake_hbase_describe(scripted_gateway_hbase(at.gateway), "NEW", &error);
    g_assert_cmpuint(spec->attributes->len, ==, 1);
    const TideFakeAttribute *attribute = &g_array_index(spec->attributes, TideFakeAttribute, 0);
    g_assert_cmpint(tide_bytes_equal(attribute->name, TIDE_BYTES_LITERAL("scheme")), ==, !raw_modes[i].framed);
    if (raw_modes[i].framed)
      g_assert_true(tide_bytes_equal(attribute->name, attribute->value));
  }
}

static void
test_a_table_must_be_disabled_before_it_is_deleted(void)
{
  g_auto(TideRawScene) at = raw_scene(&raw_modes[0]);
  g_assert_cmpint(raw_client_ask_table(at.client, "deleteTable", "T", TRUE, &at.reply), ==, RAW_IO_ERROR);
  g_assert_cmpint(raw_client_ask_table(at.client, "disableTable", "T", TRUE, &at.reply), ==, RAW_OK);
  raw_client_ask_table(at.client, "isTableEnabled", "T", TRUE, &at.reply);
  g_assert_cmpint(at.reply.number, ==, 0);
  g_assert_cmpint(raw_client_put(at.client, "T", "r", "v", 1), ==, RAW_IO_ERROR);
  g_assert_cmpint(raw_client_ask_table(at.client, "deleteTable", "T", TRUE, &at.reply), ==, RAW_OK);
  g_assert_cmpint(raw_client_ask_table(at.client, "getTableDescriptor", "T", TRUE, &at.reply), ==, RAW_IO_ERROR);
}

static void
test_two_gateways_share_one_hbase(void)
{
  g_auto(TideRawScene) one = raw_scene(&raw_modes[0]);
  g_auto(TideRawScene) other = raw_scene_of(
      scripted_gateway_new(&(TideGatewayOptions){.framed = TRUE, .hbase = scripted_gateway_hbase(one.gateway)}),
      &raw_modes[2]);
  g_assert_cmpint(raw_client_put(one.client, "T", "a", "1", 1), ==, RAW_OK);
  g_assert_cmpint(raw_client_put(other.client, "T", "b", "2", 2), ==, RAW_OK);
  raw_assert_dump(one.gateway, "a\tM:q\t1\t1\nb\tM:q\t2\t2\n");
}

static void
test_the_write_log_has_every_cell_in_its_order(void)
{
  g_auto(TideRawScene) at = raw_scene(&raw_modes[0]);
  fake_hbase_log_writes(scripted_gateway_hbase(at.gateway), 2);
  g_assert_cmpint(raw_client_put(at.client, "T", "a", "1", 5), ==, RAW_OK);
  g_assert_cmpint(raw_client_put(at.client, "T", "a", "2", 5), ==, RAW_OK);
  g_assert_cmpint(raw_client_put(at.client, "T", "a", "3", 5), ==, RAW_OK);
  g_autoptr(GPtrArray) writes = fake_hbase_writes(scripted_gateway_hbase(at.gateway));
  g_assert_cmpuint(writes->len, ==, 2);
  const TideFakeWrite *first = writes->pdata[0];
  const TideFakeWrite *second = writes->pdata[1];
  g_assert_cmpuint(first->origin.call, ==, 1);
  g_assert_cmpuint(second->origin.call, ==, 2);
  g_assert_cmpuint(second->origin.connection, ==, 1);
  g_assert_cmpstr(second->table, ==, "T");
  g_assert_true(tide_bytes_equal(second->value, TIDE_BYTES_LITERAL("2")));
  g_assert_cmpint(first->applied_us, <=, second->applied_us);
}

static void
test_a_large_call_goes_through(void)
{
  g_auto(TideRawScene) at = raw_scene(&raw_modes[0]);
  g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func(g_free);
  g_autofree TideRawCell *cells = g_new(TideRawCell, 5000);
  for (guint i = 0; i < 5000; i++) {
    g_ptr_array_add(rows, g_strdup_printf("row%05u", i));
    cells[i] = (TideRawCell){rows->pdata[i], "q", "some value", i};
  }
  raw_client_send_puts(at.client, "T", cells, 5000);
  raw_client_reply(at.client, &at.reply);
  g_assert_cmpint(at.reply.outcome, ==, RAW_OK);
  g_assert_true(scripted_gateway_wait_rows(at.gateway, "T", 5000, tide_now_us()));
  TideGatewayStats stats;
  scripted_gateway_stats(at.gateway, &stats);
  g_assert_cmpuint(stats.rows_received, ==, 5000);
  g_assert_cmpuint(stats.rows_written, ==, 5000);
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
#define ADD(path, function) g_test_add_func("/scripted-gateway/" path, function)
  ADD("what-is-put-is-read-back-in-every-mode", test_what_is_put_is_read_back_in_every_mode);
  ADD("the-greatest-timestamp-is-read-whatever-the-order", test_the_greatest_timestamp_is_read_whatever_the_order);
  ADD("the-later-write-of-one-timestamp-wins", test_the_later_write_of_one_timestamp_wins);
  ADD("impossible-rows-fail-and-leave-the-connection-usable",
      test_impossible_rows_fail_and_leave_the_connection_usable);
  ADD("a-missing-table-and-a-missing-family-say-can-retry", test_a_missing_table_and_a_missing_family_say_can_retry);
  ADD("a-cell-without-a-timestamp-gets-the-servers", test_a_cell_without_a_timestamp_gets_the_servers);
  ADD("a-cell-past-its-ttl-is-not-read", test_a_cell_past_its_ttl_is_not_read);
  ADD("scans-are-in-order-and-within-their-bounds", test_scans_are_in_order_and_within_their_bounds);
  ADD("an-unknown-scanner-is-an-illegal-argument", test_an_unknown_scanner_is_an_illegal_argument);
  ADD("a-missing-table-or-family-shows-with-the-first-rows-of-a-scan",
      test_a_missing_table_or_family_shows_with_the_first_rows_of_a_scan);
  ADD("regions-follow-splits-parents-and-replicas", test_regions_follow_splits_parents_and_replicas);
  ADD("a-table-is-created-with-its-splits-but-not-through-a-framed-gateway",
      test_a_table_is_created_with_its_splits_but_not_through_a_framed_gateway);
  ADD("a-framed-gateway-spoils-table-attributes", test_a_framed_gateway_spoils_table_attributes);
  ADD("a-table-must-be-disabled-before-it-is-deleted", test_a_table_must_be_disabled_before_it_is_deleted);
  ADD("two-gateways-share-one-hbase", test_two_gateways_share_one_hbase);
  ADD("the-write-log-has-every-cell-in-its-order", test_the_write_log_has_every_cell_in_its_order);
  ADD("a-large-call-goes-through", test_a_large_call_goes_through);
#undef ADD
  return g_test_run();
}
