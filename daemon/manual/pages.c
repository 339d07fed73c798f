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
  tide_roff_text(page, "`tidemark` COMMAND [OPTION…] [ARGUMENT…]");
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

/* What --help shows below the options, by the sections that it belongs to. */
typedef struct Details {
  GString *description; /* of the page */
  GString *exit_status; /* of the page */
  GString *examples;    /* lines */
} Details;

/* A paragraph, or with @name an item of a list. What a command ends with stands at a paragraph's end. */
static void
take_paragraph(Details *details, const char *name, GString *text)
{
  char *codes = name == NULL ? strstr(text->str, "Exit code") : NULL;
  if (codes != NULL)
    tide_roff_text(details->exit_status, codes);
  if (codes != NULL)
    g_string_truncate(text, (gsize)(codes - text->str));
  g_strchomp(text->str);
  if (name != NULL) {
    tide_roff_item(details->description, name, text->str);
  } else if (text->str[0] != '\0') {
    tide_roff_paragraph(details->description);
    tide_roff_text(details->description, text->str);
  }
  g_string_truncate(text, 0);
}

/* The lines of a paragraph come one behind the other; "name  text" begins an item, and what is indented goes on with
 * it. */
static void
take_details(Details *details, const char *text)
{
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  g_autoptr(GString) paragraph = g_string_new(NULL);
  g_autofree char *name = NULL;
  gboolean are_examples = FALSE;
  for (gsize i = 0; lines[i] != NULL; i++) {
    const char *line = lines[i] + strspn(lines[i], " ");
    const char *gap = strstr(line, "  ");
    if (are_examples) {
      g_string_append_printf(details->examples, "%s\n", line);
      continue;
    }
    are_examples = g_str_has_prefix(line, "Example");
    if (are_examples || line[0] == '\0' || gap != NULL) {
      take_paragraph(details, name, paragraph);
      g_clear_pointer(&name, g_free);
    }
    if (gap != NULL)
      name = g_strndup(line, (gsize)(gap - line));
    if (!are_examples)
      g_string_append_printf(paragraph, "%s%s", paragraph->len > 0 ? " " : "",
                             gap != NULL ? gap + strspn(gap, " ") : line);
  }
  take_paragraph(details, name, paragraph);
}

/* A section of docs/commands.md begins with examples: those that --help does not have go to them. */
static void
take_section(Details *details, const char *markdown)
{
  static const char fence[] = "```sh\n";
  const char *begin = markdown + strspn(markdown, "\n");
  const char *end = g_str_has_prefix(begin, fence) ? strstr(begin, "\n```\n") : NULL;
  if (end != NULL) {
    g_autofree char *block = g_strndup(begin + strlen(fence), (gsize)(end - begin) - strlen(fence));
    g_auto(GStrv) lines = g_strsplit(block, "\n", -1);
    for (gsize i = 0; lines[i] != NULL; i++)
      if (strstr(details->examples->str, lines[i]) == NULL)
        g_string_append_printf(details->examples, "%s\n", lines[i]);
    begin = end + strlen("\n```\n");
  }
  tide_roff_paragraph(details->description);
  tide_roff_markdown(details->description, begin + strspn(begin, "\n"));
}

char *
tide_manual_command(const TideManual *manual, const TideSubcommand *entry)
{
  const TideCommand *command = entry->command;
  g_autofree char *name = g_strdup_printf("tidemark-%s", command->name);
  GString *page = begin_page(manual, name, 1, entry->sentence);
  g_autofree char *usage =
      g_strdup_printf("`tidemark %s` [OPTION…]%s%s", command->name, command->arguments != NULL ? " " : "",
                      command->arguments != NULL ? command->arguments : "");
  Details details = {g_string_new(NULL), g_string_new(NULL), g_string_new(NULL)};
  tide_roff_text(details.description, command->summary);
  if (command->details != NULL)
    take_details(&details, command->details);
  g_autofree char *more = section_of(manual->commands, command->name);
  if (more != NULL)
    take_section(&details, more);
  tide_roff_heading(page, "synopsis");
  tide_roff_text(page, usage);
  tide_roff_heading(page, "description");
  g_string_append(page, details.description->str);
  tide_roff_heading(page, "options");
  for (gsize i = 0; i < command->n_options; i++)
    append_option(page, &command->options[i]);
  append_option(page, &(TideOption){.name = "help", .letter = 'h', .sentence = "show all options"});
  tide_roff_heading(page, "exit status");
  for (int code = 0; code <= TIDE_EXIT_CONFIG; code++) {
    const char *meaning = tide_command_exit_meaning(command, code);
    g_autofree char *number = g_strdup_printf("%d", code);
    if (meaning != NULL)
      tide_roff_item(page, number, meaning);
  }
  tide_roff_paragraph(page);
  g_string_append(page, details.exit_status->str);
  tide_roff_text(page, "`tidemark`(1) tells what each exit code means.");
  if (details.examples->len > 0) {
    tide_roff_heading(page, "examples");
    tide_roff_verbatim(page, details.examples->str);
  }
  append_see_also(page, command->name);
  g_string_free(details.description, TRUE);
  g_string_free(details.exit_status, TRUE);
  g_string_free(details.examples, TRUE);
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
