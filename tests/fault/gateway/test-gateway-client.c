/* tidemark's own client against the scripted gateway: two independent implementations of one protocol must agree. What
 * faults become is in test-client-faults.c. */
#include "fault/gateway/client_fixture.h"
#include "thrift/client/gateway_probe.h"
#include "thrift/wire/mutation_encoder.h"
#include "unit/test_case.h"

/* One mutateRow of "T": all of family M up to @to_ms goes, and with @value M:@qualifier comes at the millisecond after.
 */
static gboolean
replace_row(TideHBaseClient *client, TideWireProtocol protocol, const char *row, gint64 to_ms, const char *qualifier,
            const char *value, GError **error)
{
  static const TideBytes families[] = {TIDE_BYTES_LITERAL("M")};
  g_auto(TideBuffer) mutations = {0};
  TideBytes key = tide_bytes_of_string(row);
  tide_mutation_delete_append(protocol, &mutations, key, families, G_N_ELEMENTS(families), to_ms);
  if (value != NULL) {
    tide_mutation_put_head_append(protocol, &mutations, key, 1);
    append_cell(protocol, &mutations, families[0], tide_bytes_of_string(qualifier), tide_bytes_of_string(value),
                to_ms + 1);
    tide_mutation_put_tail_append(protocol, &mutations, 0);
  }
  return tide_hbase_client_mutate_row(client, TABLE, key, tide_buffer_bytes(&mutations), value != NULL ? 2 : 1,
                                      timeout(), error);
}

static void
append_random(TideBuffer *bytes, GRand *random, int max_len)
{
  int len = g_rand_int_range(random, 1, max_len + 1);
  for (int i = 0; i < len; i++)
    tide_buffer_append_byte(bytes, (guint8)g_rand_int_range(random, 0, 256));
}

static gint64
random_timestamp(GRand *random)
{
  gint64 wide = (gint64)((guint64)g_rand_int(random) << 31 | g_rand_int(random));
  return wide >> g_rand_int_range(random, 0, 62);
}

static void
append_random_put(TideWireProtocol protocol, TideBuffer *out, GRand *random)
{
  g_auto(TideBuffer) row = {0};
  guint32 n_cells = (guint32)g_rand_int_range(random, 1, 30);
  append_random(&row, random, 40);
  tide_put_head_append(protocol, out, tide_buffer_bytes(&row), n_cells);
  for (guint32 i = 0; i < n_cells; i++) {
    g_auto(TideBuffer) qualifier = {0};
    g_auto(TideBuffer) value = {0};
    append_random(&qualifier, random, 20);
    append_random(&value, random, 300);
    append_cell(protocol, out, g_rand_boolean(random) ? TIDE_BYTES_LITERAL("M") : TIDE_BYTES_LITERAL("N"),
                tide_buffer_bytes(&qualifier), tide_buffer_bytes(&value), random_timestamp(random));
  }
  tide_put_tail_append(protocol, out, TIDE_PUT_NO_TIME, 0);
}

/* As fake_hbase_dump() prints. */
static gboolean
print_row(const TideResultRow *row, gpointer data)
{
  for (gsize i = 0; i < row->n_cells; i++) {
    const TideResultCell *cell = &row->cells[i];
    g_autofree char *key = tide_bytes_printable(row->row);
    g_autofree char *family = tide_bytes_printable(cell->family);
    g_autofree char *qualifier = tide_bytes_printable(cell->qualifier);
    g_autofree char *value = tide_bytes_printable(cell->value);
    g_string_append_printf(data, "%s\t%s:%s\t%" G_GINT64_FORMAT "\t%s\n", key, family, qualifier, cell->timestamp_ms,
                           value);
  }
  return TRUE;
}

