#include "flow/writer_connection.h"

#include "util/clock.h"

#define PING_TIMEOUT_US (5 * TIDE_US_PER_S)

void
tide_writer_connection_init(TideWriterConnection *connection, const TideHBaseConfig *config, TideGateways *gateways,
                            TideMetrics *metrics)
{
  *connection = (TideWriterConnection){.config = config, .gateways = gateways};
  tide_mutex_init(&connection->lock);
  connection->connects = tide_metrics_counter(metrics, "tidemark_hbase_connects_total", "Connections opened", NULL);
}

void
tide_writer_connection_clear(TideWriterConnection *connection)
{
  tide_mutex_clear(&connection->lock);
}

gboolean
tide_writer_connection_open(TideWriterConnection *connection, gint64 deadline_us)
{
  if (connection->client != NULL)
    return TRUE;
  connection->gateway = tide_gateways_connect(connection->gateways, deadline_us, &connection->client);
  if (connection->gateway == NULL)
    return FALSE;
  tide_counter_inc(connection->connects);
  connection->last_used_us = tide_now_us();
  return TRUE;
}

static void
give_up(TideWriterConnection *connection, gboolean broke)
{
  if (connection->gateway == NULL)
    return;
  tide_gateways_release(connection->gateways, connection->gateway, g_steal_pointer(&connection->client), broke);
  connection->gateway = NULL;
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
  set_active(connection, connection->client);
  return connection->client;
}

void
tide_writer_connection_end(TideWriterConnection *connection)
{
  set_active(connection, NULL);
}

void
tide_writer_connection_note_call(TideWriterConnection *connection, gint64 end_us)
{
  connection->last_used_us = end_us;
}

void
tide_writer_connection_settle(TideWriterConnection *connection)
{
  if (!tide_hbase_client_is_open(connection->client))
    give_up(connection, TRUE);
  else if (tide_gateways_should_move(connection->gateways, connection->gateway))
    give_up(connection, FALSE);
}

/* A failed ping is no news: nothing was on its way. */
void
tide_writer_connection_keep_alive(TideWriterConnection *connection)
{
  gint64 now_us = tide_now_us();
  if (now_us - connection->last_used_us < connection->config->idle_ping_ms * TIDE_US_PER_MS)
    return;
  g_autoptr(GError) error = NULL;
  TideHBaseClient *client = tide_writer_connection_begin(connection);
  gboolean alive = tide_hbase_client_ping(client, now_us + PING_TIMEOUT_US, &error);
  tide_writer_connection_end(connection);
  if (alive)
    connection->last_used_us = tide_now_us();
  else
    give_up(connection, TRUE);
}

void
tide_writer_connection_close(TideWriterConnection *connection)
{
  give_up(connection, FALSE);
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
