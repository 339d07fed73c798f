#include "commands/bench_report.h"

#include "commands/command_line.h"
#include "commands/listing.h"
#include "commands/time_argument.h"
#include "revision.h"
#include "version.h"

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

/* Of the whole path; 0 where that was not measured. */
static double
share_of(const TideBenchReport *report, int stage)
{
  double all_ns = report->figures[TIDE_BENCH_ALL].ns;
  return all_ns > 0 ? report->figures[stage].ns / all_ns : 0;
}

/* On one core; 0: nothing sensible, where a stage takes less than can be measured. */
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
  g_autofree char *messages = tide_count_text(load->messages->len);
  g_autofree char *readings = tide_count_text(load->n_readings);
  fprintf(stream, "tidemark %s (%s), build type %s; %s, %u cores\n", TIDE_VERSION, TIDE_REVISION, TIDE_BUILD_TYPE, cpu,
          g_get_num_processors());
  fprintf(stream, "%s: %s messages of %.0f bytes, %s readings, %.2f rows and %.2f cells a reading; %s\n", report->name,
          messages, bytes_per_message(load), readings, per_reading(report, load->n_rows),
          per_reading(report, load->n_cells), tide_wire_protocol_name(request->protocol));
  fprintf(stream, "CPU time of one thread, medians of %u runs\n", request->runs);
  if (load->n_given < load->messages->len)
    fprintf(stream, "only %u messages are different: rows of the same key meet, which costs otherwise than new ones\n",
            load->n_given);
  fputc('\n', stream);
}

static gboolean
add_line(TideListing *listing, const TideBenchReport *report, int stage)
{
  const TideBenchFigure *figure = &report->figures[stage];
  double cells = per_reading(report, report->request->load->n_cells);
  const char *whole = tide_bench_stage_wholes[stage];
  g_autofree char *name = whole != NULL ? g_strdup_printf("  %s, in %s", tide_bench_stage_names[stage], whole)
                                        : g_strdup(tide_bench_stage_names[stage]);
  g_autofree char *ns = g_strdup_printf("%.0f", figure->ns);
  g_autofree char *range = g_strdup_printf("%.0f-%.0f", figure->min_ns, figure->max_ns);
  g_autofree char *cell_ns = g_strdup_printf("%.1f", figure->ns / cells);
  guint64 rate = readings_per_s(figure);
  g_autofree char *rate_text = rate > 0 ? tide_count_text(rate) : g_strdup("");
  double share = share_of(report, stage);
  g_autofree char *share_text = share > 0 ? g_strdup_printf("%.0f %%", share * 100) : g_strdup("");
  g_autofree char *allocations = g_strdup_printf("%.4f", figure->allocations);
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
      {.name = "ALLOCATIONS", .right = TRUE}, /* the last: left out where nobody counts */
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
append_facts(GString *text, const TideBenchReport *report)
{
  const TideBenchRequest *request = report->request;
  const TideBenchLoad *load = request->load;
  g_autofree char *cpu = cpu_model();
  tide_json_append_member(text, "name", tide_bytes_of_string(report->name), FALSE);
  g_string_append_printf(text, ",\"version\":\"%s\",\"revision\":\"%s\",\"build_type\":\"%s\",", TIDE_VERSION,
                         TIDE_REVISION, TIDE_BUILD_TYPE);
  tide_json_append_member(text, "cpu", tide_bytes_of_string(cpu), FALSE);
  g_string_append_printf(text, ",\"cores\":%u,\"protocol\":\"%s\",\"runs\":%u", g_get_num_processors(),
                         tide_wire_protocol_name(request->protocol), request->runs);
  g_string_append_printf(text, ",\"messages\":%u,\"different_messages\":%u,\"rejected_messages\":%u",
                         load->messages->len, load->n_given, load->n_rejected);
  g_string_append_printf(text,
                         ",\"bytes_per_message\":%.1f,\"readings\":%" G_GUINT64_FORMAT ",\"rows_per_reading\":%.3f"
                         ",\"cells_per_reading\":%.3f",
                         bytes_per_message(load), load->n_readings, per_reading(report, load->n_rows),
                         per_reading(report, load->n_cells));
}

static void
append_stage(GString *text, const TideBenchReport *report, int stage)
{
  const TideBenchFigure *figure = &report->figures[stage];
  const char *whole = tide_bench_stage_wholes[stage];
  g_string_append_printf(text, "{\"stage\":\"%s\"", tide_bench_stage_names[stage]);
  if (whole != NULL)
    g_string_append_printf(text, ",\"part_of\":\"%s\"", whole);
  g_string_append_printf(text, ",\"ns_per_reading\":%.1f,\"min_ns\":%.1f,\"max_ns\":%.1f,\"ns_per_cell\":%.2f",
                         figure->ns, figure->min_ns, figure->max_ns,
                         figure->ns / per_reading(report, report->request->load->n_cells));
  guint64 rate = readings_per_s(figure);
  if (rate > 0)
    g_string_append_printf(text, ",\"readings_per_s\":%" G_GUINT64_FORMAT, rate);
  if (was_asked(report, TIDE_BENCH_ALL))
    g_string_append_printf(text, ",\"share\":%.3f", share_of(report, stage));
  if (report->request->count_allocations != NULL)
    g_string_append_printf(text, ",\"allocations_per_reading\":%.6f", figure->allocations);
  g_string_append_c(text, '}');
}

void
tide_bench_report_print_json(FILE *stream, const TideBenchReport *report)
{
  g_autoptr(GString) text = g_string_new("{");
  append_facts(text, report);
  g_string_append(text, ",\"stages\":[");
  gboolean is_first = TRUE;
  for (int stage = 0; stage < TIDE_BENCH_N_STAGES; stage++) {
    if (!was_asked(report, stage))
      continue;
    if (!is_first)
      g_string_append_c(text, ',');
    is_first = FALSE;
    append_stage(text, report, stage);
  }
  g_string_append(text, "]}\n");
  fwrite(text->str, 1, text->len, stream);
}
