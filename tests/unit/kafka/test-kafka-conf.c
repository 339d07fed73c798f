/* What clients of Kafka are made with, what each librdkafka can do, and the sentences where it, a broker or a right
 * says no. */
#include "config/yaml/problem.h"
#include "kafka/kafka_conf.h"
#include "kafka/kafka_error.h"
#include "kafka/kafka_library.h"
#include "unit/config-texts.h"
#include "unit/test_case.h"
#include "util/budget.h"
#include "util/error.h"

#include <openssl/x509_vfy.h>

/* ---- properties and clients ---- */

static TideKafkaConfig
config_with(TideAssignment assignment, char *instance)
{
  return (TideKafkaConfig){.brokers = (char *)"127.0.0.1:1",
                           .group = (char *)"g",
                           .assignment = assignment,
                           .instance = instance,
                           .session_timeout_ms = 45000,
                           .max_poll_interval_ms = 300000,
                           .commit_interval_ms = 1000,
                           .threads = 1,
                           .properties = g_array_new(FALSE, TRUE, sizeof(TideKafkaProperty))};
}

static void
add_property(TideKafkaConfig *config, const char *name, const char *value, gboolean is_secret)
{
  TideKafkaProperty property = {(char *)name, (char *)value, is_secret};
  g_array_append_val(config->properties, property);
}

static rd_kafka_conf_t *
conf_of(const TideConfig *config, guint32 index)
{
  g_autoptr(GError) error = NULL;
  rd_kafka_conf_t *conf = tide_kafka_conf_new_consumer(config, index, &error);
  g_assert_no_error(error);
  return conf;
}

static rd_kafka_conf_t *
consumer_conf(const TideKafkaConfig *config)
{
  TideConfig whole = {.kafka = *config, .limits.memory_bytes = 256 << 20};
  return conf_of(&whole, 3);
}

static void
assert_property(const rd_kafka_conf_t *conf, const char *name, const char *wanted)
{
  char value[256];
  gsize size = sizeof value;
  g_assert_cmpint(rd_kafka_conf_get(conf, name, value, &size), ==, RD_KAFKA_CONF_OK);
  g_assert_cmpstr(value, ==, wanted);
}

TEST("/kafka-conf/what-delivery-rests-on")
{
  TideKafkaConfig config = config_with(TIDE_ASSIGNMENT_EAGER, NULL);
  add_property(&config, "topic.metadata.refresh.interval.ms", "5000", FALSE);
  add_property(&config, "fetch.wait.max.ms", "100", FALSE);
  rd_kafka_conf_t *conf = consumer_conf(&config);
  assert_property(conf, "partition.assignment.strategy", "range,roundrobin");
  assert_property(conf, "enable.auto.offset.store", "false");
  assert_property(conf, "auto.commit.interval.ms", "1000");
  assert_property(conf, "auto.offset.reset", "error");
  assert_property(conf, "enable.partition.eof", "true");
  assert_property(conf, "check.crcs", "true");
  assert_property(conf, "topic.metadata.refresh.interval.ms", "5000"); /* ours are defaults */
  assert_property(conf, "fetch.wait.max.ms", "100");
  assert_property(conf, "fetch.min.bytes", "65536");
  rd_kafka_conf_destroy(conf);
  g_array_unref(config.properties);
}

TEST("/kafka-conf/membership")
{
  TideKafkaConfig config = config_with(TIDE_ASSIGNMENT_COOPERATIVE, (char *)"plant-%H.a");
  rd_kafka_conf_t *conf = consumer_conf(&config);
  g_autofree char *instance = g_strdup_printf("plant-%s.a-3", g_get_host_name());
  assert_property(conf, "partition.assignment.strategy", "cooperative-sticky");
  assert_property(conf, "group.instance.id", instance);
  assert_property(conf, "session.timeout.ms", "45000");
  assert_property(conf, "heartbeat.interval.ms", "3000");
  assert_property(conf, "max.poll.interval.ms", "300000");
  rd_kafka_conf_destroy(conf);
  g_array_unref(config.properties);
}

TEST("/kafka-conf/principal-is-never-a-secret")
{
  TideKafkaConfig config = config_with(TIDE_ASSIGNMENT_EAGER, NULL);
  g_assert_null(tide_kafka_principal(&config));
  add_property(&config, "sasl.password", "canary", TRUE);
  g_assert_null(tide_kafka_principal(&config));
  add_property(&config, "sasl.username", "meter", FALSE);
  g_assert_cmpstr(tide_kafka_principal(&config), ==, "meter");
  g_array_unref(config.properties);
}

