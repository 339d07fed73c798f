/* Values of cells: encoded, packed, in another unit; and the names of dated tables. */
#include "model/table/cell_value.h"
#include "model/table/dated_table.h"
#include "model/table/unit_change.h"
#include "unit/load_text.h"
#include "unit/reading_fixture.h"
#include "unit/test_case.h"

/* ---- cell value ---- */

/* The value in hex; NULL when it is refused. */
static char *
encoded(TideEncoding encoding, TideValueKind kind, const char *text, const char **ret_detail)
{
  g_auto(TideBuffer) out = {0};
  TideField field = {.kind = kind, .text = tide_bytes_of_string(text)};
  tide_buffer_append_byte(&out, 0x77);
  if (!tide_cell_value_append(encoding, &field, &out, ret_detail)) {
    g_assert_cmpuint(out.len, ==, 1);
    return NULL;
  }
  return tide_bytes_hex(tide_bytes(out.data + 1, out.len - 1));
}

/* Expected bytes are those of Java's Bytes.toBytes(). */
TEST("/cell-value/numbers-are-big-endian")
{
  static const struct {
    TideEncoding encoding;
    const char *text, *hex;
  } cases[] = {
      {TIDE_ENCODE_INT64, "0", "0000000000000000"},
      {TIDE_ENCODE_INT64, "-0", "0000000000000000"},
      {TIDE_ENCODE_INT64, "1426535612045", "0000014c2425fe8d"},
      {TIDE_ENCODE_INT64, "-1", "ffffffffffffffff"},
      {TIDE_ENCODE_INT64, "007", "0000000000000007"},
      {TIDE_ENCODE_INT64, "9223372036854775807", "7fffffffffffffff"},
      {TIDE_ENCODE_INT64, "-9223372036854775808", "8000000000000000"},
      {TIDE_ENCODE_FLOAT64, "0", "0000000000000000"},
      {TIDE_ENCODE_FLOAT64, "-0.0", "8000000000000000"},
      {TIDE_ENCODE_FLOAT64, "60.4", "404e333333333333"},
      {TIDE_ENCODE_FLOAT64, "-1e3", "c08f400000000000"},
      {TIDE_ENCODE_FLOAT64, "1E-2", "3f847ae147ae147b"},
      {TIDE_ENCODE_FLOAT64, "1.7976931348623157e308", "7fefffffffffffff"},
      {TIDE_ENCODE_FLOAT64, "9007199254740992", "4340000000000000"},
      {TIDE_ENCODE_FLOAT64_ROUNDED, "9007199254740993", "4340000000000000"},
      {TIDE_ENCODE_FLOAT64_ROUNDED, "1e-400", "0000000000000000"},
      {TIDE_ENCODE_FLOAT64_ROUNDED, "60.4", "404e333333333333"},
      {TIDE_ENCODE_INT64, "5.0", "0000000000000005"},
      {TIDE_ENCODE_INT64, "-5.00", "fffffffffffffffb"},
      {TIDE_ENCODE_INT64, "1e3", "00000000000003e8"},
      {TIDE_ENCODE_INT64, "1.5E1", "000000000000000f"},
      {TIDE_ENCODE_INT64, "0.0", "0000000000000000"},
      {TIDE_ENCODE_INT64, "-0e99", "0000000000000000"},
      {TIDE_ENCODE_INT64, "9223372036854775807.0", "7fffffffffffffff"},
      {TIDE_ENCODE_INT64, "-9.223372036854775808e18", "8000000000000000"},
      /* what programs print of doubles: 17 digits, as few as tell it from others, all of them, and the least */
      {TIDE_ENCODE_FLOAT64, "60.399999999999999", "404e333333333333"},
      {TIDE_ENCODE_FLOAT64, "60.40", "404e333333333333"},
      {TIDE_ENCODE_FLOAT64, "0.10000000000000000555", "3fb999999999999a"},
      {TIDE_ENCODE_FLOAT64, "0.1000000000000000055511151231257827021181583404541015625", "3fb999999999999a"},
      {TIDE_ENCODE_FLOAT64, "5.684341886080802e-14", "3d30000000000000"},
      {TIDE_ENCODE_FLOAT64, "5.6843418860808015e-14", "3d30000000000000"},
      {TIDE_ENCODE_FLOAT64, "4.9E-324", "0000000000000001"},
      {TIDE_ENCODE_FLOAT64, "0e-999", "0000000000000000"},
      {TIDE_ENCODE_FLOAT64, "1000000000000000000000000", "44ea784379d99db4"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    const char *detail = NULL;
    g_autofree char *number = encoded(cases[i].encoding, TIDE_VALUE_NUMBER, cases[i].text, &detail);
    g_autofree char *quoted = encoded(cases[i].encoding, TIDE_VALUE_STRING, cases[i].text, &detail);
    g_assert_cmpstr(number, ==, cases[i].hex);
    g_assert_cmpstr(quoted, ==, cases[i].hex);
  }
}

TEST("/cell-value/what-is-no-number-is-refused")
{
  static const char *const no_integers[] = {"",
                                            "-",
                                            "600.550",
                                            "5.5",
                                            "1e-1",
                                            "1e19",
                                            "1e99999999999999",
                                            "9223372036854775808.0",
                                            "5.0x",
                                            "+5.0",
                                            ".0",
                                            "+5",
                                            "9223372036854775808",
                                            "-9223372036854775809",
                                            " 5",
                                            "0x10",
                                            "true",
                                            "99999999999999999999999"};
  static const char *const no_floats[] = {"",     "-",     ".5",  "+1", "1e999", "-1e999", "nan", "inf",
                                          "-inf", "0x1p3", "1,5", "1 ", "1.2.3", "1e",     "true"};
  const char *detail = NULL;
  for (gsize i = 0; i < G_N_ELEMENTS(no_integers); i++) {
    g_test_message("'%s'", no_integers[i]);
    g_assert_null(encoded(TIDE_ENCODE_INT64, TIDE_VALUE_STRING, no_integers[i], &detail));
    g_assert_cmpstr(detail, ==, "not a 64-bit integer");
  }
  for (gsize i = 0; i < G_N_ELEMENTS(no_floats); i++) {
    g_test_message("'%s'", no_floats[i]);
    g_assert_null(encoded(TIDE_ENCODE_FLOAT64, TIDE_VALUE_STRING, no_floats[i], &detail));
    g_assert_cmpstr(detail, ==, "not a finite number");
  }
  static const char *const rounded[] = {"9007199254740993", "-9007199254740993.0",   "1e-400",
                                        "3e-324",           "0.1000000000000000057", "123456789012345678"};
  for (gsize i = 0; i < G_N_ELEMENTS(rounded); i++) {
    g_assert_null(encoded(TIDE_ENCODE_FLOAT64, TIDE_VALUE_NUMBER, rounded[i], &detail));
    g_assert_nonnull(strstr(detail, "float64_rounded"));
    g_autofree char *nearest = encoded(TIDE_ENCODE_FLOAT64_ROUNDED, TIDE_VALUE_NUMBER, rounded[i], &detail);
    g_assert_nonnull(nearest);
  }
  g_autofree char *long_number = g_strnfill(401, '1');
  g_assert_null(encoded(TIDE_ENCODE_FLOAT64, TIDE_VALUE_STRING, long_number, &detail));
}

TEST("/cell-value/json-keeps-kinds")
{
  static const struct {
    TideEncoding encoding;
    TideValueKind kind;
    const char *text, *value;
  } cases[] = {
      {TIDE_ENCODE_JSON, TIDE_VALUE_STRING, "say \"hi\"\n", "\"say \\\"hi\\\"\\n\""},
      {TIDE_ENCODE_JSON, TIDE_VALUE_STRING, "", "\"\""},
      {TIDE_ENCODE_JSON, TIDE_VALUE_NUMBER, "600.550", "600.550"},
      {TIDE_ENCODE_JSON, TIDE_VALUE_BOOL, "true", "true"},
      {TIDE_ENCODE_JSON, TIDE_VALUE_JSON, "[1, {\"a\":2}]", "[1, {\"a\":2}]"},
      {TIDE_ENCODE_TEXT, TIDE_VALUE_STRING, "say \"hi\"\n", "say \"hi\"\n"},
      {TIDE_ENCODE_TEXT, TIDE_VALUE_JSON, "[1, 2]", "[1, 2]"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    const char *detail = NULL;
    g_autofree char *hex = encoded(cases[i].encoding, cases[i].kind, cases[i].text, &detail);
    g_autofree char *expected = tide_bytes_hex(tide_bytes_of_string(cases[i].value));
    g_assert_cmpstr(hex, ==, expected);
  }
}

/* ---- packed cell ---- */

typedef struct Member {
  const char *name;
  TideValueKind kind;
  const char *text;
} Member;

static void
pack(TidePacking packing, const Member *members, gsize n_members, TideBuffer *out)
{
  TidePacker packer;
  tide_packer_begin(&packer, packing, out);
  for (gsize i = 0; i < n_members; i++)
    tide_packer_add(&packer, tide_bytes_of_string(members[i].name), members[i].kind,
                    tide_bytes_of_string(members[i].text));
  g_assert_true(tide_packer_end(&packer));
}

static const Member members[] = {
    {"host", TIDE_VALUE_STRING, "db \"1\"\n"},
    {"n", TIDE_VALUE_NUMBER, "600.550"},
    {"up", TIDE_VALUE_BOOL, "true"},
    {"b", TIDE_VALUE_BOOL, "0"},
    {"x", TIDE_VALUE_NULL, ""},
    {"l", TIDE_VALUE_JSON, "[1, {}]"},
};

TEST("/packed-cell/json")
{
  g_auto(TideBuffer) out = {0};
  tide_buffer_append(&out, "#", 1);
  pack(TIDE_PACK_JSON, members, G_N_ELEMENTS(members), &out);
  assert_same_bytes(tide_buffer_bytes(&out),
                    TIDE_BYTES_LITERAL("#{\"host\":\"db \\\"1\\\"\\n\",\"n\":600.550,\"up\":true,\"b\":0,\"x\":null,"
                                       "\"l\":[1, {}]}"));
}

TEST("/packed-cell/msgpack")
{
  g_auto(TideBuffer) out = {0};
  tide_buffer_append(&out, "#", 1);
  pack(TIDE_PACK_MSGPACK, members, G_N_ELEMENTS(members), &out);
  assert_same_bytes(tide_buffer_bytes(&out), TIDE_BYTES_LITERAL("#\xDF\0\0\0\x06"
                                                                "\xA4host\xA7"
                                                                "db \"1\"\n"
                                                                "\xA1n\xA7"
                                                                "600.550"
                                                                "\xA2up\xC3"
                                                                "\xA1"
                                                                "b\0"
                                                                "\xA1x\xC0"
                                                                "\xA1l\xA7[1, {}]"));
}

/* A number is one in MessagePack only where it is printed from there as it was written. */
TEST("/packed-cell/msgpack-numbers")
{
  static const struct {
    const char *text;
    TideBytes packed; /* empty: as text */
  } cases[] = {
      {"0", TIDE_BYTES_LITERAL("\0")},
      {"127", TIDE_BYTES_LITERAL("\x7F")},
      {"128", TIDE_BYTES_LITERAL("\xCC\x80")},
      {"-1", TIDE_BYTES_LITERAL("\xFF")},
      {"-129", TIDE_BYTES_LITERAL("\xD1\xFF\x7F")},
      {"18446744073709551615", TIDE_BYTES_LITERAL("\xCF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF")},
      {"18446744073709551616", TIDE_BYTES_EMPTY},
      {"-9223372036854775808", TIDE_BYTES_LITERAL("\xD3\x80\0\0\0\0\0\0\0")},
      {"-9223372036854775809", TIDE_BYTES_EMPTY},
      {"0.5", TIDE_BYTES_LITERAL("\xCB\x3F\xE0\0\0\0\0\0\0")},
      {"-1.5", TIDE_BYTES_LITERAL("\xCB\xBF\xF8\0\0\0\0\0\0")},
      {"1e+22", TIDE_BYTES_LITERAL("\xCB\x44\x80\xF0\xCF\x06\x4D\xD5\x92")},
      {"0.30000000000000004", TIDE_BYTES_LITERAL("\xCB\x3F\xD3\x33\x33\x33\x33\x33\x34")},
      {"-0", TIDE_BYTES_LITERAL("\xCB\x80\0\0\0\0\0\0\0")},
      {"0.0001", TIDE_BYTES_LITERAL("\xCB\x3F\x1A\x36\xE2\xEB\x1C\x43\x2D")},
      {"0.00001", TIDE_BYTES_EMPTY}, /* would be printed 1e-05 */
      {"600.550", TIDE_BYTES_EMPTY},
      {"1.0", TIDE_BYTES_EMPTY},
      {"-0.0", TIDE_BYTES_EMPTY},
      {"1e3", TIDE_BYTES_EMPTY},
      {"1E+22", TIDE_BYTES_EMPTY},
      {"1e999", TIDE_BYTES_EMPTY},
      {"0.1234567890123456789", TIDE_BYTES_EMPTY},
      {"1234567890123456789012345678901234567890", TIDE_BYTES_EMPTY},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_auto(TideBuffer) out = {0}, expected = {0};
    gsize len = strlen(cases[i].text);
    g_test_message("%s", cases[i].text);
    tide_buffer_append(&expected, "\xDF\0\0\0\x01\xA1n", 7);
    tide_buffer_append_bytes(&expected, cases[i].packed);
    if (cases[i].packed.len == 0) {
      if (len > 31)
        tide_buffer_append_byte(&expected, 0xD9);
      tide_buffer_append_byte(&expected, (guint8)(len > 31 ? len : 0xA0 | len));
      tide_buffer_append(&expected, cases[i].text, len);
    }
    pack(TIDE_PACK_MSGPACK, &(Member){"n", TIDE_VALUE_NUMBER, cases[i].text}, 1, &out);
    assert_same_bytes(tide_buffer_bytes(&out), tide_buffer_bytes(&expected));
  }
}

TEST("/packed-cell/bytes-that-are-no-text")
{
  g_auto(TideBuffer) json = {0}, msgpack = {0};
  TideBytes bytes = TIDE_BYTES_LITERAL("\xFFkey");
  TidePacker packer;
  tide_packer_begin(&packer, TIDE_PACK_JSON, &json);
  tide_packer_add(&packer, TIDE_BYTES_LITERAL("k"), TIDE_VALUE_STRING, bytes);
  g_assert_true(tide_packer_end(&packer));
  assert_same_bytes(tide_buffer_bytes(&json), TIDE_BYTES_LITERAL("{\"k\":\"\xEF\xBF\xBDkey\"}"));
  tide_packer_begin(&packer, TIDE_PACK_MSGPACK, &msgpack);
  tide_packer_add(&packer, TIDE_BYTES_LITERAL("k"), TIDE_VALUE_STRING, bytes);
  g_assert_true(tide_packer_end(&packer));
  assert_same_bytes(tide_buffer_bytes(&msgpack), TIDE_BYTES_LITERAL("\xDF\0\0\0\x01\xA1k\xC4\x04\xFFkey"));
}

TEST("/packed-cell/nothing-added")
{
  for (int packing = TIDE_PACK_JSON; packing <= TIDE_PACK_MSGPACK; packing++) {
    g_auto(TideBuffer) out = {0};
    TidePacker packer;
    tide_buffer_append(&out, "row", 3);
    tide_packer_begin(&packer, (TidePacking)packing, &out);
    g_assert_false(tide_packer_end(&packer));
    assert_same_bytes(tide_buffer_bytes(&out), TIDE_BYTES_LITERAL("row"));
  }
}

/* ---- unit change ---- */

/* What @text is in the other unit; NULL when it is refused. */
static char *
changed(const char *scale, const char *offset, const char *text, const char **ret_detail)
{
  TideUnitChange change;
  g_auto(TideBuffer) out = {0};
  g_assert_true(tide_unit_change_read(scale, &change.scale));
  g_assert_true(tide_unit_change_read(offset, &change.offset));
  tide_buffer_append_byte(&out, 'x');
  gboolean is_taken = tide_unit_change_apply(&change, tide_bytes_of_string(text), &out, ret_detail);
  g_assert_cmpuint(out.data[0], ==, 'x');
  if (!is_taken)
    g_assert_cmpuint(out.len, ==, 1);
  return is_taken ? g_strndup((const char *)out.data + 1, out.len - 1) : NULL;
}

#define NINES_32 "99999999999999999999999999999999"
#define NINES_64 NINES_32 NINES_32
#define ZEROS_32 "00000000000000000000000000000000"

TEST("/unit-change/every-digit-is-right")
{
  static const struct {
    const char *scale, *offset, *text, *expected;
  } cases[] = {
      {"0.1", "0", "3", "0.3"}, /* in binary 0.30000000000000004 */
      {"1", "0.2", "0.1", "0.3"},
      {"0.001", "0", "230512", "230.512"},
      {"0.01", "-40", "6315", "23.15"},
      {"1", "-273.15", "273.15", "0"},
      {"1.8", "32", "-40", "-40"},
      {"-1", "0", "0", "0"},
      {"-1", "0", "-0.0", "0"},
      {"1", "0", "1e3", "1000"},
      {"1", "0", "1.500E-3", "0.0015"},
      {"1000", "0", "0.0010", "1"},
      {"1", "-1", "0.5", "-0.5"},
      {"1", "-100", "0.001", "-99.999"},
      {"1", "100", "-0.001", "99.999"},
      {"1", "1", "-1000", "-999"},
      {"1", "0", "007", "7"},
      {"1", "0", "+.5", "0.5"},
      {"1", "0", "5.", "5"},
      {"1", "0", "0e999999999999999999999", "0"},
      {"1", "0", NINES_64, NINES_64},
      {"1e-32", "0", NINES_64, NULL}, /* the point makes it 65 */
      {"1", "0", "1e63", "1" ZEROS_32 "0000000000000000000000000000000"},
      {"1", "0", "1e-62",
       "0." ZEROS_32 "00000000000000000000000000000"
       "1"},
      {NINES_32, "0", NINES_32, "9999999999999999999999999999999800000000000000000000000000000001"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    const char *detail = NULL;
    g_test_message("%s * %s + %s", cases[i].text, cases[i].scale, cases[i].offset);
    g_autofree char *text = changed(cases[i].scale, cases[i].offset, cases[i].text, &detail);
    g_assert_cmpstr(text, ==, cases[i].expected);
  }
}

TEST("/unit-change/no-number")
{
  static const char *const texts[] = {"",    "-",   ".",  "x",  "1x",    "0x10", "1e",  "1e+",  "e5",   "NaN",
                                      "inf", "1,5", " 1", "1 ", "1.2.3", "--1",  "1_0", "true", "1e5.", NINES_64 "9"};
  for (gsize i = 0; i < G_N_ELEMENTS(texts); i++) {
    const char *detail = NULL;
    g_test_message("%s", texts[i]);
    g_assert_null(changed("1", "1", texts[i], &detail));
    g_assert_cmpstr(detail, ==, "not a decimal number, which 'scale' and 'offset' need");
  }
}

TEST("/unit-change/does-not-fit")
{
  static const char *const texts[] = {"1e64", "-1e63", "1e-63", "1e400", "1e-400", "1e99999999999", "1e-99999999999"};
  for (gsize i = 0; i < G_N_ELEMENTS(texts); i++) {
    const char *detail = NULL;
    g_test_message("%s", texts[i]);
    g_assert_null(changed("1", "0", texts[i], &detail));
    g_assert_cmpstr(detail, ==, "with 'scale' and 'offset' it has more than 64 characters");
  }
}

TEST("/unit-change/bounded")
{
  TideDecimal decimal;
  g_assert_true(tide_unit_change_read(NINES_32, &decimal));
  g_assert_true(tide_unit_change_read("1e31", &decimal));
  g_assert_true(tide_unit_change_read("-1e-32", &decimal));
  g_assert_false(tide_unit_change_read("1e32", &decimal));
  g_assert_false(tide_unit_change_read("1e-33", &decimal));
  g_assert_false(tide_unit_change_read(NINES_32 "9", &decimal));
  g_assert_false(tide_unit_change_read("0." NINES_32 "9", &decimal));
  g_assert_false(tide_unit_change_read("a tenth", &decimal));
  g_assert_true(tide_unit_change_read("0.000", &decimal));
  g_assert_cmpuint(decimal.n_digits, ==, 0);
}

/* ---- dated table ---- */

/* A template called @name; what makes its names is not asked by these functions. */
static TideTable *
template_new(const char *name)
{
  static const TideKeyPartSpec host = {.kind = TIDE_KEY_FIELD, .value.field = 0};
  gsize bad_part;
  g_autoptr(GError) error = NULL;
  TideTable *table = g_new0(TideTable, 1);
  table->index = 3;
  table->name = g_strdup(name);
  table->dated_name = tide_row_key_compile(&host, 1, &bad_part, &error);
  g_assert_no_error(error);
  return table;
}

static void
assert_matches(const char *pattern, const char *name, gboolean expected)
{
  TideTable *table = template_new(pattern);
  g_test_message("'%s' and '%s'", pattern, name);
  g_assert_true(tide_dated_table_matches(table, name) == expected);
  tide_table_free(table);
}

TEST("/dated-table/names-have-the-form-of-the-pattern")
{
  assert_matches("SENSOR_{yyyyMMdd}", "SENSOR_20170726", TRUE);
  assert_matches("SENSOR_{yyyyMMdd}", "SENSOR_2017072", FALSE);
  assert_matches("SENSOR_{yyyyMMdd}", "SENSOR_201707261", FALSE);
  assert_matches("SENSOR_{yyyyMMdd}", "SENSOR_2017072x", FALSE);
  assert_matches("SENSOR_{yyyyMMdd}", "SENSOR_", FALSE);
  assert_matches("SENSOR_{yyyyMMdd}", "", FALSE);
  assert_matches("SENSOR_{yyyyMMdd}", "OTHER_20170726", FALSE);
  assert_matches("SENSOR_{yyyyMMdd}", "SENSOR_{yyyyMMdd}", FALSE);
  assert_matches("ns:S_{yyyy-MM}_raw", "ns:S_2017-07_raw", TRUE);
  assert_matches("ns:S_{yyyy-MM}_raw", "ns:S_2017-07_rax", FALSE);
  assert_matches("ns:S_{yyyy-MM}_raw", "ns:S_2017x07_raw", FALSE);
  assert_matches("S_{yyyy'W'MM}", "S_2017W07", TRUE);
  assert_matches("S_{yyyy'W'MM}", "S_2017007", FALSE);
}

TEST("/dated-table/table-without-pattern-matches-nothing")
{
  TideTable table = {.name = (char *)"SENSOR_20170726"};
  g_assert_false(tide_dated_table_matches(&table, "SENSOR_20170726"));
}

TEST("/dated-table/instance-is-the-template-under-another-name")
{
  TideTable *table = template_new("SENSOR_{yyyyMMdd}");
  table->lane_prefix_bytes = 7;
  TideTable *instance = tide_dated_table_new(table, TIDE_BYTES_LITERAL("SENSOR_20170726"), 12);
  g_assert_cmpstr(instance->name, ==, "SENSOR_20170726");
  g_assert_cmpuint(instance->index, ==, 12);
  g_assert_cmpuint(instance->lane_prefix_bytes, ==, 7);
  g_assert_true(instance->declared == table);
  g_assert_false(tide_table_is_template(instance));
  g_assert_true(tide_table_is_template(table));
  tide_dated_table_free(instance);
  tide_table_free(table);
}

/* A configuration of one plain table, and of one template put beside it. */
static TideConfig *
config_with_template(const char *name)
{
  static const char text[] = "kafka: { brokers: [\"127.0.0.1:1\"], group: g, topics: [t] }\n"
                             "hbase: { gateways: [\"127.0.0.1:9090\"] }\n"
                             "readings: { format: json, time: { field: ts, format: epoch_ms } }\n"
                             "tables:\n"
                             "  SENSOR_19990101: { key: [ { field: host }, \"#\", { time: epoch_ms } ], columns: { "
                             "family: M, from: \"*\" } }\n";
  TideConfig *config = load_text(text);
  g_ptr_array_add(config->tables, template_new(name));
  return config;
}

TEST("/dated-table/configuration-finds-tables-by-the-names-they-have-in-hbase")
{
  g_autoptr(TideConfig) config = config_with_template("SENSOR_{yyyyMMdd}");
  const TideTable *declared = g_ptr_array_index(config->tables, 1);
  g_assert_true(tide_config_find_table(config, "SENSOR_20170726") == declared);
  g_assert_true(tide_config_find_table(config, "default:SENSOR_20170726") == declared);
  g_assert_true(tide_config_find_table(config, "SENSOR_{yyyyMMdd}") == declared);
  g_assert_null(tide_config_find_table(config, "SENSOR_2017"));
  /* One that is declared by its own name is that one. */
  g_assert_true(tide_config_find_table(config, "SENSOR_19990101") == g_ptr_array_index(config->tables, 0));
  g_assert_true(tide_table_of_name(config, "SENSOR_19990101") == g_ptr_array_index(config->tables, 0));

  const TideTable *instance = tide_table_of_name(config, "SENSOR_20170726");
  g_assert_cmpstr(instance->name, ==, "SENSOR_20170726");
  g_assert_true(instance->declared == declared);
  g_assert_cmpuint(instance->index, ==, declared->index);
  g_assert_true(tide_table_of_name(config, "default:SENSOR_20170726") == instance);
  g_assert_true(tide_table_of_name(config, "SENSOR_{yyyyMMdd}") == declared);
  g_assert_null(tide_table_of_name(config, "SENSOR_2017"));

  /* The copy of a day of a data table that has no date in its name. */
  const TideTable *copied = tide_table_of_name(config, "SENSOR_19990101_20170726");
  g_assert_cmpstr(copied->name, ==, "SENSOR_19990101_20170726");
  g_assert_true(copied->key == ((const TideTable *)g_ptr_array_index(config->tables, 0))->key);
  g_assert_null(tide_table_of_name(config, "SENSOR_19990101_2017072"));
  g_assert_null(tide_table_of_name(config, "SENSOR_19990101_2017072x"));
}

TEST("/dated-table/default-namespace-of-the-declaration-may-be-left-out")
{
  g_autoptr(TideConfig) config = config_with_template("default:SENSOR_{yyyyMMdd}");
  g_assert_nonnull(tide_config_find_table(config, "SENSOR_20170726"));
  g_assert_cmpstr(tide_table_of_name(config, "default:SENSOR_20170726")->name, ==, "SENSOR_20170726");
}
