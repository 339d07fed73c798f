#include "commands/cli/command_line.h"

#include "commands/cli/output.h"
#include "commands/cli/time_argument.h"
#include "config/option/nearest_name.h"
#include "config/option/option_value.h"

#include <string.h>

/* Columns from the left at which --help starts the sentences. */
#define HELP_SENTENCE_COLUMN 28

static gboolean
fail_unknown_option(const TideCommand *command, const char *given, GError **error)
{
  g_autoptr(GPtrArray) names = g_ptr_array_new();
  for (gsize i = 0; i < command->n_options; i++)
    g_ptr_array_add(names, (gpointer)command->options[i].name);
  g_ptr_array_add(names, (gpointer) "help");
  g_ptr_array_add(names, NULL);
  const char *nearest = tide_nearest_name(given, (const char *const *)names->pdata);
  if (nearest != NULL)
    tide_fail(error, TIDE_ERROR_USAGE, "unknown option '--%s': did you mean '--%s'?", given, nearest);
  else
    tide_fail(error, TIDE_ERROR_USAGE, "unknown option '--%s': see 'tidemark %s --help'", given, command->name);
  return FALSE;
}

static gboolean
store_in_bounds(const TideOption *option, guint64 count, const char *value, guint64 *target, GError **error)
{
  if (count >= option->min && (option->max == 0 || count <= option->max)) {
    *target = count;
    return TRUE;
  }
  const char *unit = option->kind == TIDE_OPTION_MEBIBYTES ? " MiB" : "";
  if (option->max != 0)
    tide_fail(error, TIDE_ERROR_USAGE, "'--%s' must be from %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT "%s, got '%s'",
              option->name, option->min, option->max, unit, value);
  else
    tide_fail(error, TIDE_ERROR_USAGE, "'--%s' must be at least %" G_GUINT64_FORMAT "%s, got '%s'", option->name,
              option->min, unit, value);
  return FALSE;
}

static gboolean
store_count(const TideOption *option, const char *value, guint64 *target, GError **error)
{
  guint64 count = 0, n_bytes = 0;
  gboolean is_size = option->kind == TIDE_OPTION_MEBIBYTES;
  if (tide_number_parse(value, &count, NULL))
    return store_in_bounds(option, count, value, target, error);
  if (is_size && tide_size_parse(value, &n_bytes, NULL))
    return store_in_bounds(option, n_bytes >> 20, value, target, error);
  return tide_fail(error, TIDE_ERROR_USAGE, "'--%s' must be %s, got '%s'", option->name,
                   is_size ? "a size such as 256MiB or 2GiB" : "a whole number", value);
}

static gboolean
store_duration(const TideOption *option, const char *value, gint64 *target, GError **error)
{
  gint64 duration_ms = 0;
  if (!tide_duration_argument_parse(value, (gint64)option->max, &duration_ms, error)) {
    g_prefix_error(error, "'--%s' ", option->name);
    return FALSE;
  }
  if (option->max == 0 || (duration_ms >= (gint64)option->min && duration_ms <= (gint64)option->max)) {
    *target = duration_ms;
    return TRUE;
  }
  g_autofree char *min = tide_duration_format((gint64)option->min);
  g_autofree char *max = tide_duration_format((gint64)option->max);
  return tide_fail(error, TIDE_ERROR_USAGE, "'--%s' must be from %s to %s, got '%s'", option->name, min, max, value);
}

static gboolean
store_percent(const TideOption *option, const char *value, double *target, GError **error)
{
  char *end = NULL;
  double percent = g_ascii_isdigit(value[0]) ? g_ascii_strtod(value, &end) : 0;
  guint64 max = option->max > 0 ? option->max : 100;
  gboolean is_within = percent >= (double)option->min && percent <= (double)max;
  if (end == NULL || strcmp(end, "%") != 0 || !is_within) {
    gboolean is_bare = end != NULL && *end == '\0' && is_within; /* without its sign */
    return tide_fail(error, TIDE_ERROR_USAGE,
                     "'--%s' must be a share from %" G_GUINT64_FORMAT "%% to %" G_GUINT64_FORMAT
                     "%%, like %s%%, got '%s'",
                     option->name, option->min, max, is_bare ? value : "2", value);
  }
  *target = percent / 100;
  return TRUE;
}

