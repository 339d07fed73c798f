/* A load that writes nothing: what readings become, counted by table and by reason. */
#pragma once

#include "files/file_load.h"

G_BEGIN_DECLS

/* Reads all files of @load and prints the counts to standard output, with the first example of each reason.
 * @stop: set by a signal
 * Returns: the exit code: DATA where anything would be rejected, or a file could not be read to its end. */
int tide_load_dry_run(TideFileLoad *load, const TideConfig *config, const volatile int *stop);

G_END_DECLS
