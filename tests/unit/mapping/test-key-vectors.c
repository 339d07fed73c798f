/* Holds the examples of docs/keys-in-other-languages.md against the code. */
#include "unit/mapping_fixture.h"
#include "unit/test_case.h"

#define GUIDE "docs/keys-in-other-languages.md"
#define MIN_VECTORS 30

/* What stands in `...` of a cell of the table's line; NULL: it holds none. (transfer full) */
static char *
quoted(const char *cell)
{
  const char *first = strchr(cell, '`');
  const char *last = strrchr(cell, '`');
  return first != NULL && last > first ? g_strndup(first + 1, (gsize)(last - first - 1)) : NULL;
}

/* The parts make the beginning of a column's name, where any parts may stand; the field's name ends it. */
static char *
bytes_of(const char *parts, const char *reading)
{
  g_autofree char *text = g_strdup_printf(KAFKA HBASE READINGS
                                          "tables: { T: { key: [{ time: epoch_ms }], columns: { family: M, from: [ts], "
                                          "qualifier: [%s, { name: true }] } } }\n",
                                          parts);
  g_auto(MappingFixture) fixture = mapping_fixture_of(text);
  fixture.record_time_ms = -1;
  if (!mapping_fixture_apply(&fixture, NULL, reading)) {
    g_autofree char *why = tide_reject_describe(&fixture.reject);
    g_error("%s of %s: %s", parts, reading, why);
  }
  TideBytes qualifier = fixture.mapped.rows[0].cells[0].column->qualifier;
  return tide_bytes_hex(tide_bytes(qualifier.data, qualifier.len - strlen("ts")));
}

TEST("/key-vectors/H8/examples-of-the-guide")
{
  g_autofree char *path = g_build_filename(TIDE_TEST_SOURCE_DIR, GUIDE, NULL);
  g_autofree char *guide = NULL;
  g_assert_true(g_file_get_contents(path, &guide, NULL, NULL));
  g_auto(GStrv) lines = g_strsplit(guide, "\n", -1);
  guint n = 0;
  for (char **line = lines; *line != NULL; line++) {
    g_auto(GStrv) cells = g_strsplit(*line, " | ", -1);
    if (g_strv_length(cells) != 3 || **line != '|')
      continue;
    g_autofree char *parts = quoted(cells[0]), *reading = quoted(cells[1]), *expected = quoted(cells[2]);
    if (parts == NULL || reading == NULL || expected == NULL)
      continue;
    g_autofree char *bytes = bytes_of(parts, reading);
    g_test_message("%s of %s", parts, reading);
    g_assert_cmpstr(bytes, ==, expected);
    n++;
  }
  g_assert_cmpuint(n, >=, MIN_VECTORS);
}
