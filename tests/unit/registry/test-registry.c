#include "registry/registry.h"
#include "unit/registry_double.h"
#include "unit/test_case.h"
#include "unit/tls_world.h"
#include "util/error.h"

#include <fcntl.h>

/* In the place of GLib's, for the whole program: later than it is. */
static _Atomic gint64 later_us;

gint64
g_get_monotonic_time(void)
{
  struct timespec now;
  g_assert_cmpint(clock_gettime(CLOCK_MONOTONIC, &now), ==, 0);
  return now.tv_sec * TIDE_US_PER_S + now.tv_nsec / 1000 + later_us;
}

typedef struct Fixture {
  RegistryDouble registry;
  TideRegistrySettings settings;
  TideSchemaSource *source;
} Fixture;

static void
set_up(Fixture *fixture, gconstpointer data)
{
  registry_double_start(&fixture->registry);
  fixture->settings = (TideRegistrySettings){.url = g_strdup_printf("http://127.0.0.1:%u/sub", fixture->registry.port)};
  fixture->source = tide_registry_new(&fixture->settings);
}

static void
tear_down(Fixture *fixture, gconstpointer data)
{
  tide_registry_free(fixture->source);
  registry_double_stop(&fixture->registry);
  later_us = 0;
  g_free(fixture->settings.url);
}

static TideSchemaAnswer
find(Fixture *fixture, guint32 id, const char **ret_why)
{
  const TideAvroSchema *schema = NULL;
  TideSchemaAnswer answer = fixture->source->find(fixture->source, id, &schema, ret_why);
  g_assert_true((answer == TIDE_SCHEMA_FOUND) == (schema != NULL));
  return answer;
}

#define FIXTURE_TEST(path) TEST_WITH(Fixture, set_up, tear_down, path)

FIXTURE_TEST("/registry/each-is-asked-for-once")
{
  const char *why = NULL;
  for (guint i = 0; i < 3; i++) {
    g_assert_cmpint(find(fixture, 1, &why), ==, TIDE_SCHEMA_FOUND);
    g_assert_cmpint(find(fixture, 2, &why), ==, TIDE_SCHEMA_FOUND);
    g_assert_cmpint(find(fixture, 9, &why), ==, TIDE_SCHEMA_NONE);
    g_assert_nonnull(strstr(why, "no schema with the number"));
    g_assert_cmpint(find(fixture, 5, &why), ==, TIDE_SCHEMA_NONE);
    g_assert_nonnull(strstr(why, "not an Avro schema"));
    g_assert_cmpint(find(fixture, 6, &why), ==, TIDE_SCHEMA_NONE);
    g_assert_nonnull(strstr(why, "'nothing'"));
    g_assert_cmpint(find(fixture, 0x80000000u, &why), ==, TIDE_SCHEMA_NONE);
    g_assert_nonnull(strstr(why, "none above 2147483647")); /* without a question */
    g_assert_cmpint(find(fixture, 0x7FFFFFFFu, &why), ==, TIDE_SCHEMA_NONE);
    g_assert_nonnull(strstr(why, "no schema with the number"));
  }
  static const guint asked[] = {1, 2, 5, 6, 9};
  for (gsize i = 0; i < G_N_ELEMENTS(asked); i++)
    g_assert_cmpuint(registry_double_n_asked(&fixture->registry, asked[i]), ==, 1);
  g_assert_null(tide_registry_trouble(fixture->source));
}

/* The thread asks anew only when it has told what came of the question before. */
static void
wait_for_trouble(Fixture *fixture, guint id, guint n_asked, const char *text)
{
  registry_double_wait_asked(&fixture->registry, id, n_asked + 1);
  g_autofree char *trouble = tide_registry_trouble(fixture->source);
  g_assert_nonnull(trouble);
  if (strstr(trouble, text) == NULL)
    g_error("'%s' was expected, got '%s'", text, trouble);
}

static void
wait_until_found(Fixture *fixture, guint32 id)
{
  gint64 deadline_us = tide_now_us() + REGISTRY_DOUBLE_TIMEOUT_US;
  const char *why;
  tide_registry_set_waiting(fixture->source, TRUE);
  while (find(fixture, id, &why) != TIDE_SCHEMA_FOUND)
    g_assert_cmpint(tide_now_us(), <, deadline_us);
  g_assert_null(tide_registry_trouble(fixture->source));
}

/* What it refers to is asked for, by way of what that refers to too, and each once. */
FIXTURE_TEST("/registry/references/each-once")
{
  const char *why = NULL;
  for (guint i = 0; i < 3; i++)
    g_assert_cmpint(find(fixture, 7, &why), ==, TIDE_SCHEMA_FOUND);
  g_assert_cmpuint(registry_double_n_asked(&fixture->registry, 7), ==, 1);
  g_assert_cmpuint(registry_double_n_asked(&fixture->registry, 0), ==, 2);
  g_assert_null(tide_registry_trouble(fixture->source));
}

