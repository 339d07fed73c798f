/* Loads the configuration for a command and says what is wrong with it. */
#pragma once

#include "commands/command_line.h"
#include "config/config.h"

G_BEGIN_DECLS

/* The option -c, --config that every command has; @path holds the default until it is given. */
TideOption tide_config_option(const char **path);

/**
 * tide_command_load_config: the configuration at @path. When it cannot be used, its problems go to standard error;
 * warnings of one that can are for those who write it or run the daemon: `check` and `run`.
 * Returns: (transfer full) (nullable): NULL when it cannot be used; the command returns TIDE_EXIT_CONFIG then.
 */
TideConfig *tide_command_load_config(const TideCommandLine *line, const char *path) G_GNUC_WARN_UNUSED_RESULT;

/* The same, for a command that has a place for the warnings. @ret_problems: (transfer full) (element-type
 * TideConfigProblem) */
TideConfig *tide_command_load_config_and_problems(const TideCommandLine *line, const char *path,
                                                  GPtrArray **ret_problems) G_GNUC_WARN_UNUSED_RESULT;

/* tide_config_load(), and what only librdkafka can say of its properties; prints nothing. @ret_problems: (transfer
 * full) (element-type TideConfigProblem). Returns: (transfer full) (nullable): NULL when any problem is an error. */
TideConfig *tide_command_read_config(const char *path, GPtrArray **ret_problems) G_GNUC_WARN_UNUSED_RESULT;

/* Each of @problems with its line of the file, where the file can be read again. (element-type TideConfigProblem)
 * Returns: how many of them are errors. */
guint tide_config_problems_print(FILE *stream, const char *path, const GPtrArray *problems);

G_END_DECLS
