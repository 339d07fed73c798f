#include "kafka/kafka_conf.h"

#include "config/option/nearest_name.h"
#include "kafka/kafka_error.h"
#include "kafka/kafka_library.h"
#include "util/budget.h"
#include "util/clock.h"
#include "util/error.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOG_INTERVAL_US TIDE_US_PER_S

/* How soon new partitions and topics are noticed, unless kafka.librdkafka sets it. With librdkafka's default of 5
 * minutes, a new partition would wait as long. */
#define METADATA_MS "60000"

/* Every client of every tidemark has this id at the brokers. */
#define CLIENT_ID "tidemark"

/* librdkafka refuses a prefetch queue below 1 KiB; below 1 MiB it could not hold one fetch. */
#define MIN_QUEUE_BYTES (1024u * 1024)

/* librdkafka counts its queue in KiB and accepts at most this. */
#define MAX_QUEUE_BYTES (G_GUINT64_CONSTANT(2097151) * 1024)

/* librdkafka counts only payload, but each queued message costs it some 350 bytes more. For messages of 110 bytes, that
 * is four times their payload. (Measured at a budget of 64 MiB: a backlog raised the process to 189 MiB without this
 * factor and to 78 MiB with it, and was read no slower.) */
#define MEMORY_PER_PAYLOAD 4

/* Messages that are even smaller, or have no payload, are limited by their number. librdkafka's own limit, 100,000 per
 * consumer, admits 34 MiB of tombstones whatever the budget is (measured). */
#define MEMORY_PER_MESSAGE 350
#define MAX_QUEUE_MESSAGES 100000

/* A fetch is at most this fraction of the queue, since one fetch of each broker comes on top, unpacked at once.
 * librdkafka keeps one buffer for a whole fetch until its last message is handled. With one thread, the heap keeps a
 * buffer a little larger than this, see keep_heap_small(). */
#define FETCHES_OF_QUEUE 5

/* Limits for one partition in one fetch, so that several share it. */
#define MIN_PARTITION_FETCH_BYTES (256u * 1024)
#define MAX_PARTITION_FETCH_BYTES (16u * 1024 * 1024)

/* A broker answers a fetch when it has this much, or after this time, unless kafka.librdkafka says otherwise. With
 * librdkafka's default of one byte, each fetch of a live stream brings a few messages. (Measured with 16 partitions and
 * 40,000 readings/s: 3.4 us for each instead of 7.4, at the same 99th percentile of the delay.) An idle consumer asks
 * a hundred times a second. */
#define FETCH_MIN_BYTES "65536"
#define FETCH_WAIT_MS "10"

/* A dead letter without acknowledgement in this time fails with a reason that an operator can read, and is sent again.
 */
#define DEAD_LETTER_TIMEOUT_MS "10000"

/* How long to wait for a missing topic that may be under creation: well within the timeout of the dead letter. */
#define TOPIC_CREATION_MS "3000"

/* Called from librdkafka's own threads. */
static void
log_from_librdkafka(const rd_kafka_t *kafka, int level, const char *facility, const char *text)
{
  /* Several clients share the properties, so each is expected to ignore some. */
  if (strcmp(facility, "CONFWARN") == 0 && strstr(text, "will be ignored by this") != NULL)
    return;
  /* The error that follows repeats it, with the remedy. */
  if (strcmp(facility, "CERTVERIFY") == 0)
    return;
  static TideLogLimit limit; /* shared by all clients: an unreachable broker is reported many times a second */
  guint64 suppressed = 0;
  TideLogLevel ours = (TideLogLevel)CLAMP(level, TIDE_LOG_CRIT, TIDE_LOG_DEBUG);
  /* librdkafka reports an unreachable broker as "error" and retries: for an operator it is a warning. */
  ours = MAX(ours, TIDE_LOG_WARNING);
  if (!tide_log_enabled(ours) ||
      (ours <= TIDE_LOG_NOTICE && !tide_log_limit_pass(&limit, tide_now_us(), LOG_INTERVAL_US, &suppressed)))
    return;
  tide_log(ours, "kafka-client", "kafka client: %s: %s%s", facility, text,
           tide_log_suppressed(suppressed, "lines").text);
}

static gboolean
set(rd_kafka_conf_t *conf, const char *name, const char *value, GError **error)
{
  char reason[512];
  if (rd_kafka_conf_set(conf, name, value, reason, sizeof reason) == RD_KAFKA_CONF_OK)
    return TRUE;
  return tide_fail(error, TIDE_ERROR_CONFIG, "kafka.librdkafka: '%s' is not accepted: %s", name, reason);
}

static gboolean
set_all(rd_kafka_conf_t *conf, const TideKafkaSetting *settings, GError **error)
{
  for (; settings != NULL && settings->name != NULL; settings++)
    if (settings->value != NULL && !set(conf, settings->name, settings->value, error))
      return FALSE;
  return TRUE;
}

