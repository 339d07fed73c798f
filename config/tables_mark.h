/* One number for the tables that a configuration delivers: members of a group that have the same tables, keys and
 * columns have the same, whatever else differs. It stands beside committed offsets (kafka/commit_note.h), so that a
 * member whose configuration lacks a table does not go unnoticed.
 *
 * Threads: any. */
#pragma once

#include "config/config.h"

G_BEGIN_DECLS

/* Never 0. Of a table: its name, key, latest mode, and where its columns come from and go to. */
guint32 tide_config_tables_mark(const TideConfig *config);

G_END_DECLS
