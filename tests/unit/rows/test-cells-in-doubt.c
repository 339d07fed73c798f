/* Cells in doubt: remembered until their time, whatever their number, within their share of memory. */
#include "rows/cells_in_doubt.h"
#include "rows/row_buffer.h"
#include "unit/row_buffer_fixture.h"
#include "write/batch_cells.h"

static TideBudget share;

static void
set_share(guint64 limit_bytes)
{
  tide_budget_init(&share, limit_bytes);
  share.whole = &budget;
}

/* A hash, as identities are. */
static guint64
mixed(guint64 number)
{
  number *= G_GUINT64_CONSTANT(0x9e3779b97f4a7c15);
  number = (number ^ number >> 32) * G_GUINT64_CONSTANT(0xd6e8feb86659fd93);
  return number ^ number >> 32;
}

static gint64
conflict_us(const TideCellsInDoubt *in_doubt, guint64 identity, guint64 content, gint64 sealed_us)
{
  return tide_cells_in_doubt_conflict_us(in_doubt, identity, content, sealed_us);
}

static void
test_another_value_conflicts_until_its_time(void)
{
  set_share(1 << 20);
  TideCellsInDoubt *in_doubt = tide_cells_in_doubt_new(&share, 1);
  g_assert_cmpint(conflict_us(in_doubt, 7, 2, 0), ==, 0);
  g_assert_true(tide_cells_in_doubt_add(in_doubt, 7, 1, 9000));
  g_assert_cmpint(conflict_us(in_doubt, 7, 1, 0), ==, 0); /* the same again */
  g_assert_cmpint(conflict_us(in_doubt, 8, 2, 0), ==, 0); /* another cell */
  g_assert_cmpint(conflict_us(in_doubt, 7, 2, 8999), ==, 9000);
  g_assert_cmpint(conflict_us(in_doubt, 7, 2, 9000), ==, 0);
  /* Two values may land: each contradicts the other, until the later one's time. */
  g_assert_true(tide_cells_in_doubt_add(in_doubt, 7, 2, 9500));
  g_assert_cmpint(conflict_us(in_doubt, 7, 1, 0), ==, 9500);
  g_assert_cmpint(conflict_us(in_doubt, 7, 2, 9499), ==, 9500);
  /* The same value, again without an answer: later, but no other. */
  g_assert_true(tide_cells_in_doubt_add(in_doubt, 9, 3, 9000));
  g_assert_true(tide_cells_in_doubt_add(in_doubt, 9, 3, 8000));
  g_assert_cmpint(conflict_us(in_doubt, 9, 3, 0), ==, 0);
  g_assert_cmpint(conflict_us(in_doubt, 9, 4, 8999), ==, 9000);

  tide_cells_in_doubt_expire(in_doubt, 9499);
  g_assert_cmpint(conflict_us(in_doubt, 9, 4, 0), ==, 0);
  g_assert_false(tide_cells_in_doubt_is_empty(in_doubt));
  tide_cells_in_doubt_expire(in_doubt, 9500);
  g_assert_true(tide_cells_in_doubt_is_empty(in_doubt));
  g_assert_cmpuint(tide_budget_used_racy(&share), ==, 0);
  tide_cells_in_doubt_free(in_doubt);
}

