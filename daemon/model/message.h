/* One record as Kafka delivered it; everything borrowed and valid until the next poll. */
#pragma once

#include "model/dead_letter.h"

G_BEGIN_DECLS

typedef struct TideMessage TideMessage;

struct TideMessage {
  TideBytes topic;
  gint32 partition;
  gint64 offset;
  gint64 timestamp_ms;     /* the record's own time (create or append time); -1 when it has none */
  gboolean is_append_time; /* the broker's clock gave it, not the sender's */
  TideBytes key;           /* empty when absent */
  gboolean has_key;
  TideBytes value;
  gboolean has_value; /* FALSE: a tombstone */
  /* The last header called @name; NULL where there are no headers. */
  gboolean (*find_header)(const TideMessage *message, const char *name, TideBytes *ret_value);
  /* Header @index, in the record's order; FALSE behind the last. NULL likewise. */
  gboolean (*header_at)(const TideMessage *message, gsize index, TideDeadLetterHeader *ret_header);
  gconstpointer headers; /* for find_header and header_at */
};

G_END_DECLS
