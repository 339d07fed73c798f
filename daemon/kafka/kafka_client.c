#include "kafka/kafka_client.h"

#include "config/topic_pattern.h"
#include "kafka/kafka_error.h"
#include "util/error.h"
#include "util/lock.h"

struct TideKafkaClient {
  rd_kafka_t *kafka;   /* owned */
  const char *brokers; /* borrowed from the configuration */
  TideMutex lock;
  char *fault; /* owned; under lock: the first fault that librdkafka reported of a broker */
};

/* Called from the thread that waits for an answer, or from one of librdkafka's. */
static void
note_fault(rd_kafka_t *kafka, int code, const char *reason, void *opaque)
{
  TideKafkaClient *client = opaque;
  /* "All brokers down" only summarises earlier reports. */
  if (code == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN)
    return;
  tide_mutex_lock(&client->lock);
  if (client->fault == NULL)
    client->fault = tide_kafka_error_explain(kafka, reason);
  tide_mutex_unlock(&client->lock);
}

/* @conf: (transfer full) (nullable): NULL with @error set */
static TideKafkaClient *
new_client(const TideKafkaConfig *config, rd_kafka_conf_t *conf, gboolean is_quiet, GError **error)
{
  if (conf == NULL)
    return NULL;
  g_autoptr(TideKafkaClient) client = g_new0(TideKafkaClient, 1);
  client->brokers = config->brokers;
  tide_mutex_init(&client->lock);
  /* note_fault() receives what matters; other log lines would mix with the command's output. */
  if (is_quiet) {
    rd_kafka_conf_set_log_cb(conf, NULL);
    rd_kafka_conf_set_error_cb(conf, note_fault);
    rd_kafka_conf_set_opaque(conf, client);
  }
  client->kafka = tide_kafka_conf_connect(RD_KAFKA_CONSUMER, conf, error);
  return client->kafka != NULL ? g_steal_pointer(&client) : NULL;
}

TideKafkaClient *
tide_kafka_client_new(const TideKafkaConfig *config, const char *group, const TideKafkaSetting *settings,
                      GError **error)
{
  return new_client(config, tide_kafka_conf_new_bystander(config, group, settings, error), TRUE, error);
}

TideKafkaClient *
tide_kafka_client_new_originals(const TideKafkaConfig *config, GError **error)
{
  return new_client(config, tide_kafka_conf_new_originals(config, error), FALSE, error);
}

void
tide_kafka_client_free(TideKafkaClient *client)
{
  if (client == NULL)
    return;
  if (client->kafka != NULL)
    rd_kafka_destroy(client->kafka);
  tide_mutex_clear(&client->lock);
  g_free(client->fault);
  g_free(client);
}

rd_kafka_t *
tide_kafka_client_handle(TideKafkaClient *client)
{
  return client->kafka;
}

const struct rd_kafka_metadata *
tide_kafka_client_ask(TideKafkaClient *client, int timeout_ms, GError **error)
{
  const struct rd_kafka_metadata *metadata = NULL;
  rd_kafka_resp_err_t result = rd_kafka_metadata(client->kafka, 1, NULL, &metadata, timeout_ms);
  if (result == RD_KAFKA_RESP_ERR_NO_ERROR)
    return metadata;
  tide_kafka_client_set_error(client, result, error);
  return NULL;
}

rd_kafka_resp_err_t
tide_kafka_client_ask_by_name(TideKafkaClient *client, const char *topic, int timeout_ms)
{
  const struct rd_kafka_metadata *metadata = NULL;
  rd_kafka_topic_t *handle = rd_kafka_topic_new(client->kafka, topic, NULL);
  if (handle == NULL)
    return rd_kafka_last_error();
  rd_kafka_resp_err_t result = rd_kafka_metadata(client->kafka, 0, handle, &metadata, timeout_ms);
  if (result == RD_KAFKA_RESP_ERR_NO_ERROR) {
    result = metadata->topic_cnt > 0 ? metadata->topics[0].err : RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART;
    rd_kafka_metadata_destroy(metadata);
  }
  rd_kafka_topic_destroy(handle);
  return result;
}

