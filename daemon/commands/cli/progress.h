/* One line on a terminal that says how far long work is: count, share, rate, time left. Nothing where standard error is
 * no terminal, so that logs stay clean. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct TideProgress {
  const char *noun; /* borrowed: "readings" */
  guint64 total;    /* 0: not known */
  double share;     /* that is done, where the total is not known and this is; 0: it is not */
  double before;    /* the part of that share which was done before the work began */
  gint64 start_us;  /* monotonic */
  gint64 next_us;   /* when the line is due again */
  gboolean enabled;
  gboolean shown;
} TideProgress;

void tide_progress_begin(TideProgress *progress, const char *noun, guint64 total, gint64 now_us);

/* Cheap enough for every item: prints at most five times a second. */
void tide_progress_update(TideProgress *progress, guint64 done, gint64 now_us);

/* Wipes the line. */
void tide_progress_end(TideProgress *progress);

/* For work of a few long steps: "asking the brokers ..." in the line's place, until the next step or the wiping. On the
 * main thread; nothing may be printed in between. */
void tide_progress_step(const char *format, ...) G_GNUC_PRINTF(1, 2);
void tide_progress_step_end(void);

G_END_DECLS
