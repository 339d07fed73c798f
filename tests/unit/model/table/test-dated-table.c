#include "model/table/dated_table.h"

#include "unit/load_text.h"

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

static void
test_names_have_the_form_of_the_pattern(void)
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

static void
test_table_without_pattern_matches_nothing(void)
{
  TideTable table = {.name = (char *)"SENSOR_20170726"};
  g_assert_false(tide_dated_table_matches(&table, "SENSOR_20170726"));
}

static void
test_instance_is_the_template_under_another_name(void)
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

static void
test_configuration_finds_tables_by_the_names_they_have_in_hbase(void)
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

static void
test_default_namespace_of_the_declaration_may_be_left_out(void)
{
  g_autoptr(TideConfig) config = config_with_template("default:SENSOR_{yyyyMMdd}");
  g_assert_nonnull(tide_config_find_table(config, "SENSOR_20170726"));
  g_assert_cmpstr(tide_table_of_name(config, "default:SENSOR_20170726")->name, ==, "SENSOR_20170726");
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/dated-table/names-have-the-form-of-the-pattern", test_names_have_the_form_of_the_pattern);
  g_test_add_func("/dated-table/table-without-pattern-matches-nothing", test_table_without_pattern_matches_nothing);
  g_test_add_func("/dated-table/instance-is-the-template-under-another-name",
                  test_instance_is_the_template_under_another_name);
  g_test_add_func("/dated-table/configuration-finds-tables-by-the-names-they-have-in-hbase",
                  test_configuration_finds_tables_by_the_names_they_have_in_hbase);
  g_test_add_func("/dated-table/default-namespace-of-the-declaration-may-be-left-out",
                  test_default_namespace_of_the_declaration_may_be_left_out);
  return g_test_run();
}
