/* What must hold for every key that compiles, over at least 100,000 random readings for each scheme: two readings never
 * make one key, the time comes back, keys sort as declared, and a plan finds what it should. */
#include "model/row_key.h"

#include "key_schemes.h"

#define N_READINGS 100000
#define VALUE_MAX_BYTES 5
#define EVENT_NS (G_GINT64_CONSTANT(1426535612045) * 1000000)

static const TideKeyPartSpec of_exchange_lane[] = {FIELD(EXCHANGE), FIELD(LANE)};

typedef struct Scheme {
  const char *name;
  TideKeyPartSpec specs[8];
  gsize n_specs;
  gint64 unit_ns;      /* of its finest time; 0: it has none */
  gint64 plan_unit_ns; /* of its first time */
  gboolean is_exact;   /* with the fields in front of the time given, a plan holds no row too many */
} Scheme;

#define NS_OF_S G_GINT64_CONSTANT(1000000000)
#define NS_OF_MS G_GINT64_CONSTANT(1000000)

static const Scheme schemes[] = {
    {"tall", {FIELD(HOST), LITERAL("#"), TIME(MS)}, 3, NS_OF_MS, NS_OF_MS, TRUE},
    {"latest", {FIELD(HOST)}, 1, 0, 0, TRUE},
    {"quotes",
     {PADDED_RIGHT(EXCHANGE, 6, ' '), LITERAL("#"), PADDED_RIGHT(SYMBOL, 5, ' '), LITERAL("#"), TIME(MS)},
     5,
     NS_OF_MS,
     NS_OF_MS,
     TRUE},
    {"meters", {PADDED_LEFT(METER, 5, '0'), TIME(S)}, 2, NS_OF_S, NS_OF_S, TRUE},
    {"newest first",
     {FIELD(EXCHANGE), LITERAL("#"), FIELD(LANE), LITERAL("#"), FIELD(SYMBOL), LITERAL("#"), TIME_REVERSED(MS)},
     7,
     NS_OF_MS,
     NS_OF_MS,
     TRUE},
    {"hash first, binary", {HASH_RAW(MD5, 2, of_host), FIELD(HOST), TIME_REVERSED_BINARY(US)}, 3, 1000, 1000, FALSE},
    {"salted", {SALT(16, XXH3, of_host), LITERAL("#"), FIELD(HOST), LITERAL("#"), TIME(NS)}, 5, 1, 1, TRUE},
    {"time in the middle",
     {FIELD(USER), LITERAL(":"), TIME(MS), LITERAL(":"), FIELD(LANE)},
     5,
     NS_OF_MS,
     NS_OF_MS,
     TRUE},
    {"open field, then fixed ones", {FIELD(HOST), TIME(MS), PADDED_LEFT(METER, 5, '0')}, 3, NS_OF_MS, NS_OF_MS, FALSE},
    {"long delimiters",
     {FIELD(HOST), LITERAL("aba"), FIELD(USER), LITERAL("aa"), TIME_BINARY(MS)},
     5,
     NS_OF_MS,
     NS_OF_MS,
     TRUE},
    {"open field at the end", {PADDED_LEFT(METER, 5, '0'), FIELD(HOST)}, 2, 0, 0, TRUE},
    {"hash that stands for its fields", {HASH_HEX(SHA1, 16, of_exchange_lane), TIME(S)}, 2, NS_OF_S, NS_OF_S, TRUE},
    {"two times", {TIME(S), LITERAL("."), FIELD(HOST), LITERAL("."), TIME(MS)}, 5, NS_OF_MS, NS_OF_S, TRUE},
    {"NUL in a literal", {FIELD(HOST), LITERAL("\0"), FIELD(USER), LITERAL("\0"), TIME_BINARY(NS)}, 5, 1, 1, TRUE},
};

/* Values that a sender might choose to confuse us: separators, digits, padding, few letters. */
static void
random_value(char *ret_value)
{
  static const char alphabet[] = "ab#:0123 .";
  int len = g_test_rand_int_range(1, VALUE_MAX_BYTES + 1);
  for (int i = 0; i < len; i++)
    ret_value[i] = alphabet[g_test_rand_int_range(0, sizeof alphabet - 1)];
  ret_value[len] = '\0';
}

