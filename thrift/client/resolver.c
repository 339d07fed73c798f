#include "thrift/client/resolver.h"

#include "util/clock.h"
#include "util/error.h"
#include "util/lock.h"

#include <errno.h>
#include <netdb.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* Owned by the thread that waits for it, then, if that gave up, by the list of abandoned ones. Its own thread only
 * borrows it, and nobody frees it before that thread was joined. */
typedef struct Lookup {
  /* set before start, then read-only */
  char *host; /* owned */
  char service[6];
  int done_fd; /* an eventfd: readable when finished */
  TideThread *thread;
  /* written by the look-up's thread before it sets finished */
  struct addrinfo *addresses; /* owned */
  int status;                 /* of getaddrinfo() */
  int status_errno;           /* with EAI_SYSTEM */
  _Atomic gboolean finished;
} Lookup;

static TideMutex abandoned_lock = {PTHREAD_MUTEX_INITIALIZER};
static GPtrArray
    *abandoned; /* under abandoned_lock; (element-type Lookup); made on first use, lives with the process */

static void
run_lookup(gpointer data)
{
  Lookup *lookup = data;
  struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
  lookup->status = getaddrinfo(lookup->host, lookup->service, &hints, &lookup->addresses);
  lookup->status_errno = errno;
  int done_fd = lookup->done_fd;
  atomic_store(&lookup->finished, TRUE);
  (void)eventfd_write(done_fd, 1); /* cannot fail: the counter is 0 */
}

static void
lookup_free(Lookup *lookup)
{
  tide_thread_join(lookup->thread);
  if (lookup->addresses != NULL)
    freeaddrinfo(lookup->addresses);
  close(lookup->done_fd);
  g_free(lookup->host);
  g_free(lookup);
}

guint
tide_resolver_reap(void)
{
  g_autoptr(GPtrArray) ended = g_ptr_array_new_with_free_func((GDestroyNotify)lookup_free);
  tide_mutex_lock(&abandoned_lock);
  if (abandoned == NULL)
    abandoned = g_ptr_array_new();
  for (guint i = abandoned->len; i > 0; i--) {
    Lookup *lookup = g_ptr_array_index(abandoned, i - 1);
    if (atomic_load(&lookup->finished))
      g_ptr_array_add(ended, g_ptr_array_remove_index_fast(abandoned, i - 1));
  }
  guint running = abandoned->len;
  tide_mutex_unlock(&abandoned_lock);
  return running;
}

static void
abandon(Lookup *lookup)
{
  tide_mutex_lock(&abandoned_lock);
  g_ptr_array_add(abandoned, lookup);
  tide_mutex_unlock(&abandoned_lock);
}

/* FALSE when @deadline_us passed or @cancellable was cancelled before the look-up ended. */
static gboolean
wait_for(const Lookup *lookup, gint64 deadline_us, GCancellable *cancellable)
{
  GPollFD fds[2] = {{.fd = lookup->done_fd, .events = G_IO_IN}};
  guint n_fds = cancellable != NULL && g_cancellable_make_pollfd(cancellable, &fds[1]) ? 2 : 1;
  while (!atomic_load(&lookup->finished) && !g_cancellable_is_cancelled(cancellable)) {
    gint64 left_us = deadline_us - tide_now_us();
    if (left_us <= 0)
      break;
    gint64 left_ms = (left_us + TIDE_US_PER_MS - 1) / TIDE_US_PER_MS;
    (void)g_poll(fds, n_fds, (gint)MIN(left_ms, G_MAXINT)); /* an interruption is a turn of the loop */
  }
  if (n_fds == 2)
    g_cancellable_release_fd(cancellable);
  return atomic_load(&lookup->finished);
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

static GPtrArray *
result_of(const Lookup *lookup, GError **error)
{
  if (lookup->status == 0)
    return socket_addresses(lookup->addresses);
  const char *reason = lookup->status == EAI_SYSTEM ? g_strerror(lookup->status_errno) : gai_strerror(lookup->status);
  g_set_error(error, TIDE_ERROR, TIDE_ERROR_CONNECT, "cannot look up host '%s': %s", lookup->host, reason);
  return NULL;
}

static GPtrArray *
numeric_addresses(const char *host, const char *service)
{
  struct addrinfo hints = {
      .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV};
  struct addrinfo *found = NULL;
  if (getaddrinfo(host, service, &hints, &found) != 0)
    return NULL;
  GPtrArray *addresses = socket_addresses(found);
  freeaddrinfo(found);
  return addresses;
}

GPtrArray *
tide_resolver_lookup(const char *host, guint16 port, gint64 deadline_us, GCancellable *cancellable, GError **error)
{
  char service[6];
  g_snprintf(service, sizeof service, "%u", port);
  GPtrArray *numeric = numeric_addresses(host, service);
  if (numeric != NULL)
    return numeric;

  guint waiting = tide_resolver_reap();
  if (waiting >= TIDE_RESOLVER_ABANDONED_MAX) {
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_CONNECT,
                "cannot look up host '%s': %u earlier look-ups still wait for the name server", host, waiting);
    return NULL;
  }
  int done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (done_fd < 0) {
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_CONNECT, "cannot look up host '%s': %s", host, g_strerror(errno));
    return NULL;
  }
  gint64 started_us = tide_now_us();
  Lookup *lookup = g_new0(Lookup, 1);
  lookup->host = g_strdup(host);
  g_strlcpy(lookup->service, service, sizeof lookup->service);
  lookup->done_fd = done_fd;
  lookup->thread = tide_thread_start("tide-lookup", run_lookup, lookup);
  if (wait_for(lookup, deadline_us, cancellable)) {
    GPtrArray *addresses = result_of(lookup, error);
    lookup_free(lookup);
    return addresses;
  }
  abandon(lookup);
  if (g_cancellable_is_cancelled(cancellable))
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_CANCELLED, "the look-up of host '%s' was cancelled", host);
  else
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_CONNECT,
                "cannot look up host '%s': the name server gave no answer within %" G_GINT64_FORMAT " ms", host,
                (tide_now_us() - started_us) / TIDE_US_PER_MS);
  return NULL;
}
