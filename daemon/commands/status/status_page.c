/* Fetches the page /status from a daemon's endpoint, over TCP, TLS or a Unix socket.
 *
 * Threads: one at a time. Blocks: at most ten seconds. */
#include "commands/status/status_view.h"
#include "thrift/client/tls_context.h"
#include "util/error.h"
#include "util/listen_address.h"
#include "util/secret_file.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <netinet/in.h>
#include <sys/un.h>

#define TIMEOUT_MS 10000L
#define MAX_BYTES (64u << 20)

typedef struct Exchange {
  CURL *easy;
  char *url;         /* owned */
  char *socket_path; /* owned; NULL: TCP */
  GString *body;
  char reason[CURL_ERROR_SIZE];
} Exchange;

#define SET(exchange, option, value) (void)curl_easy_setopt((exchange)->easy, option, value)

static gboolean
refuse_address(GError **error, const TideConfig *config, const char *why)
{
  return tide_fail(error, TIDE_ERROR_CONFIG, "service.http is '%s', %s: set the daemon's address with --url",
                   config->service.http_listen, why);
}

/* The loopback address reaches a server on all interfaces. */
static char *
host_of(const struct sockaddr_storage *address, guint16 *ret_port)
{
  char text[INET6_ADDRSTRLEN];
  if (address->ss_family == AF_INET) {
    const struct sockaddr_in *in = (const struct sockaddr_in *)address;
    *ret_port = ntohs(in->sin_port);
    return g_strdup(in->sin_addr.s_addr == INADDR_ANY ? "127.0.0.1"
                                                      : inet_ntop(AF_INET, &in->sin_addr, text, sizeof text));
  }
  const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)address;
  *ret_port = ntohs(in6->sin6_port);
  if (IN6_IS_ADDR_UNSPECIFIED(&in6->sin6_addr))
    return g_strdup("[::1]");
  return g_strdup_printf("[%s]", inet_ntop(AF_INET6, &in6->sin6_addr, text, sizeof text));
}

/* Finds the address of @config's daemon. */
static gboolean
find_endpoint(Exchange *exchange, const TideConfig *config, GError **error)
{
  TideListenAddress address = {0};
  if (!tide_listen_address_parse(config->service.http_listen, &address, error))
    return FALSE;
  if (address.is_off)
    return refuse_address(error, config, "so the daemon has no endpoint");
  const char *scheme = config->service.http_tls.certificate != NULL ? "https" : "http";
  if (address.address.ss_family == AF_UNIX) {
    exchange->socket_path = g_strdup(((const struct sockaddr_un *)&address.address)->sun_path);
    exchange->url = g_strdup_printf("%s://localhost/status", scheme);
    return TRUE;
  }
  guint16 port;
  g_autofree char *host = host_of(&address.address, &port);
  if (port == 0)
    return refuse_address(error, config, "a port chosen at the start");
  exchange->url = g_strdup_printf("%s://%s:%u/status", scheme, host, port);
  return TRUE;
}

static gboolean
take_url(Exchange *exchange, const char *url, GError **error)
{
  if (!g_str_has_prefix(url, "http://") && !g_str_has_prefix(url, "https://"))
    return tide_fail(error, TIDE_ERROR_USAGE, "'%s' is not an address: it must begin with http:// or https://", url);
  gsize len = strlen(url);
  while (len > 0 && url[len - 1] == '/')
    len--;
  g_autofree char *base = g_strndup(url, len);
  exchange->url = g_str_has_suffix(base, "/status") ? g_steal_pointer(&base) : g_strconcat(base, "/status", NULL);
  return TRUE;
}

/* For the configured endpoint, its own certificate is known, so only the holder of its key is trusted, whatever name it
 * contains. The file is often a chain: other certificates from its authorities are not the daemon's. */
static gboolean
trust(Exchange *exchange, const TideStatusPageOptions *options, const TideConfig *config, GError **error)
{
  if (options->ca_file != NULL)
    SET(exchange, CURLOPT_CAINFO, options->ca_file);
  if (options->url != NULL || config->service.http_tls.certificate == NULL)
    return TRUE;
  g_autofree char *pin = tide_tls_certificate_pin(config->service.http_tls.certificate, error);
  if (pin == NULL)
    return FALSE;
  SET(exchange, CURLOPT_PINNEDPUBLICKEY, pin);
  SET(exchange, CURLOPT_SSL_VERIFYHOST, 0L);
  if (options->ca_file == NULL)
    SET(exchange, CURLOPT_CAINFO, config->service.http_tls.certificate);
  return TRUE;
}

