#include "config/option/nearest_name.h"

#include <string.h>

#define MAX_NAME_BYTES 64 /* longer names are not typing mistakes */

/* Edit distance with swaps of neighbours (optimal string alignment), over bytes. */
static guint
edit_distance(const char *a, gsize a_len, const char *b, gsize b_len)
{
  guint rows[3][MAX_NAME_BYTES + 1];
  guint *before = rows[0];
  guint *last = rows[1];
  guint *now = rows[2];

  for (gsize j = 0; j <= b_len; j++)
    last[j] = (guint)j;
  for (gsize i = 1; i <= a_len; i++) {
    now[0] = (guint)i;
    for (gsize j = 1; j <= b_len; j++) {
      guint change = last[j - 1] + (a[i - 1] != b[j - 1]);
      now[j] = MIN(change, MIN(last[j], now[j - 1]) + 1);
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        now[j] = MIN(now[j], before[j - 2] + 1);
    }
    guint *oldest = before;
    before = last;
    last = now;
    now = oldest;
  }
  return last[b_len];
}

const char *
tide_nearest_name(const char *name, const char *const *names)
{
  const char *nearest = NULL;
  guint nearest_distance = G_MAXUINT;
  gsize len = strlen(name);

  for (gsize i = 0; names[i] != NULL; i++) {
    gsize known_len = strlen(names[i]);
    if (len > MAX_NAME_BYTES || known_len > MAX_NAME_BYTES)
      continue;
    guint distance = edit_distance(name, len, names[i], known_len);
    guint allowed = (guint)CLAMP(MAX(len, known_len) / 3, 1, 3);
    if (distance <= allowed && distance < nearest_distance) {
      nearest = names[i];
      nearest_distance = distance;
    }
  }
  return nearest;
}
