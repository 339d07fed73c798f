#include "commands/read/table_instances.h"

#include "model/table/dated_table.h"

static int
compare_texts(gconstpointer a, gconstpointer b)
{
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The names of all tables in HBase, sorted; empty when none of @tables is a template. NULL on failure. */
static GPtrArray *
list_names(TideGatewaySession *session, const GPtrArray *tables, GError **error)
{
  gboolean is_needed = FALSE;
  for (guint i = 0; i < tables->len; i++)
    is_needed = is_needed || tide_table_is_template(tables->pdata[i]);
  if (!is_needed)
    return g_ptr_array_new();
  GPtrArray *names = tide_hbase_client_list_tables(tide_gateway_session_client(session),
                                                   tide_gateway_session_deadline_us(session), error);
  if (names != NULL)
    g_ptr_array_sort(names, compare_texts);
  else
    g_prefix_error(error, "cannot list the tables that dates have made: ");
  return names;
}

GPtrArray *
tide_table_instances(TideGatewaySession *session, const TideConfig *config, const GPtrArray *tables, GError **error)
{
  g_autoptr(GPtrArray) names = list_names(session, tables, error);
  if (names == NULL)
    return NULL;
  GPtrArray *instances = g_ptr_array_new();
  for (guint i = 0; i < tables->len; i++) {
    const TideTable *table = tables->pdata[i];
    if (!tide_table_is_template(table))
      g_ptr_array_add(instances, (gpointer)table);
    for (guint k = 0; tide_table_is_template(table) && k < names->len; k++) {
      const TideTable *of_name = tide_table_of_name(config, names->pdata[k]);
      if (of_name != NULL && of_name->index == table->index && !tide_table_is_template(of_name))
        g_ptr_array_add(instances, (gpointer)of_name);
    }
  }
  return instances;
}
