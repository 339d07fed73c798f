/* Which fields are taken for the row key, and what stands between them. */
#include "commands/init/guess_key.h"

#include "commands/init/draft.h"
#include "unit/sample_survey.h"
#include "unit/test_case.h"

#define NOW_MS G_GINT64_CONSTANT(1795452867045)

/* The fields of the key and what parts them, as "site,host #"; "-" where there is none. (transfer full) */
static char *
taken(const char *text)
{
  g_autoptr(TideInitSamples) samples = read_samples(text);
  g_auto(TideInitDraft) draft;
  tide_init_draft_begin(&draft, samples, NOW_MS);
  g_assert_true(tide_init_draft_guess_time(&draft, NULL) || tide_init_draft_set_time(&draft, "$timestamp", NULL));
  if (!tide_init_draft_guess_key(&draft, NULL))
    return g_strdup("-");
  GString *names = g_string_new(NULL);
  for (guint i = 0; i < draft.proposal.key->len; i++)
    g_string_append_printf(names, "%s%s", i > 0 ? "," : "", (const char *)draft.proposal.key->pdata[i]);
  g_string_append_printf(names, " %s", draft.proposal.separator != NULL ? draft.proposal.separator : "escape");
  return g_string_free(names, FALSE);
}

#define T0 "\"ts\":1795452860"
#define T1 "\"ts\":1795452861"
#define CORE(core, used) "{\"host\":\"h0\",\"core\":\"" core "\",\"u\":" used "}"

