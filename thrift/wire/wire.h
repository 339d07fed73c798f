/* The two Thrift wire protocols, as far as this project encodes and decodes them itself.
 *
 * Both encode a struct independently of its position in the message, so a cell or a put can be encoded once and copied
 * into any call. Writing appends to a TideBuffer. Reading uses TideWireReader, which checks each length against the
 * bytes left, limits nesting and element counts, and allocates nothing. */
#pragma once

#include "util/bytes.h"

G_BEGIN_DECLS

typedef enum TideWireProtocol {
  TIDE_WIRE_BINARY,
  TIDE_WIRE_COMPACT,
} TideWireProtocol;

typedef enum TideFraming {
  TIDE_FRAMING_UNFRAMED,
  TIDE_FRAMING_FRAMED,
} TideFraming;

static inline const char *
tide_wire_protocol_name(TideWireProtocol protocol)
{
  return protocol == TIDE_WIRE_BINARY ? "binary" : "compact";
}

static inline const char *
tide_framing_name(TideFraming framing)
{
  return framing == TIDE_FRAMING_UNFRAMED ? "unframed" : "framed";
}

/* Thrift's type ids of the binary protocol; the compact reader translates to these. */
typedef enum TideWireType {
  TIDE_WIRE_STOP = 0,
  TIDE_WIRE_BOOL = 2,
  TIDE_WIRE_BYTE = 3,
  TIDE_WIRE_DOUBLE = 4,
  TIDE_WIRE_I16 = 6,
  TIDE_WIRE_I32 = 8,
  TIDE_WIRE_I64 = 10,
  TIDE_WIRE_STRING = 11, /* also binary */
  TIDE_WIRE_STRUCT = 12,
  TIDE_WIRE_MAP = 13,
  TIDE_WIRE_SET = 14,
  TIDE_WIRE_LIST = 15,
} TideWireType;

G_END_DECLS
