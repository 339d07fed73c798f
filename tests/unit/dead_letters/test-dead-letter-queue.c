/* The keeping of dead letters in a file: what is kept, what completes, and when nothing more is kept. */
#include "dead_letters/dead_letter_json.h"
#include "dead_letters/dead_letter_queue_private.h"
#include "dead_letters/dead_letter_ratio.h"
#include "unit/assert_bytes.h"
#include "unit/load_text.h"
#include "util/clock.h"
#include "util/error.h"

#include <glib/gstdio.h>

#define TIMEOUT_US (240 * TIDE_US_PER_S)

static TideOwnedAssignment owned_assignment; /* of the jobs' partition */

typedef struct Fixture {
  char *directory;
  char *path;
  TideConfig *config;
  TideMetrics *metrics;
  TideBudget budget;
  TideDeadLetterQueue *dead_letters;
  TideDeadLetterCompletions box;
  TideMutex lock;
  TideCond changed;
} Fixture;

#define LOOK_US (2 * TIDE_US_PER_MS)

static void
wake(gpointer data)
{
  Fixture *fixture = data;
  tide_cond_broadcast(&fixture->changed);
}

/* Looks again soon, at once when something completed. */
static void
await_change(Fixture *fixture, gint64 deadline_us)
{
  g_assert_cmpint(tide_now_us(), <, deadline_us);
  tide_mutex_lock(&fixture->lock);
  (void)tide_cond_wait_until(&fixture->changed, &fixture->lock, tide_now_us() + LOOK_US);
  tide_mutex_unlock(&fixture->lock);
}

static void
set_up_without_start(Fixture *fixture, gconstpointer options)
{
  g_autoptr(GError) error = NULL;
  fixture->directory = g_dir_make_tmp("tidemark-letters-XXXXXX", &error);
  g_assert_no_error(error);
  fixture->path = g_build_filename(fixture->directory, "letters.jsonl", NULL);
  g_autofree char *text =
      g_strdup_printf("kafka: {brokers: \"b:9092\", group: g, topics: [m], threads: 1}\n"
                      "hbase: {gateways: [\"h:9090\"]}\nreadings: {time: record}\n"
                      "tables:\n  T:\n    key: [{ field: a }]\n    columns: { family: f, from: \"*\" }\n"
                      "dead_letters:\n  file: %s\n%s",
                      fixture->path, options != NULL ? (const char *)options : "");
  fixture->config = load_text(text);
  fixture->metrics = tide_metrics_new();
  tide_budget_init(&fixture->budget, 1 << 20);
  TideDeadLetterQueueContext context = {
      .config = fixture->config, .budget = &fixture->budget, .metrics = fixture->metrics};
  atomic_store(&owned_assignment, 4);
  fixture->dead_letters = tide_dead_letter_queue_new(&context);
  tide_mutex_init(&fixture->lock);
  tide_cond_init(&fixture->changed);
  tide_dead_letter_completions_init(&fixture->box, wake, fixture);
}

static void
start(Fixture *fixture)
{
  g_autoptr(GError) error = NULL;
  g_assert_true(tide_dead_letter_queue_start(fixture->dead_letters, TIDE_WIRE_BINARY, &error));
  g_assert_no_error(error);
}

static void
set_up(Fixture *fixture, gconstpointer options)
{
  set_up_without_start(fixture, options);
  start(fixture);
}

static void
tear_down(Fixture *fixture, gconstpointer options)
{
  tide_dead_letter_queue_free(fixture->dead_letters);
  tide_dead_letter_completions_clear(&fixture->box);
  tide_cond_clear(&fixture->changed);
  tide_mutex_clear(&fixture->lock);
  g_assert_cmpuint(tide_budget_used_racy(&fixture->budget), ==, 0);
  tide_config_free(fixture->config);
  tide_metrics_free(fixture->metrics);
  g_autoptr(GDir) entries = g_dir_open(fixture->directory, 0, NULL);
  for (const char *name; (name = g_dir_read_name(entries)) != NULL;) {
    g_autofree char *path = g_build_filename(fixture->directory, name, NULL);
    g_remove(path);
  }
  g_remove(fixture->directory);
  g_free(fixture->path);
  g_free(fixture->directory);
}

