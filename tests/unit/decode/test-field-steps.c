/* readings.fields and readings.null_values, from the configuration's text to the fields of readings. */
#include "decode/field_steps.h"

#include "unit/decoder_fixture.h"
#include "unit/load_text.h"
#include "unit/test_case.h"

#define HEAD                                                                                                           \
  "kafka: { brokers: \"h:1\", group: g, topics: [t] }\n"                                                               \
  "hbase: { gateways: [\"h:1\"] }\n"                                                                                   \
  "tables: { T: { latest: merge, key: [{ field: id }], columns: { family: M, from: \"*\" } } }\n"                      \
  "readings:\n"                                                                                                        \
  "  time: { format: record }\n"

typedef struct StepsFixture {
  TideConfig *config; /* owned */
  DecoderFixture decoder;
} StepsFixture;

static StepsFixture
steps_fixture(const char *readings)
{
  g_autofree char *yaml = g_strconcat(HEAD, readings, NULL);
  StepsFixture fixture = {.config = load_text(yaml), .decoder = {.message = {.timestamp_ms = -1}}};
  fixture.decoder.options = fixture.config->readings.decode;
  fixture.decoder.names = tide_field_names_copy(fixture.config->names);
  fixture.decoder.n_known = tide_field_names_count(fixture.decoder.names);
  return fixture;
}

