/* What is refused as a key, and what is not. */
#include "model/key/row_key.h"

#include "unit/key_schemes.h"

#define UPPER(id)                                                                                                      \
  {                                                                                                                    \
    .kind = TIDE_KEY_FIELD, .value.field = (id), .spelling.text_case = TIDE_CASE_UPPER                                 \
  }
#define SALT_IN(digits)                                                                                                \
  {                                                                                                                    \
    .kind = TIDE_KEY_SALT, .digest.modulo = 3, .digest.alphabet = {(const guint8 *)(digits), sizeof(digits) - 1},      \
    .digest.of = of_host, .digest.n_of = 1                                                                             \
  }

static const TideKeyPartSpec of_plain_meter[] = {FIELD(METER)};
static const TideKeyPartSpec of_worded_meter[] = {FIELD_DEFAULT(METER, "none")};
static const TideKeyPartSpec of_date[] = {PATTERN("yyyyMMdd")};
static const TideKeyPartSpec of_nothing[] = {LITERAL("x")};
static const TideKeyPartSpec of_salt[] = {SALT(4, XXH3, of_host)};
static const TideKeyPartSpec of_bad_default[] = {FIELD_DEFAULT(HOST, "")};

static void
test_bad_keys_do_not_compile(void)
{
  static const struct {
    TideKeyPartSpec specs[6];
    gsize n_specs;
    gsize bad_part;
    const char *fault; /* in the error; NULL: compiles */
  } cases[] = {
      {{{0}}, 0, 0, "no parts"},
      {{LITERAL("a"), LITERAL("b")}, 2, 0, "neither a field nor the time"},
      {{SALT(4, XXH3, of_host)}, 1, 0, "neither a field nor the time"},
      {{FIELD(HOST), LITERAL("")}, 2, 1, "empty"},
      {{LITERAL("a"), FIELD(TIDE_NAME_NONE)}, 2, 1, "no name"},
      {{{.kind = (TideKeyPartKind)99}}, 1, 0, "no known kind"},
      /* where fields end */
      {{FIELD(HOST), FIELD(USER)}, 2, 0, "cannot be told"},
      {{FIELD(HOST), TIME(MS), LITERAL("#"), FIELD(USER)}, 4, 0, "cannot be told"},
      {{FIELD(HOST), LITERAL("#"), FIELD(USER), TIME(MS), FIELD(LANE)}, 5, 2, "cannot be told"},
      {{FIELD(HOST), LITERAL("#"), FIELD(USER)}, 3, 0, NULL},
      {{FIELD(HOST), TIME(MS), PADDED_LEFT(METER, 10, '0')}, 3, 0, NULL},
      {{PADDED_LEFT(METER, 10, '0'), FIELD(HOST)}, 2, 0, NULL},
      {{TIME(MS), FIELD(HOST)}, 2, 0, NULL},
      /* padding */
      {{PADDED_RIGHT(METER, 10, '0')}, 1, 0, "padded with '0' behind"},
      {{PADDED_LEFT(METER, 10, '1')}, 1, 0, "padded with '1'"},
      {{PADDED_LEFT(METER, 10, 'x')}, 1, 0, "padded with 'x'"},
      {{PADDED_LEFT(METER, 10, 0xe9)}, 1, 0, NULL},
      {{PADDED_LEFT(METER, 32768, '0')}, 1, 0, "32767"},
      {{PADDED_LEFT(METER, 10, ' ')}, 1, 0, NULL},
      {{PADDED_RIGHT(METER, 10, '\0')}, 1, 0, NULL},
      /* defaults */
      {{FIELD_DEFAULT(HOST, "")}, 1, 0, "default ''"},
      {{LITERAL("x"), FIELD_DEFAULT(HOST, "a#b"), LITERAL("#"), TIME(MS)}, 4, 1, "default 'a#b'"},
      {{FIELD(HOST), LITERAL("#"), HASH_HEX(MD5, 16, of_bad_default)}, 3, 2, "default ''"},
      /* hashes */
      {{FIELD(HOST), LITERAL("#"), HASH_HEX(MD5, 17, of_host)}, 3, 2, "md5 has only 16"},
      {{FIELD(HOST), LITERAL("#"), HASH_HEX(XXH3, 9, of_host)}, 3, 2, "xxh3 has only 8"},
      {{HASH_HEX(MD5, 15, of_host), TIME(MS)}, 2, 0, "only as a hash of less than 16"},
      {{HASH_HEX(XXH3, 0, of_host), TIME(MS)}, 2, 0, "only as a hash of less than 16"},
      {{HASH_HEX(MD5, 4, of_host_user), FIELD(HOST)}, 2, 0, "only as a hash of less than 16"},
      {{HASH_HEX(MD5, 16, of_host), TIME(MS)}, 2, 0, NULL},
      {{HASH_HEX(MD5, 4, of_host), FIELD(HOST)}, 2, 0, NULL},
      {{HASH_HEX(MD5, 4, of_nothing), FIELD(HOST)}, 2, 0, "no field and no time"},
      {{HASH_HEX(MD5, 4, of_salt), FIELD(HOST)}, 2, 0, "made of another one"},
      /* salts */
      {{SALT(0, XXH3, of_host), FIELD(HOST)}, 2, 0, "2 to 4096"},
      {{SALT(1, XXH3, of_host), FIELD(HOST)}, 2, 0, "2 to 4096"},
      {{SALT(4097, XXH3, of_host), FIELD(HOST)}, 2, 0, "2 to 4096"},
      {{SALT_WIDTH(11, 1, XXH3, of_host), FIELD(HOST)}, 2, 0, "at least 2"},
      {{SALT_WIDTH(10, 1, XXH3, of_host), FIELD(HOST)}, 2, 0, NULL},
      {{SALT_WIDTH(10, 11, XXH3, of_host), FIELD(HOST)}, 2, 0, "at most 10"},
      {{SALT(4, XXH3, of_nothing), FIELD(HOST)}, 2, 0, "no field and no time"},
      {{SALT(4, XXH3, of_host), FIELD(HOST), SALT(4, XXH3, of_host)}, 3, 2, "two salts"},
      /* one field in two forms */
      {{SALT(4, XXH3, of_host), PADDED_RIGHT(HOST, 8, ' ')}, 2, 0, "in another form"},
      {{HASH_HEX(MD5, 4, of_host), UPPER(HOST)}, 2, 0, "in another form"},
      {{SALT(4, XXH3, of_meter), FIELD(METER)}, 2, 0, NULL}, /* it follows from the whole value */
      {{SALT_BY_NUMBER(4, of_plain_meter), PADDED_LEFT(METER, 8, '0')}, 2, 0, NULL}, /* zeros do not count */
      {{SALT_BY_NUMBER(4, of_plain_meter), AS(METER, INT32)}, 2, 0, NULL},
      {{HASH_HEX(MD5, 16, of_host), UPPER(HOST)}, 2, 0, NULL}, /* stands for the field itself */
      {{UPPER(HOST), LITERAL("#"), PADDED_RIGHT(HOST, 8, ' ')}, 3, 2, "twice"},
      /* salts by number, and in other digits */
      {{SALT_BY_NUMBER(4, of_host_user), FIELD(HOST)}, 2, 0, "more than a field"},
      {{SALT_BY_NUMBER(4, of_worded_meter), FIELD(METER)}, 2, 0, "whose default is no whole number"},
      {{SALT_BY_NUMBER(4, of_date), FIELD(HOST)}, 2, 0, "with a pattern"},
      {{SALT_IN("cba"), FIELD(HOST)}, 2, 0, "ascending"},
      {{SALT_IN("aab"), FIELD(HOST)}, 2, 0, "ascending"},
      {{SALT_IN("a"), FIELD(HOST)}, 2, 0, "at least 2"},
      {{SALT_IN("ab"), FIELD(HOST)}, 2, 0, NULL},
      /* clocks */
      {{FIELD(HOST), LITERAL("#"), PATTERN_IN("yyyyMMddHH", BERLIN)}, 3, 2, "comes twice"},
      {{FIELD(HOST), LITERAL("#"), PATTERN_IN("yyyyMMddHH", BERLIN), TIME(S)}, 4, 0, NULL},
      {{FIELD(HOST), LITERAL("#"), PATTERN_IN("yyyyMMddHHmmssSSS", BERLIN), TIME(S)}, 4, 2, "comes twice"},
      {{FIELD(HOST), LITERAL("#"), PATTERN_IN("yyyyMMddHH", "+02:00")}, 3, 0, NULL},
      /* the whole */
      {{PADDED_LEFT(METER, 32767, '0')}, 1, 0, NULL},
      {{PADDED_LEFT(METER, 32767, '0'), LITERAL("x")}, 2, 1, "longer than the 32767"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GError) error = NULL;
    gsize bad_part = G_MAXSIZE;
    g_autoptr(TideRowKey) key = compile_in_zones(cases[i].specs, cases[i].n_specs, &bad_part, &error);
    g_test_message("case %" G_GSIZE_FORMAT ": %s", i, cases[i].fault != NULL ? cases[i].fault : "compiles");
    g_assert_cmpint(key != NULL, ==, cases[i].fault == NULL);
    if (cases[i].fault == NULL) {
      g_assert_no_error(error);
      continue;
    }
    g_assert_error(error, TIDE_ERROR, TIDE_ERROR_CONFIG);
    g_assert_nonnull(strstr(error->message, cases[i].fault));
    g_assert_cmpuint(bad_part, ==, cases[i].bad_part);
  }
}

static void
test_number_of_parts_is_bounded(void)
{
  TideKeyPartSpec specs[TIDE_ROW_KEY_MAX_PARTS + 1];
  gsize bad_part;
  g_autoptr(GError) error = NULL;
  for (gsize i = 0; i < G_N_ELEMENTS(specs); i++)
    specs[i] = (TideKeyPartSpec)TIME(MS);
  g_autoptr(TideRowKey) key = compile_key(specs, TIDE_ROW_KEY_MAX_PARTS);
  g_assert_cmpuint(tide_row_key_n_parts(key), ==, TIDE_ROW_KEY_MAX_PARTS);
  g_assert_null(tide_row_key_compile(specs, TIDE_ROW_KEY_MAX_PARTS + 1, &bad_part, &error));
  g_assert_error(error, TIDE_ERROR, TIDE_ERROR_CONFIG);
  g_assert_cmpuint(bad_part, ==, TIDE_ROW_KEY_MAX_PARTS);
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/key-compile/bad-keys-do-not-compile", test_bad_keys_do_not_compile);
  g_test_add_func("/key-compile/number-of-parts-is-bounded", test_number_of_parts_is_bounded);
  return g_test_run();
}
