/* Writes a moment into a key in each form, and reads it back. */
#include "model/key/key_part.h"
#include "model/time/time_elements.h"
#include "util/error.h"

#define NS_PER_S G_GINT64_CONSTANT(1000000000)

const TideKeyUnitTraits tide_key_units[] = {
    [TIDE_KEY_TIME_S] = {"s", NS_PER_S, 10},
    [TIDE_KEY_TIME_MS] = {"ms", 1000 * 1000, 13},
    [TIDE_KEY_TIME_US] = {"us", 1000, 16},
    [TIDE_KEY_TIME_NS] = {"ns", 1, 19},
};

/* Whether each slot of @inner lies within one slot of @outer. */
static gboolean
nests_in(TideTimeCut inner, TideTimeCut outer)
{
  if (inner.unit == TIDE_CUT_NONE)
    return TRUE;
  if (inner.unit == TIDE_CUT_MINUTES)
    return outer.unit != TIDE_CUT_MINUTES || outer.minutes % inner.minutes == 0;
  if (inner.unit == TIDE_CUT_WEEK)
    return outer.unit == TIDE_CUT_WEEK;
  if (outer.unit == TIDE_CUT_WEEK)
    return inner.unit == TIDE_CUT_DAY;
  return outer.unit != TIDE_CUT_MINUTES && inner.unit <= outer.unit;
}

/* The width before digits are dropped. */
static guint32
counted_bytes(const TideKeyPart *part)
{
  if (part->moment.since.unit == TIDE_CUT_NONE && part->moment.binary)
    return 8;                                   /* a Java long */
  if (part->moment.since.unit == TIDE_CUT_NONE) /* Long.MAX - t has 19 digits for every t since 1970 */
    return part->moment.reversed ? 19 : tide_key_units[part->moment.unit].n_digits;
  guint64 greatest = (guint64)((tide_time_cut_longest_ns(part->moment.since) - 1) / part->moment.unit_ns);
  if (part->moment.binary)
    return greatest <= G_MAXUINT8 ? 1 : greatest <= G_MAXUINT16 ? 2 : greatest <= G_MAXUINT32 ? 4 : 8;
  guint32 n_digits = 1;
  for (; greatest >= 10; greatest /= 10)
    n_digits++;
  return n_digits;
}

/* The minuend of a reversed time: Long.MAX, or with `since` the largest number of its width. */
static guint64
reversed_from(const TideKeyPart *part, guint32 n_bytes)
{
  if (part->moment.since.unit == TIDE_CUT_NONE || (part->moment.binary && n_bytes == 8))
    return G_MAXINT64;
  guint64 greatest = 0;
  for (guint32 i = 0; i < n_bytes; i++)
    greatest = part->moment.binary ? greatest << 8 | 0xff : greatest * 10 + 9;
  return greatest;
}

static gboolean
compile_counted(TideKeyPart *part, const TideKeyPartSpec *spec, GError **error)
{
  if (part->moment.since.unit != TIDE_CUT_NONE && !nests_in(part->moment.cut_to, part->moment.since))
    return tide_fail(error, TIDE_ERROR_CONFIG,
                     "a time is cut to more than its 'since': 'cut' must be part of 'since', such as 15m "
                     "since hour");
  if (spec->moment.drop_digits > 0 && part->moment.binary)
    return tide_fail(error, TIDE_ERROR_CONFIG,
                     "a time in binary form has no digits to drop: remove 'drop' or 'binary'");
  guint32 n_bytes = counted_bytes(part);
  part->moment.reversed_from = reversed_from(part, n_bytes);
  if (spec->moment.drop_digits >= n_bytes)
    return tide_fail(error, TIDE_ERROR_CONFIG,
                     "%u digits of a time are dropped, but it has only %u: drop fewer, or cut the time instead",
                     spec->moment.drop_digits, n_bytes);
  part->fixed_bytes = n_bytes - spec->moment.drop_digits;
  part->moment.is_plain = part->moment.cut_to.unit == TIDE_CUT_NONE && part->moment.since.unit == TIDE_CUT_NONE &&
                          spec->moment.drop_digits == 0;
  for (guint32 i = 0; i < spec->moment.drop_digits; i++)
    part->moment.divisor *= 10;
  return TRUE;
}

