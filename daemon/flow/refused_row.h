/* A row that HBase refused, as it was encoded: what is left of its messages when Kafka has them no more. A merged row
 * has hundreds of messages, each with a job of its own: they share one copy, which the budget is charged for once.
 *
 * Threads: any; the bytes never change. */
#pragma once

#include "flow/budget.h"
#include "util/bytes.h"

G_BEGIN_DECLS

typedef struct TideRefusedRow TideRefusedRow;

/* @budget: borrowed, until the last reference is gone; @wire: copied. */
TideRefusedRow *tide_refused_row_new(TideBudget *budget, TideBytes wire);
TideRefusedRow *tide_refused_row_ref(TideRefusedRow *row);
void tide_refused_row_unref(TideRefusedRow *row); /* NULL ok */
TideBytes tide_refused_row_wire(const TideRefusedRow *row);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideRefusedRow, tide_refused_row_unref)

G_END_DECLS
