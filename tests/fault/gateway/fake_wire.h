/* The gateway's side of the two Thrift protocols, deliberately not shared with thrift/, so that independent code reads
 * what the daemon sends.
 *
 * The reader pulls bytes as it needs them, as a server on an unframed socket must. Errors are sticky: after the first,
 * every read returns nothing and `failed` says why, so that the callers stay straight. Lengths, counts and nesting are
 * bounded. One thread at a time uses a reader or a writer. */
#pragma once

#include "util/bytes.h"

G_BEGIN_DECLS

/* Type ids as the binary protocol writes them; compact ones are translated. */
typedef enum TideFakeType {
  TIDE_FAKE_STOP = 0,
  TIDE_FAKE_BOOL = 2,
  TIDE_FAKE_BYTE = 3,
  TIDE_FAKE_DOUBLE = 4,
  TIDE_FAKE_I16 = 6,
  TIDE_FAKE_I32 = 8,
  TIDE_FAKE_I64 = 10,
  TIDE_FAKE_BINARY = 11,
  TIDE_FAKE_STRUCT = 12,
  TIDE_FAKE_MAP = 13,
  TIDE_FAKE_SET = 14,
  TIDE_FAKE_LIST = 15,
} TideFakeType;

typedef enum TideFakeMessageType {
  TIDE_FAKE_CALL = 1,
  TIDE_FAKE_REPLY = 2,
  TIDE_FAKE_EXCEPTION = 3,
  TIDE_FAKE_ONEWAY = 4,
} TideFakeMessageType;

#define TIDE_FAKE_MAX_DEPTH 16 /* THBaseService nests 5 deep; more is not its client */

/* Waits for bytes: their number, 0 at the end of the stream, -1 on an error or when the connection is to be
 * dropped. */
typedef gssize (*TideFakeReadFunc)(gpointer data, guint8 *bytes, gsize len);

typedef struct TideFakeReader {
  TideFakeReadFunc read; /* set once */
  gpointer data;
  gboolean framed;
  gboolean compact;
  gsize frame_limit_bytes;   /* a longer frame fails the reader */
  gsize message_limit_bytes; /* so does a longer message */

  guint8 *input; /* owned; bytes received and not yet read are [at, end) */
  gsize at;
  gsize end;
  gsize message_bytes;   /* of the message under way, without the frame's length */
  gsize frame_left;      /* when framed */
  TideBuffer frame;      /* owned; when framed: what was read of it */
  GStringChunk *strings; /* owned; of the message under way */
  TideBuffer scratch;

  gint16 last_field[TIDE_FAKE_MAX_DEPTH];
  guint depth;
  int pending_bool; /* compact keeps a bool's value in the field header: 0, 1, or -1 for none */
  gboolean failed;
  gboolean lost;      /* failed because the stream ended or broke, not for what it said */
  gboolean at_end;    /* the stream ended between two messages: no error */
  const char *reason; /* static text; NULL until failed */
} TideFakeReader;

typedef struct TideFakeField {
  gint16 id;
  TideFakeType type;
  gboolean has_begun;
} TideFakeField;

typedef struct TideFakeMessage {
  const char *name; /* the reader's, until the next message */
  TideFakeMessageType type;
  gint32 sequence_id;
} TideFakeMessage;

void fake_reader_init(TideFakeReader *reader, gboolean framed, gboolean compact, TideFakeReadFunc read, gpointer data);
void fake_reader_clear(TideFakeReader *reader);

/* Waits for the next message's head. FALSE at the end of the stream (at_end) and on errors (failed). */
gboolean fake_reader_message_begin(TideFakeReader *reader, TideFakeMessage *ret_message) G_GNUC_WARN_UNUSED_RESULT;
/* Drops what is left of the frame. FALSE when the message was broken. */
gboolean fake_reader_message_end(TideFakeReader *reader) G_GNUC_WARN_UNUSED_RESULT;

/* The next field of a struct, which a zeroed @field enters. FALSE at its stop byte, where it is left, and on errors. */
gboolean fake_reader_field(TideFakeReader *reader, TideFakeField *field);
gboolean fake_reader_bool(TideFakeReader *reader);
gint16 fake_reader_i16(TideFakeReader *reader);
gint32 fake_reader_i32(TideFakeReader *reader);
gint64 fake_reader_i64(TideFakeReader *reader);
TideBytes fake_reader_binary(TideFakeReader *reader);   /* the reader's, until the next message */
const char *fake_reader_string(TideFakeReader *reader); /* the same with a NUL behind it */
/* Number of elements of a list or set; 0 on errors. */
guint32 fake_reader_list(TideFakeReader *reader, TideFakeType *ret_element);
guint32 fake_reader_map(TideFakeReader *reader, TideFakeType *ret_key, TideFakeType *ret_value);
void fake_reader_skip(TideFakeReader *reader, TideFakeType type);
void fake_reader_fail(TideFakeReader *reader, const char *reason);
/* Reads and drops @len raw bytes of the stream, whatever they are. */
void fake_reader_drop(TideFakeReader *reader, gsize len);

typedef struct TideFakeWriter {
  gboolean framed;
  gboolean compact;
  TideBuffer out; /* owned; the whole message, with its frame */
  gint16 last_field[TIDE_FAKE_MAX_DEPTH];
  guint depth;
} TideFakeWriter;

void fake_writer_init(TideFakeWriter *writer, gboolean framed, gboolean compact);
void fake_writer_clear(TideFakeWriter *writer);

/* A message is begin, one struct, end; begin forgets what was written before. */
void fake_writer_message_begin(TideFakeWriter *writer, const char *name, TideFakeMessageType type, gint32 sequence_id);
void fake_writer_message_end(TideFakeWriter *writer);

void fake_writer_struct_begin(TideFakeWriter *writer);
void fake_writer_struct_end(TideFakeWriter *writer); /* writes the stop byte */
void fake_writer_bool_field(TideFakeWriter *writer, gint16 id, gboolean value);
void fake_writer_byte_field(TideFakeWriter *writer, gint16 id, gint8 value);
void fake_writer_i16_field(TideFakeWriter *writer, gint16 id, gint16 value);
void fake_writer_i32_field(TideFakeWriter *writer, gint16 id, gint32 value);
void fake_writer_i64_field(TideFakeWriter *writer, gint16 id, gint64 value);
void fake_writer_binary_field(TideFakeWriter *writer, gint16 id, TideBytes value);
void fake_writer_string_field(TideFakeWriter *writer, gint16 id, const char *value);
void fake_writer_struct_field(TideFakeWriter *writer, gint16 id); /* then struct_begin … struct_end */
void fake_writer_list_field(TideFakeWriter *writer, gint16 id, TideFakeType element, guint32 n);
void fake_writer_map_field(TideFakeWriter *writer, gint16 id, TideFakeType key, TideFakeType value, guint32 n);
/* Elements of lists and maps. */
void fake_writer_i32(TideFakeWriter *writer, gint32 value);
void fake_writer_binary(TideFakeWriter *writer, TideBytes value);

G_END_DECLS
