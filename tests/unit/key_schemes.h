/* Keys as they are declared, for the tests of the key language. */
#pragma once

#include "model/key/row_key.h"
#include "util/error.h"

#include "reading_fixture.h"

/* The fields, in the order in which key_scheme_fixture_init() interns them. */
enum { HOST, EXCHANGE, SYMBOL, METER, LANE, USER, N_KEY_FIELDS };
static const char *const key_field_names[N_KEY_FIELDS] = {"host", "exchange", "symbol", "meter", "lane", "user"};

static inline void
key_scheme_fixture_init(ReadingFixture *fixture)
{
  reading_fixture_init(fixture);
  for (guint32 i = 0; i < N_KEY_FIELDS; i++)
    g_assert_cmpuint(reading_fixture_id(fixture, key_field_names[i]), ==, i);
}

static inline void
key_set_up(ReadingFixture *fixture, gconstpointer data)
{
  key_scheme_fixture_init(fixture);
}

/* With those fields. */
#define KEY_TEST(path) TEST_WITH(ReadingFixture, key_set_up, reading_tear_down, path)

/* A key, one of its parts and the values of its fields, in a row of a table: the formatter breaks rows at braces. */
#define GIVEN(...)                                                                                                     \
  {                                                                                                                    \
    __VA_ARGS__                                                                                                        \
  }
#define KEY(...) GIVEN(__VA_ARGS__)
#define PART(...) GIVEN(__VA_ARGS__)

#define LITERAL(text)                                                                                                  \
  {                                                                                                                    \
    .kind = TIDE_KEY_LITERAL, .literal = {(const guint8 *)("" text), sizeof(text) - 1 }                                \
  }
#define FIELD(id)                                                                                                      \
  {                                                                                                                    \
    .kind = TIDE_KEY_FIELD, .value.field = (id)                                                                        \
  }
#define FIELD_DEFAULT(id, text)                                                                                        \
  {                                                                                                                    \
    .kind = TIDE_KEY_FIELD, .value.field = (id), .value.has_default = TRUE, .value.default_value = {                   \
      (const guint8 *)("" text),                                                                                       \
      sizeof(text) - 1                                                                                                 \
    }                                                                                                                  \
  }
#define PADDED_LEFT(id, width, byte)                                                                                   \
  {                                                                                                                    \
    .kind = TIDE_KEY_FIELD, .value.field = (id), .width_bytes = (width), .value.pad_byte = (byte),                     \
    .value.pad_left = TRUE                                                                                             \
  }
#define PADDED_RIGHT(id, width, byte)                                                                                  \
  {                                                                                                                    \
    .kind = TIDE_KEY_FIELD, .value.field = (id), .width_bytes = (width), .value.pad_byte = (byte)                      \
  }
#define TIME(u)                                                                                                        \
  {                                                                                                                    \
    .kind = TIDE_KEY_TIME, .moment.unit = TIDE_KEY_TIME_##u                                                            \
  }
#define TIME_BINARY(u)                                                                                                 \
  {                                                                                                                    \
    .kind = TIDE_KEY_TIME, .moment.unit = TIDE_KEY_TIME_##u, .binary = TRUE                                            \
  }
#define TIME_REVERSED(u)                                                                                               \
  {                                                                                                                    \
    .kind = TIDE_KEY_TIME, .moment.unit = TIDE_KEY_TIME_##u, .moment.reversed = TRUE                                   \
  }
#define TIME_REVERSED_BINARY(u)                                                                                        \
  {                                                                                                                    \
    .kind = TIDE_KEY_TIME, .moment.unit = TIDE_KEY_TIME_##u, .moment.reversed = TRUE, .binary = TRUE                   \
  }
#define HASH_HEX(h, n, inputs)                                                                                         \
  {                                                                                                                    \
    .kind = TIDE_KEY_HASH, .digest.hash = TIDE_KEY_HASH_##h, .digest.hash_bytes = (n), .digest.of = (inputs),          \
    .digest.n_of = G_N_ELEMENTS(inputs)                                                                                \
  }
#define HASH_RAW(h, n, inputs)                                                                                         \
  {                                                                                                                    \
    .kind = TIDE_KEY_HASH, .digest.hash = TIDE_KEY_HASH_##h, .digest.hash_bytes = (n), .binary = TRUE,                 \
    .digest.of = (inputs), .digest.n_of = G_N_ELEMENTS(inputs)                                                         \
  }
#define SALT(n, h, inputs)                                                                                             \
  {                                                                                                                    \
    .kind = TIDE_KEY_SALT, .digest.hash = TIDE_KEY_HASH_##h, .digest.modulo = (n), .digest.of = (inputs),              \
    .digest.n_of = G_N_ELEMENTS(inputs)                                                                                \
  }
