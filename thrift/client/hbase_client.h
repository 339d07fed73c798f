/* One connection to one HBase Thrift gateway (thrift2, THBaseService).
 *
 * Calls are synchronous and each has a deadline over the whole of it: name look-up, connect, send and reply. Any error
 * of transport or protocol, and any deadline, closes the connection for good (tide_hbase_client_is_open() is FALSE
 * after): a late reply can then never be taken for the next call's. Only TIDE_ERROR_GATEWAY and TIDE_ERROR_APPLICATION,
 * and TIDE_ERROR_WRONG_SERVICE for a call that the gateway does not know, leave it open: there the gateway has
 * answered. A connection that the gateway cut while it was idle is replaced before the next call is sent.
 *
 * Threads: one thread at a time. tide_hbase_client_cancel() alone may be called from any. */
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

/* Call once in main, before any thread, and before tests use the generated code. Registration of its types is not
 * thread-safe (eight threads that start together see "cannot register existing type"), and their finalizers do not
 * chain up, so that each object leaks some 70 bytes; they do after this. */
void tide_hbase_client_init_types(void);

TideHBaseClient *tide_hbase_client_new(const TideEndpoint *endpoint, TideWireMode mode); /* copies @endpoint */
void tide_hbase_client_free(TideHBaseClient *client);                                    /* closes; NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideHBaseClient, tide_hbase_client_free)

/* Every connection from the next on must be to a gateway of @cluster (copied): each is asked before its first call, for
 * a name may lead to another gateway than before. A call then fails with CONNECT where the gateway is of another
 * cluster, or does not say of which. */
void tide_hbase_client_require_cluster(TideHBaseClient *client, const char *cluster);

/* Opens a connection; a no-op when open. Each call does so by itself. Errors: CONNECT (also when the deadline passed:
 * nothing was sent), CANCELLED. */
gboolean tide_hbase_client_connect(TideHBaseClient *client, gint64 deadline_us,
                                   GError **error) G_GNUC_WARN_UNUSED_RESULT;
gboolean tide_hbase_client_is_open(const TideHBaseClient *client);
/* FALSE when the next call would have to connect anew: not open, or the gateway has cut the connection meanwhile. Costs
 * a system call. */
gboolean tide_hbase_client_is_ready(const TideHBaseClient *client);
const char *tide_hbase_client_name(const TideHBaseClient *client);                     /* the endpoint's text */
TideCertificateEnds tide_hbase_client_certificate_ends(const TideHBaseClient *client); /* while it is open */
/* What protects it, and who is at its ends, while it is open; NULL: nothing, or nobody knows. (transfer full) */
char *tide_hbase_client_describe_link(const TideHBaseClient *client);
TideWireMode tide_hbase_client_mode(const TideHBaseClient *client);

/* Makes the running call, and every later one, fail with TIDE_ERROR_CANCELLED. Threads: any. */
void tide_hbase_client_cancel(TideHBaseClient *client);

/**
 * tide_hbase_client_put_multiple: send @n_puts puts, encoded by put_encoder.h, as one call, and wait for its reply.
 * @parts: runs of encoded puts, sent one after the other without being joined first (one system call for up to IOV_MAX)
 * Returns: TRUE when the gateway acknowledged every row. Else the error tells: CONNECT means nothing was sent;
 *     GATEWAY and APPLICATION that the call has ended, with some rows possibly written; all others that the outcome is
 *     unknown and the gateway may still be working on it (tide_error_outcome_unknown()).
 */
