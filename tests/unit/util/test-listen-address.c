/* Addresses to listen on, from the operator's text. */
#include "util/error.h"
#include "util/listen_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/un.h>

static void
test_valid_addresses(void)
{
  static const struct {
    const char *text;
    int family;
    const char *host;
    guint16 port;
  } cases[] = {
      {"127.0.0.1:9464", AF_INET, "127.0.0.1", 9464},
      {"0.0.0.0:0", AF_INET, "0.0.0.0", 0},
      {"10.1.2.3:65535", AF_INET, "10.1.2.3", 65535},
      {"[::1]:9464", AF_INET6, "::1", 9464},
      {"[::]:80", AF_INET6, "::", 80},
      {"[2001:db8::5]:1", AF_INET6, "2001:db8::5", 1},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    TideListenAddress address;
    g_autoptr(GError) error = NULL;
    g_assert_true(tide_listen_address_parse(cases[i].text, &address, &error));
    g_assert_no_error(error);
    g_assert_false(address.is_off);
    g_assert_cmpint(address.address.ss_family, ==, cases[i].family);
    char host[INET6_ADDRSTRLEN];
    if (cases[i].family == AF_INET) {
      const struct sockaddr_in *ipv4 = (const void *)&address.address;
      g_assert_cmpuint(address.address_bytes, ==, sizeof *ipv4);
      g_assert_cmpuint(ntohs(ipv4->sin_port), ==, cases[i].port);
      g_assert_nonnull(inet_ntop(AF_INET, &ipv4->sin_addr, host, sizeof host));
    } else {
      const struct sockaddr_in6 *ipv6 = (const void *)&address.address;
      g_assert_cmpuint(address.address_bytes, ==, sizeof *ipv6);
      g_assert_cmpuint(ntohs(ipv6->sin6_port), ==, cases[i].port);
      g_assert_nonnull(inet_ntop(AF_INET6, &ipv6->sin6_addr, host, sizeof host));
    }
    g_assert_cmpstr(host, ==, cases[i].host);
  }
}

static void
test_unix_sockets(void)
{
  g_autofree char *longest = g_strnfill(106, 'x'), *text = g_strconcat("unix:/", longest, NULL);
  const char *const cases[] = {"unix:/run/tidemark/http.socket", text};
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    TideListenAddress address;
    g_assert_true(tide_listen_address_parse(cases[i], &address, NULL));
    const struct sockaddr_un *path = (const void *)&address.address;
    g_assert_cmpint(path->sun_family, ==, AF_UNIX);
    g_assert_cmpuint(address.address_bytes, ==, sizeof *path);
    g_assert_cmpstr(path->sun_path, ==, cases[i] + strlen("unix:"));
  }
}

static void
test_who_can_reach_it(void)
{
  static const struct {
    const char *text;
    gboolean is_local;
  } cases[] = {
      {"off", TRUE},
      {"unix:/x", TRUE},
      {"127.0.0.1:1", TRUE},
      {"127.255.255.255:1", TRUE},
      {"128.0.0.1:1", FALSE},
      {"0.0.0.0:1", FALSE},
      {"[::1]:1", TRUE},
      {"[::ffff:127.0.0.1]:1", TRUE},
      {"[::]:1", FALSE},
      {"[::2]:1", FALSE},
      {"[::ffff:10.0.0.1]:1", FALSE},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    TideListenAddress address;
    g_assert_true(tide_listen_address_parse(cases[i].text, &address, NULL));
    g_assert_cmpint(tide_listen_address_is_local(&address), ==, cases[i].is_local);
  }
}

static void
test_off_is_off(void)
{
  TideListenAddress address;
  g_assert_true(tide_listen_address_parse("off", &address, NULL));
  g_assert_true(address.is_off);
}

static void
test_all_else_is_refused_with_its_text(void)
{
  static const char *const cases[] = {
      "",           "9464",       ":9464",         "127.0.0.1",      "127.0.0.1:", "127.0.0.1:65536", "::1:9464",
      "[::1]",      "[::1]9464",  "[127.0.0.1]:1", "localhost:9464", "*:9464",     "1.2.3:4",         "1.2.3.4:-1",
      "1.2.3.4:+1", "1.2.3.4: 1", "1.2.3.4:1x",    "1.2.3.4:000001", "unix:",      "unix:x",          "unix",
      "Unix:/x",    "Off",        "off:1",         "[]:1",           "[::1:1",     "256.0.0.1:1",     "[fe80::1%lo]:1",
  };
  g_autofree char *too_long = g_strnfill(200, 'x'), *long_path = g_strconcat("unix:/", too_long, NULL);
  g_assert_false(tide_listen_address_parse(long_path, &(TideListenAddress){0}, NULL));
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    TideListenAddress address = {.is_off = 42};
    g_autoptr(GError) error = NULL;
    g_assert_false(tide_listen_address_parse(cases[i], &address, &error));
    g_assert_error(error, TIDE_ERROR, TIDE_ERROR_CONFIG);
    g_autofree char *quoted = g_strdup_printf("'%s'", cases[i]);
    g_assert_nonnull(strstr(error->message, quoted));
    g_assert_cmpint(address.is_off, ==, 42);
  }
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/listen-address/valid", test_valid_addresses);
  g_test_add_func("/listen-address/unix-sockets", test_unix_sockets);
  g_test_add_func("/listen-address/who-can-reach-it", test_who_can_reach_it);
  g_test_add_func("/listen-address/off-is-off", test_off_is_off);
  g_test_add_func("/listen-address/all-else-is-refused", test_all_else_is_refused_with_its_text);
  return g_test_run();
}
