/* Which of the configuration's sources files are of. */
#pragma once

#include "config/config.h"

G_BEGIN_DECLS

/**
 * tide_command_choose_source: the source called @name, or the only one that there is; the others are taken out of
 * @config, so that every file is of it. Of
 * Avro the messages are then containers: those of files.
 * @name: NULL: none was named
 * Errors: USAGE: there is none of that name, or several and no name.
 */
TideConfigSource *tide_command_choose_source(TideConfig *config, const char *name, GError **error);

G_END_DECLS
