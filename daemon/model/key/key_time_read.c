/* Reads the moments back that the time parts of a key name. */
#include "model/key/key_part.h"

/* Narrows @moments to [@from_ns, @to_ns) that the parts' cut times are in: to the slots that begin there. */
static TideKeyNarrowing
narrow_to(const TideKeyPart *part, gint64 first_ns, gint64 last_ns, TideKeyMoments *moments)
{
  if (part->moment.cut_to.unit != TIDE_CUT_NONE) {
    gint64 start_ns = tide_time_cut_start_ns(part->moment.cut_to, part->moment.zone, first_ns);
    gint64 end_ns = tide_time_cut_end_ns(part->moment.cut_to, part->moment.zone, last_ns);
    if (start_ns < first_ns)
      start_ns = tide_time_cut_end_ns(part->moment.cut_to, part->moment.zone, first_ns);
    if (start_ns > last_ns)
      return TIDE_KEY_IMPOSSIBLE;
    first_ns = start_ns;
    last_ns = end_ns > last_ns ? end_ns - 1 : G_MAXINT64; /* the slot goes on behind the last moment of all */
  }
  moments->first_ns = MAX(moments->first_ns, first_ns);
  moments->last_ns = MIN(moments->last_ns, last_ns);
  return moments->first_ns <= moments->last_ns ? TIDE_KEY_NARROWED : TIDE_KEY_IMPOSSIBLE;
}

static gboolean
read_number(const TideKeyPart *part, TideBytes bytes, guint64 *ret_number)
{
  guint64 number = 0;
  for (gsize i = 0; i < bytes.len; i++) {
    guint8 byte = bytes.data[i];
    if (!part->binary && !g_ascii_isdigit(byte))
      return FALSE;
    number = part->binary ? number << 8 | byte : number * 10 + (guint64)(byte - '0'); /* 19 digits at most */
  }
  *ret_number = number;
  return number <= G_MAXINT64;
}

/* The units that a number stands for: several where digits were dropped. */
static gboolean
read_units(const TideKeyPart *part, TideBytes bytes, guint64 *ret_least, guint64 *ret_greatest)
{
  guint64 number;
  if (!read_number(part, bytes, &number))
    return FALSE;
  guint64 least = number * part->moment.divisor,
          greatest = least + part->moment.divisor - 1; /* at most 19 digits together */
  *ret_least = least;
  *ret_greatest = greatest;
  if (!part->moment.reversed)
    return TRUE;
  if (least > part->moment.reversed_from)
    return FALSE;
  *ret_least = part->moment.reversed_from - MIN(greatest, part->moment.reversed_from);
  *ret_greatest = part->moment.reversed_from - least;
  return TRUE;
}

static TideKeyNarrowing
narrow_counted(const TideKeyPart *part, TideBytes bytes, TideKeyMoments *moments)
{
  guint64 least, greatest;
  gint64 unit_ns = tide_key_unit_ns(part->moment.unit);
  if (!read_units(part, bytes, &least, &greatest))
    return TIDE_KEY_IMPOSSIBLE;
  gint64 base_ns = tide_key_time_base_ns(part, moments->first_ns);
  if (base_ns != tide_key_time_base_ns(part, moments->last_ns))
    return TIDE_KEY_UNRESOLVED;
  __int128 first_ns = base_ns + (__int128)least * unit_ns, last_ns = base_ns + ((__int128)greatest + 1) * unit_ns - 1;
  if (first_ns > G_MAXINT64)
    return TIDE_KEY_IMPOSSIBLE;
  return narrow_to(part, (gint64)first_ns, (gint64)MIN(last_ns, G_MAXINT64), moments);
}

/* The elements of a part, those that it does not name taken from the moments it was narrowed to already, as far as
 * these agree on them. */
typedef struct Completed {
  TideTimeElements elements;
  gboolean is_complete; /* down to the smallest one that is named; else: down to the first that is not known */
} Completed;

static Completed
complete(const TideKeyPart *part, const TideTimeElements *named, const TideKeyMoments *moments)
{
  Completed completed = {.elements = *named, .is_complete = TRUE};
  const TideTimePrint *print = part->moment.print;
  gint64 first_ns = moments->first_ns;
  gboolean is_shown = print->first_level > TIDE_LEVEL_YEAR || !print->descends;
  TideTimeElements shown = {0};
  if (is_shown)
    shown = tide_time_elements_at(part->moment.zone,
                                  part->moment.cut_to.unit == TIDE_CUT_NONE
                                      ? first_ns
                                      : tide_time_cut_start_ns(part->moment.cut_to, part->moment.zone, first_ns));
  for (TideTimeLevel level = TIDE_LEVEL_YEAR; level <= print->last_level; level++) {
    int *value = &completed.elements.values[level];
    if (!completed.is_complete)
      *value = -1;
    else if (*value >= 0)
      continue;
    else if (is_shown && tide_key_time_agrees(part, level, first_ns, moments->last_ns))
      *value = shown.values[level];
    else
      completed.is_complete = FALSE;
  }
  return completed;
}

static TideKeyNarrowing
narrow_printed(const TideKeyPart *part, TideBytes bytes, TideKeyMoments *moments)
{
  TideTimeElements named;
  gint64 from_ns, to_ns;
  if (!tide_time_print_read(part->moment.print, bytes, &named))
    return TIDE_KEY_IMPOSSIBLE;
  Completed completed = complete(part, &named, moments);
  if (completed.elements.values[TIDE_LEVEL_YEAR] < 0)
    return TIDE_KEY_UNRESOLVED;
  if (!tide_time_elements_interval(&completed.elements, part->moment.zone, &from_ns, &to_ns) || to_ns <= 0)
    return TIDE_KEY_IMPOSSIBLE;
  TideKeyNarrowing narrowing = narrow_to(part, MAX(from_ns, 0), to_ns - 1, moments);
  return narrowing == TIDE_KEY_NARROWED && !completed.is_complete ? TIDE_KEY_UNRESOLVED : narrowing;
}

TideKeyNarrowing
tide_key_time_narrow(const TideKeyPart *part, TideBytes bytes, TideKeyMoments *moments)
{
  return part->moment.print != NULL ? narrow_printed(part, bytes, moments) : narrow_counted(part, bytes, moments);
}
