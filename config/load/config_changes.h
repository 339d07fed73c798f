/* Which options differ between two configurations: those that a reload applies, and those that need a restart. */
#pragma once

#include "config/config.h"

G_BEGIN_DECLS

typedef struct TideConfigChange {
  char *path;       /* "batch.max_rows"; "tables" for any table; "kafka.librdkafka.NAME" */
  gboolean reloads; /* the option reloads, and no other change prevents it */
} TideConfigChange;

/* Changes in the order of the option table. Effective values are compared: writing out a default is not a change.
 * (transfer full) (element-type TideConfigChange) */
GPtrArray *tide_config_changes(const TideConfig *before, const TideConfig *after);

/* Sets the reloadable options in @changes to their values in @after, which can only be freed afterwards. Threads: one
 * at a time; others may read the options meanwhile. */
void tide_config_take_over(TideConfig *config, const TideConfig *after, const GPtrArray *changes);

G_END_DECLS
