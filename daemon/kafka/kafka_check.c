#include "kafka/kafka_check.h"

#include "config/option/nearest_name.h"
#include "kafka/kafka_conf.h"
#include "kafka/kafka_library.h"
#include "util/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- properties, each by itself ---- */

/* All that librdkafka knows, also what has no value unless it is set; those of topics among them. It prints them, one a
 * line, as "name | ...". (transfer full), NULL-terminated */
static char **
known_names(void)
{
  char *text = NULL;
  size_t len = 0;
  FILE *stream = open_memstream(&text, &len);
  if (stream == NULL)
    return g_new0(char *, 1);
  rd_kafka_conf_properties_show(stream);
  fclose(stream);
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  free(text);
  GPtrArray *names = g_ptr_array_new();
  for (char **line = lines; *line != NULL; line++)
    if (g_ascii_islower(**line) && strchr(*line, '|') != NULL)
      g_ptr_array_add(names, g_strndup(*line, strcspn(*line, " |")));
  g_ptr_array_add(names, NULL);
  return (char **)g_ptr_array_free(names, FALSE);
}

static void
add_unknown(const TideKafkaProperty *property, GPtrArray *problems)
{
  g_auto(GStrv) names = known_names();
  const char *nearest = tide_nearest_name(property->name, (const char *const *)names);
  g_autofree char *shown = tide_problem_quote(property->name);
  tide_problems_add_error(problems, property->position, "'%s' is no property of librdkafka %s%s%s%s", shown,
                          rd_kafka_version_str(), nearest != NULL ? ": did you mean '" : "",
                          nearest != NULL ? nearest : "", nearest != NULL ? "'?" : "");
}

void
tide_kafka_check_properties(const TideConfig *config, GPtrArray *problems)
{
  rd_kafka_conf_t *conf = rd_kafka_conf_new();
  for (guint i = 0; i < config->kafka.properties->len; i++) {
    const TideKafkaProperty *property = &g_array_index(config->kafka.properties, TideKafkaProperty, i);
    char reason[512];
    rd_kafka_conf_res_t result = rd_kafka_conf_set(conf, property->name, property->value, reason, sizeof reason);
    if (result == RD_KAFKA_CONF_UNKNOWN)
      add_unknown(property, problems);
    else if (result != RD_KAFKA_CONF_OK && property->secret) /* its words would repeat the value */
      tide_problems_add_error(problems, property->position, "the value of '%s' is not accepted", property->name);
    else if (result != RD_KAFKA_CONF_OK)
      tide_problems_add_error(problems, property->position, "'%s' is not accepted: %s", property->name, reason);
  }
  rd_kafka_conf_destroy(conf);
  const TideKafkaLibrary library = tide_kafka_library();
  tide_kafka_library_check(&library, &config->kafka, problems);
}

/* ---- clients ---- */

/* @conf: (transfer full) (nullable): NULL with @error set. */
static gboolean
try_client(rd_kafka_type_t type, rd_kafka_conf_t *conf, GError **error)
{
  if (conf != NULL) { /* what matters is returned; without brokers there is nothing else to be said */
    rd_kafka_conf_set_log_cb(conf, NULL);
    (void)rd_kafka_conf_set(conf, "bootstrap.servers", NULL, NULL, 0);
  }
  rd_kafka_t *client = tide_kafka_conf_connect(type, conf, error);
  if (client != NULL)
    rd_kafka_destroy(client);
  return client != NULL;
}

gboolean
tide_kafka_check_clients(const TideConfig *config, GError **error)
{
  TideKafkaConsumerConf consumer = tide_kafka_conf_consumer(config, 0);
  return try_client(RD_KAFKA_CONSUMER, tide_kafka_conf_new_consumer(&config->kafka, &consumer, error), error) &&
         try_client(RD_KAFKA_CONSUMER, tide_kafka_conf_new_originals(&config->kafka, error), error) &&
         try_client(RD_KAFKA_PRODUCER, tide_kafka_conf_new_dead_letters(&config->kafka, FALSE, error), error);
}
