#include "kafka/kafka_library.h"

#include "config/yaml/problem.h"

#include <librdkafka/rdkafka.h>

static const struct {
  guint32 from_version;
  guint32 lost_with; /* versions before this one have it, too; 0: none has */
  const char *lack;  /* for operators; NULL: tidemark works around it */
} abilities[] = {
    [TIDE_KAFKA_QUEUE_BACKOFF] = {0x02020000, 0, NULL},
    [TIDE_KAFKA_SCRAM_NONCE] = {0x02060100, 0, "SCRAM with brokers since 3.7.2, 3.8.1 and 3.9.0"},
    [TIDE_KAFKA_SOUND_COOPERATIVE] = {0x02060100, 0, "cooperative assignment"},
    [TIDE_KAFKA_SOUND_METADATA] = {0x020a0000, 0x02010000, "incomplete metadata (it may crash)"},
};

/* A SASL mechanism, and the build feature that it needs. */
static const struct {
  const char *mechanism;
  const char *feature;
} mechanisms[] = {
    {"GSSAPI", "sasl_gssapi"},           {"PLAIN", "sasl_plain"},
    {"SCRAM-SHA-256", "sasl_scram"},     {"SCRAM-SHA-512", "sasl_scram"},
    {"OAUTHBEARER", "sasl_oauthbearer"},
};

TideKafkaLibrary
tide_kafka_library(void)
{
  TideKafkaLibrary library = {.version = (guint32)rd_kafka_version()};
  size_t size = sizeof library.features;
  rd_kafka_conf_t *conf = rd_kafka_conf_new();
  if (rd_kafka_conf_get(conf, "builtin.features", library.features, &size) != RD_KAFKA_CONF_OK)
    library.features[0] = '\0';
  rd_kafka_conf_destroy(conf);
  g_strlcpy(library.name, rd_kafka_version_str(), sizeof library.name);
  return library;
}

gboolean
tide_kafka_library_can(const TideKafkaLibrary *library, TideKafkaAbility ability)
{
  return library->version >= abilities[ability].from_version || library->version < abilities[ability].lost_with;
}

static gboolean
has_feature(const TideKafkaLibrary *library, const char *feature)
{
  g_auto(GStrv) features = g_strsplit(library->features, ",", -1);
  return g_strv_contains((const char *const *)features, feature);
}

char *
tide_kafka_library_lacks(const TideKafkaLibrary *library)
{
  g_autoptr(GPtrArray) lacks = g_ptr_array_new();
  for (gsize i = 0; i < G_N_ELEMENTS(mechanisms); i++)
    if (!has_feature(library, mechanisms[i].feature))
      g_ptr_array_add(lacks, (gpointer)mechanisms[i].mechanism);
  if (!has_feature(library, "oidc"))
    g_ptr_array_add(lacks, (gpointer) "OIDC");
  if (!has_feature(library, "ssl"))
    g_ptr_array_add(lacks, (gpointer) "TLS");
  for (TideKafkaAbility i = TIDE_KAFKA_QUEUE_BACKOFF; i <= TIDE_KAFKA_SOUND_METADATA; i++)
    if (abilities[i].lack != NULL && !tide_kafka_library_can(library, i))
      g_ptr_array_add(lacks, (gpointer)abilities[i].lack);
  if (lacks->len == 0)
    return NULL;
  g_ptr_array_add(lacks, NULL);
  return g_strjoinv("; ", (char **)lacks->pdata);
}

/* ---- what the configuration needs ---- */

