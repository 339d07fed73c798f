#include "commands/run_reload.h"

#include "commands/cli/load_config.h"
#include "config/load/config_changes.h"
#include "util/clock.h"
#include "util/log.h"

static void
report(TideReload *reload, gboolean success)
{
  reload->failed = !success;
  tide_gauge_set(reload->successful, success ? 1 : 0);
  if (success)
    tide_gauge_set(reload->success_time, g_get_real_time() / TIDE_US_PER_S);
}

TideReload
tide_reload_new(const TideCommandCall *call, TideMetrics *metrics, gboolean has_lasting_name)
{
  TideReload reload = {
      .call = call,
      .has_lasting_name = has_lasting_name,
      .successful = tide_metrics_gauge(metrics, "tidemark_config_last_reload_successful",
                                       "1 when the last reload of the configuration, or the start, took it over", NULL),
      .success_time = tide_metrics_gauge(metrics, "tidemark_config_last_reload_success_timestamp_seconds",
                                         "When the configuration was last taken over", NULL)};
  report(&reload, TRUE);
  return reload;
}

/* The first error with its place; `tidemark check` shows them all. */
static void
log_failure(const TideReload *reload, const GPtrArray *problems)
{
  const char *path = tide_command_config_path(reload->call);
  for (guint i = 0; i < problems->len; i++) {
    const TideConfigProblem *problem = problems->pdata[i];
    if (problem->severity != TIDE_CONFIG_ERROR)
      continue;
    g_autofree char *text = tide_config_problem_format(problem, path, NULL);
    tide_log(TIDE_LOG_ERROR, "reload-failed",
             "reload failed, all stays as it was: %s; 'tidemark check' shows all errors", text);
    return;
  }
}

static char *
join_paths(const GPtrArray *changes, gboolean reloads)
{
  GString *paths = g_string_new(NULL);
  for (guint i = 0; i < changes->len; i++) {
    const TideConfigChange *change = changes->pdata[i];
    if (change->reloads == reloads)
      g_string_append_printf(paths, "%s%s", paths->len > 0 ? ", " : "", change->path);
  }
  return g_string_free(paths, FALSE);
}

static void
take_over(const TideReload *reload, TideConfig *after)
{
  TideConfig *config = reload->call->config;
  if (reload->has_lasting_name && after->kafka.instance == NULL)
    after->kafka.instance = g_strdup(config->kafka.instance);
  g_autoptr(GPtrArray) changes = tide_config_changes(config, after);
  config->service.log_level = after->service.log_level; /* no other thread reads it */
  tide_log_set_level(config->service.log_level);
  g_autofree char *taken = join_paths(changes, TRUE);
  g_autofree char *left = join_paths(changes, FALSE);
  tide_log(TIDE_LOG_NOTICE, "reloaded", "reloaded: %s", *taken != '\0' ? taken : "nothing to take over");
  if (*left != '\0')
    tide_log(TIDE_LOG_WARNING, "reload-needs-restart", "changed, but needs a restart: %s", left);
}

void
tide_reload_run(TideReload *reload)
{
  TideCommandCall call = {.command = reload->call->command, .config_path = reload->call->config_path};
  gboolean success = tide_command_read_config(&call);
  if (success)
    take_over(reload, call.config);
  else
    log_failure(reload, call.problems);
  report(reload, success);
  g_clear_pointer(&call.config, tide_config_free);
  g_clear_pointer(&call.problems, g_ptr_array_unref);
}
