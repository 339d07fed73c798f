/* The definition of a command: its name, its options, one row each, and its function. tide_command_main() implements
 * everything that commands have in common. */
#pragma once

#include "commands/cli/paths.h"
#include "config/config.h"
#include "util/error.h"

#include <stddef.h>

G_BEGIN_DECLS

typedef enum TideOptionKind {
  TIDE_OPTION_CONFIG,    /* the call's config_path */
  TIDE_OPTION_FLAG,      /* gboolean: set to TRUE */
  TIDE_OPTION_TEXT,      /* const char *: borrowed from argv */
  TIDE_OPTION_LIST,      /* GPtrArray *, never NULL: each use adds a borrowed const char * */
  TIDE_OPTION_COUNT,     /* guint64: a whole number from min to max */
  TIDE_OPTION_MEBIBYTES, /* guint64: a whole number from min to max, optionally with a unit: 512MiB 2GiB */
  TIDE_OPTION_DURATION,  /* gint64: milliseconds, written with a unit: 500ms 10s 5m 2h 7d */
  TIDE_OPTION_PERCENT,   /* double: 0..1, written as 2% or 0.5% */
  TIDE_OPTION_CHOICE,    /* int: the index in choices */
} TideOptionKind;

/* One row of a command's table. Texts are literals. */
typedef struct TideOption {
  const char *name;           /* without the dashes */
  const char *value_name;     /* "FILE"; NULL for a flag */
  TideOptionKind kind;        /* this and the next are set by a macro below */
  gsize offset;               /* in the command's struct of options */
  const char *sentence;       /* for --help */
  char letter;                /* short form; 0: none */
  guint64 min, max;           /* COUNT, MEBIBYTES, DURATION (ms), PERCENT; max 0: no upper limit */
  const char *const *choices; /* CHOICE: NULL-terminated */
} TideOption;

/* The offset of @member in @type; does not compile if its type is not @of. */
#define TIDE_OPTION_OFFSET(type, member, of) (offsetof(type, member) + _Generic(&((type *)NULL)->member, of * : 0))

#define TIDE_FLAG(type, member) TIDE_OPTION_FLAG, TIDE_OPTION_OFFSET(type, member, gboolean)
#define TIDE_TEXT(type, member) TIDE_OPTION_TEXT, TIDE_OPTION_OFFSET(type, member, const char *)
#define TIDE_LIST(type, member) TIDE_OPTION_LIST, TIDE_OPTION_OFFSET(type, member, GPtrArray *)
#define TIDE_COUNT(type, member) TIDE_OPTION_COUNT, TIDE_OPTION_OFFSET(type, member, guint64)
#define TIDE_MEBIBYTES(type, member) TIDE_OPTION_MEBIBYTES, TIDE_OPTION_OFFSET(type, member, guint64)
#define TIDE_DURATION(type, member) TIDE_OPTION_DURATION, TIDE_OPTION_OFFSET(type, member, gint64)
#define TIDE_PERCENT(type, member) TIDE_OPTION_PERCENT, TIDE_OPTION_OFFSET(type, member, double)
#define TIDE_CHOICE(type, member) TIDE_OPTION_CHOICE, TIDE_OPTION_OFFSET(type, member, int)

/* The option of every command that reads the configuration. */
#define TIDE_CONFIG_OPTION                                                                                             \
  {                                                                                                                    \
    "config", "FILE", TIDE_OPTION_CONFIG, 0, "configuration (" TIDE_DEFAULT_CONFIG_PATH ")", .letter = 'c'             \
  }

/* An exit code of a command, in addition to 0, 64, 70 and 74, which any command may return. */
typedef struct TideCommandExit {
  int code;            /* TideExit */
  const char *meaning; /* a literal, without a full stop; NULL: the usual one */
} TideCommandExit;

typedef struct TideCommand TideCommand;

/* One run of a command. */
typedef struct TideCommandCall {
  const TideCommand *command;
  gpointer options;        /* the command's struct, filled in */
  const char *config_path; /* NULL: not given */
  GPtrArray *arguments;    /* (element-type utf8): the positional ones, borrowed from argv */
  TideConfig *config;      /* owned; NULL before tide_command_load_config() */
  GPtrArray *problems;     /* owned (element-type TideConfigProblem): of the configuration */
  int exit_code;           /* result of a completed run; a failure of the output takes precedence */
  int failure_code;        /* of a failure that the command reported itself: takes precedence over all others */
} TideCommandCall;

struct TideCommand {
  const char *name;         /* "scan" */
  const char *arguments;    /* "TABLE [FIELD=VALUE…]"; NULL: no arguments */
  const char *summary;      /* one sentence */
  const char *details;      /* examples and further explanations, printed below the options */
  guint max_arguments;      /* positional ones; G_MAXUINT: any number */
  gboolean reads_input;     /* reads messages from standard input: for the hint if a file is given instead */
  TideCommandExit exits[8]; /* terminated by one that is all 0 */
  const TideOption *options;
  gsize n_options;
  gsize options_size;     /* of the command's struct */
  gconstpointer defaults; /* a struct of that type; NULL: all zero */

  /* Runs the command. Returns FALSE on failure; without an error if it was already reported by the callee, or will be
   * by tide_output_close(), which is called next. */
  gboolean (*run)(TideCommandCall *call, GError **error);
};

/* Sets the members for the options: those in @list, which fill a struct of type @Type. */
#define TIDE_COMMAND_OPTIONS(list, Type)                                                                               \
  .options = (list), .n_options = G_N_ELEMENTS(list), .options_size = sizeof(Type)

/* The meaning of exit code @code for @command, for --help and the manual; NULL: the command never returns it. */
const char *tide_command_exit_meaning(const TideCommand *command, int code);

/* Parses @argv (without the program's and the command's name), runs the command, reports errors on standard error, and
 * flushes standard output. Returns: the exit code. */
int tide_command_main(const TideCommand *command, int argc, char **argv);

/* Prints "tidemark COMMAND: text" on standard error. Returns: the exit code for @error. */
int tide_command_fail(const TideCommand *command, const GError *error);

/**
 * tide_command_check_verb: check that the first argument is one of @verbs (NULL-terminated).
 * @what: the object of the verbs, for the error: "tables"
 * Errors: TIDE_ERROR_USAGE, with the nearest verb or all of them.
 */
gboolean tide_command_check_verb(const TideCommandCall *call, const char *const *verbs, const char *what,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Checks that the first argument, the table, is given. Errors: TIDE_ERROR_USAGE. */
gboolean tide_command_check_table(const TideCommandCall *call, GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
