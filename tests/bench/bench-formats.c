/* Measures the cost of the same readings of ten metrics in each format: the daemon's decoder, its whole path and, if
 * there is one, the format's library alone.
 *
 * bench-formats [READINGS [ROUNDS]]
 *
 * In a round each format is measured once, one after the other; ratios are those of a round. Prints a JSON object for
 * each format: medians of the rounds, of ratios the least and the greatest too. Run it on an idle machine; ratios
 * count. */
#include "bench/library_walks.h"
#include "commands/bench/bench.h"
#include "decode/formats.h"
#include "unit/allocation_counter.h"

#include <glib/gstdio.h>
#include <math.h>
#include <time.h>

#define FIRST_TIME_MS G_GINT64_CONSTANT(1426535612045)
#define MACHINES 1000u

#define CONFIG                                                                                                         \
  "kafka: { brokers: b, group: g, topics: [t] }\n"                                                                     \
  "hbase: { gateways: [g] }\n"                                                                                         \
  "tables:\n"                                                                                                          \
  "  METRIC: { key: [{ field: host }, \"#\", { time: epoch_ms }], columns: { family: M, from: [\"CPU*\"] } }\n"        \
  "readings: "

enum { DECODE, WHOLE, LIBRARY, N_FIGURES };

typedef struct Subject {
  const FormatMessages *format;
  char *schema_path; /* owned; NULL: it needs none */
  TideConfig *config;
  TideBenchLoad *load;
  const LibraryWalk *library; /* NULL: none */
  gpointer library_state;
  double *ns[N_FIGURES];         /* owned: of a reading, by round */
  double allocations[N_FIGURES]; /* of a reading, the most of any round */
} Subject;

/* ---- what is measured ---- */

static void
fill(TideBenchLoad *load, const FormatMessages *format, guint n_readings)
{
  g_autoptr(GByteArray) message = g_byte_array_new();
  for (guint i = 0; i < n_readings; i++) {
    g_autofree char *host = g_strdup_printf("server%05u.bbb.com", i % MACHINES);
    FormatReading reading = {.host = host, .time_ms = FIRST_TIME_MS + (gint64)(i / MACHINES) * 1000};
    for (guint k = 0; k < FORMAT_METRICS; k++)
      reading.values[k] = (double)((i * 7919u + k * 104729u) % 10000u) / 100;
    g_byte_array_set_size(message, 0);
    format->append(&reading, message);
    tide_bench_load_add(load, TIDE_BYTES_EMPTY, tide_bytes(message->data, message->len));
  }
}

/* (transfer full): a file in @folder. */
static char *
write_schema(const FormatMessages *format, const char *folder)
{
  g_autoptr(GByteArray) schema = g_byte_array_new();
  g_autoptr(GError) error = NULL;
  char *path = g_build_filename(folder, format->name, NULL);
  format->append_schema(schema);
  if (!g_file_set_contents(path, (const char *)schema->data, (gssize)schema->len, &error))
    g_error("%s", error->message);
  return path;
}

static TideConfig *
load_config(const FormatMessages *format, const char *schema_path)
{
  g_autoptr(GPtrArray) problems = NULL;
  g_autoptr(GString) yaml = g_string_new(CONFIG);
  g_string_append_printf(yaml, "%s\n", format->readings);
  if (schema_path != NULL)
    g_string_replace(yaml, "SCHEMA", schema_path, 1);
  TideConfig *config = tide_config_load_text("bench.yaml", tide_bytes(yaml->str, yaml->len), &problems);
  if (config == NULL)
    g_error("the configuration of '%s' is not good", format->name);
  return config;
}

static void
subject_init(Subject *subject, int format, const char *folder, guint n_readings, guint rounds)
{
  g_autoptr(GError) error = NULL;
  *subject = (Subject){.format = &format_messages[format], .library = library_walk_of(format)};
  if (subject->format->append_schema != NULL)
    subject->schema_path = write_schema(subject->format, folder);
  subject->config = load_config(subject->format, subject->schema_path);
  subject->load = tide_bench_load_new(subject->config);
  fill(subject->load, subject->format, n_readings);
  if (!tide_bench_load_settle(subject->load, subject->config, 0, &error) || subject->load->n_rejected > 0 ||
      subject->load->n_cells != (guint64)FORMAT_METRICS * n_readings)
    g_error("the messages of '%s': %s", subject->format->name,
            error != NULL ? error->message : "not all make all cells");
  if (subject->library != NULL)
    subject->library_state = subject->library->begin(subject->schema_path);
  for (int i = 0; i < N_FIGURES; i++)
    subject->ns[i] = g_new0(double, rounds);
}

static void
subject_clear(Subject *subject)
{
  if (subject->library != NULL)
    subject->library->end(subject->library_state);
  if (subject->schema_path != NULL)
    g_unlink(subject->schema_path);
  g_free(subject->schema_path);
  tide_bench_load_free(subject->load);
  tide_config_free(subject->config);
  for (int i = 0; i < N_FIGURES; i++)
    g_free(subject->ns[i]);
}

/* ---- rounds ---- */

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

static void
take_figure(Subject *subject, int figure, guint round, double ns, double allocations)
{
  subject->ns[figure][round] = ns;
  subject->allocations[figure] = MAX(subject->allocations[figure], allocations);
}