static gboolean
compile_pattern(TideKeyPart *part, const TideKeyPartSpec *spec, gboolean is_key, GError **error)
{
  if (spec->moment.reversed || spec->binary || spec->moment.drop_digits > 0 || spec->moment.since.unit != TIDE_CUT_NONE)
    return tide_fail(error, TIDE_ERROR_CONFIG,
                     "a time with a pattern is also reversed, binary, without digits or counted since something: these "
                     "options are only for counted times, such as epoch_ms");
  part->moment.print =
      tide_time_pattern_compile(spec->moment.pattern, is_key ? TIDE_PATTERN_KEY : TIDE_PATTERN_QUALIFIER, error);
  if (part->moment.print == NULL)
    return FALSE;
  part->fixed_bytes = part->moment.print->width_bytes;
  gboolean has_changes = tide_zone_has_changes(part->moment.zone);
  gboolean has_clock = (part->moment.print->named & TIDE_NAMES_CLOCK) != 0;
  gboolean is_cut_short = part->moment.cut_to.unit == TIDE_CUT_NONE || part->moment.cut_to.unit == TIDE_CUT_MINUTES;
  part->moment.is_ambiguous = has_clock && has_changes && is_cut_short;
  /* A date is the day's slot, so that each moment is in one day and days do not overlap even if clocks are set back
   * across midnight. */
  if (!has_clock && (part->moment.cut_to.unit == TIDE_CUT_NONE || part->moment.cut_to.unit == TIDE_CUT_DAY))
    part->moment.cut_to = (TideTimeCut){has_changes ? TIDE_CUT_DAY : TIDE_CUT_NONE, 0};
  return TRUE;
}

static gboolean
check_cut(TideTimeCut cut, GError **error)
{
  if ((guint)cut.unit > TIDE_CUT_YEAR)
    return tide_fail(error, TIDE_ERROR_CONFIG, "a time is cut to an unknown unit");
  if (cut.unit == TIDE_CUT_MINUTES && (cut.minutes == 0 || cut.minutes > 720 || 1440 % cut.minutes != 0))
    return tide_fail(error, TIDE_ERROR_CONFIG,
                     "a time is cut to minutes that do not divide the day: use 1, 5, 10, 15, 30, 60, ...");
  return TRUE;
}

gboolean
tide_key_time_compile(TideKeyPart *part, const TideKeyPartSpec *spec, gboolean is_key, GError **error)
{
  if (!check_cut(spec->moment.cut_to, error) || !check_cut(spec->moment.since, error))
    return FALSE;
  if ((guint)spec->moment.unit > TIDE_KEY_TIME_NS)
    return tide_fail(error, TIDE_ERROR_CONFIG, "a key's time has an unknown unit");
  gboolean uses_zone = spec->moment.pattern != NULL || spec->moment.cut_to.unit != TIDE_CUT_NONE ||
                       spec->moment.since.unit != TIDE_CUT_NONE;
  part->moment.unit = spec->moment.unit;
  part->moment.unit_ns = tide_key_units[spec->moment.unit].ns;
  part->moment.reversed = spec->moment.reversed;
  part->moment.binary = spec->binary;
  part->moment.cut_to = spec->moment.cut_to;
  part->moment.since = spec->moment.since;
  part->moment.divisor = 1;
  part->moment.drop_digits = spec->moment.drop_digits;
  if (uses_zone && spec->moment.zone != NULL) {
    part->moment.zone = g_time_zone_ref(spec->moment.zone);
    part->moment.zone_name = g_strdup(spec->moment.zone_name != NULL ? spec->moment.zone_name
                                                                     : g_time_zone_get_identifier(spec->moment.zone));
  }
  return spec->moment.pattern != NULL ? compile_pattern(part, spec, is_key, error) : compile_counted(part, spec, error);
}

static gint64
cut(const TideKeyPart *part, gint64 ns)
{
  return part->moment.cut_to.unit == TIDE_CUT_NONE ? ns
                                                   : tide_time_cut_start_ns(part->moment.cut_to, part->moment.zone, ns);
}

gint64
tide_key_time_base_ns(const TideKeyPart *part, gint64 ns)
{
  return part->moment.since.unit == TIDE_CUT_NONE ? 0
                                                  : tide_time_cut_start_ns(part->moment.since, part->moment.zone, ns);
}

guint64
tide_key_time_number(const TideKeyPart *part, gint64 ns)
{
  if (part->moment.is_plain) {
    guint64 plain_units = (guint64)(ns / part->moment.unit_ns);
    return part->moment.reversed ? part->moment.reversed_from - plain_units : plain_units;
  }
  gint64 cut_ns = cut(part, ns);
  guint64 units = (guint64)((cut_ns - tide_key_time_base_ns(part, cut_ns)) / part->moment.unit_ns);
  return (part->moment.reversed ? part->moment.reversed_from - units : units) / part->moment.divisor;
}

