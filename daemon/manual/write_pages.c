/* Writes the manual at build time: write-pages DATE VERSION docs/commands.md docs/configuration.md FILE...
 * A FILE is named as what it holds: tidemark.1, tidemark-scan.1, tidemark.yaml.5; one for each command there is. */
#include "manual/pages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *
read_or_die(const char *path)
{
  char *text = NULL;
  g_autoptr(GError) error = NULL;
  if (!g_file_get_contents(path, &text, NULL, &error)) {
    fprintf(stderr, "write-pages: %s\n", error->message);
    exit(EXIT_FAILURE);
  }
  return text;
}

/* NULL: no page is called so. */
static char *
page_called(const TideManual *manual, const char *name)
{
  if (strcmp(name, "tidemark.1") == 0)
    return tide_manual_program(manual);
  if (strcmp(name, "tidemark.yaml.5") == 0)
    return tide_manual_configuration(manual);
  for (const TideSubcommand *at = tide_subcommands; at->command != NULL; at++) {
    g_autofree char *wanted = g_strdup_printf("tidemark-%s.1", at->command->name);
    if (at->sentence != NULL && strcmp(name, wanted) == 0)
      return tide_manual_command(manual, at);
  }
  return NULL;
}

static gboolean
write_page(const TideManual *manual, const char *path)
{
  g_autofree char *name = g_path_get_basename(path);
  g_autofree char *page = page_called(manual, name);
  g_autoptr(GError) error = NULL;
  if (page != NULL && g_file_set_contents(path, page, -1, &error))
    return TRUE;
  fprintf(stderr, "write-pages: '%s': %s\n", name, error != NULL ? error->message : "there is no such command");
  return FALSE;
}

/* Each command has a page, or the list in meson.build is not whole. */
static gboolean
all_have_pages(char **paths)
{
  for (const TideSubcommand *at = tide_subcommands; at->command != NULL; at++) {
    g_autofree char *wanted = g_strdup_printf("/tidemark-%s.1", at->command->name);
    gboolean found = at->sentence == NULL;
    for (gsize i = 0; paths[i] != NULL && !found; i++)
      found = g_str_has_suffix(paths[i], wanted);
    if (!found) {
      fprintf(stderr, "write-pages: '%s' is not in the list of pages in daemon/manual/meson.build\n", wanted + 1);
      return FALSE;
    }
  }
  return TRUE;
}

int
main(int argc, char **argv)
{
  if (argc < 6)
    return EXIT_FAILURE;
  g_autofree char *commands = read_or_die(argv[3]);
  g_autofree char *configuration = read_or_die(argv[4]);
  TideManual manual = {.date = argv[1], .version = argv[2], .commands = commands, .configuration = configuration};
  for (int i = 5; i < argc; i++) {
    if (!write_page(&manual, argv[i]))
      return EXIT_FAILURE;
  }
  return all_have_pages(argv + 5) ? EXIT_SUCCESS : EXIT_FAILURE;
}
