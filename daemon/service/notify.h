/* Reports to systemd (sd_notify(3)). Only this file uses libsystemd. Without $NOTIFY_SOCKET, every function
 * does nothing.
 *
 * Threads: the main thread only. Blocks: while systemd does not read its socket. Errors are ignored: there is no better
 * reaction to a service manager that does not listen. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The daemon has its partitions, or waits for a reason that is part of normal operation. */
void tide_notify_ready(void);

/* One line for `systemctl status`. Line breaks and control bytes are escaped: gateway texts can appear here, and a line
 * break would allow them to send READY=1. */
void tide_notify_status(const char *format, ...) G_GNUC_PRINTF(1, 2);

/* A reload has begun at @now_us on the monotonic clock; tide_notify_ready() ends it, whatever its result. Do not call
 * before the first tide_notify_ready(), because that would end the start. */
void tide_notify_reloading(gint64 now_us);

/* The stop has begun and lasts until the process ends. */
void tide_notify_stopping(void);

/* Asks for @more_us from now, beyond TimeoutStartSec= or TimeoutStopSec=. Repeat before they have passed. */
void tide_notify_extend_timeout(gint64 more_us);

/* All threads have made progress. Send at least twice per interval. */
void tide_notify_watchdog(void);

/* WatchdogSec= of the unit in microseconds; 0 when systemd watches no process or another one. */
gint64 tide_notify_watchdog_interval_us(void);

G_END_DECLS
