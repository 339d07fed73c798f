/* What the daemon tells systemd (sd_notify(3)). The only file that does. Without $NOTIFY_SOCKET, all of it does
 * nothing.
 *
 * Threads: the main thread only. Blocks: as long as systemd leaves its socket unread. Errors are ignored: there is
 * nothing better to do about a service manager that does not listen. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The daemon has its partitions, or waits for something that it may lawfully wait for. */
void tide_notify_ready(void);

/* One line for `systemctl status`. Line breaks and control bytes in it are escaped: texts of a gateway end up here, and
 * a line break would let them say READY=1. */
void tide_notify_status(const char *format, ...) G_GNUC_PRINTF(1, 2);

/* A reload has begun, @now_us on the monotonic clock; tide_notify_ready() ends it, whatever came of it. Not before the
 * first of these, which would end the start. */
void tide_notify_reloading(gint64 now_us);

/* The stop has begun; stays until the process ends. */
void tide_notify_stopping(void);

/* Ask for @more_us, from now, beyond TimeoutStartSec= or TimeoutStopSec=. Ask again before they have passed. */
void tide_notify_extend_timeout(gint64 more_us);

/* All that has to move has moved. To be sent at least twice an interval. */
void tide_notify_watchdog(void);

/* WatchdogSec= of the unit in microseconds; 0 when systemd watches no one or another process. */
gint64 tide_notify_watchdog_interval_us(void);

G_END_DECLS