static gboolean
store_choice(const TideOption *option, const char *value, int *target, GError **error)
{
  for (int i = 0; option->choices[i] != NULL; i++) {
    if (strcmp(value, option->choices[i]) == 0) {
      *target = i;
      return TRUE;
    }
  }
  g_autofree char *known = g_strjoinv(", ", (char **)option->choices);
  return tide_fail(error, TIDE_ERROR_USAGE, "'--%s' must be one of %s, got '%s'", option->name, known, value);
}

static gboolean
store_value(TideCommandCall *call, const TideOption *option, const char *value, GError **error)
{
  gpointer target = (char *)call->options + option->offset;
  switch (option->kind) {
  case TIDE_OPTION_CONFIG:
    call->config_path = value;
    return TRUE;
  case TIDE_OPTION_FLAG:
    *(gboolean *)target = TRUE;
    return TRUE;
  case TIDE_OPTION_TEXT:
    *(const char **)target = value;
    return TRUE;
  case TIDE_OPTION_LIST:
    g_ptr_array_add(*(GPtrArray **)target, (gpointer)value);
    return TRUE;
  case TIDE_OPTION_COUNT:
  case TIDE_OPTION_MEBIBYTES:
    return store_count(option, value, target, error);
  case TIDE_OPTION_DURATION:
    return store_duration(option, value, target, error);
  case TIDE_OPTION_PERCENT:
    return store_percent(option, value, target, error);
  case TIDE_OPTION_CHOICE:
    return store_choice(option, value, target, error);
  }
  return FALSE;
}

const TideOption *
tide_command_option_find(const TideCommand *command, const char *argument, const char **ret_attached)
{
  gboolean is_long = argument[0] == '-' && argument[1] == '-';
  const char *name = is_long ? argument + 2 : argument + 1;
  gsize name_len = is_long ? strcspn(name, "=") : 1;
  const char *rest = argument[0] == '-' && argument[1] != '\0' ? name + name_len : "";
  *ret_attached = is_long && *rest == '=' ? rest + 1 : *rest != '\0' ? rest : NULL;
  for (gsize i = 0; argument[0] == '-' && i < command->n_options; i++) {
    const TideOption *option = &command->options[i];
    if (is_long ? strlen(option->name) == name_len && memcmp(option->name, name, name_len) == 0
                : option->letter != '\0' && option->letter == *name)
      return option;
  }
  return NULL;
}

/* The rest of the command line. */
typedef struct Arguments {
  char **rest;
  int n_rest;
} Arguments;

/* The value of @option: the part @attached to it, otherwise the next argument. */
static gboolean
take_value(TideCommandCall *call, const TideOption *option, const char *attached, Arguments *arguments, GError **error)
{
  if (option->kind == TIDE_OPTION_FLAG) {
    if (attached == NULL)
      return store_value(call, option, NULL, error);
    return tide_fail(error, TIDE_ERROR_USAGE, "'--%s' accepts no value, got '%s'", option->name, attached);
  }
  if (attached == NULL && arguments->n_rest == 0)
    return tide_fail(error, TIDE_ERROR_USAGE, "'--%s' needs a value: --%s %s", option->name, option->name,
                     option->value_name);
  if (attached == NULL) {
    attached = arguments->rest[0];
    arguments->rest++;
    arguments->n_rest--;
  }
  return store_value(call, option, attached, error);
}

