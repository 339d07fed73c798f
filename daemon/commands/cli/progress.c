#include "commands/cli/progress.h"

#include "commands/cli/output.h"
#include "util/clock.h"
#include "util/units.h"

#include <stdio.h>
#include <unistd.h>

/* Five times a second looks steady at no cost. */
#define INTERVAL_US (TIDE_US_PER_S / 5)

void
tide_progress_begin(TideProgress *progress, const char *noun, guint64 total, gint64 now_us)
{
  *progress = (TideProgress){
      .noun = noun,
      .total = total,
      .start_us = now_us,
      .next_us = now_us + INTERVAL_US,
      .enabled = isatty(STDERR_FILENO) == 1,
  };
}

/* "41,200 of 100,000 readings (41 %), 20,513/s, 3 s left". @elapsed_us: since the work began. (transfer full) */
static char *
progress_text(const TideProgress *progress, guint64 done, gint64 elapsed_us)
{
  guint64 total = progress->total;
  double share = total > 0 ? (double)done / (double)total : progress->share;
  GString *text = g_string_new(NULL);
  g_autofree char *done_text = tide_count_text(done);
  g_string_append(text, done_text);
  if (total > 0) {
    g_autofree char *total_text = tide_count_text(total);
    g_string_append_printf(text, " of %s", total_text);
  }
  g_string_append_printf(text, " %s", progress->noun);
  if (share > 0)
    g_string_append_printf(text, " (%d %%)", (int)(share * 100));
  if (elapsed_us <= 0 || done == 0)
    return g_string_free(text, FALSE);

  double per_s = (double)done * (double)TIDE_US_PER_S / (double)elapsed_us;
  g_autofree char *rate_text = tide_count_text((guint64)(per_s + 0.5));
  g_string_append_printf(text, ", %s/s", rate_text);
  double gained = share - progress->before;
  if (gained > 0 && share < 1) {
    g_autofree char *left_text = tide_age_text((gint64)((double)elapsed_us * (1 - share) / gained) / TIDE_US_PER_MS);
    g_string_append_printf(text, ", %s left", left_text);
  }
  return g_string_free(text, FALSE);
}

void
tide_progress_update(TideProgress *progress, guint64 done, gint64 now_us)
{
  if (!progress->enabled || now_us < progress->next_us)
    return;
  progress->next_us = now_us + INTERVAL_US;
  progress->shown = TRUE;
  g_autofree char *text = progress_text(progress, done, now_us - progress->start_us);
  const char *note = progress->note;
  fprintf(stderr, "\r\033[K%s%s%s", text, note != NULL ? "; " : "", note != NULL ? note : "");
  fflush(stderr);
}

static void
erase(gboolean *is_shown)
{
  if (!*is_shown)
    return;
  fputs("\r\033[K", stderr);
  fflush(stderr);
  *is_shown = FALSE;
}

void
tide_progress_end(TideProgress *progress)
{
  g_clear_pointer(&progress->note, g_free);
  erase(&progress->shown);
}

/* ---- steps ---- */

static gboolean step_is_shown;

void
tide_progress_step(const char *format, ...)
{
  if (isatty(STDERR_FILENO) != 1)
    return;
  va_list arguments;
  va_start(arguments, format);
  g_autofree char *text = g_strdup_vprintf(format, arguments);
  va_end(arguments);
  g_autofree char *printable = tide_text_printable(tide_bytes_of_string(text));
  g_autofree char *cut = g_utf8_substring(printable, 0, MIN(g_utf8_strlen(printable, -1), TIDE_SCREEN_COLUMNS - 5));
  fprintf(stderr, "\r\033[K%s ...", cut);
  fflush(stderr);
  step_is_shown = TRUE;
}

void
tide_progress_step_end(void)
{
  erase(&step_is_shown);
}
