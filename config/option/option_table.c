#include "config/option/option_table.h"

#include "config/option/option_value.h"
#include "config/option/time_options.h"
#include "decode/formats.h"
#include "thrift/wire/wire.h"
#include "util/error.h"
#include "util/listen_address.h"

#define AT(member) .offset = offsetof(TideConfig, member), .size = sizeof(((TideConfig *)NULL)->member)
#define OF_READINGS(member)                                                                                            \
  .offset = offsetof(TideReadingsConfig, member), .size = sizeof(((TideReadingsConfig *)NULL)->member)
#define OF_SOURCE(member)                                                                                              \
  .offset = offsetof(TideConfigSource, member), .size = sizeof(((TideConfigSource *)NULL)->member)
#define KIB G_GINT64_CONSTANT(1024)
#define MIB (1024 * KIB)
#define GIB (1024 * MIB)
#define SECOND G_GINT64_CONSTANT(1000)
#define MINUTE (60 * SECOND)
#define HOUR (60 * MINUTE)
#define DAY (24 * HOUR)

/* Options whose value has two members, or whose syntax belongs to another module. */

static const struct {
  const char *name;
  int framing;
  int protocol;
} transports[] = {
    {"auto", -1, -1},
    {"unframed-binary", TIDE_FRAMING_UNFRAMED, TIDE_WIRE_BINARY},
    {"framed-binary", TIDE_FRAMING_FRAMED, TIDE_WIRE_BINARY},
    {"unframed-compact", TIDE_FRAMING_UNFRAMED, TIDE_WIRE_COMPACT},
    {"framed-compact", TIDE_FRAMING_FRAMED, TIDE_WIRE_COMPACT},
};

#define TRANSPORT_FORM "one of `auto`, `unframed-binary`, `framed-binary`, `unframed-compact`, `framed-compact`"

static gboolean
parse_transport(const char *text, gpointer base, GError **error)
{
  TideConfig *config = base;

  for (gsize i = 0; i < G_N_ELEMENTS(transports); i++) {
    if (strcmp(text, transports[i].name) != 0)
      continue;
    config->hbase.framing = transports[i].framing;
    config->hbase.protocol = transports[i].protocol;
    return TRUE;
  }
  return tide_fail(error, TIDE_ERROR_CONFIG,
                   "must be one of auto, unframed-binary, framed-binary, unframed-compact, framed-compact");
}

static char *
print_transport(gconstpointer base)
{
  const TideConfig *config = base;

  for (gsize i = 0; i < G_N_ELEMENTS(transports); i++) {
    if (transports[i].framing == config->hbase.framing && transports[i].protocol == config->hbase.protocol)
      return g_strdup(transports[i].name);
  }
  return NULL;
}

static gboolean
parse_start(const char *text, gpointer base, GError **error)
{
  TideConfig *config = base;

  if (strcmp(text, "earliest") == 0) {
    config->kafka.start = TIDE_START_EARLIEST;
  } else if (strcmp(text, "latest") == 0) {
    config->kafka.start = TIDE_START_LATEST;
  } else if (tide_epoch_parse(text, &config->kafka.start_epoch_ms, NULL)) {
    config->kafka.start = TIDE_START_TIME;
  } else
    return tide_fail(error, TIDE_ERROR_CONFIG, "must be earliest, latest, or a time such as '2026-01-01T00:00:00Z'");
  return TRUE;
}

static char *
print_start(gconstpointer base)
{
  const TideConfig *config = base;

  switch (config->kafka.start) {
  case TIDE_START_EARLIEST:
    return g_strdup("earliest");
  case TIDE_START_LATEST:
    return g_strdup("latest");
  case TIDE_START_TIME:
    return tide_epoch_format(config->kafka.start_epoch_ms);
  }
  return NULL;
}

static gboolean
parse_http(const char *text, gpointer base, GError **error)
{
  TideConfig *config = base;
  TideListenAddress address;

  if (!tide_listen_address_parse(text, &address, error))
    return FALSE;
  g_free(config->service.http_listen);
  config->service.http_listen = g_strdup(text);
  return TRUE;
}

static char *
print_http(gconstpointer base)
{
  return g_strdup(((const TideConfig *)base)->service.http_listen);
}

static gboolean
parse_socket_mode(const char *text, gpointer base, GError **error)
{
  TideConfig *config = base;
  guint64 mode;

  if (!g_ascii_string_to_unsigned(text, 8, 0, 0777, &mode, NULL))
    return tide_fail(error, TIDE_ERROR_CONFIG, "must be permission bits in octal, such as \"0660\"");
  config->service.http_socket_mode = (guint32)mode;
  return TRUE;
}

static char *
print_socket_mode(gconstpointer base)
{
  return g_strdup_printf("%04o", ((const TideConfig *)base)->service.http_socket_mode);
}

static gboolean
parse_ratio(const char *text, gpointer base, GError **error)
{
  TideConfig *config = base;
  char *end = NULL;
  double ratio = g_ascii_strtod(text, &end);

  if (end == text || *end != '\0' || !(ratio > 0 && ratio <= 1))
    return tide_fail(error, TIDE_ERROR_CONFIG, "must be a number above 0 and up to 1, such as 0.1");
  config->dead_letters.max_ratio = ratio;
  return TRUE;
}

static char *
print_ratio(gconstpointer base)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  return g_strdup(g_ascii_formatd(text, sizeof text, "%g", ((const TideConfig *)base)->dead_letters.max_ratio));
}

static gboolean
parse_qop(const char *text, gpointer base, GError **error)
{
  TideConfig *config = base;

  if (tide_sasl_layer_parse(text, &config->hbase.link.sasl.qop))
    return TRUE;
  return tide_fail(error, TIDE_ERROR_CONFIG, "must be one of auto, auth, auth-int, auth-conf");
}

/* NULL unless the gateways use SASL, so that the option is not printed. */
static char *
print_qop(gconstpointer base)
{
  const TideSaslSettings *sasl = &((const TideConfig *)base)->hbase.link.sasl;

  return sasl->service != NULL ? g_strdup(tide_sasl_layer_name(sasl->qop)) : NULL;
}

/* Choices. */

#define FORMAT_CHOICE(word, value, name) {word, value},
static const TideConfigChoice formats[] = {TIDE_FORMATS(FORMAT_CHOICE){NULL, 0}};
static const TideConfigChoice framings[] = {
    {"none", TIDE_FRAMING_NONE}, {"confluent", TIDE_FRAMING_CONFLUENT}, {NULL, 0}};
