/* Who may ask: the file's lines, and what requests are worth by them. */
#include "http/access_list.h"

#include "util/clock.h"
#include "util/error.h"

#include <crypt.h>

#define NOW_US (1000 * TIDE_US_PER_S)
/* The SHA-256 of "secret-token". */
#define TOKEN_DIGEST "930bbdc51b6aed5c2a5678fd6e28dee7a05e8a4b643cfc0b4427c3efb86c0d94"

/* A hash of @password, as cheap as there are. (transfer full) */
static char *
hash_of(const char *prefix, const char *password)
{
  struct crypt_data *room = g_new0(struct crypt_data, 1);
  char salt[CRYPT_GENSALT_OUTPUT_SIZE];
  gulong cost = strcmp(prefix, "$y$") == 0 ? 1 : strcmp(prefix, "$6$") == 0 ? 0 : 4;
  g_assert_nonnull(crypt_gensalt_rn(prefix, cost, NULL, 0, salt, sizeof salt));
  char *hash = g_strdup(crypt_r(password, salt, room));
  g_free(room);
  return hash;
}

static TideAccessList *
parse(const char *text)
{
  g_autoptr(GError) error = NULL;
  TideAccessList *list = tide_access_list_parse(text, "users", &error);
  g_assert_no_error(error);
  g_assert_nonnull(list);
  return list;
}

static TideAccessList *
list_of_one(const char *name, const char *prefix, const char *password)
{
  g_autofree char *hash = hash_of(prefix, password), *line = g_strconcat(name, ":", hash, "\n", NULL);
  return parse(line);
}

static TideAccess
judge(TideAccessList *list, const char *authorization, gint64 now_us)
{
  return tide_access_list_judge(list, tide_bytes_of_string(authorization), now_us);
}

static TideAccess
judge_pair(TideAccessList *list, const char *pair, gint64 now_us)
{
  g_autofree char *encoded = g_base64_encode((const guchar *)pair, strlen(pair));
  g_autofree char *authorization = g_strconcat("Basic ", encoded, NULL);
  return judge(list, authorization, now_us);
}

static void
test_passwords(void)
{
  static const char *const prefixes[] = {"$2b$", "$2y$", "$2a$", "$y$", "$6$"};
  gint64 now_us = NOW_US;
  for (gsize i = 0; i < G_N_ELEMENTS(prefixes); i++) {
    g_autoptr(TideAccessList) list = list_of_one("prometheus", prefixes[i], "pass:word");
    g_assert_cmpint(judge_pair(list, "prometheus:pass:wore", now_us += TIDE_US_PER_S), ==, TIDE_ACCESS_WRONG);
    g_assert_cmpint(judge_pair(list, "prometheus:pass:word", now_us += TIDE_US_PER_S), ==, TIDE_ACCESS_GRANTED);
    g_assert_cmpint(judge_pair(list, "prometheus:pass:word", now_us += TIDE_US_PER_S), ==,
                    TIDE_ACCESS_GRANTED); /* known by now */
    g_assert_cmpint(judge_pair(list, "prometheus:pass:wore", now_us += TIDE_US_PER_S), ==, TIDE_ACCESS_WRONG);
    g_assert_cmpint(judge_pair(list, "Prometheus:pass:word", now_us += TIDE_US_PER_S), ==, TIDE_ACCESS_WRONG);
    g_assert_cmpint(judge_pair(list, "prometheus:", now_us += TIDE_US_PER_S), ==, TIDE_ACCESS_WRONG);
    g_assert_cmpint(judge_pair(list, ":", now_us += TIDE_US_PER_S), ==, TIDE_ACCESS_WRONG);
  }
}

/* As editors of other systems begin a file. */
static void
test_a_byte_order_mark_is_no_name(void)
{
  g_autoptr(TideAccessList) list = list_of_one("\xef\xbb\xbf"
                                               "prometheus",
                                               "$2y$", "password");
  g_assert_cmpint(judge_pair(list, "prometheus:password", 0), ==, TIDE_ACCESS_GRANTED);
}

