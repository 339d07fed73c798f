/* What the libraries under two formats cost by themselves: every value of a message is looked at, and nothing kept. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct LibraryWalk LibraryWalk;

LibraryWalk *library_walk_new(void);
void library_walk_free(LibraryWalk *walk);

/* Each returns the number of values in the message, an object or a map; 0 when the library refuses it. */
gsize library_walk_json(LibraryWalk *walk, const guint8 *message, gsize len);    /* simdjson's document parser */
gsize library_walk_msgpack(LibraryWalk *walk, const guint8 *message, gsize len); /* msgpack_unpack_next() */

G_END_DECLS
