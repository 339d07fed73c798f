#include "model/glob.h"

static gboolean
matches(const char *pattern, const char *text)
{
  return tide_glob_matches(tide_bytes_of_string(pattern), tide_bytes_of_string(text));
}

static void
test_pattern_matches_the_whole_text(void)
{
  static const struct {
    const char *pattern;
    const char *text;
    gboolean matches;
  } cases[] = {
      {"", "", TRUE},
      {"", "a", FALSE},
      {"a", "", FALSE},
      {"CPU/*", "CPU/CPU1_USR", TRUE},
      {"CPU/*", "CPU/", TRUE},
      {"CPU/*", "CPU", FALSE},
      {"CPU/*", "XCPU/1", FALSE},
      {"*", "", TRUE},
      {"*", "anything", TRUE},
      {"**", "a", TRUE},
      {"*_USR", "CPU1_USR", TRUE},
      {"*_USR", "CPU1_USR2", FALSE},
      {"*_USR", "_USR_USR", TRUE},
      {"a*b*c", "a-b-b-c", TRUE},
      {"a*b*c", "a-c-b", FALSE},
      {"db-?", "db-1", TRUE},
      {"db-?", "db-", FALSE},
      {"db-?", "db-12", FALSE},
      {"?*", "", FALSE},
      {"*?", "x", TRUE},
      {"db", "DB", FALSE},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_test_message("'%s' '%s'", cases[i].pattern, cases[i].text);
    g_assert_cmpint(matches(cases[i].pattern, cases[i].text), ==, cases[i].matches);
  }
}

static void
test_backslash_takes_a_star_as_it_is(void)
{
  g_assert_true(matches("a\\*", "a*"));
  g_assert_false(matches("a\\*", "ab"));
  g_assert_true(matches("a\\?b", "a?b"));
  g_assert_false(matches("a\\?b", "axb"));
  g_assert_true(matches("a\\\\*", "a\\b"));
  g_assert_true(matches("\\a", "a"));
  g_assert_true(matches("a\\", "a\\"));
  g_assert_true(matches("\\*?", "*x"));
}

static void
test_question_mark_is_one_character(void)
{
  g_assert_true(matches("?", "\xC3\xA9"));
  g_assert_true(matches("x?y", "x\xE2\x82\xACy"));
  g_assert_true(matches("?", "\xF0\x9F\x8C\x8A"));
  g_assert_false(matches("??", "\xE2\x82\xAC"));
  g_assert_false(matches("*??", "\xE2\x82\xAC"));
  g_assert_true(matches("*\xE2\x82\xAC", "5 \xE2\x82\xAC"));
  g_assert_true(matches("\\\xE2\x82\xAC?", "\xE2\x82\xAC\xC3\xA9"));
  /* What is no UTF-8 counts byte by byte; a character that is cut off as one. */
  g_assert_true(matches("???", "\x80\xFF\xBF"));
  g_assert_true(matches("?a", "\xE2\x82"
                              "a"));
}

static void
test_any_byte_may_stand_in_the_text(void)
{
  g_assert_true(tide_glob_matches(TIDE_BYTES_LITERAL("a*\0?"), TIDE_BYTES_LITERAL("a\0b\0c")));
  g_assert_false(tide_glob_matches(TIDE_BYTES_LITERAL("a\0b"), TIDE_BYTES_LITERAL("a\0c")));
  g_assert_true(tide_glob_matches(TIDE_BYTES_EMPTY, TIDE_BYTES_EMPTY));
}

/* The plain definition, exponential, for short texts of three letters. */
static gboolean
matches_by_definition(const char *pattern, const char *text)
{
  if (*pattern == '\0')
    return *text == '\0';
  if (*pattern == '*')
    return matches_by_definition(pattern + 1, text) || (*text != '\0' && matches_by_definition(pattern, text + 1));
  return *text != '\0' && (*pattern == '?' || *pattern == *text) && matches_by_definition(pattern + 1, text + 1);
}

static void
test_agrees_with_the_definition(void)
{
  static const char letters[] = "ab*?";
  for (int n = 0; n < 100000; n++) {
    char pattern[8] = "", text[10] = "";
    int pattern_len = g_test_rand_int_range(0, 8), text_len = g_test_rand_int_range(0, 10);
    for (int i = 0; i < pattern_len; i++)
      pattern[i] = letters[g_test_rand_int_range(0, 4)];
    for (int i = 0; i < text_len; i++)
      text[i] = letters[g_test_rand_int_range(0, 2)];
    pattern[pattern_len] = text[text_len] = '\0';
    g_test_message("'%s' '%s'", pattern, text);
    g_assert_cmpint(matches(pattern, text), ==, matches_by_definition(pattern, text));
  }
}

