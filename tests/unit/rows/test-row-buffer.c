/* Open rows: merging, replacing, sealing; held against a model of what HBase would keep. */
#include "unit/row_buffer_fixture.h"
#include "write/batch_cells.h"

static void
check_rules(TideWireProtocol protocol)
{
  Column a, b;
  make_column(&a, protocol, 1);
  make_column(&b, protocol, 2);
  TideSealRequest seal = request(1000, 1 << 20);

  TideRowBuffer buffer;
  tide_row_buffer_init(&buffer, &budget, protocol, TIDE_MERGE_ALL, NULL);
  append(&buffer, "y", &a, "2", 10, 1); /* leaves behind x: by key, and not as it came */
  append(&buffer, "x", &a, "1", 10, 0);
  append(&buffer, "x", &b, "3", 10, 2);
  append(&buffer, "x", &a, "4", 11, 3);      /* another time: both stay */
  append(&buffer, "x", &a, "longer", 10, 4); /* the same column and time: the later stays */
  append(&buffer, "y", &a, "2", 10, 5);      /* the same again */
  g_autofree char *all = describe(tide_row_buffer_seal(&buffer, &seal), protocol);
  g_assert_cmpstr(all, ==, "[x q1@10=longer;x q2@10=3;x q1@11=4;y q1@10=2;]6 ");
  g_assert_true(tide_row_buffer_is_empty(&buffer));
  tide_row_buffer_clear(&buffer);

  tide_row_buffer_init(&buffer, &budget, protocol, TIDE_MERGE_NEWEST, NULL);
  append(&buffer, "x", &a, "old", 10, 0);
  append(&buffer, "x", &a, "newest", 30, 1);
  append(&buffer, "x", &a, "late", 20, 2); /* older than what is there: gives way */
  append(&buffer, "x", &a, "tie", 30, 3);  /* equal times: the later one */
  append(&buffer, "x", &b, "b", 5, 4);
  g_autofree char *newest = describe(tide_row_buffer_seal(&buffer, &seal), protocol);
  g_assert_cmpstr(newest, ==, "[x q1@30=tie;x q2@5=b;]5 ");
  tide_row_buffer_clear(&buffer);
  g_assert_cmpuint(tide_budget_used_racy(&budget), ==, 0);
  tide_buffer_clear_memory(&a.prefix);
  tide_buffer_clear_memory(&b.prefix);
}

static void
test_merge_rules(void)
{
  check_rules(TIDE_WIRE_BINARY);
  check_rules(TIDE_WIRE_COMPACT);
}

/* Cells are looked for where the last reading had them; in whatever order they come, they meet their own. */
static void
check_orders(TideMergeRule rule, const char *expected)
{
  static const char *const orders[] = {"123", "312", "2", "3214", "41", "1234"};
  Column columns[4];
  for (guint i = 0; i < G_N_ELEMENTS(columns); i++)
    make_column(&columns[i], TIDE_WIRE_BINARY, i + 1);
  TideRowBuffer buffer;
  tide_row_buffer_init(&buffer, &budget, TIDE_WIRE_BINARY, rule, NULL);
  for (guint reading = 0; reading < G_N_ELEMENTS(orders); reading++) {
    TideCell cells[G_N_ELEMENTS(columns)];
    char value[] = {(char)('A' + reading), '\0'};
    guint32 n_cells = 0;
    for (const char *number = orders[reading]; *number != '\0'; number++)
      cells[n_cells++] = (TideCell){&columns[*number - '1'].column, tide_bytes_of_string(value), 10};
    TideRow row = {.key = TIDE_BYTES_LITERAL("x"), .cells = cells, .n_cells = n_cells};
    TideCellsMerged merged;
    tide_row_buffer_append(&buffer, &row, (TideSourceRef){1, reading}, 1000, &merged);
    g_assert_cmpuint(merged.n_merged, ==, reading == 0 ? 0 : n_cells - (reading == 3));
  }
  TideSealRequest seal = request(100, 100000);
  g_autofree char *sealed = describe(tide_row_buffer_seal(&buffer, &seal), TIDE_WIRE_BINARY);
  g_assert_cmpstr(sealed, ==, expected);
  tide_row_buffer_clear(&buffer);
  for (guint i = 0; i < G_N_ELEMENTS(columns); i++)
    tide_buffer_clear_memory(&columns[i].prefix);
}

