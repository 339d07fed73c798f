#include "tables/fingerprint_store.h"

#include "model/table/dated_table.h"
#include "thrift/wire/put_encoder.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/log.h"
#include "util/state_directory.h"

#include <errno.h>

/* Increased when the description of a key changes its form. */
#define DESCRIPTION_PREFIX "tidemark scheme 1: "

/* Limit of a stored key fingerprint; a key of 32 parts with long names needs a tenth of it. */
#define MAX_FINGERPRINT_BYTES (64u * 1024u)

void
tide_fingerprint_store_init(TideFingerprintStore *store, const TideConfig *config)
{
  *store = (TideFingerprintStore){
      .names = config->names, .call_timeout_ms = config->hbase.call_timeout_ms, .directory = tide_state_directory()};
}

void
tide_fingerprint_store_clear(TideFingerprintStore *store)
{
  g_clear_pointer(&store->directory, g_free);
}

char *
tide_fingerprint_text(const TideTable *table, const TideFieldNames *names)
{
  g_autofree char *key = tide_row_key_describe(table->key, names);
  return g_strconcat(DESCRIPTION_PREFIX, key, NULL);
}

const TideFingerprintPlace tide_fingerprint_locations[] = {
    [TIDE_FINGERPRINT_NOWHERE] = {"nowhere", FALSE},
    [TIDE_FINGERPRINT_IN_TABLE] = {"in table '" TIDE_FINGERPRINT_TABLE "'", TRUE},
    [TIDE_FINGERPRINT_IN_FILE] = {"in the state directory of this host", FALSE},
    [TIDE_FINGERPRINT_IN_ATTRIBUTE] = {"in the table's attribute '" TIDE_FINGERPRINT_ATTRIBUTE "'", TRUE},
};

void
tide_stored_fingerprint_clear(TideStoredFingerprint *stored)
{
  g_clear_pointer(&stored->text, g_free);
}

void
tide_fingerprint_finding_clear(TideFingerprintFinding *finding)
{
  tide_stored_fingerprint_clear(&finding->stored);
  g_clear_pointer(&finding->declared, g_free);
}

static gint64
deadline_us(const TideFingerprintStore *store)
{
  return tide_now_us() + store->call_timeout_ms * TIDE_US_PER_MS;
}

/* The stored bytes as printable text. Fingerprints of tidemark's are printable; anything else equals none of them. */
static char *
text_of_stored(TideBytes bytes)
{
  TideBytes part = tide_bytes(bytes.data, MIN(bytes.len, MAX_FINGERPRINT_BYTES));
  for (gsize i = 0; i < part.len; i++)
    if (!g_ascii_isprint((char)part.data[i]))
      return tide_bytes_printable(part);
  return g_strndup((const char *)part.data, part.len);
}

/* ---- the table of fingerprints ---- */

typedef struct StoredCell {
  char *text; /* owned; NULL: there is no such table or row */
  gint64 time_ms;
} StoredCell;

static gboolean
take_fingerprint_cell(const TideResultRow *row, gpointer data)
{
  StoredCell *stored = data;
  for (gsize i = 0; i < row->n_cells && stored->text == NULL; i++)
    if (tide_bytes_equal(row->cells[i].family, TIDE_BYTES_LITERAL(TIDE_FINGERPRINT_FAMILY)) &&
        tide_bytes_equal(row->cells[i].qualifier, TIDE_BYTES_LITERAL(TIDE_FINGERPRINT_QUALIFIER)))
      *stored = (StoredCell){text_of_stored(row->cells[i].value), row->cells[i].timestamp_ms};
  return TRUE;
}

static gboolean
read_row(const TideFingerprintStore *store, TideHBaseClient *client, const char *table, StoredCell *ret_stored,
         GError **error)
{
  gboolean exists = FALSE;
  if (!tide_hbase_client_table_exists(client, TIDE_FINGERPRINT_TABLE, deadline_us(store), &exists, error))
    return FALSE;
  TideBytes row = tide_bytes_of_string(tide_table_short_name(table));
  return !exists || tide_hbase_client_get(client, TIDE_BYTES_LITERAL(TIDE_FINGERPRINT_TABLE), row, deadline_us(store),
                                          take_fingerprint_cell, ret_stored, NULL, error);
}

