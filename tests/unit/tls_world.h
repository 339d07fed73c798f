/* Who there is in a test of TLS: authorities, a server with certificates of all kinds, two clients; and their files.
 * For tests only. */
#pragma once

#include "thrift/client/link_settings.h"
#include "unit/tls_server.h"

#define DAY_S 86400

typedef struct World {
  char *directory;
  TestIdentity authority, other_authority;
  TestIdentity server, wrong_host, expired, not_yet, unknown;
  TestIdentity client, stranger;
  char *authority_file, *other_authority_file;
  char *client_file, *client_key, *stranger_file, *stranger_key;
} World;

static World world;

static inline TestIdentity
signed_by(const TestIdentity *issuer, const char *names, gint64 begin_s, gint64 end_s)
{
  return test_identity_new(&(TestIdentityWish){"test", names, issuer, begin_s, end_s});
}

static inline void
world_make(void)
{
  static const char here[] = "DNS:localhost,IP:127.0.0.1";
  World *w = &world;
  w->directory = g_dir_make_tmp("tidemark-tls-XXXXXX", NULL);
  w->authority = test_identity_new(&(TestIdentityWish){.name = "test authority"});
  w->other_authority = test_identity_new(&(TestIdentityWish){.name = "other authority"});
  w->server = signed_by(&w->authority, here, 0, 0);
  w->wrong_host = signed_by(&w->authority, "DNS:other.example,IP:127.0.0.2", 0, 0);
  w->expired = signed_by(&w->authority, here, -20 * DAY_S, -10 * DAY_S);
  w->not_yet = signed_by(&w->authority, here, 10 * DAY_S, 20 * DAY_S);
  w->unknown = signed_by(&w->other_authority, here, 0, 0);
  w->client = signed_by(&w->authority, "DNS:tidemark", 0, 0);
  w->stranger = signed_by(&w->other_authority, "DNS:stranger", 0, 0);
  w->authority_file = test_identity_save(&w->authority, FALSE, w->directory, "ca.pem");
  w->other_authority_file = test_identity_save(&w->other_authority, FALSE, w->directory, "ca2.pem");
  w->client_file = test_identity_save(&w->client, FALSE, w->directory, "client.pem");
  w->client_key = test_identity_save(&w->client, TRUE, w->directory, "client.key");
  w->stranger_file = test_identity_save(&w->stranger, FALSE, w->directory, "stranger.pem");
  w->stranger_key = test_identity_save(&w->stranger, TRUE, w->directory, "stranger.key");
}

static inline void
world_end(void)
{
  World *w = &world;
  TestIdentity *all[] = {&w->authority, &w->other_authority, &w->server, &w->wrong_host, &w->expired,
                         &w->not_yet,   &w->unknown,         &w->client, &w->stranger};
  char *files[] = {w->authority_file, w->other_authority_file, w->client_file,
                   w->client_key,     w->stranger_file,        w->stranger_key};
  for (gsize i = 0; i < G_N_ELEMENTS(all); i++)
    test_identity_clear(all[i]);
  for (gsize i = 0; i < G_N_ELEMENTS(files); i++) {
    g_assert_cmpint(g_remove(files[i]), ==, 0);
    g_free(files[i]);
  }
  g_assert_cmpint(g_rmdir(w->directory), ==, 0);
  g_free(w->directory);
}

static inline TideTlsSettings
as_client(char *certificate, char *key)
{
  return (TideTlsSettings){.ca = world.authority_file, .certificate = certificate, .key = {.file = key}};
}
