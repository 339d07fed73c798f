/* Where readings are in a message: each, positions, zip, outer_prefix, on_missing. The messages are JSON; the same in
 * MessagePack must become the same. */
#include "unit/decoder_fixture.h"
#include "unit/test_case.h"

typedef struct LayoutCase {
  const char *message; /* of small numbers and short texts; with escapes it is of JSON only */
  const char *outcome; /* as decoder_fixture_outcome() writes it */
  const char *rejects; /* of single readings; NULL: none is asked for */
  gboolean is_broken;  /* it is no JSON */
} LayoutCase;

/* ---- from JSON to MessagePack ---- */

static void
append_head(GByteArray *out, guint8 kind, gsize n)
{
  guint8 head[] = {(guint8)(kind | n)};
  g_assert_cmpuint(n, <, kind == 0xA0 ? 32 : 16);
  g_byte_array_append(out, head, sizeof head);
}

static const char *
skip_space(const char *at)
{
  return at + strspn(at, " \n");
}

static const char *
append_text(GByteArray *out, const char *at)
{
  gsize len = strcspn(at + 1, "\"");
  append_head(out, 0xA0, len);
  g_byte_array_append(out, (const guint8 *)at + 1, (guint)len);
  return at + len + 2;
}

/* Returns: behind the value. */
static const char *
append_value(GByteArray *out, const char *at)
{
  at = skip_space(at);
  if (*at == '{' || *at == '[') {
    gboolean is_map = *at++ == '{';
    g_autoptr(GByteArray) inside = g_byte_array_new();
    gsize n = 0;
    for (at = skip_space(at); *at != '}' && *at != ']'; n++) {
      if (is_map)
        at = skip_space(append_text(inside, at)) + 1;
      at = skip_space(append_value(inside, at));
      if (*at == ',')
        at = skip_space(at + 1);
    }
    append_head(out, is_map ? 0x80 : 0x90, n);
    g_byte_array_append(out, inside->data, inside->len);
    return at + 1;
  }
  if (*at == '"')
    return append_text(out, at);
  guint8 byte = *at == 'n' ? 0xC0 : *at == 't' ? 0xC3 : (guint8)g_ascii_strtoull(at, (char **)&at, 10);
  g_byte_array_append(out, &byte, 1);
  return byte >= 0xC0 ? at + 4 : at;
}

/* ---- both ---- */

static void
check_format(const LayoutCase *row, TideReadingFormat format, DecoderFixture *fixture, TideBytes message)
{
  fixture->options.format = format;
  g_clear_pointer(&fixture->decoder, tide_decoder_free);
  g_autofree char *outcome = decoder_fixture_outcome(fixture, message);
  if (format == TIDE_FORMAT_JSON) {
    g_assert_cmpstr(outcome, ==, row->outcome);
  } else {
    /* Places are others. */
    g_auto(GStrv) reason = g_strsplit(outcome, "@", 2), expected = g_strsplit(row->outcome, "@", 2);
    g_assert_cmpstr(reason[0], ==, expected[0]);
  }
  if (row->rejects != NULL) {
    g_autofree char *rejects = decoder_fixture_rejects_text(fixture);
    if (format == TIDE_FORMAT_JSON)
      g_assert_cmpstr(rejects, ==, row->rejects);
    g_assert_cmpuint(strcspn(rejects, "@"), ==, strcspn(row->rejects, "@"));
  }
}

static void
check_limited(const DecoderFixture *limits, const LayoutCase *cases, gsize n_cases)
{
  for (gsize i = 0; i < n_cases; i++) {
    g_auto(DecoderFixture) fixture = decoder_fixture_of(TIDE_FORMAT_JSON);
    fixture.options = limits->options;
    g_test_message("%s", cases[i].message);
    check_format(&cases[i], TIDE_FORMAT_JSON, &fixture, tide_bytes_of_string(cases[i].message));
    if (cases[i].is_broken || strchr(cases[i].message, '\\') != NULL)
      continue;
    g_autoptr(GByteArray) packed = g_byte_array_new();
    for (const char *at = cases[i].message; *at != '\0'; at = skip_space(at))
      at = append_value(packed, at);
    check_format(&cases[i], TIDE_FORMAT_MSGPACK, &fixture, tide_bytes(packed->data, packed->len));
  }
}

