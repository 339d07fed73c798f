#include "consumer/consumer_status.h"
#include "util/clock.h"

#include <time.h>

void
tide_consumer_status_init(TideConsumerStatus *status, gint64 now_us)
{
  *status = (TideConsumerStatus){0};
  tide_mutex_init(&status->lock);
  atomic_init(&status->last_round_us, now_us);
}

void
tide_consumer_status_clear(TideConsumerStatus *status)
{
  tide_mutex_clear(&status->lock);
  g_clear_pointer(&status->halt_text, g_free);
  g_clear_pointer(&status->trouble_text, g_free);
}

/* ---- the consumer's thread ---- */

/* Updates the shares of time that the thread has worked and held since the last call. */
static void
show_time(TideConsumerStatus *status)
{
  struct timespec cpu;
  if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu) != 0)
    return;
  gint64 now_us = tide_now_us();
  gint64 cpu_us = (gint64)cpu.tv_sec * TIDE_US_PER_S + cpu.tv_nsec / 1000;
  gint64 past_us = now_us - status->shown.at_us;
  if (status->shown.at_us > 0 && past_us > 0) {
    atomic_store_explicit(&status->cpu_permille, (guint32)((cpu_us - status->shown.cpu_us) * 1000 / past_us),
                          memory_order_relaxed);
    atomic_store_explicit(&status->held_permille, (guint32)(MIN(status->shown.held_us, past_us) * 1000 / past_us),
                          memory_order_relaxed);
  }
  status->shown.at_us = now_us;
  status->shown.cpu_us = cpu_us;
  status->shown.held_us = 0;
}

void
tide_consumer_status_note_held(TideConsumerStatus *status, gint64 held_us)
{
  status->shown.held_us += held_us;
}

void
tide_consumer_status_show(TideConsumerStatus *status, const GPtrArray *partitions, gint64 oldest_us)
{
  guint32 paused = 0, paused_for[TIDE_N_PAUSE_REASONS] = {0};
  for (guint i = 0; i < partitions->len; i++) {
    TidePartition *partition = tide_partition_at(partitions, i);
    if (!partition->assigned)
      continue;
    tide_partition_show(partition);
    paused += partition->pauses.is_paused ? 1 : 0;
    for (guint bit = 0; bit < TIDE_N_PAUSE_REASONS; bit++)
      paused_for[bit] += partition->pauses.reasons >> bit & 1u;
  }
  atomic_store_explicit(&status->paused, paused, memory_order_relaxed);
  for (guint bit = 0; bit < TIDE_N_PAUSE_REASONS; bit++)
    atomic_store_explicit(&status->paused_for[bit], paused_for[bit], memory_order_relaxed);
  atomic_store_explicit(&status->oldest_us, oldest_us, memory_order_relaxed);
  show_time(status);
}

void
tide_consumer_status_publish_assigned(TideConsumerStatus *status, const GPtrArray *partitions)
{
  guint32 n = 0;
  for (guint i = 0; i < partitions->len; i++)
    n += tide_partition_at(partitions, i)->assigned ? 1 : 0;
  atomic_store_explicit(&status->assigned, n, memory_order_relaxed);
}

/* @text: (transfer full) */
static void
set_text(TideConsumerStatus *status, char **member, char *text)
{
  tide_mutex_lock(&status->lock);
  g_free(*member);
  *member = text;
  tide_mutex_unlock(&status->lock);
}

void
tide_consumer_status_publish_halted(TideConsumerStatus *status, const GPtrArray *partitions)
{
  GString *text = g_string_new(NULL);
  guint32 n = 0;
  for (guint i = 0; i < partitions->len; i++) {
    const TidePartition *partition = tide_partition_at(partitions, i);
    if (!partition->assigned || partition->halt.text == NULL)
      continue;
    g_string_append_printf(text, "%s%s", n++ > 0 ? "; " : "", partition->halt.text);
  }
  atomic_store_explicit(&status->halted, n, memory_order_relaxed);
  set_text(status, &status->halt_text, g_string_free(text, n == 0));
}

void
tide_consumer_status_publish_trouble(TideConsumerStatus *status, const char *text)
{
  set_text(status, &status->trouble_text, g_strdup(text));
}

/* ---- any thread ---- */

TideConsumerState
tide_consumer_status_read_racy(const TideConsumerStatus *status)
{
  TideConsumerState state = {
      .last_round_us = atomic_load_explicit(&status->last_round_us, memory_order_relaxed),
      .assigned = atomic_load_explicit(&status->assigned, memory_order_relaxed),
      .unlocated = atomic_load_explicit(&status->unlocated, memory_order_relaxed),
      .halted = atomic_load_explicit(&status->halted, memory_order_relaxed),
      .paused = atomic_load_explicit(&status->paused, memory_order_relaxed),
      .oldest_us = atomic_load_explicit(&status->oldest_us, memory_order_relaxed),
      .cpu_permille = atomic_load_explicit(&status->cpu_permille, memory_order_relaxed),
      .held_permille = atomic_load_explicit(&status->held_permille, memory_order_relaxed),
      .had_assignment = atomic_load_explicit(&status->had_assignment, memory_order_relaxed),
      .finished = atomic_load_explicit(&status->end.finished, memory_order_relaxed),
      .reads_on = atomic_load_explicit(&status->end.reads_on, memory_order_relaxed),
      .work_remains = atomic_load_explicit(&status->work_remains, memory_order_relaxed),
      .remaining_held = atomic_load_explicit(&status->remaining_held, memory_order_relaxed),
      .fatal = atomic_load_explicit(&status->fatal, memory_order_acquire),
      .denied = atomic_load_explicit(&status->denied, memory_order_relaxed),
      .refused = atomic_load_explicit(&status->refused, memory_order_relaxed),
  };
  for (guint bit = 0; bit < TIDE_N_PAUSE_REASONS; bit++)
    state.paused_for[bit] = atomic_load_explicit(&status->paused_for[bit], memory_order_relaxed);
  return state;
}

static char *
copy_text(TideConsumerStatus *status, char *const *member)
{
  tide_mutex_lock(&status->lock);
  char *text = g_strdup(*member);
  tide_mutex_unlock(&status->lock);
  return text;
}

char *
tide_consumer_status_halt_text(TideConsumerStatus *status)
{
  return copy_text(status, &status->halt_text);
}

char *
tide_consumer_status_trouble_text(TideConsumerStatus *status)
{
  return copy_text(status, &status->trouble_text);
}
