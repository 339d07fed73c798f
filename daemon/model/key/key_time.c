/* The forms in which a moment stands in a key. key_time_read.c reads them back. */
#include "model/key/key_part.h"
#include "util/error.h"

#define NS_PER_S G_GINT64_CONSTANT(1000000000)

static gboolean
fault(GError **error, const char *text)
{
  g_set_error_literal(error, TIDE_ERROR, TIDE_ERROR_CONFIG, text);
  return FALSE;
}

gint64
tide_key_unit_ns(TideKeyTimeUnit unit)
{
  switch (unit) {
  case TIDE_KEY_TIME_S:
    return NS_PER_S;
  case TIDE_KEY_TIME_MS:
    return 1000 * 1000;
  case TIDE_KEY_TIME_US:
    return 1000;
  case TIDE_KEY_TIME_NS:
    return 1;
  }
  return 1;
}

/* Whether each slot of @inner is within one of @outer. */
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

static guint32
decimal_digits(guint64 number)
{
  guint32 n_digits = 1;
  for (; number >= 10; number /= 10)
    n_digits++;
  return n_digits;
}

static guint32
binary_bytes(guint64 number)
{
  return number <= G_MAXUINT8 ? 1 : number <= G_MAXUINT16 ? 2 : number <= G_MAXUINT32 ? 4 : 8;
}

/* Without digits dropped. 10, 13 and 16 digits last until the year 2286. */
static guint32
counted_bytes(const TideKeyPart *part)
{
  static const guint32 unit_digits[] = {
      [TIDE_KEY_TIME_S] = 10, [TIDE_KEY_TIME_MS] = 13, [TIDE_KEY_TIME_US] = 16, [TIDE_KEY_TIME_NS] = 19};
  if (part->moment.since.unit != TIDE_CUT_NONE) {
    guint64 greatest =
        (guint64)((tide_time_cut_longest_ns(part->moment.since) - 1) / tide_key_unit_ns(part->moment.unit));
    return part->binary ? binary_bytes(greatest) : decimal_digits(greatest);
  }
  if (part->binary)
    return 8; /* a Java long */
  return part->moment.reversed ? 19
                               : unit_digits[part->moment.unit]; /* Long.MAX - t has 19 digits for every t since 1970 */
}

/* What a reversed time is subtracted from: Long.MAX, or with `since` the greatest number of its width. */
static guint64
reversed_from(const TideKeyPart *part, guint32 n_bytes)
{
  if (part->moment.since.unit == TIDE_CUT_NONE || (part->binary && n_bytes == 8))
    return G_MAXINT64;
  guint64 greatest = 0;
  for (guint32 i = 0; i < n_bytes; i++)
    greatest = part->binary ? greatest << 8 | 0xff : greatest * 10 + 9;
  return greatest;
}

static gboolean
compile_counted(TideKeyPart *part, const TideKeyPartSpec *spec, GError **error)
{
  if ((guint)spec->moment.unit > TIDE_KEY_TIME_NS)
    return fault(error, "a time in a key is counted in no known unit");
  if (part->moment.since.unit != TIDE_CUT_NONE && !nests_in(part->moment.cut_to, part->moment.since))
    return fault(error,
                 "a time is cut to more than what it is counted from: let 'cut' be a part of 'since', such as 15m "
                 "since hour");
  if (spec->moment.drop_digits > 0 && part->binary)
    return fault(error, "a time in binary form has no digits to drop: leave out 'drop', or 'binary'");
  guint32 n_bytes = counted_bytes(part);
  part->moment.reversed_from = reversed_from(part, n_bytes);
  if (spec->moment.drop_digits >= n_bytes) {
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_CONFIG,
                "%u digits of a time are dropped, but it has only %u: drop fewer, or cut the time instead",
                spec->moment.drop_digits, n_bytes);
    return FALSE;
  }
  part->fixed_bytes = n_bytes - spec->moment.drop_digits;
  part->is_plain = part->moment.cut_to.unit == TIDE_CUT_NONE && part->moment.since.unit == TIDE_CUT_NONE &&
                   spec->moment.drop_digits == 0;
  for (guint32 i = 0; i < spec->moment.drop_digits; i++)
    part->moment.divisor *= 10;
  return TRUE;
}

