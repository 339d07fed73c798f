#include "kafka/kafka_probe.h"

#include "config/topic_pattern.h"
#include "kafka/kafka_client.h"

static TideProbedTopic *
find_topic(const char *wanted, const struct rd_kafka_metadata *metadata)
{
  TideProbedTopic *topic = g_new0(TideProbedTopic, 1);
  topic->name = g_strdup(wanted);
  for (int i = 0; i < metadata->topic_cnt; i++) {
    const struct rd_kafka_metadata_topic *present = &metadata->topics[i];
    if (present->err != RD_KAFKA_RESP_ERR_NO_ERROR || !tide_topic_pattern_matches(wanted, present->topic))
      continue;
    topic->n_topics++;
    topic->n_partitions += (guint)present->partition_cnt;
  }
  return topic;
}

static void
free_topic(gpointer data)
{
  TideProbedTopic *topic = data;
  g_free(topic->name);
  g_free(topic);
}

static TideKafkaProbe *
ask(TideKafkaClient *client, const TideKafkaConfig *config, gint64 timeout_ms, GError **error)
{
  const struct rd_kafka_metadata *metadata = NULL;
  rd_kafka_resp_err_t result = rd_kafka_metadata(tide_kafka_client_handle(client), 1, NULL, &metadata, (int)timeout_ms);
  if (result != RD_KAFKA_RESP_ERR_NO_ERROR) {
    tide_kafka_client_set_error(client, result, error);
    return NULL;
  }
  TideKafkaProbe *probe = g_new0(TideKafkaProbe, 1);
  probe->n_brokers = (guint)metadata->broker_cnt;
  probe->topics = g_ptr_array_new_with_free_func(free_topic);
  for (char **topic = config->topics; *topic != NULL; topic++)
    g_ptr_array_add(probe->topics, find_topic(*topic, metadata));
  rd_kafka_metadata_destroy(metadata);
  return probe;
}

TideKafkaProbe *
tide_kafka_probe(const TideKafkaConfig *config, gint64 timeout_ms, GError **error)
{
  g_autoptr(TideKafkaClient) client = tide_kafka_client_new(config, NULL, NULL, error);
  return client != NULL ? ask(client, config, timeout_ms, error) : NULL;
}

void
tide_kafka_probe_free(TideKafkaProbe *probe)
{
  if (probe == NULL)
    return;
  g_ptr_array_unref(probe->topics);
  g_free(probe);
}
