/* Heads of HTTP requests: what is taken out of them, and what is refused. */
#include "http/request_head.h"

#include <unistd.h>

static void
assert_text(TideBytes bytes, const char *expected)
{
  g_autofree char *text = g_strndup((const char *)bytes.data, bytes.len);
  g_assert_cmpstr(text, ==, expected);
}

static void
test_what_is_taken(void)
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

static void
test_what_is_refused(void)
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
static void
test_its_end(void)
{
  static const char text[] = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
  for (gsize len = 0; len < sizeof text - 1; len++)
    g_assert_cmpuint(tide_request_head_len(tide_bytes(text, len)), ==, 0);
  g_assert_cmpuint(tide_request_head_len(TIDE_BYTES_LITERAL("GET / HTTP/1.1\r\n\r\nbody\r\n\r\n")), ==, 18);
}

static void
test_hosts(void)
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

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/request-head/taken", test_what_is_taken);
  g_test_add_func("/request-head/refused", test_what_is_refused);
  g_test_add_func("/request-head/E11-E15-hosts", test_hosts);
  g_test_add_func("/request-head/end", test_its_end);
  return g_test_run();
}
