/* The lanes of two tables, for tests that take calls like a writer and set their outcome. */
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
  BATCH_IN_PIECES,
  BATCH_WITH_A_SUSPECT
} BatchKind;

/* @oldest_us: when its oldest row was mapped. */
static inline void
submit_aged(Fixture *fixture, TideLane *lane, guint32 n_rows, gsize n_bytes, BatchKind kind, gint64 oldest_us)
{
  TideBatch *batch = tide_batch_new();
  batch->times.oldest_us = oldest_us;
  batch->completions = &fixture->completions;
  batch->lane = tide_lane_ref(lane);
  batch->n_rows = n_rows;
  batch->is_mutations = kind == BATCH_OF_MUTATIONS;
  batch->is_solo = kind == BATCH_OF_UNMERGED;
  batch->delivery.piece_rows = kind == BATCH_IN_PIECES ? 1 : 0;
  if (kind == BATCH_WITH_A_SUSPECT)
    tide_batch_set_row_state(batch, 0, TIDE_ROW_SUSPECT);
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

/* Like bisect.c with a batch of which only the first row remains, since @since_us, after @n_tries. */
static inline void
leave_suspect(TideBatch *batch, guint32 n_tries, gint64 since_us, gint64 not_before_us)
{
  for (guint32 row = 0; row < batch->n_rows; row++)
    tide_batch_set_row_state(batch, row, row == 0 ? TIDE_ROW_SUSPECT : TIDE_ROW_DONE);
  batch->delivery.n_tries = n_tries;
  batch->delivery.is_stuck = n_tries >= TIDE_SUSPECT_ROUNDS;
  batch->delivery.since_us = since_us;
  batch->delivery.not_before_us = not_before_us;
  g_free(batch->delivery.text);
  batch->delivery.text = g_strdup("it is refused");
}

static inline gboolean
take_now(Fixture *fixture, TideCall *call)
{
  return tide_lanes_take(fixture->lanes, 0, 0, call) == TIDE_TAKE_CALL;
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
