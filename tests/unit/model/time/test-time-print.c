#include "model/time/time_cut.h"
#include "model/time/time_print.h"
#include "util/calendar.h"
#include "util/error.h"

#include "unit/allocation_counter.h"
#include "unit/time_zones.h"

#define NS_PER_S G_GINT64_CONSTANT(1000000000)
#define T_NS G_GINT64_CONSTANT(1426535612045678901) /* 2015-03-16T19:53:32.045678901Z */

static TideTimePrint *
print_of(const char *pattern, gboolean variable)
{
  g_autoptr(GError) error = NULL;
  TideTimePrint *print = tide_time_print_compile(pattern, variable, &error);
  g_assert_no_error(error);
  g_assert_nonnull(print);
  return print;
}

static char *
printed(const TideTimePrint *print, GTimeZone *zone, gint64 ns)
{
  g_auto(TideBuffer) out = {0};
  tide_time_print_append(print, zone, ns, &out);
  return g_strndup((const char *)out.data, out.len);
}

static void
test_patterns_print(void)
{
  static const struct {
    const char *pattern;
    gboolean variable;
    const char *zone; /* NULL: UTC */
    gint64 ns;
    const char *text;
  } cases[] = {
      {"yyyyMMdd", FALSE, NULL, T_NS, "20150316"},
      {"yyyyMMddHHmmssSSS", FALSE, NULL, T_NS, "20150316195332045"},
      {"yyyyMMddHHmmssSSSSSSSSS", FALSE, NULL, T_NS, "20150316195332045678901"},
      {"yyyyMMddHHmmssS", FALSE, NULL, T_NS, "201503161953320"},
      {"HHmm", FALSE, NULL, T_NS, "1953"},
      {"HHmm", FALSE, "America/Los_Angeles", T_NS, "1253"},
      {"yyyy-MM-dd'T'HH:mm:ss", FALSE, "Asia/Kathmandu", T_NS, "2015-03-17T01:38:32"},
      {"yyyyMMdd", FALSE, "Pacific/Kiritimati", T_NS, "20150317"},
      {"''yyyy''", FALSE, NULL, T_NS, "'2015'"},
      {"'day'dd'''s'", FALSE, NULL, T_NS, "day16's"},
      {"\xC3\xA9 HH", FALSE, NULL, T_NS, "\xC3\xA9 19"},
      {"d", TRUE, NULL, T_NS, "16"},
      {"d", TRUE, NULL, T_NS - 15 * 86400 * NS_PER_S, "1"},
      {"M/d", TRUE, NULL, T_NS, "3/16"},
      {"H'h'", TRUE, NULL, T_NS, "19h"},
      {"H", TRUE, NULL, T_NS - 19 * 3600 * NS_PER_S, "0"},
      {"MM.dd.H", TRUE, NULL, T_NS, "03.16.19"},
      {"yyyyMMddHHmmssSSSSSSSSS", FALSE, NULL, 0, "19700101000000000000000"},
      {"yyyyMMddHH", FALSE, "America/Los_Angeles", 0, "1969123116"},
      {"yyyyMMddHHmmssSSSSSSSSS", FALSE, NULL, G_MAXINT64, "22620411234716854775807"},
      {"yyyyMMddHHmmssSSSSSSSSS", FALSE, NULL, -1, "19691231235959999999999"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GTimeZone) zone = cases[i].zone != NULL ? time_zone_of(cases[i].zone) : NULL;
    g_autoptr(TideTimePrint) print = print_of(cases[i].pattern, cases[i].variable);
    g_autofree char *text = printed(print, zone, cases[i].ns);
    g_assert_cmpstr(text, ==, cases[i].text);
  }
}

static void
test_append_keeps_what_was_there(void)
{
  g_autoptr(TideTimePrint) print = print_of("yyyyMMdd", FALSE);
  g_auto(TideBuffer) out = {0};
  tide_buffer_append(&out, "a#", 2);
  tide_time_print_append(print, NULL, T_NS, &out);
  g_assert_true(tide_bytes_equal(tide_buffer_bytes(&out), TIDE_BYTES_LITERAL("a#20150316")));
}

