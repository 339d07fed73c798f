#include "kafka/kafka_preflight.h"

#include "config/tables_mark.h"
#include "config/topic_pattern.h"
#include "kafka/group_offsets.h"
#include "kafka/kafka_client.h"
#include "kafka/kafka_error.h"
#include "util/clock.h"

/* A dead letter is the message and headers that say why; they have some kilobytes at the most. */
#define HEADER_BYTES (64 * 1024)

/* Somebody has to come and look: below this a weekend is too long. */
#define SHORT_RETENTION_MS (G_GINT64_CONSTANT(3) * 24 * 3600 * 1000)

static const TideTopicSettings *
find_largest(const TideTopicSettings *topics, guint n_topics)
{
  const TideTopicSettings *largest = NULL;
  for (guint i = 0; i < n_topics; i++)
    if (topics[i].is_known && (largest == NULL || topics[i].max_message_bytes > largest->max_message_bytes))
      largest = &topics[i];
  return largest;
}

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
  const TideTopicSettings *largest = find_largest(topics, n_topics);
  if (largest != NULL && dead_letters->max_message_bytes < largest->max_message_bytes + HEADER_BYTES) {
    *ret_is_problem = dead_letters->max_message_bytes < largest->max_message_bytes;
    g_autofree char *sentence = g_strdup_printf(
        "it takes messages of %" G_GINT64_FORMAT " bytes, '%s' has some of up to %" G_GINT64_FORMAT
        ", and a dead letter that is too large halts its partition: set max.message.bytes to %" G_GINT64_FORMAT,
        dead_letters->max_message_bytes, largest->name, largest->max_message_bytes,
        largest->max_message_bytes + HEADER_BYTES);
    add_sentence(text, sentence);
  }
  if (dead_letters->is_compacted) {
    *ret_is_problem = TRUE;
    add_sentence(text, "it is compacted, so that of dead letters with one key only the newest stays: set "
                       "cleanup.policy=delete");
  }
  if (dead_letters->retention_ms >= 0 && dead_letters->retention_ms < SHORT_RETENTION_MS) {
    g_autofree char *sentence = g_strdup_printf("dead letters are gone after %" G_GINT64_FORMAT
                                                " minutes: raise retention.ms, so that somebody can look before",
                                                dead_letters->retention_ms / 60000);
    add_sentence(text, sentence);
  }
  return g_string_free(text, text->len == 0);
}

/* From each of so many topics of a pattern one partition is read: rights go by names, and those of one pattern mostly
 * by one rule. */
#define MAX_TRIED 64

typedef struct Looking {
  const TideConfig *config; /* borrowed */
  TideKafkaClient *client;  /* owned */
  rd_kafka_t *kafka;        /* borrowed from it */
  gint64 timeout_ms;
  TideKafkaPreflight *look;
  rd_kafka_topic_partition_list_t *tried; /* owned: partitions to read from; opaque: their TideSeenTopic */
} Looking;

static gint64
deadline_of(const Looking *it)
{
  return tide_now_us() + it->timeout_ms * TIDE_US_PER_MS;
}

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
  one->offset = RD_KAFKA_OFFSET_TAIL(1); /* of an empty one the end is an answer, too */
  one->opaque = topic;
}

static void
find_topic(Looking *it, const char *wanted, const struct rd_kafka_metadata *metadata)
{
  TideSeenTopic *topic = g_new0(TideSeenTopic, 1);
  topic->name = g_strdup(wanted);
  g_ptr_array_add(it->look->topics, topic);
  for (int i = 0; i < metadata->topic_cnt; i++)
    if (tide_topic_pattern_matches(wanted, metadata->topics[i].topic))
      add_match(it, topic, &metadata->topics[i]);
}

static gboolean
has_topic(const struct rd_kafka_metadata *metadata, const char *name)
{
  for (int i = 0; name != NULL && i < metadata->topic_cnt; i++)
    if (strcmp(metadata->topics[i].topic, name) == 0)
      return metadata->topics[i].err == RD_KAFKA_RESP_ERR_NO_ERROR;
  return FALSE;
}

/* The list of all topics lacks those that this user may not describe: asked by name, brokers tell which it is.
 * (transfer full) */
static char *
explain_absence(Looking *it, TideKafkaAcl right, const char *name)
{
  return tide_kafka_acl_hint_absent(&it->config->kafka, right, name,
                                    tide_kafka_client_ask_by_name(it->client, name, (int)it->timeout_ms));
}

