#include "thrift/client/resolver.h"

#include "util/clock.h"
#include "util/error.h"
#include "util/job.h"

#include <errno.h>
#include <netdb.h>

typedef struct Lookup {
  /* set before start, then read-only */
  char *host; /* owned */
  char service[6];
  /* the result */
  struct addrinfo *addresses; /* owned */
  int status;                 /* of getaddrinfo() */
  int status_errno;           /* with EAI_SYSTEM */
} Lookup;

static void
run_lookup(gpointer data)
{
  Lookup *lookup = data;
  struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
  lookup->status = getaddrinfo(lookup->host, lookup->service, &hints, &lookup->addresses);
  lookup->status_errno = errno;
}

static void
lookup_free(gpointer data)
{
  Lookup *lookup = data;
  if (lookup->addresses != NULL)
    freeaddrinfo(lookup->addresses);
  g_free(lookup->host);
  g_free(lookup);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Lookup, lookup_free)

static TideJobKind lookups = {
    .thread_name = "tide-lookup", .run = run_lookup, .free_data = lookup_free, .lock = {PTHREAD_MUTEX_INITIALIZER}};

guint
tide_resolver_reap(void)
{
  return tide_job_reap(&lookups);
}

static GPtrArray *
socket_addresses(const struct addrinfo *first)
{
  GPtrArray *addresses = g_ptr_array_new_with_free_func(g_object_unref);
  for (const struct addrinfo *info = first; info != NULL; info = info->ai_next) {
    GSocketAddress *address = g_socket_address_new_from_native(info->ai_addr, info->ai_addrlen);
    if (address != NULL)
      g_ptr_array_add(addresses, address);
  }
  return addresses;
}

GPtrArray *
tide_resolver_lookup(const char *host, guint16 port, gint64 deadline_us, GCancellable *cancellable, GError **error)
{
  char service[6];
  g_snprintf(service, sizeof service, "%u", port);
  struct addrinfo hints = {
      .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV};
  struct addrinfo *numeric = NULL;
  if (getaddrinfo(host, service, &hints, &numeric) == 0) {
    GPtrArray *addresses = socket_addresses(numeric);
    freeaddrinfo(numeric);
    return addresses;
  }

  guint waiting = tide_resolver_reap();
  if (waiting >= TIDE_RESOLVER_ABANDONED_MAX) {
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_CONNECT,
                "cannot look up host '%s': %u earlier lookups still wait for the name server", host, waiting);
    return NULL;
  }
  gint64 started_us = tide_now_us();
  Lookup *lookup = g_new0(Lookup, 1);
  lookup->host = g_strdup(host);
  g_strlcpy(lookup->service, service, sizeof lookup->service);
  TideJob *job = tide_job_start(&lookups, lookup);
  if (job == NULL) {
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_CONNECT, "cannot look up host '%s': %s", host, g_strerror(errno));
    return NULL;
  }
  if (tide_job_wait(job, deadline_us, cancellable)) {
    g_autoptr(Lookup) ended = tide_job_take(job);
    if (ended->status == 0)
      return socket_addresses(ended->addresses);
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_CONNECT, "cannot look up host '%s': %s", host,
                ended->status == EAI_SYSTEM ? g_strerror(ended->status_errno) : gai_strerror(ended->status));
    return NULL;
  }
  tide_job_abandon(job);
  if (g_cancellable_is_cancelled(cancellable))
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_CANCELLED, "the lookup of host '%s' was cancelled", host);
  else
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_CONNECT,
                "cannot look up host '%s': the name server did not answer within %" G_GINT64_FORMAT " ms", host,
                (tide_now_us() - started_us) / TIDE_US_PER_MS);
  return NULL;
}
