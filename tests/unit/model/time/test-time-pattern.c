/* The language of time patterns, and times as numbers, in both directions. */
#include "model/time/time_forms.h"
#include "model/time/zone_spans.h"
#include "unit/test_case.h"
#include "unit/time_zones.h"
#include "util/error.h"

#define NS_PER_S G_GINT64_CONSTANT(1000000000)
#define T_NS G_GINT64_CONSTANT(1795871383123000000) /* Sat 2026-11-28T13:09:43.123Z */
#define T_S (T_NS - 123000000)

static TideTimePattern *
pattern_of(const char *text)
{
  g_autoptr(GError) error = NULL;
  TideTimePattern *pattern = tide_time_pattern_compile(text, TIDE_PATTERN_TEXT, &error);
  g_test_message("'%s'", text);
  g_assert_no_error(error);
  return pattern;
}

/* The moment that @text names in UTC, or by its own offset; -1: it is none. */
static gint64
read_ns(const TideTimePattern *pattern, const char *text)
{
  TideTimeElements elements;
  const char *detail = NULL;
  if (!tide_time_pattern_read(pattern, tide_bytes_of_string(text), &elements, &detail)) {
    g_assert_nonnull(detail);
    return -1;
  }
  return (tide_time_elements_local_s(&elements) - elements.offset_s) * NS_PER_S + elements.values[TIDE_LEVEL_FRACTION];
}

static char *
print_ns(const TideTimePattern *pattern, GTimeZone *zone, gint64 ns)
{
  g_auto(TideBuffer) out = {0};
  tide_time_pattern_print(pattern, zone, ns, &out);
  g_assert_cmpuint(out.len, <=, pattern->longest_bytes);
  return g_strndup((const char *)out.data, out.len);
}