static void
explain_absent_topics(Looking *it)
{
  for (guint i = 0; i < it->look->topics->len; i++) {
    TideSeenTopic *topic = it->look->topics->pdata[i];
    if (topic->n_topics == 0 && topic->name[0] != '^')
      set_fault(topic, explain_absence(it, TIDE_KAFKA_ACL_READ, topic->name));
  }
}

static gboolean
ask_for_topics(Looking *it, GError **error)
{
  const struct rd_kafka_metadata *metadata = tide_kafka_client_ask(it->client, (int)it->timeout_ms, error);
  if (metadata == NULL)
    return FALSE;
  for (int i = 0; i < metadata->broker_cnt; i++) {
    TideSeenBroker *broker = g_new0(TideSeenBroker, 1);
    broker->host = g_strdup(metadata->brokers[i].host);
    broker->port = (guint16)metadata->brokers[i].port;
    g_ptr_array_add(it->look->brokers, broker);
  }
  for (char **topic = it->config->kafka.topics; *topic != NULL; topic++)
    find_topic(it, *topic, metadata);
  const char *dead_letters = it->config->dead_letters.topic;
  gboolean has_dead_letters = has_topic(metadata, dead_letters);
  rd_kafka_metadata_destroy(metadata);
  explain_absent_topics(it);
  if (dead_letters != NULL && !has_dead_letters)
    it->look->dead_letters_fault = explain_absence(it, TIDE_KAFKA_ACL_WRITE, dead_letters);
  return TRUE;
}

/* ---- whether they can be read ---- */

/* Takes the answer for its partition, which is asked no more. */
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
  } else if (message->err == RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET) /* only the message says what failed */
    set_fault(one->opaque, g_strdup_printf("'%s' cannot be read: %s", name, rd_kafka_message_errstr(message)));
  else if (message->err != RD_KAFKA_RESP_ERR__PARTITION_EOF)
    set_fault(one->opaque, describe_fault(it, name, message->err));
  rd_kafka_topic_partition_list_del(it->tried, name, message->partition);
}

/* Reads the newest message of one partition of each. */
static void
try_to_read(Looking *it)
{
  gint64 deadline_us = deadline_of(it), left_us;
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
              g_strdup_printf("'%s' partition %d gave no answer in %" G_GINT64_FORMAT
                              " ms: see that it has a leader, and that this host reaches it",
                              it->tried->elems[i].topic, it->tried->elems[i].partition, it->timeout_ms));
  (void)rd_kafka_assign(it->kafka, NULL);
}

/* ---- the group ---- */

static gboolean
is_denied_coordinator(const Looking *it)
{
  gboolean is_denied = FALSE;
  rd_kafka_message_t *message;
  while (!is_denied && (message = rd_kafka_consumer_poll(it->kafka, 0)) != NULL) {
    is_denied = message->err == RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED;
    rd_kafka_message_destroy(message);
  }
  return is_denied;
}

