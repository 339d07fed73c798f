/* A table as the configuration declares it, in the forms that create it: a description for the gateway, and the
 * commands of HBase's shell for gateways that cannot and operators who would rather. */
#pragma once

#include "model/table.h"

G_BEGIN_DECLS

/* With its families. (transfer full) */
TideTableDescription *tide_declared_table_describe(const TideTable *table);

/* "create 'ns:T', {NAME => 'M', …}, SPLITS => […]", after a line that creates the namespace, for a table in one of its
 * own. (transfer full) */
char *tide_declared_table_create_command(const TideTable *table);

/* "alter 'T', {NAME => 'M', …}". (transfer full) */
char *tide_declared_table_add_family_command(const TideTable *table, const TideFamilySettings *family);

/* The part of "ns:TABLE" in front of the colon; NULL for the default namespace. (transfer full) */
char *tide_declared_table_namespace(const TideTable *table);

G_END_DECLS
