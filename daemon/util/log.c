#define _GNU_SOURCE
#include "util/log.h"

#include "util/clock.h"
#include "util/log_line.h"
#include "util/log_sink.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define JOURNAL_SOCKET "/run/systemd/journal/socket"

static const struct {
  TideLogLevel level;
  const char *name;
} level_names[] = {
    {TIDE_LOG_CRIT, "crit"},     {TIDE_LOG_ERROR, "error"}, {TIDE_LOG_WARNING, "warning"},
    {TIDE_LOG_NOTICE, "notice"}, {TIDE_LOG_INFO, "info"},   {TIDE_LOG_DEBUG, "debug"},
};

static _Atomic int most_verbose_level = TIDE_LOG_INFO;

/* set by tide_log_init, before any thread; then read-only */
static TideLogFormat chosen_format = TIDE_LOG_FORMAT_TEXT;
static gboolean with_colour;

/* systemd puts the device and inode of the journal's stream there: standard error is the journal only if it
 * is still that stream, and was not redirected since. */
static gboolean
stderr_is_journal(void)
{
  const char *stream = g_getenv("JOURNAL_STREAM");
  struct stat status;
  if (stream == NULL || fstat(STDERR_FILENO, &status) != 0)
    return FALSE;
  g_autofree char *actual =
      g_strdup_printf("%" G_GUINT64_FORMAT ":%" G_GUINT64_FORMAT, (guint64)status.st_dev, (guint64)status.st_ino);
  return strcmp(stream, actual) == 0;
}

static gboolean
stderr_wants_colour(void)
{
  const char *terminal = g_getenv("TERM");
  return isatty(STDERR_FILENO) && g_getenv("NO_COLOR") == NULL && g_strcmp0(terminal, "dumb") != 0;
}

/* Warnings of GLib and of the Thrift library come out as lines of this log, not as a format of their own. */
static GLogWriterOutput
write_glib_message(GLogLevelFlags glib_level, const GLogField *fields, gsize n_fields, gpointer data G_GNUC_UNUSED)
{
  const char *text = "";
  const char *domain = NULL;
  for (gsize i = 0; i < n_fields; i++) {
    if (strcmp(fields[i].key, "MESSAGE") == 0)
      text = fields[i].value;
    else if (strcmp(fields[i].key, "GLIB_DOMAIN") == 0)
      domain = fields[i].value;
  }

  TideLogLevel level = TIDE_LOG_DEBUG;
  if ((glib_level & G_LOG_LEVEL_ERROR) != 0)
    level = TIDE_LOG_CRIT;
  else if ((glib_level & G_LOG_LEVEL_CRITICAL) != 0)
    level = TIDE_LOG_ERROR;
  else if ((glib_level & G_LOG_LEVEL_WARNING) != 0)
    level = TIDE_LOG_WARNING;
  else if ((glib_level & G_LOG_LEVEL_MESSAGE) != 0)
    level = TIDE_LOG_NOTICE;
  else if ((glib_level & G_LOG_LEVEL_INFO) != 0)
    level = TIDE_LOG_INFO;

  TideLogField domain_field = {"GLIB_DOMAIN", domain};
  tide_log_fields(level, "library", &domain_field, 1, "%s", text);
  return G_LOG_WRITER_HANDLED;
}

static void
take_over_glib_messages(void)
{
  static gsize is_done; /* GLib takes one writer in a process's life */
  if (g_once_init_enter(&is_done)) {
    g_log_set_writer_func(write_glib_message, NULL, NULL);
    g_once_init_leave(&is_done, 1);
  }
}

void
tide_log_init(TideLogFormat format, TideLogLevel most_verbose)
{
  if (format == TIDE_LOG_FORMAT_AUTO)
    format = stderr_is_journal() ? TIDE_LOG_FORMAT_JOURNAL : TIDE_LOG_FORMAT_TEXT;
  chosen_format = format;
  with_colour = stderr_wants_colour();
  tide_log_set_level(most_verbose);
  take_over_glib_messages();
}

TideLogFormat
tide_log_format(void)
{
  return chosen_format;
}

void
tide_log_set_level(TideLogLevel most_verbose)
{
  atomic_store_explicit(&most_verbose_level, (int)most_verbose, memory_order_relaxed);
}

gboolean
tide_log_enabled(TideLogLevel level)
{
  return (int)level <= atomic_load_explicit(&most_verbose_level, memory_order_relaxed);
}