void
tide_key_time_append_number(const TideKeyPart *part, guint64 number, TideBuffer *out)
{
  if (!part->moment.binary) {
    tide_key_append_decimal(number, part->fixed_bytes, out);
    return;
  }
  guint64 big_endian = GUINT64_TO_BE(number);
  tide_buffer_append(out, (const guint8 *)&big_endian + sizeof big_endian - part->fixed_bytes, part->fixed_bytes);
}

void
tide_key_time_append(const TideKeyPart *part, gint64 ns, TideBuffer *out)
{
  if (part->moment.print != NULL)
    tide_time_pattern_print(part->moment.print, part->moment.zone, cut(part, ns), out);
  else
    tide_key_time_append_number(part, tide_key_time_number(part, ns), out);
}

gboolean
tide_key_time_declares_cut(const TideKeyPart *part)
{
  gboolean is_day_of_date = part->moment.print != NULL && part->moment.cut_to.unit == TIDE_CUT_DAY &&
                            !(part->moment.print->named & TIDE_NAMES_CLOCK);
  return part->moment.cut_to.unit != TIDE_CUT_NONE && !is_day_of_date;
}

gint64
tide_key_time_whole_step_ns(const TideKeyPart *part)
{
  gint64 step_ns = tide_key_time_step_ns(part);
  return tide_key_time_declares_cut(part) ? MAX(step_ns, tide_time_cut_longest_ns(part->moment.cut_to)) : step_ns;
}

gboolean
tide_key_time_agrees(const TideKeyPart *part, TideTimeLevel level, gint64 one_ns, gint64 other_ns)
{
  TideTimeElements one = tide_time_elements_at(part->moment.zone, cut(part, one_ns));
  TideTimeElements other = tide_time_elements_at(part->moment.zone, cut(part, other_ns));
  return memcmp(one.values, other.values, (level + 1) * sizeof one.values[0]) == 0;
}

gboolean
tide_key_time_is_ordered(const TideKeyPart *part, gint64 first_ns, gint64 last_ns)
{
  if (part->moment.since.unit != TIDE_CUT_NONE)
    return tide_key_time_base_ns(part, first_ns) == tide_key_time_base_ns(part, last_ns);
  if (part->moment.print == NULL || first_ns == last_ns)
    return TRUE;
  if (part->moment.is_ambiguous || part->fixed_bytes == 0)
    return FALSE;
  if (!part->moment.print->descends)
    return tide_key_time_agrees(part, part->moment.print->last_level, first_ns, last_ns);
  return part->moment.print->first_level == TIDE_LEVEL_YEAR ||
         tide_key_time_agrees(part, part->moment.print->first_level - 1, first_ns, last_ns);
}

/* Whether the numbers of @part count steps of @ret_step_ns since 1970, in any zone. */
static gboolean
is_counted_evenly(const TideKeyPart *part, gint64 *ret_step_ns)
{
  return part->moment.print == NULL && part->moment.since.unit == TIDE_CUT_NONE &&
         part->moment.cut_to.unit == TIDE_CUT_NONE && !(part->moment.reversed && part->moment.divisor > 1) &&
         !__builtin_mul_overflow(part->moment.unit_ns, (gint64)part->moment.divisor, ret_step_ns);
}

gboolean
tide_key_time_is_exact_to(const TideKeyPart *part, gint64 step_ns)
{
  gint64 own_step_ns;
  return is_counted_evenly(part, &own_step_ns) && step_ns % own_step_ns == 0;
}

static gboolean
is_same_cut(TideTimeCut one, TideTimeCut other)
{
  return one.unit == other.unit && one.minutes == other.minutes;
}

static const char *
pattern_of(const TideKeyPart *part)
{
  return part->moment.print != NULL ? part->moment.print->text : NULL;
}

static gboolean
is_same_form(const TideKeyPart *one, const TideKeyPart *other)
{
  return g_strcmp0(pattern_of(one), pattern_of(other)) == 0 &&
         g_strcmp0(one->moment.zone_name, other->moment.zone_name) == 0 &&
         is_same_cut(one->moment.cut_to, other->moment.cut_to) && is_same_cut(one->moment.since, other->moment.since) &&
         one->moment.unit == other->moment.unit && one->moment.divisor == other->moment.divisor &&
         (one->moment.reversed == other->moment.reversed || one->moment.divisor == 1);
}

gint64
tide_key_time_step_ns(const TideKeyPart *part)
{
  gint64 step_ns;
  if (part->moment.print != NULL)
    return tide_time_pattern_resolution_ns(part->moment.print);
  return __builtin_mul_overflow(part->moment.unit_ns, (gint64)part->moment.divisor, &step_ns) ? G_MAXINT64 : step_ns;
}