static void
measure_daemon(Subject *subject, guint round)
{
  TideBenchRequest request = {.config = subject->config,
                              .load = subject->load,
                              .protocol = TIDE_WIRE_BINARY,
                              .runs = 1,
                              .stages = 1u << TIDE_BENCH_DECODE | 1u << TIDE_BENCH_ALL,
                              .count_allocations = ALLOCATION_COUNTER_WORKS ? count_allocations : NULL};
  TideBenchFigure figures[TIDE_BENCH_N_STAGES];
  tide_bench_stages_run(&request, figures);
  take_figure(subject, DECODE, round, figures[TIDE_BENCH_DECODE].ns, figures[TIDE_BENCH_DECODE].allocations);
  take_figure(subject, WHOLE, round, figures[TIDE_BENCH_ALL].ns, figures[TIDE_BENCH_ALL].allocations);
}

/* All messages once. Returns: the sum of their values, which is that of every format. */
static double
walk(const Subject *subject)
{
  double sum = 0;
  for (guint32 i = 0; i < subject->load->messages->len; i++) {
    TideBytes message = tide_bench_load_message(subject->load, i).value;
    sum += subject->library->sum_of(subject->library_state, message.data, message.len);
  }
  return sum;
}

static void
measure_library(Subject *subject, guint round, double *sum)
{
  double n = subject->load->messages->len, warm = walk(subject); /* memory is as large as it gets, then */
  guint64 allocations = allocation_count;
  gint64 start_ns = cpu_ns();
  double measured = walk(subject);
  take_figure(subject, LIBRARY, round, (double)(cpu_ns() - start_ns) / n, (double)(allocation_count - allocations) / n);
  *sum = isnan(*sum) ? warm : *sum;
  if (islessgreater(measured, *sum) || isnan(measured))
    g_error("the library of '%s' does not see all values", subject->format->name);
}

/* ---- figures ---- */

static int
by_size(gconstpointer a, gconstpointer b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

static void
print_median(const char *name, const double *figures, guint rounds)
{
  g_autofree double *sorted = g_memdup2(figures, rounds * sizeof *figures);
  qsort(sorted, rounds, sizeof *sorted, by_size);
  printf(",\"%s\":%.1f", name, sorted[rounds / 2]);
}

static void
print_ratio(const char *name, const double *figures, const double *to, guint rounds)
{
  g_autofree double *ratios = g_new(double, rounds);
  for (guint i = 0; i < rounds; i++)
    ratios[i] = figures[i] / to[i];
  qsort(ratios, rounds, sizeof *ratios, by_size);
  printf(",\"%s\":{\"median\":%.2f,\"min\":%.2f,\"max\":%.2f}", name, ratios[rounds / 2], ratios[0],
         ratios[rounds - 1]);
}

static void
print_subject(const Subject *subject, const Subject *json, guint rounds)
{
  printf("{\"format\":\"%s\",\"bytes\":%.0f", subject->format->name,
         (double)subject->load->bytes.len / subject->load->messages->len);
  print_median("decode_ns", subject->ns[DECODE], rounds);
  print_ratio("decode_times_json", subject->ns[DECODE], json->ns[DECODE], rounds);
  print_median("path_ns", subject->ns[WHOLE], rounds);
  print_ratio("path_times_json", subject->ns[WHOLE], json->ns[WHOLE], rounds);
  printf(",\"allocations\":%.4f", MAX(subject->allocations[DECODE], subject->allocations[WHOLE]));
  if (subject->library != NULL) {
    print_median("library_ns", subject->ns[LIBRARY], rounds);
    print_ratio("decode_times_library", subject->ns[DECODE], subject->ns[LIBRARY], rounds);
    printf(",\"library_allocations\":%.4f", subject->allocations[LIBRARY]);
  }
  printf("}\n");
}

int
main(int argc, char **argv)
{
  guint n_readings = (guint)CLAMP(argc > 1 ? g_ascii_strtoull(argv[1], NULL, 10) : 20000, 1, 10000000);
  guint rounds = (guint)CLAMP(argc > 2 ? g_ascii_strtoull(argv[2], NULL, 10) : 7, 1, 1000);
  g_autofree char *folder = g_dir_make_tmp("bench-formats-XXXXXX", NULL);
  Subject subjects[N_FORMATS];
  guint n_subjects = 0;
  double sum = NAN;
  for (int format = 0; format < N_FORMATS; format++)
    if ((format != FORMAT_AVRO || tide_format_is_built_in(TIDE_FORMAT_AVRO)) &&
        (format != FORMAT_PROTOBUF || tide_format_is_built_in(TIDE_FORMAT_PROTOBUF)))
      subject_init(&subjects[n_subjects++], format, folder, n_readings, rounds);
  for (guint round = 0; round < rounds; round++)
    for (guint i = 0; i < n_subjects; i++) {
      measure_daemon(&subjects[i], round);
      if (subjects[i].library != NULL)
        measure_library(&subjects[i], round, &sum);
    }
  for (guint i = 0; i < n_subjects; i++)
    print_subject(&subjects[i], &subjects[0], rounds);
  for (guint i = 0; i < n_subjects; i++)
    subject_clear(&subjects[i]);
  g_rmdir(folder);
  return 0;
}