static void
steps_fixture_clear(StepsFixture *fixture)
{
  decoder_fixture_clear(&fixture->decoder);
  tide_config_free(fixture->config);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(StepsFixture, steps_fixture_clear)

/* The readings, or the sentence of the fault. (transfer full) */
static char *
outcome_of(StepsFixture *fixture, TideBytes value)
{
  if (decoder_fixture_decode(&fixture->decoder, value))
    return decoder_fixture_readings_text(&fixture->decoder);
  return tide_reject_describe(&fixture->decoder.reject);
}

typedef struct StepCase {
  const char *message;
  const char *outcome;
} StepCase;

static void
check_cases(const char *readings, const StepCase *cases, gsize n_cases)
{
  g_auto(StepsFixture) fixture = steps_fixture(readings);
  fixture.decoder.message.key = TIDE_BYTES_LITERAL("tele/plug-7/SENSOR");
  fixture.decoder.message.topic = TIDE_BYTES_LITERAL("site.a.b");
  fixture.decoder.message.timestamp_ms = 1795871383123;
  for (gsize i = 0; i < n_cases; i++) {
    g_autofree char *outcome = outcome_of(&fixture, tide_bytes_of_string(cases[i].message));
    if (strcmp(outcome, cases[i].outcome) != 0)
      g_error("%s\n%s gave\n%s, expected\n%s", readings, cases[i].message, outcome, cases[i].outcome);
  }
}
#define CHECK(readings, ...)                                                                                           \
  do {                                                                                                                 \
    static const StepCase cases_[] = {__VA_ARGS__};                                                                    \
    check_cases(readings, cases_, G_N_ELEMENTS(cases_));                                                               \
  } while (FALSE)

TEST("/field-steps/open-reads-a-text-that-holds-an-object")
{
  CHECK("  fields: [{ open: objectJSON }]\n",
        {"{\"id\":\"a\",\"objectJSON\":\"{\\\"temp\\\":21.5,\\\"in\\\":{\\\"v\\\":null}}\",\"z\":1}",
         "id=S:a z=N:1 objectJSON/temp=N:21.5 objectJSON/in/v=0:;"},
        {"{\"id\":\"a\"}", "id=S:a;"}, {"{\"objectJSON\":null}", "objectJSON=0:;"}, {"{\"objectJSON\":\" {} \"}", ";"},
        {"{\"objectJSON\":\"{\\\"l\\\":[1,{}],\\\"b\\\":true}\"}", "objectJSON/l=J:[1,{}] objectJSON/b=B:true;"},
        {"[{\"objectJSON\":\"{\\\"a\\\":1}\"},{\"objectJSON\":\"{\\\"a\\\":2}\"}]",
         "objectJSON/a=N:1;objectJSON/a=N:2;"});
}

TEST("/field-steps/open-names-what-it-makes-by-into")
{
  CHECK("  fields: [{ open: o, into: \"\" }]\n", {"{\"o\":\"{\\\"o\\\":1,\\\"p\\\":2}\"}", "o=N:1 p=N:2;"},
        {"{\"p\":1,\"o\":\"{\\\"p\\\":2}\"}", "the field appears twice, in 'p'"});
  CHECK("  separator: \".\"\n  fields: [{ open: o, into: x }]\n",
        {"{\"o\":\"{\\\"a\\\":{\\\"b\\\":1}}\"}", "x.a.b=N:1;"});
  CHECK("  fields: [{ open: o }, { open: o/i }]\n",
        {"{\"o\":\"{\\\"i\\\":\\\"{\\\\\\\"v\\\\\\\":1}\\\"}\"}", "o/i/v=N:1;"});
}

TEST("/field-steps/open-refuses-what-is-no-object")
{
  CHECK("  fields: [{ open: o }]\n",
        {"{\"o\":\"x\"}", "a value of a kind that is declared as 'reject': 'o' is not a JSON object, and only an "
                          "object can be opened, got 'x'"},
        {"{\"o\":\"\"}",
         "a value of a kind that is declared as 'reject': 'o' is not a JSON object, and only an object can be opened"},
        {"{\"o\":\"[1]\"}", "a value of a kind that is declared as 'reject': 'o' is not a JSON object, and only an "
                            "object can be opened, got '[1]'"},
        {"{\"o\":1}", "a value of a kind that is declared as 'reject': 'o' is not a text, and only a text can contain "
                      "JSON to open, got '1'"},
        {"{\"o\":[{}]}", "a value of a kind that is declared as 'reject': 'o' is not a text, and only a text can "
                         "contain JSON to open, got '[{}]'"},
        {"{\"o\":\"{\\\"a\\\":}\"}", "not in the declared format: not a value, in 'o', got '{\"a\":}'"},
        {"{\"o\":\"{\\\"a\\\":1,\\\"a\\\":2}\"}", "the field appears twice, in 'o', got '{\"a\":1,\"a\":2}'"},
        {"{\"o\":\"{}{}\"}", "a value of a kind that is declared as 'reject': 'o' is more than one JSON object, got "
                             "'{}{}'"},
        {"{\"o\":\"{\\\"a\\\":\\\"\\\\ud800\\\"}\"}",
         "not valid UTF-8: an escape of half a character (a lone surrogate), in 'o', got '{\"a\":\"\\x5Cud800\"}'"});
}

TEST("/field-steps/a-long-value-is-shown-in-part")
{
  g_autofree char *digits = g_strnfill(200, '7');
  g_autofree char *message = g_strdup_printf("{\"o\":\"%s\"}", digits);
  g_auto(StepsFixture) fixture = steps_fixture("  fields: [{ open: o }]\n");
  g_autofree char *outcome = outcome_of(&fixture, tide_bytes_of_string(message));
  g_assert_nonnull(strstr(outcome, "77...'"));
  g_assert_cmpuint(strlen(outcome), <, 200);
}

TEST("/field-steps/open-reads-the-records-key")
{
  g_auto(StepsFixture) fixture = steps_fixture("  fields: [{ open: $key }]\n");
  fixture.decoder.message.key = TIDE_BYTES_LITERAL("{\"id\":7}");
  g_autofree char *outcome = outcome_of(&fixture, TIDE_BYTES_LITERAL("{\"v\":1}"));
  g_assert_cmpstr(outcome, ==, "v=N:1 $key=S:{\"id\":7} key/id=N:7;");
}

/* What the message holds does not stand in for it, whether this record has a key or not. */
TEST("/field-steps/the-records-names-are-its-own")
{
  static const char *const messages[] = {
      "{\"$key\":\"a/b\"}", "{\"o\":\"{\\\"$key\\\":\\\"a/b\\\"}\"}", "{\"o\":\"{\\\"$header.x\\\":1}\"}",
      "{\"m\":[{\"n\":\"$offset\",\"v\":{\"a\":1}},{\"n\":\"$offset\",\"v\":1}]}", "{\"$tags\":1}"};
  g_auto(StepsFixture) fixture = steps_fixture(
      "  fields: [{ open: o, into: \"\" }, { pivot: m, name: n, value: v, into: \"\" }, { split: $key, by: "
      "/, into: [a, b] }]\n");
  for (gsize i = 0; i < G_N_ELEMENTS(messages); i++) {
    g_autofree char *outcome = outcome_of(&fixture, tide_bytes_of_string(messages[i]));
    if (strstr(outcome, "the message has a field with the name of a record field, in '$") == NULL)
      g_error("%s gave\n%s", messages[i], outcome);
  }
  g_autofree char *outcome = outcome_of(&fixture, TIDE_BYTES_LITERAL("{\"$x\":1,\"m\":[{\"n\":\"$y\",\"v\":2}]}"));
  g_assert_cmpstr(outcome, ==, "$x=N:1 $y=N:2;");
}

TEST("/field-steps/pivot-makes-fields-of-names-and-values")
{
  CHECK("  fields: [{ pivot: labels, name: name, value: [value] }]\n",
        {"{\"v\":1,\"labels\":[{\"name\":\"job\",\"value\":\"x\"},{\"name\":7,\"value\":true}]}",
         "v=N:1 labels/job=S:x labels/7=B:true;"},
        {"{\"labels\":[]}", ";"},
        {"{\"labels\":[{\"name\":\"a\"},{\"name\":\"b\",\"value\":null}]}", "labels/a=0: labels/b=0:;"},
        {"{\"labels\":\"[{\\\"name\\\":\\\"a\\\",\\\"value\\\":[1,2]}]\"}", "labels/a=J:[1,2];"});
  CHECK("  fields: [{ pivot: m, name: n/id, value: [v/d, v/i], into: \"\" }]\n",
        {"{\"m\":[{\"n\":{\"id\":\"t\"},\"v\":{\"i\":1}},{\"n\":{\"id\":\"u\"},\"v\":{\"d\":1.5,\"i\":2}}]}",
         "t=N:1 u=N:1.5;"});
}

TEST("/field-steps/pivot-keeps-values-that-are-objects")
{
  CHECK("  fields: [{ pivot: m, name: n, value: [v, w], into: \"\" }]\n",
        {"{\"q\":1,\"m\":[{\"n\":\"pos\",\"v\":{\"lat\":1,\"at\":{\"z\":[2]}},\"vx\":7},{\"n\":\"t\",\"v\":3}]}",
         "q=N:1 pos/lat=N:1 pos/at/z=J:[2] t=N:3;"},
        {"{\"m\":[{\"n\":\"pos\",\"v\":{},\"w\":9},{\"n\":\"t\",\"v\":null,\"w\":{\"a\":null}}]}", "t/a=0:;"},
        {"{\"m\":[{\"n\":{\"v\":1},\"v\":2}]}",
         "a field that the key or the time needs is absent or null: an item of the list has no text or number as its "
         "name, in 'm', got '[{\"n\":{\"v\":1},\"v\":2}]'"},
        {"{\"m\":[{\"n\":\"a\",\"v\":{\"b\":1}},{\"n\":\"a/b\",\"v\":1}]}", "the field appears twice, in 'a/b'"});
}

TEST("/field-steps/pivot-refuses-what-has-no-names")
{
  CHECK("  fields: [{ pivot: m, name: n, value: [v] }]\n",
        {"{\"m\":[{\"v\":1}]}", "a field that the key or the time needs is absent or null: an item of the list has no "
                                "text or number as its name, in 'm', got '[{\"v\":1}]'"},
        {"{\"m\":[{\"n\":true}]}", "a field that the key or the time needs is absent or null: an item of the list has "
                                   "no text or number as its name, in 'm', got '[{\"n\":true}]'"},
        {"{\"m\":5}", "a value of a kind that is declared as 'reject': 'm' is not a list of names and values, or the "
                      "text of one, got '5'"},
        {"{\"m\":\"{}\"}", "a value of a kind that is declared as 'reject': 'm' is not a list of names and values, or "
                           "the text of one, got '{}'"},
        {"{\"m\":[1]}", "not in the declared format: an object was expected, in 'm', got '[1]'"},
        {"{\"m\":[{\"n\":\"a\",\"v\":1},{\"n\":\"a\",\"v\":2}]}", "the field appears twice, in 'm/a'"});
}

TEST("/field-steps/pivot-takes-two-lists")
{
  CHECK("  fields: [{ pivot: values, names: dsnames, into: \"\" }]\n",
        {"{\"values\":[1,2.5],\"dsnames\":[\"rx\",\"tx\"]}", "rx=N:1 tx=N:2.5;"},
        {"{\"values\":[],\"dsnames\":[]}", ";"},
        {"{\"values\":[null,\"x\",true],\"dsnames\":[\"a\",1,1.5]}", "a=0: 1=S:x 1.5=B:true;"},
        {"{\"values\":[1,2],\"dsnames\":[\"rx\"]}",
         "a value of a kind that is declared as 'reject': 'values' is a list of a different length than the names, "
         "got '[1,2]'"},
        {"{\"values\":[1]}", "a field that the key or the time needs is absent or null: the list of the names of its "
                             "values is absent or null, in 'values', got '[1]'"},
        {"{\"values\":[[1]],\"dsnames\":[\"a\"]}", "a value of a kind that is declared as 'reject': 'values' is not a "
                                                   "list of only texts, numbers, booleans and nulls, got '[[1]]'"},
        {"{\"values\":[1],\"dsnames\":[null]}", "a value of a kind that is declared as 'reject': 'dsnames' is a list "
                                                "with an item that is not a text or number, got '[null]'"},
        {"{\"values\":[{}],\"dsnames\":[\"a\"]}", "a value of a kind that is declared as 'reject': 'values' is not a "
                                                  "list of only texts, numbers, booleans and nulls, got "
                                                  "'[{}]'"},
        {"{\"values\":\"[1]\",\"dsnames\":[\"a\"]}", "a value of a kind that is declared as 'reject': 'values' is not "
                                                     "a list of only texts, numbers, booleans and nulls, got "
                                                     "'[1]'"});
}

TEST("/field-steps/split-takes-parts-of-texts")
{
  CHECK("  fields: [{ split: $key, by: \"/\", into: [_, device, kind] }]\n",
        {"{\"v\":1}", "v=N:1 $key=S:tele/plug-7/SENSOR device=S:plug-7 kind=S:SENSOR;"});
  CHECK("  fields: [{ split: $topic, by: \".\", into: [site, rest] }]\n",
        {"{}", "$topic=S:site.a.b site=S:site rest=S:a.b;"});
  CHECK("  fields: [{ split: t, by: \"--\", into: [a, b] }]\n", {"{\"t\":\"x--y--z\"}", "a=S:x b=S:y--z;"},
        {"{\"t\":\"--\"}", "a=S: b=S:;"}, {"{\"u\":1}", "u=N:1;"}, {"{\"t\":null}", "t=0:;"},
        {"{\"t\":\"x-y\"}",
         "a field that the key or the time needs is absent or null: the text ends before this part, in 'b', got 'x-y'"},
        {"{\"t\":true}",
         "a value of a kind that is declared as 'reject': 't' is neither text nor number, and cannot be "
         "split, got 'true'"});
  CHECK(
      "  fields: [{ split: t, at: [4, 6], into: [y, _, d] }]\n", {"{\"t\":20261128}", "y=S:2026 d=S:28;"},
      {"{\"t\":\"202611\"}", "y=S:2026 d=S:;"},
      {"{\"t\":\"20261\"}",
       "a field that the key or the time needs is absent or null: the text ends before this part, in 'd', got '20261'"},
      {"{\"t\":\"202\\u00fc1128\"}",
       "not valid UTF-8: a position is inside a character, in 't', got '202\\xC3\\xBC1128'"});
}

TEST("/field-steps/decimals-are-exact")
{
  CHECK("  fields: [{ decimal: p, scale: 2 }]\n", {"{\"p\":\"AQ==\"}", "p=N:0.01;"}, {"{\"p\":\"/w==\"}", "p=N:-0.01;"},
        {"{\"p\":\"ME8=\"}", "p=N:123.67;"}, {"{\"p\":\"AA==\"}", "p=N:0.00;"}, {"{\"p\":null}", "p=0:;"},
        {"{\"p\":\"f///////////////\"}", "p=N:396140812571321687967719751.67;"});
  CHECK("  fields: [{ decimal: p, scale: 60 }]\n",
        {"{\"p\":\"/w==\"}", "p=N:-0.000000000000000000000000000000000000000000000000000000000001;"},
        {"{\"p\":\"f///////////////\"}", "p=N:0.000000000000000000000000000000039614081257132168796771975167;"});
  CHECK("  fields: [{ decimal: p, scale: 0 }]\n", {"{\"p\":\"AQ==\"}", "p=N:1;"}, {"{\"p\":\"gA==\"}", "p=N:-128;"},
        {"{\"p\":\"AIA=\"}", "p=N:128;"},
        {"{\"p\":1}", "a value of a kind that is declared as 'reject': 'p' is not a decimal in base64, got '1'"},
        {"{\"p\":\"AQ\"}", "a value of a kind that is declared as 'reject': 'p' is not a decimal in base64, got 'AQ'"},
        {"{\"p\":\"A===\"}",
         "a value of a kind that is declared as 'reject': 'p' is not a decimal in base64, got 'A==='"},
        {"{\"p\":\"\"}", "a value of a kind that is declared as 'reject': 'p' is not a decimal in base64"},
        {"{\"p\":\"A-_=\"}",
         "a value of a kind that is declared as 'reject': 'p' is not a decimal in base64, got 'A-_='"},
        {"{\"p\":\"fwAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA==\"}",
         "a number that cannot be stored exactly: a decimal of more than 64 bytes, in 'p', got "
         "'fwAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=='"});
}

/* The examples of RFC 8428, 5.1.2, 5.1.3 and 5.1.5, and what its text says besides. */
TEST("/field-steps/senml-resolves-base-fields")
{
  CHECK(
      "  fields: [{ resolve: senml }]\n",
      {"[{\"bn\":\"urn:dev:ow:10e2073a01080063:\",\"n\":\"voltage\",\"u\":\"V\",\"v\":120.1},"
       "{\"n\":\"current\",\"u\":\"A\",\"v\":1.2}]",
       "n=S:urn:dev:ow:10e2073a01080063:voltage t=N:1795871383.123 u=S:V v=N:120.1;"
       "n=S:urn:dev:ow:10e2073a01080063:current t=N:1795871383.123 u=S:A v=N:1.2;"},
      {"[{\"bn\":\"urn:dev:ow:10e2073a0108006:\",\"bt\":1.276020076001e+09,\"bu\":\"A\",\"bver\":5,"
       "\"n\":\"voltage\",\"u\":\"V\",\"v\":120.1},{\"n\":\"current\",\"t\":-5,\"v\":1.2},"
       "{\"n\":\"current\",\"t\":-4,\"v\":1.3}]",
       "n=S:urn:dev:ow:10e2073a0108006:voltage t=N:1276020076.001 u=S:V v=N:120.1;"
       "n=S:urn:dev:ow:10e2073a0108006:current t=N:1276020071.001 u=S:A v=N:1.2;"
       "n=S:urn:dev:ow:10e2073a0108006:current t=N:1276020072.001 u=S:A v=N:1.3;"},
      {"[{\"bn\":\"a\",\"bt\":1320067464,\"bv\":20,\"bs\":0.1,\"v\":-0.25,\"s\":1},{\"vs\":\"x\",\"bv\":1},{\"v\":1e-1}"
       "]",
       "n=S:a t=N:1320067464 v=N:19.75 s=N:1.1;vs=S:x n=S:a t=N:1320067464;n=S:a t=N:1320067464 v=N:1.1;"},
      {"[{\"bn\":\"a\",\"bt\":1320067464,\"bv\":20},{\"bn\":null,\"bt\":null,\"bv\":null,\"n\":\"b\"},"
       "{\"vb\":true},{\"vd\":\"AA\"},{\"s\":1}]",
       "n=S:a t=N:1320067464 v=N:20;n=S:ab t=N:1320067464 v=N:20;vb=B:true n=S:a t=N:1320067464;"
       "vd=S:AA n=S:a t=N:1320067464;n=S:a t=N:1320067464 s=N:1;"},
      {"{\"n\":\"x\",\"t\":-5.5,\"v\":1}", "n=S:x t=N:1795871377.623 v=N:1;"},
      {"{\"n\":\"x\",\"t\":268435455,\"v\":1}", "n=S:x t=N:2064306838.123 v=N:1;"},
      {"{\"n\":\"x\",\"t\":268435456,\"v\":1}", "n=S:x t=N:268435456 v=N:1;"},
      {"{\"n\":\"x\",\"v\":12e1}", "n=S:x t=N:1795871383.123 v=N:120;"},
      {"{\"n\":\"x\",\"v\":9007199254740993.000000001}", "n=S:x t=N:1795871383.123 v=N:9007199254740993.000000001;"},
      {"{\"n\":\"x\",\"v\":\"1\"}",
       "a number that cannot be stored exactly: 'v' is not a number, as SenML requires, got '1'"},
      {"{\"n\":1}", "a number that cannot be stored exactly: 'n' is not a text, as SenML requires, got '1'"},
      {"[{\"bv\":1e40,\"v\":1e-30}]",
       "a number that cannot be stored exactly: 'bv' is a number with too many digits to add, got '1e40'"},
      {"{\"v\":1e999999999999}", "a number that cannot be stored exactly: 'v' is a number with too many digits to add, "
                                 "got '1e999999999999'"});
}

TEST("/field-steps/senml-needs-the-records-time-for-relative-ones")
{
  g_auto(StepsFixture) fixture = steps_fixture("  fields: [{ resolve: senml }]\n");
  g_autofree char *relative = outcome_of(&fixture, TIDE_BYTES_LITERAL("{\"n\":\"a\",\"v\":1}"));
  g_assert_cmpstr(relative, ==,
                  "a number that cannot be stored exactly: 't' is relative to the record's time, which is not known");
  g_autofree char *absolute = outcome_of(&fixture, TIDE_BYTES_LITERAL("{\"n\":\"a\",\"bt\":1e9,\"v\":1}"));
  g_assert_cmpstr(absolute, ==, "n=S:a t=N:1000000000 v=N:1;");
}

/* What a bad reading would have said of those behind it is not known. */
TEST("/field-steps/a-bad-reading-of-senml-rejects-the-message")
{
  CHECK("  on_bad_reading: reading\n  fields: [{ resolve: senml }]\n",
        {"[{\"bn\":\"a\",\"v\":\"x\"},{\"n\":\"b\",\"v\":1}]",
         "a number that cannot be stored exactly: 'v' is not a number, as SenML requires, got 'x'"},
        {"[{\"n\":\"a\",\"v\":1},{\"bn\":\"a\",\"v\":1,\"v\":2},{\"n\":\"b\",\"v\":1}]",
         "the field appears twice, in 'v', in reading 1 of the message (from 0), at byte 37"});
}

/* Debezium's deletes: what no table takes is not missed by its steps. */
TEST("/field-steps/what-is-skipped-stays-so")
{
  g_auto(StepsFixture) fixture =
      steps_fixture("  root: after\n  on_missing: skip\n  fields: [{ open: $key }, { decimal: p, scale: 1 }]\n");
  fixture.decoder.message.key = TIDE_BYTES_LITERAL("{\"id\":7}");
  g_autofree char *skipped = outcome_of(&fixture, TIDE_BYTES_LITERAL("{\"after\":null}"));
  g_assert_cmpstr(skipped, ==, ";");
  g_assert_true(fixture.decoder.readings[0].is_skipped);
  g_autofree char *taken = outcome_of(&fixture, TIDE_BYTES_LITERAL("{\"after\":{\"p\":\"Dw==\"}}"));
  g_assert_cmpstr(taken, ==, "p=N:1.5 $key=S:{\"id\":7} key/id=N:7;");
  g_assert_false(fixture.decoder.readings[0].is_skipped);
}

TEST("/field-steps/a-bad-reading-takes-no-other-with-it")
{
  static const char message[] = "[{\"o\":\"{\\\"a\\\":1}\"},{\"o\":\"x\"},{\"o\":1,\"o\":2},{\"o\":\"{\\\"a\\\":2}\"}]";
  g_auto(StepsFixture) fixture = steps_fixture("  on_bad_reading: reading\n  fields: [{ open: o }]\n");
  g_autofree char *outcome = outcome_of(&fixture, tide_bytes_of_string(message));
  g_assert_cmpstr(outcome, ==, "o/a=N:1;;;o/a=N:2;");
  g_autofree char *rejects = decoder_fixture_rejects_text(&fixture.decoder);
  g_assert_cmpstr(rejects, ==, "type@-1 1;duplicate_field@40 2;");
  g_auto(StepsFixture) whole = steps_fixture("  fields: [{ open: o }]\n");
  g_autofree char *rejected =
      outcome_of(&whole, TIDE_BYTES_LITERAL("[{\"o\":\"{\\\"a\\\":1}\"},{\"o\":\"x\"},{\"o\":\"{}\"}]"));
  g_assert_nonnull(strstr(rejected, "in reading 1 of the message"));
  /* A message's only reading rejects it. */
  g_assert_false(decoder_fixture_decode(&fixture.decoder, TIDE_BYTES_LITERAL("{\"o\":\"x\"}")));
}

TEST("/field-steps/null-values-are-null")
{
  CHECK("  null_values: [\"\", N/A, \"-999\"]\n  fields: [{ open: o }]\n",
        {"{\"a\":\"\",\"b\":\"N/A\",\"c\":-999,\"d\":\"x\",\"e\":[]}", "a=0: b=0: c=0: d=S:x e=J:[];"},
        {"{\"o\":\"\"}", "o=0:;"}, {"{\"o\":\"{\\\"v\\\":\\\"N/A\\\"}\"}", "o/v=0:;"},
        {"{\"a\":-999.0,\"b\":\"n/a\",\"c\":true}", "a=0: b=S:n/a c=B:true;"},
        {"{\"a\":-9.99e2,\"b\":\"-999.0\",\"c\":999,\"d\":-9990}", "a=0: b=S:-999.0 c=N:999 d=N:-9990;"});
  CHECK("  null_values: [0]\n", {"{\"a\":-0.0,\"b\":0e7,\"c\":10}", "a=0: b=0: c=N:10;"});
}

TEST("/field-steps/null-values-are-null-after-each-step")
{
  CHECK("  null_values: [\"-9.99\"]\n  fields: [{ decimal: p, scale: 2 }]\n", {"{\"p\":\"/Bk=\"}", "p=0:;"},
        {"{\"p\":\"/Bo=\"}", "p=N:-9.98;"});
  CHECK("  null_values: [\"-999\", \"a:\"]\n  fields: [{ resolve: senml }]\n",
        {"{\"bn\":\"a\",\"bt\":1426535612,\"n\":\":\",\"bv\":-1000,\"v\":1}", "n=0: t=N:1426535612 v=0:;"});
}

/* Of each format; what a list's text would then have to hold is no JSON. */
TEST("/field-steps/with-nan-what-is-not-finite-is-null")
{
  CHECK("  null_values: [NaN]\n",
        {"{\"a\":NaN,\"b\":Infinity,\"c\":-Infinity,\"d\":1,\"e\":\"NaN\"}", "a=0: b=0: c=0: d=N:1 e=0:;"},
        {"[{\"a\":1,\"b\":2},{\"a\":NaN,\"b\":3},{\"a\":-Infinity,\"b\":NaN}]", "a=N:1 b=N:2;a=0: b=N:3;a=0: b=0:;"},
        {"{\"a\":[NaN]}", "not in the declared format: not a value, at byte 6"},
        {"{\"a\":NaNa}", "not in the declared format: not a value, in 'a', at byte 5"},
        {"{\"a\":-x}", "not in the declared format: not a number, in 'a', at byte 5"});
  CHECK("  null_values: [NaN]\n  fields: [{ open: o }, { pivot: m, name: n, value: v }]\n",
        {"{\"o\":\"{\\\"a\\\":NaN,\\\"b\\\":1}\",\"m\":\"[{\\\"n\\\":1,\\\"v\\\":-Infinity}]\"}",
         "o/a=0: o/b=N:1 m/1=0:;"});
  CHECK("  null_values: [x]\n", {"{\"a\":NaN}", "not in the declared format: not a value, in 'a', at byte 5"},
        {"{\"a\":-Infinity}", "not in the declared format: not a number, in 'a', at byte 5"});
  CHECK("  format: influx\n  null_values: [NaN]\n",
        {"m a=NaN,b=-inf,c=1,d=+Inf,e=\"NaN\" 7", "measurement=S:m a=0: b=0: c=N:1 d=0: e=0: time=N:7;"},
        {"m a=nano",
         "not in the declared format: not a value: a number, true or false, or a text in quotes was expected, "
         "in 'a', at byte 4"});
  CHECK("  format: influx\n",
        {"m a=NaN", "not in the declared format: not a value: a number, true or false, or a text in "
                    "quotes was expected, in 'a', at byte 4"});
  CHECK("  format: msgpack\n  null_values: [NaN]\n",
        {"\x82\xA1p\xCB\x7F\xF8\x01\x01\x01\x01\x01\x01\xA1q\x01", "p=0: q=N:1;"},
        {"\x81\xA1p\x92\xCA\x7F\x80\x01\x01\x01", "p=J:[null,1];"});
  CHECK("  format: csv\n  csv: { columns: [a, b] }\n  null_values: [NaN]\n", {"NaN,1", "a=0: b=N:1;"});
}

TEST("/field-steps/steps-are-taken-in-their-order")
{
  CHECK("  fields: [{ split: k, by: \"|\", into: [id, j] }, { open: j, into: \"\" }, { decimal: p, scale: 1 }]\n",
        {"{\"k\":\"a|{\\\"p\\\":\\\"Dw==\\\"}\"}", "id=S:a p=N:1.5;"});
  CHECK("  fields: [{ open: j, into: \"\" }, { split: k, by: \"|\", into: [id, j] }]\n",
        {"{\"k\":\"a|{}\"}", "id=S:a j=S:{};"});
}

TEST("/field-steps/limits-hold-for-all-that-is-made")
{
  CHECK(
      "  max_fields: 4\n  fields: [{ open: o, into: \"\" }, { open: p, into: \"\" }]\n",
      {"{\"o\":\"{\\\"a\\\":1,\\\"b\\\":2}\",\"p\":\"{\\\"c\\\":1,\\\"d\\\":2}\"}", "a=N:1 b=N:2 c=N:1 d=N:2;"},
      {"{\"x\":1,\"o\":\"{\\\"a\\\":1,\\\"b\\\":2}\",\"p\":\"{\\\"c\\\":1,\\\"d\\\":2}\"}", "too many fields, in 'd'"});
  CHECK("  max_depth: 2\n  fields: [{ open: o }]\n", {"{\"o\":\"{\\\"a\\\":{}}\"}", ";"},
        {"{\"o\":\"{\\\"a\\\":{\\\"b\\\":{}}}\"}", "nested too deeply, in 'o', got '{\"a\":{\"b\":{}}}'"});
  CHECK("  max_message_size: 1KiB\n  each: l\n  fields: [{ open: o }]\n", {"{\"o\":\"{}\",\"l\":[{},{}]}", ";;"});
}

/* A text beside a list of readings is opened for each of them. */
TEST("/field-steps/what-is-made-of-a-message-is-bounded")
{
  g_autoptr(GString) message = g_string_new("{\"o\":\"{\\\"a\\\":\\\"");
  g_auto(StepsFixture) fixture = steps_fixture("  max_message_size: 1KiB\n  each: l\n  fields: [{ open: o }]\n");
  for (guint i = 0; i < 800; i++)
    g_string_append_c(message, 'x');
  g_string_append(message, "\\\"}\",\"l\":[{}");
  for (guint i = 1; i < 9; i++)
    g_string_append(message, ",{}");
  g_autofree char *good = g_strconcat(message->str, "]}", NULL), *bad = g_strconcat(message->str, ",{}]}", NULL);
  g_assert_true(decoder_fixture_decode(&fixture.decoder, tide_bytes_of_string(good)));
  g_assert_cmpuint(fixture.decoder.n_readings, ==, 9);
  g_assert_false(decoder_fixture_decode(&fixture.decoder, tide_bytes_of_string(bad)));
  g_assert_cmpint(fixture.decoder.reject.reason, ==, TIDE_REJECT_TOO_LARGE);
}

/* Of lists beside many readings, the fields take more than the names. */
TEST("/field-steps/fields-that-are-made-are-bounded")
{
  g_autoptr(GString) message = g_string_new("{\"k\":[10");
  g_auto(StepsFixture) fixture =
      steps_fixture("  max_message_size: 1KiB\n  each: l\n  fields: [{ pivot: m, names: k }]\n");
  for (guint i = 11; i < 60; i++)
    g_string_append_printf(message, ",%u", i);
  g_string_append(message, "],\"m\":[0");
  for (guint i = 11; i < 60; i++)
    g_string_append(message, ",0");
  g_string_append(message, "],\"l\":[{},{}");
  g_autofree char *good = g_strconcat(message->str, "]}", NULL), *bad = g_strconcat(message->str, ",{},{}]}", NULL);
  g_assert_true(decoder_fixture_decode(&fixture.decoder, tide_bytes_of_string(good)));
  g_assert_false(decoder_fixture_decode(&fixture.decoder, tide_bytes_of_string(bad)));
  g_assert_cmpint(fixture.decoder.reject.reason, ==, TIDE_REJECT_TOO_LARGE);
}

/* A base field is added to all records that follow. */
TEST("/field-steps/base-fields-of-senml-are-bounded")
{
  g_autofree char *unit = g_strnfill(800, 'u');
  g_autoptr(GString) message = g_string_new(NULL);
  g_auto(StepsFixture) fixture = steps_fixture("  max_message_size: 1KiB\n  fields: [{ resolve: senml }]\n");
  g_string_printf(message, "[{\"bu\":\"%s\",\"bt\":1e9,\"v\":0}", unit);
  for (guint i = 1; i < 8; i++)
    g_string_append(message, ",{\"v\":1}");
  g_autofree char *good = g_strconcat(message->str, "]", NULL), *bad = g_strconcat(message->str, ",{\"v\":1}]", NULL);
  g_assert_true(decoder_fixture_decode(&fixture.decoder, tide_bytes_of_string(good)));
  g_assert_cmpuint(fixture.decoder.n_readings, ==, 8);
  g_assert_false(decoder_fixture_decode(&fixture.decoder, tide_bytes_of_string(bad)));
  g_assert_cmpint(fixture.decoder.reject.reason, ==, TIDE_REJECT_TOO_LARGE);
}

/* A long name around objects without members, from which no field is made. */
TEST("/field-steps/names-within-texts-are-bounded")
{
  g_autofree char *name = g_strnfill(200, 'n');
  g_autoptr(GString) message = g_string_new(NULL);
  g_auto(StepsFixture) fixture = steps_fixture("  max_message_size: 1KiB\n  each: l\n  fields: [{ open: o }]\n");
  g_string_printf(message, "{\"o\":\"{\\\"%s\\\":{\\\"a\\\":{}", name);
  for (char inner = 'b'; inner < 'b' + 19; inner++)
    g_string_append_printf(message, ",\\\"%c\\\":{}", inner);
  g_string_append(message, "}}\",\"l\":[{}");
  g_autofree char *good = g_strconcat(message->str, "]}", NULL), *bad = g_strconcat(message->str, ",{}]}", NULL);
  g_autofree char *outcome = outcome_of(&fixture, tide_bytes_of_string(good));
  g_assert_cmpstr(outcome, ==, ";");
  g_assert_false(decoder_fixture_decode(&fixture.decoder, tide_bytes_of_string(bad)));
  g_assert_cmpint(fixture.decoder.reject.reason, ==, TIDE_REJECT_TOO_LARGE);
}

/* What helps is a word about the step, or the bound where that was exceeded. */
TEST("/field-steps/a-fault-of-a-step-names-it")
{
  static const struct {
    const char *readings, *message, *remedy;
  } cases[] = {
      {"  fields: [{ open: o }]\n", "{\"o\":1}", "the step 'open' of 'readings.fields'"},
      {"  fields: [{ open: o }]\n", "{\"o\":\"{\"}", "the step 'open' of 'readings.fields'"},
      {"  fields: [{ pivot: m, names: n }]\n", "{\"m\":[1]}", "the step 'pivot' of 'readings.fields'"},
      /* for a bound's own remedy */
      {"  max_fields: 1\n  fields: [{ pivot: m, name: n, value: v }]\n", "{\"m\":[{\"n\":1},{\"n\":2}]}", NULL},
      {"  max_fields: 1\n  fields: [{ open: o }]\n", "{\"o\":\"{\\\"a\\\":1,\\\"b\\\":2}\"}", NULL},
      {"  max_depth: 1\n  fields: [{ open: o }]\n", "{\"o\":\"{\\\"a\\\":{}}\"}", NULL},
      {"  fields: [{ split: s, by: x, into: [a, b] }]\n", "{\"s\":\"y\"}", "the step 'split' of 'readings.fields'"},
      {"  fields: [{ decimal: d, scale: 1 }]\n", "{\"d\":1}", "the step 'decimal' of 'readings.fields'"},
      {"  fields: [{ resolve: senml }]\n", "{\"v\":\"x\"}", "the step 'resolve: senml' of 'readings.fields'"},
      {"  max_message_size: 1KiB\n  each: l\n  fields: [{ split: s, by: x, into: [a, b] }]\n", NULL, NULL},
      {"  fields: [{ split: s, by: x, into: [a, b] }]\n", "{\"$key\":1}", NULL},
      {"  fields: [{ split: s, by: x, into: [a, b] }]\n", "{\"s\":\"1x2\",\"a\":3}",
       "makes one of them: see its 'into'"},
  };
  g_autoptr(GString) many = g_string_new("{\"s\":\"axb\",\"l\":[{}");
  for (guint i = 1; i < 200; i++)
    g_string_append(many, ",{}");
  g_string_append(many, "]}");
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    const char *message = cases[i].message != NULL ? cases[i].message : many->str;
    g_auto(StepsFixture) fixture = steps_fixture(cases[i].readings);
    g_assert_false(decoder_fixture_decode(&fixture.decoder, tide_bytes_of_string(message)));
    const char *remedy = fixture.decoder.reject.remedy;
    if (cases[i].remedy == NULL ? remedy != NULL : remedy == NULL || strstr(remedy, cases[i].remedy) == NULL)
      g_error("%s\n%s has the remedy\n%s", cases[i].readings, message, remedy);
  }
}

