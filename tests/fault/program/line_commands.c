#include "fault/program/line_commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *
run_words(const LineCommand *commands, gpointer subject, char **words)
{
  gboolean is_help = strcmp(words[0], "help") == 0;
  for (const LineCommand *command = commands; command->name != NULL; command++) {
    if (is_help)
      printf("%s\n", command->usage);
    else if (strcmp(command->name, words[0]) == 0)
      return g_strv_length(words + 1) < command->n_words ? g_strdup_printf("usage: %s", command->usage)
                                                         : command->run(subject, words + 1);
  }
  return is_help ? NULL : g_strdup_printf("no command '%s'", words[0]);
}

static void
run_line(const LineCommand *commands, gpointer subject, const char *line)
{
  g_autoptr(GError) error = NULL;
  g_auto(GStrv) words = NULL;
  if (!g_shell_parse_argv(line, NULL, &words, &error)) {
    if (!g_error_matches(error, G_SHELL_ERROR, G_SHELL_ERROR_EMPTY_STRING))
      printf("error %s\n", error->message);
  } else {
    g_autofree char *problem = run_words(commands, subject, words);
    printf("%s%s\n", problem == NULL ? "ok" : "error ", problem == NULL ? "" : problem);
  }
  fflush(stdout);
}

void
line_commands_run(const LineCommand *commands, gpointer subject)
{
  char *line = NULL;
  size_t capacity = 0;
  while (getline(&line, &capacity, stdin) >= 0)
    run_line(commands, subject, line);
  free(line);
}
