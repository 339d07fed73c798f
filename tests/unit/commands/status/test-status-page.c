#include "commands/status/status_view.h"

#include "unit/test_case.h"
#include "unit/tls_server.h"
#include "util/error.h"

/* A daemon's chain, its own certificate and then the intermediate's that has signed it, and who else that has signed.
 */
typedef struct Fixture {
  char *directory;
  TestIdentity root, intermediate, daemon, impostor;
  char *chain, *root_file, *token;
  LoopbackServer *server;
  TestTls tls;
  GString *heard; /* what the server was sent */
} Fixture;

static TestIdentity
make_identity(const char *name, const char *names, const TestIdentity *issuer)
{
  return test_identity_new(&(TestIdentityWish){.name = name, .names = names, .issuer = issuer});
}

static void
answer(LoopbackServer *server, int fd, guint connection)
{
  static const char page[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}";
  Fixture *fixture = server->data;
  SSL *ssl = test_tls_accept(&fixture->tls, fd);
  char bytes[4096];
  int n = ssl != NULL ? SSL_read(ssl, bytes, sizeof bytes) : 0;
  if (n > 0) {
    g_string_append_len(fixture->heard, bytes, n);
    g_assert_cmpint(SSL_write(ssl, page, sizeof page - 1), >, 0);
    (void)SSL_shutdown(ssl);
  }
  SSL_free(ssl);
}

static void
set_up(Fixture *fixture, gconstpointer data)
{
  fixture->directory = g_dir_make_tmp("tidemark-status-XXXXXX", NULL);
  fixture->root = make_identity("root", NULL, NULL);
  fixture->intermediate = make_identity("intermediate", NULL, &fixture->root);
  fixture->daemon = make_identity("daemon", "DNS:localhost", &fixture->intermediate);
  fixture->impostor = make_identity("impostor", "DNS:elsewhere", &fixture->intermediate);
  fixture->root_file = test_identity_save(&fixture->root, FALSE, fixture->directory, "root.pem");
  fixture->chain = test_identity_save(&fixture->daemon, FALSE, fixture->directory, "chain.pem");
  FILE *chain = fopen(fixture->chain, "a");
  g_assert_cmpint(PEM_write_X509(chain, fixture->intermediate.certificate), ==, 1);
  g_assert_cmpint(fclose(chain), ==, 0);
  fixture->token = g_build_filename(fixture->directory, "token", NULL);
  g_assert_true(g_file_set_contents_full(fixture->token, "hunter2\n", -1, G_FILE_SET_CONTENTS_NONE, 0600, NULL));
  fixture->heard = g_string_new(NULL);
}

static void
tear_down(Fixture *fixture, gconstpointer data)
{
  char *files[] = {fixture->chain, fixture->root_file, fixture->token};
  TestIdentity *identities[] = {&fixture->root, &fixture->intermediate, &fixture->daemon, &fixture->impostor};
  for (gsize i = 0; i < G_N_ELEMENTS(files); i++) {
    g_assert_cmpint(g_remove(files[i]), ==, 0);
    g_free(files[i]);
  }
  for (gsize i = 0; i < G_N_ELEMENTS(identities); i++)
    test_identity_clear(identities[i]);
  g_assert_cmpint(g_rmdir(fixture->directory), ==, 0);
  g_free(fixture->directory);
  g_string_free(fixture->heard, TRUE);
}

/* Asks the configuration's endpoint, where @identity answers. */
static char *
ask(Fixture *fixture, const TestIdentity *identity, const TideStatusPageOptions *options, GError **error)
{
  fixture->tls = (TestTls){.identity = identity, .chained = &fixture->intermediate};
  LoopbackServer *server = loopback_start(answer, fixture);
  TideConfig config = {.service = {.http_listen = server->endpoint->text,
                                   .http_tls = {.certificate = fixture->chain, .key = {.file = fixture->chain}}}};
  char *page = tide_status_page_get(options, &config, error);
  loopback_stop(server);
  return page;
}

#define FIXTURE_TEST(path) TEST_WITH(Fixture, set_up, tear_down, path)

/* Whoever has a certificate of the daemon's intermediate, or of the authority of --ca-file, is no more trusted for
 * that: a token goes to the daemon alone. */
FIXTURE_TEST("/status-page/E1-tells-the-token-to-the-daemon-alone")
{
  const TideStatusPageOptions choices[] = {{.token_file = fixture->token},
                                           {.token_file = fixture->token, .ca_file = fixture->root_file}};
  for (gsize i = 0; i < G_N_ELEMENTS(choices); i++) {
    g_autoptr(GError) error = NULL;
    g_autofree char *page = ask(fixture, &fixture->daemon, &choices[i], &error);
    g_assert_no_error(error);
    g_assert_cmpstr(page, ==, "{}");
    g_assert_nonnull(strstr(fixture->heard->str, "hunter2"));

    g_string_truncate(fixture->heard, 0);
    g_autofree char *none = ask(fixture, &fixture->impostor, &choices[i], &error);
    g_assert_null(none);
    g_assert_error(error, TIDE_ERROR, TIDE_ERROR_UNAVAILABLE);
    g_assert_nonnull(strstr(error->message, "has another key than the certificate of 'service.http_tls'"));
    g_assert_cmpstr(fixture->heard->str, ==, "");
  }
}

/* Before anybody is asked. */
FIXTURE_TEST("/status-page/E-a-token-that-others-read-is-refused")
{
  const TideStatusPageOptions options = {.token_file = fixture->token};
  g_autoptr(GError) error = NULL;
  g_assert_cmpint(g_chmod(fixture->token, 0644), ==, 0);
  g_autofree char *none = ask(fixture, &fixture->daemon, &options, &error);
  g_assert_null(none);
  g_assert_error(error, TIDE_ERROR, TIDE_ERROR_CONFIG);
  g_assert_nonnull(strstr(error->message, "has mode 0644"));
  g_assert_cmpstr(fixture->heard->str, ==, "");
}
