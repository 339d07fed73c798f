/* Which options differ between two configurations: what a reload takes over, or leaves to a restart. */
#pragma once

#include "config/config.h"

G_BEGIN_DECLS

typedef struct TideConfigChange {
  char *path;       /* "batch.max_rows"; "tables" for any table */
  gboolean reloads; /* the table of options says so */
} TideConfigChange;

/* In the order of the table of options. Values are compared as they are in force: one that is written out as its
 * default is no change. (transfer full) (element-type TideConfigChange) */
GPtrArray *tide_config_changes(const TideConfig *before, const TideConfig *after);

/* Sets the options of @config that reload to what they are in @after. Threads: one at a time; others may read them
 * meanwhile. */
void tide_config_take_over(TideConfig *config, const TideConfig *after);

G_END_DECLS