static const TideConfigChoice boolean_forms[] = {
    {"text", TIDE_BOOLEAN_TEXT}, {"number", TIDE_BOOLEAN_NUMBER}, {NULL, 0}};
static const TideConfigChoice array_forms[] = {
    {"json", TIDE_ARRAY_JSON}, {"index", TIDE_ARRAY_INDEX}, {"reject", TIDE_ARRAY_REJECT}, {NULL, 0}};
static const TideConfigChoice bad_message_policies[] = {{"stop", TIDE_BAD_MESSAGE_STOP},
                                                        {"skip", TIDE_BAD_MESSAGE_SKIP},
                                                        {"dead_letter", TIDE_BAD_MESSAGE_DEAD_LETTER},
                                                        {NULL, 0}};
static const TideConfigChoice missing_policies[] = {
    {"reject", TIDE_MISSING_REJECT}, {"skip", TIDE_MISSING_SKIP}, {"reading", TIDE_MISSING_READING}, {NULL, 0}};
static const TideConfigChoice bad_reading_policies[] = {
    {"message", TIDE_BAD_READING_MESSAGE}, {"reading", TIDE_BAD_READING_ALONE}, {NULL, 0}};
static const TideConfigChoice log_levels[] = {{"crit", TIDE_LOG_CRIT},
                                              {"error", TIDE_LOG_ERROR},
                                              {"warning", TIDE_LOG_WARNING},
                                              {"notice", TIDE_LOG_NOTICE},
                                              {"info", TIDE_LOG_INFO},
                                              {"debug", TIDE_LOG_DEBUG},
                                              {NULL, 0}};
static const TideConfigChoice log_formats[] = {{"auto", TIDE_LOG_FORMAT_AUTO},
                                               {"text", TIDE_LOG_FORMAT_TEXT},
                                               {"json", TIDE_LOG_FORMAT_JSON},
                                               {"journal", TIDE_LOG_FORMAT_JOURNAL},
                                               {NULL, 0}};
static const TideConfigChoice lost_offsets_policies[] = {
    {"halt", TIDE_LOST_OFFSETS_HALT}, {"continue", TIDE_LOST_OFFSETS_CONTINUE}, {NULL, 0}};
static const TideConfigChoice assignments[] = {
    {"eager", TIDE_ASSIGNMENT_EAGER}, {"cooperative", TIDE_ASSIGNMENT_COOPERATIVE}, {NULL, 0}};
static const TideConfigChoice startups[] = {{"wait", TIDE_STARTUP_WAIT}, {"fail", TIDE_STARTUP_FAIL}, {NULL, 0}};

/* The table. */

static const TideConfigOption kafka_options[] = {
    {"brokers", TIDE_CONFIG_BROKERS, AT(kafka.brokers), .example = "\"127.0.0.1:9092\"", .flags = TIDE_CONFIG_REQUIRED,
     .sentence = "Bootstrap brokers. Two or three are enough; the client learns the others from them."},
    {"group", TIDE_CONFIG_STRING, AT(kafka.group), .example = "tidemark", .flags = TIDE_CONFIG_REQUIRED,
     .sentence = "Consumer group. Daemons of the same group share the partitions. Messages before its committed "
                 "offsets are in HBase, skipped or dead letters."},
    {"topics", TIDE_CONFIG_TOPICS, AT(kafka.topics), .example = "[metrics]", .flags = TIDE_CONFIG_REQUIRED,
     .sentence = "Topics to read. A name that starts with ^ is a pattern: \"^metrics[.]\"."},
    {"threads", TIDE_CONFIG_INTEGER, AT(kafka.threads), 1, 64, "2",
     .sentence =
         "Number of consumers in this process, one thread each. Consumers beyond the number of partitions are "
         "idle. Two are enough in most cases, because the gateways are the usual limit, not decoding. Default: at "
         "most the CPUs that the process's cgroup allows."},
    {"start", TIDE_CONFIG_CUSTOM, .default_text = "earliest",
     .form = "`earliest`, `latest`, or a time such as `2026-01-01T00:00:00Z`", .parse = parse_start,
     .print = print_start,
     .sentence = "Starting point of a group without committed offsets. With latest, Kafka's own default, tidemark "
                 "would skip messages sent before the first start."},
    {"on_lost_offsets", TIDE_CONFIG_CHOICE, AT(kafka.on_lost_offsets), .choices = lost_offsets_policies,
     .default_text = "halt",
     .sentence = "Reaction to messages that retention deleted before tidemark read them. halt stops the partition "
                 "until an operator decides; continue resumes at the oldest remaining message. The lost messages are "
                 "counted and logged in both cases."},
    {"assignment", TIDE_CONFIG_CHOICE, AT(kafka.assignment), .choices = assignments, .default_text = "eager",
     .sentence = "How the group reassigns partitions when daemons join or leave. eager stops all partitions; "
                 "cooperative stops only those that move, and needs librdkafka 2.6.1 or later. Stop all daemons of the "
                 "group before you change it."},
    {"instance", TIDE_CONFIG_STRING, AT(kafka.instance), .example = "\"%H\"",
     .sentence = "Static member name (group.instance.id). After a restart or kill within `session_timeout`, the "
                 "consumers continue at once and no partition moves. Default: a daemon with a state directory, as "
                 "under systemd, generates its own name; without one there is none. `none` turns static membership "
                 "off. %H is the host name; the thread's number is appended. A second daemon with the same name forces "
                 "the first one out (exit code 75)."},
    {"session_timeout", TIDE_CONFIG_DURATION, AT(kafka.session_timeout_ms), 6 * SECOND, 30 * MINUTE, "45s",
     .sentence = "Time without a heartbeat after which the broker reassigns the consumer's partitions. The broker's "
                 "group.min.session.timeout.ms and group.max.session.timeout.ms limit it."},
    {"max_poll_interval", TIDE_CONFIG_DURATION, AT(kafka.max_poll_interval_ms), 10 * SECOND, DAY, "5m",
     .sentence = "Maximum time between two requests for messages. A consumer that exceeds it is considered stuck and "
                 "loses its partitions."},
    {"commit_interval", TIDE_CONFIG_DURATION, AT(kafka.commit_interval_ms), 100, MINUTE, "1s",
     .sentence = "Interval between offset commits. After a kill, everything written since the last commit is written "
                 "again, to the same cells."},
    {"max_span_messages", TIDE_CONFIG_INTEGER, AT(kafka.max_span_messages), 1000, 100000000, "1000000",
     .sentence =
         "Maximum distance, in messages, between a partition's committed offset and its newest fetched message. When "
         "this limit is reached, the partition pauses. It limits bookkeeping memory and how much is read again after a "
         "kill. Keep it above the number of messages that arrive within `commit_interval`."},
    {"allow_unverified_tls", TIDE_CONFIG_BOOLEAN, AT(kafka.allow_unverified_tls), .default_text = "false",
     .sentence = "Allows properties in `librdkafka` that disable verification of the brokers' certificates or host "
                 "names. By default they are rejected."},
    {"librdkafka", TIDE_CONFIG_STRUCTURE,
     .example = "security.protocol: sasl_ssl\n"
                "sasl.mechanism: PLAIN\n"
                "sasl.username: tidemark\n"
                "sasl.password: { credential: kafka.password }  # or { file: /etc/tidemark/kafka.password }",
     .sentence = "Properties passed to librdkafka unchanged. Those that affect delivery are rejected. Keep secrets in "
                 "a file (mode 0600 or 0640) or a systemd credential."},
};

