#include "commands/read/gateway_session.h"

#include "commands/cli/progress.h"
#include "gateway/cluster_memory.h"
#include "model/table/dated_table.h"
#include "util/clock.h"
#include "util/error.h"

struct TideGatewaySession {
  const TideConfig *config; /* borrowed */
  TideGatewayPreference preference;
  guint first;             /* index of the gateway to try first */
  TideHBaseClient *client; /* owned; NULL before the first success */
  TideWireMode mode;
  char *cluster; /* owned: the cluster that every gateway must belong to; NULL until one reports it */
};

gboolean
tide_gateway_session_probe(const TideConfig *config, const TideEndpoint *endpoint, TideWireMode *ret_mode,
                           TideGatewayFacts *ret_facts, GError **error)
{
  TideProbeRequest preference = {.framing = config->hbase.framing, .protocol = config->hbase.protocol};
  return tide_gateway_probe(endpoint, preference, TIDE_GATEWAY_PROBE_TIMEOUT_MS, NULL, ret_mode, ret_facts, error);
}

static TideHBaseClient *
connect_gateway(TideGatewaySession *session, const TideEndpoint *endpoint, TideWireMode *ret_mode, GError **error)
{
  const TideConfig *config = session->config;
  TideWireMode mode;
  g_auto(TideGatewayFacts) facts = {0};
  if (!tide_gateway_session_probe(config, endpoint, &mode, &facts, error))
    return NULL;
  if (session->cluster == NULL)
    session->cluster = g_strdup(facts.cluster);
  if (facts.cluster != NULL && strcmp(facts.cluster, session->cluster) != 0) {
    g_autofree char *mismatch = tide_cluster_mismatch(endpoint->text, facts.cluster, session->cluster);
    tide_fail(error, TIDE_ERROR_WRONG_SERVICE, "%s", mismatch);
    return NULL;
  }
  g_autoptr(TideHBaseClient) client = tide_hbase_client_new(endpoint, mode);
  tide_hbase_client_require_cluster(client, facts.cluster);
  gint64 deadline_us = tide_now_us() + config->hbase.connect_timeout_ms * TIDE_US_PER_MS;
  if (!tide_hbase_client_connect(client, deadline_us, error))
    return NULL;
  *ret_mode = mode;
  return g_steal_pointer(&client);
}

/* Replaces the session's connection. On failure the old, closed one stays. */
static gboolean
open_connection(TideGatewaySession *session, GError **error)
{
  const GPtrArray *gateways = session->config->hbase.gateways;
  g_autoptr(GString) text = g_string_new(NULL); /* the errors, gateway by gateway */
  guint n_failed = 0, n_wrong_service = 0;
  g_autoptr(TideHBaseClient) chosen = NULL;
  gboolean is_preferred = FALSE;

  for (guint i = 0; i < gateways->len && !is_preferred; i++) {
    const TideEndpoint *endpoint = gateways->pdata[(session->first + i) % gateways->len];
    g_autoptr(GError) local_error = NULL;
    TideWireMode mode;
    g_autoptr(TideHBaseClient) client = connect_gateway(session, endpoint, &mode, &local_error);
    if (client == NULL) {
      /* The probe's texts mostly name their gateway; otherwise it is added here. */
      gboolean is_named = strstr(local_error->message, endpoint->text) != NULL;
      g_string_append_printf(text, "%s%s%s%s%s", n_failed++ > 0 ? "\n  " : "", is_named ? "" : "'",
                             is_named ? "" : endpoint->text, is_named ? "" : "': ", local_error->message);
      n_wrong_service += g_error_matches(local_error, TIDE_ERROR, TIDE_ERROR_WRONG_SERVICE) ? 1 : 0;
      continue;
    }
    is_preferred = session->preference == TIDE_GATEWAY_ANY || mode.framing != TIDE_FRAMING_FRAMED;
    if (chosen != NULL && !is_preferred)
      continue;
    tide_hbase_client_free(chosen);
    chosen = g_steal_pointer(&client);
    session->mode = mode;
  }
  if (chosen != NULL) {
    tide_hbase_client_free(session->client);
    session->client = g_steal_pointer(&chosen);
    return TRUE;
  }
  TideErrorCode code = n_wrong_service == n_failed ? TIDE_ERROR_WRONG_SERVICE : TIDE_ERROR_UNAVAILABLE;
  if (n_failed == 1)
    return tide_fail(error, code, "no gateway is usable: %s", text->str);
  return tide_fail(error, code, "none of the %u gateways is usable:\n  %s", n_failed, text->str);
}

