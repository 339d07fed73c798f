/* Look-ups under a deadline, with a name server that does as it is told: getaddrinfo() is replaced by the one below. */
#define _GNU_SOURCE
#include "thrift/client/resolver.h"

#include "thrift/client/socket_stream.h"
#include "unit/loopback_server.h"
#include "unit/test_case.h"
#include "util/clock.h"
#include "util/error.h"

#include <dlfcn.h>
#include <netdb.h>

#define GENEROUS_MS 10000
#define SHORT_MS 100

typedef int (*LookUp)(const char *, const char *, const struct addrinfo *, struct addrinfo **);

static TideMutex lock;
static TideCond changed;
static gboolean released; /* under lock: "slow.test" is answered */
static guint begun;       /* under lock: look-ups of "slow.test" that were begun */
static guint ended;       /* under lock */

static int
system_look_up(const char *host, const char *service, const struct addrinfo *hints, struct addrinfo **ret)
{
  LookUp next = (LookUp)dlsym(RTLD_NEXT, "getaddrinfo");
  return next(host, service, hints, ret);
}

/* Takes the place of the C library's. */
int
getaddrinfo(const char *host, const char *service, const struct addrinfo *hints, struct addrinfo **ret)
{
  if (hints != NULL && (hints->ai_flags & AI_NUMERICHOST) != 0)
    return system_look_up(host, service, hints, ret);
  if (g_str_equal(host, "slow.test")) {
    tide_mutex_lock(&lock);
    begun++;
    tide_cond_broadcast(&changed);
    while (!released)
      tide_cond_wait(&changed, &lock);
    ended++;
    tide_cond_broadcast(&changed);
    tide_mutex_unlock(&lock);
    return system_look_up("127.0.0.1", service, hints, ret);
  }
  if (g_str_equal(host, "two.test")) { /* 127.0.0.2, where nobody listens, then 127.0.0.1 */
    int status = system_look_up("127.0.0.2", service, hints, ret);
    return status != 0 ? status : system_look_up("127.0.0.1", service, hints, &(*ret)->ai_next);
  }
  if (g_str_equal(host, "known.test"))
    return system_look_up("127.0.0.1", service, hints, ret);
  return EAI_NONAME;
}

static gint64
in_ms(gint64 ms)
{
  return tide_now_us() + ms * TIDE_US_PER_MS;
}

