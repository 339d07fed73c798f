/* service.http and its like, with certificates and users on the disk: what loads, and what docs/metrics.md shows. */
#include "config/yaml/yaml_tree.h"
#include "unit/config-texts.h"
#include "unit/test_case.h"
#include "unit/tls_world.h"

#define GUIDE TIDE_TEST_SOURCE_DIR "/docs/metrics.md"
#define KEYS "/etc/tidemark/"
#define TOKEN_LINE "prometheus:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\n"

typedef struct Fixture {
  char *certificate, *key, *users;
} Fixture;

static void
setup(Fixture *fixture, gconstpointer data)
{
  fixture->certificate = test_identity_save(&world.server, FALSE, world.directory, "metrics.pem");
  fixture->key = test_identity_save(&world.server, TRUE, world.directory, "metrics.key");
  fixture->users = g_build_filename(world.directory, "metrics.users", NULL);
  g_assert_true(g_file_set_contents_full(fixture->users, TOKEN_LINE, -1, G_FILE_SET_CONTENTS_NONE, 0600, NULL));
}

static void
teardown(Fixture *fixture, gconstpointer data)
{
  char *files[] = {fixture->certificate, fixture->key, fixture->users};
  for (gsize i = 0; i < G_N_ELEMENTS(files); i++) {
    g_assert_cmpint(g_remove(files[i]), ==, 0);
    g_free(files[i]);
  }
}

/* @service: the section, with files in /etc/tidemark. What is said of it must begin with @problems; "": nothing. */
static void
assert_loads(const char *service, const char *expected)
{
  g_auto(GStrv) parts = g_strsplit(service, KEYS, -1);
  g_autofree char *folder = g_strconcat(world.directory, "/", NULL), *local = g_strjoinv(folder, parts);
  g_autofree char *text = g_strconcat(KAFKA READINGS HBASE TABLES, local, NULL);
  g_autoptr(GPtrArray) problems = NULL;
  g_autoptr(TideConfig) config = load_config(text, &problems);
  g_autofree char *all = describe_problems(problems);
  g_test_message("%s%s", text, all);
  g_assert_true(*expected == '\0' ? *all == '\0' : strstr(all, expected) != NULL);
  g_assert_true((config == NULL) == (strstr(all, " error: ") != NULL));
  if (config == NULL)
    return;
  g_autofree char *printed = tide_config_print(config);
  g_autoptr(GPtrArray) problems_again = NULL;
  g_autoptr(TideConfig) again = load_config(printed, &problems_again);
  g_assert_nonnull(again);
  g_autofree char *printed_again = tide_config_print(again);
  g_assert_cmpstr(printed_again, ==, printed);
}

#define TLS "http_tls: { certificate: /etc/tidemark/metrics.pem, key: { file: /etc/tidemark/metrics.key } }"
#define USERS "http_users: { file: /etc/tidemark/metrics.users }"

#define FIXTURE_TEST(path) TEST_WITH(Fixture, setup, teardown, path)

FIXTURE_TEST("/config-http/open")
{
  static const char open[] = "is reachable from other machines without a password and without TLS";
  static const char readable[] =
      "warning: 'service.http' ('0.0.0.0:1') is reachable from other machines, and passwords are sent";
  assert_loads("service: { http: \"0.0.0.0:1\" }\n", open);
  assert_loads("service: { http: \"0.0.0.0:1\", http_allow_open: true }\n", "");
  assert_loads("service: { http: \"0.0.0.0:1\", " TLS " }\n", "");
  assert_loads("service: { http: \"0.0.0.0:1\", " TLS ", " USERS " }\n", "");
  assert_loads("service: { http: \"0.0.0.0:1\", " USERS " }\n", readable);
  assert_loads("service: { http: \"127.0.0.1:1\", " USERS " }\n", "");
  assert_loads("service: { http: \"127.9.9.9:1\" }\n", "");
  assert_loads("service: { http: \"[::1]:1\" }\n", "");
  assert_loads("service: { http: \"[::ffff:127.0.0.1]:1\" }\n", "");
  assert_loads("service: { http: \"[::ffff:10.0.0.1]:1\" }\n", open);
  assert_loads("service: { http: \"unix:/run/x\", http_socket_mode: \"0600\" }\n", "");
  assert_loads("service: { http: off, " TLS " }\n", "error: 'service.http_tls' has no effect");
  assert_loads("service: { http: off, " USERS " }\n", "error: 'service.http_users' has no effect");
}

FIXTURE_TEST("/config-http/refused-files")
{
  assert_loads("service: { http_tls: { certificate: /nonexistent/pem, key: { file: /etc/tidemark/metrics.key } } }\n",
               "error: the certificate '/nonexistent/pem' cannot be used: No such file");
  g_assert_cmpint(g_chmod(fixture->key, 0644), ==, 0);
  assert_loads("service: { " TLS " }\n", "others could read or change it; run 'chmod 0640");
  g_assert_cmpint(g_chmod(fixture->key, 0600), ==, 0);
  g_assert_true(g_file_set_contents(fixture->users, "prometheus:secret\n", -1, NULL));
  g_assert_cmpint(g_chmod(fixture->users, 0600), ==, 0);
  assert_loads("service: { " USERS " }\n", "metrics.users' is neither a bcrypt");
  g_assert_cmpint(g_chmod(fixture->users, 0644), ==, 0);
  assert_loads("service: { " USERS " }\n", "others could read or change it; run 'chmod 0640");
}

FIXTURE_TEST("/config-http/credentials")
{
  g_setenv("CREDENTIALS_DIRECTORY", world.directory, TRUE);
  assert_loads("service: { http_tls: { certificate: /etc/tidemark/metrics.pem, key: { credential: metrics.key } }, "
               "http_users: { credential: metrics.users } }\n",
               "");
  assert_loads("service: { http_users: { credential: other } }\n", "other': No such file");
  g_unsetenv("CREDENTIALS_DIRECTORY");
  assert_loads("service: { http_users: { credential: metrics.users } }\n", "LoadCredential=metrics.users:/path");
}

/* The block of the guide that begins with @word. (transfer full) */
static char *
block_of_guide(const char *word)
{
  g_autofree char *guide = NULL;
  g_assert_true(g_file_get_contents(GUIDE, &guide, NULL, NULL));
  g_autofree char *begin = g_strconcat("\n```yaml\n", word, NULL);
  const char *at = strstr(guide, begin);
  g_assert_nonnull(at);
  at += strlen("\n```yaml\n");
  const char *end = strstr(at, "```\n");
  g_assert_nonnull(end);
  return g_strndup(at, (gsize)(end - at));
}

FIXTURE_TEST("/config-http/guide")
{
  g_autofree char *service = block_of_guide("service:"), *scrape = block_of_guide("scrape_configs:");
  assert_loads(service, "");
  g_autoptr(GPtrArray) problems = tide_problems_new();
  g_autoptr(TideYamlNode) root = tide_yaml_parse(tide_bytes_of_string(scrape), problems);
  g_assert_cmpuint(problems->len, ==, 0);
  g_assert_nonnull(tide_yaml_find(root, "scrape_configs"));
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  test_cases_add();
  world_make();
  int result = g_test_run();
  world_end();
  return result;
}
