#include "flow/state_directory.h"

#include <string.h>

char *
tide_state_directory(void)
{
  /* systemd sets one path for each directory of the unit, parted by colons; ours has one. */
  const char *directories = g_getenv("STATE_DIRECTORY");
  if (directories == NULL || directories[0] == '\0' || directories[0] == ':')
    return NULL;
  return g_strndup(directories, strcspn(directories, ":"));
}

char *
tide_state_directory_path(const char *name)
{
  g_autofree char *directory = tide_state_directory();
  return directory != NULL ? g_build_filename(directory, name, NULL) : NULL;
}
