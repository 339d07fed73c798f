/* Key fingerprints, stored and compared on a scripted gateway: in the small table, in a file, in the table's attribute.
 */
#include "fault/gateway/scripted_gateway.h"
#include "tables/declared_table.h"
#include "tables/fingerprint_store.h"
#include "thrift/wire/put_encoder.h"
#include "unit/load_text.h"
#include "unit/test_case.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/log.h"

#include <glib/gstdio.h>

#define PLAIN_KEY "[ { field: host }, \"#\", { time: epoch_ms } ]"
#define PLAIN_SCHEME "tidemark scheme 1: field(host) \"#\" time(ms)"
#define SALTED_KEY "[ { salt: 4, of: [ { field: host } ] }, \"#\", { field: host }, \"#\", { time: epoch_ms } ]"

typedef struct Fixture {
  TideScriptedGateway *gateway;
  TideHBaseClient *client;
  char *directory; /* an empty one */
} Fixture;

static TideScriptedGateway *
start_gateway(gboolean framed)
{
  return scripted_gateway_new(&(TideGatewayOptions){.framed = framed});
}

static TideHBaseClient *
connect_to(TideScriptedGateway *gateway, gboolean framed)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(TideEndpoint) endpoint = tide_endpoint_parse(scripted_gateway_endpoint(gateway), &error);
  g_assert_no_error(error);
  return tide_hbase_client_new(endpoint,
                               (TideWireMode){framed ? TIDE_FRAMING_FRAMED : TIDE_FRAMING_UNFRAMED, TIDE_WIRE_BINARY});
}

/* @data: not NULL: the gateway is framed. */
static void
set_up(Fixture *fixture, gconstpointer data)
{
  fixture->gateway = start_gateway(data != NULL);
  fixture->client = connect_to(fixture->gateway, data != NULL);
  fixture->directory = g_dir_make_tmp("tidemark-schemes-XXXXXX", NULL);
  g_unsetenv("STATE_DIRECTORY");
}

static void
tear_down(Fixture *fixture, gconstpointer data)
{
  g_autoptr(GDir) directory = g_dir_open(fixture->directory, 0, NULL);
  const char *name;
  while ((name = g_dir_read_name(directory)) != NULL) {
    g_autofree char *path = g_build_filename(fixture->directory, name, NULL);
    g_assert_cmpint(g_remove(path), ==, 0);
  }
  g_assert_cmpint(g_rmdir(fixture->directory), ==, 0);
  g_free(fixture->directory);
  tide_hbase_client_free(fixture->client);
  scripted_gateway_free(fixture->gateway);
  g_unsetenv("STATE_DIRECTORY");
}

#define FIXTURE_TEST(path) TEST_WITH(Fixture, set_up, tear_down, path)
#define FIXTURE_TEST_OF(data, path) TEST_OF(Fixture, data, set_up, tear_down, path)

static TideConfig *
config_with_key(const char *table, const char *key, const char *more)
{
  g_autofree char *text = g_strdup_printf("kafka: { brokers: [\"127.0.0.1:1\"], group: g, topics: [t] }\n"
                                          "hbase: { gateways: [\"127.0.0.1:9090\"], call_timeout: 10s }\n"
                                          "readings: { format: json, time: { field: ts, format: epoch_ms } }\n"
                                          "tables:\n  \"%s\": { key: %s, columns: { family: M, from: \"*\" }%s }\n",
                                          table, key, more);
  return load_text(text);
}

static gint64
soon_us(void)
{
  return tide_now_us() + 10 * TIDE_US_PER_S;
}

