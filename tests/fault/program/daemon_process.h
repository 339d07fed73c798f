/* `tidemark run` as a child process between a mock Kafka and scripted gateways, for what only the whole program shows:
 * signals, exit codes and descriptors. */
#pragma once

#include "fault/pipeline/pipeline_fixture.h"

G_BEGIN_DECLS

typedef struct DaemonProcess {
  pid_t pid;         /* 0 once it has ended */
  char *config_path; /* owned; unlinked at the end */
  char *log_path;    /* owned; unlinked at the end: what it wrote to standard error */
} DaemonProcess;

typedef struct DaemonProcessOptions {
  const char *yaml;            /* further lines at the top level, as of running_pipeline_start(); NULL: none */
  const char *kafka;           /* as of RunningPipelineOptions */
  const char *topics;          /* likewise */
  const char *hbase;           /* likewise */
  guint gateways;              /* how many of the fixture's are configured */
  const char *gateway_list;    /* likewise */
  const char *group;           /* likewise */
  const char *state_directory; /* $STATE_DIRECTORY; NULL: unset */
  const char *words;           /* further arguments, parted by single spaces; NULL: none */
  int stderr_fd;               /* what it has for standard error; 0: a file, as daemon_process_wait_log() needs */
} DaemonProcessOptions;

/* $TIDEMARK names the program. */
DaemonProcess daemon_process_start(PipelineFixture *fixture, const DaemonProcessOptions *options);

/* With the first gateway and those lines, NULL: none; ready. */
DaemonProcess daemon_process_start_ready(PipelineFixture *fixture, const char *yaml);

/* Waits until the log has @part; aborts the test when it does not come in time. */
void daemon_process_wait_log(const DaemonProcess *process, const char *part);
/* All it has written to standard error. (transfer full) */
char *daemon_process_log(const DaemonProcess *process);
void daemon_process_assert_said(const DaemonProcess *process, const char *part);
void daemon_process_assert_silent(const DaemonProcess *process, const char *part);

void daemon_process_signal(const DaemonProcess *process, int signal_number);
/* Waits for the end. Returns: the exit code; 128 and the signal's number when one killed it. Aborts when it takes
 * longer than @timeout_us. */
int daemon_process_wait_end(DaemonProcess *process, gint64 timeout_us);

/* Has it stop, and waits for that. The first: with exit code 0. */
void daemon_process_stop(DaemonProcess *process);
int daemon_process_stop_for_code(DaemonProcess *process);

/* Kills what still runs, removes the files. */
void daemon_process_clear(DaemonProcess *process);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(DaemonProcess, daemon_process_clear)

G_END_DECLS
