/* A message as `explain` shows it: the rows of each of its readings, the tables that do not take a reading and why, or
 * why the whole is rejected. */
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
  const GPtrArray *problems;   /* borrowed (element-type TideConfigProblem): the warnings of loading it */
  TideGatewaySession *session; /* borrowed; NULL: regions are not shown */
  gboolean json;               /* one object a row, else text */
  guint32 max_readings;        /* shown of a message, with those that are rejected before; 0: all */
  gboolean by_line;            /* a line of what is given is taken for a message */
  gboolean record_time_is_now; /* the messages' time is not theirs: what depends on it is told so */
} TideExplainerOptions;

TideExplainer *tide_explainer_new(const TideExplainerOptions *options);
void tide_explainer_free(TideExplainer *explainer); /* NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideExplainer, tide_explainer_free)

/**
 * tide_explainer_add: print @message to standard output.
 * @line: of the input, from 1; 0 for a message out of a topic, which is told by its partition and offset
 * Errors: those of asking for regions.
 */
gboolean tide_explainer_add(TideExplainer *explainer, const TideMessage *message, guint64 line,
                            GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Prints what only several readings together show: values that overwrite each other, keys that move with the time. */
void tide_explainer_finish(TideExplainer *explainer);

typedef struct TideExplainerCounts {
  guint64 n_messages;
  guint64 n_rows;
  guint64 n_rejected; /* messages, and readings that are left out of theirs */
  guint64 n_unshown;  /* readings, for max_readings */
} TideExplainerCounts;

TideExplainerCounts tide_explainer_counts(const TideExplainer *explainer);

/* ---- explained_row.c: one row, with all that is told of it ---- */

typedef struct TideExplainedRow {
  const TideConfig *config;
  const TideFieldNames *names;
  const TideReading *reading; /* with the row's event time */
  const TideRow *row;
  const TideRow *rows;       /* all of the message: which one this follows */
  gint64 expired_ttl_ms;     /* of the cells that it is written without; 0: it has all */
  TideCellReader *reader;    /* of its table */
  const TideRegion *region;  /* NULL: not asked for, or not known */
  const GPtrArray *warnings; /* (element-type utf8): of the table's declaration */
  const GPtrArray *notes;    /* the same: what may be as it is meant */
  TideWireProtocol protocol; /* of the size */
} TideExplainedRow;

/* Several lines, indented below the message's. (transfer full) */
char *tide_explained_row_text(const TideExplainedRow *explained);

/* The members of a JSON object, which is open at the end of @text. */
void tide_explained_row_json(const TideExplainedRow *explained, TideBuffer *text);

/* The region of @regions (element-type TideRegion, in order) that holds @key; NULL when there is none. */
const TideRegion *tide_region_of_key(const GPtrArray *regions, TideBytes key);

/* ---- row_advice.c: what HBase makes of a row, and what to know of it before there are millions; pure ---- */

/* HBase's own advice. */
#define TIDE_ROW_ADVICE_CELL_BYTES (10u * 1000 * 1000)
#define TIDE_ROW_ADVICE_ROW_BYTES (100u * 1000 * 1000)

/* Family and qualifier together, which are stored with each cell. */
#define TIDE_ROW_ADVICE_NAME_BYTES 64u

/* What a cell takes in HBase, before compression: its lengths, type and time (20 bytes), and with each cell again the
 * row's key and the column's name. */
gsize tide_stored_cell_bytes(const TideRow *row, const TideCell *cell);

/* How often a row gets the cells of a reading, where the qualifier changes from reading to reading. */
typedef enum TideRowGrowth {
  TIDE_ROW_ONE_READING, /* the columns are the same for every reading: none is added */
  TIDE_ROW_SLOTS,       /* a column for each slot of the row's time, or of a clock that begins again */
  TIDE_ROW_WITHOUT_END, /* a column for each slot of time, and no time in the key that ends the row */
  TIDE_ROW_BY_VALUE,    /* a column for each value of a field */
} TideRowGrowth;

typedef struct TideRowShape {
  TideRowGrowth growth;
  guint64 n_slots;      /* SLOTS: in one row, at the most; else 1 */
  guint64 stored_bytes; /* of the reading's cells */
  guint64 value_bytes;  /* of them, the values */
} TideRowShape;

/* @reading: the one that made @row, with the row's event time. */
TideRowShape tide_row_shape(const TideTable *table, const TideReading *reading, const TideRow *row);

/* Sentences without full stop: cells and rows that are too large, names that are long. What a table's declaration alone
 * tells, as that its rows grow without bound, is a warning of the configuration. (transfer full) (element-type utf8) */
GPtrArray *tide_row_advice(const TideRow *row, const TideRowShape *shape);

G_END_DECLS
