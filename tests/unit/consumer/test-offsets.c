/* The contiguous mark, held against a model that keeps every message in a plain list. */
#include "consumer/offsets.h"

#include "unit/consumer/partition_rig.h"

#define TIMESTAMP_MS G_GINT64_CONSTANT(1426535612045)

typedef struct ModelMessage {
  gint64 offset;
  guint32 sequence;
  guint32 remaining;
} ModelMessage;

static guint32
begin(TideOffsets *offsets, gint64 offset, guint32 n_rows, guint32 n_readings)
{
  return tide_offsets_begin(offsets, &(TideTrackedMessage){offset, n_rows, n_readings, TIMESTAMP_MS});
}

static void
test_gaps_do_not_stop_the_mark(void)
{
  TideOffsets offsets;
  tide_offsets_init(&offsets);
  guint32 first = begin(&offsets, 10, 1, 1);
  guint32 second = begin(&offsets, 500, 1, 1); /* 11..499 are transaction markers or compacted away */
  g_assert_cmpint(offsets.mark, ==, -1);
  g_assert_nonnull(tide_offsets_ack(&offsets, second, 1));
  g_assert_cmpint(offsets.mark, ==, -1);
  g_assert_nonnull(tide_offsets_ack(&offsets, first, 1));
  g_assert_cmpint(offsets.mark, ==, 501);
  tide_offsets_clear(&offsets);
}

/* K9: the age of what is finished and not committed is told by the first of it, whatever finishes later. */
static void
test_first_finished_message_tells_the_age(void)
{
  TideOffsets offsets;
  tide_offsets_init(&offsets);
  guint32 first = tide_offsets_begin(&offsets, &(TideTrackedMessage){1, 1, 1, 1000});
  guint32 second = tide_offsets_begin(&offsets, &(TideTrackedMessage){2, 1, 1, 900});
  tide_offsets_ack(&offsets, second, 1);
  g_assert_cmpint(offsets.finished_ms, ==, -1); /* the mark has not moved */
  tide_offsets_ack(&offsets, first, 1);
  g_assert_cmpint(offsets.finished_ms, ==, 1000);
  offsets.finished_ms = -1;
  tide_offsets_begin(&offsets, &(TideTrackedMessage){3, 0, 0, 3000});
  g_assert_cmpint(offsets.finished_ms, ==, 3000);
  tide_offsets_clear(&offsets);
}

static void
test_message_without_rows_is_finished_at_once(void)
{
  TideOffsets offsets;
  tide_offsets_init(&offsets);
  begin(&offsets, 7, 0, 0);
  g_assert_cmpint(offsets.mark, ==, 8);
  guint32 open = begin(&offsets, 8, 2, 3);
  begin(&offsets, 9, 0, 0);
  g_assert_cmpint(offsets.mark, ==, 8);
  g_assert_null(tide_offsets_ack(&offsets, open, 1));
  const TideTrackedMessage *finished = tide_offsets_ack(&offsets, open, 1);
  g_assert_cmpuint(finished->n_readings, ==, 3);
  g_assert_cmpint(finished->timestamp_ms, ==, TIMESTAMP_MS);
  g_assert_cmpint(offsets.mark, ==, 10);
  tide_offsets_clear(&offsets);
}

/* Sequences wrap within. */
static void
check_trimmed_ring(guint32 n_left, gsize smaller)
{
  TideOffsets offsets;
  tide_offsets_init(&offsets);
  offsets.head = offsets.tail = G_MAXUINT32 - 2990;
  guint32 first = offsets.head;
  for (guint32 i = 0; i < 3000; i++)
    begin(&offsets, i, 1, 1);
  gsize grown_bytes = tide_offsets_memory_bytes(&offsets);
  for (guint32 i = 1; i < 3000 - n_left; i++)
    tide_offsets_ack(&offsets, first + i, 1);
  tide_offsets_trim(&offsets);
  g_assert_cmpuint(tide_offsets_memory_bytes(&offsets), ==, grown_bytes); /* the first is not finished yet */
  tide_offsets_ack(&offsets, first, 1);
  tide_offsets_trim(&offsets);
  g_assert_cmpuint(tide_offsets_memory_bytes(&offsets), <=, grown_bytes / smaller);
  g_assert_cmpint(offsets.mark, ==, 3000 - n_left);
  for (guint32 i = 2999; i >= 3000 - n_left; i--)
    g_assert_cmpint(tide_offsets_ack(&offsets, first + i, 1)->offset, ==, i);
  g_assert_cmpint(offsets.mark, ==, 3000);
  tide_offsets_trim(&offsets);
  g_assert_cmpint(tide_offsets_newest(&offsets)->offset, ==, 2999);
  tide_offsets_clear(&offsets);
  tide_offsets_trim(&offsets);
  g_assert_cmpuint(tide_offsets_memory_bytes(&offsets), ==, 0);
}