TEST("/field-steps/every-format-has-them")
{
  CHECK("  format: influx\n  fields: [{ split: host, by: \".\", into: [site, name] }]\n",
        {"m,host=a.b,z=1 v=1", "measurement=S:m z=S:1 v=N:1 site=S:a name=S:b;"});
  CHECK("  format: csv\n  csv: { columns: [id, o] }\n  fields: [{ open: o }]\n",
        {"a,\"{\"\"v\"\":1}\"", "id=S:a o/v=N:1;"});
  CHECK("  format: msgpack\n  fields: [{ pivot: l, name: n, value: [v] }]\n",
        {"\x81\xA1l\x91\x82\xA1n\xA1x\xA1v\xCB\x3F\xB9\x99\x99\x99\x99\x99\x9A", "l/x=N:0.1;"});
}

TEST("/field-steps/csv-as-loggers-write-it")
{
  CHECK("  format: csv\n  csv: { columns: [a, _, b], comment: \"//\" }\n",
        {"// x,\"\n1,2,3\n//\n\n4,5,6", "a=N:1 b=N:3;a=N:4 b=N:6;"},
        {"1,2", "not in the declared format: fewer values than "
                "there are columns, at byte 3"},
        {"//x", "the message is empty: only empty and skipped lines, at byte 0"});
  CHECK("  format: csv\n  csv: { header: true, skip_lines: 1, skip_after_header: 1, comment: \"#\" }\n",
        {"Logger 7\n# c\na,b,\n#d\nV,A,\n1,2,3\n", "a=N:1 b=N:2;"},
        {"Logger 7\na,b,\nV,A,\n", "not in the declared format: its only line was read as the names of the columns: if "
                                   "messages have no such line, name them with 'csv.columns', at byte 0"});
  CHECK("  format: csv\n  csv: { columns: [a, b, c], trim: true }\n", {" x y ,\t1 ,  ", "a=S:x y b=N:1 c=0:;"},
        {"a, \" q,\"\"\" ,true ", "a=S:a b=S: q,\" c=B:true;"},
        {" \"a\" x,1,2", "not in the declared format: bytes after the closing quote, in 'a', at byte 5"});
  CHECK("  format: csv\n  csv: { header: true, trim: true, delimiter: \"\\t\" }\n", {"a\t b \n \t1", "a=0: b=N:1;"});
  CHECK("  format: csv\n  csv: { columns: [a, b, c], delimiter: \";\", decimal_comma: true }\n",
        {"1,5;-0,25;15", "a=N:1.5 b=N:-0.25 c=N:15;"}, {"1,2,3;1,;,5", "a=S:1,2,3 b=S:1, c=S:,5;"},
        {"\"1,5\";1,5e3;7", "a=S:1,5 b=N:1.5e3 c=N:7;"},
        {"1.234;1.234,5;1,234.5", "a=S:1.234 b=S:1.234,5 c=S:1,234.5;"});
}

