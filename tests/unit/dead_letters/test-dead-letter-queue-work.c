/* The dead-letter thread before a topic that takes some dead letters and refuses others, which no broker can be made to
 * do. */
#include "dead_letters/dead_letter_queue_private.h"
#include "unit/load_text.h"
#include "util/clock.h"
#include "util/log.h"

#define TIMEOUT_US (240 * TIDE_US_PER_S)
#define LOOK_US (2 * TIDE_US_PER_MS)

/* ---- in place of kafka_dead_letters.c ---- */

/* So often it refuses the first message's dead letter: the next attempt is then more than a second away. */
#define N_REFUSALS 5u

struct TideKafkaDeadLetters {
  TideDeadLetterJobs sent; /* not answered */
  guint32 n_refused;
};

TideKafkaDeadLetters *
tide_kafka_dead_letters_new(const TideConfig *config, GError **error)
{
  return g_new0(TideKafkaDeadLetters, 1);
}

void
tide_kafka_dead_letters_disconnect(TideKafkaDeadLetters *dead_letters, TideDeadLetterJobs *left)
{
  for (TideDeadLetterJob *job; (job = tide_dead_letter_jobs_take(&dead_letters->sent)) != NULL;)
    tide_dead_letter_jobs_append(left, job);
}

void
tide_kafka_dead_letters_free(TideKafkaDeadLetters *dead_letters)
{
  g_free(dead_letters);
}

gboolean
tide_kafka_dead_letters_send(TideKafkaDeadLetters *dead_letters, TideDeadLetterJob *job)
{
  tide_dead_letter_jobs_append(&dead_letters->sent, job);
  return TRUE;
}

void
tide_kafka_dead_letters_poll(TideKafkaDeadLetters *dead_letters, int timeout_ms, TideDeadLetterJobs *kept,
                             TideDeadLetterJobs *failed)
{
  for (TideDeadLetterJob *job; (job = tide_dead_letter_jobs_take(&dead_letters->sent)) != NULL;) {
    gboolean is_refused = job->dead_letter.offset == 0 && dead_letters->n_refused < N_REFUSALS;
    dead_letters->n_refused += is_refused ? 1 : 0;
    tide_dead_letter_jobs_append(is_refused ? failed : kept, job);
  }
}

guint32
tide_kafka_dead_letters_under_way(const TideKafkaDeadLetters *dead_letters)
{
  return dead_letters->sent.n;
}

const char *
tide_kafka_dead_letters_trouble(const TideKafkaDeadLetters *dead_letters)
{
  return "it takes none";
}

gboolean
tide_kafka_dead_letters_trouble_is_of_one(const TideKafkaDeadLetters *dead_letters)
{
  return FALSE;
}

/* ---- the tests ---- */

typedef struct Fixture {
  TideConfig *config;
  TideMetrics *metrics;
  TideBudget budget;
  TideDeadLetterQueue *dead_letters;
  TideDeadLetterCompletions box;
  TideMutex lock;
  TideCond never;
} Fixture;

static void
set_up(Fixture *fixture, gconstpointer data)
{
  fixture->config = load_text("kafka: {brokers: \"127.0.0.1:1\", group: g, topics: [m], threads: 1}\n"
                              "hbase: {gateways: [\"127.0.0.1:1\"]}\nreadings: {time: record}\n"
                              "tables:\n  T: {key: [{ field: a }], columns: { family: f, from: \"*\" }}\n"
                              "dead_letters: {topic: letters, max_ratio: 0.1}\n");
  fixture->metrics = tide_metrics_new();
  tide_budget_init(&fixture->budget, 1 << 20);
  TideDeadLetterQueueContext context = {
      .config = fixture->config, .budget = &fixture->budget, .metrics = fixture->metrics};
  g_autoptr(GError) error = NULL;
  fixture->dead_letters = tide_dead_letter_queue_new(&context);
  g_assert_true(tide_dead_letter_queue_start(fixture->dead_letters, TIDE_WIRE_BINARY, &error));
  g_assert_no_error(error);
  tide_dead_letter_completions_init(&fixture->box, NULL, NULL);
  tide_mutex_init(&fixture->lock);
  tide_cond_init(&fixture->never);
}

static void
tear_down(Fixture *fixture, gconstpointer data)
{
  tide_dead_letter_queue_free(fixture->dead_letters);
  tide_dead_letter_completions_clear(&fixture->box);
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
  TideDeadLetter dead_letter = {.topic = TIDE_BYTES_LITERAL("m"),
                                .offset = offset,
                                .timestamp_ms = -1,
                                .reading_index = -1,
                                .reason = TIDE_BYTES_LITERAL("parse"),
                                .text = TIDE_BYTES_LITERAL("it is not JSON")};
  tide_dead_letter_queue_submit(fixture->dead_letters,
                                tide_dead_letter_job_new(&dead_letter, (TideSourceRef){0}, 1, &fixture->box));
}

static void
await_kept(Fixture *fixture)
{
  gint64 deadline_us = tide_now_us() + TIMEOUT_US;
  TideDeadLetterJob *job;
  while ((job = tide_dead_letter_completions_take(&fixture->box)) == NULL)
    look_again(fixture, deadline_us);
  for (TideDeadLetterJob *next; job != NULL; job = next) {
    next = job->next;
    g_assert_cmpint(job->result, ==, TIDE_DEAD_LETTER_KEPT);
    tide_dead_letter_job_free(job);
  }
}

/* That dead letters can be kept shows with the first that is: nobody waits for the one that was refused meanwhile. */
static void
test_first_kept_dead_letter_ends_the_holding(Fixture *fixture, gconstpointer data)
{
  gint64 deadline_us = tide_now_us() + TIMEOUT_US;
  submit(fixture, 0);
  while (tide_metrics_sum(fixture->metrics, "tidemark_dead_letters_retries_total", NULL) < N_REFUSALS)
    look_again(fixture, deadline_us);
  submit(fixture, 1);
  await_kept(fixture);
  g_assert_false(tide_dead_letter_queue_is_stalled_racy(fixture->dead_letters));
}

/* Too many, and one of those before them is not kept yet: that is still waited for. */
static void
test_what_may_be_kept_is_waited_for(Fixture *fixture, gconstpointer data)
{
  gint64 deadline_us = tide_now_us() + TIMEOUT_US;
  guint32 n_kept = 0;
  for (gint64 offset = 0; offset < TIDE_DEAD_LETTER_RATIO_MIN + 20; offset++)
    submit(fixture, offset);
  while (!tide_dead_letter_queue_keeps_no_more(fixture->dead_letters))
    look_again(fixture, deadline_us);
  TideDeadLetterJob *job = tide_dead_letter_completions_take(&fixture->box);
  for (TideDeadLetterJob *next; job != NULL; job = next, n_kept++) {
    next = job->next;
    tide_dead_letter_job_free(job);
  }
  g_assert_cmpuint(n_kept, ==, TIDE_DEAD_LETTER_RATIO_MIN - 1);
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  tide_log_init(TIDE_LOG_FORMAT_TEXT, TIDE_LOG_CRIT);
  g_test_add("/dead-letter-queue-work/first-kept-dead-letter-ends-the-holding", Fixture, NULL, set_up,
             test_first_kept_dead_letter_ends_the_holding, tear_down);
  g_test_add("/dead-letter-queue-work/what-may-be-kept-is-waited-for", Fixture, NULL, set_up,
             test_what_may_be_kept_is_waited_for, tear_down);
  return g_test_run();
}
