/* Stored cells as what was written into them. */
#include "commands/read/cell_reader.h"

#include "unit/assert_bytes.h"
#include "unit/peak_memory.h"
#include "unit/test_case.h"

/* A table's rules, made by hand; what they own is literal text, and never freed but for the made texts. */
typedef struct Fixture {
  TideFieldNames *names;
  TideTable table;
} Fixture;

static void
set_up(Fixture *fixture, gconstpointer data)
{
  *fixture = (Fixture){.names = tide_field_names_new()};
  fixture->table.name = (char *)(gpointer) "T";
  fixture->table.rules = g_array_new(FALSE, TRUE, sizeof(TideColumnRule));
}

static void
tear_down(Fixture *fixture, gconstpointer data)
{
  tide_field_names_free(fixture->names);
  g_array_unref(fixture->table.rules);
}

#define FIXTURE_TEST(path) TEST_WITH(Fixture, set_up, tear_down, path)

static TideNameId
field(Fixture *fixture, const char *name)
{
  return tide_field_names_intern(fixture->names, tide_bytes_of_string(name));
}

static void
add_rule(Fixture *fixture, TideColumnRule rule)
{
  g_array_append_val(fixture->table.rules, rule);
}

static char *
mutable_text(const char *text)
{
  return (char *)(gpointer)text;
}

/* What one cell M:@qualifier becomes, as "M:a=1 M:b=2". */
static char *
shown(TideCellReader *reader, const char *qualifier, TideBytes value)
{
  TideResultCell cell = {.family = TIDE_BYTES_LITERAL("M"),
                         .qualifier = tide_bytes_of_string(qualifier),
                         .value = value,
                         .timestamp_ms = 7};
  TideResultRow row = {.row = TIDE_BYTES_LITERAL("k"), .cells = &cell, .n_cells = 1};
  const TideResultRow *read = tide_cell_reader_read(reader, &row);
  GString *text = g_string_new(NULL);
  for (gsize i = 0; i < read->n_cells; i++) {
    g_assert_cmpint(read->cells[i].timestamp_ms, ==, 7);
    g_autofree char *family = tide_bytes_printable(read->cells[i].family);
    g_autofree char *name = tide_bytes_printable(read->cells[i].qualifier);
    g_autofree char *printed = tide_bytes_printable(read->cells[i].value);
    g_string_append_printf(text, "%s%s:%s=%s", i > 0 ? " " : "", family, name, printed);
  }
  return g_string_free(text, FALSE);
}

#define ASSERT_SHOWN(reader, qualifier, value, text)                                                                   \
  G_STMT_START                                                                                                         \
  {                                                                                                                    \
    g_autofree char *text_ = shown(reader, qualifier, TIDE_BYTES_LITERAL(value));                                      \
    g_assert_cmpstr(text_, ==, text);                                                                                  \
  }                                                                                                                    \
  G_STMT_END

/* What { pattern: "temp.*", as: "*" } or 'strip_prefix' makes may be another field's name, too. */
FIXTURE_TEST("/cell-reader/names-that-two-may-make")
{
  TideColumnItem item = {.field = TIDE_NAME_NONE,
                         .pattern = mutable_text("temp/*"),
                         .qualifier = mutable_text("*"),
                         .encoding = TIDE_ENCODE_INT64};
  TideColumnItem named = {.field = TIDE_NAME_NONE,
                          .pattern = mutable_text("t*"),
                          .qualifier = mutable_text("t*"),
                          .encoding = TIDE_ENCODE_TEXT};
  add_rule(fixture, (TideColumnRule){.family = mutable_text("M"), .items = &item, .n_items = 1});
  add_rule(fixture, (TideColumnRule){.family = mutable_text("M"), .items = &named, .n_items = 1});
  add_rule(fixture, (TideColumnRule){.family = mutable_text("M"), .all_remaining = TRUE});
  g_autoptr(TideCellReader) reader = tide_cell_reader_new(&fixture->table, fixture->names);
  ASSERT_SHOWN(reader, "x", "\0\0\0\0\0\0\0\7", "M:x=7");
  ASSERT_SHOWN(reader, "x", "21.5", "M:x=21.5");
  ASSERT_SHOWN(reader, "torque", "12345678", "M:torque=12345678"); /* the pattern says more */
  g_assert_cmpuint(tide_cell_reader_n_unread(reader), ==, 0);
  ASSERT_SHOWN(reader, "note", "12345678", "M:note=12345678");
  g_assert_cmpuint(tide_cell_reader_n_unread(reader), ==, 1);
}

