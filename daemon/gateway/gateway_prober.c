/* The thread that probes one gateway while it is not known to be up, and reports persistent failures. */
#include "gateway/cluster_memory.h"
#include "gateway/gateways_private.h"

#include "thrift/client/connection.h"
#include "util/backoff.h"
#include "util/clock.h"
#include "util/error.h"

/* A gateway on the same network answers a probe within milliseconds; a wrong guess of its mode costs this time. */
#define PROBE_TIMEOUT_MS 1000

/* Longer than the first probe of a gateway takes in all modes. */
#define ALL_ASKED_US (10 * TIDE_US_PER_S)

/* Pause between probes while a gateway is down: like a writer's backoff, but short enough to notice its return. */
#define PROBE_PAUSE_MIN_US (100 * TIDE_US_PER_MS)
#define PROBE_PAUSE_MAX_US (5 * TIDE_US_PER_S)

/* The last error of a gateway is logged when it changes, otherwise at this interval. */
#define ERROR_LOG_INTERVAL_US (60 * TIDE_US_PER_S)

/* A restarted gateway returns within this time (its JVM needs 5 to 15 s). Until then it causes no warning, unless no
 * other gateway is up. */
#define RESTART_US (30 * TIDE_US_PER_S)
#define RESTART_ALONE_US (5 * TIDE_US_PER_S)

static void
set_last_error_locked(TideGateway *gateway, const char *text)
{
  g_free(gateway->last_error);
  gateway->last_error = g_strdup(text);
}

static gboolean
were_all_asked_locked(const TideGateways *gateways)
{
  for (guint32 i = 0; i < gateways->n; i++)
    if (!gateways->gateways[i].first_probe.has_ended && gateways->gateways[i].state != GATEWAY_REMOVED)
      return FALSE;
  return TRUE;
}

static void
note_asked_locked(TideGateway *gateway)
{
  gateway->first_probe.has_ended = TRUE;
  tide_cond_broadcast(&gateway->gateways->changed);
}

/* Whether the change from @remembered may be accepted. Waits until each gateway was asked once; all that reported a
 * cluster must have reported the same. @ret_disagreement: (transfer full): the difference */
static gboolean
agree_on_change_locked(TideGateway *gateway, const char *cluster, const char *remembered, char **ret_disagreement)
{
  TideGateways *gateways = gateway->gateways;
  gint64 deadline_us = tide_now_us() + ALL_ASKED_US;
  gateway->first_probe.reported_cluster = g_strdup(cluster);
  note_asked_locked(gateway);
  while (!gateways->stopped && !were_all_asked_locked(gateways) && tide_now_us() < deadline_us)
    tide_cond_wait_until(&gateways->changed, &gateways->lock, deadline_us);
  for (guint32 i = 0; i < gateways->n && gateways->cluster == NULL; i++) {
    const TideGateway *other = &gateways->gateways[i];
    if (other->first_probe.reported_cluster == NULL || strcmp(other->first_probe.reported_cluster, cluster) == 0)
      continue;
    *ret_disagreement = g_strdup_printf(
        "'%s' belongs to HBase cluster %s, and '%s' to %s; only gateways of %s get rows, as before",
        gateway->endpoint->text, cluster, other->endpoint->text, other->first_probe.reported_cluster, remembered);
    return FALSE;
  }
  return !gateways->stopped; /* a stop accepts nothing */
}

/* The first reported cluster becomes the daemon's, unless this host remembers another. @ret_is_ours: whether @cluster
 * is the daemon's. Returns FALSE with @error if the remembered cluster cannot be read. */
static gboolean
take_cluster(TideGateway *gateway, const char *cluster, gboolean *ret_is_ours, GError **error)
{
  TideGateways *gateways = gateway->gateways;
  g_autofree char *remembered = NULL;
  tide_mutex_lock(&gateways->lock);
  gboolean is_known = gateways->cluster != NULL;
  tide_mutex_unlock(&gateways->lock);
  if (!is_known && !tide_cluster_memory_read(&remembered, error))
    return FALSE;
  gboolean is_changed = remembered != NULL && strcmp(remembered, cluster) != 0;
  gboolean is_taken = FALSE;
  g_autofree char *disagreement = NULL;
  tide_mutex_lock(&gateways->lock);
  gboolean is_accepted = is_changed && gateways->accepts_cluster && gateways->cluster == NULL &&
                         agree_on_change_locked(gateway, cluster, remembered, &disagreement);
  if (gateways->cluster == NULL) {
    is_taken = remembered == NULL || is_accepted;
    gateways->cluster = g_strdup(is_taken ? cluster : remembered);
  }
  *ret_is_ours = strcmp(gateways->cluster, cluster) == 0;
  tide_mutex_unlock(&gateways->lock);
  if (disagreement != NULL)
    tide_log(TIDE_LOG_CRIT, "cluster-change-refused",
             "--accept-cluster-change rejected, because the gateways differ: %s; leave only gateways of the intended "
             "cluster in 'hbase.gateways', and start again",
             disagreement);
  if (!is_taken)
    return TRUE;
  if (is_changed)
    tide_log(TIDE_LOG_WARNING, "cluster-changed",
             "the gateways belong to HBase cluster %s instead of %s, which was accepted; rows written before are "
             "missing unless they were moved",
             cluster, remembered);
  g_autoptr(GError) failure = NULL;
  if (!tide_cluster_memory_write(cluster, &failure))
    tide_log(TIDE_LOG_WARNING, "cluster-not-recorded",
             "%s; the next start accepts any cluster, and tries to record it again", failure->message);
  return TRUE;
}