/* One row, as if the daemon had written it. */
static void
put_row(Fixture *fixture, const char *table)
{
  g_auto(TideBuffer) prefix = {0};
  g_auto(TideBuffer) put = {0};
  tide_column_prefix_append(TIDE_WIRE_BINARY, &prefix, TIDE_BYTES_LITERAL("M"), TIDE_BYTES_LITERAL("v"));
  tide_put_head_append(TIDE_WIRE_BINARY, &put, TIDE_BYTES_LITERAL("row"), 1);
  tide_cell_append(TIDE_WIRE_BINARY, &put, tide_buffer_bytes(&prefix), TIDE_BYTES_LITERAL("1"), 1000);
  tide_put_tail_append(TIDE_WIRE_BINARY, &put, TIDE_PUT_NO_TIME, 0);
  TideBytes part = tide_buffer_bytes(&put);
  g_autoptr(GError) error = NULL;
  gboolean done =
      tide_hbase_client_put_multiple(fixture->client, tide_bytes_of_string(table), &part, 1, 1, soon_us(), &error);
  g_assert_no_error(error);
  g_assert_true(done);
}

/* A start with @key. Returns: the refusal, NULL when there was none. */
static char *
start_with_key(Fixture *fixture, const char *key, gboolean accept)
{
  g_autoptr(TideConfig) config = config_with_key("METRIC", key, "");
  g_auto(TideFingerprintStore) store;
  tide_fingerprint_store_init(&store, config);
  g_autoptr(GError) error = NULL;
  if (tide_fingerprint_check(&store, fixture->client, config->tables, accept, &error)) {
    g_assert_no_error(error);
    return NULL;
  }
  g_assert_error(error, TIDE_ERROR, TIDE_ERROR_CONFIG);
  g_assert_cmpint(tide_error_exit_code(error), ==, TIDE_EXIT_CONFIG);
  return g_strdup(error->message);
}

static void
assert_starts(Fixture *fixture, const char *key)
{
  g_autofree char *refusal = start_with_key(fixture, key, FALSE);
  g_assert_cmpstr(refusal, ==, NULL);
}

static char *
scheme_of(const char *key)
{
  g_autoptr(TideConfig) config = config_with_key("METRIC", key, "");
  return tide_fingerprint_text(config->tables->pdata[0], config->names);
}

/* The text shows both key fingerprints, where the old one is kept, and the three ways out. */
static void
assert_refuses(Fixture *fixture, const char *key, const char *location)
{
  g_autofree char *refusal = start_with_key(fixture, key, FALSE);
  g_autofree char *declared = scheme_of(key);
  g_assert_nonnull(refusal);
  const char *const parts[] = {"'METRIC'",
                               PLAIN_SCHEME,
                               declared,
                               location,
                               "restore the key",
                               "a new name",
                               "tidemark run --accept-scheme-change"};
  g_test_message("%s", refusal);
  for (guint i = 0; i < G_N_ELEMENTS(parts); i++)
    g_assert_nonnull(strstr(refusal, parts[i]));
}

static void
create_small_table(Fixture *fixture)
{
  scripted_gateway_create_table(fixture->gateway, TIDE_FINGERPRINT_TABLE, TIDE_FINGERPRINT_FAMILY, NULL);
}

static TideTableCreation
create_declared(Fixture *fixture, const char *key, const char *more, gboolean plain_if_framed)
{
  g_autoptr(TideConfig) config = config_with_key("METRIC", key, more);
  TideTableRequest request = {.table = config->tables->pdata[0],
                              .names = config->names,
                              .plain_if_framed = plain_if_framed,
                              .deadline_us = soon_us()};
  g_autoptr(GError) error = NULL;
  TideTableCreation creation;
  gboolean done = tide_declared_table_create(fixture->client, &request, &creation, &error);
  g_assert_no_error(error);
  g_assert_true(done);
  return creation;
}

static char *
small_table_value(Fixture *fixture)
{
  g_autoptr(GBytes) value = scripted_gateway_value(fixture->gateway, TIDE_FINGERPRINT_TABLE, "METRIC",
                                                   TIDE_FINGERPRINT_FAMILY, TIDE_FINGERPRINT_QUALIFIER, NULL);
  return value != NULL ? g_strndup(g_bytes_get_data(value, NULL), g_bytes_get_size(value)) : NULL;
}

static char *
file_content(Fixture *fixture)
{
  g_autofree char *path = g_build_filename(fixture->directory, "scheme-METRIC", NULL);
  char *content = NULL;
  return g_file_get_contents(path, &content, NULL, NULL) ? content : NULL;
}

/* ---- each place ---- */

