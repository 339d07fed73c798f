/* The world of test-equal-times-model.c: a topic, consumers, an HBase of a few lines, and calls that were abandoned. */
#pragma once

#include "consumer/handover.h"
#include "rows/accumulator.h"
#include "rows/table_accumulator.h"
#include "unit/fake_lanes.h"
#include "write/batch_cells.h"

#define N_CONSUMERS 3
#define N_PARTITIONS 2
#define N_TABLES 2   /* the history, and the latest table */
#define N_KEYS 7     /* of each table; a key's messages share a partition ... */
#define SHARED_KEY 6 /* ... but for this one's, of which each partition has a column */
#define N_COLUMNS 2
#define N_TIMES 4 /* at one time, so that they meet; they move on slowly */
#define N_SPLITS 3
#define SETTLE_US G_GINT64_CONSTANT(1000000)

typedef struct Cell {
  guint8 table, key, column;
  gint64 time_ms;
} Cell;

static inline guint64
cell_id(Cell cell)
{
  return (guint64)cell.time_ms << 24 | (guint64)cell.table << 16 | (guint64)cell.key << 8 | cell.column;
}

typedef struct Message {
  guint8 key, columns; /* bits */
  gint64 time_ms;
  guint32 value;
  guint8 taken; /* bits: tables whose rows with it HBase has taken */
} Message;

/* What the group has committed. */
typedef struct Committed {
  gint64 offset; /* -1: nothing */
  char *note;    /* owned; NULL: none */
} Committed;

typedef struct Log {
  GArray *messages; /* (element-type Message), by offset */
  Committed committed;
  int owner;                /* -1: nobody */
  gboolean refuses_commits; /* for a while they are refused, or take effect and are not answered */
} Log;

/* An abandoned call: cells that may land up to a moment. */
typedef struct Ghost {
  gint64 until_us;
  GArray *cells; /* (element-type Cell) */
  GArray *values;
} Ghost;

typedef struct World World;

typedef struct Consumer {
  World *world;
  gboolean lives;
  gboolean is_stuck; /* for a while none of its calls ends */
  TideBudget budget, doubt_budget, table_budgets[N_TABLES];
  TideLanes lanes;
  GHashTable *carried_out; /* owned, of TideBatch: their answer is on its way */
  TideCompletionQueue completions;
  TideAccumulator *accumulator;
  TideMetrics *metrics;
  TideWriteLatency latency;
  TideAssignments assignments;
  TidePartition *partitions[N_PARTITIONS];
  gint64 next_offset[N_PARTITIONS];
} Consumer;

struct World {
  GRand *random;
  TideConfig *config;
  TideRegions regions;
  TideColumn columns[N_COLUMNS];
  TideBuffer prefixes[N_COLUMNS];
  gint64 now_us, now_epoch_ms, first_time_ms;
  guint scarcity;
  gboolean is_finishing; /* no row is refused */
  guint64 n_steps, n_ghosts_landed, n_contested, n_given_up, n_solo, n_refused;
  guint64 n_rewinds[TIDE_REWIND_N_REASONS];
  Log logs[N_PARTITIONS];
  Consumer consumers[N_CONSUMERS];
  GPtrArray *ghosts; /* owned (element-type Ghost) */
  GHashTable *table; /* cell id -> value: what HBase has */
};

static inline guint32
pick(World *world, guint32 n)
{
  return (guint32)g_rand_int_range(world->random, 0, (gint32)n);
}

static inline void
ghost_free(gpointer data)
{
  Ghost *ghost = data;
  g_array_unref(ghost->cells);
  g_array_unref(ghost->values);
  g_free(ghost);
}

/* The cells of @batch that a writer sends, and HBase takes, with their values. */
static inline Ghost *
cells_of(const TideBatch *batch)
{
  Ghost *ghost = g_new0(Ghost, 1);
  ghost->cells = g_array_new(FALSE, TRUE, sizeof(Cell));
  ghost->values = g_array_new(FALSE, TRUE, sizeof(guint32));
  const TideTable *table = ((const TideLaneBuffer *)batch->sealer.lane_buffer)->table;
  for (guint32 i = 0; i < batch->n_rows; i++) {
    TideBatchCells cells;
    TideBatchCell cell;
    if (tide_batch_is_cancelled(batch) || tide_batch_find_poison(batch, i) != NULL)
      continue;
    g_assert_true(tide_batch_cells_enter(&cells, TIDE_WIRE_BINARY, batch, i));
    while (tide_batch_cells_next(&cells, &cell)) {
      Cell at = {.table = (guint8)table->index,
                 .key = (guint8)(tide_batch_row_key(batch, i).data[1] - '0'),
                 .column = (guint8)(cell.prefix.data[cell.prefix.len - 1] - '0'),
                 .time_ms = cell.timestamp_ms};
      guint32 value;
      memcpy(&value, cell.value.data, sizeof value);
      g_array_append_val(ghost->cells, at);
      g_array_append_val(ghost->values, value);
    }
  }
  return ghost;
}

static inline void
land(World *world, const Ghost *ghost)
{
  for (guint i = 0; i < ghost->cells->len; i++) {
    guint64 *id = g_new(guint64, 1);
    *id = cell_id(g_array_index(ghost->cells, Cell, i));
    g_hash_table_replace(world->table, id, GUINT_TO_POINTER(g_array_index(ghost->values, guint32, i)));
  }
}

static inline void
apply(World *world, const TideBatch *batch)
{
  Ghost *cells = cells_of(batch);
  land(world, cells);
  ghost_free(cells);
}

static inline void
abandon(World *world, const TideBatch *batch)
{
  Ghost *ghost = cells_of(batch);
  ghost->until_us = world->now_us + SETTLE_US;
  g_ptr_array_add(world->ghosts, ghost);
}

/* A message's row in each table, and what is in them. */
typedef struct MappedRows {
  char key[3];
  guint32 value;
  TideCell cells[N_COLUMNS];
  TideRow rows[N_TABLES];
} MappedRows;

static inline void
map_message(World *world, const Message *message, MappedRows *ret_mapped)
{
  *ret_mapped = (MappedRows){.key = {'k', (char)('0' + message->key)}, .value = message->value};
  guint32 n_cells = 0;
  for (guint i = 0; i < N_COLUMNS; i++)
    if (message->columns & 1u << i)
      ret_mapped->cells[n_cells++] =
          (TideCell){&world->columns[i], tide_bytes(&ret_mapped->value, sizeof ret_mapped->value), message->time_ms};
  for (guint32 i = 0; i < N_TABLES; i++)
    ret_mapped->rows[i] = (TideRow){
        .table_index = i, .key = tide_bytes_of_string(ret_mapped->key), .cells = ret_mapped->cells, .n_cells = n_cells};
}
