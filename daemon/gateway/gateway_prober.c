/* The thread that probes one gateway while it is not known to be up, and says so when that lasts. */
#include "gateway/gateways_private.h"

#include "thrift/client/message_layer.h"
#include "util/backoff.h"
#include "util/clock.h"
#include "util/error.h"

/* A gateway on the same network answers a probe in milliseconds; a guess that is wrong costs this long. */
#define PROBE_TIMEOUT_MS 1000

/* While a gateway is down: as a writer's backoff, but short enough that its return is noticed. */
#define PROBE_PAUSE_MIN_US (100 * TIDE_US_PER_MS)
#define PROBE_PAUSE_MAX_US (5 * TIDE_US_PER_S)

/* The same gateway's last error is logged when it changes, else this often. */
#define ERROR_LOG_INTERVAL_US (60 * TIDE_US_PER_S)

/* A gateway that is restarted is back within so long (its JVM needs 5 to 15 s); until then it is no warning, but while
 * no other is up. */
#define RESTART_US (30 * TIDE_US_PER_S)
#define RESTART_ALONE_US (5 * TIDE_US_PER_S)

static void
set_last_error_locked(TideGateway *gateway, const char *text)
{
  g_free(gateway->last_error);
  gateway->last_error = g_strdup(text);
}

/* Takes what a probe found; the error when this gateway cannot be used beside the others. */
static void
adopt_mode_locked(TideGateway *gateway, TideWireMode mode)
{
  TideGateways *gateways = gateway->gateways;
  if (gateways->protocol < 0)
    gateways->protocol = (int)mode.protocol;
  if ((int)mode.protocol != gateways->protocol) {
    g_autofree char *text = g_strdup_printf("'%s' speaks the %s protocol while %s is in use: configure all gateways "
                                            "alike, and restart to change the protocol of all",
                                            gateway->endpoint->text, tide_wire_protocol_name(mode.protocol),
                                            tide_wire_protocol_name((TideWireProtocol)gateways->protocol));
    set_last_error_locked(gateway, text);
    gateway->state = GATEWAY_DOWN;
    return;
  }
  gateway->mode = mode;
  gateway->mode_known = TRUE;
  tide_gateway_load_came_back(tide_gateway_load_of(gateway), gateway->was_up && gateway->state != GATEWAY_SUSPECT);
  gateway->state = GATEWAY_UP;
  g_clear_pointer(&gateway->last_error, g_free);
  tide_cond_broadcast(&gateways->changed);
}

static gboolean
others_are_up_locked(const TideGateway *gateway)
{
  const TideGateways *gateways = gateway->gateways;
  for (guint32 i = 0; i < gateways->n; i++)
    if (i != gateway->index && gateways->gateways[i].state == GATEWAY_UP)
      return TRUE;
  return FALSE;
}

/* TRUE for what a restart looks like from here. */
static gboolean
may_be_restarting(const TideGateway *gateway, const GError *error)
{
  return gateway->was_up && (g_error_matches(error, TIDE_ERROR, TIDE_ERROR_CONNECT) ||
                             g_error_matches(error, TIDE_ERROR, TIDE_ERROR_TIMEOUT));
}

static void
log_last_error(TideGateway *gateway, const char *last_error, TideLogLevel level, gboolean is_new)
{
  gint64 now_us = tide_now_us();
  gboolean is_worse = gateway->error_logged_us == 0 || level < gateway->error_logged_level;
  if (!is_new && !is_worse && now_us - gateway->error_logged_us < ERROR_LOG_INTERVAL_US)
    return;
  gateway->error_logged_us = now_us;
  gateway->error_logged_level = level;
  tide_log_fields(level, "gateway-down", TIDE_LOG_FIELDS({"GATEWAY", gateway->endpoint->text}),
                  "gateway not usable: %s; it is tried again until it is", last_error);
}

/* What a probe found, with the lock taken only for what others see. */
typedef struct ProbeResult {
  GatewayState before; /* GATEWAY_REMOVED: it is nothing to us any more */
  gboolean is_new;     /* the last error */
  gboolean others_up;
  char *last_error; /* owned */
} ProbeResult;

