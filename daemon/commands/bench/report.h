/* What `tidemark bench` measured, as a table for people or a JSON object for programs, with the facts without which
 * figures say nothing: machine, build, load. */
#pragma once

#include "commands/bench/stages.h"

#include <stdio.h>

G_BEGIN_DECLS

typedef struct TideBenchReport {
  const char *name;                /* of what was measured */
  const TideBenchRequest *request; /* borrowed, all */
  const TideBenchFigure *figures;  /* by stage */
} TideBenchReport;

void tide_bench_report_print(FILE *stream, const TideBenchReport *report);
void tide_bench_report_print_json(FILE *stream, const TideBenchReport *report); /* one line */

G_END_DECLS
