/* The daemon: `tidemark run`. This file owns the main thread: signals, timers, the HTTP endpoint and systemd. The data
 * path does not use it. */
#include "commands/cli/commands.h"

#include "commands/cli/load_config.h"
#include "commands/cli/revision.h"
#include "commands/cli/version.h"
#include "commands/run_reload.h"
#include "dead_letters/dead_letter_queue.h"
#include "kafka/kafka_conf.h"
#include "service/http.h"
#include "service/notify.h"
#include "service/pipeline.h"
#include "service/pipeline_status.h"
#include "service/process_metrics.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/lock.h"
#include "util/log.h"
#include "util/state_directory.h"
#include "util/units.h"

#include <glib-unix.h>
#include <malloc.h>
#include <signal.h>
#include <unistd.h>

#define WATCH_INTERVAL_MS 1000

/* Settings of the heap: see keep_heap_small(). The share is the largest block that an arena keeps, as a fraction of
 * limits.memory. */
#define HEAP_ARENAS 2
#define HEAP_SHARE 64
#define HEAP_SHARE_MIN_BYTES (256u << 10)
#define HEAP_SHARE_MAX_BYTES (16u << 20) /* half of glibc's maximum */

/* Interval of checks for a second signal while the daemon stops. */
#define STOP_ROUND_US (TIDE_US_PER_S / 10)

/* Interval of the line for `systemctl status`, which is also updated at once when readiness changes. */
#define STATUS_INTERVAL_US (10 * TIDE_US_PER_S)

/* Interval of retries after the disk was full. */
#define STATE_RETRY_US (5 * TIDE_US_PER_S)

/* Shorter changes of readiness are not logged. */
#define READINESS_SETTLES_US (3 * TIDE_US_PER_S)

/* Extension requested from systemd while the start waits (for a gateway, a table, a first assignment). */
#define START_EXTENSION_US (30 * TIDE_US_PER_S)

/* Time limit for freeing idle parts, which takes milliseconds. */
#define FREE_TIMEOUT_US (5 * TIDE_US_PER_S)

typedef struct RunOptions {
  gboolean until_end;
  gboolean accept_scheme_change;
  gboolean accept_cluster_change;
} RunOptions;

typedef struct Run {
  const TideConfig *config; /* borrowed */
  TideMetrics *metrics;
  TideProcessMetrics process; /* used by the endpoint's thread only, like the next */
  TideVerdictMetrics verdicts;
  TidePipeline *pipeline;
  TideReload reload;
  GMainLoop *loop;
  gboolean reported_ready;
  gboolean said_ready;     /* as last logged */
  gint64 differs_since_us; /* since when the logged state no longer holds; 0: it holds */
  gint64 unready_us;       /* since when it is not ready, as logged; 0: it is ready, or never was */
  gboolean was_ready;
  gboolean is_stopping;
  gboolean until_end;
  gint64 status_us;
  gint64 state_tried_us;       /* last retry of failed writes to the state directory */
  gint64 watchdog_interval_us; /* 0: systemd does not watch */
  int exit_code;
  /* written by "tide-stop", read after it has ended */
  int stop_code;
  guint64 held_messages;
} Run;

/* ---- callbacks of the endpoint, on its thread ---- */

static void
fill_status(Run *run, TideStatus *status)
{
  *status = (TideStatus){.version = TIDE_VERSION, .reload = tide_reload_view(&run->reload)};
  tide_pipeline_fill_status(run->pipeline, status);
}

static char *
render_metrics(gpointer data)
{
  Run *run = data;
  g_auto(TideStatus) status = {0};
  fill_status(run, &status);
  tide_verdict_metrics_update(&run->verdicts, &status);
  tide_process_metrics_update(&run->process);
  return tide_metrics_render(run->metrics);
}

static char *
render_status(gpointer data)
{
  g_auto(TideStatus) status = {0};
  fill_status(data, &status);
  return tide_status_print(&status);
}

