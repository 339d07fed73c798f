#define _GNU_SOURCE
#include "util/log.h"

#include "util/calendar.h"
#include "util/clock.h"
#include "util/json_writer.h"
#include "util/lock.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define JOURNAL_SOCKET "/run/systemd/journal/socket"

/* Maximum length of the message and of each value after escaping, so that some fields always fit into a line. */
#define MESSAGE_MAX_BYTES 2560
#define VALUE_MAX_BYTES 512

/* Maximum size of a journal datagram that needs no socket option: far below net.core.wmem_default (212,992). */
#define JOURNAL_MESSAGE_MAX_BYTES 32768
#define JOURNAL_VALUE_MAX_BYTES 4096
#define JOURNAL_MAX_FIELDS 24

#define CUT_MARK "..."

static const struct {
  const char *name;
  const char *colour; /* on a terminal */
} levels[] = {
    [TIDE_LOG_CRIT] = {"crit", "\033[31m"},
    [TIDE_LOG_ERROR] = {"error", "\033[31m"},
    [TIDE_LOG_WARNING] = {"warning", "\033[33m"},
    [TIDE_LOG_NOTICE] = {"notice", "\033[1m"},
    [TIDE_LOG_INFO] = {"info", ""},
    [TIDE_LOG_DEBUG] = {"debug", ""},
};
G_STATIC_ASSERT(G_N_ELEMENTS(levels) == TIDE_LOG_DEBUG + 1);

static _Atomic int most_verbose_level = TIDE_LOG_INFO;

/* set by tide_log_init, before any thread; then read-only */
static TideLogFormat chosen_format = TIDE_LOG_FORMAT_TEXT;
static gboolean with_colour;

static TideMutex stderr_lock = {PTHREAD_MUTEX_INITIALIZER};
static guint64 dropped_unlogged;  /* under stderr_lock: dropped since the last accepted line */
static gboolean is_inside_a_line; /* under stderr_lock: the last line was only partly accepted */

/* ---- formats of a line ---- */

/* Reads the next character of @text, (gunichar)-1 for a byte that is not UTF-8, and returns its length in bytes. */
static gsize
next_character(const char *text, gunichar *ret_character)
{
  gunichar c = g_utf8_get_char_validated(text, -1);
  if (c == (gunichar)-1 || c == (gunichar)-2) {
    *ret_character = (gunichar)-1;
    return 1;
  }
  *ret_character = c;
  return (gsize)(g_utf8_next_char(text) - text);
}

static gsize
text_form(const char *text, gsize len, gunichar c, char *form)
{
  if (c != (gunichar)-1 && tide_text_shows(c)) {
    memcpy(form, text, len);
    return len;
  }
  gsize form_len = 0;
  for (gsize i = 0; i < len; i++)
    form_len += (gsize)g_snprintf(form + form_len, 5, "\\x%02X", (guint8)text[i]);
  return form_len;
}

static gsize
json_form(const char *text, gsize len, gunichar c, char *form)
{
  if (c == (gunichar)-1) { /* not UTF-8: the replacement character */
    memcpy(form, "\xEF\xBF\xBD", 3);
    return 3;
  }
  if (c == '"' || c == '\\' || !tide_text_shows(c))
    return tide_json_escape(c, TIDE_JSON_QUOTES, form);
  memcpy(form, text, len);
  return len;
}

/* The longest form of one character: four bytes as \xHH, and printf's NUL. */
#define FORM_MAX_BYTES 17

typedef gsize (*CharacterForm)(const char *text, gsize len, gunichar c, char *form);

static void
append_escaped(GString *line, const char *text, gsize max_bytes, CharacterForm form_of)
{
  gsize start = line->len;
  gsize cut_at = start; /* the last position where CUT_MARK fits */
  char form[FORM_MAX_BYTES];
  while (*text != '\0') {
    gunichar c;
    gsize len = next_character(text, &c);
    gsize form_len = form_of(text, len, c, form);
    if (line->len - start + form_len > max_bytes) {
      g_string_truncate(line, cut_at);
      g_string_append_len(line, CUT_MARK, (gssize)MIN(strlen(CUT_MARK), max_bytes));
      return;
    }
    g_string_append_len(line, form, (gssize)form_len);
    if (line->len - start + strlen(CUT_MARK) <= max_bytes)
      cut_at = line->len;
    text += len;
  }
}

