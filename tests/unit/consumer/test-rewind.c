/* When a partition is rewound, and what of it may be committed until then. What the values become:
 * test-equal-times-model.c. */
#include "consumer/handover.h"
#include "consumer/rewind.h"
#include "unit/consumer/partition_rig.h"
#include "util/clock.h"

#define SETTLE_US 1000

typedef struct Fixture {
  PartitionRig rig;
  TidePartition *partition;
} Fixture;

static void
set_up(Fixture *fixture, gconstpointer data)
{
  partition_rig_set_up(&fixture->rig);
  fixture->partition = partition_rig_new_partition(&fixture->rig, "t", 0, 0);
  tide_partition_assign(fixture->partition);
  fixture->partition->location.is_located = TRUE;
  fixture->partition->commit.start_offset = 100;
}

static void
tear_down(Fixture *fixture, gconstpointer data)
{
  tide_partition_free(fixture->partition, &fixture->rig.budget);
  partition_rig_tear_down(&fixture->rig);
}

/* @n messages of one row each, from @offset on. */
static void
begin(Fixture *fixture, gint64 offset, guint n, TideSourceRef *ret_refs)
{
  const TideMapped mapped = {.n_rows = 1, .n_readings = 1, .timestamp_ms = -1};
  for (guint i = 0; i < n; i++)
    ret_refs[i] = tide_partition_begin(fixture->partition, &fixture->rig.budget, offset + i, &mapped, FALSE);
}

static void
ack(Fixture *fixture, const TideSourceRef *refs, guint n)
{
  for (guint i = 0; i < n; i++)
    tide_partition_ack(fixture->partition, refs[i], 1);
}

static void
rewind_at(Fixture *fixture, gint64 now_us)
{
  if (!fixture->partition->rewind.is_due)
    g_assert_false(tide_rewind_prepare(fixture->partition, now_us - 1));
  g_assert_true(tide_rewind_prepare(fixture->partition, now_us));
  tide_partition_rewind(fixture->partition, &fixture->rig.budget, now_us, SETTLE_US);
}

/* What is committed stays before the first message that is held; later ones are finished all the same, and cost
 * nothing. */
static void
test_held_message_is_not_passed(Fixture *fixture, gconstpointer data)
{
  TidePartition *partition = fixture->partition;
  TideSourceRef refs[10];
  begin(fixture, 100, 10, refs);
  tide_rewind_hold(partition, refs[6], 500, TRUE);
  tide_rewind_hold(partition, refs[3], 500, TRUE);
  tide_rewind_hold(partition, refs[3], 500, TRUE); /* by another cell */
  ack(fixture, refs, 10);
  g_assert_cmpint(partition->offsets.mark, ==, 110);
  g_assert_cmpint(tide_partition_position(partition), ==, 103);
  g_assert_false(tide_partition_has_work(partition));
  g_assert_cmpuint(tide_offsets_span(&partition->offsets), ==, 0);
  tide_rewind_end_hold(partition, refs[3]);
  g_assert_cmpint(tide_partition_position(partition), ==, 103);
  tide_rewind_end_hold(partition, refs[3]);
  g_assert_cmpint(tide_partition_position(partition), ==, 106);
  tide_rewind_end_hold(partition, refs[6]);
  g_assert_cmpint(tide_partition_position(partition), ==, 110);
  g_assert_false(tide_rewind_is_pending(&partition->rewind));
}

/* The first conflict fixes the moment; those that come later do not move it. */
static void
test_later_conflicts_do_not_move_the_moment(Fixture *fixture, gconstpointer data)
{
  TidePartition *partition = fixture->partition;
  TideSourceRef refs[10];
  begin(fixture, 100, 10, refs);
  tide_rewind_hold(partition, refs[2], 500, TRUE);
  tide_rewind_hold(partition, refs[2], 900, TRUE);
  tide_rewind_hold(partition, refs[7], 800, TRUE);
  ack(fixture, refs, 10);
  rewind_at(fixture, 500);
  g_assert_cmpint(tide_partition_position(partition), ==, 102);
  g_assert_false(tide_partition_owns(partition, refs[9]));
  g_assert_true(tide_partition_has_stale_rows(partition));
  begin(fixture, 102, 8, refs);
  ack(fixture, refs, 8);
  g_assert_cmpint(tide_partition_position(partition), ==, 110);
  g_assert_false(tide_partition_has_stale_rows(partition));
}

/* Else what conflicts again and again would be read again and again. */
static void
test_is_rewound_for_doubts_once_within_settle(Fixture *fixture, gconstpointer data)
{
  TideSourceRef refs[10];
  begin(fixture, 100, 10, refs);
  tide_rewind_hold(fixture->partition, refs[2], 500, TRUE);
  rewind_at(fixture, 500);
  begin(fixture, 100, 10, refs);
  ack(fixture, refs, 5);
  tide_rewind_hold(fixture->partition, refs[5], 510, TRUE);
  rewind_at(fixture, 500 + SETTLE_US);
}