static char *
render_tables(gpointer data)
{
  g_auto(TideStatus) status = {0};
  fill_status(data, &status);
  return tide_status_print_tables(&status);
}

static gboolean
is_well(const Run *run, gboolean is_asked_for_ready, char **ret_reason)
{
  TidePipelineState state = tide_pipeline_state(run->pipeline);
  gboolean well = is_asked_for_ready ? state.ready : state.healthy;
  if (!well)
    *ret_reason = g_strdup(state.reason);
  tide_pipeline_state_clear(&state);
  return well;
}

static gboolean
is_ready(gpointer run, char **ret_reason)
{
  return is_well(run, TRUE, ret_reason);
}

static gboolean
is_healthy(gpointer run, char **ret_reason)
{
  return is_well(run, FALSE, ret_reason);
}

/* ---- the main thread ---- */

static void
finish(Run *run, int exit_code)
{
  run->exit_code = exit_code;
  g_main_loop_quit(run->loop);
}

static gboolean
on_stop_signal(gpointer data)
{
  Run *run = data;
  if (run->is_stopping) {
    tide_log(TIDE_LOG_WARNING, "stopped-at-once",
             "a signal during the stop: exiting at once; messages in flight were not committed and are read again");
    _exit(TIDE_EXIT_TEMPFAIL);
  }
  run->is_stopping = TRUE;
  g_autofree char *longest = tide_age_text(run->config->limits.drain_timeout_ms);
  tide_log(TIDE_LOG_NOTICE, "stopping",
           "stopping: flushing and waiting for acknowledgements for up to %s; a second signal exits at once", longest);
  finish(run, run->until_end ? TIDE_EXIT_TEMPFAIL : TIDE_EXIT_OK); /* the end was not reached */
  return G_SOURCE_CONTINUE;
}

static gboolean
on_hangup(gpointer data)
{
  Run *run = data;
  if (run->is_stopping) {
    tide_log(TIDE_LOG_NOTICE, "hangup-ignored", "SIGHUP ignored: stopping");
    return G_SOURCE_CONTINUE;
  }
  /* While it starts, systemd waits for the first READY=1, which a reload must not send. */
  if (run->reported_ready)
    tide_notify_reloading(tide_now_us());
  tide_reload_run(&run->reload);
  run->status_us = 0; /* update the status line in the next round */
  if (run->reported_ready)
    tide_notify_ready();
  return G_SOURCE_CONTINUE;
}

static gboolean
on_state_signal(gpointer data)
{
  Run *run = data;
  TidePipelineState state = tide_pipeline_state(run->pipeline);
  tide_log(TIDE_LOG_NOTICE, "state", "state: %s", state.status);
  tide_pipeline_state_clear(&state);
  return G_SOURCE_CONTINUE;
}

/* Logged at once the first time; later only after it has settled, so that a brief change causes no two lines. */
static void
log_readiness(Run *run, const TidePipelineState *state, gint64 now_us)
{
  if (state->ready == run->said_ready) {
    run->differs_since_us = 0;
    return;
  }
  if (run->differs_since_us == 0)
    run->differs_since_us = now_us;
  gboolean is_first = state->ready && run->unready_us == 0;
  if (!is_first && now_us - run->differs_since_us < READINESS_SETTLES_US)
    return;
  run->said_ready = state->ready;
  if (is_first)
    tide_log(TIDE_LOG_NOTICE, "ready", "ready: %s", state->status);
  else if (state->ready)
    tide_log(TIDE_LOG_NOTICE, "ready-again", "ready again after %" G_GINT64_FORMAT " s: %s",
             (run->differs_since_us - run->unready_us) / TIDE_US_PER_S, state->status);
  else
    tide_log(TIDE_LOG_NOTICE, "not-ready", "no longer ready: %s", state->reason);
  run->unready_us = state->ready ? 0 : run->differs_since_us;
  run->differs_since_us = 0;
}

