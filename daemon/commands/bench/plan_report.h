/* A plan as tables for people, or as a JSON object for programs: what is needed and why, and what the sums stand on. */
#pragma once

#include "commands/bench/plan.h"

#include <stdio.h>

G_BEGIN_DECLS

void tide_plan_print(FILE *stream, const TidePlanLoad *load, const TidePlan *plan);
void tide_plan_print_json(FILE *stream, const TidePlanLoad *load, const TidePlan *plan); /* one line */

G_END_DECLS
