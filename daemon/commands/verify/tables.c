/* The tables of a verification: their families' retention, the span of cell times covered by the messages read, and the
 * counts of each table. */
#include "commands/read/key_arguments.h"
#include "commands/read/range_reader.h"
#include "commands/verify/verification.h"
#include "model/table/dated_table.h"
#include "util/error.h"
#include "util/pace.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

/* Rows per page of a scan, as in `rollup` and for the same reasons. */
#define PAGE_ROWS 500u
#define PAGE_BYTES (2u << 20)

/* Enough for a restarting gateway or a moving region. */
#define TIMEOUT_US (60 * TIDE_US_PER_S)
#define RETRY_US (500 * TIDE_US_PER_MS)

/* Cell times of a declared table's rows. */
typedef struct Window {
  gint64 min_ms;
  gint64 max_ms; /* below min_ms: none */
} Window;

struct TideVerifyTables {
  const TideConfig *config;    /* borrowed */
  TideGatewaySession *session; /* borrowed */
  GPtrArray *wanted;           /* owned (element-type TideTable): borrowed tables; none: all */
  GPtrArray *tables;           /* owned (element-type TideVerifyTable) */
  GArray *families;            /* owned (element-type TideVerifyFamily) */
  GHashTable *slots;           /* owned: name to 1 + index; 0: not to be verified */
  guint *slot_of_declared;     /* owned, by index: of plain tables; TIDE_TABLE_NONE */
  Window *windows;             /* owned, by index */
};

static void
clear_family(gpointer data)
{
  TideVerifyFamily *family = data;
  g_free(family->name);
}

void
tide_verify_tables_free(TideVerifyTables *tables)
{
  if (tables == NULL)
    return;
  g_ptr_array_unref(tables->wanted);
  g_ptr_array_unref(tables->tables);
  g_array_unref(tables->families);
  g_hash_table_unref(tables->slots);
  g_free(tables->slot_of_declared);
  g_free(tables->windows);
  g_free(tables);
}

guint
tide_verify_tables_count(const TideVerifyTables *tables)
{
  return tables->tables->len;
}

TideVerifyTable *
tide_verify_tables_at(const TideVerifyTables *tables, guint slot)
{
  return tables->tables->pdata[slot];
}

const TideVerifyFamily *
tide_verify_tables_family(const TideVerifyTables *tables, guint family)
{
  return &g_array_index(tables->families, TideVerifyFamily, family);
}

TideGatewaySession *
tide_verify_tables_session(TideVerifyTables *tables)
{
  return tables->session;
}

/* ---- the tables -------------------------------------------------------------------------------------------------- */

static gint64
shorter_ttl_ms(gint64 a_ms, gint64 b_ms)
{
  return a_ms == 0 || (b_ms > 0 && b_ms < a_ms) ? b_ms : a_ms;
}

/* @description: the table in HBase; NULL: there is none */
static TideVerifyFamily
make_family(guint slot, const TideTable *table, const TideFamilySettings *declared,
            const TideTableDescription *description)
{
  TideBytes name = tide_bytes_of_string(declared->name);
  const TideFamilySettings *found = description != NULL ? tide_family_settings_find(description->families, name) : NULL;
  const TideFamilySettings *kept = found != NULL ? found : declared;
  gint32 versions = table->latest == TIDE_LATEST_NONE ? kept->max_versions : 1;
  return (TideVerifyFamily){
      .table = slot,
      .name = g_strdup(declared->name),
      .versions = (guint)CLAMP(versions, 1, (gint32)TIDE_VERIFY_MAX_VERSIONS),
      .ttl_ms = shorter_ttl_ms(tide_table_ttl_ms(table, name), (gint64)kept->time_to_live_s * 1000),
  };
}

static gboolean
add_table(TideVerifyTables *tables, const TideTable *table, guint *ret_slot, GError **error)
{
  g_autoptr(GError) fault = NULL;
  g_autoptr(TideTableDescription) description =
      tide_hbase_client_describe(tide_gateway_session_client(tables->session), table->name,
                                 tide_gateway_session_deadline_us(tables->session), &fault);
  if (description == NULL && !g_error_matches(fault, TIDE_ERROR, TIDE_ERROR_NOT_FOUND)) {
    g_propagate_prefixed_error(error, g_steal_pointer(&fault), "cannot describe table '%s': ", table->name);
    return FALSE;
  }
  if (tables->families->len + table->families->len > G_MAXUINT16)
    return tide_fail(error, TIDE_ERROR_TOO_BIG, "too many tables to verify at once: choose with '--table'");
  guint slot = tables->tables->len;
  TideVerifyTable *added = g_new0(TideVerifyTable, 1);
  *added = (TideVerifyTable){.table = table,
                             .is_there = description != NULL,
                             .first_family = tables->families->len,
                             .n_families = table->families->len};
  for (guint i = 0; i < table->families->len; i++) {
    TideVerifyFamily family = make_family(slot, table, table->families->pdata[i], description);
    g_array_append_val(tables->families, family);
  }
  g_ptr_array_add(tables->tables, added);
  *ret_slot = slot;
  return TRUE;
}

