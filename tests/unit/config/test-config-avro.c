/* A configuration that reads Avro, with its schema in a file beside it. */
#include "decode/avro_schema.h"
#include "decode/formats.h"
#include "unit/config-texts.h"
#include "unit/test_case.h"

#include <glib/gstdio.h>

#define AVRO(options) KAFKA "readings: { format: avro, " options " time: record }\n" HBASE TABLES

static char *directory; /* owned: of this test's own */

static void
write_file(const char *name, const char *text)
{
  g_autofree char *path = g_build_filename(directory, name, NULL);
  g_assert_true(g_file_set_contents(path, text, -1, NULL));
}

/* All problems of the configuration @text, which stands in the directory. (transfer full) */
static char *
problems_of(const char *text)
{
  g_autofree char *path = g_build_filename(directory, "tidemark.yaml", NULL);
  g_autoptr(GPtrArray) problems = NULL;
  write_file("tidemark.yaml", text);
  g_autoptr(TideConfig) config G_GNUC_UNUSED = tide_config_load(path, &problems);
  return describe_problems(problems);
}

static void
assert_problem(const char *text, const char *expected)
{
  g_autofree char *problems = problems_of(text);
  if (strstr(problems, tide_format_is_built_in(TIDE_FORMAT_AVRO)
                           ? expected
                           : "is not supported by this build, which lacks avro") == NULL)
    g_error("'%s' gave '%s', expected '%s'", text, problems, expected);
}

TEST("/config-avro/schema-beside-the-configuration")
{
  write_file("r.avsc", "{\"type\":\"record\",\"name\":\"R\",\"fields\":[{\"name\":\"host\",\"type\":\"string\"}]}");
  g_autofree char *problems = problems_of(AVRO("schema: r.avsc,"));
  if (tide_format_is_built_in(TIDE_FORMAT_AVRO))
    g_assert_cmpstr(problems, ==, "");
}

TEST("/config-avro/printed-and-loaded-again")
{
  g_autofree char *path = g_build_filename(directory, "tidemark.yaml", NULL);
  g_autoptr(GPtrArray) problems = NULL;
  write_file("tidemark.yaml", AVRO("schema: r.avsc, arrays: index,"));
  g_autoptr(TideConfig) config = tide_config_load(path, &problems);
  if (!tide_format_is_built_in(TIDE_FORMAT_AVRO))
    return;
  g_assert_nonnull(config);
  g_autofree char *printed = tide_config_print(config);
  g_autofree char *again = problems_of(printed);
  g_assert_cmpstr(again, ==, "");
}

TEST("/config-avro/schemas-that-cannot-be-used")
{
  assert_problem(AVRO(""), "2:21 error: 'readings.format: avro' needs either 'readings.schema' (the schema file) or '");
  assert_problem(AVRO("schema: r.avsc, registry: { url: http://r.example },"), "needs either ");
  assert_problem(AVRO("schema: none.avsc,"), "none.avsc' cannot be used: No such file or directory");
  assert_problem(AVRO("schema: /dev/zero,"), "'/dev/zero' cannot be used: it is not a regular file");
  write_file("bad.avsc", "{\"type\":\"record\",\"name\":\"R\",\"fields\":[{\"name\":\"host\",\"type\":\"text\"}]}");
  assert_problem(AVRO("schema: bad.avsc,"),
                 "bad.avsc' cannot be used: of the field 'host', the type 'text' is neither");
}

TEST("/config-avro/registries-that-cannot-be-asked")
{
  if (!tide_format_is_built_in(TIDE_FORMAT_AVRO))
    return;
  assert_problem(AVRO("registry: { url: \"http://a:b@r.example\" },"), "must start with http:// or https://");
  assert_problem(AVRO("registry: { url: ftp://r.example },"), "must start with http:// or https://");
  assert_problem(AVRO("registry: { url: https://r.example, user: u },"), "must have both 'user' and 'password'");
  assert_problem(AVRO("registry: { url: http://r.example, user: u, password: { file: p } },"),
                 "sends the password in clear text");
  assert_problem(
      AVRO("registry: { url: https://r.example, user: \"u:v\", password: { file: p } },"),
      "'readings.registry.user' must not contain ':', which separates user and password in basic authentication");
  assert_problem(
      "sources: { a: { topics: [t], readings: { format: avro, registry: { url: ftp://r.example }, time: record } } }\n",
      "'sources.a.readings.registry.url' must start with http:// or https://, and must not contain a user, '?' or '#'");
  g_autofree char *problems =
      problems_of(AVRO("registry: { url: https://r.example/, user: u, password: { file: p }, ca: ca.pem },"));
  g_assert_cmpstr(problems, ==, "");
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  test_cases_add();
  directory = g_dir_make_tmp("tidemark-avro-XXXXXX", NULL);
  g_assert_nonnull(directory);
  int code = g_test_run();
  static const char *const names[] = {"tidemark.yaml", "r.avsc", "bad.avsc"};
  for (gsize i = 0; i < G_N_ELEMENTS(names); i++) {
    g_autofree char *path = g_build_filename(directory, names[i], NULL);
    (void)g_unlink(path);
  }
  (void)g_rmdir(directory);
  g_free(directory);
  return code;
}
