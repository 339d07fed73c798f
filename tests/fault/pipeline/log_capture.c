#include "fault/pipeline/log_capture.h"

#include "util/log.h"

#include <stdio.h>
#include <unistd.h>

struct LogCapture {
  FILE *file;         /* owned, without a name */
  int standard_error; /* owned: the descriptor it was */
};

LogCapture *
log_capture_start(void)
{
  LogCapture *capture = g_new0(LogCapture, 1);
  capture->file = tmpfile();
  g_assert_nonnull(capture->file);
  capture->standard_error = dup(STDERR_FILENO);
  g_assert_cmpint(capture->standard_error, >=, 0);
  g_assert_cmpint(dup2(fileno(capture->file), STDERR_FILENO), ==, STDERR_FILENO);
  tide_log_set_level(TIDE_LOG_WARNING);
  return capture;
}

char *
log_capture_end(LogCapture *capture)
{
  tide_log_set_level(TIDE_LOG_CRIT);
  g_assert_cmpint(dup2(capture->standard_error, STDERR_FILENO), ==, STDERR_FILENO);
  close(capture->standard_error);
  g_autoptr(GString) lines = g_string_new(NULL);
  char piece[4096];
  gsize len;
  rewind(capture->file);
  while ((len = fread(piece, 1, sizeof piece, capture->file)) > 0)
    g_string_append_len(lines, piece, (gssize)len);
  fclose(capture->file);
  g_free(capture);
  return g_string_free(g_steal_pointer(&lines), FALSE);
}