/* What was not there may come: it is asked for again after a minute, and not before. */
FIXTURE_TEST("/registry/E-what-is-missing-may-come")
{
  const char *why = NULL;
  registry_double_set_mode(&fixture->registry, REGISTRY_NONE);
  g_assert_cmpint(find(fixture, 1, &why), ==, TIDE_SCHEMA_NONE);
  registry_double_set_mode(&fixture->registry, REGISTRY_UP);
  g_assert_cmpint(find(fixture, 1, &why), ==, TIDE_SCHEMA_NONE);
  g_assert_cmpuint(registry_double_n_asked(&fixture->registry, 1), ==, 1);
  later_us += 61 * TIDE_US_PER_S;
  wait_until_found(fixture, 1);
  g_assert_cmpuint(registry_double_n_asked(&fixture->registry, 1), ==, 2);
}

/* Each reason is kept for as long as the program runs, and what is said of bad schemas comes from outside: of more than
 * a thousand reasons the others are one. */
FIXTURE_TEST("/registry/E11-reasons-are-bounded")
{
  const char *why = NULL;
  registry_double_set_mode(&fixture->registry, REGISTRY_BAD);
  for (guint32 id = 100; id < 1200; id++) {
    g_assert_cmpint(find(fixture, id, &why), ==, TIDE_SCHEMA_NONE);
    g_autofree char *named = g_strdup_printf("'nothing-%u'", id);
    if ((strstr(why, named) != NULL) != (id < 1100))
      g_error("of schema %u it is said: %s", id, why);
    g_assert_true(id < 1100 || strstr(why, "omitted after too many others") != NULL);
  }
  later_us += 61 * TIDE_US_PER_S;
  g_assert_cmpint(find(fixture, 100, &why), ==, TIDE_SCHEMA_NONE); /* asked anew */
  g_assert_nonnull(strstr(why, "'nothing-100'"));
}

typedef struct BadReference {
  guint32 id;
  const char *why;
  guint n_asked; /* for versions of subjects, at the most */
} BadReference;

static void
test_bad_references(Fixture *fixture, gconstpointer data)
{
  const BadReference *bad = data;
  const char *why = NULL;
  g_assert_cmpint(find(fixture, bad->id, &why), ==, TIDE_SCHEMA_NONE);
  if (strstr(why, bad->why) == NULL)
    g_error("'%s' was expected, got '%s'", bad->why, why);
  g_assert_cmpuint(registry_double_n_asked(&fixture->registry, 0), ==, bad->n_asked);
  g_assert_null(tide_registry_trouble(fixture->source));
}

typedef struct Trouble {
  guint32 id;
  RegistryDoubleMode mode;
  const char *text;
} Trouble;

/* What tells nothing of the schema: it is asked for until somebody does. */
static void
test_trouble_passes(Fixture *fixture, gconstpointer data)
{
  const Trouble *trouble = data;
  const char *why;
  tide_registry_set_waiting(fixture->source, FALSE);
  registry_double_set_mode(&fixture->registry, trouble->mode);
  g_assert_cmpint(find(fixture, trouble->id, &why), ==, TIDE_SCHEMA_AWAITED);
  wait_for_trouble(fixture, trouble->id, 1, trouble->text);
  g_assert_cmpint(find(fixture, trouble->id, &why), ==, TIDE_SCHEMA_AWAITED);
  registry_double_set_mode(&fixture->registry, REGISTRY_UP);
  wait_until_found(fixture, trouble->id);
}

/* One schema that is found says nothing of another that cannot be asked for. */
FIXTURE_TEST("/registry/trouble/E11-of-one-is-not-over-for-another")
{
  const char *why;
  tide_registry_set_waiting(fixture->source, FALSE);
  registry_double_set_mode(&fixture->registry, REGISTRY_MUTE);
  g_assert_cmpint(find(fixture, 7, &why), ==, TIDE_SCHEMA_AWAITED);
  wait_for_trouble(fixture, 7, 1, "it answered with status 500");
  gint64 deadline_us = tide_now_us() + REGISTRY_DOUBLE_TIMEOUT_US;
  while (find(fixture, 1, &why) != TIDE_SCHEMA_FOUND)
    g_assert_cmpint(tide_now_us(), <, deadline_us);
  g_autofree char *trouble = tide_registry_trouble(fixture->source);
  g_assert_nonnull(trouble);
  registry_double_set_mode(&fixture->registry, REGISTRY_UP);
  wait_until_found(fixture, 7);
}

