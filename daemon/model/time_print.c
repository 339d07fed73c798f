#include "model/time_print.h"

#include "model/calendar.h"
#include "model/time_pattern.h"
#include "model/time_text.h"
#include "model/zone_spans.h"

#define NS_PER_S G_GINT64_CONSTANT(1000000000)
#define NS_DIGITS 9
#define VARYING_MAX_DIGITS 2 /* of d, M and H */

typedef TideTimePatternPiece Piece;

#define NAMES_CLOCK (TIDE_TIME_NAMES_HOUR | TIDE_TIME_NAMES_MINUTE | TIDE_TIME_NAMES_SECOND | TIDE_TIME_NAMES_FRACTION)

/* Set when compiled, then read-only. */
struct TideTimePrint {
  char *pattern; /* owned */
  Piece *pieces; /* owned */
  gsize n_pieces;
  guint named;           /* TIDE_TIME_NAMES_... */
  int fraction_digits;   /* 0: no fraction */
  guint32 width_bytes;   /* 0: varies */
  guint32 longest_bytes; /* what it may append */
  gboolean sorts;
};

static gboolean
varies(const Piece *piece)
{
  return piece->n_letters == 1 && piece->byte != 'S';
}

/* Whether the bits are the first ones from the year on, without a gap: then they name a time. */
static gboolean
is_named_from_year(guint named)
{
  return (named & TIDE_TIME_NAMES_YEAR) && (named & (named + 1)) == 0;
}