/* A refused row is not repaired by waiting: its partition is rewound at once, and its doubts no later for that. */
static void
test_is_rewound_for_refused_rows_at_once(Fixture *fixture, gconstpointer data)
{
  TidePartition *partition = fixture->partition;
  TideSourceRef refs[10];
  begin(fixture, 100, 10, refs);
  ack(fixture, refs, 5);
  partition->rewind.refused_acks = 1;
  tide_rewind_ask(partition, TIDE_REWIND_REFUSED, 300);
  tide_rewind_ask(partition, TIDE_REWIND_REFUSED, 350);
  g_assert_cmpint(tide_rewind_reason(&partition->rewind), ==, TIDE_REWIND_REFUSED);
  g_assert_cmpint(tide_partition_position(partition), ==, 105);
  g_assert_true(tide_partition_has_work(partition)); /* the other rows */
  ack(fixture, &refs[6], 4);
  g_assert_false(tide_partition_has_work(partition));
  rewind_at(fixture, 300);
  g_assert_cmpuint(partition->rewind.refused_acks, ==, 0);
  begin(fixture, 105, 5, refs);
  g_assert_true(tide_partition_has_work(partition));
  tide_rewind_hold(partition, refs[1], 400, TRUE);
  rewind_at(fixture, 400);
}

/* Which keys are refused is remembered for ten minutes: the next rewind must come before that, however long the last
 * ones got no further. */
static void
test_rewind_for_refused_rows_waits_for_a_minute_at_most(Fixture *fixture, gconstpointer data)
{
  TidePartition *partition = fixture->partition;
  TideSourceRef refs[1];
  gint64 now_us = 1;
  for (guint i = 0; i < 20; i++) {
    begin(fixture, 100, 1, refs);
    tide_rewind_ask(partition, TIDE_REWIND_REFUSED, now_us);
    gint64 due_us = tide_rewind_due_us(&partition->rewind);
    g_assert_cmpint(due_us - now_us, <=, 60 * TIDE_US_PER_S);
    now_us = due_us;
    g_assert_true(tide_rewind_prepare(partition, now_us));
    tide_partition_rewind(partition, &fixture->rig.budget, now_us, 1200 * TIDE_US_PER_S);
  }
  g_assert_cmpuint(partition->rewind.n_in_vain, ==, 19);
  g_assert_cmpint(now_us, >, 600 * TIDE_US_PER_S); /* and they do back off */
}

/* What is not remembered cannot be found: nothing behind it is committed before it is over, also where the partition is
 * rewound meanwhile. What comes later does not move the moment of what came first. */
static void
test_overflow_lasts_until_it_is_over(Fixture *fixture, gconstpointer data)
{
  TidePartition *partition = fixture->partition;
  TideSourceRef refs[10];
  begin(fixture, 100, 10, refs);
  tide_rewind_hold_all(partition, refs[2].sequence, 700);
  tide_rewind_hold(partition, refs[5], 300, TRUE);
  tide_rewind_hold_all(partition, refs[6].sequence, 900);
  ack(fixture, refs, 10);
  g_assert_cmpint(tide_rewind_reason(&partition->rewind), ==, TIDE_REWIND_OVERFLOW);
  g_assert_cmpint(tide_rewind_due_us(&partition->rewind), ==, 700);
  tide_rewind_ask(partition, TIDE_REWIND_CANCELLED, 400);
  g_assert_cmpint(tide_rewind_reason(&partition->rewind), ==, TIDE_REWIND_CANCELLED);
  rewind_at(fixture, 400);
  begin(fixture, 102, 8, refs);
  ack(fixture, refs, 8);
  g_assert_cmpint(tide_partition_position(partition), ==, 102);
  rewind_at(fixture, 700);
  begin(fixture, 102, 8, refs);
  ack(fixture, refs, 8);
  g_assert_cmpint(tide_partition_position(partition), ==, 106);
  rewind_at(fixture, 700 + SETTLE_US);
  begin(fixture, 106, 4, refs);
  ack(fixture, refs, 4);
  g_assert_cmpint(tide_partition_position(partition), ==, 110);
}

