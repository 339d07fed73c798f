/* The command line of a command, defined by its table of options: the source of parsing, checks, hints and `--help`.
 *
 * GOption is not used, for two reasons. The table contains ranges and units, so that one place checks them and every
 * error names option, value and remedy. Arguments are bytes, but GOption converts them from the locale's character set
 * and rejects row keys that are not text. */
#pragma once

#include "commands/cli/command.h"

G_BEGIN_DECLS

/**
 * tide_command_line_parse: parse @argv (without the program's and the command's name) into @call: its options and
 * config_path; positional arguments are added to its arguments. After `--` all are positional.
 * @ret_help: TRUE when --help or -h was given; the rest was then not checked
 * Errors: TIDE_ERROR_USAGE, with the nearest name of an unknown option.
 */
gboolean tide_command_line_parse(TideCommandCall *call, int argc, char **argv, gboolean *ret_help,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Finds the option named by @argument (--name, --name=VALUE, -x or -xVALUE). @ret_attached: VALUE, NULL: none.
 * (transfer none) (nullable): unknown, or not an option */
const TideOption *tide_command_option_find(const TideCommand *command, const char *argument, const char **ret_attached);

/* The text of --help. @colour: with terminal sequences for headings. (transfer full) */
char *tide_command_line_help(const TideCommand *command, gboolean colour);

G_END_DECLS