TideTimePrint *
tide_time_print_compile(const char *pattern, gboolean variable, GError **error)
{
  static const char from_largest[] = "yMdHmsS";
  guint named;
  if (!tide_time_pattern_scan(pattern, variable, &named, error))
    return NULL;

  TideTimePrint *print = g_new0(TideTimePrint, 1);
  print->pattern = g_strdup(pattern);
  print->pieces = g_new(Piece, strlen(pattern));
  print->named = named;
  print->sorts = is_named_from_year(named);
  TideTimePatternCursor cursor = {.at = pattern};
  const char *last_element = NULL;
  gboolean has_varying = FALSE;
  for (Piece *piece = print->pieces; tide_time_pattern_next(&cursor, piece); piece++) {
    print->n_pieces++;
    if (piece->n_letters == 0) {
      print->longest_bytes++;
      continue;
    }
    const char *element = strchr(from_largest, piece->byte);
    print->sorts &= last_element == NULL || element > last_element;
    last_element = element;
    has_varying |= varies(piece);
    print->longest_bytes += varies(piece) ? VARYING_MAX_DIGITS : (guint32)piece->n_letters;
    if (piece->byte == 'S')
      print->fraction_digits = (int)piece->n_letters;
  }
  print->sorts &= !has_varying;
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

guint32
tide_time_print_width_bytes(const TideTimePrint *print)
{
  return print->width_bytes;
}

gboolean
tide_time_print_sorts(const TideTimePrint *print)
{
  return print->sorts;
}

gboolean
tide_time_print_has_date(const TideTimePrint *print)
{
  return is_named_from_year(print->named);
}

gboolean
tide_time_print_has_clock(const TideTimePrint *print)
{
  return (print->named & NAMES_CLOCK) != 0;
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
  if (print->named & TIDE_TIME_NAMES_FRACTION)
    return fraction_step_ns(print->fraction_digits);
  if (print->named & TIDE_TIME_NAMES_SECOND)
    return NS_PER_S;
  if (print->named & TIDE_TIME_NAMES_MINUTE)
    return 60 * NS_PER_S;
  if (print->named & TIDE_TIME_NAMES_HOUR)
    return 3600 * NS_PER_S;
  gint64 days = print->named & TIDE_TIME_NAMES_DAY ? 1 : print->named & TIDE_TIME_NAMES_MONTH ? 31 : 366;
  return days * TIDE_SECONDS_PER_DAY * NS_PER_S;
}

static guint8 *
put_number(guint8 *to, int number, gsize n_digits)
{
  for (gsize i = n_digits; i > 0; i--) {
    to[i - 1] = (guint8)('0' + number % 10);
    number /= 10;
  }
  return to + n_digits;
}

/* What the clocks show. */
static TideTimeElements
elements_of(const TideTimePrint *print, GTimeZone *zone, gint64 ns)
{
  TideTimeElements shown = TIDE_TIME_ELEMENTS_NONE;
  gint64 utc_s = ns / NS_PER_S;
  if (ns % NS_PER_S < 0)
    utc_s--;
  gint64 local_s = utc_s + tide_zone_span_at(zone, utc_s).offset_s;
  gint64 day = tide_day_of_seconds(local_s);
  int second_of_day = (int)(local_s - day * TIDE_SECONDS_PER_DAY);
  if (print->named & ~(guint)NAMES_CLOCK)
    tide_date_of_days(day, &shown.year, &shown.month, &shown.day);
  shown.hour = second_of_day / 3600;
  shown.minute = second_of_day / 60 % 60;
  shown.second = second_of_day % 60;
  shown.nanosecond = (int)(ns - utc_s * NS_PER_S);
  return shown;
}

static int
value_of(const TideTimePrint *print, const TideTimeElements *shown, char letter)
{
  switch (letter) {
  case 'y':
    return shown->year;
  case 'M':
    return shown->month;
  case 'd':
    return shown->day;
  case 'H':
    return shown->hour;
  case 'm':
    return shown->minute;
  case 's':
    return shown->second;
  default: /* S: compiled patterns have no other letters */
    return (int)(shown->nanosecond / fraction_step_ns(print->fraction_digits));
  }
}

void
tide_time_print_append(const TideTimePrint *print, GTimeZone *zone, gint64 ns, TideBuffer *out)
{
  TideTimeElements shown = elements_of(print, zone, ns);
  guint8 *start = tide_buffer_reserve(out, print->longest_bytes), *to = start;
  for (gsize i = 0; i < print->n_pieces; i++) {
    const Piece *piece = &print->pieces[i];
    if (piece->n_letters == 0) {
      *to++ = piece->byte;
      continue;
    }
    int value = value_of(print, &shown, (char)piece->byte);
    to = put_number(to, value, varies(piece) && value > 9 ? VARYING_MAX_DIGITS : piece->n_letters);
  }
  out->len += (gsize)(to - start);
}

/* Takes @value over into @element, which another text may have named already. */
static gboolean
agree(int *element, int value, int least, int most)
{
  if (value < least || value > most || (*element != -1 && *element != value))
    return FALSE;
  *element = value;
  return TRUE;
}

/* Of two fractions the longer one holds, if it begins with the shorter. */
static gboolean
agree_on_fraction(TideTimeElements *elements, int nanosecond, int n_digits)
{
  int common_step = (int)fraction_step_ns(MIN(n_digits, elements->fraction_digits));
  if (elements->fraction_digits > 0 && elements->nanosecond / common_step != nanosecond / common_step)
    return FALSE;
  if (n_digits > elements->fraction_digits) {
    elements->nanosecond = nanosecond;
    elements->fraction_digits = n_digits;
  }
  return TRUE;
}

gboolean
tide_time_print_read(const TideTimePrint *print, TideBytes text, TideTimeElements *elements)
{
  TideTimeText time;
  TideTimeElements agreed = *elements;
  guint named = print->named;
  if (print->width_bytes == 0 || !tide_time_text_take_pattern(text, print->pattern, &time))
    return FALSE;
  if (((named & TIDE_TIME_NAMES_YEAR) && !agree(&agreed.year, time.year, 0, 9999)) ||
      ((named & TIDE_TIME_NAMES_MONTH) && !agree(&agreed.month, time.month, 1, 12)) ||
      ((named & TIDE_TIME_NAMES_DAY) && !agree(&agreed.day, time.day, 1, 31)) ||
      ((named & TIDE_TIME_NAMES_HOUR) && !agree(&agreed.hour, time.hour, 0, 23)) ||
      ((named & TIDE_TIME_NAMES_MINUTE) && !agree(&agreed.minute, time.minute, 0, 59)) ||
      ((named & TIDE_TIME_NAMES_SECOND) && !agree(&agreed.second, time.second, 0, 59)) ||
      ((named & TIDE_TIME_NAMES_FRACTION) && !agree_on_fraction(&agreed, time.nanosecond, print->fraction_digits)))
    return FALSE;
  *elements = agreed;
  return TRUE;
}

static guint
named_of(const TideTimeElements *elements)
{
  return (elements->year != -1 ? TIDE_TIME_NAMES_YEAR : 0u) | (elements->month != -1 ? TIDE_TIME_NAMES_MONTH : 0u) |
         (elements->day != -1 ? TIDE_TIME_NAMES_DAY : 0u) | (elements->hour != -1 ? TIDE_TIME_NAMES_HOUR : 0u) |
         (elements->minute != -1 ? TIDE_TIME_NAMES_MINUTE : 0u) |
         (elements->second != -1 ? TIDE_TIME_NAMES_SECOND : 0u) |
         (elements->fraction_digits > 0 ? TIDE_TIME_NAMES_FRACTION : 0u);
}

/* The local seconds [from, to) that show the elements but the fraction; FALSE for a date that does not exist. */
static gboolean
local_interval_s(const TideTimeElements *elements, guint named, gint64 *ret_from_s, gint64 *ret_to_s)
{
  int month = named & TIDE_TIME_NAMES_MONTH ? elements->month : 1;
  int day = named & TIDE_TIME_NAMES_DAY ? elements->day : 1;
  if (!tide_date_is_valid(elements->year, month, day))
    return FALSE;
  gint64 first_day = tide_days_of_date(elements->year, month, day);
  if (!(named & NAMES_CLOCK)) {
    gint64 next_day = first_day + 1;
    if (!(named & TIDE_TIME_NAMES_MONTH) || (!(named & TIDE_TIME_NAMES_DAY) && month == 12))
      next_day = tide_days_of_date(elements->year + 1, 1, 1);
    else if (!(named & TIDE_TIME_NAMES_DAY))
      next_day = tide_days_of_date(elements->year, month + 1, 1);
    *ret_from_s = first_day * TIDE_SECONDS_PER_DAY;
    *ret_to_s = next_day * TIDE_SECONDS_PER_DAY;
    return TRUE;
  }
  int minute = named & TIDE_TIME_NAMES_MINUTE ? elements->minute : 0;
  int second = named & TIDE_TIME_NAMES_SECOND ? elements->second : 0;
  *ret_from_s = first_day * TIDE_SECONDS_PER_DAY + (elements->hour * 60 + minute) * 60 + second;
  *ret_to_s = *ret_from_s + (named & TIDE_TIME_NAMES_SECOND ? 1 : named & TIDE_TIME_NAMES_MINUTE ? 60 : 3600);
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
  guint named = named_of(elements);
  gint64 local_from_s, local_to_s, from_s, to_s, from_ns, to_ns;
  if (!is_named_from_year(named) || !local_interval_s(elements, named, &local_from_s, &local_to_s) ||
      !moments_s(zone, local_from_s, local_to_s, &from_s, &to_s))
    return FALSE;
  if (__builtin_mul_overflow(from_s, NS_PER_S, &from_ns) || __builtin_mul_overflow(to_s, NS_PER_S, &to_ns))
    return FALSE;
  if (named & TIDE_TIME_NAMES_FRACTION) {
    from_ns += elements->nanosecond;
    to_ns += elements->nanosecond - NS_PER_S + fraction_step_ns(elements->fraction_digits);
  }
  if (to_ns <= 0)
    return FALSE;
  *ret_from_ns = MAX(from_ns, 0);
  *ret_to_ns = to_ns;
  return TRUE;
}