static const TideConfigOption tls_key_options[] = {
    {"file", TIDE_CONFIG_STRING, AT(hbase.link.tls.key.file), .example = "/etc/tidemark/gateway.key",
     .sentence = "PEM file without a passphrase. Its mode must be 0600 or 0640, as for every secret."},
    {"credential", TIDE_CONFIG_STRING, AT(hbase.link.tls.key.credential), .example = "gateway.key",
     .sentence = "The same as a systemd credential: its name in LoadCredential=."},
};
static const TideConfigGroup tls_key_group = {"hbase.tls.key", NULL, NULL, tls_key_options,
                                              G_N_ELEMENTS(tls_key_options)};

static const TideConfigOption tls_options[] = {
    {"ca", TIDE_CONFIG_STRING, AT(hbase.link.tls.ca), .example = "/etc/tidemark/gateway-ca.pem",
     .sentence = "PEM file with the certificate authorities that tidemark trusts to sign a gateway's certificate. "
                 "Default: the system's authorities."},
    {"certificate", TIDE_CONFIG_STRING, AT(hbase.link.tls.certificate), .example = "/etc/tidemark/gateway.pem",
     .sentence = "PEM file with tidemark's own certificate, followed by its intermediate certificates, for gateways "
                 "that request one. Certificate and key are read again for each connection."},
    {"key", TIDE_CONFIG_SECTION, .section = &tls_key_group, .sentence = "Private key of the certificate."},
    {"server_name", TIDE_CONFIG_STRING, AT(hbase.link.tls.server_name), .example = "hbase.example.com",
     .sentence = "Name that a gateway's certificate must contain. Default: the host in the gateway's address. Set it "
                 "if they differ, for example with a load balancer. The name is always verified."},
};
static const TideConfigGroup tls_group = {"hbase.tls", NULL, NULL, tls_options, G_N_ELEMENTS(tls_options)};

static const TideConfigOption sasl_options[] = {
    {"service", TIDE_CONFIG_STRING, AT(hbase.link.sasl.service), .example = "hbase",
     .sentence = "First component of the gateways' principal (their hbase.thrift.kerberos.principal), usually hbase or "
                 "thrift. Setting it enables SASL for all gateways."},
    {"host", TIDE_CONFIG_STRING, AT(hbase.link.sasl.host), .example = "hbase.example.com",
     .sentence = "Second component of the gateways' principal. Default: the host in the gateway's address. Set it if "
                 "they differ, for example with a load balancer or an IP address."},
    {"qop", TIDE_CONFIG_CUSTOM, .default_text = "auto", .form = "one of `auto`, `auth`, `auth-int`, `auth-conf`",
     .parse = parse_qop, .print = print_qop,
     .sentence = "Protection of each message: none (auth), signatures (auth-int) or encryption (auth-conf). auto "
                 "accepts what the gateway offers, which is its hbase.thrift.security.qop. With any other value, "
                 "tidemark connects only to gateways that offer it."},
};
static const TideConfigGroup sasl_group = {"hbase.sasl", NULL, NULL, sasl_options, G_N_ELEMENTS(sasl_options)};

static const TideConfigOption keytab_options[] = {
    {"file", TIDE_CONFIG_STRING, AT(hbase.link.kerberos.keytab.file), .example = "/etc/tidemark/tidemark.keytab",
     .sentence = "Keytab file, as kadmin's ktadd writes it. Its mode must be 0600 or 0640, as for every secret."},
    {"credential", TIDE_CONFIG_STRING, AT(hbase.link.kerberos.keytab.credential), .example = "tidemark.keytab",
     .sentence = "The same as a systemd credential: its name in LoadCredential=."},
};
static const TideConfigGroup keytab_group = {"hbase.kerberos.keytab", NULL, NULL, keytab_options,
                                             G_N_ELEMENTS(keytab_options)};

static const TideConfigOption kerberos_options[] = {
    {"keytab", TIDE_CONFIG_SECTION, .section = &keytab_group,
     .sentence =
         "Keytab of tidemark's principal. tidemark obtains and renews its tickets with it; kinit is not needed."},
    {"principal", TIDE_CONFIG_STRING, AT(hbase.link.kerberos.principal), .example = "tidemark@EXAMPLE.COM",
     .sentence = "Principal of tidemark. Default: the first principal in the keytab, or that of the ticket cache."},
    {"cache", TIDE_CONFIG_STRING, AT(hbase.link.kerberos.cache), .example = "FILE:/run/tidemark/krb5cc",
     .sentence = "Ticket cache, in Kerberos's notation. Default: memory if `keytab` is set, otherwise Kerberos's "
                 "default cache, in which you must keep the tickets fresh."},
};
static const TideConfigGroup kerberos_group = {"hbase.kerberos", NULL, NULL, kerberos_options,
                                               G_N_ELEMENTS(kerberos_options)};

static const TideConfigOption http_headers_options[] = {
    {"file", TIDE_CONFIG_STRING, AT(hbase.link.http.headers.file), .example = "/etc/tidemark/gateway.headers",
     .sentence = "File with mode 0600 or 0640, as for every secret. It is read again for each connection."},
    {"credential", TIDE_CONFIG_STRING, AT(hbase.link.http.headers.credential), .example = "gateway.headers",
     .sentence = "The same as a systemd credential: its name in LoadCredential=."},
};
static const TideConfigGroup http_headers_group = {"hbase.http.headers", NULL, NULL, http_headers_options,
                                                   G_N_ELEMENTS(http_headers_options)};

