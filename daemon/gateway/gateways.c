#include "gateway/gateways_private.h"

#include "util/clock.h"
#include "util/error.h"
#include "util/units.h"

#define FULL_LOG_INTERVAL_US (60 * TIDE_US_PER_S)

/* A connection that the gateway rejects is found closed within this time: writers check idle ones every second. */
#define CLOSED_AT_ONCE_US (3 * TIDE_US_PER_S)

/* More frequent pings would cost more than the calls that they save. */
#define PING_AFTER_MIN_US (2 * TIDE_US_PER_S)

/* Gateways that reloads may add, in total. */
#define MORE_GATEWAYS 256u

static void
init_gateway(TideGateways *gateways, guint32 index, const TideEndpoint *endpoint)
{
  TideMetrics *metrics = gateways->metrics;
  TideGateway *gateway = &gateways->gateways[index];
  gateway->gateways = gateways;
  gateway->endpoint = endpoint;
  gateway->index = index;
  g_autofree char *label = tide_metrics_label("gateway", gateway->endpoint->text);
  gateway->gauges.up = tide_metrics_gauge(metrics, "tidemark_gateway_up",
                                          "1 while the gateway answers and its circuit is closed", label);
  gateway->gauges.connections =
      tide_metrics_gauge(metrics, "tidemark_gateway_connections", "Open connections of writers", label);
  gateway->gauges.allowed = tide_metrics_gauge(
      metrics, "tidemark_gateway_connections_allowed",
      "Maximum number of connections at present: low after the gateway recovered, or while it is full", label);
  gateway->gauges.latency =
      tide_metrics_gauge_milli(metrics, "tidemark_gateway_latency_seconds",
                               "Moving average duration of acknowledged calls; 0 if not measured", label);
  gateway->gauges.slow =
      tide_metrics_gauge(metrics, "tidemark_gateway_slow",
                         "1 while the gateway takes several times as long per row as the fastest gateway", label);
  gateway->gauges.refused =
      tide_metrics_gauge(metrics, "tidemark_gateway_wrong_cluster",
                         "1 while the gateway gets no rows because it belongs to another HBase cluster", label);
  gateway->circuit_openings = tide_metrics_counter(
      metrics, "tidemark_gateway_breaker_opened_total",
      "Times the gateway was excluded because its calls failed and those of other gateways succeeded", label);
  gateway->closed_at_once = tide_metrics_counter(
      metrics, "tidemark_gateway_connections_dropped_total",
      "New connections that the gateway closed while others worked: its threads or queue are full", label);
  tide_certificate_watch_init(&gateway->certificates, gateway->endpoint->text, metrics);
}

TideGateways *
tide_gateways_new(const TideHBaseConfig *config, TideMetrics *metrics)
{
  TideGateways *gateways = g_new0(TideGateways, 1);
  gateways->config = config;
  gateways->cancellable = g_cancellable_new();
  gateways->protocol = config->protocol;
  tide_mutex_init(&gateways->lock);
  tide_cond_init(&gateways->changed);
  gateways->metrics = metrics;
  gateways->n = config->gateways->len;
  gateways->max_entries = gateways->n + MORE_GATEWAYS;
  gateways->gateways = g_new0(TideGateway, gateways->max_entries);
  gateways->loads = (TideGatewayLoads){
      .loads = g_new0(TideGatewayLoad, gateways->max_entries),
      .n = gateways->n,
      .first = (guint32)g_random_int_range(0, (gint32)gateways->n),
  };
  for (guint32 i = 0; i < gateways->n; i++)
    init_gateway(gateways, i, g_ptr_array_index(config->gateways, i));
  return gateways;
}

void
tide_gateways_accept_cluster_change(TideGateways *gateways)
{
  gateways->accepts_cluster = TRUE;
}

static void
start_prober(TideGateway *gateway)
{
  g_autofree char *name = g_strdup_printf("tide-gateway-%u", gateway->index);
  gateway->thread = tide_thread_start(name, tide_gateway_run_prober, gateway);
}

void
tide_gateways_start(TideGateways *gateways)
{
  for (guint32 i = 0; i < gateways->n; i++)
    start_prober(&gateways->gateways[i]);
}

