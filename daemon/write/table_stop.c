#include "write/table_stop.h"

void
tide_table_stop_report(TideTableStop *stop, const char *reason, gint64 now_us)
{
  if (stop->reason == NULL)
    stop->since_us = now_us;
  stop->is_on = TRUE;
  stop->n_reports++;
  g_free(stop->reason);
  stop->reason = g_strdup(reason);
}

void
tide_table_stop_end(TideTableStop *stop)
{
  stop->is_on = FALSE;
  stop->n_reports = 0;
  g_clear_pointer(&stop->reason, g_free);
}
