/* YAML: the tree, its secrets, and lines that hide them. */
#include "config/yaml/masked_line.h"
#include "config/yaml/secret.h"
#include "config/yaml/yaml_text.h"
#include "config/yaml/yaml_tree.h"
#include "unit/config-texts.h"
#include "unit/test_case.h"

/* ---- yaml tree ---- */

static TideYamlNode *
parse(const char *text, GPtrArray *problems)
{
  return tide_yaml_parse(tide_bytes_of_string(text), problems);
}

/* "L:C text" of the first problem, or "". */
static char *
first_problem(const GPtrArray *problems)
{
  if (problems->len == 0)
    return g_strdup("");
  const TideConfigProblem *problem = g_ptr_array_index(problems, 0);
  return g_strdup_printf("%u:%u %s", problem->line, problem->column, problem->text);
}

TEST("/yaml/nodes-know-their-place")
{
  g_autoptr(GPtrArray) problems = tide_problems_new();
  g_autoptr(TideYamlNode) root = parse("a: 1\nb:\n  - x\n  - {c: \"y\"}\nü: z\n", problems);

  g_assert_cmpuint(problems->len, ==, 0);
  g_assert_cmpint(root->kind, ==, TIDE_YAML_MAPPING);
  const TideYamlNode *list = tide_yaml_get(root, "b");
  g_assert_cmpuint(list->values->len, ==, 2);
  const TideYamlNode *c = tide_yaml_get(g_ptr_array_index(list->values, 1), "c");
  g_assert_cmpuint(c->position.line, ==, 4);
  g_assert_cmpuint(c->position.column, ==, 9);
  g_assert_true(c->is_quoted);
  /* A column is a character, not a byte. */
  g_assert_cmpuint(tide_yaml_get(root, "ü")->position.column, ==, 4);
}

TEST("/yaml/scalars-stay-text")
{
  g_autoptr(GPtrArray) problems = tide_problems_new();
  g_autoptr(TideYamlNode) root = parse("a: 007\nb: yes\nc: 1e3\nd: \"a\\0b\"\ne: 2001-01-01\n", problems);

  g_assert_cmpstr(tide_yaml_get(root, "a")->text, ==, "007");
  g_assert_cmpstr(tide_yaml_get(root, "b")->text, ==, "yes");
  g_assert_cmpstr(tide_yaml_get(root, "c")->text, ==, "1e3");
  g_assert_cmpuint(tide_yaml_get(root, "d")->len, ==, 3);
  g_assert_cmpstr(tide_yaml_get(root, "e")->text, ==, "2001-01-01");
}

TEST("/yaml/null-is-what-is-left-empty")
{
  g_autoptr(GPtrArray) problems = tide_problems_new();
  g_autoptr(TideYamlNode) root = parse("a:\nb: ~\nc: null\nd: \"\"\ne: \"null\"\n", problems);

  g_assert_true(tide_yaml_is_null(tide_yaml_get(root, "a")));
  g_assert_true(tide_yaml_is_null(tide_yaml_get(root, "b")));
  g_assert_true(tide_yaml_is_null(tide_yaml_get(root, "c")));
  g_assert_false(tide_yaml_is_null(tide_yaml_get(root, "d")));
  g_assert_false(tide_yaml_is_null(tide_yaml_get(root, "e")));
  g_assert_true(tide_yaml_is_null(tide_yaml_get(root, "missing")));
}

TEST("/yaml/paths-are-found")
{
  g_autoptr(GPtrArray) problems = tide_problems_new();
  g_autoptr(TideYamlNode) root = parse("a: {b: {c: deep}}", problems);

  g_assert_cmpstr(tide_yaml_find(root, "a.b.c")->text, ==, "deep");
  g_assert_null(tide_yaml_find(root, "a.x.c"));
  g_assert_null(tide_yaml_find(root, "a.b.c.d"));
}

