#include "rows/solo_keys.h"

#include "util/clock.h"

#define SOLO_US (600 * TIDE_US_PER_S)

void
tide_solo_keys_clear(TideSoloKeys *keys)
{
  g_clear_pointer(&keys->until_us, g_hash_table_unref);
  g_clear_pointer(&keys->n_rows, g_hash_table_unref);
  keys->all_until_us = 0;
}

gboolean
tide_solo_keys_add(TideSoloKeys *keys, guint64 key_hash, gint64 now_us)
{
  gpointer key = GSIZE_TO_POINTER(key_hash);
  if (keys->until_us == NULL) {
    keys->until_us = g_hash_table_new(NULL, NULL);
    keys->n_rows = g_hash_table_new(NULL, NULL);
  }
  if (g_hash_table_size(keys->until_us) < TIDE_SOLO_KEYS_MAX || g_hash_table_contains(keys->until_us, key)) {
    g_hash_table_insert(keys->until_us, key, GSIZE_TO_POINTER(now_us + SOLO_US));
    return FALSE;
  }
  gboolean is_first = keys->all_until_us == 0;
  keys->all_until_us = now_us + SOLO_US;
  return is_first;
}

gboolean
tide_solo_keys_contain_hash(const TideSoloKeys *keys, guint64 key_hash)
{
  gpointer key = GSIZE_TO_POINTER(key_hash);
  return keys->all_until_us != 0 || g_hash_table_contains(keys->until_us, key) ||
         g_hash_table_contains(keys->n_rows, key);
}

void
tide_solo_keys_enter(TideSoloKeys *keys, guint64 key_hash)
{
  gpointer key = GSIZE_TO_POINTER(key_hash);
  guint n = GPOINTER_TO_UINT(g_hash_table_lookup(keys->n_rows, key));
  g_hash_table_insert(keys->n_rows, key, GUINT_TO_POINTER(n + 1));
}

void
tide_solo_keys_leave(TideSoloKeys *keys, guint64 key_hash, gboolean was_refused, gint64 now_us)
{
  gpointer key = GSIZE_TO_POINTER(key_hash);
  guint n = GPOINTER_TO_UINT(g_hash_table_lookup(keys->n_rows, key));
  g_assert(n > 0);
  if (n > 1)
    g_hash_table_insert(keys->n_rows, key, GUINT_TO_POINTER(n - 1));
  else
    g_hash_table_remove(keys->n_rows, key);
  if (was_refused && g_hash_table_contains(keys->until_us, key))
    (void)tide_solo_keys_add(keys, key_hash, now_us);
}

static gboolean
is_over(gpointer key, gpointer until_us, gpointer now_us)
{
  return (gint64)GPOINTER_TO_SIZE(until_us) <= *(const gint64 *)now_us;
}

void
tide_solo_keys_expire(TideSoloKeys *keys, gint64 now_us)
{
  if (keys->until_us == NULL)
    return;
  g_hash_table_foreach_remove(keys->until_us, is_over, &now_us);
  if (keys->all_until_us <= now_us)
    keys->all_until_us = 0;
  if (keys->all_until_us == 0 && g_hash_table_size(keys->until_us) == 0 && g_hash_table_size(keys->n_rows) == 0)
    tide_solo_keys_clear(keys);
}
