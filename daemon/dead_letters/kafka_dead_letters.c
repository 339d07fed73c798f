#include "dead_letters/kafka_dead_letters.h"

#include "dead_letters/kafka_dead_letter.h"
#include "kafka/kafka_conf.h"
#include "kafka/kafka_error.h"
#include "kafka/kafka_producer.h"
#include "util/clock.h"
#include "util/error.h"

/* Limits in flight. The budget includes the jobs' memory; these limits only share librdkafka's queue. */
#define MAX_DEAD_LETTERS 4000u
#define MAX_BYTES (16u * 1024 * 1024)

/* Messages sent alone that librdkafka has at a time. Each is a request, and its acknowledgement timeout starts when
 * librdkafka receives it. */
#define MAX_ALONE 64u

typedef struct Producer {
  TideKafkaDeadLetters *owner; /* borrowed */
  rd_kafka_t *kafka;           /* owned; NULL until the first send, and after a fatal error */
  gboolean sends_alone;        /* each message in its own batch */
  guint32 n_in_flight;
} Producer;

struct TideKafkaDeadLetters {
  const TideConfig *config; /* borrowed */
  const char *topic;        /* borrowed */
  Producer batching;
  Producer alone;
  TideDeadLetterJobs to_send_alone;    /* in flight, but not passed to librdkafka yet */
  TideKafkaDeadLetterReports *reports; /* borrowed during a poll; NULL: jobs are freed */
  guint32 n_in_flight;
  gsize bytes_under_way;
  char *trouble;      /* owned; NULL: none yet */
  char *broker_fault; /* owned: the last one; NULL: none */
  int throttle_ms;    /* delay that a quota of the brokers imposed last; 0: none since */
};

static gsize
bytes_of(const TideDeadLetter *dead_letter)
{
  return dead_letter->key.len + dead_letter->value.len;
}

/* ---- completions ---- */

/* (transfer full) */
static char *
describe_denied(const TideKafkaDeadLetters *dead_letters, const char *what)
{
  g_autofree char *missing =
      tide_kafka_acl_hint(&dead_letters->config->kafka, TIDE_KAFKA_ACL_WRITE, dead_letters->topic);
  return g_strdup_printf("%s, and IdempotentWrite on the cluster if brokers are older than 2.8 (%s)", missing, what);
}

/* Without idempotence a dead letter could be duplicated or reordered. (transfer full) */
static char *
describe_unsupported(const TideKafkaDeadLetters *dead_letters, const char *what)
{
  return g_strdup_printf("the brokers of topic '%s' have no idempotent producers, which dead letters need: keep them "
                         "with 'dead_letters.file' (%s)",
                         dead_letters->topic, what);
}

/* Why @kafka cannot write a dead letter to the topic, for reasons other than size. (transfer full) */
static char *
describe(const TideKafkaDeadLetters *dead_letters, rd_kafka_t *kafka, rd_kafka_resp_err_t code)
{
  g_autofree char *what = tide_kafka_error_describe(kafka, &code);
  switch (code) {
  case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
  case RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED:
    return describe_denied(dead_letters, what);
  case RD_KAFKA_RESP_ERR__UNSUPPORTED_FEATURE:
    return describe_unsupported(dead_letters, what);
  case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
  case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
    return g_strdup_printf("topic '%s' does not exist: create it with 'kafka-topics.sh --create --topic %s'",
                           dead_letters->topic, dead_letters->topic);
  case RD_KAFKA_RESP_ERR__MSG_TIMED_OUT:
    if (dead_letters->throttle_ms > 0) /* then the broker seems down, because it answers nothing meanwhile */
      return g_strdup_printf("topic '%s' did not acknowledge a dead letter within 10 s; brokers delay the producer, "
                             "last by %d ms: a quota for this user or client, shown by 'kafka-configs.sh --describe'",
                             dead_letters->topic, dead_letters->throttle_ms);
    return g_strdup_printf("topic '%s' did not acknowledge a dead letter within 10 s%s%s", dead_letters->topic,
                           dead_letters->broker_fault != NULL ? "; " : "",
                           dead_letters->broker_fault != NULL ? dead_letters->broker_fault : "");
  default:
    return g_strdup_printf("topic '%s' refuses a dead letter: %s", dead_letters->topic, what);
  }
}

