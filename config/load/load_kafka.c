/* kafka.librdkafka: properties that are passed on, secrets from files, and properties that tidemark sets itself. */
#include "config/load/load_pieces.h"
#include "config/option/option.h"
#include "config/yaml/secret.h"
#include "util/error.h"
#include "util/secret_file.h"

#include <arpa/inet.h>
#include <glib/gstdio.h>
#include <string.h>

/* Brokers accept 249 bytes for a name; the host name has up to 64, the thread's number 3. */
#define MAX_INSTANCE_BYTES 128u

/* Properties that affect delivery. tidemark sets them, some from an option of its own. Every property that a client of
 * this program sets is listed, so that none is overridden silently. */
static const struct {
  const char *reason;
  const char *names[7]; /* terminated by NULL */
} owned_properties[] = {
    {"use 'kafka.brokers'", {"bootstrap.servers", "metadata.broker.list"}},
    {"use 'kafka.group'", {"group.id"}},
    {"use 'kafka.instance', to which each thread adds its number", {"group.instance.id"}},
    {"use 'kafka.assignment'", {"partition.assignment.strategy", "group.remote.assignor"}},
    {"use 'kafka.session_timeout'", {"session.timeout.ms"}},
    {"use 'kafka.max_poll_interval'", {"max.poll.interval.ms"}},
    {"use 'kafka.commit_interval'", {"auto.commit.interval.ms"}},
    {"it is derived from 'kafka.session_timeout'", {"heartbeat.interval.ms"}},
    {"use 'kafka.start' for a new group; an offset out of range is reported as an error, never skipped silently",
     {"auto.offset.reset"}},
    {"tidemark commits only offsets whose rows HBase has acknowledged", {"enable.auto.commit", "auto.commit.enable"}},
    {"tidemark stores an offset when HBase has acknowledged its rows; storing it earlier would lose readings in a "
     "crash",
     {"enable.auto.offset.store"}},
    {"the brokers store the offsets", {"offset.store.method", "offset.store.path", "offset.store.sync.interval.ms"}},
    {"tidemark needs the end of a partition to calculate the lag", {"enable.partition.eof"}},
    {"it is always on: a damaged message must not become a row", {"check.crcs"}},
    {"tidemark needs the classic group protocol, which 'kafka.assignment' configures",
     {"group.protocol", "group.protocol.type"}},
    {"tidemark asks the brokers for their version; a guess would lose the headers of dead letters",
     {"broker.version.fallback", "api.version.fallback.ms"}},
    {"tidemark sets it so that a full queue is refilled at once", {"fetch.queue.backoff.ms"}},
    {"the events would accumulate in memory unread; see docs/metrics.md for figures", {"statistics.interval.ms"}},
    {"the signal is not handled and would end the process without a drain", {"internal.termination.signal"}},
    {"a dead letter is kept only when all in-sync replicas have it", {"acks", "request.required.acks"}},
    {"without the report of a kept dead letter, its offset never advances", {"delivery.report.only.error"}},
    {"dead letters are sent outside transactions; with one, none would be sent", {"transactional.id"}},
    {"dead letters are sent outside transactions", {"transaction.timeout.ms"}},
    {"tidemark sets it so that no dead letter is lost", {"enable.idempotence"}},
    {"tidemark sets it so that no dead letter is duplicated, lost or reordered",
     {"enable.gapless.guarantee", "max.in.flight", "max.in.flight.requests.per.connection", "queuing.strategy"}},
    {"it belongs to share groups, in which members own no partitions",
     {"max.poll.records", "share.acknowledgement.mode"}},
    {"only programs can set it",
     {"msg_order_cmp", "enabled_events", "log.queue", "opaque", "default_topic_conf", "interceptors"}},
    {"a dead letter is retried until it is kept; every 10 s the log reports why it is not",
     {"message.timeout.ms", "delivery.timeout.ms", "request.timeout.ms", "message.send.max.retries", "retries"}},
    {"tidemark sets it so that a missing dead-letter topic is reported soon", {"topic.metadata.propagation.max.ms"}},
    {"use 'readings.max_message_size' for messages; the topic's max.message.bytes limits dead letters",
     {"message.max.bytes"}},
    {"'limits.memory' limits the dead letters in flight",
     {"queue.buffering.max.messages", "queue.buffering.max.kbytes"}},
    {"dead letters are sent in small batches, so that a topic refuses one only for its own size",
     {"queue.buffering.max.ms", "linger.ms", "batch.size", "batch.num.messages"}},
    {"dead letters use the partitioner of Java producers", {"partitioner"}},
    {"it is derived from 'limits.memory'",
     {"fetch.max.bytes", "max.partition.fetch.bytes", "fetch.message.max.bytes", "receive.message.max.bytes"}},
};

