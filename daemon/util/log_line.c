#include "util/log_line.h"

#include "util/iso_time.h"
#include "util/json_writer.h"

/* Shares of a line: so long a message and each value may become (escaped), that some fields always have room.
 */
#define MESSAGE_MAX_BYTES 2560
#define VALUE_MAX_BYTES 512

/* Of the journal's datagram, before any socket option is needed: far below net.core.wmem_default (212,992).
 */
#define JOURNAL_MESSAGE_MAX_BYTES 32768
#define JOURNAL_VALUE_MAX_BYTES 4096
#define JOURNAL_MAX_FIELDS 24

#define CUT_MARK "..."

/* The next character of @text: its length in bytes, and whether it is valid UTF-8 (a bad byte counts as one).
 */
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

/* The longest form of one character: four bytes as \xHH, and the NUL that printf puts after it. */
#define FORM_MAX_BYTES 17

typedef gsize (*CharacterForm)(const char *text, gsize len, gunichar c, char *form);

static void
append_escaped(GString *line, const char *text, gsize max_bytes, CharacterForm form_of)
{
  gsize start = line->len;
  gsize cut_at = start; /* where CUT_MARK still fits */
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

static const char *
colour_of(TideLogLevel level)
{
  switch (level) {
  case TIDE_LOG_CRIT:
  case TIDE_LOG_ERROR:
    return "\033[31m";
  case TIDE_LOG_WARNING:
    return "\033[33m";
  case TIDE_LOG_NOTICE:
    return "\033[1m";
  case TIDE_LOG_INFO:
  case TIDE_LOG_DEBUG:
    return "";
  }
  return "";
}

static gboolean
needs_quotes(const char *value)
{
  return *value == '\0' || strpbrk(value, " \"=") != NULL;
}

static void
append_quoted(GString *line, const char *value, gsize max_bytes)
{
  g_autoptr(GString) escaped = g_string_new(NULL);
  tide_log_escape(escaped, value, max_bytes);
  g_string_replace(escaped, "\"", "\\\"", 0);
  g_string_append_printf(line, "\"%s\"", escaped->str);
}

static void
append_text_field(GString *line, const TideLogField *field)
{
  g_string_append_printf(line, " %s=", field->name);
  if (needs_quotes(field->value))
    append_quoted(line, field->value, VALUE_MAX_BYTES);
  else
    tide_log_escape(line, field->value, VALUE_MAX_BYTES);
}

/* Keeps the last field only if the line, with @tail_bytes still to come, is short enough. */
static void
drop_if_too_long(GString *line, gsize len_before, gsize tail_bytes)
{
  if (line->len + tail_bytes > TIDE_LOG_LINE_MAX_BYTES)
    g_string_truncate(line, len_before);
}

void
tide_log_line_text(GString *line, const TideLogRecord *record, gboolean colour)
{
  const char *colour_on = colour ? colour_of(record->level) : "";
  append_time(line, record->wall_clock_us);
  g_string_append_printf(line, " %s%s%s ", colour_on, tide_log_level_name(record->level),
                         *colour_on != '\0' ? "\033[0m" : "");
  tide_log_escape(line, record->thread, VALUE_MAX_BYTES);
  g_string_append(line, ": ");
  tide_log_escape(line, record->text, MESSAGE_MAX_BYTES);

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
  append_json_member(line, "level", tide_log_level_name(record->level), VALUE_MAX_BYTES);
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

/* NAME, newline, length as 64 bits little-endian, value, newline: the form that may hold any byte. */
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

/* 128 bits, as the journal wants: our own half, drawn once, and the FNV-1a hash of the event's id. */
static void
print_message_id(const char *id, char text[static 33])
{
  guint64 hash = 0xcbf29ce484222325;
  for (const char *c = id; *c != '\0'; c++)
    hash = (hash ^ (guint8)*c) * 0x100000001b3;
  g_snprintf(text, 33, "5d0c1f6e9b2a4c37%016" G_GINT64_MODIFIER "x", hash);
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
  char message_id[33];
  print_message_id(record->id, message_id);
  append_journal_field(datagram, "MESSAGE_ID", message_id, JOURNAL_VALUE_MAX_BYTES);
  append_journal_field(datagram, "TIDEMARK_ID", record->id, JOURNAL_VALUE_MAX_BYTES);
  append_journal_field(datagram, "THREAD", record->thread, JOURNAL_VALUE_MAX_BYTES);
  gsize n_fields = MIN(record->n_fields, JOURNAL_MAX_FIELDS);
  for (gsize i = 0; i < n_fields; i++)
    if (record->fields[i].value != NULL)
      append_journal_field(datagram, record->fields[i].name, record->fields[i].value, JOURNAL_VALUE_MAX_BYTES);
}
