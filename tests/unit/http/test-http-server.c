/* The HTTP server behind its doors: TLS, users, Unix sockets, and clients that are slow or lie. */
#include "http/http_server.h"

#include "http/server_tls.h"
#include "unit/http_client.h"
#include "unit/test_case.h"
#include "unit/tls_world.h"
#include "util/clock.h"
#include "util/error.h"

#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/un.h>

/* The SHA-256 of "secret-token", and bcrypt of "password" at its least cost. */
#define TOKEN_LINE "scraper:930bbdc51b6aed5c2a5678fd6e28dee7a05e8a4b643cfc0b4427c3efb86c0d94\n"
#define USER_LINE "prometheus:$2y$04$FHK1/AYQpUAINPDjNHNsPOoGCdtEjA.gV9YZ7aYb76fV/7WLqQAi.\n"
#define REFUSED "tidemark_http_requests_refused_total"
#define CERTIFICATE_END "tidemark_http_certificate_expiry_timestamp_seconds"
#define PLAIN_GET "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"
#define GET_WITH(credential) "GET /metrics HTTP/1.1\r\nAuthorization: " credential "\r\n\r\n"
#define GOOD_PASSWORD "Basic cHJvbWV0aGV1czpwYXNzd29yZA=="  /* prometheus:password */
#define WRONG_PASSWORD "Basic cHJvbWV0aGV1czpwYXNzd29yZQ==" /* prometheus:passwore */

typedef struct Fixture {
  TideMetrics *metrics;
  char *users_file, *certificate_file, *key_file;
  TideTlsSettings tls;
  TideSecretSource users;
  TideHttpServerOptions options;
  TideHttpServer *server;
} Fixture;

static TideHttpPage
render(gpointer data, TideBytes path)
{
  return (TideHttpPage){200, "text/plain", g_strndup((const char *)path.data, path.len)};
}

static void
write_users(const Fixture *fixture, const char *text)
{
  g_assert_true(g_file_set_contents_full(fixture->users_file, text, -1, G_FILE_SET_CONTENTS_CONSISTENT, 0600, NULL));
}

/* As those do who renew certificates: a new file in the place of the old one. */
static void
show(const Fixture *fixture, const TestIdentity *identity)
{
  g_autofree char *certificate = test_identity_save(identity, FALSE, world.directory, "new.pem");
  g_autofree char *key = test_identity_save(identity, TRUE, world.directory, "new.key");
  g_assert_cmpint(rename(key, fixture->key_file), ==, 0);
  g_assert_cmpint(rename(certificate, fixture->certificate_file), ==, 0);
}

static void
setup(Fixture *fixture, gconstpointer data)
{
  fixture->metrics = tide_metrics_new();
  fixture->users_file = g_build_filename(world.directory, "users", NULL);
  fixture->certificate_file = g_build_filename(world.directory, "http.pem", NULL);
  fixture->key_file = g_build_filename(world.directory, "http.key", NULL);
  write_users(fixture, USER_LINE TOKEN_LINE);
  show(fixture, &world.server);
  fixture->tls = (TideTlsSettings){.certificate = fixture->certificate_file, .key = {.file = fixture->key_file}};
  fixture->users = (TideSecretSource){.file = fixture->users_file};
  fixture->options = (TideHttpServerOptions){
      .listen = {.text = "127.0.0.1:0", .option = "service.http"}, .metrics = fixture->metrics, .render = render};
}

static void
teardown(Fixture *fixture, gconstpointer data)
{
  tide_http_server_stop(fixture->server);
  tide_metrics_free(fixture->metrics);
  char *files[] = {fixture->users_file, fixture->certificate_file, fixture->key_file};
  for (gsize i = 0; i < G_N_ELEMENTS(files); i++) {
    g_assert_cmpint(g_remove(files[i]), ==, 0);
    g_free(files[i]);
  }
}

static void
start(Fixture *fixture, gboolean with_tls, gboolean with_users)
{
  g_autoptr(GError) error = NULL;
  fixture->options.tls = with_tls ? &fixture->tls : NULL;
  fixture->options.users = with_users ? &fixture->users : NULL;
  g_assert_true(tide_http_server_start(&fixture->options, &fixture->server, &error));
  g_assert_no_error(error);
  g_assert_nonnull(fixture->server);
}

