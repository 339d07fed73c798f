/* The hand-written encoder held against the generated code, byte for byte. */
#include "thrift/put_encoder.h"

#include "assert_bytes.h"
#include "generated_oracle.h"

#define RANDOM_ROWS 10000 /* for each protocol */
#define CELLS_MAX 50

/* What a random row is made of. */
typedef struct Cell {
  TideBytes family;
  TideBytes qualifier;
  TideBytes value;
  gint64 timestamp_ms;
} Cell;

typedef struct Row {
  TideBytes key;
  guint n_cells;
  Cell cells[CELLS_MAX];
  gint64 ttl_ms;
} Row;

static guint8 noise[1 << 17]; /* where random bytes are taken from */

static void
fill_noise(void)
{
  for (gsize i = 0; i < sizeof noise; i++)
    noise[i] = (guint8)g_test_rand_int();
}

static TideBytes
random_bytes(gsize max_len)
{
  gsize len = (gsize)g_test_rand_int_range(0, (gint32)max_len + 1);
  gsize from = (gsize)g_test_rand_int_range(0, (gint32)(sizeof noise - len));
  return tide_bytes(noise + from, len);
}

/* Most values are small; empty and 100 KB ones come, too. */
static TideBytes
random_value(void)
{
  gint32 kind = g_test_rand_int_range(0, 2000);
  if (kind == 0)
    return tide_bytes(noise, 100 * 1000);
  if (kind < 100)
    return TIDE_BYTES_EMPTY;
  return random_bytes(kind < 200 ? 300 : 20);
}

/* Every magnitude: the compact form takes one to ten bytes. */
static gint64
random_timestamp(void)
{
  static const gint64 fixed[] = {0,  1,    -1,         63,         64,         -64,        -65,
                                 -2, 8191, G_MININT64, G_MAXINT64, G_MININT32, G_MAXINT32, 1426535612045};
  if (g_test_rand_int_range(0, 4) == 0)
    return fixed[g_test_rand_int_range(0, G_N_ELEMENTS(fixed))];
  guint64 bits = (guint64)(guint32)g_test_rand_int() << 32 | (guint32)g_test_rand_int();
  gint64 number = (gint64)(bits >> g_test_rand_int_range(0, 64));
  return g_test_rand_bit() ? -number : number;
}

static void
make_random_row(Row *row)
{
  row->key = random_bytes(g_test_rand_int_range(0, 100) == 0 ? 32767 : 60);
  row->n_cells = (guint)g_test_rand_int_range(0, g_test_rand_int_range(0, 10) == 0 ? CELLS_MAX + 1 : 12);
  for (guint i = 0; i < row->n_cells; i++) {
    row->cells[i] = (Cell){
        .family = random_bytes(8),
        .qualifier = random_bytes(g_test_rand_int_range(0, 20) == 0 ? 200 : 16),
        .value = random_value(),
        .timestamp_ms = random_timestamp(),
    };
  }
  row->ttl_ms = g_test_rand_bit() ? 0 : random_timestamp();
}

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
    gsize cell_begin = out->len;
    tide_cell_append(protocol, out, tide_buffer_bytes(&prefix), cell->value, cell->timestamp_ms);
    gsize cell_max = tide_cell_size_max(tide_buffer_bytes(&prefix), cell->value.len);
    g_assert_cmpuint(out->len - cell_begin, <=, cell_max);
    cells_max += cell_max;
  }
  gsize cells_len = out->len - cells_begin;
  g_assert_cmpuint(cells_len, <=, cells_max);
  tide_put_tail_append(protocol, out, row->ttl_ms);
  g_assert_cmpuint(out->len - before - cells_len, <=, tide_put_overhead_max(row->key));
}

