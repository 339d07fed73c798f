/* The hand-written encoders of puts, mutations and requests held against the generated code, byte for byte. */
#include "thrift/wire/put_encoder.h"

#include "thrift/wire/mutation_encoder.h"
#include "thrift/wire/request_encoder.h"
#include "unit/assert_bytes.h"
#include "unit/generated_oracle.h"
#include "unit/random_rows.h"
#include "unit/test_case.h"

#define RANDOM_ROWS 10000 /* for each protocol */

static void
encode_row(TideWireProtocol protocol, TideBuffer *out, const Row *row)
{
  g_auto(TideBuffer) prefix = {0};
  gsize before = out->len;
  tide_put_head_append(protocol, out, row->key, row->n_cells);
  gsize key_offset = tide_put_key_offset(protocol, row->key.len);
  g_assert_true(tide_bytes_equal(tide_bytes(out->data + before + key_offset, row->key.len), row->key));
  gsize cells_max = 0, cells_begin = out->len;
  for (guint i = 0; i < row->n_cells; i++) {
    const Cell *cell = &row->cells[i];
    tide_buffer_reset(&prefix);
    tide_column_prefix_append(protocol, &prefix, cell->family, cell->qualifier);
    g_auto(TideBuffer) alone = {0};
    gsize cell_begin = out->len;
    tide_cell_append(protocol, &alone, tide_buffer_bytes(&prefix), cell->value, cell->timestamp_ms);
    if (row->time_ms == TIDE_PUT_NO_TIME)
      tide_buffer_append_bytes(out, tide_buffer_bytes(&alone));
    else
      tide_cell_append_without_time(protocol, out, tide_buffer_bytes(&alone), row->time_ms);
    gsize cell_max = tide_cell_size_max(tide_buffer_bytes(&prefix), cell->value.len);
    g_assert_cmpuint(out->len - cell_begin, <=, cell_max);
    cells_max += cell_max;
  }
  gsize cells_len = out->len - cells_begin;
  g_assert_cmpuint(cells_len, <=, cells_max);
  tide_put_tail_append(protocol, out, row->time_ms, row->ttl_ms);
  g_assert_cmpuint(out->len - before - cells_len, <=, tide_put_overhead_max(row->key));
}

/* @puts: as encoded, one after the other. The generated code always sends sequence id 0. */
static void
compare_call(TideWireProtocol protocol, TideBytes table, TideBytes encoded, GPtrArray *puts)
{
  Oracle *oracle = oracle_get(protocol);
  oracle_reset(oracle);
  g_autoptr(GByteArray) table_array = oracle_byte_array(table);
  g_autoptr(GError) error = NULL;
  g_assert_true(hbase_t_h_base_service_client_send_put_multiple(oracle->service, table_array, puts, &error));
  g_assert_no_error(error);

  g_auto(TideBuffer) call = {0};
  tide_put_multiple_head_append(protocol, &call, 0, table, puts->len);
  gsize head_len = call.len;
  tide_buffer_append_bytes(&call, encoded);
  tide_put_multiple_tail_append(protocol, &call);
  g_assert_cmpuint(head_len + 1, <=, tide_put_multiple_overhead_max(table.len));

  assert_bytes_equal(tide_buffer_bytes(&call), oracle_bytes(oracle));
}

static void
test_random_rows(gconstpointer data)
{
  TideWireProtocol protocol = (TideWireProtocol)GPOINTER_TO_UINT(data);
  fill_noise();
  guint done = 0;
  while (done < RANDOM_ROWS) {
    /* calls of 0 to 40 rows: list heads in the short and the long form */
    guint n_rows = MIN((guint)g_test_rand_int_range(0, 41), RANDOM_ROWS - done);
    g_auto(TideBuffer) encoded = {0};
    g_autoptr(GPtrArray) puts = g_ptr_array_new_with_free_func(g_object_unref);
    for (guint i = 0; i < n_rows; i++) {
      Row row;
      make_random_row(&row);
      if (g_test_rand_bit())
        share_time(&row);
      encode_row(protocol, &encoded, &row);
      g_ptr_array_add(puts, generated_put(&row));
    }
    compare_call(protocol, random_bytes(40), tide_buffer_bytes(&encoded), puts);
    done += n_rows;
  }
}

static void
compare_row(TideWireProtocol protocol, const Row *row)
{
  g_auto(TideBuffer) encoded = {0};
  g_autoptr(GPtrArray) puts = g_ptr_array_new_with_free_func(g_object_unref);
  encode_row(protocol, &encoded, row);
  g_ptr_array_add(puts, generated_put(row));
  compare_call(protocol, TIDE_BYTES_LITERAL("METRIC"), tide_buffer_bytes(&encoded), puts);
}