static int
connect_to(const Fixture *fixture)
{
  return http_client_connect(tide_http_server_port(fixture->server), "127.0.0.1");
}

static guint64
n_refused(const Fixture *fixture, const char *reason)
{
  return tide_metrics_sum(fixture->metrics, REFUSED, reason);
}

/* ---- who may ask ---- */

static void
assert_reply(const Fixture *fixture, const char *request, const char *status, const char *body)
{
  g_autofree char *reply = http_client_ask(connect_to(fixture), request);
  g_test_message("%s", reply);
  g_assert_true(g_str_has_prefix(reply, status));
  g_assert_cmpstr(http_client_body(reply), ==, body);
}

#define FIXTURE_TEST(path) TEST_WITH(Fixture, setup, teardown, path)

FIXTURE_TEST("/http-server/users")
{
  start(fixture, FALSE, TRUE);
  assert_reply(fixture, GET_WITH(GOOD_PASSWORD), "HTTP/1.1 200 OK\r\n", "/metrics");
  assert_reply(fixture, GET_WITH("Bearer secret-token"), "HTTP/1.1 200 OK\r\n", "/metrics");
  assert_reply(fixture, PLAIN_GET, "HTTP/1.1 401 Unauthorized\r\n", "send a name and password, or a token\n");
  assert_reply(fixture, GET_WITH(WRONG_PASSWORD), "HTTP/1.1 401 Unauthorized\r\n", "unknown password or token\n");
  assert_reply(fixture, GET_WITH("Bearer secret-tokem"), "HTTP/1.1 401 Unauthorized\r\n",
               "unknown password or token\n");
  assert_reply(fixture, "POST /metrics HTTP/1.1\r\n\r\n", "HTTP/1.1 401 Unauthorized\r\n",
               "send a name and password, or a token\n");
  g_autofree char *reply = http_client_ask(connect_to(fixture), PLAIN_GET);
  g_assert_nonnull(strstr(reply, "\r\nWWW-Authenticate: Basic realm=\"tidemark\", charset=\"UTF-8\"\r\n"
                                 "WWW-Authenticate: Bearer realm=\"tidemark\"\r\n"));
  g_assert_cmpuint(n_refused(fixture, "no_credentials"), ==, 3);
  g_assert_cmpuint(n_refused(fixture, "wrong_credentials"), ==, 2);
}

FIXTURE_TEST("/http-server/users/many-wrong-passwords")
{
  start(fixture, FALSE, TRUE);
  assert_reply(fixture, GET_WITH(GOOD_PASSWORD), "HTTP/1.1 200 OK\r\n", "/metrics");
  for (guint i = 0; i < 1000 && n_refused(fixture, "too_many_tries") == 0; i++) {
    g_autofree char *reply = http_client_ask(connect_to(fixture), GET_WITH(WRONG_PASSWORD));
    g_assert_false(g_str_has_prefix(reply, "HTTP/1.1 200 "));
    if (g_str_has_prefix(reply, "HTTP/1.1 429 "))
      g_assert_nonnull(strstr(reply, "\r\nRetry-After: 1\r\n"));
  }
  g_assert_cmpuint(n_refused(fixture, "too_many_tries"), ==, 1);
  assert_reply(fixture, GET_WITH(GOOD_PASSWORD), "HTTP/1.1 200 OK\r\n", "/metrics");
}

/* A file that changes counts at once; one that cannot be used leaves those in force that it named before. */
FIXTURE_TEST("/http-server/users/change")
{
  start(fixture, FALSE, TRUE);
  assert_reply(fixture, GET_WITH(GOOD_PASSWORD), "HTTP/1.1 200 OK\r\n", "/metrics");
  write_users(fixture, TOKEN_LINE);
  assert_reply(fixture, GET_WITH(GOOD_PASSWORD), "HTTP/1.1 401 Unauthorized\r\n", "unknown password or token\n");
  assert_reply(fixture, GET_WITH("Bearer secret-token"), "HTTP/1.1 200 OK\r\n", "/metrics");
  write_users(fixture, "nonsense\n");
  assert_reply(fixture, GET_WITH("Bearer secret-token"), "HTTP/1.1 200 OK\r\n", "/metrics");
  assert_reply(fixture, PLAIN_GET, "HTTP/1.1 401 Unauthorized\r\n", "send a name and password, or a token\n");
  assert_reply(fixture, GET_WITH("Bearer secret-tokem"), "HTTP/1.1 401 Unauthorized\r\n",
               "unknown password or token\n");
  write_users(fixture, USER_LINE);
  g_assert_cmpint(g_chmod(fixture->users_file, 0644), ==, 0);
  assert_reply(fixture, GET_WITH("Bearer secret-token"), "HTTP/1.1 200 OK\r\n", "/metrics");
  g_assert_cmpint(g_chmod(fixture->users_file, 0640), ==, 0);
  assert_reply(fixture, GET_WITH(GOOD_PASSWORD), "HTTP/1.1 200 OK\r\n", "/metrics");
}

