#include "bench/library_walks.h"

#include <msgpack.h>
#include <simdjson.h>

struct LibraryWalk {
  simdjson::dom::parser parser;
  msgpack_unpacked unpacked;
};

LibraryWalk *
library_walk_new(void)
{
  auto *walk = new LibraryWalk;
  msgpack_unpacked_init(&walk->unpacked);
  return walk;
}

void
library_walk_free(LibraryWalk *walk)
{
  msgpack_unpacked_destroy(&walk->unpacked);
  delete walk;
}

gsize
library_walk_json(LibraryWalk *walk, const guint8 *message, gsize len)
{
  simdjson::dom::object object;
  if (walk->parser.parse(message, len).get(object) != simdjson::SUCCESS)
    return 0;
  gsize n = 0;
  for (auto field : object)
    n += field.key.empty() ? 0 : 1;
  return n;
}

gsize
library_walk_msgpack(LibraryWalk *walk, const guint8 *message, gsize len)
{
  size_t at = 0;
  const char *bytes = reinterpret_cast<const char *>(message);
  if (msgpack_unpack_next(&walk->unpacked, bytes, len, &at) != MSGPACK_UNPACK_SUCCESS ||
      walk->unpacked.data.type != MSGPACK_OBJECT_MAP)
    return 0;
  return walk->unpacked.data.via.map.size;
}