/* The edges that chance may miss, each in a call of its own. */
static void
test_edges(gconstpointer data)
{
  TideWireProtocol protocol = (TideWireProtocol)GPOINTER_TO_UINT(data);
  static const guint cell_counts[] = {0, 1, 14, 15, 16, 50};
  static const gsize lens[] = {0, 1, 127, 128, 16383, 16384, 100000};
  static const gint64 times[] = {0, -1, 1, G_MININT64, G_MAXINT64, 1426535612045};
  fill_noise();
  for (gsize c = 0; c < G_N_ELEMENTS(cell_counts); c++) {
    for (gsize l = 0; l < G_N_ELEMENTS(lens); l++) {
      for (gsize t = 0; t < G_N_ELEMENTS(times); t++) {
        Row row = {.key = tide_bytes(noise, MIN(lens[l], 32767)),
                   .n_cells = cell_counts[c],
                   .time_ms = TIDE_PUT_NO_TIME,
                   .ttl_ms = t % 2 == 0 ? 0 : times[t]};
        for (guint i = 0; i < row.n_cells; i++)
          row.cells[i] = (Cell){tide_bytes(noise, 1), tide_bytes(noise + 1, MIN(lens[l], 300)),
                                tide_bytes(noise + 2, i == 0 ? lens[l] : i), times[t]};
        compare_row(protocol, &row);
        row.time_ms = MAX(times[t], TIDE_PUT_NO_TIME);
        compare_row(protocol, &row);
      }
    }
  }
}

/* The one thing that the generated code never writes: a sequence id that is not 0. */
TEST("/put-encoder/sequence-id-is-written")
{
  g_auto(TideBuffer) out = {0};
  tide_put_multiple_head_append(TIDE_WIRE_BINARY, &out, 0x01020304, TIDE_BYTES_LITERAL("T"), 1);
  assert_bytes_equal(tide_bytes(out.data, 23),
                     TIDE_BYTES_LITERAL("\x80\x01\0\x01\0\0\0\x0bputMultiple\x01\x02\x03\x04"));
  tide_buffer_reset(&out);
  tide_put_multiple_head_append(TIDE_WIRE_COMPACT, &out, 300, TIDE_BYTES_LITERAL("T"), 1);
  assert_bytes_equal(tide_bytes(out.data, 16), TIDE_BYTES_LITERAL("\x82\x21\xac\x02\x0bputMultiple"));
}

/* ---- mutateRow ---- */

#define RANDOM_CALLS 3000 /* for each protocol */
#define FAMILIES_MAX 20   /* above 14, where the compact list head gets longer */

/* One call under way: encoded by hand, and as generated structs. */
typedef struct Call {
  TideWireProtocol protocol;
  TideBytes row;
  TideBuffer encoded; /* the mutations */
  HbaseTRowMutations *generated;
} Call;

static void
call_init(Call *call, TideWireProtocol protocol, TideBytes row)
{
  *call = (Call){.protocol = protocol, .row = row};
  oracle_get(protocol); /* the generated types are repaired before the first object */
  call->generated = g_object_new(HBASE_TYPE_T_ROW_MUTATIONS, NULL);
  call->generated->row = oracle_byte_array(row);
}

static void
call_clear(Call *call)
{
  tide_buffer_clear_memory(&call->encoded);
  g_object_unref(call->generated);
}

static void
add_put(Call *call, Row *row)
{
  row->key = call->row;
  g_auto(TideBuffer) prefix = {0};
  gsize before = call->encoded.len, cells_bytes = 0;
  tide_mutation_put_head_append(call->protocol, &call->encoded, row->key, row->n_cells);
  for (guint i = 0; i < row->n_cells; i++) {
    const Cell *cell = &row->cells[i];
    tide_buffer_reset(&prefix);
    tide_column_prefix_append(call->protocol, &prefix, cell->family, cell->qualifier);
    gsize cell_begin = call->encoded.len;
    tide_cell_append(call->protocol, &call->encoded, tide_buffer_bytes(&prefix), cell->value, cell->timestamp_ms);
    cells_bytes += call->encoded.len - cell_begin;
  }
  tide_mutation_put_tail_append(call->protocol, &call->encoded, row->ttl_ms);
  g_assert_cmpuint(call->encoded.len - before - cells_bytes, <=, tide_mutation_put_overhead_max(row->key));

  HbaseTMutation *mutation = g_object_new(HBASE_TYPE_T_MUTATION, NULL);
  g_clear_object(&mutation->put); /* the generated constructor makes both members */
  mutation->put = generated_put(row);
  mutation->__isset_put = TRUE;
  g_ptr_array_add(call->generated->mutations, mutation);
}

