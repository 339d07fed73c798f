/* The command line of one subcommand: a table of options, from which parsing, checks, hints and `--help` all come.
 *
 * An own small parser instead of GOption: the table says ranges and units, so that one place checks them and every
 * error names option, value and remedy; and arguments are taken as bytes, where GOption converts from the locale's
 * character set and refuses row keys that are not text. */
#pragma once

#include "commands/paths.h"
#include "util/error.h"

#include <glib.h>
#include <stdio.h>

G_BEGIN_DECLS

typedef enum TideOptionKind {
  TIDE_OPTION_FLAG,      /* gboolean: set to TRUE */
  TIDE_OPTION_TEXT,      /* const char *: borrowed from argv */
  TIDE_OPTION_LIST,      /* GPtrArray *: each use adds a borrowed const char * */
  TIDE_OPTION_COUNT,     /* guint64: a whole number from min to max */
  TIDE_OPTION_MEBIBYTES, /* guint64: a whole number of them from min to max, or with a unit: 512MiB 2GiB */
  TIDE_OPTION_DURATION,  /* gint64: milliseconds, written with a unit: 500ms 10s 5m 2h 7d */
  TIDE_OPTION_PERCENT,   /* double: 0..1, written as 2% or 0.5% */
  TIDE_OPTION_CHOICE,    /* int: the place in choices */
} TideOptionKind;

typedef struct TideOption {
  const char *name; /* without the dashes */
  char letter;      /* short form; 0: none */
  TideOptionKind kind;
  gpointer target;            /* of the kind's type; borrowed */
  const char *value_name;     /* "FILE"; NULL for a flag */
  const char *sentence;       /* for --help */
  guint64 min, max;           /* COUNT, MEBIBYTES; with max 0: no upper bound */
  const char *const *choices; /* CHOICE: NULL-terminated */
} TideOption;

typedef struct TideCommandLine {
  const char *command;   /* "scan" */
  const char *arguments; /* "TABLE [FIELD=VALUE…]"; NULL: takes none */
  const char *summary;   /* one sentence */
  const char *details;   /* examples and what else one should know, printed below the options */
  guint max_arguments;   /* positional ones; G_MAXUINT: any number */
  const TideOption *options;
  gsize n_options;
} TideCommandLine;

/**
 * tide_command_line_parse: read @argv (without the program's and the command's name) into the options' targets.
 * @arguments: (element-type utf8): the positional arguments are added, borrowed from @argv; after `--` all are
 * positional
 * @ret_help: TRUE when --help or -h was among them; nothing else was checked then
 * Errors: TIDE_ERROR_USAGE, with the nearest option's name where the one given is unknown.
 */
gboolean tide_command_line_parse(const TideCommandLine *line, int argc, char **argv, GPtrArray *arguments,
                                 gboolean *ret_help, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/**
 * tide_command_line_begin: parse for a command's main function.
 * Returns: TRUE to go on; FALSE when help was printed or the line is wrong: the command returns @ret_exit then.
 */
gboolean tide_command_line_begin(const TideCommandLine *line, int argc, char **argv, GPtrArray *arguments,
                                 int *ret_exit) G_GNUC_WARN_UNUSED_RESULT;

/* The text of --help. @colour: with terminal sequences for headings. (transfer full) */
char *tide_command_line_help(const TideCommandLine *line, gboolean colour);

/* Prints "tidemark COMMAND: text" to standard error. Returns: the exit code that @error stands for. */
int tide_command_fail(const TideCommandLine *line, const GError *error);

/* Whether to use terminal sequences on @stream: it is a terminal, and neither NO_COLOR nor TERM=dumb says otherwise. */
gboolean tide_colour_wanted(FILE *stream);

G_END_DECLS
