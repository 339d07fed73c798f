/* What each format of messages is, in one row: all that other rooms ask of a format stands here. */
#pragma once

#include "decode/decode_options.h"

G_BEGIN_DECLS

/* Where a message ends in a file. */
typedef enum TideMessageEnd {
  TIDE_ENDS_WITH_LINE = 1, /* a text: its line does, where no quotes are open */
  TIDE_ENDS_BY_ITSELF,     /* its own bytes say how long it is */
  TIDE_ENDS_BY_LENGTH,     /* a length stands in front of it */
  TIDE_ENDS_IN_CONTAINER,  /* the file is of a form of its own, with a head */
} TideMessageEnd;

/* Options that not every format takes. */
typedef enum TideFormatOptions {
  TIDE_TAKES_STRUCTURE = 1 << 0, /* where readings are, separator, arrays, max_depth: its messages have objects and lists */
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
  const TideFormatReader *reader; /* NULL: this program was built without it */
  TideMessageEnd end;
  guint takes;                 /* of TideFormatOptions */
  gboolean has_own_time;       /* readings carry a field of their time */
  gboolean lines_are_readings; /* each line is one, which has nothing to do with the others */
  gboolean spaces_are_blank;   /* of lines: one with nothing but spaces is none */
  char comment;                /* of lines: one that begins with it is none; 0: there is no such */
} TideFormat;

extern const TideFormat tide_formats[]; /* of TIDE_N_FORMATS */

/* The fields that a line of the format influx has beside its tags and its own fields. */
#define TIDE_INFLUX_MEASUREMENT "measurement"
#define TIDE_INFLUX_TIME "time"

/* Whether @byte may stand between values of the format csv: ASCII, none that numbers, words, quotes or line breaks are
 * made of. */
gboolean tide_csv_is_delimiter(char byte);

/* Whether this build has what @format is read by. */
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
