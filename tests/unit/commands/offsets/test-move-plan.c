/* Where a partition is moved to, and what the note beside the new offset leaves to the next owner. */
#include "commands/offsets/move_plan.h"
#include "unit/test_case.h"
#include "util/error.h"

#define NOW_MS G_GINT64_CONSTANT(1763700000000)
#define SETTLE_MS 20000
#define SPAN 1000

static const TideMoveContext context = {.now_epoch_ms = NOW_MS, .settle_ms = SETTLE_MS, .span_messages = SPAN};

/* Of a log that holds 100 to 900. */
static TideTopicPart
part_of(gint64 committed, const char *note)
{
  return (TideTopicPart){.topic = (char *)"metrics",
                         .first = 100,
                         .last = 900,
                         .begin = 250,
                         .committed = committed,
                         .note = (char *)note};
}

static TideMove
plan(TideMoveTo to, gint64 value, gint64 committed, const char *note)
{
  TideMoveTarget target = {to, value};
  TideTopicPart part = part_of(committed, note);
  TideMove move;
  g_autoptr(GError) error = NULL;
  g_assert_true(tide_move_plan(&target, &part, &context, &move, &error));
  g_assert_no_error(error);
  return move;
}

static void
assert_refused(TideMoveTo to, gint64 value, gint64 committed, const char *note, TideErrorCode code)
{
  TideMoveTarget target = {to, value};
  TideTopicPart part = part_of(committed, note);
  TideMove move;
  g_autoptr(GError) error = NULL;
  g_assert_false(tide_move_plan(&target, &part, &context, &move, &error));
  g_assert_error(error, TIDE_ERROR, (gint)code);
}

static void
assert_note(const TideMove *move, const char *text)
{
  g_assert_cmpint(move->kind, ==, TIDE_MOVE_MOVES);
  g_autofree char *note = tide_commit_note_format(&move->note);
  g_assert_cmpstr(note, ==, text);
}

TEST("/move-plan/target")
{
  static const struct {
    const char *text;
    TideMoveTarget target;
  } cases[] = {
      {"beginning", {TIDE_MOVE_BEGINNING, 0}},       {"end", {TIDE_MOVE_END, 0}},
      {"past-halt", {TIDE_MOVE_PAST_HALT, 0}},       {"0", {TIDE_MOVE_OFFSET, 0}},
      {"1763700000000", {TIDE_MOVE_OFFSET, NOW_MS}}, {"-15m", {TIDE_MOVE_TIME, NOW_MS - 900000}},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    TideMoveTarget target = {0};
    g_autoptr(GError) error = NULL;
    g_assert_true(tide_move_target_parse(cases[i].text, NOW_MS, &target, &error));
    g_assert_cmpint(target.to, ==, cases[i].target.to);
    g_assert_cmpint(target.value, ==, cases[i].target.value);
  }
  static const char *const wrong[] = {NULL, "", "start", "-1"};
  for (gsize i = 0; i < G_N_ELEMENTS(wrong); i++) {
    TideMoveTarget target;
    g_autoptr(GError) error = NULL;
    g_assert_false(tide_move_target_parse(wrong[i], NOW_MS, &target, &error));
    g_assert_error(error, TIDE_ERROR, TIDE_ERROR_USAGE);
  }
}

TEST("/move-plan/where-it-goes")
{
  g_assert_cmpint(plan(TIDE_MOVE_BEGINNING, 0, 500, NULL).to, ==, 100);
  g_assert_cmpint(plan(TIDE_MOVE_END, 0, -1, NULL).to, ==, 900);
  g_assert_cmpint(plan(TIDE_MOVE_TIME, NOW_MS, 500, NULL).to, ==, 250);
  g_assert_cmpint(plan(TIDE_MOVE_OFFSET, 900, 500, NULL).to, ==, 900);
  g_assert_cmpint(plan(TIDE_MOVE_OFFSET, 500, 500, "anything").kind, ==, TIDE_MOVE_UNCHANGED);
  g_assert_cmpint(plan(TIDE_MOVE_PAST_HALT, 0, 500, NULL).kind, ==, TIDE_MOVE_NOT_HALTED);
  assert_refused(TIDE_MOVE_OFFSET, 99, 500, NULL, TIDE_ERROR_USAGE);
  assert_refused(TIDE_MOVE_OFFSET, 901, 500, NULL, TIDE_ERROR_USAGE);
}

