/* Measures the path of a reading: passes over all messages of a load, each doing more than the previous one. */
#include "commands/bench/bench.h"

#include "commands/cli/progress.h"
#include "consumer/partition.h"
#include "rows/row_buffer.h"
#include "thrift/wire/put_encoder.h"
#include "util/clock.h"

#include <time.h>

const char *const tide_bench_stage_names[TIDE_BENCH_N_STAGES] = {
    [TIDE_BENCH_DECODE] = "decode", [TIDE_BENCH_MAP] = "map",       [TIDE_BENCH_KEY] = "key",
    [TIDE_BENCH_APPEND] = "append", [TIDE_BENCH_ENCODE] = "encode", [TIDE_BENCH_SEAL] = "seal",
    [TIDE_BENCH_ACK] = "ack",       [TIDE_BENCH_ALL] = "all",
};

const char *const tide_bench_stage_wholes[TIDE_BENCH_N_STAGES] = {
    [TIDE_BENCH_KEY] = "map",
    [TIDE_BENCH_ENCODE] = "append",
};

/* Extra repetitions of building keys and encoding cells: a few nanoseconds would be lost in the variation between
 * passes. */
#define REPEATS 8

/* Runs until all memory has reached its final size: a batch that was small in one run may be large in the next. */
#define WARM_UP_RUNS 2

typedef enum Pass { PASS_DECODE, PASS_MAP, PASS_KEYS, PASS_CELLS, PASS_PATH, N_PASSES } Pass;

#define STAGE(name) (1u << TIDE_BENCH_##name)

/* The stages that need each pass. */
static const guint stages_of_pass[N_PASSES] = {
    [PASS_DECODE] = STAGE(DECODE) | STAGE(MAP),
    [PASS_MAP] = STAGE(MAP) | STAGE(KEY) | STAGE(ENCODE) | STAGE(APPEND),
    [PASS_KEYS] = STAGE(KEY),
    [PASS_CELLS] = STAGE(ENCODE),
    [PASS_PATH] = STAGE(APPEND) | STAGE(SEAL) | STAGE(ACK) | STAGE(ALL),
};

/* A measurement; a duration is the difference of two. */
typedef struct Meter {
  gint64 ns;
  gint64 allocations;
} Meter;

typedef struct Bench {
  const TideBenchRequest *request; /* borrowed */
  TideFieldNames *names;           /* owned: the decoder's */
  TideDecoder *decoder;            /* owned */
  TideMapping *mapping;            /* owned */
  TideMetrics *metrics;            /* owned */
  TideWriteLatency latency;
  TideAssignments assignments;
  TidePartition *partition; /* owned */
  TideBudget budget;
  TideRowBuffer *sets; /* owned array: by table */
  TideBatchPool pool;
  gint64 next_offset;
  TideBuffer scratch;
  /* of the current pass over the path */
  Meter seal;
  Meter ack;
} Bench;

static Meter
meter_now(const Bench *bench)
{
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  guint64 (*count)(void) = bench->request->count_allocations;
  return (Meter){.ns = (gint64)now.tv_sec * G_GINT64_CONSTANT(1000000000) + now.tv_nsec,
                 .allocations = count != NULL ? (gint64)count() : 0};
}

static Meter
meter_minus(Meter a, Meter b)
{
  return (Meter){.ns = a.ns - b.ns, .allocations = a.allocations - b.allocations};
}

static Meter
meter_of_one_repeat(Meter all)
{
  return (Meter){.ns = all.ns / REPEATS, .allocations = all.allocations};
}

static Meter
meter_plus(Meter a, Meter b)
{
  return (Meter){.ns = a.ns + b.ns, .allocations = a.allocations + b.allocations};
}

/* ---- lifetime ---- */

static void
bench_init(Bench *bench, const TideBenchRequest *request)
{
  const TideConfig *config = request->config;
  const TideConfigSource *first = g_ptr_array_index(config->sources, 0); /* that of the first topic */
  *bench = (Bench){.request = request};
  bench->names = tide_field_names_copy(config->names);
  bench->decoder = tide_decoder_new(&first->readings->decode, bench->names, tide_field_names_count(bench->names));
  bench->mapping = tide_mapping_new(config, request->protocol);
  bench->metrics = tide_metrics_new();
  tide_write_latency_init(&bench->latency, bench->metrics);
  tide_assignments_init(&bench->assignments);
  bench->partition =
      tide_partition_new(config->kafka.topics[0], 0, NULL, 0, &bench->assignments, bench->metrics, &bench->latency);
  tide_partition_assign(bench->partition);
  tide_budget_init(&bench->budget, config->limits.memory_bytes);
  tide_batch_pool_init(&bench->pool, &bench->budget, 1);
  bench->sets = g_new0(TideRowBuffer, config->tables->len);
  for (guint i = 0; i < config->tables->len; i++) {
    const TideTable *table = g_ptr_array_index(config->tables, i);
    tide_row_buffer_init(&bench->sets[i], &bench->budget, request->protocol,
                         table->latest == TIDE_LATEST_NONE ? TIDE_MERGE_ALL : TIDE_MERGE_NEWEST, table->families);
  }
}

