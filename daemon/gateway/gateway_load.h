/* What is known of each gateway's load, which one the next writer should connect to, and when a writer should move:
 * arithmetic alone, no lock and no thread; the times that are passed in are monotonic.
 *
 * Choice. A writer has one connection and one call at a time, so the calls that a gateway can have at work are its
 * connections: the least outstanding gateway is the one with the fewest, and load is even when counts are. Speed weighs
 * in only where gateways differ much, as calls differ by themselves, with their size and regions: a gateway is slow
 * when its time for a row is four times the fastest one's in three calls and over a second (a pause of its JVM is over
 * by then), and no longer slow below twice. A connection to a slow gateway counts as many times as it is slower, so at
 * 5 ms against 2 s nobody stays there. What nobody is connected to for a minute is measured anew, by whoever moves
 * there.
 *
 * Damping. A connection stays for two seconds at least before it moves, and in all at most four move in a second: so
 * many as can be seen in the counts before the next one decides.
 *
 * Slow start. A gateway that came (back) may have one connection, and one more with each acknowledged call: doubling
 * with each round of calls, as fast as it proves to be. One that closes new connections at once while others work has
 * its threads or queue full: it may have those that work, and one more after a pause that doubles from 1 s to 60 s.
 *
 * Breaker. Five calls in a row that fail while another gateway has acknowledged some, or is up and nobody is connected
 * to it, open it: for 1 s at first and doubling to five minutes, then is probed, starts slowly, and the first failure
 * opens it again. Where all gateways fail it is not the gateways, and none opens. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* As many connections as there can be writers. */
#define TIDE_GATEWAY_MAX_ALLOWED 256

/* A circuit that is to be open for so long has been so for as long before: that passes by itself no more. */
#define TIDE_GATEWAY_LASTING_US (32 * G_USEC_PER_SEC)

typedef enum TideCallEnd {
  TIDE_CALL_END_WRITTEN,
  TIDE_CALL_END_BAD_ROW,   /* answered that a row can never be written: no fault of the gateway's */
  TIDE_CALL_END_REFUSED,   /* answered with another error, or found to be another service or wrongly set up: not full */
  TIDE_CALL_END_NO_ANSWER, /* cut, timed out, or not understood */
} TideCallEnd;

typedef struct TideGatewayLoad {
  gboolean usable;       /* kept by the owner: probes find it up, and its circuit is not open */
  gboolean circuit_open; /* the breaker is open for its calls: those who are connected should leave */
  guint32 n_connections;
  guint32 n_verified; /* of these, how many have carried an answer */
  /* how many it may have */
  guint32 n_allowed;
  guint32 slow_start_limit; /* up to here one more with each acknowledged call, above it one after each pause */
  gint64 grows_us;          /* when the pause is over */
  gint64 growth_pause_us;   /* the next pause */
  /* moving averages of acknowledged calls; 0: not measured */
  double call_us;
  double call_rows;
  gint64 called_us; /* when the last call ended */
  gint64 acknowledged_us;
  /* slow? */
  gboolean slow;
  guint32 slow_calls; /* in a row */
  gint64 slow_since_us;
  /* breaker */
  guint32 failures; /* calls in a row */
  gint64 failing_since_us;
  gint64 circuit_open_us; /* for how long it was open last; 0: none since the last acknowledged call */
} TideGatewayLoad;

/* All gateways, for what is judged between them. */
typedef struct TideGatewayLoads {
  TideGatewayLoad *loads; /* owned array */
  guint32 n;
  guint32 first;   /* who is asked first where all is equal, so that processes do not all begin with the same */
  gint64 moves_us; /* nobody moves before */
} TideGatewayLoads;

typedef struct TideCallMeasure {
  TideCallEnd end;
  const char *error_text; /* NULL: written */
  guint32 n_rows;
  gint64 duration_us;
} TideCallMeasure;

/* Found up by a probe. @was_away: a probe had failed before, or its circuit was open. */
void tide_gateway_load_came_back(TideGatewayLoad *load, gboolean was_away);

/* How many connections it may have now; asking lets a pause that is over count. */
guint32 tide_gateway_load_allowed(TideGatewayLoad *load, gint64 now_us);
/* A new connection was closed before it had carried an answer, while others carry theirs. */
void tide_gateway_load_closed_at_once(TideGatewayLoad *load, gint64 now_us);
/* The breaker opens. Returns: when it closes again. */
gint64 tide_gateway_load_open_circuit(TideGatewayLoad *load, gint64 now_us);

/* A call through gateway @index has ended. Returns: TRUE when its breaker should open. */
gboolean tide_gateway_loads_note_call(TideGatewayLoads *loads, guint32 index, const TideCallMeasure *measure,
                                      gint64 now_us);

/* The gateway that the next connection should go to; -1 when none is usable, or with @must_have_room none may have one
 * more. */
int tide_gateway_loads_best(TideGatewayLoads *loads, gboolean must_have_room, gint64 now_us);

/* Where a connection of gateway @index, open since @opened_us, should go; -1: it stays. Else it counts as a move. */
int tide_gateway_loads_move_to(TideGatewayLoads *loads, guint32 index, gint64 opened_us, gint64 now_us);

G_END_DECLS