/* @is_further: not the first of its message */
static void
submit_one(Fixture *fixture, gint64 offset, gboolean is_further)
{
  TideDeadLetter dead_letter = {.topic = TIDE_BYTES_LITERAL("m"),
                                .offset = offset,
                                .timestamp_ms = 1,
                                .value = TIDE_BYTES_LITERAL("{bad"),
                                .has_value = TRUE,
                                .reading_index = -1,
                                .reason = TIDE_BYTES_LITERAL("parse"),
                                .text = TIDE_BYTES_LITERAL("it is not JSON")};
  TideSourceRef source = {.assignment = 4, .sequence = (guint32)offset};
  TideDeadLetterJob *job = tide_dead_letter_job_new(&dead_letter, source, 2, &fixture->box);
  job->owned = &owned_assignment;
  job->is_further = is_further;
  tide_dead_letter_queue_submit(fixture->dead_letters, job);
}

static void
submit(Fixture *fixture, gint64 offset)
{
  submit_one(fixture, offset, FALSE);
}

/* Until @n jobs completed, kept or given up, in the order of their offsets. */
static void
await_completed_with(Fixture *fixture, guint n, gboolean is_kept)
{
  gint64 deadline_us = tide_now_us() + TIMEOUT_US;
  for (guint i = 0; i < n;) {
    TideDeadLetterJob *job = tide_dead_letter_completions_take(&fixture->box);
    if (job == NULL)
      await_change(fixture, deadline_us);
    for (TideDeadLetterJob *next; job != NULL; job = next, i++) {
      next = job->next;
      g_assert_cmpint(job->is_kept, ==, is_kept);
      g_assert_cmpint(job->source.assignment, ==, 4);
      g_assert_cmpuint(job->source.sequence, ==, i);
      g_assert_cmpuint(job->n_acks, ==, 2);
      tide_dead_letter_job_free(job);
    }
  }
}

static void
await_completed(Fixture *fixture, guint n)
{
  await_completed_with(fixture, n, TRUE);
}

static void
test_kept_dead_letters_complete(Fixture *fixture, gconstpointer data)
{
  g_assert_true(tide_dead_letter_queue_exist(fixture->dead_letters));
  for (gint64 i = 0; i < 50; i++)
    submit(fixture, i);
  await_completed(fixture, 50);
  g_autofree char *content = NULL;
  gsize len;
  g_assert_true(g_file_get_contents(fixture->path, &content, &len, NULL));
  g_auto(GStrv) lines = g_strsplit(content, "\n", 0);
  g_assert_cmpuint(g_strv_length(lines), ==, 51);
  g_autoptr(TideDeadLetterParser) parser = tide_dead_letter_parser_new();
  for (gint64 i = 0; i < 50; i++) {
    TideDeadLetter dead_letter;
    g_autoptr(GError) error = NULL;
    g_assert_true(tide_dead_letter_parser_parse(parser, tide_bytes_of_string(lines[i]), &dead_letter, NULL, &error));
    g_assert_cmpint(dead_letter.offset, ==, i);
    assert_bytes_equal(dead_letter.value, TIDE_BYTES_LITERAL("{bad"));
    g_assert_cmpuint(dead_letter.version.len, >, 0);
  }
  g_assert_cmpuint(tide_metrics_sum(fixture->metrics, "tidemark_dead_letters_total", "reason=\"parse\""), ==, 50);
  g_assert_cmpuint(tide_metrics_sum(fixture->metrics, "tidemark_dead_letters_waiting", NULL), ==, 0);
  g_assert_false(tide_dead_letter_queue_is_stalled_racy(fixture->dead_letters));
}

static void
await_holding(Fixture *fixture)
{
  gint64 deadline_us = tide_now_us() + TIMEOUT_US;
  while (!tide_dead_letter_queue_is_stalled_racy(fixture->dead_letters))
    await_change(fixture, deadline_us);
}

