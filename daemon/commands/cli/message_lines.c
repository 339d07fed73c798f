#include "commands/cli/message_lines.h"

#include "commands/cli/output.h"
#include "decode/avro_container.h"
#include "decode/formats.h"
#include "util/clock.h"
#include "util/error.h"

#include <errno.h>
#include <unistd.h>

#define READ_BYTES 65536

gboolean
tide_line_read(FILE *stream, TideBuffer *line)
{
  int c = 0;
  tide_buffer_reset(line);
  flockfile(stream);
  while (c != '\n' && line->len <= TIDE_LINE_MAX_BYTES && (c = getc_unlocked(stream)) != EOF)
    tide_buffer_append_byte(line, (guint8)c);
  funlockfile(stream);
  if (line->len <= TIDE_LINE_MAX_BYTES)
    return TRUE;
  tide_buffer_reset(line);
  return FALSE;
}

static gboolean
fail_too_long(const char *name, const char *what, GError **error)
{
  return tide_fail(error, TIDE_ERROR_TOO_BIG, "%s has %s of more than %u MiB, longer than any message", name, what,
                   TIDE_LINE_MAX_BYTES >> 20);
}

gboolean
tide_message_lines_read(FILE *stream, const char *name, TideMessageLineFunc func, gpointer data, GError **error)
{
  g_auto(TideBuffer) line = {0};
  GError *failure = NULL;
  gboolean is_read;
  errno = 0;
  while ((is_read = tide_line_read(stream, &line)) && line.len > 0) {
    gsize len = line.len - (line.data[line.len - 1] == '\n' ? 1 : 0);
    if (!func(tide_bytes(line.data, len), data, &failure))
      break;
    errno = 0;
  }
  int cause = errno;
  if (failure != NULL) {
    g_propagate_error(error, failure);
    return FALSE;
  }
  if (!is_read)
    return fail_too_long(name, "a line", error);
  if (line.len > 0 || !ferror(stream))
    return TRUE;
  return tide_fail(error, TIDE_ERROR_IO, "cannot read %s: %s", name, g_strerror(cause));
}

gboolean
tide_message_read_whole(FILE *stream, const char *name, TideMessageLineFunc func, gpointer data, GError **error)
{
  g_auto(TideBuffer) message = {0};
  size_t n;
  while (message.len <= TIDE_LINE_MAX_BYTES &&
         (n = fread(tide_buffer_reserve(&message, READ_BYTES), 1, READ_BYTES, stream)) > 0)
    message.len += n;
  if (message.len > TIDE_LINE_MAX_BYTES)
    return fail_too_long(name, "a message", error);
  if (!ferror(stream) && tide_avro_is_container(tide_buffer_bytes(&message))) { /* no format begins like this */
    return tide_fail(error, TIDE_ERROR_DATA,
                     "%s is an object container file, which only 'init' and 'load' can read, by its name ('load "
                     "--dry-run' shows the results); here a single message is needed",
                     name);
  }
  if (!ferror(stream)) {
    GError *failure = NULL;
    gboolean wanted = func(tide_buffer_bytes(&message), data, &failure);
    if (failure != NULL)
      g_propagate_error(error, failure);
    return wanted || failure == NULL;
  }
  return tide_fail(error, TIDE_ERROR_IO, "cannot read %s: %s", name, g_strerror(errno));
}

gboolean
tide_message_path_read(const char *path, gboolean is_whole, TideMessageLineFunc func, gpointer data, GError **error)
{
  FILE *stream = path != NULL ? fopen(path, "re") : stdin;
  if (stream == NULL)
    return tide_fail(error, TIDE_ERROR_IO, "cannot open '%s': %s", path, g_strerror(errno));
  if (path == NULL && isatty(STDIN_FILENO))
    tide_say("reading %s; end with Ctrl-D", is_whole ? "a message" : "messages, one a line");
  g_autofree char *name = path != NULL ? g_strdup_printf("'%s'", path) : g_strdup("standard input");
  gboolean ok = (is_whole ? tide_message_read_whole : tide_message_lines_read)(stream, name, func, data, error);
  if (path != NULL)
    fclose(stream);
  return ok;
}

/* Of values that nobody has named. */
static gboolean
is_list_of_values(const TideDecodeOptions *decode, TideBytes text)
{
  const TideLayoutOptions *layout = &decode->layout;
  if (text.len == 0 || layout->positions != NULL || layout->root != NULL || layout->each != NULL)
    return FALSE;
  guint8 head = text.data[0];
  gsize at = head == 0xdc ? 3 : head == 0xdd ? 5 : 1;
  while (decode->format == TIDE_FORMAT_JSON && at < text.len && g_ascii_isspace(text.data[at]))
    at++;
  guint8 next = at < text.len ? text.data[at] : '\0';
  if (decode->format == TIDE_FORMAT_MSGPACK)
    return (at > 1 || (head & 0xf0) == 0x90) && (next < 0x80 || next > 0x9f) && (next < 0xdc || next > 0xdf);
  return decode->format == TIDE_FORMAT_JSON && head == '[' && next != '\0' && strchr("[{]", next) == NULL;
}

const char *
tide_message_remedy(const TideDecodeOptions *decode, TideBytes message)
{
  TideBytes text = tide_bytes_behind_mark(message);
  while (text.len > 0 && g_ascii_isspace(text.data[0]))
    text = tide_bytes_from(text, 1);
  if (is_list_of_values(decode, text))
    return "the message is a list of values: 'positions' of 'readings' names them, such as [tag, time, record] of "
           "Fluentd's ('init' takes it by --readings 'positions=[tag, time, record]')";
  if (decode->format != TIDE_FORMAT_JSON || text.len == 0 || text.data[0] != '"')
    return NULL;
  return "the message is a JSON string: if it contains JSON, 'positions: [message]' and 'fields: [{ open: message, "
         "into: \"\" }]' of 'readings' open it, and 'jq -c fromjson' shows its content";
}

gboolean
tide_message_is_whole(const TideDecodeOptions *decode)
{
  const TideFormat *format = tide_format_of(decode);
  return format->end != TIDE_ENDS_WITH_LINE ||
         ((format->takes & TIDE_TAKES_CSV) != 0 && (decode->csv.header || decode->csv.skip_lines > 0));
}

gint64
tide_message_file_read(const TideMessageFile *file, gint64 (*func)(const TideMessage *message, gpointer data),
                       gboolean (*go_on)(gpointer data), gpointer data)
{
  gint64 wanted = file->begin;
  while (wanted >= 0 && wanted < file->end && !tide_file_reader_is_at_end(file->reader) && go_on(data)) {
    TideFileRecord record;
    tide_file_reader_fill(file->reader);
    while (wanted >= 0 && wanted < file->end && tide_file_reader_next(file->reader, &record)) {
      TideMessage message = {.topic = tide_bytes_of_string(file->path),
                             .offset = record.offset,
                             .timestamp_ms = tide_wall_clock_epoch_ms(),
                             .is_append_time = TRUE,
                             .value = record.text,
                             .has_value = TRUE};
      if (record.offset >= wanted && record.offset < file->end)
        wanted = func(&message, data);
      (void)tide_file_reader_pass(file->reader, record.offset + 1);
    }
  }
  return wanted;
}