static const char *
owned_reason(const char *name)
{
  for (gsize i = 0; i < G_N_ELEMENTS(owned_properties); i++)
    if (g_strv_contains(owned_properties[i].names, name))
      return owned_properties[i].reason;
  if (g_str_has_prefix(name, "queued."))
    return "it is derived from 'limits.memory'";
  if (g_str_has_prefix(name, "test."))
    return "it is for tests of librdkafka: it would simulate the brokers";
  if (g_str_has_suffix(name, "_cb") || g_str_has_prefix(name, "ssl_engine_callback"))
    return "only programs can set it";
  return NULL;
}

static void
add_property(TideLoad *load, const TideYamlNode *key, char *value, gboolean is_secret)
{
  TideKafkaProperty property = {g_strdup(key->text), value, is_secret, key->position};
  GStatBuf info;

  /* A keytab is read again for each ticket. */
  if ((g_str_has_prefix(key->text, "ssl.") || g_str_has_prefix(key->text, "https.")) &&
      g_str_has_suffix(key->text, ".location") && g_stat(value, &info) == 0) {
    property.file_changed_us = info.st_mtim.tv_sec * G_USEC_PER_SEC + info.st_mtim.tv_nsec / 1000;
    property.file_bytes = info.st_size;
  }
  g_array_append_val(load->config->kafka.properties, property);
}

/* librdkafka names its paths alike: ssl.ca.location, sasl.kerberos.keytab, sasl.oauthbearer.assertion.file. */
static gboolean
names_path(const char *name)
{
  return g_str_has_suffix(name, ".location") || g_str_has_suffix(name, ".keytab") || g_str_has_suffix(name, ".file");
}

/* { file: PATH } or { credential: NAME }. */
static void
load_secret(TideLoad *load, const TideYamlNode *key, const TideYamlNode *node)
{
  const TideYamlNode *file = tide_yaml_get(node, "file");
  const TideYamlNode *credential = tide_yaml_get(node, "credential");
  const TideYamlNode *source = file != NULL ? file : credential;
  g_autoptr(GError) error = NULL;

  /* librdkafka would use the file's content as a path. */
  if (names_path(key->text)) {
    tide_load_error(load, node, "'kafka.librdkafka.%s' is a path: write it without 'file:'%s", key->text,
                    strcmp(key->text, "ssl.key.location") == 0
                        ? "; for a key in a credential write 'ssl.key.pem: { credential: NAME }'"
                        : "");
    return;
  }
  if (node->kind != TIDE_YAML_MAPPING || node->keys->len != 1 || source == NULL || source->kind != TIDE_YAML_SCALAR ||
      tide_yaml_is_null(source)) {
    g_autofree char *shown = tide_yaml_quote(key);
    tide_load_error(load, node, "'kafka.librdkafka.%s' must be a text, { file: /path } or { credential: NAME }", shown);
    return;
  }
  g_autofree char *path = file != NULL ? tide_load_path(load, file->text) : NULL;
  TideSecretSource where = {.file = path, .credential = credential != NULL ? credential->text : NULL};
  char *secret = tide_secret_read(&where, &error);
  if (secret == NULL)
    tide_load_error(load, source, "%s", error->message);
  else
    add_property(load, key, secret, TRUE);
}