TEST("/time-pattern/texts")
{
  static const struct {
    const char *pattern;
    const char *text;
    gint64 ns;           /* -1: refused */
    const char *printed; /* of it; NULL: the text itself */
  } cases[] = {
      {"yyyy-MM-dd HH:mm:ss.SSS", "2026-11-28 13:09:43.123", T_NS, NULL},
      {"yyyyMMddHHmmssSSS", "20261128130943123", T_NS, NULL},
      {"yyyy-MM-dd'T'HH:mm:ss'Z'", "2026-11-28T13:09:43Z", T_S, NULL},
      {"yyyyMMdd HH 'o''clock'", "20261128 13 o'clock", T_S - 583 * NS_PER_S, NULL},
      {"yyyyMMdd", "20261128", T_S - 47383 * NS_PER_S, NULL},
      {"yyyyMMdd", "20261128 ", -1, NULL},
      {"yyyyMMdd", "2026112", -1, NULL},
      {"yyyyMMdd", "20260230", -1, NULL},
      {"yyyyMMdd", "+2026112", -1, NULL},
      {"yyyy-MM-dd'T'HH:mm", "2026-11-28T13-09", -1, NULL},
      {"yyyyMMdd HH:mm:ss", "20261128 23:59:60", -1, NULL},
      /* an optional part that fits, and takes what the next one needs */
      {"yyyyMMdd HH:mm:ss[.][.f]", "20261128 13:09:43.123", T_NS, "20261128 13:09:43..123"},
      {"yyyyMMdd HH:mm:ss[[.]'.'].f", "20261128 13:09:43.123", T_NS, "20261128 13:09:43...123"},
      {"yyyyMMdd HH:mm:ss[.][.f]", "20261128 13:09:43.", T_S, "20261128 13:09:43..0"},
      {"yyyyMMdd HH:mm:ss[.][.f]", "20261128 13:09:43.x", -1, NULL},
      /* RFC 1123, Apache, of Java's and C's own */
      {"EEE, d MMM yyyy HH:mm:ss XX", "Sat, 28 Nov 2026 13:09:43 Z", T_S, NULL},
      {"EEE, d MMM yyyy HH:mm:ss XX", "Sat, 28 Nov 2026 13:09:43 +0000", T_S, "Sat, 28 Nov 2026 13:09:43 Z"},
      {"EEE, d MMM yyyy HH:mm:ss XX", "Sat, 28 Nov 2026 15:09:43 +0200", T_S, "Sat, 28 Nov 2026 13:09:43 Z"},
      {"EEE, d MMM yyyy HH:mm:ss XX", "Mon, 28 nov 2026 13:09:43 z", T_S, "Sat, 28 Nov 2026 13:09:43 Z"},
      {"EEE, d MMM yyyy HH:mm:ss XX", "Sam, 28 Nov 2026 13:09:43 Z", -1, NULL},
      {"dd/MMM/yyyy:HH:mm:ss X", "28/Nov/2026:13:09:43 +0000", T_S, "28/Nov/2026:13:09:43 Z"},
      {"dd/MMM/yyyy:HH:mm:ss X", "28/Xyz/2026:13:09:43 +0000", -1, NULL},
      {"EEE MMM dd HH:mm:ss yyyy", "Sat Nov 28 13:09:43 2026", T_S, NULL},
      /* halves of a day, single digits, names in any letters */
      {"M/d/yyyy h:mm:ss a", "11/28/2026 1:09:43 PM", T_S, NULL},
      {"M/d/yyyy h:mm:ss a", "11/28/2026 1:09:43 pm", T_S, "11/28/2026 1:09:43 PM"},
      {"M/d/yyyy h:mm:ss a", "11/28/2026 13:09:43 PM", -1, NULL},
      {"M/d/yyyy h:mm:ss a", "11/28/2026 0:09:43 PM", -1, NULL},
      {"M/d/yyyy hh:mm a", "1/2/2026 12:00 AM", G_GINT64_CONSTANT(1767312000000000000), NULL},
      {"M/d/yyyy hh:mm a", "1/2/2026 12:00 PM", G_GINT64_CONSTANT(1767355200000000000), NULL},
      {"a hh:mm yyyy-MM-dd", "AM 01:05 2026-01-02", G_GINT64_CONSTANT(1767315900000000000), NULL},
      {"d.M.yyyy H:mm", "28.11.2026 9:05", G_GINT64_CONSTANT(1795856700000000000), NULL},
      {"d.M.yy H:m:s", "8.1.26 9:5:7", G_GINT64_CONSTANT(1767863107000000000), NULL},
      {"d.M.yyyy H:mm", "128.11.2026 9:05", -1, NULL},
      {"d.M.yyyy Hmm", "28.11.2026 905", G_GINT64_CONSTANT(1795856700000000000), NULL},
      {"d.M.yyyy Hmm", "28.11.2026 1905", G_GINT64_CONSTANT(1795892700000000000), NULL},
      {"yyyy-DDD'T'HH:mm:ss", "2026-332T13:09:43", T_S, NULL},
      {"yyyy-D", "2026-1", G_GINT64_CONSTANT(1767225600000000000), NULL},
      {"yyyy-D", "2024-366", G_GINT64_CONSTANT(1735603200000000000), NULL},
      {"yyyy-D", "2026-366", -1, NULL},
      {"yyyy-D", "2026-0", -1, NULL},
      /* fractions */
      {"yyyy-MM-dd HH:mm:ss,f", "2026-11-28 13:09:43,123", T_NS, NULL},
      {"yyyy-MM-dd HH:mm:ss.f", "2026-11-28 13:09:43.1", T_S + 100000000, NULL},
      {"yyyy-MM-dd HH:mm:ss.f", "2026-11-28 13:09:43.123000001", T_NS + 1, NULL},
      {"yyyy-MM-dd HH:mm:ss.f", "2026-11-28 13:09:43.1230000019999", T_NS + 1, "2026-11-28 13:09:43.123000001"},
      {"yyyy-MM-dd HH:mm:ss.f", "2026-11-28 13:09:43.", -1, NULL},
      {"yyyy-MM-dd HH:mm:ss.SSS", "2026-11-28 13:09:43.12", -1, NULL},
      /* offsets */
      {"yyyy-MM-dd'T'HH:mm:ssX", "2026-11-28T15:09:43+02", T_S, "2026-11-28T13:09:43Z"},
      {"yyyy-MM-dd'T'HH:mm:ssX", "2026-11-28T15:09:43+0200", T_S, "2026-11-28T13:09:43Z"},
      {"yyyy-MM-dd'T'HH:mm:ssX", "2026-11-28T15:09:43 +02:00", T_S, "2026-11-28T13:09:43Z"},
      {"yyyy-MM-dd'T'HH:mm:ssX", "2026-11-28T06:09:43-0700", T_S, "2026-11-28T13:09:43Z"},
      {"yyyy-MM-dd'T'HH:mm:ssX", "2026-11-28T13:09:43", -1, NULL},
      {"yyyy-MM-dd'T'HH:mm:ssX", "2026-11-28T13:09:43+24", -1, NULL},
      {"yyyy-MM-dd'T'HH:mm:ssX", "2026-11-28T13:09:43+2", -1, NULL},
      /* parts that may be absent */
      {"yyyy-MM-dd['T'][ ]HH:mm[:ss[.f]][X]", "2026-11-28 13:09:43.123", T_NS, "2026-11-28T 13:09:43.123Z"},
      {"yyyy-MM-dd HH:mm[:ss[.f][,f]][X]", "2026-11-28 13:09", T_S - 43 * NS_PER_S, "2026-11-28 13:09:00.0Z"},
      {"yyyy-MM-dd HH:mm[:ss[.f][,f]][X]", "2026-11-28 13:09:43", T_S, "2026-11-28 13:09:43.0Z"},
      {"yyyy-MM-dd HH:mm[:ss[.f][,f]][X]", "2026-11-28 13:09:43,123", T_NS, "2026-11-28 13:09:43.123Z"},
      {"yyyy-MM-dd HH:mm[:ss[.f][,f]][X]", "2026-11-28 15:09:43,123+02", T_NS, "2026-11-28 13:09:43.123Z"},
      {"yyyy-MM-dd HH:mm[:ss[.f][,f]][X]", "2026-11-28 13:09:43,123.4", -1, NULL},
      {"[yyyy-MM-dd][dd.MM.yyyy]", "28.11.2026", T_S - 47383 * NS_PER_S, "2026-11-28"},
      {"[yyyy-MM-dd][dd.MM.yyyy]", "2026-11-2828.11.2026", -1, NULL},
      {"[yyyy-MM-dd][dd.MM.yyyy]", "", -1, NULL},
      /* what a part took before it did not fit is free again; what is left must not have gaps */
      {"yyyy-MM-dd[ HH:mm][ HH'h']", "2026-11-28 13h", T_S - 583 * NS_PER_S, "2026-11-28 13:00"},
      {"yyyyMMdd HH[mm'm']ss's'", "20261128 1309m43s", T_S, NULL},
      {"yyyyMMdd HH[mm'm']ss's'", "20261128 1343s", -1, NULL},
      {"yyyyMMdd[HHmm]'['", "20261128[", T_S - 47383 * NS_PER_S, "202611280000["},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(TideTimePattern) pattern = pattern_of(cases[i].pattern);
    g_test_message("'%s'", cases[i].text);
    g_assert_cmpint(read_ns(pattern, cases[i].text), ==, cases[i].ns);
    if (cases[i].ns < 0)
      continue;
    g_autofree char *printed = print_ns(pattern, NULL, cases[i].ns);
    g_assert_cmpstr(printed, ==, cases[i].printed != NULL ? cases[i].printed : cases[i].text);
  }
}

