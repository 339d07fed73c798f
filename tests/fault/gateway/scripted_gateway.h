/* An HBase Thrift gateway (thrift2) for tests: it stores what it receives, and fails as scripted.
 *
 * It runs in threads of the test, on a loopback port: one thread accepts connections, one serves each of them. Its
 * tables are in a TideFakeHBase (fake_hbase.h), which several gateways can share. TideScriptedFault (scripted_fault.h)
 * scripts the faults.
 *
 * Threads: any; start, refuse, kill and free by only one at a time. */
#pragma once

#include "fault/gateway/fake_hbase.h"
#include "fault/gateway/fake_service.h"
#include "fault/gateway/scripted_fault.h"

G_BEGIN_DECLS

typedef struct TideScriptedGateway TideScriptedGateway;

typedef struct TideGatewayOptions {
  const char *host; /* an address of this host, such as "::1"; NULL: "127.0.0.1" */
  guint16 port;     /* 0: a free one */
  gboolean framed;
  gboolean compact;
  TidePersonality personality;
  TideFakeHBase *hbase;    /* NULL: its own; otherwise it holds a reference */
  gsize frame_limit_bytes; /* a longer frame closes the connection silently; 0: 2 MiB, like HBase */
  gint64 idle_close_ms;    /* closes a connection after waiting this long for a byte of a request; 0: never. HBase's is
                            * 60,000 */
  guint max_connections;   /* further connections are closed at once, as with a full thread pool; 0: no limit */
} TideGatewayOptions;

/* Returns once it listens. @options: NULL: all defaults. Aborts if the port is not available. */
TideScriptedGateway *scripted_gateway_new(const TideGatewayOptions *options);
void scripted_gateway_free(TideScriptedGateway *gateway); /* drops delayed calls; NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideScriptedGateway, scripted_gateway_free)

guint16 scripted_gateway_port(const TideScriptedGateway *gateway);
const char *scripted_gateway_endpoint(const TideScriptedGateway *gateway);     /* "127.0.0.1:PORT", "[::1]:PORT" */
TideFakeHBase *scripted_gateway_hbase(const TideScriptedGateway *gateway);     /* (transfer none) */
TideFakeService *scripted_gateway_service(const TideScriptedGateway *gateway); /* (transfer none) */
void scripted_gateway_set_personality(TideScriptedGateway *gateway, TidePersonality personality);

/* Starting and stopping. */

/* Refuses new connections (ECONNREFUSED); open ones continue. */
void scripted_gateway_refuse(TideScriptedGateway *gateway);
/* Like kill -9: resets every connection, refuses new ones, and drops scanners and calls that wait for delay_apply_ms
 * (but see lands_after_kill). Returns once every connection is closed. */
void scripted_gateway_kill(TideScriptedGateway *gateway);
/* Listens again, on the same port, with the same tables. No effect if it listens already. */
void scripted_gateway_start(TideScriptedGateway *gateway);
/* Resets every open connection; new ones are accepted. */
void scripted_gateway_reset_connections(TideScriptedGateway *gateway);

/* Faults. */

guint scripted_gateway_add_fault(TideScriptedGateway *gateway,
                                 const TideScriptedFault *fault); /* copies @fault, and returns its id */
void scripted_gateway_clear_fault(TideScriptedGateway *gateway,
                                  guint id); /* calls already affected continue as scripted */
void scripted_gateway_clear_faults(TideScriptedGateway *gateway);
guint64 scripted_gateway_fault_hits(TideScriptedGateway *gateway, guint id); /* 0: the fault was cleared */

/* Statistics. */

typedef struct TideGatewayStats {
  guint64 connections; /* accepted */
  guint open_connections;
  guint64 calls; /* read completely */
  guint64 calls_by_method[TIDE_CALL_COUNT];
  guint64 rows_received; /* in putMultiple calls, written or not */
  guint64 rows_written;
  guint64 broken_requests; /* connections closed for bytes that are not a request */
  guint calls_in_flight;
} TideGatewayStats;

void scripted_gateway_stats(TideScriptedGateway *gateway, TideGatewayStats *ret_stats);

/* Waiting. Deadlines are those of tide_now_us(), which is monotonic. FALSE: the deadline passed. */

typedef gboolean (*TideGatewayCondition)(const TideGatewayStats *stats, gpointer data);
/* @condition is called under the gateway's lock, so it must not call the gateway. */
gboolean scripted_gateway_wait(TideScriptedGateway *gateway, TideGatewayCondition condition, gpointer data,
                               gint64 deadline_us);
/* Waits for this many calls of the method, answered or not. */
gboolean scripted_gateway_wait_calls(TideScriptedGateway *gateway, TideGatewayCall call, guint64 n, gint64 deadline_us);
gboolean scripted_gateway_wait_fault_hits(TideScriptedGateway *gateway, guint id, guint64 n, gint64 deadline_us);
gboolean scripted_gateway_wait_open_connections(TideScriptedGateway *gateway, guint n,
                                                gint64 deadline_us); /* exactly */
gboolean scripted_gateway_wait_rows(TideScriptedGateway *gateway, const char *table, guint64 n_rows,
                                    gint64 deadline_us);

/* Shortcuts to its fake HBase. */

/* @families: separated by commas. @splits: (nullable) NULL-terminated, plain text. Aborts on failure. */
void scripted_gateway_create_table(TideScriptedGateway *gateway, const char *table, const char *families,
                                   const char *const *splits);
GBytes *scripted_gateway_value(TideScriptedGateway *gateway, const char *table, const char *row, const char *family,
                               const char *qualifier, gint64 *ret_timestamp_ms);
guint64 scripted_gateway_row_count(TideScriptedGateway *gateway, const char *table);
char *scripted_gateway_dump(TideScriptedGateway *gateway, const char *table); /* what a reader sees; (transfer full) */

G_END_DECLS
