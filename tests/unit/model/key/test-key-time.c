#include "model/key/row_key.h"

#include "unit/key_schemes.h"

#define TO_MS(ms) (G_GINT64_CONSTANT(ms) * 1000000)
#define MIDNIGHT TO_MS(1426489200000) /* 2015-03-16T00:00:00 in Los Angeles */
#define EVENT TO_MS(1426535612045)    /* 2015-03-16T19:53:32.045Z, 12:53:32.045 there */

/* A time part, with its zone by name, and what it writes. */
typedef struct TimeCase {
  TideKeyPartSpec spec;
  gint64 event_ns;
  const char *expected; /* as HBase's shell prints it */
} TimeCase;

#define COUNTED .kind = TIDE_KEY_TIME, .moment.unit = TIDE_KEY_TIME_MS

static const TimeCase cases[] = {
    {{COUNTED, CUT_TO(DAY, 0), .moment.zone_name = LOS_ANGELES, .moment.drop_digits = 5}, MIDNIGHT, "14264892"},
    {{COUNTED, CUT_TO(DAY, 0), .moment.zone_name = LOS_ANGELES, .moment.drop_digits = 5}, EVENT, "14264892"},
    {{COUNTED, CUT_TO(DAY, 0), .moment.zone_name = LOS_ANGELES}, EVENT, "1426489200000"},
    {{COUNTED, CUT_TO(DAY, 0)}, EVENT, "1426464000000"},
    {{COUNTED, CUT_TO(MINUTES, 15)}, EVENT, "1426535100000"},
    {{COUNTED, CUT_TO(WEEK, 0)}, EVENT, "1426464000000"}, /* a Monday */
    {{COUNTED, CUT_TO(MONTH, 0), .moment.zone_name = LOS_ANGELES}, EVENT, "1425196800000"},
    {{COUNTED, .moment.drop_digits = 3}, EVENT, "1426535612"},
    {{COUNTED, .moment.drop_digits = 12}, EVENT, "1"},
    {{COUNTED, .moment.reversed = TRUE, .moment.drop_digits = 3}, EVENT, "9223370610319163"},
    {{COUNTED, .moment.reversed = TRUE, CUT_TO(DAY, 0), .moment.zone_name = LOS_ANGELES}, EVENT, "9223370610365575807"},
    {{COUNTED, .binary = TRUE, CUT_TO(DAY, 0)}, EVENT, "\\x00\\x00\\x01L\\x1F\\xE1H\\x00"},
    {PATTERN_IN("yyyyMMdd", NULL), EVENT, "20150316"},
    {PATTERN_IN("yyyyMMddHHmmssSSS", NULL), TO_MS(1425213901003), "20150301124501003"},
    {PATTERN_IN("HHmm", NULL), EVENT, "1953"},
    {PATTERN_IN("yyyy-MM-dd'T'HH", NULL), EVENT, "2015-03-16T19"},
    {PATTERN_IN("yyyyMMdd", LOS_ANGELES), MIDNIGHT, "20150316"},
    {PATTERN_IN("yyyyMMdd", LOS_ANGELES), MIDNIGHT - 1, "20150315"},
    {{.kind = TIDE_KEY_TIME, .moment.pattern = "HHmm", CUT_TO(MINUTES, 15)}, TO_MS(963000), "0015"}, /* 00:16:03 */
    {{.kind = TIDE_KEY_TIME, .moment.pattern = "yyyyMMdd", CUT_TO(WEEK, 0)}, EVENT + TO_MS(3 * 86400000), "20150316"},
    {{.kind = TIDE_KEY_TIME, .moment.pattern = "yyyyMMddHH", CUT_TO(DAY, 0), .moment.zone_name = BERLIN},
     EVENT,
     "2015031600"},
    {{.kind = TIDE_KEY_TIME, .moment.unit = TIDE_KEY_TIME_S, SINCE(DAY, 0)}, EVENT, "71612"},
    {{.kind = TIDE_KEY_TIME, .moment.unit = TIDE_KEY_TIME_S, SINCE(DAY, 0), .moment.zone_name = LOS_ANGELES},
     EVENT,
     "46412"},
    {{.kind = TIDE_KEY_TIME, .moment.unit = TIDE_KEY_TIME_S, SINCE(MINUTES, 60)}, EVENT, "3212"},
    {{.kind = TIDE_KEY_TIME, .moment.unit = TIDE_KEY_TIME_S, SINCE(MINUTES, 60), CUT_TO(MINUTES, 15)}, EVENT, "2700"},
    {{.kind = TIDE_KEY_TIME, .moment.unit = TIDE_KEY_TIME_S, SINCE(MINUTES, 60), .moment.reversed = TRUE},
     EVENT,
     "6787"},
    {{.kind = TIDE_KEY_TIME, .moment.unit = TIDE_KEY_TIME_S, SINCE(MINUTES, 60), .binary = TRUE}, EVENT, "\\x0C\\x8C"},
    {{COUNTED, SINCE(MINUTES, 60), .binary = TRUE}, EVENT, "\\x001\\x03\\x0D"},
    {{.kind = TIDE_KEY_TIME, .moment.unit = TIDE_KEY_TIME_S, SINCE(MINUTES, 2), .binary = TRUE}, EVENT, "\\x5C"},
};

