/* Solo keys: keys of a table whose rows are not merged, because HBase refused a row of theirs that several messages had
 * made. Each row of such a key belongs to one message, so the next refusal identifies that message. Rows of other keys
 * merge as usual.
 *
 * A key is solo for ten minutes after the last refusal, and as long as a solo row of it is open or in flight. A table
 * with too many such keys merges no rows for ten minutes. Rewinds do not affect this state.
 *
 * Threads: the owning consumer's only. Memory: limited by TIDE_SOLO_KEYS_MAX, and by the rows within the budget. */
#pragma once

#include "util/bytes.h"
#include "write/batch.h"

G_BEGIN_DECLS

#define TIDE_SOLO_KEYS_MAX 4096u

/* The solo keys of one table. Zero-initialised: none. */
typedef struct TideSoloKeys {
  GHashTable *until_us; /* owned: key hash -> end of its solo time; NULL while every key merges */
  GHashTable *n_rows;   /* owned: key hash -> its solo rows open or in flight; NULL likewise */
  gint64 all_until_us;  /* end of the solo time of all other keys; 0: they merge */
} TideSoloKeys;

void tide_solo_keys_clear(TideSoloKeys *keys); /* remains usable */

/* Adds a key, given by its hash, after HBase refused a row of several messages. Returns TRUE if this makes too many, so
 * that no key of the table merges from now on. */
gboolean tide_solo_keys_add(TideSoloKeys *keys, guint64 key_hash, gint64 now_us);

gboolean tide_solo_keys_contain_hash(const TideSoloKeys *keys, guint64 key_hash);

/* Called for each row; usually no key is solo. */
static inline gboolean
tide_solo_keys_contain(const TideSoloKeys *keys, TideBytes key)
{
  return G_UNLIKELY(keys->until_us != NULL) && tide_solo_keys_contain_hash(keys, tide_key_hash(key));
}

/* A row of a solo key was opened. */
void tide_solo_keys_enter(TideSoloKeys *keys, guint64 key_hash);
/* Such a row is neither open nor in flight any longer. */
void tide_solo_keys_leave(TideSoloKeys *keys, guint64 key_hash, gboolean was_refused, gint64 now_us);

/* Merges keys again whose solo time is over. */
void tide_solo_keys_expire(TideSoloKeys *keys, gint64 now_us);

G_END_DECLS
