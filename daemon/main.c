/* The program `tidemark`: finds the subcommand and hands over to it. No policy lives here. */
#include "commands/command_line.h"
#include "commands/commands.h"
#include "commands/output.h"
#include "config/nearest_name.h"
#include "thrift/hbase_client.h"
#include "util/error.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

typedef struct Subcommand {
  const char *group; /* heading in front of it; NULL: the one before goes on */
  const char *name;
  const char *sentence;
  int (*run)(int argc, char **argv);
} Subcommand;

static const Subcommand subcommands[] = {
    {"Set up", "check", "check configuration, brokers, gateways and tables", tide_command_check},
    {NULL, "tables", "create the declared tables, or show how they differ", tide_command_tables},
    {NULL, "explain", "show the rows that messages become", tide_command_explain},
    {"Run", "run", "run the daemon: Kafka to HBase", tide_command_run},
    {"Look", "latest", "show latest values and their age", tide_command_latest},
    {NULL, "scan", "read rows by key fields and time range", tide_command_scan},
    {NULL, "get", "read one row, with older versions", tide_command_get},
    {"Mend", "dead-letters", "list, show and send again what could not be written", tide_command_dead_letters},
    {"Prove", "verify", "compare the tables with the messages of the topics", tide_command_verify},
    {"Nightly", "rollup", "copy one day of a table into a table of its own", tide_command_rollup},
    {"Try out", "simulate", "send made-up readings", tide_command_simulate},
    {NULL, "bench", "measure what readings cost on this machine", tide_command_bench},
    {"About", "version", "print versions", tide_command_version},
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
    fprintf(stream, "  %-12s %s\n", subcommands[i].name, subcommands[i].sentence);
  }
  fprintf(stream, "\n'tidemark COMMAND --help' tells the options of a command, with examples.\n"
                  "The configuration is " TIDE_DEFAULT_CONFIG_PATH " unless a command is given --config FILE.\n");
}

static const Subcommand *
find_subcommand(const char *name)
{
  for (gsize i = 0; i < G_N_ELEMENTS(subcommands); i++) {
    if (strcmp(subcommands[i].name, name) == 0)
      return &subcommands[i];
  }
  return NULL;
}

static int
refuse_unknown(const char *name)
{
  const char *names[G_N_ELEMENTS(subcommands) + 1] = {NULL};
  for (gsize i = 0; i < G_N_ELEMENTS(subcommands); i++)
    names[i] = subcommands[i].name;
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
  const Subcommand *subcommand = find_subcommand(argv[0]);
  if (subcommand == NULL)
    return refuse_unknown(argv[0]);
  char option[] = "--help";
  char *arguments[] = {option, NULL};
  return subcommand->run(1, arguments);
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
    return tide_command_version(argc - 2, argv + 2);
  const Subcommand *subcommand = find_subcommand(argv[1]);
  if (subcommand == NULL)
    return refuse_unknown(argv[1]);
  tide_hbase_client_init_types();
  return subcommand->run(argc - 2, argv + 2);
}
