/* Shows the document of /status to people: aligned tables of at most a hundred columns. */
#pragma once

#include "commands/status/status_reader.h"

#include <stdio.h>

G_BEGIN_DECLS

/* @colour: for the words that matter. */
void tide_status_view_print(FILE *stream, TideStatusReader *status, gboolean colour);

G_END_DECLS
