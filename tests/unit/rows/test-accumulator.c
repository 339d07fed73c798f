/* When open rows leave, and what must not keep them: lanes of one consumer without a gateway behind them. */
#include "unit/accumulator_rig.h"
#include "util/clock.h"
#include "util/log.h"

/* What is open or waits of a partition that was taken away is not sent any more, with all that shares a batch with it;
 * a call that is under way goes on, and its batch blocks its keys until it ends. */
static void
test_rows_of_a_lost_partition_are_cancelled(Fixture *fixture, gconstpointer data)
{
  TideCall call, next;
  append(fixture, DATA, "a", "1");
  fixture->source = (TideSourceRef){.assignment = 1};
  append(fixture, DATA, "b", "1");
  flush(fixture);
  ASSERT_CALL(fixture, &call, "a b ");
  append(fixture, DATA, "a", "2");
  append(fixture, LATEST, "c", "1"); /* of the one that stays alone */
  lose_partition(fixture, 0);
  g_assert_cmpuint(fixture->n_cancelled, ==, 2);
  g_assert_true(tide_batch_is_cancelled(call.batches[0]));
  append(fixture, DATA, "b", "2"); /* as it is read again */
  flush(fixture);
  ASSERT_CALL(fixture, &next, "c ");
  complete_batch(fixture, &next);
  complete_batch(fixture, &call);
  flush(fixture);
  ASSERT_CALL(fixture, &next, "a b ");
  complete_batch(fixture, &next);
  lose_partition(fixture, 0);
  g_assert_cmpuint(fixture->n_cancelled, ==, 0);
}

/* Rows that are not merged are looked for like all others. */
static void
test_solo_rows_of_others_are_found(Fixture *fixture, gconstpointer data)
{
  g_autoptr(GHashTable) own = g_hash_table_new(NULL, NULL);
  g_hash_table_add(own, GUINT_TO_POINTER(0));
  make_solo(fixture, DATA, "k");
  g_assert_false(tide_accumulator_has_others(fixture->accumulator, own));
  fixture->source = (TideSourceRef){.assignment = 1};
  append(fixture, DATA, "k", "1");
  g_assert_true(tide_accumulator_has_others(fixture->accumulator, own));
}

/* What an alert asks for, whichever table was the last to get a row. */
static void
test_oldest_open_row_is_told(Fixture *fixture, gconstpointer data)
{
  gint64 first_us = fixture->now_us;
  g_assert_cmpint(tide_accumulator_oldest_us(fixture->accumulator), ==, 0);
  append(fixture, DATA, "a", "1");
  fixture->now_us = first_us + 5;
  append(fixture, LATEST, "a", "1");
  append(fixture, REPLACED, "a", "1");
  g_assert_cmpint(tide_accumulator_oldest_us(fixture->accumulator), ==, first_us);
}

/* A cancelled batch whose call had no answer is in doubt like any other; what it replaced is as contested as before. */
static void
test_cancelled_batch_is_not_written_but_in_doubt(Fixture *fixture, gconstpointer data)
{
  TideCall call;
  put_in_doubt(fixture, "k", "before");
  append(fixture, LATEST, "k", "now");
  flush(fixture);
  ASSERT_CALL(fixture, &call, "k ");
  complete_batch(fixture, &call);
  g_assert_cmpuint(fixture->n_found[TIDE_FOUND_CONTESTED], ==, 1);
  append(fixture, LATEST, "k", "later");
  flush(fixture);
  ASSERT_CALL(fixture, &call, "k ");
  tide_batch_mark_in_doubt(call.batches[0], fixture->now_us);
  lose_partition(fixture, 0);
  complete_batch(fixture, &call);
  g_assert_cmpuint(fixture->n_found[TIDE_FOUND_REPLACED], ==, 0);
  append(fixture, LATEST, "k", "other");
  flush(fixture);
  ASSERT_CALL(fixture, &call, "k ");
  complete_batch(fixture, &call);
  g_assert_cmpuint(fixture->n_found[TIDE_FOUND_REPLACED], ==, 1);
  g_assert_cmpuint(fixture->n_found[TIDE_FOUND_CONTESTED], ==, 2);
}

