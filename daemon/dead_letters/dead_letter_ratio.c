#include "dead_letters/dead_letter_ratio.h"

#include "util/clock.h"

void
tide_dead_letter_ratio_init(TideDeadLetterRatio *ratio, gint64 window_ms, double max, guint64 slack_messages)
{
  *ratio = (TideDeadLetterRatio){.part_us = MAX(window_ms * TIDE_US_PER_MS / TIDE_DEAD_LETTER_RATIO_PARTS, 1),
                                 .max = max,
                                 .slack_messages = slack_messages};
}

void
tide_dead_letter_ratio_set_bounds(TideDeadLetterRatio *ratio, gint64 window_ms, double max)
{
  TideDeadLetterRatio anew;
  tide_dead_letter_ratio_init(&anew, window_ms, max, ratio->slack_messages);
  if (anew.part_us != ratio->part_us)
    *ratio = anew;
  ratio->max = max;
}

/* Clears parts that have left the window. */
static void
move_on(TideDeadLetterRatio *ratio, gint64 now_us)
{
  gint64 number = now_us / ratio->part_us;
  gint64 n_gone = MIN(number - ratio->number, (gint64)TIDE_DEAD_LETTER_RATIO_PARTS);
  for (gint64 i = 0; i < n_gone; i++)
    ratio->parts[(number - i) % TIDE_DEAD_LETTER_RATIO_PARTS] = (TideDeadLetterRatioPart){0};
  ratio->number = MAX(number, ratio->number);
}

void
tide_dead_letter_ratio_add(TideDeadLetterRatio *ratio, gint64 now_us, const TideDeadLetterRatioPart *more)
{
  move_on(ratio, now_us);
  TideDeadLetterRatioPart *part = &ratio->parts[ratio->number % TIDE_DEAD_LETTER_RATIO_PARTS];
  part->received += more->received;
  part->written += more->written;
  part->dead_letters += more->dead_letters;
}

gboolean
tide_dead_letter_ratio_is_above(const TideDeadLetterRatio *ratio, const TideDeadLetterRatioPart *total)
{
  guint64 messages = MAX(total->received + ratio->slack_messages, total->written + total->dead_letters);
  return ratio->max < 1 && total->dead_letters >= TIDE_DEAD_LETTER_RATIO_MIN &&
         (double)total->dead_letters > ratio->max * (double)messages;
}

gboolean
tide_dead_letter_ratio_is_exceeded(const TideDeadLetterRatio *ratio, TideDeadLetterRatioPart *ret_total)
{
  TideDeadLetterRatioPart total = {0};
  for (guint i = 0; i < TIDE_DEAD_LETTER_RATIO_PARTS; i++) {
    total.received += ratio->parts[i].received;
    total.written += ratio->parts[i].written;
    total.dead_letters += ratio->parts[i].dead_letters;
  }
  *ret_total = total;
  return tide_dead_letter_ratio_is_above(ratio, &total);
}
