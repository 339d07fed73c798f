/* A key and a reading out of any bytes. Whatever compiles must keep its word: the same reading makes the same key, it
 * is read back (which makes its parts again), the time holds the event, and a plan for just this reading finds it. */
#include "model/key/key_part.h"
#include "util/error.h"

#define MAX_SPECS 8
#define N_FIELDS 4
#define MAX_TEXT_BYTES 16

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size);

/* What is left of the input; zeros when it is used up. */
typedef struct Input {
  const guint8 *data;
  gsize left;
} Input;

static guint8
take_byte(Input *input)
{
  if (input->left == 0)
    return 0;
  input->left--;
  return *input->data++;
}

static guint32
take_number(Input *input, guint32 below)
{
  return ((guint32)take_byte(input) << 8 | take_byte(input)) % below;
}

static TideBytes
take_text(Input *input)
{
  gsize wanted = take_number(input, MAX_TEXT_BYTES + 1);
  gsize len = MIN(wanted, input->left);
  TideBytes text = tide_bytes(input->data, len);
  input->data += len;
  input->left -= len;
  return text;
}

#define END_NS G_GINT64_CONSTANT(7258118400000000000) /* 2200: no later event is taken, and no zone is known */

static GTimeZone *
take_zone(Input *input, const char **ret_name)
{
  static const char *const names[] = {NULL, "Europe/Berlin", "America/St_Johns", "+05:45"};
  static GTimeZone *zones[G_N_ELEMENTS(names)];
  guint32 i = take_number(input, G_N_ELEMENTS(names));
  if (names[i] != NULL && zones[i] == NULL)
    zones[i] = g_time_zone_new_identifier(names[i]);
  *ret_name = names[i];
  return zones[i];
}

static const char *
take_pattern(Input *input)
{
  static const char *const patterns[] = {NULL,   "yyyyMMdd", "HHmm", "yyyyMMddHHmmssSSS", "yyyyMM", "ddMMyyyy",
                                         "yyyy", "SSS",      "d",    "yyyy-MM-dd'T'HH",   "yyyyHH", "mm"};
  return patterns[take_number(input, G_N_ELEMENTS(patterns))];
}

static TideTimeCut
take_cut(Input *input)
{
  static const guint32 minutes[] = {0, 1, 5, 15, 60, 360, 720, 7};
  return (TideTimeCut){(TideCutUnit)take_number(input, TIDE_CUT_YEAR + 2),
                       minutes[take_number(input, G_N_ELEMENTS(minutes))]};
}

/* @values, @defaults: room for two, borrowed by the spec. */
static void
take_defaults(Input *input, TideBytes *values, TideKeyDefault *defaults, TideKeyPartSpec *ret_spec)
{
  ret_spec->value.n_defaults = take_number(input, 3);
  for (gsize i = 0; i < ret_spec->value.n_defaults; i++) {
    values[i] = take_text(input);
    defaults[i].when = (TideCondition){.kind = (TideConditionKind)take_number(input, TIDE_CONDITION_MATCHES + 1),
                                       .field = take_number(input, N_FIELDS),
                                       .values = &values[i],
                                       .n_values = 1,
                                       .negated = take_number(input, 2) != 0};
    defaults[i].value = take_text(input);
  }
  ret_spec->value.defaults = defaults;
}

static void
take_field_forms(Input *input, TideKeyPartSpec *ret_spec)
{
  guint8 flags = take_byte(input);
  ret_spec->value.form = flags & 1 ? (TideKeyForm)take_number(input, TIDE_KEY_FLOAT64 + 2) : TIDE_KEY_TEXT;
  ret_spec->value.cut = (flags & 2) != 0;
  ret_spec->spelling.text_case = (TideTextCase)take_number(input, TIDE_CASE_UPPER + 1);
  ret_spec->value.text_reversed = (flags & 4) != 0;
  ret_spec->value.escape = (flags & 8) != 0;
  ret_spec->spelling.strip_spaces = (flags & 16) != 0;
  ret_spec->value.has_range = (flags & 32) != 0;
  ret_spec->value.range_min = (gint64)take_number(input, G_MAXUINT16) - (flags & 64 ? 100 : 0);
  ret_spec->value.range_max = (gint64)take_number(input, G_MAXUINT16) * (flags & 128 ? 1000000 : 1);
}

