/* What must hold for every key that compiles, over at least 100,000 random readings for each scheme: two readings never
 * make one key, what is read back is what was written, keys sort as declared, and a plan finds what it should. Under
 * sanitizers it is a fortieth of them. */
#include "model/key/row_key.h"

#include "unit/key_model.h"
#include "unit/rounds.h"

#define N_READINGS ROUNDS_OF_EACH_SCHEME(100000)
#define TEXT_MAX_BYTES 5
#define EVENT_NS (G_GINT64_CONSTANT(1426535612045) * 1000000)
#define END_NS (G_GINT64_CONSTANT(7258118400) * MODEL_NS_PER_S) /* 2200: no later event is taken */

/* Changes of clocks: in Berlin and Los Angeles, both ways. */
static const gint64 changes_s[] = {1490490000, 1509238800, 1489312800, 1509872400};

typedef struct Scheme {
  const char *name;
  TideKeyPartSpec specs[9];
  guint numbers;  /* the fields whose values are numbers, as bits */
  gboolean loses; /* it cannot be made again from what is read back: a field is only hashed, a time only in the salt */
  gboolean is_open; /* a field stands in front of other parts without anything that ends it: how far it goes depends on
                     * all of the row, so keys do not sort part by part, and a plan may hold rows of other fields */
  gsize n_specs;    /* counted before the tests run */
} Scheme;

#define BIT(field) (1u << (field))

static const TideKeyPartSpec of_exchange_lane[] = {FIELD(EXCHANGE), FIELD(LANE)};
static const TideKeyPartSpec of_plain_meter[] = {FIELD(METER)};
static const TideKeyPartSpec of_second[] = {TIME(S)};
static const TideKeyPartSpec of_spaced_host[] = {PADDED_RIGHT(HOST, 5, ' ')};

#define COUNTED(u) .kind = TIDE_KEY_TIME, .moment.unit = TIDE_KEY_TIME_##u

