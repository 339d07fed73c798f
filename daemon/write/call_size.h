/* How large a call through a gateway may be: what was found out of proxies before gateways, which have limits of their
 * own. It is known of each gateway by itself, as each may have a proxy of its own.
 *
 * A proxy may say that a call is too large (HTTP status 413), or reset the connection, as a gateway that restarts does.
 * So of what is cut off once nothing is said. After TIDE_CUT_LIMIT cuts without a call between them that was taken and
 * as large as the smallest that was cut off, calls stay, for ten minutes, at the larger of what is taken and half of
 * what was cut off; then one is tried whole again. Where half is too much still, the next cut halves it.
 *
 * Threads: one writer's. */
#pragma once

#include "util/log.h"

#include <glib.h>

G_BEGIN_DECLS

#define TIDE_CUT_LIMIT 3u

/* What is smaller is not cut off for its size: limits for a request's head alone are 8 to 16 KiB. */
#define TIDE_CUT_LEAST_BYTES (16u * 1024u)

typedef struct TideCallSizes {
  GArray *known; /* (element-type TideKnownSize) */
} TideCallSizes;

void tide_call_sizes_init(TideCallSizes *sizes);
void tide_call_sizes_clear(TideCallSizes *sizes);

/* The largest call that gateway @gateway, an index, is known to take; G_MAXSIZE: no limit is known. */
gsize tide_call_sizes_most(const TideCallSizes *sizes, guint32 gateway, gint64 now_us);
/* @n_bytes were taken. */
void tide_call_sizes_note_taken(TideCallSizes *sizes, guint32 gateway, gsize n_bytes, gint64 now_us);
/* @n_bytes, of several rows, were cut off. Returns: TRUE when this was so often enough to be for their size. */
gboolean tide_call_sizes_note_cut(TideCallSizes *sizes, guint32 gateway, gsize n_bytes, gint64 now_us);

/* Tells, each ten minutes at most, that a call of @n_rows to @table is sent in smaller ones. @reason: with what to do;
 * NULL: it was cut off. Without that nobody would hear why calls are many and small, as nothing is lost. */
void tide_call_size_log(TideLogLimit *limit, guint32 n_rows, const char *table, const char *reason, gint64 now_us);

G_END_DECLS
