#include "tables/declared_table.h"

#include "thrift/client/shell_command.h"
#include "util/error.h"

#define DAY_MS (24 * 3600 * G_GINT64_CONSTANT(1000))

/* A later reading may undo a delete if a major compaction ran in between. */
#define PURGE_DELETES_MS (7 * DAY_MS)

/* The value of TIDE_PURGE_DELETES_ATTRIBUTE: as declared; otherwise 7 days if the table's writes delete (latest:
 * replace, tombstone: delete); otherwise 0, which is HBase's default. */
static gint64
purge_deletes_ms_of(const TideTable *table)
{
  if (table->creation.purge_deletes_ms > 0)
    return table->creation.purge_deletes_ms;
  gboolean deletes = table->latest == TIDE_LATEST_REPLACE ||
                     (table->latest != TIDE_LATEST_NONE && table->tombstone == TIDE_TOMBSTONE_DELETE);
  return deletes ? PURGE_DELETES_MS : 0;
}

gboolean
tide_declared_table_needs_unframed(const TideTable *table)
{
  return (table->splits != NULL && table->splits->len > 0) || purge_deletes_ms_of(table) > 0;
}

static TideTableDescription *
describe_plain(const TideTable *table)
{
  TideTableDescription *description = tide_table_description_new(table->name);
  for (guint i = 0; i < table->families->len; i++)
    g_ptr_array_add(description->families, tide_family_settings_copy(table->families->pdata[i]));
  return description;
}

TideTableDescription *
tide_declared_table_describe(const TideTable *table, const TideFieldNames *names)
{
  TideTableDescription *description = describe_plain(table);
  g_autofree char *fingerprint = tide_fingerprint_text(table, names);
  tide_table_description_add_attribute(description, TIDE_BYTES_LITERAL(TIDE_FINGERPRINT_ATTRIBUTE),
                                       tide_bytes_of_string(fingerprint));
  gint64 purge_deletes_ms = purge_deletes_ms_of(table);
  g_autofree char *purge_deletes = g_strdup_printf("%" G_GINT64_FORMAT, purge_deletes_ms);
  if (purge_deletes_ms > 0)
    tide_table_description_add_attribute(description, TIDE_BYTES_LITERAL(TIDE_PURGE_DELETES_ATTRIBUTE),
                                         tide_bytes_of_string(purge_deletes));
  return description;
}

/* The part of "ns:TABLE" before the colon; NULL for the default namespace. (transfer full) */
static char *
namespace_of(const TideTable *table)
{
  const char *colon = strchr(table->name, ':');
  return colon != NULL && !g_str_has_prefix(table->name, "default:")
             ? g_strndup(table->name, (gsize)(colon - table->name))
             : NULL;
}

char *
tide_declared_table_create_command(const TideTable *table, const TideFieldNames *names)
{
  g_autoptr(TideTableDescription) description = tide_declared_table_describe(table, names);
  g_autofree char *create = tide_shell_create_command(description, table->splits);
  g_autofree char *table_namespace = namespace_of(table);
  if (table_namespace == NULL)
    return g_steal_pointer(&create);
  return g_strdup_printf("create_namespace '%s'\n%s", table_namespace, create);
}

/* ---- creating ---- */

gboolean
tide_declared_table_create(TideHBaseClient *client, const TideTableRequest *request, TideTableCreation *ret_creation,
                           GError **error)
{
  const TideTable *table = request->table;
  gboolean exists = FALSE;
  if (!tide_hbase_client_table_exists(client, table->name, request->deadline_us, &exists, error))
    return FALSE;
  *ret_creation = TIDE_TABLE_WAS_THERE;
  if (exists)
    return TRUE;
  g_autoptr(GError) failure = NULL;
  g_autofree char *table_namespace = namespace_of(table);
  gboolean plain = tide_hbase_client_mode(client).framing == TIDE_FRAMING_FRAMED &&
                   (request->plain_if_framed || !tide_declared_table_needs_unframed(table));
  g_autoptr(TideTableDescription) description =
      plain ? describe_plain(table) : tide_declared_table_describe(table, request->names);
  if ((table_namespace == NULL ||
       tide_hbase_client_create_namespace(client, table_namespace, request->deadline_us, &failure)) &&
      tide_hbase_client_create_table(client, description, plain ? NULL : table->splits, request->deadline_us,
                                     &failure)) {
    *ret_creation = plain ? TIDE_TABLE_CREATED_PLAIN : TIDE_TABLE_CREATED;
    return TRUE;
  }
  /* The error text for a table created concurrently differs between versions of HBase, so this checks if it exists. */
  gboolean answered = g_error_matches(failure, TIDE_ERROR, TIDE_ERROR_GATEWAY) ||
                      g_error_matches(failure, TIDE_ERROR, TIDE_ERROR_APPLICATION);
  if (answered && tide_hbase_client_table_exists(client, table->name, request->deadline_us, &exists, NULL) && exists)
    return TRUE;
  g_propagate_error(error, g_steal_pointer(&failure));
  return FALSE;
}
