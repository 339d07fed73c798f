/* An input for tests that drive a consumer: it has no messages and records requests; tests call its handlers. */
#pragma once

#include "model/input.h"

typedef struct FakeInput {
  TideInput input;
  TideInputHandlers handlers;
  GString *asked; /* owned: "pause 0, store 0 6, " */
  gboolean refuses_marks;
  gboolean refuses_commits;
} FakeInput;

static inline FakeInput *
fake_input_of(TideInput *input)
{
  return (FakeInput *)input;
}

static void
fake_input_free(TideInput *input)
{
  g_string_free(fake_input_of(input)->asked, TRUE);
  g_free(input);
}

static void
fake_input_close(TideInput *input)
{
}

static gboolean
fake_input_poll(TideInput *input, int timeout_ms, TideInputRecord *ret_record)
{
  return FALSE;
}

static void
fake_input_release(TideInput *input, TideInputRecord *record)
{
}

static void
fake_input_wake(TideInput *input)
{
}

static void
fake_input_pause(TideInput *input, guint32 slot)
{
  g_string_append_printf(fake_input_of(input)->asked, "pause %u, ", slot);
}

static void
fake_input_resume(TideInput *input, guint32 slot)
{
  g_string_append_printf(fake_input_of(input)->asked, "resume %u, ", slot);
}

static gboolean
fake_input_store(TideInput *input, guint32 slot, gint64 offset)
{
  FakeInput *fake = fake_input_of(input);
  g_string_append_printf(fake->asked, "store %u %" G_GINT64_FORMAT ", ", slot, offset);
  return !fake->refuses_marks;
}

static void
fake_input_move(TideInput *input, const TideInputMove *moves, gsize n_moves)
{
  for (gsize i = 0; i < n_moves; i++)
    g_string_append_printf(fake_input_of(input)->asked, "move %u %" G_GINT64_FORMAT ", ", moves[i].slot,
                           moves[i].offset);
}

static void
fake_input_locate(TideInput *input, guint32 slot, gint64 wanted_offset)
{
  g_string_append_printf(fake_input_of(input)->asked, "locate %u %" G_GINT64_FORMAT ", ", slot, wanted_offset);
}

static void
fake_input_commit_later(TideInput *input, const TideInputCommit *commits, gsize n_commits)
{
  for (gsize i = 0; i < n_commits; i++)
    g_string_append_printf(fake_input_of(input)->asked, "commit %u %" G_GINT64_FORMAT ", ", commits[i].slot,
                           commits[i].offset);
}

static gboolean
fake_input_commit(TideInput *input, const TideInputCommit *commits, gsize n_commits, gint64 deadline_us,
                  char **ret_problem)
{
  FakeInput *fake = fake_input_of(input);
  fake_input_commit_later(input, commits, n_commits);
  for (gsize i = 0; i < n_commits; i++)
    fake->handlers.committed(commits[i].slot, commits[i].offset, !fake->refuses_commits, fake->handlers.data);
  if (fake->refuses_commits)
    *ret_problem = g_strdup("refused");
  return !fake->refuses_commits;
}

static const TideInputFuncs fake_input_funcs = {.poll = fake_input_poll,
                                                .release = fake_input_release,
                                                .wake = fake_input_wake,
                                                .pause = fake_input_pause,
                                                .resume = fake_input_resume,
                                                .store = fake_input_store,
                                                .commit_later = fake_input_commit_later,
                                                .commit = fake_input_commit,
                                                .move = fake_input_move,
                                                .locate = fake_input_locate,
                                                .close = fake_input_close,
                                                .free = fake_input_free};

static inline TideInput *
fake_input_open(guint32 index, const TideInputHandlers *handlers, gpointer data, GError **error)
{
  FakeInput *fake = g_new0(FakeInput, 1);
  fake->input.funcs = &fake_input_funcs;
  fake->handlers = *handlers;
  fake->asked = g_string_new(NULL);
  return &fake->input;
}