static void
test_cells_meet_in_any_order(void)
{
  check_orders(TIDE_MERGE_ALL, "[x q1@10=F;x q2@10=F;x q3@10=F;x q4@10=F;]6 ");
  check_orders(TIDE_MERGE_NEWEST, "[x q1@10=F;x q2@10=F;x q3@10=F;x q4@10=F;]6 ");
}

static guint32
append_counting(TideRowBuffer *buffer, const Column *column, const char *value, gint64 timestamp_ms)
{
  TideCell cell = {&column->column, tide_bytes_of_string(value), timestamp_ms};
  TideRow row = {.key = TIDE_BYTES_LITERAL("x"), .cells = &cell, .n_cells = 1};
  TideCellsMerged merged;
  tide_row_buffer_append(buffer, &row, (TideSourceRef){1, 0}, 1000, &merged);
  g_assert_cmpuint(merged.n_conflicting, <=, merged.n_merged);
  return merged.n_conflicting;
}

static void
check_conflicts(TideWireProtocol protocol, TideMergeRule rule)
{
  Column a, b;
  make_column(&a, protocol, 1);
  make_column(&b, protocol, 2);
  TideRowBuffer buffer;
  tide_row_buffer_init(&buffer, &budget, protocol, rule, NULL);
  g_assert_cmpuint(append_counting(&buffer, &a, "1", 10), ==, 0);
  g_assert_cmpuint(append_counting(&buffer, &b, "2", 10), ==, 0); /* another column */
  g_assert_cmpuint(append_counting(&buffer, &a, "1", 10), ==, 0); /* the same again */
  g_assert_cmpuint(append_counting(&buffer, &a, "2", 10), ==, 1);
  g_assert_cmpuint(append_counting(&buffer, &a, "longer", 10), ==, 1);
  g_assert_cmpuint(append_counting(&buffer, &a, "2", 11), ==, 0); /* another time */
  g_assert_cmpuint(append_counting(&buffer, &a, "3", 11), ==, 1);
  g_assert_cmpuint(append_counting(&buffer, &b, "late", 9), ==, 0);
  tide_row_buffer_clear(&buffer);
  g_assert_cmpuint(tide_budget_used_racy(&budget), ==, 0);
  tide_buffer_clear_memory(&a.prefix);
  tide_buffer_clear_memory(&b.prefix);
}

static void
test_other_values_of_one_time_are_counted(void)
{
  check_conflicts(TIDE_WIRE_BINARY, TIDE_MERGE_ALL);
  check_conflicts(TIDE_WIRE_COMPACT, TIDE_MERGE_ALL);
  check_conflicts(TIDE_WIRE_BINARY, TIDE_MERGE_NEWEST);
  check_conflicts(TIDE_WIRE_COMPACT, TIDE_MERGE_NEWEST);
}

static TideCellsMerged
append_reading(TideRowBuffer *buffer, const Column *columns, guint32 n_cells, const char *value, guint32 identity,
               guint32 sequence)
{
  TideCell cells[2];
  for (guint32 i = 0; i < n_cells; i++)
    cells[i] = (TideCell){&columns[i].column, tide_bytes_of_string(value), 10};
  TideRow row = {.key = TIDE_BYTES_LITERAL("x"), .cells = cells, .n_cells = n_cells, .identity = identity};
  TideCellsMerged merged;
  tide_row_buffer_append(buffer, &row, (TideSourceRef){1, sequence}, 1000, &merged);
  return merged;
}

