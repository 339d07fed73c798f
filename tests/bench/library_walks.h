/* The cost of the formats' libraries alone: every value of a message is read, and none is kept. */
#pragma once

#include "bench/format_messages.h"

G_BEGIN_DECLS

typedef struct LibraryWalk {
  gpointer (*begin)(const char *schema_path); /* what the library keeps from one message to the next */
  /* The sum of all values: numbers, and the lengths of texts; NAN when the library refuses the message. */
  double (*sum_of)(gpointer state, const guint8 *message, gsize len);
  void (*end)(gpointer state);
} LibraryWalk;

/* NULL: no library reads it (our own code does), or it is not there. */
const LibraryWalk *library_walk_of(int format);

/* avro_library_walk.c, where avro-c is there; protobuf_library_walk.cc, where libprotobuf is */
extern const LibraryWalk avro_library_walk;
extern const LibraryWalk protobuf_library_walk;

G_END_DECLS
