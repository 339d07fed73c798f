/* What serializers put in front of a message's own bytes, so that its schema is found. Confluent's is read: a byte that
 * is 0 and the schema's number. Others are known, to be named. */
#pragma once

#include "util/bytes.h"

G_BEGIN_DECLS

#define TIDE_FRAME_BYTES 5u

/* FALSE: @message does not begin with Confluent's frame; @ret_detail says so, and @ret_id is not set. */
gboolean tide_frame_read(TideBytes message, guint32 *ret_id, const char **ret_detail) G_GNUC_WARN_UNUSED_RESULT;

typedef struct TideKnownFrame {
  const char *detail;
  const char *remedy;
} TideKnownFrame;

/* The frame that @message begins with, which cannot be read. @is_framed: without Confluent's it would not do.
 * @begins_anyhow: without a frame, its first byte may be any, so that only what is told by two is recognised.
 * Returns: NULL: none that is known. Threads: any. */
const TideKnownFrame *tide_frame_known(TideBytes message, gboolean is_framed, gboolean begins_anyhow);

G_END_DECLS
