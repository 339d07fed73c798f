#include "commands/subcommands.h"

#include "commands/cli/commands.h"

#include <string.h>

const TideSubcommand tide_subcommands[] = {
    {"Set up", &tide_command_init, "write a configuration, made from sample messages"},
    {NULL, &tide_command_check, "check configuration, brokers, gateways and tables"},
    {NULL, &tide_command_tables, "create the declared tables, or compare them with HBase"},
    {NULL, &tide_command_explain, "show the rows that messages become"},
    {"Run", &tide_command_run, "run the daemon: Kafka to HBase"},
    {NULL, &tide_command_status, "show the state of a running daemon"},
    {NULL, &tide_command_pause, "stop reading topics or writing tables, without losing anything"},
    {NULL, &tide_command_resume, "end a pause"},
    {NULL, &tide_command_load, "load readings from files, without Kafka"},
    {"Query", &tide_command_latest, "show latest values and their age"},
    {NULL, &tide_command_scan, "read rows by key fields and time range"},
    {NULL, &tide_command_get, "read one row, with older versions"},
    {"Repair", &tide_command_dead_letters, "list, show or replay dead letters"},
    {NULL, &tide_command_offsets, "show or move the group's committed offsets"},
    {"Verify", &tide_command_verify, "compare the tables with the messages of the topics"},
    {"Nightly", &tide_command_rollup, "copy one day of a table into a table of its own"},
    {"Test", &tide_command_simulate, "send synthetic readings"},
    {NULL, &tide_command_bench, "measure the cost of readings on this machine, or plan hardware"},
    {"About", &tide_command_version, "print versions"},
    {NULL, &tide_command_complete, NULL},
    {NULL, NULL, NULL},
};

const TideCommand *
tide_subcommand_find(const char *name)
{
  for (const TideSubcommand *at = tide_subcommands; at->command != NULL; at++) {
    if (strcmp(at->command->name, name) == 0)
      return at->command;
  }
  return NULL;
}
