/* Remembers more about the group than an assignment does: this process's last commits of partitions that it has
 * released, and the groups it has started in. A file in the state directory keeps the latter.
 *
 * Without a state directory, a group whose offsets have all expired looks new.
 *
 * Threads: any. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct TideGroupMemory TideGroupMemory;

/* Reads the file. @group: borrowed */
TideGroupMemory *tide_group_memory_new(const char *group);
void tide_group_memory_free(TideGroupMemory *memory); /* NULL ok */

typedef struct TideOwnCommit {
  gint64 offset;         /* -1: unknown */
  gint64 reached_offset; /* finished by this process: an unanswered commit may have reached it */
  gint64 released_us;
} TideOwnCommit;

/* Remembers the last commit @own of a released partition. @memory: (nullable) */
void tide_group_memory_release(TideGroupMemory *memory, const char *topic, gint32 partition, TideOwnCommit own);
TideOwnCommit tide_group_memory_find(TideGroupMemory *memory, const char *topic, gint32 partition);

/* Whether the group was started on the cluster before this process began. Partitions of a new group are all new, even
 * though they are located one after another. @cluster_id: (nullable) */
gboolean tide_group_memory_was_started(TideGroupMemory *memory, const char *cluster_id);
/* Records that the group has started. The first call blocks for the disk; a write that fails is retried later. */
void tide_group_memory_note_started(TideGroupMemory *memory, const char *cluster_id);

G_END_DECLS