static gint64
random_time(void)
{
  gint64 any = (gint64)((guint64)(guint32)g_test_rand_int() << 32 | (guint32)g_test_rand_int()) & G_MAXINT64;
  switch (g_test_rand_int_range(0, 3)) {
  case 0:
    return any; /* until 2262 */
  case 1:
    return EVENT_NS + any % 100; /* nanoseconds apart */
  default:
    return EVENT_NS + any % (100 * NS_OF_S);
  }
}

typedef char Values[N_KEY_FIELDS][VALUE_MAX_BYTES + 1];

static void
set_random_fields(ReadingFixture *fixture, Values values)
{
  for (gsize i = 0; i < N_KEY_FIELDS; i++) {
    random_value(values[i]);
    reading_fixture_set(fixture, key_field_names[i], values[i]);
  }
}

/* What the field says once its padding, which is declared to mean nothing, is gone. */
static void
append_identity_of_field(const TideKeyPartSpec *spec, const Values values, GString *identity)
{
  const char *value = values[spec->field];
  gsize len = strlen(value);
  if (spec->width_bytes > 0 && spec->pad_left)
    for (; len > 0 && (guint8)*value == spec->pad_byte; len--)
      value++;
  if (spec->width_bytes > 0 && !spec->pad_left)
    while (len > 0 && (guint8)value[len - 1] == spec->pad_byte)
      len--;
  g_string_append_printf(identity, "%" G_GSIZE_FORMAT ":%.*s,", len, (int)len, value);
}

static char *
identity_of(const Scheme *scheme, const Values values, gint64 ns)
{
  GString *identity = g_string_new(NULL);
  for (gsize i = 0; i < scheme->n_specs; i++) {
    const TideKeyPartSpec *spec = &scheme->specs[i];
    if (spec->kind == TIDE_KEY_FIELD)
      append_identity_of_field(spec, values, identity);
    for (gsize j = 0; j < spec->n_of; j++)
      append_identity_of_field(&spec->of[j], values, identity);
  }
  if (scheme->unit_ns > 0)
    g_string_append_printf(identity, "%" G_GINT64_FORMAT, ns / scheme->unit_ns);
  return g_string_free(identity, FALSE);
}

static void
check_injective(const Scheme *scheme, const TideRowKey *key)
{
  g_autoptr(GHashTable) identities = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
  g_auto(ReadingFixture) fixture;
  g_auto(TideBuffer) out = {0};
  Values values;
  guint n_accepted = 0;
  key_scheme_fixture_init(&fixture);
  while (n_accepted < N_READINGS) {
    TideReject reject;
    set_random_fields(&fixture, values);
    fixture.reading.event_time_ns = random_time();
    tide_buffer_reset(&out);
    if (!tide_row_key_append(key, &fixture.reading, &out, &reject)) {
      g_assert_cmpint(reject.reason, ==, TIDE_REJECT_BAD_KEY);
      continue;
    }
    n_accepted++;
    gint64 ns = -1;
    TideBytes row = tide_buffer_bytes(&out);
    g_assert_cmpint(tide_row_key_read_time(key, row, &ns), ==, scheme->unit_ns > 0);
    if (scheme->unit_ns > 0)
      g_assert_cmpint(ns, ==, fixture.reading.event_time_ns / scheme->unit_ns * scheme->unit_ns);

    char *identity = identity_of(scheme, values, fixture.reading.event_time_ns);
    char *hex = tide_bytes_hex(row);
    const char *known = g_hash_table_lookup(identities, hex);
    if (known != NULL)
      g_assert_cmpstr(identity, ==, known);
    g_hash_table_replace(identities, hex, identity);
  }
  g_test_message("%s: %u keys of %u readings", scheme->name, g_hash_table_size(identities), n_accepted);
  g_assert_cmpuint(g_hash_table_size(identities), >, scheme->unit_ns > 0 ? N_READINGS / 4 : 1000);
}

static void
test_two_readings_never_make_one_key(void)
{
  for (gsize i = 0; i < G_N_ELEMENTS(schemes); i++) {
    g_autoptr(TideRowKey) key = compile_key(schemes[i].specs, schemes[i].n_specs);
    check_injective(&schemes[i], key);
  }
}

