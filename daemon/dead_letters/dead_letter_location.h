/* Checks, without changing a file, if dead letters could be written to it: for `tidemark check`. */
#pragma once

#include "dead_letters/dead_letter_file.h"

G_BEGIN_DECLS

/**
 * tide_dead_letter_location_check: reports what would make tide_dead_letter_file_open() or the first append fail.
 * Errors: IO: cannot be created or written; IN_USE: another process writes its dead letters there; TOO_BIG: it is full.
 */
gboolean tide_dead_letter_location_check(const TideDeadLetterFileOptions *options,
                                         GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
