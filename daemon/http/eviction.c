#include "http/eviction.h"

#include <string.h>

guint64
tide_eviction_network(const struct in6_addr *peer)
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

guint
tide_eviction_choose(const TideEvictionSlot *slots, guint n, guint64 newcomer)
{
  guint chosen = n, most = 0;
  for (guint i = 0; i < n; i++) {
    if (slots[i].number == 0)
      continue;
    guint count = slots[i].network == newcomer ? 1 : 0;
    for (guint k = 0; k < n; k++)
      count += slots[k].number != 0 && slots[k].network == slots[i].network ? 1 : 0;
    if (count > most || (count == most && slots[i].number < slots[chosen].number)) {
      chosen = i;
      most = count;
    }
  }
  return chosen;
}