/* As keys ask it, where the zone's clocks do not change. */
static gboolean
sorts(const TideTimePrint *print)
{
  return print->width_bytes > 0 && print->descends && print->first_level == TIDE_LEVEL_YEAR;
}

static void
test_properties_of_patterns(void)
{
  static const struct {
    const char *pattern;
    gboolean variable;
    guint32 width_bytes;
    gboolean sorts, has_date, has_clock;
    gint64 resolution_ns;
  } cases[] = {
      {"yyyyMMdd", FALSE, 8, TRUE, TRUE, FALSE, 86400 * NS_PER_S},
      {"yyyyMM", FALSE, 6, TRUE, TRUE, FALSE, 31 * 86400 * NS_PER_S},
      {"yyyy", FALSE, 4, TRUE, TRUE, FALSE, 366 * 86400 * NS_PER_S},
      {"yyyy-MM-dd'T'HH", FALSE, 13, TRUE, TRUE, TRUE, 3600 * NS_PER_S},
      {"yyyyMMddHHmm", FALSE, 12, TRUE, TRUE, TRUE, 60 * NS_PER_S},
      {"yyyyMMddHHmmss", FALSE, 14, TRUE, TRUE, TRUE, NS_PER_S},
      {"yyyyMMddHHmmssSSS", FALSE, 17, TRUE, TRUE, TRUE, NS_PER_S / 1000},
      {"ddMMyyyy", FALSE, 8, FALSE, TRUE, FALSE, 86400 * NS_PER_S},
      {"HHmm", FALSE, 4, FALSE, FALSE, TRUE, 60 * NS_PER_S},
      {"MMdd", FALSE, 4, FALSE, FALSE, FALSE, 86400 * NS_PER_S},
      {"yyyydd", FALSE, 6, FALSE, FALSE, FALSE, 86400 * NS_PER_S},
      {"yyyyMMddmm", FALSE, 10, FALSE, FALSE, TRUE, 60 * NS_PER_S},
      {"d", TRUE, 0, FALSE, FALSE, FALSE, 86400 * NS_PER_S},
      {"yyyyM", TRUE, 0, FALSE, TRUE, FALSE, 31 * 86400 * NS_PER_S},
      {"dd", TRUE, 2, FALSE, FALSE, FALSE, 86400 * NS_PER_S},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(TideTimePrint) print = print_of(cases[i].pattern, cases[i].variable);
    g_test_message("'%s'", cases[i].pattern);
    g_assert_cmpuint(print->width_bytes, ==, cases[i].width_bytes);
    g_assert_cmpint(sorts(print), ==, cases[i].sorts);
    g_assert_cmpint(tide_time_print_has_date(print), ==, cases[i].has_date);
    g_assert_cmpint((print->named & TIDE_NAMES_CLOCK) != 0, ==, cases[i].has_clock);
    g_assert_cmpint(tide_time_print_resolution_ns(print), ==, cases[i].resolution_ns);
  }
}

static void
test_wrong_patterns_are_refused_with_what_is_allowed(void)
{
  static const struct {
    const char *pattern;
    gboolean variable;
    const char *fault;
  } cases[] = {
      {"", FALSE, "names no part of a time"},
      {"'yyyy'", FALSE, "names no part of a time"},
      {"yyyyMMddX", FALSE, "no such letter 'X': use yyyy MM dd HH mm ss S"},
      {"yyy", FALSE, "'yyy' must be written yyyy"},
      {"yyyyMd", FALSE, "'M' must be written MM"},
      {"d", FALSE, "'d' must be written dd"},
      {"ddd", TRUE, "'ddd' must be written dd or d"},
      {"m", TRUE, "'m' must be written mm"},
      {"SSSSSSSSSS", FALSE, "'SSSSSSSSSS' must be written S to SSSSSSSSS"},
      {"yyyy-yyyy", FALSE, "'y' stands in it twice"},
      {"d dd", TRUE, "'d' stands in it twice"},
      {"yyyy'T", FALSE, "a quote is not closed"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GError) error = NULL;
    g_test_message("'%s'", cases[i].pattern);
    g_assert_null(tide_time_print_compile(cases[i].pattern, cases[i].variable, &error));
    g_assert_error(error, TIDE_ERROR, TIDE_ERROR_CONFIG);
    g_assert_nonnull(strstr(error->message, cases[i].fault));
  }
  tide_time_print_free(NULL);
}

