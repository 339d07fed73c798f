/* A schema registry for tests, which implements the documented API and fails as scripted. */
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
  REGISTRY_NONE,       /* has no schema */
  REGISTRY_FORBIDS,    /* 403 of a registry: the user may not read this schema */
  REGISTRY_FAILS,      /* 500 */
  REGISTRY_NO_VERSION, /* 500 for schemas that a schema refers to */
  REGISTRY_MUTE,       /* the same; after a request for schema 1, no reply until the mode changes */
  REGISTRY_ELSEWHERE,  /* 404 of a server that is not a registry */
  REGISTRY_PAGE,       /* 200 without JSON */
  REGISTRY_WRONG_JSON, /* 200, JSON without a schema */
  REGISTRY_BAD,        /* each schema has a different defect */
  REGISTRY_OVERSIZED,  /* an endless reply */
  REGISTRY_HOLDS,      /* no reply until the mode changes; then a reply in that mode */
} RegistryDoubleMode;

#define REGISTRY_DOUBLE_N_IDS 20

typedef struct RegistryDouble {
  int listener;
  guint16 port;
  TideThread *thread;
  TideMutex lock;
  TideCond changed;                     /* signalled by a request, and by a change of the mode */
  RegistryDoubleMode mode;              /* under lock */
  gboolean stops;                       /* under lock */
  atomic_bool wants_user;               /* 401 without tide:secret */
  guint n_asked[REGISTRY_DOUBLE_N_IDS]; /* under lock; 0: for versions of subjects */
} RegistryDouble;

/* Long enough for a sanitized build on a busy host; only a failing test waits for it. */
#define REGISTRY_DOUBLE_TIMEOUT_US (240 * TIDE_US_PER_S)

#define REGISTRY_RECORD(fields) "{\\\"type\\\":\\\"record\\\",\\\"name\\\":\\\"R\\\",\\\"fields\\\":[" fields "]}"
#define REGISTRY_FIELD(name, type) "{\\\"name\\\":\\\"" name "\\\",\\\"type\\\":\\\"" type "\\\"}"

#define REGISTRY_REFERENCE(name, subject, version)                                                                     \
  "{\"name\":\"" name "\",\"subject\":\"" subject "\",\"version\":" version "}"
/* host, ts and @name, whose type is declared elsewhere. */
#define REGISTRY_REFERRING(name, type, references)                                                                     \
  "{\"schema\":\"" REGISTRY_RECORD(REGISTRY_FIELD("host", "string") "," REGISTRY_FIELD(                                \
      "ts", "long") "," REGISTRY_FIELD(name, type)) "\",\"references\":[" references "]}"

/* By id: host, ts and v; w added; v removed; v widened; another language; not a schema; and schemas with references:
 * correct, circular, to a missing subject, to another language, too deep, too many, too large, and to a type that none
 * of them declares. */
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
    [7] = REGISTRY_REFERRING(
        "site", "plant.Site",
        REGISTRY_REFERENCE("plant.Site", "plant/site", "3") "," REGISTRY_REFERENCE("plant.Zone", "zone", "1")),
    [8] = REGISTRY_REFERRING("a", "A", REGISTRY_REFERENCE("A", "circle", "1")),
    [10] = REGISTRY_REFERRING("a", "A", REGISTRY_REFERENCE("A", "absent", "1")),
    [11] = REGISTRY_REFERRING("a", "A", REGISTRY_REFERENCE("A", "language", "1")),
    [12] = REGISTRY_REFERRING("a", "A", REGISTRY_REFERENCE("N1", "deep", "1")),
    [13] = REGISTRY_REFERRING("a", "A", REGISTRY_REFERENCE("N1", "many", "1")),
    [14] =
        REGISTRY_REFERRING("a", "A", REGISTRY_REFERENCE("N1", "large", "1") "," REGISTRY_REFERENCE("N2", "large", "2")),
    [15] = REGISTRY_REFERRING("a", "A", REGISTRY_REFERENCE("plant.Zone", "zone", "1")),
};

#define REGISTRY_SITE                                                                                                  \
  "{\\\"type\\\":\\\"record\\\",\\\"name\\\":\\\"plant.Site\\\",\\\"fields\\\":[" REGISTRY_FIELD(                      \
      "city", "string") "," REGISTRY_FIELD("zone", "Zone") "]}"
#define REGISTRY_LARGE_BYTES 700000u

/* A schema of type N@n, which refers to the types N(@n+1) to N(@n+n_others). (transfer full) */
static inline char *
registry_double_numbered(guint64 n, const char *subject, guint n_others, gsize doc_bytes)
{
  g_autofree char *doc = g_strnfill(doc_bytes, 'x');
  GString *text = g_string_new(NULL);
  g_string_printf(text,
                  "{\"schema\":\"{\\\"type\\\":\\\"fixed\\\",\\\"size\\\":1,\\\"doc\\\":\\\"%s\\\",\\\"name\\\":"
                  "\\\"N%" G_GUINT64_FORMAT "\\\"}\",\"references\":[",
                  doc, n);
  for (guint i = 1; i <= n_others; i++)
    g_string_append_printf(
        text, "%s{\"name\":\"N%" G_GUINT64_FORMAT "\",\"subject\":\"%s\",\"version\":%" G_GUINT64_FORMAT "}",
        i > 1 ? "," : "", n + i, subject, n + i);
  g_string_append(text, "]}");
  return g_string_free(text, FALSE);
}