static Scheme schemes[] = {
    /* the cases of the design */
    {"server metrics", HOST_AND(TIME(MS))},
    {"latest", {FIELD(HOST)}},
    {"quotes", {PADDED_RIGHT(EXCHANGE, 6, ' '), LITERAL("#"), PADDED_RIGHT(SYMBOL, 5, ' '), LITERAL("#"), TIME(MS)}},
    {"smart meters", {PADDED_LEFT(METER, 5, '0'), LITERAL("#"), PATTERN_IN("yyyyMMdd", LOS_ANGELES)}},
    {"smart meters, the day's start without five digits",
     KEY(PADDED_LEFT(METER, 5, '0'), LITERAL("#"),
         {COUNTED(MS), CUT_TO(DAY, 0), .moment.zone_name = LOS_ANGELES, .moment.drop_digits = 5})},
    {"date first", {PATTERN("yyyyMMdd"), LITERAL("#"), PADDED_LEFT(METER, 5, '0')}},
    {"newest first",
     {FIELD(EXCHANGE), LITERAL("#"), FIELD(LANE), LITERAL("#"), FIELD(SYMBOL), LITERAL("#"), TIME_REVERSED(MS)}},
    {"hash first, binary", {HASH_RAW(MD5, 2, of_host), FIELD(HOST), TIME_REVERSED_BINARY(US)}, .is_open = TRUE},
    {"salted", {SALT(16, XXH3, of_host), LITERAL("#"), FIELD(HOST), LITERAL("#"), TIME(NS)}},
    {"salt of a number, in the middle",
     KEY(LITERAL("BATTERY#"),
         PART(.kind = TIDE_KEY_SALT, .digest.modulo = 4, .digest.first = 1, .digest.by_number = TRUE,
              .digest.of = of_plain_meter, .digest.n_of = 1),
         LITERAL("#"), PATTERN("yyyyMMddHHmmssSSS"), LITERAL("#"), PADDED_LEFT(METER, 20, '0')),
     BIT(METER)},
    {"salt in letters", KEY(PART(.kind = TIDE_KEY_SALT, .digest.modulo = 3,
                                 .digest.alphabet = {(const guint8 *)"abc", 3}, .digest.of = of_host, .digest.n_of = 1),
                            LITERAL("-"), FIELD(HOST), LITERAL("#"), TIME(MS))},
    {"salt of the time", {SALT_BY_NUMBER(8, of_second), FIELD(HOST), LITERAL("#"), TIME(S)}},
    {"salt of a time that the key does not have",
     KEY(SALT(8, XXH3, of_second), FIELD(HOST), LITERAL("#"), PATTERN("yyyyMM")), .loses = TRUE},
    {"reversed id", {{OF_FIELD(METER), ZEROS(5), .value.text_reversed = TRUE}, LITERAL("#"), TIME(MS)}},
    {"reversed text", {{OF_FIELD(HOST), .value.text_reversed = TRUE}, LITERAL("#"), TIME(MS)}},
    {"daily garden", HOST_AND(PATTERN_IN("yyyyMMdd", BERLIN))},
    {"monthly garden", HOST_AND(PATTERN_IN("yyyyMM", BERLIN))},
    {"games", {FIELD(USER), LITERAL("#"), FIELD(HOST), LITERAL("#"), PATTERN("yyyyMMdd")}},
    {"time in the middle", {FIELD(USER), LITERAL(":"), TIME(MS), LITERAL(":"), FIELD(LANE)}},
    {"user promoted", {LITERAL("BATTERY#"), FIELD(USER), LITERAL("#"), PATTERN("yyyyMMddHHmmssSSS")}},
    /* where fields end */
    {"open field, then fixed ones", {FIELD(HOST), TIME(MS), PADDED_LEFT(METER, 5, '0')}, .is_open = TRUE},
    {"long delimiters", {FIELD(HOST), LITERAL("aba"), FIELD(USER), LITERAL("aa"), TIME_BINARY(MS)}},
    {"open field at the end", {PADDED_LEFT(METER, 5, '0'), FIELD(HOST)}},
    {"hash that stands for its fields", {HASH_HEX(SHA1, 16, of_exchange_lane), TIME(S)}, .loses = TRUE},
    {"escaped", KEY({OF_FIELD(HOST), .value.escape = TRUE}, LITERAL("#"), {OF_FIELD(USER), .value.escape = TRUE},
                    LITERAL(":0"), TIME(MS))},
    {"escaped and reversed",
     {{OF_FIELD(HOST), .value.escape = TRUE, .value.text_reversed = TRUE}, LITERAL(" "), TIME(MS)}},
    {"field twice", {{OF_FIELD(HOST), SPACES(2), .value.cut = TRUE}, FIELD(HOST)}},
    /* forms of text */
    {"cut", {{OF_FIELD(HOST), SPACES(3), .value.cut = TRUE}, TIME(MS)}},
    {"case and spaces",
     {{OF_FIELD(HOST), .spelling.text_case = TIDE_CASE_UPPER, .spelling.strip_spaces = TRUE}, LITERAL("#"), TIME(MS)}},
    {"lower case, padded in front", KEY(PART(OF_FIELD(HOST), .width_bytes = 6, .value.pad_byte = '.',
                                             .value.pad_left = TRUE, .spelling.text_case = TIDE_CASE_LOWER))},
    {"hash of a padded field", {HASH_HEX(MURMUR3, 4, of_spaced_host), PADDED_RIGHT(HOST, 5, ' '), TIME(S)}},
    /* forms of numbers */
    {"int8", {AS(METER, INT8), TIME(MS)}, BIT(METER)},
    {"int32 and uint16", {AS(METER, INT32), AS(LANE, UINT16), TIME(MS)}, BIT(METER) | BIT(LANE)},
    {"int64", {AS(METER, INT64), TIME_BINARY(MS)}, BIT(METER)},
    {"uint64", {AS(METER, UINT64), TIME_BINARY(MS)}, BIT(METER)},
    {"float32", {AS(METER, FLOAT32), TIME(MS)}, BIT(METER)},
    {"float64", {AS(METER, FLOAT64), TIME(MS)}, BIT(METER)},
    {"range of digits", {{OF_FIELD(METER), ZEROS(5), RANGE(10, 99000)}, LITERAL("#"), TIME(MS)}, BIT(METER)},
    {"range of int64", {{OF_FIELD(METER), .value.form = TIDE_KEY_INT64, RANGE(-1000, 1000000)}, TIME(MS)}, BIT(METER)},
    /* forms of times */
    {"seconds, then milliseconds behind a field", {TIME(S), LITERAL("."), FIELD(HOST), LITERAL("."), TIME(MS)}},
    {"NUL in a literal", {FIELD(HOST), LITERAL("\0"), FIELD(USER), LITERAL("\0"), TIME_BINARY(NS)}},
    {"date, then time of day", {FIELD(HOST), LITERAL("#"), PATTERN("yyyyMMdd"), LITERAL("#"), PATTERN("HHmm")}},
    {"date, then slot of the day", KEY(FIELD(HOST), LITERAL("#"), PATTERN("yyyyMMdd"), LITERAL("#"),
                                       {.kind = TIDE_KEY_TIME, .moment.pattern = "HHmm", CUT_TO(MINUTES, 15)})},
    {"local date, then what is left", KEY(FIELD(HOST), LITERAL("#"), PATTERN_IN("yyyyMMdd", BERLIN),
                                          {COUNTED(MS), SINCE(DAY, 0), .moment.zone_name = BERLIN})},
    {"month, then days in binary",
     {PADDED_LEFT(METER, 5, '0'), PATTERN("yyyyMM"), {COUNTED(S), SINCE(MONTH, 0), .binary = TRUE}}},
    {"hour, newest first in it",
     {FIELD(HOST), LITERAL("#"), PATTERN("yyyyMMddHH"), {COUNTED(MS), SINCE(MINUTES, 60), .moment.reversed = TRUE}}},
    {"elements in another order", {FIELD(HOST), LITERAL("#"), PATTERN("ddMMyyyy"), PATTERN("ss"), PATTERN("HHmm")}},
    {"time of day only", HOST_AND(PATTERN("HHmm")), .loses = TRUE},
    {"local clock beside the second", {FIELD(HOST), LITERAL("#"), PATTERN_IN("yyyyMMddHH", BERLIN), TIME(S)}},
    {"quarters of an hour in Berlin",
     {FIELD(HOST), LITERAL("#"), {COUNTED(S), CUT_TO(MINUTES, 15), .moment.zone_name = BERLIN}}},
    {"weeks in Los Angeles, backwards",
     KEY(FIELD(HOST), LITERAL("#"),
         {COUNTED(MS), CUT_TO(WEEK, 0), .moment.zone_name = LOS_ANGELES, .moment.reversed = TRUE})},
    {"six hours", {FIELD(HOST), LITERAL("#"), {COUNTED(S), CUT_TO(MINUTES, 360), .binary = TRUE}}},
    {"month of a local year",
     KEY(FIELD(HOST), LITERAL("#"), {.kind = TIDE_KEY_TIME, .moment.pattern = "yyyy", .moment.zone_name = BERLIN},
         {.kind = TIDE_KEY_TIME, .moment.pattern = "MM", .moment.zone_name = BERLIN})},
    {"digits dropped, newest first",
     {FIELD(HOST), LITERAL("#"), {COUNTED(MS), .moment.reversed = TRUE, .moment.drop_digits = 4}}},
};