static void
check(TideLayoutOptions layout, TideOnBadReading on_bad_reading, const LayoutCase *cases, gsize n_cases)
{
  g_auto(DecoderFixture) limits = decoder_fixture_of(TIDE_FORMAT_JSON);
  limits.options.layout = layout;
  limits.options.on_bad_reading = on_bad_reading;
  check_limited(&limits, cases, n_cases);
}

#define EACH(text)                                                                                                     \
  .each = (char[])                                                                                                     \
  {                                                                                                                    \
    text                                                                                                               \
  }
#define POSITIONS(...)                                                                                                 \
  .positions = (char *[])                                                                                              \
  {                                                                                                                    \
    __VA_ARGS__, NULL                                                                                                  \
  }

static char ts[] = "ts", v[] = "v", left_out[] = "_";

/* ---- each ---- */

TEST("/layout/lists-in-lists")
{
  static const LayoutCase cases[] = {
      {"{\"gw\":\"g1\",\"devices\":[{\"id\":\"d1\",\"readings\":[{\"t\":1},{\"t\":2}]},{\"readings\":[{\"t\":3}],"
       "\"id\":\"d2\"}],\"z\":4}",
       "gw=S:g1 z=N:4 devices/id=S:d1 t=N:1;gw=S:g1 z=N:4 devices/id=S:d1 t=N:2;gw=S:g1 z=N:4 devices/id=S:d2 t=N:3;"},
      {"{\"devices\":[]}", ""},
      {"{\"devices\":[{\"id\":1,\"readings\":[]},{\"readings\":[{\"a\":2}]}]}", "a=N:2;"},
      /* a single object where a list may be, on each level; and names that are also those of other levels */
      {"{\"devices\":{\"id\":1,\"readings\":{\"id\":2}}}", "devices/id=N:1 id=N:2;"},
      {"{\"x\":0,\"devices\":[{\"id\":1,\"k\":{\"y\":5},\"readings\":[{\"id\":2,\"k\":{\"y\":6}}]}]}",
       "x=N:0 devices/id=N:1 devices/k/y=N:5 id=N:2 k/y=N:6;"},
      {"[{\"devices\":[{\"readings\":[{\"a\":1}]}]},{\"g\":2,\"devices\":[{\"readings\":[{\"a\":3}]}]}]",
       "a=N:1;g=N:2 a=N:3;"},
      {"{\"g\":1,\"devices\":[{\"readings\":[{\"a\":1}]}]}\n{\"devices\":[{\"readings\":[{\"a\":3}]}]}",
       "g=N:1 a=N:1;a=N:3;"},
      {"{\"devices\":[{\"id\":1}]}", "missing_field@12"},
      {"{\"devices\":[{\"readings\":null}]}", "missing_field@24"},
      {"{\"devices\":[{\"readings\":5}]}", "type@24"},
      {"{\"devices\":[5]}", "type@12"},
      {"{\"devices\":[tru]}", "parse@12", NULL, TRUE},
      {"{\"devices\":[[{\"readings\":[]}]]}", "type@12"},
      {"{\"devices\":[{\"readings\":[{\"a\":1}],\"readings\":[]}]}", "duplicate_field@45"},
      {"{\"devices\":[{\"readings\":[{\"a\":1,\"a\":2}]}]}", "duplicate_field@36"},
      {"{\"devices/id\":0,\"devices\":[{\"id\":1,\"readings\":[{\"a\":1}]}]}", "duplicate_field@33"},
  };
  check((TideLayoutOptions){EACH("devices/readings")}, TIDE_BAD_READING_MESSAGE, cases, G_N_ELEMENTS(cases));
}

