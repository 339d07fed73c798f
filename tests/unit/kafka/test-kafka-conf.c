#include "kafka/kafka_conf.h"
#include "kafka/kafka_error.h"
#include "unit/config-texts.h"
#include "util/error.h"

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
                           .properties = g_array_new(FALSE, TRUE, sizeof(TideKafkaProperty))};
}

static void
add_property(TideKafkaConfig *config, const char *name, const char *value, gboolean is_secret)
{
  TideKafkaProperty property = {(char *)name, (char *)value, is_secret};
  g_array_append_val(config->properties, property);
}

static rd_kafka_conf_t *
conf_of(const TideKafkaConfig *config, const TideKafkaConsumerConf *consumer)
{
  g_autoptr(GError) error = NULL;
  rd_kafka_conf_t *conf = tide_kafka_conf_new_consumer(config, consumer, &error);
  g_assert_no_error(error);
  return conf;
}

static rd_kafka_conf_t *
consumer_conf(const TideKafkaConfig *config)
{
  return conf_of(config, &(TideKafkaConsumerConf){.index = 3, .queue_bytes = 64 * 1024 * 1024});
}

static void
assert_property(const rd_kafka_conf_t *conf, const char *name, const char *wanted)
{
  char value[256];
  gsize size = sizeof value;
  g_assert_cmpint(rd_kafka_conf_get(conf, name, value, &size), ==, RD_KAFKA_CONF_OK);
  g_assert_cmpstr(value, ==, wanted);
}

static void
test_what_delivery_rests_on(void)
{
  TideKafkaConfig config = config_with(TIDE_ASSIGNMENT_EAGER, NULL);
  add_property(&config, "topic.metadata.refresh.interval.ms", "5000", FALSE);
  rd_kafka_conf_t *conf = consumer_conf(&config);
  assert_property(conf, "partition.assignment.strategy", "range,roundrobin");
  assert_property(conf, "enable.auto.offset.store", "false");
  assert_property(conf, "auto.commit.interval.ms", "1000");
  assert_property(conf, "auto.offset.reset", "error");
  assert_property(conf, "enable.partition.eof", "true");
  assert_property(conf, "check.crcs", "true");
  assert_property(conf, "topic.metadata.refresh.interval.ms", "5000"); /* ours is a default */
  rd_kafka_conf_destroy(conf);
  g_array_unref(config.properties);
}

static void
test_membership(void)
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

static void
test_principal_is_never_a_secret(void)
{
  TideKafkaConfig config = config_with(TIDE_ASSIGNMENT_EAGER, NULL);
  g_assert_null(tide_kafka_principal(&config));
  add_property(&config, "sasl.password", "canary", TRUE);
  g_assert_null(tide_kafka_principal(&config));
  add_property(&config, "sasl.username", "meter", FALSE);
  g_assert_cmpstr(tide_kafka_principal(&config), ==, "meter");
  g_array_unref(config.properties);
}

