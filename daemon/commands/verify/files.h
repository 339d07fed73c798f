/* Files in the place of topics: each is a part, its path the topic, and its lines (of binary formats its records) are
 * the offsets. */
#pragma once

#include "commands/verify/input.h"

G_BEGIN_DECLS

typedef struct TideVerifyFiles {
  const TideConfigSource *source; /* borrowed: whose readings they hold */
  const volatile int *stop;       /* borrowed */
} TideVerifyFiles;

/* Whether each of @paths (element-type utf8) can be read again; one that is not there is told of when it is read.
 * Errors: USAGE: standard input, or a pipe. */
gboolean tide_verify_files_check(const GPtrArray *paths, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* A part for each of @paths (element-type utf8), with all that the file holds. (transfer full) (element-type
 * TideTopicPart) */
GArray *tide_verify_files_parts(const GPtrArray *paths);

/* @files: borrowed for the input's life. Errors of its read: IO, DATA: a file cannot be read to its end; CANCELLED. */
TideVerifyInput tide_verify_files_input(TideVerifyFiles *files);

G_END_DECLS
