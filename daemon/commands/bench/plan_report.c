/* A plan as tables for people, or as a JSON object for programs: what is needed and why, and what the sums stand on. */
#include "commands/bench/plan.h"
#include "commands/cli/listing.h"
#include "commands/cli/time_argument.h"

#include <math.h>

/* (transfer full) */
static char *
count_text(double value)
{
  if (value < 10) /* a reading a minute is not none */
    return g_strdup_printf("%.2g", value);
  return tide_count_text((guint64)llround(value));
}

/* Below this nothing is left for what a plan cannot foresee: docs/sizing.md, "How far it carries". */
#define LEAST_MARGIN 0.3

static void G_GNUC_PRINTF(2, 3) add_note(GPtrArray *notes, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  g_ptr_array_add(notes, g_strdup_vprintf(format, arguments));
  va_end(arguments);
}

/* What the figures do not hold for, and what is not to be read out of them. (transfer full) (element-type utf8) */
static GPtrArray *
notes_of(const TidePlanLoad *load, const TidePlan *plan)
{
  GPtrArray *notes = g_ptr_array_new_with_free_func(g_free);
  double first_regions = tide_plan_first_regions_of_server(load, plan->figures[TIDE_PLAN_REGION_SERVERS].value);
  if (tide_plan_cell_bytes(load) > TIDE_PLAN_MEASURED_CELL_BYTES) {
    g_autofree char *cell = count_text(tide_plan_cell_bytes(load));
    add_note(notes,
             "cells of %s bytes cost gateways and HBase more cores than is said here, where cells of up to %.0f were "
             "measured",
             cell, TIDE_PLAN_MEASURED_CELL_BYTES);
  }
  if (tide_plan_is_small(load, plan))
    add_note(notes, "one host for each role, and one region of each table, carry this load: the counts below are the "
                    "least of any plan, so that one may fail and all can grow");
  if (load->share_unknown)
    add_note(notes, "families declare compression or encoding, and what that leaves is not known: disk and regions are "
                    "for 100 %%; say by --stored what it leaves, by a table of your own");
  double planned_mib = plan->figures[TIDE_PLAN_MEMORY].value;
  const char *unit;
  double size = tide_plan_size(load->memory_bytes, &unit);
  if (load->memory_bytes > 0 && load->memory_bytes < planned_mib * TIDE_PLAN_MIB)
    add_note(notes,
             "limits.memory of the configuration is %.4g %s, of this plan %.0f MiB: where rows take more than there is "
             "(BECAUSE), nothing is read until some are written",
             size, unit, planned_mib);
  if (load->margin < LEAST_MARGIN)
    add_note(notes, "with less than %.0f %% of margin nothing is left for a failed host, or for what was not measured",
             LEAST_MARGIN * 100);
  if (first_regions > tide_plan_costs[TIDE_COST_REGIONS].value)
    add_note(notes,
             "%u tables of as many regions as are said for the first make %.0f regions on each server while one is "
             "away, of %.0f at the most: give small tables fewer (their 'regions')",
             load->history.n_tables + load->latest.n_tables, first_regions, tide_plan_costs[TIDE_COST_REGIONS].value);
  return notes;
}

/* ---- table ---- */

static void
print_load(FILE *stream, const TidePlanLoad *load, const TidePlan *plan)
{
  g_autofree char *readings = count_text(load->readings_per_s);
  g_autofree char *machines = tide_count_of((guint64)load->machines, "machine", NULL);
  g_autofree char *bytes = count_text(load->message_bytes);
  g_autofree char *rows = count_text(plan->rows_per_s);
  g_autofree char *cells = count_text(plan->cells_per_s);
  fprintf(stream, "Load    %s readings/s of %s, in messages of %s bytes\n", readings, machines, bytes);
  fprintf(stream, "Tables  %u with history, %u of latest values: %s rows/s, %s cells/s\n", load->history.n_tables,
          load->latest.n_tables, rows, cells);
  fprintf(stream,
          "Margin  %.0f %% of each host's %u cores stay free, for peaks and after outages: %.3g are planned with\n",
          load->margin * 100, load->cores, tide_plan_usable_cores(load));
  if (load->path_us > 0)
    fprintf(stream, "Client  %.2f us a reading from its bytes to a batch: measured here, just now\n", load->path_us);
  g_autoptr(GPtrArray) notes = notes_of(load, plan);
  for (guint i = 0; i < notes->len; i++)
    fprintf(stream, "Note    %s\n", (const char *)notes->pdata[i]);
  fputc('\n', stream);
}

static gboolean
add_figure(TideListing *listing, const TidePlan *plan, int name)
{
  const TidePlanFigure *figure = &plan->figures[name];
  gboolean cut = name == TIDE_PLAN_TOPIC_DISK || name == TIDE_PLAN_DISK; /* of all else there are whole ones */
  const char *unit = figure->unit;
  double size = cut ? tide_plan_size(figure->value * TIDE_PLAN_TIB, &unit) : 0;
  g_autofree char *value = cut ? g_strdup_printf("%.2f", size) : count_text(figure->value);
  return tide_listing_add(listing, (const char *[]){figure->title, value, unit, figure->why});
}

static gboolean
add_cost(TideListing *listing, const TidePlanCost *cost)
{
  g_autofree char *value = g_strdup_printf("%.6g", cost->value);
  return tide_listing_add(listing, (const char *[]){cost->name, value, cost->unit, cost->source});
}

