/* From a message's bytes to readings. One decoder for each consumer thread. A message is decoded whole or rejected
 * whole.
 *
 * JSON: the message is one object, an array of objects, or objects one after the other (newline-delimited, or with any
 * white space or none between them). All of it is checked against RFC 8259 before a reading is used, UTF-8 and unused
 * values included. One byte order mark in front is skipped. A member becomes a field by its kind:
 *
 *     "text"         STRING   unescaped; \u0000 is a NUL byte
 *     600.550, 1e3   NUMBER   as it was written, whatever its size, up to 64 bytes; "600,55" stays a string
 *     true, false    BOOL     as declared
 *     null           NULL     no text
 *     {...}          its members, their names behind its own name and the separator; none when it is empty
 *     [...]          as declared; within raw JSON names may repeat
 *
 * With options->layout, readings stand somewhere inside (layout.h). `root`: in the member of this name, as one or as a
 * list; what stands beside it is checked only. `each`: where its steps lead to, each of which goes into all items of a
 * list that it meets; what stands around, in front or behind, is a field of each reading, in front of its own, and a
 * fault there is the message's. A member that is not there, or null, is a MISSING_FIELD, unless `on_missing` says
 * otherwise; an empty list is no reading.
 *
 * Names are compared as bytes: none is normalised. A message with one name twice in a reading is rejected, also where
 * two nested names flatten to the same one, a value or an object alike.
 *
 * With TIDE_BAD_READING_ALONE the faults of JSON that leave no doubt where the reading ends are the reading's own:
 * DUPLICATE_FIELD, TOO_MANY_FIELDS, TYPE (a list where there may be none, or what is no reading where `each` leads to)
 * and NUMBER (one too long). The rest of it is
 * then checked as text only, and it comes out as a reading without fields. All others are the message's: what is no
 * JSON or UTF-8, is nested too deeply, or takes too much memory.
 *
 * InfluxDB's line protocol, comma-separated values, MessagePack, Avro and protobuf: influx_lines.c, csv_lines.c,
 * msgpack_walk.c, avro_walk.c and protobuf_walk.c say what becomes of a message.
 *
 * What the record offers ("$key", "$topic", "$partition", "$offset", "$timestamp", "$header.NAME") is appended to each
 * reading where the configuration names it; there the message itself may not have a field so named. Keys and headers
 * are taken as bytes, UTF-8 or not. */
#pragma once

#include "decode/decode_options.h"
#include "model/message.h"
#include "model/reading.h"
#include "model/reject.h"

G_BEGIN_DECLS

typedef struct TideDecoder TideDecoder;

/* @names: the thread's own copy, borrowed; its first @n_known names are those that the configuration uses.
 * @options: borrowed. */
TideDecoder *tide_decoder_new(const TideDecodeOptions *options, TideFieldNames *names, guint32 n_known);
void tide_decoder_free(TideDecoder *decoder);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideDecoder, tide_decoder_free)

/**
 * tide_decoder_decode: the readings of @message, in their order. Event times are not filled in yet.
 * @ret_readings: valid until the next call, whatever becomes of @message
 * Returns: FALSE with @ret_reject filled (first fault found); with the reason NONE, nothing is known to be wrong, but
 * its schema is awaited, and the message is to be decoded later. An empty array is zero readings, not a fault. The
 * fault's field is valid until the next call. Threads: the owner's only. Allocates: only to grow its scratch memory,
 * which it keeps. The options bound it: a copy and an index of 5 bytes for each byte of the message, 40 for each field,
 * 40 and 4 for each known name for each reading, flattened names of at most four times max_message_bytes; and what
 * doubling adds to each.
 */
gboolean tide_decoder_decode(TideDecoder *decoder, const TideMessage *message, TideReading **ret_readings,
                             guint32 *ret_n_readings, TideReject *ret_reject) G_GNUC_WARN_UNUSED_RESULT;

/* Where @text, of a field of @value, which was decoded last, stands in it; -1: nowhere, as it was made of what stands
 * there: unescaped, say, or in other digits. For a decoder without known names, and values without a byte order mark.
 */
gint64 tide_decoder_place(const TideDecoder *decoder, TideBytes value, TideBytes text);

/* After a decode that returned TRUE: the faults of single readings, at most one each, in their order; never that of a
 * message's only reading, which rejects the message. Valid until the next decode. */
const TideReject *tide_decoder_rejects(const TideDecoder *decoder, guint32 *ret_n_rejects);

G_END_DECLS
