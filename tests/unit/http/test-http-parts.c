/* Who may ask, what was asked, where the server listens, and who makes room. */
#define _GNU_SOURCE
#include "http/access_list.h"
#include "http/eviction.h"
#include "http/listen_socket.h"
#include "http/request_head.h"
#include "unit/test_case.h"
#include "util/clock.h"
#include "util/error.h"

#include <arpa/inet.h>
#include <crypt.h>
#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <pthread.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

/* ---- access list ---- */

/* Who may ask: the file's lines, and what requests are worth by them. */

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

TEST("/access-list/passwords")
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
TEST("/access-list/byte-order-mark")
{
  g_autoptr(TideAccessList) list = list_of_one("\xef\xbb\xbf"
                                               "prometheus",
                                               "$2y$", "password");
  g_assert_cmpint(judge_pair(list, "prometheus:password", 0), ==, TIDE_ACCESS_GRANTED);
}

/* What one user has shown does not open the door to another one's name. */
TEST("/access-list/a-password-is-its-user-s")
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

TEST("/access-list/tokens")
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

TEST("/access-list/no-credential")
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
TEST("/access-list/E15-names-cost-the-same")
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
TEST("/access-list/E15-a-burst-is-two")
{
  g_autoptr(TideAccessList) list = list_of_one("a", "$2b$", "b");
  static const TideAccess expected[] = {TIDE_ACCESS_WRONG, TIDE_ACCESS_WRONG, TIDE_ACCESS_TOO_OFTEN};
  for (gsize i = 0; i < G_N_ELEMENTS(expected); i++)
    g_assert_cmpint(judge_pair(list, "a:wrong", NOW_US), ==, expected[i]);
  g_assert_cmpint(judge_pair(list, "a:b", NOW_US), ==, TIDE_ACCESS_TOO_OFTEN);
  g_assert_cmpint(judge_pair(list, "a:b", NOW_US + TIDE_US_PER_S), ==, TIDE_ACCESS_GRANTED);
}

/* Passwords that are not known yet are tried two at once and one a second; one that is known is not one of them. */
TEST("/access-list/tries-are-bounded")
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
TEST("/access-list/a-password-is-replaced")
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