static void
load_text_property(TideLoad *load, const TideYamlNode *key, const TideYamlNode *node)
{
  gboolean is_secret = tide_secret_is_name(key->text);
  g_autofree char *shown = tide_yaml_quote(key);

  if (tide_yaml_is_null(node) || strlen(node->text) != node->len) {
    tide_load_error(load, node, "'kafka.librdkafka.%s' needs a value without NUL bytes", shown);
    return;
  }
  g_autoptr(GError) error = NULL;
  if (!is_secret && !tide_config_option_check_no_variable(node->text, &error)) {
    tide_load_error(load, node, "'kafka.librdkafka.%s' %s", shown, error->message);
    return;
  }
  if (is_secret && load->has_mode && (load->mode & 0007u) != 0) {
    g_autofree char *path = tide_problem_quote(load->config->path);
    tide_load_error(load, node,
                    "'kafka.librdkafka.%s' is in a file that every user can read (mode %04o): run 'chmod 0640 %s', or "
                    "move it to its own file: { file: /path }",
                    shown, load->mode, path);
    return;
  }
  /* "probe" is not a path: librdkafka then searches for the host's CAs. */
  gboolean is_path = names_path(key->text) && *node->text != '\0' && strcmp(node->text, "probe") != 0;
  add_property(load, key, is_path ? tide_load_path(load, node->text) : g_strdup(node->text), is_secret);
}

static const char *
property_value(const TideLoad *load, const char *name)
{
  const TideKafkaProperty *property = tide_config_find_property(&load->config->kafka, name);
  return property != NULL ? property->value : NULL;
}

static gboolean
property_is(const TideLoad *load, const char *name, const char *const *values)
{
  const char *value = property_value(load, name);

  for (; value != NULL && *values != NULL; values++) {
    if (g_ascii_strcasecmp(value, *values) == 0)
      return TRUE;
  }
  return FALSE;
}

static TideSourcePosition
property_position(const TideLoad *load, const char *name)
{
  return tide_yaml_get(tide_yaml_find(load->root, "kafka.librdkafka"), name)->position;
}

/* The kinds of a connection to brokers. */
typedef struct SecurityProtocol {
  const char *name;
  gboolean has_tls, has_sasl;
} SecurityProtocol;

/* No name if the property is not set, or librdkafka rejects its value. */
static SecurityProtocol
security_protocol(const TideLoad *load)
{
  static const SecurityProtocol protocols[] = {
      {"plaintext", FALSE, FALSE}, {"ssl", TRUE, FALSE}, {"sasl_plaintext", FALSE, TRUE}, {"sasl_ssl", TRUE, TRUE}};
  const char *value = property_value(load, "security.protocol");
  for (gsize i = 0; value != NULL && i < G_N_ELEMENTS(protocols); i++)
    if (g_ascii_strcasecmp(value, protocols[i].name) == 0)
      return protocols[i];
  return (SecurityProtocol){0};
}

/* Warns of the first TLS option without TLS, because everything would be sent in clear text. An explicit 'plaintext' is
 * not questioned. */
static void
check_tls_is_used(TideLoad *load)
{
  const TideYamlNode *node = tide_yaml_find(load->root, "kafka.librdkafka");
  if (security_protocol(load).name != NULL)
    return;
  for (guint i = 0; i < node->keys->len; i++) {
    const TideYamlNode *key = g_ptr_array_index(node->keys, i);
    if (!g_str_has_prefix(key->text, "ssl."))
      continue;
    g_autofree char *shown = tide_yaml_quote(key);
    tide_load_error(load, key,
                    "'%s' has no effect without TLS, and all data is sent in clear text: set 'security.protocol' to "
                    "'ssl', or to 'sasl_ssl' with a 'sasl.mechanism' (or to 'plaintext' if that is intended)",
                    shown);
    return;
  }
}