gboolean
tide_kafka_conf_is_tidemark(const TideKafkaConfig *config, const char *client_id)
{
  /* With a client.id of their own, such as the names of their hosts, daemons look like any other member. */
  return tide_config_find_property(config, "client.id") != NULL || strcmp(client_id, CLIENT_ID) == 0;
}

rd_kafka_conf_t *
tide_kafka_conf_new(const TideKafkaConfig *config, const TideKafkaSetting *settings, GError **error)
{
  const TideKafkaSetting ours[] = {
      {"bootstrap.servers", config->brokers},
      {"client.id", CLIENT_ID},
      {"topic.metadata.refresh.interval.ms", METADATA_MS},
      {NULL},
  };
  g_autoptr(rd_kafka_conf_t) conf = rd_kafka_conf_new();
  rd_kafka_conf_set_log_cb(conf, log_from_librdkafka);
  gboolean ok = set_all(conf, ours, error);
  for (guint i = 0; ok && i < config->properties->len; i++) {
    const TideKafkaProperty *property = &g_array_index(config->properties, TideKafkaProperty, i);
    ok = set(conf, property->name, property->value, error);
  }
  if (!ok || !set_all(conf, settings, error))
    return NULL;
  tide_kafka_error_watch_certificates(conf);
  return g_steal_pointer(&conf);
}

/* How soon librdkafka checks a full queue again; a property since 2.2 (kafka_wakeup.h). */
static gboolean
set_queue_backoff(rd_kafka_conf_t *conf, GError **error)
{
  const TideKafkaLibrary library = tide_kafka_library();
  return !tide_kafka_library_can(&library, TIDE_KAFKA_QUEUE_BACKOFF) || set(conf, "fetch.queue.backoff.ms", "5", error);
}

rd_kafka_conf_t *
tide_kafka_conf_new_bystander(const TideKafkaConfig *config, const char *group, const TideKafkaSetting *settings,
                              GError **error)
{
  const TideKafkaSetting ours[] = {
      {"enable.auto.commit", "false"},
      {"enable.auto.offset.store", "false"},
      {"enable.partition.eof", "true"},
      {"group.id", group},
      {NULL},
  };
  g_autoptr(rd_kafka_conf_t) conf = tide_kafka_conf_new(config, ours, error);
  gboolean ok = conf != NULL && set_queue_backoff(conf, error) && set_all(conf, settings, error);
  return ok ? g_steal_pointer(&conf) : NULL;
}

/* librdkafka quotes only OpenSSL, which names no file. Adds the file of @conf that @reason is about, and its fault. */
static void
say_why_refused(const rd_kafka_conf_t *conf, const char *reason, GError **error)
{
  static const struct {
    const char *name;
    const char *wrong;
  } files[] = {
      {"ssl.ca.location", "contains no certificate in PEM form"},
      {"ssl.certificate.location", "contains no certificate in PEM form"},
      {"ssl.key.location",
       "is not a private key in PEM form, or not that of 'ssl.certificate.location', or needs another "
       "'ssl.key.password'"},
  };
  char path[512];

  for (gsize i = 0; i < G_N_ELEMENTS(files); i++) {
    gsize size = sizeof path;
    if (!g_str_has_prefix(reason, files[i].name) ||
        rd_kafka_conf_get(conf, files[i].name, path, &size) != RD_KAFKA_CONF_OK)
      continue;
    const char *wrong = g_access(path, R_OK) == 0 ? files[i].wrong : g_strerror(errno);
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_CONFIG, "kafka.librdkafka: '%s' ('%s'): %s (%s)", files[i].name, path,
                wrong, reason);
    return;
  }
  g_set_error(error, TIDE_ERROR, TIDE_ERROR_CONFIG, "kafka.librdkafka: %s", reason);
}

rd_kafka_t *
tide_kafka_conf_connect(rd_kafka_type_t type, rd_kafka_conf_t *conf, GError **error)
{
  char reason[512];
  rd_kafka_t *client = conf != NULL ? rd_kafka_new(type, conf, reason, sizeof reason) : NULL;
  if (conf != NULL && client == NULL) {
    say_why_refused(conf, reason, error);
    rd_kafka_conf_destroy(conf);
  }
  return client;
}

static gboolean
set_number(rd_kafka_conf_t *conf, const char *name, gint64 value, GError **error)
{
  char text[24];
  g_snprintf(text, sizeof text, "%" G_GINT64_FORMAT, value);
  return set(conf, name, text, error);
}

