/* May this offset be trusted? Each rule, and that no combination of facts skips a message without a range or a halt. */
#include "consumer/offset_trust.h"

#define NOW_US 1000000000

/* The log holds 100 to 199; the group has committed 150 of it, with a note. */
typedef struct Case {
  TideInputLog log;
  TideCommitNote note;
  TideOffsetFacts facts;
} Case;

static void
begin(Case *at)
{
  *at = (Case){.log = {.wanted_offset = -1,
                       .committed_offset = 150,
                       .begin_offset = 100,
                       .end_offset = 200,
                       .start_offset = 200},
               .note = {.span_messages = 10}};
  at->facts = (TideOffsetFacts){.log = &at->log, .note = &at->note, .own_offset = -1};
}

static void
assert_read(const Case *at, gint64 offset, TideOffsetEvent event, gint64 from_offset, gint64 to_offset)
{
  TideOffsetVerdict verdict = tide_offset_judge(&at->facts, NOW_US);
  g_assert_cmpint(verdict.offset, ==, offset);
  g_assert_cmpint(verdict.event, ==, event);
  g_assert_cmpint(verdict.from_offset, ==, from_offset);
  g_assert_cmpint(verdict.to_offset, ==, to_offset);
  g_assert_cmpint(verdict.halt.cause, ==, TIDE_HALT_NONE);
}

static void
assert_halted(const Case *at, TideHaltCause cause, gint64 offset)
{
  TideOffsetVerdict verdict = tide_offset_judge(&at->facts, NOW_US);
  g_assert_cmpint(verdict.offset, ==, TIDE_INPUT_HALTED);
  g_assert_cmpint(verdict.halt.cause, ==, cause);
  g_assert_cmpint(verdict.halt.offset, ==, offset);
}

static void
test_committed_offsets_are_read_on(void)
{
  Case at;
  begin(&at);
  assert_read(&at, 150, TIDE_OFFSET_PLAIN, 150, 150);
  at.facts.note = NULL;
  assert_read(&at, 150, TIDE_OFFSET_UNSIGNED, 150, 150);
  at.log.committed_offset = 300; /* only the fetch knows the log's end */
  assert_read(&at, 300, TIDE_OFFSET_UNSIGNED, 300, 300);
}

static void
test_a_new_group_begins_as_configured(void)
{
  Case at;
  begin(&at);
  at.log.committed_offset = -1;
  at.facts.note = NULL;
  assert_read(&at, 200, TIDE_OFFSET_BEGINS, 100, 200);
  at.log.start_offset = 100;
  assert_read(&at, 100, TIDE_OFFSET_BEGINS, 100, 100);
}

static void
test_expired_offsets_are_no_new_group(void)
{
  Case at;
  begin(&at);
  at.log.committed_offset = -1;
  at.facts.note = NULL;
  at.facts.was_group_started = TRUE;
  assert_read(&at, 100, TIDE_OFFSET_GONE, 100, 200);
  at.facts.was_group_started = FALSE;
  at.log.group_has_begun = TRUE;
  assert_read(&at, 100, TIDE_OFFSET_GONE, 100, 200);
}

static void
test_noted_halts_last(void)
{
  Case at;
  begin(&at);
  at.log.committed_offset = 100;
  for (int cause = TIDE_HALT_BEYOND_END; cause <= TIDE_HALT_RECREATED; cause++) {
    at.note.halt = (TideHaltNote){(TideHaltCause)cause, 170};
    at.facts.continues_after_deletion = FALSE;
    assert_halted(&at, (TideHaltCause)cause, 170);
    at.facts.continues_after_deletion = TRUE;
    if (cause != TIDE_HALT_DELETED)
      assert_halted(&at, (TideHaltCause)cause, 170);
  }
  at.note.halt.cause = TIDE_HALT_MESSAGE; /* read once more: the configuration may have changed */
  assert_read(&at, 100, TIDE_OFFSET_PLAIN, 100, 100);
  at.note.halt.cause = TIDE_HALT_DELETED;
  at.facts.continues_after_deletion = TRUE;
  assert_read(&at, 100, TIDE_OFFSET_PLAIN, 100, 100);
}

