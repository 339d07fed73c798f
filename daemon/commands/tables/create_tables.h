/* `tidemark tables create`: makes the declared tables that are missing. */
#pragma once

#include "commands/cli/command.h"
#include "commands/tables/sample_splits.h"

G_BEGIN_DECLS

typedef struct TideCreateOptions {
  gboolean dry_run;         /* print the commands of HBase's shell instead */
  TideSampleRequest sample; /* with max_messages 0: no sample, only declared and computed split points */
} TideCreateOptions;

/* @tables: (element-type TideTable). Prints to standard output what became of each; why one was not created is told,
 * and in the call's failure_code. */
gboolean tide_tables_create(TideCommandCall *call, const GPtrArray *tables, const TideCreateOptions *options,
                            GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