static void
notify_systemd(Run *run, const TidePipelineState *state, gint64 now_us)
{
  if (state->ready && !run->reported_ready) {
    run->reported_ready = TRUE;
    tide_notify_ready();
  } else if (!run->reported_ready)
    tide_notify_extend_timeout(START_EXTENSION_US);
  if (state->ready != run->was_ready || now_us - run->status_us >= STATUS_INTERVAL_US) {
    run->was_ready = state->ready;
    run->status_us = now_us;
    tide_notify_status("%s%s", run->reload.failed ? "reload failed, see the log; " : "", state->status);
  }
  if (run->watchdog_interval_us > 0 && state->healthy)
    tide_notify_watchdog();
}

/* Once a second. */
static gboolean
on_watch(gpointer data)
{
  Run *run = data;
  gint64 now_us = tide_now_us();
  guint n_kept = 0; /* failed writes to the state directory */
  if (now_us - run->state_tried_us >= STATE_RETRY_US) {
    run->state_tried_us = now_us;
    n_kept = tide_state_directory_retry();
  }
  g_autofree char *kept = tide_count_of(n_kept, "file", NULL);
  if (n_kept > 0)
    tide_log(TIDE_LOG_NOTICE, "state-kept", "disk space is available again: %s of the state directory written", kept);
  tide_pipeline_watch(run->pipeline, now_us);
  TidePipelineState state = tide_pipeline_state(run->pipeline);
  notify_systemd(run, &state, now_us);
  log_readiness(run, &state, now_us);
  if (state.stage == TIDE_STAGE_FAILED) {
    const GError *failure = tide_pipeline_failure(run->pipeline);
    tide_log(TIDE_LOG_CRIT, "cannot-start", "cannot start: %s", failure->message);
    finish(run, tide_error_exit_code(failure));
  } else if (state.fatal_exit != 0) {
    tide_log(TIDE_LOG_CRIT, "cannot-go-on", "cannot continue: %s", state.reason != NULL ? state.reason : state.status);
    finish(run, state.fatal_exit);
  } else if (state.finished) {
    tide_log(TIDE_LOG_NOTICE, "reached-end", "reached the end: %s", state.status);
    finish(run, state.any_halted ? TIDE_EXIT_DATA : TIDE_EXIT_OK);
  }
  tide_pipeline_state_clear(&state);
  return G_SOURCE_CONTINUE;
}

static gboolean
start_http(Run *run, TideHttp **ret_http, GError **error)
{
  TideHttpOptions options = {.config = &run->config->service,
                             .metrics = run->metrics,
                             .render_metrics = render_metrics,
                             .render_status = render_status,
                             .render_tables = render_tables,
                             .ready = is_ready,
                             .healthy = is_healthy,
                             .data = run};
  if (!tide_http_start(&options, ret_http, error))
    return FALSE;
  const char *listen = options.config->http_listen, *colon = strrchr(listen, ':');
  if (*ret_http != NULL && tide_http_port(*ret_http) != 0) /* port 0 of the address means any port */
    tide_log(TIDE_LOG_INFO, "http-listens", "status page and metrics at %s://%.*s:%u/",
             options.config->http_tls.certificate != NULL ? "https" : "http", (int)(colon - listen), listen,
             tide_http_port(*ret_http));
  else if (*ret_http != NULL)
    tide_log(TIDE_LOG_INFO, "http-listens", "status page and metrics at '%s'", listen);
  return TRUE;
}

/* The main function of "tide-stop". */
static void
run_stop(gpointer data)
{
  Run *run = data;
  gint64 drain_us = run->config->limits.drain_timeout_ms * TIDE_US_PER_MS;
  run->stop_code = tide_pipeline_stop(run->pipeline, tide_now_us() + drain_us, &run->held_messages);
  if (run->stop_code == TIDE_PIPELINE_STUCK)
    _exit(TIDE_EXIT_TEMPFAIL);
}