/* Without a mechanism librdkafka uses Kerberos, and complains about a missing keytab even if there is a password. */
static void
check_mechanism_is_said(TideLoad *load)
{
  static const char *const enough[] = {"sasl.mechanism", "sasl.mechanisms", "sasl.kerberos.keytab",
                                       "sasl.kerberos.kinit.cmd"};
  const TideYamlNode *node = tide_yaml_find(load->root, "kafka.librdkafka");
  if (!security_protocol(load).has_sasl)
    return;
  for (gsize i = 0; i < G_N_ELEMENTS(enough); i++)
    if (tide_yaml_get(node, enough[i]) != NULL)
      return;
  tide_problems_add_error(load->problems, property_position(load, "security.protocol"),
                          "'security.protocol' is '%s', but 'sasl.mechanism' is missing: set it (PLAIN, SCRAM-SHA-512, "
                          "OAUTHBEARER), or 'sasl.kerberos.keytab' for Kerberos",
                          property_value(load, "security.protocol"));
}

/* Options that librdkafka accepts and silently ignores. */
static void
check_effect(TideLoad *load)
{
  static const char *const mechanisms[] = {"sasl.mechanism", "sasl.mechanisms"};

  for (gsize i = 0; i < G_N_ELEMENTS(mechanisms); i++)
    if (property_value(load, mechanisms[i]) != NULL && !security_protocol(load).has_sasl)
      tide_problems_add_error(
          load->problems, property_position(load, mechanisms[i]),
          "'%s' has no effect without SASL: set 'security.protocol' to 'sasl_ssl', or to 'sasl_plaintext' without TLS",
          mechanisms[i]);
  const TideYamlNode *node = tide_yaml_find(load->root, "kafka.librdkafka");
  if (property_value(load, "ssl.certificate.location") != NULL && tide_yaml_get(node, "ssl.key.location") == NULL &&
      tide_yaml_get(node, "ssl.key.pem") == NULL)
    tide_problems_add_error(load->problems, property_position(load, "ssl.certificate.location"),
                            "'ssl.certificate.location' has no effect without its key: set 'ssl.key.location' or "
                            "'ssl.key.pem: { credential: NAME }'");
}

/* Values that break a guarantee; other values of these properties are the operator's choice. */
static void
check_values(TideLoad *load)
{
  static const struct {
    const char *name;
    const char *values[4];
    const char *reason; /* NULL: the peer is not verified, which 'kafka.allow_unverified_tls' allows */
  } bad[] = {
      {"enable.ssl.certificate.verification", {"false", "0", "f", NULL}, NULL},
      {"ssl.endpoint.identification.algorithm", {"none", NULL}, NULL},
      {"isolation.level", {"read_uncommitted", NULL}, "messages of aborted transactions would be written"},
      {"topic.metadata.refresh.interval.ms",
       {"-1", "0", NULL},
       "a partition that is added to a topic would never be read"},
      {"allow.auto.create.topics",
       {"true", "1", "t", NULL},
       "a misspelt topic would be created and read instead of being reported"},
      {"api.version.request",
       {"false", "0", "f", NULL},
       "tidemark asks the brokers for their version; a guess would lose the headers of dead letters"},
      {"metadata.recovery.strategy",
       {"none", NULL},
       "the client would never find a cluster again whose brokers all moved"},
  };

  for (gsize i = 0; i < G_N_ELEMENTS(bad); i++) {
    const char *name = bad[i].name;
    if (!property_is(load, name, bad[i].values))
      continue;
    if (bad[i].reason != NULL)
      tide_problems_add_error(load->problems, property_position(load, name), "the property '%s' cannot be '%s': %s",
                              name, property_value(load, name), bad[i].reason);
    else if (load->config->kafka.allow_unverified_tls)
      tide_problems_add_warning(load->problems, property_position(load, name),
                                "'%s' disables verification: a man in the middle can read and change all data", name);
    else
      tide_problems_add_error(load->problems, property_position(load, name),
                              "'%s' disables verification: a man in the middle could read and change all data; set "
                              "'ssl.ca.location', or allow it with 'kafka.allow_unverified_tls: true'",
                              name);
  }
}