/* What is refused, where, and in which words. */
static const struct Refused {
  const char *name;
  const char *text;
  const char *expected; /* beginning of "L:C text" */
} refused[] = {
    {"F2-bracket-not-closed", "a: [1, 2\nb: 3\n", "2:2 did not find expected ',' or ']'"},
    {"F2-says-where-it-began", "a:\n  - [1\n\n\nb: c\n",
     "5:2 did not find expected ',' or ']' while parsing a flow sequence that starts in line 2"},
    {"F2-value-with-colon", "a: b: c\n", "1:5 mapping values are not allowed in this context; a value that contains"},
    {"F2-indented-otherwise", "a:\n    b: 1\n  c: 2\n",
     "3:3 did not find expected key while parsing a block mapping that starts in line 1; is line 3 indented like the "
     "lines above it?"},
    {"F2-item-indented-otherwise", "- a\nb: 1\n",
     "2:1 did not find expected '-' indicator while parsing a block collection that starts in line 1; is line 2 "
     "indented like the lines above it?"},
    {"F2-colon-missing", "a: 1\nb 2\nc: 3\n",
     "3:1 could not find expected ':' while scanning a simple key that starts in line 2; is a ':' missing in line 2?"},
    {"F2-unquoted-number-sign", "key: [a, #, b]\nx: 1\n", "1:10 this # starts a comment"},
    {"F2-unquoted-star", "from: *\n",
     "1:8 did not find expected alphabetic or numeric character while scanning an alias; write \"*\" in quotes"},
    {"F2-reserved-character", "a: @b\n",
     "1:4 found character that cannot start any token while scanning for the next token; put the text into quotes"},
    {"F2-control-character", "a: \x01\n", "1:4 control characters are not allowed"},
    {"F4-duplicate-key", "a: 1\nb: 2\na: 3\n", "3:1 'a' occurs twice, first in line 1"},
    {"F4-anchor", "a: &x 1\n", "1:4 an anchor ('&...') is not supported"},
    {"F4-alias", "a: 1\nb: *x\n", "2:4 an alias ('*...') is not supported"},
    {"F4-tag", "a: !!str 1\n", "1:4 a tag ('!...') is not supported"},
    {"F4-tab-in-indentation", "a:\n\tb: 1\n", "2:1 a tab: indent with spaces"},
    {"F4-tab-in-value", "a: \"x\ty\"\n", "1:6 a tab:"},
    {"F4-not-utf8", "a: 1\nb: \xff\n", "2:4 byte 0xFF is not UTF-8 text"},
    {"F4-utf8-surrogate", "a: \xed\xa0\x80\n", "1:4 byte 0xED is not UTF-8 text"},
    {"second-document", "a: 1\n---\nb: 2\n", "2:1 a second document starts here"},
    {"key-that-is-a-list", "? [a]\n: b\n", "1:3 the key of a mapping must be a text"},
    {"key-with-nul", "\"a\\0\": b\n", "1:1 the key of a mapping must be a text"},
    {"F1-empty", "", "0:0 the file is empty"},
    {"F1-comments-only", "# nothing\n\n", "0:0 the file is empty"},
};

TEST_EACH("/yaml/refused/", refused)
{
  const struct Refused *it = data;
  g_autoptr(GPtrArray) problems = tide_problems_new();
  g_autoptr(TideYamlNode) root = parse(it->text, problems);
  g_autofree char *got = first_problem(problems);

  if (!g_str_has_prefix(got, it->expected))
    g_error("got \"%s\", expected \"%s\"", got, it->expected);
  g_assert_cmpuint(tide_problems_n_errors(problems), ==, 1);
  /* Where there is a tree in spite of it, more can be checked. */
  g_assert_true(root == NULL || root->kind == TIDE_YAML_MAPPING);
}

TEST("/yaml/tab-in-comment-is-allowed")
{
  g_autoptr(GPtrArray) problems = tide_problems_new();
  g_autoptr(TideYamlNode) root = parse("#\ta comment\na: 1 #\tanother\n", problems);

  g_assert_cmpuint(problems->len, ==, 0);
  g_assert_nonnull(root);
}