/* A comment with a quote in it, between lines of which one is bad: the others are read. */
TEST("/field-steps/csv-goes-on-behind-a-bad-line")
{
  g_auto(StepsFixture) fixture = steps_fixture("  format: csv\n  on_bad_reading: reading\n"
                                               "  csv: { columns: [a, b], comment: \"#\", trim: true }\n");
  g_autofree char *outcome = outcome_of(&fixture, TIDE_BYTES_LITERAL("1,2\n3\n#\"\n4, \"5\n6\",7\n8, \"9\""));
  g_assert_cmpstr(outcome, ==, "a=N:1 b=N:2;;;a=N:8 b=S:9;");
}

TEST("/field-steps/influx-prefixes-keep-names-apart")
{
  CHECK("  format: influx\n  influx: { tag_prefix: t_ }\n",
        {"m,time=x,measurement=y,v=z v=1 7", "measurement=S:m t_time=S:x t_measurement=S:y t_v=S:z v=N:1 time=N:7;"},
        {"m,a=x time=1", "the field appears twice: a tag or field may not have the name of the line's own time, unless "
                         "'readings.influx' gives it a prefix, in 'time', at byte 6"});
  CHECK(
      "  format: influx\n  influx: { field_prefix: f. }\n",
      {"m,v=z v=1,time=2,measurement=\"x\" 7", "measurement=S:m v=S:z f.v=N:1 f.time=N:2 f.measurement=S:x time=N:7;"});
  CHECK("  format: influx\n  influx: { tag_prefix: t_ }\n  fields: [{ split: $tags, by: \",\", into: [x, y] }]\n",
        {"m,b=1,a=2 v=1", "measurement=S:m t_b=S:1 t_a=S:2 $tags=S:a=2,b=1 v=N:1 x=S:a=2 y=S:b=1;"});
}

