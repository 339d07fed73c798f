/* What all commands have in common: their options' struct, what they are given, and which exit code wins. */
#include "commands/cli/command.h"

#include "commands/cli/load_config.h"
#include "unit/test_case.h"

#include <glib/gstdio.h>
#include <sys/resource.h>
#include <unistd.h>

typedef struct ProbeOptions {
  guint64 count;
  GPtrArray *names; /* (element-type utf8) */
} ProbeOptions;

/* What run() is told to do, and what it was given. */
static struct {
  int exit_code;
  int failure_code;
  gboolean fails;
  gboolean with_error;
  guint n_calls;
  guint64 count;
  guint n_names;
  guint n_arguments;
} probe;

static gboolean
run(TideCommandCall *call, GError **error)
{
  const ProbeOptions *options = call->options;
  probe.n_calls++;
  probe.count = options->count;
  probe.n_names = options->names->len;
  probe.n_arguments = call->arguments->len;
  call->exit_code = probe.exit_code;
  call->failure_code = probe.failure_code;
  if (probe.with_error)
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_DATA, "no");
  return !probe.fails;
}

static const TideOption options[] = {
    {"count", "N", TIDE_COUNT(ProbeOptions, count), "so many"},
    {"name", "NAME", TIDE_LIST(ProbeOptions, names), "called so"},
};
static const TideCommand command = {.name = "probe",
                                    .summary = "Probes.",
                                    .max_arguments = 1,
                                    .options = options,
                                    .n_options = G_N_ELEMENTS(options),
                                    .options_size = sizeof(ProbeOptions),
                                    .defaults = &(const ProbeOptions){.count = 7},
                                    .run = run};

static int
call_main(const char *const *argv)
{
  probe.n_calls = 0;
  return tide_command_main(&command, (int)g_strv_length((char **)(gsize)argv), (char **)(gsize)argv);
}

TEST("/command/each-run-begins-with-the-defaults")
{
  memset(&probe, 0, sizeof probe);
  g_assert_cmpint(call_main((const char *const[]){NULL}), ==, TIDE_EXIT_OK);
  g_assert_cmpuint(probe.count, ==, 7);
  g_assert_cmpuint(probe.n_names, ==, 0);
  g_assert_cmpint(call_main((const char *const[]){"--count=8", "a", "--name=b", "--name=c", NULL}), ==, TIDE_EXIT_OK);
  g_assert_cmpuint(probe.count, ==, 8);
  g_assert_cmpuint(probe.n_names, ==, 2);
  g_assert_cmpuint(probe.n_arguments, ==, 1);
  g_assert_cmpint(call_main((const char *const[]){NULL}), ==, TIDE_EXIT_OK);
  g_assert_cmpuint(probe.count, ==, 7);
}

TEST("/command/a-wrong-line-runs-nothing")
{
  memset(&probe, 0, sizeof probe);
  g_assert_cmpint(call_main((const char *const[]){"--cuont=8", NULL}), ==, TIDE_EXIT_USAGE);
  g_assert_cmpint(call_main((const char *const[]){"a", "b", NULL}), ==, TIDE_EXIT_USAGE);
  g_assert_cmpuint(probe.n_calls, ==, 0);
}

TEST("/command/what-failed-goes-before-what-was-found")
{
  static const struct {
    gboolean fails, with_error;
    int exit_code, failure_code, expected;
  } cases[] = {
      {FALSE, FALSE, TIDE_EXIT_FINDINGS, TIDE_EXIT_OK, TIDE_EXIT_FINDINGS},
      {FALSE, FALSE, TIDE_EXIT_FINDINGS, TIDE_EXIT_CONFIG, TIDE_EXIT_CONFIG},
      {TRUE, TRUE, TIDE_EXIT_FINDINGS, TIDE_EXIT_OK, TIDE_EXIT_DATA},
      {TRUE, TRUE, TIDE_EXIT_OK, TIDE_EXIT_FINDINGS, TIDE_EXIT_FINDINGS},
      {TRUE, FALSE, TIDE_EXIT_OK, TIDE_EXIT_CONFIG, TIDE_EXIT_CONFIG},
      {TRUE, FALSE, TIDE_EXIT_OK, TIDE_EXIT_OK, TIDE_EXIT_OK}, /* nobody reads the output any more */
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    memset(&probe, 0, sizeof probe);
    probe.fails = cases[i].fails;
    probe.with_error = cases[i].with_error;
    probe.exit_code = cases[i].exit_code;
    probe.failure_code = cases[i].failure_code;
    g_assert_cmpint(call_main((const char *const[]){NULL}), ==, cases[i].expected);
    g_assert_cmpuint(probe.n_calls, ==, 1);
  }
}

TEST("/command/unknown-verbs-are-told-the-known-ones")
{
  static const char *const verbs[] = {"list", "show", "replay", NULL};
  static const struct {
    const char *verb, *text;
  } cases[] = {{"show", NULL},
               {NULL, "the action is missing: list, show or replay"},
               {"shwo", "cannot 'shwo' dead letters: did you mean 'show'?"},
               {"colour", "cannot 'colour' dead letters: use list, show or replay"}};
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GPtrArray) arguments = g_ptr_array_new();
    g_autoptr(GError) error = NULL;
    TideCommandCall call = {.command = &command, .arguments = arguments};
    if (cases[i].verb != NULL)
      g_ptr_array_add(arguments, (gpointer)cases[i].verb);
    g_assert_true(tide_command_check_verb(&call, verbs, "dead letters", &error) == (cases[i].text == NULL));
    if (cases[i].text != NULL)
      g_assert_cmpstr(error->message, ==, cases[i].text);
  }
}

static glong
peak_kib(void)
{
  struct rusage usage;
  g_assert_cmpint(getrusage(RUSAGE_SELF, &usage), ==, 0);
  return usage.ru_maxrss;
}

/* As of a disk image that was named by mistake. */
TEST("/command/a-configuration-that-is-too-large-is-not-read")
{
  g_autoptr(GPtrArray) problems = NULL;
  g_autofree char *path = NULL;
  int fd = g_file_open_tmp("tide-large-XXXXXX", &path, NULL);
  g_assert_cmpint(ftruncate(fd, 512 << 20), ==, 0);
  close(fd);
  glong before_kib = peak_kib();
  g_autoptr(TideConfig) config = tide_config_load(path, &problems);
  FILE *stream = fopen("/dev/null", "w");
  g_assert_null(config);
  g_assert_cmpuint(tide_config_problems_print(stream, path, problems), ==, 1);
  fclose(stream);
  g_assert_cmpint(peak_kib() - before_kib, <, 64 << 10);
  g_unlink(path);
}
