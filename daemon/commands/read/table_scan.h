/* Reads the rows of a table selected by key fields and a time range, as one ordered stream: the plan of `scan` and
 * `latest`. HBase evaluates what it can: ranges of keys, cell times, columns, and a page size of at most the rows still
 * wanted. The event time in the key, which HBase does not know, is checked here. */
#pragma once

#include "commands/cli/output.h"
#include "commands/read/key_arguments.h"
#include "commands/read/range_reader.h"

G_BEGIN_DECLS

/* ---- column_choice.c: HBase is asked for the chosen columns only, so it sends no other cells ---- */

typedef struct TideColumnChoice TideColumnChoice;

/**
 * tide_column_choice_new: @texts (element-type utf8), borrowed for the choice's lifetime. If empty, every column is
 * chosen.
 * @table: defines the families and packed columns; borrowed for the call. NULL: no request to HBase is needed
 * @as_stored: names refer to stored cells, not to their packed members
 */
TideColumnChoice *tide_column_choice_new(const TideTable *table, const GPtrArray *texts, gboolean as_stored);
void tide_column_choice_free(TideColumnChoice *choice); /* NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideColumnChoice, tide_column_choice_free)

gsize tide_column_choice_count(const TideColumnChoice *choice);
const char *tide_column_choice_text(const TideColumnChoice *choice, gsize i); /* as given */

/* TRUE if choice @i, or any choice, matches the cell (the latter also without choices). */
gboolean tide_column_choice_is(const TideColumnChoice *choice, gsize i, TideBytes family, TideBytes qualifier);
gboolean tide_column_choice_takes(const TideColumnChoice *choice, TideBytes family, TideBytes qualifier);

/* The columns to request from HBase: each that may match, and each that may contain a match. None: all. Borrowed. */
const TideColumnName *tide_column_choice_asked(const TideColumnChoice *choice, gsize *ret_n_columns);

/* ---- a row and its decoded key ---- */

/* Decodes the fields and the time of a table's row keys, row by row. */
typedef struct TideKeyReader {
  const TideRowKey *key;  /* borrowed */
  GArray *ids;            /* owned (element-type TideNameId): the fields in the key, in order */
  char **names;           /* owned: their printable names; NULL-terminated */
  TideBytes *values;      /* owned: values of the last row's fields, empty if it has none */
  TideDecodedKey decoded; /* owned: the last row's complete key */
} TideKeyReader;

/* @table, @names: borrowed for the reader's life. */
void tide_key_reader_init(TideKeyReader *reader, const TideTable *table, const TideFieldNames *names);
void tide_key_reader_clear(TideKeyReader *reader);

/* A row and its decoded key. */
typedef struct TideScannedRow {
  const TideResultRow *row;
  gint64 time_ns;          /* of the key, or, if that has none, of the newest cell */
  const TideBytes *fields; /* the reader's values: valid until it reads on; NULL: the key does not match the scheme */
} TideScannedRow;

TideScannedRow tide_key_reader_read(TideKeyReader *reader, const TideResultRow *row);

/* ---- the plan ---- */

/* The order of rows from several ranges. A salted table stores one device's interval in as many ranges as there are
 * salts; repeatedly taking the earliest (or latest) head restores the time order. Memory is one page per range. */
typedef enum TideRowOrder {
  TIDE_ROW_ORDER_KEY = 0,     /* one range after the other */
  TIDE_ROW_ORDER_OLDEST = 1,  /* by time, oldest first */
  TIDE_ROW_ORDER_NEWEST = -1, /* by time, newest first */
} TideRowOrder;

/* Rows in memory for all ranges of a scan together, and the limits of one range's page. */
#define TIDE_TABLE_SCAN_MEMORY_ROWS 4096
#define TIDE_TABLE_SCAN_MIN_PAGE_ROWS 16
#define TIDE_TABLE_SCAN_MAX_PAGE_ROWS 2000

/* Target size of all pages together: rows of a megabyte must not arrive five hundred at a time. Each range holds at
 * least one row, and the first page of each is requested before the size of its rows is known. */