/* Two forms of eight bytes: neither is taken for the other. */
FIXTURE_TEST("/cell-reader/names-that-two-numbers-may-make")
{
  TideColumnItem item = {.field = TIDE_NAME_NONE, .pattern = mutable_text("temp/*"), .encoding = TIDE_ENCODE_INT64};
  add_rule(fixture,
           (TideColumnRule){
               .family = mutable_text("M"), .items = &item, .n_items = 1, .strip_prefix = mutable_text("temp/")});
  add_rule(fixture,
           (TideColumnRule){.family = mutable_text("M"), .all_remaining = TRUE, .encoding = TIDE_ENCODE_FLOAT64});
  g_autoptr(TideCellReader) reader = tide_cell_reader_new(&fixture->table, fixture->names);
  ASSERT_SHOWN(reader, "x", "\0\0\0\0\0\0\0\7", "M:x=\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x07");
  g_assert_cmpuint(tide_cell_reader_n_unread(reader), ==, 1);
}

FIXTURE_TEST("/cell-reader/numbers-are-read-by-the-encoding-of-their-column")
{
  TideColumnItem items[] = {
      {.field = field(fixture, "n"), .encoding = TIDE_ENCODE_INT64},
      {.field = field(fixture, "cpu load"), .encoding = -1},
      {.field = TIDE_NAME_NONE, .pattern = mutable_text("disk/*"), .encoding = TIDE_ENCODE_INT64},
      {.field = TIDE_NAME_NONE,
       .pattern = mutable_text("*_w"),
       .qualifier = mutable_text("w/*?"),
       .encoding = TIDE_ENCODE_INT64},
      {.field = field(fixture, "plain"), .qualifier = mutable_text("as Declared"), .encoding = TIDE_ENCODE_TEXT},
  };
  add_rule(fixture, (TideColumnRule){.family = mutable_text("M"),
                                     .items = items,
                                     .n_items = G_N_ELEMENTS(items),
                                     .encoding = TIDE_ENCODE_FLOAT64,
                                     .name_case = TIDE_CASE_UPPER,
                                     .strip_spaces = TRUE,
                                     .prefix = mutable_text("G/")});
  g_autoptr(TideCellReader) reader = tide_cell_reader_new(&fixture->table, fixture->names);
  ASSERT_SHOWN(reader, "G/N", "\0\0\0\0\0\0\1\0", "M:G/N=256");
  ASSERT_SHOWN(reader, "G/N", "\xff\xff\xff\xff\xff\xff\xff\xff", "M:G/N=-1");
  ASSERT_SHOWN(reader, "G/CPULOAD", "\x3f\xb9\x99\x99\x99\x99\x99\x9a", "M:G/CPULOAD=0.1");
  ASSERT_SHOWN(reader, "G/DISK/sda", "\0\0\0\0\0\0\0\5", "M:G/DISK/sda=5");
  ASSERT_SHOWN(reader, "w/sda?", "\0\0\0\0\0\0\0\6", "M:w/sda?=6");
  ASSERT_SHOWN(reader, "w/sda.", "\0\0\0\0\0\0\0\6", "M:w/sda.=\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x06");
  ASSERT_SHOWN(reader, "as Declared", "12345678", "M:as Declared=12345678");
  ASSERT_SHOWN(reader, "other", "\0\0\0\0\0\0\0\5", "M:other=\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x05");
  g_assert_cmpuint(tide_cell_reader_n_unread(reader), ==, 0);
  ASSERT_SHOWN(reader, "G/N", "12", "M:G/N=12");
  ASSERT_SHOWN(reader, "G/N", "", "M:G/N=");
  g_assert_cmpuint(tide_cell_reader_n_unread(reader), ==, 1);
}

static TideKeyText *
computed_text(TideKeyPartSpec spec)
{
  gsize bad_part = 0;
  g_autoptr(GError) error = NULL;
  TideKeyText *text = tide_key_text_compile(&spec, 1, TRUE, &bad_part, &error);
  g_assert_no_error(error);
  return text;
}