/* A later value of the cell stands for a contested one, and so does a newer time in a latest table, in one that is
 * replaced as a whole whatever its column; an older time and another row do not. */
static void
test_contested_cell_ends_with_a_later_value(Fixture *fixture, gconstpointer data)
{
  static const guint tables[] = {LATEST, DATA, REPLACED};
  for (guint t = 0; t < G_N_ELEMENTS(tables); t++) {
    TideCall call;
    guint table = tables[t];
    const struct {
      const char *key;
      const char *column;
      gint64 time_ms;
      guint n_replaced;
    } later[] = {{"x", "v", 1000, 0},
                 {"k", "v", 900, 0},
                 {"k", "w", 1000, 0},
                 {"k", "w", 1001, table == REPLACED},
                 {"k", "v", 1001, table != DATA},
                 {"k", "v", 1000, 1}};
    memset(fixture->n_found, 0, sizeof fixture->n_found);
    append(fixture, table, "k", "abandoned");
    flush(fixture);
    ASSERT_CALL(fixture, &call, "k ");
    tide_batch_mark_in_doubt(call.batches[0], fixture->now_us);
    complete_batch(fixture, &call);
    append(fixture, table, "k", "now");
    flush(fixture);
    ASSERT_CALL(fixture, &call, "k ");
    complete_batch(fixture, &call);
    g_assert_cmpuint(fixture->n_found[TIDE_FOUND_CONTESTED], ==, 1);
    for (guint i = 0; i < G_N_ELEMENTS(later); i++) {
      g_auto(OneCell) one = {0};
      fill_column(&one, table, later[i].key, tide_bytes_of_string(later[i].column), "abandoned");
      one.cell.timestamp_ms = later[i].time_ms;
      tide_accumulator_append_message(fixture->accumulator, &one.row, 1, fixture->source, fixture->now_us);
      flush(fixture);
      g_free(take_call(fixture, &call));
      complete_batch(fixture, &call);
      g_assert_cmpuint(fixture->n_found[TIDE_FOUND_REPLACED], ==, later[i].n_replaced);
    }
    g_assert_cmpuint(fixture->n_found[TIDE_FOUND_CONTESTED], ==, 1);
  }
}

/* What owners before us left in doubt of its partition is contested, up to the time of that, and nothing else is. */
static void
test_inherited_doubt_is_contested(Fixture *fixture, gconstpointer data)
{
  TideCall call;
  const TideDoubt none = {0}, doubt = {.until_us = fixture->now_us + DOUBT_US, .time_ms = 1000},
                  older = {.until_us = fixture->now_us + DOUBT_US, .time_ms = 0},
                  over = {.until_us = fixture->now_us - 1, .time_ms = 1000};
  const TideDoubt *inherited[] = {NULL, &none, &older, &over, &doubt};
  for (guint i = 0; i < G_N_ELEMENTS(inherited); i++) {
    fixture->inherited = inherited[i];
    append(fixture, LATEST, "k", "now");
    flush(fixture);
    ASSERT_CALL(fixture, &call, "k ");
    complete_batch(fixture, &call);
    g_assert_cmpuint(fixture->n_found[TIDE_FOUND_CONTESTED], ==, inherited[i] == &doubt ? 1 : 0);
  }
  g_assert_cmpint(fixture->last_until_us, ==, doubt.until_us);
  fixture->inherited = NULL;
}

/* A row that HBase refused has written nothing: it neither stands for the value before it, which is contested, nor is
 * contested itself. */
static void
test_refused_row_is_no_later_value(Fixture *fixture, gconstpointer data)
{
  TideCall call;
  append(fixture, DATA, "a", "abandoned");
  flush(fixture);
  ASSERT_CALL(fixture, &call, "a ");
  tide_batch_mark_in_doubt(call.batches[0], fixture->now_us);
  complete_batch(fixture, &call);
  append(fixture, DATA, "a", "contradicts");
  flush(fixture);
  ASSERT_CALL(fixture, &call, "a ");
  complete_batch(fixture, &call);
  g_assert_cmpuint(fixture->n_found[TIDE_FOUND_CONTESTED], ==, 1);
  append(fixture, DATA, "a", "refused");
  flush(fixture);
  ASSERT_CALL(fixture, &call, "a ");
  tide_batch_add_poison(call.batches[0], 0, 1, "refused");
  complete_batch(fixture, &call);
  g_assert_cmpuint(fixture->n_found[TIDE_FOUND_REPLACED], ==, 0);
  g_assert_cmpuint(fixture->n_found[TIDE_FOUND_CONTESTED], ==, 1);
}

