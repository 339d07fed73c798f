/* Random rows, and what the generated code makes of one: for the tests that hold encoders equal to it. */
#pragma once

#include "generated_oracle.h"
#include "thrift/wire/put_encoder.h"

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
  gint64 time_ms; /* of all cells, said once; TIDE_PUT_NO_TIME */
  gint64 ttl_ms;
} Row;

static guint8 noise[1 << 17]; /* where random bytes are taken from */

static inline void
fill_noise(void)
{
  for (gsize i = 0; i < sizeof noise; i++)
    noise[i] = (guint8)g_test_rand_int();
}

static inline TideBytes
random_bytes(gsize max_len)
{
  gsize len = (gsize)g_test_rand_int_range(0, (gint32)max_len + 1);
  gsize from = (gsize)g_test_rand_int_range(0, (gint32)(sizeof noise - len));
  return tide_bytes(noise + from, len);
}

/* Most values are small; empty and 100 KB ones come, too. */
static inline TideBytes
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
static inline gint64
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

static inline void
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
  row->time_ms = TIDE_PUT_NO_TIME;
  row->ttl_ms = g_test_rand_bit() ? 0 : random_timestamp();
}

/* From now on all its cells have one time. */
static inline void
share_time(Row *row)
{
  row->time_ms = random_timestamp() & G_MAXINT64;
  for (guint i = 0; i < row->n_cells; i++)
    row->cells[i].timestamp_ms = row->time_ms;
}

static inline HbaseTPut *
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
    cell->__isset_timestamp = row->time_ms == TIDE_PUT_NO_TIME;
    g_ptr_array_add(put->columnValues, cell);
  }
  put->timestamp = row->time_ms;
  put->__isset_timestamp = row->time_ms != TIDE_PUT_NO_TIME;
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
