#include "manual/pages.h"

#include "manual/roff.h"

#include <string.h>

/* What stands below the heading "## @heading". (transfer full) (nullable) */
static char *
section_of(const char *markdown, const char *heading)
{
  g_autofree char *line = g_strdup_printf("\n## %s\n", heading);
  const char *found = strstr(markdown, line);
  if (found == NULL)
    return NULL;
  const char *begin = found + strlen(line);
  const char *end = strstr(begin, "\n## ");
  return end != NULL ? g_strndup(begin, (gsize)(end - begin)) : g_strdup(begin);
}

static GString *
begin_page(const TideManual *manual, const char *name, int section, const char *sentence)
{
  GString *page = g_string_new(NULL);
  tide_roff_begin(page, name, section, manual->date, manual->version);
  tide_roff_heading(page, "name");
  g_autofree char *line = g_strdup_printf("%s \\- %s\n", name, sentence);
  g_string_append(page, line);
  return page;
}

static void
append_see_also(GString *page, const char *self)
{
  tide_roff_heading(page, "see also");
  g_autoptr(GString) list = g_string_new(NULL);
  if (strcmp(self, "tidemark") != 0)
    g_string_append(list, "`tidemark`(1), ");
  for (const TideSubcommand *at = tide_subcommands; at->command != NULL; at++) {
    if (at->sentence != NULL && strcmp(at->command->name, self) != 0)
      g_string_append_printf(list, "`tidemark-%s`(1), ", at->command->name);
  }
  if (strcmp(self, "tidemark.yaml") != 0)
    g_string_append(list, "`tidemark.yaml`(5), ");
  g_string_truncate(list, list->len - 2);
  tide_roff_text(page, list->str);
}

char *
tide_manual_program(const TideManual *manual)
{
  GString *page = begin_page(manual, "tidemark", 1, "writes sensor readings from Kafka to HBase");
  tide_roff_heading(page, "synopsis");
  tide_roff_text(page, "`tidemark` COMMAND [OPTION...] [ARGUMENT...]");
  tide_roff_heading(page, "description");
  tide_roff_text(page,
                 "tidemark writes sensor readings from Kafka to HBase through its Thrift gateway, by row keys that "
                 "`tidemark.yaml`(5) declares, and keeps the latest value of each.");
  for (const TideSubcommand *at = tide_subcommands; at->command != NULL; at++) {
    g_autofree char *name = g_strdup_printf("tidemark-%s(1)", at->command->name);
    if (at->sentence != NULL)
      tide_roff_item(page, name, at->sentence);
  }
  static const char *const sections[] = {"Exit codes", "Bytes on a screen"};
  for (gsize i = 0; i < G_N_ELEMENTS(sections); i++) {
    g_autofree char *text = section_of(manual->commands, sections[i]);
    if (text == NULL)
      continue;
    tide_roff_heading(page, strcmp(sections[i], "Exit codes") == 0 ? "exit status" : sections[i]);
    tide_roff_markdown(page, text);
  }
  append_see_also(page, "tidemark");
  return g_string_free(page, FALSE);
}

static void
append_option(GString *page, const TideOption *option)
{
  g_autoptr(GString) name = g_string_new(NULL);
  if (option->letter != 0)
    g_string_append_printf(name, "-%c, ", option->letter);
  g_string_append_printf(name, "--%s", option->name);
  if (option->value_name != NULL)
    g_string_append_printf(name, "=%s", option->value_name);
  tide_roff_item(page, name->str, option->sentence);
}

char *
tide_manual_command(const TideManual *manual, const TideSubcommand *entry)
{
  const TideCommand *command = entry->command;
  g_autofree char *name = g_strdup_printf("tidemark-%s", command->name);
  GString *page = begin_page(manual, name, 1, entry->sentence);
  g_autofree char *usage =
      g_strdup_printf("`tidemark %s` [OPTION...]%s%s", command->name, command->arguments != NULL ? " " : "",
                      command->arguments != NULL ? command->arguments : "");
  tide_roff_heading(page, "synopsis");
  tide_roff_text(page, usage);
  tide_roff_heading(page, "description");
  tide_roff_text(page, command->summary);
  tide_roff_heading(page, "options");
  for (gsize i = 0; i < command->n_options; i++)
    append_option(page, &command->options[i]);
  append_option(page, &(TideOption){.name = "help", .letter = 'h', .sentence = "show all options"});
  if (command->details != NULL) {
    tide_roff_heading(page, "examples");
    tide_roff_verbatim(page, command->details);
  }
  g_autofree char *more = section_of(manual->commands, command->name);
  if (more != NULL) {
    tide_roff_heading(page, "notes");
    tide_roff_markdown(page, more);
  }
  append_see_also(page, command->name);
  return g_string_free(page, FALSE);
}

char *
tide_manual_configuration(const TideManual *manual)
{
  GString *page = begin_page(manual, "tidemark.yaml", 5, "the configuration of tidemark");
  g_auto(GStrv) parts = g_strsplit(manual->configuration, "\n## ", -1);
  for (gsize i = 0; parts[i] != NULL; i++) {
    char *text = strchr(parts[i], '\n');
    if (text == NULL)
      continue;
    *text++ = '\0';
    tide_roff_heading(page, i == 0 ? "description" : parts[i]);
    tide_roff_markdown(page, text);
  }
  append_see_also(page, "tidemark.yaml");
  return g_string_free(page, FALSE);
}