TEST("/kafka-conf/F7-property-that-nobody-knows")
{
  TideKafkaConfig config = config_with(TIDE_ASSIGNMENT_EAGER, NULL);
  add_property(&config, "no.such.property", "1", FALSE);
  g_autoptr(GError) error = NULL;
  g_assert_null(tide_kafka_conf_new(&config, NULL, &error));
  g_assert_error(error, TIDE_ERROR, TIDE_ERROR_CONFIG);
  g_assert_nonnull(strstr(error->message, "'no.such.property' is not accepted"));
  g_array_unref(config.properties);
}

/* ---- kafka.librdkafka ---- */

/* What an operator may set: who and where the brokers are, TLS and SASL, sockets and patience, logs, how fetches and
 * batches are formed. None of it decides what is written, committed or kept. */
static const char *const free_properties[] = {
    "api.version.request.timeout.ms", "broker.address.family", "broker.address.ttl", "builtin.features", "client.id",
    "client.rack", "compression.codec", "compression.level", "compression.type", "connections.max.idle.ms",
    "consume.callback.max.messages", "coordinator.query.interval.ms", "debug", "enable.random.seed",
    "enable.sasl.oauthbearer.unsecure.jwt", "fetch.error.backoff.ms", "fetch.min.bytes", "fetch.wait.max.ms",
    "log.connection.close", "log.thread.name", "log_level", "message.copy.max.bytes", "metadata.max.age.ms",
    "plugin.library.paths", "produce.offset.report", "queue.buffering.backpressure.threshold",
    "reconnect.backoff.jitter.ms", "reconnect.backoff.max.ms", "reconnect.backoff.ms", "retry.backoff.ms",
    "sasl.kerberos.keytab", "sasl.kerberos.kinit.cmd", "sasl.kerberos.min.time.before.relogin",
    "sasl.kerberos.principal", "sasl.kerberos.service.name", "sasl.mechanism", "sasl.mechanisms",
    "sasl.oauthbearer.client.id", "sasl.oauthbearer.client.secret", "sasl.oauthbearer.config",
    "sasl.oauthbearer.extensions", "sasl.oauthbearer.method", "sasl.oauthbearer.scope",
    "sasl.oauthbearer.token.endpoint.url", "sasl.password", "sasl.username", "security.protocol",
    "socket.blocking.max.ms", "socket.connection.setup.timeout.ms", "socket.keepalive.enable", "socket.max.fails",
    "socket.nagle.disable", "socket.receive.buffer.bytes", "socket.send.buffer.bytes", "socket.timeout.ms",
    "ssl.ca.certificate.stores", "ssl.ca.location", "ssl.ca.pem", "ssl.certificate.location", "ssl.certificate.pem",
    "ssl.cipher.suites", "ssl.crl.location", "ssl.curves.list", "ssl.engine.id", "ssl.engine.location",
    "ssl.key.location", "ssl.key.password", "ssl.key.pem", "ssl.keystore.location", "ssl.keystore.password",
    "ssl.providers", "ssl.sigalgs.list", "ssl_ca", /* these three: librdkafka refuses them as texts */
    "ssl_certificate", "ssl_key", "sticky.partitioning.linger.ms", "topic.blacklist", "topic.metadata.refresh.fast.cnt",
    "topic.metadata.refresh.fast.interval.ms", "topic.metadata.refresh.sparse",
    /* since 2.2 to 2.16 */
    "client.dns.lookup", "enable.metrics.push", "https.ca.location", "https.ca.pem",
    "metadata.recovery.rebootstrap.trigger.ms", "retry.backoff.max.ms", "sasl.oauthbearer.assertion.algorithm",
    "sasl.oauthbearer.assertion.claim.aud", "sasl.oauthbearer.assertion.claim.exp.seconds",
    "sasl.oauthbearer.assertion.claim.iss", "sasl.oauthbearer.assertion.claim.jti.include",
    "sasl.oauthbearer.assertion.claim.nbf.seconds", "sasl.oauthbearer.assertion.claim.sub",
    "sasl.oauthbearer.assertion.file", "sasl.oauthbearer.assertion.jwt.template.file",
    "sasl.oauthbearer.assertion.private.key.file", "sasl.oauthbearer.assertion.private.key.passphrase",
    "sasl.oauthbearer.assertion.private.key.pem", "sasl.oauthbearer.client.credentials.client.id",
    "sasl.oauthbearer.client.credentials.client.secret", "sasl.oauthbearer.grant.type",
    "sasl.oauthbearer.metadata.authentication.type", "sasl.oauthbearer.sub.claim.name",
    /* and with some values refused */
    "allow.auto.create.topics", "api.version.request", "enable.ssl.certificate.verification", "isolation.level",
    "metadata.recovery.strategy", "ssl.endpoint.identification.algorithm", "topic.metadata.refresh.interval.ms", NULL};