/* One who is known stays known, whatever else is written into the file while others guess. */
FIXTURE_TEST("/http-server/users/change-while-others-guess")
{
  start(fixture, FALSE, TRUE);
  assert_reply(fixture, GET_WITH(GOOD_PASSWORD), "HTTP/1.1 200 OK\r\n", "/metrics");
  for (guint i = 0; i < 1000 && n_refused(fixture, "too_many_tries") == 0; i++)
    g_free(http_client_ask(connect_to(fixture), GET_WITH(WRONG_PASSWORD)));
  write_users(fixture, "# another line\n" USER_LINE);
  for (guint i = 0; i < 1000 && n_refused(fixture, "too_many_tries") <= 1; i++)
    g_free(http_client_ask(connect_to(fixture), GET_WITH(WRONG_PASSWORD)));
  assert_reply(fixture, GET_WITH(GOOD_PASSWORD), "HTTP/1.1 200 OK\r\n", "/metrics");
}

/* ---- TLS ---- */

/* A client that trusts @authority and wants to speak to localhost. NULL where no connection came about; then
 * @ret_reason is why, an X509_V_ERR_*. */
static SSL *
shake_hands(const Fixture *fixture, const TestIdentity *authority, long *ret_reason)
{
  SSL_CTX *context = SSL_CTX_new(TLS_client_method());
  X509_STORE_add_cert(SSL_CTX_get_cert_store(context), authority->certificate);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
  SSL *ssl = SSL_new(context);
  SSL_CTX_free(context);
  SSL_set1_host(ssl, "localhost");
  SSL_set_fd(ssl, connect_to(fixture));
  ERR_clear_error();
  gboolean is_safe = SSL_connect(ssl) == 1;
  *ret_reason = SSL_get_verify_result(ssl);
  if (is_safe)
    return ssl;
  close(SSL_get_fd(ssl));
  SSL_free(ssl);
  return NULL;
}

/* All that comes until the peer says goodbye, which it must. Frees @ssl. */
static char *
receive_all(SSL *ssl)
{
  GString *text = g_string_new(NULL);
  char part[1024];
  int n;
  while ((n = SSL_read(ssl, part, sizeof part)) > 0)
    g_string_append_len(text, part, n);
  g_assert_cmpint(SSL_get_error(ssl, n), ==, SSL_ERROR_ZERO_RETURN);
  close(SSL_get_fd(ssl));
  SSL_free(ssl);
  return g_string_free(text, FALSE);
}

static char *
ask_safely(const Fixture *fixture, const char *request)
{
  long reason;
  SSL *ssl = shake_hands(fixture, &world.authority, &reason);
  g_assert_nonnull(ssl);
  g_assert_cmpint(SSL_version(ssl), >=, TLS1_2_VERSION);
  g_assert_cmpint(SSL_write(ssl, request, (int)strlen(request)), ==, (int)strlen(request));
  return receive_all(ssl);
}

static void
assert_safe_reply(const Fixture *fixture, const char *request, const char *status)
{
  g_autofree char *reply = ask_safely(fixture, request);
  g_assert_true(g_str_has_prefix(reply, status));
}

FIXTURE_TEST("/http-server/tls")
{
  start(fixture, TRUE, TRUE);
  g_autofree char *good = ask_safely(fixture, GET_WITH(GOOD_PASSWORD));
  g_assert_true(g_str_has_prefix(good, "HTTP/1.1 200 OK\r\n"));
  g_assert_cmpstr(http_client_body(good), ==, "/metrics");
  assert_safe_reply(fixture, GET_WITH(WRONG_PASSWORD), "HTTP/1.1 401 ");
  g_assert_cmpuint(n_refused(fixture, "tls"), ==, 0);
}

