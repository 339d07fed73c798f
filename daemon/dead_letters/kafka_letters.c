#include "dead_letters/kafka_letters.h"

#include "dead_letters/kafka_letter.h"
#include "kafka/kafka_conf.h"
#include "util/error.h"

/* Under way at a time. Their memory is the jobs', which the budget holds; here they only must not crowd out each other.
 */
#define MAX_LETTERS 4000u
#define MAX_BYTES (16u * 1024 * 1024)

struct TideKafkaLetters {
  const TideConfig *config; /* borrowed */
  const char *topic;        /* borrowed */
  rd_kafka_t *kafka;        /* owned; made anew after a fatal error */
  TideLetterJobs *kept;     /* borrowed, while polling */
  TideLetterJobs *failed;   /* borrowed, while polling */
  guint32 n_under_way;
  gsize bytes_under_way;
  char *trouble; /* owned; NULL: none */
  gboolean trouble_is_of_a_letter;
  char *broker_fault; /* owned: the last, NULL: none */
};

static gsize
bytes_of(const TideLetter *letter)
{
  return letter->key.len + letter->value.len;
}

/* ---- what comes home ---- */

/* @code: of a letter. (transfer full) */
static char *
describe(const TideKafkaLetters *letters, rd_kafka_resp_err_t code, const TideLetter *letter)
{
  const char *what = rd_kafka_err2str(code);
  switch (code) {
  case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE:
    return g_strdup_printf(
        "topic '%s' takes no letter of %" G_GSIZE_FORMAT
        " bytes: raise max.message.bytes of the topic, or message.max.bytes of the brokers, above that "
        "of the topics that are read",
        letters->topic, bytes_of(letter));
  case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
  case RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED:
    return g_strdup_printf(
        "this user may not write to topic '%s' (%s): allow it Write on the topic, and IdempotentWrite on "
        "the cluster where brokers are older than 2.8",
        letters->topic, what);
  case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
  case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
    return g_strdup_printf("topic '%s' does not exist: create it", letters->topic);
  case RD_KAFKA_RESP_ERR__MSG_TIMED_OUT:
    return g_strdup_printf("topic '%s' did not acknowledge a letter within 10 s%s%s", letters->topic,
                           letters->broker_fault != NULL ? "; " : "",
                           letters->broker_fault != NULL ? letters->broker_fault : "");
  default:
    return g_strdup_printf("topic '%s' does not take a letter: %s", letters->topic, what);
  }
}

static void
set_trouble(TideKafkaLetters *letters, char *trouble)
{
  g_free(letters->trouble);
  letters->trouble = trouble;
}

/* Inside of a poll. Without lists (at the end) jobs are freed. */
static void
take_report(rd_kafka_t *kafka, const rd_kafka_message_t *message, void *opaque)
{
  TideKafkaLetters *letters = opaque;
  TideLetterJob *job = message->_private;
  gboolean kept = message->err == RD_KAFKA_RESP_ERR_NO_ERROR;
  letters->n_under_way--;
  letters->bytes_under_way -= bytes_of(&job->letter);
  if (letters->kept == NULL) {
    tide_letter_job_free(job);
    return;
  }
  if (kept) {
    g_clear_pointer(&letters->broker_fault, g_free);
    set_trouble(letters, NULL);
  } else
    set_trouble(letters, describe(letters, message->err, &job->letter));
  letters->trouble_is_of_a_letter = message->err == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE;
  tide_letter_jobs_append(kept ? letters->kept : letters->failed, job);
}

static void
note_broker_fault(rd_kafka_t *kafka, int code, const char *reason, void *opaque)
{
  TideKafkaLetters *letters = opaque;
  g_free(letters->broker_fault);
  letters->broker_fault = g_strdup(reason);
}

/* ---- life ---- */

static gboolean
connect_producer(TideKafkaLetters *letters, GError **error)
{
  rd_kafka_conf_t *conf = tide_kafka_conf_new_letters(&letters->config->kafka, error);
  if (conf == NULL)
    return FALSE;
  rd_kafka_conf_set_opaque(conf, letters);
  rd_kafka_conf_set_error_cb(conf, note_broker_fault);
  rd_kafka_conf_set_dr_msg_cb(conf, take_report);
  char reason[512];
  letters->kafka = rd_kafka_new(RD_KAFKA_PRODUCER, conf, reason, sizeof reason);
  if (letters->kafka != NULL)
    return TRUE;
  rd_kafka_conf_destroy(conf);
  g_set_error(error, TIDE_ERROR, TIDE_ERROR_CONFIG, "kafka.librdkafka: %s", reason);
  return FALSE;
}

