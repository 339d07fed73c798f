/* Loads the configuration for a command and reports its problems; and chooses the source of files. */
#pragma once

#include "commands/cli/command.h"

#include <stdio.h>

G_BEGIN_DECLS

/**
 * tide_command_load_config: load the configuration and its problems into the call. If it is unusable, they are printed
 * on standard error; warnings of a usable one concern its author and the daemon: `check` and `run`. Returns: FALSE if
 * it is unusable: this was reported, and the call's failure_code is TIDE_EXIT_CONFIG.
 */
gboolean tide_command_load_config(TideCommandCall *call) G_GNUC_WARN_UNUSED_RESULT;

/* Like tide_config_load(), including the properties that only librdkafka can check, but prints nothing. Returns: FALSE
 * if any problem is an error. */
gboolean tide_command_read_config(TideCommandCall *call) G_GNUC_WARN_UNUSED_RESULT;

/* Adds librdkafka's problems with @config to @problems (element-type TideConfigProblem), its other problems. @config:
 * (nullable): NULL: it could not be loaded. Returns: FALSE if any problem is an error. */
gboolean tide_config_check_properties(const TideConfig *config, GPtrArray *problems) G_GNUC_WARN_UNUSED_RESULT;

/* The file of --config, or the default one. */
const char *tide_command_config_path(const TideCommandCall *call);

/* " -c FILE", quoted for a shell, for a suggested command. @path: NULL: the default one, which needs no option.
 * (transfer full) */
char *tide_config_option(const char *path);

/* Prints each of @problems with its line of the file, if that can be read again. (element-type TideConfigProblem)
 * Returns: the number of errors. */
guint tide_config_problems_print(FILE *stream, const char *path, const GPtrArray *problems);

/**
 * tide_command_choose_source: the source @name, or the only one; the others are removed from @config, so that every
 * file belongs to it. With Avro, messages are then containers, as in files.
 * @name: NULL: none was named
 * Errors: USAGE: there is none of that name, or several and no name.
 */
TideConfigSource *tide_command_choose_source(TideConfig *config, const char *name, GError **error);

G_END_DECLS
