/* How much memory this program takes in between, for tests of peers that announce or send more than anybody wants. */
#pragma once

#include <glib.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>

/* @name: "VmRSS:" or "VmHWM:", of /proc/self/status. */
static inline guint64
memory_status_bytes(const char *name)
{
  g_autofree char *status = NULL;
  g_assert_true(g_file_get_contents("/proc/self/status", &status, NULL, NULL));
  const char *line = strstr(status, name);
  g_assert_nonnull(line);
  return g_ascii_strtoull(line + strlen(name), NULL, 10) * 1024;
}

/* From now on the peak is counted anew. Returns: what is resident now. */
static inline guint64
peak_memory_begin(void)
{
  malloc_trim(0);
  FILE *file = fopen("/proc/self/clear_refs", "we");
  g_assert_nonnull(file);
  g_assert_cmpint(fputs("5", file), >=, 0);
  g_assert_cmpint(fclose(file), ==, 0);
  return memory_status_bytes("VmRSS:");
}

/* @before_bytes: what peak_memory_begin() returned. */
static inline guint64
peak_memory_growth(guint64 before_bytes)
{
  guint64 peak_bytes = memory_status_bytes("VmHWM:");
  return peak_bytes > before_bytes ? peak_bytes - before_bytes : 0;
}

/* Not under sanitizers, which keep what was freed. */
static inline void
assert_peak_memory_grew_less(guint64 before_bytes, guint64 bound_bytes)
{
  guint64 growth_bytes = peak_memory_growth(before_bytes);
  g_test_message("grew by %" G_GUINT64_FORMAT " KiB at the most", growth_bytes >> 10);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  g_assert_cmpuint(growth_bytes, <, bound_bytes);
#endif
}