/* Another reading's value is told from another value of the same reading, and both messages are known. */
static void
test_A1_overwritten_readings_are_counted(void)
{
  Column columns[2];
  for (guint i = 0; i < 2; i++)
    make_column(&columns[i], TIDE_WIRE_BINARY, i + 1);
  TideRowBuffer buffer;
  tide_row_buffer_init(&buffer, &budget, TIDE_WIRE_BINARY, TIDE_MERGE_ALL, NULL);
  g_assert_cmpuint(append_reading(&buffer, columns, 2, "1", 7, 0).n_conflicting, ==, 0);
  TideCellsMerged replay = append_reading(&buffer, columns, 2, "1", 7, 1);
  g_assert_cmpuint(replay.n_merged, ==, 2);
  g_assert_cmpuint(replay.n_conflicting, ==, 0);
  TideCellsMerged correction = append_reading(&buffer, columns, 2, "2", 7, 2);
  g_assert_cmpuint(correction.n_conflicting, ==, 2);
  g_assert_cmpuint(correction.n_overwriting, ==, 0);
  TideCellsMerged other = append_reading(&buffer, columns, 2, "3", 8, 3);
  g_assert_cmpuint(other.n_conflicting, ==, 2);
  g_assert_cmpuint(other.n_overwriting, ==, 2);
  g_assert_cmpint(other.overwritten_ms, ==, 10);
  g_assert_true(other.knows_overwritten);
  g_assert_cmpuint(other.overwritten.sequence, ==, 2);
  g_assert_cmpuint(append_reading(&buffer, columns, 1, "4", 0, 4).n_overwriting, ==, 0); /* whose is not known */
  g_assert_cmpuint(append_reading(&buffer, columns, 1, "5", 9, 5).n_overwriting, ==, 0);
  TideCellsMerged last = append_reading(&buffer, columns, 2, "6", 10, 6);
  g_assert_cmpuint(last.n_overwriting, ==, 2);
  g_assert_cmpuint(last.overwritten.sequence, ==, 5);
  tide_row_buffer_clear(&buffer);
  for (guint i = 0; i < 2; i++)
    tide_buffer_clear_memory(&columns[i].prefix);
}

static void
test_batches_keep_their_limits_and_every_source(void)
{
  Column a;
  make_column(&a, TIDE_WIRE_BINARY, 1);
  TideRowBuffer buffer;
  tide_row_buffer_init(&buffer, &budget, TIDE_WIRE_BINARY, TIDE_MERGE_ALL, NULL);
  for (guint i = 0; i < 2500; i++) {
    char key[16];
    g_snprintf(key, sizeof key, "key%05u", i);
    append(&buffer, key, &a, "0123456789", i, i);
  }
  TideSealRequest seal = request(1000, 40000);
  TideBatch *batches = tide_row_buffer_seal(&buffer, &seal);
  guint n_rows = 0;
  gsize n_all_sources = 0;
  for (TideBatch *batch = batches, *next; batch != NULL; batch = next) {
    next = batch->next;
    g_assert_cmpuint(batch->n_rows, <=, 1000);
    g_assert_cmpuint(batch->wire.len, <=, 40000);
    gsize n_sources;
    const TideBatchSource *sources = tide_batch_sources(batch, &n_sources);
    for (gsize i = 0; i < n_sources; i++) {
      char key[16];
      g_snprintf(key, sizeof key, "key%05u", sources[i].ref.sequence);
      g_assert_true(tide_bytes_equal(tide_batch_row_key(batch, sources[i].row), tide_bytes_of_string(key)));
      g_assert_true(tide_batch_may_hold_key(batch, tide_key_hash(tide_bytes_of_string(key))));
    }
    g_assert_false(tide_batch_may_hold_key(batch, tide_key_hash(TIDE_BYTES_LITERAL("another"))));
    n_rows += batch->n_rows;
    n_all_sources += n_sources;
    tide_budget_charge(&budget, -batch->charged_bytes);
    tide_batch_free(batch);
  }
  g_assert_cmpuint(n_rows, ==, 2500);
  g_assert_cmpuint(n_all_sources, ==, 2500);
  tide_row_buffer_clear(&buffer);
  g_assert_cmpuint(tide_budget_used_racy(&budget), ==, 0);
  tide_buffer_clear_memory(&a.prefix);
}

