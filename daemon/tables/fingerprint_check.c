#include "tables/fingerprint_check.h"

#include "model/table/dated_table.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/log.h"

typedef struct FingerprintCheck {
  const TideFingerprintStore *store;
  TideHBaseClient *client;
  gboolean accept;
  GString *mismatches; /* owned: joined sentences */
  GString *local_only; /* owned: joined names of tables whose key fingerprint is in a file now */
  GString *not_kept;   /* owned: joined names */
} FingerprintCheck;

static void
append_joined(GString *list, const char *separator, const char *item)
{
  g_string_append_printf(list, "%s%s", list->len > 0 ? separator : "", item);
}

/* A file that cannot be written keeps nobody from working; HBase that cannot be asked does. */
static gboolean
keep(FingerprintCheck *check, const TideTable *table, const char *fingerprint, GError **error)
{
  g_autoptr(GError) failure = NULL;
  TideFingerprintLocation location = TIDE_FINGERPRINT_NOWHERE;
  if (!tide_fingerprint_store_write(check->store, check->client, table->name, fingerprint, &location, &failure)) {
    if (!g_error_matches(failure, TIDE_ERROR, TIDE_ERROR_IO)) {
      g_propagate_error(error, g_steal_pointer(&failure));
      return FALSE;
    }
    tide_log(TIDE_LOG_WARNING, "fingerprint-unkept", "%s; it is tried again", failure->message);
  }
  if (location == TIDE_FINGERPRINT_IN_FILE)
    append_joined(check->local_only, ", ", table->name);
  else if (location == TIDE_FINGERPRINT_NOWHERE)
    append_joined(check->not_kept, ", ", table->name);
  return TRUE;
}

static gboolean
apply_finding(FingerprintCheck *check, const TideTable *table, const TideFingerprintFinding *finding, GError **error)
{
  switch (finding->verdict) {
  case TIDE_FINGERPRINT_SAME:
    return TRUE;
  case TIDE_FINGERPRINT_NOT_STORED:
    return keep(check, table, finding->declared, error);
  case TIDE_FINGERPRINT_CHANGED_WHILE_EMPTY:
    tide_log_fields(TIDE_LOG_INFO, "key-changed-while-empty", TIDE_LOG_FIELDS({"TABLE", table->name}),
                    "the key of table '%s', which has no rows, was changed from [%s] to [%s]", table->name,
                    finding->stored.text, finding->declared);
    return keep(check, table, finding->declared, error);
  case TIDE_FINGERPRINT_CHANGED:
  case TIDE_FINGERPRINT_N_VERDICTS:
    break;
  }
  if (!check->accept) {
    g_autofree char *mismatch = tide_fingerprint_mismatch(table, finding);
    append_joined(check->mismatches, "; ", mismatch);
    return TRUE;
  }
  tide_log_fields(
      TIDE_LOG_WARNING, "key-changed", TIDE_LOG_FIELDS({"TABLE", table->name}),
      "the key of table '%s' was changed from [%s] to [%s], and that was accepted: rows written before are not "
      "found by the new key",
      table->name, finding->stored.text, finding->declared);
  return keep(check, table, finding->declared, error);
}

static gboolean
check_table(FingerprintCheck *check, const TideTable *table, GError **error)
{
  gint64 deadline_us = tide_now_us() + check->store->call_timeout_ms * TIDE_US_PER_MS;
  g_autoptr(TideTableDescription) description =
      tide_hbase_client_describe(check->client, table->name, deadline_us, error);
  if (description == NULL)
    return FALSE;
  g_auto(TideFingerprintFinding) finding = {0};
  return tide_fingerprint_store_compare(check->store, check->client, table, description, &finding, error) &&
         apply_finding(check, table, &finding, error);
}

static void
log_where_fingerprints_are(const FingerprintCheck *check)
{
  if (check->local_only->len > 0)
    tide_log(
        TIDE_LOG_WARNING, "fingerprint-local",
        "the key fingerprints of %s are stored in '%s', on this host only; create table '%s' with 'tidemark tables "
        "create' so that all hosts notice a changed key",
        check->local_only->str, check->store->directory, TIDE_FINGERPRINT_TABLE);
  if (check->not_kept->len > 0)
    tide_log(
        TIDE_LOG_WARNING, "fingerprint-nowhere",
        "the key fingerprints of %s cannot be stored, so that a changed key would not be noticed; "
        "create table '%s' with 'tidemark tables create', or set STATE_DIRECTORY to a directory that can be written",
        check->not_kept->str, TIDE_FINGERPRINT_TABLE);
}

gboolean
tide_fingerprint_check(const TideFingerprintStore *store, TideHBaseClient *client, const GPtrArray *tables,
                       gboolean accept, GError **error)
{
  g_autoptr(GString) mismatches = g_string_new(NULL);
  g_autoptr(GString) local_only = g_string_new(NULL);
  g_autoptr(GString) not_kept = g_string_new(NULL);
  FingerprintCheck check = {.store = store,
                            .client = client,
                            .accept = accept,
                            .mismatches = mismatches,
                            .local_only = local_only,
                            .not_kept = not_kept};
  for (guint i = 0; i < tables->len; i++) {
    const TideTable *table = g_ptr_array_index(tables, i);
    if (!tide_table_is_template(table) && !check_table(&check, table, error))
      return FALSE;
  }
  log_where_fingerprints_are(&check);
  if (mismatches->len == 0)
    return TRUE;
  g_set_error(error, TIDE_ERROR, TIDE_ERROR_CONFIG, "%s", mismatches->str);
  return FALSE;
}
