/* The limits of a container or a systemd unit on this process (cgroup v2). The kernel kills a process that exceeds its
 * memory limit, without a message, and throttles one that exceeds its CPU limit. @root: prefix of /proc and /sys; ""
 * except in tests */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The smallest memory.max of this process's cgroup and its ancestors; 0: unlimited or unknown. */
guint64 tide_memory_bound_bytes(const char *root);

/* The CPUs that cpu.max allows, rounded up, or that the process may run on, if these are fewer than the machine's;
 * 0: unlimited or unknown. */
guint tide_cpu_bound(const char *root);

G_END_DECLS
