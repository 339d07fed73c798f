/* `tidemark tables create`: makes the declared tables that are missing. */
#pragma once

#include "commands/command_line.h"
#include "commands/sample_splits.h"
#include "config/config.h"

G_BEGIN_DECLS

typedef struct TideCreateOptions {
  gboolean dry_run;         /* print the commands of HBase's shell instead */
  TideSampleRequest sample; /* with max_messages 0: no sample, only declared and computed split points */
} TideCreateOptions;

/* @tables: (element-type TideTable). Prints to standard output what became of each. Returns: the exit code. */
int tide_tables_create(const TideCommandLine *line, const TideConfig *config, const GPtrArray *tables,
                       const TideCreateOptions *options);

G_END_DECLS
