#include "kafka/kafka_preflight.h"

#include "config/tables_mark.h"
#include "config/topic_pattern.h"
#include "kafka/group_offsets.h"
#include "kafka/kafka_client.h"
#include "kafka/kafka_error.h"
#include "util/clock.h"

/* A dead letter is the message and headers with the reason, which have some kilobytes at most. */
#define HEADER_BYTES (64 * 1024)

/* An operator needs time to check dead letters: a shorter retention may end within a weekend. */
#define SHORT_RETENTION_MS (G_GINT64_CONSTANT(3) * 24 * 3600 * 1000)

static void
add_sentence(GString *text, const char *sentence)
{
  g_string_append_printf(text, "%s%s", text->len > 0 ? "; " : "", sentence);
}

char *
tide_dead_letter_topic_judge(const TideTopicSettings *dead_letters, const TideTopicSettings *topics, guint n_topics,
                             gboolean *ret_is_problem)
{
  *ret_is_problem = FALSE;
  if (!dead_letters->is_known)
    return NULL;
  GString *text = g_string_new(NULL);
  const TideTopicSettings *largest = NULL;
  for (guint i = 0; i < n_topics; i++)
    if (topics[i].is_known && (largest == NULL || topics[i].max_message_bytes > largest->max_message_bytes))
      largest = &topics[i];
  if (largest != NULL && dead_letters->max_message_bytes < largest->max_message_bytes + HEADER_BYTES) {
    *ret_is_problem = dead_letters->max_message_bytes < largest->max_message_bytes;
    g_autofree char *sentence = g_strdup_printf(
        "it accepts messages of %" G_GINT64_FORMAT " bytes, but '%s' has some of up to %" G_GINT64_FORMAT
        ", and a dead letter that is too large halts its partition: set max.message.bytes to %" G_GINT64_FORMAT,
        dead_letters->max_message_bytes, largest->name, largest->max_message_bytes,
        largest->max_message_bytes + HEADER_BYTES);
    add_sentence(text, sentence);
  }
  if (dead_letters->is_compacted) {
    *ret_is_problem = TRUE;
    add_sentence(text, "it is compacted, so only the newest dead letter of each key is kept: set "
                       "cleanup.policy=delete");
  }
  if (dead_letters->retention_ms >= 0 && dead_letters->retention_ms < SHORT_RETENTION_MS) {
    g_autofree char *sentence = g_strdup_printf("dead letters are deleted after %" G_GINT64_FORMAT
                                                " minutes: raise retention.ms, to leave time to check them",
                                                dead_letters->retention_ms / 60000);
    add_sentence(text, sentence);
  }
  return g_string_free(text, text->len == 0);
}

/* Maximum number of topics of a pattern to read from, one partition each. Permissions depend on names, and mostly one
 * rule covers those of a pattern. */
#define MAX_TRIED 64

typedef struct Looking {
  const TideConfig *config; /* borrowed */
  TideKafkaClient *client;  /* borrowed */
  rd_kafka_t *kafka;        /* borrowed from it */
  gint64 timeout_ms;
  TideKafkaPreflight *look;
  rd_kafka_topic_partition_list_t *tried; /* borrowed: partitions to read from; opaque: their TideSeenTopic */
} Looking;

/* ---- which topics there are ---- */

static void
set_fault(TideSeenTopic *topic, char *fault)
{
  if (topic->fault == NULL)
    topic->fault = fault;
  else
    g_free(fault);
}

static char *
describe_fault(const Looking *it, const char *name, rd_kafka_resp_err_t code)
{
  if (code == RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED)
    return tide_kafka_acl_hint(&it->config->kafka, TIDE_KAFKA_ACL_READ, name);
  return g_strdup_printf("'%s' cannot be read: %s", name, rd_kafka_err2str(code));
}

static void
add_match(Looking *it, TideSeenTopic *topic, const struct rd_kafka_metadata_topic *present)
{
  if (present->err == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART)
    return;
  topic->n_topics++;
  topic->n_partitions += (guint)present->partition_cnt;
  if (present->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
    set_fault(topic, describe_fault(it, present->topic, present->err));
    return;
  }
  if (it->tried->cnt >= MAX_TRIED || present->partition_cnt == 0)
    return;
  rd_kafka_topic_partition_t *one =
      rd_kafka_topic_partition_list_add(it->tried, present->topic, present->partitions[0].id);
  one->offset = RD_KAFKA_OFFSET_TAIL(1); /* if it is empty, its end is an answer, too */
  one->opaque = topic;
}

