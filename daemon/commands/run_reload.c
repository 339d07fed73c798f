#include "commands/run_reload.h"

#include "commands/cli/load_config.h"
#include "config/load/config_changes.h"
#include "util/calendar.h"
#include "util/clock.h"
#include "util/log.h"

void
tide_reload_init(TideReload *reload, const TideCommandCall *call, TidePipeline *pipeline, TideMetrics *metrics,
                 gboolean is_static_member)
{
  *reload = (TideReload){
      .call = call,
      .pipeline = pipeline,
      .is_static_member = is_static_member,
      .successful = tide_metrics_gauge(metrics, "tidemark_config_last_reload_successful",
                                       "1 if the last reload of the configuration, or the start, was applied", NULL),
      .success_time = tide_metrics_gauge(metrics, "tidemark_config_last_reload_success_timestamp_seconds",
                                         "Time at which the configuration was last applied", NULL),
      .last = {.result = "none"}};
  tide_mutex_init(&reload->lock);
  tide_gauge_set(reload->successful, 1);
  tide_gauge_set(reload->success_time, g_get_real_time() / TIDE_US_PER_S);
}

void
tide_reload_clear(TideReload *reload)
{
  tide_status_reload_clear(&reload->last);
  tide_mutex_clear(&reload->lock);
}

/* @now: (transfer full): the new state for /status */
static void
publish(TideReload *reload, TideStatusReload *now)
{
  char at[TIDE_ISO_TIME_BYTES];
  now->at = g_strdup(tide_iso_time_print(tide_wall_clock_epoch_ms(), at));
  tide_mutex_lock(&reload->lock);
  TideStatusReload before = reload->last;
  reload->last = *now;
  tide_mutex_unlock(&reload->lock);
  tide_status_reload_clear(&before);
}

TideStatusReload
tide_reload_view(TideReload *reload)
{
  tide_mutex_lock(&reload->lock);
  TideStatusReload view = {.result = reload->last.result,
                           .at = g_strdup(reload->last.at),
                           .applied = g_strdup(reload->last.applied),
                           .needs_restart = g_strdup(reload->last.needs_restart),
                           .error = g_strdup(reload->last.error)};
  tide_mutex_unlock(&reload->lock);
  return view;
}

/* The first error with its position; `tidemark check` shows all. (transfer full) */
static char *
first_error(const TideReload *reload, const GPtrArray *problems)
{
  for (guint i = 0; i < problems->len; i++) {
    const TideConfigProblem *problem = problems->pdata[i];
    if (problem->severity == TIDE_CONFIG_ERROR)
      return tide_config_problem_format(problem, tide_command_config_path(reload->call), NULL);
  }
  return g_strdup("the file cannot be used");
}

static void
fail(TideReload *reload, const GPtrArray *problems)
{
  TideStatusReload now = {.result = "failed", .error = first_error(reload, problems)};
  tide_log(TIDE_LOG_ERROR, "reload-failed",
           "reload failed, the previous configuration stays in force: %s; 'tidemark check' shows all errors",
           now.error);
  reload->failed = TRUE;
  tide_gauge_set(reload->successful, 0);
  now.needs_restart = g_strdup(reload->last.needs_restart);
  publish(reload, &now);
}

/* NULL: there are none. (transfer full) */
static char *
join_paths(const GPtrArray *changes, gboolean reloads)
{
  g_autoptr(GString) paths = g_string_new(NULL);
  for (guint i = 0; i < changes->len; i++) {
    const TideConfigChange *change = changes->pdata[i];
    if (change->reloads == reloads)
      g_string_append_printf(paths, "%s%s", paths->len > 0 ? ", " : "", change->path);
  }
  return paths->len > 0 ? g_strdup(paths->str) : NULL;
}

static void
take_over(TideReload *reload, TideConfig *after)
{
  TideConfig *config = reload->call->config;
  if (reload->is_static_member && after->kafka.instance == NULL)
    after->kafka.instance = g_strdup(config->kafka.instance);
  g_autoptr(GPtrArray) changes = tide_config_changes(config, after);
  tide_config_take_over(config, after, changes);
  tide_pipeline_take_changes(reload->pipeline);
  tide_log_set_level(config->service.log_level);
  TideStatusReload now = {
      .result = "applied", .applied = join_paths(changes, TRUE), .needs_restart = join_paths(changes, FALSE)};
  tide_log(TIDE_LOG_NOTICE, "reloaded", "reloaded: %s", now.applied != NULL ? now.applied : "no changes");
  if (now.needs_restart != NULL)
    tide_log(TIDE_LOG_WARNING, "reload-needs-restart", "changed, but needs a restart: %s", now.needs_restart);
  reload->failed = FALSE;
  tide_gauge_set(reload->successful, 1);
  tide_gauge_set(reload->success_time, g_get_real_time() / TIDE_US_PER_S);
  publish(reload, &now);
}

void
tide_log_config_warnings(const char *path, const GPtrArray *problems)
{
  for (guint i = 0; i < problems->len; i++) {
    g_autofree char *text = tide_config_problem_format(problems->pdata[i], path, NULL);
    tide_log(TIDE_LOG_WARNING, "config-warning", "%s", text);
  }
}

void
tide_reload_run(TideReload *reload)
{
  TideCommandCall call = {.command = reload->call->command, .config_path = reload->call->config_path};
  if (tide_command_read_config(&call)) {
    tide_log_config_warnings(tide_command_config_path(&call), call.problems);
    take_over(reload, call.config);
  } else
    fail(reload, call.problems);
  g_clear_pointer(&call.config, tide_config_free);
  g_clear_pointer(&call.problems, g_ptr_array_unref);
}