/* The problems of a configuration with that property, as one text. */
static char *
problems_with(const char *name, const char *value)
{
  g_autofree char *yaml = g_strdup_printf(
      "kafka: { brokers: b, group: g, topics: [t], librdkafka: { %s: \"%s\" } }\n" READINGS HBASE TABLES, name, value);
  g_autoptr(GPtrArray) problems = NULL;
  g_autoptr(TideConfig) config = load_config(yaml, &problems);
  if (config != NULL)
    tide_kafka_check_properties(config, problems);
  return describe_problems(problems);
}

/* Name by name, what librdkafka says of itself. (transfer full), NULL-terminated */
static char **
names_of_librdkafka(void)
{
  char *text = NULL;
  size_t len;
  FILE *stream = open_memstream(&text, &len);
  rd_kafka_conf_properties_show(stream);
  fclose(stream);
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  free(text);
  GStrvBuilder *names = g_strv_builder_new();
  for (char **line = lines; *line != NULL; line++) {
    g_autofree char *name = g_strndup(*line, strcspn(*line, " |"));
    if (g_ascii_islower(*name) && strchr(*line, '|') != NULL)
      g_strv_builder_add(names, name);
  }
  char **list = g_strv_builder_end(names);
  g_strv_builder_unref(names);
  return list;
}

/* A property that a later librdkafka brings has to be thought about before this passes again. */
TEST("/kafka-conf/F12-every-property-was-judged")
{
  g_auto(GStrv) names = names_of_librdkafka();
  g_assert_cmpuint(g_strv_length(names), >, 100);
  for (char **name = names; *name != NULL; name++) {
    g_autofree char *problems = problems_with(*name, "1");
    gboolean refused = strstr(problems, "cannot be set: ") != NULL;
    gboolean is_free = g_strv_contains(free_properties, *name);
    if (refused == is_free)
      g_error("'%s' is %s: refuse it in load_kafka.c, or list it here", *name,
              refused ? "both refused and free" : "neither refused nor free");
  }
}

/* Nothing that a client of ours fixes can be set: it would be overridden in silence. */
TEST("/kafka-conf/F12-what-clients-fix-cannot-be-set")
{
  TideKafkaConfig config = config_with(TIDE_ASSIGNMENT_EAGER, NULL);
  add_property(&config, "fetch.min.bytes", "1", FALSE); /* for these, ours are only defaults */
  add_property(&config, "fetch.wait.max.ms", "500", FALSE);
  g_autoptr(GError) error = NULL;
  rd_kafka_conf_t *plain = tide_kafka_conf_new(&config, NULL, &error);
  rd_kafka_conf_t *ours[] = {consumer_conf(&config), tide_kafka_conf_new_originals(&config, &error),
                             tide_kafka_conf_new_dead_letters(&config, FALSE, &error),
                             tide_kafka_conf_new_dead_letters(&config, TRUE, &error)};
  g_assert_no_error(error);
  /* Properties of topics have values only once one is set. */
  g_assert_cmpint(rd_kafka_conf_set(plain, "auto.offset.reset", "largest", NULL, 0), ==, RD_KAFKA_CONF_OK);
  g_auto(GStrv) names = names_of_librdkafka();
  for (gsize i = 0; i < G_N_ELEMENTS(ours); i++) {
    for (char **name = names; *name != NULL; name++) {
      char before[256] = "", after[256] = "";
      gsize size = sizeof before;
      (void)rd_kafka_conf_get(plain, *name, before, &size);
      size = sizeof after;
      (void)rd_kafka_conf_get(ours[i], *name, after, &size);
      if (strcmp(before, after) != 0 && g_strv_contains(free_properties, *name))
        g_error("'%s' may be set, and a client of ours makes '%s' of '%s'", *name, after, before);
    }
    rd_kafka_conf_destroy(ours[i]);
  }
  rd_kafka_conf_destroy(plain);
  g_array_unref(config.properties);
}