/* A pattern that prints all from the year down to one element, in any order, with something between. */
static char *
random_pattern(void)
{
  static const char *const elements[] = {"yyyy", "MM", "dd", "HH", "mm", "ss", NULL};
  static const char *const between[] = {"", "", "-", " 'at' ", "''", "\xE2\x82\xAC", "7"};
  g_autofree char *fraction = g_strnfill((gsize)g_test_rand_int_range(1, 10), 'S');
  const char *order[7] = {NULL};
  int n = g_test_rand_int_range(1, 8);
  for (int i = 0; i < n; i++) {
    int index = g_test_rand_int_range(0, i + 1);
    order[i] = order[index];
    order[index] = i < 6 ? elements[i] : fraction;
  }
  GString *pattern = g_string_new(NULL);
  for (int i = 0; i < n; i++)
    g_string_append_printf(pattern, "%s%s", order[i], between[g_test_rand_int_range(0, G_N_ELEMENTS(between))]);
  return g_string_free(pattern, FALSE);
}

static void
test_what_is_printed_reads_back(void)
{
  for (int n = 0; n < 50000; n++) {
    g_autofree char *pattern = random_pattern();
    g_autoptr(TideTimePrint) print = print_of(pattern, FALSE);
    g_autoptr(GTimeZone) zone =
        g_test_rand_int_range(0, 8) > 0 ? time_zone_of(time_zone_names[g_test_rand_int_range(0, N_TIME_ZONES)]) : NULL;
    gint64 t = random_moment_ns(), from, to, longest = tide_time_print_resolution_ns(print);
    g_autofree char *text = printed(print, zone, t);
    TideTimeElements elements;
    g_test_message("'%s' '%s' %" G_GINT64_FORMAT, pattern, text, t);
    g_assert_cmpuint(strlen(text), ==, print->width_bytes);
    g_assert_true(tide_time_print_read(print, tide_bytes_of_string(text), &elements));
    g_assert_true(tide_time_elements_interval(&elements, zone, &from, &to));
    g_assert_cmpint(from, <=, t);
    g_assert_cmpint(t, <, to);
    /* A time that is shown twice reaches from the one to the other, 3 hours later at most. */
    g_assert_cmpint(to - from, <=, longest + 3 * 3600 * NS_PER_S);
    if (zone == NULL && longest <= 86400 * NS_PER_S)
      g_assert_cmpint(to - from, ==, longest);
    /* Both ends show the same. */
    g_autofree char *first = printed(print, zone, from), *last = printed(print, zone, to - 1);
    g_assert_cmpstr(first, ==, text);
    g_assert_cmpstr(last, ==, text);
  }
}

static void
test_order_of_texts_is_that_of_times(void)
{
  static const char *const patterns[] = {"yyyy", "yyyyMM", "yyyy-MM-dd", "yyyyMMddHH", "yyyyMMddHHmmssSSS"};
  for (int n = 0; n < 20000; n++) {
    g_autoptr(TideTimePrint) print = print_of(patterns[g_test_rand_int_range(0, G_N_ELEMENTS(patterns))], FALSE);
    gint64 a = random_moment_ns(), b = a + g_test_rand_int_range(0, G_MAXINT32) * G_GINT64_CONSTANT(1000003);
    g_autofree char *text_a = printed(print, NULL, a), *text_b = printed(print, NULL, b);
    g_assert_true(sorts(print));
    g_assert_cmpint(strcmp(text_a, text_b), <=, 0);
  }
}

