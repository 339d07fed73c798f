/* The lanes of two tables, for tests that take calls out of them as a writer does, and say how they end. */
#pragma once

#include "util/clock.h"
#include "write/lanes.h"

typedef struct Fixture {
  TideTable tables[2];
  TideLanes *lanes;
  TideCompletionQueue completions;
} Fixture;

static inline void
set_up(Fixture *fixture, gconstpointer data)
{
  fixture->tables[0] = (TideTable){.index = 0, .name = (char *)"A"};
  fixture->tables[1] = (TideTable){.index = 1, .name = (char *)"B"};
  TideLanesOptions options = {.n_tables = 2,
                              .max_rows = 10,
                              .max_bytes = 1000,
                              .max_in_flight_per_region = 2,
                              .max_probes = 2,
                              .retry_min_us = 50 * TIDE_US_PER_MS,
                              .retry_max_us = 100 * TIDE_US_PER_MS};
  fixture->lanes = tide_lanes_new(&options);
  tide_completion_queue_init(&fixture->completions, NULL, NULL);
}

static inline void
tear_down(Fixture *fixture, gconstpointer data)
{
  tide_lanes_free(fixture->lanes);
  tide_completion_queue_clear(&fixture->completions);
}

typedef enum BatchKind {
  BATCH_OF_PUTS,
  BATCH_OF_MUTATIONS,
  BATCH_OF_UNMERGED,
  BATCH_IN_SLICES,
  BATCH_WITH_A_CUT_ROW
} BatchKind;

/* @oldest_us: when its oldest row was mapped. */
static inline void
submit_aged(Fixture *fixture, TideLane *lane, guint32 n_rows, gsize n_bytes, BatchKind kind, gint64 oldest_us)
{
  TideBatch *batch = tide_batch_new();
  batch->oldest_us = oldest_us;
  batch->completions = &fixture->completions;
  batch->lane = tide_lane_ref(lane);
  batch->n_rows = n_rows;
  batch->is_mutations = kind == BATCH_OF_MUTATIONS;
  batch->is_unmerged = kind == BATCH_OF_UNMERGED;
  batch->slice_rows = kind == BATCH_IN_SLICES ? 1 : 0;
  if (kind == BATCH_WITH_A_CUT_ROW)
    tide_batch_suspect(batch, 0)->is_cut = TRUE;
  tide_buffer_reserve(&batch->wire, n_bytes);
  memset(batch->wire.data, 'k', n_bytes);
  batch->wire.len = n_bytes;
  TideBatchRow row = {.start_bytes = 0, .key_offset = 0, .key_len = 3};
  tide_buffer_append(&batch->rows, &row, sizeof row);
  tide_lanes_submit(fixture->lanes, batch);
}

static inline void
submit_batch(Fixture *fixture, TideLane *lane, guint32 n_rows, gsize n_bytes, BatchKind kind)
{
  submit_aged(fixture, lane, n_rows, n_bytes, kind, 0);
}

static inline void
submit(Fixture *fixture, TideLane *lane, guint32 n_rows, gsize n_bytes)
{
  submit_batch(fixture, lane, n_rows, n_bytes, BATCH_OF_PUTS);
}

static inline TideLane *
lane_of(Fixture *fixture, guint table, const char *start, const char *end)
{
  return tide_lanes_make_lane(fixture->lanes, &fixture->tables[table], tide_bytes_of_string(start),
                              tide_bytes_of_string(end));
}

static inline gboolean
take_now(Fixture *fixture, TideCall *call)
{
  return tide_lanes_take(fixture->lanes, 0, call) == TIDE_TAKE_CALL;
}

static inline guint
count_completed(Fixture *fixture)
{
  guint n = 0;
  for (TideBatch *batch = tide_completion_queue_take(&fixture->completions, 0), *next; batch != NULL;
       batch = next, n++) {
    next = batch->next;
    tide_batch_free(batch);
  }
  return n;
}
