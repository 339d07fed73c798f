/* kafka.librdkafka: properties handed on, secrets from files, and those that are ours. */
#include "config/load/load.h"
#include "config/option/option.h"
#include "config/yaml/secret.h"
#include "util/error.h"
#include "util/secret_file.h"

#include <arpa/inet.h>
#include <glib/gstdio.h>
#include <string.h>

/* Brokers take 249 for a name; the host's has up to 64, the thread's number 3. */
#define MAX_INSTANCE_BYTES 128u

/* What delivery rests on: set by tidemark, from an option of its own where one is named. A property that some client of
 * ours sets is here, so that none is overridden in silence. */
static const struct {
  const char *reason;
  const char *names[7]; /* ends with NULL */
} owned_properties[] = {
    {"it is 'kafka.brokers'", {"bootstrap.servers", "metadata.broker.list"}},
    {"it is 'kafka.group'", {"group.id"}},
    {"it is 'kafka.instance', to which each thread adds its number", {"group.instance.id"}},
    {"it is 'kafka.assignment'", {"partition.assignment.strategy", "group.remote.assignor"}},
    {"it is 'kafka.session_timeout'", {"session.timeout.ms"}},
    {"it is 'kafka.max_poll_interval'", {"max.poll.interval.ms"}},
    {"it is 'kafka.commit_interval'", {"auto.commit.interval.ms"}},
    {"it follows from 'kafka.session_timeout'", {"heartbeat.interval.ms"}},
    {"where a new group begins is 'kafka.start', and an offset out of range is an error that is said, never a silent "
     "jump",
     {"auto.offset.reset"}},
    {"only offsets of what HBase has acknowledged are stored, and these are committed",
     {"enable.auto.commit", "auto.commit.enable"}},
    {"an offset is stored when HBase has acknowledged its rows; stored any earlier, a crash would lose readings",
     {"enable.auto.offset.store"}},
    {"offsets are kept by the brokers", {"offset.store.method", "offset.store.path", "offset.store.sync.interval.ms"}},
    {"the end of a partition is needed to know the lag", {"enable.partition.eof"}},
    {"it is always on: a damaged message must not become a row", {"check.crcs"}},
    {"members find out what is theirs by the classic protocol, which 'kafka.assignment' is about",
     {"group.protocol", "group.protocol.type"}},
    {"what brokers can do is asked, not guessed: headers of dead letters would be lost",
     {"broker.version.fallback", "api.version.fallback.ms"}},
    {"it is set so that a queue that was full is filled again at once", {"fetch.queue.backoff.ms"}},
    {"nobody reads them, and they would pile up in memory: see docs/metrics.md", {"statistics.interval.ms"}},
    {"nobody handles that signal: it would end the process without a drain", {"internal.termination.signal"}},
    {"a dead letter is kept when all in-sync replicas have it, not before", {"acks", "request.required.acks"}},
    {"a dead letter that is kept must be reported, else its offset never moves", {"delivery.report.only.error"}},
    {"dead letters are sent outside of transactions: with one, none would ever be sent", {"transactional.id"}},
    {"dead letters are sent outside of transactions", {"transaction.timeout.ms"}},
    {"it is set so that no dead letter is lost on the way", {"enable.idempotence"}},
    {"dead letters are sent so that none is doubled, lost or overtaken on the way",
     {"enable.gapless.guarantee", "max.in.flight", "max.in.flight.requests.per.connection", "queuing.strategy"}},
    {"it is for share groups, in which no partition belongs to a member",
     {"max.poll.records", "share.acknowledgement.mode"}},
    {"it is for programs",
     {"msg_order_cmp", "enabled_events", "log.queue", "opaque", "default_topic_conf", "interceptors"}},
    {"a dead letter is sent until it is kept, and every 10 s the log says why it is not",
     {"message.timeout.ms", "delivery.timeout.ms", "request.timeout.ms", "message.send.max.retries", "retries"}},
    {"it is set so that a missing topic of dead letters is told soon", {"topic.metadata.propagation.max.ms"}},
    {"what a message may have is 'readings.max_message_size', and what a dead letter may have is its topic's "
     "max.message.bytes",
     {"message.max.bytes"}},
    {"dead letters on their way are bounded by 'limits.memory'",
     {"queue.buffering.max.messages", "queue.buffering.max.kbytes"}},
    {"dead letters go in small batches, so that a topic refuses them for their own size only",
     {"queue.buffering.max.ms", "linger.ms", "batch.size", "batch.num.messages"}},
    {"dead letters lie where Java's producers put their keys", {"partitioner"}},
    {"it follows from 'limits.memory'",
     {"fetch.max.bytes", "max.partition.fetch.bytes", "fetch.message.max.bytes", "receive.message.max.bytes"}},
};