/* A batch may be answered after the doubt is over that counted when it was sealed: the doubt's value may have landed
 * after the batch's, so it is not forgotten before the batch has completed. */
static void
test_doubt_outlives_the_batch_that_was_sealed_in_it(Fixture *fixture, gconstpointer data)
{
  TideCall call;
  put_in_doubt(fixture, "k", "before");
  append(fixture, LATEST, "k", "now");
  flush(fixture);
  ASSERT_CALL(fixture, &call, "k ");
  fixture->now_us += 2 * DOUBT_US;
  flush(fixture); /* keeps house, too */
  complete_batch(fixture, &call);
  g_assert_cmpuint(fixture->n_found[TIDE_FOUND_CONTESTED], ==, 1);
}

/* Where there is no room to watch a contested cell, nothing ends its hold. Once the doubt is over the room is there
 * again. */
static void
test_F14_contested_cells_are_charged_and_bounded(Fixture *fixture, gconstpointer data)
{
  TideCall call;
  TideBudget *share = &fixture->flow.doubt_budget;
  put_in_doubt(fixture, "k", "before");
  guint64 used_bytes = tide_budget_used_racy(share);
  for (guint i = 0; i < 3; i++) {
    append(fixture, LATEST, "k", i == 2 ? "last" : "now");
    flush(fixture);
    ASSERT_CALL(fixture, &call, "k ");
    gint64 room_bytes = i == 0 ? (gint64)share->limit_bytes : 0;
    tide_budget_charge(share, room_bytes);
    complete_batch(fixture, &call);
    tide_budget_charge(share, -room_bytes);
    g_assert_cmpuint(fixture->n_found[TIDE_FOUND_CONTESTED], ==, i + 1);
    g_assert_cmpuint(fixture->n_found[TIDE_FOUND_REPLACED], ==, i == 2 ? 1 : 0);
    g_assert_cmpuint(tide_metrics_sum(fixture->flow.metrics, "tidemark_uncertain_overflow_total", NULL), ==, 1);
    g_assert_cmpint(tide_budget_used_racy(share) > used_bytes, ==, i > 0);
  }
  fixture->now_us += 2 * DOUBT_US;
  flush(fixture);
  g_assert_cmpuint(tide_budget_used_racy(share), ==, 0);
}

#define N_WIDE_CELLS 1000u
#define N_WIDE_SOURCES 500u

/* A row of many columns, at one time. */
typedef struct WideRow {
  OneCell columns[N_WIDE_CELLS];
  TideCell cells[N_WIDE_CELLS];
  char qualifiers[N_WIDE_CELLS][8];
} WideRow;

static void
fill_wide_row(WideRow *wide, const char *value)
{
  for (guint i = 0; i < N_WIDE_CELLS; i++) {
    (void)g_snprintf(wide->qualifiers[i], sizeof wide->qualifiers[i], "%u", i);
    fill_column(&wide->columns[i], DATA, "day", tide_bytes_of_string(wide->qualifiers[i]), value);
    wide->cells[i] = wide->columns[i].cell;
  }
}

static void
clear_wide_row(WideRow *wide)
{
  for (guint i = 0; i < N_WIDE_CELLS; i++)
    one_cell_clear(&wide->columns[i]);
}

/* @n_messages bring @n_cells of @wide from @first on, as many each, and each message in two readings. */
static void
write_wide_row(Fixture *fixture, WideRow *wide, guint first, guint n_cells, guint n_messages)
{
  TideCall call;
  guint n_each = n_cells / n_messages / 2;
  for (guint i = 0; i < 2 * n_messages; i++) {
    TideRow row = wide->columns[0].row;
    row.cells = &wide->cells[first + i * n_each];
    row.n_cells = n_each;
    fixture->source.sequence = i / 2;
    tide_accumulator_append_message(fixture->accumulator, &row, 1, fixture->source, fixture->now_us);
  }
  flush(fixture);
  ASSERT_CALL(fixture, &call, "day ");
  complete_batch(fixture, &call);
}

