/* Compares the key fingerprints of tables with those stored, before anything is written: fingerprint_store.h. Says in
 * the log what it stored and what the operator should know. */
#pragma once

#include "tables/fingerprint_store.h"

G_BEGIN_DECLS

/**
 * tide_fingerprint_check: for each of @tables (element-type TideTable; templates of dated tables are passed over),
 * which exist: none stored: stores the declared one. The same: nothing. Another, and the table has no row: stores the
 * declared one.
 * @accept: another, and the table has rows: stores the declared one instead of refusing
 * Errors: CONFIG: a change is refused, with a sentence for each table. Else those of the calls: ask again later.
 * Threads: any; for start and refresh, not for the path of a reading. Blocks: for calls.
 */
gboolean tide_fingerprint_check(const TideFingerprintStore *store, TideHBaseClient *client, const GPtrArray *tables,
                                gboolean accept, GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