static const char *
owned_reason(const char *name)
{
  for (gsize i = 0; i < G_N_ELEMENTS(owned_properties); i++)
    if (g_strv_contains(owned_properties[i].names, name))
      return owned_properties[i].reason;
  if (g_str_has_prefix(name, "queued."))
    return "it follows from 'limits.memory'";
  if (g_str_has_prefix(name, "test."))
    return "it is for tests of librdkafka: brokers would be made up";
  if (g_str_has_suffix(name, "_cb") || g_str_has_prefix(name, "ssl_engine_callback"))
    return "it is for programs";
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

static gboolean
names_path(const char *name)
{
  static const char *const names[] = {"ssl.ca.location",
                                      "ssl.certificate.location",
                                      "ssl.key.location",
                                      "ssl.crl.location",
                                      "ssl.keystore.location",
                                      "sasl.kerberos.keytab",
                                      "https.ca.location",
                                      "sasl.oauthbearer.assertion.file",
                                      "sasl.oauthbearer.assertion.jwt.template.file",
                                      "sasl.oauthbearer.assertion.private.key.file",
                                      NULL};

  return g_strv_contains(names, name);
}

/* { file: PATH } or { credential: NAME }. */
static void
load_secret(TideLoad *load, const TideYamlNode *key, const TideYamlNode *node)
{
  const TideYamlNode *file = tide_yaml_get(node, "file");
  const TideYamlNode *credential = tide_yaml_get(node, "credential");
  const TideYamlNode *source = file != NULL ? file : credential;
  g_autoptr(GError) error = NULL;

  /* What the file holds would be taken for its path. */
  if (names_path(key->text)) {
    tide_load_error(load, node, "'kafka.librdkafka.%s' is a path, and is written without 'file:'%s", key->text,
                    strcmp(key->text, "ssl.key.location") == 0
                        ? "; a key that is a credential is 'ssl.key.pem: { credential: NAME }'"
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
                    "'kafka.librdkafka.%s' stands in a file that everybody can read (mode %04o): run 'chmod 0640 %s', "
                    "or keep it in a file of its own: { file: /path }",
                    shown, load->mode, path);
    return;
  }
  /* "probe" is no path: librdkafka looks for the host's CAs then. */
  gboolean is_path = names_path(key->text) && *node->text != '\0' && strcmp(node->text, "probe") != 0;
  add_property(load, key, is_path ? tide_load_path(load, node->text) : g_strdup(node->text), is_secret);
}

static const char *
property_value(const TideLoad *load, const char *name)
{
  const GArray *properties = load->config->kafka.properties;

  for (guint i = 0; i < properties->len; i++) {
    const TideKafkaProperty *property = &g_array_index(properties, TideKafkaProperty, i);
    if (strcmp(property->name, name) == 0)
      return property->value;
  }
  return NULL;
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

/* Encryption without knowing to whom protects from nobody who can stand in between. */
static void
check_tls(TideLoad *load)
{
  static const struct {
    const char *name;
    const char *values[4];
  } switches[] = {
      {"enable.ssl.certificate.verification", {"false", "0", "f", NULL}},
      {"ssl.endpoint.identification.algorithm", {"none", NULL}},
  };

  for (gsize i = 0; i < G_N_ELEMENTS(switches); i++) {
    const char *name = switches[i].name;
    if (!property_is(load, name, switches[i].values))
      continue;
    if (load->config->kafka.allow_unverified_tls)
      tide_problems_add_warning(load->problems, property_position(load, name),
                                "'%s' is switched off: whoever stands between can read and change everything", name);
    else
      tide_problems_add_error(load->problems, property_position(load, name),
                              "'%s' is switched off: whoever stands between could read and change everything; set "
                              "'ssl.ca.location', or say 'kafka.allow_unverified_tls: true'",
                              name);
  }
}

/* The kinds of a connection to brokers. */
typedef struct SecurityProtocol {
  const char *name;
  gboolean has_tls, has_sasl;
} SecurityProtocol;

/* Without a name: none is set, or one that librdkafka refuses. */
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

/* One that is for TLS, of many the first, where there is none: all would go in clear. Who says so knows it. */
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
                    "'%s' has no effect unless 'security.protocol' is 'ssl', or 'sasl_ssl' with a 'sasl.mechanism', "
                    "and all goes in clear: set it beside this ('plaintext', if that is meant)",
                    shown);
    return;
  }
}