/* A day slot printed as yyyyMMdd gives all of the slot back: what the wide day row needs. */
static void
test_printed_day_is_the_day_s_slot(void)
{
  g_autoptr(TideTimePrint) print = print_of("yyyyMMdd", FALSE);
  TideTimeCut day = {.unit = TIDE_CUT_DAY};
  for (gsize i = 0; i < N_TIME_ZONES; i++) {
    g_autoptr(GTimeZone) zone = time_zone_of(time_zone_names[i]);
    for (int n = 0; n < 5000; n++) {
      gint64 t = random_moment_ns(), from, to;
      gint64 start = tide_time_cut_start_ns(day, zone, t);
      g_autofree char *text = printed(print, zone, start);
      TideTimeElements elements;
      g_assert_true(tide_time_print_read(print, tide_bytes_of_string(text), &elements));
      g_assert_true(tide_time_elements_interval(&elements, zone, &from, &to));
      g_assert_true(from <= t && t < to);
      g_assert_cmpint(from, <=, start);
      g_assert_cmpint(to, >=, tide_time_cut_end_ns(day, zone, t));
      /* The date may be shown before the day's slot, where clocks are set back to the day before. */
      g_assert_cmpint(start - from, <=, 3 * 3600 * NS_PER_S);
    }
  }
}

static void
test_texts_of_another_form_are_refused(void)
{
  static const struct {
    const char *pattern;
    const char *text;
  } cases[] = {
      {"yyyyMMdd", "2015031"},  {"yyyyMMdd", "201503160"}, {"yyyyMMdd", "2015031a"}, {"yyyyMMdd", "20151316"},
      {"yyyyMMdd", "20150016"}, {"yyyyMMdd", "20150300"},  {"yyyyMMdd", "20150332"}, {"HHmm", "2400"},
      {"HHmm", "2360"},         {"HH:mm:ss", "12:00:60"},  {"HH:mm", "12-00"},       {"'x'HH", "y12"},
      {"yyyyMMdd", ""},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(TideTimePrint) print = print_of(cases[i].pattern, FALSE);
    TideTimeElements elements;
    g_test_message("'%s' '%s'", cases[i].pattern, cases[i].text);
    g_assert_false(tide_time_print_read(print, tide_bytes_of_string(cases[i].text), &elements));
  }
  g_autoptr(TideTimePrint) varying = print_of("d", TRUE);
  TideTimeElements elements;
  g_assert_false(tide_time_print_read(varying, TIDE_BYTES_LITERAL("7"), &elements));
}

static gboolean
read_into(TideTimeElements *elements, const char *pattern, const char *text)
{
  g_autoptr(TideTimePrint) print = print_of(pattern, FALSE);
  return tide_time_print_read(print, tide_bytes_of_string(text), elements);
}

static void
test_intervals_on_days_on_which_clocks_are_set(void)
{
  static const struct {
    const char *zone;
    const char *pattern;
    const char *text;
    gboolean exists;
    gint64 from_s, to_s;
  } cases[] = {
      {"Europe/Berlin", "yyyyMMdd", "20150329", TRUE, 1427583600, 1427666400},     /* 23 hours */
      {"Europe/Berlin", "yyyyMMdd", "20151025", TRUE, 1445724000, 1445814000},     /* 25 hours */
      {"Europe/Berlin", "yyyyMMddHH", "2015032902", FALSE, 0, 0},                  /* skipped */
      {"Europe/Berlin", "yyyyMMddHH", "2015102502", TRUE, 1445731200, 1445738400}, /* twice: both hours */
      {"Europe/Berlin", "yyyyMMddHHmm", "201510250230", TRUE, 1445733000, 1445736660},
      {"America/Sao_Paulo", "yyyyMMdd", "20171015", TRUE, 1508036400, 1508119200}, /* begins at 01:00 */
      {"America/Sao_Paulo", "yyyyMMddHH", "2017101500", FALSE, 0, 0},
      {"Pacific/Apia", "yyyyMMdd", "20111230", FALSE, 0, 0},
      {"UTC", "yyyyMMdd", "20150229", FALSE, 0, 0},
      {"UTC", "yyyyMMdd", "20160229", TRUE, 1456704000, 1456790400},
      {"UTC", "yyyyMM", "201602", TRUE, 1454284800, 1456790400},
      {"UTC", "yyyyMM", "201612", TRUE, 1480550400, 1483228800},
      {"UTC", "yyyy", "2016", TRUE, 1451606400, 1483228800},
      {"UTC", "yyyy", "1969", FALSE, 0, 0},
      {"America/Los_Angeles", "yyyy", "1969", TRUE, 0, 28800}, /* its last hours are of 1970 in UTC */
      {"UTC", "yyyy", "2263", FALSE, 0, 0},
      {"UTC", "yyyy", "9999", FALSE, 0, 0},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GTimeZone) zone = time_zone_of(cases[i].zone);
    TideTimeElements elements;
    gint64 from = 0, to = 0;
    g_test_message("'%s' %s", cases[i].text, cases[i].zone);
    g_assert_true(read_into(&elements, cases[i].pattern, cases[i].text));
    g_assert_cmpint(tide_time_elements_interval(&elements, zone, &from, &to), ==, cases[i].exists);
    g_assert_cmpint(from, ==, cases[i].from_s * NS_PER_S);
    g_assert_cmpint(to, ==, cases[i].to_s * NS_PER_S);
  }
}