static void
random_text(char *ret_value)
{
  /* Values that a sender might choose to confuse us: separators, digits, padding, escapes, few letters. */
  static const char alphabet[] = "aAb#:$!;0123 .";
  int len = g_test_rand_int_range(1, TEXT_MAX_BYTES + 1);
  for (int i = 0; i < len; i++)
    ret_value[i] = alphabet[g_test_rand_int_range(0, sizeof alphabet - 1)];
  ret_value[len] = '\0';
}

static gint64
random_whole(void)
{
  gint64 any = (gint64)((guint64)(guint32)g_test_rand_int() << 32 | (guint32)g_test_rand_int());
  switch (g_test_rand_int_range(0, 6)) {
  case 0:
    return any;
  case 1:
    return any % 100000;
  default:
    return any % 200;
  }
}

static void
random_number(gboolean is_float, char *ret_value)
{
  gint64 whole = random_whole();
  if (is_float && g_test_rand_bit())
    g_ascii_dtostr(ret_value, MODEL_TEXT_MAX_BYTES, (double)whole / (double)g_test_rand_int_range(1, 1000));
  else if (whole > 0 && g_test_rand_int_range(0, 4) == 0)
    g_snprintf(ret_value, MODEL_TEXT_MAX_BYTES, "0%" G_GINT64_FORMAT, whole);
  else
    g_snprintf(ret_value, MODEL_TEXT_MAX_BYTES, "%s%" G_GINT64_FORMAT, whole == 0 ? "-" : "", whole);
}