void
tide_plan_print(FILE *stream, const TidePlanLoad *load, const TidePlan *plan)
{
  static const TideListingColumn needed[] = {
      {.name = "NEEDED"}, {.name = "COUNT", .right = TRUE}, {.name = "OF"}, {.name = "BECAUSE"}};
  static const TideListingColumn assumed[] = {
      {.name = "ASSUMED"}, {.name = "COST", .right = TRUE}, {.name = "UNIT"}, {.name = "MEASURED OR TAKEN FROM"}};
  gboolean colour = tide_colour_wanted(stream);
  print_load(stream, load, plan);
  g_autoptr(TideListing) figures = tide_listing_new(stream, TIDE_OUTPUT_TABLE, colour, needed, G_N_ELEMENTS(needed));
  for (int i = 0; i < TIDE_PLAN_N; i++)
    if (!add_figure(figures, plan, i))
      return;
  if (!tide_listing_finish(figures))
    return;
  fputc('\n', stream);
  g_autoptr(TideListing) costs = tide_listing_new(stream, TIDE_OUTPUT_TABLE, colour, assumed, G_N_ELEMENTS(assumed));
  for (int i = 0; i < TIDE_N_COSTS; i++)
    if (tide_plan_uses(load, (TidePlanCostName)i) && !add_cost(costs, &tide_plan_costs[i]))
      return;
  (void)tide_listing_finish(costs);
}

/* ---- JSON ---- */

static void
append_rows(TideBuffer *text, const char *name, const TidePlanRows *rows)
{
  tide_json_open(text, name, '{');
  tide_json_number(text, "tables", rows->n_tables);
  tide_json_significant(text, "rows_per_reading", rows->rows);
  tide_json_significant(text, "cells_per_reading", rows->cells);
  tide_json_significant(text, "stored_bytes_per_reading", rows->stored_bytes);
  tide_json_close(text, "}");
}

static void
append_load(TideBuffer *text, const TidePlanLoad *load)
{
  tide_json_open(text, "load", '{');
  tide_json_significant(text, "readings_per_s", load->readings_per_s);
  tide_json_significant(text, "machines", load->machines);
  tide_json_significant(text, "bytes_per_message", load->message_bytes);
  append_rows(text, "history", &load->history);
  append_rows(text, "latest", &load->latest);
  tide_json_significant(text, "retention_s", load->retention_s);
  tide_json_significant(text, "kafka_retention_s", load->kafka_retention_s);
  tide_json_significant(text, "stored_share", load->stored_share);
  tide_json_number(text, "replication", load->replication);
  tide_json_number(text, "cores", load->cores);
  tide_json_significant(text, "margin", load->margin);
  if (load->path_us > 0)
    tide_json_significant(text, "measured_us_per_reading", load->path_us);
  tide_json_close(text, "}");
}

static void
append_needs(TideBuffer *text, const TidePlan *plan)
{
  tide_json_open(text, "busy", '{');
  tide_json_significant(text, "rows_per_s", plan->rows_per_s);
  tide_json_significant(text, "cells_per_s", plan->cells_per_s);
  tide_json_significant(text, "client_cores", plan->client_cores);
  tide_json_significant(text, "gateway_cores", plan->gateway_cores);
  tide_json_significant(text, "hbase_cores", plan->hbase_cores);
  tide_json_close(text, "}");
  tide_json_open(text, "needed", '{');
  for (int i = 0; i < TIDE_PLAN_N; i++)
    tide_json_significant(text, plan->figures[i].name, plan->figures[i].value);
  tide_json_close(text, "}");
  tide_json_open(text, "because", '{');
  for (int i = 0; i < TIDE_PLAN_N; i++)
    tide_json_text(text, plan->figures[i].name, plan->figures[i].why);
  tide_json_close(text, "}");
}

char *
tide_plan_machines_note(const TidePlanLoad *load)
{
  return g_strdup_printf("planned for %.0f machines: say by '--machines' how many there are", load->machines);
}

void
tide_plan_print_json(FILE *stream, const TidePlanLoad *load, const TidePlan *plan)
{
  g_auto(TideBuffer) text = {0};
  tide_json_open(&text, NULL, '{');
  append_load(&text, load);
  append_needs(&text, plan);
  tide_json_open(&text, "notes", '[');
  g_autoptr(GPtrArray) notes = notes_of(load, plan);
  for (guint i = 0; i < notes->len; i++)
    tide_json_text(&text, NULL, notes->pdata[i]);
  if (load->machines_assumed) {
    g_autofree char *note = tide_plan_machines_note(load);
    tide_json_text(&text, NULL, note);
  }
  tide_json_close(&text, "]");
  tide_json_open(&text, "assumed", '[');
  for (int i = 0; i < TIDE_N_COSTS; i++) {
    if (!tide_plan_uses(load, (TidePlanCostName)i))
      continue;
    tide_json_open(&text, NULL, '{');
    tide_json_text(&text, "name", tide_plan_costs[i].name);
    tide_json_significant(&text, "cost", tide_plan_costs[i].value);
    tide_json_text(&text, "unit", tide_plan_costs[i].unit);
    tide_json_text(&text, "source", tide_plan_costs[i].source);
    tide_json_close(&text, "}");
  }
  tide_json_close(&text, "]");
  tide_json_print_line(&text, stream);
}