static const TideConfigOption http_options[] = {
    {"host", TIDE_CONFIG_STRING, AT(hbase.link.http.host), .example = "hbase.example.com",
     .sentence = "Second component of the gateways' SPNEGO principal (their hbase.thrift.spnego.principal, HTTP/host). "
                 "Default: the host in the gateway's address. SPNEGO is used when `hbase.kerberos` is set."},
    {"do_as", TIDE_CONFIG_STRING, AT(hbase.link.http.do_as), .example = "ingest",
     .sentence =
         "User on whose behalf tidemark reads and writes; HBase then checks the rights of that user. The gateways must "
         "allow it with hbase.thrift.support.proxyuser, and hadoop.proxyuser for tidemark's user."},
    {"headers", TIDE_CONFIG_SECTION, .section = &http_headers_group,
     .sentence = "Headers that are added to each request, as lines `NAME: value` (at most 16). Use them for a proxy or "
                 "hosted HBase that identifies its clients by a header."},
};
static const TideConfigGroup http_group = {"hbase.http", NULL, NULL, http_options, G_N_ELEMENTS(http_options)};

static const TideConfigOption hbase_options[] = {
    {"gateways", TIDE_CONFIG_GATEWAYS, AT(hbase.gateways), .example = "[\"127.0.0.1:9090\"]",
     .flags = TIDE_CONFIG_REQUIRED | TIDE_CONFIG_RELOADS,
     .sentence = "Addresses of HBase Thrift gateways (thrift2): \"host:port\", \"[v6]:port\" or \"unix:/path\". With "
                 "TLS: \"thrift+tls://host:port\". Over HTTP: \"http://host:port/path\" or \"https://host:port/path\". "
                 "Writers are spread over all gateways and move to the others when one fails. A reload does not apply "
                 "a list that changes to or from HTTP, or arrives together with other connection options. Restart the "
                 "daemon if the new gateways use another protocol (binary or compact)."},
    {"transport", TIDE_CONFIG_CUSTOM, .default_text = "auto", .form = TRANSPORT_FORM, .parse = parse_transport,
     .print = print_transport,
     .sentence =
         "Thrift transport and protocol of the gateways. auto detects them with a few harmless calls. All gateways "
         "must use the same protocol (binary or compact; always binary over HTTP), but their framing may differ."},
    {"tls", TIDE_CONFIG_SECTION, .section = &tls_group,
     .sentence = "Settings of TLS (1.2 or later) to the gateways, also for \"https://\"."},
    {"sasl", TIDE_CONFIG_SECTION, .section = &sasl_group,
     .sentence = "Settings of SASL, for gateways of a Kerberos cluster that set hbase.thrift.security.qop. SASL also "
                 "works over TLS."},
    {"kerberos", TIDE_CONFIG_SECTION, .section = &kerberos_group,
     .sentence = "Identity of tidemark for SASL gateways, and for SPNEGO over HTTP. Kerberos finds the KDC through its "
                 "own krb5.conf."},
    {"http", TIDE_CONFIG_SECTION, .section = &http_group,
     .sentence = "Settings for gateways that are reached over HTTP."},
    {"writers", TIDE_CONFIG_INTEGER, AT(hbase.writers), 1, 256, "4",
     .sentence = "Number of connections to the gateways, one thread each. Each connection occupies a thread of its "
                 "gateway, which has at most 1000."},
    {"connect_timeout", TIDE_CONFIG_DURATION, AT(hbase.connect_timeout_ms), 100, MINUTE, "3s",
     .sentence = "Maximum time to resolve and connect to a gateway. The default allows for a lost packet, which TCP "
                 "sends again after 1 s."},
    {"call_timeout", TIDE_CONFIG_DURATION, AT(hbase.call_timeout_ms), SECOND, 20 * MINUTE, "30s",
     .sentence = "Maximum time for a complete reply. After it, the call is abandoned and retried. Keep it above the "
                 "time that a region needs to move: HBase still executes an abandoned call at full cost."},
    {"uncertain_timeout", TIDE_CONFIG_DURATION, AT(hbase.settle_ms), SECOND, DAY, "20m",
     .sentence = "Maximum time a gateway may still execute an abandoned call. Set it to the gateway's "
                 "hbase.client.operation.timeout (20 minutes unless changed). Only within this time can such a call "
                 "overwrite a latest value of the same event time. Offsets may wait for as long; see docs/metrics.md."},
    {"max_in_flight_per_region", TIDE_CONFIG_INTEGER, AT(hbase.max_in_flight_per_region), 1, 64, "2",
     .sentence = "Maximum number of simultaneous calls for one region: one executes while the next is on its way. More "
                 "calls only queue in the region server and let a slow region occupy all writers."},
    {"max_cell_size", TIDE_CONFIG_SIZE, AT(hbase.max_cell_bytes), KIB, 64 * MIB, "10MiB",
     .sentence = "Maximum size of a cell. A larger cell rejects the reading. The default is HBase's own limit, "
                 "hbase.client.keyvalue.maxsize. A row must also fit into batch.max_bytes."},
    {"region_refresh", TIDE_CONFIG_DURATION, AT(hbase.region_refresh_ms), 5 * SECOND, HOUR, "60s",
     .sentence = "Interval at which tidemark reads the region boundaries. They only decide which rows share a call; "
                 "outdated boundaries do no harm."},
    {"retry_min", TIDE_CONFIG_DURATION, AT(hbase.retry_min_ms), 1, MINUTE, "100ms",
     .sentence = "First pause after a failed call. It doubles with each failure."},
    {"retry_max", TIDE_CONFIG_DURATION, AT(hbase.retry_max_ms), 100, 10 * MINUTE, "30s",
     .sentence = "Maximum pause after a failed call. Each pause is drawn at random from the upper half, so that "
                 "writers do not retry at the same moment."},
    {"idle_ping", TIDE_CONFIG_DURATION, AT(hbase.idle_ping_ms), SECOND, 55 * SECOND, "30s",
     .sentence =
         "Idle time after which a connection is tested with a cheap call before use. Keep it below the gateway's "
         "hbase.thrift.server.socket.read.timeout (60 s), after which the gateway closes the connection."},
    {"max_connection_age", TIDE_CONFIG_DURATION, AT(hbase.max_connection_age_ms), SECOND, DAY, "10m",
     .sentence = "Maximum age of a connection; then a new one replaces it between two calls. The exact age is drawn at "
                 "random from the upper half. This rebalances load over the gateways of one host name or load balancer "
                 "after one of them recovers. If no new connection can be made, the old one is kept."},
};