/* The tags of a line name it, those that are left after the steps. */
TEST("/field-steps/what-names-a-line-stays-its-name")
{
  g_auto(StepsFixture) fixture =
      steps_fixture("  format: influx\n  fields: [{ split: host, by: \".\", into: [site, name] }]\n");
  g_assert_true(decoder_fixture_decode(&fixture.decoder, TIDE_BYTES_LITERAL("m,host=a.b,z=1 v=1")));
  g_assert_cmpuint(fixture.decoder.readings[0].n_name_fields, ==, 2);
}

/* ---- mistakes of the configuration ---- */

static void
check_problem(const char *readings, const char *expected)
{
  g_autofree char *yaml = g_strconcat(HEAD, readings, NULL);
  g_autoptr(GPtrArray) problems = NULL;
  g_autoptr(TideConfig) config = load_config(yaml, &problems);
  g_autofree char *all = describe_problems(problems);
  g_assert_null(config);
  g_assert_cmpstr(all, ==, expected);
}

TEST("/field-steps/a-mistake-says-what-may-be")
{
  check_problem("  fields: x\n", "6:11 error: 'readings.fields' must be a list of steps, each with one of open, pivot, "
                                 "split, decimal, resolve, got 'x'\n");
  check_problem("  fields: [{ opn: a }]\n", "6:12 error: 'readings.fields' must be a list of steps, each with one of "
                                            "open, pivot, split, decimal, resolve; did you mean 'open'?\n");
  check_problem("  fields: [{ open: a, split: b }]\n",
                "6:12 error: 'open' and 'split' are two steps: write each as a separate item of 'readings.fields'\n");
  check_problem("  fields: [{ open: $x }]\n",
                "6:12 error: 'readings.fields': '$x' must be a field of the record ($key, $topic, $partition, $offset, "
                "$timestamp or $header.NAME) or $tags, all tags of a line\n");
  check_problem("  fields: [{ pivot: a, name: b }]\n",
                "6:12 error: 'readings.fields': a pivot needs either 'name' and 'value' (members of each item) or "
                "'names' (a field with the list of names)\n");
  check_problem("  fields: [{ pivot: a, name: b, value: c, names: d }]\n",
                "6:12 error: 'readings.fields': a pivot needs either 'name' and 'value' (members of each item) or "
                "'names' (a field with the list of names)\n");
  check_problem("  arrays: index\n  fields: [{ pivot: a, names: b }]\n",
                "7:12 error: 'readings.fields': a pivot needs lists, which only 'arrays: json' keeps\n");
  check_problem("  fields: [{ split: a, into: [b, c] }]\n", "6:12 error: 'readings.fields': a split needs either 'by' "
                                                            "(the delimiter) or 'at' (the positions of the parts)\n");
  check_problem("  fields: [{ split: a, by: x, into: [b] }]\n",
                "6:12 error: 'readings.fields.into' must name at least two parts, not counting _\n");
  check_problem("  fields: [{ split: a, at: [3], into: [b, c, d] }]\n",
                "6:12 error: 'readings.fields.into' must name one part more than 'at' has positions\n");
  check_problem("  fields: [{ split: a, at: [3, 3], into: [b, c, d] }]\n",
                "6:32 error: 'readings.fields.at' contains an item twice, got '3'\n");
  check_problem("  fields: [{ split: a, at: [3, 2], into: [b, c, d] }]\n",
                "6:12 error: 'readings.fields.at' must be ascending whole numbers of at least 1, got '2'\n");
  check_problem("  fields: [{ split: a, by: x, into: [b, $c] }]\n",
                "6:12 error: 'readings.fields.into': the name '$c' is not possible: names with $ belong to the record, "
                "each name may occur once, and _ skips a part\n");
  check_problem("  fields: [{ decimal: a }]\n",
                "6:12 error: 'readings.fields.scale' is missing: add, for example, 'scale: 2'\n");
  check_problem(
      "  fields: [{ decimal: $key, scale: 2 }]\n",
      "6:12 error: 'readings.fields.decimal' must be a field of the message: split or open the record's field first\n");
  check_problem("  fields: [{ decimal: $x, scale: 2 }]\n",
                "6:12 error: 'readings.fields': '$x' must be a field of the record ($key, $topic, $partition, $offset, "
                "$timestamp or $header.NAME) or $tags, all tags of a line\n");
  check_problem("  fields: [{ open: $offset }, { open: $header.a }]\n",
                "6:12 error: 'readings.fields.open' must be a field of the message, $key or $header.NAME: other fields "
                "cannot contain JSON\n");
  check_problem(
      "  fields: [{ pivot: $key, name: n, value: v }]\n",
      "6:12 error: 'readings.fields.pivot' must be a field of the message: split or open the record's field first\n");
  check_problem(
      "  fields: [{ pivot: v, names: $header.n }]\n",
      "6:12 error: 'readings.fields.names' must be a field of the message: split or open the record's field first\n");
  check_problem(
      "  fields: [{ open: a, into: $a }]\n",
      "6:12 error: 'readings.fields.into' must not start with '$', which is reserved for fields of the record\n");
  check_problem("  fields: [{ resolve: senml }, { open: a }, { resolve: senml }]\n",
                "6:45 error: 'readings.fields' resolves the records twice: remove one of the 'resolve' steps\n");
  check_problem("  fields: [{ resolve: xml }]\n",
                "6:23 error: 'readings.fields.resolve' must be one of senml, got 'xml'\n");
}

