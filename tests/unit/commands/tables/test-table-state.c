/* What of a table in HBase counts as a difference to its declaration. */
#include "commands/tables/tables.h"
#include "tables/declared_table.h"
#include "unit/config-texts.h"
#include "unit/test_case.h"

static const char yaml[] =
    KAFKA HBASE READINGS "tables:\n"
                         "  METRIC:\n"
                         "    key: [ { field: host }, \"#\", { time: epoch_ms } ]\n"
                         "    columns:\n"
                         "      - { family: M, from: \"*\" }\n"
                         "      - { family: N, from: [note] }\n"
                         "    families: { M: { compression: gz, versions: 2, in_memory: true } }\n"
                         "    splits: [\"g\", \"n\"]\n";

static void
add_region(GPtrArray *regions, const char *start, const char *end)
{
  TideRegion *region = g_new0(TideRegion, 1);
  region->start_key = tide_bytes(g_strdup(start), strlen(start));
  region->end_key = tide_bytes(g_strdup(end), strlen(end));
  g_ptr_array_add(regions, region);
}

static int
compare_starts(gconstpointer a, gconstpointer b)
{
  const TideRegion *const *left = a, *const *right = b;
  return tide_bytes_compare((*left)->start_key, (*right)->start_key);
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
    add_region(state->regions, (const char *[]){"", "g", "k", "n"}[i], (const char *[]){"g", "k", "n", ""}[i]);
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

/* As the commands do. */
static void
compare(TideTableState *state, const TideConfig *config)
{
  const TideTable *table = tide_config_find_table(config, "METRIC");
  g_autoptr(TideTableDescription) declared = tide_declared_table_describe(table, config->names);
  tide_table_state_compare(state, table, declared);
}

static void
assert_texts(const GPtrArray *texts, const char *const *expected)
{
  for (guint i = 0; i < texts->len && expected[i] != NULL; i++)
    g_assert_cmpstr(texts->pdata[i], ==, expected[i]);
  g_assert_cmpuint(texts->len, ==, g_strv_length((char **)expected));
}

TEST("/table-state/more-than-is-declared-is-no-difference")
{
  g_autoptr(TideConfig) config = load_text(yaml);
  g_autoptr(TideTableState) state = state_as_declared();
  compare(state, config);
  g_assert_cmpuint(state->differences->len, ==, 0);
  g_assert_cmpuint(state->remedies->len, ==, 0);
}

TEST("/table-state/each-difference-is-one-sentence")
{
  g_autoptr(TideConfig) config = load_text(yaml);
  g_autoptr(TideTableState) state = state_as_declared();
  TideFamilySettings *family = state->description->families->pdata[0];
  family->compression = TIDE_COMPRESSION_NONE;
  family->max_versions = 1;
  family->in_memory = 0;
  g_ptr_array_remove_index(state->description->families, 1);
  g_ptr_array_remove_range(state->regions, 0, 2);
  add_region(state->regions, "", "k");
  g_ptr_array_sort(state->regions, compare_starts);
  compare(state, config);
  assert_texts(state->differences, (const char *const[]){
                                       "family 'M' has compression NONE, declared is GZ",
                                       "family 'M' has versions 1, declared is 2",
                                       "family 'M' has in-memory off, declared is on",
                                       "family 'N' is missing",
                                       "1 of 2 declared split points are not region boundaries: 'g'",
                                       NULL,
                                   });
  /* Only what differs is set: the block size is not declared, and stays. */
  assert_texts(state->remedies,
               (const char *const[]){
                   "alter \"METRIC\", {NAME => \"M\", VERSIONS => 2, COMPRESSION => 'GZ', IN_MEMORY => 'true'}",
                   "alter \"METRIC\", {NAME => \"N\"}",
                   "split \"METRIC\", \"g\"",
                   NULL,
               });
}

/* What HBase leaves out of a description is not what was declared. */
TEST("/table-state/what-is-unset-differs-from-what-is-declared")
{
  g_autoptr(TideConfig) config = load_text(yaml);
  g_autoptr(TideTableState) state = state_as_declared();
  TideFamilySettings *family = state->description->families->pdata[0];
  family->compression = -1;
  family->max_versions = 0;
  compare(state, config);
  assert_texts(state->differences, (const char *const[]){"family 'M' has compression unset, declared is GZ",
                                                         "family 'M' has versions unset, declared is 2", NULL});
}

TEST("/table-state/durability-below-sync-is-said-loudly")
{
  g_autoptr(TideConfig) config = load_text(yaml);
  static const int safe[] = {-1, TIDE_DURABILITY_DEFAULT, TIDE_DURABILITY_SYNC_WAL, TIDE_DURABILITY_FSYNC_WAL};
  for (gsize i = 0; i < G_N_ELEMENTS(safe); i++) {
    g_autoptr(TideTableState) state = state_as_declared();
    state->description->durability = safe[i];
    compare(state, config);
    g_assert_cmpuint(state->differences->len, ==, 0);
  }
  g_autoptr(TideTableState) state = state_as_declared();
  state->description->durability = TIDE_DURABILITY_ASYNC_WAL;
  compare(state, config);
  g_assert_cmpuint(state->differences->len, ==, 1);
  g_assert_true(g_str_has_prefix(state->differences->pdata[0], "DATA CAN BE LOST: durability is ASYNC_WAL"));
  assert_texts(state->remedies, (const char *const[]){"alter \"METRIC\", DURABILITY => 'SYNC_WAL'", NULL});
}

TEST("/table-state/only-declared-attributes-are-compared")
{
  g_autoptr(TideConfig) config = load_text(yaml);
  const TideTable *table = tide_config_find_table(config, "METRIC");
  g_autoptr(TideTableDescription) declared = tide_declared_table_describe(table, config->names);
  g_array_set_size(declared->attributes, 0);
  tide_table_description_add_attribute(declared, TIDE_BYTES_LITERAL("one"), TIDE_BYTES_LITERAL("1"));
  tide_table_description_add_attribute(declared, TIDE_BYTES_LITERAL("two"), TIDE_BYTES_LITERAL("2"));
  tide_table_description_add_attribute(declared, TIDE_BYTES_LITERAL("three"), TIDE_BYTES_LITERAL("3"));
  g_autoptr(TideTableState) state = state_as_declared();
  tide_table_description_add_attribute(state->description, TIDE_BYTES_LITERAL("three"), TIDE_BYTES_LITERAL("33"));
  tide_table_description_add_attribute(state->description, TIDE_BYTES_LITERAL("two"), TIDE_BYTES_LITERAL("2"));
  tide_table_description_add_attribute(state->description, TIDE_BYTES_LITERAL("other"), TIDE_BYTES_LITERAL("o"));
  tide_table_state_compare(state, table, declared);
  assert_texts(state->differences, (const char *const[]){"attribute 'one' is unset, declared is 1",
                                                         "attribute 'three' is 33, declared is 3", NULL});
  assert_texts(state->remedies,
               (const char *const[]){"alter \"METRIC\", METADATA => {\"one\" => \"1\", \"three\" => \"3\"}", NULL});
}

TEST("/table-state/H6/gaps-and-overlaps-of-regions-are-said")
{
  static const struct {
    const char *regions[10]; /* start and end of each */
    const char *differences[6];
  } cases[] = {
      {{NULL}, {"it has no regions: nothing can be written or read"}},
      {{"", "", NULL}, {NULL}},
      {{"", "g", "g", "k", "k", ""}, {NULL}},
      {{"b", "g", "g", ""}, {"no region holds the rows before 'b'"}},
      {{"", "g", "h", ""}, {"no region holds the rows before 'h'"}},
      {{"", "g", "g", "k"}, {"no region holds the rows from 'k'"}},
      {{"", "g", "f", ""}, {"two regions hold the rows from 'f'"}},
      {{"", "z", "c", "d", "z", ""}, {"two regions hold the rows from 'c'"}},
      {{"", "", "c", ""}, {"two regions hold the rows from 'c'"}},
      {{"", "c", "", "c", "c", ""}, {"two regions hold the rows from ''"}},
      {{"a", "b", "c", "d", "e", "f", "g", "h"},
       {"no region holds the rows before 'a'", "no region holds the rows before 'c'",
        "no region holds the rows before 'e'", "2 more such boundaries"}},
  };
  g_autoptr(TideConfig) config =
      load_text(KAFKA HBASE READINGS "tables:\n"
                                     "  METRIC:\n"
                                     "    key: [ { field: host }, \"#\", { time: epoch_ms } ]\n"
                                     "    columns: { family: M, from: \"*\" }\n");
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(TideTableState) state = state_as_declared();
    g_ptr_array_set_size(state->regions, 0);
    for (gsize k = 0; cases[i].regions[k] != NULL; k += 2)
      add_region(state->regions, cases[i].regions[k], cases[i].regions[k + 1]);
    compare(state, config);
    assert_texts(state->differences, cases[i].differences);
  }
}
