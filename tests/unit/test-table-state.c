/* What of a table in HBase counts as a difference to its declaration. */
#include "commands/table_state.h"

static const char yaml[] = "kafka: { brokers: \"127.0.0.1:9092\", group: g, topics: [t] }\n"
                           "hbase: { gateways: [\"127.0.0.1:9090\"] }\n"
                           "readings: { time: { field: ts, format: epoch_ms } }\n"
                           "tables:\n"
                           "  METRIC:\n"
                           "    key: [ { field: host }, \"#\", { time: epoch_ms } ]\n"
                           "    columns:\n"
                           "      - { family: M, from: \"*\" }\n"
                           "      - { family: N, from: [note] }\n"
                           "    families: { M: { compression: gz, versions: 2, in_memory: true } }\n"
                           "    splits: [\"g\", \"n\"]\n";

static void
add_region(GPtrArray *regions, const char *start)
{
  TideRegion *region = g_new0(TideRegion, 1);
  region->start_key = tide_bytes(g_strdup(start), strlen(start));
  g_ptr_array_add(regions, region);
}

/* A table that is all that the declaration asks for, and more. */
static TideTableState *
state_as_declared(void)
{
  TideTableState *state = g_new0(TideTableState, 1);
  state->exists = TRUE;
  state->differences = g_ptr_array_new_with_free_func(g_free);
  state->remedies = g_ptr_array_new_with_free_func(g_free);
  state->regions = g_ptr_array_new_with_free_func((GDestroyNotify)tide_region_free);
  for (gsize i = 0; i < 4; i++)
    add_region(state->regions, (const char *[]){"", "g", "k", "n"}[i]);
  state->description = tide_table_description_new("METRIC");
  for (gsize i = 0; i < 3; i++)
    g_ptr_array_add(state->description->families, tide_family_settings_new((const char *[]){"M", "N", "extra"}[i]));
  TideFamilySettings *family = state->description->families->pdata[0];
  family->compression = TIDE_COMPRESSION_GZ;
  family->max_versions = 2;
  family->in_memory = 1;
  family->block_size_bytes = 65536; /* not declared: the operator's business */
  return state;
}

static TideConfig *
load(void)
{
  g_autoptr(GPtrArray) problems = NULL;
  TideConfig *config = tide_config_load_text("test.yaml", tide_bytes_of_string(yaml), &problems);
  g_assert_nonnull(config);
  return config;
}

static void
test_same(void)
{
  g_autoptr(TideConfig) config = load();
  g_autoptr(TideTableState) state = state_as_declared();
  tide_table_state_compare(state, tide_config_find_table(config, "METRIC"));
  g_assert_cmpuint(state->differences->len, ==, 0);
  g_assert_cmpuint(state->remedies->len, ==, 0);
}

static void
test_different(void)
{
  static const char *const expected[] = {
      "family 'M' has compression NONE, declared is GZ",     "family 'M' has versions 1, declared is 2",
      "family 'M' has in-memory off, declared is on",        "family 'N' is missing",
      "1 of 2 declared split points are no region boundary",
  };
  g_autoptr(TideConfig) config = load();
  g_autoptr(TideTableState) state = state_as_declared();
  TideFamilySettings *family = state->description->families->pdata[0];
  family->compression = TIDE_COMPRESSION_NONE;
  family->max_versions = 1;
  family->in_memory = 0;
  g_ptr_array_remove_index(state->description->families, 1);
  g_ptr_array_remove_index(state->regions, 1);
  tide_table_state_compare(state, tide_config_find_table(config, "METRIC"));
  g_assert_cmpuint(state->differences->len, ==, G_N_ELEMENTS(expected));
  for (gsize i = 0; i < G_N_ELEMENTS(expected); i++)
    g_assert_cmpstr(state->differences->pdata[i], ==, expected[i]);
  g_assert_cmpuint(state->remedies->len, ==, 1);
  g_assert_true(g_str_has_prefix(state->remedies->pdata[0], "alter "));
  g_assert_nonnull(strstr(state->remedies->pdata[0], "{NAME => "));
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/table-state/more-than-is-declared-is-no-difference", test_same);
  g_test_add_func("/table-state/each-difference-is-one-sentence", test_different);
  return g_test_run();
}