void
tide_log_escape(GString *line, const char *text, gsize max_bytes)
{
  append_escaped(line, text, max_bytes, text_form);
}

static void
append_time(GString *line, gint64 wall_clock_us)
{
  char text[TIDE_ISO_TIME_BYTES];
  g_string_append(line, tide_iso_time_print(wall_clock_us / 1000, text));
}

static void
append_text_field(GString *line, const TideLogField *field)
{
  g_string_append_printf(line, " %s=", field->name);
  if (*field->value != '\0' && strpbrk(field->value, " \"=") == NULL) {
    tide_log_escape(line, field->value, VALUE_MAX_BYTES);
    return;
  }
  g_autoptr(GString) escaped = g_string_new(NULL);
  tide_log_escape(escaped, field->value, VALUE_MAX_BYTES);
  g_string_replace(escaped, "\"", "\\\"", 0);
  g_string_append_printf(line, "\"%s\"", escaped->str);
}

/* Keeps the last field only if the line, including @tail_bytes to follow, is short enough. */
static void
drop_if_too_long(GString *line, gsize len_before, gsize tail_bytes)
{
  if (line->len + tail_bytes > TIDE_LOG_LINE_MAX_BYTES)
    g_string_truncate(line, len_before);
}

void
tide_log_line_text(GString *line, const TideLogRecord *record, gboolean colour)
{
  const char *colour_on = colour ? levels[record->level].colour : "";
  append_time(line, record->wall_clock_us);
  g_string_append_printf(line, " %s%s%s ", colour_on, levels[record->level].name, *colour_on != '\0' ? "\033[0m" : "");
  tide_log_escape(line, record->thread, VALUE_MAX_BYTES);
  g_string_append(line, ": ");
  tide_log_escape(line, record->text, MESSAGE_MAX_BYTES);
  g_string_append_printf(line, " [%s]", record->id);

  gboolean is_first = TRUE;
  for (gsize i = 0; i < record->n_fields; i++) {
    if (record->fields[i].value == NULL)
      continue;
    gsize len_before = line->len;
    if (is_first)
      g_string_append_c(line, ' ');
    append_text_field(line, &record->fields[i]);
    drop_if_too_long(line, len_before, 1);
    is_first = FALSE;
  }
  g_string_append_c(line, '\n');
}

static void
append_json_member(GString *line, const char *name, const char *value, gsize max_bytes)
{
  g_string_append_printf(line, ",\"%s\":\"", name);
  append_escaped(line, value, max_bytes, json_form);
  g_string_append_c(line, '"');
}

void
tide_log_line_json(GString *line, const TideLogRecord *record)
{
  g_string_append(line, "{\"time\":\"");
  append_time(line, record->wall_clock_us);
  g_string_append_c(line, '"');
  append_json_member(line, "level", levels[record->level].name, VALUE_MAX_BYTES);
  append_json_member(line, "id", record->id, VALUE_MAX_BYTES);
  append_json_member(line, "thread", record->thread, VALUE_MAX_BYTES);
  append_json_member(line, "message", record->text, MESSAGE_MAX_BYTES);
  for (gsize i = 0; i < record->n_fields; i++) {
    if (record->fields[i].value == NULL)
      continue;
    gsize len_before = line->len;
    append_json_member(line, record->fields[i].name, record->fields[i].value, VALUE_MAX_BYTES);
    drop_if_too_long(line, len_before, 2);
  }
  g_string_append(line, "}\n");
}

/* NAME, newline, length as 64 bits little-endian, value, newline: the form that may contain any byte. */
static void
append_journal_field(TideBuffer *datagram, const char *name, const char *value, gsize max_bytes)
{
  gsize len = MIN(strlen(value), max_bytes);
  guint64 wire_len = GUINT64_TO_LE((guint64)len);
  tide_buffer_append(datagram, name, strlen(name));
  tide_buffer_append_byte(datagram, '\n');
  tide_buffer_append(datagram, &wire_len, sizeof wire_len);
  tide_buffer_append(datagram, value, len);
  tide_buffer_append_byte(datagram, '\n');
}

