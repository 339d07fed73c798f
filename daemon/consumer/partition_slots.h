/* The slot numbers of a consumer's partitions. A slot has 16 bits in all that is in flight, and a consumer may have had
 * more partitions than that in the end: topics come and go. Each partition has a slot of its own while there are any;
 * then slots of partitions that were given away are used again.
 *
 * Threads: the owning consumer's only. */
#pragma once

#include "consumer/partition.h"

G_BEGIN_DECLS

/* Below G_MAXUINT16, which stands for none. */
#define TIDE_PARTITION_SLOTS_MAX 65535u

/* The partition in place @slot, which there is. */
static inline TidePartition *
tide_partition_slots_at(const GPtrArray *partitions, guint16 slot)
{
  return g_ptr_array_index(partitions, slot);
}

/* A row of @ref's message was written; nothing when its partition is no longer ours. */
void tide_partition_slots_ack(const GPtrArray *partitions, TideSourceRef ref);

/* As tide_partition_name_message(), of an unfinished message; NULL: its assignment is over. (transfer full) */
char *tide_partition_slots_name_message(const GPtrArray *partitions, TideSourceRef ref);

/**
 * tide_partition_slots_find: the partition in its place, or a place for it.
 * @partitions: (element-type TidePartition), by slot; NULL where @ret_slot is the next
 * @source: (nullable): the name of @topic's source, kept by reference
 * @max_slots: TIDE_PARTITION_SLOTS_MAX, but for tests
 * @ret_slot: (out): of what is returned, or for a new one that is to be appended; G_MAXUINT16 when all are assigned
 * Returns: (nullable): the partition itself, or one that is not assigned any more and was given the name.
 */
TidePartition *tide_partition_slots_find(GPtrArray *partitions, const char *topic, gint32 number, const char *source,
                                         guint max_slots, guint16 *ret_slot);

G_END_DECLS
