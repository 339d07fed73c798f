#include "dead_letters/refusals.h"

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
tide_refusals_init(TideRefusals *refusals, TideBudget *budget)
{
  /* Without a function that clears: references move out of it. */
  *refusals = (TideRefusals){.budget = budget, .parts = g_array_new(FALSE, FALSE, sizeof(TideRefusedPart))};
}

static TideRefusedPart *
part_at(const TideRefusals *refusals, guint place)
{
  return &g_array_index(refusals->parts, TideRefusedPart, place);
}

void
tide_refusals_clear(TideRefusals *refusals)
{
  for (guint i = refusals->first; i < refusals->parts->len; i++)
    clear_part(part_at(refusals, i));
  tide_budget_charge(refusals->budget, -(gint64)((refusals->parts->len - refusals->first) * sizeof(TideRefusedPart)));
  g_clear_pointer(&refusals->parts, g_array_unref);
}

static int
compare_messages(TideSourceRef a, TideSourceRef b)
{
  if (a.slot != b.slot)
    return a.slot < b.slot ? -1 : 1;
  if (a.epoch != b.epoch)
    return a.epoch < b.epoch ? -1 : 1;
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
tide_refusals_add(TideRefusals *refusals, GArray *parts)
{
  g_array_sort(parts, compare_parts);
  g_array_append_vals(refusals->parts, parts->data, parts->len);
  tide_budget_charge(refusals->budget, (gint64)(parts->len * sizeof(TideRefusedPart)));
  g_array_set_clear_func(parts, NULL);
  g_array_unref(parts);
}

GArray *
tide_refusals_take_message(TideRefusals *refusals)
{
  guint first = refusals->first, end = first;
  if (first == refusals->parts->len)
    return NULL;
  while (end < refusals->parts->len &&
         compare_messages(part_at(refusals, end)->ref, part_at(refusals, first)->ref) == 0)
    end++;
  GArray *taken = tide_refused_parts_new();
  g_array_append_vals(taken, part_at(refusals, first), end - first);
  tide_budget_charge(refusals->budget, -(gint64)((end - first) * sizeof(TideRefusedPart)));
  refusals->first = end;
  if (end == refusals->parts->len || end >= COMPACT_AT) {
    g_array_remove_range(refusals->parts, 0, end);
    refusals->first = 0;
  }
  return taken;
}