static void
take_spec(Input *input, TideKeyPartSpec *ret_spec, TideBytes *values, TideKeyDefault *defaults)
{
  guint8 flags = take_byte(input);
  *ret_spec = (TideKeyPartSpec){.kind = (TideKeyPartKind)take_number(input, TIDE_KEY_NAME + 2)};
  ret_spec->value.field = take_number(input, N_FIELDS);
  ret_spec->width_bytes = flags & 1 ? take_number(input, 40) : 0;
  ret_spec->value.pad_byte = flags & 2 ? '0' : take_byte(input);
  ret_spec->value.pad_left = (flags & 4) != 0;
  ret_spec->value.has_default = (flags & 8) != 0;
  ret_spec->moment.reversed = (flags & 16) != 0;
  ret_spec->binary = (flags & 32) != 0;
  ret_spec->digest.by_number = (flags & 64) != 0;
  ret_spec->moment.unit = (TideKeyTimeUnit)take_number(input, TIDE_KEY_TIME_NS + 1);
  ret_spec->digest.hash = (TideKeyHash)take_number(input, TIDE_KEY_HASH_CRC32 + 1);
  ret_spec->digest.hash_bytes = take_number(input, 40);
  ret_spec->digest.modulo = take_number(input, 64);
  ret_spec->literal = take_text(input);
  ret_spec->value.default_value = take_text(input);
  if (flags & 128) {
    take_field_forms(input, ret_spec);
    take_defaults(input, values, defaults, ret_spec);
    ret_spec->moment.pattern = take_pattern(input);
    ret_spec->moment.zone = take_zone(input, &ret_spec->moment.zone_name);
    ret_spec->moment.cut_to = take_cut(input);
    ret_spec->moment.since = take_cut(input);
    ret_spec->moment.drop_digits = take_number(input, 20);
    ret_spec->digest.first = take_number(input, 200);
    ret_spec->digest.alphabet = take_text(input);
  }
}

/* What is declared. Parts borrow from each other and from the input. */
typedef struct Declared {
  TideKeyPartSpec specs[MAX_SPECS], inputs[MAX_SPECS];
  gsize n_specs, n_inputs;
  TideBytes values[2 * MAX_SPECS][2];
  TideKeyDefault defaults[2 * MAX_SPECS][2];
} Declared;

static void
take_declared(Input *input, Declared *declared)
{
  declared->n_specs = take_number(input, MAX_SPECS + 1);
  declared->n_inputs = take_number(input, MAX_SPECS + 1);
  for (gsize i = 0; i < declared->n_inputs; i++)
    take_spec(input, &declared->inputs[i], declared->values[MAX_SPECS + i], declared->defaults[MAX_SPECS + i]);
  for (gsize i = 0; i < declared->n_specs; i++) {
    take_spec(input, &declared->specs[i], declared->values[i], declared->defaults[i]);
    declared->specs[i].digest.of = declared->inputs;
    declared->specs[i].digest.n_of = declared->n_inputs;
  }
}

static TideRowKey *
compile_key(const Declared *declared)
{
  g_autoptr(GError) error = NULL;
  gsize bad_part = 0;
  TideRowKey *key = tide_row_key_compile(declared->specs, declared->n_specs, &bad_part, &error);
  g_assert((key == NULL) == (error != NULL));
  g_assert(key != NULL || bad_part <= declared->n_specs);
  return key;
}

static void
check_text(const Declared *declared, const TideReading *reading)
{
  g_autoptr(GError) error = NULL;
  g_auto(TideBuffer) out = {0};
  gsize bad_part = 0;
  TideReject reject;
  gint64 ns;
  g_autoptr(TideRowKey) text = tide_key_text_compile(declared->specs, declared->n_specs, TRUE, &bad_part, &error);
  g_assert((text == NULL) == (error != NULL));
  if (text == NULL || !tide_key_text_append(text, reading, TIDE_BYTES_LITERAL("a Name"), &out, &reject))
    return;
  if (tide_key_text_read_time(text, tide_buffer_bytes(&out), &ns))
    g_assert(ns >= 0 && ns <= reading->event_time_ns);
}

static void
take_reading(Input *input, TideField *fields, guint32 *known, TideReading *ret_reading)
{
  *ret_reading = (TideReading){.fields = fields, .known = known, .n_known = N_FIELDS};
  for (guint32 i = 0; i < N_FIELDS; i++) {
    guint8 kind = take_byte(input);
    if (kind % 8 > TIDE_VALUE_JSON)
      continue;
    TideValueKind value_kind = (TideValueKind)(kind % 8);
    TideBytes text = value_kind == TIDE_VALUE_NULL ? TIDE_BYTES_EMPTY : take_text(input);
    fields[ret_reading->n_fields++] = (TideField){.name_id = i, .kind = value_kind, .text = text};
    known[i] = ret_reading->n_fields;
  }
  guint64 time = 0;
  for (int i = 0; i < 8; i++)
    time = time << 8 | take_byte(input);
  memcpy(&ret_reading->event_time_ns, &time, sizeof time);
  ret_reading->event_time_ns %= END_NS;
}

