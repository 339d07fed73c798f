#include "dead_letters/dead_letter_reasons.h"

typedef struct Reason {
  TideCounter *kept;
  guint64 n_come;
  char *text; /* owned: of the last; NULL: none came */
} Reason;

struct TideDeadLetterReasons {
  TideMetrics *metrics; /* borrowed */
  GHashTable *by_name;  /* owned (element-type utf8 Reason) */
};

static void
free_reason(gpointer data)
{
  Reason *reason = data;
  g_free(reason->text);
  g_free(reason);
}

TideDeadLetterReasons *
tide_dead_letter_reasons_new(TideMetrics *metrics)
{
  TideDeadLetterReasons *reasons = g_new0(TideDeadLetterReasons, 1);
  reasons->metrics = metrics;
  reasons->by_name = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_reason);
  return reasons;
}

void
tide_dead_letter_reasons_free(TideDeadLetterReasons *reasons)
{
  if (reasons == NULL)
    return;
  g_hash_table_unref(reasons->by_name);
  g_free(reasons);
}

static Reason *
reason_of(TideDeadLetterReasons *reasons, const TideDeadLetter *dead_letter)
{
  g_autofree char *name = g_strndup((const char *)dead_letter->reason.data, dead_letter->reason.len);
  Reason *reason = g_hash_table_lookup(reasons->by_name, name);
  if (reason != NULL)
    return reason;
  g_autofree char *label = tide_metrics_label("reason", name);
  reason = g_new0(Reason, 1);
  reason->kept =
      tide_metrics_counter(reasons->metrics, "tidemark_dead_letters_total", "Dead letters kept, by reason", label);
  g_hash_table_insert(reasons->by_name, g_steal_pointer(&name), reason);
  return reason;
}

void
tide_dead_letter_reasons_note_come(TideDeadLetterReasons *reasons, const TideDeadLetter *dead_letter)
{
  Reason *reason = reason_of(reasons, dead_letter);
  reason->n_come++;
  g_free(reason->text);
  reason->text = g_strndup((const char *)dead_letter->text.data, dead_letter->text.len);
}

void
tide_dead_letter_reasons_note_kept(TideDeadLetterReasons *reasons, const TideDeadLetter *dead_letter)
{
  tide_counter_inc(reason_of(reasons, dead_letter)->kept);
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
