/* Files as an input of a consumer: each file is a partition of its own (its path is the topic, the number is 0), a
 * record is a message, and what is committed becomes the file's mark. A record has no key and no headers; its record
 * time is when it was read, for the limits of event times. Files are never revoked: a file stays its consumer's to the
 * end. */
#pragma once

#include "files/file_load.h"
#include "model/input.h"

G_BEGIN_DECLS

typedef struct TideFileInputOptions {
  TideFileLoad *load;        /* borrowed */
  gint64 commit_interval_ms; /* of what is stored */
  gsize window_bytes;        /* in memory at the most, behind the marks; one record is taken whatever its size */
} TideFileInputOptions;

/* Nothing is opened before the first poll. (transfer full) */
TideInput *tide_file_input_new(const TideFileInputOptions *options, const TideInputHandlers *handlers);

G_END_DECLS