TEST("/kafka-conf/F12-values-that-break-a-promise")
{
  static const char *const bad[][3] = {
      {"delivery.report.only.error", "true", "its offset never advances"},
      {"transactional.id", "x", "none would be sent"},
      {"acks", "1", "all in-sync replicas"},
      {"isolation.level", "read_uncommitted", "messages of aborted transactions would be written"},
      {"topic.metadata.refresh.interval.ms", "-1", "a partition that is added to a topic would never be read"},
      {"allow.auto.create.topics", "true", "a misspelt topic would be created and read instead of being reported"},
      {"api.version.request", "false", "would lose the headers of dead letters"},
      {"test.mock.num.brokers", "3", "it would simulate the brokers"},
      {"metadata.recovery.strategy", "none", "never find a cluster again"},
      {"share.acknowledgement.mode", "explicit", "it belongs to share groups"},
  };
  static const char *const good[][2] = {{"isolation.level", "read_committed"},
                                        {"topic.metadata.refresh.interval.ms", "5000"},
                                        {"allow.auto.create.topics", "false"},
                                        {"api.version.request", "true"}};
  for (gsize i = 0; i < G_N_ELEMENTS(bad); i++) {
    g_autofree char *problems = problems_with(bad[i][0], bad[i][1]);
    g_assert_nonnull(strstr(problems, bad[i][2]));
  }
  g_autofree char *of_library = problems_with("client.id", "x");
  for (gsize i = 0; i < G_N_ELEMENTS(good); i++) {
    g_autofree char *problems = problems_with(good[i][0], good[i][1]);
    g_assert_cmpstr(problems, ==, of_library);
  }
}

TEST("/kafka-conf/place-and-nearest")
{
  g_autofree char *unknown = problems_with("fetch.wait.max.mss", "1");
  g_autofree char *expected = g_strdup_printf(
      "1:59 error: 'fetch.wait.max.mss' is not a property of librdkafka %s: did you mean 'fetch.wait.max.ms'?\n",
      rd_kafka_version_str());
  g_assert_true(g_str_has_prefix(unknown, expected)); /* a warning of the version may follow */
  g_autofree char *of_a_topic = problems_with("compression.levels", "1");
  g_assert_nonnull(strstr(of_a_topic, "did you mean 'compression.level'?"));
  g_autofree char *without_value = problems_with("sasl.pasword", "1");
  g_assert_nonnull(strstr(without_value, "did you mean 'sasl.password'?"));
  g_autofree char *range = problems_with("fetch.wait.max.ms", "-1");
  g_assert_true(g_str_has_prefix(range, "1:59 error: 'fetch.wait.max.ms' is not accepted: "));
}

static TideConfig *
good_config(const char *more)
{
  g_autofree char *yaml = g_strconcat(KAFKA READINGS HBASE TABLES, more, NULL);
  return load_text(yaml);
}

static TideConfig *
config_with_memory(const char *memory)
{
  g_autofree char *more = g_strdup_printf("limits: { memory: %s }\n", memory);
  return good_config(more);
}

/* librdkafka counts its queue in KiB, up to 2 GiB: a share above it is no reason not to start. */
TEST("/kafka-conf/F6-any-memory-makes-clients")
{
  static const char *const memories[] = {"64MiB", "33GiB", "1000GiB"};
  for (gsize i = 0; i < G_N_ELEMENTS(memories); i++) {
    g_autoptr(TideConfig) config = config_with_memory(memories[i]);
    g_autoptr(GError) error = NULL;
    g_assert_true(tide_kafka_check_clients(config, &error));
    g_assert_no_error(error);
  }
}

static guint64
number_of(const rd_kafka_conf_t *conf, const char *name)
{
  char value[32];
  gsize size = sizeof value;
  g_assert_cmpint(rd_kafka_conf_get(conf, name, value, &size), ==, RD_KAFKA_CONF_OK);
  return g_ascii_strtoull(value, NULL, 10);
}

#define MAX_MESSAGE_BYTES (64u << 20) /* readings.max_message_size at its most */

