/* The columns that a mapper has met, each once, in memory of their own at addresses that stay. Columns are kept for the
 * mapper's life while there is room; one that is met beyond that lives until the message ends and is encoded anew the
 * next time. So a sender that invents names, or values that name columns, costs speed and not memory. */
#pragma once

#include "model/row.h"
#include "thrift/wire/wire.h"

G_BEGIN_DECLS

/* Per mapper. Columns are counted, and their bytes: names come from outside, and one can be as long as a message. */
#define TIDE_COLUMN_SET_MAX_COLUMNS 65536u
#define TIDE_COLUMN_SET_MAX_BYTES (16u * 1024 * 1024)

typedef struct TideColumnSet TideColumnSet;

/* How long something of the set stays. */
typedef enum TideColumnLife {
  TIDE_COLUMN_KEPT,       /* as long as the set */
  TIDE_COLUMN_OF_MESSAGE, /* until the next tide_column_set_begin_message() */
} TideColumnLife;

/* A column as the mapper uses it. */
typedef struct TideSetColumn {
  TideColumn column;
  TideColumnLife life;
  guint64 row; /* the mapper's: the last row that has a cell of it, counted from 1 */
} TideSetColumn;

TideColumnSet *tide_column_set_new(TideWireProtocol protocol);
void tide_column_set_free(TideColumnSet *set);

/* How long something that is new now stays. Once it is OF_MESSAGE, it is for good. */
TideColumnLife tide_column_set_life(const TideColumnSet *set);

/* The column of @family and @qualifier, made when it is not there. @family: borrowed for the set's life; @qualifier is
 * copied. */
TideSetColumn *tide_column_set_find(TideColumnSet *set, TideBytes family, TideBytes qualifier);

/* @n_bytes of the set's memory, aligned for any object. */
gpointer tide_column_set_allocate(TideColumnSet *set, TideColumnLife life, gsize n_bytes);
TideBytes tide_column_set_copy(TideColumnSet *set, TideColumnLife life, TideBytes bytes);

/* Forgets what was to stay for a message only, and keeps its memory for the next. */
void tide_column_set_begin_message(TideColumnSet *set);

G_END_DECLS