/* The directory is away, as a disk that is full or read-only: nothing completes, and everything when it is back. */
static void
test_holds_while_the_disk_takes_nothing(Fixture *fixture, gconstpointer data)
{
  g_autofree char *away = g_strconcat(fixture->directory, "-away", NULL);
  g_assert_cmpint(g_rename(fixture->directory, away), ==, 0);
  for (gint64 i = 0; i < 10; i++)
    submit(fixture, i);
  await_holding(fixture);
  g_autofree char *text = tide_dead_letter_queue_stall_text(fixture->dead_letters);
  g_assert_nonnull(strstr(text, fixture->path));
  g_assert_null(tide_dead_letter_completions_take(&fixture->box));
  g_assert_cmpuint(tide_metrics_sum(fixture->metrics, "tidemark_dead_letters_retries_total", NULL), >=, 1);
  g_assert_cmpint(g_rename(away, fixture->directory), ==, 0);
  await_completed(fixture, 10);
  g_assert_false(tide_dead_letter_queue_is_stalled_racy(fixture->dead_letters));
  /* The next trouble is a new one: it is said, and tried again soon. */
  g_assert_cmpuint(fixture->dead_letters->stages[TIDE_STAGE_KEEP].n_failures, ==, 0);
  g_assert_cmpint(fixture->dead_letters->stages[TIDE_STAGE_KEEP].logged_us, ==, 0);
}

static void
remove_letters(const Fixture *fixture)
{
  g_autoptr(GDir) entries = g_dir_open(fixture->directory, 0, NULL);
  for (const char *name; (name = g_dir_read_name(entries)) != NULL;) {
    g_autofree char *path = g_build_filename(fixture->directory, name, NULL);
    if (!g_str_has_suffix(name, ".lock"))
      g_remove(path);
  }
}

/* More of them at once than all files may hold: what fits is kept, and the rest when the operator has made room. */
static void
test_group_larger_than_all_files_is_kept(Fixture *fixture, gconstpointer data)
{
  const guint n_all = 500;
  g_autofree char *away = g_strconcat(fixture->directory, "-away", NULL);
  g_assert_cmpint(g_rename(fixture->directory, away), ==, 0);
  for (gint64 i = 0; i < n_all; i++)
    submit(fixture, i);
  await_holding(fixture);
  g_assert_cmpint(g_rename(away, fixture->directory), ==, 0);
  gint64 deadline_us = tide_now_us() + TIMEOUT_US;
  for (guint n = 0, n_since = 0; n < n_all;) {
    TideDeadLetterJob *job = tide_dead_letter_completions_take(&fixture->box);
    for (TideDeadLetterJob *next; job != NULL; job = next, n++, n_since++) {
      next = job->next;
      g_assert_true(job->is_kept);
      g_assert_cmpuint(job->source.sequence, ==, n);
      tide_dead_letter_job_free(job);
    }
    if (n < n_all)
      await_change(fixture, deadline_us);
    if (n_since > 0 && tide_dead_letter_queue_is_stalled_racy(fixture->dead_letters)) {
      remove_letters(fixture);
      n_since = 0;
    }
  }
}

/* The next owner of the partition makes them; what kept them from being kept holds nobody any more.
 * @owned_now: instead of the assignment that they are of */
static void
assert_dead_letters_of_another_ownership_complete(Fixture *fixture, guint32 owned_now)
{
  g_autofree char *away = g_strconcat(fixture->directory, "-away", NULL);
  g_assert_cmpint(g_rename(fixture->directory, away), ==, 0);
  for (gint64 i = 0; i < 10; i++)
    submit(fixture, i);
  await_holding(fixture);
  g_assert_null(tide_dead_letter_completions_take(&fixture->box));
  atomic_store(&owned_assignment, owned_now);
  await_completed_with(fixture, 10, FALSE);
  g_assert_cmpuint(tide_metrics_sum(fixture->metrics, "tidemark_dead_letters_cancelled_total", NULL), ==, 10);
  gint64 deadline_us = tide_now_us() + TIMEOUT_US;
  while (tide_dead_letter_queue_is_stalled_racy(fixture->dead_letters))
    await_change(fixture, deadline_us);
  g_assert_cmpint(g_rename(away, fixture->directory), ==, 0);
}

