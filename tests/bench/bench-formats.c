/* What the same readings of ten metrics cost in each format: the daemon's decoder and its whole path, and the format's
 * library by itself where there is one.
 *
 *     bench-formats [READINGS [RUNS]]
 *
 * Prints a JSON object a line. Run it on an idle machine; ratios count. */
#include "bench/library_walks.h"
#include "commands/bench/report.h"
#include "unit/allocation_counter.h"

#include <msgpack.h>
#include <time.h>

#define FIRST_TIME_MS G_GINT64_CONSTANT(1426535612045)
#define MACHINES 1000u
#define METRICS 10u

#define TABLES                                                                                                         \
  "kafka: { brokers: b, group: g, topics: [t] }\n"                                                                     \
  "hbase: { gateways: [g] }\n"                                                                                         \
  "tables:\n"                                                                                                          \
  "  METRIC: { key: [{ field: host }, \"#\", { time: epoch_ms }], columns: { family: M, from: [\"CPU*\"] } }\n"
#define TIME "time: { field: ts, format: epoch_ms }"

static const char *const metric_names[METRICS] = {"CPU1_USR", "CPU1_SYS", "CPU2_USR", "CPU2_SYS", "CPU3_USR",
                                                  "CPU3_SYS", "CPU4_USR", "CPU4_SYS", "CPU5_USR", "CPU5_SYS"};

typedef struct Reading {
  const char *host;
  gint64 time_ms;
  double values[METRICS]; /* of two digits behind the point */
} Reading;

typedef struct Format {
  const char *name;
  const char *yaml;
  void (*append)(const Reading *reading, GByteArray *out);
  gsize (*library)(LibraryWalk *walk, const guint8 *message, gsize len); /* NULL: none, the decoder is our own */
} Format;

/* ---- the messages ---- */

static void G_GNUC_PRINTF(2, 3) print(GByteArray *out, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  g_autofree char *text = g_strdup_vprintf(format, arguments);
  va_end(arguments);
  g_byte_array_append(out, (const guint8 *)text, (guint)strlen(text));
}

static void
append_json(const Reading *reading, GByteArray *out)
{
  print(out, "{\"host\":\"%s\",\"ts\":%" G_GINT64_FORMAT, reading->host, reading->time_ms);
  for (guint i = 0; i < METRICS; i++)
    print(out, ",\"%s\":%.2f", metric_names[i], reading->values[i]);
  print(out, "}");
}

static void
append_influx(const Reading *reading, GByteArray *out)
{
  print(out, "cpu,host=%s", reading->host);
  for (guint i = 0; i < METRICS; i++)
    print(out, "%c%s=%.2f", i == 0 ? ' ' : ',', metric_names[i], reading->values[i]);
  print(out, " %" G_GINT64_FORMAT "000000", reading->time_ms);
}

static void
append_csv(const Reading *reading, GByteArray *out)
{
  print(out, "%s,%" G_GINT64_FORMAT, reading->host, reading->time_ms);
  for (guint i = 0; i < METRICS; i++)
    print(out, ",%.2f", reading->values[i]);
}

static void
pack_text(msgpack_packer *packer, const char *text)
{
  msgpack_pack_str(packer, strlen(text));
  msgpack_pack_str_body(packer, text, strlen(text));
}

static void
append_msgpack(const Reading *reading, GByteArray *out)
{
  msgpack_sbuffer bytes;
  msgpack_sbuffer_init(&bytes);
  msgpack_packer packer;
  msgpack_packer_init(&packer, &bytes, msgpack_sbuffer_write);
  msgpack_pack_map(&packer, METRICS + 2);
  pack_text(&packer, "host");
  pack_text(&packer, reading->host);
  pack_text(&packer, "ts");
  msgpack_pack_int64(&packer, reading->time_ms);
  for (guint i = 0; i < METRICS; i++) {
    pack_text(&packer, metric_names[i]);
    msgpack_pack_double(&packer, reading->values[i]);
  }
  g_byte_array_append(out, (const guint8 *)bytes.data, (guint)bytes.size);
  msgpack_sbuffer_destroy(&bytes);
}

static const Format formats[] = {
    {"json", TABLES "readings: { format: json, " TIME " }\n", append_json, library_walk_json},
    {"influx", TABLES "readings: { format: influx }\n", append_influx, NULL},
    {"csv",
     TABLES "readings: { format: csv, " TIME ", csv: { columns: [host, ts, CPU1_USR, CPU1_SYS, CPU2_USR, CPU2_SYS, "
            "CPU3_USR, CPU3_SYS, CPU4_USR, CPU4_SYS, CPU5_USR, CPU5_SYS] } }\n",
     append_csv, NULL},
    {"msgpack", TABLES "readings: { format: msgpack, " TIME " }\n", append_msgpack, library_walk_msgpack},
};

