/* A load of what `tidemark scan` printed: the configuration is changed so that files hold rows of one table, and make
 * rows of that table and of its indexes alone. */
#pragma once

#include "config/config.h"

G_BEGIN_DECLS

typedef struct TideLoadScanned {
  const char *table;   /* whose rows they are; of a dated table one of its names, or the pattern; NULL: they are none */
  gboolean as_csv;     /* else as JSON */
  gboolean keeps_keys; /* as they were printed, instead of made anew of the fields in them */
} TideLoadScanned;

/* The table of @config that @scanned names. Errors: USAGE: there is none, or its rows cannot be loaded. */
TideTable *tide_load_scanned_table(TideConfig *config, const TideLoadScanned *scanned, GError **error);

/**
 * tide_load_scanned_adapt: what @scanned changes.
 * @source: of @config, from which @table takes
 * Errors: USAGE: what is printed does not say all that the rows, or those of an index, were made of.
 */
gboolean tide_load_scanned_adapt(TideConfig *config, TideConfigSource *source, TideTable *table,
                                 const TideLoadScanned *scanned, GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
