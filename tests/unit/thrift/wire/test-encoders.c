/* The hand-written encoder held against the generated code, byte for byte. */
#include "thrift/wire/put_encoder.h"

#include "unit/assert_bytes.h"
#include "unit/random_rows.h"

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