TEST("/layout/members-whose-names-are-data")
{
  static const LayoutCase cases[] = {
      {"{\"cluster\":\"a\",\"servers\":{\"s1\":{\"cpu\":3},\"s2\":{\"cpu\":4}}}",
       "cluster=S:a server=S:s1 cpu=N:3;cluster=S:a server=S:s2 cpu=N:4;"},
      {"{\"servers\":{\"s1\":[{\"a\":1},{\"a\":2}],\"s2\":[]},\"b\":true}",
       "b=B:true server=S:s1 a=N:1;b=B:true server=S:s1 a=N:2;"},
      {"{\"servers\":[{\"s1\":{\"a\":1}},{\"s2\":{\"a\":2}}]}", "server=S:s1 a=N:1;server=S:s2 a=N:2;"},
      {"{\"servers\":{\"a\\u0062\":{\"c\":\"\\n\"},\"\\t\":{}}}", "server=S:ab c=S:\\x0A;server=S:\\x09;"},
      {"{\"servers\":{}}", ""},
      {"{\"servers\":{\"s1\":{\"server\":3}}}", "duplicate_field@27"},
      {"{\"server\":1,\"servers\":{\"s1\":{}}}", "duplicate_field@28"},
      {"{\"servers\":{\"s1\":5}}", "type@17"},
      {"{\"servers\":{\"s1\":{\"a\":1},\"s2\":[],\"s1\":[{\"a\":2}]}}", "duplicate_field@38"},
      {"{\"servers\":[{\"s1\":{\"a\":1}},{\"s1\":{\"a\":2}}]}", "server=S:s1 a=N:1;server=S:s1 a=N:2;"},
      {"{\"servers\":{\"s1\":null}}", "type@17"},
      {"{\"servers\":{\"s1\":{\"a\":1},}}", "parse@25", NULL, TRUE},
  };
  static const LayoutCase disks[] = {
      {"{\"s1\":{\"cpu\":1,\"disks\":{\"sda\":{\"free\":2},\"sdb\":{\"free\":3}}},\"s2\":{\"disks\":{\"sdc\":{}}}}",
       "host=S:s1 cpu=N:1 disk=S:sda free=N:2;host=S:s1 cpu=N:1 disk=S:sdb free=N:3;host=S:s2 disk=S:sdc;"},
      {"{\"s1\":{\"disks\":{\"a\":{}}},\"s2\":{\"disks\":{\"a\":{}}},\"s1\":{}}", "duplicate_field@54"},
  };
  check((TideLayoutOptions){EACH("servers/{server}")}, TIDE_BAD_READING_MESSAGE, cases, G_N_ELEMENTS(cases));
  check((TideLayoutOptions){EACH("{host}/disks/{disk}")}, TIDE_BAD_READING_MESSAGE, disks, G_N_ELEMENTS(disks));
}

/* Each value has a time of its own. */
TEST("/layout/a-time-for-each-value")
{
  static const LayoutCase cases[] = {
      {"{\"Timestamp\":9,\"Payload\":{\"temp\":{\"Value\":1,\"At\":2},\"rpm\":{\"Value\":3,\"At\":4}}}",
       "Timestamp=N:9 metric=S:temp Value=N:1 At=N:2;Timestamp=N:9 metric=S:rpm Value=N:3 At=N:4;"},
  };
  check((TideLayoutOptions){EACH("Payload/{metric}")}, TIDE_BAD_READING_MESSAGE, cases, G_N_ELEMENTS(cases));
}

TEST("/layout/a-prefix-for-what-stands-around")
{
  static const LayoutCase cases[] = {
      {"{\"id\":1,\"x\":{\"y\":2},\"a\":{\"id\":3,\"b\":[{\"id\":4,\"x/y\":5}]}}",
       "event/id=N:1 event/x/y=N:2 event/a/id=N:3 id=N:4 x/y=N:5;"},
      {"{\"id\":1,\"a\":{\"b\":[{\"event/id\":4}]}}", "duplicate_field@30"},
  };
  check((TideLayoutOptions){EACH("a/b"), .outer_prefix = (char[]){"event/"}}, TIDE_BAD_READING_MESSAGE, cases,
        G_N_ELEMENTS(cases));
}

