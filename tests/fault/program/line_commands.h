/* Helper programs of tests that read commands from standard input: each line is a command in shell quoting, answered by
 * any lines of output, then "ok" or "error TEXT". */
#pragma once

#include <glib.h>

/* @subject: passed to line_commands_run(). @words: the words after the command's name. Returns: (transfer full): the
 * error; NULL: none. */
typedef char *(*LineCommandFunc)(gpointer subject, char **words);

typedef struct LineCommand {
  const char *name; /* NULL: the end of the list */
  guint n_words;    /* minimum number of words after the name */
  const char *usage;
  LineCommandFunc run;
} LineCommand;

/* Runs the commands on standard input until its end. `help` lists @commands. */
void line_commands_run(const LineCommand *commands, gpointer subject);
