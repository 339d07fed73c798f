#include "commands/cli/output.h"

#include "util/error.h"
#include "util/log.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

const char *const tide_output_format_names[] = {"table", "csv", "json", NULL};

gboolean
tide_colour_wanted(FILE *stream)
{
  const char *terminal = g_getenv("TERM");
  return isatty(fileno(stream)) && g_getenv("NO_COLOR") == NULL && terminal != NULL && strcmp(terminal, "dumb") != 0;
}

static void G_GNUC_PRINTF(1, 0) say(const char *format, va_list args, const char *end)
{
  g_autofree char *text = g_strdup_vprintf(format, args);
  g_autoptr(GString) line = g_string_new(NULL);
  tide_log_escape(line, text, G_MAXSIZE);
  fprintf(stderr, "%s%s", line->str, end);
}

void
tide_say(const char *format, ...)
{
  va_list args;
  va_start(args, format);
  say(format, args, "\n");
  va_end(args);
}

void
tide_ask(const char *format, ...)
{
  va_list args;
  va_start(args, format);
  say(format, args, "");
  va_end(args);
}

const char *
tide_colour_of(const char *word)
{
  static const struct {
    const char *word, *sequence;
  } words[] = {
      {"ok", "\033[32m"},           {"ready", "\033[32m"}, {"up", "\033[32m"},           {"yes", "\033[32m"},
      {"all is right", "\033[32m"}, {"note", "\033[33m"},  {"slow", "\033[33m"},         {"suspect", "\033[33m"},
      {"better not", "\033[33m"},   {"hot", "\033[33m"},   {"PROBLEM", "\033[31m"},      {"no", "\033[31m"},
      {"not ready", "\033[31m"},    {"down", "\033[31m"},  {"circuit_open", "\033[31m"}, {"wrong_cluster", "\033[31m"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(words); i++)
    if (strcmp(words[i].word, word) == 0)
      return words[i].sequence;
  return "";
}

/* Letters, digits, marks, signs: not controls, and not the invisible characters that reverse text (Cf), which
 * g_unichar_isprint() rejects too. */
static gboolean
is_shown_as_is(gunichar c)
{
  GUnicodeType type = g_unichar_type(c);
  return c != '\\' && g_unichar_isprint(c) && type != G_UNICODE_LINE_SEPARATOR && type != G_UNICODE_PARAGRAPH_SEPARATOR;
}

void
tide_text_append_printable(TideBytes bytes, TideBuffer *out)
{
  if (tide_json_is_plain(bytes)) {
    tide_buffer_append_bytes(out, bytes);
    return;
  }
  for (gsize i = 0; i < bytes.len;) {
    const char *at = (const char *)bytes.data + i;
    gunichar c = g_utf8_get_char_validated(at, (gssize)(bytes.len - i));
    gboolean valid = c != (gunichar)-1 && c != (gunichar)-2 && c != 0;
    gsize len = valid ? (gsize)g_unichar_to_utf8(c, NULL) : 1;
    if (valid && is_shown_as_is(c))
      tide_buffer_append(out, at, len);
    else
      for (gsize k = 0; k < len; k++) {
        char form[sizeof "\\xHH"];
        tide_buffer_append(out, form, (gsize)g_snprintf(form, sizeof form, "\\x%02X", bytes.data[i + k]));
      }
    i += len;
  }
}

char *
tide_text_printable(TideBytes bytes)
{
  TideBuffer text = {0};
  tide_text_append_printable(bytes, &text);
  tide_buffer_append_byte(&text, 0);
  return (char *)text.data;
}

void
tide_column_append_text(TideBytes family, TideBytes qualifier, TideBuffer *out)
{
  tide_text_append_printable(family, out);
  tide_buffer_append_byte(out, ':');
  tide_text_append_printable(qualifier, out);
}

char *
tide_column_text(TideBytes family, TideBytes qualifier)
{
  TideBuffer text = {0};
  tide_column_append_text(family, qualifier, &text);
  tide_buffer_append_byte(&text, 0);
  return (char *)text.data;
}

void
tide_text_unescape(const char *text, TideBuffer *out)
{
  while (*text != '\0') {
    if (text[0] == '\\' && text[1] == 'x' && g_ascii_isxdigit(text[2]) && g_ascii_isxdigit(text[3])) {
      int byte = g_ascii_xdigit_value(text[2]) * 16 + g_ascii_xdigit_value(text[3]);
      tide_buffer_append_byte(out, (guint8)byte);
      text += 4;
      continue;
    }
    tide_buffer_append_byte(out, (guint8)*text++);
  }
}

gsize
tide_text_width(const char *text)
{
  gsize width = 0;
  for (const char *at = text; *at != '\0'; at = g_utf8_next_char(at)) {
    gunichar c = g_utf8_get_char(at);
    if (!g_unichar_iszerowidth(c))
      width += g_unichar_iswide(c) ? 2 : 1;
  }
  return width;
}

void
tide_text_fill(GString *out, const char *text, gsize indent)
{
  const char *line = strrchr(out->str, '\n');
  gsize at = tide_text_width(line != NULL ? line + 1 : out->str);
  g_auto(GStrv) words = g_strsplit_set(text, " \n", -1);
  gboolean is_first = TRUE;
  for (guint i = 0; words[i] != NULL; i++) {
    if (words[i][0] == '\0')
      continue;
    gsize width = tide_text_width(words[i]);
    if (!is_first && at + 1 + width > TIDE_SCREEN_COLUMNS) {
      g_string_append_printf(out, "\n%*s", (int)indent, "");
      at = indent;
    } else if (!is_first) {
      g_string_append_c(out, ' ');
      at++;
    }
    g_string_append(out, words[i]);
    at += width;
    is_first = FALSE;
  }
}

void
tide_csv_quote(TideBuffer *out, gsize begin)
{
  TideBytes text = tide_bytes(out->data + begin, out->len - begin);
  gboolean is_quoted = text.len > 0 && (text.data[0] == ' ' || text.data[text.len - 1] == ' ');
  gboolean is_plain = tide_json_is_plain(text);
  is_quoted = is_quoted || (text.len > 0 && memchr(text.data, ',', text.len) != NULL);
  for (gsize i = 0; !is_quoted && !is_plain && i < text.len; i++)
    is_quoted = text.data[i] == '"' || text.data[i] == '\r' || text.data[i] == '\n';
  if (!is_quoted)
    return;
  g_autofree guint8 *field = g_memdup2(text.data, text.len);
  out->len = begin;
  tide_buffer_append_byte(out, '"');
  for (gsize i = 0; i < text.len; i++) {
    if (field[i] == '"')
      tide_buffer_append_byte(out, '"');
    tide_buffer_append_byte(out, field[i]);
  }
  tide_buffer_append_byte(out, '"');
}

void
tide_csv_append(TideBuffer *out, const char *field)
{
  gsize begin = out->len;
  tide_buffer_append_bytes(out, tide_bytes_of_string(field));
  tide_csv_quote(out, begin);
}

/* Escapes characters that control a terminal or are invisible, although JSON does not require it. */
static void
append_shown(TideBuffer *out, const char *text, gsize len)
{
  for (const char *at = text; at < text + len; at = g_utf8_next_char(at)) {
    gunichar c = g_utf8_get_char(at);
    char form[TIDE_JSON_ESCAPE_BYTES];
    if (c != '"' && is_shown_as_is(c))
      tide_buffer_append(out, at, (gsize)(g_utf8_next_char(at) - at));
    else
      tide_buffer_append(out, form, tide_json_escape(c, TIDE_JSON_LINES, form));
  }
}

/* NUL is valid UTF-8, though g_utf8_validate_len() rejects it. */
gboolean
tide_text_is_utf8(TideBytes bytes)
{
  const char *at = (const char *)bytes.data;
  gsize left = bytes.len;
  while (left > 0) {
    const char *end = NULL;
    if (g_utf8_validate_len(at, left, &end))
      return TRUE;
    if (*end != '\0')
      return FALSE;
    left -= (gsize)(end - at) + 1;
    at = end + 1;
  }
  return TRUE;
}

/* FALSE: @bytes are not text, and are shown as by tide_text_printable(). */
static gboolean
append_text_or_bytes(TideBuffer *out, TideBytes bytes)
{
  gboolean is_plain = tide_json_is_plain(bytes), is_text = is_plain || tide_text_is_utf8(bytes);
  tide_buffer_append_byte(out, '"');
  if (is_plain) {
    tide_buffer_append_bytes(out, bytes);
  } else if (is_text) {
    append_shown(out, (const char *)bytes.data, bytes.len);
  } else {
    g_autofree char *text = tide_text_printable(bytes);
    append_shown(out, text, strlen(text));
  }
  tide_buffer_append_byte(out, '"');
  return is_text;
}

void
tide_json_shown_append(TideBuffer *out, TideBytes bytes)
{
  (void)append_text_or_bytes(out, bytes);
}

static void
append_hex_member(TideBuffer *out, const char *name, TideBytes bytes)
{
  tide_json_name(out, name);
  out->len -= strlen("\":");
  tide_buffer_append_bytes(out, TIDE_BYTES_LITERAL("_hex\":\""));
  tide_bytes_append_hex(bytes, out);
  tide_buffer_append_byte(out, '"');
}

void
tide_json_shown(TideBuffer *out, const char *name, TideBytes bytes)
{
  tide_json_name(out, name);
  if (!append_text_or_bytes(out, bytes) && name != NULL)
    append_hex_member(out, name, bytes);
}

void
tide_json_shown_and_hex(TideBuffer *out, const char *name, TideBytes bytes)
{
  tide_json_name(out, name);
  tide_json_shown_append(out, bytes);
  append_hex_member(out, name, bytes);
}

void
tide_json_print_line(TideBuffer *out, FILE *stream)
{
  tide_json_close(out, "}\n");
  fwrite(out->data, 1, out->len, stream);
  tide_buffer_reset(out);
}

/* TRUE if standard output is a pipe whose reader is gone. */
static gboolean
reader_is_gone(void)
{
  struct pollfd output = {.fd = STDOUT_FILENO}; /* a pipe or socket without a reader reports POLLERR in any case */
  return poll(&output, 1, 0) == 1 && (output.revents & POLLERR) != 0;
}

int
tide_output_close(void)
{
  errno = 0;
  gboolean failed = fflush(stdout) != 0 || ferror(stdout);
  if (!failed || reader_is_gone())
    return TIDE_EXIT_OK;
  /* The errno of an earlier write is lost. */
  tide_say("tidemark: cannot write the output: %s", errno != 0 ? g_strerror(errno) : "an earlier write failed");
  return TIDE_EXIT_IO;
}
