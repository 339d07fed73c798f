/* Messages of refused rows wait in their order, share what their row has in common, and are charged while they wait. */
#include "flow/refusals.h"

#define N_MESSAGES 5000u

static TideRefusal *
make_refusal(TideBudget *budget, const char *key)
{
  g_autoptr(TideRefusedRow) row = tide_refused_row_new(budget, TIDE_BYTES_LITERAL("wire"));
  TideRefusal *refusal = g_rc_box_new0(TideRefusal);
  refusal->row = tide_refused_row_ref(row);
  refusal->table = g_strdup("CURRENT_METRIC");
  refusal->text = g_strdup("too large");
  refusal->row_key = tide_bytes(g_strdup(key), strlen(key));
  return refusal;
}

static void
add(TideRefusals *refusals, TideRefusal *refusal, guint32 first, guint32 n)
{
  for (guint32 i = 0; i < n; i++)
    tide_refusals_add(refusals, refusal, (TideSourceRef){.sequence = first + i}, 2);
}

static void
test_come_in_their_order(void)
{
  TideBudget budget;
  tide_budget_init(&budget, 1 << 20);
  TideRefusals refusals;
  tide_refusals_init(&refusals, &budget);
  TideRefusedMessage message;
  g_assert_false(tide_refusals_take(&refusals, &message));

  TideRefusal *one = make_refusal(&budget, "host1"), *other = make_refusal(&budget, "host2");
  guint64 rows_bytes = tide_budget_used_racy(&budget);
  add(&refusals, one, 0, N_MESSAGES / 2);
  add(&refusals, other, N_MESSAGES / 2, N_MESSAGES / 2);
  tide_refusal_unref(one);
  tide_refusal_unref(other);
  g_assert_cmpuint(tide_budget_used_racy(&budget) - rows_bytes, ==, N_MESSAGES * sizeof message);

  for (guint32 i = 0; i < N_MESSAGES - 3; i++) {
    g_assert_true(tide_refusals_take(&refusals, &message));
    g_assert_cmpuint(message.ref.sequence, ==, i);
    g_assert_cmpuint(message.n_parts, ==, 2);
    const char *key = i < N_MESSAGES / 2 ? "host1" : "host2";
    g_assert_true(tide_bytes_equal(message.refusal->row_key, tide_bytes_of_string(key)));
    tide_refusal_unref(message.refusal);
  }
  tide_refusals_clear(&refusals); /* with three that wait */
  g_assert_cmpuint(tide_budget_used_racy(&budget), ==, 0);
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/refusals/come-in-their-order", test_come_in_their_order);
  return g_test_run();
}