/* What comes while the first lasts is of one later moment, from the first of them on. */
static void
test_M5_overflow_without_end_moves_no_moment(Fixture *fixture, gconstpointer data)
{
  TidePartition *partition = fixture->partition;
  TideSourceRef refs[10];
  begin(fixture, 100, 10, refs);
  tide_rewind_hold(partition, refs[8], 300, TRUE);
  tide_rewind_hold_all(partition, refs[7].sequence, 700);
  for (guint i = 0; i < 100; i++)
    tide_rewind_hold_all(partition, refs[i == 50 ? 8 : 9].sequence, 710 + i);
  tide_rewind_hold(partition, refs[9], 200, TRUE); /* comes again with those before it */
  ack(fixture, refs, 10);
  rewind_at(fixture, 700);
  begin(fixture, 107, 3, refs);
  ack(fixture, refs, 3);
  g_assert_cmpint(tide_partition_position(partition), ==, 108);
  g_assert_false(tide_rewind_covers(&partition->rewind, 107));
  g_assert_true(tide_rewind_covers(&partition->rewind, 108));
  g_assert_cmpint(partition->rewind.overflows[0].until_us, ==, 809);
}

/* A conflict before what is not remembered has its own moment. */
static void
test_M5_overflow_does_not_move_an_earlier_conflict(Fixture *fixture, gconstpointer data)
{
  TidePartition *partition = fixture->partition;
  TideSourceRef refs[10];
  begin(fixture, 100, 10, refs);
  tide_rewind_hold(partition, refs[2], 500, TRUE);
  tide_rewind_hold_all(partition, refs[6].sequence, 900);
  ack(fixture, refs, 10);
  rewind_at(fixture, 500);
  begin(fixture, 102, 8, refs);
  ack(fixture, refs, 8);
  g_assert_cmpint(tide_partition_position(partition), ==, 106);
}

/* Once its moment has come nothing is taken any more, so it is rewound even if what held it ends while it waits. */
static void
test_rewind_that_is_due_is_not_given_up(Fixture *fixture, gconstpointer data)
{
  TidePartition *partition = fixture->partition;
  TideSourceRef refs[10];
  begin(fixture, 100, 10, refs);
  tide_rewind_hold(partition, refs[2], 500, TRUE);
  ack(fixture, refs, 9);
  partition->rewind.n_letters_in_flight = 1;
  g_assert_false(tide_rewind_prepare(partition, 500));
  g_assert_true(partition->rewind.is_due);
  tide_rewind_end_hold(partition, refs[2]);
  g_assert_true(tide_rewind_is_pending(&partition->rewind));
  g_assert_false(tide_rewind_prepare(partition, 500));
  partition->rewind.n_letters_in_flight = 0;
  rewind_at(fixture, 500);
  g_assert_cmpint(tide_partition_position(partition), ==, 109);
}

/* However many are held, what is kept of them is bounded: those behind are held in any case. */
static void
test_held_messages_are_bounded(Fixture *fixture, gconstpointer data)
{
  enum { N = 10000 };
  TidePartition *partition = fixture->partition;
  g_autofree TideSourceRef *refs = g_new(TideSourceRef, N);
  begin(fixture, 100, N, refs);
  for (guint i = 0; i < N; i++)
    tide_rewind_hold(partition, refs[i], 500, TRUE);
  tide_rewind_hold(partition, refs[7], 500, TRUE); /* more of one that is held takes no room */
  g_assert_cmpuint(partition->rewind.held->len, >, 8);
  g_assert_cmpuint(partition->rewind.held->len, <, N / 2);
  ack(fixture, refs, N);
  for (guint i = 0; i < N; i++)
    tide_rewind_end_hold(partition, refs[i]);
  g_assert_true(tide_rewind_is_pending(&partition->rewind));
  g_assert_cmpint(tide_partition_position(partition), <, 100 + N);
}

/* The next owner is told before more is read than the span: until then that bounds it as ever. */
static void
test_offset_that_is_held_stops_nothing_once_it_is_told(Fixture *fixture, gconstpointer data)
{
  TidePartition *partition = fixture->partition;
  TideSourceRef refs[10];
  tide_partition_commit_asked(partition, 100, TRUE, FALSE);
  begin(fixture, 100, 10, refs);
  tide_rewind_hold(partition, refs[2], 500, TRUE);
  ack(fixture, refs, 10);
  tide_partition_commit_answered(partition, 100, TRUE); /* what was asked before says nothing of it */
  g_assert_true(partition->commit.needs_opening);
  g_assert_cmpuint(tide_partition_span(partition), ==, 10);
  tide_partition_commit_asked(partition, 102, TRUE, FALSE);
  g_assert_cmpuint(tide_partition_span(partition), ==, 10);
  tide_partition_commit_answered(partition, 102, TRUE);
  g_assert_false(partition->commit.needs_opening);
  g_assert_cmpuint(tide_partition_span(partition), ==, 0);
}

/* The offset is on its way to be committed without a note as the hold begins, and its answer comes first; then that of
 * the noted one, which the brokers refuse: what they know does not say that more is read than the span. */
