#include "flow/kafka_conf.h"

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
consumer_conf(const TideKafkaConfig *config)
{
  TideKafkaConsumerConf consumer = {.index = 3, .queue_bytes = 64 * 1024 * 1024, .max_message_bytes = 1024 * 1024};
  g_autoptr(GError) error = NULL;
  rd_kafka_conf_t *conf = tide_kafka_conf_new_consumer(config, &consumer, &error);
  g_assert_no_error(error);
  return conf;
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
  rd_kafka_conf_destroy(conf);
  g_array_unref(config.properties);
}

static void
test_principal_is_never_a_secret(void)
{
  TideKafkaConfig config = config_with(TIDE_ASSIGNMENT_EAGER, NULL);
  g_assert_null(tide_kafka_conf_principal(&config));
  add_property(&config, "sasl.password", "canary", TRUE);
  g_assert_null(tide_kafka_conf_principal(&config));
  add_property(&config, "sasl.username", "meter", FALSE);
  g_assert_cmpstr(tide_kafka_conf_principal(&config), ==, "meter");
  g_array_unref(config.properties);
}

static void
test_property_that_nobody_knows(void)
{
  TideKafkaConfig config = config_with(TIDE_ASSIGNMENT_EAGER, NULL);
  add_property(&config, "no.such.property", "1", FALSE);
  g_autoptr(GError) error = NULL;
  g_assert_null(tide_kafka_conf_new(&config, &error));
  g_assert_error(error, TIDE_ERROR, TIDE_ERROR_CONFIG);
  g_assert_nonnull(strstr(error->message, "'no.such.property' is not accepted"));
  g_array_unref(config.properties);
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/kafka-conf/what-delivery-rests-on", test_what_delivery_rests_on);
  g_test_add_func("/kafka-conf/membership", test_membership);
  g_test_add_func("/kafka-conf/principal-is-never-a-secret", test_principal_is_never_a_secret);
  g_test_add_func("/kafka-conf/F7-property-that-nobody-knows", test_property_that_nobody_knows);
  return g_test_run();
}
