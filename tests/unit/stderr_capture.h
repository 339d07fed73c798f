/* What is logged in a test, as standard error has it. */
#pragma once

#include <fcntl.h>
#include <glib.h>
#include <unistd.h>

/* Standard error as a pipe for the time of a test. */
typedef struct Capture {
  int saved_stderr;
  int reader;
} Capture;

static inline Capture
capture_stderr(void)
{
  int ends[2];
  g_assert_cmpint(pipe(ends), ==, 0);
  Capture capture = {.saved_stderr = dup(STDERR_FILENO), .reader = ends[0]};
  g_assert_cmpint(dup2(ends[1], STDERR_FILENO), ==, STDERR_FILENO);
  close(ends[1]);
  g_assert_cmpint(fcntl(capture.reader, F_SETFL, O_NONBLOCK), ==, 0);
  return capture;
}

/* All that is in the pipe now. */
static inline char *
captured(const Capture *capture)
{
  GString *text = g_string_new(NULL);
  char part[4096];
  gssize n;
  while ((n = read(capture->reader, part, sizeof part)) > 0)
    g_string_append_len(text, part, n);
  return g_string_free(text, FALSE);
}

static inline void
capture_end(Capture *capture)
{
  g_assert_cmpint(dup2(capture->saved_stderr, STDERR_FILENO), ==, STDERR_FILENO);
  close(capture->saved_stderr);
  if (capture->reader >= 0)
    close(capture->reader);
}
