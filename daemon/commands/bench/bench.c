/* `tidemark bench`: measures the cost of this configuration's readings on this machine, without Kafka and HBase. */
#define _GNU_SOURCE /* RTLD_DEFAULT */
#include "commands/bench/bench.h"
#include "commands/cli/commands.h"
#include "commands/cli/load_config.h"
#include "commands/cli/output.h"
#include "config/config_source.h"
#include "util/units.h"

#include <dlfcn.h>

static const char *const bench_formats[] = {"table", "json", NULL};
enum { BENCH_TABLE, BENCH_JSON };

/* Interval between the readings of a device, as in simulate: the tables' content does not depend on it. */
#define STEP_MS 1000

typedef struct BenchOptions {
  GPtrArray *messages; /* (element-type utf8): files */
  guint64 readings;
  guint64 metrics;
  guint64 machines; /* 0: not given */
  guint64 runs;
  GPtrArray *stages; /* (element-type utf8) */
  int format;
  gboolean plan; /* with the following members, where 0 means not given */
  gint64 interval_ms;
  guint64 rows_per_day;
  guint64 message_bytes;
  gint64 retention_ms; /* 0: not given */
  gint64 kafka_retention_ms;
  double stored_share; /* 0: not given */
  guint64 replication;
  guint64 cores;
  double margin;
} BenchOptions;

/* The configuration of a plan without one: the tables of README.md. */
static const char plan_yaml[] =
    "kafka: { brokers: none, group: plan, topics: [readings] }\n"
    "hbase: { gateways: [none] }\n"
    "readings: { format: json, time: { field: ts, format: epoch_ms } }\n"
    "tables:\n"
    "  METRIC: { key: [ { field: host }, \"#\", { time: epoch_ms } ], columns: { family: M, from: \"*\" } }\n"
    "  CURRENT_METRIC: { latest: merge, key: [ { field: host } ], columns: { family: M, from: \"*\" } }\n";
/* Number of its messages, which are counted but not timed. */
#define PLAN_MESSAGES 1000

#define MS_PER_DAY 86400000
#define MAX_READINGS_PER_S 1e9

/* Defaults for the number of devices and, without a time to live, for the retention. */
#define MACHINES 1000
#define RETENTION_MS (30 * (gint64)MS_PER_DAY)

static guint64
n_machines(const BenchOptions *options)
{
  return options->machines > 0 ? options->machines : MACHINES;
}

/* Converts the given names to stages; all stages if there are none. */
static gboolean
read_stages(const GPtrArray *names, guint *ret_stages, GError **error)
{
  const char *known[TIDE_BENCH_N_STAGES + 1] = {NULL};
  memcpy(known, tide_bench_stage_names, sizeof tide_bench_stage_names);
  *ret_stages = names->len == 0 ? (1u << TIDE_BENCH_N_STAGES) - 1 : 0;
  for (guint i = 0; i < names->len; i++) {
    const char *name = names->pdata[i];
    int stage = 0;
    while (stage < TIDE_BENCH_N_STAGES && strcmp(known[stage], name) != 0)
      stage++;
    if (stage == TIDE_BENCH_N_STAGES) {
      g_autofree char *all = g_strjoinv(", ", (char **)(gpointer)known);
      return tide_fail(error, TIDE_ERROR_USAGE, "'--stage' must be one of %s; got '%s'", all, name);
    }
    *ret_stages |= 1u << stage;
  }
  return TRUE;
}

static gboolean
fill(TideBenchLoad *load, const TideConfig *config, const BenchOptions *options, guint64 n_messages, GError **error)
{
  const TideDecodeOptions *decode = &tide_config_source_of_topic(config, load->topic)->readings->decode;
  for (guint i = 0; i < options->messages->len; i++)
    if (!tide_bench_load_read(load, options->messages->pdata[i], decode, options->readings, error))
      return FALSE;
  if (options->messages->len == 0) {
    guint64 rounds = (n_messages + n_machines(options) - 1) / n_machines(options);
    TideSimulationParameters parameters = {.readings = n_messages,
                                           .machines = n_machines(options),
                                           .metrics = options->metrics,
                                           .seed = 1,
                                           .start_epoch_ms = load->timestamp_ms - (gint64)rounds * STEP_MS,
                                           .step_ms = STEP_MS};
    tide_bench_load_simulate(load, &parameters);
  }
  if (tide_bench_load_settle(load, config, n_messages, error)) {
    g_autofree char *rejected = tide_count_of(load->n_rejected, "message", NULL);
    if (load->n_rejected > 0)
      tide_say("tidemark bench: skipping %s that would be rejected; the first one: %s", rejected, load->first_reject);
    return TRUE;
  }
  if (options->messages->len == 0)
    g_prefix_error(error,
                   "the synthetic messages are those of 'tidemark simulate'; provide your own with '--messages': ");
  return FALSE;
}

