/* The counters and the budget that partitions need in a test. */
#pragma once

#include "consumer/partition.h"

typedef struct PartitionRig {
  TideMetrics *metrics;
  TideWriteLatency latency;
  TideAssignments assignments;
  TideBudget budget;
} PartitionRig;

static inline void
partition_rig_set_up(PartitionRig *rig)
{
  rig->metrics = tide_metrics_new();
  tide_write_latency_init(&rig->latency, rig->metrics);
  tide_assignments_init(&rig->assignments);
  tide_budget_init(&rig->budget, 1 << 20);
}

/* Call it once its partitions are freed: checks that they returned all their budget. */
static inline void
partition_rig_tear_down(PartitionRig *rig)
{
  g_assert_cmpuint(tide_budget_used_racy(&rig->budget), ==, 0);
  tide_metrics_free(rig->metrics);
  tide_assignments_clear(&rig->assignments);
}

static inline TidePartition *
partition_rig_new_partition(PartitionRig *rig, const char *topic, gint32 number, guint32 slot)
{
  return tide_partition_new(topic, number, NULL, slot, &rig->assignments, rig->metrics, &rig->latency);
}
