/* Latest values behind an index: a table that holds, for each device, the greatest time seen. Each of its rows names a
 * row of the data table, by its own fields and that time; those are read many at a time, so that an inventory of
 * thousands takes some dozen calls. A row that the index names and the data table has not is told, never passed over.
 * Threads: one. */
#pragma once

#include "commands/read/key_arguments.h"
#include "commands/read/row_view.h"

G_BEGIN_DECLS

/* Rows asked for in one call, at the most and at first; and what their cells are meant to take. */
#define TIDE_INDEX_BATCH_ROWS 500
#define TIDE_INDEX_FIRST_BATCH_ROWS 16
#define TIDE_INDEX_BATCH_BYTES (16u << 20)

/* Reads rows by their keys: tide_gateway_table_get(). */
typedef gboolean (*TideGetFunc)(const TideGetRequest *request, TideRowFunc func, gpointer func_data, gpointer data,
                                GError **error);

typedef struct TideIndexReadOptions {
  const TideConfig *config; /* borrowed, as all of these */
  const TideTable *index;
  const TideTable *data;           /* the table that it is the index of */
  const TideColumnChoice *columns; /* of the data table */
  TideGetFunc get;                 /* on the data table */
  gpointer get_data;
  TideRowView *view; /* of the data table: rows are added as they come */
} TideIndexReadOptions;

typedef struct TideIndexRead TideIndexRead;

/* Errors: TIDE_ERROR_USAGE when the index's key and cells cannot make a key of the data table: a field or the time is
 * missing. */
TideIndexRead *tide_index_read_new(const TideIndexReadOptions *options, GError **error) G_GNUC_WARN_UNUSED_RESULT;
void tide_index_read_free(TideIndexRead *read); /* NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideIndexRead, tide_index_read_free)

/* Takes one row of the index, which is copied; rows of the data table are read now or later. Errors: those of the call.
 */
gboolean tide_index_read_add(TideIndexRead *read, const TideResultRow *row, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Reads what is left. */
gboolean tide_index_read_flush(TideIndexRead *read, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Tells the counts on standard error, when there are any. Returns: TRUE when every row of the index led to one. */
gboolean tide_index_read_finish(const TideIndexRead *read);

guint64 tide_index_read_n_missing(const TideIndexRead *read);    /* rows that the data table does not have */
guint64 tide_index_read_n_unreadable(const TideIndexRead *read); /* rows of the index that name none */

G_END_DECLS