/* Solo rows: each append is a row of its own, and only what contradicts an earlier one waits for it. */
static void
check_solo(TideWireProtocol protocol)
{
  Column a, b;
  make_column(&a, protocol, 1);
  make_column(&b, protocol, 2);
  TideRowBuffer buffer;
  tide_row_buffer_init(&buffer, &budget, protocol, TIDE_MERGE_NONE, NULL);
  append(&buffer, "k", &a, "1", 10, 1);
  append(&buffer, "k", &a, "2", 10, 2); /* the same cell, another value */
  append(&buffer, "k", &a, "1", 10, 3); /* that of the first again, but behind the second */
  append(&buffer, "k", &a, "9", 11, 4);
  append(&buffer, "k", &b, "5", 10, 5);
  append(&buffer, "k", &b, "5", 10, 6); /* the same value */
  append(&buffer, "other", &a, "7", 10, 7);
  TideSealRequest seal = request(1000, 1 << 20);
  const char *const expected[] = {"[k q1@10=1;k q1@11=9;k q2@10=5;k q2@10=5;other q1@10=7;]5 ", "[k q1@10=2;]1 ",
                                  "[k q1@10=1;]1 ", ""};
  for (gsize i = 0; i < G_N_ELEMENTS(expected); i++) {
    g_autofree char *text = describe(tide_row_buffer_seal(&buffer, &seal), protocol);
    g_assert_cmpstr(text, ==, expected[i]);
  }
  g_assert_true(tide_row_buffer_is_empty(&buffer));
  tide_row_buffer_clear(&buffer);
  g_assert_cmpuint(tide_budget_used_racy(&budget), ==, 0);
  tide_buffer_clear_memory(&a.prefix);
  tide_buffer_clear_memory(&b.prefix);
}

static void
test_solo_rows_wait_for_what_they_contradict(void)
{
  check_solo(TIDE_WIRE_BINARY);
  check_solo(TIDE_WIRE_COMPACT);
}

/* Two columns whose hashes are the same are two columns. */
static void
check_columns_of_one_hash(TideMergeRule rule)
{
  Column a, b;
  make_column(&a, TIDE_WIRE_BINARY, 1);
  make_column(&b, TIDE_WIRE_BINARY, 2);
  b.column.hash = a.column.hash;
  TideSealRequest seal = request(1000, 1 << 20);
  TideRowBuffer buffer;
  tide_row_buffer_init(&buffer, &budget, TIDE_WIRE_BINARY, rule, NULL);
  append(&buffer, "x", &a, "1", 10, 0);
  append(&buffer, "x", &b, "2", 10, 1);
  append(&buffer, "x", &a, "3", 10, 2);
  g_autofree char *sealed = describe(tide_row_buffer_seal(&buffer, &seal), TIDE_WIRE_BINARY);
  g_assert_cmpstr(sealed, ==, "[x q1@10=3;x q2@10=2;]3 ");
  tide_row_buffer_clear(&buffer);
  tide_buffer_clear_memory(&a.prefix);
  tide_buffer_clear_memory(&b.prefix);
}

static void
test_columns_of_one_hash(void)
{
  check_columns_of_one_hash(TIDE_MERGE_ALL);
  check_columns_of_one_hash(TIDE_MERGE_NEWEST);
}

static void
append_with_ttl(TideRowBuffer *buffer, const Column *column, const char *value, gint64 ttl_ms)
{
  TideCell cell = {&column->column, tide_bytes_of_string(value), 10};
  TideRow row = {.key = TIDE_BYTES_LITERAL("x"), .cells = &cell, .n_cells = 1, .ttl_ms = ttl_ms};
  tide_row_buffer_append(buffer, &row, (TideSourceRef){1, 0}, 1000, NULL);
}

/* A put has one time to live for all its cells. */
static void
test_rows_of_other_times_to_live_stay_apart(void)
{
  Column columns[3];
  for (guint i = 0; i < G_N_ELEMENTS(columns); i++)
    make_column(&columns[i], TIDE_WIRE_BINARY, i);
  TideSealRequest seal = request(1000, 1 << 20);
  TideRowBuffer buffer;
  tide_row_buffer_init(&buffer, &budget, TIDE_WIRE_BINARY, TIDE_MERGE_ALL, NULL);
  append_with_ttl(&buffer, &columns[0], "a", 1000);
  append_with_ttl(&buffer, &columns[1], "b", 1000);
  append_with_ttl(&buffer, &columns[2], "c", 2000);
  g_autofree char *first = describe(tide_row_buffer_seal(&buffer, &seal), TIDE_WIRE_BINARY);
  g_assert_cmpstr(first, ==, "[x q0@10=a;x q1@10=b;]2 ");
  g_autofree char *second = describe(tide_row_buffer_seal(&buffer, &seal), TIDE_WIRE_BINARY);
  g_assert_cmpstr(second, ==, "[x q2@10=c;]1 ");
  /* What comes after the second belongs behind it, also where it would fit into the first. */
  append_with_ttl(&buffer, &columns[0], "a", 1000);
  append_with_ttl(&buffer, &columns[0], "b", 2000);
  append_with_ttl(&buffer, &columns[0], "c", 1000);
  for (const char *value = "abc"; *value != '\0'; value++) {
    g_autofree char *sealed = describe(tide_row_buffer_seal(&buffer, &seal), TIDE_WIRE_BINARY);
    g_autofree char *expected = g_strdup_printf("[x q0@10=%c;]1 ", *value);
    g_assert_cmpstr(sealed, ==, expected);
  }
  tide_row_buffer_clear(&buffer);
  for (guint i = 0; i < G_N_ELEMENTS(columns); i++)
    tide_buffer_clear_memory(&columns[i].prefix);
}

