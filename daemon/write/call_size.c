#include "write/call_size.h"

#include "util/clock.h"

/* What is too large for a proxy is so with each batch. */
#define LOG_INTERVAL_US (600 * TIDE_US_PER_S)

#define KNOWN_US (600 * TIDE_US_PER_S)

typedef struct TideKnownSize {
  guint32 gateway;
  gsize n_bytes; /* were taken */
  gint64 until_us;
} TideKnownSize;

void
tide_call_sizes_init(TideCallSizes *sizes)
{
  sizes->known = g_array_new(FALSE, FALSE, sizeof(TideKnownSize));
}

void
tide_call_sizes_clear(TideCallSizes *sizes)
{
  g_array_unref(sizes->known);
}

static TideKnownSize *
find(const TideCallSizes *sizes, guint32 gateway)
{
  for (guint i = 0; i < sizes->known->len; i++) {
    TideKnownSize *known = &g_array_index(sizes->known, TideKnownSize, i);
    if (known->gateway == gateway)
      return known;
  }
  return NULL;
}

gsize
tide_call_sizes_most(const TideCallSizes *sizes, guint32 gateway, gint64 now_us)
{
  const TideKnownSize *known = find(sizes, gateway);
  return known != NULL && now_us < known->until_us ? known->n_bytes : G_MAXSIZE;
}

void
tide_call_sizes_note_taken(TideCallSizes *sizes, guint32 gateway, gsize n_bytes, gint64 now_us)
{
  TideKnownSize *known = find(sizes, gateway);
  if (known == NULL) {
    TideKnownSize added = {.gateway = gateway};
    g_array_append_val(sizes->known, added);
    known = find(sizes, gateway);
  }
  if (now_us < known->until_us) {
    known->n_bytes = MAX(known->n_bytes, n_bytes);
    return;
  }
  known->n_bytes = n_bytes;
  known->until_us = now_us + KNOWN_US;
}

void
tide_call_sizes_note_cut(TideCallSizes *sizes, guint32 gateway, gsize n_bytes)
{
  TideKnownSize *known = find(sizes, gateway);
  if (known != NULL && n_bytes <= known->n_bytes)
    known->until_us = 0;
}

void
tide_call_size_log(TideLogLimit *limit, guint32 n_rows, const char *table, const char *reason, gint64 now_us)
{
  static const char cut_off[] =
      "it was cut off again and again, as by a proxy with a limit for requests: raise that, or "
      "lower 'batch.max_bytes'";
  guint64 suppressed;
  if (tide_log_limit_pass(limit, now_us, LOG_INTERVAL_US, &suppressed))
    tide_log(TIDE_LOG_WARNING, "call-too-large", "a call of %u rows to '%s' is sent in smaller ones: %s%s", n_rows,
             table, reason != NULL ? reason : cut_off, tide_log_suppressed(suppressed, "calls").text);
}