static gboolean
take_option(TideCommandCall *call, const char *argument, Arguments *arguments, GError **error)
{
  const char *attached = NULL;
  const TideOption *option = tide_command_option_find(call->command, argument, &attached);
  if (option != NULL)
    return take_value(call, option, attached, arguments, error);
  if (argument[1] == '-') {
    g_autofree char *given = g_strndup(argument + 2, strcspn(argument + 2, "="));
    return fail_unknown_option(call->command, given, error);
  }
  return tide_fail(error, TIDE_ERROR_USAGE, "unknown option '-%c': see 'tidemark %s --help'", argument[1],
                   call->command->name);
}

/* Explains how to pass a file to a command without arguments. (transfer full); NULL: it reads none, or @argument is not
 * a file */
static char *
way_of_file(const TideCommand *command, const char *argument)
{
  gboolean is_yaml = g_str_has_suffix(argument, ".yaml") || g_str_has_suffix(argument, ".yml");
  const TideOption *option = NULL; /* the configuration's, or for another file the first one with a file */
  for (gsize i = 0; i < command->n_options; i++) {
    const TideOption *other = &command->options[i];
    gboolean takes_file = !is_yaml && g_strcmp0(other->value_name, "FILE") == 0;
    if (option == NULL ? other->kind == TIDE_OPTION_CONFIG || takes_file
                       : option->kind == TIDE_OPTION_CONFIG && takes_file && other->kind != TIDE_OPTION_CONFIG)
      option = other;
  }
  if (option == NULL || command->max_arguments > 0 || (!is_yaml && !g_file_test(argument, G_FILE_TEST_EXISTS)))
    return NULL;
  g_autofree char *word = tide_shell_word(argument);
  if (!is_yaml && command->reads_input)
    return g_strdup_printf("messages are read from standard input: tidemark %s … < %s", command->name, word);
  if (option->kind == TIDE_OPTION_CONFIG)
    return g_strdup_printf("use -c for a configuration: tidemark %s -c %s", command->name, word);
  return g_strdup_printf("use '--%s' for a file: tidemark %s --%s %s", option->name, command->name, option->name, word);
}

static gboolean
fail_unexpected(const TideCommand *command, const char *argument, GError **error)
{
  g_autofree char *hint = way_of_file(command, argument);
  for (gsize i = 0; hint == NULL && i < command->n_options; i++) {
    if (strcmp(command->options[i].name, argument) == 0)
      hint = g_strdup_printf("did you mean '--%s'?", argument);
  }
  if (hint == NULL)
    hint = g_strdup_printf("see 'tidemark %s --help'", command->name);
  return tide_fail(error, TIDE_ERROR_USAGE, "unexpected argument '%s': %s", argument, hint);
}

gboolean
tide_command_line_parse(TideCommandCall *call, int argc, char **argv, gboolean *ret_help, GError **error)
{
  *ret_help = FALSE;
  for (int i = 0; i < argc && !*ret_help && strcmp(argv[i], "--") != 0; i++)
    *ret_help = strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0;
  if (*ret_help)
    return TRUE;
  Arguments arguments = {argv, argc};
  gboolean only_positional = FALSE;
  while (arguments.n_rest > 0) {
    char *argument = arguments.rest[0];
    arguments.rest++;
    arguments.n_rest--;
    if (!only_positional && strcmp(argument, "--") == 0) {
      only_positional = TRUE;
      continue;
    }
    /* A single dash is an argument by convention. */
    if (!only_positional && argument[0] == '-' && argument[1] != '\0') {
      if (!take_option(call, argument, &arguments, error))
        return FALSE;
      continue;
    }
    if (call->arguments->len >= call->command->max_arguments)
      return fail_unexpected(call->command, argument, error);
    g_ptr_array_add(call->arguments, argument);
  }
  return TRUE;
}