static void
test_A3_answer_of_a_commit_without_a_note_tells_nothing(Fixture *fixture, gconstpointer data)
{
  TidePartition *partition = fixture->partition;
  TideSourceRef refs[10];
  begin(fixture, 100, 10, refs);
  ack(fixture, refs, 3);
  tide_partition_commit_asked(partition, 103, FALSE, FALSE);
  tide_rewind_hold(partition, refs[3], 500, TRUE);
  ack(fixture, &refs[3], 7);
  tide_partition_commit_asked(partition, 103, TRUE, FALSE);
  tide_partition_commit_answered(partition, 103, TRUE);
  g_assert_cmpuint(tide_partition_span(partition), ==, 7);
  g_assert_true(partition->commit.needs_opening);
  tide_partition_commit_answered(partition, 103, FALSE);
  g_assert_cmpuint(tide_partition_span(partition), ==, 7);
  tide_partition_commit_asked(partition, 103, FALSE, FALSE);
  tide_partition_commit_answered(partition, 103, TRUE); /* is not that of the one that was refused */
  g_assert_true(partition->commit.needs_opening);
}

/* The committed note says that much was read until another takes its place: nothing pauses for a hold that ends. */
static void
test_M6_end_of_a_hold_stops_nothing(Fixture *fixture, gconstpointer data)
{
  TidePartition *partition = fixture->partition;
  TideSourceRef refs[10], more[3];
  begin(fixture, 100, 10, refs);
  tide_rewind_hold(partition, refs[2], 500, TRUE);
  tide_partition_commit_asked(partition, 100, TRUE, FALSE);
  tide_partition_commit_answered(partition, 100, TRUE);
  ack(fixture, refs, 8);
  tide_rewind_end_hold(partition, refs[2]);
  g_assert_cmpuint(tide_partition_span(partition), ==, 2);
  tide_partition_commit_asked(partition, 108, FALSE, FALSE);
  ack(fixture, &refs[8], 2);
  begin(fixture, 110, 3, more);
  g_assert_cmpuint(tide_partition_span(partition), ==, 5); /* it may be committed already */
  tide_partition_commit_answered(partition, 108, TRUE);
  g_assert_cmpuint(tide_partition_span(partition), ==, 5);
}

/* After a rewind the committed note says what it said, and is as far behind as it was. */
static void
test_L7_rewind_keeps_the_distance_to_what_is_committed(Fixture *fixture, gconstpointer data)
{
  TidePartition *partition = fixture->partition;
  TideSourceRef refs[10];
  begin(fixture, 100, 10, refs);
  ack(fixture, refs, 6);
  tide_partition_commit_asked(partition, 106, FALSE, FALSE);
  tide_rewind_ask(partition, TIDE_REWIND_CANCELLED, 1);
  rewind_at(fixture, 1);
  begin(fixture, 106, 4, refs);
  g_assert_cmpuint(tide_partition_span(partition), ==, 10);
  tide_partition_commit_answered(partition, 106, TRUE);
  g_assert_cmpuint(tide_partition_span(partition), ==, 4);
  g_assert_true(partition->commit.needs_opening);
}

/* A refused message has its dead letter: as it is read again, what HBase refuses of it is settled at once. */
static void
test_refused_message_has_one_dead_letter(Fixture *fixture, gconstpointer data)
{
  TidePartition *partition = fixture->partition;
  TideSourceRef refs[3];
  begin(fixture, 100, 3, refs);
  ack(fixture, refs, 1);
  tide_rewind_hold(partition, refs[1], 500, TRUE);
  g_assert_true(tide_partition_add_refused(partition, &fixture->rig.budget, refs[1], 1));
  const TideDeadLetterJob job = {
      .dead_letter = {.reason = TIDE_BYTES_LITERAL(TIDE_DEAD_LETTER_REASON_REFUSED), .reading_index = -1},
      .source = refs[1],
      .n_acks = 1};
  tide_partition_dead_letter_kept(partition, &fixture->rig.budget, &job);
  rewind_at(fixture, 500);
  begin(fixture, 101, 2, refs);
  g_assert_false(tide_partition_add_refused(partition, &fixture->rig.budget, refs[0], 1));
  g_assert_true(tide_partition_add_refused(partition, &fixture->rig.budget, refs[1], 1));
  g_assert_cmpint(tide_partition_position(partition), ==, 102);
  g_assert_cmpuint(tide_metrics_sum(fixture->rig.metrics, "tidemark_messages_dead_lettered_total", NULL), ==, 1);
}

/* The status says how long what is committed stays where it is, and why. */
static void
test_status_tells_of_it(Fixture *fixture, gconstpointer data)
{
  TideSourceRef ref;
  g_assert_null(tide_rewind_describe(&fixture->partition->rewind, 100, 0));
  begin(fixture, 100, 1, &ref);
  tide_rewind_hold(fixture->partition, ref, 7 * TIDE_US_PER_S, TRUE);
  g_autofree char *text = tide_rewind_describe(&fixture->partition->rewind, 100, 2 * TIDE_US_PER_S);
  g_assert_nonnull(strstr(text, "stays at 100 "));
  g_assert_nonnull(strstr(text, " in 5 s, because unanswered calls may "));
}

