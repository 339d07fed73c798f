#include "dead_letters/kafka_dead_letters.h"

#include "dead_letters/kafka_dead_letter.h"
#include "kafka/kafka_conf.h"
#include "kafka/kafka_fault.h"
#include "kafka/kafka_producer.h"
#include "kafka/kafka_right.h"
#include "util/error.h"

/* Under way at a time. Their memory is the jobs', which the budget holds; here they only must not crowd out each other.
 */
#define MAX_DEAD_LETTERS 4000u
#define MAX_BYTES (16u * 1024 * 1024)

struct TideKafkaDeadLetters {
  const TideConfig *config;   /* borrowed */
  const char *topic;          /* borrowed */
  rd_kafka_t *kafka;          /* owned; made anew after a fatal error */
  TideDeadLetterJobs *kept;   /* borrowed, while polling */
  TideDeadLetterJobs *failed; /* borrowed, while polling */
  guint32 n_under_way;
  gsize bytes_under_way;
  char *trouble; /* owned; NULL: none */
  gboolean trouble_is_of_one;
  char *broker_fault; /* owned: the last, NULL: none */
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
      tide_kafka_right_missing(&dead_letters->config->kafka, TIDE_KAFKA_RIGHT_WRITE, dead_letters->topic);
  return g_strdup_printf("%s, and IdempotentWrite on the cluster where brokers are older than 2.8 (%s)", missing, what);
}

/* @code: of a dead letter. (transfer full) */
static char *
describe(const TideKafkaDeadLetters *dead_letters, rd_kafka_resp_err_t code, const TideDeadLetter *dead_letter)
{
  rd_kafka_resp_err_t fatal = rd_kafka_fatal_error(dead_letters->kafka, NULL, 0);
  /* A producer that may write nowhere hears so when it asks for its number: all that it has then fails with it. */
  if (code == RD_KAFKA_RESP_ERR__FATAL && fatal != RD_KAFKA_RESP_ERR_NO_ERROR)
    code = fatal;
  const char *what = rd_kafka_err2str(code);
  switch (code) {
  case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE:
    return g_strdup_printf(
        "topic '%s' takes no dead letter of %" G_GSIZE_FORMAT
        " bytes: raise max.message.bytes of the topic, or message.max.bytes of the brokers, above that "
        "of the topics that are read",
        dead_letters->topic, bytes_of(dead_letter));
  case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
  case RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED:
    return describe_denied(dead_letters, what);
  case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
  case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
    return g_strdup_printf("topic '%s' does not exist: create it", dead_letters->topic);
  case RD_KAFKA_RESP_ERR__MSG_TIMED_OUT:
    return g_strdup_printf("topic '%s' did not acknowledge a dead letter within 10 s%s%s", dead_letters->topic,
                           dead_letters->broker_fault != NULL ? "; " : "",
                           dead_letters->broker_fault != NULL ? dead_letters->broker_fault : "");
  default:
    return g_strdup_printf("topic '%s' does not take a dead letter: %s", dead_letters->topic, what);
  }
}

static void
set_trouble(TideKafkaDeadLetters *dead_letters, char *trouble)
{
  g_free(dead_letters->trouble);
  dead_letters->trouble = trouble;
}

/* Inside of a poll. Without lists (at the end) jobs are freed. */
static void
take_report(rd_kafka_t *kafka, const rd_kafka_message_t *message, void *opaque)
{
  TideKafkaDeadLetters *dead_letters = opaque;
  TideDeadLetterJob *job = message->_private;
  gboolean kept = message->err == RD_KAFKA_RESP_ERR_NO_ERROR;
  dead_letters->n_under_way--;
  dead_letters->bytes_under_way -= bytes_of(&job->dead_letter);
  if (dead_letters->kept == NULL) {
    tide_dead_letter_job_free(job);
    return;
  }
  if (kept) {
    g_clear_pointer(&dead_letters->broker_fault, g_free);
    set_trouble(dead_letters, NULL);
  } else
    set_trouble(dead_letters, describe(dead_letters, message->err, &job->dead_letter));
  dead_letters->trouble_is_of_one = message->err == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE;
  tide_dead_letter_jobs_append(kept ? dead_letters->kept : dead_letters->failed, job);
}

static void
note_broker_fault(rd_kafka_t *kafka, int code, const char *reason, void *opaque)
{
  TideKafkaDeadLetters *dead_letters = opaque;
  g_free(dead_letters->broker_fault);
  dead_letters->broker_fault = tide_kafka_fault_explain(kafka, reason);
}

/* ---- life ---- */

static gboolean
connect_producer(TideKafkaDeadLetters *dead_letters, GError **error)
{
  rd_kafka_conf_t *conf = tide_kafka_conf_new_dead_letters(&dead_letters->config->kafka, error);
  if (conf == NULL)
    return FALSE;
  rd_kafka_conf_set_opaque(conf, dead_letters);
  rd_kafka_conf_set_error_cb(conf, note_broker_fault);
  rd_kafka_conf_set_dr_msg_cb(conf, take_report);
  dead_letters->kafka = tide_kafka_conf_connect(RD_KAFKA_PRODUCER, conf, error);
  return dead_letters->kafka != NULL;
}

