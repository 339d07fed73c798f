/* What `check` reports about the link to a gateway: a certificate that expires soon, the gateway's or tidemark's. */
#include "fault/program/run_program.h"
#include "unit/probe_replies.h"
#include "unit/test_case.h"
#include "unit/tls_server.h"

#include <signal.h>

#define DAY_S 86400
#define HOUR_S 3600

/* FALSE where the call does not come. */
static gboolean
answer(SSL *ssl, int call_bytes, const char *reply, int reply_bytes)
{
  char call[TYPE_CALL_BYTES];
  int len = 0;
  while (ssl != NULL && len < call_bytes) {
    int got = SSL_read(ssl, call + len, call_bytes - len);
    if (got <= 0)
      return FALSE;
    len += got;
  }
  return ssl != NULL && SSL_write(ssl, reply, reply_bytes) > 0;
}

/* Answers a probe, and hangs up on what comes next. */
static void
serve(LoopbackServer *server, int fd, guint connection)
{
  SSL *ssl = test_tls_accept(server->data, fd);
  if (answer(ssl, TYPE_CALL_BYTES, TYPE_REPLY, sizeof TYPE_REPLY - 1) &&
      answer(ssl, CLUSTER_CALL_BYTES, CLUSTER_REPLY, sizeof CLUSTER_REPLY - 1))
    loopback_wait_closed(server, fd);
  ERR_clear_error();
  SSL_free(ssl);
}

static TestIdentity
signed_by(const TestIdentity *issuer, const char *names, gint64 days)
{
  return test_identity_new(&(TestIdentityWish){
      .name = "test", .names = names, .issuer = issuer, .begin_s = -HOUR_S, .end_s = days * DAY_S + HOUR_S});
}

/* "kafka: ... tls: { ... }", for write_config(). (transfer full) */
static char *
yaml_of(const char *ca, const char *certificate, const char *key)
{
  return g_strdup_printf("kafka: { brokers: \"127.0.0.1:1\", group: g, topics: [t] }\n"
                         "hbase: { gateways: [\"%%s\"], tls: { ca: %s, certificate: %s, key: { file: %s } } }\n"
                         "readings: { time: { field: ts, format: epoch_ms } }\n"
                         "tables: { T: { key: [ { field: host } ], columns: { family: M, from: \"*\" } } }\n",
                         ca, certificate, key);
}

TEST("/check-links/certificates-that-end-soon")
{
  g_autofree char *directory = g_dir_make_tmp("tidemark-check-XXXXXX", NULL);
  TestIdentity authority = test_identity_new(&(TestIdentityWish){.name = "test authority"});
  TestIdentity gateway = signed_by(&authority, "IP:127.0.0.1", 12), us = signed_by(&authority, "DNS:us", 29);
  char *files[] = {test_identity_save(&authority, FALSE, directory, "ca.pem"),
                   test_identity_save(&us, FALSE, directory, "us.pem"),
                   test_identity_save(&us, TRUE, directory, "us.key")};
  TestTls tls = {.identity = &gateway, .client_authority = &authority};
  LoopbackServer *server = loopback_start(serve, &tls);
  g_autofree char *endpoint = g_strdup_printf("thrift+tls://127.0.0.1:%u", server->endpoint->port);
  g_autofree char *yaml = yaml_of(files[0], files[1], files[2]);
  g_autofree char *config = write_config(yaml, endpoint);

  g_auto(ProgramDone) done = run_program(config, "check");
  assert_prints(done.output, "thrift2, unframed, binary");
  assert_prints(done.output, "note     its certificate expires in 12 days, on ");
  assert_prints(done.output, "note     the client certificate ('hbase.tls.certificate') expires in 29 days, on ");

  loopback_stop(server);
  g_unlink(config);
  for (gsize i = 0; i < G_N_ELEMENTS(files); i++) {
    g_unlink(files[i]);
    g_free(files[i]);
  }
  g_rmdir(directory);
  test_identity_clear(&authority);
  test_identity_clear(&gateway);
  test_identity_clear(&us);
}

int
main(int argc, char **argv)
{
  signal(SIGPIPE, SIG_IGN);
  g_test_init(&argc, &argv, NULL);
  test_cases_add();
  return g_test_run();
}
