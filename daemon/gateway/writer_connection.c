#include "gateway/writer_connection.h"

#include "gateway/failure_class.h"
#include "util/backoff.h"
#include "util/clock.h"
#include "util/error.h"

#define PING_TIMEOUT_US (5 * TIDE_US_PER_S)

/* A connection that was idle for less does not count as idle: its last call may still be in flight. */
#define IDLE_US (5 * TIDE_US_PER_S)

/* Number of attempts to replace a connection within its maximum age. */
#define RENEWAL_TRIES 10

static const char *const reason_names[] = {[TIDE_CONNECT_FIRST] = "first",
                                           [TIDE_CONNECT_BROKEN] = "broken",
                                           [TIDE_CONNECT_STALE] = "stale",
                                           [TIDE_CONNECT_MOVED] = "moved",
                                           [TIDE_CONNECT_AGED] = "aged"};
G_STATIC_ASSERT(G_N_ELEMENTS(reason_names) == TIDE_CONNECT_N_REASONS);

void
tide_writer_connection_init(TideWriterConnection *connection, const TideHBaseConfig *config, TideGateways *gateways,
                            TideMetrics *metrics)
{
  *connection = (TideWriterConnection){.config = config, .gateways = gateways};
  tide_mutex_init(&connection->lock);
  for (TideConnectReason reason = TIDE_CONNECT_FIRST; reason < TIDE_CONNECT_N_REASONS; reason++) {
    g_autofree char *label = tide_metrics_label("reason", reason_names[reason]);
    connection->connects[reason] =
        tide_metrics_counter(metrics, "tidemark_hbase_connects_total", "Connections opened by writers", label);
  }
}

void
tide_writer_connection_clear(TideWriterConnection *connection)
{
  tide_mutex_clear(&connection->lock);
}

/* Each connection gets its own maximum age from the upper half of the range, so that they are not all replaced at
 * once. */
static void
adopt(TideWriterConnection *connection, const TideGatewayLink *link)
{
  gint64 max_age_us = connection->config->max_connection_age_ms * TIDE_US_PER_MS;
  connection->link = *link;
  connection->expires_us = link->opened_us + tide_upper_half_us(max_age_us);
  connection->last_used_us = link->opened_us;
  tide_counter_inc(connection->connects[connection->reason]);
}

/* A new connection that is cut off before it carried an answer does not show a restart: the gateway rejected it. */
static void
drop(TideWriterConnection *connection, TideConnectReason reason)
{
  if (connection->link.gateway == NULL)
    return;
  gboolean broke = reason == TIDE_CONNECT_BROKEN || (reason == TIDE_CONNECT_STALE && !connection->link.verified);
  tide_gateways_close_link(connection->gateways, &connection->link, broke);
  connection->reason = reason;
}

gboolean
tide_writer_connection_open(TideWriterConnection *connection, gint64 deadline_us)
{
  TideGatewayLink link;
  gboolean must_move =
      connection->link.gateway != NULL && tide_gateways_is_removed(connection->gateways, &connection->link);
  if (connection->link.gateway != NULL && !must_move && tide_hbase_client_is_ready(connection->link.client))
    return TRUE;
  drop(connection, must_move ? TIDE_CONNECT_MOVED : TIDE_CONNECT_STALE);
  if (!tide_gateways_open_link(connection->gateways, deadline_us, &link))
    return FALSE;
  adopt(connection, &link);
  return TRUE;
}

static void
set_active(TideWriterConnection *connection, TideHBaseClient *client)
{
  tide_mutex_lock(&connection->lock);
  connection->active = client;
  if (client != NULL && connection->cancelled)
    tide_hbase_client_cancel(client);
  tide_mutex_unlock(&connection->lock);
}

TideHBaseClient *
tide_writer_connection_begin(TideWriterConnection *connection)
{
  TideGatewayLink fresh;
  /* The connection was cut while no call was in flight, by a restart or by the gateway's limit for idle connections. If
   * no other one is available at once, this one stays, and the client reconnects. */
  if (!tide_hbase_client_is_ready(connection->link.client) &&
      tide_gateways_open_link(connection->gateways, tide_now_us(), &fresh)) {
    drop(connection, TIDE_CONNECT_STALE);
    adopt(connection, &fresh);
  }
  set_active(connection, connection->link.client);
  return connection->link.client;
}

void
tide_writer_connection_end(TideWriterConnection *connection)
{
  set_active(connection, NULL);
}

const char *
tide_writer_connection_gateway_name(const TideWriterConnection *connection)
{
  return tide_gateway_name(connection->link.gateway);
}