/* Characters that brokers accept in a name, as for topics, and %H, which expands to such. */
static void
check_instance(TideLoad *load)
{
  const char *instance = load->config->kafka.instance;
  gboolean is_good = instance == NULL || strlen(instance) <= MAX_INSTANCE_BYTES;

  for (const char *at = instance; at != NULL && *at != '\0'; at++) {
    if (at[0] == '%' && at[1] == 'H')
      at++;
    else
      is_good &= g_ascii_isalnum(*at) || strchr("._-", *at) != NULL;
  }
  if (is_good)
    return;
  g_autofree char *shown = tide_problem_quote(instance);
  tide_load_option_error(
      load, "kafka.instance",
      "'kafka.instance' must be at most %u letters, digits, '.', '_', '-' and %%H for the host name, got '%s'",
      MAX_INSTANCE_BYTES, shown);
}

/* @broker may start with a scheme and lack a port: "localhost:9092". A name that merely starts with localhost is
 * another host. */
static gboolean
is_loopback(const char *broker)
{
  const char *scheme = strstr(broker, "://");
  const char *host = scheme != NULL ? scheme + 3 : broker;
  g_autofree char *name = g_strndup(host, strcspn(host, *host == '[' ? "]" : ":"));
  struct in_addr address;

  if (inet_pton(AF_INET, name, &address) == 1)
    return ntohl(address.s_addr) >> 24 == 127;
  return g_ascii_strcasecmp(name, "localhost") == 0 || strcmp(name, "[::1") == 0;
}

static void
check_clear_password(TideLoad *load)
{
  static const char *const plain[] = {"PLAIN", "OAUTHBEARER", NULL};
  g_auto(GStrv) brokers = g_strsplit(load->config->kafka.brokers != NULL ? load->config->kafka.brokers : "", ",", -1);
  SecurityProtocol protocol = security_protocol(load);
  gboolean leaves_host = FALSE;
  for (char **broker = brokers; *broker != NULL; broker++)
    leaves_host |= !is_loopback(g_strstrip(*broker));
  if (!leaves_host || !protocol.has_sasl || protocol.has_tls)
    return;
  if (property_is(load, "sasl.mechanism", plain) || property_is(load, "sasl.mechanisms", plain))
    tide_problems_add_warning(load->problems, property_position(load, "security.protocol"),
                              "the password or token is sent in clear text: use sasl_ssl, or a SCRAM mechanism");
}

void
tide_load_kafka_properties(TideLoad *load)
{
  const TideYamlNode *node = tide_yaml_find(load->root, "kafka.librdkafka");

  check_instance(load);
  if (tide_yaml_is_null(node))
    return;
  if (node->kind != TIDE_YAML_MAPPING) {
    tide_load_error(load, node, "'kafka.librdkafka' must be a mapping of properties, each as 'name: value'");
    return;
  }
  for (guint i = 0; i < node->keys->len; i++) {
    const TideYamlNode *key = g_ptr_array_index(node->keys, i), *value = g_ptr_array_index(node->values, i);
    const char *reason = owned_reason(key->text);
    if (reason != NULL)
      tide_load_error(load, key, "the property '%s' cannot be set: %s", key->text, reason);
    else if (value->kind == TIDE_YAML_SCALAR)
      load_text_property(load, key, value);
    else
      load_secret(load, key, value);
  }
  check_values(load);
  check_tls_is_used(load);
  check_mechanism_is_said(load);
  check_effect(load);
  check_clear_password(load);
}