TideKafkaLetters *
tide_kafka_letters_new(const TideConfig *config, GError **error)
{
  TideKafkaLetters *letters = g_new0(TideKafkaLetters, 1);
  letters->config = config;
  letters->topic = config->dead_letters.topic;
  if (connect_producer(letters, error))
    return letters;
  tide_kafka_letters_free(letters);
  return NULL;
}

/* Every letter under way comes back, failed. */
static void
disconnect(TideKafkaLetters *letters)
{
  if (letters->kafka == NULL)
    return;
  rd_kafka_purge(letters->kafka, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
  while (letters->n_under_way > 0)
    rd_kafka_poll(letters->kafka, 10);
  g_clear_pointer(&letters->kafka, rd_kafka_destroy);
}

void
tide_kafka_letters_disconnect(TideKafkaLetters *letters, TideLetterJobs *left)
{
  letters->kept = letters->failed = left;
  disconnect(letters);
  letters->kept = letters->failed = NULL;
}

void
tide_kafka_letters_free(TideKafkaLetters *letters)
{
  if (letters == NULL)
    return;
  letters->kept = letters->failed = NULL;
  disconnect(letters);
  g_free(letters->trouble);
  g_free(letters->broker_fault);
  g_free(letters);
}

/* ---- sending ---- */

/* @bytes as librdkafka tells absent from empty. */
static void *
pointer_to(gboolean has, TideBytes bytes)
{
  if (!has)
    return NULL;
  return bytes.len > 0 ? (void *)(guintptr)bytes.data : (void *)(guintptr) "";
}

gboolean
tide_kafka_letters_send(TideKafkaLetters *letters, TideLetterJob *job)
{
  const TideLetter *letter = &job->letter;
  gsize bytes = bytes_of(letter);
  if (letters->n_under_way >= MAX_LETTERS || (letters->n_under_way > 0 && letters->bytes_under_way + bytes > MAX_BYTES))
    return FALSE;
  rd_kafka_headers_t *headers = tide_kafka_letter_headers(letter);
  rd_kafka_resp_err_t result =
      rd_kafka_producev(letters->kafka, RD_KAFKA_V_TOPIC(letters->topic),
                        RD_KAFKA_V_KEY(pointer_to(letter->has_key, letter->key), letter->key.len),
                        RD_KAFKA_V_VALUE(pointer_to(letter->has_value, letter->value), letter->value.len),
                        RD_KAFKA_V_HEADERS(headers), RD_KAFKA_V_OPAQUE(job), RD_KAFKA_V_END);
  if (result == RD_KAFKA_RESP_ERR_NO_ERROR) {
    letters->n_under_way++;
    letters->bytes_under_way += bytes;
    return TRUE;
  }
  rd_kafka_headers_destroy(headers);
  if (result != RD_KAFKA_RESP_ERR__QUEUE_FULL)
    set_trouble(letters, describe(letters, result, letter));
  return FALSE;
}

/* A producer that lost its place in its own sequence cannot go on; a new one can. */
static void
replace_if_fatal(TideKafkaLetters *letters)
{
  char reason[512];
  rd_kafka_resp_err_t code = rd_kafka_fatal_error(letters->kafka, reason, sizeof reason);
  if (code == RD_KAFKA_RESP_ERR_NO_ERROR)
    return;
  disconnect(letters);
  set_trouble(letters,
              g_strdup_printf("the producer for topic '%s' failed (%s) and was made anew", letters->topic, reason));
  /* The same configuration was taken at the start, so this takes memory and threads, nothing else. */
  g_autoptr(GError) error = NULL;
  if (!connect_producer(letters, &error))
    g_error("cannot make a producer again: %s", error->message);
}

void
tide_kafka_letters_poll(TideKafkaLetters *letters, int timeout_ms, TideLetterJobs *kept, TideLetterJobs *failed)
{
  letters->kept = kept;
  letters->failed = failed;
  rd_kafka_poll(letters->kafka, timeout_ms);
  replace_if_fatal(letters);
  letters->kept = letters->failed = NULL;
}

guint32
tide_kafka_letters_under_way(const TideKafkaLetters *letters)
{
  return letters->n_under_way;
}

const char *
tide_kafka_letters_trouble(const TideKafkaLetters *letters)
{
  return letters->trouble;
}

gboolean
tide_kafka_letters_trouble_is_of_a_letter(const TideKafkaLetters *letters)
{
  return letters->trouble_is_of_a_letter;
}
