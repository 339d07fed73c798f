/* Whether a compiled list of parts is a key: two different readings never make one, and it can be read back. */
#pragma once

#include "model/key/key_part.h"

G_BEGIN_DECLS

/* Also marks the parts that fields are read back from, and the hashes and salts that can be made again from the key.
 * Errors: TIDE_ERROR_CONFIG with a sentence and the remedy; @ret_bad_part is the index of the part at fault. */
gboolean tide_key_check(TideRowKey *key, gsize *ret_bad_part, GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