static void
test_deleted_messages_halt_or_are_passed(void)
{
  Case at;
  begin(&at);
  at.log.committed_offset = 60;
  assert_halted(&at, TIDE_HALT_DELETED, 60);
  at.facts.continues_after_deletion = TRUE;
  assert_read(&at, 100, TIDE_OFFSET_DELETED, 60, 100);
  at.log.wanted_offset = 70;
  assert_read(&at, 100, TIDE_OFFSET_DELETED, 70, 100);
}

static void
test_offsets_that_are_not_found(void)
{
  Case at;
  begin(&at);
  at.log.wanted_offset = 170;
  assert_read(&at, 170, TIDE_OFFSET_READ_AGAIN, 170, 170);
  at.log.wanted_offset = 201;
  g_assert_cmpint(tide_offset_judge(&at.facts, NOW_US).offset, ==, TIDE_INPUT_ASK_AGAIN);
  at.facts.beyond_end_us = NOW_US - TIDE_BEYOND_END_US + 1;
  g_assert_cmpint(tide_offset_judge(&at.facts, NOW_US).offset, ==, TIDE_INPUT_ASK_AGAIN);
  at.facts.beyond_end_us = NOW_US - TIDE_BEYOND_END_US;
  assert_halted(&at, TIDE_HALT_BEYOND_END, 201);
}

static void
test_what_strangers_took(void)
{
  Case at;
  begin(&at);
  at.facts.own_offset = 120;
  assert_read(&at, 150, TIDE_OFFSET_PLAIN, 150, 150); /* another tidemark signed it */
  at.facts.note = NULL;
  assert_read(&at, 150, TIDE_OFFSET_JUMPS, 120, 150);
  at.facts.was_stranger_seen = TRUE;
  assert_halted(&at, TIDE_HALT_TAKEN, 120);
  at.facts.note = &at.note; /* whoever signed it may have followed the stranger */
  assert_halted(&at, TIDE_HALT_TAKEN, 120);
  at.facts.own_reached_offset = 150; /* its own commit, of which no answer came */
  assert_read(&at, 150, TIDE_OFFSET_PLAIN, 150, 150);
  at.facts.own_offset = 180;
  assert_read(&at, 150, TIDE_OFFSET_GOES_BACK, 150, 180);
}

static void
test_topics_that_were_recreated(void)
{
  Case at;
  begin(&at);
  at.facts.was_log_replaced = TRUE;
  at.log.wanted_offset = 170; /* though the new log is longer */
  assert_halted(&at, TIDE_HALT_RECREATED, 170);
  begin(&at);
  at.log.wanted_offset = 170; /* which the new log holds, though a broker did not find it a moment ago */
  at.log.committed_offset = -1;
  at.facts.note = NULL;
  at.facts.own_offset = 170;
  assert_halted(&at, TIDE_HALT_RECREATED, 170);
  at.facts.own_offset = -1; /* nothing was committed yet */
  assert_read(&at, 170, TIDE_OFFSET_READ_AGAIN, 170, 170);
  begin(&at);
  at.log.committed_offset = -1; /* what this process has committed went with the topic */
  at.facts.note = NULL;
  at.facts.own_offset = 130;
  assert_halted(&at, TIDE_HALT_RECREATED, 130);
}

/* Seen before this process has located the partition once: the halt is of the offset that is committed, and its note
 * says so to the next process. */
static void
test_topic_recreated_before_it_is_located(void)
{
  Case at;
  begin(&at);
  at.facts.was_log_replaced = TRUE;
  assert_halted(&at, TIDE_HALT_RECREATED, 150);
  at.log.committed_offset = -1; /* and with nothing committed it is new */
  at.facts.note = NULL;
  assert_read(&at, 200, TIDE_OFFSET_BEGINS, 100, 200);
}