/* The list of all topics omits those that this user may not describe. Asked by name, brokers distinguish the two.
 * (transfer full) */
static char *
explain_absence(Looking *it, TideKafkaAcl right, const char *name)
{
  return tide_kafka_acl_hint_absent(&it->config->kafka, right, name,
                                    tide_kafka_client_ask_by_name(it->client, name, (int)it->timeout_ms));
}

static gboolean
ask_for_topics(Looking *it, GError **error)
{
  const char *dead_letters = it->config->dead_letters.topic;
  gboolean has_dead_letters = FALSE;
  const struct rd_kafka_metadata *metadata = tide_kafka_client_ask(it->client, (int)it->timeout_ms, error);
  if (metadata == NULL)
    return FALSE;
  for (int i = 0; i < metadata->broker_cnt; i++) {
    TideSeenBroker *broker = g_new0(TideSeenBroker, 1);
    broker->host = g_strdup(metadata->brokers[i].host);
    broker->port = (guint16)metadata->brokers[i].port;
    g_ptr_array_add(it->look->brokers, broker);
  }
  for (char **wanted = it->config->kafka.topics; *wanted != NULL; wanted++) {
    TideSeenTopic *topic = g_new0(TideSeenTopic, 1);
    topic->name = g_strdup(*wanted);
    g_ptr_array_add(it->look->topics, topic);
    for (int i = 0; i < metadata->topic_cnt; i++)
      if (tide_topic_pattern_matches(*wanted, metadata->topics[i].topic))
        add_match(it, topic, &metadata->topics[i]);
  }
  for (int i = 0; i < metadata->topic_cnt; i++)
    has_dead_letters |= g_strcmp0(metadata->topics[i].topic, dead_letters) == 0 &&
                        metadata->topics[i].err == RD_KAFKA_RESP_ERR_NO_ERROR;
  rd_kafka_metadata_destroy(metadata);
  for (guint i = 0; i < it->look->topics->len; i++) {
    TideSeenTopic *topic = it->look->topics->pdata[i];
    if (topic->n_topics == 0 && topic->name[0] != '^')
      set_fault(topic, explain_absence(it, TIDE_KAFKA_ACL_READ, topic->name));
  }
  if (dead_letters != NULL && !has_dead_letters)
    it->look->dead_letters_fault = explain_absence(it, TIDE_KAFKA_ACL_WRITE, dead_letters);
  return TRUE;
}

/* ---- whether they can be read ---- */

/* Handles the answer for its partition, which is not asked again. */
static void
take_answer(Looking *it, const rd_kafka_message_t *message)
{
  const char *name = message->rkt != NULL ? rd_kafka_topic_name(message->rkt) : "";
  rd_kafka_topic_partition_t *one = rd_kafka_topic_partition_list_find(it->tried, name, message->partition);
  if (one == NULL)
    return;
  if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
    TideSeenTopic *topic = one->opaque;
    topic->ahead_ms = MAX(topic->ahead_ms, rd_kafka_message_timestamp(message, NULL) - tide_wall_clock_epoch_ms());
  } else if (message->err == RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET) /* only its text has the cause */
    set_fault(one->opaque, g_strdup_printf("'%s' cannot be read: %s", name, rd_kafka_message_errstr(message)));
  else if (message->err != RD_KAFKA_RESP_ERR__PARTITION_EOF)
    set_fault(one->opaque, describe_fault(it, name, message->err));
  rd_kafka_topic_partition_list_del(it->tried, name, message->partition);
}