static void
add_delete(Call *call, const TideBytes *families, gsize n_families, gint64 to_ms)
{
  gsize before = call->encoded.len;
  tide_mutation_delete_append(call->protocol, &call->encoded, call->row, families, n_families, to_ms);
  g_assert_cmpuint(call->encoded.len - before, <=, tide_mutation_delete_size_max(call->row, families, n_families));
  gsize key_offset = before + tide_mutation_delete_key_offset(call->protocol, call->row.len);
  assert_bytes_equal(tide_bytes(call->encoded.data + key_offset, call->row.len), call->row);

  HbaseTDelete *deletion = g_object_new(HBASE_TYPE_T_DELETE, NULL);
  deletion->row = oracle_byte_array(call->row);
  for (gsize i = 0; i < n_families; i++) {
    HbaseTColumn *column = g_object_new(HBASE_TYPE_T_COLUMN, NULL);
    column->family = oracle_byte_array(families[i]);
    column->timestamp = to_ms;
    column->__isset_timestamp = TRUE;
    g_ptr_array_add(deletion->columns, column);
  }
  deletion->__isset_columns = TRUE;
  deletion->deleteType = HBASE_T_DELETE_TYPE_DELETE_FAMILY;
  deletion->__isset_deleteType = TRUE;
  HbaseTMutation *mutation = g_object_new(HBASE_TYPE_T_MUTATION, NULL);
  g_clear_object(&mutation->deleteSingle);
  mutation->deleteSingle = deletion;
  mutation->__isset_deleteSingle = TRUE;
  g_ptr_array_add(call->generated->mutations, mutation);
}

/* The generated code always sends sequence id 0. */
static void
compare(const Call *call, TideBytes table)
{
  Oracle *oracle = oracle_get(call->protocol);
  oracle_reset(oracle);
  g_autoptr(GByteArray) table_array = oracle_byte_array(table);
  g_autoptr(GError) error = NULL;
  g_assert_true(hbase_t_h_base_service_client_send_mutate_row(oracle->service, table_array, call->generated, &error));
  g_assert_no_error(error);

  g_auto(TideBuffer) whole = {0};
  tide_mutate_row_head_append(call->protocol, &whole, 0, table, call->row, call->generated->mutations->len);
  tide_buffer_append_bytes(&whole, tide_buffer_bytes(&call->encoded));
  tide_mutate_row_tail_append(call->protocol, &whole);
  assert_bytes_equal(tide_buffer_bytes(&whole), oracle_bytes(oracle));
}

static void
test_random_calls(gconstpointer data)
{
  TideWireProtocol protocol = (TideWireProtocol)GPOINTER_TO_UINT(data);
  fill_noise();
  for (guint n = 0; n < RANDOM_CALLS; n++) {
    Call call;
    call_init(&call, protocol, random_bytes(n % 100 == 0 ? 32767 : 60));
    guint n_mutations = (guint)g_test_rand_int_range(0, n % 50 == 0 ? 20 : 4);
    for (guint i = 0; i < n_mutations; i++) {
      if (g_test_rand_bit()) {
        Row row;
        make_random_row(&row);
        add_put(&call, &row);
        continue;
      }
      TideBytes families[FAMILIES_MAX];
      gsize n_families = (gsize)g_test_rand_int_range(0, FAMILIES_MAX + 1);
      for (gsize f = 0; f < n_families; f++)
        families[f] = random_bytes(f == 0 ? 300 : 10);
      add_delete(&call, families, n_families, random_timestamp());
    }
    compare(&call, random_bytes(40));
    call_clear(&call);
  }
}

