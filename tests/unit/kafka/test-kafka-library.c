/* What each librdkafka can do, and the sentences where it cannot. */
#include "config/yaml/problem.h"
#include "kafka/kafka_error.h"
#include "kafka/kafka_library.h"

#include <openssl/x509_vfy.h>

#define DEBIAN_FEATURES "gzip,ssl,sasl,sasl_gssapi,sasl_plain,sasl_scram,sasl_oauthbearer"
#define WHEEL_FEATURES "gzip,ssl,sasl,sasl_plain,sasl_scram,sasl_oauthbearer,http,oidc"

static const TideKafkaLibrary old = {0x020002ff, "2.0.2", DEBIAN_FEATURES};
static const TideKafkaLibrary before_mended = {0x020600ff, "2.6.0", DEBIAN_FEATURES};
static const TideKafkaLibrary mended = {0x020601ff, "2.6.1", DEBIAN_FEATURES};
static const TideKafkaLibrary new = {0x021000ff, "2.16.0", WHEEL_FEATURES};
static const TideKafkaLibrary bare = {0x021000ff, "2.16.0", "gzip"};

static void
test_abilities_begin_with_their_version(void)
{
  const TideKafkaLibrary before_backoff = {.version = 0x0201ffff}, backoff = {.version = 0x020200ff};
  g_assert_false(tide_kafka_library_can(&before_backoff, TIDE_KAFKA_QUEUE_BACKOFF));
  g_assert_true(tide_kafka_library_can(&backoff, TIDE_KAFKA_QUEUE_BACKOFF));
  g_assert_false(tide_kafka_library_can(&before_mended, TIDE_KAFKA_SCRAM_NONCE));
  g_assert_true(tide_kafka_library_can(&mended, TIDE_KAFKA_SCRAM_NONCE));
  g_assert_false(tide_kafka_library_can(&before_mended, TIDE_KAFKA_SOUND_COOPERATIVE));
  g_assert_true(tide_kafka_library_can(&mended, TIDE_KAFKA_SOUND_COOPERATIVE));
}

static void
test_what_is_lacking_is_said(void)
{
  g_autofree char *of_old = tide_kafka_library_lacks(&old), *of_new = tide_kafka_library_lacks(&new);
  g_assert_cmpstr(of_old, ==, "OIDC; SCRAM with brokers since 3.7.2, 3.8.1 and 3.9.0; cooperative assignment");
  g_assert_cmpstr(of_new, ==, "GSSAPI");
  const TideKafkaLibrary whole = {0x021000ff, "2.16.0", DEBIAN_FEATURES ",oidc"};
  g_assert_null(tide_kafka_library_lacks(&whole));
}

/* A configuration with these properties. */
static void
assert_judged(const TideKafkaLibrary *library, TideAssignment assignment, const char *const (*properties)[2],
              const char *expected)
{
  TideKafkaConfig config = {.assignment = assignment,
                            .properties = g_array_new(FALSE, TRUE, sizeof(TideKafkaProperty))};
  for (; (*properties)[0] != NULL; properties++) {
    TideKafkaProperty property = {(char *)(*properties)[0], (char *)(*properties)[1], FALSE, {3, 5}};
    g_array_append_val(config.properties, property);
  }
  g_autoptr(GPtrArray) problems = tide_problems_new();
  tide_kafka_library_check(library, &config, problems);
  /* What is said of a version alone comes last. */
  guint n_of_version = tide_kafka_library_can(library, TIDE_KAFKA_SOUND_METADATA) ? 0 : 1;
  g_assert_cmpuint(problems->len, ==, n_of_version + (expected != NULL ? 1 : 0));
  if (expected != NULL) {
    const TideConfigProblem *problem = problems->pdata[0];
    g_autofree char *text =
        g_strdup_printf("%s: %s", problem->severity == TIDE_CONFIG_ERROR ? "error" : "warning", problem->text);
    if (!g_str_has_prefix(text, expected))
      g_error("'%s' is not '%s'", text, expected);
  }
  g_array_unref(config.properties);
}

#define WITH(...) ((const char *const[][2]){__VA_ARGS__, {NULL, NULL}})
#define NONE ((const char *const[][2]){{NULL, NULL}})

