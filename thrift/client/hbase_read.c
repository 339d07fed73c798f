/* Reads rows and regions through the gateway. */
#include "thrift/client/client_call.h"
#include "thrift/wire/request_encoder.h"
#include "util/clock.h"
#include "util/error.h"

#define DEFAULT_CACHING_ROWS 500 /* 500 rows of 1 KB are half a megabyte: one page, some milliseconds */
#define DEFAULT_MAX_VERSIONS 1

/* A whole scan may take this many call timeouts: to open it, to get its rows, to get the rest if a region server sent
 * them in two parts, and to close it. */
#define SCAN_TIMEOUTS 4

/* The rows that may still answer a get. */
typedef struct Expected {
  const TideBytes *rows;
  gsize n_rows;
} Expected;

/* If a row is not the next one requested, the rows in between do not exist. */
static const char *
problem_of_got(const TideBytes *row, gpointer data)
{
  Expected *expected = data;
  if (row == NULL)
    return NULL;
  while (expected->n_rows > 0) {
    gboolean is_it = tide_bytes_equal(*row, expected->rows[0]);
    expected->rows++;
    expected->n_rows--;
    if (is_it)
      return NULL;
  }
  return "an unrequested row";
}

gboolean
tide_hbase_client_get(TideHBaseClient *client, TideBytes table, TideBytes row, gint64 deadline_us, TideRowFunc func,
                      gpointer data, gboolean *ret_found, GError **error)
{
  tide_client_begin_request(client);
  tide_get_request_append(client->mode.protocol, &client->request, client->sequence_id, table, row);
  TideReply reply;
  if (!tide_client_call_request(client, "get", deadline_us, &reply, error))
    return FALSE;
  Expected expected = {&row, 1};
  TideRowSink sink = {
      .cells = client->cells, .func = func, .data = data, .problem_of = problem_of_got, .problem_data = &expected};
  if (!tide_client_conclude(client, tide_reply_read_row(&reply, &sink, &client->failure), error))
    return FALSE;
  if (ret_found != NULL)
    *ret_found = sink.rows > 0;
  return TRUE;
}

gboolean
tide_hbase_client_get_multiple(TideHBaseClient *client, TideBytes table, const TideGetRequest *request,
                               gint64 deadline_us, TideRowFunc func, gpointer data, GError **error)
{
  TideGetRequest sent = *request;
  if (sent.max_versions <= 0)
    sent.max_versions = DEFAULT_MAX_VERSIONS;
  tide_client_begin_request(client);
  tide_get_multiple_request_append(client->mode.protocol, &client->request, client->sequence_id, table, &sent);
  TideReply reply;
  if (!tide_client_call_request(client, "getMultiple", deadline_us, &reply, error))
    return FALSE;
  Expected expected = {request->rows, request->n_rows};
  TideRowSink sink = {
      .cells = client->cells, .func = func, .data = data, .problem_of = problem_of_got, .problem_data = &expected};
  guint32 n_results = 0; /* absent rows are results too, without cells */
  return tide_client_conclude(client, tide_reply_read_rows(&reply, &sink, &n_results, &client->failure), error);
}

GPtrArray *
tide_hbase_client_regions(TideHBaseClient *client, TideBytes table, gint64 deadline_us, GError **error)
{
  tide_client_begin_request(client);
  tide_regions_request_append(client->mode.protocol, &client->request, client->sequence_id, table);
  TideReply reply;
  if (!tide_client_call_request(client, "getAllRegionLocations", deadline_us, &reply, error))
    return NULL;
  GPtrArray *regions = tide_reply_read_regions(&reply, &client->failure);
  (void)tide_client_conclude(client, regions != NULL, error);
  return regions;
}

gboolean
tide_hbase_client_check_whole(const TideHBaseClient *client, TideBytes table, const GPtrArray *regions, GError **error)
{
  TideBytes end = TIDE_BYTES_EMPTY;
  for (guint i = 0; i <= regions->len; i++) {
    const TideRegion *region = i < regions->len ? g_ptr_array_index(regions, i) : NULL;
    TideBytes start = region != NULL ? region->start_key : TIDE_BYTES_EMPTY;
    gboolean is_second_first = i > 0 && region != NULL && start.len == 0;
    if (!tide_bytes_equal(start, end) || is_second_first) {
      g_autofree char *name = tide_bytes_printable(table), *end_text = tide_bytes_printable(end),
                      *start_text = tide_bytes_printable(start);
      return tide_fail(
          error, TIDE_ERROR_UNAVAILABLE,
          "gateway '%s' lists the regions of table '%s' with a gap or an overlap: '%s' is followed by '%s'",
          client->endpoint->text, name, end_text, start_text);
    }
    end = region != NULL ? region->end_key : TIDE_BYTES_EMPTY;
  }
  return TRUE;
}

