/* What one owner of a partition writes beside its commits, read by the next one, whose clock may be another's. */
#include "consumer/handover.h"
#include "consumer/rewind.h"

#include "unit/consumer/partition_rig.h"
#include "util/clock.h"

#define SETTLE_US (60 * TIDE_US_PER_S)
#define SETTLE_MS (SETTLE_US / TIDE_US_PER_MS)
#define NOW_US (G_GINT64_CONSTANT(1000) * TIDE_US_PER_S)
#define NOW_EPOCH_MS G_GINT64_CONSTANT(1763700000000)

typedef struct Fixture {
  PartitionRig rig;
  TidePartition *owner;
  TidePartition *next;
  TideHandoverContext context;
} Fixture;

static void
set_up(Fixture *fixture, gconstpointer data)
{
  partition_rig_set_up(&fixture->rig);
  fixture->owner = partition_rig_new_partition(&fixture->rig, "t", 0, 0);
  fixture->next = partition_rig_new_partition(&fixture->rig, "t", 0, 0);
  tide_partition_assign(fixture->owner);
  tide_partition_assign(fixture->next);
  fixture->owner->location.is_located = TRUE;
  fixture->context = (TideHandoverContext){
      .now_us = NOW_US, .now_epoch_ms = NOW_EPOCH_MS, .settle_us = SETTLE_US, .span_messages = 77};
}

static void
tear_down(Fixture *fixture, gconstpointer data)
{
  tide_partition_free(fixture->owner, &fixture->rig.budget);
  tide_partition_free(fixture->next, &fixture->rig.budget);
  partition_rig_tear_down(&fixture->rig);
}

/* The next owner begins at offset 10 of 200, with the note of the owner, by a clock that is @ahead_ms ahead. */
static void
hand_over(Fixture *fixture, gboolean closing, gint64 ahead_ms)
{
  TideCommitNote note = tide_handover_note(fixture->owner, closing, &fixture->context);
  g_autofree char *text = tide_commit_note_format(&note);
  TideCommitNote read;
  g_assert_true(tide_commit_note_parse(tide_bytes_of_string(text), &read));
  TideHandoverContext there = fixture->context;
  there.now_epoch_ms += ahead_ms;
  TideHandoverFrom from = {.committed_offset = 10, .start_offset = 10, .end_offset = 200, .note = &read};
  tide_handover_take(fixture->next, &from, &there);
}

/* The next owner holds what is written for at least as long as the last one would have. */
static void
test_doubt_lasts_as_long_at_the_next_owner(Fixture *fixture, gconstpointer data)
{
  fixture->owner->uncertain.doubt = (TideDoubt){NOW_US + SETTLE_US - TIDE_US_PER_S, 5000};
  g_assert_true(tide_handover_needs_note(fixture->owner, NOW_US));
  hand_over(fixture, TRUE, 0);
  g_assert_cmpint(fixture->next->uncertain.inherited.until_us, >=, fixture->owner->uncertain.doubt.until_us);
  g_assert_cmpint(fixture->next->uncertain.inherited.time_ms, ==, 5000);
  g_assert_cmpint(fixture->next->uncertain.repeated.until_us, ==, 0); /* it was closed */
}

static void
test_doubt_of_both_is_one(Fixture *fixture, gconstpointer data)
{
  fixture->owner->uncertain.doubt = (TideDoubt){NOW_US + TIDE_US_PER_S, 9000};
  fixture->owner->uncertain.inherited = (TideDoubt){NOW_US + 30 * TIDE_US_PER_S, 4000};
  hand_over(fixture, TRUE, 0);
  g_assert_cmpint(fixture->next->uncertain.inherited.until_us, >=, NOW_US + 30 * TIDE_US_PER_S);
  g_assert_cmpint(fixture->next->uncertain.inherited.time_ms, ==, 9000);
}

/* C5: nobody knows whose clock is right. */
static void
test_other_clocks_neither_end_nor_lengthen_it(Fixture *fixture, gconstpointer data)
{
  fixture->owner->uncertain.doubt = (TideDoubt){NOW_US + SETTLE_US / 2, 5000};
  for (gint64 ahead_ms = -10 * SETTLE_MS; ahead_ms <= 10 * SETTLE_MS; ahead_ms += SETTLE_MS) {
    hand_over(fixture, TRUE, ahead_ms);
    g_assert_cmpint(fixture->next->uncertain.inherited.until_us, ==, NOW_US + SETTLE_US);
  }
}

static void
test_doubt_that_is_over_is_none(Fixture *fixture, gconstpointer data)
{
  fixture->owner->uncertain.doubt = (TideDoubt){NOW_US, 5000};
  g_assert_false(tide_handover_needs_note(fixture->owner, NOW_US));
  hand_over(fixture, TRUE, 0);
  g_assert_cmpint(fixture->next->uncertain.inherited.until_us, ==, 0);
}