/* What latest: replace sends: everything before the reading goes, the reading comes. */
TEST("/mutation-encoder/a-replaced-row-in-full")
{
  g_auto(TideBuffer) out = {0};
  TideBytes row = TIDE_BYTES_LITERAL("r"), families[] = {TIDE_BYTES_LITERAL("M")};
  tide_mutate_row_head_append(TIDE_WIRE_BINARY, &out, 0x01020304, TIDE_BYTES_LITERAL("T"), row, 2);
  tide_mutation_delete_append(TIDE_WIRE_BINARY, &out, row, families, 1, 999);
  tide_mutation_put_head_append(TIDE_WIRE_BINARY, &out, row, 1);
  g_auto(TideBuffer) prefix = {0};
  tide_column_prefix_append(TIDE_WIRE_BINARY, &prefix, families[0], TIDE_BYTES_LITERAL("q"));
  tide_cell_append(TIDE_WIRE_BINARY, &out, tide_buffer_bytes(&prefix), TIDE_BYTES_LITERAL("v"), 1000);
  tide_mutation_put_tail_append(TIDE_WIRE_BINARY, &out, 0);
  tide_mutate_row_tail_append(TIDE_WIRE_BINARY, &out);
  assert_bytes_equal(tide_buffer_bytes(&out),
                     TIDE_BYTES_LITERAL("\x80\x01\0\x01\0\0\0\x09mutateRow\x01\x02\x03\x04"
                                        "\x0b\0\x01\0\0\0\x01T"                      /* table */
                                        "\x0c\0\x02\x0b\0\x01\0\0\0\x01r"            /* TRowMutations: row */
                                        "\x0f\0\x02\x0c\0\0\0\x02"                   /* two mutations */
                                        "\x0c\0\x02\x0b\0\x01\0\0\0\x01r"            /* deleteSingle: row */
                                        "\x0f\0\x02\x0c\0\0\0\x01"                   /* one column */
                                        "\x0b\0\x01\0\0\0\x01M"                      /* its family */
                                        "\x0a\0\x03\0\0\0\0\0\0\x03\xe7\0"           /* its timestamp */
                                        "\x08\0\x04\0\0\0\x02\0\0"                   /* DELETE_FAMILY */
                                        "\x0c\0\x01\x0b\0\x01\0\0\0\x01r"            /* put: row */
                                        "\x0f\0\x02\x0c\0\0\0\x01"                   /* one cell */
                                        "\x0b\0\x01\0\0\0\x01M\x0b\0\x02\0\0\0\x01q" /* its column */
                                        "\x0b\0\x03\0\0\0\x01v"                      /* its value */
                                        "\x0a\0\x04\0\0\0\0\0\0\x03\xe8\0\0\0"       /* its timestamp; put, union */
                                        "\0\0"));
}

/* ---- calls that read ---- */

static void
request_compare(const Oracle *oracle, const TideBuffer *request)
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
  request_compare(oracle, &request);
  g_object_unref(get);

  oracle_reset(oracle);
  tide_buffer_reset(&request);
  g_assert_true(hbase_t_h_base_service_client_send_get_all_region_locations(oracle->service, table, NULL));
  tide_regions_request_append(protocol, &request, 0, TIDE_BYTES_LITERAL("ns:METRIC"));
  request_compare(oracle, &request);

  for (gsize i = 0; i < G_N_ELEMENTS(numbers); i++) {
    oracle_reset(oracle);
    tide_buffer_reset(&request);
    g_assert_true(hbase_t_h_base_service_client_send_get_scanner_rows(oracle->service, numbers[i], 500, NULL));
    g_assert_true(hbase_t_h_base_service_client_send_close_scanner(oracle->service, numbers[i], NULL));
    tide_scanner_rows_request_append(protocol, &request, 0, numbers[i], 500);
    tide_close_scanner_request_append(protocol, &request, 0, numbers[i]);
    request_compare(oracle, &request);
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
    request_compare(oracle, &encoded);
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
    request_compare(oracle, &encoded);
  }
}

/* More rows than the gateway's number can hold: no limit there, the client counts. */
TEST("/request-encoder/limit-above-31-bits-is-left-to-the-client")
{
  TideScanRequest request = {.caching_rows = 1, .max_versions = 1, .limit_rows = (gint64)G_MAXINT32 + 1};
  g_auto(TideBuffer) with = {0};
  g_auto(TideBuffer) without = {0};
  tide_open_scanner_request_append(TIDE_WIRE_BINARY, &with, 0, TIDE_BYTES_LITERAL("T"), &request);
  request.limit_rows = 0;
  tide_open_scanner_request_append(TIDE_WIRE_BINARY, &without, 0, TIDE_BYTES_LITERAL("T"), &request);
  assert_bytes_equal(tide_buffer_bytes(&with), tide_buffer_bytes(&without));
}

/* "/put-encoder/binary/...", in both protocols. */
static void
add(const char *encoder, const char *what, GTestDataFunc test)
{
  for (guint protocol = 0; protocol < 2; protocol++) {
    g_autofree char *path =
        g_strdup_printf("/%s/%s/%s", encoder, tide_wire_protocol_name((TideWireProtocol)protocol), what);
    g_test_add_data_func(path, GUINT_TO_POINTER(protocol), test);
  }
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  test_cases_add();
  add("put-encoder", "10000-random-rows-equal-the-generated-code", test_random_rows);
  add("put-encoder", "edges-equal-the-generated-code", test_edges);
  add("mutation-encoder", "3000-random-calls-equal-the-generated-code", test_random_calls);
  add("request-encoder", "calls-equal-the-generated-code", test_simple_calls);
  add("request-encoder", "gets-equal-the-generated-code", test_gets);
  add("request-encoder", "scans-equal-the-generated-code", test_scans);
  return g_test_run();
}