TEST("/time-pattern/offsets-are-printed-by-the-number-of-letters")
{
  static const struct {
    const char *zone;
    const char *texts[3];
  } cases[] = {{"UTC", {"Z", "Z", "Z"}},
               {"Europe/Berlin", {"+01", "+0100", "+01:00"}},
               {"Asia/Kolkata", {"+0530", "+0530", "+05:30"}},
               {"America/St_Johns", {"-0330", "-0330", "-03:30"}}};
  static const char *const patterns[] = {"HHX", "HHXX", "HHXXX"};
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++)
    for (gsize k = 0; k < G_N_ELEMENTS(patterns); k++) {
      g_autoptr(TideTimePattern) pattern = pattern_of(patterns[k]);
      g_autoptr(GTimeZone) zone = time_zone_of(cases[i].zone);
      g_autofree char *text = print_ns(pattern, zone, T_NS);
      g_assert_cmpstr(text + 2, ==, cases[i].texts[k]);
    }
  /* Until 1972 Liberia's clocks went 44 minutes and 30 seconds behind. */
  g_autoptr(TideTimePattern) pattern = pattern_of("yyyy-MM-dd HH:mm:ssXXX");
  g_autoptr(GTimeZone) monrovia = time_zone_of("Africa/Monrovia");
  g_autofree char *text = print_ns(pattern, monrovia, 3600 * NS_PER_S);
  g_assert_cmpstr(text, ==, "1970-01-01 00:16:00-00:44");
  g_assert_cmpint(read_ns(pattern, text), ==, 3600 * NS_PER_S);
}