/* What the set shortens or leaves out of a cell's hashes tells cells and contents apart all the same. */
static void
test_hashes_that_are_alike_are_told_apart(void)
{
  static const guint64 alike[] = {7, 7 | G_GUINT64_CONSTANT(1) << 32, 7 | G_GUINT64_CONSTANT(1) << 55,
                                  7 | G_GUINT64_CONSTANT(1) << 56, 8};
  static const guint64 without_lower_half = G_GUINT64_CONSTANT(5) << 32;
  set_share(1 << 20);
  TideCellsInDoubt *in_doubt = tide_cells_in_doubt_new(&share, 1);
  for (guint i = 0; i < G_N_ELEMENTS(alike); i++) {
    g_assert_cmpint(conflict_us(in_doubt, alike[i], 100, 0), ==, 0);
    g_assert_true(tide_cells_in_doubt_add(in_doubt, alike[i], i + 1, 9000 + i));
  }
  for (guint i = 0; i < G_N_ELEMENTS(alike); i++) {
    g_assert_cmpint(conflict_us(in_doubt, alike[i], i + 1, 0), ==, 0);
    g_assert_cmpint(conflict_us(in_doubt, alike[i], i + 2, 0), ==, 9000 + i);
  }
  /* A value whose short content would be that of any is one like others; any is contradicted by all. */
  g_assert_true(tide_cells_in_doubt_add(in_doubt, 20, without_lower_half, 9000));
  g_assert_cmpint(conflict_us(in_doubt, 20, without_lower_half, 0), ==, 0);
  g_assert_true(tide_cells_in_doubt_add(in_doubt, 21, TIDE_CONTENT_ANY, 9000));
  g_assert_cmpint(conflict_us(in_doubt, 21, without_lower_half, 0), ==, 9000);
  g_assert_cmpint(conflict_us(in_doubt, 21, TIDE_CONTENT_ANY, 0), ==, 9000);
  tide_cells_in_doubt_free(in_doubt);
}

/* M04: none is forgotten while the set grows, and once there are many a cell takes no more than 16 bytes. */
static void
test_M04_thousands_of_cells_are_remembered(void)
{
  set_share(64 << 20);
  TideCellsInDoubt *in_doubt = tide_cells_in_doubt_new(&share, 1);
  for (guint64 i = 1; i <= 100000; i++) {
    g_assert_true(tide_cells_in_doubt_add(in_doubt, mixed(i), i, 5000));
    guint64 old = 1 + i / 3;
    g_assert_cmpint(conflict_us(in_doubt, mixed(old), old + 1, 0), ==, 5000);
    if (i > 50000)
      g_assert_cmpuint(tide_budget_used_racy(&share), <=, i * 16);
  }
  for (guint64 i = 1; i <= 100000; i++) {
    g_assert_cmpint(conflict_us(in_doubt, mixed(i), i + 1, 0), ==, 5000);
    g_assert_cmpint(conflict_us(in_doubt, mixed(i), i, 0), ==, 0);
    g_assert_cmpint(conflict_us(in_doubt, mixed(i + 100000), i, 0), ==, 0);
  }
  tide_cells_in_doubt_free(in_doubt);
  g_assert_cmpuint(tide_budget_used_racy(&budget), ==, 0);
}

/* F14: what is remembered is charged, and not taken beyond the share. */
static void
test_F14_memory_is_charged_and_bounded(void)
{
  set_share(100 * 1024);
  TideCellsInDoubt *in_doubt = tide_cells_in_doubt_new(&share, 1);
  guint64 n = 0;
  while (tide_cells_in_doubt_add(in_doubt, mixed(n + 1), 1, 5000))
    n++;
  g_assert_cmpuint(n, >=, 3000);
  g_assert_cmpuint(tide_budget_used_racy(&share), >, n * 12);
  g_assert_cmpuint(tide_budget_used_racy(&share), <=, 100 * 1024);
  g_assert_cmpuint(tide_budget_used_racy(&budget), ==, tide_budget_used_racy(&share));
  for (guint64 i = 1; i <= n; i++)
    g_assert_cmpint(conflict_us(in_doubt, mixed(i), 2, 0), ==, 5000);
  tide_cells_in_doubt_free(in_doubt);
  g_assert_cmpuint(tide_budget_used_racy(&budget), ==, 0);

  set_share(100); /* not enough for any */
  in_doubt = tide_cells_in_doubt_new(&share, 1);
  g_assert_false(tide_cells_in_doubt_add(in_doubt, mixed(1), 1, 5000));
  g_assert_true(tide_cells_in_doubt_is_empty(in_doubt));
  tide_cells_in_doubt_free(in_doubt);
}

static gpointer
fill(gpointer data)
{
  TideCellsInDoubt *in_doubt = data;
  guint64 n = 0;
  while (tide_cells_in_doubt_add(in_doubt, mixed(n + 1), 1, 5000))
    n++;
  return GSIZE_TO_POINTER(n);
}

