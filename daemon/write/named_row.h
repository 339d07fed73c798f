/* Whether HBase's words name a row that it refuses: where a cell is too large or its time out of range, the text quotes
 * the first such cell of a region, by its row key. What stands in a text is a hint: whoever follows it sends the row
 * alone.
 *
 * Threads: any. */
#pragma once

#include "util/bytes.h"

G_BEGIN_DECLS

gboolean tide_text_names_row(const char *text, TideBytes key);

G_END_DECLS
