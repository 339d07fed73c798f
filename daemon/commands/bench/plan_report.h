/* A plan as tables for people, or as a JSON object for programs: what is needed and why, and what the sums stand on. */
#pragma once

#include "commands/bench/plan.h"

#include <stdio.h>

G_BEGIN_DECLS

void tide_plan_print(FILE *stream, const TidePlanLoad *load, const TidePlan *plan);
void tide_plan_print_json(FILE *stream, const TidePlanLoad *load, const TidePlan *plan); /* one line */

/* Where nobody said how many machines there are. Of tables it stands beside them, on standard error, as a program reads
 * it among the notes. (transfer full) */
char *tide_plan_machines_note(const TidePlanLoad *load);

G_END_DECLS
