/* Asks a running daemon for its /status. */
#pragma once

#include "fault/program/daemon_process.h"
#include "fault/program/run_program.h"
#include "unit/http_client.h"

static inline guint16
status_client_port(const DaemonProcess *daemon)
{
  static const char before[] = "page and metrics at ";
  daemon_process_wait_log(daemon, before);
  g_autofree char *log = daemon_process_log(daemon);
  const char *host = strstr(strstr(log, before), "://") + 3;
  const char *port = g_strrstr_len(host, strchr(host, '/') - host, ":") + 1;
  return (guint16)g_ascii_strtoull(port, NULL, 10);
}

/* The document, without the headers of the reply. (transfer full) */
static inline char *
status_client_ask(const DaemonProcess *daemon)
{
  g_autofree char *reply =
      http_client_ask(http_client_connect(status_client_port(daemon), "127.0.0.1"), "GET /status HTTP/1.1\r\n\r\n");
  g_assert_true(g_str_has_prefix(reply, "HTTP/1.1 200 "));
  assert_prints(reply, "Content-Type: application/json\r\n");
  return g_strdup(strstr(reply, "\r\n\r\n") + 4);
}

/* Asks until the document contains all @parts. (transfer full): the document */
static inline char *
status_client_wait(const DaemonProcess *daemon, const char *const *parts)
{
  gint64 deadline_us = pipeline_fixture_deadline_us();
  for (;;) {
    g_autofree char *document = status_client_ask(daemon);
    guint n = 0;
    while (parts[n] != NULL && strstr(document, parts[n]) != NULL)
      n++;
    if (parts[n] == NULL)
      return g_steal_pointer(&document);
    g_autofree char *what = g_strdup_printf("'%s' in %s", parts[n], document);
    pipeline_fixture_wait_a_little(deadline_us, what);
  }
}

#define WAIT_STATUS(daemon, ...) status_client_wait(daemon, (const char *const[]){__VA_ARGS__, NULL})