/* librdkafka has a buffer for each fetch, and the heap keeps what is little of limits.memory. A broker gives a message
 * that is larger all the same, and it must get in. */
TEST("/kafka-conf/fetches-are-a-part-of-the-queue")
{
  static const char *const memories[] = {"32MiB", "256MiB", "8GiB"};
  for (gsize i = 0; i < G_N_ELEMENTS(memories); i++) {
    g_autoptr(TideConfig) config = config_with_memory(memories[i]);
    config->readings.decode.max_message_bytes = MAX_MESSAGE_BYTES;
    rd_kafka_conf_t *conf = conf_of(config, 0);
    guint64 queue_bytes = 1024 * number_of(conf, "queued.max.messages.kbytes");
    guint64 fetch_bytes = number_of(conf, "fetch.max.bytes");
    g_assert_cmpuint(queue_bytes, <=, MAX(config->limits.memory_bytes / 32, 1 << 20)); /* two consumers' payload */
    g_assert_cmpuint(fetch_bytes, <=, MAX(queue_bytes / 5 + 1024, 1 << 20));
    g_assert_cmpuint(number_of(conf, "max.partition.fetch.bytes"), <=, CLAMP(fetch_bytes / 2, 256 << 10, 16 << 20));
    g_assert_cmpuint(number_of(conf, "receive.message.max.bytes"), >, MAX_MESSAGE_BYTES + 1024);
    rd_kafka_conf_destroy(conf);
  }
}

/* Each message in librdkafka's queue costs some 350 bytes beside its payload, which is all that librdkafka counts. */
#define QUEUED_MESSAGE_BYTES 350

/* Tombstones have no payload. */
TEST("/kafka-conf/queues-of-tiny-messages")
{
  static const char *const memories[] = {"16MiB", "256MiB", "8GiB"};
  for (gsize i = 0; i < G_N_ELEMENTS(memories); i++) {
    g_autoptr(TideConfig) config = config_with_memory(memories[i]);
    rd_kafka_conf_t *conf = conf_of(config, 0);
    guint64 n_messages = number_of(conf, "queued.min.messages");
    g_assert_cmpuint(n_messages * QUEUED_MESSAGE_BYTES, <=,
                     MAX(tide_budget_prefetch_bytes(config->limits.memory_bytes) / config->kafka.threads, 4 << 20));
    g_assert_cmpuint(n_messages, >=, 10000); /* some fetches */
    rd_kafka_conf_destroy(conf);
  }
}

TEST("/kafka-conf/originals-have-room")
{
  g_autoptr(TideConfig) config = good_config("");
  g_autoptr(GError) error = NULL;
  rd_kafka_conf_t *conf = tide_kafka_conf_new_originals(&config->kafka, &error);
  g_assert_no_error(error);
  g_assert_cmpuint(number_of(conf, "queued.min.messages") * QUEUED_MESSAGE_BYTES, <=, 8 << 20);
  g_assert_cmpuint(number_of(conf, "queued.max.messages.kbytes"), <=, 2048);
  g_assert_cmpuint(12 * number_of(conf, "max.partition.fetch.bytes"), <=,
                   1024 * number_of(conf, "queued.max.messages.kbytes"));
  rd_kafka_conf_destroy(conf);
}

/* What shows only when a client is made: a property that needs another, and a file that is not there. */
TEST("/kafka-conf/clients-that-cannot-be-made")
{
  static const char *const properties[][4] = {
      {"sasl_ssl", "sasl.mechanism", "PLAIN", "sasl.username"},
      {"ssl", "ssl.ca.location", "/no/such/file", "'ssl.ca.location' ('/no/such/file'): No such file or directory ("},
      {"ssl", "ssl.certificate.location", "/no/such/file",
       "'ssl.certificate.location' ('/no/such/file'): No such file or "},
      {"ssl", "ssl.key.location", "/no/such/file", "'ssl.key.location' ('/no/such/file'): No such file or directory ("},
      {"ssl", "ssl.ca.location", "/dev/null", "'ssl.ca.location' ('/dev/null'): contains no certificate in PEM form ("},
      {"ssl", "ssl.key.location", "/dev/null", "needs another 'ssl.key.password' ("}};
  for (gsize i = 0; i < G_N_ELEMENTS(properties); i++) {
    g_autoptr(TideConfig) config = good_config("");
    TideKafkaProperty property = {g_strdup(properties[i][1]), g_strdup(properties[i][2])};
    TideKafkaProperty protocol = {g_strdup("security.protocol"), g_strdup(properties[i][0])};
    g_array_append_val(config->kafka.properties, property);
    g_array_append_val(config->kafka.properties, protocol);
    g_autoptr(GError) error = NULL;
    g_assert_false(tide_kafka_check_clients(config, &error));
    g_assert_error(error, TIDE_ERROR, TIDE_ERROR_CONFIG);
    g_test_message("%s", error->message);
    g_assert_nonnull(strstr(error->message, properties[i][3]));
  }
}