void
tide_gateways_cancel(TideGateways *gateways)
{
  tide_mutex_lock(&gateways->lock);
  gateways->stopped = TRUE;
  tide_cond_broadcast(&gateways->changed);
  tide_mutex_unlock(&gateways->lock);
  g_cancellable_cancel(gateways->cancellable);
}

void
tide_gateways_stop(TideGateways *gateways)
{
  tide_gateways_cancel(gateways);
  for (guint32 i = 0; i < gateways->n; i++)
    tide_thread_join(g_steal_pointer(&gateways->gateways[i].thread));
}

void
tide_gateways_free(TideGateways *gateways)
{
  if (gateways == NULL)
    return;
  for (guint32 i = 0; i < gateways->n; i++) {
    g_free(gateways->gateways[i].last_error);
    g_free(gateways->gateways[i].failing);
    g_free(gateways->gateways[i].first_probe.reported_cluster);
  }
  g_free(gateways->gateways);
  g_free(gateways->cluster);
  g_free(gateways->loads.loads);
  tide_cond_clear(&gateways->changed);
  tide_mutex_clear(&gateways->lock);
  g_object_unref(gateways->cancellable);
  g_free(gateways);
}

/* ---- changing the list ---- */

static gboolean
is_listed(const GPtrArray *list, const TideGateway *gateway)
{
  for (guint i = 0; i < list->len; i++)
    if (strcmp(((const TideEndpoint *)g_ptr_array_index(list, i))->text, gateway->endpoint->text) == 0)
      return TRUE;
  return FALSE;
}

/* Marks listed gateways. One that returns is treated as never seen up; its old connections still count. */
static void
mark_listed(TideGateways *gateways, const GPtrArray *list)
{
  tide_mutex_lock(&gateways->lock);
  for (guint32 i = 0; i < gateways->n; i++) {
    TideGateway *gateway = &gateways->gateways[i];
    TideGatewayLoad *load = tide_gateway_load_of(gateway);
    gboolean listed = is_listed(list, gateway);
    if (listed == (gateway->state != GATEWAY_REMOVED))
      continue;
    if (listed) {
      *load = (TideGatewayLoad){.n_connections = load->n_connections, .n_verified = load->n_verified};
      gateway->state = GATEWAY_DOWN;
      gateway->mode_known = FALSE;
    } else {
      gateway->state = GATEWAY_REMOVED;
      load->usable = FALSE;
      g_clear_pointer(&gateway->last_error, g_free);
      g_clear_pointer(&gateway->failing, g_free);
    }
    tide_gateway_show_locked(gateway);
  }
  tide_cond_broadcast(&gateways->changed);
  tide_mutex_unlock(&gateways->lock);
}

void
tide_gateways_take_list(TideGateways *gateways)
{
  const GPtrArray *list = gateways->config->gateways;
  mark_listed(gateways, list);
  for (guint i = 0; i < list->len; i++) {
    const TideEndpoint *endpoint = g_ptr_array_index(list, i);
    guint32 index = 0;
    while (index < gateways->n && strcmp(gateways->gateways[index].endpoint->text, endpoint->text) != 0)
      index++;
    if (index < gateways->n)
      continue; /* already known */
    if (index == gateways->max_entries) {
      tide_log_fields(TIDE_LOG_WARNING, "gateway-left-out", TIDE_LOG_FIELDS({"GATEWAY", endpoint->text}),
                      "gateway '%s' is not used: reloads have added %u others since the start; restart to use it",
                      endpoint->text, MORE_GATEWAYS);
      continue;
    }
    init_gateway(gateways, index, endpoint);
    tide_mutex_lock(&gateways->lock);
    gateways->n = gateways->loads.n = index + 1;
    tide_gateway_show_locked(&gateways->gateways[index]);
    tide_mutex_unlock(&gateways->lock);
    start_prober(&gateways->gateways[index]);
  }
}

/* ---- state ---- */

