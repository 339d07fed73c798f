#include "thrift/client/kept_scanners.h"

/* An unused one has no question. */
static gboolean
is_used(const TideKeptScanner *scanner)
{
  return scanner->question.len > 0;
}

TideKeptScanner *
tide_kept_scanners_find(TideKeptScanners *kept, TideBytes question, TideBytes start_row)
{
  for (guint i = 0; i < TIDE_MAX_KEPT_SCANNERS; i++) {
    TideKeptScanner *scanner = &kept->items[i];
    if (is_used(scanner) && tide_bytes_equal(tide_buffer_bytes(&scanner->next_start), start_row) &&
        tide_bytes_equal(tide_buffer_bytes(&scanner->question), question))
      return scanner;
  }
  return NULL;
}

TideKeptScanner *
tide_kept_scanners_make_room(TideKeptScanners *kept)
{
  TideKeptScanner *oldest = &kept->items[0];
  for (guint i = 0; i < TIDE_MAX_KEPT_SCANNERS; i++) {
    TideKeptScanner *scanner = &kept->items[i];
    if (!is_used(scanner))
      return scanner;
    if (scanner->used < oldest->used)
      oldest = scanner;
  }
  return oldest;
}

void
tide_kept_scanner_set(TideKeptScanners *kept, TideKeptScanner *scanner, TideBytes question, TideBytes last_row,
                      gboolean reversed)
{
  tide_buffer_reset(&scanner->question);
  tide_buffer_append_bytes(&scanner->question, question);
  tide_buffer_reset(&scanner->next_start);
  tide_buffer_append_bytes(&scanner->next_start, last_row);
  if (!reversed)
    tide_buffer_append_byte(&scanner->next_start, 0);
  scanner->used = ++kept->clock;
}

void
tide_kept_scanner_forget(TideKeptScanner *scanner)
{
  tide_buffer_reset(&scanner->question);
  scanner->is_open = FALSE;
  scanner->has_skipped = FALSE;
}

void
tide_kept_scanners_lose(TideKeptScanners *kept)
{
  for (guint i = 0; i < TIDE_MAX_KEPT_SCANNERS; i++)
    kept->items[i].is_open = FALSE;
  kept->asked = NULL;
}

void
tide_kept_scanners_clear(TideKeptScanners *kept)
{
  for (guint i = 0; i < TIDE_MAX_KEPT_SCANNERS; i++) {
    tide_buffer_clear_memory(&kept->items[i].question);
    tide_buffer_clear_memory(&kept->items[i].next_start);
  }
}
