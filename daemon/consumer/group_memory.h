/* What this daemon remembers of its group beyond an assignment: what it committed last of partitions that it has given
 * up, which only this process knows; and which groups it has started in, which a file of the state directory keeps.
 *
 * Without a state directory a group whose offsets have all expired looks like a new one.
 *
 * Threads: any. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct TideGroupMemory TideGroupMemory;

/* @group: borrowed. Reads the file. */
TideGroupMemory *tide_group_memory_new(const char *group);
void tide_group_memory_free(TideGroupMemory *memory); /* NULL ok */

typedef struct TideOwnCommit {
  gint64 offset;         /* -1: none is known */
  gint64 reached_offset; /* what this process had finished: its commit may have taken effect without an answer */
  gint64 given_up_us;
} TideOwnCommit;

/* The partition is no longer ours. @own: what is known of it. NULL @memory: nothing is kept */
void tide_group_memory_give_up(TideGroupMemory *memory, const char *topic, gint32 partition, TideOwnCommit own);
TideOwnCommit tide_group_memory_find(TideGroupMemory *memory, const char *topic, gint32 partition);

/* Whether the group had been started on the cluster before this process began: the partitions of one that starts now
 * are located one after the other, and all are new. @cluster_id: (nullable) */
gboolean tide_group_memory_was_started(TideGroupMemory *memory, const char *cluster_id);
/* It has now. Blocks for the disk the first time; a disk that takes nothing is written to later. */
void tide_group_memory_note_started(TideGroupMemory *memory, const char *cluster_id);

G_END_DECLS
