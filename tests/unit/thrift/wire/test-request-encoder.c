/* The calls that read, held against the generated code, byte for byte. */
#include "thrift/wire/request_encoder.h"

#include "unit/assert_bytes.h"
#include "unit/generated_oracle.h"

static void
compare(const Oracle *oracle, const TideBuffer *request)
{
  assert_bytes_equal(tide_buffer_bytes(request), oracle_bytes(oracle));
}

static void
test_simple_calls(gconstpointer data)
{
  TideWireProtocol protocol = (TideWireProtocol)GPOINTER_TO_UINT(data);
  Oracle *oracle = oracle_get(protocol);
  g_auto(TideBuffer) request = {0};
  g_autoptr(GByteArray) table = oracle_byte_array(TIDE_BYTES_LITERAL("ns:METRIC"));
  static const gint32 numbers[] = {0, 1, 63, 64, 500, -1, G_MAXINT32, G_MININT32};

  HbaseTGet *get = g_object_new(HBASE_TYPE_T_GET, NULL);
  get->row = oracle_byte_array(TIDE_BYTES_LITERAL("server1\0#1"));
  oracle_reset(oracle);
  g_assert_true(hbase_t_h_base_service_client_send_get(oracle->service, table, get, NULL));
  tide_get_request_append(protocol, &request, 0, TIDE_BYTES_LITERAL("ns:METRIC"), TIDE_BYTES_LITERAL("server1\0#1"));
  compare(oracle, &request);
  g_object_unref(get);

  oracle_reset(oracle);
  tide_buffer_reset(&request);
  g_assert_true(hbase_t_h_base_service_client_send_get_all_region_locations(oracle->service, table, NULL));
  tide_regions_request_append(protocol, &request, 0, TIDE_BYTES_LITERAL("ns:METRIC"));
  compare(oracle, &request);

  for (gsize i = 0; i < G_N_ELEMENTS(numbers); i++) {
    oracle_reset(oracle);
    tide_buffer_reset(&request);
    g_assert_true(hbase_t_h_base_service_client_send_get_scanner_rows(oracle->service, numbers[i], 500, NULL));
    g_assert_true(hbase_t_h_base_service_client_send_close_scanner(oracle->service, numbers[i], NULL));
    tide_scanner_rows_request_append(protocol, &request, 0, numbers[i], 500);
    tide_close_scanner_request_append(protocol, &request, 0, numbers[i]);
    compare(oracle, &request);
  }
}

static void
add_generated_columns(GPtrArray *list, const TideColumnName *columns, gsize n_columns)
{
  for (gsize i = 0; i < n_columns; i++) {
    HbaseTColumn *column = g_object_new(HBASE_TYPE_T_COLUMN, NULL);
    column->family = oracle_byte_array(columns[i].family);
    if (!columns[i].whole_family) {
      column->qualifier = oracle_byte_array(columns[i].qualifier);
      column->__isset_qualifier = TRUE;
    }
    g_ptr_array_add(list, column);
  }
}

/* A whole family, a column, one with an empty name, and so many that the compact list's head is longer. */
static const TideColumnName some_columns[17] = {
    {.family = {(const guint8 *)"M", 1}, .whole_family = TRUE},
    {.family = {(const guint8 *)"N", 1}, .qualifier = {(const guint8 *)"CPU/\xff:\0", 7}},
    {.family = {(const guint8 *)"N", 1}},
};

static GPtrArray *
generated_gets(const TideGetRequest *request)
{
  GPtrArray *gets = g_ptr_array_new_with_free_func(g_object_unref);
  for (gsize i = 0; i < request->n_rows; i++) {
    HbaseTGet *get = g_object_new(HBASE_TYPE_T_GET, NULL);
    get->row = oracle_byte_array(request->rows[i]);
    add_generated_columns(get->columns, request->columns, request->n_columns);
    get->__isset_columns = request->n_columns > 0;
    get->__isset_timeRange = request->min_time_ms != 0 || request->max_time_ms != 0;
    get->timeRange->minStamp = request->min_time_ms;
    get->timeRange->maxStamp = request->max_time_ms;
    get->maxVersions = request->max_versions;
    get->__isset_maxVersions = TRUE;
    g_ptr_array_add(gets, get);
  }
  return gets;
}

static void
test_gets(gconstpointer data)
{
  TideWireProtocol protocol = (TideWireProtocol)GPOINTER_TO_UINT(data);
  Oracle *oracle = oracle_get(protocol);
  g_autoptr(GByteArray) table = oracle_byte_array(TIDE_BYTES_LITERAL("METRIC"));
  TideBytes rows[20];
  for (gsize i = 0; i < G_N_ELEMENTS(rows); i++)
    rows[i] = i % 2 == 0 ? TIDE_BYTES_LITERAL("server1\0#1") : TIDE_BYTES_LITERAL("b");
  for (guint set = 0; set < 8; set++) {
    TideGetRequest request = {
        .rows = rows,
        .n_rows = (set & 1) != 0 ? G_N_ELEMENTS(rows) : 1,
        .columns = some_columns,
        .n_columns = (set & 2) != 0 ? 3 : 0,
        .min_time_ms = 0,
        .max_time_ms = (set & 4) != 0 ? 1426535612045 : 0,
        .max_versions = 1 + (gint32)set,
    };
    g_autoptr(GPtrArray) gets = generated_gets(&request);
    oracle_reset(oracle);
    g_assert_true(hbase_t_h_base_service_client_send_get_multiple(oracle->service, table, gets, NULL));
    g_auto(TideBuffer) encoded = {0};
    tide_get_multiple_request_append(protocol, &encoded, 0, TIDE_BYTES_LITERAL("METRIC"), &request);
    compare(oracle, &encoded);
  }
}