FIXTURE_TEST("/schemes/first-start-stores-in-the-small-table")
{
  create_small_table(fixture);
  g_setenv("STATE_DIRECTORY", fixture->directory, TRUE);
  scripted_gateway_create_table(fixture->gateway, "METRIC", "M", NULL);
  put_row(fixture, "METRIC");
  assert_starts(fixture, PLAIN_KEY);
  g_autofree char *stored = small_table_value(fixture);
  g_autofree char *file = file_content(fixture);
  g_assert_cmpstr(stored, ==, PLAIN_SCHEME);
  g_assert_null(file);
  assert_starts(fixture, PLAIN_KEY);
  assert_refuses(fixture, SALTED_KEY, "in table 'tidemark_schemes'");
}

FIXTURE_TEST("/schemes/first-start-stores-in-a-file-without-the-small-table")
{
  g_autofree char *directories = g_strconcat(fixture->directory, ":/nowhere", NULL);
  g_setenv("STATE_DIRECTORY", directories, TRUE);
  scripted_gateway_create_table(fixture->gateway, "METRIC", "M", NULL);
  put_row(fixture, "METRIC");
  assert_starts(fixture, PLAIN_KEY);
  g_autofree char *stored = file_content(fixture);
  g_assert_cmpstr(stored, ==, PLAIN_SCHEME "\n");
  assert_starts(fixture, PLAIN_KEY);
  assert_refuses(fixture, SALTED_KEY, "in the state directory of this host");
}

FIXTURE_TEST("/schemes/creation-stores-in-the-attribute")
{
  g_assert_cmpint(create_declared(fixture, PLAIN_KEY, "", FALSE), ==, TIDE_TABLE_CREATED);
  put_row(fixture, "METRIC");
  assert_starts(fixture, PLAIN_KEY);
  assert_refuses(fixture, SALTED_KEY, "in the table's attribute 'TIDEMARK_SCHEME'");
}

FIXTURE_TEST("/schemes/without-any-place-it-starts-all-the-same")
{
  scripted_gateway_create_table(fixture->gateway, "METRIC", "M", NULL);
  put_row(fixture, "METRIC");
  assert_starts(fixture, PLAIN_KEY);
  assert_starts(fixture, SALTED_KEY);
}

FIXTURE_TEST("/schemes/E7-directory-that-cannot-be-written-keeps-nobody-from-starting")
{
  g_autofree char *missing = g_build_filename(fixture->directory, "missing", NULL);
  g_setenv("STATE_DIRECTORY", missing, TRUE);
  scripted_gateway_create_table(fixture->gateway, "METRIC", "M", NULL);
  assert_starts(fixture, PLAIN_KEY);
}

/* ---- changes ---- */

FIXTURE_TEST("/schemes/B12-every-change-of-a-key-is-refused")
{
  static const char *const keys[] = {
      "[ { salt: 4, of: [ { field: host } ] }, \"#\", { field: host }, \"#\", { time: epoch_ms } ]",
      "[ { salt: 8, of: [ { field: host } ] }, \"#\", { field: host }, \"#\", { time: epoch_ms } ]",
      "[ { salt: 4, width: 2, of: [ { field: host } ] }, \"#\", { field: host }, \"#\", { time: epoch_ms } ]",
      "[ { hash: md5, of: [ { field: host } ], bytes: 4 }, { field: host }, \"#\", { time: epoch_ms } ]",
      "[ { hash: sha1, of: [ { field: host } ], bytes: 4 }, { field: host }, \"#\", { time: epoch_ms } ]",
      "[ { field: host, width: 10, pad: \" \", align: left }, \"#\", { time: epoch_ms } ]",
      "[ { field: host, width: 12, pad: \" \", align: left }, \"#\", { time: epoch_ms } ]",
      "[ { field: host }, \"#\", { time: epoch_ms, reversed: true } ]",
      "[ { field: host }, \"#\", { time: epoch_s } ]",
      "[ { field: host }, \"|\", { time: epoch_ms } ]",
      "[ { field: room }, \"#\", { field: host }, \"#\", { time: epoch_ms } ]",
      "[ { field: host }, \"#\", { field: room }, \"#\", { time: epoch_ms } ]",
  };
  create_small_table(fixture);
  scripted_gateway_create_table(fixture->gateway, "METRIC", "M", NULL);
  put_row(fixture, "METRIC");
  assert_starts(fixture, PLAIN_KEY);
  for (guint i = 0; i < G_N_ELEMENTS(keys); i++)
    assert_refuses(fixture, keys[i], "in table 'tidemark_schemes'");
  /* Each of them differs from each other, too. */
  for (guint i = 0; i < G_N_ELEMENTS(keys); i++) {
    g_autofree char *refusal = start_with_key(fixture, keys[i], TRUE);
    g_assert_null(refusal);
    for (guint k = 0; k < G_N_ELEMENTS(keys); k++) {
      g_autofree char *other = start_with_key(fixture, keys[k], FALSE);
      g_assert_true((other == NULL) == (i == k));
    }
  }
}