void
tide_log_line_journal(TideBuffer *datagram, const TideLogRecord *record)
{
  char priority[] = {(char)('0' + record->level), '\0'};
  g_autoptr(GString) message = g_string_new(NULL);
  tide_log_escape(message, record->text, JOURNAL_MESSAGE_MAX_BYTES);
  append_journal_field(datagram, "MESSAGE", message->str, JOURNAL_MESSAGE_MAX_BYTES);
  append_journal_field(datagram, "PRIORITY", priority, JOURNAL_VALUE_MAX_BYTES);
  append_journal_field(datagram, "SYSLOG_IDENTIFIER", "tidemark", JOURNAL_VALUE_MAX_BYTES);
  /* 128 bits as required by the journal: our own half, drawn once, and the FNV-1a hash of the event's id. */
  guint64 hash = 0xcbf29ce484222325;
  for (const char *c = record->id; *c != '\0'; c++)
    hash = (hash ^ (guint8)*c) * 0x100000001b3;
  char message_id[33];
  g_snprintf(message_id, sizeof message_id, "5d0c1f6e9b2a4c37%016" G_GINT64_MODIFIER "x", hash);
  append_journal_field(datagram, "MESSAGE_ID", message_id, JOURNAL_VALUE_MAX_BYTES);
  append_journal_field(datagram, "TIDEMARK_ID", record->id, JOURNAL_VALUE_MAX_BYTES);
  append_journal_field(datagram, "THREAD", record->thread, JOURNAL_VALUE_MAX_BYTES);
  gsize n_fields = MIN(record->n_fields, JOURNAL_MAX_FIELDS);
  for (gsize i = 0; i < n_fields; i++)
    if (record->fields[i].value != NULL)
      append_journal_field(datagram, record->fields[i].name, record->fields[i].value, JOURNAL_VALUE_MAX_BYTES);
}

/* ---- destinations ---- */

static void
render_line(GString *line, const TideLogRecord *record)
{
  if (chosen_format == TIDE_LOG_FORMAT_JSON)
    tide_log_line_json(line, record);
  else
    tide_log_line_text(line, record, with_colour);
}

static gboolean
is_writable(int fd)
{
  struct pollfd poller = {.fd = fd, .events = POLLOUT};
  long n_ready = TEMP_FAILURE_RETRY(poll(&poller, 1, 0));
  /* With an error pending (the reader is gone), a write would only raise SIGPIPE. */
  return n_ready == 1 && (poller.revents & POLLOUT) != 0 && (poller.revents & (POLLERR | POLLHUP | POLLNVAL)) == 0;
}

/* TRUE when all of it was accepted. */
static gboolean
write_all_locked(TideBytes line)
{
  gsize written = 0;
  while (written < line.len && is_writable(STDERR_FILENO)) {
    gssize n = TEMP_FAILURE_RETRY(write(STDERR_FILENO, line.data + written, line.len - written));
    if (n <= 0)
      break;
    written += (gsize)n;
  }
  if (written > 0)
    is_inside_a_line = written < line.len;
  return written == line.len;
}

static void
report_dropped_lines_locked(void)
{
  char text[96];
  g_snprintf(text, sizeof text, "%" G_GUINT64_FORMAT " log lines were dropped: standard error did not accept them",
             dropped_unlogged);
  TideLogRecord record = {.level = TIDE_LOG_WARNING,
                          .id = "lines-dropped",
                          .wall_clock_us = g_get_real_time(),
                          .thread = "log",
                          .text = text};
  g_autoptr(GString) notice = g_string_new(is_inside_a_line ? "\n" : NULL);
  render_line(notice, &record);
  if (write_all_locked(tide_bytes(notice->str, notice->len)))
    dropped_unlogged = 0;
}

/* Never blocks: poll() reports whether there is room, under a lock that makes this process the only writer between poll
 * and write; a pipe then has room for PIPE_BUF bytes and a socket for more. Two cases are not covered: another process
 * that fills the same pipe in between, and a terminal that stops within a line. */
static void
write_line(const TideLogRecord *record)
{
  g_autoptr(GString) line = g_string_sized_new(512);
  render_line(line, record);
  tide_mutex_lock(&stderr_lock);
  if (dropped_unlogged > 0)
    report_dropped_lines_locked();
  if (dropped_unlogged > 0 || !write_all_locked(tide_bytes(line->str, line->len)))
    dropped_unlogged++;
  tide_mutex_unlock(&stderr_lock);
}