#define SALT_WIDTH(n, width, h, inputs)                                                                                \
  {                                                                                                                    \
    .kind = TIDE_KEY_SALT, .digest.hash = TIDE_KEY_HASH_##h, .digest.modulo = (n), .width_bytes = (width),             \
    .digest.of = (inputs), .digest.n_of = G_N_ELEMENTS(inputs)                                                         \
  }

/* A time printed by a pattern; in a zone, by its name: compile_key() looks it up. */
#define PATTERN(text)                                                                                                  \
  {                                                                                                                    \
    .kind = TIDE_KEY_TIME, .moment.pattern = (text)                                                                    \
  }
#define PATTERN_IN(text, zone)                                                                                         \
  {                                                                                                                    \
    .kind = TIDE_KEY_TIME, .moment.pattern = (text), .moment.zone_name = (zone)                                        \
  }
#define CUT_TO(slot, n_minutes) .moment.cut_to = {TIDE_CUT_##slot, (n_minutes)}
#define SINCE(slot, n_minutes) .moment.since = {TIDE_CUT_##slot, (n_minutes)}
#define SALT_BY_NUMBER(n, inputs)                                                                                      \
  {                                                                                                                    \
    .kind = TIDE_KEY_SALT, .digest.modulo = (n), .digest.by_number = TRUE, .digest.of = (inputs),                      \
    .digest.n_of = G_N_ELEMENTS(inputs)                                                                                \
  }
#define AS(id, as)                                                                                                     \
  {                                                                                                                    \
    .kind = TIDE_KEY_FIELD, .value.field = (id), .value.form = TIDE_KEY_##as                                           \
  }
#define OF_FIELD(id) .kind = TIDE_KEY_FIELD, .value.field = (id)
#define ZEROS(width) .width_bytes = (width), .value.pad_byte = '0', .value.pad_left = TRUE
#define SPACES(width) .width_bytes = (width), .value.pad_byte = ' '
#define RANGE(min, max) .value.has_range = TRUE, .value.range_min = (min), .value.range_max = (max)

/* The parts of the key that most tables have. */
#define HOST_AND(time)                                                                                                 \
  {                                                                                                                    \
    FIELD(HOST), LITERAL("#"), time                                                                                    \
  }

#define LOS_ANGELES "America/Los_Angeles"
#define BERLIN "Europe/Berlin"

static const TideKeyPartSpec of_host[] = {FIELD(HOST)};
static const TideKeyPartSpec of_meter[] = {PADDED_LEFT(METER, 10, '0')};
static const TideKeyPartSpec of_host_user[] = {FIELD(HOST), FIELD(USER)};

/* How many of @specs there are: what is behind them is zero. */
static inline gsize
n_parts_of(const TideKeyPartSpec *specs, gsize n_max)
{
  gsize n = 0;
  while (n < n_max && (specs[n].kind != TIDE_KEY_LITERAL || specs[n].literal.data != NULL))
    n++;
  return n;
}

/* The parts of a row of a table, and their number: two arguments. */
#define PARTS(specs) (specs), n_parts_of((specs), G_N_ELEMENTS(specs))

/* The zone of a name; kept for ever. */
static inline GTimeZone *
zone_named(const char *name)
{
  static GHashTable *zones;
  if (name == NULL)
    return NULL;
  if (zones == NULL)
    zones = g_hash_table_new(g_str_hash, g_str_equal);
  if (!g_hash_table_contains(zones, name))
    g_hash_table_insert(zones, (gpointer)name, g_time_zone_new_identifier(name));
  return g_hash_table_lookup(zones, name);
}

static inline TideRowKey *
compile_in_zones(const TideKeyPartSpec *specs, gsize n_specs, gsize *ret_bad_part, GError **error)
{
  TideKeyPartSpec zoned[TIDE_ROW_KEY_MAX_PARTS];
  for (gsize i = 0; i < n_specs; i++) {
    zoned[i] = specs[i];
    zoned[i].moment.zone = zone_named(specs[i].moment.zone_name);
  }
  return tide_row_key_compile(zoned, n_specs, ret_bad_part, error);
}

/* Compiles @specs, which must be right. */
static inline TideRowKey *
compile_key(const TideKeyPartSpec *specs, gsize n_specs)
{
  g_autoptr(GError) error = NULL;
  gsize bad_part = 0;
  TideRowKey *key = compile_in_zones(specs, n_specs, &bad_part, &error);
  g_assert_no_error(error);
  g_assert_nonnull(key);
  return key;
}