FIXTURE_TEST("/http-server/tls/a-client-that-does-not-trust-us")
{
  long reason;
  start(fixture, TRUE, FALSE);
  g_assert_null(shake_hands(fixture, &world.other_authority, &reason));
  g_assert_cmpint(reason, ==, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY);
  assert_safe_reply(fixture, PLAIN_GET, "HTTP/1.1 200 "); /* the server is none the worse for it */
}

FIXTURE_TEST("/http-server/tls/plain-http")
{
  start(fixture, TRUE, FALSE);
  assert_reply(fixture, PLAIN_GET, "HTTP/1.1 400 Bad Request\r\n", "this port requires TLS: use https://\n");
  g_assert_cmpuint(n_refused(fixture, "tls"), ==, 1);
  g_autofree char *reply = http_client_ask(connect_to(fixture), "\1\2\3\4\5\6\7\10 nonsense");
  g_assert_null(strstr(reply, "HTTP/"));
  g_assert_cmpuint(n_refused(fixture, "tls"), ==, 2);
}

FIXTURE_TEST("/http-server/tls/old")
{
  start(fixture, TRUE, FALSE);
  SSL_CTX *context = SSL_CTX_new(TLS_client_method());
  SSL_CTX_set_security_level(context, 0);
  SSL_CTX_set_max_proto_version(context, TLS1_1_VERSION);
  SSL *ssl = SSL_new(context);
  SSL_CTX_free(context);
  int fd = connect_to(fixture);
  SSL_set_fd(ssl, fd);
  g_assert_cmpint(SSL_connect(ssl), !=, 1);
  ERR_clear_error();
  SSL_free(ssl);
  g_autofree char *rest G_GNUC_UNUSED = http_client_receive(fd);
  close(fd);
  g_assert_cmpuint(n_refused(fixture, "tls"), ==, 1);
}

/* New files count for the next connection; those that do not fit leave what was there in force. */
FIXTURE_TEST("/http-server/tls/change")
{
  long reason;
  start(fixture, TRUE, FALSE);
  SSL *open = shake_hands(fixture, &world.authority, &reason);
  g_assert_nonnull(open);
  guint64 end_s = tide_metrics_sum(fixture->metrics, CERTIFICATE_END, NULL);
  g_assert_cmpuint(end_s, >, 0);
  show(fixture, &world.expired);
  g_assert_null(shake_hands(fixture, &world.authority, &reason));
  g_assert_cmpint(reason, ==, X509_V_ERR_CERT_HAS_EXPIRED);
  g_assert_cmpuint(tide_metrics_sum(fixture->metrics, CERTIFICATE_END, NULL), <, end_s);
  show(fixture, &world.unknown);
  g_assert_null(shake_hands(fixture, &world.authority, &reason));
  SSL *other = shake_hands(fixture, &world.other_authority, &reason);
  g_assert_nonnull(other);
  g_assert_cmpint(SSL_write(other, PLAIN_GET, strlen(PLAIN_GET)), >, 0);
  g_free(receive_all(other));
  g_assert_cmpint(SSL_write(open, PLAIN_GET, strlen(PLAIN_GET)), >, 0); /* from before: goes on as it began */
  g_autofree char *reply = receive_all(open);
  g_assert_true(g_str_has_prefix(reply, "HTTP/1.1 200 "));

  show(fixture, &world.server);
  assert_safe_reply(fixture, PLAIN_GET, "HTTP/1.1 200 ");
  g_autofree char *key = test_identity_save(&world.unknown, TRUE, world.directory, "new.key");
  g_assert_cmpint(rename(key, fixture->key_file), ==, 0);
  assert_safe_reply(fixture, PLAIN_GET, "HTTP/1.1 200 ");
}

/* A token that is taken away is none, also while the certificate is half renewed. */
FIXTURE_TEST("/http-server/users/change-beside-a-broken-certificate")
{
  start(fixture, TRUE, TRUE);
  assert_safe_reply(fixture, GET_WITH("Bearer secret-token"), "HTTP/1.1 200 ");
  g_autofree char *key = test_identity_save(&world.unknown, TRUE, world.directory, "new.key");
  g_assert_cmpint(rename(key, fixture->key_file), ==, 0);
  write_users(fixture, USER_LINE);
  assert_safe_reply(fixture, GET_WITH("Bearer secret-token"), "HTTP/1.1 401 ");
}

