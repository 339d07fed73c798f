/* Finds the end of a Thrift message in bytes that are still arriving.
 *
 * An unframed reply does not say how long it is: its end is where its outermost struct ends. The scanner walks over
 * what has come and keeps its place, so a reply of any size is looked at once, however small the pieces. Of a framed
 * connection the first reply goes through it too: what passes is of the service that was wanted. So do all that other
 * decoders than reply_reader.h read: only well formed bytes reach them. */
#pragma once

#include "thrift/wire/wire_reader.h"

G_BEGIN_DECLS

typedef struct TideMessageScanner {
  TideWireProtocol protocol;
  gsize limit_bytes; /* no message is longer */
  gsize offset;      /* everything before it was looked at */
  TideWireWalk walk;
  const char *problem; /* after TIDE_WIRE_BAD: what is wrong at offset; string literal */
} TideMessageScanner;

void tide_message_scanner_init(TideMessageScanner *scanner, TideWireProtocol protocol, gsize limit_bytes);

/* @begun: the message from its first byte on, as much as has come. OK: it ends at scanner->offset. SHORT: more is
 * needed. BAD: these bytes begin no message. */
TideWireStatus tide_message_scanner_feed(TideMessageScanner *scanner, TideBytes begun);

G_END_DECLS