/* Time limit for each scanner that is still open at the end: a healthy gateway closes it at once. */
#define CLOSE_TIMEOUT_US TIDE_US_PER_S

/* ---- scan ---- */

/* An open scanner at the gateway, which holds resources there until it is closed. */
typedef struct Scan {
  TideHBaseClient *client;
  TideScanRequest request; /* with the defaults filled in */
  gint64 timeout_ms;
  gint64 end_us;       /* deadline of all its calls; G_MAXINT64 without a limit: the scan may last as long as rows
                        * arrive */
  gint32 scanner_id;   /* valid on this connection */
  TideBuffer last_row; /* the last received row; empty before the first */
  TideRowSink sink;
} Scan;

static gint64
next_deadline_us(const Scan *scan)
{
  return MIN(tide_now_us() + scan->timeout_ms * TIDE_US_PER_MS, scan->end_us);
}

/* A scan that does not advance would never end, and one that leaves its range would return unrequested rows. */
static const char *
problem_of_scanned(const TideBytes *row, gpointer data)
{
  Scan *scan = data;
  const TideScanRequest *request = &scan->request;
  if (row == NULL || row->len == 0)
    return "a scan result without a row";
  int sign = request->reversed ? -1 : 1;
  if (request->start_row.len > 0 && sign * tide_bytes_compare(*row, request->start_row) < 0)
    return "a row before the scan's range";
  if (request->stop_row.len > 0 && sign * tide_bytes_compare(*row, request->stop_row) >= 0)
    return "a row after the scan's range";
  if (scan->last_row.len > 0 && sign * tide_bytes_compare(*row, tide_buffer_bytes(&scan->last_row)) <= 0)
    return "a scan row that does not follow the previous one";
  tide_buffer_set(&scan->last_row, *row);
  return NULL;
}

static gboolean
open_scanner(Scan *scan, TideBytes table, GError **error)
{
  TideHBaseClient *client = scan->client;
  tide_client_begin_request(client);
  tide_open_scanner_request_append(client->mode.protocol, &client->request, client->sequence_id, table, &scan->request);
  TideReply reply;
  return tide_client_call_request(client, "openScanner", next_deadline_us(scan), &reply, error) &&
         tide_client_conclude(client, tide_reply_read_i32(&reply, &scan->scanner_id, &client->failure), error);
}

/* The rows have arrived by now, or an error is being returned: a failure to close changes neither. If the connection is
 * lost, the gateway drops the scanner itself after a while. */
static void
close_scanner(TideHBaseClient *client, gint32 scanner_id, gint64 deadline_us)
{
  if (!tide_hbase_client_is_open(client))
    return;
  tide_client_begin_request(client);
  tide_close_scanner_request_append(client->mode.protocol, &client->request, client->sequence_id, scanner_id);
  TideReply reply;
  if (!tide_client_call_same_connection(client, "closeScanner", deadline_us, &reply, NULL))
    return;
  (void)tide_client_conclude(client, tide_reply_read_void(&reply, &client->failure), NULL);
}

/* Encodes the request for the scanner's next @n_rows rows. */
static void
begin_rows_request(const Scan *scan, guint64 n_rows)
{
  TideHBaseClient *client = scan->client;
  tide_client_begin_request(client);
  tide_scanner_rows_request_append(client->mode.protocol, &client->request, client->sequence_id, scan->scanner_id,
                                   (gint32)n_rows);
}

/* Fetches page after page until the end of the scan, whose page is empty. */
static gboolean
fetch_all(Scan *scan, GError **error)
{
  TideHBaseClient *client = scan->client;
  while (!scan->sink.stopped) {
    if (tide_now_us() >= scan->end_us)
      return tide_fail(error, TIDE_ERROR_TIMEOUT,
                       "gateway '%s' returned %" G_GUINT64_FORMAT " rows of a scan of at most %" G_GUINT64_FORMAT
                       " in %d call timeouts: the scan was cancelled",
                       client->endpoint->text, scan->sink.rows, scan->sink.limit_rows, SCAN_TIMEOUTS);
    guint64 wanted = scan->request.caching_rows;
    if (scan->sink.limit_rows > 0)
      wanted = MIN(wanted, scan->sink.limit_rows - scan->sink.rows);
    begin_rows_request(scan, wanted);
    guint32 results = 0;
    TideReply reply;
    if (!tide_client_call_same_connection(client, "getScannerRows", next_deadline_us(scan), &reply, error) ||
        !tide_client_conclude(client, tide_reply_read_rows(&reply, &scan->sink, &results, &client->failure), error))
      return FALSE;
    if (results == 0)
      break;
  }
  return TRUE;
}

