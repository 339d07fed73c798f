#include "kafka/kafka_rouse.h"

#include "kafka/kafka_client.h"
#include "util/clock.h"

#define ASK_INTERVAL_US TIDE_US_PER_S
#define ASK_MS 500

/* Each try makes a client and ends it. */
#define TRY_INTERVAL_US (10 * TIDE_US_PER_S)
#define TRY_MS 2000

/* An error that a broker reports is an answer; librdkafka's own errors are below this. */
#define IS_ANSWER(result) ((result) > RD_KAFKA_RESP_ERR__END)

static gboolean
coordinator_answers(const TideKafkaRouse *rouse)
{
  rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
  rd_kafka_topic_partition_list_add(list, rouse->config->topics[0], 0);
  rd_kafka_resp_err_t result = rd_kafka_committed(rouse->refill->kafka, list, ASK_MS);
  rd_kafka_topic_partition_list_destroy(list);
  return IS_ANSWER(result);
}

gboolean
tide_kafka_rouse(TideKafkaRouse *rouse, gint64 now_us)
{
  if (atomic_exchange_explicit(&rouse->is_wanted, FALSE, memory_order_acquire)) {
    rouse->is_asking = TRUE;
    rouse->tried_us = rouse->unanswered_us = 0;
  } else if (now_us - rouse->asked_us < ASK_INTERVAL_US)
    return TRUE;
  rouse->asked_us = now_us;
  tide_kafka_refill_wake(rouse->refill);
  if (coordinator_answers(rouse)) {
    rouse->is_asking = FALSE;
    return TRUE;
  }
  if (rouse->tried_us > 0 && now_us - rouse->tried_us < TRY_INTERVAL_US)
    return TRUE;
  rouse->tried_us = now_us;
  if (!tide_kafka_client_try(rouse->config, TRY_MS, NULL))
    rouse->unanswered_us = 0; /* an outage, which ends nothing */
  else if (rouse->unanswered_us == 0)
    rouse->unanswered_us = now_us;
  rouse->is_asking =
      rouse->unanswered_us == 0 || now_us - rouse->unanswered_us < rouse->config->session_timeout_ms * TIDE_US_PER_MS;
  return rouse->is_asking;
}
