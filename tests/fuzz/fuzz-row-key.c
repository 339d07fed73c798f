/* A key and a reading out of any bytes. Whatever compiles must keep its word: the same reading makes the same key, the
 * parts are found again in it, the time comes back, and a plan for just this reading finds it. */
#include "model/key_part.h"
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

static void
take_spec(Input *input, TideKeyPartSpec *ret_spec)
{
  guint8 flags = take_byte(input);
  *ret_spec = (TideKeyPartSpec){.kind = (TideKeyPartKind)take_number(input, TIDE_KEY_SALT + 2)};
  ret_spec->field = take_number(input, N_FIELDS);
  ret_spec->width_bytes = flags & 1 ? take_number(input, 40) : 0;
  ret_spec->pad_byte = flags & 2 ? '0' : take_byte(input);
  ret_spec->pad_left = (flags & 4) != 0;
  ret_spec->has_default = (flags & 8) != 0;
  ret_spec->unit = (TideKeyTimeUnit)take_number(input, TIDE_KEY_TIME_NS + 1);
  ret_spec->reversed = (flags & 16) != 0;
  ret_spec->binary = (flags & 32) != 0;
  ret_spec->hash = (TideKeyHash)take_number(input, TIDE_KEY_HASH_CRC32 + 1);
  ret_spec->hash_bytes = take_number(input, 40);
  ret_spec->modulo = take_number(input, 64);
  ret_spec->literal = take_text(input);
  ret_spec->default_value = take_text(input);
}

static TideRowKey *
take_key(Input *input)
{
  TideKeyPartSpec specs[MAX_SPECS], inputs[MAX_SPECS];
  g_autoptr(GError) error = NULL;
  gsize bad_part = 0, n_specs = take_number(input, MAX_SPECS + 1), n_inputs = take_number(input, MAX_SPECS + 1);
  for (gsize i = 0; i < n_inputs; i++)
    take_spec(input, &inputs[i]);
  for (gsize i = 0; i < n_specs; i++) {
    take_spec(input, &specs[i]);
    specs[i].of = inputs;
    specs[i].n_of = n_inputs;
  }
  TideRowKey *key = tide_row_key_compile(specs, n_specs, &bad_part, &error);
  g_assert((key == NULL) == (error != NULL));
  g_assert(key != NULL || bad_part <= n_specs);
  return key;
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
  gint64 ns;
  g_assert(row.len > 0 && row.len <= TIDE_ROW_KEY_MAX_BYTES);
  g_assert(tide_row_key_locate(key, row, located));
  g_assert(memcmp(located, ends, tide_row_key_n_parts(key) * sizeof *ends) == 0);
  g_assert(tide_row_key_read_time(key, row, &ns) == tide_row_key_has_time(key));
  g_assert(!tide_row_key_has_time(key) || (ns <= reading->event_time_ns && ns >= 0));
  check_plan(key, reading, row);
}

int
LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
  Input input = {data, size};
  g_autoptr(TideRowKey) key = take_key(&input);
  if (key == NULL)
    return 0;
  TideField fields[N_FIELDS];
  guint32 known[N_FIELDS] = {0};
  TideReading reading;
  TideReject reject;
  gsize ends[TIDE_ROW_KEY_MAX_PARTS];
  gint64 ns;
  g_auto(TideBuffer) out = {0}, again = {0};
  take_reading(&input, fields, known, &reading);
  if (tide_row_key_append_parts(key, &reading, &out, ends, &reject)) {
    g_assert(tide_row_key_append(key, &reading, &again, &reject));
    g_assert(tide_bytes_equal(tide_buffer_bytes(&out), tide_buffer_bytes(&again)));
    check_row(key, &reading, tide_buffer_bytes(&out), ends);
  } else {
    g_assert(out.len == 0 && reject.reason != TIDE_REJECT_NONE);
    g_autofree char *text = tide_reject_describe(&reject);
    g_assert(text[0] != '\0');
  }
  if (tide_row_key_read_time(key, tide_bytes(input.data, input.left), &ns)) /* a row that anybody may have written */
    g_assert(ns >= 0);
  GArray *splits = tide_row_key_splits(key, take_byte(&input));
  tide_splits_free(splits);
  g_autoptr(TideFieldNames) names = tide_field_names_new();
  g_autofree char *description = tide_row_key_describe(key, names);
  g_assert(description[0] != '\0');
  return 0;
}
