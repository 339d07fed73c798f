/* Prints the results of `tidemark bench`, as a table for people or a JSON object for programs, with the facts needed to
 * interpret them: machine, build, load. */
#include "commands/bench/bench.h"
#include "commands/cli/listing.h"
#include "commands/cli/revision.h"
#include "commands/cli/version.h"
#include "util/units.h"

#include <math.h>

#define CPU_FACTS_PATH "/proc/cpuinfo"

/* (transfer full) */
static char *
cpu_model(void)
{
  g_autofree char *facts = NULL;
  g_autoptr(GMatchInfo) match = NULL;
  g_autoptr(GRegex) model = g_regex_new("^(?:model name|Model|cpu model)\\s*:\\s*(.+)$", G_REGEX_MULTILINE, 0, NULL);
  if (g_file_get_contents(CPU_FACTS_PATH, &facts, NULL, NULL) && g_regex_match(model, facts, 0, &match))
    return g_strstrip(g_match_info_fetch(match, 1));
  return g_strdup("unknown processor");
}

static double
bytes_per_message(const TideBenchLoad *load)
{
  const TideBenchMessage *messages = (const TideBenchMessage *)(const void *)load->messages->data;
  double sum = 0;
  for (guint i = 0; i < load->messages->len; i++)
    sum += messages[i].value_len;
  return sum / load->messages->len;
}

static double
per_reading(const TideBenchReport *report, guint64 n)
{
  return (double)n / (double)report->request->load->n_readings;
}

static gboolean
was_asked(const TideBenchReport *report, int stage)
{
  return (report->request->stages & (1u << stage)) != 0;
}

/* A stage measured as the difference of two passes is negative if the smaller pass was disturbed: its cost is then
 * below the resolution. */
static TideBenchFigure
figure_of(const TideBenchReport *report, int stage)
{
  TideBenchFigure figure = report->figures[stage];
  figure.ns = MAX(figure.ns, 0);
  figure.min_ns = MAX(figure.min_ns, 0);
  figure.max_ns = MAX(figure.max_ns, 0);
  return figure;
}

/* Share of the whole path; 0 if that was not measured. */
static double
share_of(const TideBenchReport *report, int stage)
{
  double all_ns = report->figures[TIDE_BENCH_ALL].ns;
  return all_ns > 0 ? figure_of(report, stage).ns / all_ns : 0;
}

/* On one core; 0: no meaningful value, because the stage costs less than can be measured. */
static guint64
readings_per_s(const TideBenchFigure *figure)
{
  return figure->ns >= 1 ? (guint64)llround(1e9 / figure->ns) : 0;
}

/* ---- table ---- */

static void
print_facts(FILE *stream, const TideBenchReport *report)
{
  const TideBenchRequest *request = report->request;
  const TideBenchLoad *load = request->load;
  g_autofree char *cpu = cpu_model();
  g_autofree char *messages = tide_count_of(load->messages->len, "message", NULL);
  g_autofree char *readings = tide_count_of(load->n_readings, "reading", NULL);
  g_autofree char *cores = tide_count_of(g_get_num_processors(), "core", NULL);
  g_autofree char *runs = tide_count_of(request->runs, "run", NULL);
  g_autofree char *given = tide_count_of(load->n_given, "message is", "messages are");
  fprintf(stream, "tidemark %s (%s), build type %s; %s, %s\n", TIDE_VERSION, TIDE_REVISION, TIDE_BUILD_TYPE, cpu,
          cores);
  fprintf(stream, "%s: %s of %.0f bytes, %s,\n  %.2f rows and %.2f cells per reading; %s\n", report->name, messages,
          bytes_per_message(load), readings, per_reading(report, load->n_rows), per_reading(report, load->n_cells),
          tide_wire_protocol_name(request->protocol));
  fprintf(stream, "CPU time of one thread, medians of %s\n", runs);
  if (load->n_given < load->messages->len)
    fprintf(stream, "only %s distinct: rows with the same key merge, which costs differently than new rows\n", given);
  fputc('\n', stream);
}

