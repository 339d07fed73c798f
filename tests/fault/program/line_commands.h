/* A test's helper program that is told what to do line by line: each line of standard input is a command in shell
 * quoting, answered with "ok" or "error TEXT" after any lines of the answer itself. */
#pragma once

#include <glib.h>

/* @subject: the program's own. @words: what follows the command's name. Returns: (transfer full): what is wrong; NULL:
 * nothing. */
typedef char *(*LineCommandFunc)(gpointer subject, char **words);

typedef struct LineCommand {
  const char *name; /* NULL: the end of the list */
  guint n_words;    /* at least so many follow the name */
  const char *usage;
  LineCommandFunc run;
} LineCommand;

/* Runs the lines of standard input until its end. `help` lists @commands. */
void line_commands_run(const LineCommand *commands, gpointer subject);
