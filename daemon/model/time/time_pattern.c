#include "model/time/time_pattern.h"

#include "util/calendar.h"
#include "util/error.h"

#define NS_DIGITS 9
#define MAX_NESTING 4 /* of optional parts */
#define MAX_PARTS 10  /* optional parts: a text is tried with and without each, in at most 2^10 ways */
#define MAX_PIECES 250
#define FIRST_YEAR_OF_TWO_DIGITS 2000

typedef enum PieceKind {
  PIECE_BYTE, /* a literal */
  PIECE_NUMBER,
  PIECE_YEAR_OF_TWO,
  PIECE_MONTH_NAME,
  PIECE_DAY_OF_YEAR,
  PIECE_WEEKDAY,
  PIECE_HOUR_OF_HALF,
  PIECE_HALF,
  PIECE_FRACTION,     /* of a fixed number of digits */
  PIECE_ANY_FRACTION, /* of one digit or more */
  PIECE_OFFSET,
  PIECE_OPEN,
  PIECE_CLOSE,
} PieceKind;

struct TideTimePiece {
  PieceKind kind;
  guint8 byte;
  guint8 n_letters;
  guint8 least_digits, most_digits; /* 0: no number */
  guint16 reserved;                 /* digits of the numbers that follow immediately */
  guint8 behind;                    /* OPEN: the index of the piece after its end */
  gboolean is_alternative;          /* OPEN: all its elements were named before, so it is not printed */
  TideTimeLevel level;
  guint says; /* TIDE_NAMES(...) */
};

/* Names of the hours of a half day, and of the halves. */
#define NAMES_HOUR_OF_HALF (4u << TIDE_N_LEVELS)
#define NAMES_HALF (8u << TIDE_N_LEVELS)

#define ANYWHERE (TIDE_PATTERN_TEXT | TIDE_PATTERN_KEY | TIDE_PATTERN_QUALIFIER)
#define NOT_IN_KEYS (TIDE_PATTERN_TEXT | TIDE_PATTERN_QUALIFIER)

