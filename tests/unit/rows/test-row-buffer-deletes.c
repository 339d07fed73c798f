/* Open rows that delete: latest: replace and tombstones; held against a model of what HBase would show. */
#include "unit/row_buffer_fixture.h"

static GPtrArray *
families_of(const char *first, const char *second)
{
  GPtrArray *families = g_ptr_array_new_with_free_func((GDestroyNotify)tide_family_settings_free);
  g_ptr_array_add(families, tide_family_settings_new(first));
  if (second != NULL)
    g_ptr_array_add(families, tide_family_settings_new(second));
  return families;
}

/* @column NULL: a tombstone. Else with @delete_to_ms one below the time: a reading of latest: replace. */
static guint32
append_deleting(TideRowBuffer *buffer, const char *key, const Column *column, const char *value, gint64 timestamp_ms,
                gint64 delete_to_ms, guint32 sequence)
{
  TideCell cell = {column != NULL ? &column->column : NULL, tide_bytes_of_string(value), timestamp_ms};
  TideRow row = {.key = tide_bytes_of_string(key),
                 .cells = &cell,
                 .n_cells = column != NULL ? 1 : 0,
                 .delete_to_ms = delete_to_ms};
  TideCellsMerged merged;
  tide_row_buffer_append(buffer, &row, (TideSourceRef){1, sequence}, 1000, &merged);
  return merged.n_merged;
}

static guint32
append_reading(TideRowBuffer *buffer, const char *key, const Column *column, const char *value, gint64 timestamp_ms,
               guint32 sequence)
{
  return append_deleting(buffer, key, column, value, timestamp_ms, timestamp_ms - 1, sequence);
}

/* What is on its way in a mutation holds its key as a put does. */
static void
test_mutated_rows_hold_their_keys(void)
{
  Column a;
  make_column(&a, TIDE_WIRE_BINARY, 1);
  g_autoptr(GPtrArray) families = families_of("M", NULL);
  TideSealRequest seal = request(1000, 1 << 20);
  TideRowBuffer buffer;
  tide_row_buffer_init(&buffer, &budget, TIDE_WIRE_BINARY, TIDE_MERGE_NEWEST, families);
  append_reading(&buffer, "x", &a, "value", 20, 0);
  TideBatch *batch = tide_row_buffer_seal(&buffer, &seal);
  g_assert_true(batch->is_mutations);
  g_assert_true(tide_batch_may_hold_key(batch, tide_key_hash(TIDE_BYTES_LITERAL("x"))));
  append_reading(&buffer, "x", &a, "later", 21, 1);
  g_assert_true(tide_row_buffer_shares_keys(&buffer, batch));
  tide_budget_charge(&budget, -batch->charged_bytes);
  tide_batch_free(batch);
  tide_row_buffer_clear(&buffer);
  tide_buffer_clear_memory(&a.prefix);
}

static void
check_replaced_rows(TideWireProtocol protocol)
{
  Column a, b;
  make_column(&a, protocol, 1);
  make_column(&b, protocol, 2);
  TideSealRequest seal = request(1000, 1 << 20);
  g_autoptr(GPtrArray) families = families_of("M", "N");
  TideRowBuffer buffer;
  tide_row_buffer_init(&buffer, &budget, protocol, TIDE_MERGE_NEWEST, families);

  g_assert_cmpuint(append_reading(&buffer, "x", &a, "old", 10, 0), ==, 0);
  g_assert_cmpuint(append_reading(&buffer, "x", &b, "newer", 20, 1), ==, 1); /* another column: the older one goes */
  g_assert_cmpuint(append_reading(&buffer, "x", &a, "late", 15, 2), ==, 1);  /* older: not taken */
  g_assert_cmpuint(append_reading(&buffer, "x", &a, "same time", 20, 3), ==, 0);
  g_assert_cmpuint(append_reading(&buffer, "x", &b, "tie", 20, 4), ==, 1); /* equal times: the later one */
  g_assert_cmpuint(append_reading(&buffer, "y", &a, "other", 5, 5), ==, 0);
  g_autofree char *replaced = describe(tide_row_buffer_seal(&buffer, &seal), protocol);
  g_assert_cmpstr(replaced, ==, "{x -M@19;x -N@19;x q2@20=tie;x q1@20=same time;y -M@4;y -N@4;y q1@5=other;}6 ");

  tide_row_buffer_clear(&buffer);
  g_assert_cmpuint(tide_budget_used_racy(&budget), ==, 0);
  tide_buffer_clear_memory(&a.prefix);
  tide_buffer_clear_memory(&b.prefix);
}

