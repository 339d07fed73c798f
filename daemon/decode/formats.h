/* The table of message formats: one row has every property of a format that other rooms use. */
#pragma once

#include "decode/decode_options.h"

G_BEGIN_DECLS

/* How the end of a message in a file is found. */
typedef enum TideMessageEnd {
  TIDE_ENDS_WITH_LINE = 1, /* a text: at the end of the line, outside quotes */
  TIDE_ENDS_BY_ITSELF,     /* its own bytes contain its length */
  TIDE_ENDS_BY_LENGTH,     /* its length is before it */
  TIDE_ENDS_IN_CONTAINER,  /* the file has its own container format, with a head */
} TideMessageEnd;

/* Groups of options that only some formats accept. */
typedef enum TideFormatOptions {
  TIDE_TAKES_STRUCTURE = 1 << 0, /* root, each, separator, arrays, max_depth: its messages have objects and lists */
  TIDE_TAKES_CSV = 1 << 1,
  TIDE_TAKES_SCHEMA = 1 << 2,
  TIDE_TAKES_REGISTRY = 1 << 3,
  TIDE_TAKES_MESSAGE = 1 << 4,
  TIDE_TAKES_FRAMING = 1 << 5,
  TIDE_TAKES_INFLUX = 1 << 6,
} TideFormatOptions;

/* decode/shaper.h */
typedef struct TideFormatReader TideFormatReader;

typedef struct TideFormat {
  const TideFormatReader *reader; /* NULL: not part of this build */
  TideMessageEnd end;
  guint takes;                 /* of TideFormatOptions */
  gboolean has_own_time;       /* readings have a field with their time */
  gboolean lines_are_readings; /* each line is an independent reading */
  gboolean spaces_are_blank;   /* of lines: one with only spaces is empty */
  char comment;                /* of lines: first byte of comment lines; 0: there are no comments */
} TideFormat;

extern const TideFormat tide_formats[]; /* of TIDE_N_FORMATS */

/* The fields of an influx line other than its tags and its own fields. */
#define TIDE_INFLUX_MEASUREMENT "measurement"
#define TIDE_INFLUX_TIME "time"

/* Whether @byte may be the delimiter of the format csv: ASCII, and no part of numbers, words, quotes or line breaks. */
gboolean tide_csv_is_delimiter(char byte);

/* Whether this build can read @format. */
static inline gboolean
tide_format_is_built_in(TideReadingFormat format)
{
  return tide_formats[format].reader != NULL;
}

static inline const TideFormat *
tide_format_of(const TideDecodeOptions *options)
{
  return &tide_formats[options->format];
}

G_END_DECLS
