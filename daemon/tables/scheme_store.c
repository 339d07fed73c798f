#include "tables/scheme_store.h"

#include "thrift/wire/put_encoder.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/state_directory.h"

#include <errno.h>

/* Raised when what a description says of the same key changes. */
#define SCHEME_PREFIX "tidemark scheme 1: "

/* Of a stored scheme; a key of 32 parts with long names is described in a tenth of it. */
#define MAX_SCHEME_BYTES (64u * 1024u)

void
tide_scheme_store_init(TideSchemeStore *store, const TideConfig *config)
{
  *store = (TideSchemeStore){
      .names = config->names, .call_timeout_ms = config->hbase.call_timeout_ms, .directory = tide_state_directory()};
}

void
tide_scheme_store_clear(TideSchemeStore *store)
{
  g_clear_pointer(&store->directory, g_free);
}

char *
tide_scheme_text(const TideTable *table, const TideFieldNames *names)
{
  g_autofree char *key = tide_row_key_describe(table->key, names);
  return g_strconcat(SCHEME_PREFIX, key, NULL);
}

const char *
tide_scheme_place_text(TideSchemePlace place)
{
  switch (place) {
  case TIDE_SCHEME_NOWHERE:
    return "nowhere";
  case TIDE_SCHEME_IN_TABLE:
    return "in table '" TIDE_SCHEME_TABLE "'";
  case TIDE_SCHEME_IN_FILE:
    return "in the state directory of this host";
  case TIDE_SCHEME_IN_ATTRIBUTE:
    return "in the table's attribute '" TIDE_SCHEME_ATTRIBUTE "'";
  }
  return "nowhere";
}

void
tide_stored_scheme_clear(TideStoredScheme *stored)
{
  g_clear_pointer(&stored->text, g_free);
}

void
tide_scheme_finding_clear(TideSchemeFinding *finding)
{
  tide_stored_scheme_clear(&finding->stored);
  g_clear_pointer(&finding->declared, g_free);
}

static gint64
deadline_us(const TideSchemeStore *store)
{
  return tide_now_us() + store->call_timeout_ms * TIDE_US_PER_MS;
}

/* What was stored as a text that can be shown: ours is printable, anything else is none of ours and equals none. */
static char *
text_of_stored(TideBytes bytes)
{
  TideBytes part = tide_bytes(bytes.data, MIN(bytes.len, MAX_SCHEME_BYTES));
  for (gsize i = 0; i < part.len; i++)
    if (!g_ascii_isprint((char)part.data[i]))
      return tide_bytes_printable(part);
  return g_strndup((const char *)part.data, part.len);
}

/* ---- the small table ---- */

static gboolean
take_scheme_cell(const TideResultRow *row, gpointer data)
{
  char **ret_text = data;
  for (gsize i = 0; i < row->n_cells && *ret_text == NULL; i++)
    if (tide_bytes_equal(row->cells[i].family, TIDE_BYTES_LITERAL(TIDE_SCHEME_FAMILY)) &&
        tide_bytes_equal(row->cells[i].qualifier, TIDE_BYTES_LITERAL(TIDE_SCHEME_QUALIFIER)))
      *ret_text = text_of_stored(row->cells[i].value);
  return TRUE;
}

/* @ret_text: NULL when the small table or the row is not there. */
static gboolean
read_row(const TideSchemeStore *store, TideHBaseClient *client, const char *table, char **ret_text, GError **error)
{
  gboolean exists = FALSE;
  if (!tide_hbase_client_table_exists(client, TIDE_SCHEME_TABLE, deadline_us(store), &exists, error))
    return FALSE;
  TideBytes row = tide_bytes_of_string(tide_table_short_name(table));
  return !exists || tide_hbase_client_get(client, TIDE_BYTES_LITERAL(TIDE_SCHEME_TABLE), row, deadline_us(store),
                                          take_scheme_cell, ret_text, NULL, error);
}

static gboolean
write_row(const TideSchemeStore *store, TideHBaseClient *client, const char *table, const char *scheme, GError **error)
{
  TideWireProtocol protocol = tide_hbase_client_mode(client).protocol;
  g_auto(TideBuffer) prefix = {0};
  g_auto(TideBuffer) put = {0};
  tide_column_prefix_append(protocol, &prefix, TIDE_BYTES_LITERAL(TIDE_SCHEME_FAMILY),
                            TIDE_BYTES_LITERAL(TIDE_SCHEME_QUALIFIER));
  tide_put_head_append(protocol, &put, tide_bytes_of_string(tide_table_short_name(table)), 1);
  /* Now, and not an event's time: what is stored last wins. */
  tide_cell_append(protocol, &put, tide_buffer_bytes(&prefix), tide_bytes_of_string(scheme), g_get_real_time() / 1000);
  tide_put_tail_append(protocol, &put, 0);
  TideBytes part = tide_buffer_bytes(&put);
  return tide_hbase_client_put_multiple(client, TIDE_BYTES_LITERAL(TIDE_SCHEME_TABLE), &part, 1, 1, deadline_us(store),
                                        error);
}

gboolean
tide_scheme_store_create_table(const TideSchemeStore *store, TideHBaseClient *client, gint64 create_deadline_us,
                               GError **error)
{
  gboolean exists = FALSE;
  if (!tide_hbase_client_table_exists(client, TIDE_SCHEME_TABLE, deadline_us(store), &exists, error))
    return FALSE;
  g_autoptr(TideTableDescription) description = tide_table_description_new(TIDE_SCHEME_TABLE);
  g_ptr_array_add(description->families, tide_family_settings_new(TIDE_SCHEME_FAMILY));
  return exists || tide_hbase_client_create_table(client, description, NULL, create_deadline_us, error);
}

