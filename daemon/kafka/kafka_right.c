#include "kafka/kafka_right.h"

#include "kafka/kafka_conf.h"
#include "util/error.h"

static const struct {
  const char *refused, *operation, *option;
} rights[] = {
    [TIDE_KAFKA_RIGHT_READ] = {"may not read topic", "Read", "--topic"},
    [TIDE_KAFKA_RIGHT_WRITE] = {"may not write to topic", "Write", "--topic"},
    [TIDE_KAFKA_RIGHT_GROUP] = {"may not be in group", "Read", "--group"},
};

char *
tide_kafka_right_missing(const TideKafkaConfig *config, TideKafkaRight right, const char *name)
{
  const char *user = tide_kafka_conf_principal(config);
  g_autofree char *who = user != NULL ? g_strdup_printf("user '%s'", user) : g_strdup("the user of this connection");
  g_autofree char *principal = g_strconcat("User:", user != NULL ? user : "NAME", NULL);
  g_autofree char *principal_word = tide_shell_word(principal);
  g_autofree char *name_word = tide_shell_word(name);
  return g_strdup_printf("%s %s '%s': grant %s, as by kafka-acls --add --allow-principal %s --operation %s %s %s", who,
                         rights[right].refused, name, rights[right].operation, principal_word, rights[right].operation,
                         rights[right].option, name_word);
}

char *
tide_kafka_right_absent(const TideKafkaConfig *config, TideKafkaRight right, const char *name, rd_kafka_resp_err_t code)
{
  static const char remedy[] = "create it, or correct its name";
  g_autofree char *missing = tide_kafka_right_missing(config, right, name);
  if (code == RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED)
    return g_strdup_printf("is not shown, if it exists; %s", missing);
  if (code == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART)
    return g_strdup_printf("does not exist: %s", remedy);
  return g_strdup_printf("does not exist, or this user may not see it (%s): %s", rd_kafka_err2str(code), remedy);
}
