#include "decode/senml.h"

#include "decode/decimal_text.h"
#include "decode/json_text.h"

/* Times below are relative to now (RFC 8428, 4.5.3): 2^28 s. */
#define FIRST_ABSOLUTE_S (1 << 28)

/* A sum is exact: both numbers are brought to the same power of ten. More digits than this overflow. */
#define MAX_POWERS 38

static const TideBytes base_names[TIDE_SENML_N_BASES] = {
    [TIDE_SENML_BN] = TIDE_BYTES_LITERAL("bn"), [TIDE_SENML_BT] = TIDE_BYTES_LITERAL("bt"),
    [TIDE_SENML_BU] = TIDE_BYTES_LITERAL("bu"), [TIDE_SENML_BV] = TIDE_BYTES_LITERAL("bv"),
    [TIDE_SENML_BS] = TIDE_BYTES_LITERAL("bs"), [TIDE_SENML_BVER] = TIDE_BYTES_LITERAL("bver"),
};

/* What a base is for: bn is of n. */
static TideBytes
own_name(TideSenmlBase base)
{
  return tide_bytes_from(base_names[base], 1);
}

gboolean
tide_senml_replaces(TideBytes name)
{
  for (TideSenmlBase base = 0; base < TIDE_SENML_N_BASES; base++)
    if (tide_bytes_equal(name, base_names[base]) || (base != TIDE_SENML_BVER && tide_bytes_equal(name, own_name(base))))
      return TRUE;
  return FALSE;
}

/* ---- exact sums ---- */

/* units / 10^scale */
typedef struct Decimal {
  __int128 units;
  gint scale;
} Decimal;

/* FALSE: it would overflow. */
static gboolean
raise_scale(Decimal *decimal, gint scale)
{
  for (; decimal->scale < scale && decimal->units != 0; decimal->scale++)
    if (__builtin_mul_overflow(decimal->units, 10, &decimal->units))
      return FALSE;
  decimal->scale = MAX(decimal->scale, scale);
  return TRUE;
}

/* @text: a number of JSON. FALSE: it has too many digits. */
static gboolean
read_decimal(TideBytes text, Decimal *ret_decimal)
{
  gboolean is_negative = FALSE, is_behind_point = FALSE;
  Decimal decimal = {0};
  for (gsize i = 0; i < text.len; i++) {
    char byte = (char)text.data[i];
    if (byte == 'e' || byte == 'E') {
      g_autofree char *exponent = g_strndup((const char *)text.data + i + 1, text.len - i - 1);
      decimal.scale -= (gint)CLAMP(g_ascii_strtoll(exponent, NULL, 10), -1000, 1000);
      break;
    }
    is_negative |= byte == '-';
    is_behind_point |= byte == '.';
    if (!g_ascii_isdigit(byte))
      continue;
    decimal.scale += is_behind_point ? 1 : 0;
    if (__builtin_mul_overflow(decimal.units, 10, &decimal.units) ||
        __builtin_add_overflow(decimal.units, byte - '0', &decimal.units))
      return FALSE;
  }
  if (is_negative)
    decimal.units = -decimal.units;
  *ret_decimal = decimal;
  return raise_scale(ret_decimal, 0);
}

static gboolean
add_decimals(Decimal a, Decimal b, Decimal *ret_sum)
{
  gint scale = MAX(a.scale, b.scale);
  ret_sum->scale = scale;
  return raise_scale(&a, scale) && raise_scale(&b, scale) && !__builtin_add_overflow(a.units, b.units, &ret_sum->units);
}

/* Without zeros at the end behind the point. FALSE: it is too long. */
static gboolean
print_decimal(Decimal decimal, TideScratch *scratch, TideBytes *ret_text)
{
  char digits[MAX_POWERS + 2], *end = digits + sizeof digits, *at = end;
  gboolean is_negative = decimal.units < 0;
  unsigned __int128 magnitude =
      is_negative ? (unsigned __int128)0 - (unsigned __int128)decimal.units : (unsigned __int128)decimal.units;
  while (decimal.scale > 0 && magnitude % 10 == 0) {
    magnitude = magnitude / 10;
    decimal.scale = magnitude == 0 ? 0 : decimal.scale - 1;
  }
  do
    *--at = (char)('0' + (int)(magnitude % 10));
  while ((magnitude /= 10) > 0);
  return tide_decimal_of_digits(tide_scratch_take(scratch, TIDE_NUMBER_MAX_BYTES), is_negative, at, (gsize)(end - at),
                                (guint32)decimal.scale, ret_text);
}

/* ---- records ---- */

typedef struct Record {
  const TideField *own[TIDE_SENML_N_BASES]; /* n, t, u, v, s; NULL: not there */
  const TideField **fault;
  const char **detail;
} Record;

static gboolean
refuse(const Record *record, const TideField *field, const char *detail)
{
  *record->fault = field;
  *record->detail = detail;
  return FALSE;
}

