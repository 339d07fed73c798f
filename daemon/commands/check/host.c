/* Checks whether `tidemark run` can work on this host. */
#include "commands/check/list.h"
#include "config/config_source.h"
#include "dead_letters/dead_letter_location.h"
#include "dead_letters/dead_letter_queue.h"
#include "service/http.h"
#include "util/error.h"
#include "util/state_directory.h"

/* A resource in use is free again when its process restarts: only a second daemon has a problem. */
static void
add_fault(TideCheckList *list, const char *what, const char *name, const GError *error)
{
  if (!g_error_matches(error, TIDE_ERROR, TIDE_ERROR_IN_USE)) {
    tide_check_list_add(list, what, name, TIDE_CHECK_PROBLEM, error->message);
    return;
  }
  g_autofree char *note =
      g_strdup_printf("%s; ignore this if it is the running daemon of this configuration", error->message);
  tide_check_list_add(list, what, name, TIDE_CHECK_NOTE, note);
}

static void
check_dead_letters(const TideConfig *config, TideCheckList *list)
{
  g_autoptr(GError) error = NULL;
  g_autofree char *path = tide_dead_letter_queue_file_path(config);
  TideDeadLetterFileOptions options = {
      .path = path, .max_file_bytes = config->dead_letters.max_file_bytes, .max_bytes = config->dead_letters.max_bytes};
  if (path == NULL && config->dead_letters.topic == NULL && tide_config_keeps_bad_messages(config))
    tide_check_list_add(list, "dead_letters", "", TIDE_CHECK_PROBLEM,
                        "there is no place for dead letters, so a bad message halts its partition: set "
                        "dead_letters.topic or dead_letters.file");
  if (path == NULL)
    return;
  if (!tide_dead_letter_location_check(&options, &error))
    add_fault(list, "dead_letters", path, error);
  else
    tide_check_list_add(list, "dead_letters", path, TIDE_CHECK_OK,
                        config->dead_letters.file != NULL ? "can be written"
                                                          : "can be written; used by default, because none is set");
}

void
tide_check_host(const TideConfig *config, TideCheckList *list)
{
  g_autoptr(GError) unusable = NULL, taken = NULL;
  g_autofree char *directory = tide_state_directory();
  const char *listen = config->service.http_listen;
  if (directory != NULL && !tide_state_directory_look(&unusable))
    add_fault(list, "state", directory, unusable);
  else if (directory != NULL)
    tide_check_list_add(list, "state", directory, TIDE_CHECK_OK, "can be written, and no process uses it");
  check_dead_letters(config, list);
  if (!tide_http_try(&config->service, &taken))
    add_fault(list, "http", listen, taken);
  else if (strcmp(listen, "off") != 0)
    tide_check_list_add(list, "http", listen, TIDE_CHECK_OK, "can be listened on");
}