/* A day row of many cells and messages: what is kept is their sum, not their product, and a message is told once. */
static void
test_H1_wide_row_is_contested_as_one(Fixture *fixture, gconstpointer data)
{
  TideBudget *share = &fixture->flow.doubt_budget;
  const TideDoubt doubt = {.until_us = fixture->now_us + DOUBT_US, .time_ms = 1000};
  g_autofree WideRow *wide = g_new0(WideRow, 1);
  fill_wide_row(wide, "now");
  fixture->inherited = &doubt;
  write_wide_row(fixture, wide, 0, N_WIDE_CELLS, N_WIDE_SOURCES);
  fixture->inherited = NULL;
  g_assert_cmpuint(fixture->n_found[TIDE_FOUND_CONTESTED], ==, N_WIDE_SOURCES);
  g_assert_cmpuint(tide_budget_used_racy(share), <, 100 * (N_WIDE_CELLS + N_WIDE_SOURCES));
  write_wide_row(fixture, wide, 0, N_WIDE_CELLS - 2, 1);
  g_assert_cmpuint(fixture->n_found[TIDE_FOUND_REPLACED], ==, 0);
  write_wide_row(fixture, wide, N_WIDE_CELLS - 2, 2, 1);
  g_assert_cmpuint(fixture->n_found[TIDE_FOUND_REPLACED], ==, N_WIDE_SOURCES);
  g_assert_cmpuint(tide_budget_used_racy(share), ==, 0);
  clear_wide_row(wide);
}

/* Of the doubts of a row the first counts. */
static void
test_H1_first_doubt_of_a_row_counts(Fixture *fixture, gconstpointer data)
{
  TideCall call;
  g_auto(OneCell) v = {0}, w = {0};
  const TideDoubt sooner = {.until_us = fixture->now_us + DOUBT_US / 2, .time_ms = 1000};
  put_in_doubt(fixture, "k", "before");
  fill_column(&v, LATEST, "k", TIDE_BYTES_LITERAL("v"), "now");
  fill_column(&w, LATEST, "k", TIDE_BYTES_LITERAL("w"), "now");
  TideCell cells[] = {v.cell, w.cell};
  v.row.cells = cells;
  v.row.n_cells = 2;
  tide_accumulator_append_message(fixture->accumulator, &v.row, 1, fixture->source, fixture->now_us);
  flush(fixture);
  ASSERT_CALL(fixture, &call, "k ");
  fixture->inherited = &sooner;
  complete_batch(fixture, &call);
  fixture->inherited = NULL;
  g_assert_cmpuint(fixture->n_found[TIDE_FOUND_CONTESTED], ==, 1);
  g_assert_cmpint(fixture->last_until_us, ==, sooner.until_us);
}

/* A row is watched until its doubt is over and no longer, in whichever order doubts come. */
static void
test_H1_row_is_watched_until_its_doubt_is_over(Fixture *fixture, gconstpointer data)
{
  static const guint until_s[] = {9, 3, 5};
  TideBudget *share = &fixture->flow.doubt_budget;
  guint64 used_bytes[G_N_ELEMENTS(until_s) + 1] = {0};
  for (guint i = 0; i < G_N_ELEMENTS(until_s); i++) {
    TideCall call;
    const TideDoubt doubt = {.until_us = fixture->now_us + until_s[i] * TIDE_US_PER_S, .time_ms = 1000};
    g_autofree char *key = g_strdup_printf("%u", i);
    fixture->inherited = &doubt;
    append(fixture, DATA, key, "now");
    flush(fixture);
    g_free(take_call(fixture, &call));
    complete_batch(fixture, &call);
    fixture->inherited = NULL;
    g_assert_cmpint(fixture->last_until_us, ==, doubt.until_us);
    used_bytes[i + 1] = tide_budget_used_racy(share);
  }
  fixture->now_us += 4 * TIDE_US_PER_S;
  flush(fixture);
  g_assert_cmpuint(tide_budget_used_racy(share), ==, used_bytes[2]);
  fixture->now_us += 2 * TIDE_US_PER_S;
  flush(fixture);
  g_assert_cmpuint(tide_budget_used_racy(share), ==, used_bytes[1]);
  fixture->now_us += 4 * TIDE_US_PER_S;
  flush(fixture);
  g_assert_cmpuint(tide_budget_used_racy(share), ==, 0);
}

