/* `tidemark complete -- WORD...`: completions of the last word for shells. They come from the tables of commands and
 * options, and from the configuration named by the words. Errors are silent, because the user is typing. */
#include "commands/cli/command_line.h"
#include "commands/cli/commands.h"
#include "commands/cli/load_config.h"
#include "commands/read/key_arguments.h"
#include "commands/subcommands.h"

#include <stdio.h>
#include <string.h>

/* The parsed words before the one being completed. */
typedef struct Words {
  const TideCommand *command;
  GPtrArray *positional;    /* owned (element-type utf8): borrowed, without the command */
  const TideOption *opened; /* the option whose value the last word is; NULL: none */
} Words;

/* Prints one candidate per line, with its explanation after a tab. */
static void
offer(const char *word, const char *candidate, const char *ending, const char *sentence)
{
  if (g_str_has_prefix(candidate, word))
    printf("%s%s\t%s\n", candidate, ending, sentence);
}

static Words
words_read(const GPtrArray *arguments, TideCommandCall *call)
{
  Words words = {.positional = g_ptr_array_new()};
  if (arguments->len > 1)
    words.command = tide_subcommand_find(arguments->pdata[0]);
  for (guint i = 1; words.command != NULL && i + 1 < arguments->len; i++) {
    const char *word = arguments->pdata[i];
    if (words.opened != NULL && words.opened->kind == TIDE_OPTION_CONFIG)
      call->config_path = word;
    if (g_str_has_prefix(word, "--config="))
      call->config_path = strchr(word, '=') + 1;
    gboolean is_value = words.opened != NULL;
    const char *attached = NULL;
    const TideOption *option = is_value ? NULL : tide_command_option_find(words.command, word, &attached);
    words.opened = option != NULL && option->value_name != NULL && attached == NULL ? option : NULL;
    if (!is_value && word[0] != '-')
      g_ptr_array_add(words.positional, (gpointer)word);
  }
  return words;
}

/* @before: the part of the word before the value: "--format=". */
static void
offer_choices(const TideOption *option, const char *before, const char *word)
{
  for (gsize i = 0; option->kind == TIDE_OPTION_CHOICE && option->choices[i] != NULL; i++) {
    g_autofree char *whole = g_strconcat(before, option->choices[i], NULL);
    offer(word, whole, "", "");
  }
}

/* Completes arguments from the command's description for people: "create|show [TABLE…]", "TABLE [FIELD=VALUE…]". */
static void
offer_arguments(const Words *words, const char *word, TideCommandCall *call)
{
  const char *arguments = words->command->arguments;
  if (arguments == NULL)
    return;
  gsize n_before = words->positional->len;
  g_autofree char *first = g_strndup(arguments, strcspn(arguments, " "));
  g_auto(GStrv) verbs = g_strsplit(first, "|", -1); /* or one word that is not a verb */
  gboolean has_verbs = verbs[1] != NULL;
  for (gsize i = 0; has_verbs && n_before == 0 && verbs[i] != NULL; i++)
    offer(word, verbs[i], "", "");
  if ((has_verbs && n_before == 0) || strstr(arguments, "TABLE") == NULL || !tide_command_read_config(call))
    return;
  if (has_verbs || n_before == 0)
    for (guint i = 0; i < call->config->tables->len; i++)
      offer(word, ((const TideTable *)call->config->tables->pdata[i])->name, "", "");
  else if (strstr(arguments, "FIELD=VALUE") != NULL) {
    const TideTable *table = tide_table_argument_find(call->config, words->positional->pdata[0], NULL);
    g_auto(GStrv) names = table != NULL ? tide_key_argument_fields(call->config, table) : NULL;
    for (gsize i = 0; names != NULL && names[i] != NULL; i++)
      offer(word, names[i], "=", "");
  }
}

static gboolean
complete(TideCommandCall *call, GError **error)
{
  if (call->arguments->len == 0)
    return TRUE;
  const char *word = call->arguments->pdata[call->arguments->len - 1];
  Words words = words_read(call->arguments, call);
  const TideCommand *command = words.command;
  const char *equals = g_str_has_prefix(word, "--") ? strchr(word, '=') : NULL, *unused;
  if (call->arguments->len == 1) {
    for (const TideSubcommand *at = tide_subcommands; at->command != NULL; at++)
      if (at->sentence != NULL)
        offer(word, at->command->name, "", at->sentence);
  } else if (words.opened != NULL) {
    offer_choices(words.opened, "", word);
  } else if (command != NULL && equals != NULL) {
    const TideOption *option = tide_command_option_find(command, word, &unused);
    g_autofree char *before = g_strndup(word, (gsize)(equals + 1 - word));
    if (option != NULL)
      offer_choices(option, before, word);
  } else if (command != NULL && word[0] == '-') {
    for (gsize i = 0; i < command->n_options; i++) {
      g_autofree char *name = g_strconcat("--", command->options[i].name, NULL);
      offer(word, name, command->options[i].value_name != NULL ? "=" : "", command->options[i].sentence);
    }
    offer(word, "--help", "", "show all options");
  } else if (command != NULL)
    offer_arguments(&words, word, call);
  g_ptr_array_unref(words.positional);
  return TRUE;
}

const TideCommand tide_command_complete = {
    .name = "complete",
    .arguments = "-- WORD…",
    .summary = "Prints the possible completions of the last word, one per line; bash and zsh call it.",
    .details = "Example:\n  tidemark complete -- scan METRIC ho",
    .max_arguments = G_MAXUINT,
    .run = complete,
};