static void
test_dead_letters_of_a_partition_that_has_gone_complete(Fixture *fixture, gconstpointer data)
{
  assert_dead_letters_of_another_ownership_complete(fixture, TIDE_NOT_OWNED);
}

/* Its messages are read again: their dead letters would be kept twice. */
static void
test_dead_letters_of_a_partition_that_came_back_complete(Fixture *fixture, gconstpointer data)
{
  assert_dead_letters_of_another_ownership_complete(fixture, 5);
}

/* A wrong configuration makes everything bad: most of the topic must not become dead letters. */
static void
test_too_many_dead_letters_hold_until_a_restart(Fixture *fixture, gconstpointer data)
{
  for (gint64 i = 0; i < 99; i++)
    submit(fixture, i);
  await_completed(fixture, 99); /* too few to say anything, however many they are of all */
  g_assert_false(tide_dead_letter_queue_keeps_no_more(fixture->dead_letters));
  tide_dead_letter_queue_note_messages(fixture->dead_letters, 2000, 0);
  for (gint64 i = 99; i < 2000; i++)
    submit(fixture, i);
  await_holding(fixture);
  g_autofree char *text = tide_dead_letter_queue_stall_text(fixture->dead_letters);
  g_assert_nonnull(strstr(text, "max_ratio (0.1)"));
  g_assert_nonnull(strstr(text, "'parse': it is not JSON"));
  g_assert_cmpuint(tide_metrics_sum(fixture->metrics, "tidemark_dead_letters_blocked", NULL), ==, 1);
  g_assert_cmpuint(tide_budget_used_racy(&fixture->budget), >, 0);
  gint64 deadline_us = tide_now_us() + TIMEOUT_US;
  while (!tide_dead_letter_queue_keeps_no_more(fixture->dead_letters))
    await_change(fixture, deadline_us);
  /* What was under way is counted when it is done. */
  tide_dead_letter_queue_note_messages(fixture->dead_letters, 300, 300);
  submit(fixture, 2000); /* it is not looked at yet, or waits with the others */
  while (!tide_dead_letter_queue_keeps_no_more(fixture->dead_letters))
    await_change(fixture, deadline_us);
  g_autofree char *later = tide_dead_letter_queue_stall_text(fixture->dead_letters);
  g_assert_true(g_str_has_prefix(later, "2,001 of 2,301 messages in the last "));
  g_assert_nonnull(strstr(later, " would become dead letters and 300 were written, above "));
}

/* The bound is of messages: one with hundreds of bad readings is one. */
static void
test_f21_dead_letters_of_one_message_count_once(Fixture *fixture, gconstpointer data)
{
  for (gint64 i = 0; i < 500; i++)
    submit_one(fixture, i, i > 0);
  await_completed(fixture, 500);
  g_assert_false(tide_dead_letter_queue_is_stalled_racy(fixture->dead_letters));
}

/* Those up to the bound are kept, so that whoever restarts gets on. */
static void
test_f21_dead_letters_up_to_the_bound_are_kept(Fixture *fixture, gconstpointer data)
{
  for (gint64 i = 0; i < 500; i++)
    submit(fixture, i);
  await_holding(fixture);
  await_completed(fixture, TIDE_DEAD_LETTER_RATIO_MIN - 1);
  g_assert_true(tide_dead_letter_queue_is_stalled_racy(fixture->dead_letters));
}

/* The good messages beside which they were few have left the window before them: nothing is wrong until one more comes.
 */
