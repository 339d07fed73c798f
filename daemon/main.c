/* The program `tidemark`: finds the subcommand and hands over to it. No policy lives here. */
#include "commands/cli/commands.h"
#include "commands/cli/output.h"
#include "config/option/nearest_name.h"
#include "thrift/client/hbase_client.h"
#include "util/error.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

typedef struct Subcommand {
  const char *group; /* heading in front of it; NULL: the one before goes on */
  const TideCommand *command;
  const char *sentence;
} Subcommand;

static const Subcommand subcommands[] = {
    {"Set up", &tide_command_init, "write a configuration, made from sample messages"},
    {NULL, &tide_command_check, "check configuration, brokers, gateways and tables"},
    {NULL, &tide_command_tables, "create the declared tables, or show how they differ"},
    {NULL, &tide_command_explain, "show the rows that messages become"},
    {"Run", &tide_command_run, "run the daemon: Kafka to HBase"},
    {NULL, &tide_command_status, "show how a running daemon is"},
    {"Look", &tide_command_latest, "show latest values and their age"},
    {NULL, &tide_command_scan, "read rows by key fields and time range"},
    {NULL, &tide_command_get, "read one row, with older versions"},
    {"Repair", &tide_command_dead_letters, "list, show and send again what could not be written"},
    {"Verify", &tide_command_verify, "compare the tables with the messages of the topics"},
    {"Nightly", &tide_command_rollup, "copy one day of a table into a table of its own"},
    {"Try out", &tide_command_simulate, "send synthetic readings"},
    {NULL, &tide_command_bench, "measure what readings cost on this machine"},
    {"About", &tide_command_version, "print versions"},
};

static void
print_help(FILE *stream)
{
  const char *bold = tide_colour_wanted(stream) ? "\033[1m" : "";
  const char *plain = tide_colour_wanted(stream) ? "\033[0m" : "";
  fprintf(stream, "tidemark writes sensor readings from Kafka to HBase, and keeps the latest value of each.\n\n");
  fprintf(stream, "%sUsage:%s tidemark COMMAND [OPTION…] [ARGUMENT…]\n", bold, plain);
  for (gsize i = 0; i < G_N_ELEMENTS(subcommands); i++) {
    if (subcommands[i].group != NULL)
      fprintf(stream, "\n%s%s:%s\n", bold, subcommands[i].group, plain);
    fprintf(stream, "  %-12s %s\n", subcommands[i].command->name, subcommands[i].sentence);
  }
  fprintf(stream, "\n'tidemark COMMAND --help' tells the options of a command, with examples.\n"
                  "The configuration is " TIDE_DEFAULT_CONFIG_PATH " unless a command is given --config FILE.\n");
}

static const TideCommand *
find_command(const char *name)
{
  for (gsize i = 0; i < G_N_ELEMENTS(subcommands); i++) {
    if (strcmp(subcommands[i].command->name, name) == 0)
      return subcommands[i].command;
  }
  return NULL;
}

static int
refuse_unknown(const char *name)
{
  const char *names[G_N_ELEMENTS(subcommands) + 1] = {NULL};
  for (gsize i = 0; i < G_N_ELEMENTS(subcommands); i++)
    names[i] = subcommands[i].command->name;
  const char *nearest = name[0] == '-' ? NULL : tide_nearest_name(name, names);
  g_autofree char *shown = tide_text_printable(tide_bytes_of_string(name));
  if (nearest != NULL)
    fprintf(stderr, "tidemark: unknown command '%s': did you mean '%s'?\n", shown, nearest);
  else if (name[0] == '-')
    fprintf(stderr, "tidemark: unknown option '%s': options follow the command; see 'tidemark --help'\n", shown);
  else
    fprintf(stderr, "tidemark: unknown command '%s': see 'tidemark --help'\n", shown);
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
  const TideCommand *command = find_command(argv[0]);
  if (command == NULL)
    return refuse_unknown(argv[0]);
  char option[] = "--help";
  char *arguments[] = {option, NULL};
  return tide_command_main(command, 1, arguments);
}

int
main(int argc, char **argv)
{
  /* A closed pipe or connection is an error of the write that met it, never the end of the program. */
  signal(SIGPIPE, SIG_IGN);
  if (argc < 2) {
    print_help(stderr);
    return TIDE_EXIT_USAGE;
  }
  if (is_one_of(argv[1], "help", "--help", "-h"))
    return help(argc - 2, argv + 2);
  if (is_one_of(argv[1], "version", "--version", "-V"))
    return tide_command_main(&tide_command_version, argc - 2, argv + 2);
  const TideCommand *command = find_command(argv[1]);
  if (command == NULL)
    return refuse_unknown(argv[1]);
  tide_hbase_client_init_types();
  return tide_command_main(command, argc - 2, argv + 2);
}
