/* A row that HBase refused: what its messages have in common while they are read again. A merged row has hundreds of
 * messages: they share one copy, which the budget is charged for once. Its bytes are what is left of messages that
 * Kafka has no more.
 *
 * Threads: any; nothing in it ever changes. */
#pragma once

#include "util/budget.h"
#include "util/bytes.h"

G_BEGIN_DECLS

typedef struct TideRefusedRow {
  TideBudget *budget;   /* borrowed, until the last reference is gone */
  guint32 table_index;  /* the table's slot */
  guint32 attempts;     /* calls that tried to write it */
  gboolean is_shared;   /* by several messages: which of them is to blame is not known */
  TideBytes table;      /* its name */
  TideBytes key;
  TideBytes text;         /* why */
  TideBytes wire;         /* as it was encoded */
  _Atomic guint32 n_refs; /* any thread; GLib's counted boxes are invisible to the thread sanitizer */
} TideRefusedRow;

/* A copy of @row and all that it points to. (transfer full) */
TideRefusedRow *tide_refused_row_new(const TideRefusedRow *row);
TideRefusedRow *tide_refused_row_ref(TideRefusedRow *row);
void tide_refused_row_unref(TideRefusedRow *row); /* NULL ok */

G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideRefusedRow, tide_refused_row_unref)

G_END_DECLS
