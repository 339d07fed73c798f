/* Which connection is closed for a newcomer when all slots are taken: of the network that has most of them, the one
 * that came first. Whoever comes often thus takes slots from himself alone. */
#pragma once

#include <glib.h>
#include <netinet/in.h>

G_BEGIN_DECLS

typedef struct TideEvictionSlot {
  guint64 number; /* of all that came, in their order from 1; 0: free */
  guint64 network;
} TideEvictionSlot;

#define TIDE_EVICTION_NO_NETWORK G_MAXUINT64

/* The network that counts as one client: an IPv6 /64, all of 127/8, or a single IPv4 address. */
guint64 tide_eviction_network(const struct in6_addr *peer);

/* Which of @n slots @newcomer's network gets, counted as if it had one more already; @n: all are free. */
guint tide_eviction_choose(const TideEvictionSlot *slots, guint n, guint64 newcomer);

G_END_DECLS