TEST("/layout/bad-readings-alone")
{
  static const LayoutCase cases[] = {
      {"{\"d\":1,\"m\":[{\"a\":1},null,5,\"x\",[{\"a\":2}],{\"a\":3}]}", "d=N:1 a=N:1;;;;;d=N:1 a=N:3;",
       "type@20 1;type@25 2;type@27 3;type@31 4;"},
      {"{\"m\":[{\"a\":1},tru]}", "parse@14", NULL, TRUE},
      {"{\"m\":5}", "type@5", NULL},
      {"{\"m\":[null]}", "type@6", NULL},
  };
  static const LayoutCase nested[] = {
      {"{\"d\":[{\"m\":[{\"a\":1},2]},null,{\"m\":[{\"a\":3}]}]}", "a=N:1;;;a=N:3;", "type@20 1;type@24 2;"},
      /* what is wrong around readings is the message's fault */
      {"{\"d\":[{\"m\":[{\"a\":1}]},{\"x\":1,\"x\":2,\"m\":[]}]}", "duplicate_field@33", NULL},
  };
  static const LayoutCase members[] = {
      {"{\"m\":{\"x\":{\"a\":1},\"y\":5,\"z\":{\"n\":1},\"w\":{\"a\":2}}}", "m/y=N:5 n=S:x a=N:1;;m/y=N:5 n=S:w a=N:2;",
       "duplicate_field@33 1;"},
      /* scalars beside objects, in front and behind, are around them; scalars alone are a bad reading */
      {"{\"m\":{\"y\":\"\\u0041\",\"x\":[{\"a\":1},{\"a\":2}],\"z\":true},\"h\":2}",
       "h=N:2 m/y=S:A m/z=B:true n=S:x a=N:1;h=N:2 m/y=S:A m/z=B:true n=S:x a=N:2;", NULL},
      {"[{\"m\":{\"x\":{\"a\":1}}},{\"m\":{\"y\":5,\"z\":6}}]", "n=S:x a=N:1;;", "type@31 1;"},
      {"{\"m\":{\"y\":5,\"y\":{}}}", "duplicate_field@16", NULL},
      {"{\"m\":{\"x\":{\"a\":1},\"\\uD800\":{}}}", "utf8@19", NULL},
      {"{\"m\":{\"x\":{\"a\":1},\"x\":{}}}", "duplicate_field@22", NULL},
  };
  check((TideLayoutOptions){EACH("m")}, TIDE_BAD_READING_ALONE, cases, G_N_ELEMENTS(cases));
  check((TideLayoutOptions){EACH("d/m")}, TIDE_BAD_READING_ALONE, nested, G_N_ELEMENTS(nested));
  check((TideLayoutOptions){EACH("m/{n}")}, TIDE_BAD_READING_ALONE, members, G_N_ELEMENTS(members));
}

/* ---- positions ---- */

