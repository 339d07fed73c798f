#include "config/yaml/masked_line.h"

#include "unit/config-texts.h"

/* Where a secret can be meant; %s is where it is written, by itself on its lines or in braces. */
static const char *const places[] = {
    "kafka:\n  brokers: b\n  group: g\n  topics: [t]\n  librdkafka:\n    client.id: x\n    %s\n" READINGS HBASE TABLES,
    "kafka: { brokers: b, group: g, topics: [t], librdkafka: { client.id: x, %s } }\n" READINGS HBASE TABLES,
    "kafka: { brokers: b, group: g, topics: [t], librdkafka: { client.id: x, %s, y: z }, thread: 1 }\n" READINGS HBASE
        TABLES,
    KAFKA
    "readings: { format: avro, framing: confluent, time: record, registry: { url: \"http://h\", user: u, %s } }\n" HBASE
        TABLES,
    KAFKA "readings:\n  time: record\n  registry:\n    url: http://h\n    %s\n" HBASE TABLES,
    KAFKA READINGS "hbase:\n  gateways: [g]\n  tls:\n    certificate: /x\n    %s\n" TABLES,
    KAFKA READINGS HBASE TABLES "service: { http_users: { file: /x }, %s }\n",
    KAFKA READINGS HBASE TABLES "service:\n  %s\n  htp: x\n",
    KAFKA READINGS HBASE TABLES "%s\n",
    "%s\n" KAFKA READINGS HBASE TABLES,
};

static const char *const names[] = {"sasl.password", "ssl.key.passphrase",  "sasl.pasword", "password",
                                    "api_token",     "http_users",          "Secret",       "\"password\"",
                                    "api_key",       "basic.auth.user.info"};

/* %s: the name. All of the secret has "canary" in it. */
static const char *const forms[] = {
    "%s: canary",
    "%s: \"canary\"",
    "%s: 'canary'",
    "%s: [canary, canary]",
    "%s: { canary }",
    "%s: { canary: canary }",
    "%s: { value: canary }",
    "%s: { file: [canary] }",
    "%s:\n      canary\n      canary",
    "%s: canary\n      canary",
    "%s: \"canary\n      canary\"",
    "%s: \"canary\ncanary\"",
    "%s: \"canary\nx: canary\"",
    "%s: |\n        canary\n        canary",
    "%s: >\n        canary\n\n        canary: canary",
    "%s:\n      - canary\n      - x: canary",
    "? %s\n    : canary",
    "? %s : canary",
    "%s: &canary x",
    "%s: *canary",
    "%s: !canary x",
    "%s: @canary",
    "%s: %%canary",
    "%s: `canary",
    "%s: canary: canary",
    "%s: canary, canary",
    "%s: \"canary",
    "%s: 'canary\ncanary",
    "%s: [canary",
    "%s: {canary: {canary",
    "%s canary",
    "%s:canary",
    "%s=canary",
    "%s : canary",
    "%s: canary # canary",
    "%s: ${canary}",
    "%s: \"-----BEGIN PRIVATE KEY-----\ncanary\n-----END PRIVATE KEY-----\"",
    "x: \"-----BEGIN PRIVATE KEY-----\ncanary\n-----END PRIVATE KEY-----\"\n# %s",
    "# %s: canary",
    "url: u:canary@host\n# %s",
    "url: http://u:canary/canary@canary@host\n# %s",
    "url: http://host/?key=canary\n# %s",
};

static char *
show_all(const char *text)
{
  g_autoptr(GPtrArray) problems = NULL;
  g_autoptr(TideConfig) config = tide_config_load_text("t.yaml", tide_bytes_of_string(text), &problems);
  GString *shown = g_string_new(NULL);

  for (guint i = 0; i < problems->len; i++) {
    g_autofree char *one = tide_config_problem_format(problems->pdata[i], "t.yaml", text);
    g_string_append_printf(shown, "%s\n", one);
  }
  return g_string_free(shown, FALSE);
}

