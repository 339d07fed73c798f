/* The thread of the letters before a topic that takes some letters and refuses others, which no broker can be made to
 * do. */
#include "dead_letters/dead_letters_private.h"
#include "unit/load_text.h"
#include "util/clock.h"
#include "util/log.h"

#define PATIENCE_US (240 * TIDE_US_PER_S)
#define LOOK_US (2 * TIDE_US_PER_MS)

/* ---- in place of kafka_letters.c ---- */

/* So often it refuses the first message's letter: the next attempt is then more than a second away. */
#define N_REFUSALS 5u

struct TideKafkaLetters {
  TideLetterJobs sent; /* not answered */
  guint32 n_refused;
};

TideKafkaLetters *
tide_kafka_letters_new(const TideConfig *config, GError **error)
{
  return g_new0(TideKafkaLetters, 1);
}

void
tide_kafka_letters_disconnect(TideKafkaLetters *letters, TideLetterJobs *left)
{
  for (TideLetterJob *job; (job = tide_letter_jobs_take(&letters->sent)) != NULL;)
    tide_letter_jobs_append(left, job);
}

void
tide_kafka_letters_free(TideKafkaLetters *letters)
{
  g_free(letters);
}

gboolean
tide_kafka_letters_send(TideKafkaLetters *letters, TideLetterJob *job)
{
  tide_letter_jobs_append(&letters->sent, job);
  return TRUE;
}

void
tide_kafka_letters_poll(TideKafkaLetters *letters, int timeout_ms, TideLetterJobs *kept, TideLetterJobs *failed)
{
  for (TideLetterJob *job; (job = tide_letter_jobs_take(&letters->sent)) != NULL;) {
    gboolean is_refused = job->letter.offset == 0 && letters->n_refused < N_REFUSALS;
    letters->n_refused += is_refused ? 1 : 0;
    tide_letter_jobs_append(is_refused ? failed : kept, job);
  }
}

guint32
tide_kafka_letters_under_way(const TideKafkaLetters *letters)
{
  return letters->sent.n;
}

const char *
tide_kafka_letters_trouble(const TideKafkaLetters *letters)
{
  return "it takes none";
}

gboolean
tide_kafka_letters_trouble_is_of_a_letter(const TideKafkaLetters *letters)
{
  return FALSE;
}

/* ---- the tests ---- */

typedef struct Fixture {
  TideConfig *config;
  TideMetrics *metrics;
  TideBudget budget;
  TideDeadLetters *letters;
  TideLetterBox box;
  TideMutex lock;
  TideCond never;
} Fixture;

static void
set_up(Fixture *fixture, gconstpointer data)
{
  fixture->config = load_text("kafka: {brokers: \"127.0.0.1:1\", group: g, topics: [m], threads: 1}\n"
                              "hbase: {gateways: [\"127.0.0.1:1\"]}\nreadings: {time: record}\n"
                              "tables:\n  T: {key: [{ field: a }], columns: { family: f, from: \"*\" }}\n"
                              "dead_letters: {topic: letters, max_ratio: 1}\n");
  fixture->metrics = tide_metrics_new();
  tide_budget_init(&fixture->budget, 1 << 20);
  TideDeadLettersContext context = {.config = fixture->config, .budget = &fixture->budget, .metrics = fixture->metrics};
  g_autoptr(GError) error = NULL;
  fixture->letters = tide_dead_letters_new(&context);
  g_assert_true(tide_dead_letters_start(fixture->letters, TIDE_WIRE_BINARY, &error));
  g_assert_no_error(error);
  tide_letter_box_init(&fixture->box, NULL, NULL);
  tide_mutex_init(&fixture->lock);
  tide_cond_init(&fixture->never);
}

static void
tear_down(Fixture *fixture, gconstpointer data)
{
  tide_dead_letters_free(fixture->letters);
  tide_letter_box_clear(&fixture->box);
  tide_cond_clear(&fixture->never);
  tide_mutex_clear(&fixture->lock);
  g_assert_cmpuint(tide_budget_used_racy(&fixture->budget), ==, 0);
  tide_config_free(fixture->config);
  tide_metrics_free(fixture->metrics);
}

static void
look_again(Fixture *fixture, gint64 deadline_us)
{
  g_assert_cmpint(tide_now_us(), <, deadline_us);
  tide_mutex_lock(&fixture->lock);
  (void)tide_cond_wait_until(&fixture->never, &fixture->lock, tide_now_us() + LOOK_US);
  tide_mutex_unlock(&fixture->lock);
}

static void
submit(Fixture *fixture, gint64 offset)
{
  TideLetter letter = {.topic = TIDE_BYTES_LITERAL("m"),
                       .offset = offset,
                       .timestamp_ms = -1,
                       .reading_index = -1,
                       .reason = TIDE_BYTES_LITERAL("parse"),
                       .text = TIDE_BYTES_LITERAL("it is not JSON")};
  tide_dead_letters_submit(fixture->letters, tide_letter_job_new(&letter, (TideSourceRef){0}, 1, &fixture->box));
}

static void
await_kept(Fixture *fixture)
{
  gint64 deadline_us = tide_now_us() + PATIENCE_US;
  TideLetterJob *job;
  while ((job = tide_letter_box_take(&fixture->box)) == NULL)
    look_again(fixture, deadline_us);
  for (TideLetterJob *next; job != NULL; job = next) {
    next = job->next;
    g_assert_cmpint(job->result, ==, TIDE_LETTER_KEPT);
    tide_letter_job_free(job);
  }
}

/* That letters can be kept shows with the first that is: nobody waits for the one that was refused meanwhile. */
static void
test_first_kept_letter_ends_the_holding(Fixture *fixture, gconstpointer data)
{
  gint64 deadline_us = tide_now_us() + PATIENCE_US;
  submit(fixture, 0);
  while (tide_metrics_sum(fixture->metrics, "tidemark_dead_letters_retries_total", NULL) < N_REFUSALS)
    look_again(fixture, deadline_us);
  submit(fixture, 1);
  await_kept(fixture);
  g_assert_false(tide_dead_letters_is_holding_racy(fixture->letters));
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  tide_log_init(TIDE_LOG_FORMAT_TEXT, TIDE_LOG_CRIT);
  g_test_add("/dead-letters-work/first-kept-letter-ends-the-holding", Fixture, NULL, set_up,
             test_first_kept_letter_ends_the_holding, tear_down);
  return g_test_run();
}
