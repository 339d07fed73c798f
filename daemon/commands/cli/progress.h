/* A line on a terminal with the progress of long work: count, share, rate, time left. Prints nothing if standard error
 * is not a terminal, so that logs stay clean. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct TideProgress {
  const char *noun; /* borrowed: "readings" */
  guint64 total;    /* 0: unknown */
  double share;     /* share done, if it is known but the total is not; 0: unknown */
  double before;    /* the part of that share from before the work began */
  char *note;       /* owned: printed after the rest; NULL: none */
  gint64 start_us;  /* monotonic */
  gint64 next_us;   /* time of the next update */
  gboolean enabled;
  gboolean shown;
} TideProgress;

void tide_progress_begin(TideProgress *progress, const char *noun, guint64 total, gint64 now_us);

/* Cheap enough for every item: prints at most five times a second. */
void tide_progress_update(TideProgress *progress, guint64 done, gint64 now_us);

/* Erases the line. */
void tide_progress_end(TideProgress *progress);

/* For work with a few long steps: shows "asking the brokers ..." instead of the line, until the next step or
 * tide_progress_step_end(). On the main thread; nothing may be printed in between. */
void tide_progress_step(const char *format, ...) G_GNUC_PRINTF(1, 2);
void tide_progress_step_end(void);

G_END_DECLS