static gint64
random_time(void)
{
  gint64 any = (gint64)((guint64)(guint32)g_test_rand_int() << 32 | (guint32)g_test_rand_int()) & G_MAXINT64;
  switch (g_test_rand_int_range(0, 5)) {
  case 0:
    return any % END_NS;
  case 1:
    return EVENT_NS + any % 100; /* nanoseconds apart */
  case 2:
    return changes_s[g_test_rand_int_range(0, G_N_ELEMENTS(changes_s))] * MODEL_NS_PER_S +
           any % (8 * 3600 * MODEL_NS_PER_S) - 4 * 3600 * MODEL_NS_PER_S;
  case 3:
    return EVENT_NS + any % (40 * 86400 * MODEL_NS_PER_S);
  default:
    return EVENT_NS + any % (100 * MODEL_NS_PER_S);
  }
}

static gboolean
is_float_field(const Scheme *scheme, TideNameId field)
{
  for (gsize i = 0; i < scheme->n_specs; i++)
    if (scheme->specs[i].kind == TIDE_KEY_FIELD && scheme->specs[i].value.field == field &&
        scheme->specs[i].value.form >= TIDE_KEY_FLOAT32)
      return TRUE;
  return FALSE;
}

/* A reading, the key that it makes, and what each of its parts means. */
typedef struct Sample {
  ModelFields fields;
  gint64 ns;
  TideBuffer key;
  ModelValue values[G_N_ELEMENTS(((Scheme *)NULL)->specs)];
} Sample;

static ModelValue
value_of_part(const Scheme *scheme, gsize part_index, const Sample *sample)
{
  const TideKeyPartSpec *next = part_index + 1 < scheme->n_specs ? &scheme->specs[part_index + 1] : NULL;
  return model_part(&scheme->specs[part_index], next, sample->fields, sample->ns);
}

static void
set_fields(ReadingFixture *fixture, ModelFields fields)
{
  for (gsize i = 0; i < N_KEY_FIELDS; i++)
    reading_fixture_set(fixture, key_field_names[i], fields[i]);
}

/* Makes @sample anew until the scheme takes it. @like: whose fields are taken over, some or all; may be NULL. */
static void
make_sample(const Scheme *scheme, const TideRowKey *key, ReadingFixture *fixture, const Sample *like, Sample *sample)
{
  TideReject reject;
  for (;;) {
    gboolean is_same_thing = like != NULL && g_test_rand_bit();
    for (TideNameId i = 0; i < N_KEY_FIELDS; i++) {
      if (like != NULL && (is_same_thing || g_test_rand_bit()))
        strcpy(sample->fields[i], like->fields[i]);
      else if (scheme->numbers & BIT(i))
        random_number(is_float_field(scheme, i), sample->fields[i]);
      else
        random_text(sample->fields[i]);
    }
    sample->ns = random_time();
    set_fields(fixture, sample->fields);
    fixture->reading.event_time_ns = sample->ns;
    tide_buffer_reset(&sample->key);
    if (tide_row_key_append(key, &fixture->reading, &sample->key, &reject))
      break;
    g_assert_cmpint(reject.reason, ==, TIDE_REJECT_BAD_KEY);
  }
  for (gsize i = 0; i < scheme->n_specs; i++)
    sample->values[i] = value_of_part(scheme, i, sample);
}

/* Hashed, so that 100,000 of them are a small table: two in 10^9 runs share one by accident. */
static guint64
identity_of(const Scheme *scheme, const Sample *sample, gboolean with_time)
{
  g_autoptr(GString) identity = g_string_new(NULL);
  for (gsize i = 0; i < scheme->n_specs; i++) {
    TideKeyPartKind kind = scheme->specs[i].kind;
    if (kind == TIDE_KEY_FIELD || kind == TIDE_KEY_HASH || (with_time && kind == TIDE_KEY_TIME)) {
      const char *value = sample->values[i].identity;
      g_string_append_printf(identity, "%" G_GSIZE_FORMAT ":%s,", strlen(value), value);
    }
  }
  return tide_key_hash_number(TIDE_KEY_HASH_XXH3, tide_bytes(identity->str, identity->len));
}

static void
check_injective(const Scheme *scheme, const Sample *sample, GHashTable *identities)
{
  gint64 key = (gint64)tide_key_hash_number(TIDE_KEY_HASH_XXH3, tide_buffer_bytes(&sample->key));
  guint64 identity = identity_of(scheme, sample, TRUE);
  const guint64 *known = g_hash_table_lookup(identities, &key);
  if (known != NULL)
    g_assert_cmpuint(*known, ==, identity);
  else
    g_hash_table_insert(identities, g_memdup2(&key, sizeof key), g_memdup2(&identity, sizeof identity));
}

