/* Readings made up by rule, so that anybody can make up the same ones again and know what the tables must hold.
 *
 * Everything follows from the parameters. All arithmetic is on unsigned 64-bit integers that wrap.
 *
 *   mix(z):          z += 0x9e3779b97f4a7c15
 *                    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9
 *                    z = (z ^ (z >> 27)) * 0x94d049bb133111eb
 *                    return z ^ (z >> 31)                                  (SplitMix64)
 *   draw(what, a, b) = mix(mix(mix(mix(seed) + what) + a) + b)             what: the numbers in capitals below
 *   chance(what, i, share): draw(what, i, 0) mod 10000 < share             share: in hundredths of a percent
 *
 * Reading i, from 0 to readings - 1:
 *   machine m = i mod machines; round r = i / machines
 *   host      "server" + (m + 1) in decimal, at least 4 digits, zeros in front + ".bbb.com"
 *   ts        start + r * step, epoch milliseconds
 *   metric k  from 0 to metrics - 1: v = draw(VALUE 1, i, k) mod 10000, written as v / 100 "." (v mod 100, two digits),
 * so "0.02" or "53.70"; its name is the k-th of the list in simulation.c, and from 10 on "METRIC/M" + k message
 * {"host":"server0001.bbb.com","ts":1426535612045,"CPU/CPU1_USR":0.02,...}, no blanks; its Kafka key is the host
 *
 * Order of messages: reading i takes place i; if chance(LATE 2, i, late), it comes later, at place
 *   i + machines * (1 + draw(DELAY 3, i, 0) mod 10), behind newer readings of its machine.
 *   If chance(REPEAT 4, i, repeat), the same message comes once more, at the reading's place + 1 + draw(AGAIN 5, i, 0)
 * mod (5 * machines). If chance(POISON 6, i, poison), a message that is no reading comes at the reading's place: one of
 * simulation.c's list, number draw(KIND 7, i, 0) mod its length; its key is the host too. Messages go by place, then by
 * i, then reading before repeat before poison. With a shuffle window w > 1, the n-th run of w messages (the last may be
 * shorter, its length is c) is permuted: for j from c - 1 down to 1, message j and message draw(SHUFFLE 8, n, j) mod (j
 * + 1) change places.
 *
 * So each (host, ts) is there exactly once in the end, and the latest value of a host is that of its greatest ts. */
#pragma once

#include "util/bytes.h"

G_BEGIN_DECLS

/* Hundredths of a percent: what a share of all is counted in. */
#define TIDE_SIMULATION_ALL 10000u

typedef struct TideSimulationParameters {
  guint64 readings;
  guint64 machines; /* at least 1 */
  guint64 metrics;
  guint64 seed;
  gint64 start_epoch_ms;
  gint64 step_ms;
  guint64 late;   /* hundredths of a percent */
  guint64 repeat; /* hundredths of a percent */
  guint64 poison; /* hundredths of a percent */
  guint64 shuffle_window;
} TideSimulationParameters;

typedef enum TideSimulatedKind {
  TIDE_SIMULATED_READING,
  TIDE_SIMULATED_REPEAT,
  TIDE_SIMULATED_POISON,
} TideSimulatedKind;

typedef struct TideSimulatedMessage {
  TideSimulatedKind kind;
  guint64 reading; /* i */
} TideSimulatedMessage;

typedef struct TideSimulation TideSimulation;

TideSimulation *tide_simulation_new(const TideSimulationParameters *parameters); /* copied */
void tide_simulation_free(TideSimulation *simulation);                           /* NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideSimulation, tide_simulation_free)

/* The next message in order; FALSE at the end. Memory: those that are late, repeated or in the window. */
gboolean tide_simulation_next(TideSimulation *simulation, TideSimulatedMessage *ret_message);

/* The Kafka key and the payload of @message, appended. */
void tide_simulation_append_key(const TideSimulation *simulation, const TideSimulatedMessage *message, TideBuffer *out);
void tide_simulation_append_payload(const TideSimulation *simulation, const TideSimulatedMessage *message,
                                    TideBuffer *out);

G_END_DECLS