static void
test_replaced_row_is_the_newest_reading(void)
{
  check_replaced_rows(TIDE_WIRE_BINARY);
  check_replaced_rows(TIDE_WIRE_COMPACT);
}

static void
check_tombstones(TideWireProtocol protocol)
{
  Column a, b;
  make_column(&a, protocol, 1);
  make_column(&b, protocol, 2);
  TideSealRequest seal = request(1000, 1 << 20);
  g_autoptr(GPtrArray) families = families_of("M", NULL);
  TideRowBuffer buffer;
  tide_row_buffer_init(&buffer, &budget, protocol, TIDE_MERGE_NEWEST, families);

  append(&buffer, "x", &a, "before", 10, 0);
  append(&buffer, "x", &b, "after", 30, 1);
  append_deleting(&buffer, "x", NULL, "", 0, 20, 2); /* of x, what is at most as old as 20 */
  append(&buffer, "x", &a, "late", 20, 3);
  append_deleting(&buffer, "x", NULL, "", 0, 15, 4); /* an older tombstone changes nothing */
  append(&buffer, "y", &a, "alive", 10, 5);
  append_deleting(&buffer, "z", NULL, "", 0, 20, 6);
  append_deleting(&buffer, "w", NULL, "", 0, 20, 7);
  append(&buffer, "w", &a, "revived", 21, 8);
  g_autofree char *sent = describe(tide_row_buffer_seal(&buffer, &seal), protocol);
  g_assert_cmpstr(sent, ==, "{w -M@20;w q1@21=revived;x -M@20;x q2@30=after;z -M@20;}8 [y q1@10=alive;]1 ");

  tide_row_buffer_clear(&buffer);
  g_assert_cmpuint(tide_budget_used_racy(&budget), ==, 0);
  tide_buffer_clear_memory(&a.prefix);
  tide_buffer_clear_memory(&b.prefix);
}

static void
test_tombstone_hides_what_is_not_newer(void)
{
  check_tombstones(TIDE_WIRE_BINARY);
  check_tombstones(TIDE_WIRE_COMPACT);
}

/* Cells are dropped in memory as fast as they come: their places and bytes are used again. */
static void
test_hot_replaced_row_does_not_grow_with_its_rate(void)
{
  Column columns[4];
  for (guint i = 0; i < G_N_ELEMENTS(columns); i++)
    make_column(&columns[i], TIDE_WIRE_BINARY, i);
  g_autoptr(GPtrArray) families = families_of("M", NULL);
  TideRowBuffer buffer;
  tide_row_buffer_init(&buffer, &budget, TIDE_WIRE_BINARY, TIDE_MERGE_NEWEST, families);
  for (guint i = 0; i < 100000; i++)
    append_reading(&buffer, "hot", &columns[i % 4], "a value of some length", 10 + i, i);
  g_assert_cmpuint(buffer.n_rows, ==, 1);
  g_assert_cmpuint(buffer.n_cells, <=, 2);
  g_assert_cmpuint(buffer.bytes.capacity, <=, 256 * 1024);
  TideSealRequest seal = request(1000, 1 << 20);
  g_autofree char *sent = describe(tide_row_buffer_seal(&buffer, &seal), TIDE_WIRE_BINARY);
  g_assert_cmpstr(sent, ==, "{hot -M@100008;hot q3@100009=a value of some length;}100000 ");
  tide_row_buffer_clear(&buffer);
  for (guint i = 0; i < G_N_ELEMENTS(columns); i++)
    tide_buffer_clear_memory(&columns[i].prefix);
}

