/* The whole program's endpoints: metrics over HTTPS for holders of a token, and on a Unix socket that a killed daemon
 * left behind. */
#include "fault/pipeline/pipeline_fixture.h"
#include "fault/program/daemon_process.h"
#include "fault/program/status_client.h"
#include "unit/http_client.h"
#include "unit/tls_world.h"
#include "util/clock.h"

#include <signal.h>
#include <sys/un.h>

#define END_US (30 * TIDE_US_PER_S)
#define TOKEN_LINE "prometheus:930bbdc51b6aed5c2a5678fd6e28dee7a05e8a4b643cfc0b4427c3efb86c0d94\n"
#define GET_WITH(token) "GET /metrics HTTP/1.1\r\nAuthorization: Bearer " token "\r\n\r\n"

static char *
ask(guint16 port, const char *request)
{
  int fd = http_client_connect(port, "127.0.0.1");
  SSL_CTX *context = SSL_CTX_new(TLS_client_method());
  X509_STORE_add_cert(SSL_CTX_get_cert_store(context), world.authority.certificate);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
  SSL *ssl = SSL_new(context);
  SSL_CTX_free(context);
  SSL_set1_host(ssl, "localhost");
  SSL_set_fd(ssl, fd);
  g_assert_cmpint(SSL_connect(ssl), ==, 1);
  g_assert_cmpint(SSL_write(ssl, request, (int)strlen(request)), ==, (int)strlen(request));
  GString *text = g_string_new(NULL);
  char part[4096];
  for (int n; (n = SSL_read(ssl, part, sizeof part)) > 0;)
    g_string_append_len(text, part, n);
  SSL_free(ssl);
  close(fd);
  return g_string_free(text, FALSE);
}

/* HTTPS, and who may ask. */
typedef struct Door {
  char *certificate;
  char *key;
  char *users;
  char *yaml;
} Door;

static Door
door_new(const char *address)
{
  Door door = {.certificate = test_identity_save(&world.server, FALSE, world.directory, "http.pem"),
               .key = test_identity_save(&world.server, TRUE, world.directory, "http.key"),
               .users = g_build_filename(world.directory, "http.users", NULL)};
  g_assert_true(g_file_set_contents_full(door.users, TOKEN_LINE, -1, G_FILE_SET_CONTENTS_NONE, 0640, NULL));
  door.yaml = g_strdup_printf("service: { http: \"%s\", log_format: text, http_users: { file: %s },\n"
                              "  http_tls: { certificate: %s, key: { file: %s } } }\n",
                              address, door.users, door.certificate, door.key);
  return door;
}

static void
door_clear(Door *door)
{
  char *const files[] = {door->certificate, door->key, door->users};
  for (gsize i = 0; i < G_N_ELEMENTS(files); i++) {
    g_assert_cmpint(g_remove(files[i]), ==, 0);
    g_free(files[i]);
  }
  g_free(door->yaml);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Door, door_clear)

PIPELINE_TEST("/metrics-doors/https-and-a-token")
{
  g_auto(Door) door = door_new("0.0.0.0:0");
  g_auto(DaemonProcess) daemon =
      daemon_process_start(fixture, &(DaemonProcessOptions){.gateways = 1, .yaml = door.yaml});
  guint16 port = status_client_port(&daemon);
  g_autofree char *wrong = ask(port, GET_WITH("secret-canary"));
  g_assert_true(g_str_has_prefix(wrong, "HTTP/1.1 401 "));
  g_autofree char *right = ask(port, GET_WITH("secret-token"));
  g_assert_true(g_str_has_prefix(right, "HTTP/1.1 200 "));
  g_assert_nonnull(strstr(right, "\ntidemark_http_requests_refused_total{reason=\"wrong_credentials\"} 1\n"));
  daemon_process_stop(&daemon);
  g_autofree char *log = daemon_process_log(&daemon);
  g_assert_nonnull(strstr(log, "refused an HTTP request from '127.0.0.1'"));
  g_assert_null(strstr(log, "secret-")); /* neither the right one nor the wrong one */
}

/* A killed daemon cannot remove its socket: the next one replaces it. */
PIPELINE_TEST("/metrics-doors/a-socket-that-was-left")
{
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  g_autofree char *path = g_build_filename(world.directory, "http.socket", NULL);
  g_autofree char *yaml = g_strdup_printf("service: { http: \"unix:%s\", log_format: text }\n", path);
  g_strlcpy(address.sun_path, path, sizeof address.sun_path);
  for (guint i = 0; i < 2; i++) {
    g_auto(DaemonProcess) daemon = daemon_process_start(fixture, &(DaemonProcessOptions){.gateways = 1, .yaml = yaml});
    daemon_process_wait_log(&daemon, "metrics at 'unix:");
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    g_assert_cmpint(connect(fd, (const struct sockaddr *)&address, sizeof address), ==, 0);
    g_autofree char *reply = http_client_ask(fd, "GET /healthz HTTP/1.1\r\n\r\n");
    g_assert_true(g_str_has_prefix(reply, "HTTP/1.1 200 "));
    if (i == 0) {
      daemon_process_signal(&daemon, SIGKILL);
      g_assert_cmpint(daemon_process_wait_end(&daemon, END_US), ==, 128 + SIGKILL);
      g_assert_true(g_file_test(path, G_FILE_TEST_EXISTS));
    } else
      daemon_process_stop(&daemon);
  }
  g_assert_false(g_file_test(path, G_FILE_TEST_EXISTS));
}

int
main(int argc, char **argv)
{
  pipeline_fixture_init(&argc, &argv);
  world_make();
  test_cases_add();
  int result = g_test_run();
  world_end();
  return result;
}
