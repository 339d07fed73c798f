/* Which columns somebody means, and what is asked of HBase for them. */
#include "commands/read/table_scan.h"

#include "unit/assert_bytes.h"
#include "unit/test_case.h"

/* Two families; the second has a rule that packs, if it is to. */
static TideTable *
table_new(TidePacking packing)
{
  TideTable *table = g_new0(TideTable, 1);
  table->name = g_strdup("T");
  table->families = g_ptr_array_new_with_free_func((GDestroyNotify)tide_family_settings_free);
  g_ptr_array_add(table->families, tide_family_settings_new("M"));
  g_ptr_array_add(table->families, tide_family_settings_new("P"));
  table->rules = g_array_new(FALSE, TRUE, sizeof(TideColumnRule));
  TideColumnRule rule = {.family = g_strdup("P"), .packing = packing};
  const TideKeyPartSpec name = {.kind = TIDE_KEY_LITERAL, .literal = TIDE_BYTES_LITERAL("r")};
  gsize bad_part = 0;
  rule.qualifier = tide_key_text_compile(&name, 1, FALSE, &bad_part, NULL);
  g_assert_nonnull(rule.qualifier);
  g_array_append_val(table->rules, rule);
  return table;
}

static void
table_clear(TideTable *table)
{
  TideColumnRule *rule = &g_array_index(table->rules, TideColumnRule, 0);
  tide_row_key_free(rule->qualifier);
  g_free(rule->family);
  g_array_unref(table->rules);
  g_ptr_array_unref(table->families);
  g_free(table->name);
  g_free(table);
}

/* What is asked for @text, as "M:a P:*". */
static char *
asked(TidePacking packing, const char *text, gboolean as_stored)
{
  TideTable *table = table_new(packing);
  g_autoptr(GPtrArray) texts = g_ptr_array_new();
  if (text != NULL)
    g_ptr_array_add(texts, (gpointer)text);
  g_autoptr(TideColumnChoice) choice = tide_column_choice_new(table, texts, as_stored);
  table_clear(table); /* it is needed no longer */
  GString *names = g_string_new(NULL);
  gsize n_columns = 0;
  const TideColumnName *columns = tide_column_choice_asked(choice, &n_columns);
  for (gsize i = 0; i < n_columns; i++) {
    g_autofree char *family = tide_bytes_printable(columns[i].family);
    g_autofree char *qualifier = tide_bytes_printable(columns[i].qualifier);
    g_string_append_printf(names, "%s%s:%s", i > 0 ? " " : "", family, columns[i].whole_family ? "*" : qualifier);
  }
  return g_string_free(names, FALSE);
}

TEST("/column-choice/what-may-be-meant-is-asked-for-and-packed-cells-too")
{
  static const struct {
    TidePacking packing;
    const char *text;
    gboolean as_stored;
    const char *asked;
  } cases[] = {
      {TIDE_PACK_NONE, NULL, FALSE, ""},
      {TIDE_PACK_NONE, "CPU", FALSE, "M:CPU P:CPU"},
      {TIDE_PACK_NONE, "M:CPU", FALSE, "M:M:CPU M:CPU P:M:CPU"},
      {TIDE_PACK_NONE, "a\\x00b", FALSE, "M:a\\x00b P:a\\x00b"},
      {TIDE_PACK_JSON, "CPU", FALSE, "M:CPU P:CPU P:r"},
      {TIDE_PACK_MSGPACK, "CPU", TRUE, "M:CPU P:CPU"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *text = asked(cases[i].packing, cases[i].text, cases[i].as_stored);
    g_assert_cmpstr(text, ==, cases[i].asked);
  }
}

TEST("/column-choice/a-name-may-begin-with-its-family-or-not")
{
  g_autoptr(GPtrArray) texts = g_ptr_array_new();
  g_autoptr(TideColumnChoice) none = tide_column_choice_new(NULL, texts, FALSE);
  g_assert_true(tide_column_choice_takes(none, TIDE_BYTES_LITERAL("M"), TIDE_BYTES_LITERAL("x")));

  g_autoptr(GPtrArray) two = g_ptr_array_new();
  g_ptr_array_add(two, (gpointer) "a:b");
  g_ptr_array_add(two, (gpointer) "c\\xFF");
  g_autoptr(TideColumnChoice) choice = tide_column_choice_new(NULL, two, FALSE);
  g_assert_cmpuint(tide_column_choice_count(choice), ==, 2);
  g_assert_cmpstr(tide_column_choice_text(choice, 1), ==, "c\\xFF");
  g_assert_true(tide_column_choice_is(choice, 0, TIDE_BYTES_LITERAL("a"), TIDE_BYTES_LITERAL("b")));
  g_assert_true(tide_column_choice_is(choice, 0, TIDE_BYTES_LITERAL("M"), TIDE_BYTES_LITERAL("a:b")));
  g_assert_false(tide_column_choice_is(choice, 0, TIDE_BYTES_LITERAL("M"), TIDE_BYTES_LITERAL("b")));
  g_assert_true(tide_column_choice_takes(choice, TIDE_BYTES_LITERAL("M"), TIDE_BYTES_LITERAL("c\xff")));
  g_assert_false(tide_column_choice_takes(choice, TIDE_BYTES_LITERAL("M"), TIDE_BYTES_LITERAL("c")));
}
