/* The command line of one command, by its table of options: parsing, checks, hints and `--help` all come from it.
 *
 * An own small parser instead of GOption: the table says ranges and units, so that one place checks them and every
 * error names option, value and remedy; and arguments are taken as bytes, where GOption converts from the locale's
 * character set and refuses row keys that are not text. */
#pragma once

#include "commands/cli/command.h"

G_BEGIN_DECLS

/**
 * tide_command_line_parse: read @argv (without the program's and the command's name) into @call: its options and
 * config_path; the positional arguments are added to its arguments. After `--` all are positional.
 * @ret_help: TRUE when --help or -h was among them; nothing else was checked then
 * Errors: TIDE_ERROR_USAGE, with the nearest option's name where the one given is unknown.
 */
gboolean tide_command_line_parse(TideCommandCall *call, int argc, char **argv, gboolean *ret_help,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The option that @argument (--name, --name=VALUE, -x or -xVALUE) names. @ret_attached: VALUE, NULL: none.
 * (transfer none) (nullable): none of that name, or no option at all */
const TideOption *tide_command_option_find(const TideCommand *command, const char *argument, const char **ret_attached);

/* The text of --help. @colour: with terminal sequences for headings. (transfer full) */
char *tide_command_line_help(const TideCommand *command, gboolean colour);

G_END_DECLS