static void
fill(TideBenchLoad *load, const Format *format, guint n_readings)
{
  g_autoptr(GByteArray) message = g_byte_array_new();
  for (guint i = 0; i < n_readings; i++) {
    g_autofree char *host = g_strdup_printf("server%05u.bbb.com", i % MACHINES);
    Reading reading = {.host = host, .time_ms = FIRST_TIME_MS + (gint64)(i / MACHINES) * 1000};
    for (guint k = 0; k < METRICS; k++)
      reading.values[k] = (double)((i * 7919u + k * 104729u) % 10000u) / 100;
    g_byte_array_set_size(message, 0);
    format->append(&reading, message);
    tide_bench_load_add(load, TIDE_BYTES_EMPTY, tide_bytes(message->data, message->len));
  }
}

/* ---- the libraries ---- */

static guint64
count_allocations(void)
{
  return allocation_count;
}

static gint64
cpu_ns(void)
{
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (gint64)now.tv_sec * G_GINT64_CONSTANT(1000000000) + now.tv_nsec;
}

static int
by_size(gconstpointer a, gconstpointer b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

/* All messages once. Returns: ns for each. */
static double
walk_once(const Format *format, LibraryWalk *walk, const TideBenchLoad *load)
{
  gint64 start_ns = cpu_ns();
  for (guint32 i = 0; i < load->messages->len; i++) {
    TideBytes message = tide_bench_load_message(load, i).value;
    if (format->library(walk, message.data, message.len) != METRICS + 2)
      g_error("the library of %s does not see all values", format->name);
  }
  return (double)(cpu_ns() - start_ns) / load->messages->len;
}

static void
print_library(const Format *format, const TideBenchLoad *load, guint32 runs)
{
  LibraryWalk *walk = library_walk_new();
  g_autofree double *ns = g_new0(double, runs);
  walk_once(format, walk, load); /* until all memory is as large as it gets */
  guint64 before = allocation_count;
  for (guint32 run = 0; run < runs; run++)
    ns[run] = walk_once(format, walk, load);
  double allocations = (double)(allocation_count - before) / runs / load->messages->len;
  qsort(ns, runs, sizeof *ns, by_size);
  printf("{\"name\":\"%s\",\"library_ns\":%.1f,\"library_min_ns\":%.1f,\"library_max_ns\":%.1f,"
         "\"library_allocations\":%.4f}\n",
         format->name, ns[runs / 2], ns[0], ns[runs - 1], allocations);
  library_walk_free(walk);
}

static void
measure(const Format *format, guint n_readings, guint32 runs)
{
  g_autoptr(GPtrArray) problems = NULL;
  g_autoptr(TideConfig) config = tide_config_load_text("bench.yaml", tide_bytes_of_string(format->yaml), &problems);
  if (config == NULL)
    g_error("the configuration of '%s' is not good", format->name);
  g_autoptr(TideBenchLoad) load = tide_bench_load_new(config);
  g_autoptr(GError) error = NULL;
  fill(load, format, n_readings);
  if (!tide_bench_load_settle(load, config, 0, &error) || load->n_rejected > 0 ||
      load->n_cells != (guint64)METRICS * n_readings)
    g_error("the messages of '%s': %s", format->name, error != NULL ? error->message : "not all make all cells");
  TideBenchRequest request = {.config = config,
                              .load = load,
                              .protocol = TIDE_WIRE_BINARY,
                              .runs = runs,
                              .stages = 1u << TIDE_BENCH_DECODE | 1u << TIDE_BENCH_ALL,
                              .count_allocations = ALLOCATION_COUNTER_WORKS ? count_allocations : NULL};
  TideBenchFigure figures[TIDE_BENCH_N_STAGES];
  tide_bench_stages_run(&request, figures);
  tide_bench_report_print_json(stdout,
                               &(TideBenchReport){.name = format->name, .request = &request, .figures = figures});
  if (format->library != NULL)
    print_library(format, load, runs);
  fflush(stdout);
}

int
main(int argc, char **argv)
{
  guint64 n_readings = argc > 1 ? g_ascii_strtoull(argv[1], NULL, 10) : 50000;
  guint64 runs = argc > 2 ? g_ascii_strtoull(argv[2], NULL, 10) : 7;
  for (gsize i = 0; i < G_N_ELEMENTS(formats); i++)
    measure(&formats[i], (guint)CLAMP(n_readings, 1, 10000000), (guint32)CLAMP(runs, 1, 1000));
  return 0;
}
