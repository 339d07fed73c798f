#include "config/yaml/problem.h"

#include "config/yaml/masked_line.h"
#include "config/yaml/secret.h"
#include "util/log.h"

#include <stdarg.h>
#include <string.h>

/* Longer lines are shown as a window around the column. It fits a terminal of 100 columns including the margin. */
#define EXCERPT_CHARS 88
#define QUOTE_CHARS 60

static void
problem_free(TideConfigProblem *problem)
{
  if (problem == NULL)
    return;
  g_free(problem->text);
  g_free(problem);
}

GPtrArray *
tide_problems_new(void)
{
  return g_ptr_array_new_with_free_func((GDestroyNotify)problem_free);
}

void
tide_problems_add(GPtrArray *problems, TideConfigSeverity severity, TideSourcePosition position, const char *format,
                  ...)
{
  TideConfigProblem *problem = g_new0(TideConfigProblem, 1);
  va_list args;

  problem->severity = severity;
  problem->line = position.line;
  problem->column = position.column;
  va_start(args, format);
  g_autofree char *text = g_strdup_vprintf(format, args);
  va_end(args);
  g_autofree char *masked = tide_secret_mask_addresses(text);
  GString *line = g_string_new(NULL);
  tide_log_escape(line, masked, G_MAXSIZE);
  problem->text = g_string_free(line, FALSE);
  g_ptr_array_add(problems, problem);
}

guint
tide_problems_n_errors(const GPtrArray *problems)
{
  guint n = 0;

  for (guint i = 0; i < problems->len; i++)
    n += ((const TideConfigProblem *)g_ptr_array_index(problems, i))->severity == TIDE_CONFIG_ERROR;
  return n;
}

static gint
compare_positions(gconstpointer a, gconstpointer b)
{
  const TideConfigProblem *one = *(const TideConfigProblem *const *)a;
  const TideConfigProblem *other = *(const TideConfigProblem *const *)b;

  if (one->line != other->line)
    return one->line < other->line ? -1 : 1;
  if (one->column != other->column)
    return one->column < other->column ? -1 : 1;
  return 0;
}

void
tide_problems_sort(GPtrArray *problems)
{
  g_ptr_array_sort(problems, compare_positions); /* stable, as GLib guarantees */
}

char *
tide_problem_quote(const char *full_text)
{
  g_autofree char *text = tide_secret_mask(full_text);
  GString *quoted = g_string_new(NULL);
  guint n_chars = 0;

  for (const char *at = text; *at != '\0'; n_chars++) {
    if (n_chars == QUOTE_CHARS) {
      g_string_append(quoted, "...");
      break;
    }
    gunichar c = g_utf8_get_char_validated(at, -1);
    if (c == (gunichar)-1 || c == (gunichar)-2 || !g_unichar_isprint(c)) {
      g_string_append_printf(quoted, "\\x%02X", (guint)(guint8)*at);
      at++;
      continue;
    }
    g_string_append_unichar(quoted, c);
    at = g_utf8_next_char(at);
  }
  return g_string_free(quoted, FALSE);
}

static void
append_excerpt(GString *out, const TideConfigProblem *problem, const char *source)
{
  g_autofree char *line = tide_masked_line(source, problem->line);

  if (line == NULL)
    return;
  glong n_chars = g_utf8_strlen(line, -1);
  glong caret = CLAMP((glong)problem->column - 1, 0, n_chars);
  glong first = caret > EXCERPT_CHARS - 20 ? caret - (EXCERPT_CHARS - 20) : 0;
  g_autofree char *window = g_utf8_substring(line, first, MIN(n_chars, first + EXCERPT_CHARS));

  g_string_append_printf(out, "\n%5u | ", problem->line);
  /* Replaces characters that would move the caret or control the terminal. */
  for (const char *at = window; *at != '\0'; at = g_utf8_next_char(at)) {
    gunichar c = g_utf8_get_char(at);
    g_string_append_unichar(out, c == '\t' ? ' ' : g_unichar_isprint(c) ? c : '?');
  }
  g_string_append_printf(out, "\n      | %*s^", (int)(caret - first), "");
}

char *
tide_config_problem_format(const TideConfigProblem *problem, const char *path, const char *source)
{
  static const char *const severities[] = {
      [TIDE_CONFIG_ERROR] = "error", [TIDE_CONFIG_WARNING] = "warning", [TIDE_CONFIG_NOTICE] = "note"};
  GString *out = g_string_new(NULL);

  tide_log_escape(out, path, G_MAXSIZE);

  if (problem->line > 0)
    g_string_append_printf(out, ":%u:%u", problem->line, problem->column);
  g_string_append_printf(out, ": %s: %s", severities[problem->severity], problem->text);
  if (source != NULL)
    append_excerpt(out, problem, source);
  return g_string_free(out, FALSE);
}
