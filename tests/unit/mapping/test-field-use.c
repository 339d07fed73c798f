/* What becomes of fields, and of those that are asked for. */
#include "mapping/field_use.h"
#include "unit/config-texts.h"

typedef struct UseFixture {
  TideConfig *config;   /* owned */
  TideMapping *mapping; /* owned */
  TideFieldUse use;
} UseFixture;

static void
use_fixture_init(UseFixture *fixture, const char *tables)
{
  g_autofree char *text = g_strconcat(KAFKA READINGS HBASE, tables, NULL);
  *fixture = (UseFixture){.config = load_text(text)};
  fixture->mapping = tide_mapping_new(fixture->config, TIDE_WIRE_BINARY);
}

static void
use_fixture_clear(UseFixture *fixture)
{
  tide_field_use_clear(&fixture->use);
  tide_mapping_free(fixture->mapping);
  tide_config_free(fixture->config);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(UseFixture, use_fixture_clear)

static void
note(UseFixture *fixture, const char *value)
{
  TideMessage message = {
      .topic = TIDE_BYTES_LITERAL("t"), .timestamp_ms = -1, .value = tide_bytes_of_string(value), .has_value = TRUE};
  TideMapped mapped;
  TideReject reject;
  g_assert_true(tide_mapping_apply(fixture->mapping, &message, &mapped, &reject));
  tide_field_use_note(&fixture->use, fixture->mapping, mapped.n_readings);
}

static void
assert_names(const UseFixture *fixture, TideFieldsKind kind, const char *expected)
{
  g_autofree char *names = tide_field_use_names(&fixture->use, fixture->mapping, kind);
  g_assert_cmpstr(names, ==, expected);
}

static void
test_each_field_is_told(void)
{
  g_auto(UseFixture) fixture;
  use_fixture_init(&fixture,
                   "tables:\n"
                   "  T:\n"
                   "    key: [{ field: host }, \"#\", { time: epoch_ms }]\n"
                   "    columns: [{ family: M, from: [temp, rpmm, note] }, { family: C, from: [\"cpu/*\"] }]\n"
                   "  L: { latest: merge, key: [{ field: host }], columns: { family: M, from: [temp] } }\n");
  assert_names(&fixture, TIDE_FIELDS_ABSENT, NULL);
  note(&fixture, "[{\"host\":\"a\",\"ts\":1426535612045,\"temp\":1,\"rpm\":2,\"cpu\":{\"usr\":3},\"note\":null},"
                 "{\"host\":\"a\",\"ts\":1426535612046,\"temp\":1,\"fan\":2,\"rpm\":null}]");
  g_assert_cmpuint(fixture.use.n_readings, ==, 2);
  assert_names(&fixture, TIDE_FIELDS_TAKEN, "ts, host, temp, cpu/usr");
  assert_names(&fixture, TIDE_FIELDS_LEFT, "rpm, fan");
  assert_names(&fixture, TIDE_FIELDS_NULL, "note");
  assert_names(&fixture, TIDE_FIELDS_ABSENT, "rpmm (did you mean 'rpm'?)");
  note(&fixture, "{\"host\":\"a\",\"ts\":1426535612047,\"temp\":1,\"rpmm\":1,\"note\":\"x\"}");
  assert_names(&fixture, TIDE_FIELDS_NULL, NULL);
  assert_names(&fixture, TIDE_FIELDS_ABSENT, NULL);
}

/* Only names that were met can be meant, and none that the configuration uses itself. */
static void
test_meant(void)
{
  g_auto(UseFixture) fixture;
  use_fixture_init(
      &fixture, "tables: { T: { key: [{ field: host }], columns: { family: M, from: [temp1, temp2, hosts, x] } } }\n");
  note(&fixture, "{\"host\":\"a\",\"ts\":1426535612045,\"temp1\":1}");
  assert_names(&fixture, TIDE_FIELDS_ABSENT, "temp2, hosts, x");
  note(&fixture, "{\"host\":\"a\",\"ts\":1426535612045,\"temp1\":1,\"tepm2\":2}");
  assert_names(&fixture, TIDE_FIELDS_ABSENT, "temp2 (did you mean 'tepm2'?), hosts, x");
}

static void
test_of_many_the_first_are_named(void)
{
  g_auto(UseFixture) fixture;
  use_fixture_init(&fixture, "tables: { T: { key: [{ time: epoch_ms }], columns: { family: M, from: [v] } } }\n");
  g_autoptr(GString) value = g_string_new("{\"ts\":1426535612045,\"v\":1");
  for (int i = 0; i < 25; i++)
    g_string_append_printf(value, ",\"x%d\":1", i);
  g_string_append_c(value, '}');
  note(&fixture, value->str);
  g_autofree char *names = tide_field_use_names(&fixture.use, fixture.mapping, TIDE_FIELDS_LEFT);
  g_assert_true(g_str_has_prefix(names, "x0, x1, "));
  g_assert_true(g_str_has_suffix(names, ", x19 and 5 more"));
}

int
main(int argc, char *argv[])
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/field-use/each-field-is-told", test_each_field_is_told);
  g_test_add_func("/field-use/meant", test_meant);
  g_test_add_func("/field-use/of-many-the-first-are-named", test_of_many_the_first_are_named);
  return g_test_run();
}
