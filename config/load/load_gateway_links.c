/* hbase.tls: paths as the file means them, and what the options are worth together. */
#include "config/load/load.h"
#include "thrift/client/tls_context.h"
#include "thrift/client/tls_stream.h"

static void
resolve_path(const TideLoad *load, char **path)
{
  if (*path == NULL)
    return;
  g_autofree char *written = *path;
  *path = tide_load_path(load, written);
}

static gboolean
any_gateway_has_tls(const TideHBaseConfig *hbase)
{
  for (guint i = 0; hbase->gateways != NULL && i < hbase->gateways->len; i++) {
    if (((const TideEndpoint *)g_ptr_array_index(hbase->gateways, i))->stream == &tide_tls_stream)
      return TRUE;
  }
  return FALSE;
}

/* FALSE when the options cannot be meant as they stand together. */
static gboolean
check_together(TideLoad *load, const TideTlsSettings *tls)
{
  guint n_errors = tide_problems_n_errors(load->problems);
  if (tls->key.file != NULL && tls->key.credential != NULL)
    tide_problems_add_error(load->problems, tide_load_position(load, "hbase.tls.key.credential"),
                            "'hbase.tls.key' has a 'file' and a 'credential': the key comes from one place");
  if (tls->certificate != NULL && !tide_secret_source_is_set(&tls->key))
    tide_problems_add_error(load->problems, tide_load_position(load, "hbase.tls.certificate"),
                            "'hbase.tls.certificate' needs its key: 'key: { file: /path }' or 'key: { credential: NAME "
                            "}' beside it");
  if (tls->certificate == NULL && tide_secret_source_is_set(&tls->key))
    tide_problems_add_error(load->problems, tide_load_position(load, "hbase.tls.key"),
                            "'hbase.tls.key' needs the certificate that it belongs to: 'hbase.tls.certificate'");
  if (!tide_yaml_is_null(tide_yaml_find(load->root, "hbase.tls")) && !any_gateway_has_tls(&load->config->hbase))
    tide_problems_add_error(load->problems, tide_load_position(load, "hbase.tls"),
                            "'hbase.tls' is set, but no gateway is spoken to by TLS: write it as "
                            "\"thrift+tls://host:port\" in 'hbase.gateways'");
  return tide_problems_n_errors(load->problems) == n_errors;
}

void
tide_load_gateway_links(TideLoad *load)
{
  TideHBaseConfig *hbase = &load->config->hbase;
  TideTlsSettings *tls = &hbase->link.tls;
  for (guint i = 0; hbase->gateways != NULL && i < hbase->gateways->len; i++)
    ((TideEndpoint *)g_ptr_array_index(hbase->gateways, i))->settings = &hbase->link;
  resolve_path(load, &tls->ca);
  resolve_path(load, &tls->certificate);
  resolve_path(load, &tls->key.file);
  if (!check_together(load, tls) || !any_gateway_has_tls(hbase))
    return;
  const char *option = NULL;
  g_autoptr(GError) error = NULL;
  if (!tide_tls_settings_check(tls, &option, &error)) {
    g_autofree char *path = g_strconcat("hbase.tls.", option, NULL);
    tide_problems_add_error(load->problems, tide_load_position(load, path), "%s", error->message);
  }
}