#define TIDE_TABLE_SCAN_MEMORY_BYTES (64u << 20)

typedef struct TideTableScanRequest {
  gboolean newest_first;
  gboolean oldest_first;
  gboolean reversed; /* with none of the three, rows are in the table's order, and several ranges are merged by time if
                      * possible; reversed: the opposite order */
  gint64 from_ns;    /* event times in [from, to); 0 and G_MAXINT64 when unlimited */
  gint64 to_ns;
  guint64 limit_rows; /* 0: none */
} TideTableScanRequest;

/* The plan of a scan, which borrows it for its lifetime. */
typedef struct TideTableScanPlan {
  const TideTable *table;
  TideTableScanRequest request;
  GArray *ranges;        /* owned (element-type TideKeyRange) */
  TideKeyFilter *filter; /* owned: selects rows of the ranges; NULL: all */
  TideRowOrder order;
  gboolean reversed;               /* each range from its end */
  const TideColumnChoice *columns; /* NULL: all */
} TideTableScanPlan;

void tide_table_scan_plan_clear(TideTableScanPlan *plan);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(TideTableScanPlan, tide_table_scan_plan_clear)

/* Sets the ranges and the filter for @fields and the request's times. Errors: those of tide_row_key_plan() and
 * tide_row_key_filter(). */
gboolean tide_table_scan_plan_fields(TideTableScanPlan *plan, const TideKeyArguments *fields,
                                     GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Reports on standard error if the whole table is read to find the rows of @fields. */
void tide_table_scan_plan_report(const TideTableScanPlan *plan, const char *command, const TideKeyArguments *fields,
                                 const TideFieldNames *names);

/**
 * tide_table_scan_plan_order: choose the order of the plan's ranges, made for @fields.
 * @fields: NULL: none, the ranges were given
 * Errors: TIDE_ERROR_USAGE if the key does not provide the requested time order, with the missing fields.
 */
gboolean tide_table_scan_plan_order(TideTableScanPlan *plan, const TideConfig *config, const TideKeyArguments *fields,
                                    GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The range of cell times to request from HBase, [min, max); both 0: any. If cells do not contain the event time, there
 * is no limit. */
void tide_table_scan_plan_cell_times(const TideTableScanPlan *plan, gint64 *ret_min_ms, gint64 *ret_max_ms);

/* Appends to @out the filter for HBase in its filter language: it omits most rows that the plan's own filter omits, and
 * none that it accepts; empty if no such filter exists. */
void tide_table_scan_plan_append_hbase_filter(const TideTableScanPlan *plan, TideBuffer *out);

/* print_plan.c: prints a line (or JSON object) for each range of @plan with its start and stop, in key order, and what
 * applies to all ranges: the direction of reading, and the other parts of the request to HBase. */
void tide_print_plan(FILE *stream, TideOutputFormat format, const TideTableScanPlan *plan);

/* ---- the scan ---- */

typedef struct TideTableScan TideTableScan;

/**
 * tide_table_scan_new:
 * @names: the configuration's
 * @scan, @scan_data: run the page requests: tide_gateway_table_scan()
 */
TideTableScan *tide_table_scan_new(const TideTableScanPlan *plan, const TideFieldNames *names, TideScanFunc scan,
                                   gpointer scan_data);
void tide_table_scan_free(TideTableScan *scan); /* NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideTableScan, tide_table_scan_free)

/**
 * tide_table_scan_next:
 * @ret_row: valid until the next call; its row is NULL at the end, or when the limit was reached
 * Errors: those of the pages.
 */
gboolean tide_table_scan_next(TideTableScan *scan, TideScannedRow *ret_row, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Reports on standard error how many rows were omitted because their keys do not match the table's scheme, so that
 * their fields are unknown. */
void tide_table_scan_report_foreign(const TideTableScan *scan, const char *command);

/* Counts the last returned row towards the limit. Not called for a row that is not shown. */
void tide_table_scan_take(TideTableScan *scan);

/* Bytes of the current pages of all ranges. */
gsize tide_table_scan_buffered_bytes(const TideTableScan *scan);

G_END_DECLS
