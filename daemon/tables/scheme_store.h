/* The fingerprint of each table's key: "tidemark scheme 1: " and what tide_row_key_describe() says. It is kept with the
 * table's data and compared before anything is written: with another salt, hash, width or order of parts the old rows
 * would be there and never found again.
 *
 * Where it is kept, the first that holds one wins:
 *   1. the small table TIDE_SCHEME_TABLE, which `tidemark tables create` makes: shared by all daemons and hosts
 *   2. a file of its own for each table in the state directory ($STATE_DIRECTORY, which systemd sets): of this host
 * only
 *   3. the table's attribute TIDE_SCHEME_ATTRIBUTE, put there when tidemark creates the table over an unframed gateway
 * An attribute stands for as long as its table does, so it is last: what is stored later, because a change was accepted
 * or the table was empty, goes to 1 when that table exists, else to 2, and wins from then on.
 *
 * Threads: a store is read-only after init; a client is one thread's. Blocks: for calls, each as long as
 * hbase.call_timeout. Errors: those of the calls, and IO of the file. Library: logs nothing. */
#pragma once

#include "config/config.h"
#include "thrift/client/hbase_client.h"

G_BEGIN_DECLS

#define TIDE_SCHEME_ATTRIBUTE "TIDEMARK_SCHEME"
#define TIDE_SCHEME_TABLE "tidemark_schemes" /* row: the table's name */
#define TIDE_SCHEME_FAMILY "s"
#define TIDE_SCHEME_QUALIFIER "scheme"

typedef struct TideSchemeStore {
  const TideFieldNames *names; /* borrowed */
  gint64 call_timeout_ms;
  char *directory; /* owned: the state directory; NULL: there is none */
} TideSchemeStore;

/* @config: borrowed for the store's life. Reads $STATE_DIRECTORY. */
void tide_scheme_store_init(TideSchemeStore *store, const TideConfig *config);
void tide_scheme_store_clear(TideSchemeStore *store);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(TideSchemeStore, tide_scheme_store_clear)

/* The declared scheme: printable ASCII. (transfer full) */
char *tide_scheme_text(const TideTable *table, const TideFieldNames *names);

typedef enum TideSchemePlace {
  TIDE_SCHEME_NOWHERE,
  TIDE_SCHEME_IN_TABLE,
  TIDE_SCHEME_IN_FILE,
  TIDE_SCHEME_IN_ATTRIBUTE,
} TideSchemePlace;

/* "in table 'tidemark_schemes'", to follow "stored". */
const char *tide_scheme_place_text(TideSchemePlace place);

typedef struct TideStoredScheme {
  TideSchemePlace place;
  char *text; /* owned: printable; NULL: none is stored */
} TideStoredScheme;

void tide_stored_scheme_clear(TideStoredScheme *stored);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(TideStoredScheme, tide_stored_scheme_clear)

/**
 * tide_scheme_store_read: the scheme stored for the table of @description.
 * @description: as tide_hbase_client_describe() gave it just now
 */
gboolean tide_scheme_store_read(const TideSchemeStore *store, TideHBaseClient *client,
                                const TideTableDescription *description, TideStoredScheme *ret_stored,
                                GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Where tide_scheme_store_write() would keep one: the small table or else the file; NOWHERE when there is neither. */
gboolean tide_scheme_store_find_place(const TideSchemeStore *store, TideHBaseClient *client, TideSchemePlace *ret_place,
                                      GError **error) G_GNUC_WARN_UNUSED_RESULT;

/**
 * tide_scheme_store_write: keep @scheme for @table, in the small table or else the file.
 * @ret_place: NOWHERE when there is neither: nothing was kept
 */
gboolean tide_scheme_store_write(const TideSchemeStore *store, TideHBaseClient *client, const char *table,
                                 const char *scheme, TideSchemePlace *ret_place,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Makes the small table, unless it is there. Errors: those of the calls. */
gboolean tide_scheme_store_create_table(const TideSchemeStore *store, TideHBaseClient *client, gint64 deadline_us,
                                        GError **error) G_GNUC_WARN_UNUSED_RESULT;

typedef enum TideSchemeVerdict {
  TIDE_SCHEME_SAME,
  TIDE_SCHEME_NOT_STORED,
  TIDE_SCHEME_CHANGED_WHILE_EMPTY, /* another is stored, and the table has no row: nothing would be hidden */
  TIDE_SCHEME_CHANGED,             /* another is stored, and the table has rows */
} TideSchemeVerdict;

typedef struct TideSchemeFinding {
  TideSchemeVerdict verdict;
  TideStoredScheme stored;
  char *declared; /* owned */
} TideSchemeFinding;

void tide_scheme_finding_clear(TideSchemeFinding *finding);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(TideSchemeFinding, tide_scheme_finding_clear)

/* Compares @table's declared scheme with the stored one; changes nothing. */
gboolean tide_scheme_store_compare(const TideSchemeStore *store, TideHBaseClient *client, const TideTable *table,
                                   const TideTableDescription *description, TideSchemeFinding *ret_finding,
                                   GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Of a finding CHANGED: both schemes, what would happen, and the remedies. (transfer full) */
char *tide_scheme_refusal(const TideTable *table, const TideSchemeFinding *finding);

G_END_DECLS
