#include "fault/program/daemon_process.h"

#include "util/clock.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static char *
new_file(const char *text, const char *pattern)
{
  g_autoptr(GError) error = NULL;
  char *path = NULL;
  int fd = g_file_open_tmp(pattern, &path, &error);
  g_assert_no_error(error);
  close(fd);
  g_assert_true(g_file_set_contents(path, text, -1, NULL));
  return path;
}

/* In the child: only what may be called between fork and exec. It ends with its test: one that went on would hold the
 * pipe whose end meson waits for. */
static void
become_daemon(char **arguments, char **environment, int stderr_fd)
{
  (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
  dup2(stderr_fd, STDERR_FILENO);
  execve(arguments[0], arguments, environment);
  _exit(127);
}

static char **
arguments_of(const DaemonProcess *process, const DaemonProcessOptions *options)
{
  g_autofree char *line =
      g_strdup_printf("%s run --config %s%s%s", g_getenv("TIDEMARK"), process->config_path,
                      options->words != NULL ? " " : "", options->words != NULL ? options->words : "");
  return g_strsplit(line, " ", -1);
}

DaemonProcess
daemon_process_start(PipelineFixture *fixture, const DaemonProcessOptions *options)
{
  g_assert_nonnull(g_getenv("TIDEMARK"));
  g_autofree char *yaml =
      pipeline_fixture_yaml(fixture, &(RunningPipelineOptions){.gateways = options->gateways,
                                                               .gateway_list = options->gateway_list,
                                                               .group = options->group,
                                                               .options = options->yaml,
                                                               .kafka = options->kafka,
                                                               .topics = options->topics,
                                                               .hbase = options->hbase});
  g_autofree char *text =
      g_strconcat(yaml, strstr(yaml, "service:") != NULL ? "" : "service: { http: \"off\", log_format: text }\n", NULL);
  DaemonProcess process = {.config_path = new_file(text, "tidemark-XXXXXX.yaml"),
                           .log_path = new_file("", "tidemark-XXXXXX.log")};
  g_auto(GStrv) arguments = arguments_of(&process, options);
  g_auto(GStrv) environment = g_get_environ();
  environment = options->state_directory != NULL
                    ? g_environ_setenv(environment, "STATE_DIRECTORY", options->state_directory, TRUE)
                    : g_environ_unsetenv(environment, "STATE_DIRECTORY");
  int log_fd = open(process.log_path, O_WRONLY | O_APPEND | O_CLOEXEC);
  g_assert_cmpint(log_fd, >=, 0);
  process.pid = fork();
  g_assert_cmpint(process.pid, >=, 0);
  if (process.pid == 0)
    become_daemon(arguments, environment, options->stderr_fd != 0 ? options->stderr_fd : log_fd);
  close(log_fd);
  return process;
}

DaemonProcess
daemon_process_start_ready(PipelineFixture *fixture, const char *yaml)
{
  DaemonProcess process = daemon_process_start(fixture, &(DaemonProcessOptions){.gateways = 1, .yaml = yaml});
  daemon_process_wait_log(&process, "ready:");
  return process;
}

char *
daemon_process_log(const DaemonProcess *process)
{
  char *text = NULL;
  g_assert_true(g_file_get_contents(process->log_path, &text, NULL, NULL));
  return text;
}

void
daemon_process_assert_said(const DaemonProcess *process, const char *part)
{
  g_autofree char *log = daemon_process_log(process);
  if (strstr(log, part) == NULL)
    g_error("not said: '%s' in:\n%s", part, log);
}

void
daemon_process_assert_silent(const DaemonProcess *process, const char *part)
{
  g_autofree char *log = daemon_process_log(process);
  if (strstr(log, part) != NULL)
    g_error("said: '%s' in:\n%s", part, log);
}

void
daemon_process_wait_log(const DaemonProcess *process, const char *part)
{
  gint64 deadline_us = pipeline_fixture_deadline_us();
  for (;;) {
    g_autofree char *log = daemon_process_log(process);
    if (strstr(log, part) != NULL)
      return;
    if (tide_now_us() >= deadline_us)
      g_error("the daemon did not say '%s' but:\n%s", part, log);
    pipeline_fixture_wait_a_little(G_MAXINT64, part);
  }
}

void
daemon_process_signal(const DaemonProcess *process, int signal_number)
{
  g_assert_cmpint(process->pid, >, 0);
  g_assert_cmpint(kill(process->pid, signal_number), ==, 0);
}

int
daemon_process_wait_end(DaemonProcess *process, gint64 timeout_us)
{
  gint64 deadline_us = tide_now_us() + timeout_us;
  int status = 0;
  while (waitpid(process->pid, &status, WNOHANG) == 0)
    pipeline_fixture_wait_a_little(deadline_us, "the daemon's end");
  process->pid = 0;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int
daemon_process_stop_for_code(DaemonProcess *process)
{
  daemon_process_signal(process, SIGTERM);
  return daemon_process_wait_end(process, 60 * TIDE_US_PER_S);
}

void
daemon_process_stop(DaemonProcess *process)
{
  g_assert_cmpint(daemon_process_stop_for_code(process), ==, 0);
}

/* What it keeps beside its configuration where that names no place. */
static void
remove_dead_letters(const char *config_path)
{
  static const char *const ends[] = {".dead-letters.jsonl", ".dead-letters.jsonl.lock"};
  g_autofree char *stem = g_strndup(config_path, strlen(config_path) - strlen(".yaml"));
  for (gsize i = 0; i < G_N_ELEMENTS(ends); i++) {
    g_autofree char *path = g_strconcat(stem, ends[i], NULL);
    unlink(path);
  }
}

void
daemon_process_clear(DaemonProcess *process)
{
  if (process->pid > 0) {
    kill(process->pid, SIGKILL);
    waitpid(process->pid, NULL, 0);
  }
  if (process->config_path != NULL) {
    remove_dead_letters(process->config_path);
    unlink(process->config_path);
  }
  if (process->log_path != NULL)
    unlink(process->log_path);
  g_clear_pointer(&process->config_path, g_free);
  g_clear_pointer(&process->log_path, g_free);
  process->pid = 0;
}