static gboolean
compile_pattern(TideKeyPart *part, const TideKeyPartSpec *spec, gboolean is_key, GError **error)
{
  if (spec->moment.reversed || spec->binary || spec->moment.drop_digits > 0 || spec->moment.since.unit != TIDE_CUT_NONE)
    return fault(error,
                 "a time with a pattern is also reversed, binary, without digits or counted since something: these "
                 "are for times that are counted, such as epoch_ms");
  part->moment.print = tide_time_print_compile(spec->moment.pattern, !is_key, error);
  if (part->moment.print == NULL)
    return FALSE;
  part->fixed_bytes = part->moment.print->width_bytes;
  gboolean has_changes = tide_zone_has_changes(part->moment.zone);
  gboolean has_clock = (part->moment.print->named & TIDE_NAMES_CLOCK) != 0;
  gboolean is_cut_short = part->moment.cut_to.unit == TIDE_CUT_NONE || part->moment.cut_to.unit == TIDE_CUT_MINUTES;
  part->moment.is_ambiguous = has_clock && has_changes && is_cut_short;
  /* A date is that of the day's slot, so that each moment is in one day and days do not overlap, also where the clocks
   * are set back over midnight. */
  if (!has_clock && (part->moment.cut_to.unit == TIDE_CUT_NONE || part->moment.cut_to.unit == TIDE_CUT_DAY))
    part->moment.cut_to = (TideTimeCut){has_changes ? TIDE_CUT_DAY : TIDE_CUT_NONE, 0};
  return TRUE;
}

static gboolean
check_cut(TideTimeCut cut, GError **error)
{
  if ((guint)cut.unit > TIDE_CUT_YEAR)
    return fault(error, "a time is cut to no known unit");
  if (cut.unit == TIDE_CUT_MINUTES && (cut.minutes == 0 || cut.minutes > 720 || 1440 % cut.minutes != 0))
    return fault(error, "a time is cut to minutes that do not divide the day: use 1, 5, 10, 15, 30, 60, ...");
  return TRUE;
}

gboolean
tide_key_time_compile(TideKeyPart *part, const TideKeyPartSpec *spec, gboolean is_key, GError **error)
{
  if (!check_cut(spec->moment.cut_to, error) || !check_cut(spec->moment.since, error))
    return FALSE;
  gboolean uses_zone = spec->moment.pattern != NULL || spec->moment.cut_to.unit != TIDE_CUT_NONE ||
                       spec->moment.since.unit != TIDE_CUT_NONE;
  part->moment.unit = spec->moment.unit;
  part->moment.unit_ns = tide_key_unit_ns(spec->moment.unit);
  part->moment.reversed = spec->moment.reversed;
  part->binary = spec->binary;
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
  if (part->is_plain) {
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
  if (!part->binary) {
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
    tide_time_print_append(part->moment.print, part->moment.zone, cut(part, ns), out);
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

/* Whether the numbers of @part are moments since 1970, each @ret_step_ns long, whatever the zone. */
static gboolean
is_counted_evenly(const TideKeyPart *part, gint64 *ret_step_ns)
{
  return part->moment.print == NULL && part->moment.since.unit == TIDE_CUT_NONE &&
         part->moment.cut_to.unit == TIDE_CUT_NONE && !(part->moment.reversed && part->moment.divisor > 1) &&
         !__builtin_mul_overflow(tide_key_unit_ns(part->moment.unit), (gint64)part->moment.divisor, ret_step_ns);
}

gboolean
tide_key_time_is_exact_to(const TideKeyPart *part, gint64 step_ns)
{
  gint64 own_step_ns;
  return is_counted_evenly(part, &own_step_ns) && step_ns % own_step_ns == 0;
}

static gboolean
is_same_zone(const TideKeyPart *one, const TideKeyPart *other)
{
  return g_strcmp0(one->moment.zone_name, other->moment.zone_name) == 0;
}

static gboolean
is_same_cut(TideTimeCut one, TideTimeCut other)
{
  return one.unit == other.unit && one.minutes == other.minutes;
}

static const char *
pattern_of(const TideKeyPart *part)
{
  return part->moment.print != NULL ? part->moment.print->pattern : NULL;
}

static gboolean
is_same_form(const TideKeyPart *one, const TideKeyPart *other)
{
  return g_strcmp0(pattern_of(one), pattern_of(other)) == 0 && is_same_zone(one, other) &&
         is_same_cut(one->moment.cut_to, other->moment.cut_to) && is_same_cut(one->moment.since, other->moment.since) &&
         one->moment.unit == other->moment.unit && one->moment.divisor == other->moment.divisor &&
         (one->moment.reversed == other->moment.reversed || one->moment.divisor == 1);
}

gint64
tide_key_time_step_ns(const TideKeyPart *part)
{
  gint64 step_ns;
  if (part->moment.print != NULL)
    return tide_time_print_resolution_ns(part->moment.print);
  return __builtin_mul_overflow(tide_key_unit_ns(part->moment.unit), (gint64)part->moment.divisor, &step_ns)
             ? G_MAXINT64
             : step_ns;
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
