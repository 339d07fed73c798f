#include "tables/table_check.h"

#include "model/table/dated_table.h"
#include "thrift/client/shell_command.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/log.h"

void
tide_table_check_families(const TideTable *table, const TideTableDescription *description, GPtrArray *missing)
{
  for (guint i = 0; description->hidden == NULL && i < table->families->len; i++) {
    const TideFamilySettings *family = g_ptr_array_index(table->families, i);
    if (tide_family_settings_find(description->families, tide_bytes_of_string(family->name)) == NULL)
      g_ptr_array_add(missing, g_strdup_printf("table '%s' has no column family '%s': add it in the HBase shell with: "
                                               "alter '%s', '%s'",
                                               table->name, family->name, table->name, family->name));
  }
}

char *
tide_table_durability_risk(const char *table, const TideTableDescription *description, char **ret_remedy)
{
  int durability = description->durability;
  if (durability != TIDE_DURABILITY_SKIP_WAL && durability != TIDE_DURABILITY_ASYNC_WAL)
    return NULL;
  g_autoptr(TideTableDescription) changes = tide_table_description_new(table);
  changes->durability = TIDE_DURABILITY_SYNC_WAL;
  *ret_remedy = tide_shell_alter_command(changes);
  return g_strdup_printf("DATA CAN BE LOST: durability is %s, so HBase acknowledges rows that are lost if their region "
                         "server fails, while tidemark commits their offsets",
                         tide_durability_name(durability));
}

void
tide_table_warn_of_risks(const char *table, const TideTableDescription *description)
{
  if (description->hidden != NULL) {
    /* HBase shows tables only to users who may create them, while READ and WRITE permission is enough for writing. */
    tide_log_fields(TIDE_LOG_WARNING, "table-hidden", TIDE_LOG_FIELDS({"TABLE", table}),
                    "cannot check the families, durability and key attribute of table '%s', because HBase does not "
                    "describe it: %s; writing to it unchecked",
                    table, description->hidden);
    return;
  }
  g_autofree char *remedy = NULL;
  g_autofree char *risk = tide_table_durability_risk(table, description, &remedy);
  if (risk != NULL)
    tide_log_fields(TIDE_LOG_CRIT, "table-risky", TIDE_LOG_FIELDS({"TABLE", table}),
                    "table '%s': %s; writing continues; change it in the HBase shell with: %s", table, risk, remedy);
}

GPtrArray *
tide_table_check(const TideConfig *config, TideHBaseClient *client, gint64 timeout_ms, GError **error)
{
  g_autoptr(GPtrArray) missing = g_ptr_array_new_with_free_func(g_free);
  g_autoptr(GPtrArray) found = g_ptr_array_new_with_free_func((GDestroyNotify)tide_table_description_free);
  for (guint i = 0; i < config->tables->len; i++) {
    const TideTable *table = g_ptr_array_index(config->tables, i);
    if (tide_table_is_template(table))
      continue;
    g_autoptr(GError) problem = NULL;
    g_autoptr(TideTableDescription) description =
        tide_hbase_client_describe(client, table->name, tide_now_us() + timeout_ms * TIDE_US_PER_MS, &problem);
    if (description != NULL) {
      tide_table_check_families(table, description, missing);
      g_ptr_array_add(found, g_steal_pointer(&description));
    } else if (g_error_matches(problem, TIDE_ERROR, TIDE_ERROR_NOT_FOUND))
      g_ptr_array_add(missing, g_strdup_printf("table '%s' does not exist: create it with: tidemark tables create "
                                               "--config %s %s",
                                               table->name, config->path, table->name));
    else {
      g_propagate_error(error, g_steal_pointer(&problem));
      return NULL;
    }
  }
  for (guint i = 0; missing->len == 0 && i < found->len; i++) {
    const TideTableDescription *description = g_ptr_array_index(found, i);
    tide_table_warn_of_risks(description->name, description);
  }
  return g_steal_pointer(&missing);
}
