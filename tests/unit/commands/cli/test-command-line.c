/* The table-driven command line: values with their units and ranges, hints, help. */
#include "commands/cli/command_line.h"

#include "unit/test_case.h"

#include <glib/gstdio.h>
#include <unistd.h>

typedef struct Target {
  gboolean flag;
  const char *text;
  GPtrArray *list;
  guint64 count;
  gint64 duration_ms;
  double share;
  int choice;
  const char *config_path; /* the call's */
} Target;

static const char *const choices[] = {"table", "csv", "json", NULL};

static const TideOption options[] = {
    {"config", "FILE", TIDE_OPTION_CONFIG, 0, NULL, .letter = 'c'},
    {"flag", NULL, TIDE_FLAG(Target, flag), NULL, .letter = 'F'},
    {"text", "TEXT", TIDE_TEXT(Target, text), NULL, .letter = 't'},
    {"list", "TEXT", TIDE_LIST(Target, list)},
    {"count", "N", TIDE_COUNT(Target, count), NULL, .min = 1, .max = 100},
    {"at-least", "N", TIDE_COUNT(Target, count), NULL, .min = 5},
    {"memory", "SIZE", TIDE_MEBIBYTES(Target, count), NULL, .min = 1, .max = 4096},
    {"max-age", "DURATION", TIDE_DURATION(Target, duration_ms)},
    {"every", "DURATION", TIDE_DURATION(Target, duration_ms), NULL, .min = 100, .max = 60000},
    {"keep", "DURATION", TIDE_DURATION(Target, duration_ms), NULL, .min = 60000,
     .max = G_GUINT64_CONSTANT(86400000) * 36500},
    {"late", "SHARE", TIDE_PERCENT(Target, share)},
    {"margin", "SHARE", TIDE_PERCENT(Target, share), NULL, .min = 1, .max = 95},
    {"format", "FORMAT", TIDE_CHOICE(Target, choice), NULL, .choices = choices},
};
static const TideCommand probe = {.name = "probe",
                                  .arguments = "WHAT",
                                  .summary = "Probes.",
                                  .max_arguments = 2,
                                  .options = options,
                                  .n_options = G_N_ELEMENTS(options)};

/* Parses @argv (NULL-terminated) into @target; the positional arguments are joined into @ret_arguments. */
static gboolean
parse(const char *const *argv, Target *target, char **ret_arguments, GError **error)
{
  *target = (Target){.list = g_ptr_array_new(), .count = 7};
  g_autoptr(GPtrArray) arguments = g_ptr_array_new();
  TideCommandCall call = {.command = &probe, .options = target, .arguments = arguments};
  gboolean help = FALSE;
  gboolean ok =
      tide_command_line_parse(&call, (int)g_strv_length((char **)(gsize)argv), (char **)(gsize)argv, &help, error);
  target->config_path = call.config_path;
  g_ptr_array_add(arguments, NULL);
  *ret_arguments = g_strjoinv("|", (char **)arguments->pdata);
  g_assert_false(help);
  return ok;
}

static void
clear_target(Target *target)
{
  g_clear_pointer(&target->list, g_ptr_array_unref);
}

TEST("/command-line/values-reach-their-targets")
{
  Target target;
  g_autofree char *arguments = NULL;
  g_autoptr(GError) error = NULL;
  const char *const argv[] = {"a",       "--flag",   "--text=x=y", "--list", "one",       "--list=two",
                              "--count", "100",      "--late",     "0.5%",   "--max-age", "5m",
                              "b",       "--format", "json",       "-cFILE", NULL};
  g_assert_true(parse(argv, &target, &arguments, &error));
  g_assert_no_error(error);
  g_assert_cmpstr(arguments, ==, "a|b");
  g_assert_true(target.flag);
  g_assert_cmpstr(target.text, ==, "x=y");
  g_assert_cmpuint(target.list->len, ==, 2);
  g_assert_cmpstr(target.list->pdata[1], ==, "two");
  g_assert_cmpuint(target.count, ==, 100);
  g_assert_cmpint(target.duration_ms, ==, 300000);
  g_assert_cmpfloat_with_epsilon(target.share, 0.005, 1e-12);
  g_assert_cmpint(target.choice, ==, 2);
  g_assert_cmpstr(target.config_path, ==, "FILE");
  clear_target(&target);
}

