/* A schema registry of the test's own, that speaks the documented API and fails as it is told. */
#pragma once

#include "util/clock.h"
#include "util/lock.h"

#include <arpa/inet.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

typedef enum RegistryDoubleMode {
  REGISTRY_UP,
  REGISTRY_CUTS,       /* closes without an answer */
  REGISTRY_FAILS,      /* 500 */
  REGISTRY_ELSEWHERE,  /* 404 of a server that is no registry */
  REGISTRY_PAGE,       /* 200, but no JSON */
  REGISTRY_WRONG_JSON, /* 200, JSON without a schema */
  REGISTRY_OVERSIZED,  /* an answer without end */
  REGISTRY_HOLDS,      /* no answer before it is told another mode; then as that says */
} RegistryDoubleMode;

#define REGISTRY_DOUBLE_N_IDS 10

typedef struct RegistryDouble {
  int listener;
  guint16 port;
  TideThread *thread;
  TideMutex lock;
  TideCond changed;                     /* it was asked, or is told otherwise */
  RegistryDoubleMode mode;              /* under lock */
  gboolean stops;                       /* under lock */
  atomic_bool wants_user;               /* 401 without tide:secret */
  guint n_asked[REGISTRY_DOUBLE_N_IDS]; /* under lock */
} RegistryDouble;

/* Long enough for a sanitized build on a busy machine; a test that works never waits for it. */
#define REGISTRY_DOUBLE_TIMEOUT_US (240 * TIDE_US_PER_S)

#define REGISTRY_RECORD(fields) "{\\\"type\\\":\\\"record\\\",\\\"name\\\":\\\"R\\\",\\\"fields\\\":[" fields "]}"
#define REGISTRY_FIELD(name, type) "{\\\"name\\\":\\\"" name "\\\",\\\"type\\\":\\\"" type "\\\"}"

/* By id: host, ts and v; w added; v removed; v widened; of another language; no schema. */
static const char *const registry_double_schemas[REGISTRY_DOUBLE_N_IDS] = {
    [1] = "{\"schema\":\"" REGISTRY_RECORD(
        REGISTRY_FIELD("host", "string") "," REGISTRY_FIELD("ts", "long") "," REGISTRY_FIELD("v", "int")) "\"}",
    [2] = "{\"schemaType\":\"AVRO\",\"schema\":\"" REGISTRY_RECORD(REGISTRY_FIELD("host", "string") "," REGISTRY_FIELD(
        "ts", "long") "," REGISTRY_FIELD("w", "string") "," REGISTRY_FIELD("v", "int")) "\"}",
    [3] = "{\"schema\":\"" REGISTRY_RECORD(
        REGISTRY_FIELD("host", "string") "," REGISTRY_FIELD("ts", "long") "," REGISTRY_FIELD("w", "string")) "\"}",
    [4] = "{\"schema\":\"" REGISTRY_RECORD(
        REGISTRY_FIELD("host", "string") "," REGISTRY_FIELD("ts", "long") "," REGISTRY_FIELD("v", "double")) "\"}",
    [5] = "{\"schemaType\":\"PROTOBUF\",\"schema\":\"syntax\"}",
    [6] = "{\"schema\":\"{\\\"type\\\":\\\"nothing\\\"}\"}",
};

static inline void
registry_double_send(int connection, const char *text, gsize len)
{
  while (len > 0) {
    gssize n = send(connection, text, len, MSG_NOSIGNAL);
    if (n <= 0)
      return;
    text += n;
    len -= (gsize)n;
  }
}

static inline void
registry_double_reply(int connection, const char *status, const char *body)
{
  g_autofree char *text = g_strdup_printf("HTTP/1.1 %s\r\nContent-Type: application/vnd.schemaregistry.v1+json\r\n"
                                          "Content-Length: %zu\r\nConnection: close\r\n\r\n%s",
                                          status, strlen(body), body);
  registry_double_send(connection, text, strlen(text));
}

static inline void
registry_double_oversize(int connection)
{
  static const char head[] = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n";
  g_autofree char *many = g_strnfill(65536, ' ');
  registry_double_send(connection, head, strlen(head));
  for (guint i = 0; i < 64; i++)
    registry_double_send(connection, many, 65536);
}

static inline void
registry_double_set_mode(RegistryDouble *registry, RegistryDoubleMode mode)
{
  tide_mutex_lock(&registry->lock);
  registry->mode = mode;
  tide_cond_broadcast(&registry->changed);
  tide_mutex_unlock(&registry->lock);
}

static inline guint
registry_double_n_asked(RegistryDouble *registry, guint id)
{
  tide_mutex_lock(&registry->lock);
  guint n = registry->n_asked[id];
  tide_mutex_unlock(&registry->lock);
  return n;
}