/* The reply to GET /subjects/@path, where @path is SUBJECT/versions/VERSION. (transfer full) (nullable) */
static inline char *
registry_double_version(const char *path)
{
  g_auto(GStrv) parts = g_strsplit_set(path, "/ ", 4);
  if (g_strv_length(parts) < 3 || strcmp(parts[1], "versions") != 0)
    return NULL;
  guint64 version = g_ascii_strtoull(parts[2], NULL, 10);
  if (g_str_has_prefix(path, "plant%2Fsite/versions/3 "))
    return g_strdup("{\"schema\":\"" REGISTRY_SITE
                    "\",\"references\":[" REGISTRY_REFERENCE("plant.Zone", "zone", "1") "]}");
  if (g_str_has_prefix(path, "zone/versions/1 "))
    return g_strdup("{\"schema\":\"{\\\"type\\\":\\\"enum\\\",\\\"name\\\":\\\"plant.Zone\\\","
                    "\\\"symbols\\\":[\\\"N\\\",\\\"S\\\"]}\"}");
  if (strcmp(parts[0], "circle") == 0)
    return g_strdup_printf("{\"schema\":\"\\\"int\\\"\",\"references\":[{\"name\":\"%s\",\"subject\":\"circle\","
                           "\"version\":%u}]}",
                           version == 1 ? "B" : "A", version == 1 ? 2 : 1);
  if (strcmp(parts[0], "language") == 0)
    return g_strdup("{\"schemaType\":\"PROTOBUF\",\"schema\":\"syntax\"}");
  if (strcmp(parts[0], "deep") == 0)
    return registry_double_numbered(version, "deep", 1, 0);
  if (strcmp(parts[0], "many") == 0)
    return registry_double_numbered(version, "many", version == 1 ? 200 : 0, 0);
  if (strcmp(parts[0], "large") == 0)
    return registry_double_numbered(version, "large", 0, REGISTRY_LARGE_BYTES);
  return NULL;
}

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

/* Waits until @id was requested this often. */
static inline void
registry_double_wait_asked(RegistryDouble *registry, guint id, guint n)
{
  gint64 deadline_us = tide_now_us() + REGISTRY_DOUBLE_TIMEOUT_US;
  tide_mutex_lock(&registry->lock);
  while (registry->n_asked[id] < n)
    g_assert_true(tide_cond_wait_until(&registry->changed, &registry->lock, deadline_us));
  tide_mutex_unlock(&registry->lock);
}

static inline gboolean
registry_double_holds_locked(const RegistryDouble *registry, guint64 id)
{
  return registry->mode == REGISTRY_HOLDS || (registry->mode == REGISTRY_MUTE && id == 0 && registry->n_asked[1] > 0);
}

/* The mode of the next reply; HOLDS: none. */
static inline RegistryDoubleMode
registry_double_note_asked(RegistryDouble *registry, guint64 id)
{
  tide_mutex_lock(&registry->lock);
  if (id < REGISTRY_DOUBLE_N_IDS)
    registry->n_asked[id]++;
  tide_cond_broadcast(&registry->changed);
  while (registry_double_holds_locked(registry, id) && !registry->stops)
    tide_cond_wait(&registry->changed, &registry->lock);
  RegistryDoubleMode mode = registry->mode;
  tide_mutex_unlock(&registry->lock);
  return mode;
}

static inline void
registry_double_answer(RegistryDouble *registry, int connection, const char *request)
{
  static const char ids[] = "GET /sub/schemas/ids/", subjects[] = "GET /sub/subjects/";
  guint64 id = 0;
  g_autofree char *version = NULL;
  if (g_str_has_prefix(request, ids))
    id = g_ascii_strtoull(request + strlen(ids), NULL, 10);
  if (g_str_has_prefix(request, subjects))
    version = registry_double_version(request + strlen(subjects));
  switch (registry_double_note_asked(registry, id)) {
  case REGISTRY_CUTS:
  case REGISTRY_HOLDS:
    return;
  case REGISTRY_NONE:
    registry_double_reply(connection, "404 Not Found", "{\"error_code\":40403,\"message\":\"Schema not found\"}");
    return;
  case REGISTRY_FORBIDS:
    registry_double_reply(connection, "403 Forbidden",
                          "{\"error_code\":40301,\"message\":\"User is denied operation Read on Subject: t-value\"}");
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
  case REGISTRY_BAD: {
    g_autofree char *bad = g_strdup_printf("{\"schema\":\"\\\"nothing-%" G_GUINT64_FORMAT "\\\"\"}", id);
    registry_double_reply(connection, "200 OK", bad);
    return;
  }
  case REGISTRY_OVERSIZED:
    registry_double_oversize(connection);
    return;
  case REGISTRY_NO_VERSION:
  case REGISTRY_MUTE:
    if (id == 0) {
      registry_double_reply(connection, "500 Error", "{\"error_code\":50001,\"message\":\"store\"}");
      return;
    }
    break;
  case REGISTRY_UP:
    break;
  }
  if (atomic_load(&registry->wants_user) && strstr(request, "Authorization: Basic dGlkZTpzZWNyZXQ=") == NULL)
    registry_double_reply(connection, "401 Unauthorized", "{\"error_code\":401,\"message\":\"who?\"}");
  else if (version != NULL)
    registry_double_reply(connection, "200 OK", version);
  else if (id == 0)
    registry_double_reply(connection, "404 Not Found", "{\"error_code\":40401,\"message\":\"Subject not found.\"}");
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