typedef guint64 (*CountAllocations)(void);

/* The counter of tests/bench/allocation_tally.c if that is preloaded, otherwise NULL: a program cannot observe its own
 * allocator. */
static CountAllocations
find_allocation_counter(void)
{
  CountAllocations count;
  void *found = dlsym(RTLD_DEFAULT, "allocation_tally_calls");
  memcpy(&count, &found, sizeof count);
  return count;
}

static TideBenchRequest
request_of(const TideConfig *config, const TideBenchLoad *load, const BenchOptions *options, guint stages)
{
  TideWireProtocol protocol = config->hbase.protocol >= 0 ? (TideWireProtocol)config->hbase.protocol : TIDE_WIRE_BINARY;
  return (TideBenchRequest){.config = config,
                            .load = load,
                            .protocol = protocol,
                            .runs = (guint32)options->runs,
                            .stages = stages,
                            .count_allocations = find_allocation_counter()};
}

/* ---- the plan ---- */

static TidePlanRows
rows_of_a_reading(const TideBenchRows *rows, double n_readings, const TideConfig *config, gboolean latest)
{
  TidePlanRows made = {.rows = (double)rows->rows / n_readings,
                       .cells = (double)rows->cells / n_readings,
                       .stored_bytes = (double)rows->stored_bytes / n_readings};
  for (guint i = 0; i < config->tables->len; i++) {
    const TideTable *table = g_ptr_array_index(config->tables, i);
    made.n_tables += (table->latest != TIDE_LATEST_NONE) == latest;
  }
  return made;
}

/* The rate comes from --rows-per-day or from --interval. */
static gboolean
read_rate(const BenchOptions *options, TidePlanLoad *load, GError **error)
{
  gboolean is_twice = options->interval_ms > 0 && options->rows_per_day > 0;
  if (is_twice || (options->interval_ms == 0 && options->rows_per_day == 0)) {
    return tide_fail(error, TIDE_ERROR_USAGE, "%s",
                     is_twice ? "'--interval' and '--rows-per-day' both set the number of readings: use only one"
                              : "'--plan' needs the load: either '--devices' with '--interval', or '--rows-per-day'");
  }
  if (options->interval_ms > 0) {
    load->readings_per_s = load->machines * 1000 / (double)options->interval_ms;
  } else if (load->history.rows > 0) {
    load->readings_per_s = (double)options->rows_per_day / load->history.rows / (MS_PER_DAY / 1000.0);
  } else
    return tide_fail(
        error, TIDE_ERROR_USAGE,
        "'--rows-per-day' counts rows of tables that are not 'latest', but there are none: use '--interval'");
  if (load->readings_per_s <= MAX_READINGS_PER_S)
    return TRUE;
  return tide_fail(error, TIDE_ERROR_USAGE, "the load exceeds %.0f readings per second: %.3g", MAX_READINGS_PER_S,
                   load->readings_per_s);
}

/* The requested retention, or the time to live of each cell; without one, RETENTION_MS. */
static void
read_retention(const BenchOptions *options, const TideBenchRows *rows, TidePlanLoad *load)
{
  double asked_ms = (double)(options->retention_ms > 0 ? options->retention_ms : RETENTION_MS);
  load->retention_s = asked_ms / 1000;
  if (options->retention_ms > 0 || rows->ttl_bytes == 0)
    return;
  double other_bytes = (double)(rows->stored_bytes - rows->ttl_bytes);
  load->retention_s = (rows->ttl_byte_ms + other_bytes * asked_ms) / (double)rows->stored_bytes / 1000;
  load->min_ttl_s = (double)rows->min_ttl_ms / 1000;
  load->max_ttl_s = (double)rows->max_ttl_ms / 1000;
  load->other_retention_s = other_bytes > 0 ? asked_ms / 1000 : 0;
}

static gboolean
is_shrunk(const TideConfig *config)
{
  for (guint i = 0; i < config->tables->len; i++) {
    const TideTable *table = g_ptr_array_index(config->tables, i);
    for (guint f = 0; f < table->families->len; f++) {
      const TideFamilySettings *family = g_ptr_array_index(table->families, f);
      if ((family->compression >= 0 && family->compression != TIDE_COMPRESSION_NONE) || family->data_block_encoding > 0)
        return TRUE;
    }
  }
  return FALSE;
}

