/* The HBase shell's command that does what tide_hbase_client_create_table() does: for where the gateway cannot. */
#pragma once

#include "thrift/hbase_client.h"

G_BEGIN_DECLS

/* One line, ready to be pasted. @splits: (element-type TideBytes) (nullable). Ownership: (transfer full). */
char *tide_shell_create_command(const TideTableDescription *description, const GArray *splits);

G_END_DECLS