TEST("/yaml/all-problems-are-found")
{
  g_autoptr(GPtrArray) problems = tide_problems_new();
  g_autoptr(TideYamlNode) root = parse("a: &x 1\na: 2\nb: *x\nc: !t 3\n", problems);

  g_assert_cmpuint(problems->len, ==, 4);
  g_assert_nonnull(root); /* so that what is in it can be checked, too */
}

/* @n opening brackets and as many closing ones. */
static char *
nested(guint n)
{
  g_autofree char *open = g_strnfill(n, '[');
  g_autofree char *close = g_strnfill(n, ']');

  return g_strconcat(open, close, NULL);
}

TEST("/yaml/limits-hold-exactly")
{
  g_autoptr(GPtrArray) good = tide_problems_new();
  g_autoptr(GPtrArray) bad = tide_problems_new();
  g_autofree char *deep = nested(TIDE_YAML_MAX_DEPTH);
  g_autofree char *too_deep = nested(TIDE_YAML_MAX_DEPTH + 1);
  g_autoptr(GString) many = g_string_new("[");
  g_autoptr(GString) large = g_string_new("a: 1\n#");

  for (guint i = 1; i < TIDE_YAML_MAX_NODES; i++)
    g_string_append(many, "x, ");
  g_autofree char *most = g_strdup_printf("%s]", many->str);
  g_autofree char *too_many = g_strdup_printf("%sy]", many->str);
  while (large->len < TIDE_YAML_MAX_BYTES)
    g_string_append_c(large, '#');

  const char *accepted[] = {deep, most, large->str};
  for (gsize i = 0; i < G_N_ELEMENTS(accepted); i++) {
    g_autoptr(TideYamlNode) root = parse(accepted[i], good);
    g_assert_nonnull(root);
    g_assert_cmpuint(good->len, ==, 0);
  }
  g_string_append_c(large, '#');
  const char *denied[] = {too_deep, too_many, large->str};
  const char *words[] = {"nested deeper than 32", "more than 10000 values", "larger than 1048576 bytes"};
  for (gsize i = 0; i < G_N_ELEMENTS(denied); i++) {
    g_autoptr(TideYamlNode) root = parse(denied[i], bad);
    g_assert_null(root);
    g_assert_cmpuint(bad->len, ==, i + 1);
    const TideConfigProblem *problem = g_ptr_array_index(bad, i);
    g_assert_nonnull(strstr(problem->text, words[i]));
  }
}

TEST("/yaml/hostile-nesting-is-cheap")
{
  g_autoptr(GPtrArray) problems = tide_problems_new();
  g_autofree char *deep = nested(500000);
  gint64 start_us = g_get_monotonic_time();
  g_autoptr(TideYamlNode) root = parse(deep, problems);

  g_assert_null(root);
  g_assert_cmpint(g_get_monotonic_time() - start_us, <, 5 * G_USEC_PER_SEC);
}

/* Texts that need quotes, and those that must not change. */
TEST("/yaml/written-scalars-read-back")
{
  static const char *const texts[] = {"plain",
                                      "with space",
                                      "#",
                                      "*",
                                      "a: b",
                                      "null",
                                      "~",
                                      "",
                                      "-",
                                      "- a",
                                      "007",
                                      "\"quoted\"",
                                      "back\\slash",
                                      "new\nline",
                                      "tab\there",
                                      "Größe",
                                      "\x7f",
                                      "ɀ\u200b",
                                      "\xf0\x9f\x98\x80",
                                      "a,b",
                                      "[x]",
                                      "{y}",
                                      "%d",
                                      "@x",
                                      "!t",
                                      "&a",
                                      "?",
                                      "|",
                                      ">"};

  for (gsize i = 0; i < G_N_ELEMENTS(texts); i++) {
    g_autoptr(GPtrArray) problems = tide_problems_new();
    g_autoptr(GString) yaml = g_string_new("{ k: ");
    tide_yaml_append_scalar(yaml, texts[i], strlen(texts[i]));
    g_string_append(yaml, " }");
    g_autoptr(TideYamlNode) root = parse(yaml->str, problems);
    g_assert_cmpuint(problems->len, ==, 0);
    g_assert_cmpstr(tide_yaml_get(root, "k")->text, ==, texts[i]);
    g_assert_false(tide_yaml_is_null(tide_yaml_get(root, "k")));
  }
}

