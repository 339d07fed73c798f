/* The manual's pages: what `--help` prints, from the same tables, and what docs/ says. */
#pragma once

#include "commands/subcommands.h"

G_BEGIN_DECLS

/* What no table holds. Borrowed. */
typedef struct TideManual {
  const char *date;          /* "2026-11-23" */
  const char *version;       /* "0.1.0" */
  const char *commands;      /* docs/commands.md */
  const char *configuration; /* docs/configuration.md */
} TideManual;

char *tide_manual_program(const TideManual *manual);                              /* tidemark(1) (transfer full) */
char *tide_manual_command(const TideManual *manual, const TideSubcommand *entry); /* tidemark-scan(1) (transfer full) */
char *tide_manual_configuration(const TideManual *manual);                        /* tidemark.yaml(5) (transfer full) */

G_END_DECLS
