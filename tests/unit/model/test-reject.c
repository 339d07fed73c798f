#include "model/reject.h"

static void
test_names_are_distinct_words(void)
{
  g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
  for (int reason = TIDE_REJECT_NONE; reason < TIDE_REJECT_N_REASONS; reason++) {
    const char *name = tide_reject_reason_name((TideRejectReason)reason);
    g_assert_cmpstr(name, !=, "unknown");
    g_assert_true(g_hash_table_add(seen, (gpointer)name));
    g_assert_cmpuint(strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_"), ==, strlen(name));
  }
}

/* They are labels of metrics and headers of dead letters: changing one breaks what others have built on it.
 */
static void
test_names_are_stable(void)
{
  g_assert_cmpstr(tide_reject_reason_name(TIDE_REJECT_PARSE), ==, "parse");
  g_assert_cmpstr(tide_reject_reason_name(TIDE_REJECT_MISSING_FIELD), ==, "missing_field");
  g_assert_cmpstr(tide_reject_reason_name(TIDE_REJECT_BAD_KEY), ==, "bad_key");
  g_assert_cmpstr(tide_reject_reason_name(TIDE_REJECT_BAD_COLUMN), ==, "bad_column");
  g_assert_cmpstr(tide_reject_reason_name(TIDE_REJECT_TIME_FUTURE), ==, "time_future");
}

static void
test_sentence_names_what_and_where(void)
{
  static const struct {
    TideReject reject;
    const char *expected;
  } cases[] = {
      {{.reason = TIDE_REJECT_EMPTY, .byte_position = -1}, "the message is empty"},
      {{.reason = TIDE_REJECT_PARSE, .byte_position = 17, .detail = "a comma is missing"},
       "not in the declared format: a comma is missing, at byte 17"},
      {{.reason = TIDE_REJECT_MISSING_FIELD,
        .field = {(const guint8 *)"host", 4},
        .byte_position = -1,
        .reading_index = 2},
       "a field that the key or the time needs is absent or null, in 'host', in reading 2 of the message "
       "(from 0)"},
      {{.reason = TIDE_REJECT_MISSING_FIELD,
        .field = {(const guint8 *)"at", 2},
        .byte_position = -1,
        .detail = "it is absent"},
       "a field that the key or the time needs is absent or null: 'at' is absent"},
      {{.reason = TIDE_REJECT_BAD_KEY, .field = {(const guint8 *)"a\033[2J\n", 6}, .byte_position = -1},
       "a value that cannot stand in a row key, in 'a\\x1B[2J\\x0A'"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *text = tide_reject_describe(&cases[i].reject);
    g_assert_cmpstr(text, ==, cases[i].expected);
  }
}

static void
test_every_reason_has_a_sentence(void)
{
  g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  for (int reason = TIDE_REJECT_NONE; reason < TIDE_REJECT_N_REASONS; reason++) {
    TideReject reject = {.reason = (TideRejectReason)reason, .byte_position = -1};
    char *text = tide_reject_describe(&reject);
    g_assert_cmpstr(text, !=, "rejected");
    g_assert_true(g_hash_table_add(seen, text));
  }
}

static void
test_long_field_name_is_cut(void)
{
  g_autofree char *name = g_strnfill(100000, 'x');
  TideReject reject = {.reason = TIDE_REJECT_TYPE, .field = tide_bytes_of_string(name), .byte_position = -1};
  g_autofree char *text = tide_reject_describe(&reject);
  g_assert_cmpuint(strlen(text), <, 400);
  g_assert_true(g_str_has_suffix(text, "xxx...'"));
}

static void
test_field_is_resolved_from_its_place(void)
{
  g_autoptr(TideFieldNames) names = tide_field_names_new();
  TideNameId id = tide_field_names_intern(names, TIDE_BYTES_LITERAL("host"));
  TideReject reject = {.reason = TIDE_REJECT_MISSING_FIELD, .field_place = id + 1, .byte_position = -1};
  tide_reject_resolve_field(&reject, names);
  g_assert_true(tide_bytes_equal(reject.field, TIDE_BYTES_LITERAL("host")));

  TideReject named = {.field = TIDE_BYTES_LITERAL("ts"), .field_place = id + 1};
  tide_reject_resolve_field(&named, names);
  g_assert_true(tide_bytes_equal(named.field, TIDE_BYTES_LITERAL("ts")));

  TideReject nameless = {.reason = TIDE_REJECT_PARSE};
  tide_reject_resolve_field(&nameless, names);
  g_assert_cmpuint(nameless.field.len, ==, 0);
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/reject/names-are-distinct-words", test_names_are_distinct_words);
  g_test_add_func("/reject/names-are-stable", test_names_are_stable);
  g_test_add_func("/reject/sentence-names-what-and-where", test_sentence_names_what_and_where);
  g_test_add_func("/reject/every-reason-has-a-sentence", test_every_reason_has_a_sentence);
  g_test_add_func("/reject/long-field-name-is-cut", test_long_field_name_is_cut);
  g_test_add_func("/reject/field-is-resolved-from-its-place", test_field_is_resolved_from_its_place);
  return g_test_run();
}
