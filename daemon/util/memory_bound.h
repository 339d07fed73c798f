/* How much memory this process may take: a container, or MemoryMax= of its unit, bounds it, and where it takes more the
 * kernel kills it without a word. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The least memory.max of the cgroup that this process is in and of those around it (cgroup v2); 0: nothing bounds it,
 * or that cannot be seen. @root: in front of /proc and /sys; "", but in tests */
guint64 tide_memory_bound_bytes(const char *root);

G_END_DECLS
