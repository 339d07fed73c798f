/* What systemd is told, read from the other end of its socket. */
#include "service/notify.h"

#include <glib/gstdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* systemd's end. */
typedef struct Manager {
  int fd;
  char *directory; /* owned; NULL for an abstract socket */
  char *path;      /* owned */
} Manager;

static Manager
manager_start(gboolean is_abstract)
{
  Manager manager = {.fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
  g_assert_cmpint(manager.fd, >=, 0);
  if (is_abstract) {
    manager.path = g_strdup_printf("@tidemark-test-notify-%d", (int)getpid());
  } else {
    manager.directory = g_dir_make_tmp("tide-notify-XXXXXX", NULL);
    manager.path = g_build_filename(manager.directory, "socket", NULL);
  }
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  gsize path_len = strlen(manager.path);
  g_assert_cmpuint(path_len, <, sizeof address.sun_path);
  memcpy(address.sun_path, manager.path, path_len);
  if (is_abstract)
    address.sun_path[0] = '\0';
  socklen_t address_bytes = (socklen_t)(G_STRUCT_OFFSET(struct sockaddr_un, sun_path) + path_len);
  g_assert_cmpint(bind(manager.fd, (const struct sockaddr *)&address, address_bytes), ==, 0);
  g_setenv("NOTIFY_SOCKET", manager.path, TRUE);
  return manager;
}

static void
manager_stop(Manager *manager)
{
  g_unsetenv("NOTIFY_SOCKET");
  close(manager->fd);
  if (manager->directory != NULL) {
    g_unlink(manager->path);
    g_rmdir(manager->directory);
  }
  g_free(manager->directory);
  g_free(manager->path);
}

/* The next message, or NULL: sending is synchronous, so what was sent is there. */
static char *
manager_received(const Manager *manager)
{
  char message[4096];
  gssize n = recv(manager->fd, message, sizeof message, MSG_DONTWAIT);
  return n < 0 ? NULL : g_strndup(message, (gsize)n);
}

static void
assert_received(const Manager *manager, const char *expected)
{
  g_autofree char *message = manager_received(manager);
  g_assert_cmpstr(message, ==, expected);
}

static void
test_each_state_is_one_message(gconstpointer is_abstract)
{
  Manager manager = manager_start(GPOINTER_TO_INT(is_abstract));
  tide_notify_ready();
  assert_received(&manager, "READY=1");
  tide_notify_status("assigned %d parts, lag %s", 6, "1.2k");
  assert_received(&manager, "STATUS=assigned 6 parts, lag 1.2k");
  tide_notify_watchdog();
  assert_received(&manager, "WATCHDOG=1");
  tide_notify_extend_timeout(G_GINT64_CONSTANT(30000000));
  assert_received(&manager, "EXTEND_TIMEOUT_USEC=30000000");
  tide_notify_stopping();
  assert_received(&manager, "STOPPING=1");
  assert_received(&manager, NULL);
  manager_stop(&manager);
}

static void
test_a_status_cannot_say_something_else(void)
{
  Manager manager = manager_start(FALSE);
  tide_notify_status("gateway said '%s'", "x\nREADY=1\nMAINPID=1");
  assert_received(&manager, "STATUS=gateway said 'x\\x0AREADY=1\\x0AMAINPID=1'");

  g_autofree char *long_text = g_strnfill(100000, 'x');
  tide_notify_status("%s", long_text);
  g_autofree char *message = manager_received(&manager);
  g_assert_nonnull(message);
  g_assert_cmpuint(strlen(message), <, 512);
  g_assert_true(g_str_has_suffix(message, "xxx..."));
  manager_stop(&manager);
}

static void
test_without_systemd_nothing_happens(void)
{
  g_unsetenv("NOTIFY_SOCKET");
  tide_notify_ready();
  tide_notify_status("nobody %s", "reads this");
  tide_notify_watchdog();
  tide_notify_extend_timeout(1);
  tide_notify_stopping();

  g_setenv("NOTIFY_SOCKET", "/nonexistent/socket", TRUE);
  tide_notify_ready();
  g_unsetenv("NOTIFY_SOCKET");
}

static void
test_watchdog_interval_is_ours_alone(void)
{
  g_autofree char *our_pid = g_strdup_printf("%d", (int)getpid());
  const struct {
    const char *interval, *pid;
    gint64 interval_us;
  } cases[] = {
      {NULL, NULL, 0},
      {"30000000", NULL, 30000000},
      {"30000000", our_pid, 30000000},
      {"30000000", "1", 0},
      {"0", NULL, 0},
      {"soon", NULL, 0},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_unsetenv("WATCHDOG_USEC");
    g_unsetenv("WATCHDOG_PID");
    if (cases[i].interval != NULL)
      g_setenv("WATCHDOG_USEC", cases[i].interval, TRUE);
    if (cases[i].pid != NULL)
      g_setenv("WATCHDOG_PID", cases[i].pid, TRUE);
    g_assert_cmpint(tide_notify_watchdog_interval_us(), ==, cases[i].interval_us);
  }
  g_unsetenv("WATCHDOG_USEC");
  g_unsetenv("WATCHDOG_PID");
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_data_func("/notify/state/is-one-message", GINT_TO_POINTER(FALSE), test_each_state_is_one_message);
  g_test_add_data_func("/notify/state/abstract-socket", GINT_TO_POINTER(TRUE), test_each_state_is_one_message);
  g_test_add_func("/notify/status/cannot-say-something-else", test_a_status_cannot_say_something_else);
  g_test_add_func("/notify/none/nothing-happens-without-systemd", test_without_systemd_nothing_happens);
  g_test_add_func("/notify/watchdog/interval-is-ours-alone", test_watchdog_interval_is_ours_alone);
  return g_test_run();
}
