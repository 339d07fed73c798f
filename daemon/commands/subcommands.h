/* The subcommands, in the order in which help and manual show them. */
#pragma once

#include "commands/cli/command.h"

G_BEGIN_DECLS

typedef struct TideSubcommand {
  const char *group; /* heading before it; NULL: same group as the previous one */
  const TideCommand *command;
  const char *sentence; /* NULL: not for people, so not listed */
} TideSubcommand;

/* Terminated by an entry without a command. */
extern const TideSubcommand tide_subcommands[];

/* NULL: there is no command of this name. */
const TideCommand *tide_subcommand_find(const char *name);

G_END_DECLS