static void
test_row_that_is_full_waits_for_its_first_half(void)
{
  TideWireProtocol protocol = TIDE_WIRE_COMPACT;
  Column a;
  make_column(&a, protocol, 1);
  TideRowBuffer buffer;
  tide_row_buffer_init(&buffer, &budget, protocol, TIDE_MERGE_ALL, NULL);
  for (guint i = 0; i < 1500; i++)
    append(&buffer, "wide", &a, "v", i, i);
  TideSealRequest seal = request(1000, 1 << 20);
  TideBatch *first = tide_row_buffer_seal(&buffer, &seal);
  g_assert_nonnull(first);
  g_assert_null(first->next);
  g_assert_cmpuint(first->n_rows, ==, 1);
  gsize n_sources;
  tide_batch_sources(first, &n_sources);
  g_assert_cmpuint(n_sources, ==, 1024);
  /* The rest is still open, and its key is on the way. */
  g_assert_false(tide_row_buffer_is_empty(&buffer));
  g_assert_true(tide_row_buffer_shares_keys(&buffer, first));
  TideBatch *second = tide_row_buffer_seal(&buffer, &seal);
  tide_batch_sources(second, &n_sources);
  g_assert_cmpuint(n_sources, ==, 476);
  g_assert_true(tide_row_buffer_is_empty(&buffer));
  g_free(describe(first, protocol));
  g_free(describe(second, protocol));
  tide_row_buffer_clear(&buffer);
  g_assert_cmpuint(tide_budget_used_racy(&budget), ==, 0);
  tide_buffer_clear_memory(&a.prefix);
}

/* Random appends and sealings; the cells sealed, applied in order by HBase's rule, must equal the cells appended
 * applied in order by the same rule. */
static void
check_against_model(TideMergeRule rule, guint seed)
{
  g_autoptr(GRand) random = g_rand_new_with_seed(seed);
  g_autoptr(GHashTable) model = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
  g_autoptr(GHashTable) sealed = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
  Column columns[3];
  for (guint i = 0; i < G_N_ELEMENTS(columns); i++)
    make_column(&columns[i], TIDE_WIRE_BINARY, i);
  TideRowBuffer buffer;
  tide_row_buffer_init(&buffer, &budget, TIDE_WIRE_BINARY, rule, NULL);
  gsize n_sources = 0, n_appended = 0;
  for (guint step = 0; step < 4000; step++) {
    if (g_rand_int_range(random, 0, 50) == 0 || step == 3999) {
      TideSealRequest seal = request((guint32)g_rand_int_range(random, 1, 20), 1 << 16);
      g_autofree char *text = describe(tide_row_buffer_seal(&buffer, &seal), TIDE_WIRE_BINARY);
      g_auto(GStrv) parts = g_strsplit_set(text, "[;", -1);
      for (char **part = parts; *part != NULL; part++) {
        if (**part == ']')
          n_sources += (gsize)g_ascii_strtoull(*part + 1, NULL, 10);
        char *equals = strchr(*part, '=');
        if (equals != NULL)
          g_hash_table_replace(sealed, g_strndup(*part, (gsize)(equals - *part)), g_strdup(equals + 1));
      }
      continue;
    }
    const Column *column = &columns[g_rand_int_range(random, 0, 3)];
    g_autofree char *key = g_strdup_printf("k%d", g_rand_int_range(random, 0, 15));
    gint64 timestamp_ms = g_rand_int_range(random, 0, 10);
    g_autofree char *value = g_strnfill((gsize)g_rand_int_range(random, 1, 30), (char)('a' + step % 26));
    append(&buffer, key, column, value, timestamp_ms, step);
    n_appended++;
    g_hash_table_replace(model, g_strdup_printf("%s %s@%" G_GINT64_FORMAT, key, column->qualifier, timestamp_ms),
                         g_strdup(value));
  }
  g_assert_cmpuint(n_sources, ==, n_appended);
  GHashTableIter iter;
  gpointer cell, value;
  g_hash_table_iter_init(&iter, sealed);
  while (g_hash_table_iter_next(&iter, &cell, &value))
    if (rule == TIDE_MERGE_ALL)
      g_assert_cmpstr(value, ==, g_hash_table_lookup(model, cell));
  if (rule == TIDE_MERGE_ALL)
    g_assert_cmpuint(g_hash_table_size(sealed), ==, g_hash_table_size(model));
  /* In a latest table only the greatest time of each column counts, and that one must be there with its last value. */
  g_hash_table_iter_init(&iter, model);
  while (g_hash_table_iter_next(&iter, &cell, &value)) {
    const char *at = strchr(cell, '@');
    gboolean is_newest = TRUE;
    for (gint64 later = g_ascii_strtoll(at + 1, NULL, 10) + 1; later < 10; later++) {
      g_autofree char *other = g_strdup_printf("%.*s@%" G_GINT64_FORMAT, (int)(at - (char *)cell), (char *)cell, later);
      is_newest &= !g_hash_table_contains(model, other);
    }
    if (is_newest)
      g_assert_cmpstr(value, ==, g_hash_table_lookup(sealed, cell));
  }
  tide_row_buffer_clear(&buffer);
  g_assert_cmpuint(tide_budget_used_racy(&budget), ==, 0);
  for (guint i = 0; i < G_N_ELEMENTS(columns); i++)
    tide_buffer_clear_memory(&columns[i].prefix);
}