static void
check_mechanism(const TideKafkaLibrary *library, const TideKafkaProperty *property, GPtrArray *problems)
{
  for (gsize i = 0; i < G_N_ELEMENTS(mechanisms); i++)
    if (g_ascii_strcasecmp(property->value, mechanisms[i].mechanism) == 0 &&
        !has_feature(library, mechanisms[i].feature))
      tide_problems_add_error(
          problems, property->position,
          "librdkafka %s was built without the feature that '%s' needs (%s): see 'tidemark version', "
          "and use a build that has it, or another mechanism",
          library->name, mechanisms[i].mechanism, mechanisms[i].feature);
  if (g_ascii_strncasecmp(property->value, "SCRAM-", 6) == 0 &&
      !tide_kafka_library_can(library, TIDE_KAFKA_SCRAM_NONCE))
    tide_problems_add_warning(
        problems, property->position,
        "librdkafka %s cannot do SCRAM with brokers since 3.7.2, 3.8.1 and 3.9.0: they refuse the "
        "right password (CVE-2024-56128); use librdkafka 2.6.1 or later",
        library->name);
}

/* Tokens are fetched by OIDC; tidemark creates none itself. */
static void
check_token(const TideKafkaLibrary *library, const TideKafkaConfig *config, const TideKafkaProperty *mechanism,
            GPtrArray *problems)
{
  const TideKafkaProperty *method = tide_config_find_property(config, "sasl.oauthbearer.method");
  if (g_ascii_strcasecmp(mechanism->value, "OAUTHBEARER") != 0 ||
      tide_config_find_property(config, "enable.sasl.oauthbearer.unsecure.jwt") != NULL)
    return;
  if (!has_feature(library, "oidc"))
    tide_problems_add_error(
        problems, mechanism->position,
        "'OAUTHBEARER' needs tokens, and librdkafka %s was built without the feature that fetches them "
        "(oidc): see 'tidemark version', and use a build that has it, or another mechanism",
        library->name);
  else if (method == NULL || g_ascii_strcasecmp(method->value, "oidc") != 0)
    tide_problems_add_error(problems, mechanism->position,
                            "'OAUTHBEARER' needs a token server: set 'sasl.oauthbearer.method: oidc', "
                            "'sasl.oauthbearer.token.endpoint.url', 'sasl.oauthbearer.client.id' and "
                            "'sasl.oauthbearer.client.secret'");
}

void
tide_kafka_library_check(const TideKafkaLibrary *library, const TideKafkaConfig *config, GPtrArray *problems)
{
  const TideKafkaProperty *mechanism = tide_config_find_property(config, "sasl.mechanism"),
                          *synonym = tide_config_find_property(config, "sasl.mechanisms");
  if (mechanism == NULL || (synonym != NULL && synonym > mechanism))
    mechanism = synonym; /* both name one property, and the last one in the file counts */
  if (mechanism != NULL) {
    check_mechanism(library, mechanism, problems);
    check_token(library, config, mechanism, problems);
  }
  const TideKafkaProperty *protocol = tide_config_find_property(config, "security.protocol");
  gboolean is_tls = protocol != NULL && (g_ascii_strcasecmp(protocol->value, "ssl") == 0 ||
                                         g_ascii_strcasecmp(protocol->value, "sasl_ssl") == 0);
  if (is_tls && !has_feature(library, "ssl"))
    tide_problems_add_error(problems, protocol->position, "librdkafka %s was built without TLS", library->name);
  if (config->assignment == TIDE_ASSIGNMENT_COOPERATIVE &&
      !tide_kafka_library_can(library, TIDE_KAFKA_SOUND_COOPERATIVE))
    tide_problems_add_error(
        problems, TIDE_SOURCE_POSITION_FILE,
        "'kafka.assignment' is cooperative, which has faults in librdkafka before 2.6.1 (partitions resumed from an "
        "older offset, hangs at close), and this is %s: use eager",
        library->name);
  if (!tide_kafka_library_can(library, TIDE_KAFKA_SOUND_METADATA))
    tide_problems_add_warning(problems, TIDE_SOURCE_POSITION_FILE,
                              "librdkafka %s may crash the process when brokers describe a topic incompletely, for "
                              "example while they restart or "
                              "the topic is recreated (its issue 4907): use 2.0.2, or 2.10.0 and later",
                              library->name);
}