const char *
tide_log_level_name(TideLogLevel level)
{
  for (gsize i = 0; i < G_N_ELEMENTS(level_names); i++)
    if (level_names[i].level == level)
      return level_names[i].name;
  g_return_val_if_reached("unknown");
}

static void
render_line(GString *line, const TideLogRecord *record)
{
  if (chosen_format == TIDE_LOG_FORMAT_JSON)
    tide_log_line_json(line, record);
  else
    tide_log_line_text(line, record, with_colour);
}

static void
render_dropped(GString *line, guint64 n_dropped)
{
  char text[96];
  g_snprintf(text, sizeof text, "%" G_GUINT64_FORMAT " log lines were dropped: standard error took no more", n_dropped);
  TideLogRecord record = {.level = TIDE_LOG_WARNING,
                          .id = "lines-dropped",
                          .wall_clock_us = g_get_real_time(),
                          .thread = "log",
                          .text = text};
  render_line(line, &record);
}

static void
write_line(const TideLogRecord *record)
{
  g_autoptr(GString) line = g_string_sized_new(512);
  render_line(line, record);
  tide_log_sink_stderr(tide_bytes(line->str, line->len), render_dropped);
}

static void
write_journal(const TideLogRecord *record)
{
  g_auto(TideBuffer) datagram = {0};
  tide_log_line_journal(&datagram, record);
  if (!tide_log_sink_journal(JOURNAL_SOCKET, tide_buffer_bytes(&datagram)))
    write_line(record); /* no journal, or one that is stuck: what standard error does not take is counted there */
}

static void
write_record(TideLogLevel level, const char *id, const TideLogField *fields, gsize n_fields, const char *format,
             va_list arguments)
{
  int errno_before = errno; /* a log call must not change what the caller is about to report */
  char thread[16] = "";     /* TASK_COMM_LEN of Linux */
  pthread_getname_np(pthread_self(), thread, sizeof thread);
  g_autofree char *text = g_strdup_vprintf(format, arguments);
  TideLogRecord record = {
      .level = level,
      .id = id,
      .wall_clock_us = g_get_real_time(),
      .thread = thread,
      .text = text,
      .fields = fields,
      .n_fields = n_fields,
  };
  if (chosen_format == TIDE_LOG_FORMAT_JOURNAL)
    write_journal(&record);
  else
    write_line(&record);
  errno = errno_before;
}

void
tide_log(TideLogLevel level, const char *id, const char *format, ...)
{
  if (!tide_log_enabled(level))
    return;
  va_list arguments;
  va_start(arguments, format);
  write_record(level, id, NULL, 0, format, arguments);
  va_end(arguments);
}

void
tide_log_fields(TideLogLevel level, const char *id, const TideLogField *fields, gsize n_fields, const char *format, ...)
{
  if (!tide_log_enabled(level))
    return;
  va_list arguments;
  va_start(arguments, format);
  write_record(level, id, fields, n_fields, format, arguments);
  va_end(arguments);
}

TideLogNumber
tide_log_number(gint64 number)
{
  TideLogNumber of;
  g_snprintf(of.text, sizeof of.text, "%" G_GINT64_FORMAT, number);
  return of;
}

guint64
tide_log_dropped(void)
{
  return tide_log_sink_dropped();
}

gboolean
tide_log_limit_pass(TideLogLimit *limit, gint64 now_us, gint64 interval_us, guint64 *ret_suppressed)
{
  gint64 next_us = __atomic_load_n(&limit->next_us, __ATOMIC_RELAXED);
  /* Of several threads at the end of an interval the one that moves it on may log. */
  if (now_us < next_us || !__atomic_compare_exchange_n(&limit->next_us, &next_us, now_us + interval_us, FALSE,
                                                       __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    __atomic_fetch_add(&limit->suppressed, 1, __ATOMIC_RELAXED);
    return FALSE;
  }
  *ret_suppressed = __atomic_exchange_n(&limit->suppressed, 0, __ATOMIC_RELAXED);
  return TRUE;
}

guint64
tide_log_limit_end(TideLogLimit *limit)
{
  return __atomic_exchange_n(&limit->suppressed, 0, __ATOMIC_RELAXED);
}

TideLogSuppressed
tide_log_suppressed(guint64 suppressed, const char *what)
{
  TideLogSuppressed end = {""};
  if (suppressed > 0)
    g_snprintf(end.text, sizeof end.text, " (%" G_GUINT64_FORMAT " such %s not logged)", suppressed, what);
  return end;
}
