/* Solo keys: keys of a table whose rows do not merge, because HBase refused a row of theirs that several messages had
 * made. Each row of such a key is of one message, so the next one that is refused names its message; all other keys
 * merge as always.
 *
 * A key is solo for ten minutes after the last refusal, and as long as a solo row of it is open or in flight. A table
 * with too many such keys does not merge at all for ten minutes. What is known here survives rewinds.
 *
 * Threads: the owning consumer's only. Memory: bounded by TIDE_SOLO_KEYS_MAX, and by the rows that the budget holds. */
#pragma once

#include "util/bytes.h"
#include "write/batch.h"

G_BEGIN_DECLS

#define TIDE_SOLO_KEYS_MAX 4096u

/* Of one table. Zero-initialised: none is. */
typedef struct TideSoloKeys {
  GHashTable *until_us; /* owned: key hash -> when it may merge again; NULL while every key merges */
  GHashTable *n_rows;   /* owned: key hash -> its solo rows that are open or in flight; NULL likewise */
  gint64 all_until_us;  /* when keys that are not listed may merge again; 0: they may */
} TideSoloKeys;

void tide_solo_keys_clear(TideSoloKeys *keys); /* stays usable */

/* HBase refused a row of several messages, with the key of that hash. Returns: TRUE when that made too many of them, so
 * that no key of the table merges from now on. */
gboolean tide_solo_keys_add(TideSoloKeys *keys, guint64 key_hash, gint64 now_us);

gboolean tide_solo_keys_contain_hash(const TideSoloKeys *keys, guint64 key_hash);

/* Asked for each row: as a rule no key is solo. */
static inline gboolean
tide_solo_keys_contain(const TideSoloKeys *keys, TideBytes key)
{
  return G_UNLIKELY(keys->until_us != NULL) && tide_solo_keys_contain_hash(keys, tide_key_hash(key));
}

/* A row of a solo key is open from now on. */
void tide_solo_keys_enter(TideSoloKeys *keys, guint64 key_hash);
/* Such a row is neither open nor in flight any more. */
void tide_solo_keys_leave(TideSoloKeys *keys, guint64 key_hash, gboolean was_refused, gint64 now_us);

/* Lets keys merge whose time is over. */
void tide_solo_keys_expire(TideSoloKeys *keys, gint64 now_us);

G_END_DECLS