static void
test_dead_letters_that_remain_in_the_window_hold_nothing(Fixture *fixture, gconstpointer data)
{
  TideDeadLetterRatioPart remaining = {.dead_letters = 150};
  tide_dead_letter_ratio_add(&fixture->dead_letters->excess.ratio, tide_now_us(), &remaining);
  start(fixture);
  submit_one(fixture, 0, TRUE); /* no message: when it is kept, the ratio was looked at */
  gint64 deadline_us = tide_now_us() + TIMEOUT_US;
  TideDeadLetterJob *job;
  while ((job = tide_dead_letter_completions_take(&fixture->box)) == NULL) {
    g_assert_false(tide_dead_letter_queue_is_stalled_racy(fixture->dead_letters));
    await_change(fixture, deadline_us);
  }
  g_assert_true(job->is_kept);
  tide_dead_letter_job_free(job);
  g_assert_false(tide_dead_letter_queue_is_stalled_racy(fixture->dead_letters));
  submit(fixture, 1);
  await_holding(fixture);
  g_autofree char *text = tide_dead_letter_queue_stall_text(fixture->dead_letters);
  g_assert_true(g_str_has_prefix(text, "151 of 151 messages in the last "));
}

/* As when two daemons have one configuration that names no place, and no state directory. */
static void
test_second_daemon_is_told_what_to_do(Fixture *fixture, gconstpointer options)
{
  g_autoptr(GError) error = NULL;
  TideDeadLetterQueueContext context = {
      .config = fixture->config, .budget = &fixture->budget, .metrics = fixture->metrics};
  TideDeadLetterQueue *second = tide_dead_letter_queue_new(&context);
  g_assert_false(tide_dead_letter_queue_start(second, TIDE_WIRE_BINARY, &error));
  g_autofree char *expected = g_strdup_printf("cannot write dead letters: another process writes its dead letters to "
                                              "'%s' (it holds '%s.lock'), and two daemons "
                                              "cannot share a file: set dead_letters.topic, which they can share, or "
                                              "give each its own dead_letters.file or state "
                                              "directory",
                                              fixture->path, fixture->path);
  g_assert_error(error, TIDE_ERROR, TIDE_ERROR_IN_USE);
  g_assert_cmpstr(error->message, ==, expected);
  tide_dead_letter_queue_free(second);
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add("/dead-letter-queue/kept-dead-letters-complete", Fixture, "  max_ratio: 1\n", set_up,
             test_kept_dead_letters_complete, tear_down);
  g_test_add("/dead-letter-queue/those-of-a-partition-that-has-gone-complete", Fixture, "  max_ratio: 1\n", set_up,
             test_dead_letters_of_a_partition_that_has_gone_complete, tear_down);
  g_test_add("/dead-letter-queue/those-of-a-partition-that-came-back-complete", Fixture, "  max_ratio: 1\n", set_up,
             test_dead_letters_of_a_partition_that_came_back_complete, tear_down);
  g_test_add("/dead-letter-queue/E7-holds-while-the-disk-takes-nothing", Fixture, NULL, set_up,
             test_holds_while_the_disk_takes_nothing, tear_down);
  g_test_add("/dead-letter-queue/group-larger-than-all-files-is-kept", Fixture,
             "  max_ratio: 1\n  max_size: 64KiB\n  max_file_size: 64KiB\n", set_up,
             test_group_larger_than_all_files_is_kept, tear_down);
  g_test_add("/dead-letter-queue/second-daemon-is-told-what-to-do", Fixture, NULL, set_up,
             test_second_daemon_is_told_what_to_do, tear_down);
  g_test_add("/dead-letter-queue/too-many-dead-letters-hold-until-a-restart", Fixture, NULL, set_up,
             test_too_many_dead_letters_hold_until_a_restart, tear_down);
  g_test_add("/dead-letter-queue/F21/dead-letters-of-one-message-count-once", Fixture, NULL, set_up,
             test_f21_dead_letters_of_one_message_count_once, tear_down);
  g_test_add("/dead-letter-queue/F21/dead-letters-up-to-the-bound-are-kept", Fixture, NULL, set_up,
             test_f21_dead_letters_up_to_the_bound_are_kept, tear_down);
  g_test_add("/dead-letter-queue/those-that-remain-in-the-window-hold-nothing", Fixture, "  window: 1d\n",
             set_up_without_start, test_dead_letters_that_remain_in_the_window_hold_nothing, tear_down);
  return g_test_run();
}
