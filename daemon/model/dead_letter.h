/* A dead letter: a message, or one reading of it, that can never be written, kept byte for byte as it came, with the
 * reason. Plain data; dead_letters/dead_letter_queue.h keeps dead letters, `tidemark dead-letters` lists and replays
 * them.
 *
 * In a Kafka topic a dead letter is a record with the original key, value and headers, and behind them one header for
 * each member below, by the names given there. A reader takes the last header of a name, so an original that was itself
 * a dead letter does no harm. In a file it is one line of JSON: dead_letters/dead_letter_json.h. */
#pragma once

#include "util/bytes.h"

G_BEGIN_DECLS

/* Names of the added headers. Numbers are decimal text. */
#define TIDE_DEAD_LETTER_HEADER_REASON "tidemark-reason"
#define TIDE_DEAD_LETTER_HEADER_TEXT "tidemark-text"
#define TIDE_DEAD_LETTER_HEADER_TOPIC "tidemark-topic"
#define TIDE_DEAD_LETTER_HEADER_PARTITION "tidemark-partition"
#define TIDE_DEAD_LETTER_HEADER_OFFSET "tidemark-offset"
#define TIDE_DEAD_LETTER_HEADER_TIMESTAMP                                                                              \
  "tidemark-timestamp" /* the original record's, ms since the epoch; absent: it had none */
#define TIDE_DEAD_LETTER_HEADER_SOURCE "tidemark-source" /* absent where the configuration has no `sources` */
#define TIDE_DEAD_LETTER_HEADER_TABLE "tidemark-table"   /* absent where the message was rejected before it had rows */
#define TIDE_DEAD_LETTER_HEADER_ROW_KEY "tidemark-row-key" /* hex; absent likewise */
#define TIDE_DEAD_LETTER_HEADER_READING                                                                                \
  "tidemark-reading" /* its place in the message, from 0; absent: all of the message                                   \
                      */
#define TIDE_DEAD_LETTER_HEADER_ATTEMPTS "tidemark-attempts" /* calls that tried to write the row; 0: none */
#define TIDE_DEAD_LETTER_HEADER_VERSION "tidemark-version"   /* of the program */
#define TIDE_DEAD_LETTER_HEADER_ORIGINAL                                                                               \
  "tidemark-original" /* "gone": the value is the row in JSON, see value below                                         \
                       */

/* The reason of a message that was written and refused; others are tide_reject_reason_name(). */
#define TIDE_DEAD_LETTER_REASON_REFUSED "refused_by_hbase"

typedef struct TideDeadLetterHeader {
  TideBytes name;
  TideBytes value;
  gboolean has_value; /* FALSE: the header's value is null */
} TideDeadLetterHeader;

/* All borrowed from whoever owns the dead letter's memory. */
typedef struct TideDeadLetter {
  /* the original record */
  TideBytes topic;
  gint32 partition;
  gint64 offset;
  gint64 timestamp_ms; /* -1: it has none */
  TideBytes key;
  gboolean has_key;
  TideBytes value; /* with original_is_gone: {"row_key":HEX,"cells":[{"family":…,"qualifier":…,"timestamp_ms":…,
                    * "value":BASE64}, …]}, names in HEX */
  gboolean has_value;
  const TideDeadLetterHeader *headers; /* the original's, in their order */
  guint32 n_headers;
  /* why */
  gboolean original_is_gone; /* no more in the topic when it was to be read again */
  TideBytes reason;          /* a name without spaces, see above */
  TideBytes text;            /* a sentence for people, control bytes escaped */
  TideBytes source;          /* the name of the topic's; empty: it has none */
  TideBytes table;           /* empty: it made no rows */
  TideBytes row_key;         /* empty likewise */
  gint32 reading_index;      /* -1: the whole message */
  guint32 attempts;
  TideBytes version;
} TideDeadLetter;

G_END_DECLS
