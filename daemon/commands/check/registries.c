/* Checks whether each schema registry answers, and accepts this user. */
#include "commands/check/list.h"
#include "commands/cli/progress.h"
#include "config/config_source.h"
#include "util/error.h"

/* Whether both have the same address and credentials, so that one answer counts for both. */
static gboolean
are_alike(const TideRegistrySettings *one, const TideRegistrySettings *other)
{
  return g_strcmp0(one->url, other->url) == 0 && g_strcmp0(one->user, other->user) == 0 &&
         g_strcmp0(one->password.file, other->password.file) == 0 &&
         g_strcmp0(one->password.credential, other->password.credential) == 0 && g_strcmp0(one->ca, other->ca) == 0;
}

static void
check_registry(const TideRegistrySettings *settings, TideCheckList *list)
{
  g_autoptr(GError) error = NULL;
  gboolean is_forbidden;
  tide_progress_step("asking the schema registry '%s'", settings->url);
  if (!tide_registry_try(settings, &is_forbidden, &error)) {
    gboolean is_away = g_error_matches(error, TIDE_ERROR, TIDE_ERROR_CONNECT);
    tide_check_list_add(list, "registry", settings->url, is_away ? TIDE_CHECK_UNAVAILABLE : TIDE_CHECK_PROBLEM,
                        error->message);
    return;
  }
  if (is_forbidden) {
    tide_check_list_add(list, "registry", settings->url, TIDE_CHECK_NOTE,
                        "answers, but refuses schema 1, which was used as a test; only the first message shows whether "
                        "it returns the schemas of messages");
    return;
  }
  g_autofree char *detail =
      g_strdup_printf("returns schemas%s%s%s%s", settings->user != NULL ? " to '" : "",
                      settings->user != NULL ? settings->user : "", settings->user != NULL ? "'" : "",
                      g_str_has_prefix(settings->url, "https://") ? "; its certificate is valid" : "");
  tide_check_list_add(list, "registry", settings->url, TIDE_CHECK_OK, detail);
}

void
tide_check_registries(const TideConfig *config, TideCheckList *list)
{
  for (guint i = 0; i < config->sources->len; i++) {
    const TideRegistrySettings *settings = &((const TideConfigSource *)config->sources->pdata[i])->readings->registry;
    gboolean was_asked = FALSE; /* for an earlier source */
    for (guint k = 0; k < i && !was_asked; k++)
      was_asked = are_alike(&((const TideConfigSource *)config->sources->pdata[k])->readings->registry, settings);
    if (settings->url != NULL && !was_asked)
      check_registry(settings, list);
  }
}
