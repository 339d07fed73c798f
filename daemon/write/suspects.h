/* Evidence about rows that were refused, or got no answer, when sent alone, by row key and cells. It is stored
 * outside the batches because a rewind makes new batches of the same rows: these are then sent alone at once, and their
 * rounds continue.
 *
 * Memory is bounded. When it is full, a row gets no evidence and waits until another row's expires. Evidence expires
 * one hour after its last renewal; that of known poison is replaced first.
 *
 * Threads: any; it has its own lock. */
#pragma once

#include "util/lock.h"
#include "write/batch.h"

G_BEGIN_DECLS

/* Rounds until a suspect becomes poison: two minutes with the default hbase.retry_min and retry_max. */
#define TIDE_SUSPECT_ROUNDS 14u

typedef struct TideSuspect {
  guint64 identity;   /* tide_suspects_identity(); 0: none */
  guint32 n_tries;    /* calls with it; the last ones contained it alone */
  guint32 n_rounds;   /* tries while its region worked; TIDE_SUSPECT_ROUNDS: it was poison */
  guint32 n_pauses;   /* since it became a suspect */
  gboolean is_silent; /* the last try got no answer */
  gint64 first_us;    /* the first try; 0: unknown */
  gint64 due_us;      /* not tried earlier; monotonic */
  gint64 seen_us;     /* the last try */
} TideSuspect;

typedef struct TideSuspects {
  TideMutex lock;
  TideSuspect *slots;       /* under lock; owned array; NULL: never used */
  _Atomic gint64 is_any_us; /* until then some evidence may be valid; any thread */
} TideSuspects;

void tide_suspects_init(TideSuspects *suspects);
void tide_suspects_clear(TideSuspects *suspects);

/* Hash of a row's table, key and cells; never 0. */
guint64 tide_suspects_identity(const TideBatch *batch, guint32 row);

/* Begins an unsent @batch: rows with evidence become suspects. */
void tide_suspects_mark(TideSuspects *suspects, TideBatch *batch, gint64 now_us);

/* The evidence for @identity, or that of a new row. */
TideSuspect tide_suspects_find(TideSuspects *suspects, guint64 identity, gint64 now_us);
void tide_suspects_keep(TideSuspects *suspects, const TideSuspect *suspect);
void tide_suspects_forget(TideSuspects *suspects, guint64 identity);

G_END_DECLS