char *
tide_kafka_dead_letters_describe_too_large(const TideKafkaDeadLetters *dead_letters, const TideDeadLetterJob *job)
{
  return g_strdup_printf("topic '%s' refuses a dead letter whose key and value have %" G_GSIZE_FORMAT
                         " bytes: raise max.message.bytes of the topic, or message.max.bytes of the brokers, above "
                         "that of the consumed topics",
                         dead_letters->topic, bytes_of(&job->dead_letter));
}

static void
set_trouble(TideKafkaDeadLetters *dead_letters, char *trouble)
{
  g_free(dead_letters->trouble);
  dead_letters->trouble = trouble;
}

/* Called inside a poll. */
static void
take_report(rd_kafka_t *kafka, const rd_kafka_message_t *message, void *opaque)
{
  Producer *producer = opaque;
  TideKafkaDeadLetters *dead_letters = producer->owner;
  TideKafkaDeadLetterReports *reports = dead_letters->reports;
  TideDeadLetterJob *job = message->_private;
  producer->n_in_flight--;
  if (reports != NULL && message->err == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE && !producer->sends_alone) {
    job->must_be_sent_alone = TRUE;
    reports->n_refused_with_others++;
    tide_dead_letter_jobs_append(&dead_letters->to_send_alone, job);
    return;
  }
  dead_letters->n_in_flight--;
  dead_letters->bytes_under_way -= bytes_of(&job->dead_letter);
  if (reports == NULL)
    tide_dead_letter_job_free(job);
  else if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
    g_clear_pointer(&dead_letters->broker_fault, g_free);
    tide_dead_letter_jobs_append(&reports->kept, job);
  } else if (message->err == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE)
    tide_dead_letter_jobs_append(&reports->too_large, job);
  else {
    set_trouble(dead_letters, describe(dead_letters, kafka, message->err));
    tide_dead_letter_jobs_append(&reports->failed, job);
  }
}

static void
note_broker_fault(rd_kafka_t *kafka, int code, const char *reason, void *opaque)
{
  TideKafkaDeadLetters *dead_letters = ((Producer *)opaque)->owner;
  g_free(dead_letters->broker_fault);
  dead_letters->broker_fault = tide_kafka_error_explain(kafka, reason);
}

static void
note_throttle(rd_kafka_t *kafka, const char *broker_name, gint32 broker_id, int throttle_ms, void *opaque)
{
  ((Producer *)opaque)->owner->throttle_ms = throttle_ms;
}

/* ---- life ---- */

static gboolean
connect_producer(Producer *producer, GError **error)
{
  if (producer->kafka != NULL)
    return TRUE;
  rd_kafka_conf_t *conf =
      tide_kafka_conf_new_dead_letters(&producer->owner->config->kafka, producer->sends_alone, error);
  if (conf == NULL)
    return FALSE;
  rd_kafka_conf_set_opaque(conf, producer);
  rd_kafka_conf_set_error_cb(conf, note_broker_fault);
  rd_kafka_conf_set_throttle_cb(conf, note_throttle);
  rd_kafka_conf_set_dr_msg_cb(conf, take_report);
  producer->kafka = tide_kafka_conf_connect(RD_KAFKA_PRODUCER, conf, error);
  return producer->kafka != NULL;
}

TideKafkaDeadLetters *
tide_kafka_dead_letters_new(const TideConfig *config, GError **error)
{
  TideKafkaDeadLetters *dead_letters = g_new0(TideKafkaDeadLetters, 1);
  dead_letters->config = config;
  dead_letters->topic = config->dead_letters.topic;
  dead_letters->batching.owner = dead_letters->alone.owner = dead_letters;
  dead_letters->alone.sends_alone = TRUE;
  if (connect_producer(&dead_letters->batching, error))
    return dead_letters;
  tide_kafka_dead_letters_free(dead_letters);
  return NULL;
}