static gboolean
read_plan_load(const BenchOptions *options, const TideConfig *config, const TideBenchLoad *counted, TidePlanLoad *load,
               GError **error)
{
  double n_readings = (double)counted->n_readings, n_messages = counted->messages->len;
  *load = (TidePlanLoad){
      .machines = (double)n_machines(options),
      .machines_assumed = options->machines == 0,
      .messages_per_reading = n_messages / n_readings,
      .message_bytes =
          options->message_bytes > 0 ? (double)options->message_bytes : (double)counted->given_bytes / counted->n_given,
      .history = rows_of_a_reading(&counted->history, n_readings, config, FALSE),
      .latest = rows_of_a_reading(&counted->latest, n_readings, config, TRUE),
      .latest_window_s = (double)config->batch.latest_window_ms / 1000,
      .kafka_retention_s = (double)options->kafka_retention_ms / 1000,
      .stored_share = options->stored_share > 0 ? options->stored_share : 1,
      .share_unknown = options->stored_share == 0 && is_shrunk(config),
      .replication = (guint)options->replication,
      .cores = (guint)options->cores,
      .margin = options->margin,
  };
  read_retention(options, &counted->history, load);
  return read_rate(options, load, error);
}

/* With a given configuration, the client's share is measured. */
static gboolean
plan(TideCommandCall *call, GError **error)
{
  const BenchOptions *options = call->options;
  gboolean measured = call->config_path != NULL;
  if (options->stages->len > 0)
    return tide_fail(error, TIDE_ERROR_USAGE, "'--plan' and '--stage' cannot be combined");
  if (measured && !tide_command_load_config(call))
    return FALSE;
  if (!measured)
    call->config = tide_config_load_text("the plan's tables", tide_bytes_of_string(plan_yaml), &call->problems);
  const TideConfig *config = call->config;
  g_autoptr(TideBenchLoad) counted = tide_bench_load_new(config);
  TidePlanLoad load;
  if (!fill(counted, config, options, measured ? options->readings : PLAN_MESSAGES, error) ||
      !read_plan_load(options, config, counted, &load, error))
    return FALSE;
  if (measured) {
    load.memory_bytes = (double)config->limits.memory_bytes;
    TideBenchRequest request = request_of(config, counted, options, 1u << TIDE_BENCH_ALL);
    TideBenchFigure figures[TIDE_BENCH_N_STAGES];
    tide_bench_stages_run(&request, figures);
    load.path_us = figures[TIDE_BENCH_ALL].ns / 1000;
  }
  if (load.machines_assumed) {
    g_autofree char *note = tide_plan_machines_note(&load);
    tide_say("tidemark bench: %s", note);
  }
  g_auto(TidePlan) made;
  tide_plan_make(&load, &made);
  (options->format == BENCH_JSON ? tide_plan_print_json : tide_plan_print)(stdout, &load, &made);
  return TRUE;
}

/* ---- the command ---- */

static gboolean
bench(TideCommandCall *call, GError **error)
{
  const BenchOptions *options = call->options;
  guint stages;
  if (options->plan)
    return plan(call, error);
  if (options->interval_ms != 0 || options->rows_per_day != 0) /* options for the size of a plan */
    return tide_fail(error, TIDE_ERROR_USAGE, "'--%s' needs '--plan'",
                     options->interval_ms != 0 ? "interval" : "rows-per-day");
  if (!read_stages(options->stages, &stages, error) || !tide_command_load_config(call))
    return FALSE;
  const TideConfig *config = call->config;
  g_autoptr(TideBenchLoad) load = tide_bench_load_new(config);
  if (!fill(load, config, options, options->readings, error))
    return FALSE;
  TideBenchRequest request = request_of(config, load, options, stages);
  TideBenchFigure figures[TIDE_BENCH_N_STAGES];
  tide_bench_stages_run(&request, figures);
  TideBenchReport report = {.name = tide_command_config_path(call), .request = &request, .figures = figures};
  if (options->format == BENCH_JSON)
    tide_bench_report_print_json(stdout, &report);
  else
    tide_bench_report_print(stdout, &report);
  return TRUE;
}

