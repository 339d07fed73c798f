/* An option that was renamed: its old key is taken with a warning, and never beside the new one. No option of the
 * daemon has an old name now: those here are the test's own. */
#include "config/option/option.h"
#include "config/option/option_table.h"
#include "config/yaml/secret.h"

typedef struct Values {
  guint32 workers;
  guint32 depth;
  char *text; /* owned */
} Values;

#define PLACE(member) offsetof(Values, member), sizeof(((Values *)NULL)->member)

static const TideConfigOption inner_options[] = {
    {"depth", TIDE_CONFIG_INTEGER, PLACE(depth), 1, 9, "2", .sentence = "A section's.", .was = "levels"},
};

static const TideConfigGroup inner = {.path = "inner", .options = inner_options, .n_options = 1};

static const TideConfigOption options[] = {
    {"workers", TIDE_CONFIG_INTEGER, PLACE(workers), 1, 9, NULL, .example = "3", .flags = TIDE_CONFIG_REQUIRED,
     .sentence = "Needed.", .was = "threads"},
    {"inner", TIDE_CONFIG_SECTION, .section = &inner},
};

static const TideConfigGroup group = {.path = "", .options = options, .n_options = G_N_ELEMENTS(options)};

/* What is wrong with @text, one a line, its severity before it; its values are in @ret_values. (transfer full) */
static char *
problems_of(const char *text, Values *ret_values)
{
  g_autoptr(GPtrArray) problems = tide_problems_new();
  g_autoptr(TideYamlNode) root = tide_yaml_parse(tide_bytes_of_string(text), problems);
  *ret_values = (Values){0};
  TideConfigTarget target = {.base = ret_values, .problems = problems, .top = &group};
  tide_config_group_set_defaults(&group, ret_values);
  tide_config_group_read(&group, "", root, TIDE_SOURCE_POSITION_FILE, &target);
  GString *all = g_string_new(NULL);
  for (guint i = 0; i < problems->len; i++) {
    const TideConfigProblem *problem = g_ptr_array_index(problems, i);
    g_string_append_printf(all, "%u:%u %s: %s\n", problem->line, problem->column,
                           problem->severity == TIDE_CONFIG_WARNING ? "warning" : "error", problem->text);
  }
  /* Whoever looks into the tree later finds a renamed option by its name. */
  g_assert_true((tide_yaml_find(root, "inner.depth") != NULL) == (strstr(text, "inner") != NULL));
  return g_string_free(all, FALSE);
}

static void
test_old_key_is_taken_with_a_warning(void)
{
  Values values;
  g_autofree char *said = problems_of("threads: 4\ninner:\n  levels: 7\n", &values);
  g_assert_cmpstr(
      said, ==,
      "1:1 warning: 'threads' is called 'workers' now: rename it, the next release does not know the old name\n"
      "3:3 warning: 'inner.levels' is called 'inner.depth' now: rename it, the next release does not know the "
      "old name\n");
  g_assert_cmpuint(values.workers, ==, 4);
  g_assert_cmpuint(values.depth, ==, 7);
}

static void
test_new_key_is_not_warned_of(void)
{
  Values values;
  g_autofree char *said = problems_of("workers: 4\n", &values);
  g_assert_cmpstr(said, ==, "");
  g_assert_cmpuint(values.workers, ==, 4);
  g_assert_cmpuint(values.depth, ==, 2);
}

static void
test_both_are_an_error(void)
{
  static const char *const texts[] = {"threads: 4\nworkers: 5\n", "workers: 5\nthreads: 4\n"};
  for (gsize i = 0; i < G_N_ELEMENTS(texts); i++) {
    Values values;
    g_autofree char *said = problems_of(texts[i], &values);
    g_assert_cmpstr(said + 4, ==, "error: 'threads' is the old name of 'workers', which is there too: take it out\n");
    g_assert_cmpuint(values.workers, ==, 5);
  }
}

static void
test_wrong_value_of_an_old_key_is_an_error(void)
{
  Values values;
  g_autofree char *said = problems_of("threads: 44\n", &values);
  g_assert_nonnull(strstr(said, "1:1 warning: 'threads' is called 'workers' now"));
  g_assert_nonnull(strstr(said, "1:10 error: 'workers' "));
}