TEST("/move-plan/past-halt")
{
  g_assert_cmpint(plan(TIDE_MOVE_PAST_HALT, 0, 100, "tidemark 1 closed span=9 start=-501").to, ==, 100);
  g_assert_cmpint(plan(TIDE_MOVE_PAST_HALT, 0, 50, "tidemark 1 closed span=9 start=-202").to, ==,
                  100); /* deleted since */
  g_assert_cmpint(plan(TIDE_MOVE_PAST_HALT, 0, 100, "tidemark 1 closed span=9 start=-5003").to, ==, 500);
  g_assert_cmpint(plan(TIDE_MOVE_PAST_HALT, 0, 500, "tidemark 1 closed span=9 start=-5005").to, ==, 501);
  /* The message that halts is 500, and from 499 on nothing is written yet. */
  assert_refused(TIDE_MOVE_PAST_HALT, 0, 499, "tidemark 1 closed span=9 start=-5005", TIDE_ERROR_DATA);
  assert_refused(TIDE_MOVE_PAST_HALT, 0, 100, "tidemark 1 closed span=9 start=-503", TIDE_ERROR_DATA);
  /* The halt goes with any move, also with one that stays where it is. */
  TideMove stays = plan(TIDE_MOVE_OFFSET, 100, 100, "tidemark 1 closed span=9 start=-501");
  assert_note(&stays, "tidemark 1 closed span=9");
}

TEST("/move-plan/closed-owner-leaves-what-it-left")
{
  TideMove back = plan(TIDE_MOVE_BEGINNING, 0, 500, "tidemark 1 closed span=9 start=77");
  assert_note(&back, "tidemark 1 closed span=9");
  TideMove doubted = plan(TIDE_MOVE_END, 0, 500, "tidemark 1 closed until=5 time=3 span=9");
  assert_note(&doubted, "tidemark 1 closed until=5 time=3 span=9");
}

/* What an owner may have sent lies in [500, 500 + span): a move back must not end the doubt before that. */
TEST("/move-plan/move-back-from-an-unclosed-owner-lengthens-its-span")
{
  TideMove noted = plan(TIDE_MOVE_BEGINNING, 0, 500, "tidemark 1 running until=5 time=3 span=9");
  assert_note(&noted, "tidemark 1 running until=5 time=3 span=409");
  TideMove killed = plan(TIDE_MOVE_BEGINNING, 0, 500, NULL);
  assert_note(&killed, "tidemark 1 running span=1400");
  TideMove foreign = plan(TIDE_MOVE_BEGINNING, 0, 500, "tidemark 2 whatever");
  assert_note(&foreign, "tidemark 1 running span=1400");
  TideMove wide = plan(TIDE_MOVE_BEGINNING, 0, 500, "tidemark 1 running span=9223372036854775807");
  assert_note(&wide, "tidemark 1 running span=9223372036854775807");
  /* Halted: the log's beginning is committed, and the owner had come to 700. */
  TideMove halted = plan(TIDE_MOVE_PAST_HALT, 0, 100, "tidemark 1 running span=9 start=-7001");
  assert_note(&halted, "tidemark 1 running span=609");
}

/* The messages left out may still land, and nobody knows their cells: all that is written meanwhile is doubted. */
TEST("/move-plan/move-forward-from-an-unclosed-owner-doubts-every-time")
{
  TideMove noted = plan(TIDE_MOVE_END, 0, 500, "tidemark 1 running until=5 time=3 span=9");
  assert_note(&noted, "tidemark 1 running until=1763700020000 time=9223372036854775807 span=9");
  TideMove killed = plan(TIDE_MOVE_END, 0, 500, NULL);
  assert_note(&killed, "tidemark 1 running until=1763700020000 time=9223372036854775807 span=1000");
  TideMove halted = plan(TIDE_MOVE_PAST_HALT, 0, 100, "tidemark 1 running span=9 start=-3003");
  assert_note(&halted, "tidemark 1 running until=1763700020000 time=9223372036854775807 span=9");
  TideMove behind = plan(TIDE_MOVE_PAST_HALT, 0, 500, "tidemark 1 running span=9 start=-5005");
  assert_note(&behind, "tidemark 1 running until=1763700020000 time=9223372036854775807 span=9");
  /* Nothing was ever committed: there is no offset that it begins before or behind. */
  TideMove first = plan(TIDE_MOVE_END, 0, -1, NULL);
  assert_note(&first, "tidemark 1 running span=1000");
}
