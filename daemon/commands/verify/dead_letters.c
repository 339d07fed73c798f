#include "commands/verify/dead_letters.h"

#include "commands/dead_letters/dead_letter_source.h"
#include "dead_letters/dead_letter_queue.h"
#include "util/error.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

struct TideVerifyDeadLetters {
  GArray *all; /* owned (element-type TideVerifyDeadLetter), sorted */
};

/* What is to be done while they are read. */
typedef struct Collecting {
  TideVerifyDeadLetters *dead_letters; /* borrowed, all */
  const GArray *parts;
  guint max_dead_letters;
} Collecting;

void
tide_verify_dead_letters_free(TideVerifyDeadLetters *dead_letters)
{
  if (dead_letters == NULL)
    return;
  g_array_unref(dead_letters->all);
  g_free(dead_letters);
}

static gboolean
is_of_window(const TideTopicPart *part, const TideDeadLetter *dead_letter)
{
  return part->partition == dead_letter->partition && part->begin <= dead_letter->offset &&
         dead_letter->offset < part->end && tide_bytes_equal(tide_bytes_of_string(part->topic), dead_letter->topic);
}

guint64
tide_verify_row_content(TideBytes row_key)
{
  return XXH3_64bits(row_key.len > 0 ? row_key.data : (const guint8 *)"", row_key.len);
}

guint64
tide_verify_message_content(TideBytes key, TideBytes value)
{
  guint64 of_key = tide_verify_row_content(key);
  return XXH3_64bits_withSeed(value.len > 0 ? value.data : (const guint8 *)"", value.len, of_key);
}

/* Whether the reason is none of a mapping, or one of the clock, which this command does not ask. */
static gboolean
is_unwritten(const TideDeadLetter *dead_letter)
{
  const char *const reasons[] = {TIDE_DEAD_LETTER_REASON_REFUSED, tide_reject_reason_name(TIDE_REJECT_TIME_FUTURE)};
  for (gsize i = 0; i < G_N_ELEMENTS(reasons); i++)
    if (tide_bytes_equal(dead_letter->reason, tide_bytes_of_string(reasons[i])))
      return TRUE;
  return FALSE;
}

static gboolean
take_dead_letter(const TideDeadLetter *dead_letter, gint64 kept_at_ms, gpointer data, GError **error)
{
  Collecting *collecting = data;
  for (guint i = 0; i < collecting->parts->len; i++) {
    if (!is_of_window(&g_array_index(collecting->parts, TideTopicPart, i), dead_letter))
      continue;
    TideVerifyDeadLetter kept = {.source = tide_verify_source(i, dead_letter->offset),
                                 .reading = dead_letter->reading_index,
                                 .is_of_row = dead_letter->original_is_gone,
                                 .is_unwritten = is_unwritten(dead_letter),
                                 .content = dead_letter->original_is_gone
                                                ? tide_verify_row_content(dead_letter->row_key)
                                                : tide_verify_message_content(dead_letter->key, dead_letter->value)};
    g_array_append_val(collecting->dead_letters->all, kept);
    break;
  }
  if (collecting->dead_letters->all->len <= collecting->max_dead_letters)
    return TRUE;
  g_set_error(error, TIDE_ERROR, TIDE_ERROR_TOO_BIG,
              "there are more than %u dead letters: give more with '--memory', or take less with '--from' and '--to'",
              collecting->max_dead_letters);
  return FALSE;
}

static int
compare_dead_letters(gconstpointer a, gconstpointer b)
{
  const TideVerifyDeadLetter *left = a, *right = b;
  if (left->source != right->source)
    return left->source < right->source ? -1 : 1;
  return (left->reading > right->reading) - (left->reading < right->reading);
}

TideVerifyDeadLetters *
tide_verify_dead_letters_read(const TideConfig *config, const char *file, const GArray *parts, guint max_dead_letters,
                              GError **error)
{
  g_autoptr(TideVerifyDeadLetters) dead_letters = g_new0(TideVerifyDeadLetters, 1);
  dead_letters->all = g_array_new(FALSE, FALSE, sizeof(TideVerifyDeadLetter));
  g_autofree char *kept_in = tide_dead_letter_queue_file_path(config);
  TideDeadLetterLocation location = {.topic = file == NULL ? config->dead_letters.topic : NULL,
                                     .file = file != NULL ? file : kept_in};
  if (location.topic == NULL && location.file == NULL)
    return g_steal_pointer(&dead_letters);
  Collecting collecting = {dead_letters, parts, max_dead_letters};
  TideDeadLetterFilter all = {.to_ms = G_MAXINT64};
  TideDeadLetterCounts counts;
  g_autoptr(GError) fault = NULL;
  if (!tide_dead_letter_source_read(config, &location, &all, take_dead_letter, &collecting, &counts, &fault) &&
      (file != NULL || !g_error_matches(fault, TIDE_ERROR, TIDE_ERROR_NOT_FOUND))) {
    g_propagate_prefixed_error(error, g_steal_pointer(&fault), "cannot read the dead letters: ");
    return NULL;
  }
  g_array_sort(dead_letters->all, compare_dead_letters);
  return g_steal_pointer(&dead_letters);
}

const TideVerifyDeadLetter *
tide_verify_dead_letters_of(const TideVerifyDeadLetters *dead_letters, TideVerifySource source, guint *ret_n)
{
  const TideVerifyDeadLetter *all = (const TideVerifyDeadLetter *)(gconstpointer)dead_letters->all->data;
  guint low = 0, high = dead_letters->all->len;
  while (low < high) {
    guint middle = low + (high - low) / 2;
    if (all[middle].source < source)
      low = middle + 1;
    else
      high = middle;
  }
  guint n = 0;
  while (low + n < dead_letters->all->len && all[low + n].source == source)
    n++;
  *ret_n = n;
  return n > 0 ? &all[low] : NULL;
}