static const TideConfigOption csv_options[] = {
    {"columns", TIDE_CONFIG_TEXTS, OF_READINGS(decode.csv.columns), .example = "[host, ts, cpu]",
     .flags = TIDE_CONFIG_REPEATS,
     .sentence = "Field names, in the order of the values in each line. _ skips a value."},
    {"header", TIDE_CONFIG_BOOLEAN, OF_READINGS(decode.csv.header), .default_text = "false",
     .sentence = "Instead of `columns`: the first line of each message contains the field names."},
    {"delimiter", TIDE_CONFIG_STRING, OF_READINGS(decode.csv.delimiter), .example = "\"\\t\"",
     .sentence = "Delimiter of values: one byte, for example a semicolon, or \"\\t\" for a tab. Default: a comma."},
    {"quotes", TIDE_CONFIG_BOOLEAN, OF_READINGS(decode.csv.quotes), .default_text = "true",
     .sentence = "Whether values may be quoted (RFC 4180); a quote inside is doubled. With false, a quote is an "
                 "ordinary character, as in many tab-separated files."},
    {"null_values", TIDE_CONFIG_TEXTS, OF_READINGS(decode.csv.null_values), .example = "[\"\", NA]",
     .sentence = "Unquoted values that mean null. Default: only the empty value. [] means that no value is null."},
    {"comment", TIDE_CONFIG_STRING, OF_READINGS(decode.csv.comment), .example = "\"#\"",
     .sentence = "Prefix of comment lines, which are skipped. A `header` line with this prefix is also skipped. Choose "
                 "a prefix with which no value starts."},
    {"skip_lines", TIDE_CONFIG_INTEGER, OF_READINGS(decode.csv.skip_lines), 0, 1000, "0",
     .sentence = "Number of lines to skip at the start of each message, before the header or the first values, for "
                 "example the name of a logger. Empty lines and comments are not counted. `load` expects these lines "
                 "once, at the start of a file."},
    {"skip_after_header", TIDE_CONFIG_INTEGER, OF_READINGS(decode.csv.skip_after_header), 0, 1000, "0",
     .sentence = "Number of lines to skip after the `header`, for example a line of units."},
    {"trim", TIDE_CONFIG_BOOLEAN, OF_READINGS(decode.csv.trim), .default_text = "false",
     .sentence = "Removes spaces and tabs around names and values, but not inside quotes."},
    {"decimal_comma", TIDE_CONFIG_BOOLEAN, OF_READINGS(decode.csv.decimal_comma), .default_text = "false",
     .sentence = "Numbers use a decimal comma: 1,5 is the number 1.5. 1.234 is ambiguous (1234?) and therefore a text. "
                 "The delimiter must not be a comma."},
};
static const TideConfigGroup csv_group = {"readings.csv", NULL, NULL, csv_options, G_N_ELEMENTS(csv_options)};

static const TideConfigOption influx_options[] = {
    {"tag_prefix", TIDE_CONFIG_STRING, OF_READINGS(decode.influx.tag_prefix), .example = "tag_",
     .sentence = "Prefix for the names of all tags. It allows a tag that is called `time` or `measurement`, or like a "
                 "field of its line. The names in `$tags` do not have the prefix."},
    {"field_prefix", TIDE_CONFIG_STRING, OF_READINGS(decode.influx.field_prefix), .example = "value_",
     .sentence = "Prefix for the names of all fields."},
};
static const TideConfigGroup influx_group = {"readings.influx", NULL, NULL, influx_options,
                                             G_N_ELEMENTS(influx_options)};

static const TideConfigOption registry_password_options[] = {
    {"file", TIDE_CONFIG_STRING, OF_READINGS(registry.password.file), .example = "/etc/tidemark/registry.password",
     .sentence = "File with mode 0600 or 0640, as for every secret. It is read again for each request."},
    {"credential", TIDE_CONFIG_STRING, OF_READINGS(registry.password.credential), .example = "registry.password",
     .sentence = "The same as a systemd credential: its name in LoadCredential=."},
};
static const TideConfigGroup registry_password_group = {
    "readings.registry.password", NULL, NULL, registry_password_options, G_N_ELEMENTS(registry_password_options)};

static const TideConfigOption registry_options[] = {
    {"url", TIDE_CONFIG_STRING, OF_READINGS(registry.url), .example = "https://registry.example.com:8081",
     .sentence = "Base URL of the registry, including any path before /schemas."},
    {"user", TIDE_CONFIG_STRING, OF_READINGS(registry.user), .example = "tidemark",
     .sentence = "User for basic authentication."},
    {"password", TIDE_CONFIG_SECTION, .section = &registry_password_group, .sentence = "Password of the user."},
    {"ca", TIDE_CONFIG_STRING, OF_READINGS(registry.ca), .example = "/etc/tidemark/registry-ca.pem",
     .sentence =
         "PEM file with the authority that signed the registry's certificate. Default: the system's authorities."},
};
static const TideConfigGroup registry_group = {"readings.registry", NULL, NULL, registry_options,
                                               G_N_ELEMENTS(registry_options)};

