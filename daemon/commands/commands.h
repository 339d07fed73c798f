/* The subcommands, one file each. @argc and @argv are what follows the command's name. Returns: the exit code. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

int tide_command_bench(int argc, char **argv);
int tide_command_check(int argc, char **argv);
int tide_command_dead_letters(int argc, char **argv);
int tide_command_explain(int argc, char **argv);
int tide_command_get(int argc, char **argv);
int tide_command_latest(int argc, char **argv);
int tide_command_rollup(int argc, char **argv);
int tide_command_run(int argc, char **argv);
int tide_command_scan(int argc, char **argv);
int tide_command_simulate(int argc, char **argv);
int tide_command_tables(int argc, char **argv);
int tide_command_verify(int argc, char **argv);
int tide_command_version(int argc, char **argv);

G_END_DECLS
