/* An HBase Thrift gateway (thrift2) written for tests: it keeps what it is given, and fails as it is told.
 *
 * It runs in threads of its own inside of the test, on a loopback port: one thread accepts, one serves each connection.
 * Behind it is a TideFakeHBase (fake_hbase.h), which answers questions about the tables; several gateways can share
 * one. What goes wrong is scripted by TideScriptedFault (scripted_fault.h).
 *
 * Threads: every function may be called from any, but start, refuse, kill and free from one at a time. */
#pragma once

#include "fault/gateway/fake_hbase.h"
#include "fault/gateway/fake_service.h"
#include "fault/gateway/scripted_fault.h"

G_BEGIN_DECLS

typedef struct TideScriptedGateway TideScriptedGateway;

typedef struct TideGatewayOptions {
  const char *host; /* NULL: "127.0.0.1"; else an address of this machine, such as "::1" */
  guint16 port;     /* 0: a free one */
  gboolean framed;
  gboolean compact;
  TidePersonality personality;
  TideFakeHBase *hbase;    /* NULL: one of its own; else a reference is taken */
  gsize frame_limit_bytes; /* 0: 2 MiB, as HBase's; a longer frame closes the connection without a word */
  gint64 idle_close_ms;    /* 0: never; HBase's is 60,000. Counts waiting for any byte of a request */
  guint max_connections;   /* 0: no limit; one more is closed at once, as by a full thread pool */
} TideGatewayOptions;

/* Listening when it returns. @options: NULL: all defaults. Aborts when the port cannot be had. */
TideScriptedGateway *scripted_gateway_new(const TideGatewayOptions *options);
void scripted_gateway_free(TideScriptedGateway *gateway); /* drops what is delayed; NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideScriptedGateway, scripted_gateway_free)

guint16 scripted_gateway_port(const TideScriptedGateway *gateway);
const char *scripted_gateway_endpoint(const TideScriptedGateway *gateway);     /* "127.0.0.1:PORT", "[::1]:PORT" */
TideFakeHBase *scripted_gateway_hbase(const TideScriptedGateway *gateway);     /* (transfer none) */
TideFakeService *scripted_gateway_service(const TideScriptedGateway *gateway); /* (transfer none) */
void scripted_gateway_set_personality(TideScriptedGateway *gateway, TidePersonality personality);

/* Life and death. */

/* New connections are refused (ECONNREFUSED); those that are open go on. */
void scripted_gateway_refuse(TideScriptedGateway *gateway);
/* As kill -9: every connection is reset, new ones are refused, scanners are forgotten, and calls that wait for their
 * delay_apply_ms are never carried out (but see lands_after_kill). Returns when every connection is gone. */
void scripted_gateway_kill(TideScriptedGateway *gateway);
/* Listens again, on the same port, with the same tables. A no-op when it does. */
void scripted_gateway_start(TideScriptedGateway *gateway);
/* Resets every open connection; new ones are taken. */
void scripted_gateway_reset_connections(TideScriptedGateway *gateway);

/* Faults. */

guint scripted_gateway_add_fault(TideScriptedGateway *gateway, const TideScriptedFault *fault); /* copies; its id */
void scripted_gateway_clear_fault(TideScriptedGateway *gateway, guint id); /* calls already hit go on as they were to */
void scripted_gateway_clear_faults(TideScriptedGateway *gateway);
guint64 scripted_gateway_fault_hits(TideScriptedGateway *gateway, guint id); /* 0 for a fault that was cleared */

/* What was seen. */

typedef struct TideGatewayStats {
  guint64 connections; /* accepted */
  guint open_connections;
  guint64 calls; /* read to their end */
  guint64 calls_by_method[TIDE_CALL_COUNT];
  guint64 rows_received; /* in putMultiple calls, written or not */
  guint64 rows_written;
  guint64 broken_requests; /* connections dropped because their bytes were no request: wrong mode, too long, cut */
  guint calls_in_flight;
} TideGatewayStats;

void scripted_gateway_stats(TideScriptedGateway *gateway, TideGatewayStats *ret_stats);

/* Waiting. Deadlines are monotonic, as tide_now_us(); FALSE when one passed. */

typedef gboolean (*TideGatewayCondition)(const TideGatewayStats *stats, gpointer data);
/* @condition is called under the gateway's lock: it must not call back. */
gboolean scripted_gateway_wait(TideScriptedGateway *gateway, TideGatewayCondition condition, gpointer data,
                               gint64 deadline_us);
/* Until so many calls of the method have been received, answered or not. */
gboolean scripted_gateway_wait_calls(TideScriptedGateway *gateway, TideGatewayCall call, guint64 n, gint64 deadline_us);
gboolean scripted_gateway_wait_fault_hits(TideScriptedGateway *gateway, guint id, guint64 n, gint64 deadline_us);
gboolean scripted_gateway_wait_open_connections(TideScriptedGateway *gateway, guint n,
                                                gint64 deadline_us); /* exactly */
gboolean scripted_gateway_wait_rows(TideScriptedGateway *gateway, const char *table, guint64 n_rows,
                                    gint64 deadline_us);

/* Shortcuts to its HBase. */

/* @families: parted by commas; @splits: (nullable) NULL-terminated, plain text. Aborts when it cannot. */
void scripted_gateway_create_table(TideScriptedGateway *gateway, const char *table, const char *families,
                                   const char *const *splits);
GBytes *scripted_gateway_value(TideScriptedGateway *gateway, const char *table, const char *row, const char *family,
                               const char *qualifier, gint64 *ret_timestamp_ms);
guint64 scripted_gateway_row_count(TideScriptedGateway *gateway, const char *table);
char *scripted_gateway_dump(TideScriptedGateway *gateway, const char *table); /* what a reader sees; (transfer full) */

G_END_DECLS
