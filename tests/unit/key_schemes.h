/* Keys as they are declared, for the tests of the key language. */
#pragma once

#include "model/row_key.h"
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

#define LITERAL(text)                                                                                                  \
  {                                                                                                                    \
    .kind = TIDE_KEY_LITERAL, .literal = {(const guint8 *)("" text), sizeof(text) - 1 }                                \
  }
#define FIELD(id)                                                                                                      \
  {                                                                                                                    \
    .kind = TIDE_KEY_FIELD, .field = (id)                                                                              \
  }
#define FIELD_DEFAULT(id, text)                                                                                        \
  {                                                                                                                    \
    .kind = TIDE_KEY_FIELD, .field = (id), .has_default = TRUE, .default_value = {                                     \
      (const guint8 *)("" text),                                                                                       \
      sizeof(text) - 1                                                                                                 \
    }                                                                                                                  \
  }
#define PADDED_LEFT(id, width, byte)                                                                                   \
  {                                                                                                                    \
    .kind = TIDE_KEY_FIELD, .field = (id), .width_bytes = (width), .pad_byte = (byte), .pad_left = TRUE                \
  }
#define PADDED_RIGHT(id, width, byte)                                                                                  \
  {                                                                                                                    \
    .kind = TIDE_KEY_FIELD, .field = (id), .width_bytes = (width), .pad_byte = (byte)                                  \
  }
#define TIME(u)                                                                                                        \
  {                                                                                                                    \
    .kind = TIDE_KEY_TIME, .unit = TIDE_KEY_TIME_##u                                                                   \
  }
#define TIME_BINARY(u)                                                                                                 \
  {                                                                                                                    \
    .kind = TIDE_KEY_TIME, .unit = TIDE_KEY_TIME_##u, .binary = TRUE                                                   \
  }
#define TIME_REVERSED(u)                                                                                               \
  {                                                                                                                    \
    .kind = TIDE_KEY_TIME, .unit = TIDE_KEY_TIME_##u, .reversed = TRUE                                                 \
  }
#define TIME_REVERSED_BINARY(u)                                                                                        \
  {                                                                                                                    \
    .kind = TIDE_KEY_TIME, .unit = TIDE_KEY_TIME_##u, .reversed = TRUE, .binary = TRUE                                 \
  }
#define HASH_HEX(h, n, inputs)                                                                                         \
  {                                                                                                                    \
    .kind = TIDE_KEY_HASH, .hash = TIDE_KEY_HASH_##h, .hash_bytes = (n), .of = (inputs), .n_of = G_N_ELEMENTS(inputs)  \
  }
#define HASH_RAW(h, n, inputs)                                                                                         \
  {                                                                                                                    \
    .kind = TIDE_KEY_HASH, .hash = TIDE_KEY_HASH_##h, .hash_bytes = (n), .binary = TRUE, .of = (inputs),               \
    .n_of = G_N_ELEMENTS(inputs)                                                                                       \
  }
#define SALT(n, h, inputs)                                                                                             \
  {                                                                                                                    \
    .kind = TIDE_KEY_SALT, .hash = TIDE_KEY_HASH_##h, .modulo = (n), .of = (inputs), .n_of = G_N_ELEMENTS(inputs)      \
  }
#define SALT_WIDTH(n, width, h, inputs)                                                                                \
  {                                                                                                                    \
    .kind = TIDE_KEY_SALT, .hash = TIDE_KEY_HASH_##h, .modulo = (n), .width_bytes = (width), .of = (inputs),           \
    .n_of = G_N_ELEMENTS(inputs)                                                                                       \
  }

static const TideKeyPartSpec of_host[] = {FIELD(HOST)};
static const TideKeyPartSpec of_meter[] = {PADDED_LEFT(METER, 10, '0')};
static const TideKeyPartSpec of_host_user[] = {FIELD(HOST), FIELD(USER)};

/* Compiles @specs, which must be right. */
static inline TideRowKey *
compile_key(const TideKeyPartSpec *specs, gsize n_specs)
{
  g_autoptr(GError) error = NULL;
  gsize bad_part = 0;
  TideRowKey *key = tide_row_key_compile(specs, n_specs, &bad_part, &error);
  g_assert_no_error(error);
  g_assert_nonnull(key);
  return key;
}