static gboolean
is_there(const TideField *field)
{
  return field != NULL && field->name.len > 0 && field->kind != TIDE_VALUE_NULL;
}

static void
read_record(TideSenml *senml, const TideField *fields, guint32 n_fields, Record *record)
{
  for (guint32 i = 0; i < n_fields; i++)
    for (TideSenmlBase base = 0; base < TIDE_SENML_N_BASES; base++) {
      if (tide_bytes_equal(fields[i].name, base_names[base]))
        senml->bases[base] = fields[i];
      else if (base != TIDE_SENML_BVER && tide_bytes_equal(fields[i].name, own_name(base)))
        record->own[base] = &fields[i];
    }
}

/* The number that @field is; 0 where it is not there. */
static gboolean
number_of(const Record *record, const TideField *field, Decimal *ret_number)
{
  *ret_number = (Decimal){0};
  if (!is_there(field))
    return TRUE;
  if (field->kind != TIDE_VALUE_NUMBER)
    return refuse(record, field, "it is no number, as SenML has it");
  return read_decimal(field->text, ret_number) || refuse(record, field, "it is a number of too many digits to add to");
}

/* @base and the record's own, added. */
static gboolean
sum_of(const TideSenml *senml, const Record *record, TideSenmlBase base, Decimal *ret_sum)
{
  Decimal a, b;
  return number_of(record, &senml->bases[base], &a) && number_of(record, record->own[base], &b) &&
         (add_decimals(a, b, ret_sum) ||
          refuse(record, &senml->bases[base], "it is a number of too many digits to add"));
}

/* Bases and the record's time, as seconds since 1970. */
static gboolean
time_of(const TideSenml *senml, const Record *record, gint64 record_ms, Decimal *ret_time)
{
  static const TideField time = {.name = TIDE_BYTES_LITERAL("t")};
  Decimal now = {.units = record_ms, .scale = 3}, first = {.units = FIRST_ABSOLUTE_S}, from_first;
  if (!sum_of(senml, record, TIDE_SENML_BT, ret_time))
    return FALSE;
  first.units = -first.units;
  if (!add_decimals(*ret_time, first, &from_first))
    return refuse(record, &time, "it is a number of too many digits");
  if (from_first.units >= 0)
    return TRUE;
  if (record_ms < 0)
    return refuse(record, &time, "it is relative to the record's time, which is not known");
  return add_decimals(*ret_time, now, ret_time) || refuse(record, &time, "it is a number of too many digits");
}

static TideBytes
join(TideScratch *scratch, TideBytes a, TideBytes b)
{
  guint8 *text = tide_scratch_take(scratch, a.len + b.len);
  tide_memory_copy(text, a.data, a.len);
  tide_memory_copy(text + a.len, b.data, b.len);
  return tide_bytes(text, a.len + b.len);
}

/* The text of the record's name or unit, and of its base. */
static gboolean
text_of(const Record *record, const TideField *field, TideBytes *ret_text)
{
  *ret_text = is_there(field) ? field->text : TIDE_BYTES_EMPTY;
  return !is_there(field) || field->kind == TIDE_VALUE_STRING ||
         refuse(record, field, "it is no text, as SenML has it");
}

gboolean
tide_senml_resolve(TideSenml *senml, const TideField *fields, guint32 n_fields, gint64 record_ms, TideScratch *scratch,
                   TideField ret_made[TIDE_SENML_MAX_MADE], guint *ret_n_made, const TideField **ret_fault,
                   const char **ret_detail)
{
  Record record = {.fault = ret_fault, .detail = ret_detail};
  guint n = 0;
  read_record(senml, fields, n_fields, &record);
  for (TideSenmlBase base = TIDE_SENML_BN; base <= TIDE_SENML_BS; base++) {
    const TideField *own = record.own[base];
    TideField made = {.name = own_name(base), .kind = TIDE_VALUE_NUMBER};
    TideBytes base_text, own_text;
    Decimal number;
    gboolean is_text = base == TIDE_SENML_BN || base == TIDE_SENML_BU;
    if (is_text) {
      made.kind = TIDE_VALUE_STRING;
      if (!text_of(&record, &senml->bases[base], &base_text) || !text_of(&record, own, &own_text))
        return FALSE;
      made.text = base == TIDE_SENML_BN ? join(scratch, base_text, own_text) : own_text.len > 0 ? own_text : base_text;
      if (made.text.len == 0)
        continue;
    } else if (base == TIDE_SENML_BT ? !time_of(senml, &record, record_ms, &number)
                                     : is_there(own) && !sum_of(senml, &record, base, &number)) {
      return FALSE;
    } else if (base != TIDE_SENML_BT && !is_there(own)) {
      continue;
    } else if (!print_decimal(number, scratch, &made.text)) {
      return refuse(&record, base == TIDE_SENML_BT ? &senml->bases[base] : own, "it is a number of too many digits");
    }
    ret_made[n++] = made;
  }
  *ret_n_made = n;
  return TRUE;
}