/* The fault came with 2.1.0, so that 2.0.2 is sound: a version between is told of wherever versions are. */
static void
test_incomplete_metadata_crashes_some_versions(void)
{
  static const struct {
    TideKafkaLibrary library;
    gboolean is_sound;
  } versions[] = {
      {{0x020002ff, "2.0.2", DEBIAN_FEATURES ",oidc"}, TRUE},  {{0x020100ff, "2.1.0", DEBIAN_FEATURES ",oidc"}, FALSE},
      {{0x020800ff, "2.8.0", DEBIAN_FEATURES ",oidc"}, FALSE}, {{0x020900ff, "2.9.0", DEBIAN_FEATURES ",oidc"}, FALSE},
      {{0x020a00ff, "2.10.0", DEBIAN_FEATURES ",oidc"}, TRUE}, {{0x021000ff, "2.16.0", DEBIAN_FEATURES ",oidc"}, TRUE}};
  for (gsize i = 0; i < G_N_ELEMENTS(versions); i++) {
    const TideKafkaLibrary *library = &versions[i].library;
    g_autofree char *lacks = tide_kafka_library_lacks(library);
    g_assert_cmpint(tide_kafka_library_can(library, TIDE_KAFKA_SOUND_METADATA), ==, versions[i].is_sound);
    g_assert_cmpint(lacks == NULL || strstr(lacks, "incomplete metadata (it may crash)") == NULL, ==,
                    versions[i].is_sound);
    TideKafkaConfig config = {.properties = g_array_new(FALSE, TRUE, sizeof(TideKafkaProperty))};
    g_autoptr(GPtrArray) problems = tide_problems_new();
    tide_kafka_library_check(library, &config, problems);
    g_assert_cmpuint(problems->len, ==, versions[i].is_sound ? 0 : 1);
    if (problems->len > 0) {
      const TideConfigProblem *problem = problems->pdata[0];
      g_autofree char *begin = g_strdup_printf("librdkafka %s may crash the process when brokers describe a topic "
                                               "incompletely",
                                               library->name);
      g_assert_cmpint(problem->severity, ==, TIDE_CONFIG_WARNING);
      g_assert_true(g_str_has_prefix(problem->text, begin));
    }
    g_array_unref(config.properties);
  }
}

static void
test_what_the_build_cannot_do_is_refused(void)
{
  assert_judged(&new, 0, WITH({"sasl.mechanism", "GSSAPI"}),
                "error: librdkafka 2.16.0 was built without what 'GSSAPI' needs (sasl_gssapi)");
  assert_judged(&old, 0, WITH({"sasl.mechanisms", "GSSAPI"}), NULL);
  assert_judged(&old, 0, WITH({"sasl.mechanism", "OAUTHBEARER"}, {"sasl.oauthbearer.method", "oidc"}),
                "error: 'OAUTHBEARER' needs tokens, and librdkafka 2.0.2 was built without what fetches them (oidc)");
  assert_judged(&new, 0, WITH({"sasl.mechanism", "OAUTHBEARER"}, {"sasl.oauthbearer.method", "oidc"}), NULL);
  assert_judged(&new, 0, WITH({"sasl.mechanism", "OAUTHBEARER"}), "error: 'OAUTHBEARER' needs a server of tokens");
  assert_judged(&bare, 0, WITH({"security.protocol", "sasl_ssl"}), "error: librdkafka 2.16.0 was built without TLS");
  assert_judged(&bare, 0, WITH({"security.protocol", "SASL_SSL"}), "error: librdkafka 2.16.0 was built without TLS");
  assert_judged(&bare, 0, WITH({"security.protocol", "SSL"}), "error: librdkafka 2.16.0 was built without TLS");
  assert_judged(&bare, 0, WITH({"sasl.mechanism", "PLAIN"}), "error: librdkafka 2.16.0 was built without what 'PLAIN'");
}

static void
test_what_the_version_cannot_do_is_told(void)
{
  assert_judged(&before_mended, 0, WITH({"sasl.mechanism", "SCRAM-SHA-512"}),
                "warning: librdkafka 2.6.0 cannot do SCRAM with brokers since 3.7.2");
  assert_judged(&mended, 0, WITH({"sasl.mechanism", "SCRAM-SHA-512"}), NULL);
  assert_judged(&before_mended, TIDE_ASSIGNMENT_COOPERATIVE, NONE,
                "error: 'kafka.assignment' is cooperative, which has faults");
  assert_judged(&mended, TIDE_ASSIGNMENT_COOPERATIVE, NONE, NULL);
  assert_judged(&before_mended, TIDE_ASSIGNMENT_EAGER, NONE, NULL);
}