TEST("/gateway-client/random-rows-arrive-and-come-back-the-same")
{
  for (guint m = 0; m < G_N_ELEMENTS(modes); m++) {
    g_auto(ClientScene) at = scene_in_mode(modes[m]);
    GRand *random = g_rand_new_with_seed(4711 + m);
    guint64 n_puts = 0;
    for (guint call = 0; call < 20; call++) {
      g_auto(TideBuffer) puts = {0};
      guint32 n = (guint32)g_rand_int_range(random, 0, 50);
      for (guint32 i = 0; i < n; i++)
        append_random_put(modes[m].protocol, &puts, random);
      TideBytes part = tide_buffer_bytes(&puts);
      assert_ok(tide_hbase_client_put_multiple(at.client, TABLE, &part, 1, n, timeout(), &at.error), &at.error);
      n_puts += n;
    }
    TideGatewayStats stats;
    scripted_gateway_stats(at.gateway, &stats);
    g_assert_cmpuint(stats.rows_received, ==, n_puts);
    g_assert_cmpuint(stats.broken_requests, ==, 0);

    g_autoptr(GString) seen = g_string_new(NULL);
    guint64 n_rows = 0;
    assert_ok(tide_hbase_client_scan(at.client, TABLE, &(TideScanRequest){.caching_rows = 37}, TIMEOUT_MS, print_row,
                                     seen, &n_rows, &at.error),
              &at.error);
    g_autofree char *dump = scripted_gateway_dump(at.gateway, "T");
    g_assert_cmpuint(n_rows, ==, scripted_gateway_row_count(at.gateway, "T"));
    g_assert_cmpstr(seen->str, ==, dump);
    g_assert_cmpuint(fake_service_open_scanners(scripted_gateway_service(at.gateway)), ==, 0);
    g_rand_free(random);
  }
}

TEST("/gateway-client/reversed-and-limited-scans-agree")
{
  for (guint m = 0; m < G_N_ELEMENTS(modes); m++) {
    g_auto(ClientScene) at = scene_in_mode(modes[m]);
    for (char letter = 'a'; letter <= 'f'; letter++) {
      char row[] = {letter, '\0'};
      assert_ok(put_one(&at, row, "v", timeout()), &at.error);
    }
    g_autoptr(GString) seen = g_string_new(NULL);
    const TideColumnName column = {.family = TIDE_BYTES_LITERAL("M"), .qualifier = TIDE_BYTES_LITERAL("q")};
    TideScanRequest request = {.start_row = TIDE_BYTES_LITERAL("e"),
                               .stop_row = TIDE_BYTES_LITERAL("a"),
                               .columns = &column,
                               .n_columns = 1,
                               .min_time_ms = 1000,
                               .max_time_ms = 1001,
                               .limit_rows = 3,
                               .caching_rows = 2,
                               .reversed = TRUE};
    guint64 n_rows = 0;
    assert_ok(tide_hbase_client_scan(at.client, TABLE, &request, TIMEOUT_MS, print_row, seen, &n_rows, &at.error),
              &at.error);
    g_assert_cmpstr(seen->str, ==, "e\tM:q\t1000\tv\nd\tM:q\t1000\tv\nc\tM:q\t1000\tv\n");
    gboolean found = TRUE;
    assert_ok(
        tide_hbase_client_get(at.client, TABLE, TIDE_BYTES_LITERAL("g"), timeout(), print_row, seen, &found, &at.error),
        &at.error);
    g_assert_false(found);
  }
}

