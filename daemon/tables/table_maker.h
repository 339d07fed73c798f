/* Prepares dated tables for writing: creates missing ones as declared, checks their families, and compares the key
 * fingerprint of existing ones.
 *
 * Threads: the region refresher's only. Several daemons may create a table at a time: the later ones find it. */
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
 * tide_table_maker_prepare: makes sure that @table, an instance of a dated table, exists and may be written to.
 * Logs what it created. Blocks: for calls, each up to hbase.call_timeout; a longer creation continues in HBase, and the
 * next attempt finds the table. Errors: those of the calls; NOT_FOUND: a family is missing; CONFIG: the key fingerprint
 * has changed. Retry later: an operator may fix each of them.
 */
gboolean tide_table_maker_prepare(const TideTableMaker *maker, TideHBaseClient *client, const TideTable *table,
                                  GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