TEST("/time-pattern/wrong-patterns")
{
  static const struct {
    const char *pattern;
    const char *fault; /* NULL: none */
  } cases[] = {
      {"", "has no element of a time"},
      {"'T'", "has no element of a time"},
      {"EEE", "has no element of a time"},
      {"yyy-MM-dd", "'yyy' must be written yyyy or yy"},
      {"yyyy-MMMM-dd", "'MMMM' must be written MM or M or MMM"},
      {"yyyy-MM-ddd", "'ddd' must be written dd or d"},
      {"yyyy-MM-ddTHH:mm",
       "no such letter 'T': use yyyy yy MM M MMM dd d DDD D EEE HH H hh h a mm m ss s S f X XX XXX"},
      {"yyyy-MM-dd HH:mm:ss Z", "no such letter 'Z'"},
      {"yyyy-MM-dd HH:mm:ss.SSSSSSSSSS", "must be written S to SSSSSSSSS"},
      {"yyyy-MM", "a date needs"},
      {"MM-dd HH:mm", "a date needs"},
      {"yyyy-MM-DDD", "'D' occurs twice"},
      {"mm:ss", "needs HH"},
      {"HH:ss", "ss needs mm"},
      {"HH:mm.SSS", "need ss"},
      {"yyyy-MM-dd X", "X (the offset from UTC) needs"},
      {"yyyy-MM-dd HH:mm HH", "twice"},
      {"yyyy-MM-dd HH:mm h", "twice"},
      {"yyyy-MM-dd hh:mm", "needs a (AM or PM)"},
      {"yyyy-MM-dd HH:mm a", "needs hh or h"},
      {"[yyyy]-yyyy-MM-dd", "twice"},
      {"yyyy-MM-dd[ yyyy]", "twice"},
      {"yyyy-MM-dd[[ HH:mm] HH:mm]", "twice"},
      {"yyyy-MM-dd 'HH", "a quote is not closed"},
      {"yyyy-MM-dd[ HH", "a [ is not closed"},
      {"yyyy-MM-dd] HH", "a ] has no ["},
      {"[[[[[yyyy]]]]]", "more than 4 optional parts"},
      {"yyyy[][][][][][][][][][][]", "more than 10 optional parts"},
      {"dMyyyy", "its end is ambiguous"},
      {"yyyyMMddH[mm]", "its end is ambiguous"},
      {"yyyyMMddH[:mm]'0'", "its end is ambiguous"},
      {"yyyyMMdd[ H]'0'", "its end is ambiguous"},
      {"HH:mmX yyyyMMdd", NULL},
      {"HH:mmXyyyyMMdd", "X (the offset from UTC) comes before"},
      {"HH:mmX[:ss] yyyyMMdd", "X (the offset from UTC) comes before"},
      {"[yyyy-MM-dd][dd.MM.yyyy HH]", "split it into two parts"},
      {"[yyyy-MM-dd][dd.MM.yyyy a] h", "split it into two parts"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GError) error = NULL;
    g_test_message("'%s'", cases[i].pattern);
    g_autoptr(TideTimePattern) pattern = tide_time_pattern_compile(cases[i].pattern, TIDE_PATTERN_TEXT, &error);
    g_assert_cmpint(pattern != NULL, ==, cases[i].fault == NULL);
    if (pattern != NULL)
      continue;
    g_assert_error(error, TIDE_ERROR, TIDE_ERROR_CONFIG);
    g_test_message("%s", error->message);
    g_assert_nonnull(strstr(error->message, cases[i].fault));
  }
  g_autofree char *parts = g_strnfill(20, '['), *long_text = g_strnfill(300, '-');
  for (gsize i = 1; i < 20; i += 2)
    parts[i] = ']';
  g_autofree char *many = g_strconcat("d", parts, " MM yyyy", NULL), *too_long = g_strconcat("yyyy", long_text, NULL);
  g_autoptr(TideTimePattern) pattern = pattern_of(many);
  g_assert_cmpint(read_ns(pattern, "28 11 2026"), ==, T_S - 47383 * NS_PER_S);
  g_assert_null(tide_time_pattern_compile(too_long, TIDE_PATTERN_TEXT, NULL));
}

