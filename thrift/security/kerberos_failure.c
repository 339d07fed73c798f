/* Explains a Kerberos failure to the operator from its codes: a sentence with the cause and the next action. */
#include "thrift/security/gss_context.h"

#include <gssapi/gssapi.h>
#include <krb5.h>
#include <string.h>

typedef enum Meaning {
  SERVICE_UNKNOWN,
  CLIENT_UNKNOWN,
  CLIENT_CLOSED,
  WRONG_KEY,
  EXPIRED,
  NO_TICKET,
  CACHE_UNREADABLE,
  KDC_AWAY,
  REALM_UNKNOWN,
  FOREIGN_REALM,
  CLOCK,
  KEY_TYPES,
  BAD_CONFIGURATION,
  WRONG_GATEWAY,
  OTHER,
} Meaning;

static const struct {
  krb5_error_code code;
  Meaning meaning;
} meanings[] = {
    {KRB5KDC_ERR_S_PRINCIPAL_UNKNOWN, SERVICE_UNKNOWN},
    {KRB5KDC_ERR_C_PRINCIPAL_UNKNOWN, CLIENT_UNKNOWN},
    {KRB5KDC_ERR_NAME_EXP, CLIENT_CLOSED},
    {KRB5KDC_ERR_CLIENT_REVOKED, CLIENT_CLOSED},
    {KRB5KDC_ERR_KEY_EXP, CLIENT_CLOSED},
    {KRB5KDC_ERR_PREAUTH_FAILED, WRONG_KEY},
    {KRB5KRB_AP_ERR_BAD_INTEGRITY, WRONG_KEY},
    {KRB5_KT_NOTFOUND, WRONG_KEY},
    {KRB5KRB_AP_ERR_TKT_EXPIRED, EXPIRED},
    {KRB5_CC_NOTFOUND, NO_TICKET},
    {KRB5_FCC_NOFILE, NO_TICKET},
    {KRB5_FCC_PERM, CACHE_UNREADABLE},
    {KRB5_CC_FORMAT, CACHE_UNREADABLE},
    {KRB5_CC_IO, CACHE_UNREADABLE},
    {KRB5_CC_BADNAME, CACHE_UNREADABLE},
    {KRB5_CC_UNKNOWN_TYPE, CACHE_UNREADABLE},
    {KRB5_KDC_UNREACH, KDC_AWAY},
    {KRB5_REALM_CANT_RESOLVE, KDC_AWAY},
    {KRB5_REALM_UNKNOWN, REALM_UNKNOWN},
    {KRB5_CONFIG_NODEFREALM, REALM_UNKNOWN},
    {KRB5KRB_AP_ERR_SKEW, CLOCK},
    {KRB5KRB_AP_ERR_TKT_NYV, CLOCK},
    {KRB5_KDCREP_SKEW, CLOCK},
    {KRB5KDC_ERR_ETYPE_NOSUPP, KEY_TYPES},
    {KRB5_CONFIG_ETYPE_NOSUPP, KEY_TYPES},
    {KRB5_CONFIG_CANTOPEN, BAD_CONFIGURATION},
    {KRB5_CONFIG_BADFORMAT, BAD_CONFIGURATION},
    {KRB5_MUTUAL_FAILED, WRONG_GATEWAY},
    {KRB5KRB_AP_ERR_MODIFIED, WRONG_GATEWAY},
};

static Meaning
meaning_of(const TideKerberosSituation *situation, guint32 major, guint32 minor, const char *text)
{
  if (situation->answered) /* whatever is wrong with the token, it is not from the holder of the key */
    return WRONG_GATEWAY;
  if ((guint32)KRB5KDC_ERR_S_PRINCIPAL_UNKNOWN == minor && strstr(text, "krbtgt/") != NULL)
    return FOREIGN_REALM;
  for (gsize i = 0; i < G_N_ELEMENTS(meanings); i++) {
    if ((guint32)meanings[i].code == minor)
      return meanings[i].meaning;
  }
  if (GSS_ROUTINE_ERROR(major) == GSS_S_CREDENTIALS_EXPIRED)
    return EXPIRED;
  return GSS_ROUTINE_ERROR(major) == GSS_S_NO_CRED ? NO_TICKET : OTHER;
}

/* "the keytab '/etc/x'", "the ticket cache 'FILE:/x'": the source of our credentials. */
static char *
source_of(const TideKerberosSituation *situation)
{
  if (situation->keytab != NULL)
    return g_strdup_printf("the keytab '%s'", situation->keytab);
  if (situation->cache != NULL)
    return g_strdup_printf("the ticket cache '%s'", situation->cache);
  return g_strdup("the default ticket cache");
}

static const char *
principal_of(const TideKerberosSituation *situation)
{
  return situation->principal != NULL ? situation->principal : "the cache's principal";
}

/* The requested host, if Kerberos has replaced the configured host. (transfer full) (nullable) */
static char *
canonical_host(const TideKerberosSituation *situation, const char *text)
{
  g_autofree char *before = g_strconcat("Server ", situation->service, "/", NULL);
  const char *host = strstr(text, before);
  if (host == NULL)
    return NULL;
  host += strlen(before);
  g_autofree char *asked = g_strndup(host, strcspn(host, "@ "));
  return g_ascii_strcasecmp(asked, situation->host) != 0 ? g_steal_pointer(&asked) : NULL;
}