/* The elements, for reading and printing. */
static const struct Element {
  char letter;
  guint8 n_letters; /* 0: 1 to 9 */
  PieceKind kind;
  TideTimeLevel level;
  guint8 least_digits, most_digits; /* 0: as many as letters, or no number */
  guint8 longest_bytes;             /* 0: as many as digits */
  guint says;
  guint uses; /* TidePatternUse */
} known_elements[] = {
    {'y', 4, PIECE_NUMBER, TIDE_LEVEL_YEAR, 4, 4, 0, TIDE_NAMES(YEAR), ANYWHERE},
    {'y', 2, PIECE_YEAR_OF_TWO, TIDE_LEVEL_YEAR, 2, 2, 0, TIDE_NAMES(YEAR), TIDE_PATTERN_TEXT},
    {'M', 2, PIECE_NUMBER, TIDE_LEVEL_MONTH, 2, 2, 0, TIDE_NAMES(MONTH), ANYWHERE},
    {'M', 1, PIECE_NUMBER, TIDE_LEVEL_MONTH, 1, 2, 0, TIDE_NAMES(MONTH), NOT_IN_KEYS},
    {'M', 3, PIECE_MONTH_NAME, TIDE_LEVEL_MONTH, 0, 0, 3, TIDE_NAMES(MONTH), TIDE_PATTERN_TEXT},
    {'d', 2, PIECE_NUMBER, TIDE_LEVEL_DAY, 2, 2, 0, TIDE_NAMES(DAY), ANYWHERE},
    {'d', 1, PIECE_NUMBER, TIDE_LEVEL_DAY, 1, 2, 0, TIDE_NAMES(DAY), NOT_IN_KEYS},
    {'D', 3, PIECE_DAY_OF_YEAR, TIDE_LEVEL_DAY, 3, 3, 0, TIDE_NAMES(MONTH) | TIDE_NAMES(DAY), TIDE_PATTERN_TEXT},
    {'D', 1, PIECE_DAY_OF_YEAR, TIDE_LEVEL_DAY, 1, 3, 0, TIDE_NAMES(MONTH) | TIDE_NAMES(DAY), TIDE_PATTERN_TEXT},
    {'E', 3, PIECE_WEEKDAY, TIDE_LEVEL_DAY, 0, 0, 3, TIDE_NAMES_WEEKDAY, TIDE_PATTERN_TEXT},
    {'H', 2, PIECE_NUMBER, TIDE_LEVEL_HOUR, 2, 2, 0, TIDE_NAMES(HOUR), ANYWHERE},
    {'H', 1, PIECE_NUMBER, TIDE_LEVEL_HOUR, 1, 2, 0, TIDE_NAMES(HOUR), NOT_IN_KEYS},
    {'h', 2, PIECE_HOUR_OF_HALF, TIDE_LEVEL_HOUR, 2, 2, 0, TIDE_NAMES(HOUR) | NAMES_HOUR_OF_HALF, TIDE_PATTERN_TEXT},
    {'h', 1, PIECE_HOUR_OF_HALF, TIDE_LEVEL_HOUR, 1, 2, 0, TIDE_NAMES(HOUR) | NAMES_HOUR_OF_HALF, TIDE_PATTERN_TEXT},
    {'a', 1, PIECE_HALF, TIDE_LEVEL_HOUR, 0, 0, 2, NAMES_HALF, TIDE_PATTERN_TEXT},
    {'m', 2, PIECE_NUMBER, TIDE_LEVEL_MINUTE, 2, 2, 0, TIDE_NAMES(MINUTE), ANYWHERE},
    {'m', 1, PIECE_NUMBER, TIDE_LEVEL_MINUTE, 1, 2, 0, TIDE_NAMES(MINUTE), TIDE_PATTERN_TEXT},
    {'s', 2, PIECE_NUMBER, TIDE_LEVEL_SECOND, 2, 2, 0, TIDE_NAMES(SECOND), ANYWHERE},
    {'s', 1, PIECE_NUMBER, TIDE_LEVEL_SECOND, 1, 2, 0, TIDE_NAMES(SECOND), TIDE_PATTERN_TEXT},
    {'S', 0, PIECE_FRACTION, TIDE_LEVEL_FRACTION, 0, 0, 0, TIDE_NAMES(FRACTION), ANYWHERE},
    {'f', 1, PIECE_ANY_FRACTION, TIDE_LEVEL_FRACTION, 1, NS_DIGITS, 0, TIDE_NAMES(FRACTION), TIDE_PATTERN_TEXT},
    {'X', 1, PIECE_OFFSET, TIDE_LEVEL_HOUR, 0, 0, 5, TIDE_NAMES_OFFSET, TIDE_PATTERN_TEXT},
    {'X', 2, PIECE_OFFSET, TIDE_LEVEL_HOUR, 0, 0, 5, TIDE_NAMES_OFFSET, TIDE_PATTERN_TEXT},
    {'X', 3, PIECE_OFFSET, TIDE_LEVEL_HOUR, 0, 0, 6, TIDE_NAMES_OFFSET, TIDE_PATTERN_TEXT},
};

