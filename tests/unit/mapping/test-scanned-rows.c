/* What `tidemark scan` printed, read again. tests/examples/test_moved.py does it with all that the program prints. */
#include "mapping/scanned_rows.h"

#include "unit/decoder_fixture.h"

typedef struct Fixture {
  DecoderFixture decoder; /* its readings are ours */
  TideScannedRows *rows;  /* owned */
} Fixture;

static void
fixture_init(Fixture *fixture, TideReadingFormat format, TideScannedOptions scanned)
{
  decoder_fixture_init_format(&fixture->decoder, format);
  scanned.is_scanned = TRUE;
  fixture->decoder.options.scanned = scanned;
  fixture->rows = tide_scanned_rows_new(&fixture->decoder.options, fixture->decoder.names, 0);
}

static void
fixture_clear(Fixture *fixture)
{
  tide_scanned_rows_free(fixture->rows);
  decoder_fixture_clear(&fixture->decoder);
}

/* The row is gone before its readings are looked at. */
static gboolean
decode(Fixture *fixture, TideBytes row)
{
  guint8 *copy = g_memdup2(row.data, row.len);
  gboolean good = tide_scanned_rows_decode(fixture->rows, tide_bytes(copy, row.len), &fixture->decoder.readings,
                                           &fixture->decoder.n_readings, &fixture->decoder.reject);
  g_free(copy);
  return good;
}

static void
check(TideReadingFormat format, TideScannedOptions scanned, const DecoderCase *cases, gsize n_cases)
{
  Fixture fixture;
  fixture_init(&fixture, format, scanned);
  for (gsize i = 0; i < n_cases; i++) {
    g_assert_true(decode(&fixture, cases[i].value));
    g_autofree char *text = decoder_fixture_readings_text(&fixture.decoder);
    g_assert_cmpstr(text, ==, cases[i].outcome);
  }
  fixture_clear(&fixture);
}

#define TIME "$header.tidemark.time=S:2015-03-16T19:53:32."

static void
test_json(void)
{
  static const DecoderCase cases[] = {
      DECODER_CASE(
          "{\"table\":\"T\",\"row\":\"a#1\",\"row_hex\":\"612331\",\"fields\":{\"host\":\"a\",\"empty\":\"\"},"
          "\"time\":\"x\",\"cells\":[{\"family\":\"M\",\"qualifier\":\"cpu\",\"value\":\"0.5\","
          "\"timestamp_ms\":1426535612045,\"time\":\"y\"},{\"qualifier\":\"q\",\"field\":\"mem\",\"value\":\"7\","
          "\"type\":\"number\",\"timestamp_ms\":1426535612045}]}",
          "cpu=S:0.5 mem=N:7 host=S:a " TIME "045Z;"),
      /* of two times; the later first in the row */
      DECODER_CASE("{\"fields\":{\"a/b\":\"1\",\"c\\\\x3D\":\"2\"},\"cells\":["
                   "{\"qualifier\":\"x\",\"value\":\"1\",\"timestamp_ms\":1426535612046},"
                   "{\"qualifier\":\"y\",\"value\":\"2\",\"timestamp_ms\":1426535612045}]}",
                   "y=S:2 a/b=S:1 c==S:2 " TIME "045Z;x=S:1 a/b=S:1 c==S:2 " TIME "046Z;"),
      /* bytes that are no text; a field that a cell has, too; one that two cells have, and one that none has */
      DECODER_CASE(
          "{\"fields\":{\"id\":\"\\\\xFF\",\"id_hex\":\"ff\",\"host\":\"lower\"},\"cells\":["
          "{\"qualifier\":\"\\\\x00\",\"qualifier_hex\":\"00\",\"value\":\"\\\\xFE\",\"value_hex\":\"fe\","
          "\"timestamp_ms\":1426535612045},{\"qualifier\":\"host\",\"value\":\"Lower\",\"timestamp_ms\":1426535612045},"
          "{\"qualifier\":\"h\",\"field\":\"host\",\"value\":\"Lower\",\"timestamp_ms\":1426535612045},"
          "{\"qualifier\":\"day\",\"field\":\"\",\"value\":\"1\",\"timestamp_ms\":1426535612045}]}",
          "\\x00=S:\\xFE host=S:Lower id=S:\\xFF " TIME "045Z;"),
      DECODER_CASE(
          "{\"cells\":[{\"qualifier\":\"a\",\"value\":\"[1]\",\"type\":\"json\",\"timestamp_ms\":1426535612045},"
          "{\"qualifier\":\"b\",\"value\":\"\",\"type\":\"null\",\"timestamp_ms\":1426535612045},"
          "{\"qualifier\":\"c\",\"value\":\"true\",\"type\":\"bool\",\"timestamp_ms\":1426535612045}]}",
          "a=J:[1] b=0: c=B:true " TIME "045Z;"),
      /* the key says the time to less than a millisecond, or another millisecond */
      DECODER_CASE("{\"key_time\":\"2015-03-16T19:53:32.045678000Z\",\"cells\":["
                   "{\"qualifier\":\"a\",\"value\":\"1\",\"timestamp_ms\":1426535612045}]}",
                   "a=S:1 " TIME "045678000Z;"),
      DECODER_CASE("{\"key_time\":\"2015-03-16T19:53:00.000Z\",\"cells\":["
                   "{\"qualifier\":\"a\",\"value\":\"1\",\"timestamp_ms\":1426535612045}]}",
                   "a=S:1 " TIME "045Z;"),
      DECODER_CASE("{\"cells\":[]}", ""),
  };
  check(TIDE_FORMAT_JSON, (TideScannedOptions){0}, cases, G_N_ELEMENTS(cases));
}