/* Waits for @thread while signals are handled and systemd is informed. @timeout_us: 0: for ever */
static gboolean
wait_for_end(TideThread *thread, gint64 timeout_us)
{
  gint64 start_us = tide_now_us();
  while (!tide_thread_join_until(thread, tide_now_us() + STOP_ROUND_US)) {
    g_main_context_iteration(NULL, FALSE);
    tide_notify_watchdog();
    if (timeout_us > 0 && tide_now_us() - start_us >= timeout_us)
      return FALSE;
  }
  return TRUE;
}

/* @end: the result of the messages, or "received" */
static guint64
count_messages(const Run *run, const char *end)
{
  g_autofree char *name = g_strdup_printf("tidemark_messages_%s_total", end);
  return tide_metrics_sum(run->metrics, name, NULL);
}

/* The results of all messages read; the numbers add up. (transfer full) */
static char *
ends_text(const Run *run)
{
  static const struct {
    const char *end, *text;
    gboolean is_always;
  } ends[] = {
      {"written", "written", TRUE},
      {"unmatched", "accepted by no table", FALSE},
      {"expired", "older than their tables' retention", FALSE},
      {"skipped", "passed over", FALSE},
      {"handed_back", "handed back unfinished", FALSE},
  };
  const char *topic = run->config->dead_letters.topic;
  GString *text = g_string_new(NULL);
  g_autofree char *received = tide_count_text(count_messages(run, "received"));
  g_string_printf(text, "%s read", received);
  for (gsize i = 0; i < G_N_ELEMENTS(ends); i++) {
    guint64 n = count_messages(run, ends[i].end);
    g_autofree char *ended = tide_count_of(n, ends[i].text, ends[i].text);
    if (n > 0 || ends[i].is_always)
      g_string_append_printf(text, ", %s", ended);
  }
  guint64 n_dead_letters = count_messages(run, "dead_lettered");
  if (n_dead_letters > 0) {
    g_autofree char *file = topic == NULL ? tide_dead_letter_queue_file_path(run->config) : NULL;
    g_autofree char *dead_letters = tide_count_of(n_dead_letters, "dead letter", NULL);
    g_string_append_printf(text, ", %s in %s'%s'", dead_letters, topic != NULL ? "topic " : "",
                           topic != NULL ? topic : file);
  }
  return g_string_free(text, FALSE);
}

/* @handed_back: total messages before the stop. @unread: messages when the stop began; -1: unknown */
static void
report_stopped(const Run *run, gboolean had_begun, guint64 handed_back, gint64 unread)
{
  gboolean has_read = had_begun && count_messages(run, "received") > 0;
  guint64 n_left = count_messages(run, "handed_back") - handed_back + run->held_messages;
  g_autofree char *held = run->held_messages > 0 ? g_strdup_printf(" (already written: %" G_GUINT64_FORMAT
                                                                   "; calls without an answer may overwrite these)",
                                                                   run->held_messages)
                                                 : NULL;
  g_autofree char *messages = tide_count_of(n_left, "message is", "messages are");
  g_autofree char *left = g_strdup_printf("%s left for the next start, which reads %s again%s", messages,
                                          n_left == 1 ? "it" : "them", held != NULL ? held : "");
  const char *what = !has_read                        ? "nothing was read"
                     : n_left > 0                     ? left
                     : run->stop_code != TIDE_EXIT_OK ? "some messages read are left for the next start"
                     : handed_back > 0
                         ? "all messages read, except those handed back before, are acknowledged and committed"
                         : "all messages read are acknowledged and committed";
  gboolean has_ends = has_read && (n_left > 0 || handed_back > 0 || count_messages(run, "dead_lettered") > 0);
  g_autofree char *ends = has_ends ? ends_text(run) : NULL;
  g_autofree char *rest =
      unread > 0 ? g_strdup_printf("; %" G_GINT64_FORMAT " more were unread at the last check", unread) : NULL;
  gboolean is_early = run->until_end && run->exit_code == TIDE_EXIT_TEMPFAIL;
  tide_log(TIDE_LOG_NOTICE, "stopped", "stopped: %s%s%s%s%s", what, ends != NULL ? "; " : "", ends != NULL ? ends : "",
           rest != NULL ? rest : "", is_early ? "; the end of the topics was not reached" : "");
}

