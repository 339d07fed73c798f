/* The program itself, run as its users run it: $TIDEMARK, set by meson. */
#pragma once

#include <glib.h>
#include <sys/wait.h>

/* What the program printed and ended with. */
typedef struct ProgramDone {
  char *output; /* owned */
  char *errors; /* owned */
  int exit_code;
} ProgramDone;

static inline void
program_done_clear(ProgramDone *done)
{
  g_free(done->output);
  g_free(done->errors);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(ProgramDone, program_done_clear)

/* Runs `tidemark WORDS… --config CONFIG`, the words parted by single spaces. */
static inline ProgramDone
run_program(const char *config_path, const char *words)
{
  ProgramDone done = {0};
  int status = 0;
  g_autoptr(GError) error = NULL;
  g_autofree char *line = g_strdup_printf("%s %s --config %s", g_getenv("TIDEMARK"), words, config_path);
  g_auto(GStrv) arguments = g_strsplit(line, " ", -1);
  g_assert_nonnull(g_getenv("TIDEMARK"));
  g_spawn_sync(NULL, arguments, NULL, G_SPAWN_DEFAULT, NULL, NULL, &done.output, &done.errors, &status, &error);
  g_assert_no_error(error);
  g_assert_true(WIFEXITED(status));
  done.exit_code = WEXITSTATUS(status);
  return done;
}