static void
test_what_is_sealed_is_what_came(void)
{
  for (guint seed = 0; seed < 20; seed++) {
    check_against_model(TIDE_MERGE_ALL, seed);
    check_against_model(TIDE_MERGE_NEWEST, seed);
  }
}

static void
assert_dependents(const TideBatch *batch, const char *expected)
{
  TideDependentRowReader reader = {0};
  g_autoptr(GString) text = g_string_new(NULL);
  gsize offset = 0;
  TideBytes record;
  while ((record = tide_dependent_rows_next_record(&batch->dependents, &offset)).len > 0) {
    TideDependentRow dependent = tide_dependent_row_read(&reader, record);
    g_string_append_printf(text, "%.*s/%u ", (int)dependent.row.key.len, dependent.row.key.data,
                           dependent.source.sequence);
  }
  g_assert_cmpstr(text->str, ==, expected);
  tide_dependent_row_reader_clear(&reader);
}

/* A dependent row goes where its row goes: into a batch, or into the next sealing. */
static void
test_dependent_rows_go_with_their_rows(void)
{
  Column a;
  make_column(&a, TIDE_WIRE_BINARY, 1);
  TideRowBuffer buffer;
  tide_row_buffer_init(&buffer, &budget, TIDE_WIRE_BINARY, TIDE_MERGE_ALL, NULL);
  for (guint i = 0; i < 1024; i++)
    append(&buffer, "a", &a, "1", i, 100 + i); /* a full row: what comes for its key waits for the next sealing */
  static const char *const keys[] = {"b", "a", "c", "b"}; /* the last merges with the first */
  for (guint32 i = 0; i < G_N_ELEMENTS(keys); i++) {
    TideCell cell = {&a.column, TIDE_BYTES_LITERAL("2"), 2000};
    TideRow row = {.key = tide_bytes_of_string(keys[i]), .cells = &cell, .n_cells = 1};
    TideRow dependent = {.key = tide_bytes_of_string(keys[i]), .cells = &cell, .n_cells = 1, .table_index = 1};
    TideSourceRef source = {1, i};
    tide_row_buffer_add_dependent(&buffer, tide_row_buffer_append(&buffer, &row, source, 1000, NULL), &dependent,
                                  source);
  }
  TideSealRequest seal = request(2, 1 << 20);
  TideBatch *batches = tide_row_buffer_seal(&buffer, &seal);
  assert_dependents(batches, "b/0 b/3 ");
  assert_dependents(batches->next, "c/2 ");
  g_assert_null(batches->next->next);
  TideBatch *waited = tide_row_buffer_seal(&buffer, &seal);
  assert_dependents(waited, "a/1 ");
  g_assert_cmpuint(buffer.dependents.len, ==, 0);

  g_free(describe(batches, TIDE_WIRE_BINARY));
  g_free(describe(waited, TIDE_WIRE_BINARY));
  tide_row_buffer_clear(&buffer);
  g_assert_cmpuint(tide_budget_used_racy(&budget), ==, 0);
  tide_buffer_clear_memory(&a.prefix);
}

