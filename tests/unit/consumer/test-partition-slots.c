/* Which place a partition gets, when there are more partitions in a consumer's life than places. */
#include "consumer/partition_slots.h"

#include "unit/consumer/partition_rig.h"

#define MAX_SLOTS 3u

typedef struct Fixture {
  PartitionRig rig;
  GPtrArray *partitions;
} Fixture;

static void
set_up(Fixture *fixture, gconstpointer data)
{
  partition_rig_set_up(&fixture->rig);
  fixture->partitions = g_ptr_array_new();
}

static void
tear_down(Fixture *fixture, gconstpointer data)
{
  for (guint i = 0; i < fixture->partitions->len; i++)
    tide_partition_free(g_ptr_array_index(fixture->partitions, i), &fixture->rig.budget);
  g_ptr_array_unref(fixture->partitions);
  partition_rig_tear_down(&fixture->rig);
}

/* As a consumer does; NULL: no place. */
static TidePartition *
assign(Fixture *fixture, const char *topic, gint32 number)
{
  guint16 slot;
  TidePartition *partition = tide_partition_slots_find(fixture->partitions, topic, number, NULL, MAX_SLOTS, &slot);
  if (slot == G_MAXUINT16)
    return NULL;
  if (partition == NULL) {
    partition = partition_rig_new_partition(&fixture->rig, topic, number, slot);
    g_ptr_array_add(fixture->partitions, partition);
  }
  g_assert_cmpuint(partition->slot, ==, slot);
  g_assert_true(g_ptr_array_index(fixture->partitions, slot) == partition);
  tide_partition_assign(partition);
  return partition;
}

static TideSourceRef
begin(Fixture *fixture, TidePartition *partition, gint64 offset)
{
  TideMapped mapped = {.n_rows = 1, .n_readings = 1};
  return tide_partition_begin(partition, &fixture->rig.budget, offset, &mapped, FALSE);
}

static void
test_places_are_used_again(Fixture *fixture, gconstpointer data)
{
  for (gint32 i = 0; i < (gint32)MAX_SLOTS; i++)
    g_assert_cmpint(assign(fixture, "a", i)->slot, ==, i);
  g_assert_null(assign(fixture, "b", 0)); /* all are assigned */
  TidePartition *old = g_ptr_array_index(fixture->partitions, 1);
  TideSourceRef on_its_way = begin(fixture, old, 7);
  tide_partition_release(old, &fixture->rig.budget);
  TidePartition *reused = assign(fixture, "b", 0);
  g_assert_cmpuint(reused->slot, ==, 1);
  g_assert_false(tide_partition_owns(reused, on_its_way)); /* the old one's row completes late */
  g_assert_cmpint(reused->offsets.mark, ==, -1);
  TideSourceRef own = begin(fixture, reused, 3);
  g_assert_true(tide_partition_owns(reused, own));
  tide_partition_slots_ack(fixture->partitions, on_its_way);
  g_assert_cmpuint(reused->offsets.unfinished, ==, 1);
  tide_partition_slots_ack(fixture->partitions, own);
  g_assert_cmpint(reused->offsets.mark, ==, 4);
  const char *b = "topic=\"b\"", *a = "topic=\"a\",partition=\"1\"";
  g_assert_cmpuint(tide_metrics_sum(fixture->rig.metrics, "tidemark_messages_written_total", b), ==, 1);
  g_assert_cmpuint(tide_metrics_sum(fixture->rig.metrics, "tidemark_messages_received_total", a), ==, 1);
  g_assert_cmpuint(tide_metrics_sum(fixture->rig.metrics, "tidemark_messages_handed_back_total", a), ==, 1);
}

/* One that comes back finds its own, also beside free places. */
static void
test_partition_keeps_its_place(Fixture *fixture, gconstpointer data)
{
  TidePartition *first = assign(fixture, "a", 0);
  tide_partition_release(assign(fixture, "a", 1), &fixture->rig.budget);
  g_assert_cmpuint(assign(fixture, "a", 2)->slot, ==, 2); /* not in the place of a:1, while there are others */
  tide_partition_release(first, &fixture->rig.budget);
  g_assert_true(assign(fixture, "a", 0) == first);
  g_assert_cmpuint(assign(fixture, "a", 1)->slot, ==, 1);
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add("/partition-slots/places-are-used-again", Fixture, NULL, set_up, test_places_are_used_again, tear_down);
  g_test_add("/partition-slots/partition-keeps-its-place", Fixture, NULL, set_up, test_partition_keeps_its_place,
             tear_down);
  return g_test_run();
}
