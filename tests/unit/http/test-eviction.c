/* Whose connection goes when all slots are taken. */
#include "http/eviction.h"

#include <arpa/inet.h>

#define N_SLOTS 16

typedef struct Fixture {
  TideEvictionSlot slots[N_SLOTS];
  guint64 n_came;
} Fixture;

static guint64
network_of(const char *address)
{
  struct in6_addr peer;
  g_assert_cmpint(inet_pton(AF_INET6, address, &peer), ==, 1);
  return tide_eviction_network(&peer);
}

static void
test_networks(void)
{
  static const struct {
    const char *one, *other;
    gboolean is_same;
  } cases[] = {
      {"2001:db8:1:2::1", "2001:db8:1:2:ffff:ffff:ffff:ffff", TRUE},
      {"2001:db8:1:2::1", "2001:db8:1:3::1", FALSE},
      {"::ffff:127.0.0.1", "::ffff:127.255.3.4", TRUE},
      {"::ffff:127.0.0.1", "::ffff:126.0.0.1", FALSE},
      {"::ffff:192.0.2.1", "::ffff:192.0.2.2", FALSE},
      {"::ffff:192.0.2.1", "2001:db8::1", FALSE},
      {"::ffff:0.0.0.0", "::", FALSE},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++)
    g_assert_cmpint(network_of(cases[i].one) == network_of(cases[i].other), ==, cases[i].is_same);
}

static void
come(Fixture *fixture, guint64 network)
{
  guint slot = 0;
  while (slot < N_SLOTS && fixture->slots[slot].number != 0)
    slot++;
  if (slot == N_SLOTS)
    slot = tide_eviction_choose(fixture->slots, N_SLOTS, network);
  g_assert_cmpuint(slot, <, N_SLOTS);
  fixture->slots[slot] = (TideEvictionSlot){.number = ++fixture->n_came, .network = network};
}

static guint
n_of(const Fixture *fixture, guint64 network)
{
  guint n = 0;
  for (guint i = 0; i < N_SLOTS; i++)
    n += fixture->slots[i].number != 0 && fixture->slots[i].network == network ? 1 : 0;
  return n;
}

/* Up to 14 addresses that come again and again do not take the slots of two others, nor does one of these the other's.
 */
static void
test_many_keep_nobody_out(void)
{
  for (guint n_others = 1; n_others < N_SLOTS - 1; n_others++) {
    Fixture fixture = {0};
    for (guint i = 0; i < 100; i++)
      come(&fixture, 1 + i % n_others);
    come(&fixture, 1000);
    for (guint i = 0; i < 1000; i++) {
      come(&fixture, i == 100 ? 2000 : 1 + i % n_others);
      g_assert_cmpuint(n_of(&fixture, 1000), ==, 1);
      g_assert_cmpuint(n_of(&fixture, 2000), ==, i >= 100 ? 1 : 0);
    }
  }
}

/* Whoever comes gets a slot, were all others of one address each, and the first of them goes. */
static void
test_the_first_goes(void)
{
  Fixture fixture = {0};
  g_assert_cmpuint(tide_eviction_choose(fixture.slots, N_SLOTS, 1), ==, N_SLOTS);
  for (guint i = 0; i < N_SLOTS; i++)
    come(&fixture, i);
  come(&fixture, 1000);
  g_assert_cmpuint(n_of(&fixture, 0), ==, 0);
  g_assert_cmpuint(n_of(&fixture, 1000), ==, 1);
  come(&fixture, 5); /* has one: it is his own that goes */
  g_assert_cmpuint(n_of(&fixture, 1), ==, 1);
  g_assert_cmpuint(n_of(&fixture, 5), ==, 1);
  g_assert_cmpuint(tide_eviction_choose(fixture.slots, N_SLOTS, TIDE_EVICTION_NO_NETWORK), ==, 1);
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/eviction/networks", test_networks);
  g_test_add_func("/eviction/many-keep-nobody-out", test_many_keep_nobody_out);
  g_test_add_func("/eviction/the-first-goes", test_the_first_goes);
  return g_test_run();
}
