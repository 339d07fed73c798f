/* Declares every subcommand, for the table of them. */
#pragma once

#include "commands/cli/command.h"

G_BEGIN_DECLS

extern const TideCommand tide_command_bench;
extern const TideCommand tide_command_check;
extern const TideCommand tide_command_complete;
extern const TideCommand tide_command_dead_letters;
extern const TideCommand tide_command_explain;
extern const TideCommand tide_command_get;
extern const TideCommand tide_command_init;
extern const TideCommand tide_command_latest;
extern const TideCommand tide_command_load;
extern const TideCommand tide_command_offsets;
extern const TideCommand tide_command_pause;
extern const TideCommand tide_command_resume;
extern const TideCommand tide_command_rollup;
extern const TideCommand tide_command_run;
extern const TideCommand tide_command_scan;
extern const TideCommand tide_command_simulate;
extern const TideCommand tide_command_status;
extern const TideCommand tide_command_tables;
extern const TideCommand tide_command_verify;
extern const TideCommand tide_command_version;

G_END_DECLS