TEST("/guess-key/rules")
{
  static const struct {
    const char *text, *expected;
  } cases[] = {
      {"{\"host\":\"a\"," T0 ",\"v\":1}", "host #"},
      {"{\"v\":1.5," T0 ",\"device\":{\"id\":\"p7\",\"site\":\"n\"}}", "device/id #"},
      {"{\"v\":1.5," T0 ",\"sensorId\":\"p7\",\"place\":\"n\"}", "sensorId #"},
      {"{\"status\":\"on\"," T0 ",\"rack\":\"r7\",\"v\":1}", "rack #"},
      /* what has many of them stands behind the thing */
      {"{\"applicationId\":\"a\",\"deviceId\":\"d1\"," T0 ",\"v\":1}\n{\"applicationId\":\"a\",\"deviceId\":\"d2\"," T0
       ",\"v\":2}",
       "deviceId,applicationId #"},
      /* nor is the date of a time of day a part of it */
      {"{\"dateId\":\"2026-11-23\",\"at\":\"01:02:03\",\"host\":\"a\",\"v\":1}\n{\"dateId\":\"2026-11-23\",\"at\":\"01:"
       "02:04\","
       "\"host\":\"a\",\"v\":2}",
       "host #"},
      {"{\"host\":\"a\",\"measurand\":\"Power\",\"value\":1," T0 "}", "host,measurand #"},
      /* a number only with a name of a thing; a fraction or a sign never */
      {"{\"meter\":4711," T0 ",\"v\":1}", "meter #"},
      {"{\"load\":4711," T0 "}", "-"},
      {"{\"meter\":47.11," T0 "}", "-"},
      {"{\"meter\":-5," T0 "}", "-"},
      {"{\"load\":\"47.11\"," T0 "}", "-"},
      /* no truth, list, null, text of several lines, empty text, or what not every reading has */
      {"{\"host\":true," T0 "}", "-"},
      {"{\"host\":[1]," T0 "}", "-"},
      {"{\"host\":\"a\\nb\"," T0 "}", "-"},
      {"{\"host\":\"\"," T0 "}", "-"},
      {"{\"host\":\"a\"," T0 ",\"rack\":\"r\"}\n{" T1 ",\"rack\":\"r\"}", "rack,host #"},
      {"{\"$id\":\"a\"," T0 "}", "-"},
      /* a state names no thing, however often it comes again, nor does what was not measured */
      {"{\"id\":5,\"contact\":\"ON\"," T0 "}\n{\"id\":5,\"contact\":\"ON\"," T1
       "}\n{\"id\":5,\"contact\":\"OFF\",\"ts\":"
       "1795452862}",
       "id #"},
      {"{\"probe1\":\"nan\"," T0 ",\"v\":1}", "-"},
      {"{\"battery\":\"OK\"," T0 ",\"v\":1}\n{\"battery\":\"OK\"," T1 ",\"v\":1}\n{\"battery\":\"LOW\"," T1 ",\"v\":1}",
       "-"},
      /* what comes again names a thing, what never does a message */
      {"{\"a\":\"1x\",\"b\":\"1x\"," T0 "}\n{\"a\":\"2x\",\"b\":\"2x\"," T1 "}\n{\"a\":\"3x\",\"b\":\"1x\"," T1 "}",
       "b #"},
#define ONE(number) "{\"a\":\"u" number "\",\"b\":\"x\",\"ts\":179545286" number "}\n"
      {ONE("1") ONE("2") ONE("3") ONE("4") ONE("5") ONE("6") ONE("7") ONE("8"), "b #"},
      /* not a time, even one that is not the reading's */
      {"{\"received\":\"2026-11-23T16:54:27Z\"," T0 ",\"v\":1}", "-"},
      {"{\"message_id\":\"m1\"," T0 ",\"host\":\"a\"}", "host #"},
      /* two readings of one moment in one row: what tells them apart stands in the key too */
      {"{\"device\":\"p7\"," T0 ",\"metric\":\"in\",\"value\":3}\n{\"device\":\"p7\"," T0
       ",\"metric\":\"out\",\"value\":4}",
       "device,metric #"},
      {"{\"value\":3,\"host\":\"a\"," T0 ",\"disk\":\"x\"}\n{\"value\":4,\"host\":\"a\"," T0 ",\"disk\":\"y\"}",
       "host,disk #"},
      /* without a time the readings of one message have the record's, and those of two messages each its own */
      {"[" CORE("cpu0", "1") "," CORE("cpu1", "2") "]\n[" CORE("cpu0", "1") "," CORE("cpu1", "2") "]", "host,core #"},
      {CORE("cpu0", "1") "\n" CORE("cpu1", "2"), "host #"},
      {"[" CORE("cpu0", "1") "," CORE("cpu0", "1") "]", "host,core #"},
      /* what identifies is in the key however many there are of it, also where some readings lack it; of a number only
       * by a name that numbers have */
      {"{\"name\":\"metric1\",\"value\":10," T0 ",\"serialNumber\":\"28037\"}", "name,serialNumber #"},
      {"{\"model\":\"Acurite\",\"id\":12,\"channel\":1," T0 ",\"temp\":20.5}", "model,id,channel #"},
      {"{\"host\":\"a\",\"disk\":71,\"core\":4," T0 "}", "host #"},
      /* readings of one time that share a row lose nothing by it */
      {"{\"host\":\"a\"," T0 ",\"p\":\"x\",\"v\":1}\n{\"host\":\"a\"," T0 ",\"q\":\"y\",\"w\":2}", "host #"},
      /* the long form, whatever its times */
      {"{\"deviceId\":\"d0\",\"metric\":\"temp\",\"value\":20," T0 "}\n"
       "{\"deviceId\":\"d0\",\"metric\":\"hum\",\"value\":61," T1 "}\n"
       "{\"deviceId\":\"d0\",\"metric\":\"hum\",\"value\":62,\"ts\":1795452862}",
       "deviceId,metric #"},
      {"{\"host\":\"a\",\"type\":\"temp\",\"value\":20," T0 "}", "host,type #"},
      {"{\"host\":\"a\",\"type\":\"temp\",\"load\":20," T0 "}", "host #"},
      /* but no measured number, though it would tell more of them apart */
      {"{\"host\":\"a\"," T0 ",\"disk\":\"x\",\"n\":3}\n{\"host\":\"a\"," T0
       ",\"disk\":\"x\",\"n\":4}\n{\"host\":\"a\"," T0 ",\"disk\":\"y\",\"n\":5}",
       "host,disk #"},
      /* a sentence names nothing; some numbers among names are names */
      {"{\"about\":\"it is a long sentence that tells at length of this and of that, and of them\"," T0
       ",\"rack\":\"r\"}",
       "rack #"},
      {"{\"rack\":\"7\"," T0 ",\"v\":1.5}\n{\"rack\":\"b\"," T1 ",\"v\":1.5}", "rack #"},
      /* the same reading twice is one row, as it should be */
      {"{\"device\":\"p7\"," T0 ",\"kind\":\"a\"}\n{\"device\":\"p7\"," T0 ",\"kind\":\"a\"}", "device #"},
      /* what parts them is in none of them */
      {"{\"host\":\"a#1\"," T0 ",\"v\":1}", "host |"},
      {"{\"host\":\"a#|~!\"," T0 ",\"v\":1}", "host escape"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_test_message("%s", cases[i].text);
    g_autofree char *found = taken(cases[i].text);
    g_assert_cmpstr(found, ==, cases[i].expected);
  }
}

/* Things that report in turn, with a number of the message, a state and measurements, the members in an order drawn. */
TEST("/guess-key/random-things")
{
  for (guint round = 0; round < 100; round++) {
    int n_things = g_test_rand_int_range(2, 6), n = g_test_rand_int_range(3 * n_things, 60);
    int first = g_test_rand_int_range(0, 5);
    g_autoptr(GString) text = g_string_new(NULL);
    for (int i = 0; i < n; i++) {
      char *members[] = {
          g_strdup_printf("\"pump\":\"p-%x\"", g_test_rand_int_range(0, n_things)),
          g_strdup_printf("\"event\":\"e-%x-%d\"", g_test_rand_int(), i),
          g_strdup_printf("\"ts\":%d", 1795452000 + i),
          g_strdup_printf("\"flow\":%d", g_test_rand_int_range(0, 40)),
          g_strdup(g_test_rand_bit() ? "\"state\":\"on\"" : "\"state\":\"off\""),
      };
      for (int j = 0; j < 5; j++) {
        char **member = &members[(first + j) % 5];
        g_string_append_printf(text, "%s%s", j == 0 ? "{" : ",", *member);
      }
      g_string_append(text, "}\n");
      for (int j = 0; j < 5; j++)
        g_clear_pointer(&members[j], g_free);
    }
    g_autofree char *found = taken(text->str);
    g_assert_cmpstr(found, ==, "pump #");
  }
}
