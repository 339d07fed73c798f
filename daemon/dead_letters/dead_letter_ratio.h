/* The share of dead letters among messages, over a sliding window. The caller supplies the time.
 *
 * It counts messages received or messages finished, whichever are more: after an outage many rows are refused that were
 * received long before the window, and are compared with the messages written at the same time.
 *
 * A consumer reports received messages once per round but dead letters immediately, so these may be ahead of their
 * messages. Therefore @slack_messages count as received before they are reported. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* With fewer dead letters the share means nothing. */
#define TIDE_DEAD_LETTER_RATIO_MIN 100u

/* Parts of the window; it advances by one at a time. */
#define TIDE_DEAD_LETTER_RATIO_PARTS 12u

typedef struct TideDeadLetterRatioPart {
  guint64 received;
  guint64 written;
  guint64 dead_letters;
} TideDeadLetterRatioPart;

typedef struct TideDeadLetterRatio {
  guint64 slack_messages; /* read-only */
  /* The owner's. */
  gint64 part_us;
  double max;
  gint64 number;                                               /* of the current part: now / part_us */
  TideDeadLetterRatioPart parts[TIDE_DEAD_LETTER_RATIO_PARTS]; /* indexed by number modulo their count */
} TideDeadLetterRatio;

void tide_dead_letter_ratio_init(TideDeadLetterRatio *ratio, gint64 window_ms, double max, guint64 slack_messages);
/* A changed window starts empty. */
void tide_dead_letter_ratio_set_bounds(TideDeadLetterRatio *ratio, gint64 window_ms, double max);
void tide_dead_letter_ratio_add(TideDeadLetterRatio *ratio, gint64 now_us, const TideDeadLetterRatioPart *more);

/* Whether the dead letters of @total are too many. */
gboolean tide_dead_letter_ratio_is_above(const TideDeadLetterRatio *ratio, const TideDeadLetterRatioPart *total);

/* @ret_total: sum of the window, for texts */
gboolean tide_dead_letter_ratio_is_exceeded(const TideDeadLetterRatio *ratio, TideDeadLetterRatioPart *ret_total);

G_END_DECLS
