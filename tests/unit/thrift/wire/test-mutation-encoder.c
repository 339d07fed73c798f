/* The hand-written encoder of mutateRow held against the generated code, byte for byte. */
#include "thrift/wire/mutation_encoder.h"

#include "thrift/wire/put_encoder.h"
#include "unit/assert_bytes.h"
#include "unit/random_rows.h"

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
static void
test_replace_in_full(void)
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

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  static const char *const names[] = {"binary", "compact"};
  for (guint protocol = 0; protocol < 2; protocol++) {
    g_autofree char *path =
        g_strdup_printf("/mutation-encoder/%s/3000-random-calls-equal-the-generated-code", names[protocol]);
    g_test_add_data_func(path, GUINT_TO_POINTER(protocol), test_random_calls);
  }
  g_test_add_func("/mutation-encoder/a-replaced-row-in-full", test_replace_in_full);
  return g_test_run();
}