/* ---- what each librdkafka can do ---- */

#define DEBIAN_FEATURES "gzip,ssl,sasl,sasl_gssapi,sasl_plain,sasl_scram,sasl_oauthbearer"
#define WHEEL_FEATURES "gzip,ssl,sasl,sasl_plain,sasl_scram,sasl_oauthbearer,http,oidc"

static const TideKafkaLibrary old = {0x020002ff, "2.0.2", DEBIAN_FEATURES};
static const TideKafkaLibrary before_mended = {0x020600ff, "2.6.0", DEBIAN_FEATURES};
static const TideKafkaLibrary mended = {0x020601ff, "2.6.1", DEBIAN_FEATURES};
static const TideKafkaLibrary new = {0x021000ff, "2.16.0", WHEEL_FEATURES};
static const TideKafkaLibrary bare = {0x021000ff, "2.16.0", "gzip"};

TEST("/kafka-library/abilities-begin-with-their-version")
{
  const TideKafkaLibrary before_backoff = {.version = 0x0201ffff}, backoff = {.version = 0x020200ff};
  g_assert_false(tide_kafka_library_can(&before_backoff, TIDE_KAFKA_QUEUE_BACKOFF));
  g_assert_true(tide_kafka_library_can(&backoff, TIDE_KAFKA_QUEUE_BACKOFF));
  g_assert_false(tide_kafka_library_can(&before_mended, TIDE_KAFKA_SCRAM_NONCE));
  g_assert_true(tide_kafka_library_can(&mended, TIDE_KAFKA_SCRAM_NONCE));
  g_assert_false(tide_kafka_library_can(&before_mended, TIDE_KAFKA_SOUND_COOPERATIVE));
  g_assert_true(tide_kafka_library_can(&mended, TIDE_KAFKA_SOUND_COOPERATIVE));
}

TEST("/kafka-library/what-is-lacking-is-said")
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
TEST("/kafka-library/H2-incomplete-metadata-crashes-some-versions")
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

TEST("/kafka-library/what-the-build-cannot-do-is-refused")
{
  assert_judged(&new, 0, WITH({"sasl.mechanism", "GSSAPI"}),
                "error: librdkafka 2.16.0 was built without the feature that 'GSSAPI' needs (sasl_gssapi)");
  assert_judged(&old, 0, WITH({"sasl.mechanisms", "GSSAPI"}), NULL);
  assert_judged(
      &old, 0, WITH({"sasl.mechanism", "OAUTHBEARER"}, {"sasl.oauthbearer.method", "oidc"}),
      "error: 'OAUTHBEARER' needs tokens, and librdkafka 2.0.2 was built without the feature that fetches them (oidc)");
  assert_judged(&new, 0, WITH({"sasl.mechanism", "OAUTHBEARER"}, {"sasl.oauthbearer.method", "oidc"}), NULL);
  assert_judged(&new, 0, WITH({"sasl.mechanism", "OAUTHBEARER"}), "error: 'OAUTHBEARER' needs a token server");
  assert_judged(&bare, 0, WITH({"security.protocol", "sasl_ssl"}), "error: librdkafka 2.16.0 was built without TLS");
  assert_judged(&bare, 0, WITH({"security.protocol", "SASL_SSL"}), "error: librdkafka 2.16.0 was built without TLS");
  assert_judged(&bare, 0, WITH({"security.protocol", "SSL"}), "error: librdkafka 2.16.0 was built without TLS");
  assert_judged(&bare, 0, WITH({"sasl.mechanism", "PLAIN"}),
                "error: librdkafka 2.16.0 was built without the feature that 'PLAIN'");
}

