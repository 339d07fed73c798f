#include "commands/verify/messages.h"

struct TideVerifyMessages {
  TideVerifyTables *tables;                  /* borrowed */
  TideVerifyCells *cells;                    /* borrowed */
  const TideVerifyDeadLetters *dead_letters; /* borrowed */
  TideMapping *mapping;                      /* owned */
};

TideVerifyMessages *
tide_verify_messages_new(const TideConfig *config, TideVerifyTables *tables, TideVerifyCells *cells,
                         const TideVerifyDeadLetters *dead_letters)
{
  TideVerifyMessages *messages = g_new0(TideVerifyMessages, 1);
  messages->tables = tables;
  messages->cells = cells;
  messages->dead_letters = dead_letters;
  /* The wire's protocol is of no meaning here: nothing is encoded but the columns' names. */
  messages->mapping = tide_mapping_new(config, tide_gateway_session_mode(tide_verify_tables_session(tables)).protocol);
  return messages;
}

void
tide_verify_messages_free(TideVerifyMessages *messages)
{
  if (messages == NULL)
    return;
  tide_mapping_free(messages->mapping);
  g_free(messages);
}

/* One message on its way into the set. */
typedef struct Addition {
  TideVerifyMessages *messages;
  TideVerifyRole role; /* of the row at hand */
  TideVerifySource source;
  TideVerifyMessageCounts *counts; /* nullable */
} Addition;

/* What replaces a row, or deletes it, leaves nothing of an earlier time in it. A dead-lettered one may have done so. */
static void
delete_row(const Addition *addition, TideVerifyRow hash, const TideRow *row)
{
  if (row->delete_to_ms > 0)
    tide_verify_cells_delete(addition->messages->cells, hash, row->delete_to_ms, addition->role == TIDE_VERIFY_MUST);
}

static void
add_cell(const Addition *addition, TideVerifyEntry *entry)
{
  TideVerifyMessages *messages = addition->messages;
  entry->source = addition->source;
  switch (addition->role) {
  case TIDE_VERIFY_MUST:
    tide_verify_cells_expect(messages->cells, entry,
                             tide_verify_tables_family(messages->tables, entry->family)->versions);
    break;
  case TIDE_VERIFY_MAY:
    tide_verify_cells_allow(messages->cells, entry);
    break;
  case TIDE_VERIFY_EXPLAIN:
    tide_verify_cells_explain(messages->cells, entry);
    break;
  }
}

static TideResultCell
as_result(const TideCell *cell)
{
  return (TideResultCell){.family = cell->column->family,
                          .qualifier = cell->column->qualifier,
                          .value = cell->value,
                          .timestamp_ms = cell->timestamp_ms};
}

static gboolean
add_row(const Addition *addition, const TideRow *row, GError **error)
{
  TideVerifyMessages *messages = addition->messages;
  guint slot;
  if (!tide_verify_tables_find(messages->tables, row, &slot, error))
    return FALSE;
  if (slot == TIDE_TABLE_NONE)
    return TRUE;
  if (addition->counts != NULL)
    addition->counts->cells += row->n_cells;
  if (addition->role == TIDE_VERIFY_MUST)
    for (guint32 i = 0; i < row->n_cells; i++)
      tide_verify_tables_note_time(messages->tables, slot, row->cells[i].timestamp_ms);
  TideVerifyRow hash = tide_verify_row(slot, row->key);
  if (!tide_verify_cells_takes(messages->cells, hash))
    return TRUE;
  delete_row(addition, hash, row);
  for (guint32 i = 0; i < row->n_cells; i++) {
    TideResultCell cell = as_result(&row->cells[i]);
    TideVerifyEntry entry;
    if (!tide_verify_tables_entry(messages->tables, slot, hash, &cell, &entry))
      continue;
    entry.identity = row->identity;
    add_cell(addition, &entry);
  }
  return TRUE;
}

/* The dead letters that have the place of a message. */
typedef struct LettersOfPlace {
  const TideVerifyDeadLetter *all; /* borrowed */
  guint n;
  guint64 content; /* the message's */
} LettersOfPlace;

/* Of the message or, where the original is gone, of @row; @row: NULL: of any. */
static gboolean
is_of(const LettersOfPlace *letters, guint i, const TideRow *row)
{
  const TideVerifyDeadLetter *letter = &letters->all[i];
  if (letter->is_of_row)
    return row == NULL || letter->content == tide_verify_row_content(row->key);
  return letter->content == letters->content;
}

/* MAY for what a dead letter says that it was not written. */
static TideVerifyRole
role_of(const LettersOfPlace *letters, const TideRow *row)
{
  for (guint i = 0; i < letters->n; i++) {
    const TideVerifyDeadLetter *letter = &letters->all[i];
    if (letter->is_unwritten && (letter->reading < 0 || (guint32)letter->reading == row->reading_index) &&
        is_of(letters, i, row))
      return TIDE_VERIFY_MAY;
  }
  return TIDE_VERIFY_MUST;
}

static gboolean
is_dead_lettered(const LettersOfPlace *letters)
{
  for (guint i = 0; i < letters->n; i++)
    if (is_of(letters, i, NULL))
      return TRUE;
  return FALSE;
}

gboolean
tide_verify_messages_add(TideVerifyMessages *messages, const TideMessage *message, guint part, TideVerifyRole role,
                         TideVerifyMessageCounts *counts, GError **error)
{
  Addition addition = {messages, role, tide_verify_source(part, message->offset), counts};
  LettersOfPlace letters;
  letters.all = tide_verify_dead_letters_of(messages->dead_letters, addition.source, &letters.n);
  letters.content = letters.n > 0 ? tide_verify_message_content(message->key, message->value) : 0;
  TideMapped mapped;
  TideReject reject = {0};
  gboolean is_mapped = tide_mapping_apply(messages->mapping, message, &mapped, &reject);
  if (counts != NULL) {
    counts->messages++;
    counts->dead_lettered += is_dead_lettered(&letters) ? 1 : 0;
    counts->rejected[reject.reason] += is_mapped ? 0 : 1;
    counts->unmatched += is_mapped ? mapped.n_unmatched_readings : 0;
    counts->rejected_readings += is_mapped ? mapped.n_rejects : 0;
  }
  for (guint32 i = 0; is_mapped && i < mapped.n_rows; i++) {
    if (role != TIDE_VERIFY_EXPLAIN)
      addition.role = role_of(&letters, &mapped.rows[i]);
    if (!add_row(&addition, &mapped.rows[i], error))
      return FALSE;
  }
  return TRUE;
}

gboolean
tide_verify_messages_walk(TideVerifyMessages *messages, const TideMessage *message, TideVerifyCellFunc func,
                          gpointer data, GError **error)
{
  TideMapped mapped;
  TideReject reject = {0};
  if (!tide_mapping_apply(messages->mapping, message, &mapped, &reject))
    return TRUE;
  for (guint32 i = 0; i < mapped.n_rows; i++) {
    const TideRow *row = &mapped.rows[i];
    guint slot;
    if (!tide_verify_tables_find(messages->tables, row, &slot, error))
      return FALSE;
    for (guint32 k = 0; slot != TIDE_TABLE_NONE && k < row->n_cells; k++) {
      TideResultCell cell = as_result(&row->cells[k]);
      TideVerifyEntry entry;
      if (tide_verify_tables_entry(messages->tables, slot, tide_verify_row(slot, row->key), &cell, &entry) &&
          !func(slot, row, &row->cells[k], &entry, data))
        return TRUE;
    }
  }
  return TRUE;
}