/* The stop may exceed systemd's watchdog interval, so it runs on another thread while this one keeps notifying. */
static void
run_and_stop(Run *run)
{
  guint watch = g_timeout_add(WATCH_INTERVAL_MS, on_watch, run);
  tide_pipeline_start(run->pipeline);
  g_main_loop_run(run->loop);
  g_source_remove(watch);
  run->is_stopping = TRUE; /* also when it ends without a signal */
  tide_notify_stopping();
  tide_notify_status("stopping");
  TidePipelineState state = tide_pipeline_state(run->pipeline);
  guint64 handed_back = count_messages(run, "handed_back");
  wait_for_end(tide_thread_start("tide-stop", run_stop, run), 0);
  if (run->exit_code == TIDE_EXIT_OK)
    run->exit_code = run->stop_code;
  report_stopped(run, state.stage == TIDE_STAGE_RUNNING, handed_back, state.unread);
  tide_pipeline_state_clear(&state);
}

static void
run_free(gpointer data)
{
  Run *run = data;
  tide_pipeline_free(run->pipeline);
}

/* Kafka's client joins its threads, and one of them can spin for ever, as on a truncated gzip batch (librdkafka 2.0.2
 * and 2.16.0). Everything is committed by now, so nothing is lost when the process ends without it. */
static void
free_pipeline(Run *run)
{
  if (!wait_for_end(tide_thread_start("tide-free", run_free, run), FREE_TIMEOUT_US)) {
    tide_log(TIDE_LOG_WARNING, "kafka-client-stuck",
             "the Kafka client did not stop; exiting anyway; everything written is committed");
    _exit(run->exit_code);
  }
}

/* limits.memory limits memory in use, but glibc's heap also keeps freed memory, in as many arenas as threads request
 * (eight per core), including large buffers once one was freed. With 500,000 messages with refused rows and
 * limits.memory 64 MiB, the process needed 144 MiB, and 88 MiB with two arenas that return blocks of 256 KiB and more.
 * A reading's path allocates nothing, so arenas are no bottleneck.
 *
 * However, librdkafka allocates some megabytes for each fetch, and if those are returned each time, the kernel clears
 * and maps their pages again: a sixth of the CPU for messages of 100 metrics. So at the default of limits.memory an
 * arena keeps buffers of up to 4 MiB, which a fetch does not exceed unless a message is larger, and twice as much of
 * free memory at its end, which it would otherwise return at once. The limit is a share of limits.memory, as is the
 * size of a fetch. Keeping more, such as a whole prefetch queue, hardly saves CPU, and those 500,000 messages then
 * needed 109 MiB instead of 95. */
static void
keep_heap_small(guint64 memory_bytes)
{
  int kept_bytes = (int)CLAMP(memory_bytes / HEAP_SHARE, HEAP_SHARE_MIN_BYTES, HEAP_SHARE_MAX_BYTES);
  (void)mallopt(M_ARENA_MAX, HEAP_ARENAS);
  (void)mallopt(M_MMAP_THRESHOLD, kept_bytes);
  (void)mallopt(M_TRIM_THRESHOLD, kept_bytes);
  (void)mallopt(M_TOP_PAD, 2 * kept_bytes);
}

