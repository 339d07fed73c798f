#include "flow/gateways.h"

#include "util/clock.h"
#include "util/error.h"
#include "util/lock.h"
#include "util/log.h"

/* A gateway on the same network answers a probe in milliseconds; a guess that is wrong costs this long. */
#define PROBE_TIMEOUT_MS 1000

/* While a gateway is down: as a writer's backoff, but short enough that its return is noticed. */
#define PROBE_PAUSE_MIN_US (100 * TIDE_US_PER_MS)
#define PROBE_PAUSE_MAX_US (5 * TIDE_US_PER_S)

/* The same gateway's complaint is logged when it changes, else this often. */
#define COMPLAINT_INTERVAL_US (60 * TIDE_US_PER_S)

typedef enum GatewayState { GATEWAY_DOWN, GATEWAY_UP } GatewayState;

struct TideGateway {
  /* set before start, then read-only */
  TideGateways *gateways;
  const TideEndpoint *endpoint; /* borrowed from the configuration */
  guint32 index;
  TideGauge *up_gauge;
  TideGauge *connections_gauge;
  /* under lock */
  GatewayState state;
  gboolean mode_known;
  TideWireMode mode;
  guint32 n_connections;
  char *complaint; /* owned; why it is not up */
  /* its own thread only */
  TideThread *thread;
  gint64 complained_us;
};

struct TideGateways {
  const TideHBaseConfig *config;
  GCancellable *cancellable; /* owned: ends running probes */
  TideMutex lock;
  TideCond changed;
  guint32 n;
  TideGateway *gateways; /* owned array */
  /* under lock */
  int protocol; /* TideWireProtocol, -1 while unknown */
  gboolean stopped;
};

TideGateways *
tide_gateways_new(const TideHBaseConfig *config, TideMetrics *metrics)
{
  TideGateways *gateways = g_new0(TideGateways, 1);
  gateways->config = config;
  gateways->cancellable = g_cancellable_new();
  gateways->protocol = config->protocol;
  tide_mutex_init(&gateways->lock);
  tide_cond_init(&gateways->changed);
  gateways->n = config->gateways->len;
  gateways->gateways = g_new0(TideGateway, gateways->n);
  for (guint32 i = 0; i < gateways->n; i++) {
    TideGateway *gateway = &gateways->gateways[i];
    gateway->gateways = gateways;
    gateway->endpoint = g_ptr_array_index(config->gateways, i);
    gateway->index = i;
    g_autofree char *label = tide_metrics_label("gateway", gateway->endpoint->text);
    gateway->up_gauge = tide_metrics_gauge(metrics, "tidemark_gateway_up", "1 while the gateway answers", label);
    gateway->connections_gauge =
        tide_metrics_gauge(metrics, "tidemark_gateway_connections", "Open connections of writers", label);
  }
  return gateways;
}

/* ---- the probing thread ---- */

static void
set_complaint_locked(TideGateway *gateway, const char *text)
{
  g_free(gateway->complaint);
  gateway->complaint = g_strdup(text);
}

/* Takes what a probe found; the complaint when this gateway cannot be used beside the others. */
static void
adopt_mode_locked(TideGateway *gateway, TideWireMode mode)
{
  TideGateways *gateways = gateway->gateways;
  if (gateways->protocol < 0)
    gateways->protocol = (int)mode.protocol;
  if ((int)mode.protocol != gateways->protocol) {
    g_autofree char *text = g_strdup_printf(
        "'%s' speaks the %s protocol while %s is in use: configure all gateways alike", gateway->endpoint->text,
        tide_wire_protocol_name(mode.protocol), tide_wire_protocol_name((TideWireProtocol)gateways->protocol));
    set_complaint_locked(gateway, text);
    return;
  }
  gateway->mode = mode;
  gateway->mode_known = TRUE;
  gateway->state = GATEWAY_UP;
  g_clear_pointer(&gateway->complaint, g_free);
  tide_gauge_set(gateway->up_gauge, 1);
  tide_cond_broadcast(&gateways->changed);
}

