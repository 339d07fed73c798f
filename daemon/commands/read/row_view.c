#include "commands/read/row_view.h"

#include "commands/cli/output.h"
#include "commands/cli/progress.h"
#include "tables/fingerprint_store.h"
#include "util/clock.h"
#include "util/units.h"

#include <unistd.h>

/* Bytes of standard output written at once: the C library's own buffer has room for some nine rows. */
#define OUTPUT_BYTES (64u << 10)

struct TideRowView {
  TideRowViewOptions options;
  TideKeyReader keys;      /* owned */
  TideCellReader *cells;   /* owned */
  TideRowPrinter *printer; /* owned */
  guint64 n_unread_keys;
};

TideRowView *
tide_row_view_new(FILE *stream, const TideFieldNames *names, const TideRowViewOptions *options)
{
  TideRowView *view = g_new0(TideRowView, 1);
  const TideTable *table = options->table;
  view->options = *options;
  tide_key_reader_init(&view->keys, table, names);
  view->cells = tide_cell_reader_new(table, names);
  TideRowPrinterOptions printing = options->printing;
  printing.table = table->name;
  printing.with_key_time = (table->cell_time != TIDE_CELL_TIME_EVENT && tide_row_key_has_time(table->key)) ||
                           tide_row_key_is_finer_than_ms(table->key);
  if (!options->as_stored) {
    tide_cell_reader_columns(table, &printing.with_fields, &printing.with_kinds);
    printing.field_names = (const char *const *)view->keys.names;
    printing.n_fields = view->keys.ids->len;
  }
  view->printer = tide_row_printer_new(stream, &printing);
  return view;
}

void
tide_row_view_free(TideRowView *view)
{
  if (view == NULL)
    return;
  tide_key_reader_clear(&view->keys);
  tide_cell_reader_free(view->cells);
  tide_row_printer_free(view->printer);
  g_free(view);
}

gboolean
tide_row_view_add(TideRowView *view, const TideScannedRow *row)
{
  if (view->options.as_stored)
    return tide_row_printer_add(view->printer, row->row, row->time_ns, NULL, NULL);
  if (row->fields == NULL && view->n_unread_keys++ == 0) {
    g_autofree char *shown = tide_bytes_printable(row->row->row);
    tide_say("tidemark %s: row '%s' of '%s' is shown as stored: its key does not match the declared scheme",
             view->options.command, shown, view->options.table->name);
  }
  const TideResultRow *shown = tide_cell_reader_read(view->cells, row->row);
  return tide_row_printer_add(view->printer, shown, row->time_ns, row->fields, tide_cell_reader_origins(view->cells));
}

gboolean
tide_row_view_add_result(TideRowView *view, const TideResultRow *row)
{
  TideScannedRow scanned = tide_key_reader_read(&view->keys, row);
  return tide_row_view_add(view, &scanned);
}

static void
report_count(const TideRowView *view, guint64 n, const char *one, const char *more)
{
  g_autofree char *count = tide_count_of(n, one, more);
  tide_say("tidemark %s: %s not as declared for '%s': shown as stored", view->options.command, count,
           view->options.table->name);
}

void
tide_row_view_finish(TideRowView *view)
{
  (void)tide_row_printer_finish(view->printer);
  guint64 n_unread_cells = tide_cell_reader_n_unread(view->cells);
  if (view->n_unread_keys > 1)
    report_count(view, view->n_unread_keys, NULL, "row keys are");
  if (n_unread_cells > 0)
    report_count(view, n_unread_cells, "cell is", "cells are");
}

/* Reports, if no row was shown, chosen columns that cannot exist because their family is not declared. */
static void
report_none(const TideRowView *view)
{
  const TideTable *table = view->options.table;
  const TideColumnChoice *columns = view->options.printing.columns;
  for (gsize i = 0; columns != NULL && tide_row_view_n_rows(view) == 0 && i < tide_column_choice_count(columns); i++) {
    const char *text = tide_column_choice_text(columns, i), *colon = strchr(text, ':');
    int len = colon != NULL ? (int)(colon - text) : 0;
    if (colon != NULL && tide_family_settings_find(table->families, tide_bytes(text, (gsize)len)) == NULL)
      tide_say("tidemark %s: '%s' declares no family '%.*s', and no row has a column with the full name '%s'",
               view->options.command, table->name, len, text, text);
  }
}

guint64
tide_row_view_n_rows(const TideRowView *view)
{
  return tide_row_printer_n_rows(view->printer);
}

