/* Who gives up his place where all are taken. Who comes often takes places from himself alone: of the network that has
 * most of them goes the connection that came first. */
#pragma once

#include <glib.h>
#include <netinet/in.h>

G_BEGIN_DECLS

typedef struct TidePlace {
  guint64 number; /* of all that came, in their order from 1; 0: free */
  guint64 network;
} TidePlace;

#define TIDE_PLACE_NO_NETWORK G_MAXUINT64

/* What one client can have many addresses of: an IPv6 network of /64, all of 127/8; else one IPv4 address. */
guint64 tide_place_network(const struct in6_addr *peer);

/* Which of @n places @newcomer's network gets, as if it had one more already; @n: all are free. */
guint tide_place_to_give_up(const TidePlace *places, guint n, guint64 newcomer);

G_END_DECLS