TideKafkaDeadLetters *
tide_kafka_dead_letters_new(const TideConfig *config, GError **error)
{
  TideKafkaDeadLetters *dead_letters = g_new0(TideKafkaDeadLetters, 1);
  dead_letters->config = config;
  dead_letters->topic = config->dead_letters.topic;
  if (connect_producer(dead_letters, error))
    return dead_letters;
  tide_kafka_dead_letters_free(dead_letters);
  return NULL;
}

/* Every dead letter under way comes back, failed. */
static void
disconnect(TideKafkaDeadLetters *dead_letters)
{
  if (dead_letters->kafka == NULL)
    return;
  rd_kafka_purge(dead_letters->kafka, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
  while (dead_letters->n_under_way > 0)
    rd_kafka_poll(dead_letters->kafka, 10);
  g_clear_pointer(&dead_letters->kafka, rd_kafka_destroy);
}

void
tide_kafka_dead_letters_disconnect(TideKafkaDeadLetters *dead_letters, TideDeadLetterJobs *left)
{
  dead_letters->kept = dead_letters->failed = left;
  disconnect(dead_letters);
  dead_letters->kept = dead_letters->failed = NULL;
}

void
tide_kafka_dead_letters_free(TideKafkaDeadLetters *dead_letters)
{
  if (dead_letters == NULL)
    return;
  dead_letters->kept = dead_letters->failed = NULL;
  disconnect(dead_letters);
  g_free(dead_letters->trouble);
  g_free(dead_letters->broker_fault);
  g_free(dead_letters);
}

/* ---- sending ---- */

gboolean
tide_kafka_dead_letters_send(TideKafkaDeadLetters *dead_letters, TideDeadLetterJob *job)
{
  const TideDeadLetter *dead_letter = &job->dead_letter;
  gsize bytes = bytes_of(dead_letter);
  if (dead_letters->n_under_way >= MAX_DEAD_LETTERS ||
      (dead_letters->n_under_way > 0 && dead_letters->bytes_under_way + bytes > MAX_BYTES))
    return FALSE;
  TideKafkaProducerRecord record = {.topic = dead_letters->topic,
                                    .partition = RD_KAFKA_PARTITION_UA,
                                    .key = dead_letter->key,
                                    .has_key = dead_letter->has_key,
                                    .value = dead_letter->value,
                                    .has_value = dead_letter->has_value};
  rd_kafka_resp_err_t result =
      tide_kafka_produce(dead_letters->kafka, &record, tide_kafka_dead_letter_headers(dead_letter), 0, job);
  if (result == RD_KAFKA_RESP_ERR_NO_ERROR) {
    dead_letters->n_under_way++;
    dead_letters->bytes_under_way += bytes;
    return TRUE;
  }
  if (result != RD_KAFKA_RESP_ERR__QUEUE_FULL)
    set_trouble(dead_letters, describe(dead_letters, result, dead_letter));
  return FALSE;
}

/* A producer that lost its place in its own sequence cannot go on; a new one can. */
static void
replace_if_fatal(TideKafkaDeadLetters *dead_letters)
{
  char reason[512];
  rd_kafka_resp_err_t code = rd_kafka_fatal_error(dead_letters->kafka, reason, sizeof reason);
  if (code == RD_KAFKA_RESP_ERR_NO_ERROR)
    return;
  disconnect(dead_letters);
  set_trouble(dead_letters, code == RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED
                                ? describe_denied(dead_letters, reason)
                                : g_strdup_printf("the producer for topic '%s' failed (%s) and was made anew",
                                                  dead_letters->topic, reason));
  /* The same configuration was taken at the start, so this takes memory and threads, nothing else. */
  g_autoptr(GError) error = NULL;
  if (!connect_producer(dead_letters, &error))
    g_error("cannot make a producer again: %s", error->message);
}

void
tide_kafka_dead_letters_poll(TideKafkaDeadLetters *dead_letters, int timeout_ms, TideDeadLetterJobs *kept,
                             TideDeadLetterJobs *failed)
{
  dead_letters->kept = kept;
  dead_letters->failed = failed;
  rd_kafka_poll(dead_letters->kafka, timeout_ms);
  replace_if_fatal(dead_letters);
  dead_letters->kept = dead_letters->failed = NULL;
}

guint32
tide_kafka_dead_letters_under_way(const TideKafkaDeadLetters *dead_letters)
{
  return dead_letters->n_under_way;
}

const char *
tide_kafka_dead_letters_trouble(const TideKafkaDeadLetters *dead_letters)
{
  return dead_letters->trouble;
}

gboolean
tide_kafka_dead_letters_trouble_is_of_one(const TideKafkaDeadLetters *dead_letters)
{
  return dead_letters->trouble_is_of_one;
}
