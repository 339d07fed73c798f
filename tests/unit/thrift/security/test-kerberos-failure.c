/* Each failure of Kerberos has its sentence: what the codes, and Kerberos's own, often misleading, words come to. */
#include "thrift/security/gss_context.h"

#include "unit/test_case.h"

#include <gssapi/gssapi.h>
#include <krb5.h>

typedef enum Source {
  KEYTAB,
  CACHE,
  DEFAULT_CACHE,
  ANSWER, /* a keytab, and the gateway has answered */
} Source;

static TideKerberosSituation
situation_of(Source source, const char *host)
{
  return (TideKerberosSituation){
      .peer = "gw:9090",
      .service = "hbase",
      .host = host,
      .principal = source == KEYTAB || source == ANSWER ? "tidemark@R" : NULL,
      .keytab = source == KEYTAB || source == ANSWER ? "/etc/t.keytab" : NULL,
      .cache = source == CACHE ? "FILE:/tmp/cc" : NULL,
      .answered = source == ANSWER,
  };
}

static const struct Sentence {
  const char *name;
  Source source;
  const char *host;
  guint32 major;
  krb5_error_code minor;
  const char *text;
  const char *explained;
} cases[] = {
    {"unknown-service", KEYTAB, "gw", GSS_S_FAILURE, KRB5KDC_ERR_S_PRINCIPAL_UNKNOWN, "Server hbase/gw@R not found",
     "the KDC does not know 'hbase/gw': set 'hbase.sasl.service' and 'hbase.sasl.host' to the two parts of the "
     "gateway's principal, as in its 'hbase.thrift.kerberos.principal' ('Server hbase/gw@R not found')"},
    {"canonical-name", KEYTAB, "gw", GSS_S_FAILURE, KRB5KDC_ERR_S_PRINCIPAL_UNKNOWN,
     "Server hbase/balancer.example.com@R not found",
     "the KDC does not know 'hbase/balancer.example.com', which Kerberos derived from 'gw' by DNS: set "
     "'dns_canonicalize_hostname = false' and 'rdns = false' in [libdefaults] of krb5.conf ('Server "
     "hbase/balancer.example.com@R not found')"},
    {"address-as-host", KEYTAB, "10.0.0.7", GSS_S_FAILURE, KRB5KDC_ERR_S_PRINCIPAL_UNKNOWN, "Server not found",
     "the KDC does not know 'hbase/10.0.0.7': set 'hbase.sasl.host' to the gateway's name instead of its address, and "
     "'hbase.sasl.service', as in its 'hbase.thrift.kerberos.principal' ('Server not found')"},
    {"foreign-realm", KEYTAB, "gw", GSS_S_FAILURE, KRB5KDC_ERR_S_PRINCIPAL_UNKNOWN, "Server krbtgt/B@A not found",
     "'gw' is treated as a host of another realm, which this KDC cannot reach: add its realm to [domain_realm] of "
     "krb5.conf ('Server krbtgt/B@A not found')"},
    {"no-ticket", DEFAULT_CACHE, "gw", GSS_S_NO_CRED, KRB5_FCC_NOFILE, "No Kerberos credentials available",
     "there is no ticket in the default ticket cache: set 'hbase.kerberos.keytab', which needs no kinit, or run kinit "
     "('No Kerberos credentials available')"},
    {"no-ticket-in-cache", CACHE, "gw", GSS_S_NO_CRED, 12345, "whatever",
     "there is no ticket in the ticket cache 'FILE:/tmp/cc': set 'hbase.kerberos.keytab', which needs no kinit, or run "
     "kinit ('whatever')"},
    {"no-ticket-by-keytab", KEYTAB, "gw", GSS_S_NO_CRED, KRB5_CC_NOTFOUND, "No credentials cache found",
     "there is no ticket, and the KDC issued no new one for the keytab '/etc/t.keytab': it may be down ('No "
     "credentials "
     "cache found')"},
    {"expired", CACHE, "gw", GSS_S_CREDENTIALS_EXPIRED, 0, "Ticket expired",
     "the ticket has expired in the ticket cache 'FILE:/tmp/cc': set 'hbase.kerberos.keytab', which needs no kinit, or "
     "run kinit ('Ticket expired')"},
    {"expired-by-code", CACHE, "gw", GSS_S_FAILURE, KRB5KRB_AP_ERR_TKT_EXPIRED, "Ticket expired",
     "the ticket has expired in the ticket cache 'FILE:/tmp/cc': set 'hbase.kerberos.keytab', which needs no kinit, or "
     "run kinit ('Ticket expired')"},
    {"unreadable-cache", CACHE, "gw", GSS_S_FAILURE, KRB5_FCC_PERM, "Credentials cache permissions incorrect",
     "the ticket cache cannot be used: set 'hbase.kerberos.cache' to one that this user can read, such as FILE:/path "
     "('Credentials cache permissions incorrect')"},
    {"unknown-client", KEYTAB, "gw", GSS_S_FAILURE, KRB5KDC_ERR_C_PRINCIPAL_UNKNOWN, "Client not found",
     "the KDC does not know 'tidemark@R', which is in the keytab '/etc/t.keytab': ask the KDC's administrator "
     "('Client not found')"},
    {"locked-client", KEYTAB, "gw", GSS_S_FAILURE, KRB5KDC_ERR_CLIENT_REVOKED, "credentials have been revoked",
     "the KDC has locked or expired 'tidemark@R', which is in the keytab '/etc/t.keytab': ask the KDC's administrator "
     "('credentials have been revoked')"},
    {"old-key", KEYTAB, "gw", GSS_S_FAILURE, KRB5KDC_ERR_PREAUTH_FAILED, "Preauthentication failed",
     "the key of 'tidemark@R' in the keytab '/etc/t.keytab' differs from the KDC's: each 'ktadd' creates new keys, so "
     "fetch the newest keytab ('Preauthentication failed')"},
    {"no-kdc", KEYTAB, "gw", GSS_S_FAILURE, KRB5_KDC_UNREACH, "Cannot contact any KDC for realm 'R'",
     "no KDC answers: it is down, or krb5.conf names another host or port ('Cannot contact any KDC for realm 'R'')"},
    {"no-realm", KEYTAB, "gw", GSS_S_FAILURE, KRB5_REALM_UNKNOWN, "Cannot find KDC for realm 'R'",
     "krb5.conf has no KDC for the realm: add the realm to [realms], and the gateway's host to [domain_realm] ('Cannot "
     "find "
     "KDC for realm 'R'')"},
    {"clock", KEYTAB, "gw", GSS_S_FAILURE, KRB5_KDCREP_SKEW, "Clock skew too great in KDC reply",
     "the clocks of this machine, the KDC and the gateway differ by more than five minutes ('Clock skew too great in "
     "KDC reply')"},
    {"key-types", KEYTAB, "gw", GSS_S_FAILURE, KRB5KDC_ERR_ETYPE_NOSUPP, "no support for encryption type",
     "the KDC and this machine have no key type in common: create new keys of type aes256-cts or aes128-cts ('no "
     "support "
     "for encryption type')"},
    {"krb5.conf", KEYTAB, "gw", GSS_S_FAILURE, KRB5_CONFIG_BADFORMAT, "Improper format",
     "krb5.conf cannot be read (its path is in 'KRB5_CONFIG', by default /etc/krb5.conf) ('Improper format')"},
    {"another-gateway", ANSWER, "gw", GSS_S_DEFECTIVE_TOKEN, 0, "Invalid token was supplied",
     "it could not prove that it is 'hbase/gw': another service answers there ('Invalid token was supplied')"},
    {"unknown-code", KEYTAB, "gw", GSS_S_FAILURE, 42, "odd", "'odd' (status 0xd0000, 42)"},
};