void
tide_gateway_show_locked(TideGateway *gateway)
{
  const TideGatewayLoad *load = tide_gateway_load_of(gateway);
  if (gateway->state == GATEWAY_REMOVED) { /* it has no series */
    TideGauge *gauges[] = {gateway->gauges.up,
                           gateway->gauges.connections,
                           gateway->gauges.allowed,
                           gateway->gauges.latency,
                           gateway->gauges.slow,
                           gateway->gauges.refused,
                           gateway->certificates.peer_end_gauge,
                           gateway->certificates.own_end_gauge};
    for (gsize i = 0; i < G_N_ELEMENTS(gauges); i++)
      tide_gauge_set(gauges[i], TIDE_GAUGE_UNKNOWN);
    return;
  }
  tide_gauge_set(gateway->gauges.up, gateway->state == GATEWAY_UP && gateway->failing == NULL ? 1 : 0);
  tide_gauge_set(gateway->gauges.connections, load->n_connections);
  tide_gauge_set(gateway->gauges.allowed, load->usable ? load->n_allowed : 0);
  tide_gauge_set(gateway->gauges.latency, (gint64)load->call_us / TIDE_US_PER_MS);
  tide_gauge_set(gateway->gauges.slow, load->slow ? 1 : 0);
  tide_gauge_set(gateway->gauges.refused, gateway->state == GATEWAY_REFUSED ? 1 : 0);
}

static guint32
count_locked(const TideGateways *gateways, GatewayState state)
{
  guint32 n = 0;
  for (guint32 i = 0; i < gateways->n; i++)
    n += gateways->gateways[i].state == state ? 1 : 0;
  return n;
}

gboolean
tide_gateways_wait_up(TideGateways *gateways, gint64 deadline_us, TideWireProtocol *ret_protocol)
{
  gboolean up;
  tide_mutex_lock(&gateways->lock);
  {
    while (count_locked(gateways, GATEWAY_UP) == 0 && !gateways->stopped && tide_now_us() < deadline_us)
      tide_cond_wait_until(&gateways->changed, &gateways->lock, deadline_us);
    up = count_locked(gateways, GATEWAY_UP) > 0 && !gateways->stopped;
    if (up)
      *ret_protocol = (TideWireProtocol)gateways->protocol;
  }
  tide_mutex_unlock(&gateways->lock);
  return up;
}

char *
tide_gateways_last_error(TideGateways *gateways)
{
  g_autoptr(GString) text = g_string_new(NULL);
  tide_mutex_lock(&gateways->lock);
  {
    for (guint32 i = 0; i < gateways->n; i++) {
      const TideGateway *gateway = &gateways->gateways[i];
      if (gateway->state == GATEWAY_UP || gateway->state == GATEWAY_REMOVED)
        continue;
      g_string_append(text, text->len > 0 ? "; " : "");
      if (gateway->last_error != NULL)
        g_string_append(text, gateway->last_error);
      else
        g_string_append_printf(text, "%s'%s'; probing it",
                               gateway->state == GATEWAY_SUSPECT ? "a connection broke to " : "no answer yet from ",
                               gateway->endpoint->text);
    }
  }
  tide_mutex_unlock(&gateways->lock);
  return text->len > 0 ? g_string_free(g_steal_pointer(&text), FALSE) : NULL;
}

guint32
tide_gateways_n_up(TideGateways *gateways)
{
  tide_mutex_lock(&gateways->lock);
  guint32 n = count_locked(gateways, GATEWAY_UP);
  tide_mutex_unlock(&gateways->lock);
  return n;
}

guint32
tide_gateways_n(TideGateways *gateways)
{
  tide_mutex_lock(&gateways->lock);
  guint32 n = gateways->n - count_locked(gateways, GATEWAY_REMOVED);
  tide_mutex_unlock(&gateways->lock);
  return n;
}

gboolean
tide_gateways_are_refused(TideGateways *gateways)
{
  tide_mutex_lock(&gateways->lock);
  guint32 n_refused = count_locked(gateways, GATEWAY_REFUSED);
  gboolean are_all = n_refused + count_locked(gateways, GATEWAY_REMOVED) == gateways->n;
  tide_mutex_unlock(&gateways->lock);
  return n_refused > 0 && are_all;
}

static void
clear_view(gpointer data)
{
  TideGatewayView *view = data;
  g_free(view->error_text);
}