/* A pattern that makes naive matchers try every way to cut the text: here at most 41 x 20,001 steps. */
static void
test_many_stars_take_no_exponential_time(void)
{
  g_autofree char *text = g_strnfill(20000, 'a');
  gint64 start_us = g_get_monotonic_time();
  g_assert_false(matches("a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b", text));
  g_assert_cmpint(g_get_monotonic_time() - start_us, <, 10 * G_USEC_PER_SEC);
}

static void
test_pattern_is_told_from_a_name(void)
{
  g_assert_true(tide_glob_is_pattern(TIDE_BYTES_LITERAL("CPU/*")));
  g_assert_true(tide_glob_is_pattern(TIDE_BYTES_LITERAL("CPU?")));
  g_assert_true(tide_glob_is_pattern(TIDE_BYTES_LITERAL("\\**")));
  g_assert_true(tide_glob_is_pattern(TIDE_BYTES_LITERAL("\\\\*")));
  g_assert_false(tide_glob_is_pattern(TIDE_BYTES_LITERAL("CPU/CPU1")));
  g_assert_false(tide_glob_is_pattern(TIDE_BYTES_LITERAL("\\*\\?")));
  g_assert_false(tide_glob_is_pattern(TIDE_BYTES_LITERAL("\\")));
  g_assert_false(tide_glob_is_pattern(TIDE_BYTES_EMPTY));
}

/* @name with its stars replaced by what those of @pattern stand for in @text; NULL: it does not match. */
static char *
renamed(const char *pattern, const char *name, const char *text)
{
  TideGlobStars stars;
  g_auto(TideBuffer) out = {0};
  if (!tide_glob_match_stars(tide_bytes_of_string(pattern), tide_bytes_of_string(text), &stars))
    return NULL;
  tide_glob_append_renamed(tide_bytes_of_string(name), &stars, &out);
  tide_buffer_append_byte(&out, '\0');
  return g_strdup((const char *)out.data);
}

static void
test_stars_rename(void)
{
  static const struct {
    const char *pattern, *name, *text, *renamed;
  } cases[] = {
      {"*_mV", "*_V", "cell1_mV", "cell1_V"},
      {"cpu_*_*", "CPU/*/*", "cpu_0_usr_time", "CPU/0/usr_time"}, /* the first as little as it can */
      {"*_*", "*.*", "a_b_c", "a.b_c"},
      {"*a*b", "<*><*>", "xaab", "<x><a>"},
      {"*a", "<*>", "aaaa", "<aaa>"},
      {"*", "*", "", ""},
      {"**", "*-*", "ab", "-ab"},
      {"t?mp*", "temp*", "tamp9", "temp9"},
      {"*x", "*?", "ax", "a?"},
      {"*x", "\\**", "ax", "*a"},
      {"a*", "*", "b", NULL},
      {"a\\**", "*", "a*b", "b"},
      {"*\xE2\x82\xAC?", "*", "1\xE2\x82\xAC\xE2\x82\xAC", "1"},
      {"*1*2*3*4*5*6*7*8*", "********", "a1b2c3d4e5f6g7h8i", "abcdefgh"}, /* beyond the eighth star nothing is kept */
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_test_message("'%s' '%s' '%s'", cases[i].pattern, cases[i].name, cases[i].text);
    g_autofree char *text = renamed(cases[i].pattern, cases[i].name, cases[i].text);
    g_assert_cmpstr(text, ==, cases[i].renamed);
  }
  g_assert_cmpuint(tide_glob_n_stars(TIDE_BYTES_LITERAL("a*b\\*c**")), ==, 3);
  g_assert_cmpuint(tide_glob_n_stars(TIDE_BYTES_EMPTY), ==, 0);
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/glob/whole-text", test_pattern_matches_the_whole_text);
  g_test_add_func("/glob/backslash", test_backslash_takes_a_star_as_it_is);
  g_test_add_func("/glob/question-mark-is-one-character", test_question_mark_is_one_character);
  g_test_add_func("/glob/any-byte", test_any_byte_may_stand_in_the_text);
  g_test_add_func("/glob/agrees-with-the-definition", test_agrees_with_the_definition);
  g_test_add_func("/glob/no-exponential-time", test_many_stars_take_no_exponential_time);
  g_test_add_func("/glob/is-pattern", test_pattern_is_told_from_a_name);
  g_test_add_func("/glob/stars-rename", test_stars_rename);
  return g_test_run();
}