/* Adds the credentials. */
static gboolean
introduce(Exchange *exchange, const TideStatusPageOptions *options, GError **error)
{
  if ((options->user == NULL) != (options->password_file == NULL) ||
      (options->user != NULL && options->token_file != NULL))
    return tide_fail(error, TIDE_ERROR_USAGE, "credentials need --user with --password-file, or --token-file");
  const char *path = options->user != NULL ? options->password_file : options->token_file;
  if (path == NULL)
    return TRUE;
  g_autofree char *absolute = g_canonicalize_filename(path, NULL);
  char *secret = tide_secret_read_file(absolute, error);
  if (secret == NULL)
    return FALSE;
  SET(exchange, CURLOPT_HTTPAUTH, options->user != NULL ? CURLAUTH_BASIC : CURLAUTH_BEARER);
  if (options->user != NULL) {
    SET(exchange, CURLOPT_USERNAME, options->user);
    SET(exchange, CURLOPT_PASSWORD, secret);
  } else
    SET(exchange, CURLOPT_XOAUTH2_BEARER, secret);
  tide_secret_free(secret); /* libcurl has a copy */
  return TRUE;
}

static size_t
take_body(char *bytes, size_t size, size_t n, void *data)
{
  Exchange *exchange = data;
  if (exchange->body->len + size * n > MAX_BYTES)
    return 0;
  g_string_append_len(exchange->body, bytes, (gssize)(size * n));
  return size * n;
}

static gboolean
judge(const Exchange *exchange, CURLcode code, GError **error)
{
  long status = 0;
  (void)curl_easy_getinfo(exchange->easy, CURLINFO_RESPONSE_CODE, &status);
  const char *where = exchange->socket_path != NULL ? exchange->socket_path : exchange->url;
  if (code == CURLE_SSL_PINNEDPUBKEYNOTMATCH)
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_UNAVAILABLE,
                "the server at '%s' has another key than the certificate of 'service.http_tls', so nothing was sent; "
                "check which process listens there (ss -ltnp)",
                where);
  else if (code != CURLE_OK)
    tide_fail(error, TIDE_ERROR_UNAVAILABLE,
              "no daemon answers at '%s': %s: check that it runs (systemctl status tidemark), and that this is its "
              "'service.http'",
              where, exchange->reason[0] != '\0' ? exchange->reason : curl_easy_strerror(code));
  else if (status == 401 || status == 429)
    tide_fail(error, TIDE_ERROR_DATA, "'%s' answers with %ld: use --user with --password-file, or --token-file%s",
              where, status, status == 429 ? ", and try again in a second" : "");
  else if (status != 200)
    tide_fail(error, TIDE_ERROR_UNAVAILABLE, "'%s' answers with %ld: it is not a tidemark of this version", where,
              status);
  return code == CURLE_OK && status == 200;
}

static gboolean
ask(Exchange *exchange, GError **error)
{
  SET(exchange, CURLOPT_URL, exchange->url);
  if (exchange->socket_path != NULL)
    SET(exchange, CURLOPT_UNIX_SOCKET_PATH, exchange->socket_path);
  SET(exchange, CURLOPT_PROTOCOLS_STR, "http,https");
  SET(exchange, CURLOPT_PROXY, "");
  SET(exchange, CURLOPT_NOSIGNAL, 1L);
  SET(exchange, CURLOPT_TIMEOUT_MS, TIMEOUT_MS);
  SET(exchange, CURLOPT_ERRORBUFFER, exchange->reason);
  SET(exchange, CURLOPT_WRITEFUNCTION, take_body);
  SET(exchange, CURLOPT_WRITEDATA, exchange);
  return judge(exchange, curl_easy_perform(exchange->easy), error);
}

char *
tide_status_page_get(const TideStatusPageOptions *options, const TideConfig *config, GError **error)
{
  Exchange exchange = {.easy = curl_easy_init(), .body = g_string_new(NULL)};
  if (exchange.easy == NULL)
    g_error("libcurl cannot be used");
  gboolean is_good =
      options->url != NULL ? take_url(&exchange, options->url, error) : find_endpoint(&exchange, config, error);
  is_good = is_good && trust(&exchange, options, config, error) && introduce(&exchange, options, error) &&
            ask(&exchange, error);
  curl_easy_cleanup(exchange.easy);
  g_free(exchange.url);
  g_free(exchange.socket_path);
  return g_string_free(exchange.body, !is_good);
}
