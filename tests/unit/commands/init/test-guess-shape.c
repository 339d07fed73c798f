/* What the fields of samples show of the shape of their messages. */
#include "commands/init/guess_shape.h"

#include "unit/sample_survey.h"
#include "unit/test_case.h"

/* The first guess of @text, or what is to be tried instead; "-": there is none. (transfer full) */
static char *
guessed(const char *text, const char *given, gboolean instead)
{
  g_autoptr(TideInitSamples) samples = read_samples(text);
  g_autoptr(GPtrArray) said = g_ptr_array_new();
  g_autoptr(GPtrArray) tried = g_ptr_array_new();
  g_auto(TideShapeGuess) guess = {0};
  if (given != NULL)
    g_ptr_array_add(said, (gpointer)(gsize)given);
  const TideInitSample *first = samples->all->pdata[0];
  if (!tide_guess_shape(samples->survey, first->message.value, said, tried, &guess))
    return g_strdup("-");
  return g_strdup(instead ? guess.instead : guess.settings);
}

TEST("/guess-shape/signs")
{
  static const struct {
    const char *text, *given, *expected;
  } cases[] = {
      {"{\"host\":\"a\",\"v\":[1,2],\"w\":{\"x\":1}}", NULL, "-"},
      {"{\"schema\":{\"type\":\"struct\"},\"payload\":{\"v\":1}}", NULL, "root=payload"},
      {"{\"payload\":{\"before\":null,\"after\":{\"v\":1},\"op\":\"c\"}}", NULL, "root=payload/after\non_missing=skip"},
      {"{\"after\":{\"v\":1},\"op\":\"c\"}", "root=payload", "root=payload/after\non_missing=skip"},
      {"{\"op\":\"c\",\"v\":1}", NULL, "-"},
      {"{\"a\":{\"b\":[ {\"v\":1,\"t\":2} ]}}", NULL, "each=a/b"},
      {"{\"id\":1,\"c\":[{\"v\":1}]}", "each=a/b", "each=a/b/c"},
      /* what belongs to a reading is none */
      {"{\"ts\":1795452860,\"temp\":1,\"gateways\":[{\"id\":\"g\",\"rssi\":-28}]}", NULL, "-"},
      {"{\"ts\":1795452860,\"n\":1,\"sensors\":[{\"id\":\"g\",\"unit\":\"C\",\"value\":-28}]}", NULL, "each=sensors"},
      {"{\"1795452860\":{\"temp\":1},\"1795452861\":{\"temp\":2}}", NULL, "each=\"{time}\""},
      {"{\"m\":[{\"name\":\"x\", \"value\":1}]}", NULL, "fields=[{ pivot: m, name: name, value: value, into: \"\" }]"},
      {"{\"m\":[{\"name\":\"x\",\"value\":1,\"t\":2}]}", NULL, "each=m"},
      {"{\"m\":[{\"name\":\"x\",\"value\":1}]}", "fields=[{ open: y }]",
       "fields=[{ open: y }, { pivot: m, name: name, value: value, into: \"\" }]"},
      {"{\"values\":[1,2],\"dsnames\":[\"rx\",\"tx\"]}", NULL,
       "fields=[{ pivot: values, names: dsnames, into: \"\" }]"},
      {"{\"values\":[1,2],\"dsnames\":[\"rx\"]}", NULL, "-"},
      {"{\"h\":{\"time\":[1795452860,1795452861],\"temp\":[1,2]}}", NULL, "each=h\nzip=true"},
      {"{\"host\":\"a\",\"time\":[1795452860,1795452861],\"temp\":[1,2]}", NULL, "zip=true"},
      {"{\"h\":{\"n\":[1,2],\"temp\":[1,2]}}", NULL, "-"},
      {"{\"v\":[[1795452860,1.5],[1795452861,1.6]]}", NULL, "each=v\npositions=[ts, value]"},
      {"{\"v\":[[1,1.5]]}", NULL, "-"},
      {"[{\"job\":\"x\",\"values\":[ [1795452860.5,\"1\"], [1795452861.5,\"up\"] ]}]", "each=data/result",
       "each=data/result/values\npositions=[ts, value]"},
      {"[1795452860,\"a1\",1.5,2]", NULL, "positions=[ts, name, value, value2]"},
      {"\"{\\\"v\\\":1}\"", NULL, "positions=[message]\nfields=[{ open: message, into: \"\" }]"},
      {"{\"o\":\"{\\\"v\\\":1}\"}", NULL, "fields=[{ open: o }]"},
      {"[{\"bn\":\"a\",\"bt\":1795452860,\"n\":\"x\",\"v\":1}]", NULL, "fields=[{ resolve: senml }]"},
      {"{\"d\":{\"A 1\":[{\"ts\":1,\"v\":2}],\"B\":[{\"ts\":2,\"v\":3}]},\"n\":2}", NULL, "each=\"d/{name}\""},
      {"{\"cpus\":[{\"core\":1,\"use\":2}],\"disks\":[{\"dev\":2,\"free\":3}]}", NULL, "each=cpus"},
      {"{\"a\":{\"x\":[{\"v\":2}]},\"b\":{\"y\":[{\"v\":3}]}}", NULL, "each=a/x"},
      {"{\"A\":[{\"ts\":1,\"v\":2}]}", NULL, "each=A"},
      {"{\"s\":{\"s1\":{\"cpu\":3},\"s2\":{\"cpu\":4}}}", NULL, "each=\"s/{name}\""},
      {"{\"s\":{\"cpu\":{\"min\":3},\"mem\":{\"min\":4}}}", NULL, "-"},
      {"{\"s\":{\"s1\":{\"cpu\":3},\"s2\":{\"mem\":4}}}", NULL, "-"},
      {"{\"p\":{\"rpm\":{\"v\":3,\"time\":1},\"hum\":{\"v\":4,\"time\":1}}}", NULL, "each=\"p/{name}\""},
      {"[{\"p\":{\"rpm\":{\"v\":3,\"time\":1},\"hum\":{\"v\":4,\"time\":1}}}]", "each=m", "each=\"m/p/{name}\""},
      {"{\"s\":{\"2026-11-28 13:00:00\":{\"open\":3}}}", NULL, "each=\"s/{time}\""},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_test_message("%s", cases[i].text);
    g_autofree char *found = guessed(cases[i].text, cases[i].given, FALSE);
    g_assert_cmpstr(found, ==, cases[i].expected);
  }
  g_autofree char *instead = guessed("{\"id\":1,\"r\":[{\"id\":2}]}", NULL, TRUE);
  g_assert_cmpstr(instead, ==, "each=r\nouter_prefix=outer/");
}

TEST("/guess-shape/decimal-comma")
{
  static const struct {
    const char *text;
    gboolean expected;
  } cases[] = {
      {"{\"v\":\"1,5\"}\n{\"v\":2}\n{\"v\":\"\"}", TRUE},
      {"{\"v\":2}", FALSE},
      {"{\"v\":\"1,5\"}\n{\"v\":\"none\"}", FALSE},
      {"{\"v\":\"1,500,2\"}", FALSE},
      {"{\"v\":\"1,\"}", FALSE},
      /* which would become a text */
      {"{\"v\":\"1,5\",\"w\":1.5}", FALSE},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_test_message("%s", cases[i].text);
    g_autoptr(TideInitSamples) samples = read_samples(cases[i].text);
    g_assert_cmpint(tide_guess_decimal_comma(samples->survey), ==, cases[i].expected);
  }
}