gboolean
tide_key_time_follows(const TideKeyPart *part, const TideKeyPart *source)
{
  gint64 source_step_ns, step_ns;
  if (is_same_form(part, source))
    return TRUE;
  if (!is_counted_evenly(source, &source_step_ns))
    return FALSE;
  if (is_counted_evenly(part, &step_ns))
    return step_ns % source_step_ns == 0;
  /* Clocks and slots change on whole seconds. */
  gboolean keeps_digits = part->moment.print != NULL || !part->moment.reversed || part->moment.divisor == 1;
  return keeps_digits && NS_PER_S % source_step_ns == 0 && tide_key_time_step_ns(part) % source_step_ns == 0;
}

/* ---- reading back ---- */

/* Narrows @moments to the slots whose start is in [@from_ns, @to_ns). */
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
    last_ns = end_ns > last_ns ? end_ns - 1 : G_MAXINT64; /* the slot ends after the last possible moment */
  }
  moments->first_ns = MAX(moments->first_ns, first_ns);
  moments->last_ns = MIN(moments->last_ns, last_ns);
  return moments->first_ns <= moments->last_ns ? TIDE_KEY_NARROWED : TIDE_KEY_IMPOSSIBLE;
}

/* The units that a number represents: several if digits were dropped. */
static gboolean
read_units(const TideKeyPart *part, TideBytes bytes, guint64 *ret_least, guint64 *ret_greatest)
{
  guint64 number = 0;
  for (gsize i = 0; i < bytes.len; i++) {
    guint8 byte = bytes.data[i];
    if (!part->moment.binary && !g_ascii_isdigit(byte))
      return FALSE;
    number = part->moment.binary ? number << 8 | byte : number * 10 + (guint64)(byte - '0'); /* 19 digits at most */
  }
  if (number > G_MAXINT64)
    return FALSE;
  guint64 least = number * part->moment.divisor,
          greatest = least + part->moment.divisor - 1; /* together at most 19 digits */
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
  gint64 unit_ns = part->moment.unit_ns;
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

/* Fills in the @elements that @part does not name, as far as all moments left agree on them. Returns whether all are
 * then known down to the smallest named one; otherwise they are known down to the first gap. */
static gboolean
complete(const TideKeyPart *part, const TideKeyMoments *moments, TideTimeElements *elements)
{
  gboolean is_complete = TRUE;
  const TideTimePattern *print = part->moment.print;
  gint64 first_ns = moments->first_ns;
  gboolean is_shown = print->first_level > TIDE_LEVEL_YEAR || !print->descends;
  TideTimeElements shown = {0};
  if (is_shown)
    shown = tide_time_elements_at(part->moment.zone, cut(part, first_ns));
  for (TideTimeLevel level = TIDE_LEVEL_YEAR; level <= print->last_level; level++) {
    guint name = 1u << level;
    if (is_complete && (elements->named & name))
      continue;
    is_complete = is_complete && is_shown && tide_key_time_agrees(part, level, first_ns, moments->last_ns);
    elements->values[level] = is_complete ? shown.values[level] : 0;
    elements->named = is_complete ? elements->named | name : elements->named & ~name;
  }
  return is_complete;
}

static TideKeyNarrowing
narrow_printed(const TideKeyPart *part, TideBytes bytes, TideKeyMoments *moments)
{
  TideTimeElements elements;
  gint64 from_ns, to_ns;
  const char *detail;
  if (part->fixed_bytes == 0 || !tide_time_pattern_read(part->moment.print, bytes, &elements, &detail))
    return TIDE_KEY_IMPOSSIBLE;
  gboolean is_complete = complete(part, moments, &elements);
  if (!(elements.named & TIDE_NAMES(YEAR)))
    return TIDE_KEY_UNRESOLVED;
  if (!tide_time_elements_interval(&elements, part->moment.zone, &from_ns, &to_ns) || to_ns <= 0)
    return TIDE_KEY_IMPOSSIBLE;
  TideKeyNarrowing narrowing = narrow_to(part, MAX(from_ns, 0), to_ns - 1, moments);
  return narrowing == TIDE_KEY_NARROWED && !is_complete ? TIDE_KEY_UNRESOLVED : narrowing;
}

TideKeyNarrowing
tide_key_time_narrow(const TideKeyPart *part, TideBytes bytes, TideKeyMoments *moments)
{
  return part->moment.print != NULL ? narrow_printed(part, bytes, moments) : narrow_counted(part, bytes, moments);
}
