/* Maps messages to cells with the daemon's mapping: those that must be in the tables, those that may be because of a
 * dead letter, and those that explain a found cell. */
#include "commands/dead_letters/dead_letter_source.h"
#include "commands/verify/verification.h"
#include "dead_letters/dead_letter_queue.h"
#include "util/error.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

/* ---- dead letters ---- */

/* State while dead letters are read. */
typedef struct Collecting {
  TideVerification *verification; /* borrowed */
  guint max_dead_letters;
} Collecting;

static guint64
row_content(TideBytes row_key)
{
  return XXH3_64bits(row_key.len > 0 ? row_key.data : (const guint8 *)"", row_key.len);
}

/* The hash that identifies a message in dead letters. */
static guint64
message_content(TideBytes key, TideBytes value)
{
  return XXH3_64bits_withSeed(value.len > 0 ? value.data : (const guint8 *)"", value.len, row_content(key));
}

static gboolean
take_dead_letter(const TideDeadLetter *dead_letter, gint64 kept_at_ms, gpointer data, GError **error)
{
  /* Reasons that are not from a mapping, or that depend on the clock, which this command does not check. */
  const char *const unwritten[] = {TIDE_DEAD_LETTER_REASON_REFUSED, tide_reject_reason_name(TIDE_REJECT_TIME_FUTURE)};
  const Collecting *collecting = data;
  const GArray *parts = collecting->verification->input.parts;
  GArray *all = collecting->verification->dead_letters;
  for (guint i = 0; i < parts->len; i++) {
    const TideTopicPart *part = &g_array_index(parts, TideTopicPart, i);
    if (part->partition != dead_letter->partition || dead_letter->offset < part->begin ||
        dead_letter->offset >= part->end || !tide_bytes_equal(tide_bytes_of_string(part->topic), dead_letter->topic))
      continue;
    TideVerifyDeadLetter kept = {.source = tide_verify_source(i, dead_letter->offset),
                                 .reading = dead_letter->reading_index,
                                 .is_of_row = dead_letter->original_is_gone,
                                 .content = dead_letter->original_is_gone
                                                ? row_content(dead_letter->row_key)
                                                : message_content(dead_letter->key, dead_letter->value)};
    for (gsize k = 0; k < G_N_ELEMENTS(unwritten); k++)
      kept.is_unwritten |= tide_bytes_equal(dead_letter->reason, tide_bytes_of_string(unwritten[k]));
    g_array_append_val(all, kept);
    break;
  }
  if (all->len <= collecting->max_dead_letters)
    return TRUE;
  return tide_fail(
      error, TIDE_ERROR_TOO_BIG,
      "there are more than %u dead letters: raise '--memory', or narrow the window with '--from' and '--to'",
      collecting->max_dead_letters);
}

static int
compare_dead_letters(gconstpointer a, gconstpointer b)
{
  const TideVerifyDeadLetter *left = a, *right = b;
  if (left->source != right->source)
    return left->source < right->source ? -1 : 1;
  return (left->reading > right->reading) - (left->reading < right->reading);
}

gboolean
tide_verify_dead_letters_read(TideVerification *verification, const char *file, guint max_dead_letters, GError **error)
{
  const TideConfig *config = verification->config;
  g_autofree char *kept_in = tide_dead_letter_queue_file_path(config);
  TideDeadLetterLocation location = {.topic = file == NULL ? config->dead_letters.topic : NULL,
                                     .file = file != NULL ? file : kept_in};
  verification->dead_letters = g_array_new(FALSE, FALSE, sizeof(TideVerifyDeadLetter));
  if (location.topic == NULL && location.file == NULL)
    return TRUE;
  Collecting collecting = {verification, max_dead_letters};
  TideDeadLetterFilter all = {.to_ms = G_MAXINT64};
  TideDeadLetterCounts counts;
  g_autoptr(GError) fault = NULL;
  if (!tide_dead_letter_source_read(config, &location, &all, take_dead_letter, &collecting, &counts, &fault) &&
      (file != NULL || !g_error_matches(fault, TIDE_ERROR, TIDE_ERROR_NOT_FOUND))) {
    g_propagate_prefixed_error(error, g_steal_pointer(&fault), "cannot read the dead letters: ");
    return FALSE;
  }
  g_array_sort(verification->dead_letters, compare_dead_letters);
  return TRUE;
}

/* The dead letters with a message's partition and offset. */
typedef struct LettersOfPlace {
  const TideVerifyDeadLetter *all; /* borrowed */
  guint n;
  guint64 content; /* the message's */
} LettersOfPlace;