TEST("/yaml/written-trees-read-back")
{
  const char *text = "\n  a: 1\n  b:\n    c: [x, { y: \"#\", z: null }]\n    d: \"\\x00\"\n";
  g_autoptr(GPtrArray) problems = tide_problems_new();
  g_autoptr(TideYamlNode) root = parse(text, problems);
  g_autoptr(GString) yaml = g_string_new(NULL);

  tide_yaml_append_node(yaml, root, 2, 2);
  g_assert_cmpstr(yaml->str, ==, text);
}

static char *
format(guint line, guint column, const char *source)
{
  TideConfigProblem problem = {FALSE, line, column, (char *)"wrong"};

  return tide_config_problem_format(&problem, "f.yaml", source);
}

TEST("/problem/excerpt-points-at-the-column")
{
  g_autofree char *plain = format(2, 5, NULL);
  g_autofree char *excerpt = format(2, 5, "a: 1\nü: bad\n");
  g_autofree char *whole_file = format(0, 0, "a: 1\n");
  g_autofree char *beyond = format(9, 9, "a: 1\n");

  g_assert_cmpstr(plain, ==, "f.yaml:2:5: error: wrong");
  g_assert_cmpstr(excerpt, ==, "f.yaml:2:5: error: wrong\n    2 | ü: bad\n      |     ^");
  g_assert_cmpstr(whole_file, ==, "f.yaml: error: wrong");
  g_assert_cmpstr(beyond, ==, "f.yaml:9:9: error: wrong");
}

TEST("/problem/excerpt-of-a-long-line-is-a-window")
{
  g_autofree char *padding = g_strnfill(5000, 'x');
  g_autofree char *source = g_strconcat("a: ", padding, "HERE", padding, NULL);
  g_autofree char *excerpt = format(1, 5004, source);
  g_auto(GStrv) lines = g_strsplit(excerpt, "\n", -1);

  g_assert_cmpuint(strlen(lines[1]), <, 100);
  g_assert_cmpuint((gsize)(strstr(lines[1], "HERE") - lines[1]), ==, (gsize)(strchr(lines[2], '^') - lines[2]));
}

TEST("/problem/E10-excerpt-speaks-no-escapes")
{
  g_autofree char *excerpt = format(1, 1, "a\x1b[31m\xff\n");
  TideConfigProblem problem = {.text = (char *)"wrong", .line = 1, .column = 1};
  g_autofree char *of_path = tide_config_problem_format(&problem, "a\n2026-07-26T00:00:00Z crit \x1b[31m.yaml", NULL);
  g_autoptr(GPtrArray) problems = tide_problems_new();
  tide_problems_add_error(problems, TIDE_SOURCE_POSITION_FILE, "'%s' is bad", "a\nb\x1b\u202E\u2028");

  g_assert_null(strchr(excerpt, '\x1b'));
  g_assert_cmpstr(of_path, ==, "a\\x0A2026-07-26T00:00:00Z crit \\x1B[31m.yaml:1:1: error: wrong");
  g_assert_cmpstr(((const TideConfigProblem *)problems->pdata[0])->text, ==,
                  "'a\\x0Ab\\x1B\\xE2\\x80\\xAE\\xE2\\x80\\xA8' is bad");
  g_assert_true(g_utf8_validate(excerpt, -1, NULL));
}

TEST("/problem/excerpt-hides-secrets")
{
  static const struct {
    const char *source;
    guint line;
  } cases[] = {
      {"sasl.password: canary\n", 1},
      {"k: { sasl.username: u, sasl.password: canary, x: canary }\n", 1},
      {"\"sasl.oauthbearer.client.secret\" : canary\n", 1},
      {"a:\n  ssl.key.pem: |\n    -----BEGIN\n    canary\n", 4},
      {"a: { sasl.password:\ncanary }\n", 2},
      {"a:\n  ssl.key.password: >\n\n    canary\n    more\n", 4},
  };

  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *excerpt = format(cases[i].line, 1, cases[i].source);
    g_assert_null(strstr(excerpt, "canary"));
    g_assert_nonnull(strstr(excerpt, "***"));
  }
}