/* Looks up @table, or adds it to the tables to verify. */
static gboolean
assign_slot(TideVerifyTables *tables, const TideTable *table, guint *ret_slot, GError **error)
{
  gboolean is_wanted = tables->wanted->len == 0;
  for (guint i = 0; i < tables->wanted->len && !is_wanted; i++) {
    const TideTable *wanted = tables->wanted->pdata[i];
    is_wanted =
        wanted->index == table->index && (tide_table_is_template(wanted) || strcmp(wanted->name, table->name) == 0);
  }
  *ret_slot = TIDE_TABLE_NONE;
  if (is_wanted && !add_table(tables, table, ret_slot, error))
    return FALSE;
  guint known = *ret_slot == TIDE_TABLE_NONE ? 0 : *ret_slot + 1;
  g_hash_table_insert(tables->slots, g_strdup(table->name), GUINT_TO_POINTER(known));
  return TRUE;
}

static gboolean
add_wanted(TideVerifyTables *tables, const char *name, GError **error)
{
  const TideTable *table = tide_table_argument_find(tables->config, name, error);
  if (table == NULL)
    return FALSE;
  if (table->declared != NULL && !tide_table_is_template(table->declared))
    return tide_fail(error, TIDE_ERROR_USAGE, "'%s' is a copy made by 'tidemark rollup': verify '%s' instead", name,
                     table->declared->name);
  g_ptr_array_add(tables->wanted, (gpointer)table);
  return TRUE;
}

TideVerifyTables *
tide_verify_tables_new(const TideConfig *config, TideGatewaySession *session, const GPtrArray *wanted, GError **error)
{
  g_autoptr(TideVerifyTables) tables = g_new0(TideVerifyTables, 1);
  tables->config = config;
  tables->session = session;
  tables->wanted = g_ptr_array_new();
  tables->tables = g_ptr_array_new_with_free_func(g_free);
  tables->families = g_array_new(FALSE, FALSE, sizeof(TideVerifyFamily));
  g_array_set_clear_func(tables->families, clear_family);
  tables->slots = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  tables->slot_of_declared = g_new0(guint, config->tables->len);
  tables->windows = g_new0(Window, config->tables->len);
  for (guint i = 0; i < config->tables->len; i++) {
    tables->slot_of_declared[i] = TIDE_TABLE_NONE;
    tables->windows[i] = (Window){G_MAXINT64, G_MININT64};
  }
  for (guint i = 0; i < wanted->len; i++)
    if (!add_wanted(tables, wanted->pdata[i], error))
      return NULL;
  g_autoptr(GPtrArray) instances = tide_table_instances(session, config, config->tables, error);
  for (guint i = 0; instances != NULL && i < instances->len; i++) {
    const TideTable *table = instances->pdata[i];
    guint slot;
    if (!assign_slot(tables, table, &slot, error))
      return NULL;
    if (table->declared == NULL)
      tables->slot_of_declared[table->index] = slot;
  }
  return instances != NULL ? g_steal_pointer(&tables) : NULL;
}

gboolean
tide_verify_tables_find(TideVerifyTables *tables, const TideRow *row, guint *ret_slot, GError **error)
{
  if (row->table_name.len == 0) {
    *ret_slot = tables->slot_of_declared[row->table_index];
    return TRUE;
  }
  g_autofree char *name = g_strndup((const char *)row->table_name.data, row->table_name.len);
  gpointer known = NULL;
  if (g_hash_table_lookup_extended(tables->slots, name, NULL, &known)) {
    *ret_slot = GPOINTER_TO_UINT(known) == 0 ? TIDE_TABLE_NONE : GPOINTER_TO_UINT(known) - 1;
    return TRUE;
  }
  const TideTable *table = tide_table_of_name(tables->config, name);
  g_assert(table != NULL); /* the mapping built the name from the table's own pattern */
  return assign_slot(tables, table, ret_slot, error);
}

/* ---- cells ---------------------------------------------------------------------------------------------------------
 */

static Window *
window_of(const TideVerifyTables *tables, guint slot)
{
  return &tables->windows[tide_verify_tables_at(tables, slot)->table->index];
}

void
tide_verify_tables_note_time(TideVerifyTables *tables, guint slot, gint64 time_ms)
{
  Window *window = window_of(tables, slot);
  window->min_ms = MIN(window->min_ms, time_ms);
  window->max_ms = MAX(window->max_ms, time_ms);
}

gboolean
tide_verify_tables_is_outside(const TideVerifyTables *tables, guint slot, gint64 time_ms)
{
  const Window *window = window_of(tables, slot);
  gboolean is_latest = tide_verify_tables_at(tables, slot)->table->latest != TIDE_LATEST_NONE;
  /* Every cell of a latest table must have a source, however new it is. */
  return time_ms < window->min_ms || (!is_latest && time_ms > window->max_ms);
}