#define N_KEY_UPDATES 100

/* Records that carry nothing keep nobody busy: each is read in a turn of its own. */
FIXTURE_TEST("/http-server/tls/key-updates")
{
  g_autoptr(GError) error = NULL;
  g_autoptr(TideServerTls) tls = tide_server_tls_new(&fixture->tls, &error);
  g_assert_no_error(error);
  int pair[2], left = 0;
  g_assert_cmpint(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair), ==, 0);
  TideTlsSession *session = tide_tls_session_new(tls, pair[0]);
  SSL_CTX *context = SSL_CTX_new(TLS_client_method());
  SSL *client = SSL_new(context);
  SSL_CTX_free(context);
  SSL_set_fd(client, pair[1]);
  char part[64];
  short events;
  while (SSL_connect(client) != 1 || !tide_tls_session_is_safe(session))
    g_assert_cmpint(tide_tls_session_receive(session, part, sizeof part, &events), ==, TIDE_TLS_WAITS);
  for (guint i = 0; i < N_KEY_UPDATES; i++) {
    g_assert_cmpint(SSL_key_update(client, SSL_KEY_UPDATE_NOT_REQUESTED), ==, 1);
    g_assert_cmpint(SSL_do_handshake(client), ==, 1);
  }
  g_assert_cmpint(tide_tls_session_receive(session, part, sizeof part, &events), ==, TIDE_TLS_WAITS);
  g_assert_cmpint(ioctl(pair[0], FIONREAD, &left), ==, 0);
  g_assert_cmpint(left, >, N_KEY_UPDATES);
  tide_tls_session_free(session);
  SSL_free(client);
  close(pair[0]);
  close(pair[1]);
}

FIXTURE_TEST("/http-server/files-that-cannot-be-used")
{
  g_autoptr(GError) error = NULL, users_error = NULL;
  fixture->options.tls = &fixture->tls;
  g_assert_cmpint(g_chmod(fixture->key_file, 0644), ==, 0);
  g_assert_false(tide_http_server_start(&fixture->options, &fixture->server, &error));
  g_assert_error(error, TIDE_ERROR, TIDE_ERROR_CONFIG);
  g_assert_nonnull(strstr(error->message, "run 'chmod 0640"));
  fixture->options.tls = NULL;
  fixture->options.users = &fixture->users;
  g_assert_cmpint(g_chmod(fixture->users_file, 0644), ==, 0);
  g_assert_false(tide_http_server_start(&fixture->options, &fixture->server, &users_error));
  g_assert_error(users_error, TIDE_ERROR, TIDE_ERROR_CONFIG);
  g_assert_nonnull(strstr(users_error->message, "run 'chmod 0640"));
}

/* A FIFO in their place keeps nobody waiting. */
FIXTURE_TEST("/http-server/E15-files-that-are-pipes")
{
  char *const *const files[] = {&fixture->certificate_file, &fixture->users_file};
  fixture->options.tls = &fixture->tls;
  fixture->options.users = &fixture->users;
  for (gsize i = 0; i < G_N_ELEMENTS(files); i++) {
    g_autoptr(GError) error = NULL;
    g_assert_cmpint(g_remove(*files[i]), ==, 0);
    g_assert_cmpint(mkfifo(*files[i], 0600), ==, 0);
    g_assert_false(tide_http_server_start(&fixture->options, &fixture->server, &error));
    g_assert_error(error, TIDE_ERROR, TIDE_ERROR_CONFIG);
    g_assert_nonnull(strstr(error->message, "not a regular file"));
    g_assert_cmpint(g_remove(*files[i]), ==, 0);
    show(fixture, &world.server);
    write_users(fixture, USER_LINE);
  }
}

/* ---- what is asked for ---- */

/* RFC 9110, 9.3.2 */
FIXTURE_TEST("/http-server/E15-head-has-no-body")
{
  start(fixture, FALSE, TRUE);
  assert_reply(fixture, "HEAD / HTTP/1.1\r\n\r\n", "HTTP/1.1 401 ", "");
  assert_reply(fixture, "HEAD / NONSENSE\r\n\r\n", "HTTP/1.1 400 ", "");
  g_autofree char *reply =
      http_client_ask(connect_to(fixture), "HEAD /metrics HTTP/1.1\r\nAuthorization: " GOOD_PASSWORD "\r\n\r\n");
  g_assert_true(g_str_has_prefix(reply, "HTTP/1.1 200 "));
  g_assert_nonnull(strstr(reply, "\r\nContent-Length: 8\r\n")); /* of what a GET gets */
  g_assert_cmpstr(http_client_body(reply), ==, "");
}