static void
test_csv(void)
{
  static const DecoderCase cases[] = {
      DECODER_CASE("row,host,key.value,timestamp_ms,time,column,value\n"
                   "a#1,a,k,1426535612045,x,M:cpu,0.5\na#1,a,k,1426535612045,x,M:a:b,\"\\x0A\"\"\"\n"
                   "a#1,a,k,1426535612046,x,M:cpu,\n",
                   "cpu=S:0.5 a:b=S:\\x0A\" host=S:a value=S:k " TIME "045Z;cpu=S: host=S:a value=S:k " TIME "046Z;"),
      DECODER_CASE("row,h,key_time,timestamp_ms,time,column,value,age_ms,field,type\n"
                   "a,\\xFF\\x5C,2015-03-16T19:53:32.045000001Z,1426535612045,x,M:q,7,9,mem,number\n"
                   "a,\\xFF\\x5C,2015-03-16T19:53:32.045000001Z,1426535612045,x,M:z,7,9,,\n",
                   "mem=N:7 h=S:\\xFF\\x5C " TIME "045000001Z;"),
  };
  check(TIDE_FORMAT_CSV, (TideScannedOptions){0}, cases, G_N_ELEMENTS(cases));
}

/* Cells bear another time than the event's. */
static void
test_cell_times(void)
{
  static const DecoderCase cases[] = {
      DECODER_CASE("{\"key_time\":\"2015-03-16T19:53:32.001Z\",\"cells\":["
                   "{\"qualifier\":\"a\",\"value\":\"1\",\"timestamp_ms\":1500000000000}]}",
                   "a=S:1 " TIME "001Z $header.tidemark.cell_time=N:1500000000000;"),
      DECODER_CASE("{\"cells\":[{\"qualifier\":\"a\",\"value\":\"1\",\"timestamp_ms\":1426535612045}]}",
                   "a=S:1 " TIME "045Z $header.tidemark.cell_time=N:1426535612045;"),
  };
  check(TIDE_FORMAT_JSON, (TideScannedOptions){.has_cell_times = TRUE}, cases, G_N_ELEMENTS(cases));
}

static void
test_what_else_it_says(void)
{
  Fixture fixture;
  fixture_init(&fixture, TIDE_FORMAT_JSON, (TideScannedOptions){.keeps_keys = TRUE});
  g_assert_true(decode(
      &fixture,
      TIDE_BYTES_LITERAL("{\"row\":\"\\\\xFF\",\"row_hex\":\"ff\",\"fields\":{\"f\":\"1\"},\"cells\":["
                         "{\"qualifier\":\"a\",\"value\":\"1\",\"timestamp_ms\":1426535612045},"
                         "{\"qualifier\":\"b\",\"field\":\"\",\"value\":\"1\",\"timestamp_ms\":1426535612045}]}")));
  g_assert_cmpuint(fixture.decoder.n_readings, ==, 1);
  g_assert_true(tide_bytes_equal(fixture.decoder.readings[0].printed_row, TIDE_BYTES_LITERAL("\xFF")));
  g_assert_cmpuint(fixture.decoder.readings[0].n_printed_cells, ==, 2);
  g_assert_cmpuint(fixture.decoder.readings[0].n_cell_fields, ==, 1);
  fixture_clear(&fixture);
}