TEST("/layout/lists-with-named-positions")
{
  static const LayoutCase listed[] = {
      {"{\"d\":9,\"values\":[[1,5],[2,\"x\"],{\"ts\":3}]}", "d=N:9 ts=N:1 v=N:5;d=N:9 ts=N:2 v=S:x;d=N:9 ts=N:3;"},
      {"{\"values\":[[[1,5],[2,6]],[[3,7]]]}", "ts=N:1 v=N:5;ts=N:2 v=N:6;ts=N:3 v=N:7;"},
      {"{\"values\":[[1,{\"a\":2}]]}", "ts=N:1 v/a=N:2;"},
      {"{\"values\":[]}", ""},
      {"{\"values\":[[1]]}", "type@11"},
      {"{\"values\":[[1,2,3]]}", "type@11"},
      {"{\"values\":[[]]}", "type@11"},
      {"{\"values\":[1]}", "type@11"},
      {"{\"values\":[1,2]}", "type@11"},
  };
  static const LayoutCase alone[] = {
      {"{\"values\":[[1,5],[2],[3,4,5],[],7,null,[8,9]]}", "ts=N:1 v=N:5;;;;;;ts=N:8 v=N:9;",
       "type@17 1;type@21 2;type@29 3;type@32 4;type@34 5;"},
  };
  static const LayoutCase one[] = {
      {"{\"values\":[1,\"x\",[2],null,{\"w\":3}]}", "v=N:1;v=S:x;v=N:2;v=0:;w=N:3;"},
      {"{\"values\":4}", "v=N:4;"},
      {"{\"values\":}", "parse@10", NULL, TRUE},
      {"{\"values\":],\"a\":1}", "parse@10", NULL, TRUE},
      {"{\"values\":,}", "parse@10", NULL, TRUE},
      {"{\"values\":[{\"v\":[3,4]}]}", "v=J:[3,4];"},
  };
  static const LayoutCase skipped[] = {
      {"{\"values\":[1,null,3]}", "v=N:1;;v=N:3;"},
  };
  check((TideLayoutOptions){EACH("values"), POSITIONS(ts, v)}, TIDE_BAD_READING_MESSAGE, listed, G_N_ELEMENTS(listed));
  check((TideLayoutOptions){EACH("values"), POSITIONS(ts, v)}, TIDE_BAD_READING_ALONE, alone, G_N_ELEMENTS(alone));
  check((TideLayoutOptions){EACH("values"), POSITIONS(v)}, TIDE_BAD_READING_MESSAGE, one, G_N_ELEMENTS(one));
  check((TideLayoutOptions){EACH("values"), POSITIONS(v), .on_missing = TIDE_MISSING_SKIP}, TIDE_BAD_READING_MESSAGE,
        skipped, G_N_ELEMENTS(skipped));
}

/* The message, what root leads to, and each member with a name that is data: a list that begins with a scalar. */
TEST("/layout/a-list-that-is-a-reading")
{
  static const LayoutCase message[] = {
      {"[1,{\"x\":\"left out\"},5]", "ts=N:1 v=N:5;"},
      {"[[1,7,5],[2,8,6]]", "ts=N:1 v=N:5;ts=N:2 v=N:6;"},
      {"[1,2,3]\n[4,5,6]", "ts=N:1 v=N:3;ts=N:4 v=N:6;"},
      {"{\"ts\":1}", "ts=N:1;"},
      {"[]", ""},
      {"[null,2,3]", "ts=0: v=N:3;"},
      {"[1,2]", "type@0"},
  };
  static const LayoutCase root[] = {
      {"{\"x\":1,\"p\":[1,5]}", "ts=N:1 v=N:5;"},
      {"{\"p\":[[1,5],[2,6]],\"y\":1}", "ts=N:1 v=N:5;ts=N:2 v=N:6;"},
      {"{\"p\":[]}", ""},
  };
  static const LayoutCase members[] = {
      {"{\"s\":{\"a\":[1,5],\"b\":[[2,6],[3,7]],\"c\":[],\"d\":{\"v\":8}}}",
       "n=S:a ts=N:1 v=N:5;n=S:b ts=N:2 v=N:6;n=S:b ts=N:3 v=N:7;n=S:d v=N:8;"},
  };
  static const LayoutCase values[] = {{"{\"s\":{\"a\":1,\"b\":[2]}}", "n=S:a v=N:1;n=S:b v=N:2;"}};
  check((TideLayoutOptions){EACH("s/{n}"), POSITIONS(v)}, TIDE_BAD_READING_MESSAGE, values, G_N_ELEMENTS(values));
  check((TideLayoutOptions){POSITIONS(ts, left_out, v)}, TIDE_BAD_READING_MESSAGE, message, G_N_ELEMENTS(message));
  check((TideLayoutOptions){.root = (char[]){"p"}, POSITIONS(ts, v)}, TIDE_BAD_READING_MESSAGE, root,
        G_N_ELEMENTS(root));
  check((TideLayoutOptions){EACH("s/{n}"), POSITIONS(ts, v)}, TIDE_BAD_READING_MESSAGE, members, G_N_ELEMENTS(members));
}

/* ---- zip ---- */

