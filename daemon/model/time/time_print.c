#include "model/time/time_print.h"

#include "model/time/zone_spans.h"
#include "util/calendar.h"

#define NS_PER_S G_GINT64_CONSTANT(1000000000)
#define NS_DIGITS 9
#define VARYING_MAX_DIGITS 2 /* of d, M and H */

typedef TideTimePatternPiece Piece;

static gboolean
varies(const Piece *piece)
{
  return piece->n_letters == 1 && piece->byte != 'S';
}

/* Whether the bits are the first ones from the year on, without a gap: then they name a time. */
static gboolean
is_named_from_year(guint named)
{
  return (named & TIDE_NAMES(YEAR)) && (named & (named + 1)) == 0;
}

TideTimePrint *
tide_time_print_compile(const char *pattern, gboolean variable, GError **error)
{
  guint named;
  if (!tide_time_pattern_scan(pattern, variable, &named, error))
    return NULL;

  TideTimePrint *print = g_new(TideTimePrint, 1);
  *print = (TideTimePrint){.pattern = g_strdup(pattern),
                           .pieces = g_new(Piece, strlen(pattern)),
                           .named = named,
                           .first_level = TIDE_LEVEL_FRACTION,
                           .descends = TRUE};
  TideTimePatternCursor cursor = {.at = pattern};
  const Piece *last_element = NULL;
  gboolean has_varying = FALSE;
  for (Piece *piece = print->pieces; tide_time_pattern_next(&cursor, piece); piece++) {
    print->n_pieces++;
    if (piece->n_letters == 0) {
      print->longest_bytes++;
      continue;
    }
    TideTimeLevel level = TIDE_LEVEL_YEAR;
    while (tide_time_levels[level].letter != (char)piece->byte)
      level++;
    piece->level = level;
    print->descends &= last_element == NULL || level == last_element->level + 1;
    print->first_level = MIN(print->first_level, level);
    print->last_level = MAX(print->last_level, level);
    print->longest_bytes += varies(piece) ? VARYING_MAX_DIGITS : (guint32)piece->n_letters;
    if (level == TIDE_LEVEL_FRACTION)
      print->fraction_digits = (int)piece->n_letters;
    last_element = piece;
    has_varying |= varies(piece);
  }
  print->width_bytes = has_varying ? 0 : print->longest_bytes;
  return print;
}

void
tide_time_print_free(TideTimePrint *print)
{
  if (print == NULL)
    return;
  g_free(print->pattern);
  g_free(print->pieces);
  g_free(print);
}

gboolean
tide_time_print_has_date(const TideTimePrint *print)
{
  return is_named_from_year(print->named);
}

static gint64
fraction_step_ns(int n_digits)
{
  gint64 step_ns = NS_PER_S;
  for (int i = 0; i < n_digits; i++)
    step_ns /= 10;
  return step_ns;
}

gint64
tide_time_print_resolution_ns(const TideTimePrint *print)
{
  return print->last_level == TIDE_LEVEL_FRACTION ? fraction_step_ns(print->fraction_digits)
                                                  : tide_time_levels[print->last_level].longest_s * NS_PER_S;
}

/* @with_date: else its values are not set. */
static inline void
show(GTimeZone *zone, gint64 ns, gboolean with_date, int values[TIDE_N_LEVELS])
{
  gint64 utc_s = ns / NS_PER_S;
  if (ns % NS_PER_S < 0)
    utc_s--;
  gint64 local_s = utc_s + tide_zone_span_at(zone, utc_s).offset_s;
  gint64 day = tide_day_of_seconds(local_s);
  int second_of_day = (int)(local_s - day * TIDE_SECONDS_PER_DAY);
  if (with_date)
    tide_date_of_days(day, &values[TIDE_LEVEL_YEAR], &values[TIDE_LEVEL_MONTH], &values[TIDE_LEVEL_DAY]);
  values[TIDE_LEVEL_HOUR] = second_of_day / 3600;
  values[TIDE_LEVEL_MINUTE] = second_of_day / 60 % 60;
  values[TIDE_LEVEL_SECOND] = second_of_day % 60;
  values[TIDE_LEVEL_FRACTION] = (int)(ns - utc_s * NS_PER_S);
}

TideTimeElements
tide_time_elements_at(GTimeZone *zone, gint64 ns)
{
  TideTimeElements shown = {.fraction_digits = NS_DIGITS};
  show(zone, ns, TRUE, shown.values);
  return shown;
}

void
tide_time_print_append(const TideTimePrint *print, GTimeZone *zone, gint64 ns, TideBuffer *out)
{
  int values[TIDE_N_LEVELS];
  show(zone, ns, (print->named & TIDE_NAMES_DATE) != 0, values);
  if (print->named & TIDE_NAMES(FRACTION))
    values[TIDE_LEVEL_FRACTION] /= (int)fraction_step_ns(print->fraction_digits);
  guint8 *start = tide_buffer_reserve(out, print->longest_bytes), *to = start;
  for (gsize i = 0; i < print->n_pieces; i++) {
    const Piece *piece = &print->pieces[i];
    if (piece->n_letters == 0) {
      *to++ = piece->byte;
      continue;
    }
    int value = values[piece->level];
    gsize n_digits = varies(piece) && value > 9 ? VARYING_MAX_DIGITS : piece->n_letters;
    for (gsize k = n_digits; k > 0; k--, value /= 10)
      to[k - 1] = (guint8)('0' + value % 10);
    to += n_digits;
  }
  out->len += (gsize)(to - start);
}

