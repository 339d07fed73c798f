/* hbase.tls, hbase.sasl, hbase.kerberos and hbase.http: resolves paths, and checks the options against each other. */
#include "config/load/load_pieces.h"
#include "thrift/client/tls_context.h"
#include "thrift/client/tls_stream.h"
#include "thrift/http/http_headers.h"
#include "thrift/security/kerberos_keytab.h"
#include "thrift/wire/wire.h"

/* Kinds of gateways in the file. They are unknown if an address was invalid, which was reported. */
typedef struct GatewayKinds {
  gboolean are_known, any_http, any_tls, any_unix;
  const char *other; /* the first gateway without HTTP; NULL: all use HTTP */
} GatewayKinds;

static GatewayKinds
kinds_of(const TideHBaseConfig *hbase)
{
  GatewayKinds kinds = {0};
  for (guint i = 0; hbase->gateways != NULL && i < hbase->gateways->len; i++) {
    const TideEndpoint *endpoint = g_ptr_array_index(hbase->gateways, i);
    kinds.are_known = TRUE;
    kinds.any_http |= endpoint->path != NULL;
    kinds.any_tls |= endpoint->stream == &tide_tls_stream;
    kinds.any_unix |= endpoint->host == NULL;
    if (endpoint->path == NULL && kinds.other == NULL)
      kinds.other = endpoint->text;
  }
  return kinds;
}

gboolean
tide_load_certificate(TideLoad *load, const char *path, TideTlsSettings *tls)
{
  g_autofree char *key = g_strconcat(path, ".key", NULL), *certificate = g_strconcat(path, ".certificate", NULL);
  guint n_errors = tide_problems_n_errors(load->problems);
  tide_load_resolve(load, &tls->ca);
  tide_load_resolve(load, &tls->certificate);
  tide_load_resolve(load, &tls->key.file);
  (void)tide_load_check_one_source(load, key, &tls->key, "read the key");
  if (tls->certificate != NULL && !tide_secret_source_is_set(&tls->key))
    tide_load_option_error(load, certificate,
                           "'%s' needs a private key: add 'key: { file: /path }' or 'key: { credential: NAME }'",
                           certificate);
  if (tls->certificate == NULL && tide_secret_source_is_set(&tls->key))
    tide_load_option_error(load, key, "'%s' needs its certificate: add '%s'", key, certificate);
  return tide_problems_n_errors(load->problems) == n_errors;
}

typedef struct TlsCheck {
  TideLoad *load;
  const char *path;
} TlsCheck;

static void
add_tls_fault(const char *option, const GError *error, gpointer data)
{
  const TlsCheck *check = data;
  g_autofree char *path = g_strconcat(check->path, ".", option, NULL);
  tide_load_option_error(check->load, path, "%s", error->message);
}

void
tide_load_check_tls_files(TideLoad *load, const char *path, const TideTlsSettings *tls)
{
  TlsCheck check = {load, path};
  tide_tls_settings_check(tls, add_tls_fault, &check);
}

/* ---- SASL ---- */

/* FALSE if the combination of options is invalid. */
static gboolean
check_sasl_together(TideLoad *load, const TideHBaseConfig *hbase, const GatewayKinds *kinds)
{
  guint n_errors = tide_problems_n_errors(load->problems);
  const TideSaslSettings *sasl = &hbase->link.sasl;
  const TideSecretSource *keytab = &hbase->link.kerberos.keytab;
  if (tide_load_is_written(load, "hbase.sasl") && sasl->service == NULL)
    tide_load_option_error(load, "hbase.sasl",
                           "'hbase.sasl' needs 'service': the first component of the gateways' "
                           "'hbase.thrift.kerberos.principal', such as hbase");
  if (sasl->service != NULL && strpbrk(sasl->service, "/@") != NULL)
    tide_load_option_error(load, "hbase.sasl.service",
                           "'hbase.sasl.service' must be only the first component of the gateways' principal, '%.*s' "
                           "of '%s'; the second one is the gateway's host, or 'hbase.sasl.host'",
                           (int)strcspn(sasl->service, "/@"), sasl->service, sasl->service);
  if (tide_load_is_written(load, "hbase.kerberos") && !tide_load_is_written(load, "hbase.sasl") && kinds->are_known &&
      !kinds->any_http)
    tide_load_option_error(load, "hbase.kerberos", "'hbase.kerberos' is set, but no gateway uses it: set 'hbase.sasl'");
  if (sasl->service != NULL && hbase->framing == TIDE_FRAMING_FRAMED)
    tide_load_option_error(load, "hbase.transport",
                           "'hbase.transport' is framed, but gateways with SASL are unframed: set it to auto, "
                           "unframed-binary or unframed-compact");
  if (sasl->service != NULL && sasl->host == NULL && kinds->any_unix)
    tide_load_option_error(load, "hbase.sasl",
                           "'hbase.sasl' needs 'host' because a gateway is a Unix socket: set it to the second "
                           "component of the gateway's 'hbase.thrift.kerberos.principal'");
  (void)tide_load_check_one_source(load, "hbase.kerberos.keytab", keytab, "read the keytab");
  return tide_problems_n_errors(load->problems) == n_errors;
}

static void
load_sasl(TideLoad *load, const TideHBaseConfig *hbase, const GatewayKinds *kinds)
{
  const TideKerberosSettings *kerberos = &hbase->link.kerberos;
  if (!check_sasl_together(load, hbase, kinds) || !tide_secret_source_is_set(&kerberos->keytab))
    return;
  g_autoptr(GError) error = NULL;
  g_autofree char *path =
      tide_secret_check(&kerberos->keytab, &error) ? tide_secret_path(&kerberos->keytab, &error) : NULL;
  g_autofree char *principal = path != NULL ? tide_kerberos_keytab_find(path, kerberos->principal, &error) : NULL;
  if (principal == NULL)
    tide_load_option_error(load, "hbase.kerberos.keytab", "%s", error->message);
}

