#include "thrift/wire/message_scanner.h"

void
tide_message_scanner_init(TideMessageScanner *scanner, TideWireProtocol protocol, gsize limit_bytes)
{
  scanner->protocol = protocol;
  scanner->limit_bytes = limit_bytes;
  scanner->offset = 0;
  scanner->problem = NULL;
  tide_wire_walk_begin(&scanner->walk);
}

TideWireStatus
tide_message_scanner_feed(TideMessageScanner *scanner, TideBytes begun)
{
  TideWireReader reader;
  tide_wire_reader_init_partial(&reader, scanner->protocol, begun, scanner->limit_bytes);
  if (scanner->offset == 0) { /* the head is short: a few bytes are read again at the most */
    TideWireMessage message;
    if (tide_wire_read_message(&reader, &message))
      scanner->offset = reader.offset;
  }
  if (reader.status == TIDE_WIRE_OK) {
    reader.offset = scanner->offset;
    (void)tide_wire_walk(&scanner->walk, &reader);
    scanner->offset = reader.offset;
  }
  if (reader.status == TIDE_WIRE_BAD) {
    scanner->offset = reader.problem_offset;
    scanner->problem = reader.problem;
  }
  return reader.status;
}
