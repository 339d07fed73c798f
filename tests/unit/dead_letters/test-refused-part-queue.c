/* Parts of refused rows wait in the order of their messages, those of one message together, and are charged meanwhile.
 */
#include "dead_letters/refused_part_queue.h"

#define N_MESSAGES 5000u
#define PARTS_BYTES (N_MESSAGES * 2 * sizeof(TideRefusedPart))

static TideRefusedRow *
make_row(TideBudget *budget, const char *key)
{
  return tide_refused_row_new(&(TideRefusedRow){.budget = budget, .key = tide_bytes_of_string(key)});
}

static void
add_part(GArray *parts, TideRefusedRow *row, guint32 sequence, guint32 reading_index)
{
  TideRefusedPart part = {
      .row = tide_refused_row_ref(row), .ref = {.sequence = sequence}, .reading_index = reading_index, .n_acks = 2};
  g_array_append_val(parts, part);
}

/* Two rows, of which each message has a part; its later reading's stands first. */
static void
test_come_by_message(void)
{
  TideBudget budget;
  tide_budget_init(&budget, 1 << 20);
  TideRefusedPartQueue refused_parts;
  tide_refused_part_queue_init(&refused_parts, &budget);
  g_assert_null(tide_refused_part_queue_take_message(&refused_parts));
  TideRefusedRow *rows[] = {make_row(&budget, "host1"), make_row(&budget, "host2")};
  guint64 rows_bytes = tide_budget_used_racy(&budget);
  GArray *parts = tide_refused_parts_new();
  for (guint r = 0; r < G_N_ELEMENTS(rows); r++) {
    for (guint32 i = 0; i < N_MESSAGES; i++)
      add_part(parts, rows[r], i - 10, 1 - r); /* sequences wrap */
    tide_refused_row_unref(rows[r]);
  }
  tide_refused_part_queue_add(&refused_parts, parts);
  g_assert_cmpuint(tide_budget_used_racy(&budget) - rows_bytes, ==, PARTS_BYTES);
  for (guint32 i = 0; i < N_MESSAGES - 3; i++) {
    g_autoptr(GArray) taken = tide_refused_part_queue_take_message(&refused_parts);
    g_assert_cmpuint(taken->len, ==, 2);
    for (guint at = 0; at < 2; at++) {
      const TideRefusedPart *part = &g_array_index(taken, TideRefusedPart, at);
      g_assert_cmpuint(part->ref.sequence, ==, i - 10);
      g_assert_cmpuint(part->reading_index, ==, at);
      g_assert_true(tide_bytes_equal(part->row->key, tide_bytes_of_string(at == 0 ? "host2" : "host1")));
    }
  }
  tide_refused_part_queue_clear(&refused_parts); /* with three that wait */
  g_assert_cmpuint(tide_budget_used_racy(&budget), ==, 0);
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/refused-part-queue/come-by-message", test_come_by_message);
  return g_test_run();
}