/* A batch of mutations is short: its rows go one after the other. */
static void
test_mutations_are_cut_into_short_batches(void)
{
  g_autoptr(GPtrArray) families = families_of("M", NULL);
  TideRowBuffer buffer;
  tide_row_buffer_init(&buffer, &budget, TIDE_WIRE_BINARY, TIDE_MERGE_NEWEST, families);
  for (guint i = 0; i < 300; i++) {
    g_autofree char *key = g_strdup_printf("k%u", i);
    append_deleting(&buffer, key, NULL, "", 0, 7, i);
  }
  TideSealRequest seal = request(1000, 1 << 20);
  TideBatch *batches = tide_row_buffer_seal(&buffer, &seal);
  g_assert_cmpuint(batches->n_rows, ==, 128);
  g_assert_cmpuint(batches->next->n_rows, ==, 128);
  g_assert_cmpuint(batches->next->next->n_rows, ==, 44);
  g_assert_null(batches->next->next->next);
  g_free(describe(batches, TIDE_WIRE_BINARY));
  tide_row_buffer_clear(&buffer);
}

/* What HBase shows: of each column the greatest time, unless a delete of its row reaches it. */
typedef struct Shown {
  GHashTable *cells;   /* "key column" -> "time=value" */
  GHashTable *deletes; /* key -> time */
} Shown;

static void
show_cell(Shown *shown, const char *column, gint64 timestamp_ms, const char *value)
{
  const char *there = g_hash_table_lookup(shown->cells, column);
  if (there == NULL || timestamp_ms >= g_ascii_strtoll(there, NULL, 10))
    g_hash_table_replace(shown->cells, g_strdup(column),
                         g_strdup_printf("%" G_GINT64_FORMAT "=%s", timestamp_ms, value));
}

static void
show_delete(Shown *shown, const char *key, gint64 to_ms)
{
  gint64 there = GPOINTER_TO_INT(g_hash_table_lookup(shown->deletes, key));
  g_hash_table_replace(shown->deletes, g_strdup(key), GINT_TO_POINTER((int)MAX(there, to_ms)));
}

static int
compare_lines(gconstpointer a, gconstpointer b)
{
  return strcmp(*(char *const *)a, *(char *const *)b);
}

static char *
dump_shown(const Shown *shown)
{
  g_autoptr(GPtrArray) lines = g_ptr_array_new_with_free_func(g_free);
  GHashTableIter iter;
  gpointer column, cell;
  g_hash_table_iter_init(&iter, shown->cells);
  while (g_hash_table_iter_next(&iter, &column, &cell)) {
    g_autofree char *key = g_strndup(column, (gsize)(strchr(column, ' ') - (char *)column));
    if (g_ascii_strtoll(cell, NULL, 10) > GPOINTER_TO_INT(g_hash_table_lookup(shown->deletes, key)))
      g_ptr_array_add(lines, g_strdup_printf("%s@%s", (char *)column, (char *)cell));
  }
  g_ptr_array_sort(lines, compare_lines);
  g_ptr_array_add(lines, NULL);
  return g_strjoinv("\n", (char **)lines->pdata);
}

/* One "key column@time=value" or "key -family@time" of a description. */
static void
show_described(Shown *shown, const char *text)
{
  const char *at = strrchr(text, '@');
  if (at == NULL)
    return;
  g_autofree char *column = g_strndup(text, (gsize)(at - text));
  gint64 timestamp_ms = g_ascii_strtoll(at + 1, NULL, 10);
  const char *equals = strchr(at, '=');
  char *space = strchr(column, ' ');
  if (equals != NULL) {
    show_cell(shown, column, timestamp_ms, equals + 1);
    return;
  }
  *space = '\0';
  show_delete(shown, column, timestamp_ms);
}

static void
seal_into(TideRowBuffer *buffer, TideSealRequest *seal, Shown *shown, gsize *n_sources)
{
  g_autofree char *text = describe(tide_row_buffer_seal(buffer, seal), TIDE_WIRE_COMPACT);
  g_auto(GStrv) parts = g_strsplit_set(text, "[{;", -1);
  for (char **part = parts; *part != NULL; part++) {
    if (**part == ']' || **part == '}')
      *n_sources += (gsize)g_ascii_strtoull(*part + 1, NULL, 10);
    show_described(shown, *part);
  }
}