/* Where memory is small, a lane is full long before a call is: the rest of the memory is for what is on its way. */
static void
test_small_memory_makes_small_batches(Fixture *fixture, gconstpointer data)
{
  TideCall call;
  g_autofree char *value = g_strnfill(20000, 'x');
  for (guint i = 0; i < 4; i++) {
    g_autofree char *key = g_strdup_printf("a%u", i);
    append(fixture, DATA, key, value);
  }
  ASSERT_CALL(fixture, &call, "");
  flush(fixture);
  ASSERT_CALL(fixture, &call, "a0 a1 a2 a3 ");
  complete_batch(fixture, &call);
  tide_budget_set_limit(&fixture->flow.budget, 1024 * 1024);
  tide_accumulator_tick(fixture->accumulator, TIDE_PRESSURE_NONE, 0, fixture->now_us);
  for (guint i = 0; i < 4; i++) {
    g_autofree char *key = g_strdup_printf("b%u", i);
    append(fixture, DATA, key, value);
  }
  ASSERT_CALL(fixture, &call, "b0 b1 b2 b3 ");
  complete_batch(fixture, &call);
}

/* Lanes that have rows in turn have the same memory for them, however many they are. */
static void
test_lanes_in_turn_share_memory(Fixture *fixture, gconstpointer data)
{
  TideCall call;
  guint64 first_bytes = 0;
  for (guint i = 0; i < 200; i++) {
    g_autofree char *key = g_strdup_printf("%04u", i), *keys = g_strconcat(key, " ", NULL);
    append(fixture, SPREAD, key, "1");
    flush(fixture);
    ASSERT_CALL(fixture, &call, keys);
    complete_batch(fixture, &call);
    if (i == 0)
      first_bytes = tide_budget_used_racy(&fixture->flow.budget);
    g_assert_cmpuint(tide_budget_used_racy(&fixture->flow.budget), ==, first_bytes);
  }
}

/* A lane that has filled much keeps that for what comes next, until it is idle. */
static void
test_large_lane_keeps_its_memory(Fixture *fixture, gconstpointer data)
{
  TideCall call;
  g_autofree char *value = g_strnfill(20000, 'x');
  append(fixture, DATA, "a", value);
  flush(fixture);
  ASSERT_CALL(fixture, &call, "a ");
  complete_batch(fixture, &call);
  guint64 kept_bytes = tide_budget_used_racy(&fixture->flow.budget);
  append(fixture, DATA, "b", value);
  g_assert_cmpuint(tide_budget_used_racy(&fixture->flow.budget), ==, kept_bytes);
  flush(fixture);
  ASSERT_CALL(fixture, &call, "b ");
  complete_batch(fixture, &call);
  fixture->now_us += 6 * TIDE_US_PER_S;
  flush(fixture);
  g_assert_cmpuint(tide_budget_used_racy(&fixture->flow.budget) + 20000, <, kept_bytes);
}

/* Nothing comes for long, and a row has to wait all the while: its lane is not idle. */
static void
test_row_that_waits_is_kept(Fixture *fixture, gconstpointer data)
{
  TideCall call;
  append(fixture, LATEST, "a", "1");
  flush(fixture);
  ASSERT_CALL(fixture, &call, "a ");
  append(fixture, LATEST, "a", "2");
  for (guint i = 0; i < 3; i++) {
    fixture->now_us += 6 * TIDE_US_PER_S;
    flush(fixture);
  }
  complete_batch(fixture, &call);
  flush(fixture);
  ASSERT_CALL(fixture, &call, "a ");
  complete_batch(fixture, &call);
}