static ProbeResult
take_result(TideGateway *gateway, const TideWireMode *mode, const GError *error)
{
  ProbeResult result;
  tide_mutex_lock(&gateway->gateways->lock);
  {
    g_autofree char *before = g_strdup(gateway->last_error);
    result.before = gateway->state;
    if (gateway->state == GATEWAY_REMOVED)
      g_clear_pointer(&gateway->last_error, g_free);
    else if (mode != NULL)
      adopt_mode_locked(gateway, *mode);
    else {
      gateway->state = GATEWAY_DOWN;
      set_last_error_locked(gateway, error->message);
      if (!g_error_matches(error, TIDE_ERROR, TIDE_ERROR_CONNECT))
        gateway->mode_known = FALSE; /* it may have come back in another mode */
    }
    tide_gateway_show_locked(gateway);
    result.last_error = g_strdup(gateway->last_error);
    result.is_new = g_strcmp0(before, result.last_error) != 0;
    result.others_up = others_are_up_locked(gateway);
  }
  tide_mutex_unlock(&gateway->gateways->lock);
  return result;
}

/* One probe, without the lock. */
static void
probe(TideGateway *gateway)
{
  TideGateways *gateways = gateway->gateways;
  TideProbeRequest request = {gateways->config->framing, gateways->config->protocol};
  tide_mutex_lock(&gateways->lock);
  if (gateway->mode_known) {
    /* It answered before: ask in that mode first, so that its return is noticed at once. */
    request = (TideProbeRequest){(int)gateway->mode.framing, (int)gateway->mode.protocol};
  }
  tide_mutex_unlock(&gateways->lock);

  TideWireMode mode;
  g_autoptr(GError) error = NULL;
  gboolean found =
      tide_gateway_probe(gateway->endpoint, request, PROBE_TIMEOUT_MS, gateways->cancellable, &mode, NULL, &error);
  if (tide_error_is_cancelled(error))
    return;
  ProbeResult result = take_result(gateway, found ? &mode : NULL, error);

  if (result.before == GATEWAY_REMOVED)
    return;
  if (result.last_error == NULL) {
    g_autofree char *outage = gateway->down_since_us == 0
                                  ? g_strdup("")
                                  : g_strdup_printf(", after %" G_GINT64_FORMAT " s",
                                                    (tide_now_us() - gateway->down_since_us) / TIDE_US_PER_S);
    if (result.before != GATEWAY_SUSPECT || gateway->error_logged_us != 0)
      tide_log_fields(TIDE_LOG_NOTICE, "gateway-up", TIDE_LOG_FIELDS({"GATEWAY", gateway->endpoint->text}),
                      "gateway '%s' is up: %s, %s%s", gateway->endpoint->text,
                      tide_message_layer_of(gateway->endpoint, mode.framing)->name,
                      tide_wire_protocol_name(mode.protocol), outage);
    gateway->was_up = TRUE;
    gateway->down_since_us = gateway->error_logged_us = 0;
    return;
  }
  gint64 now_us = tide_now_us();
  if (gateway->down_since_us == 0)
    gateway->down_since_us = now_us;
  gint64 tolerance_us = result.others_up ? RESTART_US : RESTART_ALONE_US;
  gboolean may_pass = may_be_restarting(gateway, error) && now_us - gateway->down_since_us < tolerance_us;
  log_last_error(gateway, result.last_error, may_pass ? TIDE_LOG_NOTICE : TIDE_LOG_WARNING, result.is_new);
  g_free(result.last_error);
}

/* Returns: FALSE when stopped. */
static gboolean
wait_until_due(TideGateway *gateway, guint32 *n_probes, gint64 not_before_us)
{
  TideGateways *gateways = gateway->gateways;
  tide_mutex_lock(&gateways->lock);
  while (!gateways->stopped) {
    gint64 due_us = not_before_us;
    if (gateway->state == GATEWAY_CIRCUIT_OPEN &&
        others_are_up_locked(gateway)) /* the circuit of the last one does not open */
      due_us = MAX(due_us, gateway->circuit_open_until_us);
    if (gateway->state == GATEWAY_UP || gateway->state == GATEWAY_REMOVED) {
      *n_probes = 0;
      tide_cond_wait(&gateways->changed, &gateways->lock);
    } else if (tide_now_us() < due_us)
      tide_cond_wait_until(&gateways->changed, &gateways->lock, due_us);
    else
      break;
  }
  gboolean due = !gateways->stopped;
  tide_mutex_unlock(&gateways->lock);
  return due;
}

void
tide_gateway_run_prober(gpointer data)
{
  TideGateway *gateway = data;
  guint32 n_probes = 0; /* in a row */
  gint64 not_before_us = 0;
  while (wait_until_due(gateway, &n_probes, not_before_us)) {
    probe(gateway);
    not_before_us = tide_now_us() + tide_backoff_us(++n_probes, PROBE_PAUSE_MIN_US, PROBE_PAUSE_MAX_US);
  }
}