static void
draw(Case *at)
{
  begin(at);
  gint64 *const offsets[] = {&at->log.wanted_offset, &at->log.committed_offset, &at->log.start_offset,
                             &at->facts.own_offset, &at->log.end_offset};
  for (guint i = 0; i < G_N_ELEMENTS(offsets); i++)
    *offsets[i] = g_test_rand_int_range(0, 3) == 0 ? -1 : g_test_rand_int_range(90, 210);
  at->log.end_offset = MAX(at->log.end_offset, at->log.begin_offset);
  at->log.start_offset = CLAMP(at->log.start_offset, at->log.begin_offset, at->log.end_offset);
  gboolean *const flags[] = {&at->log.group_has_begun, &at->facts.was_stranger_seen, &at->facts.was_group_started,
                             &at->facts.continues_after_deletion, &at->facts.was_log_replaced};
  for (guint i = 0; i < G_N_ELEMENTS(flags); i++)
    *flags[i] = g_test_rand_int_range(0, 2);
  at->note.halt.cause = (TideHaltCause)g_test_rand_int_range(TIDE_HALT_NONE, TIDE_HALT_MESSAGE + 1);
  at->note.halt.offset = 170;
  at->facts.beyond_end_us = g_test_rand_int_range(0, 2) * (gint64)1;
  if (at->log.committed_offset < 0 || g_test_rand_int_range(0, 2) == 0)
    at->facts.note = NULL;
}

/* What lies between where reading was to go on and where it goes on is named, or nothing is read. */
static void
test_nothing_is_passed_unnamed(void)
{
  for (guint i = 0; i < 200000; i++) {
    Case at;
    draw(&at);
    TideOffsetVerdict verdict = tide_offset_judge(&at.facts, NOW_US);
    g_assert_cmpint(verdict.from_offset, <=, verdict.to_offset);
    if (verdict.offset < 0) {
      g_assert_cmpint(verdict.halt.offset, >=, 0);
      g_assert_true(verdict.offset == TIDE_INPUT_ASK_AGAIN || tide_halt_kinds[verdict.halt.cause].is_of_offset);
      continue;
    }
    gint64 was = at.log.wanted_offset >= 0      ? at.log.wanted_offset
                 : at.log.committed_offset >= 0 ? at.log.committed_offset
                                                : at.log.begin_offset;
    if (verdict.offset > was) {
      g_assert_cmpint(verdict.from_offset, <=, was);
      g_assert_cmpint(verdict.to_offset, >=, verdict.offset);
      g_assert_true(verdict.event == TIDE_OFFSET_BEGINS || verdict.event == TIDE_OFFSET_DELETED);
    }
    g_assert_false(at.facts.was_log_replaced && MAX(at.log.committed_offset, at.facts.own_offset) >= 0);
  }
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/offset-trust/committed-offsets-are-read-on", test_committed_offsets_are_read_on);
  g_test_add_func("/offset-trust/K4-a-new-group-begins-as-configured", test_a_new_group_begins_as_configured);
  g_test_add_func("/offset-trust/K4-expired-offsets-are-no-new-group", test_expired_offsets_are_no_new_group);
  g_test_add_func("/offset-trust/K1-noted-halts-last", test_noted_halts_last);
  g_test_add_func("/offset-trust/C6-deleted-messages-halt-or-are-passed", test_deleted_messages_halt_or_are_passed);
  g_test_add_func("/offset-trust/C7-offsets-that-are-not-found", test_offsets_that_are_not_found);
  g_test_add_func("/offset-trust/K3-what-strangers-took", test_what_strangers_took);
  g_test_add_func("/offset-trust/K2-topics-that-were-recreated", test_topics_that_were_recreated);
  g_test_add_func("/offset-trust/K2-topic-recreated-before-it-is-located", test_topic_recreated_before_it_is_located);
  g_test_add_func("/offset-trust/nothing-is-passed-unnamed", test_nothing_is_passed_unnamed);
  return g_test_run();
}