static const TideOption bench_options[] = {
    TIDE_CONFIG_OPTION,
    {"messages", "FILE", TIDE_LIST(BenchOptions, messages),
     "file of messages to use, one per line, or one per file with csv.header or a binary format; - for standard input; "
     "repeatable (synthetic, as from simulate)"},
    {"readings", "N", TIDE_COUNT(BenchOptions, readings),
     "messages per run, all kept in memory; a smaller input is repeated (100000)", .min = 1, .max = 100000000},
    {"metrics", "N", TIDE_COUNT(BenchOptions, metrics), "values per synthetic reading (10)", .min = 1, .max = 10000},
    {"devices", "N", TIDE_COUNT(BenchOptions, machines),
     "devices whose synthetic readings alternate; plan: devices of the load (1000)", .min = 1, .max = 1000000000},
    {"runs", "N", TIDE_COUNT(BenchOptions, runs), "number of runs; the median is shown (5)", .min = 1, .max = 1000},
    {"stage", "NAME", TIDE_LIST(BenchOptions, stages),
     "stage to measure: decode, map, key, append, encode, seal, ack or all; repeatable (every stage)"},
    {"plan", NULL, TIDE_FLAG(BenchOptions, plan),
     "without a configuration, measure nothing and calculate the hardware for a load, which the following options "
     "declare"},
    {"interval", "DURATION", TIDE_DURATION(BenchOptions, interval_ms),
     "plan: time between two readings of a device (required unless --rows-per-day is given)", .min = 1,
     .max = MS_PER_DAY},
    {"rows-per-day", "N", TIDE_COUNT(BenchOptions, rows_per_day),
     "plan: rows per day in history tables, instead of --interval", .min = 1, .max = 1000000000000000},
    {"bytes", "N", TIDE_COUNT(BenchOptions, message_bytes),
     "plan: size of a message with its Kafka key, which messages from --messages lack (as in the messages at hand)",
     .min = 1, .max = 100000000},
    {"retention", "DURATION", TIDE_DURATION(BenchOptions, retention_ms),
     "plan: retention of history tables (their ttl, or 30d)", .min = 60000,
     .max = G_GUINT64_CONSTANT(36500) * MS_PER_DAY},
    {"kafka-retention", "DURATION", TIDE_DURATION(BenchOptions, kafka_retention_ms),
     "plan: retention of the topic (3d)", .min = 60000, .max = G_GUINT64_CONSTANT(36500) * MS_PER_DAY},
    {"stored", "SHARE", TIDE_PERCENT(BenchOptions, stored_share),
     "plan: size of the tables after encoding and compression (100%)", .min = 1},
    {"replication", "N", TIDE_COUNT(BenchOptions, replication), "plan: copies of each block and of the topic (3)",
     .min = 1, .max = 16},
    {"cores", "N", TIDE_COUNT(BenchOptions, cores), "plan: cores per host (8)", .min = 1, .max = 1024},
    {"margin", "SHARE", TIDE_PERCENT(BenchOptions, margin), "plan: share of each host's cores that stays free (50%)",
     .max = 95},
    {"format", "FORMAT", TIDE_CHOICE(BenchOptions, format), "output format: table, or json, one object (table)",
     .letter = 'f', .choices = bench_formats},
};

const TideCommand tide_command_bench = {
    .name = "bench",
    .summary = "Measures the cost of a reading on this machine, stage by stage, or plans the hardware for a load.",
    .exits = {{TIDE_EXIT_DATA, "no message can be used"}, {TIDE_EXIT_CONFIG}},
    .details = "Needs neither Kafka nor HBase, and writes nothing. Run it on an idle machine, and compare ratios.\n"
               "\n"
               "  decode  message to readings: timed alone\n"
               "  map     times, conditions, keys and columns: mapping minus decoding\n"
               "  key     row keys, part of map: built 8 additional times\n"
               "  append  starting offsets and collecting rows: the whole path minus all other stages\n"
               "  encode  encoding of cells, part of append: encoded 8 additional times\n"
               "  seal    open rows to batches: timed alone\n"
               "  ack     acknowledging each row's message and advancing offsets: timed alone\n"
               "  all     the whole path\n"
               "\n"
               "Examples:\n"
               "  tidemark bench -c tidemark.yaml --metrics 1\n"
               "  kcat -C -b 127.0.0.1:9092 -t metrics -o -100000 -e | tidemark bench -c tidemark.yaml --messages -\n"
               "  tidemark bench -c tidemark.yaml --stage decode --stage all --runs 11 --format json\n"
               "  tidemark bench --plan --devices 100000 --metrics 100 --interval 5s",
    TIDE_COMMAND_OPTIONS(bench_options, BenchOptions),
    .defaults = &(const BenchOptions){.readings = 100000,
                                      .metrics = 10,
                                      .runs = 5,
                                      .kafka_retention_ms = G_GINT64_CONSTANT(3) * MS_PER_DAY,
                                      .replication = 3,
                                      .cores = 8,
                                      .margin = 0.5},
    .run = bench,
};
