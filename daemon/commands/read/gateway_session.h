/* A command's connection to HBase: the first configured gateway that answers, with its detected mode. Commands that
 * read switch to another gateway when the connection is lost. Threads: one at a time. */
#pragma once

#include "config/config.h"
#include "thrift/client/gateway_probe.h"

G_BEGIN_DECLS

typedef enum TideGatewayPreference {
  TIDE_GATEWAY_ANY,
  TIDE_GATEWAY_PREFER_UNFRAMED, /* a framed gateway cannot create tables with split points; used only if there is no
                                 * other */
} TideGatewayPreference;

typedef struct TideGatewaySession TideGatewaySession;

/* Maximum time of one attempt at a gateway before it counts as silent; up to four modes are tried. */
#define TIDE_GATEWAY_PROBE_TIMEOUT_MS 1000

/**
 * tide_gateway_session_open: probe the gateways in order and connect to the first usable one.
 * @config: borrowed for the session's lifetime
 * Errors: UNAVAILABLE with one sentence for each gateway; WRONG_SERVICE if all of them are other services.
 */
TideGatewaySession *tide_gateway_session_open(const TideConfig *config, TideGatewayPreference preference,
                                              GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* Creates another session of a command, which connects with its first call. Gateways are tried from index @first on
 * (circularly), so that several sessions spread over them. @cluster: (nullable): tide_gateway_session_cluster() of
 * another session. */
TideGatewaySession *tide_gateway_session_new(const TideConfig *config, guint first, const char *cluster);
void tide_gateway_session_free(TideGatewaySession *session); /* NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideGatewaySession, tide_gateway_session_free)

/* Borrowed; replaced when the session reconnects. */
TideHBaseClient *tide_gateway_session_client(TideGatewaySession *session);
/* The id of the cluster that all its gateways belong to: this host's (cluster_memory.h), else the first gateway's.
 * NULL: none has reported one. Borrowed. */
const char *tide_gateway_session_cluster(const TideGatewaySession *session);
TideWireMode tide_gateway_session_mode(const TideGatewaySession *session);

/* Now plus hbase.call_timeout, monotonic. */
gint64 tide_gateway_session_deadline_us(const TideGatewaySession *session);

/* Creating a table waits for all its regions: the gateway itself times out after 10 min at the earliest
 * (hbase.client.sync.wait.timeout.msec). */
#define TIDE_GATEWAY_ADMIN_TIMEOUT_MS (10 * 60 * 1000)
gint64 tide_gateway_session_admin_deadline_us(const TideGatewaySession *session);

/**
 * tide_gateway_session_scan: tide_hbase_client_scan(), over a new connection if the last one was lost.
 * Errors: as there; a caller that can repeat the request checks tide_gateway_error_is_lost().
 */
gboolean tide_gateway_session_scan(TideGatewaySession *session, TideBytes table, const TideScanRequest *request,
                                   TideRowFunc func, gpointer data, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* tide_hbase_client_put_multiple() with one run of encoded puts, likewise. Errors: as there. */
gboolean tide_gateway_session_put(TideGatewaySession *session, TideBytes table, TideBytes puts, guint32 n_puts,
                                  GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* One table of a session, as passed to the readers of rows. */
typedef struct TideGatewayTable {
  TideGatewaySession *session; /* borrowed */
  const char *name;            /* borrowed */
} TideGatewayTable;

/* Replaces @error, from a refused call, by NOT_FOUND if the table does not exist: the gateway's reason is then only its
 * name. @table: HBase's name */
void tide_gateway_session_explain(TideGatewaySession *session, const char *table, GError **error);

/* tide_gateway_session_scan() as a TideScanFunc; @table: a TideGatewayTable. Errors: also NOT_FOUND. */
gboolean tide_gateway_table_scan(const TideScanRequest *request, TideRowFunc func, gpointer func_data, gpointer table,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* tide_hbase_client_get_multiple() likewise. @func may be called for the same row again after a lost connection: the
 * caller retries as with tide_gateway_session_scan(). */
gboolean tide_gateway_table_get(const TideGetRequest *request, TideRowFunc func, gpointer func_data, gpointer table,
                                GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* TRUE when the connection was lost: the same read may succeed over a new connection. */
gboolean tide_gateway_error_is_lost(const GError *error);
/* TRUE also when the same call may succeed later. */
gboolean tide_gateway_error_may_pass(const GError *error);

/* Probes one gateway with the configuration's settings. @ret_facts and errors: as for tide_gateway_probe(). */
gboolean tide_gateway_session_probe(const TideConfig *config, const TideEndpoint *endpoint, TideWireMode *ret_mode,
                                    TideGatewayFacts *ret_facts, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/**
 * tide_table_instances: @tables with each template, SENSOR_{yyyyMMdd}, replaced by its instances in HBase, sorted by
 * name. A template without instances is omitted. HBase's tables are listed only if there is a template.
 * Returns: (transfer container) (element-type TideTable), borrowed from @config. Errors: those of the call.
 */
GPtrArray *tide_table_instances(TideGatewaySession *session, const TideConfig *config, const GPtrArray *tables,
                                GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
