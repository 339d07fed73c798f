/* Whether dead letters could be kept in a file, seen without touching it: for `tidemark check`. */
#pragma once

#include "dead_letters/dead_letter_file.h"

G_BEGIN_DECLS

/**
 * tide_dead_letter_location_look: what tide_dead_letter_file_open() and the first append would stumble over.
 * Errors: IO: cannot be made or written; IN_USE: another process keeps its dead letters there; TOO_BIG: it is full.
 */
gboolean tide_dead_letter_location_look(const TideDeadLetterFileOptions *options,
                                        GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