/* Handles the end in @error of a call or ping over a connection last used at @used_us. */
static void
note_idle_loss(TideWriterConnection *connection, gint64 used_us, gint64 start_us, GError *error)
{
  gint64 idle_us = start_us - used_us;
  gboolean is_lost = g_error_matches(error, TIDE_ERROR, TIDE_ERROR_TIMEOUT) ||
                     g_error_matches(error, TIDE_ERROR, TIDE_ERROR_CONNECTION_LOST);
  if (!is_lost || idle_us < IDLE_US)
    return;
  char *text = g_strdup_printf("%s, after the connection was idle for %" G_GINT64_FORMAT " s", error->message,
                               idle_us / TIDE_US_PER_S);
  g_free(error->message);
  error->message = text;
  tide_gateways_note_idle_loss(connection->gateways, &connection->link, idle_us);
}

void
tide_writer_connection_note_call(TideWriterConnection *connection, guint32 n_rows, gint64 start_us, GError *error)
{
  note_idle_loss(connection, connection->last_used_us, start_us, error);
  connection->last_used_us = tide_now_us();
  connection->is_refused_for_size = g_error_matches(error, TIDE_ERROR, TIDE_ERROR_TOO_BIG);
  if (tide_error_is_cancelled(error))
    return;
  TideCallEnd end = TIDE_CALL_END_WRITTEN;
  if (tide_error_outcome_unknown(error) || g_error_matches(error, TIDE_ERROR, TIDE_ERROR_CONNECT))
    end = TIDE_CALL_END_NO_ANSWER;
  else if (error != NULL) {
    TideFailure failure = tide_failure_of(error);
    gboolean is_bad_row = failure.outcome == TIDE_OUTCOME_POISON && (failure.is_certain || failure.is_for_size);
    end = is_bad_row ? TIDE_CALL_END_BAD_ROW : TIDE_CALL_END_REFUSED;
  }
  TideCallMeasure measure = {.end = end,
                             .error_text = error != NULL ? error->message : NULL,
                             .n_rows = n_rows,
                             .duration_us = connection->last_used_us - start_us};
  tide_gateways_note_call(connection->gateways, &connection->link, &measure);
}

/* The old connection is closed once the new one is open, and stays in use if none can be opened, as while a KDC hangs.
 * It is closed first only if it uses the last connection of a gateway that is up. */
static void
renew(TideWriterConnection *connection)
{
  TideGatewayLink fresh;
  if (tide_gateways_open_instead(connection->gateways, &connection->link, &fresh)) {
    drop(connection, TIDE_CONNECT_AGED);
    adopt(connection, &fresh);
  } else if (tide_gateways_is_up(connection->gateways, &connection->link)) {
    drop(connection, TIDE_CONNECT_AGED);
  } else {
    connection->expires_us = tide_now_us() + connection->config->max_connection_age_ms * TIDE_US_PER_MS / RENEWAL_TRIES;
  }
}

void
tide_writer_connection_settle(TideWriterConnection *connection)
{
  TideGatewayLink fresh;
  if (!tide_hbase_client_is_open(connection->link.client))
    drop(connection, connection->is_refused_for_size ? TIDE_CONNECT_STALE : TIDE_CONNECT_BROKEN);
  else if (tide_now_us() >= connection->expires_us)
    renew(connection);
  else if (tide_gateways_open_elsewhere(connection->gateways, &connection->link, &fresh)) {
    drop(connection, TIDE_CONNECT_MOVED); /* otherwise the writer stays and uses its current connection */
    adopt(connection, &fresh);
  }
}

/* A failed ping affects no rows, since no call was in flight. */
void
tide_writer_connection_keep_alive(TideWriterConnection *connection)
{
  gint64 now_us = tide_now_us();
  if (now_us >= connection->expires_us) {
    renew(connection);
    return;
  }
  if (now_us - connection->last_used_us < tide_gateways_ping_after_us(connection->gateways, &connection->link))
    return;
  g_autoptr(GError) error = NULL;
  gint64 timeout_us = MIN(PING_TIMEOUT_US, connection->config->call_timeout_ms * TIDE_US_PER_MS);
  TideHBaseClient *client = tide_writer_connection_begin(connection);
  gboolean alive = tide_hbase_client_ping(client, tide_now_us() + timeout_us, &error);
  tide_writer_connection_end(connection);
  if (alive) {
    connection->last_used_us = tide_now_us();
    return;
  }
  note_idle_loss(connection, connection->last_used_us, now_us, error);
  drop(connection, TIDE_CONNECT_BROKEN);
}

void
tide_writer_connection_close(TideWriterConnection *connection)
{
  if (connection->link.gateway != NULL)
    tide_gateways_close_link(connection->gateways, &connection->link, FALSE);
}

void
tide_writer_connection_cancel(TideWriterConnection *connection)
{
  tide_mutex_lock(&connection->lock);
  connection->cancelled = TRUE;
  if (connection->active != NULL)
    tide_hbase_client_cancel(connection->active);
  tide_mutex_unlock(&connection->lock);
}