/* Sets the properties of a group member. */
static gboolean
set_membership(rd_kafka_conf_t *conf, const TideKafkaConfig *config, guint32 index, GError **error)
{
  const char *strategy = config->assignment == TIDE_ASSIGNMENT_COOPERATIVE ? "cooperative-sticky" : "range,roundrobin";
  if (!set(conf, "group.id", config->group, error) || !set(conf, "partition.assignment.strategy", strategy, error) ||
      !set_number(conf, "session.timeout.ms", config->session_timeout_ms, error) ||
      !set_number(conf, "heartbeat.interval.ms", MIN(config->session_timeout_ms / 3, 3000), error) ||
      !set_number(conf, "max.poll.interval.ms", config->max_poll_interval_ms, error))
    return FALSE;
  if (config->instance == NULL || strcmp(config->instance, TIDE_KAFKA_NO_INSTANCE) == 0)
    return TRUE;
  g_autoptr(GString) instance = g_string_new(config->instance);
  g_string_replace(instance, "%H", g_get_host_name(), 0);
  g_string_append_printf(instance, "-%u", index);
  return set(conf, "group.instance.id", instance->str, error);
}

static gboolean
set_unless_chosen(rd_kafka_conf_t *conf, const TideKafkaConfig *config, const char *name, const char *value,
                  GError **error)
{
  return tide_config_find_property(config, name) != NULL || set(conf, name, value, error);
}

rd_kafka_conf_t *
tide_kafka_conf_new_consumer(const TideConfig *config, guint32 index, GError **error)
{
  const TideKafkaConfig *kafka = &config->kafka;
  g_autoptr(rd_kafka_conf_t) conf = tide_kafka_conf_new(kafka, NULL, error);
  guint64 share_bytes = tide_budget_prefetch_bytes(config->limits.memory_bytes) / kafka->threads;
  /* Payload of the prefetched messages of all partitions. librdkafka fetches more only below this limit, and one fetch
   * comes on top. */
  guint64 queue = CLAMP(share_bytes / MEMORY_PER_PAYLOAD, MIN_QUEUE_BYTES, MAX_QUEUE_BYTES);
  /* librdkafka refuses less than its message.max.bytes, 1 MB. A larger message arrives all the same: a broker ends no
   * fetch before its first message. */
  guint64 fetch = MAX(queue / FETCHES_OF_QUEUE, MIN_QUEUE_BYTES);
  gboolean ok = conf != NULL && set_membership(conf, kafka, index, error) &&
                /* At least once: only acknowledged offsets are stored, and only stored offsets are committed. */
                set(conf, "enable.auto.offset.store", "false", error) &&
                set(conf, "enable.auto.commit", "true", error) &&
                set_number(conf, "auto.commit.interval.ms", kafka->commit_interval_ms, error) &&
                /* An offset out of range is counted and reported, never skipped silently. */
                set(conf, "auto.offset.reset", "error", error) && set(conf, "enable.partition.eof", "true", error) &&
                set(conf, "check.crcs", "true", error) && set_queue_backoff(conf, error) &&
                set_unless_chosen(conf, kafka, "fetch.min.bytes", FETCH_MIN_BYTES, error) &&
                set_unless_chosen(conf, kafka, "fetch.wait.max.ms", FETCH_WAIT_MS, error) &&
                set_number(conf, "queued.max.messages.kbytes", (gint64)(queue / 1024), error) &&
                set_number(conf, "queued.min.messages",
                           (gint64)MIN(queue * MEMORY_PER_PAYLOAD / MEMORY_PER_MESSAGE, MAX_QUEUE_MESSAGES), error) &&
                set_number(conf, "fetch.max.bytes", (gint64)MIN(fetch, G_MAXINT32 - 1024), error) &&
                set_number(conf, "max.partition.fetch.bytes",
                           (gint64)CLAMP(fetch / 2, MIN_PARTITION_FETCH_BYTES, MAX_PARTITION_FETCH_BYTES), error);
  return ok ? g_steal_pointer(&conf) : NULL;
}

rd_kafka_conf_t *
tide_kafka_conf_new_originals(const TideKafkaConfig *config, GError **error)
{
  static const TideKafkaSetting settings[] = {
      {"auto.offset.reset", "earliest"}, /* the first message shows which ones are gone */
      {"check.crcs", "true"},
      /* Often only one message of a fetch is wanted. A full queue pauses fetching, so the queue has room for a fetch
         from each of a dozen partitions. */
      {"max.partition.fetch.bytes", "131072"},
      {"queued.max.messages.kbytes", "2048"},
      {"queued.min.messages", "20000"}, /* limits tiny ones, see MEMORY_PER_MESSAGE */
      {NULL},
  };
  return tide_kafka_conf_new_bystander(config, NULL, settings, error);
}

