/* The dead-letter thread before a topic that takes some dead letters and refuses others, which no broker can be made to
 * do. */
#include "dead_letters/dead_letter_queue_private.h"
#include "unit/load_text.h"
#include "util/clock.h"
#include "util/log.h"

#define TIMEOUT_US (240 * TIDE_US_PER_S)
#define LOOK_US (2 * TIDE_US_PER_MS)

/* ---- in place of kafka_dead_letters.c ---- */

typedef enum Answer {
  KEPT,
  FAILED,    /* as every other would */
  TOO_LARGE, /* for its own size */
  NONE,      /* none yet */
  UNSENT,    /* it cannot be sent, nor can any other */
  UNFIT,     /* it cannot be sent, for its own size */
} Answer;

#define N_OFFSETS 4u

/* What the dead letters of the first offsets get, so many times, and what then. All others are kept. */
static struct {
  _Atomic Answer answer;
  _Atomic guint n_remaining;
  _Atomic Answer then;
} answers[N_OFFSETS];

/* While it is shut nothing is answered, so that all that is sent meanwhile is answered at once. */
static _Atomic gboolean is_shut;
static _Atomic guint n_sent, n_polls;

static void
answer(gint64 offset, Answer answer, guint n_times, Answer then)
{
  atomic_store(&answers[offset].n_remaining, 0);
  atomic_store(&answers[offset].then, then);
  atomic_store(&answers[offset].answer, answer);
  atomic_store(&answers[offset].n_remaining, n_times);
}

static gboolean
takes_answer(const TideDeadLetterJob *job, Answer wanted)
{
  gint64 offset = job->dead_letter.offset;
  if (offset >= N_OFFSETS)
    return FALSE;
  if (atomic_load(&answers[offset].n_remaining) == 0)
    return atomic_load(&answers[offset].then) == wanted;
  if (atomic_load(&answers[offset].answer) != wanted)
    return FALSE;
  atomic_fetch_sub(&answers[offset].n_remaining, 1);
  return TRUE;
}

