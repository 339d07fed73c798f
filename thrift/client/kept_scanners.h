/* Where the pages of scans ended that may go on, and the scanners that are still open there. Who reads a table page by
 * page asks for each page with its first row; opening a scanner and closing it again took most of that. So a page that
 * begins where another one of the same scan ended is taken from the scanner that was kept, and the one after it is
 * asked for before it is wanted, so that the gateway works while the reader does. Bounded: the one unused for longest
 * makes room. Used by hbase_client.c and hbase_read.c. */
#pragma once

#include "thrift/wire/rows.h"

G_BEGIN_DECLS

/* Ranges that are read at a time, as of a salted table. Each open one holds a scanner at the gateway and one at HBase.
 */
#define TIDE_MAX_KEPT_SCANNERS 16

typedef struct TideKeptScanner {
  TideBuffer question;   /* the scan, but for its start */
  TideBuffer next_start; /* what the next page's request begins with */
  gboolean is_open;      /* FALSE: only one page was asked for so far, or the connection is another one */
  gint32 id;             /* the gateway's, of this connection */
  gboolean has_skipped;  /* it has passed rows that nobody got: it is of no use any more */
  gint32 last_sequence;  /* of the last call for it: that page's, when one is on its way */
  guint64 used;
} TideKeptScanner;

typedef struct TideKeptScanners {
  TideKeptScanner items[TIDE_MAX_KEPT_SCANNERS];
  TideKeptScanner *asked; /* whose next page is on its way; NULL: nobody's */
  guint64 clock;
} TideKeptScanners;

/* The one that a page of @question goes on from; NULL: it is a first page. */
TideKeptScanner *tide_kept_scanners_find(TideKeptScanners *kept, TideBytes question, TideBytes start_row);

/* A place for one more: unused, or that which was not used for longest, and may be open still. */
TideKeptScanner *tide_kept_scanners_make_room(TideKeptScanners *kept);

/* The page has ended behind @last_row: at the key right after it the next one begins, or at it when @reversed. */
void tide_kept_scanner_set(TideKeptScanners *kept, TideKeptScanner *scanner, TideBytes question, TideBytes last_row,
                           gboolean reversed);

void tide_kept_scanner_forget(TideKeptScanner *scanner); /* the scan is over */

/* The connection is gone: scanners' numbers mean nothing on the next. */
void tide_kept_scanners_lose(TideKeptScanners *kept);
void tide_kept_scanners_clear(TideKeptScanners *kept);

G_END_DECLS
