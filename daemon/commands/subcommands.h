/* The subcommands, in the order in which help and manual show them. */
#pragma once

#include "commands/cli/command.h"

G_BEGIN_DECLS

typedef struct TideSubcommand {
  const char *group; /* heading in front of it; NULL: the one before goes on */
  const TideCommand *command;
  const char *sentence; /* NULL: not for people, so in no list */
} TideSubcommand;

/* The last has no command. */
extern const TideSubcommand tide_subcommands[];

/* NULL: there is none of this name. */
const TideCommand *tide_subcommand_find(const char *name);

G_END_DECLS
