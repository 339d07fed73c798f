/* What a container, or its unit, leaves to this process (cgroup v2): where it takes more memory the kernel kills it
 * without a word, where it takes more CPU the kernel lets it wait. @root: in front of /proc and /sys; "", but in tests
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The least memory.max of the cgroup that this process is in and of those around it; 0: nothing bounds it, or that
 * cannot be seen. */
guint64 tide_memory_bound_bytes(const char *root);

/* The CPUs that they leave by cpu.max, a part of one counted as one, or that the process may run on, where these are
 * not all of the machine; 0: nothing bounds it, or that cannot be seen. */
guint tide_cpu_bound(const char *root);

G_END_DECLS