static TideGatewayView
view_of_locked(TideGateway *gateway, gint64 now_us)
{
  static const char *const states[] = {
      [GATEWAY_DOWN] = "down", [GATEWAY_SUSPECT] = "suspect",       [GATEWAY_CIRCUIT_OPEN] = "circuit_open",
      [GATEWAY_UP] = "up",     [GATEWAY_REFUSED] = "wrong_cluster", [GATEWAY_REMOVED] = "removed"};
  G_STATIC_ASSERT(G_N_ELEMENTS(states) == N_GATEWAY_STATES);
  const TideGatewayLoad *load = tide_gateway_load_of(gateway);
  gboolean is_measured = load->call_us > 0;
  gboolean is_up = gateway->state == GATEWAY_UP, is_failing = is_up && gateway->failing != NULL;
  const char *error_text = is_failing ? gateway->failing : is_up ? NULL : gateway->last_error;
  return (TideGatewayView){.name = gateway->endpoint->text,
                           .state = states[is_failing ? GATEWAY_CIRCUIT_OPEN : gateway->state],
                           .is_slow = load->slow,
                           .connections = load->n_connections,
                           .allowed_connections = load->usable ? load->n_allowed : 0,
                           .rows_per_second = tide_rate_a_second(gateway->written, now_us),
                           .call_seconds = is_measured ? load->call_us / TIDE_US_PER_S : -1,
                           .rows_per_call = is_measured ? load->call_rows : -1,
                           .error_text = g_strdup(error_text)};
}

GArray *
tide_gateways_view(TideGateways *gateways)
{
  gint64 now_us = tide_now_us();
  GArray *views = g_array_new(FALSE, TRUE, sizeof(TideGatewayView));
  g_array_set_clear_func(views, clear_view);
  tide_mutex_lock(&gateways->lock);
  for (guint32 i = 0; i < gateways->n; i++) {
    if (gateways->gateways[i].state == GATEWAY_REMOVED)
      continue;
    TideGatewayView view = view_of_locked(&gateways->gateways[i], now_us);
    g_array_append_val(views, view);
  }
  tide_mutex_unlock(&gateways->lock);
  return views;
}

const char *
tide_gateway_name(const TideGateway *gateway)
{
  return gateway->endpoint->text;
}

guint32
tide_gateways_max_entries(const TideGateways *gateways)
{
  return gateways->max_entries;
}

guint32
tide_gateways_n_entries(TideGateways *gateways)
{
  tide_mutex_lock(&gateways->lock);
  guint32 n = gateways->n;
  tide_mutex_unlock(&gateways->lock);
  return n;
}

guint32
tide_gateway_index(const TideGateway *gateway)
{
  return gateway->index;
}

const char *
tide_gateways_name_at(const TideGateways *gateways, guint32 index)
{
  return tide_gateway_name(&gateways->gateways[index]);
}

/* ---- connecting ---- */

/* Hands @gateway to its prober. */
static void
suspect_locked(TideGateway *gateway)
{
  if (gateway->state != GATEWAY_UP)
    return;
  gateway->state = GATEWAY_SUSPECT;
  tide_gateway_load_of(gateway)->usable = FALSE;
  tide_gateway_show_locked(gateway);
  tide_cond_broadcast(&gateway->gateways->changed);
}

/* Terms of a connection; they do not change while the gateway is up. */
typedef struct ConnectTerms {
  TideWireMode mode;
  const char *cluster; /* NULL: not checked */
} ConnectTerms;

static TideGateway *
reserve_locked(TideGateways *gateways, int index, gboolean for_writer, ConnectTerms *ret_terms)
{
  TideGateway *gateway = &gateways->gateways[index];
  *ret_terms = (ConnectTerms){gateway->mode, gateway->cluster};
  tide_gateway_load_of(gateway)->n_connections += for_writer ? 1 : 0;
  tide_gateway_show_locked(gateway);
  return gateway;
}

/* Chooses a gateway and, for a writer, counts its connection. @old: (nullable): the connection to be replaced, which
 * keeps its count until the new one is open */
static TideGateway *
reserve(TideGateways *gateways, gboolean for_writer, const TideGatewayLink *old, gint64 deadline_us,
        ConnectTerms *ret_terms)
{
  TideGateway *best = NULL;
  TideGatewayLoad *old_load = old != NULL ? tide_gateway_load_of(old->gateway) : NULL;
  tide_mutex_lock(&gateways->lock);
  while (!gateways->stopped) {
    gint64 now_us = tide_now_us();
    if (old != NULL)
      old_load->n_connections--;
    int index = tide_gateway_loads_best(&gateways->loads, for_writer, now_us);
    if (old != NULL) {
      old_load->n_connections++;
      gboolean is_full = old_load->n_connections >= tide_gateway_load_allowed(old_load, now_us);
      index = index == (int)old->gateway->index && is_full ? -1 : index;
    }
    if (index >= 0) {
      best = reserve_locked(gateways, index, for_writer, ret_terms);
      break;
    }
    if (now_us >= deadline_us)
      break;
    /* Wakes up without a signal too: a full gateway may have one connection more by then. */
    gint64 wake_us = deadline_us;
    for (guint32 i = 0; i < gateways->n; i++) {
      const TideGatewayLoad *load = &gateways->loads.loads[i];
      if (load->usable && load->n_allowed >= load->slow_start_limit)
        wake_us = MIN(wake_us, MAX(load->grows_us, now_us + 1));
    }
    tide_cond_wait_until(&gateways->changed, &gateways->lock, wake_us);
  }
  tide_mutex_unlock(&gateways->lock);
  return best;
}