/* Without one librdkafka takes Kerberos, and says of a password that there is no keytab. */
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
                          "'security.protocol' is '%s', and there is no 'sasl.mechanism': set it (PLAIN, "
                          "SCRAM-SHA-512, OAUTHBEARER), or 'sasl.kerberos.keytab' for Kerberos",
                          property_value(load, "security.protocol"));
}

/* What librdkafka takes without a word, and leaves out. */
static void
check_effect(TideLoad *load)
{
  static const char *const mechanisms[] = {"sasl.mechanism", "sasl.mechanisms"};

  for (gsize i = 0; i < G_N_ELEMENTS(mechanisms); i++)
    if (property_value(load, mechanisms[i]) != NULL && !security_protocol(load).has_sasl)
      tide_problems_add_error(load->problems, property_position(load, mechanisms[i]),
                              "'%s' has no effect unless 'security.protocol' is 'sasl_ssl', or 'sasl_plaintext' "
                              "without TLS: set it beside this",
                              mechanisms[i]);
  const TideYamlNode *node = tide_yaml_find(load->root, "kafka.librdkafka");
  if (property_value(load, "ssl.certificate.location") != NULL && tide_yaml_get(node, "ssl.key.location") == NULL &&
      tide_yaml_get(node, "ssl.key.pem") == NULL)
    tide_problems_add_error(load->problems, property_position(load, "ssl.certificate.location"),
                            "'ssl.certificate.location' has no effect without its key: set 'ssl.key.location', or "
                            "'ssl.key.pem: { credential: NAME }', beside it");
}

/* Values that break a promise, of properties whose other values are the operator's choice. */
static void
check_values(TideLoad *load)
{
  static const struct {
    const char *name;
    const char *values[4];
    const char *reason;
  } bad[] = {
      {"isolation.level", {"read_uncommitted", NULL}, "readings that their sender took back would be written"},
      {"topic.metadata.refresh.interval.ms", {"-1", "0", NULL}, "a partition that is added would never be read"},
      {"allow.auto.create.topics",
       {"true", "1", "t", NULL},
       "a misspelt topic would be made, and read for ever, instead of being told"},
      {"api.version.request",
       {"false", "0", "f", NULL},
       "what brokers can do is asked, not guessed: headers of dead letters would be lost"},
      {"metadata.recovery.strategy", {"none", NULL}, "a cluster whose brokers all moved would never be found again"},
  };

  for (gsize i = 0; i < G_N_ELEMENTS(bad); i++)
    if (property_is(load, bad[i].name, bad[i].values))
      tide_problems_add_error(load->problems, property_position(load, bad[i].name),
                              "the property '%s' cannot be '%s': %s", bad[i].name, property_value(load, bad[i].name),
                              bad[i].reason);
}

/* What brokers take for a name, as for a topic's, and %H, which becomes such. */
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

/* @broker: "localhost:9092", with a scheme in front or without a port: a name that only begins so is another's. */
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
    tide_problems_add_warning(
        load->problems, property_position(load, "security.protocol"),
        "the password or token goes over the network in clear: use sasl_ssl, or a SCRAM mechanism");
}

void
tide_load_kafka_properties(TideLoad *load)
{
  const TideYamlNode *node = tide_yaml_find(load->root, "kafka.librdkafka");

  check_instance(load);
  if (tide_yaml_is_null(node))
    return;
  if (node->kind != TIDE_YAML_MAPPING) {
    tide_load_error(load, node, "'kafka.librdkafka' must be a mapping of properties, a 'name: value' each");
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
  check_tls(load);
  check_tls_is_used(load);
  check_mechanism_is_said(load);
  check_effect(load);
  check_clear_password(load);
}