static void
test_trimmed_ring_keeps_what_is_unfinished_and_the_newest(void)
{
  check_trimmed_ring(20, 16);
  check_trimmed_ring(500, 4);
}

/* The greatest mark that passes no unfinished message of the model. */
static gint64
model_mark(const GArray *messages)
{
  gint64 mark = -1;
  for (guint i = 0; i < messages->len; i++) {
    const ModelMessage *message = &g_array_index(messages, ModelMessage, i);
    if (message->remaining > 0)
      break;
    mark = message->offset + 1;
  }
  return mark;
}

static void
test_any_order_of_acks_keeps_the_mark_below_the_unfinished(void)
{
  for (guint seed = 0; seed < 200; seed++) {
    g_autoptr(GRand) random = g_rand_new_with_seed(seed);
    g_autoptr(GArray) messages = g_array_new(FALSE, FALSE, sizeof(ModelMessage));
    TideOffsets offsets;
    tide_offsets_init(&offsets);
    offsets.head = offsets.tail = G_MAXUINT32 - 50; /* sequences wrap on the way */
    gint64 next_offset = 0;
    guint32 unfinished = 0;
    for (guint step = 0; step < 3000; step++) {
      if (g_rand_int_range(random, 0, 10) < 3) {
        ModelMessage message = {.offset = next_offset, .remaining = (guint32)g_rand_int_range(random, 0, 4)};
        next_offset += g_rand_int_range(random, 1, 4);
        message.sequence = begin(&offsets, message.offset, message.remaining, 1);
        unfinished += message.remaining > 0 ? 1 : 0;
        g_array_append_val(messages, message);
      } else if (messages->len > 0) {
        guint from = messages->len > 40 ? messages->len - 40 : 0;
        ModelMessage *message =
            &g_array_index(messages, ModelMessage, g_rand_int_range(random, (gint32)from, (gint32)messages->len));
        if (message->remaining == 0)
          continue;
        gboolean finished = tide_offsets_ack(&offsets, message->sequence, 1) != NULL;
        message->remaining--;
        g_assert_cmpint(finished, ==, message->remaining == 0);
        unfinished -= finished ? 1 : 0;
      }
      g_assert_cmpint(offsets.mark, ==, model_mark(messages));
      g_assert_cmpuint(offsets.unfinished, ==, unfinished);
    }
    tide_offsets_clear(&offsets);
  }
}

/* A stop waits for all acknowledgements, and for nothing more when they have come. */
static void
test_what_is_owed_is_waited_for(void)
{
  TideOffsets offsets;
  tide_offsets_init(&offsets);
  guint32 message = begin(&offsets, 10, 3, 1);
  g_assert_cmpuint(offsets.awaited_acks, ==, 3);
  g_assert_null(tide_offsets_ack(&offsets, message, 2));
  g_assert_cmpuint(offsets.awaited_acks, ==, 1);
  g_assert_nonnull(tide_offsets_ack(&offsets, message, 1));
  g_assert_cmpuint(offsets.awaited_acks, ==, 0);
  g_assert_cmpint(offsets.mark, ==, 11);
  tide_offsets_clear(&offsets);
}