/* ---- secret ---- */

TEST("/secret/names-of-secrets-are-known")
{
  static const char *const secrets[] = {"sasl.password",
                                        "ssl.key.password",
                                        "ssl.key.pem",
                                        "ssl.keystore.password",
                                        "sasl.oauthbearer.client.secret",
                                        "sasl.oauthbearer.config",
                                        "sasl.oauthbearer.assertion.private.key.passphrase",
                                        "new.password"};
  static const char *const others[] = {"sasl.username", "ssl.ca.location", "client.id", "security.protocol"};

  for (gsize i = 0; i < G_N_ELEMENTS(secrets); i++)
    g_assert_true(tide_secret_is_name(secrets[i]));
  for (gsize i = 0; i < G_N_ELEMENTS(others); i++)
    g_assert_false(tide_secret_is_name(others[i]));
}

TEST("/secret/values-are-found-behind-whatever-sounds-secret")
{
  static const struct {
    const char *line, *value;
  } lines[] = {
      {"    sasl.password: x", "x"},
      {"    sasl.pasword: x", "x"},
      {"    SASL.PASSWORD : x", "x"},
      {"sasl.password=x", "x"},
      {"a: b, 'api_token': x", "x"},
      {"ssl.key: x", "x"},
      {"  key: \"-----BEGIN EC PRIVATE KEY-----", "-----BEGIN EC PRIVATE KEY-----"},
      {"    sasl.username: x", NULL},
      {"    key: [ { field: host } ]", NULL},
      {"    # passes: none", "none"},
      {"sasl.password x", "x"},
      {"? password", NULL},
      {"compasses", NULL},
  };

  for (gsize i = 0; i < G_N_ELEMENTS(lines); i++)
    g_assert_cmpstr(tide_secret_find_value(lines[i].line), ==, lines[i].value);
}

TEST("/secret/E2-passwords-in-addresses-are-masked")
{
  static const char *const texts[][2] = {
      {"'https://user:x@h:1/'", "'https://***@h:1/'"},
      {"a://x@h,b://h2,c://y:z@", "a://***@h,b://h2,c://***@"},
      {"got 'u:x@h:9092,v:y@h2'", "got '***@h:9092,***@h2'"},
      {"https://u:x/y@z@h/", "https://***@h/"},
      {"'http://h:1/a?k=x'; http://h/?", "'http://h:1/a?***'; http://h/?"},
      {"what?x", "what?x"},
      {"http://h:1/a", "http://h:1/a"},
      {"me@h", "me@h"},
      {"http://h/a@b", "http://h/a@b"},
      {"thrift://h and me@b", "thrift://h and me@b"},
      {"://", "://"},
      {"", ""},
  };

  for (gsize i = 0; i < G_N_ELEMENTS(texts); i++) {
    g_autofree char *masked = tide_secret_mask_addresses(texts[i][0]);
    g_assert_cmpstr(masked, ==, texts[i][1]);
  }
}

/* ---- masked line ---- */

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
  g_autoptr(TideConfig) config G_GNUC_UNUSED = tide_config_load_text("t.yaml", tide_bytes_of_string(text), &problems);
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
TEST("/masked-line/E2-no-secret-is-shown-in-any-shape")
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
TEST("/masked-line/E2-file-of-one-text-is-not-shown")
{
  static const char *const texts[] = {
      "canary", "canary\n", "u:canary\nv:canary\n", "\"canary\"", "|\n  canary\n  canary", "--- canary"};

  for (gsize i = 0; i < G_N_ELEMENTS(texts); i++)
    assert_hidden(texts[i]);
}

TEST("/masked-line/lines-beside-a-secret-are-shown")
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