/* A gateway that refuses the connection is handed to its prober at once. (transfer full) (nullable) */
static TideHBaseClient *
connect_to(TideGateway *gateway, ConnectTerms terms, gboolean for_writer)
{
  TideGateways *gateways = gateway->gateways;
  g_autoptr(GError) error = NULL;
  g_autoptr(TideHBaseClient) client = tide_hbase_client_new(gateway->endpoint, terms.mode);
  tide_hbase_client_require_cluster(client, terms.cluster);
  gint64 deadline_us = tide_now_us() + gateways->config->connect_timeout_ms * TIDE_US_PER_MS;
  if (tide_hbase_client_connect(client, deadline_us, &error)) {
    tide_certificate_watch_note(&gateway->certificates, tide_hbase_client_certificate_ends(client));
    return g_steal_pointer(&client);
  }
  tide_mutex_lock(&gateways->lock);
  {
    tide_gateway_load_of(gateway)->n_connections -= for_writer ? 1 : 0;
    suspect_locked(gateway);
    tide_gateway_show_locked(gateway);
  }
  tide_mutex_unlock(&gateways->lock);
  return NULL;
}

static TideGateway *
connect_somewhere(TideGateways *gateways, gboolean for_writer, const TideGatewayLink *old, gint64 deadline_us,
                  TideHBaseClient **ret_client)
{
  ConnectTerms terms;
  TideGateway *gateway;
  do
    gateway = reserve(gateways, for_writer, old, deadline_us, &terms);
  while (gateway != NULL && (*ret_client = connect_to(gateway, terms, for_writer)) == NULL);
  return gateway;
}

TideGateway *
tide_gateways_connect(TideGateways *gateways, gint64 deadline_us, TideHBaseClient **ret_client)
{
  return connect_somewhere(gateways, FALSE, NULL, deadline_us, ret_client);
}

void
tide_gateways_release(TideGateways *gateways, TideGateway *gateway, TideHBaseClient *client, gboolean broke)
{
  tide_hbase_client_free(client);
  if (!broke)
    return;
  tide_mutex_lock(&gateways->lock);
  /* A full gateway closes connections too; then writers have better evidence. */
  if (tide_gateway_load_of(gateway)->n_verified == 0)
    suspect_locked(gateway);
  tide_mutex_unlock(&gateways->lock);
}

/* ---- writers ---- */

static gboolean
open_link(TideGateways *gateways, const TideGatewayLink *old, gint64 deadline_us, TideGatewayLink *ret_link)
{
  TideHBaseClient *client = NULL;
  TideGateway *gateway = connect_somewhere(gateways, TRUE, old, deadline_us, &client);
  if (gateway != NULL)
    *ret_link = (TideGatewayLink){.gateway = gateway, .client = client, .opened_us = tide_now_us()};
  return gateway != NULL;
}

gboolean
tide_gateways_open_link(TideGateways *gateways, gint64 deadline_us, TideGatewayLink *ret_link)
{
  return open_link(gateways, NULL, deadline_us, ret_link);
}

gboolean
tide_gateways_open_instead(TideGateways *gateways, const TideGatewayLink *old, TideGatewayLink *ret_link)
{
  return open_link(gateways, old, tide_now_us(), ret_link);
}