/* Until it was asked for @id so often. */
static inline void
registry_double_wait_asked(RegistryDouble *registry, guint id, guint n)
{
  gint64 deadline_us = tide_now_us() + REGISTRY_DOUBLE_TIMEOUT_US;
  tide_mutex_lock(&registry->lock);
  while (registry->n_asked[id] < n)
    g_assert_true(tide_cond_wait_until(&registry->changed, &registry->lock, deadline_us));
  tide_mutex_unlock(&registry->lock);
}

/* How to answer; HOLDS: not at all. */
static inline RegistryDoubleMode
registry_double_note_asked(RegistryDouble *registry, guint64 id)
{
  tide_mutex_lock(&registry->lock);
  if (id < REGISTRY_DOUBLE_N_IDS)
    registry->n_asked[id]++;
  tide_cond_broadcast(&registry->changed);
  while (registry->mode == REGISTRY_HOLDS && !registry->stops)
    tide_cond_wait(&registry->changed, &registry->lock);
  RegistryDoubleMode mode = registry->mode;
  tide_mutex_unlock(&registry->lock);
  return mode;
}

static inline void
registry_double_answer(RegistryDouble *registry, int connection, const char *request)
{
  guint64 id = 0;
  if (g_str_has_prefix(request, "GET /sub/schemas/ids/"))
    id = g_ascii_strtoull(request + strlen("GET /sub/schemas/ids/"), NULL, 10);
  switch (registry_double_note_asked(registry, id)) {
  case REGISTRY_CUTS:
  case REGISTRY_HOLDS:
    return;
  case REGISTRY_FAILS:
    registry_double_reply(connection, "500 Error", "{\"error_code\":50001,\"message\":\"store\"}");
    return;
  case REGISTRY_ELSEWHERE:
    registry_double_reply(connection, "404 Not Found", "{\"error_code\":404,\"message\":\"HTTP 404\"}");
    return;
  case REGISTRY_PAGE:
    registry_double_reply(connection, "200 OK", "<html>Please log in</html>");
    return;
  case REGISTRY_WRONG_JSON:
    registry_double_reply(connection, "200 OK", "{\"schema\":5}");
    return;
  case REGISTRY_OVERSIZED:
    registry_double_oversize(connection);
    return;
  case REGISTRY_UP:
    break;
  }
  if (atomic_load(&registry->wants_user) && strstr(request, "Authorization: Basic dGlkZTpzZWNyZXQ=") == NULL)
    registry_double_reply(connection, "401 Unauthorized", "{\"error_code\":401,\"message\":\"who?\"}");
  else if (id < REGISTRY_DOUBLE_N_IDS && registry_double_schemas[id] != NULL)
    registry_double_reply(connection, "200 OK", registry_double_schemas[id]);
  else
    registry_double_reply(connection, "404 Not Found", "{\"error_code\":40403,\"message\":\"Schema not found\"}");
}

static inline void
registry_double_run(gpointer data)
{
  RegistryDouble *registry = data;
  int connection;
  while ((connection = accept(registry->listener, NULL, NULL)) >= 0) {
    char request[8192] = "";
    gsize len = 0;
    while (strstr(request, "\r\n\r\n") == NULL && len < sizeof request - 1) {
      gssize n = recv(connection, request + len, sizeof request - 1 - len, 0);
      if (n <= 0)
        break;
      len += (gsize)n;
      request[len] = '\0';
    }
    if (strstr(request, "\r\n\r\n") != NULL)
      registry_double_answer(registry, connection, request);
    close(connection);
  }
}

static inline void
registry_double_start(RegistryDouble *registry)
{
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t len = sizeof address;
  *registry = (RegistryDouble){.listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  g_assert_cmpint(bind(registry->listener, (struct sockaddr *)&address, len), ==, 0);
  g_assert_cmpint(listen(registry->listener, 16), ==, 0);
  g_assert_cmpint(getsockname(registry->listener, (struct sockaddr *)&address, &len), ==, 0);
  registry->port = ntohs(address.sin_port);
  tide_mutex_init(&registry->lock);
  tide_cond_init(&registry->changed);
  registry->thread = tide_thread_start("registry-double", registry_double_run, registry);
}

static inline void
registry_double_stop(RegistryDouble *registry)
{
  tide_mutex_lock(&registry->lock);
  registry->stops = TRUE;
  tide_cond_broadcast(&registry->changed);
  tide_mutex_unlock(&registry->lock);
  shutdown(registry->listener, SHUT_RDWR); /* ends accept() */
  tide_thread_join(registry->thread);
  close(registry->listener);
  tide_cond_clear(&registry->changed);
  tide_mutex_clear(&registry->lock);
}