static int
sign(gint64 number)
{
  return number < 0 ? -1 : number > 0;
}

static void
check_order(const Scheme *scheme, const TideRowKey *key)
{
  g_auto(ReadingFixture) fixture;
  g_auto(TideBuffer) one = {0}, other = {0};
  Values values;
  key_scheme_fixture_init(&fixture);
  for (guint n = 0; n < N_READINGS;) {
    TideReject reject;
    gint64 one_ns = random_time(), other_ns = random_time();
    tide_buffer_reset(&one);
    tide_buffer_reset(&other);
    set_random_fields(&fixture, values);
    fixture.reading.event_time_ns = one_ns;
    if (!tide_row_key_append(key, &fixture.reading, &one, &reject))
      continue;
    fixture.reading.event_time_ns = other_ns;
    g_assert_true(tide_row_key_append(key, &fixture.reading, &other, &reject));
    int expected = sign(one_ns / scheme->unit_ns - other_ns / scheme->unit_ns) * tide_row_key_time_order(key);
    g_assert_cmpint(sign(tide_bytes_compare(tide_buffer_bytes(&one), tide_buffer_bytes(&other))), ==, expected);
    n++;
  }
}

static void
test_keys_of_one_thing_sort_by_time(void)
{
  for (gsize i = 0; i < G_N_ELEMENTS(schemes); i++) {
    g_autoptr(TideRowKey) key = compile_key(schemes[i].specs, schemes[i].n_specs);
    if (tide_row_key_time_order(key) != 0)
      check_order(&schemes[i], key);
  }
}

/* A table: 100,000 rows of some things at times close to each other. */
enum { N_THINGS = 40 };

typedef struct Row {
  TideBytes key; /* owned */
  guint thing;
  gint64 ns;
} Row;

typedef struct Table {
  const Scheme *scheme;
  const TideRowKey *key;
  ReadingFixture fixture;
  Values things[N_THINGS];
  GArray *rows; /* (element-type Row), sorted by key */
} Table;

static void
set_thing(Table *table, guint thing)
{
  for (gsize i = 0; i < N_KEY_FIELDS; i++)
    reading_fixture_set(&table->fixture, key_field_names[i], table->things[thing][i]);
}

static int
compare_rows(gconstpointer a, gconstpointer b)
{
  return tide_bytes_compare(((const Row *)a)->key, ((const Row *)b)->key);
}

/* Things that the key accepts; some share leading fields. */
static void
make_things(Table *table)
{
  g_auto(TideBuffer) out = {0};
  TideReject reject;
  for (guint thing = 0; thing < N_THINGS;) {
    for (gsize i = 0; i < N_KEY_FIELDS; i++) {
      if (thing > 0 && g_test_rand_int_range(0, 3) == 0)
        memcpy(table->things[thing][i], table->things[thing - 1][i], VALUE_MAX_BYTES + 1);
      else
        random_value(table->things[thing][i]);
    }
    set_thing(table, thing);
    if (tide_row_key_append(table->key, &table->fixture.reading, &out, &reject))
      thing++;
  }
}

static void
fill_table(Table *table, const Scheme *scheme, const TideRowKey *key)
{
  *table = (Table){.scheme = scheme, .key = key, .rows = g_array_new(FALSE, FALSE, sizeof(Row))};
  key_scheme_fixture_init(&table->fixture);
  make_things(table);
  g_auto(TideBuffer) out = {0};
  for (guint i = 0; i < N_READINGS; i++) {
    TideReject reject;
    Row row = {.thing = (guint)g_test_rand_int_range(0, N_THINGS),
               .ns = EVENT_NS + (gint64)g_test_rand_int_range(0, G_MAXINT32) * 50}; /* within 107 s */
    set_thing(table, row.thing);
    table->fixture.reading.event_time_ns = row.ns;
    tide_buffer_reset(&out);
    g_assert_true(tide_row_key_append(key, &table->fixture.reading, &out, &reject));
    row.key = tide_bytes(g_memdup2(out.data, out.len), out.len);
    g_array_append_val(table->rows, row);
  }
  g_array_sort(table->rows, compare_rows);
}

