/* The distinct columns that a mapper has seen, at stable addresses. Columns are kept for the mapper's life as long as
 * there is room. After that, a new column lives until the end of the message and is encoded again the next time, so a
 * sender that invents names, or values that name columns, costs speed but not memory. */
#pragma once

#include "model/row.h"
#include "thrift/wire/wire.h"

G_BEGIN_DECLS

/* Per mapper. Both columns and their bytes are limited, because senders choose names, which can be as long as a
 * message. */
#define TIDE_COLUMN_SET_MAX_COLUMNS 65536u
#define TIDE_COLUMN_SET_MAX_BYTES (16u * 1024 * 1024)

typedef struct TideColumnSet TideColumnSet;

/* The lifetime of an object of the set. */
typedef enum TideColumnLife {
  TIDE_COLUMN_KEPT,       /* until the set is freed */
  TIDE_COLUMN_OF_MESSAGE, /* until the next tide_column_set_begin_message() */
} TideColumnLife;

/* A column as the mapper uses it. */
typedef struct TideSetColumn {
  TideColumn column;
  TideColumnLife life;
  guint64 row; /* of the mapper: the last row with a cell in this column, counted from 1 */
} TideSetColumn;

TideColumnSet *tide_column_set_new(TideWireProtocol protocol);
void tide_column_set_free(TideColumnSet *set);

/* The lifetime of new objects. Once it is OF_MESSAGE, it never changes back. */
TideColumnLife tide_column_set_life(const TideColumnSet *set);

/* The column of @family and @qualifier, added if new. @family: borrowed for the set's life. @qualifier: copied. */
TideSetColumn *tide_column_set_find(TideColumnSet *set, TideBytes family, TideBytes qualifier);

/* Allocates @n_bytes from the set, aligned for any object. */
gpointer tide_column_set_allocate(TideColumnSet *set, TideColumnLife life, gsize n_bytes);
TideBytes tide_column_set_copy(TideColumnSet *set, TideColumnLife life, TideBytes bytes);

/* Releases all objects of the previous message, and keeps their memory for the next. */
void tide_column_set_begin_message(TideColumnSet *set);

G_END_DECLS
