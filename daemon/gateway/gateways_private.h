/* Fields of the gateways, shared by gateways.c and gateway_prober.c, and the rules for accessing them. */
#pragma once

#include "gateway/certificate_watch.h"
#include "gateway/gateway_load.h"
#include "gateway/gateways.h"
#include "util/lock.h"
#include "util/log.h"
#include "util/rate.h"

#include <gio/gio.h>

G_BEGIN_DECLS

typedef enum GatewayState {
  GATEWAY_DOWN,         /* not found up yet, or a probe found it down */
  GATEWAY_SUSPECT,      /* a connection failed: the next probe decides */
  GATEWAY_CIRCUIT_OPEN, /* its calls failed while others' did not: probed when the circuit closes */
  GATEWAY_UP,
  GATEWAY_REFUSED, /* of another cluster: probed until it is of the daemon's */
  GATEWAY_REMOVED, /* no longer listed; permanent, unless it is listed again */
  N_GATEWAY_STATES,
} GatewayState;

struct TideGateway {
  /* set before start, then read-only */
  TideGateways *gateways;
  const TideEndpoint *endpoint; /* borrowed from the configuration */
  guint32 index;
  struct {
    TideGauge *up, *connections, *allowed, *latency, *slow, *refused;
  } gauges;
  TideCounter *circuit_openings; /* the breaker opened */
  TideCounter *closed_at_once;   /* new connections that it rejected */
  /* under lock */
  GatewayState state;
  gboolean mode_known;
  TideWireMode mode;
  const char *cluster; /* borrowed from the list; NULL: none reported when it was probed */
  struct {
    gboolean has_ended;     /* or has reported the cluster */
    char *reported_cluster; /* owned: set while a change of cluster may be accepted */
  } first_probe;
  gint64 circuit_open_until_us;
  gint64 ping_after_us; /* longest idle time without a loss; 0: none was lost */
  TideRate written;     /* rows */
  char *last_error;     /* owned; why it is not up */
  char *failing;        /* owned; why it gets few calls although it is up: they fail persistently; NULL: they do not */
  /* any thread */
  TideLogLimit full_limit;
  TideCertificateWatch certificates;
  /* its own thread only */
  TideThread *thread;
  struct {
    gboolean was_up;        /* at least once */
    gboolean is_unreported; /* it was logged that it reports no cluster */
    gint64 down_since_us;   /* 0: up */
    gint64 error_logged_us;
    TideLogLevel error_logged_level;
  } probes;
};

struct TideGateways {
  const TideHBaseConfig *config;
  GCancellable *cancellable; /* owned: cancels running probes */
  TideMetrics *metrics;
  guint32 max_entries;
  gboolean accepts_cluster; /* other than the remembered one; set before start */
  TideMutex lock;
  TideCond changed;
  TideGateway *gateways; /* owned array of max_places; entries below n are read-only, except for fields under lock */
  /* Under lock, and written by one thread. */
  guint32 n; /* entries in use */
  /* under lock */
  TideGatewayLoads loads; /* each gateway's, by index */
  int protocol;           /* TideWireProtocol, -1 while unknown */
  char *cluster;          /* owned: the id that every gateway must have; NULL while unknown, then permanent */
  gboolean stopped;
};

static inline TideGatewayLoad *
tide_gateway_load_of(TideGateway *gateway)
{
  return &gateway->gateways->loads.loads[gateway->index];
}

/* Sets the gauges that follow from its state and load. */
void tide_gateway_show_locked(TideGateway *gateway);

void tide_gateway_run_prober(gpointer data);

G_END_DECLS
