/* Open rows: how much memory they take, and that all of it is charged. */
#include "rows/row_buffer_private.h"
#include "unit/row_buffer_fixture.h"

#include <sys/mman.h>

static void
test_hot_row_does_not_grow_with_its_rate(void)
{
  Column a;
  make_column(&a, TIDE_WIRE_BINARY, 1);
  TideRowBuffer buffer;
  tide_row_buffer_init(&buffer, &budget, TIDE_WIRE_BINARY, TIDE_MERGE_NEWEST, NULL);
  for (guint i = 0; i < 100000; i++) {
    char value[64];
    memset(value, 'v', sizeof value);
    value[1 + i % 60] = '\0'; /* lengths go up and down, so cells do not always fit where the last one stood */
    append(&buffer, "hot", &a, value, i, i);
  }
  g_assert_cmpuint(buffer.bytes.capacity, <=, 256 * 1024);
  g_assert_cmpuint(buffer.n_rows, ==, 1);
  g_assert_cmpuint(buffer.n_cells, ==, 1);
  tide_row_buffer_clear(&buffer);
  tide_buffer_clear_memory(&a.prefix);
}

/* What is open, what follows it, and what is sealed are all charged. */
static void
test_all_is_charged(void)
{
  Column a;
  make_column(&a, TIDE_WIRE_BINARY, 1);
  TideCell cell = {&a.column, TIDE_BYTES_LITERAL("value"), 10};
  TideRow dependent = {.key = TIDE_BYTES_LITERAL("f"), .cells = &cell, .n_cells = 1};
  TideSealRequest seal = request(1000, 1 << 20);
  TideRowBuffer buffer;
  tide_row_buffer_init(&buffer, &budget, TIDE_WIRE_BINARY, TIDE_MERGE_ALL, NULL);
  for (guint32 i = 0; i < 1000; i++) /* they merge, but each message is a source */
    append(&buffer, "x", &a, "1", 10, i);
  g_assert_cmpuint(tide_budget_used_racy(&budget), >=, 1000 * sizeof(TideBatchSource));
  guint64 open_bytes = tide_budget_used_racy(&budget);
  g_assert_cmpuint(open_bytes, >, 0);
  for (guint i = 0; i < 100; i++)
    tide_row_buffer_add_dependent(&buffer, 0, &dependent, (TideSourceRef){1, 0});
  g_assert_cmpuint(tide_budget_used_racy(&budget), >=, open_bytes + 100 * sizeof(TideRow));
  TideBatch *batch = tide_row_buffer_seal(&buffer, &seal);
  g_assert_cmpuint(tide_budget_used_racy(&budget), ==, (guint64)(buffer.charged_bytes + batch->charged_bytes));
  g_assert_cmpint(batch->charged_bytes, >, 0);
  tide_budget_charge(&budget, -batch->charged_bytes);
  tide_batch_free(batch);
  tide_row_buffer_clear(&buffer);
  g_assert_cmpuint(tide_budget_used_racy(&budget), ==, 0);
  tide_buffer_clear_memory(&a.prefix);
}

enum { GROWN_KEYS = 20, GROWN_COLUMNS = 3, GROWN_CELLS = GROWN_KEYS * GROWN_COLUMNS, GROWN_MAX_BYTES = 3000 };

static void
fill_with_letters(char *value, gsize len)
{
  for (gsize i = 0; i < len; i++)
    value[i] = (char)('a' + g_test_rand_int_range(0, 26));
  value[len] = '\0';
}

static char *
describe_grown(char values[][GROWN_MAX_BYTES + 1], const gint64 *times_ms)
{
  g_autoptr(GString) text = g_string_new("[");
  for (guint cell = 0; cell < GROWN_CELLS; cell++)
    g_string_append_printf(text, "k%02u q%u@%" G_GINT64_FORMAT "=%s;", cell / GROWN_COLUMNS, cell % GROWN_COLUMNS,
                           times_ms[cell], values[cell]);
  return g_string_free(g_steal_pointer(&text), FALSE);
}

/* A squeeze leaves a cell the room of its value and no more: what grows afterwards finds another place, and its
 * neighbours stay as they are. */
static void
check_values_that_grow(TideWireProtocol protocol)
{
  Column columns[GROWN_COLUMNS];
  static char values[GROWN_CELLS][GROWN_MAX_BYTES + 1];
  gint64 times_ms[GROWN_CELLS];
  guint n_squeezed = 0;
  TideRowBuffer buffer;
  tide_row_buffer_init(&buffer, &budget, protocol, TIDE_MERGE_NEWEST, NULL);
  for (guint i = 0; i < GROWN_COLUMNS; i++)
    make_column(&columns[i], protocol, i);
  for (guint i = 0; i < 20 * GROWN_CELLS; i++) {
    guint cell = i < GROWN_CELLS ? i : (guint)g_test_rand_int_range(0, GROWN_CELLS);
    char key[8];
    g_snprintf(key, sizeof key, "k%02u", cell / GROWN_COLUMNS);
    fill_with_letters(values[cell], (gsize)g_test_rand_int_range(1, GROWN_MAX_BYTES));
    times_ms[cell] = i;
    gsize wasted_bytes = buffer.wasted_bytes;
    append(&buffer, key, &columns[cell % GROWN_COLUMNS], values[cell], i, i);
    n_squeezed += buffer.wasted_bytes < wasted_bytes;
  }
  g_assert_cmpuint(n_squeezed, >, 0);
  TideSealRequest seal = request(1000, 1 << 20);
  g_autofree char *sealed = describe(tide_row_buffer_seal(&buffer, &seal), protocol);
  g_autofree char *expected = describe_grown(values, times_ms);
  g_assert_true(g_str_has_prefix(sealed, expected));
  tide_row_buffer_clear(&buffer);
  for (guint i = 0; i < GROWN_COLUMNS; i++)
    tide_buffer_clear_memory(&columns[i].prefix);
}

