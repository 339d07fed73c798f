/* Chooses the connection to close for a new client when all slots are taken: the oldest one of the network with the
 * most connections. Frequent clients thus take slots only from themselves. */
#pragma once

#include <glib.h>
#include <netinet/in.h>

G_BEGIN_DECLS

typedef struct TideEvictionSlot {
  guint64 number; /* sequence number of the connection, from 1; 0: free */
  guint64 network;
} TideEvictionSlot;

#define TIDE_EVICTION_NO_NETWORK G_MAXUINT64

/* The network that counts as one client: an IPv6 /64, all of 127/8, or a single IPv4 address. */
guint64 tide_eviction_network(const struct in6_addr *peer);

/* Returns the index of the slot for @newcomer's network, counted as if it had one more already; @n: all are free. */
guint tide_eviction_choose(const TideEvictionSlot *slots, guint n, guint64 newcomer);

G_END_DECLS
