#include "commands/verify/letters.h"

#include "commands/dead_letters/letter_source.h"
#include "dead_letters/dead_letters.h"
#include "util/error.h"

struct TideVerifyLetters {
  GArray *all; /* owned (element-type TideVerifyLetter), sorted */
};

/* What is to be done while they are read. */
typedef struct Collecting {
  TideVerifyLetters *letters; /* borrowed, all */
  const GArray *parts;
  guint max_letters;
} Collecting;

void
tide_verify_letters_free(TideVerifyLetters *letters)
{
  if (letters == NULL)
    return;
  g_array_unref(letters->all);
  g_free(letters);
}

static gboolean
is_of_window(const TideTopicPart *part, const TideLetter *letter)
{
  return part->partition == letter->partition && part->begin <= letter->offset && letter->offset < part->end &&
         tide_bytes_equal(tide_bytes_of_string(part->topic), letter->topic);
}

static gboolean
take_letter(const TideLetter *letter, gint64 kept_at_ms, gpointer data, GError **error)
{
  Collecting *collecting = data;
  for (guint i = 0; i < collecting->parts->len; i++) {
    if (!is_of_window(&g_array_index(collecting->parts, TideTopicPart, i), letter))
      continue;
    TideVerifyLetter kept = {tide_verify_source(i, letter->offset), letter->reading_index};
    g_array_append_val(collecting->letters->all, kept);
    break;
  }
  if (collecting->letters->all->len <= collecting->max_letters)
    return TRUE;
  g_set_error(error, TIDE_ERROR, TIDE_ERROR_TOO_BIG,
              "there are more than %u dead letters: give more with '--memory', or take less with '--from' and '--to'",
              collecting->max_letters);
  return FALSE;
}

static int
compare_letters(gconstpointer a, gconstpointer b)
{
  const TideVerifyLetter *left = a, *right = b;
  if (left->source != right->source)
    return left->source < right->source ? -1 : 1;
  return (left->reading > right->reading) - (left->reading < right->reading);
}

TideVerifyLetters *
tide_verify_letters_read(const TideConfig *config, const char *file, const GArray *parts, guint max_letters,
                         GError **error)
{
  g_autoptr(TideVerifyLetters) letters = g_new0(TideVerifyLetters, 1);
  letters->all = g_array_new(FALSE, FALSE, sizeof(TideVerifyLetter));
  g_autofree char *kept_in = tide_dead_letters_file_path(config);
  TideLetterPlace place = {.topic = file == NULL ? config->dead_letters.topic : NULL,
                           .file = file != NULL ? file : kept_in};
  if (place.topic == NULL && place.file == NULL)
    return g_steal_pointer(&letters);
  Collecting collecting = {letters, parts, max_letters};
  TideLetterFilter all = {.to_ms = G_MAXINT64};
  TideLetterCounts counts;
  g_autoptr(GError) fault = NULL;
  if (!tide_letter_source_read(config, &place, &all, take_letter, &collecting, &counts, &fault) &&
      (file != NULL || !g_error_matches(fault, TIDE_ERROR, TIDE_ERROR_NOT_FOUND))) {
    g_propagate_prefixed_error(error, g_steal_pointer(&fault), "cannot read the dead letters: ");
    return NULL;
  }
  g_array_sort(letters->all, compare_letters);
  return g_steal_pointer(&letters);
}

const TideVerifyLetter *
tide_verify_letters_of(const TideVerifyLetters *letters, TideVerifySource source, guint *ret_n)
{
  const TideVerifyLetter *all = (const TideVerifyLetter *)(gconstpointer)letters->all->data;
  guint low = 0, high = letters->all->len;
  while (low < high) {
    guint middle = low + (high - low) / 2;
    if (all[middle].source < source)
      low = middle + 1;
    else
      high = middle;
  }
  guint n = 0;
  while (low + n < letters->all->len && all[low + n].source == source)
    n++;
  *ret_n = n;
  return n > 0 ? &all[low] : NULL;
}
