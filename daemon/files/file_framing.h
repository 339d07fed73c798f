/* Finds the boundaries of a file's records, by format.
 *
 * json: one line per record. influx, csv: one line per record; a quoted value may contain line breaks. If such a value
 * does not end correctly, the record ends with its line, so that one broken line does not affect others. msgpack:
 * consecutive values. protobuf: messages, each after its length as a varint (writeDelimitedTo() in Java, protodelim in
 * Go). avro: blocks of one object each after the file's header, as produced by avro_text.h.
 *
 * Pure; threads: any. */
#pragma once

#include "decode/decode_options.h"
#include "util/bytes.h"

G_BEGIN_DECLS

typedef struct TideFileFraming {
  TideReadingFormat format;
  char delimiter;      /* for csv */
  gboolean quotes;     /* for csv */
  gboolean trims;      /* for csv: a quote may follow spaces */
  TideBytes comment;   /* for csv, borrowed: prefix of comment lines; empty: there are no comments */
  gboolean is_grouped; /* for csv: consecutive lines with the same first value are one record: those of a printed row */
  guint32 max_bytes;   /* of a record; a longer line is cut one byte after this, which is enough to reject it */
} TideFileFraming;

TideFileFraming tide_file_framing_of(const TideDecodeOptions *options);

/* TRUE if a record is a line. */
gboolean tide_file_framing_is_of_lines(const TideFileFraming *framing);

typedef struct TideFrame {
  gsize start; /* of the record in the text */
  gsize len;
  gsize end;           /* after everything that belongs to it, such as its line break */
  guint32 n_lines;     /* its number of lines; 1 for formats without lines; 0 for avro's header */
  gboolean is_blank;   /* an empty line or a comment, which is not a record */
  gboolean is_cut;     /* a line longer than max_bytes: the rest, up to its line break, must be dropped */
  gboolean is_unended; /* a last line without a line break */
} TideFrame;

typedef enum TideFrameResult {
  TIDE_FRAME_FOUND,
  TIDE_FRAME_MORE,   /* @text ends before the record */
  TIDE_FRAME_BROKEN, /* the end of the record cannot be found */
} TideFrameResult;

/**
 * tide_file_framing_next: find the record at the beginning of @text.
 * @is_last: nothing follows @text; MORE then means that the file ends within a record.
 * Errors: with BROKEN: DATA, the problem.
 */
TideFrameResult tide_file_framing_next(const TideFileFraming *framing, TideBytes text, gboolean is_last,
                                       TideFrame *ret_frame, GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
