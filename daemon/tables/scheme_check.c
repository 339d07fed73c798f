#include "tables/scheme_check.h"

#include "model/table/dated_table.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/log.h"

typedef struct SchemeCheck {
  const TideSchemeStore *store;
  TideHBaseClient *client;
  gboolean accept;
  GString *refusals;   /* owned: joined sentences */
  GString *local_only; /* owned: joined names of tables whose scheme is in a file now */
  GString *not_kept;   /* owned: joined names */
} SchemeCheck;

static void
append_joined(GString *list, const char *separator, const char *item)
{
  g_string_append_printf(list, "%s%s", list->len > 0 ? separator : "", item);
}

/* A file that cannot be written keeps nobody from working; HBase that cannot be asked does. */
static gboolean
keep(SchemeCheck *check, const TideTable *table, const char *scheme, GError **error)
{
  g_autoptr(GError) failure = NULL;
  TideSchemePlace place = TIDE_SCHEME_NOWHERE;
  if (!tide_scheme_store_write(check->store, check->client, table->name, scheme, &place, &failure)) {
    if (!g_error_matches(failure, TIDE_ERROR, TIDE_ERROR_IO)) {
      g_propagate_error(error, g_steal_pointer(&failure));
      return FALSE;
    }
    tide_log(TIDE_LOG_WARNING, "%s", failure->message);
  }
  if (place == TIDE_SCHEME_IN_FILE)
    append_joined(check->local_only, ", ", table->name);
  else if (place == TIDE_SCHEME_NOWHERE)
    append_joined(check->not_kept, ", ", table->name);
  return TRUE;
}

static gboolean
heed_finding(SchemeCheck *check, const TideTable *table, const TideSchemeFinding *finding, GError **error)
{
  switch (finding->verdict) {
  case TIDE_SCHEME_SAME:
    return TRUE;
  case TIDE_SCHEME_NOT_STORED:
    return keep(check, table, finding->declared, error);
  case TIDE_SCHEME_CHANGED_WHILE_EMPTY:
    tide_log(TIDE_LOG_INFO, "the key of table '%s', which has no rows, was changed from [%s] to [%s]", table->name,
             finding->stored.text, finding->declared);
    return keep(check, table, finding->declared, error);
  case TIDE_SCHEME_CHANGED:
    break;
  }
  if (!check->accept) {
    g_autofree char *refusal = tide_scheme_refusal(table, finding);
    append_joined(check->refusals, "; ", refusal);
    return TRUE;
  }
  tide_log(TIDE_LOG_WARNING,
           "the key of table '%s' was changed from [%s] to [%s], and that was accepted: rows written before are not "
           "found by the new key",
           table->name, finding->stored.text, finding->declared);
  return keep(check, table, finding->declared, error);
}

static gboolean
check_table(SchemeCheck *check, const TideTable *table, GError **error)
{
  gint64 deadline_us = tide_now_us() + check->store->call_timeout_ms * TIDE_US_PER_MS;
  g_autoptr(TideTableDescription) description =
      tide_hbase_client_describe(check->client, table->name, deadline_us, error);
  if (description == NULL)
    return FALSE;
  g_auto(TideSchemeFinding) finding = {0};
  return tide_scheme_store_compare(check->store, check->client, table, description, &finding, error) &&
         heed_finding(check, table, &finding, error);
}

static void
say_where_schemes_are(const SchemeCheck *check)
{
  if (check->local_only->len > 0)
    tide_log(TIDE_LOG_WARNING,
             "what the keys of these tables are like is remembered in '%s', on this host only: %s; create table '%s' "
             "with 'tidemark tables create' so that all hosts notice a changed key",
             check->store->directory, check->local_only->str, TIDE_SCHEME_TABLE);
  if (check->not_kept->len > 0)
    tide_log(
        TIDE_LOG_WARNING,
        "what the keys of these tables are like cannot be remembered, so a changed key would not be noticed: %s; "
        "create table '%s' with 'tidemark tables create', or set STATE_DIRECTORY to a directory that can be written",
        check->not_kept->str, TIDE_SCHEME_TABLE);
}

gboolean
tide_scheme_check(const TideSchemeStore *store, TideHBaseClient *client, const GPtrArray *tables, gboolean accept,
                  GError **error)
{
  g_autoptr(GString) refusals = g_string_new(NULL);
  g_autoptr(GString) local_only = g_string_new(NULL);
  g_autoptr(GString) not_kept = g_string_new(NULL);
  SchemeCheck check = {.store = store,
                       .client = client,
                       .accept = accept,
                       .refusals = refusals,
                       .local_only = local_only,
                       .not_kept = not_kept};
  for (guint i = 0; i < tables->len; i++) {
    const TideTable *table = g_ptr_array_index(tables, i);
    if (!tide_table_is_template(table) && !check_table(&check, table, error))
      return FALSE;
  }
  say_where_schemes_are(&check);
  if (refusals->len == 0)
    return TRUE;
  g_set_error(error, TIDE_ERROR, TIDE_ERROR_CONFIG, "%s", refusals->str);
  return FALSE;
}