/* One probe, without the lock. */
static void
probe(TideGateway *gateway)
{
  TideGateways *gateways = gateway->gateways;
  g_autoptr(GError) error = NULL;
  TideProbeWish wish = {gateways->config->framing, gateways->config->protocol};
  tide_mutex_lock(&gateways->lock);
  if (gateway->mode_known) {
    /* It answered before: ask in that mode first, so that its return is noticed at once. */
    wish = (TideProbeWish){(int)gateway->mode.framing, (int)gateway->mode.protocol};
  }
  tide_mutex_unlock(&gateways->lock);

  TideWireMode mode;
  gboolean found = tide_gateway_probe(gateway->endpoint, wish, PROBE_TIMEOUT_MS, gateways->cancellable, &mode, &error);

  g_autofree char *complaint = NULL;
  gboolean is_new = FALSE;
  tide_mutex_lock(&gateways->lock);
  {
    g_autofree char *before = g_strdup(gateway->complaint);
    if (found)
      adopt_mode_locked(gateway, mode);
    else {
      set_complaint_locked(gateway, error->message);
      if (!g_error_matches(error, TIDE_ERROR, TIDE_ERROR_CONNECT))
        gateway->mode_known = FALSE; /* it may have come back in another mode */
    }
    complaint = g_strdup(gateway->complaint);
    is_new = g_strcmp0(before, complaint) != 0;
  }
  tide_mutex_unlock(&gateways->lock);

  if (tide_error_is_cancelled(error))
    return;
  gint64 now_us = tide_now_us();
  if (complaint == NULL) {
    tide_log(TIDE_LOG_NOTICE, "gateway '%s' is up: %s, %s", gateway->endpoint->text, tide_framing_name(mode.framing),
             tide_wire_protocol_name(mode.protocol));
    gateway->complained_us = 0;
  } else if (is_new || now_us - gateway->complained_us >= COMPLAINT_INTERVAL_US) {
    gateway->complained_us = now_us;
    tide_log(TIDE_LOG_WARNING, "gateway not usable: %s; it is tried again until it is", complaint);
  }
}

static void
run_prober(gpointer data)
{
  TideGateway *gateway = data;
  TideGateways *gateways = gateway->gateways;
  gint64 pause_us = PROBE_PAUSE_MIN_US;
  gint64 not_before_us = 0;
  for (;;) {
    gboolean must_probe = FALSE;
    tide_mutex_lock(&gateways->lock);
    while (!gateways->stopped && !must_probe) {
      if (gateway->state == GATEWAY_UP) {
        pause_us = PROBE_PAUSE_MIN_US;
        tide_cond_wait(&gateways->changed, &gateways->lock);
      } else if (tide_now_us() < not_before_us)
        tide_cond_wait_until(&gateways->changed, &gateways->lock, not_before_us);
      else
        must_probe = TRUE;
    }
    gboolean stopped = gateways->stopped;
    tide_mutex_unlock(&gateways->lock);
    if (stopped)
      return;
    probe(gateway);
    not_before_us = tide_now_us() + pause_us;
    pause_us = MIN(pause_us * 2, PROBE_PAUSE_MAX_US);
  }
}

void
tide_gateways_start(TideGateways *gateways)
{
  for (guint32 i = 0; i < gateways->n; i++) {
    g_autofree char *name = g_strdup_printf("tide-gateway-%u", i);
    gateways->gateways[i].thread = tide_thread_start(name, run_prober, &gateways->gateways[i]);
  }
}

void
tide_gateways_stop(TideGateways *gateways)
{
  tide_mutex_lock(&gateways->lock);
  gateways->stopped = TRUE;
  tide_cond_broadcast(&gateways->changed);
  tide_mutex_unlock(&gateways->lock);
  g_cancellable_cancel(gateways->cancellable);
  for (guint32 i = 0; i < gateways->n; i++)
    tide_thread_join(g_steal_pointer(&gateways->gateways[i].thread));
}

void
tide_gateways_free(TideGateways *gateways)
{
  if (gateways == NULL)
    return;
  for (guint32 i = 0; i < gateways->n; i++)
    g_free(gateways->gateways[i].complaint);
  g_free(gateways->gateways);
  tide_cond_clear(&gateways->changed);
  tide_mutex_clear(&gateways->lock);
  g_object_unref(gateways->cancellable);
  g_free(gateways);
}

/* ---- for those who need one ---- */

static TideGateway *
least_connected_locked(TideGateways *gateways)
{
  TideGateway *best = NULL;
  for (guint32 i = 0; i < gateways->n; i++) {
    TideGateway *gateway = &gateways->gateways[i];
    if (gateway->state == GATEWAY_UP && (best == NULL || gateway->n_connections < best->n_connections))
      best = gateway;
  }
  return best;
}

