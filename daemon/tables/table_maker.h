/* Makes dated tables fit to be written to: creates them as they are declared when they are not there, looks whether
 * they have their families, and compares the key fingerprint of those that were there.
 *
 * Threads: the region refresher's only. Several daemons may make one table at a time: who comes second finds it there.
 */
#pragma once

#include "tables/fingerprint_store.h"
#include "util/metrics.h"

G_BEGIN_DECLS

typedef struct TideTableMaker {
  /* set before start, then read-only */
  const TideConfig *config;                 /* borrowed */
  const TideFingerprintStore *fingerprints; /* borrowed */
  gboolean accept_scheme_change;
  TideCounter *created;
} TideTableMaker;

/**
 * tide_table_maker_prepare: @table, an instance of a dated table, exists and may be written to.
 * Logs what it created. Blocks: for calls, each as long as hbase.call_timeout; a creation that takes longer goes on in
 * HBase, and the next attempt finds the table. Errors: those of the calls; NOT_FOUND: a family is missing; CONFIG: the
 * key fingerprint was changed. Try again later: an operator may repair each of them.
 */
gboolean tide_table_maker_prepare(const TideTableMaker *maker, TideHBaseClient *client, const TideTable *table,
                                  GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
