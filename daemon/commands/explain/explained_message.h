/* A message as `explain` shows it: the rows of each of its readings and why a table has none, or why the message is
 * rejected. */
#pragma once

#include "commands/read/cell_reader.h"
#include "commands/read/gateway_session.h"
#include "config/config.h"
#include "model/message.h"
#include "model/row.h"
#include "model/table/table.h"
#include "thrift/wire/wire.h"

G_BEGIN_DECLS

typedef struct TideExplainer TideExplainer;

typedef struct TideExplainerOptions {
  const TideConfig *config;    /* borrowed */
  const GPtrArray *problems;   /* borrowed (element-type TideConfigProblem): warnings of its loading */
  TideGatewaySession *session; /* borrowed; NULL: regions are not shown */
  gboolean json;               /* one object per row, otherwise text */
  guint32 max_readings;        /* shown of a message, plus the rejected ones before them; 0: all */
  gboolean by_line;            /* each line of the input is a message */
  gboolean record_time_is_now; /* the record time was not given: results that depend on it get a note */
} TideExplainerOptions;

TideExplainer *tide_explainer_new(const TideExplainerOptions *options);
void tide_explainer_free(TideExplainer *explainer); /* NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideExplainer, tide_explainer_free)

/**
 * tide_explainer_add: print @message to standard output.
 * @line: of the input, from 1; 0 for a message from a topic, named by its partition and offset
 * Errors: those of asking for regions.
 */
gboolean tide_explainer_add(TideExplainer *explainer, const TideMessage *message, guint64 line,
                            GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Prints findings that need several readings: values that overwrite each other, and keys that follow the time. */
void tide_explainer_finish(TideExplainer *explainer);

typedef struct TideExplainerCounts {
  guint64 n_messages;
  guint64 n_rows;
  guint64 n_rejected; /* messages, and readings without their message */
  guint64 n_unshown;  /* readings, because of max_readings */
} TideExplainerCounts;

TideExplainerCounts tide_explainer_counts(const TideExplainer *explainer);

/* ---- explained_row.c: one row in detail ---- */

typedef struct TideExplainedRow {
  const TideConfig *config;
  const TideFieldNames *names;
  const TideReading *reading; /* with the row's event time */
  const TideRow *row;
  const TideRow *rows;       /* all rows of the message, for the one that this follows */
  gint64 expired_ttl_ms;     /* of the cells that were omitted; 0: none were */
  TideCellReader *reader;    /* of its table */
  const TideRegion *region;  /* NULL: not requested, or unknown */
  const GPtrArray *warnings; /* (element-type utf8): of the table's declaration */
  const GPtrArray *notes;    /* the same, for what may be intended */
  TideWireProtocol protocol; /* for the size */
} TideExplainedRow;

/* Several lines, indented below the message's. (transfer full) */
char *tide_explained_row_text(const TideExplainedRow *explained);

/* The members of a JSON object, which is open at the end of @text. */
void tide_explained_row_json(const TideExplainedRow *explained, TideBuffer *text);

/* The region of @regions (element-type TideRegion, in order) that contains @key; NULL: none. */
const TideRegion *tide_region_of_key(const GPtrArray *regions, TideBytes key);

/* ---- row_advice.c: the size of a row in HBase, and advice before there are millions of it; pure ---- */

/* Limits that HBase recommends. */
#define TIDE_ROW_ADVICE_CELL_BYTES (10u * 1000 * 1000)
#define TIDE_ROW_ADVICE_ROW_BYTES (100u * 1000 * 1000)

/* Family and qualifier together, which are stored with each cell. */
#define TIDE_ROW_ADVICE_NAME_BYTES 64u

/* The size of a cell in HBase, before compression: its lengths, type and time (20 bytes), the value, and again the
 * row's key and the column's name. */
gsize tide_stored_cell_bytes(const TideRow *row, const TideCell *cell);

/* How often a row gets the cells of a reading if the qualifier changes from reading to reading. */
typedef enum TideRowGrowth {
  TIDE_ROW_ONE_READING, /* the columns are the same for every reading: none is added */
  TIDE_ROW_SLOTS,       /* a column for each slot of the row's time, or of a clock that repeats */
  TIDE_ROW_WITHOUT_END, /* a column for each slot of time, and no time in the key that ends the row */
  TIDE_ROW_BY_VALUE,    /* a column for each value of a field */
} TideRowGrowth;

typedef struct TideRowShape {
  TideRowGrowth growth;
  guint64 n_slots;      /* SLOTS: the maximum in one row; otherwise 1 */
  guint64 stored_bytes; /* of the reading's cells */
  guint64 value_bytes;  /* of the values alone */
} TideRowShape;

/* @reading: the origin of @row, with the row's event time. */
TideRowShape tide_row_shape(const TideTable *table, const TideReading *reading, const TideRow *row);

/* Sentences without full stop: cells and rows that are too large, names that are long. Findings in a
 * table's declaration alone, such as unbounded rows, are warnings of the configuration. (transfer full) (element-type
 * utf8) */
GPtrArray *tide_row_advice(const TideRow *row, const TideRowShape *shape);

G_END_DECLS