/* F14: consumers have one share, which they fill at the same time: an uneven split of partitions leaves none unused. */
static void
test_F14_consumers_fill_one_share(void)
{
  set_share(8 << 20);
  TideCellsInDoubt *of_one = tide_cells_in_doubt_new(&share, 1), *of_other = tide_cells_in_doubt_new(&share, 1);
  GThread *other = g_thread_new("other", fill, of_other);
  gsize n = GPOINTER_TO_SIZE(fill(of_one));
  n += GPOINTER_TO_SIZE(g_thread_join(other));
  g_assert_cmpuint(tide_budget_used_racy(&share), <=, 8 << 20);
  g_assert_cmpuint(n, >, (8 << 20) / 18);
  tide_cells_in_doubt_free(of_one);
  tide_cells_in_doubt_free(of_other);
  g_assert_cmpuint(tide_budget_used_racy(&share), ==, 0);
  g_assert_cmpuint(tide_budget_used_racy(&budget), ==, 0);
}

/* A set that could not take its first cell is empty again with the next look. */
static void
test_room_for_no_cell_is_given_back(void)
{
  set_share(10 * 1024);
  TideCellsInDoubt *full = tide_cells_in_doubt_new(&share, 1);
  guint64 n = 0;
  while (tide_cells_in_doubt_add(full, mixed(++n), 1, 5000))
    ;
  tide_budget_charge(&share, -64);
  TideCellsInDoubt *none = tide_cells_in_doubt_new(&share, 1);
  g_assert_false(tide_cells_in_doubt_add(none, mixed(1), 1, 5000));
  tide_cells_in_doubt_expire(none, 1);
  g_assert_true(tide_cells_in_doubt_is_empty(none));
  tide_budget_charge(&share, 64);
  tide_cells_in_doubt_free(none);
  tide_cells_in_doubt_free(full);
  g_assert_cmpuint(tide_budget_used_racy(&share), ==, 0);
}

/* ---- against a plain model ---- */

/* What the set says of a cell, without its economies. */
typedef struct ModelCell {
  guint64 content;
  gint64 until_us;
} ModelCell;

#define MODEL_STEPS 200000u
#define MODEL_CELLS 3000u
#define MODEL_DOUBT_US 6400

typedef struct Model {
  TideCellsInDoubt *in_doubt;
  ModelCell cells[MODEL_CELLS]; /* until_us 0: not in doubt */
  GRand *random;
  gint64 now_us;
  gint64 step_us;
  guint64 n_refused;
} Model;

static gint64
up_to_step(const Model *model, gint64 until_us)
{
  return (until_us + model->step_us - 1) / model->step_us * model->step_us;
}

static void
model_add(Model *model, guint32 number, guint64 content)
{
  gint64 until_us = model->now_us + g_rand_int_range(model->random, 1, MODEL_DOUBT_US);
  if (!tide_cells_in_doubt_add(model->in_doubt, mixed(number), content, until_us)) {
    model->n_refused++;
    return;
  }
  ModelCell *cell = &model->cells[number];
  if (cell->until_us == 0)
    cell->content = content;
  else if (cell->content != content)
    cell->content = TIDE_CONTENT_ANY;
  cell->until_us = MAX(cell->until_us, up_to_step(model, until_us));
}

static void
model_expire(Model *model)
{
  guint64 used = tide_budget_used_racy(&share);
  guint n_remaining = 0;
  tide_cells_in_doubt_expire(model->in_doubt, model->now_us);
  for (guint i = 0; i < MODEL_CELLS; i++) {
    if (model->cells[i].until_us <= model->now_us)
      model->cells[i].until_us = 0;
    n_remaining += model->cells[i].until_us > 0;
  }
  g_assert_cmpuint(tide_budget_used_racy(&share), <=, used);
  if (n_remaining == 0)
    g_assert_cmpuint(tide_budget_used_racy(&share), ==, 0);
}

