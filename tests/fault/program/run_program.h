/* Runs the program ($TIDEMARK, set by meson) as its users do. */
#pragma once

#include <gio/gio.h>
#include <string.h>
#include <unistd.h>

/* The output and exit code of the program. */
typedef struct ProgramDone {
  char *output; /* owned */
  char *errors; /* owned */
  int exit_code;
} ProgramDone;

static inline void
program_done_clear(ProgramDone *done)
{
  g_clear_pointer(&done->output, g_free);
  g_clear_pointer(&done->errors, g_free);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(ProgramDone, program_done_clear)

/* Checks that the --help of a command lists its exit code. */
static inline void
assert_help_names_exit(const char *words, int exit_code)
{
  g_auto(GStrv) word = g_strsplit(words, " ", 2);
  g_autofree char *help = NULL;
  g_autofree char *command = g_strdup_printf("%s %s --help", g_getenv("TIDEMARK"), word[0]);
  g_autofree char *code = g_strdup_printf("\n  %-4d", exit_code);
  g_assert_true(g_spawn_command_line_sync(command, &help, NULL, NULL, NULL));
  const char *codes = strstr(help, "\nExit codes:\n");
  if (help[0] != '\0' && (codes == NULL || strstr(codes, code) == NULL)) /* a word that is not a command has no help */
    g_error("'tidemark %s' has ended with %d, which its --help does not name", words, exit_code);
}

/* Runs `tidemark WORDS… --config CONFIG`; the words are separated by single spaces. @input: its standard input; NULL:
 * none */
static inline ProgramDone
run_program_with_input(const char *config_path, const char *words, const char *input)
{
  ProgramDone done = {0};
  g_autoptr(GError) error = NULL;
  g_assert_nonnull(g_getenv("TIDEMARK"));
  g_autofree char *line = g_strdup_printf("%s %s --config %s", g_getenv("TIDEMARK"), words, config_path);
  g_auto(GStrv) arguments = g_strsplit(line, " ", -1);
  g_autoptr(GSubprocess) process = g_subprocess_newv(
      (const char *const *)arguments,
      G_SUBPROCESS_FLAGS_STDIN_PIPE | G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_PIPE, &error);
  g_assert_no_error(error);
  g_subprocess_communicate_utf8(process, input, NULL, &done.output, &done.errors, &error);
  g_assert_no_error(error);
  g_assert_true(g_subprocess_get_if_exited(process));
  done.exit_code = g_subprocess_get_exit_status(process);
  if (done.exit_code != 0)
    assert_help_names_exit(words, done.exit_code);
  return done;
}

static inline ProgramDone
run_program(const char *config_path, const char *words)
{
  return run_program_with_input(config_path, words, NULL);
}

/* Writes a configuration file: @yaml with @endpoint for its "%s". Returns: (transfer full): its path; the caller
 * unlinks it */
static inline char *
write_config(const char *yaml, const char *endpoint)
{
  g_autoptr(GError) error = NULL;
  char *path = NULL;
  int fd = g_file_open_tmp("tidemark-XXXXXX.yaml", &path, &error);
  g_assert_no_error(error);
  close(fd);
  g_autoptr(GString) text = g_string_new(yaml);
  g_assert_cmpuint(g_string_replace(text, "%s", endpoint, 1), ==, 1);
  g_assert_true(g_file_set_contents(path, text->str, -1, NULL));
  return path;
}

static inline void
assert_prints(const char *text, const char *part)
{
  if (strstr(text, part) == NULL)
    g_error("not said: '%s' in:\n%s", part, text);
}

static inline void
assert_silent(const char *text, const char *part)
{
  if (strstr(text, part) != NULL)
    g_error("said: '%s' in:\n%s", part, text);
}