/* @batch has one row of each of @refs. */
static void
make_batch(TideBatch *batch, const TideSourceRef *refs, guint n)
{
  for (guint32 i = 0; i < n; i++) {
    const TideBatchSource source = {.ref = refs[i], .row = i};
    tide_buffer_append(&batch->sources, &source, sizeof source);
  }
  batch->n_rows = n;
}

/* What an owner before us left in doubt counts for rows of that partition, also once it was rewound, and also where
 * another is taken afterwards of which nothing is in doubt. */
static void
test_inherited_doubt_is_of_its_partition(Fixture *fixture, gconstpointer data)
{
  TidePartition *partition = fixture->partition;
  TidePartition *other = partition_rig_new_partition(&fixture->rig, "t", 1, 1);
  const TideCommitNote in_doubt = {.is_closed = TRUE, .until_ms = 1, .time_ms = 7}, not_in_doubt = {.is_closed = TRUE};
  const TideHandoverContext context = {.now_us = 1000, .settle_us = SETTLE_US};
  const TideHandoverFrom from = {100, 100, 100, &in_doubt}, from_none = {100, 100, 100, &not_in_doubt};
  TideSourceRef refs[3];
  tide_handover_take(partition, &from, &context);
  tide_partition_assign(other);
  tide_handover_take(other, &from_none, &context);
  begin(fixture, 100, 1, &refs[0]);
  refs[1] = (TideSourceRef){other->assignment.number, 0};
  tide_partition_rewind(partition, &fixture->rig.budget, 1000, SETTLE_US);
  begin(fixture, 100, 1, &refs[2]);
  TideBatch *batch = tide_batch_new();
  make_batch(batch, refs, 3);
  batch->times.sealed_us = 1999;
  g_autofree TideDoubt *by_row = tide_rewind_inherited_by_row(&fixture->rig.assignments, batch);
  g_assert_nonnull(by_row);
  for (guint i = 0; i < 3; i++)
    g_assert_cmpint(by_row[i].until_us, ==, i == 1 ? 0 : 2000);
  batch->times.sealed_us = 2000;
  g_assert_null(tide_rewind_inherited_by_row(&fixture->rig.assignments, batch));
  tide_batch_free(batch);
  tide_partition_free(other, &fixture->rig.budget);
}

/* A call without an answer leaves the cells in doubt of that partition whose messages it carried, also where it was
 * rewound since then; where that is too long ago to be known, of each. */
static void
test_doubt_finds_its_partition(Fixture *fixture, gconstpointer data)
{
  TidePartition *partition = fixture->partition;
  TidePartition *other = partition_rig_new_partition(&fixture->rig, "t", 1, 1);
  const TideJudgement judgement = {.doubt = {.until_us = 500, .time_ms = 7}};
  TideSourceRef ref;
  tide_partition_assign(other);
  begin(fixture, 100, 1, &ref);
  TideBatch *batch = tide_batch_new();
  make_batch(batch, &ref, 1);
  for (guint i = 0; i < TIDE_ASSIGNMENTS_KEPT; i++) {
    partition->uncertain.doubt = (TideDoubt){0};
    tide_rewind_take_judgement(&fixture->rig.assignments, batch, &judgement, 0);
    g_assert_cmpint(partition->uncertain.doubt.until_us, ==, 500);
    g_assert_cmpint(other->uncertain.doubt.until_us, ==, 0);
    tide_partition_rewind(partition, &fixture->rig.budget, 0, SETTLE_US);
    g_assert_null(tide_assignments_find_owner(&fixture->rig.assignments, ref));
  }
  partition->uncertain.doubt = (TideDoubt){0};
  tide_rewind_take_judgement(&fixture->rig.assignments, batch, &judgement, 0);
  g_assert_cmpint(partition->uncertain.doubt.until_us, ==, 500);
  g_assert_cmpint(other->uncertain.doubt.until_us, ==, 500);
  const TideFinding forgotten = {.kind = TIDE_FOUND_FORGOTTEN, .source = ref, .until_us = 600};
  const TideJudgement without_room = {.findings = &forgotten, .n_findings = 1};
  tide_rewind_take_judgement(&fixture->rig.assignments, batch, &without_room, 0);
  g_assert_cmpint(partition->rewind.overflows[0].until_us, ==, 600);
  g_assert_cmpint(other->rewind.overflows[0].until_us, ==, 600);
  tide_batch_free(batch);
  tide_partition_free(other, &fixture->rig.budget);
}

/* Its dead letter is kept, and a row of it is on its way as it is rewound: it is in the topic, so it must be counted.
 */
