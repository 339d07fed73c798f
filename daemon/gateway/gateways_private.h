/* What gateways.c and gateway_prober.c share: the gateways' fields, and who may touch them. */
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
  GATEWAY_SUSPECT,      /* something broke: the next probe decides */
  GATEWAY_CIRCUIT_OPEN, /* its calls failed while others' did not: probed when it closes again */
  GATEWAY_UP,
  GATEWAY_REFUSED, /* of another cluster: probed until it is of ours */
  GATEWAY_REMOVED, /* not in the list any more; for good, unless it comes back into it */
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
  TideCounter *closed_at_once;   /* new connections that it did not want */
  /* under lock */
  GatewayState state;
  gboolean mode_known;
  TideWireMode mode;
  const char *cluster; /* borrowed: the list's; NULL: it told none when it was probed */
  struct {
    gboolean has_ended; /* or has told the cluster */
    char *told_cluster; /* owned: where a change of it may be accepted */
  } first_probe;
  gint64 circuit_open_until_us;
  gint64 ping_after_us; /* so long an idle connection was not lost yet; 0: none was */
  TideRate written;     /* rows */
  char *last_error;     /* owned; why it is not up */
  char *failing;        /* owned; why it gets hardly any calls though it is up: theirs fail, and that lasts; NULL: no */
  /* any thread */
  TideLogLimit full_limit;
  TideCertificateWatch certificates;
  /* its own thread only */
  TideThread *thread;
  struct {
    gboolean was_up;      /* once at least */
    gboolean is_untold;   /* it was said that it tells no cluster */
    gint64 down_since_us; /* 0: up */
    gint64 error_logged_us;
    TideLogLevel error_logged_level;
  } probes;
};

struct TideGateways {
  const TideHBaseConfig *config;
  GCancellable *cancellable; /* owned: ends running probes */
  TideMetrics *metrics;
  guint32 max_places;
  gboolean accepts_cluster; /* another than the remembered one; set before start */
  TideMutex lock;
  TideCond changed;
  TideGateway *gateways; /* owned array of max_places; read-only as n has them, but for what is under lock */
  /* under lock, and written by one thread */
  guint32 n; /* places that are taken */
  /* under lock */
  TideGatewayLoads loads; /* each gateway's, by index */
  int protocol;           /* TideWireProtocol, -1 while unknown */
  char *cluster;          /* owned: the id that every gateway must have; NULL while unknown, then set for good */
  gboolean stopped;
};

static inline TideGatewayLoad *
tide_gateway_load_of(TideGateway *gateway)
{
  return &gateway->gateways->loads.loads[gateway->index];
}

/* Sets the gauges that follow from its state and load. */
void tide_gateway_show_locked(TideGateway *gateway);

/* The owner function of a gateway's thread; @data: the gateway. */
void tide_gateway_run_prober(gpointer data);

G_END_DECLS
