/* Reads the rows of a table that a set of key fields and a time range names, as one ordered stream: the plan of `scan`
 * and `latest`. What can be said to HBase is said to it: ranges of keys, the cells' time, columns, and in each page no
 * more rows than are still wanted. What it cannot know, the event time in the key, is held against the range here. */
#pragma once

#include "commands/cli/output.h"
#include "commands/read/column_choice.h"
#include "commands/read/key_arguments.h"
#include "commands/read/range_reader.h"

G_BEGIN_DECLS

/* ---- a row, and what its key tells ---- */

/* Reads the fields and the time back out of a table's row keys, row by row. */
typedef struct TideKeyReader {
  const TideRowKey *key;  /* borrowed */
  GArray *ids;            /* owned (element-type TideNameId): the fields that keys tell, in the key's order */
  char **names;           /* owned: of these, printable; NULL-terminated */
  TideBytes *values;      /* owned: of the row read last, a value for each of the names, empty where it has none */
  TideDecodedKey decoded; /* owned: all of that row's key */
} TideKeyReader;

/* @table, @names: borrowed for the reader's life. */
void tide_key_reader_init(TideKeyReader *reader, const TideTable *table, const TideFieldNames *names);
void tide_key_reader_clear(TideKeyReader *reader);

/* A row as it came, and what its key says. */
typedef struct TideScannedRow {
  const TideResultRow *row;
  gint64 time_ns;          /* the key's, or without one the newest cell's */
  const TideBytes *fields; /* the reader's values: valid until it reads on; NULL: another scheme made the key */
} TideScannedRow;

TideScannedRow tide_key_reader_read(TideKeyReader *reader, const TideResultRow *row);

/* ---- the plan ---- */

/* The order in which rows of several ranges come. A salted table keeps one machine's interval in as many ranges as
 * there are salts: in time order again by taking the earliest (or latest) head each time; memory is one page a range. */
typedef enum TideRowOrder {
  TIDE_ROW_ORDER_KEY = 0,     /* one range after the other */
  TIDE_ROW_ORDER_OLDEST = 1,  /* by time, oldest first */
  TIDE_ROW_ORDER_NEWEST = -1, /* by time, newest first */
} TideRowOrder;

/* Rows that all ranges of a scan together hold in memory, and the bounds of one range's page. */
#define TIDE_TABLE_SCAN_MEMORY_ROWS 4096
#define TIDE_TABLE_SCAN_MIN_PAGE_ROWS 16
#define TIDE_TABLE_SCAN_MAX_PAGE_ROWS 2000

/* What all pages together are meant to take: rows of a megabyte must not come five hundred at a time. A range holds one
 * row at least, and the first page of each is asked for before the size of its rows is known. */
#define TIDE_TABLE_SCAN_MEMORY_BYTES (64u << 20)

typedef struct TideTableScanRequest {
  gboolean newest_first;
  gboolean oldest_first;
  gboolean reversed; /* none of the three: as the table stores them, several ranges merged by time where they can be;
                      * reversed: the other way around */
  gint64 from_ns;    /* event times in [from, to); 0 and G_MAXINT64 when not bounded */
  gint64 to_ns;
  guint64 limit_rows; /* 0: none */
} TideTableScanRequest;

/* How a scan is to be carried out; borrowed by it for its life. */
typedef struct TideTableScanPlan {
  const TideTable *table;
  TideTableScanRequest request;
  GArray *ranges;        /* owned (element-type TideKeyRange) */
  TideKeyFilter *filter; /* owned: which rows of the ranges; NULL: all */
  TideRowOrder order;
  gboolean reversed;               /* each range from its end */
  const TideColumnChoice *columns; /* NULL: all */
} TideTableScanPlan;

void tide_table_scan_plan_clear(TideTableScanPlan *plan);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(TideTableScanPlan, tide_table_scan_plan_clear)

/* Fills in the ranges and the filter for @fields and the request's times. Errors: those of tide_row_key_plan() and
 * tide_row_key_filter(). */
gboolean tide_table_scan_plan_fields(TideTableScanPlan *plan, const TideKeyArguments *fields,
                                     GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Says on standard error when the whole table is read to find the rows of @fields. */
void tide_table_scan_plan_report(const TideTableScanPlan *plan, const char *command, const TideKeyArguments *fields,
                                 const TideFieldNames *names);

/**
 * tide_table_scan_plan_order: choose how the plan's ranges, made for @fields, are read.
 * @fields: NULL: none, the ranges were given
 * Errors: TIDE_ERROR_USAGE when a time order is requested that the key does not give, with the fields that are missing.
 */
gboolean tide_table_scan_plan_order(TideTableScanPlan *plan, const TideConfig *config, const TideKeyArguments *fields,
                                    GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The times of cells that HBase is asked for, [min, max); both 0: any. Cells that do not bear the event time are not
 * bounded.
 */
void tide_table_scan_plan_cell_times(const TideTableScanPlan *plan, gint64 *ret_min_ms, gint64 *ret_max_ms);

/* The filter that HBase is asked to apply, in its language: it leaves out most rows that the plan's own filter does,
 * and none that it takes; empty where that cannot be said. Appended to @out. */
void tide_table_scan_plan_append_hbase_filter(const TideTableScanPlan *plan, TideBuffer *out);

/* print_plan.c: a line (or JSON object) for each range of @plan: where it starts and stops, in the order of keys; and
 * what holds for all of them: from which end they are read, and what is asked of HBase besides. */
void tide_print_plan(FILE *stream, TideOutputFormat format, const TideTableScanPlan *plan);

/* ---- the scan ---- */

typedef struct TideTableScan TideTableScan;

/**
 * tide_table_scan_new:
 * @names: the configuration's
 * @scan, @scan_data: carry the pages' requests out: tide_gateway_table_scan()
 */
TideTableScan *tide_table_scan_new(const TideTableScanPlan *plan, const TideFieldNames *names, TideScanFunc scan,
                                   gpointer scan_data);
void tide_table_scan_free(TideTableScan *scan); /* NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideTableScan, tide_table_scan_free)

/**
 * tide_table_scan_next:
 * @ret_row: filled until the next call; its row is NULL at the end, or when as many as the limit were taken
 * Errors: those of the pages.
 */
gboolean tide_table_scan_next(TideTableScan *scan, TideScannedRow *ret_row, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Says on standard error how many rows were left out because the table's key did not make them: they do not tell the
 * fields that were asked for. */
void tide_table_scan_report_foreign(const TideTableScan *scan, const char *command);

/* The row returned last counts for the limit. One that is not shown after all does not. */
void tide_table_scan_take(TideTableScan *scan);

/* What the pages of all ranges take at the moment. */
gsize tide_table_scan_buffered_bytes(const TideTableScan *scan);

G_END_DECLS