static void
test_R3_dead_letter_of_an_unfinished_message_is_counted(Fixture *fixture, gconstpointer data)
{
  TidePartition *partition = fixture->partition;
  const TideMapped two_rows = {.n_rows = 2, .n_readings = 1, .timestamp_ms = -1};
  TideSourceRef ref = tide_partition_begin(partition, &fixture->rig.budget, 100, &two_rows, FALSE);
  g_assert_true(tide_partition_add_refused(partition, &fixture->rig.budget, ref, 1));
  const TideDeadLetterJob job = {
      .dead_letter = {.reason = TIDE_BYTES_LITERAL(TIDE_DEAD_LETTER_REASON_REFUSED), .reading_index = -1},
      .source = ref,
      .n_acks = 1};
  tide_partition_dead_letter_kept(partition, &fixture->rig.budget, &job);
  tide_rewind_ask(partition, TIDE_REWIND_CANCELLED, 1);
  rewind_at(fixture, 1);
  ref = tide_partition_begin(partition, &fixture->rig.budget, 100, &two_rows, FALSE);
  g_assert_false(tide_partition_add_refused(partition, &fixture->rig.budget, ref, 1));
  tide_partition_ack(partition, ref, 1);
  g_assert_cmpint(tide_partition_position(partition), ==, 101);
  g_assert_cmpuint(tide_metrics_sum(fixture->rig.metrics, "tidemark_messages_dead_lettered_total", NULL), ==, 1);
  g_assert_cmpuint(tide_metrics_sum(fixture->rig.metrics, "tidemark_readings_dead_lettered_total", NULL), ==, 1);
}

/* Likewise of a reading that was rejected, whose message's other readings are on their way. */
static void
test_R3_dead_letter_of_a_reading_is_counted(Fixture *fixture, gconstpointer data)
{
  TidePartition *partition = fixture->partition;
  static const TideReject reject = {.reason = TIDE_REJECT_TYPE, .reading_index = 1};
  const TideMapped mapped = {.n_rows = 1, .n_readings = 2, .rejects = &reject, .n_rejects = 1, .timestamp_ms = -1};
  TideSourceRef ref = tide_partition_begin(partition, &fixture->rig.budget, 100, &mapped, FALSE);
  const TideDeadLetterJob job = {
      .dead_letter = {.reason = TIDE_BYTES_LITERAL("type"), .reading_index = 1}, .source = ref, .n_acks = 1};
  tide_partition_dead_letter_kept(partition, &fixture->rig.budget, &job);
  tide_rewind_ask(partition, TIDE_REWIND_CANCELLED, 1);
  rewind_at(fixture, 1);
  ref = tide_partition_begin(partition, &fixture->rig.budget, 100, &mapped, FALSE);
  tide_partition_ack(partition, ref, 1);
  g_assert_cmpint(tide_partition_position(partition), ==, 101);
  g_assert_cmpuint(tide_metrics_sum(fixture->rig.metrics, "tidemark_readings_dead_lettered_total", NULL), ==, 1);
  g_assert_cmpuint(tide_metrics_sum(fixture->rig.metrics, "tidemark_messages_dead_lettered_total", NULL), ==, 1);
}

/* 100 is committed, and 100 messages from there on are in flight. */
static void
commit_and_begin(Fixture *fixture, TideSourceRef refs[100])
{
  tide_partition_commit_asked(fixture->partition, 100, TRUE, FALSE);
  tide_partition_commit_answered(fixture->partition, 100, TRUE);
  begin(fixture, 100, 100, refs);
}

/* No commit is answered, and an overflow outlasts a rewind: the next one begins behind the first message that was read
 * again, and the distance to what is committed must not shrink. */
static void
test_R7_second_rewind_keeps_the_distance_to_what_is_committed(Fixture *fixture, gconstpointer data)
{
  TidePartition *partition = fixture->partition;
  TideSourceRef refs[100];
  commit_and_begin(fixture, refs);
  tide_rewind_hold_all(partition, refs[50].sequence, 700); /* from 150 on */
  ack(fixture, refs, 100);
  g_assert_cmpuint(tide_partition_span(partition), ==, 100);
  tide_rewind_ask(partition, TIDE_REWIND_CANCELLED, 1);
  rewind_at(fixture, 1); /* at 150: 50 messages lie behind what is committed */
  begin(fixture, 150, 50, refs);
  g_assert_cmpuint(tide_partition_span(partition), ==, 100);
}

/* The same, where the first rewind begins before the overflow. */
static void
test_R7_overflow_behind_the_first_message_keeps_the_distance(Fixture *fixture, gconstpointer data)
{
  TidePartition *partition = fixture->partition;
  TideSourceRef refs[100];
  commit_and_begin(fixture, refs);
  tide_rewind_hold(partition, refs[20], 500, TRUE);
  tide_rewind_hold_all(partition, refs[50].sequence, 700);
  ack(fixture, refs, 100);
  rewind_at(fixture, 500); /* at 120 */
  begin(fixture, 120, 80, refs);
  g_assert_cmpuint(tide_partition_span(partition), ==, 100);
  ack(fixture, refs, 80);
  rewind_at(fixture, 500 + SETTLE_US); /* at 150 */
  begin(fixture, 150, 50, refs);
  g_assert_cmpuint(tide_partition_span(partition), ==, 100); /* from 100, which is committed still, to 199 */
}

