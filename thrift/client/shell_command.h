/* Commands of the HBase shell: what tide_hbase_client_create_table() does, for where the gateway cannot, and what
 * changes tables that exist, which tidemark leaves to the operator. Each is one line, ready to be pasted. */
#pragma once

#include "thrift/wire/table_description.h"

G_BEGIN_DECLS

/* @splits: (element-type TideBytes) (nullable). Ownership: (transfer full). */
char *tide_shell_create_command(const TideTableDescription *description, const GArray *splits);

/* Sets what @changes sets, in the table of its name, and leaves everything else as it is; a family that is not there is
 * added. (transfer full) */
char *tide_shell_alter_command(const TideTableDescription *changes);

/* @scope: a table, "@ns", or NULL for all of HBase. Rights that the user has already stay. (transfer full) */
char *tide_shell_grant_command(const char *user, const char *rights, const char *scope);

/* Divides the region that holds @point there. (transfer full) */
char *tide_shell_split_command(const char *table, TideBytes point);

/* Settings in the shell's words: "GZ", "ROW", "FAST_DIFF", "SYNC_WAL". NULL for the default, or what is not known. */
const char *tide_compression_name(int compression);
const char *tide_bloom_filter_name(int bloom_filter);
const char *tide_block_encoding_name(int block_encoding);
const char *tide_durability_name(int durability);

G_END_DECLS
