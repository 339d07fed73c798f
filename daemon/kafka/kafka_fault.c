#include "kafka/kafka_fault.h"

#include "kafka/kafka_library.h"

#include <string.h>

/* The first that fits; texts of librdkafka 2.0.2 to 2.16 with OpenSSL 3, MIT Kerberos and Kafka 4.1.1. */
static const struct {
  const char *words;
  const char *remedy;
} remedies[] = {
    {"certificate verify failed",
     "the broker's certificate is not signed by one in 'ssl.ca.location', has ended, or is for another host than "
     "'kafka.brokers' names; 'openssl s_client -connect HOST:PORT -CAfile FILE -verify_hostname HOST' tells which"},
    {"alert bad certificate", "the broker asks for a certificate of ours that it trusts: see "
                              "'ssl.certificate.location' and 'ssl.key.location'"},
    {"alert certificate required", "the broker asks for a certificate of ours that it trusts: see "
                                   "'ssl.certificate.location' and 'ssl.key.location'"},
    {"alert certificate unknown", "the broker does not know who signed our certificate, or it has ended: see "
                                  "'ssl.certificate.location'"},
    {"alert certificate expired", "our certificate has ended: renew 'ssl.certificate.location'"},
    {"unexpected eof while reading", "the port speaks no TLS: see 'security.protocol' and the port"},
    {"wrong version number", "the port speaks no TLS: see 'security.protocol' and the port"},
    {"No credentials were supplied", "there is no Kerberos ticket: see 'sasl.kerberos.keytab' and "
                                     "'sasl.kerberos.principal', or the ticket cache of this user"},
    {"No Kerberos credentials available", "there is no Kerberos ticket: see 'sasl.kerberos.keytab' and "
                                          "'sasl.kerberos.principal', or the ticket cache of this user"},
    {"No worthy mechs found", "the module of Cyrus SASL for this mechanism is not installed (GSSAPI in Debian: "
                              "libsasl2-modules-gssapi-mit)"},
    {"not found in Kerberos database", "name the brokers as their principals do, by host name, in 'kafka.brokers' and "
                                       "in their advertised listeners, and see 'sasl.kerberos.service.name'"},
    {"Ticket expired", "the Kerberos ticket has ended: a keytab renews it ('sasl.kerberos.keytab')"},
};

const char *
tide_kafka_fault_remedy(const char *reason, const char *mechanism, guint32 version)
{
  const TideKafkaLibrary library = {.version = version};
  if (strstr(reason, "invalid credentials") != NULL && g_str_has_prefix(mechanism, "SCRAM-") &&
      !tide_kafka_library_can(&library, TIDE_KAFKA_SCRAM_NONCE))
    return "the password may be right: brokers since 3.7.2, 3.8.1 and 3.9.0 refuse SCRAM of librdkafka before 2.6.1 "
           "(CVE-2024-56128); run with a newer one, or use another mechanism";
  for (gsize i = 0; i < G_N_ELEMENTS(remedies); i++)
    if (strstr(reason, remedies[i].words) != NULL)
      return remedies[i].remedy;
  return NULL;
}

char *
tide_kafka_fault_explain(const rd_kafka_t *kafka, const char *reason)
{
  char mechanism[64];
  size_t size = sizeof mechanism;
  if (rd_kafka_conf_get(rd_kafka_conf((rd_kafka_t *)kafka), "sasl.mechanisms", mechanism, &size) != RD_KAFKA_CONF_OK)
    mechanism[0] = '\0';
  const char *remedy = tide_kafka_fault_remedy(reason, mechanism, (guint32)rd_kafka_version());
  return remedy != NULL ? g_strdup_printf("%s: %s", reason, remedy) : g_strdup(reason);
}