static void
test_acknowledgement_of_an_earlier_assignment_is_not_ours(void)
{
  PartitionRig rig = {0};
  partition_rig_set_up(&rig);
  TidePartition *partition = partition_rig_new_partition(&rig, "t", 0, 0);
  tide_partition_assign(partition);
  TideSourceRef before =
      tide_partition_begin(partition, &rig.budget, 100, &(TideMapped){.n_rows = 1, .n_readings = 1}, FALSE);
  g_assert_true(tide_partition_owns(partition, before));
  tide_partition_release(partition, &rig.budget);
  g_assert_false(tide_partition_owns(partition, before));
  tide_partition_assign(partition);
  TideSourceRef after =
      tide_partition_begin(partition, &rig.budget, 100, &(TideMapped){.n_rows = 1, .n_readings = 1}, FALSE);
  g_assert_false(tide_partition_owns(partition, before));
  g_assert_true(tide_partition_owns(partition, after));
  g_assert_cmpint(partition->offsets.mark, ==, -1);
  tide_partition_ack(partition, after, 1);
  g_assert_cmpint(partition->offsets.mark, ==, 101);
  /* The accounting: received = written + handed back + in flight. */
  g_assert_cmpuint(tide_counter_value(partition->counters.messages_received), ==, 2);
  g_assert_cmpuint(tide_counter_value(partition->counters.messages_written), ==, 1);
  g_assert_cmpuint(tide_counter_value(partition->counters.messages_handed_back), ==, 1);
  tide_partition_free(partition, &rig.budget);
  partition_rig_tear_down(&rig);
}

/* Each message ends in one way, each reading too. */
static void
test_accounting_balances_where_readings_make_no_rows(void)
{
  static const TideMapped mapped[] = {
      {.n_rows = 2, .n_readings = 4, .n_unmatched_readings = 2, .n_expired_readings = 1},
      {.n_readings = 3, .n_unmatched_readings = 3},
      {.n_readings = 2, .n_unmatched_readings = 1, .n_expired_readings = 1},
      {.n_readings = 0},
      {.n_rows = 1}, /* a tombstone */
  };
  PartitionRig rig = {0};
  partition_rig_set_up(&rig);
  TidePartition *partition = partition_rig_new_partition(&rig, "t", 0, 0);
  tide_partition_assign(partition);
  for (gint64 i = 0; i < (gint64)G_N_ELEMENTS(mapped); i++) {
    TideSourceRef ref = tide_partition_begin(partition, &rig.budget, i, &mapped[i], FALSE);
    for (guint32 row = 0; row < mapped[i].n_rows; row++)
      tide_partition_ack(partition, ref, 1);
  }
  g_assert_cmpuint(tide_counter_value(partition->counters.messages_received), ==, 5);
  g_assert_cmpuint(tide_counter_value(partition->counters.messages_written), ==, 3);
  g_assert_cmpuint(tide_counter_value(partition->counters.messages_unmatched), ==, 1);
  g_assert_cmpuint(tide_counter_value(partition->counters.messages_expired), ==, 1);
  g_assert_cmpuint(tide_counter_value(partition->counters.readings_received), ==, 9);
  g_assert_cmpuint(tide_counter_value(partition->counters.readings_written), ==, 1);
  g_assert_cmpuint(tide_counter_value(partition->counters.readings_unmatched), ==, 6);
  g_assert_cmpuint(tide_counter_value(partition->counters.readings_expired), ==, 2);
  g_assert_cmpint(partition->offsets.mark, ==, 5);
  tide_partition_free(partition, &rig.budget);
  partition_rig_tear_down(&rig);
}

