/* Which options differ between two configurations: what a reload takes over, or leaves to a restart. */
#pragma once

#include "config/config.h"

G_BEGIN_DECLS

typedef struct TideConfigChange {
  char *path;       /* "batch.max_rows"; "tables" for any table; "kafka.librdkafka.NAME" */
  gboolean reloads; /* the table of options says so, and no change beside it speaks against it */
} TideConfigChange;

/* In the order of the table of options. Values are compared as they are in force: one that is written out as its
 * default is no change. (transfer full) (element-type TideConfigChange) */
GPtrArray *tide_config_changes(const TideConfig *before, const TideConfig *after);

/* Sets those of the options in @changes that reload to what they are in @after, which is of no use then but to be
 * freed. Threads: one at a time; others may read them meanwhile. */
void tide_config_take_over(TideConfig *config, const TideConfig *after, const GPtrArray *changes);

G_END_DECLS