FIXTURE_TEST("/schemes/empty-table-takes-the-new-scheme")
{
  create_small_table(fixture);
  create_declared(fixture, PLAIN_KEY, "", FALSE);
  assert_starts(fixture, PLAIN_KEY);
  assert_starts(fixture, SALTED_KEY);
  g_autofree char *stored = small_table_value(fixture);
  g_autofree char *declared = scheme_of(SALTED_KEY);
  g_assert_cmpstr(stored, ==, declared);
  put_row(fixture, "METRIC");
  assert_starts(fixture, SALTED_KEY); /* though the attribute still says otherwise */
  g_autofree char *refusal = start_with_key(fixture, PLAIN_KEY, FALSE);
  g_assert_nonnull(refusal);
}

/* What was accepted stays accepted, and going back is a change again. */
static void
assert_acceptance_is_remembered(Fixture *fixture)
{
  put_row(fixture, "METRIC");
  assert_starts(fixture, PLAIN_KEY);
  g_autofree char *refused = start_with_key(fixture, SALTED_KEY, FALSE);
  g_assert_nonnull(refused);
  g_autofree char *accepted = start_with_key(fixture, SALTED_KEY, TRUE);
  g_assert_null(accepted);
  assert_starts(fixture, SALTED_KEY);
  g_autofree char *back = start_with_key(fixture, PLAIN_KEY, FALSE);
  g_assert_nonnull(back);
}

FIXTURE_TEST("/schemes/acceptance-in-the-small-table-wins-over-the-attribute")
{
  create_declared(fixture, PLAIN_KEY, "", FALSE);
  create_small_table(fixture);
  assert_acceptance_is_remembered(fixture);
}

/* A host whose clock was ahead has stored the key; HBase shows the cell of the greatest time. */
FIXTURE_TEST("/schemes/E9-acceptance-wins-over-a-clock-that-was-ahead")
{
  create_declared(fixture, PLAIN_KEY, "", FALSE);
  create_small_table(fixture);
  TideFakeCell ahead = {.family = TIDE_BYTES_LITERAL(TIDE_FINGERPRINT_FAMILY),
                        .qualifier = TIDE_BYTES_LITERAL(TIDE_FINGERPRINT_QUALIFIER),
                        .value = TIDE_BYTES_LITERAL(PLAIN_SCHEME),
                        .timestamp_ms = (g_get_real_time() + 86400 * TIDE_US_PER_S) / TIDE_US_PER_MS};
  TideFakeRow put = {.row = TIDE_BYTES_LITERAL("METRIC"), .cells = &ahead, .n_cells = 1};
  g_auto(TideFakeError) error = {0};
  g_assert_true(fake_hbase_put(scripted_gateway_hbase(fixture->gateway), TIDE_FINGERPRINT_TABLE, &put, 1,
                               (TideFakeOrigin){0}, NULL, NULL, &error));
  assert_acceptance_is_remembered(fixture);
}

FIXTURE_TEST("/schemes/acceptance-in-the-file-wins-over-the-attribute")
{
  g_setenv("STATE_DIRECTORY", fixture->directory, TRUE);
  create_declared(fixture, PLAIN_KEY, "", FALSE);
  assert_acceptance_is_remembered(fixture);
}