/* One unconnected socket for the process's lifetime, which also reaches a restarted journal. */
static int
journal_socket(void)
{
  static _Atomic int shared_fd = -1;
  int fd = atomic_load(&shared_fd);
  if (fd >= 0)
    return fd;

  int created = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (created < 0)
    return -1;
  if (atomic_compare_exchange_strong(&shared_fd, &fd, created))
    return created;
  close(created); /* another thread was first */
  return fd;
}

gboolean
tide_log_send_to_journal(const char *path, TideBytes datagram)
{
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  g_strlcpy(address.sun_path, path, sizeof address.sun_path);
  int fd = journal_socket();
  gssize sent = fd < 0 ? -1
                       : TEMP_FAILURE_RETRY(sendto(fd, datagram.data, datagram.len, MSG_DONTWAIT | MSG_NOSIGNAL,
                                                   (const struct sockaddr *)&address, sizeof address));
  return sent == (gssize)datagram.len;
}

/* ---- events ---- */

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

static void
write_record(TideLogLevel level, const char *id, const TideLogField *fields, gsize n_fields, const char *format,
             va_list arguments)
{
  int errno_before = errno; /* a log call must not change the errno that the caller is about to report */
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
  g_auto(TideBuffer) datagram = {0};
  gboolean is_sent = FALSE;
  if (chosen_format == TIDE_LOG_FORMAT_JOURNAL) {
    tide_log_line_journal(&datagram, &record);
    is_sent = tide_log_send_to_journal(JOURNAL_SOCKET, tide_buffer_bytes(&datagram));
  }
  if (!is_sent) /* without a working journal, lines that standard error does not accept are counted there */
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

gboolean
tide_log_limit_pass(TideLogLimit *limit, gint64 now_us, gint64 interval_us, guint64 *ret_suppressed)
{
  gint64 next_us = __atomic_load_n(&limit->next_us, __ATOMIC_RELAXED);
  /* If several threads reach the end of an interval, only the one that advances it may log. */
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

/* ---- initialisation ---- */

/* systemd puts the device and inode of the journal's stream there: standard error is the journal only if it is still
 * that stream and was not redirected. */
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

/* Warnings of GLib and of the Thrift library use this log instead of a format of their own. */
static GLogWriterOutput
write_glib_message(GLogLevelFlags glib_level, const GLogField *fields, gsize n_fields, gpointer data G_GNUC_UNUSED)
{
  static const struct {
    GLogLevelFlags of_glib;
    TideLogLevel ours;
  } known[] = {{G_LOG_LEVEL_ERROR, TIDE_LOG_CRIT},      {G_LOG_LEVEL_CRITICAL, TIDE_LOG_ERROR},
               {G_LOG_LEVEL_WARNING, TIDE_LOG_WARNING}, {G_LOG_LEVEL_MESSAGE, TIDE_LOG_NOTICE},
               {G_LOG_LEVEL_INFO, TIDE_LOG_INFO},       {G_LOG_LEVEL_DEBUG, TIDE_LOG_DEBUG}};
  const char *text = "", *domain = NULL;
  for (gsize i = 0; i < n_fields; i++) {
    if (strcmp(fields[i].key, "MESSAGE") == 0)
      text = fields[i].value;
    else if (strcmp(fields[i].key, "GLIB_DOMAIN") == 0)
      domain = fields[i].value;
  }
  gsize row = 0;
  while (row < G_N_ELEMENTS(known) - 1 && (glib_level & known[row].of_glib) == 0)
    row++;
  TideLogField domain_field = {"GLIB_DOMAIN", domain};
  tide_log_fields(known[row].ours, "library", &domain_field, 1, "%s", text);
  return G_LOG_WRITER_HANDLED;
}

void
tide_log_init(TideLogFormat format, TideLogLevel most_verbose)
{
  if (format == TIDE_LOG_FORMAT_AUTO)
    format = stderr_is_journal() ? TIDE_LOG_FORMAT_JOURNAL : TIDE_LOG_FORMAT_TEXT;
  chosen_format = format;
  with_colour = isatty(STDERR_FILENO) && g_getenv("NO_COLOR") == NULL && g_strcmp0(g_getenv("TERM"), "dumb") != 0;
  tide_log_set_level(most_verbose);
  static gsize is_done; /* GLib accepts one writer per process */
  if (g_once_init_enter(&is_done)) {
    g_log_set_writer_func(write_glib_message, NULL, NULL);
    g_once_init_leave(&is_done, 1);
  }
}

TideLogFormat
tide_log_format(void)
{
  return chosen_format;
}