static void
test_values_that_grow_after_a_squeeze(void)
{
  for (guint turn = 0; turn < 20; turn++) {
    check_values_that_grow(TIDE_WIRE_BINARY);
    check_values_that_grow(TIDE_WIRE_COMPACT);
  }
}

/* A million machines that reported within the window of a latest table. */
static void
test_million_open_keys_cost_little(void)
{
  enum { N_KEYS = 1000000, MAX_BYTES_PER_KEY = 200 };
  Column column;
  make_column(&column, TIDE_WIRE_BINARY, 1);
  TideRowBuffer buffer;
  tide_row_buffer_init(&buffer, &budget, TIDE_WIRE_BINARY, TIDE_MERGE_NEWEST, NULL);
  for (guint32 i = 0; i < N_KEYS; i++) {
    char key[16];
    g_snprintf(key, sizeof key, "key%u", i);
    append(&buffer, key, &column, "value", 1000, i);
  }
  g_assert_cmpuint(buffer.n_rows, ==, N_KEYS);
  gint64 of_cells = (gint64)(buffer.n_cells * sizeof(OpenCell) + buffer.bytes.len);
  g_test_message("%.0f bytes a key besides its cell and key", (double)(buffer.charged_bytes - of_cells) / N_KEYS);
  g_assert_cmpint((buffer.charged_bytes - of_cells) / N_KEYS, <=, MAX_BYTES_PER_KEY);
  tide_row_buffer_clear(&buffer);
  g_assert_cmpuint(tide_budget_used_racy(&budget), ==, 0);
  tide_buffer_clear_memory(&column.prefix);
}

#define FAR_BYTES (G_GINT64_CONSTANT(5) << 30)
#define ROOM_BYTES (G_GINT64_CONSTANT(6) << 30)

/* F5: a lane that takes rows for hours and sends none, as in an outage of a daemon with much memory. The first 5 GiB of
 * the set are address space that nobody touches. */
static void
test_f5_set_of_more_than_4_gib(void)
{
  Column a;
  make_column(&a, TIDE_WIRE_BINARY, 1);
  void *room = mmap(NULL, ROOM_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  g_assert_true(room != MAP_FAILED);
  TideRowBuffer buffer, kept;
  tide_row_buffer_init(&buffer, &budget, TIDE_WIRE_BINARY, TIDE_MERGE_NEWEST, NULL);
  tide_row_buffer_init(&kept, &budget, TIDE_WIRE_BINARY, TIDE_MERGE_NEWEST, NULL);
  buffer.bytes = (TideBuffer){.data = room, .len = FAR_BYTES, .capacity = ROOM_BYTES};
  append(&buffer, "x", &a, "old", 10, 0);
  append(&buffer, "y", &a, "2", 10, 1);
  append(&buffer, "x", &a, "new", 20, 2);
  append(&buffer, "x", &a, "a longer one that needs another place", 30, 3);
  g_assert_cmpuint(buffer.bytes.len, >, FAR_BYTES);
  tide_row_buffer_copy_row(&buffer, 1, &kept, 1000);
  TideSealRequest seal = request(100, 100000);
  g_autofree char *sealed = describe(tide_row_buffer_seal(&buffer, &seal), TIDE_WIRE_BINARY);
  g_assert_cmpstr(sealed, ==, "[x q1@30=a longer one that needs another place;y q1@10=2;]4 ");
  g_autofree char *copied = describe(tide_row_buffer_seal(&kept, &seal), TIDE_WIRE_BINARY);
  g_assert_cmpstr(copied, ==, "[y q1@10=2;]0 ");
  buffer.bytes = (TideBuffer){0};
  g_assert_cmpint(munmap(room, ROOM_BYTES), ==, 0);
  tide_row_buffer_clear(&buffer);
  tide_row_buffer_clear(&kept);
  tide_buffer_clear_memory(&a.prefix);
}

int
main(int argc, char **argv)
{
  tide_budget_init(&budget, 1 << 30);
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/row-buffer-memory/hot-row-does-not-grow-with-its-rate", test_hot_row_does_not_grow_with_its_rate);
  g_test_add_func("/row-buffer-memory/all-is-charged", test_all_is_charged);
  g_test_add_func("/row-buffer-memory/M05-values-that-grow-after-a-squeeze", test_values_that_grow_after_a_squeeze);
  g_test_add_func("/row-buffer-memory/million-open-keys-cost-little", test_million_open_keys_cost_little);
  g_test_add_func("/row-buffer-memory/F5-set-of-more-than-4-gib", test_f5_set_of_more_than_4_gib);
  return g_test_run();
}
