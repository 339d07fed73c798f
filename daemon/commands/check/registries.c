/* Checks the schema registries: whether each answers, and answers us. */
#include "commands/check/list.h"
#include "commands/cli/progress.h"
#include "config/config_source.h"
#include "util/error.h"

/* Whether one answer is that to the other as well: all that a question is asked with is the same. */
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
                        "answers, but may not tell us schema 1, by which it was tried: whether it tells those of "
                        "messages shows the first one");
    return;
  }
  g_autofree char *detail =
      g_strdup_printf("tells schemas%s%s%s%s", settings->user != NULL ? " to '" : "",
                      settings->user != NULL ? settings->user : "", settings->user != NULL ? "'" : "",
                      g_str_has_prefix(settings->url, "https://") ? "; its certificate is right" : "");
  tide_check_list_add(list, "registry", settings->url, TIDE_CHECK_OK, detail);
}

void
tide_check_registries(const TideConfig *config, TideCheckList *list)
{
  for (guint i = 0; i < config->sources->len; i++) {
    const TideRegistrySettings *settings = &((const TideConfigSource *)config->sources->pdata[i])->readings->registry;
    gboolean was_asked = FALSE; /* for a source before */
    for (guint k = 0; k < i && !was_asked; k++)
      was_asked = are_alike(&((const TideConfigSource *)config->sources->pdata[k])->readings->registry, settings);
    if (settings->url != NULL && !was_asked)
      check_registry(settings, list);
  }
}
