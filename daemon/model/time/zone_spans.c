#include "model/time/zone_spans.h"

#include "util/calendar.h"
#include "util/lock.h"

#include <stdatomic.h>

/* One day more at both ends, because local times differ from UTC by less than a day. */
#define FIRST_S (-TIDE_SECONDS_PER_DAY)
#define LAST_S (G_GINT64_CONSTANT(7258118400) + TIDE_SECONDS_PER_DAY) /* 2200-01-01 */

typedef struct ZoneTable ZoneTable;

/* Never changed or freed once in the list. */
struct ZoneTable {
  GTimeZone *zone;     /* owned, so that no other zone can later have its address */
  TideZoneSpan *spans; /* owned; ascending, without gaps */
  gsize n_spans;
  ZoneTable *next;
};

static _Atomic(ZoneTable *) tables; /* grows only at its head, so it is read without the lock */
static TideMutex tables_lock = {PTHREAD_MUTEX_INITIALIZER};

/* Appends the changes of offset in (from_s, to_s], whose ends lie in the given GLib intervals. */
static void
find_changes(GTimeZone *zone, gint64 from_s, int from_interval, gint64 to_s, int to_interval, GArray *spans)
{
  if (from_interval == to_interval)
    return;
  if (to_s - from_s > 1) {
    gint64 middle_s = from_s + (to_s - from_s) / 2;
    int middle_interval = g_time_zone_find_interval(zone, G_TIME_TYPE_UNIVERSAL, middle_s);
    find_changes(zone, from_s, from_interval, middle_s, middle_interval, spans);
    find_changes(zone, middle_s, middle_interval, to_s, to_interval, spans);
    return;
  }
  TideZoneSpan *last = &g_array_index(spans, TideZoneSpan, spans->len - 1);
  TideZoneSpan next = {to_s, G_MAXINT64, g_time_zone_get_offset(zone, to_interval)};
  if (next.offset_s == last->offset_s) /* only the name or the summer flag changes */
    return;
  last->to_s = to_s;
  g_array_append_val(spans, next);
}

static ZoneTable *
make_table(GTimeZone *zone)
{
  GArray *spans = g_array_new(FALSE, FALSE, sizeof(TideZoneSpan));
  int first = g_time_zone_find_interval(zone, G_TIME_TYPE_UNIVERSAL, FIRST_S);
  int last = g_time_zone_find_interval(zone, G_TIME_TYPE_UNIVERSAL, LAST_S);
  TideZoneSpan span = {G_MININT64, G_MAXINT64, g_time_zone_get_offset(zone, first)};
  g_array_append_val(spans, span);
  find_changes(zone, FIRST_S, first, LAST_S, last, spans);

  ZoneTable *table = g_new0(ZoneTable, 1);
  table->zone = g_time_zone_ref(zone);
  table->spans = (TideZoneSpan *)(gpointer)g_array_steal(spans, &table->n_spans);
  g_array_unref(spans);
  return table;
}

static ZoneTable *
find_table(GTimeZone *zone)
{
  ZoneTable *table = atomic_load_explicit(&tables, memory_order_acquire);
  while (table != NULL && table->zone != zone)
    table = table->next;
  return table;
}

static ZoneTable *
add_table(GTimeZone *zone)
{
  tide_mutex_lock(&tables_lock);
  ZoneTable *table = find_table(zone); /* another thread may have added it meanwhile */
  if (table == NULL) {
    table = make_table(zone);
    table->next = atomic_load_explicit(&tables, memory_order_relaxed);
    atomic_store_explicit(&tables, table, memory_order_release);
  }
  tide_mutex_unlock(&tables_lock);
  return table;
}

TideZoneSpan
tide_zone_span_at(GTimeZone *zone, gint64 utc_s)
{
  if (zone == NULL)
    return (TideZoneSpan){G_MININT64, G_MAXINT64, 0};
  const ZoneTable *table = find_table(zone);
  if (G_UNLIKELY(table == NULL))
    table = add_table(zone);
  gsize first = 0, n = table->n_spans; /* the last span that begins at or before utc_s is among the n from first */
  while (n > 1) {
    gsize half = n / 2;
    first = table->spans[first + half].from_s <= utc_s ? first + half : first;
    n -= half;
  }
  return table->spans[first];
}

gint64
tide_zone_offset_s(GTimeZone *zone, gint64 utc_s)
{
  return tide_zone_span_at(zone, utc_s).offset_s;
}

/* Offsets are below a day, so only spans within a day before or after matter: nearly always one. */
TideLocalMoments
tide_zone_moments_of_local(GTimeZone *zone, gint64 local_s)
{
  TideLocalMoments moments = {0};
  TideZoneSpan span = tide_zone_span_at(zone, local_s - TIDE_SECONDS_PER_DAY);
  for (;;) {
    gint64 utc_s = local_s - span.offset_s;
    if (utc_s >= span.to_s && moments.n == 0)
      moments.utc_s[0] = span.to_s;
    if (utc_s >= span.from_s && utc_s < span.to_s)
      moments.utc_s[moments.n++] = utc_s;
    if (span.to_s > local_s + TIDE_SECONDS_PER_DAY || moments.n == G_N_ELEMENTS(moments.utc_s))
      return moments;
    span = tide_zone_span_at(zone, span.to_s);
  }
}

gboolean
tide_zone_repeats(GTimeZone *zone, gint64 from_s)
{
  TideZoneSpan span = tide_zone_span_at(zone, from_s);
  while (span.to_s != G_MAXINT64) {
    TideZoneSpan next = tide_zone_span_at(zone, span.to_s);
    if (next.offset_s < span.offset_s)
      return TRUE;
    span = next;
  }
  return FALSE;
}
