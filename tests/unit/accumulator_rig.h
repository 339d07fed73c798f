/* An accumulator whose lanes have no gateway: tests append rows, take calls like a writer, and complete them. */
#pragma once

#include "thrift/wire/put_encoder.h"
#include "unit/unstarted_flow.h"
#include "util/clock.h"

static const char config_text[] =
    "kafka: { brokers: [\"127.0.0.1:1\"], group: g, topics: [t] }\n"
    "hbase: { gateways: [\"127.0.0.1:1\"] }\n"
    "readings: { format: json, time: { field: ts, format: epoch_ms } }\n"
    "batch: { max_rows: 10 }\n"
    "tables:\n"
    "  LATEST: { latest: merge, key: [ { field: host } ], columns: { family: M, from: \"*\" } }\n"
    "  DATA: { key: [ { field: host }, \"#\", { time: epoch_ms } ], columns: { family: M, from: \"*\" } }\n"
    "  SPREAD: { batch_prefix: 4, key: [ { field: host } ], columns: { family: M, from: \"*\" } }\n"
    "  REPLACED: { latest: replace, key: [ { field: host } ], columns: { family: M, from: \"*\" } }\n";

#define LATEST 0
#define DATA 1
#define SPREAD 2 /* over 64 lanes */
#define REPLACED 3

/* The time for which a row of put_in_doubt() may still be written. */
#define DOUBT_US (TIDE_US_PER_S * 1000)

typedef struct Fixture {
  UnstartedFlow flow;
  TideCompletionQueue completions;
  TideAccumulator *accumulator;
  gint64 now_us;
  TideSourceRef source;                    /* of appended rows */
  const TideDoubt *inherited;              /* of completed batches, by row */
  guint n_found[TIDE_FOUND_FORGOTTEN + 1]; /* by TideFindingKind */
  gint64 last_until_us;                    /* of the last finding */
  guint n_cancelled;                       /* assignments, by the last lose_partition() */
} Fixture;

static inline void
set_up(Fixture *fixture, gconstpointer data)
{
  UnstartedFlow *flow = &fixture->flow;
  unstarted_flow_set_up(flow, config_text);
  tide_completion_queue_init(&fixture->completions, NULL, NULL);
  TideAccumulatorContext context = unstarted_flow_accumulator_context(flow, &fixture->completions);
  fixture->accumulator = tide_accumulator_new(&context);
  fixture->now_us = tide_now_us();
}

static inline void
tear_down(Fixture *fixture, gconstpointer data)
{
  tide_lanes_stop(fixture->flow.lanes);
  tide_accumulator_free(fixture->accumulator);
  tide_completion_queue_clear(&fixture->completions);
  unstarted_flow_tear_down(&fixture->flow);
}

/* Appends a row with one cell. */
typedef struct OneCell {
  TideBuffer prefix;
  TideColumn column;
  TideCell cell;
  TideRow row;
} OneCell;