/* Bytes of somebody else's are shown escaped and equal nothing. */
FIXTURE_TEST("/schemes/stored-garbage-is-shown-escaped")
{
  g_setenv("STATE_DIRECTORY", fixture->directory, TRUE);
  scripted_gateway_create_table(fixture->gateway, "METRIC", "M", NULL);
  put_row(fixture, "METRIC");
  g_autofree char *path = g_build_filename(fixture->directory, "scheme-METRIC", NULL);
  g_assert_true(g_file_set_contents(path, "\033[2J", -1, NULL));
  g_autofree char *refusal = start_with_key(fixture, PLAIN_KEY, FALSE);
  g_assert_nonnull(strstr(refusal, "[\\x1B[2J]"));
}

/* ---- HBase that cannot be asked ---- */

FIXTURE_TEST("/schemes/D13-unanswered-question-is-no-refusal")
{
  static const TideGatewayCall calls[] = {TIDE_CALL_TABLE_EXISTS, TIDE_CALL_GET_TABLE_DESCRIPTOR, TIDE_CALL_GET,
                                          TIDE_CALL_OPEN_SCANNER, TIDE_CALL_PUT_MULTIPLE};
  g_autofree char *other = scheme_of(SALTED_KEY);
  create_small_table(fixture);
  scripted_gateway_create_table(fixture->gateway, "METRIC", "M", NULL);
  g_autoptr(TideConfig) config = config_with_key("METRIC", PLAIN_KEY, "");
  g_auto(TideFingerprintStore) store;
  tide_fingerprint_store_init(&store, config);
  g_autoptr(GError) error = NULL;
  TideFingerprintLocation location;
  g_assert_true(tide_fingerprint_store_write(&store, fixture->client, "METRIC", other, &location, &error));
  g_assert_cmpint(location, ==, TIDE_FINGERPRINT_IN_TABLE);
  for (guint i = 0; i < G_N_ELEMENTS(calls); i++) {
    TideScriptedFault failing = {.kind = TIDE_FAULT_IO_ERROR, .call = calls[i]};
    guint id = scripted_gateway_add_fault(fixture->gateway, &failing);
    g_assert_false(tide_fingerprint_check(&store, fixture->client, config->tables, FALSE, &error));
    g_assert_error(error, TIDE_ERROR, TIDE_ERROR_GATEWAY);
    g_clear_error(&error);
    scripted_gateway_clear_fault(fixture->gateway, id);
  }
  g_assert_true(tide_fingerprint_check(&store, fixture->client, config->tables, FALSE, &error));
  g_assert_no_error(error);
}

/* ---- creating ---- */

#define SPLITS ", splits: [ \"host3\", \"host6\" ]"

FIXTURE_TEST("/schemes/creation-makes-families-splits-and-namespace")
{
  g_autoptr(TideConfig) config = config_with_key("plant:METRIC", PLAIN_KEY, SPLITS);
  TideTableRequest request = {.table = config->tables->pdata[0], .names = config->names, .deadline_us = soon_us()};
  TideTableCreation creation;
  g_autoptr(GError) error = NULL;
  g_assert_true(tide_declared_table_create(fixture->client, &request, &creation, &error));
  g_assert_cmpint(creation, ==, TIDE_TABLE_CREATED);
  TideFakeHBase *hbase = scripted_gateway_hbase(fixture->gateway);
  g_autoptr(GPtrArray) regions = fake_hbase_regions(hbase, "plant:METRIC");
  g_assert_cmpuint(regions->len, ==, 3);
  g_auto(TideFakeError) fake_error = {0};
  g_autoptr(TideFakeTableSpec) spec = fake_hbase_describe(hbase, "plant:METRIC", &fake_error);
  g_assert_cmpuint(spec->families->len, ==, 1);
  g_assert_cmpuint(spec->attributes->len, ==, 1);
  const TideFakeAttribute *attribute = &g_array_index(spec->attributes, TideFakeAttribute, 0);
  g_assert_true(tide_bytes_equal(attribute->name, TIDE_BYTES_LITERAL("TIDEMARK_SCHEME")));
  g_assert_true(tide_bytes_equal(attribute->value, TIDE_BYTES_LITERAL(PLAIN_SCHEME)));
  g_assert_true(tide_declared_table_create(fixture->client, &request, &creation, &error));
  g_assert_cmpint(creation, ==, TIDE_TABLE_WAS_THERE);
}

