/* `tidemark bench`: what the readings of this configuration cost on this machine, without Kafka and HBase. */
#include "commands/bench/report.h"
#include "commands/cli/commands.h"
#include "commands/cli/load_config.h"
#include "commands/cli/message_lines.h"
#include "config/config_source.h"

#include <unistd.h>

static const char *const bench_formats[] = {"table", "json", NULL};
enum { BENCH_TABLE, BENCH_JSON };

/* Between the readings of a machine, as in simulate: what the tables make of them does not depend on it. */
#define STEP_MS 1000

typedef struct BenchOptions {
  GPtrArray *messages; /* (element-type utf8): files */
  guint64 readings;
  guint64 metrics;
  guint64 machines;
  guint64 runs;
  GPtrArray *stages; /* (element-type utf8) */
  int format;
} BenchOptions;

/* The stages of which the names are given; all where none is. */
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
      g_set_error(error, TIDE_ERROR, TIDE_ERROR_USAGE, "'--stage' takes one of %s; got '%s'", all, name);
      return FALSE;
    }
    *ret_stages |= 1u << stage;
  }
  return TRUE;
}

static gboolean
read_messages(TideBenchLoad *load, const TideConfig *config, const BenchOptions *options, GError **error)
{
  const TideDecodeOptions *decode = &tide_config_source_of_topic(config, load->topic)->readings->decode;
  for (guint i = 0; i < options->messages->len; i++) {
    const char *path = options->messages->pdata[i];
    if (strcmp(path, "-") == 0 && isatty(STDIN_FILENO))
      fprintf(stderr, "reading %s; end with Ctrl-D\n",
              tide_message_is_whole(decode) ? "a message" : "messages, one a line");
    if (!tide_bench_load_read(load, path, decode, options->readings, error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
fill(TideBenchLoad *load, const TideConfig *config, const BenchOptions *options, GError **error)
{
  if (options->messages->len > 0) {
    if (!read_messages(load, config, options, error))
      return FALSE;
  } else {
    guint64 rounds = (options->readings + options->machines - 1) / options->machines;
    TideSimulationParameters parameters = {.readings = options->readings,
                                           .machines = options->machines,
                                           .metrics = options->metrics,
                                           .seed = 1,
                                           .start_epoch_ms = load->timestamp_ms - (gint64)rounds * STEP_MS,
                                           .step_ms = STEP_MS};
    tide_bench_load_simulate(load, &parameters);
  }
  if (tide_bench_load_settle(load, config, options->readings, error))
    return TRUE;
  if (options->messages->len == 0)
    g_prefix_error(error, "the synthetic messages are those of 'tidemark simulate'; give your own with '--messages': ");
  return FALSE;
}

static gboolean
measure(TideCommandCall *call, GError **error)
{
  const BenchOptions *options = call->options;
  guint stages;
  if (!read_stages(options->stages, &stages, error) || !tide_command_load_config(call))
    return FALSE;
  const TideConfig *config = call->config;
  g_autoptr(TideBenchLoad) load = tide_bench_load_new(config);
  if (!fill(load, config, options, error))
    return FALSE;
  if (load->n_rejected > 0)
    fprintf(stderr, "tidemark bench: %u message%s would be rejected, and left out; the first one: %s\n",
            load->n_rejected, load->n_rejected == 1 ? "" : "s", load->first_reject);
  TideBenchRequest request = {.config = config,
                              .load = load,
                              .protocol = config->hbase.protocol >= 0 ? (TideWireProtocol)config->hbase.protocol
                                                                      : TIDE_WIRE_BINARY,
                              .runs = (guint32)options->runs,
                              .stages = stages};
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
     "messages to take, one a line, or with csv.header or a binary format one a file; -: from standard input; again "
     "for "
     "more (synthetic, as by simulate)"},
    {"readings", "N", TIDE_COUNT(BenchOptions, readings),
     "messages in a run, all held in memory; fewer given ones are repeated (100000)", .min = 1, .max = 100000000},
    {"metrics", "N", TIDE_COUNT(BenchOptions, metrics), "values in a synthetic reading (10)", .min = 1, .max = 10000},
    {"machines", "N", TIDE_COUNT(BenchOptions, machines), "machines whose synthetic readings take turns (1000)",
     .min = 1, .max = 1000000000},
    {"runs", "N", TIDE_COUNT(BenchOptions, runs), "runs of which the median is shown (5)", .min = 1, .max = 1000},
    {"stage", "NAME", TIDE_LIST(BenchOptions, stages),
     "only decode, map, key, append, encode, seal, ack or all; again for more (each)"},
    {"format", "FORMAT", TIDE_CHOICE(BenchOptions, format), "table, or json, one object (table)", .letter = 'f',
     .choices = bench_formats},
};

const TideCommand tide_command_bench = {
    .name = "bench",
    .summary = "Measures what readings cost with this configuration on this machine, stage by stage.",
    .details = "It needs neither Kafka nor HBase, and writes nothing. Run it on an idle machine; ratios count.\n"
               "\n"
               "  decode  message to readings: timed alone\n"
               "  map     times, conditions, keys and columns: mapping a message less decoding it\n"
               "  key     of that the row keys: built 8 times more\n"
               "  append  offset begun, rows laid open: the path less all other stages\n"
               "  encode  of that the cells' bytes: encoded 8 times more\n"
               "  seal    open rows to batches: timed alone\n"
               "  ack     each row's message marked, offsets moved up: timed alone\n"
               "  all     the whole path in one go\n"
               "\n"
               "Examples:\n"
               "  tidemark bench -c tidemark.yaml --metrics 1\n"
               "  kcat -C -b 127.0.0.1:9092 -t metrics -o -100000 -e | tidemark bench -c tidemark.yaml --messages -\n"
               "  tidemark bench -c tidemark.yaml --stage decode --stage all --runs 11 --format json",
    .options = bench_options,
    .n_options = G_N_ELEMENTS(bench_options),
    .options_size = sizeof(BenchOptions),
    .defaults = &(const BenchOptions){.readings = 100000, .metrics = 10, .machines = 1000, .runs = 5},
    .run = measure,
};
