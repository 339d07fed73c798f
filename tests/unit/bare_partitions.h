/* The partitions of a consumer without the consumer: of topic "t", numbered as their places, all assigned. */
#pragma once

#include "consumer/partition.h"

typedef struct BarePartitions {
  GPtrArray *list; /* owned (element-type TidePartition) */
  TideAssignments assignments;
  TideWriteLatency latency;
} BarePartitions;

static inline void
bare_partitions_set_up(BarePartitions *partitions, guint n, TideMetrics *metrics)
{
  partitions->list = g_ptr_array_new();
  tide_assignments_init(&partitions->assignments);
  tide_write_latency_init(&partitions->latency, metrics);
  for (guint slot = 0; slot < n; slot++) {
    TidePartition *partition =
        tide_partition_new("t", (gint32)slot, NULL, slot, &partitions->assignments, metrics, &partitions->latency);
    g_ptr_array_add(partitions->list, partition);
    tide_partition_assign(partition);
    partition->location.is_located = TRUE;
  }
}

static inline void
bare_partitions_tear_down(BarePartitions *partitions, TideBudget *budget)
{
  for (guint i = 0; i < partitions->list->len; i++)
    tide_partition_free(g_ptr_array_index(partitions->list, i), budget);
  g_ptr_array_unref(partitions->list);
  tide_assignments_clear(&partitions->assignments);
}