static void
model_compare(const Model *model, guint32 number, guint64 content)
{
  const ModelCell *cell = &model->cells[number];
  gint64 sealed_us = model->now_us - g_rand_int_range(model->random, 0, 50);
  gboolean conflicts = cell->until_us > sealed_us && (cell->content != content || cell->content == TIDE_CONTENT_ANY);
  g_assert_cmpint(conflict_us(model->in_doubt, mixed(number), content, sealed_us), ==, conflicts ? cell->until_us : 0);
}

static void
model_step(Model *model, guint32 n_cells)
{
  guint32 number = (guint32)g_rand_int_range(model->random, 0, (gint32)n_cells);
  guint64 content = mixed((guint64)g_rand_int_range(model->random, 1, 4));
  switch (g_rand_int_range(model->random, 0, 4)) {
  case 0:
    model_add(model, number, g_rand_int_range(model->random, 0, 50) == 0 ? TIDE_CONTENT_ANY : content);
    break;
  case 1:
    if (g_rand_int_range(model->random, 0, 100) == 0) {
      model->now_us += g_rand_int_range(model->random, 0, 100) == 0 ? 2 * MODEL_DOUBT_US : MODEL_DOUBT_US / 50;
      model_expire(model);
    }
    break;
  default:
    model_compare(model, number, content);
    break;
  }
}

/* @limit_bytes: enough, or not for all. */
static void
run_model(guint32 seed, guint64 limit_bytes, guint32 n_cells)
{
  Model *model = g_new0(Model, 1);
  set_share(limit_bytes);
  model->random = g_rand_new_with_seed(seed);
  model->now_us = 100000;
  model->step_us = MODEL_DOUBT_US / 64;
  model->in_doubt = tide_cells_in_doubt_new(&share, model->step_us);
  for (guint i = 0; i < MODEL_STEPS; i++) {
    model_step(model, n_cells);
    g_assert_cmpuint(tide_budget_used_racy(&share), <=, limit_bytes);
  }
  for (guint32 i = 0; i < n_cells; i++)
    model_compare(model, i, mixed(1));
  g_assert_true((model->n_refused > 0) == (limit_bytes < 1 << 20));
  tide_cells_in_doubt_free(model->in_doubt);
  g_assert_cmpuint(tide_budget_used_racy(&share), ==, 0);
  g_rand_free(model->random);
  g_free(model);
}

static void
test_a_plain_model_says_the_same(void)
{
  guint32 last = g_random_int();
  g_test_message("seed %u", last);
  run_model(1, 1 << 20, MODEL_CELLS);
  run_model(2, 1 << 20, 40);
  run_model(3, 25 * 1024, MODEL_CELLS);
  run_model(last, 1 << 20, MODEL_CELLS);
}

/* Where more moments come than the set tells apart, doubts last longer, and never end too early. */
static void
test_moments_without_number_end_late_not_early(void)
{
  set_share(1 << 20);
  TideCellsInDoubt *in_doubt = tide_cells_in_doubt_new(&share, 1);
  for (guint64 i = 1; i <= 1000; i++) { /* in no order */
    gint64 until_us = 10000 + (gint64)(mixed(i) % 5000);
    g_assert_true(tide_cells_in_doubt_add(in_doubt, mixed(i), 1, until_us));
  }
  for (guint64 i = 1; i <= 1000; i++) {
    gint64 until_us = 10000 + (gint64)(mixed(i) % 5000);
    g_assert_cmpint(conflict_us(in_doubt, mixed(i), 2, 0), >=, until_us);
    g_assert_cmpint(conflict_us(in_doubt, mixed(i), 2, 0), <, 15000);
  }
  g_assert_true(tide_cells_in_doubt_add(in_doubt, mixed(1999), 1, 19000)); /* after all that there are */
  g_assert_cmpint(conflict_us(in_doubt, mixed(1999), 2, 0), ==, 19000);
  tide_cells_in_doubt_expire(in_doubt, 14000); /* which makes room for others */
  g_assert_true(tide_cells_in_doubt_add(in_doubt, mixed(2000), 1, 20001));
  g_assert_true(tide_cells_in_doubt_add(in_doubt, mixed(2001), 1, 20002));
  g_assert_cmpint(conflict_us(in_doubt, mixed(2000), 2, 0), ==, 20001);
  g_assert_cmpint(conflict_us(in_doubt, mixed(2001), 2, 0), ==, 20002);
  for (guint64 i = 1; i <= 1000; i++)
    if (mixed(i) % 5000 > 4000)
      g_assert_cmpint(conflict_us(in_doubt, mixed(i), 2, 0), >, 14000);
  tide_cells_in_doubt_free(in_doubt);
}