/* What one user has shown does not open the door to another one's name. */
static void
test_a_password_is_its_user_s(void)
{
  g_autofree char *first = hash_of("$2b$", "one"), *second = hash_of("$2b$", "two");
  g_autofree char *text = g_strconcat("a:", first, "\nb:", second, "\n", NULL);
  g_autoptr(TideAccessList) list = parse(text);
  gint64 now_us = NOW_US;
  g_assert_cmpint(judge_pair(list, "a:one", now_us += TIDE_US_PER_S), ==, TIDE_ACCESS_GRANTED);
  g_assert_cmpint(judge_pair(list, "b:two", now_us += TIDE_US_PER_S), ==, TIDE_ACCESS_GRANTED);
  g_assert_cmpint(judge_pair(list, "a:two", now_us += TIDE_US_PER_S), ==, TIDE_ACCESS_WRONG);
  g_assert_cmpint(judge_pair(list, "b:one", now_us += TIDE_US_PER_S), ==, TIDE_ACCESS_WRONG);
  g_assert_cmpint(judge_pair(list, "c:one", now_us += TIDE_US_PER_S), ==, TIDE_ACCESS_WRONG);
}

static void
test_tokens(void)
{
  static const char lower[] = "scraper:" TOKEN_DIGEST "\n";
  g_autofree char *upper = g_strconcat("# a comment\r\n\r\nscraper:", NULL);
  g_autofree char *digest = g_ascii_strup(TOKEN_DIGEST, -1), *text = g_strconcat(upper, digest, "\r\n", NULL);
  const char *const texts[] = {lower, text};
  for (gsize i = 0; i < G_N_ELEMENTS(texts); i++) {
    g_autoptr(TideAccessList) list = parse(texts[i]);
    g_assert_cmpint(judge(list, "Bearer secret-token", NOW_US), ==, TIDE_ACCESS_GRANTED);
    g_assert_cmpint(judge(list, "bearer  secret-token", NOW_US), ==, TIDE_ACCESS_GRANTED);
    g_assert_cmpint(judge(list, "Bearer secret-tokem", NOW_US), ==, TIDE_ACCESS_WRONG);
    g_assert_cmpint(judge(list, "Bearer " TOKEN_DIGEST, NOW_US), ==, TIDE_ACCESS_WRONG);
    g_assert_cmpint(judge(list, "Bearer", NOW_US), ==, TIDE_ACCESS_WRONG);
    g_assert_cmpint(judge_pair(list, "scraper:secret-token", NOW_US), ==, TIDE_ACCESS_WRONG);
  }
}

static void
test_what_is_no_credential(void)
{
  g_autoptr(TideAccessList) list = list_of_one("a", "$2b$", "b");
  g_assert_cmpint(tide_access_list_judge(list, TIDE_BYTES_EMPTY, NOW_US), ==, TIDE_ACCESS_MISSING);
  static const char *const cases[] = {"",
                                      "Basic",
                                      "Basic ",
                                      "Basic YQ==", /* "a" */
                                      "Basicx",
                                      "*****",
                                      "Digest username=\"a\"",
                                      "Basic YTpiAA==" /* "a:b\0" */};
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++)
    g_assert_cmpint(judge(list, cases[i], NOW_US), ==, TIDE_ACCESS_WRONG);
}

/* ---- names are not told by time ---- */

static GString *kinds_made; /* of hashes that the program under test made */

/* In the place of libcrypt's. */
char *
crypt_r(const char *password, const char *hash, struct crypt_data *room)
{
  if (kinds_made != NULL)
    g_string_append_len(kinds_made, hash, 6);
  return crypt_rn(password, hash, room, sizeof *room);
}

/* What @pair costs does not say whether there is such a name, whatever the kind of its hash. */
static void
test_names_cost_the_same(void)
{
  g_autofree char *cheap = hash_of("$2b$", "one"), *other = hash_of("$2b$", "two"), *dear = hash_of("$y$", "three");
  g_autofree char *text =
      g_strconcat("cheap:", cheap, "\nother:", other, "\ntoken:", TOKEN_DIGEST, "\ndear:", dear, NULL);
  g_autoptr(TideAccessList) list = parse(text);
  static const struct {
    const char *pair;
    TideAccess access;
  } cases[] = {{"cheap:x", TIDE_ACCESS_WRONG},      {"other:x", TIDE_ACCESS_WRONG},
               {"dear:x", TIDE_ACCESS_WRONG},       {"nobody:one", TIDE_ACCESS_WRONG},
               {"nobody:three", TIDE_ACCESS_WRONG}, {"dear:one", TIDE_ACCESS_WRONG},
               {"token:one", TIDE_ACCESS_WRONG},    {"other:one", TIDE_ACCESS_WRONG},
               {"other:two", TIDE_ACCESS_GRANTED},  {"dear:three", TIDE_ACCESS_GRANTED}};
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    kinds_made = g_string_new(NULL);
    g_assert_cmpint(judge_pair(list, cases[i].pair, NOW_US + (gint64)i * TIDE_US_PER_S), ==, cases[i].access);
    g_assert_cmpuint(kinds_made->len, ==, 12);
    g_assert_true(strncmp(kinds_made->str, cheap, 6) == 0 && strncmp(kinds_made->str + 6, dear, 6) == 0);
    g_string_free(g_steal_pointer(&kinds_made), TRUE);
  }
}