TEST("/access-list/refused-files")
{
  static const struct {
    const char *text, *message;
  } cases[] = {
      {"", "'users' has no users"},
      {"# nobody\n\n", "'users' has no users"},
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
      {"a:" TOKEN_DIGEST "\na:" TOKEN_DIGEST "\n", "line 2 of 'users' has a name that another line already has"},
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

TEST("/access-list/asked-for")
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

/* ---- request head ---- */

/* Heads of HTTP requests: what is taken out of them, and what is refused. */

static void
assert_text(TideBytes bytes, const char *expected)
{
  g_autofree char *text = g_strndup((const char *)bytes.data, bytes.len);
  g_assert_cmpstr(text, ==, expected);
}

TEST("/request-head/taken")
{
  static const struct {
    const char *head, *method, *path, *authorization, *host; /* NULL: none */
  } cases[] = {
      {"GET / HTTP/1.1\r\n\r\n", "GET", "/", NULL},
      {"HEAD /metrics HTTP/1.0\r\nHost: x\r\n\r\n", "HEAD", "/metrics", NULL, "x"},
      {"GET http://x/metrics?y HTTP/1.1\r\nHost: z\r\n\r\n", "GET", "/metrics", NULL, "x"},
      {"GET HTTPS://x:1 HTTP/1.1\r\n\r\n", "GET", "/", NULL, "x:1"},
      {"GET http://x?/y HTTP/1.1\r\n\r\n", "GET", "/", NULL, "x"},
      {"GET /metrics?name[]=a&b HTTP/1.1\r\nhOst: x\r\n\r\n", "GET", "/metrics", NULL, "x"},
      {"GET /? HTTP/1.1\r\n\r\n", "GET", "/", NULL},
      {"GET / HTTP/1.1\r\nAuthorization: Basic YTpi\r\n\r\n", "GET", "/", "Basic YTpi"},
      {"GET / HTTP/1.1\r\nA: b\r\nauthorization:\t Bearer x \t\r\nHost: x\r\n\r\n", "GET", "/", "Bearer x", "x"},
      {"GET / HTTP/1.1\r\nAuthorization:\r\n\r\n", "GET", "/", ""},
      {"GET / HTTP/1.1\r\nX-Authorization: no\r\nProxy-Authorization: no\r\n\r\n", "GET", "/", NULL},
      {"M-SEARCH /x HTTP/1.9\r\n\r\n", "M-SEARCH", "/x", NULL},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    TideBytes bytes = tide_bytes_of_string(cases[i].head);
    TideRequestHead head;
    g_assert_cmpuint(tide_request_head_len(bytes), ==, bytes.len);
    g_assert_true(tide_request_head_parse(bytes, &head));
    assert_text(head.method, cases[i].method);
    assert_text(head.path, cases[i].path);
    if (cases[i].authorization == NULL)
      g_assert_null(head.authorization.data);
    else
      assert_text(head.authorization, cases[i].authorization);
    if (cases[i].host == NULL)
      g_assert_null(head.host.data);
    else
      assert_text(head.host, cases[i].host);
  }
}

TEST("/request-head/refused")
{
  static const char *const cases[] = {
      "\r\n\r\n",
      "GET /\r\n\r\n",                  /* HTTP/0.9 */
      "GET  / HTTP/1.1\r\n\r\n",        /* an empty target */
      "GET / HTTP/1.1 \r\n\r\n",        /* a blank too many */
      "GET / HTTP/2.0\r\n\r\n",         /* another protocol */
      "GET / HTTP/1.10\r\n\r\n",        /* no such version */
      "GET http:///x HTTP/1.1\r\n\r\n", /* nobody is asked */
      "GET ftp://x/ HTTP/1.1\r\n\r\n",  /* another protocol */
      "GET / HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n",
      "GET * HTTP/1.1\r\n\r\n",                    /* no path */
      " GET / HTTP/1.1\r\n\r\n",                   /* a blank in front */
      "G(T / HTTP/1.1\r\n\r\n",                    /* no method's character */
      "GET /\x01 HTTP/1.1\r\n\r\n",                /* a control byte */
      "GET / HTTP/1.1\r\nHost\r\n\r\n",            /* no colon */
      "GET / HTTP/1.1\r\n: x\r\n\r\n",             /* no name */
      "GET / HTTP/1.1\r\nHost : x\r\n\r\n",        /* RFC 9112, 5.1: a blank before the colon */
      "GET / HTTP/1.1\r\nA: b\r\n folded\r\n\r\n", /* RFC 9112, 5.2 */
      "GET / HTTP/1.1\r\nA: b\nC: d\r\n\r\n",      /* a bare line feed */
      "GET / HTTP/1.1\r\nAuthorization: Basic YTpi\r\nAuthorization: Basic YTpi\r\n\r\n",
      "\x16\x03\x01\x02\x01\r\n\r\n", /* TLS */
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    TideRequestHead head;
    g_assert_false(tide_request_head_parse(tide_bytes_of_string(cases[i]), &head));
  }
  TideRequestHead head;
  g_assert_false(tide_request_head_parse(TIDE_BYTES_LITERAL("GET /a\0b HTTP/1.1\r\n\r\n"), &head));
}

/* A head is not one before its last byte has come, and what follows it is not of it. */
TEST("/request-head/end")
{
  static const char text[] = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
  for (gsize len = 0; len < sizeof text - 1; len++)
    g_assert_cmpuint(tide_request_head_len(tide_bytes(text, len)), ==, 0);
  g_assert_cmpuint(tide_request_head_len(TIDE_BYTES_LITERAL("GET / HTTP/1.1\r\n\r\nbody\r\n\r\n")), ==, 18);
}

TEST("/request-head/E11-E15-hosts")
{
  char own[256] = "";
  g_assert_cmpint(gethostname(own, sizeof own - 1), ==, 0);
  g_autofree char *longer = g_strconcat(own, ".example.org", NULL);
  const char *const local[] = {own,     "localhost",  "LOCALHOST:9464", "127.0.0.1", "127.3.2.1:80",
                               "[::1]", "[::1]:9464", "192.0.2.1"};
  const char *const others[] = {longer,
                                "",
                                ":80",
                                "evil.example",
                                "localhost.evil.example:9464",
                                "127.0.0.1.evil.example",
                                "[::1",
                                "[x]",
                                "evil@localhost",
                                "[::1].evil.example",
                                "[::1]x:80",
                                "localhost:80.evil.example",
                                "127.0.0.1:x"};
  for (gsize i = 0; i < G_N_ELEMENTS(local); i++)
    g_assert_true(tide_request_host_is_local(tide_bytes_of_string(local[i])));
  for (gsize i = 0; i < G_N_ELEMENTS(others); i++)
    g_assert_false(tide_request_host_is_local(tide_bytes_of_string(others[i])));
}

/* ---- eviction ---- */

#define N_SLOTS 16

typedef struct EvictionFixture {
  TideEvictionSlot slots[N_SLOTS];
  guint64 n_came;
} EvictionFixture;

static guint64
network_of(const char *address)
{
  struct in6_addr peer;
  g_assert_cmpint(inet_pton(AF_INET6, address, &peer), ==, 1);
  return tide_eviction_network(&peer);
}

TEST("/eviction/networks")
{
  static const struct {
    const char *one, *other;
    gboolean is_same;
  } cases[] = {
      {"2001:db8:1:2::1", "2001:db8:1:2:ffff:ffff:ffff:ffff", TRUE},
      {"2001:db8:1:2::1", "2001:db8:1:3::1", FALSE},
      {"::ffff:127.0.0.1", "::ffff:127.255.3.4", TRUE},
      {"::ffff:127.0.0.1", "::ffff:126.0.0.1", FALSE},
      {"::ffff:192.0.2.1", "::ffff:192.0.2.2", FALSE},
      {"::ffff:192.0.2.1", "2001:db8::1", FALSE},
      {"::ffff:0.0.0.0", "::", FALSE},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++)
    g_assert_cmpint(network_of(cases[i].one) == network_of(cases[i].other), ==, cases[i].is_same);
}

static void
come(EvictionFixture *fixture, guint64 network)
{
  guint slot = 0;
  while (slot < N_SLOTS && fixture->slots[slot].number != 0)
    slot++;
  if (slot == N_SLOTS)
    slot = tide_eviction_choose(fixture->slots, N_SLOTS, network);
  g_assert_cmpuint(slot, <, N_SLOTS);
  fixture->slots[slot] = (TideEvictionSlot){.number = ++fixture->n_came, .network = network};
}

static guint
n_of(const EvictionFixture *fixture, guint64 network)
{
  guint n = 0;
  for (guint i = 0; i < N_SLOTS; i++)
    n += fixture->slots[i].number != 0 && fixture->slots[i].network == network ? 1 : 0;
  return n;
}

/* Up to 14 addresses that come again and again do not take the slots of two others, nor does one of these the other's.
 */
TEST("/eviction/many-keep-nobody-out")
{
  for (guint n_others = 1; n_others < N_SLOTS - 1; n_others++) {
    EvictionFixture fixture = {0};
    for (guint i = 0; i < 100; i++)
      come(&fixture, 1 + i % n_others);
    come(&fixture, 1000);
    for (guint i = 0; i < 1000; i++) {
      come(&fixture, i == 100 ? 2000 : 1 + i % n_others);
      g_assert_cmpuint(n_of(&fixture, 1000), ==, 1);
      g_assert_cmpuint(n_of(&fixture, 2000), ==, i >= 100 ? 1 : 0);
    }
  }
}

/* Whoever comes gets a slot, were all others of one address each, and the first of them goes. */
TEST("/eviction/the-first-goes")
{
  EvictionFixture fixture = {0};
  g_assert_cmpuint(tide_eviction_choose(fixture.slots, N_SLOTS, 1), ==, N_SLOTS);
  for (guint i = 0; i < N_SLOTS; i++)
    come(&fixture, i);
  come(&fixture, 1000);
  g_assert_cmpuint(n_of(&fixture, 0), ==, 0);
  g_assert_cmpuint(n_of(&fixture, 1000), ==, 1);
  come(&fixture, 5); /* has one: it is his own that goes */
  g_assert_cmpuint(n_of(&fixture, 1), ==, 1);
  g_assert_cmpuint(n_of(&fixture, 5), ==, 1);
  g_assert_cmpuint(tide_eviction_choose(fixture.slots, N_SLOTS, TIDE_EVICTION_NO_NETWORK), ==, 1);
}

/* ---- listen socket ---- */

/* Sockets to listen on: Unix ones above all, and what may be in their place. (TCP: tests/unit/service/test-http.c.) */

typedef struct ListenSocketFixture {
  char *directory, *path, *text;
} ListenSocketFixture;

static void
setup(ListenSocketFixture *fixture, gconstpointer data)
{
  fixture->directory = g_dir_make_tmp("tidemark-listen-XXXXXX", NULL);
  fixture->path = g_build_filename(fixture->directory, "http.socket", NULL);
  fixture->text = g_strconcat("unix:", fixture->path, NULL);
}

static void
teardown(ListenSocketFixture *fixture, gconstpointer data)
{
  g_assert_cmpint(g_rmdir(fixture->directory), ==, 0); /* nothing was left behind */
  g_free(fixture->directory);
  g_free(fixture->path);
  g_free(fixture->text);
}

static TideListenRequest
request_of(const ListenSocketFixture *fixture, mode_t mode)
{
  return (TideListenRequest){.text = fixture->text, .option = "service.http", .mode = mode};
}

static TideListenSocket
open_socket(const ListenSocketFixture *fixture, mode_t mode)
{
  TideListenRequest request = request_of(fixture, mode);
  TideListenSocket listener;
  g_autoptr(GError) error = NULL;
  g_assert_true(tide_listen_socket_open(&request, &listener, &error));
  g_assert_no_error(error);
  g_assert_cmpint(listener.fd, >=, 0);
  return listener;
}

/* A socket that nobody listens on any more, as a process leaves it that was killed. */
static void
leave_socket(const ListenSocketFixture *fixture)
{
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  g_strlcpy(address.sun_path, fixture->path, sizeof address.sun_path);
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  g_assert_cmpint(bind(fd, (const struct sockaddr *)&address, sizeof address), ==, 0);
  g_assert_cmpint(listen(fd, 1), ==, 0);
  close(fd);
}

static mode_t
mode_of(const ListenSocketFixture *fixture)
{
  struct stat info;
  g_assert_cmpint(lstat(fixture->path, &info), ==, 0);
  g_assert_true(S_ISSOCK(info.st_mode));
  return info.st_mode & 07777u;
}

#define FIXTURE_TEST(path) TEST_WITH(ListenSocketFixture, setup, teardown, path)

FIXTURE_TEST("/listen-socket/unix/mode")
{
  static const mode_t modes[] = {0600, 0660, 0666};
  for (gsize i = 0; i < G_N_ELEMENTS(modes); i++) {
    mode_t before = umask(0077);
    TideListenSocket listener = open_socket(fixture, modes[i]);
    umask(before);
    g_assert_cmpuint(mode_of(fixture), ==, modes[i]);
    tide_listen_socket_close(&listener);
    g_assert_false(g_file_test(fixture->path, G_FILE_TEST_EXISTS));
  }
}

FIXTURE_TEST("/listen-socket/unix/a-deserted-one-is-replaced")
{
  leave_socket(fixture);
  TideListenRequest request = request_of(fixture, 0660);
  g_assert_true(tide_listen_socket_try(&request, NULL));
  g_assert_true(g_file_test(fixture->path, G_FILE_TEST_EXISTS)); /* a try changes nothing */
  TideListenSocket listener = open_socket(fixture, 0660);
  tide_listen_socket_close(&listener);
}

static void
assert_refused(const ListenSocketFixture *fixture, int start_code, int try_code, const char *message)
{
  TideListenRequest request = request_of(fixture, 0660);
  TideListenSocket listener;
  g_autoptr(GError) error = NULL, try_error = NULL;
  g_assert_false(tide_listen_socket_open(&request, &listener, &error));
  g_assert_error(error, TIDE_ERROR, start_code);
  g_assert_nonnull(strstr(error->message, message));
  g_assert_nonnull(strstr(error->message, "'service.http'"));
  g_assert_false(tide_listen_socket_try(&request, &try_error));
  g_assert_error(try_error, TIDE_ERROR, try_code);
  g_assert_cmpstr(try_error->message, ==, error->message);
}

FIXTURE_TEST("/listen-socket/unix/one-in-use-is-left")
{
  TideListenSocket listener = open_socket(fixture, 0660);
  assert_refused(fixture, TIDE_ERROR_UNAVAILABLE, TIDE_ERROR_IN_USE, "another process listens there");
  g_assert_cmpuint(mode_of(fixture), ==, 0660);
  tide_listen_socket_close(&listener);
}

/* A check of a host on which the daemon runs tells this from an address that cannot be had. */
TEST("/listen-socket/tcp/a-port-in-use-is-told-apart")
{
  TideListenRequest request = {.text = "127.0.0.1:0", .option = "service.http"};
  TideListenSocket listener, other;
  g_autoptr(GError) error = NULL, try_error = NULL;
  g_assert_true(tide_listen_socket_open(&request, &listener, NULL));
  g_autofree char *taken = g_strdup_printf("127.0.0.1:%u", tide_listen_socket_port(&listener));
  request.text = taken;
  g_assert_false(tide_listen_socket_open(&request, &other, &error));
  g_assert_error(error, TIDE_ERROR, TIDE_ERROR_UNAVAILABLE);
  g_assert_nonnull(
      strstr(error->message, "another process uses it; stop that one, or choose another port in 'service.http'"));
  g_assert_false(tide_listen_socket_try(&request, &try_error));
  g_assert_error(try_error, TIDE_ERROR, TIDE_ERROR_IN_USE);
  tide_listen_socket_close(&listener);
}

FIXTURE_TEST("/listen-socket/unix/no-socket-is-left")
{
  g_assert_true(g_file_set_contents(fixture->path, "precious", -1, NULL));
  assert_refused(fixture, TIDE_ERROR_UNAVAILABLE, TIDE_ERROR_UNAVAILABLE, "the path is not a socket");
  g_autofree char *content = NULL;
  g_assert_true(g_file_get_contents(fixture->path, &content, NULL, NULL));
  g_assert_cmpstr(content, ==, "precious");
  g_assert_cmpint(g_remove(fixture->path), ==, 0);

  g_autofree char *target = g_build_filename(fixture->directory, "target", NULL);
  g_assert_cmpint(symlink(target, fixture->path), ==, 0); /* would lead elsewhere */
  assert_refused(fixture, TIDE_ERROR_UNAVAILABLE, TIDE_ERROR_UNAVAILABLE, "the path is not a socket");
  g_assert_cmpint(g_remove(fixture->path), ==, 0);
}

/* A second process that took the path meanwhile keeps it. */
FIXTURE_TEST("/listen-socket/unix/only-our-own-is-removed")
{
  TideListenSocket listener = open_socket(fixture, 0660);
  g_assert_cmpint(g_remove(fixture->path), ==, 0);
  leave_socket(fixture);
  tide_listen_socket_close(&listener);
  g_assert_true(g_file_test(fixture->path, G_FILE_TEST_EXISTS));
  g_assert_cmpint(g_remove(fixture->path), ==, 0);
}

FIXTURE_TEST("/listen-socket/unix/a-missing-directory-is-said")
{
  g_free(fixture->text);
  fixture->text = g_strconcat("unix:", fixture->directory, "/none/http.socket", NULL);
  assert_refused(fixture, TIDE_ERROR_UNAVAILABLE, TIDE_ERROR_UNAVAILABLE, "create its directory");
}

/* ---- what others do meanwhile ---- */

/* Done once when the program under test calls bind() or unlink(), before or behind the call itself. */
static void (*behind_bind)(const ListenSocketFixture *fixture);
static void (*before_unlink)(const ListenSocketFixture *fixture);
static const ListenSocketFixture *meddled;

static void
meddle(void (**what)(const ListenSocketFixture *fixture))
{
  void (*now)(const ListenSocketFixture *fixture) = *what;
  *what = NULL;
  if (now != NULL)
    now(meddled);
}

/* In the place of libc's. */
int
bind(int fd, const struct sockaddr *address, socklen_t address_bytes)
{
  int result = (int)syscall(SYS_bind, fd, address, address_bytes);
  int error_number = errno;
  meddle(&behind_bind);
  errno = error_number;
  return result;
}

int
unlink(const char *path)
{
  meddle(&before_unlink);
  return (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}

static char *
target_of(const ListenSocketFixture *fixture)
{
  return g_build_filename(fixture->directory, "target", NULL);
}

static void
put_link(const ListenSocketFixture *fixture)
{
  g_autofree char *target = target_of(fixture);
  g_assert_cmpint(g_remove(fixture->path), ==, 0);
  g_assert_cmpint(symlink(target, fixture->path), ==, 0);
}

FIXTURE_TEST("/listen-socket/unix/E15-a-link-is-not-followed")
{
  g_autofree char *target = target_of(fixture);
  g_assert_true(g_file_set_contents_full(target, "precious", -1, G_FILE_SET_CONTENTS_NONE, 0600, NULL));
  TideListenRequest request = request_of(fixture, 0666);
  TideListenSocket listener;
  g_autoptr(GError) error = NULL;
  meddled = fixture;
  behind_bind = put_link;
  g_assert_false(tide_listen_socket_open(&request, &listener, &error));
  g_assert_error(error, TIDE_ERROR, TIDE_ERROR_UNAVAILABLE);
  struct stat info;
  g_assert_cmpint(lstat(target, &info), ==, 0);
  g_assert_cmpuint(info.st_mode & 07777u, ==, 0600);
  g_assert_cmpint(g_remove(target), ==, 0);
}

/* The second start is done, or waits for the first. */
static pthread_mutex_t second_lock =
    PTHREAD_MUTEX_INITIALIZER; /* not GLib's, which the thread sanitizer does not know */
static pthread_cond_t second_changed = PTHREAD_COND_INITIALIZER;
static gboolean second_waits, second_is_done;
static GThread *second;

static void
tell(gboolean *what)
{
  pthread_mutex_lock(&second_lock);
  *what = TRUE;
  pthread_cond_signal(&second_changed);
  pthread_mutex_unlock(&second_lock);
}

/* In the place of libc's. */
int
flock(int fd, int operation)
{
  int result = (int)syscall(SYS_flock, fd, operation);
  int error_number = errno;
  if (result != 0)
    tell(&second_waits);
  errno = error_number;
  return result;
}

static gpointer
start_second(gpointer data)
{
  const ListenSocketFixture *fixture = data;
  TideListenRequest request = request_of(fixture, 0660);
  TideListenSocket *listener = g_new0(TideListenSocket, 1);
  gboolean is_open = tide_listen_socket_open(&request, listener, NULL);
  if (!is_open)
    g_clear_pointer(&listener, g_free);
  tell(&second_is_done);
  return listener;
}

static void
let_second_start(const ListenSocketFixture *fixture)
{
  second = g_thread_new("second", start_second, (gpointer)fixture);
  pthread_mutex_lock(&second_lock);
  while (!second_waits && !second_is_done)
    pthread_cond_wait(&second_changed, &second_lock);
  pthread_mutex_unlock(&second_lock);
}

/* Both find a socket that a killed process left: one of them gets the path, the other one leaves it alone. */
FIXTURE_TEST("/listen-socket/unix/E15-two-starts")
{
  leave_socket(fixture);
  meddled = fixture;
  before_unlink = let_second_start;
  TideListenSocket first = open_socket(fixture, 0660);
  TideListenSocket *second_listener = g_thread_join(second);
  g_assert_null(second_listener);
  tide_listen_socket_close(&first);
}
