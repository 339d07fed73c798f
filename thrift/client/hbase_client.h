/* One connection to one HBase Thrift gateway (thrift2, THBaseService).
 *
 * Calls are synchronous, and one deadline covers the whole call: name lookup, connect, send and reply. Any transport or
 * protocol error and any missed deadline close the connection permanently (tide_hbase_client_is_open() is then FALSE),
 * so a late reply is never mistaken for the reply to the next call. The connection stays open only if the gateway has
 * answered: TIDE_ERROR_GATEWAY, TIDE_ERROR_APPLICATION, and TIDE_ERROR_WRONG_SERVICE for an unknown call. A connection
 * that the gateway closed while idle is replaced before the next call is sent.
 *
 * Threads: one at a time. Only tide_hbase_client_cancel() may be called from any thread. */
#pragma once

#include "thrift/client/endpoint.h"
#include "thrift/client/stream.h"
#include "thrift/wire/rows.h"
#include "thrift/wire/table_description.h"
#include "thrift/wire/wire.h"

G_BEGIN_DECLS

typedef struct TideHBaseClient TideHBaseClient;

typedef struct TideWireMode {
  TideFraming framing;
  TideWireProtocol protocol;
} TideWireMode;

/* Call once in main, before any thread, and before tests use the generated code. Registering the generated types is not
 * thread-safe (eight threads that start together see "cannot register existing type"). Their finalizers do not chain up
 * and leak some 70 bytes per object; this call repairs them. */
void tide_hbase_client_init_types(void);

TideHBaseClient *tide_hbase_client_new(const TideEndpoint *endpoint, TideWireMode mode); /* copies @endpoint */
void tide_hbase_client_free(TideHBaseClient *client);                                    /* closes; NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideHBaseClient, tide_hbase_client_free)

/* Requires every later connection to be to a gateway of @cluster (copied). Each connection is checked before its first
 * call, because a name may now resolve to another gateway. If the gateway belongs to another cluster or does not report
 * one, the call fails with CONNECT. */
void tide_hbase_client_require_cluster(TideHBaseClient *client, const char *cluster);

/* Opens a connection; a no-op when open. Each call connects if necessary. Errors: CONNECT (also when the deadline
 * passed: nothing was sent), CANCELLED. */
gboolean tide_hbase_client_connect(TideHBaseClient *client, gint64 deadline_us,
                                   GError **error) G_GNUC_WARN_UNUSED_RESULT;
gboolean tide_hbase_client_is_open(const TideHBaseClient *client);
/* FALSE when the next call would have to reconnect: not open, or closed by the gateway since. Costs a system call. */
gboolean tide_hbase_client_is_ready(const TideHBaseClient *client);
const char *tide_hbase_client_name(const TideHBaseClient *client);                     /* the endpoint's text */
TideCertificateEnds tide_hbase_client_certificate_ends(const TideHBaseClient *client); /* while it is open */
/* Describes the protection of the open connection and the identities at both ends; NULL: none, or unknown. (transfer
 * full) */
char *tide_hbase_client_describe_link(const TideHBaseClient *client);
TideWireMode tide_hbase_client_mode(const TideHBaseClient *client);

/* Makes the current call and every later one fail with TIDE_ERROR_CANCELLED. Threads: any. */
void tide_hbase_client_cancel(TideHBaseClient *client);

/**
 * tide_hbase_client_put_multiple: send @n_puts puts, encoded by put_encoder.h, as one call, and wait for its reply.
 * @parts: runs of encoded puts, sent in order without being joined first (one system call for up to IOV_MAX)
 * Returns: TRUE when the gateway acknowledged every row. Otherwise the error decides: with CONNECT nothing was sent;
 *     with GATEWAY and APPLICATION the call has ended, and some rows may be written; with all others the outcome is
 *     unknown, and the gateway may still be working on the call (tide_error_outcome_unknown()).
 */