void
tide_row_view_print_count(const TideRowView *view)
{
  guint64 n = tide_row_view_n_rows(view);
  if (!isatty(STDERR_FILENO) && n > 0)
    return;
  g_autofree char *rows = tide_count_of(n, "row", NULL);
  tide_say("%s", rows);
}

/* @index: NULL: the rows themselves are shown */
static gboolean
show_rows(TideRowView *view, TideIndexRead *index, TideTableScan *scan, TideProgress *progress, GError **error)
{
  for (;;) {
    TideScannedRow row;
    guint64 n_before = tide_row_view_n_rows(view);
    if (!tide_table_scan_next(scan, &row, error))
      return FALSE;
    if (row.row == NULL)
      return index == NULL || tide_index_read_flush(index, error);
    gboolean ok = index != NULL ? tide_index_read_add(index, row.row, error) : tide_row_view_add(view, &row);
    if (!ok || ferror(stdout))
      return ok || index == NULL;
    if (index != NULL || tide_row_view_n_rows(view) > n_before)
      tide_table_scan_take(scan);
    if (progress->enabled) /* reading the clock would cost as much as a cell */
      tide_progress_update(progress, tide_row_view_n_rows(view), tide_now_us());
  }
}

/* Reports if the stored key fingerprint of the table, which has rows, differs from the declared one. Silent if they
 * cannot be compared. */
static void
report_changed_key(const TideRowView *view, const TideConfig *config, TideGatewaySession *session)
{
  const TideTable *table = view->options.table;
  TideHBaseClient *client = tide_gateway_session_client(session);
  g_autoptr(TideTableDescription) description =
      tide_hbase_client_describe(client, table->name, tide_gateway_session_deadline_us(session), NULL);
  g_auto(TideFingerprintStore) store = {0};
  g_auto(TideFingerprintFinding) finding = {0};
  tide_fingerprint_store_init(&store, config);
  if (description == NULL || !tide_fingerprint_store_compare(&store, client, table, description, &finding, NULL) ||
      finding.verdict != TIDE_FINGERPRINT_CHANGED)
    return;
  tide_say("tidemark %s: '%s' has rows, but they were written with another key: [%s] (stored %s); the configuration "
           "declares [%s]",
           view->options.command, table->name, finding.stored.text,
           tide_fingerprint_locations[finding.stored.location].text, finding.declared);
}

/* Requests a page. The rows of the pages before it do not wait for it. */
static gboolean
scan_page(const TideScanRequest *request, TideRowFunc func, gpointer func_data, gpointer table, GError **error)
{
  (void)fflush(stdout);
  return tide_gateway_table_scan(request, func, func_data, table, error);
}

gboolean
tide_print_table(const TideConfig *config, TideGatewaySession *session, const TideTableScanPlan *plan,
                 const TideRowViewOptions *viewing, gboolean *ret_complete, GError **error)
{
  static char output[OUTPUT_BYTES];
  if (!isatty(STDOUT_FILENO))
    (void)setvbuf(stdout, output, _IOFBF, sizeof output);
  TideGatewayTable scanned = {.session = session, .name = plan->table->name};
  TideGatewayTable shown = {.session = session, .name = viewing->table->name};
  g_autoptr(TideRowView) view = tide_row_view_new(stdout, config->names, viewing);
  TideIndexReadOptions leading = {.config = config,
                                  .index = plan->table,
                                  .data = viewing->table,
                                  .columns = viewing->printing.columns,
                                  .get = tide_gateway_table_get,
                                  .get_data = &shown,
                                  .view = view};
  gboolean is_index = viewing->table != plan->table;
  g_autoptr(TideIndexRead) index = is_index ? tide_index_read_new(&leading, error) : NULL;
  if (is_index && index == NULL)
    return FALSE;
  g_autoptr(TideTableScan) scan = tide_table_scan_new(plan, config->names, scan_page, &scanned);
  TideProgress progress;
  tide_progress_begin(&progress, "rows", plan->request.limit_rows, tide_now_us());
  /* Rows that scroll by show enough progress. */
  progress.enabled = progress.enabled && !isatty(STDOUT_FILENO);
  gboolean ok = show_rows(view, index, scan, &progress, error);
  tide_progress_end(&progress);
  tide_row_view_finish(view);
  *ret_complete = index == NULL || tide_index_read_finish(index) == 0;
  if (ok && index == NULL)
    report_none(view);
  if (ok)
    tide_row_view_print_count(view);
  tide_table_scan_report_foreign(scan, viewing->command);
  if (ok && index == NULL && tide_row_view_n_rows(view) == 0)
    report_changed_key(view, config, session);
  return ok;
}
