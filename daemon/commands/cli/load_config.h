/* Loads the configuration for a command and says what is wrong with it; and which of its sources files are of. */
#pragma once

#include "commands/cli/command.h"

#include <stdio.h>

G_BEGIN_DECLS

/**
 * tide_command_load_config: the configuration and its problems into the call. When it cannot be used, they go to
 * standard error; warnings of one that can are for those who write it or run the daemon: `check` and `run`. Returns:
 * FALSE when it cannot be used: that was told, and the call's failure_code is TIDE_EXIT_CONFIG.
 */
gboolean tide_command_load_config(TideCommandCall *call) G_GNUC_WARN_UNUSED_RESULT;

/* tide_config_load(), and what only librdkafka can say of its properties, likewise; prints nothing.
 * Returns: FALSE when any problem is an error. */
gboolean tide_command_read_config(TideCommandCall *call) G_GNUC_WARN_UNUSED_RESULT;

/* Adds to @problems (element-type TideConfigProblem) what only librdkafka can say of @config, which they are of.
 * @config: (nullable): NULL: it could not be loaded. Returns: FALSE when any problem is an error. */
gboolean tide_config_check_properties(const TideConfig *config, GPtrArray *problems) G_GNUC_WARN_UNUSED_RESULT;

/* The file that --config names, or the default one. */
const char *tide_command_config_path(const TideCommandCall *call);

/* " -c FILE" as a shell takes it, for a command that is proposed. @path: NULL: the default one, which needs no such
 * words. (transfer full) */
char *tide_config_option(const char *path);

/* Each of @problems with its line of the file, where the file can be read again. (element-type TideConfigProblem)
 * Returns: how many of them are errors. */
guint tide_config_problems_print(FILE *stream, const char *path, const GPtrArray *problems);

/**
 * tide_command_choose_source: the source called @name, or the only one that there is; the others are taken out of
 * @config, so that every file is of it. Of Avro the messages are then containers: those of files.
 * @name: NULL: none was named
 * Errors: USAGE: there is none of that name, or several and no name.
 */
TideConfigSource *tide_command_choose_source(TideConfig *config, const char *name, GError **error);

G_END_DECLS