static const TideConfigOption readings_options[] = {
    {"format", TIDE_CONFIG_CHOICE, OF_READINGS(decode.format), .default_text = "json", .choices = formats,
     .sentence = "Format of a message. json: an object, a list of objects, or several objects one after the other. "
                 "influx: InfluxDB's line protocol, one reading per line. csv: delimited values, one reading per line. "
                 "msgpack: MessagePack, with maps as JSON's objects. avro: Avro's binary encoding, a record or an "
                 "array of records. protobuf: one message of a descriptor set."},
    {"schema", TIDE_CONFIG_STRING, OF_READINGS(decode.schema_file), .example = "reading.avsc",
     .sentence =
         "Schema file for avro and protobuf, read at startup. Avro: the writer's schema, or an object container file "
         "whose header contains it; messages are bare records. Protobuf: a descriptor set, from protoc "
         "--include_imports --descriptor_set_out. A relative path starts at the configuration's directory."},
    {"message", TIDE_CONFIG_STRING, OF_READINGS(decode.message), .example = "plant.Reading",
     .sentence = "Full name of the protobuf message. With `framing: confluent`, the default is any message of its "
                 "file, which is the last file of the set if `message` is not set."},
    {"framing", TIDE_CONFIG_CHOICE, OF_READINGS(decode.framing), .default_text = "none", .choices = framings,
     .sentence =
         "Header before each JSON or protobuf message: none, or the one that Confluent's serializers write. tidemark "
         "does not look up the schema ID in it. Avro messages with a `registry` always have the header."},
    {"registry", TIDE_CONFIG_SECTION, .section = &registry_group,
     .sentence =
         "Instead of `schema`: a schema registry with Confluent's API. Each message starts with its schema ID."},
    {"root", TIDE_CONFIG_STRING, OF_READINGS(decode.layout.root), .example = "payload",
     .sentence = "Path to the member of an envelope that contains the reading or a list of readings; the other members "
                 "are ignored. Join nested names with `separator`: payload/after."},
    {"each", TIDE_CONFIG_STRING, OF_READINGS(decode.layout.each), .example = "devices/readings",
     .sentence = "Path from `root` to the readings. It names members, joined by `separator`, that are objects or "
                 "lists; a list produces one reading per item. {NAME} matches every member of an object and stores the "
                 "member's name in the field NAME. Members beside the path at each level become fields of every "
                 "reading, prefixed with the path up to that level."},
    {"positions", TIDE_CONFIG_TEXTS, OF_READINGS(decode.layout.positions), .example = "[ts, temp, _]",
     .flags = TIDE_CONFIG_REPEATS,
     .sentence = "Field names for readings that are lists of values, in order. _ skips a value. A reading that is not "
                 "a list counts as a list with one value."},
    {"zip", TIDE_CONFIG_BOOLEAN, OF_READINGS(decode.layout.zip), .default_text = "false",
     .sentence = "Combines lists of equal length in the object of `each`. The first values of all lists form the first "
                 "reading, and so on. A member that is not a list becomes a field of every reading."},
    {"outer_prefix", TIDE_CONFIG_STRING, OF_READINGS(decode.layout.outer_prefix), .example = "event/",
     .sentence = "Prefix for the fields from outside the readings of `each`. Set it if they have the same names as "
                 "fields of the readings."},
    {"on_missing", TIDE_CONFIG_CHOICE, OF_READINGS(decode.layout.on_missing), .default_text = "reject",
     .choices = missing_policies,
     .sentence =
         "Handling of an absent or null member of `root` or `each`. reject rejects the message. skip reads nothing "
         "there and counts one reading that no table uses. reading uses the object without that member as a reading."},
    {"csv", TIDE_CONFIG_SECTION, .section = &csv_group, .sentence = "Syntax of a line, with `format: csv`."},
    {"influx", TIDE_CONFIG_SECTION, .section = &influx_group,
     .sentence = "Names of tags and fields, with `format: influx`."},
    {"separator", TIDE_CONFIG_STRING, OF_READINGS(decode.separator), .default_text = "/",
     .sentence = "Text that joins the names of nested objects: {\"cpu\": {\"user\": 1}} is the field cpu/user."},
    {"booleans", TIDE_CONFIG_CHOICE, OF_READINGS(decode.booleans), .default_text = "text", .choices = boolean_forms,
     .sentence = "Whether booleans are stored as true and false, or as 1 and 0."},
    {"arrays", TIDE_CONFIG_CHOICE, OF_READINGS(decode.arrays), .default_text = "json", .choices = array_forms,
     .sentence = "How a list inside a reading is stored: as its JSON text, or as one field per item (name/0, name/1). "
                 "reject rejects the message."},
    {"null_values", TIDE_CONFIG_TEXTS, OF_READINGS(decode.fields.null_values), .example = "[NaN, \"\", N/A]",
     .sentence = "Texts and numbers that mean null. NaN in this list also covers every floating-point number that is "
                 "not finite; without it, such a number is a bad value."},
    {"fields", TIDE_CONFIG_STRUCTURE, OF_READINGS(decode.fields.steps_yaml), .form = "list of steps",
     .example = "- { open: objectJSON }",
     .sentence = "Steps that derive fields from the fields of a reading. They run in order, before times, conditions, "
                 "keys and columns are evaluated."},
    {"max_message_size", TIDE_CONFIG_SIZE, OF_READINGS(decode.max_message_bytes), KIB, 64 * MIB, "1MiB",
     .sentence = "Maximum size of a message. A larger message is rejected unparsed. The default is Kafka's own limit, "
                 "message.max.bytes."},
    {"max_depth", TIDE_CONFIG_INTEGER, OF_READINGS(decode.max_depth), 1, 256, "32",
     .sentence = "Maximum nesting depth of objects and lists."},
    {"max_fields", TIDE_CONFIG_INTEGER, OF_READINGS(decode.max_fields), 1, 65536, "1024",
     .sentence = "Maximum number of fields in a reading, including nested ones."},
    {"max_readings", TIDE_CONFIG_INTEGER, OF_READINGS(decode.max_readings), 1, 1000000, "10000",
     .sentence = "Maximum number of readings in a message."},
    {"on_bad_message", TIDE_CONFIG_CHOICE, OF_READINGS(on_bad_message), .default_text = "dead_letter",
     .choices = bad_message_policies,
     .sentence = "Handling of a message that cannot be used. dead_letter keeps it as a dead letter. stop halts its "
                 "partition until an operator decides. skip counts, logs and discards it."},
    {"on_bad_reading", TIDE_CONFIG_CHOICE, OF_READINGS(decode.on_bad_reading), .default_text = "message",
     .choices = bad_reading_policies,
     .sentence = "Scope of a bad reading: `message` rejects the whole message, `reading` only that reading. "
                 "`on_bad_message` then applies to what was rejected. A message that cannot be parsed to its end is "
                 "always rejected as a whole."},
    {"time", TIDE_CONFIG_SECTION, OF_READINGS(time), .section = &tide_time_options,
     .sentence = "Event time of a reading."},
};

const TideConfigGroup tide_readings_options = {"readings", "What does a message contain?", NULL, readings_options,
                                               G_N_ELEMENTS(readings_options)};

static const TideConfigOption source_options[] = {
    {"topics", TIDE_CONFIG_TOPICS, OF_SOURCE(topics), .example = "[metrics]", .flags = TIDE_CONFIG_REQUIRED,
     .sentence = "Topics to read, or patterns, as in `kafka.topics`. Each topic belongs to one source."},
    {"readings", TIDE_CONFIG_STRUCTURE, .form = "as `readings`", .example = "{ time: { field: ts, format: epoch_ms } }",
     .sentence = "Contents of these topics' messages: format, time, limits, and the handling of bad messages."},
    {"when", TIDE_CONFIG_STRUCTURE, .form = "condition, or list of them", .example = "{ field: type, equals: quote }",
     .sentence = "Conditions that a reading must meet. Other readings are skipped for all tables."},
};
const TideConfigGroup tide_source_options = {"sources.SOURCE", NULL, NULL, source_options,
                                             G_N_ELEMENTS(source_options)};

