/* Problems and notes of a configuration, each with its position in the file. The loader never stops at the first one,
 * so that one run of `tidemark check` shows all of them. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* A position in the file. Columns count characters, not bytes. */
typedef struct TideSourcePosition {
  guint line;   /* from 1; 0: the file as a whole */
  guint column; /* from 1 */
} TideSourcePosition;

#define TIDE_SOURCE_POSITION_FILE ((TideSourcePosition){0, 0})

typedef enum TideConfigSeverity {
  TIDE_CONFIG_ERROR,
  TIDE_CONFIG_WARNING,
  TIDE_CONFIG_NOTICE, /* a note, which only `tidemark check` shows: it may be intended */
} TideConfigSeverity;

/* A problem or note, with its position. */
typedef struct TideConfigProblem {
  TideConfigSeverity severity;
  guint line;   /* from 1; 0: the file as a whole */
  guint column; /* from 1 */
  char *text;   /* owned */
} TideConfigProblem;

GPtrArray *tide_problems_new(void); /* (element-type TideConfigProblem), owned by the array */

void tide_problems_add(GPtrArray *problems, TideConfigSeverity severity, TideSourcePosition position,
                       const char *format, ...) G_GNUC_PRINTF(4, 5);
#define tide_problems_add_error(problems, ...) tide_problems_add(problems, TIDE_CONFIG_ERROR, __VA_ARGS__)
#define tide_problems_add_warning(problems, ...) tide_problems_add(problems, TIDE_CONFIG_WARNING, __VA_ARGS__)
#define tide_problems_add_notice(problems, ...) tide_problems_add(problems, TIDE_CONFIG_NOTICE, __VA_ARGS__)
guint tide_problems_n_errors(const GPtrArray *problems);

/* Sorts by position in the file; problems at one position keep the order in which they were found. */
void tide_problems_sort(GPtrArray *problems);

/**
 * tide_config_problem_format: "path:line:column: error: text", without a newline at the end. @source: (nullable): the
 * file's text; if given, the line and a caret below follow. tide_masked_line() masks it. Ownership: (transfer full).
 */
char *tide_config_problem_format(const TideConfigProblem *problem, const char *path, const char *source);

/* @text for use inside '...' in a message: control bytes as \xHH, at most 60 characters, probable secrets masked by
 * tide_secret_mask(). (transfer full) */
char *tide_problem_quote(const char *text);

G_END_DECLS
