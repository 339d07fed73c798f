#include "thrift/wire/wire.h"

const char *
tide_wire_protocol_name(TideWireProtocol protocol)
{
  return protocol == TIDE_WIRE_BINARY ? "binary" : "compact";
}

const char *
tide_framing_name(TideFraming framing)
{
  return framing == TIDE_FRAMING_UNFRAMED ? "unframed" : "framed";
}
