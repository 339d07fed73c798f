/* What is said of a right that is missing: whose, and the command that grants it, which a shell takes as it stands. */
#include "kafka/kafka_error.h"

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

static void
test_missing(void)
{
  assert_says(tide_kafka_acl_hint, "meter", TIDE_KAFKA_ACL_READ, "metrics",
              "user 'meter' may not read topic 'metrics': grant Read, as by kafka-acls --add --allow-principal "
              "User:meter --operation Read --topic metrics");
  assert_says(tide_kafka_acl_hint, "meter", TIDE_KAFKA_ACL_WRITE, "letters",
              "user 'meter' may not write to topic 'letters': grant Write, as by kafka-acls --add --allow-principal "
              "User:meter --operation Write --topic letters");
  assert_says(tide_kafka_acl_hint, NULL, TIDE_KAFKA_ACL_GROUP, "tidemark",
              "the user of this connection may not be in group 'tidemark': grant Read, as by kafka-acls --add "
              "--allow-principal User:NAME --operation Read --group tidemark");
}

static void
test_words_for_a_shell(void)
{
  assert_says(tide_kafka_acl_hint, "CN=a b", TIDE_KAFKA_ACL_GROUP, "it's $HOME",
              "user 'CN=a b' may not be in group 'it's $HOME': grant Read, as by kafka-acls --add --allow-principal "
              "'User:CN=a b' --operation Read --group 'it'\\''s $HOME'");
  assert_says(tide_kafka_acl_hint, "m", TIDE_KAFKA_ACL_GROUP, "",
              "user 'm' may not be in group '': grant Read, as by kafka-acls --add --allow-principal User:m "
              "--operation Read --group ''");
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

static void
test_absent(void)
{
  assert_says(absent, "m", TIDE_KAFKA_ACL_READ, "metrics", "does not exist: create it, or correct its name");
  assert_says(hidden, "m", TIDE_KAFKA_ACL_READ, "metrics",
              "is not shown, if it exists; user 'm' may not read topic 'metrics': grant Read, as by kafka-acls --add "
              "--allow-principal User:m --operation Read --topic metrics");
  assert_says(untold, "m", TIDE_KAFKA_ACL_READ, "metrics",
              "does not exist, or this user may not see it (Local: Timed out): create it, or correct its name");
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/kafka-right/missing", test_missing);
  g_test_add_func("/kafka-right/words-for-a-shell", test_words_for_a_shell);
  g_test_add_func("/kafka-right/absent", test_absent);
  return g_test_run();
}