/* Of the first partition that can be asked for, as the daemon will ask. */
static void
ask_for_offsets(Looking *it)
{
  if (it->tried->cnt == 0)
    return;
  rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
  rd_kafka_topic_partition_list_add(list, it->tried->elems[0].topic, it->tried->elems[0].partition);
  const char *group = it->config->kafka.group;
  rd_kafka_resp_err_t result = rd_kafka_committed(it->kafka, list, (int)it->timeout_ms);
  if (result == RD_KAFKA_RESP_ERR_NO_ERROR)
    result = list->elems[0].err;
  rd_kafka_topic_partition_list_destroy(list);
  /* Who may not even ask for the group's coordinator waits in vain: librdkafka asks on, and says why in the queue. */
  if (result == RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED ||
      (result == RD_KAFKA_RESP_ERR__TIMED_OUT && is_denied_coordinator(it)))
    it->look->group_fault = tide_kafka_acl_hint(&it->config->kafka, TIDE_KAFKA_ACL_GROUP, group);
  else if (result != RD_KAFKA_RESP_ERR_NO_ERROR && result != RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED)
    it->look->group_fault = g_strdup_printf("its committed offsets cannot be had: %s", rd_kafka_err2str(result));
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

static void
take_setting(TideTopicSettings *settings, const rd_kafka_ConfigEntry_t *entry)
{
  const char *name = rd_kafka_ConfigEntry_name(entry);
  const char *value = rd_kafka_ConfigEntry_value(entry);
  if (value == NULL)
    return;
  if (strcmp(name, "max.message.bytes") == 0)
    settings->max_message_bytes = g_ascii_strtoll(value, NULL, 10);
  else if (strcmp(name, "retention.ms") == 0)
    settings->retention_ms = g_ascii_strtoll(value, NULL, 10);
  else if (strcmp(name, "cleanup.policy") == 0)
    settings->is_compacted = strstr(value, "compact") != NULL;
}

static void
take_settings(Looking *it, const rd_kafka_DescribeConfigs_result_t *result)
{
  size_t n_resources, n_entries;
  const rd_kafka_ConfigResource_t **resources = rd_kafka_DescribeConfigs_result_resources(result, &n_resources);
  for (size_t i = 0; i < n_resources && i < it->look->settings->len; i++) {
    TideTopicSettings *settings = &g_array_index(it->look->settings, TideTopicSettings, i);
    const rd_kafka_ConfigEntry_t **entries = rd_kafka_ConfigResource_configs(resources[i], &n_entries);
    settings->is_known = rd_kafka_ConfigResource_error(resources[i]) == RD_KAFKA_RESP_ERR_NO_ERROR && n_entries > 0;
    for (size_t k = 0; k < n_entries; k++)
      take_setting(settings, entries[k]);
  }
}

/* In the order in which they are asked for, which is that of the answer. What is not told stays unknown. */
static void
ask_for_settings(Looking *it)
{
  GArray *settings = it->look->settings;
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
    take_settings(it, result);
  if (event != NULL)
    rd_kafka_event_destroy(event);
  rd_kafka_queue_destroy(queue);
  rd_kafka_AdminOptions_destroy(options);
  rd_kafka_ConfigResource_destroy_array(resources, settings->len);
}

/* The dead-letter topic and those that are read and named; of patterns' topics the settings are not looked at. */
static void
look_at_dead_letters_topic(Looking *it)
{
  TideTopicSettings dead_letters = {.name = it->config->dead_letters.topic, .retention_ms = -1};
  if (it->config->dead_letters.topic == NULL || it->look->dead_letters_fault != NULL)
    return;
  g_array_append_val(it->look->settings, dead_letters);
  for (char **topic = it->config->kafka.topics; *topic != NULL; topic++) {
    TideTopicSettings settings = {.name = *topic, .retention_ms = -1};
    if (**topic != '^')
      g_array_append_val(it->look->settings, settings);
  }
  ask_for_settings(it);
}

/* ---- all of it ---- */

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

static TideKafkaPreflight *
ask(Looking *it, GError **error)
{
  g_autoptr(TideKafkaPreflight) look = g_new0(TideKafkaPreflight, 1);
  look->brokers = g_ptr_array_new_with_free_func(free_seen_broker);
  look->topics = g_ptr_array_new_with_free_func(free_seen_topic);
  look->settings = g_array_new(FALSE, FALSE, sizeof(TideTopicSettings));
  it->look = look;
  it->tried = rd_kafka_topic_partition_list_new(8);
  gboolean asked = ask_for_topics(it, error);
  if (asked) {
    ask_for_offsets(it);
    ask_for_members(it);
    try_to_read(it);
    look_at_dead_letters_topic(it);
  }
  rd_kafka_topic_partition_list_destroy(it->tried);
  return asked ? g_steal_pointer(&look) : NULL;
}

TideKafkaPreflight *
tide_kafka_preflight(const TideConfig *config, gint64 timeout_ms, GError **error)
{
  /* It may ask for the group's offsets, and reads what it is assigned by hand. */
  static const TideKafkaSetting settings[] = {
      {"auto.offset.reset", "error"},
      {"fetch.wait.max.ms", "10"},
      {NULL},
  };
  g_autoptr(TideKafkaClient) client = tide_kafka_client_new(
      &config->kafka, tide_kafka_conf_new_bystander(&config->kafka, config->kafka.group, settings, error), TRUE, error);
  if (client == NULL)
    return NULL;
  Looking it = {
      .config = config, .client = client, .kafka = tide_kafka_client_handle(client), .timeout_ms = timeout_ms};
  return ask(&it, error);
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