/* What only readings may have cannot be read back from a key, or does not sort. */
TEST("/time-pattern/keys-have-no-more-than-they-had")
{
  static const char *const refused[] = {"yy", "MMM", "D", "EEE", "hh", "a", "m", "f", "X", "yyyy[MM]", "yyyy]"};
  for (gsize i = 0; i < G_N_ELEMENTS(refused); i++) {
    g_test_message("'%s'", refused[i]);
    g_assert_null(tide_time_pattern_compile(refused[i], TIDE_PATTERN_KEY, NULL));
    g_assert_null(tide_time_pattern_compile(refused[i], TIDE_PATTERN_QUALIFIER, NULL));
  }
  g_assert_null(tide_time_pattern_compile("yyyyM", TIDE_PATTERN_KEY, NULL));
}

TEST("/time-pattern/resolution-is-that-of-what-is-printed")
{
  static const struct {
    const char *pattern;
    gint64 step_ns;
  } cases[] = {{"yyyyMMdd", 86400 * NS_PER_S}, {"HH:mm[:ss]", NS_PER_S},
               {"HH:mm:ss.SSS", 1000000},      {"HH:mm:ss.f", 1},
               {"HH:mm:ss[.f][,SSS]", 1},      {"HH:mm:ss[.SSS][,f]", 1000000}};
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(TideTimePattern) pattern = pattern_of(cases[i].pattern);
    g_assert_cmpint(tide_time_pattern_resolution_ns(pattern), ==, cases[i].step_ns);
  }
}

/* ---- in both directions ---- */

/* Elements in any order with something between them, some of them optional. */
static char *
random_pattern(void)
{
  static const char *const dates[][4] = {{"yyyy", "MM", "dd"},         {"yyyy", "M", "d"}, {"yy", "MMM", "d"},
                                         {"EEE", "dd", "MMM", "yyyy"}, {"yyyy", "D"},      {"DDD", "yyyy"}};
  static const char *const clocks[][5] = {{"HH", "mm", "ss", "f"},      {"H", "m", "s", "SSS"}, {"hh", "mm", "a"},
                                          {"a", "h", "mm", "ss"},       {"HH", "mm"},           {"HH", "mm", "ss", "X"},
                                          {"H", "mm", "ss", "f", "XXX"}};
  static const char *const between[] = {"-", "/", " 'at' ", "''", "\xE2\x82\xAC", ", ", "'['"};
  const char *const *date = dates[g_test_rand_int_range(0, G_N_ELEMENTS(dates))];
  const char *const *clock = clocks[g_test_rand_int_range(0, G_N_ELEMENTS(clocks))];
  GString *pattern = g_string_new(NULL);
  for (gsize i = 0; i < 4 && date[i] != NULL; i++)
    g_string_append_printf(pattern, "%s%s", date[i], between[g_test_rand_int_range(0, G_N_ELEMENTS(between))]);
  gsize n_open = 0;
  for (gsize i = 0; i < 5 && clock[i] != NULL; i++) {
    gboolean may_be_absent = clock[0][0] == 'H' && n_open < 4 && g_test_rand_bit();
    n_open += may_be_absent ? 1 : 0;
    g_string_append_printf(pattern, "%s%s%s", may_be_absent ? "[" : "",
                           i > 0 ? between[g_test_rand_int_range(0, G_N_ELEMENTS(between))] : "", clock[i]);
  }
  for (; n_open > 0; n_open--)
    g_string_append_c(pattern, ']');
  return g_string_free(pattern, FALSE);
}

