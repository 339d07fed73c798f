#include "write/call_size.h"

#include "util/clock.h"

/* What is too large for a proxy is so with each batch. */
#define LOG_INTERVAL_US (600 * TIDE_US_PER_S)

#define KNOWN_US (600 * TIDE_US_PER_S)

typedef struct TideKnownSize {
  guint32 gateway;
  guint32 n_cuts;  /* since so much was taken as ... */
  gsize cut_bytes; /* ... the smallest of them had */
  gsize n_bytes;   /* what calls stay at ... */
  gint64 until_us; /* ... so long */
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
  if (known == NULL)
    return; /* it never cut anything off */
  if (n_bytes >= known->cut_bytes)
    known->n_cuts = 0; /* so that was not for the size */
  if (now_us < known->until_us) {
    known->n_bytes = MAX(known->n_bytes, n_bytes);
  } else if (known->until_us != 0) {
    known->n_cuts = MIN(known->n_cuts, TIDE_CUT_LIMIT - 1); /* it is over: one more cut, and it begins anew */
    known->until_us = 0;
  } else if (known->n_cuts >= TIDE_CUT_LIMIT) {
    known->n_bytes = MAX(MAX(n_bytes, known->cut_bytes / 2), TIDE_CUT_LEAST_BYTES);
    known->until_us = now_us + KNOWN_US;
  }
}

gboolean
tide_call_sizes_note_cut(TideCallSizes *sizes, guint32 gateway, gsize n_bytes, gint64 now_us)
{
  TideKnownSize *known = find(sizes, gateway);
  if (known == NULL) {
    TideKnownSize added = {.gateway = gateway};
    g_array_append_val(sizes->known, added);
    known = find(sizes, gateway);
  }
  known->cut_bytes = known->n_cuts == 0 ? n_bytes : MIN(known->cut_bytes, n_bytes);
  known->n_cuts++;
  if (n_bytes <= known->n_bytes || now_us >= known->until_us)
    known->until_us = 0;
  return known->n_cuts >= TIDE_CUT_LIMIT;
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