/* ---- secrets ---- */

static gboolean
is_masked(const char *name)
{
  g_autofree char *line = g_strdup_printf("  %s: x", name);
  return tide_secret_find_value(line) != NULL;
}

/* Whose value messages do not show is masked by what it was called, too: a file of the release before is shown with the
 * warning. Returns how many options there are, and the first that breaks this in @ret_shown. */
static guint
find_shown(const TideConfigGroup *of, const TideConfigOption **ret_shown)
{
  guint n_options = 0;
  for (gsize i = 0; i < of->n_options; i++) {
    const TideConfigOption *option = &of->options[i];
    n_options++;
    if (option->was != NULL && is_masked(option->name) && !is_masked(option->was) && *ret_shown == NULL)
      *ret_shown = option;
    if (option->type == TIDE_CONFIG_SECTION)
      n_options += find_shown(option->section, ret_shown);
  }
  return n_options;
}

static void
test_old_keys_of_secrets_are_masked(void)
{
  const TideConfigOption *shown = NULL;
  g_assert_cmpuint(find_shown(&tide_config_top, &shown), >, 60);
  if (shown != NULL)
    g_error("'%s' was called '%s', which messages do not mask: put it among the sounds in config/yaml/secret.c",
            shown->name, shown->was);
}

static void
test_an_old_key_that_is_shown_is_found(void)
{
  static const TideConfigOption secrets[] = {{"token_file", TIDE_CONFIG_STRING, .was = "password_file"},
                                             {"token", TIDE_CONFIG_STRING, .was = "pin"}};
  static const TideConfigGroup deep = {.path = "deep", .options = secrets, .n_options = G_N_ELEMENTS(secrets)};
  static const TideConfigOption around[] = {{"deep", TIDE_CONFIG_SECTION, .section = &deep}};
  static const TideConfigGroup top = {.path = "", .options = around, .n_options = G_N_ELEMENTS(around)};
  const TideConfigOption *shown = NULL;
  g_assert_cmpuint(find_shown(&top, &shown), ==, 3);
  g_assert_true(shown == &secrets[1]);
}

/* The warning stands with an excerpt of the file. */
static void
test_warning_of_an_old_key_shows_no_secret(void)
{
  static const TideConfigOption secrets[] = {{"token", TIDE_CONFIG_STRING, PLACE(text), .was = "passphrase"}};
  static const TideConfigGroup door = {.path = "", .options = secrets, .n_options = G_N_ELEMENTS(secrets)};
  static const char text[] = "passphrase: canary\n";
  g_autoptr(GPtrArray) problems = tide_problems_new();
  g_autoptr(TideYamlNode) root = tide_yaml_parse(tide_bytes_of_string(text), problems);
  Values values = {0};
  TideConfigTarget target = {.base = &values, .problems = problems, .top = &door};
  tide_config_group_read(&door, "", root, TIDE_SOURCE_POSITION_FILE, &target);
  g_assert_cmpstr(values.text, ==, "canary");
  g_assert_cmpuint(problems->len, ==, 1);
  g_autofree char *said = tide_config_problem_format(problems->pdata[0], "tidemark.yaml", text);
  g_assert_nonnull(strstr(said, "'passphrase' is called 'token' now"));
  g_assert_nonnull(strstr(said, "passphrase: ***"));
  g_assert_null(strstr(said, "canary"));
  g_free(values.text);
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/option-names/old-key-is-taken-with-a-warning", test_old_key_is_taken_with_a_warning);
  g_test_add_func("/option-names/new-key-is-not-warned-of", test_new_key_is_not_warned_of);
  g_test_add_func("/option-names/both-are-an-error", test_both_are_an_error);
  g_test_add_func("/option-names/wrong-value-of-an-old-key-is-an-error", test_wrong_value_of_an_old_key_is_an_error);
  g_test_add_func("/option-names/old-keys-of-secrets-are-masked", test_old_keys_of_secrets_are_masked);
  g_test_add_func("/option-names/an-old-key-that-is-shown-is-found", test_an_old_key_that_is_shown_is_found);
  g_test_add_func("/option-names/warning-of-an-old-key-shows-no-secret", test_warning_of_an_old_key_shows_no_secret);
  return g_test_run();
}