/* Rows that are written leave no memory taken that would keep others from being read: neither a few lanes that had many
 * rows, nor many lanes that had few. */
static void
test_what_is_written_leaves_memory(Fixture *fixture, gconstpointer data)
{
  TideBudget *share = &fixture->flow.table_budgets[SPREAD];
  g_autofree char *value = g_strnfill(GPOINTER_TO_UINT(data), 'x');
  tide_budget_set_limit(share, 150 * 1024); /* before a lane has enough for a call */
  for (guint i = 0; !tide_budget_is_spent_racy(share); i++) {
    g_autofree char *key = g_strdup_printf("%04u", i);
    append(fixture, SPREAD, key, value);
  }
  flush(fixture);
  for (TideCall call;;) {
    g_autofree char *keys G_GNUC_UNUSED = take_call(fixture, &call);
    if (call.n_batches == 0)
      break;
    complete_batch(fixture, &call);
  }
  for (guint look = 0; look < 2; look++) {
    fixture->now_us += 20 * TIDE_US_PER_MS;
    tide_accumulator_tick(fixture->accumulator, TIDE_PRESSURE_IDLE, 0, fixture->now_us);
  }
  g_assert_true(tide_budget_is_below_racy(share, TIDE_BUDGET_GO_ON_PERCENT));
}

/* Ticks at @at_ms from the beginning; what leaves is acknowledged. Returns its keys, and when the next tick is due. */
static char *
take_round(Fixture *fixture, gint64 at_ms, gint64 *ret_due_ms)
{
  gint64 begun_us = fixture->now_us;
  GString *keys = g_string_new(NULL);
  fixture->now_us += at_ms * TIDE_US_PER_MS;
  gint64 due_us = tide_accumulator_tick(fixture->accumulator, TIDE_PRESSURE_IDLE, 0, fixture->now_us);
  *ret_due_ms = (due_us - begun_us) / TIDE_US_PER_MS;
  for (;;) {
    TideCall call;
    g_autofree char *taken = take_call(fixture, &call);
    if (call.n_batches == 0)
      break;
    g_string_append(keys, taken);
    complete_batch(fixture, &call);
  }
  fixture->now_us = begun_us;
  return g_string_free(keys, FALSE);
}

#define ASSERT_ROUND(fixture, at_ms, keys, due_ms)                                                                     \
  do {                                                                                                                 \
    gint64 due_ms_;                                                                                                    \
    g_autofree char *taken_ = take_round(fixture, at_ms, &due_ms_);                                                    \
    g_assert_cmpstr(taken_, ==, keys);                                                                                 \
    g_assert_cmpint(due_ms_, <=, due_ms);                                                                              \
  } while (0)

/* Rows of all lanes and tables leave together: a call is begun for many of them, not for each as its time comes. */
static void
test_rows_leave_in_rounds(Fixture *fixture, gconstpointer data)
{
  append(fixture, LATEST, "a", "1");
  ASSERT_ROUND(fixture, 0, "a ", 1000); /* a quiet stream's at once */
  append(fixture, DATA, "b", "1");
  ASSERT_ROUND(fixture, 3, "", 5);
  ASSERT_ROUND(fixture, 5, "b ", 1000);
  append(fixture, LATEST, "c", "1");
  ASSERT_ROUND(fixture, 6, "", 10); /* its own window is over since 5 */
  append(fixture, DATA, "d", "1");
  ASSERT_ROUND(fixture, 9, "", 10);
  ASSERT_ROUND(fixture, 10, "c d ", 1000);
  append(fixture, DATA, "e", "1");
  append(fixture, LATEST, "f", "1");
  flush(fixture); /* waits for nothing */
  ASSERT_ROUND(fixture, 11, "f e ", 1000);
}

