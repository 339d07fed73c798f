/* Why nothing of a table is sent, and since when.
 *
 * Threads: whoever holds the lock of what it is part of. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct TideTableStop {
  gboolean is_on;
  char *reason; /* owned; NULL: nobody has said yet */
  gint64 since_us;
  guint32 n_reports;
} TideTableStop;

/* Said again, a stop lasts since the first time. @reason: copied */
void tide_table_stop_report(TideTableStop *stop, const char *reason, gint64 now_us);
void tide_table_stop_end(TideTableStop *stop);

G_END_DECLS