gboolean tide_hbase_client_put_multiple(TideHBaseClient *client, TideBytes table, const TideBytes *parts, gsize n_parts,
                                        guint32 n_puts, gint64 deadline_us, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* One call mutateRow: @mutations as mutation_encoder.h writes them. Returns and errors as for put_multiple. */
gboolean tide_hbase_client_mutate_row(TideHBaseClient *client, TideBytes table, TideBytes row, TideBytes mutations,
                                      guint32 n_mutations, gint64 deadline_us,
                                      GError **error) G_GNUC_WARN_UNUSED_RESULT;

/**
 * tide_hbase_client_scan: stream rows to @func.
 * @timeout_ms: for each call to the gateway; a scan with a limit ends after four times as long.
 * A scan with a limit that begins where the last one of its kind ended goes on with its scanner, from the third page
 * on.
 * @ret_rows: rows handed to @func.
 * Errors: also PROTOCOL when a row is not behind the one before it, or outside of the range.
 */
gboolean tide_hbase_client_scan(TideHBaseClient *client, TideBytes table, const TideScanRequest *request,
                                gint64 timeout_ms, TideRowFunc func, gpointer data, guint64 *ret_rows,
                                GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* A single row; @func is called once when the row exists. @ret_found may be NULL. Errors: also PROTOCOL for another
 * row.
 */
gboolean tide_hbase_client_get(TideHBaseClient *client, TideBytes table, TideBytes row, gint64 deadline_us,
                               TideRowFunc func, gpointer data, gboolean *ret_found,
                               GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The rows that exist, in the order of @request, in one call: their cells, newest first where several versions are
 * asked for. Errors: also PROTOCOL for a row that was not asked for, or not in this place. */
gboolean tide_hbase_client_get_multiple(TideHBaseClient *client, TideBytes table, const TideGetRequest *request,
                                        gint64 deadline_us, TideRowFunc func, gpointer data,
                                        GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The table's regions in order of start keys, without replicas and what is offline; an empty array when the table does
 * not exist (the gateway gives no error). Ownership: (transfer full) (element-type TideRegion). */
GPtrArray *tide_hbase_client_regions(TideHBaseClient *client, TideBytes table, gint64 deadline_us,
                                     GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Whether each of @regions, as just read, begins where the one before it ends, from the empty key to the empty key. The
 * list can have a gap or an overlap for a moment, while HBase moves regions: who goes by it passes rows over, or sends
 * them two ways. Errors: UNAVAILABLE. */
gboolean tide_hbase_client_check_whole(const TideHBaseClient *client, TideBytes table, const GPtrArray *regions,
                                       GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* ---- tables ----
 *
 * Gateways of HBase 1.4 to 2.1 have none of these calls. What they say of regions stands in for some of them, and the
 * HBase shell for the others. */

/* A gateway without this call is asked for the table's regions. */
gboolean tide_hbase_client_table_exists(TideHBaseClient *client, const char *table, gint64 deadline_us,
                                        gboolean *ret_exists, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* A table counts as enabled where the gateway lacks this call. Errors: also GATEWAY, for a table that does not exist.
 */
gboolean tide_hbase_client_table_is_enabled(TideHBaseClient *client, const char *table, gint64 deadline_us,
                                            gboolean *ret_is_enabled, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The names of all tables but HBase's own, as "TABLE" or "ns:TABLE", in no order; bytes that no name has are shown as
 * \xHH. Errors: WRONG_SERVICE from a gateway that lacks the call. Ownership: (transfer full) (element-type
 * utf8). */
GPtrArray *tide_hbase_client_list_tables(TideHBaseClient *client, gint64 deadline_us,
                                         GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Errors: NOT_FOUND when there is no such table. One that HBase does not let the gateway's user see, for which it wants
 * the right CREATE or ADMIN, or of which the gateway cannot tell, has `hidden` set, and nothing but its name.
 * Ownership: (transfer full). */
TideTableDescription *tide_hbase_client_describe(TideHBaseClient *client, const char *table, gint64 deadline_us,
                                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Whether the gateway's user may read and write @family, by a checkAndPut whose condition does not hold: HBase asks for
 * both rights before it looks at the condition, and nothing is written. Errors: those of access_denied.h; WRONG_SERVICE
 * from a gateway that does not know the call. */
gboolean tide_hbase_client_try_rights(TideHBaseClient *client, const char *table, const char *family,
                                      gint64 deadline_us, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* @splits: (element-type TideBytes) (nullable). Errors: on a framed gateway with splits or attributes, fails before
 * sending with TIDE_ERROR_UNAVAILABLE and the HBase shell's command in the text: that gateway takes its whole frame
 * buffer for each key, and for each attribute's name and value (measured with HBase 2.6.1); likewise on a gateway that
 * lacks the call. */
gboolean tide_hbase_client_create_table(TideHBaseClient *client, const TideTableDescription *description,
                                        const GArray *splits, gint64 deadline_us,
                                        GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* No error where it exists, nor where the gateway lacks the call: it cannot create the table then, either, and that
 * error says how both are created. */
gboolean tide_hbase_client_create_namespace(TideHBaseClient *client, const char *name, gint64 deadline_us,
                                            GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* A cheap call that proves that the gateway answers: for idle connections, which the gateway cuts after 60 s. */
gboolean tide_hbase_client_ping(TideHBaseClient *client, gint64 deadline_us, GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