/* Whether @list has a partition of a topic that @wanted names or matches. */
static gboolean
has_topic(const rd_kafka_topic_partition_list_t *list, const char *wanted)
{
  gboolean is_listed = FALSE;
  for (int i = 0; i < list->cnt && !is_listed; i++)
    is_listed = tide_topic_pattern_matches(wanted, list->elems[i].topic);
  return is_listed;
}

rd_kafka_topic_partition_list_t *
tide_kafka_client_list(TideKafkaClient *client, const TideKafkaConfig *config, char *const *topics, gboolean must_match,
                       int timeout_ms, GError **error)
{
  const struct rd_kafka_metadata *metadata = tide_kafka_client_ask(client, timeout_ms, error);
  if (metadata == NULL)
    return NULL;
  g_autoptr(rd_kafka_topic_partition_list_t) list = tide_kafka_list_partitions(metadata, topics);
  rd_kafka_metadata_destroy(metadata);
  for (; *topics != NULL; topics++) {
    gboolean is_pattern = **topics == '^';
    if ((is_pattern && !must_match) || has_topic(list, *topics))
      continue;
    g_autofree char *absent =
        tide_kafka_acl_hint_absent(config, TIDE_KAFKA_ACL_READ, *topics,
                                   is_pattern ? RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART
                                              : tide_kafka_client_ask_by_name(client, *topics, timeout_ms));
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_NOT_FOUND, "topic '%s' %s", *topics, absent);
    return NULL;
  }
  return g_steal_pointer(&list);
}

/* Uses a client of its own. */
static const struct rd_kafka_metadata *
ask_once(const TideKafkaConfig *config, int timeout_ms, GError **error)
{
  g_autoptr(TideKafkaClient) client = tide_kafka_client_new(config, NULL, NULL, error);
  return client != NULL ? tide_kafka_client_ask(client, timeout_ms, error) : NULL;
}

gboolean
tide_kafka_client_try(const TideKafkaConfig *config, int timeout_ms, GError **error)
{
  const struct rd_kafka_metadata *metadata = ask_once(config, timeout_ms, error);
  if (metadata != NULL)
    rd_kafka_metadata_destroy(metadata);
  return metadata != NULL;
}

gboolean
tide_kafka_client_find_topic(const TideKafkaConfig *config, const char *topic, int timeout_ms, GError **error)
{
  const struct rd_kafka_metadata *metadata = ask_once(config, timeout_ms, error);
  gboolean is_there = FALSE;
  if (metadata == NULL)
    return FALSE;
  for (int i = 0; i < metadata->topic_cnt; i++)
    is_there |= strcmp(metadata->topics[i].topic, topic) == 0 &&
                metadata->topics[i].err != RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART;
  rd_kafka_metadata_destroy(metadata);
  if (!is_there)
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_UNAVAILABLE,
                "the topic '%s' does not exist at '%s', or this user may not see it: create it, for example with "
                "'kafka-topics.sh --create', or name another topic; nothing was sent to it",
                topic, config->brokers);
  return is_there;
}

void
tide_kafka_client_set_error(TideKafkaClient *client, rd_kafka_resp_err_t result, GError **error)
{
  rd_kafka_poll(client->kafka, 0); /* runs the error callback */
  tide_mutex_lock(&client->lock);
  g_autofree char *fault = g_strdup(client->fault);
  tide_mutex_unlock(&client->lock);
  if (fault == NULL && result == RD_KAFKA_RESP_ERR__TRANSPORT) /* 2.16 reports no more if a port expects TLS */
    fault = g_strdup_printf("%s: check the addresses, and that 'security.protocol' is the protocol of their ports",
                            rd_kafka_err2str(result));
  g_set_error(error, TIDE_ERROR, TIDE_ERROR_KAFKA, "no answer from '%s': %s", client->brokers,
              fault != NULL ? fault : rd_kafka_err2str(result));
}

