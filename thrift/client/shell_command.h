/* Commands of the HBase shell: they replace tide_hbase_client_create_table() for gateways without that call, and alter
 * existing tables, which tidemark leaves to the operator. Each is one line, ready to be pasted. */
#pragma once

#include "thrift/wire/table_description.h"

G_BEGIN_DECLS

/* @splits: (element-type TideBytes) (nullable). Ownership: (transfer full). */
char *tide_shell_create_command(const TideTableDescription *description, const GArray *splits);

/* Applies the settings in @changes to the table of that name and leaves everything else unchanged; adds missing
 * families. (transfer full) */
char *tide_shell_alter_command(const TideTableDescription *changes);

/* @scope: a table, "@ns", or NULL for all of HBase. The user keeps existing rights. (transfer full) */
char *tide_shell_grant_command(const char *user, const char *rights, const char *scope);

/* Splits the region that holds @point at that key. (transfer full) */
char *tide_shell_split_command(const char *table, TideBytes point);

/* Settings as the shell names them: "GZ", "ROW", "FAST_DIFF", "SYNC_WAL". NULL for the default and for unknown
 * values. */
const char *tide_compression_name(int compression);
const char *tide_bloom_filter_name(int bloom_filter);
const char *tide_block_encoding_name(int block_encoding);
const char *tide_durability_name(int durability);

G_END_DECLS
