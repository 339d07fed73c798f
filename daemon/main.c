/* The program `tidemark`: finds the subcommand and runs it. */
#include "commands/cli/commands.h"
#include "commands/cli/output.h"
#include "commands/subcommands.h"
#include "config/option/nearest_name.h"
#include "thrift/client/hbase_client.h"
#include "util/error.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

static void
print_help(FILE *stream)
{
  const char *bold = tide_colour_wanted(stream) ? "\033[1m" : "";
  const char *plain = tide_colour_wanted(stream) ? "\033[0m" : "";
  fprintf(stream, "tidemark writes sensor readings from Kafka to HBase, and keeps the latest value of each.\n\n");
  fprintf(stream, "%sUsage:%s tidemark COMMAND [OPTION…] [ARGUMENT…]\n", bold, plain);
  for (const TideSubcommand *at = tide_subcommands; at->command != NULL; at++) {
    if (at->group != NULL)
      fprintf(stream, "\n%s%s:%s\n", bold, at->group, plain);
    if (at->sentence != NULL)
      fprintf(stream, "  %-12s %s\n", at->command->name, at->sentence);
  }
  fprintf(stream, "\n'tidemark COMMAND --help' lists the options of a command, with examples.\n"
                  "The configuration is " TIDE_DEFAULT_CONFIG_PATH " unless --config FILE names another.\n");
}

/* Names used by other programs for our commands. */
static const struct {
  const char *word, *command;
} synonyms[] = {{"start", "run"}, {"lint", "check"}, {"validate", "check"}, {"test", "check"}};

static const char *
command_meant(const char *name, const char *const *names)
{
  for (gsize i = 0; i < G_N_ELEMENTS(synonyms); i++) {
    if (strcmp(name, synonyms[i].word) == 0)
      return synonyms[i].command;
  }
  return name[0] == '-' ? NULL : tide_nearest_name(name, names);
}

static int
refuse_unknown(const char *name)
{
  g_autoptr(GPtrArray) names = g_ptr_array_new();
  for (const TideSubcommand *at = tide_subcommands; at->command != NULL; at++) {
    if (at->sentence != NULL)
      g_ptr_array_add(names, (gpointer)at->command->name);
  }
  g_ptr_array_add(names, NULL);
  const char *nearest = command_meant(name, (const char *const *)names->pdata);
  g_autofree char *shown = tide_text_printable(tide_bytes_of_string(name));
  if (nearest != NULL)
    tide_say("tidemark: unknown command '%s': did you mean '%s'?", shown, nearest);
  else if (name[0] == '-')
    tide_say("tidemark: unknown option '%s': options follow the command; see 'tidemark --help'", shown);
  else
    tide_say("tidemark: unknown command '%s': see 'tidemark --help'", shown);
  return TIDE_EXIT_USAGE;
}

static gboolean
is_one_of(const char *argument, const char *a, const char *b, const char *c)
{
  return strcmp(argument, a) == 0 || strcmp(argument, b) == 0 || strcmp(argument, c) == 0;
}

/* `tidemark help scan` is `tidemark scan --help`. */
static int
help(int argc, char **argv)
{
  if (argc == 0) {
    print_help(stdout);
    return tide_output_close();
  }
  const TideCommand *command = tide_subcommand_find(argv[0]);
  if (command == NULL)
    return refuse_unknown(argv[0]);
  char option[] = "--help";
  char *arguments[] = {option, NULL};
  return tide_command_main(command, 1, arguments);
}

int
main(int argc, char **argv)
{
  /* A closed pipe or connection is an error of the failing write and must not end the program. */
  signal(SIGPIPE, SIG_IGN);
  if (argc < 2) {
    print_help(stderr);
    return TIDE_EXIT_USAGE;
  }
  if (is_one_of(argv[1], "help", "--help", "-h"))
    return help(argc - 2, argv + 2);
  if (is_one_of(argv[1], "version", "--version", "-V"))
    return tide_command_main(&tide_command_version, argc - 2, argv + 2);
  const TideCommand *command = tide_subcommand_find(argv[1]);
  if (command == NULL)
    return refuse_unknown(argv[1]);
  tide_hbase_client_init_types();
  return tide_command_main(command, argc - 2, argv + 2);
}