static void
clear_table(Table *table)
{
  for (guint i = 0; i < table->rows->len; i++)
    g_free((gpointer)g_array_index(table->rows, Row, i).key.data);
  g_array_unref(table->rows);
  reading_fixture_clear(&table->fixture);
}

/* Whether two things have the same fields in the key. @leading_only: those in front of the time. */
static gboolean
same_fields(const Table *table, guint one, guint other, gboolean leading_only)
{
  Scheme compared = *table->scheme;
  compared.unit_ns = 0;
  for (gsize i = 0; leading_only && i < compared.n_specs; i++)
    if (compared.specs[i].kind == TIDE_KEY_TIME)
      compared.n_specs = i;
  g_autofree char *identity = identity_of(&compared, table->things[one], 0);
  g_autofree char *other_identity = identity_of(&compared, table->things[other], 0);
  return strcmp(identity, other_identity) == 0;
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
 * found; and where the plan is exact, what is found has the leading fields and the time that were asked for. */
static void
check_plan(Table *table, guint thing, gint64 from_ns, gint64 to_ns)
{
  g_autoptr(GError) error = NULL;
  gboolean is_same[N_THINGS], is_alike[N_THINGS];
  for (guint i = 0; i < N_THINGS; i++) {
    is_same[i] = thing == N_THINGS || same_fields(table, thing, i, FALSE);
    is_alike[i] = thing == N_THINGS || same_fields(table, thing, i, TRUE);
  }
  reading_fixture_reset(&table->fixture);
  if (thing < N_THINGS)
    set_thing(table, thing);
  g_autoptr(GArray) ranges = tide_row_key_plan(table->key, &table->fixture.reading, from_ns, to_ns, &error);
  g_assert_no_error(error);
  check_ranges_are_apart(ranges);
  for (guint i = 0; i < table->rows->len; i++) {
    const Row *row = &g_array_index(table->rows, Row, i);
    gboolean is_in_time = table->scheme->unit_ns == 0 || (row->ns >= from_ns && row->ns < to_ns);
    gboolean is_found = is_in_ranges(ranges, row->key);
    if (is_same[row->thing] && is_in_time)
      g_assert_true(is_found);
    if (is_found && table->scheme->is_exact && thing < N_THINGS)
      g_assert_true(is_alike[row->thing] && is_in_time);
  }
}

static void
check_plans(const Scheme *scheme, const TideRowKey *key)
{
  Table table;
  gint64 unit_ns = MAX(scheme->plan_unit_ns, 1);
  fill_table(&table, scheme, key);
  for (int i = 0; i < 10; i++) {
    gint64 from_ns = EVENT_NS + (gint64)g_test_rand_int_range(0, G_MAXINT32) * 50;
    gint64 span_ns = (gint64)g_test_rand_int_range(0, 60) * NS_OF_S;
    from_ns -= from_ns % unit_ns;
    check_plan(&table, (guint)g_test_rand_int_range(0, N_THINGS), from_ns, from_ns + MAX(span_ns, unit_ns));
  }
  for (guint thing = 0; thing < 3; thing++) {
    check_plan(&table, thing, 0, G_MAXINT64);
    const Row *row = &g_array_index(table.rows, Row, thing * 1000);
    check_plan(&table, row->thing, row->ns - row->ns % unit_ns, row->ns - row->ns % unit_ns + unit_ns);
  }
  check_plan(&table, N_THINGS, 0, G_MAXINT64);
  check_plan(&table, N_THINGS, EVENT_NS, EVENT_NS + NS_OF_S);
  clear_table(&table);
}

static void
test_plan_covers_exactly_the_rows(void)
{
  for (gsize i = 0; i < G_N_ELEMENTS(schemes); i++) {
    g_autoptr(TideRowKey) key = compile_key(schemes[i].specs, schemes[i].n_specs);
    g_test_message("%s", schemes[i].name);
    check_plans(&schemes[i], key);
  }
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/key-property/two-readings-never-make-one-key", test_two_readings_never_make_one_key);
  g_test_add_func("/key-property/keys-of-one-thing-sort-by-time", test_keys_of_one_thing_sort_by_time);
  g_test_add_func("/key-property/plan-covers-exactly-the-rows", test_plan_covers_exactly_the_rows);
  return g_test_run();
}
