/* What serializers put in front of a message's own bytes, so that its schema is found. Confluent's is read: a byte that
 * is 0 and the schema's number. Others are known, to be named. */
#pragma once

#include "decode/decode_options.h"
#include "model/reject.h"

G_BEGIN_DECLS

#define TIDE_FRAME_BYTES 5u

/* FALSE: @message does not begin with Confluent's frame; @ret_detail says so, and @ret_id is not set. */
gboolean tide_frame_read(TideBytes message, guint32 *ret_id, const char **ret_detail) G_GNUC_WARN_UNUSED_RESULT;

/* Where @reject may come of the frame that @message begins with, and that the options do not read: names it, and what
 * reads it. */
void tide_frame_name(const TideDecodeOptions *options, TideBytes message, TideReject *reject);

G_END_DECLS