static gboolean
write_row(const TideFingerprintStore *store, TideHBaseClient *client, const char *table, const char *fingerprint,
          GError **error)
{
  StoredCell before = {0};
  if (!read_row(store, client, table, &before, error))
    return FALSE;
  g_free(before.text);
  TideWireProtocol protocol = tide_hbase_client_mode(client).protocol;
  g_auto(TideBuffer) prefix = {0};
  g_auto(TideBuffer) put = {0};
  tide_column_prefix_append(protocol, &prefix, TIDE_BYTES_LITERAL(TIDE_FINGERPRINT_FAMILY),
                            TIDE_BYTES_LITERAL(TIDE_FINGERPRINT_QUALIFIER));
  tide_put_head_append(protocol, &put, tide_bytes_of_string(tide_table_short_name(table)), 1);
  /* The current time rather than an event time, so that the last stored value wins, even over one stored by a clock
   * that was ahead. */
  tide_cell_append(protocol, &put, tide_buffer_bytes(&prefix), tide_bytes_of_string(fingerprint),
                   MAX(g_get_real_time() / 1000, before.time_ms + 1));
  tide_put_tail_append(protocol, &put, TIDE_PUT_NO_TIME, 0);
  TideBytes part = tide_buffer_bytes(&put);
  return tide_hbase_client_put_multiple(client, TIDE_BYTES_LITERAL(TIDE_FINGERPRINT_TABLE), &part, 1, 1,
                                        deadline_us(store), error);
}

gboolean
tide_fingerprint_store_create_table(const TideFingerprintStore *store, TideHBaseClient *client,
                                    gint64 create_deadline_us, GError **error)
{
  gboolean exists = FALSE;
  if (!tide_hbase_client_table_exists(client, TIDE_FINGERPRINT_TABLE, deadline_us(store), &exists, error))
    return FALSE;
  g_autoptr(TideTableDescription) description = tide_table_description_new(TIDE_FINGERPRINT_TABLE);
  g_ptr_array_add(description->families, tide_family_settings_new(TIDE_FINGERPRINT_FAMILY));
  return exists || tide_hbase_client_create_table(client, description, NULL, create_deadline_us, error);
}

/* ---- the file ---- */

static char *
path_of(const TideFingerprintStore *store, const char *table)
{
  /* Table names consist of letters, digits and _-.: and, for a date, the output of a pattern, so the path cannot leave
   * the directory. */
  g_autofree char *escaped = g_uri_escape_string(tide_table_short_name(table), ":", FALSE);
  g_autofree char *name = g_strconcat("scheme-", escaped, NULL);
  return g_build_filename(store->directory, name, NULL);
}

/* @ret_text: NULL if the file does not exist */
static gboolean
read_file(const TideFingerprintStore *store, const char *table, char **ret_text, GError **error)
{
  g_autofree char *path = path_of(store, table);
  g_autofree char *content = NULL;
  gsize len = 0;
  g_autoptr(GError) failure = NULL;
  if (g_file_get_contents(path, &content, &len, &failure)) {
    *ret_text = text_of_stored(tide_bytes(content, len > 0 && content[len - 1] == '\n' ? len - 1 : len));
    return TRUE;
  }
  if (g_error_matches(failure, G_FILE_ERROR, G_FILE_ERROR_NOENT))
    return TRUE;
  return tide_fail(error, TIDE_ERROR_IO, "cannot read the key fingerprint of table '%s': %s", table, failure->message);
}

/* ---- all locations ---- */

gboolean
tide_fingerprint_store_read(const TideFingerprintStore *store, TideHBaseClient *client,
                            const TideTableDescription *description, TideStoredFingerprint *ret_stored, GError **error)
{
  StoredCell cell = {0};
  if (!read_row(store, client, description->name, &cell, error))
    return FALSE;
  TideStoredFingerprint stored = {.location = TIDE_FINGERPRINT_IN_TABLE, .text = cell.text};
  if (stored.text == NULL && store->directory != NULL) {
    stored.location = TIDE_FINGERPRINT_IN_FILE;
    if (!read_file(store, description->name, &stored.text, error))
      return FALSE;
  }
  for (guint i = 0; stored.text == NULL && i < description->attributes->len; i++) {
    const TideAttribute *attribute = &g_array_index(description->attributes, TideAttribute, i);
    stored.location = TIDE_FINGERPRINT_IN_ATTRIBUTE;
    if (tide_bytes_equal(attribute->name, TIDE_BYTES_LITERAL(TIDE_FINGERPRINT_ATTRIBUTE)))
      stored.text = text_of_stored(attribute->value);
  }
  if (stored.text == NULL)
    stored.location = TIDE_FINGERPRINT_NOWHERE;
  *ret_stored = stored;
  return TRUE;
}

