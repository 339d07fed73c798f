#include "dead_letters/letter_ratio.h"

#include "util/clock.h"

void
tide_letter_ratio_init(TideLetterRatio *ratio, gint64 window_ms, double max, guint64 slack_messages)
{
  *ratio = (TideLetterRatio){.part_us = MAX(window_ms * TIDE_US_PER_MS / TIDE_LETTER_RATIO_PARTS, 1),
                             .max = max,
                             .slack_messages = slack_messages};
}

/* Empties the parts that the window has left behind. */
static void
move_on(TideLetterRatio *ratio, gint64 now_us)
{
  gint64 number = now_us / ratio->part_us;
  gint64 n_gone = MIN(number - ratio->number, (gint64)TIDE_LETTER_RATIO_PARTS);
  for (gint64 i = 0; i < n_gone; i++)
    ratio->parts[(number - i) % TIDE_LETTER_RATIO_PARTS] = (TideLetterRatioPart){0};
  ratio->number = MAX(number, ratio->number);
}

void
tide_letter_ratio_add(TideLetterRatio *ratio, gint64 now_us, const TideLetterRatioPart *more)
{
  move_on(ratio, now_us);
  TideLetterRatioPart *part = &ratio->parts[ratio->number % TIDE_LETTER_RATIO_PARTS];
  part->received += more->received;
  part->written += more->written;
  part->letters += more->letters;
}

gboolean
tide_letter_ratio_is_exceeded(const TideLetterRatio *ratio, TideLetterRatioPart *ret_total)
{
  TideLetterRatioPart total = {0};
  for (guint i = 0; i < TIDE_LETTER_RATIO_PARTS; i++) {
    total.received += ratio->parts[i].received;
    total.written += ratio->parts[i].written;
    total.letters += ratio->parts[i].letters;
  }
  *ret_total = total;
  double bound = ratio->max * (double)MAX(total.received + ratio->slack_messages, total.written + total.letters);
  return ratio->max < 1 && total.letters >= TIDE_LETTER_RATIO_MIN_LETTERS && (double)total.letters > bound;
}