static void
test_property_that_nobody_knows(void)
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
    "api.version.request.timeout.ms",
    "broker.address.family",
    "broker.address.ttl",
    "builtin.features",
    "client.id",
    "client.rack",
    "compression.codec",
    "compression.level",
    "compression.type",
    "connections.max.idle.ms",
    "consume.callback.max.messages",
    "coordinator.query.interval.ms",
    "debug",
    "enable.random.seed",
    "enable.sasl.oauthbearer.unsecure.jwt",
    "fetch.error.backoff.ms",
    "fetch.min.bytes",
    "fetch.wait.max.ms",
    "log.connection.close",
    "log.thread.name",
    "log_level",
    "message.copy.max.bytes",
    "metadata.max.age.ms",
    "plugin.library.paths",
    "produce.offset.report",
    "queue.buffering.backpressure.threshold",
    "reconnect.backoff.jitter.ms",
    "reconnect.backoff.max.ms",
    "reconnect.backoff.ms",
    "retry.backoff.ms",
    "sasl.kerberos.keytab",
    "sasl.kerberos.kinit.cmd",
    "sasl.kerberos.min.time.before.relogin",
    "sasl.kerberos.principal",
    "sasl.kerberos.service.name",
    "sasl.mechanism",
    "sasl.mechanisms",
    "sasl.oauthbearer.client.id",
    "sasl.oauthbearer.client.secret",
    "sasl.oauthbearer.config",
    "sasl.oauthbearer.extensions",
    "sasl.oauthbearer.method",
    "sasl.oauthbearer.scope",
    "sasl.oauthbearer.token.endpoint.url",
    "sasl.password",
    "sasl.username",
    "security.protocol",
    "socket.blocking.max.ms",
    "socket.connection.setup.timeout.ms",
    "socket.keepalive.enable",
    "socket.max.fails",
    "socket.nagle.disable",
    "socket.receive.buffer.bytes",
    "socket.send.buffer.bytes",
    "socket.timeout.ms",
    "ssl.ca.certificate.stores",
    "ssl.ca.location",
    "ssl.ca.pem",
    "ssl.certificate.location",
    "ssl.certificate.pem",
    "ssl.cipher.suites",
    "ssl.crl.location",
    "ssl.curves.list",
    "ssl.engine.id",
    "ssl.engine.location",
    "ssl.key.location",
    "ssl.key.password",
    "ssl.key.pem",
    "ssl.keystore.location",
    "ssl.keystore.password",
    "ssl.providers",
    "ssl.sigalgs.list",
    "ssl_ca", /* these three: librdkafka refuses them as texts */
    "ssl_certificate",
    "ssl_key",
    "sticky.partitioning.linger.ms",
    "topic.blacklist",
    "topic.metadata.refresh.fast.cnt",
    "topic.metadata.refresh.fast.interval.ms",
    "topic.metadata.refresh.sparse",
    /* and with some values refused */
    "allow.auto.create.topics",
    "api.version.request",
    "enable.ssl.certificate.verification",
    "isolation.level",
    "ssl.endpoint.identification.algorithm",
    "topic.metadata.refresh.interval.ms",
    NULL,
};

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
static void
test_every_property_was_judged(void)
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
static void
test_what_clients_fix_cannot_be_set(void)
{
  TideKafkaConfig config = config_with(TIDE_ASSIGNMENT_EAGER, NULL);
  TideKafkaConsumerConf consumer = {.queue_bytes = 64 * 1024 * 1024};
  g_autoptr(GError) error = NULL;
  rd_kafka_conf_t *plain = tide_kafka_conf_new(&config, NULL, &error);
  rd_kafka_conf_t *ours[] = {tide_kafka_conf_new_consumer(&config, &consumer, &error),
                             tide_kafka_conf_new_originals(&config, &error),
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

static void
test_values_that_break_a_promise(void)
{
  static const char *const bad[][3] = {
      {"delivery.report.only.error", "true", "must be reported, else its offset never moves"},
      {"transactional.id", "x", "none would ever be sent"},
      {"acks", "1", "all in-sync replicas"},
      {"isolation.level", "read_uncommitted", "readings that their sender took back would be written"},
      {"topic.metadata.refresh.interval.ms", "-1", "a partition that is added would never be read"},
      {"allow.auto.create.topics", "true", "a misspelt topic would be made"},
      {"api.version.request", "false", "headers of dead letters would be lost"},
      {"test.mock.num.brokers", "3", "brokers would be made up"},
  };
  static const char *const good[][2] = {{"isolation.level", "read_committed"},
                                        {"topic.metadata.refresh.interval.ms", "5000"},
                                        {"allow.auto.create.topics", "false"},
                                        {"api.version.request", "true"}};
  for (gsize i = 0; i < G_N_ELEMENTS(bad); i++) {
    g_autofree char *problems = problems_with(bad[i][0], bad[i][1]);
    g_assert_nonnull(strstr(problems, bad[i][2]));
  }
  for (gsize i = 0; i < G_N_ELEMENTS(good); i++) {
    g_autofree char *problems = problems_with(good[i][0], good[i][1]);
    g_assert_cmpstr(problems, ==, "");
  }
}

static void
test_properties_are_told_with_place_and_nearest(void)
{
  g_autofree char *unknown = problems_with("fetch.wait.max.mss", "1");
  g_autofree char *expected = g_strdup_printf(
      "1:59 error: 'fetch.wait.max.mss' is no property of librdkafka %s: did you mean 'fetch.wait.max.ms'?\n",
      rd_kafka_version_str());
  g_assert_cmpstr(unknown, ==, expected);
  g_autofree char *of_a_topic = problems_with("compression.levels", "1");
  g_assert_nonnull(strstr(of_a_topic, "did you mean 'compression.level'?"));
  g_autofree char *without_value = problems_with("sasl.pasword", "1");
  g_assert_nonnull(strstr(without_value, "did you mean 'sasl.password'?"));
  g_autofree char *range = problems_with("fetch.min.bytes", "0");
  g_assert_true(g_str_has_prefix(range, "1:59 error: 'fetch.min.bytes' is not accepted: "));
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
static void
test_any_memory_makes_clients(void)
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
static void
test_fetches_are_a_part_of_the_queue(void)
{
  static const char *const memories[] = {"32MiB", "256MiB", "8GiB"};
  for (gsize i = 0; i < G_N_ELEMENTS(memories); i++) {
    g_autoptr(TideConfig) config = config_with_memory(memories[i]);
    config->readings.decode.max_message_bytes = MAX_MESSAGE_BYTES;
    TideKafkaConsumerConf consumer = tide_kafka_conf_consumer(config, 0);
    rd_kafka_conf_t *conf = conf_of(&config->kafka, &consumer);
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
static void
test_queues_of_tiny_messages_keep_to_the_memory(void)
{
  static const char *const memories[] = {"16MiB", "256MiB", "8GiB"};
  for (gsize i = 0; i < G_N_ELEMENTS(memories); i++) {
    g_autoptr(TideConfig) config = config_with_memory(memories[i]);
    TideKafkaConsumerConf consumer = tide_kafka_conf_consumer(config, 0);
    rd_kafka_conf_t *conf = conf_of(&config->kafka, &consumer);
    guint64 n_messages = number_of(conf, "queued.min.messages");
    g_assert_cmpuint(n_messages * QUEUED_MESSAGE_BYTES, <=, MAX(consumer.queue_bytes, 4 << 20));
    g_assert_cmpuint(n_messages, >=, 10000); /* some fetches */
    rd_kafka_conf_destroy(conf);
  }
}

static void
test_originals_have_room_for_many_partitions(void)
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
static void
test_clients_that_cannot_be_made(void)
{
  static const char *const properties[][4] = {
      {"sasl_ssl", "sasl.mechanism", "PLAIN", "sasl.username"},
      {"ssl", "ssl.ca.location", "/no/such/file", "'ssl.ca.location' ('/no/such/file'): No such file or directory ("},
      {"ssl", "ssl.certificate.location", "/no/such/file",
       "'ssl.certificate.location' ('/no/such/file'): No such file or "},
      {"ssl", "ssl.key.location", "/no/such/file", "'ssl.key.location' ('/no/such/file'): No such file or directory ("},
      {"ssl", "ssl.ca.location", "/dev/null", "'ssl.ca.location' ('/dev/null'): holds no certificate in PEM form ("},
      {"ssl", "ssl.key.location", "/dev/null", "wants another 'ssl.key.password' ("}};
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

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/kafka-conf/what-delivery-rests-on", test_what_delivery_rests_on);
  g_test_add_func("/kafka-conf/membership", test_membership);
  g_test_add_func("/kafka-conf/principal-is-never-a-secret", test_principal_is_never_a_secret);
  g_test_add_func("/kafka-conf/F7-property-that-nobody-knows", test_property_that_nobody_knows);
  g_test_add_func("/kafka-conf/F12-every-property-was-judged", test_every_property_was_judged);
  g_test_add_func("/kafka-conf/F12-what-clients-fix-cannot-be-set", test_what_clients_fix_cannot_be_set);
  g_test_add_func("/kafka-conf/F12-values-that-break-a-promise", test_values_that_break_a_promise);
  g_test_add_func("/kafka-conf/place-and-nearest", test_properties_are_told_with_place_and_nearest);
  g_test_add_func("/kafka-conf/F6-any-memory-makes-clients", test_any_memory_makes_clients);
  g_test_add_func("/kafka-conf/fetches-are-a-part-of-the-queue", test_fetches_are_a_part_of_the_queue);
  g_test_add_func("/kafka-conf/queues-of-tiny-messages", test_queues_of_tiny_messages_keep_to_the_memory);
  g_test_add_func("/kafka-conf/originals-have-room", test_originals_have_room_for_many_partitions);
  g_test_add_func("/kafka-conf/clients-that-cannot-be-made", test_clients_that_cannot_be_made);
  return g_test_run();
}