/* ---- lists of partitions ---- */

rd_kafka_resp_err_t
tide_kafka_ask_offsets(rd_kafka_t *kafka, rd_kafka_topic_partition_list_t *list, gint64 time_ms, int timeout_ms)
{
  for (int i = 0; i < list->cnt; i++)
    list->elems[i].offset = time_ms;
  return list->cnt > 0 ? rd_kafka_offsets_for_times(kafka, list, timeout_ms) : RD_KAFKA_RESP_ERR_NO_ERROR;
}

rd_kafka_resp_err_t
tide_kafka_first_error(rd_kafka_resp_err_t result, const rd_kafka_topic_partition_list_t *list)
{
  for (int i = 0; result == RD_KAFKA_RESP_ERR_NO_ERROR && i < list->cnt; i++)
    result = list->elems[i].err;
  return result;
}

rd_kafka_topic_partition_list_t *
tide_kafka_list_partitions(const struct rd_kafka_metadata *metadata, char *const *topics)
{
  rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(16);
  for (int i = 0; i < metadata->topic_cnt; i++) {
    const struct rd_kafka_metadata_topic *topic = &metadata->topics[i];
    gboolean is_wanted =
        topic->err == RD_KAFKA_RESP_ERR_NO_ERROR && tide_topic_pattern_any_matches(topics, topic->topic);
    for (int k = 0; is_wanted && k < topic->partition_cnt; k++)
      rd_kafka_topic_partition_list_add(list, topic->topic, topic->partitions[k].id);
  }
  return list;
}

/* ---- messages ---- */

static gboolean
find_header(const TideMessage *message, const char *name, TideBytes *ret_value)
{
  rd_kafka_headers_t *headers;
  const void *value;
  size_t size;
  if (rd_kafka_message_headers(message->headers, &headers) != RD_KAFKA_RESP_ERR_NO_ERROR ||
      rd_kafka_header_get_last(headers, name, &value, &size) != RD_KAFKA_RESP_ERR_NO_ERROR || value == NULL)
    return FALSE;
  *ret_value = tide_bytes(value, size);
  return TRUE;
}

static gboolean
header_at(const TideMessage *message, gsize index, TideDeadLetterHeader *ret_header)
{
  rd_kafka_headers_t *headers;
  const char *name;
  const void *value;
  size_t size;
  if (rd_kafka_message_headers(message->headers, &headers) != RD_KAFKA_RESP_ERR_NO_ERROR ||
      rd_kafka_header_get_all(headers, index, &name, &value, &size) != RD_KAFKA_RESP_ERR_NO_ERROR)
    return FALSE;
  *ret_header = (TideDeadLetterHeader){tide_bytes_of_string(name), tide_bytes(value, size), value != NULL};
  return TRUE;
}

TideMessage
tide_kafka_message(const rd_kafka_message_t *raw)
{
  rd_kafka_timestamp_type_t kind;
  gint64 timestamp_ms = rd_kafka_message_timestamp(raw, &kind);
  return (TideMessage){
      .topic = tide_bytes_of_string(rd_kafka_topic_name(raw->rkt)),
      .partition = raw->partition,
      .offset = raw->offset,
      .timestamp_ms = kind == RD_KAFKA_TIMESTAMP_NOT_AVAILABLE ? -1 : timestamp_ms,
      .is_append_time = kind == RD_KAFKA_TIMESTAMP_LOG_APPEND_TIME,
      .key = tide_bytes(raw->key, raw->key_len),
      .has_key = raw->key != NULL,
      .value = tide_bytes(raw->payload, raw->len),
      .has_value = raw->payload != NULL,
      .find_header = find_header,
      .header_at = header_at,
      .headers = raw,
  };
}