FIXTURE_TEST("/cell-reader/computed-values-say-what-they-were-made-of")
{
  g_autoptr(TideRowKey) binary_time =
      computed_text((TideKeyPartSpec){.kind = TIDE_KEY_TIME, .moment.unit = TIDE_KEY_TIME_MS, .binary = TRUE});
  g_autoptr(TideRowKey) text_time =
      computed_text((TideKeyPartSpec){.kind = TIDE_KEY_TIME, .moment.unit = TIDE_KEY_TIME_MS});
  g_autoptr(TideRowKey) binary_field = computed_text(
      (TideKeyPartSpec){.kind = TIDE_KEY_FIELD, .value = {.field = field(fixture, "n"), .form = TIDE_KEY_INT32}});
  TideColumnItem items[] = {
      {.field = TIDE_NAME_NONE, .value = binary_time, .qualifier = mutable_text("ts"), .encoding = -1},
      {.field = TIDE_NAME_NONE, .value = text_time, .qualifier = mutable_text("tt"), .encoding = -1},
      {.field = TIDE_NAME_NONE, .value = binary_field, .qualifier = mutable_text("n"), .encoding = -1},
  };
  add_rule(fixture, (TideColumnRule){.family = mutable_text("M"), .items = items, .n_items = G_N_ELEMENTS(items)});
  g_autoptr(TideCellReader) reader = tide_cell_reader_new(&fixture->table, fixture->names);
  ASSERT_SHOWN(reader, "ts", "\x00\x00\x01\x4c\x24\x25\xfe\x8d", "M:ts=2015-03-16T19:53:32.045Z");
  ASSERT_SHOWN(reader, "tt", "1426535612045", "M:tt=1426535612045");
  ASSERT_SHOWN(reader, "n", "\x80\0\x01\0", "M:n=256");
  g_assert_cmpuint(tide_cell_reader_n_unread(reader), ==, 0);
  ASSERT_SHOWN(reader, "ts", "\0\1", "M:ts=\\x00\\x01");
  g_assert_cmpuint(tide_cell_reader_n_unread(reader), ==, 1);
}

/* The qualifier is made for each reading: any of the family is the rule's, but for those that another names. */
FIXTURE_TEST("/cell-reader/names-that-are-made-are-told-from-those-that-are-declared")
{
  g_autoptr(TideRowKey) slot = computed_text((TideKeyPartSpec){.kind = TIDE_KEY_TIME, .moment.pattern = "HHmm"});
  TideColumnItem value[] = {{.field = field(fixture, "kwh"), .encoding = TIDE_ENCODE_INT64}};
  TideColumnItem id[] = {{.field = field(fixture, "ID"), .encoding = -1}};
  add_rule(fixture, (TideColumnRule){.family = mutable_text("M"), .items = value, .n_items = 1, .qualifier = slot});
  add_rule(fixture, (TideColumnRule){.family = mutable_text("M"), .items = id, .n_items = 1});
  g_autoptr(TideCellReader) reader = tide_cell_reader_new(&fixture->table, fixture->names);
  ASSERT_SHOWN(reader, "0015", "\0\0\0\0\0\0\0\5", "M:0015=5");
  /* A name that is made of the field's own is known. */
  const TideKeyPartSpec named[] = {{.kind = TIDE_KEY_LITERAL, .literal = TIDE_BYTES_LITERAL("n:")},
                                   {.kind = TIDE_KEY_NAME}};
  gsize bad_part = 0;
  g_autoptr(TideRowKey) with_name = tide_key_text_compile(named, 2, TRUE, &bad_part, NULL);
  TideColumnItem two[] = {{.field = field(fixture, "a"), .encoding = TIDE_ENCODE_INT64},
                          {.field = field(fixture, "b"), .encoding = TIDE_ENCODE_TEXT}};
  add_rule(fixture, (TideColumnRule){.family = mutable_text("M"), .items = two, .n_items = 2, .qualifier = with_name});
  g_autoptr(TideCellReader) more = tide_cell_reader_new(&fixture->table, fixture->names);
  ASSERT_SHOWN(more, "n:a", "\0\0\0\0\0\0\0\5", "M:n:a=5");
  ASSERT_SHOWN(more, "n:b", "12345678", "M:n:b=12345678");
  ASSERT_SHOWN(reader, "ID", "987654\0\1", "M:ID=987654\\x00\\x01");
}

FIXTURE_TEST("/cell-reader/a-packed-cell-becomes-its-columns")
{
  g_autoptr(TideRowKey) name =
      computed_text((TideKeyPartSpec){.kind = TIDE_KEY_LITERAL, .literal = TIDE_BYTES_LITERAL("r")});
  add_rule(fixture,
           (TideColumnRule){
               .family = mutable_text("M"), .all_remaining = TRUE, .packing = TIDE_PACK_JSON, .qualifier = name});
  g_autoptr(TideCellReader) reader = tide_cell_reader_new(&fixture->table, fixture->names);
  ASSERT_SHOWN(reader, "r", "{\"cpu\":600.550,\"name\":\"a\\u00e9\",\"n\":null}",
               "M:cpu=600.550 M:name=a\\xC3\\xA9 M:n=");
  ASSERT_SHOWN(reader, "other", "{\"cpu\":1}", "M:other={\"cpu\":1}");
  g_assert_cmpuint(tide_cell_reader_n_unread(reader), ==, 0);
  ASSERT_SHOWN(reader, "r", "{\"cpu\":1,", "M:r={\"cpu\":1,");
  ASSERT_SHOWN(reader, "r", "\x81\xa1", "M:r=\\x81\\xA1");
  g_assert_cmpuint(tide_cell_reader_n_unread(reader), ==, 2);
}