/* A web page whose name leads here has nothing of it, where nothing else keeps it out. */
FIXTURE_TEST("/http-server/E15-a-web-page-asks")
{
#define GET_OF(host) "GET /metrics HTTP/1.1\r\nHost: " host "\r\n\r\n"
  static const char refused[] = "this is another host: use 'localhost', an address, or this host's own name\n";
  start(fixture, FALSE, FALSE);
  assert_reply(fixture, GET_OF("evil.example:9464"), "HTTP/1.1 421 ", refused);
  assert_reply(fixture, "GET http://evil.example/metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", "HTTP/1.1 421 ",
               refused);
  g_assert_cmpuint(n_refused(fixture, "other_host"), ==, 2);
  assert_reply(fixture, GET_OF("127.0.0.1:9464"), "HTTP/1.1 200 ", "/metrics");
  assert_reply(fixture, "GET http://localhost/metrics HTTP/1.1\r\n\r\n", "HTTP/1.1 200 ", "/metrics");
  g_clear_pointer(&fixture->server, tide_http_server_stop);
  start(fixture, FALSE, TRUE);
  assert_reply(fixture, "GET /metrics HTTP/1.1\r\nHost: proxy.example\r\nAuthorization: " GOOD_PASSWORD "\r\n\r\n",
               "HTTP/1.1 200 ", "/metrics");
}

/* ---- clients that are slow ---- */

/* Drips bytes of @text until the server hangs up, which it must. */
static void
drip(int fd, const char *text)
{
  for (gsize i = 0;; i++) {
    struct pollfd poller = {.fd = fd, .events = POLLIN};
    if (poll(&poller, 1, 5) == 1)
      break;
    char byte = i < strlen(text) ? text[i] : 'x';
    if (send(fd, &byte, 1, MSG_NOSIGNAL) != 1)
      break;
  }
  g_autofree char *rest = http_client_receive(fd);
  g_assert_null(strstr(rest, " 200 "));
  close(fd);
}

/* A deadline for the whole of it, not for the next byte. */
static void
test_who_drips_is_hung_up_on(Fixture *fixture, gconstpointer data)
{
  gboolean with_tls = data != NULL;
  fixture->options.exchange_us = 300 * TIDE_US_PER_MS;
  start(fixture, with_tls, FALSE);
  if (with_tls) /* the beginning of a ClientHello of 16 KiB */
    drip(connect_to(fixture), "\x16\x03\x01\x3f\xff\x01\x01\x01\x01\x03\x03");
  else
    drip(connect_to(fixture), "GET /metrics HTTP/1.1\r\nX: ");
  g_assert_cmpuint(n_refused(fixture, "too_slow"), ==, 1);
}

static TideHttpPage
render_much(gpointer data, TideBytes path)
{
  return (TideHttpPage){200, "text/plain", g_strnfill(32 * 1024 * 1024, 'x')}; /* more than sockets hold */
}

/* Who does not read what he asked for has his place until the deadline, and keeps nobody waiting. */
FIXTURE_TEST("/http-server/slow/does-not-read")
{
  fixture->options.render = render_much;
  fixture->options.exchange_us = TIDE_US_PER_S;
  start(fixture, FALSE, FALSE);
  int fd = connect_to(fixture);
  http_client_send(fd, PLAIN_GET);
  do {
    g_autofree char *other = http_client_ask(connect_to(fixture), "HEAD / HTTP/1.1\r\n\r\n");
    g_assert_true(g_str_has_prefix(other, "HTTP/1.1 200 "));
  } while (n_refused(fixture, "too_slow") == 0);
  g_autofree char *reply = http_client_receive(fd);
  g_assert_cmpuint(strlen(reply), <, 32 * 1024 * 1024);
  close(fd);
}