/* Sends so many latest rows, one after the other; each is acknowledged so long after it was sealed. */
static void
write_latest_rows(Fixture *fixture, guint n, gint64 took_ms, gboolean had_failed)
{
  for (guint i = 0; i < n; i++) {
    TideCall call;
    append(fixture, LATEST, "a", "1");
    flush(fixture);
    ASSERT_CALL(fixture, &call, "a ");
    call.batches[0]->delivery.attempts = had_failed ? 1 : 0;
    fixture->now_us += took_ms * TIDE_US_PER_MS;
    complete_batch(fixture, &call);
    tide_accumulator_tick(fixture->accumulator, TIDE_PRESSURE_IDLE, 0, fixture->now_us);
  }
}

/* Latest rows wait for others while writes take long; not where that is the fault of their region. */
static void
test_latest_rows_wait_while_writes_take_long(Fixture *fixture, gconstpointer data)
{
  write_latest_rows(fixture, 50, 100, TRUE);
  append(fixture, LATEST, "b", "1");
  ASSERT_ROUND(fixture, 0, "b ", 1000);
  write_latest_rows(fixture, 50, 100, FALSE);
  append(fixture, LATEST, "c", "1");
  ASSERT_ROUND(fixture, 60, "", 100);
  ASSERT_ROUND(fixture, 100, "c ", 1100);
  fixture->now_us += 100 * TIDE_US_PER_MS;
  write_latest_rows(fixture, 50, 100, FALSE);
  for (guint i = 0; i < 50; i++, fixture->now_us += 20 * TIDE_US_PER_MS)
    tide_accumulator_tick(fixture->accumulator, TIDE_PRESSURE_IDLE, 0, fixture->now_us); /* nothing is under way */
  write_latest_rows(fixture, 1, 1, FALSE);
  fixture->now_us += 10 * TIDE_US_PER_MS;
  append(fixture, LATEST, "d", "1");
  ASSERT_ROUND(fixture, 0, "d ", 1000);
}

#define ADD(path, func, data) g_test_add("/accumulator/" path, Fixture, GUINT_TO_POINTER(data), set_up, func, tear_down)

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  tide_log_init(TIDE_LOG_FORMAT_TEXT, TIDE_LOG_CRIT);
  g_unsetenv("STATE_DIRECTORY");
  ADD("latest-rows-wait-while-writes-take-long", test_latest_rows_wait_while_writes_take_long, 0);
  ADD("solo-rows-of-others-are-found", test_solo_rows_of_others_are_found, 0);
  ADD("oldest-open-row-is-told", test_oldest_open_row_is_told, 0);
  ADD("rows-leave-in-rounds", test_rows_leave_in_rounds, 0);
  ADD("cancelled/rows-of-a-lost-partition", test_rows_of_a_lost_partition_are_cancelled, 0);
  ADD("cancelled/batch-is-not-written-but-in-doubt", test_cancelled_batch_is_not_written_but_in_doubt, 0);
  ADD("contested/ends-with-a-later-value", test_contested_cell_ends_with_a_later_value, 0);
  ADD("contested/inherited-doubt", test_inherited_doubt_is_contested, 0);
  ADD("contested/doubt-outlives-the-batch-that-was-sealed-in-it", test_doubt_outlives_the_batch_that_was_sealed_in_it,
      0);
  ADD("contested/F14-is-charged-and-bounded", test_F14_contested_cells_are_charged_and_bounded, 0);
  ADD("contested/H1-wide-row", test_H1_wide_row_is_contested_as_one, 0);
  ADD("contested/H1-first-doubt", test_H1_first_doubt_of_a_row_counts, 0);
  ADD("contested/H1-expiry", test_H1_row_is_watched_until_its_doubt_is_over, 0);
  ADD("small-memory-makes-small-batches", test_small_memory_makes_small_batches, 0);
  ADD("lanes-in-turn-share-memory", test_lanes_in_turn_share_memory, 0);
  ADD("large-lane-keeps-its-memory", test_large_lane_keeps_its_memory, 0);
  ADD("memory/of-a-row-that-waits-is-kept", test_row_that_waits_is_kept, 0);
  ADD("memory/of-large-lanes-is-there-again", test_what_is_written_leaves_memory, 9000);
  ADD("memory/of-small-lanes-is-there-again", test_what_is_written_leaves_memory, 100);
  ADD("refused-row-is-no-later-value", test_refused_row_is_no_later_value, 0);
  return g_test_run();
}
