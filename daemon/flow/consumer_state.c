/* What others may see of a consumer: written by its thread now and then, read by any. */
#include "flow/consumer_private.h"

void
tide_consumer_show(TideConsumer *consumer, gint64 now_us)
{
  consumer->shown_us = now_us;
  guint32 paused = 0;
  guint64 in_flight = 0;
  for (guint i = 0; i < consumer->partitions->len; i++) {
    TidePartition *partition = tide_consumer_partition(consumer, (guint16)i);
    if (!partition->assigned)
      continue;
    tide_partition_show(partition);
    paused += partition->is_paused ? 1 : 0;
    in_flight += partition->offsets.unfinished;
  }
  atomic_store_explicit(&consumer->paused, paused, memory_order_relaxed);
  atomic_store_explicit(&consumer->in_flight, in_flight, memory_order_relaxed);
  atomic_store_explicit(&consumer->oldest_us, tide_open_lanes_oldest_us(consumer->open_lanes), memory_order_relaxed);
}

void
tide_consumer_publish_assigned(TideConsumer *consumer)
{
  guint32 n = 0;
  for (guint i = 0; i < consumer->partitions->len; i++)
    n += tide_consumer_partition(consumer, (guint16)i)->assigned ? 1 : 0;
  atomic_store_explicit(&consumer->assigned, n, memory_order_relaxed);
}

void
tide_consumer_publish_trouble(TideConsumer *consumer, const char *text)
{
  tide_mutex_lock(&consumer->lock);
  g_free(consumer->trouble_text);
  consumer->trouble_text = g_strdup(text);
  tide_mutex_unlock(&consumer->lock);
}

TideConsumerState
tide_consumer_state_racy(const TideConsumer *consumer)
{
  return (TideConsumerState){
      .last_round_us = atomic_load_explicit(&consumer->last_round_us, memory_order_relaxed),
      .assigned = atomic_load_explicit(&consumer->assigned, memory_order_relaxed),
      .held = atomic_load_explicit(&consumer->held, memory_order_relaxed),
      .paused = atomic_load_explicit(&consumer->paused, memory_order_relaxed),
      .in_flight = atomic_load_explicit(&consumer->in_flight, memory_order_relaxed),
      .oldest_us = atomic_load_explicit(&consumer->oldest_us, memory_order_relaxed),
      .had_assignment = atomic_load_explicit(&consumer->had_assignment, memory_order_relaxed),
      .finished = atomic_load_explicit(&consumer->finished, memory_order_relaxed),
      .left_work = atomic_load_explicit(&consumer->left_work, memory_order_relaxed),
      .fatal = atomic_load_explicit(&consumer->fatal, memory_order_acquire),
      .denied = atomic_load_explicit(&consumer->denied, memory_order_relaxed),
  };
}

char *
tide_consumer_held_text(TideConsumer *consumer)
{
  tide_mutex_lock(&consumer->lock);
  char *text = g_strdup(consumer->held_text);
  tide_mutex_unlock(&consumer->lock);
  return text;
}

char *
tide_consumer_trouble_text(TideConsumer *consumer)
{
  tide_mutex_lock(&consumer->lock);
  char *text = g_strdup(consumer->trouble_text);
  tide_mutex_unlock(&consumer->lock);
  return text;
}