/* Many addresses hold all places; whoever comes gets one. */
FIXTURE_TEST("/http-server/slow/E11-H4-all-places-are-taken")
{
  int held[3 * TIDE_HTTP_MAX_CONNECTIONS];
  start(fixture, FALSE, FALSE);
  for (guint i = 0; i < G_N_ELEMENTS(held); i++) {
    g_autofree char *from = g_strdup_printf("127.0.1.%u", i + 1);
    held[i] = http_client_connect(tide_http_server_port(fixture->server), from);
  }
  assert_reply(fixture, PLAIN_GET, "HTTP/1.1 200 OK\r\n", "/metrics");
  g_assert_cmpuint(n_refused(fixture, "displaced"), ==, G_N_ELEMENTS(held) + 1 - TIDE_HTTP_MAX_CONNECTIONS);
  for (guint i = 0; i < G_N_ELEMENTS(held); i++)
    close(held[i]);
}

static int
connect_by_ipv6(guint16 port)
{
  struct sockaddr_in6 target = {.sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = IN6ADDR_LOOPBACK_INIT};
  int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
  g_assert_cmpint(connect(fd, (const struct sockaddr *)&target, sizeof target), ==, 0);
  return fd;
}

/* Those who come again and again from one network take each other's places. */
FIXTURE_TEST("/http-server/slow/E15-a-flood-keeps-nobody-out")
{
  int flood[4 * TIDE_HTTP_MAX_CONNECTIONS];
  fixture->options.listen.text = "[::]:0";
  start(fixture, FALSE, FALSE);
  guint16 port = tide_http_server_port(fixture->server);
  int slow = connect_by_ipv6(port);
  http_client_send(slow, "GET /metrics HTTP/1.1\r\n");
  for (guint i = 0; i < G_N_ELEMENTS(flood); i++) {
    g_autofree char *from = g_strdup_printf("127.0.1.%u", i % 8 + 1);
    flood[i] = http_client_connect(port, from);
  }
  g_autofree char *last = http_client_receive(flood[G_N_ELEMENTS(flood) - TIDE_HTTP_MAX_CONNECTIONS]);
  g_assert_cmpstr(last, ==, ""); /* all of the flood were accepted */
  g_autofree char *reply = http_client_ask(slow, "\r\n");
  g_assert_true(g_str_has_prefix(reply, "HTTP/1.1 200 "));
  for (guint i = 0; i < G_N_ELEMENTS(flood); i++)
    close(flood[i]);
}

/* Takes all descriptors that are left. */
static struct rlimit
use_up_descriptors(GArray *used)
{
  struct rlimit before, few;
  int fd = dup(0);
  g_assert_cmpint(getrlimit(RLIMIT_NOFILE, &before), ==, 0);
  few = before;
  few.rlim_cur = (rlim_t)fd + 64;
  g_assert_cmpint(setrlimit(RLIMIT_NOFILE, &few), ==, 0);
  for (; fd >= 0; fd = dup(0))
    g_array_append_val(used, fd);
  g_assert_cmpint(errno, ==, EMFILE);
  return before;
}

