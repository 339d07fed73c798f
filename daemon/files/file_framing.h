/* Where a record of a file ends and the next begins, by format.
 *
 * json: a line each. influx, csv: a line each; one with a value in quotes goes on over the line breaks in it. Where
 * such a value does not end as it must, the record ends with its line, so that one broken line takes no other along.
 * msgpack: values one behind the other. protobuf: messages, each behind its length as a varint (writeDelimitedTo() in
 * Java, protodelim in Go). avro: blocks, as avro_text.h makes them: of one object each, behind the file's head.
 *
 * Pure; threads: any. */
#pragma once

#include "decode/decode_options.h"
#include "util/bytes.h"

G_BEGIN_DECLS

typedef struct TideFileFraming {
  TideReadingFormat format;
  char delimiter;      /* of csv */
  gboolean quotes;     /* of csv */
  gboolean trims;      /* of csv: a quote may stand behind spaces */
  TideBytes comment;   /* of csv, borrowed: what a line that is a comment begins with; empty: none is */
  gboolean is_grouped; /* of csv: lines that begin with one value are a record: those of a row that was printed */
  guint32 max_bytes; /* of a record; a longer line is cut behind one byte more, which is enough to be rejected for it */
} TideFileFraming;

TideFileFraming tide_file_framing_of(const TideDecodeOptions *options);

/* Whether a record is a line. */
gboolean tide_file_framing_is_of_lines(const TideFileFraming *framing);

typedef struct TideFrame {
  gsize start; /* of the record in the text */
  gsize len;
  gsize end;         /* behind what belongs to it, as its line break */
  guint32 n_lines;   /* that it takes; 1 where there are no lines; 0 of avro's head */
  gboolean is_blank; /* a line with nothing in it, which is no record; so is a comment */
  gboolean is_cut;   /* a line longer than max_bytes: what is left of it, up to its line break, is to be thrown away */
  gboolean is_unended; /* a last line without a line break */
} TideFrame;

typedef enum TideFrameResult {
  TIDE_FRAME_FOUND,
  TIDE_FRAME_MORE,   /* @text ends before the record does */
  TIDE_FRAME_BROKEN, /* nothing tells where the record ends */
} TideFrameResult;

/**
 * tide_file_framing_next: the record at the beginning of @text.
 * @is_last: nothing follows @text. With MORE the file then ends in the middle of a record.
 * Errors: with BROKEN: DATA, what is wrong.
 */
TideFrameResult tide_file_framing_next(const TideFileFraming *framing, TideBytes text, gboolean is_last,
                                       TideFrame *ret_frame, GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