gboolean
tide_fingerprint_store_find_location(const TideFingerprintStore *store, TideHBaseClient *client,
                                     TideFingerprintLocation *ret_location, GError **error)
{
  gboolean exists = FALSE;
  if (!tide_hbase_client_table_exists(client, TIDE_FINGERPRINT_TABLE, deadline_us(store), &exists, error))
    return FALSE;
  *ret_location = exists                     ? TIDE_FINGERPRINT_IN_TABLE
                  : store->directory != NULL ? TIDE_FINGERPRINT_IN_FILE
                                             : TIDE_FINGERPRINT_NOWHERE;
  return TRUE;
}

gboolean
tide_fingerprint_store_write(const TideFingerprintStore *store, TideHBaseClient *client, const char *table,
                             const char *fingerprint, TideFingerprintLocation *ret_location, GError **error)
{
  TideFingerprintLocation location;
  if (!tide_fingerprint_store_find_location(store, client, &location, error))
    return FALSE;
  if (location == TIDE_FINGERPRINT_IN_TABLE && !write_row(store, client, table, fingerprint, error))
    return FALSE;
  if (location == TIDE_FINGERPRINT_IN_FILE) {
    g_autofree char *path = path_of(store, table);
    g_autofree char *content = g_strconcat(fingerprint, "\n", NULL);
    g_autoptr(GError) failure = NULL;
    if (!tide_state_directory_keep(path, content, &failure))
      return tide_fail(error, TIDE_ERROR_IO, "cannot store the key fingerprint of table '%s': %s", table,
                       failure->message);
  }
  *ret_location = location;
  return TRUE;
}

/* ---- comparison ---- */

static gboolean
stop_at_row(const TideResultRow *row, gpointer data)
{
  return FALSE;
}

gboolean
tide_fingerprint_store_is_empty(const TideFingerprintStore *store, TideHBaseClient *client, const char *table,
                                gboolean *ret_empty, GError **error)
{
  TideScanRequest request = {.limit_rows = 1, .caching_rows = 1};
  guint64 n_rows = 0;
  if (!tide_hbase_client_scan(client, tide_bytes_of_string(table), &request, store->call_timeout_ms, stop_at_row, NULL,
                              &n_rows, error))
    return FALSE;
  *ret_empty = n_rows == 0;
  return TRUE;
}

gboolean
tide_fingerprint_store_compare(const TideFingerprintStore *store, TideHBaseClient *client, const TideTable *table,
                               const TideTableDescription *description, TideFingerprintFinding *ret_finding,
                               GError **error)
{
  g_auto(TideFingerprintFinding) finding = {.declared = tide_fingerprint_text(table, store->names)};
  if (!tide_fingerprint_store_read(store, client, description, &finding.stored, error))
    return FALSE;
  if (finding.stored.text == NULL)
    finding.verdict = TIDE_FINGERPRINT_NOT_STORED;
  else if (strcmp(finding.stored.text, finding.declared) == 0)
    finding.verdict = TIDE_FINGERPRINT_SAME;
  else {
    gboolean empty = FALSE;
    if (!tide_fingerprint_store_is_empty(store, client, table->name, &empty, error))
      return FALSE;
    finding.verdict = empty ? TIDE_FINGERPRINT_CHANGED_WHILE_EMPTY : TIDE_FINGERPRINT_CHANGED;
  }
  *ret_finding = finding;
  finding = (TideFingerprintFinding){0};
  return TRUE;
}

char *
tide_fingerprint_mismatch(const TideTable *table, const TideFingerprintFinding *finding)
{
  return g_strdup_printf(
      "the key of table '%s' has changed, but the table has rows: they were written with [%s] (stored %s), and the "
      "configuration declares [%s]; the new key does not find the old rows: restore the key, give the table a new "
      "name, or start once with: tidemark run --accept-scheme-change",
      table->name, finding->stored.text, tide_fingerprint_locations[finding->stored.location].text, finding->declared);
}

/* ---- check before writing ---- */

typedef struct FingerprintCheck {
  const TideFingerprintStore *store;
  TideHBaseClient *client;
  gboolean accept;
  GString *mismatches; /* owned: joined sentences */
  GString *local_only; /* owned: joined names of tables whose key fingerprint is now in a file */
  GString *not_stored; /* owned: joined names */
} FingerprintCheck;

static void
append_joined(GString *list, const char *separator, const char *item)
{
  g_string_append_printf(list, "%s%s", list->len > 0 ? separator : "", item);
}