/* Two wrong ones are tried at once, the third one is not, and a second later one more. */
static void
test_a_burst_is_two(void)
{
  g_autoptr(TideAccessList) list = list_of_one("a", "$2b$", "b");
  static const TideAccess expected[] = {TIDE_ACCESS_WRONG, TIDE_ACCESS_WRONG, TIDE_ACCESS_TOO_OFTEN};
  for (gsize i = 0; i < G_N_ELEMENTS(expected); i++)
    g_assert_cmpint(judge_pair(list, "a:wrong", NOW_US), ==, expected[i]);
  g_assert_cmpint(judge_pair(list, "a:b", NOW_US), ==, TIDE_ACCESS_TOO_OFTEN);
  g_assert_cmpint(judge_pair(list, "a:b", NOW_US + TIDE_US_PER_S), ==, TIDE_ACCESS_GRANTED);
}

/* Passwords that are not known yet are tried two at once and one a second; one that is known is not one of them. */
static void
test_tries_are_bounded(void)
{
  g_autoptr(TideAccessList) list = list_of_one("a", "$2b$", "b");
  g_assert_cmpint(judge_pair(list, "a:b", NOW_US), ==, TIDE_ACCESS_GRANTED);
  for (guint i = 0; i < TIDE_ACCESS_BURST - 1; i++)
    g_assert_cmpint(judge_pair(list, i % 2 == 0 ? "a:wrong" : "nobody:x", NOW_US), ==, TIDE_ACCESS_WRONG);
  g_assert_cmpint(judge_pair(list, "a:wrong", NOW_US), ==, TIDE_ACCESS_TOO_OFTEN);
  g_assert_cmpint(judge_pair(list, "nobody:x", NOW_US), ==, TIDE_ACCESS_TOO_OFTEN);
  g_assert_cmpint(judge_pair(list, "a:b", NOW_US), ==, TIDE_ACCESS_GRANTED);
  g_assert_cmpint(judge_pair(list, "a:wrong", NOW_US + TIDE_US_PER_S - 1), ==, TIDE_ACCESS_TOO_OFTEN);
  g_assert_cmpint(judge_pair(list, "a:wrong", NOW_US + TIDE_US_PER_S), ==, TIDE_ACCESS_WRONG);
  g_assert_cmpint(judge_pair(list, "a:wrong", NOW_US + TIDE_US_PER_S), ==, TIDE_ACCESS_TOO_OFTEN);
}

/* Another password for a name ends the one before, also where that one was right of late; and a file that changes gives
 * nobody tries anew. */
static void
test_a_password_is_replaced(void)
{
  g_autoptr(TideAccessList) old = list_of_one("a", "$2b$", "old"), now = list_of_one("a", "$2b$", "new");
  for (guint i = 0; i < TIDE_ACCESS_BURST - 1; i++)
    g_assert_cmpint(judge_pair(old, "a:wrong", NOW_US), ==, TIDE_ACCESS_WRONG);
  g_assert_cmpint(judge_pair(old, "a:old", NOW_US), ==, TIDE_ACCESS_GRANTED);
  tide_access_list_follow(now, old);
  g_assert_cmpint(judge_pair(now, "a:wrong", NOW_US), ==, TIDE_ACCESS_TOO_OFTEN);
  g_assert_cmpint(judge_pair(now, "a:old", NOW_US + TIDE_US_PER_S), ==, TIDE_ACCESS_WRONG);
  g_assert_cmpint(judge_pair(now, "a:new", NOW_US + 2 * TIDE_US_PER_S), ==, TIDE_ACCESS_GRANTED);
}

#define BCRYPT_REST "abcdefghijklmnopqrstuuabcdefghijklmnopqrstuvwxyzABCDE"