static void
bench_clear(Bench *bench)
{
  for (guint i = 0; i < bench->request->config->tables->len; i++)
    tide_row_buffer_clear(&bench->sets[i]);
  g_free(bench->sets);
  tide_batch_pool_clear(&bench->pool);
  tide_partition_free(bench->partition, &bench->budget);
  tide_assignments_clear(&bench->assignments);
  tide_metrics_free(bench->metrics);
  tide_mapping_free(bench->mapping);
  tide_decoder_free(bench->decoder);
  tide_field_names_free(bench->names);
  tide_buffer_clear_memory(&bench->scratch);
}

/* ---- a message in each pass; none is rejected: see tide_bench_load_settle() ---- */

static void
decode(Bench *bench, const TideMessage *message)
{
  TideReading *readings;
  guint32 n_readings;
  TideReject reject;
  if (!tide_decoder_decode(bench->decoder, message, &readings, &n_readings, &reject))
    g_error("a message that could be decoded cannot be decoded again");
}

static TideMapped
map(Bench *bench, const TideMessage *message)
{
  TideMapped mapped;
  TideReject reject;
  if (!tide_mapping_apply(bench->mapping, message, &mapped, &reject))
    g_error("a message that could be mapped cannot be mapped again");
  return mapped;
}

static void
map_only(Bench *bench, const TideMessage *message)
{
  map(bench, message);
}

static void
build_keys(Bench *bench, const TideMessage *message)
{
  TideMapped mapped = map(bench, message);
  for (guint repeat = 0; repeat < REPEATS; repeat++) {
    tide_buffer_reset(&bench->scratch);
    for (guint32 i = 0; i < mapped.n_rows; i++) {
      const TideRow *row = &mapped.rows[i];
      const TideTable *table = g_ptr_array_index(bench->request->config->tables, row->table_index);
      const TideReading *reading = &tide_mapping_readings(bench->mapping)[row->reading_index];
      TideReject reject;
      if (!tide_row_key_append(table->key, reading, &bench->scratch, &reject))
        g_error("a key that could be built cannot be built again");
    }
  }
}

static void
encode_cells(Bench *bench, const TideMessage *message)
{
  TideMapped mapped = map(bench, message);
  for (guint repeat = 0; repeat < REPEATS; repeat++) {
    tide_buffer_reset(&bench->scratch);
    for (guint32 i = 0; i < mapped.n_rows; i++)
      for (guint32 c = 0; c < mapped.rows[i].n_cells; c++) {
        const TideCell *cell = &mapped.rows[i].cells[c];
        tide_cell_append(bench->request->protocol, &bench->scratch, cell->column->prefix, cell->value,
                         cell->timestamp_ms);
      }
  }
}

/* ---- the whole path ---- */

static void
seal(Bench *bench, TideRowBuffer *buffer)
{
  const TideBatchConfig *limits = &bench->request->config->batch;
  TideSealRequest request = {.max_rows = limits->max_rows, .max_bytes = limits->max_bytes, .pool = &bench->pool};
  Meter before = meter_now(bench);
  TideBatch *batch = tide_row_buffer_seal(buffer, &request);
  Meter sealed = meter_now(bench);
  for (TideBatch *next; batch != NULL; batch = next) {
    next = batch->next;
    gsize n_sources;
    const TideBatchSource *sources = tide_batch_sources(batch, &n_sources);
    for (gsize i = 0; i < n_sources; i++)
      if (tide_partition_owns(bench->partition, sources[i].ref))
        tide_partition_ack(bench->partition, sources[i].ref, 1);
    tide_budget_charge(&bench->budget, -batch->charged_bytes);
    tide_batch_pool_give(&bench->pool, batch);
  }
  bench->seal = meter_plus(bench->seal, meter_minus(sealed, before));
  bench->ack = meter_plus(bench->ack, meter_minus(meter_now(bench), sealed));
}

static void
walk_path(Bench *bench, const TideMessage *message)
{
  const TideBatchConfig *limits = &bench->request->config->batch;
  TideMapped mapped = map(bench, message);
  TideSourceRef ref = tide_partition_begin(bench->partition, &bench->budget, bench->next_offset++, &mapped, TRUE);
  for (guint32 i = 0; i < mapped.n_rows; i++) {
    TideRowBuffer *buffer = &bench->sets[mapped.rows[i].table_index];
    tide_row_buffer_append(buffer, &mapped.rows[i], ref, 1, NULL);
    if (buffer->rule == TIDE_MERGE_ALL &&
        (buffer->n_rows >= limits->max_rows || buffer->encoded_bytes >= limits->max_bytes))
      seal(bench, buffer);
  }
}

