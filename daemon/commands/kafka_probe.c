#include "commands/kafka_probe.h"

#include "flow/kafka_conf.h"
#include "util/error.h"
#include "util/lock.h"

/* The first thing that librdkafka said of a broker: the cause, where the request's own result is only "timed out". */
typedef struct FirstFault {
  TideMutex lock;
  char *text; /* owned; under lock */
} FirstFault;

/* Called from the thread that waits for the metadata, or from one of librdkafka's. */
static void
note_fault(rd_kafka_t *kafka, int code, const char *reason, void *opaque)
{
  FirstFault *fault = opaque;
  /* "All brokers down" sums up what was said before. */
  if (code == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN)
    return;
  tide_mutex_lock(&fault->lock);
  if (fault->text == NULL)
    fault->text = g_strdup(reason);
  tide_mutex_unlock(&fault->lock);
}

static void
log_nothing(const rd_kafka_t *kafka, int level, const char *facility, const char *text)
{
  /* What matters comes through note_fault(); the rest would only mix with the command's output. */
}

static rd_kafka_t *
make_client(const TideKafkaConfig *config, FirstFault *fault, GError **error)
{
  rd_kafka_conf_t *conf = tide_kafka_conf_new(config, error);
  if (conf == NULL)
    return NULL;
  rd_kafka_conf_set_log_cb(conf, log_nothing);
  rd_kafka_conf_set_error_cb(conf, note_fault);
  rd_kafka_conf_set_opaque(conf, fault);
  char reason[512];
  /* A consumer, because brokers may create a topic when a producer asks for it. */
  rd_kafka_t *kafka = rd_kafka_new(RD_KAFKA_CONSUMER, conf, reason, sizeof reason);
  if (kafka != NULL)
    return kafka;
  rd_kafka_conf_destroy(conf);
  g_set_error(error, TIDE_ERROR, TIDE_ERROR_CONFIG, "kafka.librdkafka: %s", reason);
  return NULL;
}

static gboolean
topic_matches(const char *wish, const GRegex *pattern, const char *name)
{
  return pattern != NULL ? g_regex_match(pattern, name, 0, NULL) : strcmp(wish, name) == 0;
}

static TideProbedTopic *
find_topic(const char *wish, const struct rd_kafka_metadata *metadata)
{
  TideProbedTopic *topic = g_new0(TideProbedTopic, 1);
  topic->name = g_strdup(wish);
  /* A pattern that GRegex cannot read matches nothing here; librdkafka, whose syntax is plainer, decides at the start.
   */
  g_autoptr(GRegex) pattern = wish[0] == '^' ? g_regex_new(wish, 0, 0, NULL) : NULL;
  for (int i = 0; i < metadata->topic_cnt; i++) {
    const struct rd_kafka_metadata_topic *present = &metadata->topics[i];
    if (present->err != RD_KAFKA_RESP_ERR_NO_ERROR || !topic_matches(wish, pattern, present->topic))
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
ask(rd_kafka_t *kafka, const TideKafkaConfig *config, gint64 timeout_ms, FirstFault *fault, GError **error)
{
  const struct rd_kafka_metadata *metadata = NULL;
  rd_kafka_resp_err_t result = rd_kafka_metadata(kafka, 1, NULL, &metadata, (int)timeout_ms);
  if (result != RD_KAFKA_RESP_ERR_NO_ERROR) {
    rd_kafka_poll(kafka, 0); /* delivers what the error callback has to say */
    tide_mutex_lock(&fault->lock);
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_KAFKA, "no answer from '%s': %s", config->brokers,
                fault->text != NULL ? fault->text : rd_kafka_err2str(result));
    tide_mutex_unlock(&fault->lock);
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
  FirstFault fault = {0};
  tide_mutex_init(&fault.lock);
  TideKafkaProbe *probe = NULL;
  rd_kafka_t *kafka = make_client(config, &fault, error);
  if (kafka != NULL) {
    probe = ask(kafka, config, timeout_ms, &fault, error);
    rd_kafka_destroy(kafka);
  }
  tide_mutex_clear(&fault.lock);
  g_free(fault.text);
  return probe;
}

void
tide_kafka_probe_free(TideKafkaProbe *probe)
{
  if (probe == NULL)
    return;
  g_ptr_array_unref(probe->topics);
  g_free(probe);
}