TEST("/kafka-library/what-the-version-cannot-do-is-told")
{
  assert_judged(&before_mended, 0, WITH({"sasl.mechanism", "SCRAM-SHA-512"}),
                "warning: librdkafka 2.6.0 cannot do SCRAM with brokers since 3.7.2");
  assert_judged(&mended, 0, WITH({"sasl.mechanism", "SCRAM-SHA-512"}), NULL);
  assert_judged(&before_mended, TIDE_ASSIGNMENT_COOPERATIVE, NONE,
                "error: 'kafka.assignment' is cooperative, which has faults");
  assert_judged(&mended, TIDE_ASSIGNMENT_COOPERATIVE, NONE, NULL);
  assert_judged(&before_mended, TIDE_ASSIGNMENT_EAGER, NONE, NULL);
}

TEST("/kafka-library/misleading-words-are-explained")
{
  static const char refused[] = "SASL authentication error: Authentication failed during authentication due to invalid "
                                "credentials with SASL mechanism SCRAM-SHA-512";
  g_assert_nonnull(strstr(tide_kafka_error_remedy(refused, "SCRAM-SHA-512", 0x020600ff), "CVE-2024-56128"));
  g_assert_null(tide_kafka_error_remedy(refused, "SCRAM-SHA-512", 0x020601ff));
  g_assert_null(tide_kafka_error_remedy(refused, "PLAIN", 0x020002ff));
  static const char *const told[][2] = {
      {"certificate verify failed: broker certificate could not be verified", "is for another host"},
      {"sslv3 alert bad certificate: SSL alert number 42", "ssl.certificate.location"},
      {"alert certificate unknown: SSL alert number 46", "signer of the client certificate"},
      {"SASL(-4): no mechanism available: No worthy mechs found", "libsasl2-modules-gssapi-mit"},
      {"unexpected eof while reading", "does not use TLS"},
      {"GSSAPI Error: No credentials were supplied", "no Kerberos ticket"},
      {"Server kafka/127.0.0.1@R not found in Kerberos database", "by the host names"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(told); i++)
    g_assert_nonnull(strstr(tide_kafka_error_remedy(told[i][0], "", 0x021000ff), told[i][1]));
  g_assert_null(tide_kafka_error_remedy("Connection refused", "", 0x020002ff));
}

TEST("/kafka-library/C13-each-fault-of-a-certificate-has-its-sentence")
{
  static const struct {
    int error;
    const char *words;
  } told[] = {
      {X509_V_ERR_CERT_HAS_EXPIRED, "has expired"},
      {X509_V_ERR_CERT_NOT_YET_VALID, "not valid yet"},
      {X509_V_ERR_HOSTNAME_MISMATCH, "for another host"},
      {X509_V_ERR_IP_ADDRESS_MISMATCH, "for another host"},
      {X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN, "no certificate in 'ssl.ca.location'"},
      {X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY, "no certificate in 'ssl.ca.location'"},
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

#define OF_ALL_WAYS "has expired, or is for another host"

/* All are refused before the first is explained, as when a cluster's brokers are asked side by side. */
TEST("/kafka-library/C13-certificates-of-brokers-are-told-apart")
{
  g_autofree char *ended = broker_name(0);
  g_autofree char *elsewhere = another_broker(ended, FALSE), *crowded_out = another_broker(elsewhere, TRUE);
  tide_kafka_error_remember_certificate(crowded_out, X509_V_ERR_CERT_NOT_YET_VALID);
  tide_kafka_error_remember_certificate(ended, X509_V_ERR_CERT_HAS_EXPIRED);
  tide_kafka_error_remember_certificate(elsewhere, X509_V_ERR_HOSTNAME_MISMATCH);
  assert_told(ended, "or one that signed it, has expired");
  assert_told(elsewhere, "for another host than 'kafka.brokers' or its advertised");
  assert_told(crowded_out, OF_ALL_WAYS);
  assert_told("never.refused:9093", OF_ALL_WAYS);
  tide_kafka_error_remember_certificate(ended, X509_V_ERR_HOSTNAME_MISMATCH); /* renewed, wrongly */
  assert_told(ended, "for another host than 'kafka.brokers' or its advertised");
}

/* ---- rights ---- */

static void
assert_says(char *(*say)(const TideKafkaConfig *, TideKafkaAcl, const char *), const char *user, TideKafkaAcl right,
            const char *name, const char *wanted)
{
  TideKafkaConfig config = {.properties = g_array_new(FALSE, TRUE, sizeof(TideKafkaProperty))};
  TideKafkaProperty property = {(char *)"sasl.username", (char *)user, FALSE};
  if (user != NULL)
    g_array_append_val(config.properties, property);
  g_autofree char *said = say(&config, right, name);
  g_assert_cmpstr(said, ==, wanted);
  g_array_unref(config.properties);
}

TEST("/kafka-right/missing")
{
  assert_says(
      tide_kafka_acl_hint, "meter", TIDE_KAFKA_ACL_READ, "metrics",
      "user 'meter' may not read topic 'metrics': grant Read, for example with kafka-acls --add --allow-principal "
      "User:meter --operation Read --topic metrics");
  assert_says(
      tide_kafka_acl_hint, "meter", TIDE_KAFKA_ACL_WRITE, "letters",
      "user 'meter' may not write to topic 'letters': grant Write, for example with kafka-acls --add --allow-principal "
      "User:meter --operation Write --topic letters");
  assert_says(
      tide_kafka_acl_hint, NULL, TIDE_KAFKA_ACL_GROUP, "tidemark",
      "the user of this connection may not be in group 'tidemark': grant Read, for example with kafka-acls --add "
      "--allow-principal User:NAME --operation Read --group tidemark");
}

TEST("/kafka-right/words-for-a-shell")
{
  assert_says(
      tide_kafka_acl_hint, "CN=a b", TIDE_KAFKA_ACL_GROUP, "it's $HOME",
      "user 'CN=a b' may not be in group 'it's $HOME': grant Read, for example with kafka-acls --add --allow-principal "
      "'User:CN=a b' --operation Read --group 'it'\\''s $HOME'");
  assert_says(tide_kafka_acl_hint, "m", TIDE_KAFKA_ACL_GROUP, "",
              "user 'm' may not be in group '': grant Read, for example with kafka-acls --add --allow-principal User:m "
              "--operation Read --group ''");
}

/* What a client purges after a fatal error is not the fault: the error is. */
TEST("/kafka-error/fatal-error-is-told-of-what-it-purges")
{
  static const rd_kafka_resp_err_t codes[] = {RD_KAFKA_RESP_ERR__FATAL, RD_KAFKA_RESP_ERR__PURGE_QUEUE,
                                              RD_KAFKA_RESP_ERR__PURGE_INFLIGHT};
  rd_kafka_t *kafka = rd_kafka_new(RD_KAFKA_PRODUCER, rd_kafka_conf_new(), NULL, 0);
  rd_kafka_test_fatal_error(kafka, RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER, "it lost its place");
  for (gsize i = 0; i < G_N_ELEMENTS(codes); i++) {
    rd_kafka_resp_err_t code = codes[i];
    g_autofree char *text = tide_kafka_error_describe(kafka, &code);
    g_assert_cmpint(code, ==, RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER);
    g_assert_nonnull(strstr(text, "it lost its place"));
  }
  rd_kafka_resp_err_t other = RD_KAFKA_RESP_ERR__TIMED_OUT;
  g_autofree char *text = tide_kafka_error_describe(kafka, &other);
  g_assert_cmpstr(text, ==, "Local: Timed out");
  rd_kafka_destroy(kafka);
}

static char *
absent(const TideKafkaConfig *config, TideKafkaAcl right, const char *name)
{
  return tide_kafka_acl_hint_absent(config, right, name, RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
}

static char *
hidden(const TideKafkaConfig *config, TideKafkaAcl right, const char *name)
{
  return tide_kafka_acl_hint_absent(config, right, name, RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED);
}

static char *
untold(const TideKafkaConfig *config, TideKafkaAcl right, const char *name)
{
  return tide_kafka_acl_hint_absent(config, right, name, RD_KAFKA_RESP_ERR__TIMED_OUT);
}

TEST("/kafka-right/absent")
{
  assert_says(absent, "m", TIDE_KAFKA_ACL_READ, "metrics", "does not exist: create it, or correct its name");
  assert_says(hidden, "m", TIDE_KAFKA_ACL_READ, "metrics",
              "is not shown, if it exists; user 'm' may not read topic 'metrics': grant Read, for example with "
              "kafka-acls --add "
              "--allow-principal User:m --operation Read --topic metrics");
  assert_says(untold, "m", TIDE_KAFKA_ACL_READ, "metrics",
              "does not exist, or this user may not see it (Local: Timed out): create it, or correct its name");
}