/* An owner that did not close may have sent what is behind its mark: as far as its note says, or ours without one. */
static void
test_messages_behind_an_open_note_repeat(Fixture *fixture, gconstpointer data)
{
  hand_over(fixture, FALSE, 0);
  const TideRepeated *repeated = &fixture->next->uncertain.repeated;
  g_assert_cmpint(repeated->until_us, ==, NOW_US + SETTLE_US);
  g_assert_cmpint(repeated->end_offset, ==, 200);
  g_assert_cmpuint(repeated->remaining_messages, ==, 77);
  tide_rewind_hold_all(fixture->owner, 0, NOW_US + 1);
  hand_over(fixture, TRUE, 0); /* it reads far ahead, and cannot close */
  g_assert_cmpint(repeated->until_us, ==, NOW_US + SETTLE_US);
  g_assert_cmpuint(repeated->remaining_messages, >, 1000000);
  fixture->context.span_messages = 5;
  TideHandoverFrom unnoted = {.committed_offset = 10, .start_offset = 10, .end_offset = -1};
  tide_handover_take(fixture->next, &unnoted, &fixture->context);
  g_assert_cmpuint(repeated->remaining_messages, ==, 5);
  g_assert_cmpint(repeated->end_offset, ==, G_MAXINT64);
}

/* C8: else it would be taken for one of other tables for as long as nothing comes to it. */
static void
test_note_of_other_tables_is_written_anew(Fixture *fixture, gconstpointer data)
{
  for (guint32 mark = 7; mark <= 8; mark++) {
    TideCommitNote note = {.tables_mark = 7, .span_messages = 77};
    fixture->context.tables_mark = mark;
    TideHandoverFrom from = {.committed_offset = 10, .start_offset = 10, .end_offset = 200, .note = &note};
    tide_handover_take(fixture->next, &from, &fixture->context);
    g_assert_cmpint(fixture->next->commit.needs_opening, ==, mark != 7);
    g_assert_cmpuint(tide_handover_note(fixture->next, FALSE, &fixture->context).tables_mark, ==, mark);
  }
}

static void
test_new_group_has_no_owner_before(Fixture *fixture, gconstpointer data)
{
  TideHandoverFrom nothing = {.committed_offset = -1, .start_offset = 10, .end_offset = 200};
  tide_handover_take(fixture->next, &nothing, &fixture->context);
  g_assert_cmpint(fixture->next->uncertain.repeated.until_us, ==, 0);
  g_assert_cmpint(fixture->next->commit.start_ms, ==, NOW_EPOCH_MS);
  g_assert_true(fixture->next->commit.needs_opening);
}

/* An owner has read far, and was killed; the next one is killed, too, when it has read little of that again and
 * committed it. What the first one sent behind that may still land: the third one must know. */
static void
test_A10_what_was_read_far_is_known_beyond_the_next_owner(Fixture *fixture, gconstpointer data)
{
  tide_rewind_hold_all(fixture->owner, 0, NOW_US + 1);
  hand_over(fixture, FALSE, 0);
  g_assert_cmpuint(fixture->next->uncertain.repeated.remaining_messages, >, 1000000);
  for (gint64 offset = 10; offset < 13; offset++) {
    g_assert_true(tide_partition_repeats(fixture->next, offset, NOW_US + 1));
    tide_partition_skip(fixture->next, &fixture->rig.budget, &(TideMessage){.offset = offset}, TIDE_REJECT_PARSE);
  }
  fixture->context.now_us += 2;
  TideCommitNote note = tide_handover_note(fixture->next, FALSE, &fixture->context);
  g_assert_false(note.is_closed);
  g_assert_cmpuint(note.span_messages, >, 1000000);
}

/* The owner before us was to read little ahead, and was killed; we read further than its note says. */
static void
test_A11_note_of_a_shorter_span_is_written_anew(Fixture *fixture, gconstpointer data)
{
  fixture->context.span_messages = 5;
  TideCommitNote note = tide_handover_note(fixture->owner, FALSE, &fixture->context);
  fixture->context.span_messages = 77;
  TideHandoverFrom from = {.committed_offset = 10, .start_offset = 10, .end_offset = 200, .note = &note};
  tide_handover_take(fixture->next, &from, &fixture->context);
  g_assert_true(fixture->next->commit.needs_opening);
}

#define ADD(path, func) g_test_add("/handover/" path, Fixture, NULL, set_up, func, tear_down)

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  ADD("doubt-lasts-as-long-at-the-next-owner", test_doubt_lasts_as_long_at_the_next_owner);
  ADD("doubt-of-both-is-one", test_doubt_of_both_is_one);
  ADD("C5-other-clocks-neither-end-nor-lengthen-it", test_other_clocks_neither_end_nor_lengthen_it);
  ADD("doubt-that-is-over-is-none", test_doubt_that_is_over_is_none);
  ADD("messages-behind-an-open-note-repeat", test_messages_behind_an_open_note_repeat);
  ADD("C8-note-of-other-tables-is-written-anew", test_note_of_other_tables_is_written_anew);
  ADD("new-group-has-no-owner-before", test_new_group_has_no_owner_before);
  ADD("A10-what-was-read-far-is-known-beyond-the-next-owner",
      test_A10_what_was_read_far_is_known_beyond_the_next_owner);
  ADD("A11-note-of-a-shorter-span-is-written-anew", test_A11_note_of_a_shorter_span_is_written_anew);
  return g_test_run();
}
