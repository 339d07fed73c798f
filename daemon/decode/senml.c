#include "decode/senml.h"

#include "model/table/unit_change.h"
#include "model/value_text.h"

/* Smaller times are relative to now (RFC 8428, 4.5.3): 2^28 s. */
#define FIRST_ABSOLUTE_S (1 << 28)

static const TideBytes base_names[TIDE_SENML_N_BASES] = {
    [TIDE_SENML_BN] = TIDE_BYTES_LITERAL("bn"), [TIDE_SENML_BT] = TIDE_BYTES_LITERAL("bt"),
    [TIDE_SENML_BU] = TIDE_BYTES_LITERAL("bu"), [TIDE_SENML_BV] = TIDE_BYTES_LITERAL("bv"),
    [TIDE_SENML_BS] = TIDE_BYTES_LITERAL("bs"), [TIDE_SENML_BVER] = TIDE_BYTES_LITERAL("bver"),
};

/* The name of the field to which a base applies: n for bn. */
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

/* ---- records ---- */

typedef struct Record {
  const TideField *own[TIDE_SENML_N_BASES]; /* n, t, u, v, s; NULL: absent */
  gboolean has_other_value;                 /* a text, a boolean or bytes, or a sum */
  const TideField **fault;
  const char **detail;
  TideScratch *scratch;
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

static gboolean
is_other_value(const TideField *field)
{
  static const char *const names[] = {"vs", "vb", "vd", "s"};
  for (gsize i = 0; i < G_N_ELEMENTS(names); i++)
    if (is_there(field) && tide_bytes_equal(field->name, tide_bytes_of_string(names[i])))
      return TRUE;
  return FALSE;
}

static void
read_record(TideSenml *senml, const TideField *fields, guint32 n_fields, Record *record)
{
  for (guint32 i = 0; i < n_fields; i++)
    for (TideSenmlBase base = 0; base < TIDE_SENML_N_BASES; base++) {
      /* A null is treated as absent, because formats with schemas have nulls in records without a name or unit. */
      if (tide_bytes_equal(fields[i].name, base_names[base]) && is_there(&fields[i]))
        senml->bases[base] = fields[i];
      else if (base != TIDE_SENML_BVER && tide_bytes_equal(fields[i].name, own_name(base)))
        record->own[base] = &fields[i];
      else if (base == TIDE_SENML_BV && is_other_value(&fields[i]))
        record->has_other_value = TRUE;
    }
}

static gboolean
check_number(const Record *record, const TideField *field)
{
  return !is_there(field) || field->kind == TIDE_VALUE_NUMBER ||
         refuse(record, field, "it is not a number, as SenML requires");
}

/* Adds @a and @b exactly; neither is 0. */
static gboolean
add_numbers(const Record *record, TideBytes a, TideBytes b, TideBytes *ret_sum)
{
  TideUnitChange change = {.scale = {.digits = {1}, .n_digits = 1}};
  TideBuffer *text = &record->scratch->pieces;
  const char *unused;
  tide_buffer_reset(text);
  if (!tide_decimal_read(b.len > 0 ? b : TIDE_BYTES_LITERAL("0"), &change.offset) ||
      !tide_unit_change_apply(&change, a.len > 0 ? a : TIDE_BYTES_LITERAL("0"), text, &unused))
    return FALSE;
  *ret_sum = tide_scratch_copy(record->scratch, tide_buffer_bytes(text));
  return TRUE;
}

static TideBytes
text_of(const TideField *field)
{
  return is_there(field) ? field->text : TIDE_BYTES_EMPTY;
}

/* The sum of @base and the record's own number. */
static gboolean
sum_of(const TideSenml *senml, const Record *record, TideSenmlBase base, TideBytes *ret_sum)
{
  const TideField *of_base = &senml->bases[base], *own = record->own[base];
  return check_number(record, of_base) && check_number(record, own) &&
         (add_numbers(record, text_of(own), text_of(of_base), ret_sum) ||
          refuse(record, is_there(of_base) ? of_base : own, "it is a number with too many digits to add"));
}

/* Resolves bases and the record's time, to seconds since 1970. */
static gboolean
time_of(const TideSenml *senml, const Record *record, gint64 record_ms, TideBytes *ret_time)
{
  static const TideField time = {.name = TIDE_BYTES_LITERAL("t")};
  char now[TIDE_VALUE_TEXT_BYTES];
  if (!sum_of(senml, record, TIDE_SENML_BT, ret_time))
    return FALSE;
  g_autofree char *terminated = g_strndup((const char *)ret_time->data, ret_time->len);
  if (g_ascii_strtoll(terminated, NULL, 10) >= FIRST_ABSOLUTE_S)
    return TRUE;
  if (record_ms < 0)
    return refuse(record, &time, "it is relative to the record's time, which is not known");
  TideBytes record_time = tide_seconds_text(now, record_ms / 1000, (guint32)(record_ms % 1000) * 1000000);
  return add_numbers(record, *ret_time, record_time, ret_time) ||
         refuse(record, &time, "it is a number with too many digits to add");
}

/* Joins the texts of the base and the record's name or unit. */
static gboolean
check_text(const Record *record, const TideField *field)
{
  return !is_there(field) || field->kind == TIDE_VALUE_STRING ||
         refuse(record, field, "it is not a text, as SenML requires");
}

/* Whether the record has the number. A base value applies only to a record without any other value. */
static gboolean
is_to_be_made(const Record *record, TideSenmlBase base, const TideField *of_base)
{
  return is_there(record->own[base]) || (base == TIDE_SENML_BV && is_there(of_base) && !record->has_other_value);
}

gboolean
tide_senml_resolve(TideSenml *senml, const TideField *fields, guint32 n_fields, gint64 record_ms, TideScratch *scratch,
                   TideField ret_made[TIDE_SENML_MAX_MADE], guint *ret_n_made, const TideField **ret_fault,
                   const char **ret_detail)
{
  Record record = {.fault = ret_fault, .detail = ret_detail, .scratch = scratch};
  guint n = 0;
  read_record(senml, fields, n_fields, &record);
  for (TideSenmlBase base = TIDE_SENML_BN; base <= TIDE_SENML_BS; base++) {
    const TideField *of_base = &senml->bases[base], *own = record.own[base];
    gboolean is_text = base == TIDE_SENML_BN || base == TIDE_SENML_BU;
    TideField made = {.name = own_name(base), .kind = is_text ? TIDE_VALUE_STRING : TIDE_VALUE_NUMBER};
    if (is_text && (!check_text(&record, of_base) || !check_text(&record, own)))
      return FALSE;
    if (base == TIDE_SENML_BN)
      made.text = tide_scratch_join(scratch, text_of(of_base), text_of(own));
    else if (base == TIDE_SENML_BU)
      made.text = text_of(is_there(own) ? own : of_base);
    else if (base == TIDE_SENML_BT ? !time_of(senml, &record, record_ms, &made.text)
                                   : is_to_be_made(&record, base, of_base) && !sum_of(senml, &record, base, &made.text))
      return FALSE;
    if (made.text.len > 0)
      ret_made[n++] = made;
  }
  *ret_n_made = n;
  return TRUE;
}