/* Columns that change from row to row, of which family and name are together the same bytes. */
FIXTURE_TEST("/cell-reader/names-of-the-row-before")
{
  add_rule(fixture,
           (TideColumnRule){.family = mutable_text("M"), .all_remaining = TRUE, .encoding = TIDE_ENCODE_INT64});
  add_rule(fixture,
           (TideColumnRule){.family = mutable_text("MM"), .all_remaining = TRUE, .encoding = TIDE_ENCODE_TEXT});
  g_autoptr(TideCellReader) reader = tide_cell_reader_new(&fixture->table, fixture->names);
  TideResultCell cell = {.value = TIDE_BYTES_LITERAL("\0\0\0\0\0\0\0\7")};
  const TideResultRow row = {.row = TIDE_BYTES_LITERAL("k"), .cells = &cell, .n_cells = 1};
  for (guint i = 0; i < 4; i++) {
    gsize family_len = 1 + i % 2;
    cell.family = tide_bytes("MMM", family_len);
    cell.qualifier = tide_bytes(&"MMM"[family_len], 3 - family_len);
    const TideResultRow *read = tide_cell_reader_read(reader, &row);
    g_assert_cmpuint(read->n_cells, ==, 1);
    assert_bytes_equal(read->cells[0].value, i % 2 == 0 ? TIDE_BYTES_LITERAL("7") : cell.value);
    assert_bytes_equal(tide_cell_reader_origins(reader)[0].field, cell.qualifier);
  }
}

/* More cells than are remembered from row to row: each has its own field all the same. */
FIXTURE_TEST("/cell-reader/many-cells")
{
  enum { N_CELLS = 700 };
  static TideResultCell cells[N_CELLS];
  char names[N_CELLS][8];
  add_rule(fixture, (TideColumnRule){.family = mutable_text("M"), .all_remaining = TRUE, .encoding = TIDE_ENCODE_TEXT});
  g_autoptr(TideCellReader) reader = tide_cell_reader_new(&fixture->table, fixture->names);
  for (guint round = 0; round < 3; round++) {
    for (guint i = 0; i < N_CELLS; i++) {
      g_snprintf(names[i], sizeof names[i], "c%u", i + round / 2);
      cells[i] = (TideResultCell){.family = TIDE_BYTES_LITERAL("M"), .qualifier = tide_bytes_of_string(names[i])};
    }
    const TideResultRow row = {.row = TIDE_BYTES_LITERAL("k"), .cells = cells, .n_cells = N_CELLS};
    g_assert_cmpuint(tide_cell_reader_read(reader, &row)->n_cells, ==, N_CELLS);
    for (guint i = 0; i < N_CELLS; i++)
      assert_bytes_equal(tide_cell_reader_origins(reader)[i].field, cells[i].qualifier);
  }
}

/* A row is bounded, and what is remembered of those before it stays small beside it: here each has one long name, at
 * another place. */
FIXTURE_TEST("/cell-reader/long-names-are-not-kept")
{
  enum { N_CELLS = 200, NAME_BYTES = 1 << 19 };
  static TideResultCell cells[N_CELLS];
  g_autofree char *name = g_strnfill(NAME_BYTES, 'n');
  add_rule(fixture, (TideColumnRule){.family = mutable_text("M"), .all_remaining = TRUE, .encoding = TIDE_ENCODE_TEXT});
  g_autoptr(TideCellReader) reader = tide_cell_reader_new(&fixture->table, fixture->names);
  guint64 before = peak_memory_begin();
  for (guint at = 0; at < N_CELLS; at++) {
    for (guint i = 0; i < N_CELLS; i++)
      cells[i] = (TideResultCell){.family = TIDE_BYTES_LITERAL("M"), .qualifier = TIDE_BYTES_LITERAL("x")};
    cells[at].qualifier = tide_bytes(name, NAME_BYTES);
    const TideResultRow row = {.row = TIDE_BYTES_LITERAL("k"), .cells = cells, .n_cells = N_CELLS};
    g_assert_cmpuint(tide_cell_reader_read(reader, &row)->n_cells, ==, N_CELLS);
    assert_bytes_equal(tide_cell_reader_origins(reader)[at].field, cells[at].qualifier);
  }
  assert_peak_memory_grew_less(before, (guint64)N_CELLS * NAME_BYTES / 2);
}