static void
test_printing_allocates_nothing(void)
{
  g_autoptr(GTimeZone) zone = time_zone_of("Europe/Berlin");
  g_autoptr(TideTimePrint) print = print_of("yyyyMMddHHmmssSSS", FALSE);
  g_auto(TideBuffer) out = {0};
  tide_time_print_append(print, zone, 0, &out);
  guint64 n_before = allocation_count;
  for (gint64 ns = 0; ns < 1000 * 86400 * NS_PER_S; ns += 86399 * NS_PER_S) {
    tide_buffer_reset(&out);
    tide_time_print_append(print, zone, ns, &out);
  }
  g_assert_cmpuint(allocation_count, ==, n_before);
}

/* For `-m perf`: prints what printing costs. */
static void
test_cost(void)
{
  static const char *const names[] = {NULL, "Europe/Berlin"};
  static const char *const patterns[] = {"HHmm", "yyyyMMdd", "yyyyMMddHHmmssSSS"};
  if (!g_test_perf()) {
    g_test_skip("a measurement: run with -m perf");
    return;
  }
  for (gsize z = 0; z < G_N_ELEMENTS(names); z++) {
    g_autoptr(GTimeZone) zone = names[z] != NULL ? time_zone_of(names[z]) : NULL;
    for (gsize p = 0; p < G_N_ELEMENTS(patterns); p++) {
      g_autoptr(TideTimePrint) print = print_of(patterns[p], FALSE);
      g_auto(TideBuffer) out = {0};
      gint64 began_us = g_get_monotonic_time();
      for (gint64 n = 0; n < 2000000; n++) {
        tide_buffer_reset(&out);
        tide_time_print_append(print, zone, (1780000000 + n * 997 % 30000000) * NS_PER_S, &out);
      }
      double each_ns = (double)(g_get_monotonic_time() - began_us) / 2000;
      g_test_minimized_result(each_ns, "%s in %s: %.1f ns", patterns[p], names[z] != NULL ? names[z] : "UTC", each_ns);
    }
  }
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/time-print/patterns", test_patterns_print);
  g_test_add_func("/time-print/append", test_append_keeps_what_was_there);
  g_test_add_func("/time-print/properties", test_properties_of_patterns);
  g_test_add_func("/time-print/wrong-patterns", test_wrong_patterns_are_refused_with_what_is_allowed);
  g_test_add_func("/time-print/reads-back", test_what_is_printed_reads_back);
  g_test_add_func("/time-print/order", test_order_of_texts_is_that_of_times);
  g_test_add_func("/time-print/printed-day-is-the-slot", test_printed_day_is_the_day_s_slot);
  g_test_add_func("/time-print/texts-of-another-form", test_texts_of_another_form_are_refused);
  g_test_add_func("/time-print/clocks-set", test_intervals_on_days_on_which_clocks_are_set);
  g_test_add_func("/time-print/allocates-nothing", test_printing_allocates_nothing);
  g_test_add_func("/time-print/cost", test_cost);
  return g_test_run();
}
