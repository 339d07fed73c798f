/* One record as Kafka delivered it; everything is borrowed and valid until the next poll. */
#pragma once

#include "model/dead_letter.h"

G_BEGIN_DECLS

typedef struct TideMessage TideMessage;

struct TideMessage {
  TideBytes topic;
  gint32 partition;
  gint64 offset;
  gint64 timestamp_ms;     /* record time (create or append time); -1: none */
  gboolean is_append_time; /* from the broker's clock, not the sender's */
  TideBytes key;           /* empty if absent */
  gboolean has_key;
  TideBytes value;
  gboolean has_value; /* FALSE: a tombstone */
  /* Finds the last header called @name. NULL: no headers. */
  gboolean (*find_header)(const TideMessage *message, const char *name, TideBytes *ret_value);
  /* Header @index, in the record's order; FALSE: after the last. NULL: no headers. */
  gboolean (*header_at)(const TideMessage *message, gsize index, TideDeadLetterHeader *ret_header);
  gconstpointer headers; /* for find_header and header_at */
};

G_END_DECLS
