/* What HBase's words say of a row that it refuses: where a cell is too large or its time out of range, the text quotes
 * the first such cell of a region, by its row key; where it is too large, the limit, too. What stands in a text is a
 * hint: whoever follows it sends the row alone.
 *
 * Threads: any. */
#pragma once

#include "util/bytes.h"
#include "util/clock.h"

G_BEGIN_DECLS

/* How long what such words tell is believed, since a row was last refused with them. */
#define TIDE_BELIEF_US (3600 * TIDE_US_PER_S)

gboolean tide_text_names_row(const char *text, TideBytes key);

/* The size above which cells are refused; 0: the text tells of none. */
gsize tide_text_cell_limit(const char *text);

G_END_DECLS