gboolean
tide_gateways_wait_up(TideGateways *gateways, gint64 deadline_us, TideWireProtocol *ret_protocol)
{
  gboolean up;
  tide_mutex_lock(&gateways->lock);
  {
    while (least_connected_locked(gateways) == NULL && !gateways->stopped && tide_now_us() < deadline_us)
      tide_cond_wait_until(&gateways->changed, &gateways->lock, deadline_us);
    up = least_connected_locked(gateways) != NULL && !gateways->stopped;
    if (up)
      *ret_protocol = (TideWireProtocol)gateways->protocol;
  }
  tide_mutex_unlock(&gateways->lock);
  return up;
}

char *
tide_gateways_complaint(TideGateways *gateways)
{
  g_autoptr(GString) text = g_string_new(NULL);
  tide_mutex_lock(&gateways->lock);
  {
    for (guint32 i = 0; i < gateways->n; i++) {
      const TideGateway *gateway = &gateways->gateways[i];
      if (gateway->state == GATEWAY_UP)
        continue;
      g_string_append_printf(text, "%s%s", text->len > 0 ? "; " : "",
                             gateway->complaint != NULL ? gateway->complaint : gateway->endpoint->text);
    }
  }
  tide_mutex_unlock(&gateways->lock);
  return text->len > 0 ? g_string_free(g_steal_pointer(&text), FALSE) : NULL;
}

guint32
tide_gateways_n_up(TideGateways *gateways)
{
  guint32 n = 0;
  tide_mutex_lock(&gateways->lock);
  {
    for (guint32 i = 0; i < gateways->n; i++)
      n += gateways->gateways[i].state == GATEWAY_UP ? 1 : 0;
  }
  tide_mutex_unlock(&gateways->lock);
  return n;
}

guint32
tide_gateways_n(const TideGateways *gateways)
{
  return gateways->n;
}

static void
suspect_locked(TideGateway *gateway)
{
  if (gateway->state != GATEWAY_UP)
    return;
  gateway->state = GATEWAY_DOWN;
  tide_gauge_set(gateway->up_gauge, 0);
  tide_cond_broadcast(&gateway->gateways->changed);
}

static void
count_connections_locked(TideGateway *gateway, int delta)
{
  gateway->n_connections = (guint32)((int)gateway->n_connections + delta);
  tide_gauge_set(gateway->connections_gauge, gateway->n_connections);
}

/* Reserves a place at a gateway that is up; NULL at the deadline or when stopped. */
static TideGateway *
reserve(TideGateways *gateways, gint64 deadline_us, TideWireMode *ret_mode)
{
  TideGateway *best = NULL;
  tide_mutex_lock(&gateways->lock);
  {
    while (!gateways->stopped && (best = least_connected_locked(gateways)) == NULL && tide_now_us() < deadline_us)
      tide_cond_wait_until(&gateways->changed, &gateways->lock, deadline_us);
    if (gateways->stopped)
      best = NULL;
    if (best != NULL) {
      count_connections_locked(best, 1);
      *ret_mode = best->mode;
    }
  }
  tide_mutex_unlock(&gateways->lock);
  return best;
}

TideGateway *
tide_gateways_connect(TideGateways *gateways, gint64 deadline_us, TideHBaseClient **ret_client)
{
  for (;;) {
    TideWireMode mode;
    TideGateway *gateway = reserve(gateways, deadline_us, &mode);
    if (gateway == NULL)
      return NULL;
    g_autoptr(GError) error = NULL;
    TideHBaseClient *client = tide_hbase_client_new(gateway->endpoint, mode);
    gint64 connect_deadline_us = tide_now_us() + gateways->config->connect_timeout_ms * TIDE_US_PER_MS;
    if (tide_hbase_client_connect(client, connect_deadline_us, &error)) {
      *ret_client = client;
      return gateway;
    }
    tide_gateways_release(gateways, gateway, client, TRUE);
  }
}

void
tide_gateways_release(TideGateways *gateways, TideGateway *gateway, TideHBaseClient *client, gboolean broke)
{
  tide_hbase_client_free(client);
  tide_mutex_lock(&gateways->lock);
  {
    count_connections_locked(gateway, -1);
    if (broke)
      suspect_locked(gateway);
  }
  tide_mutex_unlock(&gateways->lock);
}

gboolean
tide_gateways_should_move(TideGateways *gateways, const TideGateway *gateway)
{
  gboolean should;
  tide_mutex_lock(&gateways->lock);
  {
    const TideGateway *best = least_connected_locked(gateways);
    should = best != NULL && best != gateway && best->n_connections + 2 <= gateway->n_connections;
  }
  tide_mutex_unlock(&gateways->lock);
  return should;
}

const char *
tide_gateway_name(const TideGateway *gateway)
{
  return gateway->endpoint->text;
}