TEST("/time-pattern/what-is-printed-is-read")
{
  for (int n = 0; n < 50000; n++) {
    g_autofree char *text = random_pattern();
    g_autoptr(TideTimePattern) pattern = pattern_of(text);
    g_autoptr(GTimeZone) zone = time_zone_of(time_zone_names[g_test_rand_int_range(0, N_TIME_ZONES)]);
    gboolean has_offset = (pattern->named & TIDE_NAMES_OFFSET) != 0;
    gint64 from_s = has_offset ? 1000000000 : 946771200; /* offsets of seconds are of the past */
    gint64 ns = (from_s + g_test_rand_int_range(0, G_MAXINT32)) * NS_PER_S + g_test_rand_int_range(0, 1000000000);
    g_autofree char *printed = print_ns(pattern, zone, ns);
    g_test_message("'%s' '%s' %" G_GINT64_FORMAT, text, printed, ns);
    gint64 step_ns = tide_time_pattern_resolution_ns(pattern);
    gint64 offset_ns = has_offset ? 0 : tide_zone_offset_s(zone, ns / NS_PER_S) * NS_PER_S;
    gint64 shown_ns = ns + offset_ns; /* by the clock, unless the text says its offset */
    g_assert_cmpint(read_ns(pattern, printed), ==, shown_ns - shown_ns % step_ns);
  }
}

TEST("/time-text/numbers-in-both-directions")
{
  static const struct {
    TideTimeFormat format;
    const char *text;
    gint64 ns;           /* -1: refused */
    const char *printed; /* NULL: the text itself */
  } cases[] = {
      {TIDE_TIME_DOTNET, "/Date(1795871383123)/", T_NS, NULL},
      {TIDE_TIME_DOTNET, "/Date(1795871383123+0200)/", T_NS, "/Date(1795871383123)/"},
      {TIDE_TIME_DOTNET, "/Date(1795871383123-07:00)/", T_NS, "/Date(1795871383123)/"},
      {TIDE_TIME_DOTNET, "/Date(1795871383123+02000)/", -1, NULL},
      {TIDE_TIME_DOTNET, "/Date(1795871383123+)/", -1, NULL},
      {TIDE_TIME_DOTNET, "/Date()/", -1, NULL},
      {TIDE_TIME_DOTNET, "/Date(1795871383123)", -1, NULL},
      {TIDE_TIME_DOTNET, "/Date(", -1, NULL},
      {TIDE_TIME_DOTNET, "1795871383123", -1, NULL},
      {TIDE_TIME_TICKS, "639314681831230000", T_NS, NULL},
      {TIDE_TIME_TICKS, "639314681831230000.5", T_NS + 50, "639314681831230000"},
      {TIDE_TIME_TICKS, "621355968000000000", 0, NULL},
      {TIDE_TIME_TICKS, "9223372036854775807", -1, NULL},
      {TIDE_TIME_FILETIME, "134403449831230000", T_NS, NULL},
      {TIDE_TIME_FILETIME, "116444736000000000", 0, NULL},
      {TIDE_TIME_EXCEL, "46354", T_S - 47383 * NS_PER_S, NULL},
      {TIDE_TIME_EXCEL, "46354.5484157755", T_NS, "46354.5484157754"},
      {TIDE_TIME_EXCEL, "4.63545484157755E4", T_NS, "46354.5484157754"},
      {TIDE_TIME_EXCEL, "46354.54841435185", T_S, "46354.5484143518"},
      {TIDE_TIME_EXCEL, "1e9", -1, NULL},
      {TIDE_TIME_EXCEL, "1e999", -1, NULL},
      {TIDE_TIME_EPOCH_MS, "1795871383123.000001", T_NS + 1, "1795871383123"},
      {TIDE_TIME_EPOCH_S, "1795871383.123", T_NS, NULL},
      {TIDE_TIME_EPOCH_S, "1795871383", T_S, NULL},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_auto(TideBuffer) out = {0};
    gint64 ns = -1;
    gboolean was_cut;
    const char *detail = NULL;
    g_test_message("'%s'", cases[i].text);
    TideTimeFault fault =
        tide_time_text_read_count(tide_bytes_of_string(cases[i].text), cases[i].format, &ns, &was_cut, &detail);
    g_assert_cmpint(fault == TIDE_TIME_FAULT_NONE, ==, cases[i].ns >= 0);
    if (cases[i].ns < 0)
      continue;
    g_assert_cmpint(ns, ==, cases[i].ns);
    tide_time_text_print_count(cases[i].format, ns, FALSE, &out);
    tide_buffer_append_byte(&out, '\0');
    g_assert_cmpstr((const char *)out.data, ==, cases[i].printed != NULL ? cases[i].printed : cases[i].text);
  }
}

