#include "http/places.h"

#include <string.h>

guint64
tide_place_network(const struct in6_addr *peer)
{
  guint64 half;
  if (!IN6_IS_ADDR_V4MAPPED(peer)) {
    memcpy(&half, peer->s6_addr, sizeof half);
    return half;
  }
  memcpy(&half, peer->s6_addr + 8, sizeof half); /* 0000:ffff and the address */
  half = GUINT64_FROM_BE(half);
  return (half >> 24 & 0xff) == 127 ? half & ~(guint64)0xffffff : half;
}

static guint
count_of(const TidePlace *places, guint n, guint64 network)
{
  guint count = 0;
  for (guint i = 0; i < n; i++)
    if (places[i].number != 0 && places[i].network == network)
      count++;
  return count;
}

guint
tide_place_to_give_up(const TidePlace *places, guint n, guint64 newcomer)
{
  guint chosen = n, most = 0;
  for (guint i = 0; i < n; i++) {
    if (places[i].number == 0)
      continue;
    guint count = count_of(places, n, places[i].network) + (places[i].network == newcomer ? 1 : 0);
    if (count > most || (count == most && places[i].number < places[chosen].number)) {
      chosen = i;
      most = count;
    }
  }
  return chosen;
}