static HbaseTScan *
generated_scan(const TideScanRequest *request)
{
  HbaseTScan *scan = g_object_new(HBASE_TYPE_T_SCAN, NULL);
  if (request->start_row.len > 0) {
    scan->startRow = oracle_byte_array(request->start_row);
    scan->__isset_startRow = TRUE;
  }
  if (request->stop_row.len > 0) {
    scan->stopRow = oracle_byte_array(request->stop_row);
    scan->__isset_stopRow = TRUE;
  }
  add_generated_columns(scan->columns, request->columns, request->n_columns);
  scan->__isset_columns = request->n_columns > 0;
  scan->caching = (gint32)request->caching_rows;
  scan->__isset_caching = TRUE;
  scan->maxVersions = request->max_versions;
  scan->__isset_maxVersions = TRUE;
  if (request->min_time_ms != 0 || request->max_time_ms != 0) {
    scan->timeRange->minStamp = request->min_time_ms;
    scan->timeRange->maxStamp = request->max_time_ms;
    scan->__isset_timeRange = TRUE;
  }
  if (request->filter.len > 0) {
    scan->filterString = oracle_byte_array(request->filter);
    scan->__isset_filterString = TRUE;
  }
  scan->reversed = request->reversed;
  scan->__isset_reversed = request->reversed;
  scan->limit = (gint32)request->limit_rows;
  scan->__isset_limit = request->limit_rows > 0 && request->limit_rows <= G_MAXINT32;
  return scan;
}

/* Every combination of what may be absent: the compact protocol's field ids are differences. */
static void
test_scans(gconstpointer data)
{
  TideWireProtocol protocol = (TideWireProtocol)GPOINTER_TO_UINT(data);
  Oracle *oracle = oracle_get(protocol);
  g_autoptr(GByteArray) table = oracle_byte_array(TIDE_BYTES_LITERAL("METRIC"));
  for (guint set = 0; set < 128; set++) {
    TideScanRequest request = {
        .start_row = (set & 1) != 0 ? TIDE_BYTES_LITERAL("a\xff\0") : TIDE_BYTES_EMPTY,
        .stop_row = (set & 2) != 0 ? TIDE_BYTES_LITERAL("b") : TIDE_BYTES_EMPTY,
        .columns = some_columns,
        .n_columns = (set & 4) == 0   ? 0
                     : (set & 8) != 0 ? G_N_ELEMENTS(some_columns)
                                      : 3,
        .min_time_ms = (set & 8) != 0 ? -5 : 0,
        .max_time_ms = (set & 8) != 0 ? 1426535612045 : 0,
        .reversed = (set & 16) != 0,
        .filter = (set & 64) != 0 ? TIDE_BYTES_LITERAL("RowFilter (=, 'substring:a')") : TIDE_BYTES_EMPTY,
        .limit_rows = (set & 32) != 0 ? 7 + (gint64)set : 0,
        .caching_rows = set + 1,
        .max_versions = 1 + (gint32)set,
    };
    HbaseTScan *scan = generated_scan(&request);
    oracle_reset(oracle);
    g_assert_true(hbase_t_h_base_service_client_send_open_scanner(oracle->service, table, scan, NULL));
    g_object_unref(scan);
    g_auto(TideBuffer) encoded = {0};
    tide_open_scanner_request_append(protocol, &encoded, 0, TIDE_BYTES_LITERAL("METRIC"), &request);
    compare(oracle, &encoded);
  }
}

/* More rows than the gateway's number can hold: no limit there, the client counts. */
static void
test_limit_beyond_the_wire(void)
{
  TideScanRequest request = {.caching_rows = 1, .max_versions = 1, .limit_rows = (gint64)G_MAXINT32 + 1};
  g_auto(TideBuffer) with = {0};
  g_auto(TideBuffer) without = {0};
  tide_open_scanner_request_append(TIDE_WIRE_BINARY, &with, 0, TIDE_BYTES_LITERAL("T"), &request);
  request.limit_rows = 0;
  tide_open_scanner_request_append(TIDE_WIRE_BINARY, &without, 0, TIDE_BYTES_LITERAL("T"), &request);
  assert_bytes_equal(tide_buffer_bytes(&with), tide_buffer_bytes(&without));
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  for (guint protocol = 0; protocol < 2; protocol++) {
    const char *name = tide_wire_protocol_name((TideWireProtocol)protocol);
    g_autofree char *calls = g_strdup_printf("/request-encoder/%s/calls-equal-the-generated-code", name);
    g_autofree char *scans = g_strdup_printf("/request-encoder/%s/scans-equal-the-generated-code", name);
    g_test_add_data_func(calls, GUINT_TO_POINTER(protocol), test_simple_calls);
    g_autofree char *gets = g_strdup_printf("/request-encoder/%s/gets-equal-the-generated-code", name);
    g_test_add_data_func(gets, GUINT_TO_POINTER(protocol), test_gets);
    g_test_add_data_func(scans, GUINT_TO_POINTER(protocol), test_scans);
  }
  g_test_add_func("/request-encoder/limit-above-31-bits-is-left-to-the-client", test_limit_beyond_the_wire);
  return g_test_run();
}
