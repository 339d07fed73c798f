#include "model/time/zone_spans.h"
#include "util/lock.h"

#include "unit/time_zones.h"

/* GLib's answer, the slow way. */
static gint64
offset_by_glib(GTimeZone *zone, gint64 utc_s)
{
  return g_time_zone_get_offset(zone, g_time_zone_find_interval(zone, G_TIME_TYPE_UNIVERSAL, utc_s));
}

static void
test_offsets_are_glib_s(void)
{
  for (gsize i = 0; i < N_TIME_ZONES; i++) {
    g_autoptr(GTimeZone) zone = time_zone_of(time_zone_names[i]);
    for (int n = 0; n < 5000; n++) {
      gint64 utc_s = random_moment_ns() / G_GINT64_CONSTANT(1000000000);
      TideZoneSpan span = tide_zone_span_at(zone, utc_s);
      g_assert_cmpint(span.offset_s, ==, offset_by_glib(zone, utc_s));
      g_assert_cmpint(span.from_s, <=, utc_s);
      g_assert_cmpint(span.to_s, >, utc_s);
    }
  }
}

static void
test_spans_join_and_differ(void)
{
  for (gsize i = 0; i < N_TIME_ZONES; i++) {
    g_autoptr(GTimeZone) zone = time_zone_of(time_zone_names[i]);
    TideZoneSpan span = tide_zone_span_at(zone, G_MININT64);
    g_assert_cmpint(span.from_s, ==, G_MININT64);
    while (span.to_s != G_MAXINT64) {
      TideZoneSpan next = tide_zone_span_at(zone, span.to_s);
      g_assert_cmpint(next.from_s, ==, span.to_s);
      g_assert_cmpint(next.offset_s, !=, span.offset_s);
      g_assert_cmpint(offset_by_glib(zone, next.from_s - 1), ==, span.offset_s);
      g_assert_cmpint(offset_by_glib(zone, next.from_s), ==, next.offset_s);
      g_assert_cmpint(tide_zone_span_at(zone, next.from_s - 1).from_s, ==, span.from_s);
      span = next;
    }
  }
}

static void
test_no_zone_is_utc(void)
{
  TideZoneSpan span = tide_zone_span_at(NULL, 1426535612);
  g_assert_cmpint(span.from_s, ==, G_MININT64);
  g_assert_cmpint(span.to_s, ==, G_MAXINT64);
  g_assert_cmpint(span.offset_s, ==, 0);
}

static void
test_change_in_berlin_is_where_it_was(void)
{
  g_autoptr(GTimeZone) zone = time_zone_of("Europe/Berlin");
  TideZoneSpan summer = tide_zone_span_at(zone, 1435708800); /* 2015-07-01 */
  g_assert_cmpint(summer.from_s, ==, 1427590800);            /* 2015-03-29T01:00:00Z */
  g_assert_cmpint(summer.to_s, ==, 1445734800);              /* 2015-10-25T01:00:00Z */
  g_assert_cmpint(summer.offset_s, ==, 7200);
}

static void
ask_all_zones(gpointer data)
{
  GTimeZone **zones = data;
  for (gsize i = 0; i < N_TIME_ZONES; i++)
    g_assert_cmpint(tide_zone_span_at(zones[i], 1435708800).offset_s, ==, offset_by_glib(zones[i], 1435708800));
}

/* Zones of their own, so that they are new to all threads at once. */
static void
test_threads_may_ask_first_together(void)
{
  GTimeZone *zones[N_TIME_ZONES];
  TideThread *threads[8];
  for (gsize i = 0; i < N_TIME_ZONES; i++) {
    g_autofree char *name = g_strdup_printf("+%02" G_GSIZE_FORMAT ":30", i % 14);
    zones[i] = g_time_zone_new_identifier(name);
  }
  for (gsize i = 0; i < G_N_ELEMENTS(threads); i++)
    threads[i] = tide_thread_start("ask", ask_all_zones, zones);
  for (gsize i = 0; i < G_N_ELEMENTS(threads); i++)
    tide_thread_join(threads[i]);
  for (gsize i = 0; i < N_TIME_ZONES; i++)
    g_time_zone_unref(zones[i]);
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/zone-spans/threads-may-ask-first-together", test_threads_may_ask_first_together);
  g_test_add_func("/zone-spans/offsets-are-glib's", test_offsets_are_glib_s);
  g_test_add_func("/zone-spans/join-and-differ", test_spans_join_and_differ);
  g_test_add_func("/zone-spans/no-zone-is-utc", test_no_zone_is_utc);
  g_test_add_func("/zone-spans/change-in-berlin", test_change_in_berlin_is_where_it_was);
  return g_test_run();
}