/* ---- the file ---- */

static char *
path_of(const TideSchemeStore *store, const char *table)
{
  /* Names of tables are made of letters, digits and _-.: and, with a date, what a pattern prints: nothing that leaves
   * the directory gets through. */
  g_autofree char *escaped = g_uri_escape_string(tide_table_short_name(table), ":", FALSE);
  g_autofree char *name = g_strconcat("scheme-", escaped, NULL);
  return g_build_filename(store->directory, name, NULL);
}

/* @ret_text: NULL when there is no such file. */
static gboolean
read_file(const TideSchemeStore *store, const char *table, char **ret_text, GError **error)
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
  g_set_error(error, TIDE_ERROR, TIDE_ERROR_IO, "cannot read the scheme of table '%s': %s", table, failure->message);
  return FALSE;
}

static gboolean
write_file(const TideSchemeStore *store, const char *table, const char *scheme, GError **error)
{
  g_autofree char *path = path_of(store, table);
  g_autofree char *content = g_strconcat(scheme, "\n", NULL);
  g_autoptr(GError) failure = NULL;
  if (g_file_set_contents(path, content, -1, &failure))
    return TRUE;
  g_set_error(error, TIDE_ERROR, TIDE_ERROR_IO, "cannot keep the scheme of table '%s': %s", table, failure->message);
  return FALSE;
}

/* ---- all of them ---- */

static char *
text_of_attribute(const TideTableDescription *description)
{
  for (guint i = 0; i < description->attributes->len; i++) {
    const TideAttribute *attribute = &g_array_index(description->attributes, TideAttribute, i);
    if (tide_bytes_equal(attribute->name, TIDE_BYTES_LITERAL(TIDE_SCHEME_ATTRIBUTE)))
      return text_of_stored(attribute->value);
  }
  return NULL;
}

gboolean
tide_scheme_store_read(const TideSchemeStore *store, TideHBaseClient *client, const TideTableDescription *description,
                       TideStoredScheme *ret_stored, GError **error)
{
  TideStoredScheme stored = {.place = TIDE_SCHEME_IN_TABLE};
  if (!read_row(store, client, description->name, &stored.text, error))
    return FALSE;
  if (stored.text == NULL && store->directory != NULL) {
    stored.place = TIDE_SCHEME_IN_FILE;
    if (!read_file(store, description->name, &stored.text, error))
      return FALSE;
  }
  if (stored.text == NULL) {
    stored.place = TIDE_SCHEME_IN_ATTRIBUTE;
    stored.text = text_of_attribute(description);
  }
  if (stored.text == NULL)
    stored.place = TIDE_SCHEME_NOWHERE;
  *ret_stored = stored;
  return TRUE;
}

gboolean
tide_scheme_store_find_place(const TideSchemeStore *store, TideHBaseClient *client, TideSchemePlace *ret_place,
                             GError **error)
{
  gboolean exists = FALSE;
  if (!tide_hbase_client_table_exists(client, TIDE_SCHEME_TABLE, deadline_us(store), &exists, error))
    return FALSE;
  *ret_place = exists ? TIDE_SCHEME_IN_TABLE : store->directory != NULL ? TIDE_SCHEME_IN_FILE : TIDE_SCHEME_NOWHERE;
  return TRUE;
}

gboolean
tide_scheme_store_write(const TideSchemeStore *store, TideHBaseClient *client, const char *table, const char *scheme,
                        TideSchemePlace *ret_place, GError **error)
{
  TideSchemePlace place;
  if (!tide_scheme_store_find_place(store, client, &place, error))
    return FALSE;
  if (place == TIDE_SCHEME_IN_TABLE && !write_row(store, client, table, scheme, error))
    return FALSE;
  if (place == TIDE_SCHEME_IN_FILE && !write_file(store, table, scheme, error))
    return FALSE;
  *ret_place = place;
  return TRUE;
}

/* ---- comparing ---- */

static gboolean
stop_at_row(const TideResultRow *row, gpointer data)
{
  return FALSE;
}

static gboolean
is_empty(const TideSchemeStore *store, TideHBaseClient *client, const char *table, gboolean *ret_empty, GError **error)
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
tide_scheme_store_compare(const TideSchemeStore *store, TideHBaseClient *client, const TideTable *table,
                          const TideTableDescription *description, TideSchemeFinding *ret_finding, GError **error)
{
  g_auto(TideSchemeFinding) finding = {.declared = tide_scheme_text(table, store->names)};
  if (!tide_scheme_store_read(store, client, description, &finding.stored, error))
    return FALSE;
  if (finding.stored.text == NULL)
    finding.verdict = TIDE_SCHEME_NOT_STORED;
  else if (strcmp(finding.stored.text, finding.declared) == 0)
    finding.verdict = TIDE_SCHEME_SAME;
  else {
    gboolean empty = FALSE;
    if (!is_empty(store, client, table->name, &empty, error))
      return FALSE;
    finding.verdict = empty ? TIDE_SCHEME_CHANGED_WHILE_EMPTY : TIDE_SCHEME_CHANGED;
  }
  *ret_finding = finding;
  finding = (TideSchemeFinding){0};
  return TRUE;
}

char *
tide_scheme_refusal(const TideTable *table, const TideSchemeFinding *finding)
{
  return g_strdup_printf(
      "the key of table '%s' was changed, and the table has rows: they were written with [%s] (stored "
      "%s), the configuration now says [%s]; written so, new rows would stand elsewhere and the old "
      "ones would not be found any more: restore the key, give the table a new name, or start once "
      "with: tidemark run --accept-scheme-change",
      table->name, finding->stored.text, tide_scheme_place_text(finding->stored.place), finding->declared);
}