TEST_EACH("/kerberos-failure/", cases)
{
  const struct Sentence *it = data;
  TideKerberosSituation situation = situation_of(it->source, it->host);
  g_autofree char *text = tide_kerberos_failure_text(&situation, it->major, (guint32)it->minor, it->text);
  g_autofree char *expected =
      g_strconcat("cannot authenticate to gateway 'gw:9090' by Kerberos: ", it->explained, NULL);
  g_assert_cmpstr(text, ==, expected);
}

/* Over HTTP it is another option that names the gateway's principal. */
TEST("/kerberos-failure/service-of-http")
{
  TideKerberosSituation situation = situation_of(KEYTAB, "gw");
  situation.service = "HTTP";
  g_autofree char *text = tide_kerberos_failure_text(&situation, GSS_S_FAILURE,
                                                     (guint32)KRB5KDC_ERR_S_PRINCIPAL_UNKNOWN, "Server not found");
  g_assert_cmpstr(text, ==,
                  "cannot authenticate to gateway 'gw:9090' by Kerberos: the KDC does not know 'HTTP/gw': set "
                  "'hbase.http.host' to the second part of the gateway's 'hbase.thrift.spnego.principal' ('Server not "
                  "found')");
}

/* The text is the same whether a millisecond more or less is left. */
TEST("/kerberos-failure/silent-kdc")
{
  static const struct {
    gint64 waited_ms;
    const char *shown;
  } waits[] = {{48, "50"}, {999, "1000"}, {1001, "1000"}, {1500, "1500"}, {2951, "3000"}};
  TideKerberosSituation situation = situation_of(KEYTAB, "gw");
  for (gsize i = 0; i < G_N_ELEMENTS(waits); i++) {
    g_autofree char *text = tide_kerberos_silence_text(&situation, waits[i].waited_ms);
    g_autofree char *expected =
        g_strdup_printf("cannot authenticate to gateway 'gw:9090' by Kerberos: the KDC did not answer within %s ms: it "
                        "hangs, or a firewall drops its packets",
                        waits[i].shown);
    g_assert_cmpstr(text, ==, expected);
  }
}