gboolean
tide_gateways_open_elsewhere(TideGateways *gateways, const TideGatewayLink *old, TideGatewayLink *ret_link)
{
  ConnectTerms terms;
  TideGateway *gateway = NULL;
  tide_mutex_lock(&gateways->lock);
  {
    int index = tide_gateway_loads_move_to(&gateways->loads, old->gateway->index, old->opened_us, tide_now_us());
    if (index >= 0)
      gateway = reserve_locked(gateways, index, TRUE, &terms);
  }
  tide_mutex_unlock(&gateways->lock);
  TideHBaseClient *client = gateway != NULL ? connect_to(gateway, terms, TRUE) : NULL;
  if (client != NULL)
    *ret_link = (TideGatewayLink){.gateway = gateway, .client = client, .opened_us = tide_now_us()};
  return client != NULL;
}

static GatewayState
state_of(TideGateways *gateways, const TideGatewayLink *link)
{
  tide_mutex_lock(&gateways->lock);
  GatewayState state = link->gateway->state;
  tide_mutex_unlock(&gateways->lock);
  return state;
}

gboolean
tide_gateways_is_removed(TideGateways *gateways, const TideGatewayLink *link)
{
  return state_of(gateways, link) == GATEWAY_REMOVED;
}

gboolean
tide_gateways_is_up(TideGateways *gateways, const TideGatewayLink *link)
{
  return state_of(gateways, link) == GATEWAY_UP;
}

/* Opens the breaker. Returns what to log, once while it persists. (transfer full) (nullable) */
static char *
open_circuit_locked(TideGateway *gateway, const char *error_text, gint64 now_us)
{
  TideGatewayLoad *load = tide_gateway_load_of(gateway);
  gboolean is_news = gateway->failing == NULL;
  gateway->circuit_open_until_us = tide_gateway_load_open_circuit(load, now_us);
  gateway->state = GATEWAY_CIRCUIT_OPEN;
  tide_counter_inc(gateway->circuit_openings);
  g_free(gateway->last_error);
  gateway->last_error =
      g_strdup_printf("'%s' failed %u calls in a row while others did not; its circuit is open for %" G_GINT64_FORMAT
                      " ms; last error: %s",
                      gateway->endpoint->text, load->failures, load->circuit_open_us / TIDE_US_PER_MS, error_text);
  tide_cond_broadcast(&gateway->gateways->changed);
  if (load->circuit_open_us < TIDE_GATEWAY_LASTING_US)
    return NULL;
  g_free(gateway->failing);
  gateway->failing = g_strdup_printf("'%s' answers probes, but its calls fail while others' do not; last error: %s",
                                     gateway->endpoint->text, error_text);
  return is_news ? g_strdup(gateway->failing) : NULL;
}

static gint64
ping_after_us_locked(const TideGateway *gateway)
{
  gint64 configured_us = gateway->gateways->config->idle_ping_ms * TIDE_US_PER_MS;
  return gateway->ping_after_us > 0 ? MIN(configured_us, gateway->ping_after_us) : configured_us;
}

gint64
tide_gateways_ping_after_us(TideGateways *gateways, const TideGatewayLink *link)
{
  tide_mutex_lock(&gateways->lock);
  gint64 ping_after_us = ping_after_us_locked(link->gateway);
  tide_mutex_unlock(&gateways->lock);
  return ping_after_us;
}

void
tide_gateways_note_idle_loss(TideGateways *gateways, const TideGatewayLink *link, gint64 idle_us)
{
  TideGateway *gateway = link->gateway;
  gint64 ping_after_us = MAX(idle_us / 2, PING_AFTER_MIN_US);
  tide_mutex_lock(&gateways->lock);
  gboolean is_sooner = ping_after_us < ping_after_us_locked(gateway);
  if (is_sooner)
    gateway->ping_after_us = ping_after_us;
  g_free(gateway->last_error); /* until its prober knows more */
  gateway->last_error = g_strdup_printf("a connection to '%s' got no answer after being idle for %" G_GINT64_FORMAT
                                        " s; probing the gateway",
                                        gateway->endpoint->text, idle_us / TIDE_US_PER_S);
  tide_mutex_unlock(&gateways->lock);
  if (is_sooner)
    tide_log_fields(TIDE_LOG_NOTICE, "connection-idle-lost", TIDE_LOG_FIELDS({"GATEWAY", gateway->endpoint->text}),
                    "a connection to gateway '%s' got no answer after being idle for %" G_GINT64_FORMAT
                    " s; idle connections are now pinged after %.1f s",
                    gateway->endpoint->text, idle_us / TIDE_US_PER_S, (double)ping_after_us / TIDE_US_PER_S);
}

