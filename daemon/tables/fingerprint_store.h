/* The fingerprint of each table's key: "tidemark scheme 1: " followed by tide_row_key_describe(). It is stored with the
 * table's data and compared before anything is written: with another salt, hash, width or order of parts the old rows
 * would never be found again.
 *
 * Locations; the first one with a fingerprint wins:
 *   1. table TIDE_FINGERPRINT_TABLE, which `tidemark tables create` creates: shared by all daemons and hosts
 *   2. a file per table in the state directory ($STATE_DIRECTORY, which systemd sets): for this host only
 *   3. the table's attribute TIDE_FINGERPRINT_ATTRIBUTE, set when tidemark creates the table over an unframed gateway
 * An attribute lasts as long as its table, so it comes last. A later fingerprint, after an accepted change or for an
 * empty table, is stored in 1 if that table exists, otherwise in 2, and wins from then on.
 *
 * Threads: a store is read-only after init; each client belongs to a thread. Blocks: for calls, each up to
 * hbase.call_timeout. Errors: those of the calls, and IO for the file. Library: logs nothing, except for the check. */
#pragma once

#include "config/config.h"
#include "thrift/client/hbase_client.h"

G_BEGIN_DECLS

#define TIDE_FINGERPRINT_ATTRIBUTE "TIDEMARK_SCHEME"
#define TIDE_FINGERPRINT_TABLE "tidemark_schemes" /* row: the table's name */
#define TIDE_FINGERPRINT_FAMILY "s"
#define TIDE_FINGERPRINT_QUALIFIER "scheme"

typedef struct TideFingerprintStore {
  const TideFieldNames *names; /* borrowed */
  gint64 call_timeout_ms;
  char *directory; /* owned: the state directory; NULL: there is none */
} TideFingerprintStore;

/* @config: borrowed for the store's life. Reads $STATE_DIRECTORY. */
void tide_fingerprint_store_init(TideFingerprintStore *store, const TideConfig *config);
void tide_fingerprint_store_clear(TideFingerprintStore *store);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(TideFingerprintStore, tide_fingerprint_store_clear)

/* The declared key fingerprint: printable ASCII. (transfer full) */
char *tide_fingerprint_text(const TideTable *table, const TideFieldNames *names);

typedef enum TideFingerprintLocation {
  TIDE_FINGERPRINT_NOWHERE,
  TIDE_FINGERPRINT_IN_TABLE,
  TIDE_FINGERPRINT_IN_FILE,
  TIDE_FINGERPRINT_IN_ATTRIBUTE,
  TIDE_FINGERPRINT_N_LOCATIONS,
} TideFingerprintLocation;

typedef struct TideFingerprintPlace {
  const char *text;         /* "in table 'tidemark_schemes'", follows "stored" */
  gboolean is_of_all_hosts; /* otherwise only this host, or none, notices a changed key */
} TideFingerprintPlace;

extern const TideFingerprintPlace tide_fingerprint_locations[TIDE_FINGERPRINT_N_LOCATIONS];

typedef struct TideStoredFingerprint {
  TideFingerprintLocation location;
  char *text; /* owned: printable; NULL: none is stored */
} TideStoredFingerprint;

void tide_stored_fingerprint_clear(TideStoredFingerprint *stored);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(TideStoredFingerprint, tide_stored_fingerprint_clear)

/**
 * tide_fingerprint_store_read: the key fingerprint stored for the table of @description.
 * @description: a recent result of tide_hbase_client_describe()
 */
gboolean tide_fingerprint_store_read(const TideFingerprintStore *store, TideHBaseClient *client,
                                     const TideTableDescription *description, TideStoredFingerprint *ret_stored,
                                     GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Where tide_fingerprint_store_write() would store one: the table of fingerprints, otherwise the file; NOWHERE if there
 * is neither. */
gboolean tide_fingerprint_store_find_location(const TideFingerprintStore *store, TideHBaseClient *client,
                                              TideFingerprintLocation *ret_location,
                                              GError **error) G_GNUC_WARN_UNUSED_RESULT;

/**
 * tide_fingerprint_store_write: stores @fingerprint for @table in the table of fingerprints, otherwise in the file.
 * @ret_location: NOWHERE if there is neither; then nothing is stored
 */
gboolean tide_fingerprint_store_write(const TideFingerprintStore *store, TideHBaseClient *client, const char *table,
                                      const char *fingerprint, TideFingerprintLocation *ret_location,
                                      GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Creates the table of fingerprints unless it exists. Errors: those of the calls. */
gboolean tide_fingerprint_store_create_table(const TideFingerprintStore *store, TideHBaseClient *client,
                                             gint64 deadline_us, GError **error) G_GNUC_WARN_UNUSED_RESULT;

typedef enum TideFingerprintVerdict {
  TIDE_FINGERPRINT_SAME,
  TIDE_FINGERPRINT_NOT_STORED,
  TIDE_FINGERPRINT_CHANGED_WHILE_EMPTY, /* another is stored, but the table has no rows to lose */
  TIDE_FINGERPRINT_CHANGED,             /* another is stored, and the table has rows */
  TIDE_FINGERPRINT_N_VERDICTS,
} TideFingerprintVerdict;

/* Whether @table has no row. */
gboolean tide_fingerprint_store_is_empty(const TideFingerprintStore *store, TideHBaseClient *client, const char *table,
                                         gboolean *ret_empty, GError **error) G_GNUC_WARN_UNUSED_RESULT;

typedef struct TideFingerprintFinding {
  TideFingerprintVerdict verdict;
  TideStoredFingerprint stored;
  char *declared; /* owned */
} TideFingerprintFinding;

void tide_fingerprint_finding_clear(TideFingerprintFinding *finding);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(TideFingerprintFinding, tide_fingerprint_finding_clear)

/* Compares @table's declared key fingerprint with the stored one; changes nothing. */
gboolean tide_fingerprint_store_compare(const TideFingerprintStore *store, TideHBaseClient *client,
                                        const TideTable *table, const TideTableDescription *description,
                                        TideFingerprintFinding *ret_finding, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* For a finding CHANGED: both key fingerprints, the consequence, and the remedies. (transfer full) */
char *tide_fingerprint_mismatch(const TideTable *table, const TideFingerprintFinding *finding);

/**
 * tide_fingerprint_check: compares the key fingerprints of tables with the stored ones, before anything is written, and
 * logs changes and advice. For each existing table of @tables (element-type TideTable; templates of dated tables are
 * skipped): if none is stored, or if another is stored and the table has no rows, stores the declared one.
 * @accept: stores the declared one even if another is stored and the table has rows
 * Errors: CONFIG: a change is rejected, with a sentence for each table. Otherwise those of the calls: retry later.
 * Threads: any; for start and refresh, not for the path of a reading. Blocks: for calls.
 */
gboolean tide_fingerprint_check(const TideFingerprintStore *store, TideHBaseClient *client, const GPtrArray *tables,
                                gboolean accept, GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