TEST("/gateway-client/many-rows-come-in-one-call")
{
  for (guint m = 0; m < G_N_ELEMENTS(modes); m++) {
    g_auto(ClientScene) at = scene_in_mode(modes[m]);
    for (char letter = 'a'; letter <= 'f'; letter++) {
      char row[] = {letter, '\0'};
      assert_ok(put_one(&at, row, "v", timeout()), &at.error);
    }
    const TideBytes rows[] = {TIDE_BYTES_LITERAL("e"), TIDE_BYTES_LITERAL("absent"), TIDE_BYTES_LITERAL("b")};
    const TideColumnName columns[] = {{.family = TIDE_BYTES_LITERAL("N"), .whole_family = TRUE},
                                      {.family = TIDE_BYTES_LITERAL("M"), .qualifier = TIDE_BYTES_LITERAL("q")}};
    TideGetRequest request = {.rows = rows, .n_rows = G_N_ELEMENTS(rows), .columns = columns, .n_columns = 2};
    g_autoptr(GString) seen = g_string_new(NULL);
    assert_ok(tide_hbase_client_get_multiple(at.client, TABLE, &request, timeout(), print_row, seen, &at.error),
              &at.error);
    g_assert_cmpstr(seen->str, ==, "e\tM:q\t1000\tv\nb\tM:q\t1000\tv\n");

    /* Outside of the time range, and a column that is not there. */
    request.min_time_ms = 1;
    request.max_time_ms = 1000;
    assert_ok(tide_hbase_client_get_multiple(at.client, TABLE, &request, timeout(), print_row, seen, &at.error),
              &at.error);
    request = (TideGetRequest){.rows = rows, .n_rows = 1, .columns = columns, .n_columns = 1};
    assert_ok(tide_hbase_client_get_multiple(at.client, TABLE, &request, timeout(), print_row, seen, &at.error),
              &at.error);
    g_assert_cmpstr(seen->str, ==, "e\tM:q\t1000\tv\nb\tM:q\t1000\tv\n");
  }
}

static GArray *
split_keys(const char *const *keys, guint n)
{
  GArray *splits = g_array_new(FALSE, FALSE, sizeof(TideBytes));
  for (guint i = 0; i < n; i++) {
    TideBytes key = tide_bytes_of_string(keys[i]);
    g_array_append_val(splits, key);
  }
  return splits;
}

static gboolean
has_attribute(const TideTableDescription *table, TideBytes name, TideBytes value)
{
  for (guint i = 0; i < table->attributes->len; i++) {
    const TideAttribute *attribute = &g_array_index(table->attributes, TideAttribute, i);
    if (tide_bytes_equal(attribute->name, name) && tide_bytes_equal(attribute->value, value))
      return TRUE;
  }
  return FALSE;
}

TEST("/gateway-client/a-table-comes-back-as-it-was-created")
{
  static const char *const keys[] = {"m", "t"};
  g_auto(ClientScene) at = scene_in_mode(modes[0]);
  g_autoptr(GArray) splits = split_keys(keys, G_N_ELEMENTS(keys));
  g_autoptr(TideTableDescription) wanted = tide_table_description_new("plant:METRIC");
  TideFamilySettings *family = tide_family_settings_new("M");
  family->compression = TIDE_COMPRESSION_GZ;
  family->max_versions = 3;
  family->time_to_live_s = 86400;
  g_ptr_array_add(wanted->families, family);
  tide_table_description_add_attribute(wanted, TIDE_BYTES_LITERAL("scheme"), tide_bytes("\0\xff", 2));

  assert_ok(tide_hbase_client_create_namespace(at.client, "plant", timeout(), &at.error), &at.error);
  assert_ok(tide_hbase_client_create_table(at.client, wanted, splits, timeout(), &at.error), &at.error);
  g_autoptr(TideTableDescription) seen = tide_hbase_client_describe(at.client, "plant:METRIC", timeout(), &at.error);
  g_assert_no_error(at.error);
  g_assert_cmpstr(seen->name, ==, wanted->name);
  g_assert_cmpuint(seen->families->len, ==, 1);
  const TideFamilySettings *seen_family = seen->families->pdata[0];
  g_assert_cmpstr(seen_family->name, ==, "M");
  g_assert_cmpint(seen_family->compression, ==, TIDE_COMPRESSION_GZ);
  g_assert_cmpint(seen_family->max_versions, ==, 3);
  g_assert_cmpint(seen_family->time_to_live_s, ==, 86400);
  g_assert_true(has_attribute(seen, TIDE_BYTES_LITERAL("scheme"), TIDE_BYTES_LITERAL("\0\xff")));
  g_assert_true(has_attribute(seen, TIDE_BYTES_LITERAL("IS_META"), TIDE_BYTES_LITERAL("false"))); /* HBase's own */
}