TideGatewaySession *
tide_gateway_session_open(const TideConfig *config, TideGatewayPreference preference, GError **error)
{
  g_autoptr(TideGatewaySession) session = tide_gateway_session_new(config, 0, NULL);
  session->preference = preference;
  tide_progress_step("asking gateway '%s'", ((const TideEndpoint *)config->hbase.gateways->pdata[0])->text);
  gboolean ok = tide_cluster_memory_read(&session->cluster, error) && open_connection(session, error);
  tide_progress_step_end();
  return ok ? g_steal_pointer(&session) : NULL;
}

TideGatewaySession *
tide_gateway_session_new(const TideConfig *config, guint first, const char *cluster)
{
  TideGatewaySession *session = g_new0(TideGatewaySession, 1);
  session->config = config;
  session->first = first;
  session->cluster = g_strdup(cluster);
  return session;
}

void
tide_gateway_session_free(TideGatewaySession *session)
{
  if (session == NULL)
    return;
  tide_hbase_client_free(session->client);
  g_free(session->cluster);
  g_free(session);
}

TideHBaseClient *
tide_gateway_session_client(TideGatewaySession *session)
{
  return session->client;
}

const char *
tide_gateway_session_cluster(const TideGatewaySession *session)
{
  return session->cluster;
}

TideWireMode
tide_gateway_session_mode(const TideGatewaySession *session)
{
  return session->mode;
}

gint64
tide_gateway_session_deadline_us(const TideGatewaySession *session)
{
  return tide_now_us() + session->config->hbase.call_timeout_ms * TIDE_US_PER_MS;
}

gint64
tide_gateway_session_admin_deadline_us(const TideGatewaySession *session)
{
  gint64 timeout_ms = MAX(session->config->hbase.call_timeout_ms, TIDE_GATEWAY_ADMIN_TIMEOUT_MS);
  return tide_now_us() + timeout_ms * TIDE_US_PER_MS;
}

gboolean
tide_gateway_error_is_lost(const GError *error)
{
  return g_error_matches(error, TIDE_ERROR, TIDE_ERROR_CONNECTION_LOST) ||
         g_error_matches(error, TIDE_ERROR, TIDE_ERROR_SERVER_FAILED) ||
         g_error_matches(error, TIDE_ERROR, TIDE_ERROR_CONNECT);
}

gboolean
tide_gateway_error_may_pass(const GError *error)
{
  return tide_gateway_error_is_lost(error) || g_error_matches(error, TIDE_ERROR, TIDE_ERROR_TIMEOUT) ||
         g_error_matches(error, TIDE_ERROR, TIDE_ERROR_PROTOCOL) ||
         g_error_matches(error, TIDE_ERROR, TIDE_ERROR_UNAVAILABLE) ||
         g_error_matches(error, TIDE_ERROR, TIDE_ERROR_GATEWAY);
}

/* Ensures a usable connection: opens a new one if the last was lost. */
static gboolean
ensure_open(TideGatewaySession *session, GError **error)
{
  return (session->client != NULL && tide_hbase_client_is_open(session->client)) || open_connection(session, error);
}

