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
  guint64 slack_messages; /* read-only */
  /* owner's */
  gint64 part_us;
  double max;
  gint64 number;                                               /* of the part that is filled: now / part_us */
  TideDeadLetterRatioPart parts[TIDE_DEAD_LETTER_RATIO_PARTS]; /* by number, modulo their count */
} TideDeadLetterRatio;

void tide_dead_letter_ratio_init(TideDeadLetterRatio *ratio, gint64 window_ms, double max, guint64 slack_messages);
/* Another window begins anew, empty. */
void tide_dead_letter_ratio_set_bounds(TideDeadLetterRatio *ratio, gint64 window_ms, double max);
void tide_dead_letter_ratio_add(TideDeadLetterRatio *ratio, gint64 now_us, const TideDeadLetterRatioPart *more);

/* Whether that many are too many. */
gboolean tide_dead_letter_ratio_is_above(const TideDeadLetterRatio *ratio, const TideDeadLetterRatioPart *total);

/* @ret_total: of the window, for messages. */
gboolean tide_dead_letter_ratio_is_exceeded(const TideDeadLetterRatio *ratio, TideDeadLetterRatioPart *ret_total);

G_END_DECLS