static const TideConfigOption dead_letters_options[] = {
    {"topic", TIDE_CONFIG_STRING, AT(dead_letters.topic), .example = "metrics-dead-letters",
     .sentence = "Kafka topic for messages and rows that can never be written, on the same brokers. Default: dead "
                 "letters go to a local file."},
    {"file", TIDE_CONFIG_STRING, AT(dead_letters.file), .example = "/var/lib/tidemark/dead-letters.jsonl",
     .sentence =
         "Local file for dead letters if no `topic` is set. Default: dead-letters.jsonl in systemd's state directory. "
         "Without a state directory it is next to the configuration and named after it (tidemark.dead-letters.jsonl)."},
    {"max_file_size", TIDE_CONFIG_SIZE, AT(dead_letters.max_file_bytes), 64 * KIB, 64 * GIB, "64MiB",
     .flags = TIDE_CONFIG_RELOADS,
     .sentence = "Size at which the file is rotated. The full file gets a numeric suffix (.1, .2, ...); the highest "
                 "number is the newest."},
    {"max_size", TIDE_CONFIG_SIZE, AT(dead_letters.max_bytes), 64 * KIB, 1024 * GIB, "1GiB",
     .flags = TIDE_CONFIG_RELOADS,
     .sentence = "Maximum size of all dead-letter files together. When they are full, the next dead letter pauses all "
                 "partitions until you remove some."},
    {"max_ratio", TIDE_CONFIG_CUSTOM, .default_text = "0.1", .form = "a number above 0 and up to 1",
     .parse = parse_ratio, .print = print_ratio, .flags = TIDE_CONFIG_RELOADS,
     .sentence = "Maximum share of messages that may become dead letters within `window`. It applies from 100 dead "
                 "letters on. A higher share suggests a wrong configuration: tidemark keeps no more dead letters until "
                 "a restart, or a reload with a higher ratio. 1 means no limit."},
    {"window", TIDE_CONFIG_DURATION, AT(dead_letters.window_ms), SECOND, DAY, "60s", .flags = TIDE_CONFIG_RELOADS,
     .sentence = "Period over which max_ratio is calculated."},
};

static const TideConfigOption batch_options[] = {
    {"max_rows", TIDE_CONFIG_INTEGER, AT(batch.max_rows), 1, 10000, "2000", .flags = TIDE_CONFIG_RELOADS,
     .sentence = "Maximum number of rows in a call."},
    {"max_bytes", TIDE_CONFIG_SIZE, AT(batch.max_bytes), 4 * KIB, TIDE_BATCH_MAX_BYTES, "1MiB",
     .flags = TIDE_CONFIG_RELOADS,
     .sentence = "Maximum encoded size of a call, and therefore of a row. A framed gateway closes the connection at 2 "
                 "MiB (its max_frame_size_in_mb)."},
    {"max_age", TIDE_CONFIG_DURATION, AT(batch.max_age_ms), 1, MINUTE, "50ms", .flags = TIDE_CONFIG_RELOADS,
     .sentence = "Maximum time a row waits for others to share its call. A longer time makes the calls of slow streams "
                 "larger and delays all rows."},
    {"latest_window", TIDE_CONFIG_DURATION, AT(batch.latest_window_ms), 0, MINUTE, "5ms", .flags = TIDE_CONFIG_RELOADS,
     .sentence = "Time a row of a latest table waits for newer values, which replace it in memory. A longer time saves "
                 "writes if a key has several readings within it. Under load the daemon extends it automatically."},
    {"latest_window_max", TIDE_CONFIG_DURATION, AT(batch.latest_window_max_ms), 0, MINUTE, "1s",
     .flags = TIDE_CONFIG_RELOADS,
     .sentence = "Upper limit of the automatic extension. While a backlog is read, a row waits at most half of its "
                 "reading's delay; while writes are slow, at most twice the duration of a write."},
};

static const TideConfigOption limits_options[] = {
    {"memory", TIDE_CONFIG_SIZE, AT(limits.memory_bytes), 16 * MIB, 1024 * GIB, "256MiB", .flags = TIDE_CONFIG_RELOADS,
     .sentence = "Budget for everything between Kafka and HBase: messages and rows that are fetched, waiting, or sent "
                 "and unacknowledged. When it is reached, reading pauses. docs/operate.md lists what the process needs "
                 "in addition. The default is at most a quarter of the cgroup's memory limit. Kafka's client may fetch "
                 "ahead a quarter of the budget; a reload does not change that quarter."},
    {"drain_timeout", TIDE_CONFIG_DURATION, AT(limits.drain_timeout_ms), SECOND, 10 * MINUTE, "30s",
     .flags = TIDE_CONFIG_RELOADS,
     .sentence = "Maximum time that a stop waits for HBase to acknowledge rows in flight. The others are read again "
                 "after the next start. Keep the unit's TimeoutStopSec above it."},
    {"rows_per_second", TIDE_CONFIG_INTEGER, AT(limits.rows_per_second), 0, 100000000, "0",
     .flags = TIDE_CONFIG_RELOADS,
     .sentence = "Maximum number of rows that the daemon sends to HBase per second, retries included; 0: no limit. "
                 "Lower it while HBase needs its capacity for something else, and apply it with a reload. Bursts are "
                 "as large as one call (`batch.max_rows`). Each daemon of the group has this limit for itself."},
};

static const TideConfigOption http_key_options[] = {
    {"file", TIDE_CONFIG_STRING, AT(service.http_tls.key.file), .example = "/etc/tidemark/metrics.key",
     .sentence = "PEM file without a passphrase. Its mode must be 0600 or 0640, as for every secret."},
    {"credential", TIDE_CONFIG_STRING, AT(service.http_tls.key.credential), .example = "metrics.key",
     .sentence = "The same as a systemd credential: its name in LoadCredential=."},
};
static const TideConfigGroup http_key_group = {"service.http_tls.key", NULL, NULL, http_key_options,
                                               G_N_ELEMENTS(http_key_options)};

