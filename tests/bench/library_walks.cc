#include "bench/library_walks.h"

#include <cmath>
#include <msgpack.h>
#include <simdjson.h>

/* ---- simdjson's document parser ---- */

static gpointer
json_begin(const char *)
{
  return new simdjson::dom::parser;
}

static double
json_sum_of(gpointer state, const guint8 *message, gsize len)
{
  auto *parser = static_cast<simdjson::dom::parser *>(state);
  simdjson::dom::object object;
  double sum = 0, number;
  std::string_view text;
  if (parser->parse(message, len).get(object) != simdjson::SUCCESS)
    return NAN;
  for (auto field : object) {
    if (field.value.get(number) == simdjson::SUCCESS)
      sum += number;
    else if (field.value.get(text) == simdjson::SUCCESS)
      sum += static_cast<double>(text.size());
  }
  return sum;
}

static void
json_end(gpointer state)
{
  delete static_cast<simdjson::dom::parser *>(state);
}

/* ---- msgpack_unpack_next() ---- */

static gpointer
msgpack_begin(const char *)
{
  auto *unpacked = new msgpack_unpacked;
  msgpack_unpacked_init(unpacked);
  return unpacked;
}

static double
msgpack_sum_of(gpointer state, const guint8 *message, gsize len)
{
  auto *unpacked = static_cast<msgpack_unpacked *>(state);
  size_t at = 0;
  double sum = 0;
  if (msgpack_unpack_next(unpacked, reinterpret_cast<const char *>(message), len, &at) != MSGPACK_UNPACK_SUCCESS ||
      unpacked->data.type != MSGPACK_OBJECT_MAP)
    return NAN;
  const msgpack_object_map &map = unpacked->data.via.map;
  for (guint32 i = 0; i < map.size; i++) {
    const msgpack_object &value = map.ptr[i].val;
    sum += value.type == MSGPACK_OBJECT_STR     ? static_cast<double>(value.via.str.size)
           : value.type == MSGPACK_OBJECT_FLOAT ? value.via.f64
                                                : static_cast<double>(value.via.u64);
  }
  return sum;
}

static void
msgpack_end(gpointer state)
{
  auto *unpacked = static_cast<msgpack_unpacked *>(state);
  msgpack_unpacked_destroy(unpacked);
  delete unpacked;
}

const LibraryWalk *
library_walk_of(int format)
{
  static const LibraryWalk json = {json_begin, json_sum_of, json_end};
  static const LibraryWalk msgpack = {msgpack_begin, msgpack_sum_of, msgpack_end};
  switch (format) {
  case FORMAT_JSON:
    return &json;
  case FORMAT_MSGPACK:
    return &msgpack;
#ifdef BENCH_WITH_AVRO
  case FORMAT_AVRO:
    return &avro_library_walk;
#endif
#ifdef BENCH_WITH_PROTOBUF
  case FORMAT_PROTOBUF:
    return &protobuf_library_walk;
#endif
  default:
    return nullptr;
  }
}