void
tide_gateways_note_call(TideGateways *gateways, TideGatewayLink *link, const TideCallMeasure *measure)
{
  gint64 now_us = tide_now_us();
  TideGatewayLoad *load = tide_gateway_load_of(link->gateway);
  gboolean is_first_answer = FALSE, works_again = FALSE;
  g_autofree char *failing = NULL;
  tide_mutex_lock(&gateways->lock);
  {
    guint32 allowed_before = load->n_allowed;
    if (!link->verified && measure->end != TIDE_CALL_END_NO_ANSWER) {
      link->verified = is_first_answer = TRUE;
      load->n_verified++;
    }
    if (tide_gateway_loads_note_call(&gateways->loads, link->gateway->index, measure, now_us) &&
        link->gateway->state != GATEWAY_REMOVED)
      failing = open_circuit_locked(link->gateway, measure->error_text, now_us);
    if (measure->end == TIDE_CALL_END_WRITTEN) {
      (void)tide_rate_add(&link->gateway->written, measure->n_rows, now_us);
      works_again = link->gateway->failing != NULL; /* an acknowledged call is news */
      g_clear_pointer(&link->gateway->failing, g_free);
      /* The call began before the breaker opened: there is no reason to wait. */
      if (link->gateway->state == GATEWAY_CIRCUIT_OPEN) {
        link->gateway->circuit_open_until_us = now_us;
        tide_cond_broadcast(&gateways->changed);
      }
    }
    tide_gateway_show_locked(link->gateway);
    if (load->n_allowed != allowed_before)
      tide_cond_broadcast(&gateways->changed); /* a writer may wait for it; stops after a few calls */
  }
  tide_mutex_unlock(&gateways->lock);
  const TideLogField field = {"GATEWAY", link->gateway->endpoint->text};
  if (failing != NULL)
    tide_log_fields(TIDE_LOG_WARNING, "gateway-down", &field, 1,
                    "gateway unavailable: %s; other gateways write its rows, and it gets a call at least every five "
                    "minutes until it acknowledges one; see the gateway's log",
                    failing);
  if (works_again)
    tide_log_fields(TIDE_LOG_NOTICE, "gateway-up", &field, 1, "gateway '%s' is up: it has acknowledged a call",
                    link->gateway->endpoint->text);
  /* Over HTTPS, the TLS handshake happens with the first call. */
  if (is_first_answer && tide_hbase_client_is_open(link->client))
    tide_certificate_watch_note(&link->gateway->certificates, tide_hbase_client_certificate_ends(link->client));
}

void
tide_gateways_close_link(TideGateways *gateways, TideGatewayLink *link, gboolean broke)
{
  TideGateway *gateway = link->gateway;
  TideGatewayLoad *load = tide_gateway_load_of(gateway);
  gint64 now_us = tide_now_us();
  guint32 n_remaining = 0;
  tide_mutex_lock(&gateways->lock);
  {
    load->n_connections--;
    load->n_verified -= link->verified ? 1 : 0;
    gboolean closed_at_once =
        broke && !link->verified && load->n_verified > 0 && now_us - link->opened_us < CLOSED_AT_ONCE_US;
    if (closed_at_once) {
      tide_gateway_load_closed_at_once(load, now_us);
      tide_counter_inc(gateway->closed_at_once);
      n_remaining = load->n_allowed;
    } else if (broke)
      suspect_locked(gateway);
    tide_gateway_show_locked(gateway);
    if (!broke)
      tide_cond_broadcast(&gateways->changed); /* frees a connection of the limit */
  }
  tide_mutex_unlock(&gateways->lock);
  tide_hbase_client_free(link->client);
  *link = (TideGatewayLink){0};
  guint64 suppressed;
  if (n_remaining == 0 || !tide_log_limit_pass(&gateway->full_limit, now_us, FULL_LOG_INTERVAL_US, &suppressed))
    return;
  g_autofree char *connections = tide_count_of(n_remaining, "connection", NULL);
  tide_log_fields(TIDE_LOG_NOTICE, "gateway-full", TIDE_LOG_FIELDS({"GATEWAY", gateway->endpoint->text}),
                  "gateway '%s' closes new connections at once while others work, so it may be full; using %s for now, "
                  "more as calls succeed%s",
                  gateway->endpoint->text, connections, tide_log_suppressed(suppressed, "events").text);
}
