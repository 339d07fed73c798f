#include "kafka/commit_note.h"

#define BEGINNING "tidemark 1 "

/* The cause of a halt is one decimal digit. */
#define CAUSE_BASE 10
G_STATIC_ASSERT(TIDE_HALT_N_CAUSES <= CAUSE_BASE);

const TideHaltKind tide_halt_kinds[] = {
    [TIDE_HALT_NONE] = {.text = "it is not halted", .prevention = ""},
    [TIDE_HALT_BEYOND_END] = {.text = "the offset to be read next is beyond the partition's end: the topic was "
                                      "recreated, or lost its newest messages",
                              .prevention = "",
                              .is_of_offset = TRUE},
    [TIDE_HALT_DELETED] = {.text = "the messages to be read next were deleted before they were read",
                           .prevention = ", or set kafka.on_lost_offsets to continue; a longer retention.ms of the "
                                         "topic prevents it",
                           .is_of_offset = TRUE},
    [TIDE_HALT_TAKEN] = {.text = "a consumer that is not tidemark committed an offset of this group beyond what "
                                 "tidemark has written",
                         .prevention = "",
                         .is_of_offset = TRUE,
                         .is_passed_there = TRUE},
    [TIDE_HALT_RECREATED] = {.text = "the topic was deleted and created again, or its offsets were deleted",
                             .prevention = "",
                             .is_of_offset = TRUE},
    [TIDE_HALT_MESSAGE] = {.text = "a message can be neither written nor kept as a dead letter",
                           .prevention = "",
                           .is_passed_there = TRUE,
                           .n_skipped = 1},
};

gint64
tide_halt_past(const TideHaltNote *halt, gint64 committed)
{
  const TideHaltKind *kind = &tide_halt_kinds[halt->cause];
  return kind->is_passed_there ? halt->offset + kind->n_skipped : committed;
}

char *
tide_commit_note_format(const TideCommitNote *note)
{
  GString *text = g_string_new(BEGINNING);
  g_string_append(text, note->is_closed ? "closed" : "running");
  if (note->tables_mark != 0)
    g_string_append_printf(text, " until=-%u", note->tables_mark);
  if (note->until_ms > 0)
    g_string_append_printf(text, " until=%" G_GINT64_FORMAT " time=%" G_GINT64_FORMAT, note->until_ms, note->time_ms);
  g_string_append_printf(text, " span=%" G_GUINT64_FORMAT, note->span_messages);
  gint64 start = note->halt.cause != TIDE_HALT_NONE ? -(note->halt.offset * CAUSE_BASE + (gint64)note->halt.cause)
                                                    : note->start_ms;
  if (start != 0)
    g_string_append_printf(text, " start=%" G_GINT64_FORMAT, start);
  return g_string_free(text, FALSE);
}

static gboolean
parse_number(const char *word, const char *name, gint64 *ret_number)
{
  return g_str_has_prefix(word, name) &&
         g_ascii_string_to_signed(word + strlen(name), 10, G_MININT64, G_MAXINT64, ret_number, NULL);
}

/* FALSE: a cause that only a later version knows. */
static gboolean
parse_start(gint64 start, TideCommitNote *note)
{
  if (start >= 0) {
    note->start_ms = start;
    return TRUE;
  }
  guint64 halted = -(guint64)start;
  note->halt = (TideHaltNote){(TideHaltCause)(halted % CAUSE_BASE), (gint64)(halted / CAUSE_BASE)};
  return note->halt.cause != TIDE_HALT_NONE && note->halt.cause < TIDE_HALT_N_CAUSES;
}

static gboolean
parse_word(const char *word, TideCommitNote *note)
{
  gint64 span, start, until;
  if (strcmp(word, "closed") == 0 || strcmp(word, "running") == 0) {
    note->is_closed = *word == 'c';
    return TRUE;
  }
  if (parse_number(word, "start=", &start))
    return parse_start(start, note);
  if (parse_number(word, "until=", &until)) {
    if (until >= 0)
      note->until_ms = until;
    else
      note->tables_mark = (guint32)MIN(-(guint64)until, G_MAXUINT32);
    return TRUE;
  }
  if (!parse_number(word, "span=", &span))
    return parse_number(word, "time=", &note->time_ms);
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
