/* Keeps each gateway's load, and decides where the next writer connects and when a writer moves. Pure arithmetic
 * without locks or threads; all times are monotonic.
 *
 * Choice. A writer has one connection and one call at a time, so a gateway's connections are its calls in progress. The
 * gateway with the fewest connections is the least loaded. Speed counts only for large differences, because the
 * duration of calls varies with their size and regions. A gateway is slow if its time per row was four times that of
 * the fastest one in three calls and over a second, which is longer than a pause of its JVM; below twice it is no
 * longer slow. A connection to a slow gateway counts as many times as it is slower: with 5 ms against 2 s, no
 * connection stays there. A gateway without connections for a minute is measured anew by the next writer that moves
 * there.
 *
 * Damping. A connection stays for at least two seconds, and at most four connections move in a second, so that the
 * counts show a move before the next decision.
 *
 * Slow start. A gateway that appears (again) may have one connection, plus one for each acknowledged call, which
 * doubles them in each round of calls. One that closes new connections at once while others work has no free thread or
 * queue entry: it may keep the working connections, and gets another after a pause that doubles from 1 s to 60 s.
 *
 * Breaker. It opens after five failed calls in a row while another gateway has acknowledged some, or is up without
 * connections. It stays open for 1 s, doubling to five minutes; then the gateway is probed and starts slowly, and the
 * first failure opens it again. If all gateways fail, the cause is elsewhere, and none opens. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* As many connections as there may be writers. */
#define TIDE_GATEWAY_MAX_ALLOWED 256

/* A circuit about to be open for this long has been open as long before: the failure is persistent. */
#define TIDE_GATEWAY_LASTING_US (32 * G_USEC_PER_SEC)

typedef enum TideCallEnd {
  TIDE_CALL_END_WRITTEN,
  TIDE_CALL_END_BAD_ROW,   /* answered that a row cannot be written: not the gateway's failure */
  TIDE_CALL_END_REFUSED,   /* answered with another error, or is another service or misconfigured: not full */
  TIDE_CALL_END_NO_ANSWER, /* cut off, timed out, or not understood */
} TideCallEnd;

typedef struct TideGatewayLoad {
  gboolean usable;       /* set by the owner: probes find it up, and its circuit is closed */
  gboolean circuit_open; /* the breaker is open for its calls: connected writers should leave */
  guint32 n_connections;
  guint32 n_verified; /* of these, connections that have carried an answer */
  /* Limit of connections. */
  guint32 n_allowed;
  guint32 slow_start_limit; /* below this, grows with each acknowledged call; above, after each pause */
  gint64 grows_us;          /* end of the pause */
  gint64 growth_pause_us;   /* the next pause */
  /* Moving averages of acknowledged calls; 0: not measured. */
  double call_us;
  double call_rows;
  gint64 called_us; /* end of the last call */
  gint64 acknowledged_us;
  /* Slowness. */
  gboolean slow;
  guint32 slow_calls; /* slow calls in a row */
  gint64 slow_since_us;
  /* The breaker. */
  guint32 failures; /* failed calls in a row */
  gint64 failing_since_us;
  gint64 circuit_open_us; /* duration of the last opening; 0: none since the last acknowledged call */
} TideGatewayLoad;

/* All gateways, for comparisons. */
typedef struct TideGatewayLoads {
  TideGatewayLoad *loads; /* owned array */
  guint32 n;
  guint32 first;   /* checked first among equals, so that processes start with different gateways */
  gint64 moves_us; /* no connection moves earlier */
} TideGatewayLoads;

typedef struct TideCallMeasure {
  TideCallEnd end;
  const char *error_text; /* NULL: written */
  guint32 n_rows;
  gint64 duration_us;
} TideCallMeasure;

/* A probe has found the gateway up. @was_away: an earlier probe failed, or its circuit was open */
void tide_gateway_load_came_back(TideGatewayLoad *load, gboolean was_away);

/* The current limit of connections; also applies the end of a pause. */
guint32 tide_gateway_load_allowed(TideGatewayLoad *load, gint64 now_us);
/* A new connection was closed before it carried an answer, while others work. */
void tide_gateway_load_closed_at_once(TideGatewayLoad *load, gint64 now_us);
/* Opens the breaker. Returns when it closes again. */
gint64 tide_gateway_load_open_circuit(TideGatewayLoad *load, gint64 now_us);

/* A call through gateway @index has ended. Returns TRUE if its breaker should open. */
gboolean tide_gateway_loads_note_call(TideGatewayLoads *loads, guint32 index, const TideCallMeasure *measure,
                                      gint64 now_us);

/* The gateway for the next connection; -1 if none is usable, or, with @must_have_room, if none may have another
 * connection. */
int tide_gateway_loads_best(TideGatewayLoads *loads, gboolean must_have_room, gint64 now_us);

/* Where a connection of gateway @index, open since @opened_us, should move, which counts as a move; -1: it stays. */
int tide_gateway_loads_move_to(TideGatewayLoads *loads, guint32 index, gint64 opened_us, gint64 now_us);

G_END_DECLS
