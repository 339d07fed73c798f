/* What is known of rows that were refused alone, or got no answer alone, by row key and cells. It is kept beside the
 * lanes and not in a batch, because a rewind makes new batches of the same rows: these go apart at once, and their
 * rounds go on.
 *
 * The memory is bounded. Where it is full, a row has no evidence yet and waits until another row's is over. Evidence
 * that was not renewed for an hour is over, and that of a row known as poison makes room for others.
 *
 * Threads: any; it has a lock of its own. */
#pragma once

#include "util/lock.h"
#include "write/batch.h"

G_BEGIN_DECLS

/* So many rounds make a suspect poison: with the pauses of hbase.retry_min and retry_max by default, two minutes. */
#define TIDE_SUSPECT_ROUNDS 14u

typedef struct TideSuspect {
  guint64 identity;   /* tide_suspects_identity(); 0: none */
  guint32 n_tries;    /* calls that carried it, the last of which were its alone */
  guint32 n_rounds;   /* of them while its region was seen to work; TIDE_SUSPECT_ROUNDS: it was poison */
  guint32 n_pauses;   /* since it is a suspect */
  gboolean is_silent; /* the last try got no answer */
  gint64 first_us;    /* the first try; 0: nothing is known of it */
  gint64 due_us;      /* it is not tried before; monotonic */
  gint64 seen_us;     /* the last try */
} TideSuspect;

typedef struct TideSuspects {
  TideMutex lock;
  TideSuspect *slots;       /* under lock; owned array; NULL: there never was any */
  _Atomic gint64 is_any_us; /* until then some evidence may hold; any thread */
} TideSuspects;

void tide_suspects_init(TideSuspects *suspects);
void tide_suspects_clear(TideSuspects *suspects);

/* Of a row's table, key and cells; never 0. */
guint64 tide_suspects_identity(const TideBatch *batch, guint32 row);

/* Begins @batch, of which nothing was sent yet: its rows of which something is known are suspects. */
void tide_suspects_mark(TideSuspects *suspects, TideBatch *batch, gint64 now_us);

/* What is known of @identity, or what is known of a row that is new. */
TideSuspect tide_suspects_find(TideSuspects *suspects, guint64 identity, gint64 now_us);
void tide_suspects_keep(TideSuspects *suspects, const TideSuspect *suspect);
void tide_suspects_forget(TideSuspects *suspects, guint64 identity);

G_END_DECLS