/* Over HTTP, only a ticket identifies a user: without one, tidemark is anonymous and cannot write for another user. */
static void
check_http_user(TideLoad *load, const TideHBaseConfig *hbase, const GatewayKinds *kinds)
{
  if (!kinds->any_http || tide_kerberos_settings_are_set(&hbase->link.kerberos))
    return;
  if (tide_load_is_written(load, "hbase.kerberos"))
    tide_load_option_error(load, "hbase.kerberos",
                           "'hbase.kerberos' is empty, so requests over HTTP would be anonymous: set 'keytab', or "
                           "'cache' for a ticket cache that you keep fresh, or remove it");
  else if (hbase->link.http.do_as != NULL)
    tide_load_option_error(load, "hbase.http.do_as",
                           "'hbase.http.do_as' needs 'hbase.kerberos': gateways answer a do_as request of an "
                           "unauthenticated user with HTTP status 500; set it, or remove 'do_as'");
}

/* All gateways share these options and belong to one HBase, so that an option must apply to each of them. */
static void
check_mixture(TideLoad *load, const TideHBaseConfig *hbase, const GatewayKinds *kinds)
{
  if (tide_load_is_written(load, "hbase.sasl") && kinds->are_known && kinds->other == NULL)
    tide_load_option_error(
        load, "hbase.sasl",
        "'hbase.sasl' is set, but all gateways use HTTP, which authenticates with 'hbase.kerberos' alone: remove it");
  if (kinds->other == NULL || !kinds->any_http)
    return;
  if (tide_load_is_written(load, "hbase.kerberos") && !tide_load_is_written(load, "hbase.sasl"))
    tide_load_option_error(load, "hbase.kerberos",
                           "'hbase.kerberos' applies to all gateways, but '%s' does not use HTTP and would be "
                           "unauthenticated: set 'hbase.sasl' for it, or remove it from 'hbase.gateways'",
                           kinds->other);
  if (hbase->link.http.do_as != NULL)
    tide_load_option_error(load, "hbase.http.do_as",
                           "'hbase.http.do_as' only applies to HTTP: through '%s' tidemark would write as itself, and "
                           "through others as '%s'; remove one of them",
                           kinds->other, hbase->link.http.do_as);
}

static void
check_http(TideLoad *load, const TideHBaseConfig *hbase, const GatewayKinds *kinds)
{
  const char *do_as = hbase->link.http.do_as;
  gboolean is_header_value = do_as == NULL || *do_as != '\0';
  for (const char *at = do_as; at != NULL && *at != '\0'; at++)
    is_header_value &= g_ascii_isgraph(*at);
  if (!is_header_value)
    tide_load_option_error(
        load, "hbase.http.do_as",
        "'hbase.http.do_as' is not a valid user name: it is empty, or contains blanks or characters outside ASCII");
  const TideSecretSource *headers = &hbase->link.http.headers;
  if (tide_load_check_one_source(load, "hbase.http.headers", headers, "read the headers") &&
      tide_secret_source_is_set(headers)) {
    g_autoptr(GError) error = NULL;
    char **lines = tide_http_headers_read(headers, &error);
    if (lines == NULL)
      tide_load_option_error(load, "hbase.http.headers", "%s", error->message);
    tide_http_headers_free(lines);
  }
  if (tide_load_is_written(load, "hbase.http") && kinds->are_known && !kinds->any_http)
    tide_load_option_error(load, "hbase.http",
                           "'hbase.http' is set, but no gateway uses HTTP: write its address as "
                           "\"http://host:port/path\" or \"https://...\" in 'hbase.gateways'");
  if (hbase->protocol == TIDE_WIRE_COMPACT && kinds->any_http)
    tide_load_option_error(load, "hbase.transport",
                           "'hbase.transport' is compact, but gateways only support the binary protocol over HTTP: set "
                           "it to auto or unframed-binary");
}

void
tide_load_gateway_links(TideLoad *load)
{
  TideHBaseConfig *hbase = &load->config->hbase;
  const GatewayKinds kinds = kinds_of(hbase);
  tide_load_resolve(load, &hbase->link.kerberos.keytab.file);
  tide_load_resolve(load, &hbase->link.http.headers.file);
  load_sasl(load, hbase, &kinds);
  check_http(load, hbase, &kinds);
  check_http_user(load, hbase, &kinds);
  check_mixture(load, hbase, &kinds);
  for (guint i = 0; hbase->gateways != NULL && i < hbase->gateways->len; i++)
    ((TideEndpoint *)g_ptr_array_index(hbase->gateways, i))->settings = &hbase->link;
  gboolean is_whole = tide_load_certificate(load, "hbase.tls", &hbase->link.tls);
  gboolean is_idle = tide_load_is_written(load, "hbase.tls") && kinds.are_known && !kinds.any_tls;
  if (is_idle)
    tide_load_option_error(load, "hbase.tls",
                           "'hbase.tls' is set, but no gateway uses TLS: write its address as "
                           "\"thrift+tls://host:port\" or \"https://host:port/path\" in 'hbase.gateways'");
  if (is_whole && !is_idle && kinds.any_tls)
    tide_load_check_tls_files(load, "hbase.tls", &hbase->link.tls);
}
