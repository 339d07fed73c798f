#include "rows/spare_buffers.h"

void
tide_spare_buffers_init(TideSpareBuffers *spares, TideBudget *budget, TideWireProtocol protocol,
                        const GPtrArray *families)
{
  *spares = (TideSpareBuffers){0};
  tide_row_buffer_init(&spares->none, budget, protocol, TIDE_MERGE_NONE, families);
}

static TideRowBuffer *
pop(TideSpareBuffers *spares)
{
  TideRowBuffer *buffer = spares->first;
  spares->first = buffer->next;
  buffer->next = NULL;
  spares->n--;
  spares->n_unused = MIN(spares->n_unused, spares->n);
  if (spares->first != NULL) {
    tide_prefetch(spares->first->next, sizeof *buffer);
    tide_row_buffer_prefetch_room(spares->first);
  }
  return buffer;
}

static void
free_buffer(TideRowBuffer *buffer)
{
  tide_row_buffer_clear(buffer);
  g_free(buffer);
}

void
tide_spare_buffers_clear(TideSpareBuffers *spares)
{
  while (spares->n > 0)
    free_buffer(pop(spares));
}

void
tide_spare_buffers_lend(TideSpareBuffers *spares, TideRowBuffer **lent, TideMergeRule rule)
{
  if (*lent != &spares->none)
    return;
  if (spares->n > 0) {
    *lent = pop(spares);
    (*lent)->rule = rule;
    return;
  }
  const TideRowBuffer *like = &spares->none;
  *lent = g_new(TideRowBuffer, 1);
  tide_row_buffer_init(*lent, like->budget, like->protocol, rule, like->families);
}

void
tide_spare_buffers_take_back(TideSpareBuffers *spares, TideRowBuffer **lent)
{
  TideRowBuffer *buffer = *lent;
  if (buffer == &spares->none)
    return;
  *lent = &spares->none;
  if (!tide_row_buffer_is_empty(buffer) || !tide_spare_buffers_is_small(buffer)) {
    free_buffer(buffer);
    return;
  }
  buffer->next = spares->first;
  spares->first = buffer;
  spares->n++;
}

void
tide_spare_buffers_run_maintenance(TideSpareBuffers *spares, gint64 idle_us, gint64 now_us)
{
  if (now_us - spares->looked_us < idle_us)
    return;
  for (guint32 n_unused = spares->n_unused; n_unused > 0; n_unused--)
    free_buffer(pop(spares));
  spares->n_unused = spares->n;
  spares->looked_us = now_us;
}