gboolean tide_hbase_client_put_multiple(TideHBaseClient *client, TideBytes table, const TideBytes *parts, gsize n_parts,
                                        guint32 n_puts, gint64 deadline_us, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* One mutateRow call. @mutations: as written by mutation_encoder.h. Returns and errors as for put_multiple. */
gboolean tide_hbase_client_mutate_row(TideHBaseClient *client, TideBytes table, TideBytes row, TideBytes mutations,
                                      guint32 n_mutations, gint64 deadline_us,
                                      GError **error) G_GNUC_WARN_UNUSED_RESULT;

/**
 * tide_hbase_client_scan: stream rows to @func.
 * @timeout_ms: for each call to the gateway; a scan with a limit ends after four times as long.
 * A scan with a limit that starts where the last one of its kind ended reuses its scanner, from the third page on.
 * @ret_rows: rows passed to @func.
 * Errors: also PROTOCOL when a row is out of order or outside the range.
 */
gboolean tide_hbase_client_scan(TideHBaseClient *client, TideBytes table, const TideScanRequest *request,
                                gint64 timeout_ms, TideRowFunc func, gpointer data, guint64 *ret_rows,
                                GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Reads one row; calls @func once if the row exists. @ret_found may be NULL. Errors: also PROTOCOL for another row. */
gboolean tide_hbase_client_get(TideHBaseClient *client, TideBytes table, TideBytes row, gint64 deadline_us,
                               TideRowFunc func, gpointer data, gboolean *ret_found,
                               GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Reads the rows that exist, in the order of @request, in one call; if several versions are requested, cells are newest
 * first. Errors: also PROTOCOL for an unrequested row or a wrong order. */
gboolean tide_hbase_client_get_multiple(TideHBaseClient *client, TideBytes table, const TideGetRequest *request,
                                        gint64 deadline_us, TideRowFunc func, gpointer data,
                                        GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Returns the table's regions ordered by start key, without replicas and offline regions. The array is empty if the
 * table does not exist (the gateway reports no error). Ownership: (transfer full) (element-type TideRegion). */
GPtrArray *tide_hbase_client_regions(TideHBaseClient *client, TideBytes table, gint64 deadline_us,
                                     GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Checks that @regions, as just read, are contiguous from the empty key to the empty key. While HBase moves regions,
 * the list can briefly have a gap or an overlap; using it then would skip rows, or send them two ways. Errors:
 * UNAVAILABLE. */
gboolean tide_hbase_client_check_whole(const TideHBaseClient *client, TideBytes table, const GPtrArray *regions,
                                       GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* ---- tables ----
 *
 * Gateways of HBase 1.4 to 2.1 have none of these calls. The list of regions replaces some of them, the HBase shell the
 * others. */

/* A gateway without this call is asked for the table's regions instead. */
gboolean tide_hbase_client_table_exists(TideHBaseClient *client, const char *table, gint64 deadline_us,
                                        gboolean *ret_exists, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* If the gateway lacks this call, the table counts as enabled. Errors: also GATEWAY, for a table that does not
 * exist. */
gboolean tide_hbase_client_table_is_enabled(TideHBaseClient *client, const char *table, gint64 deadline_us,
                                            gboolean *ret_is_enabled, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Returns the names of all tables except HBase's own, as "TABLE" or "ns:TABLE", unordered; bytes that are not allowed
 * in names are shown as \xHH. Errors: WRONG_SERVICE from a gateway that lacks the call. Ownership: (transfer full)
 * (element-type utf8). */
GPtrArray *tide_hbase_client_list_tables(TideHBaseClient *client, gint64 deadline_us,
                                         GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Errors: NOT_FOUND when there is no such table. If HBase hides the table from the gateway's user (the right CREATE or
 * ADMIN is missing), or if the gateway cannot describe tables, only the name and `hidden` are set. Ownership: (transfer
 * full). */
TideTableDescription *tide_hbase_client_describe(TideHBaseClient *client, const char *table, gint64 deadline_us,
                                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Checks that the gateway's user may read and write @family, by a checkAndPut whose condition does not hold. HBase
 * checks both rights before the condition, and nothing is written. Errors: those of access_denied.h; WRONG_SERVICE from
 * a gateway that does not know the call. */
gboolean tide_hbase_client_try_rights(TideHBaseClient *client, const char *table, const char *family,
                                      gint64 deadline_us, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* @splits: (element-type TideBytes) (nullable). Errors: UNAVAILABLE, with the HBase shell's command in the text, before
 * anything is sent, in two cases: a framed gateway with splits or attributes, and a gateway without this call. A framed
 * gateway allocates its whole frame buffer for each key and for each attribute's name and value (measured with HBase
 * 2.6.1). */
gboolean tide_hbase_client_create_table(TideHBaseClient *client, const TideTableDescription *description,
                                        const GArray *splits, gint64 deadline_us,
                                        GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* No error if the namespace exists, or if the gateway lacks the call: it then cannot create the table either, and that
 * error explains how to create both. */
gboolean tide_hbase_client_create_namespace(TideHBaseClient *client, const char *name, gint64 deadline_us,
                                            GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* A cheap call that proves that the gateway answers: for idle connections, which the gateway closes after 60 s. */
gboolean tide_hbase_client_ping(TideHBaseClient *client, gint64 deadline_us, GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