/* A file that cannot be written does not prevent writing; a failed call to HBase does. */
static gboolean
store_fingerprint(FingerprintCheck *check, const TideTable *table, const char *fingerprint, GError **error)
{
  g_autoptr(GError) failure = NULL;
  TideFingerprintLocation location = TIDE_FINGERPRINT_NOWHERE;
  if (!tide_fingerprint_store_write(check->store, check->client, table->name, fingerprint, &location, &failure)) {
    if (!g_error_matches(failure, TIDE_ERROR, TIDE_ERROR_IO)) {
      g_propagate_error(error, g_steal_pointer(&failure));
      return FALSE;
    }
    tide_log(TIDE_LOG_WARNING, "fingerprint-not-stored", "%s; retrying", failure->message);
  }
  if (location == TIDE_FINGERPRINT_IN_FILE)
    append_joined(check->local_only, ", ", table->name);
  else if (location == TIDE_FINGERPRINT_NOWHERE)
    append_joined(check->not_stored, ", ", table->name);
  return TRUE;
}

static gboolean
apply_finding(FingerprintCheck *check, const TideTable *table, const TideFingerprintFinding *finding, GError **error)
{
  switch (finding->verdict) {
  case TIDE_FINGERPRINT_SAME:
    return TRUE;
  case TIDE_FINGERPRINT_NOT_STORED:
    return store_fingerprint(check, table, finding->declared, error);
  case TIDE_FINGERPRINT_CHANGED_WHILE_EMPTY:
    tide_log_fields(TIDE_LOG_INFO, "key-changed-while-empty", TIDE_LOG_FIELDS({"TABLE", table->name}),
                    "the key of table '%s', which has no rows, was changed from [%s] to [%s]", table->name,
                    finding->stored.text, finding->declared);
    return store_fingerprint(check, table, finding->declared, error);
  case TIDE_FINGERPRINT_CHANGED:
  case TIDE_FINGERPRINT_N_VERDICTS:
    break;
  }
  if (!check->accept) {
    g_autofree char *mismatch = tide_fingerprint_mismatch(table, finding);
    append_joined(check->mismatches, "; ", mismatch);
    return TRUE;
  }
  tide_log_fields(TIDE_LOG_WARNING, "key-changed", TIDE_LOG_FIELDS({"TABLE", table->name}),
                  "the key of table '%s' was changed from [%s] to [%s], which was accepted; rows written before cannot "
                  "be found by the new key",
                  table->name, finding->stored.text, finding->declared);
  return store_fingerprint(check, table, finding->declared, error);
}

gboolean
tide_fingerprint_check(const TideFingerprintStore *store, TideHBaseClient *client, const GPtrArray *tables,
                       gboolean accept, GError **error)
{
  g_autoptr(GString) mismatches = g_string_new(NULL);
  g_autoptr(GString) local_only = g_string_new(NULL);
  g_autoptr(GString) not_stored = g_string_new(NULL);
  FingerprintCheck check = {.store = store,
                            .client = client,
                            .accept = accept,
                            .mismatches = mismatches,
                            .local_only = local_only,
                            .not_stored = not_stored};
  for (guint i = 0; i < tables->len; i++) {
    const TideTable *table = g_ptr_array_index(tables, i);
    if (tide_table_is_template(table))
      continue;
    g_autoptr(TideTableDescription) description =
        tide_hbase_client_describe(client, table->name, deadline_us(store), error);
    g_auto(TideFingerprintFinding) finding = {0};
    if (description == NULL || !tide_fingerprint_store_compare(store, client, table, description, &finding, error) ||
        !apply_finding(&check, table, &finding, error))
      return FALSE;
  }
  if (local_only->len > 0)
    tide_log(
        TIDE_LOG_WARNING, "fingerprint-local",
        "the key fingerprints of %s are stored in '%s', on this host only; create table '%s' with 'tidemark tables "
        "create' so that all hosts notice a changed key",
        local_only->str, store->directory, TIDE_FINGERPRINT_TABLE);
  if (not_stored->len > 0)
    tide_log(TIDE_LOG_WARNING, "fingerprint-nowhere",
             "cannot store the key fingerprints of %s, so that a changed key would go unnoticed; create table '%s' "
             "with 'tidemark tables create', or set STATE_DIRECTORY to a writable directory",
             not_stored->str, TIDE_FINGERPRINT_TABLE);
  return mismatches->len == 0 || tide_fail(error, TIDE_ERROR_CONFIG, "%s", mismatches->str);
}