/* The same, where a second overflow outlasts the first, and rewinds that pass neither come between. */
static void
test_second_overflow_keeps_the_distance(Fixture *fixture, gconstpointer data)
{
  TidePartition *partition = fixture->partition;
  TideSourceRef refs[100];
  commit_and_begin(fixture, refs);
  tide_rewind_hold_all(partition, refs[50].sequence, 700);
  tide_rewind_hold_all(partition, refs[70].sequence, 900);
  ack(fixture, refs, 100);
  tide_rewind_ask(partition, TIDE_REWIND_CANCELLED, 1);
  rewind_at(fixture, 1); /* at 150 */
  begin(fixture, 150, 50, refs);
  ack(fixture, refs, 50);
  rewind_at(fixture, 700); /* at 150 */
  begin(fixture, 150, 50, refs);
  ack(fixture, refs, 50);
  rewind_at(fixture, 700 + SETTLE_US); /* at 170 */
  begin(fixture, 170, 30, refs);
  g_assert_cmpuint(tide_partition_span(partition), ==, 100);
}

/* A doubt that ends earlier does not shorten one that covers its messages. */
static void
test_overflow_is_not_shortened(Fixture *fixture, gconstpointer data)
{
  TideSourceRef refs[100];
  begin(fixture, 100, 100, refs);
  tide_rewind_hold_all(fixture->partition, refs[50].sequence, 700);
  tide_rewind_hold_all(fixture->partition, refs[60].sequence, 500);
  rewind_at(fixture, 700);
}

/* A message whose contested cells are not remembered is held until the rewind: a later value cannot be found. */
static void
test_hold_without_memory_is_not_ended(Fixture *fixture, gconstpointer data)
{
  TideSourceRef refs[10];
  begin(fixture, 100, 10, refs);
  tide_rewind_hold(fixture->partition, refs[3], 500, FALSE);
  tide_rewind_end_hold(fixture->partition, refs[3]);
  ack(fixture, refs, 10);
  g_assert_cmpint(tide_partition_position(fixture->partition), ==, 103);
}

/* A message counts as finished before a rewind until it is committed, and no longer once a rewind found it unfinished.
 */
static void
test_finished_messages_are_known_until_they_are_committed(Fixture *fixture, gconstpointer data)
{
  TideRewind *rewind = &fixture->partition->rewind;
  const TideEndedRange before = {100, 200}, again = {100, 120};
  GArray *ended = g_array_new(FALSE, FALSE, sizeof(TideEndedRange));
  g_array_append_val(rewind->ended, before);
  tide_rewind_forget_letters(rewind, 199);
  g_assert_true(tide_rewind_has_ended(rewind, 199));
  g_array_append_val(ended, again);
  tide_rewind_set_ended(rewind, ended, 150);
  g_assert_true(tide_rewind_has_ended(rewind, 119));
  g_assert_false(tide_rewind_has_ended(rewind, 130));
  g_assert_true(tide_rewind_has_ended(rewind, 150));
}

/* The gauge of a held offset ends with the ownership. */
static void
test_held_offset_is_shown_while_it_is_owned(Fixture *fixture, gconstpointer data)
{
  TideSourceRef ref;
  begin(fixture, 100, 1, &ref);
  tide_rewind_hold(fixture->partition, ref, 500, TRUE);
  tide_partition_show(fixture->partition);
  g_assert_cmpuint(tide_metrics_sum(fixture->rig.metrics, "tidemark_kafka_commit_deferred", NULL), ==, 1);
  tide_partition_release(fixture->partition, &fixture->rig.budget);
  g_assert_cmpuint(tide_metrics_sum(fixture->rig.metrics, "tidemark_kafka_commit_deferred", NULL), ==, 0);
}

/* Only what a note says counts: a commit without a note does not tell the next owner that messages far ahead were sent.
 */
static void
test_commit_without_a_note_is_not_far(Fixture *fixture, gconstpointer data)
{
  TidePartition *partition = fixture->partition;
  TideSourceRef refs[2];
  begin(fixture, 100, 2, refs);
  tide_rewind_hold(partition, refs[1], 500, TRUE);
  ack(fixture, refs, 2);
  tide_partition_commit_asked(partition, 101, FALSE, FALSE);
  tide_partition_commit_answered(partition, 101, TRUE);
  g_assert_false(partition->commit.is_far);
}

