/* FIELD=VALUE and table names on the command line, against a configuration. */
#include "commands/read/key_arguments.h"
#include "unit/assert_bytes.h"
#include "unit/config-texts.h"
#include "unit/test_case.h"
#include "util/error.h"

static const char yaml[] =
    KAFKA HBASE READINGS "tables:\n"
                         "  METRIC:\n"
                         "    key: [ { field: host }, \"#\", { field: unit }, \"#\", { time: epoch_ms } ]\n"
                         "    columns: { family: M, from: \"*\" }\n"
                         "  CURRENT_METRIC:\n"
                         "    latest: merge\n"
                         "    key: [ { field: host } ]\n"
                         "    columns: { family: M, from: \"*\" }\n";

TEST("/key-arguments/fields-make-the-key")
{
  g_autoptr(TideConfig) config = load_text(yaml);
  const TideTable *table = tide_config_find_table(config, "METRIC");
  const char *const texts[] = {"unit=a=b\\x41", "host=server1"};
  g_autoptr(GError) error = NULL;
  g_autoptr(TideKeyArguments) arguments = tide_key_arguments_parse(config, table, texts, 2, &error);
  g_assert_no_error(error);
  g_assert_null(tide_key_arguments_missing(arguments, config, table));
  g_auto(TideBuffer) key = {0};
  TideReject reject;
  arguments->reading.event_time_ns = G_GINT64_CONSTANT(1426535612045000000);
  g_assert_true(tide_row_key_append(table->key, &arguments->reading, &key, &reject));
  assert_bytes_equal(tide_bytes(key.data, key.len), tide_bytes("server1#a=bA#1426535612045", 26));
}

TEST("/key-arguments/missing-fields-are-named")
{
  g_autoptr(TideConfig) config = load_text(yaml);
  const TideTable *table = tide_config_find_table(config, "METRIC");
  g_autoptr(GError) error = NULL;
  g_autoptr(TideKeyArguments) arguments = tide_key_arguments_parse(config, table, NULL, 0, &error);
  g_autofree char *missing = tide_key_arguments_missing(arguments, config, table);
  g_assert_cmpstr(missing, ==, "host, unit");
}

TEST("/key-arguments/wrong-fields-are-refused-with-the-remedy")
{
  static const struct {
    const char *texts[2];
    gsize n_texts;
    const char *message;
  } cases[] = {
      {{"server1"}, 1, "'server1' is not FIELD=VALUE: the key of 'METRIC' consists of: host, unit"},
      {{"hots=a"}, 1, "the key of 'METRIC' has no field 'hots': did you mean 'host'?"},
      {{"colour=a"}, 1, "the key of 'METRIC' has no field 'colour': it consists of: host, unit"},
      {{"ts=1"}, 1, "the key of 'METRIC' has no field 'ts': give its time as a range"},
      {{"host=a", "host=b"}, 2, "the field of 'host=b' is given twice"},
  };
  g_autoptr(TideConfig) config = load_text(yaml);
  const TideTable *table = tide_config_find_table(config, "METRIC");
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GError) error = NULL;
    g_assert_null(tide_key_arguments_parse(config, table, cases[i].texts, cases[i].n_texts, &error));
    g_assert_error(error, TIDE_ERROR, TIDE_ERROR_USAGE);
    g_assert_cmpstr(error->message, ==, cases[i].message);
  }
}

TEST("/key-arguments/a-whole-key-or-the-reason-why-not")
{
  static const struct {
    const char *texts[2];
    gsize n_texts;
    const char *message; /* NULL: none */
  } cases[] = {
      {{"host=a", "unit=b"}, 2, NULL},
      {{"unit=b"}, 1, "host is missing: the key of 'METRIC' is "},
      {{"host=a#b", "unit=c"}, 2, "no row of 'METRIC' can have these fields: "},
      {{"host=", "unit=c"}, 2, "no row of 'METRIC' can have these fields: "},
  };
  g_autoptr(TideConfig) config = load_text(yaml);
  const TideTable *table = tide_config_find_table(config, "METRIC");
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GError) error = NULL;
    g_autoptr(TideKeyArguments) arguments =
        tide_key_arguments_parse(config, table, cases[i].texts, cases[i].n_texts, &error);
    g_assert_no_error(error);
    g_auto(TideBuffer) key = {0};
    gint64 time_ns = G_GINT64_CONSTANT(1426535612045000000);
    gboolean ok = tide_key_arguments_append_key(arguments, config, table, time_ns, &key, &error);
    if (cases[i].message == NULL) {
      g_assert_no_error(error);
      assert_bytes_equal(tide_buffer_bytes(&key), TIDE_BYTES_LITERAL("a#b#1426535612045"));
      continue;
    }
    g_assert_false(ok);
    g_assert_error(error, TIDE_ERROR, TIDE_ERROR_USAGE);
    g_assert_true(g_str_has_prefix(error->message, cases[i].message));
    g_assert_cmpuint(key.len, ==, 0);
  }
}

TEST("/key-arguments/keys-are-text-or-hex")
{
  static const struct {
    const char *text;
    TideBytes bytes; /* empty: refused */
  } cases[] = {
      {"15#S#1", {(const guint8 *)"15#S#1", 6}},
      {"a\\x00b", {(const guint8 *)"a\0b", 3}},
      {"hex:00fFa0", {(const guint8 *)"\x00\xff\xa0", 3}},
      {"hex:", {NULL, 0}},
      {"hex:0", {NULL, 0}},
      {"hex:0g", {NULL, 0}},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GError) error = NULL;
    g_auto(TideBuffer) key = {0};
    g_assert_true(tide_key_bytes_parse(cases[i].text, &key, &error) == (cases[i].bytes.len > 0));
    assert_bytes_equal(tide_buffer_bytes(&key), cases[i].bytes);
  }
}

TEST("/key-arguments/tables-are-found-or-the-nearest-is-named")
{
  g_autoptr(TideConfig) config = load_text(yaml);
  g_autoptr(GError) error = NULL;
  g_assert_nonnull(tide_table_argument_find(config, "METRIC", &error));
  g_assert_null(tide_table_argument_find(config, "METRICS", &error));
  g_assert_cmpstr(error->message, ==, "no table 'METRICS' in 'test.yaml': did you mean 'METRIC'?");
  g_clear_error(&error);
  g_assert_null(tide_table_argument_find(config, "OTHER", &error));
  g_assert_cmpstr(error->message, ==, "no table 'OTHER' in 'test.yaml': it declares METRIC, CURRENT_METRIC");
}