static void
test_forms(void)
{
  gsize bad_part;
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GError) error = NULL;
    g_auto(TideBuffer) out = {0};
    TideReading reading = {.event_time_ns = cases[i].event_ns};
    TideReject reject;
    g_test_message("case %" G_GSIZE_FORMAT ": %s", i, cases[i].expected);
    g_autoptr(TideRowKey) key = compile_in_zones(&cases[i].spec, 1, &bad_part, &error);
    g_assert_no_error(error);
    g_assert_true(tide_row_key_append(key, &reading, &out, &reject));
    g_autofree char *printable = tide_bytes_printable(tide_buffer_bytes(&out));
    g_assert_cmpstr(printable, ==, cases[i].expected);
  }
}

/* What is read back holds the event, and makes the same bytes. */
static void
test_forms_are_read_back(void)
{
  TideDecodedKey decoded = {0};
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    TideKeyPartSpec specs[] = {PATTERN_IN("yyyyMMdd", cases[i].spec.moment.zone_name), LITERAL("#"), TIME(S),
                               LITERAL("#"), cases[i].spec};
    g_auto(TideBuffer) out = {0};
    TideReading reading = {.event_time_ns = cases[i].event_ns};
    TideReject reject;
    g_autoptr(TideRowKey) key = compile_key(specs, G_N_ELEMENTS(specs));
    g_test_message("case %" G_GSIZE_FORMAT ": %s", i, cases[i].expected);
    g_assert_true(tide_row_key_append(key, &reading, &out, &reject));
    g_assert_true(tide_row_key_decode(key, tide_buffer_bytes(&out), &decoded));
    g_assert_true(decoded.has_time);
    g_assert_cmpint(decoded.from_ns, <=, reading.event_time_ns);
    g_assert_cmpint(decoded.to_ns, >, reading.event_time_ns);
    g_assert_cmpint(decoded.to_ns - decoded.from_ns, <=, TO_MS(1000));
  }
  tide_decoded_key_clear(&decoded);
}

/* Several parts say together when it was. */
static void
test_parts_are_put_together(void)
{
  static const struct {
    TideKeyPartSpec specs[5];
    gsize n_specs;
    gint64 from_ms; /* of EVENT; -1: not told */
    gint64 to_ms;
  } keys[] = {
      {{PATTERN_IN("yyyyMMdd", NULL), LITERAL("#"), PATTERN_IN("HHmm", NULL)}, 3, 1426535580000, 1426535640000},
      {{PATTERN_IN("HHmm", NULL), LITERAL("#"), PATTERN_IN("yyyyMMdd", NULL)}, 3, 1426535580000, 1426535640000},
      {{PATTERN_IN("SSS", NULL), PATTERN_IN("ss", NULL), PATTERN_IN("mm", NULL), PATTERN_IN("HH", NULL),
        PATTERN_IN("ddMMyyyy", NULL)},
       5,
       1426535612045,
       1426535612046},
      {{PATTERN_IN("yyyyMMdd", NULL), {.kind = TIDE_KEY_TIME, .moment.pattern = "HHmm", CUT_TO(MINUTES, 15)}},
       2,
       1426535100000,
       1426536000000},
      {{PATTERN_IN("yyyyMMdd", LOS_ANGELES), {COUNTED, SINCE(DAY, 0), .moment.zone_name = LOS_ANGELES}},
       2,
       1426535612045,
       1426535612046},
      {{PATTERN_IN("yyyyMMdd", LOS_ANGELES),
        {COUNTED, SINCE(DAY, 0), .moment.zone_name = LOS_ANGELES, .moment.reversed = TRUE}},
       2,
       1426535612045,
       1426535612046},
      {{{COUNTED, SINCE(MINUTES, 60)}, PATTERN_IN("yyyyMMddHH", NULL)}, 2, 1426535612045, 1426535612046},
      {{PATTERN_IN("yyyyHH", NULL), PATTERN_IN("MMdd", NULL)}, 2, 1426532400000, 1426536000000},
      {{PATTERN_IN("yyyyMMdd", LOS_ANGELES)}, 1, 1426489200000, 1426575600000},
      {{PATTERN_IN("yyyyMMddHH", BERLIN), TIME(S)}, 2, 1426535612000, 1426535613000},
      {{PATTERN_IN("HHmm", NULL)}, 1, -1, -1},
      {{{COUNTED, SINCE(DAY, 0)}}, 1, -1, -1},
      {{{.kind = TIDE_KEY_TIME, .moment.pattern = "yyyyMMdd", CUT_TO(WEEK, 0)}, PATTERN_IN("HHmm", NULL)},
       2,
       1426464000000,
       1427068800000},
  };
  TideDecodedKey decoded = {0};
  for (gsize i = 0; i < G_N_ELEMENTS(keys); i++) {
    g_auto(TideBuffer) out = {0};
    TideReading reading = {.event_time_ns = EVENT};
    TideReject reject;
    g_test_message("case %" G_GSIZE_FORMAT, i);
    g_autoptr(TideRowKey) key = compile_key(keys[i].specs, keys[i].n_specs);
    g_assert_true(tide_row_key_append(key, &reading, &out, &reject));
    g_assert_true(tide_row_key_decode(key, tide_buffer_bytes(&out), &decoded));
    g_assert_cmpint(decoded.has_time, ==, keys[i].from_ms >= 0);
    if (!decoded.has_time)
      continue;
    g_assert_cmpint(decoded.from_ns / TIDE_NS_PER_MS, ==, keys[i].from_ms);
    g_assert_cmpint(decoded.to_ns / TIDE_NS_PER_MS, ==, keys[i].to_ms);
  }
  tide_decoded_key_clear(&decoded);
}

