#include "tables/table_maker.h"

#include "tables/declared_table.h"
#include "tables/table_check.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/log.h"
#include "util/units.h"

static gint64
deadline_us(const TideTableMaker *maker)
{
  return tide_now_us() + maker->config->hbase.call_timeout_ms * TIDE_US_PER_MS;
}

static void
log_what_was_created(const TideTableMaker *maker, TideHBaseClient *client, const TideTable *table,
                     TideTableCreation creation)
{
  guint n_splits = table->splits != NULL ? table->splits->len : 0;
  gboolean is_corrupted = creation == TIDE_TABLE_CREATED_PLAIN && tide_declared_table_needs_unframed(table);
  guint n_regions = is_corrupted ? 1 : n_splits + 1;
  g_autofree char *regions = tide_count_of(n_regions, "region", NULL);
  tide_log_fields(TIDE_LOG_NOTICE, "table-created", TIDE_LOG_FIELDS({"TABLE", table->name}),
                  "created table '%s' of dated table '%s' with %s", table->name, table->declared->name, regions);
  if (!is_corrupted)
    return;
  g_autofree char *command = tide_declared_table_create_command(table, maker->config->names);
  tide_log_fields(TIDE_LOG_WARNING, "table-incomplete", TIDE_LOG_FIELDS({"TABLE", table->name}),
                  "table '%s' has no %s, because gateway '%s' is framed and corrupts them: %s; use an unframed "
                  "gateway, or create the next tables in advance in 'hbase shell' with: %s",
                  table->name, n_splits > 0 ? "split points" : "attributes", tide_hbase_client_name(client),
                  n_splits > 0 ? "all rows go to one region until HBase splits it"
                               : "the next major compaction forgets deletes, regardless of purge_deletes_after",
                  command);
}

gboolean
tide_table_maker_prepare(const TideTableMaker *maker, TideHBaseClient *client, const TideTable *table, GError **error)
{
  TideTableRequest request = {
      .table = table, .names = maker->config->names, .plain_if_framed = TRUE, .deadline_us = deadline_us(maker)};
  TideTableCreation creation;
  if (!tide_declared_table_create(client, &request, &creation, error))
    return FALSE;
  if (creation != TIDE_TABLE_WAS_THERE) {
    tide_counter_inc(maker->created);
    log_what_was_created(maker, client, table, creation);
  }
  g_autoptr(TideTableDescription) description =
      tide_hbase_client_describe(client, table->name, deadline_us(maker), error);
  if (description == NULL)
    return FALSE;
  g_autoptr(GPtrArray) missing = g_ptr_array_new_with_free_func(g_free);
  tide_table_check_families(table, description, missing);
  tide_table_warn_of_risks(table->name, description);
  if (missing->len > 0)
    return tide_fail(error, TIDE_ERROR_NOT_FOUND, "%s", (const char *)missing->pdata[0]);
  g_autoptr(GPtrArray) tables = g_ptr_array_new();
  g_ptr_array_add(tables, (gpointer)table);
  return tide_fingerprint_check(maker->fingerprints, client, tables, maker->accept_scheme_change, error);
}