/* Runs a scan from opening to closing. */
static gboolean
scan_once(Scan *scan, TideBytes table, GError **error)
{
  if (!open_scanner(scan, table, error))
    return FALSE;
  gboolean complete = fetch_all(scan, error);
  close_scanner(scan->client, scan->scanner_id, next_deadline_us(scan));
  return complete;
}

/* ---- pages of a scan ---- */

/* A caller that reads a table page by page starts each page at the row after the last one, and opening and closing a
 * scanner per page would take most of the time. So a page that begins where another page of the same scan ended uses
 * the kept scanner. The page after it is requested in advance, before the page itself is read, so that the gateway
 * works while the reader does. The number of kept scanners is bounded: the least recently used one is closed first. */

/* Returns the scanner that continues @question at @start_row; NULL: this is a first page. */
static TideKeptScanner *
find_kept(TideKeptScanners *scanners, TideBytes question, TideBytes start_row)
{
  for (guint i = 0; i < TIDE_MAX_KEPT_SCANNERS; i++) {
    TideKeptScanner *kept = &scanners->items[i];
    if (kept->question.len > 0 && tide_bytes_equal(tide_buffer_bytes(&kept->next_start), start_row) &&
        tide_bytes_equal(tide_buffer_bytes(&kept->question), question))
      return kept;
  }
  return NULL;
}

/* Returns a slot for another scanner: unused, or the least recently used, which may still be open. */
static TideKeptScanner *
make_room(TideKeptScanners *scanners)
{
  TideKeptScanner *oldest = &scanners->items[0];
  for (guint i = 0; i < TIDE_MAX_KEPT_SCANNERS; i++) {
    TideKeptScanner *kept = &scanners->items[i];
    if (kept->question.len == 0)
      return kept;
    if (kept->used < oldest->used)
      oldest = kept;
  }
  return oldest;
}

static gboolean
is_full(const Scan *scan)
{
  return scan->sink.rows == scan->sink.limit_rows;
}

static void
ask_next_page(const Scan *scan, TideKeptScanner *kept)
{
  kept->asked_rows = MIN(scan->sink.limit_rows, scan->request.caching_rows);
  begin_rows_request(scan, kept->asked_rows);
  kept->last_sequence = scan->client->sequence_id;
  tide_client_ask_ahead(scan->client, kept, next_deadline_us(scan));
}

/* Receives the page that was requested in advance after the last one, and requests the next while pages stay as long:
 * of a longer one, the rest would be dropped together with the scanner. The rest of a short page is the beginning of
 * the next, if that was requested. */
static gboolean
fetch_asked(Scan *scan, TideKeptScanner *kept, GError **error)
{
  TideHBaseClient *client = scan->client;
  guint64 n_before = scan->sink.rows;
  TideReply reply;
  guint32 n_results = 0;
  if (!tide_client_receive_asked(client, "getScannerRows", next_deadline_us(scan), &reply, error))
    return FALSE;
  if (n_before == 0 && kept->asked_rows == scan->sink.limit_rows)
    ask_next_page(scan, kept);
  gboolean is_read =
      tide_client_conclude(client, tide_reply_read_rows(&reply, &scan->sink, &n_results, &client->failure), error);
  tide_message_buffer_reset(&client->page);
  if (!is_read)
    return FALSE;
  kept->has_skipped = scan->sink.rows - n_before < n_results; /* more rows were requested than are now wanted */
  return n_results == 0 || is_full(scan) || scan->sink.stopped ||
         (client->scanners.asked == kept ? fetch_asked(scan, kept, error) : fetch_all(scan, error));
}

static void
end_kept(Scan *scan, TideKeptScanner *kept)
{
  if (kept->is_open)
    close_scanner(scan->client, kept->id, next_deadline_us(scan));
  tide_buffer_reset(&kept->question);
  kept->is_open = FALSE;
  kept->has_skipped = FALSE;
}

/* Fetches the next page of a scan from its scanner. A caller that continues once is likely to continue again: the
 * scanner is reopened without a limit and stays open. FALSE without an error: the scanner is gone, as after a minute's
 * pause, and no rows arrived. */
static gboolean
fetch_next_page(Scan *scan, TideKeptScanner *kept, GError **error)
{
  scan->scanner_id = kept->id;
  g_autoptr(GError) fault = NULL;
  gboolean is_asked = scan->client->scanners.asked == kept;
  if (!kept->has_skipped && (is_asked ? fetch_asked(scan, kept, &fault) : fetch_all(scan, &fault)))
    return TRUE;
  end_kept(scan, kept);
  if (scan->sink.rows > 0 || g_error_matches(fault, TIDE_ERROR, TIDE_ERROR_CANCELLED))
    g_propagate_error(error, g_steal_pointer(&fault));
  return FALSE;
}

