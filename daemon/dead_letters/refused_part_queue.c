#include "dead_letters/refused_part_queue.h"

/* What is taken is given up in pieces of so many. */
#define COMPACT_AT 1024u

static void
clear_part(gpointer data)
{
  tide_refused_row_unref(((TideRefusedPart *)data)->row);
}

GArray *
tide_refused_parts_new(void)
{
  GArray *parts = g_array_new(FALSE, FALSE, sizeof(TideRefusedPart));
  g_array_set_clear_func(parts, clear_part);
  return parts;
}

void
tide_refused_part_queue_init(TideRefusedPartQueue *refused_parts, TideBudget *budget)
{
  /* Without a function that clears: references move out of it. */
  *refused_parts =
      (TideRefusedPartQueue){.budget = budget, .parts = g_array_new(FALSE, FALSE, sizeof(TideRefusedPart))};
}

static TideRefusedPart *
part_at(const TideRefusedPartQueue *refused_parts, guint index)
{
  return &g_array_index(refused_parts->parts, TideRefusedPart, index);
}

void
tide_refused_part_queue_clear(TideRefusedPartQueue *refused_parts)
{
  for (guint i = refused_parts->first; i < refused_parts->parts->len; i++)
    clear_part(part_at(refused_parts, i));
  tide_budget_charge(refused_parts->budget,
                     -(gint64)((refused_parts->parts->len - refused_parts->first) * sizeof(TideRefusedPart)));
  g_clear_pointer(&refused_parts->parts, g_array_unref);
}

static int
compare_messages(TideSourceRef a, TideSourceRef b)
{
  if (a.assignment != b.assignment)
    return a.assignment < b.assignment ? -1 : 1;
  if (a.sequence != b.sequence)
    return (gint32)(a.sequence - b.sequence) < 0 ? -1 : 1; /* sequences wrap */
  return 0;
}

static int
compare_parts(gconstpointer a, gconstpointer b)
{
  const TideRefusedPart *one = a, *other = b;
  int order = compare_messages(one->ref, other->ref);
  if (order != 0)
    return order;
  return one->reading_index < other->reading_index ? -1 : one->reading_index > other->reading_index;
}

void
tide_refused_part_queue_add(TideRefusedPartQueue *refused_parts, GArray *parts)
{
  g_array_sort(parts, compare_parts);
  g_array_append_vals(refused_parts->parts, parts->data, parts->len);
  tide_budget_charge(refused_parts->budget, (gint64)(parts->len * sizeof(TideRefusedPart)));
  g_array_set_clear_func(parts, NULL);
  g_array_unref(parts);
}

GArray *
tide_refused_part_queue_take_message(TideRefusedPartQueue *refused_parts)
{
  guint first = refused_parts->first, end = first;
  if (first == refused_parts->parts->len)
    return NULL;
  while (end < refused_parts->parts->len &&
         compare_messages(part_at(refused_parts, end)->ref, part_at(refused_parts, first)->ref) == 0)
    end++;
  GArray *taken = tide_refused_parts_new();
  g_array_append_vals(taken, part_at(refused_parts, first), end - first);
  tide_budget_charge(refused_parts->budget, -(gint64)((end - first) * sizeof(TideRefusedPart)));
  refused_parts->first = end;
  if (end == refused_parts->parts->len || end >= COMPACT_AT) {
    g_array_remove_range(refused_parts->parts, 0, end);
    refused_parts->first = 0;
  }
  return taken;
}
