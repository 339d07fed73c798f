/* The fingerprint of each table's key: "tidemark scheme 1: " and what tide_row_key_describe() says. It is kept with the
 * table's data and compared before anything is written: with another salt, hash, width or order of parts the old rows
 * would be there and never found again.
 *
 * Where it is kept, the first that holds one wins:
 *   1. the small table TIDE_FINGERPRINT_TABLE, which `tidemark tables create` makes: shared by all daemons and hosts
 *   2. a file of its own for each table in the state directory ($STATE_DIRECTORY, which systemd sets): of this host
 * only
 *   3. the table's attribute TIDE_FINGERPRINT_ATTRIBUTE, put there when tidemark creates the table over an unframed
 * gateway An attribute stands for as long as its table does, so it is last: what is stored later, because a change was
 * accepted or the table was empty, goes to 1 when that table exists, else to 2, and wins from then on.
 *
 * Threads: a store is read-only after init; a client is one thread's. Blocks: for calls, each as long as
 * hbase.call_timeout. Errors: those of the calls, and IO of the file. Library: but for the check, logs nothing. */
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
  const char *text;         /* "in table 'tidemark_schemes'", to follow "stored" */
  gboolean is_of_all_hosts; /* else a changed key is noticed on this host only, or nowhere */
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
 * @description: as tide_hbase_client_describe() gave it just now
 */
gboolean tide_fingerprint_store_read(const TideFingerprintStore *store, TideHBaseClient *client,
                                     const TideTableDescription *description, TideStoredFingerprint *ret_stored,
                                     GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Where tide_fingerprint_store_write() would keep one: the small table or else the file; NOWHERE when there is neither.
 */
gboolean tide_fingerprint_store_find_location(const TideFingerprintStore *store, TideHBaseClient *client,
                                              TideFingerprintLocation *ret_location,
                                              GError **error) G_GNUC_WARN_UNUSED_RESULT;

/**
 * tide_fingerprint_store_write: keep @fingerprint for @table, in the small table or else the file.
 * @ret_location: NOWHERE when there is neither: nothing was kept
 */
gboolean tide_fingerprint_store_write(const TideFingerprintStore *store, TideHBaseClient *client, const char *table,
                                      const char *fingerprint, TideFingerprintLocation *ret_location,
                                      GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Makes the small table, unless it is there. Errors: those of the calls. */
gboolean tide_fingerprint_store_create_table(const TideFingerprintStore *store, TideHBaseClient *client,
                                             gint64 deadline_us, GError **error) G_GNUC_WARN_UNUSED_RESULT;

typedef enum TideFingerprintVerdict {
  TIDE_FINGERPRINT_SAME,
  TIDE_FINGERPRINT_NOT_STORED,
  TIDE_FINGERPRINT_CHANGED_WHILE_EMPTY, /* another is stored, and the table has no row: nothing would be hidden */
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

/* Of a finding CHANGED: both key fingerprints, what would happen, and the remedies. (transfer full) */
char *tide_fingerprint_mismatch(const TideTable *table, const TideFingerprintFinding *finding);

/**
 * tide_fingerprint_check: compare, before anything is written, the key fingerprints of tables with those stored, and
 * say in the log what was stored and what the operator should know. For each of @tables (element-type TideTable;
 * templates of dated tables are passed over), which exist: none stored: stores the declared one. The same: nothing.
 * Another, and the table has no row: stores the declared one.
 * @accept: another, and the table has rows: stores the declared one instead of refusing
 * Errors: CONFIG: a change is refused, with a sentence for each table. Else those of the calls: ask again later.
 * Threads: any; for start and refresh, not for the path of a reading. Blocks: for calls.
 */
gboolean tide_fingerprint_check(const TideFingerprintStore *store, TideHBaseClient *client, const GPtrArray *tables,
                                gboolean accept, GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