static HbaseTPut *
generated_put(const Row *row)
{
  HbaseTPut *put = g_object_new(HBASE_TYPE_T_PUT, NULL);
  put->row = oracle_byte_array(row->key);
  for (guint i = 0; i < row->n_cells; i++) {
    HbaseTColumnValue *cell = g_object_new(HBASE_TYPE_T_COLUMN_VALUE, NULL);
    cell->family = oracle_byte_array(row->cells[i].family);
    cell->qualifier = oracle_byte_array(row->cells[i].qualifier);
    cell->value = oracle_byte_array(row->cells[i].value);
    cell->timestamp = row->cells[i].timestamp_ms;
    cell->__isset_timestamp = TRUE;
    g_ptr_array_add(put->columnValues, cell);
  }
  if (row->ttl_ms != 0) { /* with one entry the generated map can be trusted */
    gint64 big_endian = GINT64_TO_BE(row->ttl_ms);
    g_hash_table_unref(put->attributes);
    put->attributes = g_hash_table_new_full(g_direct_hash, g_direct_equal, (GDestroyNotify)g_byte_array_unref,
                                            (GDestroyNotify)g_byte_array_unref);
    g_hash_table_insert(put->attributes, oracle_byte_array(TIDE_BYTES_LITERAL("_ttl")),
                        oracle_byte_array(tide_bytes(&big_endian, sizeof big_endian)));
    put->__isset_attributes = TRUE;
  }
  return put;
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
      encode_row(protocol, &encoded, &row);
      g_ptr_array_add(puts, generated_put(&row));
    }
    compare_call(protocol, random_bytes(40), tide_buffer_bytes(&encoded), puts);
    done += n_rows;
  }
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
                   .ttl_ms = t % 2 == 0 ? 0 : times[t]};
        for (guint i = 0; i < row.n_cells; i++)
          row.cells[i] = (Cell){tide_bytes(noise, 1), tide_bytes(noise + 1, MIN(lens[l], 300)),
                                tide_bytes(noise + 2, i == 0 ? lens[l] : i), times[t]};
        g_auto(TideBuffer) encoded = {0};
        g_autoptr(GPtrArray) puts = g_ptr_array_new_with_free_func(g_object_unref);
        encode_row(protocol, &encoded, &row);
        g_ptr_array_add(puts, generated_put(&row));
        compare_call(protocol, TIDE_BYTES_LITERAL("METRIC"), tide_buffer_bytes(&encoded), puts);
      }
    }
  }
}

/* The one thing that the generated code never writes: a sequence id that is not 0. */
static void
test_sequence_id(void)
{
  g_auto(TideBuffer) out = {0};
  tide_put_multiple_head_append(TIDE_WIRE_BINARY, &out, 0x01020304, TIDE_BYTES_LITERAL("T"), 1);
  assert_bytes_equal(tide_bytes(out.data, 23),
                     TIDE_BYTES_LITERAL("\x80\x01\0\x01\0\0\0\x0bputMultiple\x01\x02\x03\x04"));
  tide_buffer_reset(&out);
  tide_put_multiple_head_append(TIDE_WIRE_COMPACT, &out, 300, TIDE_BYTES_LITERAL("T"), 1);
  assert_bytes_equal(tide_bytes(out.data, 16), TIDE_BYTES_LITERAL("\x82\x21\xac\x02\x0bputMultiple"));
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  static const char *const names[] = {"binary", "compact"};
  for (guint protocol = 0; protocol < 2; protocol++) {
    g_autofree char *rows =
        g_strdup_printf("/put-encoder/%s/10000-random-rows-equal-the-generated-code", names[protocol]);
    g_autofree char *edges = g_strdup_printf("/put-encoder/%s/edges-equal-the-generated-code", names[protocol]);
    g_test_add_data_func(rows, GUINT_TO_POINTER(protocol), test_random_rows);
    g_test_add_data_func(edges, GUINT_TO_POINTER(protocol), test_edges);
  }
  g_test_add_func("/put-encoder/sequence-id-is-written", test_sequence_id);
  return g_test_run();
}
