/* Pausing: why a consumer's partitions are not fetched, and which stand still until an operator acts. */
#include "flow/consumer_private.h"
#include "util/clock.h"

/* librdkafka throws prefetched messages away at a pause, and keeps a little memory of each: a partition changes no more
 * than once a second, whatever the reasons. */
#define PAUSE_INTERVAL_US TIDE_US_PER_S

/* Tells librdkafka when "any reason to pause" has changed, as soon as it may be told. */
static void
apply_pause(TideConsumer *consumer, TidePartition *partition, gint64 now_us)
{
  gboolean should = partition->pause_reasons != 0;
  if (!partition->assigned || should == partition->is_paused)
    return;
  if (now_us - partition->pause_changed_us < PAUSE_INTERVAL_US) {
    consumer->pauses_wait = TRUE;
    return;
  }
  partition->pause_changed_us = now_us;
  partition->is_paused = should;
  tide_counter_inc(should ? consumer->pauses : consumer->resumes);
  if (should)
    tide_kafka_source_pause(consumer->source, partition->slot);
  else
    tide_kafka_source_resume(consumer->source, partition->slot);
}

static void
apply_waiting_pauses(TideConsumer *consumer, gint64 now_us)
{
  consumer->pauses_wait = consumer->span_waits = FALSE;
  for (guint i = 0; i < consumer->partitions->len; i++)
    apply_pause(consumer, tide_consumer_partition(consumer, (guint16)i), now_us);
}

void
tide_consumer_set_pause(TideConsumer *consumer, TidePartition *partition, TidePauseReason reason, gboolean on)
{
  guint before = partition->pause_reasons;
  partition->pause_reasons = on ? before | reason : before & ~(guint)reason;
  if (partition->pause_reasons != before)
    apply_pause(consumer, partition, tide_now_us());
}

void
tide_consumer_heed_budget(TideConsumer *consumer, gint64 now_us)
{
  if (consumer->pauses_wait)
    apply_waiting_pauses(consumer, now_us);
  gboolean should = consumer->memory_paused ? !tide_budget_has_room_racy(consumer->context.budget)
                                            : tide_budget_is_spent_racy(consumer->context.budget);
  if (should == consumer->memory_paused || (!should && now_us - consumer->pause_changed_us < PAUSE_INTERVAL_US))
    return;
  consumer->memory_paused = should;
  consumer->pause_changed_us = now_us;
  for (guint i = 0; i < consumer->partitions->len; i++)
    tide_consumer_set_pause(consumer, tide_consumer_partition(consumer, (guint16)i), TIDE_PAUSE_MEMORY, should);
}

void
tide_consumer_heed_crowded_table(TideConsumer *consumer, TidePartition *partition, guint32 crowded)
{
  partition->crowded_table = crowded;
  tide_consumer_set_pause(consumer, partition, TIDE_PAUSE_TABLE, TRUE);
}

void
tide_consumer_heed_tables(TideConsumer *consumer)
{
  for (guint i = 0; i < consumer->partitions->len; i++) {
    TidePartition *partition = tide_consumer_partition(consumer, (guint16)i);
    if (partition->crowded_table == 0 ||
        !tide_budget_has_room_racy(&consumer->context.table_budgets[partition->crowded_table - 1]))
      continue;
    partition->crowded_table = 0;
    tide_consumer_set_pause(consumer, partition, TIDE_PAUSE_TABLE, FALSE);
  }
}

void
tide_consumer_heed_span(TideConsumer *consumer, TidePartition *partition)
{
  guint32 span = tide_partition_span(partition);
  guint32 limit = consumer->context.config->kafka.max_span_messages;
  if (span >= limit) {
    tide_consumer_set_pause(consumer, partition, TIDE_PAUSE_SPAN, TRUE);
    consumer->span_waits |= !partition->is_paused;
  } else if (span <= limit / 2)
    tide_consumer_set_pause(consumer, partition, TIDE_PAUSE_SPAN, FALSE);
}

void
tide_consumer_lift_pauses(TideConsumer *consumer, const guint16 *slots, gsize n_slots)
{
  gint64 now_us = tide_now_us();
  for (gsize i = 0; i < n_slots; i++) {
    TidePartition *partition = tide_consumer_partition(consumer, slots[i]);
    partition->pause_reasons = 0;
    partition->crowded_table = 0;
    partition->pause_changed_us = 0; /* the next assignment is fetched anew anyway */
    apply_pause(consumer, partition, now_us);
    partition->pause_changed_us = 0;
  }
}

/* ---- held partitions ---- */

void
tide_consumer_hold(TideConsumer *consumer, TidePartition *partition, char *text)
{
  g_autofree char *number = g_strdup_printf("%d", partition->partition);
  const TideLogField fields[] = {{"TOPIC", partition->topic}, {"PARTITION", number}};
  tide_log_fields(TIDE_LOG_CRIT, fields, G_N_ELEMENTS(fields), "%s", text);
  g_free(partition->held_text);
  partition->held_text = text;
  tide_consumer_set_pause(consumer, partition, TIDE_PAUSE_HELD, TRUE);
  tide_consumer_status_publish_held(&consumer->status, consumer->partitions);
}
