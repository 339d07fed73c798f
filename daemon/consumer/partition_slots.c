#include "consumer/partition_slots.h"

static TidePartition *
find_by_name(const GPtrArray *partitions, const char *topic, gint32 number)
{
  for (guint i = 0; i < partitions->len; i++) {
    TidePartition *candidate = g_ptr_array_index(partitions, i);
    if (candidate->partition == number && strcmp(candidate->topic, topic) == 0)
      return candidate;
  }
  return NULL;
}

static TidePartition *
find_unassigned(const GPtrArray *partitions)
{
  for (guint i = 0; i < partitions->len; i++) {
    TidePartition *candidate = g_ptr_array_index(partitions, i);
    if (!candidate->assigned)
      return candidate;
  }
  return NULL;
}

TidePartition *
tide_partition_slots_find(GPtrArray *partitions, const char *topic, gint32 number, const char *source, guint max_slots,
                          guint16 *ret_slot)
{
  TidePartition *found = find_by_name(partitions, topic, number);
  if (found == NULL && partitions->len < max_slots) {
    *ret_slot = (guint16)partitions->len;
    return NULL;
  }
  if (found == NULL && (found = find_unassigned(partitions)) != NULL)
    tide_partition_rename(found, topic, number, source);
  *ret_slot = found != NULL ? found->slot : G_MAXUINT16;
  return found;
}

void
tide_partition_slots_ack(const GPtrArray *partitions, TideSourceRef ref)
{
  TidePartition *partition = tide_partition_slots_at(partitions, ref.slot);
  if (tide_partition_owns(partition, ref))
    tide_partition_ack(partition, ref, 1);
}

char *
tide_partition_slots_name_message(const GPtrArray *partitions, TideSourceRef ref)
{
  const TidePartition *partition = tide_partition_slots_at(partitions, ref.slot);
  return tide_partition_owns(partition, ref)
             ? tide_partition_name_message(partition, tide_offsets_offset_of(&partition->offsets, ref.sequence))
             : NULL;
}