static LettersOfPlace
letters_of(const TideVerification *verification, TideVerifySource source, const TideMessage *message)
{
  const GArray *all = verification->dead_letters;
  guint low = 0, high = all->len;
  while (low < high) {
    guint middle = low + (high - low) / 2;
    if (g_array_index(all, TideVerifyDeadLetter, middle).source < source)
      low = middle + 1;
    else
      high = middle;
  }
  LettersOfPlace letters = {.n = 0};
  while (low + letters.n < all->len && g_array_index(all, TideVerifyDeadLetter, low + letters.n).source == source)
    letters.n++;
  if (letters.n > 0) {
    letters.all = &g_array_index(all, TideVerifyDeadLetter, low);
    letters.content = message_content(message->key, message->value);
  }
  return letters;
}

/* Matches the message or, if the original is gone, @row; @row: NULL: any. */
static gboolean
is_of(const LettersOfPlace *letters, guint i, const TideRow *row)
{
  const TideVerifyDeadLetter *letter = &letters->all[i];
  if (letter->is_of_row)
    return row == NULL || letter->content == row_content(row->key);
  return letter->content == letters->content;
}

/* MAY for everything that a dead letter reports as unwritten. */
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

/* ---- cells ---- */

static gboolean
add_row(TideVerification *verification, const TideRow *row, TideVerifySource source, TideVerifyRole role,
        TideVerifyMessageCounts *counts, GError **error)
{
  TideVerifyTables *tables = verification->tables;
  TideVerifyCells *cells = verification->cells;
  guint slot;
  if (!tide_verify_tables_find(tables, row, &slot, error))
    return FALSE;
  if (slot == TIDE_TABLE_NONE)
    return TRUE;
  if (counts != NULL)
    counts->cells += row->n_cells;
  if (role == TIDE_VERIFY_MUST)
    for (guint32 i = 0; i < row->n_cells; i++)
      tide_verify_tables_note_time(tables, slot, row->cells[i].timestamp_ms);
  TideVerifyRow hash = tide_verify_row(slot, row->key);
  if (role != TIDE_VERIFY_SAMPLE && !tide_verify_cells_takes(cells, hash))
    return TRUE;
  /* A row that replaces or deletes leaves no cells of an earlier time. A dead-lettered row may have deleted them. */
  if (role != TIDE_VERIFY_SAMPLE && row->delete_to_ms > 0)
    tide_verify_cells_delete(cells, hash, row->delete_to_ms, role == TIDE_VERIFY_MUST);
  for (guint32 i = 0; i < row->n_cells; i++) {
    const TideCell *cell = &row->cells[i];
    TideResultCell result = {.family = cell->column->family,
                             .qualifier = cell->column->qualifier,
                             .value = cell->value,
                             .timestamp_ms = cell->timestamp_ms};
    TideVerifyEntry entry;
    if (!tide_verify_tables_entry(tables, slot, hash, &result, &entry))
      continue;
    entry.identity = row->identity;
    entry.source = source;
    switch (role) {
    case TIDE_VERIFY_MUST:
      tide_verify_cells_expect(cells, &entry, tide_verify_tables_family(tables, entry.family)->versions);
      break;
    case TIDE_VERIFY_MAY:
      tide_verify_cells_allow(cells, &entry);
      break;
    case TIDE_VERIFY_EXPLAIN:
      tide_verify_cells_explain(cells, &entry);
      break;
    case TIDE_VERIFY_SAMPLE:
      tide_verify_samples_take(verification, slot, row, cell, &entry);
      break;
    }
  }
  return TRUE;
}

gboolean
tide_verify_messages_add(TideVerification *verification, const TideMessage *message, guint part, TideVerifyRole role,
                         TideVerifyMessageCounts *counts, GError **error)
{
  TideVerifySource source = tide_verify_source(part, message->offset);
  LettersOfPlace letters = letters_of(verification, source, message);
  TideMapped mapped;
  TideReject reject = {0};
  gboolean is_mapped = tide_mapping_apply(verification->mapping, message, &mapped, &reject);
  if (counts != NULL) {
    gboolean is_dead_lettered = FALSE;
    for (guint i = 0; i < letters.n; i++)
      is_dead_lettered |= is_of(&letters, i, NULL);
    counts->messages++;
    counts->dead_lettered += is_dead_lettered ? 1 : 0;
    counts->rejected[reject.reason] += is_mapped ? 0 : 1;
    counts->unmatched += is_mapped ? mapped.n_unmatched_readings : 0;
    counts->rejected_readings += is_mapped ? mapped.n_rejects : 0;
  }
  for (guint32 i = 0; is_mapped && i < mapped.n_rows; i++) {
    const TideRow *row = &mapped.rows[i];
    if (!add_row(verification, row, source, role == TIDE_VERIFY_MUST ? role_of(&letters, row) : role, counts, error))
      return FALSE;
  }
  return TRUE;
}