static void
test_misleading_words_are_explained(void)
{
  static const char refused[] = "SASL authentication error: Authentication failed during authentication due to invalid "
                                "credentials with SASL mechanism SCRAM-SHA-512";
  g_assert_nonnull(strstr(tide_kafka_error_remedy(refused, "SCRAM-SHA-512", 0x020600ff), "CVE-2024-56128"));
  g_assert_null(tide_kafka_error_remedy(refused, "SCRAM-SHA-512", 0x020601ff));
  g_assert_null(tide_kafka_error_remedy(refused, "PLAIN", 0x020002ff));
  static const char *const told[][2] = {
      {"certificate verify failed: broker certificate could not be verified", "is for another host"},
      {"sslv3 alert bad certificate: SSL alert number 42", "ssl.certificate.location"},
      {"alert certificate unknown: SSL alert number 46", "who signed our certificate"},
      {"SASL(-4): no mechanism available: No worthy mechs found", "libsasl2-modules-gssapi-mit"},
      {"unexpected eof while reading", "speaks no TLS"},
      {"GSSAPI Error: No credentials were supplied", "no Kerberos ticket"},
      {"Server kafka/127.0.0.1@R not found in Kerberos database", "by host name"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(told); i++)
    g_assert_nonnull(strstr(tide_kafka_error_remedy(told[i][0], "", 0x021000ff), told[i][1]));
  g_assert_null(tide_kafka_error_remedy("Connection refused", "", 0x020002ff));
}

static void
test_each_fault_of_a_certificate_has_its_sentence(void)
{
  static const struct {
    int error;
    const char *words;
  } told[] = {
      {X509_V_ERR_CERT_HAS_EXPIRED, "has ended"},
      {X509_V_ERR_CERT_NOT_YET_VALID, "not valid yet"},
      {X509_V_ERR_HOSTNAME_MISMATCH, "for another host"},
      {X509_V_ERR_IP_ADDRESS_MISMATCH, "for another host"},
      {X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN, "nothing in 'ssl.ca.location'"},
      {X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY, "nothing in 'ssl.ca.location'"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(told); i++)
    g_assert_nonnull(strstr(tide_kafka_error_of_certificate(told[i].error), told[i].words));
  g_assert_null(tide_kafka_error_of_certificate(X509_V_OK));
}

/* Another name for each @i. */
static char *
broker_name(guint i)
{
  return g_strdup_printf("kafka%u.example.com:9093", i);
}

static guint
place_of(const char *broker)
{
  return g_str_hash(broker) % TIDE_KAFKA_ERROR_PLACES;
}

/* In the same place of the memory, or in another. */
static char *
another_broker(const char *broker, gboolean is_in_its_place)
{
  for (guint i = 1;; i++) {
    char *name = broker_name(i);
    if (!g_str_equal(name, broker) && (place_of(name) == place_of(broker)) == is_in_its_place)
      return name;
    g_free(name);
  }
}

static void
assert_told(const char *broker, const char *words)
{
  g_autofree char *reason =
      g_strdup_printf("ssl://%s/bootstrap: SSL handshake failed: certificate verify failed", broker);
  const char *remedy = tide_kafka_error_remedy(reason, "", 0x021000ff);
  if (strstr(remedy, words) == NULL)
    g_error("'%s' is not in '%s'", words, remedy);
}

#define OF_ALL_WAYS "has ended, or is for another host"

/* All are refused before the first is explained, as when a cluster's brokers are asked side by side. */
static void
test_certificates_of_brokers_are_told_apart(void)
{
  g_autofree char *ended = broker_name(0);
  g_autofree char *elsewhere = another_broker(ended, FALSE), *crowded_out = another_broker(elsewhere, TRUE);
  tide_kafka_error_remember_certificate(crowded_out, X509_V_ERR_CERT_NOT_YET_VALID);
  tide_kafka_error_remember_certificate(ended, X509_V_ERR_CERT_HAS_EXPIRED);
  tide_kafka_error_remember_certificate(elsewhere, X509_V_ERR_HOSTNAME_MISMATCH);
  assert_told(ended, "has ended, or one that signs it");
  assert_told(elsewhere, "for another host than 'kafka.brokers', or what the broker advertises");
  assert_told(crowded_out, OF_ALL_WAYS);
  assert_told("never.refused:9093", OF_ALL_WAYS);
  tide_kafka_error_remember_certificate(ended, X509_V_ERR_HOSTNAME_MISMATCH); /* renewed, wrongly */
  assert_told(ended, "for another host than 'kafka.brokers', or what the broker advertises");
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/kafka-library/abilities-begin-with-their-version", test_abilities_begin_with_their_version);
  g_test_add_func("/kafka-library/H2-incomplete-metadata-crashes-some-versions",
                  test_incomplete_metadata_crashes_some_versions);
  g_test_add_func("/kafka-library/what-is-lacking-is-said", test_what_is_lacking_is_said);
  g_test_add_func("/kafka-library/what-the-build-cannot-do-is-refused", test_what_the_build_cannot_do_is_refused);
  g_test_add_func("/kafka-library/what-the-version-cannot-do-is-told", test_what_the_version_cannot_do_is_told);
  g_test_add_func("/kafka-library/misleading-words-are-explained", test_misleading_words_are_explained);
  g_test_add_func("/kafka-library/C13-each-fault-of-a-certificate-has-its-sentence",
                  test_each_fault_of_a_certificate_has_its_sentence);
  g_test_add_func("/kafka-library/C13-certificates-of-brokers-are-told-apart",
                  test_certificates_of_brokers_are_told_apart);
  return g_test_run();
}