TEST("/gateway-client/regions-leave-out-parents-and-replicas")
{
  for (guint m = 0; m < G_N_ELEMENTS(modes); m++) {
    g_auto(ClientScene) at = scene_in_mode(modes[m]);
    fake_hbase_split_region(scripted_gateway_hbase(at.gateway), "T", TIDE_BYTES_LITERAL("k"), TRUE);
    fake_hbase_set_replicas(scripted_gateway_hbase(at.gateway), "T", 3);
    g_autoptr(GPtrArray) regions = tide_hbase_client_regions(at.client, TABLE, timeout(), &at.error);
    g_assert_no_error(at.error);
    g_assert_cmpuint(regions->len, ==, 2);
    const TideRegion *first = regions->pdata[0];
    const TideRegion *second = regions->pdata[1];
    g_assert_cmpuint(first->start_key.len, ==, 0);
    g_assert_true(tide_bytes_equal(first->end_key, TIDE_BYTES_LITERAL("k")));
    g_assert_true(tide_bytes_equal(second->start_key, TIDE_BYTES_LITERAL("k")));
    g_assert_true(g_str_has_suffix(second->server, ".example:16020"));
  }
}

static void
assert_dump(TideScriptedGateway *gateway, const char *expected)
{
  g_autofree char *dump = scripted_gateway_dump(gateway, "T");
  g_assert_cmpstr(dump, ==, expected);
}

/* What latest tables must know about HBase: a marker hides what comes after it as well as before, and only until a
 * major compaction; the table's attribute keeps it longer. */
TEST("/gateway-client/a-delete-hides-older-puts-until-a-compaction-drops-it")
{
  gint64 now_ms = tide_wall_clock_epoch_ms();
  for (guint keeps_markers = 0; keeps_markers < 2; keeps_markers++) {
    g_auto(ClientScene) at = scene_in_mode(modes[0]);
    TideFakeHBase *hbase = scripted_gateway_hbase(at.gateway);
    g_auto(TideFakeError) failure = {0};
    TideFakeTableSpec *spec = fake_hbase_describe(hbase, "T", &failure);
    if (keeps_markers == 1)
      fake_table_spec_add_attribute(spec, TIDE_BYTES_LITERAL("hbase.hstore.time.to.purge.deletes"),
                                    TIDE_BYTES_LITERAL("604800000"));
    g_assert_true(fake_hbase_set_enabled(hbase, "T", FALSE, &failure));
    g_assert_true(fake_hbase_delete_table(hbase, "T", &failure));
    g_assert_true(fake_hbase_create_table(hbase, spec, NULL, 0, &failure));

    assert_ok(replace_row(at.client, modes[0].protocol, "r", now_ms, NULL, NULL, &at.error), &at.error);
    assert_ok(put_one(&at, "r", "older", timeout()), &at.error);
    assert_dump(at.gateway, "");
    fake_hbase_major_compact(hbase, "T");
    assert_dump(at.gateway, "");
    g_assert_cmpuint(fake_hbase_marker_count(hbase, "T"), ==, keeps_markers);
    assert_ok(put_one(&at, "r", "late", timeout()), &at.error);
    assert_dump(at.gateway, keeps_markers == 1 ? "" : "r\tM:q\t1000\tlate\n");
  }
}