TideVerifyRow
tide_verify_row(guint slot, TideBytes key)
{
  XXH128_hash_t hash = XXH3_128bits_withSeed(key.data, key.len, slot);
  return (TideVerifyRow){.high = hash.high64, .low = hash.low64};
}

gboolean
tide_verify_tables_entry(const TideVerifyTables *tables, guint slot, TideVerifyRow row, const TideResultCell *cell,
                         TideVerifyEntry *ret_entry)
{
  const TideVerifyTable *table = tide_verify_tables_at(tables, slot);
  for (guint i = 0; i < table->n_families; i++) {
    guint family = table->first_family + i;
    const char *name = tide_verify_tables_family(tables, family)->name;
    if (!tide_bytes_equal(tide_bytes_of_string(name), cell->family))
      continue;
    guint64 column = XXH3_64bits_withSeed(cell->qualifier.data, cell->qualifier.len, i);
    *ret_entry = (TideVerifyEntry){.row = row,
                                   .column = MAX(column, 1), /* 0 denotes the row */
                                   .time_ms = cell->timestamp_ms,
                                   .value = XXH3_64bits(cell->value.data, cell->value.len),
                                   .family = (guint16)family};
    return TRUE;
  }
  return FALSE;
}

TideVerifyRule
tide_verify_tables_rule(const TideVerifyTables *tables, const TideVerifyEntry *entry, gint64 now_ms, gboolean is_whole)
{
  const TideVerifyFamily *family = tide_verify_tables_family(tables, entry->family);
  const TideTable *table = tide_verify_tables_at(tables, family->table)->table;
  return (TideVerifyRule){
      .is_latest = table->latest != TIDE_LATEST_NONE,
      .has_deletes = table->latest == TIDE_LATEST_REPLACE || table->tombstone == TIDE_TOMBSTONE_DELETE,
      .versions = family->versions,
      .ttl_ms = family->ttl_ms,
      .now_ms = now_ms,
      .is_whole = is_whole,
  };
}

/* ---- scans ---------------------------------------------------------------------------------------------------------
 */

/* Reads the next row; retries while its page may still succeed. */
static gboolean
next_row(TideRangeReader *reader, const TideVerifyScan *scan, const TideResultRow **ret_row, GError **error)
{
  gint64 deadline_us = tide_now_us() + TIMEOUT_US;
  while (*scan->stop == 0) {
    g_autoptr(GError) fault = NULL;
    if (tide_range_reader_peek(reader, ret_row, &fault))
      return TRUE;
    if (!tide_gateway_error_may_pass(fault) || tide_now_us() >= deadline_us) {
      g_propagate_error(error, g_steal_pointer(&fault));
      return FALSE;
    }
    g_usleep(RETRY_US);
  }
  return tide_fail(error, TIDE_ERROR_CANCELLED, "stopped by a signal");
}

gboolean
tide_verify_tables_scan(TideVerifyTables *tables, const TideVerifyScan *scan, GError **error)
{
  const TideVerifyTable *table = tide_verify_tables_at(tables, scan->slot);
  const Window *window = window_of(tables, scan->slot);
  gboolean is_latest = table->table->latest != TIDE_LATEST_NONE;
  guint most_versions = 1;
  if (!table->is_there || window->min_ms > window->max_ms)
    return TRUE;
  g_autofree TideColumnName *columns = g_new0(TideColumnName, table->n_families);
  for (guint i = 0; i < table->n_families; i++) {
    const TideVerifyFamily *family = tide_verify_tables_family(tables, table->first_family + i);
    columns[i] = (TideColumnName){.family = tide_bytes_of_string(family->name), .whole_family = TRUE};
    most_versions = MAX(most_versions, family->versions);
  }
  TideGatewayTable read = {.session = tables->session, .name = table->table->name};
  TideRangeReaderOptions options = {
      .scan = tide_gateway_table_scan,
      .scan_data = &read,
      .columns = columns,
      .n_columns = table->n_families,
      /* No upper limit: if the newest cell of a column is newer, HBase may or may not show the one within. */
      .min_time_ms = is_latest ? 0 : MAX(window->min_ms, 0),
      .max_time_ms = is_latest ? 0 : G_MAXINT64,
      .max_versions = (gint32)most_versions,
      .page_rows = PAGE_ROWS,
      .page_bytes = PAGE_BYTES,
  };
  TideKeyRange all = {0};
  g_autoptr(TideRangeReader) reader = tide_range_reader_new(&all, &options);
  TidePace pace = {.per_s = scan->rate_rows_per_s};
  const TideResultRow *row;
  while (next_row(reader, scan, &row, error)) {
    if (row == NULL || !scan->take_row(row, scan->data))
      return TRUE;
    tide_range_reader_pass(reader);
    if (pace.per_s == 0)
      continue;
    gint64 now_us = tide_now_us();
    g_usleep((gulong)tide_pace_wait_us(&pace, now_us));
    tide_pace_add(&pace, 1, now_us);
  }
  g_prefix_error(error, "cannot read table '%s': ", table->table->name);
  return FALSE;
}
