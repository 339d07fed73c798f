/* Which of the configuration's sources files are of. */
#pragma once

#include "config/config.h"

G_BEGIN_DECLS

/**
 * tide_command_choose_source: the source called @name, or the only one that there is; the others are taken out of
 * @config, so that every file is of it.
 * @name: NULL: none was named
 * Errors: USAGE: there is none of that name, several and no name, or files of its format cannot be read.
 */
TideConfigSource *tide_command_choose_source(TideConfig *config, const char *name, GError **error);

G_END_DECLS
