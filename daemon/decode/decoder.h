/* Decodes a message's bytes into readings. Each consumer thread has its own decoder. Either all readings of a message
 * are decoded or the message is rejected.
 *
 * JSON: the message is one object, an array of objects, or objects one after the other (newline-delimited, or with any
 * or no white space between them). The whole text is checked against RFC 8259 before a reading is used, including
 * UTF-8 and unused values. One leading byte order mark is skipped. A member becomes a field by its kind:
 *
 *     "text"         STRING   unescaped; \u0000 is a NUL byte
 *     600.550, 1e3   NUMBER   as written, of any size, up to 64 bytes; "600,55" remains a string
 *     true, false    BOOL     as declared
 *     null           NULL     no text
 *     {...}          its members, named by its own name, the separator and theirs; none if it is empty
 *     [...]          as declared; within raw JSON names may repeat
 *
 * With options->layout, the readings are inside the message (layout.h). `root` names the member that contains them, as
 * one object or a list; the values beside it are only checked. `each` has the steps to the readings; each step enters
 * all items of a list. Values around the readings, before or after them, become fields of each reading, before its own
 * fields; a fault in them is the message's. An absent or null member is a MISSING_FIELD, unless `on_missing` is set
 * otherwise; an empty list produces no readings.
 *
 * Names are compared as bytes, without normalisation. If a name occurs twice in a reading, the message is rejected.
 * This also applies to two nested names with the same flattened name, whether value or object.
 *
 * With TIDE_BAD_READING_ALONE a fault of JSON is the reading's own if the end of the reading is certain:
 * DUPLICATE_FIELD, TOO_MANY_FIELDS, TYPE (a list that is not allowed, or a value that is no reading at the end of
 * `each`) and NUMBER (too long). The rest of that reading is then only checked as text, and it is returned without
 * fields. All other faults are the message's: no valid JSON or UTF-8, too deep nesting, or too much memory.
 *
 * Other formats: influx_lines.c, csv_lines.c, msgpack_walk.c, avro_walk.c and protobuf_walk.c describe the fields of
 * their messages.
 *
 * The record's fields ("$key", "$topic", "$partition", "$offset", "$timestamp", "$header.NAME") are appended to each
 * reading if the configuration uses them; then the message itself may not have a field with such a name. Keys and
 * headers are bytes, which need not be UTF-8. */
#pragma once

#include "decode/decode_options.h"
#include "model/message.h"
#include "model/reading.h"
#include "model/reject.h"

G_BEGIN_DECLS

typedef struct TideDecoder TideDecoder;

/* @names: the thread's own copy, borrowed; the configuration uses its first @n_known names.
 * @options: borrowed. */
TideDecoder *tide_decoder_new(const TideDecodeOptions *options, TideFieldNames *names, guint32 n_known);
void tide_decoder_free(TideDecoder *decoder);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideDecoder, tide_decoder_free)

/**
 * tide_decoder_decode: decode the readings of @message, in their order. Event times are filled in later.
 * @ret_readings: valid until the next call, also after @message is gone
 * Returns: FALSE with @ret_reject filled (first fault found). With the reason NONE no fault is known, but the schema
 * has been requested: decode the message again later. An empty array is zero readings, not a fault. The fault's field
 * is valid until the next call. Threads: the owner's only. Allocates: only to grow its scratch memory, which it keeps.
 * The options limit it: a copy and an index of 5 bytes for each byte of the message, 40 for each field, 40 and 4 for
 * each known name for each reading, flattened names of at most four times max_message_bytes; and the extra room from
 * doubling.
 */
gboolean tide_decoder_decode(TideDecoder *decoder, const TideMessage *message, TideReading **ret_readings,
                             guint32 *ret_n_readings, TideReject *ret_reject) G_GNUC_WARN_UNUSED_RESULT;

/* The offset of @text in @value, which was decoded last and has @text in one of its fields; -1: @text is not a part of
 * it, but was built, for example by unescaping. For a decoder without known names, and values without a byte order
 * mark. */
gint64 tide_decoder_place(const TideDecoder *decoder, TideBytes value, TideBytes text);

/* After a decode that returned TRUE: the faults of single readings, at most one each, in their order. The fault of a
 * message's only reading rejects the message and is not here. Valid until the next decode. */
const TideReject *tide_decoder_rejects(const TideDecoder *decoder, guint32 *ret_n_rejects);

G_END_DECLS