/* A put's own time is never below 0: HBase's client refuses the whole call for it. */
static void
check_time(TideWireProtocol protocol, gint64 first_ms, gint64 second_ms, gint64 of_put_ms)
{
  Column columns[2];
  TideRowBuffer buffer;
  tide_row_buffer_init(&buffer, &budget, protocol, TIDE_MERGE_ALL, NULL);
  for (guint i = 0; i < G_N_ELEMENTS(columns); i++) {
    make_column(&columns[i], protocol, i);
    append(&buffer, "x", &columns[i], "1", i == 0 ? first_ms : second_ms, i);
  }
  TideSealRequest seal = request(1000, 1 << 20);
  TideBatch *batch = tide_row_buffer_seal(&buffer, &seal);
  TideWireReader put;
  tide_wire_reader_init(&put, protocol, tide_batch_row_wire(batch, 0));
  g_assert_cmpint(time_of_put(put), ==, of_put_ms);
  TideBatchCells cells;
  TideBatchCell cell;
  g_assert_true(tide_batch_cells_enter(&cells, protocol, batch, 0));
  g_assert_true(tide_batch_cells_next(&cells, &cell));
  g_assert_cmpint(cell.timestamp_ms, ==, first_ms);
  g_assert_true(tide_batch_cells_next(&cells, &cell));
  g_assert_cmpint(cell.timestamp_ms, ==, second_ms);
  g_assert_false(tide_batch_cells_next(&cells, &cell));
  g_free(describe(batch, protocol));
  tide_row_buffer_clear(&buffer);
  for (guint i = 0; i < G_N_ELEMENTS(columns); i++)
    tide_buffer_clear_memory(&columns[i].prefix);
}

static void
test_time_of_all_cells_is_said_once(void)
{
  for (guint protocol = 0; protocol < 2; protocol++) {
    TideWireProtocol wire = protocol == 0 ? TIDE_WIRE_BINARY : TIDE_WIRE_COMPACT;
    check_time(wire, 1426535612045, 1426535612045, 1426535612045);
    check_time(wire, 1426535612045, 1426535612046, 0);
    check_time(wire, 7, -7, 0);
    check_time(wire, -7, -7, 0);
  }
}

int
main(int argc, char **argv)
{
  tide_budget_init(&budget, 1 << 30);
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/row-buffer/A1-overwritten-readings-are-counted", test_A1_overwritten_readings_are_counted);
  g_test_add_func("/row-buffer/time-of-all-cells-is-said-once", test_time_of_all_cells_is_said_once);
  g_test_add_func("/row-buffer/F1-solo-rows-wait-for-what-they-contradict",
                  test_solo_rows_wait_for_what_they_contradict);
  g_test_add_func("/row-buffer/B9-merge-rules", test_merge_rules);
  g_test_add_func("/row-buffer/cells-meet-in-any-order", test_cells_meet_in_any_order);
  g_test_add_func("/row-buffer/A29-other-values-of-one-time-are-counted", test_other_values_of_one_time_are_counted);
  g_test_add_func("/row-buffer/batches-keep-their-limits-and-every-source",
                  test_batches_keep_their_limits_and_every_source);
  g_test_add_func("/row-buffer/columns-of-one-hash", test_columns_of_one_hash);
  g_test_add_func("/row-buffer/rows-of-other-times-to-live-stay-apart", test_rows_of_other_times_to_live_stay_apart);
  g_test_add_func("/row-buffer/row-that-is-full-waits-for-its-first-half",
                  test_row_that_is_full_waits_for_its_first_half);
  g_test_add_func("/row-buffer/what-is-sealed-is-what-came", test_what_is_sealed_is_what_came);
  g_test_add_func("/row-buffer/dependent-rows-go-with-their-rows", test_dependent_rows_go_with_their_rows);
  return g_test_run();
}