FIXTURE_TEST("/http-server/slow/E15-no-descriptor-is-left")
{
  g_autoptr(GArray) used = g_array_new(FALSE, FALSE, sizeof(int));
  fixture->options.exchange_us = 60 * TIDE_US_PER_S; /* longer than a client waits for an answer */
  fixture->options.render = render_much;
  start(fixture, FALSE, FALSE);
  int held = connect_to(fixture);
  char byte;
  http_client_send(held, PLAIN_GET);
  g_assert_cmpint(recv(held, &byte, 1, 0), ==, 1); /* has a place, and keeps it */
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct rlimit before = use_up_descriptors(used);
  struct sockaddr_in target = {.sin_family = AF_INET,
                               .sin_port = htons(tide_http_server_port(fixture->server)),
                               .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  g_assert_cmpint(connect(fd, (const struct sockaddr *)&target, sizeof target), ==, 0);
  g_autofree char *reply = http_client_ask(fd, "HEAD / HTTP/1.1\r\n\r\n");
  g_assert_true(g_str_has_prefix(reply, "HTTP/1.1 200 "));
  g_assert_cmpuint(n_refused(fixture, "displaced"), ==, 1);
  g_assert_cmpint(setrlimit(RLIMIT_NOFILE, &before), ==, 0);
  for (guint i = 0; i < used->len; i++)
    close(g_array_index(used, int, i));
  close(held);
}

/* Whatever is sent harms nobody, and reaches no page. */
FIXTURE_TEST("/http-server/requests-that-are-refused")
{
  static const char not_http[] = "not a valid HTTP/1.1 request\n", only_get[] = "only GET and HEAD are allowed\n";
  static const char too_long[] = "the request head is longer than 8 KiB\n";
  g_autofree char *filler = g_strnfill(TIDE_HTTP_MAX_HEAD_BYTES, 'x'), *much = g_strnfill(1000000, 'x');
  g_autofree char *long_path = g_strconcat("GET /", filler, " HTTP/1.1\r\n\r\n", NULL);
  g_autofree char *long_head = g_strconcat("GET / HTTP/1.1\r\nX: ", filler, "\r\n\r\n", NULL);
  const struct {
    const char *request, *status, *body;
  } cases[] = {
      {long_path, "HTTP/1.1 431 ", too_long},
      {long_head, "HTTP/1.1 431 ", too_long},
      {"NONSENSE\r\n\r\n", "HTTP/1.1 400 ", not_http},
      {"\r\n\r\n\r\nGARBAGE\r\n\r\n", "HTTP/1.1 400 ", not_http},
      {"\x16\x03\x01\x02\x01\r\n\r\n", "HTTP/1.1 400 ", not_http},
      {"PUT / HTTP/1.1\r\nContent-Length: 9999999\r\n\r\nbody", "HTTP/1.1 405 ", only_get},
      {"POST / HTTP/1.1\r\nContent-Length: 9999999\r\n\r\n", "HTTP/1.1 405 ", only_get}, /* no body comes */
      {"DELETE / HTTP/1.1\r\n\r\n", "HTTP/1.1 405 ", only_get},
      {"BREW /coffee HTTP/1.1\r\n\r\n", "HTTP/1.1 405 ", only_get},
  };
  start(fixture, FALSE, FALSE);
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++)
    assert_reply(fixture, cases[i].request, cases[i].status, cases[i].body);
  g_assert_cmpuint(n_refused(fixture, "bad_request"), ==, G_N_ELEMENTS(cases));
  g_free(http_client_ask(connect_to(fixture), much)); /* may be cut off, with its answer */
  g_autofree char *reply = http_client_ask(connect_to(fixture), "DELETE / HTTP/1.1\r\n\r\n");
  g_assert_nonnull(strstr(reply, "\r\nAllow: GET, HEAD\r\n"));
  assert_reply(fixture, PLAIN_GET, "HTTP/1.1 200 OK\r\n", "/metrics");
}

/* ---- Unix sockets ---- */

FIXTURE_TEST("/http-server/unix-socket")
{
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  g_autofree char *path = g_build_filename(world.directory, "http.socket", NULL);
  g_autofree char *text = g_strconcat("unix:", path, NULL);
  fixture->options.listen.text = text;
  fixture->options.listen.mode = 0600;
  start(fixture, FALSE, TRUE);
  g_assert_cmpuint(tide_http_server_port(fixture->server), ==, 0);
  g_strlcpy(address.sun_path, path, sizeof address.sun_path);
  static const char *const requests[] = {GET_WITH(GOOD_PASSWORD), PLAIN_GET};
  for (gsize i = 0; i < G_N_ELEMENTS(requests); i++) {
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    g_assert_cmpint(connect(fd, (const struct sockaddr *)&address, sizeof address), ==, 0);
    g_autofree char *reply = http_client_ask(fd, requests[i]);
    g_assert_true(g_str_has_prefix(reply, i == 0 ? "HTTP/1.1 200 " : "HTTP/1.1 401 "));
  }
  g_clear_pointer(&fixture->server, tide_http_server_stop);
  g_assert_false(g_file_test(path, G_FILE_TEST_EXISTS));
}

static void
add(const char *path, gconstpointer data, void (*test)(Fixture *fixture, gconstpointer data))
{
  g_test_add(path, Fixture, data, setup, test, teardown);
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  test_cases_add();
  world_make();
  add("/http-server/slow/E11-H4-drips", NULL, test_who_drips_is_hung_up_on);
  add("/http-server/slow/E11-H4-drips-a-handshake", "tls", test_who_drips_is_hung_up_on);
  int result = g_test_run();
  world_end();
  return result;
}