static gboolean
is_in_plan(const GArray *ranges, TideBytes row)
{
  for (guint i = 0; i < ranges->len; i++) {
    const TideKeyRange *range = &g_array_index(ranges, TideKeyRange, i);
    if (tide_bytes_compare(row, tide_buffer_bytes(&range->start)) >= 0 &&
        (range->stop.len == 0 || tide_bytes_compare(row, tide_buffer_bytes(&range->stop)) < 0))
      return TRUE;
  }
  return FALSE;
}

static void
check_plan(const TideRowKey *key, const TideReading *reading, TideBytes row)
{
  g_autoptr(GError) error = NULL;
  gint64 from_ns = reading->event_time_ns;
  if (from_ns < 0 || from_ns == G_MAXINT64)
    return; /* a time that no plan asks for: from 1970 on, and before the last nanosecond */
  g_autoptr(GArray) one = tide_row_key_plan(key, reading, from_ns, from_ns + 1, &error);
  g_assert_no_error(error);
  g_assert(is_in_plan(one, row));
  g_autoptr(GArray) all = tide_row_key_plan(key, reading, 0, G_MAXINT64, &error);
  g_assert_no_error(error);
  g_assert(is_in_plan(all, row));
}

static void
check_row(const TideRowKey *key, const TideReading *reading, TideBytes row, const gsize *ends)
{
  gsize located[TIDE_ROW_KEY_MAX_PARTS];
  TideDecodedKey decoded = {0};
  g_assert(row.len > 0 && row.len <= TIDE_ROW_KEY_MAX_BYTES);
  g_assert(tide_row_key_locate(key, row, located));
  g_assert(memcmp(located, ends, tide_row_key_n_parts(key) * sizeof *ends) == 0);
  g_assert(tide_row_key_decode(key, row, &decoded));
  g_assert(tide_row_key_has_time(key) || !decoded.has_time);
  g_assert(!decoded.has_time || (decoded.from_ns <= reading->event_time_ns && decoded.to_ns > reading->event_time_ns));
  tide_decoded_key_clear(&decoded);
  check_plan(key, reading, row);
}

/* A row that anybody may have written. */
static void
check_any_row(const TideRowKey *key, TideBytes row)
{
  TideDecodedKey decoded = {0};
  if (tide_row_key_decode(key, row, &decoded)) {
    g_assert(!decoded.has_time || (decoded.from_ns >= 0 && decoded.from_ns <= decoded.to_ns));
    for (gsize i = 0; i < decoded.n_fields; i++)
      g_assert(decoded.fields[i].text.len > 0);
  }
  tide_decoded_key_clear(&decoded);
}

static void
check_descriptions(const TideRowKey *key)
{
  g_autoptr(TideFieldNames) names = tide_field_names_new();
  for (guint32 i = 0; i < N_FIELDS; i++) {
    char name[] = {(char)('a' + i)};
    g_assert(tide_field_names_intern(names, tide_bytes(name, 1)) == i);
  }
  g_autofree char *description = tide_row_key_describe(key, names);
  g_assert(description[0] != '\0');
  g_autoptr(GPtrArray) lost = tide_row_key_lost(key, names);
  for (guint i = 0; i < lost->len; i++)
    g_assert(((const char *)g_ptr_array_index(lost, i))[0] != '\0');
}

static void
check_splits(const TideRowKey *key, guint32 n_regions)
{
  GArray *splits = tide_row_key_splits(key, n_regions);
  for (guint i = 1; i < splits->len; i++)
    g_assert(tide_bytes_compare(g_array_index(splits, TideBytes, i - 1), g_array_index(splits, TideBytes, i)) < 0);
  tide_splits_free(splits);
}

int
LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
  Input input = {data, size};
  Declared declared;
  take_declared(&input, &declared);
  TideField fields[N_FIELDS];
  guint32 known[N_FIELDS] = {0};
  TideReading reading;
  TideReject reject;
  gsize ends[TIDE_ROW_KEY_MAX_PARTS];
  g_auto(TideBuffer) out = {0}, again = {0};
  take_reading(&input, fields, known, &reading);
  check_text(&declared, &reading);
  g_autoptr(TideRowKey) key = compile_key(&declared);
  if (key == NULL)
    return 0;
  if (tide_row_key_append_parts(key, &reading, &out, ends, &reject)) {
    g_assert(tide_row_key_append(key, &reading, &again, &reject));
    g_assert(tide_bytes_equal(tide_buffer_bytes(&out), tide_buffer_bytes(&again)));
    check_row(key, &reading, tide_buffer_bytes(&out), ends);
  } else {
    g_assert(out.len == 0 && reject.reason != TIDE_REJECT_NONE);
    g_autofree char *text = tide_reject_describe(&reject);
    g_assert(text[0] != '\0');
  }
  check_splits(key, take_byte(&input));
  check_descriptions(key);
  check_any_row(key, tide_bytes(input.data, input.left));
  return 0;
}