struct TideKafkaDeadLetters {
  TideDeadLetterJobs sent; /* not answered */
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

TideKafkaDeadLetterSent
tide_kafka_dead_letters_send(TideKafkaDeadLetters *dead_letters, TideDeadLetterJob *job)
{
  if (takes_answer(job, UNSENT))
    return TIDE_KAFKA_DEAD_LETTER_FAILED;
  if (takes_answer(job, UNFIT))
    return TIDE_KAFKA_DEAD_LETTER_TOO_LARGE;
  tide_dead_letter_jobs_append(&dead_letters->sent, job);
  atomic_fetch_add(&n_sent, 1);
  return TIDE_KAFKA_DEAD_LETTER_SENT;
}

void
tide_kafka_dead_letters_poll(TideKafkaDeadLetters *dead_letters, int timeout_ms, TideKafkaDeadLetterReports *reports)
{
  TideDeadLetterJobs sent = dead_letters->sent;
  if (!atomic_load(&is_shut)) {
    dead_letters->sent = (TideDeadLetterJobs){0};
    for (TideDeadLetterJob *job; (job = tide_dead_letter_jobs_take(&sent)) != NULL;)
      if (takes_answer(job, NONE))
        tide_dead_letter_jobs_append(&dead_letters->sent, job);
      else if (takes_answer(job, FAILED))
        tide_dead_letter_jobs_append(&reports->failed, job);
      else
        tide_dead_letter_jobs_append(takes_answer(job, TOO_LARGE) ? &reports->too_large : &reports->kept, job);
  }
  atomic_fetch_add(&n_polls, 1);
}

guint32
tide_kafka_dead_letters_in_flight(const TideKafkaDeadLetters *dead_letters)
{
  return dead_letters->sent.n;
}

const char *
tide_kafka_dead_letters_trouble(const TideKafkaDeadLetters *dead_letters)
{
  return "it takes none";
}

char *
tide_kafka_dead_letters_describe_too_large(const TideKafkaDeadLetters *dead_letters, const TideDeadLetterJob *job)
{
  return g_strdup("it takes none of that size");
}

/* ---- the tests ---- */

typedef struct Fixture {
  TideConfig *config;
  TideMetrics *metrics;
  TideBudget budget;
  TideDeadLetterQueue *dead_letters;
  TideDeadLetterCompletions box;
  TideOwnedAssignment owned; /* of the jobs' partition */
  TideMutex lock;
  TideCond never;
} Fixture;

static void
set_up(Fixture *fixture, gconstpointer data)
{
  for (guint i = 0; i < N_OFFSETS; i++)
    answer(i, KEPT, 0, KEPT);
  atomic_store(&is_shut, FALSE);
  atomic_store(&n_sent, 0);
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
  TideDeadLetterJob *job = tide_dead_letter_job_new(&dead_letter, (TideSourceRef){0}, 1, &fixture->box);
  job->owned = &fixture->owned;
  tide_dead_letter_queue_submit(fixture->dead_letters, job);
}

/* Until @n completed, kept or given up. Returns: the bits of their offsets. */
static guint
await_completed(Fixture *fixture, guint n, gboolean is_kept)
{
  gint64 deadline_us = tide_now_us() + TIMEOUT_US;
  guint offsets = 0;
  for (guint i = 0; i < n;) {
    TideDeadLetterJob *job = tide_dead_letter_completions_take(&fixture->box);
    if (job == NULL)
      look_again(fixture, deadline_us);
    for (TideDeadLetterJob *next; job != NULL; job = next, i++) {
      next = job->next;
      g_assert_cmpint(job->is_kept, ==, is_kept);
      offsets |= 1u << job->dead_letter.offset;
      tide_dead_letter_job_free(job);
    }
  }
  return offsets;
}

static guint
await_kept(Fixture *fixture, guint n)
{
  return await_completed(fixture, n, TRUE);
}

static void
await_number(Fixture *fixture, _Atomic guint *number, guint n)
{
  gint64 deadline_us = tide_now_us() + TIMEOUT_US;
  while (atomic_load(number) < n)
    look_again(fixture, deadline_us);
}

/* The thread has looked for answers so often, whatever it found. */
static void
await_polls(Fixture *fixture, guint n)
{
  await_number(fixture, &n_polls, atomic_load(&n_polls) + n + 1);
}

static void
await_stalled(Fixture *fixture, gboolean is_stalled)
{
  gint64 deadline_us = tide_now_us() + TIMEOUT_US;
  while (tide_dead_letter_queue_is_stalled_racy(fixture->dead_letters) != is_stalled)
    look_again(fixture, deadline_us);
}

static void
await_retries(Fixture *fixture, guint64 n)
{
  gint64 deadline_us = tide_now_us() + TIMEOUT_US;
  while (tide_metrics_sum(fixture->metrics, "tidemark_dead_letters_retries_total", NULL) < n)
    look_again(fixture, deadline_us);
}

/* The dead letters of the offsets below @n are sent before one of them is answered: one look finds all answers. */
static void
submit_for_one_look(Fixture *fixture, guint n)
{
  atomic_store(&is_shut, TRUE);
  for (guint i = 0; i < n; i++)
    submit(fixture, i);
  await_number(fixture, &n_sent, n);
  atomic_store(&is_shut, FALSE);
}

/* So often the first is refused: the next attempt is then more than a second away. */
#define N_REFUSALS 5u

/* That dead letters can be kept shows with the first that is: nobody waits for the one that was refused meanwhile. */
static void
test_first_kept_dead_letter_ends_the_holding(Fixture *fixture, gconstpointer data)
{
  answer(0, FAILED, N_REFUSALS, KEPT);
  submit(fixture, 0);
  await_retries(fixture, N_REFUSALS);
  g_assert_true(tide_dead_letter_queue_is_stalled_racy(fixture->dead_letters));
  submit(fixture, 1);
  (void)await_kept(fixture, 1);
  g_assert_false(tide_dead_letter_queue_is_stalled_racy(fixture->dead_letters));
}

/* A look that finds no answer shows nothing. */
static void
test_looking_ends_no_holding(Fixture *fixture, gconstpointer data)
{
  answer(0, FAILED, 1, NONE);
  submit(fixture, 0);
  await_stalled(fixture, TRUE);
  await_number(fixture, &n_sent, 2); /* it is under way again */
  await_polls(fixture, 5);
  g_assert_true(tide_dead_letter_queue_is_stalled_racy(fixture->dead_letters));
  answer(0, KEPT, 0, KEPT);
  g_assert_cmpuint(await_kept(fixture, 1), ==, 1);
  g_assert_false(tide_dead_letter_queue_is_stalled_racy(fixture->dead_letters));
}

/* @how: the first dead letter is refused at first, and @then. Only it waits. */
static void
assert_one_delays_no_other(Fixture *fixture, Answer how, Answer then)
{
  answer(0, how, 1, then);
  submit_for_one_look(fixture, 3);
  g_assert_cmpuint(await_kept(fixture, 2), ==, 1u << 1 | 1u << 2);
  await_retries(fixture, 1);
  g_assert_false(tide_dead_letter_queue_is_stalled_racy(fixture->dead_letters));
  g_assert_cmpuint(tide_metrics_sum(fixture->metrics, "tidemark_dead_letters_waiting", NULL), ==, 1);
  g_autofree char *text = tide_dead_letter_queue_stall_text(fixture->dead_letters);
  g_assert_null(text);
  answer(0, KEPT, 0, KEPT);
  g_assert_cmpuint(await_kept(fixture, 1), ==, 1);
}

static void
test_one_that_is_too_large_delays_no_other(Fixture *fixture, gconstpointer data)
{
  assert_one_delays_no_other(fixture, TOO_LARGE, TOO_LARGE);
}

static void
test_one_that_fails_while_others_are_kept_delays_none(Fixture *fixture, gconstpointer data)
{
  assert_one_delays_no_other(fixture, FAILED, NONE);
}

/* librdkafka itself finds it too large: the same. */
static void
test_one_that_cannot_be_sent_delays_no_other(Fixture *fixture, gconstpointer data)
{
  answer(0, UNFIT, 1, UNFIT);
  submit(fixture, 0);
  await_retries(fixture, 1);
  submit(fixture, 1);
  g_assert_cmpuint(await_kept(fixture, 1), ==, 1u << 1);
  g_assert_false(tide_dead_letter_queue_is_stalled_racy(fixture->dead_letters));
  answer(0, KEPT, 0, KEPT);
  g_assert_cmpuint(await_kept(fixture, 1), ==, 1);
}

/* So often it would be sent within a quarter of an hour at the earliest. */
#define MANY_ATTEMPTS 100u

/* It is tried ever more seldom, while others are kept at once. */
static void
test_one_that_is_too_large_is_sent_seldom(Fixture *fixture, gconstpointer data)
{
  answer(0, TOO_LARGE, 1, TOO_LARGE);
  submit(fixture, 0);
  for (guint i = 0; i < 30; i++) {
    submit(fixture, 1);
    g_assert_cmpuint(await_kept(fixture, 1), ==, 1u << 1);
  }
  g_assert_cmpuint(tide_metrics_sum(fixture->metrics, "tidemark_dead_letters_retries_total", NULL), <, MANY_ATTEMPTS);
}

/* The answer to one that is too large shows that the topic is back. */
static void
test_one_that_is_too_large_ends_the_holding(Fixture *fixture, gconstpointer data)
{
  answer(0, FAILED, N_REFUSALS, KEPT);
  submit(fixture, 0);
  await_retries(fixture, N_REFUSALS);
  answer(0, TOO_LARGE, 1, TOO_LARGE); /* the topic is back */
  await_stalled(fixture, FALSE);
  submit(fixture, 1);
  g_assert_cmpuint(await_kept(fixture, 1), ==, 1u << 1);
  answer(0, KEPT, 0, KEPT);
  g_assert_cmpuint(await_kept(fixture, 1), ==, 1);
}

/* One that is kept after a failure shows that the topic is back: the others are sent at once. */
static void
test_one_that_is_kept_after_a_failure_ends_all_waits(Fixture *fixture, gconstpointer data)
{
  answer(0, TOO_LARGE, N_REFUSALS, NONE);
  answer(1, FAILED, 1, KEPT);
  submit(fixture, 0);
  await_retries(fixture, N_REFUSALS);
  submit(fixture, 1);
  g_assert_cmpuint(await_kept(fixture, 1), ==, 1u << 1);
  g_assert_true(tide_dead_letter_queue_stop(fixture->dead_letters, G_MAXINT64));
  for (guint i = 0; i < TIDE_DEAD_LETTER_N_STAGES; i++) {
    g_assert_cmpuint(fixture->dead_letters->stages[i].n_failures, ==, 0);
    g_assert_cmpint(fixture->dead_letters->stages[i].next_us, ==, 0);
  }
}

/* As when no producer can be made. */
static void
test_what_cannot_be_sent_is_sent_later(Fixture *fixture, gconstpointer data)
{
  answer(0, UNSENT, 1, UNSENT);
  submit(fixture, 0);
  submit(fixture, 1);
  await_stalled(fixture, TRUE);
  g_autofree char *text = tide_dead_letter_queue_stall_text(fixture->dead_letters);
  g_assert_cmpstr(text, ==, "cannot write dead letters: it takes none");
  await_retries(fixture, 2);
  answer(0, KEPT, 0, KEPT);
  g_assert_cmpuint(await_kept(fixture, 2), ==, 3);
  g_assert_false(tide_dead_letter_queue_is_stalled_racy(fixture->dead_letters));
}

/* What waits for its own size alone goes with its partition. */
static void
test_one_that_is_too_large_goes_with_its_partition(Fixture *fixture, gconstpointer data)
{
  answer(0, TOO_LARGE, 1, TOO_LARGE);
  submit(fixture, 0);
  await_retries(fixture, 1);
  atomic_store(&fixture->owned, TIDE_NOT_OWNED);
  g_assert_cmpuint(await_completed(fixture, 1, FALSE), ==, 1);
  g_assert_cmpuint(tide_metrics_sum(fixture->metrics, "tidemark_dead_letters_cancelled_total", NULL), ==, 1);
}

/* Nothing was kept, and the log does not say so. */
static void
log_of_a_stop_while_the_topic_takes_nothing(void)
{
  Fixture fixture = {0};
  tide_log_init(TIDE_LOG_FORMAT_TEXT, TIDE_LOG_NOTICE);
  set_up(&fixture, NULL);
  answer(0, FAILED, 1, FAILED);
  submit(&fixture, 0);
  await_stalled(&fixture, TRUE);
  atomic_store(&fixture.owned, TIDE_NOT_OWNED);
  (void)await_completed(&fixture, 1, FALSE);
  await_stalled(&fixture, FALSE);
  tear_down(&fixture, NULL);
}

static void
test_stop_keeps_nothing_and_says_so(void)
{
  if (g_test_subprocess()) {
    log_of_a_stop_while_the_topic_takes_nothing();
    return;
  }
  g_test_trap_subprocess(NULL, 0, 0);
  g_test_trap_assert_passed();
  g_test_trap_assert_stderr("*no dead letter is waiting any longer*");
  g_test_trap_assert_stderr_unmatched("*can be written again*");
}

/* Too many, and one of those before them is not kept yet: that is still waited for. */
static void
test_what_may_be_kept_is_waited_for(Fixture *fixture, gconstpointer data)
{
  gint64 deadline_us = tide_now_us() + TIMEOUT_US;
  guint32 n_kept = 0;
  answer(0, FAILED, N_REFUSALS, KEPT);
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

#define ADD(path, test) g_test_add("/dead-letter-queue-work/" path, Fixture, NULL, set_up, test, tear_down)

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  tide_log_init(TIDE_LOG_FORMAT_TEXT, TIDE_LOG_CRIT);
  ADD("first-kept-dead-letter-ends-the-holding", test_first_kept_dead_letter_ends_the_holding);
  ADD("looking-ends-no-holding", test_looking_ends_no_holding);
  ADD("C2-one-that-is-too-large-delays-no-other", test_one_that_is_too_large_delays_no_other);
  ADD("C2-one-that-fails-while-others-are-kept-delays-none", test_one_that_fails_while_others_are_kept_delays_none);
  ADD("C2-one-that-cannot-be-sent-delays-no-other", test_one_that_cannot_be_sent_delays_no_other);
  ADD("C2-one-that-is-too-large-is-sent-seldom", test_one_that_is_too_large_is_sent_seldom);
  ADD("C2-one-that-is-too-large-ends-the-holding", test_one_that_is_too_large_ends_the_holding);
  ADD("C2-one-that-is-too-large-goes-with-its-partition", test_one_that_is_too_large_goes_with_its_partition);
  ADD("C2-one-that-is-kept-after-a-failure-ends-all-waits", test_one_that_is_kept_after_a_failure_ends_all_waits);
  ADD("C8-what-cannot-be-sent-is-sent-later", test_what_cannot_be_sent_is_sent_later);
  ADD("what-may-be-kept-is-waited-for", test_what_may_be_kept_is_waited_for);
  g_test_add_func("/dead-letter-queue-work/K16-stop-keeps-nothing-and-says-so", test_stop_keeps_nothing_and_says_so);
  return g_test_run();
}
