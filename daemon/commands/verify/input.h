/* Where the messages come from that tables are compared with: topics, or files. */
#pragma once

#include "kafka/kafka_topic_reader.h"

G_BEGIN_DECLS

typedef struct TideVerifyInput {
  /* As tide_topic_reader_read() and tide_topic_reader_refresh(). */
  gboolean (*read)(gpointer data, const GArray *parts, const GArray *spans, TideTopicFunc func, gpointer func_data,
                   GError **error);
  gboolean (*refresh)(gpointer data, GArray *parts, GError **error);
  gpointer data; /* of both */
} TideVerifyInput;

G_END_DECLS