static const TideConfigOption http_tls_options[] = {
    {"certificate", TIDE_CONFIG_STRING, AT(service.http_tls.certificate), .example = "/etc/tidemark/metrics.pem",
     .sentence = "PEM file with the server's certificate, followed by its intermediate certificates. Certificate and "
                 "key are read again when they change, for new connections."},
    {"key", TIDE_CONFIG_SECTION, .section = &http_key_group, .sentence = "Private key of the certificate."},
};
static const TideConfigGroup http_tls_group = {"service.http_tls", NULL, NULL, http_tls_options,
                                               G_N_ELEMENTS(http_tls_options)};

static const TideConfigOption http_users_options[] = {
    {"file", TIDE_CONFIG_STRING, AT(service.http_users.file), .example = "/etc/tidemark/metrics.users",
     .sentence = "File with mode 0600 or 0640, as for every secret. It is read again when it changes."},
    {"credential", TIDE_CONFIG_STRING, AT(service.http_users.credential), .example = "metrics.users",
     .sentence = "The same as a systemd credential: its name in LoadCredential=."},
};
static const TideConfigGroup http_users_group = {"service.http_users", NULL, NULL, http_users_options,
                                                 G_N_ELEMENTS(http_users_options)};

static const TideConfigOption service_options[] = {
    {"http", TIDE_CONFIG_CUSTOM, .default_text = "127.0.0.1:9464",
     .form = "an address and port, `unix:` and a path, or `off`", .parse = parse_http, .print = print_http,
     .sentence = "Address of the HTTP server for the page (/), /status, /metrics, /healthz and /readyz: "
                 "\"127.0.0.1:9464\", \"[::1]:9464\", \"unix:/run/tidemark/http.socket\", or off. If other machines "
                 "can reach it, `http_users` or `http_tls` is required."},
    {"http_tls", TIDE_CONFIG_SECTION, .section = &http_tls_group, .sentence = "Serves HTTPS (TLS 1.2 or later)."},
    {"http_users", TIDE_CONFIG_SECTION, .section = &http_users_group,
     .sentence = "Users of all pages, one line NAME:HASH each. HASH is a password hash, as `htpasswd -nB NAME` or "
                 "`mkpasswd` prints it, or the hexadecimal SHA-256 of a bearer token."},
    {"http_allow_open", TIDE_CONFIG_BOOLEAN, AT(service.http_allow_open), .default_text = "false",
     .sentence = "Allows `http` to be reachable from other machines without a password and without TLS."},
    {"http_socket_mode", TIDE_CONFIG_CUSTOM, .default_text = "0660", .form = "permission bits in octal",
     .parse = parse_socket_mode, .print = print_socket_mode,
     .sentence = "Permission bits of the Unix socket that `http` names. The default admits the owner and the group."},
    {"log_level", TIDE_CONFIG_CHOICE, AT(service.log_level), .default_text = "info", .choices = log_levels,
     .flags = TIDE_CONFIG_RELOADS, .sentence = "Lowest severity of the events that are logged."},
    {"log_format", TIDE_CONFIG_CHOICE, AT(service.log_format), .default_text = "auto", .choices = log_formats,
     .sentence = "Format of the log. auto logs to the journal under systemd, otherwise as text to standard error."},
    {"startup", TIDE_CONFIG_CHOICE, AT(service.startup), .default_text = "wait", .choices = startups,
     .sentence =
         "Behaviour at startup if a topic, table or family is missing, or Kafka denies access. wait reports the "
         "problem and retries; fail exits with an error. Both wait for an unreachable server: fail waits a minute for "
         "HBase, and `kafka.max_poll_interval` plus 15 s for Kafka's group. `run --until-end` always uses fail."},
};

static const TideConfigGroup kafka_group = {"kafka", "Where do readings come from?", NULL, kafka_options,
                                            G_N_ELEMENTS(kafka_options)};
static const TideConfigGroup hbase_group = {"hbase", "Where are rows written?", NULL, hbase_options,
                                            G_N_ELEMENTS(hbase_options)};
static const TideConfigGroup dead_letters_group = {"dead_letters", "What happens to messages that cannot be written?",
                                                   NULL, dead_letters_options, G_N_ELEMENTS(dead_letters_options)};
static const TideConfigGroup batch_group = {"batch", "How are rows combined into calls?", NULL, batch_options,
                                            G_N_ELEMENTS(batch_options)};
static const TideConfigGroup limits_group = {"limits", "How much may be in flight?", NULL, limits_options,
                                             G_N_ELEMENTS(limits_options)};
static const TideConfigGroup service_group = {"service", "How is the daemon monitored?", NULL, service_options,
                                              G_N_ELEMENTS(service_options)};

static const TideConfigOption top_options[] = {
    {"kafka", TIDE_CONFIG_SECTION, .section = &kafka_group},
    {"readings", TIDE_CONFIG_SECTION, AT(readings), .section = &tide_readings_options},
    {"sources", TIDE_CONFIG_STRUCTURE, AT(sources_yaml),
     .example = "boards:\n"
                "  topics: [metrics]\n"
                "  readings: { time: { field: ts, format: epoch_ms } }\n"
                "telegraf:\n"
                "  topics: [\"^telegraf[.]\"]\n"
                "  readings: { format: influx }",
     .sentence = "Named sources: topics, each with its own `readings`. They replace `kafka.topics` and `readings`. A "
                 "table uses all sources, or those that its `sources` names."},
    {"tables", TIDE_CONFIG_STRUCTURE, AT(tables_yaml),
     .example = "METRIC:\n"
                "  key: [{ field: host }, \"#\", { time: epoch_ms }]\n"
                "  columns: { family: M, from: \"*\" }\n"
                "CURRENT_METRIC:\n"
                "  latest: merge\n"
                "  key: [{ field: host }]\n"
                "  columns: { family: M, from: \"*\" }",
     .flags = TIDE_CONFIG_IN_SAMPLE,
     .sentence =
         "The tables that each reading is written to: how the row key is built, and which fields become columns."},
    {"hbase", TIDE_CONFIG_SECTION, .section = &hbase_group},
    {"dead_letters", TIDE_CONFIG_SECTION, .section = &dead_letters_group},
    {"batch", TIDE_CONFIG_SECTION, .section = &batch_group},
    {"limits", TIDE_CONFIG_SECTION, .section = &limits_group},
    {"service", TIDE_CONFIG_SECTION, .section = &service_group},
};

const char *
tide_config_format_name(TideReadingFormat format)
{
  return tide_config_choice_name(formats, (int)format);
}

const TideConfigGroup tide_config_top = {"", NULL, NULL, top_options, G_N_ELEMENTS(top_options)};