/* A message of three readings and two rows, of which one was rejected by itself; then one that is rejected whole. */
static void
test_accounting_balances_where_dead_letters_are_kept(void)
{
  const TideReject reject = {.reason = TIDE_REJECT_TIME_INVALID, .reading_index = 1};
  const TideMapped mapped = {.n_rows = 2, .n_readings = 3, .rejects = &reject, .n_rejects = 1};
  PartitionRig rig = {0};
  partition_rig_set_up(&rig);
  TidePartition *partition = partition_rig_new_partition(&rig, "t", 0, 0);
  tide_partition_assign(partition);
  TideSourceRef part = tide_partition_begin(partition, &rig.budget, 0, &mapped, FALSE);
  TideSourceRef whole =
      tide_partition_begin_rejected(partition, &rig.budget, &(TideMessage){.offset = 1}, TIDE_REJECT_PARSE);
  TideSourceRef back = tide_partition_begin(partition, &rig.budget, 2, &mapped, FALSE);
  tide_partition_ack(partition, whole, 1);
  tide_partition_ack(partition, part, 2);
  g_assert_cmpint(partition->offsets.mark, ==, -1); /* the dead letter is not kept yet */
  g_assert_cmpint(tide_gauge_value(partition->counters.readings_in_flight), ==, 6);
  tide_partition_ack(partition, part, 1);
  g_assert_cmpint(partition->offsets.mark, ==, 2);
  g_assert_cmpint(tide_offsets_offset_of(&partition->offsets, back.sequence), ==, 2);
  tide_partition_release(partition, &rig.budget);

  static const char messages[] = "tidemark_messages_dead_lettered_total";
  g_assert_cmpuint(tide_metrics_sum(rig.metrics, messages, "topic=\"t\",partition=\"0\",reason=\"parse\""), ==, 1);
  g_assert_cmpuint(tide_metrics_sum(rig.metrics, messages, "reason=\"time_invalid\""), ==, 1);
  g_assert_cmpuint(tide_metrics_sum(rig.metrics, messages, NULL), ==, 2);
  g_assert_cmpuint(tide_counter_value(partition->counters.messages_written), ==, 0);
  g_assert_cmpuint(tide_counter_value(partition->counters.messages_handed_back), ==, 1);
  g_assert_cmpuint(tide_counter_value(partition->counters.readings_received), ==, 6);
  g_assert_cmpuint(tide_counter_value(partition->counters.readings_written), ==, 2);
  g_assert_cmpuint(tide_counter_value(partition->counters.readings_dead_lettered), ==, 1);
  g_assert_cmpuint(tide_counter_value(partition->counters.readings_handed_back), ==, 3);
  g_assert_cmpint(tide_gauge_value(partition->counters.readings_in_flight), ==, 0);
  tide_partition_free(partition, &rig.budget);
  partition_rig_tear_down(&rig);
}

/* on_bad_message: skip, on_bad_reading: reading. */
static void
test_accounting_balances_where_readings_are_skipped(void)
{
  const TideReject rejects[] = {{.reason = TIDE_REJECT_TYPE}, {.reason = TIDE_REJECT_NUMBER, .reading_index = 1}};
  PartitionRig rig = {0};
  partition_rig_set_up(&rig);
  TidePartition *partition = partition_rig_new_partition(&rig, "t", 0, 0);
  tide_partition_assign(partition);
  const TideMapped all = {.n_readings = 2, .rejects = rejects, .n_rejects = 2};
  const TideMapped some = {.n_rows = 1, .n_readings = 3, .rejects = rejects, .n_rejects = 2};
  tide_partition_begin(partition, &rig.budget, 0, &all, TRUE);
  TideSourceRef ref = tide_partition_begin(partition, &rig.budget, 1, &some, TRUE);
  g_assert_cmpint(partition->offsets.mark, ==, 1);
  tide_partition_ack(partition, ref, 1);
  g_assert_cmpint(partition->offsets.mark, ==, 2);
  g_assert_cmpuint(tide_metrics_sum(rig.metrics, "tidemark_messages_skipped_total", "reason=\"type\""), ==, 1);
  g_assert_cmpuint(tide_counter_value(partition->counters.messages_written), ==, 1);
  g_assert_cmpuint(tide_counter_value(partition->counters.readings_received), ==, 5);
  g_assert_cmpuint(tide_counter_value(partition->counters.readings_skipped), ==, 4);
  g_assert_cmpuint(tide_counter_value(partition->counters.readings_written), ==, 1);
  g_assert_cmpuint(tide_metrics_sum(rig.metrics, "tidemark_messages_dead_lettered_total", NULL), ==, 0);
  tide_partition_free(partition, &rig.budget);
  partition_rig_tear_down(&rig);
}

