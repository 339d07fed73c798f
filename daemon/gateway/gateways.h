/* The gateways: which are up, which mode each speaks, and which one a writer should connect to.
 *
 * Each gateway has a thread of its own that probes it while it is not known to be up, with a pause that doubles: so a
 * gateway that is down, hangs or speaks something else delays nobody, and one that returns is used within a second or
 * so. The first one found decides the wire protocol (unless it is configured); one that speaks the other is refused by
 * name. That thread is the breaker's probe, too: whatever opened it, a gateway is connected to only after it has
 * answered, and then by one writer first (gateway_load.h has the rules, and their figures).
 *
 * The first one found decides the cluster, too, unless this host remembers one (cluster_memory.h): a gateway of another
 * is refused. Each connection is asked before its first call, for a name may lead to another gateway than before.
 *
 * A gateway that goes away is a notice in the log, as any restart is; a warning once it lasts (gateway_prober.c).
 *
 * Threads: any; one lock, never held across a call. */
#pragma once

#include "config/config.h"
#include "gateway/gateway_load.h"
#include "thrift/client/gateway_probe.h"
#include "util/metrics.h"

G_BEGIN_DECLS

typedef struct TideGateways TideGateways;
typedef struct TideGateway TideGateway;

/* @config: borrowed. Starts nothing yet. */
TideGateways *tide_gateways_new(const TideHBaseConfig *config, TideMetrics *metrics);
/* The gateways may be of another cluster than this host remembers, which is remembered from then on, if all that answer
 * are of the same. Before start. */
void tide_gateways_accept_cluster_change(TideGateways *gateways);
void tide_gateways_start(TideGateways *gateways);  /* the probing threads */
void tide_gateways_cancel(TideGateways *gateways); /* makes every wait return */
void tide_gateways_stop(TideGateways *gateways);   /* that, and joins the threads */
void tide_gateways_free(TideGateways *gateways);

/* After a reload has changed the list in the configuration: those that are new in it are probed and then used; those
 * that are not in it any more get no connection and no call more, but what is on its way to them ends as it would have.
 * Never waits for a gateway. Threads: one at a time, that of start; not after stop. */
void tide_gateways_take_list(TideGateways *gateways);

/* Waits until a gateway is up and so the protocol is known. FALSE at @deadline_us or when stopped. */
gboolean tide_gateways_wait_up(TideGateways *gateways, gint64 deadline_us, TideWireProtocol *ret_protocol);

/* One line on each gateway that is not up: "gw1:9090 refused the connection; ...". (transfer full) (nullable) */
char *tide_gateways_last_error(TideGateways *gateways);
guint32 tide_gateways_n_up(TideGateways *gateways);
guint32 tide_gateways_n(TideGateways *gateways);
/* Each is of another cluster, which does not change by itself. */
gboolean tide_gateways_are_refused(TideGateways *gateways);

/**
 * tide_gateways_connect: a connection for a few calls, to the best gateway of those up. Waits while none is.
 * @ret_client: (transfer full); give back with tide_gateways_release()
 * Returns: NULL at @deadline_us or when stopped. A gateway that refuses is handed to its prober and the next is tried.
 */
TideGateway *tide_gateways_connect(TideGateways *gateways, gint64 deadline_us, TideHBaseClient **ret_client);

/* @broke: the connection failed; the gateway is probed before anybody connects to it again. Frees @client. */
void tide_gateways_release(TideGateways *gateways, TideGateway *gateway, TideHBaseClient *client, gboolean broke);

/* A writer's connection: counted, measured, and moved. Its fields are the writer's to read and tide_gateways_*()'s to
 * change. */
typedef struct TideGatewayLink {
  TideGateway *gateway;    /* NULL: none */
  TideHBaseClient *client; /* owned */
  gint64 opened_us;
  gboolean verified; /* has carried an answer */
} TideGatewayLink;

/* As tide_gateways_connect(), for a writer: a gateway that may have no more connections now is left out, too. They
 * become more with acknowledged calls, so only who has rows to give may wait for that. */
gboolean tide_gateways_open_link(TideGateways *gateways, gint64 deadline_us, TideGatewayLink *ret_link);

/* As tide_gateways_open_link(), at once, for one that replaces @old, which stays open and is to be closed by the
 * caller. FALSE also where @old has the last place of the only gateway. */
gboolean tide_gateways_open_instead(TideGateways *gateways, const TideGatewayLink *old, TideGatewayLink *ret_link);

/* TRUE if the gateway of @link was removed from the list: close the connection. */
gboolean tide_gateways_is_removed(TideGateways *gateways, const TideGatewayLink *link);

/* TRUE when the gateway of @link is known to take connections. */
gboolean tide_gateways_is_up(TideGateways *gateways, const TideGatewayLink *link);

/* A connection to the gateway of @link was lost after being idle for @idle_us: it is logged, and idle connections are
 * pinged sooner from now on. */
void tide_gateways_note_idle_loss(TideGateways *gateways, const TideGatewayLink *link, gint64 idle_us);

/* After how long without a call the connection of @link is to be pinged. */
gint64 tide_gateways_ping_after_us(TideGateways *gateways, const TideGatewayLink *link);

/* A call over @link has ended. */
void tide_gateways_note_call(TideGateways *gateways, TideGatewayLink *link, const TideCallMeasure *measure);

/* As tide_gateways_open_instead(), where @old's writer should move: the circuit of @old's gateway is open, or another
 * one should have the writer. FALSE where it should stay, or could not connect there. */
gboolean tide_gateways_open_elsewhere(TideGateways *gateways, const TideGatewayLink *old, TideGatewayLink *ret_link);

/* @broke: the connection failed, and the gateway with it unless that is only full. */
void tide_gateways_close_link(TideGateways *gateways, TideGatewayLink *link, gboolean broke);

/* How one gateway is. */
typedef struct TideGatewayView {
  const char *name;  /* borrowed from the configuration */
  const char *state; /* literal: "up", "down", "suspect" (to be probed), "circuit_open" (also while one call shows
                      * whether it may be closed, where that lasts) or "refused" */
  gboolean is_slow;  /* it takes several times as long for a row as the fastest */
  gint64 connections;
  gint64 allowed_connections; /* it may have now */
  double rows_per_second;     /* acknowledged, over the last seconds */
  double call_seconds;        /* moving averages of acknowledged calls; -1: not measured */
  double rows_per_call;
  char *error_text; /* owned: why it is not "up"; NULL: it is */
} TideGatewayView;

/* In the order of the configuration, new ones of a reload last. (transfer full) (element-type TideGatewayView) */
GArray *tide_gateways_view(TideGateways *gateways);

const char *tide_gateway_name(const TideGateway *gateway);

/* Each gateway that ever was in the list has a place of its own, and keeps it. */
guint32 tide_gateways_max_places(const TideGateways *gateways);
guint32 tide_gateways_n_places(TideGateways *gateways);
guint32 tide_gateway_index(const TideGateway *gateway); /* its place */
const char *tide_gateways_name_at(const TideGateways *gateways, guint32 index);

G_END_DECLS