static int
run_daemon(const TideCommandCall *call, gboolean is_static_member)
{
  const TideConfig *config = call->config;
  const RunOptions *run_options = call->options;
  Run run = {.config = config,
             .metrics = tide_metrics_new(),
             .loop = g_main_loop_new(NULL, FALSE),
             .until_end = run_options->until_end};
  run.watchdog_interval_us = tide_notify_watchdog_interval_us();
  tide_process_metrics_init(&run.process, run.metrics, TIDE_VERSION, TIDE_REVISION);
  tide_verdict_metrics_init(&run.verdicts, run.metrics);
  TidePipelineOptions options = {.config = config,
                                 .metrics = run.metrics,
                                 .until_end = run_options->until_end,
                                 .accept_scheme_change = run_options->accept_scheme_change,
                                 .accept_cluster_change = run_options->accept_cluster_change};
  run.pipeline = tide_pipeline_new(&options);
  tide_reload_init(&run.reload, call, run.pipeline, run.metrics, is_static_member);
  /* Signals are handled from here to the end of the process: without a handler they would kill it without an exit
   * code. */
  g_unix_signal_add(SIGTERM, on_stop_signal, &run);
  g_unix_signal_add(SIGINT, on_stop_signal, &run);
  g_unix_signal_add(SIGHUP, on_hangup, &run);
  g_unix_signal_add(SIGUSR1, on_state_signal, &run);
  g_unix_signal_add(SIGUSR2, on_state_signal, &run);
  g_autoptr(GError) error = NULL;
  TideHttp *http = NULL;
  if (start_http(&run, &http, &error)) {
    run_and_stop(&run);
    tide_http_stop(http);
  } else {
    tide_log(TIDE_LOG_CRIT, "cannot-start", "cannot start: %s", error->message);
    run.exit_code = tide_error_exit_code(error);
  }
  free_pipeline(&run);
  tide_reload_clear(&run.reload);
  tide_metrics_free(run.metrics);
  g_main_loop_unref(run.loop);
  return run.exit_code;
}

/* FALSE if another daemon uses it. A failure to lock it is only logged: code that stores files there reports more when
 * it fails. */
static gboolean
lock_state_directory(int *ret_fd)
{
  g_autoptr(GError) error = NULL;
  *ret_fd = tide_state_directory_lock(&error);
  if (error == NULL)
    return TRUE;
  if (g_error_matches(error, TIDE_ERROR, TIDE_ERROR_IN_USE)) {
    tide_log(TIDE_LOG_CRIT, "cannot-start", "cannot start: %s", error->message);
    return FALSE;
  }
  tide_log(TIDE_LOG_WARNING, "state-directory-unlocked",
           "%s: continuing without a lock; make sure that no other daemon uses the directory", error->message);
  return TRUE;
}

/* A daemon with its own state directory is always the same member of its group, unless the configuration sets another
 * name: after a kill it continues at once, while a dynamic member waits for its own dead session. */
static gboolean
become_static_member(TideKafkaConfig *config, int lock_fd)
{
  if (config->instance != NULL || lock_fd < 0)
    return FALSE;
  g_autoptr(GError) error = NULL;
  config->instance = tide_state_directory_instance(config->topics, &error);
  if (error != NULL)
    tide_log(TIDE_LOG_WARNING, "no-static-member",
             "%s; the next start tries again, and after a kill the group waits for kafka.session_timeout",
             error->message);
  else
    tide_log(TIDE_LOG_INFO, "static-member", "joining as static member '%s', also after a restart (kafka.instance)",
             config->instance);
  return config->instance != NULL;
}

/* The first line: version and configuration. */
static void
log_start(const TideCommandCall *call)
{
  const TideKafkaConfig *kafka = &call->config->kafka;
  g_autofree char *topics = g_strjoinv(", ", kafka->topics);
  g_autoptr(GString) gateways = g_string_new(NULL);
  for (guint i = 0; i < call->config->hbase.gateways->len; i++) {
    const TideEndpoint *endpoint = g_ptr_array_index(call->config->hbase.gateways, i);
    g_string_append_printf(gateways, "%s%s", i > 0 ? ", " : "", endpoint->text);
  }
  tide_log(TIDE_LOG_NOTICE, "starting", "tidemark %s (%s): configuration '%s', group '%s', topics %s, gateways %s",
           TIDE_VERSION, TIDE_REVISION, tide_command_config_path(call), kafka->group, topics, gateways->str);
}