/* Reads the newest message of each partition in it->tried. */
static void
try_to_read(Looking *it)
{
  gint64 deadline_us = tide_now_us() + it->timeout_ms * TIDE_US_PER_MS, left_us;
  if (it->tried->cnt == 0 || rd_kafka_assign(it->kafka, it->tried) != RD_KAFKA_RESP_ERR_NO_ERROR)
    return;
  while (it->tried->cnt > 0 && (left_us = deadline_us - tide_now_us()) > 0) {
    rd_kafka_message_t *message = rd_kafka_consumer_poll(it->kafka, (int)(left_us / TIDE_US_PER_MS) + 1);
    if (message == NULL)
      continue;
    take_answer(it, message);
    rd_kafka_message_destroy(message);
  }
  for (int i = 0; i < it->tried->cnt; i++)
    set_fault(it->tried->elems[i].opaque,
              g_strdup_printf("'%s' partition %d did not answer within %" G_GINT64_FORMAT
                              " ms: check that it has a leader and that this host can reach it",
                              it->tried->elems[i].topic, it->tried->elems[i].partition, it->timeout_ms));
  (void)rd_kafka_assign(it->kafka, NULL);
}

/* ---- the group ---- */

/* Asks for the committed offset of the first partition in it->tried, as the daemon will. */
static void
ask_for_offsets(Looking *it)
{
  if (it->tried->cnt == 0)
    return;
  g_autoptr(rd_kafka_topic_partition_list_t) list = rd_kafka_topic_partition_list_new(1);
  rd_kafka_topic_partition_list_add(list, it->tried->elems[0].topic, it->tried->elems[0].partition);
  rd_kafka_resp_err_t result = tide_kafka_first_error(rd_kafka_committed(it->kafka, list, (int)it->timeout_ms), list);
  gboolean is_denied = result == RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED;
  /* Without the right to ask for the group's coordinator, librdkafka retries in vain and puts the cause in the queue.
   */
  rd_kafka_message_t *message;
  while (!is_denied && result == RD_KAFKA_RESP_ERR__TIMED_OUT &&
         (message = rd_kafka_consumer_poll(it->kafka, 0)) != NULL) {
    is_denied = message->err == RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED;
    rd_kafka_message_destroy(message);
  }
  if (is_denied)
    it->look->group_fault = tide_kafka_acl_hint(&it->config->kafka, TIDE_KAFKA_ACL_GROUP, it->config->kafka.group);
  else if (result != RD_KAFKA_RESP_ERR_NO_ERROR && result != RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED)
    it->look->group_fault = g_strdup_printf("its committed offsets are unavailable: %s", rd_kafka_err2str(result));
}

static void
ask_for_members(Looking *it)
{
  guint n;
  g_autoptr(GArray) members = tide_kafka_group_describe(it->kafka, it->config->kafka.group, (int)it->timeout_ms, NULL);
  if (members != NULL)
    it->look->strangers = tide_kafka_group_strangers(members, &it->config->kafka, &n);
  it->look->tables_mark = tide_config_tables_mark(it->config);
  it->look->other_tables =
      tide_kafka_group_other_tables(it->kafka, &it->config->kafka, it->look->tables_mark, (int)it->timeout_ms);
}

/* ---- settings of topics ---- */

/* The answer has the order of the question. A setting that it leaves out stays unknown. */
static void
take_settings(GArray *settings, const rd_kafka_DescribeConfigs_result_t *result)
{
  size_t n_resources, n_entries;
  const rd_kafka_ConfigResource_t **resources = rd_kafka_DescribeConfigs_result_resources(result, &n_resources);
  for (size_t i = 0; i < n_resources && i < settings->len; i++) {
    TideTopicSettings *its = &g_array_index(settings, TideTopicSettings, i);
    const rd_kafka_ConfigEntry_t **entries = rd_kafka_ConfigResource_configs(resources[i], &n_entries);
    its->is_known = rd_kafka_ConfigResource_error(resources[i]) == RD_KAFKA_RESP_ERR_NO_ERROR && n_entries > 0;
    for (size_t k = 0; k < n_entries; k++) {
      const char *name = rd_kafka_ConfigEntry_name(entries[k]);
      const char *value = rd_kafka_ConfigEntry_value(entries[k]);
      if (value != NULL && strcmp(name, "max.message.bytes") == 0)
        its->max_message_bytes = g_ascii_strtoll(value, NULL, 10);
      else if (value != NULL && strcmp(name, "retention.ms") == 0)
        its->retention_ms = g_ascii_strtoll(value, NULL, 10);
      else if (value != NULL && strcmp(name, "cleanup.policy") == 0)
        its->is_compacted = strstr(value, "compact") != NULL;
    }
  }
}