TEST("/command-line/sizes-are-mebibytes-or-have-a-unit")
{
  static const struct {
    const char *text;
    guint64 mebibytes;
  } cases[] = {{"--memory=10", 10}, {"--memory=10MiB", 10}, {"--memory=2GiB", 2048}, {"--memory=1536KiB", 1}};
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    Target target;
    g_autofree char *arguments = NULL;
    g_assert_true(parse((const char *const[]){cases[i].text, NULL}, &target, &arguments, NULL));
    g_assert_cmpuint(target.count, ==, cases[i].mebibytes);
    clear_target(&target);
  }
}

TEST("/command-line/short-dead-letters-take-attached-and-separate-values")
{
  static const struct {
    const char *argv[4];
    const char *text;
  } cases[] = {{{"-tvalue"}, "value"}, {{"-t", "value"}, "value"}, {{"-F", "-t", "-x"}, "-x"}, {{"-t="}, "="}};
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    Target target;
    g_autofree char *arguments = NULL;
    g_autoptr(GError) error = NULL;
    g_assert_true(parse(cases[i].argv, &target, &arguments, &error));
    g_assert_cmpstr(target.text, ==, cases[i].text);
    clear_target(&target);
  }
}

TEST("/command-line/all-behind-a-double-dash-is-positional")
{
  Target target;
  g_autofree char *arguments = NULL;
  g_autoptr(GError) error = NULL;
  const char *const argv[] = {"-", "--", "--flag", NULL};
  g_assert_true(parse(argv, &target, &arguments, &error));
  g_assert_cmpstr(arguments, ==, "-|--flag");
  g_assert_false(target.flag);
  clear_target(&target);
}

