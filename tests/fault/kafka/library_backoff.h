/* Whether librdkafka polls a full prefetch queue often enough by itself, so that it needs no wake-up. */
#pragma once

#include "kafka/kafka_library.h"

#include <glib.h>

G_BEGIN_DECLS

/* TRUE: it does, and the test is skipped. */
static inline gboolean
skip_where_librdkafka_looks_by_itself(void)
{
  const TideKafkaLibrary library = tide_kafka_library();
  if (!tide_kafka_library_can(&library, TIDE_KAFKA_QUEUE_BACKOFF))
    return FALSE;
  g_test_skip("this librdkafka looks often by itself");
  return TRUE;
}

G_END_DECLS