/* The fields as they were but for what is declared to mean nothing, and a time that holds the event. */
static void
check_decoded(const Scheme *scheme, const Sample *sample, const TideDecodedKey *decoded)
{
  for (gsize i = 0; i < scheme->n_specs; i++) {
    const TideKeyPartSpec *spec = &scheme->specs[i];
    if (spec->kind != TIDE_KEY_FIELD)
      continue;
    Sample again = *sample;
    gboolean is_found = FALSE;
    for (gsize j = 0; j < decoded->n_fields; j++) {
      if (decoded->fields[j].field != spec->value.field)
        continue;
      g_assert_false(is_found); /* none twice */
      is_found = TRUE;
      g_assert_cmpuint(decoded->fields[j].text.len, <, MODEL_TEXT_MAX_BYTES);
      memcpy(again.fields[spec->value.field], decoded->fields[j].text.data, decoded->fields[j].text.len);
      again.fields[spec->value.field][decoded->fields[j].text.len] = '\0';
    }
    g_assert_true(is_found);
    ModelValue is = value_of_part(scheme, i, &again);
    g_assert_cmpstr(is.identity, ==, sample->values[i].identity);
    gboolean is_exact = spec->value.form == TIDE_KEY_TEXT && spec->width_bytes == 0 && !spec->spelling.strip_spaces &&
                        spec->spelling.text_case == TIDE_CASE_AS_IS;
    if (is_exact)
      g_assert_cmpstr(again.fields[spec->value.field], ==, sample->fields[spec->value.field]);
  }
  if (decoded->has_time) {
    g_assert_cmpint(decoded->from_ns, <=, sample->ns);
    g_assert_cmpint(decoded->to_ns, >, sample->ns);
  }
}

static void
check_made_again(const Scheme *scheme, const TideRowKey *key, ReadingFixture *fixture, const Sample *sample,
                 const TideDecodedKey *decoded, TideBuffer *again)
{
  TideReject reject;
  if (scheme->loses)
    return;
  reading_fixture_reset(fixture);
  for (gsize i = 0; i < decoded->n_fields; i++)
    reading_fixture_set_bytes(fixture, key_field_names[decoded->fields[i].field], TIDE_VALUE_STRING,
                              decoded->fields[i].text);
  fixture->reading.event_time_ns = decoded->has_time ? decoded->from_ns : 0;
  tide_buffer_reset(again);
  g_assert_true(tide_row_key_append(key, &fixture->reading, again, &reject));
  assert_same_bytes(tide_buffer_bytes(again), tide_buffer_bytes(&sample->key));
}

static int
sign(gint64 number)
{
  return number < 0 ? -1 : number > 0;
}

/* Part by part, the first difference decides. @ret_before_time: all parts before the first time are the same. */
static int
compare_samples(const Scheme *scheme, const Sample *one, const Sample *other, gboolean *ret_before_time)
{
  *ret_before_time = TRUE;
  gboolean is_before_time = TRUE;
  for (gsize i = 0; i < scheme->n_specs; i++) {
    if (scheme->specs[i].kind == TIDE_KEY_LITERAL)
      continue;
    is_before_time &= scheme->specs[i].kind != TIDE_KEY_TIME;
    int order = model_compare(&one->values[i], &other->values[i]);
    if (order != 0) {
      *ret_before_time = !is_before_time;
      return order;
    }
  }
  return 0;
}

static void
check_order(const Scheme *scheme, const TideRowKey *key, const Sample *one, const Sample *other,
            const TideDecodedKey *decoded_one, const TideDecodedKey *decoded_other)
{
  gboolean is_one_prefix;
  int order = sign(tide_bytes_compare(tide_buffer_bytes(&one->key), tide_buffer_bytes(&other->key)));
  int expected = sign(compare_samples(scheme, one, other, &is_one_prefix));
  if (!scheme->is_open)
    g_assert_cmpint(order, ==, expected);
  int by_time = tide_row_key_time_order(key) * sign(decoded_one->from_ns - decoded_other->from_ns);
  if (!scheme->is_open && is_one_prefix && by_time != 0)
    g_assert_cmpint(order, ==, by_time);
}