gboolean
tide_gateway_session_scan(TideGatewaySession *session, TideBytes table, const TideScanRequest *request,
                          TideRowFunc func, gpointer data, GError **error)
{
  if (!ensure_open(session, error))
    return FALSE;
  guint64 n_rows = 0;
  return tide_hbase_client_scan(session->client, table, request, session->config->hbase.call_timeout_ms, func, data,
                                &n_rows, error);
}

gboolean
tide_gateway_session_put(TideGatewaySession *session, TideBytes table, TideBytes puts, guint32 n_puts, GError **error)
{
  return ensure_open(session, error) &&
         tide_hbase_client_put_multiple(session->client, table, &puts, 1, n_puts,
                                        tide_gateway_session_deadline_us(session), error);
}

void
tide_gateway_session_explain(TideGatewaySession *session, const char *table, GError **error)
{
  gboolean exists = TRUE;
  if (error == NULL || !g_error_matches(*error, TIDE_ERROR, TIDE_ERROR_GATEWAY) ||
      !tide_hbase_client_is_open(session->client) ||
      !tide_hbase_client_table_exists(session->client, table, tide_gateway_session_deadline_us(session), &exists,
                                      NULL) ||
      exists)
    return;
  g_clear_error(error);
  tide_fail(error, TIDE_ERROR_NOT_FOUND, "the table does not exist in HBase: create it with 'tidemark tables create'");
}

gboolean
tide_gateway_table_scan(const TideScanRequest *request, TideRowFunc func, gpointer func_data, gpointer data,
                        GError **error)
{
  const TideGatewayTable *table = data;
  if (tide_gateway_session_scan(table->session, tide_bytes_of_string(table->name), request, func, func_data, error))
    return TRUE;
  tide_gateway_session_explain(table->session, table->name, error);
  return FALSE;
}

gboolean
tide_gateway_table_get(const TideGetRequest *request, TideRowFunc func, gpointer func_data, gpointer data,
                       GError **error)
{
  const TideGatewayTable *table = data;
  TideGatewaySession *session = table->session;
  if (!ensure_open(session, error))
    return FALSE;
  if (tide_hbase_client_get_multiple(session->client, tide_bytes_of_string(table->name), request,
                                     tide_gateway_session_deadline_us(session), func, func_data, error))
    return TRUE;
  tide_gateway_session_explain(session, table->name, error);
  return FALSE;
}

/* ---- dated tables ---- */

static int
compare_texts(gconstpointer a, gconstpointer b)
{
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The names of all tables in HBase, sorted; empty if none of @tables is a template. NULL on failure. */
static GPtrArray *
list_names(TideGatewaySession *session, const GPtrArray *tables, GError **error)
{
  gboolean is_needed = FALSE;
  for (guint i = 0; i < tables->len; i++)
    is_needed = is_needed || tide_table_is_template(tables->pdata[i]);
  if (!is_needed)
    return g_ptr_array_new();
  GPtrArray *names = tide_hbase_client_list_tables(tide_gateway_session_client(session),
                                                   tide_gateway_session_deadline_us(session), error);
  if (names != NULL)
    g_ptr_array_sort(names, compare_texts);
  else
    g_prefix_error(error, "cannot list the dated tables: ");
  return names;
}

GPtrArray *
tide_table_instances(TideGatewaySession *session, const TideConfig *config, const GPtrArray *tables, GError **error)
{
  g_autoptr(GPtrArray) names = list_names(session, tables, error);
  if (names == NULL)
    return NULL;
  GPtrArray *instances = g_ptr_array_new();
  for (guint i = 0; i < tables->len; i++) {
    const TideTable *table = tables->pdata[i];
    if (!tide_table_is_template(table))
      g_ptr_array_add(instances, (gpointer)table);
    for (guint k = 0; tide_table_is_template(table) && k < names->len; k++) {
      const TideTable *of_name = tide_table_of_name(config, names->pdata[k]);
      if (of_name != NULL && of_name->index == table->index && !tide_table_is_template(of_name))
        g_ptr_array_add(instances, (gpointer)of_name);
    }
  }
  return instances;
}