/* The result of a probe. */
typedef struct Finding {
  TideWireMode mode;
  gboolean reports_cluster;
  char *mismatch; /* owned: it belongs to another cluster; NULL: it does not */
} Finding;

/* Adopts the result of a probe; sets an error if this gateway cannot be used together with the others. */
static void
adopt_locked(TideGateway *gateway, const Finding *finding)
{
  TideGateways *gateways = gateway->gateways;
  TideWireMode mode = finding->mode;
  if (finding->mismatch != NULL) {
    set_last_error_locked(gateway, finding->mismatch);
    gateway->state = GATEWAY_REFUSED;
    return;
  }
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
  gateway->cluster = finding->reports_cluster ? gateways->cluster : NULL;
  tide_gateway_load_came_back(tide_gateway_load_of(gateway),
                              gateway->probes.was_up && gateway->state != GATEWAY_SUSPECT);
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

static void
log_last_error(TideGateway *gateway, const char *last_error, TideLogLevel level, gboolean is_new)
{
  gint64 now_us = tide_now_us();
  gboolean is_worse = gateway->probes.error_logged_us == 0 || level < gateway->probes.error_logged_level;
  if (!is_new && !is_worse && now_us - gateway->probes.error_logged_us < ERROR_LOG_INTERVAL_US)
    return;
  gateway->probes.error_logged_us = now_us;
  gateway->probes.error_logged_level = level;
  if (level == TIDE_LOG_CRIT) {
    tide_log_fields(TIDE_LOG_CRIT, "gateway-refused", TIDE_LOG_FIELDS({"GATEWAY", gateway->endpoint->text}),
                    "gateway refused: %s; it gets no rows", last_error);
    return;
  }
  tide_log_fields(level, "gateway-down", TIDE_LOG_FIELDS({"GATEWAY", gateway->endpoint->text}),
                  "gateway unavailable: %s; retrying", last_error);
}

/* The result of a probe as others see it; the lock is taken only for that. */
typedef struct ProbeResult {
  GatewayState before; /* GATEWAY_REMOVED: it is no longer used */
  gboolean is_new;     /* the last error is new */
  gboolean others_up;
  char *last_error; /* owned */
} ProbeResult;

static ProbeResult
take_result(TideGateway *gateway, const Finding *finding, const GError *error)
{
  ProbeResult result;
  tide_mutex_lock(&gateway->gateways->lock);
  {
    g_autofree char *before = g_strdup(gateway->last_error);
    result.before = gateway->state;
    note_asked_locked(gateway);
    if (gateway->state == GATEWAY_REMOVED)
      g_clear_pointer(&gateway->last_error, g_free);
    else if (finding != NULL)
      adopt_locked(gateway, finding);
    else {
      gateway->state = GATEWAY_DOWN;
      set_last_error_locked(gateway, error->message);
      if (!g_error_matches(error, TIDE_ERROR, TIDE_ERROR_CONNECT))
        gateway->mode_known = FALSE; /* it may return in another mode */
    }
    tide_gateway_show_locked(gateway);
    result.last_error = g_strdup(gateway->last_error);
    result.is_new = g_strcmp0(before, result.last_error) != 0;
    result.others_up = others_are_up_locked(gateway);
  }
  tide_mutex_unlock(&gateway->gateways->lock);
  return result;
}

/* Asks the gateway, without the lock. Returns FALSE with @error if it cannot be used. */
static gboolean
ask(TideGateway *gateway, TideProbeRequest request, Finding *ret_finding, GError **error)
{
  TideGateways *gateways = gateway->gateways;
  g_auto(TideGatewayFacts) facts = {0};
  gboolean is_ours = TRUE;
  if (!tide_gateway_probe(gateway->endpoint, request, PROBE_TIMEOUT_MS, gateways->cancellable, &ret_finding->mode,
                          &facts, error))
    return FALSE;
  if (facts.cluster == NULL && !gateway->probes.is_unreported) { /* no comparison is possible */
    gateway->probes.is_unreported = TRUE;
    tide_log_fields(TIDE_LOG_INFO, "cluster-unknown", TIDE_LOG_FIELDS({"GATEWAY", gateway->endpoint->text}),
                    "gateway '%s' reports no HBase cluster id, so tidemark cannot check that it belongs to the same "
                    "cluster as the others",
                    gateway->endpoint->text);
  }
  if (facts.cluster != NULL && !take_cluster(gateway, facts.cluster, &is_ours, error))
    return FALSE;
  ret_finding->reports_cluster = facts.cluster != NULL;
  if (!is_ours) /* the daemon's cluster is set by now, and does not change */
    ret_finding->mismatch = tide_cluster_mismatch(gateway->endpoint->text, facts.cluster, gateways->cluster);
  return TRUE;
}

/* Makes one probe, without the lock. */
static void
probe(TideGateway *gateway)
{
  TideGateways *gateways = gateway->gateways;
  TideProbeRequest request = {gateways->config->framing, gateways->config->protocol};
  tide_mutex_lock(&gateways->lock);
  if (gateway->mode_known) {
    /* It answered before: that mode is tried first, so that its return is noticed at once. */
    request = (TideProbeRequest){(int)gateway->mode.framing, (int)gateway->mode.protocol};
  }
  tide_mutex_unlock(&gateways->lock);

  Finding finding = {0};
  g_autoptr(GError) error = NULL;
  gboolean found = ask(gateway, request, &finding, &error);
  if (tide_error_is_cancelled(error))
    return;
  ProbeResult result = take_result(gateway, found ? &finding : NULL, error);
  gboolean is_refused = finding.mismatch != NULL;
  g_free(finding.mismatch);

  if (result.before == GATEWAY_REMOVED)
    return;
  if (result.last_error == NULL) {
    g_autofree char *outage = gateway->probes.down_since_us == 0
                                  ? g_strdup("")
                                  : g_strdup_printf(", after %" G_GINT64_FORMAT " s",
                                                    (tide_now_us() - gateway->probes.down_since_us) / TIDE_US_PER_S);
    /* For a gateway whose calls failed, not its probes, only an acknowledged call is news. */
    gboolean was_reported = result.before != GATEWAY_SUSPECT && result.before != GATEWAY_CIRCUIT_OPEN;
    if (was_reported || gateway->probes.error_logged_us != 0)
      tide_log_fields(TIDE_LOG_NOTICE, "gateway-up", TIDE_LOG_FIELDS({"GATEWAY", gateway->endpoint->text}),
                      "gateway '%s' is up: %s, %s%s", gateway->endpoint->text,
                      tide_message_layer_of(gateway->endpoint, finding.mode.framing)->name,
                      tide_wire_protocol_name(finding.mode.protocol), outage);
    gateway->probes.was_up = TRUE;
    gateway->probes.down_since_us = gateway->probes.error_logged_us = 0;
    return;
  }
  gint64 now_us = tide_now_us();
  if (gateway->probes.down_since_us == 0)
    gateway->probes.down_since_us = now_us;
  gint64 tolerance_us = result.others_up ? RESTART_US : RESTART_ALONE_US;
  gboolean may_be_restarting = gateway->probes.was_up && (g_error_matches(error, TIDE_ERROR, TIDE_ERROR_CONNECT) ||
                                                          g_error_matches(error, TIDE_ERROR, TIDE_ERROR_TIMEOUT));
  gboolean may_pass = may_be_restarting && now_us - gateway->probes.down_since_us < tolerance_us;
  TideLogLevel level = is_refused ? TIDE_LOG_CRIT : may_pass ? TIDE_LOG_NOTICE : TIDE_LOG_WARNING;
  log_last_error(gateway, result.last_error, level, result.is_new);
  g_free(result.last_error);
}

/* Returns FALSE if stopped. */
static gboolean
wait_until_due(TideGateway *gateway, guint32 *n_probes, gint64 not_before_us)
{
  TideGateways *gateways = gateway->gateways;
  tide_mutex_lock(&gateways->lock);
  while (!gateways->stopped) {
    gint64 due_us = not_before_us;
    if (gateway->state == GATEWAY_CIRCUIT_OPEN &&
        others_are_up_locked(gateway)) /* the last gateway's circuit does not open */
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
  guint32 n_probes = 0; /* probes in a row */
  gint64 not_before_us = 0;
  while (wait_until_due(gateway, &n_probes, not_before_us)) {
    probe(gateway);
    not_before_us = tide_now_us() + tide_backoff_us(++n_probes, PROBE_PAUSE_MIN_US, PROBE_PAUSE_MAX_US);
  }
}