static void
append_option_help(GString *help, const TideOption *option)
{
  gsize start = help->len;
  if (option->letter != 0)
    g_string_append_printf(help, "  -%c, --%s", option->letter, option->name);
  else
    g_string_append_printf(help, "      --%s", option->name);
  if (option->value_name != NULL)
    g_string_append_printf(help, "=%s", option->value_name);
  gsize width = help->len - start;
  if (width + 2 > HELP_SENTENCE_COLUMN)
    g_string_append_printf(help, "\n%*s", HELP_SENTENCE_COLUMN, "");
  else
    g_string_append_printf(help, "%*s", (int)(HELP_SENTENCE_COLUMN - width), "");
  tide_text_fill(help, option->sentence, HELP_SENTENCE_COLUMN);
  g_string_append_c(help, '\n');
}

/* The column at which the text of a line begins: after "word  " of a list item, otherwise after its blanks. */
static gsize
text_column(const char *line)
{
  gsize blanks = strspn(line, " ");
  const char *gap = strstr(line + blanks, "  ");
  return gap != NULL ? (gsize)(gap - line) + strspn(gap, " ") : blanks;
}

static gboolean
goes_on(const char *line, gsize column)
{
  return line != NULL && line[0] != '\0' && strspn(line, " ") == column && text_column(line) == column;
}

/* Prints paragraphs and list items unchanged if they fit on a screen, and rewraps the others. Examples, after a blank
 * line and two blanks, stay unchanged, so that they can be copied. */
static void
append_details(GString *help, const char *details)
{
  g_auto(GStrv) lines = g_strsplit(details, "\n", -1);
  for (guint i = 0, n; lines[i] != NULL; i += n) {
    gsize column = text_column(lines[i]);
    gboolean is_example = strspn(lines[i], " ") > 0 && strspn(lines[i], " ") == column;
    gsize longest = tide_text_width(lines[i]);
    for (n = 1; !is_example && lines[i][0] != '\0' && goes_on(lines[i + n], column); n++)
      longest = MAX(longest, tide_text_width(lines[i + n]));
    g_autoptr(GString) text = g_string_new(NULL);
    for (guint k = 0; k < n; k++)
      g_string_append_printf(text, "%s%s", k > 0 ? "\n" : "",
                             lines[i + k] + (k > 0 && longest > TIDE_SCREEN_COLUMNS ? column : 0));
    if (!is_example && longest > TIDE_SCREEN_COLUMNS) {
      g_string_append_len(help, text->str, (gssize)column);
      tide_text_fill(help, text->str + column, column);
    } else
      g_string_append(help, text->str);
    g_string_append_c(help, '\n');
  }
}

char *
tide_command_line_help(const TideCommand *command, gboolean colour)
{
  const char *bold = colour ? "\033[1m" : "";
  const char *plain = colour ? "\033[0m" : "";
  GString *help = g_string_new(NULL);
  g_string_append_printf(help, "%sUsage:%s tidemark %s [OPTION…]%s%s\n\n", bold, plain, command->name,
                         command->arguments != NULL ? " " : "", command->arguments != NULL ? command->arguments : "");
  tide_text_fill(help, command->summary, 0);
  g_string_append_printf(help, "\n\n%sOptions:%s\n", bold, plain);
  for (gsize i = 0; i < command->n_options; i++)
    append_option_help(help, &command->options[i]);
  append_option_help(help, &(TideOption){.name = "help", .letter = 'h', .sentence = "show this help"});
  g_string_append_printf(help, "\n%sExit codes:%s\n", bold, plain);
  for (int code = 0; code <= TIDE_EXIT_CONFIG; code++) {
    const char *meaning = tide_command_exit_meaning(command, code);
    if (meaning == NULL)
      continue;
    g_string_append_printf(help, "  %-4d", code);
    tide_text_fill(help, meaning, 6);
    g_string_append_c(help, '\n');
  }
  if (command->details != NULL) {
    g_string_append_c(help, '\n');
    append_details(help, command->details);
  }
  return g_string_free(help, FALSE);
}