TEST("/resolver/names-and-numbers-are-found")
{
  static const char *const hosts[] = {"known.test", "127.0.0.1", "::1"};
  for (gsize i = 0; i < G_N_ELEMENTS(hosts); i++) {
    g_autoptr(GError) error = NULL;
    g_autoptr(GPtrArray) addresses = tide_resolver_lookup(hosts[i], 9090, in_ms(GENEROUS_MS), NULL, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(addresses->len, ==, 1);
    GInetSocketAddress *address = g_ptr_array_index(addresses, 0);
    g_assert_cmpuint(g_inet_socket_address_get_port(address), ==, 9090);
    g_assert_cmpint(g_inet_address_get_is_loopback(g_inet_socket_address_get_address(address)), ==, TRUE);
  }
}

TEST("/resolver/unknown-host-is-named")
{
  g_autoptr(GError) error = NULL;
  g_assert_null(tide_resolver_lookup("nowhere.test", 9090, in_ms(GENEROUS_MS), NULL, &error));
  g_assert_error(error, TIDE_ERROR, TIDE_ERROR_CONNECT);
  g_assert_cmpstr(error->message, ==, "cannot look up host 'nowhere.test': Name or service not known");
}

TEST("/resolver/next-address-is-tried")
{
  int fd;
  g_autoptr(TideEndpoint) listening = loopback_listen("127.0.0.1", 4, &fd);
  g_autofree char *text = g_strdup_printf("two.test:%u", listening->port);
  g_autoptr(TideEndpoint) endpoint = tide_endpoint_parse(text, NULL);
  TideCallLimits limits = {.peer = text, .started_us = tide_now_us(), .deadline_us = in_ms(GENEROUS_MS)};
  g_autoptr(GError) error = NULL;
  g_autoptr(GSocket) socket = tide_socket_connect(endpoint, &limits, &error);
  g_assert_no_error(error);
  g_assert_nonnull(socket);
  close(fd);
  g_clear_object(&socket);

  socket = tide_socket_connect(endpoint, &limits, &error);
  g_assert_null(socket);
  g_assert_error(error, TIDE_ERROR, TIDE_ERROR_CONNECT);
  g_autofree char *expected = g_strdup_printf(
      "cannot connect to gateway '%s': 127.0.0.2: connection refused; 127.0.0.1: connection refused", text);
  g_assert_cmpstr(error->message, ==, expected);
}

static void
cancel_when_begun(gpointer cancellable)
{
  tide_mutex_lock(&lock);
  while (begun == 0)
    tide_cond_wait(&changed, &lock);
  tide_mutex_unlock(&lock);
  g_cancellable_cancel(cancellable);
}

static void
release_all(void)
{
  tide_mutex_lock(&lock);
  released = TRUE;
  tide_cond_broadcast(&changed);
  while (ended < begun)
    tide_cond_wait(&changed, &lock);
  tide_mutex_unlock(&lock);
}

/* Look-ups that are given up go on; when too many do, a new one fails at once; when they end, all is well again. */
TEST("/resolver/abandoned-look-ups-are-bounded-and-freed")
{
  g_autoptr(GCancellable) cancellable = g_cancellable_new();
  GPollFD held; /* as the client does: its descriptor is there before the thread that writes to it, and after */
  g_assert_true(g_cancellable_make_pollfd(cancellable, &held));
  TideThread *thread = tide_thread_start("test-cancel", cancel_when_begun, cancellable);
  g_autoptr(GError) error = NULL;
  g_assert_null(tide_resolver_lookup("slow.test", 1, in_ms(GENEROUS_MS), cancellable, &error));
  g_assert_error(error, TIDE_ERROR, TIDE_ERROR_CANCELLED);
  g_clear_error(&error);
  tide_thread_join(thread);
  g_cancellable_release_fd(cancellable);

  for (guint i = 1; i < TIDE_RESOLVER_ABANDONED_MAX; i++) {
    gint64 wait_ms = i == 1 ? SHORT_MS : 1;
    g_assert_null(tide_resolver_lookup("slow.test", 1, in_ms(wait_ms), NULL, &error));
    g_assert_error(error, TIDE_ERROR, TIDE_ERROR_CONNECT);
    g_assert_nonnull(strstr(error->message, "cannot look up host 'slow.test': the name server did not answer within"));
    g_clear_error(&error);
  }

  g_assert_null(tide_resolver_lookup("known.test", 1, in_ms(GENEROUS_MS), NULL, &error));
  g_assert_error(error, TIDE_ERROR, TIDE_ERROR_CONNECT);
  g_assert_nonnull(strstr(error->message, "16 earlier lookups still wait"));
  g_clear_error(&error);

  release_all();
  gint64 deadline_us = in_ms(GENEROUS_MS);
  while (tide_resolver_reap() > 0 && tide_now_us() < deadline_us) /* they end a moment after they were released */
    g_thread_yield();
  g_assert_cmpuint(tide_resolver_reap(), ==, 0);
  g_autoptr(GPtrArray) addresses = tide_resolver_lookup("known.test", 1, in_ms(GENEROUS_MS), NULL, &error);
  g_assert_no_error(error);
  g_assert_nonnull(addresses);
}

int
main(int argc, char **argv)
{
  tide_mutex_init(&lock);
  tide_cond_init(&changed);
  g_test_init(&argc, &argv, NULL);
  test_cases_add();
  return g_test_run();
}