TEST("/layout/parallel-lists")
{
  static const LayoutCase cases[] = {
      {"{\"lat\":5,\"hourly\":{\"time\":[1,2],\"unit\":\"C\",\"temp\":[3,null]}}",
       "lat=N:5 unit=S:C time=N:1 temp=N:3;lat=N:5 unit=S:C time=N:2 temp=0:;"},
      {"{\"hourly\":[{\"a\":[1]},{\"a\":[2,3],\"b\":[{\"c\":4},[5]]}]}", "a=N:1;a=N:2 b/c=N:4;a=N:3 b=J:[5];"},
      {"{\"hourly\":{\"m\":{\"x\":1},\"a\":[2]},\"z\":3}", "z=N:3 m/x=N:1 a=N:2;"},
      {"{\"hourly\":{\"a\":[\"\\n\",\"\\u0041\"],\"\\u0062\":[\"\\t\",\"\\\"\"]}}",
       "a=S:\\x0A b=S:\\x09;a=S:A b=S:\";"},
      {"{\"hourly\":{\"a\":[],\"b\":[]}}", ""},
      {"{\"hourly\":{\"a\":[1,2],\"b\":[3]}}", "type@25"},
      {"{\"hourly\":{\"a\":[1],\"b\":[3,4]}}", "type@23"},
      {"{\"hourly\":{\"a\":1}}", "type@10"},
      {"{\"hourly\":{\"a\":[1],\"a\":[2]}}", "duplicate_field@24"},
      {"{\"hourly\":{\"a\":[1,}}", "parse@18", NULL, TRUE},
  };
  static const LayoutCase alone[] = {
      {"{\"h\":{\"a\":[1,2],\"b\":[{\"c\":1,\"c\":2},{\"c\":3}]}}", ";a=N:2 b/c=N:3;", "duplicate_field@32 0;"},
  };
  static const LayoutCase message[] = {
      {"{\"id\":7,\"t\":[1,2],\"v\":[3,4]}", "id=N:7 t=N:1 v=N:3;id=N:7 t=N:2 v=N:4;"},
      {"[{\"t\":[1]},{\"t\":[2]}]", "t=N:1;t=N:2;"},
  };
  check((TideLayoutOptions){EACH("hourly"), .zip = TRUE}, TIDE_BAD_READING_MESSAGE, cases, G_N_ELEMENTS(cases));
  check((TideLayoutOptions){EACH("h"), .zip = TRUE}, TIDE_BAD_READING_ALONE, alone, G_N_ELEMENTS(alone));
  check((TideLayoutOptions){.zip = TRUE}, TIDE_BAD_READING_MESSAGE, message, G_N_ELEMENTS(message));
}

TEST("/layout/parallel-lists-of-two-lengths-are-named")
{
  g_auto(DecoderFixture) fixture = decoder_fixture_of(TIDE_FORMAT_JSON);
  fixture.options.layout = (TideLayoutOptions){EACH("h"), .zip = TRUE};
  g_assert_false(decoder_fixture_decode(&fixture, TIDE_BYTES_LITERAL("{\"h\":{\"t\\n\":[1,2,3],\"v\":[1]}}")));
  g_autofree char *text = tide_reject_describe(&fixture.reject);
  g_assert_nonnull(strstr(text, "a list of 1 values beside 't?' with 3, in 'v', at byte 24"));
}

/* ---- on_missing ---- */

