/* `tidemark tables`: what it does with the tables that were chosen. */
#pragma once

#include "commands/cli/command.h"
#include "commands/cli/output.h"

G_BEGIN_DECLS

/* ---- create_tables.c ---- */

/* Of messages in the topic, of which split points are made. */
typedef struct TideSampleRequest {
  const char *topic;    /* NULL: the one that the configuration names */
  guint64 max_messages; /* from the earliest on */
  gint64 timeout_ms;    /* for reading them */
  guint32 regions;      /* 0: as many as each table declares */
} TideSampleRequest;

typedef struct TideCreateOptions {
  gboolean dry_run;         /* print the commands of HBase's shell instead */
  TideSampleRequest sample; /* with max_messages 0: no sample, only declared and computed split points */
} TideCreateOptions;

/* @tables: (element-type TideTable). Prints to standard output what became of each; why one was not created is told,
 * and in the call's failure_code. */
gboolean tide_tables_create(TideCommandCall *call, const GPtrArray *tables, const TideCreateOptions *options,
                            GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* ---- show_tables.c ---- */

/* @tables: (element-type TideTable). Prints to standard output; the call's exit_code is FINDINGS when one is missing or
 * differs. */
gboolean tide_tables_show(TideCommandCall *call, const GPtrArray *tables, TideOutputFormat format,
                          GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
