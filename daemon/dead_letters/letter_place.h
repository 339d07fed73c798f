/* Whether dead letters could be kept in a file, seen without touching it: for `tidemark check`. */
#pragma once

#include "dead_letters/letter_file.h"

G_BEGIN_DECLS

/**
 * tide_letter_place_look: what tide_letter_file_open() and the first append would stumble over.
 * Errors: IO: cannot be made or written; IN_USE: another process keeps its letters there; TOO_BIG: it is full.
 */
gboolean tide_letter_place_look(const TideLetterFileOptions *options, GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
