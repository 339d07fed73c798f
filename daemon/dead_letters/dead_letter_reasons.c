#include "dead_letters/dead_letter_reasons.h"

#include "model/reject.h"
#include "util/clock.h"
#include "util/lock.h"

typedef struct Reason {
  TideCounter *kept;
  guint64 n_come;
  gint64 first_ms, last_ms; /* of those kept; changed under lock */
  char *text;               /* owned: the last one's; NULL: none yet; changed under lock */
} Reason;

struct TideDeadLetterReasons {
  TideMetrics *metrics; /* borrowed */
  TideMutex lock;
  /* Changed under lock by a single thread, which may read without it. */
  GHashTable *by_name; /* owned (element-type utf8 Reason) */
  GArray *recent;      /* owned (element-type TideRecentDeadLetter), newest first */
};

static void
free_reason(gpointer data)
{
  Reason *reason = data;
  g_free(reason->text);
  g_free(reason);
}

static void
clear_reason_view(gpointer data)
{
  TideDeadLetterReasonView *view = data;
  g_free(view->reason);
  g_free(view->text);
}

static void
clear_recent(gpointer data)
{
  TideRecentDeadLetter *recent = data;
  g_free(recent->topic);
  g_free(recent->table);
  g_free(recent->reason);
  g_free(recent->text);
}

static GArray *
array_new(guint element_bytes, GDestroyNotify clear)
{
  GArray *array = g_array_new(FALSE, TRUE, element_bytes);
  g_array_set_clear_func(array, clear);
  return array;
}

static TideCounter *
kept_counter(TideMetrics *metrics, const char *reason)
{
  g_autofree char *label = tide_metrics_label("reason", reason);
  return tide_metrics_counter(metrics, "tidemark_dead_letters_total", "Dead letters kept, by reason", label);
}

TideDeadLetterReasons *
tide_dead_letter_reasons_new(TideMetrics *metrics)
{
  TideDeadLetterReasons *reasons = g_new0(TideDeadLetterReasons, 1);
  reasons->metrics = metrics;
  reasons->by_name = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_reason);
  reasons->recent = array_new(sizeof(TideRecentDeadLetter), clear_recent);
  tide_mutex_init(&reasons->lock);
  /* All exist from the start at 0, since a rate cannot show the first step of a new series. */
  for (TideRejectReason reason = TIDE_REJECT_NONE + 1; reason < TIDE_REJECT_N_REASONS; reason++)
    (void)kept_counter(metrics, tide_reject_reason_name(reason));
  (void)kept_counter(metrics, TIDE_DEAD_LETTER_REASON_REFUSED);
  return reasons;
}

void
tide_dead_letter_reasons_free(TideDeadLetterReasons *reasons)
{
  if (reasons == NULL)
    return;
  g_hash_table_unref(reasons->by_name);
  g_array_unref(reasons->recent);
  tide_mutex_clear(&reasons->lock);
  g_free(reasons);
}

static char *
text_of(TideBytes text)
{
  return g_strndup((const char *)text.data, text.len);
}

static Reason *
reason_of(TideDeadLetterReasons *reasons, const TideDeadLetter *dead_letter)
{
  g_autofree char *name = text_of(dead_letter->reason);
  Reason *reason = g_hash_table_lookup(reasons->by_name, name);
  if (reason != NULL)
    return reason;
  reason = g_new0(Reason, 1);
  reason->kept = kept_counter(reasons->metrics, name);
  tide_mutex_lock(&reasons->lock);
  g_hash_table_insert(reasons->by_name, g_steal_pointer(&name), reason);
  tide_mutex_unlock(&reasons->lock);
  return reason;
}

void
tide_dead_letter_reasons_note_come(TideDeadLetterReasons *reasons, const TideDeadLetter *dead_letter)
{
  Reason *reason = reason_of(reasons, dead_letter);
  reason->n_come++;
  tide_mutex_lock(&reasons->lock);
  g_free(reason->text);
  reason->text = text_of(dead_letter->text);
  tide_mutex_unlock(&reasons->lock);
}

void
tide_dead_letter_reasons_note_kept(TideDeadLetterReasons *reasons, const TideDeadLetter *dead_letter)
{
  Reason *reason = reason_of(reasons, dead_letter);
  tide_counter_inc(reason->kept);
  TideRecentDeadLetter recent = {.kept_ms = tide_wall_clock_epoch_ms(),
                                 .topic = text_of(dead_letter->topic),
                                 .partition = dead_letter->partition,
                                 .offset = dead_letter->offset,
                                 .table = dead_letter->table.len > 0 ? text_of(dead_letter->table) : NULL,
                                 .reason = text_of(dead_letter->reason),
                                 .text = text_of(dead_letter->text)};
  tide_mutex_lock(&reasons->lock);
  reason->last_ms = recent.kept_ms;
  if (reason->first_ms == 0)
    reason->first_ms = recent.kept_ms;
  g_array_prepend_val(reasons->recent, recent);
  if (reasons->recent->len > TIDE_DEAD_LETTERS_RECENT)
    g_array_set_size(reasons->recent, TIDE_DEAD_LETTERS_RECENT);
  tide_mutex_unlock(&reasons->lock);
}

char *
tide_dead_letter_reasons_most(const TideDeadLetterReasons *reasons)
{
  const char *most_name = NULL;
  const Reason *most = NULL;
  GHashTableIter iter;
  gpointer name, value;
  g_hash_table_iter_init(&iter, reasons->by_name);
  while (g_hash_table_iter_next(&iter, &name, &value))
    if (most == NULL || ((const Reason *)value)->n_come > most->n_come) {
      most_name = name;
      most = value;
    }
  return most != NULL ? g_strdup_printf("'%s': %s", most_name, most->text != NULL ? most->text : "") : g_strdup("");
}

static int
compare_reasons(gconstpointer a, gconstpointer b)
{
  const TideDeadLetterReasonView *first = a, *second = b;
  return first->kept != second->kept ? (first->kept < second->kept ? 1 : -1) : strcmp(first->reason, second->reason);
}

TideDeadLettersView
tide_dead_letter_reasons_view(TideDeadLetterReasons *reasons)
{
  TideDeadLettersView view = {.reasons = array_new(sizeof(TideDeadLetterReasonView), clear_reason_view),
                              .recent = array_new(sizeof(TideRecentDeadLetter), clear_recent)};
  GHashTableIter iter;
  gpointer name, value;
  tide_mutex_lock(&reasons->lock);
  g_hash_table_iter_init(&iter, reasons->by_name);
  while (g_hash_table_iter_next(&iter, &name, &value)) {
    const Reason *reason = value;
    TideDeadLetterReasonView of = {g_strdup(name), .kept = (gint64)tide_counter_value(reason->kept),
                                   .first_ms = reason->first_ms, .last_ms = reason->last_ms,
                                   .text = g_strdup(reason->text)};
    view.kept += of.kept;
    g_array_append_val(view.reasons, of);
  }
  for (guint i = 0; i < reasons->recent->len; i++) {
    TideRecentDeadLetter recent = g_array_index(reasons->recent, TideRecentDeadLetter, i);
    recent.topic = g_strdup(recent.topic);
    recent.table = g_strdup(recent.table);
    recent.reason = g_strdup(recent.reason);
    recent.text = g_strdup(recent.text);
    g_array_append_val(view.recent, recent);
  }
  tide_mutex_unlock(&reasons->lock);
  g_array_sort(view.reasons, compare_reasons);
  return view;
}