static gboolean
run_daemon_alone(TideCommandCall *call, GError **error)
{
  if (!tide_command_load_config(call))
    return FALSE;
  keep_heap_small(call->config->limits.memory_bytes); /* before there are threads */
  TideConfig *config = call->config;
  tide_log_init(config->service.log_format, config->service.log_level);
  tide_log_config_warnings(tide_command_config_path(call), call->problems);
  log_start(call);
  g_autoptr(GError) fault = NULL;
  if (!tide_kafka_check_clients(config, &fault)) {
    tide_log(TIDE_LOG_CRIT, "cannot-start", "cannot start: %s", fault->message);
    call->failure_code = tide_error_exit_code(fault);
    return FALSE;
  }
  int lock_fd = -1;
  if (!lock_state_directory(&lock_fd)) {
    call->failure_code = TIDE_EXIT_TEMPFAIL;
    return FALSE;
  }
  call->failure_code = run_daemon(call, become_static_member(&config->kafka, lock_fd));
  if (lock_fd >= 0)
    close(lock_fd);
  return call->failure_code == TIDE_EXIT_OK;
}

static const TideOption run_options[] = {
    TIDE_CONFIG_OPTION,
    {"until-end", NULL, TIDE_FLAG(RunOptions, until_end), "read to the current end of the topics, write, then exit"},
    {"accept-scheme-change", NULL, TIDE_FLAG(RunOptions, accept_scheme_change),
     "start although a table with rows was written with another key, and store the new key"},
    {"accept-cluster-change", NULL, TIDE_FLAG(RunOptions, accept_cluster_change),
     "write although the gateways belong to another HBase cluster than the one stored on this host, and store the new "
     "one"},
};

const TideCommand tide_command_run = {
    .name = "run",
    .summary = "Runs the daemon: reads from Kafka and writes to HBase until it is stopped.",
    .exits =
        {{TIDE_EXIT_OK, "everything was written"},
         {TIDE_EXIT_DATA,
          "with --until-end: a message that cannot be used halted a partition, too many messages became dead letters, "
          "or HBase refuses a remaining row without naming a cause"},
         {TIDE_EXIT_UNAVAILABLE,
          "with startup: fail or --until-end: a topic, table or family is missing, or a server is unreachable for too "
          "long; with --until-end: a remaining row gets no answer"},
         {TIDE_EXIT_TEMPFAIL,
          "some messages were left for the next start, another daemon uses the state directory or the dead-letter "
          "file, another member has the same kafka.instance, the Kafka client hangs after the wall clock was set back, "
          "or (with --until-end) other members of the group hold partitions"},
         {TIDE_EXIT_PERMISSION,
          "with startup: fail or --until-end: Kafka denies this user access to the topics or the group"},
         {TIDE_EXIT_CONFIG,
          "the configuration is wrong, all gateways belong to another HBase cluster (with startup: fail or "
          "--until-end), or the key of a table with rows was changed: the message shows both keys and the remedies"}},
    .details =
        "SIGTERM or SIGINT: stops reading, writes what is in flight, commits and leaves the group; a second one\n"
        "exits at once. SIGHUP checks the file and applies the changes that need no restart. SIGUSR1 and SIGUSR2\n"
        "log the current state.\n"
        "\n"
        "Examples:\n"
        "  tidemark run -c tidemark.yaml\n"
        "  tidemark run -c tidemark.yaml --until-end",
    TIDE_COMMAND_OPTIONS(run_options, RunOptions),
    .run = run_daemon_alone,
};