/* The latency is that of the first write: the time of a rewind is not the pipeline's. */
static void
test_latency_is_observed_once(Fixture *fixture, gconstpointer data)
{
  const TideMapped mapped = {.n_rows = 1, .n_readings = 1, .timestamp_ms = 1000};
  TideSourceRef first, second;
  begin(fixture, 100, 1, &first);
  for (guint round = 0; round < 2; round++) {
    second = tide_partition_begin(fixture->partition, &fixture->rig.budget, 101, &mapped, FALSE);
    ack(fixture, &second, 1);
    g_assert_cmpuint(tide_metrics_sum(fixture->rig.metrics, "tidemark_write_latency_seconds", NULL), ==, 1);
    if (round == 0) {
      tide_rewind_ask(fixture->partition, TIDE_REWIND_CANCELLED, 1);
      rewind_at(fixture, 1);
      begin(fixture, 100, 1, &first);
    }
  }
}

/* While the brokers are asked where it stands, a batch from before a rewind is forgotten. */
static void
test_R8_offset_never_goes_back_while_it_is_located(Fixture *fixture, gconstpointer data)
{
  TidePartition *partition = fixture->partition;
  TideSourceRef refs[10];
  begin(fixture, 100, 10, refs);
  ack(fixture, refs, 10);
  g_assert_cmpint(tide_partition_position(partition), ==, 110);
  partition->location.is_located = FALSE; /* tide_consumer_locate_replaced() */
  tide_rewind_hold_all(partition, partition->offsets.head, 500);
  partition->location.is_located = TRUE;
  g_assert_cmpint(tide_partition_position(partition), ==, 110);
}

#define ADD(path, func) g_test_add("/rewind/" path, Fixture, NULL, set_up, func, tear_down)

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  ADD("held-message-is-not-passed", test_held_message_is_not_passed);
  ADD("later-conflicts-do-not-move-the-moment", test_later_conflicts_do_not_move_the_moment);
  ADD("once-within-settle", test_is_rewound_for_doubts_once_within_settle);
  ADD("refused/at-once", test_is_rewound_for_refused_rows_at_once);
  ADD("refused/waits-for-a-minute-at-most", test_rewind_for_refused_rows_waits_for_a_minute_at_most);
  ADD("overflow-lasts-until-it-is-over", test_overflow_lasts_until_it_is_over);
  ADD("M5-overflow-without-end-moves-no-moment", test_M5_overflow_without_end_moves_no_moment);
  ADD("M5-overflow-does-not-move-an-earlier-conflict", test_M5_overflow_does_not_move_an_earlier_conflict);
  ADD("M6-end-of-a-hold-stops-nothing", test_M6_end_of_a_hold_stops_nothing);
  ADD("L7-keeps-the-distance-to-what-is-committed", test_L7_rewind_keeps_the_distance_to_what_is_committed);
  ADD("A3-answer-of-a-commit-without-a-note", test_A3_answer_of_a_commit_without_a_note_tells_nothing);
  ADD("due-is-not-given-up", test_rewind_that_is_due_is_not_given_up);
  ADD("held-messages-are-bounded", test_held_messages_are_bounded);
  ADD("offset-that-is-held-stops-nothing", test_offset_that_is_held_stops_nothing_once_it_is_told);
  ADD("refused-message-has-one-dead-letter", test_refused_message_has_one_dead_letter);
  ADD("status-tells-of-it", test_status_tells_of_it);
  ADD("inherited-doubt-is-of-its-partition", test_inherited_doubt_is_of_its_partition);
  ADD("doubt-finds-its-partition", test_doubt_finds_its_partition);
  ADD("R3-dead-letter-of-an-unfinished-message-is-counted", test_R3_dead_letter_of_an_unfinished_message_is_counted);
  ADD("R3-dead-letter-of-a-reading-is-counted", test_R3_dead_letter_of_a_reading_is_counted);
  ADD("R7-second-rewind-keeps-the-distance", test_R7_second_rewind_keeps_the_distance_to_what_is_committed);
  ADD("R7-overflow-behind-keeps-the-distance", test_R7_overflow_behind_the_first_message_keeps_the_distance);
  ADD("R7-second-overflow-keeps-the-distance", test_second_overflow_keeps_the_distance);
  ADD("overflow-is-not-shortened", test_overflow_is_not_shortened);
  ADD("hold-without-memory-is-not-ended", test_hold_without_memory_is_not_ended);
  ADD("finished-messages-are-known", test_finished_messages_are_known_until_they_are_committed);
  ADD("held-offset-is-shown-while-it-is-owned", test_held_offset_is_shown_while_it_is_owned);
  ADD("commit-without-a-note-is-not-far", test_commit_without_a_note_is_not_far);
  ADD("latency-is-observed-once", test_latency_is_observed_once);
  ADD("R8-offset-never-goes-back-while-it-is-located", test_R8_offset_never_goes_back_while_it_is_located);
  return g_test_run();
}
