/* The gateways: which are up, which mode each speaks, and which one a writer should connect to.
 *
 * Each gateway has a thread that probes it while it is not known to be up, with doubling pauses. A gateway that is
 * down, hangs or speaks another protocol therefore delays nothing, and a returning one is used within about a second.
 * The first one found determines the wire protocol (unless it is configured); one that speaks the other is refused by
 * name. The thread also probes for the breaker: after any failure a gateway gets connections only once it has answered,
 * at first from one writer (gateway_load.h has the rules, with figures).
 *
 * The first one found also determines the cluster, unless this host remembers one (cluster_memory.h); gateways of
 * another cluster are refused. Each connection is checked before its first call, since a name may lead to a different
 * gateway than before.
 *
 * A gateway that goes down causes a notice in the log, like a restart, and a warning if that persists
 * (gateway_prober.c).
 *
 * Threads: any; one lock, never held during a call. */
#pragma once

#include "config/config.h"
#include "gateway/gateway_load.h"
#include "thrift/client/gateway_probe.h"
#include "util/metrics.h"

G_BEGIN_DECLS

typedef struct TideGateways TideGateways;
typedef struct TideGateway TideGateway;

/* @config: borrowed. Starts nothing. */
TideGateways *tide_gateways_new(const TideHBaseConfig *config, TideMetrics *metrics);
/* Accepts gateways of another cluster than this host remembers, and remembers that one from then on, if all that answer
 * agree. Before start. */
void tide_gateways_accept_cluster_change(TideGateways *gateways);
void tide_gateways_start(TideGateways *gateways);  /* starts the probing threads */
void tide_gateways_cancel(TideGateways *gateways); /* makes every wait return */
void tide_gateways_stop(TideGateways *gateways);   /* cancels, and joins the threads */
void tide_gateways_free(TideGateways *gateways);

/* Applies a list changed by a reload. New gateways are probed and then used; removed ones get no new connections or
 * calls, but calls in flight end normally. Does not wait for a gateway. Threads: one at a time, that of start; not
 * after stop. */
void tide_gateways_take_list(TideGateways *gateways);

/* Waits until a gateway is up, which determines the protocol. Returns FALSE at @deadline_us or when stopped. */
gboolean tide_gateways_wait_up(TideGateways *gateways, gint64 deadline_us, TideWireProtocol *ret_protocol);

/* One text for all gateways that are not up: "gw1:9090 refused the connection; ...". (transfer full) (nullable) */
char *tide_gateways_last_error(TideGateways *gateways);
guint32 tide_gateways_n_up(TideGateways *gateways);
guint32 tide_gateways_n(TideGateways *gateways);
/* Whether all belong to another cluster, which only an operator can change. */
gboolean tide_gateways_are_refused(TideGateways *gateways);

/**
 * tide_gateways_connect: opens a connection for a few calls, to the best gateway that is up. Waits while none is.
 * @ret_client: (transfer full); return it with tide_gateways_release()
 * Returns: NULL at @deadline_us or when stopped. A gateway that refuses is handed to its prober, and the next one is
 * tried.
 */
TideGateway *tide_gateways_connect(TideGateways *gateways, gint64 deadline_us, TideHBaseClient **ret_client);

/* Frees @client. @broke: the connection failed; the gateway is probed before the next connection */
void tide_gateways_release(TideGateways *gateways, TideGateway *gateway, TideHBaseClient *client, gboolean broke);

/* A writer's connection, which is counted, measured and moved. The writer reads its fields; tide_gateways_*() change
 * them. */
typedef struct TideGatewayLink {
  TideGateway *gateway;    /* NULL: none */
  TideHBaseClient *client; /* owned */
  gint64 opened_us;
  gboolean verified; /* it has carried an answer */
} TideGatewayLink;

/* Like tide_gateways_connect(), for a writer: also excludes gateways at their limit of connections. The limits grow
 * with acknowledged calls, so only writers with rows to send should wait. */
gboolean tide_gateways_open_link(TideGateways *gateways, gint64 deadline_us, TideGatewayLink *ret_link);

/* Like tide_gateways_open_link(), at once, for a connection that replaces @old, which remains open until the caller
 * closes it. Also returns FALSE if @old uses the last connection of the only gateway. */
gboolean tide_gateways_open_instead(TideGateways *gateways, const TideGatewayLink *old, TideGatewayLink *ret_link);

/* TRUE if the gateway of @link was removed from the list: close the connection. */
gboolean tide_gateways_is_removed(TideGateways *gateways, const TideGatewayLink *link);

/* TRUE while the gateway of @link is known to accept connections. */
gboolean tide_gateways_is_up(TideGateways *gateways, const TideGatewayLink *link);

/* A connection to the gateway of @link was lost after being idle for @idle_us. Logs this and shortens the ping
 * interval. */
void tide_gateways_note_idle_loss(TideGateways *gateways, const TideGatewayLink *link, gint64 idle_us);

/* The idle time after which to ping the connection of @link. */
gint64 tide_gateways_ping_after_us(TideGateways *gateways, const TideGatewayLink *link);

/* A call over @link has ended. */
void tide_gateways_note_call(TideGateways *gateways, TideGatewayLink *link, const TideCallMeasure *measure);

/* Like tide_gateways_open_instead(), if @old's writer should move: the circuit of its gateway is open, or another
 * gateway should have it. Returns FALSE if it should stay, or could not connect there. */
gboolean tide_gateways_open_elsewhere(TideGateways *gateways, const TideGatewayLink *old, TideGatewayLink *ret_link);

/* @broke: the connection failed, and with it the gateway, unless that is only full */
void tide_gateways_close_link(TideGateways *gateways, TideGatewayLink *link, gboolean broke);

/* The state of one gateway. */
typedef struct TideGatewayView {
  const char *name;  /* borrowed from the configuration */
  const char *state; /* literal: "up", "down", "suspect" (to be probed), "circuit_open" (also, if that persists, while
                        one call tests if it can be closed) or "wrong_cluster" */
  gboolean is_slow;  /* its time per row is several times that of the fastest */
  gint64 connections;
  gint64 allowed_connections; /* current limit */
  double rows_per_second;     /* acknowledged, over the last seconds */
  double call_seconds;        /* moving average of acknowledged calls; -1: not measured */
  double rows_per_call;
  char *error_text; /* owned: why it is not "up"; NULL: it is */
} TideGatewayView;

/* In the order of the configuration, followed by those added by reloads. (transfer full) (element-type
 * TideGatewayView) */
GArray *tide_gateways_view(TideGateways *gateways);

const char *tide_gateway_name(const TideGateway *gateway);

/* Each gateway that was ever listed has a permanent index. */
guint32 tide_gateways_max_entries(const TideGateways *gateways);
guint32 tide_gateways_n_entries(TideGateways *gateways);
guint32 tide_gateway_index(const TideGateway *gateway);
const char *tide_gateways_name_at(const TideGateways *gateways, guint32 index);

G_END_DECLS
