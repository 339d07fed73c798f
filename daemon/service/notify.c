#include "service/notify.h"

#include "util/log.h"

#include <stdarg.h>
#include <systemd/sd-daemon.h>

/* systemd truncates a status at about 512 of its datagram's 4096 bytes; people read less. */
#define STATUS_MAX_BYTES 480

void
tide_notify_ready(void)
{
  sd_notify(0, "READY=1");
}

void
tide_notify_status(const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  g_autofree char *text = g_strdup_vprintf(format, arguments);
  va_end(arguments);

  g_autoptr(GString) state = g_string_new("STATUS=");
  tide_log_escape(state, text, STATUS_MAX_BYTES);
  sd_notify(0, state->str);
}

void
tide_notify_reloading(gint64 now_us)
{
  sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%" G_GINT64_FORMAT, now_us);
}

void
tide_notify_stopping(void)
{
  sd_notify(0, "STOPPING=1");
}

void
tide_notify_extend_timeout(gint64 more_us)
{
  sd_notifyf(0, "EXTEND_TIMEOUT_USEC=%" G_GINT64_FORMAT, more_us);
}

void
tide_notify_watchdog(void)
{
  sd_notify(0, "WATCHDOG=1");
}

gint64
tide_notify_watchdog_interval_us(void)
{
  guint64 interval_us = 0;
  if (sd_watchdog_enabled(0, &interval_us) <= 0)
    return 0;
  return (gint64)MIN(interval_us, (guint64)G_MAXINT64);
}
