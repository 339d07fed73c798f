/* A dead letter: a message, or one reading of it, that can never be written, kept byte for byte with the reason. Plain
 * data; dead_letters/dead_letter_queue.h keeps dead letters, `tidemark dead-letters` lists and replays them.
 *
 * In a Kafka topic a dead letter is a record with the original key, value and headers, followed by one header for each
 * member below, with the names given there. The last header of a name counts, so the original may itself be a dead
 * letter. In a file it is one line of JSON: dead_letters/dead_letter_json.h. */
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
  "tidemark-timestamp"                                   /* of the original record, ms since the epoch; absent: none */
#define TIDE_DEAD_LETTER_HEADER_SOURCE "tidemark-source" /* absent if the configuration has no `sources` */
#define TIDE_DEAD_LETTER_HEADER_TABLE "tidemark-table"   /* absent if the message was rejected before it had rows */
#define TIDE_DEAD_LETTER_HEADER_ROW_KEY "tidemark-row-key" /* hex; absent likewise */
#define TIDE_DEAD_LETTER_HEADER_READING                                                                                \
  "tidemark-reading" /* its place in the message, from 0; absent: all of the message                                   \
                      */
#define TIDE_DEAD_LETTER_HEADER_ATTEMPTS "tidemark-attempts" /* calls that tried to write the row; 0: none */
#define TIDE_DEAD_LETTER_HEADER_VERSION "tidemark-version"   /* of the program */
#define TIDE_DEAD_LETTER_HEADER_ORIGINAL                                                                               \
  "tidemark-original" /* "gone": the value is the row in JSON, see value below                                         \
                       */

/* The reason of a message that HBase refused; the other reasons are tide_reject_reason_name(). */
#define TIDE_DEAD_LETTER_REASON_REFUSED "refused_by_hbase"

typedef struct TideDeadLetterHeader {
  TideBytes name;
  TideBytes value;
  gboolean has_value; /* FALSE: the header's value is null */
} TideDeadLetterHeader;

/* Everything is borrowed from the owner of the dead letter's memory. */
typedef struct TideDeadLetter {
  /* the original record */
  TideBytes topic;
  gint32 partition;
  gint64 offset;
  gint64 timestamp_ms; /* -1: none */
  TideBytes key;
  gboolean has_key;
  TideBytes value; /* with original_is_gone: {"row_key":HEX,"cells":[{"family":…,"qualifier":…,"timestamp_ms":…,
                    * "value":BASE64}, …]}, names in HEX */
  gboolean has_value;
  const TideDeadLetterHeader *headers; /* of the original, in order */
  guint32 n_headers;
  /* why */
  gboolean original_is_gone; /* it was no longer in the topic when it was to be read again */
  TideBytes reason;          /* a name without spaces, see above */
  TideBytes text;            /* a sentence for people, control bytes escaped */
  TideBytes source;          /* the name of the topic's source; empty: none */
  TideBytes table;           /* empty: it had no rows */
  TideBytes row_key;         /* empty likewise */
  gint32 reading_index;      /* -1: the whole message */
  guint32 attempts;
  TideBytes version;
} TideDeadLetter;

G_END_DECLS