static void
assert_hidden(const char *text)
{
  g_autofree char *shown = show_all(text);
  if (strstr(shown, "canary") != NULL)
    g_error("of\n%s\nthis is shown:\n%s", text, shown);
  /* Whatever line an error may point at. */
  for (guint line = 1;; line++) {
    g_autofree char *masked = tide_masked_line(text, line);
    if (masked == NULL)
      return;
    if (strstr(masked, "canary") != NULL)
      g_error("of\n%s\nthis is shown: %s", text, masked);
  }
}

static char *
fill_in(const char *form, const char *text)
{
  g_auto(GStrv) parts = g_strsplit(form, "%s", 2);
  g_autofree char *all = g_strconcat(parts[0], text, parts[1], NULL);
  g_auto(GStrv) percents = g_strsplit(all, "%%", -1);
  return g_strjoinv("%", percents);
}

/* A password where a mapping belongs, over lines, in braces, behind a name that is misspelt, of an unfinished text: no
 * error quotes it, and no line that is shown beside one. The text is also broken somewhere outside of it. */
static void
test_no_secret_is_shown_in_any_shape(void)
{
  static const char breakers[] = "\"':{}[],*|>%@\n-\t\xff";

  for (gsize i = 0; i < G_N_ELEMENTS(places); i++)
    for (gsize j = 0; j < G_N_ELEMENTS(forms); j++)
      for (gsize k = 0; k < G_N_ELEMENTS(names); k++) {
        g_autofree char *form = fill_in(forms[j], names[k]);
        g_autofree char *text = fill_in(places[i], form);
        assert_hidden(text);
        g_autoptr(GString) broken = g_string_new(text);
        const char *begin = strstr(places[i], "%s") - places[i] + text;
        gssize before = begin - text, behind = before + (gssize)strlen(form);
        gssize at = g_test_rand_bit() ? g_test_rand_int_range(0, (gint32)before + 1)
                                      : g_test_rand_int_range((gint32)behind, (gint32)broken->len + 1);
        g_string_insert_c(broken, at, breakers[g_test_rand_int_range(0, sizeof breakers - 1)]);
        assert_hidden(broken->str);
      }
}

/* As with '-c' and a password file, a token file, or one of users. */
static void
test_file_of_one_text_is_not_shown(void)
{
  static const char *const texts[] = {
      "canary", "canary\n", "u:canary\nv:canary\n", "\"canary\"", "|\n  canary\n  canary", "--- canary"};

  for (gsize i = 0; i < G_N_ELEMENTS(texts); i++)
    assert_hidden(texts[i]);
}

static void
test_lines_beside_a_secret_are_shown(void)
{
  static const struct {
    const char *source;
    guint line;
    const char *shown;
  } cases[] = {
      {"a:\n  sasl.password: x\n  b: c\n", 2, "  sasl.password: ***"},
      {"a:\n  sasl.password: x\n  b: c\n", 3, "  b: c"},
      {"a:\n  sasl.password: \"x\n  y\"\n  b: c\n", 3, "***"},
      {"a:\n  sasl.password: \"x\n  y\"\n  b: c\n", 4, "  b: c"},
      {"? password\n: x\nb: c\n", 2, ": ***"},
      {"tables:\n  passengers:\n    key: [a]\n", 3, "    key: [a]"},
      {"a: [\npassword: x\n", 1, "a: ["},
      {"# a\u2028# b\rpassword: \"x\ny\"\n", 4, "***"}, /* lines as libyaml counts them */
      {"registry:\n  user: tidemark\n", 2, "  user: tidemark"},
      {"registry:\n  user: tidemark:x\n", 2, "  user: ***"},
      {"registry: { user: \"tidemark:x\", url: a }\n", 1, "registry: { user: ***, url: a }"},
      {"a: b", 2, NULL},
      {"a: b", 0, NULL},
  };

  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *shown = tide_masked_line(cases[i].source, cases[i].line);
    g_assert_cmpstr(shown, ==, cases[i].shown);
  }
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/masked-line/E2-no-secret-is-shown-in-any-shape", test_no_secret_is_shown_in_any_shape);
  g_test_add_func("/masked-line/E2-file-of-one-text-is-not-shown", test_file_of_one_text_is_not_shown);
  g_test_add_func("/masked-line/lines-beside-a-secret-are-shown", test_lines_beside_a_secret_are_shown);
  return g_test_run();
}
