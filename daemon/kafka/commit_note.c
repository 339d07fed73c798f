#include "kafka/commit_note.h"

#define BEGINNING "tidemark 1 "

char *
tide_commit_note_format(const TideCommitNote *note)
{
  GString *text = g_string_new(BEGINNING);
  g_string_append(text, note->is_closed ? "closed" : "running");
  if (note->until_ms > 0)
    g_string_append_printf(text, " until=%" G_GINT64_FORMAT " time=%" G_GINT64_FORMAT, note->until_ms, note->time_ms);
  g_string_append_printf(text, " span=%" G_GUINT64_FORMAT, note->span_messages);
  if (note->start_ms > 0)
    g_string_append_printf(text, " start=%" G_GINT64_FORMAT, note->start_ms);
  return g_string_free(text, FALSE);
}

static gboolean
parse_number(const char *word, const char *name, gint64 *ret_number)
{
  return g_str_has_prefix(word, name) &&
         g_ascii_string_to_signed(word + strlen(name), 10, G_MININT64, G_MAXINT64, ret_number, NULL);
}

static gboolean
parse_word(const char *word, TideCommitNote *note)
{
  gint64 span;
  if (strcmp(word, "closed") == 0 || strcmp(word, "running") == 0) {
    note->is_closed = *word == 'c';
    return TRUE;
  }
  if (!parse_number(word, "span=", &span))
    return parse_number(word, "until=", &note->until_ms) || parse_number(word, "time=", &note->time_ms) ||
           parse_number(word, "start=", &note->start_ms);
  note->span_messages = (guint64)span;
  return span >= 0;
}

gboolean
tide_commit_note_parse(TideBytes text, TideCommitNote *ret_note)
{
  g_autofree char *whole = g_strndup((const char *)text.data, text.len);
  *ret_note = (TideCommitNote){0};
  if (whole == NULL || !g_str_has_prefix(whole, BEGINNING) || strlen(whole) != text.len)
    return FALSE;
  g_auto(GStrv) words = g_strsplit(whole + strlen(BEGINNING), " ", -1);
  gboolean good = words[0] != NULL && *words[0] != '\0' && strchr(words[0], '=') == NULL;
  for (char **word = words; *word != NULL && good; word++)
    good = parse_word(*word, ret_note) && (word == words || strchr(*word, '=') != NULL);
  return good;
}