static void
check_readings(const Scheme *scheme, const TideRowKey *key)
{
  g_autoptr(GHashTable) identities = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
  g_auto(ReadingFixture) fixture;
  g_auto(TideBuffer) again = {0};
  Sample samples[2] = {0};
  TideDecodedKey decoded[2] = {0};
  key_scheme_fixture_init(&fixture);
  for (guint n = 0; n < N_READINGS; n++) {
    Sample *sample = &samples[n % 2], *before = &samples[(n + 1) % 2];
    make_sample(scheme, key, &fixture, n > 0 && g_test_rand_bit() ? before : NULL, sample);
    g_assert_true(tide_row_key_decode(key, tide_buffer_bytes(&sample->key), &decoded[n % 2]));
    check_injective(scheme, sample, identities);
    check_decoded(scheme, sample, &decoded[n % 2]);
    check_made_again(scheme, key, &fixture, sample, &decoded[n % 2], &again);
    if (n > 0)
      check_order(scheme, key, sample, before, &decoded[n % 2], &decoded[(n + 1) % 2]);
  }
  g_test_message("%s: %u keys", scheme->name, g_hash_table_size(identities));
  g_assert_cmpuint(g_hash_table_size(identities), >, N_READINGS / 200);
  for (gsize i = 0; i < 2; i++) {
    tide_buffer_clear_memory(&samples[i].key);
    tide_decoded_key_clear(&decoded[i]);
  }
}

static void
test_readings(gconstpointer data)
{
  const Scheme *scheme = data;
  g_autoptr(TideRowKey) key = compile_key(scheme->specs, scheme->n_specs);
  check_readings(scheme, key);
}

/* A table: 100,000 rows of some things within two days. */
enum { N_THINGS = 40 };

typedef struct Row {
  TideBytes key; /* in the table's bytes */
  gsize start;
  guint thing;
  gint64 ns;
} Row;

typedef struct Table {
  const Scheme *scheme;
  const TideRowKey *key;
  ReadingFixture fixture;
  Sample things[N_THINGS];
  guint64 identities[N_THINGS]; /* of the fields in the key */
  guint64 leading[N_THINGS];    /* of those in front of the time */
  Row *rows;
  GByteArray *bytes;
  TideDecodedKey decoded;
} Table;

static void
make_things(Table *table)
{
  Scheme leading = *table->scheme;
  for (gsize i = 0; i < leading.n_specs; i++)
    if (leading.specs[i].kind == TIDE_KEY_TIME)
      leading.n_specs = i;
  for (guint i = 0; i < N_THINGS; i++) {
    make_sample(table->scheme, table->key, &table->fixture, i > 0 ? &table->things[i - 1] : NULL, &table->things[i]);
    table->identities[i] = identity_of(table->scheme, &table->things[i], FALSE);
    table->leading[i] = identity_of(&leading, &table->things[i], FALSE);
  }
}

static void
fill_table(Table *table, const Scheme *scheme, const TideRowKey *key)
{
  g_auto(TideBuffer) out = {0};
  *table = (Table){.scheme = scheme, .key = key, .rows = g_new0(Row, N_READINGS), .bytes = g_byte_array_new()};
  key_scheme_fixture_init(&table->fixture);
  make_things(table);
  for (guint i = 0; i < N_READINGS; i++) {
    TideReject reject;
    Row *row = &table->rows[i];
    row->thing = (guint)g_test_rand_int_range(0, N_THINGS);
    row->ns = EVENT_NS + (gint64)g_test_rand_int_range(0, G_MAXINT32) * 80000;
    set_fields(&table->fixture, table->things[row->thing].fields);
    table->fixture.reading.event_time_ns = row->ns;
    tide_buffer_reset(&out);
    g_assert_true(tide_row_key_append(key, &table->fixture.reading, &out, &reject));
    row->start = table->bytes->len;
    row->key.len = out.len;
    g_byte_array_append(table->bytes, out.data, (guint)out.len);
  }
  for (guint i = 0; i < N_READINGS; i++)
    table->rows[i].key.data = table->bytes->data + table->rows[i].start;
}

static void
clear_table(Table *table)
{
  for (guint i = 0; i < N_THINGS; i++)
    tide_buffer_clear_memory(&table->things[i].key);
  tide_decoded_key_clear(&table->decoded);
  g_free(table->rows);
  g_byte_array_unref(table->bytes);
  reading_fixture_clear(&table->fixture);
}

