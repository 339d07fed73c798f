#include "thrift/http/http_refusal.h"

#include "util/error.h"

#include <string.h>

/* Maximum length of a quoted server text. */
#define WORDS_MAX_BYTES 300

/* A run this long without a space or a dot is a token in base64, in any alphabet and escaping: a server may quote the
 * token of the request. */
#define TOKEN_MIN_BYTES 40

static gboolean
is_of_base64(guint8 byte)
{
  return g_ascii_isalnum(byte) || (byte != '\0' && strchr("+/=-_%\\", byte) != NULL);
}

/* (transfer full) */
static GString *
without_tokens(TideBytes text)
{
  GString *shown = g_string_new(NULL);
  for (gsize at = 0; at < text.len;) {
    gsize end = at;
    while (end < text.len && is_of_base64(text.data[end]))
      end++;
    if (end - at >= TOKEN_MIN_BYTES)
      g_string_append(shown, "***");
    else {
      end = MAX(end, at + 1);
      g_string_append_len(shown, (const char *)text.data + at, (gssize)(end - at));
    }
    at = end;
  }
  return shown;
}

/* Jetty's line "MESSAGE: Authentication required"; empty if there is none. (transfer full) */
static char *
words_of(TideBytes page)
{
  static const char label[] = "MESSAGE:";
  const char *found = page.len > 0 ? g_strstr_len((const char *)page.data, (gssize)page.len, label) : NULL;
  if (found == NULL)
    return g_strdup("");
  found += sizeof label - 1;
  gsize left = page.len - (gsize)(found - (const char *)page.data);
  const char *end = memchr(found, '\n', left);
  gsize len = end != NULL ? (gsize)(end - found) : left;
  GString *shown = without_tokens(tide_bytes(found, len));
  char *words = tide_bytes_printable(tide_bytes(shown->str, MIN(shown->len, WORDS_MAX_BYTES)));
  g_string_free(shown, TRUE);
  return g_strstrip(words);
}

static void
explain_unauthorized(const TideHttpRefusal *refusal, const char *said, GError **error)
{
  if (refusal->principal != NULL)
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_WRONG_SERVICE,
                "gateway '%s' refuses tidemark's Kerberos ticket for '%s' (%s): compare that name with its "
                "'hbase.thrift.spnego.principal', and set 'hbase.http.host' to the host in it; the gateway's log shows "
                "the reason",
                refusal->peer, refusal->principal, said);
  else
    g_set_error(
        error, TIDE_ERROR, TIDE_ERROR_WRONG_SERVICE,
        "gateway '%s' requires authentication (%s): set 'hbase.kerberos', so that requests are authenticated by SPNEGO",
        refusal->peer, said);
}

/* A servlet failed. For some texts it is known that nothing was carried out. */
static void
explain_failure(const TideHttpRefusal *refusal, const char *words, const char *said, GError **error)
{
  const char *do_as = refusal->do_as != NULL ? refusal->do_as : "";
  if (strstr(words, "is not allowed to impersonate") != NULL)
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_WRONG_SERVICE,
                "gateway '%s' does not allow tidemark to write as '%s' (%s): set 'hadoop.proxyuser.USER.hosts' and "
                "'hadoop.proxyuser.USER.users' in its core-site.xml, with the short name of tidemark's principal for "
                "USER, or change 'hbase.http.do_as'",
                refusal->peer, do_as, said);
  else if (strstr(words, "Support for proxyuser is not configured") != NULL)
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_WRONG_SERVICE,
                "gateway '%s' does not allow writing as another user, '%s' (%s): set 'hbase.thrift.support.proxyuser' "
                "on the gateway, or remove 'hbase.http.do_as'",
                refusal->peer, do_as, said);
  else
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_SERVER_FAILED, "gateway '%s' failed: %s", refusal->peer, said);
}

void
tide_http_refusal_explain(const TideHttpRefusal *refusal, GError **error)
{
  g_autofree char *words = words_of(refusal->page);
  g_autofree char *said = g_strdup_printf("HTTP status %u%s%s", refusal->status, words[0] != '\0' ? ": " : "", words);
  guint status = refusal->status;
  if (status == 401)
    explain_unauthorized(refusal, said, error);
  else if (status == 403 || status == 407)
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_WRONG_SERVICE, "gateway '%s', or a proxy before it, denies access (%s)",
                refusal->peer, said);
  else if (status == 413)
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_TOO_BIG,
                "gateway '%s', or a proxy before it, refuses a request of %" G_GSIZE_FORMAT
                " bytes (%s): raise its limit (nginx: 'client_max_body_size'), or lower 'batch.max_bytes'",
                refusal->peer, refusal->request_bytes, said);
  else if (status == 414 || status == 431)
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_WRONG_SERVICE,
                "gateway '%s', or a proxy before it, refuses a request header as long as tidemark's (%s), regardless "
                "of the body: raise its limit (nginx: 'large_client_header_buffers'); most of the header is the "
                "Kerberos ticket, which is long for users in many groups",
                refusal->peer, said);
  else if (status >= 300 && status < 400)
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_WRONG_SERVICE,
                "gateway '%s' redirects requests (%s), and tidemark does not follow redirects: configure the gateway's "
                "own address",
                refusal->peer, said);
  else if (status >= 400 && status < 500)
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_WRONG_SERVICE,
                "'%s' is a web server, but no gateway accepts requests there (%s): check port and path", refusal->peer,
                said);
  else if (status == 500)
    explain_failure(refusal, words, said, error);
  else
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_SERVER_FAILED, "gateway '%s', or a proxy before it, failed: %s",
                refusal->peer, said);
}
