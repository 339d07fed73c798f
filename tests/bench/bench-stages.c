/* Measures each stage of a reading's path in nanoseconds and allocations, for readings of 1, 10 and 100 metrics and for
 * tables and messages of different cost: `tidemark bench` with an allocator that counts.
 *
 * bench-stages [READINGS [RUNS [NAME]]]
 *
 * Prints a JSON object a line. Run it on an idle machine; ratios count. */
#include "commands/bench/bench.h"
#include "unit/allocation_counter.h"

#define FIRST_TIME_MS G_GINT64_CONSTANT(1426535612045)
#define MACHINES 1000u

#define HEAD                                                                                                           \
  "kafka: { brokers: b, group: g, topics: [t] }\n"                                                                     \
  "readings: { time: { field: ts, format: epoch_ms } }\n"                                                              \
  "hbase: { gateways: [g] }\n"                                                                                         \
  "tables:\n"
#define KEY "key: [{ field: host }, \"#\", { time: epoch_ms }], "
#define METRIC "  METRIC: { " KEY "columns: { family: M, from: \"*\" } }\n"
#define CURRENT_METRIC                                                                                                 \
  "  CURRENT_METRIC: { latest: merge, key: [{ field: host }], columns: { family: M, from: \"*\" } }\n"
#define QUOTE "  QUOTE: { when: { field: BID, present: true }, " KEY "columns: { family: M, from: \"*\" } }\n"
#define NUMBERS "  NUMBERS: { " KEY "columns: { family: M, from: [\"*/*\"], encode: float64 } }\n"
#define PACKED(pack) "  PACKED: { " KEY "columns: { family: M, from: \"*\", pack: " pack " } }\n"
#define DAY                                                                                                            \
  "  DAY: { key: [{ field: meter, width: 10, pad: \"0\" }, \"#\", { time: yyyyMMdd }],"                                \
  " columns: { family: METER, from: kwh, qualifier: [{ time: HHmm, cut: 15m }] } }\n"

typedef struct Shape {
  const char *name;
  const char *yaml;
  guint metrics;       /* of readings as `tidemark simulate` makes them; with message NULL */
  const char *message; /* else; MACHINE and TIME in it change */
} Shape;

static const Shape shapes[] = {
    {.name = "1 metric, a data and a latest table", .yaml = HEAD METRIC CURRENT_METRIC, .metrics = 1},
    {.name = "10 metrics, a data and a latest table", .yaml = HEAD METRIC CURRENT_METRIC, .metrics = 10},
    {.name = "100 metrics, a data and a latest table", .yaml = HEAD METRIC CURRENT_METRIC, .metrics = 100},
    {.name = "10 metrics, a data table", .yaml = HEAD METRIC, .metrics = 10},
    {.name = "10 metrics, and a table that does not take them",
     .yaml = HEAD METRIC CURRENT_METRIC QUOTE,
     .metrics = 10},
    {.name = "10 metrics as doubles", .yaml = HEAD NUMBERS, .metrics = 10},
    {.name = "10 metrics in one cell of JSON", .yaml = HEAD PACKED("json"), .metrics = 10},
    {.name = "10 metrics in one cell of MessagePack", .yaml = HEAD PACKED("msgpack"), .metrics = 10},
    {.name = "10 nested metrics",
     .yaml = HEAD METRIC,
     .message = "{\"host\":\"serverMACHINE.bbb.com\",\"ts\":TIME,\"metrics\":{\"CPU/CPU1_USR\":0.02,\"CPU/"
                "CPU1_SYS\":0.01,\"CPU/CPU2_USR\":0.04,"
                "\"MEM/USED_BYTES\":8123456789,\"MEM/FREE_BYTES\":123456789,\"DISK/SDA_READ\":1234.5,"
                "\"DISK/SDA_WRITE\":987.25,\"NET/ETH0_RX\":12345678,\"NET/ETH0_TX\":87654321,\"LOAD/AVG1\":0.75},"
                "\"rack\":\"r12\",\"datacenter\":\"frankfurt-1\",\"os\":\"debian-12\"}"},
    {.name = "a meter's slot in the row of its day",
     .yaml = HEAD DAY,
     .message = "{\"meter\":\"98MACHINE\",\"ts\":TIME,\"kwh\":1.5}"},
};

static guint64
count_allocations(void)
{
  return allocation_count;
}

static void
fill(TideBenchLoad *load, const Shape *shape, guint64 n_readings)
{
  if (shape->message == NULL) {
    TideSimulationParameters parameters = {.readings = n_readings,
                                           .machines = MACHINES,
                                           .metrics = shape->metrics,
                                           .seed = 1,
                                           .start_epoch_ms = FIRST_TIME_MS,
                                           .step_ms = 1000};
    tide_bench_load_simulate(load, &parameters);
    return;
  }
  for (guint64 i = 0; i < n_readings; i++) {
    g_autoptr(GString) text = g_string_new(shape->message);
    g_autofree char *machine = g_strdup_printf("%05u", (guint)(i % MACHINES));
    g_autofree char *time = g_strdup_printf("%" G_GINT64_FORMAT, FIRST_TIME_MS + (gint64)(i / MACHINES) * 1000);
    g_string_replace(text, "MACHINE", machine, 1);
    g_string_replace(text, "TIME", time, 1);
    tide_bench_load_add(load, TIDE_BYTES_EMPTY, tide_bytes(text->str, text->len));
  }
}

static void
measure(const Shape *shape, guint64 n_readings, guint32 runs)
{
  g_autoptr(GPtrArray) problems = NULL;
  g_autoptr(TideConfig) config = tide_config_load_text("bench.yaml", tide_bytes_of_string(shape->yaml), &problems);
  if (config == NULL)
    g_error("the configuration of '%s' is not good", shape->name);
  g_autoptr(TideBenchLoad) load = tide_bench_load_new(config);
  g_autoptr(GError) error = NULL;
  /* Of large messages fewer: enough for milliseconds, and little memory. */
  fill(load, shape, shape->metrics >= 100 ? MAX(n_readings / 10, 1) : n_readings);
  if (!tide_bench_load_settle(load, config, 0, &error))
    g_error("the messages of '%s': %s", shape->name, error->message);
  TideBenchRequest request = {.config = config,
                              .load = load,
                              .protocol = TIDE_WIRE_BINARY,
                              .runs = runs,
                              .stages = (1u << TIDE_BENCH_N_STAGES) - 1,
                              .count_allocations = ALLOCATION_COUNTER_WORKS ? count_allocations : NULL};
  TideBenchFigure figures[TIDE_BENCH_N_STAGES];
  tide_bench_stages_run(&request, figures);
  tide_bench_report_print_json(stdout,
                               &(TideBenchReport){.name = shape->name, .request = &request, .figures = figures});
  fflush(stdout);
}

int
main(int argc, char **argv)
{
  guint64 n_readings = argc > 1 ? g_ascii_strtoull(argv[1], NULL, 10) : 50000;
  guint64 runs = argc > 2 ? g_ascii_strtoull(argv[2], NULL, 10) : 5;
  for (gsize i = 0; i < G_N_ELEMENTS(shapes); i++)
    if (argc <= 3 || strcmp(argv[3], shapes[i].name) == 0)
      measure(&shapes[i], MAX(n_readings, 1), (guint32)CLAMP(runs, 1, 1000));
  return 0;
}