static const char month_names[][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
static const char weekday_names[][4] = {"Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"}; /* from 1970-01-01 on */
static const char half_names[][4] = {"AM", "PM"};

/* ---- compiling ---- */

/* The elements named so far. */
typedef struct Scope {
  TideTimePiece *open; /* NULL: the whole pattern */
  guint before;        /* before it */
  guint named;         /* in it, outside its optional parts */
  guint inner;         /* in its optional parts */
} Scope;

typedef struct Compiler {
  TideTimePattern *pattern;
  TidePatternUse use;
  const char *at;
  gboolean is_quoted;
  Scope scopes[MAX_NESTING + 1];
  guint depth;
  guint n_parts;
  const struct Element *last;
  gboolean has_varying;
} Compiler;

#define FAIL(compiler, error, format, ...)                                                                             \
  tide_fail(error, TIDE_ERROR_CONFIG, "time pattern '%s': " format, (compiler)->pattern->text, __VA_ARGS__)

static gsize
letters_of(const struct Element *element, gsize n_letters)
{
  return element->n_letters == 0 ? CLAMP(n_letters, 1, NS_DIGITS) : element->n_letters;
}

/* Lists the elements of @letter (0: of all letters) that @use allows: "MM or M", "yyyy MM". */
static char *
list_elements(char letter, TidePatternUse use)
{
  GString *list = g_string_new(NULL);
  for (gsize i = 0; i < G_N_ELEMENTS(known_elements); i++) {
    if (!(known_elements[i].uses & use) || (letter != '\0' && known_elements[i].letter != letter))
      continue;
    if (list->len > 0)
      g_string_append(list, letter != '\0' ? " or " : " ");
    for (gsize k = letters_of(&known_elements[i], 1); k > 0; k--)
      g_string_append_c(list, known_elements[i].letter);
    if (letter == 'S')
      g_string_append(list, " to SSSSSSSSS");
  }
  return g_string_free(list, FALSE);
}

static const struct Element *
find_element(Compiler *compiler, char letter, gsize n_letters, GError **error)
{
  gboolean is_letter = FALSE;
  for (gsize i = 0; i < G_N_ELEMENTS(known_elements); i++) {
    if (known_elements[i].letter != letter)
      continue;
    is_letter = TRUE;
    if (letters_of(&known_elements[i], n_letters) == n_letters && (known_elements[i].uses & compiler->use))
      return &known_elements[i];
  }
  g_autofree char *written = g_strnfill(MIN(n_letters, 20), letter);
  g_autofree char *allowed = list_elements(letter, compiler->use);
  g_autofree char *all = list_elements('\0', compiler->use);
  if (!is_letter)
    FAIL(compiler, error, "no such letter '%c': use %s, and put other letters into single quotes", letter, all);
  else if (*allowed == '\0')
    FAIL(compiler, error, "'%s' cannot be part of a key, which is read back and sorted: use %s", written, all);
  else
    FAIL(compiler, error, "'%s' must be written %s", written, allowed);
  return NULL;
}

/* Whether @says was already named by an element that is always read or printed together with this one. */
static gboolean
is_named_twice(const Compiler *compiler, guint says)
{
  guint before = compiler->scopes[compiler->depth].inner;
  for (guint i = 0; i <= compiler->depth; i++)
    before |= compiler->scopes[i].named;
  return (before & says) != 0;
}

static gboolean
add_element(Compiler *compiler, TideTimePiece *piece, const struct Element *element, gsize n_letters, GError **error)
{
  TideTimePattern *pattern = compiler->pattern;
  if (is_named_twice(compiler, element->says))
    return FAIL(compiler, error, "'%c' occurs twice", element->letter);
  gboolean is_number = element->n_letters == 0 || element->most_digits > 0;
  guint8 n_digits = is_number ? (guint8)n_letters : 0;
  *piece = (TideTimePiece){.kind = element->kind,
                           .n_letters = (guint8)n_letters,
                           .least_digits = element->least_digits > 0 ? element->least_digits : n_digits,
                           .most_digits = element->most_digits > 0 ? element->most_digits : n_digits,
                           .level = element->level,
                           .says = element->says};
  compiler->scopes[compiler->depth].named |= element->says;
  for (guint i = 1; i <= compiler->depth; i++)
    compiler->scopes[i].open->is_alternative |= (compiler->scopes[i].before & element->says) != 0;
  pattern->longest_bytes += element->longest_bytes > 0 ? element->longest_bytes : piece->most_digits;
  compiler->has_varying |= piece->least_digits != piece->most_digits;
  if (element->kind == PIECE_FRACTION && !(pattern->named & TIDE_NAMES(FRACTION)))
    pattern->fraction_digits = piece->most_digits;
  pattern->descends &= compiler->last == NULL || element->level == compiler->last->level + 1;
  pattern->first_level = MIN(pattern->first_level, element->level);
  pattern->last_level = MAX(pattern->last_level, element->level);
  compiler->last = element;
  return TRUE;
}

static gboolean
open_part(Compiler *compiler, TideTimePiece *piece, GError **error)
{
  if (compiler->use != TIDE_PATTERN_TEXT)
    return FAIL(compiler, error, "%s", "a key cannot have an optional part: put [ and ] into single quotes");
  if (compiler->depth == MAX_NESTING)
    return FAIL(compiler, error, "more than %d optional parts are nested", MAX_NESTING);
  if (compiler->n_parts++ == MAX_PARTS)
    return FAIL(compiler, error, "it has more than %d optional parts", MAX_PARTS);
  *piece = (TideTimePiece){.kind = PIECE_OPEN};
  compiler->scopes[++compiler->depth] = (Scope){.open = piece, .before = compiler->pattern->named};
  return TRUE;
}

static gboolean
close_part(Compiler *compiler, TideTimePiece *piece, GError **error)
{
  if (compiler->use != TIDE_PATTERN_TEXT)
    return FAIL(compiler, error, "%s", "a key cannot have an optional part: put [ and ] into single quotes");
  if (compiler->depth == 0)
    return FAIL(compiler, error, "%s", "a ] has no [ before it");
  *piece = (TideTimePiece){.kind = PIECE_CLOSE};
  Scope *part = &compiler->scopes[compiler->depth--];
  part->open->behind = (guint8)(piece + 1 - compiler->pattern->pieces);
  compiler->scopes[compiler->depth].inner |= part->named | part->inner;
  compiler->pattern->named |= part->named;
  return TRUE;
}

/* Adds the piece at the compiler's position. FALSE: an error. */
static gboolean
add_piece(Compiler *compiler, GError **error)
{
  TideTimePattern *pattern = compiler->pattern;
  TideTimePiece *piece = &pattern->pieces[pattern->n_pieces++];
  const char *at = compiler->at;
  gsize n_letters = 0;
  if (!compiler->is_quoted && g_ascii_isalpha(*at))
    n_letters = strspn(at, (const char[]){*at, '\0'});
  /* A literal quote is doubled. */
  compiler->at += n_letters > 0 ? n_letters : *at == '\'' ? 2 : 1;
  if (n_letters > 0) {
    const struct Element *element = find_element(compiler, *at, n_letters, error);
    return element != NULL && add_element(compiler, piece, element, n_letters, error);
  }
  if (!compiler->is_quoted && *at == '[')
    return open_part(compiler, piece, error);
  if (!compiler->is_quoted && *at == ']')
    return close_part(compiler, piece, error);
  *piece = (TideTimePiece){.kind = PIECE_BYTE, .byte = (guint8)*at};
  pattern->longest_bytes++;
  return TRUE;
}

/* The minimum number of digits with which @piece begins. */
static guint8
digits_needed(const TideTimePiece *piece)
{
  return piece->kind == PIECE_BYTE && g_ascii_isdigit(piece->byte) ? 1 : piece->least_digits;
}

/* Whether a digit (or a @colon) may occur at the piece at @index, with any choice of optional parts. */
static gboolean
may_be_digit(const TideTimePattern *pattern, gsize index, gboolean colon)
{
  gboolean is_reached[MAX_PIECES + 1] = {FALSE};
  is_reached[index] = TRUE;
  for (; index < pattern->n_pieces; index++) {
    const TideTimePiece *piece = &pattern->pieces[index];
    gboolean is_colon = piece->kind == PIECE_BYTE && piece->byte == ':';
    if (is_reached[index] && (digits_needed(piece) > 0 || (colon && is_colon)))
      return TRUE;
    if (piece->kind == PIECE_OPEN)
      is_reached[piece->behind] |= is_reached[index];
    if (piece->kind == PIECE_OPEN || piece->kind == PIECE_CLOSE)
      is_reached[index + 1] |= is_reached[index];
  }
  return FALSE;
}

/* A number of varying width leaves the digits of the numbers after it, so their count must be certain. */
static gboolean
reserve_digits(Compiler *compiler, GError **error)
{
  TideTimePattern *pattern = compiler->pattern;
  for (gsize i = 0; i < pattern->n_pieces; i++) {
    TideTimePiece *piece = &pattern->pieces[i];
    gboolean is_certain = piece->least_digits == piece->most_digits;
    if (piece->kind == PIECE_OFFSET && may_be_digit(pattern, i + 1, TRUE))
      return FAIL(compiler, error, "%s",
                  "X (the offset from UTC) comes before a digit or colon, which could belong to it");
    for (gsize next = i + 1; !is_certain && next <= pattern->n_pieces; next++) {
      const TideTimePiece *follower = next < pattern->n_pieces ? &pattern->pieces[next] : NULL;
      if (follower == NULL || digits_needed(follower) == 0) {
        is_certain = !may_be_digit(pattern, next, FALSE);
        break;
      }
      if (follower->least_digits != follower->most_digits)
        break;
      piece->reserved = (guint16)(piece->reserved + digits_needed(follower));
    }
    if (!is_certain)
      return FAIL(compiler, error, "%s",
                  "a number of one or more digits comes before a digit that may be absent, or belongs to such a "
                  "number: its end is ambiguous; put a character between them, or use an element of fixed width");
  }
  return TRUE;
}

/* The printed elements: all except those of optional parts that repeat others. */
static guint
printed_names(const TideTimePattern *pattern)
{
  guint named = 0;
  for (gsize i = 0; i < pattern->n_pieces; i++) {
    const TideTimePiece *piece = &pattern->pieces[i];
    named |= piece->says;
    if (piece->is_alternative)
      i = piece->behind - 1u;
  }
  return named;
}

static gboolean
check_whole(Compiler *compiler, GError **error)
{
  const TideTimePattern *pattern = compiler->pattern;
  if (compiler->is_quoted)
    return FAIL(compiler, error, "%s", "a quote is not closed");
  if (compiler->depth > 0)
    return FAIL(compiler, error, "%s", "a [ is not closed");
  if (!(pattern->named & (TIDE_NAMES_DATE | TIDE_NAMES_CLOCK)))
    return FAIL(compiler, error, "%s", "it has no element of a time, such as HH:mm:ss");
  if (compiler->use != TIDE_PATTERN_TEXT)
    return TRUE;
  const char *fault = tide_time_names_fault(pattern->named);
  gboolean has_hour_of_half = (pattern->named & NAMES_HOUR_OF_HALF) != 0;
  if (fault == NULL && has_hour_of_half != ((pattern->named & NAMES_HALF) != 0))
    fault = has_hour_of_half ? "hh (1 to 12) needs a (AM or PM); for 24 hours, use HH" : "a (AM or PM) needs hh or h";
  if (fault == NULL && ((pattern->named ^ printed_names(pattern)) & (TIDE_NAMES_DATE | TIDE_NAMES_CLOCK | NAMES_HALF)))
    fault = "an optional part repeats elements of an earlier one and adds others: split it into two parts";
  return fault == NULL ? reserve_digits(compiler, error) : FAIL(compiler, error, "%s", fault);
}

TideTimePattern *
tide_time_pattern_compile(const char *text, TidePatternUse use, GError **error)
{
  g_autoptr(TideTimePattern) pattern = g_new(TideTimePattern, 1);
  *pattern = (TideTimePattern){.text = g_strdup(text),
                               .pieces = g_new(TideTimePiece, MIN(strlen(text), MAX_PIECES) + 1),
                               .first_level = TIDE_LEVEL_FRACTION,
                               .descends = TRUE};
  Compiler compiler = {.pattern = pattern, .use = use, .at = text};
  for (;;) {
    while (compiler.at[0] == '\'' && compiler.at[1] != '\'') {
      compiler.is_quoted = !compiler.is_quoted;
      compiler.at++;
    }
    if (*compiler.at == '\0')
      break;
    if (pattern->n_pieces == MAX_PIECES) {
      FAIL(&compiler, error, "it has more than %d elements and characters", MAX_PIECES);
      return NULL;
    }
    if (!add_piece(&compiler, error))
      return NULL;
    pattern->named |= compiler.scopes[compiler.depth].named;
  }
  if (!check_whole(&compiler, error))
    return NULL;
  pattern->always_named = compiler.scopes[0].named;
  pattern->width_bytes = compiler.has_varying ? 0 : pattern->longest_bytes;
  return g_steal_pointer(&pattern);
}

void
tide_time_pattern_free(TideTimePattern *pattern)
{
  if (pattern == NULL)
    return;
  g_free(pattern->text);
  g_free(pattern->pieces);
  g_free(pattern);
}

gint64
tide_time_pattern_resolution_ns(const TideTimePattern *pattern)
{
  gboolean is_any = pattern->last_level == TIDE_LEVEL_FRACTION && pattern->fraction_digits == 0;
  return is_any ? 1 : tide_time_level_ns(pattern->last_level, pattern->fraction_digits);
}

/* ---- printing ---- */

static guint8 *
put_number(guint8 *to, int value, gsize n_digits)
{
  static const int limits[NS_DIGITS] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
  while (n_digits < NS_DIGITS && value >= limits[n_digits])
    n_digits++;
  for (gsize k = n_digits; k > 0; k--, value /= 10)
    to[k - 1] = (guint8)('0' + value % 10);
  return to + n_digits;
}

static guint8 *
put_offset(guint8 *to, int offset_s, guint8 n_letters)
{
  int minutes = ABS(offset_s) / 60;
  if (minutes == 0) {
    *to = 'Z';
    return to + 1;
  }
  *to++ = offset_s < 0 ? '-' : '+';
  to = put_number(to, minutes / 60, 2);
  if (n_letters == 1 && minutes % 60 == 0)
    return to;
  if (n_letters == 3)
    *to++ = ':';
  return put_number(to, minutes % 60, 2);
}

static int
day_of_year(const TideTimeElements *shown)
{
  const int *values = shown->values;
  return (int)(tide_days_of_date(values[TIDE_LEVEL_YEAR], values[TIDE_LEVEL_MONTH], values[TIDE_LEVEL_DAY]) -
               tide_days_of_date(values[TIDE_LEVEL_YEAR], 1, 1)) +
         1;
}

static guint8 *
put_name(guint8 *to, const char *name)
{
  gsize len = strlen(name);
  memcpy(to, name, len);
  return to + len;
}

/* Prints as few digits as possible. */
static guint8 *
put_any_fraction(guint8 *to, int ns)
{
  gsize n_digits = NS_DIGITS;
  for (; n_digits > 1 && ns % 10 == 0; ns /= 10)
    n_digits--;
  return put_number(to, ns, n_digits);
}

static guint8 *
put_piece(guint8 *to, const TideTimePiece *piece, const TideTimeElements *shown)
{
  int value = shown->values[piece->level];
  switch (piece->kind) {
  case PIECE_BYTE:
    *to = piece->byte;
    return to + 1;
  case PIECE_NUMBER:
    return put_number(to, value, piece->least_digits);
  case PIECE_YEAR_OF_TWO:
    return put_number(to, value % 100, 2);
  case PIECE_MONTH_NAME:
    return put_name(to, month_names[value - 1]);
  case PIECE_DAY_OF_YEAR:
    return put_number(to, day_of_year(shown), piece->least_digits);
  case PIECE_WEEKDAY: {
    gint64 day = tide_day_of_seconds(tide_time_elements_local_s(shown));
    return put_name(to, weekday_names[(day % 7 + 7) % 7]);
  }
  case PIECE_HOUR_OF_HALF:
    return put_number(to, (value + 11) % 12 + 1, piece->least_digits);
  case PIECE_HALF:
    return put_name(to, half_names[value / 12]);
  case PIECE_FRACTION:
    return put_number(to, value / (int)tide_time_level_ns(TIDE_LEVEL_FRACTION, piece->most_digits),
                      piece->least_digits);
  case PIECE_ANY_FRACTION:
    return put_any_fraction(to, value);
  case PIECE_OFFSET:
    return put_offset(to, shown->offset_s, piece->n_letters);
  case PIECE_OPEN:
  case PIECE_CLOSE:
    break;
  }
  return to;
}

void
tide_time_pattern_print(const TideTimePattern *pattern, GTimeZone *zone, gint64 ns, TideBuffer *out)
{
  TideTimeElements shown = tide_time_elements_at(zone, ns);
  /* Offsets are printed to the minute, so the local time must use the rounded offset. */
  if ((pattern->named & TIDE_NAMES_OFFSET) && shown.offset_s % 60 != 0) {
    int offset_s = shown.offset_s - shown.offset_s % 60;
    shown = tide_time_elements_at(NULL, ns + offset_s * G_GINT64_CONSTANT(1000000000));
    shown.offset_s = offset_s;
  }
  guint8 *start = tide_buffer_reserve(out, pattern->longest_bytes), *to = start;
  for (gsize i = 0; i < pattern->n_pieces; i++) {
    const TideTimePiece *piece = &pattern->pieces[i];
    if (piece->is_alternative)
      i = piece->behind - 1u;
    else
      to = put_piece(to, piece, &shown);
  }
  out->len += (gsize)(to - start);
}

/* ---- reading ---- */

/* A text being read. */
typedef struct Reader {
  TideTimeCursor cursor;
  TideTimeElements elements;
  int half; /* 1: PM */
  int day_of_year;
} Reader;

gboolean
tide_time_take_fraction(TideTimeCursor *cursor, gsize n_left, TideTimeElements *elements)
{
  static const int steps_ns[NS_DIGITS + 1] = {0,    100000000, 10000000, 1000000, 100000, 10000,
                                              1000, 100,       10,       1}; /* indexed by the number of digits */
  gsize at = cursor->at, end = cursor->text.len, n_digits = 0;
  int fraction = 0;
  if (n_left > 0) {
    for (end = at; end < cursor->text.len && g_ascii_isdigit(cursor->text.data[end]);)
      end++;
    end = end - at > n_left ? end - n_left : at;
  }
  for (; at < end && g_ascii_isdigit(cursor->text.data[at]); at++) {
    if (G_LIKELY(n_digits < NS_DIGITS)) {
      fraction = fraction * 10 + (cursor->text.data[at] - '0');
      n_digits++;
    } else {
      elements->was_cut |= cursor->text.data[at] != '0';
    }
  }
  cursor->at = at;
  elements->values[TIDE_LEVEL_FRACTION] = fraction * steps_ns[n_digits];
  elements->fraction_digits = (int)n_digits;
  return n_digits > 0;
}

gboolean
tide_time_take_offset(TideTimeCursor *cursor, TideTimeElements *elements)
{
  if (tide_time_take_byte(cursor, 'Z'))
    return TRUE;
  (void)tide_time_take_byte(cursor, ' ');
  if (tide_time_take_byte(cursor, 'Z') || tide_time_take_byte(cursor, 'z'))
    return TRUE;
  gboolean is_negative = tide_time_take_byte(cursor, '-');
  int hours, minutes = 0;
  if (!(is_negative || tide_time_take_byte(cursor, '+')) || !tide_time_take_number(cursor, 2, &hours))
    return FALSE;
  gsize behind_hours = cursor->at;
  (void)tide_time_take_byte(cursor, ':');
  if (!tide_time_take_number(cursor, 2, &minutes))
    cursor->at = behind_hours;
  if (hours > 23 || minutes > 59)
    return FALSE;
  elements->offset_s = (hours * 60 + minutes) * 60 * (is_negative ? -1 : 1);
  return TRUE;
}

/* Reads one of @names in any case, and returns its index. */
static gboolean
take_name(TideTimeCursor *cursor, const char names[][4], int n_names, int *ret_number)
{
  gsize len = strlen(names[0]);
  if (cursor->text.len - cursor->at < len)
    return FALSE;
  for (*ret_number = 0; *ret_number < n_names; ++*ret_number)
    if (g_ascii_strncasecmp((const char *)cursor->text.data + cursor->at, names[*ret_number], len) == 0) {
      cursor->at += len;
      return TRUE;
    }
  return FALSE;
}

static gboolean
take_digits(TideTimeCursor *cursor, const TideTimePiece *piece, int *ret_number)
{
  gsize n_digits = piece->least_digits;
  if (piece->most_digits > n_digits) {
    gsize n_there = 0, most = (gsize)piece->most_digits + piece->reserved;
    while (n_there < most && cursor->at + n_there < cursor->text.len &&
           g_ascii_isdigit(cursor->text.data[cursor->at + n_there]))
      n_there++;
    n_digits = n_there > piece->reserved ? n_there - piece->reserved : n_digits;
  }
  return tide_time_take_number(cursor, n_digits, ret_number);
}

static gboolean
take_piece(Reader *reader, const TideTimePiece *piece)
{
  TideTimeCursor *cursor = &reader->cursor;
  int *value = &reader->elements.values[piece->level];
  int number = 0;
  switch (piece->kind) {
  case PIECE_BYTE:
    return tide_time_take_byte(cursor, piece->byte);
  case PIECE_NUMBER:
  case PIECE_HOUR_OF_HALF:
    return take_digits(cursor, piece, value);
  case PIECE_YEAR_OF_TWO:
    if (!take_digits(cursor, piece, &number))
      return FALSE;
    *value = FIRST_YEAR_OF_TWO_DIGITS + number;
    return TRUE;
  case PIECE_MONTH_NAME:
    if (!take_name(cursor, month_names, G_N_ELEMENTS(month_names), &number))
      return FALSE;
    *value = number + 1;
    return TRUE;
  case PIECE_DAY_OF_YEAR:
    return take_digits(cursor, piece, &reader->day_of_year) && reader->day_of_year > 0;
  case PIECE_WEEKDAY:
    return take_name(cursor, weekday_names, G_N_ELEMENTS(weekday_names), &number);
  case PIECE_HALF:
    return take_name(cursor, half_names, G_N_ELEMENTS(half_names), &reader->half);
  case PIECE_FRACTION:
    if (!take_digits(cursor, piece, &number))
      return FALSE;
    *value = number * (int)tide_time_level_ns(TIDE_LEVEL_FRACTION, piece->most_digits);
    reader->elements.fraction_digits = piece->most_digits;
    return TRUE;
  case PIECE_ANY_FRACTION:
    return tide_time_take_fraction(cursor, piece->reserved, &reader->elements);
  case PIECE_OFFSET:
    return tide_time_take_offset(cursor, &reader->elements);
  case PIECE_OPEN:
  case PIECE_CLOSE:
    break;
  }
  return TRUE;
}

/* Tries the pieces in order. If one does not match, repeats an element, or leaves text over, it backtracks and skips
 * the last optional part that it entered. */
static gboolean
take_pieces(Reader *reader, const TideTimePattern *pattern)
{
  struct {
    Reader before;
    gsize behind;
  } begun[MAX_PARTS];
  gsize n_begun = 0;
  for (gsize i = 0;; i++) {
    const TideTimePiece *piece = &pattern->pieces[i]; /* not valid after the last piece */
    gboolean is_end = i == pattern->n_pieces;
    if (is_end && reader->cursor.at == reader->cursor.text.len)
      return TRUE;
    if (!is_end && piece->kind == PIECE_OPEN) {
      begun[n_begun].before = *reader;
      begun[n_begun++].behind = piece->behind;
      continue;
    }
    if (!is_end && !(reader->elements.named & piece->says) && take_piece(reader, piece)) {
      reader->elements.named |= piece->says;
      continue;
    }
    if (n_begun == 0)
      return FALSE;
    *reader = begun[--n_begun].before;
    i = begun[n_begun].behind - 1;
  }
}

/* Turns hours of a half day, and days of a year, into elements. */
static gboolean
resolve(Reader *reader)
{
  int *values = reader->elements.values;
  guint named = reader->elements.named;
  if (((named & NAMES_HOUR_OF_HALF) != 0) != ((named & NAMES_HALF) != 0))
    return FALSE;
  if (named & NAMES_HALF) {
    if (values[TIDE_LEVEL_HOUR] < 1 || values[TIDE_LEVEL_HOUR] > 12)
      return FALSE;
    values[TIDE_LEVEL_HOUR] = values[TIDE_LEVEL_HOUR] % 12 + reader->half * 12;
  }
  if (reader->day_of_year > 0 && (named & TIDE_NAMES(YEAR))) {
    int year = values[TIDE_LEVEL_YEAR];
    gint64 day = tide_days_of_date(year, 1, 1) + reader->day_of_year - 1;
    tide_date_of_days(day, &values[TIDE_LEVEL_YEAR], &values[TIDE_LEVEL_MONTH], &values[TIDE_LEVEL_DAY]);
    return values[TIDE_LEVEL_YEAR] == year;
  }
  return TRUE;
}

gboolean
tide_time_pattern_read(const TideTimePattern *pattern, TideBytes text, TideTimeElements *ret_elements,
                       const char **ret_detail)
{
  Reader reader = {.cursor = {.text = text}};
  gboolean may_lack = pattern->always_named != pattern->named;
  if (!take_pieces(&reader, pattern) || !resolve(&reader) ||
      (may_lack && (!(reader.elements.named & (TIDE_NAMES_DATE | TIDE_NAMES_CLOCK)) ||
                    tide_time_names_fault(reader.elements.named) != NULL))) {
    *ret_detail = "not in the declared pattern";
    return FALSE;
  }
  if (!tide_time_elements_check(&reader.elements, ret_detail))
    return FALSE;
  *ret_elements = reader.elements;
  return TRUE;
}