TEST("/time-text/a-leap-second-is-told")
{
  TideTimeElements elements;
  const char *detail = NULL;
  g_assert_false(tide_time_text_read_rfc3339(TIDE_BYTES_LITERAL("2016-12-31T23:59:60Z"), &elements, &detail));
  g_assert_nonnull(strstr(detail, "leap second"));
}

/* What no form reads between 2000 and 2100, or before the declared earliest, has no remedy. */
TEST("/time-forms/remedies")
{
  static const struct {
    const char *text;
    gint64 earliest_ms;
    const char *remedy;
  } cases[] = {
      {"1795871383", 0, "'format: epoch_s' in the time's options reads it"},
      {"1795871383", G_GINT64_CONSTANT(1800000000000), NULL},
      {"5000000000000", 0, NULL}, /* milliseconds of 2128 */
      {"46354.5", 0, "'format: excel' and a 'zone' in the time's options reads it"},
      {"13:09:43", 0,
       "'format: pattern' with 'pattern: \"HH:mm[:ss[.f][,f]]\"' and a 'zone' in the time's options reads it"},
      {"Sat Nov 28 13:09:43 UTC 2026", 0,
       "'format: pattern' with 'pattern: \"EEE MMM d HH:mm:ss 'UTC' yyyy\"' and 'zone: UTC' in the time's options "
       "reads "
       "it"},
      {"soon", 0, NULL},
      {"", 0, NULL},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *remedy = tide_time_forms_remedy(tide_bytes_of_string(cases[i].text), cases[i].earliest_ms);
    g_assert_cmpstr(remedy, ==, cases[i].remedy);
  }
}

/* What is cut is told: it may have told two times apart. */
TEST("/time-text/what-is-finer-than-nanoseconds-is-told")
{
  static const struct {
    TideTimeFormat format;
    const char *text;
    gboolean was_cut;
  } cases[] = {
      {TIDE_TIME_EPOCH_S, "1795871383.123456789", FALSE},   {TIDE_TIME_EPOCH_S, "1795871383.1234567891", TRUE},
      {TIDE_TIME_EPOCH_S, "1795871383.1234567890", FALSE},  {TIDE_TIME_EPOCH_NS, "1795871383123456789.5", TRUE},
      {TIDE_TIME_EPOCH_NS, "1795871383123456789.0", FALSE}, {TIDE_TIME_EPOCH_MS, "1795871383123.4567891", TRUE},
      {TIDE_TIME_EPOCH_MS, "1795871383123.456789", FALSE},  {TIDE_TIME_TICKS, "639314681831230000.123", TRUE},
      {TIDE_TIME_TICKS, "639314681831230000.1", FALSE},     {TIDE_TIME_EPOCH_MS, "1e-999", TRUE},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    gint64 ns;
    gboolean was_cut = !cases[i].was_cut;
    const char *detail;
    g_test_message("'%s'", cases[i].text);
    g_assert_cmpint(
        tide_time_text_read_count(tide_bytes_of_string(cases[i].text), cases[i].format, &ns, &was_cut, &detail), ==,
        TIDE_TIME_FAULT_NONE);
    g_assert_cmpint(was_cut, ==, cases[i].was_cut);
  }
  TideTimeElements elements = {0};
  const char *detail;
  g_assert_true(tide_time_text_read_rfc3339(TIDE_BYTES_LITERAL("2026-11-28T13:09:43.1234567890Z"), &elements, &detail));
  g_assert_false(elements.was_cut);
  g_assert_true(tide_time_text_read_rfc3339(TIDE_BYTES_LITERAL("2026-11-28T13:09:43.1234567891Z"), &elements, &detail));
  g_assert_true(elements.was_cut);
}
