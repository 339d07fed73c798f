/* Determines the order in which the times of a key sort. */
#include "model/key/key_part.h"

/* What the time parts seen so far together determine of a moment. */
typedef struct Known {
  gboolean is_exact;          /* the second is known, in any zone */
  TideTimeLevel level;        /* all levels down to this are known in zone_of's zone */
  const TideKeyPart *zone_of; /* NULL: nothing is known */
} Known;

static TideTimeLevel
level_of_cut(TideTimeCut cut)
{
  switch (cut.unit) {
  case TIDE_CUT_NONE:
    return TIDE_LEVEL_FRACTION;
  case TIDE_CUT_MINUTES:
    return cut.minutes == 1 ? TIDE_LEVEL_MINUTE : 60 % cut.minutes == 0 ? TIDE_LEVEL_HOUR : TIDE_LEVEL_DAY;
  case TIDE_CUT_DAY:
    return TIDE_LEVEL_DAY;
  case TIDE_CUT_MONTH:
    return TIDE_LEVEL_MONTH;
  case TIDE_CUT_WEEK: /* a week may begin in the previous year */
  case TIDE_CUT_YEAR:
    break;
  }
  return TIDE_LEVEL_YEAR;
}

/* The smallest level that must be known, with all larger ones, so that a part without them sorts. */
static TideTimeLevel
needed_level(const TideKeyPart *part)
{
  if (part->moment.print != NULL)
    return part->moment.print->first_level - 1; /* not the year: is_absolute() handles it */
  switch (part->moment.since.unit) {
  case TIDE_CUT_YEAR:
    return TIDE_LEVEL_YEAR;
  case TIDE_CUT_MONTH:
    return TIDE_LEVEL_MONTH;
  case TIDE_CUT_WEEK:
  case TIDE_CUT_DAY:
    return TIDE_LEVEL_DAY;
  case TIDE_CUT_NONE:
  case TIDE_CUT_MINUTES:
    break;
  }
  return part->moment.since.minutes % 60 == 0 ? TIDE_LEVEL_HOUR : TIDE_LEVEL_MINUTE;
}

static gboolean
is_absolute(const TideKeyPart *part)
{
  return part->moment.print != NULL ? part->moment.print->first_level == TIDE_LEVEL_YEAR
                                    : part->moment.since.unit == TIDE_CUT_NONE;
}

static gboolean
is_in_zone(const TideKeyPart *part, const Known *known)
{
  return known->zone_of != NULL && g_strcmp0(part->moment.zone_name, known->zone_of->moment.zone_name) == 0;
}

/* Whether @part never sorts a later moment before an earlier one (or after it, if reversed), among moments that agree
 * in all that is known. */
static gboolean
is_ordered_after(const TideKeyPart *part, const Known *known)
{
  if (part->moment.is_ambiguous || (part->moment.print != NULL && !part->moment.print->descends))
    return FALSE;
  if (is_absolute(part) || known->is_exact)
    return TRUE;
  return is_in_zone(part, known) && known->level >= needed_level(part);
}

/* Whether each slot of the counted part @part has a number of its own. It does not if too many digits are dropped. */
static gboolean
numbers_slots(const TideKeyPart *part)
{
  gint64 shortest_minutes = part->moment.cut_to.unit == TIDE_CUT_MINUTES ? part->moment.cut_to.minutes
                                                                         : 20 * 60; /* a day has at least 20 h */
  return tide_key_time_step_ns(part) <= shortest_minutes * 60 * G_GINT64_CONSTANT(1000000000);
}

static void
learn(Known *known, const TideKeyPart *part)
{
  TideTimeLevel level = level_of_cut(part->moment.cut_to);
  if (part->moment.print == NULL && level == TIDE_LEVEL_FRACTION) { /* it is not a slot of the calendar */
    known->is_exact = known->is_exact || tide_key_time_is_exact_to(part, G_GINT64_CONSTANT(1000000000));
    return;
  }
  if (part->moment.cut_to.unit == TIDE_CUT_WEEK || !is_ordered_after(part, known))
    return; /* weeks belong to neither months nor years, and an hour determines nothing without its day */
  if (part->moment.print == NULL && !numbers_slots(part))
    return;
  if (part->moment.print != NULL && part->moment.print->last_level < level)
    level = part->moment.print->last_level;
  if (known->zone_of == NULL || (is_in_zone(part, known) && level > known->level)) {
    known->zone_of = part;
    known->level = level;
  }
}

static gboolean
follows_from_earlier(const TideRowKey *key, gsize part_index)
{
  for (gsize i = 0; i < part_index; i++)
    if (key->parts[i].kind == TIDE_KEY_TIME && tide_key_time_follows(&key->parts[part_index], &key->parts[i]))
      return TRUE;
  return FALSE;
}

gsize
tide_key_times_end(const TideRowKey *key, gsize first)
{
  Known known = {0};
  gsize end = first + 1;
  for (gsize i = 0; i < key->n_parts; i++) {
    const TideKeyPart *part = &key->parts[i];
    if (part->kind != TIDE_KEY_TIME)
      continue;
    if (i > first && !follows_from_earlier(key, i)) {
      if (part->moment.reversed != key->parts[first].moment.reversed || !is_ordered_after(part, &known))
        return end;
      end = i + 1;
    }
    learn(&known, part);
  }
  return end;
}

int
tide_row_key_time_order(const TideRowKey *key)
{
  Known nothing = {0};
  gsize first = 0;
  while (first < key->n_parts && key->parts[first].kind != TIDE_KEY_TIME) {
    if (key->parts[first].kind == TIDE_KEY_HASH && tide_key_part_is_of_time(&key->parts[first]))
      return 0; /* no two moments share the parts before the time */
    first++;
  }
  if (first == key->n_parts || !is_absolute(&key->parts[first]) || !is_ordered_after(&key->parts[first], &nothing))
    return 0;
  gsize end = tide_key_times_end(key, first);
  gboolean is_interrupted = FALSE;
  for (gsize i = first + 1; i < key->n_parts; i++) {
    const TideKeyPart *part = &key->parts[i];
    if (part->kind != TIDE_KEY_TIME)
      is_interrupted = is_interrupted || part->kind != TIDE_KEY_LITERAL;
    else if (!follows_from_earlier(key, i) && (is_interrupted || i >= end))
      return 0; /* its additional time sorts after another part, or not like the time */
  }
  return key->parts[first].moment.reversed ? -1 : 1;
}