/* Nobody waits for a registry that does not answer yet. */
FIXTURE_TEST("/registry/late-answer")
{
  const char *why;
  tide_registry_set_waiting(fixture->source, FALSE);
  registry_double_set_mode(&fixture->registry, REGISTRY_HOLDS);
  g_assert_cmpint(find(fixture, 1, &why), ==, TIDE_SCHEMA_AWAITED);
  registry_double_wait_asked(&fixture->registry, 1, 1);
  g_assert_cmpint(find(fixture, 1, &why), ==, TIDE_SCHEMA_AWAITED);
  registry_double_set_mode(&fixture->registry, REGISTRY_UP);
  wait_until_found(fixture, 1);
}

/* A question that is under way does not hold up the end. */
FIXTURE_TEST("/registry/ends-while-it-asks")
{
  const char *why;
  tide_registry_set_waiting(fixture->source, FALSE);
  registry_double_set_mode(&fixture->registry, REGISTRY_HOLDS);
  g_assert_cmpint(find(fixture, 1, &why), ==, TIDE_SCHEMA_AWAITED);
  registry_double_wait_asked(&fixture->registry, 1, 1);
}

FIXTURE_TEST("/registry/who-asks")
{
  const char *why;
  g_autofree char *path = g_build_filename(g_get_tmp_dir(), "tidemark-registry-XXXXXX", NULL);
  int fd = g_mkstemp_full(path, O_RDWR | O_CLOEXEC, 0600);
  g_assert_cmpint(write(fd, "secret\n", 7), ==, 7);
  close(fd);
  atomic_store(&fixture->registry.wants_user, TRUE);
  tide_registry_set_waiting(fixture->source, FALSE);
  g_assert_cmpint(find(fixture, 1, &why), ==, TIDE_SCHEMA_AWAITED);
  wait_for_trouble(fixture, 1, 1, "it answered with status 401");
  tide_registry_free(fixture->source);
  fixture->settings.user = "tide";
  fixture->settings.password.file = path;
  fixture->source = tide_registry_new(&fixture->settings);
  wait_until_found(fixture, 1);
  g_assert_cmpint(g_unlink(path), ==, 0);
}

/* ---- tried before anything is read ---- */

static void
assert_tried(const Fixture *fixture, int code, const char *text)
{
  gboolean is_forbidden;
  g_autoptr(GError) error = NULL;
  g_assert_false(tide_registry_try(&fixture->settings, &is_forbidden, &error));
  g_assert_error(error, TIDE_ERROR, code);
  if (strstr(error->message, text) == NULL)
    g_error("'%s' was expected, got '%s'", text, error->message);
}

FIXTURE_TEST("/registry/try")
{
  g_autoptr(GError) error = NULL;
  gboolean is_forbidden;
  g_assert_true(tide_registry_try(&fixture->settings, &is_forbidden, &error));
  g_assert_no_error(error);
  g_assert_false(is_forbidden);
  registry_double_set_mode(&fixture->registry, REGISTRY_NONE);
  g_assert_true(tide_registry_try(&fixture->settings, &is_forbidden, &error)); /* empty, and one all the same */
  g_assert_false(is_forbidden);
  registry_double_set_mode(&fixture->registry, REGISTRY_FORBIDS);
  g_assert_true(tide_registry_try(&fixture->settings, &is_forbidden, &error)); /* others may be for us */
  g_assert_true(is_forbidden);
  registry_double_set_mode(&fixture->registry, REGISTRY_CUTS);
  assert_tried(fixture, TIDE_ERROR_CONNECT,
               "Empty reply from server: check 'readings.registry.url', and that the registry is running");
  registry_double_set_mode(&fixture->registry, REGISTRY_FAILS);
  assert_tried(fixture, TIDE_ERROR_GATEWAY, "it answered with status 500");
  registry_double_set_mode(&fixture->registry, REGISTRY_ELSEWHERE);
  assert_tried(fixture, TIDE_ERROR_GATEWAY, "check 'readings.registry.url'");
  registry_double_set_mode(&fixture->registry, REGISTRY_PAGE);
  assert_tried(fixture, TIDE_ERROR_WRONG_SERVICE, "is not a schema in JSON");
  registry_double_set_mode(&fixture->registry, REGISTRY_UP);
  atomic_store(&fixture->registry.wants_user, TRUE);
  assert_tried(fixture, TIDE_ERROR_GATEWAY, "it answered with status 401: check 'readings.registry.user'");
}

/* ---- HTTPS ---- */