/* Returns every dead letter of @producer as failed. */
static void
disconnect(Producer *producer)
{
  if (producer->kafka == NULL)
    return;
  rd_kafka_purge(producer->kafka, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
  while (producer->n_in_flight > 0)
    rd_kafka_poll(producer->kafka, 10);
  g_clear_pointer(&producer->kafka, rd_kafka_destroy);
}

static void
move_jobs(TideDeadLetterJobs *from, TideDeadLetterJobs *to)
{
  for (TideDeadLetterJob *job; (job = tide_dead_letter_jobs_take(from)) != NULL;)
    tide_dead_letter_jobs_append(to, job);
}

void
tide_kafka_dead_letters_disconnect(TideKafkaDeadLetters *dead_letters, TideDeadLetterJobs *left)
{
  TideKafkaDeadLetterReports reports = {0};
  dead_letters->reports = &reports;
  disconnect(&dead_letters->batching);
  disconnect(&dead_letters->alone);
  dead_letters->reports = NULL;
  move_jobs(&reports.kept, left);
  move_jobs(&reports.too_large, left);
  move_jobs(&reports.failed, left);
  move_jobs(&dead_letters->to_send_alone, left);
  dead_letters->n_in_flight = 0;
  dead_letters->bytes_under_way = 0;
}

void
tide_kafka_dead_letters_free(TideKafkaDeadLetters *dead_letters)
{
  if (dead_letters == NULL)
    return;
  disconnect(&dead_letters->batching);
  disconnect(&dead_letters->alone);
  tide_dead_letter_jobs_clear(&dead_letters->to_send_alone);
  g_free(dead_letters->trouble);
  g_free(dead_letters->broker_fault);
  g_free(dead_letters);
}

/* ---- sending ---- */

/* A fatal error ends a producer; the next send creates a new one. */
static void
drop_if_fatal(Producer *producer)
{
  TideKafkaDeadLetters *dead_letters = producer->owner;
  char reason[512];
  if (producer->kafka == NULL)
    return;
  rd_kafka_resp_err_t code = rd_kafka_fatal_error(producer->kafka, reason, sizeof reason);
  if (code == RD_KAFKA_RESP_ERR_NO_ERROR)
    return;
  disconnect(producer);
  set_trouble(dead_letters, code == RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED
                                ? describe_denied(dead_letters, reason)
                            : code == RD_KAFKA_RESP_ERR__UNSUPPORTED_FEATURE
                                ? describe_unsupported(dead_letters, reason)
                                : g_strdup_printf("the producer for topic '%s' failed (%s); creating a new one",
                                                  dead_letters->topic, reason));
}

/* Passes @job to librdkafka. (transfer full) if the result is SENT. */
static TideKafkaDeadLetterSent
produce(Producer *producer, TideDeadLetterJob *job)
{
  TideKafkaDeadLetters *dead_letters = producer->owner;
  const TideDeadLetter *dead_letter = &job->dead_letter;
  g_autoptr(GError) error = NULL;
  if (!connect_producer(producer, &error)) {
    set_trouble(dead_letters,
                g_strdup_printf("cannot create a producer for topic '%s': %s", dead_letters->topic, error->message));
    return TIDE_KAFKA_DEAD_LETTER_FAILED;
  }
  TideKafkaProducerRecord record = {.topic = dead_letters->topic,
                                    .partition = RD_KAFKA_PARTITION_UA,
                                    .key = dead_letter->key,
                                    .has_key = dead_letter->has_key,
                                    .value = dead_letter->value,
                                    .has_value = dead_letter->has_value};
  rd_kafka_resp_err_t result =
      tide_kafka_produce(producer->kafka, &record, tide_kafka_dead_letter_headers(dead_letter), 0, job);
  switch ((int)result) {
  case RD_KAFKA_RESP_ERR_NO_ERROR:
    producer->n_in_flight++;
    return TIDE_KAFKA_DEAD_LETTER_SENT;
  case RD_KAFKA_RESP_ERR__QUEUE_FULL:
    return TIDE_KAFKA_DEAD_LETTER_LATER;
  case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE:
    return TIDE_KAFKA_DEAD_LETTER_TOO_LARGE;
  default:
    set_trouble(dead_letters, describe(dead_letters, producer->kafka, result));
    if (producer->n_in_flight == 0) /* otherwise a poll does it, which can report those */
      drop_if_fatal(producer);
    return TIDE_KAFKA_DEAD_LETTER_FAILED;
  }
}

TideKafkaDeadLetterSent
tide_kafka_dead_letters_send(TideKafkaDeadLetters *dead_letters, TideDeadLetterJob *job)
{
  gsize bytes = bytes_of(&job->dead_letter);
  if (dead_letters->n_in_flight >= MAX_DEAD_LETTERS ||
      (dead_letters->n_in_flight > 0 && dead_letters->bytes_under_way + bytes > MAX_BYTES))
    return TIDE_KAFKA_DEAD_LETTER_LATER;
  TideKafkaDeadLetterSent sent = TIDE_KAFKA_DEAD_LETTER_SENT;
  if (job->must_be_sent_alone)
    tide_dead_letter_jobs_append(&dead_letters->to_send_alone, job);
  else
    sent = produce(&dead_letters->batching, job);
  if (sent == TIDE_KAFKA_DEAD_LETTER_SENT) {
    dead_letters->n_in_flight++;
    dead_letters->bytes_under_way += bytes;
  }
  return sent;
}

static void
send_alone(TideKafkaDeadLetters *dead_letters)
{
  while (dead_letters->to_send_alone.first != NULL && dead_letters->alone.n_in_flight < MAX_ALONE) {
    TideDeadLetterJob *job = tide_dead_letter_jobs_take(&dead_letters->to_send_alone);
    TideKafkaDeadLetterSent sent = produce(&dead_letters->alone, job);
    if (sent == TIDE_KAFKA_DEAD_LETTER_SENT)
      continue;
    dead_letters->n_in_flight--;
    dead_letters->bytes_under_way -= bytes_of(&job->dead_letter);
    tide_dead_letter_jobs_append(sent == TIDE_KAFKA_DEAD_LETTER_TOO_LARGE ? &dead_letters->reports->too_large
                                                                          : &dead_letters->reports->failed,
                                 job);
  }
}

/* Returns the number of answers. */
static int
poll_both(TideKafkaDeadLetters *dead_letters)
{
  Producer *producers[] = {&dead_letters->batching, &dead_letters->alone};
  int n = 0;
  for (guint i = 0; i < G_N_ELEMENTS(producers); i++)
    n += producers[i]->kafka != NULL ? rd_kafka_poll(producers[i]->kafka, 0) : 0;
  return n;
}

void
tide_kafka_dead_letters_poll(TideKafkaDeadLetters *dead_letters, int timeout_ms, TideKafkaDeadLetterReports *reports)
{
  Producer *batching = &dead_letters->batching, *alone = &dead_letters->alone;
  dead_letters->reports = reports;
  send_alone(dead_letters);
  /* Not a single wait of librdkafka's, which lasts until a wall clock time: after the clock is set back, that may be an
   * hour away. */
  if (poll_both(dead_letters) == 0 && timeout_ms > 0) {
    g_usleep((gulong)(timeout_ms * TIDE_US_PER_MS));
    poll_both(dead_letters);
  }
  send_alone(dead_letters);
  drop_if_fatal(batching);
  drop_if_fatal(alone);
  dead_letters->reports = NULL;
}

guint32
tide_kafka_dead_letters_in_flight(const TideKafkaDeadLetters *dead_letters)
{
  return dead_letters->n_in_flight;
}

const char *
tide_kafka_dead_letters_trouble(const TideKafkaDeadLetters *dead_letters)
{
  return dead_letters->trouble;
}