TEST("/field-steps/options-of-lines-that-cannot-be-meant")
{
  check_problem("  format: csv\n  csv: { columns: [a], decimal_comma: true }\n",
                "7:39 error: 'readings.csv.decimal_comma' needs a delimiter other than a comma: add, for example, "
                "'delimiter: \";\"'\n");
  check_problem(
      "  format: csv\n  csv: { columns: [a], skip_after_header: 1 }\n",
      "7:43 error: 'readings.csv.skip_after_header' needs 'header: true': without a header, use 'skip_lines'\n");
  check_problem(
      "  separator: $.\n",
      "6:14 error: 'readings.separator' must not start with '$', which is reserved for fields of the record\n");
  check_problem("  format: influx\n  influx: { tag_prefix: $, field_prefix: $header. }\n",
                "7:25 error: 'readings.influx.tag_prefix' must not start with '$', which is reserved for fields of the "
                "record\n7:42 error: 'readings.influx.field_prefix' must not start with '$', which is reserved for "
                "fields of the record\n");
  check_problem("  influx: { tag_prefix: a }\n",
                "6:11 error: 'readings.influx' has no effect with 'format: json': remove it\n");
}

TEST("/field-steps/the-configuration-in-force-has-them")
{
  g_auto(StepsFixture) fixture = steps_fixture(
      "  null_values: [\"\", NaN]\n  fields: [{ open: o, into: \"\" }, { split: $key, by: \"/\", into: [_, "
      "_, b] }]\n");
  g_autofree char *yaml = tide_config_print(fixture.config);
  g_assert_nonnull(strstr(yaml, "\n  null_values: [\"\", NaN]\n"
                                "  fields: [{ open: o, into: \"\" }, { split: $key, by: \"/\", into: [_, _, b] }]\n"));
  g_autoptr(TideConfig) again = load_text(yaml);
  g_autofree char *printed_again = tide_config_print(again);
  g_assert_cmpstr(printed_again, ==, yaml);
}
