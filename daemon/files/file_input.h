/* Files as the input of a consumer: each file is a partition (its path is the topic, the number is 0), a record is a
 * message, and the committed offset becomes the file's mark. A record has no key and no headers; its record time is the
 * time of reading, for the limits of event times. Files are never revoked: a file belongs to its consumer to the
 * end. */
#pragma once

#include "files/file_load.h"
#include "model/input.h"

G_BEGIN_DECLS

typedef struct TideFileInputOptions {
  TideFileLoad *load;        /* borrowed */
  gint64 commit_interval_ms; /* of stored offsets */
  gsize window_bytes;        /* maximum memory for records after the marks; a single record is read whatever its size */
} TideFileInputOptions;

/* Files are opened at the first poll. (transfer full) */
TideInput *tide_file_input_new(const TideFileInputOptions *options, const TideInputHandlers *handlers);

G_END_DECLS