TEST("/layout/what-is-missing-is-skipped")
{
  static const LayoutCase root[] = {
      {"{\"p\":{\"after\":null,\"op\":\"d\"}}\n{\"p\":{\"after\":{\"a\":1}}}\n{\"p\":{}}\n{\"p\":null}\n{}",
       ";a=N:1;;;;"},
      {"[{\"p\":{\"after\":{\"a\":1}}},{\"x\":{\"y\":1},\"p\":null}]", "a=N:1;;"},
      {"{\"p\":{\"after\":null,\"after\":{}}}", "duplicate_field@27"},
      {"{\"p\":5}", "parse@5"},
      {"{\"p\":{\"after\":null,}}", "parse@19", NULL, TRUE},
  };
  static const LayoutCase each[] = {
      {"{\"d\":[{\"id\":1},{\"id\":2,\"m\":[{\"a\":3}]},{\"m\":null},null]}", ";d/id=N:2 a=N:3;;;"},
      {"{\"d\":[{\"m\":[null,{\"a\":3}]}]}\n{\"e\":1}", ";a=N:3;;"},
      {"{\"d\":[5]}", "type@6"},
  };
  check((TideLayoutOptions){.root = (char[]){"p/after"}, .on_missing = TIDE_MISSING_SKIP}, TIDE_BAD_READING_MESSAGE,
        root, G_N_ELEMENTS(root));
  check((TideLayoutOptions){EACH("d/m"), .on_missing = TIDE_MISSING_SKIP}, TIDE_BAD_READING_MESSAGE, each,
        G_N_ELEMENTS(each));
}

TEST("/layout/what-is-missing-makes-a-reading")
{
  static const LayoutCase each[] = {
      {"{\"h\":1,\"m\":[{\"v\":2},{\"v\":3}]}\n{\"h\":4,\"v\":5}\n{\"h\":6,\"m\":{\"v\":7}}\n{\"h\":8,\"m\":null}",
       "h=N:1 v=N:2;h=N:1 v=N:3;h=N:4 v=N:5;h=N:6 v=N:7;h=N:8 m=0:;"},
      {"{\"h\":\"\\n\",\"\\u0061\":\"b\\t\"}", "h=S:\\x0A a=S:b\\x09;"},
      {"{\"h\":1,\"h\":2}", "duplicate_field@11"},
  };
  static const LayoutCase nested[] = {
      {"{\"g\":1,\"d\":[{\"id\":2},{\"id\":3,\"m\":[{\"a\":4}]}]}", "g=N:1 id=N:2;g=N:1 d/id=N:3 a=N:4;"},
  };
  static const LayoutCase root[] = {
      {"{\"p\":{\"q\":{\"a\":1}}}\n{\"p\":{\"r\":\"\\n\"}}\n{\"\\u0062\":\"\\t\"}", "a=N:1;r=S:\\x0A;b=S:\\x09;"},
  };
  check((TideLayoutOptions){EACH("m"), .on_missing = TIDE_MISSING_READING}, TIDE_BAD_READING_MESSAGE, each,
        G_N_ELEMENTS(each));
  check((TideLayoutOptions){EACH("d/m"), .on_missing = TIDE_MISSING_READING}, TIDE_BAD_READING_MESSAGE, nested,
        G_N_ELEMENTS(nested));
  check((TideLayoutOptions){.root = (char[]){"p/q"}, .on_missing = TIDE_MISSING_READING}, TIDE_BAD_READING_MESSAGE,
        root, G_N_ELEMENTS(root));
}

/* No table takes what stands for nothing, nor does the record add fields to it. */
TEST("/layout/what-is-skipped-is-marked")
{
  g_auto(DecoderFixture) fixture = decoder_fixture_of(TIDE_FORMAT_JSON);
  fixture.options.layout = (TideLayoutOptions){EACH("m"), .on_missing = TIDE_MISSING_SKIP};
  TideNameId topic = decoder_fixture_use(&fixture, "$topic"), d = decoder_fixture_use(&fixture, "d");
  g_assert_true(decoder_fixture_decode(&fixture, TIDE_BYTES_LITERAL("{\"d\":1,\"m\":[null,{\"a\":1}]}{\"d\":2}")));
  g_autofree char *text = decoder_fixture_readings_text(&fixture);
  g_assert_cmpstr(text, ==, ";d=N:1 a=N:1 $topic=S:metrics;;");
  for (guint32 i = 0; i < 3; i++) {
    g_assert_cmpint(fixture.readings[i].is_skipped, ==, i != 1);
    g_assert_cmpint(tide_reading_field(&fixture.readings[i], topic) != NULL, ==, i == 1);
    g_assert_cmpint(tide_reading_field(&fixture.readings[i], d) != NULL, ==, i == 1);
  }
}