static void
test_files_that_are_refused(void)
{
  static const struct {
    const char *text, *message;
  } cases[] = {
      {"", "'users' names nobody"},
      {"# nobody\n\n", "'users' names nobody"},
      {"a:" TOKEN_DIGEST "\npassword\n", "line 2 of 'users' is not of the form NAME:HASH"},
      {":" TOKEN_DIGEST, "line 1 of 'users' is not of the form NAME:HASH"},
      {"a:password", "line 1 of 'users' is neither a bcrypt"},
      {"a:", "line 1 of 'users' is neither a bcrypt"},
      {"a:{SHA}fEqNCco3Yq9h5ZUglD3CZJT4lBs=", "is neither a bcrypt"},
      {"a:$apr1$8pMzbOtv$V7yDVDr0vJ6oGOnJgMDNq1", "is neither a bcrypt"},
      {"a:$1$C7xCas0H$KpCI58JkYKR5Ow2YEHc8r0", "is neither a bcrypt"},
      {"a:$2y$13$" BCRYPT_REST, "takes too long to check"},
      {"a:$2y$31$" BCRYPT_REST, "takes too long to check"},
      {"a:$2y$10$tooshort", "is neither a bcrypt"},
      {"a:$2y$00$" BCRYPT_REST, "is neither a bcrypt"}, /* libcrypt makes none of these: nobody would come in */
      {"a:$2y$03$" BCRYPT_REST, "is neither a bcrypt"},
      {"a:$2x$10$" BCRYPT_REST, "is neither a bcrypt"},
      {"a:$y$jFT$4ZGoL/unCFlVs81ptdbpr1$gjUKefEjxTHWq26/w.HeLv/lYn7pGlcWYmzXt5zbcTD", "takes too long to check"},
      {"a:$y$j9T$4ZGoL/unCFlVs81ptdbpr1$short", "is neither a bcrypt"},
      {"a:$y$j9T$", "is neither a bcrypt"},
      {"a:$6$", "is neither a bcrypt"},
      {"a:$6$rounds=999999999$Yue4nQQLsgCJucJg$KpCI58JkYKR5Ow2YEHc8rfL", "takes too long to check"},
      {"a:" TOKEN_DIGEST "\na:" TOKEN_DIGEST "\n", "line 2 of 'users' has a name that another line has, too"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GError) error = NULL;
    g_assert_null(tide_access_list_parse(cases[i].text, "users", &error));
    g_assert_error(error, TIDE_ERROR, TIDE_ERROR_CONFIG);
    g_test_message("%s", error->message);
    g_assert_nonnull(strstr(error->message, cases[i].message));
    g_assert_null(strstr(error->message, BCRYPT_REST)); /* nothing of a line is shown */
    g_assert_null(strstr(error->message, "'password'"));
  }
  g_autoptr(TideAccessList) dearest = parse("a:$2y$12$" BCRYPT_REST "\nb:$2y$04$" BCRYPT_REST "\n");
  g_assert_nonnull(dearest);
}

static void
test_what_is_asked_for(void)
{
  g_autofree char *hash = hash_of("$2b$", "b"), *user = g_strconcat("a:", hash, "\n", NULL);
  g_autofree char *both = g_strconcat(user, "t:" TOKEN_DIGEST "\n", NULL);
  const struct {
    const char *text;
    gboolean basic, bearer;
  } cases[] = {{user, TRUE, FALSE}, {"t:" TOKEN_DIGEST, FALSE, TRUE}, {both, TRUE, TRUE}};
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(TideAccessList) list = parse(cases[i].text);
    g_autofree char *challenge = tide_access_list_challenge(list);
    g_assert_true((strstr(challenge, "WWW-Authenticate: Basic realm=") != NULL) == cases[i].basic);
    g_assert_true((strstr(challenge, "WWW-Authenticate: Bearer realm=") != NULL) == cases[i].bearer);
  }
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/access-list/byte-order-mark", test_a_byte_order_mark_is_no_name);
  g_test_add_func("/access-list/passwords", test_passwords);
  g_test_add_func("/access-list/a-password-is-its-user-s", test_a_password_is_its_user_s);
  g_test_add_func("/access-list/tokens", test_tokens);
  g_test_add_func("/access-list/no-credential", test_what_is_no_credential);
  g_test_add_func("/access-list/E15-names-cost-the-same", test_names_cost_the_same);
  g_test_add_func("/access-list/E15-a-burst-is-two", test_a_burst_is_two);
  g_test_add_func("/access-list/tries-are-bounded", test_tries_are_bounded);
  g_test_add_func("/access-list/a-password-is-replaced", test_a_password_is_replaced);
  g_test_add_func("/access-list/refused-files", test_files_that_are_refused);
  g_test_add_func("/access-list/asked-for", test_what_is_asked_for);
  return g_test_run();
}
