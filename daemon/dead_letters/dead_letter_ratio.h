/* The share of dead letters among the messages, over a sliding window. Time is the caller's.
 *
 * The messages are those received, or those that ended, whichever are more: after an outage many rows are found bad
 * that came long before the window, and then they are compared with the messages that are written beside them.
 *
 * A consumer says what it received once a round, and its dead letters as they come, so dead letters may be ahead of
 * their own messages: @slack_messages are taken as received before they are said. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Fewer dead letters than this say nothing about a share. */
#define TIDE_DEAD_LETTER_RATIO_MIN 100u

/* The window moves on by a part of it. */
#define TIDE_DEAD_LETTER_RATIO_PARTS 12u

typedef struct TideDeadLetterRatioPart {
  guint64 received;
  guint64 written;
  guint64 dead_letters;
} TideDeadLetterRatioPart;

typedef struct TideDeadLetterRatio {
  /* set at creation, then read-only */
  gint64 part_us;
  double max;
  guint64 slack_messages;
  /* owner's */
  gint64 number;                                               /* of the part that is filled: now / part_us */
  TideDeadLetterRatioPart parts[TIDE_DEAD_LETTER_RATIO_PARTS]; /* by number, modulo their count */
} TideDeadLetterRatio;

void tide_dead_letter_ratio_init(TideDeadLetterRatio *ratio, gint64 window_ms, double max, guint64 slack_messages);
void tide_dead_letter_ratio_add(TideDeadLetterRatio *ratio, gint64 now_us, const TideDeadLetterRatioPart *more);

/* @ret_total: of the window, for messages. */
gboolean tide_dead_letter_ratio_is_exceeded(const TideDeadLetterRatio *ratio, TideDeadLetterRatioPart *ret_total);

G_END_DECLS