/* ---- limits ---- */

TEST("/layout/limits")
{
  static const LayoutCase nested[] = {
      {"{\"a\":1,\"d\":[{\"m\":[{\"b\":2},{\"b\":3}]}]}", "a=N:1 b=N:2;a=N:1 b=N:3;"},
      {"{\"a\":1,\"d\":[{\"b\":2,\"m\":[{\"c\":3}]}]}", "a=N:1 d/b=N:2 c=N:3;"},
      {"{\"a\":1,\"d\":[{\"b\":2,\"m\":[{\"c\":3,\"e\":4}]}]}", "too_many_fields@35"},
      {"{\"d\":[{\"b\":2,\"m\":[]},{\"m\":[{\"c\":1,\"e\":2,\"f\":3}]}]}", "c=N:1 e=N:2 f=N:3;"},
      {"{\"d\":[{\"m\":[{},{}]},{\"m\":[{}]}]}", "too_large@20"},
      {"{\"d\":[{\"m\":[{\"a\":{}}]}]}", ";"},
      {"{\"d\":[{\"m\":[{\"a\":{\"b\":{}}}]}]}", "depth@22"},
  };
  static const LayoutCase skipped[] = {
      {"{\"m\":[null,null]}", ";;"},
      {"{\"m\":[null,null,null]}", "too_large@16"},
  };
  static const LayoutCase zipped[] = {
      {"{\"m\":{\"a\":[1,2],\"b\":[1,2],\"c\":[1,2]}}", "a=N:1 b=N:1 c=N:1;a=N:2 b=N:2 c=N:2;"},
      {"{\"m\":{\"a\":[1],\"b\":[1],\"c\":[1],\"e\":[1]}}", "too_many_fields@34"},
      {"{\"m\":{\"a\":[1,2,3]}}", "too_large@5"},
  };
  g_auto(DecoderFixture) limits = decoder_fixture_of(TIDE_FORMAT_JSON);
  limits.options.max_fields = 3;
  limits.options.max_readings = 2;
  limits.options.max_depth = 6;
  limits.options.layout = (TideLayoutOptions){EACH("d/m")};
  check_limited(&limits, nested, G_N_ELEMENTS(nested));
  limits.options.layout = (TideLayoutOptions){EACH("m"), .on_missing = TIDE_MISSING_SKIP};
  check_limited(&limits, skipped, G_N_ELEMENTS(skipped));
  limits.options.layout = (TideLayoutOptions){EACH("m"), .zip = TRUE};
  check_limited(&limits, zipped, G_N_ELEMENTS(zipped));
}

/* What stands around on several levels does not fill the memory with many small readings either. */
TEST("/layout/what-is-repeated-is-bounded-on-all-levels")
{
  g_autoptr(GString) message = g_string_new("{\"a\":1,\"b\":2,\"d\":[");
  for (guint i = 0; i < 64; i++)
    g_string_append(message, i > 0 ? ",{\"c\":3,\"m\":[{},{},{}]}" : "{\"c\":3,\"m\":[{},{},{}]}");
  g_string_append(message, "]}");
  g_auto(DecoderFixture) fixture = decoder_fixture_of(TIDE_FORMAT_JSON);
  fixture.options.layout = (TideLayoutOptions){EACH("d/m")};
  /* Two fields in front of what is around each of 64 lists, three in front of each of its readings: 704. */
  fixture.options.max_message_bytes = 704 * 4;
  g_assert_true(decoder_fixture_decode(&fixture, tide_bytes(message->str, message->len)));
  g_assert_cmpuint(fixture.n_readings, ==, 192);
  g_clear_pointer(&fixture.decoder, tide_decoder_free);
  fixture.options.max_message_bytes = 703 * 4;
  g_assert_false(decoder_fixture_decode(&fixture, tide_bytes(message->str, message->len)));
  g_assert_cmpint(fixture.reject.reason, ==, TIDE_REJECT_TOO_LARGE);
}