static inline void
one_cell_clear(OneCell *one)
{
  tide_buffer_clear_memory(&one->prefix);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(OneCell, one_cell_clear)

static inline void
fill_column(OneCell *one, guint32 table, const char *key, TideBytes qualifier, const char *value)
{
  tide_column_prefix_append(TIDE_WIRE_BINARY, &one->prefix, TIDE_BYTES_LITERAL("M"), qualifier);
  one->column = (TideColumn){.family = TIDE_BYTES_LITERAL("M"),
                             .qualifier = qualifier,
                             .prefix = tide_buffer_bytes(&one->prefix),
                             .hash = tide_key_hash(tide_buffer_bytes(&one->prefix))};
  one->cell = (TideCell){.column = &one->column, .value = tide_bytes_of_string(value), .timestamp_ms = 1000};
  one->row = (TideRow){.table_index = table, .key = tide_bytes_of_string(key), .cells = &one->cell, .n_cells = 1};
}

static inline void
fill_row(OneCell *one, guint32 table, const char *key, const char *value)
{
  fill_column(one, table, key, TIDE_BYTES_LITERAL("v"), value);
}

static inline void
append(Fixture *fixture, guint32 table, const char *key, const char *value)
{
  g_auto(OneCell) one = {0};
  fill_row(&one, table, key, value);
  tide_accumulator_append_message(fixture->accumulator, &one.row, 1, fixture->source, fixture->now_us);
}

static inline void
flush(Fixture *fixture)
{
  tide_accumulator_tick(fixture->accumulator, TIDE_PRESSURE_FLUSH, 0, fixture->now_us);
}

/* The keys of the next call, in order: "a b ". */
static inline char *
take_call(Fixture *fixture, TideCall *ret_call)
{
  GString *keys = g_string_new(NULL);
  ret_call->n_batches = 0;
  (void)tide_lanes_take(fixture->flow.lanes, 0, 0, ret_call);
  for (guint32 i = 0; i < ret_call->n_batches; i++)
    for (guint32 row = 0; row < ret_call->batches[i]->n_rows; row++) {
      TideBytes key = tide_batch_row_key(ret_call->batches[i], row);
      g_string_append_printf(keys, "%.*s ", (int)key.len, (const char *)key.data);
    }
  return g_string_free(keys, FALSE);
}

#define ASSERT_CALL(fixture, call, keys)                                                                               \
  do {                                                                                                                 \
    g_autofree char *taken_ = take_call(fixture, call);                                                                \
    g_assert_cmpstr(taken_, ==, keys);                                                                                 \
  } while (0)

/* Records a finding. */
static inline void
judge(Fixture *fixture, const TideBatch *batch)
{
  TideJudgement judgement = tide_accumulator_judge(fixture->accumulator, batch, fixture->inherited, fixture->now_us);
  for (guint i = 0; i < judgement.n_findings; i++) {
    fixture->n_found[judgement.findings[i].kind]++;
    fixture->last_until_us = judgement.findings[i].until_us;
  }
}

/* Revokes the partition of @assignment, 0 or 1. */
static inline void
lose_partition(Fixture *fixture, guint32 assignment)
{
  g_autoptr(GHashTable) kept = g_hash_table_new(NULL, NULL);
  g_autoptr(GHashTable) cancelled = g_hash_table_new(NULL, NULL);
  g_hash_table_add(kept, GUINT_TO_POINTER(1 - assignment));
  tide_accumulator_cancel(fixture->accumulator, kept, cancelled);
  fixture->n_cancelled = g_hash_table_size(cancelled);
}

/* Completes the batches of finished calls. */
static inline void
complete_ended(Fixture *fixture)
{
  for (TideBatch *batch = tide_completion_queue_take(&fixture->completions, 0), *next; batch != NULL; batch = next) {
    next = batch->next;
    judge(fixture, batch);
    tide_accumulator_complete(fixture->accumulator, batch, fixture->now_us);
  }
}

/* Acknowledges @call and completes its batches. */
static inline void
complete_batch(Fixture *fixture, TideCall *call)
{
  tide_lanes_finish(fixture->flow.lanes, call, TIDE_OUTCOME_OK, NULL, fixture->now_us);
  complete_ended(fixture);
}

/* Reports that HBase refused a row of @table with that key, which several messages had produced. */
static inline void
make_solo(Fixture *fixture, guint32 table, const char *key)
{
  TideCall call;
  append(fixture, table, key, "refused");
  flush(fixture);
  g_autofree char *keys G_GNUC_UNUSED = take_call(fixture, &call);
  g_assert_cmpuint(call.n_rows, ==, 1);
  tide_batch_add_poison(call.batches[0], 0, 1, "Timestamp for KV out of range");
  g_assert_false(tide_accumulator_stop_merging(fixture->accumulator, call.batches[0], 0, fixture->now_us));
  complete_batch(fixture, &call);
}

/* A write of the row by a previous owner may still take effect, for a long time. */
static inline void
put_in_doubt(Fixture *fixture, const char *key, const char *value)
{
  g_auto(OneCell) one = {0};
  fill_row(&one, LATEST, key, value);
  g_assert_true(
      tide_accumulator_repeat(fixture->accumulator, &one.row, 1, fixture->now_us + DOUBT_US, fixture->now_us));
}
