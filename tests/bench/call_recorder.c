#define _GNU_SOURCE
#include "bench/call_recorder.h"

#include <errno.h>

/* A call's table stands in front of its rows: the head and two field heads are no longer than this. */
#define TABLE_WITHIN_BYTES 96u
/* What the daemon keeps for itself, such as the fingerprints of keys. */
#define OWN_TABLES "tidemark_"

static gboolean
is_of_own_table(TideBytes call)
{
  return memmem(call.data, MIN(call.len, TABLE_WITHIN_BYTES), OWN_TABLES, strlen(OWN_TABLES)) != NULL;
}

static void
write_locked(TideCallRecorder *recorder, const void *data, gsize len)
{
  if (fwrite(data, 1, len, recorder->file) != len)
    g_error("cannot write the calls: %s", g_strerror(errno));
  recorder->size += len;
}

void
tide_call_recorder_open(TideCallRecorder *recorder, const char *path, gsize max_size, gboolean framed, gboolean compact)
{
  TideCallFileHead head = {.framed = framed, .compact = compact};
  memcpy(head.magic, TIDE_CALL_FILE_MAGIC, sizeof head.magic);
  tide_mutex_init(&recorder->lock);
  recorder->max_size = max_size;
  recorder->file = fopen(path, "wbe");
  if (recorder->file == NULL)
    g_error("cannot write '%s': %s", path, g_strerror(errno));
  tide_mutex_lock(&recorder->lock);
  write_locked(recorder, &head, sizeof head);
  tide_mutex_unlock(&recorder->lock);
}

void
tide_call_recorder_add(TideCallRecorder *recorder, TideBytes call, guint32 n_rows)
{
  if (is_of_own_table(call))
    return;
  TideCallHead head = {.n_bytes = (guint32)call.len, .n_rows = n_rows, .received_epoch_us = g_get_real_time()};
  tide_mutex_lock(&recorder->lock);
  if (recorder->file == NULL || recorder->size + sizeof head + call.len > recorder->max_size) {
    recorder->n_left_out++;
  } else {
    write_locked(recorder, &head, sizeof head);
    write_locked(recorder, call.data, call.len);
  }
  tide_mutex_unlock(&recorder->lock);
}

void
tide_call_recorder_close(TideCallRecorder *recorder)
{
  tide_mutex_lock(&recorder->lock);
  if (recorder->file != NULL && fclose(g_steal_pointer(&recorder->file)) != 0)
    g_error("cannot write the calls: %s", g_strerror(errno));
  tide_mutex_unlock(&recorder->lock);
}
