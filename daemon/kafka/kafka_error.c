#include "kafka/kafka_error.h"

#include "kafka/kafka_library.h"
#include "util/error.h"

#include <openssl/x509_vfy.h>
#include <stdatomic.h>
#include <string.h>

/* The last errors that OpenSSL found, which librdkafka does not pass on: the hash of the broker's name, then the error.
 * All clients share them. If two brokers share a slot, the overwritten one gets the general remedy. */
static _Atomic guint64 last_certificate_errors[TIDE_KAFKA_ERROR_PLACES];

static _Atomic guint64 *
place_of(const char *broker)
{
  return &last_certificate_errors[g_str_hash(broker) % TIDE_KAFKA_ERROR_PLACES];
}

static guint64
certificate_error(const char *broker, int error)
{
  return (guint64)g_str_hash(broker) << 32 | (guint32)error;
}

void
tide_kafka_error_remember_certificate(const char *broker, int error)
{
  atomic_store(place_of(broker), certificate_error(broker, error));
}

/* Called from librdkafka's broker threads, once for each certificate of a chain. TRUE would continue the handshake
 * whatever OpenSSL found, if librdkafka did not check again (2.0.2 does). So TRUE is returned only without an error. */
static int
on_certificate(rd_kafka_t *kafka, const char *broker, int32_t broker_id, int *error, int depth, const char *der,
               size_t size, char *reason, size_t reason_size, void *opaque)
{
  (void)kafka, (void)broker_id, (void)depth, (void)der, (void)size, (void)opaque;
  if (*error == X509_V_OK)
    return TRUE;
  tide_kafka_error_remember_certificate(broker, *error);
  g_strlcpy(reason, X509_verify_cert_error_string(*error), reason_size);
  return FALSE;
}

void
tide_kafka_error_watch_certificates(rd_kafka_conf_t *conf)
{
  char is_verified[8] = "";
  size_t size = sizeof is_verified;
  if (rd_kafka_conf_get(conf, "enable.ssl.certificate.verification", is_verified, &size) == RD_KAFKA_CONF_OK &&
      g_str_equal(is_verified, "true"))
    (void)rd_kafka_conf_set_ssl_cert_verify_cb(conf,
                                               on_certificate); /* fails in a build without TLS, which needs none */
}

const char *
tide_kafka_error_of_certificate(int error)
{
  switch (error) {
  case X509_V_ERR_CERT_HAS_EXPIRED:
    return "the broker's certificate, or one that signed it, has expired: renew it at the broker";
  case X509_V_ERR_CERT_NOT_YET_VALID:
    return "the broker's certificate is not valid yet: check the clocks of both hosts";
  case X509_V_ERR_HOSTNAME_MISMATCH:
  case X509_V_ERR_IP_ADDRESS_MISMATCH:
    return "the broker's certificate is for another host than 'kafka.brokers' or its advertised listener names";
  case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
  case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
  case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
  case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
  case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
  case X509_V_ERR_CERT_SIGNATURE_FAILURE:
    return "no certificate in 'ssl.ca.location' has signed the broker's certificate";
  default:
    return NULL;
  }
}

/* Explains "ssl://HOST:PORT/ID: …certificate verify failed…"; NULL: the error is unknown. */
static const char *
of_certificate(const char *reason)
{
  const char *name = strstr(reason, "://");
  const char *end = name != NULL ? strchr(name + 3, '/') : NULL;
  if (end == NULL || strstr(reason, "certificate verify failed") == NULL)
    return NULL;
  g_autofree char *broker = g_strndup(name + 3, (gsize)(end - name - 3));
  const guint64 last = atomic_load(place_of(broker));
  return certificate_error(broker, (int)(guint32)last) == last ? tide_kafka_error_of_certificate((int)(guint32)last)
                                                               : NULL;
}

/* The first match counts. Texts of librdkafka 2.0.2 to 2.16 with OpenSSL 3, MIT Kerberos and Kafka 4.1.1. */
static const struct {
  const char *words;
  const char *remedy;
} remedies[] = {
    {"certificate verify failed",
     "the broker's certificate is not signed by one in 'ssl.ca.location', has expired, or is for another host than "
     "'kafka.brokers' names; 'openssl s_client -connect HOST:PORT -CAfile FILE -verify_hostname HOST' shows which"},
    {"alert bad certificate", "the broker requires a client certificate that it trusts: check "
                              "'ssl.certificate.location' and 'ssl.key.location'"},
    {"alert certificate required", "the broker requires a client certificate that it trusts: check "
                                   "'ssl.certificate.location' and 'ssl.key.location'"},
    {"alert certificate unknown",
     "the broker does not trust the signer of the client certificate, or it has expired: check "
     "'ssl.certificate.location'"},
    {"alert certificate expired", "the client certificate has expired: renew 'ssl.certificate.location'"},
    {"unexpected eof while reading", "the port does not use TLS: check 'security.protocol' and the port"},
    {"wrong version number", "the port does not use TLS: check 'security.protocol' and the port"},
    {"No credentials were supplied", "there is no Kerberos ticket: check 'sasl.kerberos.keytab' and "
                                     "'sasl.kerberos.principal', or the ticket cache of this user"},
    {"No Kerberos credentials available", "there is no Kerberos ticket: check 'sasl.kerberos.keytab' and "
                                          "'sasl.kerberos.principal', or the ticket cache of this user"},
    {"No worthy mechs found", "the Cyrus SASL module for this mechanism is not installed (GSSAPI in Debian: "
                              "libsasl2-modules-gssapi-mit)"},
    {"not found in Kerberos database", "name the brokers by the host names of their principals, in 'kafka.brokers' and "
                                       "in their advertised listeners, and check 'sasl.kerberos.service.name'"},
    {"Ticket expired", "the Kerberos ticket has expired: a keytab renews it ('sasl.kerberos.keytab')"},
};