static gboolean
is_in_ranges(const GArray *ranges, TideBytes key)
{
  for (guint i = 0; i < ranges->len; i++) {
    const TideKeyRange *range = &g_array_index(ranges, TideKeyRange, i);
    if (tide_bytes_compare(key, tide_buffer_bytes(&range->start)) >= 0 &&
        (range->stop.len == 0 || tide_bytes_compare(key, tide_buffer_bytes(&range->stop)) < 0))
      return TRUE;
  }
  return FALSE;
}

static void
check_ranges_are_apart(const GArray *ranges)
{
  for (guint i = 0; i < ranges->len; i++) {
    const TideKeyRange *range = &g_array_index(ranges, TideKeyRange, i);
    TideBytes start = tide_buffer_bytes(&range->start), stop = tide_buffer_bytes(&range->stop);
    g_assert_true(stop.len == 0 || tide_bytes_compare(start, stop) < 0);
    if (i > 0)
      g_assert_cmpint(tide_bytes_compare(tide_buffer_bytes(&g_array_index(ranges, TideKeyRange, i - 1).stop), start),
                      <=, 0);
  }
}

/* One question about @thing (N_THINGS: about all) and a window, against every row of the table: what is wanted is
 * found. What is found has the leading fields that were asked for, and, where the key sorts by time, a time that may be
 * one asked for. */
static void
check_plan(Table *table, guint thing, gint64 from_ns, gint64 to_ns)
{
  g_autoptr(GError) error = NULL;
  reading_fixture_reset(&table->fixture);
  if (thing < N_THINGS)
    set_fields(&table->fixture, table->things[thing].fields);
  g_autoptr(GArray) ranges = tide_row_key_plan(table->key, &table->fixture.reading, from_ns, to_ns, &error);
  g_assert_no_error(error);
  check_ranges_are_apart(ranges);
  gboolean is_exact = !table->scheme->is_open && thing < N_THINGS;
  gboolean is_in_order = is_exact && tide_row_key_time_order(table->key) != 0;
  for (guint i = 0; i < N_READINGS; i++) {
    const Row *row = &table->rows[i];
    gboolean is_same = thing == N_THINGS || table->identities[thing] == table->identities[row->thing];
    gboolean is_found = is_in_ranges(ranges, row->key);
    if (is_same && row->ns >= from_ns && row->ns < to_ns)
      g_assert_true(is_found);
    if (is_found && is_exact)
      g_assert_cmpuint(table->leading[row->thing], ==, table->leading[thing]);
    if (is_found && is_in_order) {
      g_assert_true(tide_row_key_decode(table->key, row->key, &table->decoded));
      g_assert_true(table->decoded.from_ns < to_ns && table->decoded.to_ns > from_ns);
    }
  }
}

static void
test_plans(gconstpointer data)
{
  const Scheme *scheme = data;
  Table table;
  g_autoptr(TideRowKey) key = compile_key(scheme->specs, scheme->n_specs);
  fill_table(&table, scheme, key);
  for (int i = 0; i < 8; i++) {
    static const gint64 spans_s[] = {1, 60, 3600, 36000, 90000};
    gint64 from_ns = table.rows[g_test_rand_int_range(0, N_READINGS)].ns;
    gint64 span_ns =
        spans_s[g_test_rand_int_range(0, G_N_ELEMENTS(spans_s))] * (MODEL_NS_PER_S - g_test_rand_int_range(0, 1000));
    check_plan(&table, (guint)g_test_rand_int_range(0, N_THINGS), from_ns, from_ns + span_ns);
  }
  const Row *row = &table.rows[0];
  check_plan(&table, row->thing, row->ns, row->ns + 1);
  check_plan(&table, row->thing, 0, G_MAXINT64);
  check_plan(&table, N_THINGS, 0, G_MAXINT64);
  check_plan(&table, N_THINGS, row->ns, row->ns + MODEL_NS_PER_S);
  clear_table(&table);
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS(schemes); i++) {
    schemes[i].n_specs = n_parts_of(schemes[i].specs, G_N_ELEMENTS(schemes[i].specs));
    g_autofree char *name = g_strdelimit(g_strdup(schemes[i].name), " ,'", '-');
    g_autofree char *readings = g_strdup_printf("/key-property/readings/%s", name);
    g_autofree char *plans = g_strdup_printf("/key-property/plans/%s", name);
    g_test_add_data_func(readings, &schemes[i], test_readings);
    g_test_add_data_func(plans, &schemes[i], test_plans);
  }
  return g_test_run();
}