/* Readings, replacing ones and tombstones at random, sealed at random. */
static void
check_deletes_against_model(guint seed)
{
  g_autoptr(GRand) random = g_rand_new_with_seed(seed);
  Shown shown[2]; /* what came, what was sent */
  for (guint i = 0; i < 2; i++)
    shown[i] = (Shown){g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free),
                       g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL)};
  Column columns[3];
  for (guint i = 0; i < G_N_ELEMENTS(columns); i++)
    make_column(&columns[i], TIDE_WIRE_COMPACT, i);
  g_autoptr(GPtrArray) families = families_of("M", NULL);
  TideRowBuffer buffer;
  tide_row_buffer_init(&buffer, &budget, TIDE_WIRE_COMPACT, TIDE_MERGE_NEWEST, families);
  gsize n_sources = 0, n_appended = 0;
  for (guint step = 0; step < 3000; step++) {
    const Column *column = &columns[g_rand_int_range(random, 0, 3)];
    g_autofree char *key = g_strdup_printf("k%d", g_rand_int_range(random, 0, 200));
    g_autofree char *cell = g_strdup_printf("%s %s", key, column->qualifier);
    gint64 timestamp_ms = g_rand_int_range(random, 1, 60);
    g_autofree char *value = g_strnfill((gsize)g_rand_int_range(random, 1, 30), (char)('a' + step % 26));
    gboolean deletes = g_rand_int_range(random, 0, 4) == 0, puts = !deletes || g_rand_boolean(random);
    gint64 delete_to_ms = deletes ? timestamp_ms - 1 : 0;
    append_deleting(&buffer, key, puts ? column : NULL, value, timestamp_ms, delete_to_ms, step);
    n_appended++;
    if (deletes)
      show_delete(&shown[0], key, delete_to_ms);
    if (puts)
      show_cell(&shown[0], cell, timestamp_ms, value);
    TideSealRequest seal = request((guint32)g_rand_int_range(random, 1, 20), 1 << 16);
    if (g_rand_int_range(random, 0, 40) == 0 || step == 2999)
      seal_into(&buffer, &seal, &shown[1], &n_sources);
  }
  g_autofree char *came = dump_shown(&shown[0]);
  g_autofree char *sent = dump_shown(&shown[1]);
  g_assert_cmpuint(strlen(came), >, 1000);
  g_assert_cmpstr(sent, ==, came);
  g_assert_cmpuint(n_sources, ==, n_appended);
  tide_row_buffer_clear(&buffer);
  g_assert_cmpuint(tide_budget_used_racy(&budget), ==, 0);
  for (guint i = 0; i < G_N_ELEMENTS(columns); i++)
    tide_buffer_clear_memory(&columns[i].prefix);
  for (guint i = 0; i < 2; i++) {
    g_hash_table_unref(shown[i].cells);
    g_hash_table_unref(shown[i].deletes);
  }
}

static void
test_what_is_sealed_deletes_what_came(void)
{
  for (guint seed = 0; seed < 20; seed++)
    check_deletes_against_model(seed);
}

int
main(int argc, char **argv)
{
  tide_budget_init(&budget, 1 << 30);
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/row-buffer-deletes/mutated-rows-hold-their-keys", test_mutated_rows_hold_their_keys);
  g_test_add_func("/row-buffer-deletes/replaced-row-is-the-newest-reading", test_replaced_row_is_the_newest_reading);
  g_test_add_func("/row-buffer-deletes/tombstone-hides-what-is-not-newer", test_tombstone_hides_what_is_not_newer);
  g_test_add_func("/row-buffer-deletes/hot-replaced-row-does-not-grow-with-its-rate",
                  test_hot_replaced_row_does_not_grow_with_its_rate);
  g_test_add_func("/row-buffer-deletes/mutations-are-cut-into-short-batches",
                  test_mutations_are_cut_into_short_batches);
  g_test_add_func("/row-buffer-deletes/what-is-sealed-deletes-what-came", test_what_is_sealed_deletes_what_came);
  return g_test_run();
}