/* Asks for the settings of the dead-letter topic and of the input topics that are named; those of patterns are not
 * asked. */
static void
ask_for_settings(Looking *it)
{
  GArray *settings = it->look->settings;
  TideTopicSettings dead_letters = {.name = it->config->dead_letters.topic, .retention_ms = -1};
  if (it->config->dead_letters.topic == NULL || it->look->dead_letters_fault != NULL)
    return;
  g_array_append_val(settings, dead_letters);
  for (char **topic = it->config->kafka.topics; *topic != NULL; topic++) {
    TideTopicSettings unknown = {.name = *topic, .retention_ms = -1};
    if (**topic != '^')
      g_array_append_val(settings, unknown);
  }
  g_autofree rd_kafka_ConfigResource_t **resources = g_new0(rd_kafka_ConfigResource_t *, settings->len);
  for (guint i = 0; i < settings->len; i++)
    resources[i] =
        rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, g_array_index(settings, TideTopicSettings, i).name);
  char reason[256];
  rd_kafka_AdminOptions_t *options = rd_kafka_AdminOptions_new(it->kafka, RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS);
  (void)rd_kafka_AdminOptions_set_request_timeout(options, (int)it->timeout_ms, reason, sizeof reason);
  rd_kafka_queue_t *queue = rd_kafka_queue_new(it->kafka);
  rd_kafka_DescribeConfigs(it->kafka, resources, settings->len, options, queue);
  rd_kafka_event_t *event = rd_kafka_queue_poll(queue, (int)it->timeout_ms + 1000);
  const rd_kafka_DescribeConfigs_result_t *result = rd_kafka_event_DescribeConfigs_result(event);
  if (result != NULL && rd_kafka_event_error(event) == RD_KAFKA_RESP_ERR_NO_ERROR)
    take_settings(settings, result);
  if (event != NULL)
    rd_kafka_event_destroy(event);
  rd_kafka_queue_destroy(queue);
  rd_kafka_AdminOptions_destroy(options);
  rd_kafka_ConfigResource_destroy_array(resources, settings->len);
}

/* ---- the whole check ---- */

static void
free_seen_topic(gpointer data)
{
  TideSeenTopic *topic = data;
  g_free(topic->name);
  g_free(topic->fault);
  g_free(topic);
}

static void
free_seen_broker(gpointer data)
{
  TideSeenBroker *broker = data;
  g_free(broker->host);
  g_free(broker);
}

TideKafkaPreflight *
tide_kafka_preflight(const TideConfig *config, gint64 timeout_ms, GError **error)
{
  /* The client may ask for the group's offsets, and reads partitions that are assigned manually. */
  static const TideKafkaSetting settings[] = {
      {"auto.offset.reset", "error"},
      {"fetch.wait.max.ms", "10"},
      {NULL},
  };
  g_autoptr(TideKafkaClient) client = tide_kafka_client_new(&config->kafka, config->kafka.group, settings, error);
  if (client == NULL)
    return NULL;
  g_autoptr(TideKafkaPreflight) look = g_new0(TideKafkaPreflight, 1);
  look->brokers = g_ptr_array_new_with_free_func(free_seen_broker);
  look->topics = g_ptr_array_new_with_free_func(free_seen_topic);
  look->settings = g_array_new(FALSE, FALSE, sizeof(TideTopicSettings));
  g_autoptr(rd_kafka_topic_partition_list_t) tried = rd_kafka_topic_partition_list_new(8);
  Looking it = {.config = config,
                .client = client,
                .kafka = tide_kafka_client_handle(client),
                .timeout_ms = timeout_ms,
                .look = look,
                .tried = tried};
  if (!ask_for_topics(&it, error))
    return NULL;
  ask_for_offsets(&it);
  ask_for_members(&it);
  try_to_read(&it);
  ask_for_settings(&it);
  return g_steal_pointer(&look);
}

void
tide_kafka_preflight_free(TideKafkaPreflight *look)
{
  if (look == NULL)
    return;
  g_clear_pointer(&look->brokers, g_ptr_array_unref);
  g_clear_pointer(&look->topics, g_ptr_array_unref);
  g_clear_pointer(&look->settings, g_array_unref);
  g_free(look->group_fault);
  g_free(look->strangers);
  g_free(look->dead_letters_fault);
  g_free(look);
}