TEST("/gateway-client/mutate-row-fails-as-put-multiple-does")
{
  g_auto(ClientScene) at = scene_in_mode(modes[0]);
  const struct {
    TideScriptedFault fault;
    int code;
    gboolean unknown;
  } cases[] = {
      {{.kind = TIDE_FAULT_IO_ERROR, .call = TIDE_CALL_MUTATE_ROW, .max_hits = 1}, TIDE_ERROR_GATEWAY, FALSE},
      {{.kind = TIDE_FAULT_APPLICATION_ERROR, .call = TIDE_CALL_MUTATE_ROW, .max_hits = 1},
       TIDE_ERROR_APPLICATION,
       FALSE},
      {{.kind = TIDE_FAULT_CLOSE_BEFORE_REPLY, .call = TIDE_CALL_MUTATE_ROW, .max_hits = 1},
       TIDE_ERROR_CONNECTION_LOST,
       TRUE},
      {{.kind = TIDE_FAULT_WRONG_NAME, .call = TIDE_CALL_MUTATE_ROW, .max_hits = 1}, TIDE_ERROR_PROTOCOL, TRUE},
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    scripted_gateway_add_fault(at.gateway, &cases[i].fault);
    g_assert_false(replace_row(at.client, modes[0].protocol, "r", 999, "q", "v", &at.error));
    g_assert_error(at.error, TIDE_ERROR, cases[i].code);
    g_assert_cmpint(tide_error_outcome_unknown(at.error), ==, cases[i].unknown);
    g_clear_error(&at.error);
    assert_ok(replace_row(at.client, modes[0].protocol, "r", 999, "q", "v", &at.error), &at.error);
  }
  g_assert_false(replace_row(at.client, modes[0].protocol, "", 999, "q", "v", &at.error));
  g_assert_error(at.error, TIDE_ERROR, TIDE_ERROR_APPLICATION);
  g_clear_error(&at.error);
  g_assert_false(
      replace_row(at.client, modes[0].protocol, "r", -2, "q", "v", &at.error)); /* measured with HBase 2.6.1 */
  g_assert_error(at.error, TIDE_ERROR, TIDE_ERROR_APPLICATION);
  assert_dump(at.gateway, "r\tM:q\t1000\tv\n");
}

TEST("/gateway-client/D12-the-probe-finds-each-mode")
{
  static const TidePersonality services[] = {TIDE_PERSONALITY_THRIFT2, TIDE_PERSONALITY_OLD_THRIFT2};
  for (guint m = 0; m < G_N_ELEMENTS(modes); m++) {
    for (guint s = 0; s < G_N_ELEMENTS(services); s++) {
      g_autoptr(TideScriptedGateway) gateway = gateway_in_mode(modes[m]);
      g_autoptr(GError) error = NULL;
      TideWireMode found = {TIDE_FRAMING_UNFRAMED, TIDE_WIRE_BINARY};
      scripted_gateway_set_personality(gateway, services[s]);
      g_autoptr(TideEndpoint) endpoint = tide_endpoint_parse(scripted_gateway_endpoint(gateway), &error);
      assert_ok(tide_gateway_probe(endpoint, (TideProbeRequest){-1, -1}, SHORT_MS, NULL, &found, NULL, &error), &error);
      g_assert_cmpint(found.framing, ==, modes[m].framing);
      g_assert_cmpint(found.protocol, ==, modes[m].protocol);
    }
  }
}

TEST("/gateway-client/D12-the-probe-refuses-other-services")
{
  static const TidePersonality services[] = {TIDE_PERSONALITY_THRIFT1, TIDE_PERSONALITY_OLD_THRIFT1,
                                             TIDE_PERSONALITY_HTTP, TIDE_PERSONALITY_TLS};
  for (guint i = 0; i < G_N_ELEMENTS(services); i++) {
    g_autoptr(TideScriptedGateway) gateway = gateway_in_mode(modes[0]);
    g_autoptr(GError) error = NULL;
    TideWireMode found;
    scripted_gateway_set_personality(gateway, services[i]);
    g_autoptr(TideEndpoint) endpoint = tide_endpoint_parse(scripted_gateway_endpoint(gateway), &error);
    g_assert_false(tide_gateway_probe(endpoint, (TideProbeRequest){-1, -1}, SHORT_MS, NULL, &found, NULL, &error));
    g_test_message("%s", error->message);
    g_assert_error(error, TIDE_ERROR, TIDE_ERROR_WRONG_SERVICE);
  }
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  tide_hbase_client_init_types();
  test_cases_add();
  return g_test_run();
}