static gboolean
open_and_keep(Scan *scan, TideBytes table, TideKeptScanner *kept, GError **error)
{
  scan->request.limit_rows = 0; /* the sink has it */
  if (!open_scanner(scan, table, error))
    return FALSE;
  kept->id = scan->scanner_id;
  kept->is_open = TRUE;
  kept->has_skipped = FALSE;
  if (fetch_all(scan, error))
    return TRUE;
  end_kept(scan, kept);
  return FALSE;
}

/* Call after a full page from a kept scanner. The next page begins at the key right after its last row, or, for a
 * reversed scan, at that row. A caller that has read two pages in turn will read the next, so that is requested in
 * advance; a caller that made other calls in between would wait for it in vain. */
static void
prepare_next_page(Scan *scan, TideKeptScanner *kept, TideBytes question, gboolean in_turn)
{
  TideHBaseClient *client = scan->client;
  tide_buffer_set(&kept->question, question);
  tide_buffer_set(&kept->next_start, tide_buffer_bytes(&scan->last_row));
  if (!scan->request.reversed)
    tide_buffer_append_byte(&kept->next_start, 0);
  kept->used = ++client->scanners.clock;
  kept->last_sequence = client->sequence_id;
  if (in_turn && kept->is_open && !kept->has_skipped && client->scanners.asked == NULL)
    ask_next_page(scan, kept);
  tide_message_buffer_reset(&client->page);
}

static gboolean
scan_page(Scan *scan, TideBytes table, GError **error)
{
  /* The question is everything that identifies a scan, without its pages. */
  TideScanRequest request = scan->request;
  request.start_row = TIDE_BYTES_EMPTY;
  request.limit_rows = 0;
  request.caching_rows = 1;
  g_auto(TideBuffer) buffer = {0};
  tide_open_scanner_request_append(scan->client->mode.protocol, &buffer, 0, table, &request);
  TideBytes question = tide_buffer_bytes(&buffer);
  TideKeptScanners *scanners = &scan->client->scanners;
  TideKeptScanner *kept = find_kept(scanners, question, scan->request.start_row);
  if (kept == NULL) { /* a first page */
    if (!scan_once(scan, table, error))
      return FALSE;
    if (is_full(scan)) {
      kept = make_room(scanners);
      end_kept(scan, kept);
      prepare_next_page(scan, kept, question, FALSE);
    }
    return TRUE;
  }
  GError *fault = NULL;
  gboolean in_turn = kept->last_sequence == scan->client->sequence_id;
  gboolean done = kept->is_open && fetch_next_page(scan, kept, &fault);
  if (fault != NULL) {
    g_propagate_error(error, fault);
    return FALSE;
  }
  if (!done && !open_and_keep(scan, table, kept, error))
    return FALSE;
  if (is_full(scan))
    prepare_next_page(scan, kept, question, in_turn);
  else
    end_kept(scan, kept);
  return TRUE;
}

void
tide_client_close_scanners(TideHBaseClient *client)
{
  for (guint i = 0; i < TIDE_MAX_KEPT_SCANNERS; i++) {
    TideKeptScanner *kept = &client->scanners.items[i];
    if (kept->is_open)
      close_scanner(client, kept->id, tide_now_us() + CLOSE_TIMEOUT_US);
    tide_buffer_clear_memory(&kept->question);
    tide_buffer_clear_memory(&kept->next_start);
  }
}

gboolean
tide_hbase_client_scan(TideHBaseClient *client, TideBytes table, const TideScanRequest *request, gint64 timeout_ms,
                       TideRowFunc func, gpointer data, guint64 *ret_rows, GError **error)
{
  Scan scan = {
      .client = client,
      .request = *request,
      .timeout_ms = timeout_ms,
      .sink = {.cells = client->cells,
               .func = func,
               .data = data,
               .limit_rows = request->limit_rows > 0 ? (guint64)request->limit_rows : 0,
               .problem_of = problem_of_scanned,
               .problem_data = &scan},
  };
  scan.end_us = request->limit_rows > 0 ? tide_now_us() + SCAN_TIMEOUTS * timeout_ms * TIDE_US_PER_MS : G_MAXINT64;
  if (scan.request.caching_rows == 0 || scan.request.caching_rows > G_MAXINT32)
    scan.request.caching_rows = DEFAULT_CACHING_ROWS;
  if (scan.request.max_versions <= 0)
    scan.request.max_versions = DEFAULT_MAX_VERSIONS;
  gboolean complete = request->limit_rows > 0 ? scan_page(&scan, table, error) : scan_once(&scan, table, error);
  tide_buffer_clear_memory(&scan.last_row);
  if (complete && ret_rows != NULL)
    *ret_rows = scan.sink.rows;
  return complete;
}