/* ---- runs ---- */

static Meter
run_pass(Bench *bench, Pass pass)
{
  static void (*const steps[N_PASSES])(Bench *, const TideMessage *) = {[PASS_DECODE] = decode,
                                                                        [PASS_MAP] = map_only,
                                                                        [PASS_KEYS] = build_keys,
                                                                        [PASS_CELLS] = encode_cells,
                                                                        [PASS_PATH] = walk_path};
  const TideBenchLoad *load = bench->request->load;
  Meter before = meter_now(bench);
  for (guint32 i = 0; i < load->messages->len; i++) {
    TideMessage message = tide_bench_load_message(load, i);
    steps[pass](bench, &message);
  }
  for (guint i = 0; pass == PASS_PATH && i < bench->request->config->tables->len; i++)
    while (!tide_row_buffer_is_empty(&bench->sets[i]))
      seal(bench, &bench->sets[i]);
  return meter_minus(meter_now(bench), before);
}

static void
run_once(Bench *bench, Meter ret_stages[TIDE_BENCH_N_STAGES])
{
  Meter passes[N_PASSES] = {{0}};
  bench->seal = bench->ack = (Meter){0};
  for (int pass = 0; pass < N_PASSES; pass++)
    if ((stages_of_pass[pass] & bench->request->stages) != 0)
      passes[pass] = run_pass(bench, (Pass)pass);
  ret_stages[TIDE_BENCH_DECODE] = passes[PASS_DECODE];
  ret_stages[TIDE_BENCH_MAP] = meter_minus(passes[PASS_MAP], passes[PASS_DECODE]);
  ret_stages[TIDE_BENCH_KEY] = meter_of_one_repeat(meter_minus(passes[PASS_KEYS], passes[PASS_MAP]));
  ret_stages[TIDE_BENCH_ENCODE] = meter_of_one_repeat(meter_minus(passes[PASS_CELLS], passes[PASS_MAP]));
  ret_stages[TIDE_BENCH_SEAL] = bench->seal;
  ret_stages[TIDE_BENCH_ACK] = bench->ack;
  ret_stages[TIDE_BENCH_APPEND] =
      meter_minus(meter_minus(passes[PASS_PATH], passes[PASS_MAP]), meter_plus(bench->seal, bench->ack));
  ret_stages[TIDE_BENCH_ALL] = passes[PASS_PATH];
}

static int
compare_ns(gconstpointer a, gconstpointer b)
{
  const Meter *left = a, *right = b;
  return left->ns < right->ns ? -1 : left->ns > right->ns;
}

/* @runs: gets sorted. */
static TideBenchFigure
figure_of(Meter *runs, guint32 n_runs, double n_readings)
{
  qsort(runs, n_runs, sizeof *runs, compare_ns);
  guint32 low = (n_runs - 1) / 2, high = n_runs / 2;
  gint64 allocations = 0;
  for (guint32 i = 0; i < n_runs; i++)
    allocations = MAX(allocations, runs[i].allocations);
  return (TideBenchFigure){.ns = ((double)runs[low].ns + (double)runs[high].ns) / 2 / n_readings,
                           .min_ns = (double)runs[0].ns / n_readings,
                           .max_ns = (double)runs[n_runs - 1].ns / n_readings,
                           .allocations = (double)allocations / n_readings};
}

void
tide_bench_stages_run(const TideBenchRequest *request, TideBenchFigure ret_figures[TIDE_BENCH_N_STAGES])
{
  Bench bench;
  bench_init(&bench, request);
  Meter stages[TIDE_BENCH_N_STAGES];
  TideProgress progress;
  guint32 n_runs = WARM_UP_RUNS + request->runs;
  tide_progress_begin(&progress, "runs", n_runs, tide_now_us());
  g_autofree Meter *runs = g_new(Meter, (gsize)TIDE_BENCH_N_STAGES * request->runs);
  for (guint32 run = 0; run < n_runs; run++) {
    run_once(&bench, stages);
    for (guint32 stage = 0; run >= WARM_UP_RUNS && stage < TIDE_BENCH_N_STAGES; stage++)
      runs[stage * request->runs + run - WARM_UP_RUNS] = stages[stage];
    tide_progress_update(&progress, run + 1, tide_now_us());
  }
  tide_progress_end(&progress);
  for (int stage = 0; stage < TIDE_BENCH_N_STAGES; stage++)
    ret_figures[stage] =
        (request->stages & (1u << stage)) == 0
            ? (TideBenchFigure){0}
            : figure_of(&runs[(guint32)stage * request->runs], request->runs, (double)request->load->n_readings);
  bench_clear(&bench);
}