static void
assert_in_bucket(TideMetrics *metrics, const char *bound, guint n)
{
  g_autofree char *text = tide_metrics_render(metrics);
  g_autofree char *line = g_strdup_printf("\ntidemark_write_latency_seconds_bucket{le=\"%s\"} %u\n", bound, n);
  g_assert_nonnull(strstr(text, line));
}

/* Of messages that were written, from the record's time to when the last row completed. */
static void
test_latency_of_written_messages(void)
{
  PartitionRig rig = {0};
  partition_rig_set_up(&rig);
  TidePartition *partition = partition_rig_new_partition(&rig, "t", 0, 0);
  tide_partition_assign(partition);
  const TideMapped mapped = {.n_rows = 2, .n_readings = 1, .timestamp_ms = TIMESTAMP_MS};
  TideSourceRef ref = tide_partition_begin(partition, &rig.budget, 0, &mapped, FALSE);
  rig.latency.now_epoch_ms = TIMESTAMP_MS + 3;
  tide_partition_ack(partition, ref, 1);
  g_assert_cmpuint(tide_metrics_sum(rig.metrics, "tidemark_write_latency_seconds", NULL), ==, 0);
  rig.latency.now_epoch_ms = TIMESTAMP_MS + 25;
  tide_partition_ack(partition, ref, 1);
  assert_in_bucket(rig.metrics, "0.02", 0);
  assert_in_bucket(rig.metrics, "0.025", 1);

  /* A producer whose clock is ahead took no time, and what has no time is not noted. */
  const TideMapped ahead = {.n_rows = 1, .timestamp_ms = TIMESTAMP_MS + 1000};
  tide_partition_ack(partition, tide_partition_begin(partition, &rig.budget, 1, &ahead, FALSE), 1);
  assert_in_bucket(rig.metrics, "0.001", 1);
  const TideMapped timeless = {.n_rows = 1, .timestamp_ms = -1};
  tide_partition_ack(partition, tide_partition_begin(partition, &rig.budget, 2, &timeless, FALSE), 1);
  /* Nor is what became a dead letter. */
  const TideMessage rejected = {.offset = 3, .timestamp_ms = TIMESTAMP_MS};
  tide_partition_ack(partition, tide_partition_begin_rejected(partition, &rig.budget, &rejected, TIDE_REJECT_PARSE), 1);
  g_assert_cmpuint(tide_metrics_sum(rig.metrics, "tidemark_write_latency_seconds", NULL), ==, 2);
  tide_partition_free(partition, &rig.budget);
  partition_rig_tear_down(&rig);
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/offsets/what-is-owed-is-waited-for", test_what_is_owed_is_waited_for);
  g_test_add_func("/offsets/trimmed-ring-keeps-what-is-unfinished-and-the-newest",
                  test_trimmed_ring_keeps_what_is_unfinished_and_the_newest);
  g_test_add_func("/offsets/K9-first-finished-message-tells-the-age", test_first_finished_message_tells_the_age);
  g_test_add_func("/offsets/gaps-do-not-stop-the-mark", test_gaps_do_not_stop_the_mark);
  g_test_add_func("/offsets/message-without-rows-is-finished-at-once", test_message_without_rows_is_finished_at_once);
  g_test_add_func("/offsets/any-order-of-acks-keeps-the-mark-below-the-unfinished",
                  test_any_order_of_acks_keeps_the_mark_below_the_unfinished);
  g_test_add_func("/offsets/acknowledgement-of-an-earlier-assignment-is-not-ours",
                  test_acknowledgement_of_an_earlier_assignment_is_not_ours);
  g_test_add_func("/offsets/accounting-balances-where-readings-make-no-rows",
                  test_accounting_balances_where_readings_make_no_rows);
  g_test_add_func("/offsets/accounting-balances-where-dead-letters-are-kept",
                  test_accounting_balances_where_dead_letters_are_kept);
  g_test_add_func("/offsets/accounting-balances-where-readings-are-skipped",
                  test_accounting_balances_where_readings_are_skipped);
  g_test_add_func("/offsets/latency-of-written-messages", test_latency_of_written_messages);
  return g_test_run();
}
