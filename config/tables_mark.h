/* A number that identifies the tables of a configuration: members of a group have the same number if they have the same
 * tables, keys and columns, whatever else differs. It is stored with committed offsets (kafka/commit_note.h), so that a
 * member whose configuration lacks a table is noticed. Threads: any. */
#pragma once

#include "config/config.h"

G_BEGIN_DECLS

/* Never 0. It covers each table's name, key, latest mode, and columns. */
guint32 tide_config_tables_mark(const TideConfig *config);

G_END_DECLS
