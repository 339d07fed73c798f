/* Reads Thrift's binary and compact encodings from untrusted bytes.
 *
 * Every length and count is checked against the bytes that can still follow before it is used. A repeated field in a
 * struct, an unknown type and nesting deeper than TIDE_WIRE_DEPTH_MAX are rejected. Nothing is allocated: strings are
 * borrowed from the bytes. The first problem persists: every later read returns FALSE, 0 or empty bytes, so a caller
 * reads a whole structure and then calls tide_wire_reader_check() once.
 *
 * The reader works on a whole message (limit_bytes == len: missing bytes are an error), and on the beginning of one
 * that is still arriving, where TIDE_WIRE_SHORT means "valid so far" (TideMessageScanner). */
#pragma once

#include "thrift/wire/wire.h"

G_BEGIN_DECLS

/* The deepest reply of THBaseService nests 5 levels; the Java gateway itself refuses more than 64. */
#define TIDE_WIRE_DEPTH_MAX 32

typedef enum TideWireStatus {
  TIDE_WIRE_OK,
  TIDE_WIRE_SHORT, /* the bytes end before the value */
  TIDE_WIRE_BAD,   /* no continuation could make these bytes valid */
} TideWireStatus;

typedef struct TideWireReader {
  const guint8 *data; /* borrowed */
  gsize len;
  gsize offset;
  gsize limit_bytes; /* the maximum that len can still grow to */
  TideWireProtocol protocol;
  guint8 bool_in_header; /* compact: a bool field's value is part of its header; 0 none, else the type id 1 or 2 */
  TideWireStatus status;
  const char *problem; /* string literal; NULL while status is OK */
  gsize problem_offset;
} TideWireReader;

typedef enum TideMessageType {
  TIDE_MESSAGE_CALL = 1,
  TIDE_MESSAGE_REPLY = 2,
  TIDE_MESSAGE_EXCEPTION = 3,
  TIDE_MESSAGE_ONEWAY = 4,
} TideMessageType;

typedef struct TideWireMessage {
  TideMessageType type;
  TideBytes name;
  gint32 sequence_id;
} TideWireMessage;

/* Start each struct with a zeroed one: it holds the last field's id and the ids already seen. */
typedef struct TideWireField {
  gint16 id;
  TideWireType type;
  guint64 seen; /* bit i: field i was read; ids of 64 and more are not tracked */
} TideWireField;

/* A list or set; for a map, element_type is the values'. */
typedef struct TideWireContainer {
  TideWireType key_type;
  TideWireType element_type;
  guint32 count;
} TideWireContainer;

void tide_wire_reader_init(TideWireReader *reader, TideWireProtocol protocol, TideBytes whole);
/* For bytes that may still grow up to @limit_bytes. */
void tide_wire_reader_init_partial(TideWireReader *reader, TideWireProtocol protocol, TideBytes begun,
                                   gsize limit_bytes);

/* Marks the reader as failed; @problem: string literal. A no-op when it has failed already. */
void tide_wire_reader_fail(TideWireReader *reader, const char *problem);

/* FALSE and TIDE_ERROR_PROTOCOL when anything failed. @what: the object read, as in "the reply of 'get'". */
gboolean tide_wire_reader_check(const TideWireReader *reader, const char *what,
                                GError **error) G_GNUC_WARN_UNUSED_RESULT;

gboolean tide_wire_read_message(TideWireReader *reader, TideWireMessage *ret_message);

/* Reads the next field of a struct. FALSE at the struct's end, and on failure. */
gboolean tide_wire_read_field(TideWireReader *reader, TideWireField *field);

/* TRUE when @field is of type @wanted; otherwise skips it, as Thrift requires of a reader that expects another type. */
gboolean tide_wire_field_is(TideWireReader *reader, const TideWireField *field, TideWireType wanted);

gboolean tide_wire_read_bool(TideWireReader *reader);
gint8 tide_wire_read_byte(TideWireReader *reader);
gint16 tide_wire_read_i16(TideWireReader *reader);
gint32 tide_wire_read_i32(TideWireReader *reader);
gint64 tide_wire_read_i64(TideWireReader *reader);
TideBytes tide_wire_read_string(TideWireReader *reader); /* borrowed */

/* FALSE on failure; the caller then reads @count elements (pairs). */
gboolean tide_wire_read_list(TideWireReader *reader, TideWireContainer *ret_list);
gboolean tide_wire_read_map(TideWireReader *reader, TideWireContainer *ret_map);

/* As read_list, but every element must be of type @wanted (an empty list may have any type). */
gboolean tide_wire_read_list_of(TideWireReader *reader, TideWireType wanted, guint32 *ret_count);

/* Skips a value of @type. */
void tide_wire_skip(TideWireReader *reader, TideWireType type);

/* State of a walk over a value without recursion, so that it can be suspended when the bytes run out. */
typedef struct TideWireWalkLevel {
  TideWireType container; /* STRUCT, LIST or MAP */
  TideWireType key_type;
  TideWireType element_type;
  guint64 left;        /* remaining elements; a map counts keys and values */
  TideWireField field; /* of a struct */
} TideWireWalkLevel;

typedef struct TideWireWalk {
  guint depth;
  TideWireWalkLevel levels[TIDE_WIRE_DEPTH_MAX];
} TideWireWalk;

/* Finds the end of a message in bytes that are still arriving. An unframed reply has no length: it ends with its
 * outermost struct. The scanner keeps its position, so each byte of a reply is visited once, however small the
 * pieces. */
typedef struct TideMessageScanner {
  TideWireProtocol protocol;
  gsize limit_bytes; /* no message is longer */
  gsize offset;      /* everything before it was scanned */
  TideWireWalk walk;
  const char *problem; /* after TIDE_WIRE_BAD: the problem at offset; string literal */
} TideMessageScanner;

void tide_message_scanner_init(TideMessageScanner *scanner, TideWireProtocol protocol, gsize limit_bytes);

/* @begun: the message from its first byte on, as far as received. OK: it ends at scanner->offset. SHORT: more bytes are
 * needed. BAD: these bytes cannot start a message. */
TideWireStatus tide_message_scanner_feed(TideMessageScanner *scanner, TideBytes begun);

G_END_DECLS