static void
serve_schema(LoopbackServer *server, int fd, guint connection)
{
  SSL *ssl = test_tls_accept(server->data, fd);
  char request[4096];
  if (ssl == NULL)
    return;
  if (SSL_read(ssl, request, sizeof request) > 0) {
    const char *schema = registry_double_schemas[1];
    g_autofree char *reply =
        g_strdup_printf("HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n%s", strlen(schema), schema);
    g_assert_cmpint(SSL_write(ssl, reply, (int)strlen(reply)), >, 0);
  }
  SSL_free(ssl);
}

typedef struct HttpsCase {
  char *const *authority;
  gboolean is_trusted;
} HttpsCase;

/* Only who is signed by the authority that was named is asked. */
static void
test_https(gconstpointer data)
{
  const HttpsCase *its = data;
  const char *why = NULL;
  const TideAvroSchema *schema;
  TestTls tls = {.identity = &world.server};
  LoopbackServer *server = loopback_start(serve_schema, &tls);
  g_autofree char *url = g_strdup_printf("https://127.0.0.1:%u", server->endpoint->port);
  TideRegistrySettings settings = {.url = url, .ca = its->authority != NULL ? *its->authority : NULL};
  TideSchemaSource *source = tide_registry_new(&settings);
  tide_registry_set_waiting(source, its->is_trusted);
  if (its->is_trusted)
    g_assert_cmpint(source->find(source, 1, &schema, &why), ==, TIDE_SCHEMA_FOUND);
  else {
    g_assert_cmpint(source->find(source, 1, &schema, &why), ==, TIDE_SCHEMA_AWAITED);
    loopback_await_hang_up(server);
    loopback_await_hang_up(server); /* asked anew: the first has been told */
    g_autofree char *trouble = tide_registry_trouble(source);
    g_assert_nonnull(trouble);
    g_assert_nonnull(strstr(trouble, "certificate"));
  }
  tide_registry_free(source);
  g_autoptr(GError) error = NULL;
  gboolean is_forbidden;
  g_assert_cmpint(tide_registry_try(&settings, &is_forbidden, &error), ==, its->is_trusted);
  g_assert_true(its->is_trusted || strstr(error->message, "certificate") != NULL);
  g_assert_true(its->is_trusted || strstr(error->message, ": check 'readings.registry.ca', ") != NULL);
  loopback_stop(server);
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  test_cases_add();
  static const Trouble cut = {1, REGISTRY_CUTS, "Empty reply"},
                       fails = {1, REGISTRY_FAILS, "it answered with status 500"},
                       elsewhere = {1, REGISTRY_ELSEWHERE, "check 'readings.registry.url'"},
                       page = {1, REGISTRY_PAGE, "is not a schema in JSON"},
                       wrong = {1, REGISTRY_WRONG_JSON, "is not a schema in JSON"},
                       oversized = {1, REGISTRY_OVERSIZED, "exceeds 2097152 bytes"},
                       no_version = {7, REGISTRY_NO_VERSION, "it answered with status 500"};
  static const BadReference circle = {8, "form a cycle through 'A'", 2},
                            absent = {10, "version 1 of 'absent', which the schema registry does not have", 1},
                            language = {11, "'language', which is not an Avro schema", 1},
                            deep = {12, "through more than 16 levels", 16},
                            many = {13, "more than 100 other schemas", 100}, large = {14, "exceed 1048576 bytes", 2},
                            undeclared = {
                                15, "of the field 'a', the type 'A' is neither an Avro type nor declared before", 1};
  static const HttpsCase own = {&world.authority_file, TRUE}, other = {&world.other_authority_file, FALSE},
                         system = {NULL, FALSE};
  world_make();
#define ADD(name, data, func) g_test_add("/registry/" name, Fixture, data, set_up, func, tear_down)
  ADD("references/circle", &circle, test_bad_references);
  ADD("references/absent", &absent, test_bad_references);
  ADD("references/language", &language, test_bad_references);
  ADD("references/deep", &deep, test_bad_references);
  ADD("references/many", &many, test_bad_references);
  ADD("references/large", &large, test_bad_references);
  ADD("references/undeclared", &undeclared, test_bad_references);
  ADD("trouble/cut", &cut, test_trouble_passes);
  ADD("trouble/fails", &fails, test_trouble_passes);
  ADD("trouble/elsewhere", &elsewhere, test_trouble_passes);
  ADD("trouble/page", &page, test_trouble_passes);
  ADD("trouble/wrong-json", &wrong, test_trouble_passes);
  ADD("trouble/oversized", &oversized, test_trouble_passes);
  ADD("trouble/no-version", &no_version, test_trouble_passes);
  g_test_add_data_func("/registry/https/own-authority", &own, test_https);
  g_test_add_data_func("/registry/https/other-authority", &other, test_https);
  g_test_add_data_func("/registry/https/system", &system, test_https);
  int code = g_test_run();
  world_end();
  return code;
}