gboolean
tide_time_print_read(const TideTimePrint *print, TideBytes text, TideTimeElements *ret_elements)
{
  TideTimeElements elements = {.fraction_digits = print->fraction_digits};
  memset(elements.values, 0xff, sizeof elements.values);
  if (print->width_bytes == 0 || text.len != print->width_bytes)
    return FALSE;
  const guint8 *at = text.data;
  for (const Piece *piece = print->pieces; piece < print->pieces + print->n_pieces; piece++) {
    if (piece->n_letters == 0) {
      if (*at++ != piece->byte)
        return FALSE;
      continue;
    }
    int value = 0;
    for (gsize i = 0; i < piece->n_letters; i++, at++) {
      if (!g_ascii_isdigit(*at))
        return FALSE;
      value = value * 10 + (*at - '0');
    }
    if (value < tide_time_levels[piece->level].least || value > tide_time_levels[piece->level].most)
      return FALSE;
    elements.values[piece->level] = value;
  }
  if (print->fraction_digits > 0)
    elements.values[TIDE_LEVEL_FRACTION] *= (int)fraction_step_ns(print->fraction_digits);
  *ret_elements = elements;
  return TRUE;
}

/* The local seconds [from, to) that show the elements but the fraction; FALSE for a date that does not exist. */
static gboolean
local_interval_s(const TideTimeElements *elements, guint named, gint64 *ret_from_s, gint64 *ret_to_s)
{
  const int *values = elements->values;
  int month = named & TIDE_NAMES(MONTH) ? values[TIDE_LEVEL_MONTH] : 1;
  int day = named & TIDE_NAMES(DAY) ? values[TIDE_LEVEL_DAY] : 1;
  if (!tide_date_is_valid(values[TIDE_LEVEL_YEAR], month, day))
    return FALSE;
  gint64 first_day = tide_days_of_date(values[TIDE_LEVEL_YEAR], month, day);
  if (!(named & TIDE_NAMES_CLOCK)) {
    gint64 next_day = first_day + 1;
    if (!(named & TIDE_NAMES(MONTH)) || (!(named & TIDE_NAMES(DAY)) && month == 12))
      next_day = tide_days_of_date(values[TIDE_LEVEL_YEAR] + 1, 1, 1);
    else if (!(named & TIDE_NAMES(DAY)))
      next_day = tide_days_of_date(values[TIDE_LEVEL_YEAR], month + 1, 1);
    *ret_from_s = first_day * TIDE_SECONDS_PER_DAY;
    *ret_to_s = next_day * TIDE_SECONDS_PER_DAY;
    return TRUE;
  }
  int minute = named & TIDE_NAMES(MINUTE) ? values[TIDE_LEVEL_MINUTE] : 0;
  int second = named & TIDE_NAMES(SECOND) ? values[TIDE_LEVEL_SECOND] : 0;
  *ret_from_s = first_day * TIDE_SECONDS_PER_DAY + (values[TIDE_LEVEL_HOUR] * 60 + minute) * 60 + second;
  *ret_to_s = *ret_from_s + (named & TIDE_NAMES(SECOND) ? 1 : named & TIDE_NAMES(MINUTE) ? 60 : 3600);
  return TRUE;
}

/* From the first to the last moment at which the clocks show a time in [local_from_s, local_to_s); FALSE when there is
 * none. */
static gboolean
moments_s(GTimeZone *zone, gint64 local_from_s, gint64 local_to_s, gint64 *ret_from_s, gint64 *ret_to_s)
{
  gint64 from_s = G_MAXINT64, to_s = G_MININT64;
  gint64 last_s = local_to_s + TIDE_SECONDS_PER_DAY; /* offsets are below a day */
  TideZoneSpan span = {.to_s = local_from_s - TIDE_SECONDS_PER_DAY};
  do {
    span = tide_zone_span_at(zone, span.to_s);
    gint64 shown_from_s = MAX(span.from_s, local_from_s - span.offset_s);
    gint64 shown_to_s = MIN(span.to_s, local_to_s - span.offset_s);
    if (shown_from_s < shown_to_s) {
      from_s = MIN(from_s, shown_from_s);
      to_s = shown_to_s;
    }
  } while (span.to_s < last_s);
  *ret_from_s = from_s;
  *ret_to_s = to_s;
  return from_s < to_s;
}

gboolean
tide_time_elements_interval(const TideTimeElements *elements, GTimeZone *zone, gint64 *ret_from_ns, gint64 *ret_to_ns)
{
  guint named = 0;
  for (guint level = 0; level < TIDE_N_LEVELS; level++)
    named |= elements->values[level] >= 0 ? 1u << level : 0u;
  gint64 local_from_s, local_to_s, from_s, to_s, from_ns, to_ns;
  if (!is_named_from_year(named) || !local_interval_s(elements, named, &local_from_s, &local_to_s) ||
      !moments_s(zone, local_from_s, local_to_s, &from_s, &to_s))
    return FALSE;
  if (__builtin_mul_overflow(from_s, NS_PER_S, &from_ns) || __builtin_mul_overflow(to_s, NS_PER_S, &to_ns))
    return FALSE;
  if (named & TIDE_NAMES(FRACTION)) {
    from_ns += elements->values[TIDE_LEVEL_FRACTION];
    to_ns += elements->values[TIDE_LEVEL_FRACTION] - NS_PER_S + fraction_step_ns(elements->fraction_digits);
  }
  if (to_ns <= 0)
    return FALSE;
  *ret_from_ns = MAX(from_ns, 0);
  *ret_to_ns = to_ns;
  return TRUE;
}