static void
check_cells(TideWireProtocol protocol, gboolean deletes)
{
  Column columns[2];
  TideCell cells[2];
  for (guint i = 0; i < 2; i++) {
    make_column(&columns[i], protocol, i);
    cells[i] = (TideCell){&columns[i].column, tide_bytes_of_string(i == 0 ? "first" : ""), 10 + i};
  }
  g_autoptr(GPtrArray) families = g_ptr_array_new();
  TideFamilySettings family = {.name = (char *)"M"};
  g_ptr_array_add(families, &family);
  TideRowBuffer buffer;
  tide_row_buffer_init(&buffer, &budget, protocol, TIDE_MERGE_ALL, families);
  TideRow row = {.key = TIDE_BYTES_LITERAL("key"), .cells = cells, .n_cells = 2, .ttl_ms = 77};
  row.delete_to_ms = deletes ? 5 : 0;
  tide_row_buffer_append(&buffer, &row, (TideSourceRef){0}, 1000, NULL);
  TideSealRequest seal = request(10, 1 << 20);
  TideBatch *batch = tide_row_buffer_seal(&buffer, &seal);
  TideBatchCells reader;
  TideBatchCell cell;
  g_assert_true(tide_batch_cells_enter(&reader, protocol, batch, 0));
  for (guint i = 0; i < 2; i++) {
    g_assert_true(tide_batch_cells_next(&reader, &cell));
    g_assert_true(tide_bytes_equal(cell.prefix, columns[i].column.prefix));
    g_assert_cmpuint(cell.column_hash, ==, columns[i].column.hash);
    g_assert_true(tide_bytes_equal(cell.value, cells[i].value));
    g_assert_cmpint(cell.timestamp_ms, ==, 10 + i);
  }
  g_assert_false(tide_batch_cells_next(&reader, &cell));
  g_free(describe(batch, protocol));
  tide_row_buffer_clear(&buffer);
  for (guint i = 0; i < 2; i++)
    tide_buffer_clear_memory(&columns[i].prefix);
}

static void
test_cells_are_read_back_from_a_batch(void)
{
  for (guint deletes = 0; deletes < 2; deletes++) {
    check_cells(TIDE_WIRE_BINARY, deletes != 0);
    check_cells(TIDE_WIRE_COMPACT, deletes != 0);
  }
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  tide_budget_init(&budget, G_MAXINT64);
  g_test_add_func("/cells-in-doubt/another-value-conflicts-until-its-time",
                  test_another_value_conflicts_until_its_time);
  g_test_add_func("/cells-in-doubt/hashes-that-are-alike-are-told-apart", test_hashes_that_are_alike_are_told_apart);
  g_test_add_func("/cells-in-doubt/M04-thousands-of-cells-are-remembered", test_M04_thousands_of_cells_are_remembered);
  g_test_add_func("/cells-in-doubt/F14-memory-is-charged-and-bounded", test_F14_memory_is_charged_and_bounded);
  g_test_add_func("/cells-in-doubt/F14-consumers-fill-one-share", test_F14_consumers_fill_one_share);
  g_test_add_func("/cells-in-doubt/room-for-no-cell-is-given-back", test_room_for_no_cell_is_given_back);
  g_test_add_func("/cells-in-doubt/a-plain-model-says-the-same", test_a_plain_model_says_the_same);
  g_test_add_func("/cells-in-doubt/moments-without-number-end-late-not-early",
                  test_moments_without_number_end_late_not_early);
  g_test_add_func("/cells-in-doubt/cells-are-read-back-from-a-batch", test_cells_are_read_back_from_a_batch);
  return g_test_run();
}