TEST("/command-line/wrong-values-are-refused-with-the-remedy")
{
  static const struct {
    const char *argv[3];
    const char *text;
  } cases[] = {
      {{"--colour"}, "unknown option '--colour': see 'tidemark probe --help'"},
      {{"--fromat=csv"}, "unknown option '--fromat': did you mean '--format'?"},
      {{"--hepl"}, "unknown option '--hepl': did you mean '--help'?"},
      {{"-x"}, "unknown option '-x': see 'tidemark probe --help'"},
      {{"--flag=yes"}, "'--flag' accepts no value, got 'yes'"},
      {{"--text"}, "'--text' needs a value: --text TEXT"},
      {{"--memory=10KiB"}, "'--memory' must be from 1 to 4096 MiB, got '10KiB'"},
      {{"--memory=5GiB"}, "'--memory' must be from 1 to 4096 MiB, got '5GiB'"},
      {{"--memory=10MB"}, "'--memory' must be a size such as 256MiB or 2GiB, got '10MB'"},
      {{"--count=0"}, "'--count' must be from 1 to 100, got '0'"},
      {{"--count=101"}, "'--count' must be from 1 to 100, got '101'"},
      {{"--count=-1"}, "'--count' must be a whole number, got '-1'"},
      {{"--count="}, "'--count' must be a whole number, got ''"},
      {{"--count=1x"}, "'--count' must be a whole number, got '1x'"},
      {{"--count=99999999999999999999"}, "'--count' must be a whole number, got '99999999999999999999'"},
      {{"--at-least=4"}, "'--at-least' must be at least 5, got '4'"},
      {{"--late=2"}, "'--late' must be a share from 0% to 100%, like 2%, got '2'"},
      {{"--late=50"}, "'--late' must be a share from 0% to 100%, like 50%, got '50'"},
      {{"--late=500"}, "'--late' must be a share from 0% to 100%, like 2%, got '500'"},
      {{"--late=101%"}, "'--late' must be a share from 0% to 100%, like 2%, got '101%'"},
      {{"--late=-1%"}, "'--late' must be a share from 0% to 100%, like 2%, got '-1%'"},
      {{"--margin=95.1%"}, "'--margin' must be a share from 1% to 95%, like 2%, got '95.1%'"},
      {{"--margin=0.9%"}, "'--margin' must be a share from 1% to 95%, like 2%, got '0.9%'"},
      {{"--format=xml"}, "'--format' must be one of table, csv, json, got 'xml'"},
      {{"--max-age=5"}, "'--max-age' must have a unit (ms, s, m, h, d): '5s' or '5ms', got '5'"},
      {{"--keep=90"}, "'--keep' must have a unit (ms, s, m, h, d): '90d' or '90h', got '90'"},
      {{"--every=5"}, "'--every' must have a unit (ms, s, m, h, d): '5s' or '5ms', got '5'"},
      {{"--every=99ms"}, "'--every' must be from 100ms to 1m, got '99ms'"},
      {{"--every=2m"}, "'--every' must be from 100ms to 1m, got '2m'"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    Target target;
    g_autofree char *arguments = NULL;
    g_autoptr(GError) error = NULL;
    g_assert_false(parse(cases[i].argv, &target, &arguments, &error));
    g_assert_error(error, TIDE_ERROR, TIDE_ERROR_USAGE);
    g_assert_cmpstr(error->message, ==, cases[i].text);
    clear_target(&target);
  }
}

TEST("/command-line/a-surplus-argument-is-named")
{
  Target target;
  g_autofree char *arguments = NULL;
  g_autoptr(GError) error = NULL;
  const char *const argv[] = {"a", "b", "c", NULL};
  g_assert_false(parse(argv, &target, &arguments, &error));
  g_assert_cmpstr(error->message, ==, "unexpected argument 'c': see 'tidemark probe --help'");
  clear_target(&target);
}

/* What a command that takes no arguments says of @argument. (transfer full) */
static char *
refusal_of(const TideCommand *command, const char *argument)
{
  char *argv[] = {(char *)(gsize)argument, NULL};
  g_autoptr(GPtrArray) arguments = g_ptr_array_new();
  gboolean help = FALSE;
  g_autoptr(GError) error = NULL;
  TideCommandCall call = {.command = command, .arguments = arguments};
  g_assert_false(tide_command_line_parse(&call, 1, argv, &help, &error));
  g_assert_error(error, TIDE_ERROR, TIDE_ERROR_USAGE);
  return g_strdup(error->message);
}

TEST("/command-line/where-none-is-taken-a-hint-says-how-it-is-given")
{
  static const TideOption with_messages[] = {
      {"config", "FILE", TIDE_OPTION_CONFIG, 0, NULL, .letter = 'c'},
      {"messages", "FILE", TIDE_LIST(Target, list)},
  };
  const TideCommand checks = {.name = "checks", .options = options, .n_options = G_N_ELEMENTS(options)};
  const TideCommand reads = {
      .name = "reads", .reads_input = TRUE, .options = options, .n_options = G_N_ELEMENTS(options)};
  const TideCommand takes = {.name = "takes", .options = with_messages, .n_options = G_N_ELEMENTS(with_messages)};
  const TideCommand bare = {.name = "bare"};
  g_autofree char *file = NULL;
  int fd = g_file_open_tmp("XXXXXX.jsonl", &file, NULL);
  g_assert_cmpint(fd, >=, 0);
  close(fd);
  const struct {
    const TideCommand *command;
    const char *argument, *hint;
  } cases[] = {
      {&checks, "no.yaml", "use -c for a configuration: tidemark checks -c no.yaml"},
      {&checks, "a b.yml", "use -c for a configuration: tidemark checks -c 'a b.yml'"},
      {&checks, file, "use -c for a configuration: tidemark checks -c %s"},
      {&checks, "no.jsonl", "see 'tidemark checks --help'"},
      {&checks, "max-age", "did you mean '--max-age'?"},
      {&reads, "no.yaml", "use -c for a configuration: tidemark reads -c no.yaml"},
      {&reads, file, "messages are read from standard input: tidemark reads … < %s"},
      {&takes, "no.yaml", "use -c for a configuration: tidemark takes -c no.yaml"},
      {&takes, file, "use '--messages' for a file: tidemark takes --messages %s"},
      {&bare, "no.yaml", "see 'tidemark bare --help'"},
      {&bare, file, "see 'tidemark bare --help'"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *said = refusal_of(cases[i].command, cases[i].argument);
    g_autoptr(GString) expected = g_string_new(cases[i].hint);
    g_string_replace(expected, "%s", file, 1);
    g_autofree char *all = g_strdup_printf("unexpected argument '%s': %s", cases[i].argument, expected->str);
    g_assert_cmpstr(said, ==, all);
  }
  g_unlink(file);
}

TEST("/command-line/help-wins-over-errors")
{
  char wrong[] = "--wrong", help[] = "--help";
  char *argv[] = {wrong, help, NULL};
  g_autoptr(GPtrArray) arguments = g_ptr_array_new();
  gboolean asked = FALSE;
  g_autoptr(GError) error = NULL;
  TideCommandCall call = {.command = &probe, .arguments = arguments};
  g_assert_true(tide_command_line_parse(&call, 2, argv, &asked, &error));
  g_assert_true(asked);
}

TEST("/command-line/help-is-aligned-and-plain-without-a-terminal")
{
  static const TideOption table[] = {
      {"config", "FILE", TIDE_OPTION_CONFIG, 0, "where it is", .letter = 'c'},
      {"a-name-too-long-for-its-column", NULL, TIDE_FLAG(Target, flag), "on a line of its own"},
  };
  const TideCommand command = {.name = "probe",
                               .arguments = "WHAT",
                               .summary = "Probes.",
                               .details =
                                   "A paragraph that is written on lines of which one is longer than all that a screen "
                                   "has, so that both\nare filled anew.\n"
                                   "one  short\n     item\n"
                                   "two  an item that is longer than a screen is wide, which its words have to go on "
                                   "below, and not at the margin\n     of it\n\n"
                                   "Example:\n  tidemark probe it",
                               .exits = {{TIDE_EXIT_FINDINGS, "not there"}, {TIDE_EXIT_DATA}},
                               .options = table,
                               .n_options = G_N_ELEMENTS(table)};
  g_autofree char *text = tide_command_line_help(&command, FALSE);
  g_assert_cmpstr(
      text, ==,
      "Usage: tidemark probe [OPTION…] WHAT\n"
      "\n"
      "Probes.\n"
      "\n"
      "Options:\n"
      "  -c, --config=FILE         where it is\n"
      "      --a-name-too-long-for-its-column\n"
      "                            on a line of its own\n"
      "  -h, --help                show this help\n"
      "\n"
      "Exit codes:\n"
      "  0   done\n"
      "  1   not there\n"
      "  64  the command line is wrong\n"
      "  65  the input cannot be used\n"
      "  70  an internal error of tidemark\n"
      "  74  a file cannot be read, or a file or the output cannot be written\n"
      "\n"
      "A paragraph that is written on lines of which one is longer than all that a screen has, so that both\n"
      "are filled anew.\n"
      "one  short\n"
      "     item\n"
      "two  an item that is longer than a screen is wide, which its words have to go on below, and not at\n"
      "     the margin of it\n"
      "\n"
      "Example:\n"
      "  tidemark probe it\n");
  g_autofree char *coloured = tide_command_line_help(&command, TRUE);
  g_assert_nonnull(strstr(coloured, "\033[1mUsage:\033[0m"));
}