static gboolean
add_line(TideListing *listing, const TideBenchReport *report, int stage)
{
  TideBenchFigure figure = figure_of(report, stage);
  double cells = per_reading(report, report->request->load->n_cells);
  const char *whole = tide_bench_stage_wholes[stage];
  g_autofree char *name = whole != NULL ? g_strdup_printf("  %s, in %s", tide_bench_stage_names[stage], whole)
                                        : g_strdup(tide_bench_stage_names[stage]);
  g_autofree char *ns = g_strdup_printf("%.0f", figure.ns);
  g_autofree char *range = g_strdup_printf("%.0f-%.0f", figure.min_ns, figure.max_ns);
  g_autofree char *cell_ns = g_strdup_printf("%.1f", figure.ns / cells);
  guint64 rate = readings_per_s(&figure);
  g_autofree char *rate_text = rate > 0 ? tide_count_text(rate) : g_strdup("");
  double share = share_of(report, stage);
  g_autofree char *share_text = share > 0 ? g_strdup_printf("%.0f %%", share * 100) : g_strdup("");
  g_autofree char *allocations = g_strdup_printf("%.4f", figure.allocations);
  return tide_listing_add(listing, (const char *[]){name, ns, range, cell_ns, rate_text, share_text, allocations});
}

void
tide_bench_report_print(FILE *stream, const TideBenchReport *report)
{
  static const TideListingColumn columns[] = {
      {.name = "STAGE"},
      {.name = "NS/READING", .right = TRUE},
      {.name = "MIN-MAX", .right = TRUE},
      {.name = "NS/CELL", .right = TRUE},
      {.name = "READINGS/S", .right = TRUE},
      {.name = "SHARE", .right = TRUE},
      {.name = "ALLOCATIONS", .right = TRUE}, /* the last column: omitted without a counter */
  };
  gsize n_columns = G_N_ELEMENTS(columns) - (report->request->count_allocations == NULL ? 1 : 0);
  print_facts(stream, report);
  g_autoptr(TideListing) listing =
      tide_listing_new(stream, TIDE_OUTPUT_TABLE, tide_colour_wanted(stream), columns, n_columns);
  for (int stage = 0; stage < TIDE_BENCH_N_STAGES; stage++)
    if (was_asked(report, stage) && !add_line(listing, report, stage))
      return;
  (void)tide_listing_finish(listing);
}

/* ---- JSON ---- */

static void
append_stage(TideBuffer *text, const TideBenchReport *report, int stage)
{
  TideBenchFigure figure = figure_of(report, stage);
  const char *whole = tide_bench_stage_wholes[stage];
  tide_json_open(text, NULL, '{');
  tide_json_text(text, "stage", tide_bench_stage_names[stage]);
  if (whole != NULL)
    tide_json_text(text, "part_of", whole);
  tide_json_decimal(text, "ns_per_reading", figure.ns, 1);
  tide_json_decimal(text, "min_ns", figure.min_ns, 1);
  tide_json_decimal(text, "max_ns", figure.max_ns, 1);
  tide_json_decimal(text, "ns_per_cell", figure.ns / per_reading(report, report->request->load->n_cells), 2);
  guint64 rate = readings_per_s(&figure);
  if (rate > 0)
    tide_json_number(text, "readings_per_s", (gint64)rate);
  if (was_asked(report, TIDE_BENCH_ALL))
    tide_json_decimal(text, "share", share_of(report, stage), 3);
  if (report->request->count_allocations != NULL)
    tide_json_decimal(text, "allocations_per_reading", figure.allocations, 6);
  tide_json_close(text, "}");
}

void
tide_bench_report_print_json(FILE *stream, const TideBenchReport *report)
{
  const TideBenchRequest *request = report->request;
  const TideBenchLoad *load = request->load;
  g_autofree char *cpu = cpu_model();
  g_auto(TideBuffer) text = {0};
  tide_json_open(&text, NULL, '{');
  tide_json_shown_text(&text, "name", report->name);
  tide_json_text(&text, "version", TIDE_VERSION);
  tide_json_text(&text, "revision", TIDE_REVISION);
  tide_json_text(&text, "build_type", TIDE_BUILD_TYPE);
  tide_json_shown_text(&text, "cpu", cpu);
  tide_json_number(&text, "cores", g_get_num_processors());
  tide_json_text(&text, "protocol", tide_wire_protocol_name(request->protocol));
  tide_json_number(&text, "runs", request->runs);
  tide_json_number(&text, "messages", load->messages->len);
  tide_json_number(&text, "different_messages", load->n_given);
  tide_json_number(&text, "rejected_messages", load->n_rejected);
  tide_json_decimal(&text, "bytes_per_message", bytes_per_message(load), 1);
  tide_json_number(&text, "readings", (gint64)load->n_readings);
  tide_json_decimal(&text, "rows_per_reading", per_reading(report, load->n_rows), 3);
  tide_json_decimal(&text, "cells_per_reading", per_reading(report, load->n_cells), 3);
  tide_json_open(&text, "stages", '[');
  for (int stage = 0; stage < TIDE_BENCH_N_STAGES; stage++)
    if (was_asked(report, stage))
      append_stage(&text, report, stage);
  tide_json_close(&text, "]");
  tide_json_print_line(&text, stream);
}
