#include "kafka/kafka_wakeup.h"

#include "kafka/kafka_client.h"
#include "util/clock.h"

#include <stdlib.h>

/* ---- refill: a queue that was full ---- */

/* The question wakes our thread for a broker even if it does not answer in this time. */
#define QUESTION_MS 10

/* After a question, no other is asked for this many times its duration. */
#define SHARE_OF_TIME 4

static guint64
number_of(const rd_kafka_conf_t *conf, const char *name)
{
  char text[32];
  size_t size = sizeof text;
  return rd_kafka_conf_get(conf, name, text, &size) == RD_KAFKA_CONF_OK ? strtoull(text, NULL, 10) : 0;
}

void
tide_kafka_refill_init(TideKafkaRefill *refill, rd_kafka_t *kafka, rd_kafka_queue_t *queue,
                       const rd_kafka_topic_partition_list_t *partitions)
{
  const rd_kafka_conf_t *conf = rd_kafka_conf(kafka);
  *refill = (TideKafkaRefill){.kafka = kafka,
                              .queue = queue,
                              .partitions = partitions,
                              .half_bytes = G_MAXUINT64,
                              .half_messages = G_MAXUINT64};
  if (number_of(conf, "fetch.queue.backoff.ms") > 0)
    return;
  refill->half_bytes = 1024 * number_of(conf, "queued.max.messages.kbytes") / 2;
  refill->half_messages = number_of(conf, "queued.min.messages") / 2;
}

/* Wakes librdkafka's main thread and those of the brokers that lead the partitions, by a question to each. */
static void
wake(const TideKafkaRefill *refill)
{
  g_autoptr(rd_kafka_topic_partition_list_t) partitions =
      refill->partitions != NULL ? rd_kafka_topic_partition_list_copy(refill->partitions) : NULL;
  if (partitions != NULL || rd_kafka_assignment(refill->kafka, &partitions) == RD_KAFKA_RESP_ERR_NO_ERROR)
    (void)tide_kafka_ask_offsets(refill->kafka, partitions, RD_KAFKA_OFFSET_END, QUESTION_MS);
}

void
tide_kafka_refill_ask(TideKafkaRefill *refill)
{
  gint64 begin_us = tide_now_us();
  if (begin_us < refill->not_before_us)
    return;
  wake(refill);
  refill->n_questions++;
  refill->n_bytes = refill->n_messages = 0;
  gint64 end_us = tide_now_us();
  refill->not_before_us = end_us + SHARE_OF_TIME * (end_us - begin_us);
}

int
tide_kafka_refill_wait_ms(TideKafkaRefill *refill, int timeout_ms)
{
  if (timeout_ms == 0 || refill->n_messages == 0 || rd_kafka_queue_length(refill->queue) > 0)
    return timeout_ms;
  if (tide_kafka_refill_is_due(refill)) {
    tide_kafka_refill_ask(refill);
    return refill->n_messages > 0 ? MIN(timeout_ms, QUESTION_MS) : timeout_ms;
  }
  /* After a full queue, more would have been taken before it was empty: librdkafka is fetching. */
  refill->n_bytes = refill->n_messages = 0;
  return timeout_ms;
}

/* ---- rouse: the wall clock was set back ---- */

#define ASK_INTERVAL_US TIDE_US_PER_S
#define ASK_MS 500

/* Each try creates a client and ends it. */
#define TRY_INTERVAL_US (10 * TIDE_US_PER_S)
#define TRY_MS 2000

/* An error that a broker reports is an answer; librdkafka's own errors are below this. */
#define IS_ANSWER(result) ((result) > RD_KAFKA_RESP_ERR__END)

gboolean
tide_kafka_rouse(TideKafkaRouse *rouse, gint64 now_us)
{
  if (atomic_exchange_explicit(&rouse->is_wanted, FALSE, memory_order_acquire)) {
    rouse->is_asking = TRUE;
    rouse->tried_us = rouse->unanswered_us = 0;
  } else if (now_us - rouse->asked_us < ASK_INTERVAL_US)
    return TRUE;
  rouse->asked_us = now_us;
  wake(rouse->refill);
  g_autoptr(rd_kafka_topic_partition_list_t) list = rd_kafka_topic_partition_list_new(1);
  rd_kafka_topic_partition_list_add(list, rouse->config->topics[0], 0);
  if (IS_ANSWER(rd_kafka_committed(rouse->refill->kafka, list, ASK_MS))) {
    rouse->is_asking = FALSE;
    return TRUE;
  }
  if (rouse->tried_us > 0 && now_us - rouse->tried_us < TRY_INTERVAL_US)
    return TRUE;
  rouse->tried_us = now_us;
  if (!tide_kafka_client_try(rouse->config, TRY_MS, NULL))
    rouse->unanswered_us = 0; /* an outage, which is not counted */
  else if (rouse->unanswered_us == 0)
    rouse->unanswered_us = now_us;
  rouse->is_asking =
      rouse->unanswered_us == 0 || now_us - rouse->unanswered_us < rouse->config->session_timeout_ms * TIDE_US_PER_MS;
  return rouse->is_asking;
}