const char *
tide_kafka_error_remedy(const char *reason, const char *mechanism, guint32 version)
{
  const TideKafkaLibrary library = {.version = version};
  const char *of_broker = of_certificate(reason);
  if (of_broker != NULL)
    return of_broker;
  if (strstr(reason, "invalid credentials") != NULL && g_str_has_prefix(mechanism, "SCRAM-") &&
      !tide_kafka_library_can(&library, TIDE_KAFKA_SCRAM_NONCE))
    return "the password may be right: brokers since 3.7.2, 3.8.1 and 3.9.0 refuse SCRAM of librdkafka before 2.6.1 "
           "(CVE-2024-56128); use a newer one, or another mechanism";
  for (gsize i = 0; i < G_N_ELEMENTS(remedies); i++)
    if (strstr(reason, remedies[i].words) != NULL)
      return remedies[i].remedy;
  return NULL;
}

char *
tide_kafka_error_explain(const rd_kafka_t *kafka, const char *reason)
{
  char mechanism[64];
  size_t size = sizeof mechanism;
  if (rd_kafka_conf_get(rd_kafka_conf((rd_kafka_t *)kafka), "sasl.mechanisms", mechanism, &size) != RD_KAFKA_CONF_OK)
    mechanism[0] = '\0';
  const char *remedy = tide_kafka_error_remedy(reason, mechanism, (guint32)rd_kafka_version());
  return remedy != NULL ? g_strdup_printf("%s: %s", reason, remedy) : g_strdup(reason);
}

char *
tide_kafka_error_describe(rd_kafka_t *kafka, rd_kafka_resp_err_t *code)
{
  char reason[512];
  rd_kafka_resp_err_t fatal = rd_kafka_fatal_error(kafka, reason, sizeof reason);
  gboolean is_of_fatal = *code == RD_KAFKA_RESP_ERR__FATAL || *code == RD_KAFKA_RESP_ERR__PURGE_QUEUE ||
                         *code == RD_KAFKA_RESP_ERR__PURGE_INFLIGHT;
  if (!is_of_fatal || fatal == RD_KAFKA_RESP_ERR_NO_ERROR)
    return g_strdup(rd_kafka_err2str(*code));
  *code = fatal;
  return g_strdup(reason);
}

/* ---- rights ---- */

const char *
tide_kafka_principal(const TideKafkaConfig *config)
{
  const TideKafkaProperty *property = tide_config_find_property(config, "sasl.username");
  return property != NULL && !property->secret ? property->value : NULL;
}

static const struct {
  const char *refused, *operation, *option;
} rights[] = {
    [TIDE_KAFKA_ACL_READ] = {"may not read topic", "Read", "--topic"},
    [TIDE_KAFKA_ACL_WRITE] = {"may not write to topic", "Write", "--topic"},
    [TIDE_KAFKA_ACL_GROUP] = {"may not be in group", "Read", "--group"},
};

char *
tide_kafka_acl_hint(const TideKafkaConfig *config, TideKafkaAcl right, const char *name)
{
  const char *user = tide_kafka_principal(config);
  g_autofree char *who = user != NULL ? g_strdup_printf("user '%s'", user) : g_strdup("the user of this connection");
  g_autofree char *principal = g_strconcat("User:", user != NULL ? user : "NAME", NULL);
  g_autofree char *principal_word = tide_shell_word(principal);
  g_autofree char *name_word = tide_shell_word(name);
  return g_strdup_printf(
      "%s %s '%s': grant %s, for example with kafka-acls --add --allow-principal %s --operation %s %s %s", who,
      rights[right].refused, name, rights[right].operation, principal_word, rights[right].operation,
      rights[right].option, name_word);
}

char *
tide_kafka_acl_hint_absent(const TideKafkaConfig *config, TideKafkaAcl right, const char *name,
                           rd_kafka_resp_err_t code)
{
  static const char remedy[] = "create it, or correct its name";
  g_autofree char *missing = tide_kafka_acl_hint(config, right, name);
  if (code == RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED)
    return g_strdup_printf("is not shown, if it exists; %s", missing);
  if (code == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART)
    return g_strdup_printf("does not exist: %s", remedy);
  return g_strdup_printf("does not exist, or this user may not see it (%s): %s", rd_kafka_err2str(code), remedy);
}