rd_kafka_conf_t *
tide_kafka_conf_new_dead_letters(const TideKafkaConfig *config, gboolean sends_alone, GError **error)
{
  const TideKafkaSetting settings[] = {
      /* A permanently refused message costs an idempotent producer a new number, for which all other messages wait. */
      {"enable.idempotence", sends_alone ? "false" : "true"},
      {"acks", "all"},
      {"max.in.flight.requests.per.connection", "5"},
      {"message.timeout.ms", DEAD_LETTER_TIMEOUT_MS},
      {"topic.metadata.propagation.max.ms", TOPIC_CREATION_MS},
      {"message.max.bytes", TIDE_KAFKA_CLIENT_MAX_MESSAGE_BYTES},
      {"queue.buffering.max.messages", "10000"},
      {"queue.buffering.max.kbytes", "2097151"}, /* kafka_dead_letters.c limits it */
      {"linger.ms", sends_alone ? "0" : "5"},
      {"batch.size", TIDE_KAFKA_BATCH_BYTES},
      {"batch.num.messages", sends_alone ? "1" : NULL},
      /* Java's default partitioner: a key gets the partition that other producers choose. */
      {"partitioner", "murmur2_random"},
      {NULL},
  };
  return tide_kafka_conf_new(config, settings, error);
}

/* ---- properties, each by itself ---- */

/* All properties of librdkafka, including those of topics and those without a default. It prints them, one per line, as
 * "name | ...". (transfer full), NULL-terminated */
static char **
known_names(void)
{
  char *text = NULL;
  size_t len = 0;
  FILE *stream = open_memstream(&text, &len);
  if (stream == NULL)
    return g_new0(char *, 1);
  rd_kafka_conf_properties_show(stream);
  fclose(stream);
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  free(text);
  GPtrArray *names = g_ptr_array_new();
  for (char **line = lines; *line != NULL; line++)
    if (g_ascii_islower(**line) && strchr(*line, '|') != NULL)
      g_ptr_array_add(names, g_strndup(*line, strcspn(*line, " |")));
  g_ptr_array_add(names, NULL);
  return (char **)g_ptr_array_free(names, FALSE);
}

static void
add_unknown(const TideKafkaProperty *property, GPtrArray *problems)
{
  g_auto(GStrv) names = known_names();
  const char *nearest = tide_nearest_name(property->name, (const char *const *)names);
  g_autofree char *shown = tide_problem_quote(property->name);
  tide_problems_add_error(problems, property->position, "'%s' is not a property of librdkafka %s%s%s%s", shown,
                          rd_kafka_version_str(), nearest != NULL ? ": did you mean '" : "",
                          nearest != NULL ? nearest : "", nearest != NULL ? "'?" : "");
}

void
tide_kafka_check_properties(const TideConfig *config, GPtrArray *problems)
{
  g_autoptr(rd_kafka_conf_t) conf = rd_kafka_conf_new();
  for (guint i = 0; i < config->kafka.properties->len; i++) {
    const TideKafkaProperty *property = &g_array_index(config->kafka.properties, TideKafkaProperty, i);
    char reason[512];
    rd_kafka_conf_res_t result = rd_kafka_conf_set(conf, property->name, property->value, reason, sizeof reason);
    if (result == RD_KAFKA_CONF_UNKNOWN)
      add_unknown(property, problems);
    else if (result != RD_KAFKA_CONF_OK && property->secret) /* its text would repeat the value */
      tide_problems_add_error(problems, property->position, "the value of '%s' is not accepted", property->name);
    else if (result != RD_KAFKA_CONF_OK)
      tide_problems_add_error(problems, property->position, "'%s' is not accepted: %s", property->name, reason);
  }
  const TideKafkaLibrary library = tide_kafka_library();
  tide_kafka_library_check(&library, &config->kafka, problems);
}

/* ---- clients ---- */

/* @conf: (transfer full) (nullable): NULL with @error set. */
static gboolean
try_client(rd_kafka_type_t type, rd_kafka_conf_t *conf, GError **error)
{
  if (conf != NULL) { /* faults are returned; without brokers nothing else is worth logging */
    rd_kafka_conf_set_log_cb(conf, NULL);
    (void)rd_kafka_conf_set(conf, "bootstrap.servers", NULL, NULL, 0);
  }
  rd_kafka_t *client = tide_kafka_conf_connect(type, conf, error);
  if (client != NULL)
    rd_kafka_destroy(client);
  return client != NULL;
}

gboolean
tide_kafka_check_clients(const TideConfig *config, GError **error)
{
  return try_client(RD_KAFKA_CONSUMER, tide_kafka_conf_new_consumer(config, 0, error), error) &&
         try_client(RD_KAFKA_CONSUMER, tide_kafka_conf_new_originals(&config->kafka, error), error) &&
         try_client(RD_KAFKA_PRODUCER, tide_kafka_conf_new_dead_letters(&config->kafka, FALSE, error), error);
}
