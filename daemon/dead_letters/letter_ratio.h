/* The share of letters among the messages, over a sliding window. Time is the caller's.
 *
 * The messages are those received, or those that ended, whichever are more: after an outage many rows are found bad
 * that came long before the window, and then they are compared with the messages that are written beside them.
 *
 * A consumer says what it received once a round, and its letters as they come, so letters may be ahead of their own
 * messages: @slack_messages are taken as received before they are said. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Fewer letters than this say nothing about a share. */
#define TIDE_LETTER_RATIO_MIN_LETTERS 100u

/* The window moves on by a part of it. */
#define TIDE_LETTER_RATIO_PARTS 12u

typedef struct TideLetterRatioPart {
  guint64 received;
  guint64 written;
  guint64 letters;
} TideLetterRatioPart;

typedef struct TideLetterRatio {
  /* set at creation, then read-only */
  gint64 part_us;
  double max;
  guint64 slack_messages;
  /* owner's */
  gint64 number;                                      /* of the part that is filled: now / part_us */
  TideLetterRatioPart parts[TIDE_LETTER_RATIO_PARTS]; /* by number, modulo their count */
} TideLetterRatio;

void tide_letter_ratio_init(TideLetterRatio *ratio, gint64 window_ms, double max, guint64 slack_messages);
void tide_letter_ratio_add(TideLetterRatio *ratio, gint64 now_us, const TideLetterRatioPart *more);

/* @ret_total: of the window, for messages. */
gboolean tide_letter_ratio_is_exceeded(const TideLetterRatio *ratio, TideLetterRatioPart *ret_total);

G_END_DECLS