static void
test_impossible_combinations_are_refused(void)
{
  gsize bad_part;
  static const struct {
    TideKeyPartSpec spec;
    const char *fault;
  } bad[] = {
      {{.kind = TIDE_KEY_TIME, .moment.pattern = "yyyyMMdd", .moment.reversed = TRUE}, "also reversed"},
      {{.kind = TIDE_KEY_TIME, .moment.pattern = "yyyyMMdd", .binary = TRUE}, "also reversed, binary"},
      {{.kind = TIDE_KEY_TIME, .moment.pattern = "yyyyMMdd", .moment.drop_digits = 1}, "without digits"},
      {{.kind = TIDE_KEY_TIME, .moment.pattern = "HHmm", SINCE(DAY, 0)}, "counted since"},
      {{.kind = TIDE_KEY_TIME, .moment.pattern = "yyyyMd"}, ""},
      {{COUNTED, .moment.drop_digits = 13}, "it has only 13"},
      {{COUNTED, .binary = TRUE, .moment.drop_digits = 1}, "no digits to drop"},
      {{COUNTED, SINCE(MINUTES, 60), CUT_TO(DAY, 0)}, "cut to more than"},
      {{COUNTED, SINCE(MONTH, 0), CUT_TO(WEEK, 0)}, "cut to more than"},
      {{COUNTED, SINCE(MINUTES, 60), CUT_TO(MINUTES, 40)}, "cut to more than"},
      {{COUNTED, CUT_TO(MINUTES, 7)}, "do not divide the day"},
      {PATTERN_IN("yyyyMMddHH", BERLIN), "comes twice"},
      {PATTERN_IN("HHmm", LOS_ANGELES), "'America/Los_Angeles'"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(bad); i++) {
    g_autoptr(GError) error = NULL;
    g_test_message("case %" G_GSIZE_FORMAT ": %s", i, bad[i].fault);
    g_autoptr(TideRowKey) key = compile_in_zones(&bad[i].spec, 1, &bad_part, &error);
    g_assert_null(key);
    g_assert_error(error, TIDE_ERROR, TIDE_ERROR_CONFIG);
    g_assert_nonnull(strstr(error->message, bad[i].fault));
  }
}

/* St. John's set its clocks back over midnight, at 00:01 to 23:01: dates go on all the same, and never back. */
static void
test_dates_go_on_where_midnight_comes_twice(void)
{
  gsize bad_part;
  g_autoptr(GError) error = NULL;
  const TideKeyPartSpec spec = PATTERN_IN("yyyyMMdd", "America/St_Johns");
  g_autoptr(TideRowKey) key = compile_in_zones(&spec, 1, &bad_part, &error);
  g_assert_no_error(error);
  g_autofree char *before = g_strdup("");
  for (gint64 s = 1289095200; s < 1289102400; s += 20) { /* 2010-11-07, from 02:00 to 04:00 UTC */
    g_auto(TideBuffer) out = {0};
    TideReading reading = {.event_time_ns = TO_MS(1000) * s};
    TideReject reject;
    g_assert_true(tide_row_key_append(key, &reading, &out, &reject));
    g_autofree char *date = g_strndup((const char *)out.data, out.len);
    g_assert_cmpstr(date, >=, before);
    g_free(before);
    before = g_steal_pointer(&date);
  }
  g_assert_cmpstr(before, ==, "20101107");
}

/* Every hour of the days on which clocks change is in one and only one day, which reads back as that day. */
static void
test_days_of_23_and_25_hours(void)
{
  static const struct {
    const char *day;
    gint64 start_s;
    int n_hours;
  } days[] = {{"20170325", 1490396400, 24},
              {"20170326", 1490482800, 23},
              {"20170327", 1490565600, 24},
              {"20171029", 1509228000, 25},
              {"20171030", 1509318000, 24}};
  static const TideKeyPartSpec specs[] = {PATTERN_IN("yyyyMMdd", BERLIN)};
  TideDecodedKey decoded = {0};
  g_autoptr(TideRowKey) key = compile_key(specs, 1);
  for (gsize i = 0; i < G_N_ELEMENTS(days); i++) {
    gint64 from_ns = days[i].start_s * G_GINT64_CONSTANT(1000000000);
    gint64 to_ns = from_ns + days[i].n_hours * G_GINT64_CONSTANT(3600000000000);
    gint64 moments[] = {from_ns, from_ns + 1, (from_ns + to_ns) / 2, to_ns - 1};
    for (gsize j = 0; j < G_N_ELEMENTS(moments); j++) {
      g_auto(TideBuffer) out = {0};
      TideReading reading = {.event_time_ns = moments[j]};
      TideReject reject;
      g_assert_true(tide_row_key_append(key, &reading, &out, &reject));
      assert_same_bytes(tide_buffer_bytes(&out), tide_bytes_of_string(days[i].day));
    }
    g_assert_true(tide_row_key_decode(key, tide_bytes_of_string(days[i].day), &decoded));
    g_assert_cmpint(decoded.from_ns, ==, from_ns);
    g_assert_cmpint(decoded.to_ns, ==, to_ns);
  }
  tide_decoded_key_clear(&decoded);
}

static void
test_rows_that_name_no_time_are_not_ours(void)
{
  static const struct {
    TideKeyPartSpec specs[3];
    gsize n_specs;
    const char *row;
  } rows[] = {
      {{PATTERN_IN("yyyyMMdd", NULL)}, 1, "20150230"},
      {{PATTERN_IN("yyyyMMdd", NULL)}, 1, "2015022x"},
      {{PATTERN_IN("yyyyMMdd", NULL), LITERAL("#"), PATTERN_IN("HHmm", NULL)}, 3, "20150316#2460"},
      {{PATTERN_IN("yyyyMMdd", NULL), LITERAL("#"), PATTERN_IN("dd", NULL)}, 3, "20150316#17"},
      {{PATTERN_IN("yyyyMMdd", NULL), LITERAL("#"), TIME(S)}, 3, "20150316#1426550400"},
      {{{.kind = TIDE_KEY_TIME, .moment.pattern = "yyyyMMddHHmm", CUT_TO(MINUTES, 15)}}, 1, "201503160016"},
      {{{COUNTED, CUT_TO(DAY, 0)}}, 1, "1426464000001"},
      {{{.kind = TIDE_KEY_TIME, .moment.pattern = "yyyyMMdd", CUT_TO(WEEK, 0)}}, 1, "20150317"},
      {{PATTERN_IN("yyyyMMdd", NULL), {.kind = TIDE_KEY_TIME, SINCE(DAY, 0)}}, 2, "2015031686400"},
  };
  TideDecodedKey decoded = {0};
  for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
    g_autoptr(TideRowKey) key = compile_key(rows[i].specs, rows[i].n_specs);
    g_test_message("%s", rows[i].row);
    g_assert_false(tide_row_key_decode(key, tide_bytes_of_string(rows[i].row), &decoded));
  }
  tide_decoded_key_clear(&decoded);
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/key-time/dates-go-on-where-midnight-comes-twice", test_dates_go_on_where_midnight_comes_twice);
  g_test_add_func("/key-time/forms", test_forms);
  g_test_add_func("/key-time/forms-are-read-back", test_forms_are_read_back);
  g_test_add_func("/key-time/parts-are-put-together", test_parts_are_put_together);
  g_test_add_func("/key-time/impossible-combinations-are-refused", test_impossible_combinations_are_refused);
  g_test_add_func("/key-time/days-of-23-and-25-hours", test_days_of_23_and_25_hours);
  g_test_add_func("/key-time/rows-that-name-no-time-are-not-ours", test_rows_that_name_no_time_are_not_ours);
  return g_test_run();
}
