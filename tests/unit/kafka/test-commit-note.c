/* Notes of commits: read back as they were written; anybody else's text is none. */
#include "kafka/commit_note.h"

static void
assert_same(const TideCommitNote *note)
{
  g_autofree char *text = tide_commit_note_format(note);
  TideCommitNote read;
  g_assert_true(tide_commit_note_parse(tide_bytes_of_string(text), &read));
  g_assert_cmpint(read.is_closed, ==, note->is_closed);
  g_assert_cmpint(read.until_ms, ==, note->until_ms);
  g_assert_cmpint(read.time_ms, ==, note->until_ms > 0 ? note->time_ms : 0);
  g_assert_cmpuint(read.span_messages, ==, note->span_messages);
  g_assert_cmpint(read.start_ms, ==, note->start_ms);
  g_assert_cmpint(read.halt.cause, ==, note->halt.cause);
  g_assert_cmpint(read.halt.offset, ==, note->halt.offset);
  g_assert_cmpuint(read.tables_mark, ==, note->tables_mark);
}

static void
test_notes_are_read_back(void)
{
  for (guint i = 0; i < 1000; i++) {
    TideCommitNote note = {.is_closed = g_test_rand_int_range(0, 2) == 0,
                           .until_ms = g_test_rand_int_range(0, 2) == 0 ? 0 : g_test_rand_int_range(1, G_MAXINT32),
                           .time_ms = g_test_rand_int(),
                           .span_messages = (guint64)g_test_rand_int_range(0, G_MAXINT32),
                           .start_ms = g_test_rand_int_range(0, 2) == 0 ? 0 : g_test_rand_int_range(1, G_MAXINT32)};
    assert_same(&note);
  }
  g_autofree char *text =
      tide_commit_note_format(&(TideCommitNote){.until_ms = 1763700001000, .time_ms = -5, .span_messages = 1000000});
  g_assert_cmpstr(text, ==, "tidemark 1 running until=1763700001000 time=-5 span=1000000");
}

/* K1: builds before this one must read the note, too: they know no other words. */
static void
test_halts_are_read_back(void)
{
  for (int cause = TIDE_HALT_BEYOND_END; cause <= TIDE_HALT_MESSAGE; cause++)
    for (guint i = 0; i < 100; i++) {
      gint64 offset = i == 0 ? 0 : g_test_rand_int_range(0, G_MAXINT32) * (gint64)g_test_rand_int_range(1, 1000);
      assert_same(&(TideCommitNote){.is_closed = i % 2 == 0,
                                    .until_ms = i % 3 == 0 ? 1763700001000 : 0,
                                    .span_messages = i,
                                    .halt = {(TideHaltCause)cause, offset}});
    }
  g_autofree char *text = tide_commit_note_format(
      &(TideCommitNote){.is_closed = TRUE, .span_messages = 7, .halt = {TIDE_HALT_BEYOND_END, 1000}});
  g_assert_cmpstr(text, ==, "tidemark 1 closed span=7 start=-10001");
  TideCommitNote note;
  g_assert_false(tide_commit_note_parse(TIDE_BYTES_LITERAL("tidemark 1 closed span=7 start=-10009"), &note));
  g_assert_false(tide_commit_note_parse(TIDE_BYTES_LITERAL("tidemark 1 closed span=7 start=-10"), &note));
}

/* C8: builds before this one take the last until for what is left in doubt, and one that is not positive for none. */
static void
test_tables_are_read_back(void)
{
  static const guint32 marks[] = {1, 0x12345678, G_MAXUINT32};
  for (guint i = 0; i < G_N_ELEMENTS(marks); i++)
    for (guint doubt = 0; doubt < 2; doubt++) {
      TideCommitNote note = {.tables_mark = marks[i], .until_ms = doubt * 1763700001000, .time_ms = doubt * 5};
      assert_same(&note);
      g_autofree char *text = tide_commit_note_format(&note);
      gint64 last = g_ascii_strtoll(g_strrstr(text, "until=") + strlen("until="), NULL, 10);
      g_assert_cmpint(MAX(last, 0), ==, note.until_ms);
    }
  g_autofree char *text = tide_commit_note_format(&(TideCommitNote){.tables_mark = 0x12345678, .span_messages = 7});
  g_assert_cmpstr(text, ==, "tidemark 1 running until=-305419896 span=7");
}

static void
test_past_a_halt(void)
{
  g_assert_cmpint(tide_halt_past(&(TideHaltNote){TIDE_HALT_BEYOND_END, 1000}, 3), ==, 3);
  g_assert_cmpint(tide_halt_past(&(TideHaltNote){TIDE_HALT_DELETED, 1}, 3), ==, 3);
  g_assert_cmpint(tide_halt_past(&(TideHaltNote){TIDE_HALT_RECREATED, 1000}, 3), ==, 3);
  g_assert_cmpint(tide_halt_past(&(TideHaltNote){TIDE_HALT_TAKEN, 1000}, 3), ==, 1000);
  g_assert_cmpint(tide_halt_past(&(TideHaltNote){TIDE_HALT_MESSAGE, 1000}, 990), ==, 1001);
}

static void
test_other_texts_are_none(void)
{
  static const char *const texts[] = {"",
                                      "tidemark",
                                      "tidemark 1",
                                      "tidemark 1 ",
                                      "tidemark 2 closed span=1",
                                      "tidemark 1 shut span=1",
                                      "tidemark 1 span=1",
                                      "tidemark 1 closed closed",
                                      "tidemark 1 closed span=-1",
                                      "tidemark 1 closed span=",
                                      "tidemark 1 closed span=1x",
                                      "tidemark 1 closed span=99999999999999999999",
                                      "tidemark 1 closed more=1",
                                      "tidemark 1 closed  span=1",
                                      "tidemark start 1763700001000",
                                      "{\"offset\":7}"};
  TideCommitNote note;
  for (guint i = 0; i < G_N_ELEMENTS(texts); i++)
    g_assert_false(tide_commit_note_parse(tide_bytes_of_string(texts[i]), &note));
  g_assert_false(tide_commit_note_parse(TIDE_BYTES_EMPTY, &note));
  g_assert_false(tide_commit_note_parse(TIDE_BYTES_LITERAL("tidemark 1 closed\0span=1"), &note));
}

static void
test_garbage_harms_nobody(void)
{
  TideCommitNote note;
  for (guint i = 0; i < 20000; i++) {
    char text[] = "tidemark 1 running until=1763700001000 time=5 span=1000000";
    for (guint n = 0; n < 3; n++)
      text[g_test_rand_int_range(0, sizeof text - 1)] = (char)g_test_rand_int_range(0, 256);
    (void)tide_commit_note_parse(tide_bytes(text, (gsize)g_test_rand_int_range(0, sizeof text)), &note);
  }
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/commit-note/notes-are-read-back", test_notes_are_read_back);
  g_test_add_func("/commit-note/K1-halts-are-read-back", test_halts_are_read_back);
  g_test_add_func("/commit-note/C8-tables-are-read-back", test_tables_are_read_back);
  g_test_add_func("/commit-note/past-a-halt", test_past_a_halt);
  g_test_add_func("/commit-note/other-texts-are-none", test_other_texts_are_none);
  g_test_add_func("/commit-note/garbage-harms-nobody", test_garbage_harms_nobody);
  return g_test_run();
}