/* What a key holds in place of a field that was not received is none: it would become a value of a column. A field that
 * a cell has was received, whatever it holds, and so was one that is no default. */
static void
test_a_default_of_the_key_is_no_field(void)
{
#define ROW(host, cell) "{\"fields\":{\"host\":\"" host "\"},\"cells\":[" cell "]}"
#define CELL(name) "{\"qualifier\":\"" name "\",\"value\":\"none\",\"timestamp_ms\":1426535612045}"
  static const DecoderCase cases[] = {
      DECODER_CASE(ROW("none", CELL("b")), "b=S:none " TIME "045Z;"),
      DECODER_CASE(ROW("none", CELL("host")), "host=S:none " TIME "045Z;"),
      DECODER_CASE(ROW("other", CELL("b")), "b=S:none host=S:other " TIME "045Z;"),
  };
#undef CELL
#undef ROW
  Fixture fixture;
  fixture_init(&fixture, TIDE_FORMAT_JSON, (TideScannedOptions){0});
  TideKeyPartSpec part = {.kind = TIDE_KEY_FIELD,
                          .value = {.field = tide_field_names_intern(fixture.decoder.names, TIDE_BYTES_LITERAL("host")),
                                    .has_default = TRUE,
                                    .default_value = TIDE_BYTES_LITERAL("none")}};
  gsize bad_part;
  g_autoptr(GError) error = NULL;
  TideRowKey *key = tide_row_key_compile(&part, 1, &bad_part, &error);
  g_assert_no_error(error);
  fixture.decoder.options.scanned.key = key;
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_assert_true(decode(&fixture, cases[i].value));
    g_autofree char *text = decoder_fixture_readings_text(&fixture.decoder);
    g_assert_cmpstr(text, ==, cases[i].outcome);
  }
  fixture_clear(&fixture);
  tide_row_key_free(key);
}

static void
test_rejected(void)
{
#define CELL(members) "{\"cells\":[{\"qualifier\":\"a\",\"value\":\"1\"" members "}]}"
  static const char *const texts[] = {
      "[]", "{}", "{\"cells\":[]}{\"cells\":[]}", "{\"cells\":7}", CELL(""), CELL(",\"timestamp_ms\":\"soon\""),
      CELL(",\"timestamp_ms\":99999999999999999999"), CELL(",\"timestamp_ms\":1,\"type\":\"stored\""),
      "{\"cells\":[{\"qualifier\":\"a\",\"timestamp_ms\":1}]}", "{\"cells\":[{\"value\":\"a\",\"timestamp_ms\":1}]}",
      /* one field with two values: in which unit is it? */
      "{\"cells\":[{\"qualifier\":\"a\",\"value\":\"1\",\"timestamp_ms\":1},"
      "{\"qualifier\":\"b\",\"field\":\"a\",\"value\":\"2\",\"timestamp_ms\":1}]}"};
#undef CELL
  Fixture fixture;
  fixture_init(&fixture, TIDE_FORMAT_JSON, (TideScannedOptions){0});
  for (gsize i = 0; i < G_N_ELEMENTS(texts); i++) {
    g_assert_false(decode(&fixture, tide_bytes_of_string(texts[i])));
    g_assert_cmpint(fixture.decoder.reject.reason, !=, TIDE_REJECT_NONE);
  }
  fixture_clear(&fixture);
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/json", test_json);
  g_test_add_func("/csv", test_csv);
  g_test_add_func("/cell-times", test_cell_times);
  g_test_add_func("/what-else-it-says", test_what_else_it_says);
  g_test_add_func("/scanned-rows/E9-a-default-of-the-key-is-no-field", test_a_default_of_the_key_is_no_field);
  g_test_add_func("/rejected", test_rejected);
  return g_test_run();
}
