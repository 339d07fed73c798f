/* The frames that serializers put before a message's own bytes to identify its schema. Confluent's frame is read: a 0
 * byte and the schema's number. Other frames are recognised only to name them in errors. */
#pragma once

#include "decode/decode_options.h"
#include "model/reject.h"

G_BEGIN_DECLS

#define TIDE_FRAME_BYTES 5u

/* FALSE: @message does not begin with Confluent's frame; @ret_detail reports this, and @ret_id is not set. */
gboolean tide_frame_read(TideBytes message, guint32 *ret_id, const char **ret_detail) G_GNUC_WARN_UNUSED_RESULT;

/* Adds to @reject the name of the frame that @message begins with, and how to read it, if an unread frame may be the
 * cause. */
void tide_frame_name(const TideDecodeOptions *options, TideBytes message, TideReject *reject);

G_END_DECLS