/* Explains that the gateway has another name; an address is never the name of a service. */
static char *
service_unknown(const TideKerberosSituation *situation, const char *text)
{
  g_autofree char *canonical = canonical_host(situation, text);
  if (canonical != NULL)
    return g_strdup_printf("the KDC does not know '%s/%s', which Kerberos derived from '%s' by DNS: set "
                           "'dns_canonicalize_hostname = false' and 'rdns = false' in [libdefaults] of krb5.conf",
                           situation->service, canonical, situation->host);
  gboolean is_address = g_hostname_is_ip_address(situation->host);
  if (strcmp(situation->service, "HTTP") == 0)
    return g_strdup_printf("the KDC does not know '%s/%s': set 'hbase.http.host' to the second part of the gateway's "
                           "'hbase.thrift.spnego.principal'",
                           situation->service, situation->host);
  return g_strdup_printf("the KDC does not know '%s/%s': set %s%s, as in its 'hbase.thrift.kerberos.principal'",
                         situation->service, situation->host,
                         is_address
                             ? "'hbase.sasl.host' to the gateway's name instead of its address"
                             : "'hbase.sasl.service' and 'hbase.sasl.host' to the two parts of the gateway's principal",
                         is_address ? ", and 'hbase.sasl.service'" : "");
}

/* We have no valid ticket and cannot get one. */
static char *
no_ticket(const TideKerberosSituation *situation, const char *what)
{
  if (situation->keytab != NULL)
    return g_strdup_printf("%s, and the KDC issued no new one for the keytab '%s': it may be down", what,
                           situation->keytab);
  g_autofree char *source = source_of(situation);
  return g_strdup_printf("%s in %s: set 'hbase.kerberos.keytab', which needs no kinit, or run kinit", what, source);
}

static char *
about_keys(const TideKerberosSituation *situation)
{
  if (situation->keytab == NULL)
    return g_strdup("the KDC rejected the key: run kinit again");
  return g_strdup_printf("the key of '%s' in the keytab '%s' differs from the KDC's: each 'ktadd' creates new keys, so "
                         "fetch the newest keytab",
                         principal_of(situation), situation->keytab);
}

static char *
about_client(const TideKerberosSituation *situation, const char *what)
{
  g_autofree char *source = source_of(situation);
  return g_strdup_printf("the KDC %s '%s', which is in %s: ask the KDC's administrator", what, principal_of(situation),
                         source);
}

/* The cause and the remedy, without Kerberos's own text. Ownership: (transfer full). NULL: unknown. */
static char *
explain(const TideKerberosSituation *situation, Meaning meaning, const char *text)
{
  switch (meaning) {
  case SERVICE_UNKNOWN:
    return service_unknown(situation, text);
  case CLIENT_UNKNOWN:
    return about_client(situation, "does not know");
  case CLIENT_CLOSED:
    return about_client(situation, "has locked or expired");
  case WRONG_KEY:
    return about_keys(situation);
  case EXPIRED:
    return no_ticket(situation, "the ticket has expired");
  case NO_TICKET:
    return no_ticket(situation, "there is no ticket");
  case CACHE_UNREADABLE:
    return g_strdup("the ticket cache cannot be used: set 'hbase.kerberos.cache' to one that this user can read, such "
                    "as FILE:/path");
  case KDC_AWAY:
    return g_strdup("no KDC answers: it is down, or krb5.conf names another host or port");
  case REALM_UNKNOWN:
    return g_strdup(
        "krb5.conf has no KDC for the realm: add the realm to [realms], and the gateway's host to [domain_realm]");
  case FOREIGN_REALM:
    return g_strdup_printf("'%s' is treated as a host of another realm, which this KDC cannot reach: add its realm to "
                           "[domain_realm] of krb5.conf",
                           situation->host);
  case CLOCK:
    return g_strdup("the clocks of this machine, the KDC and the gateway differ by more than five minutes");
  case KEY_TYPES:
    return g_strdup(
        "the KDC and this machine have no key type in common: create new keys of type aes256-cts or aes128-cts");
  case BAD_CONFIGURATION:
    return g_strdup("krb5.conf cannot be read (its path is in 'KRB5_CONFIG', by default /etc/krb5.conf)");
  case WRONG_GATEWAY:
    return g_strdup_printf("it could not prove that it is '%s/%s': another service answers there", situation->service,
                           situation->host);
  case OTHER:
    break;
  }
  return NULL;
}

char *
tide_kerberos_failure_text(const TideKerberosSituation *situation, guint32 major, guint32 minor, const char *text)
{
  g_autofree char *explained = explain(situation, meaning_of(situation, major, minor, text), text);
  if (explained == NULL)
    return g_strdup_printf("cannot authenticate to gateway '%s' by Kerberos: '%s' (status 0x%x, %d)", situation->peer,
                           text, major, (int)(gint32)minor);
  return g_strdup_printf("cannot authenticate to gateway '%s' by Kerberos: %s ('%s')", situation->peer, explained,
                         text);
}

char *
tide_kerberos_silence_text(const TideKerberosSituation *situation, gint64 waited_ms)
{
  /* Rounded, so that the text stays the same: a new text is logged again. */
  gint64 step_ms = waited_ms < 1000 ? 10 : 100;
  return g_strdup_printf(
      "cannot authenticate to gateway '%s' by Kerberos: the KDC did not answer within %" G_GINT64_FORMAT
      " ms: it hangs, or a firewall drops its packets",
      situation->peer, (waited_ms + step_ms / 2) / step_ms * step_ms);
}