/* Another daemon made the table between our question and our call: the call fails, and the table is there. */
FIXTURE_TEST("/schemes/creation-that-comes-second-is-no-error")
{
  TideScriptedFault second = {.kind = TIDE_FAULT_IO_ERROR, .call = TIDE_CALL_CREATE_TABLE, .apply = TIDE_APPLY_ALL};
  scripted_gateway_add_fault(fixture->gateway, &second);
  g_autoptr(TideConfig) config = config_with_key("METRIC", PLAIN_KEY, "");
  TideTableRequest request = {.table = config->tables->pdata[0], .names = config->names, .deadline_us = soon_us()};
  TideTableCreation creation;
  g_autoptr(GError) error = NULL;
  g_assert_true(tide_declared_table_create(fixture->client, &request, &creation, &error));
  g_assert_no_error(error);
  g_assert_cmpint(creation, ==, TIDE_TABLE_WAS_THERE);
}

FIXTURE_TEST("/schemes/creation-that-fails-says-why")
{
  TideScriptedFault denied = {
      .kind = TIDE_FAULT_IO_ERROR, .call = TIDE_CALL_CREATE_TABLE, .message = "AccessDeniedException: no ADMIN"};
  scripted_gateway_add_fault(fixture->gateway, &denied);
  g_autoptr(TideConfig) config = config_with_key("METRIC", PLAIN_KEY, "");
  TideTableRequest request = {.table = config->tables->pdata[0], .names = config->names, .deadline_us = soon_us()};
  TideTableCreation creation;
  g_autoptr(GError) error = NULL;
  g_assert_false(tide_declared_table_create(fixture->client, &request, &creation, &error));
  g_assert_error(error, TIDE_ERROR, TIDE_ERROR_GATEWAY);
  g_assert_nonnull(strstr(error->message, "no ADMIN"));
}

FIXTURE_TEST_OF("framed", "/schemes/framed-gateway-makes-a-plain-table-when-that-is-wanted")
{
  g_assert_cmpint(create_declared(fixture, PLAIN_KEY, SPLITS, TRUE), ==, TIDE_TABLE_CREATED_PLAIN);
  g_autoptr(GPtrArray) regions = fake_hbase_regions(scripted_gateway_hbase(fixture->gateway), "METRIC");
  g_assert_cmpuint(regions->len, ==, 1);
  g_auto(TideFakeError) fake_error = {0};
  g_autoptr(TideFakeTableSpec) spec =
      fake_hbase_describe(scripted_gateway_hbase(fixture->gateway), "METRIC", &fake_error);
  g_assert_cmpuint(spec->attributes->len, ==, 0);
}

FIXTURE_TEST_OF("framed", "/schemes/framed-gateway-is-refused-split-points-else")
{
  g_autoptr(TideConfig) config = config_with_key("METRIC", PLAIN_KEY, SPLITS);
  TideTableRequest request = {.table = config->tables->pdata[0], .names = config->names, .deadline_us = soon_us()};
  TideTableCreation creation;
  g_autoptr(GError) error = NULL;
  g_assert_false(tide_declared_table_create(fixture->client, &request, &creation, &error));
  g_assert_error(error, TIDE_ERROR, TIDE_ERROR_UNAVAILABLE);
  g_assert_nonnull(strstr(error->message, "create \"METRIC\""));
  g_assert_cmpint(create_declared(fixture, PLAIN_KEY, "", FALSE), ==, TIDE_TABLE_CREATED_PLAIN);
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  tide_log_init(TIDE_LOG_FORMAT_TEXT, g_getenv("TIDE_TEST_VERBOSE") != NULL ? TIDE_LOG_DEBUG : TIDE_LOG_CRIT);
  tide_hbase_client_init_types();
  test_cases_add();
  return g_test_run();
}
